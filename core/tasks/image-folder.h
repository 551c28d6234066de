/* A scan's images as a folder of their own, for other programs: links to the files, so that a viewer
 * that is given the folder finds this series and nobody else's. */
#pragma once

#include "tasks/task.h"

G_BEGIN_DECLS

/* Makes `slice-00001.dcm` .. in folder, which is there and empty, in the order of the slices. Nothing is
 * copied. Errors: as demur_task_image_paths; STATE, where the files are away or no longer those that
 * were imported, or lie within an archive; OUTPUT, where folder can't be written. */
gboolean demur_task_image_folder(DemurTask *task, const char *scan_id, const char *folder,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
