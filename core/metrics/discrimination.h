/* Discrimination and usefulness: AUROC, area under the risk-coverage curve, net benefit.
 *
 *   AUROC = P(r+ > r-) + P(r+ = r-) / 2 over pairs of scans with labels 1 and 0 (midranks)
 *   AURC  = (1/n) sum_(k = 1..n) loss of the scans that are kept when k are asked for
 *   net benefit(t) = TP/n - FP/n t / (1 - t),   a scan treated where r >= t   (Vickers and Elkin
 *                    2006)
 *
 * Weighted as in outcomes.h. */
#pragma once

#include "metrics/outcomes.h"
#include "metrics/selective.h"

G_BEGIN_DECLS

/* NaN where one label is missing. O(n). */
double demur_auroc(const DemurOutcomes *outcomes);

/* *error: AURC of the 0/1 error (1 - accuracy as in selective.h); *brier: of (y - r)^2. Ties in
 * score are all kept, as by every threshold here: k asked for inside a tie keep the whole tie. So a
 * constant score has the loss of the whole sample. NaN for an empty sample. O(n + n_ranks). */
void demur_aurc(const DemurSelectiveSample *sample, double *error, double *brier);

typedef struct {
  double threshold; /* t */
  double model;     /* net benefit of treating where r >= t */
  double all;       /* of treating everyone; of treating no one it is 0 */
} DemurNetBenefit;

/* At one threshold in [0, 1). Any order. NaN for an empty sample. O(n). */
DemurNetBenefit demur_net_benefit(const DemurOutcomes *outcomes, double threshold);

/* The decision curve: curve [n_thresholds] at thresholds [n_thresholds] in ascending order.
 * O(n + n_thresholds). */
void demur_decision_curve(const DemurOutcomes *outcomes, const double *thresholds,
                          size_t n_thresholds, DemurNetBenefit *curve);

G_END_DECLS
