/* Before and after assessing: what it would change, and taking it back. */
#pragma once

#include "store/verdict-undo.h"
#include "tasks/assess.h"

G_BEGIN_DECLS

/* How many scans would have which verdict instead of which. */
typedef struct {
  gsize n_scans;
  gsize n_first;       /* that have none yet */
  gsize n_again;       /* whose verdict is out of date: it becomes a current one */
  gsize n_to_flag;     /* accepted now, a red flag then */
  gsize n_to_accepted; /* a red flag now, accepted then */
  gsize n_otherwise;
  gsize n_same;
} DemurAssessChanges;

/* Assesses without keeping anything, and compares with the verdicts that stand. Costs what assessing
 * costs. */
gboolean demur_task_assess_changes(DemurTask *task, const DemurAssessParams *params,
                                   DemurAssessChanges *changes,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The assessment that would be taken back (owned). Error NOT_FOUND: there is none. */
DemurLastAssessment *demur_task_assess_last(DemurTask *task, GError **error);

/* Takes it back (store/verdict-undo.h), with why. */
gboolean demur_task_assess_undo(DemurTask *task, gint64 batch, const char *reason,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
