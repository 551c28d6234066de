/* Two phases in enhanced multi-frame objects: in one object, where a functional group or what was
 * taken over unassigned tells them apart; and in two objects of one series. No volume that is
 * accepted holds frames of both. Groups are those of PS3.3 C.7.6.16 and C.8.15.3. */
#include "multiframe-fixture.h"

typedef struct {
  guint32 tag, group;
} Place;

/* Where the standard puts an attribute of a frame. */
static const Place places[] = {
    {DEMUR_TAG(0x0020, 0x9156), DEMUR_TAG(0x0020, 0x9111)}, /* frame content */
    {DEMUR_TAG(0x0020, 0x9128), DEMUR_TAG(0x0020, 0x9111)},
    {DEMUR_TAG(0x0018, 0x9236), DEMUR_TAG(0x0020, 0x9111)},
    {DEMUR_TAG(0x0018, 0x9214), DEMUR_TAG(0x0020, 0x9111)},
    {DEMUR_TAG(0x0018, 0x9074), DEMUR_TAG(0x0020, 0x9111)},
    {DEMUR_TAG(0x0018, 0x9151), DEMUR_TAG(0x0020, 0x9111)},
    {DEMUR_TAG(0x0008, 0x3010), DEMUR_TAG(0x0018, 0x9477)}, /* irradiation event */
    {DEMUR_TAG(0x0020, 0x930D), DEMUR_TAG(0x0020, 0x9310)}, /* temporal position */
    {DEMUR_TAG(0x0020, 0x9241), DEMUR_TAG(0x0018, 0x9118)}, /* cardiac synchronization */
    {DEMUR_TAG(0x0020, 0x9153), DEMUR_TAG(0x0018, 0x9118)},
    {DEMUR_TAG(0x0020, 0x9245), DEMUR_TAG(0x0020, 0x9253)}, /* respiratory synchronization */
    {DEMUR_TAG(0x0020, 0x9255), DEMUR_TAG(0x0020, 0x9253)},
    {DEMUR_TAG(0x0018, 0x9342), DEMUR_TAG(0x0018, 0x9341)}, /* contrast usage */
    {DEMUR_TAG(0x0018, 0x9344), DEMUR_TAG(0x0018, 0x9341)},
    {DEMUR_TAG(0x0018, 0x0060), DEMUR_TAG(0x0018, 0x9325)}, /* X-ray details */
    {DEMUR_TAG(0x0018, 0x9353), DEMUR_TAG(0x0018, 0x9325)},
    {DEMUR_TAG(0x0018, 0x1160), DEMUR_TAG(0x0018, 0x9325)},
    {DEMUR_TAG(0x0018, 0x7050), DEMUR_TAG(0x0018, 0x9325)},
    {DEMUR_TAG(0x0018, 0x1190), DEMUR_TAG(0x0018, 0x9325)},
    {DEMUR_TAG(0x0028, 0x1054), DEMUR_TAG(0x0028, 0x9145)}, /* pixel value transformation */
    {DEMUR_TAG(0x0008, 0x9007), DEMUR_TAG(0x0018, 0x9329)}, /* image frame type */
    {DEMUR_TAG(0x0018, 0x1210), DEMUR_TAG(0x0018, 0x9314)}, /* reconstruction */
    {DEMUR_TAG(0x0018, 0x9316), DEMUR_TAG(0x0018, 0x9314)},
    {DEMUR_TAG(0x0018, 0x9315), DEMUR_TAG(0x0018, 0x9314)},
    {DEMUR_TAG(0x0018, 0x9320), DEMUR_TAG(0x0018, 0x9314)},
    {DEMUR_TAG(0x0018, 0x1100), DEMUR_TAG(0x0018, 0x9314)},
    {DEMUR_TAG(0x0018, 0x0050), DEMUR_TAG(0x0028, 0x9110)}, /* pixel measures */
    {DEMUR_TAG(0x0018, 0x0088), DEMUR_TAG(0x0028, 0x9110)},
    {DEMUR_TAG(0x0018, 0x0090), DEMUR_TAG(0x0018, 0x9304)}, /* acquisition details */
    {DEMUR_TAG(0x0018, 0x1120), DEMUR_TAG(0x0018, 0x9304)},
    {DEMUR_TAG(0x0018, 0x1140), DEMUR_TAG(0x0018, 0x9304)},
    {DEMUR_TAG(0x0018, 0x1130), DEMUR_TAG(0x0018, 0x9304)},
    {DEMUR_TAG(0x0018, 0x9305), DEMUR_TAG(0x0018, 0x9304)},
    {DEMUR_TAG(0x0018, 0x9306), DEMUR_TAG(0x0018, 0x9304)},
    {DEMUR_TAG(0x0018, 0x9307), DEMUR_TAG(0x0018, 0x9304)},
    {DEMUR_TAG(0x0018, 0x9302), DEMUR_TAG(0x0018, 0x9301)}, /* acquisition type */
    {DEMUR_TAG(0x0018, 0x9309), DEMUR_TAG(0x0018, 0x9308)}, /* table dynamics */
    {DEMUR_TAG(0x0018, 0x9310), DEMUR_TAG(0x0018, 0x9308)},
    {DEMUR_TAG(0x0018, 0x9311), DEMUR_TAG(0x0018, 0x9308)},
    {DEMUR_TAG(0x0018, 0x9323), DEMUR_TAG(0x0018, 0x9321)}, /* exposure */
    {DEMUR_TAG(0x0018, 0x9328), DEMUR_TAG(0x0018, 0x9321)},
    {DEMUR_TAG(0x0018, 0x9330), DEMUR_TAG(0x0018, 0x9321)},
    {DEMUR_TAG(0x0018, 0x9332), DEMUR_TAG(0x0018, 0x9321)},
    {DEMUR_TAG(0x0018, 0x9345), DEMUR_TAG(0x0018, 0x9321)},
    {DEMUR_TAG(0x0028, 0x1050), DEMUR_TAG(0x0028, 0x9132)}, /* frame VOI LUT */
    {DEMUR_TAG(0x0028, 0x1051), DEMUR_TAG(0x0028, 0x9132)},
    {DEMUR_TAG(0x0018, 0x937C), DEMUR_TAG(0x0018, 0x9363)}, /* multi-energy processing */
};

static guint32
standard_group(guint32 tag) {
  for (size_t i = 0; i < G_N_ELEMENTS(places); i++)
    if (places[i].tag == tag)
      return places[i].group;
  return 0;
}

/* What one object has one of: it can't differ between its frames. */
static gboolean
is_of_the_object(guint32 tag) {
  return tag == DEMUR_TAG(0x0020, 0x000D) || tag == DEMUR_TAG(0x0020, 0x0052) ||
         tag == DEMUR_TAG(0x0028, 0x0004);
}

static guint
frames_of(Numbering numbering, Layout layout, MultiframeFrame frames[2 * N_POSITIONS]) {
  guint n = 0;
  for (int place = 0; place < 2 * N_POSITIONS; place++) {
    const int phase = numbering == NUMBERS_FOLLOW ? place / N_POSITIONS : place % 2;
    const int k = numbering == NUMBERS_FOLLOW ? place % N_POSITIONS : place / 2;
    if (layout == LIE_HALF_COVERED && phase == 1 && k >= 6)
      continue;
    frames[n++] =
        (MultiframeFrame){phase, k, place_of(layout, phase, k), number_of(numbering, phase, k)};
  }
  return n;
}

/* Whether an accepted volume holds frames of both phases. phases: of each frame of object o. */
static gboolean
has_mixed(const DemurImport *import, const MultiframeFrame *const *frames) {
  for (guint i = 0; i < import->series->len; i++) {
    const DemurSeries *series = fixture_series(import, i);
    gboolean has[2] = {FALSE, FALSE};
    for (size_t s = 0; s < series->n_slices; s++) {
      const DemurSlice *slice = &series->slices[s];
      const int object = slice->sop_instance_uid[strlen("1.2.9.7.")] - '0';
      has[frames[object][slice->frame].phase] = TRUE;
    }
    if (series->eligible && has[0] && has[1])
      return TRUE;
  }
  return FALSE;
}

/* Both phases in one object, the attribute of each frame in a group (0: no attribute). */
static gboolean
one_object_is_mixed(Numbering numbering, Layout layout, const DemurSliceAttribute *attribute,
                    guint32 group, guint *n_series, guint *n_eligible) {
  MultiframeFrame frames[2 * N_POSITIONS];
  MultiframeMore more[2 * N_POSITIONS] = {{0, NULL}};
  const guint n = frames_of(numbering, layout, frames);
  for (guint f = 0; f < n; f++) {
    more[f] = (MultiframeMore){group, object_new()};
    if (attribute != NULL)
      put_value(more[f].values, attribute, frames[f].phase, frames[f].k);
  }
  g_autofree char *folder = fixture_folder();
  g_autoptr(GArray) object = multiframe_object(frames, more, n, 0);
  object_save(object, folder, "1.dcm");
  for (guint f = 0; f < n; f++)
    g_array_unref(more[f].values);
  g_autoptr(DemurImport) import = fixture_import_folder(folder);
  fixture_remove(folder);
  *n_series = import->series->len;
  *n_eligible = 0;
  for (guint i = 0; i < import->series->len; i++)
    *n_eligible += fixture_series(import, i)->eligible ? 1 : 0;
  const MultiframeFrame *const all[] = {frames};
  return has_mixed(import, all);
}

static gboolean
is_left_out(const DemurSliceAttribute *attribute, size_t a, int numbering, int layout) {
  return (layout != LIE_SAME && (size_t)numbering != a % N_NUMBERINGS) ||
         (layout == LIE_ABOVE && attribute->role == DEMUR_SLICE_ATTRIBUTE_FREE);
}

static void
try_one_object(gboolean standard) {
  guint n_cases = 0;
  for (size_t a = 0; a < demur_slice_attributes_n(); a++)
    for (int numbering = 0; numbering < N_NUMBERINGS; numbering++)
      for (int layout = 0; layout < N_LAYOUTS; layout++) {
        const DemurSliceAttribute *attribute = demur_slice_attribute(a);
        const guint32 group = standard ? standard_group(attribute->tag) : MULTIFRAME_UNASSIGNED;
        if (group == 0 || is_of_the_object(attribute->tag) ||
            is_left_out(attribute, a, numbering, layout))
          continue;
        g_test_message("%s, numbering %d, layout %d", attribute->keyword, numbering, layout);
        guint n_series, n_eligible;
        if (one_object_is_mixed((Numbering)numbering, (Layout)layout, attribute, group, &n_series,
                                &n_eligible))
          g_error("%s, numbering %d, layout %d: mixed", attribute->keyword, numbering, layout);
        if (layout == LIE_SAME)
          g_assert_cmpuint(n_series, ==, 2);
        n_cases++;
      }
  g_assert_cmpuint(n_cases, >, 200);
}

static void
test_every_attribute_in_its_group(void) {
  try_one_object(TRUE);
}

static void
test_every_attribute_that_was_taken_over(void) {
  try_one_object(FALSE);
}

/* Where no element says what it is, sequences among them. */
static void
test_implicit_objects(void) {
  object_is_implicit = TRUE;
  try_one_object(TRUE);
  try_one_object(FALSE);
  object_is_implicit = FALSE;
}

/* The control: frames of one phase are one volume that is accepted, where nothing but the order of
 * frames varies; two at each position that nothing separates are none. */
static void
test_one_phase_is_accepted(void) {
  for (int numbering = 0; numbering < N_NUMBERINGS; numbering++) {
    guint n_series, n_eligible;
    (void)one_object_is_mixed((Numbering)numbering, LIE_ABOVE, NULL, 0, &n_series, &n_eligible);
    g_assert_cmpuint(n_series, ==, 1);
    g_assert_cmpuint(n_eligible, ==, 1);
    (void)one_object_is_mixed((Numbering)numbering, LIE_SAME, NULL, 0, &n_series, &n_eligible);
    g_assert_cmpuint(n_eligible, ==, 0);
  }
}

/* Two objects of a series, a phase each: the attribute stands in its group, or in the object itself
 * where the standard has none for it. */
static void
test_two_objects_of_a_series(void) {
  guint n_cases = 0;
  for (size_t a = 0; a < demur_slice_attributes_n(); a++)
    for (int numbering = 0; numbering < N_NUMBERINGS; numbering++)
      for (int layout = 0; layout < N_LAYOUTS; layout++) {
        const DemurSliceAttribute *attribute = demur_slice_attribute(a);
        if (is_left_out(attribute, a, numbering, layout))
          continue;
        g_autofree char *folder = fixture_folder();
        MultiframeFrame frames[2][N_POSITIONS];
        const guint32 group = standard_group(attribute->tag);
        for (int phase = 0; phase < 2; phase++) {
          MultiframeMore more[N_POSITIONS];
          const int n = layout == LIE_HALF_COVERED && phase == 1 ? 6 : N_POSITIONS;
          for (int k = 0; k < n; k++) {
            frames[phase][k] = (MultiframeFrame){phase, k, place_of((Layout)layout, phase, k),
                                                 number_of((Numbering)numbering, phase, k)};
            more[k] = (MultiframeMore){group, object_new()};
            put_value(more[k].values, attribute, phase, k);
          }
          g_autoptr(GArray) object = multiframe_object(frames[phase], more, (guint)n, (guint)phase);
          for (int k = 0; k < n; k++)
            g_array_unref(more[k].values);
          if (group == 0)
            put_value(object, attribute, phase, 0);
          g_autofree char *instance =
              g_strdup_printf("%d", number_of((Numbering)numbering, phase, 0));
          object_text(object, DEMUR_TAG(0x0020, 0x0013), "IS", instance);
          object_save(object, folder, phase == 0 ? "b.dcm" : "a.dcm");
        }
        g_autoptr(DemurImport) import = fixture_import_folder(folder);
        fixture_remove(folder);
        const MultiframeFrame *const all[] = {frames[0], frames[1]};
        if (has_mixed(import, all))
          g_error("%s, numbering %d, layout %d: mixed", attribute->keyword, numbering, layout);
        n_cases++;
      }
  g_assert_cmpuint(n_cases, >, 500);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_dicom_init(&error));
  g_test_add_func("/dicom/multiframe/one-phase", test_one_phase_is_accepted);
  g_test_add_func("/dicom/multiframe/groups", test_every_attribute_in_its_group);
  g_test_add_func("/dicom/multiframe/taken-over", test_every_attribute_that_was_taken_over);
  g_test_add_func("/dicom/multiframe/implicit", test_implicit_objects);
  g_test_add_func("/dicom/multiframe/two-objects", test_two_objects_of_a_series);
  return g_test_run();
}
