/* Another mix from the command line. Right values: the contract, and that the shares asked for are
 * the shares there are. */
#include "commands.h"

#include <math.h>
#include <string.h>

static Sandbox *
tuned(void) {
  Sandbox *sandbox = sandbox_new();
  g_autoptr(Run) run =
      run_json(sandbox, 0, "cohort", "simulate", "sim", "--scans", "600", "--sites", "8",
               "--base-train", "500", "--tune", "400", "--test", "1500", "--quiet", NULL);
  g_autoptr(Run) train = train_small(sandbox, "s", "sim", NULL);
  return sandbox;
}

static void
test_shift(void) {
  g_autoptr(Sandbox) sandbox = tuned();
  g_autoptr(Run) early =
      run_json(sandbox, 1, "shift", "s", "--cohort", "sim", "--mix", "sex=female:0.7", NULL);
  assert_says(string_at(root_of(early), "error"), "not tuned");
  g_autoptr(Run) tune =
      run_json(sandbox, 0, "tune", "s", "--cohort", "sim", "--coverage", "0.9", NULL);

  g_autoptr(Run) run = run_json(sandbox, 0, "shift", "s", "--cohort", "sim", "--mix",
                                "sex=female:0.7", "--bootstrap", "50", NULL);
  JsonObject *root = root_of(run);
  assert_holds(root, "selector,cohort,split,model,simulated,n_scans,n_effective,largest_weight,"
                     "resample_unit,margins,measures,warnings");
  g_assert_true(bool_at(root, "simulated"));
  JsonObject *margin = json_array_get_object_element(array_at(root, "margins"), 0);
  JsonObject *female = find_in(array_at(margin, "values"), "value", "female");
  g_assert_cmpfloat_with_epsilon(number_at(female, "mix"), 0.7, 1e-6);
  g_assert_cmpfloat(number_at(female, "present"), <, 0.65);
  JsonObject *coverage = object_at(object_at(root, "measures"), "coverage");
  assert_members(coverage, "present,present_interval,mix,mix_interval,change,change_interval");
  g_assert_cmpfloat_with_epsilon(number_at(coverage, "change"),
                                 number_at(coverage, "mix") - number_at(coverage, "present"),
                                 1e-12);

  /* The same as a table, the same at any number of threads, but for nothing. */
  g_autofree char *table =
      sandbox_write(sandbox, "mix.csv", "attribute,value,share\nsex,female,0.7\n", -1);
  g_autoptr(Run) again = run_json(sandbox, 0, "shift", "s", "--cohort", "sim", "--mix-table", table,
                                  "--bootstrap", "50", "--threads", "1", NULL);
  g_assert_cmpstr(again->out, ==, run->out);

  g_autoptr(Run) words = run_demur(sandbox, "shift", "s", "--cohort", "sim", "--mix",
                                   "sex=female:0.7", "--bootstrap", "50", NULL);
  assert_status(words, 0);
  assert_says(words->out, "simulated data");
  assert_says(words->out, "not a cleared device");
  assert_says(words->out, "they say nothing of other sites");
  g_assert_null(strstr(words->out, "(no interval)"));
  g_autoptr(Run) once = run_demur(sandbox, "shift", "s", "--cohort", "sim", "--mix",
                                  "sex=female:0.7", "--bootstrap", "1", NULL);
  assert_status(once, 0);
  assert_says(once->out, "(no interval): a number that fewer than two replicates have");
}

static void
test_refused(void) {
  static const struct {
    const char *line;
    int status;
    const char *says;
  } cases[] = {
      {"shift s --cohort sim", 2, "say which mix"},
      {"shift s --mix sex=female:0.5", 2, "needs --cohort"},
      {"shift s --cohort sim --mix sex", 2, "is no mix"},
      {"shift s --cohort sim --mix sex=female:0.5 --mix sex=male:0.5", 2, "twice"},
      {"shift s --cohort sim --mix sex=other:0.5", 1, "fewer than 10 scans"},
      {"shift s --cohort sim --mix colour=red:0.5", 1, "no attribute 'colour'"},
      {"shift s --cohort sim --split selector_train --mix sex=female:0.5", 1, "made selector"},
      {"shift none --cohort sim --mix sex=female:0.5", 1, "none"},
  };
  g_autoptr(Sandbox) sandbox = tuned();
  g_autoptr(Run) tune =
      run_json(sandbox, 0, "tune", "s", "--cohort", "sim", "--coverage", "0.9", NULL);
  for (size_t c = 0; c < G_N_ELEMENTS(cases); c++) {
    g_autoptr(Run) run = run_line(sandbox, cases[c].line);
    assert_status(run, cases[c].status);
    assert_says(run->err, cases[c].says);
  }
  g_autofree char *table =
      sandbox_write(sandbox, "mix.csv", "attribute,value,share\nsex,female,\"0,7\"\n", -1);
  g_autoptr(Run) comma =
      run_demur(sandbox, "shift", "s", "--cohort", "sim", "--mix-table", table, NULL);
  assert_status(comma, 1);
  assert_says(comma->err, "line 2, column");
  assert_says(comma->err, "decimal comma");
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/commands/shift/another-mix", test_shift);
  g_test_add_func("/commands/shift/refused", test_refused);
  return g_test_run();
}
