#include "metrics/raking.h"

#include <math.h>

#define MOST_ROUNDS 2000

static inline double
count_of(const guint32 *counts, size_t i) {
  return counts != NULL ? (double)counts[i] : 1.0;
}

/* sums [n_categories] of c w; 1 for w where weights is NULL. */
static void
sum_categories(const DemurRakingMargin *margin, size_t n, const guint32 *counts,
               const double *weights, double *sums) {
  for (size_t k = 0; k < margin->n_categories; k++)
    sums[k] = 0.0;
  for (size_t i = 0; i < n; i++)
    sums[margin->codes[i]] += count_of(counts, i) * (weights != NULL ? weights[i] : 1.0);
}

/* Puts the margin right; returns how far it was off, the largest difference of a share. */
static double
put_right(const DemurRakingMargin *margin, size_t n, const guint32 *counts, double total,
          double *weights, double *factors) {
  double off = 0.0;
  sum_categories(margin, n, counts, weights, factors);
  for (size_t k = 0; k < margin->n_categories; k++) {
    off = fmax(off, fabs(factors[k] / total - margin->shares[k]));
    factors[k] = factors[k] > 0.0 ? margin->shares[k] * total / factors[k] : 0.0;
  }
  for (size_t i = 0; i < n; i++)
    weights[i] *= factors[margin->codes[i]];
  return off;
}

DemurRaking
demur_raking(const DemurRakingMargin *margins, size_t n_margins, size_t n, const guint32 *counts,
             double *weights) {
  size_t most = 1;
  for (size_t m = 0; m < n_margins; m++)
    most = MAX(most, margins[m].n_categories);
  g_autofree double *sums = g_new(double, most);
  for (size_t m = 0; m < n_margins; m++) {
    sum_categories(&margins[m], n, counts, NULL, sums);
    for (size_t k = 0; k < margins[m].n_categories; k++)
      if (margins[m].shares[k] > 0.0 && !(sums[k] > 0.0))
        return DEMUR_RAKING_EMPTY;
  }
  double total = 0.0;
  g_autofree double *raked = g_new(double, MAX(n, 1));
  for (size_t i = 0; i < n; i++) {
    raked[i] = 1.0;
    total += count_of(counts, i);
  }
  for (int round = 0; round < MOST_ROUNDS; round++) {
    double off = 0.0;
    for (size_t m = 0; m < n_margins; m++)
      off = fmax(off, put_right(&margins[m], n, counts, total, raked, sums));
    if (!(off < DEMUR_RAKING_CLOSE))
      continue;
    for (size_t i = 0; i < n; i++)
      weights[i] = raked[i];
    return DEMUR_RAKED;
  }
  return DEMUR_RAKING_CONTRADICTORY;
}

double
demur_raking_n_effective(const double *weights, const guint32 *counts, size_t n, double *largest) {
  double sum = 0.0, squares = 0.0, most = 0.0;
  for (size_t i = 0; i < n; i++) {
    const double count = count_of(counts, i);
    sum += count * weights[i];
    squares += count * weights[i] * weights[i];
    if (count > 0.0)
      most = fmax(most, weights[i]);
  }
  if (largest != NULL)
    *largest = most;
  return squares > 0.0 ? sum * sum / squares : 0.0;
}
