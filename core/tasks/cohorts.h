/* The cohorts of the workspace: listed, shown, drawn, taken out into a table, given more columns,
 * removed. (From outside: tasks/cohort-import.h.) */
#pragma once

#include "cohort/import.h"
#include "cohort/simulate.h"
#include "store/cohorts.h"
#include "tasks/task.h"

G_BEGIN_DECLS

/* Array of DemurCohortSummary by name (owned, frees its elements). */
GPtrArray *demur_task_cohorts(DemurTask *task, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What is said of a split, or of all scans. */
typedef struct {
  size_t n_scans, n_patients, n_sites, n_unlabelled;
  /* The prevalence (tasks/prevalence.h) and the mean risk; of more than two classes: the means of
   * "the top class is right" and of its probability. NaN where no scan has a label, or there is
   * none. */
  double prevalence, mean_risk;
} DemurCohortCounts;

typedef struct {
  DemurCohort *cohort;
  char *digest;
  GPtrArray *warnings; /* of DemurTableWarning; NULL: it came from no table */
  DemurCohortCounts all;
  DemurCohortCounts *splits; /* [cohort->n_splits] */
} DemurCohortFacts;

void demur_cohort_facts_free(DemurCohortFacts *facts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurCohortFacts, demur_cohort_facts_free)

/* The facts of a cohort that is in memory. cohort and warnings are referenced, digest is copied. */
DemurCohortFacts *demur_cohort_facts_new(DemurCohort *cohort, const char *digest,
                                         GPtrArray *warnings,
                                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* One of the workspace, with what was noticed while its table was read. */
DemurCohortFacts *demur_task_cohort_show(DemurTask *task, const char *name,
                                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Draws one and keeps it under the name. */
DemurCohortFacts *demur_task_cohort_simulate(DemurTask *task, const char *name,
                                             const DemurSimulation *simulation,
                                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* As a table that imports back to the same digest. Returns what was written. */
DemurCohort *demur_task_cohort_export(DemurTask *task, const char *name, const char *path,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

typedef struct {
  const char *name, *table; /* of the cohort; a file */
  const char *key;          /* joined by "patient_id", "scan_id" or "site" */
  char **columns;           /* NULL-terminated; NULL: all */
  const char *column_map;   /* a table that says which column is which; or NULL */
  gboolean replace;         /* columns of the same name */
} DemurCohortAttachParams;

/* Attribute columns from a table. DEMUR_ERROR_INPUT where no row fits, DEMUR_ERROR_EXISTS where a
 * column is there, unless replace. */
DemurAttached *demur_task_cohort_attach(DemurTask *task, const DemurCohortAttachParams *params,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* DEMUR_ERROR_STATE while selectors or verdicts were made from it, unless forced. */
gboolean demur_task_cohort_remove(DemurTask *task, const char *name, gboolean force,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
