/* Meta features of how a scan was made: values worked by hand, and the round trip of the document.
 */
#include "features/acquisition.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/json-reader.h"
#include "support/support.h"

#define N 400

/* Scan i: thickness 1 mm for the even, 3 mm for the odd ones, not recorded for the first 100;
 * kvp 120 everywhere; GE with LUNG (sharp) for the first 200, else Siemens with B30f (soft), but
 * the last 3 scans (0.75 %) are of an unknown maker with kernel K9. */
static void
assert_same(double a, double b) {
  g_assert_true(a == b || (isnan(a) && isnan(b)));
}

static void
make(DemurAcquisitionScan *scans) {
  for (size_t i = 0; i < N; i++) {
    scans[i] = (DemurAcquisitionScan){.numbers = {i < 100      ? NAN
                                                  : i % 2 == 0 ? 1.0
                                                               : 3.0,
                                                  NAN, 120.0, 0.0, NAN},
                                      .texts = {i < 200 ? "LUNG" : "B30f\\3",
                                                i < 200 ? "GE MEDICAL SYSTEMS" : "SIEMENS",
                                                i < 200 ? "LightSpeed VCT" : " Thing 1 ", ""}};
    if (i >= N - 3) {
      scans[i].texts[0] = "K9";
      scans[i].texts[1] = "Acme";
    }
  }
}

static gssize
column(const DemurAcquisition *a, const char *name) {
  for (size_t c = 0; c < demur_acquisition_width(a); c++)
    if (strcmp(demur_acquisition_column_name(a, c), name) == 0)
      return (gssize)c;
  return -1;
}

static double
value_of(const DemurAcquisition *a, const DemurAcquisitionScan *scan, const char *name) {
  g_autofree double *values = g_new0(double, demur_acquisition_width(a));
  demur_acquisition_columns(a, scan, values);
  const gssize c = column(a, name);
  g_assert_cmpint(c, >=, 0);
  return values[c];
}

static void
columns_are_those_worked_by_hand(void) {
  DemurAcquisitionScan scans[N];
  make(scans);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurAcquisition) a = demur_acquisition_fit(scans, N, &error);
  g_assert_no_error(error);
  /* 300 known: 150 of 1 and 150 of 3, mean 2, sd 1. */
  g_assert_cmpfloat(value_of(a, &scans[100], "slice_thickness_mm"), ==, -1.0);
  g_assert_cmpfloat(value_of(a, &scans[101], "slice_thickness_mm"), ==, 1.0);
  g_assert_cmpfloat(value_of(a, &scans[101], "slice_thickness_mm_unknown"), ==, 0.0);
  g_assert_cmpfloat(value_of(a, &scans[0], "slice_thickness_mm"), ==, 0.0);
  g_assert_cmpfloat(value_of(a, &scans[0], "slice_thickness_mm_unknown"), ==, 1.0);
  /* Sharpness: 200 of 2, 197 of 0, 3 unknown: mean 400 / 397. */
  const double mean = 400.0 / 397.0;
  const double sd = sqrt((200 * (2 - mean) * (2 - mean) + 197 * mean * mean) / 397.0);
  demur_assert_close(value_of(a, &scans[0], "kernel_sharpness"), (2 - mean) / sd, 1e-12, 0.0);
  demur_assert_close(value_of(a, &scans[200], "kernel_sharpness"), -mean / sd, 1e-12, 0.0);
  g_assert_cmpfloat(value_of(a, &scans[N - 1], "kernel_sharpness_unknown"), ==, 1.0);
  /* Makers by their normal names; one under 1 % has no column, and is all zero. */
  g_assert_cmpfloat(value_of(a, &scans[0], "manufacturer=GE"), ==, 1.0);
  g_assert_cmpfloat(value_of(a, &scans[0], "manufacturer=Siemens"), ==, 0.0);
  g_assert_cmpfloat(value_of(a, &scans[200], "manufacturer=Siemens"), ==, 1.0);
  g_assert_cmpint(column(a, "manufacturer=Acme"), ==, -1);
  g_assert_cmpfloat(value_of(a, &scans[N - 1], "manufacturer=GE"), ==, 0.0);
  g_assert_cmpfloat(value_of(a, &scans[N - 1], "manufacturer=Siemens"), ==, 0.0);
  /* Families where they are known, the trimmed name where not. */
  g_assert_cmpfloat(value_of(a, &scans[0], "model_name=LightSpeed"), ==, 1.0);
  g_assert_cmpfloat(value_of(a, &scans[200], "model_name=Thing 1"), ==, 1.0);
  /* The same in every scan, or never recorded (0 is no field of view): no column. */
  static const char *const none[] = {
      "kvp", "kvp_unknown", "fov_mm", "fov_mm_unknown", "spacing_mm_unknown", "contrast=yes"};
  for (size_t i = 0; i < G_N_ELEMENTS(none); i++)
    g_assert_cmpint(column(a, none[i]), ==, -1);
  g_assert_cmpuint(demur_acquisition_width(a), ==, 8);
}

static void
words_give_the_training_scans_shares(void) {
  DemurAcquisitionScan scans[N];
  make(scans);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurAcquisition) a = demur_acquisition_fit(scans, N, &error);
  g_assert_no_error(error);
  DemurAcquisitionScan scan = {.numbers = {5.0, NAN, NAN, NAN, NAN},
                               .texts = {"K9", "Acme", "", "OMNIPAQUE"}};
  const struct {
    DemurAcquisitionSubject subject;
    gboolean recorded;
    double value, median, low, high;
    const char *text;
    double share;
  } right[] = {
      {DEMUR_ACQUISITION_THICKNESS, TRUE, 5, 2, 1, 3, NULL, NAN},
      {DEMUR_ACQUISITION_KVP, FALSE, NAN, 120, 120, 120, NULL, 0},
      {DEMUR_ACQUISITION_KERNEL, TRUE, NAN, NAN, NAN, NAN, "K9", 0.0075},
      {DEMUR_ACQUISITION_MANUFACTURER, TRUE, NAN, NAN, NAN, NAN, "Acme", 0.0075},
      {DEMUR_ACQUISITION_MODEL, FALSE, NAN, NAN, NAN, NAN, NULL, 0},
      {DEMUR_ACQUISITION_CONTRAST, TRUE, NAN, NAN, NAN, NAN, "yes", 0},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(right); i++) {
    DemurAcquisitionLook look;
    demur_acquisition_look(a, right[i].subject, &scan, &look);
    g_assert_cmpint(look.recorded, ==, right[i].recorded);
    assert_same(look.value, right[i].value);
    assert_same(look.share, right[i].share);
    if (right[i].subject == DEMUR_ACQUISITION_THICKNESS) {
      assert_same(look.median, right[i].median);
      assert_same(look.low, right[i].low);
      assert_same(look.high, right[i].high);
    }
    g_assert_cmpstr(look.text, ==, right[i].text);
    g_free(look.text);
  }
}

static char *
document_of(const DemurAcquisition *a) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_acquisition_write_json(a, json);
  demur_json_end_object(json);
  return demur_json_finish(json);
}

static DemurAcquisition *
read_document(const char *text, GError **error) {
  g_autoptr(JsonParser) parser = json_parser_new_immutable();
  if (!demur_json_load(parser, text, -1, error))
    return NULL;
  return demur_acquisition_read_json(json_node_get_object(json_parser_get_root(parser)), error);
}

static void
document_reads_back_and_a_changed_one_is_refused(void) {
  DemurAcquisitionScan scans[N];
  make(scans);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurAcquisition) a = demur_acquisition_fit(scans, N, &error);
  g_assert_no_error(error);
  g_autofree char *text = document_of(a);
  g_autoptr(DemurAcquisition) b = read_document(text, &error);
  g_assert_no_error(error);
  g_autofree char *again = document_of(b);
  g_assert_cmpstr(text, ==, again);
  const size_t width = demur_acquisition_width(a);
  g_assert_cmpuint(demur_acquisition_width(b), ==, width);
  for (size_t i = 0; i < N; i += 7) {
    double x[32], y[32];
    demur_acquisition_columns(a, &scans[i], x);
    demur_acquisition_columns(b, &scans[i], y);
    g_assert_true(memcmp(x, y, width * sizeof *x) == 0);
  }
  static const struct {
    const char *from, *to;
  } changes[] = {
      {"\"n_scans\": 400", "\"n_scans\": 0"},
      {"\"n_scans\": 400", "\"n_scans\": 40"},       /* fewer than the counts in it */
      {"\"sd\": 1", "\"sd\": -1"},                   /* no spread below 0 */
      {"\"name\": \"kvp\"", "\"name\": \"fov_mm\""}, /* not in their order */
      {"\"count\": 200", "\"count\": 401"},
      {"\"count\": 200", "\"count\": 1"}, /* not by falling count */
      {"\"median\": 2", "\"median\": 9"}, /* above the 99th percentile */
      {"\"numbers\"", "\"number\""},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(changes); i++) {
    g_auto(GStrv) parts = g_strsplit(text, changes[i].from, 2);
    g_assert_nonnull(parts[1]);
    g_autofree char *changed = g_strconcat(parts[0], changes[i].to, parts[1], NULL);
    g_assert_null(read_document(changed, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
    g_clear_error(&error);
  }
}

static void
scans_made_alike_are_refused(void) {
  DemurAcquisitionScan scans[3];
  for (size_t i = 0; i < 3; i++)
    scans[i] = (DemurAcquisitionScan){.numbers = {1.0, NAN, 120.0, 0.0, NAN},
                                      .texts = {NULL, "GE", "", "none"}};
  g_autoptr(GError) error = NULL;
  g_assert_null(demur_acquisition_fit(scans, 3, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/features/acquisition/columns", columns_are_those_worked_by_hand);
  g_test_add_func("/features/acquisition/words", words_give_the_training_scans_shares);
  g_test_add_func("/features/acquisition/document",
                  document_reads_back_and_a_changed_one_is_refused);
  g_test_add_func("/features/acquisition/alike", scans_made_alike_are_refused);
  return g_test_run();
}
