#include "tasks/cohorts.h"

#include <math.h>

#include "base/error.h"
#include "cohort/export.h"
#include "tasks/history.h"
#include "tasks/prevalence.h"

GPtrArray *
demur_task_cohorts(DemurTask *task, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  return workspace != NULL ? demur_cohorts_list(workspace, error) : NULL;
}

/* Facts. */

void
demur_cohort_facts_free(DemurCohortFacts *facts) {
  if (facts == NULL)
    return;
  demur_cohort_unref(facts->cohort);
  g_clear_pointer(&facts->warnings, g_ptr_array_unref);
  g_free(facts->digest);
  g_free(facts->splits);
  g_free(facts);
}

/* Of a split, NULL: of all scans. */
static gboolean
count(const DemurCohort *cohort, const char *split, DemurCohortCounts *counts, GError **error) {
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(cohort, split, &n, error);
  if (rows == NULL)
    return FALSE;
  *counts = (DemurCohortCounts){.n_scans = n,
                                .n_patients = demur_cohort_count_patients(cohort, rows, n),
                                .n_sites = demur_cohort_count_sites(cohort, rows, n)};
  double labels = 0.0, risks = 0.0;
  for (size_t i = 0; i < n; i++) {
    const double label = demur_cohort_confidence_label(cohort, rows[i]);
    risks += demur_cohort_confidence_risk(cohort, rows[i]);
    if (isnan(label))
      counts->n_unlabelled++;
    else
      labels += label;
  }
  const size_t n_labelled = n - counts->n_unlabelled;
  counts->prevalence = cohort->n_classes == 2 ? demur_task_prevalence(cohort, rows, n)
                       : n_labelled > 0       ? labels / (double)n_labelled
                                              : NAN;
  counts->mean_risk = n > 0 ? risks / (double)n : NAN;
  return TRUE;
}

DemurCohortFacts *
demur_cohort_facts_new(DemurCohort *cohort, const char *digest, GPtrArray *warnings,
                       GError **error) {
  g_autoptr(DemurCohortFacts) facts = g_new0(DemurCohortFacts, 1);
  facts->cohort = demur_cohort_ref(cohort);
  facts->digest = g_strdup(digest);
  facts->warnings = warnings != NULL ? g_ptr_array_ref(warnings) : NULL;
  facts->splits = g_new0(DemurCohortCounts, MAX(cohort->n_splits, 1));
  gboolean ok = count(cohort, NULL, &facts->all, error);
  for (size_t s = 0; ok && s < cohort->n_splits; s++)
    ok = count(cohort, cohort->split_names[s], &facts->splits[s], error);
  return ok ? g_steal_pointer(&facts) : NULL;
}

DemurCohortFacts *
demur_task_cohort_show(DemurTask *task, const char *name, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_autoptr(DemurCohortSummary) summary =
      workspace != NULL ? demur_cohorts_summary(workspace, name, error) : NULL;
  g_autoptr(DemurCohort) cohort =
      summary != NULL ? demur_cohorts_load(workspace, name, &task->progress, error) : NULL;
  g_autoptr(GPtrArray) warnings =
      cohort != NULL ? demur_cohorts_warnings(workspace, name, error) : NULL;
  return warnings != NULL ? demur_cohort_facts_new(cohort, summary->digest, warnings, error) : NULL;
}

/* What changes. */

DemurCohortFacts *
demur_task_cohort_simulate(DemurTask *task, const char *name, const DemurSimulation *simulation,
                           GError **error) {
  g_autofree char *created = demur_task_now(task);
  g_autoptr(DemurCohort) cohort =
      demur_cohort_simulate(simulation, name, created, task->parallel, &task->progress, error);
  DemurWorkspace *workspace = cohort != NULL ? demur_task_workspace(task, error) : NULL;
  if (workspace == NULL || !demur_cohorts_save(workspace, cohort, &task->progress, error))
    return NULL;
  g_autoptr(DemurCohortSummary) summary = demur_cohorts_summary(workspace, name, error);
  return summary != NULL ? demur_cohort_facts_new(cohort, summary->digest, NULL, error) : NULL;
}

/* A cohort's file on its way out, for its event and for itself. */
typedef struct {
  DemurTask *task;
  const char *path;
  const DemurCohort *cohort;
  DemurFileOutput *output; /* whole, without its name */
} Going;

static gboolean
tell(gpointer data, GError **error) {
  const Going *going = data;
  return demur_history_add_cohort(going->task, going->path, going->cohort->name,
                                  going->cohort->n_scans, error);
}

static gboolean
give(gpointer data, GError **error) {
  return demur_file_output_commit(((Going *)data)->output, error);
}

DemurCohort *
demur_task_cohort_export(DemurTask *task, const char *name, const char *path, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_autoptr(DemurCohort) cohort =
      workspace != NULL ? demur_cohorts_load(workspace, name, &task->progress, error) : NULL;
  g_autoptr(DemurFileOutput) output =
      cohort != NULL ? demur_cohort_export_finish(cohort, path, &task->progress, error) : NULL;
  Going going = {task, path, cohort, output};
  return output != NULL && demur_history_let_out(task, path, tell, give, &going, error)
             ? g_steal_pointer(&cohort)
             : NULL;
}

DemurAttached *
demur_task_cohort_attach(DemurTask *task, const DemurCohortAttachParams *params, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_autoptr(DemurCohort) cohort =
      workspace != NULL ? demur_cohorts_load(workspace, params->name, &task->progress, error)
                        : NULL;
  if (cohort == NULL)
    return NULL;
  g_autoptr(DemurColumnMap) map = NULL;
  if (params->column_map != NULL &&
      (map = demur_column_map_read(params->column_map, error)) == NULL)
    return NULL;
  g_autoptr(DemurAttached) attached = demur_cohort_attach_table(
      cohort, params->table, params->key, params->columns, map, &task->progress, error);
  if (attached == NULL)
    return NULL;
  if (attached->n_matched == 0) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "no %s of the table is in cohort %s; check --key and how the ids are written",
                    params->key, params->name);
    return NULL;
  }
  return demur_cohorts_attach(workspace, params->name, attached->attributes, attached->n_attributes,
                              params->replace, error)
             ? g_steal_pointer(&attached)
             : NULL;
}

gboolean
demur_task_cohort_remove(DemurTask *task, const char *name, gboolean force, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  return workspace != NULL && demur_cohorts_remove(workspace, name, force, error);
}
