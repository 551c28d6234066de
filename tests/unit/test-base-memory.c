/* Arrays and digests: sizes that overflow are refused, neighbours can't run together. */
#include <math.h>
#include <string.h>

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

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/base/memory/overflow", sizes_that_overflow_are_refused);
  g_test_add_func("/base/memory/zero", arrays_are_zero_and_aligned);
  return g_test_run();
}
