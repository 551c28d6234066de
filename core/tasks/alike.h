/* A DICOM series beside the scans that its model was checked on (the selector's reference): how many
 * of them were made as it was, and what became of the three that lie nearest to it.
 *
 * The nearest, and what became of them, speak of the risk: they go where the risk goes. How many were
 * made likewise is a function of the image's own header, which the window shows beside the image. It
 * is for the window, whose reader has the workspace: nothing that leaves it holds any of this. */
#pragma once

#include "cohort/outcome.h"
#include "tasks/task.h"

G_BEGIN_DECLS

#define DEMUR_ALIKE_SCANS 3
#define DEMUR_ALIKE_SHARES 9  /* attributes of how a scan is made (features/acquisition.h) */
#define DEMUR_ALIKE_WITHIN .1 /* a number is "the same" within so much of the scan's own */

/* The reference scans of a selector: immutable, shared. */
typedef struct DemurAlikeReference DemurAlikeReference;

/* *reference NULL without error where nothing can be said: the selector looks at no embeddings or was
 * released, or the cohort that it was trained on is not in this workspace (any more). Seconds for a
 * large cohort. */
gboolean demur_task_alike_reference(DemurTask *task, const char *selector,
                                    DemurAlikeReference **reference,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_alike_reference_unref(DemurAlikeReference *reference);
DemurAlikeReference *demur_alike_reference_ref(DemurAlikeReference *reference);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurAlikeReference, demur_alike_reference_unref)

/* One of the nearest, without identity. Texts are the reference's. */
typedef struct {
  const char *site, *maker, *model; /* "": not recorded */
  double label;                     /* 1: it had the outcome, 0: it had not, NaN: not known */
} DemurAlikeScan;

/* How many of the reference scans have an attribute as this one does. */
typedef struct {
  const char *attribute; /* the cohort's column; static */
  const char *unit;      /* " mm"; static, "" for a text */
  double number;         /* NaN: it is a text */
  char *text;            /* owned; NULL: it is a number */
  double share;          /* of all reference scans, 0 to 1 */
} DemurAlikeShare;

typedef struct {
  guint n_scans;
  DemurAlikeScan scans[DEMUR_ALIKE_SCANS]; /* the nearest first, each of another patient */
  guint n_shares;
  DemurAlikeShare shares[DEMUR_ALIKE_SHARES]; /* what the scan records, the rarest first */
} DemurAlike;

/* Of a series of the workspace, by the reference of the selector that assesses it; empty where the
 * series has no score that the selector takes. Errors: as demur_dicom_scores_load. */
DemurAlike *demur_task_alike(DemurTask *task, const DemurAlikeReference *reference,
                             const char *scan_id, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_alike_free(DemurAlike *alike);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurAlike, demur_alike_free)

/* What the scans are of, and how many there are. */
const DemurOutcome *demur_alike_outcome(const DemurAlikeReference *reference);
size_t demur_alike_n(const DemurAlikeReference *reference);

G_END_DECLS
