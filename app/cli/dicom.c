/* demur dicom: import paths into the workspace, list what it holds, show one scan. */
#include "command.h"
#include "dicom-json.h"

#include "dicom/import.h"
#include "dicom/library.h"

#include <stdio.h>

static char *
now_text(void) {
  g_autoptr(GDateTime) now = g_date_time_new_now_utc();
  return g_date_time_format(now, "%Y-%m-%dT%H:%M:%SZ");
}

static void
print_text(const char *text) {
  fputs(text, stdout);
}

static gboolean
save_all(DemurWorkspace *workspace, const DemurImport *import, GPtrArray *records, GError **error) {
  const guint n = import->series->len;
  g_autofree DemurSeriesSave *saves = g_new0(DemurSeriesSave, MAX(n, 1));
  for (guint i = 0; i < n; i++) {
    const DemurSeries *series = import->series->pdata[i];
    saves[i].record = records->pdata[i];
    saves[i].files = demur_dicom_files_new(series);
    saves[i].n_files = series->n_slices;
  }
  const gboolean saved = demur_series_save(workspace, saves, n, error);
  for (guint i = 0; i < n; i++)
    demur_dicom_files_free((DemurSeriesFile *)saves[i].files, saves[i].n_files);
  return saved;
}

static void
print_import_json(DemurContext *context, const DemurImport *import, const GPtrArray *records) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_begin_array(json, "series");
  for (guint i = 0; i < records->len; i++)
    demur_dicom_json_record(json, records->pdata[i], FALSE);
  demur_json_end_array(json);
  demur_json_begin_array(json, "skipped");
  for (guint i = 0; i < import->skipped->len; i++) {
    const DemurSkipped *skipped = import->skipped->pdata[i];
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "path", skipped->path);
    demur_json_string(json, "reason", skipped->reason);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_end_object(json);
  demur_context_print_json(context, json);
}

static void
print_import_text(const DemurImport *import, const GPtrArray *records) {
  guint n_accepted = 0;
  for (guint i = 0; i < records->len; i++) {
    const DemurSeriesRecord *record = records->pdata[i];
    g_autofree char *text = demur_dicom_text_record(record, FALSE);
    print_text(text);
    n_accepted += record->accepted ? 1 : 0;
  }
  for (guint i = 0; i < import->skipped->len; i++) {
    const DemurSkipped *skipped = import->skipped->pdata[i];
    g_autofree char *text = g_strdup_printf("skipped %s: %s\n", skipped->path, skipped->reason);
    print_text(text);
  }
  g_autofree char *summary =
      g_strdup_printf("%u series, %u of them to be assessed; %u files skipped\n", records->len,
                      n_accepted, import->skipped->len);
  print_text(summary);
}

static gboolean
run_import(DemurContext *context, int argc, char **argv, GError **error) {
  g_auto(GStrv) paths = NULL;
  const GOptionEntry entries[] = {{NULL}};
  if (!demur_command_parse(
          argc, argv, "PATH...", "read DICOM files into the workspace",
          "PATH is a file, a folder, a DICOMDIR or a ZIP archive. Which series is assessed "
          "is decided here, from headers, with the reason for every other.",
          entries, &paths, error))
    return FALSE;
  if (paths == NULL || paths[0] == NULL) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE, "dicom import takes PATH...");
    return FALSE;
  }
  DemurWorkspace *workspace = demur_context_workspace(context, error);
  if (workspace == NULL || !demur_dicom_init(error))
    return FALSE;
  g_autoptr(DemurImport) import = demur_import_run((const char *const *)paths, NULL,
                                                   context->parallel, &context->progress, error);
  if (import == NULL)
    return FALSE;
  g_autofree char *now = now_text();
  g_autoptr(GPtrArray) records =
      g_ptr_array_new_with_free_func((GDestroyNotify)demur_series_record_free);
  for (guint i = 0; i < import->series->len; i++)
    g_ptr_array_add(records, demur_dicom_record_new(import->series->pdata[i], now));
  if (records->len > 0 && !save_all(workspace, import, records, error))
    return FALSE;
  if (context->json)
    print_import_json(context, import, records);
  else
    print_import_text(import, records);
  if (records->len == 0) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                "no DICOM image found; %u files were skipped for the reasons above",
                import->skipped->len);
    return FALSE;
  }
  return TRUE;
}

static gboolean
run_list(DemurContext *context, int argc, char **argv, GError **error) {
  g_auto(GStrv) words = NULL;
  const GOptionEntry entries[] = {{NULL}};
  if (!demur_command_parse(argc, argv, "", "list the series of the workspace", NULL, entries,
                           &words, error) ||
      !demur_command_expect(words, 0, "dicom list takes no words", error))
    return FALSE;
  DemurWorkspace *workspace = demur_context_workspace(context, error);
  g_autoptr(GPtrArray) records = workspace != NULL ? demur_series_list(workspace, error) : NULL;
  if (records == NULL)
    return FALSE;
  if (!context->json) {
    for (guint i = 0; i < records->len; i++) {
      g_autofree char *text = demur_dicom_text_record(records->pdata[i], FALSE);
      print_text(text);
    }
    if (records->len == 0)
      print_text("no series; demur dicom import PATH reads some\n");
    return TRUE;
  }
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_begin_array(json, "series");
  for (guint i = 0; i < records->len; i++)
    demur_dicom_json_record(json, records->pdata[i], FALSE);
  demur_json_end_array(json);
  demur_json_end_object(json);
  demur_context_print_json(context, json);
  return TRUE;
}

static gboolean
run_show(DemurContext *context, int argc, char **argv, GError **error) {
  g_auto(GStrv) words = NULL;
  const GOptionEntry entries[] = {{NULL}};
  if (!demur_command_parse(argc, argv, "SCAN", "show one series",
                           "SCAN is a scan_id of dicom list.", entries, &words, error) ||
      !demur_command_expect(words, 1, "dicom show takes SCAN", error))
    return FALSE;
  DemurWorkspace *workspace = demur_context_workspace(context, error);
  g_autoptr(DemurSeriesRecord) record =
      workspace != NULL ? demur_series_load(workspace, words[0], error) : NULL;
  if (record == NULL)
    return FALSE;
  if (!context->json) {
    g_autofree char *text = demur_dicom_text_record(record, TRUE);
    print_text(text);
    return TRUE;
  }
  DemurJson *json = demur_json_new();
  demur_dicom_json_record(json, record, TRUE);
  demur_context_print_json(context, json);
  return TRUE;
}

static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  static const DemurCommand commands[] = {
      {"import", "read files, folders, DICOMDIR, ZIP archives", run_import},
      {"list", "list the series", run_list},
      {"show", "show one series with its slices", run_show},
  };
  return demur_command_dispatch(context, commands, G_N_ELEMENTS(commands), argc, argv, error);
}

const DemurCommand demur_command_dicom = {"dicom", "CT series: import, list, show", run};
