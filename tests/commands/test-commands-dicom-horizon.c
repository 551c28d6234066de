/* The years of a risk travel with it: from the cohort to the selector, to the score that it reads and
 * to the verdict. A selector of three years never reads the risk of six. Right values: the yearly
 * risks that are written here. */
#include "life-fixture.h"

/* A cohort whose yearly risks differ, taken at so many years: NAME of model m. */
static void
import_yearly(const Sandbox *sandbox, const char *name, const char *years) {
  static const char *const splits[] = {"selector_train", "selector_train", "tune", "test"};
  g_autoptr(GRand) random = g_rand_new_with_seed(11);
  g_autoptr(GString) table =
      g_string_new("patient_id,site,split,label,risk_year_1,risk_year_3,risk_year_6\n");
  for (int i = 0; i < 1200; i++) {
    const double risk = 0.02 + 0.5 * g_rand_double(random);
    g_string_append_printf(table, "p%d,s%d,%s,%d,%.4f,%.4f,%.4f\n", i, i % 8, splits[i / 8 % 4],
                           g_rand_double(random) < risk / 2 ? 1 : 0, risk / 6, risk / 2, risk);
  }
  g_autofree char *file = g_strconcat(name, ".csv", NULL);
  g_autofree char *path = sandbox_write(sandbox, file, table->str, -1);
  g_autoptr(Run) run = run_json(sandbox, 0, "cohort", "import", name, path, "--model", "m",
                                "--horizon", years, NULL);
}

static double
horizon_of(const Sandbox *sandbox, const char *what, const char *name) {
  g_autoptr(Run) run = run_json(sandbox, 0, what, "show", name, NULL);
  return number_at(root_of(run), "horizon_years");
}

static void
give_score(const Sandbox *sandbox, const char *table) {
  g_autofree char *path = sandbox_write(sandbox, "scores.csv", table, -1);
  g_autoptr(Run) run =
      run_json(sandbox, 0, "scores", "import", path, "--model", "m", "--replace", NULL);
}

static void
test_three_years_never_read_six(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  import_yearly(sandbox, "three", "3");
  import_yearly(sandbox, "six", "6");
  import_cohort(sandbox); /* sim: a risk alone */
  g_assert_cmpfloat(horizon_of(sandbox, "cohort", "three"), ==, 3);
  g_assert_cmpfloat(horizon_of(sandbox, "cohort", "six"), ==, 6);
  g_assert_true(isnan(horizon_of(sandbox, "cohort", "sim")));
  g_autoptr(Run) train = train_small(sandbox, "s", "three", NULL);
  assert_status(train, 0);
  g_assert_cmpfloat(horizon_of(sandbox, "selector", "s"), ==, 3);
  g_autoptr(Run) other = run_demur(sandbox, "assess", "s", "--cohort", "six", NULL);
  assert_status(other, 1);
  assert_says(other->err, "within 3 years");
  g_autoptr(Run) tune =
      run_json(sandbox, 0, "tune", "s", "--cohort", "three", "--coverage", "1", NULL);
  write_slices(sandbox, "a", 0, N, "P1", "One^Person", 0);
  import(sandbox, "a");
  /* A risk alone is of six years, or of nobody knows how many. */
  give_score(sandbox, "scan_id,risk\n" UID ",0.4\n");
  g_autoptr(Run) refused = run_demur(sandbox, "assess", "s", "--scan", UID, NULL);
  assert_status(refused, 1);
  assert_says(refused->err, "within 3 years");
  g_autoptr(Run) all = run_json(sandbox, 0, "assess", "s", "--all", NULL);
  JsonObject *none = find_in(array_at(root_of(all), "verdicts"), "scan_id", UID);
  g_assert_cmpstr(string_at(none, "verdict"), ==, "no_score");
  g_assert_true(is_null_at(none, "risk"));
  /* .. but where it is said. */
  static const struct {
    const char *years;
    gboolean is_read;
  } said[] = {{"5", FALSE}, {"3", TRUE}};
  for (guint i = 0; i < G_N_ELEMENTS(said); i++) {
    g_autofree char *path = sandbox_path(sandbox, "scores.csv");
    g_autoptr(Run) with_years = run_json(sandbox, 0, "scores", "import", path, "--model", "m",
                                         "--replace", "--horizon", said[i].years, NULL);
    g_autoptr(Run) run = run_json(sandbox, 0, "assess", "s", "--all", NULL);
    JsonObject *one = find_in(array_at(root_of(run), "verdicts"), "scan_id", UID);
    g_assert_cmpint(strcmp(string_at(one, "verdict"), "no_score") != 0, ==, said[i].is_read);
  }
  give_score(sandbox, "scan_id,risk_year_1,risk_year_3,risk_year_6\n" UID ",0.05,0.2,0.4\n");
  g_autofree char *yearly = sandbox_path(sandbox, "scores.csv");
  g_autoptr(Run) twice = run_demur(sandbox, "scores", "import", yearly, "--model", "m", "--replace",
                                   "--horizon", "3", NULL);
  assert_status(twice, 1);
  assert_says(twice->err, "yearly risks");
  static const char *const no_years[] = {"-1", "0", "101", "1e300", "nan"};
  for (guint i = 0; i < G_N_ELEMENTS(no_years); i++) {
    g_autoptr(Run) wrong = run_demur(sandbox, "scores", "import", yearly, "--model", "m",
                                     "--horizon", no_years[i], NULL);
    assert_status(wrong, 2);
  }
  g_autoptr(Run) given = run_json(sandbox, 0, "assess", "s", "--scan", UID, NULL);
  g_assert_cmpfloat(number_at(root_of(given), "horizon_years"), ==, 3);
  JsonObject *verdict = json_array_get_object_element(array_at(root_of(given), "verdicts"), 0);
  g_assert_cmpstr(string_at(verdict, "verdict"), ==, "accepted");
  demur_assert_close(number_at(verdict, "risk_raw"), 0.2, 1e-12, 0);
}

/* What goes out says of how many years it is, and which log it is from. */
static void
test_the_years_and_the_head_go_out(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  import_yearly(sandbox, "three", "3");
  g_autoptr(Run) train = train_small(sandbox, "s", "three", NULL);
  g_autoptr(Run) tune =
      run_json(sandbox, 0, "tune", "s", "--cohort", "three", "--coverage", "1", NULL);
  write_slices(sandbox, "a", 0, N, "P1", "One^Person", 0);
  import(sandbox, "a");
  give_score(sandbox, "scan_id,risk_year_1,risk_year_3,risk_year_6\n" UID ",0.05,0.2,0.4\n");
  assess(sandbox);
  g_autoptr(Run) log = run_json(sandbox, 0, "log", NULL);
  const char *head = string_at(root_of(log), "head");
  g_autofree char *json = sandbox_path(sandbox, "o.json"), *csv = sandbox_path(sandbox, "o.csv"),
                  *sr = sandbox_path(sandbox, "o.dcm"), *page = sandbox_path(sandbox, "page.pdf");
  g_autoptr(Run) as_json = run_json(sandbox, 0, "export", json, NULL);
  g_autoptr(Run) as_csv = run_json(sandbox, 0, "export", csv, NULL);
  g_autoptr(Run) as_sr = run_json(sandbox, 0, "export", sr, "--scan", UID, NULL);
  g_autoptr(Run) patient = run_json(sandbox, 0, "report", "patient", page, "--scan", UID, NULL);
  g_assert_cmpstr(string_at(root_of(patient), "state"), ==, "current");
  g_autofree char *page_json = sandbox_path(sandbox, "page.json");
  const char *const files[] = {json, csv, sr, page_json};
  for (guint f = 0; f < G_N_ELEMENTS(files); f++) {
    g_autofree char *text = NULL;
    gsize length = 0;
    g_assert_true(g_file_get_contents(files[f], &text, &length, NULL));
    for (gsize k = 0; k < length; k++)
      text[k] = text[k] == '\0' ? ' ' : text[k];
    g_test_message("%s", files[f]);
    assert_says(text, head);
    if (f < 2 || f == 3)
      assert_says(text, f == 1 ? ",3," : "\"horizon_years\": 3");
    else
      assert_says(text, "Years of the predicted risk");
  }
  /* A later event changes nothing of what went out; the head finds what came behind it. */
  score(sandbox, UID, "0.5", "--replace");
  g_autoptr(Run) since = run_json(sandbox, 0, "log", "--from-head", head, "--event", "score", NULL);
  g_assert_cmpuint(json_array_get_length(array_at(root_of(since), "events")), ==, 1);
  g_autoptr(Run) other =
      run_demur(sandbox, "log", "--from-head",
                "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", NULL);
  assert_status(other, 1);
  assert_says(other->err, "cut or written anew");
  g_autoptr(Run) no_head = run_demur(sandbox, "log", "--from-head", "xyz", NULL);
  assert_status(no_head, 2);
}

/* The page tells what is stored, and whether it still holds. */
static void
test_the_page_tells_what_is_stored(void) {
  g_autoptr(Sandbox) sandbox = with_selector();
  write_slices(sandbox, "a", 0, N, "P1", "One^Person", 0);
  import(sandbox, "a");
  score(sandbox, UID, "0.05", NULL);
  g_autofree char *page = sandbox_path(sandbox, "page.pdf"),
                  *path = sandbox_path(sandbox, "page.json");
  static const struct {
    const char *state, *says, *not_says;
  } right[] = {{"not_kept", "\"risk\": 0.05", "@@"},
               {"current", "\"risk\": 0.05", "Out of date"},
               {"out_of_date", "the score was replaced", "0.05"},
               {"current", "\"risk\": 0.5", "Out of date"}};
  for (guint k = 0; k < G_N_ELEMENTS(right); k++) {
    if (k == 2)
      score(sandbox, UID, "0.5", "--replace");
    if (k == 1 || k == 3)
      assess(sandbox);
    g_autoptr(Run) run = run_json(sandbox, 0, "report", "patient", page, "--scan", UID, NULL);
    g_assert_cmpstr(string_at(root_of(run), "state"), ==, right[k].state);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    assert_says(text, right[k].says);
    if (strstr(text, right[k].not_says) != NULL) {
      g_test_message("%s: says %s", right[k].state, right[k].not_says);
      g_test_fail();
    }
    g_autoptr(Run) verified = run_demur(sandbox, "report", "verify", page, NULL);
    assert_status(verified, 0);
  }
}

int
main(int argc, char **argv) {
  fixture_init(&argc, &argv);
  g_test_add_func("/commands/dicom-horizon/three-years-never-read-six",
                  test_three_years_never_read_six);
  g_test_add_func("/commands/dicom-horizon/the-years-and-the-head-go-out",
                  test_the_years_and_the_head_go_out);
  g_test_add_func("/commands/dicom-horizon/the-page-tells-what-is-stored",
                  test_the_page_tells_what_is_stored);
  return g_test_run();
}
