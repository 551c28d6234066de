/* What was noticed in tables, in words: each kind in one and in several, with and without names. */
#include <string.h>

#include "support/support.h"
#include "words/noticed.h"

static char *
say(DemurTableWarningKind kind, size_t n, gboolean with_ids) {
  const DemurTableWarning warning = {kind, (char *)"age", (char *)"f\033[31m", (char *)"second", n,
                                     9};
  return demur_words_noticed(&warning, with_ids, NULL);
}

/* Every kind has words without marks left in them, nothing raw for a terminal, and more to say of
 * identifiers only inside the workspace. */
static void
test_every_kind(void) {
  for (int k = 0; k < DEMUR_N_TABLE_WARNINGS; k++)
    for (size_t n = 1; n < 3; n++) {
      g_autofree char *whole = say((DemurTableWarningKind)k, n, TRUE);
      g_autofree char *bare = say((DemurTableWarningKind)k, n, FALSE);
      g_assert_cmpuint(strlen(bare), >, 10);
      g_assert_cmpuint(strlen(bare), <=, strlen(whole));
      g_assert_null(strpbrk(whole, "{}$\033"));
      g_assert_null(strstr(bare, "second"));
    }
}

static void
test_words(void) {
  static const struct {
    DemurTableWarning warning;
    gboolean with_ids;
    const char *words;
  } cases[] = {
      {{DEMUR_TABLE_NO_PERSON, NULL, (char *)"9-T0, 1-T1", NULL, 2, 3},
       TRUE,
       "2 scores without a person or a screen: 9-T0, 1-T1"},
      {{DEMUR_TABLE_NO_PERSON, NULL, (char *)"9-T0, 1-T1", NULL, 2, 3},
       FALSE,
       "2 scores without a person or a screen"},
      {{DEMUR_TABLE_NO_SCORE, NULL, (char *)"2-T0", NULL, 1, 2},
       TRUE,
       "1 screen without a score: 2-T0"},
      {{DEMUR_TABLE_UNLABELLED, (char *)"tune", NULL, NULL, 1, 1},
       FALSE,
       "split tune: 1 of 1 scans without label; it can't train, recalibrate or be evaluated"},
      {{DEMUR_TABLE_LIKE, (char *)"patient_id", (char *)"p1", (char *)"P1", 1, 0},
       FALSE,
       "1 of patient_id looks like another one; they were taken as different"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *words = demur_words_noticed(&cases[i].warning, cases[i].with_ids, NULL);
    g_assert_cmpstr(words, ==, cases[i].words);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/words/noticed/every-kind", test_every_kind);
  g_test_add_func("/words/noticed/words", test_words);
  return g_test_run();
}
