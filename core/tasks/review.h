/* Opinions on verdicts, and looks at held-back risks: kept with who, when and what was shown. */
#pragma once

#include "store/reviews.h"
#include "tasks/scan.h"
#include "tasks/task.h"

G_BEGIN_DECLS

/* The newest opinion as tables and JSON name it: "agree", "disagree", "comment"; "" where there is
 * none. */
const char *demur_task_opinion_name(const DemurScanReview *review);

/* Keeps it for the scan's verdict, as the task's user. An opinion or a reveal needs a verdict that
 * holds: DEMUR_ERROR_STATE otherwise. revealed: the held-back risk stands on the screen. comment
 * may be NULL. */
gboolean demur_task_review(DemurTask *task, const DemurScan *scan, DemurReviewKind kind,
                           const char *comment, gboolean revealed,
                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What was said of the scan, newest first: array of DemurReviewRecord (owned, frees its elements).
 */
GPtrArray *demur_task_reviews(DemurTask *task, const char *cohort, const char *scan_id,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
