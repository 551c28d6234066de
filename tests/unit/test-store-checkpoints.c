/* Unfinished trainings in the workspace: what was saved comes back byte for byte, one a name. */
#include "base/error.h"
#include "store/checkpoints.h"
#include "support/store.h"

#include <glib/gstdio.h>

static void
the_last_bytes_of_a_name_are_kept(void) {
  g_autoptr(GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp("demur-checkpoints-XXXXXX", &error);
  g_assert_no_error(error);
  g_autofree char *path = demur_test_store_path(folder, "w.demur");
  DemurWorkspace *workspace = demur_workspace_open(path, DEMUR_WORKSPACE_CREATE, &error);
  g_assert_no_error(error);
  static const char zeros[] = "a\0b\0\xff"; /* bytes, no text */
  g_autoptr(GBytes) first = g_bytes_new_static("first", 5);
  g_autoptr(GBytes) second = g_bytes_new_static(zeros, sizeof zeros);
  g_autoptr(GBytes) other = g_bytes_new_static("other", 5);
  static const char *const time = "2026-01-01T00:00:00Z";
  g_assert_true(demur_checkpoints_save(workspace, "a", first, 16, time, &error));
  g_assert_true(demur_checkpoints_save(workspace, "b", other, 1, time, &error));
  g_assert_true(demur_checkpoints_save(workspace, "a", second, 32, time, &error));
  g_assert_no_error(error);
  demur_workspace_close(workspace);
  workspace = demur_workspace_open(path, DEMUR_WORKSPACE_DEFAULT, &error);
  g_assert_no_error(error);
  g_autoptr(GBytes) loaded = demur_checkpoints_load(workspace, "a", &error);
  g_assert_no_error(error);
  g_assert_true(g_bytes_equal(loaded, second));
  g_assert_true(demur_checkpoints_remove(workspace, "a", &error));
  g_assert_true(demur_checkpoints_remove(workspace, "a", &error)); /* nothing there: no error */
  g_assert_null(demur_checkpoints_load(workspace, "a", &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND);
  g_clear_error(&error);
  g_autoptr(GBytes) stays = demur_checkpoints_load(workspace, "b", &error);
  g_assert_no_error(error);
  g_assert_true(g_bytes_equal(stays, other));
  demur_workspace_close(workspace);
  static const char *const names[] = {"w.demur", "w.demur-wal", "w.demur-shm"};
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
    g_autofree char *file = g_build_filename(folder, names[i], NULL);
    g_unlink(file);
  }
  g_rmdir(folder);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/store/checkpoints/kept", the_last_bytes_of_a_name_are_kept);
  return g_test_run();
}
