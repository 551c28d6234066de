/* Every row of shared/dicom/derived/EXPECTED.tsv: mutations of one real series, one fault a folder.
 * Its columns give n_slices and accepted; the sentence of its last column is checked by the
 * expectations of the table below. */
#include "base/error.h"
#include "dicom-fixture.h"
#include "dicom/geometry.h"
#include "dicom/volume.h"

typedef struct {
  const char *name;
  guint n_series;
  const char *warning; /* NULL: no demand */
  const char *reason;  /* in the first series' reason */
  const char *patient_name;
} Expectation;

static const Expectation expectations[] = {
    {"00_baseline", 1, "slice thickness 3 mm, but slices are 2.5 mm apart", NULL, NULL},
    {"01_missing_two", 1, NULL, "slices missing: 2 (gaps up to 5 mm, nominal 2.5)", NULL},
    {"02_same_file_twice", 1, "duplicate files: 2 counted once", NULL, NULL},
    {"03_dup_position_new_uid", 1, "duplicate positions: 1", NULL, NULL},
    {"05_no_position_orientation", 1, NULL, "position absent", NULL},
    {"06_no_thickness", 1, "slice thickness not recorded", NULL, NULL},
    {"09_rescale_varies", 1, NULL, NULL, NULL},
    {"10_utf8_name", 1, NULL, NULL, "Müller^Zoë=山田^太郎=やまだ^たろう"},
    {"12_cyrillic", 1, NULL, NULL, "Люксембург"},
    {"13_japanese_iso2022", 1, NULL, NULL, "Yamada^Tarou=山田^太郎=やまだ^たろう"},
    {"16_invalid_utf8", 1, NULL, NULL, "Bad\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD^Name"},
    {"18_no_preamble", 1, NULL, NULL, NULL},
    {"19_truncated_last", 1, NULL, "slice truncated", NULL},
    {"20_junk_files", 1, NULL, NULL, NULL},
    {"21_two_phases_one_series", 2, "say which one a score belongs to", NULL, NULL},
    {"22_all_same_sopuid", 1, "share one SOPInstanceUID", NULL, NULL},
    {"23_prone", 1, NULL, NULL, NULL},
    {"25_leading_zero_id", 1, NULL, NULL, NULL},
    {"27_thickness_text", 1, "unreadable: \"3mm\"", NULL, NULL},
    {"29_thickness_nan", 1, "unreadable: \"nan\"", NULL, NULL},
    {"31_gantry_tilt_15deg", 1, "gantry tilt", NULL, NULL},
    {"32_two_orientations", 2, "holds 2 volumes", "too few slices: 9", NULL},
    {"34_rows_lie", 1, NULL, "pixel data too short", NULL},
    {"35_mixed_patient_one_series", 2, NULL, "SAFETY", NULL},
    {"37_jpeg_lossless", 1, NULL, NULL, NULL},
    {"38_jpegls", 1, NULL, NULL, NULL},
    {"39_rle", 1, NULL, NULL, NULL},
    {"41_deflated", 1, NULL, NULL, NULL},
    {"43_signed_padding", 1, NULL, NULL, NULL},
};

static const Expectation *
find_expectation(const char *name) {
  for (size_t i = 0; i < G_N_ELEMENTS(expectations); i++)
    if (strcmp(expectations[i].name, name) == 0)
      return &expectations[i];
  return NULL;
}

static DemurImport *
import_case(const char *name) {
  g_autofree char *relative = g_strconcat("derived/", name, NULL);
  return fixture_import(relative);
}

static void
check_row(char **columns) {
  const Expectation *expectation = find_expectation(columns[0]);
  g_assert_nonnull(expectation); /* a new row needs a new expectation */
  g_test_message("%s: %s", columns[0], columns[4]);
  g_autoptr(DemurImport) import = import_case(columns[0]);
  g_assert_nonnull(import);
  g_assert_cmpuint(import->series->len, ==, expectation->n_series);
  const DemurSeries *series = fixture_series(import, 0);
  if (strcmp(columns[2], "either") != 0)
    g_assert_cmpuint(series->n_slices, ==, g_ascii_strtoull(columns[2], NULL, 10));
  if (strcmp(columns[3], "either") != 0) {
    for (guint i = 0; i < import->series->len; i++)
      g_assert_cmpint(fixture_series(import, i)->accepted, ==, strcmp(columns[3], "yes") == 0);
  }
  g_assert_true(series->accepted == (fixture_reason(series) == NULL));
  if (expectation->warning != NULL)
    g_assert_true(fixture_warns(series, expectation->warning));
  if (expectation->reason != NULL)
    g_assert_nonnull(strstr(fixture_reason(series), expectation->reason));
  if (expectation->patient_name != NULL)
    g_assert_cmpstr(series->patient_name, ==, expectation->patient_name);
  g_assert_true(g_utf8_validate(series->patient_name, -1, NULL));
}

static void
test_every_row_has_its_right_answer(void) {
  g_autofree char *path = demur_test_shared("dicom/derived/EXPECTED.tsv");
  if (path == NULL)
    return;
  g_autofree char *text = NULL;
  g_autoptr(GError) error = NULL;
  g_file_get_contents(path, &text, NULL, &error);
  g_assert_no_error(error);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  guint n = 0;
  for (guint i = 1; lines[i] != NULL; i++) {
    if (*g_strchomp(lines[i]) == '\0')
      continue;
    g_auto(GStrv) columns = g_strsplit(lines[i], "\t", -1);
    g_assert_cmpuint(g_strv_length(columns), ==, 5);
    check_row(columns);
    n++;
  }
  g_assert_cmpuint(n, ==, G_N_ELEMENTS(expectations));
}

static void
test_the_baseline_facts_are_the_scanners(void) {
  g_autoptr(DemurImport) import = import_case("00_baseline");
  if (import == NULL)
    return;
  const DemurSeries *series = fixture_series(import, 0);
  demur_assert_close(series->spacing_mm, 2.5, 0, 1e-6);
  demur_assert_close(series->thickness_mm, 3, 0, 0);
  demur_assert_close(series->kvp, 130, 0, 0);
  demur_assert_close(series->tilt_degrees, 0, 0, 1e-9);
  g_assert_cmpstr(series->manufacturer, ==, "Siemens");
  g_assert_cmpstr(series->manufacturer_raw, ==, "SIEMENS");
  g_assert_cmpstr(series->model, ==, "Emotion 16 (2007)");
  g_assert_cmpstr(series->kernel, ==, "B30s");
  g_assert_cmpint(series->kernel_class, ==, DEMUR_KERNEL_SOFT);
  g_assert_cmpint(series->type, ==, DEMUR_SERIES_VOLUME);
}

/* Range over n - 1 would say 2.833. */
static void
test_missing_slices_do_not_change_the_spacing(void) {
  g_autoptr(DemurImport) import = import_case("01_missing_two");
  if (import == NULL)
    return;
  const DemurSeries *series = fixture_series(import, 0);
  demur_assert_close(series->spacing_mm, 2.5, 0, 1e-6);
  demur_assert_close(series->largest_gap_mm, 5, 0, 1e-6);
  g_assert_cmpuint(series->n_missing, ==, 2);
}

static void
test_no_gap_is_zero_where_positions_repeat(void) {
  g_autoptr(DemurImport) import = import_case("03_dup_position_new_uid");
  if (import == NULL)
    return;
  const DemurSeries *series = fixture_series(import, 0);
  g_assert_cmpfloat(series->smallest_gap_mm, >, 2.4);
  g_assert_cmpuint(series->n_left_out, ==, 1);
  const DemurSlice *left_out = &series->slices[series->n_slices];
  for (size_t i = 0; i < series->n_slices; i++)
    if (fabs(series->slices[i].distance_mm - left_out->distance_mm) < 0.01)
      g_assert_cmpint(series->slices[i].instance_number, <=, left_out->instance_number);
}

static void
test_a_stack_without_positions_is_in_order_of_instance_number(void) {
  g_autoptr(DemurImport) import = import_case("05_no_position_orientation");
  if (import == NULL)
    return;
  const DemurSeries *series = fixture_series(import, 0);
  g_assert_cmpint(series->type, ==, DEMUR_SERIES_STACK);
  g_assert_true(isnan(series->spacing_mm));
  for (size_t i = 1; i < series->n_slices; i++)
    g_assert_cmpint(series->slices[i - 1].instance_number, <, series->slices[i].instance_number);
}

static void
test_unreadable_thickness_is_unknown(void) {
  const char *const names[] = {"06_no_thickness", "27_thickness_text", "29_thickness_nan"};
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
    g_autoptr(DemurImport) import = import_case(names[i]);
    if (import == NULL)
      return;
    g_assert_true(isnan(fixture_series(import, 0)->thickness_mm));
    demur_assert_close(fixture_series(import, 0)->spacing_mm, 2.5, 0, 1e-6);
  }
}

static void
test_a_truncated_slice_is_flagged_and_left_out(void) {
  g_autoptr(DemurImport) import = import_case("19_truncated_last");
  if (import == NULL)
    return;
  const DemurSeries *series = fixture_series(import, 0);
  g_assert_cmpuint(series->n_slices, ==, 17);
  g_assert_cmpuint(series->n_left_out, ==, 1);
  g_assert_cmpint(series->slices[17].state, ==, DEMUR_SLICE_BROKEN);
  g_assert_nonnull(strstr(series->slices[17].problem, "too short"));
}

static void
test_junk_is_skipped_each_with_a_reason(void) {
  g_autoptr(DemurImport) import = import_case("20_junk_files");
  if (import == NULL)
    return;
  g_assert_cmpuint(import->skipped->len, ==, 5);
  for (guint i = 0; i < import->skipped->len; i++)
    g_assert_cmpstr(((DemurSkipped *)import->skipped->pdata[i])->reason, !=, "");
  g_assert_cmpstr(fixture_skipped(import, "empty.dcm")->reason, ==, "empty file");
}

static void
test_phases_are_named_by_acquisition(void) {
  g_autoptr(DemurImport) import = import_case("21_two_phases_one_series");
  if (import == NULL)
    return;
  const DemurSeries *first = fixture_series(import, 0), *second = fixture_series(import, 1);
  g_autofree char *name = g_strconcat(first->series_uid, "#2", NULL);
  g_assert_cmpstr(first->scan_id, ==, first->series_uid);
  g_assert_cmpstr(second->scan_id, ==, name);
  g_assert_cmpint(first->acquisition_number, <, second->acquisition_number);
  g_assert_cmpuint(second->n_slices, ==, 18);
  g_assert_cmpint(first->accepted + second->accepted, ==, 1);
}

/* Row cosines (-1, 0, 0): the screen's right is the patient's right, so its left is the patient's
 * left. */
static void
test_prone_letters_follow_the_cosines(void) {
  g_autoptr(DemurImport) import = import_case("23_prone");
  if (import == NULL)
    return;
  const DemurSeries *series = fixture_series(import, 0);
  char right[4], down[4];
  demur_geometry_letters(series->orientation, right);
  demur_geometry_letters(series->orientation + 3, down);
  g_assert_cmpstr(right, ==, "R");
  g_assert_cmpstr(down, ==, "A");
}

static void
test_an_identifier_keeps_its_zeros(void) {
  g_autoptr(DemurImport) import = import_case("25_leading_zero_id");
  if (import == NULL)
    return;
  g_assert_cmpstr(fixture_series(import, 0)->patient_id, ==, "000123");
}

static void
test_a_sheared_stack_has_its_spacing_along_the_normal(void) {
  g_autoptr(DemurImport) import = import_case("31_gantry_tilt_15deg");
  if (import == NULL)
    return;
  const DemurSeries *series = fixture_series(import, 0);
  demur_assert_close(series->spacing_mm, 2.5, 0, 1e-6);
  demur_assert_close(series->tilt_degrees, 15, 0, 0.05);
}

static void
test_two_patients_are_never_one_volume(void) {
  g_autoptr(DemurImport) import = import_case("35_mixed_patient_one_series");
  if (import == NULL)
    return;
  g_assert_cmpstr(fixture_series(import, 0)->patient_id, !=, fixture_series(import, 1)->patient_id);
  for (guint i = 0; i < 2; i++) {
    g_assert_true(fixture_series(import, i)->two_patients);
    g_assert_nonnull(strstr(fixture_reason(fixture_series(import, i)), "SAFETY"));
    g_assert_null(strstr(fixture_reason(fixture_series(import, i)), "Person"));
  }
}

static DemurVolume *
read_volume(const DemurImport *import) {
  g_autoptr(GError) error = NULL;
  DemurVolume *volume = demur_volume_read(fixture_series(import, 0), NULL, NULL, &error);
  g_assert_no_error(error);
  return volume;
}

static void
test_lossless_copies_decode_to_identical_values(void) {
  const char *const names[] = {"18_no_preamble", "37_jpeg_lossless", "38_jpegls", "39_rle",
                               "41_deflated"};
  g_autoptr(DemurImport) import = import_case("00_baseline");
  if (import == NULL)
    return;
  g_autoptr(DemurVolume) baseline = read_volume(import);
  const size_t size = baseline->n_slices * baseline->rows * baseline->columns * sizeof(gint16);
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
    g_autoptr(DemurImport) copy = import_case(names[i]);
    g_autoptr(DemurVolume) volume = read_volume(copy);
    g_assert_true(memcmp(baseline->hu, volume->hu, size) == 0);
  }
}

/* The mutation gave every second slice the intercept -1000 and took the 24 off its unsigned stored
 * values, which stop at 0: the CT numbers are the baseline's wherever those are at least the
 * intercept, else the intercept. */
static void
test_each_slice_has_its_own_slope_and_intercept(void) {
  g_autoptr(DemurImport) import = import_case("09_rescale_varies");
  g_autoptr(DemurImport) original = import != NULL ? import_case("00_baseline") : NULL;
  if (original == NULL)
    return;
  g_autoptr(DemurVolume) volume = read_volume(import), baseline = read_volume(original);
  const DemurSeries *series = fixture_series(import, 0);
  const size_t n = volume->rows * volume->columns;
  for (size_t i = 0; i < series->n_slices; i++) {
    const int intercept = i % 2 == 0 ? -1024 : -1000;
    demur_assert_close(series->slices[i].intercept, intercept, 0, 0);
    for (size_t k = 0; k < n; k++)
      g_assert_cmpint(volume->hu[i * n + k], ==, MAX(baseline->hu[i * n + k], intercept));
  }
}

static void
test_signed_padding_is_no_ct_number(void) {
  g_autoptr(DemurImport) import = import_case("43_signed_padding");
  if (import == NULL)
    return;
  g_autoptr(DemurVolume) volume = read_volume(import);
  g_assert_cmpuint(volume->n_padding, >, 0);
  g_assert_cmpint(volume->min_hu, >=, -1024);
  size_t n = 0;
  for (size_t i = 0; i < volume->n_slices * volume->rows * volume->columns; i++)
    n += volume->hu[i] == DEMUR_HU_PADDING ? 1 : 0;
  g_assert_cmpuint(n, ==, volume->n_padding);
}

static void
test_a_series_with_broken_slices_only_is_shown_and_not_decoded(void) {
  g_autoptr(DemurImport) import = import_case("34_rows_lie");
  if (import == NULL)
    return;
  g_autoptr(GError) error = NULL;
  g_assert_null(demur_volume_read(fixture_series(import, 0), NULL, NULL, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
}

/* Metamorphic: the order and number of threads play no part. */
static void
test_any_number_of_threads_gives_the_same_series_and_volume(void) {
  g_autofree char *path = demur_test_shared("dicom/derived");
  if (path == NULL)
    return;
  const char *paths[] = {path, NULL};
  g_autoptr(DemurParallel) two = demur_parallel_new(2);
  g_autoptr(DemurImport) a = demur_import_run(paths, NULL, NULL, NULL, NULL);
  g_autoptr(DemurImport) b = demur_import_run(paths, NULL, two, NULL, NULL);
  g_assert_cmpuint(a->series->len, ==, b->series->len);
  for (guint i = 0; i < a->series->len; i++) {
    g_assert_cmpstr(fixture_series(a, i)->scan_id, ==, fixture_series(b, i)->scan_id);
    g_assert_cmpstr(fixture_reason(fixture_series(a, i)), ==, fixture_reason(fixture_series(b, i)));
  }
  g_autoptr(DemurVolume) x = demur_volume_read(fixture_series(a, 0), NULL, NULL, NULL);
  g_autoptr(DemurVolume) y = demur_volume_read(fixture_series(b, 0), two, NULL, NULL);
  g_assert_nonnull(x);
  const size_t size = x->n_slices * x->rows * x->columns * sizeof(gint16);
  g_assert_true(memcmp(x->hu, y->hu, size) == 0);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_assert_true(demur_dicom_init(NULL));
#define ADD(name) g_test_add_func("/dicom/derived/" #name, test_##name)
  ADD(every_row_has_its_right_answer);
  ADD(the_baseline_facts_are_the_scanners);
  ADD(missing_slices_do_not_change_the_spacing);
  ADD(no_gap_is_zero_where_positions_repeat);
  ADD(a_stack_without_positions_is_in_order_of_instance_number);
  ADD(unreadable_thickness_is_unknown);
  ADD(a_truncated_slice_is_flagged_and_left_out);
  ADD(junk_is_skipped_each_with_a_reason);
  ADD(phases_are_named_by_acquisition);
  ADD(prone_letters_follow_the_cosines);
  ADD(an_identifier_keeps_its_zeros);
  ADD(a_sheared_stack_has_its_spacing_along_the_normal);
  ADD(two_patients_are_never_one_volume);
  ADD(lossless_copies_decode_to_identical_values);
  ADD(each_slice_has_its_own_slope_and_intercept);
  ADD(signed_padding_is_no_ct_number);
  ADD(a_series_with_broken_slices_only_is_shown_and_not_decoded);
  ADD(any_number_of_threads_gives_the_same_series_and_volume);
  const int status = g_test_run();
  demur_dicom_cleanup();
  return status;
}
