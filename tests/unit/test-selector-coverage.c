/* Tuning: what is promised of a coverage, checked against sums of binomial terms and by drawing. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"
#include "selector/coverage.h"
#include "support/support.h"

/* P(Bin(n, p) <= k) in long double, term by term from (1 - p)^n. */
static long double
binomial_cdf(size_t n, long double p, gssize k) {
  if (k < 0)
    return 0;
  if (p >= 1)
    return k >= (gssize)n ? 1 : 0;
  long double term = powl(1 - p, (long double)n), sum = 0;
  for (size_t i = 0; i <= MIN((size_t)k, n); i++) {
    sum += term;
    term *= (long double)(n - i) / (long double)(i + 1) * p / (1 - p);
  }
  return sum;
}

/* The accepted share at the k-th largest of n exchangeable scores is Beta(k, n - k + 1); it is at
 * least xi with probability P(Bin(n, xi) <= k - 1). k must reach 1 - delta, and k - 1 must not. */
static void
guaranteed_rank_is_enough_and_the_smallest(void) {
  static const double coverages[] = {0.01, 0.05, 0.3, 0.5, 0.7, 0.9, 0.95, 0.99, 0.999};
  static const double deltas[] = {0.5, 0.2, 0.1, 0.05, 0.01, 0.001, 1e-6};
  for (size_t n = 1; n <= 1500; n += n < 60 ? 1 : 97)
    for (size_t c = 0; c < G_N_ELEMENTS(coverages); c++)
      for (size_t d = 0; d < G_N_ELEMENTS(deltas); d++) {
        const long double xi = (long double)coverages[c], wanted = 1 - (long double)deltas[d];
        const size_t k = demur_coverage_guaranteed_rank(coverages[c], deltas[d], n);
        g_assert_cmpuint(k, >=, 1);
        g_assert_cmpuint(k, <=, n + 1);
        /* 1e-11: what lgamma leaves of the terms. */
        if (binomial_cdf(n, xi, (gssize)k - 1) < wanted - 1e-11L)
          g_error("n %zu, xi %g, delta %g: rank %zu is not enough", n, coverages[c], deltas[d], k);
        if (binomial_cdf(n, xi, (gssize)k - 2) >= wanted + 1e-11L)
          g_error("n %zu, xi %g, delta %g: rank %zu is not the smallest", n, coverages[c],
                  deltas[d], k);
      }
  /* Full coverage of scans not yet seen can't be promised by any n. */
  g_assert_cmpuint(demur_coverage_guaranteed_rank(1.0, 0.05, 1000), ==, 1001);
}

/* By hand: the smallest of n scores covers xi with probability 1 - xi^n: .95^59 = .0485 <= .05 <
 * .95^58 = .0510. */
static void
fifty_nine_patients_promise_95_percent(void) {
  g_assert_cmpuint(demur_coverage_guaranteed_rank(0.95, 0.05, 58), ==, 59);
  g_assert_cmpuint(demur_coverage_guaranteed_rank(0.95, 0.05, 59), ==, 59);
}

static void
binomial_quantile_at_the_edges(void) {
  static const struct {
    double probability, p;
    size_t n, k;
  } rows[] = {{0.5, 0.5, 1, 0},   {0.51, 0.5, 1, 1},    {0.9, 0.0, 10, 0}, {0.9, 1.0, 10, 10},
              {0.999, 0.5, 0, 0}, {0.0, 0.5, 10, 0},    {1.0, 0.3, 5, 5},  {0.5, 0.5, 2, 1},
              {0.8, 0.5, 2, 2},   {0.95, 1e-9, 1000, 0}};
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++)
    g_assert_cmpuint(demur_binomial_quantile(rows[r].probability, rows[r].n, rows[r].p), ==,
                     rows[r].k);
  /* (1 - p)^n underflows: the median of Bin(100000, 1/2) is 50000. */
  g_assert_cmpuint(demur_binomial_quantile(0.5, 100000, 0.5), ==, 50000);
}

/* The promise itself, by drawing tuning splits of uniform scores, for which the coverage of a
 * threshold t is 1 - t: it falls short in a share of at most delta of the draws (5 standard
 * errors), and plug-in tuning falls short by more than its margin in at most 5 %. */
static void
promises_hold_when_drawn(void) {
  const size_t n = 60, n_runs = 4000;
  const double coverage = 0.8, delta = 0.1;
  guint32 patients[60];
  double scores[60];
  const double *const all[] = {scores};
  size_t n_short = 0, n_far = 0;
  for (guint64 run = 0; run < n_runs; run++) {
    DemurRandom random = demur_random_stream(1, DEMUR_STREAM_TEST, run, 0, 0);
    for (size_t i = 0; i < n; i++) {
      patients[i] = (guint32)i;
      scores[i] = demur_random_uniform(&random);
    }
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurTuning) sure =
        demur_tune_guaranteed(coverage, delta, all, 1, patients, n, 1, &error);
    g_assert_no_error(error);
    n_short += 1.0 - sure->thresholds[0] < coverage;
    g_autoptr(DemurTuning) plain = demur_tune_plug_in(coverage, all, 1, patients, n, &error);
    g_assert_no_error(error);
    n_far += 1.0 - plain->thresholds[0] < coverage - plain->margin;
    g_assert_cmpfloat(plain->thresholds[0], >=, sure->thresholds[0]);
  }
  g_assert_cmpfloat((double)n_short / (double)n_runs, <,
                    delta + 5.0 * sqrt(delta * (1 - delta) / (double)n_runs));
  g_assert_cmpuint(n_short, >, 0); /* else the rank would be far from the smallest */
  g_assert_cmpfloat((double)n_far / (double)n_runs, <, 0.05);
}

/* Two networks, five scans of three patients. ceil(.4 x 5) = 2: the second largest, ties all kept;
 * margin sqrt(log 20 / (2 x 3)), n counted in patients. */
static void
plug_in_by_hand(void) {
  const double first[] = {.1, .5, .5, .9, .5}, second[] = {5, 4, 3, 2, 1};
  const double *const scores[] = {first, second};
  const guint32 patients[] = {7, 7, 9, 9, 1000000};
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurTuning) tuning = demur_tune_plug_in(0.4, scores, 2, patients, 5, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(tuning->n_networks, ==, 2);
  g_assert_cmpfloat(tuning->thresholds[0], ==, .5);
  g_assert_cmpfloat(tuning->thresholds[1], ==, 4);
  g_assert_cmpfloat(tuning->realised, ==, 0.8);
  g_assert_cmpuint(tuning->n_scans, ==, 5);
  g_assert_cmpuint(tuning->n_patients, ==, 3);
  g_assert_cmpuint(tuning->rank, ==, 2);
  g_assert_cmpfloat(tuning->delta, ==, 0.0);
  demur_assert_close(tuning->margin, sqrt(log(20.0) / 6.0), 1e-14, 0);
  g_assert_true(strlen(tuning->sentence) > 0);
}

static void
impossible_requests_are_refused(void) {
  const double scores[] = {.1, .2, .3};
  const double *const all[] = {scores};
  const guint32 patients[] = {0, 1, 2};
  static const struct {
    double coverage, delta;
    size_t n;
    int code;
  } rows[] = {{0.0, 0.05, 3, DEMUR_ERROR_USAGE}, {-1, 0.05, 3, DEMUR_ERROR_USAGE},
              {1.1, 0.05, 3, DEMUR_ERROR_USAGE}, {NAN, 0.05, 3, DEMUR_ERROR_USAGE},
              {0.5, 0.0, 3, DEMUR_ERROR_USAGE},  {0.5, 1.0, 3, DEMUR_ERROR_USAGE},
              {0.5, NAN, 3, DEMUR_ERROR_USAGE},  {0.9, 0.05, 3, DEMUR_ERROR_STATE},
              {1.0, 0.05, 3, DEMUR_ERROR_STATE}};
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(demur_tune_guaranteed(rows[r].coverage, rows[r].delta, all, 1, patients,
                                        rows[r].n, 1, &error));
    g_assert_error(error, DEMUR_ERROR, rows[r].code);
    if (r < 4) {
      g_autoptr(GError) plain = NULL;
      g_assert_null(demur_tune_plug_in(rows[r].coverage, all, 1, patients, 3, &plain));
      g_assert_error(plain, DEMUR_ERROR, DEMUR_ERROR_USAGE);
    }
  }
  g_autoptr(GError) error = NULL;
  g_assert_null(demur_tune_plug_in(0.9, all, 1, patients, 0, &error));
  g_assert_nonnull(error);
}

/* One scan of each patient, in ascending order, by the seed alone, each scan of a patient equally
 * often (5 standard errors over 3,000 seeds). */
static void
one_scan_a_patient_is_drawn_fairly(void) {
  const guint32 patients[] = {5, 2, 5, 5, 0, 2};
  guint32 chosen_count[6] = {0};
  const guint64 n_seeds = 3000;
  for (guint64 seed = 0; seed < n_seeds; seed++) {
    size_t n, n_again;
    g_autofree guint32 *rows = demur_one_scan_a_patient(patients, 6, seed, &n);
    g_autofree guint32 *again = demur_one_scan_a_patient(patients, 6, seed, &n_again);
    g_assert_cmpuint(n, ==, 3);
    g_assert_true(n_again == n && memcmp(rows, again, n * sizeof *rows) == 0);
    guint32 seen = 0;
    for (size_t i = 0; i < n; i++) {
      g_assert_true(i == 0 || rows[i - 1] < rows[i]);
      seen |= 1u << patients[rows[i]];
      chosen_count[rows[i]]++;
    }
    g_assert_cmpuint(seen, ==, 1u << 5 | 1u << 2 | 1u);
  }
  static const double shares[] = {1.0 / 3, 0.5, 1.0 / 3, 1.0 / 3, 1.0, 0.5};
  for (size_t i = 0; i < 6; i++)
    demur_assert_close((double)chosen_count[i] / (double)n_seeds, shares[i], 0,
                       5.0 * sqrt(0.25 / (double)n_seeds));
  size_t n;
  g_autofree guint32 *none = demur_one_scan_a_patient(patients, 0, 1, &n);
  g_assert_cmpuint(n, ==, 0);
}

static void
tuning_comes_back_from_json(void) {
  const double first[] = {1.0 / 3, 2e-17, 0.5}, second[] = {-0.25, 1e-310, 4};
  const double *const scores[] = {first, second};
  const guint32 patients[] = {0, 1, 2};
  g_autoptr(GError) error = NULL;
  for (int kind = 0; kind < 2; kind++) {
    g_autoptr(DemurTuning) tuning =
        kind == 0 ? demur_tune_plug_in(0.6, scores, 2, patients, 3, &error)
                  : demur_tune_guaranteed(0.3, 0.3, scores, 2, patients, 3, 1, &error);
    g_assert_no_error(error);
    g_autofree char *json = demur_tuning_to_json(tuning);
    size_t n = 0;
    g_autofree double *read = demur_tuning_read_thresholds(json, &n, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(n, ==, 2);
    g_assert_true(memcmp(read, tuning->thresholds, 2 * sizeof *read) == 0);
    g_autofree char *sentence = demur_tuning_read_sentence(json);
    g_assert_cmpstr(sentence, ==, tuning->sentence);
    const double margin = demur_tuning_read_margin(json); /* a plug-in's alone */
    g_assert_true(kind == 0 ? margin == tuning->margin && margin > 0 : isnan(margin));
  }
  g_assert_true(isnan(demur_tuning_read_margin(NULL)) && isnan(demur_tuning_read_margin("{}")) &&
                isnan(demur_tuning_read_margin("no JSON")));
}

static void
damaged_tunings_are_refused(void) {
  static const char *const texts[] = {"",
                                      "x",
                                      "[]",
                                      "{}",
                                      "null",
                                      "{\"thresholds\": 1}",
                                      "{\"thresholds\": [null]}",
                                      "{\"thresholds\": [\"1\"]}",
                                      "{\"thresholds\": [1, [2]]}",
                                      "{\"thresholds\": [1e999]}",
                                      "{\"thresholds\": [1]",
                                      "{\"thresholds\": null}"};
  for (size_t r = 0; r < G_N_ELEMENTS(texts); r++) {
    g_autoptr(GError) error = NULL;
    size_t n = 0;
    g_autofree double *read = demur_tuning_read_thresholds(texts[r], &n, &error);
    if (read != NULL)
      g_error("'%s' was read", texts[r]);
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
    g_autofree char *sentence = demur_tuning_read_sentence(texts[r]);
    g_assert_null(sentence);
  }
  g_autofree char *none = demur_tuning_read_sentence(NULL);
  g_assert_null(none);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/selector/coverage/rank", guaranteed_rank_is_enough_and_the_smallest);
  g_test_add_func("/selector/coverage/59", fifty_nine_patients_promise_95_percent);
  g_test_add_func("/selector/coverage/binomial", binomial_quantile_at_the_edges);
  g_test_add_func("/selector/coverage/promises", promises_hold_when_drawn);
  g_test_add_func("/selector/coverage/plug-in", plug_in_by_hand);
  g_test_add_func("/selector/coverage/impossible", impossible_requests_are_refused);
  g_test_add_func("/selector/coverage/one-scan", one_scan_a_patient_is_drawn_fairly);
  g_test_add_func("/selector/coverage/json", tuning_comes_back_from_json);
  g_test_add_func("/selector/coverage/damaged", damaged_tunings_are_refused);
  return g_test_run();
}
