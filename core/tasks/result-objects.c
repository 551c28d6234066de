#include "tasks/result-objects.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/file-input.h"
#include "base/json-reader.h"
#include "base/limits.h"
#include "dicom/result.h"
#include "report/verdict-picture.h"
#include "store/cohorts.h"
#include "store/events.h"
#include "store/selectors.h"
#include "tasks/history.h"
#include "tasks/images.h"
#include "tasks/patient-sheet.h"
#include "tasks/selection.h"
#include "tasks/selectors.h"
#include "tasks/told-verdict.h"
#include "words/words.h"

G_STATIC_ASSERT(DEMUR_RESULT_N_YEARS == DEMUR_N_YEARS);

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
    g_autoptr(JsonNode) node = demur_json_parse(event->details);
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

/* A report that goes out, for the log and for the file. */
typedef struct {
  DemurTask *task;
  const DemurReportParams *params;
  const DemurResult *result;
  const DemurSeries *series;
  const char *path, *scan_id, *series_uid, *uid;
} Going;

/* For the next report of the scan, with the line of a person's export. */
static gboolean
remember_report(gpointer data, GError **error) {
  const Going *going = data;
  DemurTask *task = going->task;
  const DemurReportParams *params = going->params;
  g_autofree char *key = report_key(going->scan_id), *now = demur_task_now(task);
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "series_uid", going->series_uid);
  demur_json_string(json, "uid", going->uid);
  demur_json_end_object(json);
  g_autofree char *details = demur_json_finish(json);
  return demur_events_add(task->workspace, DEMUR_EVENT_EXPORT, key, NULL, details, now, error) &&
         (params->logged == NULL ||
          (demur_history_add_opened(task, NULL, going->scan_id, "export", error) &&
           demur_history_add_export(task, going->path, params->logged, 1, params->reveal, error)));
}

static gboolean
give_report(gpointer data, GError **error) {
  const Going *going = data;
  return demur_result_write_report(going->result, going->series, going->path, error);
}

static void
fill_result(DemurTask *task, const DemurToldVerdict *told, const DemurSeries *series,
            const char *outcome, DemurResult *result) {
  const DemurVerdictRecord *v = told->verdict;
  *result = (DemurResult){.verdict = demur_words_verdict_code(v->verdict),
                          .verdict_meaning = demur_words_verdict_meaning(v->verdict),
                          .reasons = (const char *const *)told->reasons,
                          .outcome = outcome,
                          .risk = demur_told_risk(told),
                          .risk_low = demur_told_bound(told, FALSE),
                          .risk_high = demur_told_bound(told, TRUE),
                          .score = demur_told_score(told),
                          .threshold = v->threshold,
                          .coverage = v->coverage,
                          .model = v->model,
                          .model_version = told->score != NULL ? told->score->model_version : NULL,
                          .selector = v->selector,
                          .selector_digest = v->selector_digest,
                          .version = DEMUR_VERSION,
                          .created = v->created,
                          .horizon_years = isnan(v->horizon_years) ? 0.0 : v->horizon_years,
                          .simulated = is_simulated(task->workspace, v->selector, series)};
  for (int y = 0; y < DEMUR_N_YEARS; y++)
    result->yearly_risks[y] = demur_told_year(told, y);
}

static gboolean
check_current(const DemurVerdictRecord *verdict, GError **error) {
  if (verdict->outdated == DEMUR_CURRENT)
    return TRUE;
  g_autofree char *words = demur_words_outdated(verdict->outdated, NULL);
  demur_error_set(error, DEMUR_ERROR_STATE, "the verdict of scan %s can't go out. %s",
                  verdict->scan_id, words);
  return FALSE;
}

gboolean
demur_task_result_report(DemurTask *task, const DemurVerdictRecord *verdict,
                         const DemurReportParams *params, const char *path, gboolean *unremembered,
                         GError **error) {
  g_auto(DemurToldVerdict) told = {0};
  g_autoptr(DemurSeries) series = demur_task_reopen(task, verdict->scan_id, error);
  if (series == NULL ||
      !demur_told_verdict_fill(task->workspace, verdict, params->reveal, &told, error))
    return FALSE;
  if (!check_current(verdict, error))
    return FALSE;
  DemurResult result;
  g_autofree char *outcome = demur_task_selector_outcome(task, verdict->selector);
  fill_result(task, &told, series, outcome, &result);
  result.remark = params->remark;
  g_autofree char *head = demur_events_head_of_change(task->workspace, error);
  if (head == NULL)
    return FALSE;
  result.log_head = head;
  g_autofree char *series_uid = NULL, *uid = NULL;
  demur_result_report_uids(&result, series, &series_uid, &uid);
  g_auto(Predecessor) before = {0};
  if (!find_predecessor(task->workspace, verdict->scan_id, uid, &before, error))
    return FALSE;
  result.predecessor_series_uid = before.series_uid;
  result.predecessor_uid = before.uid;
  if (unremembered != NULL)
    *unremembered = demur_workspace_is_read_only(task->workspace_path);
  Going going = {task, params, &result, series, path, verdict->scan_id, series_uid, uid};
  return demur_history_let_out(task, path, remember_report, give_report, &going, error);
}

static void add_line(GStrvBuilder *lines, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void
add_line(GStrvBuilder *lines, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *line = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_strv_builder_add(lines, line);
}

/* What the picture says below the verdict (owned). */
static char **
picture_lines(const DemurResult *result) {
  g_autoptr(GStrvBuilder) lines = g_strv_builder_new();
  if (result->remark != NULL)
    add_line(lines, "%s.", result->remark);
  const char *of = result->outcome != NULL ? " of " : "",
             *outcome = result->outcome != NULL ? result->outcome : "";
  if (isfinite(result->risk) && result->horizon_years > 0)
    add_line(lines, "Predicted risk%s%s within %g years: %.1f %%", of, outcome,
             result->horizon_years, 100.0 * result->risk);
  else if (isfinite(result->risk))
    add_line(lines, "Predicted risk%s%s: %.1f %%", of, outcome, 100.0 * result->risk);
  if (isfinite(result->risk) && result->risk_high > result->risk_low)
    add_line(lines, "It may be off at its hospital: 95 %% interval %.1f to %.1f %%",
             100.0 * result->risk_low, 100.0 * result->risk_high);
  for (const char *const *reason = result->reasons; reason != NULL && *reason != NULL; reason++)
    add_line(lines, "%s", *reason);
  if (result->model != NULL)
    add_line(lines, "Model: %s, version %s", result->model,
             result->model_version != NULL ? result->model_version : "not recorded");
  add_line(lines, "Selector: %s (Demur %s)", result->selector, result->version);
  return g_strv_builder_end(lines);
}

gboolean
demur_task_result_picture(DemurTask *task, const DemurVerdictRecord *verdict, const char *remark,
                          const char *path, GError **error) {
  g_auto(DemurToldVerdict) told = {0};
  g_autoptr(DemurSeries) series = demur_task_reopen(task, verdict->scan_id, error);
  if (series == NULL || !demur_told_verdict_fill(task->workspace, verdict, FALSE, &told, error) ||
      !check_current(verdict, error))
    return FALSE;
  DemurResult result;
  g_autofree char *outcome = demur_task_selector_outcome(task, verdict->selector);
  fill_result(task, &told, series, outcome, &result);
  result.remark = remark;
  g_auto(GStrv) lines = picture_lines(&result);
  g_autofree char *foot =
      g_strdup_printf("%s. For research use, not a cleared device.", result.created);
  const DemurVerdictPicture words = {.heading = demur_words_verdict(verdict->verdict, NULL),
                                     .lines = (const char *const *)lines,
                                     .foot = foot,
                                     .simulated = result.simulated};
  g_autofree guint8 *rgb = demur_verdict_picture_draw(&words);
  const DemurResultPicture picture = {.rgb = rgb,
                                      .width = DEMUR_VERDICT_PICTURE_WIDTH,
                                      .height = DEMUR_VERDICT_PICTURE_HEIGHT,
                                      .name = verdict->digest,
                                      .created = verdict->created};
  return demur_result_write_picture(&picture, series, path, error);
}

/* The scan's own page, as `demur report patient` writes it. NULL with error. */
static guchar *
make_page(DemurTask *task, const char *scan_id, const char *selector, size_t *n, char **outcome,
          GError **error) {
  const DemurPatientSheetParams ask = {.scan_id = scan_id, .selector = selector};
  g_autoptr(DemurPatientSheet) patient = demur_task_patient_sheet(task, &ask, error);
  if (patient == NULL)
    return NULL;
  *outcome = demur_task_selector_outcome(task, patient->input.selector.name);
  g_autofree char *json = demur_patient_json(&patient->input);
  return demur_patient_pdf(&patient->input, json, n, error);
}

gboolean
demur_task_result_pdf(DemurTask *task, const char *scan_id, const char *selector, const char *pdf,
                      const char *created, const char *path, GError **error) {
  g_autoptr(DemurSeries) series = demur_task_reopen(task, scan_id, error);
  if (series == NULL)
    return FALSE;
  g_autoptr(GError) cause = NULL;
  g_autofree char *outcome = pdf != NULL ? demur_task_selector_outcome(task, selector) : NULL;
  size_t n = 0;
  g_autofree guchar *page =
      pdf == NULL ? make_page(task, scan_id, selector, &n, &outcome, &cause)
                  : (guchar *)demur_file_input_read(pdf, DEMUR_LIMIT_REPORT_BYTES, &n, &cause);
  if (page == NULL) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "there is no PDF to wrap: %s", cause->message);
    return FALSE;
  }
  g_autofree char *now = demur_task_now(task), *title = demur_result_title(outcome);
  return demur_result_write_pdf((char *)page, n, title, created != NULL ? created : now, series,
                                path, error);
}
