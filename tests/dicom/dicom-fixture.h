/* What the DICOM tests share: importing one shared folder, temporary folders, hand-made objects. */
#pragma once

#include "dicom/import.h"
#include "dicom/library.h"
#include "support/support.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

/* Imports a folder below the shared DICOM files; NULL with the test skipped where it is absent. */
static inline DemurImport *
fixture_import(const char *relative) {
  g_autofree char *below = g_strconcat("dicom/", relative, NULL);
  g_autofree char *path = demur_test_shared(below);
  if (path == NULL)
    return NULL;
  const char *paths[] = {path, NULL};
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurParallel) parallel = demur_parallel_new(2);
  DemurImport *import = demur_import_run(paths, NULL, parallel, NULL, &error);
  g_assert_no_error(error);
  return import;
}

static inline const DemurSeries *
fixture_series(const DemurImport *import, guint i) {
  g_assert_cmpuint(i, <, import->series->len);
  return import->series->pdata[i];
}

static inline gboolean
fixture_warns(const DemurSeries *series, const char *words) {
  for (guint i = 0; series->warnings[i] != NULL; i++)
    if (strstr(series->warnings[i], words) != NULL)
      return TRUE;
  return FALSE;
}

static inline const DemurSkipped *
fixture_skipped(const DemurImport *import, const char *part) {
  for (guint i = 0; i < import->skipped->len; i++) {
    const DemurSkipped *skipped = import->skipped->pdata[i];
    if (strstr(skipped->path, part) != NULL)
      return skipped;
  }
  return NULL;
}

static inline char *
fixture_folder(void) {
  g_autoptr(GError) error = NULL;
  char *folder = g_dir_make_tmp("demur-dicom-XXXXXX", &error);
  g_assert_no_error(error);
  return folder;
}

static inline void
fixture_remove(const char *folder) {
  GDir *dir = g_dir_open(folder, 0, NULL);
  const char *name;
  while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    if (g_file_test(path, G_FILE_TEST_IS_DIR) && !g_file_test(path, G_FILE_TEST_IS_SYMLINK))
      fixture_remove(path);
    else
      g_unlink(path);
  }
  if (dir != NULL)
    g_dir_close(dir);
  g_rmdir(folder);
}

static inline void
fixture_write(const char *folder, const char *name, const void *bytes, gsize length) {
  g_autoptr(GError) error = NULL;
  g_autofree char *path = g_build_filename(folder, name, NULL);
  g_file_set_contents(path, bytes, (gssize)length, &error);
  g_assert_no_error(error);
}
