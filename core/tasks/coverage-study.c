#include "tasks/coverage-study.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/small-cells.h"
#include "evaluation/releases.h"
#include "metrics/coverage.h"
#include "report/format.h"
#include "store/events.h"
#include "tasks/evaluate.h"
#include "tasks/report.h"
#include "tasks/selection.h"

DemurCoverageStudy *
demur_coverage_study_new(void) {
  DemurCoverageStudy *study = g_new0(DemurCoverageStudy, 1);
  study->ref_count = 1;
  return study;
}

DemurCoverageStudy *
demur_coverage_study_ref(DemurCoverageStudy *study) {
  g_atomic_int_inc(&study->ref_count);
  return study;
}

void
demur_coverage_study_unref(DemurCoverageStudy *study) {
  if (study == NULL || !g_atomic_int_dec_and_test(&study->ref_count))
    return;
  g_free(study->selector);
  g_free(study->digest);
  g_free(study->cohort);
  g_free(study->split);
  demur_selector_unref(study->judge);
  g_free(study->validation);
  g_free(study->family);
  demur_sample_free(study->sample);
  g_free(study->scores);
  g_free(study->ranks);
  g_free(study->confidence_ranks);
  for (size_t g = 0; g < study->n_groups; g++) {
    g_strfreev(study->groups[g].values);
    g_free(study->groups[g].codes);
    g_free(study->groups[g].withheld);
  }
  g_free(study->groups);
  demur_cohort_unref(study->view);
  if (study->free_owner != NULL)
    study->free_owner(study->owner);
  g_free(study);
}

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
score_sample(DemurCoverageStudy *study, const DemurSelector *selector, DemurParallel *parallel,
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
add_group(DemurCoverageStudy *study, DemurCoverageGroupKind kind, char **values, size_t n_values,
          guint32 *codes) {
  study->groups = g_renew(DemurCoverageGroup, study->groups, study->n_groups + 1);
  study->groups[study->n_groups++] =
      (DemurCoverageGroup){kind, n_values, values, codes, g_new0(gboolean, n_values + 1)};
}

static void
add_attribute(DemurCoverageStudy *study, DemurCoverageGroupKind kind, const char *name) {
  const gssize at = demur_cohort_find_attribute(study->view, name);
  if (at < 0)
    return;
  const DemurAttribute *attribute = &study->view->attributes[at];
  guint32 *codes = g_new(guint32, study->sample->n);
  for (size_t i = 0; i < study->sample->n; i++)
    codes[i] = attribute->codes[study->sample->rows[i]];
  char **values = g_new0(char *, attribute->n_values + 1);
  for (size_t v = 0; v < attribute->n_values; v++)
    values[v] = g_strdup(attribute->values[v]);
  add_group(study, kind, values, attribute->n_values, codes);
}

/* Years of age in four bands, where they are numbers. */
static void
add_ages(DemurCoverageStudy *study) {
  const gssize at = demur_cohort_find_attribute(study->view, "age");
  if (at < 0)
    return;
  static const char *const names[] = {DEMUR_TASK_WORD("under 60"), DEMUR_TASK_WORD("60 to 69"),
                                      DEMUR_TASK_WORD("70 and over"), ""};
  guint32 *codes = g_new(guint32, study->sample->n);
  for (size_t i = 0; i < study->sample->n; i++) {
    const char *text = demur_cohort_attribute_text(study->view, (size_t)at, study->sample->rows[i]);
    double age;
    codes[i] = !demur_number_parse(text, strlen(text), &age) ? 3 : age < 60 ? 0 : age < 70 ? 1 : 2;
  }
  add_group(study, DEMUR_COVERAGE_GROUP_AGE,
            g_strdupv((char **)(const char *[]){names[0], names[1], names[2], names[3], NULL}), 4,
            codes);
}

static void
add_groups(DemurCoverageStudy *study) {
  const DemurCohort *cohort = study->view;
  guint32 *codes = g_new(guint32, study->sample->n);
  for (size_t i = 0; i < study->sample->n; i++)
    codes[i] = cohort->sites[study->sample->rows[i]];
  char **sites = g_new0(char *, cohort->n_sites + 1);
  for (size_t s = 0; s < cohort->n_sites; s++)
    sites[s] = g_strdup(cohort->site_names[s]);
  add_group(study, DEMUR_COVERAGE_GROUP_SITE, sites, cohort->n_sites, codes);
  add_attribute(study, DEMUR_COVERAGE_GROUP_MANUFACTURER, "manufacturer");
  add_attribute(study, DEMUR_COVERAGE_GROUP_SEX, "sex");
  add_ages(study);
  add_attribute(study, DEMUR_COVERAGE_GROUP_KERNEL, "kernel");
}

/* Which groups are told of, as everywhere; bands of the age, which are told here alone, by their
 * sizes. */
static void
withhold_groups(DemurCoverageStudy *study) {
  static const char *const ways[DEMUR_N_COVERAGE_GROUPS] = {"site", "manufacturer", "sex", NULL,
                                                            "kernel"};
  const DemurSample *sample = study->sample;
  g_autoptr(DemurReleases) releases =
      demur_releases_new(study->view, sample->rows, sample->n, NULL);
  for (size_t g = 0; g < study->n_groups; g++) {
    DemurCoverageGroup *group = &study->groups[g];
    g_autofree size_t *sizes = g_new0(size_t, group->n_values + 1);
    g_autofree gboolean *forced = g_new0(gboolean, group->n_values + 1);
    const DemurReleasedWay *way =
        ways[group->kind] != NULL ? demur_releases_find(releases, ways[group->kind]) : NULL;
    for (size_t i = 0; i < sample->n; i++)
      sizes[group->codes[i]]++;
    size_t n_there = 0; /* values that do not occur are not shown */
    for (size_t v = 0; v < group->n_values; v++)
      if (sizes[v] > 0) {
        forced[n_there] = demur_released_way_withholds(way, group->values[v]);
        sizes[n_there++] = sizes[v];
      }
    g_autofree gboolean *withheld = g_new0(gboolean, n_there + 1);
    demur_small_cells_beside(sizes, n_there, 1, forced, withheld);
    g_autofree gboolean *occurs = g_new0(gboolean, group->n_values + 1);
    for (size_t i = 0; i < sample->n; i++)
      occurs[group->codes[i]] = TRUE;
    for (size_t v = 0, k = 0; v < group->n_values; v++)
      group->withheld[v] = occurs[v] && withheld[k++];
  }
}

/* Patients of the split that a coverage in use is tuned on. */
static size_t
count_tune_patients(const DemurCohort *cohort) {
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(cohort, DEMUR_SPLIT_TUNE, &n, NULL);
  g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
  for (size_t i = 0; rows != NULL && i < n; i++)
    g_hash_table_add(seen, GUINT_TO_POINTER(cohort->patients[rows[i]]));
  return g_hash_table_size(seen);
}

/* What is in the evaluation of the selector and of what it is set beside. */
static gboolean
take_evaluation(DemurCoverageStudy *study, const DemurEvaluating *evaluating, GError **error) {
  study->evaluation = evaluating->evaluation;
  study->method =
      demur_evaluation_selector(study->evaluation, evaluating->names[0],
                                demur_selector_recalibration(evaluating->selectors[0]) != NULL);
  if (study->method == NULL) {
    demur_error_set(error, DEMUR_ERROR_STATE, "the evaluation has no selector");
    return FALSE;
  }
  study->confidence = demur_evaluation_baseline(study->evaluation, DEMUR_METHOD_CONFIDENCE,
                                                study->method->recalibrated);
  study->full =
      demur_evaluation_baseline(study->evaluation, DEMUR_METHOD_FULL, study->method->recalibrated);
  study->told = demur_told_coverages_of_result(study->method);
  if (study->confidence != NULL)
    study->confidence_told = demur_told_coverages_of_result(study->confidence);
  study->tuned_coverage = study->tuned_threshold = NAN;
  const GPtrArray *thresholds = evaluating->thresholds[0];
  if (thresholds->len > 0) {
    const DemurThresholdRecord *current = thresholds->pdata[thresholds->len - 1];
    study->tuned_coverage = current->coverage;
    study->tuned_threshold = current->threshold;
  }
  return TRUE;
}

/* The family that the selector is a horizon of, if there is one. */
static gboolean
find_family(DemurTask *task, const DemurSelector *selector, DemurCoverageStudy *study,
            GError **error) {
  g_autofree char *name =
      demur_selector_settings(selector)->family != NULL
          ? demur_horizon_family_name(study->selector, demur_selector_horizon_years(selector))
          : NULL;
  if (name == NULL)
    return TRUE;
  if (!demur_horizons_of_family(task, name, &study->horizons, error))
    return FALSE;
  if (study->horizons.n > 1)
    study->family = g_steal_pointer(&name);
  return TRUE;
}

DemurCoverageStudy *
demur_task_coverage_study(DemurTask *task, const DemurCoverageStudyParams *params, GError **error) {
  StudyOwner *owner = g_new0(StudyOwner, 1);
  g_autoptr(DemurCoverageStudy) study = demur_coverage_study_new();
  study->owner = owner;
  study->free_owner = study_owner_free;
  owner->names[0] = g_strdup(params->selector);
  DemurEvaluateParams options = {.cohort = g_strdup(params->cohort),
                                 .split = g_strdup(params->split),
                                 .usual_groups = TRUE,
                                 .use = TRUE};
  if (params->group_by != NULL) {
    options.group_by = g_new0(char *, 2);
    options.group_by[0] = g_strdup(params->group_by);
  }
  if (!demur_task_evaluate(task, owner->names, &options, &owner->evaluating, error))
    return NULL;
  owner->report = demur_report_task_new(&owner->evaluating, 0.0, error);
  if (owner->report == NULL)
    return NULL;
  const DemurSelector *loaded = owner->evaluating.selectors[0];
  study->selector = g_strdup(params->selector);
  study->judge = demur_selector_ref(owner->evaluating.selectors[0]);
  study->digest = g_strdup(demur_selector_digest(loaded));
  study->cohort = g_strdup(params->cohort);
  study->split = g_strdup(owner->evaluating.evaluation->split);
  study->report = &owner->report->input;
  study->validation = g_strdup(owner->evaluating.records[0]->validation);
  if (!take_evaluation(study, &owner->evaluating, error) ||
      !find_family(task, loaded, study, error))
    return NULL;
  study->view = demur_selector_view(loaded, owner->evaluating.cohort, error);
  if (study->view == NULL)
    return NULL;
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(study->view, study->split, &n, error);
  if (rows == NULL)
    return NULL;
  study->sample = demur_sample_new(study->view, rows, n, study->split, error);
  if (study->sample == NULL || !score_sample(study, loaded, task->parallel, &task->progress, error))
    return NULL;
  study->n_tune_patients = count_tune_patients(study->view);
  add_groups(study);
  withhold_groups(study);
  return g_steal_pointer(&study);
}

gboolean
demur_coverage_study_told(const DemurCoverageStudy *study, double coverage, double *told,
                          GError **error) {
  const DemurToldCoverages *all = &study->told;
  *told = demur_told_coverages_have(all, coverage) ? coverage
                                                   : demur_told_coverages_nearest(all, coverage);
  if (isfinite(*told))
    return TRUE;
  double nearest = 1.0;
  for (size_t t = 0; t < all->n; t++)
    if (fabs(all->coverages[t] - coverage) < fabs(nearest - coverage))
      nearest = all->coverages[t];
  g_autofree char *asked = demur_text_coverage(coverage), *there = demur_text_coverage(nearest);
  demur_error_set(
      error, DEMUR_ERROR_STATE,
      "what counts outcomes is written to no file at coverage %s: its accepted scans and "
      "those near it would tell the outcomes of few people; the nearest coverage that can "
      "be written is %s",
      asked, there);
  return FALSE;
}

gboolean
demur_task_coverage_study_event(DemurTask *task, gint64 *event, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  return workspace != NULL && demur_events_last_of_evaluation(workspace, event, error);
}

gboolean
demur_coverage_study_report_is_current(DemurTask *task, const DemurCoverageStudy *study) {
  const StudyOwner *owner = study->owner;
  DemurWorkspace *workspace = demur_task_workspace(task, NULL);
  g_autofree char *head = workspace != NULL ? demur_events_head_of_change(workspace, NULL) : NULL;
  return head == NULL || strcmp(head, owner->evaluating.log_head) == 0;
}

DemurReportTask *
demur_coverage_study_report(const DemurCoverageStudy *study, double coverage, GError **error) {
  const StudyOwner *owner = study->owner;
  return demur_report_task_new(&owner->evaluating, coverage, error);
}
