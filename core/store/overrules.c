#include "store/overrules.h"

#include <inttypes.h>

#include "base/error.h"
#include "store/connection.h"
#include "store/events.h"

void
demur_overrule_record_free(DemurOverruleRecord *record) {
  if (record == NULL)
    return;
  g_free(record->scan_id);
  g_free(record->reason);
  g_free(record->rules_reason);
  g_free(record->replaced);
  g_free(record->created);
  g_free(record->user);
  g_free(record);
}

char *
demur_overrule_key(gint64 id) {
  return g_strdup_printf("overrule:%" PRId64, id);
}

char *
demur_overrule_digest(const DemurOverruleRecord *r) {
  const char *const texts[] = {r->scan_id,
                               r->reason,
                               r->rules_eligible ? "1" : "0",
                               r->rules_accepted ? "1" : "0",
                               r->rules_reason,
                               r->replaced,
                               r->created,
                               r->user};
  return demur_store_digest(texts, G_N_ELEMENTS(texts), NULL, 0);
}

gboolean
demur_overrules_add(DemurWorkspace *workspace, const DemurOverruleRecord *record, GError **error) {
  const gint64 n = demur_store_count(workspace, "SELECT count(*) FROM series WHERE scan_id = ?",
                                     record->scan_id, NULL, error);
  if (n < 0)
    return FALSE;
  if (n == 0) {
    demur_error_set(
        error, DEMUR_ERROR_NOT_FOUND,
        "there is no DICOM scan %s in the workspace; `demur dicom list` shows what there "
        "is",
        record->scan_id);
    return FALSE;
  }
  DemurStatement *statement = demur_store_statement(
      workspace,
      "INSERT INTO series_overrule (scan_id, reason, rules_eligible, rules_accepted, rules_reason,"
      " replaced, created, \"user\") VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
      error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_text(statement, 1, record->scan_id);
  demur_store_bind_text(statement, 2, record->reason);
  demur_store_bind_int(statement, 3, record->rules_eligible ? 1 : 0);
  demur_store_bind_int(statement, 4, record->rules_accepted ? 1 : 0);
  demur_store_bind_text(statement, 5, record->rules_reason);
  demur_store_bind_text(statement, 6, record->replaced);
  demur_store_bind_text(statement, 7, record->created);
  demur_store_bind_text(statement, 8, record->user != NULL ? record->user : workspace->user);
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  gboolean ok = demur_store_run(workspace, statement, "keeping a decision on a series", error);
  if (ok) {
    DemurOverruleRecord kept = *record;
    kept.user = record->user != NULL ? record->user : workspace->user;
    g_autofree char *digest = demur_overrule_digest(&kept);
    g_autofree char *key = demur_overrule_key(demur_store_inserted_id(workspace));
    ok = demur_events_add(workspace, DEMUR_EVENT_OVERRULE, key, digest, NULL, record->created,
                          error);
  }
  return demur_store_end(workspace, ok, error);
}

static gpointer
read_overrule(DemurStatement *statement) {
  DemurOverruleRecord *record = g_new0(DemurOverruleRecord, 1);
  record->id = demur_store_int(statement, 0);
  record->scan_id = demur_store_text(statement, 1);
  record->reason = demur_store_text(statement, 2);
  record->rules_eligible = demur_store_int(statement, 3) != 0;
  record->rules_accepted = demur_store_int(statement, 4) != 0;
  record->rules_reason = demur_store_text(statement, 5);
  record->replaced = demur_store_text(statement, 6);
  record->created = demur_store_text(statement, 7);
  record->user = demur_store_text(statement, 8);
  return record;
}

GPtrArray *
demur_overrules_list(DemurWorkspace *workspace, const char *scan_id, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      "SELECT id, scan_id, reason, rules_eligible, rules_accepted, rules_reason, replaced, created,"
      " \"user\""
      " FROM series_overrule WHERE ?1 IS NULL OR scan_id = ?1 ORDER BY id DESC",
      error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, scan_id);
  return demur_store_list(workspace, statement, read_overrule,
                          (GDestroyNotify)demur_overrule_record_free, "reading decisions", error);
}

gboolean
demur_overrules_current(DemurWorkspace *workspace, const char *scan_id, gboolean accepted,
                        DemurOverruleRecord **record, GError **error) {
  *record = NULL;
  if (!accepted)
    return TRUE;
  g_autoptr(GPtrArray) list = demur_overrules_list(workspace, scan_id, error);
  if (list == NULL)
    return FALSE;
  if (list->len > 0)
    *record = g_ptr_array_steal_index(list, 0);
  return TRUE;
}
