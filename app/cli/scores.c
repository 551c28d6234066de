/* demur scores import FILE --model M: the external model's output for DICOM series; demur scores
 * run
 * --command CMD: the model itself, run once for each series. */
#include <string.h>

#include "app/cli/command.h"
#include "app/cli/noticed.h"
#include "base/error.h"
#include "tasks/scores-import.h"
#include "tasks/scores-run.h"

#define NOT_GIVEN (-G_MAXDOUBLE)

static void
write_list(DemurJson *json, const char *key, const GPtrArray *texts) {
  demur_json_begin_array(json, key);
  for (guint i = 0; i < texts->len; i++)
    demur_json_string(json, NULL, texts->pdata[i]);
  demur_json_end_array(json);
}

static void
print_outcome(DemurContext *context, const char *model, const DemurScoresImported *imported) {
  if (context->json) {
    DemurJson *json = demur_json_new();
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "model", model);
    demur_json_begin_array(json, "matched");
    for (guint i = 0; i < imported->scan_ids->len; i++)
      demur_json_string(json, NULL, imported->scan_ids->pdata[i]);
    demur_json_end_array(json);
    write_list(json, "unmatched", imported->unmatched);
    write_list(json, "ambiguous", imported->ambiguous);
    write_list(json, "wrong_patient", imported->mismatched);
    write_list(json, "mangled", imported->mangled);
    demur_noticed_write(json, imported->warnings);
    demur_json_int(json, "n_new", (gint64)imported->n_new);
    demur_json_int(json, "n_replaced", (gint64)imported->n_replaced);
    demur_json_int(json, "n_same", (gint64)imported->n_same);
    demur_json_end_object(json);
    demur_context_print_json(context, json);
    return;
  }
  g_print(
      "Scores of model '%s': %u matched (%zu new, %zu replaced, %zu the same), %u unmatched, %u "
      "ambiguous, %u of another patient or series\n",
      model, imported->scan_ids->len, imported->n_new, imported->n_replaced, imported->n_same,
      imported->unmatched->len, imported->ambiguous->len, imported->mismatched->len);
  for (guint i = 0; i < imported->unmatched->len; i++)
    g_print("  unmatched: no series of the workspace is %s\n",
            (const char *)imported->unmatched->pdata[i]);
  for (guint i = 0; i < imported->ambiguous->len; i++)
    g_print("  ambiguous: %s\n", (const char *)imported->ambiguous->pdata[i]);
  for (guint i = 0; i < imported->mismatched->len; i++)
    g_print("  wrong patient or series: %s\n", (const char *)imported->mismatched->pdata[i]);
  for (guint i = 0; i < imported->mangled->len; i++)
    g_print("  changed on its way: %s\n", (const char *)imported->mangled->pdata[i]);
  demur_noticed_print(imported->warnings);
}

static gboolean
run_import(DemurContext *context, int argc, char **argv, GError **error) {
  g_autofree char *model = NULL, *version = NULL, *scan_id = NULL, *map_path = NULL,
                  *columns = NULL;
  gboolean replace = FALSE;
  double horizon = NOT_GIVEN;
  g_auto(GStrv) arguments = NULL;
  const GOptionEntry entries[] = {
      {"model", 'm', 0, G_OPTION_ARG_STRING, &model, "the model whose scores these are", "M"},
      {"horizon", 0, 0, G_OPTION_ARG_DOUBLE, &horizon,
       "the column risk is within so many years, where there are no yearly risks", "YEARS"},
      {"model-version", 0, 0, G_OPTION_ARG_STRING, &version,
       "of the model, for scores that say none of their own", "V"},
      {"scan", 0, 0, G_OPTION_ARG_STRING, &scan_id,
       "FILE is Sybil's prediction_scores.json for this scan", "SCAN"},
      {"map", 0, 0, G_OPTION_ARG_FILENAME, &map_path,
       "FILE is JSON; this table says which name belongs to which series_uid", "MAP.csv"},
      {"columns", 0, 0, G_OPTION_ARG_FILENAME, &columns,
       "FILE is a table; this one, with the columns column and means, has other names for its "
       "columns",
       "FILE"},
      {"replace", 0, 0, G_OPTION_ARG_NONE, &replace, "replace scores of that model that differ",
       NULL},
      {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &arguments, error) ||
      !demur_command_expect(arguments, 1, "scores import takes one FILE", error))
    return FALSE;
  if (horizon == 0.0) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "--horizon takes a number of years, more than 0 and at most 100");
    return FALSE;
  }
  const DemurScoresImportParams params = {.path = arguments[0],
                                          .model = model,
                                          .model_version = version,
                                          .scan_id = scan_id,
                                          .map = map_path,
                                          .columns = columns,
                                          .horizon_years = horizon == NOT_GIVEN ? 0.0 : horizon,
                                          .replace = replace};
  g_autoptr(DemurScoresImported) imported =
      demur_task_scores_import(&context->task, &params, error);
  if (imported == NULL)
    return FALSE;
  print_outcome(context, model, imported);
  if (imported->scan_ids->len == 0) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND,
                        "no row was paired with a series of the workspace; see `demur dicom list`");
    return FALSE;
  }
  return TRUE;
}

static void
print_runs(DemurContext *context, const DemurScoresRunParams *params, const DemurScoresRan *ran) {
  const GPtrArray *runs = ran->runs;
  if (!context->json) {
    for (guint i = 0; i < runs->len; i++) {
      const DemurScoreRunRecord *run = runs->pdata[i];
      g_print("%-9s %s  %.1f s%s%s\n", demur_scores_run_outcome(run), run->scan_id, run->seconds,
              run->message != NULL ? "  " : "", run->message != NULL ? run->message : "");
      if (run->message != NULL && run->stderr_end != NULL && *run->stderr_end != '\0')
        g_print("%s\n", run->stderr_end);
    }
    g_print("%zu scored by '%s', %zu not, %zu had a score before\n", ran->n_scored, params->model,
            runs->len - ran->n_scored, ran->n_before);
    return;
  }
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "model", params->model);
  demur_json_string(json, "command", params->command);
  demur_json_begin_array(json, "runs");
  for (guint i = 0; i < runs->len; i++) {
    const DemurScoreRunRecord *run = runs->pdata[i];
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "scan_id", run->scan_id);
    demur_json_string(json, "outcome", demur_scores_run_outcome(run));
    demur_json_int(json, "exit_status", run->exit_status);
    demur_json_double(json, "seconds", run->seconds);
    demur_json_string(json, "message", run->message);
    demur_json_string(json, "stderr", run->stderr_end);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_int(json, "n_scored", (gint64)ran->n_scored);
  demur_json_int(json, "n_failed", (gint64)(runs->len - ran->n_scored));
  demur_json_int(json, "n_scored_before", (gint64)ran->n_before);
  demur_json_end_object(json);
  demur_context_print_json(context, json);
}

static gboolean
run_run(DemurContext *context, int argc, char **argv, GError **error) {
  g_autofree char *model = NULL, *version = NULL, *command = NULL, *scan_id = NULL;
  double time_limit = 3600;
  gboolean replace = FALSE;
  g_auto(GStrv) words = NULL;
  const GOptionEntry entries[] = {
      {"command", 0, 0, G_OPTION_ARG_STRING, &command,
       "what to run, with {series} and {output} in it", "CMD"},
      {"model", 'm', 0, G_OPTION_ARG_STRING, &model, "the model whose scores these are", "M"},
      {"model-version", 0, 0, G_OPTION_ARG_STRING, &version,
       "of the model, where its output says none (model_version)", "V"},
      {"scan", 0, 0, G_OPTION_ARG_STRING, &scan_id, "run on this series only", "SCAN"},
      {"time-limit", 0, 0, G_OPTION_ARG_DOUBLE, &time_limit,
       "end a run after so many seconds, 0 never (3600)", "SECONDS"},
      {"replace", 0, 0, G_OPTION_ARG_NONE, &replace, "run on series that have a score too", NULL},
      {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &words, error) ||
      !demur_command_expect(words, 0, "scores run takes no words", error))
    return FALSE;
  const DemurScoresRunParams params = {.model = model,
                                       .model_version = version,
                                       .command = command,
                                       .scan_id = scan_id,
                                       .time_limit = time_limit,
                                       .replace = replace};
  g_autoptr(DemurScoresRan) ran = demur_task_scores_run(&context->task, &params, error);
  if (ran == NULL)
    return FALSE;
  print_runs(context, &params, ran);
  if (ran->stopped != NULL) {
    g_propagate_error(error, g_steal_pointer(&ran->stopped));
    return FALSE;
  }
  if (ran->n_scored < ran->runs->len) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE,
                "%zu of %u runs gave no score, for the reasons above",
                ran->runs->len - ran->n_scored, ran->runs->len);
    return FALSE;
  }
  return TRUE;
}

static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  static const DemurCommand list[] = {
      {.name = "import",
       .parameters = "FILE --model M",
       .summary = "read the external model's output for DICOM series",
       .description =
           "FILE is a CSV with series_uid or scan_id, risk or risk_year_1..6, optional emb_0.., "
           "model_version and patient_id (checked where given); or JSON: Sybil's with --scan or --map, or objects "
           "with "
           "series_uid or scan_id, risk or risks, optional embedding.",
       .run = run_import},
      {.name = "run",
       .parameters = "--command CMD --model M",
       .summary = "run the external model on each series that has no score of it",
       .description =
           "{series} is a folder of links to just that series' files in slice order, {output} an "
           "empty folder. The command leaves prediction_scores.json or scores.json there, and may "
           "leave embedding.npy. It is run without a shell, once a series.",
       .run = run_run},
  };
  return demur_command_dispatch(context, list, G_N_ELEMENTS(list), argc, argv, error);
}

const DemurCommand demur_command_scores = {
    .name = "scores", .summary = "an external model's scores: import, run", .run = run};
