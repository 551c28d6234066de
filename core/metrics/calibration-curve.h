/* A smooth calibration curve with its interval.
 *
 *   s(x) = sum_i l_i(x) y_i,   l(x) the weights of a straight line fitted around x, tricube over
 * the nearest 75 % of the (weighted) scans se(x)^2 = sum_c ( sum_(i in c) l_i(x) (y_i - yhat_i) )^2
 * over clusters c, yhat of that line
 *
 * Loess as in Austin and Steyerberg 2014, locally linear as Harrell's val.prob has it; the sandwich
 * over patients, since scans of one patient are alike. Pointwise 95 %: s +- 1.96 se, cut to [0, 1].
 */
#pragma once

#include "metrics/outcomes.h"

G_BEGIN_DECLS

typedef struct {
  double risk, value, low, high;
} DemurCurvePlace;

/* Fills places [n_places], whose risks are quantiles of the (weighted) scans from the first to the
 * 99th percentile. clusters [n] in [0, n_clusters). Returns how many were filled: 0 where one label
 * is missing or all risks are the same. O(n n_places). */
size_t demur_calibration_curve(const DemurOutcomes *outcomes, const guint32 *clusters,
                               size_t n_clusters, DemurCurvePlace *places, size_t n_places);

G_END_DECLS
