/* The measures beside the paper's: calibration fits, Brier parts, AUROC, AURC and net benefit of
 * the scans a method keeps, as functions of coverage. */
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
  double values[DEMUR_N_MEASURES][DEMUR_N_COARSE_COVERAGES];
  size_t n_selected[DEMUR_N_COARSE_COVERAGES];
  double aurc_error, aurc_brier;
} DemurExtraCurves;

/* ranks [n] of a score, 0 the highest. O(n) a coverage. */
void demur_extra_curves(const DemurExtraSetup *setup, const guint32 *ranks, size_t n_ranks,
                        DemurDrawn drawn, DemurExtraCurves *curves);

/* The scans with rank <= max_rank (-1: none). values [DEMUR_N_MEASURES], the paper's NaN; decision
 * [DEMUR_N_DECISIONS] or NULL. */
void demur_extra_at_rank(const DemurExtraSetup *setup, const guint32 *ranks, gssize max_rank,
                         DemurDrawn drawn, double *values, DemurNetBenefit *decision);

/* What replicates need of it. For K > 2 the fit and AUROC are NaN. */
typedef struct {
  DemurCalibrationFit fit;
  double oe_ratio, auroc;
} DemurExtraFit;

/* The scans with rank <= max_rank (-1: none). start: where the fit begins, or NULL. */
DemurExtraFit demur_extra_fit(const DemurExtraSetup *setup, const guint32 *ranks, gssize max_rank,
                              DemurDrawn drawn, const DemurCalibrationFit *start);

G_END_DECLS
