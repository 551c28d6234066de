/* Two acquisitions in one series that differ in one element only, which no rule of its own looks at:
 * held, whatever element it is and however they lie to one another. And one acquisition whose
 * slices differ as those of scanners do: accepted. */
#include "phases-fixture.h"

#include <math.h>

#include "base/random.h"
#include "dicom/dose-turns.h"
#include "dicom/free-elements.h"
#include "dicom/tag-name.h"

enum { N_ONE = 2 * N_POSITIONS }; /* slices of one acquisition */

/* What the two acquisitions have. */
typedef struct {
  guint32 tag;
  const char *vr;
  const char *values[2]; /* NULL: not there */
} Element;

static const Element apart[] = {
    {DEMUR_TAG(0x0019, 0x1077), "LO", {"arterial", "venous"}},
    {DEMUR_TAG(0x0019, 0x1077), "LO", {NULL, "venous"}},
    {DEMUR_TAG(0x0019, 0x1077), "IS", {"1000123", "1000124"}},
    {DEMUR_TAG(0x0019, 0x1077), "DS", {"1.5", "2.5"}},
    {DEMUR_TAG(0x0019, 0x1077), "UI", {"1.2.7.1", "1.2.7.2"}},
    {DEMUR_TAG(0x0019, 0x1077), "OB", {"abcdefghijkl", "abcdefghijkm"}},
    {DEMUR_TAG(0x0019, 0x1077), "UN", {"\1", "\2"}},
    {DEMUR_TAG(0x0019, 0x1077), "SQ", {"one", "two"}},
    {DEMUR_TAG(0x0019, 0x0010), "LO", {"MAKER ONE", "MAKER TWO"}},
    {DEMUR_TAG(0x0008, 0x0020), "DA", {"20240101", "20240102"}},
    {DEMUR_TAG(0x0008, 0x0030), "TM", {"120000", "130000"}},
    {DEMUR_TAG(0x0008, 0x0050), "SH", {"A1", "A2"}},
    {DEMUR_TAG(0x0008, 0x0081), "ST", {"here", "there"}},
    {DEMUR_TAG(0x0008, 0x0090), "PN", {"Doe^A", "Doe^B"}},
    {DEMUR_TAG(0x0008, 0x1030), "LO", {"CHEST ROUTINE", "CHEST ROUTINE 2"}},
    {DEMUR_TAG(0x0008, 0x1032), "SQ", {"P1", "P2"}},
    {DEMUR_TAG(0x0008, 0x1070), "PN", {"Roe^A", "Roe^B"}},
    {DEMUR_TAG(0x0008, 0x1140), "SQ", {"1.2.8.1", "1.2.8.2"}},
    {DEMUR_TAG(0x0010, 0x1030), "DS", {"70", "71"}},
    {DEMUR_TAG(0x0010, 0x4000), "LT", {"first", "second"}},
    {DEMUR_TAG(0x0018, 0x9346), "SQ", {NULL, "phantom"}},
    {DEMUR_TAG(0x0020, 0x0010), "SH", {"1", "2"}},
    {DEMUR_TAG(0x0028, 0x0301), "CS", {"NO", NULL}},
    {DEMUR_TAG(0x0040, 0x0275), "SQ", {"R1", "R2"}},
    {DEMUR_TAG(0x4010, 0x1001), "LO", {"unknown 1", "unknown 2"}},
};

static void
put(GArray *object, guint32 tag, const char *vr, const char *value) {
  if (strcmp(vr, "SQ") != 0) {
    object_put(object, tag, vr, value, strlen(value));
    return;
  }
  g_autoptr(GArray) inside = object_new();
  object_text(inside, DEMUR_TAG(0x0008, 0x0104), "LO", value);
  object_sequence(object, tag, inside);
}

static void
change_element(GArray *object, int phase, int k, gconstpointer data) {
  const Element *element = data;
  object_text(object, DEMUR_TAG(0x0019, 0x0010), "LO", "INVENTED");
  if (element->values[phase] != NULL)
    put(object, element->tag, element->vr, element->values[phase]);
}

static void
test_every_element_keeps_two_apart(void) {
  for (int implicit = 0; implicit < 2; implicit++)
    for (size_t e = 0; e < G_N_ELEMENTS(apart); e++)
      for (int layout = 0; layout < N_LAYOUTS; layout++) {
        object_is_implicit = implicit == 1;
        g_autofree char *name = demur_tag_name(apart[e].tag);
        g_test_message("%s %s, layout %d, implicit %d", name, apart[e].vr, layout, implicit);
        g_autoptr(DemurImport) import =
            import_two((Numbering)(e % N_NUMBERINGS), (Layout)layout, change_element, &apart[e]);
        object_is_implicit = FALSE;
        g_assert_false(accepts_both(import));
        if (layout != LIE_BETWEEN && layout != LIE_ABOVE)
          continue;
        const DemurSeries *series = fixture_series(import, 0);
        g_assert_true(demur_series_found(series, "two-stacks"));
        g_assert_cmpuint(series->two_stacks_tag, ==, apart[e].tag);
        g_assert_cmpint(series->two_stacks_in_turns, ==, layout == LIE_BETWEEN);
      }
}

/* The pixels of each slice may be written in their own way, and are read so; halves are two. */
static void
test_rescaling_may_take_turns(void) {
  static const Element rescaling[] = {
      {DEMUR_TAG(0x0028, 0x1052), "DS", {"-1024", "-1000"}},
      {DEMUR_TAG(0x0028, 0x1053), "DS", {"1", "1.01"}},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(rescaling); i++) {
    g_autoptr(DemurImport) turns =
        import_two(NUMBERS_FOLLOW, LIE_BETWEEN, change_element, &rescaling[i]);
    g_assert_cmpstr(fixture_reason(fixture_series(turns, 0)), ==, NULL);
    g_autoptr(DemurImport) halves =
        import_two(NUMBERS_FOLLOW, LIE_ABOVE, change_element, &rescaling[i]);
    g_assert_true(demur_series_found(fixture_series(halves, 0), "two-stacks"));
  }
}

/* Three in turns, and three of unequal length one behind the other. */
static void
change_of_three(GArray *object, int phase, int k, gconstpointer data) {
  const int slice = phase * N_POSITIONS + k;
  const int of = data != NULL ? slice % 3 : slice < 5 ? 0 : slice < 17 ? 1 : 2;
  g_autofree char *text = g_strdup_printf("phase %d", of);
  object_text(object, DEMUR_TAG(0x0019, 0x0010), "LO", "INVENTED");
  object_text(object, DEMUR_TAG(0x0019, 0x1077), "LO", text);
}

static void
test_three_are_more_than_one(void) {
  static const char *const kinds[] = {NULL, "in turns"};
  for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
    g_autoptr(DemurImport) import =
        import_two(NUMBERS_FOLLOW, LIE_ABOVE, change_of_three, kinds[i]);
    g_assert_true(demur_series_found(fixture_series(import, 0), "two-stacks"));
  }
}

/* One acquisition: what the s-th of its slices has. NULL: not there. */
typedef struct {
  const char *what, *creator; /* of the private block 10, where the element is private */
  guint32 tag;
  const char *vr;
  char *(*value)(int slice);
} Habit;

static char *
counter(int slice) {
  return g_strdup_printf("%d", 500 + slice);
}

static char *
table_position(int slice) {
  return g_strdup_printf("%.1f", -120.5 + 2.5 * slice);
}

static char *
letter(int slice) {
  return g_strdup(slice < 11 ? "I" : "S");
}

static char *
half(int slice) {
  return slice < 10 ? g_strdup("HERE") : NULL;
}

static char *
two_steps(int slice) {
  return g_strdup(slice < 10 ? "120" : "240");
}

static char *
temperature(int slice) {
  return g_strdup(slice < 10 ? "37.0" : "37.5");
}

static char *
rotation(int slice) {
  return g_strdup_printf("%d", slice / 4);
}

static char *
in_the_middle(int slice) {
  return g_strdup(slice >= 8 && slice < 16 ? "1" : "0");
}

static char *
in_the_last_two(int slice) {
  return g_strdup(slice >= N_ONE - 2 ? "1" : "0");
}

static char *
now_and_then(int slice) {
  return g_strdup((slice * slice / 3) % 5 < 2 ? "1" : "0");
}

static char *
of_many(int slice) {
  return g_strdup_printf("%d", 100 + 20 * (slice / 3));
}

static char *
last_step(int slice) {
  return g_strdup(slice < 20 ? "20" : "4");
}

static const Habit habits[] = {
    {"a private counter of slices", "INVENTED", DEMUR_TAG(0x0019, 0x1077), "IS", counter},
    {"a private position of the table", "INVENTED", DEMUR_TAG(0x0019, 0x1077), "DS",
     table_position},
    {"a private current that follows the body", "INVENTED", DEMUR_TAG(0x0019, 0x1077), "IS",
     of_many},
    {"a private number of the rotation", "INVENTED", DEMUR_TAG(0x0019, 0x1077), "IS", rotation},
    {"a private temperature", "INVENTED", DEMUR_TAG(0x0019, 0x1077), "DS", temperature},
    {"a private flag in the middle", "INVENTED", DEMUR_TAG(0x0019, 0x1077), "SH", in_the_middle},
    {"a private flag at the end", "INVENTED", DEMUR_TAG(0x0019, 0x1077), "SH", in_the_last_two},
    {"a private flag now and then", "INVENTED", DEMUR_TAG(0x0019, 0x1077), "SH", now_and_then},
    {"GE's letter of the location", "GEMS_IMAG_01", DEMUR_TAG(0x0027, 0x1040), "SH", letter},
    {"GE's segment", "GEMS_ACQU_01", DEMUR_TAG(0x0019, 0x1042), "SS", letter},
    {"Siemens' current", "SIEMENS CT VA0  GEN", DEMUR_TAG(0x0019, 0x1021), "DS", two_steps},
    {"an archive's place", "SIEMENS MEDCOM HEADER", DEMUR_TAG(0x0029, 0x1053), "CS", letter},
    {"a current in two steps", NULL, DEMUR_TAG(0x0018, 0x1151), "IS", two_steps},
    {"an exposure in two steps", NULL, DEMUR_TAG(0x0018, 0x1153), "IS", two_steps},
    {"a comment on half of the images", NULL, DEMUR_TAG(0x0020, 0x4000), "LT", half},
    {"an icon in half of the images", NULL, DEMUR_TAG(0x0088, 0x0200), "SQ", half},
    {"an overlay in half of the images", NULL, DEMUR_TAG(0x6000, 0x0022), "LO", half},
    {"a window's name in half of the images", NULL, DEMUR_TAG(0x0028, 0x1055), "LO", half},
    {"statistics of the pixels", NULL, DEMUR_TAG(0x0028, 0x0107), "US", letter},
    {"two media", NULL, DEMUR_TAG(0x0088, 0x0140), "UI", two_steps},
    {"two character sets", NULL, DEMUR_TAG(0x0008, 0x0005), "CS", half},
    {"a shorter last step", NULL, DEMUR_TAG(0x0020, 0x1002), "IS", last_step},
    {"two regions", NULL, DEMUR_TAG(0x0008, 0x2218), "SQ", letter},
    {"an archive between", NULL, DEMUR_TAG(0x0018, 0xA001), "SQ", half},
};

static void
change_habit(GArray *object, int phase, int k, gconstpointer data) {
  const Habit *habit = data;
  g_autofree char *value = habit->value(phase * N_POSITIONS + k);
  if (habit->creator != NULL)
    object_text(object, (habit->tag & 0xFFFF0000u) | 0x10u, "LO", habit->creator);
  if (value != NULL)
    put(object, habit->tag, habit->vr, value);
}

static void
test_what_scanners_do_is_accepted(void) {
  for (int implicit = 0; implicit < 2; implicit++)
    for (size_t i = 0; i < G_N_ELEMENTS(habits); i++) {
      g_test_message("%s, implicit %d", habits[i].what, implicit);
      object_is_implicit = implicit == 1;
      g_autoptr(DemurImport) import =
          import_two(NUMBERS_FOLLOW, LIE_ABOVE, change_habit, &habits[i]);
      object_is_implicit = FALSE;
      g_assert_cmpuint(import->series->len, ==, 1);
      g_assert_cmpstr(fixture_reason(fixture_series(import, 0)), ==, NULL);
    }
}

/* A dose that follows the body, with a noise of 1 % of it: of one scan, or of two of N_POSITIONS slices
 * each of which the second has a share more. */
typedef struct {
  const DemurSliceAttribute *attribute;
  double more;
} Dose;

static void
change_dose(GArray *object, int phase, int k, gconstpointer data) {
  const Dose *dose = data;
  const int at = dose->more > 0 ? 2 * k + phase : phase * N_POSITIONS + k;
  DemurRandom random = demur_random_stream(1, DEMUR_STREAM_TEST, (guint64)at, 0, 0);
  const double body = 200 * (1 + 0.3 * sin(0.35 * at)) * (1 + 0.01 * demur_random_normal(&random));
  const double number = round(body * (phase == 1 ? 1 + dose->more : 1));
  g_autofree char *text = g_strdup_printf("%g", number);
  if (dose->attribute->vr == DEMUR_VR_FD)
    object_put(object, dose->attribute->tag, "FD", &number, sizeof number);
  else
    object_text(object, dose->attribute->tag, demur_vr_name(dose->attribute->vr), text);
}

static void
test_a_dose_that_follows_the_body_keeps_two_apart(void) {
  static const guint32 doses[] = {
      DEMUR_TAG(0x0018, 0x1151), DEMUR_TAG(0x0018, 0x9330), DEMUR_TAG(0x0018, 0x8151),
      DEMUR_TAG(0x0018, 0x1152), DEMUR_TAG(0x0018, 0x9332), DEMUR_TAG(0x0018, 0x1153),
      DEMUR_TAG(0x0018, 0x1150), DEMUR_TAG(0x0018, 0x9328), DEMUR_TAG(0x0018, 0x8150),
      DEMUR_TAG(0x0018, 0x9345), DEMUR_TAG(0x0018, 0x1170)};
  for (size_t i = 0; i < G_N_ELEMENTS(doses); i++) {
    const int found = demur_slice_attribute_find(doses[i]);
    g_assert_cmpint(found, >=, 0);
    Dose dose = {demur_slice_attribute((size_t)found), 0.2};
    g_test_message("%s", dose.attribute->keyword);
    g_autoptr(DemurImport) two = import_two(NUMBERS_FOLLOW, LIE_BETWEEN, change_dose, &dose);
    g_assert_false(accepts_both(two));
    dose.more = 0;
    g_autoptr(DemurImport) one = import_two(NUMBERS_FOLLOW, LIE_ABOVE, change_dose, &dose);
    g_assert_cmpstr(fixture_reason(fixture_series(one, 0)), ==, NULL);
  }
}

/* How often numbers of one scan are taken for two, and two for two: bodies are sums of two waves of up
 * to six periods in a scan. */
static double
share_in_turns(guint n, double wave, double noise, double more) {
  enum { N_DRAWS = 1000, MOST = 64 };
  guint n_found = 0;
  for (guint draw = 0; draw < N_DRAWS; draw++) {
    DemurRandom random = demur_random_stream(2, DEMUR_STREAM_TEST, draw, n, 0);
    const double periods = 0.5 + 2.5 * demur_random_uniform(&random);
    const double first = 2 * G_PI * demur_random_uniform(&random);
    const double second = 2 * G_PI * demur_random_uniform(&random);
    double values[MOST];
    for (guint i = 0; i < n; i++) {
      const double at = 2 * G_PI * periods * i / n;
      values[i] = round(150 * (1 + wave * (sin(first + at) + sin(second + 2 * at) / 2)) *
                        (1 + noise * demur_random_normal(&random)) * (i % 2 == 1 ? 1 + more : 1));
    }
    n_found += demur_dose_takes_turns(values, n) ? 1 : 0;
  }
  return (double)n_found / N_DRAWS;
}

static void
test_one_dose_is_seldom_taken_for_two(void) {
  static const guint n_slices[] = {10, 12, 18, 36, 64};
  for (size_t i = 0; i < G_N_ELEMENTS(n_slices); i++) {
    const double smooth = share_in_turns(n_slices[i], 0.3, 0.02, 0);
    const double rough = share_in_turns(n_slices[i], 0.5, 0.05, 0);
    const double two = share_in_turns(n_slices[i], 0.3, 0.01, 0.1);
    g_test_message("%u slices: %.4f and %.4f of one, %.3f of two", n_slices[i], smooth, rough, two);
    g_assert_cmpfloat(smooth, <=, 0.001);
    g_assert_cmpfloat(rough, <=, 0.005);
    g_assert_cmpfloat(two, >=, n_slices[i] >= 36 ? 0.95 : 0);
  }
}

/* Two breath holds with an AcquisitionNumber each are two acquisitions, as ever. */
static void
change_breath(GArray *object, int phase, int k, gconstpointer data) {
  object_text(object, DEMUR_TAG(0x0020, 0x0012), "IS", phase == 0 ? "1" : "2");
}

static void
test_two_breath_holds_are_two(void) {
  g_autoptr(DemurImport) import = import_two(NUMBERS_FOLLOW, LIE_ABOVE, change_breath, NULL);
  const DemurSeries *series = fixture_series(import, 0);
  g_assert_true(demur_series_found(series, "several-acquisitions"));
  g_assert_false(demur_series_found(series, "two-stacks"));
}

/* A sequence without a length is compared by what is in it. */
static void
change_open_sequence(GArray *object, int phase, int k, gconstpointer data) {
  const char *value = data != NULL ? "the same" : phase == 0 ? "one" : "two";
  put(object, DEMUR_TAG(0x0040, 0x0275), "SQ", value);
  ObjectElement *element = &g_array_index(object, ObjectElement, object->len - 1);
  const guint8 end[8] = {0xFE, 0xFF, 0xDD, 0xE0, 0, 0, 0, 0};
  g_byte_array_append(element->bytes, end, sizeof end);
  element->is_open = TRUE;
}

static void
test_a_sequence_without_length_is_compared(void) {
  g_autoptr(DemurImport) import =
      import_two(NUMBERS_FOLLOW, LIE_BETWEEN, change_open_sequence, NULL);
  g_assert_true(demur_series_found(fixture_series(import, 0), "two-stacks"));
  g_autoptr(DemurImport) same =
      import_two(NUMBERS_FOLLOW, LIE_BETWEEN, change_open_sequence, "the same");
  g_assert_cmpstr(fixture_reason(fixture_series(same, 0)), ==, NULL);
}

/* One acquisition, of which an archive has written the second half anew: as it is told by each
 * writing, with other lengths, and with texts that are filled up otherwise. */
static void
change_as_archives_do(GArray *object, int phase, int k, gconstpointer data) {
  const gboolean anew = phase == 1;
  const guint16 number = GUINT16_TO_LE(5);
  object_text(object, DEMUR_TAG(0x0019, 0x0010), "LO", anew ? "INVENTED" : "INVENTED  ");
  object_text(object, DEMUR_TAG(0x0019, 0x1077), "LO", anew ? "odd" : "odd ");
  object_put(object, DEMUR_TAG(0x0019, 0x1078), "US", &number, sizeof number);
  object_text(object, DEMUR_TAG(0x0008, 0x1030), "LO", "CHEST");
  change_open_sequence(object, phase, k, "the same");
  ObjectElement *element = &g_array_index(object, ObjectElement, object->len - 1);
  element->is_open = !anew;
  if (anew)
    g_byte_array_set_size(element->bytes, element->bytes->len - 8);
}

static void
test_half_that_was_written_anew_is_one(void) {
  for (int layout = LIE_BETWEEN; layout <= LIE_ABOVE; layout++)
    for (int implicit = 0; implicit < 2; implicit++) {
      g_autofree char *folder = fixture_folder();
      for (int phase = 0; phase < 2; phase++)
        for (int k = 0; k < N_POSITIONS; k++) {
          g_autoptr(GArray) object = object_slice(phase, k, place_of((Layout)layout, phase, k),
                                                  number_of(NUMBERS_FOLLOW, phase, k));
          g_autofree char *name = g_strdup_printf("%d-%d.dcm", phase, k);
          change_as_archives_do(object, phase, k, NULL);
          object_is_implicit = implicit == 1 && phase == 1;
          object_save(object, folder, name);
          object_is_implicit = FALSE;
        }
      g_autoptr(DemurImport) import = fixture_import_folder(folder);
      fixture_remove(folder);
      g_assert_cmpstr(fixture_reason(fixture_series(import, 0)), ==, NULL);
    }
}

static void
test_every_free_element_has_a_reason(void) {
  for (size_t i = 0; i < demur_free_elements_n(); i++)
    g_assert_cmpuint(strlen(demur_free_element_reason(i)), >, 10);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_dicom_init(&error));
  g_test_add_func("/dicom/two-stacks/every-element", test_every_element_keeps_two_apart);
  g_test_add_func("/dicom/two-stacks/rescaling", test_rescaling_may_take_turns);
  g_test_add_func("/dicom/two-stacks/three", test_three_are_more_than_one);
  g_test_add_func("/dicom/two-stacks/habits", test_what_scanners_do_is_accepted);
  g_test_add_func("/dicom/two-stacks/dose", test_a_dose_that_follows_the_body_keeps_two_apart);
  g_test_add_func("/dicom/two-stacks/one-dose", test_one_dose_is_seldom_taken_for_two);
  g_test_add_func("/dicom/two-stacks/breath-holds", test_two_breath_holds_are_two);
  g_test_add_func("/dicom/two-stacks/open-sequence", test_a_sequence_without_length_is_compared);
  g_test_add_func("/dicom/two-stacks/written-anew", test_half_that_was_written_anew_is_one);
  g_test_add_func("/dicom/two-stacks/reasons", test_every_free_element_has_a_reason);
  return g_test_run();
}
