#include "store/watches.h"

#include <inttypes.h>
#include <math.h>

#include "base/error.h"
#include "store/connection.h"
#include "store/events.h"

void
demur_watch_record_free(DemurWatchRecord *record) {
  if (record == NULL)
    return;
  char *texts[] = {record->selector, record->selector_digest, record->site, record->cohort,
                   record->document, record->digest,          record->user, record->created};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
    g_free(texts[i]);
  g_free(record);
}

void
demur_watch_alarm_free(DemurWatchAlarm *alarm) {
  if (alarm == NULL)
    return;
  char *texts[] = {alarm->signal,   alarm->document,        alarm->created,
                   alarm->selector, alarm->selector_digest, alarm->site,
                   alarm->lifted,   alarm->lifted_by,       alarm->lifted_why};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
    g_free(texts[i]);
  g_free(alarm);
}

static void
record_free(gpointer record) {
  demur_watch_record_free(record);
}

static void
alarm_free(gpointer alarm) {
  demur_watch_alarm_free(alarm);
}

/* Runs what adds a row, and tells it: key is the prefix of its id. */
static gboolean
add_row(DemurWorkspace *workspace, DemurStatement *statement, const char *prefix,
        const char *digest, const char *created, gint64 *id, GError **error) {
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  gboolean ok = demur_store_run(workspace, statement, "keeping what a watch found", error);
  if (ok) {
    *id = demur_store_inserted_id(workspace);
    g_autofree char *key = g_strdup_printf("%s%" PRId64, prefix, *id);
    ok = demur_events_add(workspace, DEMUR_EVENT_WATCH, key, digest, NULL, created, error);
  }
  return demur_store_end(workspace, ok, error);
}

gboolean
demur_watches_save(DemurWorkspace *workspace, DemurWatchRecord *record, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      "INSERT INTO watch (selector, selector_digest, site, cohort, document, digest, \"user\", created)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
      error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_text(statement, 1, record->selector);
  demur_store_bind_text(statement, 2, record->selector_digest);
  demur_store_bind_text(statement, 3, record->site);
  demur_store_bind_text(statement, 4, record->cohort);
  demur_store_bind_text(statement, 5, record->document);
  demur_store_bind_text(statement, 6, record->digest);
  demur_store_bind_text(statement, 7, record->user);
  demur_store_bind_text(statement, 8, record->created);
  return add_row(workspace, statement, "watch:", record->digest, record->created, &record->id,
                 error);
}

#define SELECT_WATCH                                                                               \
  "SELECT id, selector, selector_digest, site, cohort, document, digest, \"user\", created"

static gpointer
read_watch(DemurStatement *statement) {
  DemurWatchRecord *record = g_new0(DemurWatchRecord, 1);
  record->id = demur_store_int(statement, 0);
  char **texts[] = {&record->selector, &record->selector_digest, &record->site, &record->cohort,
                    &record->document, &record->digest,          &record->user, &record->created};
  demur_store_read_texts(statement, 1, texts, G_N_ELEMENTS(texts));
  return record;
}

/* Whether a watch is as it was begun. */
static gboolean
check_watch(const DemurWatchRecord *record, GError **error) {
  g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, record->document, -1);
  if (g_strcmp0(digest, record->digest) == 0)
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_STORE,
                  "the watch over selector '%s' is not the one that was begun: begin it anew, and "
                  "find out who changed the workspace",
                  record->selector);
  return FALSE;
}

gboolean
demur_watches_mark(DemurWorkspace *workspace, DemurWatchMark *mark, GError **error) {
  const struct {
    const char *sql;
    gint64 *id;
  } counts[] = {{"SELECT coalesce(max(id), 0) FROM watch", &mark->watch},
                {"SELECT coalesce(max(id), 0) FROM verdict", &mark->verdict},
                {"SELECT coalesce(max(id), 0) FROM watch_label", &mark->label},
                {"SELECT coalesce(max(id), 0) FROM watch_alarm", &mark->alarm},
                {"SELECT coalesce(max(id), 0) FROM watch_lift", &mark->lift}};
  for (size_t i = 0; i < G_N_ELEMENTS(counts); i++)
    if ((*counts[i].id = demur_store_count(workspace, counts[i].sql, NULL, NULL, error)) < 0)
      return FALSE;
  return TRUE;
}

GPtrArray *
demur_watches_list(DemurWorkspace *workspace, const char *selector, const DemurWatchMark *then,
                   GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      SELECT_WATCH
      " FROM watch w WHERE (?1 IS NULL OR selector = ?1) AND id = (SELECT max(id) FROM watch o"
      " WHERE o.selector = w.selector AND o.site IS NOT DISTINCT FROM w.site AND o.id <= ?2) ORDER BY selector, site NULLS FIRST",
      error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, selector);
  demur_store_bind_int(statement, 2, then != NULL ? then->watch : G_MAXINT64);
  g_autoptr(GPtrArray) list =
      demur_store_list(workspace, statement, read_watch, record_free, "listing watches", error);
  gboolean ok = list != NULL;
  for (guint i = 0; ok && i < list->len; i++)
    ok = check_watch(list->pdata[i], error);
  return ok ? g_steal_pointer(&list) : NULL;
}

DemurWatchRecord *
demur_watches_load(DemurWorkspace *workspace, gint64 id, GError **error) {
  DemurStatement *statement =
      demur_store_statement(workspace, SELECT_WATCH " FROM watch WHERE id = ?", error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_int(statement, 1, id);
  g_autoptr(GPtrArray) list =
      demur_store_list(workspace, statement, read_watch, record_free, "reading a watch", error);
  if (list == NULL)
    return NULL;
  if (list->len == 0) {
    demur_error_set(error, DEMUR_ERROR_NOT_FOUND, "there is no watch %" PRId64, id);
    return NULL;
  }
  return check_watch(list->pdata[0], error) ? g_ptr_array_steal_index(list, 0) : NULL;
}

gint64
demur_watches_last_verdict(DemurWorkspace *workspace, GError **error) {
  return demur_store_count(workspace, "SELECT coalesce(max(id), 0) FROM verdict", NULL, NULL,
                           error);
}

gboolean
demur_watch_alarms_save(DemurWorkspace *workspace, const DemurWatchAlarm *alarm, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      "INSERT INTO watch_alarm (watch_id, signal, withholds, at, document, created)"
      " VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
      error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_int(statement, 1, alarm->watch);
  demur_store_bind_text(statement, 2, alarm->signal);
  demur_store_bind_int(statement, 3, alarm->withholds ? 1 : 0);
  demur_store_bind_int(statement, 4, alarm->at);
  demur_store_bind_text(statement, 5, alarm->document);
  demur_store_bind_text(statement, 6, alarm->created);
  const char *const texts[] = {alarm->signal, alarm->document};
  g_autofree char *digest = demur_store_digest(texts, G_N_ELEMENTS(texts), NULL, 0);
  gint64 id;
  return add_row(workspace, statement, "watch-alarm:", digest, alarm->created, &id, error);
}

static gpointer
read_alarm(DemurStatement *statement) {
  DemurWatchAlarm *alarm = g_new0(DemurWatchAlarm, 1);
  alarm->id = demur_store_int(statement, 0);
  alarm->watch = demur_store_int(statement, 1);
  alarm->withholds = demur_store_int(statement, 2) != 0;
  alarm->at = demur_store_int(statement, 3);
  alarm->lifted_after = demur_store_int(statement, 4);
  char **texts[] = {&alarm->signal,   &alarm->document,        &alarm->created,
                    &alarm->selector, &alarm->selector_digest, &alarm->site,
                    &alarm->lifted,   &alarm->lifted_by,       &alarm->lifted_why};
  demur_store_read_texts(statement, 5, texts, G_N_ELEMENTS(texts));
  return alarm;
}

GPtrArray *
demur_watch_alarms_list(DemurWorkspace *workspace, const char *selector, const DemurWatchMark *then,
                        GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      "SELECT a.id, a.watch_id, a.withholds, a.at, coalesce(l.after, 0), a.signal, a.document,"
      " a.created, w.selector, w.selector_digest, w.site, l.created, l.user, l.reason FROM watch_alarm a"
      " JOIN watch w ON w.id = a.watch_id LEFT JOIN watch_lift l ON l.alarm_id = a.id"
      " AND l.id <= ?3 WHERE (?1 IS NULL OR w.selector = ?1) AND a.id <= ?2 ORDER BY a.id DESC",
      error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, selector);
  demur_store_bind_int(statement, 2, then != NULL ? then->alarm : G_MAXINT64);
  demur_store_bind_int(statement, 3, then != NULL ? then->lift : G_MAXINT64);
  return demur_store_list(workspace, statement, read_alarm, alarm_free, "listing alarms", error);
}

/* Whether there is such an alarm, and it is not lifted. */
static gboolean
check_open(DemurWorkspace *workspace, gint64 alarm, GError **error) {
  g_autofree char *id = g_strdup_printf("%" PRId64, alarm);
  const gint64 there = demur_store_count(
      workspace, "SELECT count(*) FROM watch_alarm WHERE id = CAST(? AS BIGINT)", id, NULL, error);
  const gint64 lifted =
      there > 0
          ? demur_store_count(workspace,
                              "SELECT count(*) FROM watch_lift WHERE alarm_id = CAST(? AS BIGINT)",
                              id, NULL, error)
          : 0;
  if (there == 0)
    demur_error_set(error, DEMUR_ERROR_NOT_FOUND,
                    "there is no alarm %s; `demur watch show` names those there are", id);
  else if (lifted > 0)
    demur_error_set(error, DEMUR_ERROR_STATE, "alarm %s is lifted already", id);
  return there > 0 && lifted == 0;
}

gboolean
demur_watch_alarms_lift(DemurWorkspace *workspace, gint64 alarm, const char *why, const char *user,
                        const char *created, GError **error) {
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  const gint64 after =
      check_open(workspace, alarm, error) ? demur_watches_last_verdict(workspace, error) : -1;
  DemurStatement *statement =
      after < 0 ? NULL
                : demur_store_statement(workspace,
                                        "INSERT INTO watch_lift (alarm_id, after, reason, \"user\","
                                        " created) VALUES (?, ?, ?, ?, ?) RETURNING id",
                                        error);
  gboolean ok = statement != NULL;
  if (ok) {
    demur_store_bind_int(statement, 1, alarm);
    demur_store_bind_int(statement, 2, after);
    demur_store_bind_text(statement, 3, why);
    demur_store_bind_text(statement, 4, user);
    demur_store_bind_text(statement, 5, created);
    const char *const texts[] = {why, user, created};
    g_autofree char *digest = demur_store_digest(texts, G_N_ELEMENTS(texts), NULL, 0);
    gint64 id;
    ok = add_row(workspace, statement, "watch-lift:", digest, created, &id, error);
  }
  return demur_store_end(workspace, ok, error);
}

/* One row, in the open transaction. */
static gboolean
insert_label(DemurWorkspace *workspace, gint64 event, const DemurWatchLabel *label,
             const char *user, const char *created, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      "INSERT INTO watch_label (event, scan_id, label, \"user\", created) VALUES (?, ?, ?, ?, ?)",
      error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_int(statement, 1, event);
  demur_store_bind_text(statement, 2, label->scan_id);
  if (isfinite(label->label))
    demur_store_bind_int(statement, 3, label->label > 0.5 ? 1 : 0);
  demur_store_bind_text(statement, 4, user);
  demur_store_bind_text(statement, 5, created);
  return demur_store_run_later(workspace, statement, "keeping a label", error);
}

gboolean
demur_watch_labels_save(DemurWorkspace *workspace, const DemurWatchLabel *labels, size_t n,
                        const char *user, const char *created, GError **error) {
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  const gint64 event = demur_store_next_event(workspace, error);
  gboolean ok = event >= 0;
  g_autofree const char **scans = g_new0(const char *, n + 1);
  g_autofree double *values = g_new0(double, n + 1);
  for (size_t i = 0; ok && i < n; i++) {
    scans[i] = labels[i].scan_id;
    values[i] = labels[i].label;
    ok = insert_label(workspace, event, &labels[i], user, created, error);
  }
  if (ok) {
    /* With a digest, as of what is there: without one the log would tell of rows taken out. */
    g_autofree char *digest = demur_store_digest(scans, n, values, n);
    g_autofree char *key = g_strdup_printf("watch-labels:%" PRId64, event);
    ok = demur_events_add(workspace, DEMUR_EVENT_WATCH, key, digest, NULL, created, error);
  }
  return demur_store_end(workspace, ok, error);
}

GHashTable *
demur_watch_labels_load(DemurWorkspace *workspace, const DemurWatchMark *then, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace, "SELECT scan_id, label FROM watch_label WHERE id <= ? ORDER BY id", error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_int(statement, 1, then != NULL ? then->label : G_MAXINT64);
  g_autoptr(GHashTable) labels = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, statement, &row, "reading labels", error)) && row) {
    const double label = demur_store_double(statement, 1);
    g_hash_table_replace(labels, demur_store_text(statement, 0), g_memdup2(&label, sizeof label));
  }
  return ok ? g_steal_pointer(&labels) : NULL;
}
