/* What a mix says as ratios of sums (coverage, outcome rate, O:E, who is held back), with the
 * standard errors that their bootstrap-t intervals need.
 *
 *   theta = sum_i v_i y_i / sum_i v_i x_i,      v_i = c_i w_i k_i
 *
 * c: times drawn, w: raking weight, k: weight of censoring (1 for coverage, which needs no outcome).
 * Linearised, a unit u adds
 *
 *   Z_u = sum_(i in u) w_i (q_i - b'a_i),       q_i = k_i (y_i - theta x_i) / sum v x
 *
 * where a_i are the indicators of i's category in every margin and b is the least squares fit of q
 * on a with weights c w: totals that raking holds fixed don't vary, so only what the margins leave
 * of q does. se^2 = U / (U - 1) sum_u c_u Z_u^2, U = sum c_u units.
 *
 * Source: Deville and Sarndal 1992, Calibration estimators in survey sampling, JASA 87 (raking is
 * asymptotically the regression estimator); Davison and Hinkley 1997, 5.2.1, for the bootstrap-t.
 * Layout: Z [DEMUR_N_MIX_VALUES][n_units], rows of values that are no ratios stay 0. Cost: O(n K) for K
 * categories, once O(K^3). Done differently: each margin but the first goes in without its first
 * category, and with a ridge of 1e-9 of the largest diagonal, so that categories that always come
 * together are no fault. */
#pragma once

#include "evaluation/mix.h"
#include "metrics/intervals.h"
#include "metrics/raking.h"

G_BEGIN_DECLS

/* Whether the value is a ratio of sums; *scale (may be NULL): where its intervals are made. */
gboolean demur_mix_value_is_ratio(DemurMixValue value, DemurScale *scale);

/* What all replicates share. */
typedef struct {
  const DemurSample *sample;
  const gboolean *accepted; /* [n] */
  DemurUnit unit;
  size_t n_margins;
  const DemurRakingMargin *margins; /* [n_margins] */
} DemurMixRatios;

typedef struct DemurMixRatiosScratch DemurMixRatiosScratch;
DemurMixRatiosScratch *demur_mix_ratios_scratch_new(const DemurMixRatios *ratios);
void demur_mix_ratios_scratch_free(DemurMixRatiosScratch *scratch);

/* raked [n]: weights of the mix that hold the margins; NULL: the present mix, which holds none. Sets
 * of values [DEMUR_N_MIX_VALUES] those that are ratios (NaN or infinite where undefined), and all of
 * influences [DEMUR_N_MIX_VALUES][n_units] (Z). */
void demur_mix_ratios(const DemurMixRatios *ratios, DemurDrawn drawn, const double *raked,
                      DemurMixRatiosScratch *scratch, double *values, double *influences);

/* Takes out of rows [n_rows][n] of q, at most DEMUR_N_MIX_VALUES, of the entries that were drawn, what the margins say of them:
 * the least squares fit on their categories. */
void demur_mix_take_margins_out(const DemurMixRatios *ratios, DemurDrawn drawn, const double *raked,
                                DemurMixRatiosScratch *scratch, double *q, size_t n_rows);

/* The largest share that a unit counts as being of a category or bin: one that is nearly the whole leaves
 * next to nothing in it, whatever it is divided by. */
#define DEMUR_MIX_MOST_SHARE 0.8

/* sqrt(1 - h_u) of each unit [n_units], h_u the largest share that it is of a category of a margin, at most
 * DEMUR_MIX_MOST_SHARE: what a few units' residuals are too small by (Bell and McCaffrey 2002). raked as above. */
void demur_mix_leverages(const DemurMixRatios *ratios, const double *raked, double *left);

/* Standard error of the change between two weightings from rows [n_units] of influences, each unit's by its
 * `left`, and Satterthwaite's degrees of freedom of it, at least 1 (NaN: no spread). What the mix rests on may be a
 * country's ten hospitals: a bootstrap-t held changes of its coverage in 80 of 100 where Student's held 90. */
double demur_mix_change_standard_error(const DemurMixRatios *ratios, const double *influences,
                                       const double *others, const double *left, double *degrees);

/* Correlation of two weightings' estimates from their rows [n_units] of influences; NaN where one has no spread. */
double demur_mix_correlation(const DemurMixRatios *ratios, const double *influences,
                             const double *others);

/* The standard error of a value from its row [n_units] of influences. NaN for fewer than two units. */
double demur_mix_ratio_standard_error(const DemurMixRatios *ratios, const guint32 *counts,
                                      const double *influences);

G_END_DECLS
