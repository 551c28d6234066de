#include "store/cohorts.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "cohort/columns.h"
#include "cohort/order.h"
#include "store/connection.h"
#include "store/events.h"

/* SQLite's own limit of a blob is 1 GB; small chunks keep memory low and progress moving. */
#define CHUNK_BYTES ((size_t)4 << 20)

void
demur_cohort_summary_free(DemurCohortSummary *summary) {
  if (summary == NULL)
    return;
  for (size_t s = 0; s < summary->n_splits; s++)
    g_free(summary->splits[s].name);
  g_free(summary->splits);
  g_free(summary->name);
  g_free(summary->model);
  g_free(summary->source);
  g_free(summary->created);
  g_free(summary->outcome);
  g_free(summary->digest);
  g_free(summary);
}

/* ---- writing ---- */

static gboolean
write_chunk(DemurWorkspace *workspace, gint64 cohort_id, const char *name, gint64 chunk,
            gconstpointer data, size_t n_bytes, GError **error) {
  sqlite3_stmt *statement = demur_store_statement(
      workspace, "INSERT INTO cohort_column (cohort_id, name, chunk, data) VALUES (?, ?, ?, ?)",
      error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_int(statement, 1, cohort_id);
  demur_store_bind_text(statement, 2, name);
  demur_store_bind_int(statement, 3, chunk);
  demur_store_bind_blob(statement, 4, data, n_bytes);
  return demur_store_run(workspace, statement, "saving a cohort", error);
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

static gboolean
write_attribute(DemurWorkspace *workspace, gint64 cohort_id, size_t position, size_t n_scans,
                const DemurAttribute *attribute, GError **error) {
  sqlite3_stmt *statement = demur_store_statement(
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
    sqlite3_stmt *statement = demur_store_statement(
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
    if (!demur_store_run(workspace, statement, "saving a split", error))
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

static gboolean
write_cohort(DemurWorkspace *workspace, const DemurCohort *cohort, const char *digest,
             const DemurProgress *progress, GError **error) {
  sqlite3_stmt *statement = demur_store_statement(
      workspace,
      "INSERT INTO cohort (name, model, source, simulated, digest, n_scans, n_patients, n_sites,"
      " n_classes, embedding_width, created, outcome, horizon_years)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
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
  const gint64 id = sqlite3_last_insert_rowid(workspace->database);
  const size_t n = cohort->n_scans;
  if (!write_splits(workspace, id, cohort, error))
    return FALSE;
  for (size_t c = 0; c < DEMUR_N_COHORT_COLUMNS; c++)
    if (!write_column(workspace, id, cohort, &demur_cohort_columns[c], progress, error))
      return FALSE;
  for (size_t a = 0; a < cohort->n_attributes; a++)
    if (!write_attribute(workspace, id, a, n, &cohort->attributes[a], error))
      return FALSE;
  return TRUE;
}

/* 1 where there is a cohort of that name, 0 where not, -1 with error. */
static gint64
exists(DemurWorkspace *workspace, const char *name, GError **error) {
  return demur_store_count(workspace, "SELECT count(*) FROM cohort WHERE name = ?", name, NULL,
                           error);
}

gboolean
demur_cohorts_save(DemurWorkspace *workspace, const DemurCohort *cohort,
                   const DemurProgress *progress, GError **error) {
  g_autofree guint32 *order = demur_cohort_order(cohort);
  g_autofree char *digest = demur_cohort_digest(cohort, order, cohort->n_scans);
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  const gint64 taken = exists(workspace, cohort->name, error);
  gboolean ok = taken == 0;
  if (taken > 0)
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_EXISTS,
                "there is a cohort %s already; choose another name, or remove it first",
                cohort->name);
  ok = ok && write_cohort(workspace, cohort, digest, progress, error);
  demur_store_tell_cohort(workspace, cohort->name);
  return demur_store_end(workspace, ok, error);
}

/* ---- reading ---- */

static void
summary_free(gpointer summary) {
  demur_cohort_summary_free(summary);
}

/* Fills in the row that statement stands on, then its splits. */
static DemurCohortSummary *
read_summary(DemurWorkspace *workspace, sqlite3_stmt *statement, gint64 *id, GError **error) {
  g_autoptr(DemurCohortSummary) summary = g_new0(DemurCohortSummary, 1);
  *id = sqlite3_column_int64(statement, 0);
  summary->name = demur_store_text(statement, 1);
  summary->model = demur_store_text(statement, 2);
  summary->source = demur_store_text(statement, 3);
  summary->simulated = sqlite3_column_int(statement, 4) != 0;
  summary->digest = demur_store_text(statement, 5);
  summary->n_scans = (size_t)sqlite3_column_int64(statement, 6);
  summary->n_patients = (size_t)sqlite3_column_int64(statement, 7);
  summary->n_sites = (size_t)sqlite3_column_int64(statement, 8);
  summary->n_classes = (size_t)sqlite3_column_int64(statement, 9);
  summary->embedding_width = (size_t)sqlite3_column_int64(statement, 10);
  summary->created = demur_store_text(statement, 11);
  summary->outcome = demur_store_text(statement, 12);
  summary->horizon_years = sqlite3_column_double(statement, 13); /* 0 of NULL */
  g_autoptr(GArray) splits = g_array_new(FALSE, FALSE, sizeof(DemurSplitSummary));
  sqlite3_stmt *query = demur_store_statement(workspace,
                                              "SELECT name, n_scans, n_patients FROM cohort_split"
                                              " WHERE cohort_id = ? ORDER BY position",
                                              error);
  if (query == NULL)
    return NULL;
  demur_store_bind_int(query, 1, *id);
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, query, &row, "reading splits", error)) && row) {
    const DemurSplitSummary split = {demur_store_text(query, 0),
                                     (size_t)sqlite3_column_int64(query, 1),
                                     (size_t)sqlite3_column_int64(query, 2)};
    g_array_append_val(splits, split);
  }
  summary->n_splits = splits->len;
  summary->splits = (DemurSplitSummary *)(gpointer)g_array_free(g_steal_pointer(&splits), FALSE);
  return ok ? g_steal_pointer(&summary) : NULL;
}

#define SELECT_SUMMARY                                                                             \
  "SELECT id, name, model, source, simulated, digest, n_scans, n_patients, n_sites, n_classes,"    \
  " embedding_width, created, outcome, horizon_years FROM cohort"

GPtrArray *
demur_cohorts_list(DemurWorkspace *workspace, GError **error) {
  sqlite3_stmt *statement =
      demur_store_statement(workspace, SELECT_SUMMARY " ORDER BY name", error);
  if (statement == NULL)
    return NULL;
  g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(summary_free);
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, statement, &row, "listing cohorts", error)) && row) {
    gint64 id;
    DemurCohortSummary *summary = read_summary(workspace, statement, &id, error);
    if (summary == NULL) {
      sqlite3_reset(statement);
      return NULL;
    }
    g_ptr_array_add(list, summary);
  }
  return ok ? g_steal_pointer(&list) : NULL;
}

static gboolean
not_found(DemurWorkspace *workspace, const char *name, GError **error) {
  g_autoptr(GPtrArray) list = demur_cohorts_list(workspace, error);
  if (list == NULL)
    return FALSE;
  g_autoptr(GString) names = g_string_new(NULL);
  for (guint i = 0; i < list->len; i++)
    g_string_append_printf(names, "%s%s", i > 0 ? ", " : "",
                           ((DemurCohortSummary *)list->pdata[i])->name);
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND, "there is no cohort %s; %s%s", name,
              list->len > 0 ? "there are: " : "there is none yet (demur cohort import)",
              names->str);
  return FALSE;
}

static DemurCohortSummary *
find_summary(DemurWorkspace *workspace, const char *name, gint64 *id, GError **error) {
  sqlite3_stmt *statement =
      demur_store_statement(workspace, SELECT_SUMMARY " WHERE name = ?", error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, name);
  gboolean row;
  if (!demur_store_step(workspace, statement, &row, "reading a cohort", error))
    return NULL;
  if (!row) {
    not_found(workspace, name, error);
    return NULL;
  }
  DemurCohortSummary *summary = read_summary(workspace, statement, id, error);
  sqlite3_reset(statement);
  return summary;
}

DemurCohortSummary *
demur_cohorts_summary(DemurWorkspace *workspace, const char *name, GError **error) {
  gint64 id;
  return find_summary(workspace, name, &id, error);
}

static gboolean
damaged(const char *cohort, const char *column, GError **error) {
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STORE,
              "cohort %s: column %s is damaged; run `demur verify`, bring back a copy of the "
              "workspace or import the cohort again",
              cohort, column);
  return FALSE;
}

/* The chunks of a column in order, begun: each one's row and length. */
static sqlite3_stmt *
chunks(DemurWorkspace *workspace, gint64 id, const char *column, GError **error) {
  sqlite3_stmt *statement = demur_store_statement(
      workspace,
      "SELECT id, length(data) FROM cohort_column WHERE cohort_id = ? AND name = ? ORDER BY chunk",
      error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_int(statement, 1, id);
  demur_store_bind_text(statement, 2, column);
  return statement;
}

/* A chunk's bytes [length] straight to where they belong: a column of the row would be copied
 * twice.
 */
static gboolean
read_chunk(DemurWorkspace *workspace, gint64 row, void *bytes, size_t length, GError **error) {
  sqlite3_blob *blob = NULL;
  const gboolean ok = length <= G_MAXINT &&
                      sqlite3_blob_open(workspace->database, "main", "cohort_column", "data", row,
                                        0, &blob) == SQLITE_OK &&
                      sqlite3_blob_read(blob, bytes, (int)length, 0) == SQLITE_OK;
  if (!ok)
    demur_store_fail(workspace, "reading a cohort", error);
  sqlite3_blob_close(blob);
  return ok;
}

/* An array of exactly n rows; *array stays NULL where the column is absent and may be. */
static gboolean
read_array(DemurWorkspace *workspace, gint64 id, const char *cohort, const char *column,
           gboolean optional, size_t n, size_t row_bytes, const DemurProgress *progress,
           void *array, GError **error) {
  sqlite3_stmt *statement = chunks(workspace, id, column, error);
  if (statement == NULL)
    return FALSE;
  guint8 *bytes = NULL;
  size_t at = 0;
  const size_t n_bytes = n * row_bytes;
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, statement, &row, "reading a cohort", error)) && row) {
    const size_t length = (size_t)sqlite3_column_int64(statement, 1);
    if (bytes == NULL && (bytes = demur_memory_unset(n, row_bytes, 1, error)) == NULL)
      ok = FALSE;
    else if (length > n_bytes - at)
      ok = damaged(cohort, column, error);
    else
      ok = demur_progress_step(progress, (double)at / (double)n_bytes, "loading", error) &&
           read_chunk(workspace, sqlite3_column_int64(statement, 0), bytes + at, length, error);
    if (!ok) {
      sqlite3_reset(statement);
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
  sqlite3_stmt *statement = chunks(workspace, id, column, error);
  if (statement == NULL)
    return FALSE;
  g_autofree char **list = NULL;
  size_t i = 0;
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, statement, &row, "reading a cohort", error)) && row) {
    if (list == NULL)
      list = g_new(char *, MAX(n, 1));
    const size_t length = (size_t)sqlite3_column_int64(statement, 1);
    if (length == 0)
      continue;
    char *block = g_malloc(length);
    demur_cohort_keep_block(cohort, block);
    if (!read_chunk(workspace, sqlite3_column_int64(statement, 0), block, length, error)) {
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
      sqlite3_reset(statement);
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
  sqlite3_stmt *statement = demur_store_statement(
      workspace,
      "SELECT name, n_values FROM cohort_attribute WHERE cohort_id = ? ORDER BY position", error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_int(statement, 1, id);
  g_autoptr(GArray) attributes = g_array_new(FALSE, TRUE, sizeof(DemurAttribute));
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, statement, &row, "reading attributes", error)) && row) {
    const DemurAttribute attribute = {.name = demur_store_text(statement, 0),
                                      .n_values = (size_t)sqlite3_column_int64(statement, 1)};
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

static gboolean
read_cohort(DemurWorkspace *workspace, gint64 id, DemurCohort *c, const DemurProgress *progress,
            GError **error) {
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

static DemurCohort *
load(DemurWorkspace *workspace, const char *name, gboolean with_embeddings,
     const DemurProgress *progress, GError **error) {
  gint64 id;
  g_autoptr(DemurCohortSummary) summary = find_summary(workspace, name, &id, error);
  if (summary == NULL)
    return NULL;
  g_autoptr(DemurCohort) cohort = demur_cohort_alloc();
  cohort->name = g_strdup(summary->name);
  cohort->model = g_strdup(summary->model);
  cohort->source = g_strdup(summary->source);
  cohort->created = g_strdup(summary->created);
  cohort->outcome = g_strdup(summary->outcome);
  cohort->horizon_years = summary->horizon_years;
  cohort->simulated = summary->simulated;
  cohort->n_scans = summary->n_scans;
  cohort->n_patients = summary->n_patients;
  cohort->n_sites = summary->n_sites;
  cohort->n_classes = summary->n_classes;
  cohort->embedding_width = with_embeddings ? summary->embedding_width : 0;
  cohort->n_splits = summary->n_splits;
  cohort->split_names = g_new0(char *, MAX(summary->n_splits, 1));
  for (size_t s = 0; s < summary->n_splits; s++)
    cohort->split_names[s] =
        demur_cohort_keep_text(cohort, summary->splits[s].name, strlen(summary->splits[s].name));
  if (!read_cohort(workspace, id, cohort, progress, error))
    return NULL;
  return g_steal_pointer(&cohort);
}

DemurCohort *
demur_cohorts_load(DemurWorkspace *workspace, const char *name, const DemurProgress *progress,
                   GError **error) {
  return load(workspace, name, TRUE, progress, error);
}

DemurCohort *
demur_cohorts_load_facts(DemurWorkspace *workspace, const char *name, const DemurProgress *progress,
                         GError **error) {
  return load(workspace, name, FALSE, progress, error);
}

/* ---- changing ---- */

static gint64
cohort_id(DemurWorkspace *workspace, const char *name, size_t *n_scans, GError **error) {
  gint64 id = -1;
  g_autoptr(DemurCohortSummary) summary = find_summary(workspace, name, &id, error);
  if (summary == NULL)
    return -1;
  *n_scans = summary->n_scans;
  return id;
}

static gboolean
remove_attribute(DemurWorkspace *workspace, gint64 id, const char *name, GError **error) {
  static const char *const sql[] = {
      "DELETE FROM cohort_attribute WHERE cohort_id = ?1 AND name = ?2",
      "DELETE FROM cohort_column WHERE cohort_id = ?1 AND name = 'attribute:' || ?2",
      "DELETE FROM cohort_column WHERE cohort_id = ?1 AND name = 'values:' || ?2",
  };
  for (size_t i = 0; i < G_N_ELEMENTS(sql); i++) {
    sqlite3_stmt *statement = demur_store_statement(workspace, sql[i], error);
    if (statement == NULL)
      return FALSE;
    demur_store_bind_int(statement, 1, id);
    demur_store_bind_text(statement, 2, name);
    if (!demur_store_run(workspace, statement, "replacing an attribute", error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
attach_one(DemurWorkspace *workspace, gint64 id, const char *name, size_t n_scans,
           const DemurAttribute *attribute, gboolean replace, GError **error) {
  const gint64 there = demur_store_count(workspace,
                                         "SELECT count(*) FROM cohort_attribute a JOIN cohort c"
                                         " ON c.id = a.cohort_id WHERE c.name = ? AND a.name = ?",
                                         name, attribute->name, error);
  if (there < 0)
    return FALSE;
  if (there > 0 && !replace) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_EXISTS,
                "cohort %s has a column %s already; ask for it to be replaced, or leave it out "
                "(--columns)",
                name, attribute->name);
    return FALSE;
  }
  if (there > 0 && !remove_attribute(workspace, id, attribute->name, error))
    return FALSE;
  const gint64 last = demur_store_count(
      workspace,
      "SELECT coalesce(max(position), -1) + 1 FROM cohort_attribute a JOIN cohort c"
      " ON c.id = a.cohort_id WHERE c.name = ?",
      name, NULL, error);
  return last >= 0 && write_attribute(workspace, id, (size_t)last, n_scans, attribute, error);
}

gboolean
demur_cohorts_attach(DemurWorkspace *workspace, const char *name, const DemurAttribute *attributes,
                     size_t n_attributes, gboolean replace, GError **error) {
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  size_t n_scans = 0;
  const gint64 id = cohort_id(workspace, name, &n_scans, error);
  gboolean ok = id >= 0;
  for (size_t a = 0; ok && a < n_attributes; a++)
    ok = attach_one(workspace, id, name, n_scans, &attributes[a], replace, error);
  demur_store_tell_cohort(workspace, name);
  return demur_store_end(workspace, ok, error);
}

static gboolean
check_unused(DemurWorkspace *workspace, const char *name, GError **error) {
  const gint64 n_selectors = demur_store_count(
      workspace, "SELECT count(*) FROM selector WHERE cohort = ?", name, NULL, error);
  if (n_selectors < 0)
    return FALSE;
  const gint64 n_thresholds = demur_store_count(
      workspace, "SELECT count(*) FROM threshold WHERE cohort = ?", name, NULL, error);
  if (n_thresholds < 0)
    return FALSE;
  const gint64 n_verdicts = demur_store_count(
      workspace,
      "SELECT count(*) FROM verdict v JOIN verdict_batch b ON b.id = v.batch_id WHERE b.cohort = ?",
      name, NULL, error);
  if (n_verdicts < 0)
    return FALSE;
  if (n_selectors + n_thresholds + n_verdicts == 0)
    return TRUE;
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE,
              "cohort %s is in use: %" G_GINT64_FORMAT " selectors, %" G_GINT64_FORMAT
              " thresholds and %" G_GINT64_FORMAT
              " verdicts were made from it; remove the selectors first, or force it with --force "
              "(they then "
              "keep its name and digest)",
              name, n_selectors, n_thresholds, n_verdicts);
  return FALSE;
}

gboolean
demur_cohorts_remove(DemurWorkspace *workspace, const char *name, gboolean force, GError **error) {
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  size_t n_scans;
  const gint64 id = cohort_id(workspace, name, &n_scans, error);
  gboolean ok = id >= 0 && (force || check_unused(workspace, name, error));
  g_autofree char *key = g_strconcat("cohort:", name, NULL);
  g_autofree char *now = demur_store_now(workspace);
  if (ok) {
    sqlite3_stmt *statement =
        demur_store_statement(workspace, "DELETE FROM cohort WHERE id = ?", error);
    ok = statement != NULL;
    if (ok) {
      demur_store_bind_int(statement, 1, id);
      ok = demur_store_run(workspace, statement, "removing a cohort", error) &&
           demur_events_add(workspace, DEMUR_EVENT_REMOVAL, key, NULL, NULL, now, error);
    }
  }
  return demur_store_end(workspace, ok, error);
}

gboolean
demur_store_write_cohort_event(DemurWorkspace *workspace, const char *name, GError **error) {
  const gint64 there = exists(workspace, name, error);
  if (there <= 0) /* it went in the same transaction */
    return there == 0;
  gint64 id;
  g_autoptr(DemurCohortSummary) summary = find_summary(workspace, name, &id, error);
  g_autofree char *key = g_strconcat("cohort:", name, NULL);
  g_autofree char *now = demur_store_now(workspace);
  return summary != NULL &&
         demur_events_add(workspace, DEMUR_EVENT_COHORT, key, summary->digest, NULL, now, error);
}

/* ---- what was left out ---- */

void
demur_exclusion_free(DemurExclusion *exclusion) {
  if (exclusion == NULL)
    return;
  g_free(exclusion->reason);
  g_free(exclusion);
}

static void
exclusion_free(gpointer exclusion) {
  demur_exclusion_free(exclusion);
}

/* Runs a statement with one number bound. */
static gboolean
run_for(DemurWorkspace *workspace, const char *sql, gint64 id, GError **error) {
  sqlite3_stmt *statement = demur_store_statement(workspace, sql, error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_int(statement, 1, id);
  return demur_store_run(workspace, statement, "saving what was left out", error);
}

gboolean
demur_cohorts_set_exclusions(DemurWorkspace *workspace, const char *name,
                             const DemurExclusion *exclusions, size_t n, GError **error) {
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  gint64 id = 0;
  DemurCohortSummary *summary = find_summary(workspace, name, &id, error);
  gboolean ok =
      summary != NULL &&
      run_for(workspace, "UPDATE cohort SET exclusions_recorded = 1 WHERE id = ?", id, error) &&
      run_for(workspace, "DELETE FROM cohort_exclusion WHERE cohort_id = ?", id, error);
  demur_cohort_summary_free(summary);
  demur_store_tell_cohort(workspace, name);
  for (size_t i = 0; ok && i < n; i++) {
    if (exclusions[i].n == 0)
      continue;
    sqlite3_stmt *statement = demur_store_statement(
        workspace,
        "INSERT INTO cohort_exclusion (cohort_id, position, reason, n) VALUES (?, ?, ?, ?)", error);
    ok = statement != NULL;
    if (!ok)
      break;
    demur_store_bind_int(statement, 1, id);
    demur_store_bind_int(statement, 2, (gint64)i);
    demur_store_bind_text(statement, 3, exclusions[i].reason);
    demur_store_bind_int(statement, 4, (gint64)exclusions[i].n);
    ok = demur_store_run(workspace, statement, "saving what was left out", error);
  }
  return demur_store_end(workspace, ok, error);
}

static gpointer
read_exclusion(sqlite3_stmt *statement) {
  DemurExclusion *exclusion = g_new0(DemurExclusion, 1);
  exclusion->reason = demur_store_text(statement, 0);
  exclusion->n = (size_t)sqlite3_column_int64(statement, 1);
  return exclusion;
}

gboolean
demur_cohorts_exclusions(DemurWorkspace *workspace, const char *name, gboolean *recorded,
                         GPtrArray **exclusions, GError **error) {
  const gint64 known = demur_store_count(
      workspace, "SELECT count(*) FROM cohort WHERE exclusions_recorded AND name = ?", name, NULL,
      error);
  if (known < 0)
    return FALSE;
  const gint64 there = known > 0 ? 1 : exists(workspace, name, error);
  if (there <= 0)
    return there < 0 ? FALSE : not_found(workspace, name, error);
  sqlite3_stmt *statement =
      demur_store_statement(workspace,
                            "SELECT e.reason, e.n FROM cohort_exclusion e JOIN cohort c"
                            " ON c.id = e.cohort_id WHERE c.name = ? ORDER BY e.position",
                            error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_text(statement, 1, name);
  GPtrArray *list = demur_store_list(workspace, statement, read_exclusion, exclusion_free,
                                     "reading what was left out", error);
  if (list == NULL)
    return FALSE;
  *recorded = known > 0;
  *exclusions = list;
  return TRUE;
}

/* ---- what was noticed ---- */

static gboolean
write_warning(DemurWorkspace *workspace, gint64 id, size_t position,
              const DemurTableWarning *warning, GError **error) {
  sqlite3_stmt *statement = demur_store_statement(
      workspace,
      "INSERT INTO cohort_warning (cohort_id, position, kind, column_name, first, second, n, n_all)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_int(statement, 1, id);
  demur_store_bind_int(statement, 2, (gint64)position);
  demur_store_bind_text(statement, 3, demur_table_warning_name(warning->kind));
  demur_store_bind_text(statement, 4, warning->column);
  demur_store_bind_text(statement, 5, warning->first);
  demur_store_bind_text(statement, 6, warning->second);
  demur_store_bind_int(statement, 7, (gint64)warning->n);
  demur_store_bind_int(statement, 8, (gint64)warning->n_all);
  return demur_store_run(workspace, statement, "saving what was noticed", error);
}

gboolean
demur_cohorts_set_warnings(DemurWorkspace *workspace, const char *name, const GPtrArray *warnings,
                           GError **error) {
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  gint64 id = 0;
  g_autoptr(DemurCohortSummary) summary = find_summary(workspace, name, &id, error);
  gboolean ok = summary != NULL &&
                run_for(workspace, "DELETE FROM cohort_warning WHERE cohort_id = ?", id, error);
  demur_store_tell_cohort(workspace, name);
  for (guint i = 0; ok && i < warnings->len; i++)
    ok = write_warning(workspace, id, i, warnings->pdata[i], error);
  return demur_store_end(workspace, ok, error);
}

GPtrArray *
demur_cohorts_warnings(DemurWorkspace *workspace, const char *name, GError **error) {
  const gint64 there = exists(workspace, name, error);
  if (there <= 0) {
    if (there == 0)
      not_found(workspace, name, error);
    return NULL;
  }
  sqlite3_stmt *statement = demur_store_statement(
      workspace,
      "SELECT w.kind, w.column_name, w.first, w.second, w.n, w.n_all FROM cohort_warning w"
      " JOIN cohort c ON c.id = w.cohort_id WHERE c.name = ? ORDER BY w.position",
      error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, name);
  g_autoptr(GPtrArray) list = demur_table_warnings_new();
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, statement, &row, "reading what was noticed", error)) &&
         row) {
    g_autofree char *kind = demur_store_text(statement, 0);
    const int known = demur_table_warning_find(kind);
    if (known < 0)
      continue;
    DemurTableWarning *warning = demur_table_warnings_add(
        list, (DemurTableWarningKind)known, NULL, NULL, NULL,
        (size_t)sqlite3_column_int64(statement, 4), (size_t)sqlite3_column_int64(statement, 5));
    warning->column = demur_store_text(statement, 1);
    warning->first = demur_store_text(statement, 2);
    warning->second = demur_store_text(statement, 3);
  }
  return ok ? g_steal_pointer(&list) : NULL;
}
