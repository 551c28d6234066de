/* Which alarms withhold a selector's verdicts: by what was watched, whatever became of its name since. */
#include <string.h>

#include "selector/release.h"
#include "store/events.h"
#include "store/selectors.h"
#include "tasks/selection.h"
#include "tasks/watch.h"

/* Whether an alarm holds the selector that is asked for. */
typedef enum { OTHER, HELD, UNSURE } Hold;

/* Who asks, and what was found out for it. */
typedef struct {
  DemurTask *task;
  DemurWorkspace *workspace;
  const char *name;
  const DemurSelector *selector;
  GPtrArray *records;  /* DemurSelectorRecord of all there are; NULL: not read yet */
  GHashTable *origins; /* name -> origin (owned) of what stands under it; "": it can't be read */
  GHashTable *watches; /* id -> what its alarms do: GINT_TO_POINTER(Hold) */
} Asked;

static void
asked_clear(Asked *asked) {
  g_clear_pointer(&asked->records, g_ptr_array_unref);
  g_clear_pointer(&asked->origins, g_hash_table_unref);
  g_clear_pointer(&asked->watches, g_hash_table_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Asked, asked_clear)

static void
stop_free(gpointer data) {
  DemurWatchStop *stop = data;
  demur_watch_alarm_free(stop->alarm);
  g_free(stop);
}

/* Whether a digest or an origin is the selector's. */
static gboolean
is_asked(const Asked *asked, const char *digest) {
  return digest != NULL && (strcmp(digest, demur_selector_digest(asked->selector)) == 0 ||
                            strcmp(digest, demur_selector_origin(asked->selector)) == 0);
}

/* The origin of what stands under a name (borrowed), loaded once; "" where it can't be read. NULL with error. */
static const char *
origin_under(Asked *asked, const char *name, GError **error) {
  const char *known = g_hash_table_lookup(asked->origins, name);
  if (known != NULL)
    return known;
  g_autoptr(GError) local = NULL;
  g_autoptr(DemurSelector) other = demur_task_load_selector(asked->task, name, NULL, &local);
  if (other == NULL && !demur_task_selector_is_unreadable(local)) {
    g_propagate_error(error, g_steal_pointer(&local));
    return NULL;
  }
  char *origin = g_strdup(other != NULL ? demur_selector_origin(other) : "");
  g_hash_table_insert(asked->origins, g_strdup(name), origin);
  return origin;
}

/* One that was trained here is its own origin, damaged or not: only what is read in has another. */
static gboolean
was_trained(const DemurSelectorRecord *record) {
  return record->history != NULL;
}

/* Whether the selector that is asked for was trained here since the watch began: nothing that was watched then was made
 * of it. */
static gboolean
was_trained_since(const Asked *asked, gint64 watch, gboolean *since, GError **error) {
  *since = FALSE;
  for (guint r = 0; r < asked->records->len; r++) {
    const DemurSelectorRecord *record = asked->records->pdata[r];
    if (strcmp(record->name, asked->name) == 0 && was_trained(record))
      return demur_events_trained_since(asked->workspace, record->digest, watch, since, error);
  }
  return TRUE;
}

/* By what stands in the workspace: what the watched name has now and, told: FALSE, what was watched, whose origin
 * nothing tells where it is gone or, read in, damaged. */
static gboolean
look_under_names(Asked *asked, const DemurWatchRecord *watch, gboolean told, Hold *hold,
                 GError **error) {
  if (asked->records == NULL &&
      (asked->records = demur_selectors_list(asked->workspace, error)) == NULL)
    return FALSE;
  for (guint r = 0; *hold != HELD && r < asked->records->len; r++) {
    const DemurSelectorRecord *record = asked->records->pdata[r];
    const gboolean watched = g_strcmp0(record->digest, watch->selector_digest) == 0;
    if (watched ? told : strcmp(record->name, watch->selector) != 0)
      continue;
    const char *origin =
        is_asked(asked, record->digest) ? record->digest : origin_under(asked, record->name, error);
    if (origin == NULL)
      return FALSE;
    *hold = is_asked(asked, origin) ? HELD : OTHER;
    told |= watched && (*origin != '\0' || was_trained(record));
  }
  gboolean since = TRUE;
  if (*hold != HELD && !told && !was_trained_since(asked, watch->id, &since, error))
    return FALSE;
  if (!since)
    *hold = UNSURE;
  return TRUE;
}

/* What the alarms of a watch, of which this is one, do to the selector. */
static gboolean
find_hold(Asked *asked, const DemurWatchAlarm *alarm, Hold *hold, GError **error) {
  *hold = strcmp(alarm->selector, asked->name) == 0 || is_asked(asked, alarm->selector_digest)
              ? HELD
              : OTHER;
  if (*hold == HELD)
    return TRUE;
  g_autoptr(DemurWatchRecord) record = demur_watches_load(asked->workspace, alarm->watch, error);
  g_autoptr(DemurWatchPlan) plan =
      record != NULL ? demur_watch_plan_from_json(record->document, error) : NULL;
  if (plan == NULL)
    return FALSE;
  *hold = is_asked(asked, plan->origin) ? HELD : OTHER;
  return *hold == HELD || look_under_names(asked, record, plan->origin != NULL, hold, error);
}

/* The same, found out once a watch. */
static gboolean
find_hold_once(Asked *asked, const DemurWatchAlarm *alarm, Hold *hold, GError **error) {
  gpointer known = NULL;
  if (g_hash_table_lookup_extended(asked->watches, &alarm->watch, NULL, &known)) {
    *hold = (Hold)GPOINTER_TO_INT(known);
    return TRUE;
  }
  if (!find_hold(asked, alarm, hold, error))
    return FALSE;
  g_hash_table_insert(asked->watches, g_memdup2(&alarm->watch, sizeof alarm->watch),
                      GINT_TO_POINTER(*hold));
  return TRUE;
}

GPtrArray *
demur_task_watch_stops(DemurTask *task, const char *name, const DemurSelector *selector,
                       const DemurWatchMark *then, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_autoptr(GPtrArray) all =
      workspace != NULL ? demur_watch_alarms_list(workspace, NULL, then, error) : NULL;
  if (all == NULL)
    return NULL;
  g_auto(Asked)
      asked = {.task = task,
               .workspace = workspace,
               .name = name,
               .selector = selector,
               .origins = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
               .watches = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL)};
  g_autoptr(GPtrArray) stops = g_ptr_array_new_with_free_func(stop_free);
  for (guint i = 0; i < all->len; i++) {
    DemurWatchAlarm *alarm = all->pdata[i];
    Hold hold;
    if (!alarm->withholds || alarm->lifted != NULL)
      continue;
    if (!find_hold_once(&asked, alarm, &hold, error))
      return NULL;
    if (hold == OTHER)
      continue;
    DemurWatchStop *stop = g_new0(DemurWatchStop, 1);
    stop->alarm = g_steal_pointer(&all->pdata[i]);
    stop->unsure = hold == UNSURE;
    g_ptr_array_add(stops, stop);
  }
  return g_steal_pointer(&stops);
}

/* Whether the alarm is one that the watch of that name at the site does not list, and that reaches where it looks. */
static gboolean
is_elsewhere(const DemurWatchAlarm *alarm, const char *name, const char *site) {
  return strcmp(alarm->selector, name) != 0
             ? site == NULL || alarm->site == NULL || strcmp(site, alarm->site) == 0
             : site != NULL && alarm->site == NULL;
}

GPtrArray *
demur_task_watch_stops_elsewhere(DemurTask *task, const char *name, const char *site,
                                 const DemurSelector *selector, const DemurWatchMark *then,
                                 GError **error) {
  GPtrArray *stops = demur_task_watch_stops(task, name, selector, then, error);
  for (guint i = stops != NULL ? stops->len : 0; i-- > 0;)
    if (!is_elsewhere(((const DemurWatchStop *)stops->pdata[i])->alarm, name, site))
      g_ptr_array_remove_index(stops, i);
  return stops;
}

static void
held_free(gpointer data) {
  DemurWatchHeld *held = data;
  g_free(held->selector);
  g_clear_pointer(&held->stops, g_ptr_array_unref);
  g_free(held);
}

/* Takes out those that a watch over the name lists. */
static void
leave_listed_out(GPtrArray *stops, const char *name, const GPtrArray *states) {
  for (guint i = stops->len; i-- > 0;) {
    const gint64 id = ((const DemurWatchStop *)stops->pdata[i])->alarm->id;
    gboolean listed = FALSE;
    for (guint w = 0; w < states->len; w++) {
      const DemurWatchState *state = states->pdata[w];
      for (guint k = 0; strcmp(state->record->selector, name) == 0 && k < state->stops->len; k++)
        listed |= ((const DemurWatchStop *)state->stops->pdata[k])->alarm->id == id;
    }
    if (listed)
      g_ptr_array_remove_index(stops, i);
  }
}

/* One that can't be read gives no verdicts. */
static gboolean
add_held(DemurTask *task, const char *name, const GPtrArray *states, const DemurWatchMark *then,
         GPtrArray *all, GError **error) {
  g_autoptr(GError) local = NULL;
  g_autoptr(DemurSelector) selector = demur_task_load_selector(task, name, NULL, &local);
  if (selector == NULL && !demur_task_selector_is_unreadable(local)) {
    g_propagate_error(error, g_steal_pointer(&local));
    return FALSE;
  }
  if (selector == NULL)
    return TRUE;
  g_autoptr(GPtrArray) stops =
      demur_task_watch_stops_elsewhere(task, name, NULL, selector, then, error);
  if (stops == NULL)
    return FALSE;
  leave_listed_out(stops, name, states);
  if (stops->len > 0) {
    DemurWatchHeld *held = g_new0(DemurWatchHeld, 1);
    held->selector = g_strdup(name);
    held->stops = g_steal_pointer(&stops);
    g_ptr_array_add(all, held);
  }
  return TRUE;
}

GPtrArray *
demur_task_watch_held(DemurTask *task, const char *name, const GPtrArray *states,
                      const DemurWatchMark *then, GError **error) {
  g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(held_free);
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_autoptr(GPtrArray) alarms =
      workspace != NULL ? demur_watch_alarms_list(workspace, NULL, then, error) : NULL;
  if (alarms == NULL)
    return NULL;
  gboolean any = FALSE;
  for (guint i = 0; i < alarms->len; i++) {
    const DemurWatchAlarm *alarm = alarms->pdata[i];
    any |= alarm->withholds && alarm->lifted == NULL;
  }
  if (any && name != NULL)
    return add_held(task, name, states, then, all, error) ? g_steal_pointer(&all) : NULL;
  g_autoptr(GPtrArray) records = any ? demur_selectors_list(workspace, error) : NULL;
  if (any && records == NULL)
    return NULL;
  for (guint r = 0; records != NULL && r < records->len; r++) {
    const DemurSelectorRecord *record = records->pdata[r];
    if (!add_held(task, record->name, states, then, all, error))
      return NULL;
  }
  return g_steal_pointer(&all);
}
