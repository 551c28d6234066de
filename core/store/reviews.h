/* What people said of verdicts, and why a coverage was chosen. Nothing is ever overwritten or
 * removed: another opinion is another record. */
#pragma once

#include "store/workspace.h"

G_BEGIN_DECLS

typedef enum {
  DEMUR_REVIEW_AGREE,
  DEMUR_REVIEW_DISAGREE,
  DEMUR_REVIEW_COMMENT, /* words without an opinion */
  DEMUR_REVIEW_REVEAL,  /* a risk that was held back was looked at */
} DemurReviewKind;

/* "agree", "disagree", "comment", "reveal". */
const char *demur_review_kind_name(DemurReviewKind kind);

typedef struct {
  gint64 id; /* set when loaded; grows with time */
  char *scan_id;
  char *cohort;      /* NULL: scan_id is a DICOM series */
  gint64 verdict_id; /* DemurVerdictRecord.id of what was on the screen; 0: there was none */
  DemurReviewKind kind;
  char *comment;     /* NULL: none */
  gboolean revealed; /* a held-back risk had been revealed when this was said */
  char *shown;       /* what the reader saw: a JSON object of verdict, risk, threshold, reasons */
  char *user;        /* who, as the caller knows it */
  char *created;     /* ISO 8601, UTC */
  char *verdict_digest; /* of that verdict; set when saved */
  char *digest;         /* of all of this; NULL: of an older program; set when loaded */
} DemurReviewRecord;

void demur_review_record_free(DemurReviewRecord *record);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurReviewRecord, demur_review_record_free)

/* Its key in the log (owned), and what its digest must be (owned). */
char *demur_review_key(gint64 id);
char *demur_review_digest(const DemurReviewRecord *record);

/* Adds a record and sets its id. DEMUR_ERROR_STATE where its verdict is of another scan.
 * DEMUR_ERROR_USAGE without scan, user, time or what was shown. */
gboolean demur_reviews_save(DemurWorkspace *workspace, DemurReviewRecord *record,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Array of DemurReviewRecord, newest first (owned, frees its elements). */
GPtrArray *demur_reviews_of_scan(DemurWorkspace *workspace, const char *cohort, const char *scan_id,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Every review of the workspace, newest first: the worklist's column. */
GPtrArray *demur_reviews_list(DemurWorkspace *workspace, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Why a selector was tuned to a coverage: outlives the threshold. */
typedef struct {
  gint64 id; /* set when loaded */
  char *selector, *selector_digest;
  char *cohort, *split; /* of the scans that tuned it */
  double coverage, threshold;
  char *reason; /* in the words of the one who decided */
  char *user, *created;
} DemurDecisionRecord;

void demur_decision_record_free(DemurDecisionRecord *record);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurDecisionRecord, demur_decision_record_free)

/* Its key in the log (owned), and what its digest must be (owned). */
char *demur_decision_key(gint64 id);
char *demur_decision_digest(const DemurDecisionRecord *record);

/* Adds a record and sets its id. DEMUR_ERROR_USAGE without a reason. */
gboolean demur_decisions_save(DemurWorkspace *workspace, DemurDecisionRecord *record,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Array of DemurDecisionRecord of the selector (NULL: of all), newest first. */
GPtrArray *demur_decisions_list(DemurWorkspace *workspace, const char *selector,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
