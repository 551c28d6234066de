/* Opinions on verdicts, and looks at held-back risks: kept with who, when and what was shown. */
#pragma once

#include "store/reviews.h"
#include "tasks/scan.h"
#include "tasks/task.h"

G_BEGIN_DECLS

/* The newest opinion as tables and JSON name it: "agree", "disagree", "comment"; "" where there is
 * none. */
const char *demur_task_opinion_name(const DemurScanReview *review);

/* Why something can't be said of a scan. */
typedef enum {
  DEMUR_REVIEW_POSSIBLE,
  DEMUR_REVIEW_NO_VERDICT,  /* the scan was never assessed */
  DEMUR_REVIEW_OUT_OF_DATE, /* its verdict no longer holds; a comment is possible */
  DEMUR_REVIEW_NO_DECISION, /* its verdict decides nothing: not tuned, no score, failed; a comment is
                             * possible */
} DemurReviewBar;

DemurReviewBar demur_task_review_bar(const DemurScan *scan, DemurReviewKind kind);

/* Keeps it for the scan's verdict, as the task's user: DEMUR_ERROR_STATE where demur_task_review_bar
 * says why not. revealed: the held-back risk stands on the screen. comment
 * may be NULL. */
gboolean demur_task_review(DemurTask *task, const DemurScan *scan, DemurReviewKind kind,
                           const char *comment, gboolean revealed,
                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What was said of the scan, newest first: array of DemurReviewRecord (owned, frees its elements).
 */
GPtrArray *demur_task_reviews(DemurTask *task, const char *cohort, const char *scan_id,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
