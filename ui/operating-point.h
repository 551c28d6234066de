/* A selector at one coverage, from a study's arrays alone: what the slider shows, computed anew in
 * each frame. The same definitions as the evaluation's: accepted are the ceil(xi n)-th highest
 * scores with ties, equal-mass bins with the remainders first, bins of the confidence. */
#pragma once

#include "metrics/calibration-curve.h"
#include "metrics/selective.h"
#include "tasks/coverage-study.h"

G_BEGIN_DECLS

#define DEMUR_OPERATING_MAX_LABELS 8

typedef struct {
  DemurCoverageGroupKind group;
  const char *value; /* borrowed from the study */
  size_t n, n_rejected;
  gboolean withheld;      /* few scans, or others' few could be had from it (base/small-cells.h) */
  double rate, low, high; /* 95 % Wilson interval */
} DemurGroupRejection;

typedef struct {
  double coverage;  /* requested */
  double realised;  /* n_accepted / n */
  double threshold; /* the lowest score that is accepted */
  size_t n, n_accepted;
  DemurSelectivePoint selector, confidence;
  size_t n_labels;
  /* Intervals here are Wilson's: the evaluation's bootstrap takes longer than a frame. */
  DemurRejection rejected[DEMUR_OPERATING_MAX_LABELS];
  DemurRejection rejected_by_confidence[DEMUR_OPERATING_MAX_LABELS];
  size_t n_reliability;
  DemurReliabilityBin reliability[DEMUR_MAX_RELIABILITY_BINS];
  size_t histogram[DEMUR_N_HISTOGRAM_BINS];
  size_t histogram_of_confidence[DEMUR_N_HISTOGRAM_BINS];
  size_t n_confidence_accepted;
  size_t n_groups;
  DemurGroupRejection *groups; /* [n_groups], in the study's order; values that occur only */
} DemurShownPoint;

/* Working memory for one study. */
typedef struct DemurOperatingScratch DemurOperatingScratch;
DemurOperatingScratch *demur_operating_scratch_new(const DemurCoverageStudy *study);
void demur_operating_scratch_free(DemurOperatingScratch *scratch);

/* Fills operating, whose arrays belong to scratch. O(n). */
void demur_operating_compute(const DemurCoverageStudy *study, double coverage,
                             DemurOperatingScratch *scratch, DemurShownPoint *operating);

/* How calibrated the accepted are, as the report says it: O:E, the slope, calibration in the large (NaN
 * where they have no value), and the smooth curve with its band. */
typedef struct {
  double oe_ratio, slope, intercept;
  size_t n_smooth; /* 0: no curve */
  DemurCurvePlace smooth[DEMUR_N_SMOOTH];
} DemurShownCalibration;

/* At the coverage of operating. O(n n_smooth): for when the slider rests, not for a frame. */
void demur_operating_calibration(const DemurCoverageStudy *study, const DemurShownPoint *operating,
                                 DemurShownCalibration *calibration);

G_END_DECLS
