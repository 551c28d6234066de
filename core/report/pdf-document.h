/* From a layout to the bytes of a finished PDF. */
#pragma once

#include "report/layout.h"
#include "report/pdf-finish.h"

G_BEGIN_DECLS

/* facts->alternatives is taken from the layout. The same layout and facts give the same bytes.
 * Owned; NULL with DEMUR_ERROR_STATE where Cairo or libqpdf refuses. */
guchar *demur_pdf_document(DemurLayout *layout, double width, double height,
                           const DemurPdfFacts *facts, size_t *n,
                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
