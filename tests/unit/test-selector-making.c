/* How a scan was made beside the training scans. Right values: by hand on made tables of 4,000
 * scans; an attribute whose rare values follow the risk among the scans of low scores is kept back
 * by the same guess that keeps reasons back, one that does not is told. */
#include <math.h>

#include "base/error.h"
#include "base/random.h"
#include "selector/making.h"
#include "support/support.h"

#define N 4000

typedef struct {
  DemurAcquisitionScan scans[N];
  float risks[N], scores[N];
} Table;

/* Thickness 1 to 2 mm and rarely 5, at random; a kernel that is rarely "X", where follows: of scans
 * with a high risk only. Scores are at random. */
static Table *
draw(gboolean follows) {
  Table *table = g_new0(Table, 1);
  DemurRandom random = demur_random_stream(7, DEMUR_STREAM_TEST, 0, 0, 0);
  for (size_t i = 0; i < N; i++) {
    DemurAcquisitionScan *scan = &table->scans[i];
    for (size_t k = 0; k < DEMUR_N_ACQUISITION_NUMBERS; k++)
      scan->numbers[k] = NAN;
    table->risks[i] = (float)(0.02 + 0.9 * demur_random_uniform(&random));
    table->scores[i] = (float)demur_random_uniform(&random);
    scan->numbers[DEMUR_ACQUISITION_THICKNESS] =
        demur_random_uniform(&random) < 0.008 ? 5.0 : 1.0 + demur_random_uniform(&random);
    const gboolean rare = follows ? table->risks[i] > 0.85f : demur_random_uniform(&random) < 0.08;
    /* Twelve names of the rare kernel, so that each is in fewer than 1 % of the scans. */
    static const char *const names[] = {"X0", "X1", "X2", "X3", "X4",  "X5",
                                        "X6", "X7", "X8", "X9", "X10", "X11"};
    scan->texts[0] = rare ? names[i % 12] : i % 3 == 0 ? "B30f" : "B60f";
  }
  return table;
}

static GPtrArray *
tell(const DemurMaking *making, double thickness, const char *kernel) {
  DemurAcquisitionScan scan = {.texts = {kernel, NULL, NULL}};
  for (size_t k = 0; k < DEMUR_N_ACQUISITION_NUMBERS; k++)
    scan.numbers[k] = NAN;
  scan.numbers[DEMUR_ACQUISITION_THICKNESS] = thickness;
  GPtrArray *reasons = demur_reasons_new();
  demur_making_tell(making, &scan, reasons);
  return reasons;
}

static void
assert_told(const DemurMaking *making, double thickness, const char *kernel, const char *expected) {
  g_autoptr(GPtrArray) reasons = tell(making, thickness, kernel);
  g_autoptr(GString) told = g_string_new(NULL);
  for (guint i = 0; i < reasons->len; i++) {
    const DemurReason *reason = reasons->pdata[i];
    g_assert_false(reason->tells_risk);
    g_string_append_printf(told, "%s%s %s", i > 0 ? "; " : "", demur_reason_kind_name(reason->kind),
                           reason->kind == DEMUR_REASON_MADE ? reason->subject : reason->text);
    if (reason->place != DEMUR_PLACE_UNKNOWN)
      g_string_append_printf(told, " %s", demur_reason_place_name(reason->place));
  }
  g_assert_cmpstr(told->str, ==, expected);
}

static void
what_is_outside_is_told_and_what_is_within(void) {
  g_autofree Table *table = draw(FALSE);
  g_autoptr(DemurMaking) making = demur_making_fit(table->scans, table->risks, table->scores, N);
  g_assert_nonnull(making);
  assert_told(making, 1.5, "B30f", "made_within slice_thickness_mm,kernel");
  assert_told(making, 9.0, "B30f", "made slice_thickness_mm above_p99; made_within kernel");
  assert_told(making, 0.2, "B30f", "made slice_thickness_mm below_p1; made_within kernel");
  assert_told(making, 1.5, "X3", "made kernel; made_within slice_thickness_mm");
  assert_told(making, 1.5, "never seen", "made kernel; made_within slice_thickness_mm");
  assert_told(making, NAN, NULL, "made slice_thickness_mm; made kernel");
}

static void
what_follows_the_risk_is_not_told(void) {
  g_autofree Table *table = draw(TRUE);
  g_autoptr(DemurMaking) making = demur_making_fit(table->scans, table->risks, table->scores, N);
  g_assert_nonnull(making);
  assert_told(making, 1.5, "B30f", "made_within slice_thickness_mm");
  assert_told(making, 9.0, "X3", "made slice_thickness_mm above_p99");
  assert_told(making, 1.5, "never seen", "made_within slice_thickness_mm");
}

static void
few_scans_and_equal_ones_tell_nothing(void) {
  g_autofree Table *table = draw(FALSE);
  g_assert_null(demur_making_fit(table->scans, table->risks, table->scores, 99));
  for (size_t i = 1; i < N; i++)
    table->scans[i] = table->scans[0];
  g_assert_null(demur_making_fit(table->scans, table->risks, table->scores, N));
}

static void
it_comes_back_from_its_document(void) {
  g_autofree Table *table = draw(TRUE);
  g_autoptr(DemurMaking) making = demur_making_fit(table->scans, table->risks, table->scores, N);
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_making_write_json(making, json);
  demur_json_end_object(json);
  g_autofree char *text = demur_json_finish(json);
  g_autoptr(JsonNode) root = json_from_string(text, NULL);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurMaking) back = demur_making_read_json(json_node_get_object(root), &error);
  g_assert_no_error(error);
  assert_told(back, 9.0, "X3", "made slice_thickness_mm above_p99");
  JsonArray *told = json_object_get_array_member(json_node_get_object(root), "told");
  json_array_add_string_element(told, "nonsense");
  g_autoptr(DemurMaking) none = demur_making_read_json(json_node_get_object(root), &error);
  g_assert_null(none);
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/selector/making/outside-and-within",
                  what_is_outside_is_told_and_what_is_within);
  g_test_add_func("/selector/making/what-follows-the-risk", what_follows_the_risk_is_not_told);
  g_test_add_func("/selector/making/few-and-equal", few_scans_and_equal_ones_tell_nothing);
  g_test_add_func("/selector/making/document", it_comes_back_from_its_document);
  return g_test_run();
}
