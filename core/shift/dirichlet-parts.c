/* Of Dirichlet(1, .., 1) the weights are L_g / (L_1 + .. + L_n), L_g = -log(1 - u_g), u_g uniform in [0, 1).
 *
 * Source: base/random.c, whose weights hold here: their logarithms come from the C library one by one, which for a hundred sites took as
 * long as a tenth of an update's matrix products. Only floor(2^32 sum) is asked for, so logarithms of eight at a time
 * (1 - u is exact, so that no log1p is needed) whose last digits differ give the same ends unless a sum lies within their
 * error of a whole number: then the weights are made again by the library.
 * log x: x = 2^k m, m in [sqrt(1/2), sqrt(2)), s = (m - 1) / (m + 1), log m = 2 (s + s^3 / 3 + .. + s^21 / 21), |s| < .172; the first
 * term left out is 2^-56 of log m.
 * Error: in units of 2^-53 of the result, s has 2, the series 3, k log 2 and its sum 3: UNITS_OF_LOG covers them twice. Each of the
 * sums of n has n at most, by the library's weights as by these; a product and a quotient one each. So two sums of shares, which are
 * at most 1, differ by less than (4 n + 2 UNITS_OF_LOG) 2^-53.
 * Cost: some fifty operations on vectors for eight groups; the exact way in (4 n + 32) n 2^-20 of all draws. */
#include "shift/dirichlet-parts.h"

#include <math.h>

#include "base/vector.h"

#define UNITS_OF_LOG 16
/* Of groups for which one draw in eight, at most, is made the exact way. */
#define MOST_AT_ONCE 180

#define ROOT_HALF 0x3fe6a09e667f3bcd /* sqrt(1/2)'s bits */
#define ONE 0x3ff0000000000000
#define MANTISSA 0x000fffffffffffff

/* values [n], a multiple of eight, each in (0, 1], become -log of them. */
VECTOR_CLONES static void
negative_logs(double *values, size_t n) {
  for (size_t i = 0; i < n; i += 8) {
    const V8i bits = (V8i)v8_load(values + i) + (ONE - ROOT_HALF);
    const V8i exponent = (bits >> 52) - 1023;
    const V8 m = (V8)((bits & MANTISSA) + ROOT_HALF);
    const V8 k = (V8)(exponent + 0x4338000000000000) - 0x1.8p52;
    const V8 s = (m - 1.0) / (m + 1.0), z = s * s;
    V8 series = v8_fill(2.0 / 21.0);
#pragma GCC unroll 9
    for (int term = 19; term >= 3; term -= 2)
      series = series * z + 2.0 / (double)term;
    const V8 log_m = s * (series * z + 2.0);
    v8_store(values + i, -(k * 0x1.62e42fefa0000p-1 + (k * 0x1.cf79abc9e3b3ap-40 + log_m)));
  }
}

gboolean
demur_dirichlet_parts_at_once(DemurRandom *random, size_t n, double *scratch, guint64 *ends) {
  DemurRandom stream = *random;
  for (size_t g = 0; g < n; g++)
    scratch[g] = 1.0 - demur_random_uniform(&stream);
  const size_t n_padded = (n + 7) / 8 * 8;
  for (size_t g = n; g < n_padded; g++)
    scratch[g] = 1.0;
  negative_logs(scratch, n_padded);
  double sum = 0.0;
  for (size_t g = 0; g < n; g++)
    scratch[g] = sum += scratch[g];
  const double scale = 0x1p32 / sum, error = (4.0 * (double)n + 2.0 * UNITS_OF_LOG) * 0x1p-21;
  gboolean sure = sum > 0.0;
  for (size_t g = 0; g + 1 < n; g++) {
    const double end = scratch[g] * scale, below = floor(end);
    sure &= end - below > error && end - below < 1.0 - error;
    ends[g] = sure ? (guint64)below : 0;
  }
  ends[n - 1] = (guint64)1 << 32;
  if (sure)
    *random = stream;
  return sure;
}

void
demur_dirichlet_parts(DemurRandom *random, double alpha, size_t n, double *scratch, guint64 *ends) {
  if (alpha == 1.0 && n <= MOST_AT_ONCE && demur_dirichlet_parts_at_once(random, n, scratch, ends))
    return;
  demur_random_dirichlet(random, alpha, n, scratch);
  double sum = 0.0;
  for (size_t g = 0; g + 1 < n; g++) {
    sum += scratch[g];
    ends[g] = (guint64)(fmin(sum, 1.0) * 0x1p32);
  }
  ends[n - 1] = (guint64)1 << 32;
}
