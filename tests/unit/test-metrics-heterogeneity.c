/* Random effects. Right values: by hand where estimates agree; for five hospitals by the formulas
 * written again in Python, Q as a sum of squares, t of three degrees of freedom from tables. */
#include "metrics/heterogeneity.h"

#include <math.h>

static void
test_agreement(void) {
  const double values[] = {0.3, 0.3, 0.3}, errors[] = {0.1, 0.1, 0.1};
  const DemurHeterogeneity h = demur_heterogeneity(values, errors, 3);
  g_assert_cmpfloat(h.tau2, ==, 0);
  g_assert_cmpfloat(h.i2, ==, 0);
  g_assert_cmpfloat_with_epsilon(h.mean, 0.3, 1e-12);
  g_assert_cmpfloat_with_epsilon(h.high - h.mean, 1.959963984540054 * 0.1 / sqrt(3), 1e-12);
}

static void
test_five_hospitals(void) {
  const double values[] = {-0.4, -0.1, 0.1, 0.5, 0.2, NAN},
               errors[] = {0.15, 0.1, 0.2, 0.12, 0.3, 1};
  const DemurHeterogeneity h = demur_heterogeneity(values, errors, 6);
  g_assert_cmpuint(h.k, ==, 5);
  g_assert_cmpfloat_with_epsilon(h.q, 25.6222222222, 1e-9);
  g_assert_cmpfloat_with_epsilon(h.tau2, 0.120247167868, 1e-9);
  g_assert_cmpfloat_with_epsilon(h.i2, 0.843885516045, 1e-9);
  g_assert_cmpfloat_with_epsilon(h.mean, 0.0519164983715, 1e-9);
  g_assert_cmpfloat_with_epsilon(h.low, -0.288719766562, 1e-9);
  g_assert_cmpfloat_with_epsilon(h.predicted_high, 1.28633091912, 2e-4);
}

static void
test_few(void) {
  const double value = 0.2, error = 0.1;
  const DemurHeterogeneity none = demur_heterogeneity(NULL, NULL, 0),
                           one = demur_heterogeneity(&value, &error, 1);
  g_assert_true(none.k == 0 && isnan(none.mean));
  g_assert_true(one.k == 1 && isnan(one.tau2) && isnan(one.predicted_low));
  g_assert_cmpfloat_with_epsilon(one.mean, 0.2, 1e-15);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/metrics/heterogeneity/agreement-is-none", test_agreement);
  g_test_add_func("/metrics/heterogeneity/five-hospitals", test_five_hospitals);
  g_test_add_func("/metrics/heterogeneity/few", test_few);
  return g_test_run();
}
