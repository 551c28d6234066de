/* Who did what: the workspace's log, and what leaves the workspace put into it. */
#pragma once

#include "tasks/task.h"
#include "store/events.h"

G_BEGIN_DECLS

/* What is asked for; NULL or 0: everything. */
typedef struct {
  const char *kind, *user;
  const char *scan_id;   /* of this scan: images, scores, choices, who opened it */
  const char *patient;   /* the same of every DICOM series of this PatientID */
  const char *since;     /* ISO 8601, as events have it */
  guint last;            /* the last so many */
  const char *from_head; /* what came behind the event of this head, printed before */
} DemurHistoryFilter;

/* Array of DemurEvent in order (owned). DEMUR_ERROR_USAGE for a kind that there is not;
 * DEMUR_ERROR_NOT_FOUND where no series is of the patient;
 * DEMUR_ERROR_STATE where the log has no such head: it was cut or written anew. *head
 * (owned, may be NULL): the digest of the last event of all. */
GPtrArray *demur_history_list(DemurTask *task, const DemurHistoryFilter *filter, char **head,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Keeps that verdicts went out in a file: its name, format, how many, whether held-back risks were
 * told. A workspace that can't be written keeps nothing. */
gboolean demur_history_add_export(DemurTask *task, const char *path, const char *format, guint n,
                                  gboolean revealed, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same of a selector's file (its digest, and whether its reference scans are in it), and of a
 * cohort's, which holds its patients. */
gboolean demur_history_add_selector(DemurTask *task, const char *path, const char *selector,
                                    const char *digest, gboolean with_reference,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;
gboolean demur_history_add_cohort(DemurTask *task, const char *path, const char *cohort, guint64 n,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

typedef gboolean (*DemurHistoryStepFunc)(gpointer data, GError **error);

/* Gives a file its name once the log tells of it: tell adds the events, give writes the file, or commits
 * what is written already, both with data and in one transaction. What can't be told never stands; where
 * the transaction can't be ended the file at path is taken back (a stream's bytes can't be). A workspace
 * that can't be written: give alone. */
gboolean demur_history_let_out(DemurTask *task, const char *path, DemurHistoryStepFunc tell,
                               DemurHistoryStepFunc give, gpointer data,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* An answer of a study (evaluation/federate.h): digests of round, answer and selector, as which site, and of
 * which scans of this workspace. */
typedef struct {
  const char *round, *answer, *site, *study, *selector, *cohort, *split;
  gboolean withheld; /* it holds no sums */
} DemurHistoryAnswer;

/* Keeps that sums left as an answer. DEMUR_ERROR_STATE where the workspace can't be written. */
gboolean demur_history_add_answer(DemurTask *task, const char *path,
                                  const DemurHistoryAnswer *answer,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Called of each answer in the log, in order; FALSE ends it, with error. */
typedef gboolean (*DemurHistoryAnswerFunc)(const DemurHistoryAnswer *answer, gpointer data,
                                           GError **error);

/* Of answers that an older program kept, which scans is not known: they are passed over. */
gboolean demur_history_each_answer(DemurTask *task, DemurHistoryAnswerFunc func, gpointer data,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Keeps that held-back risks of a selector's assessment of n scans were looked at, and why. */
gboolean demur_history_add_reveal(DemurTask *task, const char *selector, const char *reason,
                                  guint n, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Keeps that something was refused (DEMUR_ERROR_STATE of what was tried, "dicom choose"): the kind
 * of attempt alone, since a message may name what nobody should read in a log. Where no workspace
 * was opened for writing, or it was refused for another reason, nothing is kept. */
gboolean demur_history_add_refusal(DemurTask *task, const char *what, const GError *refused,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether who opened which patient is kept: a setting of the workspace, off until a site wants it. The
 * last event of it says so. */
gboolean demur_history_keeps_openings(DemurTask *task, gboolean *keeps,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;
gboolean demur_history_set_openings(DemurTask *task, gboolean keeps,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Keeps that a scan was looked at, where that is kept. cohort NULL: a DICOM series. by: "window",
 * "report", "export". A workspace that can't be written keeps nothing. */
gboolean demur_history_add_opened(DemurTask *task, const char *cohort, const char *scan_id,
                                  const char *by, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Audit messages (tasks/audit-message.h) of those of the events that are of DICOM series which are there
 * (strv, owned); *n_gone: of how many the series is not. */
char **demur_history_audit_messages(DemurTask *task, const GPtrArray *events, guint *n_gone,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The scan that an event is of, within its key: a DICOM series (owned); NULL: of none. */
char *demur_history_scan_of(const DemurEvent *event);

G_END_DECLS
