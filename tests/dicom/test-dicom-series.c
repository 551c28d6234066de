/* Grouping, measuring and judging, on small series made by hand: right values follow from the
 * positions written. */
#include "base/error.h"
#include "dicom-fixture.h"
#include "dicom/geometry.h"

static DemurImport *
import_positions(const double *z, const gint64 *acquisitions, size_t n) {
  g_autofree char *folder = fixture_folder();
  for (size_t i = 0; i < n; i++) {
    FixtureImage image = fixture_image((gint64)i + 1, z[i]);
    if (acquisitions != NULL)
      image.acquisition_number = acquisitions[i];
    /* Names sort against the positions. */
    g_autofree char *name = g_strdup_printf("%03d.dcm", (int)(n - i));
    fixture_save(&image, folder, name);
  }
  DemurImport *import = fixture_import_folder(folder);
  fixture_remove(folder);
  return import;
}

static void
test_gaps_are_judged_at_ten_percent(void) {
  /* 12 slices 2 mm apart with one gap of the given size. */
  static const struct {
    double gap;
    gsize n_missing, n_irregular;
  } rows[] = {
      {2.0, 0, 0},  {2.19, 0, 0}, {1.81, 0, 0}, {2.22, 0, 1}, {1.78, 0, 1},  {3.0, 0, 1},
      {3.61, 1, 0}, {4.0, 1, 0},  {4.39, 1, 0}, {6.0, 2, 0},  {24.0, 11, 0}, {26.0, 0, 1},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    double z[12];
    for (int k = 0; k < 12; k++)
      z[k] = 2.0 * k + (k > 5 ? rows[i].gap - 2.0 : 0);
    g_autoptr(DemurImport) import = import_positions(z, NULL, 12);
    const DemurSeries *series = fixture_series(import, 0);
    g_test_message("gap %g", rows[i].gap);
    demur_assert_close(series->spacing_mm, 2, 1e-9, 0);
    g_assert_cmpuint(series->n_missing, ==, rows[i].n_missing);
    g_assert_cmpuint(series->n_irregular, ==, rows[i].n_irregular);
    g_assert_cmpint(series->accepted, ==, rows[i].n_missing + rows[i].n_irregular == 0);
  }
}

/* Two acquisitions that meet in one slice are halves of a body and no volume to assess; two that
 * repeat each other are two. */
static void
test_acquisitions_part_only_where_they_repeat(void) {
  double z[24];
  gint64 acquisitions[24];
  for (int k = 0; k < 24; k++) {
    z[k] = k < 12 ? 2.0 * k : 2.0 * (k - 1);
    acquisitions[k] = k < 12 ? 4 : 5;
  }
  g_autoptr(DemurImport) meeting = import_positions(z, acquisitions, 24);
  g_assert_cmpuint(meeting->series->len, ==, 1);
  g_assert_cmpuint(fixture_series(meeting, 0)->n_slices, ==, 23);
  g_assert_cmpuint(fixture_series(meeting, 0)->n_same_position, ==, 1);
  g_assert_true(demur_series_found(fixture_series(meeting, 0), "several-acquisitions"));
  g_assert_false(fixture_series(meeting, 0)->eligible);
  for (int k = 12; k < 24; k++)
    z[k] = 2.0 * (k - 12);
  g_autoptr(DemurImport) repeating = import_positions(z, acquisitions, 24);
  g_assert_cmpuint(repeating->series->len, ==, 2);
  g_assert_cmpint(fixture_series(repeating, 0)->acquisition_number, ==, 4);
  g_assert_cmpstr(fixture_series(repeating, 1)->scan_id, ==, "1.2.3.4#2");
}

static DemurImport *
import_changed(void (*change)(FixtureImage *image, int k)) {
  g_autofree char *folder = fixture_folder();
  for (int k = 0; k < 12; k++) {
    FixtureImage image = fixture_image(k + 1, 2.5 * k);
    g_autofree char *name = g_strdup_printf("%03d.dcm", k);
    change(&image, k);
    fixture_save(&image, folder, name);
  }
  DemurImport *import = fixture_import_folder(folder);
  fixture_remove(folder);
  return import;
}

static void
change_name(FixtureImage *image, int k) {
  if (k == 3)
    image->patient_name = "Other^Person";
}

static void
test_one_identifier_with_two_names_is_two_patients(void) {
  g_autoptr(DemurImport) import = import_changed(change_name);
  g_assert_cmpuint(import->series->len, ==, 2);
  for (guint i = 0; i < 2; i++)
    g_assert_true(fixture_series(import, i)->two_patients);
}

static void
change_capitals(FixtureImage *image, int k) {
  if (k % 2 == 0)
    image->patient_name = "ONE^PERSON";
}

static void
test_capitals_do_not_make_another_patient(void) {
  g_autoptr(DemurImport) import = import_changed(change_capitals);
  g_assert_cmpuint(import->series->len, ==, 1);
  g_assert_false(fixture_series(import, 0)->two_patients);
}

static void
change_label(FixtureImage *image, int k) {
  image->image_type = "ORIGINAL\\PRIMARY\\LOCALIZER";
}

static void
test_a_localizer_is_known_by_its_label(void) {
  g_autoptr(DemurImport) import = import_changed(change_label);
  g_assert_cmpint(fixture_series(import, 0)->type, ==, DEMUR_SERIES_LOCALIZER);
  g_assert_false(fixture_series(import, 0)->eligible);
}

static void
change_orientation(FixtureImage *image, int k) {
  static const double coronal[6] = {1, 0, 0, 0, 0, -1};
  memcpy(image->orientation, coronal, sizeof coronal);
  image->position_mm[1] = 2.5 * k;
  image->position_mm[2] = 0;
}

static void
test_orientation_wins_over_an_axial_label(void) {
  g_autoptr(DemurImport) import = import_changed(change_orientation);
  const DemurSeries *series = fixture_series(import, 0);
  g_assert_nonnull(strstr(fixture_reason(series), "not axial: 90 degrees"));
  demur_assert_close(series->spacing_mm, 2.5, 1e-9, 0);
}

/* A hand-made record that breaks no rule; each row changes one value across its limit. */
static DemurSeries *
good_series(void) {
  DemurSeries *series = g_new0(DemurSeries, 1);
  series->scan_id = g_strdup("1.2");
  series->series_uid = g_strdup("1.2");
  series->study_uid = g_strdup("1");
  series->patient_id = g_strdup("P");
  series->modality = g_strdup("CT");
  series->photometric = g_strdup("MONOCHROME2");
  series->manufacturer = g_strdup("GE");
  series->body_part = g_strdup("CHEST");
  series->part = series->n_parts = 1;
  series->n_slices = series->n_positions = 100;
  series->slices = g_new0(DemurSlice, 100);
  series->spacing_mm = series->thickness_mm = series->smallest_thickness_mm = 2.5;
  series->extent_mm = 250;
  series->pixel_spacing_mm[0] = series->pixel_spacing_mm[1] = 0.7;
  series->tilt_tag_degrees = NAN;
  return series;
}

static void
test_each_limit_divides_where_it_says(void) {
  static const struct {
    size_t offset;
    double kept, broken;
    const char *words;
    gboolean refuses;
  } rows[] = {
      {offsetof(DemurSeries, axial_angle_degrees), 30, 30.01, "not axial", TRUE},
      {offsetof(DemurSeries, thickness_mm), 5, 5.01, "too thick", TRUE},
      {offsetof(DemurSeries, tilt_degrees), 0.5, 0.51, "tilt", FALSE},
      {offsetof(DemurSeries, tilt_degrees), -0.5, -0.51, "tilt", FALSE},
      {offsetof(DemurSeries, extent_mm), 200, 199.9, "extent", FALSE},
  };
  g_autoptr(DemurEligibility) rules = demur_eligibility_new();
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
    for (int broken = 0; broken < 2; broken++) {
      g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func((GDestroyNotify)demur_series_free);
      DemurSeries *series = good_series();
      g_ptr_array_add(list, series);
      *(double *)((char *)series + rows[i].offset) = broken ? rows[i].broken : rows[i].kept;
      series->smallest_thickness_mm = series->thickness_mm;
      demur_eligibility_judge(rules, list);
      g_assert_cmpint(series->eligible, ==, !(broken && rows[i].refuses));
      if (rows[i].refuses)
        g_assert_true((fixture_reason(series) != NULL &&
                       strstr(fixture_reason(series), rows[i].words) != NULL) == (broken != 0));
      else
        g_assert_cmpint(fixture_warns(series, rows[i].words), ==, broken);
    }
}

static void
test_nine_slices_are_too_few_and_ten_are_not(void) {
  g_autoptr(DemurEligibility) rules = demur_eligibility_new();
  for (gsize n = 9; n <= 10; n++) {
    g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func((GDestroyNotify)demur_series_free);
    DemurSeries *series = good_series();
    series->n_slices = n;
    g_ptr_array_add(list, series);
    demur_eligibility_judge(rules, list);
    g_assert_cmpint(series->eligible, ==, n == 10);
  }
}

static void
test_rules_can_be_changed_by_code(void) {
  g_autoptr(DemurEligibility) rules = demur_eligibility_new();
  g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func((GDestroyNotify)demur_series_free);
  DemurSeries *series = good_series();
  g_autoptr(GError) error = NULL;
  series->thickness_mm = series->smallest_thickness_mm = 3;
  g_ptr_array_add(list, series);
  g_assert_true(demur_eligibility_set(rules, "thick", DEMUR_RULE_REFUSE, 2, &error));
  demur_eligibility_judge(rules, list);
  g_assert_cmpstr(fixture_reason(series), ==, "not eligible: slices too thick: 3 mm (limit 2)");
  g_assert_true(demur_eligibility_set(rules, "thick", DEMUR_RULE_OFF, (double)NAN, &error));
  demur_eligibility_judge(rules, list);
  g_assert_true(series->accepted);
  g_assert_false(demur_eligibility_set(rules, "no-such", DEMUR_RULE_OFF, (double)NAN, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE);
  g_clear_error(&error);
  g_assert_false(demur_eligibility_set(rules, "thick", DEMUR_RULE_WARN, -1, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE);
  g_clear_error(&error);
  g_assert_false(demur_eligibility_set(rules, "not-ct", DEMUR_RULE_WARN, 1, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE);
}

/* In the order of the documented preference; each row loses to the one before it. */
static void
test_the_choice_follows_its_order(void) {
  static const struct {
    double thickness_mm;
    DemurKernelClass kernel;
    gsize n_slices;
    gint64 number;
    const char *scan_id;
  } rows[] = {
      {1.0, DEMUR_KERNEL_SHARP, 90, 9, "9"},    {2.5, DEMUR_KERNEL_SOFT, 100, 5, "5"},
      {2.5, DEMUR_KERNEL_STANDARD, 90, 3, "3"}, {2.5, DEMUR_KERNEL_SOFT, 90, 4, "40"},
      {2.5, DEMUR_KERNEL_SOFT, 90, 4, "41"},    {2.5, DEMUR_KERNEL_UNKNOWN, 99, 1, "1"},
      {2.5, DEMUR_KERNEL_SHARP, 99, 1, "0"},    {NAN, DEMUR_KERNEL_SOFT, 99, 1, "00"},
  };
  g_autoptr(DemurEligibility) rules = demur_eligibility_new();
  for (size_t first = 0; first < G_N_ELEMENTS(rows); first++) {
    g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func((GDestroyNotify)demur_series_free);
    for (size_t i = G_N_ELEMENTS(rows); i-- > first;) {
      DemurSeries *series = good_series();
      g_free(series->scan_id);
      series->scan_id = g_strdup(rows[i].scan_id);
      series->thickness_mm = series->smallest_thickness_mm = rows[i].thickness_mm;
      series->kernel_class = rows[i].kernel;
      series->n_slices = rows[i].n_slices;
      series->series_number = rows[i].number;
      g_ptr_array_add(list, series);
    }
    demur_eligibility_judge(rules, list);
    guint n_accepted = 0;
    for (guint i = 0; i < list->len; i++) {
      const DemurSeries *series = list->pdata[i];
      n_accepted += series->accepted ? 1u : 0u;
      if (series->accepted)
        g_assert_cmpstr(series->scan_id, ==, rows[first].scan_id);
      else
        g_assert_nonnull(strstr(fixture_reason(series), "eligible, not chosen"));
    }
    g_assert_cmpuint(n_accepted, ==, 1);
  }
}

static void
test_makers_are_known_in_many_spellings(void) {
  static const struct {
    const char *raw, *name;
  } rows[] = {
      {"GE MEDICAL SYSTEMS", "GE"},
      {"GE Healthcare", "GE"},
      {"GE", "GE"},
      {"TOSHIBA", "Canon"},
      {"CANON", "Canon"},
      {"CANON_MEC", "Canon"},
      {"Philips", "Philips"},
      {"PHILIPS", "Philips"},
      {"SIEMENS", "Siemens"},
      {"Siemens Healthineers", "Siemens"},
      {"UIH", "United Imaging"},
      {"", NULL},
      {"General", NULL},
      {"6f9619ff-8b86-d011-b42d-00c04fc964ff", NULL},
      {NULL, NULL},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
    g_assert_cmpstr(demur_vendor_normalise(rows[i].raw), ==, rows[i].name);
}

static void
test_kernels_fall_into_their_classes(void) {
  static const struct {
    const char *maker, *kernel;
    DemurKernelClass sharpness;
    const char *family;
  } rows[] = {
      {"Siemens", "B30f", DEMUR_KERNEL_SOFT, "B"},
      {"Siemens", "B45f", DEMUR_KERNEL_STANDARD, "B"},
      {"Siemens", "B70s", DEMUR_KERNEL_SHARP, "B"},
      {"Siemens", "Br38f\\3", DEMUR_KERNEL_STANDARD, "Br"},
      {"Siemens", "Bl57", DEMUR_KERNEL_SHARP, "Bl"},
      {"Siemens", "I31f", DEMUR_KERNEL_SOFT, "I"},
      {"GE", "STANDARD", DEMUR_KERNEL_STANDARD, "STANDARD"},
      {"GE", "BONE", DEMUR_KERNEL_SHARP, "BONE"},
      {"GE", "SOFT", DEMUR_KERNEL_SOFT, "SOFT"},
      {"Philips", "B", DEMUR_KERNEL_STANDARD, "B"},
      {"Philips", "L", DEMUR_KERNEL_SHARP, "L"},
      {"Canon", "FC51", DEMUR_KERNEL_SHARP, "FC"},
      {"Canon", "FC11", DEMUR_KERNEL_SOFT, "FC"},
      {"GE", "something", DEMUR_KERNEL_UNKNOWN, "something"},
      {NULL, "B30f", DEMUR_KERNEL_UNKNOWN, "B"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *family = demur_vendor_kernel_family(rows[i].kernel);
    g_assert_cmpint(demur_vendor_kernel_class(rows[i].maker, rows[i].kernel), ==,
                    rows[i].sharpness);
    g_assert_cmpstr(family, ==, rows[i].family);
  }
}

static void
test_letters_name_directions(void) {
  static const struct {
    double direction[3];
    const char *letters;
  } rows[] = {
      {{1, 0, 0}, "L"}, {{-1, 0, 0}, "R"}, {{0, 1, 0}, "P"},       {{0, -1, 0}, "A"},
      {{0, 0, 1}, "H"}, {{0, 0, -1}, "F"}, {{0.8, -0.6, 0}, "LA"}, {{0, 0.05, 0.9987}, "H"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    char letters[4];
    demur_geometry_letters(rows[i].direction, letters);
    g_assert_cmpstr(letters, ==, rows[i].letters);
  }
}

/* The guide's table is the program's. */
static void
test_the_guide_tells_every_rule(void) {
  g_autofree char *path = g_test_build_filename(G_TEST_DIST, "docs", "dicom.md", NULL);
  g_autofree char *text = NULL;
  if (!g_file_get_contents(path, &text, NULL, NULL)) {
    g_test_skip("docs/dicom.md is not found: set G_TEST_SRCDIR to the source folder");
    return;
  }
  g_autoptr(DemurEligibility) rules = demur_eligibility_new();
  for (size_t i = 0; i < rules->n_rules; i++) {
    const DemurRule *rule = &rules->rules[i];
    g_autofree char *limit = isnan(rule->limit) ? g_strdup("") : g_strdup_printf("%g", rule->limit);
    g_autofree char *row =
        g_strdup_printf("| `%s` | %s | %s | %s |\n", rule->code,
                        demur_rule_action_name(rule->action), limit, rule->words);
    if (strstr(text, row) == NULL)
      g_error("docs/dicom.md lacks the row %s", row);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
#define ADD(name) g_test_add_func("/dicom/series/" #name, test_##name)
  ADD(gaps_are_judged_at_ten_percent);
  ADD(acquisitions_part_only_where_they_repeat);
  ADD(one_identifier_with_two_names_is_two_patients);
  ADD(capitals_do_not_make_another_patient);
  ADD(a_localizer_is_known_by_its_label);
  ADD(orientation_wins_over_an_axial_label);
  ADD(each_limit_divides_where_it_says);
  ADD(nine_slices_are_too_few_and_ten_are_not);
  ADD(rules_can_be_changed_by_code);
  ADD(the_choice_follows_its_order);
  ADD(makers_are_known_in_many_spellings);
  ADD(kernels_fall_into_their_classes);
  ADD(letters_name_directions);
  ADD(the_guide_tells_every_rule);
  return g_test_run();
}
