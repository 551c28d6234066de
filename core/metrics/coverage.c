#include "metrics/coverage.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t
demur_coverage_count(double coverage, size_t n) {
  if (!(coverage > 0.0) || n == 0)
    return 0;
  const double product = coverage * (double)n;
  const double nearest = round(product);
  /* The decimal that was meant is within half an ulp of coverage, and the product rounds once more.
   */
  const double count =
      fabs(product - nearest) <= 4.0 * DBL_EPSILON * product ? nearest : ceil(product);
  return (size_t)CLAMP(count, 1.0, (double)n);
}

static int
compare_descending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x < y) - (x > y);
}

double
demur_coverage_kth_largest(const double *scores, size_t n, size_t k) {
  g_return_val_if_fail(k >= 1 && k <= n, NAN);
  g_autofree double *sorted = g_new(double, n);
  memcpy(sorted, scores, n * sizeof(double));
  qsort(sorted, n, sizeof(double), compare_descending);
  return sorted[k - 1];
}

double
demur_coverage_threshold(double coverage, const double *scores, size_t n) {
  const size_t k = demur_coverage_count(coverage, n);
  return k == 0 ? INFINITY : demur_coverage_kth_largest(scores, n, k);
}

void
demur_coverage_grid(size_t n, double *coverages) {
  g_return_if_fail(n >= 2);
  for (size_t i = 0; i < n; i++)
    coverages[i] = 0.05 + 0.95 * (double)i / (double)(n - 1);
}

double
demur_coverage_auc(const double *coverages, const double *values, size_t n) {
  double area = 0.0;
  for (size_t i = 1; i < n; i++)
    area += 0.5 * (values[i] + values[i - 1]) * (coverages[i] - coverages[i - 1]);
  return area / (coverages[n - 1] - coverages[0]);
}

typedef struct {
  double score;
  guint32 row;
} ScoredRow;

static int
compare_scored_rows(const void *a, const void *b) {
  const ScoredRow *x = a, *y = b;
  if (x->score != y->score)
    return x->score < y->score ? 1 : -1;
  return (x->row > y->row) - (x->row < y->row);
}

size_t
demur_coverage_ranks(const double *scores, size_t n, guint32 *ranks) {
  if (n == 0)
    return 0;
  g_autofree ScoredRow *sorted = g_new(ScoredRow, n);
  for (size_t i = 0; i < n; i++)
    sorted[i] = (ScoredRow){scores[i], (guint32)i};
  qsort(sorted, n, sizeof *sorted, compare_scored_rows);
  guint32 rank = 0;
  for (size_t i = 0; i < n; i++) {
    if (i > 0 && sorted[i].score != sorted[i - 1].score)
      rank++;
    ranks[sorted[i].row] = rank;
  }
  return (size_t)rank + 1;
}
