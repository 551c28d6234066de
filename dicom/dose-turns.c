/* Of one scan y_i = log x_i is a smooth curve of the body and noise; of two between each other a step up
 * and down by D from slice to slice stands on it. The fourth difference takes off a curve up to a
 * cubic one and leaves the step whole:
 *
 *   e_i = (-1)^i (y_(i-2) - 4 y_(i-1) + 6 y_i - 4 y_(i+1) + y_(i+2)) / 16,    mean D / 2.
 *
 * What is left of the body changes its sign with (-1)^i and has no mean. With noise of sigma the mean of
 * m of them has a standard error of about sigma / sqrt(m) (it is that of an alternating sum) and each
 * one a deviation of sigma sqrt(70) / 16. In turns: 2 |mean e| of LEAST_STEP and more, and
 *
 *   |mean e| sqrt(m) / (16 sd(e) / sqrt(70)) >= LEAST_RATIO.
 *
 * tests/dicom/test-dicom-two-stacks.c holds how often one scan is taken for two. Scans whose doses
 * differ by less, or cross, are not told apart, nor three in turns. Cost O(n), memory O(1). */
#include "dicom/dose-turns.h"

#include <math.h>

#define LEAST_STEP 0.05 /* share by which the doses differ */
#define LEAST_RATIO 6.0

gboolean
demur_dose_takes_turns(const double *values, guint n) {
  if (n < DEMUR_DOSE_LEAST_SLICES)
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (!(values[i] > 0 && isfinite(values[i])))
      return FALSE;
  const guint m = n - 4;
  double mean = 0, squares = 0; /* Welford's sums */
  for (guint i = 2; i < n - 2; i++) {
    const double *x = &values[i];
    const double fourth =
        (log(x[-2]) - 4 * log(x[-1]) + 6 * log(x[0]) - 4 * log(x[1]) + log(x[2])) / 16;
    const double e = i % 2 == 0 ? fourth : -fourth;
    const double off = e - mean;
    mean += off / (i - 1);
    squares += off * (e - mean);
  }
  const double noise = sqrt(squares / m) * 16 / sqrt(70);
  return 2 * fabs(mean) >= LEAST_STEP && fabs(mean) * sqrt(m) >= LEAST_RATIO * noise;
}
