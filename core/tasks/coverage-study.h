/* A selector evaluated on a split, and all that is needed to look at it again at any coverage
 * without the workspace: what a slider moves over. */
#pragma once

#include "cohort/cohort.h"
#include "evaluation/evaluation.h"
#include "evaluation/point-releases.h"
#include "evaluation/sample.h"
#include "report/report.h"
#include "tasks/horizons.h"
#include "tasks/report.h"
#include "tasks/task.h"

G_BEGIN_DECLS

/* What splits the evaluated scans: their site, or an attribute, in this order. */
typedef enum {
  DEMUR_COVERAGE_GROUP_SITE,
  DEMUR_COVERAGE_GROUP_MANUFACTURER,
  DEMUR_COVERAGE_GROUP_SEX,
  DEMUR_COVERAGE_GROUP_AGE,
  DEMUR_COVERAGE_GROUP_KERNEL,
  DEMUR_N_COVERAGE_GROUPS,
} DemurCoverageGroupKind;

typedef struct {
  DemurCoverageGroupKind kind;
  size_t n_values;
  char **values;      /* [n_values] as recorded, "" for not recorded; of the age: marked words */
  guint32 *codes;     /* [n] of the sample's entries */
  gboolean *withheld; /* [n_values] beside all that is told of other groups */
} DemurCoverageGroup;

/* Immutable once made. */
typedef struct {
  char *selector, *digest, *cohort, *split;
  DemurSelector *judge;   /* the selector itself */
  char *family;           /* that the selector is a horizon of (tasks/horizons.h); NULL: none */
  DemurHorizons horizons; /* of that family */
  DemurEvaluation *evaluation;
  const DemurMethodResult *method, *confidence, *full; /* of the same kind of risk; may be NULL */
  DemurToldCoverages told, confidence_told;            /* of method and confidence */
  DemurCohort *view;                                   /* with the risks that are shown */
  DemurSample *sample;
  double *scores; /* [n] g~ of network 0, in the sample's order */
  guint32 *ranks; /* [n] dense ranks of the scores, 0 the highest */
  size_t n_ranks;
  guint32 *confidence_ranks; /* [n] */
  size_t n_confidence_ranks;
  size_t n_groups;
  DemurCoverageGroup *groups;
  double tuned_coverage, tuned_threshold; /* the current threshold; NaN: not tuned */
  size_t n_tune_patients;                 /* of the cohort's split "tune"; 0: there is none */
  char *validation;                       /* JSON of `demur validate`; NULL: not run */
  const DemurReportInput *report;
  gpointer owner; /* what the report input points to */
  GDestroyNotify free_owner;
  gint ref_count;
} DemurCoverageStudy;

typedef struct {
  const char *selector, *cohort;
  const char *split;    /* NULL: test */
  const char *group_by; /* of the report's subgroups, as `evaluate --group-by`; NULL: the usual */
} DemurCoverageStudyParams;

/* Errors as demur_task_evaluate. */
DemurCoverageStudy *demur_task_coverage_study(DemurTask *task,
                                              const DemurCoverageStudyParams *params,
                                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The coverage at which what counts outcomes may leave the house in a file, in place of one that a
 * slider shows: the nearest canonical set of the study's method (evaluation/point-releases.h). FALSE
 * with DEMUR_ERROR_STATE, and the nearest one that there is, where none is near. */
gboolean demur_coverage_study_told(const DemurCoverageStudy *study, double coverage, double *told,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* *event: the last one of the workspace's log that changed what studies are made of (cohorts,
 * selectors, thresholds, site audits): as long as it stays, so does a study. What else stands in the
 * log changes none. */
gboolean demur_task_coverage_study_event(DemurTask *task, gint64 *event,
                                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether the study's report would still have the same bytes: it also tells of verdicts and reviews.
 * TRUE where the workspace can't be read: nothing newer could be told. */
gboolean demur_coverage_study_report_is_current(DemurTask *task, const DemurCoverageStudy *study);

/* Its report for another coverage (one of study->method->at) than study->report: as `report
 * --coverage`. study must outlive it. */
DemurReportTask *demur_coverage_study_report(const DemurCoverageStudy *study, double coverage,
                                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Empty, for whoever fills it. */
DemurCoverageStudy *demur_coverage_study_new(void);
DemurCoverageStudy *demur_coverage_study_ref(DemurCoverageStudy *study);
void demur_coverage_study_unref(DemurCoverageStudy *study);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurCoverageStudy, demur_coverage_study_unref)

G_END_DECLS
