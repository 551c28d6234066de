/* What is guaranteed, checked exactly where it can be and by drawing where it can't: coverage
 * (P(Beta(k, n - k + 1) >= xi) >= 1 - delta) and selective calibration risk. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"
#include "selector/risk-guarantee.h"
#include "support/support.h"

/* I_x(a, b), the regularised incomplete beta function, by Lentz's continued fraction (Abramowitz
 * and Stegun 26.5.8) in long double: shares no step with the sums of binomial terms in the program.
 */
static long double
incomplete_beta(long double a, long double b, long double x) {
  if (x <= 0)
    return 0;
  if (x >= 1)
    return 1;
  if (x > (a + 1) / (a + b + 2))
    return 1 - incomplete_beta(b, a, 1 - x);
  const long double tiny = 1e-4000L;
  long double c = 1, d = 1 - (a + b) * x / (a + 1);
  d = 1 / (fabsl(d) < tiny ? tiny : d);
  long double fraction = d;
  for (int m = 1; m < 100000; m++) {
    for (int half = 0; half < 2; half++) {
      const long double t = half == 0
                                ? m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
                                : -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
      d = 1 + t * d;
      d = 1 / (fabsl(d) < tiny ? tiny : d);
      c = 1 + t / c;
      c = fabsl(c) < tiny ? tiny : c;
      fraction *= d * c;
    }
    if (fabsl(d * c - 1) < 1e-18L)
      break;
  }
  return expl(lgammal(a + b) - lgammal(a) - lgammal(b) + a * logl(x) + b * log1pl(-x)) / a *
         fraction;
}

/* By hand: I_x(1, 1) = x, I_x(2, 1) = x^2, I_x(1, n) = 1 - (1 - x)^n, I_1/2(a, a) = 1/2. */
static void
incomplete_beta_by_hand(void) {
  demur_assert_close((double)incomplete_beta(1, 1, 0.3L), 0.3, 1e-15, 0);
  demur_assert_close((double)incomplete_beta(2, 1, 0.9L), 0.81, 1e-15, 0);
  demur_assert_close((double)incomplete_beta(1, 50, 0.02L), 1 - pow(0.98, 50), 1e-14, 0);
  demur_assert_close((double)incomplete_beta(1000, 1000, 0.5L), 0.5, 1e-12, 0);
}

/* 1,000 triples drawn log-uniformly, with the extremes of each in between: the k-th largest
 * suffices, the (k - 1)-th would not, and k > n exactly where not even the smallest score does. */
static void
guaranteed_rank_is_exact_for_a_thousand_triples(void) {
  static const size_t extreme_n[] = {1, 2, 3, 59, 5000};
  static const double extreme_xi[] = {1e-6, 0.5, 0.999999, 0.05, 0.95};
  static const double extreme_delta[] = {1e-9, 0.5, 0.999, 1e-3, 0.05};
  DemurRandom random = demur_random_stream(31, DEMUR_STREAM_TEST, 0, 0, 0);
  size_t n_possible = 0;
  for (size_t i = 0; i < 1000; i++) {
    size_t n = (size_t)exp(demur_random_uniform(&random) * log(5000.0));
    double xi = demur_random_uniform(&random);
    double delta = exp(-demur_random_uniform(&random) * 14.0);
    if (i < 125) {
      n = extreme_n[i % 5];
      xi = extreme_xi[i / 5 % 5];
      delta = extreme_delta[i / 25];
    } else if (i % 3 == 0) {
      xi = 1.0 - exp(-demur_random_uniform(&random) * 10.0);
    }
    xi = CLAMP(xi, 1e-6, 1.0 - 1e-6);
    const size_t k = demur_coverage_guaranteed_rank(xi, delta, n);
    g_assert_cmpuint(k, >=, 1);
    g_assert_cmpuint(k, <=, n + 1);
    /* 1e-11: what lgamma leaves of the program's terms. */
    const long double wanted = 1 - (long double)delta, x = (long double)xi;
    if (k <= n) {
      n_possible++;
      if (1 - incomplete_beta(k, n - k + 1, x) < wanted - 1e-11L)
        g_error("n %zu, xi %.17g, delta %.17g: rank %zu is not enough", n, xi, delta, k);
    }
    if (k >= 2 && 1 - incomplete_beta(k - 1, n - k + 2, x) >= wanted + 1e-11L)
      g_error("n %zu, xi %.17g, delta %.17g: rank %zu is not the smallest", n, xi, delta, k);
  }
  g_assert_cmpuint(n_possible, >, 500);
}

/* 2,000 tuning splits a row: coverage of a uniform score at threshold t is 1 - t. Short in at most
 * the .999 quantile of Bin(2000, delta); two scans a patient, which must not count twice. */
static void
guaranteed_coverage_holds_in_two_thousand_tunings(void) {
  static const struct {
    size_t n;
    double xi, delta;
  } rows[] = {{30, 0.5, 0.1}, {100, 0.9, 0.05}, {400, 0.95, 0.2}};
  const size_t n_tunings = 2000;
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    const size_t n = 2 * rows[r].n;
    g_autofree double *scores = g_new(double, n);
    g_autofree guint32 *patients = g_new(guint32, n);
    const double *const all[] = {scores};
    size_t n_short = 0;
    for (guint64 run = 0; run < n_tunings; run++) {
      DemurRandom random = demur_random_stream(2, DEMUR_STREAM_TEST, r, run, 0);
      for (size_t i = 0; i < n; i++) {
        patients[i] = (guint32)(i / 2);
        scores[i] = i % 2 == 1 ? scores[i - 1] : demur_random_uniform(&random);
      }
      g_autoptr(GError) error = NULL;
      g_autoptr(DemurTuning) tuning =
          demur_tune_guaranteed(rows[r].xi, rows[r].delta, all, 1, patients, n, run, &error);
      g_assert_no_error(error);
      g_assert_cmpuint(tuning->n_patients, ==, rows[r].n);
      n_short += 1.0 - tuning->thresholds[0] < rows[r].xi;
    }
    const size_t most = demur_binomial_quantile(0.999, n_tunings, rows[r].delta);
    g_test_message("n %zu, xi %g, delta %g: short in %zu of %zu, at most %zu", rows[r].n,
                   rows[r].xi, rows[r].delta, n_short, n_tunings, most);
    g_assert_cmpuint(n_short, <=, most);
    g_assert_cmpuint(n_short, >, 0);
  }
}

/* n kept scans with risk 1/2 and scores 1..n. */
static DemurRiskPlan *
half_plan(double alpha, double delta, size_t n_patients) {
  enum { N = 200 };
  double scores[N];
  float risks[N];
  for (size_t i = 0; i < N; i++) {
    scores[i] = (double)i;
    risks[i] = 0.5f;
  }
  const double *const all[] = {scores};
  g_autoptr(GError) error = NULL;
  DemurRiskPlan *plan =
      demur_risk_plan_new(alpha, delta, 1.0, all, 1, risks, N, n_patients, &error);
  g_assert_no_error(error);
  return plan;
}

/* With r = 1/2 the growth is (log(1 + l (a - 1/2)) + log(1 + l (a + 1/2))) / 2, largest at l = a /
 * (1/4 - a^2): .41667 for a = .1. Capital of one scan of each label at the bets .41667, .20833,
 * .104167 and .0520833: (1 - .4 l)(1 + .6 l) = 1.0416667, 1.03125, 1.0182292, 1.0097656. */
static void
bets_by_hand(void) {
  g_autoptr(DemurRiskPlan) plan = half_plan(0.1, 0.1, 1000);
  demur_assert_close(plan->bets[0][0], 0.1 / 0.24, 1e-6, 0);
  demur_assert_close(plan->bets[0][1], 0.1 / 0.24, 1e-6, 0);
  const double both[] = {0.5, -0.5};
  const double capital = (1.0416666667 + 1.03125 + 1.0182291667 + 1.009765625) / 4;
  demur_assert_close(demur_risk_log_capital(0.1 / 0.24, 0.1, 1, both, 2), log(capital), 1e-8, 0);
  demur_assert_close(demur_risk_log_capital(0.1 / 0.24, 0.1, -1, both, 2), log(capital), 1e-8, 0);
  /* Factors 0, 1/2, 3/4, 7/8; then all lost; then a win. */
  const double one[] = {1.0};
  demur_assert_close(demur_risk_log_capital(2.0, 0.5, 1, one, 1), log(2.125 / 4), 1e-14, 0);
  g_assert_true(isinf(demur_risk_log_capital(1e3, 0.5, 1, one, 1)));
  demur_assert_close(demur_risk_log_capital(1.0, 0.5, -1, one, 1),
                     log((2.5 + 1.75 + 1.375 + 1.1875) / 4), 1e-14, 0);
  /* (1 - p)^1000 = .01. */
  demur_assert_close(pow(1.0 - plan->min_share, 1000.0), 0.01, 1e-9, 0);
  g_assert_cmpuint(demur_risk_plan_bin(plan, 0.0), ==, 0);
  g_assert_cmpuint(demur_risk_plan_bin(plan, 0.5), ==, 0);
  g_assert_cmpuint(demur_risk_plan_bin(plan, 0.51), ==, DEMUR_RISK_BINS - 1);
}

/* n scans of risk 1/2, every second with label 1 (n_wrong of them made 1 as well). */
static DemurTuning *
tune_half(const DemurRiskPlan *plan, size_t n, size_t n_wrong, GError **error) {
  g_autofree double *scores = g_new(double, n);
  g_autofree double *risks = g_new(double, n);
  g_autofree double *labels = g_new(double, n);
  g_autofree guint32 *patients = g_new(guint32, n);
  for (size_t i = 0; i < n; i++) {
    scores[i] = 1e6;
    risks[i] = 0.5;
    labels[i] = i % 2 == 1 || i / 2 < n_wrong;
    patients[i] = (guint32)i;
  }
  const double *const all[] = {scores};
  return demur_tune_guaranteed_risk(plan, all, risks, labels, patients, n, 1, error);
}

/* The capital must reach 10 / .1 = 100. From the numbers above, m pairs make (1.0416667^m
 * + 1.03125^m
 * + 1.0182292^m + 1.0097656^m) / 4: 98.5 for m = 140, 102.4 for m = 141. A bin with 24 scans fails
 * whatever they show, 25 pass where they show enough (alpha .9: each scan multiplies the capital by
 * about 5 or more). */
static void
number_of_scans_by_hand(void) {
  static const struct {
    double alpha;
    size_t n, n_wrong;
    gboolean passes;
  } rows[] = {{0.1, 282, 0, TRUE}, {0.1, 280, 0, FALSE}, {0.9, 24, 0, FALSE},
              {0.9, 25, 0, TRUE},  {0.1, 282, 5, FALSE}, {0.2, 282, 5, TRUE}};
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    g_autoptr(DemurRiskPlan) plan = half_plan(rows[r].alpha, 0.1, rows[r].n);
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurTuning) tuning = tune_half(plan, rows[r].n, rows[r].n_wrong, &error);
    if ((tuning != NULL) != rows[r].passes)
      g_error("row %zu: %s", r, tuning != NULL ? tuning->sentence : error->message);
    if (tuning == NULL) {
      g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
      g_autofree char *says = g_strdup_printf("cannot be guaranteed with n = %zu", rows[r].n);
      g_assert_nonnull(strstr(error->message, says));
      continue;
    }
    g_assert_cmpint(tuning->kind, ==, DEMUR_TUNING_RISK);
    g_assert_cmpfloat(tuning->coverage, ==, plan->coverages[plan->n_steps - 1]);
    g_assert_cmpfloat(tuning->realised, ==, 1.0);
    g_assert_cmpuint(tuning->bins[0].n, ==, rows[r].n);
    g_assert_cmpuint(tuning->bins[1].n, ==, 0);
    g_assert_true(isnan(tuning->bins[1].difference));
  }
}

/* Three groups of 400 scans: the best calibrated, the second wrong (all of label 1), the third
 * wrong the other way, so that all together are calibrated. The sequence must stop at the first and
 * not come to the last. */
static void
sequence_stops_at_the_first_failure(void) {
  enum { N = 1200 };
  g_autoptr(DemurRiskPlan) plan = half_plan(0.1, 0.1, N);
  g_free(plan->coverages);
  g_free(plan->thresholds);
  const double coverages[] = {0.3, 0.6, 1.0}, thresholds[] = {3, 2, 1};
  plan->coverages = g_memdup2(coverages, sizeof coverages);
  plan->thresholds = g_memdup2(thresholds, sizeof thresholds);
  plan->n_steps = 3;
  double scores[N], risks[N], labels[N];
  guint32 patients[N];
  for (size_t i = 0; i < N; i++) {
    scores[i] = 3.0 - (double)(i / 400);
    risks[i] = 0.5;
    labels[i] = i < 400 ? (double)(i % 2) : i < 800 ? 1.0 : 0.0;
    patients[i] = (guint32)i;
  }
  const double *const all[] = {scores};
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurTuning) tuning =
      demur_tune_guaranteed_risk(plan, all, risks, labels, patients, N, 1, &error);
  g_assert_no_error(error);
  g_assert_cmpfloat(tuning->thresholds[0], ==, 3.0);
  g_assert_cmpfloat(tuning->coverage, ==, 0.3);
  demur_assert_close(tuning->realised, 1.0 / 3.0, 1e-15, 0);
  g_autofree char *json = demur_tuning_to_json(tuning);
  g_assert_nonnull(strstr(json, "\"guaranteed risk\""));
  size_t n;
  g_autofree double *read = demur_tuning_read_thresholds(json, &n, &error);
  g_assert_no_error(error);
  g_assert_cmpfloat(read[0], ==, 3.0);
  /* Alone, the last step would pass. */
  plan->coverages[0] = 1.0;
  plan->thresholds[0] = 1;
  plan->n_steps = 1;
  g_autoptr(DemurTuning) alone =
      demur_tune_guaranteed_risk(plan, all, risks, labels, patients, N, 1, &error);
  g_assert_no_error(error);
  g_assert_cmpfloat(alone->realised, ==, 1.0);
  /* A patient without a label is refused. */
  labels[7] = NAN;
  g_assert_null(demur_tune_guaranteed_risk(plan, all, risks, labels, patients, N, 1, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
}

static void
nonsense_is_refused(void) {
  double scores[100];
  float risks[100];
  for (size_t i = 0; i < 100; i++) {
    scores[i] = (double)i;
    risks[i] = (float)i / 100.0f;
  }
  const double *const all[] = {scores};
  static const struct {
    double alpha, delta, most;
    size_t n_kept, n_patients;
    int code;
  } rows[] = {
      {0, 0.1, 1, 100, 100, DEMUR_ERROR_USAGE},   {1, 0.1, 1, 100, 100, DEMUR_ERROR_USAGE},
      {NAN, 0.1, 1, 100, 100, DEMUR_ERROR_USAGE}, {0.1, 0, 1, 100, 100, DEMUR_ERROR_USAGE},
      {0.1, NAN, 1, 100, 100, DEMUR_ERROR_USAGE}, {0.1, 0.1, 0, 100, 100, DEMUR_ERROR_USAGE},
      {0.1, 0.1, 2, 100, 100, DEMUR_ERROR_USAGE}, {0.1, 0.1, 1, 99, 100, DEMUR_ERROR_STATE},
      {0.1, 0.1, 1, 100, 0, DEMUR_ERROR_STATE}};
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(demur_risk_plan_new(rows[r].alpha, rows[r].delta, rows[r].most, all, 1, risks,
                                      rows[r].n_kept, rows[r].n_patients, &error));
    g_assert_error(error, DEMUR_ERROR, rows[r].code);
  }
  /* No step above the coverage that was asked for, and always one to test. */
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurRiskPlan) plan =
      demur_risk_plan_new(0.1, 0.1, 0.5, all, 1, risks, 100, 10, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(plan->n_steps, ==, 1);
  g_assert_cmpfloat(plan->coverages[0], ==, 0.5);
  g_assert_cmpfloat(plan->n_needed, >, 10.0);
}

/* A world: score s and risk r independent, P(y = 1) = r + tilt (1 - s)^2, clipped: at coverage c
 * the bins are off by tilt c^2 / 3, so that there is a coverage at which the risk passes alpha.
 * lowest: scans with r < .1, and only they, are off by as much at every score. */
typedef struct {
  double tilt, lowest;
  gboolean skewed; /* risks like those of screening: most are small */
} World;

static void
draw(const World *world, DemurRandom *random, double *score, double *risk, double *p) {
  *score = demur_random_uniform(random);
  const double u = demur_random_uniform(random);
  *risk = world->skewed ? 0.5 * u * u * u : u;
  const double off = world->tilt * (1.0 - *score) * (1.0 - *score);
  *p = CLAMP(*risk + off + (*risk < 0.1 ? world->lowest : 0.0), 0.0, 1.0);
}

/* |mean(p - r)| of the worst bin at each step, over bins that hold min_share of all scans. */
static void
true_risks(const World *world, const DemurRiskPlan *plan, double *worst) {
  const size_t n = 200000;
  g_autofree double *sums = g_new0(double, plan->n_steps *DEMUR_RISK_BINS);
  g_autofree double *counts = g_new0(double, plan->n_steps *DEMUR_RISK_BINS);
  DemurRandom random = demur_random_stream(5, DEMUR_STREAM_TEST, 1, 0, 0);
  for (size_t i = 0; i < n; i++) {
    double score, risk, p;
    draw(world, &random, &score, &risk, &p);
    const size_t b = demur_risk_plan_bin(plan, risk);
    for (size_t k = 0; k < plan->n_steps; k++)
      if (score >= plan->thresholds[k]) {
        sums[k * DEMUR_RISK_BINS + b] += p - risk;
        counts[k * DEMUR_RISK_BINS + b]++;
      }
  }
  for (size_t k = 0; k < plan->n_steps; k++) {
    worst[k] = 0.0;
    for (size_t b = 0; b < DEMUR_RISK_BINS; b++) {
      const double count = counts[k * DEMUR_RISK_BINS + b];
      if (count >= plan->min_share * (double)n)
        worst[k] = fmax(worst[k], fabs(sums[k * DEMUR_RISK_BINS + b] / count));
    }
  }
}

/* The promise by drawing: the true risk at the threshold that is kept exceeds alpha in at most the
 * .999 quantile of Bin(tunings, delta); a tuning that keeps nothing promises nothing. 100 tunings,
 * 2,000 in the long run. alpha and tilt are such that the first steps are sound and the
 * last are not. */
static void
risk_exceeds_alpha_in_at_most_delta_of_the_tunings(void) {
  static const struct {
    World world;
    double alpha, delta;
    size_t n;
    gboolean must_pass; /* mostly */
  } rows[] = {
      {{0.0, 0.0, FALSE}, 0.15, 0.1, 7000, TRUE}, /* calibrated */
      {{0.8, 0.0, FALSE}, 0.2, 0.1, 12000, TRUE}, /* alpha is passed at .87 */
      {{0.8, 0.0, FALSE}, 0.2, 0.5, 12000, TRUE},
      {{0.3, 0.0, TRUE}, 0.15, 0.1, 9000, TRUE},    /* never */
      {{0.0, 0.201, FALSE}, 0.2, 0.5, 8000, FALSE}, /* one bin is just above alpha */
      {{0.0, 0.0, FALSE}, 0.15, 0.1, 400, FALSE},   /* calibrated, too few to show it */
      {{2.0, 0.0, FALSE}, 0.15, 0.1, 4500, FALSE},
  };
  const size_t n_tunings = demur_test_repeats(100, 2000);
  enum { N_KEPT = 4000 };
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    const World *world = &rows[r].world;
    g_autofree double *kept_scores = g_new(double, N_KEPT);
    g_autofree float *kept_risks = g_new(float, N_KEPT);
    DemurRandom kept = demur_random_stream(5, DEMUR_STREAM_TEST, 2, r, 0);
    for (size_t i = 0; i < N_KEPT; i++) {
      double risk, p;
      draw(world, &kept, &kept_scores[i], &risk, &p);
      kept_risks[i] = (float)risk;
    }
    const double *const kept_all[] = {kept_scores};
    const size_t n = rows[r].n;
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurRiskPlan) plan = demur_risk_plan_new(rows[r].alpha, rows[r].delta, 1.0, kept_all,
                                                        1, kept_risks, N_KEPT, n, &error);
    g_assert_no_error(error);
    g_autofree double *worst = g_new(double, plan->n_steps);
    true_risks(world, plan, worst);
    g_autofree double *scores = g_new(double, n);
    g_autofree double *risks = g_new(double, n);
    g_autofree double *labels = g_new(double, n);
    g_autofree guint32 *patients = g_new(guint32, n);
    const double *const all[] = {scores};
    size_t n_kept_any = 0, n_wrong = 0;
    double coverage = 0.0;
    for (guint64 run = 0; run < n_tunings; run++) {
      DemurRandom random = demur_random_stream(6, DEMUR_STREAM_TEST, r, run, 0);
      for (size_t i = 0; i < n; i++) {
        double p;
        draw(world, &random, &scores[i], &risks[i], &p);
        labels[i] = demur_random_uniform(&random) < p;
        patients[i] = (guint32)i;
      }
      g_autoptr(GError) local = NULL;
      g_autoptr(DemurTuning) tuning =
          demur_tune_guaranteed_risk(plan, all, risks, labels, patients, n, run, &local);
      if (tuning == NULL) {
        g_assert_error(local, DEMUR_ERROR, DEMUR_ERROR_STATE);
        continue;
      }
      n_kept_any++;
      coverage += tuning->realised;
      for (size_t k = 0; k < plan->n_steps; k++)
        if (plan->thresholds[k] == tuning->thresholds[0])
          n_wrong += worst[k] > rows[r].alpha;
    }
    const size_t most = demur_binomial_quantile(0.999, n_tunings, rows[r].delta);
    g_test_message("world %zu, n %zu, alpha %g, delta %g: %zu steps from %.2f (%.0f patients "
                   "needed), %zu of %zu tunings kept a threshold (mean coverage %.3f), %zu wrong, "
                   "at most %zu",
                   r, n, rows[r].alpha, rows[r].delta, plan->n_steps, plan->coverages[0],
                   plan->n_needed, n_kept_any, n_tunings, coverage / (double)MAX(n_kept_any, 1),
                   n_wrong, most);
    g_assert_cmpuint(n_wrong, <=, most);
    if (rows[r].must_pass)
      g_assert_cmpuint(n_kept_any, >, n_tunings / 2);
    else
      g_assert_cmpuint(n_kept_any, <, n_tunings / 10);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/selector/guarantee/beta", incomplete_beta_by_hand);
  g_test_add_func("/selector/guarantee/triples", guaranteed_rank_is_exact_for_a_thousand_triples);
  g_test_add_func("/selector/guarantee/coverage",
                  guaranteed_coverage_holds_in_two_thousand_tunings);
  g_test_add_func("/selector/guarantee/bets", bets_by_hand);
  g_test_add_func("/selector/guarantee/scans", number_of_scans_by_hand);
  g_test_add_func("/selector/guarantee/sequence", sequence_stops_at_the_first_failure);
  g_test_add_func("/selector/guarantee/nonsense", nonsense_is_refused);
  g_test_add_func("/selector/guarantee/risk", risk_exceeds_alpha_in_at_most_delta_of_the_tunings);
  return g_test_run();
}
