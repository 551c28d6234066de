#include "store/selectors.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/sha256.h"
#include "store/audits.h"
#include "store/connection.h"
#include "store/events.h"
#include "store/site-seen.h"
#include "store/selector-key.h"

gint64
demur_store_selector_id(DemurWorkspace *workspace, const char *name, GError **error) {
  const gint64 id = demur_store_count(
      workspace, "SELECT coalesce(max(id), 0) FROM selector WHERE name = ?", name, NULL, error);
  if (id == 0)
    demur_error_set(error, DEMUR_ERROR_NOT_FOUND,
                    "there is no selector %s; `demur selector list` names those there are", name);
  return MAX(id, 0);
}

void
demur_selector_record_free(DemurSelectorRecord *record) {
  if (record == NULL)
    return;
  g_free(record->name);
  g_free(record->document);
  g_free(record->digest);
  g_free(record->cohort);
  g_free(record->cohort_digest);
  g_free(record->model);
  g_free(record->history);
  g_free(record->validation);
  g_free(record->created);
  g_free(record->family);
  g_free(record);
}

void
demur_threshold_record_free(DemurThresholdRecord *record) {
  if (record == NULL)
    return;
  g_free(record->selector);
  g_free(record->cohort);
  g_free(record->split);
  g_free(record->cohort_digest);
  g_free(record->guarantee);
  g_free(record->digest);
  g_free(record->created);
  g_free(record);
}

static void
selector_free(gpointer record) {
  demur_selector_record_free(record);
}

static void
threshold_free(gpointer record) {
  demur_threshold_record_free(record);
}

static char *
sha256(const char *text) {
  return demur_sha256_of_text(text);
}

/* Runs a statement with up to two texts bound. */
static gboolean
run(DemurWorkspace *workspace, const char *sql, const char *first, const char *second,
    const char *doing, GError **error) {
  DemurStatement *statement = demur_store_statement(workspace, sql, error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_text(statement, 1, first);
  if (second != NULL)
    demur_store_bind_text(statement, 2, second);
  return demur_store_run(workspace, statement, doing, error);
}

/* FALSE with DEMUR_ERROR_NOT_FOUND where there is no such selector. */
static gboolean
require(DemurWorkspace *workspace, const char *name, GError **error) {
  const gint64 n = demur_store_count(workspace, "SELECT count(*) FROM selector WHERE name = ?",
                                     name, NULL, error);
  if (n != 0)
    return n > 0;
  g_autoptr(GPtrArray) list = demur_selectors_list(workspace, error);
  if (list == NULL)
    return FALSE;
  g_autoptr(GString) names = g_string_new(NULL);
  for (guint i = 0; i < list->len; i++)
    g_string_append_printf(names, "%s%s", i > 0 ? ", " : "",
                           ((DemurSelectorRecord *)list->pdata[i])->name);
  demur_error_set(error, DEMUR_ERROR_NOT_FOUND, "there is no selector %s; %s%s", name,
                  list->len > 0 ? N_("there are: ") : N_("there is none yet (demur train)"),
                  names->str);
  return FALSE;
}

static gboolean
insert(DemurWorkspace *workspace, const DemurSelectorRecord *record, GError **error) {
  g_autofree char *document = demur_store_document_keyed(workspace, record->document, error);
  if (document == NULL)
    return FALSE;
  DemurStatement *statement = demur_store_statement(
      workspace,
      "INSERT INTO selector (name, document, document_sha256, digest, cohort, cohort_digest, model,"
      " history, validation, simulated, created, horizon_years, family, keyed)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)",
      error);
  if (statement == NULL)
    return FALSE;
  g_autofree char *checksum = sha256(record->document);
  demur_store_bind_text(statement, 1, record->name);
  demur_store_bind_text(statement, 2, document);
  demur_store_bind_text(statement, 3, checksum);
  demur_store_bind_text(statement, 4, record->digest);
  demur_store_bind_text(statement, 5, record->cohort);
  demur_store_bind_text(statement, 6, record->cohort_digest);
  demur_store_bind_text(statement, 7, record->model);
  demur_store_bind_text(statement, 8, record->history);
  demur_store_bind_text(statement, 9, record->validation);
  demur_store_bind_int(statement, 10, record->simulated ? 1 : 0);
  demur_store_bind_text(statement, 11, record->created);
  demur_store_bind_double(statement, 12,
                          record->horizon_years > 0.0 ? record->horizon_years : (double)NAN);
  demur_store_bind_text(statement, 13, record->family);
  return demur_store_run(workspace, statement, "saving a selector", error);
}

char *
demur_threshold_key(const char *selector, double coverage) {
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  return g_strdup_printf("threshold:%s|%s", selector, demur_number_format(coverage, buffer));
}

/* The end of every row that a query names by its key. */
static gboolean
tell_rows_end(DemurWorkspace *workspace, const char *sql, const char *name, const char *created,
              GError **error) {
  DemurStatement *statement = demur_store_statement(workspace, sql, error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_text(statement, 1, name);
  g_auto(GStrv) keys = demur_store_list_texts(workspace, statement, "removing a selector", error);
  gboolean ok = keys != NULL;
  for (char **key = keys; ok && *key != NULL; key++)
    ok = demur_events_add(workspace, DEMUR_EVENT_REMOVAL, *key, NULL, NULL, created, error);
  return ok;
}

/* With a selector its thresholds, site audits and acceptance tests end; what these saw stays. */
static gboolean
tell_parts_end(DemurWorkspace *workspace, const char *name, const char *created, GError **error) {
  g_autoptr(GPtrArray) thresholds = demur_thresholds_list(workspace, name, NULL);
  g_autoptr(GPtrArray) audits = demur_audits_list(workspace, name, error);
  for (guint i = 0; thresholds != NULL && i < thresholds->len; i++) {
    g_autofree char *key =
        demur_threshold_key(name, ((DemurThresholdRecord *)thresholds->pdata[i])->coverage);
    if (!demur_events_add(workspace, DEMUR_EVENT_REMOVAL, key, NULL, NULL, created, error))
      return FALSE;
  }
  for (guint i = 0; audits != NULL && i < audits->len; i++) {
    g_autofree char *key = demur_audit_key(name, ((DemurAuditRecord *)audits->pdata[i])->site);
    if (!demur_events_add(workspace, DEMUR_EVENT_REMOVAL, key, NULL, NULL, created, error))
      return FALSE;
  }
  return audits != NULL && demur_site_seen_keep(workspace, name, created, error) &&
         tell_rows_end(workspace,
                       "SELECT 'audit-plan:' || s.name || '|' || p.site FROM site_audit_plan p"
                       " JOIN selector s ON s.id = p.selector_id WHERE s.name = ?",
                       name, created, error) &&
         tell_rows_end(workspace,
                       "SELECT 'acceptance:' || a.id FROM acceptance a JOIN acceptance_plan p"
                       " ON p.id = a.plan_id JOIN selector s ON s.id = p.selector_id"
                       " WHERE s.name = ?",
                       name, created, error) &&
         tell_rows_end(workspace,
                       "SELECT 'acceptance-plan:' || p.id FROM acceptance_plan p"
                       " JOIN selector s ON s.id = p.selector_id WHERE s.name = ?",
                       name, created, error);
}

static gboolean
tell_training(DemurWorkspace *workspace, const DemurSelectorRecord *record, GError **error) {
  g_autofree char *key = g_strconcat("selector:", record->name, NULL);
  return demur_events_add(workspace, DEMUR_EVENT_TRAINING, key, record->digest, NULL,
                          record->created, error);
}

/* What people made of a selector and ends with it. */
static const DemurStoreMade ends_with[] = {
    {"SELECT count(*) FROM threshold t JOIN selector s ON s.id = t.selector_id WHERE s.name = ?",
     N_("%" PRId64 " threshold"), N_("%" PRId64 " thresholds")},
    {"SELECT count(*) FROM site_audit a JOIN selector s ON s.id = a.selector_id WHERE s.name = ?",
     N_("%" PRId64 " site audit"), N_("%" PRId64 " site audits")},
    {"SELECT count(*) FROM acceptance_plan p JOIN selector s ON s.id = p.selector_id"
     " WHERE s.name = ?",
     N_("%" PRId64 " acceptance test"), N_("%" PRId64 " acceptance tests")}};

gboolean
demur_selectors_check_free(DemurWorkspace *workspace, const char *name,
                           DemurSelectorReplace replace, GError **error) {
  const gint64 taken = demur_store_count(workspace, "SELECT count(*) FROM selector WHERE name = ?",
                                         name, NULL, error);
  if (taken <= 0 || replace == DEMUR_SELECTOR_REPLACE_ALL)
    return taken >= 0;
  if (replace == DEMUR_SELECTOR_REPLACE_NONE) {
    demur_error_set(
        error, DEMUR_ERROR_EXISTS,
        "there is a selector %s already; choose another name, or ask for it to be replaced", name);
    return FALSE;
  }
  g_autoptr(GError) made = NULL;
  if (!demur_store_made(workspace, ends_with, G_N_ELEMENTS(ends_with), name, &made, error))
    return FALSE;
  if (made == NULL)
    return TRUE;
  demur_error_set(
      error, DEMUR_ERROR_STATE,
      "selector %s has %s, which would end with it, as would its verdicts; use --force to "
      "replace it all the same, or choose another name",
      name, made->message);
  demur_error_because(error, made);
  return FALSE;
}

gboolean
demur_selectors_save(DemurWorkspace *workspace, const DemurSelectorRecord *record,
                     DemurSelectorReplace replace, GError **error) {
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  const gboolean ok = demur_selectors_check_free(workspace, record->name, replace, error) &&
                      tell_parts_end(workspace, record->name, record->created, error) &&
                      run(workspace, "DELETE FROM selector WHERE name = ?", record->name, NULL,
                          "replacing a selector", error) &&
                      insert(workspace, record, error) && tell_training(workspace, record, error);
  return demur_store_end(workspace, ok, error);
}

gboolean
demur_selectors_save_all(DemurWorkspace *workspace, const DemurSelectorRecord *records, size_t n,
                         DemurSelectorReplace replace, GError **error) {
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  gboolean ok = TRUE;
  for (size_t i = 0; ok && i < n; i++)
    ok = demur_selectors_save(workspace, &records[i], replace, error);
  return demur_store_end(workspace, ok, error);
}

/* The row that statement stands on: name, digest, .. created, then the document where it is asked
 * for. */
#define SELECT_SELECTOR                                                                            \
  "SELECT name, digest, cohort, cohort_digest, model, history, validation, simulated, created,"    \
  " horizon_years, family"

static gpointer
read_selector(DemurStatement *statement) {
  DemurSelectorRecord *record = g_new0(DemurSelectorRecord, 1);
  record->name = demur_store_text(statement, 0);
  record->digest = demur_store_text(statement, 1);
  record->cohort = demur_store_text(statement, 2);
  record->cohort_digest = demur_store_text(statement, 3);
  record->model = demur_store_text(statement, 4);
  record->history = demur_store_text(statement, 5);
  record->validation = demur_store_text(statement, 6);
  record->simulated = demur_store_int(statement, 7) != 0;
  record->created = demur_store_text(statement, 8);
  record->horizon_years = demur_store_number(statement, 9); /* 0 of NULL */
  record->family = demur_store_text(statement, 10);
  return record;
}

DemurSelectorRecord *
demur_selectors_load(DemurWorkspace *workspace, const char *name, GError **error) {
  if (!require(workspace, name, error))
    return NULL;
  DemurStatement *statement = demur_store_statement(
      workspace, SELECT_SELECTOR ", document, document_sha256, keyed FROM selector WHERE name = ?",
      error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, name);
  gboolean row;
  if (!demur_store_step(workspace, statement, &row, "reading a selector", error))
    return NULL;
  if (!row) {
    demur_error_set(error, DEMUR_ERROR_NOT_FOUND, "there is no selector %s", name);
    return NULL;
  }
  g_autoptr(DemurSelectorRecord) record = read_selector(statement);
  record->document = demur_store_text(statement, 11);
  g_autofree char *kept = demur_store_text(statement, 12);
  const gboolean keyed = demur_store_int(statement, 13) != 0;
  demur_store_reset(statement);
  if (keyed && !demur_store_document_unkey(workspace, record->document, error))
    return NULL;
  g_autofree char *now = sha256(record->document);
  if (strcmp(kept, now) != 0) {
    demur_error_set(error, DEMUR_ERROR_STORE,
                    "selector %s: its document is not what was saved; bring back a copy of the "
                    "workspace, or train it again",
                    name);
    return NULL;
  }
  return g_steal_pointer(&record);
}

/* What stands beside the document, and its row; by the index of the lists. NULL without error: there is none. */
static DemurSelectorRecord *
load_beside(DemurWorkspace *workspace, const char *name, gint64 *row_id, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace, SELECT_SELECTOR ", id FROM selector WHERE name || '' = ?", error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, name);
  gboolean row;
  if (!demur_store_step(workspace, statement, &row, "reading a selector", error) || !row)
    return NULL;
  DemurSelectorRecord *record = read_selector(statement);
  *row_id = demur_store_int(statement, 11);
  demur_store_reset(statement);
  return record;
}

/* The selector whose document has the digest that stands beside it; NULL where it is not so, or can't be read. */
static DemurSelector *
read_sealed(DemurWorkspace *workspace, const DemurSelectorRecord *beside, gint64 row,
            const char *title) {
  gsize length;
  DEMUR_AUTO_ALIGNED char *document = demur_store_read_document(workspace, row, &length);
  if (document == NULL || memchr(document, '\0', length) != NULL ||
      !demur_store_document_unkey(workspace, document, NULL) ||
      !demur_selector_is_document(document, length, beside->digest))
    return NULL;
  g_autoptr(DemurSelector) selector = demur_selector_from_document(document, length, title, NULL);
  /* One that names its digest twice is left to the whole check. */
  return selector != NULL && strcmp(demur_selector_digest(selector), beside->digest) == 0
             ? g_steal_pointer(&selector)
             : NULL;
}

DemurSelector *
demur_selectors_read(DemurWorkspace *workspace, const char *name, const char *title,
                     DemurSelectorRecord **record, GError **error) {
  gint64 row;
  g_autoptr(DemurSelectorRecord) beside = load_beside(workspace, name, &row, NULL);
  DemurSelector *selector = beside != NULL ? read_sealed(workspace, beside, row, title) : NULL;
  if (selector == NULL) { /* why, or one of before the keys */
    g_autoptr(DemurSelectorRecord) loaded = demur_selectors_load(workspace, name, error);
    selector =
        loaded != NULL ? demur_selector_from_kept_json(loaded->document, title, error) : NULL;
    if (loaded != NULL)
      g_clear_pointer(&loaded->document, g_free);
    g_clear_pointer(&beside, demur_selector_record_free);
    beside = g_steal_pointer(&loaded);
  }
  if (selector != NULL && record != NULL)
    *record = g_steal_pointer(&beside);
  return selector;
}

GPtrArray *
demur_selectors_list(DemurWorkspace *workspace, GError **error) {
  DemurStatement *statement =
      demur_store_statement(workspace, SELECT_SELECTOR " FROM selector ORDER BY name", error);
  if (statement == NULL)
    return NULL;
  return demur_store_list(workspace, statement, read_selector, selector_free, "listing selectors",
                          error);
}

gboolean
demur_selectors_outcome(DemurWorkspace *workspace, const char *name, char **outcome,
                        GError **error) {
  *outcome = NULL;
  DemurStatement *statement = demur_store_dialect(workspace, DEMUR_DIALECT_OUTCOME, error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_text(statement, 1, name);
  gboolean row;
  if (!demur_store_step(workspace, statement, &row, "reading a selector", error))
    return FALSE;
  if (row) {
    *outcome = demur_store_text(statement, 0);
    demur_store_reset(statement);
  }
  return TRUE;
}

/* The selector's digest, owned; NULL with error. By the index of the lists, which holds it: in the row it lies behind the
 * document, all of which SQLite would go through. The index of names alone would be taken for a plain name. */
static char *
digest_of(DemurWorkspace *workspace, const char *selector, GError **error) {
  DemurStatement *statement =
      demur_store_statement(workspace, "SELECT digest FROM selector WHERE name || '' = ?", error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, selector);
  gboolean row;
  if (!demur_store_step(workspace, statement, &row, "reading a selector", error))
    return NULL;
  char *digest = row ? demur_store_text(statement, 0) : NULL;
  if (row)
    demur_store_reset(statement);
  else
    demur_error_set(error, DEMUR_ERROR_NOT_FOUND, "there is no selector %s", selector);
  return digest;
}

gboolean
demur_selectors_set_validation(DemurWorkspace *workspace, const char *name, const char *validation,
                               GError **error) {
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  g_autofree char *digest = NULL, *now = demur_store_now(workspace);
  g_autofree char *key = g_strconcat("selector:", name, NULL);
  const gboolean ok = require(workspace, name, error) &&
                      (digest = digest_of(workspace, name, error)) != NULL &&
                      run(workspace, "UPDATE selector SET validation = ?1 WHERE name = ?2",
                          validation, name, "saving a validation", error) &&
                      demur_events_add(workspace, DEMUR_EVENT_TRAINING, key, digest,
                                       "{\"validation\": true}", now, error);
  return demur_store_end(workspace, ok, error);
}

/* What keeps a selector from being removed unasked: thresholds are a part of it. */
static const DemurStoreMade kept_from[] = {
    {"SELECT count(*) FROM verdict v JOIN verdict_batch b ON b.id = v.batch_id WHERE b.selector = ?",
     N_("%" PRId64 " verdict"), N_("%" PRId64 " verdicts")},
    {"SELECT count(*) FROM site_audit a JOIN selector s ON s.id = a.selector_id WHERE s.name = ?",
     N_("%" PRId64 " site audit"), N_("%" PRId64 " site audits")},
    {"SELECT count(*) FROM acceptance_plan p JOIN selector s ON s.id = p.selector_id"
     " WHERE s.name = ?",
     N_("%" PRId64 " acceptance test"), N_("%" PRId64 " acceptance tests")},
    {"SELECT count(*) FROM watch WHERE selector = ?", N_("%" PRId64 " watch"),
     N_("%" PRId64 " watches")}};

gboolean
demur_selectors_remove(DemurWorkspace *workspace, const char *name, gboolean force,
                       GError **error) {
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  gboolean ok = require(workspace, name, error);
  if (ok && !force) {
    g_autoptr(GError) made = NULL;
    ok = demur_store_made(workspace, kept_from, G_N_ELEMENTS(kept_from), name, &made, error) &&
         made == NULL;
    if (made != NULL) {
      demur_error_set(
          error, DEMUR_ERROR_STATE,
          "of selector %s there are %s; use --force to remove it all the same: verdicts stay "
          "and keep its name and digest, all else ends with it",
          name, made->message);
      demur_error_because(error, made);
    }
  }
  g_autofree char *now = demur_store_now(workspace);
  g_autofree char *key = g_strconcat("selector:", name, NULL);
  ok = ok && tell_parts_end(workspace, name, now, error) &&
       run(workspace, "DELETE FROM selector WHERE name = ?", name, NULL, "removing a selector",
           error) &&
       demur_events_add(workspace, DEMUR_EVENT_REMOVAL, key, NULL, NULL, now, error);
  return demur_store_end(workspace, ok, error);
}

gboolean
demur_selectors_remove_all(DemurWorkspace *workspace, const char *const *names, size_t n,
                           gboolean force, GError **error) {
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  gboolean ok = TRUE;
  for (size_t i = 0; ok && i < n; i++)
    ok = demur_selectors_remove(workspace, names[i], force, error);
  return demur_store_end(workspace, ok, error);
}

/* Of everything a threshold says, and of the selector it belongs to. Owned. */
static char *
threshold_digest(const DemurThresholdRecord *record, const char *selector_digest) {
  DemurSha256 sha;
  demur_sha256_init(&sha);
  const double numbers[] = {record->coverage, record->threshold, record->realised,
                            (double)record->n_scans, (double)record->n_patients};
  const char *const texts[] = {selector_digest,       record->cohort,    record->split,
                               record->cohort_digest, record->guarantee, record->created};
  demur_sha256_add_bytes(&sha, numbers, G_N_ELEMENTS(numbers) * sizeof(double));
  for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
    demur_sha256_add_text(&sha, texts[i]);
  return demur_sha256_finish_hex(&sha);
}

gboolean
demur_thresholds_save(DemurWorkspace *workspace, DemurThresholdRecord *record, GError **error) {
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  gboolean ok = require(workspace, record->selector, error);
  g_autofree char *selector_digest = ok ? digest_of(workspace, record->selector, error) : NULL;
  ok = selector_digest != NULL;
  g_autofree char *digest = ok ? threshold_digest(record, selector_digest) : NULL;
  DemurStatement *statement = NULL;
  if (ok) {
    /* One of the same coverage is replaced, and has the next number. */
    statement = demur_store_statement(
        workspace,
        "INSERT INTO threshold (selector_id, coverage, threshold, realised, n_scans,"
        " n_patients, cohort, split, cohort_digest, guarantee, created, digest)"
        " SELECT id, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12 FROM selector WHERE name = ?1"
        " ON CONFLICT (selector_id, coverage) DO UPDATE SET sequence = excluded.sequence,"
        " threshold = excluded.threshold, realised = excluded.realised,"
        " n_scans = excluded.n_scans, n_patients = excluded.n_patients, cohort = excluded.cohort,"
        " split = excluded.split, cohort_digest = excluded.cohort_digest,"
        " guarantee = excluded.guarantee, created = excluded.created, digest = excluded.digest"
        " RETURNING sequence",
        error);
    ok = statement != NULL;
  }
  if (ok) {
    demur_store_bind_text(statement, 1, record->selector);
    demur_store_bind_double(statement, 2, record->coverage);
    demur_store_bind_double(statement, 3, record->threshold);
    demur_store_bind_double(statement, 4, record->realised);
    demur_store_bind_int(statement, 5, (gint64)record->n_scans);
    demur_store_bind_int(statement, 6, (gint64)record->n_patients);
    demur_store_bind_text(statement, 7, record->cohort);
    demur_store_bind_text(statement, 8, record->split);
    demur_store_bind_text(statement, 9, record->cohort_digest);
    demur_store_bind_text(statement, 10, record->guarantee);
    demur_store_bind_text(statement, 11, record->created);
    demur_store_bind_text(statement, 12, digest);
    ok = demur_store_run(workspace, statement, "saving a threshold", error);
  }
  if (ok)
    record->sequence = demur_store_inserted_id(workspace);
  g_autofree char *key = demur_threshold_key(record->selector, record->coverage);
  ok = ok && demur_events_add(workspace, DEMUR_EVENT_THRESHOLD, key, digest, NULL, record->created,
                              error);
  return demur_store_end(workspace, ok, error);
}

static DemurThresholdRecord *
read_threshold(DemurStatement *statement) {
  DemurThresholdRecord *record = g_new0(DemurThresholdRecord, 1);
  record->sequence = demur_store_int(statement, 0);
  record->selector = demur_store_text(statement, 1);
  record->coverage = demur_store_double(statement, 2);
  record->threshold = demur_store_double(statement, 3);
  record->realised = demur_store_double(statement, 4);
  record->n_scans = (size_t)demur_store_int(statement, 5);
  record->n_patients = (size_t)demur_store_int(statement, 6);
  record->cohort = demur_store_text(statement, 7);
  record->split = demur_store_text(statement, 8);
  record->cohort_digest = demur_store_text(statement, 9);
  record->guarantee = demur_store_text(statement, 10);
  record->created = demur_store_text(statement, 11);
  return record;
}

/* Whether the record is what was saved; one of before (kept NULL) can't be told. */
static gboolean
check_threshold(const DemurThresholdRecord *record, const char *selector_digest, const char *kept,
                GError **error) {
  g_autofree char *now = threshold_digest(record, selector_digest);
  if (kept == NULL || strcmp(kept, now) == 0)
    return TRUE;
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  demur_error_set(
      error, DEMUR_ERROR_STORE,
      "selector %s: its threshold for coverage %s is not what was saved; tune it again for "
      "that coverage (demur tune), or bring back a copy of the workspace",
      record->selector, demur_number_format(record->coverage, buffer));
  return FALSE;
}

GPtrArray *
demur_thresholds_list(DemurWorkspace *workspace, const char *selector, GError **error) {
  if (!require(workspace, selector, error))
    return NULL;
  g_autofree char *selector_digest = digest_of(workspace, selector, error);
  if (selector_digest == NULL)
    return NULL;
  DemurStatement *statement = demur_store_statement(
      workspace,
      "SELECT t.sequence, s.name, t.coverage, t.threshold, t.realised, t.n_scans, t.n_patients,"
      " t.cohort, t.split, t.cohort_digest, t.guarantee, t.created, t.digest"
      " FROM threshold t JOIN selector s ON s.id = t.selector_id WHERE s.name = ?"
      " ORDER BY t.sequence",
      error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, selector);
  g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(threshold_free);
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, statement, &row, "listing thresholds", error)) && row) {
    DemurThresholdRecord *record = read_threshold(statement);
    g_ptr_array_add(list, record);
    g_autofree char *kept = demur_store_text(statement, 12);
    record->checked = kept != NULL;
    record->digest = g_strdup(kept);
    if (!check_threshold(record, selector_digest, kept, error)) {
      demur_store_reset(statement);
      return NULL;
    }
  }
  return ok ? g_steal_pointer(&list) : NULL;
}

/* Takes element i out of list, which is then without it. */
static DemurThresholdRecord *
steal(GPtrArray *list, guint i) {
  return g_ptr_array_steal_index(list, i);
}

gboolean
demur_thresholds_current(DemurWorkspace *workspace, const char *selector,
                         DemurThresholdRecord **record, GError **error) {
  *record = NULL;
  g_autoptr(GPtrArray) list = demur_thresholds_list(workspace, selector, error);
  if (list == NULL)
    return FALSE;
  if (list->len > 0)
    *record = steal(list, list->len - 1);
  return TRUE;
}

DemurThresholdRecord *
demur_thresholds_find(DemurWorkspace *workspace, const char *selector, double coverage,
                      GError **error) {
  g_autoptr(GPtrArray) list = demur_thresholds_list(workspace, selector, error);
  if (list == NULL)
    return NULL;
  g_autoptr(GString) coverages = g_string_new(NULL);
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  for (guint i = 0; i < list->len; i++) {
    const DemurThresholdRecord *record = list->pdata[i];
    if (record->coverage == coverage)
      return steal(list, i);
    g_string_append_printf(coverages, "%s%s", i > 0 ? ", " : "",
                           demur_number_format(record->coverage, buffer));
  }
  demur_error_set(error, DEMUR_ERROR_STATE, "selector %s is not tuned for coverage %s; %s%s",
                  selector, demur_number_format(coverage, buffer),
                  list->len > 0 ? N_("it is for: ") : N_("tune it first (demur tune)"),
                  coverages->str);
  return NULL;
}
