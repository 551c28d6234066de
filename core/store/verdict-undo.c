#include "store/verdict-undo.h"

#include <inttypes.h>

#include "base/error.h"
#include "store/connection.h"
#include "store/events.h"

void
demur_last_assessment_free(DemurLastAssessment *last) {
  if (last == NULL)
    return;
  g_free(last->selector);
  g_free(last->created);
  g_free(last->cohort);
  g_clear_pointer(&last->with, g_array_unref);
  g_clear_pointer(&last->selectors, g_ptr_array_unref);
  g_free(last);
}

/* A family's batches of one moment have one digest of what is in use, and each selector once. */
static gboolean
find_with(DemurWorkspace *workspace, DemurLastAssessment *last, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      "SELECT b.id, b.selector, (SELECT count(*) FROM verdict v WHERE v.batch_id = b.id),"
      " (SELECT count(*) FROM verdict v WHERE v.batch_id = b.id AND EXISTS"
      "  (SELECT 1 FROM review r WHERE r.verdict_id = v.id))"
      " FROM verdict_batch b JOIN verdict_batch l ON l.id = ? WHERE b.id < l.id"
      " AND b.created = l.created AND b.cohort IS NOT DISTINCT FROM l.cohort AND b.in_use_digest = l.in_use_digest"
      " AND b.id NOT IN (SELECT batch_id FROM verdict_undo) ORDER BY b.id DESC",
      error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_int(statement, 1, last->batch);
  last->with = g_array_new(FALSE, FALSE, sizeof(gint64));
  last->selectors = g_ptr_array_new_with_free_func(g_free);
  gboolean row, ok;
  while (
      (ok = demur_store_step(workspace, statement, &row, "finding the last assessment", error)) &&
      row) {
    const gint64 batch = demur_store_int(statement, 0);
    g_autofree char *selector = demur_store_text(statement, 1);
    if (g_str_equal(selector, last->selector) ||
        g_ptr_array_find_with_equal_func(last->selectors, selector, g_str_equal, NULL))
      break;
    g_array_append_val(last->with, batch);
    g_ptr_array_add(last->selectors, g_steal_pointer(&selector));
    last->n_all += (gsize)demur_store_int(statement, 2);
    last->n_reviewed += (gsize)demur_store_int(statement, 3);
  }
  demur_store_reset(statement);
  return ok;
}

gboolean
demur_verdicts_last(DemurWorkspace *workspace, DemurLastAssessment **last, GError **error) {
  *last = NULL;
  DemurStatement *statement = demur_store_statement(
      workspace,
      "SELECT b.id, b.selector, b.created, b.cohort, count(v.id), count(v.id) FILTER (WHERE EXISTS"
      " (SELECT 1 FROM verdict w JOIN verdict_batch c ON c.id = w.batch_id"
      "  WHERE w.scan_id = v.scan_id AND c.cohort IS NOT DISTINCT FROM b.cohort AND w.id < v.id"
      "  AND c.id NOT IN (SELECT batch_id FROM verdict_undo))),"
      " count(v.id) FILTER (WHERE EXISTS (SELECT 1 FROM review r WHERE r.verdict_id = v.id))"
      " FROM verdict_batch b JOIN verdict v ON v.batch_id = b.id WHERE b.id ="
      " (SELECT max(id) FROM verdict_batch WHERE id NOT IN (SELECT batch_id FROM verdict_undo))"
      " GROUP BY b.id",
      error);
  gboolean row;
  if (statement == NULL ||
      !demur_store_step(workspace, statement, &row, "finding the last assessment", error))
    return FALSE;
  if (!row)
    return TRUE;
  *last = g_new0(DemurLastAssessment, 1);
  (*last)->batch = demur_store_int(statement, 0);
  (*last)->selector = demur_store_text(statement, 1);
  (*last)->created = demur_store_text(statement, 2);
  (*last)->cohort = demur_store_text(statement, 3);
  (*last)->n_verdicts = (gsize)demur_store_int(statement, 4);
  (*last)->n_earlier = (gsize)demur_store_int(statement, 5);
  (*last)->n_reviewed = (gsize)demur_store_int(statement, 6);
  (*last)->n_all = (*last)->n_verdicts;
  demur_store_reset(statement);
  if (find_with(workspace, *last, error))
    return TRUE;
  g_clear_pointer(last, demur_last_assessment_free);
  return FALSE;
}

/* Whether it may be taken back, in the open transaction; *found: owned, what is. */
static gboolean
check(DemurWorkspace *workspace, gint64 batch, DemurLastAssessment **found, GError **error) {
  g_autoptr(DemurLastAssessment) last = NULL;
  if (!demur_verdicts_last(workspace, &last, error))
    return FALSE;
  if (last == NULL || last->batch != batch) {
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "this is not the last assessment any more: another one was made or taken "
                    "back meanwhile; look at what would be undone again");
    return FALSE;
  }
  if (last->n_reviewed > 0) {
    demur_error_set(
        error, DEMUR_ERROR_STATE,
        "%zu of its %zu verdicts have an opinion, a comment or a reveal of a reader, which "
        "belong to them: it can't be undone; assess the scans again instead",
        last->n_reviewed, last->n_all);
    return FALSE;
  }
  *found = g_steal_pointer(&last);
  return TRUE;
}

static gboolean
insert(DemurWorkspace *workspace, gint64 batch, const char *reason, const char *created,
       GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      "INSERT INTO verdict_undo (batch_id, reason, \"user\", created) VALUES (?, ?, ?, ?) RETURNING id",
      error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_int(statement, 1, batch);
  demur_store_bind_text(statement, 2, reason);
  demur_store_bind_text(statement, 3, workspace->user);
  demur_store_bind_text(statement, 4, created);
  if (!demur_store_run(workspace, statement, "undoing an assessment", error))
    return FALSE;
  const gint64 id = demur_store_inserted_id(workspace);
  g_autofree char *key = g_strdup_printf("undo:%" PRId64, id);
  g_autofree char *number = g_strdup_printf("%" PRId64, batch);
  const char *const texts[] = {number, reason, workspace->user, created};
  g_autofree char *digest = demur_store_digest(texts, G_N_ELEMENTS(texts), NULL, 0);
  g_autofree char *details = g_strdup_printf("{\"batch\": %s}", number);
  return demur_events_add(workspace, DEMUR_EVENT_DECISION, key, digest, details, created, error);
}

gboolean
demur_verdicts_undo(DemurWorkspace *workspace, gint64 batch, const char *reason,
                    const char *created, GError **error) {
  g_autofree char *stripped = g_strstrip(g_strdup(reason != NULL ? reason : ""));
  if (*stripped == '\0') {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "undoing an assessment needs a reason, which is kept");
    return FALSE;
  }
  if (workspace->user == NULL) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "undoing an assessment needs a user, whose name is kept");
    return FALSE;
  }
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  g_autoptr(DemurLastAssessment) last = NULL;
  gboolean ok =
      check(workspace, batch, &last, error) && insert(workspace, batch, stripped, created, error);
  for (guint i = 0; ok && i < last->with->len; i++)
    ok = insert(workspace, g_array_index(last->with, gint64, i), stripped, created, error);
  return demur_store_end(workspace, ok, error);
}
