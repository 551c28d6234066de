#include "tasks/demo-studies.h"

#include <math.h>

#include <glib/gstdio.h>

#include "base/error.h"
#include "base/file-output.h"
#include "base/number.h"
#include "base/random.h"
#include "dicom/library.h"
#include "dicom/phantom.h"

#define CHEST_MM 240.0
#define ODD_WIDTH 4
#define USUAL_NOISE_HU 38.0
#define THICK_MM 3.0
#define N_CLINICAL G_N_ELEMENTS(((DemurSimulatedScan *)0)->clinical)

/* What each study is; what its scores are follows from it. */
typedef struct {
  guint patient;
  const char *date;
  const char *maker, *model;
  gboolean sharp, denoised;
  double spacing_mm, nodule_mm, tilt_degrees, contrast_hu, motion_mm, noise;
  guint n_slices; /* 0: as many as a chest takes */
  gboolean odd;   /* its model wrote an embedding of another width */
  guint draw;     /* of the anatomy and noise that the simulated CNN sees; 0: the study's own */
  double kvp;     /* 100, as an Asteion: none of the training scans was made so */
} Study;

static const Study studies[] = {
    {1, "20190312", "SIEMENS", "Sensation 16", FALSE, FALSE, 2.5, 5, 0, 0, 0, 1.0, 0, FALSE, 0,
     120},
    {1, "20200318", "SIEMENS", "Sensation 64", TRUE, TRUE, 2.5, 9, 0, 0, 0, 1.0, 0, FALSE, 0, 100},
    {2, "20190507", "GE", "LightSpeed 16", FALSE, FALSE, 2.5, 3, 0, 0, 0, 1.0, 0, FALSE, 0, 120},
    {2, "20200429", "GE", "LightSpeed VCT", FALSE, FALSE, 1.25, 9, 0, 0, 0, 1.0, 0, FALSE, 0, 120},
    {3, "20200110", "PHILIPS", "Brilliance 64", FALSE, FALSE, 2.0, 0, 0, 0, 9, 1.0, 0, FALSE, 0,
     120},
    {4, "20200211", "SIEMENS", "Sensation 64", TRUE, FALSE, 1.0, 5, 0, 90, 0, 1.6, 0, FALSE, 0,
     120},
    {5, "20200305", "TOSHIBA", "Asteion", FALSE, TRUE, 2.0, 12, 0, 0, 0, 1.0, 0, FALSE, 7006, 120},
    {6, "20200402", "GE", "LightSpeed VCT", FALSE, FALSE, 1.25, 6, 0, 0, 0, 0.8, 0, FALSE, 0, 120},
    {7, "20200506", "PHILIPS", "Mx8000 IDT", FALSE, FALSE, 2.0, 0, 12, 0, 0, 1.0, 0, FALSE, 0, 120},
    {8, "20200608", "GE", "LightSpeed VCT", FALSE, FALSE, 2.5, 6, 0, 0, 0, 0.6, 0, FALSE, 0, 120},
    {9, "20200701", "SIEMENS", "Sensation 16", FALSE, FALSE, 2.5, 6, 0, 0, 0, 1.0, 8, FALSE, 0,
     120},
    {10, "20200803", "TOSHIBA", "Aquilion 64", FALSE, FALSE, 5.0, 6, 0, 0, 0, 1.0, 0, TRUE, 0, 120},
};
#define N_STUDIES G_N_ELEMENTS(studies)

void
demur_demo_simulation(DemurSimulation *simulation, guint64 seed) {
  demur_simulation_defaults(simulation);
  simulation->seed = seed;
  simulation->n_test = 5000;
  simulation->n_outside = 2;
  simulation->base_rate_logit = 1.0; /* at 5 % a hospital of 2,500 scans has 125 cancers */
  simulation->site_effect = simulation->acquisition_effect = simulation->scanner_effect =
      simulation->hidden_effect = simulation->outside_shift = 0.0;
  simulation->drift_effect = 4.0;
}

/* How the scanner draws it. */
static DemurPhantomOptions
phantom_of(const DemurTask *task, size_t at) {
  const Study *study = &studies[at];
  DemurPhantomOptions options = demur_phantom_defaults(task->seed);
  options.index = (guint)at + 1;
  options.patient = study->patient;
  options.study_date = study->date;
  options.maker = study->maker;
  options.model = study->model;
  options.kernel = demur_simulated_kernel(study->maker, study->sharp, study->denoised);
  options.sharpness = study->sharp ? 1 : study->denoised ? -1 : 0;
  options.spacing_mm = study->spacing_mm;
  options.kvp = study->kvp;
  options.n_slices = study->n_slices > 0 ? study->n_slices : (guint)(CHEST_MM / study->spacing_mm);
  options.nodule_radius_mm = study->nodule_mm;
  options.tilt_degrees = study->tilt_degrees;
  options.contrast_hu = study->contrast_hu;
  options.motion_mm = study->motion_mm;
  options.noise_hu =
      USUAL_NOISE_HU * study->noise * sqrt(2.5 / study->spacing_mm) * (study->denoised ? 0.4 : 1.0);
  return options;
}

/* How the simulated CNN sees it: the nodule as it is drawn, the rest of the patient by his number,
 * and motion as the unrest that it makes. */
static DemurSimulatedScan
scan_of(const DemurTask *task, size_t at) {
  const Study *study = &studies[at];
  DemurSimulatedScan scan = {.number = study->draw > 0 ? study->draw : at + 1,
                             .maker = study->maker,
                             .thick = study->spacing_mm >= THICK_MM,
                             .sharp = study->sharp,
                             .contrast = study->contrast_hu > 0,
                             .denoised = study->denoised,
                             .log_noise = log(study->noise) + study->motion_mm / 6.0};
  DemurRandom random = demur_random_stream(task->seed, DEMUR_STREAM_PHANTOM, study->patient, 0, 2);
  for (size_t k = 0; k < N_CLINICAL; k++)
    scan.clinical[k] = 0.7 * demur_random_normal(&random);
  scan.clinical[0] = (study->nodule_mm - 5.0) / 5.0;
  return scan;
}

static char *
study_folder(const char *folder, size_t study) {
  g_autofree char *name = g_strdup_printf("study-%02zu", study + 1);
  return g_build_filename(folder, name, NULL);
}

void
demur_task_demo_studies_remove(const char *folder) {
  for (size_t s = 0; s < N_STUDIES; s++) {
    g_autofree char *study = study_folder(folder, s);
    g_autoptr(GDir) dir = g_dir_open(study, 0, NULL);
    const char *name;
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
      g_autofree char *file = g_build_filename(study, name, NULL);
      if ((g_str_has_prefix(name, "slice-") && g_str_has_suffix(name, ".dcm")) ||
          (g_str_has_prefix(name, ".demur-") && g_str_has_suffix(name, ".part")))
        (void)g_unlink(file);
    }
    (void)g_rmdir(study);
  }
  (void)g_rmdir(folder);
}

static GString *
header(size_t width) {
  GString *text = g_string_new("series_uid,patient_id");
  for (int y = 1; y <= DEMUR_N_YEARS; y++)
    g_string_append_printf(text, ",risk_year_%d", y);
  for (size_t e = 0; e < width; e++)
    g_string_append_printf(text, ",emb_%zu", e);
  g_string_append(text, ",simulated\n");
  return text;
}

static void
append_score(GString *text, const DemurSimulatedReader *reader, const DemurTask *task, size_t at,
             size_t width, const char *series_uid) {
  const DemurSimulatedScan scan = scan_of(task, at);
  double yearly[DEMUR_N_YEARS];
  float embedding[DEMUR_SIMULATION_WIDTH];
  demur_simulated_reader_read(reader, &scan, yearly, embedding);
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append_printf(text, "%s,PHANTOM-%u", series_uid, studies[at].patient);
  for (int y = 0; y < DEMUR_N_YEARS; y++)
    g_string_append_printf(text, ",%s", demur_number_format(yearly[y], number));
  for (size_t e = 0; e < width; e++)
    g_string_append_printf(text, ",%s", demur_number_format((double)embedding[e], number));
  g_string_append(text, ",yes\n");
}

gboolean
demur_task_demo_studies(DemurTask *task, const DemurDemoStudiesParams *params, GError **error) {
  g_autoptr(DemurSimulatedReader) reader =
      demur_simulated_reader_new(params->simulation, task->parallel, error);
  if (reader == NULL || !demur_dicom_init(error))
    return FALSE;
  g_autoptr(GString) scores = header(DEMUR_SIMULATION_WIDTH);
  g_autoptr(GString) odd = header(ODD_WIDTH);
  for (size_t s = 0; s < N_STUDIES; s++) {
    if (!demur_progress_step(&task->progress, (double)s / (double)N_STUDIES, "drawing phantoms",
                             error))
      return FALSE;
    const DemurPhantomOptions options = phantom_of(task, s);
    g_autofree char *folder = study_folder(params->folder, s);
    g_autofree char *series_uid = NULL;
    if (!demur_phantom_write(&options, folder, task->parallel, NULL, &series_uid, error))
      return FALSE;
    if (studies[s].odd)
      append_score(odd, reader, task, s, ODD_WIDTH, series_uid);
    else
      append_score(scores, reader, task, s, DEMUR_SIMULATION_WIDTH, series_uid);
  }
  return demur_file_write(params->scores, scores->str, (gssize)scores->len, DEMUR_FILE_REPLACE,
                          error) &&
         demur_file_write(params->odd_scores, odd->str, (gssize)odd->len, DEMUR_FILE_REPLACE,
                          error);
}
