#include "tasks/shards.h"

#include "base/error.h"
#include "base/file-input.h"
#include "base/file-output.h"
#include "base/limits.h"
#include "base/ranks-tape.h"
#include "base/sha256.h"
#include "cohort/order.h"
#include "evaluation/program-id.h"
#include "evaluation/replicate-part.h"
#include "selector/mlp-kernel.h"
#include "store/selectors.h"
#include "tasks/selection.h"
#include "tasks/names.h"

/* What the parts agree on, with what it owns: folds a trial, alike but for what is done. */
typedef struct {
  DemurShardPlan shared;
  char *cohort_digest, *settings_digest;
  GPtrArray *trials; /* of DemurLeftOut [n_trials] */
  gboolean *failed;  /* [n_trials] */
} Plan;

guint64
demur_task_program_label(void) {
  return demur_ranks_label(demur_program_id());
}

static void
plan_clear(Plan *plan) {
  g_free(plan->cohort_digest);
  g_free(plan->settings_digest);
  g_clear_pointer(&plan->trials, g_ptr_array_unref);
  g_free(plan->failed);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Plan, plan_clear)

static void
left_out_free(gpointer left_out) {
  demur_left_out_free(left_out);
}

static char *
digest_settings(const DemurTrainSettings *settings, const char *grid) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_train_settings_write_json(settings, json, "settings");
  demur_json_string(json, "grid", grid);
  demur_json_end_object(json);
  g_autofree char *text = demur_json_finish(json);
  return demur_sha256_of_text(text);
}

/* All that parts agree on; of folds, networks or replicates. settings_digest is taken over. */
static gboolean
plan_begin(Plan *plan, DemurShardKind kind, const DemurCohort *cohort, char *settings_digest,
           guint64 seed, size_t n_trials, size_t n_pieces, GError **error) {
  plan->settings_digest = settings_digest;
  size_t n_rows;
  g_autofree guint32 *rows = demur_cohort_rows(cohort, NULL, &n_rows, error);
  if (rows == NULL)
    return FALSE;
  g_autofree guint32 *sorted = demur_cohort_order_rows(cohort, rows, n_rows);
  plan->cohort_digest = demur_cohort_digest(cohort, sorted, n_rows);
  plan->shared = (DemurShardPlan){.kind = kind,
                                  .cohort_digest = plan->cohort_digest,
                                  .settings = plan->settings_digest,
                                  .program = demur_program_id(),
                                  .kernel = demur_mlp_kernel()->name,
                                  .seed = seed,
                                  .n_trials = n_trials,
                                  .n_folds = n_pieces};
  return TRUE;
}

static gboolean
plan_new(Plan *plan, DemurShardKind kind, const DemurCohort *cohort,
         const DemurTrainSettings *settings, const char *grid, guint64 seed, size_t n_trials,
         size_t n_folds, GError **error) {
  if (!plan_begin(plan, kind, cohort, digest_settings(settings, grid), seed, n_trials, n_folds,
                  error))
    return FALSE;
  plan->trials = g_ptr_array_new_with_free_func(left_out_free);
  plan->failed = g_new0(gboolean, MAX(n_trials, 1));
  for (size_t t = 0; t < n_trials; t++) {
    DemurLeftOut *left_out = demur_left_out_new(cohort, settings, seed, n_folds, error);
    if (left_out == NULL)
      return FALSE;
    g_ptr_array_add(plan->trials, left_out);
  }
  const DemurLeftOut *first = plan->trials->pdata[0];
  plan->shared.n_folds = first->n_folds;
  return TRUE;
}

static DemurLeftOut *const *
trials_of(const Plan *plan) {
  return (DemurLeftOut *const *)plan->trials->pdata;
}

static gboolean
write_part(const Plan *plan, const char *path, GError **error) {
  g_autofree char *document =
      demur_shard_plan_write_part(&plan->shared, trials_of(plan), plan->failed);
  return demur_file_write(path, document, -1, DEMUR_FILE_REPLACE, error);
}

static gboolean
read_parts(Plan *plan, char *const *paths, GError **error) {
  for (char *const *path = paths; *path != NULL; path++) {
    gsize length;
    g_autofree char *text = demur_file_input_read(*path, DEMUR_LIMIT_PART_BYTES, &length, error);
    if (text == NULL || !demur_shard_plan_read_part(&plan->shared, text, (gssize)length, *path,
                                                    trials_of(plan), plan->failed, error))
      return FALSE;
  }
  return demur_shard_plan_check_whole(&plan->shared, trials_of(plan), plan->failed, error);
}

gboolean
demur_task_validate_part(DemurTask *task, const DemurValidateParams *params,
                         const DemurShard *shard, const char *path, GError **error) {
  if (!demur_file_output_check(path, DEMUR_FILE_REPLACE, error))
    return FALSE;
  g_autoptr(DemurSelector) selector = demur_task_load_selector(task, params->selector, NULL, error);
  g_autoptr(DemurCohort) cohort =
      selector != NULL ? demur_task_load_cohort_for(task, params->cohort, selector, error) : NULL;
  if (cohort == NULL || !demur_selector_check_cohort(selector, cohort, error))
    return FALSE;
  const DemurTrainSettings *settings = demur_selector_settings(selector);
  g_auto(Plan) plan = {0};
  size_t first, end;
  return plan_new(&plan, DEMUR_SHARD_VALIDATE, cohort, settings, NULL,
                  demur_selector_seed(selector), 1, demur_validate_n_folds(params), error) &&
         demur_shard_plan_range(&plan.shared, shard, &first, &end, error) &&
         demur_left_out_fill(plan.trials->pdata[0], cohort, settings, first, end, task->parallel,
                             &task->progress, error) &&
         write_part(&plan, path, error);
}

DemurValidation *
demur_shards_merge_validation(DemurTask *task, DemurCohort *cohort,
                              const DemurTrainSettings *settings, guint64 seed, size_t n_folds,
                              char *const *paths, gboolean site_context, GError **error) {
  g_auto(Plan) plan = {0};
  if (!plan_new(&plan, DEMUR_SHARD_VALIDATE, cohort, settings, NULL, seed, 1, n_folds, error) ||
      !read_parts(&plan, paths, error))
    return NULL;
  return demur_validation_of(cohort, settings, plan.trials->pdata[0], site_context, task->parallel,
                             &task->progress, error);
}

/* What the merge would refuse is refused before hours of training: the name above all. */
static gboolean
check_training(DemurTask *task, const DemurTrainParams *params, const char *path, GError **error) {
  if (!demur_task_check_name("selector", params->selector, error) ||
      !demur_train_settings_check(params->settings, error) ||
      !demur_file_output_check(path, DEMUR_FILE_REPLACE, error))
    return FALSE;
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  return workspace != NULL &&
         demur_selectors_check_free(workspace, params->selector, params->replace, error);
}

gboolean
demur_task_search_part(DemurTask *task, const DemurTrainParams *params, const DemurShard *shard,
                       const char *path, GError **error) {
  if (!check_training(task, params, path, error))
    return FALSE;
  g_autoptr(DemurCohort) cohort = demur_task_load_cohort(task, params->cohort, error);
  g_autoptr(DemurTrainSettings) settings =
      cohort != NULL ? demur_train_settings_for_search(params->settings) : NULL;
  g_autoptr(DemurSearch) search =
      settings != NULL ? demur_search_new(settings, params->grid, error) : NULL;
  g_auto(Plan) plan = {0};
  size_t first, end;
  if (search == NULL ||
      !plan_new(&plan, DEMUR_SHARD_SEARCH, cohort, settings, params->grid, task->seed,
                search->n_trials, DEMUR_SEARCH_FOLDS, error) ||
      !demur_shard_plan_range(&plan.shared, shard, &first, &end, error))
    return FALSE;
  const size_t n_folds = plan.shared.n_folds;
  for (size_t at = first; at < end;) {
    const size_t trial = at / n_folds, to = MIN(end, (trial + 1) * n_folds);
    g_autoptr(DemurTrainSettings) own = demur_search_trial_settings(search, trial);
    DemurProgressStage stage = {&task->progress, (double)(at - first) / (double)(end - first),
                                (double)(to - first) / (double)(end - first), "searching"};
    const DemurProgress staged = demur_progress_stage(&stage);
    g_autoptr(GError) local = NULL;
    if (!demur_left_out_fill(plan.trials->pdata[trial], cohort, own, at - trial * n_folds,
                             to - trial * n_folds, task->parallel, &staged, &local)) {
      if (!g_error_matches(local, DEMUR_ERROR, DEMUR_ERROR_NUMERIC)) {
        g_propagate_error(error, g_steal_pointer(&local));
        return FALSE;
      }
      plan.failed[trial] = TRUE;
    }
    at = to;
  }
  return write_part(&plan, path, error);
}

DemurSearch *
demur_shards_merge_search(DemurTask *task, DemurCohort *cohort, const DemurTrainSettings *settings,
                          const char *grid, size_t n_folds, char *const *paths, GError **error) {
  g_autoptr(DemurSearch) search = demur_search_new(settings, grid, error);
  g_auto(Plan) plan = {0};
  if (search == NULL ||
      !plan_new(&plan, DEMUR_SHARD_SEARCH, cohort, settings, grid, task->seed, search->n_trials,
                n_folds, error) ||
      !read_parts(&plan, paths, error))
    return NULL;
  for (size_t t = 0; t < search->n_trials; t++) {
    if (plan.failed[t])
      continue;
    g_autoptr(DemurTrainSettings) own = demur_search_trial_settings(search, t);
    g_autoptr(DemurValidation) validation = demur_validation_of(
        cohort, own, plan.trials->pdata[t], FALSE, task->parallel, &task->progress, error);
    if (validation == NULL)
      return NULL;
    search->trials[t].sbce2_auc = validation->measures[0].selector;
  }
  return demur_search_choose(search, error) ? g_steal_pointer(&search) : NULL;
}

static gboolean
plan_training(Plan *plan, const DemurCohort *cohort, const DemurTrainSettings *settings,
              guint64 seed, GError **error) {
  return plan_begin(plan, DEMUR_SHARD_TRAIN, cohort, digest_settings(settings, NULL), seed,
                    (size_t)settings->models, (size_t)settings->average, error);
}

gboolean
demur_task_train_part(DemurTask *task, const DemurTrainParams *params, const DemurShard *shard,
                      const char *path, GError **error) {
  if (!check_training(task, params, path, error))
    return FALSE;
  g_autoptr(DemurTrainSettings) settings = demur_train_settings_for_search(params->settings);
  if (!settings->scoring_explicit && !settings->as_published) {
    demur_error_set(
        error, DEMUR_ERROR_USAGE,
        "what the selector scores by is chosen by leaving sites out, which a shard alone "
        "can't: say --method network, or cut a search (--search) into shards");
    return FALSE;
  }
  g_autoptr(DemurCohort) cohort = demur_task_load_cohort(task, params->cohort, error);
  g_auto(Plan) plan = {0};
  size_t first, end;
  if (cohort == NULL || !plan_training(&plan, cohort, settings, task->seed, error) ||
      !demur_shard_plan_range(&plan.shared, shard, &first, &end, error))
    return FALSE;
  g_autoptr(DemurCheckpoint) networks = demur_selector_train_some(
      cohort, settings, task->seed, first, end, task->parallel, &task->progress, error);
  if (networks == NULL)
    return FALSE;
  g_autofree char *document = demur_network_part_write(&plan.shared, networks);
  return demur_file_write(path, document, -1, DEMUR_FILE_REPLACE, error);
}

DemurCheckpoint *
demur_shards_merge_training(DemurTask *task, DemurCohort *cohort,
                            const DemurTrainSettings *settings, char *const *paths,
                            GError **error) {
  g_auto(Plan) plan = {0};
  if (!plan_training(&plan, cohort, settings, task->seed, error))
    return NULL;
  g_autoptr(DemurCheckpoint) whole = NULL;
  for (char *const *path = paths; *path != NULL; path++) {
    gsize length;
    g_autofree char *text = demur_file_input_read(*path, DEMUR_LIMIT_PART_BYTES, &length, error);
    if (text == NULL ||
        !demur_network_part_read(&plan.shared, text, (gssize)length, *path, &whole, error))
      return NULL;
  }
  return demur_network_part_check_whole(&plan.shared, whole, error) ? g_steal_pointer(&whole)
                                                                    : NULL;
}

static gboolean
plan_evaluation(Plan *plan, const DemurEvaluateInput *input, GError **error) {
  return plan_begin(plan, DEMUR_SHARD_EVALUATE, input->cohort,
                    demur_evaluate_settings_digest(input), input->seed, 1, input->n_bootstrap,
                    error);
}

/* The evaluation as the tape's rank computes it. */
static DemurEvaluation *
evaluate_as(DemurTask *task, const DemurEvaluateInput *input, const DemurRanksTape *tape,
            GError **error) {
  demur_parallel_set_ranks(task->parallel, demur_ranks_tape_ranks(tape));
  DemurEvaluation *evaluation = demur_evaluate(input, task->parallel, &task->progress, error);
  demur_parallel_set_ranks(task->parallel, NULL);
  return evaluation;
}

gboolean
demur_shards_evaluate_part(DemurTask *task, const DemurEvaluateInput *input,
                           const DemurShard *shard, const char *path, GError **error) {
  g_auto(Plan) plan = {0};
  size_t first, end;
  if (!plan_evaluation(&plan, input, error) ||
      !demur_shard_plan_range(&plan.shared, shard, &first, &end, error))
    return FALSE;
  g_autoptr(DemurRanksTape) tape = demur_ranks_tape_record(shard->index - 1, shard->count);
  DemurEvaluateInput drawn = *input;
  drawn.drawn_only = TRUE;
  g_autoptr(DemurEvaluation) evaluation = evaluate_as(task, &drawn, tape, error);
  if (evaluation == NULL)
    return FALSE;
  g_autoptr(GBytes) bytes = demur_ranks_tape_bytes(tape);
  g_autofree char *document = demur_replicate_part_write(&plan.shared, shard, bytes);
  return demur_file_write(path, document, -1, DEMUR_FILE_REPLACE, error);
}

DemurEvaluation *
demur_shards_merge_evaluation(DemurTask *task, const DemurEvaluateInput *input, char *const *paths,
                              GError **error) {
  g_auto(Plan) plan = {0};
  g_auto(DemurReplicateParts) parts = {0};
  if (!plan_evaluation(&plan, input, error))
    return NULL;
  for (char *const *path = paths; *path != NULL; path++) {
    gsize length;
    g_autofree char *text = demur_file_input_read(*path, DEMUR_LIMIT_PART_BYTES, &length, error);
    if (text == NULL ||
        !demur_replicate_part_read(&plan.shared, text, (gssize)length, *path, &parts, error))
      return NULL;
  }
  if (!demur_replicate_parts_check_whole(&parts, error))
    return NULL;
  g_autoptr(DemurRanksTape) tape = demur_ranks_tape_play(parts.tapes, parts.n);
  g_autoptr(DemurEvaluation) evaluation = evaluate_as(task, input, tape, error);
  if (evaluation != NULL && demur_ranks_tape_check_played(tape, error))
    return g_steal_pointer(&evaluation);
  size_t at;
  if (demur_ranks_tape_fault(tape, &at))
    demur_error_prefix(error, "%s: ", parts.names[at]);
  return NULL;
}
