#include "tasks/watch-lines.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#include "base/json-reader.h"

/* From here on what changed is told; below it chance does as much. */
#define TOLD_FROM 10.0

static void
line_free(gpointer data) {
  DemurWatchLine *line = data;
  g_free(line->change);
  g_free(line);
}

GPtrArray *
demur_watch_lines(const DemurWatchState *state, DemurTranslate translate) {
  GPtrArray *lines = g_ptr_array_new_with_free_func(line_free);
  const DemurWatchPatient *patients = (const DemurWatchPatient *)(gpointer)state->patients->data;
  for (guint s = 0; s < DEMUR_N_WATCH; s++) {
    const DemurWatchSignalResult *result = &state->result->signals[s];
    if (state->plan->rules[s] == DEMUR_WATCH_IGNORE)
      continue;
    DemurWatchLine *line = g_new0(DemurWatchLine, 1);
    line->signal = (DemurWatchSignal)s;
    line->title = demur_translate(translate, demur_watch_columns[s].title);
    line->change = result->most >= TOLD_FROM
                       ? demur_watch_change_words(state->plan, (DemurWatchSignal)s, result,
                                                  patients, translate)
                       : g_strdup("");
    line->evidence = result->evidence;
    line->n = result->n;
    line->now = result->n > 0 ? result->evidence[result->n - 1] : 1.0;
    line->n_waiting = result->n_waiting;
    line->alarm_at = result->alarm != DEMUR_WATCH_NONE ? result->alarm + 1 : 0;
    line->alarm = result->alarm != DEMUR_WATCH_NONE;
    line->withholds = state->plan->rules[s] == DEMUR_WATCH_WITHHOLD;
    g_ptr_array_add(lines, line);
  }
  return lines;
}

size_t
demur_watch_n_stops(const DemurWatchState *state) {
  size_t n = 0;
  for (guint i = 0; i < state->alarms->len; i++) {
    const DemurWatchAlarm *alarm = state->alarms->pdata[i];
    n += alarm->withholds && alarm->lifted == NULL ? 1 : 0;
  }
  return n;
}

char *
demur_watch_headline(const DemurWatchState *state, DemurTranslate translate) {
  const char *first = NULL;
  size_t n_open = 0;
  for (guint i = 0; i < state->alarms->len; i++) {
    const DemurWatchAlarm *alarm = state->alarms->pdata[i];
    n_open += alarm->lifted == NULL ? 1 : 0;
    if (alarm->lifted == NULL && alarm->withholds)
      first = alarm->created; /* the list is newest first */
  }
  if (first != NULL)
    return g_strdup_printf(
        demur_translate(translate, N_("Stopped since %.10s: no new risk is shown until a person "
                                      "lifts the alarms below.")),
        first);
  if (state->outdated)
    return g_strdup(demur_translate(translate, N_("The selector was trained anew or is gone: begin "
                                                  "the watch anew.")));
  if (n_open > 0)
    return g_strdup(demur_translate(
        translate,
        N_("Something changed: see the alarms below. Risks are shown all the same, as was "
           "agreed.")));
  return g_strdup_printf(
      demur_translate(translate,
                      N_("Nothing changed: the %u patients since %.10s are like those of "
                         "the reference.")),
      state->patients->len, state->record->created);
}

const char *
demur_watch_alarm_title(const DemurWatchAlarm *alarm, DemurTranslate translate) {
  DemurWatchSignal signal;
  return demur_watch_from_name(alarm->signal, &signal)
             ? demur_translate(translate, demur_watch_columns[signal].title)
             : alarm->signal;
}

/* A number of the document; NaN where it is null. */
static double
number_at(JsonObject *object, const char *name) {
  double value;
  return demur_json_read_double(object, name, -INFINITY, INFINITY, &value, NULL) ? value
                                                                                 : (double)NAN;
}

char *
demur_watch_alarm_change(const DemurWatchState *state, const DemurWatchAlarm *alarm,
                         DemurTranslate translate) {
  g_autoptr(JsonNode) root = demur_json_parse(alarm->document);
  DemurWatchSignal signal;
  const char *when = NULL, *text = NULL;
  gint64 n_since = 0;
  if (root == NULL || !JSON_NODE_HOLDS_OBJECT(root) ||
      !demur_watch_from_name(alarm->signal, &signal))
    return g_strdup(alarm->signal);
  JsonObject *object = json_node_get_object(root);
  if (!demur_json_read_string(object, "since", &when, NULL) ||
      !demur_json_read_int(object, "n_since", 1, G_MAXINT32, &n_since, NULL))
    return g_strdup(demur_watch_alarm_title(alarm, translate));
  if (!demur_json_read_string(object, "value", &text, NULL))
    text = "";
  /* One patient stands for those since. */
  guint32 row = 0;
  const DemurWatchPatient patient = {.when = (char *)when};
  const DemurWatchSignalResult result = {.n = 1,
                                         .rows = &row,
                                         .n_since = (size_t)n_since,
                                         .text = (char *)text,
                                         .before = number_at(object, "before"),
                                         .since = number_at(object, "now")};
  return demur_watch_change_words(state->plan, signal, &result, &patient, translate);
}
