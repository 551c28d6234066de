#include "selector/folds.h"

/* Dense codes in order of first appearance. */
static size_t
dense_codes(const guint32 *units, size_t n, guint32 *codes) {
  g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
  for (size_t i = 0; i < n; i++) {
    gpointer found;
    if (!g_hash_table_lookup_extended(seen, GUINT_TO_POINTER(units[i]), NULL, &found)) {
      found = GUINT_TO_POINTER(g_hash_table_size(seen));
      g_hash_table_insert(seen, GUINT_TO_POINTER(units[i]), found);
    }
    codes[i] = GPOINTER_TO_UINT(found);
  }
  return g_hash_table_size(seen);
}

size_t
demur_folds_count_units(const guint32 *units, size_t n) {
  g_autofree guint32 *codes = g_new(guint32, MAX(n, 1));
  return dense_codes(units, n, codes);
}

size_t
demur_folds_assign(const guint32 *units, size_t n, size_t n_folds, guint64 seed, guint64 index,
                   guint32 *folds) {
  g_autofree guint32 *codes = g_new(guint32, MAX(n, 1));
  const size_t n_units = dense_codes(units, n, codes);
  g_autofree size_t *unit_rows = g_new0(size_t, MAX(n_units, 1));
  for (size_t i = 0; i < n; i++)
    unit_rows[codes[i]]++;
  g_autofree guint32 *order = g_new(guint32, MAX(n_units, 1));
  for (size_t u = 0; u < n_units; u++)
    order[u] = (guint32)u;
  DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_FOLDS, index, 0, 0);
  demur_random_shuffle(&random, n_units, order);
  g_autofree size_t *fold_rows = g_new0(size_t, n_folds);
  g_autofree guint32 *unit_folds = g_new(guint32, MAX(n_units, 1));
  for (size_t u = 0; u < n_units; u++) {
    size_t best = 0;
    for (size_t f = 1; f < n_folds; f++)
      if (fold_rows[f] < fold_rows[best])
        best = f;
    unit_folds[order[u]] = (guint32)best;
    fold_rows[best] += unit_rows[order[u]];
  }
  for (size_t i = 0; i < n; i++)
    folds[i] = unit_folds[codes[i]];
  return MIN(n_folds, n_units);
}
