#include "store/scores.h"

#include <math.h>
#include <string.h>

#include "store/connection.h"

void
demur_score_record_free(DemurScoreRecord *record) {
  if (record == NULL)
    return;
  g_free(record->scan_id);
  g_free(record->model);
  g_free(record->patient_id);
  g_free(record->embedding);
  g_free(record->source);
  g_free(record->created);
  g_free(record);
}

static void
record_free(gpointer record) {
  demur_score_record_free(record);
}

#define COLUMNS                                                                                    \
  "scan_id, model, patient_id, risk, risk_year_1, risk_year_2, risk_year_3, risk_year_4,"          \
  " risk_year_5, risk_year_6, embedding, source, created"

static DemurScoreRecord *
read_score(sqlite3_stmt *statement) {
  DemurScoreRecord *record = g_new0(DemurScoreRecord, 1);
  record->scan_id = demur_store_text(statement, 0);
  record->model = demur_store_text(statement, 1);
  record->patient_id = demur_store_text(statement, 2);
  record->risk = demur_store_double(statement, 3);
  for (int k = 0; k < DEMUR_N_YEARS; k++)
    record->yearly_risks[k] = demur_store_double(statement, 4 + k);
  const size_t n_bytes = (size_t)sqlite3_column_bytes(statement, 10);
  record->embedding_width = n_bytes / sizeof(float);
  if (record->embedding_width > 0)
    record->embedding =
        g_memdup2(sqlite3_column_blob(statement, 10), record->embedding_width * sizeof(float));
  record->source = demur_store_text(statement, 11);
  record->created = demur_store_text(statement, 12);
  return record;
}

static gboolean
same_number(double a, double b) {
  return a == b || (isnan(a) && isnan(b));
}

static gboolean
same_score(const DemurScoreRecord *a, const DemurScoreRecord *b) {
  for (int k = 0; k < DEMUR_N_YEARS; k++)
    if (!same_number(a->yearly_risks[k], b->yearly_risks[k]))
      return FALSE;
  return a->risk == b->risk && a->embedding_width == b->embedding_width &&
         (a->embedding_width == 0 ||
          memcmp(a->embedding, b->embedding, a->embedding_width * sizeof(float)) == 0);
}

static gboolean
insert(DemurWorkspace *workspace, const DemurScoreRecord *record, GError **error) {
  sqlite3_stmt *statement = demur_store_statement(
      workspace,
      "INSERT OR REPLACE INTO score (" COLUMNS ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_text(statement, 1, record->scan_id);
  demur_store_bind_text(statement, 2, record->model);
  demur_store_bind_text(statement, 3, record->patient_id);
  demur_store_bind_double(statement, 4, record->risk);
  for (int k = 0; k < DEMUR_N_YEARS; k++)
    demur_store_bind_double(statement, 5 + k, record->yearly_risks[k]);
  if (record->embedding_width > 0)
    demur_store_bind_blob(statement, 11, record->embedding,
                          record->embedding_width * sizeof(float));
  demur_store_bind_text(statement, 12, record->source);
  demur_store_bind_text(statement, 13, record->created);
  return demur_store_run(workspace, statement, "saving scores", error);
}

gboolean
demur_scores_load(DemurWorkspace *workspace, const char *scan_id, const char *model,
                  DemurScoreRecord **record, GError **error) {
  *record = NULL;
  sqlite3_stmt *statement = demur_store_statement(
      workspace, "SELECT " COLUMNS " FROM score WHERE scan_id = ? AND model = ?", error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_text(statement, 1, scan_id);
  demur_store_bind_text(statement, 2, model);
  gboolean row;
  if (!demur_store_step(workspace, statement, &row, "reading a score", error))
    return FALSE;
  if (row) {
    *record = read_score(statement);
    sqlite3_reset(statement);
  }
  return TRUE;
}

gboolean
demur_scores_save(DemurWorkspace *workspace, const DemurScoreRecord *records, size_t n_records,
                  gboolean replace, size_t *n_new, size_t *n_replaced, size_t *n_same,
                  GError **error) {
  size_t n[3] = {0}; /* new, replaced, same */
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  gboolean ok = TRUE;
  for (size_t i = 0; ok && i < n_records; i++) {
    g_autoptr(DemurScoreRecord) old = NULL;
    ok = demur_scores_load(workspace, records[i].scan_id, records[i].model, &old, error);
    if (!ok)
      break;
    if (old != NULL && same_score(old, &records[i])) {
      n[2]++;
      continue;
    }
    if (old != NULL && !replace) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_EXISTS,
                  "scan %s has another score by model %s already; ask for it to be replaced, or "
                  "name the model anew",
                  records[i].scan_id, records[i].model);
      ok = FALSE;
      break;
    }
    n[old != NULL ? 1 : 0]++;
    ok = insert(workspace, &records[i], error);
  }
  if (!demur_store_end(workspace, ok, error))
    return FALSE;
  if (n_new != NULL)
    *n_new = n[0];
  if (n_replaced != NULL)
    *n_replaced = n[1];
  if (n_same != NULL)
    *n_same = n[2];
  return TRUE;
}

GPtrArray *
demur_scores_list(DemurWorkspace *workspace, const char *scan_id, const char *model,
                  GError **error) {
  sqlite3_stmt *statement =
      demur_store_statement(workspace,
                            "SELECT " COLUMNS " FROM score WHERE (?1 IS NULL OR scan_id = ?1)"
                            " AND (?2 IS NULL OR model = ?2) ORDER BY scan_id, model",
                            error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, scan_id);
  demur_store_bind_text(statement, 2, model);
  g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(record_free);
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, statement, &row, "listing scores", error)) && row)
    g_ptr_array_add(list, read_score(statement));
  return ok ? g_steal_pointer(&list) : NULL;
}

char **
demur_scores_models(DemurWorkspace *workspace, GError **error) {
  sqlite3_stmt *statement =
      demur_store_statement(workspace, "SELECT DISTINCT model FROM score ORDER BY model", error);
  if (statement == NULL)
    return NULL;
  g_autoptr(GStrvBuilder) list = g_strv_builder_new();
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, statement, &row, "listing models", error)) && row)
    g_strv_builder_add(list, (const char *)sqlite3_column_text(statement, 0));
  return ok ? g_strv_builder_end(list) : NULL;
}
