/* How far off the calibration error of a mix may be: an interval of theta^2 = sum_b f_b D_b^2, the square
 * of S-BCE_2 of what is shown.
 *
 *   D_b       = sum_(i in b) v_i (y_i - r_i) / n_b,     n_b = sum_(i in b) v_i,   f_b = n_b / sum n,
 *   Z_ub      = sum_(i in u) w_i (q_ib - b'a_i),        q_ib = s_ib k_i (y_i - r_i - D_b) / n_b,
 *   Sigma_bc  = sum_u Z_ub Z_uc / ((1 - h_ub) (1 - h_uc))
 *
 * P = sum_b f_b D_b^2 has the variance 2 tr((F Sigma)^2) at theta = 0, of which the square of an estimated Sigma
 * holds that estimate's own spread too. Without it, as of a Wishart matrix of nu degrees,
 *
 *   nu^2 / ((nu - 1) (nu + 2)) (tr((F S)^2) - tr(F S)^2 / nu),     nu = (sum_u t_u)^2 / sum_u t_u^2,
 *
 * t_u = sum_b f_b Z_ub^2 as estimated (S), and no less than that of equal parts, tr(F S)^2 / n_bins.
 *
 * w: raking weight, k: that of censoring, v = w k, s_ib: the share of a scan that stands in bin b (a
 * block of equal risk that an edge cuts stands in both), b'a_i: what the margins say of q
 * (mix-ratios.h), h_ub: the larger of u's shares of the bin and of any category of a margin, at most
 * DEMUR_MIX_MOST_SHARE: the covariance is the jackknife's over units, and that of few hospitals not too small. P = sum f D^2 of such D has the mean theta^2 + tr(F Sigma) and the variance 4 D'F Sigma F D + 2
 * tr((F Sigma)^2), and is inverted (metrics/intervals.h) with Student's quantile, whose degrees are
 * half of Satterthwaite's of D'F Z_u: (sum_u x_u^2)^2 / sum_u x_u^4.
 *
 * Why not a bootstrap: drawn hospitals add their spread once more, so replicates of a square are larger
 * and wider than it; basic intervals held 90 %, bootstrap-t 89 to 95. Where theta is next to 0 some 97.5 in
 * 100 hold it, since it cannot lie below the lower end (docs/benchmarks.md).
 *
 * Source: Srivastava 2005, Journal of the Japan Statistical Society 35 (the trace without chance); Mancl and DeRouen 2001, Biometrics 57 (the factor 1 - h); Bell and McCaffrey 2002, Survey
 * Methodology 28 (the degrees); Patnaik 1949, Biometrika 36 (the
 * sum of squares as a gamma variable of its mean and variance). Layout: Z
 * [n_units][n_bins], a bin after the other. Cost: O(n n_bins K + n_units n_bins^2), K categories. */
#pragma once

#include "evaluation/mix-ratios.h"

G_BEGIN_DECLS

/* raked [n]: weights of the mix; NULL: of the present one, whose margins are not held. NaN for nothing shown, or fewer than two units. */
DemurInterval demur_mix_calibration_interval(const DemurMixRatios *ratios, DemurDrawn as_is,
                                             const double *raked, DemurMixRatiosScratch *scratch,
                                             size_t min_bin_size, double level);

G_END_DECLS
