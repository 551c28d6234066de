/* Answers of a DICOMweb server in the DICOM JSON model (PS3.18 annex F). They come from outside: at
 * most so deep and so long, and what is no such document is refused. */
#pragma once

#include "dicom/network.h"

G_BEGIN_DECLS

#define DEMUR_WEB_MAX_FOUND 100000 /* elements of one answer */

/* What a search found: array of DemurFound (owned), of series or of studies. DEMUR_ERROR_INPUT. */
GPtrArray *demur_web_json_found(const char *text, size_t length, gboolean series,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What became of objects that were stored (PS3.18 table 10.5.3-1): how many are there, and a
 * sentence (char *) for each that is not. DEMUR_ERROR_INPUT. */
gboolean demur_web_json_stored(const char *text, size_t length, size_t *n_stored,
                               GPtrArray *problems, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
