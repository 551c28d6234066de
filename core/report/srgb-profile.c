/* ICC.1:2001-04: a header of 128 bytes, a table of tags (signature, offset, size), the tags' data.
 * Numbers are big-endian; XYZ values are 16.16 fixed point. */
#include "report/srgb-profile.h"

#include <math.h>
#include <string.h>

#define N_CURVE 1024
#define HEADER_SIZE 128
#define TAG_ENTRY 12

static void
put32(GByteArray *out, guint32 value) {
  const guint8 bytes[4] = {(guint8)(value >> 24), (guint8)(value >> 16), (guint8)(value >> 8),
                           (guint8)value};
  g_byte_array_append(out, bytes, 4);
}

static void
put16(GByteArray *out, guint value) {
  const guint8 bytes[2] = {(guint8)(value >> 8), (guint8)value};
  g_byte_array_append(out, bytes, 2);
}

static void
put_text(GByteArray *out, const char *text, size_t n) {
  g_byte_array_append(out, (const guint8 *)text, (guint)n);
}

static void
put_fixed(GByteArray *out, double value) {
  put32(out, (guint32)(gint32)lround(value * 65536.0));
}

static GByteArray *
xyz(double x, double y, double z) {
  GByteArray *out = g_byte_array_new();
  put_text(out, "XYZ \0\0\0\0", 8);
  put_fixed(out, x);
  put_fixed(out, y);
  put_fixed(out, z);
  return out;
}

static GByteArray *
copyright(void) {
  static const char text[] = "No copyright, use freely";
  GByteArray *out = g_byte_array_new();
  put_text(out, "text\0\0\0\0", 8);
  put_text(out, text, sizeof text);
  return out;
}

static GByteArray *
description(void) {
  static const char text[] = "sRGB IEC61966-2.1";
  GByteArray *out = g_byte_array_new();
  put_text(out, "desc\0\0\0\0", 8);
  put32(out, sizeof text);
  put_text(out, text, sizeof text);
  static const guint8 no_unicode_no_script[4 + 4 + 2 + 1 + 67] = {0};
  g_byte_array_append(out, no_unicode_no_script, sizeof no_unicode_no_script);
  return out;
}

static GByteArray *
curve(void) {
  GByteArray *out = g_byte_array_new();
  put_text(out, "curv\0\0\0\0", 8);
  put32(out, N_CURVE);
  for (int i = 0; i < N_CURVE; i++) {
    const double v = i / (N_CURVE - 1.0);
    const double linear = v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
    put16(out, (guint)lround(linear * 65535.0));
  }
  return out;
}

guchar *
demur_srgb_profile(size_t *n) {
  GByteArray *data[] = {description(),
                        copyright(),
                        xyz(0.96420, 1.00000, 0.82491),
                        xyz(0.43607, 0.22249, 0.01392),
                        xyz(0.38515, 0.71687, 0.09708),
                        xyz(0.14307, 0.06061, 0.71410),
                        curve()};
  /* The three channels share one curve. */
  static const struct {
    const char *signature;
    size_t data;
  } tags[] = {{"desc", 0}, {"cprt", 1}, {"wtpt", 2}, {"rXYZ", 3}, {"gXYZ", 4},
              {"bXYZ", 5}, {"rTRC", 6}, {"gTRC", 6}, {"bTRC", 6}};
  guint32 offsets[G_N_ELEMENTS(data)];
  guint32 size = HEADER_SIZE + 4 + TAG_ENTRY * (guint32)G_N_ELEMENTS(tags);
  for (size_t i = 0; i < G_N_ELEMENTS(data); i++) {
    offsets[i] = size;
    size += (data[i]->len + 3) & ~3u;
  }
  GByteArray *out = g_byte_array_new();
  put32(out, size);
  put32(out, 0);          /* no preferred engine */
  put32(out, 0x02400000); /* version 2.4 */
  put_text(out, "mntrRGB XYZ ", 12);
  const guint date[6] = {2000, 1, 1, 0, 0, 0};
  for (size_t i = 0; i < 6; i++)
    put16(out, date[i]);
  put_text(out, "acsp", 4);
  for (int i = 0; i < 7; i++) /* platform, flags, manufacturer, model, attributes, intent */
    put32(out, 0);
  put_fixed(out, 0.96420);
  put_fixed(out, 1.00000);
  put_fixed(out, 0.82491);
  while (out->len < HEADER_SIZE)
    put32(out, 0);
  put32(out, G_N_ELEMENTS(tags));
  for (size_t i = 0; i < G_N_ELEMENTS(tags); i++) {
    put_text(out, tags[i].signature, 4);
    put32(out, offsets[tags[i].data]);
    put32(out, data[tags[i].data]->len);
  }
  for (size_t i = 0; i < G_N_ELEMENTS(data); i++) {
    static const guint8 zeros[4] = {0};
    g_byte_array_append(out, data[i]->data, data[i]->len);
    g_byte_array_append(out, zeros, (4 - data[i]->len % 4) % 4);
    g_byte_array_unref(data[i]);
  }
  *n = out->len;
  return g_byte_array_free(out, FALSE);
}
