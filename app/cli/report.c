/* demur report FILE.pdf --selector S --cohort C: the calibration report and its JSON. The words
 * verify and patient are commands of their own (report-parts.h). */
#include <math.h>
#include <string.h>

#include "app/cli/evaluate-options.h"
#include "app/cli/report-parts.h"
#include "base/error.h"
#include "report/files.h"
#include "tasks/coverage-choice.h"
#include "tasks/family-study.h"
#include "tasks/report.h"

gboolean
demur_cli_paper(const char *text, DemurPaper *paper, GError **error) {
  *paper = DEMUR_PAPER_A4;
  if (text != NULL && !demur_paper_from_name(text, paper)) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE, "--paper takes a4 or letter, not '%s'",
                text);
    return FALSE;
  }
  return TRUE;
}

static gboolean
write_one(DemurContext *context, char **selectors, DemurEvaluateParams *options, double coverage,
          DemurPaper paper, const char *path, gboolean *simulated, GError **error) {
  g_auto(DemurEvaluating) evaluating = {0};
  if (!demur_task_evaluate(&context->task, selectors, options, &evaluating, error))
    return FALSE;
  g_autoptr(DemurReportTask) report = demur_report_task_new(&evaluating, coverage, error);
  if (report == NULL)
    return FALSE;
  report->input.paper = paper;
  *simulated = evaluating.evaluation->simulated;
  return demur_report_write(&report->input, path, &context->task.progress, error);
}

static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  static const DemurCommand parts[] = {
      {.name = "verify",
       .parameters = "FILE.pdf",
       .summary = "make a report again from the workspace and compare",
       .run = demur_cli_report_verify},
      {.name = "patient",
       .parameters = "FILE.pdf --scan SCAN",
       .summary = "write one scan's page (PDF and JSON)",
       .run = demur_cli_report_patient}};
  for (size_t i = 0; argc > 1 && i < G_N_ELEMENTS(parts); i++)
    if (strcmp(argv[1], parts[i].name) == 0)
      return demur_command_dispatch(context, parts, G_N_ELEMENTS(parts), argc, argv, error);
  g_auto(GStrv) arguments = NULL;
  g_auto(GStrv) selectors = NULL;
  g_autofree char *paper = NULL;
  g_autofree char *coverage_text = NULL;
  g_auto(DemurEvaluateParams) options = {.usual_groups = TRUE, .use = TRUE};
  const GOptionEntry entries[] = {
      {"selector", 's', 0, G_OPTION_ARG_STRING_ARRAY, &selectors,
       "selector, or family of horizons, to report on; more selectors are set beside the first",
       "S"},
      DEMUR_CLI_EVALUATION_ENTRIES(options),
      DEMUR_CLI_MEASURE_ENTRIES(options),
      {"coverage", 0, 0, G_OPTION_ARG_STRING, &coverage_text,
       "coverage of the summary: 0.9, 0.7 or 0.5 (0.9)", "X"},
      {"paper", 0, 0, G_OPTION_ARG_STRING, &paper, "a4 or letter (a4)", "SIZE"},
      {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &arguments, error) ||
      !demur_command_expect(arguments, 1, "report takes one FILE.pdf", error))
    return FALSE;
  DemurPaper size;
  if (!demur_cli_paper(paper, &size, error))
    return FALSE;
  double coverage;
  if (!demur_task_summary_coverage(coverage_text, &coverage, error))
    return FALSE;
  if (!demur_task_evaluate_check(selectors, &options, error))
    return FALSE;
  g_autofree char *json_path = demur_report_json_path(arguments[0], error);
  DemurHorizons horizons;
  if (json_path == NULL || !demur_report_check_files(arguments[0], error) ||
      !demur_task_family_asked(&context->task, selectors, &horizons, error))
    return FALSE;
  gboolean simulated;
  if (!(horizons.n > 0 ? demur_task_family_report(&context->task, selectors[0], &horizons, &options,
                                                  coverage, size, arguments[0], &simulated, error)
                       : write_one(context, selectors, &options, coverage, size, arguments[0],
                                   &simulated, error)))
    return FALSE;
  if (context->json) {
    DemurJson *json = demur_json_new();
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "pdf", arguments[0]);
    demur_json_string(json, "json", json_path);
    demur_json_bool(json, "simulated", simulated);
    demur_json_int(json, "seed", (gint64)context->task.seed);
    if (horizons.n > 0)
      demur_json_string(json, "family", selectors[0]);
    demur_json_end_object(json);
    demur_context_print_json(context, json);
  } else {
    g_print("Report%s: %s\nIts numbers: %s\n", simulated ? " (simulated data)" : "", arguments[0],
            json_path);
  }
  return TRUE;
}

const DemurCommand demur_command_report = {
    .name = "report",
    .parameters = "FILE.pdf --selector S --cohort C",
    .summary = "write the calibration report (PDF and JSON)",
    .description = "`demur report verify FILE.pdf` makes it again and compares; `demur "
                   "report patient FILE.pdf --scan SCAN` writes one scan's page.",
    .run = run};
