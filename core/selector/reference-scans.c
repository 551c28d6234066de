/* Scans are known again by their hash (selector.h, demur_selector_scan_hash): a table that was
 * imported anew with other embeddings holds none of them. */
#include "selector/reference-scans.h"

#include "base/memory.h"
#include "selector/selector-private.h"

static guint64
hash_of(const DemurCohort *cohort, size_t row) {
  const size_t d = cohort->embedding_width;
  return demur_selector_scan_hash(cohort->patient_ids[cohort->patients[row]], cohort->scan_ids[row],
                                  cohort->embeddings + row * d, d);
}

size_t
demur_selector_n_reference(const DemurSelector *s) {
  return s->outlier != NULL ? demur_outlier_model_n_reference(s->outlier) : 0;
}

guint32 *
demur_selector_reference_rows(const DemurSelector *s, const DemurCohort *cohort, size_t *n) {
  *n = 0;
  if (s->reference_hashes == NULL || s->n_reference == 0)
    return NULL;
  *n = s->n_reference;
  guint32 *rows = g_new(guint32, s->n_reference);
  g_autoptr(GHashTable) places = g_hash_table_new(g_int64_hash, g_int64_equal);
  for (size_t i = 0; i < s->n_reference; i++) {
    rows[i] = DEMUR_NOT_THERE;
    g_hash_table_insert(places, &s->reference_hashes[i], GSIZE_TO_POINTER(i + 1));
  }
  if (cohort->embedding_width != s->embedding_width || cohort->embeddings == NULL)
    return rows;
  for (size_t row = 0; row < cohort->n_scans; row++) {
    const guint64 hash = hash_of(cohort, row);
    const size_t place = GPOINTER_TO_SIZE(g_hash_table_lookup(places, &hash));
    if (place > 0)
      rows[place - 1] = (guint32)row;
  }
  return rows;
}

gboolean
demur_selector_nearest_reference(const DemurSelector *s, const DemurCohort *cohort, guint32 row,
                                 size_t k, guint32 *places, DemurParallel *parallel,
                                 GError **error) {
  DEMUR_AUTO_ALIGNED float *embedding = demur_selector_embeddings(s, cohort, &row, 1, NULL);
  gssize own = -1;
  const guint64 hash = hash_of(cohort, row);
  for (size_t i = 0; s->reference_hashes != NULL && i < s->n_reference; i++)
    if (s->reference_hashes[i] == hash)
      own = (gssize)i;
  return demur_outlier_model_nearest(s->outlier, embedding, 1, &own, k, places, NULL, parallel,
                                     NULL, error);
}
