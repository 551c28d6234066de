/* Local outlier factor (Breunig et al. 2000), for rows that were not in the reference ("novelty"):
 *
 *   kdist(j)    = distance of reference row j to its k-th nearest other row
 *   reach(x, j) = max(|x - x_j|, kdist(j))
 *   lrd(x)      = 1 / (mean of reach(x, j) over the k nearest j of x + 1e-10)
 *   score(x)    = -mean of lrd(j) over those j / lrd(x)
 *
 * as scikit-learn's score_samples (golden/outlier.json, lof). A reference row is never its own
 * neighbour; a scan of the reference is scored without itself among its neighbours, which gives
 * scikit-learn's negative_outlier_factor_ (the other rows' kdist and lrd stay those of the whole
 * reference). High is normal. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define DEMUR_LOF_K 20

/* Of the reference itself: near_distances, near_indices [n][stride] from a pass with every row
 * excluded from its own; the first k of each row are used, 1 <= k <= stride. Fills kdist [n] and
 * lrd [n]. */
void demur_lof_fit(const double *near_distances, const guint32 *near_indices, size_t n,
                   size_t stride, size_t k, double *kdist, double *lrd);

/* Score of one query from its k nearest reference rows. */
double demur_lof_score(const double *near_distances, const guint32 *near_indices, size_t k,
                       const double *kdist, const double *lrd);

G_END_DECLS
