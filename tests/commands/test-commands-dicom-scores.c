/* Scores as models and spreadsheets bring them, and running a model. Right values: what the scripts
 * and tables written here say. */
#include "commands.h"
#include "dicom/dicom-fixture.h"

#include <signal.h>

static void
write_series(const Sandbox *sandbox, const char *uid, const char *patient) {
  g_autofree char *folder = sandbox_path(sandbox, uid);
  g_mkdir(folder, 0700);
  for (int k = 0; k < 12; k++) {
    FixtureImage image = fixture_image(k + 1, -2.5 * k); /* names run against the order */
    g_autofree char *name = g_strdup_printf("%03d.dcm", k);
    image.series_uid = uid;
    image.patient_id = patient;
    image.acquisition_number = (gint64)strlen(uid);
    fixture_save(&image, folder, name);
  }
  g_autoptr(Run) run = run_json(sandbox, 0, "dicom", "import", folder, NULL);
}

static Run *
import(const Sandbox *sandbox, int status, const char *name, const char *text, const char *option,
       const char *value) {
  g_autofree char *path = sandbox_write(sandbox, name, text, -1);
  return run_json(sandbox, status, "scores", "import", path, "--model", "m", "--replace", option,
                  value, NULL);
}

static void
test_json_names_its_scans_or_a_map_does(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  write_series(sandbox, "1.1", "P1");
  write_series(sandbox, "1.22", "P2");
  g_autoptr(Run) own = import(sandbox, 0, "a.json",
                              "[{\"series_uid\": \"1.1\", \"risks\": [0.1,0.2,0.3,0.4,0.5,0.6],"
                              " \"embedding\": [1, 2.5]}, {\"scan_id\": \"1.22\", \"risk\": 0.2,"
                              " \"patient_id\": \"P2\"}]",
                              NULL, NULL);
  g_assert_cmpuint(json_array_get_length(array_at(root_of(own), "matched")), ==, 2);
  g_autofree char *map = sandbox_write(sandbox, "map.csv", "name,series_uid\n1,1.1\n0,1.22\n", -1);
  g_autoptr(Run) sybil =
      import(sandbox, 0, "b.json", "{\"predictions\": [[0,0,0,0,0,0.25], [0,0,0,0,0,0.75]]}",
             "--map", map);
  g_assert_cmpstr(json_array_get_string_element(array_at(root_of(sybil), "matched"), 0), ==,
                  "1.22");
  /* Without a map nothing says whose they are. */
  g_autoptr(Run) bare =
      import(sandbox, 1, "c.json", "{\"predictions\": [[0,0,0,0,0,0.25]]}", NULL, NULL);
  assert_says(bare->err, "--map");
  g_autoptr(Run) one =
      import(sandbox, 0, "d.json", "{\"predictions\": [[0,0,0,0,0,0.25]]}", "--scan", "1.1");
  g_autoptr(Run) two =
      import(sandbox, 1, "e.json", "{\"predictions\": [[0,0,0,0,0,0.25], 0.5]}", "--scan", "1.1");
  /* A map with a name that the file lacks, a file with a name that the map lacks. */
  g_autofree char *more =
      sandbox_write(sandbox, "more.csv", "name,series_uid\n0,1.1\nzz,1.22\n", -1);
  g_autoptr(Run) extra = import(sandbox, 1, "f.json", "[0.5]", "--map", more);
  assert_says(extra->err, "'zz'");
  g_autofree char *fewer = sandbox_write(sandbox, "fewer.csv", "name,series_uid\na,1.1\n", -1);
  g_autoptr(Run) less = import(sandbox, 0, "g.json", "{\"a\": 0.5, \"b\": 0.6}", "--map", fewer);
  g_assert_cmpstr(json_array_get_string_element(array_at(root_of(less), "unmatched"), 0), ==, "b");
}

/* Whatever pairs a score (--scan, a map, a scan_id), what it says itself is not passed over: it would be
 * another person's. */
static void
test_a_score_of_another_series_is_not_paired(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  write_series(sandbox, "1.1", "P1");
  write_series(sandbox, "1.22", "P2");
  write_series(sandbox, "1.333", "19.11.7");
  g_autofree char *map = sandbox_write(sandbox, "map.csv", "name,series_uid\n0,1.1\n", -1);
  g_autofree char *of_uids =
      sandbox_write(sandbox, "uids.csv", "name,series_uid\n1.2.3.999,1.1\n", -1);
  const struct {
    const char *name, *text, *option, *value;
    gboolean paired;
  } rows[] = {
      /* What a name means is for the map to say, which can't unsay a series_uid. */
      {"a.json", "{\"1.2.3.999\": 0.25}", "--map", of_uids, TRUE},
      {"a.json", "[{\"name\": \"1.2.3.999\", \"risk\": 0.25}]", "--map", of_uids, TRUE},
      {"a.json", "{\"1.2.3.999\": {\"series_uid\": \"1.22\", \"risk\": 0.25}}", "--map", of_uids,
       FALSE},
      /* named by the study, by the series, by the person */
      {"a.json", "{\"1.2.3\": 0.25}", "--scan", "1.1", TRUE},
      {"a.json", "{\"1.1\": 0.25}", "--scan", "1.1", TRUE},
      {"a.json", "{\"19.11.7\": 0.25}", "--scan", "1.333", TRUE},
      {"a.json", "{\"P2\": {\"scan_id\": \"1.22\", \"risk\": 0.25}}", "--scan", "1.1", FALSE},
      {"a.json", "{\"series_uid\": \"1.22\", \"risk\": 0.5}", "--scan", "1.1", FALSE},
      {"a.json", "{\"series_uid\": \"1.1\", \"risk\": 0.5}", "--scan", "1.1", TRUE},
      {"a.json", "[{\"scan_id\": \"1.22\", \"risk\": 0.5}]", "--scan", "1.1", FALSE},
      {"a.json", "[{\"scan_id\": \"1.1\", \"series_uid\": \"1.22\", \"risk\": 0.5}]", NULL, NULL,
       FALSE},
      {"a.json", "{\"scan_id\": \"1.22\", \"predictions\": [0.5]}", "--scan", "1.1", FALSE},
      {"a.json", "{\"series_uid\": \"1.1\", \"predictions\": [0.5]}", NULL, NULL, TRUE},
      {"a.json", "[{\"series_uid\": \"1.22\", \"risk\": 0.5}]", "--map", map, FALSE},
      {"a.json", "[{\"scan_id\": \"1.22\", \"series_uid\": \"1.1\", \"risk\": 0.5}]", "--scan",
       "1.1", FALSE},
      {"a.json", "{\"1.1\": {\"scan_id\": \"1.22\", \"series_uid\": \"1.1\", \"risk\": 0.5}}",
       "--scan", "1.1", FALSE},
      {"t.csv", "series_uid,scan_id,risk\n1.22,1.1,0.5\n", NULL, NULL, FALSE},
      {"t.csv", "series_uid,scan_id,risk\n1.1,1.1,0.5\n,1.22,0.5\n", NULL, NULL, TRUE},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_test_message("%s", rows[i].text);
    g_autoptr(Run) run = import(sandbox, rows[i].paired ? 0 : 1, rows[i].name, rows[i].text,
                                rows[i].option, rows[i].value);
    JsonArray *wrong = array_at(root_of(run), "wrong_patient");
    g_assert_cmpint(json_array_get_length(array_at(root_of(run), "matched")) > 0, ==,
                    rows[i].paired);
    g_assert_cmpuint(json_array_get_length(wrong), ==, rows[i].paired ? 0 : 1);
    if (!rows[i].paired)
      assert_says(json_array_get_string_element(wrong, 0), "another series ('1.22')");
  }
  g_autofree char *path = sandbox_write(sandbox, "o.json", "{\"1.2.840.22\": 0.25}", -1);
  g_autoptr(Run) people =
      run_demur(sandbox, "scores", "import", path, "--model", "m", "--scan", "1.1", NULL);
  assert_says(people->out,
              "  wrong patient or series: 1.1: the score says that it is of another series "
              "('1.2.840.22')");
}

static void
test_faulty_json_is_refused(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  write_series(sandbox, "1.1", "P1");
  static const char *const texts[] = {
      "",
      "7",
      "\"x\"",
      "[]",
      "{}",
      "[{\"series_uid\": \"1.1\"}]",
      "[{\"series_uid\": 1.1, \"risk\": 0.5}]",
      "[{\"series_uid\": \"1.1\", \"risk\": 1.5}]",
      "[{\"series_uid\": \"1.1\", \"risk\": \"0.5\"}]",
      "[{\"series_uid\": \"1.1\", \"risks\": [0.1]}]",
      "[{\"series_uid\": \"1.1\", \"risk\": 0.5, \"embedding\": [1, null]}]",
      "[{\"series_uid\": \"1.1\", \"risk\": 0.5, \"risk_year_6\": 0.6}]",
      "[{\"series_uid\": \"1.1\", \"risk\": 0.5}, {\"series_uid\": \"1.1\", \"risk\": 0.5}]",
      "{\"predictions\": [[0,0,0,0,0]]}"};
  for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
    g_test_message("%s", texts[i]);
    g_autoptr(Run) run = import(sandbox, 1, "x.json", texts[i], NULL, NULL);
  }
  g_autoptr(GString) deep = g_string_new(NULL);
  for (int i = 0; i < 100000; i++)
    g_string_append_c(deep, '[');
  g_autoptr(Run) run = import(sandbox, 1, "deep.json", deep->str, NULL, NULL);
  assert_says(run->err, "nested");
}

static void
test_identifiers_changed_by_spreadsheets_are_told(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  write_series(sandbox, "1.1", "000123");
  write_series(sandbox, "1.22", "P2");
  g_autoptr(Run) run = import(sandbox, 0, "s.csv",
                              "series_uid,patient_id,risk\n1.1,123,0.1\n1.22,P2,0.2\n1.23E+05,P3,"
                              "0.3\n123456789012345000,P4,0.4\n1.2.840,P5,0.5\n",
                              NULL, NULL);
  JsonObject *root = root_of(run);
  g_assert_cmpuint(json_array_get_length(array_at(root, "matched")), ==, 1);
  g_assert_cmpuint(json_array_get_length(array_at(root, "unmatched")), ==, 3);
  g_assert_cmpuint(json_array_get_length(array_at(root, "wrong_patient")), ==, 1);
  JsonArray *mangled = array_at(root, "mangled");
  g_assert_cmpuint(json_array_get_length(mangled), ==, 3);
  assert_says(json_array_get_string_element(mangled, 0), "zeros in front");
  assert_says(json_array_get_string_element(mangled, 1), "1.23E+05 looks like a number");
  assert_says(json_array_get_string_element(mangled, 2), "rounded to 15 digits");
}

/* The headers of test-cohort-score-columns.c: scores of series have the same answer. */
static void
test_headers_have_the_answer_of_every_table(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  write_series(sandbox, "1.1", "P1");
  static const struct {
    const char *text, *says;
  } cases[] = {
      {"series_uid,risk,emb_0,emb_00\n1.1,0.5,1,2\n", "column emb_00 looks like"},
      {"series_uid,risk,emb_0,emb_01\n1.1,0.5,1,2\n", "column emb_01 looks like"},
      {"series_uid,risk_year_06\n1.1,0.5\n", "column risk_year_06 looks like"},
      {"series_uid,risk_year_0,risk_year_6\n1.1,0.5,0.5\n", "numbered from 1"},
      {"series_uid,risk,Patient ID\n1.1,0.5,P2\n", "column Patient ID looks like patient_id"},
      {"series_uid,risk\n1.1,2\n", "h.csv: 1 row refused, nothing imported:\n  line 2, column 5 "
                                   "(risk): 2 is not between 0 and 1"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(Run) run = import(sandbox, 1, "h.csv", cases[i].text, NULL, NULL);
    assert_says(string_at(root_of(run), "error"), cases[i].says);
  }
}

/* `scores run` with a script of these lines; $1 is {series}, $2 is {output}. */
static Run *
run_script(const Sandbox *sandbox, int status, const char *lines, const char *limit) {
  g_autofree char *script = sandbox_write(sandbox, "model.sh", lines, -1);
  g_autofree char *command = g_strdup_printf("sh '%s' {series} {output}", script);
  return run_json(sandbox, status, "scores", "run", "--model", "m", "--command", command,
                  "--time-limit", limit, NULL);
}

static JsonObject *
run_at(const Run *run, guint i) {
  return json_array_get_object_element(array_at(root_of(run), "runs"), i);
}

static void
test_a_command_sees_its_series_alone_and_in_order(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  write_series(sandbox, "1.1", "P1");
  write_series(sandbox, "1.22", "P2");
  g_autofree char *seen = sandbox_path(sandbox, "seen");
  g_autofree char *script = g_strdup_printf(
      "for f in \"$1\"/*; do echo \"$(basename \"$f\") $(readlink \"$f\")\" >> '%s'; done\n"
      "ls -A \"$2\" >> '%s'\n"
      "echo '{\"predictions\": [[0.01, 0.02, 0.03, 0.04, 0.05, 0.06]]}' > "
      "\"$2/prediction_scores.json\"\n",
      seen, seen);
  g_autoptr(Run) run = run_script(sandbox, 0, script, "60");
  g_assert_cmpfloat(number_at(root_of(run), "n_scored"), ==, 2);
  g_autofree char *text = NULL;
  g_assert_true(g_file_get_contents(seen, &text, NULL, NULL));
  g_auto(GStrv) lines = g_strsplit(g_strchomp(text), "\n", -1);
  g_assert_cmpuint(g_strv_length(lines), ==, 24);
  /* Slices ascend along z: the last file written lies lowest. */
  for (guint i = 0; i < 24; i++) {
    g_autofree char *expected =
        g_strdup_printf("%04u.dcm %s/%s/%03u.dcm", i % 12 + 1, sandbox->folder,
                        i < 12 ? "1.1" : "1.22", 11 - i % 12);
    g_assert_cmpstr(lines[i], ==, expected);
  }
  /* A model that names its series by the study. */
  g_autoptr(Sandbox) named = sandbox_new();
  write_series(named, "1.1", "P1");
  g_autoptr(Run) study =
      run_script(named, 0, "echo '{\"1.2.3\": 0.1}' > \"$2/scores.json\"\n", "60");
  g_assert_cmpfloat(number_at(root_of(study), "n_scored"), ==, 1);
  /* All have a score now: nothing is run. */
  g_autoptr(Run) again = run_script(sandbox, 0, "exit 1\n", "60");
  g_assert_cmpfloat(number_at(root_of(again), "n_scored_before"), ==, 2);
  g_assert_cmpuint(json_array_get_length(array_at(root_of(again), "runs")), ==, 0);
}

static void
test_a_run_that_fails_says_how(void) {
  static const struct {
    const char *script, *limit, *outcome, *message, *err;
    double exit_status;
  } rows[] = {
      {"echo 'no GPU' >&2; exit 3\n", "60", "failed", "exit status 3", "no GPU", 3},
      {"exit 0\n", "60", "failed", "neither prediction_scores.json", "", 0},
      {"echo '{\"risk\": 2}' > \"$2/scores.json\"\n", "60", "failed", "from 0 to 1", "", 0},
      {"echo '[0.1, 0.2]' > \"$2/scores.json\"\n", "60", "failed", "2 scores", "", 0},
      {"echo '{\"risk\": 0.1, \"patient_id\": \"P9\"}' > \"$2/scores.json\"\n", "60", "failed",
       "another patient", "", 0},
      {"echo '{\"risk\": 0.1, \"series_uid\": \"1.22\"}' > \"$2/scores.json\"\n", "60", "failed",
       "another series", "", 0},
      {"echo '[{\"risk\": 0.1, \"series_uid\": \"1.1\", \"scan_id\": \"1.1#2\"}]' > "
       "\"$2/scores.json\"\n",
       "60", "failed", "another series", "", 0},
      {"echo '{\"1.2.840.22\": 0.1}' > \"$2/scores.json\"\n", "60", "failed", "another series", "",
       0},
      {"echo '{\"series_uid\": \"1.22\", \"predictions\": [[0,0,0,0,0,0.5]]}' > "
       "\"$2/scores.json\"\n",
       "60", "failed", "another series", "", 0},
      {"kill -9 $$\n", "60", "failed", "signal 9", "", -1},
      {"echo waiting >&2; sleep 600 & wait\n", "0.5", "timed out", "time limit", "waiting", -1},
  };
  g_autoptr(Sandbox) sandbox = sandbox_new();
  write_series(sandbox, "1.1", "P1");
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_test_message("%s", rows[i].script);
    g_autoptr(Run) run = run_script(sandbox, 1, rows[i].script, rows[i].limit);
    JsonObject *one = run_at(run, 0);
    g_assert_cmpstr(string_at(one, "outcome"), ==, rows[i].outcome);
    assert_says(string_at(one, "message"), rows[i].message);
    assert_says(string_at(one, "stderr"), rows[i].err);
    if (rows[i].exit_status >= 0)
      g_assert_cmpfloat(number_at(one, "exit_status"), ==, rows[i].exit_status);
  }
  g_autoptr(Run) absent = run_json(sandbox, 1, "scores", "run", "--model", "m", "--command",
                                   "no-such-program {series} {output}", NULL);
  assert_says(string_at(run_at(absent, 0), "message"), "could not be started");
  /* One risk and an embedding are a score as well. */
  g_autoptr(Run) good = run_script(
      sandbox, 0, "echo '{\"risk\": 0.5, \"embedding\": [1, 2, 3]}' > \"$2/scores.json\"\n", "60");
  g_assert_cmpstr(string_at(run_at(good, 0), "outcome"), ==, "scored");
}

static void
test_a_file_that_changed_is_not_scored(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  write_series(sandbox, "1.1", "P1");
  g_autofree char *folder = sandbox_path(sandbox, "1.1");
  FixtureImage other = fixture_image(5, -10);
  other.patient_id = "P2";
  other.series_uid = "1.1";
  other.acquisition_number = 3;
  fixture_save(&other, folder, "004.dcm");
  g_autoptr(Run) run =
      run_script(sandbox, 1, "echo '{\"risk\": 0.5}' > \"$2/scores.json\"\n", "60");
  assert_says(string_at(run_at(run, 0), "message"), "import");
}

static void
test_usage(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  static const char *const lines[] = {"scores run",
                                      "scores run --model m",
                                      "scores run --model m --command true",
                                      "scores run --model m --command a{series}b{output}' --scan 1",
                                      "scores run --command {series}{output}",
                                      "scores run --model m --command {series}{output} more",
                                      "scores import a.json --model m --scan 1 --map b.csv"};
  assert_wrong_usage(sandbox, lines);
}

static void
test_an_interrupted_run_ends_what_it_started(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  write_series(sandbox, "1.1", "P1");
  g_autofree char *started = sandbox_path(sandbox, "started");
  g_autofree char *text = g_strdup_printf(
      "echo $$ > '%s.new'; mv '%s.new' '%s'; sleep 600 & wait\n", started, started, started);
  g_autofree char *script = sandbox_write(sandbox, "model.sh", text, -1);
  g_autofree char *command = g_strdup_printf("sh '%s' {series} {output}", script);
  g_autoptr(GSubprocess) process =
      start_demur(sandbox, "scores", "run", "--model", "m", "--command", command, NULL);
  g_autofree char *pid_text = NULL;
  for (int i = 0; i < 3000 && !g_file_get_contents(started, &pid_text, NULL, NULL); i++)
    g_usleep(10000);
  g_assert_nonnull(pid_text);
  g_subprocess_send_signal(process, SIGINT);
  g_assert_true(g_subprocess_wait(process, NULL, NULL));
  g_assert_cmpint(g_subprocess_get_exit_status(process), ==, 1);
  const int pid = (int)g_ascii_strtoll(pid_text, NULL, 10);
  g_assert_cmpint(kill(pid, 0), ==, -1); /* its group is gone with it */
  g_autoptr(Run) whole = run_json(sandbox, 0, "verify", NULL);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/commands/dicom-scores/json-names-its-scans-or-a-map-does",
                  test_json_names_its_scans_or_a_map_does);
  g_test_add_func("/commands/dicom-scores/a-score-of-another-series-is-not-paired",
                  test_a_score_of_another_series_is_not_paired);
  g_test_add_func("/commands/dicom-scores/faulty-json-is-refused", test_faulty_json_is_refused);
  g_test_add_func("/commands/dicom-scores/identifiers-changed-by-spreadsheets-are-told",
                  test_identifiers_changed_by_spreadsheets_are_told);
  g_test_add_func("/commands/dicom-scores/a-command-sees-its-series-alone-and-in-order",
                  test_a_command_sees_its_series_alone_and_in_order);
  g_test_add_func("/commands/dicom-scores/a-run-that-fails-says-how",
                  test_a_run_that_fails_says_how);
  g_test_add_func("/commands/dicom-scores/a-file-that-changed-is-not-scored",
                  test_a_file_that_changed_is_not_scored);
  g_test_add_func("/commands/dicom-scores/an-interrupted-run-ends-what-it-started",
                  test_an_interrupted_run_ends_what_it_started);
  g_test_add_func("/commands/dicom-scores/usage", test_usage);
  g_test_add_func("/commands/dicom-scores/headers", test_headers_have_the_answer_of_every_table);
  return g_test_run();
}
