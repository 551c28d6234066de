#include "store/verdicts.h"

#include "store/connection.h"

void
demur_verdict_record_free(DemurVerdictRecord *record) {
  if (record == NULL)
    return;
  g_free(record->scan_id);
  g_free(record->patient_id);
  g_free(record->verdict);
  g_free(record->reasons);
  g_free(record->selector);
  g_free(record->selector_digest);
  g_free(record->cohort);
  g_free(record->model);
  g_free(record->created);
  g_free(record);
}

static void
record_free(gpointer record) {
  demur_verdict_record_free(record);
}

static gboolean
insert_batch(DemurWorkspace *workspace, const DemurVerdictBatch *batch, gint64 *id,
             GError **error) {
  sqlite3_stmt *statement = demur_store_statement(
      workspace,
      "INSERT INTO verdict_batch (selector, selector_digest, cohort, model, coverage, threshold,"
      " created) VALUES (?, ?, ?, ?, ?, ?, ?)",
      error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_text(statement, 1, batch->selector);
  demur_store_bind_text(statement, 2, batch->selector_digest);
  demur_store_bind_text(statement, 3, batch->cohort);
  demur_store_bind_text(statement, 4, batch->model);
  demur_store_bind_double(statement, 5, batch->coverage);
  demur_store_bind_double(statement, 6, batch->threshold);
  demur_store_bind_text(statement, 7, batch->created);
  if (!demur_store_run(workspace, statement, "saving verdicts", error))
    return FALSE;
  *id = sqlite3_last_insert_rowid(workspace->database);
  return TRUE;
}

static gboolean
insert(DemurWorkspace *workspace, gint64 batch, const DemurVerdictRecord *record, GError **error) {
  sqlite3_stmt *statement = demur_store_statement(
      workspace,
      "INSERT INTO verdict (batch_id, scan_id, patient_id, risk, risk_raw, score, verdict, reasons)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_int(statement, 1, batch);
  demur_store_bind_text(statement, 2, record->scan_id);
  demur_store_bind_text(statement, 3, record->patient_id);
  demur_store_bind_double(statement, 4, record->risk);
  demur_store_bind_double(statement, 5, record->risk_raw);
  demur_store_bind_double(statement, 6, record->score);
  demur_store_bind_text(statement, 7, record->verdict);
  demur_store_bind_text(statement, 8, record->reasons != NULL ? record->reasons : "[]");
  return demur_store_run(workspace, statement, "saving verdicts", error);
}

gboolean
demur_verdicts_save(DemurWorkspace *workspace, const DemurVerdictBatch *batch,
                    const DemurVerdictRecord *records, size_t n_records, GError **error) {
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  gint64 id = 0;
  gboolean ok = insert_batch(workspace, batch, &id, error);
  for (size_t i = 0; ok && i < n_records; i++)
    ok = insert(workspace, id, &records[i], error);
  return demur_store_end(workspace, ok, error);
}

#define SELECT_VERDICT                                                                             \
  "SELECT v.id, v.batch_id, v.scan_id, v.patient_id, v.risk, v.risk_raw, v.score, v.verdict,"      \
  " v.reasons, b.selector, b.selector_digest, b.cohort, b.model, b.created, b.coverage,"           \
  " b.threshold FROM verdict v JOIN verdict_batch b ON b.id = v.batch_id "

static DemurVerdictRecord *
read_verdict(sqlite3_stmt *statement) {
  DemurVerdictRecord *record = g_new0(DemurVerdictRecord, 1);
  record->id = sqlite3_column_int64(statement, 0);
  record->batch = sqlite3_column_int64(statement, 1);
  record->scan_id = demur_store_text(statement, 2);
  record->patient_id = demur_store_text(statement, 3);
  record->risk = demur_store_double(statement, 4);
  record->risk_raw = demur_store_double(statement, 5);
  record->score = demur_store_double(statement, 6);
  record->verdict = demur_store_text(statement, 7);
  record->reasons = demur_store_text(statement, 8);
  record->selector = demur_store_text(statement, 9);
  record->selector_digest = demur_store_text(statement, 10);
  record->cohort = demur_store_text(statement, 11);
  record->model = demur_store_text(statement, 12);
  record->created = demur_store_text(statement, 13);
  record->coverage = demur_store_double(statement, 14);
  record->threshold = demur_store_double(statement, 15);
  return record;
}

/* sql with its one or two texts, NULL bound as NULL. */
static GPtrArray *
query(DemurWorkspace *workspace, const char *sql, int n_texts, const char *first,
      const char *second, GError **error) {
  sqlite3_stmt *statement = demur_store_statement(workspace, sql, error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, first);
  if (n_texts > 1)
    demur_store_bind_text(statement, 2, second);
  g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(record_free);
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, statement, &row, "listing verdicts", error)) && row)
    g_ptr_array_add(list, read_verdict(statement));
  return ok ? g_steal_pointer(&list) : NULL;
}

GPtrArray *
demur_verdicts_of_scan(DemurWorkspace *workspace, const char *cohort, const char *scan_id,
                       GError **error) {
  return query(workspace,
               SELECT_VERDICT "WHERE v.scan_id = ?1 AND b.cohort IS ?2 ORDER BY v.id DESC", 2,
               scan_id, cohort, error);
}

GPtrArray *
demur_verdicts_of_selector(DemurWorkspace *workspace, const char *selector, gboolean latest_only,
                           GError **error) {
  if (!latest_only)
    return query(workspace, SELECT_VERDICT "WHERE b.selector = ?1 ORDER BY v.id DESC", 1, selector,
                 NULL, error);
  return query(workspace,
               SELECT_VERDICT
               "WHERE v.id IN (SELECT max(w.id) FROM verdict w JOIN verdict_batch c"
               " ON c.id = w.batch_id WHERE c.selector = ?1 GROUP BY c.cohort, w.scan_id)"
               " ORDER BY v.id DESC",
               1, selector, NULL, error);
}

#define SELECT_LATEST                                                                              \
  SELECT_VERDICT                                                                                   \
  "WHERE v.id IN (SELECT max(w.id) FROM verdict w JOIN verdict_batch c ON c.id = w.batch_id"       \
  " WHERE c.cohort IS ?1 GROUP BY w.scan_id) ORDER BY v.id DESC"

GPtrArray *
demur_verdicts_latest(DemurWorkspace *workspace, const char *cohort, GError **error) {
  return query(workspace, SELECT_LATEST, 1, cohort, NULL, error);
}

static char *
borrowed(sqlite3_stmt *statement, int column) {
  return (char *)sqlite3_column_text(statement, column);
}

gboolean
demur_verdicts_each_latest(DemurWorkspace *workspace, const char *cohort, DemurVerdictFunc func,
                           gpointer data, GError **error) {
  sqlite3_stmt *statement = demur_store_statement(workspace, SELECT_LATEST, error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_text(statement, 1, cohort);
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, statement, &row, "listing verdicts", error)) && row) {
    const DemurVerdictRecord record = {.id = sqlite3_column_int64(statement, 0),
                                       .batch = sqlite3_column_int64(statement, 1),
                                       .scan_id = borrowed(statement, 2),
                                       .patient_id = borrowed(statement, 3),
                                       .risk = demur_store_double(statement, 4),
                                       .risk_raw = demur_store_double(statement, 5),
                                       .score = demur_store_double(statement, 6),
                                       .verdict = borrowed(statement, 7),
                                       .reasons = borrowed(statement, 8),
                                       .selector = borrowed(statement, 9),
                                       .selector_digest = borrowed(statement, 10),
                                       .cohort = borrowed(statement, 11),
                                       .model = borrowed(statement, 12),
                                       .created = borrowed(statement, 13),
                                       .coverage = demur_store_double(statement, 14),
                                       .threshold = demur_store_double(statement, 15)};
    if (!func(&record, data)) {
      sqlite3_reset(statement);
      break;
    }
  }
  return ok;
}
