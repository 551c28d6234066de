#include "tasks/image-folder.h"

#include <errno.h>
#include <unistd.h>

#include "base/error.h"
#include "tasks/images.h"

gboolean
demur_task_image_folder(DemurTask *task, const char *scan_id, const char *folder, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_auto(GStrv) paths = workspace != NULL ? demur_task_image_paths(task, scan_id, error) : NULL;
  if (paths == NULL)
    return FALSE;
  if (demur_task_places(workspace, scan_id, task) != DEMUR_PLACES_AS_IMPORTED || paths[0] == NULL) {
    demur_error_set(
        error, DEMUR_ERROR_STATE,
        "the images of scan %s are away or not those that were imported: bring the medium "
        "back, or import them again",
        scan_id);
    return FALSE;
  }
  for (guint i = 0; paths[i] != NULL; i++) {
    if (!g_file_test(paths[i], G_FILE_TEST_IS_REGULAR)) {
      demur_error_set(
          error, DEMUR_ERROR_STATE,
          "the images of scan %s lie within an archive, which other viewers open themselves",
          scan_id);
      return FALSE;
    }
    g_autofree char *name = g_strdup_printf("slice-%05u.dcm", i + 1);
    g_autofree char *link = g_build_filename(folder, name, NULL);
    if (symlink(paths[i], link) != 0) {
      demur_error_set(error, DEMUR_ERROR_OUTPUT, "%s can't be made: %s", link, g_strerror(errno));
      return FALSE;
    }
  }
  return TRUE;
}
