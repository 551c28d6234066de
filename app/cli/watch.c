/* demur watch start SELECTOR: what is watched in use, against whom, and what an alarm does; demur watch
 * show: what it sees; demur watch labels FILE: outcomes as they come; demur watch lift ALARM: a person
 * decides. */
#include <math.h>
#include <string.h>

#include "app/cli/counted.h"
#include "app/cli/command.h"
#include "app/cli/noticed.h"
#include "base/error.h"
#include "base/number.h"
#include "tasks/selection.h"
#include "tasks/watch-json.h"
#include "tasks/watch-lines.h"
#include "tasks/watch.h"

/* "kernel=note", or "note" for every signal. */
static gboolean
parse_rule(const char *text, DemurWatchRule *rules, GError **error) {
  const char *mark = strchr(text, '=');
  g_autofree char *name = mark != NULL ? g_strndup(text, (gsize)(mark - text)) : NULL;
  DemurWatchRule rule;
  DemurWatchSignal signal = DEMUR_WATCH_SCORE;
  if (demur_watch_rule_from_name(mark != NULL ? mark + 1 : text, &rule) &&
      (name == NULL || demur_watch_from_name(name, &signal))) {
    for (guint s = 0; s < DEMUR_N_WATCH; s++)
      if (name == NULL || s == (guint)signal)
        rules[s] = rule;
    return TRUE;
  }
  g_autoptr(GString) names = g_string_new(NULL);
  for (guint s = 0; s < DEMUR_N_WATCH; s++)
    g_string_append_printf(names, "%s%s", s > 0 ? ", " : "", demur_watch_columns[s].name);
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
              "--rule takes SIGNAL=RULE or RULE, not '%s'; rules are note, withhold and ignore, "
              "signals %s",
              text, names->str);
  return FALSE;
}

static void
print_started_json(DemurContext *context, const DemurWatchStartParams *params,
                   const DemurWatchStarted *started) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_int(json, "watch", started->id);
  demur_json_double(json, "ended_watch", started->ended > 0 ? (double)started->ended : NAN);
  demur_json_string(json, "selector", params->selector);
  demur_json_string(json, "site", params->site);
  demur_json_string(json, "reference", params->cohort);
  demur_json_bool(json, "simulated", started->plan->simulated);
  demur_json_string(json, "plan_digest", started->digest);
  demur_json_double(json, "alpha", started->plan->alpha);
  demur_json_double(json, "requested_coverage", started->plan->coverage);
  demur_json_int(json, "n_reference",
                 (gint64)demur_watch_told_reference(params->site, started->n_reference));
  demur_json_int(json, "n_reference_labelled",
                 (gint64)demur_watch_told_reference(params->site, started->plan->n_labelled));
  demur_json_int(json, "n_trained", (gint64)started->n_trained);
  demur_watch_limits_write(json, started->plan);
  demur_json_begin_object(json, "rules");
  for (guint s = 0; s < DEMUR_N_WATCH; s++)
    demur_json_string(json, demur_watch_columns[s].name,
                      demur_watch_rule_name(started->plan->rules[s]));
  demur_json_end_object(json);
  demur_json_end_object(json);
  demur_context_print_json(context, json);
}

static void
print_started(const DemurWatchStartParams *params, const DemurWatchStarted *started) {
  const char *at_least = params->site != NULL ? "at least " : ""; /* in tens */
  g_print("Watch %" G_GINT64_FORMAT
          " over selector '%s' at %s%s%s%s begins. Reference: %s%zu patient%s of %s, %s%zu of them "
          "with their outcome.\n",
          started->id, params->selector, params->site != NULL ? "site '" : "every site",
          params->site != NULL ? params->site : "", params->site != NULL ? "'" : "",
          started->plan->simulated ? " (simulated data)" : "", at_least,
          demur_watch_told_reference(params->site, started->n_reference),
          demur_cli_s(demur_watch_told_reference(params->site, started->n_reference)),
          params->cohort != NULL ? params->cohort : "those assessed so far", at_least,
          demur_watch_told_reference(params->site, started->plan->n_labelled));
  if (started->ended > 0)
    g_print("It ends watch %" G_GINT64_FORMAT
            ": what that one had seen counts no more; its alarms stay until they are lifted.\n",
            started->ended);
  if (started->n_trained > 0)
    g_print(started->n_trained == 1
                ? "%zu scan is of a patient who made the selector and was left out.\n"
                : "%zu scans are of patients who made the selector and were left out.\n",
            started->n_trained);
  if (started->n_reference == 0)
    g_print("Nobody was assessed so far: the first patients to come are the reference, and what "
            "changes among them is found late.\n");
  g_autoptr(GString) missing = g_string_new(NULL);
  for (guint s = 0; s < DEMUR_N_WATCH && started->n_reference > 0; s++)
    if (started->plan->rules[s] != DEMUR_WATCH_IGNORE &&
        !demur_watch_is_recorded(started->plan, (DemurWatchSignal)s))
      g_string_append_printf(missing, " %s", demur_watch_columns[s].name);
  if (missing->len > 0)
    g_print(
        "The reference does not record:%s. Of these the first patients to come who have them are "
        "the reference.\n",
        missing->str);
  g_print("An alarm is an e-value of:");
  for (guint s = 0; s < DEMUR_N_WATCH; s++)
    if (started->plan->rules[s] != DEMUR_WATCH_IGNORE)
      g_print(" %s %.0f", demur_watch_columns[s].name,
              demur_watch_limit(started->plan, (DemurWatchSignal)s));
  g_print(".\nOf hospitals where nothing changes at most %g %% ever see one.\n",
          100.0 * started->plan->alpha);
  for (guint r = 0; r < DEMUR_N_WATCH_RULES; r++) {
    g_autoptr(GString) names = g_string_new(NULL);
    for (guint s = 0; s < DEMUR_N_WATCH; s++)
      if (started->plan->rules[s] == (DemurWatchRule)r)
        g_string_append_printf(names, " %s", demur_watch_columns[s].name);
    static const char *const words[] = {
        "An alarm is told:", "An alarm stops new accepted verdicts:", "Not watched:"};
    if (names->len > 0)
      g_print("  %-38s%s\n", words[r], names->str);
  }
  g_print(
      "Every assessment is looked at; `demur watch show` tells what was found. For research use, "
      "not a cleared device.\n");
}

static gboolean
run_start(DemurContext *context, int argc, char **argv, GError **error) {
  g_autofree char *cohort = NULL, *split = NULL, *site = NULL, *coverage = NULL, *range = NULL;
  g_auto(GStrv) rules = NULL, arguments = NULL;
  DemurWatchStartParams params = {.alpha = 0.05, .low = 0.8, .high = 1.25};
  for (guint s = 0; s < DEMUR_N_WATCH; s++)
    params.rules[s] = DEMUR_WATCH_WITHHOLD;
  const GOptionEntry entries[] = {
      {"cohort", 'c', 0, G_OPTION_ARG_STRING, &cohort,
       "the reference's patients (those assessed so far)", "C"},
      {"split", 0, 0, G_OPTION_ARG_STRING, &split, "split of the cohort (test)", "SPLIT"},
      {"site", 0, 0, G_OPTION_ARG_STRING, &site, "watch this site alone (every site)", "S"},
      {"coverage", 0, 0, G_OPTION_ARG_STRING, &coverage,
       "watch what is shown at this tuned coverage (the one in use)", "X"},
      {"alpha", 0, 0, G_OPTION_ARG_DOUBLE, &params.alpha,
       "most probability that any false alarm is ever seen (0.05)", "A"},
      {"range", 0, 0, G_OPTION_ARG_STRING, &range,
       "agreed range of observed over expected (0.8,1.25)", "LOW,HIGH"},
      {"rule", 0, 0, G_OPTION_ARG_STRING_ARRAY, &rules,
       "what an alarm does: note, withhold (default) or ignore; may be given again",
       "[SIGNAL=]RULE"},
      {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &arguments, error) ||
      !demur_command_expect(arguments, 1, "watch start takes the name of one selector", error) ||
      (range != NULL && !demur_command_range(range, &params.low, &params.high, error)))
    return FALSE;
  for (char **rule = rules; rule != NULL && *rule != NULL; rule++)
    if (!parse_rule(*rule, params.rules, error))
      return FALSE;
  params.selector = arguments[0];
  params.cohort = cohort;
  params.split = split;
  params.site = site;
  params.coverage = coverage;
  g_autoptr(DemurWatchStarted) started = demur_task_watch_start(&context->task, &params, error);
  if (started == NULL)
    return FALSE;
  if (context->json)
    print_started_json(context, &params, started);
  else
    print_started(&params, started);
  return TRUE;
}

static void
print_alarms(const DemurWatchState *state) {
  for (guint i = 0; i < state->alarms->len; i++) {
    const DemurWatchAlarm *alarm = state->alarms->pdata[i];
    g_print("Alarm %" G_GINT64_FORMAT ", %s, %s: ", alarm->id, alarm->signal, alarm->created);
    if (alarm->lifted != NULL)
      g_print("lifted %s by %s: %s\n", alarm->lifted, alarm->lifted_by, alarm->lifted_why);
    else if (alarm->withholds)
      g_print("NO NEW VERDICT IS ACCEPTED until `demur watch lift %" G_GINT64_FORMAT
              " --reason ..`\n",
              alarm->id);
    else
      g_print("told; `demur watch lift %" G_GINT64_FORMAT " --reason ..` ends it\n", alarm->id);
  }
}

static void
print_stops(const char *name, const GPtrArray *stops) {
  for (guint i = 0; i < stops->len; i++) {
    const DemurWatchStop *stop = stops->pdata[i];
    g_autofree char *words = demur_watch_stop_words(stop, name, TRUE, NULL);
    g_print("Selector '%s' is withheld too. %s `demur watch lift %" G_GINT64_FORMAT
            " --reason ..`\n",
            name, words, stop->alarm->id);
  }
}

static void
print_state(const DemurWatchState *state) {
  g_print("Selector '%s', %s%s, watched since %s%s: %zu patient%s\n", state->record->selector,
          state->record->site != NULL ? "site " : "every site",
          state->record->site != NULL ? state->record->site : "", state->record->created,
          state->plan->simulated ? " (simulated data)" : "", (size_t)state->patients->len,
          demur_cli_s((size_t)state->patients->len));
  if (state->unreadable)
    g_print(
        "The selector is damaged (`demur verify`): nothing new is seen, no new alarm is kept, and the "
        "patients who made it are not left out below.\n");
  else if (state->outdated)
    g_print(
        "The selector was trained anew or is gone: nothing new is seen; begin the watch anew.\n");
  g_print("  %-13s %8s %10s %10s %10s  %-16s  what changed most\n", "signal", "patients", "e-value",
          "alarm at", "highest", "on");
  g_autoptr(GPtrArray) lines = demur_watch_lines(state, NULL);
  for (guint i = 0; i < lines->len; i++) {
    const DemurWatchLine *line = lines->pdata[i];
    g_autofree char *reached = g_strdup(line->most_reached != NULL ? line->most_reached : "–");
    g_strdelimit(reached, "T", ' ');
    const char *change = line->change == NULL    ? "of too few patients to be told"
                         : *line->change == '\0' ? "–"
                                                 : line->change;
    g_print("  %-13s %8zu %10.3g %10.0f %10.3g  %-*.16s  %s%s\n",
            demur_watch_columns[line->signal].name, line->n, line->now, line->limit, line->most,
            line->most_reached != NULL ? 16 : 18, reached, line->alarm ? "ALARM: " : "", change);
    if (line->n_waiting > 0)
      g_print(line->n_waiting == 1
                  ? "  %-13s %zu label waits for those of patients who came before\n"
                  : "  %-13s %zu labels wait for those of patients who came before\n",
              "", line->n_waiting);
  }
  g_print(
      "The e-value is what a bet of 1 that something changed has become by now: 1 or less is no evidence; it "
      "falls again where what comes is like the reference. An alarm is one that once reached its "
      "line; none does not show that nothing changed.\n");
  const size_t others = state->n_again + state->n_before + state->n_trained + state->n_gone;
  if (others > 0)
    g_print(
        "Of %zu scan%s %zu do not count: %zu again of the same patients, %zu of patients of "
        "the reference or from before the watch, %zu of patients who made the selector, %zu taken out or not certain.\n",
        state->n_scans, demur_cli_s(state->n_scans), others, state->n_again, state->n_before,
        state->n_trained, state->n_gone);
  print_alarms(state);
  print_stops(state->record->selector, state->stops);
}

/* The alarms that withhold the verdicts of a selector of that name because it is watched under another. A name
 * that is none fails where no watch is of it either. */
static gboolean
find_stops(DemurContext *context, const char *name, gboolean unwatched, GPtrArray **stops,
           GError **error) {
  g_autoptr(GError) local = NULL;
  g_autoptr(DemurSelector) selector = demur_task_load_selector(&context->task, name, NULL, &local);
  if (selector == NULL && (unwatched || !demur_task_selector_is_unreadable(local))) {
    g_propagate_error(error, g_steal_pointer(&local));
    return FALSE;
  }
  if (selector == NULL)
    return TRUE;
  *stops = demur_task_watch_stops_elsewhere(&context->task, name, NULL, selector, NULL, error);
  return *stops != NULL;
}

static gboolean
run_show(DemurContext *context, int argc, char **argv, GError **error) {
  g_auto(GStrv) arguments = NULL;
  gboolean path = FALSE;
  const GOptionEntry entries[] = {{"path", 0, 0, G_OPTION_ARG_NONE, &path,
                                   "with --json: the e-values after every ten patients", NULL},
                                  {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &arguments, error))
    return FALSE;
  if (g_strv_length(arguments) > 1)
    return demur_command_expect(arguments, 1, "watch show takes the name of one selector, or none",
                                error);
  g_autoptr(GPtrArray) states = demur_task_watch_look(&context->task, arguments[0], error);
  if (states == NULL)
    return FALSE;
  const gboolean unwatched = arguments[0] != NULL && states->len == 0;
  g_autoptr(GPtrArray) stops = NULL;
  if (arguments[0] != NULL && !find_stops(context, arguments[0], unwatched, &stops, error))
    return FALSE;
  g_autoptr(GPtrArray) held =
      demur_task_watch_held(&context->task, arguments[0], states, NULL, error);
  if (held == NULL)
    return FALSE;
  if (context->json) {
    DemurJson *json = demur_json_new();
    demur_json_begin_object(json, NULL);
    demur_json_begin_array(json, "watches");
    for (guint i = 0; i < states->len; i++)
      demur_watch_state_write(json, states->pdata[i], path);
    demur_json_end_array(json);
    if (stops != NULL)
      demur_watch_stops_write(json, "stopped_by", stops);
    demur_watch_held_write(json, held);
    demur_json_end_object(json);
    demur_context_print_json(context, json);
    return TRUE;
  }
  for (guint i = 0; i < states->len; i++)
    print_state(states->pdata[i]);
  for (guint i = 0; i < held->len; i++) {
    const DemurWatchHeld *one = held->pdata[i];
    print_stops(one->selector, one->stops);
  }
  if (unwatched)
    g_print("Selector '%s' is not watched; `demur watch start %s` begins.\n", arguments[0],
            arguments[0]);
  else
    g_print(states->len == 0 ? "No selector is watched; `demur watch start SELECTOR` begins.\n"
                             : "For research use, not a cleared device.\n");
  return TRUE;
}

static gboolean
run_labels(DemurContext *context, int argc, char **argv, GError **error) {
  g_auto(GStrv) arguments = NULL;
  g_autofree char *columns = NULL;
  gboolean censored = FALSE;
  const GOptionEntry entries[] = {
      {"columns", 0, 0, G_OPTION_ARG_FILENAME, &columns,
       "a table with the columns column and means: other names for columns", "FILE"},
      {"censored", 0, 0, G_OPTION_ARG_NONE, &censored,
       "a label left empty will never come (it says nothing yet)", NULL},
      {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &arguments, error) ||
      !demur_command_expect(arguments, 1, "watch labels takes one table", error))
    return FALSE;
  g_auto(DemurWatchLabelled) labelled = {0};
  if (!demur_task_watch_labels(&context->task, arguments[0], columns, censored, &labelled, error))
    return FALSE;
  g_autoptr(GPtrArray) states = demur_task_watch_look(&context->task, NULL, error);
  if (states == NULL)
    return FALSE;
  if (context->json) {
    DemurJson *json = demur_json_new();
    demur_json_begin_object(json, NULL);
    demur_json_int(json, "n_labels", (gint64)labelled.n);
    demur_json_int(json, "n_censored", (gint64)labelled.n_censored);
    demur_json_int(json, "n_empty", (gint64)labelled.n_empty);
    demur_noticed_write(json, labelled.noticed);
    demur_json_end_object(json);
    demur_context_print_json(context, json);
    return TRUE;
  }
  g_print("%zu label%s kept, %zu patient%s will have none, rows that say nothing yet: %zu.\n",
          labelled.n, demur_cli_s(labelled.n), labelled.n_censored,
          demur_cli_s(labelled.n_censored), labelled.n_empty);
  demur_noticed_print(labelled.noticed);
  for (guint i = 0; i < states->len; i++)
    print_alarms(states->pdata[i]);
  return TRUE;
}

static gboolean
run_lift(DemurContext *context, int argc, char **argv, GError **error) {
  g_auto(GStrv) arguments = NULL;
  g_autofree char *reason = NULL;
  const GOptionEntry entries[] = {
      {"reason", 0, 0, G_OPTION_ARG_STRING, &reason, "why verdicts may be accepted again", "TEXT"},
      {NULL}};
  gint64 alarm;
  if (!demur_command_parse(context, argc, argv, entries, &arguments, error) ||
      !demur_command_expect(arguments, 1, "watch lift takes the number of one alarm", error))
    return FALSE;
  if (!demur_number_parse_int(arguments[0], strlen(arguments[0]), &alarm)) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                "'%s' is no number of an alarm; `demur watch show` names them", arguments[0]);
    return FALSE;
  }
  if (!demur_task_watch_lift(&context->task, alarm, reason, error))
    return FALSE;
  if (context->json) {
    DemurJson *json = demur_json_new();
    demur_json_begin_object(json, NULL);
    demur_json_int(json, "lifted", alarm);
    demur_json_string(json, "by", context->task.user);
    demur_json_string(json, "reason", reason);
    demur_json_end_object(json);
    demur_context_print_json(context, json);
  } else {
    g_print("Alarm %" G_GINT64_FORMAT " is lifted by %s. Assess again what was withheld.\n", alarm,
            context->task.user);
  }
  return TRUE;
}

static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  static const DemurCommand commands[] = {
      {.name = "start",
       .parameters = "SELECTOR",
       .summary = "begin to watch a selector in use",
       .description =
           "From now on every assessment by the selector is compared with the reference: scores, "
           "risks, distances, coverage, scanners, kernels, slice thickness, model version and, as "
           "labels come, outcomes and calibration. What an alarm does is fixed here: note it, or "
           "accept no new verdict until a person lifts it.",
       .run = run_start},
      {.name = "show",
       .parameters = "[SELECTOR]",
       .summary = "tell what the watches see",
       .description =
           "Each signal's e-value, computed from the history as it stands now, what changed most, and "
           "the alarms. The same history gives the same answer, however often it is looked at.",
       .run = run_show},
      {.name = "labels",
       .parameters = "FILE",
       .summary = "add outcomes of assessed patients",
       .description =
           "Reads a table with the columns scan_id and label (0, 1 or nothing). Labels count in the "
           "order of the patients: one that comes early waits for those of earlier patients, or until "
           "--censored says that they will have none.",
       .run = run_labels},
      {.name = "lift",
       .parameters = "ALARM --reason TEXT",
       .summary = "lift an alarm",
       .description =
           "A person decides that an alarm is over; who, when and why is kept. Its signal begins anew "
           "with the next patient. Verdicts that were withheld stay so until they are assessed again.",
       .run = run_lift}};
  return demur_command_dispatch(context, commands, G_N_ELEMENTS(commands), argc, argv, error);
}

const DemurCommand demur_command_watch = {
    .name = "watch", .summary = "watch a selector in use, with stop rules", .run = run};
