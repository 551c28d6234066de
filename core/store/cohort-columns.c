/* Columns in chunks, as texts and numbers, in the order of cohort/columns.h. */
#include "store/cohort-rows.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "cohort/columns.h"

/* An engine's own limit of a blob is 1 GB; small chunks keep memory low and progress moving. */
#define CHUNK_BYTES ((size_t)4 << 20)

static gboolean
write_chunk(DemurWorkspace *workspace, gint64 cohort_id, const char *name, gint64 chunk,
            gconstpointer data, size_t n_bytes, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace, "INSERT INTO cohort_column (cohort_id, name, chunk, data) VALUES (?, ?, ?, ?)",
      error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_int(statement, 1, cohort_id);
  demur_store_bind_text(statement, 2, name);
  demur_store_bind_int(statement, 3, chunk);
  demur_store_bind_blob(statement, 4, data, n_bytes);
  return demur_store_run_later(workspace, statement, "saving a cohort", error);
}

static gboolean
write_array(DemurWorkspace *workspace, gint64 cohort_id, const char *name, gconstpointer data,
            size_t n_bytes, const DemurProgress *progress, GError **error) {
  gint64 chunk = 0;
  for (size_t begin = 0; begin < n_bytes || chunk == 0; begin += CHUNK_BYTES, chunk++) {
    if (!demur_progress_step(progress, n_bytes > 0 ? (double)begin / (double)n_bytes : 1.0,
                             "saving", error) ||
        !write_chunk(workspace, cohort_id, name, chunk, (const guint8 *)data + begin,
                     MIN(CHUNK_BYTES, n_bytes - begin), error))
      return FALSE;
  }
  return TRUE;
}

/* Each text with its NUL, whole texts only in a chunk. */
static gboolean
write_texts(DemurWorkspace *workspace, gint64 cohort_id, const char *name, char **texts, size_t n,
            GError **error) {
  g_autoptr(GString) data = g_string_new(NULL);
  gint64 chunk = 0;
  for (size_t i = 0; i < n; i++) {
    g_string_append_len(data, texts[i], (gssize)strlen(texts[i]) + 1);
    if (data->len >= CHUNK_BYTES) {
      if (!write_chunk(workspace, cohort_id, name, chunk++, data->str, data->len, error))
        return FALSE;
      g_string_truncate(data, 0);
    }
  }
  return write_chunk(workspace, cohort_id, name, chunk, data->str, data->len, error);
}

gboolean
demur_store_write_attribute(DemurWorkspace *workspace, gint64 cohort_id, size_t position,
                            size_t n_scans, const DemurAttribute *attribute, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      "INSERT INTO cohort_attribute (cohort_id, position, name, n_values) VALUES (?, ?, ?, ?)",
      error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_int(statement, 1, cohort_id);
  demur_store_bind_int(statement, 2, (gint64)position);
  demur_store_bind_text(statement, 3, attribute->name);
  demur_store_bind_int(statement, 4, (gint64)attribute->n_values);
  if (!demur_store_run(workspace, statement, "saving an attribute", error))
    return FALSE;
  g_autofree char *codes = g_strconcat("attribute:", attribute->name, NULL);
  g_autofree char *values = g_strconcat("values:", attribute->name, NULL);
  return write_texts(workspace, cohort_id, values, attribute->values, attribute->n_values, error) &&
         write_array(workspace, cohort_id, codes, attribute->codes, n_scans * sizeof(guint32), NULL,
                     error);
}

static gboolean
write_splits(DemurWorkspace *workspace, gint64 cohort_id, const DemurCohort *cohort,
             GError **error) {
  for (size_t s = 0; s < cohort->n_splits; s++) {
    size_t n_rows;
    g_autofree guint32 *rows = demur_cohort_rows(cohort, cohort->split_names[s], &n_rows, error);
    if (rows == NULL)
      return FALSE;
    DemurStatement *statement = demur_store_statement(
        workspace,
        "INSERT INTO cohort_split (cohort_id, position, name, n_scans, n_patients)"
        " VALUES (?, ?, ?, ?, ?)",
        error);
    if (statement == NULL)
      return FALSE;
    demur_store_bind_int(statement, 1, cohort_id);
    demur_store_bind_int(statement, 2, (gint64)s);
    demur_store_bind_text(statement, 3, cohort->split_names[s]);
    demur_store_bind_int(statement, 4, (gint64)n_rows);
    demur_store_bind_int(statement, 5, (gint64)demur_cohort_count_patients(cohort, rows, n_rows));
    if (!demur_store_run_later(workspace, statement, "saving a split", error))
      return FALSE;
  }
  return TRUE;
}

/* A column, where the cohort has it, with the texts that its codes stand for. */
static gboolean
write_column(DemurWorkspace *workspace, gint64 id, const DemurCohort *cohort,
             const DemurCohortColumn *column, const DemurProgress *progress, GError **error) {
  const void *data = demur_cohort_column_data(cohort, column);
  if (data == NULL)
    return TRUE;
  if (column->type == DEMUR_CELL_TEXT) /* one scan a patient: the list is not kept twice */
    return data == (const void *)cohort->patient_ids ||
           write_texts(workspace, id, column->name, (char **)data, cohort->n_scans, error);
  if (column->texts_name != NULL &&
      !write_texts(workspace, id, column->texts_name,
                   *demur_cohort_column_texts((DemurCohort *)cohort, column),
                   *demur_cohort_column_n_texts((DemurCohort *)cohort, column), error))
    return FALSE;
  return write_array(workspace, id, column->name, data,
                     cohort->n_scans * demur_cohort_column_row_bytes(cohort, column), progress,
                     error);
}

gboolean
demur_store_write_cohort(DemurWorkspace *workspace, const DemurCohort *cohort, const char *digest,
                         const DemurProgress *progress, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      "INSERT INTO cohort (name, model, source, simulated, digest, n_scans, n_patients, n_sites,"
      " n_classes, embedding_width, created, outcome, horizon_years)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
      error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_text(statement, 1, cohort->name);
  demur_store_bind_text(statement, 2, cohort->model);
  demur_store_bind_text(statement, 3, cohort->source);
  demur_store_bind_int(statement, 4, cohort->simulated ? 1 : 0);
  demur_store_bind_text(statement, 5, digest);
  demur_store_bind_int(statement, 6, (gint64)cohort->n_scans);
  demur_store_bind_int(statement, 7, (gint64)cohort->n_patients);
  demur_store_bind_int(statement, 8, (gint64)cohort->n_sites);
  demur_store_bind_int(statement, 9, (gint64)cohort->n_classes);
  demur_store_bind_int(statement, 10, (gint64)cohort->embedding_width);
  demur_store_bind_text(statement, 11, cohort->created);
  demur_store_bind_text(statement, 12, cohort->outcome);
  demur_store_bind_double(statement, 13,
                          cohort->horizon_years > 0.0 ? cohort->horizon_years : (double)NAN);
  if (!demur_store_run(workspace, statement, "saving a cohort", error))
    return FALSE;
  const gint64 id = demur_store_inserted_id(workspace);
  const size_t n = cohort->n_scans;
  if (!write_splits(workspace, id, cohort, error))
    return FALSE;
  for (size_t c = 0; c < DEMUR_N_COHORT_COLUMNS; c++)
    if (!write_column(workspace, id, cohort, &demur_cohort_columns[c], progress, error))
      return FALSE;
  for (size_t a = 0; a < cohort->n_attributes; a++)
    if (!demur_store_write_attribute(workspace, id, a, n, &cohort->attributes[a], error))
      return FALSE;
  return TRUE;
}

static gboolean
damaged(const char *cohort, const char *column, GError **error) {
  demur_error_set(error, DEMUR_ERROR_STORE,
                  "cohort %s: column %s is damaged; run `demur verify`, bring back a copy of the "
                  "workspace or import the cohort again",
                  cohort, column);
  return FALSE;
}

/* The chunks of a column in order, begun: each one's row and length. */
static DemurStatement *
chunks(DemurWorkspace *workspace, gint64 id, const char *column, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      "SELECT id, length(data) FROM cohort_column WHERE cohort_id = ? AND name = ? ORDER BY chunk",
      error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_int(statement, 1, id);
  demur_store_bind_text(statement, 2, column);
  return statement;
}

/* A chunk's bytes [length] straight to where they belong. */
static gboolean
read_chunk(DemurWorkspace *workspace, gint64 row, void *bytes, size_t length, GError **error) {
  return demur_store_read_chunk(workspace, row, bytes, length) ||
         demur_store_fail(workspace, "reading a cohort", error);
}

/* An array of exactly n rows; *array stays NULL where the column is absent and may be. */
static gboolean
read_array(DemurWorkspace *workspace, gint64 id, const char *cohort, const char *column,
           gboolean optional, size_t n, size_t row_bytes, const DemurProgress *progress,
           void *array, GError **error) {
  DemurStatement *statement = chunks(workspace, id, column, error);
  if (statement == NULL)
    return FALSE;
  guint8 *bytes = NULL;
  size_t at = 0;
  const size_t n_bytes = n * row_bytes;
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, statement, &row, "reading a cohort", error)) && row) {
    const size_t length = (size_t)demur_store_int(statement, 1);
    if (bytes == NULL && (bytes = demur_memory_unset(n, row_bytes, 1, error)) == NULL)
      ok = FALSE;
    else if (length > n_bytes - at)
      ok = damaged(cohort, column, error);
    else
      ok = demur_progress_step(progress, (double)at / (double)n_bytes, "loading", error) &&
           read_chunk(workspace, demur_store_int(statement, 0), bytes + at, length, error);
    if (!ok) {
      demur_store_reset(statement);
      break;
    }
    at += length;
  }
  if (ok && (bytes == NULL ? !optional : at != n_bytes))
    ok = damaged(cohort, column, error);
  *(void **)array = bytes; /* freed with the cohort, whatever comes */
  return ok;
}

/* n texts (*texts: g_free); NULL where the column is absent and may be. */
static gboolean
read_texts(DemurWorkspace *workspace, gint64 id, DemurCohort *cohort, const char *column,
           gboolean optional, size_t n, char ***texts, GError **error) {
  DemurStatement *statement = chunks(workspace, id, column, error);
  if (statement == NULL)
    return FALSE;
  g_autofree char **list = NULL;
  size_t i = 0;
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, statement, &row, "reading a cohort", error)) && row) {
    if (list == NULL)
      list = g_new(char *, MAX(n, 1));
    const size_t length = (size_t)demur_store_int(statement, 1);
    if (length == 0)
      continue;
    char *block = g_malloc(length);
    demur_cohort_keep_block(cohort, block);
    if (!read_chunk(workspace, demur_store_int(statement, 0), block, length, error)) {
      ok = FALSE;
    } else if (block[length - 1] != '\0') {
      ok = damaged(cohort->name, column, error);
    } else {
      size_t at = 0;
      for (; at < length && i < n; at += strlen(block + at) + 1)
        list[i++] = block + at;
      if (at < length)
        ok = damaged(cohort->name, column, error);
    }
    if (!ok) {
      demur_store_reset(statement);
      return FALSE;
    }
  }
  if (ok && (list == NULL ? !optional : i != n))
    ok = damaged(cohort->name, column, error);
  if (ok)
    *texts = g_steal_pointer(&list);
  return ok;
}

static gboolean
check_codes(const char *cohort, const char *column, const guint32 *codes, size_t n, size_t n_codes,
            GError **error) {
  for (size_t i = 0; i < n; i++)
    if (codes[i] >= n_codes)
      return damaged(cohort, column, error);
  return TRUE;
}

static gboolean
read_attributes(DemurWorkspace *workspace, gint64 id, DemurCohort *cohort, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      "SELECT name, n_values FROM cohort_attribute WHERE cohort_id = ? ORDER BY position", error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_int(statement, 1, id);
  g_autoptr(GArray) attributes = g_array_new(FALSE, TRUE, sizeof(DemurAttribute));
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, statement, &row, "reading attributes", error)) && row) {
    const DemurAttribute attribute = {.name = demur_store_text(statement, 0),
                                      .n_values = (size_t)demur_store_int(statement, 1)};
    g_array_append_val(attributes, attribute);
  }
  cohort->n_attributes = attributes->len;
  cohort->attributes =
      (DemurAttribute *)(gpointer)g_array_free(g_steal_pointer(&attributes), FALSE);
  for (size_t a = 0; ok && a < cohort->n_attributes; a++) {
    DemurAttribute *attribute = &cohort->attributes[a];
    g_autofree char *codes = g_strconcat("attribute:", attribute->name, NULL);
    g_autofree char *values = g_strconcat("values:", attribute->name, NULL);
    ok = read_texts(workspace, id, cohort, values, FALSE, attribute->n_values, &attribute->values,
                    error) &&
         read_array(workspace, id, cohort->name, codes, FALSE, cohort->n_scans, sizeof(guint32),
                    NULL, &attribute->codes, error) &&
         check_codes(cohort->name, codes, attribute->codes, cohort->n_scans, attribute->n_values,
                     error);
  }
  return ok;
}

/* A column that the cohort has or may have, with the texts that its codes stand for. */
static gboolean
read_column(DemurWorkspace *workspace, gint64 id, DemurCohort *cohort,
            const DemurCohortColumn *column, const DemurProgress *progress, GError **error) {
  const gboolean optional = column->presence == DEMUR_COLUMN_OPTIONAL;
  void **place = demur_cohort_column_place(cohort, column);
  const size_t n = cohort->n_scans;
  if (!optional && !demur_cohort_column_is_due(cohort, column))
    return TRUE;
  if (column->type == DEMUR_CELL_TEXT)
    return read_texts(workspace, id, cohort, column->name, TRUE, n, (char ***)place, error);
  if (column->texts_name != NULL && !read_texts(workspace, id, cohort, column->texts_name, FALSE,
                                                *demur_cohort_column_n_texts(cohort, column),
                                                demur_cohort_column_texts(cohort, column), error))
    return FALSE;
  return read_array(workspace, id, cohort->name, column->name, optional, n,
                    demur_cohort_column_row_bytes(cohort, column), progress, place, error) &&
         (column->type != DEMUR_CELL_CODE ||
          check_codes(cohort->name, column->name, *place, n,
                      *demur_cohort_column_n_texts(cohort, column), error));
}

gboolean
demur_store_read_cohort(DemurWorkspace *workspace, gint64 id, DemurCohort *c,
                        const DemurProgress *progress, GError **error) {
  for (size_t k = 0; k < DEMUR_N_COHORT_COLUMNS; k++)
    if (!read_column(workspace, id, c, &demur_cohort_columns[k], progress, error))
      return FALSE;
  if (c->scan_ids == NULL) {
    if (c->n_patients != c->n_scans)
      return damaged(c->name, "scan_ids", error);
    c->scan_ids = c->patient_ids;
  }
  for (size_t i = 0; i < c->n_scans; i++)
    if (c->labels[i] != DEMUR_NO_LABEL &&
        (c->labels[i] < 0 || (size_t)c->labels[i] >= c->n_classes))
      return damaged(c->name, "label", error);
  if ((c->times == NULL) != (c->statuses == NULL) || (c->times == NULL) != (c->horizons == NULL))
    return damaged(c->name, "time", error);
  for (size_t i = 0; c->times != NULL && i < c->n_scans; i++)
    if (!(c->times[i] >= 0.0) || !(c->horizons[i] > 0.0) || c->horizons[i] != c->horizons[0] ||
        c->statuses[i] < DEMUR_STATUS_CENSORED || c->statuses[i] > DEMUR_STATUS_COMPETING)
      return damaged(c->name, "time", error);
  /* An older program kept it beside the outcomes alone. */
  if (c->horizon_years == 0.0 && c->horizons != NULL && c->n_scans > 0)
    c->horizon_years = c->horizons[0];
  return read_attributes(workspace, id, c, error);
}
