/* How far a shown risk may be off: values worked by hand, and labels that are drawn. */
#include <math.h>

#include "base/random.h"
#include "metrics/offset-logistic.h"
#include "selector/risk-interval.h"
#include "support/support.h"

/* Without a slope: the risk's logit +- the intercept's. With one: quadrature, nothing at the
 * centre. */
static void
bounds_by_hand(void) {
  const DemurRiskInterval site = {.middle = 0.1, .low = -0.9, .high = 0.8};
  double low, high;
  demur_risk_interval_at(&site, 0.5, &low, &high);
  demur_assert_close(low, demur_sigmoid(-0.9), 1e-12, 0);
  demur_assert_close(high, demur_sigmoid(0.8), 1e-12, 0);
  DemurRiskInterval both = {.middle = 0.0,
                            .low = -3.0,
                            .high = 3.0,
                            .slope_sd = 4.0 / 1.959963984540054,
                            .slope_centre = -1.0};
  demur_risk_interval_at(&both, 0.5, &low, &high); /* l - c = 1: sqrt(3^2 + 4^2) = 5 */
  demur_assert_close(low, demur_sigmoid(-5.0), 1e-12, 0);
  demur_assert_close(high, demur_sigmoid(5.0), 1e-12, 0);
  demur_risk_interval_at(&both, demur_sigmoid(-1.0), &low, &high);
  demur_assert_close(low, demur_sigmoid(-4.0), 1e-12, 0);
  g_assert_true(demur_risk_interval_crosses(0.05, 0.07, 0.06));
  g_assert_true(
      demur_risk_interval_crosses(0.05, 0.06, 0.06)); /* 0.06 itself is on the upper side */
  g_assert_false(demur_risk_interval_crosses(0.06, 0.07, 0.06));
  g_assert_false(demur_risk_interval_crosses(0.01, 0.05, 0.06));
}

/* Drawn from the risks themselves: the slope's error is that of its fit over repeated samples, and
 * rows of one site that repeat each other count once. */
static void
slope_error_is_the_spread_of_slopes(void) {
  enum { N = 800, TIMES = 200 };
  DemurRandom random = demur_random_stream(3, DEMUR_STREAM_TEST, 0, 0, 0);
  double logits[2 * N], labels[2 * N], sum = 0.0, square = 0.0, told = 0.0;
  guint32 sites[2 * N];
  for (int t = 0; t < TIMES; t++) {
    for (size_t i = 0; i < N; i++) {
      logits[i] = demur_random_normal(&random) - 0.5;
      labels[i] = demur_random_uniform(&random) < demur_sigmoid(logits[i]) ? 1.0 : 0.0;
      sites[i] = (guint32)(i / 8);
    }
    g_autofree double *zeros = g_new0(double, N);
    double slope = 1.0, intercept = 0.0, sd, centre;
    const DemurOffsetLogistic problem = {
        .n = N, .d = 1, .stride = 1, .inputs = logits, .offsets = zeros, .labels = labels};
    demur_offset_logistic_fit(&problem, &slope, &intercept);
    demur_risk_interval_fit_slope(logits, labels, sites, N, &sd, &centre);
    sum += slope / TIMES;
    square += slope * slope / TIMES;
    told += sd / TIMES;
    if (t > 0)
      continue;
    for (size_t i = 0; i < N; i++) {
      logits[N + i] = logits[i];
      labels[N + i] = labels[i];
      sites[N + i] = sites[i];
    }
    double twice, same;
    demur_risk_interval_fit_slope(logits, labels, sites, 2 * N, &twice, &same);
    g_assert_cmpfloat(twice, >, 0.8 * sd);
    g_assert_cmpfloat(twice, <=, 1.0001 * sd);
  }
  /* 200 slopes tell their spread to 5 %; the larger of two estimates lies a little above it. */
  const double spread = sqrt(square - sum * sum);
  g_assert_cmpfloat(told, >, 0.9 * spread);
  g_assert_cmpfloat(told, <, 1.25 * spread);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/selector/risk-interval/bounds", bounds_by_hand);
  g_test_add_func("/selector/risk-interval/slope", slope_error_is_the_spread_of_slopes);
  return g_test_run();
}
