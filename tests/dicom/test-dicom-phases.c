/* Two acquisitions or reconstructions in one series: for every attribute that may tell them apart,
 * three ways of numbering and four ways of lying to one another, no volume that is accepted holds
 * slices of both. Which one a slice is of stands in its SOPInstanceUID, which nothing looks at. */
#include "phases-fixture.h"

static gsize
count_eligible(const DemurImport *import) {
  gsize n = 0;
  for (guint i = 0; i < import->series->len; i++)
    n += fixture_series(import, i)->eligible ? 1 : 0;
  return n;
}

static void
change_value(GArray *object, int phase, int k, gconstpointer data) {
  put_value(object, data, phase, k);
}

/* Present in one phase only. */
static void
change_presence(GArray *object, int phase, int k, gconstpointer data) {
  if (phase == 1)
    put_value(object, data, phase, k);
}

static void
test_every_attribute_keeps_phases_apart(void) {
  guint n_cases = 0;
  for (size_t a = 0; a < demur_slice_attributes_n(); a++)
    for (int numbering = 0; numbering < N_NUMBERINGS; numbering++)
      for (int layout = 0; layout < N_LAYOUTS; layout++) {
        const DemurSliceAttribute *attribute = demur_slice_attribute(a);
        /* Numbering counts where positions repeat: elsewhere one of the three is enough. And what
         * may vary along a volume, as a tube current does, may differ between its halves. */
        if ((layout != LIE_SAME && (size_t)numbering != a % N_NUMBERINGS) ||
            (layout == LIE_ABOVE && attribute->role == DEMUR_SLICE_ATTRIBUTE_FREE))
          continue;
        g_test_message("%s, numbering %d, layout %d", attribute->keyword, numbering, layout);
        g_autoptr(DemurImport) import =
            import_two((Numbering)numbering, (Layout)layout, change_value, attribute);
        g_assert_false(accepts_both(import));
        if (layout == LIE_SAME)
          g_assert_cmpuint(import->series->len, ==, 2);
        n_cases++;
      }
  g_assert_cmpuint(n_cases, >, 500);
}

static void
test_a_value_in_one_phase_only_keeps_them_apart(void) {
  for (size_t a = 0; a < demur_slice_attributes_n(); a++) {
    const DemurSliceAttribute *attribute = demur_slice_attribute(a);
    if (attribute->role == DEMUR_SLICE_ATTRIBUTE_TIME)
      continue; /* a time that some slices lack says nothing */
    g_test_message("%s", attribute->keyword);
    g_autoptr(DemurImport) import =
        import_two((Numbering)(a % N_NUMBERINGS), LIE_SAME, change_presence, attribute);
    g_assert_false(accepts_both(import));
  }
}

static void
change_nothing(GArray *object, int phase, int k, gconstpointer data) {
}

static void
test_what_nothing_separates_is_not_eligible(void) {
  for (int numbering = 0; numbering < N_NUMBERINGS; numbering++)
    for (int layout = LIE_SAME; layout <= LIE_HALF_COVERED; layout++) {
      g_autoptr(DemurImport) import =
          import_two((Numbering)numbering, (Layout)layout, change_nothing, NULL);
      g_assert_cmpuint(import->series->len, ==, 1);
      g_assert_false(fixture_series(import, 0)->eligible);
      g_assert_true(demur_series_found(fixture_series(import, 0), "unseparated"));
    }
}

/* Times of one sweep up and one down right behind it: no gap parts them, their fullness does. */
static void
change_shuttle(GArray *object, int phase, int k, gconstpointer data) {
  const int step = phase == 0 ? k : 2 * N_POSITIONS - 1 - k;
  g_autofree char *time = g_strdup_printf("1200%02d.5", step);
  object_text(object, DEMUR_TAG(0x0008, 0x0032), "TM", time);
}

static void
test_sweeps_without_a_pause_are_two(void) {
  g_autoptr(DemurImport) same = import_two(NUMBERS_REPEAT, LIE_SAME, change_shuttle, NULL);
  g_assert_cmpuint(count_eligible(same), ==, 2);
  g_assert_false(accepts_both(same));
  g_autoptr(DemurImport) between = import_two(NUMBERS_REPEAT, LIE_BETWEEN, change_shuttle, NULL);
  g_assert_false(accepts_both(between));
}

static void
change_midnight(GArray *object, int phase, int k, gconstpointer data) {
  static const char *const times[2][2] = {{"235958.%02d", "235959.%02d"},
                                          {"000010.%02d", "000011.%02d"}};
  g_autofree char *time = g_strdup_printf("%.7s%02d", times[phase][k >= 6], 5 * (k % 6));
  object_text(object, DEMUR_TAG(0x0008, 0x0032), "TM", time);
}

static void
test_midnight_is_no_gap(void) {
  g_autoptr(DemurImport) import = import_two(NUMBERS_FOLLOW, LIE_SAME, change_midnight, NULL);
  g_assert_cmpuint(count_eligible(import), ==, 2);
  g_assert_false(accepts_both(import));
}

/* Sharp and soft of two phases: no attribute alone separates what lies at one position, two after
 * one another do. */
static void
test_two_attributes_separate_four_volumes(void) {
  g_autofree char *folder = fixture_folder();
  for (int volume = 0; volume < 4; volume++)
    for (int k = 0; k < N_POSITIONS; k++) {
      g_autoptr(GArray) object = object_slice(0, k, SPACING_MM * k, k + 1);
      g_autofree char *uid = g_strdup_printf("1.2.9.%d.%d", volume, k);
      g_autofree char *name = g_strdup_printf("%d-%d.dcm", k, volume);
      object_text(object, DEMUR_TAG(0x0008, 0x0018), "UI", uid);
      object_text(object, DEMUR_TAG(0x0018, 0x1210), "SH", volume % 2 == 0 ? "B30f" : "B70f");
      object_text(object, DEMUR_TAG(0x0020, 0x0012), "IS", volume / 2 == 0 ? "1" : "2");
      object_save(object, folder, name);
    }
  g_autoptr(DemurImport) import = fixture_import_folder(folder);
  fixture_remove(folder);
  g_assert_cmpuint(import->series->len, ==, 4);
  g_assert_cmpuint(count_eligible(import), ==, 4);
  for (guint i = 0; i < 4; i++) {
    const DemurSeries *series = fixture_series(import, i);
    g_assert_cmpuint(series->n_slices, ==, N_POSITIONS);
    for (size_t s = 1; s < series->n_slices; s++)
      g_assert_cmpint(series->slices[s].sop_instance_uid[6], ==,
                      series->slices[0].sop_instance_uid[6]);
  }
}

/* What is right stays right: one sweep with its own time, current and number of each slice. */
static void
change_sweep(GArray *object, int phase, int k, gconstpointer data) {
  const int step = phase * N_POSITIONS + k;
  g_autofree char *time = g_strdup_printf("1200%02d.25", step / 4);
  g_autofree char *current = g_strdup_printf("%d", 100 + step % 3);
  g_autofree char *rotation = g_strdup_printf("%d", step / 4 + 1);
  object_text(object, DEMUR_TAG(0x0008, 0x0032), "TM", time);
  object_text(object, DEMUR_TAG(0x0008, 0x0033), "TM", time);
  object_text(object, DEMUR_TAG(0x0018, 0x1151), "IS", current);
  if (data != NULL)
    object_text(object, DEMUR_TAG(0x0020, 0x0012), "IS", rotation);
}

static void
test_one_acquisition_is_accepted(void) {
  for (int stepped = 0; stepped < 2; stepped++) {
    g_autoptr(DemurImport) import =
        import_two(NUMBERS_FOLLOW, LIE_ABOVE, change_sweep, stepped ? "in steps of four" : NULL);
    g_assert_cmpuint(import->series->len, ==, 1);
    g_assert_cmpstr(fixture_reason(fixture_series(import, 0)), ==, NULL);
  }
}

static void
change_sideways(GArray *object, int phase, int k, gconstpointer data) {
  const Layout layout = *(const Layout *)data;
  const double z = place_of(layout, phase, k);
  g_autofree char *position = g_strdup_printf("%d\\0\\%g", phase == 1 ? 50 : 0, z);
  object_text(object, DEMUR_TAG(0x0020, 0x0032), "DS", position);
}

static void
test_a_sideways_jump_is_no_tilt(void) {
  static const Layout layouts[] = {LIE_ABOVE, LIE_BETWEEN};
  for (size_t i = 0; i < G_N_ELEMENTS(layouts); i++) {
    g_autoptr(DemurImport) import =
        import_two(NUMBERS_FOLLOW, layouts[i], change_sideways, &layouts[i]);
    const DemurSeries *series = fixture_series(import, 0);
    g_assert_false(fixture_warns(series, "tilt"));
    g_assert_true(demur_series_found(series, "sideways"));
    g_assert_false(series->eligible);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_dicom_init(&error));
  g_test_add_func("/dicom/phases/every-attribute", test_every_attribute_keeps_phases_apart);
  g_test_add_func("/dicom/phases/presence", test_a_value_in_one_phase_only_keeps_them_apart);
  g_test_add_func("/dicom/phases/nothing-separates", test_what_nothing_separates_is_not_eligible);
  g_test_add_func("/dicom/phases/sweeps", test_sweeps_without_a_pause_are_two);
  g_test_add_func("/dicom/phases/midnight", test_midnight_is_no_gap);
  g_test_add_func("/dicom/phases/four-volumes", test_two_attributes_separate_four_volumes);
  g_test_add_func("/dicom/phases/one-acquisition", test_one_acquisition_is_accepted);
  g_test_add_func("/dicom/phases/sideways", test_a_sideways_jump_is_no_tilt);
  return g_test_run();
}
