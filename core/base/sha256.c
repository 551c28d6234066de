#include "base/sha256.h"

#include <math.h>
/* Its state at hand, which OpenSSL 3 would rather have behind EVP: there a digest of one row takes three times as long. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>
#include <string.h>

G_STATIC_ASSERT(sizeof(SHA256_CTX) <= sizeof(DemurSha256));

static SHA256_CTX *
context_of(DemurSha256 *sha) {
  return (SHA256_CTX *)(gpointer)sha->state;
}

/* They answer 1, always: there is nothing in them that could fail. */
static void
expect(int done) {
  if (done != 1)
    g_error("libcrypto could not compute a SHA-256");
}

void
demur_sha256_init(DemurSha256 *sha) {
  expect(SHA256_Init(context_of(sha)));
}

void
demur_sha256_update(DemurSha256 *sha, gconstpointer bytes, size_t length) {
  expect(SHA256_Update(context_of(sha), bytes, length));
}

void
demur_sha256_finish(DemurSha256 *sha, guint8 digest[DEMUR_SHA256_BYTES]) {
  expect(SHA256_Final(digest, context_of(sha)));
}

char *
demur_sha256_finish_hex(DemurSha256 *sha) {
  guint8 digest[DEMUR_SHA256_BYTES];
  demur_sha256_finish(sha, digest);
  char *hex = g_malloc(DEMUR_SHA256_HEX);
  demur_sha256_hex(digest, hex);
  return hex;
}

void
demur_sha256_of_block(gconstpointer bytes, size_t length, guint8 digest[DEMUR_SHA256_BYTES]) {
  g_return_if_fail(length <= DEMUR_SHA256_BLOCK);
  guint8 block[64] = {0}; /* FIPS 180-4, 5.1.1: the bytes, a one bit, their number of bits */
  memcpy(block, bytes, length);
  block[length] = 0x80;
  block[62] = (guint8)(8 * length >> 8);
  block[63] = (guint8)(8 * length);
  SHA256_CTX context;
  expect(SHA256_Init(&context));
  SHA256_Transform(&context, block);
  for (size_t w = 0; w < 8; w++) {
    const guint32 word = GUINT32_TO_BE(context.h[w]);
    memcpy(digest + 4 * w, &word, sizeof word);
  }
}

char *
demur_sha256_of_text(const char *text) {
  DemurSha256 sha;
  demur_sha256_init(&sha);
  demur_sha256_update(&sha, text, strlen(text));
  return demur_sha256_finish_hex(&sha);
}

char *
demur_sha256_seal(DemurSha256Write write, gconstpointer content, char **digest) {
  g_autofree char *rest = write(content, NULL);
  g_autofree char *sealed_by = demur_sha256_of_text(rest);
  char *text = write(content, sealed_by);
  if (digest != NULL)
    *digest = g_steal_pointer(&sealed_by);
  return text;
}

gboolean
demur_sha256_is_sealed(DemurSha256Write write, gconstpointer content, const char *digest,
                       char **right) {
  g_autofree char *rest = write(content, NULL);
  *right = demur_sha256_of_text(rest);
  return strcmp(digest, *right) == 0;
}

void
demur_sha256_add_bytes(DemurSha256 *sha, gconstpointer bytes, size_t length) {
  const guint64 frame = GUINT64_TO_LE((guint64)length);
  demur_sha256_update(sha, &frame, sizeof frame);
  demur_sha256_update(sha, bytes, length);
}

void
demur_sha256_add_text(DemurSha256 *sha, const char *text) {
  const guint64 none = G_MAXUINT64;
  if (text == NULL)
    demur_sha256_update(sha, &none, sizeof none);
  else
    demur_sha256_add_bytes(sha, text, strlen(text));
}

void
demur_sha256_add_doubles(DemurSha256 *sha, const double *values, size_t n) {
  const guint64 frame = GUINT64_TO_LE((guint64)(8 * n));
  demur_sha256_update(sha, &frame, sizeof frame);
  for (size_t i = 0; i < n; i++) {
    guint64 bits = G_GUINT64_CONSTANT(0x7FF8000000000000);
    const double value = values[i] + 0.0; /* -0 becomes 0 */
    if (!isnan(value))
      memcpy(&bits, &value, sizeof bits);
    bits = GUINT64_TO_LE(bits);
    demur_sha256_update(sha, &bits, sizeof bits);
  }
}

void
demur_sha256_hex(const guint8 digest[DEMUR_SHA256_BYTES], char hex[DEMUR_SHA256_HEX]) {
  static const char digits[] = "0123456789abcdef";
  for (int i = 0; i < DEMUR_SHA256_BYTES; i++) {
    hex[2 * i] = digits[digest[i] >> 4];
    hex[2 * i + 1] = digits[digest[i] & 15];
  }
  hex[DEMUR_SHA256_HEX - 1] = '\0';
}

gboolean
demur_sha256_parse(const char *hex, guint8 digest[DEMUR_SHA256_BYTES]) {
  if (hex == NULL || strlen(hex) != DEMUR_SHA256_HEX - 1)
    return FALSE;
  for (int i = 0; i < DEMUR_SHA256_BYTES; i++) {
    const int high = g_ascii_xdigit_value(hex[2 * i]), low = g_ascii_xdigit_value(hex[2 * i + 1]);
    if (high < 0 || low < 0)
      return FALSE;
    digest[i] = (guint8)(high * 16 + low);
  }
  return TRUE;
}
