#include "metrics/intervals.h"

#include <math.h>
#include <stdlib.h>

double
demur_normal_quantile(double p) {
  if (!(p > 0.0 && p < 1.0))
    return p == 0.0 ? -INFINITY : p == 1.0 ? INFINITY : NAN;
  if (p > 0.5) /* 1 - p is exact, and the refining step needs the small tail */
    return -demur_normal_quantile(1.0 - p);
  static const double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                             1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  static const double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                             6.680131188771972e+01, -1.328068155288572e+01};
  static const double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                             -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  static const double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                             3.754408661907416e+00};
  double x;
  if (p < 0.02425) {
    const double q = sqrt(-2.0 * log(p));
    x = (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
        ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1.0);
  } else {
    const double q = p - 0.5, r = q * q;
    x = (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
        (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1.0);
  }
  const double e = 0.5 * erfc(-x * M_SQRT1_2) - p;
  const double u = e * sqrt(2.0 * G_PI) * exp(x * x / 2.0);
  return x - u / (1.0 + x * u / 2.0);
}

void
demur_interval_wilson(double successes, double n, double level, double *low, double *high) {
  if (!(n > 0.0)) {
    *low = 0.0;
    *high = 1.0;
    return;
  }
  const double z = demur_normal_quantile(0.5 + level / 2.0), z2 = z * z, p = successes / n;
  const double centre = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
  const double half = z / (1.0 + z2 / n) * sqrt(p * (1.0 - p) / n + z2 / (4.0 * n * n));
  /* The share itself lies within, to the last digit: of 10 in 10 the upper limit is 1. */
  *low = fmax(0.0, fmin(p, centre - half));
  *high = fmin(1.0, fmax(p, centre + half));
}

static int
compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Moves the finite values to the front and sorts them; how many. */
static size_t
sort_finite(double *values, size_t n) {
  size_t n_finite = 0;
  for (size_t i = 0; i < n; i++)
    if (isfinite(values[i]))
      values[n_finite++] = values[i];
  if (n_finite > 1) /* qsort may not be given NULL, even for nothing */
    qsort(values, n_finite, sizeof(double), compare_doubles);
  return n_finite;
}

/* Quantile of sorted values [n] by linear interpolation. */
static double
quantile(const double *sorted, size_t n, double p) {
  const double place = p * (double)(n - 1);
  const size_t below = (size_t)place;
  if (below + 1 >= n)
    return sorted[n - 1];
  return sorted[below] + (place - (double)below) * (sorted[below + 1] - sorted[below]);
}

void
demur_interval_percentile(double *replicates, size_t n, double level, double *low, double *high) {
  const size_t n_finite = sort_finite(replicates, n);
  *low = n_finite < 2 ? NAN : quantile(replicates, n_finite, (1.0 - level) / 2.0);
  *high = n_finite < 2 ? NAN : quantile(replicates, n_finite, (1.0 + level) / 2.0);
}

double
demur_student_quantile(double p, double degrees) {
  if (!(p > 0.0 && p < 1.0 && degrees >= 1.0))
    return NAN;
  if (p == 0.5)
    return 0.0;
  const double sign = p < 0.5 ? -1.0 : 1.0, n = degrees;
  const double tails = 2.0 * fmin(p, 1.0 - p);
  if (n == 1.0)
    return sign / tan(tails * G_PI_2);
  if (n == 2.0)
    return sign * sqrt(2.0 / (tails * (2.0 - tails)) - 2.0);
  const double a = 1.0 / (n - 0.5), b = 48.0 / (a * a);
  double c = ((20700.0 * a / b - 98.0) * a - 16.0) * a + 96.36;
  const double d = ((94.5 / (b + c) - 3.0) / b + 1.0) * sqrt(a * G_PI_2) * n;
  double y = pow(d * tails, 2.0 / n);
  if (y > 0.05 + a) {
    const double x = demur_normal_quantile(tails / 2.0);
    y = x * x;
    if (n < 5.0)
      c += 0.3 * (n - 4.5) * (x + 0.6);
    c = (((0.05 * d * x - 5.0) * x - 7.0) * x - 2.0) * x + b + c;
    y = (((((0.4 * y + 6.3) * y + 36.0) * y + 94.5) / c - y - 3.0) / b + 1.0) * x;
    y = expm1(a * y * y);
  } else {
    y = ((1.0 / (((n + 6.0) / (n * y) - 0.089 * d - 0.822) * (n + 2.0) * 3.0) + 0.5 / (n + 4.0)) *
             y -
         1.0) *
            (n + 1.0) / (n + 2.0) +
        1.0 / y;
  }
  return sign * sqrt(n * y);
}

/* The lower tail of demur_interval_expanded; NaN where there is none. */
static double
expanded_tail(size_t n_units, double level) {
  if (n_units < 2)
    return NAN;
  const double n = (double)n_units;
  const double z = sqrt(n / (n - 1.0)) * demur_student_quantile((1.0 + level) / 2.0, n - 1.0);
  return 0.5 * erfc(z * M_SQRT1_2);
}

void
demur_interval_expanded(double *replicates, size_t n, size_t n_units, double level, double *low,
                        double *high) {
  const size_t n_finite = sort_finite(replicates, n);
  const double tail = expanded_tail(n_units, level);
  const gboolean known = n_finite >= 2 && isfinite(tail);
  *low = known ? quantile(replicates, n_finite, tail) : NAN;
  *high = known ? quantile(replicates, n_finite, 1.0 - tail) : NAN;
}

void
demur_interval_studentised(double *ratios, size_t n, double point, double se, size_t n_units,
                           double level, double *low, double *high) {
  const size_t n_finite = sort_finite(ratios, n);
  const double tail = expanded_tail(n_units, level);
  const gboolean known = n_finite >= 2 && isfinite(tail) && se > 0.0 && isfinite(se);
  *low = known ? point - se * quantile(ratios, n_finite, 1.0 - tail) : NAN;
  *high = known ? point - se * quantile(ratios, n_finite, tail) : NAN;
}

void
demur_interval_basic(double *replicates, size_t n, double point, double truth, size_t n_units,
                     double level, double *low, double *high) {
  double a, b;
  demur_interval_expanded(replicates, n, n_units, level, &a, &b);
  *low = point + truth - b;
  *high = point + truth - a;
}

void
demur_interval_symmetric(double *replicates, size_t n, double point, double truth, size_t n_units,
                         double level, double *low, double *high) {
  for (size_t b = 0; b < n; b++)
    replicates[b] = fabs(replicates[b] - truth);
  const size_t n_finite = sort_finite(replicates, n);
  const double tail = expanded_tail(n_units, level);
  const gboolean known = n_finite >= 2 && isfinite(tail);
  const double half = known ? quantile(replicates, n_finite, 1.0 - 2.0 * tail) : NAN;
  *low = point - half;
  *high = point + half;
}

static double
difference_reach(double a, double b, double r) {
  if (isnan(a) || isnan(b) || isnan(r))
    return NAN;
  return isinf(a) || isinf(b) ? INFINITY : sqrt(fmax(a * a + b * b - 2.0 * r * a * b, 0.0));
}

void
demur_interval_difference(const DemurLimited *from, const DemurLimited *to, double r, double *low,
                          double *high) {
  const double d = to->value - from->value;
  *low = d - difference_reach(to->value - to->low, from->high - from->value, r);
  *high = d + difference_reach(to->high - to->value, from->value - from->low, r);
}

/* The sum's lower (side -1) or upper (1) quantile where theta^2 is `square`; z, t: the normal and Student's
 * quantile of the level. */
static double
squares_quantile(const DemurSquares *squares, double square, double side, double z, double t) {
  const double mean = square + squares->added, growth = squares->growth * square;
  const double of_mean = (growth + squares->variance) / (9.0 * mean * mean),
               spread = sqrt(t * t * growth + z * z * squares->variance) / (3.0 * mean);
  const double root = fmax(1.0 - of_mean + side * spread, 0.0);
  return mean * root * root * root;
}

/* The largest theta^2 whose quantile lies below the sum; 0 for none. */
static double
squares_end(const DemurSquares *squares, double side, double z, double t) {
  double low = 0.0, high = fmax(squares->sum, squares->added);
  for (int doubled = 0; squares_quantile(squares, high, side, z, t) < squares->sum && doubled < 64;
       doubled++)
    high *= 2.0;
  for (int step = 0; step < 100; step++) {
    const double middle = 0.5 * (low + high);
    *(squares_quantile(squares, middle, side, z, t) < squares->sum ? &low : &high) = middle;
  }
  return low;
}

void
demur_interval_squares(const DemurSquares *squares, double level, double *low, double *high) {
  *low = *high = NAN;
  if (!isfinite(squares->sum) || !isfinite(squares->growth) || !(squares->added > 0.0) ||
      !(squares->variance > 0.0) || !isfinite(squares->variance))
    return;
  const double z = demur_normal_quantile((1.0 + level) / 2.0),
               t = demur_student_quantile((1.0 + level) / 2.0, squares->degrees);
  *low = squares_end(squares, 1.0, z, t);
  *high = squares_end(squares, -1.0, z, t);
}

double
demur_to_scale(double value, DemurScale scale) {
  return scale == DEMUR_SCALE_LOG     ? log(value)
         : scale == DEMUR_SCALE_LOGIT ? log(value) - log1p(-value)
                                      : value;
}

double
demur_scale_slope(double value, DemurScale scale) {
  return scale == DEMUR_SCALE_LOG     ? 1.0 / value
         : scale == DEMUR_SCALE_LOGIT ? 1.0 / (value * (1.0 - value))
                                      : 1.0;
}

double
demur_from_scale(double value, DemurScale scale) {
  return scale == DEMUR_SCALE_LOG     ? exp(value)
         : scale == DEMUR_SCALE_LOGIT ? 1.0 / (1.0 + exp(-value))
                                      : value;
}

void
demur_interval_jackknife(const double *left_out, size_t n, double point, DemurScale scale,
                         double level, double *low, double *high) {
  *low = *high = NAN;
  if (n < 3)
    return;
  double mean = 0.0, squares = 0.0;
  for (size_t s = 0; s < n; s++)
    mean += demur_to_scale(left_out[s], scale) / (double)n;
  for (size_t s = 0; s < n; s++) {
    const double d = demur_to_scale(left_out[s], scale) - mean;
    squares += d * d;
  }
  const double middle = demur_to_scale(point, scale);
  const double se = sqrt((double)(n - 1) / (double)n * squares);
  if (!isfinite(middle) || !isfinite(se) || !(se > 0.0))
    return;
  const double half = demur_student_quantile((1.0 + level) / 2.0, (double)(n - 1)) * se;
  *low = demur_from_scale(middle - half, scale);
  *high = demur_from_scale(middle + half, scale);
}

void
demur_mean_sd(const double *values, size_t n, double *mean, double *sd) {
  double sum = 0.0, squares = 0.0;
  size_t n_finite = 0;
  for (size_t i = 0; i < n; i++)
    if (isfinite(values[i])) {
      sum += values[i];
      n_finite++;
    }
  *mean = n_finite > 0 ? sum / (double)n_finite : NAN;
  for (size_t i = 0; i < n; i++)
    if (isfinite(values[i]))
      squares += (values[i] - *mean) * (values[i] - *mean);
  *sd = n_finite > 1 ? sqrt(squares / (double)(n_finite - 1)) : NAN;
}
