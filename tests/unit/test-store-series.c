/* What arrives is met by its own series, study and id: each is found by itself, whatever else the
 * workspace holds. */
#include <glib/gstdio.h>
#include <math.h>

#include "store/series.h"
#include "support/store.h"

/* Three studies of two series each, and one series that names no study. */
static void
save_all(DemurWorkspace *workspace) {
  static const char *const studies[] = {"1.1", "1.2", "1.3"};
  g_autoptr(GError) error = NULL;
  for (guint i = 0; i < 7; i++) {
    g_autofree char *uid = g_strdup_printf("2.%u", i);
    g_autofree char *scan_id = i == 5 ? g_strdup("2.4#2") : g_strdup(uid);
    DemurSeriesRecord record = {.scan_id = scan_id,
                                .series_uid = i == 5 ? (char *)"2.4" : uid,
                                .study_uid = i < 6 ? (char *)studies[i / 2] : NULL,
                                .patient_id = (char *)"P",
                                .study_date = (char *)(i % 2 == 0 ? "20240102" : "20240101"),
                                .modality = (char *)"CT",
                                .type = (char *)"volume",
                                .images_digest = (char *)"d",
                                .spacing_mm = NAN,
                                .thickness_mm = NAN,
                                .tilt_degrees = NAN,
                                .kvp = NAN,
                                .fov_mm = NAN,
                                .tube_current_ma = NAN,
                                .created = (char *)"2024-01-01T00:00:00Z",
                                .updated = (char *)"2024-01-01T00:00:00Z"};
    const DemurSeriesSave save = {&record, NULL, 0};
    g_assert_true(demur_series_save(workspace, &save, 1, &error));
    g_assert_no_error(error);
  }
}

static void
assert_found(DemurWorkspace *workspace, DemurSeriesKey key, const char *value,
             const char *expected) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) found = demur_series_find(workspace, key, value, &error);
  g_assert_no_error(error);
  g_autoptr(GString) ids = g_string_new(NULL);
  for (guint i = 0; i < found->len; i++)
    g_string_append_printf(ids, "%s%s", i > 0 ? " " : "",
                           ((const DemurSeriesRecord *)found->pdata[i])->scan_id);
  g_assert_cmpstr(ids->str, ==, expected);
}

static void
test_series_are_found_by_their_keys(void) {
  g_autoptr(GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp("demur-series-XXXXXX", &error);
  g_autofree char *path = demur_test_store_path(folder, "w.demur");
  g_autoptr(DemurWorkspace) workspace = demur_workspace_open(path, DEMUR_WORKSPACE_CREATE, &error);
  g_assert_no_error(error);
  save_all(workspace);
  assert_found(workspace, DEMUR_SERIES_OF_SCAN, "2.4", "2.4");
  assert_found(workspace, DEMUR_SERIES_OF_SCAN, "2.4#2", "2.4#2");
  assert_found(workspace, DEMUR_SERIES_OF_UID, "2.4", "2.4#2 2.4"); /* by date */
  assert_found(workspace, DEMUR_SERIES_OF_STUDY, "1.2", "2.3 2.2");
  assert_found(workspace, DEMUR_SERIES_OF_STUDY, "1.4", "");
  assert_found(workspace, DEMUR_SERIES_OF_UID, "", "");
  g_clear_pointer(&workspace, demur_workspace_close);
  static const char *const names[] = {"w.demur", "w.demur-wal", "w.demur-shm"};
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
    g_autofree char *left = g_build_filename(folder, names[i], NULL);
    g_unlink(left);
  }
  g_rmdir(folder);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/store/series/found-by-their-keys", test_series_are_found_by_their_keys);
  return g_test_run();
}
