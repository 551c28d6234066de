/* A study by files between four workspaces: three sites and one that has all their scans. Right values: what
 * the one says by itself; nothing of a person in what crosses. */
#include "commands.h"

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

/* The test split of the cohort in three tables, a third of the scans each; how each workspace reads it. */
static void
write_tables(const Sandbox *sandbox) {
  g_autofree char *path = sandbox_path(sandbox, "c.csv"), *text = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (size_t s = 0; s < 3; s++) {
    g_autoptr(GString) table = g_string_new(lines[0]);
    size_t n = 0;
    for (size_t i = 1; lines[i] != NULL; i++)
      if (strstr(lines[i], ",test,") != NULL && n++ % 3 == s)
        g_string_append_printf(table, "\n%s", lines[i]);
    g_string_append_c(table, '\n');
    g_autofree char *name = g_strconcat(sites[s], ".csv", NULL);
    g_autofree char *written = sandbox_write(sandbox, name, table->str, -1);
  }
}

static void
prepare(const Sandbox *sandbox) {
  must(sandbox, "cohort simulate c --scans 600 --sites 8 --base-train 400 --tune 300 --test 1500 "
                "--quiet --seed 3");
  must(sandbox, "train s --cohort c --method confidence --quiet");
  must(sandbox, "tune s --cohort c --coverage 0.8 --quiet");
  must(sandbox, "selector export s s.json");
  must(sandbox, "selector import released s.json");
  must(sandbox, "cohort export c c.csv");
  write_tables(sandbox);
  for (size_t s = 0; s < 3; s++) {
    g_autofree char *cohort = g_strdup_printf(
        "cohort import c %s.csv --model simulated-cnn --workspace %s.demur", sites[s], sites[s]);
    g_autofree char *selector =
        g_strdup_printf("selector import s s.json --workspace %s.demur", sites[s]);
    must(sandbox, cohort);
    must(sandbox, selector);
  }
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

/* The study to its end by the sites' answers; its result is in the file "result". */
static void
run_study(const Sandbox *sandbox, const char *what) {
  g_autofree char *start =
      g_strdup_printf("federate start round --selector released --sites east,north,west %s", what);
  must(sandbox, start);
  for (size_t n = 1;; n++) {
    g_assert_cmpuint(n, <, 30);
    for (size_t s = 0; s < 3; s++) {
      g_autofree char *answer =
          g_strdup_printf("federate answer round --as %s --cohort c --workspace %s.demur "
                          "--output answer-%s",
                          sites[s], sites[s], sites[s]);
      must(sandbox, answer);
    }
    g_autoptr(Run) merged = run_line(
        sandbox,
        "--json federate merge round answer-west answer-east answer-north --output result");
    assert_status(merged, 0);
    if (bool_at(root_of(merged), "done"))
      return;
    g_autofree char *from = sandbox_path(sandbox, "result"), *to = sandbox_path(sandbox, "round");
    g_assert_cmpint(rename(from, to), ==, 0);
  }
}

/* One workspace with all scans answers for two sites: each sum twice, which no fit or mean sees. */
static void
run_pooled(const Sandbox *sandbox, const char *what) {
  g_autofree char *start =
      g_strdup_printf("federate start pooled --selector released --sites one,two %s", what);
  must(sandbox, start);
  for (size_t n = 1;; n++) {
    g_assert_cmpuint(n, <, 30);
    must(sandbox, "federate answer pooled --as one --cohort c --output one --ledger told-1");
    must(sandbox, "federate answer pooled --as two --cohort c --output two --ledger told-2");
    g_autoptr(Run) merged =
        run_line(sandbox, "--json federate merge pooled one two --output pooled-result");
    assert_status(merged, 0);
    if (bool_at(root_of(merged), "done"))
      return;
    g_autofree char *from = sandbox_path(sandbox, "pooled-result"),
                    *to = sandbox_path(sandbox, "pooled");
    g_assert_cmpint(rename(from, to), ==, 0);
  }
}

static void
assert_same(JsonObject *found, JsonObject *right, const char *const *members) {
  for (; *members != NULL; members++)
    demur_assert_close(number_at(found, *members), number_at(right, *members), 1e-9, 1e-9);
}

static void
test_three_sites_say_what_one_says(void) {
  g_autoptr(Sandbox) sandbox = sandbox_of_sites();
  static const struct {
    const char *what;
    const char *members[4];
  } studies[] = {{"--study recalibration --kind platt", {"slope", "intercept"}},
                 {"--study recalibration --kind intercept", {"slope", "intercept"}},
                 {"--study audit", {"difference", NULL}}};
  for (size_t i = 0; i < G_N_ELEMENTS(studies); i++) {
    run_study(sandbox, studies[i].what);
    run_pooled(sandbox, studies[i].what);
    g_autoptr(JsonParser) found = json_parser_new(), right = json_parser_new();
    JsonObject *result = read_document(sandbox, "result", found);
    assert_same(result, read_document(sandbox, "pooled-result", right), studies[i].members);
    g_assert_cmpfloat(number_at(result, "n"), ==, 1500.0);
  }
}

/* What of it `evaluate` says of a tuned threshold is the same number: O:E is withheld or of another set
 * there, so shares and coverage are. */
static void
test_an_evaluation_is_the_evaluation(void) {
  g_autoptr(Sandbox) sandbox = sandbox_of_sites();
  g_autoptr(Run) shown = run_line(sandbox, "--json selector show s");
  assert_status(shown, 0);
  JsonArray *thresholds = array_at(root_of(shown), "thresholds");
  const double threshold = number_at(json_array_get_object_element(thresholds, 0), "threshold");
  g_autofree char *what =
      g_strdup_printf("--study evaluation --thresholds %.17g --edges 0.08", threshold);
  run_study(sandbox, what);
  g_autoptr(JsonParser) parser = json_parser_new();
  JsonObject *result = read_document(sandbox, "result", parser);
  JsonObject *at = json_array_get_object_element(array_at(result, "points"), 0);
  g_assert_true(bool_at(at, "told"));
  g_autoptr(Run) evaluated =
      run_line(sandbox, "--json evaluate --selector s --cohort c --bootstrap 20");
  assert_status(evaluated, 0);
  JsonObject *method = find_in(array_at(root_of(evaluated), "methods"), "name", "selector:s");
  JsonObject *right = find_in(array_at(method, "at"), "threshold_from", "tune");
  demur_assert_close(number_at(at, "coverage"), number_at(right, "realised"), 1e-9, 0.0);
  g_assert_cmpfloat(number_at(at, "n"), ==, number_at(right, "n_accepted"));
  g_assert_cmpfloat(number_at(at, "oe_ratio"), >, 0.5);
  g_assert_cmpfloat(number_at(at, "sbce2"), >=, 0.0);
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
assert_refuses(const Sandbox *sandbox, const char *line, int status, const char *says) {
  g_autoptr(Run) run = run_line(sandbox, line);
  assert_status(run, status);
  assert_says(run->err, says);
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
  g_autoptr(Run) blanks = run_demur(sandbox, "federate", "start", "x", "--study", "audit",
                                    "--selector", "s", "--sites", "east, north", "--json", NULL);
  assert_status(blanks, 0);
  g_assert_null(strstr(blanks->out, "\" north\""));
  g_autoptr(Run) twice = run_demur(sandbox, "federate", "start", "x", "--study", "audit",
                                   "--selector", "s", "--sites", "east,north, north", NULL);
  assert_status(twice, 2);
  assert_says(twice->err, "twice");
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
  assert_refuses(sandbox, "federate answer c.csv --as east --cohort c", 1, "c.csv: it is no");
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

/* Four tables of the same scans, asked for at once: one is told, whoever comes first. */
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
                          "--output", output, NULL);
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
  g_test_add_func("/commands/federate/pooled", test_three_sites_say_what_one_says);
  g_test_add_func("/commands/federate/evaluation", test_an_evaluation_is_the_evaluation);
  g_test_add_func("/commands/federate/leaves", test_a_site_sees_what_leaves);
  g_test_add_func("/commands/federate/wrong", test_what_is_wrong_is_refused);
  g_test_add_func("/commands/federate/at-once", test_answers_at_once_see_each_other);
  return g_test_run();
}
