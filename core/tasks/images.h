/* Where a scan's images lie, and whether they are still those that were imported. */
#pragma once

#include "tasks/task.h"
#include "dicom/series.h"

G_BEGIN_DECLS

/* The files of a DICOM series in the order of its slices, each once (NULL-terminated, owned). */
char **demur_task_image_paths(DemurTask *task, const char *scan_id,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The series of a scan, measured anew from its files (owned). They are looked at whenever they are
 * read: the next patient's disc at the same place is not what was imported. DEMUR_ERROR_STATE where
 * the images, or the person that they are of, changed; else as demur_import_reopen. */
DemurSeries *demur_task_reopen(DemurTask *task, const char *scan_id,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
