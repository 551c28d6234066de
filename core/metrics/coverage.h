/* Coverage and thresholds (Eq. quantile of the paper): which scans a score keeps. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* ceil(coverage * n), at least 1 for coverage > 0 and at most n, in exact arithmetic: a product
 * within its own rounding error of a whole number is that number (0.55 x 100 is 55). 0 for coverage
 * <= 0. */
size_t demur_coverage_count(double coverage, size_t n);

/* tau = the ceil(coverage n)-th largest of scores [n]; +inf for coverage <= 0. Selected: score >=
 * tau, so ties are all kept. scores must not hold NaN. O(n log n), scores unchanged. */
double demur_coverage_threshold(double coverage, const double *scores, size_t n);

/* The k-th largest of scores [n], k in [1, n]. */
double demur_coverage_kth_largest(const double *scores, size_t n, size_t k);

/* coverages [n]: n points from 0.05 to 1, evenly spaced (the paper's grid: 50; 10 in training). */
void demur_coverage_grid(size_t n, double *coverages);

/* Trapezoid over the grid, divided by its range: the "AUC over coverage". A NaN value makes it NaN.
 */
double demur_coverage_auc(const double *coverages, const double *values, size_t n);

/* ranks [n]: dense rank of each score, 0 the highest, equal scores share one. Returns the number of
 * ranks; scores must not hold NaN. O(n), by radix sort. */
size_t demur_coverage_ranks(const double *scores, size_t n, guint32 *ranks);

G_END_DECLS
