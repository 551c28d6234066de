#include "tasks/verdict-export.h"

#include <math.h>
#include <string.h>

#include "base/csv-field.h"
#include "base/error.h"
#include "base/file-output.h"
#include "base/json-writer.h"
#include "base/number.h"
#include "base/shown-text.h"
#include "store/events.h"
#include "store/selectors.h"
#include "tasks/history.h"
#include "tasks/result-objects.h"
#include "tasks/told-verdict.h"
#include "words/federated-words.h"

static const struct {
  const char *name, *ending; /* ending NULL: no file says it by itself */
} formats[DEMUR_N_EXPORTS] = {
    [DEMUR_EXPORT_CSV] = {"csv", ".csv"},
    [DEMUR_EXPORT_JSON] = {"json", ".json"},
    [DEMUR_EXPORT_REPORT] = {"sr", ".dcm"},
    [DEMUR_EXPORT_PDF] = {"pdf", NULL},
};

const char *
demur_export_format_name(DemurExportFormat format) {
  return formats[format].name;
}

gboolean
demur_export_format_find(const char *name, const char *path, DemurExportFormat *format) {
  for (int f = 0; f < DEMUR_N_EXPORTS; f++)
    if (name != NULL ? strcmp(name, formats[f].name) == 0
                     : formats[f].ending != NULL && g_str_has_suffix(path, formats[f].ending)) {
      *format = (DemurExportFormat)f;
      return TRUE;
    }
  return FALSE;
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

/* selector: that gave the verdict; NULL: it is gone. */
static void
write_csv_line(GString *csv, const DemurToldVerdict *line, const DemurSelector *selector,
               const char *log_head) {
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
  add_number(csv, v->horizon_years);
  add_text(csv, log_head);
  add_text(csv, line->score != NULL ? line->score->model_version : NULL);
  add_text(csv, demur_remedy_name(demur_verdict_remedy(v->verdict, v->outdated)));
  g_autofree char *federated =
      selector != NULL ? demur_words_federated(selector, NULL) : g_strdup("not known");
  add_text(csv, federated);
  g_string_append(csv, "\r\n");
}

/* As above. */
static void
write_json_line(DemurJson *json, const DemurToldVerdict *line, const DemurSelector *selector) {
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
  demur_json_double(json, "horizon_years", v->horizon_years);
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
  demur_json_string(json, "model_version", line->score != NULL ? line->score->model_version : NULL);
  demur_json_string(json, "cohort", v->cohort);
  demur_json_string(json, "created", v->created);
  demur_json_bool(json, "revealed", line->told && v->verdict != DEMUR_VERDICT_ACCEPTED);
  demur_json_string(json, "state", demur_told_state(line));
  demur_json_begin_array(json, "out_of_date_because");
  for (char **cause = line->causes; *cause != NULL; cause++)
    demur_json_string(json, NULL, *cause);
  demur_json_end_array(json);
  demur_json_string(json, "next_step",
                    demur_remedy_name(demur_verdict_remedy(v->verdict, v->outdated)));
  if (selector != NULL)
    demur_selector_write_federated(selector, json);
  else
    demur_json_null(json, "federated");
  demur_json_end_object(json);
}

static gboolean
fail_none(GError **error) {
  demur_error_set(error, DEMUR_ERROR_NOT_FOUND,
                  "there is no verdict of that kind to export; `demur assess` gives verdicts");
  return FALSE;
}

/* The newest verdict a scan that the options ask for, for an object: of one scan. */
static GPtrArray *
find_verdicts(DemurWorkspace *workspace, const DemurVerdictExportParams *params, GError **error) {
  g_autoptr(GPtrArray) all =
      params->selector != NULL
          ? demur_verdicts_of_selector(workspace, params->selector, TRUE, error)
          : demur_verdicts_latest(workspace, params->cohort, error);
  for (guint i = all != NULL ? all->len : 0; i-- > 0;) {
    const DemurVerdictRecord *v = all->pdata[i];
    if (g_strcmp0(v->cohort, params->cohort) != 0 ||
        (params->scan_id != NULL && strcmp(v->scan_id, params->scan_id) != 0))
      g_ptr_array_remove_index(all, i);
  }
  if (all != NULL && all->len == 0) {
    fail_none(error);
    return NULL;
  }
  return g_steal_pointer(&all);
}

/* A table that is being written, a verdict at a time: no more of them is held. */
typedef struct {
  DemurWorkspace *workspace;
  const DemurVerdictExportParams *params;
  DemurFileOutput *output; /* opened at the first verdict */
  char *head;              /* of the log: kept elsewhere, it finds a history that is written anew */
  char *selector_name;     /* of the last verdict: */
  DemurSelector *selector; /* NULL: it is gone */
  GString *csv;
  DemurJson *json; /* NULL: the table is CSV */
  guint n;
  GError **error;
  gboolean ok;
} Table;

static gboolean
put_text(Table *table, const char *text) {
  return demur_file_output_write(table->output, text, strlen(text), table->error);
}

static gboolean
open_table(Table *table) {
  table->head = demur_events_head_of_change(table->workspace, table->error);
  table->output = table->head != NULL ? demur_file_output_open(table->params->path,
                                                               DEMUR_FILE_REPLACE, table->error)
                                      : NULL;
  if (table->output == NULL)
    return FALSE;
  table->csv = g_string_new(NULL);
  if (table->params->format == DEMUR_EXPORT_CSV)
    return put_text(
        table,
        "scan_id,patient_id,verdict,risk,risk_year_1,risk_year_2,risk_year_3,risk_year_4,"
        "risk_year_5,risk_year_6,score,threshold,coverage,reasons,selector,selector_digest,model,"
        "cohort,created,revealed,state,out_of_date_because,risk_interval_low,risk_interval_high,"
        "horizon_years,log_head,model_version,next_step,federated\r\n");
  table->json = demur_json_new();
  demur_json_begin_object(table->json, NULL);
  demur_json_bool(table->json, "research_use_only", TRUE);
  demur_json_string(table->json, "log_head", table->head);
  demur_json_begin_array(table->json, "verdicts");
  return TRUE;
}

/* The selector that gave the verdict, of those that follow each other read once; *selector NULL: it was
 * trained anew or removed. */
static gboolean
find_selector(Table *table, const DemurVerdictRecord *record, const DemurSelector **selector) {
  if (g_strcmp0(table->selector_name, record->selector) != 0) {
    g_autoptr(GError) gone = NULL;
    g_clear_pointer(&table->selector, demur_selector_unref);
    g_free(table->selector_name);
    table->selector_name = g_strdup(record->selector);
    table->selector =
        demur_selectors_read(table->workspace, record->selector, record->selector, NULL, &gone);
    if (table->selector == NULL && !g_error_matches(gone, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND)) {
      g_propagate_error(table->error, g_steal_pointer(&gone));
      return FALSE;
    }
  }
  const gboolean same = table->selector != NULL && g_strcmp0(demur_selector_digest(table->selector),
                                                             record->selector_digest) == 0;
  *selector = same ? table->selector : NULL;
  return TRUE;
}

static gboolean
put_verdict(Table *table, const DemurVerdictRecord *record) {
  g_auto(DemurToldVerdict) line = {0};
  const DemurSelector *selector;
  if ((table->output == NULL && !open_table(table)) || !find_selector(table, record, &selector) ||
      !demur_told_verdict_fill(table->workspace, record, table->params->reveal, &line,
                               table->error))
    return FALSE;
  table->n++;
  if (table->json == NULL) {
    g_string_truncate(table->csv, 0);
    write_csv_line(table->csv, &line, selector, table->head);
    return put_text(table, table->csv->str);
  }
  write_json_line(table->json, &line, selector);
  g_autofree char *text = demur_json_take(table->json);
  g_autofree char *safe = demur_shown_json(text);
  return put_text(table, safe);
}

static gboolean
each_verdict(const DemurVerdictRecord *record, gpointer data) {
  Table *table = data;
  return table->ok = put_verdict(table, record);
}

static gboolean
close_table(Table *table) {
  if (table->json != NULL) {
    demur_json_end_array(table->json);
    demur_json_end_object(table->json);
    g_autofree char *rest = demur_json_finish(g_steal_pointer(&table->json));
    if (!put_text(table, rest))
      return FALSE;
  }
  return demur_file_output_finish(table->output, table->error);
}

/* What goes out, for the log and for the file. */
typedef struct {
  DemurTask *task;
  const DemurVerdictExportParams *params;
  DemurFileOutput *output; /* NULL: a PDF, written by give_pdf */
  guint n;
} Going;

/* Who opened the scan, where that is kept, and the export. */
static gboolean
tell(gpointer data, GError **error) {
  const Going *going = data;
  const DemurVerdictExportParams *params = going->params;
  return (params->scan_id == NULL || demur_history_add_opened(going->task, params->cohort,
                                                              params->scan_id, "export", error)) &&
         demur_history_add_export(going->task, params->path, formats[params->format].name, going->n,
                                  params->reveal, error);
}

static gboolean
give_table(gpointer data, GError **error) {
  return demur_file_output_commit(((Going *)data)->output, error);
}

static gboolean
give_pdf(gpointer data, GError **error) {
  const Going *going = data;
  return demur_task_result_pdf(going->task, going->params->scan_id, NULL, going->params->pdf, NULL,
                               going->params->path, error);
}

/* *n: rows. All of it is one view of the workspace. */
static gboolean
export_table(DemurTask *task, const DemurVerdictExportParams *params, guint *n, GError **error) {
  DemurWorkspace *workspace = task->workspace;
  Table table = {.workspace = workspace, .params = params, .error = error, .ok = TRUE};
  gboolean ok = demur_verdicts_each_newest(workspace, params->cohort, params->selector,
                                           params->scan_id, each_verdict, &table, error) &&
                table.ok;
  if (ok)
    ok = table.n > 0 ? close_table(&table) : fail_none(error);
  Going going = {task, params, table.output, table.n};
  ok = ok && demur_history_let_out(task, params->path, tell, give_table, &going, error);
  *n = table.n;
  demur_file_output_free(table.output);
  g_clear_pointer(&table.json, demur_json_free);
  if (table.csv != NULL)
    g_string_free(table.csv, TRUE);
  g_free(table.head);
  g_free(table.selector_name);
  g_clear_pointer(&table.selector, demur_selector_unref);
  return ok;
}

static gboolean
export_report(DemurTask *task, const DemurVerdictExportParams *params,
              DemurVerdictExported *exported, GError **error) {
  const DemurReportParams report = {.reveal = params->reveal,
                                    .logged = formats[params->format].name};
  g_autoptr(GPtrArray) verdicts = find_verdicts(task->workspace, params, error);
  if (verdicts == NULL)
    return FALSE;
  exported->n = verdicts->len;
  return demur_task_result_report(task, verdicts->pdata[0], &report, params->path,
                                  &exported->not_remembered, error);
}

gboolean
demur_task_verdict_export(DemurTask *task, const DemurVerdictExportParams *params,
                          DemurVerdictExported *exported, GError **error) {
  *exported = (DemurVerdictExported){.n = 1};
  if (demur_task_workspace(task, error) == NULL)
    return FALSE;
  switch (params->format) {
  case DEMUR_EXPORT_REPORT:
    return export_report(task, params, exported, error);
  case DEMUR_EXPORT_PDF: {
    Going going = {task, params, NULL, exported->n};
    return demur_history_let_out(task, params->path, tell, give_pdf, &going, error);
  }
  default:
    return export_table(task, params, &exported->n, error);
  }
}
