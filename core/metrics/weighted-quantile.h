/* A quantile of weighted values, without sorting them. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  double value, mass; /* mass >= 0 */
} DemurWeighted;

/* The least value that a share p of the mass does not exceed; NaN for n = 0. total: the sum of the
 * masses. values [n] are moved. O(n) for any order of them. */
double demur_weighted_quantile(DemurWeighted *values, size_t n, double total, double p);

G_END_DECLS
