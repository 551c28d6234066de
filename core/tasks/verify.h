/* Whether the workspace is whole: what the store checks, and whether each selector's document is a
 * selector, and the one that it is said to be. */
#pragma once

#include "tasks/task.h"

G_BEGIN_DECLS

/* One thing that was looked at. */
typedef struct {
  gboolean ok;
  char *subject, *message;
} DemurCheck;

typedef struct {
  gboolean ok;       /* every check is */
  GPtrArray *checks; /* of DemurCheck */
  size_t n_cohorts, n_selectors, n_series, n_scores, n_verdicts;
} DemurSoundness;

/* A copy that can only be read is checked where it lies; an older schema is brought up to date.
 * What is wrong is a check, not an error; NULL with error where the workspace can't be read at all.
 */
DemurSoundness *demur_task_verify(DemurTask *task, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* The same of one that is open. */
DemurSoundness *demur_task_verify_workspace(DemurWorkspace *workspace,
                                            const DemurProgress *progress,
                                            GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_soundness_free(DemurSoundness *soundness);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurSoundness, demur_soundness_free)

G_END_DECLS
