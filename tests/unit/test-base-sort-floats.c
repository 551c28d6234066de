/* The order is that of the C library's sort by comparison, bit for bit but for zeros of either sign. */
#include <float.h>
#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/sort-floats.h"

static int
compare(const void *a, const void *b) {
  const float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

static void
by_hand(void) {
  float values[] = {3.0f,  -INFINITY,    0.0f,          -1.5f,    FLT_MAX,
                    -0.0f, FLT_TRUE_MIN, -FLT_TRUE_MIN, INFINITY, -1.5f};
  const float expected[] = {-INFINITY, -1.5f,        -1.5f, -FLT_TRUE_MIN, -0.0f,
                            0.0f,      FLT_TRUE_MIN, 3.0f,  FLT_MAX,       INFINITY};
  demur_sort_floats(values, G_N_ELEMENTS(values));
  for (size_t i = 0; i < G_N_ELEMENTS(values); i++)
    g_assert_true(values[i] == expected[i] && signbit(values[i]) == signbit(expected[i]));
  demur_sort_floats(values, 0);
}

static void
as_the_c_library_does(void) {
  DemurRandom random = demur_random_stream(1, DEMUR_STREAM_TEST, 0, 0, 0);
  for (size_t n = 1; n < 3000; n += 1 + n / 3) {
    g_autofree float *values = g_new(float, n);
    for (size_t i = 0; i < n; i++)
      values[i] = (float)ldexp(demur_random_uniform(&random) - 0.5, (int)(i % 60) - 30);
    g_autofree float *expected = g_memdup2(values, n * sizeof *values);
    qsort(expected, n, sizeof *expected, compare);
    demur_sort_floats(values, n);
    g_assert_true(memcmp(values, expected, n * sizeof *values) == 0);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/base/sort-floats/hand", by_hand);
  g_test_add_func("/base/sort-floats/library", as_the_c_library_does);
  return g_test_run();
}
