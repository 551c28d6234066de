/* demur export FILE: verdicts as CSV or JSON; one scan's result as a DICOM structured report or an
 * encapsulated PDF. A risk goes out with an accepted scan only, unless asked for. */
#include <math.h>
#include <string.h>

#include <json-glib/json-glib.h>

#include "app/cli/command.h"
#include "base/csv-field.h"
#include "base/file-output.h"
#include "base/number.h"
#include "base/shown-text.h"
#include "dicom/import.h"
#include "dicom/result.h"
#include "store/events.h"
#include "store/scores.h"
#include "store/selectors.h"
#include "store/series.h"
#include "store/verdicts.h"
#include "tasks/patient-sheet.h"
#include "tasks/history.h"
#include "tasks/images.h"
#include "words/words.h"

typedef struct {
  const char *path, *format; /* "csv", "json", "sr", "pdf" */
  const char *scan_id, *selector, *cohort, *pdf;
  gboolean reveal;
} ExportOptions;

/* A verdict with what may be told of it. */
typedef struct {
  const DemurVerdictRecord *verdict;
  DemurScoreRecord *score;  /* NULL: none, or of a cohort */
  char **reasons, **causes; /* causes: why the verdict no longer holds */
  gboolean told;            /* the risk is */
} Line;

static void
line_clear(Line *line) {
  demur_score_record_free(line->score);
  g_strfreev(line->reasons);
  g_strfreev(line->causes);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Line, line_clear)

static gboolean
line_fill(DemurWorkspace *workspace, const ExportOptions *options,
          const DemurVerdictRecord *verdict, Line *line, GError **error) {
  g_autoptr(GPtrArray) reasons = demur_reasons_from_json(verdict->reasons);
  g_autoptr(GPtrArray) shown =
      demur_reasons_shown(reasons, options->reveal || verdict->verdict != DEMUR_VERDICT_RED_FLAG);
  *line = (Line){.verdict = verdict, .reasons = demur_words_reasons(shown, NULL)};
  line->told = verdict->outdated == DEMUR_CURRENT &&
               (options->reveal || verdict->verdict == DEMUR_VERDICT_ACCEPTED);
  line->causes = demur_words_causes(verdict->outdated, NULL);
  return verdict->cohort != NULL ||
         demur_scores_load(workspace, verdict->scan_id, verdict->model, &line->score, error);
}

static const char *
state_of(const Line *line) {
  return demur_verdict_state_name(demur_verdict_state(line->verdict->outdated));
}

static double
told_risk(const Line *line) {
  return line->told ? line->verdict->risk : (double)NAN;
}

/* The score follows the risk, and goes where it goes. */
static double
told_score(const Line *line) {
  const DemurVerdictRecord *v = line->verdict;
  const gboolean held = v->outdated != DEMUR_CURRENT || v->verdict == DEMUR_VERDICT_RED_FLAG;
  return line->told || !held ? v->score : (double)NAN;
}

/* The interval follows the risk too. */
static double
told_bound(const Line *line, gboolean upper) {
  const DemurVerdictRecord *v = line->verdict;
  return !line->told ? (double)NAN : upper ? v->risk_high : v->risk_low;
}

static double
told_year(const Line *line, int year) {
  return line->told && line->score != NULL ? line->score->yearly_risks[year] : (double)NAN;
}

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
write_csv_line(GString *csv, const Line *line) {
  const DemurVerdictRecord *v = line->verdict;
  g_autofree char *reasons = g_strjoinv("; ", line->reasons);
  add_text(csv, v->scan_id);
  add_text(csv, v->patient_id);
  add_text(csv, demur_verdict_name(v->verdict));
  add_number(csv, told_risk(line));
  for (int y = 0; y < DEMUR_N_YEARS; y++)
    add_number(csv, told_year(line, y));
  add_number(csv, told_score(line));
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
  add_text(csv, state_of(line));
  add_text(csv, causes);
  add_number(csv, told_bound(line, FALSE));
  add_number(csv, told_bound(line, TRUE));
  g_string_append(csv, "\r\n");
}

static void
write_json_line(DemurJson *json, const Line *line) {
  const DemurVerdictRecord *v = line->verdict;
  double years[DEMUR_N_YEARS];
  for (int y = 0; y < DEMUR_N_YEARS; y++)
    years[y] = told_year(line, y);
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "scan_id", v->scan_id);
  demur_json_string(json, "patient_id", v->patient_id);
  demur_json_string(json, "verdict", demur_verdict_name(v->verdict));
  demur_json_double(json, "risk", told_risk(line));
  const double interval[2] = {told_bound(line, FALSE), told_bound(line, TRUE)};
  if (isfinite(interval[0]))
    demur_json_doubles(json, "risk_interval", interval, 2);
  else
    demur_json_null(json, "risk_interval");
  demur_json_doubles(json, "yearly_risks", years, DEMUR_N_YEARS);
  demur_json_double(json, "score", told_score(line));
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
  demur_json_string(json, "state", state_of(line));
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
    g_auto(Line) line = {0};
    if (!line_fill(workspace, options, verdicts->pdata[i], &line, error))
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
    g_auto(Line) line = {0};
    if (!line_fill(workspace, options, verdicts->pdata[i], &line, error))
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

/* Whether selector was trained on simulated scans, or the images say that they are simulated. */
static gboolean
is_simulated(DemurWorkspace *workspace, const char *selector, const DemurSeries *series) {
  g_autoptr(GPtrArray) selectors = demur_selectors_list(workspace, NULL);
  gboolean simulated = series->synthetic;
  for (guint i = 0; selectors != NULL && i < selectors->len; i++) {
    const DemurSelectorRecord *record = selectors->pdata[i];
    simulated |= record->simulated && strcmp(record->name, selector) == 0;
  }
  return simulated;
}

/* A structured report that went out before. */
typedef struct {
  char *series_uid, *uid;
} Predecessor;

static void
predecessor_clear(Predecessor *predecessor) {
  g_free(predecessor->series_uid);
  g_free(predecessor->uid);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Predecessor, predecessor_clear)

static char *
report_key(const char *scan_id) {
  return g_strdup_printf("report:%s", scan_id);
}

/* The last other report of the scan that went out before this one did first: the same verdict has
 * the same predecessor whenever it is written. */
static gboolean
find_predecessor(DemurWorkspace *workspace, const char *scan_id, const char *uid,
                 Predecessor *predecessor, GError **error) {
  g_autofree char *key = report_key(scan_id);
  g_autoptr(GPtrArray) events = demur_events_list(workspace, 0, key, error);
  for (guint i = 0; events != NULL && i < events->len; i++) {
    const DemurEvent *event = events->pdata[i];
    g_autoptr(JsonNode) node =
        event->details != NULL ? json_from_string(event->details, NULL) : NULL;
    if (node == NULL || !JSON_NODE_HOLDS_OBJECT(node))
      continue;
    JsonObject *object = json_node_get_object(node);
    const char *other = json_object_get_string_member_with_default(object, "uid", NULL);
    if (other == NULL)
      continue;
    if (strcmp(other, uid) == 0)
      break;
    predecessor_clear(predecessor);
    predecessor->uid = g_strdup(other);
    predecessor->series_uid =
        g_strdup(json_object_get_string_member_with_default(object, "series_uid", NULL));
  }
  return events != NULL;
}

/* A workspace that may only be read remembers nothing: said. */
static gboolean
remember_report(DemurContext *context, DemurWorkspace *workspace, const char *scan_id,
                const char *series_uid, const char *uid, GError **error) {
  if (demur_workspace_is_read_only(demur_workspace_path(workspace))) {
    g_printerr("demur: the workspace can only be read: a later report won't name this one\n");
    return TRUE;
  }
  g_autofree char *key = report_key(scan_id), *now = demur_task_now(&context->task);
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "series_uid", series_uid);
  demur_json_string(json, "uid", uid);
  demur_json_end_object(json);
  g_autofree char *details = demur_json_finish(json);
  return demur_events_add(workspace, DEMUR_EVENT_EXPORT, key, NULL, details, now, error);
}

static gboolean
export_report(DemurContext *context, DemurWorkspace *workspace, const ExportOptions *options,
              const GPtrArray *verdicts, GError **error) {
  g_auto(Line) line = {0};
  g_autoptr(DemurSeries) series = demur_task_reopen(&context->task, options->scan_id, error);
  if (series == NULL || !line_fill(workspace, options, verdicts->pdata[0], &line, error))
    return FALSE;
  const DemurVerdictRecord *v = line.verdict;
  if (v->outdated != DEMUR_CURRENT) {
    g_autofree char *words = demur_words_outdated(v->outdated, NULL);
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE, "the verdict of scan %s can't go out. %s",
                v->scan_id, words);
    return FALSE;
  }
  DemurResult result = {.verdict = demur_words_verdict_code(v->verdict),
                        .verdict_meaning = demur_words_verdict_meaning(v->verdict),
                        .reasons = (const char *const *)line.reasons,
                        .risk = told_risk(&line),
                        .risk_low = told_bound(&line, FALSE),
                        .risk_high = told_bound(&line, TRUE),
                        .score = told_score(&line),
                        .threshold = v->threshold,
                        .coverage = v->coverage,
                        .model = v->model,
                        .selector = v->selector,
                        .selector_digest = v->selector_digest,
                        .version = DEMUR_VERSION,
                        .created = v->created,
                        .simulated = is_simulated(workspace, v->selector, series)};
  G_STATIC_ASSERT(DEMUR_RESULT_N_YEARS == DEMUR_N_YEARS);
  for (int y = 0; y < DEMUR_N_YEARS; y++)
    result.yearly_risks[y] = told_year(&line, y);
  g_autofree char *series_uid = NULL, *uid = NULL;
  demur_result_report_uids(&result, series, &series_uid, &uid);
  g_auto(Predecessor) before = {0};
  if (!find_predecessor(workspace, v->scan_id, uid, &before, error))
    return FALSE;
  result.predecessor_series_uid = before.series_uid;
  result.predecessor_uid = before.uid;
  return demur_result_write_report(&result, series, options->path, error) &&
         remember_report(context, workspace, v->scan_id, series_uid, uid, error);
}

/* The scan's own page, as `demur report patient` writes it. NULL with error. */
static guchar *
make_page(DemurContext *context, const ExportOptions *options, size_t *n, GError **error) {
  const DemurPatientSheetParams ask = {.scan_id = options->scan_id};
  g_autoptr(DemurPatientSheet) patient = demur_task_patient_sheet(&context->task, &ask, error);
  if (patient == NULL)
    return NULL;
  g_autofree char *json = demur_patient_json(&patient->input);
  return demur_patient_pdf(&patient->input, json, n, error);
}

static gboolean
export_pdf(DemurContext *context, DemurWorkspace *workspace, const ExportOptions *options,
           GError **error) {
  g_autoptr(DemurSeries) series = demur_task_reopen(&context->task, options->scan_id, error);
  if (series == NULL)
    return FALSE;
  g_autoptr(GError) cause = NULL;
  g_autoptr(GMappedFile) file =
      options->pdf != NULL ? g_mapped_file_new(options->pdf, FALSE, &cause) : NULL;
  size_t n = file != NULL ? g_mapped_file_get_length(file) : 0;
  g_autofree guchar *page = options->pdf == NULL ? make_page(context, options, &n, &cause) : NULL;
  if (cause != NULL) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "there is no PDF to wrap: %s",
                cause->message);
    return FALSE;
  }
  g_autofree char *now = demur_task_now(&context->task);
  return demur_result_write_pdf(file != NULL ? g_mapped_file_get_contents(file) : (char *)page, n,
                                "Demur: lung cancer risk", now, series, options->path, error);
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
  gboolean ok;
  if (strcmp(options.format, "pdf") == 0) {
    ok = export_pdf(context, workspace, &options, error);
  } else {
    g_autoptr(GPtrArray) verdicts = find_verdicts(workspace, &options, error);
    if (verdicts == NULL)
      return FALSE;
    n = verdicts->len;
    ok = strcmp(options.format, "sr") == 0
             ? export_report(context, workspace, &options, verdicts, error)
             : export_table(workspace, &options, verdicts, error);
  }
  if (!ok || !demur_history_add_export(&context->task, options.path, options.format, n,
                                       options.reveal, error))
    return FALSE;
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
