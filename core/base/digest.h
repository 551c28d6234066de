/* SHA-256 digests of what a result was made from. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Each adds one framed value (its length stands before it), so that neighbours can't run together.
 */
void demur_digest_add_bytes(GChecksum *checksum, gconstpointer bytes, size_t length);
void demur_digest_add_text(GChecksum *checksum, const char *text); /* NULL differs from "" */
void demur_digest_add_doubles(GChecksum *checksum, const double *values, size_t n);
void demur_digest_add_floats(GChecksum *checksum, const float *values, size_t n);

G_END_DECLS
