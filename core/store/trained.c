#include "store/trained.h"

#include "store/checkpoints.h"

static char *
history_document(const DemurTrainingLog *log) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_training_log_write_json(log, json);
  demur_json_end_object(json);
  return demur_json_finish(json);
}

gboolean
demur_trained_save(DemurWorkspace *workspace, const char *name, const DemurSelector *selector,
                   const DemurTrainingLog *log, DemurSelectorReplace replace, const char *created,
                   GError **error) {
  g_autofree char *document = demur_selector_to_json(selector);
  g_autofree char *history = history_document(log);
  const DemurSelectorRecord record = {.name = (char *)name,
                                      .document = document,
                                      .digest = (char *)demur_selector_digest(selector),
                                      .cohort = (char *)demur_selector_cohort(selector),
                                      .cohort_digest =
                                          (char *)demur_selector_cohort_digest(selector),
                                      .model = (char *)demur_selector_model(selector),
                                      .horizon_years = demur_selector_horizon_years(selector),
                                      .family = demur_selector_settings(selector)->family,
                                      .history = history,
                                      .simulated = demur_selector_is_simulated(selector),
                                      .created = (char *)created};
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  if (demur_selectors_save(workspace, &record, replace, error) &&
      demur_checkpoints_remove(workspace, name, error))
    return demur_workspace_commit(workspace, error);
  demur_workspace_rollback(workspace);
  return FALSE;
}
