#include "tasks/history.h"

#include <string.h>

#include "base/error.h"
#include "base/json-writer.h"

static gboolean
is_of_scan(const char *key, const char *scan_id) {
  const char *colon = strchr(key, ':');
  if (colon == NULL || !(g_str_has_prefix(key, "series:") || g_str_has_prefix(key, "score:")))
    return FALSE;
  const size_t n = strlen(scan_id);
  return strncmp(colon + 1, scan_id, n) == 0 && (colon[1 + n] == '\0' || colon[1 + n] == '|');
}

static gboolean
is_asked_for(const DemurHistoryFilter *filter, const DemurEvent *event) {
  return (filter->kind == NULL || strcmp(filter->kind, demur_event_kind_name(event->kind)) == 0) &&
         (filter->user == NULL || g_strcmp0(filter->user, event->user) == 0) &&
         (filter->since == NULL || strcmp(event->created, filter->since) >= 0) &&
         (filter->scan_id == NULL || is_of_scan(event->key, filter->scan_id));
}

static gboolean
find_head(DemurWorkspace *workspace, const char *head, gint64 *sequence, GError **error) {
  if (!demur_events_find_head(workspace, head, sequence, error))
    return FALSE;
  if (*sequence > 0)
    return TRUE;
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE,
              "the log has no event with the head %s in an unbroken chain: it was cut or written "
              "anew since that was printed, or the head is another workspace's; bring back a copy "
              "of the workspace",
              head);
  return FALSE;
}

GPtrArray *
demur_history_list(DemurTask *task, const DemurHistoryFilter *filter, char **head, GError **error) {
  DemurEventKind kind;
  if (filter->kind != NULL && !demur_event_kind_from_name(filter->kind, &kind)) {
    g_autoptr(GString) kinds = g_string_new(NULL);
    for (guint k = 0; k < DEMUR_N_EVENTS; k++)
      g_string_append_printf(kinds, "%s%s", k > 0 ? ", " : "",
                             demur_event_kind_name((DemurEventKind)k));
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE, "there is no event '%s'; there are: %s",
                filter->kind, kinds->str);
    return NULL;
  }
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  gint64 after = 0;
  if (workspace == NULL ||
      (filter->from_head != NULL && !find_head(workspace, filter->from_head, &after, error)))
    return NULL;
  g_autoptr(GPtrArray) events = demur_events_list(workspace, 0, NULL, error);
  if (events == NULL)
    return NULL;
  if (head != NULL)
    *head = g_strdup(events->len > 0 ? ((DemurEvent *)events->pdata[events->len - 1])->chain : "");
  for (guint i = events->len; i-- > 0;)
    if (((DemurEvent *)events->pdata[i])->sequence <= after ||
        !is_asked_for(filter, events->pdata[i]))
      g_ptr_array_remove_index(events, i);
  if (filter->last > 0 && events->len > filter->last)
    g_ptr_array_remove_range(events, 0, events->len - filter->last);
  return g_steal_pointer(&events);
}

gboolean
demur_history_add_export(DemurTask *task, const char *path, const char *format, guint n,
                         gboolean revealed, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  if (workspace == NULL)
    return FALSE;
  if (demur_workspace_is_read_only(task->workspace_path))
    return TRUE;
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "format", format);
  demur_json_int(json, "n_verdicts", n);
  demur_json_bool(json, "revealed", revealed);
  demur_json_end_object(json);
  g_autofree char *details = g_strchomp(demur_json_finish(json));
  g_autofree char *name = g_path_get_basename(path);
  g_autofree char *key = g_strconcat("export:", name, NULL);
  g_autofree char *now = demur_task_now(task);
  return demur_events_add(workspace, DEMUR_EVENT_EXPORT, key, NULL, details, now, error);
}

gboolean
demur_history_add_reveal(DemurTask *task, const char *selector, const char *reason, guint n,
                         GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  if (workspace == NULL)
    return FALSE;
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "reason", reason);
  demur_json_int(json, "n_verdicts", n);
  demur_json_end_object(json);
  g_autofree char *details = g_strchomp(demur_json_finish(json));
  g_autofree char *key = g_strconcat("assessment:", selector, NULL);
  g_autofree char *now = demur_task_now(task);
  return demur_events_add(workspace, DEMUR_EVENT_REVEAL, key, NULL, details, now, error);
}

gboolean
demur_history_add_refusal(DemurTask *task, const char *what, const GError *refused,
                          GError **error) {
  if (task->workspace == NULL || !g_error_matches(refused, DEMUR_ERROR, DEMUR_ERROR_STATE) ||
      demur_workspace_is_read_only(task->workspace_path))
    return TRUE;
  g_autofree char *key = g_strconcat("attempt:", what, NULL);
  g_autofree char *now = demur_task_now(task);
  return demur_events_add(task->workspace, DEMUR_EVENT_REFUSAL, key, NULL, NULL, now, error);
}
