#include "store/replace.h"

#include "base/error.h"
#include "base/file-output.h"
#include "store/connection.h"

gboolean
demur_workspace_replace(const char *made, const char *path, GError **error) {
  if (demur_workspace_is_server(path)) {
    demur_error_set(
        error, DEMUR_ERROR_UNSUPPORTED,
        "workspace %s is a server's, and only files are replaced as a whole; name a file "
        "(--workspace)",
        path);
    return FALSE;
  }
  if (!g_file_test(path, G_FILE_TEST_EXISTS))
    return demur_file_put(made, path, DEMUR_FILE_NEW, error);
  g_autoptr(DemurWorkspace) from = demur_workspace_open(made, DEMUR_WORKSPACE_DEFAULT, error);
  g_autoptr(DemurWorkspace) to =
      from != NULL ? demur_workspace_open(path, DEMUR_WORKSPACE_CREATE, error) : NULL;
  return to != NULL && (to->connection->driver->replace(to->connection, from->connection) ||
                        demur_store_fail(to, "replacing it", error));
}
