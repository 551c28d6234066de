/* Ridge logistic regression with an offset, where its minimum must lie: there the gradient, added up here
 * row by row, is 0 (to what the rounding of the objective leaves open), and it is the only such place, as the objective is strictly convex. */
#include <glib.h>
#include <math.h>

#include "base/random.h"
#include "metrics/offset-logistic.h"

#define MOST_ROWS 131
#define MOST_INPUTS 20
#define STRIDE 23

/* Rows around whole blocks, inputs around whole vectors; rows that count nothing, once and 2.5 times. */
static void
gradient_is_zero_at_the_fit(void) {
  static const size_t sizes[] = {1, 2, 63, 64, 65, 128, MOST_ROWS},
                      widths[] = {0, 1, 7, 8, 9, 15, 16, MOST_INPUTS};
  double inputs[MOST_ROWS * STRIDE], offsets[MOST_ROWS], labels[MOST_ROWS], use[MOST_ROWS];
  DemurRandom random = demur_random_stream(1, DEMUR_STREAM_TEST, 0, 0, 0);
  for (size_t i = 0; i < MOST_ROWS; i++) {
    for (size_t c = 0; c < STRIDE; c++)
      inputs[i * STRIDE + c] = demur_random_normal(&random);
    offsets[i] = demur_random_normal(&random);
    labels[i] = demur_random_uniform(&random) < 0.4;
    use[i] = i % 5 == 3 ? 0.0 : i % 7 == 0 ? 2.5 : 1.0;
  }
  for (size_t a = 0; a < G_N_ELEMENTS(sizes); a++)
    for (size_t b = 0; b < 2 * G_N_ELEMENTS(widths); b++) {
      const size_t n = sizes[a], d = widths[b / 2];
      const DemurOffsetLogistic problem = {.n = n,
                                           .d = d,
                                           .stride = STRIDE,
                                           .inputs = inputs,
                                           .offsets = offsets,
                                           .labels = labels,
                                           .use = b % 2 == 0 ? use : NULL,
                                           .penalty = 0.7,
                                           .intercept_penalty = 0.3};
      double weights[MOST_INPUTS] = {0.0}, intercept = 0.0, gradient[MOST_INPUTS + 1] = {0.0};
      demur_offset_logistic_fit(&problem, weights, &intercept);
      for (size_t i = 0; i < n; i++) {
        double z = offsets[i] + intercept;
        for (size_t c = 0; c < d; c++)
          z += weights[c] * inputs[i * STRIDE + c];
        const double residual =
            (problem.use != NULL ? use[i] : 1.0) * (1.0 / (1.0 + exp(-z)) - labels[i]);
        for (size_t c = 0; c < d; c++)
          gradient[c] += residual * inputs[i * STRIDE + c];
        gradient[MOST_INPUTS] += residual;
      }
      for (size_t c = 0; c < d; c++)
        g_assert_cmpfloat(fabs(gradient[c] + 0.7 * weights[c]), <, 1e-5);
      g_assert_cmpfloat(fabs(gradient[MOST_INPUTS] + 0.3 * intercept), <, 1e-5);
    }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/metrics/offset-logistic/gradient", gradient_is_zero_at_the_fit);
  return g_test_run();
}
