/* What a use case works with on a worker's thread: a handle of its own on the workspace, threads of
 * its own, and the reader's name. */
#pragma once

#include "tasks/task.h"

G_BEGIN_DECLS

/* task: empty; cleared by demur_task_clear (g_auto). user may be NULL. progress is borrowed. */
void demur_worker_task_init(DemurTask *task, const char *workspace, const char *user,
                            const DemurProgress *progress);

/* Who works and where, for what is kept in a moment: no threads of its own, no progress. */
void demur_worker_task_actor(DemurTask *task, const char *workspace, const char *user);

/* Keeps in the log, as the command line does, that something was refused: to be called with the
 * error of what failed. attempt: the command that does the same ("dicom choose"). */
void demur_worker_refused(DemurTask *task, const char *attempt, const GError *error);

G_END_DECLS
