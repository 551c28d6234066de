/* A slice of a scan at once, without the rest of its series. */
#pragma once

#include "dicom/series.h"
#include "tasks/task.h"

G_BEGIN_DECLS

/* One slice of a scan, from its own file and those of the first and the last alone: what can be shown
 * while the rest is read. */
typedef struct {
  DemurSeries *series; /* of those three; for numbers, directions and facts of the whole (owned) */
  size_t place;        /* of the slice in it */
  size_t slice, n_slices; /* in the whole */
  char *images_digest;    /* of the whole, as it was imported; NULL: not known (owned) */
} DemurSliceOpened;

void demur_slice_opened_clear(DemurSliceOpened *opened);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurSliceOpened, demur_slice_opened_clear)

#define DEMUR_MIDDLE_SLICE G_MAXSIZE

/* SAFETY: each of the three holds what was imported, of the person that it was imported of, or it is
 * refused as demur_task_reopen refuses it. DEMUR_ERROR_UNSUPPORTED where this can't be told without
 * the rest: in an archive, of a multi-frame object, or of a workspace that knows no digest of each. */
gboolean demur_task_open_slice(DemurTask *task, const char *scan_id, size_t slice,
                               DemurSliceOpened *opened, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
