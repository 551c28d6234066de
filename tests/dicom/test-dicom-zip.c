/* ZIP archives: a round trip against the folder they were made of, and archives that lie. The
 * writer below follows APPNOTE.TXT 4.3. */
#include "base/error.h"
#include "dicom-fixture.h"
#include "dicom/volume.h"
#include "dicom/zip.h"

#include <unistd.h>
#include <zlib.h>

typedef struct {
  GByteArray *bytes, *directory;
  guint16 n;
} Archive;

static void
put16(GByteArray *bytes, guint value) {
  const guint8 two[] = {(guint8)(value & 0xFF), (guint8)(value >> 8 & 0xFF)};
  g_byte_array_append(bytes, two, 2);
}

static void
put32(GByteArray *bytes, guint value) {
  put16(bytes, value & 0xFFFF);
  put16(bytes, value >> 16);
}

static Archive
archive_new(void) {
  return (Archive){g_byte_array_new(), g_byte_array_new(), 0};
}

static void
put_common(GByteArray *to, guint flags, guint method, guint crc, guint packed, guint size,
           const char *name) {
  put16(to, 20);
  put16(to, flags);
  put16(to, method);
  put32(to, 0); /* time and date */
  put32(to, crc);
  put32(to, packed);
  put32(to, size);
  put16(to, (guint)strlen(name));
  put16(to, 0);
}

/* size 0: the true one; crc_change: 0 for the right one. */
static void
archive_add(Archive *archive, const char *name, const void *data, gsize length, gboolean deflated,
            guint flags, guint claimed_size, guint crc_change) {
  g_autofree guint8 *packed = g_malloc(length + length / 100 + 64);
  guint packed_size = (guint)length;
  memcpy(packed, data, length);
  if (deflated) {
    z_stream stream = {.next_in = (Bytef *)data,
                       .avail_in = (uInt)length,
                       .next_out = packed,
                       .avail_out = (uInt)(length + length / 100 + 64)};
    g_assert_cmpint(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY), ==,
                    Z_OK);
    g_assert_cmpint(deflate(&stream, Z_FINISH), ==, Z_STREAM_END);
    packed_size = (guint)stream.total_out;
    deflateEnd(&stream);
  }
  const guint crc = (guint)crc32(0, data, (uInt)length) ^ crc_change;
  const guint size = claimed_size > 0 ? claimed_size : (guint)length;
  const guint offset = archive->bytes->len;
  put32(archive->bytes, 0x04034b50);
  put_common(archive->bytes, flags, deflated ? 8 : 0, crc, packed_size, size, name);
  g_byte_array_append(archive->bytes, (const guint8 *)name, (guint)strlen(name));
  g_byte_array_append(archive->bytes, packed, packed_size);
  put32(archive->directory, 0x02014b50);
  put16(archive->directory, 20);
  put_common(archive->directory, flags, deflated ? 8 : 0, crc, packed_size, size, name);
  put16(archive->directory, 0); /* comment, disk, attributes */
  put16(archive->directory, 0);
  put16(archive->directory, 0);
  put32(archive->directory, 0);
  put32(archive->directory, offset);
  g_byte_array_append(archive->directory, (const guint8 *)name, (guint)strlen(name));
  archive->n++;
}

static void
archive_save(Archive *archive, const char *folder, const char *name) {
  const guint offset = archive->bytes->len;
  g_byte_array_append(archive->bytes, archive->directory->data, archive->directory->len);
  put32(archive->bytes, 0x06054b50);
  put32(archive->bytes, 0);
  put16(archive->bytes, archive->n);
  put16(archive->bytes, archive->n);
  put32(archive->bytes, archive->directory->len);
  put32(archive->bytes, offset);
  put16(archive->bytes, 0);
  fixture_write(folder, name, archive->bytes->data, archive->bytes->len);
  g_byte_array_unref(archive->bytes);
  g_byte_array_unref(archive->directory);
}

static void
test_an_archive_gives_what_its_folder_gives(void) {
  g_autofree char *folder = fixture_folder(), *zipped = fixture_folder();
  Archive archive = archive_new();
  for (int i = 0; i < 12; i++) {
    FixtureImage image = fixture_image(i + 1, 2.5 * i);
    g_autofree char *name = g_strdup_printf("%02d.dcm", i);
    g_autofree char *entry = g_strdup_printf("Größe/%02d.dcm", i);
    fixture_save(&image, folder, name);
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_autofree char *bytes = NULL;
    gsize length = 0;
    g_assert_true(g_file_get_contents(path, &bytes, &length, NULL));
    archive_add(&archive, entry, bytes, length, i % 2 == 0, 0x800, 0, 0);
  }
  archive_add(&archive, "readme.txt", "hello", 5, FALSE, 0, 0, 0);
  archive_save(&archive, zipped, "study.zip");
  g_autoptr(DemurImport) plain = fixture_import_folder(folder);
  g_autoptr(DemurImport) packed = fixture_import_folder(zipped);
  const DemurSeries *a = fixture_series(plain, 0), *b = fixture_series(packed, 0);
  g_assert_cmpuint(packed->series->len, ==, 1);
  g_assert_cmpstr(a->scan_id, ==, b->scan_id);
  g_assert_cmpuint(b->n_slices, ==, 12);
  g_assert_true(b->accepted);
  g_assert_cmpstr(b->slices[3].entry, ==, "Größe/03.dcm");
  g_assert_nonnull(strstr(fixture_skipped(packed, "readme.txt")->path, "study.zip!/readme.txt"));
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurVolume) x = demur_volume_read(a, NULL, NULL, &error);
  g_assert_no_error(error);
  g_autoptr(DemurVolume) y = demur_volume_read(b, NULL, NULL, &error);
  g_assert_no_error(error);
  g_assert_true(memcmp(x->hu, y->hu, 12 * 16 * 16 * sizeof(gint16)) == 0);

  g_autofree char **paths = g_new0(char *, 13);
  for (guint i = 0; i < 12; i++)
    paths[i] = demur_files_display(b->slices[i].path, b->slices[i].entry);
  g_autoptr(DemurSeries) again =
      demur_import_reopen(b->scan_id, (const char *const *)paths, NULL, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(again->n_slices, ==, 12);
  for (guint i = 0; i < 12; i++)
    g_free(paths[i]);
  fixture_remove(folder);
  fixture_remove(zipped);
}

static void
test_entries_that_lie_are_skipped_with_a_reason(void) {
  static const char text[] = "something that is no image at all, whatever it says of itself";
  static const struct {
    const char *name;
    guint flags, claimed_size, crc_change;
    const char *reason;
  } rows[] = {
      {"encrypted.dcm", 1, 0, 0, "encrypted"},
      {"other-crc.dcm", 0, 0, 1, "doesn't unpack"},
      {"larger.dcm", 0, 5000, 0, "doesn't unpack"},
      {"smaller.dcm", 0, 10, 0, "doesn't unpack"},
      {"bomb.dcm", 0, 0x70000000, 0, "beyond what is unpacked"},
      {"honest.dcm", 0, 0, 0, "not a DICOM file"},
  };
  g_autofree char *folder = fixture_folder();
  Archive archive = archive_new();
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
    archive_add(&archive, rows[i].name, text, sizeof text, TRUE, rows[i].flags,
                rows[i].claimed_size, rows[i].crc_change);
  archive_save(&archive, folder, "lies.zip");
  g_autoptr(DemurImport) import = fixture_import_folder(folder);
  g_assert_cmpuint(import->series->len, ==, 0);
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    const DemurSkipped *skipped = fixture_skipped(import, rows[i].name);
    g_assert_nonnull(skipped);
    g_assert_nonnull(strstr(skipped->reason, rows[i].reason));
  }
  fixture_remove(folder);
}

/* One kernel of data under many names is how small archives become huge. */
static void
test_overlapping_entries_are_refused(void) {
  g_autofree char *folder = fixture_folder();
  Archive archive = archive_new();
  archive_add(&archive, "a.dcm", "data", 4, FALSE, 0, 0, 0);
  const guint length = archive.directory->len;
  g_autofree guint8 *again = g_memdup2(archive.directory->data, length);
  g_byte_array_append(archive.directory, again, length);
  archive.n++;
  archive_save(&archive, folder, "overlap.zip");
  g_autoptr(DemurImport) import = fixture_import_folder(folder);
  g_assert_nonnull(strstr(fixture_skipped(import, "overlap.zip")->reason, "overlap"));
  fixture_remove(folder);
}

static void
test_archives_cut_off_anywhere_are_told(void) {
  g_autofree char *folder = fixture_folder();
  Archive archive = archive_new();
  archive_add(&archive, "a.dcm", "data", 4, TRUE, 0, 0, 0);
  archive_save(&archive, folder, "whole.zip");
  g_autofree char *path = g_build_filename(folder, "whole.zip", NULL);
  g_autofree char *bytes = NULL;
  gsize length = 0;
  g_assert_true(g_file_get_contents(path, &bytes, &length, NULL));
  for (gsize n = 4; n < length; n++) {
    g_autoptr(GError) error = NULL;
    fixture_write(folder, "whole.zip", bytes, n);
    g_autoptr(DemurZip) zip = demur_zip_open(path, &error);
    g_assert_null(zip);
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
  }
  fixture_remove(folder);
}

/* ZIP64 (APPNOTE.TXT 4.3.14, 4.3.15, 4.5.3): saturated fields with the values in the extra field
 * and the record. */
static void
test_zip64_fields_are_followed(void) {
  static const char name[] = "a.txt", data[] = "sixty-four";
  const guint crc = (guint)crc32(0, (const Bytef *)data, 10);
  g_autofree char *folder = fixture_folder();
  g_autoptr(GByteArray) file = g_byte_array_new();
  put32(file, 0x04034b50);
  put_common(file, 0, 0, crc, 10, 10, name);
  g_byte_array_append(file, (const guint8 *)name, 5);
  g_byte_array_append(file, (const guint8 *)data, 10);
  const guint directory = file->len;
  put32(file, 0x02014b50);
  put16(file, 45);
  put16(file, 45);
  put16(file, 0);
  put16(file, 0);
  put32(file, 0);
  put32(file, crc);
  put32(file, 0xFFFFFFFF); /* packed size, size: in the extra field, size first */
  put32(file, 0xFFFFFFFF);
  put16(file, 5);
  put16(file, 20);
  for (int i = 0; i < 3; i++)
    put16(file, 0);
  put32(file, 0);
  put32(file, 0);
  g_byte_array_append(file, (const guint8 *)name, 5);
  put16(file, 1);
  put16(file, 16);
  for (int i = 0; i < 2; i++) {
    put32(file, 10);
    put32(file, 0);
  }
  const guint end = file->len;
  put32(file, 0x06064b50);
  put32(file, 44);
  put32(file, 0);
  put16(file, 45);
  put16(file, 45);
  put32(file, 0);
  put32(file, 0);
  for (int i = 0; i < 2; i++) { /* entries on this disk, in all */
    put32(file, 1);
    put32(file, 0);
  }
  put32(file, end - directory);
  put32(file, 0);
  put32(file, directory);
  put32(file, 0);
  put32(file, 0x07064b50);
  put32(file, 0);
  put32(file, end);
  put32(file, 0);
  put32(file, 1);
  put32(file, 0x06054b50);
  put32(file, 0);
  put16(file, 0xFFFF);
  put16(file, 0xFFFF);
  put32(file, 0xFFFFFFFF);
  put32(file, 0xFFFFFFFF);
  put16(file, 0);
  fixture_write(folder, "large.zip", file->data, file->len);
  g_autofree char *path = g_build_filename(folder, "large.zip", NULL);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurZip) zip = demur_zip_open(path, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(demur_zip_n_entries(zip), ==, 1);
  g_autoptr(GBytes) bytes = demur_zip_read(zip, demur_zip_find(zip, name), &error);
  g_assert_no_error(error);
  g_assert_cmpuint(g_bytes_get_size(bytes), ==, 10);
  g_assert_true(memcmp(g_bytes_get_data(bytes, NULL), data, 10) == 0);
  fixture_remove(folder);
}

/* The bytes of one image of the fixture. */
static char *
image_bytes(int k, gsize *length) {
  g_autofree char *folder = fixture_folder();
  FixtureImage image = fixture_image(k + 1, 2.5 * k);
  fixture_save(&image, folder, "1.dcm");
  g_autofree char *path = g_build_filename(folder, "1.dcm", NULL);
  char *bytes = NULL;
  g_assert_true(g_file_get_contents(path, &bytes, length, NULL));
  fixture_remove(folder);
  return bytes;
}

static void
test_an_archive_in_an_archive(void) {
  g_autofree char *folder = fixture_folder();
  Archive inner = archive_new(), outer = archive_new();
  for (int k = 0; k < 12; k++) {
    gsize length;
    g_autofree char *bytes = image_bytes(k, &length), *name = g_strdup_printf("%d.dcm", k);
    archive_add(&inner, name, bytes, length, TRUE, 0, 0, 0);
  }
  archive_save(&inner, folder, "inner");
  g_autofree char *path = g_build_filename(folder, "inner", NULL), *packed = NULL;
  gsize length;
  g_assert_true(g_file_get_contents(path, &packed, &length, NULL));
  g_unlink(path);
  archive_add(&outer, "disc/study.zip", packed, length, TRUE, 0, 0, 0);
  archive_save(&outer, folder, "outer.zip");
  g_autoptr(DemurImport) import = fixture_import_folder(folder);
  const DemurSeries *series = fixture_series(import, 0);
  g_assert_cmpuint(series->n_slices, ==, 12);
  g_assert_true(series->accepted);
  g_assert_cmpstr(series->slices[2].entry, ==, "disc/study.zip!/2.dcm");
  /* And found again. */
  char *paths[13] = {NULL};
  for (guint i = 0; i < 12; i++)
    paths[i] = demur_files_display(series->slices[i].path, series->slices[i].entry);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurSeries) again =
      demur_import_reopen(series->scan_id, (const char *const *)paths, NULL, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpstr(again->content_digest, ==, series->content_digest);
  g_autoptr(DemurVolume) volume = demur_volume_read(again, NULL, NULL, &error);
  g_assert_no_error(error);
  for (guint i = 0; i < 12; i++)
    g_free(paths[i]);
  fixture_remove(folder);
}

/* What is an archive and is not opened says that, and not that it is no image. */
static void
test_an_archive_that_is_not_opened_is_told(void) {
  static const struct {
    const char *name;
    gboolean cut;
  } rows[] = {{"study", FALSE}, {"study.zip", TRUE}, {"disc/STUDY.ZIPX", FALSE}};
  for (gsize r = 0; r < G_N_ELEMENTS(rows); r++) {
    g_autofree char *folder = fixture_folder();
    Archive inner = archive_new(), outer = archive_new();
    gsize length;
    g_autofree char *bytes = image_bytes(0, &length), *packed = NULL;
    archive_add(&inner, "0.dcm", bytes, length, TRUE, 0, 0, 0);
    archive_save(&inner, folder, "inner");
    g_autofree char *path = g_build_filename(folder, "inner", NULL);
    g_assert_true(g_file_get_contents(path, &packed, &length, NULL));
    g_unlink(path);
    archive_add(&outer, rows[r].name, packed, rows[r].cut ? length / 2 : length, TRUE, 0, 0, 0);
    archive_save(&outer, folder, "outer.zip");
    g_autoptr(DemurImport) import = fixture_import_folder(folder);
    g_assert_cmpuint(import->series->len, ==, 0);
    g_assert_cmpuint(import->skipped->len, ==, 1);
    const DemurSkipped *skipped = import->skipped->pdata[0];
    g_assert_true(g_str_has_prefix(skipped->reason, "a ZIP archive in an archive"));
    fixture_remove(folder);
  }
}

static void
test_entries_of_one_name_can_all_be_opened(void) {
  g_autofree char *folder = fixture_folder();
  Archive archive = archive_new();
  for (int k = 0; k < 12; k++) {
    gsize length;
    g_autofree char *bytes = image_bytes(k, &length);
    archive_add(&archive, "image.dcm", bytes, length, TRUE, 0, 0, 0);
  }
  archive_save(&archive, folder, "study.zip");
  g_autoptr(DemurImport) import = fixture_import_folder(folder);
  const DemurSeries *series = fixture_series(import, 0);
  g_assert_cmpuint(series->n_slices, ==, 12);
  g_assert_true(series->accepted);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurVolume) volume = demur_volume_read(series, NULL, NULL, &error);
  g_assert_no_error(error);
  for (guint i = 0; i < 12; i++) /* each its own image */
    g_assert_cmpint(volume->hu[i * 16 * 16], ==, 1001 + (int)i - 1024);
  fixture_remove(folder);
}

/* Many small entries that each begin as an image and unpack to megabytes: what is beyond 32 times
 * the archive's size and 64 MiB is refused, and told; in little memory. */
static void
test_what_unpacks_to_too_much_is_refused(void) {
  g_autofree char *folder = fixture_folder();
  Archive archive = archive_new();
  const gsize size = 16u << 20;
  g_autofree char *bytes = g_malloc0(size);
  for (int k = 0; k < 40; k++) {
    gsize length;
    g_autofree char *begin = image_bytes(k, &length), *name = g_strdup_printf("%02d.dcm", k);
    memcpy(bytes, begin, length);
    archive_add(&archive, name, bytes, size, TRUE, 0, 0, 0);
  }
  const guint packed = archive.bytes->len;
  archive_save(&archive, folder, "bomb.zip");
  g_autoptr(DemurImport) import = fixture_import_folder(folder);
  g_assert_cmpuint(packed, <, 2u << 20);
  const DemurSeries *series = fixture_series(import, 0);
  g_assert_cmpuint(series->n_slices, <=, 8);
  guint n_refused = 0;
  for (guint i = 0; i < import->skipped->len; i++) {
    const DemurSkipped *skipped = import->skipped->pdata[i];
    n_refused += strstr(skipped->reason, "more than 32 times its size") != NULL ? 1 : 0;
  }
  g_assert_cmpuint(n_refused + series->n_slices + series->n_left_out, ==, 40);
  fixture_remove(folder);
}

/* An archive of n_small entries of no use and n_large of DEMUR_ZIP_SMALL_BYTES, in folder. */
static void
save_many(const char *folder, guint n_small, guint n_large) {
  static const guint8 nothing[DEMUR_ZIP_SMALL_BYTES];
  Archive archive = archive_new();
  for (guint k = 0; k < n_small + n_large; k++) {
    g_autofree char *name = g_strdup_printf("%u", k);
    archive_add(&archive, name, nothing, k < n_small ? 4 : sizeof nothing, FALSE, 0, 0, 0);
  }
  archive_save(&archive, folder, "many.zip");
}

/* An entry costs what it is read and kept by, however little it holds: an archive may have so many small
 * ones as it is large, and some. */
static void
test_more_small_entries_than_an_archive_of_its_size_has_are_refused(void) {
  static const struct {
    guint n_small, n_large;
    gboolean is_read;
  } rows[] = {{8000, 0, TRUE}, {9000, 0, FALSE}, {9000, 100, TRUE}, {60000, 0, FALSE}};
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *folder = fixture_folder();
    g_autofree char *path = g_build_filename(folder, "many.zip", NULL);
    save_many(folder, rows[i].n_small, rows[i].n_large);
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurZip) zip = demur_zip_open(path, &error);
    g_assert_cmpint(zip != NULL, ==, rows[i].is_read);
    if (zip == NULL)
      g_assert_nonnull(strstr(error->message, "unpack it first"));
    fixture_remove(folder);
  }
  g_autofree char *folder = fixture_folder();
  save_many(folder, 9000, 0);
  g_autoptr(DemurImport) import = fixture_import_folder(folder);
  g_assert_nonnull(strstr(fixture_skipped(import, "many.zip")->reason, "9000 entries"));
  g_assert_cmpuint(import->skipped->len, ==, 1);
  fixture_remove(folder);
}

/* An archive within takes of the same room. */
static void
test_small_entries_of_archives_within_are_counted(void) {
  g_autofree char *folder = fixture_folder();
  g_autofree char *path = g_build_filename(folder, "many.zip", NULL), *inner = NULL;
  gsize length;
  save_many(folder, 5000, 0);
  g_assert_true(g_file_get_contents(path, &inner, &length, NULL));
  Archive outer = archive_new();
  for (guint k = 0; k < 3; k++) {
    g_autofree char *name = g_strdup_printf("%u.zip", k);
    archive_add(&outer, name, inner, length, FALSE, 0, 0, 0);
  }
  archive_save(&outer, folder, "outer.zip");
  g_autofree char *whole = g_build_filename(folder, "outer.zip", NULL);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurZip) zip = demur_zip_open(whole, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(demur_zip_n_entries(zip), ==, 5000 + 2);
  fixture_remove(folder);
}

static void
test_links_out_of_the_folder_are_told(void) {
  g_autofree char *folder = fixture_folder(), *elsewhere = fixture_folder();
  g_autofree char *inside = g_build_filename(folder, "inside", NULL);
  g_autofree char *link = g_build_filename(folder, "link", NULL);
  g_autofree char *out = g_build_filename(folder, "out", NULL);
  FixtureImage image = fixture_image(1, 0), other = fixture_image(2, 2.5);
  g_assert_cmpint(g_mkdir(inside, 0700), ==, 0);
  fixture_save(&image, inside, "1.dcm");
  fixture_save(&other, elsewhere, "2.dcm");
  g_assert_cmpint(symlink(inside, link), ==, 0); /* to what is read anyway */
  g_assert_cmpint(symlink(elsewhere, out), ==, 0);
  g_autoptr(DemurImport) import = fixture_import_folder(folder);
  g_assert_cmpuint(fixture_series(import, 0)->n_slices, ==, 1);
  g_assert_nonnull(fixture_skipped(import, "out"));
  fixture_remove(folder);
  fixture_remove(elsewhere);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
#define ADD(name) g_test_add_func("/dicom/zip/" #name, test_##name)
  ADD(an_archive_gives_what_its_folder_gives);
  ADD(entries_that_lie_are_skipped_with_a_reason);
  ADD(overlapping_entries_are_refused);
  ADD(zip64_fields_are_followed);
  ADD(archives_cut_off_anywhere_are_told);
  ADD(an_archive_in_an_archive);
  ADD(entries_of_one_name_can_all_be_opened);
  ADD(what_unpacks_to_too_much_is_refused);
  ADD(more_small_entries_than_an_archive_of_its_size_has_are_refused);
  ADD(small_entries_of_archives_within_are_counted);
  ADD(an_archive_that_is_not_opened_is_told);
  ADD(links_out_of_the_folder_are_told);
  return g_test_run();
}
