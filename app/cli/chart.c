/* demur chart NAME FILE --selector S --cohort C: one chart of an evaluation as a picture, or the
 * table of its numbers. */
#include <string.h>

#include "app/cli/evaluate-options.h"
#include "base/error.h"
#include "base/file-output.h"
#include "report/charts.h"
#include "tasks/coverage-choice.h"
#include "tasks/report.h"

static void
list_charts(DemurContext *context) {
  const DemurChartKind *kind;
  if (!context->json) {
    for (size_t i = 0; (kind = demur_chart_kind(i)) != NULL; i++)
      g_print("%-24s %s\n", kind->name, kind->title);
    return;
  }
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_begin_array(json, "charts");
  for (size_t i = 0; (kind = demur_chart_kind(i)) != NULL; i++) {
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "name", kind->name);
    demur_json_string(json, "title", kind->title);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_end_object(json);
  demur_context_print_json(context, json);
}

/* What the chart says, with its table, for `--json`. */
static void
print_chart(DemurContext *context, const DemurChart *chart, const char *name, const char *path,
            gboolean simulated) {
  g_autofree char *alternative = demur_chart_describe(chart);
  if (!context->json) {
    g_print("%s%s: %s\n%s\n", demur_chart_title(chart), simulated ? " (simulated data)" : "", path,
            alternative);
    return;
  }
  g_autoptr(DemurChartTable) table = demur_chart_table(chart);
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "chart", name);
  demur_json_string(json, "title", demur_chart_title(chart));
  demur_json_string(json, "file", path);
  demur_json_bool(json, "simulated", simulated);
  demur_json_int(json, "seed", (gint64)context->task.seed);
  demur_json_string(json, "alternative_text", alternative);
  demur_json_begin_array(json, "columns");
  for (size_t c = 0; c < table->n_columns; c++)
    demur_json_string(json, NULL, table->header[c]);
  demur_json_end_array(json);
  demur_json_begin_array(json, "rows");
  for (size_t r = 0; r < table->n_rows; r++) {
    demur_json_begin_array(json, NULL);
    for (size_t c = 0; c < table->n_columns; c++)
      demur_json_string(json, NULL, table->exact[r * table->n_columns + c]);
    demur_json_end_array(json);
  }
  demur_json_end_array(json);
  demur_json_end_object(json);
  demur_context_print_json(context, json);
}

/* Of what became of the selector in use; nothing is evaluated. */
static gboolean
draw_use(DemurContext *context, const char *name, const char *path, char **selectors,
         const char *site, GError **error) {
  if (selectors == NULL || selectors[1] != NULL) {
    g_set_error(
        error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
        "chart %s takes one --selector S, and a --site where it is watched or tested at several",
        name);
    return FALSE;
  }
  g_autoptr(DemurUsed) used = NULL;
  if (!demur_task_used(&context->task, selectors[0], NULL, NULL, &used, error))
    return FALSE;
  const DemurReportInput input = {
      .selector.name = selectors[0], .use = &used->use, .version = DEMUR_VERSION};
  g_autoptr(DemurChart) chart = demur_chart_new(name, &input, 0, site, error);
  g_autofree char *caption = demur_chart_caption(&input);
  if (chart == NULL || !demur_chart_write(chart, path, caption, error))
    return FALSE;
  print_chart(context, chart, name, path, demur_chart_simulated(&input));
  return TRUE;
}

static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  g_auto(DemurEvaluating) evaluating = {0};
  g_auto(GStrv) arguments = NULL;
  g_auto(GStrv) selectors = NULL;
  g_autofree char *coverage_text = NULL, *attribute = NULL, *site = NULL;
  gboolean list = FALSE;
  g_auto(DemurEvaluateParams) options = {0};
  const GOptionEntry entries[] = {{"selector", 's', 0, G_OPTION_ARG_STRING_ARRAY, &selectors,
                                   "selector to draw; more are set beside the first", "S"},
                                  DEMUR_CLI_EVALUATION_ENTRIES(options),
                                  {"coverage", 0, 0, G_OPTION_ARG_STRING, &coverage_text,
                                   "coverage of the operating point (0.9)", "X"},
                                  {"by", 0, 0, G_OPTION_ARG_STRING, &attribute,
                                   "groups of a forest plot (site) or of per-shift (shift)",
                                   "ATTRIBUTE"},
                                  {"site", 0, 0, G_OPTION_ARG_STRING, &site,
                                   "acceptance and watch-*: the site (the first)", "S"},
                                  {"list", 0, 0, G_OPTION_ARG_NONE, &list, "list the charts", NULL},
                                  {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &arguments, error))
    return FALSE;
  if (list) {
    list_charts(context);
    return TRUE;
  }
  if (!demur_command_expect(
          arguments, 2, "chart takes NAME and FILE (`demur chart --list` names the charts)", error))
    return FALSE;
  const DemurChartKind *kind = demur_chart_check(arguments[0], arguments[1], error);
  if (kind == NULL || !demur_file_output_check(arguments[1], DEMUR_FILE_REPLACE, error))
    return FALSE;
  if (kind->of_use)
    return draw_use(context, arguments[0], arguments[1], selectors, site, error);
  if (kind->groups != NULL) { /* they cost time: only where they are drawn */
    const char *const by[] = {attribute != NULL ? attribute : kind->groups, NULL};
    options.group_by = g_strdupv((char **)by);
  }
  if (!demur_task_evaluate(&context->task, selectors, &options, &evaluating, error))
    return FALSE;
  double coverage;
  if (!demur_task_chart_coverage(coverage_text, &evaluating, &coverage, error))
    return FALSE;
  g_autoptr(DemurReportTask) report = demur_report_task_new(&evaluating, coverage, error);
  if (report == NULL)
    return FALSE;
  g_autoptr(DemurChart) chart =
      demur_chart_new(arguments[0], &report->input, coverage, attribute, error);
  g_autofree char *caption = demur_chart_caption(&report->input);
  if (chart == NULL || !demur_chart_write(chart, arguments[1], caption, error))
    return FALSE;
  print_chart(context, chart, arguments[0], arguments[1], demur_chart_simulated(&report->input));
  return TRUE;
}

const DemurCommand demur_command_chart = {
    .name = "chart",
    .parameters = "NAME FILE --selector S --cohort C",
    .summary = "draw one chart, or write the table of its numbers",
    .description = "FILE ends in .svg, .png, .pdf, or .csv for the table. `demur chart "
                   "--list` names the charts.",
    .run = run};
