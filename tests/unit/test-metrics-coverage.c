/* Coverage, thresholds, ranks and the AUC over coverage. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "metrics/coverage.h"
#include "support/support.h"

/* Integer arithmetic: ceil(k n / 1000), for every per mille and every n up to 2,000. */
static void
count_is_the_exact_ceiling(void) {
  for (size_t n = 1; n <= 2000; n++)
    for (size_t k = 1; k <= 1000; k++) {
      const size_t count = demur_coverage_count((double)k / 1000.0, n);
      if (count != (k * n + 999) / 1000)
        g_error("xi %zu/1000 of %zu scans: %zu", k, n, count);
    }
  /* The paper's grid, xi = (245 + 95 i) / 4900, whose points are sums and quotients themselves. */
  double grid[50];
  demur_coverage_grid(50, grid);
  for (size_t n = 1; n <= 5000; n++)
    for (size_t i = 0; i < 50; i++)
      g_assert_cmpuint(demur_coverage_count(grid[i], n), ==, ((245 + 95 * i) * n + 4899) / 4900);
  static const struct {
    double coverage;
    size_t n, count;
  } rows[] = {{0.55, 100, 55},      {0.07, 100, 7},
              {1.0 / 3, 3, 1},      {2.0 / 3, 3, 2},
              {0.0, 10, 0},         {-0.5, 10, 0},
              {NAN, 10, 0},         {0.5, 0, 0},
              {1e-300, 10, 1},      {1.5, 10, 10},
              {INFINITY, 3, 3},     {1.0, 4000000, 4000000},
              {0.1, 123457, 12346}, {0.9, 1000000000, 900000000}};
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++)
    g_assert_cmpuint(demur_coverage_count(rows[r].coverage, rows[r].n), ==, rows[r].count);
}

/* By hand: scores 5 3 3 3 1. */
static void
threshold_keeps_all_ties(void) {
  const double scores[] = {3, 1, 3, 5, 3};
  static const struct {
    double coverage, threshold;
    size_t n_kept;
  } rows[] = {{0.0, INFINITY, 0}, {0.2, 5, 1},  {0.21, 3, 4}, {0.4, 3, 4},
              {0.8, 3, 4},        {0.81, 1, 5}, {1.0, 1, 5}};
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    const double threshold = demur_coverage_threshold(rows[r].coverage, scores, 5);
    g_assert_cmpfloat(threshold, ==, rows[r].threshold);
    size_t n_kept = 0;
    for (size_t i = 0; i < 5; i++)
      n_kept += scores[i] >= threshold;
    g_assert_cmpuint(n_kept, ==, rows[r].n_kept);
  }
  static const double by_rank[] = {5, 3, 3, 3, 1};
  for (size_t k = 1; k <= 5; k++)
    g_assert_cmpfloat(demur_coverage_kth_largest(scores, 5, k), ==, by_rank[k - 1]);
  g_assert_cmpfloat(demur_coverage_threshold(0.5, NULL, 0), ==, INFINITY);
}

/* Trapezoid of a constant is the constant, of a line its middle; of x^2 over a grid of n - 1 equal
 * steps h it is (b^3 - a^3)/(3 (b - a)) + h^2/6 exactly. */
static void
auc_is_the_trapezoid(void) {
  static const size_t sizes[] = {2, 10, 20, 50};
  for (size_t s = 0; s < G_N_ELEMENTS(sizes); s++) {
    const size_t n = sizes[s];
    double x[50], constant[50], square[50];
    demur_coverage_grid(n, x);
    g_assert_cmpfloat(x[0], ==, 0.05);
    demur_assert_close(x[n - 1], 1.0, 1e-15, 0);
    for (size_t i = 0; i < n; i++) {
      constant[i] = 0.25;
      square[i] = x[i] * x[i];
    }
    demur_assert_close(demur_coverage_auc(x, constant, n), 0.25, 1e-14, 0);
    demur_assert_close(demur_coverage_auc(x, x, n), 0.525, 1e-14, 0);
    const double h = 0.95 / (double)(n - 1);
    demur_assert_close(demur_coverage_auc(x, square, n), (1 - 0.000125) / 2.85 + h * h / 6, 1e-13,
                       0);
    square[n / 2] = NAN;
    g_assert_true(isnan(demur_coverage_auc(x, square, n)));
  }
}

static int
compare_descending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x < y) - (x > y);
}

/* The rank of a score is the number of distinct greater ones, by sorting and comparing with ==. */
static void
ranks_match_a_plain_sort(void) {
  static const double odd[] = {
      0.0,      -0.0, INFINITY, -INFINITY,           DBL_MIN, -DBL_MIN, 5e-324, -5e-324, DBL_MAX,
      -DBL_MAX, 1.0,  -1.0,     0x1.fffffffffffffp-1};
  static const float odd_floats[] = {0.0f,     -0.0f,  INFINITY,      -INFINITY, FLT_MIN,
                                     -FLT_MIN, 1e-45f, -1e-45f,       FLT_MAX,   -FLT_MAX,
                                     1.0f,     -1.0f,  0x1.fffffep-1f};
  static const size_t sizes[] = {1, 2, 3, 13, 100, 3000};
  for (size_t s = 0; s < G_N_ELEMENTS(sizes); s++)
    for (guint64 kind = 0; kind < 6; kind++) {
      const size_t n = sizes[s];
      DemurRandom random = demur_random_stream(1, DEMUR_STREAM_TEST, n, kind, 0);
      g_autofree double *scores = g_new(double, n), *sorted = g_new(double, n);
      for (size_t i = 0; i < n; i++)
        switch (kind) {
        case 0:
          scores[i] = demur_random_normal(&random);
          break;
        case 1: /* many ties */
          scores[i] = (double)demur_random_below(&random, 7) - 3.0;
          break;
        case 2: /* what the trainer gives: floats */
          scores[i] = (double)(float)(1e3 * demur_random_normal(&random));
          break;
        case 3:
          scores[i] = odd[demur_random_below(&random, G_N_ELEMENTS(odd))];
          break;
        case 4:
          scores[i] = (double)odd_floats[demur_random_below(&random, G_N_ELEMENTS(odd_floats))];
          break;
        default:
          scores[i] = 0.5; /* "full" */
        }
      memcpy(sorted, scores, n * sizeof *scores);
      qsort(sorted, n, sizeof *sorted, compare_descending);
      size_t n_distinct = 0;
      for (size_t i = 0; i < n; i++)
        if (i == 0 || sorted[i] != sorted[i - 1])
          sorted[n_distinct++] = sorted[i];
      g_autofree guint32 *ranks = g_new(guint32, n);
      g_assert_cmpuint(demur_coverage_ranks(scores, n, ranks), ==, n_distinct);
      for (size_t i = 0; i < n; i++) {
        g_assert_cmpuint(ranks[i], <, n_distinct);
        g_assert_true(sorted[ranks[i]] == scores[i]); /* == on purpose: -0 is 0 */
      }
    }
  g_assert_cmpuint(demur_coverage_ranks(NULL, 0, NULL), ==, 0);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/metrics/coverage/count", count_is_the_exact_ceiling);
  g_test_add_func("/metrics/coverage/threshold", threshold_keeps_all_ties);
  g_test_add_func("/metrics/coverage/auc", auc_is_the_trapezoid);
  g_test_add_func("/metrics/coverage/ranks", ranks_match_a_plain_sort);
  return g_test_run();
}
