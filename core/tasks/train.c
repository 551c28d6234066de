#include "tasks/train.h"

#include <string.h>

#include "base/error.h"
#include "store/checkpoints.h"
#include "store/trained.h"
#include "tasks/horizons.h"
#include "tasks/names.h"
#include "tasks/selection.h"
#include "tasks/shards.h"

DemurTrainSettings *
demur_train_settings_for_search(const DemurTrainSettings *asked) {
  DemurTrainSettings *settings = demur_train_settings_copy(asked);
  settings->as_published = demur_train_settings_are_published(settings);
  return settings;
}

size_t
demur_validate_n_folds(const DemurValidateParams *params) {
  return params->n_folds != 0 ? params->n_folds : 5;
}

/* *from is NULL where nothing is kept and need not be. */
static gboolean
read_checkpoint(DemurWorkspace *workspace, const DemurTrainParams *params, DemurCheckpoint **from,
                GError **error) {
  if (params->resume == DEMUR_RESUME_NO)
    return TRUE;
  g_autoptr(GError) local = NULL;
  g_autoptr(GBytes) bytes = demur_checkpoints_load(workspace, params->selector, &local);
  if (bytes == NULL) {
    if (params->resume == DEMUR_RESUME_IF_KEPT &&
        g_error_matches(local, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND))
      return TRUE;
    g_propagate_error(error, g_steal_pointer(&local));
    return FALSE;
  }
  *from = demur_checkpoint_from_bytes(bytes, error);
  return *from != NULL;
}

/* Where a checkpoint goes, and who hears of its epochs. */
typedef struct {
  DemurTask *task;
  const DemurTrainParams *params;
  DemurTrained *trained;
  size_t *n_told; /* [n_networks] epochs of each network that were told already */
  size_t n_networks;
} Keeping;

static void
tell_epochs(Keeping *keeping, const DemurCheckpoint *checkpoint) {
  if (checkpoint->n_networks > keeping->n_networks) {
    keeping->n_told = g_renew(size_t, keeping->n_told, checkpoint->n_networks);
    memset(keeping->n_told + keeping->n_networks, 0,
           (checkpoint->n_networks - keeping->n_networks) * sizeof(size_t));
    keeping->n_networks = checkpoint->n_networks;
  }
  for (size_t k = 0; k < checkpoint->n_networks; k++) {
    const DemurTrainerState *state = checkpoint->networks[k];
    for (; state != NULL && keeping->n_told[k] < state->n_history; keeping->n_told[k]++) {
      const DemurTrainerEpoch *epoch = &state->history[keeping->n_told[k]];
      const DemurTrainPoint point = {k, epoch->epoch, epoch->loss, epoch->mean_auc,
                                     epoch->worst_auc};
      keeping->params->told(&point, keeping->params->data);
    }
  }
}

static gboolean
keep_checkpoint(const DemurCheckpoint *checkpoint, gpointer data, GError **error) {
  Keeping *keeping = data;
  if (keeping->params->told != NULL)
    tell_epochs(keeping, checkpoint);
  g_autoptr(GBytes) bytes = demur_checkpoint_to_bytes(checkpoint);
  g_autofree char *now = demur_task_now(keeping->task);
  const gint64 n_updates = demur_checkpoint_n_updates(checkpoint);
  DemurWorkspace *workspace = keeping->task->workspace;
  g_autoptr(GError) cause = NULL;
  const DemurPatience usual = demur_workspace_set_patience(workspace, DEMUR_PATIENCE_SHORT);
  const gboolean saved =
      demur_checkpoints_save(workspace, keeping->params->selector, bytes, n_updates, now, &cause);
  demur_workspace_set_patience(workspace, usual);
  if (saved)
    keeping->trained->n_kept_updates = n_updates;
  /* Another program's lock ends no training: the next checkpoint holds this one too. */
  if (saved || (g_error_matches(cause, DEMUR_ERROR, DEMUR_ERROR_STORE) &&
                demur_workspace_is_locked_out(workspace)))
    return TRUE;
  g_propagate_error(error, g_steal_pointer(&cause));
  return FALSE;
}

/* What took long to compute waits for another program's lock until that is free, or until the wait
 * is cancelled. */
static gboolean
save_trained(DemurTask *task, const DemurTrainParams *params, const DemurTrained *trained,
             GError **error) {
  g_autofree char *now = demur_task_now(task);
  const DemurPatience usual = demur_workspace_set_patience(task->workspace, DEMUR_PATIENCE_ENDLESS);
  const gboolean saved = demur_trained_save(task->workspace, params->selector, trained->selector,
                                            trained->log, params->replace, now, error);
  demur_workspace_set_patience(task->workspace, usual);
  return saved;
}

/* The settings to train with: those asked for, with what the selector scores by, or the best of the
 * grid (owned). resumed: a training is gone on with. */
static DemurTrainSettings *
settle(DemurTask *task, const DemurTrainParams *params, DemurCohort *cohort, gboolean resumed,
       DemurTrained *trained, GError **error) {
  g_autoptr(DemurTrainSettings) settings = demur_train_settings_for_search(params->settings);
  if (params->grid == NULL && !settings->scoring_explicit && !settings->as_published && !resumed) {
    trained->fallback = demur_fallback_choose(cohort, settings, task->seed, DEMUR_SEARCH_FOLDS,
                                              task->parallel, &task->progress, error);
    if (trained->fallback == NULL)
      return NULL;
    settings->scoring = trained->fallback->scoring;
  }
  if (params->grid == NULL)
    return g_steal_pointer(&settings);
  trained->search = params->parts != NULL
                        ? demur_shards_merge_search(task, cohort, settings, params->grid,
                                                    DEMUR_SEARCH_FOLDS, params->parts, error)
                        : demur_search(cohort, settings, params->grid, task->seed,
                                       DEMUR_SEARCH_FOLDS, task->parallel, &task->progress, error);
  if (trained->search == NULL)
    return NULL;
  DemurTrainSettings *best =
      demur_train_settings_copy(trained->search->trials[trained->search->best].settings);
  best->as_published = FALSE;
  return best;
}

gboolean
demur_task_train(DemurTask *task, const DemurTrainParams *params, DemurTrained *trained,
                 GError **error) {
  trained->n_kept_updates = -1;
  trained->warnings = demur_task_warnings_new();
  if (!demur_task_check_name("selector", params->selector, error) ||
      !demur_train_settings_check(params->settings, error))
    return FALSE;
  DemurWorkspace *workspace = demur_task_workspace_to_write(task, "selector", error);
  if (workspace == NULL ||
      !demur_selectors_check_free(workspace, params->selector, params->replace, error) ||
      !demur_horizons_check_name(task, params->selector, FALSE, error))
    return FALSE;
  g_autoptr(DemurCheckpoint) from = NULL;
  if (!read_checkpoint(workspace, params, &from, error))
    return FALSE;
  g_autoptr(DemurCohort) whole = demur_task_load_cohort(task, params->cohort, error);
  g_autoptr(DemurCohort) cohort = whole == NULL ? NULL
                                  : params->horizon_years > 0.0
                                      ? demur_cohort_at_horizon(whole, params->horizon_years, error)
                                      : demur_cohort_ref(whole);
  if (cohort == NULL)
    return FALSE;
  const gint64 started = g_get_monotonic_time();
  g_autoptr(DemurTrainSettings) settings =
      settle(task, params, cohort, from != NULL || params->parts != NULL, trained, error);
  if (settings == NULL)
    return FALSE;
  if (params->parts != NULL && params->grid == NULL) {
    from = demur_shards_merge_training(task, cohort, settings, params->parts, error);
    if (from == NULL)
      return FALSE;
  }
  Keeping keeping = {.task = task, .params = params, .trained = trained};
  const DemurTrainingKeeper keeper = {from, keep_checkpoint, &keeping};
  trained->selector = demur_selector_train_kept(
      cohort, settings, task->seed, &keeper, task->parallel, &task->progress, &trained->log, error);
  g_free(keeping.n_told);
  if (trained->selector == NULL)
    return FALSE;
  trained->seconds = (double)(g_get_monotonic_time() - started) / G_USEC_PER_SEC;
  if (!save_trained(task, params, trained, error))
    return FALSE;
  trained->n_kept_updates = -1;
  demur_task_warn_untrained(trained->selector, trained->warnings);
  if (cohort->embedding_width == 0 && (params->settings->features & DEMUR_FEATURES_OUTLIER) != 0)
    demur_task_warnings_add(trained->warnings, DEMUR_TASK_WARNING_NO_EMBEDDINGS, 0, 0, NULL);
  return TRUE;
}

void
demur_trained_clear(DemurTrained *trained) {
  demur_selector_unref(trained->selector);
  demur_training_log_free(trained->log);
  demur_search_free(trained->search);
  demur_fallback_free(trained->fallback);
  g_clear_pointer(&trained->warnings, g_ptr_array_unref);
}

DemurValidation *
demur_task_validate(DemurTask *task, const DemurValidateParams *params, GError **error) {
  if (demur_task_workspace_to_write(task, "selector", error) == NULL)
    return NULL;
  g_autoptr(DemurSelector) selector = demur_task_load_selector(task, params->selector, NULL, error);
  g_autoptr(DemurCohort) cohort =
      selector != NULL ? demur_task_load_cohort_for(task, params->cohort, selector, error) : NULL;
  if (cohort == NULL || !demur_selector_check_cohort(selector, cohort, error))
    return NULL;
  const DemurTrainSettings *settings = demur_selector_settings(selector);
  const guint64 seed = demur_selector_seed(selector);
  const size_t n_folds = demur_validate_n_folds(params);
  g_autoptr(DemurValidation) validation =
      params->parts != NULL
          ? demur_shards_merge_validation(task, cohort, settings, seed, n_folds, params->parts,
                                          params->site_context, error)
          : demur_validate(cohort, settings, seed, n_folds, params->site_context, task->parallel,
                           &task->progress, error);
  if (validation == NULL)
    return NULL;
  DemurJson *kept = demur_json_new();
  demur_json_begin_object(kept, NULL);
  demur_validation_write_json(validation, kept);
  demur_json_end_object(kept);
  g_autofree char *document = demur_json_finish(kept);
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  if (workspace == NULL)
    return NULL;
  const DemurPatience usual = demur_workspace_set_patience(workspace, DEMUR_PATIENCE_ENDLESS);
  const gboolean kept_it =
      demur_selectors_set_validation(workspace, params->selector, document, error);
  demur_workspace_set_patience(workspace, usual);
  return kept_it ? g_steal_pointer(&validation) : NULL;
}
