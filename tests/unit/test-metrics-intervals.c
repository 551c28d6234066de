/* Intervals and quantiles against published or worked values. */
#include <math.h>

#include "base/random.h"
#include "metrics/intervals.h"
#include "support/support.h"

/* 40-digit values (mpmath: sqrt(2) erfinv(2p - 1), or the root of log erfc for small p), of the
 * double nearest to p. */
static void
normal_quantile_has_fifteen_digits(void) {
  static const struct {
    double p, x;
  } rows[] = {
      {0.975, 1.9599639845400538556},   {0.995, 2.5758293035489004539},
      {0.9, 1.2815515655446005935},     {0.3, -0.52440051270804081597},
      {0.025, -1.9599639845400542118},  {1e-10, -6.3613409024040561991},
      {1e-300, -37.047096299361199237},
  };
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++)
    demur_assert_close(demur_normal_quantile(rows[r].p), rows[r].x, 2e-15, 0);
  g_assert_cmpfloat(demur_normal_quantile(0.5), ==, 0.0);
  g_assert_true(demur_normal_quantile(0.0) == -INFINITY && demur_normal_quantile(1.0) == INFINITY);
  g_assert_true(isnan(demur_normal_quantile(-0.1)) && isnan(demur_normal_quantile(1.1)) &&
                isnan(demur_normal_quantile(NAN)));
}

/* Symmetry: 1 - 2^-k is exact, so the quantile is minus that of 2^-k, far in the tail too; and Phi
 * of the quantile is p again. */
static void
normal_quantile_is_symmetric_and_inverts(void) {
  for (int k = 1; k <= 52; k++) {
    const double p = ldexp(1.0, -k);
    demur_assert_close(demur_normal_quantile(1.0 - p), -demur_normal_quantile(p), 1e-15, 0);
  }
  for (int i = 1; i < 1000; i++) {
    const double p = i / 1000.0;
    demur_assert_close(0.5 * erfc(-demur_normal_quantile(p) * M_SQRT1_2), p, 1e-14, 0);
  }
}

/* Wilson's limits are the roots p of (s/n - p)^2 = z^2 p (1 - p)/n: each must solve it. The first
 * two rows are the usual textbook examples to four places. */
static void
wilson_solves_its_equation(void) {
  static const struct {
    double s, n, low, high;
  } rows[] = {{0, 10, 0.0, 0.2775},
              {5, 10, 0.2366, 0.7634},
              {10, 10, 0.7225, 1.0},
              {81, 263, 0.2553, 0.3662}};
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    double low, high;
    demur_interval_wilson(rows[r].s, rows[r].n, 0.95, &low, &high);
    demur_assert_close(low, rows[r].low, 0, 5e-5);
    demur_assert_close(high, rows[r].high, 0, 5e-5);
  }
  const double z = 1.9599639845400538556;
  for (double n = 1; n <= 200; n += 13)
    for (double s = 0; s <= n; s++) {
      double limits[2];
      demur_interval_wilson(s, n, 0.95, &limits[0], &limits[1]);
      for (int k = 0; k < 2; k++) {
        const double p = limits[k], left = (s / n - p) * (s / n - p),
                     right = z * z * p * (1 - p) / n;
        g_assert_true(p >= 0.0 && p <= 1.0);
        demur_assert_close(left, right, 1e-9, 1e-14);
      }
      g_assert_cmpfloat(limits[0], <=, s / n);
      g_assert_cmpfloat(limits[1], >=, s / n);
    }
  double low, high;
  demur_interval_wilson(0, 0, 0.95, &low, &high);
  g_assert_true(low == 0.0 && high == 1.0);
}

/* numpy.quantile, linear: of 1..41 the 2.5 % quantile is 1 + .025 * 40 = 2, the 97.5 % one 40;
 * values that are not finite are left out. */
static void
percentile_interval_interpolates(void) {
  double values[50];
  size_t n = 0;
  for (int i = 0; i < 41; i++) {
    values[n++] = (double)((i * 17) % 41 + 1);
    if (i % 10 == 0)
      values[n++] = i % 20 == 0 ? NAN : INFINITY;
  }
  double low, high;
  demur_interval_percentile(values, n, 0.95, &low, &high);
  demur_assert_close(low, 2.0, 1e-13, 0);
  demur_assert_close(high, 40.0, 1e-13, 0);
  double two[] = {3, 1};
  demur_interval_percentile(two, 2, 0.5, &low, &high);
  demur_assert_close(low, 1.5, 1e-15, 0);
  demur_assert_close(high, 2.5, 1e-15, 0);
  double one[] = {3, NAN, NAN};
  demur_interval_percentile(one, 3, 0.95, &low, &high);
  g_assert_true(isnan(low) && isnan(high));
  demur_interval_percentile(NULL, 0, 0.95, &low, &high);
  g_assert_true(isnan(low) && isnan(high));
}

/* 2 4 4 4 5 5 7 9: mean 5, squares 32 over 7. */
static void
mean_and_sd_leave_gaps_out(void) {
  const double values[] = {2, NAN, 4, 4, 4, INFINITY, 5, 5, 7, 9}, one[] = {NAN, 3};
  double mean, sd;
  demur_mean_sd(values, G_N_ELEMENTS(values), &mean, &sd);
  g_assert_cmpfloat(mean, ==, 5.0);
  demur_assert_close(sd, sqrt(32.0 / 7), 1e-15, 0);
  demur_mean_sd(one, 2, &mean, &sd);
  g_assert_true(mean == 3.0 && isnan(sd));
  demur_mean_sd(one, 1, &mean, &sd);
  g_assert_true(isnan(mean) && isnan(sd));
}

/* scipy.stats.t.ppf(.975, n) and (.005, n), scipy 1.10.1. */
static void
student_quantiles_match(void) {
  static const struct {
    double n, upper, lower;
  } rows[] = {
      {1, 12.706204736432095, -63.65674116287404},  {2, 4.302652729911275, -9.924843200918074},
      {3, 3.182446305284263, -5.840909299756432},   {5, 2.5705818366147395, -4.032142983557536},
      {19, 2.093024054408263, -2.860934606449914},  {29, 2.045229642132703, -2.756385903670335},
      {149, 1.976013177679155, -2.609227907332193}, {5000, 1.9604385517065075, -2.576812966556281},
  };
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    demur_assert_close(demur_student_quantile(0.975, rows[r].n), rows[r].upper, 2e-4, 0);
    demur_assert_close(demur_student_quantile(0.005, rows[r].n), rows[r].lower, 2e-4, 0);
  }
  g_assert_cmpfloat(demur_student_quantile(0.5, 7), ==, 0.0);
  g_assert_true(isnan(demur_student_quantile(0.9, 0.5)) && isnan(demur_student_quantile(1.0, 5)));
}

/* By hand: replicates 0 .. 1000, two units: z = sqrt(2) t(.975, 1) = 17.97, so the tails are 0 and
 * the interval is all of them; with 10^9 units it is the percentile interval. Shifting replicates
 * and truth by the same amount changes no basic interval. */
static void
interval_kinds_by_hand(void) {
  double v[1001], low, high;
  for (int i = 0; i <= 1000; i++)
    v[i] = 1000 - i;
  v[3] = NAN; /* 997 */
  demur_interval_expanded(v, 1001, 2, 0.95, &low, &high);
  demur_assert_close(low, 0.0, 0, 1e-9);
  demur_assert_close(high, 1000.0, 0, 1e-9);
  for (int i = 0; i <= 1000; i++)
    v[i] = 1000 - i;
  demur_interval_expanded(v, 1001, 1000000000, 0.95, &low, &high);
  demur_assert_close(low, 25.0, 0, 1e-4);
  demur_assert_close(high, 975.0, 0, 1e-4);
  demur_interval_expanded(v, 1001, 1, 0.95, &low, &high);
  g_assert_true(isnan(low) && isnan(high));
  demur_interval_basic(v, 1001, 400.0, 490.0, 1000000000, 0.95, &low, &high);
  demur_assert_close(low, 400.0 - (975.0 - 490.0), 0, 1e-4);
  demur_assert_close(high, 400.0 + (490.0 - 25.0), 0, 1e-4);
  for (int i = 0; i <= 1000; i++)
    v[i] = (i - 500) / 100.0;
  demur_interval_studentised(v, 1001, 3.0, 2.0, 1000000000, 0.95, &low, &high);
  demur_assert_close(low, 3.0 - 2.0 * 4.75, 0, 1e-4);
  demur_assert_close(high, 3.0 + 2.0 * 4.75, 0, 1e-4);
  demur_interval_studentised(v, 1001, 3.0, 0.0, 30, 0.95, &low, &high);
  g_assert_true(isnan(low) && isnan(high));
}

/* By hand. Of a mean the jackknife's standard error is sd / sqrt(n): 1, 2, 3, 4 have mean 2.5, sd
 * sqrt(5/3); t of 3 degrees at .975 is 3.182446. On a scale the limits are those of the scaled
 * values; what is not on the scale, or does not vary, has none. */
static void
jackknife_by_hand(void) {
  double low, high;
  const double means[] = {3.0, 8.0 / 3.0, 7.0 / 3.0, 2.0}; /* without 1, 2, 3, 4 */
  const double half = 3.182446305284263 * sqrt(5.0 / 3.0) / 2.0;
  demur_interval_jackknife(means, 4, 2.5, DEMUR_SCALE_IDENTITY, 0.95, &low, &high);
  demur_assert_close(low, 2.5 - half, 1e-5, 0.0);
  demur_assert_close(high, 2.5 + half, 1e-5, 0.0);
  double scaled[4];
  for (int i = 0; i < 4; i++)
    scaled[i] = exp(means[i]);
  demur_interval_jackknife(scaled, 4, exp(2.5), DEMUR_SCALE_LOG, 0.95, &low, &high);
  demur_assert_close(log(low), 2.5 - half, 1e-5, 0.0);
  demur_assert_close(log(high), 2.5 + half, 1e-5, 0.0);
  for (int i = 0; i < 4; i++)
    scaled[i] = 1.0 / (1.0 + exp(-means[i]));
  demur_interval_jackknife(scaled, 4, 1.0 / (1.0 + exp(-2.5)), DEMUR_SCALE_LOGIT, 0.95, &low,
                           &high);
  demur_assert_close(log(low / (1.0 - low)), 2.5 - half, 1e-5, 0.0);
  g_assert_cmpfloat(high, <, 1.0);
  const double shares[] = {0.0, 0.2, 0.1, 0.3}, alike[] = {2.0, 2.0, 2.0, 2.0};
  demur_interval_jackknife(shares, 4, 0.15, DEMUR_SCALE_LOGIT, 0.95, &low, &high);
  g_assert_true(isnan(low) && isnan(high));
  demur_interval_jackknife(alike, 4, 2.0, DEMUR_SCALE_IDENTITY, 0.95, &low, &high);
  g_assert_true(isnan(low) && isnan(high));
  demur_interval_jackknife(means, 2, 2.5, DEMUR_SCALE_IDENTITY, 0.95, &low, &high);
  g_assert_true(isnan(low) && isnan(high));
}

/* Sides of .4 and .9, of .2 and .3: by Pythagoras without correlation, their difference or sum with a whole one. */
static void
difference_by_hand(void) {
  static const struct {
    double r, low, high;
  } rows[] = {{0.0, 0.5, 1.921954445729289}, {1.0, 0.9, 1.7}, {-1.0, 0.3, 2.1}};
  const DemurLimited from = {1.0, 0.8, 1.3}, to = {2.0, 1.6, 2.9};
  double low, high;
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    demur_interval_difference(&from, &to, rows[r].r, &low, &high);
    demur_assert_close(low, rows[r].low, 1e-12, 0);
    demur_assert_close(high, rows[r].high, 1e-12, 0);
  }
  const DemurLimited endless = {2.0, 1.6, INFINITY}, unknown = {2.0, NAN, 2.9};
  demur_interval_difference(&from, &endless, 0.5, &low, &high);
  g_assert_true(isfinite(low) && high == INFINITY);
  demur_interval_difference(&from, &unknown, 0.5, &low, &high);
  g_assert_true(isnan(low) && isfinite(high));
}

/* Sums of squares of k normal means theta_i with variance v: mean theta^2 + k v, variance 4 v theta^2 + 2 k
 * v^2. How often the interval of many draws holds theta^2, and on which side it misses; no theta lies below
 * an interval from 0. At theta 0 the upper end of a sum at its own .025 quantile is 0 (chi-square of 10 degrees:
 * 3.247, which Wilson and Hilferty give to 1 in 100). */
static void
squares_are_held(void) {
  enum { K = 10, DRAWS = 4000 };
  static const double thetas[] = {0.0, 0.5, 2.0, 10.0};
  DemurRandom random = demur_random_stream(3, DEMUR_STREAM_TEST, 4, 0, 0);
  double low, high;
  for (size_t r = 0; r < G_N_ELEMENTS(thetas); r++) {
    size_t n_above = 0, n_below = 0;
    for (size_t d = 0; d < DRAWS; d++) {
      DemurSquares squares = {0.0, K, 4.0, 2.0 * K, 1e6};
      for (size_t i = 0; i < K; i++) {
        const double x = thetas[r] / sqrt(K) + demur_random_normal(&random);
        squares.sum += x * x;
      }
      demur_interval_squares(&squares, 0.95, &low, &high);
      g_assert_cmpfloat(low, <=, high);
      n_above += low > thetas[r] * thetas[r];
      n_below += high < thetas[r] * thetas[r];
    }
    g_test_message("theta %g: %zu above, %zu below of %d", thetas[r], n_above, n_below, DRAWS);
    g_assert_cmpuint(n_above, >, DRAWS / 60);
    g_assert_cmpuint(n_above, <, DRAWS / 28);
    g_assert_cmpuint(n_below, <, DRAWS / 28);
    if (r > 0)
      g_assert_cmpuint(n_below, >, DRAWS / 60);
  }
  DemurSquares squares = {3.247 * 0.99, 10.0, 4.0, 20.0, 1e6};
  demur_interval_squares(&squares, 0.95, &low, &high);
  g_assert_true(low == 0.0 && high < 1e-12);
  squares.sum = 3.247 * 1.01;
  demur_interval_squares(&squares, 0.95, &low, &high);
  g_assert_true(low == 0.0 && high > 0.0);
  /* Few degrees of freedom: wider where theta is large, as before where it is 0. */
  double wide_low, wide_high;
  squares.sum = 200.0;
  demur_interval_squares(&squares, 0.95, &low, &high);
  squares.degrees = 5.0;
  demur_interval_squares(&squares, 0.95, &wide_low, &wide_high);
  g_assert_true(wide_low < low && high < wide_high);
  squares.variance = 0.0;
  demur_interval_squares(&squares, 0.95, &low, &high);
  g_assert_true(isnan(low) && isnan(high));
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/metrics/intervals/quantile", normal_quantile_has_fifteen_digits);
  g_test_add_func("/metrics/intervals/symmetry", normal_quantile_is_symmetric_and_inverts);
  g_test_add_func("/metrics/intervals/wilson", wilson_solves_its_equation);
  g_test_add_func("/metrics/intervals/percentile", percentile_interval_interpolates);
  g_test_add_func("/metrics/intervals/mean-sd", mean_and_sd_leave_gaps_out);
  g_test_add_func("/metrics/intervals/student-quantile", student_quantiles_match);
  g_test_add_func("/metrics/intervals/kinds-by-hand", interval_kinds_by_hand);
  g_test_add_func("/metrics/intervals/jackknife-by-hand", jackknife_by_hand);
  g_test_add_func("/metrics/intervals/difference-by-hand", difference_by_hand);
  g_test_add_func("/metrics/intervals/squares-are-held", squares_are_held);
  return g_test_run();
}
