/* What an outcome weighs in the recalibration: a scan of weight 2 is two scans, one of weight 0
 * none; and a model that is right stays as it is where scans were left before the horizon. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "metrics/censoring.h"
#include "metrics/offset-logistic.h"
#include "metrics/site-prior.h"
#include "selector/recalibration.h"
#include "selector/trainer.h"
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

/* One short training: `scans` in arrays, all data sets or the kappa worst. Parameters (owned). */
static DemurReal *
train(const DemurTrainerPart *part, gint64 kappa) {
  g_autoptr(DemurTrainSettings) settings = demur_train_settings_new();
  settings->epochs = 1;
  settings->datasets_per_epoch = 40;
  settings->batch = 4;
  settings->dataset_size = 120;
  settings->kappa = kappa;
  settings->stopping = DEMUR_STOPPING_FLAT;
  const DemurTrainerPart none = {0};
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurTrainerResult) result =
      demur_trainer_run(part, &none, settings, 1, 0, 0, NULL, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpint(result->n_updates, ==, 10);
  return g_steal_pointer(&result->parameters);
}

static gboolean
same(const DemurReal *a, const DemurReal *b) {
  const DemurMlpShape shape = demur_mlp_shape(2, 64);
  return memcmp(a, b, shape.n_parameters * sizeof *a) == 0;
}

/* The loss of v_i = w_i c_i e_i g_i: weights that are all alike change nothing; weights times 4 of
 * errors a quarter as large neither, where all data sets are kept; in the choice of the kappa worst
 * they count for themselves. (4: exact in binary.) */
static void
weights_reach_loss_and_choice(void) {
  static double features[2 * N], risks[N], labels[N], errors[N], quarter[N], alike[N], mixed[N];
  static guint32 groups[N];
  DemurRandom random = demur_random_stream(6, DEMUR_STREAM_TEST, 0, 0, 0);
  for (size_t i = 0; i < N; i++) {
    features[2 * i] = demur_random_normal(&random);
    features[2 * i + 1] = demur_random_normal(&random);
    risks[i] = demur_random_uniform(&random);
    labels[i] = demur_random_uniform(&random) < risks[i];
    groups[i] = (guint32)(i % 5);
    errors[i] = (labels[i] - risks[i]) * (labels[i] - risks[i]);
    alike[i] = 1.75;
    mixed[i] = i % 2 == 0 ? 1.6 : 0.4; /* the mean is 1 */
    quarter[i] = errors[i] * mixed[i];
  }
  DemurTrainerPart part = {.n_scans = N,
                           .n_features = 2,
                           .features = features,
                           .risks = risks,
                           .labels = labels,
                           .groups = groups,
                           .n_groups = 5};
  DEMUR_AUTO_ALIGNED DemurReal *plain_all = train(&part, 0), *plain_worst = train(&part, 1);
  part.weights = alike;
  DEMUR_AUTO_ALIGNED DemurReal *alike_all = train(&part, 0);
  part.weights = mixed;
  DEMUR_AUTO_ALIGNED DemurReal *mixed_all = train(&part, 0), *mixed_worst = train(&part, 1);
  part.weights = NULL;
  part.errors = quarter;
  DEMUR_AUTO_ALIGNED DemurReal *product_all = train(&part, 0), *product_worst = train(&part, 1);
  g_assert_true(same(plain_all, alike_all));
  g_assert_false(same(plain_all, mixed_all));
  g_assert_true(same(mixed_all, product_all));
  g_assert_false(same(plain_worst, mixed_worst));
  g_assert_false(same(mixed_worst, product_worst)); /* the choice saw no weights */
}

/* Half of each site's survivors were left, and the others weigh 2: the site's intercept is that of
 * all, and no narrower than the scans that were followed make it. */
static void
sites_are_weighted(void) {
  enum { SITES = 6, EACH = 120 };
  double offsets[SITES * EACH], labels[SITES * EACH], weights[SITES * EACH];
  double all[SITES], weighted[SITES], biased[SITES];
  guint32 sites[SITES * EACH];
  size_t n = 0, n_all = 0;
  double all_offsets[SITES * EACH], all_labels[SITES * EACH];
  guint32 all_sites[SITES * EACH];
  for (size_t i = 0; i < SITES * EACH; i++) {
    const double label = i / SITES % 5 == 0;
    all_offsets[n_all] = -1.0;
    all_labels[n_all] = label;
    all_sites[n_all++] = (guint32)(i % SITES);
    if (label == 0.0 && i / SITES % 10 >= 6)
      continue; /* 4 of 8 survivors */
    offsets[n] = -1.0;
    labels[n] = label;
    weights[n] = label > 0.0 ? 1.0 : 2.0;
    sites[n++] = (guint32)(i % SITES);
  }
  g_autoptr(DemurSitePrior) a =
      demur_site_prior_fit(all_offsets, all_labels, NULL, all_sites, n_all, all);
  g_autoptr(DemurSitePrior) b = demur_site_prior_fit(offsets, labels, weights, sites, n, weighted);
  g_autoptr(DemurSitePrior) c = demur_site_prior_fit(offsets, labels, NULL, sites, n, biased);
  for (size_t s = 0; s < SITES; s++) {
    demur_assert_close(weighted[s], all[s], 0.02, 0.0);
    g_assert_cmpfloat(biased[s], >, all[s] + 0.4);
  }
  g_assert_cmpfloat(b->tau_high, >, a->tau_high);
  for (size_t i = 0; i < n; i++)
    weights[i] *= 7.0; /* their scale says nothing */
  g_autoptr(DemurSitePrior) d = demur_site_prior_fit(offsets, labels, weights, sites, n, biased);
  demur_assert_close(d->tau_high, b->tau_high, 1e-9, 0.0);
  g_assert_cmpuint(c->n_sites, ==, SITES);
}

/* Nine hospitals whose outcomes are more than said by their own differences (intercepts N(.3, .3^2)):
 * what they show is little, and hospitals to come may be otherwise. Bounds of 90 % change risks in about
 * a third of such cohorts. Twenty hospitals and more are judged by 90 %. */
static void
few_sites_change_no_risk_by_little(void) {
  enum { DRAWS = 60, SITES = 9, EACH = 120, M = SITES * EACH };
  g_autofree double *p = g_new(double, M), *out = g_new(double, M);
  g_autofree gint32 *y = g_new(gint32, M);
  g_autofree guint32 *sites = g_new(guint32, M);
  guint n_changed = 0;
  for (guint64 draw = 0; draw < DRAWS; draw++) {
    DemurRandom random = demur_random_stream(draw, DEMUR_STREAM_TEST, 91, 0, 0);
    double b = 0.0;
    for (size_t i = 0; i < M; i++) {
      b = i % EACH == 0 ? 0.3 + 0.3 * demur_random_normal(&random) : b;
      const double l = 1.2 * demur_random_normal(&random) - 1.0;
      p[i] = demur_sigmoid(l);
      y[i] = demur_random_uniform(&random) < demur_sigmoid(l + b);
      sites[i] = (guint32)(i / EACH);
    }
    DemurRecalibrationQuestion question = {.kind = DEMUR_RECALIBRATION_AUTO,
                                           .probabilities = p,
                                           .n_classes = 2,
                                           .labels = y,
                                           .sites = sites,
                                           .n = M,
                                           .seed = draw};
    DemurRecalibrationTrial trials[DEMUR_RECALIBRATION_MAX_TRIALS];
    size_t n_trials;
    n_changed +=
        demur_recalibration_choose(&question, out, trials, &n_trials) != DEMUR_RECALIBRATION_NONE;
    demur_assert_close(trials[1].bound, 0.975, 0, 0);
  }
  g_test_message("changed in %u of %d", n_changed, DRAWS);
  g_assert_cmpuint(n_changed, <=, 9);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/selector/weights/are-multiplicities", a_weight_is_a_multiplicity);
  g_test_add_func("/selector/weights/a-right-model-is-left-alone", a_right_model_is_left_alone);
  g_test_add_func("/selector/weights/reach-loss-and-choice", weights_reach_loss_and_choice);
  g_test_add_func("/selector/weights/few-sites", few_sites_change_no_risk_by_little);
  g_test_add_func("/selector/weights/reach-the-sites", sites_are_weighted);
  return g_test_run();
}
