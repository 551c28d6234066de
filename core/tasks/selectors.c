#include "tasks/selectors.h"

#include "base/error.h"
#include "base/file-input.h"
#include "base/file-output.h"
#include "base/limits.h"
#include "cohort/outcome.h"
#include "selector/coverage.h"
#include "store/cohorts.h"
#include "store/selectors.h"
#include "tasks/names.h"

static void
threshold_free(gpointer data) {
  DemurSelectorThreshold *threshold = data;
  g_free(threshold->cohort);
  g_free(threshold->split);
  g_free(threshold->created);
  g_free(threshold->guarantee);
  g_free(threshold);
}

void
demur_selector_facts_free(DemurSelectorFacts *facts) {
  if (facts == NULL)
    return;
  g_free(facts->name);
  g_free(facts->cohort);
  g_free(facts->model);
  g_free(facts->digest);
  g_free(facts->created);
  demur_selector_unref(facts->selector);
  g_clear_pointer(&facts->thresholds, g_ptr_array_unref);
  g_free(facts->validation);
  g_clear_pointer(&facts->warnings, g_ptr_array_unref);
  g_free(facts);
}

static DemurSelectorFacts *
facts_of(DemurTask *task, const DemurSelectorRecord *record, GError **error) {
  g_autoptr(GPtrArray) records =
      demur_thresholds_list(demur_task_workspace(task, NULL), record->name, error);
  if (records == NULL)
    return NULL;
  DemurSelectorFacts *facts = g_new0(DemurSelectorFacts, 1);
  facts->name = g_strdup(record->name);
  facts->cohort = g_strdup(record->cohort);
  facts->model = g_strdup(record->model);
  facts->digest = g_strdup(record->digest);
  facts->created = g_strdup(record->created);
  facts->simulated = record->simulated;
  facts->validation = demur_task_validation_sentence(task, record->name);
  facts->thresholds = g_ptr_array_new_with_free_func(threshold_free);
  for (guint t = 0; t < records->len; t++) {
    const DemurThresholdRecord *r = records->pdata[t];
    DemurSelectorThreshold *threshold = g_new(DemurSelectorThreshold, 1);
    *threshold = (DemurSelectorThreshold){.coverage = r->coverage,
                                          .threshold = r->threshold,
                                          .realised = r->realised,
                                          .n_scans = r->n_scans,
                                          .n_patients = r->n_patients,
                                          .cohort = g_strdup(r->cohort),
                                          .split = g_strdup(r->split),
                                          .created = g_strdup(r->created),
                                          .guarantee = demur_tuning_read_sentence(r->guarantee),
                                          .current = t + 1 == records->len};
    g_ptr_array_add(facts->thresholds, threshold);
  }
  return facts;
}

static void
facts_free(gpointer facts) {
  demur_selector_facts_free(facts);
}

GPtrArray *
demur_task_selectors(DemurTask *task, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_autoptr(GPtrArray) records = workspace != NULL ? demur_selectors_list(workspace, error) : NULL;
  if (records == NULL)
    return NULL;
  g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(facts_free);
  for (guint i = 0; i < records->len; i++) {
    DemurSelectorFacts *facts = facts_of(task, records->pdata[i], error);
    if (facts == NULL)
      return NULL;
    g_ptr_array_add(all, facts);
  }
  return g_steal_pointer(&all);
}

DemurSelectorFacts *
demur_task_selector_show(DemurTask *task, const char *name, GError **error) {
  g_autoptr(DemurSelectorRecord) record = NULL;
  g_autoptr(DemurSelector) selector = demur_task_load_selector(task, name, &record, error);
  DemurSelectorFacts *facts = selector != NULL ? facts_of(task, record, error) : NULL;
  if (facts == NULL)
    return NULL;
  facts->warnings = demur_task_warnings_new();
  demur_task_warn_untrained(selector, facts->warnings);
  facts->selector = g_steal_pointer(&selector);
  return facts;
}

DemurSelector *
demur_task_selector_export(DemurTask *task, const char *name, const char *path,
                           DemurRelease release, GError **error) {
  g_autoptr(DemurSelectorRecord) record = NULL;
  g_autoptr(DemurSelector) selector = demur_task_load_selector(task, name, &record, error);
  if (selector == NULL)
    return NULL;
  g_autoptr(DemurSelector) released =
      demur_selector_release(selector, release, task->parallel, &task->progress, error);
  if (released == NULL)
    return NULL;
  g_autofree char *document = demur_selector_to_json(released);
  return demur_file_write(path, document, -1, DEMUR_FILE_REPLACE | DEMUR_FILE_PUBLIC, error)
             ? g_steal_pointer(&released)
             : NULL;
}

DemurSelector *
demur_task_selector_import(DemurTask *task, const char *name, const char *path,
                           DemurSelectorReplace replace, GError **error) {
  gsize length;
  g_autofree char *text =
      demur_task_check_name("selector", name, error)
          ? demur_file_input_read(path, DEMUR_LIMIT_SELECTOR_BYTES, &length, error)
          : NULL;
  if (text == NULL)
    return NULL;
  g_autofree char *file = g_path_get_basename(path);
  g_autoptr(DemurSelector) s = demur_selector_from_json(text, (gssize)length, file, error);
  DemurWorkspace *workspace = s != NULL ? demur_task_workspace(task, error) : NULL;
  if (workspace == NULL)
    return NULL;
  g_autofree char *document = demur_selector_to_json(s);
  g_autofree char *now = demur_task_now(task);
  const DemurSelectorRecord record = {.name = (char *)name,
                                      .horizon_years = demur_selector_horizon_years(s),
                                      .family = demur_selector_settings(s)->family,
                                      .document = document,
                                      .digest = (char *)demur_selector_digest(s),
                                      .cohort = (char *)demur_selector_cohort(s),
                                      .cohort_digest = (char *)demur_selector_cohort_digest(s),
                                      .model = (char *)demur_selector_model(s),
                                      .simulated = demur_selector_is_simulated(s),
                                      .created = now};
  return demur_selectors_save(workspace, &record, replace, error) ? g_steal_pointer(&s) : NULL;
}

gboolean
demur_task_selector_remove(DemurTask *task, const char *name, gboolean force, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  return workspace != NULL && demur_selectors_remove(workspace, name, force, error);
}

char *
demur_task_selector_outcome(DemurTask *task, const char *name) {
  char *outcome = NULL;
  if (name == NULL || demur_task_workspace(task, NULL) == NULL ||
      !demur_selectors_outcome(task->workspace, name, &outcome, NULL) || outcome != NULL)
    return outcome;
  g_autoptr(DemurSelector) selector = demur_task_load_selector(task, name, NULL, NULL);
  g_autoptr(DemurCohort) cohort =
      selector != NULL
          ? demur_cohorts_load_facts(task->workspace, demur_selector_cohort(selector), NULL, NULL)
          : NULL;
  if (cohort == NULL)
    return NULL;
  const DemurOutcome of_cohort = demur_outcome_of_cohort(cohort);
  return g_strdup(demur_outcome_noun(&of_cohort));
}
