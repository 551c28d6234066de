/* Bands of numbers. Right values: worked by hand from the rule of the header. */
#include "cohort/bands.h"

static void
test_ages(void) {
  enum { N = 41 };
  char *values[N + 1];
  guint32 codes[N + 1], rows[N + 1];
  for (guint32 i = 0; i < N; i++) {
    values[i] = g_strdup_printf("%u", 40 + i); /* 40 to 80; the middle nine tenths: 42 to 78 */
    codes[i] = rows[i] = i;
  }
  values[N] = g_strdup("");
  codes[N] = rows[N] = N;
  DemurAttribute attribute = {(char *)"age", N + 1, values, codes};
  const DemurCohort cohort = {.n_scans = N + 1, .n_attributes = 1, .attributes = &attribute};
  g_autoptr(DemurBands) bands = demur_bands_new(&cohort, 0, rows, N + 1);
  static const char *const names[] = {"<50", "50 to <60", "60 to <70", "70 and more", ""};
  g_assert_cmpuint(bands->n_bands, ==, G_N_ELEMENTS(names));
  for (size_t b = 0; b < G_N_ELEMENTS(names); b++)
    g_assert_cmpstr(bands->names[b], ==, names[b]);
  g_assert_cmpuint(bands->of_value[0], ==, 0);  /* 40 */
  g_assert_cmpuint(bands->of_value[9], ==, 0);  /* 49 */
  g_assert_cmpuint(bands->of_value[10], ==, 1); /* 50 */
  g_assert_cmpuint(bands->of_value[29], ==, 2); /* 69 */
  g_assert_cmpuint(bands->of_value[30], ==, 3); /* 70 */
  g_assert_cmpuint(bands->of_value[40], ==, 3); /* 80 */
  g_assert_cmpuint(bands->of_value[N], ==, 4);
  /* A text among them, or few: no bands. */
  g_free(values[3]);
  values[3] = g_strdup("old");
  g_assert_null(demur_bands_new(&cohort, 0, rows, N + 1));
  attribute.n_values = 3;
  g_assert_null(demur_bands_new(&cohort, 0, rows, 3));
  for (guint32 i = 0; i <= N; i++)
    g_free(values[i]);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/cohort/bands/ages", test_ages);
  return g_test_run();
}
