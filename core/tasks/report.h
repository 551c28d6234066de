/* The report's facts about cohort, selector and thresholds, gathered from an evaluation of the
 * workspace. */
#pragma once

#include "tasks/evaluate.h"
#include "report/report.h"

G_BEGIN_DECLS

typedef struct {
  DemurReportInput input;
  GPtrArray *owned; /* what the input points to */
} DemurReportTask;

/* coverage: of the summary, 0: the usual. evaluating must outlive the report. */
DemurReportTask *demur_report_task_new(const DemurEvaluating *evaluating, double coverage,
                                       GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_report_task_free(DemurReportTask *report);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurReportTask, demur_report_task_free)

/* Mean yearly risks beside the share that had the outcome by then, of the rows [n] of which both are
 * recorded: those that were left before stand in the estimate with the time they were seen. Returns
 * how many of years [DEMUR_N_YEARS] are told, from the first; 0: none. *estimator: of that share. */
size_t demur_report_years(const DemurCohort *cohort, const guint32 *rows, size_t n,
                          DemurReportYear *years, const char **estimator);

/* What `demur validate` kept with a selector; members that are not there stay unknown. owned
 * receives the texts. */
void demur_task_read_validation(const char *document, GPtrArray *owned,
                                DemurReportValidation *validation);

G_END_DECLS
