/* Who did what: the workspace's log, and what leaves the workspace put into it. */
#pragma once

#include "tasks/task.h"
#include "store/events.h"

G_BEGIN_DECLS

/* What is asked for; NULL or 0: everything. */
typedef struct {
  const char *kind, *user;
  const char *scan_id;   /* of this scan: images, scores, choices */
  const char *since;     /* ISO 8601, as events have it */
  guint last;            /* the last so many */
  const char *from_head; /* what came behind the event of this head, printed before */
} DemurHistoryFilter;

/* Array of DemurEvent in order (owned). DEMUR_ERROR_USAGE for a kind that there is not;
 * DEMUR_ERROR_STATE where the log has no such head: it was cut or written anew. *head
 * (owned, may be NULL): the digest of the last event of all. */
GPtrArray *demur_history_list(DemurTask *task, const DemurHistoryFilter *filter, char **head,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Keeps that verdicts went out in a file: its name, format, how many, whether held-back risks were
 * told. A workspace that can't be written keeps nothing. */
gboolean demur_history_add_export(DemurTask *task, const char *path, const char *format, guint n,
                                  gboolean revealed, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Keeps that held-back risks of a selector's assessment of n scans were looked at, and why. */
gboolean demur_history_add_reveal(DemurTask *task, const char *selector, const char *reason,
                                  guint n, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Keeps that something was refused (DEMUR_ERROR_STATE of what was tried, "dicom choose"): the kind
 * of attempt alone, since a message may name what nobody should read in a log. Where no workspace
 * was opened for writing, or it was refused for another reason, nothing is kept. */
gboolean demur_history_add_refusal(DemurTask *task, const char *what, const GError *refused,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
