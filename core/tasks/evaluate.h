/* Evaluating selectors of the workspace: what `evaluate` and `report` share. */
#pragma once

#include "tasks/report-pin.h"
#include "tasks/report-use.h"
#include "tasks/selection.h"
#include "store/audits.h"
#include "store/cohorts.h"
#include "evaluation/shard-plan.h"

G_BEGIN_DECLS

typedef struct {
  char *cohort, *split, *resample_unit;
  char *n_resamples, *n_bootstrap, *bin_size; /* as written; NULL: the usual */
  char **group_by; /* NULL-terminated, each one name or several with commas; may be NULL */
  char *net_benefit_threshold;
  gboolean usual_groups; /* where group_by is NULL: by site, and by scanner where it is recorded */
  gboolean in_sample;
  gboolean audited; /* with the selector's site audits, on the scans that they did not label; of one
                     * selector. DEMUR_ERROR_STATE where no site of the split was audited */
  gboolean use;     /* what became of the first selector in use is gathered too */
  char *const *parts;        /* files of all parts (tasks/shards.h), to NULL; NULL: computed here */
  const DemurReportPin *pin; /* as the report had it; NULL: as the workspace is now */
} DemurEvaluateParams;

/* Frees the texts, and leaves none. */
void demur_evaluate_params_clear(DemurEvaluateParams *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurEvaluateParams, demur_evaluate_params_clear)

/* Everything that was loaded, and the result. */
typedef struct {
  size_t n_selectors;
  DemurSelector **selectors;
  DemurSelectorRecord **records;
  char **names;           /* borrowed */
  GPtrArray **thresholds; /* [n_selectors] of DemurThresholdRecord, by growing sequence */
  GPtrArray *audits;      /* of DemurAuditRecord: those of the first selector, by name of site */
  DemurCohort *cohort;
  char *log_head; /* of the workspace's log, when it was read */
  gboolean exclusions_recorded;
  GPtrArray *exclusions; /* of DemurExclusion: what was left out before the cohort was made */
  GPtrArray *noticed;    /* of DemurTableWarning: while its table was read */
  DemurUsed *used;       /* NULL: not asked for */
  DemurEvaluation *evaluation;
  size_t n_bootstrap;          /* replicates that were asked for */
  char *group_by;              /* names with commas between; NULL: none */
  char *net_benefit_threshold; /* as asked; NULL: the usual */
  gboolean allow_in_sample;    /* as asked; whether it was needed: evaluation->in_sample */
} DemurEvaluating;

/* Before anything is asked of the workspace: DEMUR_ERROR_USAGE for options that can't be. names may be
 * NULL. */
gboolean demur_task_evaluate_check(char *const *names, const DemurEvaluateParams *options,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* names: NULL-terminated, at least one. options' texts are freed. */
gboolean demur_task_evaluate(DemurTask *task, char **names, DemurEvaluateParams *options,
                             DemurEvaluating *evaluation, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The shard's part of what demur_task_evaluate would compute, written to path (replaced, readable by its
 * owner only). options' texts are freed. */
gboolean demur_task_evaluate_part(DemurTask *task, char **names, DemurEvaluateParams *options,
                                  const DemurShard *shard, const char *path,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_evaluating_clear(DemurEvaluating *evaluation);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurEvaluating, demur_evaluating_clear)

G_END_DECLS
