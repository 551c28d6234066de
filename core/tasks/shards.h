/* Validation, search, the networks of a training and the replicates of an evaluation cut into shards for
 * a job array, and put together from their parts: the same bytes as in one run
 * (evaluation/left-out-part.h, network-part.h, replicate-part.h). */
#pragma once

#include "tasks/train.h"
#include "evaluation/evaluate.h"
#include "evaluation/left-out-part.h"
#include "evaluation/network-part.h"

G_BEGIN_DECLS

/* What processes that work together have to be alike in before they begin, as a label of their meeting
 * (base/ranks.h): the program (evaluation/program-id.h). */
guint64 demur_task_program_label(void);

/* Does the shard's folds of what demur_task_validate would do, and writes them to path (replaced,
 * readable by its owner only). Nothing is kept in the workspace. */
gboolean demur_task_validate_part(DemurTask *task, const DemurValidateParams *params,
                                  const DemurShard *shard, const char *path,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same of the search that demur_task_train would begin with (params->grid). Where the selector's name
 * is taken and may not be replaced (params->replace), its errors come before anything is trained. */
gboolean demur_task_search_part(DemurTask *task, const DemurTrainParams *params,
                                const DemurShard *shard, const char *path,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The shard's networks of what demur_task_train would train without a grid; the name as above. DEMUR_ERROR_USAGE where
 * the settings leave it to a whole run what the selector scores by. */
gboolean demur_task_train_part(DemurTask *task, const DemurTrainParams *params,
                               const DemurShard *shard, const char *path,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* For the tasks: the whole from the parts' files (NULL-terminated). DEMUR_ERROR_INPUT names the file
 * that is none, was edited, is of something else or stands twice, or the folds that are missing. */
DemurValidation *demur_shards_merge_validation(DemurTask *task, DemurCohort *cohort,
                                               const DemurTrainSettings *settings, guint64 seed,
                                               size_t n_folds, char *const *paths,
                                               gboolean site_context,
                                               GError **error) G_GNUC_WARN_UNUSED_RESULT;
DemurSearch *demur_shards_merge_search(DemurTask *task, DemurCohort *cohort,
                                       const DemurTrainSettings *settings, const char *grid,
                                       size_t n_folds, char *const *paths,
                                       GError **error) G_GNUC_WARN_UNUSED_RESULT;
DemurCheckpoint *demur_shards_merge_training(DemurTask *task, DemurCohort *cohort,
                                             const DemurTrainSettings *settings, char *const *paths,
                                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Likewise of an evaluation: the shard's resamples, redrawn labels and replicates, written to path; and the
 * evaluation with those of the parts in place of its own. */
gboolean demur_shards_evaluate_part(DemurTask *task, const DemurEvaluateInput *input,
                                    const DemurShard *shard, const char *path,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;
DemurEvaluation *demur_shards_merge_evaluation(DemurTask *task, const DemurEvaluateInput *input,
                                               char *const *paths,
                                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
