/* Mean distance to the k nearest: paper, section "Meta features" (kNN distance). O(m k). */
#include "features/neighbours.h"

void
demur_neighbours_mean_distance(const double *near_distances, size_t m, size_t stride, size_t k,
                               double *out, size_t out_stride) {
  g_return_if_fail(k >= 1 && k <= stride);
  for (size_t i = 0; i < m; i++) {
    double sum = 0.0;
    for (size_t j = 0; j < k; j++)
      sum += near_distances[i * stride + j];
    out[i * out_stride] = sum / (double)k;
  }
}
