/* Calibration of a sample as fits of the label on the risk: calibration intercept and slope, O:E,
 * integrated calibration index.
 *
 *   intercept ("calibration in the large"):  logit P(y = 1) = a + logit r
 *   slope, and the intercept beside it:      logit P(y = 1) = a + b logit r
 *   O:E = sum y / sum r
 *   ICI = mean |r - s(r)|,  s a smooth of y on r (Austin and Steyerberg 2019)
 *
 * Perfect: a = 0, b = 1, O:E = 1, ICI = 0. Samples are weighted as in
 * outcomes.h: a bootstrap replicate is a vector of counts, an outcome that is not known has weight
 * 0. Logits are of r clipped to [1e-6, 1 - 1e-6]. */
#pragma once

#include "metrics/outcomes.h"

G_BEGIN_DECLS

typedef struct {
  double intercept;       /* slope held at 1; NaN where one label is missing */
  double slope;           /* NaN where the fit has no finite answer */
  double slope_intercept; /* of the fit with the slope; NaN as above */
} DemurCalibrationFit;

/* The slope is finite exactly where the labels overlap on r: some 1 below some 0 and some 0 below
 * some 1. start: where the fit begins, a solution nearby (of the sample itself, for a replicate)
 * saves steps and changes nothing else; NULL: intercept 0, slope 1. O(n) a step, three to eight
 * steps. */
DemurCalibrationFit demur_calibration_fit(const DemurOutcomes *outcomes,
                                          const DemurCalibrationFit *start);

/* The same where the logits [n] (demur_logit of the risks) are at hand, as for many replicates of
 * one sample; the risks themselves are not looked at. */
DemurCalibrationFit demur_calibration_fit_logits(const DemurOutcomes *outcomes,
                                                 const double *logits,
                                                 const DemurCalibrationFit *start);

/* Observed over expected, both weighted; NaN for an empty sample or one whose risks are all 0. Any
 * order. */
double demur_calibration_oe_ratio(const DemurOutcomes *outcomes);

/* |r - s(r)| summed up, s by loess: locally linear, tricube weights over the nearest 75 % of the
 * scans, fitted at up to 25 quantiles of r (the smallest and the largest among them), straight
 * lines between them, cut to [0, 1]. (Austin and Steyerberg use R's loess, which has span 0.75 too
 * and is locally quadratic; locally linear is the smooth of Harrell's val.prob and steadier in the
 * small samples that low coverage leaves.) More than 16,384 risks are smoothed as that many groups
 * of equal mass. */
typedef struct {
  double mean;       /* ICI */
  double median;     /* E50: of the weighted scans, the lower one of two in the middle */
  double percent_90; /* E90 */
} DemurCalibrationGaps;

/* All NaN where one label is missing. O(n) on average. */
DemurCalibrationGaps demur_calibration_gaps(const DemurOutcomes *outcomes);

/* The mean alone: ICI. O(n). */
double demur_calibration_ici(const DemurOutcomes *outcomes);

/* s(at[i]) of the same smooth, for charts and tests; NaN for an empty sample. Outside the observed
 * risks the nearest end's value. */
void demur_calibration_smooth(const DemurOutcomes *outcomes, const double *at, size_t n_at,
                              double *smooth);

G_END_DECLS
