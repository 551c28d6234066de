/* A study by files between four workspaces: three sites and one that has all their scans. Right values: sums
 * and Newton's steps over all scans, done here from the tables and from what `assess` prints; nothing of a
 * person in what crosses. */
#include "commands.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/support.h"

static const char *const sites[] = {"east", "north", "west"};

static void
must(const Sandbox *sandbox, const char *line) {
  g_autoptr(Run) run = run_line(sandbox, line);
  assert_status(run, 0);
}

static void
assert_refuses(const Sandbox *sandbox, const char *line, int status, const char *says) {
  g_autoptr(Run) run = run_line(sandbox, line);
  assert_status(run, status);
  assert_says(run->err, says);
}

/* The test split of the cohort in tables of every n-th scan, and each in a workspace of that name, with the
 * selector. */
static void
share_out(const Sandbox *sandbox, const char *const *names, size_t n_parts) {
  g_autofree char *path = sandbox_path(sandbox, "c.csv"), *text = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (size_t s = 0; s < n_parts; s++) {
    g_autoptr(GString) table = g_string_new(lines[0]);
    size_t n = 0;
    for (size_t i = 1; lines[i] != NULL; i++)
      if (strstr(lines[i], ",test,") != NULL && n++ % n_parts == s)
        g_string_append_printf(table, "\n%s", lines[i]);
    g_string_append_c(table, '\n');
    g_autofree char *name = g_strconcat(names[s], ".csv", NULL);
    g_autofree char *written = sandbox_write(sandbox, name, table->str, -1);
    g_autofree char *cohort = g_strdup_printf(
        "cohort import c %s.csv --model simulated-cnn --workspace %s.demur", names[s], names[s]);
    g_autofree char *selector =
        g_strdup_printf("selector import s s.json --workspace %s.demur", names[s]);
    must(sandbox, cohort);
    must(sandbox, selector);
  }
}

static void
prepare(const Sandbox *sandbox) {
  must(sandbox, "cohort simulate c --scans 2000 --sites 8 --base-train 400 --tune 300 --test 1500 "
                "--base-rate-logit 2 --quiet --seed 3");
  must(sandbox, "train s --cohort c --method confidence --quiet");
  must(sandbox, "tune s --cohort c --coverage 0.8 --quiet");
  must(sandbox, "selector export s s.json");
  must(sandbox, "selector import released s.json");
  must(sandbox, "cohort export c c.csv");
  share_out(sandbox, sites, 3);
}

static Sandbox *
sandbox_of_sites(void) {
  return sandbox_prepared(prepare);
}

static JsonObject *
read_document(const Sandbox *sandbox, const char *name, JsonParser *parser) {
  g_autofree char *path = sandbox_path(sandbox, name);
  g_assert_true(json_parser_load_from_file(parser, path, NULL));
  return json_node_get_object(json_parser_get_root(parser));
}

/* As whoever begins anew does: no command replaces a study's files. */
static void
clear(const Sandbox *sandbox, const char *name) {
  g_autofree char *path = sandbox_path(sandbox, name);
  (void)remove(path);
}

/* The study to its end by the answers of workspaces of those names; its result is in the file "result". */
static void
run_study_of(const Sandbox *sandbox, const char *const *names, size_t n_names, const char *what) {
  g_autoptr(GString) asked = g_string_new(NULL), answers = g_string_new(NULL);
  for (size_t s = 0; s < n_names; s++) {
    g_string_append_printf(asked, "%s%s", s > 0 ? "," : "", names[s]);
    g_string_prepend(answers, names[s]); /* in another order than they were asked */
    g_string_prepend(answers, " answer-");
  }
  g_autofree char *start =
      g_strdup_printf("federate start round --selector released --sites %s %s", asked->str, what);
  g_autofree char *merge =
      g_strdup_printf("--json federate merge round%s --output result", answers->str);
  clear(sandbox, "round");
  clear(sandbox, "result");
  must(sandbox, start);
  for (size_t n = 1;; n++) {
    g_assert_cmpuint(n, <, 30);
    for (size_t s = 0; s < n_names; s++) {
      g_autofree char *before = g_strconcat("answer-", names[s], NULL);
      clear(sandbox, before);
      g_autofree char *answer =
          g_strdup_printf("federate answer round --as %s --cohort c --workspace %s.demur "
                          "--output answer-%s",
                          names[s], names[s], names[s]);
      must(sandbox, answer);
    }
    g_autoptr(Run) merged = run_line(sandbox, merge);
    assert_status(merged, 0);
    if (bool_at(root_of(merged), "done"))
      return;
    g_autofree char *from = sandbox_path(sandbox, "result"), *to = sandbox_path(sandbox, "round");
    g_assert_cmpint(rename(from, to), ==, 0);
  }
}

static void
run_study(const Sandbox *sandbox, const char *what) {
  run_study_of(sandbox, sites, 3, what);
}

/* ---- what all scans say together, computed here ---- */

/* The test scans of the workspace that has all: labels of its table, the rest as `assess` prints it. */
typedef struct {
  size_t n;
  double raw[1500], seen[1500], score[1500], label[1500];
} Pool;

static GHashTable *
labels_of(const Sandbox *sandbox) {
  g_autofree char *path = sandbox_path(sandbox, "c.csv"), *text = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1), names = g_strsplit(lines[0], ",", -1);
  size_t scan = 0, label = 0;
  for (size_t c = 0; names[c] != NULL; c++) {
    scan = g_str_equal(names[c], "scan_id") ? c : scan;
    label = g_str_equal(names[c], "label") ? c : label;
  }
  GHashTable *labels = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (size_t i = 1; lines[i] != NULL && *lines[i] != '\0'; i++) {
    g_auto(GStrv) cells = g_strsplit(lines[i], ",", -1);
    g_hash_table_insert(labels, g_strdup(cells[scan]),
                        GINT_TO_POINTER(g_str_equal(cells[label], "1") ? 2 : 1));
  }
  return labels;
}

/* What the selector says of every test scan in the cohort. */
static Pool *
pool_by(const Sandbox *sandbox, const char *selector) {
  g_autoptr(GHashTable) labels = labels_of(sandbox);
  g_autofree char *line =
      g_strdup_printf("--json assess %s --cohort c --split test --reveal test", selector);
  g_autoptr(Run) run = run_line(sandbox, line);
  assert_status(run, 0);
  JsonArray *verdicts = array_at(root_of(run), "verdicts");
  Pool *pool = g_new0(Pool, 1);
  pool->n = json_array_get_length(verdicts);
  g_assert_cmpuint(pool->n, ==, 1500);
  for (guint i = 0; i < 1500; i++) {
    JsonObject *verdict = json_array_get_object_element(verdicts, i);
    const int label = GPOINTER_TO_INT(g_hash_table_lookup(labels, string_at(verdict, "scan_id")));
    g_assert_cmpint(label, >, 0);
    pool->label[i] = label - 1;
    pool->raw[i] = number_at(verdict, "risk_raw");
    pool->seen[i] = number_at(verdict, "risk");
    pool->score[i] = number_at(verdict, "score");
  }
  return pool;
}

static double
logit(double p) {
  return log(p) - log1p(-p);
}

/* Maximum likelihood of logit p = a logit r + b by plain Newton steps; a is held at 1 where not free. */
static void
fit_by_hand(const Pool *pool, gboolean slope_free, double *a, double *b) {
  *a = 1.0;
  *b = 0.0;
  for (int step = 0; step < 50; step++) {
    double ga = 0.0, gb = 0.0, haa = 0.0, hab = 0.0, hbb = 0.0;
    for (size_t i = 0; i < pool->n; i++) {
      const double x = logit(pool->raw[i]), p = 1.0 / (1.0 + exp(-(*a * x + *b))),
                   w = p * (1.0 - p);
      ga += (p - pool->label[i]) * x;
      gb += p - pool->label[i];
      haa += w * x * x;
      hab += w * x;
      hbb += w;
    }
    if (slope_free) {
      const double determinant = haa * hbb - hab * hab;
      *a -= (hbb * ga - hab * gb) / determinant;
      *b -= (haa * gb - hab * ga) / determinant;
    } else {
      *b -= gb / hbb;
    }
  }
}

/* The map of `train` with all test scans as its recalibration split: the fit of pooled scans. */
static void
fit_by_train(const Sandbox *sandbox, const char *kind, double *a, double *b) {
  g_autofree char *train =
      g_strdup_printf("train p-%s --cohort c --method confidence --quiet --recalibrate %s "
                      "--recalibration-split test",
                      kind, kind);
  g_autofree char *show = g_strdup_printf("--json selector show p-%s", kind);
  must(sandbox, train);
  g_autoptr(Run) run = run_line(sandbox, show);
  assert_status(run, 0);
  JsonObject *map = object_at(root_of(run), "recalibration");
  *a = number_at(map, "slope");
  *b = number_at(map, "intercept");
}

/* The fit ends where a step would gain less than the rounding of the likelihood (metrics/newton.h): that is
 * the maximum to 1e-6, and the fit of pooled scans to 1e-9. */
static void
test_three_sites_say_what_all_scans_say(void) {
  g_autoptr(Sandbox) sandbox = sandbox_of_sites();
  g_autofree Pool *pool = pool_by(sandbox, "released");
  static const char *const kinds[] = {"platt", "intercept"};
  for (size_t k = 0; k < 2; k++) {
    g_autoptr(JsonParser) parser = json_parser_new();
    g_autofree char *what = g_strdup_printf("--study recalibration --kind %s", kinds[k]);
    run_study(sandbox, what);
    JsonObject *result = read_document(sandbox, "result", parser);
    g_assert_cmpfloat(number_at(result, "n"), ==, 1500.0);
    double a, b, by_hand_a, by_hand_b;
    fit_by_train(sandbox, kinds[k], &a, &b);
    fit_by_hand(pool, k == 0, &by_hand_a, &by_hand_b);
    demur_assert_close(number_at(result, "slope"), a, 1e-9, 1e-9);
    demur_assert_close(number_at(result, "intercept"), b, 1e-9, 1e-9);
    demur_assert_close(number_at(result, "slope"), by_hand_a, 0.0, 1e-6);
    demur_assert_close(number_at(result, "intercept"), by_hand_b, 0.0, 1e-6);
  }
  g_autoptr(JsonParser) parser = json_parser_new();
  run_study(sandbox, "--study audit");
  JsonObject *result = read_document(sandbox, "result", parser);
  double difference = 0.0, variance = 0.0;
  for (size_t i = 0; i < pool->n; i++) {
    difference += pool->label[i] - pool->seen[i];
    variance += pool->seen[i] * (1.0 - pool->seen[i]);
  }
  demur_assert_close(number_at(result, "difference"), difference / 1500.0, 1e-9, 1e-12);
  demur_assert_close(number_at(result, "variance"), variance, 1e-9, 0.0);
}

/* Its columns no command prints: two sites that share the same scans out otherwise. */
static void
test_how_scans_are_shared_out_corrects_alike(void) {
  static const char *const thirds[] = {"first", "second", "third"}, *const halves[] = {"left",
                                                                                       "right"};
  static const char study[] = "--study corrector --lambda 10 --leave-out 2,3";
  g_autoptr(Sandbox) sandbox = sandbox_of_sites();
  g_autoptr(JsonParser) of_three = json_parser_new(), of_two = json_parser_new();
  /* No score of this selector reads its corrector: nothing is asked of any site. */
  g_autofree char *line =
      g_strconcat("federate start round --selector s --sites east,north ", study, NULL);
  assert_refuses(sandbox, line, 1, "is trained with --recalibrate corrector");
  g_autofree char *round = sandbox_path(sandbox, "round");
  g_assert_false(g_file_test(round, G_FILE_TEST_EXISTS));
  must(sandbox, "train t --cohort c --method confidence --recalibrate corrector --quiet");
  must(sandbox, "selector remove released");
  must(sandbox, "selector export t s.json");
  must(sandbox, "selector import released s.json");
  share_out(sandbox, thirds, 3);
  share_out(sandbox, halves, 2);
  run_study_of(sandbox, thirds, 3, study);
  JsonObject *three = read_document(sandbox, "result", of_three);
  run_study_of(sandbox, halves, 2, study);
  JsonObject *two = read_document(sandbox, "result", of_two);
  g_assert_cmpfloat(number_at(two, "n"), ==, 1500.0);
  demur_assert_close(number_at(three, "intercept"), number_at(two, "intercept"), 1e-9, 1e-9);
  JsonArray *ours = array_at(three, "weights"), *theirs = array_at(two, "weights");
  g_assert_cmpuint(json_array_get_length(ours), ==, json_array_get_length(theirs));
  double largest = 0.0;
  for (guint c = 0; c < json_array_get_length(ours); c++) {
    const double weight = json_array_get_double_element(ours, c);
    largest = fmax(largest, fabs(weight));
    demur_assert_close(weight, json_array_get_double_element(theirs, c), 1e-9, 1e-9);
  }
  g_assert_cmpfloat(largest, >, 1e-3);
  must(sandbox, "federate install result corrected");
}

/* Sums over the scans that score from the threshold on, and what `evaluate` says of the same. */
static void
test_an_evaluation_is_the_evaluation(void) {
  static const double edge = 0.25;
  g_autoptr(Sandbox) sandbox = sandbox_of_sites();
  g_autofree Pool *pool = pool_by(sandbox, "released");
  g_autoptr(Run) shown = run_line(sandbox, "--json selector show s");
  assert_status(shown, 0);
  JsonArray *thresholds = array_at(root_of(shown), "thresholds");
  const double threshold = number_at(json_array_get_object_element(thresholds, 0), "threshold");
  g_autofree char *what =
      g_strdup_printf("--study evaluation --thresholds %.17g --edges 0.25", threshold);
  run_study(sandbox, what);
  g_autoptr(JsonParser) parser = json_parser_new();
  JsonObject *result = read_document(sandbox, "result", parser);
  JsonArray *points = array_at(result, "points");
  size_t n_binned = 0;
  for (guint p = 0; p < 2; p++) { /* from the threshold on; everything */
    JsonObject *at = json_array_get_object_element(points, p);
    double n = 0.0, observed = 0.0, expected = 0.0, brier = 0.0, bins[2][3] = {{0.0}};
    for (size_t i = 0; i < pool->n; i++) {
      if (p == 0 && pool->score[i] < threshold)
        continue;
      double *bin = bins[pool->seen[i] >= edge];
      n += 1.0;
      observed += pool->label[i];
      expected += pool->seen[i];
      brier += (pool->label[i] - pool->seen[i]) * (pool->label[i] - pool->seen[i]);
      bin[0] += 1.0;
      bin[1] += pool->label[i];
      bin[2] += pool->seen[i];
    }
    double square = 0.0;
    if (number_at(at, "n_bins") == 1.0) /* a site has few outcomes in one of them */
      square = pow(observed - expected, 2.0) / n;
    for (size_t k = 0; k < 2 && number_at(at, "n_bins") == 2.0; k++)
      square += pow(bins[k][1] - bins[k][2], 2.0) / bins[k][0];
    n_binned += (size_t)number_at(at, "n_bins");
    g_assert_true(bool_at(at, "told"));
    g_assert_cmpfloat(number_at(at, "n"), ==, n);
    demur_assert_close(number_at(at, "coverage"), n / 1500.0, 1e-9, 0.0);
    demur_assert_close(number_at(at, "oe_ratio"), observed / expected, 1e-9, 0.0);
    demur_assert_close(number_at(at, "brier"), brier / n, 1e-9, 0.0);
    demur_assert_close(number_at(at, "sbce2"), sqrt(square / n), 1e-9, 0.0);
  }
  g_assert_cmpuint(n_binned, >=, 3);
  g_autoptr(Run) evaluated =
      run_line(sandbox, "--json evaluate --selector s --cohort c --bootstrap 20");
  assert_status(evaluated, 0);
  JsonObject *method = find_in(array_at(root_of(evaluated), "methods"), "name", "selector:s");
  JsonObject *right = find_in(array_at(method, "at"), "threshold_from", "tune"),
             *at = json_array_get_object_element(points, 0);
  demur_assert_close(number_at(at, "coverage"), number_at(right, "realised"), 1e-9, 0.0);
  g_assert_cmpfloat(number_at(at, "n"), ==, number_at(right, "n_accepted"));
}

static char *
read_text(const Sandbox *sandbox, const char *name) {
  g_autofree char *path = sandbox_path(sandbox, name);
  char *text = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  return text;
}

/* Verdicts of the selector as CSV, as JSON and on a scan's page: from the study of that digest; NULL: from none. */
static void
check_exports(const Sandbox *sandbox, const char *selector, const char *result) {
  g_autofree char *as_csv = g_strdup_printf("export v.csv --cohort c --selector %s", selector),
                  *as_json = g_strdup_printf("export v.json --cohort c --selector %s", selector);
  must(sandbox, as_csv);
  must(sandbox, as_json);
  g_autofree char *csv = read_text(sandbox, "v.csv"),
                  *short_digest =
                      result != NULL ? g_strndup(result, 12) : g_strdup("several sites");
  g_auto(GStrv) lines = g_strsplit(csv, "\r\n", -1);
  g_assert_true(g_str_has_suffix(lines[0], ",federated"));
  for (char **line = lines + 1; **line != '\0'; line++)
    g_assert_cmpint(strstr(*line, short_digest) != NULL, ==, result != NULL);
  g_autoptr(JsonParser) parser = json_parser_new(), of_page = json_parser_new();
  JsonArray *verdicts = array_at(read_document(sandbox, "v.json", parser), "verdicts");
  g_assert_cmpuint(json_array_get_length(verdicts), >, 100);
  for (guint i = 0; i < json_array_get_length(verdicts); i++) {
    JsonObject *v = json_array_get_object_element(verdicts, i);
    g_assert_cmpint(json_object_has_member(v, "federated"), ==, result != NULL);
    if (result != NULL)
      g_assert_cmpstr(
          string_at(json_array_get_object_element(array_at(v, "federated"), 0), "result"), ==,
          result);
  }
  g_autofree char *page =
      g_strdup_printf("report patient page.pdf --scan %s --selector %s --cohort c",
                      string_at(json_array_get_object_element(verdicts, 0), "scan_id"), selector);
  must(sandbox, page);
  JsonObject *of =
      json_object_get_object_member(read_document(sandbox, "page.json", of_page), "selector");
  g_assert_cmpint(json_object_has_member(of, "federated"), ==, result != NULL);
  if (result != NULL)
    assert_says(string_at(of, "federated"), short_digest);
}

/* What the study came to, in the selector that it is of: the same selector at every site, its risks the
 * map's, and who shows them says where they come from. */
static void
test_a_result_is_installed(void) {
  g_autoptr(Sandbox) sandbox = sandbox_of_sites();
  g_autoptr(JsonParser) parser = json_parser_new(), of_audit = json_parser_new();
  run_study(sandbox, "--study recalibration --kind platt");
  JsonObject *result = read_document(sandbox, "result", parser);
  const double a = number_at(result, "slope"), b = number_at(result, "intercept");
  g_autoptr(Run) here = run_line(sandbox, "--json federate install result local");
  assert_status(here, 0);
  assert_members(root_of(here), "installed,digest,from,from_digest,result,study,simulated");
  const char *digest = string_at(root_of(here), "digest");
  g_assert_cmpstr(string_at(root_of(here), "result"), ==, string_at(result, "digest"));
  g_assert_cmpstr(string_at(root_of(here), "from"), ==, "released");
  g_assert_true(bool_at(root_of(here), "simulated"));
  for (size_t s = 0; s < 3; s++) {
    g_autofree char *line =
        g_strdup_printf("--json federate install result local --workspace %s.demur", sites[s]);
    g_autoptr(Run) there = run_line(sandbox, line);
    assert_status(there, 0);
    g_assert_cmpstr(string_at(root_of(there), "digest"), ==, digest);
  }
  g_autofree Pool *pool = pool_by(sandbox, "local");
  for (size_t i = 0; i < pool->n; i++)
    demur_assert_close(pool->seen[i], 1.0 / (1.0 + exp(-(a * logit(pool->raw[i]) + b))), 1e-9, 0.0);
  must(sandbox, "tune local --cohort c --coverage 0.8 --quiet");
  g_autoptr(Run) told = run_line(sandbox, "--json assess local --cohort c --split tune");
  assert_status(told, 0);
  JsonObject *origin = json_array_get_object_element(array_at(root_of(told), "federated"), 0);
  assert_members(origin, "part,result,selector,sites,n_scans");
  g_assert_cmpstr(string_at(origin, "result"), ==, string_at(result, "digest"));
  g_autoptr(Run) words = run_line(sandbox, "assess local --cohort c --split tune");
  assert_says(words->out,
              "Its risks come from sums of several sites: recalibration of 1500 scans of "
              "east, north, west");
  /* What leaves with these verdicts says it too; what leaves with those of another selector, nothing. */
  must(sandbox, "assess s --cohort c --split tune");
  for (int f = 0; f < 2; f++) {
    const char *name = f == 0 ? "local" : "s";
    check_exports(sandbox, name, f == 0 ? string_at(result, "digest") : NULL);
  }
  /* What answered is in-sample of that selector, by the log of the workspace. */
  assert_refuses(sandbox, "evaluate --selector local --cohort c --workspace east.demur", 1,
                 "answered in a study that the risks of selector 'local' come from");
  g_autoptr(Run) in_sample = run_line(sandbox, "evaluate --selector local --cohort c --workspace "
                                               "east.demur --in-sample --bootstrap 20");
  assert_status(in_sample, 0);
  assert_says(in_sample->out, "(IN-SAMPLE)");
  must(sandbox, "evaluate --selector s --cohort c --workspace east.demur --bootstrap 20");
  must(sandbox, "evaluate --selector local --cohort c --bootstrap 20"); /* whence nobody answered */
  /* Behind it an audit of the new selector: an intercept more on the same logits. */
  g_autofree char *again = g_strdup_printf("selector export local local.json");
  must(sandbox, again);
  must(sandbox, "selector import shared local.json");
  for (size_t s = 0; s < 3; s++) {
    g_autofree char *line =
        g_strdup_printf("selector import shared local.json --workspace %s.demur", sites[s]);
    must(sandbox, line);
  }
  must(sandbox, "federate start audit --selector shared --sites east,north,west --study audit");
  for (size_t s = 0; s < 3; s++) {
    g_autofree char *line = g_strdup_printf(
        "federate answer audit --as %s --cohort c --workspace %s.demur --output audit-%s", sites[s],
        sites[s], sites[s]);
    must(sandbox, line);
  }
  must(sandbox, "federate merge audit audit-east audit-north audit-west --output audited");
  must(sandbox, "federate install audited local-2");
  g_autofree Pool *moved = pool_by(sandbox, "local-2");
  const double more = number_at(read_document(sandbox, "audited", of_audit), "intercept");
  for (size_t i = 0; i < pool->n; i++)
    demur_assert_close(logit(moved->seen[i]), logit(pool->seen[i]) + more, 1e-9, 1e-9);
  g_autoptr(Run) both = run_line(sandbox, "--json selector show local-2");
  g_assert_cmpuint(json_array_get_length(array_at(root_of(both), "federated")), ==, 2);
}

static void
test_what_is_no_result_of_this_selector_is_not_installed(void) {
  g_autoptr(Sandbox) sandbox = sandbox_of_sites();
  run_study(sandbox, "--study audit");
  g_autoptr(Run) other =
      run_line(sandbox, "cohort simulate c --workspace other.demur --scans 100 --base-train 100 "
                        "--sites 2 --tune 50 --test 50");
  assert_status(other, 0);
  assert_refuses(sandbox, "federate install result x --workspace other.demur", 1,
                 "no selector of this workspace is the study's");
  assert_refuses(sandbox, "federate install result s", 1, "s");
  assert_refuses(sandbox, "federate install result s --force", 2, "--replace");
  assert_refuses(sandbox, "federate install round x", 1, "it is no demur-federated");
  static const char *const wrong[] = {"federate install", "federate install result",
                                      "federate install result a b"};
  assert_wrong_usage(sandbox, wrong);
  g_autofree char *path = sandbox_path(sandbox, "result"), *text = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  char *number = strstr(text, "\"difference\"");
  number = strpbrk(number, "123456789");
  *number = *number == '9' ? '8' : (char)(*number + 1);
  g_autofree char *edited = sandbox_write(sandbox, "edited", text, -1);
  assert_refuses(sandbox, "federate install edited x", 1, "it was changed after it was written");
  run_study(sandbox, "--study evaluation --thresholds 0.5 --edges 0.1");
  assert_refuses(sandbox, "federate install result x", 1, "measures a selector and changes none");
}

/* Nothing is written before it is asked for; what is shown is what the file holds, and no more. */
static void
test_a_site_sees_what_leaves(void) {
  g_autoptr(Sandbox) sandbox = sandbox_of_sites();
  must(sandbox,
       "federate start round --study recalibration --selector released --sites east,north,west");
  g_autoptr(Run) looked =
      run_line(sandbox, "--json federate answer round --as east --cohort c --workspace east.demur");
  assert_status(looked, 0);
  JsonArray *leaves = array_at(root_of(looked), "leaves");
  g_assert_cmpuint(json_array_get_length(leaves), ==, 6);
  g_assert_true(is_null_at(root_of(looked), "output"));
  g_autofree char *ledger = sandbox_path(sandbox, "east.demur.federate");
  g_assert_false(g_file_test(ledger, G_FILE_TEST_EXISTS));
  must(sandbox,
       "federate answer round --as east --cohort c --workspace east.demur --output answer");
  g_assert_true(g_file_test(ledger, G_FILE_TEST_EXISTS));
  g_autoptr(JsonParser) parser = json_parser_new();
  JsonObject *answer = read_document(sandbox, "answer", parser);
  assert_members(
      answer,
      "digest,format,version,study,number,round,selector,site,simulated,withheld,n,sums,groups");
  g_autoptr(Run) log = run_line(sandbox, "--json log --event export --workspace east.demur");
  assert_status(log, 0);
  g_assert_nonnull(strstr(log->out, string_at(answer, "digest")));
  g_assert_nonnull(strstr(log->out, string_at(answer, "round")));
  JsonArray *sums = array_at(answer, "sums");
  for (guint i = 0; i < 6; i++)
    g_assert_cmpfloat(json_array_get_double_element(sums, i), ==,
                      number_at(json_array_get_object_element(leaves, i), "value"));
  g_autoptr(Run) shown = run_line(sandbox, "--json federate show round answer");
  assert_status(shown, 0);
  g_assert_cmpuint(json_array_get_length(array_at(root_of(shown), "leaves")), ==, 6);
  /* Neither file names a scan or a patient of the site's table. */
  static const char *const files[] = {"answer", "east.demur.federate", "round"};
  g_autofree char *path = sandbox_path(sandbox, "east.csv"), *table = NULL;
  g_assert_true(g_file_get_contents(path, &table, NULL, NULL));
  g_auto(GStrv) lines = g_strsplit(table, "\n", -1);
  for (size_t f = 0; f < G_N_ELEMENTS(files); f++) {
    g_autofree char *file = sandbox_path(sandbox, files[f]), *text = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    for (size_t i = 1; lines[i] != NULL && *lines[i] != '\0'; i++) {
      g_auto(GStrv) cells = g_strsplit(lines[i], ",", -1);
      g_assert_null(strstr(text, cells[0]));
      g_assert_null(strstr(text, cells[1]));
      g_assert_null(strstr(text, cells[5])); /* its risk */
    }
  }
}

static void
test_what_is_wrong_is_refused(void) {
  g_autoptr(Sandbox) sandbox = sandbox_of_sites();
  static const char start[] = "federate start round --selector released --sites ";
  static const struct {
    const char *rest;
    int status;
    const char *says;
  } starts[] = {{"east --study audit", 2, "2 to"},
                {"east,east --study audit", 2, "twice"},
                {"east,north --study nothing", 2, "no study is called"},
                {"east,north --study audit --kind platt", 2, "--study recalibration"},
                {"east,north --study audit --edges 0.1", 2, "--study evaluation"},
                {"east,north --study audit --leave-out 1", 2, "--study corrector"},
                {"east,north --study audit --lambda inf", 2, "--lambda takes a finite"},
                {"east,north --study audit --lambda 3", 2, "--study corrector"},
                {"east,north --study corrector --lambda 1e13", 2, "a lambda from 0 to 1e+12"},
                {"east,north --study corrector --lambda nan", 2, "--lambda takes a finite"},
                {"east,north --study recalibration --kind isotonic", 2, "not isotonic"},
                {"east,north --study evaluation --edges 0.1,x", 2, "--edges takes"},
                {"east,north --study corrector --leave-out 900", 2, "--leave-out takes"}};
  for (size_t i = 0; i < G_N_ELEMENTS(starts); i++) {
    g_autofree char *line = g_strconcat(start, starts[i].rest, NULL);
    assert_refuses(sandbox, line, starts[i].status, starts[i].says);
  }
  must(sandbox, "federate start round --study audit --selector released --sites east,north,west");
  must(sandbox, "federate start own --study audit --selector s --sites east,north");
  g_autoptr(Run) blanks = run_demur(sandbox, "federate", "start", "blanks", "--study", "audit",
                                    "--selector", "s", "--sites", "east, north", "--json", NULL);
  assert_status(blanks, 0);
  g_assert_null(strstr(blanks->out, "\" north\""));
  g_autoptr(Run) twice = run_demur(sandbox, "federate", "start", "x", "--study", "audit",
                                   "--selector", "s", "--sites", "east,north, north", NULL);
  assert_status(twice, 2);
  assert_says(twice->err, "twice");
  static const char *const steering[] = {"a\nb,c", "a\u202eb,c", "a\x1b[2J,c"};
  for (size_t i = 0; i < G_N_ELEMENTS(steering); i++) {
    g_autoptr(Run) named = run_demur(sandbox, "federate", "start", "y", "--study", "audit",
                                     "--selector", "s", "--sites", steering[i], NULL);
    assert_status(named, 2);
    assert_says(named->err, "control characters");
    g_assert_null(strstr(named->err, steering[i]));
  }
  g_autofree char *round = sandbox_path(sandbox, "round");
  g_autoptr(Run) server =
      run_demur(NULL, "--workspace", "postgresql://127.0.0.1:1/none", "federate", "answer", round,
                "--as", "east", "--cohort", "c", NULL);
  assert_status(server, 2);
  assert_says(server->err, "--ledger FILE");
  static const char *const wrong[] = {"federate",
                                      "federate start",
                                      "federate answer round",
                                      "federate merge round --output x",
                                      "federate answer round --as nobody --cohort c",
                                      "federate show",
                                      "federate show a b c"};
  assert_wrong_usage(sandbox, wrong);
  assert_refuses(sandbox, "federate answer own --as east --cohort c --workspace east.demur", 1,
                 "no selector of this workspace is the study's");
  assert_refuses(sandbox, "federate answer c.csv --as east --cohort c --workspace east.demur", 1,
                 "c.csv: it is no");
  for (size_t s = 0; s < 2; s++) {
    g_autofree char *answer = g_strdup_printf(
        "federate answer round --as %s --cohort c --workspace %s.demur --output answer-%s",
        sites[s], sites[s], sites[s]);
    must(sandbox, answer);
  }
  assert_refuses(sandbox, "federate merge round answer-east answer-north --output x", 1,
                 "'west' does not answer");
  assert_refuses(sandbox, "federate merge round answer-east answer-east --output x", 1,
                 "answer-east: 'east' answers in answer-east already");
  assert_refuses(sandbox, "federate merge round answer-east round --output x", 1,
                 "round: it is no");
  assert_refuses(sandbox, "federate merge own answer-east --output x", 1,
                 "answer-east: it is of another selector");
  must(sandbox, "federate merge round answer-east answer-north --without west --output x");
  assert_refuses(sandbox, "federate answer round --as north --cohort c --workspace east.demur", 1,
                 "as site 'east'");
  g_autofree char *link = sandbox_path(sandbox, "link.demur"); /* has no list of its own */
  g_assert_cmpint(symlink("east.demur", link), ==, 0);
  assert_refuses(sandbox, "federate answer round --as north --cohort c --workspace link.demur", 1,
                 "as site 'east'");
  /* A cohort of three scans fewer is another set. */
  g_autofree char *path = sandbox_path(sandbox, "east.csv"), *text = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  for (size_t i = 0; i < 4; i++)
    *strrchr(text, '\n') = '\0';
  g_autofree char *written = sandbox_write(sandbox, "fewer.csv", text, -1);
  must(sandbox, "cohort import fewer fewer.csv --model simulated-cnn --workspace east.demur");
  assert_refuses(sandbox, "federate answer round --as east --cohort fewer --workspace east.demur",
                 1, "fewer than 10");
}

static void
rename_in(const Sandbox *sandbox, const char *from, const char *to) {
  g_autofree char *before = sandbox_path(sandbox, from), *after = sandbox_path(sandbox, to);
  g_assert_cmpint(rename(before, after), ==, 0);
}

/* The log of a workspace tells of what left wherever it is put, and its list has to come along. */
static void
test_a_workspace_that_goes_elsewhere_needs_its_list(void) {
  g_autoptr(Sandbox) sandbox = sandbox_of_sites();
  must(sandbox, "federate start round --study audit --selector released --sites east,north");
  must(sandbox, "federate answer round --as east --cohort c --workspace east.demur --output first");
  must(sandbox, "workspace copy east.demur copied.demur");
  must(sandbox, "workspace backup backup.demur --workspace east.demur");
  g_autofree char *east = sandbox_path(sandbox, "east.demur"),
                  *hard = sandbox_path(sandbox, "hard.demur");
  g_assert_cmpint(link(east, hard), ==, 0);
  static const char *const elsewhere[] = {"copied", "backup", "hard"};
  for (size_t i = 0; i < G_N_ELEMENTS(elsewhere); i++) {
    g_autofree char *line = g_strdup_printf(
        "federate answer round --as east --cohort c --workspace %s.demur", elsewhere[i]);
    assert_refuses(sandbox, line, 1, "leaves its ledger behind");
    g_autofree char *with = g_strconcat(line, " --ledger east.demur.federate", NULL);
    must(sandbox, with);
  }
  assert_refuses(sandbox,
                 "federate answer round --as east --cohort c --workspace east.demur --ledger fresh "
                 "--output second",
                 1, "leaves its ledger behind");
  rename_in(sandbox, "east.demur", "moved.demur");
  assert_refuses(sandbox, "federate answer round --as east --cohort c --workspace moved.demur", 1,
                 "leaves its ledger behind");
  rename_in(sandbox, "east.demur.federate", "moved.demur.federate");
  must(sandbox, "federate answer round --as east --cohort c --workspace moved.demur");
}

/* A round that is gone makes its answers answers to nothing. */
static void
test_no_command_replaces_a_study_s_files(void) {
  g_autoptr(Sandbox) sandbox = sandbox_of_sites();
  must(sandbox, "federate start round --study audit --selector released --sites east,north");
  must(sandbox, "federate answer round --as east --cohort c --workspace east.demur --output east");
  must(sandbox,
       "federate answer round --as north --cohort c --workspace north.demur --output north");
  must(sandbox, "federate merge round east north --output result");
  static const char *const files[] = {"round", "east", "result"},
                           *const commands[] = {
                               "federate start %s --study audit --selector s --sites x,y",
                               "federate answer round --as west --cohort c --workspace "
                               "west.demur --output %s",
                               "federate merge round east north --output %s",
                               "selector export s %s",
                               "cohort export c %s",
                               "export %s --cohort c --format csv"};
  for (size_t f = 0; f < G_N_ELEMENTS(files); f++) {
    g_autofree char *before = read_text(sandbox, files[f]);
    for (size_t c = 0; c < G_N_ELEMENTS(commands); c++) {
      g_auto(GStrv) parts = g_strsplit(commands[c], "%s", 2);
      g_autofree char *line = g_strjoinv(files[f], parts);
      assert_refuses(sandbox, line, 1, "study between sites");
    }
    g_autofree char *after = read_text(sandbox, files[f]);
    g_assert_cmpstr(before, ==, after);
  }
}

/* Four tables of the same scans, asked for at once: one is told, whoever comes first, of a file and of a server. */
static void
test_answers_at_once_see_each_other(void) {
  g_autoptr(Sandbox) sandbox = sandbox_of_sites();
  GSubprocess *runs[4];
  for (size_t i = 0; i < 4; i++) {
    g_autofree char *start = g_strdup_printf("federate start round-%zu --selector released --sites "
                                             "east,north --study evaluation --thresholds 0.%zu",
                                             i, 2 + i);
    must(sandbox, start);
  }
  for (size_t i = 0; i < 4; i++) {
    g_autofree char *round = g_strdup_printf("round-%zu", i),
                    *output = g_strdup_printf("out-%zu", i);
    runs[i] = start_demur(sandbox, "federate", "answer", round, "--as", "east", "--cohort", "c",
                          "--output", output, "--ledger", "told", NULL);
  }
  size_t n_told = 0, n_files = 0;
  for (size_t i = 0; i < 4; i++) {
    g_autofree char *name = g_strdup_printf("out-%zu", i), *path = sandbox_path(sandbox, name);
    g_assert_true(g_subprocess_wait(runs[i], NULL, NULL));
    n_told +=
        g_subprocess_get_if_exited(runs[i]) && g_subprocess_get_exit_status(runs[i]) == 0 ? 1 : 0;
    n_files += g_file_test(path, G_FILE_TEST_EXISTS) ? 1 : 0;
    g_object_unref(runs[i]);
  }
  g_assert_cmpuint(n_told, ==, 1);
  g_assert_cmpuint(n_files, ==, 1);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/commands/federate/pooled", test_three_sites_say_what_all_scans_say);
  g_test_add_func("/commands/federate/corrector", test_how_scans_are_shared_out_corrects_alike);
  g_test_add_func("/commands/federate/evaluation", test_an_evaluation_is_the_evaluation);
  g_test_add_func("/commands/federate/installed", test_a_result_is_installed);
  g_test_add_func("/commands/federate/not-installed",
                  test_what_is_no_result_of_this_selector_is_not_installed);
  g_test_add_func("/commands/federate/leaves", test_a_site_sees_what_leaves);
  g_test_add_func("/commands/federate/wrong", test_what_is_wrong_is_refused);
  g_test_add_func("/commands/federate/elsewhere",
                  test_a_workspace_that_goes_elsewhere_needs_its_list);
  g_test_add_func("/commands/federate/replaced", test_no_command_replaces_a_study_s_files);
  g_test_add_func("/commands/federate/at-once", test_answers_at_once_see_each_other);
  return g_test_run();
}
