/* Calibration error, Brier score and accuracy of the scans that a score keeps, as functions of
 * coverage.
 *
 * A sample is count-weighted: a resampled split is a vector of counts over its scans, so the sorts
 * by risk and by score are made once and shared by every resample. Training's choice of the kappa
 * worst and every table of the evaluation come from this one function. */
#pragma once

#include "metrics/bins.h"

G_BEGIN_DECLS

/* Selected scans of equal risk share their mean outcome: their order says nothing. */
typedef struct {
  size_t n;             /* entries, ascending risk */
  const double *risks;  /* [n] r, or the top probability for K > 2 */
  const double *labels; /* [n] y in {0, 1}, or "argmax is right" */
  const guint32
      *counts; /* [n] how often each entry stands in the sample, 0 allowed; NULL: once each */
  /* [n] of the outcome, 0 where it is not known (metrics/censoring.h); NULL: all are. They weigh
   * errors; coverage and thresholds count every scan. */
  const double *weights;
  const guint32 *ranks; /* [n] dense rank of the score, 0 the highest; ties share a rank */
  size_t n_ranks;
  gboolean top_label; /* K > 2: accuracy is the mean label, not (r >= 0.5) = y */
} DemurSelectiveSample;

/* The values at one coverage. Undefined (empty selection) is NaN. */
typedef struct {
  size_t n_selected; /* with multiplicity */
  guint32 rank;      /* entries with rank <= this are selected */
  size_t n_bins;
  double error1, error2, error_inf; /* S-BCE_q, q = 1, 2, infinity */
  double debiased2; /* sum_b (n_b/n) [(ybar - rbar)^2 - ybar (1 - ybar) / (n_b - 1)]: a square, may
                       be < 0. With ties or weights the variance of the bin's mean that
                       selective.c writes out is taken off */
  double brier, accuracy;
} DemurSelectivePoint;

/* Working memory for samples of up to n entries and n ranks; one a thread. */
typedef struct DemurSelectiveScratch DemurSelectiveScratch;
DemurSelectiveScratch *demur_selective_scratch_new(size_t n);
void demur_selective_scratch_free(DemurSelectiveScratch *scratch);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurSelectiveScratch, demur_selective_scratch_free)

/* Fills points [n_coverages] (at most 64) for the coverages in any order. min_bin_size: m = max(1,
 * min(15, floor(n / min_bin_size))) equal-mass bins. O(n n_coverages / 2). */
void demur_selective_curve(const DemurSelectiveSample *sample, const double *coverages,
                           size_t n_coverages, size_t min_bin_size, DemurSelectiveScratch *scratch,
                           DemurSelectivePoint *points);

/* The same for ranks given instead of coverages: entries with rank <= max_rank are selected (-1:
 * none). For thresholds that come from elsewhere. */
void demur_selective_at_rank(const DemurSelectiveSample *sample, gssize max_rank,
                             size_t min_bin_size, DemurSelectiveScratch *scratch,
                             DemurSelectivePoint *point);

/* S-BCE_2 at each coverage only: what training needs of it, faster. errors [n_coverages]. */
void demur_selective_errors(const DemurSelectiveSample *sample, const double *coverages,
                            size_t n_coverages, size_t min_bin_size, DemurSelectiveScratch *scratch,
                            double *errors);

/* S-BCE_2 and its debiased square at each coverage: what a bootstrap replicate needs. */
void demur_selective_debiased(const DemurSelectiveSample *sample, const double *coverages,
                              size_t n_coverages, size_t min_bin_size,
                              DemurSelectiveScratch *scratch, double *errors, double *squares);

/* The same of entries [n] in ascending risk that are all selected, each counts times: differences
 * y - r, labels y. */
void demur_selective_binned(const guint32 *counts, const double *differences, const double *labels,
                            size_t n, size_t min_bin_size, double *error2, double *debiased2);

/* sign(v) sqrt(|v|): how a debiased square is printed. */
double demur_signed_root(double value);

G_END_DECLS
