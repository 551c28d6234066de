/* S-BCE_2 over coverage of data sets drawn with replacement from the same scans: what a training asks 32
 * times an update. metrics/selective.h asks the same of any sample, to the last digit. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define DEMUR_DRAWN_MAX_COVERAGES 12

/* A scan that is drawn from; its outcome is known. */
typedef struct {
  double difference; /* y - r */
  guint32 rank;      /* of the score, in [0, n_ranks), 0 the highest; equal scores share one */
  guint32 risk;      /* number of its risk: equal where risks are */
} DemurDrawnScan;

/* In ascending risk. Borrowed. */
typedef struct {
  const DemurDrawnScan *scans;
  size_t n_scans, n_ranks; /* n_ranks <= n_scans */
} DemurDrawnScans;

/* One data set: scan rows[j] stands in it counts[j] >= 1 times; rows ascend. */
typedef struct {
  size_t n, n_total;     /* n_total: sum of counts, at most 65,535 */
  const guint32 *rows;   /* [n] */
  const guint16 *counts; /* [n] */
} DemurDrawnSet;

/* Scratch memory of one thread, for sets of n rows at most and n_ranks ranks at most. */
typedef struct DemurDrawnScratch DemurDrawnScratch;
DemurDrawnScratch *demur_drawn_scratch_new(size_t n_ranks, size_t n);
void demur_drawn_scratch_free(DemurDrawnScratch *scratch);

/* errors [n_coverages], n_coverages <= DEMUR_DRAWN_MAX_COVERAGES, each coverage in (0, 1]. Ties of score are
 * all selected; scans of equal risk share their mean outcome. NaN of an empty set. Within rounding what
 * demur_selective_errors gives. */
void demur_drawn_errors(const DemurDrawnScans *scans, const DemurDrawnSet *set,
                        const double *coverages, size_t n_coverages, size_t min_bin_size,
                        DemurDrawnScratch *scratch, double *errors);

G_END_DECLS
