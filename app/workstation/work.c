#include "app/workstation/work.h"

#include <math.h>
#include <string.h>

#include "tasks/assess.h"
#include "tasks/intake.h"
#include "tasks/report.h"
#include "tasks/task.h"
#include "base/memory.h"
#include "base/number.h"
#include "dicom/library.h"
#include "metrics/coverage.h"
#include "metrics/intervals.h"
#include "selector/coverage.h"
#include "selector/checkpoint.h"
#include "selector/training.h"
#include "store/checkpoints.h"
#include "store/cohorts.h"
#include "store/reviews.h"
#include "store/trained.h"
#include "store/verdicts.h"
#include "ui/words.h"

/* A task in a worker's thread: its own handle on the workspace, its own threads. */
static void
task_init(DemurTask *task, const char *workspace, const DemurProgress *progress) {
  *task = (DemurTask){.workspace_path = g_strdup(workspace),
                      .seed = 1,
                      .parallel = demur_parallel_new(0),
                      .progress = *progress};
}

/* Import. */

static char *
series_title(const DemurSeries *series) {
  g_autoptr(GString) text =
      g_string_new(series->patient_id != NULL ? series->patient_id : _("no patient ID"));
  if (series->series_number != DEMUR_NO_NUMBER)
    g_string_append_printf(text, " · %" G_GINT64_FORMAT, series->series_number);
  if (series->description != NULL)
    g_string_append_printf(text, " · %s", series->description);
  g_string_append_printf(text, " · %s", demur_series_type_name(series->type));
  g_string_append_printf(text, ngettext_(", %zu image", ", %zu images", series->n_slices),
                         series->n_slices);
  return g_string_free(g_steal_pointer(&text), FALSE);
}

static DemurImportOutcome *
work_import(const char *workspace, char *const *paths, const DemurProgress *progress,
            GError **error) {
  g_auto(DemurTask) task;
  task_init(&task, workspace, progress);
  if (!demur_dicom_init(error))
    return NULL;
  g_autoptr(DemurEligibility) rules = demur_eligibility_new();
  g_autoptr(DemurIntake) intake =
      demur_intake_run(&task, (const char *const *)paths, rules, NULL, error);
  if (intake == NULL)
    return NULL;
  g_autoptr(DemurImportOutcome) outcome = demur_import_outcome_new();
  for (guint i = 0; i < intake->import->series->len; i++) {
    const DemurSeries *series = intake->import->series->pdata[i];
    const DemurSeriesRecord *record = intake->records->pdata[i];
    char *warnings = series->warnings != NULL && series->warnings[0] != NULL
                         ? g_strjoinv("; ", series->warnings)
                         : NULL;
    if (record->accepted) {
      demur_import_outcome_add(outcome->accepted, series_title(series), warnings);
    } else {
      g_free(warnings);
      demur_import_outcome_add(outcome->rejected, series_title(series), g_strdup(record->reason));
    }
    outcome->n_series++;
  }
  for (guint i = 0; i < intake->import->skipped->len; i++) {
    const DemurSkipped *skipped = intake->import->skipped->pdata[i];
    demur_import_outcome_add(outcome->skipped, g_path_get_basename(skipped->path),
                             g_strdup(skipped->reason));
  }
  return g_steal_pointer(&outcome);
}

/* Assess. */

static gboolean
work_assess(const char *workspace, const char *selector, const char *cohort, const char *split,
            const DemurProgress *progress, GError **error) {
  g_auto(DemurTask) task;
  task_init(&task, workspace, progress);
  g_auto(DemurAssessment) assessment = {0};
  const DemurAssessParams options = {selector, cohort, split, NULL, NULL};
  return demur_task_assess(&task, &options, &assessment, error) &&
         demur_assessment_save(&task, &assessment, error);
}

static gboolean
work_choose(const char *workspace, const char *scan_id, const char *reason, const char *selector,
            const DemurProgress *progress, GError **error) {
  g_auto(DemurTask) task;
  task_init(&task, workspace, progress);
  if (!demur_intake_choose(&task, scan_id, reason, error))
    return FALSE;
  if (selector == NULL)
    return TRUE;
  g_auto(DemurAssessment) assessment = {0};
  const DemurAssessParams options = {selector, NULL, NULL, scan_id, NULL};
  return demur_task_assess(&task, &options, &assessment, error) &&
         demur_assessment_save(&task, &assessment, error);
}

/* Evaluate, with everything the slider needs. */

typedef struct {
  DemurEvaluating evaluating;
  DemurReportTask *report;
  char *names[2];
} StudyOwner;

static void
study_owner_free(gpointer data) {
  StudyOwner *owner = data;
  demur_report_task_free(owner->report);
  demur_evaluating_clear(&owner->evaluating);
  g_free(owner->names[0]);
  g_free(owner);
}

/* Scores of the split, in the order of the sample. */
static gboolean
score_sample(DemurStudy *study, const DemurSelector *selector, DemurParallel *parallel,
             const DemurProgress *progress, GError **error) {
  const DemurSample *sample = study->sample;
  DEMUR_AUTO_ALIGNED double *meta = demur_selector_meta_features(
      selector, study->view, FALSE, sample->rows, sample->n, parallel, progress, error);
  if (meta == NULL)
    return FALSE;
  study->scores = g_new(double, sample->n);
  demur_selector_scores(selector, 0, meta, sample->n, study->scores);
  study->ranks = g_new(guint32, sample->n);
  study->n_ranks = demur_coverage_ranks(study->scores, sample->n, study->ranks);
  study->confidence_ranks = g_new(guint32, sample->n);
  study->n_confidence_ranks =
      demur_coverage_ranks(sample->confidences, sample->n, study->confidence_ranks);
  return TRUE;
}

static void
add_group(DemurStudy *study, char *name, char **values, size_t n_values, guint32 *codes) {
  study->groups = g_renew(DemurStudyGroup, study->groups, study->n_groups + 1);
  study->groups[study->n_groups++] = (DemurStudyGroup){name, n_values, values, codes};
}

static void
add_attribute(DemurStudy *study, const char *name) {
  const gssize at = demur_cohort_find_attribute(study->view, name);
  if (at < 0)
    return;
  const DemurAttribute *attribute = &study->view->attributes[at];
  guint32 *codes = g_new(guint32, study->sample->n);
  for (size_t i = 0; i < study->sample->n; i++)
    codes[i] = attribute->codes[study->sample->rows[i]];
  char **values = g_new0(char *, attribute->n_values + 1);
  for (size_t v = 0; v < attribute->n_values; v++)
    values[v] = g_strdup(*attribute->values[v] != '\0' ? attribute->values[v] : _("not recorded"));
  add_group(study, g_strdup(name), values, attribute->n_values, codes);
}

/* Years of age in four bands, where they are numbers. */
static void
add_ages(DemurStudy *study) {
  const gssize at = demur_cohort_find_attribute(study->view, "age");
  if (at < 0)
    return;
  const char *const names[] = {_("under 60"), _("60 to 69"), _("70 and over"),
                               _("age not recorded")};
  guint32 *codes = g_new(guint32, study->sample->n);
  for (size_t i = 0; i < study->sample->n; i++) {
    const char *text = demur_cohort_attribute_text(study->view, (size_t)at, study->sample->rows[i]);
    double age;
    codes[i] = !demur_number_parse(text, strlen(text), &age) ? 3 : age < 60 ? 0 : age < 70 ? 1 : 2;
  }
  add_group(study, g_strdup("age"),
            g_strdupv((char **)(const char *[]){names[0], names[1], names[2], names[3], NULL}), 4,
            codes);
}

static void
add_groups(DemurStudy *study) {
  const DemurCohort *cohort = study->view;
  guint32 *codes = g_new(guint32, study->sample->n);
  for (size_t i = 0; i < study->sample->n; i++)
    codes[i] = cohort->sites[study->sample->rows[i]];
  char **sites = g_new0(char *, cohort->n_sites + 1);
  for (size_t s = 0; s < cohort->n_sites; s++)
    sites[s] = g_strdup(cohort->site_names[s]);
  add_group(study, g_strdup("site"), sites, cohort->n_sites, codes);
  add_attribute(study, "manufacturer");
  add_attribute(study, "sex");
  add_ages(study);
  add_attribute(study, "kernel");
}

/* Patients of the split that a coverage in use is tuned on. */
static size_t
count_tune_patients(const DemurCohort *cohort) {
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(cohort, "tune", &n, NULL);
  g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
  for (size_t i = 0; rows != NULL && i < n; i++)
    g_hash_table_add(seen, GUINT_TO_POINTER(cohort->patients[rows[i]]));
  return g_hash_table_size(seen);
}

static DemurStudy *
work_study(const char *workspace, const char *selector, const char *cohort, const char *split,
           const DemurProgress *progress, GError **error) {
  g_auto(DemurTask) task;
  task_init(&task, workspace, progress);
  StudyOwner *owner = g_new0(StudyOwner, 1);
  g_autoptr(DemurStudy) study = demur_study_new();
  study->owner = owner;
  study->free_owner = study_owner_free;
  owner->names[0] = g_strdup(selector);
  DemurEvaluateParams options = {
      .cohort = g_strdup(cohort), .split = g_strdup(split), .usual_groups = TRUE};
  if (!demur_task_evaluate(&task, owner->names, &options, &owner->evaluating, error))
    return NULL;
  owner->report = demur_report_task_new(&owner->evaluating, 0.0, error);
  if (owner->report == NULL)
    return NULL;
  const DemurSelector *loaded = owner->evaluating.selectors[0];
  study->selector = g_strdup(selector);
  study->digest = g_strdup(demur_selector_digest(loaded));
  study->cohort = g_strdup(cohort);
  study->split = g_strdup(owner->evaluating.evaluation->split);
  study->evaluation = owner->evaluating.evaluation;
  study->report = &owner->report->input;
  study->validation = g_strdup(owner->evaluating.records[0]->validation);
  for (size_t m = 0; m < study->evaluation->n_methods && study->method == NULL; m++)
    if (g_str_has_prefix(study->evaluation->methods[m].name, "selector:"))
      study->method = &study->evaluation->methods[m];
  if (study->method == NULL) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_STATE, "the evaluation has no selector");
    return NULL;
  }
  study->confidence =
      demur_evaluation_method(study->evaluation, "confidence", study->method->recalibrated);
  study->full = demur_evaluation_method(study->evaluation, "full", study->method->recalibrated);
  study->tuned_coverage = study->tuned_threshold = NAN;
  const GPtrArray *thresholds = owner->evaluating.thresholds[0];
  if (thresholds->len > 0) {
    const DemurThresholdRecord *current = thresholds->pdata[thresholds->len - 1];
    study->tuned_coverage = current->coverage;
    study->tuned_threshold = current->threshold;
  }
  study->view = demur_selector_view(loaded, owner->evaluating.cohort, error);
  if (study->view == NULL)
    return NULL;
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(study->view, study->split, &n, error);
  if (rows == NULL)
    return NULL;
  study->sample = demur_sample_new(study->view, rows, n, study->split, error);
  if (study->sample == NULL || !score_sample(study, loaded, task.parallel, &task.progress, error))
    return NULL;
  study->n_tune_patients = count_tune_patients(study->view);
  add_groups(study);
  return g_steal_pointer(&study);
}

/* Tune. */

static char *
work_tune(const char *workspace, const char *selector_name, const char *cohort_name,
          const char *split, double coverage, const char *reason, const char *user,
          const DemurProgress *progress, GError **error) {
  g_auto(DemurTask) task;
  task_init(&task, workspace, progress);
  g_autoptr(DemurSelector) selector = demur_task_load_selector(&task, selector_name, NULL, error);
  g_autoptr(DemurCohort) cohort =
      selector != NULL ? demur_task_load_cohort(&task, cohort_name, error) : NULL;
  if (cohort == NULL)
    return NULL;
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(cohort, split, &n, error);
  g_autoptr(DemurCohort) view = rows != NULL ? demur_selector_view(selector, cohort, error) : NULL;
  if (view == NULL)
    return NULL;
  DEMUR_AUTO_ALIGNED double *meta = demur_selector_meta_features(
      selector, view, FALSE, rows, n, task.parallel, &task.progress, error);
  if (meta == NULL)
    return NULL;
  const size_t n_models = demur_selector_n_models(selector);
  g_autofree double *scores = g_new(double, n_models * n);
  g_autofree const double **by_model = g_new(const double *, n_models);
  for (size_t m = 0; m < n_models; m++) {
    demur_selector_scores(selector, m, meta, n, scores + m * n);
    by_model[m] = scores + m * n;
  }
  g_autofree guint32 *patients = g_new(guint32, n);
  for (size_t i = 0; i < n; i++)
    patients[i] = cohort->patients[rows[i]];
  g_autoptr(DemurTuning) tuning =
      demur_tune_plug_in(coverage, by_model, n_models, patients, n, error);
  if (tuning == NULL)
    return NULL;
  demur_tuning_set_sites(tuning, cohort, rows, n);
  g_autofree char *digest = demur_cohort_digest(cohort, rows, n);
  g_autofree char *details = demur_tuning_to_json(tuning);
  g_autofree char *now = demur_task_now(&task);
  DemurThresholdRecord threshold = {.selector = (char *)selector_name,
                                    .coverage = tuning->coverage,
                                    .threshold = tuning->thresholds[0],
                                    .realised = tuning->realised,
                                    .n_scans = tuning->n_scans,
                                    .n_patients = tuning->n_patients,
                                    .cohort = cohort->name,
                                    .split = (char *)split,
                                    .cohort_digest = digest,
                                    .guarantee = details,
                                    .created = now};
  DemurDecisionRecord decision = {.selector = (char *)selector_name,
                                  .selector_digest = (char *)demur_selector_digest(selector),
                                  .cohort = cohort->name,
                                  .split = (char *)split,
                                  .coverage = tuning->coverage,
                                  .threshold = tuning->thresholds[0],
                                  .reason = (char *)reason,
                                  .user = (char *)user,
                                  .created = now};
  DemurWorkspace *store = demur_task_workspace(&task, error);
  if (store == NULL || !demur_workspace_begin(store, error))
    return NULL;
  /* The threshold and the reason for it are kept together or not at all. */
  if (!demur_thresholds_save(store, &threshold, error) ||
      !demur_decisions_save(store, &decision, error)) {
    demur_workspace_rollback(store);
    return NULL;
  }
  return demur_workspace_commit(store, error) ? g_strdup(tuning->sentence) : NULL;
}

/* Train. */

/* What an earlier training of that name left to go on from; *from is NULL where nothing is kept. */
static gboolean
read_training(DemurWorkspace *store, const char *name, DemurCheckpoint **from, GError **error) {
  g_autoptr(GError) local = NULL;
  g_autoptr(GBytes) bytes = demur_checkpoints_load(store, name, &local);
  if (bytes == NULL) {
    if (g_error_matches(local, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND))
      return TRUE;
    g_propagate_error(error, g_steal_pointer(&local));
    return FALSE;
  }
  *from = demur_checkpoint_from_bytes(bytes, error);
  return *from != NULL;
}

#define MOST_NETWORKS 64

typedef struct {
  DemurTask *task;
  const char *name;
  void (*point)(const DemurTrainingPoint *point, gpointer data);
  gpointer data;
  size_t n_told[MOST_NETWORKS]; /* epochs of each network that were told already */
} TrainingKeeper;

static gboolean
keep_training(const DemurCheckpoint *checkpoint, gpointer data, GError **error) {
  TrainingKeeper *keeper = data;
  for (size_t k = 0; k < MIN(checkpoint->n_networks, MOST_NETWORKS); k++) {
    const DemurTrainerState *state = checkpoint->networks[k];
    for (; state != NULL && keeper->n_told[k] < state->n_history; keeper->n_told[k]++) {
      const DemurTrainerEpoch *epoch = &state->history[keeper->n_told[k]];
      const DemurTrainingPoint reached = {k, epoch->epoch, epoch->loss, epoch->mean_auc,
                                          epoch->worst_auc};
      keeper->point(&reached, keeper->data);
    }
  }
  g_autoptr(GBytes) bytes = demur_checkpoint_to_bytes(checkpoint);
  g_autofree char *now = demur_task_now(keeper->task);
  return demur_checkpoints_save(keeper->task->workspace, keeper->name, bytes,
                                demur_checkpoint_n_updates(checkpoint), now, error);
}

static gboolean
work_train(const char *workspace, const char *name, const char *cohort_name,
           const DemurTrainSettings *settings, guint64 seed, gboolean resume,
           void (*point)(const DemurTrainingPoint *point, gpointer data), gpointer data,
           const DemurProgress *progress, GError **error) {
  g_auto(DemurTask) task;
  task_init(&task, workspace, progress);
  if (!demur_train_settings_check(settings, error))
    return FALSE;
  DemurWorkspace *store = demur_task_workspace(&task, error);
  g_autoptr(GPtrArray) existing = store != NULL ? demur_selectors_list(store, error) : NULL;
  if (existing == NULL)
    return FALSE;
  for (guint i = 0; i < existing->len; i++)
    if (strcmp(((DemurSelectorRecord *)existing->pdata[i])->name, name) == 0) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_EXISTS,
                  _("There is a selector '%s' already; choose another name."), name);
      return FALSE;
    }
  g_autoptr(DemurCohort) cohort = demur_task_load_cohort(&task, cohort_name, error);
  if (cohort == NULL)
    return FALSE;
  g_autoptr(DemurCheckpoint) from = NULL;
  if (resume && !read_training(store, name, &from, error))
    return FALSE;
  TrainingKeeper keeping = {&task, name, point, data, {0}};
  const DemurTrainingKeeper keeper = {from, keep_training, &keeping};
  g_autoptr(DemurTrainingLog) log = NULL;
  g_autoptr(DemurSelector) selector = demur_selector_train_kept(
      cohort, settings, seed, &keeper, task.parallel, &task.progress, &log, error);
  if (selector == NULL)
    return FALSE;
  g_autofree char *now = demur_task_now(&task);
  return demur_trained_save(store, name, selector, log, FALSE, now, error);
}

/* What a risk means here. */

#define MEANING_WIDTH 0.5 /* half the width of the band, in logits */
#define MEANING_LEAST 20  /* fewer accepted scans say nothing */

static double
logit(double p) {
  const double clipped = CLAMP(p, 1e-6, 1 - 1e-6);
  return log(clipped / (1 - clipped));
}

static DemurMeaning *
work_meaning(const char *workspace, const char *selector, double risk,
             const DemurProgress *progress, GError **error) {
  g_auto(DemurTask) task;
  task_init(&task, workspace, progress);
  DemurWorkspace *store = demur_task_workspace(&task, error);
  g_autoptr(DemurThresholdRecord) threshold = NULL;
  if (store == NULL || !demur_thresholds_current(store, selector, &threshold, error))
    return NULL;
  if (threshold == NULL)
    return NULL;
  g_autoptr(DemurCohort) cohort =
      demur_cohorts_load_facts(store, threshold->cohort, &task.progress, error);
  g_autoptr(GPtrArray) verdicts =
      cohort != NULL ? demur_verdicts_latest(store, threshold->cohort, error) : NULL;
  if (verdicts == NULL)
    return NULL;
  DemurMeaning *meaning = g_new0(DemurMeaning, 1);
  meaning->low = 1 / (1 + exp(-(logit(risk) - MEANING_WIDTH)));
  meaning->high = 1 / (1 + exp(-(logit(risk) + MEANING_WIDTH)));
  meaning->cohort = g_strdup(threshold->cohort);
  for (guint i = 0; i < verdicts->len; i++) {
    const DemurVerdictRecord *verdict = verdicts->pdata[i];
    if (strcmp(verdict->verdict, "accepted") != 0 || strcmp(verdict->selector, selector) != 0 ||
        verdict->risk < meaning->low || verdict->risk > meaning->high)
      continue;
    const gssize row = demur_cohort_find_scan(cohort, verdict->scan_id);
    if (row < 0 || cohort->labels[row] == DEMUR_NO_LABEL)
      continue;
    meaning->n++;
    meaning->n_positive += cohort->labels[row] == 1;
  }
  if (meaning->n < MEANING_LEAST) {
    demur_meaning_free(meaning);
    return NULL;
  }
  demur_interval_wilson((double)meaning->n_positive, (double)meaning->n, 0.95, &meaning->rate_low,
                        &meaning->rate_high);
  return meaning;
}

const DemurWork demur_workstation_work = {
    .import = work_import,
    .assess = work_assess,
    .study = work_study,
    .tune = work_tune,
    .train = work_train,
    .choose = work_choose,
    .meaning = work_meaning,
};
