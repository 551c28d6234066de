#include "tasks/watch.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/json-writer.h"
#include "base/person.h"
#include "selector/release.h"
#include "selector/selector.h"
#include "store/cohorts.h"
#include "store/series.h"
#include "store/verdicts.h"
#include "tasks/assess.h"
#include "tasks/label-table.h"
#include "tasks/selection.h"
#include "tasks/watch-makers.h"
#include "tasks/watch-stream.h"

/* ---- start ---- */

void
demur_watch_started_free(DemurWatchStarted *started) {
  if (started == NULL)
    return;
  g_free(started->digest);
  demur_watch_plan_free(started->plan);
  g_free(started);
}

/* Patients of the cohort's assessed scans, of each the scan whose key is least. */
static void
refer_to_cohort(DemurCohort *cohort, const DemurAssessment *assessment,
                const DemurWatchMakers *makers, const char *site, DemurWatchStarted *started) {
  g_autoptr(GHashTable) least = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GArray) patients = demur_watch_patients_new();
  const gboolean apart = demur_watch_makers_apart(makers, cohort);
  for (guint i = 0; i < assessment->verdicts->len; i++) {
    const DemurVerdictRecord *v = &g_array_index(assessment->verdicts, DemurVerdictRecord, i);
    if (site != NULL && g_strcmp0(site, v->site) != 0)
      continue;
    const gssize row = demur_cohort_find_scan(cohort, v->scan_id);
    if (!apart && demur_watch_makers_hold(makers, cohort, (size_t)row, v->patient_id)) {
      started->n_trained++;
      continue;
    }
    DemurWatchPatient patient = {.key = demur_watch_scan_key(cohort->name, v->scan_id),
                                 .scored = TRUE,
                                 .outcome_of = g_strdup("assessed"),
                                 .score = v->score,
                                 .raw = v->risk_raw,
                                 .risk = v->risk,
                                 .distance = v->distance};
    demur_watch_fill_cohort(&patient, cohort, (size_t)row);
    g_autofree char *person = demur_watch_person_of_cohort(cohort, v->patient_id);
    const guint at = GPOINTER_TO_UINT(g_hash_table_lookup(least, person));
    if (at == 0) {
      g_array_append_val(patients, patient);
      g_hash_table_insert(least, g_steal_pointer(&person), GUINT_TO_POINTER(patients->len));
      continue;
    }
    DemurWatchPatient *other = &g_array_index(patients, DemurWatchPatient, at - 1);
    if (patient.key < other->key) {
      demur_watch_patient_clear(other);
      *other = patient;
    } else {
      demur_watch_patient_clear(&patient);
    }
  }
  g_strfreev(started->plan->patients);
  g_autoptr(GList) persons = g_list_sort(g_hash_table_get_keys(least), (GCompareFunc)strcmp);
  g_autoptr(GStrvBuilder) list = g_strv_builder_new();
  for (GList *one = persons; one != NULL; one = one->next)
    g_strv_builder_add(list, one->data);
  started->plan->patients = g_strv_builder_end(list);
  started->n_reference = patients->len;
  demur_watch_plan_refer(started->plan, (const DemurWatchPatient *)(gpointer)patients->data,
                         patients->len);
}

/* Who was assessed so far. */
static gboolean
refer_to_history(DemurWorkspace *workspace, const DemurSelector *selector,
                 const DemurWatchStartParams *params, DemurWatchStarted *started, GError **error) {
  const DemurWatchStreamParams of_history = {.selector = params->selector,
                                             .selector_digest = demur_selector_digest(selector),
                                             .site = params->site,
                                             .to = started->plan->after,
                                             .trained = selector};
  g_auto(DemurWatchStream) stream = {0};
  if (!demur_watch_stream_read(workspace, &of_history, &stream, error))
    return FALSE;
  started->n_trained = stream.n_trained;
  started->n_reference = stream.patients->len;
  demur_watch_plan_refer(started->plan, (const DemurWatchPatient *)(gpointer)stream.patients->data,
                         stream.patients->len);
  g_strfreev(started->plan->patients);
  started->plan->patients = g_steal_pointer(&stream.persons);
  return TRUE;
}

static gboolean
check_selector(const DemurAssessment *assessment, const char *name, GError **error) {
  if (demur_selector_n_classes(assessment->selector) > 2) {
    demur_error_set(error, DEMUR_ERROR_UNSUPPORTED,
                    "a watch needs binary risk; selector '%s' has %zu classes", name,
                    demur_selector_n_classes(assessment->selector));
    return FALSE;
  }
  if (assessment->threshold == NULL) {
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "selector '%s' is not tuned, so no risk is shown yet: `demur tune %s` first",
                    name, name);
    return FALSE;
  }
  return TRUE;
}

/* The watch in force of that selector at that site; 0: none, -1 with error. */
static gint64
find_in_force(DemurWorkspace *workspace, const DemurWatchStartParams *params, GError **error) {
  g_autoptr(GPtrArray) records = demur_watches_list(workspace, params->selector, NULL, error);
  if (records == NULL)
    return -1;
  for (guint i = 0; i < records->len; i++) {
    const DemurWatchRecord *record = records->pdata[i];
    if (g_strcmp0(record->site, params->site) == 0)
      return record->id;
  }
  return 0;
}

static gboolean
keep_start(DemurTask *task, const DemurWatchStartParams *params, const DemurSelector *selector,
           DemurWatchStarted *started, GError **error) {
  started->plan->origin = g_strdup(demur_selector_origin(selector));
  g_autofree char *json = demur_watch_plan_to_json(started->plan), *now = demur_task_now(task);
  started->digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, json, -1);
  DemurWatchRecord record = {.selector = (char *)params->selector,
                             .selector_digest = (char *)demur_selector_digest(selector),
                             .site = (char *)params->site,
                             .cohort = (char *)params->cohort,
                             .document = json,
                             .digest = started->digest,
                             .user = task->user,
                             .created = now};
  DemurWorkspace *workspace = demur_task_workspace(task, NULL);
  started->ended = find_in_force(workspace, params, error);
  const gboolean ok = started->ended >= 0 && demur_watches_save(workspace, &record, error);
  started->id = record.id;
  return ok;
}

DemurWatchStarted *
demur_task_watch_start(DemurTask *task, const DemurWatchStartParams *params, GError **error) {
  g_autoptr(DemurWatchStarted) started = g_new0(DemurWatchStarted, 1);
  DemurWatchPlan *plan = started->plan = demur_watch_plan_new();
  plan->alpha = params->alpha;
  plan->low = params->low;
  plan->high = params->high;
  plan->seed = task->seed;
  memcpy(plan->rules, params->rules, sizeof plan->rules);
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  if (workspace == NULL || !demur_watch_plan_check(plan, error))
    return NULL;
  g_auto(DemurAssessment) assessment = {0};
  const DemurAssessParams ask = {.selector = params->selector,
                                 .cohort = params->cohort,
                                 .split = params->split,
                                 .coverage = params->coverage,
                                 .unwatched = TRUE};
  if (!demur_task_assess(task, &ask, &assessment, error) ||
      !check_selector(&assessment, params->selector, error))
    return NULL;
  plan->coverage = assessment.threshold->coverage;
  plan->threshold = assessment.threshold->threshold;
  plan->simulated = assessment.simulated;
  plan->after = demur_watches_last_verdict(workspace, error);
  if (plan->after < 0)
    return NULL;
  if (params->cohort != NULL) {
    g_autoptr(DemurCohort) whole = demur_cohorts_load_facts(workspace, params->cohort, NULL, error);
    g_autoptr(DemurCohort) cohort =
        whole != NULL ? demur_task_cohort_for(whole, assessment.selector, error) : NULL;
    g_auto(DemurWatchMakers) makers = {0};
    if (cohort == NULL || !demur_watch_makers_read(workspace, assessment.selector, &makers, error))
      return NULL;
    refer_to_cohort(cohort, &assessment, &makers, params->site, started);
    if (started->n_reference == 0) {
      demur_error_set(error, DEMUR_ERROR_STATE,
                      "cohort '%s' has no patient%s%s in split '%s' that the selector has not seen",
                      params->cohort, params->site != NULL ? N_(" of site ") : "",
                      params->site != NULL ? params->site : "",
                      params->split != NULL ? params->split : DEMUR_SPLIT_TEST);
      return NULL;
    }
  } else if (!refer_to_history(workspace, assessment.selector, params, started, error)) {
    return NULL;
  }
  return keep_start(task, params, assessment.selector, started, error) ? g_steal_pointer(&started)
                                                                       : NULL;
}

/* ---- look ---- */

void
demur_watch_state_free(DemurWatchState *state) {
  if (state == NULL)
    return;
  demur_watch_record_free(state->record);
  demur_watch_plan_free(state->plan);
  g_clear_pointer(&state->patients, g_array_unref);
  demur_watch_result_free(state->result);
  g_clear_pointer(&state->alarms, g_ptr_array_unref);
  g_clear_pointer(&state->stops, g_ptr_array_unref);
  g_free(state);
}

static void
state_free(gpointer state) {
  demur_watch_state_free(state);
}

static void
alarm_free(gpointer alarm) {
  demur_watch_alarm_free(alarm);
}

/* What stands under the watched name; NULL without error where there is nothing or, where that is to be told
 * (unreadable not NULL), it is damaged. */
static gboolean
find_selector(DemurTask *task, const DemurWatchRecord *record, DemurSelector **selector,
              gboolean *unreadable, GError **error) {
  g_autoptr(GError) local = NULL;
  *selector = demur_task_load_selector(task, record->selector, NULL, &local);
  if (*selector == NULL && (unreadable == NULL || !demur_task_selector_is_unreadable(local)) &&
      !g_error_matches(local, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND)) {
    g_propagate_error(error, g_steal_pointer(&local));
    return FALSE;
  }
  if (unreadable != NULL)
    *unreadable = *selector == NULL && !g_error_matches(local, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND);
  return TRUE;
}

/* The alarms of other watches that reach this one's selector. */
static gboolean
read_stops(DemurTask *task, DemurWatchState *state, const DemurSelector *selector,
           const DemurWatchMark *then, GError **error) {
  if (selector == NULL)
    state->stops = g_ptr_array_new();
  else
    state->stops = demur_task_watch_stops_elsewhere(task, state->record->selector,
                                                    state->record->site, selector, then, error);
  return state->stops != NULL;
}

/* Behind which verdict each signal begins: where its last alarm was lifted. */
static void
find_beginnings(const DemurWatchState *state, gint64 *after, gboolean *open) {
  for (guint s = 0; s < DEMUR_N_WATCH; s++) {
    after[s] = 0;
    open[s] = FALSE;
  }
  for (guint a = 0; a < state->alarms->len; a++) {
    const DemurWatchAlarm *alarm = state->alarms->pdata[a];
    DemurWatchSignal signal;
    if (alarm->watch != state->record->id || !demur_watch_from_name(alarm->signal, &signal))
      continue;
    after[signal] = MAX(after[signal], alarm->lifted_after);
    open[signal] |= alarm->lifted == NULL;
  }
}

/* The alarms of the watch, and those before it at the same site that nobody lifted. */
static gboolean
read_alarms(DemurWorkspace *workspace, DemurWatchState *state, const DemurWatchMark *then,
            GError **error) {
  g_autoptr(GPtrArray) all =
      demur_watch_alarms_list(workspace, state->record->selector, then, error);
  if (all == NULL)
    return FALSE;
  g_clear_pointer(&state->alarms, g_ptr_array_unref);
  state->alarms = g_ptr_array_new_with_free_func(alarm_free);
  g_ptr_array_set_free_func(all, NULL);
  for (guint i = 0; i < all->len; i++) {
    DemurWatchAlarm *alarm = all->pdata[i];
    if (alarm->watch == state->record->id ||
        (alarm->lifted == NULL && g_strcmp0(alarm->site, state->record->site) == 0))
      g_ptr_array_add(state->alarms, alarm);
    else
      demur_watch_alarm_free(alarm);
  }
  return TRUE;
}

static char *
alarm_document(const DemurWatchState *state, DemurWatchSignal signal) {
  const DemurWatchSignalResult *result = &state->result->signals[signal];
  const DemurWatchPatient *patients = (const DemurWatchPatient *)(gpointer)state->patients->data;
  g_autofree char *words = demur_watch_change_words(state->plan, signal, result, patients, NULL);
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "signal", demur_watch_columns[signal].name);
  demur_json_string(json, "what_changed", words);
  demur_json_string(json, "since", patients[result->rows[result->change]].when);
  demur_json_string(json, "reached", patients[result->rows[result->alarm]].when);
  demur_json_int(json, "n_patients", (gint64)result->alarm + 1);
  demur_json_int(json, "n_since", (gint64)result->n_since);
  demur_json_string(json, "value", result->text);
  demur_json_double(json, "now", result->since);
  demur_json_double(json, "before", result->before);
  demur_json_double(json, "evidence", result->evidence[result->alarm]);
  demur_json_double(json, "limit", result->limit);
  demur_json_end_object(json);
  return demur_json_finish(json);
}

/* Keeps the alarms that were not there; one that is there and not lifted stays the one it is. */
static gboolean
keep_alarms(DemurTask *task, DemurWorkspace *workspace, DemurWatchState *state,
            const gboolean *open, GError **error) {
  gboolean any = FALSE;
  g_autofree char *now = demur_task_now(task);
  for (guint s = 0; s < DEMUR_N_WATCH; s++) {
    const DemurWatchSignalResult *result = &state->result->signals[s];
    if (result->alarm == DEMUR_WATCH_NONE || open[s])
      continue;
    g_autofree char *document = alarm_document(state, (DemurWatchSignal)s);
    const DemurWatchAlarm alarm = {
        .watch = state->record->id,
        .signal = (char *)demur_watch_columns[s].name,
        .withholds = state->plan->rules[s] == DEMUR_WATCH_WITHHOLD,
        .at = g_array_index(state->patients, DemurWatchPatient, result->rows[result->alarm]).order,
        .document = document,
        .created = now};
    if (!demur_watch_alarms_save(workspace, &alarm, error))
      return FALSE;
    any = TRUE;
  }
  return !any || read_alarms(workspace, state, NULL, error);
}

static gboolean
look_at(DemurTask *task, DemurWorkspace *workspace, DemurWatchState *state,
        const DemurWatchMark *then, GError **error) {
  const DemurWatchRecord *record = state->record;
  g_autoptr(DemurSelector) selector = NULL;
  state->plan = demur_watch_plan_from_json(record->document, error);
  if (state->plan == NULL ||
      !find_selector(task, record, &selector, then == NULL ? &state->unreadable : NULL, error) ||
      !read_alarms(workspace, state, then, error) ||
      !read_stops(task, state, selector, then, error))
    return FALSE;
  if (selector != NULL && /* another now */
      g_strcmp0(demur_selector_digest(selector), record->selector_digest) != 0)
    g_clear_pointer(&selector, demur_selector_unref);
  state->outdated = selector == NULL;
  const DemurWatchStreamParams params = {.selector = record->selector,
                                         .selector_digest = record->selector_digest,
                                         .site = record->site,
                                         .after = state->plan->after,
                                         .to = then != NULL ? then->verdict : G_MAXINT64,
                                         .then = then,
                                         .left_out = state->plan->patients,
                                         .trained = selector};
  g_auto(DemurWatchStream) stream = {0};
  if (!demur_watch_stream_read(workspace, &params, &stream, error))
    return FALSE;
  state->patients = g_steal_pointer(&stream.patients);
  state->n_scans = stream.n_scans;
  state->n_again = stream.n_again;
  state->n_before = stream.n_before;
  state->n_trained = stream.n_trained;
  state->n_gone = stream.n_gone;
  gint64 after[DEMUR_N_WATCH];
  gboolean open[DEMUR_N_WATCH];
  find_beginnings(state, after, open);
  state->result =
      demur_watch_look(state->plan, (const DemurWatchPatient *)(gpointer)state->patients->data,
                       state->patients->len, after);
  return then != NULL || state->unreadable || keep_alarms(task, workspace, state, open, error);
}

GPtrArray *
demur_task_watch_look(DemurTask *task, const char *selector, GError **error) {
  return demur_task_watch_look_back(task, selector, NULL, error);
}

GPtrArray *
demur_task_watch_look_back(DemurTask *task, const char *selector, const DemurWatchMark *then,
                           GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_autoptr(GPtrArray) records =
      workspace != NULL ? demur_watches_list(workspace, selector, then, error) : NULL;
  if (records == NULL)
    return NULL;
  g_autoptr(GPtrArray) states = g_ptr_array_new_with_free_func(state_free);
  for (guint i = 0; i < records->len; i++) {
    DemurWatchState *state = g_new0(DemurWatchState, 1);
    g_ptr_array_add(states, state);
    state->record = g_steal_pointer(&records->pdata[i]);
    if (!look_at(task, workspace, state, then, error))
      return NULL;
  }
  return g_steal_pointer(&states);
}

gboolean
demur_task_watch_follow(DemurTask *task, const char *selector, GError **error) {
  g_autoptr(GPtrArray) states = demur_task_watch_look(task, selector, error);
  if (states == NULL)
    demur_error_prefix(error, "the verdicts were kept, but the watch could not look at them: ");
  return states != NULL;
}

gboolean
demur_task_watch_lift(DemurTask *task, gint64 alarm, const char *why, GError **error) {
  g_autofree char *text = g_strstrip(g_strdup(why != NULL ? why : ""));
  if (*text == '\0' || task->user == NULL || *task->user == '\0') {
    demur_error_set(error, DEMUR_ERROR_USAGE, "%s",
                    *text == '\0' ? N_("an alarm is lifted by a person for a reason: say which")
                                  : N_("an alarm is lifted by a person: say who"));
    return FALSE;
  }
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_autofree char *now = demur_task_now(task);
  return workspace != NULL &&
         demur_watch_alarms_lift(workspace, alarm, text, task->user, now, error);
}

/* ---- labels ---- */

void
demur_watch_labelled_clear(DemurWatchLabelled *labelled) {
  g_clear_pointer(&labelled->noticed, g_ptr_array_unref);
}

/* What verdicts say of a label's scan. */
typedef struct {
  const DemurLabel *label;
  gboolean assessed;
  gboolean of_person; /* .. of the patient that the label names, or it names none */
} Labelled;

static gboolean
note_scan(const DemurVerdictRecord *record, gpointer scans) {
  Labelled *scan = g_hash_table_lookup(scans, record->scan_id);
  if (scan == NULL)
    return TRUE;
  scan->assessed = TRUE;
  scan->of_person |= scan->label->patient_id == NULL || record->patient_id == NULL ||
                     demur_person_same_id(scan->label->patient_id, record->patient_id);
  return TRUE;
}

/* Why a label can't be that of a scan; NULL: it can. */
static const char *
label_fault(GHashTable *scans, const DemurLabel *row) {
  const Labelled *scan = g_hash_table_lookup(scans, row->scan_id);
  return !scan->assessed      ? N_("was never assessed")
         : scan->label != row ? N_("stands in the table twice")
         : !scan->of_person   ? N_("is another patient's")
                              : NULL;
}

/* Whether a label is dated before its scan, where it is a DICOM series that says when it was made. */
static gboolean
is_before_scan(DemurWorkspace *workspace, const DemurLabel *row, gboolean *before, GError **error) {
  *before = FALSE;
  if (row->date == NULL)
    return TRUE;
  g_autoptr(GError) local = NULL;
  g_autoptr(DemurSeriesRecord) series = demur_series_load(workspace, row->scan_id, &local);
  if (series == NULL && !g_error_matches(local, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND)) {
    g_propagate_error(error, g_steal_pointer(&local));
    return FALSE;
  }
  *before = series != NULL && series->study_date != NULL && strlen(series->study_date) == 8 &&
            strcmp(row->date, series->study_date) < 0;
  return TRUE;
}

/* Tells of labels [n] that are others than what was kept of their scans before. */
static gboolean
tell_overturned(DemurWorkspace *workspace, const DemurWatchLabel *labels, size_t n,
                GPtrArray *noticed, GError **error) {
  g_autoptr(GHashTable) before = demur_watch_labels_load(workspace, NULL, error);
  if (before == NULL)
    return FALSE;
  size_t n_overturned = 0;
  const char *first = NULL;
  for (size_t i = 0; i < n; i++) {
    const double *earlier = g_hash_table_lookup(before, labels[i].scan_id);
    if (earlier == NULL || (isnan(*earlier) && isnan(labels[i].label)) ||
        *earlier == labels[i].label)
      continue;
    first = n_overturned++ == 0 ? labels[i].scan_id : first;
  }
  if (n_overturned > 0)
    demur_table_warnings_add(noticed, DEMUR_TABLE_OVERTURNED, NULL, first, NULL, n_overturned, n);
  return TRUE;
}

gboolean
demur_task_watch_labels(DemurTask *task, const char *path, const char *columns, gboolean censored,
                        DemurWatchLabelled *labelled, GError **error) {
  *labelled = (DemurWatchLabelled){.noticed = demur_table_warnings_new()};
  g_autoptr(DemurColumnMap) map = NULL;
  if (columns != NULL && (map = demur_column_map_read(columns, error)) == NULL)
    return FALSE;
  g_autofree char *file = g_path_get_basename(path), *now = demur_task_now(task);
  g_autoptr(GArray) rows = demur_label_table_read_any(path, map, now, labelled->noticed, error);
  DemurWorkspace *workspace = rows != NULL ? demur_task_workspace(task, error) : NULL;
  g_autoptr(GHashTable) scans = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
  for (guint i = rows != NULL ? rows->len : 0; i-- > 0;) { /* of two the first is kept */
    Labelled *scan = g_new0(Labelled, 1);
    scan->label = &g_array_index(rows, DemurLabel, i);
    g_hash_table_replace(scans, scan->label->scan_id, scan);
  }
  if (workspace == NULL || !demur_verdicts_walk(workspace, note_scan, scans, error))
    return FALSE;
  g_autofree DemurWatchLabel *labels = g_new0(DemurWatchLabel, MAX(rows->len, 1));
  size_t n = 0;
  for (guint i = 0; i < rows->len; i++) {
    const DemurLabel *row = &g_array_index(rows, DemurLabel, i);
    const char *wrong = label_fault(scans, row);
    gboolean before;
    if (!is_before_scan(workspace, row, &before, error))
      return FALSE;
    if (wrong == NULL && before)
      wrong = N_("was made after the day that its label is dated");
    if (wrong != NULL) {
      demur_error_set(error, DEMUR_ERROR_INPUT, "%s: line %zu: scan '%s' %s; nothing was kept",
                      file, row->line, row->scan_id, wrong);
      return FALSE;
    }
    const gboolean there = isfinite(row->label);
    labelled->n += there ? 1 : 0;
    labelled->n_censored += !there && censored ? 1 : 0;
    labelled->n_empty += !there && !censored ? 1 : 0;
    if (there || censored)
      labels[n++] = (DemurWatchLabel){row->scan_id, row->label};
  }
  return n == 0 || (tell_overturned(workspace, labels, n, labelled->noticed, error) &&
                    demur_watch_labels_save(workspace, labels, n, task->user, now, error));
}
