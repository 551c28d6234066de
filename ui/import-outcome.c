#include "ui/import-outcome.h"

#include "tasks/series-records.h"
#include "ui/words.h"
#include "words/words.h"

static void
line_free(gpointer data) {
  DemurImportLine *line = data;
  g_free(line->title);
  g_free(line->detail);
  g_free(line);
}

/* title and detail are taken over. */
static void
add_line(GPtrArray *lines, char *title, char *detail) {
  DemurImportLine *line = g_new0(DemurImportLine, 1);
  line->title = title;
  line->detail = detail;
  g_ptr_array_add(lines, line);
}

static char *
series_title(const DemurSeries *series) {
  g_autoptr(GString) text =
      g_string_new(series->patient_id != NULL ? series->patient_id : _("no patient ID"));
  if (series->series_number != DEMUR_NO_NUMBER)
    g_string_append_printf(text, " · %" G_GINT64_FORMAT, series->series_number);
  if (series->description != NULL)
    g_string_append_printf(text, " · %s", series->description);
  g_string_append_printf(text, " · %s", demur_series_type_name(series->type));
  g_string_append_printf(text, ngettext_(", %zu image", ", %zu images", series->n_slices),
                         series->n_slices);
  return g_string_free(g_steal_pointer(&text), FALSE);
}

DemurImportOutcome *
demur_import_outcome_new(const DemurIntake *intake, char *const *paths) {
  DemurImportOutcome *outcome = g_new0(DemurImportOutcome, 1);
  outcome->paths = g_strdupv((char **)paths);
  outcome->n_unchanged = intake->import->n_known;
  outcome->accepted = g_ptr_array_new_with_free_func(line_free);
  outcome->rejected = g_ptr_array_new_with_free_func(line_free);
  outcome->skipped = g_ptr_array_new_with_free_func(line_free);
  for (guint i = 0; i < intake->import->series->len; i++) {
    const DemurSeries *series = intake->import->series->pdata[i];
    const DemurSeriesRecord *record = intake->records->pdata[i];
    g_auto(GStrv) warnings =
        demur_dicom_warning_words(record->warnings_json, demur_words_translate);
    if (record->accepted)
      add_line(outcome->accepted, series_title(series),
               warnings[0] != NULL ? g_strjoinv("; ", warnings) : NULL);
    else
      add_line(outcome->rejected, series_title(series),
               demur_words_kept(record->reason, demur_words_translate));
    outcome->n_series++;
  }
  for (guint i = 0; i < intake->import->skipped->len; i++) {
    const DemurSkipped *skipped = intake->import->skipped->pdata[i];
    add_line(outcome->skipped, g_path_get_basename(skipped->path),
             demur_words_error(skipped->error));
  }
  return outcome;
}

void
demur_import_outcome_free(DemurImportOutcome *outcome) {
  if (outcome == NULL)
    return;
  g_ptr_array_unref(outcome->accepted);
  g_ptr_array_unref(outcome->rejected);
  g_ptr_array_unref(outcome->skipped);
  g_strfreev(outcome->paths);
  g_free(outcome);
}

char *
demur_import_outcome_unchanged(const DemurImportOutcome *outcome) {
  if (outcome->n_unchanged == 0)
    return NULL;
  return g_strdup_printf(
      ngettext_("%u file is unchanged since it was imported: only its header was read.",
                "%u files are unchanged since they were imported: only their headers were read.",
                outcome->n_unchanged),
      outcome->n_unchanged);
}
