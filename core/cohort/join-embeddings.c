#include "cohort/join-embeddings.h"

#include <string.h>

#include "base/error.h"
#include "cohort/npy.h"
#include "cohort/table-text.h"
#include "cohort/table-warnings.h"

/* rows[i]: the scan that row i of the .npy belongs to. NULL with error. */
static guint32 *
read_embedding_ids(const DemurCohort *cohort, const char *path, GHashTable *rows_of_scans,
                   GError **error) {
  g_autoptr(DemurTable) table = demur_table_open(path, error);
  if (table == NULL)
    return NULL;
  g_autofree guint32 *rows = g_new(guint32, cohort->n_scans);
  g_autofree size_t *lines = g_new0(size_t, cohort->n_scans);
  g_autoptr(GString) scratch = g_string_new(NULL);
  size_t n = 0;
  for (gboolean first = TRUE;; first = FALSE) {
    const DemurTableField *fields;
    size_t n_fields;
    if (!demur_table_next(table, &fields, &n_fields, error))
      return NULL;
    if (n_fields == 0)
      break;
    const DemurTableField *id = &fields[0];
    size_t length;
    DemurIdChanges changes;
    const char *text = demur_table_id(id, scratch, &length, &changes);
    gpointer row;
    const char *what = NULL;
    if (n_fields != 1)
      what = "more than one field; expected one scan_id a line";
    else if (!g_hash_table_lookup_extended(rows_of_scans, text, NULL, &row)) {
      if (first && strcmp(text, "scan_id") == 0)
        continue;
      what = "this scan_id is not in the cohort table";
    } else if (lines[GPOINTER_TO_SIZE(row)] != 0)
      what = "this scan_id stands here a second time";
    if (what != NULL) {
      demur_error_set(error, DEMUR_ERROR_INPUT, "%s: line %zu, column %zu: %s",
                      demur_table_name(table), id->line, id->column, what);
      return NULL;
    }
    lines[GPOINTER_TO_SIZE(row)] = id->line;
    rows[n++] = (guint32)GPOINTER_TO_SIZE(row);
  }
  if (n != cohort->n_scans) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "%s has %zu scan_ids where the table has %zu scans; name every scan once",
                    demur_table_name(table), n, cohort->n_scans);
    return NULL;
  }
  return g_steal_pointer(&rows);
}

/* Moves row i of values to row to[i], in place along the permutation's cycles. */
static void
permute_rows(float *values, size_t n, size_t d, const guint32 *to) {
  g_autofree guint8 *done = g_malloc0(n);
  g_autofree float *carried = g_new(float, d), *other = g_new(float, d);
  for (size_t start = 0; start < n; start++) {
    if (done[start])
      continue;
    memcpy(carried, values + start * d, d * sizeof(float));
    size_t i = start;
    do {
      done[i] = 1;
      i = to[i];
      memcpy(other, values + i * d, d * sizeof(float));
      memcpy(values + i * d, carried, d * sizeof(float));
      memcpy(carried, other, d * sizeof(float));
    } while (i != start);
  }
}

gboolean
demur_cohort_join_embeddings(DemurCohort *cohort, const char *table, const char *path,
                             const char *ids_path, const DemurProgress *progress,
                             GPtrArray *warnings, GError **error) {
  size_t n_rows, width;
  g_autofree char *name = g_path_get_basename(path);
  if (!demur_npy_shape(path, &n_rows, &width, error))
    return FALSE;
  if (n_rows != cohort->n_scans) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "%s has %zu rows where %s has %zu scans; every scan needs one row", name,
                    n_rows, table, cohort->n_scans);
    return FALSE;
  }
  float *values = demur_npy_read(path, &n_rows, &width, progress, error);
  if (values == NULL)
    return FALSE;
  cohort->embeddings = values; /* freed with the cohort */
  cohort->embedding_width = width;
  if (ids_path == NULL) {
    demur_table_warnings_add(warnings, DEMUR_TABLE_BY_ORDER, NULL, name, NULL, 0, 0);
    return TRUE;
  }
  g_autoptr(GHashTable) rows_of_scans = g_hash_table_new(g_str_hash, g_str_equal);
  for (size_t i = 0; i < cohort->n_scans; i++)
    g_hash_table_insert(rows_of_scans, cohort->scan_ids[i], GSIZE_TO_POINTER(i));
  g_autofree guint32 *rows = read_embedding_ids(cohort, ids_path, rows_of_scans, error);
  if (rows == NULL)
    return FALSE;
  permute_rows(values, n_rows, width, rows);
  return TRUE;
}
