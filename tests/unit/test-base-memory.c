/* Arrays and digests: sizes that overflow are refused, neighbours can't run together. */
#include <math.h>
#include <string.h>

#include "base/digest.h"
#include "base/error.h"
#include "base/memory.h"
#include "support/support.h"

static void
sizes_that_overflow_are_refused(void) {
  static const struct {
    size_t rows, columns, size;
  } rows[] = {
      {G_MAXSIZE, 1, 8},
      {1, G_MAXSIZE, 2},
      {G_MAXSIZE, G_MAXSIZE, 1},
      {(size_t)1 << 32, (size_t)1 << 32, 1},
      {(size_t)1 << 21, (size_t)1 << 21, (size_t)1 << 22},
      {G_MAXSIZE / 8 + 1, 1, 8}, /* wraps to a small number */
      {G_MAXSIZE / 2, 1, 1},     /* no overflow, but more than any machine has */
  };
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(demur_memory_array(rows[r].rows, rows[r].columns, rows[r].size, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
  }
}

/* 8 MB lies above the limit from which large pages are asked for. */
static void
arrays_are_zero_and_aligned(void) {
  static const size_t sizes[] = {0, 1, 7, 8, 1000, (size_t)1 << 20};
  for (size_t s = 0; s < G_N_ELEMENTS(sizes); s++)
    for (int again = 0; again < 2; again++) { /* the second may get memory that was used */
      g_autoptr(GError) error = NULL;
      DEMUR_AUTO_ALIGNED double *values = demur_memory_array(sizes[s], 1, sizeof(double), &error);
      g_assert_no_error(error);
      g_assert_nonnull(values);
      g_assert_cmpuint((guintptr)values % 64, ==, 0);
      for (size_t i = 0; i < sizes[s]; i++) {
        g_assert_cmpfloat(values[i], ==, 0.0);
        values[i] = NAN;
      }
    }
}

static void
add_texts(GChecksum *checksum, const char *first, const char *second) {
  demur_digest_add_text(checksum, first);
  demur_digest_add_text(checksum, second);
}

static char *
digest_of_texts(const char *first, const char *second) {
  g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
  add_texts(checksum, first, second);
  return g_strdup(g_checksum_get_string(checksum));
}

/* All of these concatenate to the same or nearly the same bytes; all must differ. */
static void
neighbours_do_not_run_together(void) {
  static const char *const pairs[][2] = {{"ab", "c"},   {"a", "bc"},   {"abc", ""}, {"", "abc"},
                                         {"abc", NULL}, {NULL, "abc"}, {"", ""},    {"", NULL},
                                         {NULL, ""},    {NULL, NULL}};
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (size_t r = 0; r < G_N_ELEMENTS(pairs); r++)
    g_assert_true(g_hash_table_add(seen, digest_of_texts(pairs[r][0], pairs[r][1])));
  g_autofree char *again = digest_of_texts("ab", "c");
  g_assert_true(g_hash_table_contains(seen, again));
}

/* SHA-256 of the bytes 01 00 .. 00 (the length, eight bytes) 61, by coreutils' sha256sum. */
static void
framing_is_a_little_endian_length(void) {
  g_autoptr(GChecksum) ours = g_checksum_new(G_CHECKSUM_SHA256);
  demur_digest_add_text(ours, "a");
  static const guchar bytes[] = {1, 0, 0, 0, 0, 0, 0, 0, 'a'};
  g_autofree char *expected = g_compute_checksum_for_data(G_CHECKSUM_SHA256, bytes, sizeof bytes);
  g_assert_cmpstr(g_checksum_get_string(ours), ==, expected);
  g_assert_cmpstr(expected, ==, "ae6121c88ba555f64c3d812123eb799d128015541f850c5e9bf1d54c08ad8481");
}

static void
numbers_are_told_apart(void) {
  const double a[] = {1, 2}, b[] = {1, -0.0}, c[] = {1, 0.0};
  const float f[] = {1, 2};
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (int k = 0; k < 6; k++) {
    g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
    switch (k) {
    case 0:
      demur_digest_add_doubles(checksum, a, 2);
      break;
    case 1: /* one frame of two is not two frames of one */
      demur_digest_add_doubles(checksum, a, 1);
      demur_digest_add_doubles(checksum, a + 1, 1);
      break;
    case 2:
      demur_digest_add_doubles(checksum, b, 2);
      break;
    case 3:
      demur_digest_add_doubles(checksum, c, 2);
      break;
    case 4:
      demur_digest_add_floats(checksum, f, 2);
      break;
    case 5:
      demur_digest_add_doubles(checksum, NULL, 0);
      break;
    }
    g_assert_true(g_hash_table_add(seen, g_strdup(g_checksum_get_string(checksum))));
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/base/memory/overflow", sizes_that_overflow_are_refused);
  g_test_add_func("/base/memory/zero", arrays_are_zero_and_aligned);
  g_test_add_func("/base/digest/neighbours", neighbours_do_not_run_together);
  g_test_add_func("/base/digest/framing", framing_is_a_little_endian_length);
  g_test_add_func("/base/digest/numbers", numbers_are_told_apart);
  return g_test_run();
}
