/* Verdicts for the scans of a cohort or for DICOM series: what `demur assess` and the workstation
 * share. */
#pragma once

#include "tasks/task.h"
#include "selector/selector.h"
#include "store/bindings.h"
#include "store/selectors.h"
#include "store/verdicts.h"

G_BEGIN_DECLS

typedef struct {
  const char *selector; /* its name */
  const char *cohort;   /* NULL: DICOM series */
  const char *split;    /* of the cohort; NULL: test */
  const char *scan_id;  /* one DICOM series; NULL: every one */
  const char *coverage; /* as written; NULL: the current threshold */
  gboolean unwatched;   /* as if no watch had stopped it: to measure, never to tell of a patient */
  gboolean unscored;    /* one series whose score is of another horizon or width gets the verdict
                         * that says so; FALSE: DEMUR_ERROR_STATE */
} DemurAssessParams;

/* What is known of a verdict's scan beside the record. */
typedef struct {
  char *site;       /* the verdict's; NULL: not known */
  gboolean audited; /* its risk has the intercept of a site audit */
} DemurVerdictSite;

/* What was found: verdicts in the making. */
typedef struct {
  DemurSelector *selector;
  const char *selector_name,
      *cohort;                     /* borrowed from the options; of others: the name is its own */
  DemurThresholdRecord *threshold; /* NULL: not tuned */
  DemurBindings *bindings;         /* what the verdicts rest on, as it was read */
  GArray *verdicts;                /* of DemurVerdictRecord; their texts are in texts */
  GArray *sites;                   /* of DemurVerdictSite, one a verdict */
  GHashTable *audits;              /* site -> DemurAuditRecord of the selector (store/audits.h) */
  GHashTable *overrules; /* scan_id -> DemurOverruleRecord: series that a person chose against the
                          * rules; NULL for a cohort */
  GPtrArray *stops;      /* of DemurWatchStop; NULL: none asked for */
  GStringChunk *texts;
  gboolean simulated;
  size_t n_seen;     /* scans whose patients made the selector */
  GPtrArray *others; /* of DemurAssessment (owned): by the tuned selectors of its family that nobody
                      * asked for, kept with it; of the first of several alone; NULL: none */
} DemurAssessment;

/* Gives each scan its verdict; nothing is kept yet. assessment: all zero. By a selector of a family
 * a risk is shown only where each of them that is tuned would show its own
 * (tasks/horizon-family.h), all of them at the coverage that is asked for: DEMUR_ERROR_STATE where
 * one is tuned, but not for that. */
gboolean demur_task_assess(DemurTask *task, const DemurAssessParams *options,
                           DemurAssessment *assessment, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same of several selectors at once: names [n], assessments [n] all zero; the name in options is
 * not read. All of them are as they were at one moment. */
gboolean demur_task_assess_horizons(DemurTask *task, const DemurAssessParams *options,
                                    const char *const *names, size_t n,
                                    DemurAssessment *assessments,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The cohort, a selector's view, with the intercepts of audited sites in its risks; or itself (a
 * new reference) where no site of it is audited. audits: site -> DemurAuditRecord. */
DemurCohort *demur_task_audited_view(GHashTable *audits, DemurCohort *view);

/* Adds the verdicts to the workspace's history, each bound to what it rests on (in place), and lets the
 * watches over the selectors look at them (tasks/watch.h). assessments [n]: of one call above. A scan's
 * verdicts by all of a family are kept in one transaction, so that none of them stands beside an
 * earlier one of another horizon, which may tell what it holds back. */
gboolean demur_assessments_save(DemurTask *task, DemurAssessment *assessments, size_t n,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same of one. */
gboolean demur_assessment_save(DemurTask *task, DemurAssessment *assessment,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

void demur_assessment_clear(DemurAssessment *assessment);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurAssessment, demur_assessment_clear)

G_END_DECLS
