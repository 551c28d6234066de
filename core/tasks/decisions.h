/* What only a person decides about DICOM series, each with a reason that is kept in the log with
 * who and when: which of two conflicting volumes is right, that one is the archive's correction of
 * the other, and that something leaves the workspace.
 *
 * Two volumes contradict each other where both hold an image of one SOPInstanceUID, or where they
 * have one SeriesInstanceUID and are not of the same person. What nothing contradicts any more waits
 * no longer: it is measured anew from its own files, if what lies there is what was imported. Images
 * are read before the workspace is locked, and again where somebody wrote meanwhile. */
#pragma once

#include "tasks/task.h"

G_BEGIN_DECLS

typedef enum {
  DEMUR_RESOLVE_KEEP, /* this volume is right: those that conflict with it are taken out */
  DEMUR_RESOLVE_BOTH, /* all that wait together are what they say, of different persons or contents
                       */
} DemurResolution;

/* Ends the conflict of a volume (DemurSeriesRecord.conflict) and of those it conflicts with.
 * DEMUR_ERROR_STATE where it has none. */
gboolean demur_decide_resolve(DemurTask *task, const char *scan_id, DemurResolution resolution,
                              const char *reason, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* scan_id came as a correction of a volume with the same images: that one takes over the person,
 * and keeps its id and its score; its verdicts say that the person was corrected. *corrected
 * (owned, may be NULL): its scan_id. DEMUR_ERROR_STATE where no volume that conflicts has the same
 * images. */
gboolean demur_decide_correct(DemurTask *task, const char *scan_id, const char *reason,
                              char **corrected, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What leaves: exactly one of the first three is set. */
typedef struct {
  const char *scan_id, *study_uid, *patient_id;
  /* scan_ids of the series that a person was shown and agreed to, in any order; NULL: whatever is
   * meant when it is done. */
  const char *const *agreed;
} DemurRemoval;

/* What a removal would take out, and what stays of it in the history. */
typedef struct {
  char **scan_ids; /* of the series that leave; owned */
  guint n_studies;
  gint64 n_images, n_scores;             /* these leave; files lie where they lie */
  gint64 n_verdicts, n_reviews, n_drawn; /* these stay, and are of nothing that is there any more */
} DemurRemovalExtent;

void demur_removal_extent_clear(DemurRemovalExtent *extent);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurRemovalExtent, demur_removal_extent_clear)

/* Looks at what a removal would do, and does nothing; errors as of demur_decide_remove. */
gboolean demur_decide_extent(DemurTask *task, const DemurRemoval *removal,
                             DemurRemovalExtent *extent, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Takes volumes out with their scores; verdicts and reviews stay in the history and hold no longer.
 * *n: how many. DEMUR_ERROR_NOT_FOUND where there is none; DEMUR_ERROR_STATE where a PatientID names
 * more than one person here, or whether it does can't be told, and where other series are meant by
 * now than were agreed to. */
gboolean demur_decide_remove(DemurTask *task, const DemurRemoval *removal, const char *reason,
                             guint *n, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
