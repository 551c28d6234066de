/* Site error and S-MMCE against sums over all pairs, written out. */
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "metrics/coverage.h"
#include "metrics/site-error.h"
#include "metrics/smmce.h"
#include "support/support.h"

/* Site 0: patients 0 (d = .5, .5) and 1 (d = -.25): pairs of different patients, each both ways:
 * 2 (.5 * -.25) * 2 = -.5 over 4 pairs: U = -.125, n = 3. Site 1: one patient only: left out.
 * Site 2: d = 1 and .5 of two patients: U = .5, n = 2. Together (3 * -.125 + 2 * .5)/5 = .125. */
static const DemurSiteSample by_hand = {.n = 6,
                                        .differences = (const double[]){.5, .5, -.25, 1, 1, .5},
                                        .sites = (const guint32[]){0, 0, 0, 1, 2, 2},
                                        .patients = (const guint32[]){0, 0, 1, 2, 3, 4},
                                        .n_sites = 3,
                                        .n_patients = 5,
                                        .ranks = (const guint32[]){0, 0, 1, 0, 0, 2},
                                        .n_ranks = 3};

static void
three_sites_by_hand(void) {
  demur_assert_close(demur_site_error_at_rank(&by_hand, 2), 0.125, 1e-15, 0);
  demur_assert_close(demur_site_error_at_rank(&by_hand, 1), -0.125, 1e-15, 0);
  g_assert_true(isnan(demur_site_error_at_rank(&by_hand, 0))); /* no site has two patients */
  g_assert_true(isnan(demur_site_error_at_rank(&by_hand, -1)));
  const double coverages[] = {1.0, 0.0, 0.8, 0.5};
  double squares[4];
  demur_site_error_curve(&by_hand, coverages, 4, squares);
  demur_assert_close(squares[0], 0.125, 1e-15, 0);
  g_assert_true(isnan(squares[1]));
  demur_assert_close(squares[2], -0.125, 1e-15, 0);
  g_assert_true(isnan(squares[3])); /* 3 wanted, the tie of rank 0 gives 4 */
}

/* The sites above at full coverage: (n U - .125 n) / 5 = -.15, 0 (does not count), .15. */
static void
influences_by_hand(void) {
  const double coverages[] = {0.5, 1.0};
  double squares[2], influences[6], at_rank[3];
  demur_site_error_influences(&by_hand, coverages, 2, squares, influences);
  demur_assert_close(squares[1], 0.125, 1e-15, 0);
  demur_assert_close(demur_site_error_at_rank_influences(&by_hand, 2, at_rank), 0.125, 1e-15, 0);
  const double expected[] = {-.15, 0, .15};
  for (size_t s = 0; s < 3; s++) {
    demur_assert_close(influences[3 + s], expected[s], 1e-14, 1e-15);
    demur_assert_close(at_rank[s], expected[s], 1e-14, 1e-15);
  }
}

/* Copies of a patient are that patient: with one patient drawn twice there is still no pair. */
static void
copies_of_a_patient_make_no_pair(void) {
  const double d[] = {.5, .5};
  const guint32 sites[] = {0, 0}, patients[] = {0, 1}, ranks[] = {0, 0};
  guint32 counts[] = {7, 0};
  const DemurSiteSample sample = {.n = 2,
                                  .differences = d,
                                  .sites = sites,
                                  .patients = patients,
                                  .n_sites = 1,
                                  .n_patients = 2,
                                  .counts = counts,
                                  .ranks = ranks,
                                  .n_ranks = 1};
  g_assert_true(isnan(demur_site_error_at_rank(&sample, 0)));
  counts[1] = 1;
  demur_assert_close(demur_site_error_at_rank(&sample, 0), 0.25, 1e-15, 0);
}

static double
twin(const DemurSiteSample *s, gssize max_rank) {
  double numerator = 0.0, denominator = 0.0;
  for (guint32 site = 0; site < s->n_sites; site++) {
    double sum = 0.0, n_pairs = 0.0, n = 0.0;
    for (size_t i = 0; i < s->n; i++) {
      if (s->sites[i] != site || (gssize)s->ranks[i] > max_rank)
        continue;
      const double ci = s->counts != NULL ? s->counts[i] : 1;
      n += ci;
      for (size_t j = 0; j < s->n; j++) {
        if (s->sites[j] != site || (gssize)s->ranks[j] > max_rank ||
            s->patients[i] == s->patients[j])
          continue;
        const double cj = s->counts != NULL ? s->counts[j] : 1;
        sum += ci * cj * s->differences[i] * s->differences[j];
        n_pairs += ci * cj;
      }
    }
    if (n_pairs > 0.0) {
      numerator += n * sum / n_pairs;
      denominator += n;
    }
  }
  return denominator > 0.0 ? numerator / denominator : NAN;
}

static void
site_error_matches_all_pairs(void) {
  static const double coverages[] = {0.3, 1.0, 0.05, 0.0, 0.9, 0.9, 0.55};
  for (guint64 seed = 0; seed < 60; seed++) {
    DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_TEST, 0, 0, 0);
    const size_t n = 1 + (size_t)demur_random_below(&random, 120);
    const size_t n_sites = 1 + (size_t)demur_random_below(&random, 9);
    const size_t n_patients = 1 + (size_t)demur_random_below(&random, seed % 2 == 0 ? 100 : 20);
    g_autofree double *d = g_new(double, n), *scores = g_new(double, n);
    g_autofree guint32 *sites = g_new(guint32, n), *patients = g_new(guint32, n),
                       *counts = g_new(guint32, n), *ranks = g_new(guint32, n);
    for (size_t i = 0; i < n; i++) {
      d[i] = 2.0 * demur_random_uniform(&random) - 1.0;
      patients[i] = (guint32)demur_random_below(&random, n_patients);
      sites[i] = patients[i] % (guint32)n_sites; /* all of a patient at one site */
      counts[i] = (guint32)demur_random_below(&random, 4);
      scores[i] =
          seed % 3 == 0 ? (double)demur_random_below(&random, 5) : demur_random_uniform(&random);
    }
    const DemurSiteSample sample = {.n = n,
                                    .differences = d,
                                    .sites = sites,
                                    .patients = patients,
                                    .n_sites = n_sites,
                                    .n_patients = n_patients,
                                    .counts = seed % 4 == 0 ? NULL : counts,
                                    .ranks = ranks,
                                    .n_ranks = demur_coverage_ranks(scores, n, ranks)};
    for (gssize rank = -1; rank < (gssize)sample.n_ranks; rank += 7)
      demur_assert_close(demur_site_error_at_rank(&sample, rank), twin(&sample, rank), 1e-9, 1e-11);
    double squares[G_N_ELEMENTS(coverages)];
    demur_site_error_curve(&sample, coverages, G_N_ELEMENTS(coverages), squares);
    size_t n_total = 0;
    for (size_t i = 0; i < n; i++)
      n_total += sample.counts != NULL ? counts[i] : 1;
    for (size_t k = 0; k < G_N_ELEMENTS(coverages); k++) {
      const size_t wanted = demur_coverage_count(coverages[k], n_total);
      gssize rank = -1;
      for (size_t n_kept = 0; n_kept < wanted;) {
        rank++;
        for (size_t i = 0; i < n; i++)
          if ((gssize)ranks[i] == rank)
            n_kept += sample.counts != NULL ? counts[i] : 1;
      }
      demur_assert_close(squares[k], twin(&sample, rank), 1e-9, 1e-11);
    }
  }
}

/* Unbiased: independent labels at the site's own risk have an expected site error^2 of 0; a site
 * offset b for all gives b^2. Mean over draws, 5 standard errors. */
static void
site_error_is_unbiased(void) {
  static const double offsets[] = {0.0, 0.1};
  for (size_t o = 0; o < G_N_ELEMENTS(offsets); o++) {
    const size_t n = 60, n_draws = 4000;
    g_autofree double *d = g_new(double, n);
    g_autofree guint32 *sites = g_new(guint32, n), *patients = g_new(guint32, n),
                       *ranks = g_new0(guint32, n);
    for (size_t i = 0; i < n; i++) {
      sites[i] = (guint32)(i % 6);
      patients[i] = (guint32)i;
    }
    double sum = 0.0, squares = 0.0;
    for (guint64 draw = 0; draw < n_draws; draw++) {
      DemurRandom random = demur_random_stream(5, DEMUR_STREAM_TEST, o, draw, 0);
      for (size_t i = 0; i < n; i++)
        d[i] = (demur_random_uniform(&random) < 0.3 + offsets[o] ? 1.0 : 0.0) - 0.3;
      const DemurSiteSample sample = {.n = n,
                                      .differences = d,
                                      .sites = sites,
                                      .patients = patients,
                                      .n_sites = 6,
                                      .n_patients = n,
                                      .ranks = ranks,
                                      .n_ranks = 1};
      const double square = demur_site_error_at_rank(&sample, 0);
      sum += square;
      squares += square * square;
    }
    const double mean = sum / (double)n_draws;
    const double error = sqrt((squares / (double)n_draws - mean * mean) / (double)n_draws);
    g_assert_cmpfloat(fabs(mean - offsets[o] * offsets[o]), <, 5.0 * error);
  }
}

static int
compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The double sum of Eq. smmce_emp, in long double. */
static void
smmce_matches_the_double_sum(void) {
  for (guint64 seed = 0; seed < 40; seed++)
    for (int q = 1; q <= 2; q++) {
      DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_TEST, (guint64)q, 1, 0);
      const size_t n = 1 + (size_t)demur_random_below(&random, 80);
      const double width = seed % 3 == 0 ? 0.2 : seed % 3 == 1 ? 1e-3 : 50.0;
      g_autofree double *r = g_new(double, n), *y = g_new(double, n), *w = g_new(double, n);
      for (size_t i = 0; i < n; i++) {
        r[i] = seed % 2 == 0 ? demur_random_uniform(&random)
                             : (double)demur_random_below(&random, 5) / 4.0;
        y[i] = (double)demur_random_below(&random, 2);
        w[i] = (double)demur_random_below(&random, 3);
      }
      qsort(r, n, sizeof *r, compare_doubles);
      long double sum = 0, total = 0;
      for (size_t i = 0; i < n; i++) {
        total += (long double)w[i];
        for (size_t j = 0; j < n; j++)
          sum += (long double)(w[i] * w[j]) *
                 powl(fabsl((long double)y[i] - (long double)r[i]), q) *
                 powl(fabsl((long double)y[j] - (long double)r[j]), q) *
                 expl(-fabsl((long double)r[i] - (long double)r[j]) / (long double)width);
      }
      const double expected =
          total > 0 ? (double)powl(sum / (total * total), 1.0L / q) : (double)NAN;
      demur_assert_close(demur_smmce_normalised(r, y, w, n, q, width), expected, 1e-12, 1e-300);
    }
  g_assert_true(isnan(demur_smmce_normalised(NULL, NULL, NULL, 0, 2, 0.2)));
}

/* By hand: a site that was drawn twice is two units, each with half of its influence. */
static void
test_standard_error(void) {
  const double once[] = {3.0, 4.0}, drawn[] = {6.0, 4.0, 0.0};
  const guint32 counts[] = {1, 2, 0}, scan_of_site[] = {1, 0, 2};
  g_assert_cmpfloat_with_epsilon(demur_site_error_standard_error(once, 2, NULL, NULL), sqrt(50.0),
                                 1e-12);
  g_assert_cmpfloat_with_epsilon(demur_site_error_standard_error(drawn, 3, counts, scan_of_site),
                                 sqrt(1.5 * 34.0), 1e-12);
  g_assert_true(isnan(demur_site_error_standard_error(once, 1, NULL, NULL)));
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/metrics/site-error/by-hand", three_sites_by_hand);
  g_test_add_func("/metrics/site-error/copies", copies_of_a_patient_make_no_pair);
  g_test_add_func("/metrics/site-error/pairs", site_error_matches_all_pairs);
  g_test_add_func("/metrics/site-error/unbiased", site_error_is_unbiased);
  g_test_add_func("/metrics/smmce/double-sum", smmce_matches_the_double_sum);
  g_test_add_func("/metrics/site-error/influences-by-hand", influences_by_hand);
  g_test_add_func("/metrics/site-error/standard-error", test_standard_error);
  return g_test_run();
}
