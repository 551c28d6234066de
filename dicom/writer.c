#include "dicom/writer.h"
#include "base/file-output.h"
#include "base/number.h"
#include "base/sha256.h"
#include "dicom/transfer-syntax.h"

#include <inttypes.h>
#include <string.h>

struct DemurWriter {
  GByteArray *bytes; /* of the data set */
  char *sop_class_uid, *sop_instance_uid;
  guint32 last_tag;
};

DemurWriter *
demur_writer_new(const char *sop_class_uid, const char *sop_instance_uid) {
  DemurWriter *writer = g_new0(DemurWriter, 1);
  writer->bytes = g_byte_array_new();
  writer->sop_class_uid = g_strdup(sop_class_uid);
  writer->sop_instance_uid = g_strdup(sop_instance_uid);
  return writer;
}

void
demur_writer_free(DemurWriter *writer) {
  if (writer == NULL)
    return;
  g_byte_array_unref(writer->bytes);
  g_free(writer->sop_class_uid);
  g_free(writer->sop_instance_uid);
  g_free(writer);
}

static void
append_u16(GByteArray *bytes, guint16 value) {
  const guint8 two[] = {(guint8)(value & 0xFF), (guint8)(value >> 8)};
  g_byte_array_append(bytes, two, sizeof two);
}

static void
append_u32(GByteArray *bytes, guint32 value) {
  append_u16(bytes, (guint16)(value & 0xFFFF));
  append_u16(bytes, (guint16)(value >> 16));
}

static void
append_header(GByteArray *bytes, guint32 tag, DemurVr vr, guint32 length) {
  append_u16(bytes, (guint16)(tag >> 16));
  append_u16(bytes, (guint16)(tag & 0xFFFF));
  g_byte_array_append(bytes, (const guint8 *)demur_vr_name(vr), 2);
  if (demur_vr_has_long_length(vr)) {
    append_u16(bytes, 0);
    append_u32(bytes, length);
  } else {
    append_u16(bytes, (guint16)length);
  }
}

static void
append_text(GByteArray *bytes, guint32 tag, DemurVr vr, const char *text) {
  const size_t length = text != NULL ? strlen(text) : 0;
  const size_t even = length + (length & 1);
  g_return_if_fail(even < 0xFFFF);
  append_header(bytes, tag, vr, (guint32)even);
  if (length > 0)
    g_byte_array_append(bytes, (const guint8 *)text, (guint)length);
  if (even != length) {
    const guint8 pad = demur_vr_padding(vr);
    g_byte_array_append(bytes, &pad, 1);
  }
}

static void
ascend(DemurWriter *writer, guint32 tag) {
  g_return_if_fail(tag > writer->last_tag);
  writer->last_tag = tag;
}

void
demur_writer_text(DemurWriter *writer, guint32 tag, DemurVr vr, const char *text) {
  ascend(writer, tag);
  append_text(writer->bytes, tag, vr, text);
}

void
demur_writer_u16(DemurWriter *writer, guint32 tag, guint16 value) {
  ascend(writer, tag);
  append_header(writer->bytes, tag, DEMUR_VR_US, 2);
  append_u16(writer->bytes, value);
}

void
demur_writer_integer(DemurWriter *writer, guint32 tag, gint64 value) {
  g_autofree char *text = g_strdup_printf("%" PRId64, value);
  demur_writer_text(writer, tag, DEMUR_VR_IS, text);
}

void
demur_writer_decimals(DemurWriter *writer, guint32 tag, const double *values, size_t n) {
  g_autoptr(GString) text = g_string_new(NULL);
  for (size_t i = 0; i < n; i++) {
    char buffer[G_ASCII_DTOSTR_BUF_SIZE];
    demur_number_format(values[i], buffer);
    if (strlen(buffer) > 16) /* a DS value has at most 16 characters */
      g_ascii_formatd(buffer, sizeof buffer, "%.9g", values[i]);
    g_string_append_printf(text, "%s%s", i > 0 ? "\\" : "", buffer);
  }
  demur_writer_text(writer, tag, DEMUR_VR_DS, text->str);
}

void
demur_writer_words(DemurWriter *writer, guint32 tag, const guint16 *words, size_t n) {
  g_return_if_fail(n < G_MAXUINT32 / 2);
  ascend(writer, tag);
  append_header(writer->bytes, tag, DEMUR_VR_OW, (guint32)(2 * n));
  const guint start = writer->bytes->len;
  g_byte_array_set_size(writer->bytes, start + (guint)(2 * n));
  guint8 *to = writer->bytes->data + start;
  for (size_t i = 0; i < n; i++) {
    to[2 * i] = (guint8)(words[i] & 0xFF);
    to[2 * i + 1] = (guint8)(words[i] >> 8);
  }
}

gboolean
demur_writer_save(const DemurWriter *writer, const char *path, GError **error) {
  g_autoptr(GByteArray) meta = g_byte_array_new();
  static const guint8 version[] = {0, 1};
  append_header(meta, DEMUR_TAG(0x0002, 0x0001), DEMUR_VR_OB, 2);
  g_byte_array_append(meta, version, 2);
  append_text(meta, DEMUR_TAG(0x0002, 0x0002), DEMUR_VR_UI, writer->sop_class_uid);
  append_text(meta, DEMUR_TAG(0x0002, 0x0003), DEMUR_VR_UI, writer->sop_instance_uid);
  append_text(meta, DEMUR_TAG(0x0002, 0x0010), DEMUR_VR_UI, DEMUR_EXPLICIT_LITTLE_ENDIAN);
  g_autofree char *implementation = demur_writer_uid("demur implementation class");
  append_text(meta, DEMUR_TAG(0x0002, 0x0012), DEMUR_VR_UI, implementation);
  append_text(meta, DEMUR_TAG(0x0002, 0x0013), DEMUR_VR_SH, "DEMUR");

  g_autoptr(GByteArray) file = g_byte_array_new();
  g_byte_array_set_size(file, 128);
  memset(file->data, 0, 128);
  g_byte_array_append(file, (const guint8 *)"DICM", 4);
  append_header(file, DEMUR_TAG(0x0002, 0x0000), DEMUR_VR_UL, 4);
  append_u32(file, meta->len);
  g_byte_array_append(file, meta->data, meta->len);
  g_byte_array_append(file, writer->bytes->data, writer->bytes->len);
  if (!demur_file_write(path, file->data, (gssize)file->len, DEMUR_FILE_REPLACE, error))
    return FALSE;
  return TRUE;
}

char *
demur_writer_uid(const char *name) {
  DemurSha256 sha;
  demur_sha256_init(&sha);
  demur_sha256_update(&sha, name, strlen(name));
  guint8 digest[DEMUR_SHA256_BYTES];
  demur_sha256_finish(&sha, digest);
  guint64 number = 0;
  for (int i = 0; i < 8; i++)
    number = (number << 8) | digest[i];
  return g_strdup_printf("2.25.%" PRIu64, number | 1u);
}
