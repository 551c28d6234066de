/* What is promised and where: guaranteed risk, sites without a guarantee, site audits. Right
 * values: the contract of the commands, and sums over their own output. */
#include "commands.h"

#include <math.h>
#include <string.h>

static Sandbox *
trained(void) {
  Sandbox *sandbox = sandbox_new();
  /* 1,500 tuning scans: enough patients for 25 in each bin of risk. */
  g_autoptr(Run) run = run_json(sandbox, 0, "cohort", "simulate", "sim", "--scans", "600",
                                "--sites", "8", "--base-train", "500", "--tune", "1500", "--test",
                                "300", "--outside-shift", "0", "--quiet", NULL);
  g_autoptr(Run) train = train_small(sandbox, "s", "sim", NULL);
  return sandbox;
}

static guint
n_thresholds(const Sandbox *sandbox) {
  g_autoptr(Run) show = run_json(sandbox, 0, "selector", "show", "s", NULL);
  return json_array_get_length(array_at(root_of(show), "thresholds"));
}

static void
test_a_risk_is_guaranteed_or_nothing_is_kept(void) {
  g_autoptr(Sandbox) sandbox = trained();
  static const char *const wrong[] = {
      "tune s --cohort sim --guarantee-risk 0.1",
      "tune s --cohort sim --guarantee-risk 0.1,0.1,0.1",
      "tune s --cohort sim --guarantee-risk 0,0.1",
      "tune s --cohort sim --guarantee-risk 0.1,1",
      "tune s --cohort sim --guarantee-risk nan,0.1",
      "tune s --cohort sim --guarantee-risk 0.1,0.1 --coverage 0.9,0.5",
      "tune s --cohort sim --guarantee-risk 0.1,0.1 --coverage 0.01",
      "tune s --cohort sim --guarantee-risk 0.1,0.1 --guarantee-coverage 0.1 --coverage 0.5",
      "tune s --cohort sim",
  };
  assert_wrong_usage(sandbox, wrong);
  /* 1e-4 of risk can't be told from a few hundred patients. */
  g_autoptr(Run) failed =
      run_json(sandbox, 1, "tune", "s", "--cohort", "sim", "--guarantee-risk", "0.0001,0.1", NULL);
  assert_says(failed->err, "cannot be guaranteed with n = ");
  g_assert_cmpuint(n_thresholds(sandbox), ==, 0);
  /* Labels that made the selector prove nothing. */
  g_autoptr(Run) seen = run_json(sandbox, 1, "tune", "s", "--cohort", "sim", "--split",
                                 "selector_train", "--guarantee-risk", "0.9,0.1", NULL);
  assert_says(seen->err, "has not seen");
  g_autoptr(Run) tune =
      run_json(sandbox, 0, "tune", "s", "--cohort", "sim", "--guarantee-risk", "0.9,0.1", NULL);
  JsonObject *t = json_array_get_object_element(array_at(root_of(tune), "thresholds"), 0);
  g_assert_cmpfloat(number_at(t, "alpha"), ==, 0.9);
  g_assert_cmpfloat(number_at(t, "delta"), ==, 0.1);
  assert_says(string_at(t, "guarantee"), "at most 0.9 on average in each of 10 bins");
  g_assert_cmpuint(n_thresholds(sandbox), ==, 1);
  g_autoptr(Run) assess = run_json(sandbox, 0, "assess", "s", "--reveal", "a test", "--cohort",
                                   "sim", "--split", "tune", NULL);
  demur_assert_close(number_at(root_of(assess), "coverage"), number_at(t, "realised"), 1e-12, 0);
  g_assert_cmpfloat(number_at(root_of(assess), "threshold"), ==, number_at(t, "threshold"));
}

/* Measures of the accepted: kept with what was promised, wrong words are wrong usage, what can't be
 * shown keeps nothing, and what is promised of the tuning scans is at least true of them. */
static void
test_measures_are_guaranteed(void) {
  g_autoptr(Sandbox) sandbox = trained();
  static const char *const wrong[] = {
      "tune s --cohort sim --guarantee npv",
      "tune s --cohort sim --guarantee npv:0.9",
      "tune s --cohort sim --guarantee npv:0.9:0",
      "tune s --cohort sim --guarantee sbce:0.9:0.1",
      "tune s --cohort sim --guarantee npv:0.9:0.1 --guarantee-risk 0.1,0.1",
      "tune s --cohort sim --guarantee npv:0.9:0.1 --positive-from 1",
      "tune s --cohort sim --guarantee npv:0.9:0.1 --coverage 0.9,0.5",
      "tune s --cohort sim --coverage 0.5 --positive-from 0.1",
      "tune s --use 0.5 --guarantee npv:0.9:0.1",
  };
  assert_wrong_usage(sandbox, wrong);
  g_autoptr(Run) failed =
      run_json(sandbox, 1, "tune", "s", "--cohort", "sim", "--guarantee", "ppv:0.999:0.05", NULL);
  assert_says(failed->err, "cannot be guaranteed with n = ");
  g_assert_cmpuint(n_thresholds(sandbox), ==, 0);
  g_autoptr(Run) tune = run_json(sandbox, 0, "tune", "s", "--cohort", "sim", "--guarantee",
                                 "npv:0.9:0.1", "--guarantee", "brier:0.15:0.05", NULL);
  JsonObject *t = json_array_get_object_element(array_at(root_of(tune), "thresholds"), 0);
  JsonArray *promised = array_at(t, "guarantees");
  g_assert_cmpuint(json_array_get_length(promised), ==, 2);
  g_assert_cmpstr(string_at(json_array_get_object_element(promised, 0), "measure"), ==, "npv");
  g_assert_cmpfloat(number_at(json_array_get_object_element(promised, 1), "level"), ==, 0.15);
  assert_says(string_at(t, "guarantee"), "the negative predictive value of the accepted is at "
                                         "least 0.9");
  g_assert_cmpuint(n_thresholds(sandbox), ==, 1);
  g_autoptr(Run) out = run_json(sandbox, 0, "cohort", "export", "sim", "sim.csv", NULL);
  assert_status(out, 0);
  g_autoptr(Run) assess = run_json(sandbox, 0, "assess", "s", "--reveal", "a test", "--cohort",
                                   "sim", "--split", "tune", NULL);
  JsonArray *verdicts = array_at(root_of(assess), "verdicts");
  size_t n_accepted = 0;
  for (guint i = 0; i < json_array_get_length(verdicts); i++)
    n_accepted +=
        strcmp(string_at(json_array_get_object_element(verdicts, i), "verdict"), "accepted") == 0;
  demur_assert_close((double)n_accepted / json_array_get_length(verdicts), number_at(t, "realised"),
                     1e-9, 0.0);
}

static void
test_no_guarantee_at_a_site_that_did_not_tune(void) {
  g_autoptr(Sandbox) sandbox = trained();
  g_autoptr(Run) before =
      run_json(sandbox, 0, "assess", "s", "--reveal", "a test", "--cohort", "sim", NULL);
  JsonObject *site = json_array_get_object_element(array_at(root_of(before), "sites"), 0);
  assert_members(site, "site,n_scored,n_accepted,coverage,in_tuning_split,guarantee");
  g_assert_true(is_null_at(site, "coverage"));
  g_assert_true(is_null_at(site, "in_tuning_split"));
  g_assert_true(is_null_at(site, "guarantee"));
  g_autoptr(Run) tune =
      run_json(sandbox, 0, "tune", "s", "--cohort", "sim", "--coverage", "0.6", NULL);
  /* tune and test are of the same outside hospital, validation is not. */
  static const struct {
    const char *split;
    gboolean tuned;
  } rows[] = {{"test", TRUE}, {"validation", FALSE}};
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(Run) run = run_json(sandbox, 0, "assess", "s", "--reveal", "a test", "--cohort",
                                  "sim", "--split", rows[i].split, NULL);
    JsonArray *sites = array_at(root_of(run), "sites");
    double n_scored = 0, n_accepted = 0;
    for (guint s = 0; s < json_array_get_length(sites); s++) {
      site = json_array_get_object_element(sites, s);
      g_assert_cmpint(bool_at(site, "in_tuning_split"), ==, rows[i].tuned);
      assert_says(string_at(site, "guarantee"),
                  rows[i].tuned ? "as for the tuning split" : "no guarantee at this site");
      demur_assert_close(number_at(site, "coverage"),
                         number_at(site, "n_accepted") / number_at(site, "n_scored"), 1e-12, 0);
      n_scored += number_at(site, "n_scored");
      n_accepted += number_at(site, "n_accepted");
    }
    g_assert_cmpfloat(n_scored, ==, number_at(root_of(run), "n_scored"));
    g_assert_cmpfloat(n_accepted, ==, number_at(root_of(run), "n_accepted"));
    g_autofree char *line = g_strdup_printf("assess s --cohort sim --split %s", rows[i].split);
    g_autoptr(Run) text = run_line(sandbox, line);
    g_assert_cmpint(strstr(text->out, "no guarantee at this site; coverage so far") != NULL, ==,
                    !rows[i].tuned);
  }
}

/* An earlier threshold becomes current again as it was, with the reason; what is warned of stands
 * in the document too. */
static void
test_an_earlier_threshold_is_used_again(void) {
  g_autoptr(Sandbox) sandbox = trained();
  g_autoptr(Run) tune =
      run_json(sandbox, 0, "tune", "s", "--cohort", "sim", "--coverage", "0.8,0.6", NULL);
  JsonArray *tuned = array_at(root_of(tune), "thresholds");
  const guint n_usual = json_array_get_length(array_at(root_of(tune), "warnings"));
  const double first = number_at(json_array_get_object_element(tuned, 1), "threshold");
  g_autoptr(Run) use =
      run_json(sandbox, 0, "tune", "s", "--use", "0.6", "--reason", "as in June", NULL);
  g_assert_cmpfloat(number_at(root_of(use), "threshold"), ==, first);
  g_autoptr(Run) show = run_json(sandbox, 0, "selector", "show", "s", NULL);
  JsonArray *thresholds = array_at(root_of(show), "thresholds");
  g_assert_cmpuint(json_array_get_length(thresholds), ==, 2);
  JsonObject *current = json_array_get_object_element(thresholds, 1);
  g_assert_true(bool_at(current, "current"));
  g_assert_cmpfloat(number_at(current, "threshold"), ==, first);
  g_autoptr(Run) assess =
      run_json(sandbox, 0, "assess", "s", "--reveal", "a test", "--cohort", "sim", NULL);
  g_assert_cmpfloat(number_at(root_of(assess), "threshold"), ==, first);
  static const struct {
    const char *line;
    int status;
  } wrong[] = {{"tune s --use 0.7", 1},
               {"tune s --use 0.6,0.8", 2},
               {"tune s --use 1.5", 2},
               {"tune s --use 0.6 --cohort sim", 2},
               {"tune nobody --use 0.6", 1}};
  for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
    g_autoptr(Run) run = run_line(sandbox, wrong[i].line);
    assert_status(run, wrong[i].status);
  }
  g_autoptr(Run) seen = run_json(sandbox, 0, "tune", "s", "--cohort", "sim", "--split",
                                 "selector_train", "--coverage", "0.9", NULL);
  JsonArray *warnings = array_at(root_of(seen), "warnings");
  g_assert_cmpuint(json_array_get_length(warnings), ==, n_usual + 1);
  assert_says(json_array_get_string_element(warnings, n_usual), "tune on scans it has not seen");
}

/* tune and test are of one outside hospital; a threshold tuned inside promises nothing there. */
static void
test_evaluate_says_where_nothing_is_guaranteed(void) {
  g_autoptr(Sandbox) sandbox = trained();
  g_autoptr(Run) tune =
      run_json(sandbox, 0, "tune", "s", "--cohort", "sim", "--coverage", "0.6", NULL);
  g_autoptr(Run) inside = run_json(sandbox, 0, "tune", "s", "--cohort", "sim", "--split",
                                   "validation", "--coverage", "0.7", NULL);
  g_autoptr(Run) run = run_json(sandbox, 0, "evaluate", "--selector", "s", "--cohort", "sim",
                                "--bootstrap", "50", "--resamples", "2", NULL);
  JsonArray *list = array_at(root_of(run), "guarantees");
  g_assert_cmpuint(json_array_get_length(list), ==, 2);
  for (guint i = 0; i < 2; i++) {
    JsonObject *one = json_array_get_object_element(list, i);
    g_assert_cmpfloat(number_at(one, "coverage"), ==, i == 0 ? 0.6 : 0.7);
    g_assert_cmpfloat(number_at(one, "n_sites"), ==, 1);
    g_assert_cmpfloat(number_at(one, "n_sites_without_guarantee"), ==, i);
  }
  g_autoptr(Run) text =
      run_line(sandbox, "evaluate --selector s --cohort sim --bootstrap 50 --resamples 2 --quiet");
  assert_says(text->out, "tuned to 0.7: no guarantee at 1 of these 1 site,");
}

/* The plan's table with every label the same. */
static char *
filled(const Sandbox *sandbox, const char *table, const char *name, const char *label) {
  g_auto(GStrv) lines = g_strsplit(table, "\n", -1);
  g_autoptr(GString) text = g_string_new(NULL);
  for (size_t i = 0; lines[i] != NULL && *lines[i] != '\0'; i++)
    g_string_append_printf(text, "%s%s\n", lines[i], i > 0 ? label : "");
  return sandbox_write(sandbox, name, text->str, -1);
}

static void
test_an_audit_changes_the_risks_of_its_site(void) {
  g_autoptr(Sandbox) sandbox = trained();
  g_autoptr(Run) tune =
      run_json(sandbox, 0, "tune", "s", "--cohort", "sim", "--coverage", "0.6", NULL);
  g_autoptr(Run) before =
      run_json(sandbox, 0, "assess", "s", "--reveal", "a test", "--cohort", "sim", NULL);
  const char *site =
      string_at(json_array_get_object_element(array_at(root_of(before), "sites"), 0), "site");
  g_autofree char *path = sandbox_path(sandbox, "plan.csv");
  g_autoptr(Run) plan = run_json(sandbox, 0, "audit", "plan", "s", "--cohort", "sim", "--site",
                                 site, "--scans", "30", "--output", path, NULL);
  g_assert_cmpuint(json_array_get_length(array_at(root_of(plan), "scans")), ==, 30);
  g_assert_false(bool_at(root_of(plan), "site_trained_selector"));
  g_autofree char *table = NULL;
  g_assert_true(g_file_get_contents(path, &table, NULL, NULL));
  g_assert_true(g_str_has_prefix(table, "scan_id,patient_id,site,label\n"));
  /* Tables that are refused keep nothing. */
  static const struct {
    const char *label, *says;
  } wrong[] = {{"2", "line 2"}, {"yes", "line 2"}, {"", "no row has a label"}, {"1,1", "fields"}};
  for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
    g_autofree char *file = filled(sandbox, table, "wrong.csv", wrong[i].label);
    g_autoptr(Run) run = run_json(sandbox, 1, "audit", "apply", "s", file, NULL);
    assert_says(run->err, wrong[i].says);
  }
  g_autofree char *unknown =
      sandbox_write(sandbox, "unknown.csv", "scan_id,site,label\nnobody,X,1\n", -1);
  g_autoptr(Run) nobody =
      run_json(sandbox, 1, "audit", "apply", "s", unknown, "--cohort", "sim", NULL);
  g_autoptr(Run) unplanned = run_json(sandbox, 1, "audit", "apply", "s", unknown, NULL);
  assert_says(unplanned->err, "audit plan");
  g_autoptr(Run) same =
      run_json(sandbox, 0, "assess", "s", "--reveal", "a test", "--cohort", "sim", NULL);
  g_assert_null(strstr(same->out, "\"audited\""));
  /* Every label 1: the risks must rise, all of them; the raw ones and other sites stay. */
  g_autofree char *file = filled(sandbox, table, "ones.csv", "1");
  g_autoptr(Run) apply = run_json(sandbox, 0, "audit", "apply", "s", file, NULL);
  JsonObject *audit = root_of(apply);
  g_assert_cmpfloat(number_at(audit, "n_labels"), ==, 30);
  g_assert_cmpfloat(number_at(audit, "intercept"), >, 0);
  /* The cohort has the outcomes too, few of which are 1. */
  JsonObject *contrary = find_in(array_at(audit, "noticed"), "kind", "contrary");
  g_assert_cmpfloat(number_at(contrary, "n_all"), ==, 30);
  g_assert_cmpfloat(number_at(contrary, "n"), >, 15);
  g_assert_cmpfloat(json_array_get_double_element(array_at(audit, "interval"), 0), <,
                    number_at(audit, "intercept"));
  g_assert_cmpfloat(number_at(audit, "mean_shift"), >, 0);
  g_assert_cmpfloat(number_at(audit, "expected_site_error_after"), <,
                    number_at(audit, "expected_site_error_before"));
  g_autoptr(Run) after =
      run_json(sandbox, 0, "assess", "s", "--reveal", "a test", "--cohort", "sim", NULL);
  JsonArray *old = array_at(root_of(before), "verdicts"),
            *new = array_at(root_of(after), "verdicts");
  const double odds = exp(number_at(audit, "intercept"));
  guint n_changed = 0;
  for (guint i = 0; i < json_array_get_length(old); i++) {
    JsonObject *a = json_array_get_object_element(old, i);
    JsonObject *b = json_array_get_object_element(new, i);
    assert_members(
        b, "scan_id,patient_id,risk,risk_raw,risk_interval,audited,score,threshold,verdict,reasons,"
           "reason_details,state,out_of_date_because");
    const double r = CLAMP(number_at(a, "risk"), 1e-6, 1 - 1e-6);
    demur_assert_close(number_at(b, "risk"), odds * r / (odds * r + 1 - r), 1e-9, 0);
    g_assert_cmpfloat(number_at(a, "risk_raw"), ==, number_at(b, "risk_raw"));
    n_changed += strcmp(string_at(a, "verdict"), string_at(b, "verdict")) != 0;
  }
  /* The site's scans are those of tune and test: test's changes are among those announced. */
  JsonArray *changes = array_at(audit, "changes");
  g_assert_cmpuint(json_array_get_length(changes), ==, (guint)number_at(audit, "n_changed"));
  guint n_announced = 0;
  for (guint i = 0; i < json_array_get_length(old); i++)
    n_announced += find_in(changes, "scan_id",
                           string_at(json_array_get_object_element(old, i), "scan_id")) != NULL;
  g_assert_cmpuint(n_announced, ==, n_changed);
  g_autoptr(Run) elsewhere = run_json(sandbox, 0, "assess", "s", "--reveal", "a test", "--cohort",
                                      "sim", "--split", "validation", NULL);
  g_assert_null(strstr(elsewhere->out, "\"audited\""));
}

/* Six sites that train, three (A, B, C) that don't; every fourth scan is an event. */
static char *
three_new_sites(const Sandbox *sandbox) {
  g_autoptr(GString) table = g_string_new("scan_id,patient_id,site,split,label,risk\n");
  for (int i = 0; i < 300; i++)
    g_string_append_printf(table, "s%d,p%d,%c,%s,%d,0.%02d\n", i, i,
                           i < 240 ? 'K' + i % 6 : 'A' + i % 3, i < 240 ? "selector_train" : "test",
                           (i / 6) % 4 == 0, 5 + i * 7 % 90);
  return sandbox_write(sandbox, "sites.csv", table->str, -1);
}

/* One plan and one table for every site of a split; a wrong row of any site keeps none of them. */
static void
test_many_sites_are_audited_at_once(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  g_autofree char *cohort = three_new_sites(sandbox);
  g_autoptr(Run) import = run_json(sandbox, 0, "cohort", "import", "c", cohort, NULL);
  g_autoptr(Run) train =
      run_json(sandbox, 0, "train", "s", "--cohort", "c", "--method", "confidence", NULL);
  g_assert_cmpstr(string_at(root_of(train), "method"), ==, "confidence");
  g_autofree char *path = sandbox_path(sandbox, "all.csv");
  g_autoptr(Run) plan = run_json(sandbox, 0, "audit", "plan", "s", "--cohort", "c", "--scans", "10",
                                 "--output", path, NULL);
  JsonArray *planned = array_at(root_of(plan), "sites");
  g_assert_cmpuint(json_array_get_length(planned), ==, 3);
  g_autofree char *table = NULL;
  g_assert_true(g_file_get_contents(path, &table, NULL, NULL));
  g_auto(GStrv) lines = g_strsplit(table, "\n", -1);
  g_assert_cmpuint(g_strv_length(lines), ==, 1 + 30 + 1); /* header, rows, nothing after the last */
  /* The last row names another site than its scan's: A and B are not kept either. */
  g_autofree char *ones = filled(sandbox, table, "ones.csv", "1");
  g_autofree char *good = NULL;
  g_assert_true(g_file_get_contents(ones, &good, NULL, NULL));
  g_autofree char *bad = g_strconcat(good, "s240,p240,C,1\n", NULL); /* 240 is of site A */
  g_autofree char *wrong = sandbox_write(sandbox, "wrong.csv", bad, -1);
  g_autoptr(Run) refused = run_json(sandbox, 1, "audit", "apply", "s", wrong, NULL);
  assert_says(refused->err, "another site");
  g_autoptr(Run) before =
      run_json(sandbox, 0, "assess", "s", "--cohort", "c", "--reveal", "a test", NULL);
  g_assert_null(strstr(before->out, "\"audited\""));
  /* Without a threshold nothing is accepted, and nobody is told a risk who does not ask for it. */
  g_autoptr(Run) plain = run_json(sandbox, 0, "assess", "s", "--cohort", "c", NULL);
  JsonArray *untold = array_at(root_of(plain), "verdicts");
  for (guint i = 0; i < json_array_get_length(untold); i++) {
    JsonObject *one = json_array_get_object_element(untold, i);
    g_assert_cmpstr(string_at(one, "verdict"), !=, "accepted");
    g_assert_true(is_null_at(one, "risk") && is_null_at(one, "risk_raw") &&
                  is_null_at(one, "score") && is_null_at(one, "risk_interval"));
  }
  g_autoptr(Run) apply = run_json(sandbox, 0, "audit", "apply", "s", ones, NULL);
  JsonArray *sites = array_at(root_of(apply), "sites");
  g_assert_cmpuint(json_array_get_length(sites), ==, 3);
  for (guint i = 0; i < 3; i++) {
    const char name[] = {(char)('A' + (int)i), '\0'};
    JsonObject *site = json_array_get_object_element(sites, i);
    g_assert_cmpstr(string_at(site, "site"), ==, name);
    g_assert_cmpfloat(number_at(site, "intercept"), >, 0);
  }
  g_autoptr(Run) after =
      run_json(sandbox, 0, "assess", "s", "--cohort", "c", "--reveal", "a test", NULL);
  JsonArray *old = array_at(root_of(before), "verdicts"),
            *new = array_at(root_of(after), "verdicts");
  for (guint i = 0; i < json_array_get_length(old); i++) {
    JsonObject *a = json_array_get_object_element(old, i);
    JsonObject *b = json_array_get_object_element(new, i);
    g_assert_true(bool_at(b, "audited"));
    g_assert_cmpfloat(number_at(b, "risk"), >, number_at(a, "risk"));
    JsonArray *wide = array_at(a, "risk_interval"), *narrow = array_at(b, "risk_interval");
    g_assert_cmpfloat(json_array_get_double_element(wide, 0), <,
                      json_array_get_double_element(narrow, 0));
  }
}

/* The row of a document's "rows" by its method. */
static JsonObject *
row_of(JsonObject *hold_back, const char *method) {
  JsonObject *row = find_in(array_at(hold_back, "rows"), "method", method);
  g_assert_nonnull(row);
  return row;
}

/* A number that one outcome changes by `change`: in steps of ten outcomes, or withheld where ten would
 * change it by more than it is. */
static void
check_in_steps(JsonObject *row, const char *member, double value, double change) {
  if (is_null_at(row, member))
    g_assert_cmpfloat(25.0 * change, >, fabs(value));
  else
    g_assert_cmpfloat(fabs(number_at(row, member) - value), <=, 12.5 * change);
}

/* The rule is the one that assess goes by: shown are the scans whose interval does not hold the
 * threshold; net benefit and selectivity are worked out here from what assess tells. */
static void
check_rule(const Sandbox *sandbox, JsonObject *hold_back, double decision) {
  g_autoptr(Run) assess =
      run_json(sandbox, 0, "assess", "s", "--reveal", "a test", "--cohort", "c", NULL);
  JsonArray *verdicts = array_at(root_of(assess), "verdicts");
  const guint n = json_array_get_length(verdicts);
  double n_shown = 0.0, benefit = 0.0, cost[2] = {0.0, 0.0};
  for (guint i = 0; i < n; i++) {
    JsonObject *verdict = json_array_get_object_element(verdicts, i);
    JsonArray *interval = array_at(verdict, "risk_interval");
    const double risk = number_at(verdict, "risk");
    const gboolean shown = !(json_array_get_double_element(interval, 0) < decision &&
                             decision <= json_array_get_double_element(interval, 1));
    const int scan = atoi(string_at(verdict, "scan_id") + 1);
    const gboolean event = (scan / 6) % 4 == 0, called = risk >= decision;
    cost[shown] += called == event ? 0.0 : called ? decision : 1.0 - decision;
    n_shown += shown;
    if (shown && called)
      benefit += event ? 1.0 : -decision / (1.0 - decision);
    if (!shown)
      g_assert_cmpstr(string_at(verdict, "verdict"), ==, "red_flag");
  }
  JsonObject *rule = row_of(hold_back, "interval");
  g_assert_cmpfloat(n_shown, >, 0.0);
  g_assert_cmpfloat(n_shown, <, n);
  g_assert_cmpfloat(number_at(rule, "n_shown"), ==, n_shown);
  demur_assert_close(number_at(rule, "coverage"), n_shown / n, 1e-12, 0);
  const double all = (cost[0] + cost[1]) / n;
  check_in_steps(rule, "net_benefit", benefit / n_shown, 1.0 / n_shown);
  check_in_steps(rule, "selectivity", cost[0] / (n - n_shown) / all, 1.0 / ((n - n_shown) * all));
  JsonObject *beside = row_of(hold_back, "selector:s"); /* at a coverage near it, or not told */
  if (!is_null_at(beside, "coverage"))
    g_assert_cmpfloat(fabs(number_at(beside, "coverage") - n_shown / n), <, 0.1);
  g_assert_true(is_null_at(row_of(hold_back, "full"), "selectivity"));
}

/* What the rule gains stands beside the selector; with --audited the labelled scans are not
 * measured, and the curve says what fewer labels would have been worth. */
static void
test_evaluate_measures_intervals_and_audits(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  g_autofree char *cohort = three_new_sites(sandbox);
  g_autoptr(Run) import = run_json(sandbox, 0, "cohort", "import", "c", cohort, NULL);
  g_autoptr(Run) train = run_json(sandbox, 0, "train", "s", "--cohort", "c", "--method",
                                  "confidence", "--recalibrate", "none", NULL);
  g_autoptr(Run) tune =
      run_json(sandbox, 0, "tune", "s", "--cohort", "c", "--split", "selector_train", "--coverage",
               "1", "--hold-back-across", "0.5", NULL);
  g_autoptr(Run) plain = run_json(sandbox, 0, "evaluate", "--selector", "s", "--cohort", "c",
                                  "--bootstrap", "20", NULL);
  JsonArray *list = array_at(root_of(plain), "hold_back");
  g_assert_cmpuint(json_array_get_length(list), ==, 1);
  JsonObject *hold_back = json_array_get_object_element(list, 0);
  g_assert_cmpfloat(number_at(hold_back, "decision_threshold"), ==, 0.5);
  g_assert_true(bool_at(hold_back, "tuned"));
  g_assert_cmpfloat(number_at(hold_back, "n_sites"), ==, 3);
  check_rule(sandbox, hold_back, 0.5);
  g_assert_true(is_null_at(root_of(plain), "audited"));
  g_autoptr(Run) early =
      run_json(sandbox, 1, "evaluate", "--audited", "--selector", "s", "--cohort", "c", NULL);
  assert_says(early->err, "was audited");
  g_autofree char *path = sandbox_path(sandbox, "all.csv");
  g_autoptr(Run) plan = run_json(sandbox, 0, "audit", "plan", "s", "--cohort", "c", "--scans", "10",
                                 "--output", path, NULL);
  g_autofree char *table = NULL;
  g_assert_true(g_file_get_contents(path, &table, NULL, NULL));
  g_autofree char *ones = filled(sandbox, table, "ones.csv", "1");
  g_autoptr(Run) apply = run_json(sandbox, 0, "audit", "apply", "s", ones, NULL);
  g_autoptr(Run) audited = run_json(sandbox, 0, "evaluate", "--audited", "--selector", "s",
                                    "--cohort", "c", "--bootstrap", "20", NULL);
  JsonObject *root = root_of(audited), *audits = object_at(root, "audited");
  g_assert_cmpfloat(number_at(root, "n_scans"), ==, 60 - 30);
  g_assert_cmpfloat(number_at(audits, "n_sites"), ==, 3);
  g_assert_cmpfloat(number_at(audits, "n_labels"), ==, 30);
  JsonArray *curve = array_at(audits, "curve");
  static const double labels[] = {0, 10, 25, 50, 100};
  g_assert_cmpuint(json_array_get_length(curve), ==, G_N_ELEMENTS(labels));
  for (guint i = 0; i < G_N_ELEMENTS(labels); i++) {
    JsonObject *point = json_array_get_object_element(curve, i);
    g_assert_cmpfloat(number_at(point, "labels"), ==, labels[i]);
    g_assert_cmpfloat(number_at(point, "n_labels"), ==, MIN(3 * labels[i], 30));
    g_assert_cmpfloat(number_at(point, "n_scans"), ==, 30);
    /* Labels that are all 1 make the risks too high: an audit must show in the error. */
    if (i > 0)
      g_assert_cmpfloat(number_at(point, "sbce2"), >,
                        number_at(json_array_get_object_element(curve, 0), "sbce2"));
  }
  const double before = number_at(hold_back, "mean_width");
  JsonObject *now = json_array_get_object_element(array_at(root, "hold_back"), 0);
  g_assert_cmpfloat(number_at(now, "mean_width"), !=, before);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/commands/guarantee/use", test_an_earlier_threshold_is_used_again);
  g_test_add_func("/commands/guarantee/risk", test_a_risk_is_guaranteed_or_nothing_is_kept);
  g_test_add_func("/commands/guarantee/measures", test_measures_are_guaranteed);
  g_test_add_func("/commands/guarantee/sites", test_no_guarantee_at_a_site_that_did_not_tune);
  g_test_add_func("/commands/guarantee/evaluate", test_evaluate_says_where_nothing_is_guaranteed);
  g_test_add_func("/commands/guarantee/audit-sites", test_many_sites_are_audited_at_once);
  g_test_add_func("/commands/guarantee/audit", test_an_audit_changes_the_risks_of_its_site);
  g_test_add_func("/commands/guarantee/evaluate-audited",
                  test_evaluate_measures_intervals_and_audits);
  return g_test_run();
}
