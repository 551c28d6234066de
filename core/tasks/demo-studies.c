#include "tasks/demo-studies.h"

#include <math.h>
#include <string.h>

#include <glib/gstdio.h>

#include "base/file-output.h"
#include "base/number.h"
#include "dicom/library.h"
#include "dicom/phantom.h"
#include "selector/reason.h"
#include "tasks/assess.h"
#include "tasks/selection.h"

#define CHEST_MM 240.0
#define ODD_WIDTH 4

typedef enum { ACCEPTED, RED_FLAG, TOO_SHORT, ODD_SCORE } Role;

/* What each study shows beside its double's scanner. */
static const struct {
  guint patient;
  const char *date;
  Role role;
  double nodule_mm, tilt_degrees, contrast_hu, motion_mm, noise;
} studies[] = {
    {1, "20190312", ACCEPTED, 4, 0, 0, 0, 1},  {1, "20200318", ACCEPTED, 6, 0, 0, 0, 1},
    {2, "20190507", ACCEPTED, 0, 0, 0, 0, 1},  {2, "20200429", RED_FLAG, 8, 0, 0, 0, 2},
    {3, "20200110", RED_FLAG, 0, 0, 0, 9, 1},  {4, "20200211", RED_FLAG, 5, 0, 90, 0, 1},
    {5, "20200305", ACCEPTED, 0, 0, 0, 0, 1},  {6, "20200402", ACCEPTED, 12, 0, 110, 0, 1},
    {7, "20200506", ACCEPTED, 0, 12, 0, 0, 1}, {8, "20200608", ACCEPTED, 0, 0, 0, 0, 0.6},
    {9, "20200701", TOO_SHORT, 6, 0, 0, 0, 1}, {10, "20200803", ODD_SCORE, 6, 0, 0, 0, 1},
};
#define N_STUDIES G_N_ELEMENTS(studies)

/* Rows of the cohort that the studies take after, by role: accepted ones spread over the risks, and
 * red flags whose first reasons differ. */
typedef struct {
  GArray *accepted, *red_flags; /* of guint32 */
} Doubles;

static void
doubles_clear(Doubles *doubles) {
  g_clear_pointer(&doubles->accepted, g_array_unref);
  g_clear_pointer(&doubles->red_flags, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Doubles, doubles_clear)

static guint
count_role(Role role) {
  guint n = 0;
  for (size_t i = 0; i < N_STUDIES; i++)
    n += studies[i].role == role;
  return n;
}

/* First one of each reason, then any, in the cohort's order. */
static void
choose_red_flags(DemurCohort *cohort, const GArray *verdicts, GArray *rows) {
  g_autoptr(GHashTable) told = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  const guint wanted = count_role(RED_FLAG);
  for (int any = 0; any < 2; any++)
    for (guint i = 0; i < verdicts->len && rows->len < wanted; i++) {
      const DemurVerdictRecord *v = &g_array_index(verdicts, DemurVerdictRecord, i);
      const gssize row = demur_cohort_find_scan(cohort, v->scan_id);
      const guint32 code = (guint32)row;
      if (v->verdict != DEMUR_VERDICT_RED_FLAG || row < 0)
        continue;
      g_autoptr(GPtrArray) reasons = demur_reasons_from_json(v->reasons);
      char *lead = demur_reasons_lead(reasons);
      if (lead != NULL && (g_hash_table_add(told, lead) || any))
        g_array_append_val(rows, code);
    }
}

static void
choose_accepted(DemurCohort *cohort, const GArray *verdicts, GArray *rows) {
  const guint wanted = (guint)N_STUDIES - count_role(RED_FLAG);
  /* The risks that are aimed at, from low to high, on the logit. */
  for (guint k = 0; k < wanted; k++) {
    const double aim = 1 / (1 + exp(-(-4.6 + 4.0 * k / MAX(wanted - 1, 1))));
    gssize best = -1;
    double distance = INFINITY;
    for (guint i = 0; i < verdicts->len; i++) {
      const DemurVerdictRecord *v = &g_array_index(verdicts, DemurVerdictRecord, i);
      const gssize row = demur_cohort_find_scan(cohort, v->scan_id);
      if (v->verdict != DEMUR_VERDICT_ACCEPTED || row < 0 || fabs(v->risk - aim) >= distance)
        continue;
      distance = fabs(v->risk - aim);
      best = row;
    }
    const guint32 code = best >= 0 ? (guint32)best : 0;
    g_array_append_val(rows, code);
  }
}

static const char *
attribute(const DemurCohort *cohort, const char *name, guint32 row, const char *otherwise) {
  const gssize at = demur_cohort_find_attribute(cohort, name);
  const char *text = at >= 0 ? demur_cohort_attribute_text(cohort, (size_t)at, row) : "";
  return *text != '\0' ? text : otherwise;
}

static double
attribute_number(const DemurCohort *cohort, const char *name, guint32 row, double otherwise) {
  const char *text = attribute(cohort, name, row, "");
  double value;
  return demur_number_parse(text, strlen(text), &value) ? value : otherwise;
}

/* Sharp kernels by the names that makers give them. */
static int
sharpness_of(const char *kernel) {
  static const char *const sharp[] = {"B5",   "B6",   "B7",  "B8", "LUNG",
                                      "BONE", "EDGE", "FC5", "D",  "L"};
  static const char *const soft[] = {"B1", "B2", "SOFT", "FC0", "FC1", "A"};
  for (size_t i = 0; i < G_N_ELEMENTS(sharp); i++)
    if (g_str_has_prefix(kernel, sharp[i]))
      return 1;
  for (size_t i = 0; i < G_N_ELEMENTS(soft); i++)
    if (g_str_has_prefix(kernel, soft[i]))
      return -1;
  return 0;
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

static gboolean
write_study(DemurTask *task, const DemurDemoStudiesParams *params, const DemurCohort *cohort,
            size_t study, guint32 row, char **series_uid, GError **error) {
  DemurPhantomOptions options = demur_phantom_defaults(task->seed);
  options.index = (guint)study + 1;
  options.patient = studies[study].patient;
  options.study_date = studies[study].date;
  options.nodule_radius_mm = studies[study].nodule_mm;
  options.tilt_degrees = studies[study].tilt_degrees;
  options.contrast_hu = studies[study].contrast_hu;
  options.motion_mm = studies[study].motion_mm;
  options.maker = attribute(cohort, "manufacturer", row, options.maker);
  options.model = attribute(cohort, "model_name", row, options.model);
  options.kernel = attribute(cohort, "kernel", row, options.kernel);
  options.kvp = attribute_number(cohort, "kvp", row, options.kvp);
  options.spacing_mm =
      CLAMP(attribute_number(cohort, "slice_thickness_mm", row, options.spacing_mm), 1.0, 5.0);
  options.n_slices = studies[study].role == TOO_SHORT ? 8 : (guint)(CHEST_MM / options.spacing_mm);
  options.sharpness = sharpness_of(options.kernel);
  options.noise_hu *= studies[study].noise * sqrt(2.5 / options.spacing_mm);
  g_autofree char *folder = study_folder(params->folder, study);
  return demur_phantom_write(&options, folder, task->parallel, &task->progress, series_uid, error);
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
append_score(GString *text, const DemurCohort *cohort, size_t study, guint32 row, size_t width,
             const char *series_uid) {
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append_printf(text, "%s,PHANTOM-%u", series_uid, studies[study].patient);
  for (int y = 0; y < DEMUR_N_YEARS; y++)
    g_string_append_printf(
        text, ",%s",
        demur_number_format(cohort->yearly_risks[(size_t)row * DEMUR_N_YEARS + (size_t)y], number));
  for (size_t e = 0; e < width; e++)
    g_string_append_printf(
        text, ",%s",
        demur_number_format((double)cohort->embeddings[(size_t)row * cohort->embedding_width + e],
                            number));
  g_string_append(text, ",yes\n");
}

gboolean
demur_task_demo_studies(DemurTask *task, const DemurDemoStudiesParams *params, GError **error) {
  g_autoptr(DemurCohort) cohort = demur_task_load_cohort(task, params->cohort, error);
  g_auto(DemurAssessment) assessment = {0};
  const DemurAssessParams ask = {.selector = params->selector, .cohort = params->cohort};
  if (cohort == NULL || !demur_dicom_init(error) ||
      !demur_task_assess(task, &ask, &assessment, error))
    return FALSE;
  if (cohort->yearly_risks == NULL || cohort->embedding_width < ODD_WIDTH) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE,
                "cohort '%s' has no yearly risks and embeddings to score phantoms with",
                params->cohort);
    return FALSE;
  }
  g_auto(Doubles) doubles = {g_array_new(FALSE, FALSE, sizeof(guint32)),
                             g_array_new(FALSE, FALSE, sizeof(guint32))};
  choose_accepted(cohort, assessment.verdicts, doubles.accepted);
  choose_red_flags(cohort, assessment.verdicts, doubles.red_flags);
  g_autoptr(GString) scores = header(cohort->embedding_width);
  g_autoptr(GString) odd = header(ODD_WIDTH);
  guint n_accepted = 0, n_red_flags = 0;
  for (size_t s = 0; s < N_STUDIES; s++) {
    const gboolean flagged = studies[s].role == RED_FLAG && n_red_flags < doubles.red_flags->len;
    const guint32 row = flagged ? g_array_index(doubles.red_flags, guint32, n_red_flags++)
                                : g_array_index(doubles.accepted, guint32, n_accepted++);
    g_autofree char *series_uid = NULL;
    if (!write_study(task, params, cohort, s, row, &series_uid, error))
      return FALSE;
    if (studies[s].role == ODD_SCORE)
      append_score(odd, cohort, s, row, ODD_WIDTH, series_uid);
    else
      append_score(scores, cohort, s, row, cohort->embedding_width, series_uid);
  }
  return demur_file_write(params->scores, scores->str, (gssize)scores->len, DEMUR_FILE_REPLACE,
                          error) &&
         demur_file_write(params->odd_scores, odd->str, (gssize)odd->len, DEMUR_FILE_REPLACE,
                          error);
}
