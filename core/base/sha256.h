/* SHA-256 (FIPS 180-4) of what a result was made from, by libcrypto, which takes the processor's own
 * instructions: GChecksum (about 160 to 250 MB/s) would cost more than reading what is hashed. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define DEMUR_SHA256_BYTES 32
#define DEMUR_SHA256_HEX (2 * DEMUR_SHA256_BYTES + 1) /* with its NUL */

/* libcrypto's SHA256_CTX, where whoever has one keeps it: a digest of a row takes no memory of its own. */
typedef struct {
  guint64 state[14];
} DemurSha256;

void demur_sha256_init(DemurSha256 *sha);
void demur_sha256_update(DemurSha256 *sha, gconstpointer bytes, size_t length);
/* Ends it: sha has to be begun anew afterwards. */
void demur_sha256_finish(DemurSha256 *sha, guint8 digest[DEMUR_SHA256_BYTES]);
/* The same in lower-case hexadecimal (owned). */
char *demur_sha256_finish_hex(DemurSha256 *sha);

#define DEMUR_SHA256_BLOCK 55 /* bytes that are one block with what stands behind them */

/* The digest of at most that many bytes, in one block: for thousands of them. */
void demur_sha256_of_block(gconstpointer bytes, size_t length, guint8 digest[DEMUR_SHA256_BYTES]);

/* The digest of one text (owned), lower-case hexadecimal. */
char *demur_sha256_of_text(const char *text);

/* A document that is sealed by the digest of its own text: write gives the text of the content, with that
 * digest in it, or (NULL) without one (owned). */
typedef char *(*DemurSha256Write)(gconstpointer content, const char *digest);

/* The sealed text (owned); *digest (owned; NULL: not wanted). */
char *demur_sha256_seal(DemurSha256Write write, gconstpointer content, char **digest);
/* Whether the content, read back, is what that digest seals; *right (owned): the one that does. */
gboolean demur_sha256_is_sealed(DemurSha256Write write, gconstpointer content, const char *digest,
                                char **right) G_GNUC_WARN_UNUSED_RESULT;

/* Framed values: the length of each stands before it, so that neighbours can't run together; NULL differs from "". */
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
