/* Raking: weights under which a sample has the shares of another population.
 *
 * For margins m with categories k and wanted shares p_mk (sum over k: 1), weights start at 1 and
 * each margin in turn is put right,
 *
 *   w_i <- w_i p_(m, k_i) N / sum_(j: k_j = k_i) c_j w_j,     N = sum c,
 *
 * until all margins hold at once (iterative proportional fitting). The result is the weighting
 * nearest to the sample (least sum c w log w) among those with these margins: what is not named
 * keeps its shape within each cell. Sources: Deming and Stephan 1940; Csiszar 1975; Deville and
 * Sarndal 1993. Cost: O(n margins) a round, tens of rounds. The answer does not hang on the order
 * of the rows beyond rounding. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  size_t n_categories;
  const guint32 *codes; /* [n] in [0, n_categories) */
  const double *shares; /* [n_categories] >= 0, of sum 1 */
} DemurRakingMargin;

typedef enum {
  DEMUR_RAKED,
  DEMUR_RAKING_EMPTY,         /* a category with a share has no scan */
  DEMUR_RAKING_CONTRADICTORY, /* no weights have all of these margins at once */
} DemurRaking;

/* weights [n], of mean 1 over the sample with multiplicities counts [n] (NULL: once each). Shares
 * are met to DEMUR_RAKING_CLOSE. Weights are not set where the answer is not DEMUR_RAKED. */
#define DEMUR_RAKING_CLOSE 1e-9
DemurRaking demur_raking(const DemurRakingMargin *margins, size_t n_margins, size_t n,
                         const guint32 *counts, double *weights);

/* Kish's effective size, (sum c w)^2 / sum c w^2: so many scans drawn from the other population
 * say as much. *largest (may be NULL): the largest weight of a scan that counts. */
double demur_raking_n_effective(const double *weights, const guint32 *counts, size_t n,
                                double *largest);

G_END_DECLS
