/* The two ways to measure a replicate, for evaluation/replicates.c alone: scan by scan
 * (replicates-exact.c) and in cells (replicates-cells.c). */
#pragma once

#include <math.h>

#include "evaluation/cells.h"
#include "evaluation/replicates.h"
#include "metrics/selective.h"
#include "metrics/site-error.h"

G_BEGIN_DECLS

#define DEMUR_CELL_PADDING 16 /* rows between the kept scans of one cut and the next */

/* One method and model in cells. */
typedef struct {
  DemurCellColumns *columns;
  /* Sites drawn: [n_columns + 1][n_sites] of the sites as they are, first columns kept. */
  double *site_terms, *site_sizes;
  /* Patients drawn: [n] increments, see metrics/site-error.h. */
  double *patient_squares, *patient_sizes;
} DemurCellScore;

typedef struct {
  DemurSelectiveScratch *selective; /* exact */
  guint32 *counts;                  /* [n] */
  double *labels;                   /* [n] redrawn */
  double *weights;                  /* [n] of a replicate; NULL where they are not fitted anew */
  double *influences;               /* [2][n_sites] */
  /* In cells. */
  DemurCellTable *table;
  guint16 *rows;                   /* [n] with redrawn labels */
  guint32 *selected;               /* [n_cuts][2 n_cells + DEMUR_CELL_PADDING] */
  guint32 *cell_counts;            /* [n_cells] */
  double *cell_differences;        /* [n_cells] */
  double *cell_labels;             /* [n_cells] */
  DemurSiteSums *site_sums;        /* [n_sites][n_columns] */
  guint64 *class_counts;           /* [n_classes][n_columns], K > 2 */
  double *site_terms, *site_sizes; /* [n_cuts][n_sites] */
} DemurReplicatesWorker;

struct DemurReplicatesMemory {
  double coverages[DEMUR_N_COVERAGES], site_coverages[DEMUR_N_SITE_COVERAGES];
  guint n_workers;
  DemurReplicatesWorker *workers;
  DemurCells *cells;
  DemurCellScore *scores; /* [n_columns] */
  size_t *first_column;   /* [n_methods] */
  guint32 *scan_of_site;  /* [n_sites] one of its scans */
  size_t max_columns, n_cuts;
};

/* --- scan by scan; worker->counts, or for redraws worker->labels, holds what was drawn --- */

/* AUC of the squared site error, mean over models, and its standard error. */
double demur_replicates_exact_site2_auc(const DemurReplicates *r, const DemurMethod *method,
                                        DemurDrawn drawn, double *se);
void demur_replicates_exact_curves(DemurReplicates *r, size_t replicate, DemurDrawn drawn,
                                   DemurReplicatesWorker *worker);
/* values [DEMUR_N_OPERATING_VALUES], rates [n_classes]. drawn.counts NULL: the sample as it is,
 * whose fits are kept for the replicates to start from. */
void demur_replicates_exact_point(const DemurReplicates *r, DemurOperating *point, DemurDrawn drawn,
                                  DemurReplicatesWorker *worker, double *values, double *rates);
void demur_replicates_exact_redraw(DemurReplicates *r, size_t draw, DemurReplicatesWorker *worker);

/* --- in cells --- */

/* A DemurParallelFunc over the columns: prepares one method and model. */
void demur_replicates_cell_prepare(size_t column, guint worker, gpointer replicates);
/* Method k, whose points stand at [first_point, end_point). */
void demur_replicates_cell_method(DemurReplicates *r, size_t replicate, size_t k,
                                  size_t first_point, size_t end_point,
                                  DemurReplicatesWorker *worker);
void demur_replicates_cell_redraw(DemurReplicates *r, size_t draw, DemurReplicatesWorker *worker);

/* --- both --- */

static inline const DemurMethod *
method_at(const DemurReplicates *r, size_t k) {
  return r->input.methods->pdata[k];
}

/* From influences summed over models. counts NULL: each once. */
static inline double
standard_error(const DemurReplicates *r, const guint32 *counts, const double *influences) {
  return demur_site_error_standard_error(influences, r->input.setup->sample->n_sites, counts,
                                         r->memory->scan_of_site);
}

/* rates [n_classes]: refused / all, NaN for an absent class. Returns the share that is kept. */
static inline double
rates_of_counts(const guint64 *all, const guint64 *refused, size_t n_classes, double *rates) {
  guint64 n_total = 0, n_refused = 0;
  for (size_t c = 0; c < n_classes; c++) {
    rates[c] = all[c] > 0 ? (double)refused[c] / (double)all[c] : NAN;
    n_total += all[c];
    n_refused += refused[c];
  }
  return n_total > 0 ? (double)(n_total - n_refused) / (double)n_total : NAN;
}

static inline void
keep_values(const DemurReplicates *r, DemurOperating *point, size_t replicate, const double *values,
            const double *rates) {
  for (size_t v = 0; v < DEMUR_N_OPERATING_VALUES; v++)
    point->values[v * r->n + replicate] = values[v];
  for (size_t c = 0; c < r->input.setup->sample->n_classes; c++)
    point->values[(DEMUR_N_OPERATING_VALUES + c) * r->n + replicate] = rates[c];
}

G_END_DECLS
