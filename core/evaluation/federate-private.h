/* What documents of a study have in common: for core/evaluation/federate*.c only. */
#pragma once

#include <json-glib/json-glib.h>

#include "base/json-writer.h"
#include "base/sha256.h"

G_BEGIN_DECLS

#define DEMUR_FEDERATE_MOST_SCANS G_GINT64_CONSTANT(1000000000000)

/* A document whose object is open, with its digest (NULL: without), format and version. */
DemurJson *demur_federate_begin(const char *digest, const char *format);

/* The document's object, of the format and version; borrowed from the parser. DEMUR_ERROR_INPUT where it
 * is another. */
JsonObject *demur_federate_load(JsonParser *parser, const char *text, gssize length,
                                const char *format, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Its member "sites": 2 to DEMUR_FEDERATE_MOST_SITES names, each once (strv, owned). DEMUR_ERROR_INPUT where it
 * is not. */
char **demur_federate_read_sites(JsonObject *root, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether content, which was read from text, is all that text holds, but for blanks, and what its digest
 * seals. DEMUR_ERROR_INPUT where not. */
gboolean demur_federate_check_unedited(const char *text, const char *digest, DemurSha256Write write,
                                       gconstpointer content,
                                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
