/* SHA-256 (FIPS 180-4) at the processor's rate: of image data, where GChecksum (about 160 to 250
 * MB/s) would cost more than reading them. The same bytes on every processor. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define DEMUR_SHA256_BYTES 32
#define DEMUR_SHA256_HEX (2 * DEMUR_SHA256_BYTES + 1) /* with its NUL */

typedef struct {
  guint32 state[8];
  guint64 length; /* bytes so far */
  guint8 block[64];
  gboolean portable; /* FALSE after _init; TRUE, set by a test, keeps to the portable code */
} DemurSha256;

void demur_sha256_init(DemurSha256 *sha);
void demur_sha256_update(DemurSha256 *sha, gconstpointer bytes, size_t length);
/* Ends it: sha has to be begun anew afterwards. */
void demur_sha256_finish(DemurSha256 *sha, guint8 digest[DEMUR_SHA256_BYTES]);

/* Framed values as in base/digest.h: the length stands before each, NULL differs from "". */
void demur_sha256_add_bytes(DemurSha256 *sha, gconstpointer bytes, size_t length);
void demur_sha256_add_text(DemurSha256 *sha, const char *text);
/* Every NaN counts as one, -0 as 0. */
void demur_sha256_add_doubles(DemurSha256 *sha, const double *values, size_t n);

/* Lower-case hexadecimal with its NUL. */
void demur_sha256_hex(const guint8 digest[DEMUR_SHA256_BYTES], char hex[DEMUR_SHA256_HEX]);
/* The way back; FALSE where hex (may be NULL) is no digest. */
gboolean demur_sha256_parse(const char *hex,
                            guint8 digest[DEMUR_SHA256_BYTES]) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
