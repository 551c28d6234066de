/* Which family a difference between two reports is owed to. */
#include "report/revisions.h"

/* The number that a report names of a family is that family's, whatever other families' numbers are called,
 * and whether or not it is one of those that withhold. */
static void
a_revision_is_its_family_s(void) {
  for (DemurMethodFamily of = 0; of < DEMUR_N_FAMILIES; of++) {
    g_autofree char *where =
        g_strconcat("method_revisions.", demur_method_family_row(of)->name, NULL);
    char written[] = "3", found[] = "5";
    const DemurReportDifference numbers = {where, written, found}, added = {where, NULL, found};
    for (DemurMethodFamily f = 0; f < DEMUR_N_FAMILIES; f++) {
      g_assert_cmpint(demur_method_family_holds(f, &numbers), ==, f == of);
      g_assert_cmpint(demur_method_family_holds(f, &added), ==, f == of);
    }
  }
}

/* Of those that withhold: only where a number stands on one side alone. */
static void
what_is_withheld_stands_on_one_side(void) {
  static const struct {
    const char *written, *found;
    gboolean held;
  } cases[] = {{"0.1", "0.2", FALSE}, {"0.1", "null", TRUE}, {"null", "0.2", TRUE}};
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    const DemurReportDifference d = {(char *)"methods[0].at[1].sbce2", (char *)cases[i].written,
                                     (char *)cases[i].found};
    g_assert_cmpint(demur_method_family_holds(DEMUR_FAMILY_WITHHOLDING, &d), ==, cases[i].held);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/revisions/own", a_revision_is_its_family_s);
  g_test_add_func("/revisions/withheld", what_is_withheld_stands_on_one_side);
  return g_test_run();
}
