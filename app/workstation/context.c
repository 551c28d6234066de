#include "app/workstation/context.h"

DemurWorkspace *
demur_context_workspace(DemurContext *context, GError **error) {
  if (context->workspace == NULL)
    context->workspace =
        demur_workspace_open(context->workspace_path, DEMUR_WORKSPACE_DEFAULT, error);
  return context->workspace;
}

char *
demur_context_now(void) {
  g_autoptr(GDateTime) now = g_date_time_new_now_utc();
  return g_date_time_format(now, "%Y-%m-%dT%H:%M:%SZ");
}

void
demur_work_context_init(DemurContext *context, const char *workspace,
                        const DemurProgress *progress) {
  *context = (DemurContext){.workspace_path = g_strdup(workspace),
                            .seed = 1,
                            .quiet = TRUE,
                            .parallel = demur_parallel_new(0),
                            .progress = *progress};
}

void
demur_work_context_clear(DemurContext *context) {
  demur_workspace_close(context->workspace);
  demur_parallel_free(context->parallel);
  g_free(context->workspace_path);
}
