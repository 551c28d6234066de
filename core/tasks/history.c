#include "tasks/history.h"

#include <string.h>

#include "base/error.h"
#include "base/file-output.h"
#include "base/json-reader.h"
#include "base/json-writer.h"
#include "store/series.h"
#include "tasks/audit-message.h"

#define OPENINGS "setting:openings"

char *
demur_history_scan_of(const DemurEvent *event) {
  static const char *const prefixes[] = {"series:", "score:", "opened:"};
  for (guint p = 0; p < G_N_ELEMENTS(prefixes); p++)
    if (g_str_has_prefix(event->key, prefixes[p])) {
      const char *scan_id = event->key + strlen(prefixes[p]);
      return g_strndup(scan_id, strcspn(scan_id, "|"));
    }
  return NULL;
}

/* scans: of the patient that is asked for; NULL: none is. */
static gboolean
is_asked_for(const DemurHistoryFilter *filter, GHashTable *scans, const DemurEvent *event) {
  g_autofree char *scan_id = demur_history_scan_of(event);
  return (filter->kind == NULL || strcmp(filter->kind, demur_event_kind_name(event->kind)) == 0) &&
         (filter->user == NULL || g_strcmp0(filter->user, event->user) == 0) &&
         (filter->since == NULL || strcmp(event->created, filter->since) >= 0) &&
         (filter->scan_id == NULL || g_strcmp0(scan_id, filter->scan_id) == 0) &&
         (scans == NULL || (scan_id != NULL && g_hash_table_contains(scans, scan_id)));
}

/* The series of a PatientID, whoever else has it (owned). */
static GHashTable *
find_scans(DemurWorkspace *workspace, const char *patient, GError **error) {
  g_autoptr(GPtrArray) series = demur_series_list(workspace, error);
  if (series == NULL)
    return NULL;
  g_autoptr(GHashTable) scans = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < series->len; i++) {
    const DemurSeriesRecord *record = series->pdata[i];
    if (record->patient_id != NULL && demur_person_same_id(record->patient_id, patient))
      g_hash_table_add(scans, g_strdup(record->scan_id));
  }
  if (g_hash_table_size(scans) > 0)
    return g_steal_pointer(&scans);
  demur_error_set(error, DEMUR_ERROR_NOT_FOUND,
                  "no DICOM series of the workspace is of that patient; `demur dicom list` shows "
                  "what there is");
  return NULL;
}

static gboolean
find_head(DemurWorkspace *workspace, const char *head, gint64 *sequence, GError **error) {
  if (!demur_events_find_head(workspace, head, sequence, error))
    return FALSE;
  if (*sequence > 0)
    return TRUE;
  demur_error_set(
      error, DEMUR_ERROR_STATE,
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
    demur_error_set(error, DEMUR_ERROR_USAGE, "there is no event '%s'; there are: %s", filter->kind,
                    kinds->str);
    return NULL;
  }
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  gint64 after = 0;
  if (workspace == NULL ||
      (filter->from_head != NULL && !find_head(workspace, filter->from_head, &after, error)))
    return NULL;
  g_autoptr(GHashTable) scans =
      filter->patient != NULL ? find_scans(workspace, filter->patient, error) : NULL;
  if (filter->patient != NULL && scans == NULL)
    return NULL;
  g_autoptr(GPtrArray) events = demur_events_list(workspace, 0, NULL, error);
  if (events == NULL)
    return NULL;
  if (head != NULL)
    *head = g_strdup(events->len > 0 ? ((DemurEvent *)events->pdata[events->len - 1])->chain : "");
  for (guint i = events->len; i-- > 0;)
    if (((DemurEvent *)events->pdata[i])->sequence <= after ||
        !is_asked_for(filter, scans, events->pdata[i]))
      g_ptr_array_remove_index(events, i);
  if (filter->last > 0 && events->len > filter->last)
    g_ptr_array_remove_range(events, 0, events->len - filter->last);
  return g_steal_pointer(&events);
}

/* That a file leaves, by its name alone. Takes json, which is ended. */
static gboolean
add_file(DemurTask *task, DemurWorkspace *workspace, const char *path, DemurJson *json,
         GError **error) {
  g_autofree char *details = g_strchomp(demur_json_finish(json));
  g_autofree char *name = g_path_get_basename(path);
  g_autofree char *key = g_strconcat("export:", name, NULL);
  g_autofree char *now = demur_task_now(task);
  return demur_events_add(workspace, DEMUR_EVENT_EXPORT, key, NULL, details, now, error);
}

/* The details of an export's event, still open; NULL where none is kept: *kept tells whether that is
 * right. */
static DemurJson *
begin_export(DemurTask *task, const char *format, gboolean *kept, GError **error) {
  *kept = demur_task_workspace(task, error) != NULL;
  if (!*kept || demur_workspace_is_read_only(task->workspace_path))
    return NULL;
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "format", format);
  return json;
}

gboolean
demur_history_add_export(DemurTask *task, const char *path, const char *format, guint n,
                         gboolean revealed, GError **error) {
  gboolean kept;
  DemurJson *json = begin_export(task, format, &kept, error);
  if (json == NULL)
    return kept;
  demur_json_int(json, "n_verdicts", n);
  demur_json_bool(json, "revealed", revealed);
  demur_json_end_object(json);
  return add_file(task, task->workspace, path, json, error);
}

gboolean
demur_history_add_selector(DemurTask *task, const char *path, const char *selector,
                           const char *digest, gboolean with_reference, GError **error) {
  gboolean kept;
  DemurJson *json = begin_export(task, "selector", &kept, error);
  if (json == NULL)
    return kept;
  demur_json_string(json, "selector", selector);
  demur_json_string(json, "digest", digest);
  demur_json_bool(json, "with_reference", with_reference);
  demur_json_end_object(json);
  return add_file(task, task->workspace, path, json, error);
}

gboolean
demur_history_add_cohort(DemurTask *task, const char *path, const char *cohort, guint64 n,
                         GError **error) {
  gboolean kept;
  DemurJson *json = begin_export(task, "cohort", &kept, error);
  if (json == NULL)
    return kept;
  demur_json_string(json, "cohort", cohort);
  demur_json_int(json, "n_scans", (gint64)n);
  demur_json_end_object(json);
  return add_file(task, task->workspace, path, json, error);
}

gboolean
demur_history_let_out(DemurTask *task, const char *path, DemurHistoryStepFunc tell,
                      DemurHistoryStepFunc give, gpointer data, GError **error) {
  if (demur_workspace_is_read_only(task->workspace_path))
    return give(data, error);
  if (!demur_workspace_begin(task->workspace, error))
    return FALSE;
  if (!tell(data, error) || !give(data, error)) {
    demur_workspace_rollback(task->workspace);
    return FALSE;
  }
  if (demur_workspace_commit(task->workspace, error))
    return TRUE;
  demur_file_take_back(path);
  return FALSE;
}

gboolean
demur_history_add_answer(DemurTask *task, const char *path, const DemurHistoryAnswer *answer,
                         GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  if (workspace == NULL)
    return FALSE;
  if (demur_workspace_is_read_only(task->workspace_path)) {
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "%s can't be written: what leaves is kept in its log, and nothing leaves "
                    "without",
                    task->workspace_path);
    return FALSE;
  }
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "format", "federate");
  demur_json_string(json, "round", answer->round);
  demur_json_string(json, "answer", answer->answer);
  demur_json_string(json, "site", answer->site);
  demur_json_string(json, "study", answer->study);
  demur_json_string(json, "selector", answer->selector);
  demur_json_string(json, "cohort", answer->cohort);
  demur_json_string(json, "split", answer->split);
  demur_json_bool(json, "withheld", answer->withheld);
  demur_json_end_object(json);
  return add_file(task, workspace, path, json, error);
}

/* Whether the details are those of an answer that tells its scans; texts are the parser's. */
static gboolean
read_answer(JsonParser *parser, const char *details, DemurHistoryAnswer *answer) {
  if (details == NULL || !demur_json_load(parser, details, -1, NULL) ||
      !JSON_NODE_HOLDS_OBJECT(json_parser_get_root(parser)))
    return FALSE;
  JsonObject *object = json_node_get_object(json_parser_get_root(parser));
  return demur_json_read_string(object, "round", &answer->round, NULL) &&
         demur_json_read_string(object, "answer", &answer->answer, NULL) &&
         demur_json_read_string(object, "site", &answer->site, NULL) &&
         demur_json_read_string(object, "study", &answer->study, NULL) &&
         demur_json_read_string(object, "selector", &answer->selector, NULL) &&
         demur_json_read_string(object, "cohort", &answer->cohort, NULL) &&
         demur_json_read_string(object, "split", &answer->split, NULL) &&
         demur_json_read_bool(object, "withheld", &answer->withheld, NULL);
}

gboolean
demur_history_each_answer(DemurTask *task, DemurHistoryAnswerFunc func, gpointer data,
                          GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_autoptr(GPtrArray) events =
      workspace != NULL ? demur_events_list(workspace, 0, NULL, error) : NULL;
  if (events == NULL)
    return FALSE;
  for (guint i = 0; i < events->len; i++) {
    const DemurEvent *event = events->pdata[i];
    g_autoptr(JsonParser) parser = json_parser_new_immutable();
    DemurHistoryAnswer answer;
    if (event->kind == DEMUR_EVENT_EXPORT && read_answer(parser, event->details, &answer) &&
        !func(&answer, data, error))
      return FALSE;
  }
  return TRUE;
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

gboolean
demur_history_keeps_openings(DemurTask *task, gboolean *keeps, GError **error) {
  *keeps = FALSE;
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_autoptr(GPtrArray) events =
      workspace != NULL ? demur_events_list(workspace, 0, OPENINGS, error) : NULL;
  if (events == NULL)
    return FALSE;
  const DemurEvent *last = events->len > 0 ? events->pdata[events->len - 1] : NULL;
  g_autoptr(JsonNode) node = last != NULL ? demur_json_parse(last->details) : NULL;
  JsonObject *object =
      node != NULL && JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
  return object == NULL || demur_json_read_bool(object, "kept", keeps, error);
}

/* An event of which a key and an object with one member are told. Takes json over. */
static gboolean
add_event(DemurTask *task, DemurEventKind kind, const char *key, DemurJson *json, GError **error) {
  g_autofree char *details = g_strchomp(demur_json_finish(json));
  g_autofree char *now = demur_task_now(task);
  return demur_events_add(task->workspace, kind, key, NULL, details, now, error);
}

gboolean
demur_history_set_openings(DemurTask *task, gboolean keeps, GError **error) {
  if (demur_task_workspace(task, error) == NULL)
    return FALSE;
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_bool(json, "kept", keeps);
  demur_json_end_object(json);
  return add_event(task, DEMUR_EVENT_SETTING, OPENINGS, json, error);
}

gboolean
demur_history_add_opened(DemurTask *task, const char *cohort, const char *scan_id, const char *by,
                         GError **error) {
  gboolean keeps;
  if (!demur_history_keeps_openings(task, &keeps, error))
    return FALSE;
  if (!keeps || demur_workspace_is_read_only(task->workspace_path))
    return TRUE;
  /* A cohort's scan is none of the series of that name. */
  g_autofree char *key = cohort != NULL ? g_strdup_printf("opened-row:%s|%s", cohort, scan_id)
                                        : g_strconcat("opened:", scan_id, NULL);
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "by", by);
  demur_json_end_object(json);
  return add_event(task, DEMUR_EVENT_OPENED, key, json, error);
}

char **
demur_history_audit_messages(DemurTask *task, const GPtrArray *events, guint *n_gone,
                             GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_autoptr(GPtrArray) series = workspace != NULL ? demur_series_list(workspace, error) : NULL;
  if (series == NULL)
    return NULL;
  g_autoptr(GHashTable) by_scan = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < series->len; i++)
    g_hash_table_insert(by_scan, ((DemurSeriesRecord *)series->pdata[i])->scan_id,
                        series->pdata[i]);
  g_autoptr(GStrvBuilder) messages = g_strv_builder_new();
  *n_gone = 0;
  for (guint i = 0; i < events->len; i++) {
    g_autofree char *scan_id = demur_history_scan_of(events->pdata[i]);
    const DemurSeriesRecord *record =
        scan_id != NULL ? g_hash_table_lookup(by_scan, scan_id) : NULL;
    *n_gone += scan_id != NULL && record == NULL ? 1 : 0;
    g_autofree char *message =
        record != NULL ? demur_audit_message(events->pdata[i], record) : NULL;
    if (message != NULL)
      g_strv_builder_add(messages, message);
  }
  return g_strv_builder_end(messages);
}
