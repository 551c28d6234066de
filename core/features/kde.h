/* Gaussian kernel density with bandwidth 1, exact: the log density at x of reference rows x_1..x_n
 * in d dimensions,
 *
 *   log sum_j exp(-|x - x_j|^2 / 2) - (d / 2) log(2 pi) - log n,
 *
 * n being one less where the query's own row is left out (golden/outlier.json, kde_exact_direct).
 * The sum is demur_distance_pass's log_sum_exp: no tree, no tolerance. High is normal. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* n >= 1: the number of rows in the sum. */
double demur_kde_log_density(double log_sum_exp, size_t n, size_t d);

G_END_DECLS
