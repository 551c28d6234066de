#include "tasks/review.h"

#include "base/error.h"
#include "base/json-writer.h"
#include "words/words.h"

/* What the reader has before them, so that a review can be understood years later. */
static char *
shown_document(const DemurScan *scan, gboolean revealed) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(
      json, "verdict",
      scan->shown < DEMUR_SHOWN_OUT_OF_DATE ? demur_verdict_name((DemurVerdict)scan->shown) : NULL);
  demur_json_string(json, "state", demur_verdict_state_name(demur_verdict_state(scan->outdated)));
  demur_json_double(json, "risk", revealed ? demur_scan_revealed_risk(scan) : scan->risk);
  demur_json_bool(json, "held_back", scan->shown == DEMUR_SHOWN_RED_FLAG && !revealed);
  demur_json_double(json, "score", scan->score);
  demur_json_double(json, "threshold", scan->threshold);
  demur_json_double(json, "coverage", scan->coverage);
  demur_json_string(json, "selector", scan->selector);
  demur_json_string(json, "selector_digest", scan->selector_digest);
  demur_json_string(json, "model", scan->model);
  demur_json_string(json, "program", DEMUR_VERSION);
  demur_json_begin_array(json, "reasons");
  g_autoptr(GPtrArray) told = demur_scan_told_reasons(scan, revealed);
  g_auto(GStrv) reasons = demur_words_reasons(told, NULL, NULL);
  for (char **reason = reasons; *reason != NULL; reason++)
    demur_json_string(json, NULL, *reason);
  demur_json_end_array(json);
  demur_json_end_object(json);
  return g_strchomp(demur_json_finish(json));
}

const char *
demur_task_opinion_name(const DemurScanReview *review) {
  return review->n_reviews > 0 ? demur_review_kind_name(review->opinion) : "";
}

DemurReviewBar
demur_task_review_bar(const DemurScan *scan, DemurReviewKind kind) {
  if (scan->verdict_id == 0)
    return DEMUR_REVIEW_NO_VERDICT;
  if (kind == DEMUR_REVIEW_COMMENT)
    return DEMUR_REVIEW_POSSIBLE;
  if (scan->outdated != DEMUR_CURRENT)
    return DEMUR_REVIEW_OUT_OF_DATE;
  return demur_verdict_is_decision((DemurVerdict)scan->shown) ? DEMUR_REVIEW_POSSIBLE
                                                              : DEMUR_REVIEW_NO_DECISION;
}

gboolean
demur_task_review(DemurTask *task, const DemurScan *scan, DemurReviewKind kind, const char *comment,
                  gboolean revealed, GError **error) {
  /* Before anything is refused: a refusal is kept there. */
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  if (workspace == NULL)
    return FALSE;
  const DemurReviewBar bar = demur_task_review_bar(scan, kind);
  if (bar == DEMUR_REVIEW_NO_DECISION)
    demur_error_set(
        error, DEMUR_ERROR_STATE,
        "Nothing was decided about this scan yet that you could agree or disagree with. "
        "A comment can be kept.");
  else if (bar != DEMUR_REVIEW_POSSIBLE)
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "There is no verdict that holds: assess the scan first.");
  if (bar != DEMUR_REVIEW_POSSIBLE)
    return FALSE;
  g_autofree char *now = demur_task_now(task);
  g_autofree char *shown = shown_document(scan, revealed);
  DemurReviewRecord record = {.scan_id = (char *)scan->scan_id,
                              .cohort = (char *)scan->source,
                              .verdict_id = scan->verdict_id,
                              .kind = kind,
                              .comment = (char *)comment,
                              .revealed = revealed,
                              .shown = shown,
                              .user = task->user,
                              .created = now};
  return demur_reviews_save(workspace, &record, error);
}

GPtrArray *
demur_task_reviews(DemurTask *task, const char *cohort, const char *scan_id, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  return workspace != NULL ? demur_reviews_of_scan(workspace, cohort, scan_id, error) : NULL;
}
