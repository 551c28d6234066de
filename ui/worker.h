/* What a use case works with on a worker's thread: a handle of its own on the workspace, threads of
 * its own, and the reader's name. */
#pragma once

#include "tasks/task.h"

G_BEGIN_DECLS

/* task: empty; cleared by demur_task_clear (g_auto). user may be NULL. progress is borrowed. */
void demur_worker_task_init(DemurTask *task, const char *workspace, const char *user,
                            const DemurProgress *progress);

G_END_DECLS
