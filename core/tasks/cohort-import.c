#include "tasks/cohort-import.h"

#include <string.h>

#include "cohort/import.h"
#include "cohort/order.h"
#include "store/cohorts.h"
#include "tasks/names.h"

/* The most reasons for which a screen of the NLST is left out. */
#define N_NLST_REASONS 7

void
demur_cohort_imported_clear(DemurCohortImported *imported) {
  g_clear_pointer(&imported->cohort, demur_cohort_unref);
  g_clear_pointer(&imported->digest, g_free);
  g_clear_pointer(&imported->warnings, g_ptr_array_unref);
}

static int
nlst_horizon(const DemurCohortImportParams *params) {
  return params->horizon_years > 0 ? params->horizon_years : DEMUR_N_YEARS;
}

/* What the NLST's rule left out, [N_NLST_REASONS]; reasons are constants. */
static void
nlst_exclusions(const DemurNlstCounts *n, const DemurCohortImportParams *params,
                DemurExclusion *exclusions) {
  const DemurNlstCases *cases = &n->cases[nlst_horizon(params) - 1];
  const gboolean weighted = params->short_followup == DEMUR_SHORT_WEIGHTED;
  const DemurExclusion all[N_NLST_REASONS] = {
      {(char *)"screens without a score", n->n_screens_without_score},
      {(char *)"scores whose person is not in the table", n->n_scores_without_person},
      {(char *)"scores whose screen was not taken", n->n_scores_without_screen},
      {(char *)"scored screens after the cancer was found", cases->n_cancer_before},
      {(char *)"scored screens: death without cancer within the horizon",
       params->death_event_free || weighted ? 0 : cases->n_death},
      {(char *)"scored screens: followed for less than the horizon",
       params->short_followup == DEMUR_SHORT_LEFT_OUT ? cases->n_censored : 0},
      {(char *)"scored screens: follow-up not recorded",
       params->short_followup == DEMUR_SHORT_EVENT_FREE ? 0 : cases->n_followup_unknown}};
  memcpy(exclusions, all, sizeof all);
}

/* A cohort without its model's name was read by what its table says; it is named only where the same
 * rows come out again. */
static int
table_horizon(DemurTask *task, const DemurCohortImportParams *params) {
  DemurWorkspace *workspace =
      params->replace && params->keeps_horizon ? demur_task_workspace(task, NULL) : NULL;
  g_autoptr(DemurCohortSummary) there =
      workspace != NULL ? demur_cohorts_summary(workspace, params->name, NULL) : NULL;
  return there != NULL && strcmp(there->model, DEMUR_MODEL_UNNAMED) == 0 ? 0
                                                                         : params->horizon_years;
}

static gboolean
read_tables(DemurTask *task, const DemurCohortImportParams *params, DemurCohortImported *imported,
            GError **error) {
  if (!demur_task_check_label("model", params->model, error) ||
      !demur_task_check_label("outcome", params->outcome, error))
    return FALSE;
  g_autofree char *created = demur_task_now(task);
  g_autoptr(DemurColumnMap) columns = NULL;
  g_auto(DemurSplitPlan) splits = {0};
  if ((params->columns != NULL &&
       (columns = demur_column_map_read(params->columns, error)) == NULL) ||
      (params->split_by != NULL && !demur_split_plan_parse(&splits, params->split_by, error)))
    return FALSE;
  DemurColumnMap *map = columns != NULL ? columns : params->mapping;
  const DemurSplitPlan *plan = params->split_by != NULL ? &splits : NULL;
  imported->is_nlst = params->table == NULL;
  if (imported->is_nlst) {
    const DemurNlstOptions options = {.name = params->name,
                                      .model = params->model,
                                      .created = created,
                                      .split = params->split,
                                      .splits = plan,
                                      .seed = task->seed,
                                      .columns = map,
                                      .images_path = params->images,
                                      .horizon_years = nlst_horizon(params),
                                      .short_followup = params->short_followup,
                                      .death_event_free = params->death_event_free,
                                      .weights = params->weights};
    imported->cohort =
        demur_cohort_import_nlst(params->persons, params->scores, &options, &task->progress,
                                 &imported->nlst, &imported->warnings, error);
  } else {
    const DemurImportOptions options = {.name = params->name,
                                        .model = params->model,
                                        .created = created,
                                        .embeddings_path = params->embeddings,
                                        .embedding_ids_path = params->embedding_ids,
                                        .columns = map,
                                        .splits = plan,
                                        .seed = task->seed,
                                        .horizon_years = table_horizon(task, params)};
    imported->cohort =
        demur_cohort_import(params->table, &options, &task->progress, &imported->warnings, error);
  }
  if (imported->cohort != NULL)
    imported->cohort->outcome = g_strdup(params->outcome);
  return imported->cohort != NULL;
}

/* Whether the table is the cohort that is there, and names the model that its scores are of, where
 * nobody did: whatever was made from it rests on the same rows. */
static gboolean
only_names_the_model(const DemurCohortSummary *before, const DemurCohort *cohort) {
  g_autofree guint32 *order = demur_cohort_order(cohort);
  g_autofree char *digest = demur_cohort_digest(cohort, order, cohort->n_scans);
  return strcmp(before->digest, digest) == 0 && strcmp(before->model, DEMUR_MODEL_UNNAMED) == 0 &&
         strcmp(cohort->model, DEMUR_MODEL_UNNAMED) != 0;
}

/* In a transaction. A table is taken whole or refused whole: nothing of it is left out. */
static gboolean
keep(DemurTask *task, DemurWorkspace *workspace, const DemurCohortImportParams *params,
     const DemurCohortImported *imported, GError **error) {
  g_autoptr(DemurCohortSummary) before =
      params->replace ? demur_cohorts_summary(workspace, params->name, NULL) : NULL;
  DemurExclusion exclusions[N_NLST_REASONS] = {{NULL, 0}};
  if (imported->is_nlst)
    nlst_exclusions(&imported->nlst, params, exclusions);
  const gboolean renames = before != NULL && only_names_the_model(before, imported->cohort);
  return (before == NULL || demur_cohorts_remove(workspace, params->name, renames, error)) &&
         demur_cohorts_save(workspace, imported->cohort, &task->progress, error) &&
         demur_cohorts_set_exclusions(workspace, params->name, exclusions,
                                      imported->is_nlst ? N_NLST_REASONS : 0, error) &&
         demur_cohorts_set_warnings(workspace, params->name, imported->warnings, error);
}

gboolean
demur_task_cohort_import(DemurTask *task, const DemurCohortImportParams *params,
                         DemurCohortImported *imported, GError **error) {
  if (!read_tables(task, params, imported, error))
    return FALSE;
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  if (workspace == NULL || !demur_workspace_begin(workspace, error))
    return FALSE;
  if (!keep(task, workspace, params, imported, error)) {
    demur_workspace_rollback(workspace);
    return FALSE;
  }
  if (!demur_workspace_commit(workspace, error))
    return FALSE;
  g_autoptr(DemurCohortSummary) summary = demur_cohorts_summary(workspace, params->name, error);
  if (summary == NULL)
    return FALSE;
  imported->digest = g_strdup(summary->digest);
  return TRUE;
}
