#include "dicom/native-pixels.h"

#include <string.h>

#include "base/error.h"
#include "dicom/image-kind.h"

#define MAX_BYTES (G_GUINT64_CONSTANT(1) << 31)

typedef struct {
  gint32 *values; /* [frames][rows * columns] */
  guint8 *padding;
  size_t n, n_pixels; /* of a frame, of all */
} Decoded;

static gboolean
decode_frames(DemurSource *source, const DemurHeader *header, const Decoded *decoded,
              GError **error) {
  for (guint32 frame = 0; frame < header->n_frames; frame++)
    if (!demur_pixels_decode(source, header, frame, decoded->values + frame * decoded->n,
                             decoded->padding + frame * decoded->n, error))
      return FALSE;
  return TRUE;
}

/* As the header says, or wide enough for what a lossy codec made. */
static void
choose_layout(const DemurHeader *header, const Decoded *decoded, DemurNativePixels *pixels) {
  gint64 low = 0, high = 0;
  for (size_t i = 0; i < decoded->n_pixels; i++) {
    low = MIN(low, decoded->values[i]);
    high = MAX(high, decoded->values[i]);
  }
  pixels->bits_stored = header->bits_stored;
  pixels->is_signed = header->is_signed;
  const guint bits = header->bits_stored - (header->is_signed ? 1u : 0u);
  if (bits < 32 && (high >= (G_GINT64_CONSTANT(1) << bits) ||
                    (low < 0 && (!header->is_signed || low < -(G_GINT64_CONSTANT(1) << bits))))) {
    pixels->is_signed = low < 0;
    pixels->bits_stored = high < 65536 && low >= -32768 && (low >= 0 || high < 32768) ? 16 : 32;
  }
  pixels->bits_allocated = pixels->bits_stored <= 8 ? 8 : pixels->bits_stored <= 16 ? 16 : 32;
}

static guint32
raw_word(const guint8 *bytes, guint width, gboolean big) {
  return width == 1   ? bytes[0]
         : width == 2 ? demur_elements_u16(bytes, big)
                      : demur_elements_u32(bytes, big);
}

static void
put_word(guint8 *to, guint width, guint32 word) {
  for (guint i = 0; i < width; i++)
    to[i] = (guint8)(word >> (8 * i));
}

/* Words of native pixels that say more than their stored bits. */
static size_t
count_outside(DemurSource *source, const DemurHeader *header, const Decoded *decoded) {
  const guint width = (header->bits_allocated + 7u) / 8u, bits = header->bits_stored;
  const guint shift = header->high_bit + 1u >= bits && header->high_bit < header->bits_allocated
                          ? header->high_bit + 1u - bits
                          : 0;
  const guint32 all = width == 4 ? G_MAXUINT32 : (1u << (8 * width)) - 1u;
  const guint32 above = bits + shift >= 32 ? 0 : all & ~((1u << (bits + shift)) - 1u);
  const guint32 below = (1u << shift) - 1u;
  size_t n = 0;
  for (size_t i = 0; i < decoded->n_pixels; i++) {
    const guint8 *bytes =
        demur_source_peek(source, header->pixels_offset + (guint64)i * width, width);
    if (bytes == NULL || decoded->padding[i])
      continue;
    const guint32 word = raw_word(bytes, width, header->big_endian);
    const guint32 sign = header->is_signed && decoded->values[i] < 0 ? above : 0;
    n += (word & above) != sign || (word & below) != 0 ? 1 : 0;
  }
  return n;
}

static void
write_words(const DemurHeader *header, const Decoded *decoded, DemurNativePixels *pixels) {
  const guint width = pixels->bits_allocated / 8u;
  const guint32 keep = pixels->bits_stored == 32 ? G_MAXUINT32 : (1u << pixels->bits_stored) - 1u;
  const gsize size = decoded->n_pixels * width;
  guint8 *words = g_malloc0(size + (size & 1u)); /* an even length */
  /* What is padding is known by its word, which may need bits that are not stored. */
  const gboolean keep_padding = width == 2 && header->padding == header->padding_limit;
  for (size_t i = 0; i < decoded->n_pixels; i++) {
    guint32 word = (guint32)decoded->values[i];
    if (!pixels->is_signed)
      word &= keep;
    if (decoded->padding[i] && keep_padding)
      word = header->padding;
    put_word(words + i * width, width, word);
  }
  pixels->words = g_bytes_new_take(words, size + (size & 1u));
}

gboolean
demur_native_pixels(DemurSource *source, const DemurHeader *header, DemurNativePixels *pixels,
                    GError **error) {
  *pixels = (DemurNativePixels){.decompressed = header->encapsulated};
  if (header->samples != 1 || !demur_photometric_is_grey(header->photometric)) {
    demur_error_set(error, DEMUR_ERROR_UNSUPPORTED,
                    "its colours can't be cleaned: only grey pixels are copied");
    return FALSE;
  }
  const size_t n = (size_t)header->rows * header->columns;
  const guint64 n_pixels = (guint64)n * header->n_frames;
  /* Claims of a header are believed as far as its file is long; compressed ones may be smaller. */
  if (n_pixels == 0 || n_pixels * 4 > MAX_BYTES) {
    demur_error_set(error, DEMUR_ERROR_UNSUPPORTED,
                    "its pixels are more than can be cleaned at once (2 GiB)");
    return FALSE;
  }
  g_autofree gint32 *values = g_try_new(gint32, (gsize)n_pixels);
  g_autofree guint8 *padding = g_try_malloc0((gsize)n_pixels);
  const Decoded decoded = {values, padding, n, (size_t)n_pixels};
  if (values == NULL || padding == NULL) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "no memory for its pixels");
    return FALSE;
  }
  if (!decode_frames(source, header, &decoded, error))
    return FALSE;
  choose_layout(header, &decoded, pixels);
  if (!header->encapsulated) {
    const guint64 needed = n_pixels * ((header->bits_allocated + 7u) / 8u);
    pixels->n_outside = count_outside(source, header, &decoded);
    pixels->n_behind_bytes = header->pixels_length - needed;
    pixels->n_behind_bytes -= needed % 2 == 1 && pixels->n_behind_bytes > 0 ? 1 : 0;
  }
  write_words(header, &decoded, pixels);
  return TRUE;
}

void
demur_native_pixels_clear(DemurNativePixels *pixels) {
  g_clear_pointer(&pixels->words, g_bytes_unref);
}
