#include "tasks/assess-undo.h"

#include "base/error.h"

/* What a scan has now. */
typedef struct {
  DemurVerdict verdict;
  gboolean is_current;
} Standing;

/* The first one of a scan is its newest. */
static gboolean
note_standing(const DemurVerdictRecord *record, gpointer data) {
  GHashTable *standing = data;
  if (g_hash_table_contains(standing, record->scan_id))
    return TRUE;
  Standing *now = g_new(Standing, 1);
  *now =
      (Standing){record->verdict, demur_verdict_state(record->outdated) == DEMUR_VERDICT_CURRENT};
  g_hash_table_insert(standing, g_strdup(record->scan_id), now);
  return TRUE;
}

static void
count_change(DemurAssessChanges *changes, const Standing *now, DemurVerdict then) {
  changes->n_scans++;
  if (now == NULL)
    changes->n_first++;
  else if (now->verdict == then && now->is_current)
    changes->n_same++;
  else if (now->verdict == then)
    changes->n_again++;
  else if (now->verdict == DEMUR_VERDICT_ACCEPTED && then == DEMUR_VERDICT_RED_FLAG)
    changes->n_to_flag++;
  else if (now->verdict == DEMUR_VERDICT_RED_FLAG && then == DEMUR_VERDICT_ACCEPTED)
    changes->n_to_accepted++;
  else
    changes->n_otherwise++;
}

gboolean
demur_task_assess_changes(DemurTask *task, const DemurAssessParams *params,
                          DemurAssessChanges *changes, GError **error) {
  *changes = (DemurAssessChanges){0};
  g_auto(DemurAssessment) assessment = {0};
  g_autoptr(GHashTable) standing = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  if (!demur_task_assess(task, params, &assessment, error))
    return FALSE;
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  if (workspace == NULL ||
      !demur_verdicts_each(workspace, params->cohort, note_standing, standing, error))
    return FALSE;
  for (guint i = 0; i < assessment.verdicts->len; i++) {
    const DemurVerdictRecord *then = &g_array_index(assessment.verdicts, DemurVerdictRecord, i);
    count_change(changes, g_hash_table_lookup(standing, then->scan_id), then->verdict);
  }
  return TRUE;
}

DemurLastAssessment *
demur_task_assess_last(DemurTask *task, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  DemurLastAssessment *last = NULL;
  if (workspace == NULL || !demur_verdicts_last(workspace, &last, error))
    return NULL;
  if (last == NULL)
    demur_error_set(error, DEMUR_ERROR_NOT_FOUND,
                    "no scan was assessed yet: there is nothing to undo");
  return last;
}

gboolean
demur_task_assess_undo(DemurTask *task, gint64 batch, const char *reason, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_autofree char *now = demur_task_now(task);
  return workspace != NULL && demur_verdicts_undo(workspace, batch, reason, now, error);
}
