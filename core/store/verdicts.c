#include "store/verdicts.h"

#include <math.h>
#include <string.h>

#include "store/bindings.h"
#include "store/connection.h"
#include "store/events.h"

/* A million verdicts in one transaction keep every other writer out for half a minute; as many as
 * these take a tenth of a second. */
#define VERDICTS_A_TRANSACTION 20000 /* under half a second of the lock */

/* Of a batch that was not taken back (store/verdict-undo.h): such a one is history alone. */
#define STANDS(batch) batch ".id NOT IN (SELECT batch_id FROM verdict_undo)"

/* The columns of both tables, in one place: what is freed, written, read and digested. */
typedef enum { TEXT, ADDED_TEXT, NUMBER, BOUND, FLAG, WORD, INTEGER } ColumnKind;

typedef struct {
  const char *name;
  ColumnKind kind;
  gsize offset;
  gboolean digested;
} Column;

#define COLUMN(member, kind, digested)                                                             \
  { #member, kind, G_STRUCT_OFFSET(DemurVerdictRecord, member), digested }
static const Column of_verdict[] = {
    COLUMN(scan_id, TEXT, TRUE),       COLUMN(patient_id, TEXT, TRUE),
    COLUMN(risk, NUMBER, TRUE),        COLUMN(risk_raw, NUMBER, TRUE),
    COLUMN(score, NUMBER, TRUE),       COLUMN(verdict, WORD, TRUE),
    COLUMN(risk_low, BOUND, TRUE),     COLUMN(risk_high, BOUND, TRUE),
    COLUMN(reasons, TEXT, TRUE),       COLUMN(lead, TEXT, TRUE),
    COLUMN(site, TEXT, TRUE),          COLUMN(images_digest, TEXT, TRUE),
    COLUMN(person_digest, TEXT, TRUE), COLUMN(score_digest, TEXT, TRUE),
    COLUMN(audit_digest, TEXT, TRUE),  COLUMN(chosen, FLAG, TRUE),
    COLUMN(event, INTEGER, TRUE),      COLUMN(digest, TEXT, FALSE),
    COLUMN(distance, BOUND, TRUE),     COLUMN(making, ADDED_TEXT, TRUE),
};
static const Column of_batch[] = {
    COLUMN(selector, TEXT, TRUE),       COLUMN(selector_digest, TEXT, TRUE),
    COLUMN(cohort, TEXT, TRUE),         COLUMN(model, TEXT, TRUE),
    COLUMN(created, TEXT, TRUE),        COLUMN(coverage, NUMBER, TRUE),
    COLUMN(threshold, NUMBER, TRUE),    COLUMN(threshold_digest, TEXT, TRUE),
    COLUMN(in_use_digest, TEXT, TRUE),  COLUMN(cohort_digest, TEXT, TRUE),
    COLUMN(horizon_years, BOUND, TRUE),
};
#undef COLUMN
#define N_VERDICT G_N_ELEMENTS(of_verdict)
#define N_BATCH G_N_ELEMENTS(of_batch)
#define MEMBER(type, record, column) (*(type *)G_STRUCT_MEMBER_P(record, (column)->offset))

static void
free_texts(DemurVerdictRecord *record, const Column *columns, size_t n) {
  for (size_t c = 0; c < n; c++)
    if (columns[c].kind == TEXT || columns[c].kind == ADDED_TEXT)
      g_free(MEMBER(char *, record, &columns[c]));
}

void
demur_verdict_record_free(DemurVerdictRecord *record) {
  if (record == NULL)
    return;
  free_texts(record, of_verdict, N_VERDICT);
  free_texts(record, of_batch, N_BATCH);
  g_free(record);
}

static void
record_free(gpointer record) {
  demur_verdict_record_free(record);
}

static void
digest_columns(const DemurVerdictRecord *record, const Column *columns, size_t n, GPtrArray *texts,
               GArray *numbers) {
  for (size_t c = 0; c < n; c++) {
    if (!columns[c].digested)
      continue;
    double number = 0.0;
    switch (columns[c].kind) {
    case ADDED_TEXT: /* not in digests of verdicts of before */
      if (MEMBER(char *, record, &columns[c]) == NULL)
        continue;
      g_ptr_array_add(texts, MEMBER(char *, record, &columns[c]));
      continue;
    case TEXT:
      g_ptr_array_add(texts, MEMBER(char *, record, &columns[c]));
      continue;
    case WORD:
      g_ptr_array_add(texts,
                      (gpointer)demur_verdict_name(MEMBER(DemurVerdict, record, &columns[c])));
      continue;
    case BOUND: /* not in digests of verdicts that have none, nor of those of before */
      number = MEMBER(double, record, &columns[c]);
      if (isnan(number))
        continue;
      break;
    case NUMBER:
      number = MEMBER(double, record, &columns[c]);
      break;
    case FLAG:
      number = (double)MEMBER(gboolean, record, &columns[c]);
      break;
    case INTEGER:
      number = (double)MEMBER(gint64, record, &columns[c]);
      break;
    }
    g_array_append_val(numbers, number);
  }
}

char *
demur_verdict_digest(const DemurVerdictRecord *record) {
  g_autoptr(GPtrArray) texts = g_ptr_array_sized_new(N_VERDICT + N_BATCH);
  g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(double));
  digest_columns(record, of_verdict, N_VERDICT, texts, numbers);
  digest_columns(record, of_batch, N_BATCH, texts, numbers);
  return demur_store_digest((const char *const *)texts->pdata, texts->len,
                            (const double *)(gpointer)numbers->data, numbers->len);
}

static void
bind_columns(DemurStatement *statement, int first, const DemurVerdictRecord *record,
             const Column *columns, size_t n) {
  for (size_t c = 0; c < n; c++) {
    const int at = first + (int)c;
    switch (columns[c].kind) {
    case TEXT:
    case ADDED_TEXT:
      demur_store_bind_text(statement, at, MEMBER(char *, record, &columns[c]));
      break;
    case WORD:
      demur_store_bind_text(statement, at,
                            demur_verdict_name(MEMBER(DemurVerdict, record, &columns[c])));
      break;
    case NUMBER:
    case BOUND:
      demur_store_bind_double(statement, at, MEMBER(double, record, &columns[c]));
      break;
    case FLAG:
      demur_store_bind_int(statement, at, MEMBER(gboolean, record, &columns[c]) ? 1 : 0);
      break;
    case INTEGER:
      demur_store_bind_int(statement, at, MEMBER(gint64, record, &columns[c]));
      break;
    }
  }
}

/* The table takes no other word; one that was written past it is no verdict that may be used. */
static DemurVerdict
verdict_at(DemurStatement *statement, int column) {
  DemurVerdict verdict = DEMUR_VERDICT_FAILED;
  return demur_verdict_from_name(demur_store_peek(statement, column), &verdict)
             ? verdict
             : DEMUR_VERDICT_FAILED;
}

/* borrow: texts are the statement's, good until its next step. */
static void
read_columns(DemurStatement *statement, int first, DemurVerdictRecord *record,
             const Column *columns, size_t n, gboolean borrow) {
  for (size_t c = 0; c < n; c++) {
    const int at = first + (int)c;
    switch (columns[c].kind) {
    case TEXT:
    case ADDED_TEXT:
      MEMBER(char *, record, &columns[c]) =
          borrow ? (char *)demur_store_peek(statement, at) : demur_store_text(statement, at);
      break;
    case WORD:
      MEMBER(DemurVerdict, record, &columns[c]) = verdict_at(statement, at);
      break;
    case NUMBER:
    case BOUND:
      MEMBER(double, record, &columns[c]) = demur_store_double(statement, at);
      break;
    case FLAG:
      /* As it stands: neither 0 nor 1 was never written, and digests to something else. */
      MEMBER(gboolean, record, &columns[c]) = (int)demur_store_int(statement, at);
      break;
    case INTEGER:
      MEMBER(gint64, record, &columns[c]) = demur_store_int(statement, at);
      break;
    }
  }
}

/* "v.scan_id, v.patient_id, .."; prefix "" or "v.". */
static void
append_names(GString *sql, const char *prefix, const Column *columns, size_t n) {
  for (size_t c = 0; c < n; c++)
    g_string_append_printf(sql, "%s%s%s", c > 0 ? ", " : "", prefix, columns[c].name);
}

/* A constant text, as the store wants it. end: "", or that its number is told, which costs a little. */
static const char *
insert_sql(const char *table, const char *first, const Column *columns, size_t n, const char *end) {
  g_autoptr(GString) sql = g_string_new(NULL);
  g_string_append_printf(sql, "INSERT INTO %s (%s%s", table, first, *first != '\0' ? ", " : "");
  append_names(sql, "", columns, n);
  g_string_append(sql, ") VALUES (");
  for (size_t c = 0; c < n + (*first != '\0' ? 1 : 0); c++)
    g_string_append(sql, c > 0 ? ", ?" : "?");
  g_string_append_printf(sql, ")%s", end);
  return g_intern_string(sql->str);
}

static const char *
select_sql(const char *where) {
  g_autoptr(GString) sql = g_string_new("SELECT v.id, v.batch_id, ");
  append_names(sql, "v.", of_verdict, N_VERDICT);
  g_string_append(sql, ", ");
  append_names(sql, "b.", of_batch, N_BATCH);
  g_string_append_printf(sql, " FROM verdict v JOIN verdict_batch b ON b.id = v.batch_id %s",
                         where);
  return g_intern_string(sql->str);
}

/* What all verdicts of a batch have in common, borrowed. */
static DemurVerdictRecord
record_of_batch(const DemurVerdictBatch *batch) {
  return (DemurVerdictRecord){.selector = (char *)batch->selector,
                              .selector_digest = (char *)batch->selector_digest,
                              .cohort = (char *)batch->cohort,
                              .model = (char *)batch->model,
                              .created = (char *)batch->created,
                              .coverage = batch->coverage,
                              .threshold = batch->threshold,
                              .horizon_years =
                                  batch->horizon_years > 0.0 ? batch->horizon_years : (double)NAN,
                              .threshold_digest = (char *)batch->threshold_digest,
                              .in_use_digest = (char *)batch->in_use_digest,
                              .cohort_digest = (char *)batch->cohort_digest};
}

static gboolean
insert_batch(DemurWorkspace *workspace, const DemurVerdictBatch *batch, gint64 *id,
             GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace, insert_sql("verdict_batch", "", of_batch, N_BATCH, " RETURNING id"), error);
  if (statement == NULL)
    return FALSE;
  const DemurVerdictRecord record = record_of_batch(batch);
  bind_columns(statement, 1, &record, of_batch, N_BATCH);
  if (!demur_store_run(workspace, statement, "saving verdicts", error))
    return FALSE;
  *id = demur_store_inserted_id(workspace);
  return TRUE;
}

/* told: sql gives its number (demur_store_inserted_id); else nobody waits for it. */
static gboolean
insert(DemurWorkspace *workspace, const char *sql, gboolean told, gint64 batch,
       const DemurVerdictRecord *record, GError **error) {
  DemurStatement *statement = demur_store_statement(workspace, sql, error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_int(statement, 1, batch);
  bind_columns(statement, 2, record, of_verdict, N_VERDICT);
  return (told ? demur_store_run : demur_store_run_later)(workspace, statement, "saving verdicts",
                                                          error);
}

/* A record as it is kept: with what the batch has, its event and its digest (owned by the caller).
 */
static DemurVerdictRecord
complete(const DemurVerdictBatch *batch, const DemurVerdictRecord *record, gint64 event) {
  DemurVerdictRecord whole = record_of_batch(batch);
  for (size_t c = 0; c < N_VERDICT; c++) {
    const Column *column = &of_verdict[c];
    static const gsize sizes[] = {
        [TEXT] = sizeof(char *),   [ADDED_TEXT] = sizeof(char *), [NUMBER] = sizeof(double),
        [BOUND] = sizeof(double),  [FLAG] = sizeof(gboolean),     [WORD] = sizeof(DemurVerdict),
        [INTEGER] = sizeof(gint64)};
    const gsize size = sizes[column->kind];
    memcpy(G_STRUCT_MEMBER_P(&whole, column->offset), G_STRUCT_MEMBER_P(record, column->offset),
           size);
  }
  if (whole.reasons == NULL)
    whole.reasons = (char *)"[]";
  whole.event = event;
  whole.chosen = whole.chosen ? TRUE : FALSE;
  whole.digest = demur_verdict_digest(&whole);
  return whole;
}

/* One transaction's worth: the event tells of all of them by the digest of their digests, and which
 * numbers they and their batch have, so that one that is gone, or of another batch, can be named. */
static gboolean
insert_some(DemurWorkspace *workspace, const DemurVerdictBatch *batch, gint64 id,
            const DemurVerdictRecord *records, size_t n, GError **error) {
  const gint64 event = demur_store_next_event(workspace, error);
  if (event < 0)
    return FALSE;
  g_autoptr(GPtrArray) digests = g_ptr_array_new_full((guint)n, g_free);
  gboolean ok = TRUE;
  gint64 first = 0, last = 0;
  const char *untold = insert_sql("verdict", "batch_id", of_verdict, N_VERDICT, ""),
             *told = insert_sql("verdict", "batch_id", of_verdict, N_VERDICT, " RETURNING id");
  for (size_t i = 0; ok && i < n; i++) {
    const DemurVerdictRecord whole = complete(batch, &records[i], event);
    g_ptr_array_add(digests, whole.digest);
    const gboolean is_end = i == 0 || i + 1 == n;
    ok = insert(workspace, is_end ? told : untold, is_end, id, &whole, error);
    last = demur_store_inserted_id(workspace);
    first = i == 0 ? last : first;
  }
  g_autofree char *details =
      g_strdup_printf("{\"first\": %" G_GINT64_FORMAT ", \"last\": %" G_GINT64_FORMAT
                      ", \"batch\": %" G_GINT64_FORMAT "}",
                      first, last, id);
  g_autofree char *key = g_strdup_printf("verdicts:%" G_GINT64_FORMAT, event);
  g_autofree char *digest =
      demur_store_digest((const char *const *)digests->pdata, digests->len, NULL, 0);
  return ok && demur_events_add(workspace, DEMUR_EVENT_ASSESSMENT, key, digest, details,
                                batch->created, error);
}

static gboolean
are_of_same_scans(const DemurVerdictShare *shares, size_t n_shares) {
  for (size_t s = 1; s < n_shares; s++) {
    if (shares[s].n_records != shares[0].n_records)
      return FALSE;
    for (size_t i = 0; i < shares[0].n_records; i++)
      if (g_strcmp0(shares[s].records[i].scan_id, shares[0].records[i].scan_id) != 0)
        return FALSE;
  }
  return TRUE;
}

/* The records [from, to) of each share, as far as it has them. */
static gboolean
insert_piece(DemurWorkspace *workspace, const DemurVerdictShare *shares, size_t n_shares,
             gint64 *ids, size_t from, size_t to, GError **error) {
  gboolean ok = TRUE;
  for (size_t s = 0; ok && s < n_shares; s++) {
    const DemurVerdictShare *share = &shares[s];
    const size_t end = MIN(to, share->n_records);
    if (from < end)
      ok = (from > 0 || insert_batch(workspace, &share->batch, &ids[s], error)) &&
           insert_some(workspace, &share->batch, ids[s], share->records + from, end - from, error);
  }
  return ok;
}

gboolean
demur_verdicts_save_together(DemurWorkspace *workspace, const DemurVerdictShare *shares,
                             size_t n_shares, GError **error) {
  size_t n = 0;
  for (size_t s = 0; s < n_shares; s++)
    n = MAX(n, shares[s].n_records);
  if (n == 0)
    return TRUE;
  const size_t piece =
      are_of_same_scans(shares, n_shares) ? MAX(VERDICTS_A_TRANSACTION / n_shares, 1) : n;
  g_autofree gint64 *ids = g_new0(gint64, n_shares);
  for (size_t i = 0; i < n; i += piece) {
    if (i > 0)
      demur_store_let_others_write();
    if (!demur_workspace_begin(workspace, error))
      return FALSE;
    const gboolean ok = insert_piece(workspace, shares, n_shares, ids, i, MIN(i + piece, n), error);
    if (!demur_store_end(workspace, ok, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
demur_verdicts_save(DemurWorkspace *workspace, const DemurVerdictBatch *batch,
                    const DemurVerdictRecord *records, size_t n_records, GError **error) {
  const DemurVerdictShare share = {*batch, records, n_records};
  return demur_verdicts_save_together(workspace, &share, 1, error);
}

static DemurVerdictRecord *
read_verdict(DemurStatement *statement) {
  DemurVerdictRecord *record = g_new0(DemurVerdictRecord, 1);
  record->id = demur_store_int(statement, 0);
  record->batch = demur_store_int(statement, 1);
  read_columns(statement, 2, record, of_verdict, N_VERDICT, FALSE);
  read_columns(statement, 2 + (int)N_VERDICT, record, of_batch, N_BATCH, FALSE);
  return record;
}

static void
free_bindings(gpointer bindings) {
  demur_bindings_free(bindings);
}

/* Says of each whether it still holds, and takes those out whose series is gone, where only what is
 * there is wanted. */
static gboolean
judge(DemurWorkspace *workspace, GPtrArray *list, gboolean there, GError **error) {
  g_autoptr(GHashTable) by_cohort =
      g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_bindings);
  for (guint i = list->len; i-- > 0;) {
    DemurVerdictRecord *record = list->pdata[i];
    const char *key = record->cohort != NULL ? record->cohort : "";
    DemurBindings *bindings = g_hash_table_lookup(by_cohort, key);
    if (bindings == NULL) {
      if ((bindings = demur_bindings_load(workspace, record->cohort, error)) == NULL)
        return FALSE;
      g_hash_table_insert(by_cohort, g_strdup(key), bindings);
    }
    record->outdated = demur_bindings_judge(bindings, record);
    if (there && !demur_bindings_has_scan(bindings, record->scan_id))
      g_ptr_array_remove_index(list, i);
  }
  return TRUE;
}

/* sql with its one or two texts, NULL bound as NULL; verdicts and bindings of one moment. */
static GPtrArray *
query(DemurWorkspace *workspace, const char *sql, int n_texts, const char *first,
      const char *second, gboolean there, GError **error) {
  if (!demur_workspace_begin_read(workspace, error))
    return NULL;
  g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(record_free);
  DemurStatement *statement = demur_store_statement(workspace, sql, error);
  gboolean ok = statement != NULL, row;
  if (ok) {
    demur_store_bind_text(statement, 1, first);
    if (n_texts > 1)
      demur_store_bind_text(statement, 2, second);
  }
  while (ok && (ok = demur_store_step(workspace, statement, &row, "listing verdicts", error)) &&
         row)
    g_ptr_array_add(list, read_verdict(statement));
  ok = ok && judge(workspace, list, there, error);
  demur_workspace_end_read(workspace);
  return ok ? g_steal_pointer(&list) : NULL;
}

GPtrArray *
demur_verdicts_of_scan(DemurWorkspace *workspace, const char *cohort, const char *scan_id,
                       GError **error) {
  return query(workspace,
               select_sql("WHERE v.scan_id = ?1 AND b.cohort IS NOT DISTINCT FROM ?2 AND " STANDS(
                   "b") " ORDER BY v.id DESC"),
               2, scan_id, cohort, FALSE, error);
}

GPtrArray *
demur_verdicts_of_selector(DemurWorkspace *workspace, const char *selector, gboolean latest_only,
                           GError **error) {
  if (!latest_only)
    return query(workspace,
                 select_sql("WHERE b.selector = ?1 AND " STANDS("b") " ORDER BY v.id DESC"), 1,
                 selector, NULL, FALSE, error);
  return query(workspace,
               select_sql("WHERE v.id IN (SELECT max(w.id) FROM verdict w JOIN verdict_batch c"
                          " ON c.id = w.batch_id WHERE c.selector = ?1 AND " STANDS(
                              "c") " GROUP BY c.cohort, w.scan_id) ORDER BY v.id DESC"),
               1, selector, NULL, TRUE, error);
}

GPtrArray *
demur_verdicts_latest(DemurWorkspace *workspace, const char *cohort, GError **error) {
  return query(
      workspace,
      select_sql("WHERE v.id IN (SELECT max(w.id) FROM verdict w JOIN verdict_batch c"
                 " ON c.id = w.batch_id WHERE c.cohort IS NOT DISTINCT FROM ?1 AND " STANDS(
                     "c") " GROUP BY w.scan_id)"
                          " ORDER BY v.id DESC"),
      1, cohort, NULL, TRUE, error);
}

/* Their ids are neighbours: so the table is read in its own order, and no index but for the two
 * ends. */
static const char *
batch_sql(void) {
  g_autoptr(GString) sql = g_string_new("SELECT id, ");
  append_names(sql, "", of_verdict, N_VERDICT);
  g_string_append(sql, " FROM verdict WHERE id BETWEEN"
                       " (SELECT min(id) FROM verdict WHERE batch_id = ?1) AND"
                       " (SELECT max(id) FROM verdict WHERE batch_id = ?1) AND +batch_id = ?1"
                       " ORDER BY id DESC");
  return g_intern_string(sql->str);
}

/* The verdicts of one batch, newest first. */
static gboolean
each_of_batch(DemurWorkspace *workspace, const DemurBindings *bindings,
              const DemurVerdictRecord *batch, DemurVerdictFunc func, gpointer data,
              gboolean *go_on, GError **error) {
  DemurStatement *statement = demur_store_statement(workspace, batch_sql(), error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_int(statement, 1, batch->batch);
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, statement, &row, "listing verdicts", error)) && row) {
    DemurVerdictRecord record = *batch;
    record.id = demur_store_int(statement, 0);
    read_columns(statement, 1, &record, of_verdict, N_VERDICT, TRUE);
    record.outdated = demur_bindings_judge(bindings, &record);
    *go_on = func(&record, data);
    if (!*go_on) {
      demur_store_reset(statement);
      break;
    }
  }
  return ok;
}

static gpointer
read_batch(DemurStatement *statement) {
  DemurVerdictRecord *batch = g_new0(DemurVerdictRecord, 1);
  batch->batch = demur_store_int(statement, 0);
  read_columns(statement, 1, batch, of_batch, N_BATCH, FALSE);
  return batch;
}

static GPtrArray *
list_batches(DemurWorkspace *workspace, const char *cohort, GError **error) {
  g_autoptr(GString) sql = g_string_new("SELECT id, ");
  append_names(sql, "", of_batch, N_BATCH);
  g_string_append(sql, " FROM verdict_batch WHERE cohort IS NOT DISTINCT FROM ?1 AND " STANDS(
                           "verdict_batch") " ORDER BY id DESC");
  DemurStatement *statement = demur_store_statement(workspace, g_intern_string(sql->str), error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, cohort);
  return demur_store_list(workspace, statement, read_batch, record_free, "listing verdicts", error);
}

gboolean
demur_verdicts_each(DemurWorkspace *workspace, const char *cohort, DemurVerdictFunc func,
                    gpointer data, GError **error) {
  if (!demur_workspace_begin_read(workspace, error))
    return FALSE;
  g_autoptr(GPtrArray) batches = list_batches(workspace, cohort, error);
  g_autoptr(DemurBindings) bindings =
      batches != NULL ? demur_bindings_load(workspace, cohort, error) : NULL;
  gboolean ok = bindings != NULL, go_on = TRUE;
  for (guint i = 0; ok && go_on && i < batches->len; i++)
    ok = each_of_batch(workspace, bindings, batches->pdata[i], func, data, &go_on, error);
  demur_workspace_end_read(workspace);
  return ok;
}

gboolean
demur_verdicts_any(DemurWorkspace *workspace, const char *cohort, gboolean *any, GError **error) {
  const gint64 n = demur_store_count(
      workspace,
      "SELECT count(*) FROM (SELECT 1 FROM verdict_batch b WHERE b.cohort IS NOT DISTINCT FROM ?1"
      " AND " STANDS(
          "b") " AND EXISTS (SELECT 1 FROM verdict v WHERE v.batch_id = b.id) LIMIT 1) x",
      cohort, NULL, error);
  *any = n > 0;
  return n >= 0;
}

/* The rows of a statement over verdicts and their batches, one after the other. bindings NULL: not
 * judged; else what is of no scan that is there is left out. */
static gboolean
each_row(DemurWorkspace *workspace, DemurStatement *statement, const DemurBindings *bindings,
         DemurVerdictFunc func, gpointer data, GError **error) {
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, statement, &row, "reading verdicts", error)) && row) {
    DemurVerdictRecord record = {.id = demur_store_int(statement, 0),
                                 .batch = demur_store_int(statement, 1)};
    read_columns(statement, 2, &record, of_verdict, N_VERDICT, TRUE);
    read_columns(statement, 2 + (int)N_VERDICT, &record, of_batch, N_BATCH, TRUE);
    if (bindings != NULL) {
      record.outdated = demur_bindings_judge(bindings, &record);
      if (!demur_bindings_has_scan(bindings, record.scan_id))
        continue;
    }
    if (!func(&record, data)) {
      demur_store_reset(statement);
      break;
    }
  }
  return ok;
}

gboolean
demur_verdicts_each_newest(DemurWorkspace *workspace, const char *cohort, const char *selector,
                           const char *scan_id, DemurVerdictFunc func, gpointer data,
                           GError **error) {
  if (!demur_workspace_begin_read(workspace, error))
    return FALSE;
  DemurBindings *bindings = demur_bindings_load(workspace, cohort, error);
  DemurStatement *statement =
      bindings != NULL
          ? demur_store_statement(
                workspace,
                select_sql(
                    "WHERE v.id IN (SELECT max(w.id) FROM verdict w JOIN verdict_batch c"
                    " ON c.id = w.batch_id WHERE c.cohort IS NOT DISTINCT FROM ?1 AND " STANDS(
                        "c") " AND (?2 IS NULL OR c.selector = ?2)"
                             " AND (?3 IS NULL OR w.scan_id = ?3) GROUP BY w.scan_id)"
                             " ORDER BY v.id"),
                error)
          : NULL;
  gboolean ok = statement != NULL;
  if (ok) {
    demur_store_bind_text(statement, 1, cohort);
    demur_store_bind_text(statement, 2, selector);
    demur_store_bind_text(statement, 3, scan_id);
    ok = each_row(workspace, statement, bindings, func, data, error);
  }
  demur_bindings_free(bindings);
  demur_workspace_end_read(workspace);
  return ok;
}

gboolean
demur_verdicts_walk(DemurWorkspace *workspace, DemurVerdictFunc func, gpointer data,
                    GError **error) {
  DemurStatement *statement = demur_store_statement(workspace, select_sql("ORDER BY v.id"), error);
  return statement != NULL && each_row(workspace, statement, NULL, func, data, error);
}
