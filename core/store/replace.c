#include "store/replace.h"

#include "base/file-output.h"
#include "store/connection.h"

/* Page by page, as one transaction of the one written to. */
static gboolean
copy(DemurWorkspace *to, DemurWorkspace *from, GError **error) {
  sqlite3_backup *backup = sqlite3_backup_init(to->database, "main", from->database, "main");
  if (backup == NULL)
    return demur_store_fail(to, "replacing it", error);
  const int code = sqlite3_backup_step(backup, -1);
  if (sqlite3_backup_finish(backup) == SQLITE_OK && code == SQLITE_DONE)
    return TRUE;
  return demur_store_fail(to, "replacing it", error);
}

gboolean
demur_workspace_replace(const char *made, const char *path, GError **error) {
  if (!g_file_test(path, G_FILE_TEST_EXISTS))
    return demur_file_put(made, path, DEMUR_FILE_NEW, error);
  g_autoptr(DemurWorkspace) from = demur_workspace_open(made, DEMUR_WORKSPACE_DEFAULT, error);
  g_autoptr(DemurWorkspace) to =
      from != NULL ? demur_workspace_open(path, DEMUR_WORKSPACE_CREATE, error) : NULL;
  return to != NULL && copy(to, from, error);
}
