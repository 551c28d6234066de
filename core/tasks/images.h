/* Where a scan's images lie. */
#pragma once

#include "tasks/task.h"

G_BEGIN_DECLS

/* The files of a DICOM series in the order of its slices, each once (NULL-terminated, owned). */
char **demur_task_image_paths(DemurTask *task, const char *scan_id,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
