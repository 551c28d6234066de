/* A multipart body in pieces: parts or a refusal, and the same ones in other pieces. The first byte
 * says how long the pieces are. */
#include <stdint.h>
#include <string.h>

#include "dicom/multipart.h"

#define MAX_PART 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static gboolean
add_part(const guint8 *bytes, size_t n, gpointer data, GError **error) {
  g_assert_cmpuint(n, <=, MAX_PART);
  GChecksum *sum = data;
  const guint8 length[2] = {(guint8)(n >> 8), (guint8)n};
  g_checksum_update(sum, length, 2);
  g_checksum_update(sum, bytes, (gssize)n);
  return TRUE;
}

static char *
read_in_pieces(const uint8_t *data, size_t size, size_t piece) {
  g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
  g_autoptr(DemurMultipart) multipart = demur_multipart_new("b", MAX_PART, add_part, sum);
  for (size_t at = 0; at < size; at += piece)
    if (!demur_multipart_feed(multipart, data + at, MIN(piece, size - at), NULL))
      return NULL;
  return demur_multipart_end(multipart, NULL) ? g_strdup(g_checksum_get_string(sum)) : NULL;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  g_autofree char *type = g_strndup((const char *)data, size);
  g_autofree char *boundary = demur_multipart_boundary(type);
  g_assert_true(boundary == NULL || (*boundary != '\0' && strlen(boundary) <= 70));
  g_autofree char *some = read_in_pieces(data + 1, size - 1, 1 + data[0] % 64);
  g_autofree char *all = read_in_pieces(data + 1, size - 1, MAX(size, 1));
  /* What is too large in one piece may be told later in small ones; what is whole is the same. */
  g_assert_true(some == NULL || all == NULL || strcmp(some, all) == 0);
  return 0;
}
