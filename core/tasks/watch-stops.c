/* Which alarms withhold a selector's verdicts: by what was watched, whatever became of its name since. */
#include <string.h>

#include "selector/release.h"
#include "store/selectors.h"
#include "tasks/selection.h"
#include "tasks/watch.h"

/* Who asks, and what was found out for it. */
typedef struct {
  DemurTask *task;
  DemurWorkspace *workspace;
  const char *name;
  const DemurSelector *selector;
  GPtrArray *records;  /* DemurSelectorRecord of all there are; NULL: not read yet */
  GHashTable *origins; /* name -> origin (owned) of what stands under it; "": it can't be read */
  GHashTable *watches; /* id -> whether its alarms hold the selector: GINT_TO_POINTER(gboolean) */
} Asked;

static void
asked_clear(Asked *asked) {
  g_clear_pointer(&asked->records, g_ptr_array_unref);
  g_clear_pointer(&asked->origins, g_hash_table_unref);
  g_clear_pointer(&asked->watches, g_hash_table_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Asked, asked_clear)

static void
alarm_free(gpointer alarm) {
  demur_watch_alarm_free(alarm);
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

/* By what stands in the workspace: what the watched name has now and, told: FALSE, what was watched. */
static gboolean
look_under_names(Asked *asked, const DemurWatchAlarm *alarm, gboolean told, gboolean *held,
                 GError **error) {
  if (asked->records == NULL &&
      (asked->records = demur_selectors_list(asked->workspace, error)) == NULL)
    return FALSE;
  for (guint r = 0; !*held && r < asked->records->len; r++) {
    const DemurSelectorRecord *record = asked->records->pdata[r];
    const gboolean watched = g_strcmp0(record->digest, alarm->selector_digest) == 0;
    if (watched ? told : strcmp(record->name, alarm->selector) != 0)
      continue;
    const char *origin =
        is_asked(asked, record->digest) ? record->digest : origin_under(asked, record->name, error);
    if (origin == NULL)
      return FALSE;
    *held = is_asked(asked, origin);
  }
  return TRUE;
}

/* Whether the alarms of a watch, of which this is one, hold the selector. */
static gboolean
is_held(Asked *asked, const DemurWatchAlarm *alarm, gboolean *held, GError **error) {
  *held = strcmp(alarm->selector, asked->name) == 0 || is_asked(asked, alarm->selector_digest);
  if (*held)
    return TRUE;
  g_autoptr(DemurWatchRecord) record = demur_watches_load(asked->workspace, alarm->watch, error);
  g_autoptr(DemurWatchPlan) plan =
      record != NULL ? demur_watch_plan_from_json(record->document, error) : NULL;
  if (plan == NULL)
    return FALSE;
  *held = is_asked(asked, plan->origin);
  return *held || look_under_names(asked, alarm, plan->origin != NULL, held, error);
}

GPtrArray *
demur_task_watch_stops(DemurTask *task, const char *name, const DemurSelector *selector,
                       GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_autoptr(GPtrArray) all =
      workspace != NULL ? demur_watch_alarms_list(workspace, NULL, NULL, error) : NULL;
  if (all == NULL)
    return NULL;
  g_auto(Asked)
      asked = {.task = task,
               .workspace = workspace,
               .name = name,
               .selector = selector,
               .origins = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
               .watches = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL)};
  g_autoptr(GPtrArray) stops = g_ptr_array_new_with_free_func(alarm_free);
  for (guint i = 0; i < all->len; i++) {
    const DemurWatchAlarm *alarm = all->pdata[i];
    if (!alarm->withholds || alarm->lifted != NULL)
      continue;
    gpointer known = NULL;
    gboolean held = FALSE;
    if (g_hash_table_lookup_extended(asked.watches, &alarm->watch, NULL, &known)) {
      held = GPOINTER_TO_INT(known);
    } else {
      if (!is_held(&asked, alarm, &held, error))
        return NULL;
      g_hash_table_insert(asked.watches, g_memdup2(&alarm->watch, sizeof alarm->watch),
                          GINT_TO_POINTER(held));
    }
    if (held)
      g_ptr_array_add(stops, g_steal_pointer(&all->pdata[i]));
  }
  return g_steal_pointer(&stops);
}
