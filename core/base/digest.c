#include "base/digest.h"

#include <string.h>

void
demur_digest_add_bytes(GChecksum *checksum, gconstpointer bytes, size_t length) {
  const guint64 frame = GUINT64_TO_LE((guint64)length);
  g_checksum_update(checksum, (const guchar *)&frame, sizeof frame);
  /* g_checksum_update takes a gssize and reads -1 as "up to the NUL". */
  const guchar *p = bytes;
  while (length > 0) {
    const size_t part = MIN(length, (size_t)1 << 30);
    g_checksum_update(checksum, p, (gssize)part);
    p += part;
    length -= part;
  }
}

void
demur_digest_add_text(GChecksum *checksum, const char *text) {
  if (text == NULL) {
    const guint64 none = G_MAXUINT64;
    g_checksum_update(checksum, (const guchar *)&none, sizeof none);
    return;
  }
  demur_digest_add_bytes(checksum, text, strlen(text));
}

/* Values are hashed as stored: every platform this program is built for is little endian IEEE 754.
 */
G_STATIC_ASSERT(G_BYTE_ORDER == G_LITTLE_ENDIAN);

void
demur_digest_add_doubles(GChecksum *checksum, const double *values, size_t n) {
  demur_digest_add_bytes(checksum, values, n * sizeof(double));
}

void
demur_digest_add_floats(GChecksum *checksum, const float *values, size_t n) {
  demur_digest_add_bytes(checksum, values, n * sizeof(float));
}
