/* Process-wide state of the libraries below this room: DCMTK's decoders, dictionary and logging. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Registers the decoders and silences DCMTK's log, which can hold patients' names. Call before any
 * pixel is decoded; repeated and concurrent calls do no harm. FALSE with DEMUR_ERROR_STATE where
 * DCMTK's data dictionary is not found, with what to do. */
gboolean demur_dicom_init(GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Takes the decoders out again, at the end of the program; demur_dicom_init may be called anew. */
void demur_dicom_cleanup(void);

G_END_DECLS
