/* demur export FILE: verdicts as CSV or JSON; one scan's result as a DICOM structured report or an
 * encapsulated PDF. A risk goes out with an accepted scan only, unless asked for. */
#include <math.h>
#include <string.h>

#include "app/cli/command.h"
#include "base/csv-field.h"
#include "base/file-output.h"
#include "base/number.h"
#include "base/shown-text.h"
#include "store/events.h"
#include "store/verdicts.h"
#include "tasks/history.h"
#include "tasks/result-objects.h"
#include "tasks/told-verdict.h"

typedef struct {
  const char *path, *format; /* "csv", "json", "sr", "pdf" */
  const char *scan_id, *selector, *cohort, *pdf;
  gboolean reveal;
} ExportOptions;

/* A field of RFC 4180. */
static void
add_text(GString *csv, const char *text) {
  if (csv->len > 0 && csv->str[csv->len - 1] != '\n')
    g_string_append_c(csv, ',');
  if (text == NULL)
    return;
  g_autofree char *safe = demur_shown_text(text);
  demur_csv_append(csv, safe);
}

static void
add_number(GString *csv, double value) {
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  add_text(csv, isfinite(value) ? demur_number_format(value, buffer) : "");
}

static void
write_csv_line(GString *csv, const DemurToldVerdict *line) {
  const DemurVerdictRecord *v = line->verdict;
  g_autofree char *reasons = g_strjoinv("; ", line->reasons);
  add_text(csv, v->scan_id);
  add_text(csv, v->patient_id);
  add_text(csv, demur_verdict_name(v->verdict));
  add_number(csv, demur_told_risk(line));
  for (int y = 0; y < DEMUR_N_YEARS; y++)
    add_number(csv, demur_told_year(line, y));
  add_number(csv, demur_told_score(line));
  add_number(csv, v->threshold);
  add_number(csv, v->coverage);
  add_text(csv, reasons);
  add_text(csv, v->selector);
  add_text(csv, v->selector_digest);
  add_text(csv, v->model);
  add_text(csv, v->cohort);
  add_text(csv, v->created);
  add_text(csv, line->told && v->verdict != DEMUR_VERDICT_ACCEPTED ? "true" : "false");
  g_autofree char *causes = g_strjoinv("; ", line->causes);
  add_text(csv, demur_told_state(line));
  add_text(csv, causes);
  add_number(csv, demur_told_bound(line, FALSE));
  add_number(csv, demur_told_bound(line, TRUE));
  g_string_append(csv, "\r\n");
}

static void
write_json_line(DemurJson *json, const DemurToldVerdict *line) {
  const DemurVerdictRecord *v = line->verdict;
  double years[DEMUR_N_YEARS];
  for (int y = 0; y < DEMUR_N_YEARS; y++)
    years[y] = demur_told_year(line, y);
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "scan_id", v->scan_id);
  demur_json_string(json, "patient_id", v->patient_id);
  demur_json_string(json, "verdict", demur_verdict_name(v->verdict));
  demur_json_double(json, "risk", demur_told_risk(line));
  const double interval[2] = {demur_told_bound(line, FALSE), demur_told_bound(line, TRUE)};
  if (isfinite(interval[0]))
    demur_json_doubles(json, "risk_interval", interval, 2);
  else
    demur_json_null(json, "risk_interval");
  demur_json_doubles(json, "yearly_risks", years, DEMUR_N_YEARS);
  demur_json_double(json, "score", demur_told_score(line));
  demur_json_double(json, "threshold", v->threshold);
  demur_json_double(json, "coverage", v->coverage);
  demur_json_begin_array(json, "reasons");
  for (char **reason = line->reasons; *reason != NULL; reason++)
    demur_json_string(json, NULL, *reason);
  demur_json_end_array(json);
  demur_json_string(json, "selector", v->selector);
  demur_json_string(json, "selector_digest", v->selector_digest);
  demur_json_string(json, "model", v->model);
  demur_json_string(json, "cohort", v->cohort);
  demur_json_string(json, "created", v->created);
  demur_json_bool(json, "revealed", line->told && v->verdict != DEMUR_VERDICT_ACCEPTED);
  demur_json_string(json, "state", demur_told_state(line));
  demur_json_begin_array(json, "out_of_date_because");
  for (char **cause = line->causes; *cause != NULL; cause++)
    demur_json_string(json, NULL, *cause);
  demur_json_end_array(json);
  demur_json_end_object(json);
}

/* The newest verdict a scan that the options ask for. */
static GPtrArray *
find_verdicts(DemurWorkspace *workspace, const ExportOptions *options, GError **error) {
  g_autoptr(GPtrArray) all =
      options->selector != NULL
          ? demur_verdicts_of_selector(workspace, options->selector, TRUE, error)
          : demur_verdicts_latest(workspace, options->cohort, error);
  for (guint i = all != NULL ? all->len : 0; i-- > 0;) {
    const DemurVerdictRecord *v = all->pdata[i];
    if (g_strcmp0(v->cohort, options->cohort) != 0 ||
        (options->scan_id != NULL && strcmp(v->scan_id, options->scan_id) != 0))
      g_ptr_array_remove_index(all, i);
  }
  if (all != NULL && all->len == 0) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND,
                "there is no verdict of that kind to export; `demur assess` gives verdicts");
    return NULL;
  }
  return g_steal_pointer(&all);
}

static gboolean
put_text(DemurFileOutput *output, const char *text, GError **error) {
  return demur_file_output_write(output, text, strlen(text), error);
}

static gboolean
put_csv(DemurWorkspace *workspace, const ExportOptions *options, const GPtrArray *verdicts,
        DemurFileOutput *output, GError **error) {
  g_autoptr(GString) csv = g_string_new(
      "scan_id,patient_id,verdict,risk,risk_year_1,risk_year_2,risk_year_3,risk_year_4,risk_year_5,"
      "risk_year_6,score,threshold,coverage,reasons,selector,selector_digest,model,cohort,created,"
      "revealed,state,out_of_date_because,risk_interval_low,risk_interval_high\r\n");
  for (guint i = verdicts->len; i-- > 0;) { /* oldest first */
    g_auto(DemurToldVerdict) line = {0};
    if (!demur_told_verdict_fill(workspace, verdicts->pdata[i], options->reveal, &line, error))
      return FALSE;
    write_csv_line(csv, &line);
    if (!put_text(output, csv->str, error))
      return FALSE;
    g_string_truncate(csv, 0);
  }
  return TRUE;
}

static gboolean
put_json(DemurWorkspace *workspace, const ExportOptions *options, const GPtrArray *verdicts,
         DemurFileOutput *output, GError **error) {
  g_autoptr(DemurJson) json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_bool(json, "research_use_only", TRUE);
  /* Kept elsewhere with the file, it finds a history that is written anew. */
  g_autofree char *head = demur_events_head(workspace, error);
  if (head == NULL)
    return FALSE;
  demur_json_string(json, "log_head", head);
  demur_json_begin_array(json, "verdicts");
  for (guint i = verdicts->len; i-- > 0;) {
    g_auto(DemurToldVerdict) line = {0};
    if (!demur_told_verdict_fill(workspace, verdicts->pdata[i], options->reveal, &line, error))
      return FALSE;
    write_json_line(json, &line);
    g_autofree char *text = demur_json_take(json);
    g_autofree char *safe = demur_shown_json(text);
    if (!put_text(output, safe, error))
      return FALSE;
  }
  demur_json_end_array(json);
  demur_json_end_object(json);
  g_autofree char *rest = demur_json_finish(g_steal_pointer(&json));
  return put_text(output, rest, error);
}

static gboolean
export_table(DemurWorkspace *workspace, const ExportOptions *options, const GPtrArray *verdicts,
             GError **error) {
  g_autoptr(DemurFileOutput) output =
      demur_file_output_open(options->path, DEMUR_FILE_REPLACE, error);
  if (output == NULL)
    return FALSE;
  const gboolean is_csv = strcmp(options->format, "csv") == 0;
  return (is_csv ? put_csv : put_json)(workspace, options, verdicts, output, error) &&
         demur_file_output_commit(output, error);
}

static gboolean
check_options(ExportOptions *options, GError **error) {
  static const char *const formats[] = {"csv", "json", "sr", "pdf", NULL};
  const char *wrong = NULL;
  if (options->format == NULL)
    options->format = g_str_has_suffix(options->path, ".csv")    ? "csv"
                      : g_str_has_suffix(options->path, ".json") ? "json"
                      : g_str_has_suffix(options->path, ".dcm")  ? "sr"
                                                                 : "";
  const gboolean is_dicom =
      strcmp(options->format, "sr") == 0 || strcmp(options->format, "pdf") == 0;
  if (!g_strv_contains(formats, options->format))
    wrong = "export needs --format csv, json, sr or pdf (FILE.csv, FILE.json and FILE.dcm, a "
            "structured report, say it themselves)";
  else if (is_dicom && (options->scan_id == NULL || options->cohort != NULL))
    wrong = "a DICOM object tells of one series: give --scan SCAN, and no --cohort";
  else if (options->pdf != NULL && strcmp(options->format, "pdf") != 0)
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
  if (!demur_command_parse(argc, argv, "FILE", "write verdicts for other programs",
                           "The newest verdict of each scan. Only an accepted scan carries its "
                           "risk, unless --reveal is given.",
                           entries, &words, error) ||
      !demur_command_expect(words, 1, "export takes one FILE", error))
    return FALSE;
  ExportOptions options = {words[0], format, scan_id, selector, cohort, pdf, reveal};
  if (!check_options(&options, error) ||
      !demur_file_output_check(options.path, DEMUR_FILE_REPLACE, error))
    return FALSE;
  demur_context_take_stdout(options.path);
  DemurWorkspace *workspace = demur_task_workspace(&context->task, error);
  if (workspace == NULL)
    return FALSE;
  guint n = 1;
  gboolean ok, unremembered = FALSE;
  const DemurReportParams report = {.reveal = options.reveal};
  if (strcmp(options.format, "pdf") == 0) {
    ok = demur_task_result_pdf(&context->task, options.scan_id, NULL, options.pdf, NULL,
                               options.path, error);
  } else {
    g_autoptr(GPtrArray) verdicts = find_verdicts(workspace, &options, error);
    if (verdicts == NULL)
      return FALSE;
    n = verdicts->len;
    ok = strcmp(options.format, "sr") == 0
             ? demur_task_result_report(&context->task, verdicts->pdata[0], &report, options.path,
                                        &unremembered, error)
             : export_table(workspace, &options, verdicts, error);
  }
  if (!ok || !demur_history_add_export(&context->task, options.path, options.format, n,
                                       options.reveal, error))
    return FALSE;
  if (unremembered)
    g_printerr("demur: the workspace can only be read: a later report won't name this one\n");
  if (context->json) {
    DemurJson *json = demur_json_new();
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "path", options.path);
    demur_json_string(json, "format", options.format);
    demur_json_int(json, "n_verdicts", n);
    demur_json_bool(json, "revealed", reveal);
    demur_json_end_object(json);
    demur_context_print_json(context, json);
  } else {
    g_print("%s: %s of %u scan%s\n", options.path, options.format, n, n == 1 ? "" : "s");
  }
  return TRUE;
}

const DemurCommand demur_command_export = {"export", "write verdicts as CSV, JSON or DICOM", run};
