/* demur report patient FILE.pdf --scan SCAN: one scan on one page. */
#include "app/cli/command.h"
#include "app/cli/language.h"
#include "app/cli/report-parts.h"
#include "base/error.h"
#include "report/files.h"
#include "tasks/patient-sheet.h"

gboolean
demur_cli_report_patient(DemurContext *context, int argc, char **argv, GError **error) {
  g_autofree char *selector = NULL, *scan_id = NULL, *cohort = NULL, *split = NULL,
                  *coverage = NULL, *paper = NULL, *language = NULL;
  g_auto(GStrv) arguments = NULL;
  const GOptionEntry entries[] = {
      {"scan", 0, 0, G_OPTION_ARG_STRING, &scan_id,
       "a DICOM series, or a scan of the cohort named by --cohort", "SCAN"},
      {"selector", 's', 0, G_OPTION_ARG_STRING, &selector,
       "selector that judges (the newest verdict's)", "S"},
      {"cohort", 'c', 0, G_OPTION_ARG_STRING, &cohort,
       "cohort with known outcomes, to say what the risk means", "C"},
      {"split", 0, 0, G_OPTION_ARG_STRING, &split, "its split (test)", "SPLIT"},
      {"coverage", 0, 0, G_OPTION_ARG_STRING, &coverage,
       "use the threshold tuned for this coverage (the current one)", "X"},
      {"paper", 0, 0, G_OPTION_ARG_STRING, &paper, "a4 or letter (a4)", "SIZE"},
      {"language", 0, 0, G_OPTION_ARG_STRING, &language,
       "language of the page, as the window's; its numbers stay English (en)", "CODE"},
      {NULL}};
  g_autoptr(GError) unknown = NULL;
  DemurPatientSheetParams options = {0};
  if (!demur_command_parse(context, argc, argv, entries, &arguments, error) ||
      !demur_command_expect(arguments, 1, "report patient takes one FILE.pdf", error) ||
      !demur_cli_paper(paper, &options.paper, error))
    return FALSE;
  if (scan_id == NULL || (split != NULL && cohort == NULL)) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        scan_id == NULL ? "report patient needs --scan SCAN"
                                        : "--split needs --cohort C");
    return FALSE;
  }
  g_autofree char *json_path = demur_report_json_path(arguments[0], error);
  if (json_path == NULL || !demur_report_check_files(arguments[0], error))
    return FALSE;
  options.language = demur_cli_language(language, &unknown);
  if (unknown != NULL) {
    g_propagate_error(error, g_steal_pointer(&unknown));
    return FALSE;
  }
  options.selector = selector;
  options.scan_id = scan_id;
  options.cohort = cohort;
  options.split = split;
  options.coverage = coverage;
  g_autoptr(DemurPatientSheet) patient = NULL;
  options.logged = TRUE;
  if (!demur_task_patient_sheet_write(&context->task, &options, arguments[0], &patient, error))
    return FALSE;
  if (context->json) {
    DemurJson *json = demur_json_new();
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "pdf", arguments[0]);
    demur_json_string(json, "json", json_path);
    demur_json_string(json, "scan_id", patient->input.scan_id);
    demur_json_string(json, "verdict", demur_verdict_name(patient->input.verdict));
    demur_json_string(json, "state",
                      patient->input.kept
                          ? demur_verdict_state_name(demur_verdict_state(patient->input.outdated))
                          : "not_kept");
    demur_json_bool(json, "simulated", patient->input.simulated);
    demur_json_int(json, "seed", (gint64)context->task.seed);
    demur_json_end_object(json);
    demur_context_print_json(context, json);
  } else {
    g_print("Patient page%s: %s\nIts numbers: %s\n",
            patient->input.simulated ? " (simulated data)" : "", arguments[0], json_path);
  }
  return TRUE;
}
