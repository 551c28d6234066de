/* The double sum in O(n) once sorted (docs/method.md, section Loss): with v_i = e_i g_i,
 *
 *     F_i = exp(-(r_i - r_(i-1)) / width) (F_(i-1) + v_(i-1))
 *     sum_ij v_i v_j k_ij = sum_i v_i (v_i + 2 F_i) */
#include "metrics/smmce.h"

#include <math.h>

double
demur_smmce_normalised(const double *risks, const double *labels, const double *weights, size_t n,
                       int q, double width) {
  double sum = 0.0, total = 0.0, forward = 0.0, last = 0.0;
  gboolean any = FALSE;
  for (size_t i = 0; i < n; i++) {
    if (weights[i] == 0.0)
      continue;
    const double difference = fabs(labels[i] - risks[i]);
    const double v = (q == 1 ? difference : difference * difference) * weights[i];
    if (any)
      forward *= exp(-(risks[i] - last) / width);
    sum += v * (v + 2.0 * forward);
    forward += v;
    total += weights[i];
    last = risks[i];
    any = TRUE;
  }
  if (!(total > 0.0))
    return NAN;
  const double normalised = sum / (total * total);
  return q == 1 ? normalised : sqrt(normalised);
}
