/* Local outlier factor: Breunig et al. (2000), definitions 5 to 7; the 1e-10 is scikit-learn's,
 * which keeps the density of k duplicates finite. Data layout: near rows ascending, stride apart.
 * O(n k). */
#include "features/local-outlier-factor.h"

#include <math.h>

static double
local_density(const double *distances, const guint32 *indices, size_t k, const double *kdist) {
  double sum = 0.0;
  for (size_t j = 0; j < k; j++)
    sum += fmax(distances[j], kdist[indices[j]]);
  return 1.0 / (sum / (double)k + 1e-10);
}

void
demur_lof_fit(const double *near_distances, const guint32 *near_indices, size_t n, size_t stride,
              size_t k, double *kdist, double *lrd) {
  g_return_if_fail(k >= 1 && k <= stride);
  for (size_t i = 0; i < n; i++)
    kdist[i] = near_distances[i * stride + k - 1];
  for (size_t i = 0; i < n; i++)
    lrd[i] = local_density(near_distances + i * stride, near_indices + i * stride, k, kdist);
}

double
demur_lof_score(const double *near_distances, const guint32 *near_indices, size_t k,
                const double *kdist, const double *lrd) {
  const double own = local_density(near_distances, near_indices, k, kdist);
  double sum = 0.0;
  for (size_t j = 0; j < k; j++)
    sum += lrd[near_indices[j]];
  return -(sum / (double)k) / own;
}
