/* What the window reads of a validation that is kept with a selector: documents by hand, as
 * demur_validation_write_json has them. */
#include "evaluation/validation.h"

static void
test_found(void) {
  static const char *const words[] = {"better", "no difference shown", "worse",
                                      "cannot be decided"};
  for (int v = 0; v < (int)G_N_ELEMENTS(words); v++) {
    g_autofree char *json = g_strdup_printf(
        "{\"verdict\": \"%s\", \"sentence\": \"..\", \"n_scans\": 900, \"n_sites\": 21, "
        "\"confidence_helps\": %s}",
        words[v], v == 1 ? "true" : "false");
    DemurValidationFound found;
    g_assert_true(demur_validation_read_found(json, &found));
    g_assert_cmpint(found.verdict, ==, v);
    g_assert_cmpuint(found.n_scans, ==, 900);
    g_assert_cmpuint(found.n_sites, ==, 21);
    g_assert_true(found.confidence_told);
    g_assert_cmpint(found.confidence_helps, ==, v == 1);
  }
}

/* A document of before it said whether confidence helps: the rest of it is told. */
static void
test_older(void) {
  DemurValidationFound found;
  g_assert_true(demur_validation_read_found(
      "{\"verdict\": \"no difference shown\", \"sentence\": \"..\", \"n_scans\": 900, \"n_sites\": 21}",
      &found));
  g_assert_cmpint(found.verdict, ==, DEMUR_VERDICT_NO_DIFFERENCE_SHOWN);
  g_assert_cmpuint(found.n_sites, ==, 21);
  g_assert_false(found.confidence_helps);
  g_assert_false(found.confidence_told);
}

/* None, a document of something else, a verdict that there is not. */
static void
test_none(void) {
  static const char *const texts[] = {
      NULL,
      "",
      "x",
      "[]",
      "{}",
      "{\"verdict\": \"better\", \"n_scans\": -1, \"n_sites\": 2, \"confidence_helps\": true}",
      "{\"verdict\": \"better\", \"n_scans\": 1, \"n_sites\": 2, \"confidence_helps\": \"yes\"}",
      "{\"verdict\": \"best\", \"n_scans\": 1, \"n_sites\": 2, \"confidence_helps\": true}"};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
    DemurValidationFound found;
    g_assert_false(demur_validation_read_found(texts[i], &found));
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/evaluation/validation-found/found", test_found);
  g_test_add_func("/evaluation/validation-found/older", test_older);
  g_test_add_func("/evaluation/validation-found/none", test_none);
  return g_test_run();
}
