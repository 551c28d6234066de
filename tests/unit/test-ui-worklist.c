/* The worklist's model without a display. Right values: worked by hand. */
#include "ui/scan-list.h"

#include <math.h>
#include <string.h>

/* A table of n scans with nothing set. */
static DemurScanTable *
table_new(size_t n) {
  DemurScanTable *table = g_new0(DemurScanTable, 1);
  table->ref_count = 1;
  table->texts = g_string_chunk_new(64);
  table->blocks = g_ptr_array_new_with_free_func(g_free);
  table->index = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  table->n_scans = n;
  table->scans = g_new0(DemurScan, n);
  table->reviews = g_new0(DemurScanReview, n);
  for (size_t i = 0; i < n; i++) {
    DemurScan *scan = &table->scans[i];
    scan->scan_id = scan->patient_id = scan->patient_name = scan->sex = scan->date = "";
    scan->site = scan->manufacturer = scan->model_name = scan->kernel = scan->scanner = "";
    scan->study_uid = scan->key = "";
    scan->chosen = TRUE;
    scan->risk = scan->withheld_risk = NAN;
  }
  return table;
}

static void
assert_rows(DemurScanList *list, const char *expected) {
  g_autoptr(GString) rows = g_string_new(NULL);
  for (guint i = 0; i < g_list_model_get_n_items(G_LIST_MODEL(list)); i++)
    g_string_append_printf(rows, "%u ", demur_scan_list_row_at(list, i));
  g_assert_cmpstr(rows->str, ==, expected);
}

static void
filters_meet_and_chips_count_what_the_others_let_through(void) {
  g_autoptr(DemurScanTable) table = table_new(4);
  static const DemurShown shown[] = {DEMUR_SHOWN_ACCEPTED, DEMUR_SHOWN_RED_FLAG,
                                     DEMUR_SHOWN_ACCEPTED, DEMUR_SHOWN_NO_SCORE};
  static const char *const keys[] = {"p1\nnorth ge", "p2\nnorth siemens", "p3\nsouth ge",
                                     "p4\nsouth ge"};
  for (size_t i = 0; i < 4; i++) {
    table->scans[i].shown = shown[i];
    table->scans[i].key = keys[i];
    table->scans[i].site = i < 2 ? "north" : "south";
  }
  table->reviews[0].n_reviews = 1;
  g_autoptr(DemurScanList) list = demur_scan_list_new();
  demur_scan_list_set_table(list, table);
  assert_rows(list, "0 1 2 3 ");
  /* Every word must be found, in any order and case. */
  demur_scan_list_set_filter(list, &(DemurScanFilter){.shown = DEMUR_SHOW_ALL, .text = "GE South"});
  assert_rows(list, "2 3 ");
  demur_scan_list_set_filter(list,
                             &(DemurScanFilter){.shown = DEMUR_SHOWN_ACCEPTED, .site = "north"});
  assert_rows(list, "0 ");
  guint counts[DEMUR_N_SHOWN + 2];
  demur_scan_list_counts(list, counts);
  g_assert_cmpuint(counts[DEMUR_SHOWN_ACCEPTED], ==, 1);
  g_assert_cmpuint(counts[DEMUR_SHOWN_RED_FLAG], ==, 1);
  g_assert_cmpuint(counts[DEMUR_N_SHOWN], ==, 1);     /* not reviewed */
  g_assert_cmpuint(counts[DEMUR_N_SHOWN + 1], ==, 2); /* all at north */
  demur_scan_list_set_filter(list, &(DemurScanFilter){.shown = DEMUR_SHOW_NOT_REVIEWED});
  assert_rows(list, "1 2 3 ");
  g_assert_cmpint(demur_scan_list_position_of(list, 0), ==, -1);
  g_assert_cmpint(demur_scan_list_position_of(list, 2), ==, 1);
}

/* Sorting by risk must not tell the order of risks that are held back: they stand in the order of
 * their rows, whatever they are. */
static void
held_back_risks_have_no_order(void) {
  static const double withheld[2][3] = {{0.9, 0.1, 0.5}, {0.1, 0.5, 0.9}};
  for (size_t kind = 0; kind < 2; kind++)
    for (int descending = 0; descending < 2; descending++) {
      g_autoptr(DemurScanTable) table = table_new(5);
      for (size_t i = 0; i < 3; i++) {
        table->scans[i].shown = DEMUR_SHOWN_RED_FLAG;
        table->scans[i].withheld_risk = withheld[kind][i];
      }
      table->scans[3].risk = 0.3;
      table->scans[4].risk = 0.2;
      g_autoptr(DemurScanList) list = demur_scan_list_new();
      demur_scan_list_set_table(list, table);
      demur_scan_list_set_sort(list, DEMUR_SORT_RISK, descending == 1);
      assert_rows(list, descending == 1 ? "0 1 2 3 4 " : "4 3 0 1 2 ");
    }
}

static void
a_held_back_risk_is_in_no_text(void) {
  const char *reasons[] = {
      "predicted risk is 0.184, above the median of accepted training scans (median 0.0264, 98 % "
      "of "
      "them from 0.003 to 0.295); at the median the score would be 0.4 in place of 0.2",
      "entropy of the prediction is 0.47, above the median of accepted training scans (median 0.1)",
      "isolation forest score is -0.457, below the median of accepted training scans (median -0.4)",
      "kernel B70f was in 0.2 % of the training scans"};
  DemurScan scan = {.shown = DEMUR_SHOWN_RED_FLAG,
                    .risk = NAN,
                    .withheld_risk = 0.184,
                    .reasons = reasons,
                    .n_reasons = G_N_ELEMENTS(reasons)};
  g_autofree char *risk = demur_scan_risk_text(&scan);
  g_assert_null(strstr(risk, "18"));
  g_autofree char *first = demur_scan_reason(&scan, 0, FALSE);
  g_assert_cmpstr(first, ==, "predicted risk lies above the median of accepted training scans");
  g_autofree char *second = demur_scan_reason(&scan, 1, FALSE);
  g_assert_cmpstr(second, ==,
                  "entropy of the prediction lies above the median of accepted training scans");
  /* What says nothing of the risk stays whole; and everything does once it was revealed. */
  for (size_t i = 2; i < 4; i++) {
    g_autofree char *whole = demur_scan_reason(&scan, i, FALSE);
    g_assert_cmpstr(whole, ==, reasons[i]);
  }
  g_autofree char *revealed = demur_scan_reason(&scan, 0, TRUE);
  g_assert_cmpstr(revealed, ==, reasons[0]);
  g_assert_cmpfloat(demur_scan_revealed_risk(&scan), ==, 0.184);
}

/* The same ID with another name is another patient. */
static void
earlier_scans_are_never_joined_on_the_id_alone(void) {
  g_autoptr(DemurScanTable) table = table_new(5);
  static const struct {
    const char *id, *name, *date;
  } rows[] = {{"7", "A", "2020-01-01"},
              {"7", "A", "2022-01-01"},
              {"7", "B", "2021-01-01"},
              {"007", "A", "2021-01-01"},
              {"", "", "2021-01-01"}};
  for (size_t i = 0; i < 5; i++) {
    table->scans[i].patient_id = rows[i].id;
    table->scans[i].patient_name = rows[i].name;
    table->scans[i].date = rows[i].date;
  }
  demur_scan_table_link(table);
  size_t n;
  g_autofree guint32 *of_first = demur_scan_table_of_patient(table, 0, &n);
  g_assert_cmpuint(n, ==, 2);
  g_assert_cmpuint(of_first[0], ==, 1); /* newest first */
  g_assert_cmpuint(of_first[1], ==, 0);
  g_autofree guint32 *nameless = demur_scan_table_of_patient(table, 4, &n);
  g_assert_cmpuint(n, ==, 1);
  g_assert_cmpuint(nameless[0], ==, 4);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/ui/worklist/filters-meet-and-chips-count-what-the-others-let-through",
                  filters_meet_and_chips_count_what_the_others_let_through);
  g_test_add_func("/ui/worklist/held-back-risks-have-no-order", held_back_risks_have_no_order);
  g_test_add_func("/ui/worklist/a-held-back-risk-is-in-no-text", a_held_back_risk_is_in_no_text);
  g_test_add_func("/ui/worklist/earlier-scans-are-never-joined-on-the-id-alone",
                  earlier_scans_are_never_joined_on_the_id_alone);
  return g_test_run();
}
