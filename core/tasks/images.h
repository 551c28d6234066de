/* Where a scan's images lie, and whether they are still those that were imported. */
#pragma once

#include "tasks/task.h"
#include "dicom/files.h"
#include "dicom/series.h"
#include "store/series.h"

G_BEGIN_DECLS

/* The files of a DICOM series in the order of its slices, each once (NULL-terminated, owned). */
char **demur_task_image_paths(DemurTask *task, const char *scan_id,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The series of a scan, measured anew from its files (owned). They are looked at whenever they are
 * read: the next patient's disc at the same place is not what was imported. DEMUR_ERROR_STATE where
 * the images, or the person that they are of, changed; else as demur_import_reopen. */
DemurSeries *demur_task_reopen(DemurTask *task, const char *scan_id,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What the workspace knows of files from before, so that those left alone since are not read whole. */
DemurKnownFiles demur_task_known_files(DemurWorkspace *workspace);

/* What lies at the place of each of a volume's files ([files->len], owned; files: DemurSeriesFile): its
 * slice, of the same person; something else, or nothing although others of the volume still lie in
 * the same place; or nothing can be read, as where a medium was taken out. Files are told unchanged
 * by their stamps (base/file-stamp.h), one call of the system each; only those whose stamp differs
 * are read. */
DemurPlaces *demur_task_file_places(DemurTask *task, const DemurSeriesRecord *record,
                                    const GPtrArray *files,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The worst of them, CHANGED before AWAY: a DemurPlacesLook, whose data is the DemurTask that the
 * workspace is of. */
DemurPlaces demur_task_places(DemurWorkspace *workspace, const char *scan_id, gpointer data);

/* Sets record->places; where they CHANGED it is not accepted, with that reason, whatever it was when it
 * was imported: to tell of it, never to be saved. */
void demur_task_tell_places(DemurTask *task, DemurSeriesRecord *record);
/* "as_imported", "changed", "away". */
const char *demur_task_places_name(DemurPlaces places);

G_END_DECLS
