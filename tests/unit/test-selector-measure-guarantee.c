/* Learn-then-Test guarantees: p values against sums by hand, and how often a guarantee breaks in
 * 500 draws of a world whose measures are known (2,000 with DEMUR_LONG set).
 *
 * The world: score u ~ U(0, 1), risk r ~ U(.02, .22) or U(.78, .98), y = 1 with probability r (1 - m) + m / 2, m =
 * (1 - u)^2: the lower the score, the less the risk says. A guarantee asks for the measure's value
 * at coverage .6, so that every larger coverage breaks it. Values by the midpoint rule over u and
 * r. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"
#include "selector/measure-guarantee.h"
#include "support/support.h"

enum { N_STEPS = 20, GRID = 400, N_TUNE = 2500 };

static double coverages[N_STEPS], thresholds[N_STEPS];

static double
risk_at(double v) {
  return v < 0.5 ? 0.02 + 0.4 * v : 0.58 + 0.4 * v;
}

static double
chance_of(double r, double u) {
  const double m = (1.0 - u) * (1.0 - u);
  return r * (1.0 - m) + 0.5 * m;
}

/* The measure's mean loss among the accepted at coverage c. */
static double
true_loss(DemurGuaranteeMeasure measure, double c) {
  double sum = 0.0, mass = 0.0;
  for (int i = 0; i < GRID; i++)
    for (int j = 0; j < GRID; j++) {
      const double u = 1.0 - c * ((double)i + 0.5) / GRID, r = risk_at(((double)j + 0.5) / GRID);
      const double p = chance_of(r, u);
      const gboolean positive = r >= 0.5;
      switch (measure) {
      case DEMUR_GUARANTEE_NPV:
        sum += positive ? 0.0 : p;
        mass += positive ? 0.0 : 1.0;
        break;
      case DEMUR_GUARANTEE_PPV:
        sum += positive ? 1.0 - p : 0.0;
        mass += positive ? 1.0 : 0.0;
        break;
      case DEMUR_GUARANTEE_FNR:
        sum += positive ? 0.0 : p;
        mass += p;
        break;
      case DEMUR_GUARANTEE_ERROR:
        sum += positive ? 1.0 - p : p;
        mass += 1.0;
        break;
      default:
        sum += p * (1.0 - r) * (1.0 - r) + (1.0 - p) * r * r;
        mass += 1.0;
      }
    }
  return sum / mass;
}

typedef struct {
  double scores[N_TUNE], risks[N_TUNE], labels[N_TUNE];
  guint32 patients[N_TUNE];
} World;

static void
draw(World *world, guint64 stream) {
  DemurRandom random = demur_random_stream(21, DEMUR_STREAM_TEST, stream, 0, 0);
  for (size_t i = 0; i < N_TUNE; i++) {
    world->scores[i] = demur_random_uniform(&random);
    world->risks[i] = risk_at(demur_random_uniform(&random));
    world->labels[i] = demur_random_uniform(&random) < chance_of(world->risks[i], world->scores[i]);
    world->patients[i] = (guint32)i;
  }
}

static DemurTuning *
tune(const World *world, size_t n, const DemurGuarantee *guarantees, size_t n_guarantees,
     GError **error) {
  const double *scores[1] = {world->scores};
  const DemurGuaranteeInput input = {.scores = scores,
                                     .n_networks = 1,
                                     .risks = world->risks,
                                     .labels = world->labels,
                                     .patients = world->patients,
                                     .n = n,
                                     .n_steps = N_STEPS,
                                     .coverages = coverages,
                                     .thresholds = thresholds,
                                     .positive_from = 0.5,
                                     .seed = 1};
  return demur_tune_guaranteed_measures(&input, guarantees, n_guarantees, error);
}

/* P(Bin(n, p) >= k). */
static double
at_least(size_t k, size_t n, double p) {
  double sum = 0.0;
  for (size_t i = k; i <= n; i++)
    sum += exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) +
               (double)i * log(p) + (double)(n - i) * log1p(-p));
  return sum;
}

static void
draws_keep_what_is_guaranteed(void) {
  const size_t n_draws = g_getenv("DEMUR_LONG") != NULL ? 2000 : 500;
  const double delta = 0.1, break_even = 0.6;
  g_autofree World *world = g_new(World, 1);
  for (DemurGuaranteeMeasure measure = 0; measure < DEMUR_N_GUARANTEES; measure++) {
    const double loss = true_loss(measure, break_even);
    g_assert_cmpfloat(true_loss(measure, break_even + 0.05), >, loss + 1e-4);
    const gboolean value = measure == DEMUR_GUARANTEE_NPV || measure == DEMUR_GUARANTEE_PPV;
    const DemurGuarantee g = {measure, value ? 1.0 - loss : loss, delta};
    size_t n_false = 0, n_found = 0;
    double coverage = 0.0;
    for (size_t d = 0; d < n_draws; d++) {
      draw(world, d);
      g_autoptr(GError) error = NULL;
      g_autoptr(DemurTuning) tuning = tune(world, N_TUNE, &g, 1, &error);
      if (tuning == NULL) {
        g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
        continue;
      }
      n_found++;
      coverage += tuning->coverage;
      n_false += tuning->coverage > break_even + 0.01;
    }
    g_test_message("%s %.4f: found in %zu of %zu draws, mean coverage %.3f of %.2f, false in %zu",
                   demur_guarantee_name(measure), g.level, n_found, n_draws,
                   coverage / (double)MAX(n_found, 1), break_even, n_false);
    /* False no more often than delta and what so many draws may miss it by ... */
    g_assert_cmpfloat(at_least(n_false, n_draws, delta), >, 0.0005);
    /* ... and not idle. */
    g_assert_cmpuint(n_found, >=, n_draws / 2);
    g_assert_cmpfloat(coverage / (double)n_found, >=, 0.3);
  }
}

/* Two at once hold each, and no further than each alone; in expectation the harm a scan is at most
 * what was asked for, over draws. */
static void
several_and_expectations(void) {
  g_autofree World *world = g_new(World, 1);
  double harm = 0.0;
  size_t n_found = 0;
  const double at_60 = 0.6 * true_loss(DEMUR_GUARANTEE_ERROR, 0.6);
  for (size_t d = 0; d < 200; d++) {
    draw(world, 5000 + d);
    const DemurGuarantee both[2] = {{DEMUR_GUARANTEE_NPV, 0.8, 0.1},
                                    {DEMUR_GUARANTEE_BRIER, 0.16, 0.1}},
                         expected = {DEMUR_GUARANTEE_ERROR, at_60, 0.0};
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurTuning) together = tune(world, N_TUNE, both, 2, NULL),
                           one = tune(world, N_TUNE, &both[0], 1, NULL),
                           other = tune(world, N_TUNE, &both[1], 1, NULL),
                           mean = tune(world, N_TUNE, &expected, 1, &error);
    if (together != NULL) {
      g_assert_nonnull(one);
      g_assert_nonnull(other);
      g_assert_cmpfloat(together->coverage, <=, fmin(one->coverage, other->coverage));
      n_found++;
    }
    g_assert_no_error(error);
    harm += mean->coverage * true_loss(DEMUR_GUARANTEE_ERROR, mean->coverage) / 200.0;
    g_assert_cmpfloat(mean->coverage, >, 0.3);
  }
  g_test_message("both found in %zu of 200; expected harm %.4f, asked for %.4f", n_found, harm,
                 at_60);
  g_assert_cmpuint(n_found, >, 100);
  g_assert_cmpfloat(harm, <, at_60 * 1.005);
}

/* By hand: no loss in n of level a: (1 - a)^n. One in three of .5: (1 + 3) / 8. Hoeffding's bound
 * for a mean of 0 is the same power; a mean at the level is no evidence. */
static void
p_values_by_hand(void) {
  demur_assert_close(demur_guarantee_p_value(0.0, 20, 0.1, TRUE), pow(0.9, 20), 1e-12, 0);
  demur_assert_close(demur_guarantee_p_value(1.0, 3, 0.5, TRUE), 0.5, 1e-12, 0);
  demur_assert_close(demur_guarantee_p_value(0.0, 20, 0.1, FALSE), pow(0.9, 20), 1e-12, 0);
  g_assert_cmpfloat(demur_guarantee_p_value(2.0, 20, 0.1, FALSE), ==, 1.0);
  g_assert_cmpfloat(demur_guarantee_p_value(0.0, 0, 0.1, TRUE), ==, 1.0);
  g_assert_cmpfloat(demur_guarantee_p_value(3.0, 3, 0.5, TRUE), ==, 1.0);
  g_assert_cmpfloat(demur_guarantee_p_value(1.0, 200, 0.1, FALSE), <, 1e-5);
}

static void
words_are_read(void) {
  static const char *const bad[] = {"npv",        "npv:.9",        "npv:1:.1", "npv:.9:0",
                                    "sbce:.1:.1", "brier:.1:.1:1", "",         "bin_error:.1:.1"};
  DemurGuarantee g;
  for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_false(demur_guarantee_parse(bad[i], &g, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE);
  }
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_guarantee_parse("false_negative_rate:0.05:0.1", &g, &error));
  g_assert_cmpint(g.measure, ==, DEMUR_GUARANTEE_FNR);
  g_assert_true(g.level == 0.05 && g.delta == 0.1);
  g_assert_true(demur_guarantee_parse("brier:0.1", &g, &error));
  g_assert_true(g.delta == 0.0);
}

/* Too few patients, and what would do; a scan without a label. */
static void
what_is_refused(void) {
  g_autofree World *world = g_new(World, 1);
  draw(world, 1);
  const DemurGuarantee g = {DEMUR_GUARANTEE_NPV, 0.99, 0.05};
  g_autoptr(GError) few = NULL, unlabelled = NULL;
  g_assert_null(tune(world, 60, &g, 1, &few));
  g_assert_error(few, DEMUR_ERROR, DEMUR_ERROR_STATE);
  g_assert_nonnull(g_strstr_len(few->message, -1, "cannot be guaranteed with n = 60"));
  g_assert_nonnull(g_strstr_len(few->message, -1, "patients would be needed"));
  /* Nobody is called negative: the rate is of nobody, and no number. */
  world->risks[0] = 0.9;
  g_autoptr(GError) of_nobody = NULL;
  g_assert_null(tune(world, 1, &g, 1, &of_nobody));
  g_assert_error(of_nobody, DEMUR_ERROR, DEMUR_ERROR_STATE);
  g_assert_nonnull(g_strstr_len(of_nobody->message, -1, "no accepted scan says anything"));
  g_assert_null(g_strstr_len(of_nobody->message, -1, "nan"));
  world->labels[7] = NAN;
  const DemurGuarantee of_events = {DEMUR_GUARANTEE_FNR, 0.5, 0.1};
  g_assert_null(tune(world, N_TUNE, &of_events, 1, &unlabelled));
  g_assert_error(unlabelled, DEMUR_ERROR, DEMUR_ERROR_STATE);
  g_assert_nonnull(g_strstr_len(unlabelled->message, -1, "no label"));
}

/* A tenth is left before its outcome is known, events three times as often as others, so that leaving
 * them out would look better than it is: what is guaranteed still breaks no more often than it may;
 * and it is not idle where twice the loss is asked for. */
static void
unknown_outcomes_are_the_worse_of_both(void) {
  const size_t n_draws = demur_test_repeats(200, 500);
  static const DemurGuaranteeMeasure measures[] = {DEMUR_GUARANTEE_NPV, DEMUR_GUARANTEE_PPV,
                                                   DEMUR_GUARANTEE_ERROR, DEMUR_GUARANTEE_BRIER};
  g_autofree World *world = g_new(World, 1);
  for (size_t k = 0; k < G_N_ELEMENTS(measures); k++) {
    const gboolean value = measures[k] == DEMUR_GUARANTEE_NPV || measures[k] == DEMUR_GUARANTEE_PPV;
    const double loss = true_loss(measures[k], 0.6);
    size_t n_false = 0, n_found = 0;
    for (size_t d = 0; d < n_draws; d++) {
      draw(world, d);
      DemurRandom random = demur_random_stream(22, DEMUR_STREAM_TEST, d, 0, 0);
      for (size_t i = 0; i < N_TUNE; i++)
        if (demur_random_uniform(&random) < (world->labels[i] > 0.5 ? 0.15 : 0.05))
          world->labels[i] = NAN;
      for (int twice = 0; twice < 2; twice++) {
        const double asked = twice ? 2.0 * loss : loss;
        const DemurGuarantee g = {measures[k], value ? 1.0 - asked : asked, 0.1};
        g_autoptr(DemurTuning) tuning = tune(world, N_TUNE, &g, 1, NULL);
        n_false += tuning != NULL && !twice && tuning->coverage > 0.61;
        n_found += tuning != NULL && twice;
        g_assert_true(tuning == NULL || strstr(tuning->sentence, "the worse of both") != NULL);
      }
    }
    g_test_message("%s: false in %zu of %zu draws, found at twice the loss in %zu",
                   demur_guarantee_name(measures[k]), n_false, n_draws, n_found);
    g_assert_cmpfloat(at_least(n_false, n_draws, 0.1), >, 0.0005);
    g_assert_cmpuint(n_found, >=, n_draws / 2);
  }
  const DemurGuarantee of_events = {DEMUR_GUARANTEE_FNR, 0.5, 0.1};
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurTuning) none = tune(world, N_TUNE, &of_events, 1, &error);
  g_assert_null(none);
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  for (size_t s = 0; s < N_STEPS; s++) {
    coverages[s] = (double)(s + 1) / N_STEPS;
    thresholds[s] = 1.0 - coverages[s];
  }
  g_test_add_func("/selector/measure-guarantee/p-values-by-hand", p_values_by_hand);
  g_test_add_func("/selector/measure-guarantee/words-are-read", words_are_read);
  g_test_add_func("/selector/measure-guarantee/what-is-refused", what_is_refused);
  g_test_add_func("/selector/measure-guarantee/draws-keep-what-is-guaranteed",
                  draws_keep_what_is_guaranteed);
  g_test_add_func("/selector/measure-guarantee/unknown-outcomes",
                  unknown_outcomes_are_the_worse_of_both);
  g_test_add_func("/selector/measure-guarantee/several-and-expectations", several_and_expectations);
  return g_test_run();
}
