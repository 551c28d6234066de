/* The coverage that a report or a chart is about, as a person writes it. */
#pragma once

#include "tasks/evaluate.h"

G_BEGIN_DECLS

/* The coverage of the summary as it is written, 0 (the usual) where text is NULL: one of those that
 * every method is measured at. DEMUR_ERROR_USAGE for another. */
gboolean demur_task_summary_coverage(const char *text, double *coverage,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same of one chart: any that the first selector was measured at, so also one it was tuned to.
 * DEMUR_ERROR_USAGE for another, with those that there are. */
gboolean demur_task_chart_coverage(const char *text, const DemurEvaluating *evaluating,
                                   double *coverage, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
