/* Files that want to do harm, or are merely damaged: refused with a reason, in bounded memory,
 * without stopping the rest. Built by hand; byte values after PS3.5 sections 7.1 and 7.5. */
#include "base/error.h"
#include "dicom-fixture.h"
#include "base/random.h"
#include "dicom/volume.h"
#include "dicom/data-set.h"

#include <sys/stat.h>
#include <unistd.h>

static const guint8 undefined_sequence[] = {0x08, 0, 0x15, 0x11, 'S',  'Q',
                                            0,    0, 0xFF, 0xFF, 0xFF, 0xFF}; /* (0008,1115) */
static const guint8 undefined_item[] = {0xFE, 0xFF, 0x00, 0xE0, 0xFF, 0xFF, 0xFF, 0xFF};
static const guint8 item_end[] = {0xFE, 0xFF, 0x0D, 0xE0, 0, 0, 0, 0};
static const guint8 sequence_end[] = {0xFE, 0xFF, 0xDD, 0xE0, 0, 0, 0, 0};
static const guint8 first_element[] = {0x08, 0, 0x05, 0, 'C', 'S', 2, 0, ' ', ' '};

static GByteArray *
nested(guint depth, gboolean closed) {
  GByteArray *bytes = g_byte_array_new();
  g_byte_array_append(bytes, first_element, sizeof first_element);
  for (guint i = 0; i < depth; i++) {
    g_byte_array_append(bytes, undefined_sequence, sizeof undefined_sequence);
    g_byte_array_append(bytes, undefined_item, sizeof undefined_item);
  }
  for (guint i = 0; closed && i < depth; i++) {
    g_byte_array_append(bytes, item_end, sizeof item_end);
    g_byte_array_append(bytes, sequence_end, sizeof sequence_end);
  }
  return bytes;
}

static DemurHeader *
read_bytes(GByteArray *array, GError **error) {
  g_autoptr(GBytes) bytes = g_bytes_new(array->data, array->len);
  g_autoptr(DemurSource) source = demur_source_bytes(bytes);
  return demur_header_read(&source, error);
}

static void
test_nesting_is_bounded_at_sixty_four(void) {
  static const struct {
    guint depth;
    gboolean good;
  } rows[] = {{1, TRUE}, {64, TRUE}, {65, FALSE}, {200000, FALSE}};
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(GByteArray) bytes = nested(rows[i].depth, TRUE);
    g_autoptr(DemurHeader) header = read_bytes(bytes, &error);
    g_assert_cmpint(header != NULL, ==, rows[i].good);
    if (!rows[i].good) {
      g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
      g_assert_nonnull(strstr(error->message, "more than 64 deep"));
    }
  }
}

static void
test_an_open_sequence_is_cut_off(void) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GByteArray) bytes = nested(3, FALSE);
  g_autoptr(DemurHeader) header = read_bytes(bytes, &error);
  g_assert_null(header);
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
}

static void
test_lengths_beyond_the_file_are_refused_before_allocation(void) {
  static const guint8 huge[] = {0x08, 0, 0x18, 0, 'U', 'T', 0, 0, 0xFE, 0xFF, 0xFF, 0xFF};
  g_autoptr(GError) error = NULL;
  g_autoptr(GByteArray) bytes = g_byte_array_new();
  g_byte_array_append(bytes, first_element, sizeof first_element);
  g_byte_array_append(bytes, huge, sizeof huge);
  g_autoptr(DemurHeader) header = read_bytes(bytes, &error);
  g_assert_null(header);
  g_assert_nonnull(strstr(error->message, "longer than what is left at byte 10"));
}

/* PS3.5 6.2.2: UN of undefined length holds an implicit sequence. */
static void
test_an_unknown_sequence_is_implicit_inside(void) {
  static const guint8 unknown[] = {0x09, 0, 0x01, 0x10, 'U', 'N', 0, 0, 0xFF, 0xFF, 0xFF, 0xFF};
  static const guint8 implicit_element[] = {0x09, 0, 0x02, 0x10, 2, 0, 0, 0, 'a', 'b'};
  static const guint8 modality[] = {0x08, 0, 0x60, 0, 'C', 'S', 2, 0, 'C', 'T'};
  g_autoptr(GError) error = NULL;
  g_autoptr(GByteArray) bytes = g_byte_array_new();
  g_byte_array_append(bytes, first_element, sizeof first_element);
  g_byte_array_append(bytes, unknown, sizeof unknown);
  g_byte_array_append(bytes, undefined_item, sizeof undefined_item);
  g_byte_array_append(bytes, implicit_element, sizeof implicit_element);
  g_byte_array_append(bytes, item_end, sizeof item_end);
  g_byte_array_append(bytes, sequence_end, sizeof sequence_end);
  g_byte_array_append(bytes, modality, sizeof modality);
  g_autoptr(DemurHeader) header = read_bytes(bytes, &error);
  g_assert_no_error(error);
  g_assert_cmpstr(header->modality, ==, "CT");
}

typedef struct {
  guint n;
  guint deepest;
} Count;

static DemurWalk
count_element(const DemurElement *element, gpointer data) {
  Count *count = data;
  count->n++;
  count->deepest = MAX(count->deepest, element->depth);
  return DEMUR_WALK_ON;
}

/* What is handed to DCMTK's parser is walked whole first. */
static void
test_a_whole_walk_enters_sequences_of_known_length(void) {
  static const guint8 stream[] = {
      0x08, 0,    0x05, 0,    'C', 'S', 2, 0, ' ', ' ',       /* an element */
      0x08, 0,    0x15, 0x11, 'S', 'Q', 0, 0, 18,  0,   0, 0, /* a sequence of 18 bytes */
      0xFE, 0xFF, 0x00, 0xE0, 10,  0,   0, 0,                 /* an item of 10 */
      0x08, 0,    0x60, 0,    'C', 'S', 2, 0, 'C', 'T',
  };
  g_autoptr(GBytes) bytes = g_bytes_new_static(stream, sizeof stream);
  for (int everything = 0; everything < 2; everything++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurSource) source = demur_source_bytes(bytes);
    Count count = {0, 0};
    const DemurEncoding encoding = {TRUE, FALSE};
    const gboolean walked =
        demur_elements_walk(source, 0, encoding, everything, count_element, &count, &error);
    g_assert_no_error(error);
    g_assert_true(walked);
    g_assert_cmpuint(count.n, ==, everything ? 3 : 2);
    g_assert_cmpuint(count.deepest, ==, everything ? 1 : 0);
  }
}

static gboolean
check_bytes(const GByteArray *array, GError **error) {
  g_autoptr(GBytes) bytes = g_bytes_new(array->data, array->len);
  g_autoptr(DemurSource) source = demur_source_bytes(bytes);
  return demur_data_set_check(&source, error);
}

/* Nesting where a reader of headers does not look, but DCMTK does: behind compressed pixel data. */
static void
test_nesting_behind_the_pixels_is_seen(void) {
  static const guint8 pixels[] = {0xE0, 0x7F, 0x10, 0,    'O',  'B',  0, 0, 0xFF, 0xFF,
                                  0xFF, 0xFF, 0xFE, 0xFF, 0x00, 0xE0, 0, 0, 0,    0,
                                  0xFE, 0xFF, 0x00, 0xE0, 2,    0,    0, 0, 0xFF, 0xD8,
                                  0xFE, 0xFF, 0xDD, 0xE0, 0,    0,    0, 0};
  for (int deep = 0; deep < 2; deep++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autoptr(GByteArray) behind = nested(deep ? 200000 : 60, TRUE);
    g_byte_array_append(bytes, first_element, sizeof first_element);
    g_byte_array_append(bytes, pixels, sizeof pixels);
    g_byte_array_append(bytes, behind->data, behind->len);
    g_assert_cmpint(check_bytes(bytes, &error), ==, !deep);
    if (deep)
      g_assert_nonnull(strstr(error->message, "more than 64 deep"));
  }
}

/* And in the meta header, which has no sequences. */
static void
test_a_sequence_in_the_meta_header_is_refused(void) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GByteArray) bytes = g_byte_array_new(), inner = nested(200000, TRUE);
  g_byte_array_set_size(bytes, 128);
  memset(bytes->data, 0, 128);
  g_byte_array_append(bytes, (const guint8 *)"DICM", 4);
  const guint32 n = inner->len + 8;
  const guint8 sequence[] = {0x02,
                             0,
                             0x02,
                             0x01,
                             'S',
                             'Q',
                             0,
                             0,
                             (guint8)n,
                             (guint8)(n >> 8),
                             (guint8)(n >> 16),
                             (guint8)(n >> 24),
                             0xFE,
                             0xFF,
                             0x00,
                             0xE0,
                             (guint8)(n - 8),
                             (guint8)((n - 8) >> 8),
                             (guint8)((n - 8) >> 16),
                             (guint8)((n - 8) >> 24)};
  g_byte_array_append(bytes, sequence, sizeof sequence);
  g_byte_array_append(bytes, inner->data, inner->len);
  g_byte_array_append(bytes, first_element, sizeof first_element);
  g_assert_false(check_bytes(bytes, &error));
  g_assert_nonnull(strstr(error->message, "the file meta header holds a sequence"));
}

static void
test_a_pipe_and_a_loop_of_links_do_not_hang_the_scan(void) {
  g_autofree char *folder = fixture_folder();
  g_autofree char *pipe = g_build_filename(folder, "pipe", NULL);
  g_autofree char *loop = g_build_filename(folder, "loop", NULL);
  FixtureImage image = fixture_image(1, 0);
  fixture_save(&image, folder, "Größe 1.dcm");
  g_assert_cmpint(mkfifo(pipe, 0600), ==, 0);
  g_assert_cmpint(symlink(folder, loop), ==, 0);
  g_autoptr(DemurImport) import = fixture_import_folder(folder);
  g_assert_cmpuint(import->series->len, ==, 1);
  g_assert_nonnull(fixture_skipped(import, "pipe"));
  fixture_remove(folder);
}

static void
test_a_path_that_is_not_there_is_an_error(void) {
  const char *paths[] = {"/nonexistent/folder", NULL};
  g_autoptr(GError) error = NULL;
  g_assert_null(demur_import_run(paths, NULL, NULL, NULL, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND);
}

static void
test_cancelling_stops_the_import(void) {
  g_autofree char *folder = fixture_folder();
  FixtureImage image = fixture_image(1, 0);
  fixture_save(&image, folder, "1.dcm");
  g_autoptr(GCancellable) cancellable = g_cancellable_new();
  g_cancellable_cancel(cancellable);
  const DemurProgress progress = {NULL, NULL, cancellable};
  const char *paths[] = {folder, NULL};
  g_autoptr(GError) error = NULL;
  g_assert_null(demur_import_run(paths, NULL, NULL, &progress, &error));
  g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  fixture_remove(folder);
}

/* Compressed pixels whose ends look whole and whose middle is nothing: told at import. */
static void
test_undecodable_pixels_are_found_at_import(void) {
  g_autofree char *source = demur_test_shared("dicom/derived/37_jpeg_lossless");
  if (source == NULL)
    return;
  g_autofree char *folder = fixture_folder();
  g_autoptr(GDir) dir = g_dir_open(source, 0, NULL);
  const char *name;
  guint n = 0;
  while ((name = g_dir_read_name(dir)) != NULL) {
    g_autofree char *path = g_build_filename(source, name, NULL);
    g_autofree char *bytes = NULL;
    gsize length = 0;
    g_assert_true(g_file_get_contents(path, &bytes, &length, NULL));
    if (n++ == 0) {
      for (gsize i = 0; i + 3 < length; i++)
        if (memcmp(bytes + i, "\xFF\xD8\xFF", 3) == 0) {
          memset(bytes + i + 2, 0, length - i - 2 - 16); /* keeps EOI and the delimiter */
          break;
        }
    }
    fixture_write(folder, name, bytes, length);
  }
  g_autoptr(DemurImport) import = fixture_import_folder(folder);
  const DemurSeries *series = fixture_series(import, 0);
  g_assert_cmpuint(series->n_slices, ==, n - 1);
  g_assert_false(series->accepted);
  g_assert_nonnull(strstr(fixture_reason(series), "undecodable"));
  fixture_remove(folder);
}

/* A few thousand damaged copies of whole files: no crash, no hang, and every answer is one of the
 * two. */
static void
test_damaged_copies_are_read_or_refused(void) {
  static const char *const files[] = {
      "dicom/derived/37_jpeg_lossless",
      "dicom/derived/38_jpegls",
      "dicom/derived/39_rle",
      "dicom/derived/41_deflated",
      "dicom/derived/18_no_preamble",
      "dicom/real/transfer-syntaxes/enhanced-multiframe",
      "dicom/real/siemens-jpeg2000/example_ct_dicom",
  };
  const guint n_copies = g_test_slow() ? 4000 : 120;
  for (size_t f = 0; f < G_N_ELEMENTS(files); f++) {
    g_autofree char *folder = demur_test_shared(files[f]);
    if (folder == NULL)
      return;
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name = g_dir_read_name(dir);
    while (name != NULL && g_str_has_prefix(name, "LICENSE"))
      name = g_dir_read_name(dir);
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_autofree char *whole = NULL;
    gsize length = 0;
    g_assert_true(g_file_get_contents(path, &whole, &length, NULL));
    g_autofree char *copy_folder = fixture_folder();
    g_autofree char *copy_path = g_build_filename(copy_folder, "damaged.dcm", NULL);
    for (guint k = 0; k < n_copies; k++) {
      DemurRandom random = demur_random_stream(1, DEMUR_STREAM_TEST, f, k, 0);
      g_autofree char *copy = g_memdup2(whole, length);
      gsize size = length;
      const guint n_changes = 1 + (guint)demur_random_below(&random, 12);
      /* Most damage goes where the structure is: the first 4 KiB. */
      for (guint c = 0; c < n_changes; c++) {
        const gsize range = demur_random_below(&random, 4) > 0 ? MIN(length, 4096) : length;
        copy[demur_random_below(&random, range)] = (char)demur_random_below(&random, 256);
      }
      if (demur_random_below(&random, 4) == 0)
        size = (gsize)demur_random_below(&random, length);
      g_autoptr(GError) error = NULL;
      g_autoptr(GBytes) bytes = g_bytes_new(copy, size);
      g_autoptr(DemurSource) source = demur_source_bytes(bytes);
      g_autoptr(DemurHeader) header = demur_header_read(&source, &error);
      g_assert_true((header == NULL) == (error != NULL));
      if (header == NULL || (guint64)header->rows * header->columns > 1u << 22 || k % 4 != 0)
        continue;
      /* Every fourth goes the whole way. */
      g_assert_true(g_file_set_contents(copy_path, copy, (gssize)size, NULL));
      const char *paths[] = {copy_path, NULL};
      g_autoptr(DemurImport) import = demur_import_run(paths, NULL, NULL, NULL, &error);
      g_assert_no_error(error);
      for (guint i = 0; i < import->series->len; i++) {
        g_autoptr(GError) refused = NULL;
        g_autoptr(DemurVolume) volume =
            demur_volume_read(fixture_series(import, i), NULL, NULL, &refused);
        g_assert_true((volume == NULL) == (refused != NULL));
      }
    }
    fixture_remove(copy_folder);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_assert_true(demur_dicom_init(NULL));
#define ADD(name) g_test_add_func("/dicom/hostile/" #name, test_##name)
  ADD(nesting_is_bounded_at_sixty_four);
  ADD(an_open_sequence_is_cut_off);
  ADD(lengths_beyond_the_file_are_refused_before_allocation);
  ADD(an_unknown_sequence_is_implicit_inside);
  ADD(a_whole_walk_enters_sequences_of_known_length);
  ADD(a_pipe_and_a_loop_of_links_do_not_hang_the_scan);
  ADD(a_path_that_is_not_there_is_an_error);
  ADD(cancelling_stops_the_import);
  ADD(undecodable_pixels_are_found_at_import);
  ADD(nesting_behind_the_pixels_is_seen);
  ADD(a_sequence_in_the_meta_header_is_refused);
  ADD(damaged_copies_are_read_or_refused);
  const int status = g_test_run();
  demur_dicom_cleanup();
  return status;
}
