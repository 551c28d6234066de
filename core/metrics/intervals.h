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

/* Quantile p in [0, 1] of the standard normal distribution (Acklam's rational approximation refined
 * by one Halley step: relative error below 1e-15). */
double demur_normal_quantile(double p);

/* Mean and standard deviation (n - 1) of the finite values; NaN for none, sd NaN for fewer than
 * two. */
void demur_mean_sd(const double *values, size_t n, double *mean, double *sd);

G_END_DECLS
