/* A large sample counted in cells, for what is drawn again and again: bootstrap replicates,
 * resampled trials, redrawn labels.
 *
 *   cell[a][y][b] = how many drawn scans have a risk in row cell a, label y, a score in column b
 *
 * Row cells are of equal mass in risk, columns of equal mass in score (equal scores together), both
 * cut in the sample as it is. A drawn sample is one pass over the scans; all 50 coverages are then
 * read from 2 x 512 rows in place of 10^6 scans. What is lost: risks inside a row cell are taken as
 * their mean, and a threshold falls on a column's edge, at most half a column (n / 1024) from where
 * it should. Point values never come from here, only how they vary. */
#pragma once

#include "evaluation/sample.h"

G_BEGIN_DECLS

/* From this many scans on, samples are counted in cells. */
#define DEMUR_CELLS_FROM 8192

typedef struct {
  size_t n;       /* scans */
  size_t n_cells; /* of risk; two rows each: label 0, label 1 */
  guint16 *rows;  /* [n] 2 cell + label; ascending but for the label */
  /* [2 n_cells]: of the cell, the same in both of its rows, but for the label. */
  double *risks, *logits, *labels;
} DemurCells;

/* logits [n] of the sample's risks. n_cells at most 32,767. */
DemurCells *demur_cells_new(const DemurSample *sample, const double *logits, size_t n_cells);
void demur_cells_free(DemurCells *cells);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurCells, demur_cells_free)

/* The columns of one score. */
typedef struct {
  guint16 *columns;          /* [n] 0: the highest scores */
  size_t n_columns, n_asked; /* fewer where scores are equal, more where cuts are */
  guint32 *last_ranks;       /* [n_columns] the last rank in each */
} DemurCellColumns;

/* ranks [n] dense, 0 the highest. About n_columns (at most 60,000) columns; each rank of cuts
 * [n_cuts] (-1: none) ends a column. */
DemurCellColumns *demur_cell_columns_new(const guint32 *ranks, size_t n, size_t n_ranks,
                                         size_t n_columns, const gssize *cuts, size_t n_cuts);
void demur_cell_columns_free(DemurCellColumns *columns);

/* How many columns hold the ranks up to max_rank, which is one of the cuts. */
size_t demur_cell_columns_up_to(const DemurCellColumns *columns, gssize max_rank);

/* Counts of one drawn sample; one a thread. */
typedef struct {
  size_t n_rows, n_columns;
  const DemurCellColumns *columns; /* of the last fill; borrowed */
  guint64 n_drawn;
  guint32 *counts; /* [n_rows][n_columns] */
  guint64 *totals; /* [n_columns] */
} DemurCellTable;

DemurCellTable *demur_cell_table_new(size_t n_cells, size_t max_columns);
void demur_cell_table_free(DemurCellTable *table);

/* rows [n]: those of the cells, or with redrawn labels; counts [n]: how often each scan is drawn
 * (NULL: once each).  * Cost: n + n_rows n_columns. */
void demur_cell_table_fill(DemurCellTable *table, const guint16 *rows,
                           const DemurCellColumns *columns, const guint32 *counts, size_t n);

/* The number of columns to keep for a coverage: the edge nearest to where it is reached, but equal
 * scores, which are a column of one rank, are all kept as soon as one of them is. At least one for
 * a coverage above 0. */
size_t demur_cell_table_keep(const DemurCellTable *table, double coverage);

/* selected [n_cuts][stride]: drawn scans in the first n_kept[c] columns, by row; stride at least
 * n_rows, and better no power of two, which would put all cuts into the same lines of the cache. */
void demur_cell_table_select(const DemurCellTable *table, const size_t *n_kept, size_t n_cuts,
                             guint32 *selected, size_t stride);

G_END_DECLS
