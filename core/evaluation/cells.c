/* Data: scans stand in ascending risk, so a pass walks the table row by row and stays in one row of
 * n_columns counts at a time. */
#include "evaluation/cells.h"

#include <math.h>
#include <string.h>

#include "metrics/coverage.h"

DemurCells *
demur_cells_new(const DemurSample *sample, const double *logits, size_t n_cells) {
  g_return_val_if_fail(n_cells >= 1 && n_cells <= G_MAXINT16, NULL);
  const size_t n = sample->n;
  DemurCells *cells = g_new0(DemurCells, 1);
  cells->n = n;
  cells->n_cells = n_cells = MAX(MIN(n_cells, n), 1);
  cells->rows = g_new(guint16, MAX(n, 1));
  cells->risks = g_new0(double, 2 * n_cells);
  cells->logits = g_new0(double, 2 * n_cells);
  cells->labels = g_new0(double, 2 * n_cells);
  g_autofree size_t *ends = g_new0(size_t, n_cells); /* a block of equal risk stays in one cell */
  for (size_t i = 0; i < n;) {
    const size_t first = i;
    while (i < n && sample->risks[i] == sample->risks[first])
      i++;
    ends[first * n_cells / n] = i;
  }
  double last_risk = 0.0, last_logit = 0.0; /* what an empty cell has, so that they ascend */
  for (size_t a = 0, first = 0; a < n_cells; a++) {
    const size_t end = MAX(ends[a], first);
    double risk = 0.0, logit = 0.0;
    for (size_t i = first; i < end; i++) {
      cells->rows[i] = (guint16)(2 * a + (sample->labels[i] >= 0.5));
      risk += sample->risks[i];
      logit += logits[i];
    }
    if (end > first) {
      last_risk = risk / (double)(end - first);
      last_logit = logit / (double)(end - first);
    }
    cells->risks[2 * a] = cells->risks[2 * a + 1] = last_risk;
    cells->logits[2 * a] = cells->logits[2 * a + 1] = last_logit;
    cells->labels[2 * a + 1] = 1.0;
    first = end;
  }
  return cells;
}

void
demur_cells_free(DemurCells *cells) {
  if (cells == NULL)
    return;
  g_free(cells->rows);
  g_free(cells->risks);
  g_free(cells->logits);
  g_free(cells->labels);
  g_free(cells);
}

DemurCellColumns *
demur_cell_columns_new(const guint32 *ranks, size_t n, size_t n_ranks, size_t n_columns,
                       const gssize *cuts, size_t n_cuts) {
  g_return_val_if_fail(n_columns >= 1 && n_columns + n_cuts < G_MAXUINT16, NULL);
  g_autofree guint32 *rank_counts = g_new0(guint32, MAX(n_ranks, 1));
  g_autofree guint8 *ends = g_new0(guint8, MAX(n_ranks, 1));
  for (size_t i = 0; i < n; i++)
    rank_counts[ranks[i]]++;
  for (size_t c = 0; c < n_cuts; c++)
    if (cuts[c] >= 0 && (size_t)cuts[c] < n_ranks)
      ends[cuts[c]] = 1;
  DemurCellColumns *columns = g_new0(DemurCellColumns, 1);
  columns->columns = g_new(guint16, MAX(n, 1));
  columns->last_ranks = g_new(guint32, n_columns + n_cuts + 1);
  g_autofree guint16 *column_of_rank = g_new(guint16, MAX(n_ranks, 1));
  size_t sum = 0, column = 0;
  for (size_t r = 0; r < n_ranks; r++) {
    column_of_rank[r] = (guint16)column;
    sum += rank_counts[r];
    /* The next multiple of n / n_columns is passed at most n_columns times. */
    const gboolean full = sum * n_columns / n > (sum - rank_counts[r]) * n_columns / n;
    if (full || ends[r] || r + 1 == n_ranks)
      columns->last_ranks[column++] = (guint32)r;
  }
  columns->n_columns = column;
  columns->n_asked = n_columns;
  for (size_t i = 0; i < n; i++)
    columns->columns[i] = column_of_rank[ranks[i]];
  return columns;
}

void
demur_cell_columns_free(DemurCellColumns *columns) {
  if (columns == NULL)
    return;
  g_free(columns->columns);
  g_free(columns->last_ranks);
  g_free(columns);
}

size_t
demur_cell_columns_up_to(const DemurCellColumns *columns, gssize max_rank) {
  size_t kept = 0;
  while (kept < columns->n_columns && (gssize)columns->last_ranks[kept] <= max_rank)
    kept++;
  return kept;
}

DemurCellTable *
demur_cell_table_new(size_t n_cells, size_t max_columns) {
  DemurCellTable *table = g_new0(DemurCellTable, 1);
  table->n_rows = 2 * n_cells;
  table->counts = g_new(guint32, table->n_rows * MAX(max_columns, 1));
  table->totals = g_new(guint64, MAX(max_columns, 1));
  return table;
}

void
demur_cell_table_free(DemurCellTable *table) {
  if (table == NULL)
    return;
  g_free(table->counts);
  g_free(table->totals);
  g_free(table);
}

void
demur_cell_table_fill(DemurCellTable *table, const guint16 *rows, const DemurCellColumns *columns,
                      const guint32 *counts, size_t n) {
  const size_t n_columns = table->n_columns = columns->n_columns;
  table->columns = columns;
  memset(table->counts, 0, table->n_rows * n_columns * sizeof *table->counts);
  memset(table->totals, 0, n_columns * sizeof *table->totals);
  for (size_t i = 0; i < n; i++)
    table->counts[rows[i] * n_columns + columns->columns[i]] += counts != NULL ? counts[i] : 1;
  table->n_drawn = 0;
  for (size_t r = 0; r < table->n_rows; r++) {
    const guint32 *row = table->counts + r * n_columns;
    for (size_t b = 0; b < n_columns; b++)
      table->totals[b] += row[b];
  }
  for (size_t b = 0; b < n_columns; b++)
    table->n_drawn += table->totals[b];
}

size_t
demur_cell_table_keep(const DemurCellTable *table, double coverage) {
  const guint64 wanted = demur_coverage_count(coverage, table->n_drawn);
  const DemurCellColumns *columns = table->columns;
  const guint64 half = table->n_drawn / (2 * columns->n_asked);
  size_t kept = 0;
  guint64 sum = 0;
  while (kept < table->n_columns) {
    const guint32 before = kept > 0 ? columns->last_ranks[kept - 1] : (guint32)-1;
    const gboolean equal = columns->last_ranks[kept] - before == 1;
    if (sum > 0 && sum + (equal ? 0 : half) >= wanted)
      break;
    sum += table->totals[kept++];
  }
  return wanted > 0 ? kept : 0;
}

void
demur_cell_table_select(const DemurCellTable *table, const size_t *n_kept, size_t n_cuts,
                        guint32 *selected, size_t stride) {
  const size_t n_columns = table->n_columns;
  g_autofree guint32 *before = g_new(guint32, n_columns + 1);
  before[0] = 0;
  for (size_t r = 0; r < table->n_rows; r++) {
    const guint32 *row = table->counts + r * n_columns;
    guint32 sum = 0;
    for (size_t b = 0; b < n_columns; b++)
      before[b + 1] = sum += row[b];
    for (size_t c = 0; c < n_cuts; c++)
      selected[c * stride + r] = before[n_kept[c]];
  }
}
