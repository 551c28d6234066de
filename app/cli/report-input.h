/* The report's facts about cohort, selector and thresholds, gathered from an evaluation of the
 * workspace. */
#pragma once

#include "app/cli/evaluating.h"
#include "report/report.h"

G_BEGIN_DECLS

typedef struct {
  DemurReportInput input;
  GPtrArray *owned; /* what the input points to */
} DemurCliReport;

/* coverage: of the summary, 0: the usual. evaluating must outlive the report. */
DemurCliReport *demur_cli_report_new(const DemurCliEvaluation *evaluating, double coverage,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_cli_report_free(DemurCliReport *report);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurCliReport, demur_cli_report_free)

/* What `demur validate` kept with a selector; members that are not there stay unknown. owned
 * receives the texts. */
void demur_cli_read_validation(const char *document, GPtrArray *owned,
                               DemurReportValidation *validation);

G_END_DECLS
