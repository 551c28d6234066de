/* DICOM objects made element by element, for tests that need what DemurWriter doesn't write. */
#pragma once

#include "dicom-fixture.h"

#include <stdio.h>

typedef struct {
  guint32 tag;
  char vr[3];
  gboolean is_open; /* a sequence that is written without its length; its end stands in bytes */
  GByteArray *bytes;
} ObjectElement;

static inline void
object_clear_element(gpointer data) {
  g_byte_array_unref(((ObjectElement *)data)->bytes);
}

static inline GArray *
object_new(void) {
  GArray *object = g_array_new(FALSE, FALSE, sizeof(ObjectElement));
  g_array_set_clear_func(object, object_clear_element);
  return object;
}

static inline void
object_put(GArray *object, guint32 tag, const char *vr, gconstpointer bytes, gsize length) {
  static const guint8 blank[1] = {0};
  ObjectElement element = {.tag = tag, .bytes = g_byte_array_new()};
  memcpy(element.vr, vr, 2);
  g_byte_array_append(element.bytes, bytes, (guint)length);
  if (length % 2 == 1)
    g_byte_array_append(element.bytes, blank, 1);
  for (guint i = 0; i < object->len; i++)
    if (g_array_index(object, ObjectElement, i).tag == tag)
      g_array_remove_index(object, i--);
  g_array_append_val(object, element);
}

static inline void
object_text(GArray *object, guint32 tag, const char *vr, const char *text) {
  object_put(object, tag, vr, text, strlen(text));
}

static inline void
object_u16(GArray *object, guint32 tag, guint16 value) {
  const guint16 little = GUINT16_TO_LE(value);
  object_put(object, tag, "US", &little, sizeof little);
}

static inline int
object_compare_tags(gconstpointer a, gconstpointer b) {
  const guint32 x = ((const ObjectElement *)a)->tag, y = ((const ObjectElement *)b)->tag;
  return x < y ? -1 : x > y;
}

/* Whether elements are written without their value representation, those of the meta header apart. */
static gboolean object_is_implicit;

static inline void
object_append(GByteArray *out, const ObjectElement *element) {
  const guint16 tag[2] = {(guint16)(element->tag >> 16), (guint16)element->tag};
  const guint16 length = (guint16)element->bytes->len, zero = 0;
  const guint32 wide = element->is_open ? 0xFFFFFFFFu : element->bytes->len;
  g_byte_array_append(out, (const guint8 *)tag, 4);
  if (object_is_implicit && tag[0] != 0x0002) {
    g_byte_array_append(out, (const guint8 *)&wide, 4);
    g_byte_array_append(out, element->bytes->data, element->bytes->len);
    return;
  }
  g_byte_array_append(out, (const guint8 *)element->vr, 2);
  if (strcmp(element->vr, "OW") == 0 || strcmp(element->vr, "OB") == 0 ||
      strcmp(element->vr, "UN") == 0 || strcmp(element->vr, "UT") == 0 ||
      strcmp(element->vr, "UC") == 0 || strcmp(element->vr, "SQ") == 0) {
    g_byte_array_append(out, (const guint8 *)&zero, 2);
    g_byte_array_append(out, (const guint8 *)&wide, 4);
  } else {
    g_byte_array_append(out, (const guint8 *)&length, 2);
  }
  g_byte_array_append(out, element->bytes->data, element->bytes->len);
}

/* The elements as an item of a sequence (owned). */
static inline GByteArray *
object_item(GArray *object) {
  GByteArray *bytes = g_byte_array_new();
  g_autoptr(GByteArray) inside = g_byte_array_new();
  g_array_sort(object, object_compare_tags);
  for (guint i = 0; i < object->len; i++)
    object_append(inside, &g_array_index(object, ObjectElement, i));
  const guint16 tag[2] = {0xFFFE, 0xE000};
  const guint32 length = inside->len;
  g_byte_array_append(bytes, (const guint8 *)tag, 4);
  g_byte_array_append(bytes, (const guint8 *)&length, 4);
  g_byte_array_append(bytes, inside->data, inside->len);
  return bytes;
}

/* A sequence whose only item is inside. */
static inline void
object_sequence(GArray *object, guint32 tag, GArray *inside) {
  g_autoptr(GByteArray) item = object_item(inside);
  object_put(object, tag, "SQ", item->data, item->len);
}

/* encapsulated: the pixel data are items and their end. The preamble and the meta header hold a
 * text. */
static inline void
object_save_as(GArray *object, const char *folder, const char *name, const char *transfer_syntax,
               gboolean encapsulated) {
  static const guint8 preamble[128] = "ZANZIBAR";
  g_autoptr(GByteArray) out = g_byte_array_new();
  g_byte_array_append(out, preamble, sizeof preamble);
  g_byte_array_append(out, (const guint8 *)"DICM", 4);
  object_text(object, DEMUR_TAG(0x0002, 0x0010), "UI", transfer_syntax);
  object_text(object, DEMUR_TAG(0x0002, 0x0016), "AE", "ZANZIBAR");
  g_array_sort(object, object_compare_tags);
  for (guint i = 0; i < object->len; i++)
    object_append(out, &g_array_index(object, ObjectElement, i));
  if (encapsulated) {
    const ObjectElement *last = &g_array_index(object, ObjectElement, object->len - 1);
    g_assert_cmpuint(last->tag, ==, DEMUR_TAG(0x7FE0, 0x0010));
    memset(out->data + out->len - last->bytes->len - 4, 0xFF, 4); /* no length */
  }
  g_autofree char *path = g_build_filename(folder, name, NULL);
  FILE *file = fopen(path, "wb");
  g_assert_nonnull(file);
  g_assert_cmpuint(fwrite(out->data, 1, out->len, file), ==, out->len);
  g_assert_cmpint(fclose(file), ==, 0);
}

static inline void
object_save(GArray *object, const char *folder, const char *name) {
  object_save_as(object, folder, name,
                 object_is_implicit ? "1.2.840.10008.1.2" : "1.2.840.10008.1.2.1", FALSE);
}

/* A slice of phase 0 or 1 at z that is good in everything. */
static inline GArray *
object_slice(int phase, int k, double z, int number) {
  GArray *object = object_new();
  guint16 words[64];
  for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
    words[i] = GUINT16_TO_LE((guint16)(1000 + 100 * phase + k));
  g_autofree char *uid = g_strdup_printf("1.2.9.%d.%d", phase, k + 1);
  g_autofree char *position = g_strdup_printf("0\\0\\%g", z);
  g_autofree char *instance = g_strdup_printf("%d", number);
  object_text(object, DEMUR_TAG(0x0008, 0x0008), "CS", "ORIGINAL\\PRIMARY\\AXIAL");
  object_text(object, DEMUR_TAG(0x0008, 0x0016), "UI", "1.2.840.10008.5.1.4.1.1.2");
  object_text(object, DEMUR_TAG(0x0008, 0x0018), "UI", uid);
  object_text(object, DEMUR_TAG(0x0008, 0x0060), "CS", "CT");
  object_text(object, DEMUR_TAG(0x0010, 0x0010), "PN", "One^Person");
  object_text(object, DEMUR_TAG(0x0010, 0x0020), "LO", "P1");
  object_text(object, DEMUR_TAG(0x0018, 0x0050), "DS", "2.5");
  object_text(object, DEMUR_TAG(0x0020, 0x000D), "UI", "1.2.3");
  object_text(object, DEMUR_TAG(0x0020, 0x000E), "UI", "1.2.3.4");
  object_text(object, DEMUR_TAG(0x0020, 0x0013), "IS", instance);
  object_text(object, DEMUR_TAG(0x0020, 0x0032), "DS", position);
  object_text(object, DEMUR_TAG(0x0020, 0x0037), "DS", "1\\0\\0\\0\\1\\0");
  object_u16(object, DEMUR_TAG(0x0028, 0x0002), 1);
  object_text(object, DEMUR_TAG(0x0028, 0x0004), "CS", "MONOCHROME2");
  object_u16(object, DEMUR_TAG(0x0028, 0x0010), 8);
  object_u16(object, DEMUR_TAG(0x0028, 0x0011), 8);
  object_text(object, DEMUR_TAG(0x0028, 0x0030), "DS", "0.7\\0.7");
  object_u16(object, DEMUR_TAG(0x0028, 0x0100), 16);
  object_u16(object, DEMUR_TAG(0x0028, 0x0101), 12);
  object_u16(object, DEMUR_TAG(0x0028, 0x0102), 11);
  object_u16(object, DEMUR_TAG(0x0028, 0x0103), 0);
  object_text(object, DEMUR_TAG(0x0028, 0x1052), "DS", "-1024");
  object_text(object, DEMUR_TAG(0x0028, 0x1053), "DS", "1");
  object_put(object, DEMUR_TAG(0x7FE0, 0x0010), "OW", words, sizeof words);
  return object;
}
