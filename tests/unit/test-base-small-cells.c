/* Small cells, and what would give them away. Right values: worked by hand; and a program that
 * tries: in 2,000 drawn tables no withheld row's count below the limit follows from the total and
 * the rows that are shown. */
#include "base/limits.h"
#include "base/random.h"
#include "base/small-cells.h"

static void
check(const size_t *counts, size_t n, size_t n_cells, const char *expected) {
  g_autofree gboolean *withheld = g_new0(gboolean, n);
  const size_t n_withheld = demur_small_cells(counts, n, n_cells, withheld);
  size_t sum = 0;
  for (size_t i = 0; i < n; i++) {
    g_assert_cmpint(withheld[i] ? 'x' : '.', ==, expected[i]);
    sum += withheld[i] ? 1 : 0;
  }
  g_assert_cmpuint(sum, ==, n_withheld);
}

static void
test_by_hand(void) {
  check((size_t[]){10, 20, 30}, 3, 1, "...");
  check((size_t[]){9, 20, 30}, 3, 1, "xx.");     /* 9 = total - 50 */
  check((size_t[]){5, 4, 30, 12}, 4, 1, "xx.x"); /* 9 together */
  check((size_t[]){5, 5, 30}, 3, 1, "xx.");      /* 10 together: enough */
  check((size_t[]){0, 40, 30}, 3, 1, "x.x");     /* none is a count too */
  check((size_t[]){5}, 1, 1, "x");
  check((size_t[]){5, 3}, 2, 1, "xx");
  /* 5 of 146 have the outcome; its 141 others tell it as well, so the row goes with another. */
  check((size_t[]){553, 46, 297, 23, 251, 21, 141, 5}, 4, 2, "..xx");
}

/* What follows from the total: the sum of the withheld rows, nothing else. */
static void
test_subtraction(void) {
  for (guint64 t = 0; t < 2000; t++) {
    DemurRandom random = demur_random_stream(7, DEMUR_STREAM_TEST, t, 0, 0);
    const size_t n = 1 + (size_t)demur_random_below(&random, 12);
    const guint64 most = 2 + demur_random_below(&random, 60);
    size_t counts[24];
    gboolean withheld[12];
    for (size_t i = 0; i < 2 * n; i++)
      counts[i] = (size_t)demur_random_below(&random, most);
    const size_t n_withheld = demur_small_cells(counts, n, 2, withheld);
    for (size_t i = 0; i < n; i++)
      for (size_t c = 0; c < 2; c++)
        g_assert_true(withheld[i] || counts[2 * i + c] >= DEMUR_SMALL_CELL);
    if (n_withheld == 0 || n_withheld == n)
      continue;
    g_assert_cmpuint(n_withheld, >, 1);
    for (size_t c = 0; c < 2; c++) {
      size_t together = 0;
      for (size_t i = 0; i < n; i++)
        together += withheld[i] ? counts[2 * i + c] : 0;
      g_assert_cmpuint(together, >=, DEMUR_SMALL_CELL);
    }
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/base/small-cells/by-hand", test_by_hand);
  g_test_add_func("/base/small-cells/nothing-follows-from-the-total", test_subtraction);
  return g_test_run();
}
