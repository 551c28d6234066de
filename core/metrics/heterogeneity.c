#include "metrics/heterogeneity.h"

#include <math.h>

#define NORMAL_975 1.959963984540054

/* The 97.5 % point of Student's t by Cornish and Fisher's expansion in 1/df (Abramowitz and Stegun
 * 26.7.5): within .002 from 5 degrees of freedom on; the few below are tabulated. */
static double
student_975(size_t df) {
  static const double few[] = {12.706205, 4.302653, 3.182446, 2.776445};
  if (df <= G_N_ELEMENTS(few))
    return few[df - 1];
  const double z = NORMAL_975, v = (double)df, z2 = z * z, z3 = z2 * z, z5 = z3 * z2, z7 = z5 * z2,
               z9 = z7 * z2;
  return z + (z3 + z) / (4 * v) + (5 * z5 + 16 * z3 + 3 * z) / (96 * v * v) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * v * v * v) +
         (79 * z9 + 776 * z7 + 1482 * z5 - 1920 * z3 - 945 * z) / (92160 * v * v * v * v);
}

static gboolean
is_used(double value, double error) {
  return isfinite(value) && isfinite(error) && error > 0;
}

DemurHeterogeneity
demur_heterogeneity(const double *values, const double *errors, size_t n) {
  DemurHeterogeneity h = {0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
  double w = 0, w2 = 0, wy = 0, wyy = 0;
  for (size_t i = 0; i < n; i++) {
    if (!is_used(values[i], errors[i]))
      continue;
    const double weight = 1 / (errors[i] * errors[i]);
    h.k++;
    w += weight;
    w2 += weight * weight;
    wy += weight * values[i];
    wyy += weight * values[i] * values[i];
  }
  if (h.k == 0)
    return h;
  if (h.k > 1) {
    const double df = (double)h.k - 1;
    h.q = fmax(0, wyy - wy * wy / w);
    h.tau2 = fmax(0, (h.q - df) / (w - w2 / w));
    h.i2 = h.q > 0 ? fmax(0, (h.q - df) / h.q) : 0;
  }
  const double tau2 = h.k > 1 ? h.tau2 : 0;
  double mass = 0, sum = 0;
  for (size_t i = 0; i < n; i++)
    if (is_used(values[i], errors[i])) {
      const double weight = 1 / (errors[i] * errors[i] + tau2);
      mass += weight;
      sum += weight * values[i];
    }
  const double error = 1 / sqrt(mass);
  h.mean = sum / mass;
  h.low = h.mean - NORMAL_975 * error;
  h.high = h.mean + NORMAL_975 * error;
  if (h.k > 2) {
    const double reach = student_975(h.k - 2) * sqrt(tau2 + error * error);
    h.predicted_low = h.mean - reach;
    h.predicted_high = h.mean + reach;
  }
  return h;
}
