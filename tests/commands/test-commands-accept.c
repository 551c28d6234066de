/* The local acceptance test from the command line. Right values: the contract, labels that are the
 * simulated cohort's own, and labels made up to lie far outside. */
#include "commands.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "support/store.h"

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
  /* Two labels without the outcome are no reason to recalibrate. */
  fill(table, 2, 3);
  g_autoptr(Run) few = run_demur(sandbox, "accept", "run", "s", table, NULL);
  assert_says(few->out, "say nothing of how many more");
  fill(table, 0, 1);
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

/* Labels of an earlier plan that stand in the table go. */
static Run *
plan_anew(const Sandbox *sandbox, int status, const char *selector, const char *cohort,
          const char *site, const char *table, const char *alpha) {
  g_unlink(table);
  return run_json(sandbox, status, "accept", "plan", selector, "--cohort", cohort, "--site", site,
                  "--split", "test", "--range", "0.5,2", "--seed", "7", "--alpha", alpha, "-o",
                  table, NULL);
}

/* The cohort's table once more as `name`, its patients' numbers beginning with `letter`. */
static void
import_as(const Sandbox *sandbox, const char *name, const char *letter) {
  g_autofree char *path = sandbox_path(sandbox, "sim.csv"), *text = NULL,
                  *patients = g_strconcat("\n", letter, "0", NULL);
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_autoptr(GString) table = g_string_new(text);
  g_assert_cmpuint(g_string_replace(table, "\nP0", patients, 0), >, 1000);
  g_autofree char *copy = sandbox_write(sandbox, "copy.csv", table->str, -1);
  g_autoptr(Run) run = run_json(sandbox, 0, "cohort", "import", name, copy, "--model",
                                "simulated-cnn", "--quiet", NULL);
}

/* The 5 % are one over all plans of a selector at a site: a plan that was looked at spends its part and its
 * candidates are in no later one, by whatever name the selector or its patients come again. Right values:
 * .8 of .05, and .8 of what that leaves. */
static void
test_a_later_plan(void) {
  g_autoptr(Sandbox) sandbox = tuned();
  g_autofree char *site = test_site(sandbox), *table = sandbox_path(sandbox, "labels.csv");
  g_autoptr(Run) unseen = plan_anew(sandbox, 0, "s", "sim", site, table, "0.05");
  g_autoptr(Run) empty = run_json(sandbox, 0, "accept", "run", "s", table, NULL);
  g_autoptr(Run) first = plan_anew(sandbox, 0, "s", "sim", site, table, "0.05");
  g_assert_cmpfloat_with_epsilon(number_at(root_of(first), "alpha"), 0.04, 1e-12);
  g_assert_cmpfloat(number_at(root_of(first), "alpha_of_all_plans"), ==, 0.05);
  g_assert_cmpuint(json_array_get_length(array_at(root_of(first), "earlier_plans")), ==, 0);
  fill(table, 30, 1);
  g_autoptr(Run) sick = run_json(sandbox, 0, "accept", "run", "s", table, NULL);
  g_assert_cmpuint(json_array_get_length(array_at(root_of(sick), "earlier_plans")), ==, 0);
  g_autofree char *exported = sandbox_path(sandbox, "s.json"),
                  *again = sandbox_path(sandbox, "again.csv");
  g_autoptr(Run) export = run_json(sandbox, 0, "selector", "export", "s", exported, NULL);
  g_autoptr(Run) import = run_json(sandbox, 0, "selector", "import", "twin", exported, NULL);
  g_autoptr(Run) tune =
      run_json(sandbox, 0, "tune", "twin", "--cohort", "sim", "--coverage", "0.9", NULL);
  import_as(sandbox, "spelled", "p");
  import_as(sandbox, "later", "Q");
  const struct {
    const char *selector, *cohort, *alpha, *says;
  } refused[] = {{"s", "sim", "0.05", "nobody has seen"},
                 {"twin", "sim", "0.05", "nobody has seen"},
                 {"s", "spelled", "0.05", "nobody has seen"},
                 {"s", "later", "0.04", "nothing is left"},
                 {"twin", "later", "0.02", "nothing is left"}};
  for (guint r = 0; r < G_N_ELEMENTS(refused); r++) {
    g_autoptr(Run) run = plan_anew(sandbox, 1, refused[r].selector, refused[r].cohort, site, again,
                                   refused[r].alpha);
    assert_says(run->err, refused[r].says);
  }
  g_autoptr(Run) second = plan_anew(sandbox, 0, "s", "later", site, again, "0.05");
  JsonObject *p = root_of(second);
  g_assert_cmpfloat_with_epsilon(number_at(p, "alpha"), 0.8 * (0.05 - 0.04), 1e-12);
  g_autoptr(Run) third = plan_anew(sandbox, 0, "twin", "later", site, table, "0.05");
  g_autoptr(Run) older = run_json(sandbox, 1, "accept", "run", "s", again, NULL);
  assert_says(older->err, "under another name");
  g_autoptr(Run) fresh = run_json(sandbox, 0, "accept", "run", "twin", table, NULL);
  JsonObject *earlier = json_array_get_object_element(array_at(root_of(fresh), "earlier_plans"), 0);
  g_assert_cmpstr(string_at(earlier, "selector"), ==, "s");
  g_assert_cmpstr(string_at(earlier, "answer"), ==, "not accepted");
  g_assert_cmpfloat(number_at(earlier, "n_labels"), ==, 30);
  g_assert_cmpfloat_with_epsilon(number_at(earlier, "alpha"), 0.04, 1e-12);
  g_autoptr(Run) words = run_demur(sandbox, "accept", "run", "twin", table, NULL);
  assert_says(words->out, "Earlier plan");
  assert_says(words->out, "any of these 2 plans with probability 0.05");
}

/* Trained with that seed, in place of one of that name, and tuned. */
static void
train_tuned(const Sandbox *sandbox, const char *name, const char *seed) {
  g_autoptr(Run) train =
      train_small(sandbox, name, "sim", "--seed", seed, "--replace", "--force", NULL);
  assert_status(train, 0);
  g_autoptr(Run) tune =
      run_json(sandbox, 0, "tune", name, "--cohort", "sim", "--coverage", "0.9", NULL);
}

/* Labels whose intercept made the site's audit accept nothing: their patients are in no plan. */
static void
test_not_the_audited(void) {
  g_autoptr(Sandbox) sandbox = tuned();
  g_autofree char *site = test_site(sandbox), *table = sandbox_path(sandbox, "audit.csv"),
                  *labels = sandbox_path(sandbox, "labels.csv");
  g_autoptr(Run) asked = run_json(sandbox, 0, "audit", "plan", "s", "--cohort", "sim", "--site",
                                  site, "--split", "test", "--scans", "40", "-o", table, NULL);
  fill(table, 40, 8);
  g_autoptr(Run) audit = run_json(sandbox, 0, "audit", "apply", "s", table, NULL);
  g_autoptr(Run) plan = plan_anew(sandbox, 0, "s", "sim", site, labels, "0.05");
  g_assert_cmpfloat(number_at(root_of(plan), "n_left_out"), ==, 40);
  g_autofree char *audited = NULL;
  g_assert_true(g_file_get_contents(table, &audited, NULL, NULL));
  JsonArray *scans = array_at(root_of(plan), "scans");
  for (guint i = 0; i < json_array_get_length(scans); i++)
    g_assert_null(strstr(audited, string_at(json_array_get_object_element(scans, i), "scan_id")));
  /* Nor once the audit has ended with its selector. */
  g_autoptr(Run) removed = run_json(sandbox, 0, "selector", "remove", "s", "--force", NULL);
  train_tuned(sandbox, "t", "8");
  g_autoptr(Run) later = plan_anew(sandbox, 0, "t", "sim", site, labels, "0.05");
  g_assert_cmpfloat(number_at(root_of(later), "n_left_out"), ==, 40);
}

/* The selector's plan as a program of before wrote it, that kept no origin. */
static void
take_origin_out(const Sandbox *sandbox, const char *selector) {
  g_autofree char *where = g_strdup_printf(
                      "selector_id = (SELECT id FROM selector WHERE name = '%s')", selector),
                  *query = g_strdup_printf("SELECT document FROM acceptance_plan WHERE %s", where),
                  *text = demur_test_store_text(sandbox->workspace, query);
  g_autoptr(JsonNode) root = json_from_string(text, NULL);
  g_assert_true(json_object_has_member(json_node_get_object(root), "origin"));
  json_object_remove_member(json_node_get_object(root), "origin");
  g_autofree char *without = json_to_string(root, FALSE),
                  *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, without, -1);
  g_assert_null(strchr(without, '\''));
  g_autofree char *sql = g_strdup_printf(
      "UPDATE acceptance_plan SET document = '%s', digest = '%s' WHERE %s", without, digest, where);
  g_assert_cmpint(demur_test_store_run(sandbox->workspace, sql), ==, 1);
}

/* What a plan spent is spent, whatever becomes of its selector: removed, replaced, damaged. And a selector that can't be
 * read keeps no other from being tested; of a plan that an older program made nothing tells then whose it was, and it
 * counts, but takes no plan out of force. */
static void
test_spent_is_spent(void) {
  g_autoptr(Sandbox) sandbox = tuned();
  g_autofree char *site = test_site(sandbox), *table = sandbox_path(sandbox, "labels.csv"),
                  *exported = sandbox_path(sandbox, "s.json");
  g_autoptr(Run) export = run_json(sandbox, 0, "selector", "export", "s", exported, NULL);
  train_tuned(sandbox, "other", "5");
  g_autofree char *in_force = sandbox_path(sandbox, "in-force.csv");
  g_autoptr(Run) before_it = plan_anew(sandbox, 0, "s", "sim", site, in_force, "0.05");
  g_autoptr(Run) others = plan_anew(sandbox, 0, "other", "sim", site, table, "0.05");
  take_origin_out(sandbox, "other");
  g_assert_cmpint(
      demur_test_store_run(
          sandbox->workspace,
          "UPDATE selector SET document = substr(document, 1, 40) WHERE name = 'other'"),
      ==, 1);
  g_autoptr(Run) still = run_json(sandbox, 0, "accept", "run", "s", in_force, NULL);
  g_assert_cmpstr(string_at(root_of(still), "answer"), ==, "more");
  g_autoptr(Run) first = plan_anew(sandbox, 0, "s", "sim", site, table, "0.05");
  g_assert_cmpfloat_with_epsilon(number_at(root_of(first), "alpha"), 0.04, 1e-12);
  fill(table, 30, 1);
  g_autoptr(Run) sick = run_json(sandbox, 0, "accept", "run", "s", table, NULL);
  train_tuned(sandbox, "s", "5"); /* another selector of that name */
  import_as(sandbox, "later", "Q");
  g_autoptr(Run) none = plan_anew(sandbox, 1, "s", "sim", site, table, "0.05");
  assert_says(none->err, "could have been drawn by an earlier plan");
  g_autoptr(Run) another = plan_anew(sandbox, 0, "s", "later", site, table, "0.05");
  g_assert_cmpfloat_with_epsilon(number_at(root_of(another), "alpha"), 0.04, 1e-12);
  g_autoptr(Run) removed = run_json(sandbox, 0, "selector", "remove", "s", "--force", NULL);
  g_autoptr(Run) import = run_json(sandbox, 0, "selector", "import", "again", exported, NULL);
  g_autoptr(Run) tune =
      run_json(sandbox, 0, "tune", "again", "--cohort", "sim", "--coverage", "0.9", NULL);
  g_autoptr(Run) again = plan_anew(sandbox, 0, "again", "later", site, table, "0.05");
  g_assert_cmpfloat_with_epsilon(number_at(root_of(again), "alpha"), 0.8 * (0.05 - 0.04), 1e-12);
  g_autoptr(Run) empty = run_json(sandbox, 0, "accept", "run", "again", table, NULL);
  JsonArray *before = array_at(root_of(empty), "earlier_plans");
  g_assert_cmpuint(json_array_get_length(before), ==, 1);
  JsonObject *earlier = json_array_get_object_element(before, 0);
  g_assert_cmpstr(string_at(earlier, "selector"), ==, "s");
  g_assert_cmpfloat(number_at(earlier, "n_labels"), ==, 30);
  g_assert_false(bool_at(earlier, "unsure"));
  g_autoptr(Run) log = run_demur(sandbox, "log", NULL);
  assert_says(log->out, "site-seen:1");
}

/* Labels that were looked at and are others now are told, changed back too; more labels are no change. */
static void
test_changed_labels(void) {
  g_autoptr(Sandbox) sandbox = tuned();
  g_autofree char *site = test_site(sandbox), *table = sandbox_path(sandbox, "labels.csv");
  g_autoptr(Run) plan = plan_anew(sandbox, 0, "s", "sim", site, table, "0.05");
  const struct {
    guint n, period;
    double n_changed, n_gone;
  } looks[] = {
      {10, 4, 0, 0}, /* 4 and 8 have the outcome */
      {20, 4, 0, 0}, /* ten more */
      {20, 5, 7, 0}, /* 4, 8, 12, 16 no longer, 5, 10, 15 now: 20 stays */
      {20, 4, 7, 0}, /* and back */
      {15, 4, 6, 5}, /* fewer */
  };
  for (guint l = 0; l < G_N_ELEMENTS(looks); l++) {
    fill(table, looks[l].n, looks[l].period);
    g_autoptr(Run) run = run_json(sandbox, 0, "accept", "run", "s", table, NULL);
    JsonObject *changed = object_at(root_of(run), "labels_changed");
    g_test_message("look %u: %g, %g", l, number_at(changed, "n_changed"),
                   number_at(changed, "n_gone"));
    g_assert_cmpfloat(number_at(changed, "n_changed"), ==, looks[l].n_changed);
    g_assert_cmpfloat(number_at(changed, "n_gone"), ==, looks[l].n_gone);
    g_assert_true(is_null_at(changed, "first") == (looks[l].n_changed + looks[l].n_gone == 0));
    g_assert_null(strstr(run->out, "\"labels\"")); /* stay in the workspace */
  }
  g_autoptr(Run) words = run_demur(sandbox, "accept", "run", "s", table, NULL);
  assert_says(words->out, "LABELS CHANGED");
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
  g_test_add_func("/commands/accept/a-later-plan", test_a_later_plan);
  g_test_add_func("/commands/accept/not-the-audited", test_not_the_audited);
  g_test_add_func("/commands/accept/spent-is-spent", test_spent_is_spent);
  g_test_add_func("/commands/accept/changed-labels", test_changed_labels);
  g_test_add_func("/commands/accept/report", test_report);
  g_test_add_func("/commands/accept/tables-that-are-not-the-plan",
                  test_tables_that_are_not_the_plan);
  g_test_add_func("/commands/accept/wrong-usage", test_wrong_usage);
  return g_test_run();
}
