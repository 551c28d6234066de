/* Ablations from the command line. Right values: the same selectors trained and evaluated one by one
 * by `train` and `evaluate` with the options that leave the part out. */
#include "commands.h"

#include <math.h>
#include <string.h>

static double
measure_of(JsonObject *row, const char *measure) {
  return number_at(find_in(array_at(row, "measures"), "measure", measure), "auc");
}

/* S-BCE_2 over coverage of a method of `evaluate`. */
static double
evaluated(const Sandbox *sandbox, const char *selector, const char *method, const char *measure) {
  g_autoptr(Run) run = run_json(sandbox, 0, "evaluate", "--selector", selector, "--cohort", "sim",
                                "--bootstrap", "20", NULL);
  JsonObject *found = find_in(array_at(root_of(run), "methods"), "name", method);
  return number_at(object_at(object_at(found, "auc"), measure), "point");
}

static void
each_row_is_the_selector_without_that_part(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  g_autoptr(Run) cohort =
      run_json(sandbox, 0, "cohort", "simulate", "sim", "--scans", "900", "--sites", "8",
               "--base-train", "400", "--test", "600", "--outside", "2", NULL);
  g_autoptr(Run) whole = train_small(sandbox, "s", "sim", "--average", "2", "--target", "denoised",
                                     "--features", "confidence,class,outlier,corrector", NULL);
  g_autoptr(Run) run =
      run_json(sandbox, 0, "ablate", "s", "--cohort", "sim", "--bootstrap", "50", NULL);
  JsonObject *root = root_of(run);
  assert_holds(root, "selector,cohort,split,seed,simulated,in_sample,n_scans,n_sites,unit,rows");
  JsonArray *rows = array_at(root, "rows");
  static const char *const names[] = {
      "whole",           "without_confidence", "without_class",
      "without_outlier", "without_corrector",  "without_perturbations",
      "per_example",     "without_worst",      "paper_target",
      "one_network"};
  g_assert_cmpuint(json_array_get_length(rows), ==, G_N_ELEMENTS(names));
  for (guint r = 0; r < G_N_ELEMENTS(names); r++)
    g_assert_cmpstr(string_at(json_array_get_object_element(rows, r), "name"), ==, names[r]);
  const struct {
    const char *row, *option, *value;
  } twins[] = {{"without_outlier", "--features", "confidence,class,corrector"},
               {"without_perturbations", "--resample", "none"},
               {"without_worst", "--kappa", "0"},
               {"one_network", "--average", "1"}};
  const double base = evaluated(sandbox, "s", "selector:s", "sbce2");
  g_assert_cmpfloat(measure_of(json_array_get_object_element(rows, 0), "sbce2_auc"), ==, base);
  g_assert_cmpfloat(number_at(object_at(root, "confidence"), "sbce2_auc"), ==,
                    evaluated(sandbox, "s", "confidence", "sbce2"));
  for (size_t t = 0; t < G_N_ELEMENTS(twins); t++) {
    g_autoptr(Run) trained = train_small(
        sandbox, twins[t].row, "sim", "--average", "2", "--target", "denoised", "--features",
        "confidence,class,outlier,corrector", twins[t].option, twins[t].value, NULL);
    g_autofree char *method = g_strconcat("selector:", twins[t].row, NULL);
    JsonObject *row = find_in(rows, "name", twins[t].row);
    const double expected = evaluated(sandbox, twins[t].row, method, "sbce2");
    g_assert_cmpfloat(measure_of(row, "sbce2_auc"), ==, expected);
    JsonObject *against =
        object_at(find_in(array_at(row, "measures"), "measure", "sbce2_auc"), "against_whole");
    g_assert_cmpfloat_with_epsilon(number_at(against, "difference"), expected - base, 1e-15);
  }
}

static void
what_cannot_be_left_out_is_refused(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  g_autoptr(Run) cohort = run_json(sandbox, 0, "cohort", "simulate", "sim", "--scans", "400",
                                   "--sites", "6", "--base-train", "300", "--test", "300", NULL);
  g_autoptr(Run) plain = train_small(sandbox, "c", "sim", "--method", "confidence", NULL),
                 net = train_small(sandbox, "s", "sim", NULL);
  const struct {
    const char *selector, *option, *value, *says;
    int status;
  } rows[] = {{"c", "--bootstrap", "10", "there is no network whose parts could be left out", 1},
              {"s", "--without", "nonsense", "'nonsense' is nothing that can be left out", 2},
              {"s", "--without", "one_network", "'one_network' can't be left out", 2},
              {"s", "--without", "without_acquisition", "can't be left out", 2},
              {"s", "--split", "selector_train", "say --in-sample", 1},
              {"s", "--split", "nowhere", "nowhere", 1}};
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(Run) run = run_demur(sandbox, "ablate", rows[i].selector, "--cohort", "sim",
                                   rows[i].option, rows[i].value, NULL);
    assert_status(run, rows[i].status);
    assert_says(run->err, rows[i].says);
  }
  g_autoptr(Run) one = run_demur(sandbox, "ablate", "s", "--cohort", "sim", "--without",
                                 "without_class,without_worst", "--bootstrap", "20", NULL);
  assert_status(one, 0);
  assert_says(one->out, "without class features");
  assert_says(one->out, "all data sets, not the worst");
  g_assert_null(strstr(one->out, "without outlier features"));
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/commands/ablate/rows", each_row_is_the_selector_without_that_part);
  g_test_add_func("/commands/ablate/refused", what_cannot_be_left_out_is_refused);
  return g_test_run();
}
