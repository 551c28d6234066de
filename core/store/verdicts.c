#include "store/verdicts.h"

#include "store/connection.h"

/* A million verdicts in one transaction keep every other writer out for half a minute; as many as
 * these take a tenth of a second. */
#define VERDICTS_A_TRANSACTION 5000

void
demur_verdict_record_free(DemurVerdictRecord *record) {
  if (record == NULL)
    return;
  g_free(record->scan_id);
  g_free(record->patient_id);
  g_free(record->reasons);
  g_free(record->lead);
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
      "INSERT INTO verdict (batch_id, scan_id, patient_id, risk, risk_raw, score, verdict, reasons,"
      " lead) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_int(statement, 1, batch);
  demur_store_bind_text(statement, 2, record->scan_id);
  demur_store_bind_text(statement, 3, record->patient_id);
  demur_store_bind_double(statement, 4, record->risk);
  demur_store_bind_double(statement, 5, record->risk_raw);
  demur_store_bind_double(statement, 6, record->score);
  demur_store_bind_text(statement, 7, demur_verdict_name(record->verdict));
  demur_store_bind_text(statement, 8, record->reasons != NULL ? record->reasons : "[]");
  demur_store_bind_text(statement, 9, record->lead);
  return demur_store_run(workspace, statement, "saving verdicts", error);
}

gboolean
demur_verdicts_save(DemurWorkspace *workspace, const DemurVerdictBatch *batch,
                    const DemurVerdictRecord *records, size_t n_records, GError **error) {
  gint64 id = 0;
  size_t i = 0;
  do {
    if (!demur_workspace_begin(workspace, error))
      return FALSE;
    gboolean ok = i > 0 || insert_batch(workspace, batch, &id, error);
    for (const size_t end = i + MIN(n_records - i, VERDICTS_A_TRANSACTION); ok && i < end; i++)
      ok = insert(workspace, id, &records[i], error);
    if (!demur_store_end(workspace, ok, error))
      return FALSE;
  } while (i < n_records);
  return TRUE;
}

#define SELECT_VERDICT                                                                             \
  "SELECT v.id, v.batch_id, v.scan_id, v.patient_id, v.risk, v.risk_raw, v.score, v.verdict,"      \
  " v.reasons, b.selector, b.selector_digest, b.cohort, b.model, b.created, b.coverage,"           \
  " b.threshold, v.lead FROM verdict v JOIN verdict_batch b ON b.id = v.batch_id "

/* The table takes no other word; one that was written past it is no verdict that may be used. */
static DemurVerdict
verdict_at(sqlite3_stmt *statement, int column) {
  DemurVerdict verdict = DEMUR_VERDICT_FAILED;
  return demur_verdict_from_name((const char *)sqlite3_column_text(statement, column), &verdict)
             ? verdict
             : DEMUR_VERDICT_FAILED;
}

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
  record->verdict = verdict_at(statement, 7);
  record->reasons = demur_store_text(statement, 8);
  record->selector = demur_store_text(statement, 9);
  record->selector_digest = demur_store_text(statement, 10);
  record->cohort = demur_store_text(statement, 11);
  record->model = demur_store_text(statement, 12);
  record->created = demur_store_text(statement, 13);
  record->coverage = demur_store_double(statement, 14);
  record->threshold = demur_store_double(statement, 15);
  record->lead = demur_store_text(statement, 16);
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

/* The verdicts of one batch, newest first. Their ids are neighbours, as a batch is saved in one
 * transaction: so the table is read in its own order, and no index but for the two ends. */
static gboolean
each_of_batch(DemurWorkspace *workspace, const DemurVerdictRecord *batch, DemurVerdictFunc func,
              gpointer data, gboolean *go_on, GError **error) {
  sqlite3_stmt *statement = demur_store_statement(
      workspace,
      "SELECT id, scan_id, patient_id, risk, risk_raw, score, verdict, reasons, lead FROM verdict"
      " WHERE id BETWEEN (SELECT min(id) FROM verdict WHERE batch_id = ?1)"
      " AND (SELECT max(id) FROM verdict WHERE batch_id = ?1) AND +batch_id = ?1 ORDER BY id DESC",
      error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_int(statement, 1, batch->batch);
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, statement, &row, "listing verdicts", error)) && row) {
    DemurVerdictRecord record = *batch;
    record.id = sqlite3_column_int64(statement, 0);
    record.scan_id = borrowed(statement, 1);
    record.patient_id = borrowed(statement, 2);
    record.risk = demur_store_double(statement, 3);
    record.risk_raw = demur_store_double(statement, 4);
    record.score = demur_store_double(statement, 5);
    record.verdict = verdict_at(statement, 6);
    record.reasons = borrowed(statement, 7);
    record.lead = borrowed(statement, 8);
    *go_on = func(&record, data);
    if (!*go_on) {
      sqlite3_reset(statement);
      break;
    }
  }
  return ok;
}

static GPtrArray *
list_batches(DemurWorkspace *workspace, const char *cohort, GError **error) {
  sqlite3_stmt *statement = demur_store_statement(
      workspace,
      "SELECT id, selector, selector_digest, cohort, model, created, coverage, threshold"
      " FROM verdict_batch WHERE cohort IS ?1 ORDER BY id DESC",
      error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, cohort);
  g_autoptr(GPtrArray) batches = g_ptr_array_new_with_free_func(record_free);
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, statement, &row, "listing verdicts", error)) && row) {
    DemurVerdictRecord *batch = g_new0(DemurVerdictRecord, 1);
    batch->batch = sqlite3_column_int64(statement, 0);
    batch->selector = demur_store_text(statement, 1);
    batch->selector_digest = demur_store_text(statement, 2);
    batch->cohort = demur_store_text(statement, 3);
    batch->model = demur_store_text(statement, 4);
    batch->created = demur_store_text(statement, 5);
    batch->coverage = demur_store_double(statement, 6);
    batch->threshold = demur_store_double(statement, 7);
    g_ptr_array_add(batches, batch);
  }
  return ok ? g_steal_pointer(&batches) : NULL;
}

gboolean
demur_verdicts_each(DemurWorkspace *workspace, const char *cohort, DemurVerdictFunc func,
                    gpointer data, GError **error) {
  g_autoptr(GPtrArray) batches = list_batches(workspace, cohort, error);
  gboolean ok = batches != NULL, go_on = TRUE;
  for (guint i = 0; ok && go_on && i < batches->len; i++)
    ok = each_of_batch(workspace, batches->pdata[i], func, data, &go_on, error);
  return ok;
}
