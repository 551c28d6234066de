/* The worklist's model without a display. Right values: worked by hand. */
#include "ui/scan-words.h"
#include "ui/scan-list.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "tasks/review.h"

/* A table of n scans with nothing set. */
static DemurScanTable *
table_new(size_t n) {
  DemurScanTable *table = demur_scan_table_new();
  table->n_scans = n;
  table->scans = demur_new_array(DemurScan, n);
  table->reviews = g_new0(DemurScanReview, n);
  for (size_t i = 0; i < n; i++) {
    DemurScan *scan = &table->scans[i];
    scan->scan_id = scan->patient_id = scan->patient_name = scan->sex = scan->date = "";
    scan->site = scan->manufacturer = scan->model_name = scan->kernel = scan->scanner = "";
    scan->study_uid = scan->description = scan->patient_name = "";
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
  static const char *const scanners[] = {"GE", "SIEMENS", "Ge", "GE"};
  for (size_t i = 0; i < 4; i++) {
    table->scans[i].shown = shown[i];
    table->scans[i].scanner = scanners[i];
    table->scans[i].site = i < 2 ? "north" : "south";
  }
  table->reviews[0].n_reviews = 1;
  g_autoptr(DemurScanList) list = demur_scan_list_new();
  demur_scan_list_set_table(list, table);
  assert_rows(list, "0 1 2 3 ");
  /* Every word must be found, in any order and case. */
  demur_scan_list_set_filter(list, &(DemurScanFilter){.shown = DEMUR_SHOW_ALL, .text = "GE South"});
  assert_rows(list, "2 3 ");
  demur_scan_list_set_filter(list, &(DemurScanFilter){.shown = DEMUR_SHOW_ALL, .text = "ge nort"});
  assert_rows(list, "0 ");
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

/* Right value: the states of selector/verdict.h. What a card offers is never what leaves it as it is:
 * an assessment where there is no selector, no threshold or no score. */
static void
each_state_offers_what_leads_on(void) {
  static const struct {
    DemurShown shown;
    DemurOutdated outdated;
    gboolean waits;
    DemurRemedy with, without; /* a selector */
  } rows[] = {
      {DEMUR_SHOWN_ACCEPTED, DEMUR_CURRENT, FALSE, DEMUR_REMEDY_NONE, DEMUR_REMEDY_NONE},
      {DEMUR_SHOWN_RED_FLAG, DEMUR_CURRENT, FALSE, DEMUR_REMEDY_NONE, DEMUR_REMEDY_NONE},
      {DEMUR_SHOWN_NOT_ELIGIBLE, DEMUR_CURRENT, FALSE, DEMUR_REMEDY_NONE, DEMUR_REMEDY_NONE},
      {DEMUR_SHOWN_NO_SCORE, DEMUR_CURRENT, FALSE, DEMUR_REMEDY_SCORE, DEMUR_REMEDY_SCORE},
      {DEMUR_SHOWN_NOT_TUNED, DEMUR_CURRENT, FALSE, DEMUR_REMEDY_TUNE, DEMUR_REMEDY_TUNE},
      {DEMUR_SHOWN_FAILED, DEMUR_CURRENT, FALSE, DEMUR_REMEDY_SCORE, DEMUR_REMEDY_SCORE},
      {DEMUR_SHOWN_NOT_ASSESSED, DEMUR_CURRENT, FALSE, DEMUR_REMEDY_ASSESS, DEMUR_REMEDY_TRAIN},
      {DEMUR_SHOWN_OUT_OF_DATE, DEMUR_OUTDATED_CONFLICT, FALSE, DEMUR_REMEDY_RESOLVE,
       DEMUR_REMEDY_RESOLVE},
      {DEMUR_SHOWN_NOT_ELIGIBLE, DEMUR_CURRENT, TRUE, DEMUR_REMEDY_RESOLVE, DEMUR_REMEDY_RESOLVE},
  };
  static char *const names[] = {"s", NULL}, *const none[] = {NULL};
  g_autoptr(DemurScanTable) table = table_new(1);
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    DemurScan *scan = &table->scans[0];
    scan->shown = rows[i].shown;
    scan->outdated = rows[i].outdated;
    scan->waits = rows[i].waits;
    table->selectors = (char **)names;
    g_assert_cmpint(demur_scan_remedy(table, scan), ==, rows[i].with);
    table->selectors = (char **)none;
    g_assert_cmpint(demur_scan_remedy(table, scan), ==, rows[i].without);
  }
  /* Whatever else ended a verdict, one key assesses again, where there is what to assess by. */
  table->scans[0].shown = DEMUR_SHOWN_OUT_OF_DATE;
  table->scans[0].waits = FALSE;
  for (guint c = 0; c < DEMUR_N_OUTDATED; c++) {
    if (1u << c == DEMUR_OUTDATED_CONFLICT || 1u << c == DEMUR_OUTDATED_MODEL)
      continue;
    table->scans[0].outdated = (DemurOutdated)(1u << c);
    table->selectors = (char **)names;
    g_assert_cmpint(demur_scan_remedy(table, table->scans), ==, DEMUR_REMEDY_ASSESS);
    table->selectors = (char **)none;
    g_assert_cmpint(demur_scan_remedy(table, table->scans), ==, DEMUR_REMEDY_TRAIN);
  }
  /* But a cohort under another model's name comes again first: by no selector it can be assessed. */
  table->scans[0].outdated = (DemurOutdated)(DEMUR_OUTDATED_COHORT | DEMUR_OUTDATED_MODEL);
  g_assert_cmpint(demur_scan_remedy(table, table->scans), ==, DEMUR_REMEDY_COHORT);
  table->selectors = NULL;
}

/* Right value: somebody can agree with what was decided, and with nothing else. */
static void
an_opinion_is_of_a_decision(void) {
  static const struct {
    DemurShown shown;
    gint64 verdict;
    DemurOutdated outdated;
    DemurReviewBar agree, comment;
  } rows[] = {
      {DEMUR_SHOWN_ACCEPTED, 1, DEMUR_CURRENT, DEMUR_REVIEW_POSSIBLE, DEMUR_REVIEW_POSSIBLE},
      {DEMUR_SHOWN_RED_FLAG, 1, DEMUR_CURRENT, DEMUR_REVIEW_POSSIBLE, DEMUR_REVIEW_POSSIBLE},
      {DEMUR_SHOWN_NOT_ELIGIBLE, 1, DEMUR_CURRENT, DEMUR_REVIEW_POSSIBLE, DEMUR_REVIEW_POSSIBLE},
      {DEMUR_SHOWN_NO_SCORE, 1, DEMUR_CURRENT, DEMUR_REVIEW_NO_DECISION, DEMUR_REVIEW_POSSIBLE},
      {DEMUR_SHOWN_NOT_TUNED, 1, DEMUR_CURRENT, DEMUR_REVIEW_NO_DECISION, DEMUR_REVIEW_POSSIBLE},
      {DEMUR_SHOWN_FAILED, 1, DEMUR_CURRENT, DEMUR_REVIEW_NO_DECISION, DEMUR_REVIEW_POSSIBLE},
      {DEMUR_SHOWN_OUT_OF_DATE, 1, DEMUR_OUTDATED_SCORE, DEMUR_REVIEW_OUT_OF_DATE,
       DEMUR_REVIEW_POSSIBLE},
      {DEMUR_SHOWN_NOT_ELIGIBLE, 0, DEMUR_CURRENT, DEMUR_REVIEW_NO_VERDICT,
       DEMUR_REVIEW_NO_VERDICT},
      {DEMUR_SHOWN_NOT_ASSESSED, 0, DEMUR_CURRENT, DEMUR_REVIEW_NO_VERDICT,
       DEMUR_REVIEW_NO_VERDICT},
  };
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    const DemurScan scan = {
        .shown = rows[i].shown, .verdict_id = rows[i].verdict, .outdated = rows[i].outdated};
    g_assert_cmpint(demur_task_review_bar(&scan, DEMUR_REVIEW_AGREE), ==, rows[i].agree);
    g_assert_cmpint(demur_task_review_bar(&scan, DEMUR_REVIEW_DISAGREE), ==, rows[i].agree);
    g_assert_cmpint(demur_task_review_bar(&scan, DEMUR_REVIEW_COMMENT), ==, rows[i].comment);
  }
}

static void
on_changed(DemurScanRow *row, guint *n) {
  (*n)++;
}

/* Whoever holds a row of the list must never read another scan from it than the list has there. */
static void
held_rows_follow_their_place(void) {
  enum { N = 40 };
  g_autoptr(DemurScanTable) first = table_new(N);
  g_autoptr(DemurScanTable) second = table_new(N - 7);
  DemurScanTable *const tables[] = {first, second};
  for (int t = 0; t < 2; t++)
    for (size_t i = 0; i < tables[t]->n_scans; i++) {
      DemurScan *scan = &tables[t]->scans[i];
      g_autofree char *id = g_strdup_printf("%c%02zu", t == 0 ? 'a' : 'b', i * 17 % N);
      scan->scan_id = scan->patient_id = g_string_chunk_insert(tables[t]->texts, id);
      scan->shown = i % 3 == 0 ? DEMUR_SHOWN_RED_FLAG : DEMUR_SHOWN_ACCEPTED;
    }
  g_autoptr(DemurScanList) list = demur_scan_list_new();
  demur_scan_list_set_table(list, tables[0]);
  GListModel *model = G_LIST_MODEL(list);
  DemurScanRow *held[N];
  guint n_changes[N] = {0};
  for (guint i = 0; i < N; i++) {
    held[i] = g_list_model_get_item(model, i);
    g_signal_connect(held[i], "changed", G_CALLBACK(on_changed), &n_changes[i]);
  }
  for (int step = 0; step < 7; step++) {
    if (step == 0)
      demur_scan_list_set_sort(list, DEMUR_SORT_PATIENT, FALSE);
    else if (step == 1)
      demur_scan_list_set_filter(list, &(DemurScanFilter){.shown = DEMUR_SHOWN_ACCEPTED});
    else if (step == 2)
      demur_scan_list_set_filter(list, &(DemurScanFilter){.shown = DEMUR_SHOW_ALL, .text = "A1"});
    else if (step == 3)
      demur_scan_list_set_filter(list, &(DemurScanFilter){.shown = DEMUR_SHOW_ALL});
    else if (step == 4)
      demur_scan_list_set_table(list, tables[1]);
    else if (step == 5)
      demur_scan_list_set_sort(list, DEMUR_SORT_PATIENT, TRUE);
    else
      demur_scan_list_set_table(list, NULL);
    const guint n = g_list_model_get_n_items(model);
    for (guint i = 0; i < n; i++) {
      g_autoptr(DemurScanRow) row = g_list_model_get_item(model, i);
      g_assert_cmpuint(demur_scan_row_index(row), ==, demur_scan_list_row_at(list, i));
      g_assert_true(demur_scan_row_scan(row) ==
                    &demur_scan_list_table(list)->scans[demur_scan_list_row_at(list, i)]);
      if (step < 2) /* no place went before: the one that is held is the list's own */
        g_assert_true(row == held[i]);
    }
  }
  /* The first place was never without a scan but at the end: told of each of the six changes. */
  g_assert_cmpuint(n_changes[0], ==, 6);
  /* The last place went with the first filter, and its row is told of nothing any more. */
  g_assert_cmpuint(n_changes[N - 1], ==, 1);
  for (guint i = 0; i < N; i++)
    g_object_unref(held[i]);
}

/* Ties stay in the table's order in both directions, so that nothing moves by itself. */
static void
equal_rows_keep_their_order(void) {
  g_autoptr(DemurScanTable) table = table_new(5);
  static const char *const sites[] = {"b", "a", "b", "a", ""};
  for (size_t i = 0; i < 5; i++)
    table->scans[i].site = sites[i];
  g_autoptr(DemurScanList) list = demur_scan_list_new();
  demur_scan_list_set_table(list, table);
  demur_scan_list_set_sort(list, DEMUR_SORT_SITE, FALSE);
  assert_rows(list, "4 1 3 0 2 ");
  demur_scan_list_set_sort(list, DEMUR_SORT_SITE, TRUE);
  assert_rows(list, "0 2 1 3 4 ");
}

static void
search_finds_letters_of_any_script_and_case(void) {
  g_autoptr(DemurScanTable) table = table_new(3);
  table->scans[0].site = "ÄRZTEHAUS Süd";
  table->scans[1].patient_id = "ärzte-7";
  table->scans[2].description = "Thorax B60F";
  g_autoptr(DemurScanList) list = demur_scan_list_new();
  demur_scan_list_set_table(list, table);
  demur_scan_list_set_filter(list, &(DemurScanFilter){.shown = DEMUR_SHOW_ALL, .text = "Ärzte"});
  assert_rows(list, "0 1 ");
  demur_scan_list_set_filter(list, &(DemurScanFilter){.shown = DEMUR_SHOW_ALL, .text = "b60f tHo"});
  assert_rows(list, "2 ");
  demur_scan_list_set_filter(list, &(DemurScanFilter){.shown = DEMUR_SHOW_ALL, .text = "b60f süd"});
  assert_rows(list, "");
  /* By name, in whatever order its parts are typed. */
  table->scans[2].patient_name = "Doe^Jane";
  demur_scan_list_set_filter(list, &(DemurScanFilter){.shown = DEMUR_SHOW_ALL, .text = "jane DOE"});
  assert_rows(list, "2 ");
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
      assert_rows(list, descending == 1 ? "3 4 0 1 2 " : "4 3 0 1 2 ");
    }
}

static void
a_held_back_risk_is_in_no_text(void) {
  DemurScan scan = {.shown = DEMUR_SHOWN_RED_FLAG,
                    .risk = NAN,
                    .withheld_risk = 0.184,
                    .interval_low = 0.09,
                    .interval_high = 0.33,
                    .reasons =
                        "[{\"kind\": \"feature\", \"tells_risk\": true, \"subject\": \"p_1\","
                        " \"value\": 0.184, \"median\": 0.0264, \"low\": 0.003,"
                        " \"high\": 0.295, \"place\": \"above_median\","
                        " \"score\": 0.2, \"changed\": 0.4},"
                        " {\"kind\": \"group\", \"tells_risk\": false, \"subject\": \"kernel\","
                        " \"text\": \"B70f\", \"share\": 0.002, \"score\": 0.2,"
                        " \"changed\": 0.3}]"};
  g_autofree char *risk = demur_scan_risk_text(&scan);
  g_assert_null(strstr(risk, "18"));
  /* What tells the risk is left out, and the score with it; what doesn't is whole. */
  guint n_numbered;
  g_auto(GStrv) held = demur_scan_reasons(&scan, FALSE, &n_numbered);
  g_assert_cmpuint(g_strv_length(held), ==, 2);
  g_assert_cmpstr(held[0], ==, "kernel B70f was in 0.2 % of the training scans");
  g_assert_cmpstr(
      held[1], ==,
      "further reasons, if there are any, would give the risk away: they are shown when it is "
      "revealed");
  g_assert_cmpuint(n_numbered, ==, 1);
  g_autofree char *first = demur_scan_first_reason(&scan);
  g_assert_cmpstr(first, ==, held[0]);
  g_auto(GStrv) revealed = demur_scan_reasons(&scan, TRUE, NULL);
  g_assert_cmpuint(g_strv_length(revealed), ==, 2);
  g_assert_cmpstr(revealed[0], ==,
                  "predicted risk is 0.184, above the median of accepted training scans (median "
                  "0.0264, 98 % of them from 0.003 to 0.295); at the accepted scans' median the "
                  "score would be 0.4 in place of 0.2");
  g_assert_cmpfloat(demur_scan_revealed_risk(&scan), ==, 0.184);
  double low, high; /* how far it may be off goes with it */
  g_assert_false(demur_scan_told_interval(&scan, FALSE, &low, &high));
  g_assert_true(demur_scan_told_interval(&scan, TRUE, &low, &high));
  g_assert_cmpfloat(high, ==, 0.33);
  /* Nobody knows what a sentence of an older program tells. */
  scan.reasons = "[\"predicted risk is 0.184\"]";
  g_autofree char *legacy = demur_scan_first_reason(&scan);
  g_assert_null(strstr(legacy, "184"));
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

/* Right values: base/person.h; dates by hand. */
static void
what_cant_be_told_is_counted_and_dates_are_days(void) {
  g_autoptr(DemurScanTable) table = table_new(6);
  static const struct {
    const char *name, *birth, *date;
    size_t n_others, n_untold;
  } rows[] = {{"A", "19400301", "2023-01-10", 1, 1}, {"A", "19880612", "2023.01.09", 3, 1},
              {"B", "", "20230111", 0, 4},           {"A", "19400301", "", 1, 1},
              {"A", "1940-03-01", "T1", 1, 1},       {"C", "", "2023-01-10", 0, 0}};
  for (size_t i = 0; i < 6; i++) {
    table->scans[i].patient_id = i < 5 ? "7" : "";
    table->scans[i].patient_name = rows[i].name;
    table->scans[i].birth_date = rows[i].birth;
    table->scans[i].date = rows[i].date;
    table->scans[i].chosen = TRUE;
  }
  demur_scan_table_link(table);
  for (size_t i = 0; i < 6; i++) {
    size_t n_others, n_untold;
    demur_scan_table_namesakes(table, i, &n_others, &n_untold);
    g_assert_cmpuint(n_others, ==, rows[i].n_others);
    g_assert_cmpuint(n_untold, ==, rows[i].n_untold);
  }
  /* As texts the second would be the latest of the first three, and what has no day before all. */
  for (size_t a = 0; a < 6; a++)
    for (size_t b = 0; b < 6; b++)
      g_assert_cmpint(demur_scan_is_earlier(&table->scans[a], &table->scans[b]), ==,
                      (a == 1 && (b == 0 || b == 2 || b == 5)) || ((a == 0 || a == 5) && b == 2));
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/ui/worklist/each-state-offers-what-leads-on", each_state_offers_what_leads_on);
  g_test_add_func("/ui/worklist/an-opinion-is-of-a-decision", an_opinion_is_of_a_decision);
  g_test_add_func("/ui/worklist/filters-meet-and-chips-count-what-the-others-let-through",
                  filters_meet_and_chips_count_what_the_others_let_through);
  g_test_add_func("/ui/worklist/held-rows-follow-their-place", held_rows_follow_their_place);
  g_test_add_func("/ui/worklist/equal-rows-keep-their-order", equal_rows_keep_their_order);
  g_test_add_func("/ui/worklist/search-finds-letters-of-any-script-and-case",
                  search_finds_letters_of_any_script_and_case);
  g_test_add_func("/ui/worklist/held-back-risks-have-no-order", held_back_risks_have_no_order);
  g_test_add_func("/ui/worklist/a-held-back-risk-is-in-no-text", a_held_back_risk_is_in_no_text);
  g_test_add_func("/ui/worklist/earlier-scans-are-never-joined-on-the-id-alone",
                  earlier_scans_are_never_joined_on_the_id_alone);
  g_test_add_func("/ui/worklist/what-cant-be-told-is-counted-and-dates-are-days",
                  what_cant_be_told_is_counted_and_dates_are_days);
  return g_test_run();
}
