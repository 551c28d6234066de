/* What an outcome weighs in the recalibration: a scan of weight 2 is two scans, one of weight 0
 * none; and a model that is right stays as it is where scans were left before the horizon. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "metrics/censoring.h"
#include "selector/recalibration.h"
#include "support/support.h"

enum { N = 240 };

static void
a_weight_is_a_multiplicity(void) {
  double risks[N], twice[2 * N], weights[N];
  gint32 labels[N], twice_labels[2 * N];
  size_t m = 0;
  DemurRandom random = demur_random_stream(4, DEMUR_STREAM_TEST, 0, 0, 0);
  for (size_t i = 0; i < N; i++) {
    risks[i] = 0.05 + 0.9 * demur_random_uniform(&random);
    labels[i] = demur_random_uniform(&random) < 0.5 * risks[i];
    weights[i] = (double)(i % 3);
    for (size_t copy = 0; copy < i % 3; copy++) {
      twice[m] = risks[i];
      twice_labels[m++] = labels[i];
    }
  }
  static const DemurRecalibrationKind kinds[] = {
      DEMUR_RECALIBRATION_INTERCEPT, DEMUR_RECALIBRATION_PLATT, DEMUR_RECALIBRATION_TEMPERATURE};
  for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++) {
    g_autoptr(DemurRecalibration) a =
        demur_recalibration_fit(kinds[k], risks, 2, labels, weights, N);
    g_autoptr(DemurRecalibration) b =
        demur_recalibration_fit(kinds[k], twice, 2, twice_labels, NULL, m);
    demur_assert_close(a->intercept, b->intercept, 1e-8, 1e-10);
    demur_assert_close(a->slope, b->slope, 1e-8, 1e-10);
  }
}

/* 12 sites, 10 % a year leave: of the complete scans alone an intercept would be shown to help. */
static void
a_right_model_is_left_alone(void) {
  enum { M = 6000 };
  static double risks[M], weights[M], times[M], kept_risks[M], kept_weights[M], out[M];
  static gint32 ended[M], labels[M];
  static guint32 sites[M], kept_sites[M];
  DemurRandom random = demur_random_stream(8, DEMUR_STREAM_TEST, 0, 0, 0);
  for (size_t i = 0; i < M; i++) {
    risks[i] = 0.02 + 0.5 * demur_random_uniform(&random) * demur_random_uniform(&random);
    sites[i] = (guint32)(i % 12);
    const double event = log1p(-demur_random_uniform(&random)) / (log1p(-risks[i]) / 6.0);
    const double leaving = fmin(7.1, -10.0 * log1p(-demur_random_uniform(&random)));
    times[i] = fmin(event, leaving);
    ended[i] = event <= leaving ? DEMUR_ENDED_EVENT : DEMUR_ENDED_LEFT;
  }
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurCensoring) censoring =
      demur_censoring_new(times, ended, sites, M, 12, 6.0, &error);
  g_assert_no_error(error);
  demur_censoring_weights(censoring, NULL, weights, NULL);
  size_t n = 0;
  for (size_t i = 0; i < M; i++) {
    if (!(weights[i] > 0.0))
      continue;
    kept_risks[n] = risks[i];
    kept_weights[n] = weights[i];
    kept_sites[n] = sites[i];
    labels[n++] = ended[i] == DEMUR_ENDED_EVENT && times[i] < 6.0;
  }
  DemurRecalibrationQuestion question = {.kind = DEMUR_RECALIBRATION_AUTO,
                                         .probabilities = kept_risks,
                                         .n_classes = 2,
                                         .labels = labels,
                                         .weights = kept_weights,
                                         .sites = kept_sites,
                                         .n = n,
                                         .seed = 1};
  DemurRecalibrationTrial trials[DEMUR_RECALIBRATION_MAX_TRIALS];
  size_t n_trials;
  g_assert_cmpint(demur_recalibration_choose(&question, out, trials, &n_trials), ==,
                  DEMUR_RECALIBRATION_NONE);
  question.weights = NULL;
  g_assert_cmpint(demur_recalibration_choose(&question, out, trials, &n_trials), !=,
                  DEMUR_RECALIBRATION_NONE);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/selector/weights/are-multiplicities", a_weight_is_a_multiplicity);
  g_test_add_func("/selector/weights/a-right-model-is-left-alone", a_right_model_is_left_alone);
  return g_test_run();
}
