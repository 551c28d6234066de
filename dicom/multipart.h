/* A multipart body (RFC 2046 5.1) that comes in pieces of any size: what DICOMweb's RetrieveStudy
 * answers, and what its StoreInstances sends. Each part is given out whole. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define DEMUR_MULTIPART_MAX_HEAD                                                                   \
  16384 /* bytes of a part's headers, and of what stands before the
                                        * first part */

typedef struct DemurMultipart DemurMultipart;

/* A part's body, whole; FALSE with error ends the reading. */
typedef gboolean (*DemurMultipartFunc)(const guint8 *bytes, size_t n, gpointer data,
                                       GError **error);

/* The boundary in a Content-Type of a multipart body (owned); NULL: it is none, or has none of 1 to
 * 70 characters. */
char *demur_multipart_boundary(const char *content_type);

/* A parameter of a Content-Type of a multipart body (owned); NULL: it is none, or has no such. */
char *demur_multipart_parameter(const char *content_type, const char *name);

/* max_part: bytes of one part. */
DemurMultipart *demur_multipart_new(const char *boundary, size_t max_part, DemurMultipartFunc func,
                                    gpointer data);
void demur_multipart_free(DemurMultipart *multipart);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurMultipart, demur_multipart_free)

/* The next piece. DEMUR_ERROR_INPUT for what is no multipart body or too large, with the byte;
 * behind a failure nothing further may be given. */
gboolean demur_multipart_feed(DemurMultipart *multipart, const guint8 *bytes, size_t n,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Behind the last piece: DEMUR_ERROR_INPUT where the body ended before its closing boundary. */
gboolean demur_multipart_end(const DemurMultipart *multipart,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether the reading failed for a part that is too large. */
gboolean demur_multipart_is_too_large(const DemurMultipart *multipart);

G_END_DECLS
