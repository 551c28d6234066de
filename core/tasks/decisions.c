#include "tasks/decisions.h"

#include <string.h>

#include "tasks/series-records.h"
#include "tasks/study-choice.h"
#include "dicom/import.h"
#include "dicom/library.h"
#include "store/series.h"

static gboolean
end(DemurWorkspace *workspace, gboolean ok, GError **error) {
  if (ok)
    return demur_workspace_commit(workspace, error);
  demur_workspace_rollback(workspace);
  return FALSE;
}

static gboolean
check_reason(const char *reason, GError **error) {
  if (reason != NULL && reason[strspn(reason, " \t\r\n")] != '\0')
    return TRUE;
  g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                      "such a decision needs a reason, which is kept with it (--reason TEXT)");
  return FALSE;
}

/* For the log (owned). with: another scan, or NULL. */
static char *
details_of(const char *decision, const char *reason, const char *with) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "decision", decision);
  demur_json_string(json, "reason", reason);
  if (with != NULL)
    demur_json_string(json, "with", with);
  demur_json_end_object(json);
  return g_strchomp(demur_json_finish(json));
}

/* Volumes in conflict with record: of the same SeriesInstanceUID, waiting too. Borrowed from all.
 */
static GPtrArray *
find_others(const GPtrArray *all, const DemurSeriesRecord *record) {
  GPtrArray *others = g_ptr_array_new();
  for (guint i = 0; i < all->len; i++) {
    const DemurSeriesRecord *other = all->pdata[i];
    if (other->conflict != NULL && g_strcmp0(other->series_uid, record->series_uid) == 0 &&
        strcmp(other->scan_id, record->scan_id) != 0)
      g_ptr_array_add(others, all->pdata[i]);
  }
  return others;
}

static DemurSeriesRecord *
find_waiting(DemurWorkspace *workspace, const char *scan_id, GError **error) {
  g_autoptr(DemurSeriesRecord) record = demur_series_load(workspace, scan_id, error);
  if (record == NULL || record->conflict != NULL)
    return g_steal_pointer(&record);
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE,
              "scan %s conflicts with nothing; `demur dicom list` shows what waits for a decision",
              scan_id);
  return NULL;
}

/* Measured anew from its own files alone: beside another person's images it was judged as one of
 * two patients. Saved under scan_id. What can't be read stays as it was known. */
static gboolean
measure_again(DemurTask *task, const char *from, const char *scan_id, GError **error) {
  g_autoptr(GPtrArray) files = demur_series_files(task->workspace, from, error);
  if (files == NULL)
    return FALSE;
  g_autoptr(GPtrArray) paths = g_ptr_array_new();
  for (guint i = 0; i < files->len; i++)
    g_ptr_array_add(paths, ((DemurSeriesFile *)files->pdata[i])->path);
  g_ptr_array_add(paths, NULL);
  g_autoptr(GError) cause = NULL;
  g_autoptr(DemurSeries) series = demur_import_reopen(scan_id, (const char *const *)paths->pdata,
                                                      task->parallel, &task->progress, &cause);
  if (series == NULL) {
    if (!g_error_matches(cause, G_IO_ERROR, G_IO_ERROR_CANCELLED))
      return TRUE;
    g_propagate_error(error, g_steal_pointer(&cause));
    return FALSE;
  }
  g_autofree char *now = demur_task_now(task);
  g_autoptr(DemurSeriesRecord) record = demur_dicom_record_new(series, FALSE, NULL, now);
  DemurSeriesFile *kept = demur_dicom_files_new(series);
  const DemurSeriesSave save = {record, kept, series->n_slices};
  const gboolean saved = demur_series_save(task->workspace, &save, 1, error);
  demur_dicom_files_free(kept, series->n_slices);
  return saved;
}

static gboolean
choose_again(DemurWorkspace *workspace, const GPtrArray *before, const char *series_uid,
             GError **error) {
  g_autoptr(GHashTable) keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GPtrArray) now = demur_series_list(workspace, error);
  for (guint i = 0; now != NULL && i < now->len; i++) {
    const DemurSeriesRecord *record = now->pdata[i];
    if (g_strcmp0(record->series_uid, series_uid) == 0)
      g_hash_table_add(keys, demur_study_choice_key(record));
  }
  return now != NULL && demur_study_choose(workspace, keys, before, error);
}

static gboolean
resolve(DemurTask *task, const DemurSeriesRecord *record, const GPtrArray *before,
        DemurResolution resolution, const char *reason, GError **error) {
  DemurWorkspace *workspace = task->workspace;
  g_autoptr(GPtrArray) others = find_others(before, record);
  g_autofree char *details =
      details_of(resolution == DEMUR_RESOLVE_KEEP ? "keep" : "both", reason, record->scan_id);
  for (guint i = 0; i < others->len; i++) {
    const char *other = ((DemurSeriesRecord *)others->pdata[i])->scan_id;
    if (resolution == DEMUR_RESOLVE_KEEP
            ? !demur_series_remove(workspace, other, details, error)
            : !measure_again(task, other, other, error) ||
                  !demur_series_set_conflict(workspace, other, NULL, details, error))
      return FALSE;
  }
  return measure_again(task, record->scan_id, record->scan_id, error) &&
         demur_series_set_conflict(workspace, record->scan_id, NULL, details, error) &&
         choose_again(workspace, before, record->series_uid, error);
}

gboolean
demur_decide_resolve(DemurTask *task, const char *scan_id, DemurResolution resolution,
                     const char *reason, GError **error) {
  DemurWorkspace *workspace =
      check_reason(reason, error) ? demur_task_workspace(task, error) : NULL;
  if (workspace == NULL || !demur_dicom_init(error) || !demur_workspace_begin(workspace, error))
    return FALSE;
  g_autoptr(DemurSeriesRecord) record = find_waiting(workspace, scan_id, error);
  g_autoptr(GPtrArray) before = record != NULL ? demur_series_list(workspace, error) : NULL;
  return end(workspace, before != NULL && resolve(task, record, before, resolution, reason, error),
             error);
}

static gboolean
correct(DemurTask *task, const DemurSeriesRecord *record, const GPtrArray *before,
        const char *reason, char **corrected, GError **error) {
  DemurWorkspace *workspace = task->workspace;
  g_autoptr(GPtrArray) others = find_others(before, record);
  const DemurSeriesRecord *same = NULL;
  for (guint i = 0; i < others->len && same == NULL; i++) {
    const DemurSeriesRecord *other = others->pdata[i];
    if (record->images_digest != NULL &&
        g_strcmp0(other->images_digest, record->images_digest) == 0)
      same = other;
  }
  if (same == NULL) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE,
                "scan %s corrects nothing: no volume that conflicts with it has the same images; "
                "decide with `demur dicom resolve`",
                record->scan_id);
    return FALSE;
  }
  g_autofree char *details = details_of("correct", reason, record->scan_id);
  /* With two, the conflict ends with them; a third keeps waiting. */
  if (!measure_again(task, record->scan_id, same->scan_id, error) ||
      !demur_series_correct(workspace, same->scan_id, record, details, error) ||
      !demur_series_remove(workspace, record->scan_id, details, error) ||
      !demur_series_set_conflict(workspace, same->scan_id, others->len > 1 ? same->conflict : NULL,
                                 details, error))
    return FALSE;
  if (corrected != NULL)
    *corrected = g_strdup(same->scan_id);
  return choose_again(workspace, before, record->series_uid, error);
}

gboolean
demur_decide_correct(DemurTask *task, const char *scan_id, const char *reason, char **corrected,
                     GError **error) {
  DemurWorkspace *workspace =
      check_reason(reason, error) ? demur_task_workspace(task, error) : NULL;
  if (workspace == NULL || !demur_dicom_init(error) || !demur_workspace_begin(workspace, error))
    return FALSE;
  g_autoptr(DemurSeriesRecord) record = find_waiting(workspace, scan_id, error);
  g_autoptr(GPtrArray) before = record != NULL ? demur_series_list(workspace, error) : NULL;
  return end(workspace, before != NULL && correct(task, record, before, reason, corrected, error),
             error);
}

static gboolean
is_meant(const DemurRemoval *removal, const DemurSeriesRecord *record) {
  return (removal->scan_id != NULL && strcmp(removal->scan_id, record->scan_id) == 0) ||
         (removal->study_uid != NULL && g_strcmp0(removal->study_uid, record->study_uid) == 0) ||
         (removal->patient_id != NULL && g_strcmp0(removal->patient_id, record->patient_id) == 0);
}

/* A volume that what left was the last to conflict with waits no longer; it is measured anew. */
static gboolean
release_last(DemurTask *task, const char *series_uid, const char *details, GError **error) {
  g_autoptr(GPtrArray) now = demur_series_list(task->workspace, error);
  const DemurSeriesRecord *waiting = NULL;
  guint n = 0;
  for (guint i = 0; now != NULL && i < now->len; i++) {
    const DemurSeriesRecord *record = now->pdata[i];
    if (record->conflict == NULL || g_strcmp0(record->series_uid, series_uid) != 0)
      continue;
    waiting = record;
    n++;
  }
  if (n != 1)
    return now != NULL;
  return measure_again(task, waiting->scan_id, waiting->scan_id, error) &&
         demur_series_set_conflict(task->workspace, waiting->scan_id, NULL, details, error);
}

static gboolean
remove_all(DemurTask *task, const DemurRemoval *removal, const char *reason, guint *n,
           GError **error) {
  DemurWorkspace *workspace = task->workspace;
  g_autoptr(GPtrArray) before = demur_series_list(workspace, error);
  g_autoptr(GHashTable) keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_autofree char *details = details_of("remove", reason, NULL);
  *n = 0;
  for (guint i = 0; before != NULL && i < before->len; i++) {
    const DemurSeriesRecord *record = before->pdata[i];
    if (!is_meant(removal, record))
      continue;
    g_hash_table_add(keys, demur_study_choice_key(record));
    if (!demur_series_remove(workspace, record->scan_id, details, error) ||
        (record->conflict != NULL && !release_last(task, record->series_uid, details, error)))
      return FALSE;
    ++*n;
  }
  if (before != NULL && *n == 0)
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND,
                        "there is no such series in the workspace; `demur dicom list` shows what "
                        "there is");
  /* What waited may be of another study now. */
  g_autoptr(GPtrArray) left = *n > 0 ? demur_series_list(workspace, error) : NULL;
  for (guint i = 0; left != NULL && i < left->len; i++)
    g_hash_table_add(keys, demur_study_choice_key(left->pdata[i]));
  return left != NULL && demur_study_choose(workspace, keys, before, error);
}

gboolean
demur_decide_remove(DemurTask *task, const DemurRemoval *removal, const char *reason, guint *n,
                    GError **error) {
  DemurWorkspace *workspace =
      check_reason(reason, error) ? demur_task_workspace(task, error) : NULL;
  return workspace != NULL && demur_dicom_init(error) && demur_workspace_begin(workspace, error) &&
         end(workspace, remove_all(task, removal, reason, n, error), error);
}
