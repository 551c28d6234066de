/* Taking an assessment back: its verdicts stay in the history, and each scan has the verdict again
 * that it had before, with the opinions on it. What a watch has looked at stays looked at
 * (store/watches.h): forgetting it would let its alarms be chosen. */
#pragma once

#include "store/workspace.h"

G_BEGIN_DECLS

/* The newest assessment that was not taken back. */
typedef struct {
  gint64 batch;
  char *selector, *created;
  char *cohort;     /* NULL: DICOM series */
  gsize n_verdicts; /* of it */
  gsize n_earlier;  /* scans among them that have an earlier verdict */
  gsize n_reviewed; /* among all that are taken back with an opinion, a comment or a reveal */
  gsize n_all;      /* that are taken back */
  /* What was kept with it by the other horizons of its family (tasks/assess.h) goes back with it: one
   * horizon's earlier verdicts beside another's later ones could tell what these hold back. */
  GArray *with;         /* of gint64, batches; newest first */
  GPtrArray *selectors; /* their selectors' names */
} DemurLastAssessment;

void demur_last_assessment_free(DemurLastAssessment *last);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurLastAssessment, demur_last_assessment_free)

/* *last: owned; NULL: there is none. */
gboolean demur_verdicts_last(DemurWorkspace *workspace, DemurLastAssessment **last,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Takes that assessment back, which must be the newest one, with why. Who: the workspace's user.
 * Errors: STATE, where it is not the newest any more or a verdict of it has an opinion; USAGE
 * without a reason. */
gboolean demur_verdicts_undo(DemurWorkspace *workspace, gint64 batch, const char *reason,
                             const char *created, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
