#include "tasks/workspace-copy.h"

#include "base/error.h"

void
demur_workspace_copy_free(DemurWorkspaceCopy *copy) {
  if (copy == NULL)
    return;
  demur_soundness_free(copy->soundness);
  g_free(copy);
}

/* As `verify` looks at a workspace. */
static gboolean
check_copy(DemurWorkspace *made, const DemurProgress *progress, gpointer data, GError **error) {
  DemurWorkspaceCopy *copy = data;
  copy->soundness = demur_task_verify_workspace(made, progress, error);
  if (copy->soundness == NULL)
    return FALSE;
  for (guint i = 0; i < copy->soundness->checks->len; i++) {
    const DemurCheck *check = copy->soundness->checks->pdata[i];
    if (check->ok)
      continue;
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "a workspace that is damaged is not copied (%s: %s); run `demur verify` on it",
                    check->subject, check->message);
    return FALSE;
  }
  return TRUE;
}

DemurWorkspaceCopy *
demur_task_copy_workspace(DemurTask *task, const char *from, const char *to, GError **error) {
  g_autoptr(DemurWorkspace) workspace =
      demur_workspace_open_told(from, DEMUR_WORKSPACE_READ_ONLY, &task->progress, error);
  if (workspace == NULL)
    return NULL;
  g_autoptr(DemurWorkspaceCopy) copy = g_new0(DemurWorkspaceCopy, 1);
  return demur_workspace_copy(workspace, to, check_copy, copy, &task->progress, &copy->rows, error)
             ? g_steal_pointer(&copy)
             : NULL;
}

gboolean
demur_task_is_backup_file(const char *path, GError **error) {
  if (demur_workspace_is_server(path)) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "a backup is a file, not %s; `demur workspace copy` copies to a server", path);
    return FALSE;
  }
  if (!g_file_test(path, G_FILE_TEST_EXISTS))
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_EXISTS,
                  "there is a file %s already, and a backup takes no other's place; name a new one",
                  path);
  return FALSE;
}
