/* What is planted must be found, what is not must not be.
 *
 *   bench-simulations example [THREADS [SEEDS]]
 *   bench-simulations cohorts [THREADS [NOTHING [VISIBLE [INVISIBLE]]]]
 *
 * example: the paper's Example 1 with a shift on the logit scale. r ~ U(0, 1); 30 % of the scans
 * are flagged, which an embedding shows among noise; y ~ Bern(r), flagged: y ~ Bern(sigmoid(logit r
 * + 1)). Selectors with the denoised and with the paper's target beside confidence, S-BCE_2 AUC on
 * the test split, mean over seeds.
 *
 * cohorts: simulated NLST-style cohorts (cohort/simulate.h) of 1,500 scans at 30 sites, 300 updates
 * a training, each judged by demur_validate (5 folds of whole sites) against confidence. With
 * nothing planted a "better" is wrong: at most 5 % may be. With invisible effects only (site and
 * hidden at 3 times their usual size) none should be found either. Visible: 6,000 scans, a
 * reconstruction that came after f was fitted (drift 4), and no recalibration, which would mend
 * most of it before a selector is asked. A cohort is one job on one thread; a line is printed for
 * each as it ends. */
#include "tests/bench/bench.h"

#include "cohort/simulate.h"
#include "evaluation/validation.h"

#define N_UPDATES 300

static DemurTrainSettings *
small_settings(void) {
  DemurTrainSettings *settings = demur_train_settings_new();
  settings->epochs = 1;
  settings->datasets_per_epoch = N_UPDATES * settings->batch;
  settings->average = 1;
  return settings;
}

/* --- Example 1 --- */

#define EXAMPLE_WIDTH 8

static DemurCohort *
draw_example(guint64 seed, GError **error) {
  static const struct {
    const char *split;
    size_t n, n_sites;
  } parts[] = {{"selector_train", 6282, 33}, {"validation", 1256, 33}, {"test", 5000, 33}};
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, EXAMPLE_WIDTH);
  for (size_t p = 0; p < G_N_ELEMENTS(parts); p++)
    for (size_t i = 0; i < parts[p].n; i++) {
      DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_TEST, 2, p, i);
      const double risk = 1e-3 + 0.998 * demur_random_uniform(&random);
      const gboolean flagged = demur_random_uniform(&random) < 0.3;
      const double logit = log(risk / (1.0 - risk)) + (flagged ? 1.0 : 0.0);
      const int label = demur_random_uniform(&random) < 1.0 / (1.0 + exp(-logit));
      float embedding[EXAMPLE_WIDTH];
      for (size_t c = 0; c < EXAMPLE_WIDTH; c++)
        embedding[c] = (float)demur_random_normal(&random);
      embedding[0] = (flagged ? 2.0f : -1.0f) + 0.3f * embedding[0];
      g_autofree char *id = g_strdup_printf("%s-%zu", parts[p].split, i);
      g_autofree char *site =
          g_strdup_printf("h%" G_GUINT64_FORMAT, demur_random_below(&random, parts[p].n_sites));
      demur_cohort_builder_add(builder, id, id, site, parts[p].split, label, &risk, NULL,
                               embedding);
    }
  return demur_cohort_builder_finish(builder, "example", "example", "simulated", "", TRUE, error);
}

/* S-BCE_2 AUC on test of the selector (0), its confidence (1) and everything (2). */
static void
example_errors(DemurCohort *cohort, DemurTarget target, guint64 seed, DemurParallel *parallel,
               double errors[3]) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurTrainSettings) settings = demur_train_settings_new();
  settings->target = target;
  settings->target_explicit = TRUE;
  settings->recalibrate = DEMUR_RECALIBRATION_NONE;
  settings->average = 1;
  if (target == DEMUR_TARGET_PAPER)
    settings->features &= ~(guint)DEMUR_FEATURES_CORRECTOR;
  g_autoptr(DemurSelector) selector =
      demur_selector_train(cohort, settings, seed, parallel, NULL, NULL, &error);
  if (selector == NULL)
    bench_fail(error);
  DemurEvaluateInput input;
  demur_evaluate_input_init(&input);
  DemurSelector *selectors[1] = {selector};
  char *names[1] = {(char *)"s"};
  input.cohort = cohort;
  input.split = "test";
  input.n_selectors = 1;
  input.selectors = selectors;
  input.names = names;
  input.n_bootstrap = 2;
  input.n_noise_draws = 2;
  g_autoptr(DemurEvaluation) evaluation = demur_evaluate(&input, parallel, NULL, &error);
  if (evaluation == NULL)
    bench_fail(error);
  static const char *const wanted[3] = {"selector:s", "confidence", "full"};
  for (size_t k = 0; k < 3; k++)
    errors[k] =
        demur_evaluation_method(evaluation, wanted[k], FALSE)->auc[DEMUR_MEASURE_SBCE2].point;
}

static int
run_example(guint n_threads, guint64 n_seeds) {
  g_autoptr(DemurParallel) parallel = demur_parallel_new(n_threads);
  double sums[4] = {0};
  for (guint64 seed = 1; seed <= n_seeds; seed++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurCohort) cohort = draw_example(seed, &error);
    if (cohort == NULL)
      bench_fail(error);
    double denoised[3], paper[3];
    example_errors(cohort, DEMUR_TARGET_DENOISED, seed, parallel, denoised);
    example_errors(cohort, DEMUR_TARGET_PAPER, seed, parallel, paper);
    printf("example 1, seed %" G_GUINT64_FORMAT ": S-BCE_2 AUC denoised %.4f, paper's target %.4f, "
           "confidence %.4f, everything %.4f\n",
           seed, denoised[0], paper[0], denoised[1], denoised[2]);
    fflush(stdout);
    sums[0] += denoised[0];
    sums[1] += paper[0];
    sums[2] += denoised[1];
    sums[3] += denoised[2];
  }
  const double n = (double)n_seeds;
  printf("example 1, mean of %" G_GUINT64_FORMAT ": denoised %.4f, paper's target %.4f, confidence "
         "%.4f, everything %.4f (measured before: .0275, .0383, .0387)\n",
         n_seeds, sums[0] / n, sums[1] / n, sums[2] / n, sums[3] / n);
  return 0;
}

/* --- cohorts --- */

typedef enum { PLANT_NOTHING, PLANT_VISIBLE, PLANT_INVISIBLE, N_PLANTS } Plant;

static const char *const plant_names[N_PLANTS] = {"nothing planted", "visible shift",
                                                  "invisible shift"};

typedef struct {
  size_t n_of[N_PLANTS];
  size_t verdicts[N_PLANTS][DEMUR_VERDICT_CANNOT_BE_DECIDED + 1];
  size_t n_done, n_all;
  gint64 start;
  GMutex mutex;
} Cohorts;

static void
run_cohort(size_t job, guint worker, gpointer data) {
  Cohorts *all = data;
  size_t place = job;
  Plant plant = PLANT_NOTHING;
  while (place >= all->n_of[plant])
    place -= all->n_of[plant++];
  DemurSimulation simulation;
  demur_simulation_defaults(&simulation);
  simulation.seed = 1000 + place;
  simulation.n_scans = plant == PLANT_VISIBLE ? 6000 : 1500;
  simulation.n_sites = 30;
  simulation.n_base_train = 3000;
  simulation.n_tune = simulation.n_test = 100;
  simulation.base_rate_logit = 1.0; /* about 12 %: at 5 %, 1,500 scans hold 75 cancers */
  simulation.acquisition_effect = simulation.scanner_effect = 0.0;
  simulation.drift_effect = plant == PLANT_VISIBLE ? 4.0 : 0.0;
  simulation.site_effect = simulation.hidden_effect = plant == PLANT_INVISIBLE ? 3.0 : 0.0;
  simulation.outside_shift = 0.0;
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurCohort) cohort =
      demur_cohort_simulate(&simulation, "simulated", "", NULL, NULL, &error);
  if (cohort == NULL)
    bench_fail(error);
  g_autoptr(DemurTrainSettings) settings = small_settings();
  if (plant == PLANT_VISIBLE)
    settings->recalibrate = DEMUR_RECALIBRATION_NONE;
  g_autoptr(DemurValidation) v =
      demur_validate(cohort, settings, simulation.seed, 5, FALSE, NULL, NULL, &error);
  if (v == NULL)
    bench_fail(error);
  g_mutex_lock(&all->mutex);
  all->verdicts[plant][v->verdict]++;
  all->n_done++;
  printf("%4zu of %zu, %6.0f s: %s, cohort %zu: %s (S-BCE_2 AUC %.4f against %.4f, difference "
         "%+.4f to %+.4f; debiased %+.4f to %+.4f)\n",
         all->n_done, all->n_all, bench_seconds_since(all->start), plant_names[plant], place,
         demur_comparison_verdict_words(v->verdict), v->measures[0].selector,
         v->measures[0].confidence, v->measures[0].low, v->measures[0].high, v->measures[1].low,
         v->measures[1].high);
  fflush(stdout);
  g_mutex_unlock(&all->mutex);
}

/* P(X <= k) and P(X >= k) of a binomial, by summing its terms. */
static double
binomial_tail(size_t n, size_t k, double p, gboolean upper) {
  double sum = 0.0;
  for (size_t i = upper ? k : 0; i <= (upper ? n : k); i++) {
    const double log_choose =
        lgamma((double)n + 1.0) - lgamma((double)i + 1.0) - lgamma((double)(n - i) + 1.0);
    sum += exp(log_choose + (double)i * log(p) + (double)(n - i) * log1p(-p));
  }
  return sum;
}

/* The exact (Clopper-Pearson) 95 % interval of k of n, by bisection. */
static void
binomial_interval(size_t k, size_t n, double *low, double *high) {
  *low = 0.0;
  *high = 1.0;
  for (int side = 0; side < 2; side++) {
    if ((side == 0 && k == 0) || (side == 1 && k == n))
      continue;
    double a = 0.0, b = 1.0;
    for (int i = 0; i < 60; i++) {
      const double p = 0.5 * (a + b);
      /* side 0: P(X >= k) grows with p; side 1: P(X <= k) falls. */
      const gboolean left =
          side == 0 ? binomial_tail(n, k, p, TRUE) < 0.025 : binomial_tail(n, k, p, FALSE) > 0.025;
      *(left ? &a : &b) = p;
    }
    *(side == 0 ? low : high) = 0.5 * (a + b);
  }
}

static int
run_cohorts(guint n_threads, const size_t n_of[N_PLANTS]) {
  g_autoptr(DemurParallel) parallel = demur_parallel_new(n_threads);
  Cohorts all = {.start = g_get_monotonic_time()};
  g_mutex_init(&all.mutex);
  for (size_t p = 0; p < N_PLANTS; p++)
    all.n_all += all.n_of[p] = n_of[p];
  demur_parallel_map(parallel, all.n_all, run_cohort, &all);
  for (size_t p = 0; p < N_PLANTS; p++) {
    if (n_of[p] == 0)
      continue;
    const size_t better = all.verdicts[p][DEMUR_VERDICT_BETTER];
    double low, high;
    binomial_interval(better, n_of[p], &low, &high);
    printf(
        "%s, %zu cohorts: better %zu (%.1f %%, exact 95 %% interval %.1f to %.1f %%), worse %zu, "
        "no difference shown %zu, cannot be decided %zu\n",
        plant_names[p], n_of[p], better, 100.0 * (double)better / (double)n_of[p], 100.0 * low,
        100.0 * high, all.verdicts[p][DEMUR_VERDICT_WORSE],
        all.verdicts[p][DEMUR_VERDICT_NO_DIFFERENCE_SHOWN],
        all.verdicts[p][DEMUR_VERDICT_CANNOT_BE_DECIDED]);
  }
  printf("%.0f s with %u threads\n", bench_seconds_since(all.start), n_threads);
  g_mutex_clear(&all.mutex);
  /* Where nothing is planted at most 5 % may be called better. */
  return all.verdicts[PLANT_NOTHING][DEMUR_VERDICT_BETTER] * 20 <= n_of[PLANT_NOTHING] ? 0 : 1;
}

static size_t
number(int argc, char **argv, int i, size_t otherwise) {
  return argc > i ? strtoul(argv[i], NULL, 10) : otherwise;
}

int
main(int argc, char **argv) {
  const guint n_threads = (guint)MAX(number(argc, argv, 2, 2), 1);
  if (argc > 1 && strcmp(argv[1], "example") == 0)
    return run_example(n_threads, MAX(number(argc, argv, 3, 3), 1));
  if (argc > 1 && strcmp(argv[1], "cohorts") == 0) {
    const size_t n_of[N_PLANTS] = {number(argc, argv, 3, 200), number(argc, argv, 4, 40),
                                   number(argc, argv, 5, 40)};
    return run_cohorts(n_threads, n_of);
  }
  fprintf(stderr, "usage: bench-simulations example [THREADS [SEEDS]] | cohorts [THREADS [NOTHING "
                  "[VISIBLE [INVISIBLE]]]]\n");
  return 2;
}
