/* JPEG lossless: images coded here by the equations of ITU-T T.81 annex H come out as they went in,
 * and DCMTK's decoder, the oracle, says the same of the same bytes. */
#include "base/error.h"
#include "dicom-fixture.h"
#include "dicom/pixels.h"

#define WIDTH 37
#define HEIGHT 23

typedef struct {
  guint precision, predictor, point_transform;
  guint restart_rows; /* 0: none */
  gboolean long_codes;
} Coding;

/* Lengths of the codes of categories 0 .. 16: five bits each, or growing up to 16 bits. */
static guint
code_length(const Coding *coding, guint category) {
  return !coding->long_codes ? 5 : category < 14 ? category + 1 : 16;
}

/* Canonical codes in order of category (C.2). */
static guint32
code_of(const Coding *coding, guint category) {
  guint32 code = 0;
  for (guint i = 1; i <= category; i++)
    code = (code + 1) << (code_length(coding, i) - code_length(coding, i - 1));
  return code;
}

typedef struct {
  GByteArray *bytes;
  guint32 bits;
  guint n_bits;
} Out;

static void
put_byte(Out *out, guint8 byte) {
  g_byte_array_append(out->bytes, &byte, 1);
}

static void
put_bits(Out *out, guint32 value, guint n) {
  for (guint i = n; i-- > 0;) {
    out->bits = (out->bits << 1) | ((value >> i) & 1u);
    if (++out->n_bits == 8) {
      put_byte(out, (guint8)out->bits);
      if (out->bits == 0xFF)
        put_byte(out, 0);
      out->bits = out->n_bits = 0;
    }
  }
}

static void
put_marker(Out *out, guint8 marker) {
  while (out->n_bits > 0)
    put_bits(out, 1, 1);
  put_byte(out, 0xFF);
  put_byte(out, marker);
}

static void
put_u16(Out *out, guint value) {
  put_byte(out, (guint8)(value >> 8));
  put_byte(out, (guint8)value);
}

static gint32
predict(const Coding *coding, const guint16 *image, guint x, guint y, gboolean first_row) {
  const gint32 a = x > 0 ? image[y * WIDTH + x - 1] : 0;
  const gint32 b = !first_row ? image[(y - 1) * WIDTH + x] : 0;
  const gint32 c = x > 0 && !first_row ? image[(y - 1) * WIDTH + x - 1] : 0;
  if (first_row)
    return x == 0 ? 1 << (coding->precision - coding->point_transform - 1) : a;
  if (x == 0)
    return b;
  const gint32 all[] = {0,           a, b, c, a + b - c, a + ((b - c) >> 1), b + ((a - c) >> 1),
                        (a + b) >> 1};
  return all[coding->predictor];
}

static GBytes *
encode(const Coding *coding, const guint16 *image) {
  Out out = {g_byte_array_new(), 0, 0};
  put_marker(&out, 0xD8);
  put_marker(&out, 0xC4);
  put_u16(&out, 2 + 17 + 17);
  put_byte(&out, 0);
  for (guint length = 1; length <= 16; length++) {
    guint8 n = 0;
    for (guint category = 0; category <= 16; category++)
      n = (guint8)(n + (code_length(coding, category) == length));
    put_byte(&out, n);
  }
  for (guint8 category = 0; category <= 16; category++)
    put_byte(&out, category);
  put_marker(&out, 0xC3);
  put_u16(&out, 11);
  put_byte(&out, (guint8)coding->precision);
  put_u16(&out, HEIGHT);
  put_u16(&out, WIDTH);
  for (guint i = 0; i < 4; i++)
    put_byte(&out, (const guint8[]){1, 1, 0x11, 0}[i]);
  if (coding->restart_rows > 0) {
    put_marker(&out, 0xDD);
    put_u16(&out, 4);
    put_u16(&out, coding->restart_rows * WIDTH);
  }
  put_marker(&out, 0xDA);
  put_u16(&out, 8);
  const guint8 scan[] = {1, 1, 0, (guint8)coding->predictor, 0, (guint8)coding->point_transform};
  g_byte_array_append(out.bytes, scan, sizeof scan);
  for (guint y = 0; y < HEIGHT; y++) {
    const gboolean restart = coding->restart_rows > 0 && y > 0 && y % coding->restart_rows == 0;
    if (restart)
      put_marker(&out, (guint8)(0xD0 + (y / coding->restart_rows - 1) % 8));
    for (guint x = 0; x < WIDTH; x++) {
      const gint32 prediction = predict(coding, image, x, y, y == 0 || restart);
      const gint32 difference = (gint16)(guint16)(image[y * WIDTH + x] - prediction);
      guint category = 0;
      while (category < 16 && ABS(difference) >= 1 << category)
        category++;
      put_bits(&out, code_of(coding, category), code_length(coding, category));
      if (category < 16)
        put_bits(&out, (guint32)(difference < 0 ? difference - 1 : difference), category);
    }
  }
  put_marker(&out, 0xD9);
  return g_byte_array_free_to_bytes(out.bytes);
}

/* Smooth with noise, and jumps over the whole range in between: every category occurs. */
static void
draw(const Coding *coding, guint16 *image) {
  g_autoptr(GRand) rand = g_rand_new_with_seed(coding->predictor + 10 * coding->precision);
  const guint32 n = 1u << (coding->precision - coding->point_transform);
  for (guint i = 0; i < WIDTH * HEIGHT; i++) {
    const guint32 reach = 1u << g_rand_int_range(rand, 0, 17);
    const guint32 before = i > 0 ? image[i - 1] : n / 2;
    image[i] = (guint16)((before + g_rand_int(rand) % reach) % n);
  }
  if (n == 65536) { /* a difference of 32,768: category 16 */
    image[100] = 40000;
    image[101] = (guint16)(40000 + 32768);
  }
}

static DemurHeader *
header_of(const Coding *coding) {
  DemurHeader *header = g_new0(DemurHeader, 1);
  header->transfer_syntax_uid = g_strdup("1.2.840.10008.1.2.4.57");
  header->rows = HEIGHT;
  header->columns = WIDTH;
  header->bits_allocated = coding->precision > 8 ? 16 : 8;
  header->bits_stored = (guint16)coding->precision;
  header->n_frames = header->samples = 1;
  return header;
}

static void
check_coding(const Coding *coding) {
  guint16 image[WIDTH * HEIGHT], words[WIDTH * HEIGHT], theirs[WIDTH * HEIGHT];
  draw(coding, image);
  g_autoptr(GBytes) bytes = encode(coding, image);
  g_autoptr(GError) error = NULL;
  const DemurJpegResult result = demur_jpeg_lossless_decode(bytes, HEIGHT, WIDTH, words, &error);
  g_assert_no_error(error);
  g_assert_cmpint(result, ==, DEMUR_JPEG_DECODED);
  for (guint i = 0; i < WIDTH * HEIGHT; i++)
    g_assert_cmpuint(words[i], ==, (guint)image[i] << coding->point_transform);
  g_autoptr(DemurHeader) header = header_of(coding);
  DemurDecodedLayout layout;
  const gboolean decoded = demur_dcmtk_decode(bytes, header, theirs, &layout, &error);
  g_assert_no_error(error);
  g_assert_true(decoded);
  g_assert_true(memcmp(words, theirs, sizeof words) == 0);
}

static void
test_every_predictor_and_precision_comes_out_as_it_went_in(void) {
  static const guint precisions[] = {8, 12, 15, 16};
  for (size_t p = 0; p < G_N_ELEMENTS(precisions); p++)
    for (guint predictor = 1; predictor <= 7; predictor++)
      for (guint codes = 0; codes < 2; codes++)
        check_coding(&(Coding){precisions[p], predictor, 0, 0, codes == 1});
}

static void
test_point_transform_and_restarts(void) {
  check_coding(&(Coding){12, 1, 2, 0, FALSE});
  check_coding(&(Coding){16, 6, 4, 0, TRUE});
  check_coding(&(Coding){12, 1, 0, 1, FALSE});
  check_coding(&(Coding){16, 7, 0, 2, TRUE}); /* eleven restarts: their numbers begin anew at 8 */
}

/* Cut anywhere or with any byte changed it is refused or decoded, never read behind its end; what
 * lacks its last rows is refused. */
static void
test_damaged_images_are_refused_or_harmless(void) {
  const Coding coding = {16, 4, 0, 3, TRUE};
  guint16 image[WIDTH * HEIGHT], words[WIDTH * HEIGHT];
  draw(&coding, image);
  g_autoptr(GBytes) bytes = encode(&coding, image);
  gsize size;
  const guint8 *whole = g_bytes_get_data(bytes, &size);
  for (gsize length = 4; length < size - 4; length++) {
    g_autofree guint8 *copy = g_memdup2(whole, length);
    g_autoptr(GBytes) cut = g_bytes_new_static(copy, length);
    g_autoptr(GError) error = NULL;
    const DemurJpegResult result = demur_jpeg_lossless_decode(cut, HEIGHT, WIDTH, words, &error);
    g_assert_cmpint(result, ==, DEMUR_JPEG_DAMAGED);
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
  }
  for (gsize i = 2; i < MIN(size, 400); i++) {
    g_autofree guint8 *copy = g_memdup2(whole, size);
    copy[i] ^= 0x81;
    g_autoptr(GBytes) changed = g_bytes_new_static(copy, size);
    g_autoptr(GError) error = NULL;
    const DemurJpegResult result =
        demur_jpeg_lossless_decode(changed, HEIGHT, WIDTH, words, &error);
    g_assert_true((result == DEMUR_JPEG_DAMAGED) == (error != NULL));
  }
  g_autoptr(GError) error = NULL;
  g_assert_cmpint(demur_jpeg_lossless_decode(bytes, HEIGHT + 1, WIDTH, words, &error), ==,
                  DEMUR_JPEG_DAMAGED);
  g_assert_nonnull(strstr(error->message, "23 x 37"));
}

/* Twelve bits stored on top of sixteen: a decoder of words alone would show the low ones. */
static void
test_stored_bits_lie_where_high_bit_says(void) {
  const Coding coding = {16, 1, 0, 0, TRUE};
  guint16 image[WIDTH * HEIGHT];
  gint32 values[WIDTH * HEIGHT];
  draw(&coding, image);
  g_autoptr(GBytes) bytes = encode(&coding, image);
  g_autoptr(DemurSource) source = demur_source_bytes(bytes);
  DemurFragment fragment = {0, (guint32)g_bytes_get_size(bytes), TRUE};
  const DemurHeader header = {.transfer_syntax_uid = (char *)"1.2.840.10008.1.2.4.70",
                              .rows = HEIGHT,
                              .columns = WIDTH,
                              .samples = 1,
                              .bits_allocated = 16,
                              .bits_stored = 12,
                              .high_bit = 15,
                              .n_frames = 1,
                              .encapsulated = TRUE,
                              .n_fragments = 1,
                              .fragments = &fragment,
                              .pixels = DEMUR_PIXELS_COMPLETE};
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_pixels_decode(source, &header, 0, values, NULL, &error));
  g_assert_no_error(error);
  for (size_t i = 0; i < WIDTH * HEIGHT; i++)
    g_assert_cmpint(values[i], ==, image[i] >> 4);
}

int
main(int argc, char **argv) {
  fixture_init(&argc, &argv);
  g_test_add_func("/dicom/jpeg/every-predictor-and-precision-comes-out-as-it-went-in",
                  test_every_predictor_and_precision_comes_out_as_it_went_in);
  g_test_add_func("/dicom/jpeg/point-transform-and-restarts", test_point_transform_and_restarts);
  g_test_add_func("/dicom/jpeg/stored-bits-lie-where-high-bit-says",
                  test_stored_bits_lie_where_high_bit_says);
  g_test_add_func("/dicom/jpeg/damaged-images-are-refused-or-harmless",
                  test_damaged_images_are_refused_or_harmless);
  return g_test_run();
}
