#include "tasks/serve-prune.h"

#include <glib/gstdio.h>
#include <sys/stat.h>

#include "dicom/object-folder.h"
#include "dicom/receiver.h"

static guint
prune_series(const char *folder, const char *study, const char *series, gint64 before) {
  g_autofree char *path = g_build_filename(folder, study, series, NULL);
  g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
  guint n = 0;
  const char *name;
  while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
    g_autofree char *file = g_build_filename(path, name, NULL);
    GStatBuf facts;
    if (g_str_has_suffix(name, ".dcm") && g_lstat(file, &facts) == 0 && S_ISREG(facts.st_mode) &&
        (gint64)facts.st_mtime < before && !demur_receiver_is_arriving(folder, study) &&
        g_unlink(file) == 0)
      n++;
  }
  (void)g_rmdir(path);
  return n;
}

guint
demur_serve_prune_images(const char *folder, const char *study, gint64 before) {
  if (!demur_object_is_uid(study))
    return 0;
  g_autofree char *path = g_build_filename(folder, study, NULL);
  g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
  guint n = 0;
  const char *name;
  while (dir != NULL && (name = g_dir_read_name(dir)) != NULL)
    n += prune_series(folder, study, name, before);
  if (dir != NULL)
    (void)g_rmdir(path);
  return n;
}
