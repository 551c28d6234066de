#include "tasks/demo.h"

#include "base/error.h"
#include "base/file-output.h"
#include "base/private-folder.h"
#include "dicom/library.h"
#include "report/files.h"
#include "tasks/assess.h"
#include "tasks/cohorts.h"
#include "tasks/demo-studies.h"
#include "tasks/evaluate.h"
#include "tasks/intake.h"
#include "tasks/report.h"
#include "tasks/scores-import.h"
#include "tasks/train.h"
#include "tasks/tune.h"

#define COHORT "lung-simulated"
#define SELECTOR "as-published"
#define STUDIES "dicom"
#define MODEL "simulated-cnn"
#define COVERAGES "0.9,0.7,0.5"

static const double coverages[] = {0.9, 0.7, 0.5};

/* n: of the folder of studies, from 1. */
static DemurDemo *
lay_out(const char *folder, guint n) {
  DemurDemo *demo = g_new0(DemurDemo, 1);
  g_autofree char *studies = n > 1 ? g_strdup_printf(STUDIES "-%u", n) : g_strdup(STUDIES);
  demo->workspace = g_build_filename(folder, "workspace.demur", NULL);
  demo->pdf = g_build_filename(folder, "report.pdf", NULL);
  demo->json = g_build_filename(folder, "report.json", NULL);
  demo->dicom = g_build_filename(folder, studies, NULL);
  demo->scores = g_build_filename(folder, "phantom-scores.csv", NULL);
  demo->odd_scores = g_build_filename(folder, "phantom-scores-other-width.csv", NULL);
  demo->cohort = COHORT;
  demo->selector = SELECTOR;
  return demo;
}

char *
demur_demo_workspace(const char *folder) {
  return g_build_filename(folder, "workspace.demur", NULL);
}

void
demur_demo_free(DemurDemo *demo) {
  if (demo == NULL)
    return;
  g_free(demo->workspace);
  g_free(demo->pdf);
  g_free(demo->json);
  g_free(demo->dicom);
  g_free(demo->scores);
  g_free(demo->odd_scores);
  g_free(demo);
}

/* Everything is made beside whatever stood there, until all of it is whole. */
typedef struct {
  DemurTask *task;
  DemurPrivateFolder *stage; /* in the demo's folder */
  DemurDemo *staged;         /* where it is made; the studies lie under their final name, for the
                                workspace keeps their paths */
  DemurDemo *demo;           /* where it will lie */
  gboolean finished;
  DemurSimulation simulation;
} Making;

static void
making_clear(Making *m) {
  if (m->demo != NULL && !m->finished)
    demur_task_demo_studies_remove(m->demo->dicom);
  demur_private_folder_free(m->stage);
  demur_demo_free(m->staged);
  demur_demo_free(m->demo);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Making, making_clear)

static gboolean
prepare(Making *m, const DemurDemoParams *params, GError **error) {
  g_autofree char *workspace = demur_demo_workspace(params->folder);
  if (!demur_folder_make(params->folder, error))
    return FALSE;
  if (!params->replace && g_file_test(workspace, G_FILE_TEST_EXISTS)) {
    demur_error_set(
        error, DEMUR_ERROR_EXISTS,
        "%s holds a workspace already; give another folder, or say --replace to make the "
        "demo anew",
        params->folder);
    return FALSE;
  }
  g_autofree char *folder = g_canonicalize_filename(params->folder, NULL);
  m->stage = demur_private_folder_make(folder, ".demur-demo-", error);
  if (m->stage == NULL)
    return FALSE;
  g_autoptr(DemurDemo) demo = lay_out(folder, 1);
  for (guint n = 2; g_file_test(demo->dicom, G_FILE_TEST_EXISTS); n++) {
    demur_demo_free(demo);
    demo = lay_out(folder, n);
  }
  m->staged = lay_out(demur_private_folder_path(m->stage), 1);
  g_free(m->staged->dicom);
  m->staged->dicom = g_strdup(demo->dicom);
  m->demo = g_steal_pointer(&demo);
  g_free(m->task->workspace_path);
  m->task->workspace_path = g_strdup(m->staged->workspace);
  m->task->opening |= DEMUR_WORKSPACE_CREATE;
  demur_demo_simulation(&m->simulation, m->task->seed);
  return TRUE;
}

/* Everything gets its final name, the workspace last; then the studies of demos before go. */
static gboolean
put_in_place(Making *m, const char *folder, GError **error) {
  const struct {
    const char *from, *to;
  } files[] = {{m->staged->pdf, m->demo->pdf},
               {m->staged->json, m->demo->json},
               {m->staged->scores, m->demo->scores},
               {m->staged->odd_scores, m->demo->odd_scores}};
  for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
    if (!demur_file_put(files[i].from, files[i].to, DEMUR_FILE_REPLACE, error))
      return FALSE;
  if (!demur_task_put_workspace(m->task, m->demo->workspace, error))
    return FALSE;
  m->finished = TRUE;
  for (guint n = 1, n_missing = 0; n_missing < 10; n++) {
    g_autoptr(DemurDemo) other = lay_out(folder, n);
    g_autofree char *studies = g_canonicalize_filename(other->dicom, NULL);
    n_missing = g_file_test(studies, G_FILE_TEST_EXISTS) ? 0 : n_missing + 1;
    if (!g_str_equal(studies, m->demo->dicom))
      demur_task_demo_studies_remove(studies);
  }
  return TRUE;
}

/* --- the steps --- */

static gboolean
make_cohort(Making *m, GError **error) {
  g_autoptr(DemurCohortFacts) facts =
      demur_task_cohort_simulate(m->task, COHORT, &m->simulation, error);
  return facts != NULL;
}

static gboolean
train(Making *m, GError **error) {
  g_autoptr(DemurTrainSettings) settings = demur_train_settings_new_published();
  g_auto(DemurTrained) trained = {0};
  const DemurTrainParams params = {.selector = SELECTOR, .cohort = COHORT, .settings = settings};
  return demur_task_train(m->task, &params, &trained, error);
}

static gboolean
tune(Making *m, GError **error) {
  const DemurTuneParams params = {.selector = SELECTOR,
                                  .cohort = COHORT,
                                  .coverages = coverages,
                                  .n_coverages = G_N_ELEMENTS(coverages)};
  g_autoptr(DemurTuned) tuned = demur_task_tune(m->task, &params, error);
  return tuned != NULL;
}

static gboolean
report(Making *m, GError **error) {
  static char *selectors[] = {(char *)SELECTOR, NULL};
  /* Taken over by the task. */
  DemurEvaluateParams params = {.cohort = g_strdup(COHORT), .usual_groups = TRUE, .use = TRUE};
  g_auto(DemurEvaluating) evaluating = {0};
  if (!demur_report_check_files(m->staged->pdf, error) ||
      !demur_task_evaluate(m->task, selectors, &params, &evaluating, error))
    return FALSE;
  g_autoptr(DemurReportTask) made = demur_report_task_new(&evaluating, 0, error);
  return made != NULL &&
         demur_report_write(&made->input, m->staged->pdf, &m->task->progress, error);
}

static gboolean
draw_studies(Making *m, GError **error) {
  const DemurDemoStudiesParams params = {&m->simulation, m->staged->dicom, m->staged->scores,
                                         m->staged->odd_scores};
  return demur_task_demo_studies(m->task, &params, error);
}

static gboolean
import_images(Making *m, GError **error) {
  const char *const paths[] = {m->staged->dicom, NULL};
  g_autoptr(DemurEligibility) rules = demur_intake_rules(NULL, NULL, error);
  if (rules == NULL || !demur_dicom_init(error))
    return FALSE;
  const DemurIntakeParams params = {rules, NULL, FALSE};
  g_autoptr(DemurIntake) intake = demur_intake_run(m->task, paths, &params, error);
  return intake != NULL;
}

static gboolean
import_scores(Making *m, const char *path, GError **error) {
  const DemurScoresImportParams params = {.path = path, .model = MODEL};
  g_autoptr(DemurScoresImported) imported = demur_task_scores_import(m->task, &params, error);
  return imported != NULL;
}

static gboolean
import_usual_scores(Making *m, GError **error) {
  return import_scores(m, m->staged->scores, error);
}

static gboolean
import_odd_scores(Making *m, GError **error) {
  return import_scores(m, m->staged->odd_scores, error);
}

static gboolean
assess(Making *m, GError **error) {
  const DemurAssessParams params = {.selector = SELECTOR};
  g_auto(DemurAssessment) assessment = {0};
  return demur_task_assess(m->task, &params, &assessment, error) &&
         demur_assessment_save(m->task, &assessment, error);
}

static char *
simulate_words(const Making *m) {
  const DemurSimulation *s = &m->simulation;
  char rate[G_ASCII_DTOSTR_BUF_SIZE], drift[G_ASCII_DTOSTR_BUF_SIZE];
  return g_strdup_printf(
      "cohort simulate %s --no-effects --test %zu --outside %zu --base-rate-logit %s "
      "--drift-effect %s",
      COHORT, s->n_test, s->n_outside, g_ascii_dtostr(rate, sizeof rate, s->base_rate_logit),
      g_ascii_dtostr(drift, sizeof drift, s->drift_effect));
}

static char *
words_of(const Making *m, DemurDemoStep step) {
  const DemurDemo *demo = m->demo;
  switch (step) {
  case DEMUR_DEMO_COHORT:
    return simulate_words(m);
  case DEMUR_DEMO_TRAIN:
    return g_strdup("train " SELECTOR " --cohort " COHORT " --as-published");
  case DEMUR_DEMO_TUNE:
    return g_strdup("tune " SELECTOR " --cohort " COHORT " --coverage " COVERAGES);
  case DEMUR_DEMO_REPORT:
    return g_strdup_printf("report %s --selector " SELECTOR " --cohort " COHORT, demo->pdf);
  case DEMUR_DEMO_IMPORT:
    return g_strdup_printf("dicom import %s", demo->dicom);
  case DEMUR_DEMO_SCORES:
    return g_strdup_printf("scores import %s --model " MODEL, demo->scores);
  case DEMUR_DEMO_ODD_SCORES:
    return g_strdup_printf("scores import %s --model " MODEL, demo->odd_scores);
  case DEMUR_DEMO_ASSESS:
    return g_strdup("assess " SELECTOR " --all");
  default:
    return NULL;
  }
}

DemurDemo *
demur_task_demo(DemurTask *task, const DemurDemoParams *params, GError **error) {
  static gboolean (*const steps[DEMUR_N_DEMO_STEPS])(Making *, GError **) = {
      [DEMUR_DEMO_COHORT] = make_cohort,
      [DEMUR_DEMO_TRAIN] = train,
      [DEMUR_DEMO_TUNE] = tune,
      [DEMUR_DEMO_REPORT] = report,
      [DEMUR_DEMO_STUDIES] = draw_studies,
      [DEMUR_DEMO_IMPORT] = import_images,
      [DEMUR_DEMO_SCORES] = import_usual_scores,
      [DEMUR_DEMO_ODD_SCORES] = import_odd_scores,
      [DEMUR_DEMO_ASSESS] = assess};
  /* Of the whole time, what is spent by the end of each. */
  static const double ends[DEMUR_N_DEMO_STEPS] = {0.05, 0.40, 0.45, 0.70, 0.90,
                                                  0.94, 0.96, 0.98, 1.0};
  g_auto(Making) making = {.task = task};
  if (!prepare(&making, params, error))
    return NULL;
  const DemurProgress whole = task->progress;
  gboolean ok = TRUE;
  for (DemurDemoStep step = 0; ok && step < DEMUR_N_DEMO_STEPS; step++) {
    g_autofree char *words = words_of(&making, step);
    if (params->told != NULL)
      params->told(step, words, params->data);
    DemurProgressStage stage = {
        .outer = &whole, .start = step > 0 ? ends[step - 1] : 0.0, .end = ends[step]};
    task->progress = demur_progress_stage(&stage);
    ok = steps[step](&making, error);
  }
  task->progress = whole;
  return ok && put_in_place(&making, params->folder, error) ? g_steal_pointer(&making.demo) : NULL;
}
