/* A workspace as the worklist's table. Expected values are those that were put in. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "store/bindings.h"
#include "store/cohorts.h"
#include "store/reviews.h"
#include "store/selectors.h"
#include "store/verdicts.h"
#include "tasks/scan.h"
#include "ui/scan-words.h"

#define N 12

static char *path;

static DemurCohort *
make_cohort(const char *name) {
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, 0);
  for (size_t i = 0; i < N; i++) {
    g_autofree char *scan = g_strdup_printf("scan-%zu", i);
    g_autofree char *patient = g_strdup_printf("patient-%zu", i / 2);
    const double p = (double)(i + 1) / 20;
    demur_cohort_builder_add(builder, scan, patient, i % 3 == 0 ? "A" : "B", "test", 0, &p, NULL,
                             NULL);
    demur_cohort_builder_attribute(builder, "manufacturer", i % 2 == 0 ? "SIEMENS" : "GE");
    demur_cohort_builder_attribute(builder, "kernel", i % 4 == 0 ? "B30f" : "");
    demur_cohort_builder_attribute(builder, "age", i == 5 ? "unknown" : "61.5");
    demur_cohort_builder_attribute(builder, "study_year", i == 7 ? "" : "2");
  }
  g_autoptr(GError) error = NULL;
  DemurCohort *cohort = demur_cohort_builder_finish(builder, name, "model", "made",
                                                    "2022-02-02T00:00:00Z", FALSE, &error);
  g_assert_no_error(error);
  return cohort;
}

/* Verdicts of a selector of that name, bound to how things are: its name is its digest. */
static void
save_bound(DemurWorkspace *workspace, const char *selector, const char *cohort,
           const DemurVerdictRecord *records, size_t n) {
  g_autoptr(GError) error = NULL;
  const DemurSelectorRecord record = {.name = (char *)selector,
                                      .document = (char *)"{}",
                                      .digest = (char *)selector,
                                      .cohort = (char *)cohort,
                                      .cohort_digest = (char *)"digest",
                                      .model = (char *)"model",
                                      .created = (char *)"2022"};
  g_autoptr(GPtrArray) known = demur_selectors_list(workspace, &error);
  gboolean there = FALSE;
  for (guint i = 0; i < known->len; i++)
    there |= strcmp(((DemurSelectorRecord *)known->pdata[i])->name, selector) == 0;
  g_assert_true(there ||
                demur_selectors_save(workspace, &record, DEMUR_SELECTOR_REPLACE_NONE, &error));
  g_autoptr(DemurBindings) bindings = demur_bindings_load(workspace, cohort, &error);
  g_assert_no_error(error);
  DemurVerdictBatch batch = {.selector = selector,
                             .selector_digest = selector,
                             .cohort = cohort,
                             .model = "model",
                             .coverage = 0.9,
                             .threshold = 0.25,
                             .created = "2022"};
  demur_bindings_bind_batch(bindings, &batch);
  g_assert_true(demur_verdicts_save(workspace, &batch, records, n, &error));
  g_assert_no_error(error);
}

static void
save_verdicts(DemurWorkspace *workspace, const char *cohort, size_t from, size_t to,
              DemurVerdict verdict, const char *reasons) {
  DemurVerdictRecord records[N] = {0};
  g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
  for (size_t i = from; i < to; i++) {
    DemurVerdictRecord *record = &records[i - from];
    record->scan_id = g_strdup_printf("scan-%zu", i);
    record->patient_id = g_strdup_printf("patient-%zu", i / 2);
    g_ptr_array_add(texts, record->scan_id);
    g_ptr_array_add(texts, record->patient_id);
    record->risk = record->risk_raw = (double)(i + 1) / 20;
    record->score = 0.5;
    record->verdict = verdict;
    record->reasons = (char *)reasons;
  }
  g_autoptr(GError) error = NULL;
  save_bound(workspace, demur_verdict_name(verdict), cohort, records, to - from);
  g_assert_no_error(error);
}

static DemurScanTable *
load(void) {
  g_autoptr(GError) error = NULL;
  DemurScanTable *table = demur_scan_table_load(path, FALSE, NULL, &error);
  g_assert_no_error(error);
  return table;
}

static const DemurScan *
find(DemurScanTable *table, const char *source, const char *scan_id) {
  const gssize row = demur_scan_table_find(table, source, scan_id);
  g_assert_cmpint(row, >=, 0);
  return &table->scans[row];
}

/* Two cohorts whose scans have the same IDs, one assessed twice and in part; a verdict of a scan
 * that its cohort doesn't have. */
static void
each_scan_has_its_facts_and_its_newest_verdict(void) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurWorkspace) workspace = demur_workspace_open(path, DEMUR_WORKSPACE_CREATE, &error);
  static const char *const names[] = {"one", "two"};
  for (int c = 0; c < 2; c++) {
    g_autoptr(DemurCohort) cohort = make_cohort(names[c]);
    g_assert_true(demur_cohorts_save(workspace, cohort, NULL, &error));
  }
  save_verdicts(workspace, "one", 0, N, DEMUR_VERDICT_RED_FLAG,
                "[\n \"first, of \\\"two\\\"\",\n \"second\"\n]\n");
  save_verdicts(workspace, "one", 3, 8, DEMUR_VERDICT_ACCEPTED, "[]");
  save_verdicts(workspace, "two", 4, 5, DEMUR_VERDICT_RED_FLAG,
                "[\n \"risk [0, 1], plain\",\n \"second\"\n]\n");
  DemurVerdictRecord stray = {.scan_id = (char *)"gone",
                              .patient_id = (char *)"patient-x",
                              .risk = 0.5,
                              .risk_raw = 0.5,
                              .score = 0.5,
                              .verdict = DEMUR_VERDICT_ACCEPTED,
                              .reasons = (char *)"{}"};
  save_bound(workspace, "s", "two", &stray, 1);
  save_bound(workspace, "s", "two", &stray, 1);

  g_autoptr(DemurScanTable) table = load();
  g_assert_cmpuint(table->n_scans, ==, N + 2);
  for (size_t i = 0; i < N; i++) {
    g_autofree char *id = g_strdup_printf("scan-%zu", i);
    g_autofree char *patient = g_strdup_printf("patient-%zu", i / 2);
    const DemurScan *scan = find(table, "one", id);
    const gboolean again = i >= 3 && i < 8;
    g_assert_cmpstr(scan->patient_id, ==, patient);
    g_assert_cmpstr(scan->site, ==, i % 3 == 0 ? "A" : "B");
    g_assert_cmpstr(scan->scanner, ==,
                    i % 4 == 0   ? "SIEMENS · B30f"
                    : i % 2 == 0 ? "SIEMENS"
                                 : "GE");
    g_assert_cmpint(scan->age, ==, i == 5 ? 0 : 61);
    g_assert_cmpstr(scan->date, ==, i == 7 ? "" : "T2");
    g_assert_cmpint(scan->shown, ==, again ? DEMUR_SHOWN_ACCEPTED : DEMUR_SHOWN_RED_FLAG);
    g_assert_cmpstr(scan->selector, ==, again ? "accepted" : "red_flag");
    if (again)
      g_assert_cmpfloat(scan->risk, ==, (double)(i + 1) / 20);
    else
      g_assert_true(isnan(scan->risk));
    g_auto(GStrv) reasons = demur_scan_reasons(scan, TRUE, NULL);
    g_assert_cmpuint(g_strv_length(reasons), ==, again ? 0 : 2);
    if (!again) {
      g_assert_true(g_str_has_prefix(reasons[0], "first, of \"two\" ("));
      g_assert_true(g_str_has_prefix(reasons[1], "second ("));
    }
  }
  const DemurScan *plain = find(table, "two", "scan-4");
  g_auto(GStrv) plain_reasons = demur_scan_reasons(plain, TRUE, NULL);
  g_assert_cmpuint(g_strv_length(plain_reasons), ==, 2);
  g_assert_true(g_str_has_prefix(plain_reasons[0], "risk [0, 1], plain ("));
  g_assert_cmpint(demur_scan_table_find(table, "two", "scan-5"), ==, -1);
  g_assert_cmpint(demur_scan_table_find(table, NULL, "scan-4"), ==, -1);
  const DemurScan *gone = find(table, "two", "gone");
  g_assert_cmpstr(gone->patient_id, ==, "patient-x");
  g_assert_cmpstr(gone->site, ==, "");
  g_auto(GStrv) none = demur_scan_reasons(gone, TRUE, NULL);
  g_assert_null(none[0]);
  /* The other cohort's patient of the same ID is another one. */
  size_t n;
  g_autofree guint32 *rows =
      demur_scan_table_of_patient(table, (size_t)demur_scan_table_find(table, "one", "scan-4"), &n);
  g_assert_cmpuint(n, ==, 2);
}

/* What stands in the column of reasons but is no array of texts gives no reason, and no crash. */
static void
damaged_reasons_are_none(void) {
  static const char *const damaged[] = {"",          "[",      "[\"a\"",   "[\"a\" \"b\"]",
                                        "null",      "[1, 2]", "[\"a",     "\"a\"",
                                        "[\"a\"] x", "[,]",    "[\"a\\\"]"};
  for (size_t i = 0; i < G_N_ELEMENTS(damaged); i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurWorkspace) workspace =
        demur_workspace_open(path, DEMUR_WORKSPACE_CREATE, &error);
    save_verdicts(workspace, "two", 9, 10, DEMUR_VERDICT_RED_FLAG, damaged[i]);
    g_autoptr(DemurScanTable) table = load();
    const DemurScan *scan = find(table, "two", "scan-9");
    g_test_message("%s", damaged[i]);
    g_auto(GStrv) none = demur_scan_reasons(scan, TRUE, NULL);
    g_assert_null(none[0]);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_autofree char *folder = g_dir_make_tmp("demur-ui-load-XXXXXX", NULL);
  path = g_build_filename(folder, "w.demur", NULL);
  g_test_add_func("/ui/scan-load/each-scan-has-its-facts-and-its-newest-verdict",
                  each_scan_has_its_facts_and_its_newest_verdict);
  g_test_add_func("/ui/scan-load/damaged-reasons-are-none", damaged_reasons_are_none);
  const int result = g_test_run();
  static const char *const endings[] = {"", "-wal", "-shm"};
  for (size_t i = 0; i < G_N_ELEMENTS(endings); i++) {
    g_autofree char *file = g_strconcat(path, endings[i], NULL);
    g_unlink(file);
  }
  g_rmdir(folder);
  g_free(path);
  return result;
}
