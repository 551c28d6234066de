/* The local acceptance test from the command line. Right values: the contract, labels that are the
 * simulated cohort's own, and labels made up to lie far outside. */
#include "commands.h"

#include <math.h>
#include <string.h>

static Sandbox *
tuned(void) {
  Sandbox *sandbox = sandbox_new();
  g_autoptr(Run) run = run_json(sandbox, 0, "cohort", "simulate", "sim", "--scans", "600",
                                "--sites", "8", "--base-train", "500", "--tune", "400", "--test",
                                "1500", "--outside-shift", "0", "--quiet", NULL);
  g_autoptr(Run) train = train_small(sandbox, "s", "sim", NULL);
  g_autoptr(Run) tune =
      run_json(sandbox, 0, "tune", "s", "--cohort", "sim", "--coverage", "0.9", NULL);
  return sandbox;
}

/* The site of the split test, owned. */
static char *
test_site(const Sandbox *sandbox) {
  g_autofree char *path = sandbox_path(sandbox, "sim.csv"), *text = NULL;
  g_autoptr(Run) run = run_demur(sandbox, "cohort", "export", "sim", path, "--quiet", NULL);
  assert_status(run, 0);
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  g_auto(GStrv) names = g_strsplit(lines[0], ",", -1);
  guint site = 0, split = 0;
  for (guint c = 0; names[c] != NULL; c++) {
    site = strcmp(names[c], "site") == 0 ? c : site;
    split = strcmp(names[c], "split") == 0 ? c : split;
  }
  for (guint i = 1; lines[i] != NULL; i++) {
    g_auto(GStrv) fields = g_strsplit(lines[i], ",", -1);
    if (g_strv_length(fields) > MAX(site, split) && strcmp(fields[split], "test") == 0)
      return g_strdup(fields[site]);
  }
  g_assert_not_reached();
}

/* The table at path with its first n labels: every `period`-th 1, the others 0. */
static void
fill(const char *path, guint n, guint period) {
  g_autofree char *text = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  g_autoptr(GString) filled = g_string_new(lines[0]);
  for (guint i = 1; lines[i] != NULL && *lines[i] != '\0'; i++) {
    char *comma = strrchr(lines[i], ',');
    g_string_append_printf(filled, "\n%.*s,%s", (int)(comma - lines[i]), lines[i],
                           i > n             ? ""
                           : i % period == 0 ? "1"
                                             : "0");
  }
  g_string_append_c(filled, '\n');
  g_assert_true(g_file_set_contents(path, filled->str, -1, NULL));
}

static void
test_plan_and_run(void) {
  g_autoptr(Sandbox) sandbox = tuned();
  g_autofree char *site = test_site(sandbox), *table = sandbox_path(sandbox, "labels.csv");
  g_autoptr(Run) none = run_json(sandbox, 1, "accept", "run", "s", table, NULL);
  g_autoptr(Run) plan = run_json(sandbox, 0, "accept", "plan", "s", "--cohort", "sim", "--site",
                                 site, "--split", "test", "--range", "0.3,3", "-o", table, NULL);
  JsonObject *p = root_of(plan);
  g_assert_true(bool_at(p, "simulated"));
  g_assert_cmpfloat(number_at(p, "n_needed"), >, 0);
  g_assert_cmpfloat(number_at(p, "n_shown"), <=, number_at(p, "n_patients"));
  JsonObject *scan = json_array_get_object_element(array_at(p, "scans"), 0);
  assert_members(scan, "scan_id,patient_id"); /* who labels is not told the risk */
  /* Nothing labelled. */
  g_autoptr(Run) empty = run_json(sandbox, 0, "accept", "run", "s", table, NULL);
  g_assert_cmpstr(string_at(root_of(empty), "answer"), ==, "more");
  g_assert_true(is_null_at(object_at(root_of(empty), "shown"), "observed_over_expected"));
  /* Everybody has the outcome: far outside, and the interval says so. */
  fill(table, 60, 1);
  g_autoptr(Run) sick = run_json(sandbox, 0, "accept", "run", "s", table, NULL);
  g_assert_cmpstr(string_at(root_of(sick), "answer"), ==, "not accepted");
  g_assert_cmpfloat(number_at(object_at(root_of(sick), "shown"), "n_labels"), ==, 60);
  g_autoptr(Run) words = run_demur(sandbox, "accept", "run", "s", table, NULL);
  assert_says(words->out, "not accepted");
  assert_says(words->out, "simulated data");
  assert_says(words->out, "For research use, not a cleared device.");
  /* The plan is of what was shown: a threshold tuned anew ends it. */
  g_autoptr(Run) tune = run_json(sandbox, 0, "tune", "s", "--cohort", "sim", "--coverage", "0.9",
                                 "--split", "selector_train", NULL);
  g_autoptr(Run) late = run_json(sandbox, 1, "accept", "run", "s", table, NULL);
  assert_says(late->err, "the threshold was tuned anew");
}

/* The report's page and the chart tell of the looks, each ten labels from the next at least, and not where
 * fewer than ten patients have, or have not, the outcome; a look that comes later is not in it. */
static void
test_report(void) {
  g_autoptr(Sandbox) sandbox = tuned();
  g_autofree char *site = test_site(sandbox), *table = sandbox_path(sandbox, "labels.csv");
  g_autoptr(Run) plan = run_json(sandbox, 0, "accept", "plan", "s", "--cohort", "sim", "--site",
                                 site, "--split", "test", "--range", "0.3,3", "-o", table, NULL);
  fill(table, 60, 1);
  g_autoptr(Run) sick = run_json(sandbox, 0, "accept", "run", "s", table, NULL);
  g_autoptr(Run) few = run_demur(sandbox, "chart", "acceptance", "a.svg", "-s", "s", NULL);
  assert_status(few, 1);
  assert_says(few->err, "ten patients");
  g_autoptr(Run) first = run_json(sandbox, 0, "report", "few.pdf", "-s", "s", "-c", "sim",
                                  "--quiet", "--bootstrap", "20", "--resamples", "2", NULL);
  g_autofree char *few_path = sandbox_path(sandbox, "few.json"), *few_text = NULL;
  g_assert_true(g_file_get_contents(few_path, &few_text, NULL, NULL));
  g_autoptr(JsonNode) few_root = json_from_string(few_text, NULL);
  JsonObject *told =
      json_array_get_object_element(array_at(json_node_get_object(few_root), "acceptances"), 0);
  g_assert_cmpstr(string_at(told, "answer"), ==, "not accepted");
  g_assert_true(is_null_at(told, "n_events"));
  g_assert_true(is_null_at(told, "observed_over_expected"));
  const guint looks[] = {100, 104, 180};
  for (guint i = 0; i < G_N_ELEMENTS(looks); i++) {
    fill(table, looks[i], 8);
    g_autoptr(Run) run = run_json(sandbox, 0, "accept", "run", "s", table, NULL);
  }
  g_autoptr(Run) chart = run_json(sandbox, 0, "chart", "acceptance", "a.csv", "-s", "s", NULL);
  JsonArray *rows = array_at(root_of(chart), "rows");
  g_assert_cmpuint(json_array_get_length(rows), ==, 2);
  g_assert_cmpstr(json_array_get_string_element(json_array_get_array_element(rows, 0), 0), ==,
                  "100");
  g_assert_cmpstr(json_array_get_string_element(json_array_get_array_element(rows, 1), 0), ==,
                  "180");
  g_autoptr(Run) report = run_json(sandbox, 0, "report", "r.pdf", "-s", "s", "-c", "sim", "--quiet",
                                   "--bootstrap", "20", "--resamples", "2", NULL);
  fill(table, 240, 8);
  g_autoptr(Run) later = run_json(sandbox, 0, "accept", "run", "s", table, NULL);
  g_autoptr(Run) verify = run_json(sandbox, 0, "report", "verify", "r.pdf", NULL);
  g_autoptr(Run) still = run_json(sandbox, 0, "report", "verify", "few.pdf", NULL);
}

static void
test_tables_that_are_not_the_plan(void) {
  g_autoptr(Sandbox) sandbox = tuned();
  g_autofree char *site = test_site(sandbox), *table = sandbox_path(sandbox, "labels.csv");
  g_autoptr(Run) unplanned_run = run_demur(sandbox, "accept", "plan", "s", "--cohort", "sim",
                                           "--site", site, "--split", "test", "-o", table, NULL);
  assert_status(unplanned_run, 0);
  /* Planned for one coverage or none: a list was cut to its first. */
  g_autoptr(Run) two = run_demur(sandbox, "accept", "plan", "s", "--cohort", "sim", "--site", site,
                                 "--split", "test", "--coverage", "0.8,0.9", NULL);
  assert_status(two, 2);
  assert_says(two->err, "--coverage takes one coverage");
  g_autofree char *text = NULL;
  g_assert_true(g_file_get_contents(table, &text, NULL, NULL));
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  g_autofree char *first = g_strndup(lines[1], strlen(lines[1]) - 1);
  g_autofree char *second = g_strdup(lines[2]);
  const struct {
    const char *rows, *says;
  } tables[] = {
      {"nobody,nobody,%SITE,1\n", "is not in the plan"},
      {"%FIRST,1\n%FIRST,1\n", "stands in the table twice"},
      {"%FIRST,2\n", "write 0, 1 or nothing"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(tables); i++) {
    g_autoptr(GString) rows = g_string_new("scan_id,patient_id,site,label\n");
    g_string_append(rows, tables[i].rows);
    g_string_replace(rows, "%SITE", site, 0);
    g_string_replace(rows, "%FIRST", first, 0);
    g_autofree char *path = sandbox_write(sandbox, "wrong.csv", rows->str, -1);
    g_autoptr(Run) run = run_json(sandbox, 1, "accept", "run", "s", path, NULL);
    assert_says(run->err, tables[i].says);
  }
  /* Labels behind a gap are told and not looked at. */
  g_autoptr(GString) gap = g_string_new("scan_id,patient_id,site,label\n");
  g_string_append_printf(gap, "%s\n%s1\n", lines[1], second);
  g_autofree char *path = sandbox_write(sandbox, "gap.csv", gap->str, -1);
  g_autoptr(Run) run = run_json(sandbox, 0, "accept", "run", "s", path, NULL);
  g_assert_cmpfloat(number_at(root_of(run), "n_labels_later"), ==, 1);
  g_assert_cmpfloat(number_at(object_at(root_of(run), "shown"), "n_labels"), ==, 0);
}

static void
test_wrong_usage(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  static const char *const lines[] = {"accept",
                                      "accept plan s",
                                      "accept plan s --cohort c",
                                      "accept plan s --cohort c --site h --range 1",
                                      "accept plan s --cohort c --site h --range 1.1,2",
                                      "accept plan s --cohort c --site h --power 1.5",
                                      "accept run s"};
  assert_wrong_usage(sandbox, lines);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/commands/accept/plan-and-run", test_plan_and_run);
  g_test_add_func("/commands/accept/report", test_report);
  g_test_add_func("/commands/accept/tables-that-are-not-the-plan",
                  test_tables_that_are_not_the_plan);
  g_test_add_func("/commands/accept/wrong-usage", test_wrong_usage);
  return g_test_run();
}
