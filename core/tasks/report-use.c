#include "tasks/report-use.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/json-reader.h"
#include "base/limits.h"
#include "evaluation/acceptance-document.h"
#include "metrics/intervals.h"
#include "store/acceptances.h"
#include "store/cohorts.h"
#include "tasks/selection.h"
#include "tasks/watch-lines.h"

#define MOST_POINTS 120 /* of a path */

void
demur_used_free(DemurUsed *used) {
  if (used == NULL)
    return;
  g_clear_pointer(&used->owned, g_ptr_array_unref);
  g_clear_pointer(&used->states, g_ptr_array_unref);
  g_clear_pointer(&used->held, g_ptr_array_unref);
  g_free(used);
}

static gpointer
own(DemurUsed *used, gpointer memory) {
  if (memory != NULL)
    g_ptr_array_add(used->owned, memory);
  return memory;
}

static const char *
own_text(DemurUsed *used, const char *text) {
  return own(used, g_strdup(text));
}

/* ---- watches ---- */

/* The e-values in steps of so many patients that no step tells of few. */
static void
take_path(DemurUsed *used, const DemurWatchSignalResult *result, DemurReportSignal *signal) {
  const size_t step =
      MAX((size_t)DEMUR_SMALL_CELL, (result->n + MOST_POINTS - 1) / (size_t)MOST_POINTS);
  const size_t n = result->n / step;
  size_t *at = own(used, g_new(size_t, MAX(n, 1)));
  double *evidence = own(used, g_new(double, MAX(n, 1)));
  for (size_t i = 0; i < n; i++) {
    at[i] = (i + 1) * step;
    evidence[i] = result->evidence[at[i] - 1];
  }
  signal->n_points = n;
  signal->at = at;
  signal->evidence = evidence;
}

/* For pages: their days are in words, where NULL stands for the English of files. */
static const char *
english(const char *text) {
  return text;
}

static DemurReportSignal
signal_of(DemurUsed *used, const DemurWatchState *state, const DemurWatchLine *line,
          const char *change) {
  const DemurWatchSignalResult *r = &state->result->signals[line->signal];
  const DemurWatchPatient *patients = (const DemurWatchPatient *)(gpointer)state->patients->data;
  DemurReportSignal signal = {.signal = line->signal,
                              .title = line->title,
                              .rule = state->plan->rules[line->signal],
                              .n = r->n,
                              .n_waiting = r->n_waiting,
                              .now = line->now,
                              .most = r->most,
                              .most_reached = line->most_reached,
                              .limit = line->limit,
                              .alarm = line->alarm};
  take_path(used, r, &signal);
  if (r->n == 0)
    return signal;
  signal.first = patients[r->rows[0]].when;
  signal.last = patients[r->rows[r->n - 1]].when;
  if (line->alarm) {
    signal.alarm_reached = patients[r->rows[r->alarm]].when;
    signal.alarm_at = line->alarm_at;
  }
  const char *since = patients[r->rows[r->change]].when;
  if (line->change != NULL && *line->change != '\0') {
    signal.change = own_text(used, change);
    signal.change_iso = own_text(used, line->change);
    signal.since = since;
    signal.change_at = r->change;
  }
  return signal;
}

/* Of the selector of that name; stops is kept until the end. *n: how many they are. */
static DemurReportStop *
stops_of(DemurUsed *used, const char *name, const GPtrArray *stops, size_t *n) {
  DemurReportStop *all = own(used, g_new0(DemurReportStop, MAX(stops->len, 1)));
  *n = 0;
  for (guint i = 0; i < stops->len; i++) {
    const DemurWatchStop *stop = stops->pdata[i];
    DemurWatchSignal signal = DEMUR_WATCH_SCORE;
    if (!demur_watch_from_name(stop->alarm->signal, &signal))
      continue; /* of a program that knew others */
    all[(*n)++] = (DemurReportStop){.alarm = stop->alarm->id,
                                    .signal = signal,
                                    .selector = stop->alarm->selector,
                                    .site = stop->alarm->site,
                                    .created = stop->alarm->created,
                                    .unsure = stop->unsure,
                                    .sentence_iso =
                                        own(used, demur_watch_stop_words(stop, name, TRUE, NULL))};
  }
  return all;
}

static DemurReportWatch
watch_of(DemurUsed *used, const DemurWatchState *state) {
  g_autoptr(GPtrArray) lines = demur_watch_lines(state, NULL),
                       page = demur_watch_lines(state, english);
  DemurReportSignal *signals = own(used, g_new0(DemurReportSignal, MAX(lines->len, 1)));
  for (guint i = 0; i < lines->len; i++)
    signals[i] =
        signal_of(used, state, lines->pdata[i], ((const DemurWatchLine *)page->pdata[i])->change);
  DemurReportAlarm *alarms = own(used, g_new0(DemurReportAlarm, MAX(state->alarms->len, 1)));
  size_t n_alarms = 0;
  for (guint i = 0; i < state->alarms->len; i++) {
    const DemurWatchAlarm *alarm = state->alarms->pdata[i];
    DemurWatchSignal signal = DEMUR_WATCH_SCORE;
    if (!demur_watch_from_name(alarm->signal, &signal))
      continue; /* of a program that knew others */
    alarms[n_alarms++] =
        (DemurReportAlarm){.signal = signal,
                           .title = demur_watch_alarm_title(alarm, NULL),
                           .change = own(used, demur_watch_alarm_change(state, alarm, english)),
                           .change_iso = own(used, demur_watch_alarm_change(state, alarm, NULL)),
                           .created = alarm->created,
                           .withholds = alarm->withholds,
                           .lifted = alarm->lifted,
                           .lifted_by = alarm->lifted_by,
                           .lifted_why = alarm->lifted_why};
  }
  size_t n_stops;
  const DemurReportStop *stops = stops_of(used, state->record->selector, state->stops, &n_stops);
  return (DemurReportWatch){.id = state->record->id,
                            .site = state->record->site,
                            .reference = state->record->cohort,
                            .began = state->record->created,
                            .plan_digest = state->record->digest,
                            .headline = own(used, demur_watch_headline(state, FALSE, NULL)),
                            .headline_iso = own(used, demur_watch_headline(state, TRUE, NULL)),
                            .simulated = state->plan->simulated,
                            .outdated = state->outdated,
                            .stopped = demur_watch_n_stops(state) > 0,
                            .alpha = state->plan->alpha,
                            .limit = demur_watch_shared_limit(state->plan),
                            .n_patients = state->patients->len,
                            .n_scans = state->n_scans,
                            .n_again = state->n_again,
                            .n_before = state->n_before,
                            .n_trained = state->n_trained,
                            .n_gone = state->n_gone,
                            .n_signals = lines->len,
                            .signals = signals,
                            .n_alarms = n_alarms,
                            .alarms = alarms,
                            .n_stops = n_stops,
                            .stops = stops};
}

/* ---- acceptance tests ---- */

static double
number_of(JsonObject *object, const char *name) {
  double value;
  return object != NULL && demur_json_read_double(object, name, -INFINITY, INFINITY, &value, NULL)
             ? value
             : (double)NAN;
}

static size_t
count_of(JsonObject *object, const char *name) {
  gint64 n;
  return object != NULL && demur_json_read_int(object, name, 0, G_MAXINT32, &n, NULL) ? (size_t)n
                                                                                      : 0;
}

static void
read_interval(JsonObject *object, const char *name, double *low, double *high) {
  double *ends = NULL;
  const gboolean there =
      object != NULL && demur_json_read_doubles(object, name, 2, -INFINITY, INFINITY, &ends, NULL);
  *low = there ? ends[0] : (double)NAN;
  *high = there ? ends[1] : (double)NAN;
  g_aligned_free(ends);
}

/* What was looked at: of the risks as shown. NULL where the document is none. */
static JsonObject *
part_of(JsonObject *document, const char *name) {
  JsonNode *node = document != NULL ? json_object_get_member(document, name) : NULL;
  return node != NULL && JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
}

static gboolean
labels_are_few(JsonObject *shown) {
  const size_t n = count_of(shown, "n_labels"), n_events = count_of(shown, "n_events");
  return n_events < DEMUR_SMALL_CELL || n < n_events + DEMUR_SMALL_CELL;
}

/* Oldest first, none of few, and none that a few labels alone set apart from the one before. */
static void
take_looks(DemurUsed *used, const GPtrArray *answers, const GPtrArray *documents,
           DemurReportAcceptance *a) {
  DemurReportLook *looks = own(used, g_new0(DemurReportLook, MAX(answers->len, 1)));
  size_t n = 0;
  for (guint i = answers->len; i-- > 0;) { /* newest first */
    JsonObject *shown = part_of(json_node_get_object(documents->pdata[i]), "shown");
    const size_t n_labels = count_of(shown, "n_labels");
    if (labels_are_few(shown) ||
        (n > 0 && n_labels < looks[n - 1].n_labels + DEMUR_SMALL_CELL && i > 0))
      continue;
    if (n > 0 && n_labels < looks[n - 1].n_labels + DEMUR_SMALL_CELL)
      n--; /* the last one stands; the one before it gives way */
    looks[n].n_labels = n_labels;
    looks[n].ratio = number_of(shown, "observed_over_expected");
    read_interval(shown, "observed_over_expected_interval", &looks[n].low, &looks[n].high);
    n++;
  }
  a->looks = looks;
  a->n_looks = n;
}

static size_t
length_of(JsonObject *object, const char *name) {
  JsonArray *array;
  return object != NULL && json_object_has_member(object, name) &&
                 demur_json_read_array(object, name, &array, NULL)
             ? json_array_get_length(array)
             : 0;
}

static void
take_answer(DemurUsed *used, const DemurAcceptanceRecord *answer, JsonObject *document,
            DemurReportAcceptance *a) {
  JsonObject *shown = part_of(document, "shown"), *without = part_of(document, "without_audit");
  gboolean kept = TRUE;
  if (!demur_json_read_bool(document, "coverage_kept", &kept, NULL))
    kept = TRUE;
  a->answered = demur_acceptance_answer_from_name(answer->answer, &a->answer);
  a->looked = own_text(used, answer->created);
  a->labels_digest = own_text(used, answer->labels_digest);
  a->coverage_kept = kept;
  JsonObject *changed = part_of(document, "labels_changed");
  a->labels_changed = count_of(changed, "n_changed") + count_of(changed, "n_gone") > 0;
  a->n_earlier = length_of(document, "earlier_plans");
  a->n_more = count_of(shown, "n_more");
  a->few = labels_are_few(shown);
  a->unaudited = a->unaudited_low = a->unaudited_high = NAN;
  if (a->few) {
    a->ratio = a->ratio_low = a->ratio_high = a->evidence_above = a->evidence_below = NAN;
    a->intercept = a->intercept_low = a->intercept_high = NAN;
    a->auroc = a->auroc_low = a->auroc_high = NAN;
    return;
  }
  a->n_labels = count_of(shown, "n_labels");
  a->n_events = count_of(shown, "n_events");
  a->ratio = number_of(shown, "observed_over_expected");
  read_interval(shown, "observed_over_expected_interval", &a->ratio_low, &a->ratio_high);
  a->unaudited = number_of(without, "observed_over_expected");
  read_interval(without, "observed_over_expected_interval", &a->unaudited_low, &a->unaudited_high);
  a->evidence_above = number_of(shown, "evidence_above_low");
  a->evidence_below = number_of(shown, "evidence_below_high");
  a->intercept = number_of(shown, "calibration_intercept");
  read_interval(shown, "calibration_intercept_interval", &a->intercept_low, &a->intercept_high);
  a->auroc = number_of(shown, "auroc");
  read_interval(shown, "auroc_interval", &a->auroc_low, &a->auroc_high);
}

static gboolean
take_test(DemurUsed *used, DemurWorkspace *workspace, const DemurAcceptancePlanRecord *plan,
          gint64 to, const char *selector_digest, DemurReportAcceptance *a, GError **error) {
  g_autoptr(DemurAcceptanceDocument) d = demur_acceptance_document_from_json(plan->document, error);
  g_autoptr(GPtrArray) answers =
      d != NULL ? demur_acceptances_list(workspace, plan->id, error) : NULL;
  if (answers == NULL)
    return FALSE;
  g_autoptr(GPtrArray) documents = g_ptr_array_new_with_free_func((GDestroyNotify)json_node_unref);
  for (guint i = 0; i < answers->len;) {
    const DemurAcceptanceRecord *answer = answers->pdata[i];
    JsonNode *root = answer->id <= to ? demur_json_parse(answer->document) : NULL;
    if (root != NULL && JSON_NODE_HOLDS_OBJECT(root)) {
      g_ptr_array_add(documents, root);
      i++;
    } else { /* it came later */
      g_clear_pointer(&root, json_node_unref);
      g_ptr_array_remove_index(answers, i);
    }
  }
  g_autoptr(GError) gone = NULL;
  g_autoptr(DemurCohortSummary) cohort = demur_cohorts_summary(workspace, plan->cohort, &gone);
  const DemurAcceptanceSettings *settings = &d->plan->settings;
  *a = (DemurReportAcceptance){.site = own_text(used, plan->site),
                               .cohort = own_text(used, plan->cohort),
                               .planned = own_text(used, plan->created),
                               .plan_digest = own_text(used, plan->digest),
                               .simulated = cohort != NULL && cohort->simulated,
                               .outdated = g_strcmp0(plan->selector_digest, selector_digest) != 0,
                               .range_low = settings->low,
                               .range_high = settings->high,
                               .alpha = settings->alpha,
                               .alpha_of_all = d->alpha_of_all,
                               .power = settings->power,
                               .coverage_asked = d->coverage,
                               .coverage = (double)d->n_shown / (double)MAX(d->n_patients, 1),
                               .n_needed = d->plan->n_needed,
                               .n_planned = d->plan->n_chosen,
                               .audit_intercept = d->intercept};
  demur_interval_wilson((double)d->n_shown, (double)d->n_patients, 0.95, &a->coverage_low,
                        &a->coverage_high);
  take_looks(used, answers, documents, a);
  if (answers->len > 0)
    take_answer(used, answers->pdata[0], json_node_get_object(documents->pdata[0]), a);
  return TRUE;
}

/* ---- both ---- */

/* Up to where the pinned report looked; FALSE where it knows nothing of use. */
static gboolean
read_up_to(const DemurReportPin *pin, DemurReportUpTo *to) {
  JsonObject *object = part_of(pin->document, "used_up_to");
  if (object == NULL)
    return FALSE;
  const struct {
    const char *name;
    gint64 *id;
  } members[] = {{"watch", &to->watch},          {"verdict", &to->verdict}, {"label", &to->label},
                 {"alarm", &to->alarm},          {"lift", &to->lift},       {"plan", &to->plan},
                 {"acceptance", &to->acceptance}};
  for (size_t i = 0; i < G_N_ELEMENTS(members); i++)
    if (!demur_json_read_int(object, members[i].name, 0, G_MAXINT64, members[i].id, NULL))
      *members[i].id = 0;
  return TRUE;
}

static gboolean
take_watches(DemurTask *task, const char *selector, DemurUsed *used, GError **error) {
  const DemurReportUpTo *to = &used->use.up_to;
  const DemurWatchMark then = {to->watch, to->verdict, to->label, to->alarm, to->lift};
  used->states = demur_task_watch_look_back(task, selector, &then, error);
  if (used->states == NULL)
    return FALSE;
  DemurReportWatch *watches = own(used, g_new0(DemurReportWatch, MAX(used->states->len, 1)));
  for (guint i = 0; i < used->states->len; i++)
    watches[i] = watch_of(used, used->states->pdata[i]);
  used->use.watches = watches;
  used->use.n_watches = used->states->len;
  used->held = demur_task_watch_held(task, selector, used->states, &then, error);
  if (used->held == NULL)
    return FALSE;
  for (guint i = 0; i < used->held->len; i++) { /* of one name: one, or none */
    const DemurWatchHeld *held = used->held->pdata[i];
    used->use.stops = stops_of(used, selector, held->stops, &used->use.n_stops);
  }
  return TRUE;
}

static gboolean
take_tests(DemurTask *task, const char *selector, const char *digest, DemurUsed *used,
           GError **error) {
  const DemurReportUpTo *to = &used->use.up_to;
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_autoptr(DemurSelector) loaded =
      digest == NULL ? demur_task_load_selector(task, selector, NULL, error) : NULL;
  if (digest == NULL && loaded == NULL)
    return FALSE;
  g_autoptr(GPtrArray) plans =
      workspace != NULL ? demur_acceptance_plans_list(workspace, selector, to->plan, error) : NULL;
  if (plans == NULL)
    return FALSE;
  DemurReportAcceptance *tests = own(used, g_new0(DemurReportAcceptance, MAX(plans->len, 1)));
  for (guint i = 0; i < plans->len; i++)
    if (!take_test(used, workspace, plans->pdata[i], to->acceptance,
                   digest != NULL ? digest : demur_selector_digest(loaded), &tests[i], error))
      return FALSE;
  used->use.acceptances = tests;
  used->use.n_acceptances = plans->len;
  return TRUE;
}

gboolean
demur_task_used(DemurTask *task, const char *selector, const char *digest,
                const DemurReportPin *pin, DemurUsed **used, GError **error) {
  *used = NULL;
  g_autoptr(DemurUsed) made = g_new0(DemurUsed, 1);
  made->owned = g_ptr_array_new_with_free_func(g_free);
  DemurReportUpTo *to = &made->use.up_to;
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  if (workspace == NULL)
    return FALSE;
  if (pin != NULL) {
    if (!read_up_to(pin, to))
      return TRUE;
  } else {
    DemurWatchMark now;
    if (!demur_watches_mark(workspace, &now, error) ||
        !demur_acceptances_last(workspace, &to->plan, &to->acceptance, error))
      return FALSE;
    to->watch = now.watch;
    to->verdict = now.verdict;
    to->label = now.label;
    to->alarm = now.alarm;
    to->lift = now.lift;
  }
  if (!take_watches(task, selector, made, error) ||
      !take_tests(task, selector, digest, made, error))
    return FALSE;
  *used = g_steal_pointer(&made);
  return TRUE;
}
