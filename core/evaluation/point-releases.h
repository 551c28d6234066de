/* Which sets of accepted scans may be told of by numbers that count outcomes, so that no few outcomes
 * can be had from any two outputs: what every view tells of an operating point is decided here.
 *
 * Who has numbers and no scan's risk can turn them round into a number of outcomes where they are
 * rates, ratios or nearly sums of outcomes (metrics/measures.h, `tells`): p (1 - p), O:E times the
 * expected, AUROC and net benefit as fractions, and the Brier score, which is sum r^2 by the
 * histogram and 1 - 2 r an outcome: one number alone is possible where risks are low. So such numbers
 * are told of canonical sets only,
 * the scans with the highest scores at coverages
 *
 *     .9, .7, .5, then .95, .85, .8, .75, .65, .6, .55, .45, .4, .. .05
 *
 * each taken, in that order, where it differs from nothing, from everything and from each one taken
 * before by DEMUR_SMALL_CELL scans of every label or more. That is a function of the sample and the
 * scores alone, not of what was asked for: two tuned thresholds a few scans apart tell the same. A
 * tuned threshold is told by the nearest canonical set within DEMUR_TOLD_NEAR of its coverage; where
 * there is none, and at the split's own coverages that are not canonical, counting numbers are
 * withheld (NaN). Ratios of pairs are of
 * the set itself, to three decimals where that is not canonical. Averages over coverage are rounded
 * to steps that DEMUR_SMALL_CELL outcomes at one coverage make. Everything else stays in full.
 *
 * Not looked at: sets of two methods, which overlap and don't lie within each other. O(coverages x n)
 * a method and model. */
#pragma once

#include "evaluation/evaluation.h"
#include "evaluation/methods.h"

G_BEGIN_DECLS

#define DEMUR_N_TOLD_COVERAGES DEMUR_N_COARSE_COVERAGES
#define DEMUR_TOLD_NEAR 0.051 /* of coverage: one step of the list, and rounding */

/* The canonical coverages of one method in one sample; 1 is always told, and not in the list. */
typedef struct {
  size_t n;
  double coverages[DEMUR_N_TOLD_COVERAGES]; /* [n] in the order of the list above */
} DemurToldCoverages;

/* Of the method's own scores of the sample. */
DemurToldCoverages demur_told_coverages(const DemurSample *sample, const DemurMethod *method);

/* cuts [n_models][told->n]: the last rank that each set keeps. O(n) a model. */
void demur_told_cuts(const DemurSample *sample, const DemurMethod *method,
                     const DemurToldCoverages *told, gssize *cuts);

/* Of the entries of the sample at places [n]: those of `whole`, whose cuts are given, that may be told
 * of them too. A set that is none or all of them is a fact about few, and is not told. kept
 * [whole->n][n_classes]: how many of each label the sets hold, by model 1. O(n) a model. */
DemurToldCoverages demur_told_coverages_of_part(const DemurSample *sample,
                                                const DemurMethod *method,
                                                const DemurToldCoverages *whole, const gssize *cuts,
                                                const guint32 *places, size_t n, size_t *kept);

/* Of a method whose curves were released (demur_curves_release), as these say. */
DemurToldCoverages demur_told_coverages_of_result(const DemurMethodResult *released);

gboolean demur_told_coverages_have(const DemurToldCoverages *told, double coverage);
/* The one nearest to a coverage; NaN: none is near. */
double demur_told_coverages_nearest(const DemurToldCoverages *told, double coverage);

/* What counts outcomes in `at` is taken from `told`, the point of a canonical set of the same scans;
 * NULL: it is withheld. `told` may be `at`. */
void demur_point_release(DemurOperatingPoint *at, const DemurOperatingPoint *told);

/* The curves and areas of a method. */
void demur_curves_release(const DemurSample *sample, const DemurMethod *method,
                          const DemurToldCoverages *told, size_t min_bin_size,
                          DemurMethodResult *result);

/* A number that would tell how many of n have the outcome, rounded to a step of 1, 2 or 5 x 10^k so
 * that DEMUR_SMALL_CELL numbers or more are possible; NaN where the step is larger than the number.
 * change: how much one outcome changes it. */
double demur_told_rounded(double value, double change);
/* value - from, both told in these steps, as one of them (0: none); NaN where either is. */
double demur_told_difference(double value, double from, double change);
/* An interval's ends as the steps at or outside of them (0: none), so that it holds what it held; what is not finite stays. */
double demur_told_low_end(double low, double change);
double demur_told_high_end(double high, double change);

G_END_DECLS
