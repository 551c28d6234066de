#include "ui/worker.h"

void
demur_worker_task_init(DemurTask *task, const char *workspace, const char *user,
                       const DemurProgress *progress) {
  *task = (DemurTask){.workspace_path = g_strdup(workspace),
                      .seed = 1,
                      .parallel = demur_parallel_new(0),
                      .progress = *progress,
                      .user = g_strdup(user),
                      .station = g_filename_to_utf8(g_get_host_name(), -1, NULL, NULL, NULL)};
}
