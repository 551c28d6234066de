/* Quantiles of weighted values: beside sorting, and in orders that are hard for fixed pivots. */
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "metrics/weighted-quantile.h"
#include "support/support.h"

static int
compare_values(const void *a, const void *b) {
  const double x = ((const DemurWeighted *)a)->value, y = ((const DemurWeighted *)b)->value;
  return (x > y) - (x < y);
}

/* The definition, over sorted values. */
static double
by_sorting(DemurWeighted *values, size_t n, double total, double p) {
  qsort(values, n, sizeof *values, compare_values);
  double sum = 0.0;
  for (size_t i = 0; i < n; i++) {
    sum += values[i].mass;
    if (sum >= p * total * (1.0 - 1e-12))
      return values[i].value;
  }
  return values[n - 1].value;
}

static void
sorting_gives_the_same(void) {
  static const size_t sizes[] = {1, 2, 3, 10, 257, 4000};
  static const double shares[] = {0.0, 0.1, 0.5, 0.9, 1.0};
  for (size_t s = 0; s < G_N_ELEMENTS(sizes); s++)
    for (guint64 seed = 0; seed < 8; seed++) {
      const size_t n = sizes[s];
      g_autofree DemurWeighted *values = g_new(DemurWeighted, n);
      g_autofree DemurWeighted *sorted = g_new(DemurWeighted, n);
      DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_TEST, n, 0, 0);
      double total = 0.0;
      for (size_t i = 0; i < n; i++) { /* whole masses sum exactly in any order; half are tied */
        values[i].value =
            seed % 2 == 0 ? demur_random_uniform(&random) : (double)demur_random_below(&random, 7);
        values[i].mass = (double)demur_random_below(&random, 4);
        sorted[i] = values[i];
        total += values[i].mass;
      }
      for (size_t p = 0; p < G_N_ELEMENTS(shares); p++) {
        const double expected = by_sorting(sorted, n, total, shares[p]);
        if (total > 0.0 && shares[p] > 0.0)
          g_assert_true(demur_weighted_quantile(values, n, total, shares[p]) == expected);
      }
    }
  g_assert_true(isnan(demur_weighted_quantile(NULL, 0, 0.0, 0.5)));
}

/* Musser's sequence (1997), on which a pivot from first, middle and last leaves n - 2 values each
 * time, ascending, descending, organ pipes and equal values: two million of them, where O(n^2) takes
 * four minutes an order. The median of 1 .. n is known. */
static void
no_order_is_hard(void) {
  const size_t n = 2000000, k = n / 2;
  g_autofree DemurWeighted *values = g_new(DemurWeighted, n);
  for (int order = 0; order < 5; order++) {
    for (size_t i = 0; i < n; i++) {
      const size_t musser = i < k ? (i % 2 == 0 ? i + 1 : k + i) : 2 * (i - k + 1);
      const size_t value[] = {musser, i + 1, n - i, i < k ? 2 * i + 1 : 2 * (n - i), 7};
      values[i] = (DemurWeighted){(double)value[order], 1.0};
    }
    const double median = demur_weighted_quantile(values, n, (double)n, 0.5);
    g_assert_cmpfloat(median, ==, order == 4 ? 7.0 : (double)k);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/metrics/weighted-quantile/sorting", sorting_gives_the_same);
  g_test_add_func("/metrics/weighted-quantile/orders", no_order_is_hard);
  return g_test_run();
}
