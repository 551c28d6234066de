#include "store/reviews.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "store/connection.h"
#include "store/events.h"

static const char *const kind_names[] = {"agree", "disagree", "comment", "reveal"};

const char *
demur_review_kind_name(DemurReviewKind kind) {
  g_return_val_if_fail((guint)kind < G_N_ELEMENTS(kind_names), NULL);
  return kind_names[kind];
}

void
demur_review_record_free(DemurReviewRecord *record) {
  if (record == NULL)
    return;
  g_free(record->scan_id);
  g_free(record->cohort);
  g_free(record->comment);
  g_free(record->shown);
  g_free(record->user);
  g_free(record->created);
  g_free(record->verdict_digest);
  g_free(record->digest);
  g_free(record);
}

void
demur_decision_record_free(DemurDecisionRecord *record) {
  if (record == NULL)
    return;
  g_free(record->selector);
  g_free(record->selector_digest);
  g_free(record->cohort);
  g_free(record->split);
  g_free(record->reason);
  g_free(record->user);
  g_free(record->created);
  g_free(record);
}

static void
review_free(gpointer record) {
  demur_review_record_free(record);
}

static void
decision_free(gpointer record) {
  demur_decision_record_free(record);
}

static gboolean
is_blank(const char *text) {
  return text == NULL || text[strspn(text, " \t\r\n")] == '\0';
}

char *
demur_review_key(gint64 id) {
  return g_strdup_printf("review:%" PRId64, id);
}

char *
demur_review_digest(const DemurReviewRecord *r) {
  g_autofree char *verdict = g_strdup_printf("%" PRId64, r->verdict_id);
  const char *const texts[] = {r->scan_id,
                               r->cohort,
                               verdict,
                               r->verdict_digest,
                               demur_review_kind_name(r->kind),
                               r->comment,
                               r->revealed ? "1" : "0",
                               r->shown,
                               r->user,
                               r->created};
  return demur_store_digest(texts, G_N_ELEMENTS(texts), NULL, 0);
}

/* The digest of the verdict that is reviewed, which must be of the same scan. */
static gboolean
find_verdict(DemurWorkspace *workspace, DemurReviewRecord *record, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      "SELECT v.digest FROM verdict v JOIN verdict_batch b ON b.id = v.batch_id"
      " WHERE v.id = ? AND v.scan_id = ? AND b.cohort IS NOT DISTINCT FROM ?"
      " AND b.id NOT IN (SELECT batch_id FROM verdict_undo)",
      error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_int(statement, 1, record->verdict_id);
  demur_store_bind_text(statement, 2, record->scan_id);
  demur_store_bind_text(statement, 3, record->cohort);
  gboolean row;
  if (!demur_store_step(workspace, statement, &row, "finding a verdict", error))
    return FALSE;
  if (row) {
    record->verdict_digest = demur_store_text(statement, 0);
    demur_store_reset(statement);
    return TRUE;
  }
  demur_error_set(error, DEMUR_ERROR_STATE,
                  "the verdict that is reviewed is none of scan %s; look at the scan again",
                  record->scan_id);
  return FALSE;
}

/* Saves the review and its event, and sets its id. */
static gboolean
insert_review(DemurWorkspace *workspace, DemurReviewRecord *record, GError **error) {
  DemurStatement *statement =
      demur_store_statement(workspace,
                            "INSERT INTO review (scan_id, cohort, verdict_id, kind, comment,"
                            " revealed, shown, \"user\", created, verdict_digest, digest)"
                            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
                            error);
  if (statement == NULL)
    return FALSE;
  DemurReviewRecord kept = *record;
  kept.comment = is_blank(record->comment) ? NULL : record->comment;
  g_autofree char *digest = demur_review_digest(&kept);
  demur_store_bind_text(statement, 1, record->scan_id);
  demur_store_bind_text(statement, 2, record->cohort);
  if (record->verdict_id > 0)
    demur_store_bind_int(statement, 3, record->verdict_id);
  demur_store_bind_text(statement, 4, demur_review_kind_name(record->kind));
  demur_store_bind_text(statement, 5, kept.comment);
  demur_store_bind_int(statement, 6, record->revealed ? 1 : 0);
  demur_store_bind_text(statement, 7, record->shown);
  demur_store_bind_text(statement, 8, record->user);
  demur_store_bind_text(statement, 9, record->created);
  demur_store_bind_text(statement, 10, record->verdict_digest);
  demur_store_bind_text(statement, 11, digest);
  if (!demur_store_run(workspace, statement, "saving a review", error))
    return FALSE;
  record->id = demur_store_inserted_id(workspace);
  g_autofree char *key = demur_review_key(record->id);
  return demur_events_add(
      workspace, record->kind == DEMUR_REVIEW_REVEAL ? DEMUR_EVENT_REVEAL : DEMUR_EVENT_REVIEW, key,
      digest, NULL, record->created, error);
}

gboolean
demur_reviews_save(DemurWorkspace *workspace, DemurReviewRecord *record, GError **error) {
  if (is_blank(record->scan_id) || is_blank(record->user) || is_blank(record->created) ||
      is_blank(record->shown)) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "a review needs a scan, a user, a time and what was shown");
    return FALSE;
  }
  if (record->kind == DEMUR_REVIEW_COMMENT && is_blank(record->comment)) {
    demur_error_set(error, DEMUR_ERROR_USAGE, "a comment needs words");
    return FALSE;
  }
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  g_free(record->verdict_digest);
  record->verdict_digest = NULL;
  const gboolean ok = (record->verdict_id <= 0 || find_verdict(workspace, record, error)) &&
                      insert_review(workspace, record, error);
  return demur_store_end(workspace, ok, error);
}

#define SELECT_REVIEW                                                                              \
  "SELECT id, scan_id, cohort, verdict_id, kind, comment, revealed, shown, \"user\", created,"     \
  " verdict_digest, digest"                                                                        \
  " FROM review "

static gpointer
read_review(DemurStatement *statement) {
  DemurReviewRecord *record = g_new0(DemurReviewRecord, 1);
  record->id = demur_store_int(statement, 0);
  record->scan_id = demur_store_text(statement, 1);
  record->cohort = demur_store_text(statement, 2);
  record->verdict_id = demur_store_int(statement, 3);
  g_autofree char *kind = demur_store_text(statement, 4);
  for (guint k = 0; k < G_N_ELEMENTS(kind_names); k++)
    if (g_strcmp0(kind, kind_names[k]) == 0)
      record->kind = (DemurReviewKind)k;
  record->comment = demur_store_text(statement, 5);
  record->revealed = demur_store_int(statement, 6) != 0;
  record->shown = demur_store_text(statement, 7);
  record->user = demur_store_text(statement, 8);
  record->created = demur_store_text(statement, 9);
  record->verdict_digest = demur_store_text(statement, 10);
  record->digest = demur_store_text(statement, 11);
  return record;
}

static GPtrArray *
query_reviews(DemurWorkspace *workspace, DemurStatement *statement, GError **error) {
  return demur_store_list(workspace, statement, read_review, review_free, "listing reviews", error);
}

GPtrArray *
demur_reviews_of_scan(DemurWorkspace *workspace, const char *cohort, const char *scan_id,
                      GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      SELECT_REVIEW "WHERE cohort IS NOT DISTINCT FROM ? AND scan_id = ? ORDER BY id DESC", error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, cohort);
  demur_store_bind_text(statement, 2, scan_id);
  return query_reviews(workspace, statement, error);
}

GPtrArray *
demur_reviews_list(DemurWorkspace *workspace, GError **error) {
  DemurStatement *statement =
      demur_store_statement(workspace, SELECT_REVIEW "ORDER BY id DESC", error);
  return statement != NULL ? query_reviews(workspace, statement, error) : NULL;
}

char *
demur_decision_key(gint64 id) {
  return g_strdup_printf("decision:%" PRId64, id);
}

char *
demur_decision_digest(const DemurDecisionRecord *r) {
  const char *const texts[] = {r->selector, r->selector_digest, r->cohort, r->split, r->reason,
                               r->user,     r->created};
  const double numbers[] = {r->coverage, r->threshold};
  return demur_store_digest(texts, G_N_ELEMENTS(texts), numbers, G_N_ELEMENTS(numbers));
}

gboolean
demur_decisions_save(DemurWorkspace *workspace, DemurDecisionRecord *record, GError **error) {
  if (is_blank(record->reason)) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "choosing a coverage needs a reason, which is kept with it");
    return FALSE;
  }
  DemurStatement *statement =
      demur_store_statement(workspace,
                            "INSERT INTO decision (selector, selector_digest, cohort, split,"
                            " coverage, threshold, reason, \"user\", created)"
                            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
                            error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_text(statement, 1, record->selector);
  demur_store_bind_text(statement, 2, record->selector_digest);
  demur_store_bind_text(statement, 3, record->cohort);
  demur_store_bind_text(statement, 4, record->split);
  demur_store_bind_double(statement, 5, record->coverage);
  demur_store_bind_double(statement, 6, record->threshold);
  demur_store_bind_text(statement, 7, record->reason);
  demur_store_bind_text(statement, 8, record->user);
  demur_store_bind_text(statement, 9, record->created);
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  gboolean ok = demur_store_run(workspace, statement, "saving the reason for a coverage", error);
  if (ok) {
    record->id = demur_store_inserted_id(workspace);
    g_autofree char *digest = demur_decision_digest(record);
    g_autofree char *key = demur_decision_key(record->id);
    ok = demur_events_add(workspace, DEMUR_EVENT_DECISION, key, digest, NULL, record->created,
                          error);
  }
  return demur_store_end(workspace, ok, error);
}

static gpointer
read_decision(DemurStatement *statement) {
  DemurDecisionRecord *record = g_new0(DemurDecisionRecord, 1);
  record->id = demur_store_int(statement, 0);
  record->selector = demur_store_text(statement, 1);
  record->selector_digest = demur_store_text(statement, 2);
  record->cohort = demur_store_text(statement, 3);
  record->split = demur_store_text(statement, 4);
  record->coverage = demur_store_double(statement, 5);
  record->threshold = demur_store_double(statement, 6);
  record->reason = demur_store_text(statement, 7);
  record->user = demur_store_text(statement, 8);
  record->created = demur_store_text(statement, 9);
  return record;
}

GPtrArray *
demur_decisions_list(DemurWorkspace *workspace, const char *selector, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      "SELECT id, selector, selector_digest, cohort, split, coverage, threshold, reason, \"user\","
      " created FROM decision WHERE ?1 IS NULL OR selector = ?1 ORDER BY id DESC",
      error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, selector);
  return demur_store_list(workspace, statement, read_decision, decision_free, "listing decisions",
                          error);
}
