#include "ui/table-import.h"

#include <string.h>

#include "report/format.h"
#include "tasks/cohort-import.h"
#include "tasks/names.h"
#include "tasks/scores-import.h"
#include "tasks/selectors.h"
#include "ui/words.h"
#include "words/noticed.h"

void
demur_table_import_free(DemurTableImport *import) {
  if (import == NULL)
    return;
  g_free(import->path);
  g_free(import->name);
  g_free(import->model);
  g_free(import->outcome);
  g_free(import->split_by);
  for (guint m = 0; m < DEMUR_N_MEANINGS; m++)
    g_free(import->columns[m]);
  g_free(import);
}

void
demur_table_outcome_free(DemurTableOutcome *outcome) {
  if (outcome == NULL)
    return;
  g_free(outcome->sentence);
  g_free(outcome);
}

/* Names of columns where they differ from ours; NULL where none does. */
static DemurColumnMap *
mapping(const DemurTableImport *import) {
  g_autoptr(DemurColumnMap) map = demur_column_map_new(import->path);
  gboolean any = FALSE;
  for (guint m = 0; m < DEMUR_N_MEANINGS; m++) {
    g_autofree char *name = m == DEMUR_MEANS_RISK && import->years_of_risk
                                ? demur_column_yearly_name(import->years)
                                : g_strdup(demur_column_meaning_name(m));
    if (import->columns[m] == NULL || strcmp(import->columns[m], name) == 0)
      continue;
    demur_column_map_add(map, import->columns[m], name);
    any = TRUE;
  }
  return any ? g_steal_pointer(&map) : NULL;
}

/* All of them, as the command line: what is noticed is counted by column and kind. */
static void
append_notes(GString *text, const GPtrArray *warnings) {
  for (guint i = 0; warnings != NULL && i < warnings->len; i++) {
    g_autofree char *words = demur_words_noticed(warnings->pdata[i], TRUE, demur_words_translate);
    g_string_append_printf(text, _(" Note: %s."), words);
  }
}

static DemurTableOutcome *
outcome_new(GString *text, gboolean is_error) {
  DemurTableOutcome *outcome = g_new(DemurTableOutcome, 1);
  *outcome = (DemurTableOutcome){g_string_free(text, FALSE), is_error};
  return outcome;
}

const char *
demur_table_import_command(const DemurTableImport *import) {
  return import->kind == DEMUR_FILE_COHORT     ? "cohort import"
         : import->kind == DEMUR_FILE_SELECTOR ? "selector import"
                                               : "scores import";
}

static DemurTableOutcome *
import_cohort(DemurTask *task, const DemurTableImport *import, GError **error) {
  g_autoptr(DemurColumnMap) map = mapping(import);
  const DemurCohortImportParams params = {.name = import->name,
                                          .model = import->model,
                                          .outcome = import->outcome,
                                          .table = import->path,
                                          .mapping = map,
                                          .split_by = import->split_by,
                                          .replace = import->replace,
                                          .horizon_years = import->years,
                                          .keeps_horizon = !import->years_chosen};
  g_auto(DemurCohortImported) imported = {0};
  if (!demur_task_check_name("cohort", import->name, error) ||
      !demur_task_cohort_import(task, &params, &imported, error))
    return NULL;
  const DemurCohort *cohort = imported.cohort;
  g_autofree char *scans = demur_text_count(cohort->n_scans);
  g_autofree char *sites = demur_text_count(cohort->n_sites);
  GString *text = g_string_new(NULL);
  g_string_printf(text,
                  ngettext_("Cohort %s is kept: %s scan, sites: %s; splits: ",
                            "Cohort %s is kept: %s scans, sites: %s; splits: ", cohort->n_scans),
                  import->name, scans, sites);
  for (size_t s = 0; s < cohort->n_splits; s++) {
    size_t n;
    g_autofree guint32 *rows = demur_cohort_rows(cohort, cohort->split_names[s], &n, NULL);
    g_autofree char *count = demur_text_count(n);
    g_string_append_printf(text, "%s%s %s", s > 0 ? ", " : "", cohort->split_names[s], count);
  }
  g_string_append_c(text, '.');
  if (cohort->horizon_years > 0.0) {
    g_autofree char *years = demur_text_years_in(cohort->horizon_years, demur_words_translate);
    g_string_append_printf(text, _(" Risk and outcome are within %s."), years);
  } else if (cohort->n_classes == 2) {
    g_string_append(text, _(" Within how many years risk and outcome are is not recorded."));
  }
  append_notes(text, imported.warnings);
  return outcome_new(text, FALSE);
}

static DemurTableOutcome *
import_scores(DemurTask *task, const DemurTableImport *import, GError **error) {
  g_autoptr(DemurColumnMap) map = mapping(import);
  const DemurScoresImportParams params = {.path = import->path,
                                          .model = import->model,
                                          .replace = import->replace,
                                          .horizon_years = import->years,
                                          .mapping = map};
  g_autoptr(DemurScoresImported) imported = demur_task_scores_import(task, &params, error);
  if (imported == NULL)
    return NULL;
  GString *text = g_string_new(NULL);
  g_string_printf(text,
                  ngettext_("Scores of model %s: %u series got theirs, %u row is of no series "
                            "here, not clear are %u, of another patient or series %u.",
                            "Scores of model %s: %u series got theirs, %u rows are of no series "
                            "here, not clear are %u, of another patient or series %u.",
                            imported->unmatched->len),
                  import->model, imported->scan_ids->len, imported->unmatched->len,
                  imported->ambiguous->len, imported->mismatched->len);
  if (imported->scan_ids->len == 0)
    g_string_append(text, _(" Nothing could be paired: import the images first, and look whether "
                            "the table names them by series_uid or scan_id."));
  append_notes(text, imported->warnings);
  return outcome_new(text, imported->scan_ids->len == 0);
}

static DemurTableOutcome *
import_selector(DemurTask *task, const DemurTableImport *import, GError **error) {
  if (!demur_task_check_name("selector", import->name, error))
    return NULL;
  g_auto(DemurSelectorBundle) read = {0};
  if (!demur_task_selector_import(
          task, import->name, import->path,
          import->replace ? DEMUR_SELECTOR_REPLACE_ALL : DEMUR_SELECTOR_REPLACE_NONE, &read, error))
    return NULL;
  GString *text = g_string_new(NULL);
  if (read.family == NULL)
    g_string_printf(
        text,
        _("Selector %s is kept. It has no threshold yet: choose a coverage on the Cohort page."),
        import->name);
  else
    g_string_printf(text,
                    _("Family %s is kept, with %zu selectors, %s-%dy to %s-%dy. None has a "
                      "threshold yet: choose a coverage on the Cohort page."),
                    import->name, read.n, import->name, read.years[0], import->name,
                    read.years[read.n - 1]);
  return outcome_new(text, FALSE);
}

DemurTableOutcome *
demur_table_import_run(DemurTask *task, const DemurTableImport *import, GError **error) {
  switch (import->kind) {
  case DEMUR_FILE_COHORT:
    return import_cohort(task, import, error);
  case DEMUR_FILE_SELECTOR:
    return import_selector(task, import, error);
  case DEMUR_FILE_SCORES:
  default:
    return import_scores(task, import, error);
  }
}
