#include "cohort/order.h"

#include <string.h>

#include "cohort/columns.h"

static int
compare_ids(gconstpointer a, gconstpointer b, gpointer data) {
  char *const *ids = ((const DemurCohort *)data)->scan_ids;
  return strcmp(ids[*(const guint32 *)a], ids[*(const guint32 *)b]);
}

guint32 *
demur_cohort_order_rows(const DemurCohort *cohort, const guint32 *rows, size_t n) {
  guint32 *order = g_new(guint32, MAX(n, 1));
  memcpy(order, rows, n * sizeof *rows);
  gboolean ascending = TRUE;
  for (size_t i = 1; i < n && ascending; i++)
    ascending = strcmp(cohort->scan_ids[rows[i - 1]], cohort->scan_ids[rows[i]]) <= 0;
  if (!ascending)
    g_qsort_with_data(order, (int)n, sizeof *order, compare_ids, (gpointer)cohort);
  return order;
}

guint32 *
demur_cohort_order(const DemurCohort *cohort) {
  g_autofree guint32 *rows = g_new(guint32, MAX(cohort->n_scans, 1));
  for (size_t i = 0; i < cohort->n_scans; i++)
    rows[i] = (guint32)i;
  return demur_cohort_order_rows(cohort, rows, cohort->n_scans);
}

/* What rows move by: narrow ones by way of a second array, wide ones (embeddings, which are most of a cohort) along
 * the cycles of the order, so that no second array is held. */
typedef struct {
  const guint32 *order; /* [n] row i comes from row order[i] */
  size_t n;
  guint8 *memory; /* [n][NARROW] */
  guint8 *row;    /* [widest] */
  guint8 *moved;  /* [n] of one array */
} Moving;

#define NARROW 8 /* bytes a row */

static void
permute_cycles(const Moving *m, guint8 *values, size_t bytes) {
  memset(m->moved, 0, m->n);
  for (size_t first = 0; first < m->n; first++) {
    if (m->moved[first])
      continue;
    memcpy(m->row, values + first * bytes, bytes);
    size_t to = first;
    for (size_t from = m->order[to]; from != first; to = from, from = m->order[to]) {
      memcpy(values + to * bytes, values + from * bytes, bytes);
      m->moved[to] = 1;
    }
    memcpy(values + to * bytes, m->row, bytes);
    m->moved[to] = 1;
  }
}

/* values [n][bytes] as the order says. */
static void
permute(const Moving *m, gpointer array, size_t bytes) {
  guint8 *values = array;
  if (bytes > NARROW) {
    permute_cycles(m, values, bytes);
    return;
  }
  for (size_t i = 0; i < m->n; i++)
    memcpy(m->memory + i * bytes, values + (size_t)m->order[i] * bytes, bytes);
  memcpy(values, m->memory, m->n * bytes);
}

/* Codes [n] anew, by first appearance; texts that no scan names stay behind the others. */
static void
number_anew(guint32 *codes, size_t n, char **texts, size_t n_texts) {
  g_autofree guint32 *now = g_new(guint32, MAX(n_texts, 1));
  g_autofree char **old = g_memdup2(texts, MAX(n_texts, 1) * sizeof *texts);
  for (size_t t = 0; t < n_texts; t++)
    now[t] = G_MAXUINT32;
  guint32 n_named = 0;
  for (size_t i = 0; i < n; i++) {
    if (now[codes[i]] == G_MAXUINT32) {
      texts[n_named] = old[codes[i]];
      now[codes[i]] = n_named++;
    }
    codes[i] = now[codes[i]];
  }
  for (size_t t = 0; t < n_texts; t++)
    if (now[t] == G_MAXUINT32)
      texts[n_named++] = old[t];
}

void
demur_cohort_put_in_order(DemurCohort *cohort) {
  const size_t n = cohort->n_scans;
  g_autofree guint32 *order = demur_cohort_order(cohort);
  size_t widest = NARROW;
  for (size_t k = 0; k < DEMUR_N_COHORT_COLUMNS; k++)
    widest = MAX(widest, demur_cohort_column_row_bytes(cohort, &demur_cohort_columns[k]));
  gboolean stands = TRUE;
  for (size_t i = 0; i < n; i++)
    stands = stands && order[i] == i;
  if (!stands && cohort->scan_ids == cohort->patient_ids)
    /* A table without scan_id: its scans are named by their patients, in one array until now. */
    cohort->scan_ids = g_memdup2(cohort->patient_ids, n * sizeof *cohort->patient_ids);
  g_autofree guint8 *memory = stands ? NULL : g_malloc_n(MAX(n, 1), NARROW);
  g_autofree guint8 *row = g_malloc(widest), *moved = stands ? NULL : g_malloc(MAX(n, 1));
  const Moving moving = {order, n, memory, row, moved};
  for (size_t k = 0; k < DEMUR_N_COHORT_COLUMNS; k++) {
    const DemurCohortColumn *column = &demur_cohort_columns[k];
    void *array = *demur_cohort_column_place(cohort, column);
    if (array == NULL)
      continue;
    if (!stands)
      permute(&moving, array, demur_cohort_column_row_bytes(cohort, column));
    if (column->type == DEMUR_CELL_CODE)
      number_anew(array, n, *demur_cohort_column_texts(cohort, column),
                  *demur_cohort_column_n_texts(cohort, column));
  }
  for (size_t a = 0; a < cohort->n_attributes; a++) {
    DemurAttribute *attribute = &cohort->attributes[a];
    if (!stands)
      permute(&moving, attribute->codes, sizeof *attribute->codes);
    number_anew(attribute->codes, n, attribute->values, attribute->n_values);
  }
}
