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

/* What `demur validate` kept with a selector; members that are not there stay unknown. owned
 * receives the texts. */
void demur_task_read_validation(const char *document, GPtrArray *owned,
                                DemurReportValidation *validation);

G_END_DECLS
