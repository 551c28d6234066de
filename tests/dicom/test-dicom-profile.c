/* Nothing planted in an original is left in its de-identified copy: PS3.15's table attribute by
 * attribute, at the root and within a sequence that stays; a text in every attribute that may stay,
 * in every value representation; bits, bytes and segments around the pixels. And the spans that
 * dates and times move by. */
#define _GNU_SOURCE
#include "dicom/deidentify.h"
#include "dicom/deidentify-values.h"
#include "confidentiality-table.h"
#include "multiframe-fixture.h"

#define MARK "ZANZIBAR"

static const char key[] = "a key of the tests, not secret";

/* All bytes of all copies of the folder's files, and their names. Owned by the caller. */
static GByteArray *
copies_of(const char *folder, gsize n_expected) {
  g_autofree char *out = fixture_folder();
  const char *paths[] = {folder, NULL};
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurDeidentified) result =
      demur_deidentify(paths, out, key, strlen(key), NULL, NULL, &error);
  g_assert_no_error(error);
  if (result->n_written != n_expected)
    g_error("%zu copies, %zu expected: %s", result->n_written, n_expected,
            result->skipped->len > 0 ? ((DemurSkipped *)result->skipped->pdata[0])->reason : "");
  GByteArray *all = g_byte_array_new();
  g_autoptr(GPtrArray) waiting = g_ptr_array_new_with_free_func(g_free);
  g_ptr_array_add(waiting, g_strdup(out));
  while (waiting->len > 0) {
    g_autofree char *path = g_ptr_array_steal_index(waiting, waiting->len - 1);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    const char *name;
    g_byte_array_append(all, (const guint8 *)path, (guint)strlen(path));
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL)
      g_ptr_array_add(waiting, g_build_filename(path, name, NULL));
    g_autofree char *bytes = NULL;
    gsize n;
    if (dir == NULL && g_file_get_contents(path, &bytes, &n, NULL))
      g_byte_array_append(all, (const guint8 *)bytes, (guint)n);
  }
  fixture_remove(out);
  return all;
}

static void
assert_gone(const GByteArray *bytes, const char *text) {
  g_autofree char *lower = g_ascii_strdown(text, -1);
  const guint8 *at = memmem(bytes->data, bytes->len, text, strlen(text));
  at = at != NULL ? at : memmem(bytes->data, bytes->len, lower, strlen(lower));
  if (at != NULL)
    g_error("\"%.24s\" is left", (const char *)at);
}

/* A text of no date, number or code, another for each tag. */
static void
plant(GArray *object, guint32 tag, const char *vr, guint i) {
  g_autofree char *text =
      strcmp(vr, "UI") == 0 ? g_strdup_printf("1.2.77.%u", i) : g_strdup_printf(MARK "%03u", i);
  if (strcmp(vr, "PN") == 0 || strcmp(vr, "CS") == 0)
    text[strlen(text) - 3] = '\0';
  object_text(object, tag, vr, text);
}

static GArray *
table_planted(void) {
  GArray *object = object_new();
  for (guint i = 0; i < G_N_ELEMENTS(profile_values); i++)
    plant(object, profile_values[i], "LO", i);
  for (guint i = 0; i < G_N_ELEMENTS(profile_uids); i++)
    plant(object, profile_uids[i], "UI", i);
  return object;
}

static void
test_the_table_of_the_standard(void) {
  g_assert_cmpuint(G_N_ELEMENTS(profile_values) + G_N_ELEMENTS(profile_uids), >, 500);
  g_autofree char *folder = fixture_folder();
  g_autoptr(GArray) planted = table_planted();
  g_autoptr(GArray) root = object_slice(0, 0, 0, 1);
  object_take(root, planted);
  object_save(root, folder, "root.dcm");
  /* Within the exposure's sequence, which stays. */
  g_autoptr(GArray) nested = object_slice(0, 1, 2.5, 2);
  g_autoptr(GByteArray) item = object_item(planted);
  object_put(nested, DEMUR_TAG(0x0018, 0x9321), "SQ", item->data, item->len);
  object_save(nested, folder, "nested.dcm");
  g_autoptr(GByteArray) bytes = copies_of(folder, 2);
  assert_gone(bytes, MARK);
  assert_gone(bytes, "1.2.77.");
  fixture_remove(folder);
}

/* Elements that a CT image needs, though empty (type 2): what can't stay of them is emptied. */
static const guint32 needed_empty[] = {DEMUR_TAG(0x0008, 0x0020), DEMUR_TAG(0x0008, 0x0030),
                                       DEMUR_TAG(0x0008, 0x0070), DEMUR_TAG(0x0018, 0x0050),
                                       DEMUR_TAG(0x0018, 0x0060), DEMUR_TAG(0x0020, 0x0011),
                                       DEMUR_TAG(0x0020, 0x0012), DEMUR_TAG(0x0020, 0x0013),
                                       DEMUR_TAG(0x0020, 0x0060), DEMUR_TAG(0x0020, 0x1040)};

static void
test_what_a_ct_image_needs_is_left_empty(void) {
  g_autofree char *folder = fixture_folder();
  g_autoptr(GArray) object = object_slice(0, 0, 0, 1);
  for (guint i = 0; i < G_N_ELEMENTS(needed_empty); i++)
    object_text(object, needed_empty[i], "LO", MARK);
  object_save(object, folder, "1.dcm");
  g_autoptr(GByteArray) bytes = copies_of(folder, 1);
  assert_gone(bytes, MARK);
  for (guint i = 0; i < G_N_ELEMENTS(needed_empty); i++) {
    const guint32 tag = needed_empty[i];
    const guint8 head[] = {(guint8)(tag >> 16), (guint8)(tag >> 24), (guint8)tag,
                           (guint8)(tag >> 8)};
    const guint8 *at = memmem(bytes->data, bytes->len, head, sizeof head);
    if (at == NULL)
      g_error("%08X is missing", tag);
    g_assert_cmpuint(at[6] | at[7], ==, 0); /* its length, behind two letters of VR */
  }
  fixture_remove(folder);
}

/* What says how the pixels are to be read can't be anything else. */
static gboolean
is_needed(guint32 tag) {
  return (tag >= DEMUR_TAG(0x0028, 0x0002) && tag <= DEMUR_TAG(0x0028, 0x0103)) ||
         tag == DEMUR_TAG(0x0008, 0x0016) || tag == DEMUR_TAG(0x7FE0, 0x0010);
}

/* Bytes [n], or a text padded as its VR is (n 0), in everything that may stay; how many. */
static guint
plant_bytes(GArray *object, const char *vr, const char *bytes, gsize n_bytes) {
  static const guint16 groups[] = {0x0008, 0x0010, 0x0012, 0x0018, 0x0020, 0x0028, 0x2050};
  guint n = 0;
  for (size_t g = 0; g < G_N_ELEMENTS(groups); g++)
    for (guint32 e = 0; e <= 0xFFFF; e++) {
      const guint32 tag = DEMUR_TAG(groups[g], e);
      if (!demur_deidentify_may_stand(tag) || is_needed(tag))
        continue;
      if (n_bytes > 0)
        object_put(object, tag, vr, bytes, n_bytes);
      else
        object_text(object, tag, vr, bytes);
      n++;
    }
  return n;
}

static guint
plant_text(GArray *object, const char *vr, const char *text) {
  return plant_bytes(object, vr, text, 0);
}

static guint
plant_everywhere(GArray *object, const char *vr) {
  const char *text = strcmp(vr, "FL") == 0   ? MARK MARK MARK MARK "ZANZ"
                     : strcmp(vr, "US") == 0 ? MARK MARK MARK
                     : strcmp(vr, "UL") == 0 ? MARK MARK MARK MARK MARK
                     : strcmp(vr, "AT") == 0 ? MARK MARK MARK MARK MARK
                                             : MARK;
  return plant_text(object, vr, text);
}

static const char *const planted_vrs[] = {"LO", "SH", "ST", "LT", "UT", "UC", "CS", "DS",
                                          "IS", "UI", "DA", "TM", "DT", "AE", "AS", "PN",
                                          "UN", "OB", "OW", "FD", "FL", "US", "UL", "AT"};

static void
test_a_text_in_everything_that_may_stay(void) {
  for (size_t v = 0; v < G_N_ELEMENTS(planted_vrs); v++) {
    g_autofree char *folder = fixture_folder();
    g_autoptr(GArray) object = object_slice(0, 0, 0, 1);
    const guint n = plant_everywhere(object, planted_vrs[v]);
    g_assert_cmpuint(n, >, 400);
    /* The object's own UIDs, without which nothing is copied. */
    object_text(object, DEMUR_TAG(0x0008, 0x0018), "UI", "1.2.9.1");
    object_text(object, DEMUR_TAG(0x0020, 0x000D), "UI", "1.2.3");
    object_text(object, DEMUR_TAG(0x0020, 0x000E), "UI", "1.2.3.4");
    object_text(object, DEMUR_TAG(0x0028, 0x0301), "CS", "NO");
    object_save(object, folder, "1.dcm");
    g_test_message("%s: %u attributes", planted_vrs[v], n);
    g_autoptr(GByteArray) bytes = copies_of(folder, 1);
    assert_gone(bytes, MARK);
    fixture_remove(folder);
  }
}

/* A short name as numbers, which each would be a number that may stay. */
static void
test_names_spelled_by_numbers(void) {
  static const struct {
    const char *vr, *name;
    gsize n_bytes; /* NULs up to it behind the name; 0: none */
  } rows[] = {{"US", "ZANZIBAR", 0}, {"US", "JANE", 0},      {"SS", "ZANZIBAR", 0},
              {"UL", "JANE", 0},     {"UL", "ZANZIBAR", 0},  {"SL", "ZANZIBAR", 0},
              {"AT", "ZANZIBAR", 0}, {"AT", "JANE", 0},      {"FL", "JANEANNE", 0},
              {"FD", "QUENT^5@", 0}, {"US", "O'HARA-W", 0},  {"UL", "12345678", 0},
              {"UL", "SMITH", 8},    {"US", "SMITH", 6},     {"UL", "JANE MILLER", 12},
              {"UL", "QUENTIN", 32}, {"UL", "M\xFCller", 8}, {"AT", "\xD6sterlund", 12}};
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    g_autofree char *folder = fixture_folder();
    g_autoptr(GArray) object = object_slice(0, 0, 0, 1);
    char padded[32] = {0};
    memcpy(padded, rows[r].name, strlen(rows[r].name));
    g_assert_cmpuint(plant_bytes(object, rows[r].vr, padded, rows[r].n_bytes), >, 400);
    object_text(object, DEMUR_TAG(0x0008, 0x0018), "UI", "1.2.9.1");
    object_text(object, DEMUR_TAG(0x0020, 0x000D), "UI", "1.2.3");
    object_text(object, DEMUR_TAG(0x0020, 0x000E), "UI", "1.2.3.4");
    object_text(object, DEMUR_TAG(0x0028, 0x0301), "CS", "NO");
    object_save(object, folder, "1.dcm");
    g_test_message("%s %s", rows[r].vr, rows[r].name);
    g_autoptr(GByteArray) bytes = copies_of(folder, 1);
    assert_gone(bytes, rows[r].name);
    fixture_remove(folder);
  }
}

/* The same in functional groups of multi-frame objects, the shared ones and a frame's: one that is
 * read, what was taken over unassigned, anatomy, waveforms, and private sequences of a maker; and in
 * the bits that no pixel of a frame uses. */
static void
test_functional_groups(void) {
  static const guint32 groups[] = {
      MULTIFRAME_CONTENT,        DEMUR_TAG(0x0018, 0x9314), MULTIFRAME_UNASSIGNED,
      DEMUR_TAG(0x0020, 0x9170), DEMUR_TAG(0x0020, 0x9071), DEMUR_TAG(0x0008, 0x9124),
      DEMUR_TAG(0x0040, 0x9096), DEMUR_TAG(0x5400, 0x0100), DEMUR_TAG(0x0021, 0x1001),
      DEMUR_TAG(0x0018, 0x9477), DEMUR_TAG(0x0028, 0x9110), DEMUR_TAG(0x0029, 0x10FE)};
  static const char text[] = MARK "^QUENTIN 1950";
  for (size_t v = 0; v < G_N_ELEMENTS(planted_vrs); v++) {
    g_autofree char *folder = fixture_folder();
    g_autoptr(GArray) everywhere = object_new();
    (void)plant_everywhere(everywhere, planted_vrs[v]);
    for (guint g = 0; g < G_N_ELEMENTS(groups); g++) {
      g_autoptr(GArray) values = object_new(), shared = object_new();
      object_take(values, everywhere);
      object_text(values, DEMUR_TAG(0x0021, 0x0010), "LO", text);
      object_text(values, DEMUR_TAG(0x0008, 0x103E), "LO", text);
      object_text(values, DEMUR_TAG(0x0020, 0x4000), "LT", text);
      object_text(values, DEMUR_TAG(0x6000, 0x3000), "OW", text);
      object_text(values, DEMUR_TAG(0x5000, 0x3000), "OW", text);
      object_sequence(values, DEMUR_TAG(0x0021, 0x1002), everywhere);
      object_sequence(values, DEMUR_TAG(0x0018, 0x9325), everywhere);
      object_sequence(shared, groups[g], values);
      const MultiframeFrame frames[2] = {{0, 0, 0, 1}, {0, 1, 2.5, 2}};
      const MultiframeMore more[2] = {{groups[g], values}, {0, NULL}};
      g_autoptr(GArray) object = multiframe_object(frames, more, 2, g);
      if (g % 2 != 0)
        object_sequence(object, MULTIFRAME_SHARED, shared);
      guint16 words[128] = {0};
      for (size_t i = 0; i < 2 * strlen(text); i++)
        words[80 + i] = (guint16)(((guint)(text[i / 2] >> (4 * (i % 2))) & 0xFu) << 12);
      object_put(object, DEMUR_TAG(0x7FE0, 0x0010), "OW", words, sizeof words);
      g_autofree char *name = g_strdup_printf("%u.dcm", g);
      object_save(object, folder, name);
    }
    g_autoptr(GByteArray) bytes = copies_of(folder, G_N_ELEMENTS(groups));
    assert_gone(bytes, MARK);
    assert_gone(bytes, "QUENTIN");
    const guint8 zeros[256] = {0};
    guint n = 0;
    for (const guint8 *at = bytes->data;
         (at = memmem(at, (size_t)(bytes->data + bytes->len - at), zeros, sizeof zeros)) != NULL;
         at += sizeof zeros)
      n++;
    g_assert_cmpuint(n, >=, G_N_ELEMENTS(groups));
    fixture_remove(folder);
  }
}

static void
test_around_native_pixels(void) {
  static const char text[] = MARK "^QUENTIN 1950";
  g_autofree char *folder = fixture_folder();
  for (int kind = 0; kind < 4; kind++) {
    g_autoptr(GArray) object = object_slice(0, kind, 2.5 * kind, kind + 1);
    guint16 words[128] = {0};
    memcpy(words + 64, text, sizeof text);
    for (size_t i = 0; i < 8 * strlen(text) / 4 && i < 64; i++) {
      const guint nibble = (guint)(text[i / 2] >> (4 * (i % 2))) & 0xFu;
      words[i] = (guint16)(kind == 1 ? nibble : nibble << 12);
    }
    if (kind == 1) { /* twelve bits on top: the text lies below */
      object_u16(object, DEMUR_TAG(0x0028, 0x0102), 15);
    } else if (kind == 2) { /* signed, and the text above the sign */
      object_u16(object, DEMUR_TAG(0x0028, 0x0103), 1);
    }
    object_put(object, DEMUR_TAG(0x7FE0, 0x0010), "OW", words,
               kind == 3 ? 2 * 64 + sizeof text : 2 * 64);
    if (kind == 3)
      object_text(object, DEMUR_TAG(0xFFFC, 0xFFFC), "OB", text);
    g_autofree char *name = g_strdup_printf("%d.dcm", kind);
    object_save(object, folder, name);
  }
  g_autoptr(GByteArray) bytes = copies_of(folder, 4);
  assert_gone(bytes, MARK);
  /* The nibbles of the text were all the pixels held. */
  const guint8 zeros[128] = {0};
  guint n = 0;
  for (const guint8 *at = bytes->data;
       (at = memmem(at, (size_t)(bytes->data + bytes->len - at), zeros, sizeof zeros)) != NULL;
       at += sizeof zeros)
    n++;
  g_assert_cmpuint(n, >=, 4);
  fixture_remove(folder);
}

/* PackBits of one plane of zeros. */
static void
append_zeros(GByteArray *out) {
  const guint8 run[2] = {(guint8)(1 - 64), 0};
  g_byte_array_append(out, run, sizeof run);
}

static void
append_item(GByteArray *out, const void *bytes, guint length) {
  const guint16 tag[2] = {0xFFFE, 0xE000};
  g_byte_array_append(out, (const guint8 *)tag, 4);
  g_byte_array_append(out, (const guint8 *)&length, 4);
  if (length > 0)
    g_byte_array_append(out, bytes, length);
}

/* A text in the offset table, behind the segments of the stream, and in a fragment of its own. */
static void
test_around_compressed_pixels(void) {
  static const char text[] = MARK "^QUENTIN 1950  ";
  g_autofree char *folder = fixture_folder();
  g_autoptr(GArray) object = object_slice(0, 0, 0, 1);
  g_autoptr(GByteArray) stream = g_byte_array_new(), pixels = g_byte_array_new();
  const guint32 head[16] = {2, 64, 66};
  const guint16 end[4] = {0xFFFE, 0xE0DD, 0, 0};
  g_byte_array_append(stream, (const guint8 *)head, sizeof head);
  append_zeros(stream);
  append_zeros(stream);
  g_byte_array_append(stream, (const guint8 *)text, sizeof text);
  append_item(pixels, text, 24);
  append_item(pixels, stream->data, stream->len);
  append_item(pixels, text, 24);
  g_byte_array_append(pixels, (const guint8 *)end, sizeof end);
  object_put(object, DEMUR_TAG(0x7FE0, 0x0010), "OB", pixels->data, pixels->len);
  object_save_as(object, folder, "1.dcm", "1.2.840.10008.1.2.5", TRUE);
  g_autoptr(GByteArray) bytes = copies_of(folder, 1);
  assert_gone(bytes, MARK);
  fixture_remove(folder);
}

static void
append_segment(GByteArray *out, guint8 marker, const char *text) {
  const guint8 head[4] = {0xFF, marker, 0, (guint8)(2 + strlen(text))};
  g_byte_array_append(out, head, sizeof head);
  g_byte_array_append(out, (const guint8 *)text, (guint)strlen(text));
}

/* A frame of JPEG lossless by ITU-T T.81 annex H, 8 x 8 pixels of 12 bits that all are 2,048: each
 * is as predicted, and a difference of 0 has the one code there is, the bit 0. Comments and
 * application segments stand wherever they may; behind: a text behind its end. */
static void
append_jpeg(GByteArray *out, gboolean behind) {
  static const char text[] = MARK "^QUENTIN 1950";
  static const guint8 start[] = {0xFF, 0xD8};
  static const guint8 codes[] = {0xFF, 0xC4, 0, 20, 0, 1, 0, 0, 0, 0, 0,
                                 0,    0,    0, 0,  0, 0, 0, 0, 0, 0, 0};
  static const guint8 frame[] = {0xFF, 0xC3, 0, 11, 12, 0, 8, 0, 8, 1, 1, 0x11, 0};
  static const guint8 scan[] = {0xFF, 0xDA, 0, 8, 1, 1, 0, 1, 0,    0,
                                0,    0,    0, 0, 0, 0, 0, 0, 0xFF, 0xD9};
  g_autoptr(GByteArray) stream = g_byte_array_new();
  g_byte_array_append(stream, start, sizeof start);
  append_segment(stream, 0xE0, text);
  append_segment(stream, 0xFE, text);
  g_byte_array_append(stream, codes, sizeof codes);
  append_segment(stream, 0xEF, text);
  g_byte_array_append(stream, frame, sizeof frame);
  append_segment(stream, 0xFE, text);
  g_byte_array_append(stream, scan, sizeof scan);
  if (behind)
    g_byte_array_append(stream, (const guint8 *)text, sizeof text);
  if (stream->len % 2 != 0)
    g_byte_array_append(stream, (const guint8 *)"", 1);
  append_item(out, stream->data, stream->len);
}

/* Two frames; where anything stands behind the end of one the object is refused by name. */
static void
test_comments_of_compressed_frames(void) {
  for (int behind = 0; behind < 2; behind++) {
    g_autofree char *folder = fixture_folder();
    const MultiframeFrame frames[2] = {{0, 0, 0, 1}, {0, 1, 2.5, 2}};
    const MultiframeMore none[2] = {{0, NULL}, {0, NULL}};
    g_autoptr(GArray) object = multiframe_object(frames, none, 2, 0);
    g_autoptr(GByteArray) pixels = g_byte_array_new();
    const guint16 end[4] = {0xFFFE, 0xE0DD, 0, 0};
    append_item(pixels, NULL, 0);
    append_jpeg(pixels, FALSE);
    append_jpeg(pixels, behind);
    g_byte_array_append(pixels, (const guint8 *)end, sizeof end);
    object_put(object, DEMUR_TAG(0x7FE0, 0x0010), "OB", pixels->data, pixels->len);
    object_save_as(object, folder, "1.dcm", "1.2.840.10008.1.2.4.70", TRUE);
    g_autoptr(GByteArray) bytes = copies_of(folder, behind ? 0 : 1);
    assert_gone(bytes, MARK);
    assert_gone(bytes, "QUENTIN");
    guint8 grey[256];
    for (size_t i = 0; i < sizeof grey; i++)
      grey[i] = i % 2 == 0 ? 0x00 : 0x08;
    g_assert_true(behind || memmem(bytes->data, bytes->len, grey, sizeof grey) != NULL);
    fixture_remove(folder);
  }
}

static GArray *
planted_in(guint32 tag, const char *vr) {
  GArray *object = object_new();
  object_text(object, tag, vr, MARK "^QUENTIN 1950");
  return object;
}

/* Groups and sequences that hold pictures, drawings, documents and what a maker wants: private
 * elements with and without a creator, overlays, curves, palettes, icons, waveforms, spectra, digital
 * signatures, attributes of before; at the root, and some within a sequence that stays. */
static void
test_where_else_a_text_can_be(void) {
  static const struct {
    guint32 tag;
    const char *vr;
  } places[] = {{DEMUR_TAG(0x0009, 0x0010), "LO"}, {DEMUR_TAG(0x0009, 0x1001), "LO"},
                {DEMUR_TAG(0x0029, 0x1010), "OB"}, {DEMUR_TAG(0x7FE1, 0x0010), "LO"},
                {DEMUR_TAG(0x7FE1, 0x1010), "UN"}, {DEMUR_TAG(0x0019, 0x2005), "UT"},
                {DEMUR_TAG(0x6000, 0x0022), "LO"}, {DEMUR_TAG(0x6000, 0x1500), "LO"},
                {DEMUR_TAG(0x6000, 0x3000), "OW"}, {DEMUR_TAG(0x6000, 0x4000), "LT"},
                {DEMUR_TAG(0x601E, 0x3000), "OW"}, {DEMUR_TAG(0x5000, 0x0022), "LO"},
                {DEMUR_TAG(0x5000, 0x3000), "OW"}, {DEMUR_TAG(0x501E, 0x3000), "OB"},
                {DEMUR_TAG(0x5000, 0x200C), "OW"}, {DEMUR_TAG(0x0028, 0x1221), "OW"},
                {DEMUR_TAG(0x0028, 0x3006), "OW"}, {DEMUR_TAG(0x0042, 0x0011), "OB"},
                {DEMUR_TAG(0x0042, 0x0010), "ST"}, {DEMUR_TAG(0x5600, 0x0020), "OW"},
                {DEMUR_TAG(0x7FE0, 0x0008), "OW"}, {DEMUR_TAG(0x7FE0, 0x0020), "OW"},
                {DEMUR_TAG(0x4FFE, 0x0001), "UN"}, {DEMUR_TAG(0xFFFA, 0xFFFA), "UN"},
                {DEMUR_TAG(0x0040, 0xA160), "UT"}, {DEMUR_TAG(0x0070, 0x0006), "ST"},
                {DEMUR_TAG(0x4008, 0x010B), "ST"}, {DEMUR_TAG(0x0088, 0x0904), "LO"},
                {DEMUR_TAG(0x0032, 0x4000), "LT"}, {DEMUR_TAG(0x0038, 0x0300), "LO"},
                {DEMUR_TAG(0x0013, 0x0010), "LO"}, {DEMUR_TAG(0x3006, 0x0026), "LO"}};
  static const guint32 sequences[] = {
      DEMUR_TAG(0x0008, 0x1140), DEMUR_TAG(0x0008, 0x2112), DEMUR_TAG(0x0018, 0x9321),
      DEMUR_TAG(0x0040, 0x0275), DEMUR_TAG(0x0040, 0xA730), DEMUR_TAG(0x0088, 0x0200),
      DEMUR_TAG(0x0400, 0x0561), DEMUR_TAG(0x5400, 0x0100), DEMUR_TAG(0x0070, 0x0001),
      DEMUR_TAG(0x5200, 0x9229), DEMUR_TAG(0x5200, 0x9230), DEMUR_TAG(0x0012, 0x0064),
      DEMUR_TAG(0x0008, 0x9215), DEMUR_TAG(0x0009, 0x1099)};
  static const struct {
    guint32 tag;
    const char *vr;
  } inside[] = {{DEMUR_TAG(0x0008, 0x103E), "LO"}, {DEMUR_TAG(0x0010, 0x0010), "PN"},
                {DEMUR_TAG(0x0009, 0x1001), "LO"}, {DEMUR_TAG(0x0020, 0x9056), "SH"},
                {DEMUR_TAG(0x0040, 0xA160), "UT"}, {DEMUR_TAG(0x7FE0, 0x0010), "OB"}};
  g_autofree char *folder = fixture_folder();
  gsize n = 0;
  for (gsize p = 0; p < G_N_ELEMENTS(places); p++) {
    g_autoptr(GArray) object = object_slice(0, (int)n, 2.5 * (double)n, (int)n + 1);
    object_text(object, places[p].tag, places[p].vr, MARK "^QUENTIN 1950");
    g_autofree char *name = g_strdup_printf("%" G_GSIZE_FORMAT ".dcm", n++);
    object_save(object, folder, name);
  }
  for (gsize s = 0; s < G_N_ELEMENTS(sequences); s++)
    for (gsize i = 0; i < G_N_ELEMENTS(inside); i++) {
      g_autoptr(GArray) object = object_slice(0, (int)n, 2.5 * (double)n, (int)n + 1);
      g_autoptr(GArray) text = planted_in(inside[i].tag, inside[i].vr);
      /* Two levels down too, as functional groups of multi-frame objects are. */
      g_autoptr(GArray) outer = object_new();
      object_sequence(outer, DEMUR_TAG(0x0018, 0x9301), text);
      object_sequence(object, sequences[s], (n & 1u) != 0 ? text : outer);
      g_autofree char *name = g_strdup_printf("%" G_GSIZE_FORMAT ".dcm", n++);
      object_save(object, folder, name);
    }
  /* Floating-point pixel data are refused by name. */
  g_autoptr(GByteArray) bytes = copies_of(folder, n - 1);
  assert_gone(bytes, MARK);
  assert_gone(bytes, "QUENTIN");
  fixture_remove(folder);
}

static void
test_cases_of_others(void) {
  static const char *const folders[] = {"cases/volumes/deid_b", "cases/volumes/deid_in"};
  static const gsize n[] = {3, 18};
  for (size_t i = 0; i < G_N_ELEMENTS(folders); i++) {
    g_autofree char *folder = demur_test_shared(folders[i]);
    if (folder == NULL)
      return;
    g_autoptr(GByteArray) bytes = copies_of(folder, n[i]);
    static const char *const gone[] = {"ZANZIBAR", "Zanzibar", "Quentin", "SMITH"};
    for (size_t k = 0; k < G_N_ELEMENTS(gone); k++)
      assert_gone(bytes, gone[k]);
  }
}

/* By hand: one day and an hour back. */
static void
test_dates_and_times_move_together(void) {
  static const struct {
    const char *date, *time, *new_date, *new_time;
  } rows[] = {
      {"20240302", "120000.25", "20240301", "110000.25"},
      {"20240301", "001000", "20240228", "231000"}, /* over midnight; 2024 has a 29th */
      {"20240301", NULL, "20240229", ""},
      {"", "0010", "", "231000"},
      {"20240301", "Zanzibar", "20240229", ""},
      {"2024030A", "12", "", "110000"},
      {"20240301", "120000.Zanz", "20240229", ""},
      {"20240301 ", "12 ", "20240229", "110000"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *date = NULL, *time = NULL;
    demur_deidentify_shift(rows[i].date, rows[i].time, 1, 3600, &date, &time);
    g_assert_cmpstr(date, ==, rows[i].new_date);
    g_assert_cmpstr(time, ==, rows[i].new_time);
  }
  static const char *const moments[][2] = {{"20240301001000.5+0100", "20240228231000.5"},
                                           {"20240301", "20240229"},
                                           {"20240301Zanzibar", ""},
                                           {"2024", ""}};
  for (size_t i = 0; i < G_N_ELEMENTS(moments); i++) {
    g_autofree char *moved = demur_deidentify_shift_moment(moments[i][0], 1, 3600);
    g_assert_cmpstr(moved, ==, moments[i][1]);
  }
}

static void
test_values_that_are_known_stay(void) {
  static const struct {
    char *(*clean)(const char *text);
    const char *text, *left;
  } rows[] = {
      {demur_deidentify_numbers, "0.703125\\-1e2", "0.703125\\-1e2"},
      {demur_deidentify_numbers, "2.5\\SMITH", "2.5\\"},
      {demur_deidentify_numbers, "12345678901", ""},
      {demur_deidentify_codes, "ORIGINAL\\PRIMARY\\AXIAL\\CT_SOM5 SPI", NULL},
      {demur_deidentify_codes, "ORIGINAL\\SMITH JANE\\AXIAL", "ORIGINAL\\\\AXIAL"},
      {demur_deidentify_kernel, "Br38f\\3", NULL},
      {demur_deidentify_kernel, "FC51", NULL},
      {demur_deidentify_kernel, "SMITH50", ""},
      {demur_deidentify_filter, "WEDGE_2", NULL},
      {demur_deidentify_filter, "SMITH", ""},
      {demur_deidentify_vendor, "SIEMENS Jane Smith", "Siemens"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *left = rows[i].clean(rows[i].text);
    g_assert_cmpstr(left, ==, rows[i].left != NULL ? rows[i].left : rows[i].text);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/dicom/profile/table", test_the_table_of_the_standard);
  g_test_add_func("/dicom/profile/texts", test_a_text_in_everything_that_may_stay);
  g_test_add_func("/dicom/profile/names-spelled-by-numbers", test_names_spelled_by_numbers);
  g_test_add_func("/dicom/profile/empty", test_what_a_ct_image_needs_is_left_empty);
  g_test_add_func("/dicom/profile/native", test_around_native_pixels);
  g_test_add_func("/dicom/profile/compressed", test_around_compressed_pixels);
  g_test_add_func("/dicom/profile/groups", test_functional_groups);
  g_test_add_func("/dicom/profile/comments", test_comments_of_compressed_frames);
  g_test_add_func("/dicom/profile/elsewhere", test_where_else_a_text_can_be);
  g_test_add_func("/dicom/profile/cases", test_cases_of_others);
  g_test_add_func("/dicom/profile/moments", test_dates_and_times_move_together);
  g_test_add_func("/dicom/profile/values", test_values_that_are_known_stay);
  return g_test_run();
}
