/* What each part of a selector is worth (evaluation/ablation.h), for a selector of the workspace. */
#pragma once

#include "tasks/task.h"
#include "evaluation/ablation.h"

G_BEGIN_DECLS

typedef struct {
  const char *selector, *cohort;
  const char *split;       /* NULL: test */
  const char *parts;       /* names with commas between; NULL: all that the selector has */
  const char *n_bootstrap; /* as written; NULL: the usual */
  gboolean in_sample;
} DemurAblateParams;

/* Keeps nothing. Refused as demur_ablate; DEMUR_ERROR_USAGE for a part that is none, or that the
 * selector does not have. */
DemurAblation *demur_task_ablate(DemurTask *task, const DemurAblateParams *params,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
