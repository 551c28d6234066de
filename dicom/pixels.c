#include "dicom/pixels.h"
#include "base/error.h"
#include "dicom/transfer-syntax.h"

#include <string.h>

static gboolean
wrong(GError **error, const char *what) {
  demur_error_set(error, DEMUR_ERROR_INPUT, "%s", what);
  return FALSE;
}

/* bits lowest bits of a word, as a signed or unsigned number. */
static inline gint32
number_of(guint32 word, guint bits, gboolean is_signed) {
  if (bits >= 32)
    return (gint32)word;
  word &= (1u << bits) - 1u;
  if (is_signed && (word & (1u << (bits - 1))) != 0)
    return (gint32)(word | ~((1u << bits) - 1u));
  return (gint32)word;
}

typedef struct {
  gboolean on;
  guint16 low_word, high_word; /* as written */
  gint32 low, high;            /* as stored values */
} Padding;

/* PixelPaddingValue is written in 16 bits whatever its sign: 63536 is -2000 in signed pixels. */
static Padding
padding_of(const DemurHeader *header) {
  Padding padding = {
      .on = header->has_padding, .low_word = header->padding, .high_word = header->padding_limit};
  const gint32 a = header->is_signed ? (gint16)header->padding : header->padding;
  const gint32 b = header->is_signed ? (gint16)header->padding_limit : header->padding_limit;
  padding.low = MIN(a, b);
  padding.high = MAX(a, b);
  return padding;
}

static inline gboolean
is_padding(const Padding *padding, guint32 word, gint32 value) {
  return (value >= padding->low && value <= padding->high) || word == padding->low_word;
}

/* n words of width bytes -> their numbers; inlined with width and order fixed. */
static inline void
numbers_of_words(const guint8 *bytes, size_t n, guint width, gboolean big, guint shift, guint bits,
                 gboolean is_signed, gint32 *values) {
  const guint32 keep = bits >= 32 ? G_MAXUINT32 : (1u << bits) - 1u;
  const guint32 sign = is_signed ? 1u << (bits - 1) : 0;
  for (size_t i = 0; i < n; i++) {
    const guint32 word = width == 1   ? bytes[i]
                         : width == 2 ? demur_elements_u16(bytes + 2 * i, big)
                                      : demur_elements_u32(bytes + 4 * i, big);
    const guint32 kept = (word >> shift) & keep;
    values[i] = (gint32)((kept ^ sign) - sign); /* the sign bit's weight is negative */
  }
}

/* Bits below the stored ones. */
static guint
shift_of(const DemurHeader *header) {
  return header->high_bit + 1u >= header->bits_stored && header->high_bit < header->bits_allocated
             ? header->high_bit + 1u - header->bits_stored
             : 0;
}

#define BLOCK_BYTES 262144 /* read at once: a call for each row would cost more than the rows */

/* Native words of 1, 2 or 4 bytes. The padding is compared before the bits above BitsStored go. */
static gboolean
decode_native(DemurSource *source, const DemurHeader *header, guint32 frame, gint32 *values,
              guint8 *mask, GError **error) {
  const size_t n = (size_t)header->rows * header->columns;
  const guint width = (header->bits_allocated + 7u) / 8u, bits = header->bits_stored;
  const guint64 offset = header->pixels_offset + (guint64)frame * n * width;
  const gboolean big = header->big_endian, is_signed = header->is_signed;
  const guint shift = shift_of(header);
  if (width != 1 && width != 2 && width != 4)
    return wrong(error, N_("native pixels of neither 8, 16 nor 32 bits"));
  const Padding padding = padding_of(header);
  const size_t n_block = MIN(n, (size_t)BLOCK_BYTES / width);
  g_autofree guint8 *block = g_malloc(n_block * width);
  for (size_t start = 0; start < n; start += n_block) {
    const size_t n_here = MIN(n_block, n - start);
    if (!demur_source_read(source, offset + (guint64)start * width, n_here * width, block))
      return wrong(error, N_("pixel data too short"));
    gint32 *to = values + start;
    if (width == 2 && !big)
      numbers_of_words(block, n_here, 2, FALSE, shift, bits, is_signed, to);
    else if (width == 2)
      numbers_of_words(block, n_here, 2, TRUE, shift, bits, is_signed, to);
    else if (width == 1)
      numbers_of_words(block, n_here, 1, FALSE, shift, bits, is_signed, to);
    else
      numbers_of_words(block, n_here, 4, big, shift, bits, is_signed, to);
    for (size_t i = 0; mask != NULL && i < n_here; i++) {
      const guint8 *bytes = block + i * width;
      const guint32 word = width == 1   ? bytes[0]
                           : width == 2 ? demur_elements_u16(bytes, big)
                                        : demur_elements_u32(bytes, big);
      mask[start + i] = padding.on && is_padding(&padding, word, to[i]) ? 1 : 0;
    }
  }
  return TRUE;
}

/* The entries of the offset table count from the first item. */
gboolean
demur_pixels_fragments(DemurSource *source, const DemurHeader *header, guint32 frame,
                       guint32 *begin, guint32 *end, GError **error) {
  *begin = 0;
  *end = header->n_fragments;
  if (header->n_frames == 1)
    return TRUE;
  if (header->table_length >= 4 * (guint64)header->n_frames) {
    const guint64 first = header->table_offset + header->table_length;
    const guint n = frame + 1 < header->n_frames ? 8 : 4;
    const guint8 *entry = demur_source_peek(source, header->table_offset + 4 * (guint64)frame, n);
    if (entry == NULL)
      return wrong(error, N_("pixel fragments can't be read"));
    const guint64 from = first + demur_elements_u32(entry, FALSE);
    const guint64 to = n == 8 ? first + demur_elements_u32(entry + 4, FALSE) : G_MAXUINT64;
    /* An item begins 8 bytes before its value. */
    while (*begin < header->n_fragments && header->fragments[*begin].offset - 8 < from)
      ++*begin;
    *end = *begin;
    while (*end < header->n_fragments && header->fragments[*end].offset - 8 < to)
      ++*end;
    return TRUE;
  }
  if (header->n_fragments == header->n_frames) {
    *begin = frame;
    *end = frame + 1;
    return TRUE;
  }
  guint32 n_images = 0;
  for (guint32 i = 0; i < header->n_fragments; i++) {
    n_images += header->fragments[i].begins_image ? 1 : 0;
    if (header->fragments[i].begins_image && n_images == frame + 1)
      *begin = i;
    if (header->fragments[i].begins_image && n_images == frame + 2)
      *end = i;
  }
  return n_images == header->n_frames ||
         wrong(error, N_("frames of several fragments, but nothing tells them apart"));
}

GBytes *
demur_pixels_fragment(DemurSource *source, const DemurHeader *header, guint32 frame,
                      GError **error) {
  guint32 begin, end;
  if (!demur_pixels_fragments(source, header, frame, &begin, &end, error))
    return NULL;
  guint64 total = 0;
  for (guint32 i = begin; i < end; i++)
    total += header->fragments[i].length;
  if (total == 0 || total > G_MAXUINT32) {
    wrong(error, N_("no pixel fragments for the frame"));
    return NULL;
  }
  /* total is at most the size of the source: nothing is allocated that isn't there. */
  guint8 *bytes = g_try_malloc((size_t)total);
  if (bytes == NULL) {
    wrong(error, N_("no memory for the compressed image"));
    return NULL;
  }
  size_t done = 0;
  for (guint32 i = begin; i < end; i++) {
    const DemurFragment *fragment = &header->fragments[i];
    if (!demur_source_read(source, fragment->offset, fragment->length, bytes + done)) {
      g_free(bytes);
      wrong(error, N_("pixel fragments can't be read"));
      return NULL;
    }
    done += fragment->length;
  }
  return g_bytes_new_take(bytes, (gsize)total);
}

/* Bits a sample that the frame header of a JPEG or JPEG-LS image tells (T.81 B.2.2, T.87 C.2.2); 0
 * where no plain marker segments lead from SOI to one (then DCMTK 3.6.7 looks for it without end).
 */
static guint
jpeg_precision(GBytes *image) {
  gsize size;
  const guint8 *bytes = g_bytes_get_data(image, &size);
  gsize at = 2;
  while (size >= 4 && at <= size - 4 && bytes[at] == 0xFF) {
    const guint8 marker = bytes[at + 1];
    const gsize length = ((gsize)bytes[at + 2] << 8) | bytes[at + 3];
    if (length < 2 || length > size - at - 2)
      return 0;
    if ((marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC) ||
        marker == 0xF7)
      return length >= 8 ? bytes[at + 4] : 0;
    if (marker != 0xC4 && marker != 0xCC && marker < 0xDA)
      return 0;
    at += 2 + length;
  }
  return 0;
}

gboolean
demur_pixels_decode(DemurSource *source, const DemurHeader *header, guint32 frame, gint32 *values,
                    guint8 *mask, GError **error) {
  const DemurTransferSyntax *syntax = demur_transfer_syntax_find(header->transfer_syntax_uid);
  if (header->pixels != DEMUR_PIXELS_COMPLETE) {
    demur_error_set(error,
                    header->pixels == DEMUR_PIXELS_UNSUPPORTED ? DEMUR_ERROR_UNSUPPORTED
                                                               : DEMUR_ERROR_INPUT,
                    "%s", header->pixels_problem);
    return FALSE;
  }
  if (header->samples != 1) {
    demur_error_set(error, DEMUR_ERROR_UNSUPPORTED,
                    "colour images (%u samples a pixel) have no CT numbers", header->samples);
    return FALSE;
  }
  if (frame >= header->n_frames)
    return wrong(error, N_("no such frame"));
  if (!header->encapsulated)
    return decode_native(source, header, frame, values, mask, error);

  g_autoptr(GBytes) image = demur_pixels_fragment(source, header, frame, error);
  if (image == NULL)
    return FALSE;
  const size_t n = (size_t)header->rows * header->columns;
  const Padding padding = padding_of(header);
  if (syntax->coding == DEMUR_CODING_JPEG_2000) {
    gboolean is_signed;
    guint precision;
    if (!demur_jpeg2000_decode(image, header->rows, header->columns, values, &precision, &is_signed,
                               error))
      return FALSE;
    const guint shift = precision > header->bits_stored ? shift_of(header) : 0;
    for (size_t i = 0; i < n; i++) {
      values[i] >>= shift;
      /* A signed codestream holds the numbers themselves, whatever the header says of their bits;
       * an unsigned one the words, whose sign is the header's matter. */
      if (!is_signed)
        values[i] = number_of((guint32)values[i], header->bits_stored, header->is_signed);
      if (mask != NULL)
        mask[i] = padding.on && values[i] >= padding.low && values[i] <= padding.high ? 1 : 0;
    }
    return TRUE;
  }
  g_autofree guint16 *words = g_try_new(guint16, n);
  if (words == NULL)
    return wrong(error, N_("no memory for the image"));
  DemurDecodedLayout layout = {header->bits_allocated, header->bits_stored, header->is_signed};
  const DemurJpegResult lossless =
      syntax->coding == DEMUR_CODING_JPEG && header->bits_allocated <= 16
          ? demur_jpeg_lossless_decode(image, header->rows, header->columns, words, error)
          : DEMUR_JPEG_OTHER;
  /* A word holds what lies below the stored bits only where more than those are coded. */
  const guint precision =
      syntax->coding == DEMUR_CODING_RLE ? header->bits_allocated : jpeg_precision(image);
  const guint shift = precision > header->bits_stored ? shift_of(header) : 0;
  if (lossless == DEMUR_JPEG_OTHER && syntax->coding == DEMUR_CODING_JPEG && precision == 0)
    return wrong(error, N_("the compressed image can't be decoded: its markers are damaged"));
  if (lossless == DEMUR_JPEG_DAMAGED ||
      (lossless == DEMUR_JPEG_OTHER && !demur_dcmtk_decode(image, header, words, &layout, error)))
    return FALSE;
  for (size_t i = 0; i < n; i++) {
    values[i] = shift > 0
                    ? number_of((guint32)words[i] >> shift, header->bits_stored, header->is_signed)
                    : number_of(words[i], layout.bits_stored, layout.is_signed);
    if (mask != NULL)
      mask[i] = padding.on && is_padding(&padding, words[i], values[i]) ? 1 : 0;
  }
  return TRUE;
}
