/* The pictures of a patient's page: the middle slice, the key images, and what was drawn on them. */
#pragma once

#include "tasks/patient-sheet.h"

G_BEGIN_DECLS

/* Fills image, keys and drawn of sheet->input (what they point to is the sheet's) from the scan's
 * files. until: what the log knew with that event; 0: all. A build without DICOM fills nothing. */
gboolean demur_sheet_images(DemurTask *task, DemurPatientSheet *sheet, gint64 until,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
