#include "base/small-cells.h"

#include "base/limits.h"

static size_t
row_total(const size_t *row, size_t n_cells) {
  size_t total = 0;
  for (size_t c = 0; c < n_cells; c++)
    total += row[c];
  return total;
}

/* The withheld rows together would tell a small count: one row's own, or a sum. */
static gboolean
tell_together(const size_t *counts, size_t n, size_t n_cells, const gboolean *withheld,
              size_t n_withheld) {
  if (n_withheld == 1)
    return TRUE;
  for (size_t c = 0; n_withheld > 0 && c < n_cells; c++) {
    size_t sum = 0;
    for (size_t i = 0; i < n; i++)
      sum += withheld[i] ? counts[i * n_cells + c] : 0;
    if (sum < DEMUR_SMALL_CELL)
      return TRUE;
  }
  return FALSE;
}

size_t
demur_small_cells(const size_t *counts, size_t n, size_t n_cells, gboolean *withheld) {
  return demur_small_cells_beside(counts, n, n_cells, NULL, withheld);
}

size_t
demur_small_cells_beside(const size_t *counts, size_t n, size_t n_cells, const gboolean *forced,
                         gboolean *withheld) {
  size_t n_withheld = 0;
  for (size_t i = 0; i < n; i++) {
    withheld[i] = forced != NULL && forced[i];
    for (size_t c = 0; c < n_cells; c++)
      withheld[i] |= counts[i * n_cells + c] < DEMUR_SMALL_CELL;
    n_withheld += withheld[i] ? 1 : 0;
  }
  while (n_withheld < n && tell_together(counts, n, n_cells, withheld, n_withheld)) {
    size_t smallest = n, least = G_MAXSIZE;
    for (size_t i = 0; i < n; i++) {
      const size_t total = row_total(counts + i * n_cells, n_cells);
      if (!withheld[i] && total < least) {
        smallest = i;
        least = total;
      }
    }
    withheld[smallest] = TRUE;
    n_withheld++;
  }
  return n_withheld;
}
