/* STOW-RS in (PS3.18 10.5): a storage server's second door, over HTTP (receiver.h).
 *
 *   POST /studies, POST /studies/STUDY    multipart/related; type="application/dicom"
 *
 * A connection is one request, in a process of its own, and what comes by it is kept as what comes by
 * an association is: on the disk before it is answered, in the journal, counted. A request that ends
 * before its last boundary is an association that broke off: what was whole is kept, and the study
 * may be a part until a request from the same address, which began later, brought objects of it,
 * none refused, and ended well.
 *
 * Answers are in DICOM JSON: 200 all is kept; 202 some is; 409 none; 400 no such body, or one that
 * breaks; 401 and 403 who may not; 413 too large; 415 another type; 503 the disk is full. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  const char *address; /* to listen at: of IPv4 or IPv6 */
  guint port;
  const char *certificate, *key; /* PEM, read anew for each connection; both NULL: not encrypted */
  const char *authorities;       /* PEM: a caller shows a certificate of one of them; NULL: none */
  const char *token;             /* a file with what a caller shows as Bearer; NULL: none */
  guint max_connections;         /* at once; a further one is closed */
  guint max_of_peer;             /* .. of one address */
  guint timeout_seconds;         /* without progress, and for a whole head */
  guint object_mb, request_mb; /* MiB of an object (it is in memory while it comes), of a request */
} DemurStow;

/* Whether it can be served: DEMUR_ERROR_UNSUPPORTED where the program was built without it,
 * DEMUR_ERROR_INPUT for an address or a file that can't be used. */
gboolean demur_stow_check(const DemurStow *stow, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
