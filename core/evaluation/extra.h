/* Calibration fits, Brier parts, AUROC, AURC and net benefit of the scans a method keeps, as
 * functions of coverage, and the bootstrap intervals of an operating point. */
#pragma once

#include "base/parallel.h"
#include "evaluation/evaluation.h"
#include "evaluation/methods.h"
#include "metrics/calibration-fit.h"

G_BEGIN_DECLS

/* What every call shares. */
typedef struct {
  const DemurSample *sample;
  double *logits; /* [n] of the clipped risks */
  size_t min_bin_size;
  double net_benefit_threshold;
} DemurExtraSetup;

DemurExtraSetup *demur_extra_setup_new(const DemurSample *sample, size_t min_bin_size,
                                       double net_benefit_threshold);
void demur_extra_setup_free(DemurExtraSetup *setup);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurExtraSetup, demur_extra_setup_free)

/* The coverages of the curves: 0.05, 0.10, .. 1. */
void demur_extra_coverages(double *coverages);

typedef struct {
  double values[DEMUR_N_EXTRAS][DEMUR_N_EXTRA_COVERAGES];
  size_t n_selected[DEMUR_N_EXTRA_COVERAGES];
  double aurc_error, aurc_brier;
} DemurExtraCurves;

/* ranks [n] of a score, 0 the highest; counts [n] or NULL: once each. O(n) a coverage. */
void demur_extra_curves(const DemurExtraSetup *setup, const guint32 *ranks, size_t n_ranks,
                        const guint32 *counts, DemurExtraCurves *curves);

/* The scans with rank <= max_rank (-1: none). values [DEMUR_N_EXTRAS]; decision [DEMUR_N_DECISIONS]
 * or NULL. */
void demur_extra_at_rank(const DemurExtraSetup *setup, const guint32 *ranks, gssize max_rank,
                         const guint32 *counts, double *values, DemurNetBenefit *decision);

/* One method at one threshold, to be resampled. */
typedef struct {
  const DemurExtraSetup *setup;
  const DemurMethod *method;
  DemurUnit unit;
  guint64 seed;
  size_t n_bootstrap;
  gboolean fixed_threshold; /* TRUE: max_ranks are kept in every replicate; FALSE: a replicate finds
                               the threshold of `coverage` among its own scores */
  double coverage;
  const gssize *max_ranks; /* [n_models] in the sample as it is */
} DemurOperatingBootstrap;

/* Fills the 95 % intervals of the point, whose values and rejected_by_label [n_labels] stand there
 * already. All from the same replicates:
 *   rejection rates, realised coverage, intercept, slope, O:E, AUROC   expanded percentile
 *   site error    bootstrap-t over sites (percentiles miss it: squares have a long upper tail);
 *                 expanded percentile where patients are drawn
 *   debiased      basic, around the plain square, which is what a replicate's debiased square
 *                 estimates (see metrics/intervals.h)
 * Rates, coverage and decision curve are of model 1, the others means over models. */
void demur_extra_intervals(const DemurOperatingBootstrap *bootstrap, DemurParallel *parallel,
                           DemurOperatingPoint *at);

G_END_DECLS
