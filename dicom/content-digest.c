#include "dicom/content-digest.h"
#include "dicom/pixels.h"
#include "dicom/transfer-syntax.h"

#define BLOCK_BYTES 65536 /* even, and a whole number of words */

/* Turns big-endian words of width bytes. */
static void
turn_words(const guint8 *from, size_t length, guint width, guint8 *to) {
  for (size_t at = 0; at + width <= length; at += width)
    for (guint i = 0; i < width; i++)
      to[at + i] = from[at + width - 1 - i];
}

static gboolean
add_bytes(DemurSha256 *sha, DemurSource *source, guint64 offset, guint64 length) {
  for (guint64 at = 0; at < length;) {
    const size_t n = (size_t)MIN((guint64)BLOCK_BYTES, length - at);
    const guint8 *bytes = demur_source_peek(source, offset + at, n);
    if (bytes == NULL)
      return FALSE;
    demur_sha256_update(sha, bytes, n);
    at += n;
  }
  return TRUE;
}

gboolean
demur_content_digest_pixels(DemurSource *source, const DemurHeader *header, guint32 frame,
                            guint8 digest[DEMUR_SHA256_BYTES]) {
  if (header->pixels != DEMUR_PIXELS_COMPLETE || frame >= header->n_frames)
    return FALSE;
  DemurSha256 sha;
  demur_sha256_init(&sha);
  if (header->encapsulated) {
    guint32 begin, end;
    if (!demur_pixels_fragments(source, header, frame, &begin, &end, NULL) || begin >= end)
      return FALSE;
    for (guint32 i = begin; i < end; i++)
      if (!add_bytes(&sha, source, header->fragments[i].offset, header->fragments[i].length))
        return FALSE;
    demur_sha256_finish(&sha, digest);
    return TRUE;
  }
  const guint width = (header->bits_allocated + 7u) / 8u;
  const guint64 size = (guint64)header->rows * header->columns * header->samples * width;
  const guint64 offset = header->pixels_offset + frame * size;
  guint8 turned[BLOCK_BYTES];
  for (guint64 at = 0; at < size;) {
    const size_t n = (size_t)MIN((guint64)BLOCK_BYTES, size - at);
    const guint8 *bytes = demur_source_peek(source, offset + at, n);
    if (bytes == NULL)
      return FALSE;
    if (header->big_endian && width > 1) {
      turn_words(bytes, n, width, turned);
      bytes = turned;
    }
    demur_sha256_update(&sha, bytes, n);
    at += n;
  }
  demur_sha256_finish(&sha, digest);
  return TRUE;
}

void
demur_content_digest_slice(const DemurHeader *header, guint32 frame,
                           const guint8 pixels[DEMUR_SHA256_BYTES], char hex[DEMUR_SHA256_HEX]) {
  const DemurFrame facts = demur_header_frame(header, frame);
  const DemurTransferSyntax *syntax = demur_transfer_syntax_find(header->transfer_syntax_uid);
  const double numbers[] = {(double)frame,
                            header->rows,
                            header->columns,
                            header->samples,
                            header->bits_allocated,
                            header->bits_stored,
                            header->high_bit,
                            header->is_signed ? 1 : 0,
                            header->has_padding ? header->padding : -1.0,
                            header->has_padding ? header->padding_limit : -1.0,
                            facts.thickness_mm,
                            facts.slope,
                            facts.intercept};
  guint8 digest[DEMUR_SHA256_BYTES];
  DemurSha256 sha;
  demur_sha256_init(&sha);
  demur_sha256_add_text(&sha, "demur slice 1");
  demur_sha256_add_text(&sha, header->sop_instance_uid);
  demur_sha256_add_text(&sha, header->frame_of_reference_uid);
  demur_sha256_add_text(&sha, header->photometric);
  demur_sha256_add_text(&sha, header->rescale_type);
  demur_sha256_add_text(&sha, header->encapsulated && syntax != NULL ? syntax->uid : NULL);
  demur_sha256_add_doubles(&sha, numbers, G_N_ELEMENTS(numbers));
  demur_sha256_add_doubles(&sha, facts.position_mm, 3);
  demur_sha256_add_doubles(&sha, facts.orientation, 6);
  demur_sha256_add_doubles(&sha, facts.pixel_spacing_mm, 2);
  demur_sha256_add_bytes(&sha, pixels, DEMUR_SHA256_BYTES);
  demur_sha256_finish(&sha, digest);
  demur_sha256_hex(digest, hex);
}

char *
demur_content_digest_volume(const char *const *slices, size_t n) {
  guint8 digest[DEMUR_SHA256_BYTES];
  char hex[DEMUR_SHA256_HEX];
  DemurSha256 sha;
  demur_sha256_init(&sha);
  demur_sha256_add_text(&sha, "demur volume 1");
  for (size_t i = 0; i < n; i++) {
    if (slices[i] == NULL)
      return NULL;
    demur_sha256_add_text(&sha, slices[i]);
  }
  demur_sha256_finish(&sha, digest);
  demur_sha256_hex(digest, hex);
  return g_strdup(hex);
}
