/* What is said before an assessment is taken back. Right values: the sentences by hand, with every
 * selector whose verdicts go, and the numbers of all that would. */
#include <string.h>

#include "ui/undo-assess.h"

static void
test_words(void) {
  g_autoptr(GPtrArray) none = g_ptr_array_new(), one = g_ptr_array_new(),
                       two = g_ptr_array_new(); /* newest first */
  g_ptr_array_add(one, (char *)"m-1y");
  g_ptr_array_add(two, (char *)"m-2y");
  g_ptr_array_add(two, (char *)"m-1y");
  const struct {
    GPtrArray *selectors;
    gsize n_reviewed;
    const char *told, *not_told;
  } cases[] = {
      {none, 0, "have none. What is taken back stays", "goes back with it"},
      {NULL, 0, "have none. What is taken back stays", "goes back with it"},
      {one, 0, "What the other horizons said of the same scans goes back with it: m-1y. What",
       NULL},
      {two, 0, "goes back with it: m-1y, m-2y. What is taken back stays", NULL},
      {two, 2, "2 of the 9 verdicts of the last assessment have an opinion", "Why?"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    const DemurLastAssessment last = {.selector = (char *)"m-6y",
                                      .created = (char *)"2026-11-29T14:12:11Z",
                                      .n_verdicts = 3,
                                      .n_earlier = 1,
                                      .n_reviewed = cases[i].n_reviewed,
                                      .n_all = 9,
                                      .selectors = cases[i].selectors};
    g_autofree char *text = demur_undo_assess_words(&last);
    g_test_message("%s", text);
    g_assert_nonnull(strstr(text, cases[i].told));
    g_assert_true(cases[i].not_told == NULL || strstr(text, cases[i].not_told) == NULL);
    g_assert_true(cases[i].n_reviewed > 0 || strstr(text, "29\u00a0November\u00a02026") != NULL);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/ui/undo-assess/words", test_words);
  return g_test_run();
}
