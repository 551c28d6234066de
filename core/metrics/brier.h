/* The Brier score taken apart over equal-mass bins.
 *
 *   Brier = reliability - resolution + uncertainty + within,   exactly
 *   reliability = sum_b (n_b/n) (ybar_b - rbar_b)^2     the square of S-BCE_2
 *   resolution  = sum_b (n_b/n) (ybar_b - ybar)^2
 *   uncertainty = ybar (1 - ybar)
 *   within      = (1/n) sum_b sum_(i in b) [(r_i - rbar_b)^2 - 2 (y_i - ybar_b) (r_i - rbar_b)]
 *
 * Murphy (1973) for risks that are equal within a bin; the last term is what Stephenson, Coelho and
 * Jolliffe (2008) add where they are not (variance less twice the covariance within the bins). */
#pragma once

#include "metrics/outcomes.h"

G_BEGIN_DECLS

typedef struct {
  double brier, reliability, resolution, uncertainty, within;
} DemurBrierParts;

/* Weighted as in outcomes.h; the bins are those of selective.h, in which scans of equal risk share
 * their mean outcome. All NaN for an empty sample. O(n). */
DemurBrierParts demur_brier_parts(const DemurOutcomes *outcomes, size_t min_bin_size);

G_END_DECLS
