#include "store/runs.h"

#include "store/connection.h"
#include "store/events.h"

/* As the schema's CHECK has them. */
static const char *const outcome_names[] = {[DEMUR_RUN_SCORED] = "scored",
                                            [DEMUR_RUN_FAILED] = "failed",
                                            [DEMUR_RUN_TIMED_OUT] = "timed out",
                                            [DEMUR_RUN_CANCELLED] = "cancelled"};

const char *
demur_run_outcome_name(DemurRunOutcome outcome) {
  return outcome_names[outcome];
}

void
demur_score_run_record_free(DemurScoreRunRecord *record) {
  if (record == NULL)
    return;
  g_free(record->scan_id);
  g_free(record->model);
  g_free(record->command);
  g_free(record->message);
  g_free(record->stderr_end);
  g_free(record->created);
  g_free(record);
}

gboolean
demur_score_runs_add(DemurWorkspace *workspace, const DemurScoreRunRecord *record, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      "INSERT INTO score_run (scan_id, model, command, exit_status, outcome, message, stderr_end,"
      " seconds, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
      error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_text(statement, 1, record->scan_id);
  demur_store_bind_text(statement, 2, record->model);
  demur_store_bind_text(statement, 3, record->command);
  demur_store_bind_int(statement, 4, record->exit_status);
  demur_store_bind_text(statement, 5, demur_run_outcome_name(record->outcome));
  demur_store_bind_text(statement, 6, record->message);
  demur_store_bind_text(statement, 7, record->stderr_end);
  demur_store_bind_double(statement, 8, record->seconds);
  demur_store_bind_text(statement, 9, record->created);
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  gboolean ok = demur_store_run(workspace, statement, "keeping the log of a run", error);
  if (ok) {
    g_autofree char *key =
        g_strdup_printf("run:%" G_GINT64_FORMAT, demur_store_inserted_id(workspace));
    const char *const texts[] = {record->scan_id, record->model,
                                 demur_run_outcome_name(record->outcome)};
    g_autofree char *digest = demur_store_digest(texts, G_N_ELEMENTS(texts), NULL, 0);
    ok = demur_events_add(workspace, DEMUR_EVENT_RUN, key, digest, NULL, record->created, error);
  }
  return demur_store_end(workspace, ok, error);
}

static gpointer
read_run(DemurStatement *statement) {
  DemurScoreRunRecord *record = g_new0(DemurScoreRunRecord, 1);
  record->id = demur_store_int(statement, 0);
  record->scan_id = demur_store_text(statement, 1);
  record->model = demur_store_text(statement, 2);
  record->command = demur_store_text(statement, 3);
  record->exit_status = (int)demur_store_int(statement, 4);
  g_autofree char *outcome = demur_store_text(statement, 5);
  record->outcome = DEMUR_RUN_FAILED;
  for (guint o = 0; o < G_N_ELEMENTS(outcome_names); o++)
    if (g_strcmp0(outcome, outcome_names[o]) == 0)
      record->outcome = (DemurRunOutcome)o;
  record->message = demur_store_text(statement, 6);
  record->stderr_end = demur_store_text(statement, 7);
  record->seconds = demur_store_double(statement, 8);
  record->created = demur_store_text(statement, 9);
  return record;
}

GPtrArray *
demur_score_runs_list(DemurWorkspace *workspace, const char *scan_id, const char *model,
                      GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      "SELECT id, scan_id, model, command, exit_status, outcome, message, stderr_end, seconds,"
      " created FROM score_run WHERE (?1 IS NULL OR scan_id = ?1) AND (?2 IS NULL OR model = ?2)"
      " ORDER BY id DESC",
      error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, scan_id);
  demur_store_bind_text(statement, 2, model);
  return demur_store_list(workspace, statement, read_run,
                          (GDestroyNotify)demur_score_run_record_free, "reading logs of runs",
                          error);
}
