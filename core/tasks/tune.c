#include "tasks/tune.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "selector/folds.h"
#include "selector/risk-interval.h"
#include "selector/risk-guarantee.h"
#include "store/reviews.h"
#include "tasks/selection.h"

/* The split as the selector sees it. */
typedef struct {
  DemurSelector *selector;
  DemurCohort *cohort;
  double **scores; /* [n_models][n] */
  double *risks;   /* [n] as the selector sees them */
  double *labels;  /* [n]; NaN where not recorded */
  guint32 *patients;
  guint32 *rows; /* [n] */
  size_t n;
} Scored;

static void
scored_clear(Scored *scored) {
  for (size_t m = 0; scored->scores != NULL && m < demur_selector_n_models(scored->selector); m++)
    g_free(scored->scores[m]);
  g_free(scored->scores);
  g_free(scored->risks);
  g_free(scored->labels);
  g_free(scored->patients);
  g_free(scored->rows);
  demur_cohort_unref(scored->cohort);
  demur_selector_unref(scored->selector);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Scored, scored_clear)

static gboolean
score_split(DemurTask *task, const DemurTuneParams *params, const char *split, Scored *scored,
            GError **error) {
  scored->selector = demur_task_load_selector(task, params->selector, NULL, error);
  if (scored->selector == NULL)
    return FALSE;
  scored->cohort = demur_task_load_cohort_for(task, params->cohort, scored->selector, error);
  if (scored->cohort == NULL)
    return FALSE;
  scored->rows = demur_cohort_rows(scored->cohort, split, &scored->n, error);
  if (scored->rows == NULL)
    return FALSE;
  g_autoptr(DemurCohort) view = demur_selector_view_rows(
      scored->selector, scored->cohort, scored->rows, scored->n, task->parallel, NULL, error);
  if (view == NULL)
    return FALSE;
  DEMUR_AUTO_ALIGNED double *meta =
      demur_selector_meta_features(scored->selector, view, FALSE, scored->rows, scored->n,
                                   task->parallel, &task->progress, error);
  if (meta == NULL)
    return FALSE;
  scored->scores = g_new0(double *, demur_selector_n_models(scored->selector));
  for (size_t m = 0; m < demur_selector_n_models(scored->selector); m++) {
    scored->scores[m] = g_new(double, scored->n);
    demur_selector_scores(scored->selector, m, meta, scored->n, scored->scores[m]);
  }
  scored->patients = g_new(guint32, scored->n);
  scored->risks = g_new(double, scored->n);
  scored->labels = g_new(double, scored->n);
  for (size_t i = 0; i < scored->n; i++) {
    const size_t row = scored->rows[i];
    scored->patients[i] = scored->cohort->patients[row];
    scored->risks[i] = demur_cohort_confidence_risk(view, row);
    scored->labels[i] = demur_cohort_confidence_label(view, row);
  }
  return TRUE;
}

static DemurTuning *
tune_measures(DemurTask *task, const Scored *scored, double max_coverage,
              const DemurTuneParams *params, GError **error) {
  const size_t n_models = demur_selector_n_models(scored->selector);
  if (scored->cohort->n_classes != 2) {
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "guarantees of measures need binary risk; with more classes there is "
                    "--guarantee-risk");
    return NULL;
  }
  double coverages[DEMUR_RISK_GRID];
  g_autofree double *thresholds = g_new(double, DEMUR_RISK_GRID *n_models);
  const size_t n_steps =
      demur_risk_grid_from_selector(scored->selector, max_coverage, coverages, thresholds, error);
  if (n_steps == 0)
    return NULL;
  const DemurGuaranteeInput input = {.scores = (const double *const *)scored->scores,
                                     .n_networks = n_models,
                                     .risks = scored->risks,
                                     .labels = scored->labels,
                                     .patients = scored->patients,
                                     .n = scored->n,
                                     .n_steps = n_steps,
                                     .coverages = coverages,
                                     .thresholds = thresholds,
                                     .positive_from = params->positive_from,
                                     .seed = task->seed};
  return demur_tune_guaranteed_measures(&input, params->guarantees, params->n_guarantees, error);
}

static DemurTuning *
tune_one(DemurTask *task, const Scored *scored, double coverage, const DemurTuneParams *params,
         size_t n_seen, GError **error) {
  const double *const *scores = (const double *const *)scored->scores;
  const size_t n_models = demur_selector_n_models(scored->selector);
  const gboolean of_outcomes = params->alpha > 0.0 || params->n_guarantees > 0;
  if (!of_outcomes)
    return params->delta > 0.0
               ? demur_tune_guaranteed(coverage, params->delta, scores, n_models, scored->patients,
                                       scored->n, task->seed, error)
               : demur_tune_plug_in(coverage, scores, n_models, scored->patients, scored->n, error);
  if (n_seen > 0) {
    demur_error_set(
        error, DEMUR_ERROR_STATE,
        "a risk cannot be guaranteed on scans whose labels made the selector: it has seen "
        "%zu of these patients; tune on a split that it has not seen",
        n_seen);
    return NULL;
  }
  if (params->n_guarantees > 0)
    return tune_measures(task, scored, coverage, params, error);
  g_autoptr(DemurRiskPlan) plan =
      demur_risk_plan_from_selector(params->alpha, params->delta, coverage, scored->selector,
                                    demur_folds_count_units(scored->patients, scored->n), error);
  return plan != NULL ? demur_tune_guaranteed_risk(plan, scores, scored->risks, scored->labels,
                                                   scored->patients, scored->n, task->seed, error)
                      : NULL;
}

/* The reason for the current threshold, where one was given. */
static gboolean
keep_decision(DemurTask *task, DemurWorkspace *workspace, const DemurThresholdRecord *threshold,
              const char *selector_digest, const char *reason, const char *now, GError **error) {
  if (reason == NULL)
    return TRUE;
  DemurDecisionRecord decision = {.selector = threshold->selector,
                                  .selector_digest = (char *)selector_digest,
                                  .cohort = threshold->cohort,
                                  .split = threshold->split,
                                  .coverage = threshold->coverage,
                                  .threshold = threshold->threshold,
                                  .reason = (char *)reason,
                                  .user = task->user != NULL ? task->user : (char *)"not known",
                                  .created = (char *)now};
  return demur_decisions_save(workspace, &decision, error);
}

/* Scans refused for their risk interval are refused beside the threshold: counted, and told. */
static gboolean
hold_back(const Scored *scored, double across, DemurTuning *tuning, GError **error) {
  DemurRiskInterval interval;
  if (across <= 0.0)
    return TRUE;
  if (!demur_risk_interval_unseen(scored->selector, &interval)) {
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "holding back across a decision threshold needs binary risk");
    return FALSE;
  }
  tuning->hold_back_across = across;
  for (size_t i = 0; i < scored->n; i++) {
    double low, high;
    demur_risk_interval_at(&interval, scored->risks[i], &low, &high);
    tuning->n_held_back += scored->scores[0][i] >= tuning->thresholds[0] &&
                           demur_risk_interval_crosses(low, high, across);
  }
  g_autofree char *sentence = tuning->sentence;
  tuning->sentence = g_strdup_printf("%s Of the scans above the threshold %zu are held back too: "
                                     "what is known of a hospital never "
                                     "seen leaves open on which side of %g their risk lies.",
                                     sentence, tuning->n_held_back, across);
  return TRUE;
}

/* Across which decision threshold risks are held back from now on; -1 with error. */
static double
find_hold_back(DemurWorkspace *workspace, const DemurTuneParams *params, GError **error) {
  g_autoptr(DemurThresholdRecord) current = NULL;
  if (!params->keep_hold_back)
    return params->hold_back_across;
  if (!demur_thresholds_current(workspace, params->selector, &current, error))
    return -1.0;
  return current != NULL ? demur_tuning_read_hold_back(current->guarantee) : 0.0;
}

static gboolean
tune_and_keep(DemurTask *task, const DemurTuneParams *params, const Scored *scored,
              DemurTuned *tuned, GError **error) {
  g_autofree char *digest = demur_cohort_digest(scored->cohort, scored->rows, scored->n);
  g_autofree char *now = demur_task_now(task);
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  const double across = find_hold_back(workspace, params, error);
  if (across < 0.0)
    return FALSE;
  for (size_t i = 0; i < params->n_coverages; i++) {
    DemurTuning *tuning =
        tune_one(task, scored, params->coverages[i], params, tuned->n_seen, error);
    if (tuning == NULL)
      return FALSE;
    g_ptr_array_add(tuned->tunings, tuning);
    if (!hold_back(scored, across, tuning, error))
      return FALSE;
    demur_tuning_set_sites(tuning, scored->cohort, scored->rows, scored->n);
  }
  /* The one that is kept last is in use: the one that was named first. */
  for (size_t i = params->n_coverages; i-- > 0;) {
    const DemurTuning *tuning = tuned->tunings->pdata[i];
    g_autofree char *details = demur_tuning_to_json(tuning);
    DemurThresholdRecord record = {.selector = tuned->selector,
                                   .coverage = tuning->coverage,
                                   .threshold = tuning->thresholds[0],
                                   .realised = tuning->realised,
                                   .n_scans = tuning->n_scans,
                                   .n_patients = tuning->n_patients,
                                   .cohort = tuned->cohort,
                                   .split = tuned->split,
                                   .cohort_digest = digest,
                                   .guarantee = details,
                                   .created = now};
    if (!demur_thresholds_save(workspace, &record, error) ||
        (i == 0 && !keep_decision(task, workspace, &record, demur_selector_digest(scored->selector),
                                  params->reason, now, error)))
      return FALSE;
  }
  return TRUE;
}

static void
add_warnings(const DemurSelector *selector, DemurTuned *tuned) {
  demur_task_warn_untrained(selector, tuned->warnings);
  demur_task_warn_federated(selector, tuned->warnings);
  if (demur_split_is_test(tuned->split))
    demur_task_warnings_add(tuned->warnings, DEMUR_TASK_WARNING_TUNED_ON_TEST, 0, 0, NULL);
  if (tuned->n_seen > 0)
    demur_task_warnings_add(tuned->warnings, DEMUR_TASK_WARNING_SEEN, tuned->n_seen, 0, NULL);
}

DemurTuned *
demur_task_tune(DemurTask *task, const DemurTuneParams *params, GError **error) {
  const char *split = params->split != NULL ? params->split : DEMUR_SPLIT_TUNE;
  g_auto(Scored) scored = {0};
  if (demur_task_workspace_to_write(task, "threshold", error) == NULL ||
      !score_split(task, params, split, &scored, error))
    return NULL;
  g_autoptr(DemurTuned) tuned = g_new0(DemurTuned, 1);
  tuned->selector = g_strdup(params->selector);
  tuned->cohort = g_strdup(scored.cohort->name);
  tuned->split = g_strdup(split);
  tuned->simulated = scored.cohort->simulated;
  tuned->n_seen = demur_selector_count_seen(scored.selector, scored.cohort, scored.rows, scored.n,
                                            task->parallel);
  tuned->tunings = g_ptr_array_new_with_free_func((GDestroyNotify)demur_tuning_free);
  tuned->warnings = demur_task_warnings_new();
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  if (workspace == NULL || !demur_workspace_begin(workspace, error))
    return NULL;
  if (!tune_and_keep(task, params, &scored, tuned, error)) {
    demur_workspace_rollback(workspace);
    return NULL;
  }
  if (!demur_workspace_commit(workspace, error)) /* which rolls back where it fails */
    return NULL;
  add_warnings(scored.selector, tuned);
  tuned->validation = demur_task_validation_sentence(task, params->selector);
  return g_steal_pointer(&tuned);
}

void
demur_tuned_free(DemurTuned *tuned) {
  if (tuned == NULL)
    return;
  g_free(tuned->selector);
  g_free(tuned->cohort);
  g_free(tuned->split);
  g_clear_pointer(&tuned->tunings, g_ptr_array_unref);
  g_clear_pointer(&tuned->warnings, g_ptr_array_unref);
  g_free(tuned->validation);
  g_free(tuned);
}

static gboolean
use_one(DemurTask *task, const char *selector, double coverage, const char *reason, const char *now,
        double *threshold, GError **error) {
  g_autoptr(DemurSelector) loaded = demur_task_load_selector(task, selector, NULL, error);
  g_autoptr(DemurThresholdRecord) record =
      loaded != NULL ? demur_thresholds_find(task->workspace, selector, coverage, error) : NULL;
  if (record == NULL || !demur_thresholds_save(task->workspace, record, error) ||
      !keep_decision(task, task->workspace, record, demur_selector_digest(loaded), reason, now,
                     error))
    return FALSE;
  *threshold = record->threshold;
  return TRUE;
}

gboolean
demur_task_tune_use(DemurTask *task, const char *selector, double coverage, const char *reason,
                    DemurHorizons *horizons, double *thresholds, GError **error) {
  if (!demur_horizons_of_family(task, selector, horizons, error) ||
      !demur_workspace_begin(task->workspace, error))
    return FALSE;
  g_auto(GStrv) names = demur_horizon_selectors(selector, horizons);
  g_autofree char *now = demur_task_now(task);
  for (guint i = 0; names[i] != NULL; i++)
    if (!use_one(task, names[i], coverage, reason, now, &thresholds[i], error)) {
      demur_workspace_rollback(task->workspace);
      return FALSE;
    }
  return demur_workspace_commit(task->workspace, error);
}
