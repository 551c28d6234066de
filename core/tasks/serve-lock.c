#include "tasks/serve-lock.h"

#include <fcntl.h>

#include "base/error.h"
#include "base/file-output.h"

static char *
lock_path(const char *folder) {
  return g_build_filename(folder, ".journal", "lock", NULL);
}

int
demur_serve_lock_open(const char *folder, gboolean make, GError **error) {
  g_autofree char *path = lock_path(folder);
  g_autoptr(GError) cause = NULL;
  if (make && !demur_file_write(path, "", 0, DEMUR_FILE_NEW, &cause) &&
      !g_error_matches(cause, DEMUR_ERROR, DEMUR_ERROR_EXISTS)) {
    g_propagate_error(error, g_steal_pointer(&cause));
    return -1;
  }
  return open(path, O_RDWR | O_CLOEXEC);
}
