/* A real multi-hospital cohort (International Stroke Trial): the point values that its README
 * gives, measured there with the authors' code and scikit-learn. Skipped where the shared data are
 * absent. The selector is trained with a small part of the paper's budget here; the whole budget is
 * for the long checks. */
#include "commands.h"

#include <math.h>
#include <string.h>

#define COHORT "cohorts/ist_deaddep6m.csv"

static JsonObject *
method_of(JsonObject *evaluation, const char *name) {
  JsonObject *method = find_in(array_at(evaluation, "methods"), "name", name);
  g_assert_nonnull(method);
  return method;
}

static double
point_of(JsonObject *evaluation, const char *name) {
  return number_at(object_at(object_at(method_of(evaluation, name), "auc"), "sbce2"), "point");
}

static void
test_ist_meets_the_readme(void) {
  g_autofree char *table = demur_test_shared(COHORT);
  if (table == NULL)
    return;
  g_autoptr(Sandbox) sandbox = sandbox_new();
  g_autoptr(Run) in = run_json(sandbox, 0, "cohort", "import", "ist", table, NULL);
  g_assert_cmpfloat(number_at(root_of(in), "n_scans"), ==, 19285);
  g_assert_cmpfloat(number_at(root_of(in), "embedding_width"), ==, 32);
  g_assert_false(bool_at(root_of(in), "simulated"));
  /* 300 updates of 32 x 1,024. */
  g_autoptr(Run) train = run_json(sandbox, 0, "train", "s", "--cohort", "ist", "--as-published",
                                  "--epochs", "1", "--datasets-per-epoch", "9600", NULL);
  g_assert_cmpfloat(number_at(root_of(train), "updates"), ==, 300);
  JsonArray *parts = array_at(root_of(train), "parts");
  g_assert_cmpstr(string_at(find_in(parts, "role", "reference"), "split"), ==, "base_train");
  g_autoptr(Run) tune =
      run_json(sandbox, 0, "tune", "s", "--cohort", "ist", "--coverage", "0.9", NULL);
  g_autoptr(Run) run = run_json(sandbox, 0, "evaluate", "--selector", "s", "--cohort", "ist",
                                "--bootstrap", "100", "--resamples", "2", NULL);
  JsonObject *evaluation = root_of(run);
  g_assert_cmpfloat(number_at(evaluation, "n_scans"), ==, 5783);
  static const struct {
    const char *method;
    double value, within;
  } readme[] = {
      {"full", .223, .001},
      {"confidence", .156, .001},
      {"knn", .213, .001},
      {"kde", .218, .001},
      {"lof", .217, .001},
      {"ocsvm", .246, .01},
      /* One draw of the forest; eight draws of scikit-learn gave .237 to .252. */
      {"iforest", .247, .015},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(readme); i++) {
    g_test_message("%s %.4f", readme[i].method, point_of(evaluation, readme[i].method));
    demur_assert_close(point_of(evaluation, readme[i].method), readme[i].value, 0,
                       readme[i].within);
  }
  /* The split as it is: S-BCE_2 at full coverage .223, noise floor .020. */
  JsonArray *full = array_at(object_at(method_of(evaluation, "full"), "curve"), "sbce2");
  JsonObject *last = json_array_get_object_element(full, 49);
  demur_assert_close(number_at(last, "point"), .223, 0, .001);
  demur_assert_close(number_at(last, "noise_floor"), .020, 0, .001);
  const double selector = point_of(evaluation, "selector:s");
  g_assert_cmpfloat(selector, >, .14);
  g_assert_cmpfloat(selector, <, .20);
  /* 150 sites: comparisons are by site and can be decided. */
  JsonArray *comparisons = array_at(evaluation, "comparisons");
  for (guint i = 0; i < json_array_get_length(comparisons); i++) {
    JsonObject *c = json_array_get_object_element(comparisons, i);
    g_assert_cmpstr(string_at(c, "unit"), ==, "site");
    g_assert_cmpfloat(number_at(c, "n_units"), ==, 150);
  }
  /* A covariate file joins by patient and leaves the scans as they are. */
  g_autofree char *covariates = demur_test_shared("cohorts/ist_covariates.csv");
  if (covariates == NULL)
    return;
  g_autoptr(Run) attach = run_json(sandbox, 0, "cohort", "attach", "ist", covariates, "--key",
                                   "patient_id", "--columns", "female", NULL);
  g_assert_cmpfloat(number_at(root_of(attach), "n_unmatched"), ==, 0);
  g_autoptr(Run) verify = run_json(sandbox, 0, "verify", NULL);
  g_assert_true(bool_at(root_of(verify), "ok"));
}

/* The small cohorts of bad rows, made of real rows: the first fault of each is at a known place. */
static void
test_a_fault_deep_in_a_real_table_is_found(void) {
  g_autofree char *table = demur_test_shared(COHORT);
  if (table == NULL)
    return;
  g_autofree char *text = NULL;
  g_assert_true(g_file_get_contents(table, &text, NULL, NULL));
  g_autoptr(Sandbox) sandbox = sandbox_new();
  /* Line 15001: its split becomes another word, its patient's own row 2 repeated there. */
  char *line = text;
  for (int i = 1; i < 15001; i++)
    line = strchr(line, '\n') + 1;
  char *second = strchr(text, '\n') + 1;
  const gsize length = (gsize)(strchr(second, ',') - second);
  g_assert_cmpuint(length, ==, (gsize)(strchr(line, ',') - line));
  memcpy(line, second, length);
  g_autofree char *path = sandbox_write(sandbox, "ist.csv", text, -1);
  g_autoptr(Run) run = run_json(sandbox, 1, "cohort", "import", "ist", path, NULL);
  assert_says(run->err, "line 15001");
  assert_says(run->err, "line 2");
  g_assert_null(strstr(run->err, "ist00001")); /* a patient is told by line, not by name */
  g_autoptr(Run) list = run_demur(sandbox, "cohort", "list", NULL);
  assert_status(list, 1);
  assert_says(list->err, "there is no workspace"); /* nothing was kept, so none was begun */
}

/* What came before is not another image because several share a UID. Two folders with different
 * images under one SOPInstanceUID, in one series and over several. */
static void
test_the_same_folder_again_changes_nothing(void) {
  static const char *const folders[] = {"dicom/derived/22_all_same_sopuid",
                                        "dicom/real/transfer-syntaxes"};
  for (size_t f = 0; f < G_N_ELEMENTS(folders); f++) {
    g_autofree char *folder = demur_test_shared(folders[f]);
    if (folder == NULL)
      return;
    g_autoptr(Sandbox) sandbox = sandbox_new();
    guint n_series = 0, n_accepted = 0;
    static const char *const more[] = {NULL, NULL, "--reread"};
    for (size_t k = 0; k < G_N_ELEMENTS(more); k++) {
      g_autoptr(Run) in = run_json(sandbox, 0, "dicom", "import", folder, more[k], NULL);
      g_autoptr(Run) list = run_json(sandbox, 0, "dicom", "list", NULL);
      JsonArray *series = array_at(root_of(list), "series");
      guint n = 0;
      for (guint i = 0; i < json_array_get_length(series); i++) {
        JsonObject *one = json_array_get_object_element(series, i);
        n += bool_at(one, "accepted") ? 1 : 0;
        g_assert_true(is_null_at(one, "conflict"));
      }
      g_assert_cmpuint(json_array_get_length(series), >, 0);
      if (k == 0) {
        n_series = json_array_get_length(series);
        n_accepted = n;
      }
      g_assert_cmpuint(json_array_get_length(series), ==, n_series);
      g_assert_cmpuint(n, ==, n_accepted);
    }
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/commands/real/ist", test_ist_meets_the_readme);
  g_test_add_func("/commands/real/fault", test_a_fault_deep_in_a_real_table_is_found);
  g_test_add_func("/commands/real/again", test_the_same_folder_again_changes_nothing);
  return g_test_run();
}
