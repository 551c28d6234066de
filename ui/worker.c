#include "ui/worker.h"

#include "tasks/history.h"

void
demur_worker_task_actor(DemurTask *task, const char *workspace, const char *user) {
  *task = (DemurTask){.workspace_path = g_strdup(workspace),
                      .seed = 1,
                      .user = g_strdup(user),
                      .station = g_filename_to_utf8(g_get_host_name(), -1, NULL, NULL, NULL)};
}

void
demur_worker_task_init(DemurTask *task, const char *workspace, const char *user,
                       const DemurProgress *progress) {
  demur_worker_task_actor(task, workspace, user);
  task->parallel = demur_parallel_new(0);
  task->progress = *progress;
}

void
demur_worker_refused(DemurTask *task, const char *attempt, const GError *error) {
  g_autoptr(GError) unlogged = NULL;
  if (!demur_history_add_refusal(task, attempt, error, &unlogged))
    g_warning("the refusal is not in the log: %s", unlogged->message);
}
