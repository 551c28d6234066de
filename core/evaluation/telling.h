/* How the numbers of the scans that a method keeps are told, so that few can't be had by taking one
 * told number from another: 5 outcomes refused of 40 follow from the kept ones' O:E as soon as the
 * 40 are known, and 3 between two coverages from the two.
 *
 * A point (scans with rank <= max_rank) is told exactly where it and every point told exactly before
 * it, all scans first, differ by nothing or by DEMUR_SMALL_CELL and more of each count. Elsewhere
 * the count O (of N) is told as O' = 5 round(O / 5), and what is measured as if there were O':
 *
 *     weight of an outcome O' / O, of its absence (N - O') / (N - O)
 *
 * so that every number of the point tells of O' and no number tells O. Rounding to fives is that of
 * Hundepool et al., Statistical Disclosure Control (2012), 5.4 (conventional rounding). Points have
 * one order: 0.9, 0.7, 0.5, then the curves' coverages from the largest down. Tuned thresholds and
 * whatever else is asked for never are told exactly, so that what is told once does not hang on what
 * was tuned before.
 * O(n log(points) + points^2). */
#pragma once

#include "evaluation/sample.h"

G_BEGIN_DECLS

typedef enum {
  DEMUR_TOLD_SCANS,  /* how many are kept */
  DEMUR_TOLD_LABELS, /* of each label */
  DEMUR_TOLD_RIGHT,  /* of each label, and whose label the risk calls right */
  DEMUR_N_TOLD,
} DemurTold;

typedef struct DemurTelling DemurTelling;

/* Of one model's ranks [n of the sample]. points [n_points]: max_ranks in their order; coverages
 * [n_coverages], looked at behind them. */
DemurTelling *demur_telling_new(const DemurSample *sample, const guint32 *ranks,
                                const gssize *points, size_t n_points, const double *coverages,
                                size_t n_coverages);
void demur_telling_free(DemurTelling *telling);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurTelling, demur_telling_free)

/* Whether the point is told exactly; FALSE for one that was not given, TRUE without a telling. */
gboolean demur_telling_is_exact(const DemurTelling *telling, DemurTold what, gssize max_rank);

/* count in whole fives, within 0 .. n where all is told as all and nothing as nothing. */
double demur_told_fives(double count, double n);

/* A share of n scans that are right, their errors in fives. */
double demur_told_accuracy(double accuracy, size_t n);

/* outcomes [n] of bins of so much mass, so that each sum from the first bin on is in fives: then
 * the bins tell of O' alone, too. A bin's stay within 0 and its mass. */
void demur_told_running(double *outcomes, const double *mass, size_t n);

/* weights [n] of scans that are all kept: base (NULL: 1) changed as above. Returns O'. */
double demur_told_weights_of(const double *labels, const double *base, size_t n, double *weights);

/* weights [n]: those of the sample, changed as above for the scans with kept [n] != 0, and for the
 * others so that all scans together have the outcomes that they have. */
void demur_told_weights(const DemurSample *sample, const guint32 *kept, double *weights);

G_END_DECLS
