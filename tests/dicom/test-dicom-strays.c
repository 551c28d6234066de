/* A file that is cut off before it says which series it is of, or empty, beside the slices of one. */
#include "dicom-object.h"
#include "dicom/strays.h"

enum { N_SLICES = 18 };

static DemurImport *
import_with(const char *folder, int left_out, int first_number, const char *stray, gsize length) {
  g_autofree char *path = g_build_filename(folder, stray, NULL);
  for (int k = 0; k < N_SLICES; k++) {
    g_autoptr(GArray) object = object_slice(0, k, 2.5 * k, first_number + k);
    g_autofree char *name = g_strdup_printf("im%03d.dcm", k);
    if (k != left_out) {
      object_save(object, folder, name);
      continue;
    }
    object_save(object, folder, stray);
    g_autofree char *bytes = NULL;
    gsize whole;
    g_assert_true(g_file_get_contents(path, &bytes, &whole, NULL));
    g_assert_cmpuint(length, <, whole);
    g_assert_true(g_file_set_contents(path, bytes, (gssize)length, NULL));
  }
  return fixture_import_folder(folder);
}

/* Cut at every length before the SeriesInstanceUID: at the end of the stack no number lacks. */
static void
test_a_cut_file_is_told_at_its_series(void) {
  for (gsize length = 0; length < 330; length += length < 128 ? 32 : 6) {
    g_autofree char *folder = fixture_folder();
    g_test_message("%" G_GSIZE_FORMAT " bytes", length);
    g_autoptr(DemurImport) import = import_with(folder, N_SLICES - 1, 1, "im017.dcm", length);
    fixture_remove(folder);
    g_assert_cmpuint(import->series->len, ==, 1);
    const DemurSeries *series = fixture_series(import, 0);
    g_assert_true(series->accepted);
    g_assert_true(demur_series_found(series, "beside"));
    g_assert_false(demur_series_found(series, "beside-gap"));
    g_assert_cmpuint(series->n_strays, ==, 1);
  }
}

static void
test_a_lacking_number_makes_it_not_eligible(void) {
  static const struct {
    int left_out, first_number;
    gboolean refused;
  } rows[] = {{0, 1, TRUE}, {17, 1, FALSE}, {0, 501, FALSE}, {17, 0, FALSE}, {8, 1, TRUE}};
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *folder = fixture_folder();
    g_autoptr(DemurImport) import =
        import_with(folder, rows[i].left_out, rows[i].first_number, "im099.dcm", 0);
    fixture_remove(folder);
    const DemurSeries *series = fixture_series(import, 0);
    g_test_message("without slice %d of %d ..", rows[i].left_out, rows[i].first_number);
    g_assert_cmpint(demur_series_found(series, "beside"), ==, !rows[i].refused);
    g_assert_cmpint(demur_series_found(series, "beside-gap"), ==, rows[i].refused);
    g_assert_cmpint(series->eligible, ==, !rows[i].refused);
  }
}

/* The numbers go on, the places too: the file was thrown away, or is of something else. */
static void
test_what_is_no_slice_says_nothing(void) {
  static const char *const names[] = {"notes.txt", "elsewhere/im000.dcm", "picture.png"};
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
    g_autofree char *folder = fixture_folder();
    g_autofree char *path = g_build_filename(folder, names[i], NULL);
    g_autofree char *below = g_path_get_dirname(path);
    g_mkdir_with_parents(below, 0700);
    g_assert_true(g_file_set_contents(path, "what it is", -1, NULL));
    g_autoptr(DemurImport) import = import_with(folder, -1, 1, "none", 0);
    fixture_remove(folder);
    g_assert_cmpuint(import->skipped->len, ==, 1);
    g_assert_cmpuint(fixture_series(import, 0)->n_strays, ==, 0);
  }
}

static void
test_places(void) {
  static const struct {
    const char *stray[2];
    gboolean is_dicom;
    const char *slice[2];
    gboolean found;
  } rows[] = {
      {{"/a/IM7", NULL}, FALSE, {"/a/IM8", NULL}, TRUE},
      {{"/a/IM7", NULL}, FALSE, {"/b/IM8", NULL}, FALSE},
      {{"/a/1.2.840.7", NULL}, FALSE, {"/a/1.2.840.8", NULL}, TRUE},
      {{"/a/x.DCM", NULL}, FALSE, {"/a/y.dcm", NULL}, TRUE},
      {{"/a/x.txt", NULL}, FALSE, {"/a/y.dcm", NULL}, FALSE},
      {{"/a/x.txt", NULL}, TRUE, {"/a/y.dcm", NULL}, TRUE},
      {{"/a.zip", "s/1.dcm"}, FALSE, {"/a.zip", "s/2.dcm"}, TRUE},
      {{"/a.zip", "s/1.dcm"}, FALSE, {"/a.zip", "t/2.dcm"}, FALSE},
      {{"/a.zip", "s/1.dcm"}, FALSE, {"/b.zip", "s/2.dcm"}, FALSE},
      {{"/a.zip", "i.zip!/s/1"}, FALSE, {"/a.zip", "i.zip!/s/2"}, TRUE},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(DemurStrays) strays = demur_strays_new();
    g_assert_false(demur_strays_any(strays));
    demur_strays_add(strays, rows[i].stray[0], rows[i].stray[1], rows[i].is_dicom, "cut off");
    const DemurStray *found[2];
    demur_strays_find(strays, rows[i].slice[0], rows[i].slice[1], found);
    g_assert_cmpint(found[0] != NULL || found[1] != NULL, ==, rows[i].found);
  }
}

int
main(int argc, char **argv) {
  fixture_init(&argc, &argv);
  g_test_add_func("/dicom/strays/cut", test_a_cut_file_is_told_at_its_series);
  g_test_add_func("/dicom/strays/number", test_a_lacking_number_makes_it_not_eligible);
  g_test_add_func("/dicom/strays/others", test_what_is_no_slice_says_nothing);
  g_test_add_func("/dicom/strays/places", test_places);
  return g_test_run();
}
