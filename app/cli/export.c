/* demur export FILE: verdicts as CSV or JSON; one scan's result as a DICOM structured report or an
 * encapsulated PDF. A risk goes out with an accepted scan only, unless asked for. */
#include "app/cli/command.h"
#include "base/error.h"
#include "base/file-output.h"
#include "tasks/verdict-export.h"

/* Whether the options go together. */
static gboolean
check_options(const char *format, DemurVerdictExportParams *params, GError **error) {
  const char *wrong = NULL;
  if (!demur_export_format_find(format, params->path, &params->format))
    wrong = "export needs --format csv, json, sr or pdf (FILE.csv, FILE.json and FILE.dcm, a "
            "structured report, say it themselves)";
  else if ((params->format == DEMUR_EXPORT_REPORT || params->format == DEMUR_EXPORT_PDF) &&
           (params->scan_id == NULL || params->cohort != NULL))
    wrong = "a DICOM object tells of one series: give --scan SCAN, and no --cohort";
  else if (params->pdf != NULL && params->format != DEMUR_EXPORT_PDF)
    wrong = "--pdf goes with --format pdf";
  if (wrong == NULL)
    return TRUE;
  g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE, wrong);
  return FALSE;
}

static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  g_autofree char *format = NULL, *scan_id = NULL, *selector = NULL, *cohort = NULL, *pdf = NULL;
  gboolean reveal = FALSE;
  g_auto(GStrv) words = NULL;
  const GOptionEntry entries[] = {
      {"format", 'f', 0, G_OPTION_ARG_STRING, &format,
       "csv, json, sr (DICOM structured report) or pdf (in a DICOM envelope)", "FORMAT"},
      {"scan", 0, 0, G_OPTION_ARG_STRING, &scan_id, "of this scan only", "SCAN"},
      {"selector", 's', 0, G_OPTION_ARG_STRING, &selector, "by this selector only", "S"},
      {"cohort", 'c', 0, G_OPTION_ARG_STRING, &cohort, "of a cohort, not of DICOM series", "C"},
      {"pdf", 0, 0, G_OPTION_ARG_FILENAME, &pdf, "wrap this PDF, not the scan's report", "FILE"},
      {"reveal", 0, 0, G_OPTION_ARG_NONE, &reveal, "tell the risks that are held back too", NULL},
      {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &words, error) ||
      !demur_command_expect(words, 1, "export takes one FILE", error))
    return FALSE;
  DemurVerdictExportParams params = {.path = words[0],
                                     .scan_id = scan_id,
                                     .selector = selector,
                                     .cohort = cohort,
                                     .pdf = pdf,
                                     .reveal = reveal};
  const char *const read[] = {pdf, NULL};
  if (!check_options(format, &params, error) ||
      !demur_file_output_check(params.path, DEMUR_FILE_REPLACE, error) ||
      !demur_file_output_check_apart(params.path, read, error))
    return FALSE;
  demur_context_take_stdout(params.path);
  DemurVerdictExported exported;
  if (!demur_task_verdict_export(&context->task, &params, &exported, error))
    return FALSE;
  if (exported.not_remembered)
    g_printerr("demur: the workspace can only be read: a later report won't name this one\n");
  const char *written = demur_export_format_name(params.format);
  if (context->json) {
    DemurJson *json = demur_json_new();
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "path", params.path);
    demur_json_string(json, "format", written);
    demur_json_int(json, "n_verdicts", exported.n);
    demur_json_bool(json, "revealed", reveal);
    demur_json_end_object(json);
    demur_context_print_json(context, json);
  } else {
    g_print("%s: %s of %u scan%s\n", params.path, written, exported.n, exported.n == 1 ? "" : "s");
  }
  return TRUE;
}

const DemurCommand demur_command_export = {
    .name = "export",
    .parameters = "FILE",
    .summary = "write verdicts as CSV, JSON or DICOM",
    .description = "The newest verdict of each scan. Only an accepted scan carries its "
                   "risk, unless --reveal is given.",
    .run = run};
