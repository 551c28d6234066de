#include "dicom/data-set.h"

#include <string.h>
#include <zlib.h>

#include "base/error.h"
#include "dicom/charset.h"
#include "dicom/transfer-syntax.h"

#define MAX_INFLATED_BYTES (G_GUINT64_CONSTANT(512) << 20)
#define FREE_INFLATED_BYTES (G_GUINT64_CONSTANT(32) << 20)
#define INFLATED_TIMES 32 /* CT images pack 2 to 10 to 1 */

typedef struct {
  DemurSource *source;
  char *transfer_syntax, *sop_class, *sop_instance;
  guint64 end; /* of the meta header */
  gboolean nested;
} Meta;

static DemurWalk
visit_meta(const DemurElement *element, gpointer data) {
  Meta *meta = data;
  if ((element->tag >> 16) != 0x0002)
    return DEMUR_WALK_STOP;
  if (element->length == DEMUR_ELEMENTS_UNDEFINED)
    return DEMUR_WALK_STOP;
  if (element->vr == DEMUR_VR_SQ) {
    meta->nested = TRUE;
    return DEMUR_WALK_STOP;
  }
  char **to = element->tag == DEMUR_TAG(0x0002, 0x0010)   ? &meta->transfer_syntax
              : element->tag == DEMUR_TAG(0x0002, 0x0002) ? &meta->sop_class
              : element->tag == DEMUR_TAG(0x0002, 0x0003) ? &meta->sop_instance
                                                          : NULL;
  if (to != NULL && element->length <= 256) {
    const guint8 *bytes = demur_source_peek(meta->source, element->offset, element->length);
    if (bytes != NULL) {
      g_autofree char *text = demur_charset_to_utf8((const char *)bytes, element->length, NULL);
      g_free(*to);
      *to = text != NULL && *text != '\0' ? g_steal_pointer(&text) : NULL;
    }
  }
  meta->end = element->offset + element->length;
  return DEMUR_WALK_ON;
}

/* How the first element at offset is written; FALSE where it can't be one of a DICOM data set. */
static gboolean
guess_encoding(DemurSource *source, guint64 offset, gboolean preamble, DemurEncoding *encoding) {
  const guint8 *head = demur_source_peek(source, offset, 8);
  if (head == NULL)
    return FALSE;
  const guint16 little = demur_elements_u16(head, FALSE), big = demur_elements_u16(head, TRUE);
  /* Behind a preamble any low group may come first; without one only these do. */
  const guint16 last = preamble ? 0x0020 : 0x0008;
  const gboolean is_little = little >= 0x0002 && little <= last;
  if (!is_little && !(big >= 0x0004 && big <= last))
    return FALSE;
  encoding->big_endian = !is_little;
  encoding->explicit_vr = g_ascii_isupper(head[4]) && g_ascii_isupper(head[5]);
  if (encoding->explicit_vr)
    return TRUE;
  /* Implicit: the first value must fit, and no first value is long. */
  const guint32 length = demur_elements_u32(head + 4, encoding->big_endian);
  return !encoding->big_endian && length <= 4096 &&
         length <= demur_source_size(source) - offset - 8;
}

/* A bare deflate stream (PS3.5 annex A.5), or one in zlib's wrapping, which some writers add. */
static GBytes *
inflate_rest(DemurSource *source, guint64 offset, GError **error) {
  z_stream stream = {0};
  const guint8 *head = demur_source_peek(source, offset, 2);
  const gboolean wrapped =
      head != NULL && (head[0] & 0x8F) == 0x08 && ((head[0] << 8) | head[1]) % 31 == 0;
  if (inflateInit2(&stream, wrapped ? MAX_WBITS : -MAX_WBITS) != Z_OK) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "zlib can't be started");
    return NULL;
  }
  g_autoptr(GByteArray) out = g_byte_array_new();
  guint8 chunk[65536];
  const guint64 size = demur_source_size(source);
  const guint64 most =
      MIN(MAX_INFLATED_BYTES, FREE_INFLATED_BYTES + INFLATED_TIMES * (size - offset));
  int status = Z_OK;
  while (status == Z_OK && offset < size) {
    const size_t n = (size_t)MIN((guint64)16384, size - offset);
    const guint8 *in = demur_source_peek(source, offset, n);
    if (in == NULL)
      break;
    offset += n;
    stream.next_in = (Bytef *)in;
    stream.avail_in = (uInt)n;
    do {
      stream.next_out = chunk;
      stream.avail_out = sizeof chunk;
      status = inflate(&stream, Z_NO_FLUSH);
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
        break;
      g_byte_array_append(out, chunk, (guint)(sizeof chunk - stream.avail_out));
      if (out->len > most) {
        inflateEnd(&stream);
        demur_error_set(error, DEMUR_ERROR_INPUT,
                        "the deflated data set grows to more than 32 times its size, or 512 MiB");
        return NULL;
      }
    } while (status == Z_OK && stream.avail_out == 0);
    if (status == Z_BUF_ERROR)
      status = Z_OK;
  }
  inflateEnd(&stream);
  if (status != Z_OK && status != Z_STREAM_END) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "the deflated data set is damaged");
    return NULL;
  }
  return g_byte_array_free_to_bytes(g_steal_pointer(&out));
}

void
demur_data_set_clear(DemurDataSet *set) {
  g_clear_pointer(&set->transfer_syntax_uid, g_free);
  g_clear_pointer(&set->sop_class_uid, g_free);
  g_clear_pointer(&set->sop_instance_uid, g_free);
}

gboolean
demur_data_set_has_magic(DemurSource *source) {
  const guint8 *magic = demur_source_peek(source, 128, 4);
  return magic != NULL && memcmp(magic, "DICM", 4) == 0;
}

gboolean
demur_data_set_locate(DemurSource **source, DemurDataSet *set, GError **error) {
  guint64 offset = 0;
  DemurEncoding encoding = {0};
  Meta meta = {.source = *source};
  const gboolean preamble = demur_data_set_has_magic(*source);
  g_autoptr(GError) meta_error = NULL;

  if (preamble || (guess_encoding(*source, 0, FALSE, &encoding) && !encoding.big_endian &&
                   demur_elements_u16(demur_source_peek(*source, 0, 2), FALSE) == 0x0002)) {
    offset = preamble ? 132 : 0;
    meta.end = offset;
    const DemurEncoding explicit_little = {TRUE, FALSE};
    /* The meta header ends at the first tag of another group; what stands there may be compressed,
     * so an error behind it is none of the meta header's. */
    if (!demur_elements_walk(*source, offset, explicit_little, FALSE, visit_meta, &meta,
                             &meta_error))
      g_clear_error(&meta_error);
    offset = meta.end;
  }
  g_auto(DemurDataSet) found = {.transfer_syntax_uid = meta.transfer_syntax,
                                .sop_class_uid = meta.sop_class,
                                .sop_instance_uid = meta.sop_instance};
  if (meta.nested) { /* which DCMTK would follow as deep as it goes */
    demur_error_set(error, DEMUR_ERROR_INPUT, "the file meta header holds a sequence");
    return FALSE;
  }
  const DemurTransferSyntax *syntax = demur_transfer_syntax_find(found.transfer_syntax_uid);
  if (syntax != NULL && syntax->coding == DEMUR_CODING_DEFLATED) {
    g_autoptr(GBytes) inflated = inflate_rest(*source, offset, error);
    if (inflated == NULL)
      return FALSE;
    demur_source_free(*source);
    *source = demur_source_bytes(inflated);
    offset = 0;
  }
  if (!guess_encoding(*source, offset, preamble, &encoding)) {
    if (preamble && demur_source_size(*source) <= offset)
      demur_error_set(error, DEMUR_ERROR_INPUT, "a DICOM header with nothing behind it");
    else if (preamble)
      demur_error_set(error, DEMUR_ERROR_INPUT, "a DICOM header, but no data set behind it");
    else if (demur_source_size(*source) == 0)
      demur_error_set(error, DEMUR_ERROR_INPUT, "empty file");
    else
      demur_error_set(error, DEMUR_ERROR_INPUT, "not a DICOM file");
    return FALSE;
  }

  if (found.transfer_syntax_uid == NULL || *found.transfer_syntax_uid == '\0') {
    g_free(found.transfer_syntax_uid);
    found.transfer_syntax_uid = g_strdup(encoding.big_endian    ? DEMUR_EXPLICIT_BIG_ENDIAN
                                         : encoding.explicit_vr ? DEMUR_EXPLICIT_LITTLE_ENDIAN
                                                                : DEMUR_IMPLICIT_LITTLE_ENDIAN);
  }
  found.offset = offset;
  found.encoding = encoding;
  *set = found;
  found = (DemurDataSet){0};
  return TRUE;
}

/* DCMTK takes what its dictionary calls a sequence for one, also where the VR is not written: so
 * here all that begins like a sequence is walked too. */
static DemurWalk
pass_by(const DemurElement *element, gpointer data) {
  DemurSource *source = data;
  if (element->vr != DEMUR_VR_NONE || element->length == DEMUR_ELEMENTS_UNDEFINED ||
      element->length < 8 || element->tag == DEMUR_TAG(0x7FE0, 0x0010))
    return DEMUR_WALK_ON;
  const guint8 *bytes = demur_source_peek(source, element->offset, 4);
  return bytes != NULL && demur_elements_u16(bytes, element->big_endian) == 0xFFFE
             ? DEMUR_WALK_DESCEND
             : DEMUR_WALK_ON;
}

gboolean
demur_data_set_check(DemurSource **source, GError **error) {
  g_auto(DemurDataSet) set = {0};
  return demur_data_set_locate(source, &set, error) &&
         demur_elements_walk(*source, set.offset, set.encoding, TRUE, pass_by, *source, error);
}
