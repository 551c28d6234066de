/* Raking. Right values: by hand where one margin is named; for two margins the fixed point that the
 * equations describe, and the closed form of a 2 x 2 table that keeps its odds ratio. */
#include "metrics/raking.h"

#include <math.h>

/* 6 scans of a, 2 of b; half of each is wanted. */
static void
test_one_margin(void) {
  const guint32 codes[] = {0, 0, 0, 0, 0, 0, 1, 1};
  const double shares[] = {0.5, 0.5};
  const DemurRakingMargin margin = {2, codes, shares};
  double weights[8], largest;
  g_assert_cmpint(demur_raking(&margin, 1, 8, NULL, weights), ==, DEMUR_RAKED);
  g_assert_cmpfloat_with_epsilon(weights[0], 4.0 / 6.0, 1e-12);
  g_assert_cmpfloat_with_epsilon(weights[7], 2.0, 1e-12);
  /* 8^2 / (6 x 4/9 + 2 x 4) = 64 / (32/3) = 6 */
  g_assert_cmpfloat_with_epsilon(demur_raking_n_effective(weights, NULL, 8, &largest), 6.0, 1e-12);
  g_assert_cmpfloat_with_epsilon(largest, 2.0, 1e-12);
}

/* Multiplicities are as good as rows. */
static void
test_counts(void) {
  const guint32 codes[] = {0, 1, 0}, counts[] = {6, 2, 0};
  const double shares[] = {0.5, 0.5};
  const DemurRakingMargin margin = {2, codes, shares};
  double weights[3], largest;
  g_assert_cmpint(demur_raking(&margin, 1, 3, counts, weights), ==, DEMUR_RAKED);
  g_assert_cmpfloat_with_epsilon(weights[0], 4.0 / 6.0, 1e-12);
  g_assert_cmpfloat_with_epsilon(weights[1], 2.0, 1e-12);
  g_assert_cmpfloat_with_epsilon(demur_raking_n_effective(weights, counts, 3, &largest), 6.0,
                                 1e-12);
}

/* Cells 40 10 / 20 30 raked to rows .3 .7 and columns .6 .4: the odds ratio 6 stays, so the first
 * cell p solves p (p + .1) = 6 (.3 - p)(.6 - p), 5 p^2 - 5.5 p + 1.08 = 0, p = .25635.. */
static void
test_two_margins(void) {
  const guint32 rows[] = {0, 0, 1, 1}, columns[] = {0, 1, 0, 1}, counts[] = {40, 10, 20, 30};
  const double row_shares[] = {0.3, 0.7}, column_shares[] = {0.6, 0.4};
  const DemurRakingMargin margins[] = {{2, rows, row_shares}, {2, columns, column_shares}};
  double weights[4];
  g_assert_cmpint(demur_raking(margins, 2, 4, counts, weights), ==, DEMUR_RAKED);
  const double p = (5.5 - sqrt(5.5 * 5.5 - 4 * 5 * 1.08)) / 10.0;
  g_assert_cmpfloat_with_epsilon(40 * weights[0] / 100, p, 1e-8);
  g_assert_cmpfloat_with_epsilon(10 * weights[1] / 100, 0.3 - p, 1e-8);
  g_assert_cmpfloat_with_epsilon(20 * weights[2] / 100, 0.6 - p, 1e-8);
  g_assert_cmpfloat_with_epsilon(40 * weights[0] * 30 * weights[3],
                                 6 * 10 * weights[1] * 20 * weights[2], 1e-4);
}

static void
test_unsupported(void) {
  const guint32 rows[] = {0, 1}, columns[] = {0, 1};
  const double half[] = {0.5, 0.5}, other[] = {0.9, 0.1}, three[] = {0.4, 0.4, 0.2};
  const DemurRakingMargin contradictory[] = {{2, rows, half}, {2, columns, other}},
                          empty = {3, rows, three};
  double weights[2];
  g_assert_cmpint(demur_raking(contradictory, 2, 2, NULL, weights), ==, DEMUR_RAKING_CONTRADICTORY);
  g_assert_cmpint(demur_raking(&empty, 1, 2, NULL, weights), ==, DEMUR_RAKING_EMPTY);
}

/* A share of 0 is a wish like another. */
static void
test_none_of(void) {
  const guint32 codes[] = {0, 1, 1};
  const double shares[] = {0.0, 1.0};
  const DemurRakingMargin margin = {2, codes, shares};
  double weights[3];
  g_assert_cmpint(demur_raking(&margin, 1, 3, NULL, weights), ==, DEMUR_RAKED);
  g_assert_cmpfloat(weights[0], ==, 0.0);
  g_assert_cmpfloat_with_epsilon(weights[1], 1.5, 1e-12);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/metrics/raking/one-margin", test_one_margin);
  g_test_add_func("/metrics/raking/counts-are-rows", test_counts);
  g_test_add_func("/metrics/raking/two-margins-keep-the-odds-ratio", test_two_margins);
  g_test_add_func("/metrics/raking/unsupported", test_unsupported);
  g_test_add_func("/metrics/raking/none-of-a-value", test_none_of);
  return g_test_run();
}
