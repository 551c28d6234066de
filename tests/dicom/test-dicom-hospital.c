/* Files as hospitals' systems write them, against the letter of the standard or at its edges. Each
 * is written here byte by byte (PS3.5 sections 6.1, 7.1, 7.5, A.4), twelve slices 2 mm apart of one
 * value each, so the right CT numbers follow from what is written. */
#include "dicom-fixture.h"
#include "dicom/volume.h"

#include <openjpeg.h>
#include <zlib.h>

#define N_SLICES 12
#define SIDE 16
#define PIXELS (SIDE * SIDE)

typedef struct Shape Shape;
typedef void (*Extra)(GByteArray *out, const Shape *shape, guint k);

struct Shape {
  const char *syntax; /* NULL: explicit little endian */
  gboolean big_endian, implicit;
  gboolean no_class; /* neither in the meta header nor in the data set */
  const char *charset, *name;
  const char *name_of_odd;       /* the name in every other slice; NULL: the same */
  const char *slope, *intercept; /* "": absent */
  guint16 bits_stored;
  gboolean is_signed;
  int padding; /* -1: none */
  const char *n_frames;
  Extra before_pixels, pixels; /* pixels NULL: native ones of value_of */
  guint16 high_bits;           /* set above BitsStored in every other pixel */
  gboolean wrong_lengths, bad_vrs, trailer, lengths_of_groups;
  gboolean no_position;
};

static Shape
plain(void) {
  return (Shape){.charset = "ISO_IR 100",
                 .name = "One^Person",
                 .slope = "1",
                 .intercept = "-1024",
                 .bits_stored = 12,
                 .padding = -1};
}

static guint16
value_of(guint k) {
  return (guint16)(1000 + 3 * k);
}

static void
put_u16(GByteArray *out, gboolean big, guint value) {
  const guint8 bytes[2] = {(guint8)(big ? value >> 8 : value), (guint8)(big ? value : value >> 8)};
  g_byte_array_append(out, bytes, 2);
}

static void
put_u32(GByteArray *out, gboolean big, guint32 value) {
  put_u16(out, big, big ? value >> 16 : value & 0xFFFF);
  put_u16(out, big, big ? value & 0xFFFF : value >> 16);
}

static void
put_head(GByteArray *out, const Shape *shape, guint32 tag, const char *vr, guint32 length) {
  const gboolean big = shape->big_endian;
  put_u16(out, big, tag >> 16);
  put_u16(out, big, tag & 0xFFFF);
  if (shape->implicit) {
    put_u32(out, big, length);
    return;
  }
  g_byte_array_append(out, (const guint8 *)vr, 2);
  if (strstr("OB OW SQ UN", vr) != NULL) {
    put_u16(out, big, 0);
    put_u32(out, big, length);
  } else {
    put_u16(out, big, length);
  }
}

static void
put_text(GByteArray *out, const Shape *shape, guint32 tag, const char *vr, const char *text) {
  const guint32 n = (guint32)strlen(text);
  put_head(out, shape, tag, vr, n + (n & 1));
  g_byte_array_append(out, (const guint8 *)text, n);
  if ((n & 1) != 0)
    g_byte_array_append(out, (const guint8 *)(strcmp(vr, "UI") == 0 ? "" : " "), 1);
}

static void
put_us(GByteArray *out, const Shape *shape, guint32 tag, guint value) {
  put_head(out, shape, tag, "US", shape->wrong_lengths ? 4 : 2);
  put_u16(out, shape->big_endian, value);
  if (shape->wrong_lengths)
    put_u16(out, shape->big_endian, 0);
}

static void
put_item(GByteArray *out, const Shape *shape, guint32 tag, guint32 length) {
  put_u16(out, shape->big_endian, tag >> 16);
  put_u16(out, shape->big_endian, tag & 0xFFFF);
  put_u32(out, shape->big_endian, length);
}

#define ITEM DEMUR_TAG(0xFFFE, 0xE000)
#define ITEM_END DEMUR_TAG(0xFFFE, 0xE00D)
#define SEQUENCE_END DEMUR_TAG(0xFFFE, 0xE0DD)
#define PIXEL_DATA DEMUR_TAG(0x7FE0, 0x0010)

static void
put_native(GByteArray *out, const Shape *shape, guint value, guint n) {
  put_head(out, shape, PIXEL_DATA, "OW", 2 * n);
  for (guint i = 0; i < n; i++)
    put_u16(out, shape->big_endian, value | (i % 2 == 1 ? shape->high_bits : 0));
}

/* The data set of slice k. */
static GByteArray *
data_set(const Shape *shape, guint k) {
  GByteArray *out = g_byte_array_new();
  if (shape->lengths_of_groups) { /* wrong, as retired ones often are */
    put_head(out, shape, DEMUR_TAG(0x0008, 0x0000), "UL", 4);
    put_u32(out, shape->big_endian, 4711);
  }
  put_text(out, shape, DEMUR_TAG(0x0008, 0x0005), "CS", shape->charset);
  put_text(out, shape, DEMUR_TAG(0x0008, 0x0008), "CS", "ORIGINAL\\PRIMARY\\AXIAL");
  if (!shape->no_class)
    put_text(out, shape, DEMUR_TAG(0x0008, 0x0016), "UI", "1.2.840.10008.5.1.4.1.1.2");
  g_autofree char *uid = g_strdup_printf("1.2.3.4.%u", k + 1);
  put_text(out, shape, DEMUR_TAG(0x0008, 0x0018), "UI", uid);
  put_text(out, shape, DEMUR_TAG(0x0008, 0x0060), "CS", "CT");
  put_text(out, shape, DEMUR_TAG(0x0008, 0x0070), "LO", "SIEMENS");
  if (shape->bad_vrs) {
    /* (0009,1001) without a VR, (0009,1002) with "??", (0009,1003) with blanks. */
    g_byte_array_append(out, (const guint8 *)"\x09\0\x01\x10\x04\0\0\0abcd", 12);
    g_byte_array_append(out, (const guint8 *)"\x09\0\x02\x10??\x04\0abcd", 12);
    g_byte_array_append(out, (const guint8 *)"\x09\0\x03\x10  \x04\0abcd", 12);
  }
  put_text(out, shape, DEMUR_TAG(0x0010, 0x0010), "PN",
           shape->name_of_odd != NULL && k % 2 == 1 ? shape->name_of_odd : shape->name);
  put_text(out, shape, DEMUR_TAG(0x0010, 0x0020), "LO", "P1");
  put_text(out, shape, DEMUR_TAG(0x0018, 0x0015), "CS", "CHEST");
  put_text(out, shape, DEMUR_TAG(0x0018, 0x0050), "DS", "2");
  put_text(out, shape, DEMUR_TAG(0x0020, 0x000D), "UI", "1.2.3");
  put_text(out, shape, DEMUR_TAG(0x0020, 0x000E), "UI", "1.2.3.4");
  g_autofree char *number =
      g_strdup_printf(shape->wrong_lengths ? "%u.0" : "%u", k + 1); /* no IS, but seen */
  put_text(out, shape, DEMUR_TAG(0x0020, 0x0013), "IS", number);
  g_autofree char *position = g_strdup_printf("-100\\-100\\%u", 2 * k);
  if (!shape->no_position) {
    put_text(out, shape, DEMUR_TAG(0x0020, 0x0032), "DS", position);
    put_text(out, shape, DEMUR_TAG(0x0020, 0x0037), "DS", "1\\0\\0\\0\\1\\0");
  }
  put_us(out, shape, DEMUR_TAG(0x0028, 0x0002), 1);
  put_text(out, shape, DEMUR_TAG(0x0028, 0x0004), "CS", "MONOCHROME2");
  if (shape->n_frames != NULL) {
    put_text(out, shape, DEMUR_TAG(0x0028, 0x0008), "IS", shape->n_frames);
    put_head(out, shape, DEMUR_TAG(0x0028, 0x0009), "AT", 4); /* FrameIncrementPointer */
    put_u32(out, shape->big_endian, 0x10630018);
  }
  put_us(out, shape, DEMUR_TAG(0x0028, 0x0010), SIDE);
  put_us(out, shape, DEMUR_TAG(0x0028, 0x0011), SIDE);
  put_text(out, shape, DEMUR_TAG(0x0028, 0x0030), "DS", "0.7\\0.7");
  put_us(out, shape, DEMUR_TAG(0x0028, 0x0100), 16);
  put_us(out, shape, DEMUR_TAG(0x0028, 0x0101), shape->bits_stored);
  put_us(out, shape, DEMUR_TAG(0x0028, 0x0102), shape->bits_stored - 1u);
  put_us(out, shape, DEMUR_TAG(0x0028, 0x0103), shape->is_signed ? 1 : 0);
  if (shape->padding >= 0)
    put_us(out, shape, DEMUR_TAG(0x0028, 0x0120), (guint)shape->padding);
  if (*shape->intercept != '\0')
    put_text(out, shape, DEMUR_TAG(0x0028, 0x1052), "DS", shape->intercept);
  if (*shape->slope != '\0')
    put_text(out, shape, DEMUR_TAG(0x0028, 0x1053), "DS", shape->slope);
  if (shape->before_pixels != NULL)
    shape->before_pixels(out, shape, k);
  if (shape->pixels != NULL)
    shape->pixels(out, shape, k);
  else
    put_native(out, shape, value_of(k),
               PIXELS * (shape->n_frames != NULL
                             ? (guint)g_ascii_strtoull(shape->n_frames, NULL, 10)
                             : 1));
  if (shape->trailer) { /* DataSetTrailingPadding, and zeros behind all */
    put_head(out, shape, DEMUR_TAG(0xFFFC, 0xFFFC), "OB", 6);
    g_byte_array_append(out, (const guint8 *)"\0\0\0\0\0\0\0\0\0\0", 10);
  }
  return out;
}

static void
save(const char *folder, const char *name, const Shape *shape, const GByteArray *set) {
  static const Shape explicit_little = {0};
  g_autoptr(GByteArray) out = g_byte_array_new();
  g_byte_array_set_size(out, 128);
  memset(out->data, 0, 128);
  g_byte_array_append(out, (const guint8 *)"DICM", 4);
  if (!shape->no_class)
    put_text(out, &explicit_little, DEMUR_TAG(0x0002, 0x0002), "UI", "1.2.840.10008.5.1.4.1.1.2");
  put_text(out, &explicit_little, DEMUR_TAG(0x0002, 0x0010), "UI",
           shape->syntax != NULL ? shape->syntax : "1.2.840.10008.1.2.1");
  g_byte_array_append(out, set->data, set->len);
  fixture_write(folder, name, out->data, out->len);
}

static void
save_slices(const char *folder, const Shape *shape, guint n) {
  for (guint k = 0; k < n; k++) {
    g_autofree char *name = g_strdup_printf("IM%u", k);
    g_autoptr(GByteArray) set = data_set(shape, k);
    save(folder, name, shape, set);
  }
}

static DemurImport *
import_shape(const Shape *shape, guint n) {
  g_autofree char *folder = fixture_folder();
  save_slices(folder, shape, n);
  DemurImport *import = fixture_import_folder(folder);
  fixture_remove(folder);
  return import;
}

/* Every pixel of slice k is slope x value_of(k) + intercept, and the series is accepted. */
static void
check_numbers(const Shape *shape, double slope, double intercept) {
  g_autofree char *folder = fixture_folder();
  save_slices(folder, shape, N_SLICES);
  g_autoptr(DemurImport) import = fixture_import_folder(folder);
  g_assert_cmpuint(import->skipped->len, ==, 0);
  g_assert_cmpuint(import->series->len, ==, 1);
  const DemurSeries *series = fixture_series(import, 0);
  g_assert_cmpstr(fixture_reason(series), ==, NULL);
  g_assert_true(series->accepted);
  g_assert_cmpuint(series->n_slices, ==, N_SLICES);
  demur_assert_close(series->spacing_mm, 2, 1e-9, 0);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurVolume) volume = demur_volume_read(series, NULL, NULL, &error);
  g_assert_no_error(error);
  for (guint i = 0; i < N_SLICES * PIXELS; i++)
    g_assert_cmpint(volume->hu[i], ==, (int)round(slope * value_of(i / PIXELS) + intercept));
  fixture_remove(folder);
}

static void
test_lengths_and_texts_that_do_not_fit_their_vr(void) {
  Shape shape = plain();
  shape.wrong_lengths = TRUE;
  check_numbers(&shape, 1, -1024);
}

static void
test_elements_without_a_vr_among_explicit_ones(void) {
  Shape shape = plain();
  shape.bad_vrs = TRUE;
  check_numbers(&shape, 1, -1024);
}

static void
test_group_lengths_and_trailing_padding(void) {
  Shape shape = plain();
  shape.lengths_of_groups = shape.trailer = TRUE;
  check_numbers(&shape, 1, -1024);
}

static void
test_no_sop_class_anywhere(void) {
  Shape shape = plain();
  shape.no_class = TRUE;
  check_numbers(&shape, 1, -1024);
}

/* The meta header says explicit, the data set is implicit, and the other way round. */
static void
test_the_data_set_is_not_what_its_transfer_syntax_says(void) {
  Shape shape = plain();
  shape.implicit = TRUE;
  check_numbers(&shape, 1, -1024);
  shape.implicit = FALSE;
  shape.syntax = "1.2.840.10008.1.2";
  check_numbers(&shape, 1, -1024);
}

/* PS3.5 H.3.2: the name in half-width katakana, kanji and hiragana. */
static void
test_japanese_in_three_code_tables(void) {
  Shape shape = plain();
  shape.charset = "ISO 2022 IR 13\\ISO 2022 IR 87";
  shape.name = "\xD4\xCF\xC0\xDE^\xC0\xDB\xB3=\x1B$B;3ED\x1B(J^\x1B$BB@O:\x1B(J="
               "\x1B$B$d$^$@\x1B(J^\x1B$B$?$m$&\x1B(J";
  g_autoptr(DemurImport) import = import_shape(&shape, N_SLICES);
  g_assert_cmpstr(fixture_series(import, 0)->patient_name, ==, "ﾔﾏﾀﾞ^ﾀﾛｳ=山田^太郎=やまだ^たろう");
}

/* Shift JIS where only JIS X 0201 may stand; half-width katakana alone stay what they are. */
static void
test_shift_jis_under_a_table_of_one_byte(void) {
  static const struct {
    const char *charset, *bytes, *name;
  } rows[] = {
      {"ISO_IR 13", "\x8E\x52\x93\x63^\x91\xBE\x98\x59", "山田^太郎"},
      {"ISO_IR 13", "\x83\x76\x83\x89^\x83\x5C\x83\x74", "プラ^ソフ"}, /* a backslash within */
      {"\\ISO 2022 IR 87", "\x8E\x52\x93\x63^\x91\xBE\x98\x59", "山田^太郎"},
      {"\\ISO 2022 IR 87", "\xD4\xCF\xC0\xDE^\xC0\xDB\xB3", "ﾔﾏﾀﾞ^ﾀﾛｳ"},
      {"\\ISO 2022 IR 159", "\x8E\x52\x93\x63^\x91\xBE\x98\x59", "山田^太郎"},
      {"ISO 2022 IR 6\\ISO 2022 IR 87", "YAMADA^TARO=\x8E\x52\x93\x63^\x91\xBE\x98\x59",
       "YAMADA^TARO=山田^太郎"},
      {"SHIFT_JIS", "\x8E\x52\x93\x63^\xC0\xDB\xB3", "山田^ﾀﾛｳ"},
      {"", "\x8E\x52\x93\x63^\x91\xBE\x98\x59", "山田^太郎"},
      {"", "YAMADA^TARO=\x8E\x52\x93\x63^\x91\xBE\x98\x59", "YAMADA^TARO=山田^太郎"},
      {"", "\x1B$B;3ED\x1B(B^\x1B$BB@O:\x1B(B", "山田^太郎"},
      {"", "M\xFCller^J\xF6rg", "M\xEF\xBF\xBDller^J\xEF\xBF\xBDrg"},
      {"",
       "\x8A"
       "koda^H\xE9l\xE8ne",
       "\xEF\xBF\xBDkoda^H\xEF\xBF\xBDl\xEF\xBF\xBDne"},
      {"", "\xBF\xD5\xE2\xE0\xDE\xD2",
       "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
      {"", "山田^太郎", "山田^太郎"},
      {"ISO_IR 13", "\xD4\xCF\xC0\xDE^\xC0\xDB\xB3", "ﾔﾏﾀﾞ^ﾀﾛｳ"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    Shape shape = plain();
    shape.charset = rows[i].charset;
    shape.name = rows[i].bytes;
    g_autoptr(DemurImport) import = import_shape(&shape, N_SLICES);
    g_assert_cmpstr(fixture_series(import, 0)->patient_name, ==, rows[i].name);
  }
}

/* A sequence of unknown VR before the image in a big-endian data set: what it holds is implicit
 * little endian (PS3.5 section 6.2.2), but some writers turn it too. */
static void
put_unknown_sequence(GByteArray *out, const Shape *shape, guint k) {
  const Shape inner = {.implicit = TRUE, .big_endian = shape->big_endian && k % 2 == 1};
  put_head(out, shape, DEMUR_TAG(0x0028, 0x9001), "UN", 0xFFFFFFFF);
  put_item(out, &inner, ITEM, 0xFFFFFFFF);
  put_text(out, &inner, DEMUR_TAG(0x0008, 0x1150), "UI", "1.2");
  put_item(out, &inner, ITEM_END, 0);
  put_item(out, &inner, SEQUENCE_END, 0);
}

static void
test_unknown_sequences_of_a_big_endian_set(void) {
  Shape shape = plain();
  shape.before_pixels = put_unknown_sequence;
  check_numbers(&shape, 1, -1024);
  shape.big_endian = TRUE;
  shape.syntax = "1.2.840.10008.1.2.2";
  check_numbers(&shape, 1, -1024);
}

/* "One^Person" and "ONE^PERSON^^^" are one person; "One^Other" is another. */
static void
test_empty_name_components_make_no_other_patient(void) {
  Shape shape = plain();
  shape.name_of_odd = "ONE^PERSON^^^=";
  check_numbers(&shape, 1, -1024);
  shape.name_of_odd = "One^Other";
  g_autoptr(DemurImport) import = import_shape(&shape, N_SLICES);
  g_assert_true(fixture_series(import, 0)->two_patients);
}

static void
test_one_uid_and_position_with_two_contents(void) {
  const Shape shape = plain();
  g_autofree char *folder = fixture_folder();
  save_slices(folder, &shape, N_SLICES);
  g_autoptr(GByteArray) set = data_set(&shape, 4);
  set->data[set->len - 1] ^= 1; /* a pixel */
  save(folder, "again", &shape, set);
  g_autoptr(DemurImport) import = fixture_import_folder(folder);
  const DemurSeries *series = fixture_series(import, 0);
  g_assert_cmpuint(series->n_slices, ==, N_SLICES);
  g_assert_cmpuint(series->n_other_contents, ==, 1);
  g_assert_true(fixture_warns(series, "different images claim to be the same one"));
  fixture_remove(folder);
}

/* An icon of 2 x 2 before the image, with pixel data of its own. */
static void
put_icon(GByteArray *out, const Shape *shape, guint k) {
  g_autoptr(GByteArray) icon = g_byte_array_new();
  put_us(icon, shape, DEMUR_TAG(0x0028, 0x0010), 2);
  put_us(icon, shape, DEMUR_TAG(0x0028, 0x0011), 2);
  put_us(icon, shape, DEMUR_TAG(0x0028, 0x0100), 8);
  if (k % 2 == 0) {
    put_head(icon, shape, PIXEL_DATA, "OB", DEMUR_ELEMENTS_UNDEFINED);
    put_item(icon, shape, ITEM, 0);
    put_item(icon, shape, ITEM, 4);
    g_byte_array_append(icon, (const guint8 *)"\xFF\xD8\xFF\xD9", 4);
    put_item(icon, shape, SEQUENCE_END, 0);
  } else {
    put_head(icon, shape, PIXEL_DATA, "OB", 4);
    g_byte_array_append(icon, (const guint8 *)"\x01\x02\x03\x04", 4);
  }
  const gboolean delimited = k % 4 < 2;
  put_head(out, shape, DEMUR_TAG(0x0088, 0x0200), "SQ",
           delimited ? DEMUR_ELEMENTS_UNDEFINED : icon->len + 8);
  put_item(out, shape, ITEM, delimited ? DEMUR_ELEMENTS_UNDEFINED : icon->len);
  g_byte_array_append(out, icon->data, icon->len);
  if (delimited) {
    put_item(out, shape, ITEM_END, 0);
    put_item(out, shape, SEQUENCE_END, 0);
  }
}

static void
test_an_icon_is_not_the_image(void) {
  Shape shape = plain();
  shape.before_pixels = put_icon;
  check_numbers(&shape, 1, -1024);
  shape.big_endian = TRUE;
  shape.syntax = "1.2.840.10008.1.2.2";
  check_numbers(&shape, 1, -1024);
}

static void
test_rescale_of_fractions(void) {
  Shape shape = plain();
  shape.slope = "0.5";
  shape.intercept = "-1024.5";
  check_numbers(&shape, 0.5, -1024.5);
  shape.slope = "-1"; /* descending, as some reconstructions store */
  shape.intercept = "1000";
  check_numbers(&shape, -1, 1000);
}

static void
test_no_rescale_is_told(void) {
  static const char *const rows[][2] = {{"", "-1024"}, {"0", "-1024"}, {"1", ""}, {"one", "-1024"}};
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    Shape shape = plain();
    shape.slope = rows[i][0];
    shape.intercept = rows[i][1];
    g_autoptr(DemurImport) import = import_shape(&shape, N_SLICES);
    const DemurSeries *series = fixture_series(import, 0);
    g_assert_cmpuint(series->n_without_rescale, ==, N_SLICES);
    g_assert_true(fixture_warns(series, "rescale slope or intercept absent or 0 in 12 of 12"));
  }
}

/* Bits above BitsStored are overlays or rubbish, never part of the number. */
static void
test_overlay_bits_above_the_stored_ones(void) {
  Shape shape = plain();
  shape.high_bits = 0x9000;
  check_numbers(&shape, 1, -1024);
  shape.is_signed = TRUE;
  shape.bits_stored = 12;
  check_numbers(&shape, 1, -1024);
}

/* Signed pixels of -2000 under a padding value written 63536, and unsigned pixels of 63536. */
static void
put_padded(GByteArray *out, const Shape *shape, guint k) {
  put_head(out, shape, PIXEL_DATA, "OW", 2 * PIXELS);
  for (guint i = 0; i < PIXELS; i++)
    put_u16(out, shape->big_endian, i < SIDE ? 63536 : value_of(k));
}

static void
test_padding_in_either_representation(void) {
  for (guint i = 0; i < 2; i++) {
    Shape shape = plain();
    shape.bits_stored = 16;
    shape.is_signed = i == 1;
    shape.padding = 63536;
    shape.pixels = put_padded;
    g_autofree char *folder = fixture_folder();
    save_slices(folder, &shape, N_SLICES);
    g_autoptr(DemurImport) import = fixture_import_folder(folder);
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurVolume) volume =
        demur_volume_read(fixture_series(import, 0), NULL, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(volume->n_padding, ==, N_SLICES * SIDE);
    g_assert_cmpuint(volume->n_clamped, ==, 0);
    g_assert_cmpint(volume->min_hu, ==, value_of(0) - 1024);
    g_assert_cmpint(volume->hu[0], ==, DEMUR_HU_PADDING);
    fixture_remove(folder);
  }
}

/* A plain multi-frame image tells nothing of its frames' places. */
static void
test_frames_by_increment_pointer_have_no_place(void) {
  Shape shape = plain();
  shape.n_frames = "12";
  g_autoptr(DemurImport) import = import_shape(&shape, 1);
  const DemurSeries *series = fixture_series(import, 0);
  g_assert_cmpuint(series->n_slices, ==, 12);
  g_assert_false(series->accepted);
  g_assert_nonnull(strstr(fixture_reason(series), "position absent in 12 of 12"));
}

/* OpenJPEG writes to memory. */
static OPJ_SIZE_T
write_memory(void *buffer, OPJ_SIZE_T n, void *data) {
  g_byte_array_append(data, buffer, (guint)n);
  return n;
}

static OPJ_OFF_T
skip_none(OPJ_OFF_T n, void *data) {
  return -1;
}

static OPJ_BOOL
seek_none(OPJ_OFF_T at, void *data) {
  return OPJ_FALSE;
}

static GByteArray *
jpeg_2000(gint32 value, guint precision, gboolean is_signed) {
  GByteArray *out = g_byte_array_new();
  opj_image_cmptparm_t component = {0};
  component.dx = component.dy = 1;
  component.w = component.h = SIDE;
  component.prec = precision;
  component.sgnd = is_signed ? 1 : 0;
  opj_image_t *image = opj_image_create(1, &component, OPJ_CLRSPC_GRAY);
  image->x1 = image->y1 = SIDE;
  for (guint i = 0; i < PIXELS; i++)
    image->comps[0].data[i] = value;
  opj_cparameters_t parameters;
  opj_set_default_encoder_parameters(&parameters);
  parameters.tcp_numlayers = 1;
  parameters.cp_disto_alloc = 1;
  parameters.numresolution = 3;
  opj_codec_t *codec = opj_create_compress(OPJ_CODEC_J2K);
  opj_stream_t *stream = opj_stream_create(1 << 16, OPJ_FALSE);
  opj_stream_set_user_data(stream, out, NULL);
  opj_stream_set_write_function(stream, write_memory);
  opj_stream_set_skip_function(stream, skip_none);
  opj_stream_set_seek_function(stream, seek_none);
  g_assert_true(opj_setup_encoder(codec, &parameters, image));
  g_assert_true(opj_start_compress(codec, image, stream));
  g_assert_true(opj_encode(codec, stream));
  g_assert_true(opj_end_compress(codec, stream));
  opj_stream_destroy(stream);
  opj_destroy_codec(codec);
  opj_image_destroy(image);
  if (out->len % 2 == 1)
    g_byte_array_append(out, (const guint8 *)"", 1);
  return out;
}

static void
put_fragment(GByteArray *out, const Shape *shape, const guint8 *bytes, guint length) {
  put_item(out, shape, ITEM, length);
  g_byte_array_append(out, bytes, length);
}

/* The codestream is signed and of 13 bits, whatever the header says. */
static void
put_signed_codestream(GByteArray *out, const Shape *shape, guint k) {
  g_autoptr(GByteArray) image = jpeg_2000(value_of(k) - 2000, 13, TRUE);
  put_head(out, shape, PIXEL_DATA, "OB", DEMUR_ELEMENTS_UNDEFINED);
  put_item(out, shape, ITEM, 0);
  put_fragment(out, shape, image->data, image->len);
  put_item(out, shape, SEQUENCE_END, 0);
}

static void
test_a_codestream_of_other_bits_and_sign_than_its_header(void) {
  Shape shape = plain();
  shape.syntax = "1.2.840.10008.1.2.4.90";
  shape.bits_stored = 12;
  shape.intercept = "0";
  shape.pixels = put_signed_codestream;
  check_numbers(&shape, 1, -2000);
}

/* An image in three fragments behind an empty offset table, with padding behind its end. */
static void
put_split(GByteArray *out, const Shape *shape, guint k) {
  const guint n_frames = shape->n_frames != NULL ? 3 : 1;
  put_head(out, shape, PIXEL_DATA, "OB", DEMUR_ELEMENTS_UNDEFINED);
  put_item(out, shape, ITEM, 0);
  for (guint frame = 0; frame < n_frames; frame++) {
    g_autoptr(GByteArray) image = jpeg_2000(value_of(k + frame), 12, FALSE);
    g_byte_array_append(image, (const guint8 *)"\0\0\0\0\0\0", 6);
    put_fragment(out, shape, image->data, 20);
    put_item(out, shape, ITEM, 0);
    put_fragment(out, shape, image->data + 20, 30);
    put_fragment(out, shape, image->data + 50, image->len - 50);
  }
  put_item(out, shape, SEQUENCE_END, 0);
}

static void
test_fragments_behind_an_empty_offset_table(void) {
  Shape shape = plain();
  shape.syntax = "1.2.840.10008.1.2.4.90";
  shape.pixels = put_split;
  check_numbers(&shape, 1, -1024);
  shape.n_frames = "3";
  g_autofree char *folder = fixture_folder();
  save_slices(folder, &shape, 1);
  g_autoptr(DemurImport) import = fixture_import_folder(folder);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurVolume) volume = demur_volume_read(fixture_series(import, 0), NULL, NULL, &error);
  g_assert_no_error(error);
  for (guint i = 0; i < 3 * PIXELS; i++)
    g_assert_cmpint(volume->hu[i], ==, value_of(i / PIXELS) - 1024);
  fixture_remove(folder);
}

/* Frames 0 .. 11 axial, 12 .. 23 sagittal; slope 2 in every third. */
static void
put_frame_groups(GByteArray *out, const Shape *shape, guint k) {
  put_head(out, shape, DEMUR_TAG(0x5200, 0x9230), "SQ", DEMUR_ELEMENTS_UNDEFINED);
  for (guint frame = 0; frame < 24; frame++) {
    const gboolean axial = frame < 12;
    g_autofree char *position = axial ? g_strdup_printf("-100\\-100\\%u", 2 * frame)
                                      : g_strdup_printf("%u\\-100\\0", 3 * frame);
    put_item(out, shape, ITEM, DEMUR_ELEMENTS_UNDEFINED);
    const struct {
      guint32 sequence, tag;
      const char *text;
    } rows[] = {
        {DEMUR_TAG(0x0020, 0x9113), DEMUR_TAG(0x0020, 0x0032), position},
        {DEMUR_TAG(0x0020, 0x9116), DEMUR_TAG(0x0020, 0x0037),
         axial ? "1\\0\\0\\0\\1\\0" : "0\\1\\0\\0\\0\\-1"},
        {DEMUR_TAG(0x0028, 0x9145), DEMUR_TAG(0x0028, 0x1053), frame % 3 == 0 ? "2" : "1"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
      put_head(out, shape, rows[i].sequence, "SQ", DEMUR_ELEMENTS_UNDEFINED);
      put_item(out, shape, ITEM, DEMUR_ELEMENTS_UNDEFINED);
      put_text(out, shape, rows[i].tag, "DS", rows[i].text);
      put_item(out, shape, ITEM_END, 0);
      put_item(out, shape, SEQUENCE_END, 0);
    }
    put_item(out, shape, ITEM_END, 0);
  }
  put_item(out, shape, SEQUENCE_END, 0);
}

static void
put_frames(GByteArray *out, const Shape *shape, guint k) {
  put_frame_groups(out, shape, k);
  put_head(out, shape, PIXEL_DATA, "OW", 24 * 2 * PIXELS);
  for (guint i = 0; i < 24 * PIXELS; i++)
    put_u16(out, shape->big_endian, value_of(i / PIXELS));
}

static void
test_frames_of_two_orientations_are_two_series(void) {
  Shape shape = plain();
  shape.n_frames = "24";
  shape.no_position = TRUE;
  shape.pixels = put_frames;
  g_autofree char *folder = fixture_folder();
  save_slices(folder, &shape, 1);
  g_autoptr(DemurImport) import = fixture_import_folder(folder);
  g_assert_cmpuint(import->series->len, ==, 2);
  for (guint s = 0; s < 2; s++) {
    const DemurSeries *series = fixture_series(import, s);
    g_assert_cmpuint(series->n_slices, ==, 12);
    const gboolean axial = series->axial_angle_degrees < 1;
    demur_assert_close(series->spacing_mm, axial ? 2 : 3, 1e-9, 0);
    g_assert_cmpint(series->accepted, ==, axial);
    if (!axial)
      g_assert_nonnull(strstr(fixture_reason(series), "not axial"));
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurVolume) volume = demur_volume_read(series, NULL, NULL, &error);
    g_assert_no_error(error);
    for (guint i = 0; i < 12; i++) {
      const guint frame = series->slices[i].frame;
      g_assert_cmpint(frame < 12, ==, axial);
      g_assert_cmpint(volume->hu[i * PIXELS], ==,
                      (frame % 3 == 0 ? 2 : 1) * value_of(frame) - 1024);
    }
  }
  fixture_remove(folder);
}

/* PS3.5 annex A.5 asks for a bare deflate stream; zlib's wrapping is what some writers add. */
static void
test_a_deflated_data_set_in_zlib_s_wrapping(void) {
  Shape shape = plain();
  shape.syntax = "1.2.840.10008.1.2.1.99";
  g_autofree char *folder = fixture_folder();
  for (guint k = 0; k < N_SLICES; k++) {
    g_autoptr(GByteArray) set = data_set(&shape, k);
    uLongf length = compressBound(set->len);
    g_autoptr(GByteArray) packed = g_byte_array_new();
    g_byte_array_set_size(packed, (guint)length);
    g_assert_cmpint(compress(packed->data, &length, set->data, set->len), ==, Z_OK);
    g_byte_array_set_size(packed, (guint)length);
    g_autofree char *name = g_strdup_printf("%u.dcm", k);
    save(folder, name, &shape, packed);
  }
  g_autoptr(DemurImport) import = fixture_import_folder(folder);
  const DemurSeries *series = fixture_series(import, 0);
  g_assert_true(series->accepted);
  g_assert_cmpuint(series->n_slices, ==, N_SLICES);
  fixture_remove(folder);
}

#define ADD(name) g_test_add_func("/dicom/hospital/" #name, test_##name)

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  ADD(lengths_and_texts_that_do_not_fit_their_vr);
  ADD(elements_without_a_vr_among_explicit_ones);
  ADD(group_lengths_and_trailing_padding);
  ADD(no_sop_class_anywhere);
  ADD(the_data_set_is_not_what_its_transfer_syntax_says);
  ADD(japanese_in_three_code_tables);
  ADD(shift_jis_under_a_table_of_one_byte);
  ADD(unknown_sequences_of_a_big_endian_set);
  ADD(empty_name_components_make_no_other_patient);
  ADD(one_uid_and_position_with_two_contents);
  ADD(an_icon_is_not_the_image);
  ADD(rescale_of_fractions);
  ADD(no_rescale_is_told);
  ADD(overlay_bits_above_the_stored_ones);
  ADD(padding_in_either_representation);
  ADD(frames_by_increment_pointer_have_no_place);
  ADD(a_codestream_of_other_bits_and_sign_than_its_header);
  ADD(fragments_behind_an_empty_offset_table);
  ADD(frames_of_two_orientations_are_two_series);
  ADD(a_deflated_data_set_in_zlib_s_wrapping);
  return g_test_run();
}
