/* The map of quantiles that a released selector's outlier values go through: values by hand. What
 * the file holds is tested in test-commands-selector.c. */
#include "selector/selector-private.h"
#include "support/support.h"

static void
test_map(void) {
  double from[DEMUR_RELEASE_KNOTS], to[DEMUR_RELEASE_KNOTS];
  for (size_t k = 0; k < DEMUR_RELEASE_KNOTS; k++) {
    from[k] = (double)k;
    to[k] = 100.0 + 2.0 * (double)k;
  }
  static const double cases[][2] = {
      {0, 100}, {1.5, 103}, {64, 228}, {-10, 80}, {74, 248}}; /* straight beyond the ends too */
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
    demur_assert_close(demur_release_map(from, to, cases[i][0]), cases[i][1], 1e-12, 0.0);
  /* Knots that fall together, and a column without any spread. */
  from[3] = from[4] = from[5] = 3.0;
  for (double x = -5.0, last = -G_MAXDOUBLE; x < 70.0; x += 0.25) {
    const double y = demur_release_map(from, to, x);
    g_assert_cmpfloat(y, >=, last);
    last = y;
  }
  for (size_t k = 0; k < DEMUR_RELEASE_KNOTS; k++)
    from[k] = 1.0;
  g_assert_cmpfloat(demur_release_map(from, to, 7.0), ==, to[(DEMUR_RELEASE_KNOTS - 1) / 2]);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/selector/release/map", test_map);
  return g_test_run();
}
