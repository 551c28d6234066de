#include "tasks/watch-json.h"

#include <math.h>

#include "base/limits.h"
#include "tasks/watch-lines.h"

/* The e-value behind every tenth patient: from one to the next it would tell of that one. */
static void
write_path(DemurJson *json, const DemurWatchSignalResult *r) {
  const size_t n = r->n / DEMUR_SMALL_CELL;
  g_autofree double *path = g_new(double, MAX(n, 1));
  for (size_t i = 0; i < n; i++)
    path[i] = r->evidence[(i + 1) * DEMUR_SMALL_CELL - 1];
  demur_json_doubles(json, "evidence_path", path, n);
}

static void
write_signal(DemurJson *json, const DemurWatchState *state, guint s, gboolean path) {
  const DemurWatchSignalResult *r = &state->result->signals[s];
  const DemurWatchPatient *patients = (const DemurWatchPatient *)(gpointer)state->patients->data;
  const gboolean few = demur_watch_change_is_few(state, (DemurWatchSignal)s, r);
  g_autofree char *words =
      few ? NULL : demur_watch_change_words(state->plan, (DemurWatchSignal)s, r, patients, NULL);
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "signal", demur_watch_columns[s].name);
  demur_json_string(json, "title", demur_watch_columns[s].title);
  demur_json_string(json, "rule", demur_watch_rule_name(state->plan->rules[s]));
  demur_json_int(json, "n_reference",
                 (gint64)demur_watch_told_reference(state->record->site, r->n_reference));
  demur_json_int(json, "n", (gint64)r->n);
  demur_json_double(json, "evidence", r->n > 0 ? r->evidence[r->n - 1] : 1.0);
  demur_json_double(json, "evidence_most", r->most);
  demur_json_string(json, "evidence_most_reached",
                    r->most_at != DEMUR_WATCH_NONE ? patients[r->rows[r->most_at]].when : NULL);
  demur_json_double(json, "limit", r->limit);
  demur_json_bool(json, "alarm", r->alarm != DEMUR_WATCH_NONE);
  demur_json_string(json, "alarm_reached",
                    r->alarm != DEMUR_WATCH_NONE ? patients[r->rows[r->alarm]].when : NULL);
  if (few)
    demur_json_string(json, "n_since", NULL);
  else
    demur_json_int(json, "n_since", (gint64)r->n_since);
  demur_json_string(json, "since",
                    r->n_since > 0 && !few ? patients[r->rows[r->change]].when : NULL);
  demur_json_string(json, "value", few ? NULL : r->text);
  demur_json_double(json, "now", few ? NAN : r->since);
  demur_json_double(json, "before",
                    few || demur_watch_before_is_few((DemurWatchSignal)s, r) ? NAN : r->before);
  demur_json_int(json, "n_waiting", (gint64)r->n_waiting);
  demur_json_string(json, "what_changed", words);
  if (path)
    write_path(json, r);
  demur_json_end_object(json);
}

/* Into an open object. */
static void
write_alarm(DemurJson *json, const DemurWatchAlarm *alarm) {
  demur_json_int(json, "alarm", alarm->id);
  demur_json_string(json, "selector", alarm->selector);
  demur_json_string(json, "signal", alarm->signal);
  demur_json_bool(json, "withholds", alarm->withholds);
  demur_json_string(json, "created", alarm->created);
  demur_json_string(json, "lifted", alarm->lifted);
  demur_json_string(json, "lifted_by", alarm->lifted_by);
  demur_json_string(json, "lifted_why", alarm->lifted_why);
}

void
demur_watch_stops_write(DemurJson *json, const char *key, const GPtrArray *stops) {
  demur_json_begin_array(json, key);
  for (guint i = 0; i < stops->len; i++) {
    const DemurWatchStop *stop = stops->pdata[i];
    demur_json_begin_object(json, NULL);
    write_alarm(json, stop->alarm);
    demur_json_string(json, "site", stop->alarm->site);
    demur_json_bool(json, "unsure", stop->unsure);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}

void
demur_watch_held_write(DemurJson *json, const GPtrArray *held) {
  demur_json_begin_array(json, "held");
  for (guint i = 0; i < held->len; i++) {
    const DemurWatchHeld *one = held->pdata[i];
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "selector", one->selector);
    demur_watch_stops_write(json, "stopped_by", one->stops);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}

void
demur_watch_limits_write(DemurJson *json, const DemurWatchPlan *plan) {
  demur_json_double(json, "limit", demur_watch_shared_limit(plan));
  demur_json_begin_object(json, "limits");
  for (guint s = 0; s < DEMUR_N_WATCH; s++)
    if (plan->rules[s] != DEMUR_WATCH_IGNORE)
      demur_json_double(json, demur_watch_columns[s].name,
                        demur_watch_limit(plan, (DemurWatchSignal)s));
  demur_json_end_object(json);
}

void
demur_watch_state_write(DemurJson *json, const DemurWatchState *state, gboolean path) {
  demur_json_begin_object(json, NULL);
  demur_json_int(json, "watch", state->record->id);
  demur_json_string(json, "selector", state->record->selector);
  demur_json_string(json, "site", state->record->site);
  demur_json_string(json, "reference", state->record->cohort);
  demur_json_bool(json, "simulated", state->plan->simulated);
  demur_json_string(json, "began", state->record->created);
  demur_json_string(json, "plan_digest", state->record->digest);
  demur_json_bool(json, "selector_changed", state->outdated);
  demur_json_bool(json, "selector_unreadable", state->unreadable);
  demur_json_bool(json, "withheld", demur_watch_n_stops(state) > 0);
  demur_json_double(json, "alpha", state->plan->alpha);
  demur_watch_limits_write(json, state->plan);
  demur_json_int(json, "n_patients", (gint64)state->patients->len);
  demur_json_int(json, "n_scans", (gint64)state->n_scans);
  demur_json_int(json, "n_again", (gint64)state->n_again);
  demur_json_int(json, "n_before", (gint64)state->n_before);
  demur_json_int(json, "n_trained", (gint64)state->n_trained);
  demur_json_int(json, "n_gone", (gint64)state->n_gone);
  demur_json_begin_array(json, "signals");
  for (guint s = 0; s < DEMUR_N_WATCH; s++)
    if (state->plan->rules[s] != DEMUR_WATCH_IGNORE)
      write_signal(json, state, s, path);
  demur_json_end_array(json);
  demur_json_begin_array(json, "alarms");
  for (guint i = 0; i < state->alarms->len; i++) {
    demur_json_begin_object(json, NULL);
    write_alarm(json, state->alarms->pdata[i]);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_watch_stops_write(json, "stopped_by", state->stops);
  demur_json_end_object(json);
}
