#include "tasks/watch-lines.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#include "base/translate.h"
#include "base/json-reader.h"
#include "base/limits.h"
#include "metrics/betting.h"
#include "report/format.h"
#include "report/use.h"

/* From this part of an alarm on what changed, and when the evidence was highest, is told; below it chance does as
 * much. */
#define TOLD_FROM 0.1

/* A share of n patients that is one of few. */
static gboolean
share_is_few(double share, size_t n) {
  const size_t count = (size_t)llround(share * (double)n);
  return count < DEMUR_SMALL_CELL || (count < n && n - count < DEMUR_SMALL_CELL);
}

/* Whether what changed since the patient of that time would tell of few. */
static gboolean
is_few(const DemurWatchState *state, DemurWatchSignal signal, const char *since, double share,
       size_t n_since, size_t n_before) {
  if (n_since < DEMUR_SMALL_CELL || (n_before > 0 && n_before < DEMUR_SMALL_CELL))
    return TRUE;
  if (demur_watch_columns[signal].kind == DEMUR_WATCH_NUMBER)
    return FALSE;
  if (demur_watch_columns[signal].kind == DEMUR_WATCH_CATEGORY || signal == DEMUR_WATCH_OUTCOME)
    return share_is_few(share, n_since);
  size_t n_with = 0, n_without = 0;
  for (guint i = 0; i < state->patients->len; i++) {
    const DemurWatchPatient *p = &g_array_index(state->patients, DemurWatchPatient, i);
    const gboolean shown = p->score >= state->plan->threshold;
    if (g_strcmp0(p->when, since) < 0 || !isfinite(p->label) ||
        (signal == DEMUR_WATCH_RANGE && !shown) || (signal == DEMUR_WATCH_FLAGGED && shown))
      continue;
    n_with += p->label > 0.5 ? 1 : 0;
    n_without += p->label > 0.5 ? 0 : 1;
  }
  return n_with < DEMUR_SMALL_CELL || n_without < DEMUR_SMALL_CELL;
}

gboolean
demur_watch_change_is_few(const DemurWatchState *state, DemurWatchSignal signal,
                          const DemurWatchSignalResult *result) {
  if (result->n == 0)
    return FALSE;
  const DemurWatchPatient *patients = (const DemurWatchPatient *)(gpointer)state->patients->data;
  return is_few(state, signal, patients[result->rows[result->change]].when, result->since,
                result->n_since, result->n_reference + result->n - result->n_since);
}

size_t
demur_watch_told_reference(const char *site, size_t n) {
  return site != NULL ? n - n % DEMUR_SMALL_CELL : n;
}

static void
line_free(gpointer data) {
  DemurWatchLine *line = data;
  g_free(line->change);
  g_free(line);
}

static char *
told_change(const DemurWatchState *state, DemurWatchSignal signal,
            const DemurWatchSignalResult *result, DemurTranslate translate) {
  const DemurWatchPatient *patients = (const DemurWatchPatient *)(gpointer)state->patients->data;
  return demur_watch_change_is_few(state, signal, result)
             ? NULL
             : demur_watch_change_words(state->plan, signal, result, patients, translate);
}

/* How much of a fortune half of it stakes on each patient, as the signal's own gamblers do. */
#define RANGE_FRACTION 0.5

/* O:E of every patient of the signal with the confidence sequence of the same bets, which holds however often it is
 * looked at, beside the agreed range: that no alarm was reached does not say that it lies there. NULL where the patients are
 * too few to be told. */
static char *
told_ratio(const DemurWatchState *state, const DemurWatchSignalResult *result,
           DemurTranslate translate) {
  const DemurWatchPatient *patients = (const DemurWatchPatient *)(gpointer)state->patients->data;
  g_autofree double *numbers = g_new(double, 3 * result->n + 1);
  double *labels = numbers, *risks = numbers + result->n, *ones = numbers + 2 * result->n;
  double observed = 0.0, expected = 0.0;
  for (size_t i = 0; i < result->n; i++) {
    const DemurWatchPatient *p = &patients[result->rows[i]];
    observed += labels[i] = p->label;
    expected += risks[i] = p->risk;
    ones[i] = 1.0;
  }
  if (observed < DEMUR_SMALL_CELL || (double)result->n - observed < DEMUR_SMALL_CELL ||
      !(expected > 0.0))
    return NULL;
  double low, high;
  demur_bet_interval(&(DemurBetPairs){result->n, ones, labels, risks}, (DemurBetBounds){1.0, 1.0},
                     RANGE_FRACTION, RANGE_FRACTION, 0.05, &low, &high);
  const DemurWatchPlan *plan = state->plan;
  g_autofree char *ratio = demur_translate_number(translate, "%.2f", observed / expected),
                  *below = demur_translate_number(translate, "%.2f", low),
                  *above = isfinite(high) ? demur_translate_number(translate, "%.2f", high)
                                          : g_strdup("∞"),
                  *agreed_low = demur_translate_number(translate, "%g", plan->low),
                  *agreed_high = demur_translate_number(translate, "%g", plan->high);
  const char *title = demur_translate(translate, demur_watch_columns[DEMUR_WATCH_RANGE].title);
  return g_strdup_printf(
      demur_translate(translate, N_("%s: %s (95 %% interval %s to %s) in all %zu patients, "
                                    "agreed are %s to %s")),
      title, ratio, below, above, result->n, agreed_low, agreed_high);
}

/* What changed most; of O:E of what is shown, where nothing is to be told of a change, what it is. */
static char *
line_change(const DemurWatchState *state, DemurWatchSignal signal,
            const DemurWatchSignalResult *result, DemurTranslate translate) {
  if (result->most >= TOLD_FROM * result->limit)
    return told_change(state, signal, result, translate);
  char *ratio = signal == DEMUR_WATCH_RANGE ? told_ratio(state, result, translate) : NULL;
  return ratio != NULL ? ratio : g_strdup("");
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
    line->change = line_change(state, (DemurWatchSignal)s, result, translate);
    line->evidence = result->evidence;
    line->n = result->n;
    line->now = result->n > 0 ? result->evidence[result->n - 1] : 1.0;
    line->most = result->most;
    line->most_reached =
        result->most_at != DEMUR_WATCH_NONE ? patients[result->rows[result->most_at]].when : NULL;
    line->limit = result->limit;
    line->n_waiting = result->n_waiting;
    line->alarm_at = result->alarm != DEMUR_WATCH_NONE ? result->alarm + 1 : 0;
    line->alarm = result->alarm != DEMUR_WATCH_NONE;
    line->withholds = state->plan->rules[s] == DEMUR_WATCH_WITHHOLD;
    g_ptr_array_add(lines, line);
  }
  return lines;
}

char *
demur_watch_line_evidence(const DemurWatchLine *line, DemurTranslate translate) {
  if (line->n == 0)
    return g_strdup("");
  g_autofree char *now = demur_text_evidence(line->now, translate),
                  *most = demur_text_evidence(line->most, translate),
                  *limit = demur_text_evidence(line->limit, translate);
  if (line->most_reached == NULL || !(line->most >= TOLD_FROM * line->limit) ||
      strcmp(most, now) == 0)
    return g_strdup_printf(demur_translate(translate, N_("e-value now %s; alarm at %s")), now,
                           limit);
  g_autofree char *when = demur_translate_day(translate, line->most_reached);
  return g_strdup_printf(demur_translate(translate, N_("e-value now %s, highest %s on %s; "
                                                       "alarm at %s")),
                         now, most, when, limit);
}

/* Whether it stops all that the watch looks at. */
static gboolean
stops_all(const DemurWatchState *state, const DemurWatchStop *stop) {
  return stop->alarm->site == NULL || g_strcmp0(stop->alarm->site, state->record->site) == 0;
}

size_t
demur_watch_n_stops(const DemurWatchState *state) {
  size_t n = 0;
  for (guint i = 0; i < state->alarms->len; i++) {
    const DemurWatchAlarm *alarm = state->alarms->pdata[i];
    n += alarm->withholds && alarm->lifted == NULL ? 1 : 0;
  }
  for (guint i = 0; i < state->stops->len; i++)
    n += stops_all(state, state->stops->pdata[i]) ? 1 : 0;
  return n;
}

static char *
told_date(const char *time, gboolean iso, DemurTranslate translate) {
  return iso ? g_strndup(time, strlen("2026-01-31")) : demur_translate_day(translate, time);
}

/* Since when no new risk is shown (borrowed); NULL: risks are shown. *n_open: its own alarms that are not lifted. */
static const char *
stopped_since(const DemurWatchState *state, size_t *n_open) {
  const char *first = NULL; /* lists are newest first */
  *n_open = 0;
  for (guint i = 0; i < state->alarms->len; i++) {
    const DemurWatchAlarm *alarm = state->alarms->pdata[i];
    *n_open += alarm->lifted == NULL ? 1 : 0;
    if (alarm->lifted == NULL && alarm->withholds)
      first = alarm->created;
  }
  for (guint i = 0; i < state->stops->len; i++) {
    const DemurWatchStop *stop = state->stops->pdata[i];
    if (stops_all(state, stop) && (first == NULL || strcmp(stop->alarm->created, first) < 0))
      first = stop->alarm->created;
  }
  return first;
}

char *
demur_watch_headline(const DemurWatchState *state, gboolean iso, DemurTranslate translate) {
  size_t n_open;
  const char *first = stopped_since(state, &n_open);
  g_autofree char *since =
      told_date(first != NULL ? first : state->record->created, iso, translate);
  if (first != NULL)
    return g_strdup_printf(
        demur_translate(translate, N_("Stopped since %s: no new risk is shown until a person "
                                      "lifts the alarms below.")),
        since);
  if (state->unreadable)
    return g_strdup(demur_translate(
        translate,
        N_("The selector is damaged: nothing new is seen. Bring back a copy of the workspace.")));
  if (state->outdated)
    return g_strdup(demur_translate(translate, N_("The selector was trained anew or is gone: begin "
                                                  "the watch anew.")));
  if (n_open > 0)
    return g_strdup(demur_translate(
        translate,
        N_("Something changed: see the alarms below. Risks are shown all the same, as was "
           "agreed.")));
  if (state->patients->len == 0)
    return g_strdup_printf(demur_translate(translate, N_("Nothing to compare yet: no patient was "
                                                         "assessed since %s.")),
                           since);
  return g_strdup_printf(
      demur_translate(translate, N_("No change was shown in the %u patients since %s: no alarm.")),
      state->patients->len, since);
}

char *
demur_watch_stop_words(const DemurWatchStop *stop, const char *name, gboolean iso,
                       DemurTranslate translate) {
  const DemurWatchAlarm *alarm = stop->alarm;
  g_autofree char *created = told_date(alarm->created, iso, translate);
  const char *title = demur_watch_alarm_title(alarm, translate);
  g_autofree char *watch =
      alarm->site != NULL
          ? g_strdup_printf(demur_translate(translate, N_("Alarm %u of %s (%s), of the watch over "
                                                          "selector %s at site %s.")),
                            (guint)alarm->id, created, title, alarm->selector, alarm->site)
          : g_strdup_printf(demur_translate(translate, N_("Alarm %u of %s (%s), of the watch over "
                                                          "selector %s at every site.")),
                            (guint)alarm->id, created, title, alarm->selector);
  const char *why =
      stop->unsure
          ? N_("What was watched there is damaged or gone, and nothing tells whether it was this "
               "selector: until a person lifts the alarm, no new risk is shown by this one either.")
      : strcmp(alarm->selector, name) == 0
          ? N_("It stops this site too.")
          : N_("It is the same selector under another name: until a person lifts the alarm, no new "
               "risk is shown under this name either.");
  return g_strdup_printf("%s %s", watch, demur_translate(translate, why));
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
  gint64 n_since = 0, n_patients = 0;
  if (root == NULL || !JSON_NODE_HOLDS_OBJECT(root) ||
      !demur_watch_from_name(alarm->signal, &signal))
    return g_strdup(alarm->signal);
  JsonObject *object = json_node_get_object(root);
  if (!demur_json_read_string(object, "since", &when, NULL) ||
      !demur_json_read_int(object, "n_since", 1, G_MAXINT32, &n_since, NULL))
    return g_strdup(demur_watch_alarm_title(alarm, translate));
  if (!demur_json_read_string(object, "value", &text, NULL))
    text = "";
  const double share = number_at(object, "now");
  const size_t n_reference = state->result->signals[signal].n_reference;
  if (!demur_json_read_int(object, "n_patients", n_since, G_MAXINT32, &n_patients, NULL) ||
      is_few(state, signal, when, share, (size_t)n_since,
             n_reference + (size_t)(n_patients - n_since)))
    return NULL;
  /* One patient stands for those since. */
  guint32 row = 0;
  const DemurWatchPatient patient = {.when = (char *)when};
  const DemurWatchSignalResult result = {.n_reference = n_reference,
                                         .n = (size_t)n_patients,
                                         .rows = &row,
                                         .n_since = (size_t)n_since,
                                         .text = (char *)text,
                                         .before = number_at(object, "before"),
                                         .since = share};
  return demur_watch_change_words(state->plan, signal, &result, &patient, translate);
}

char *
demur_watch_alarm_words(const DemurWatchState *state, const DemurWatchAlarm *alarm,
                        DemurTranslate translate) {
  g_autofree char *change = demur_watch_alarm_change(state, alarm, translate);
  if (change != NULL)
    return g_steal_pointer(&change);
  const char *title = demur_watch_alarm_title(alarm, translate);
  DemurWatchSignal signal;
  const gboolean known = demur_watch_from_name(alarm->signal, &signal);
  g_autoptr(GPtrArray) lines = demur_watch_lines(state, translate);
  for (guint i = 0; known && i < lines->len; i++) {
    const DemurWatchLine *line = lines->pdata[i];
    if (line->signal == signal && line->change != NULL && *line->change != '\0')
      return g_strdup_printf(
          demur_translate(translate, N_("%s (by now; at the alarm there were too few patients to "
                                        "be told)")),
          line->change);
  }
  return g_strdup_printf(demur_translate(translate, N_("%s: of too few patients to be told")),
                         title);
}
