/* Intervals of numbers that come from a sample. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Wilson score interval of a share, successes of n, at the level (0.95). [0, 1] for n = 0. */
void demur_interval_wilson(double successes, double n, double level, double *low, double *high);

/* Percentile interval of replicates [n] (finite values only; sorted in place): the (1 - level)/2
 * and (1 + level)/2 quantiles by linear interpolation. NaN for fewer than two finite values. */
void demur_interval_percentile(double *replicates, size_t n, double level, double *low,
                               double *high);

/* Expanded percentile interval (Hesterberg 2015) of replicates [n] that each drew n_units units:
 * the tails are Phi(-sqrt(N / (N - 1)) t), t the quantile of Student's distribution with N - 1
 * degrees of freedom, in place of (1 - level)/2. The percentile interval of a mean is too short by
 * just that factor; for 30 sites it is 6 %. Otherwise as above; NaN for fewer than two units. */
void demur_interval_expanded(double *replicates, size_t n, size_t n_units, double level,
                             double *low, double *high);

/* Studentised ("bootstrap-t") interval: ratios [n] = (replicate - point) / (standard error of the
 * replicate), finite values only, sorted in place; [point - q_high se, point - q_low se], tails
 * expanded for n_units as above. For estimates whose spread grows with their value, such as means
 * of squares, where percentiles miss large values. NaN for fewer than two finite ratios or an se
 * that is not positive. */
void demur_interval_studentised(double *ratios, size_t n, double point, double se, size_t n_units,
                                double level, double *low, double *high);

/* Basic interval of a biased estimate: replicates [n] (sorted in place) spread around `truth`, the
 * value that an exact estimate would have in the sample they were drawn from; [point - (q_high -
 * truth), point - (q_low - truth)], tails expanded for n_units as above. For debiased squares the
 * exact value is the plain square, not the point. */
void demur_interval_basic(double *replicates, size_t n, double point, double truth, size_t n_units,
                          double level, double *low, double *high);

/* The same made symmetric: point -+ the quantile of |replicate - truth| that leaves both expanded
 * tails outside, so that the point lies in the middle. For differences of roots of debiased
 * squares, whose replicates are skewed where the squares are near 0. */
void demur_interval_symmetric(double *replicates, size_t n, double point, double truth,
                              size_t n_units, double level, double *low, double *high);

/* An estimate and the limits of its own interval. */
typedef struct {
  double value, low, high;
} DemurLimited;

/* Interval of to - from, d, of their own intervals and the correlation r of their estimates (Zou 2007, Toward using
 * confidence intervals to compare correlations, Psychological Methods 12):
 *   d - sqrt(a^2 + b^2 - 2 r a b),  a = to - to_low,  b = from_high - from,
 * and its mirror image above. It is as lopsided as they are. Infinite where an end that it takes is, NaN where
 * something is NaN. */
void demur_interval_difference(const DemurLimited *from, const DemurLimited *to, double r,
                               double *low, double *high);

/* A sum of squares of estimates, which is larger than the sum theta^2 >= 0 of what they estimate: its mean
 * is theta^2 + added and its variance growth theta^2 + variance. */
typedef struct {
  double sum, added, growth, variance;
  double degrees; /* of freedom of growth, at least 1 */
} DemurSquares;

/* Interval of theta^2: those values of which the sum is no rarer than one in 2 / (1 - level) on either
 * side. The sum is taken for a gamma variable of its mean and variance (Patnaik 1949, Biometrika 36, of
 * noncentral chi-squares; its quantile by Wilson and Hilferty), the normal quantile replaced by Student's for
 * the part of the variance that grows.
 * From 0 where a theta of 0 is not too small, to 0 where nothing is large enough; NaN unless all are finite
 * and the sum has a mean and a variance above 0 at 0. */
void demur_interval_squares(const DemurSquares *squares, double level, double *low, double *high);

typedef enum {
  DEMUR_SCALE_IDENTITY,
  DEMUR_SCALE_LOG,   /* ratios */
  DEMUR_SCALE_LOGIT, /* shares, areas under a ROC curve */
} DemurScale;

/* A value on the scale (not finite where it has no place there), back from it, and the derivative of
 * the scale at the value: a standard error times it is one on the scale. */
double demur_to_scale(double value, DemurScale scale);
double demur_from_scale(double on_scale, DemurScale scale);
double demur_scale_slope(double value, DemurScale scale);

/* Jackknife interval of a smooth statistic of few clusters: left_out [n] are its values without
 * each of n clusters, point that of all,
 *   h(point) -+ t sqrt((n - 1) / n sum_s (h(left_out_s) - mean h)^2),
 * h the scale and t the quantile of Student's distribution with n - 1 degrees (Bell and McCaffrey
 * 2002: delete-one-cluster variances do not shrink as the bootstrap's do). NaN for fewer than three
 * clusters, where a value is not on the scale (a share of 0), or where all values are alike. */
void demur_interval_jackknife(const double *left_out, size_t n, double point, DemurScale scale,
                              double level, double *low, double *high);

/* Quantile p in (0, 1) of Student's distribution with degrees >= 1 (Hill 1970, algorithm 396; exact
 * for 1 and 2 degrees, else at least 5 digits for p in [0.001, 0.999]). */
double demur_student_quantile(double p, double degrees);

/* Quantile p in [0, 1] of the standard normal distribution (Acklam's rational approximation refined
 * by one Halley step: relative error below 1e-15). */
double demur_normal_quantile(double p);

/* Mean and standard deviation (n - 1) of the finite values; NaN for none, sd NaN for fewer than
 * two. */
void demur_mean_sd(const double *values, size_t n, double *mean, double *sd);

G_END_DECLS
