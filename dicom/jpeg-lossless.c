/* JPEG lossless (ITU-T T.81 annex H, process 14) of one component: what nearly every compressed CT
 * is. The same numbers as DCMTK's decoder, 1.4 to 1.9 times as fast; what is none of it (colour,
 * DNL, hierarchical) is left to DCMTK.
 *
 *   sample = (prediction + difference) mod 2^16,   difference of category s: s bits behind a code
 *
 * A table over the next 12 bits gives the difference at once where code and bits fit into them;
 * longer ones are searched by length (F.2.2.3). Cost: about one table look-up a pixel. Nothing is
 * allocated; every byte is compared with the end before it is read; bits behind a marker or the end
 * are zeros and counted, so that an image which needs them is refused. */
#include "dicom/pixels.h"

#include <string.h>

#include "base/error.h"

#define LOOK_BITS 12
#define WHOLE 255 /* in Look.category: difference holds the value, its bits are in length */

typedef struct {
  gint16 difference;
  guint8 length; /* bits to take; 0: a longer code */
  guint8 category;
} Look;

typedef struct {
  gboolean known;
  guint32 first_code[17], n_codes[17], first_index[17]; /* by length */
  guint8 categories[256];
  Look look[1 << LOOK_BITS];
} Table;

typedef struct {
  const guint8 *at, *end;
  guint64 buffer; /* the lowest n_bits are still to come */
  guint n_bits;
  guint n_made_up; /* zeros behind the data among them, or already taken */
} Bits;

typedef struct {
  guint16 rows, columns;
  guint precision, predictor, point_transform;
  guint restart_rows; /* 0: none */
  const Table *table;
} Scan;

static DemurJpegResult
damaged(GError **error, const char *what) {
  demur_error_set(error, DEMUR_ERROR_INPUT, "the compressed image can't be decoded: %s", what);
  return DEMUR_JPEG_DAMAGED;
}

/* At least 32 bits into the buffer. */
static inline void
refill(Bits *bits) {
  if (bits->n_bits >= 32)
    return;
  if (bits->end - bits->at >= 4) {
    guint32 word;
    memcpy(&word, bits->at, sizeof word);
    const guint32 inverted = ~word;
    if (((inverted - 0x01010101u) & ~inverted & 0x80808080u) == 0) { /* no byte is 0xFF */
      bits->buffer = (bits->buffer << 32) | GUINT32_FROM_BE(word);
      bits->n_bits += 32;
      bits->at += 4;
      return;
    }
  }
  while (bits->n_bits < 32) {
    guint8 byte = 0;
    if (bits->at < bits->end && bits->at[0] != 0xFF) {
      byte = *bits->at++;
    } else if (bits->end - bits->at >= 2 && bits->at[1] == 0) {
      byte = 0xFF;
      bits->at += 2;
    } else {
      bits->n_made_up += 8;
    }
    bits->buffer = (bits->buffer << 8) | byte;
    bits->n_bits += 8;
  }
}

static inline guint32
peek(const Bits *bits, guint n) {
  return (guint32)(bits->buffer >> (bits->n_bits - n)) & ((1u << n) - 1u);
}

/* The difference of a category whose bits are value (H.1.2.2). */
static inline gint32
extend(guint category, guint32 value) {
  if (category == 0)
    return 0;
  return value < 1u << (category - 1) ? (gint32)value - (gint32)((1u << category) - 1u)
                                      : (gint32)value;
}

/* FALSE where no code begins with the next bits. */
static inline gboolean
next_difference(Bits *bits, const Table *table, gint32 *difference) {
  refill(bits);
  const Look *look = &table->look[peek(bits, LOOK_BITS)];
  if (G_LIKELY(look->category == WHOLE)) {
    bits->n_bits -= look->length;
    *difference = look->difference;
    return TRUE;
  }
  guint category = look->category, length = look->length;
  if (length == 0) {
    for (length = LOOK_BITS + 1; length <= 16; length++) {
      const guint32 index = peek(bits, length) - table->first_code[length];
      if (index < table->n_codes[length]) {
        category = table->categories[table->first_index[length] + index];
        break;
      }
    }
    if (length > 16)
      return FALSE;
  }
  bits->n_bits -= length; /* 16 left at least: refill gave 32 */
  if (category == 16) {
    *difference = 32768;
    return TRUE;
  }
  *difference = category == 0 ? 0 : extend(category, peek(bits, category));
  bits->n_bits -= category;
  return TRUE;
}

/* One row below another; predictor is a constant of each call (table H.1). */
static inline gboolean
decode_row(Bits *bits, const Table *table, guint predictor, guint columns, const guint16 *above,
           guint16 *row) {
  gint32 difference;
  if (!next_difference(bits, table, &difference))
    return FALSE;
  row[0] = (guint16)(above[0] + difference);
  for (guint x = 1; x < columns; x++) {
    const gint32 a = row[x - 1], b = above[x], c = above[x - 1];
    const gint32 prediction = predictor == 1   ? a
                              : predictor == 2 ? b
                              : predictor == 3 ? c
                              : predictor == 4 ? a + b - c
                              : predictor == 5 ? a + ((b - c) >> 1)
                              : predictor == 6 ? b + ((a - c) >> 1)
                                               : (a + b) >> 1;
    if (!next_difference(bits, table, &difference))
      return FALSE;
    row[x] = (guint16)(prediction + difference);
  }
  return TRUE;
}

/* The first row, and the first behind a restart. */
static gboolean
decode_first_row(Bits *bits, const Scan *scan, guint16 *row) {
  gint32 prediction = 1 << (scan->precision - scan->point_transform - 1);
  for (guint x = 0; x < scan->columns; x++) {
    gint32 difference;
    if (!next_difference(bits, scan->table, &difference))
      return FALSE;
    row[x] = (guint16)(prediction + difference);
    prediction = row[x];
  }
  return TRUE;
}

static gboolean
decode_next_row(Bits *bits, const Scan *scan, const guint16 *above, guint16 *row) {
  switch (scan->predictor) {
  case 1:
    return decode_row(bits, scan->table, 1, scan->columns, above, row);
  case 2:
    return decode_row(bits, scan->table, 2, scan->columns, above, row);
  case 3:
    return decode_row(bits, scan->table, 3, scan->columns, above, row);
  case 4:
    return decode_row(bits, scan->table, 4, scan->columns, above, row);
  case 5:
    return decode_row(bits, scan->table, 5, scan->columns, above, row);
  case 6:
    return decode_row(bits, scan->table, 6, scan->columns, above, row);
  default:
    return decode_row(bits, scan->table, 7, scan->columns, above, row);
  }
}

static DemurJpegResult
decode_scan(Bits *bits, const Scan *scan, guint16 *words, GError **error) {
  for (guint y = 0; y < scan->rows; y++) {
    guint16 *row = words + (size_t)y * scan->columns;
    const gboolean restart = y > 0 && scan->restart_rows > 0 && y % scan->restart_rows == 0;
    if (restart) {
      /* The reader stops at a marker: only the padding of the last byte may be left. */
      if (bits->n_bits >= bits->n_made_up + 8 || bits->end - bits->at < 2 || bits->at[0] != 0xFF ||
          bits->at[1] != 0xD0 + (y / scan->restart_rows - 1) % 8)
        return damaged(error, N_("a restart marker is missing"));
      bits->at += 2;
      bits->buffer = 0;
      bits->n_bits = bits->n_made_up = 0;
    }
    const gboolean good = y == 0 || restart ? decode_first_row(bits, scan, row)
                                            : decode_next_row(bits, scan, row - scan->columns, row);
    if (!good)
      return damaged(error, N_("its code is damaged"));
    if (bits->n_bits < bits->n_made_up)
      return damaged(error, N_("it ends before its last row"));
  }
  const size_t n = (size_t)scan->rows * scan->columns;
  for (size_t i = 0; scan->point_transform > 0 && i < n; i++)
    words[i] = (guint16)(words[i] << scan->point_transform);
  return DEMUR_JPEG_DECODED;
}

/* DHT (B.2.4.2): one or more tables in segment [length]. */
static gboolean
read_tables(const guint8 *segment, size_t length, Table tables[4]) {
  while (length > 0) {
    if (length < 17 || (segment[0] & 0xF) > 3)
      return FALSE;
    if (segment[0] >> 4 != 0) { /* an AC table: of no use here */
      size_t n = 17;
      for (guint bits = 1; bits <= 16; bits++)
        n += segment[bits];
      if (n > length)
        return FALSE;
      segment += n;
      length -= n;
      continue;
    }
    Table *table = &tables[segment[0] & 0xF];
    memset(table, 0, sizeof *table);
    guint32 code = 0, n = 0;
    for (guint bits = 1; bits <= 16; bits++) {
      table->first_code[bits] = code;
      table->first_index[bits] = n;
      table->n_codes[bits] = segment[bits];
      n += segment[bits];
      code += segment[bits];
      if (code > 1u << bits || n > 256)
        return FALSE;
      code <<= 1;
    }
    if (n > length - 17)
      return FALSE;
    memcpy(table->categories, segment + 17, n);
    for (guint32 i = 0; i < n; i++)
      if (table->categories[i] > 16)
        return FALSE;
    for (guint bits = 1; bits <= LOOK_BITS; bits++)
      for (guint32 i = 0; i < table->n_codes[bits]; i++) {
        const guint category = table->categories[table->first_index[bits] + i];
        const guint rest = LOOK_BITS - bits;
        Look *look = &table->look[(table->first_code[bits] + i) << rest];
        const gboolean whole = category <= rest;
        for (guint32 k = 0; k < 1u << rest; k++) {
          if (whole)
            look[k] = (Look){(gint16)extend(category, k >> (rest - category)),
                             (guint8)(bits + category), WHOLE};
          else
            look[k] = (Look){0, (guint8)bits, (guint8)category};
        }
      }
    table->known = TRUE;
    segment += 17 + n;
    length -= 17 + n;
  }
  return TRUE;
}

DemurJpegResult
demur_jpeg_lossless_decode(GBytes *image, guint16 rows, guint16 columns, guint16 *words,
                           GError **error) {
  gsize size;
  const guint8 *at = g_bytes_get_data(image, &size);
  const guint8 *end = at + size;
  if (size < 4 || at[0] != 0xFF || at[1] != 0xD8)
    return DEMUR_JPEG_OTHER;
  at += 2;
  Table tables[4];
  for (guint i = 0; i < G_N_ELEMENTS(tables); i++)
    tables[i].known = FALSE;
  Scan scan = {.rows = rows, .columns = columns};
  guint8 component = 0;
  guint restart = 0;
  for (;;) {
    while (end - at >= 2 && at[0] == 0xFF && at[1] == 0xFF)
      at++; /* fill bytes */
    if (end - at < 4 || at[0] != 0xFF)
      return damaged(error, N_("its markers are damaged"));
    const guint8 marker = at[1];
    const size_t length = ((size_t)at[2] << 8) | at[3];
    if (length < 2 || length > (size_t)(end - at) - 2)
      return damaged(error, N_("its markers are damaged"));
    const guint8 *segment = at + 4; /* [length - 2] */
    at += 2 + length;
    if (marker == 0xC3) {
      if (length < 11 || segment[5] != 1 || segment[0] < 2 || segment[0] > 16)
        return DEMUR_JPEG_OTHER;
      scan.precision = segment[0];
      component = segment[6];
      const guint height = (guint)(segment[1] << 8 | segment[2]);
      const guint width = (guint)(segment[3] << 8 | segment[4]);
      if (height == 0)
        return DEMUR_JPEG_OTHER; /* told behind the scan */
      if (height != rows || width != columns) {
        demur_error_set(error, DEMUR_ERROR_INPUT,
                        "the JPEG image has %u x %u pixels, but the header says %u x %u", height,
                        width, rows, columns);
        return DEMUR_JPEG_DAMAGED;
      }
    } else if (marker == 0xC4) {
      if (!read_tables(segment, length - 2, tables))
        return scan.precision > 0 ? damaged(error, N_("its code tables are damaged"))
                                  : DEMUR_JPEG_OTHER;
    } else if ((marker >= 0xC0 && marker <= 0xCF) || marker == 0xDE || marker == 0xDF) {
      return DEMUR_JPEG_OTHER; /* another process */
    } else if (marker == 0xDD && length >= 4) {
      restart = (guint)(segment[0] << 8 | segment[1]);
    } else if (marker == 0xDA) {
      if (scan.precision == 0 || length < 8 || segment[0] != 1 || segment[1] != component ||
          segment[2] >> 4 > 3)
        return damaged(error, N_("its scan does not fit its frame"));
      scan.table = &tables[segment[2] >> 4];
      scan.predictor = segment[3];
      scan.point_transform = segment[5] & 0xF;
      if (!scan.table->known || scan.predictor < 1 || scan.predictor > 7 ||
          scan.point_transform >= scan.precision)
        return damaged(error, N_("its scan does not fit its frame"));
      if (restart % columns != 0)
        return DEMUR_JPEG_OTHER;
      scan.restart_rows = restart / columns;
      Bits bits = {.at = at, .end = end};
      return decode_scan(&bits, &scan, words, error);
    } else if (marker < 0xC0 || (marker >= 0xD0 && marker <= 0xD9)) {
      return damaged(error, N_("its markers are damaged"));
    }
  }
}
