/* Tests of whether risks are right as they stand, as statistics, and the mean error of bins.
 *
 *   Spiegelhalter 1986:      z = sum w (y - r) (1 - 2 r) / sqrt(sum w^2 (1 - 2 r)^2 r (1 - r)),
 *                            standard normal where every risk is right
 *   Hosmer and Lemeshow 1980: sum_g (O_g - E_g)^2 / (n_g p_g (1 - p_g)) over 10 groups of equal
 *                            mass in ascending risk, O, E and n the sums of w y, w r and w, p = E /
 *                            n; chi-squared with 10 degrees of freedom where the risks are right
 *                            and were not fitted to these scans
 *   S-BCE_1:                 sum_b n_b / n |ybar_b - rbar_b| over the bins of bins.h
 *
 * Samples are weighted as in outcomes.h. With weights a group's variance is that of a weighted sum,
 * (sum w^2 / sum w) n_g p_g (1 - p_g). Any order of equal risks. */
#pragma once

#include "metrics/outcomes.h"

G_BEGIN_DECLS

#define DEMUR_N_RISK_GROUPS 10 /* of Hosmer and Lemeshow */

/* NaN for an empty sample, or where all risks are 0, .5 or 1. O(n). */
double demur_spiegelhalter_z(const DemurOutcomes *outcomes);

/* NaN for fewer than 10 scans, or where a group's risks are all 0 or all 1. O(n). */
double demur_hosmer_lemeshow(const DemurOutcomes *outcomes);

/* NaN for an empty sample. O(n). */
double demur_binned_error1(const DemurOutcomes *outcomes, size_t min_bin_size);

G_END_DECLS
