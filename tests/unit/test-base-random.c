/* Random streams: frozen numbers, independence of neighbouring keys, and moments.
 *
 * Bounds of the moments: with fixed seeds a sample mean of n draws lies within 5 standard errors of
 * its expectation; a correct generator misses that for one seed in two million. */
#include <math.h>
#include <string.h>

#include "base/random-lanes.h"
#include "support/support.h"

#define N 200000
#define N_ERRORS 5.0

/* The first outputs of the reference implementation from the state {1, 2, 3, 4}, as published with
 * it and used by other implementations. */
static void
generator_gives_the_published_numbers(void) {
  static const guint64 published[] = {11520u,
                                      0u,
                                      1509978240u,
                                      1215971899390074240u,
                                      1216172134540287360u,
                                      607988272756665600u,
                                      16172922978634559625u,
                                      8476171486693032832u,
                                      10595114339597558777u,
                                      2904607092377533576u};
  DemurRandom random = {{1, 2, 3, 4}};
  for (size_t i = 0; i < G_N_ELEMENTS(published); i++)
    g_assert_cmpuint(demur_random_bits(&random), ==, published[i]);
}

/* Side by side streams give what each gives alone, and go on where it would. */
static void
lanes_give_each_stream_s_numbers(void) {
  for (size_t n_lanes = 1; n_lanes <= DEMUR_RANDOM_LANES; n_lanes++) {
    DemurRandom randoms[DEMUR_RANDOM_LANES], alone[DEMUR_RANDOM_LANES];
    guint64 bits[37][DEMUR_RANDOM_LANES];
    for (size_t l = 0; l < n_lanes; l++)
      randoms[l] = alone[l] = demur_random_stream(9, DEMUR_STREAM_TEST, l, n_lanes, 0);
    for (int turn = 0; turn < 2; turn++) {
      demur_random_bits_of_lanes(randoms, n_lanes, G_N_ELEMENTS(bits), bits[0]);
      for (size_t i = 0; i < G_N_ELEMENTS(bits); i++)
        for (size_t l = 0; l < n_lanes; l++)
          g_assert_cmpuint(bits[i][l], ==, demur_random_bits(&alone[l]));
    }
    g_assert_true(memcmp(randoms, alone, n_lanes * sizeof *alone) == 0);
  }
}

/* Frozen: from an implementation of the key schedule in Python's integers. */
static void
streams_give_the_frozen_numbers(void) {
  static const struct {
    guint64 seed;
    DemurStream purpose;
    guint64 i, j, k;
    guint64 bits[4];
  } rows[] = {
      {0,
       DEMUR_STREAM_TEST,
       0,
       0,
       0,
       {0xb156eced0abffe7bu, 0x0a0d67d7a3785e29u, 0x224ff25547a5c4bfu, 0xe48475e97da357cau}},
      {1,
       DEMUR_STREAM_TEST,
       0,
       0,
       0,
       {0x588638b90d0d5c5au, 0xaf243f877e38566eu, 0x9d4943db89e56f33u, 0x9afe020bd63adb7eu}},
      {1,
       DEMUR_STREAM_RESAMPLE,
       0,
       7,
       3,
       {0x8dc0abbc99b6492eu, 0x511cdd52a0e957c0u, 0xef7774190c354a75u, 0xed15d8467590a293u}},
      {G_MAXUINT64,
       DEMUR_STREAM_TEST,
       G_MAXUINT64,
       G_MAXUINT64,
       G_MAXUINT64,
       {0x6187eadebfc0d101u, 0x2c0b8f06caf34b6fu, 0x1ad593ca8e5c8a81u, 0xc900d37af26527d8u}},
      {42,
       DEMUR_STREAM_TRIAL,
       1,
       2,
       3,
       {0x9d0cc8d7a0cecbb9u, 0x336ed1ab16a54d8au, 0xe806ebd22530ec00u, 0xbc3484da24322d02u}},
  };
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    DemurRandom random =
        demur_random_stream(rows[r].seed, rows[r].purpose, rows[r].i, rows[r].j, rows[r].k);
    for (size_t b = 0; b < 4; b++)
      g_assert_cmphex(demur_random_bits(&random), ==, rows[r].bits[b]);
  }
}

/* The numbers of the stream's purposes are part of the key: never renumbered. */
static void
purposes_keep_their_numbers(void) {
  g_assert_cmpint(DEMUR_STREAM_WEIGHTS, ==, 1);
  g_assert_cmpint(DEMUR_STREAM_RESAMPLE, ==, 2);
  g_assert_cmpint(DEMUR_STREAM_VALIDATION, ==, 3);
  g_assert_cmpint(DEMUR_STREAM_VALIDATION_SPLIT, ==, 4);
  g_assert_cmpint(DEMUR_STREAM_TRIAL, ==, 5);
  g_assert_cmpint(DEMUR_STREAM_BOOTSTRAP, ==, 6);
  g_assert_cmpint(DEMUR_STREAM_NOISE_FLOOR, ==, 7);
  g_assert_cmpint(DEMUR_STREAM_RANDOM_BASELINE, ==, 8);
  g_assert_cmpint(DEMUR_STREAM_FOREST, ==, 9);
  g_assert_cmpint(DEMUR_STREAM_SVM_SUBSAMPLE, ==, 10);
  g_assert_cmpint(DEMUR_STREAM_REFERENCE, ==, 11);
  g_assert_cmpint(DEMUR_STREAM_SIMULATION, ==, 12);
  g_assert_cmpint(DEMUR_STREAM_PHANTOM, ==, 13);
  g_assert_cmpint(DEMUR_STREAM_FOLDS, ==, 14);
  g_assert_cmpint(DEMUR_STREAM_ONE_SCAN, ==, 15);
  g_assert_cmpint(DEMUR_STREAM_AUDIT, ==, 16);
}

/* Streams whose keys differ in one word by one: the correlation of their uniforms is N(0, 1/n), and
 * the share of equal bits is 1/2 with sd 1/(2 sqrt(64 n)). Moving a 1 between neighbouring words
 * gives another stream too. */
static void
neighbouring_keys_are_uncorrelated(void) {
  const size_t n = 50000;
  static const guint64 keys[][4] = {{7, 1, 0, 0}, {8, 0, 0, 0}, {7, 0, 1, 0},
                                    {7, 0, 0, 1}, {6, 0, 0, 0}, {0, 7, 0, 0}};
  for (size_t c = 0; c < G_N_ELEMENTS(keys); c++) {
    DemurRandom a = demur_random_stream(7, DEMUR_STREAM_TEST, 0, 0, 0);
    DemurRandom b =
        demur_random_stream(keys[c][0], DEMUR_STREAM_TEST, keys[c][1], keys[c][2], keys[c][3]);
    double sum = 0.0;
    gint64 n_equal = 0;
    for (size_t i = 0; i < n; i++) {
      const guint64 x = demur_random_bits(&a), y = demur_random_bits(&b);
      sum += ((double)(x >> 11) * 0x1.0p-53 - 0.5) * ((double)(y >> 11) * 0x1.0p-53 - 0.5) * 12.0;
      n_equal += __builtin_popcountll(~(x ^ y));
    }
    g_assert_cmpfloat(fabs(sum / (double)n), <, N_ERRORS / sqrt((double)n));
    g_assert_cmpfloat(fabs((double)n_equal / (64.0 * (double)n) - 0.5), <,
                      N_ERRORS * 0.5 / sqrt(64.0 * (double)n));
  }
}

/* First numbers of consecutive streams are a sample of uniforms as well: this is how data sets and
 * replicates use them. Chi-square over 100 cells: mean 99, sd sqrt(198). */
static void
first_numbers_of_consecutive_streams_are_uniform(void) {
  guint32 cells[100] = {0};
  const size_t n = 100000;
  double covariance = 0.0, last = 0.5;
  for (size_t k = 0; k < n; k++) {
    DemurRandom random = demur_random_stream(3, DEMUR_STREAM_TEST, 0, 0, k);
    const double u = demur_random_uniform(&random);
    cells[(size_t)(u * 100.0)]++;
    covariance += 12.0 * (u - 0.5) * (last - 0.5);
    last = u;
  }
  double chi2 = 0.0;
  for (size_t c = 0; c < 100; c++) {
    const double gap = (double)cells[c] - (double)n / 100.0;
    chi2 += gap * gap / ((double)n / 100.0);
  }
  g_assert_cmpfloat(fabs(chi2 - 99.0), <, N_ERRORS * sqrt(198.0));
  g_assert_cmpfloat(fabs(covariance / (double)n), <, N_ERRORS / sqrt((double)n));
}

typedef struct {
  double mean, variance, kurtosis; /* kurtosis: fourth central moment / variance^2 */
} Moments;

typedef double (*Draw)(DemurRandom *random, double parameter);

static double
draw_uniform(DemurRandom *random, double parameter) {
  return demur_random_uniform(random);
}
static double
draw_normal(DemurRandom *random, double parameter) {
  return demur_random_normal(random);
}
static double
draw_exponential(DemurRandom *random, double parameter) {
  return demur_random_exponential(random);
}
static double
draw_gamma(DemurRandom *random, double shape) {
  return demur_random_gamma(random, shape);
}
static double
draw_below(DemurRandom *random, double n) {
  return (double)demur_random_below(random, (guint64)n);
}

/* Textbook moments. The mean's standard error is sqrt(v/n), the variance's v sqrt((kurtosis -
 * 1)/n). Gamma(a): mean a, variance a, kurtosis 3 + 6/a. Integers below n: (n - 1)/2, (n^2 - 1)/12,
 * and kurtosis 9/5 - 12/(5 (n^2 - 1)). */
static void
distributions_have_their_moments(void) {
  const struct {
    const char *name;
    Draw draw;
    double parameter;
    Moments moments;
    double lowest, highest;
  } rows[] = {
      {"uniform", draw_uniform, 0, {0.5, 1.0 / 12, 1.8}, 0, 1},
      {"normal", draw_normal, 0, {0, 1, 3}, -7, 7},
      {"exponential", draw_exponential, 0, {1, 1, 9}, 0, 40},
      {"gamma 0.1", draw_gamma, 0.1, {0.1, 0.1, 63}, 0, 40},
      {"gamma 0.5", draw_gamma, 0.5, {0.5, 0.5, 15}, 0, 40},
      {"gamma 1", draw_gamma, 1, {1, 1, 9}, 0, 40},
      {"gamma 2.5", draw_gamma, 2.5, {2.5, 2.5, 3 + 6 / 2.5}, 0, 60},
      {"gamma 1000", draw_gamma, 1000, {1000, 1000, 3.006}, 700, 1300},
      {"below 1", draw_below, 1, {0, 0, 1}, 0, 0},
      {"below 6", draw_below, 6, {2.5, 35.0 / 12, 1.8 - 12.0 / (5 * 35)}, 0, 5},
      {"below 1001",
       draw_below,
       1001,
       {500, 1002000.0 / 12, 1.8 - 12.0 / (5 * 1002000.0)},
       0,
       1000},
  };
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    DemurRandom random = demur_random_stream(11, DEMUR_STREAM_TEST, r, 0, 0);
    const Moments *m = &rows[r].moments;
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < N; i++) {
      const double x = rows[r].draw(&random, rows[r].parameter);
      if (!(x >= rows[r].lowest && x <= rows[r].highest))
        g_error("%s: %g is out of range", rows[r].name, x);
      sum += x - m->mean;
      squares += (x - m->mean) * (x - m->mean);
    }
    if (fabs(sum / N) > N_ERRORS * sqrt(m->variance / N))
      g_error("%s: the mean is off by %g", rows[r].name, sum / N);
    if (fabs(squares / N - m->variance) > N_ERRORS * m->variance * sqrt((m->kurtosis - 1.0) / N))
      g_error("%s: the variance is %g", rows[r].name, squares / N);
  }
}

/* Kolmogorov-Smirnov against the exact distribution: sqrt(n) D exceeds 2.6 with probability
 * 2 exp(-2 2.6^2) = 3e-6. */
static int
compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void
normal_and_gamma_follow_their_distribution(void) {
  g_autofree double *values = g_new(double, N);
  for (int kind = 0; kind < 3; kind++) {
    DemurRandom random = demur_random_stream(12, DEMUR_STREAM_TEST, (guint64)kind, 0, 0);
    for (size_t i = 0; i < N; i++)
      values[i] = kind == 0   ? demur_random_normal(&random)
                  : kind == 1 ? demur_random_gamma(&random, 0.5)
                              : demur_random_gamma(&random, 2.0);
    qsort(values, N, sizeof *values, compare_doubles);
    double largest = 0.0;
    for (size_t i = 0; i < N; i++) {
      const double x = values[i];
      /* Phi; Gamma(1/2) is half a chi-square of one degree: erf(sqrt x); Gamma(2): 1 - (1+x) e^-x.
       */
      const double p = kind == 0   ? 0.5 * erfc(-x * M_SQRT1_2)
                       : kind == 1 ? erf(sqrt(x))
                                   : 1.0 - (1.0 + x) * exp(-x);
      largest = fmax(largest, fmax(fabs(p - (double)i / N), fabs(p - (double)(i + 1) / N)));
    }
    g_assert_cmpfloat(largest * sqrt((double)N), <, 2.6);
  }
}

/* n that do not divide 2^64: each value equally often (chi-square, 5 sd), the largest n included.
 */
static void
below_is_unbiased_and_bounded(void) {
  static const guint64 ns[] = {2, 3, 7, 10, 33};
  for (size_t c = 0; c < G_N_ELEMENTS(ns); c++) {
    DemurRandom random = demur_random_stream(13, DEMUR_STREAM_TEST, c, 0, 0);
    guint32 cells[64] = {0};
    for (size_t i = 0; i < N; i++)
      cells[demur_random_below(&random, ns[c])]++;
    double chi2 = 0.0;
    for (guint64 v = 0; v < ns[c]; v++) {
      const double expected = (double)N / (double)ns[c], gap = (double)cells[v] - expected;
      chi2 += gap * gap / expected;
    }
    const double freedom = (double)(ns[c] - 1);
    g_assert_cmpfloat(chi2, <, freedom + N_ERRORS * sqrt(2.0 * freedom) + 12.5);
  }
  /* Lemire's rejection matters most here: half of all draws of (2^63 + 1) would be biased. */
  const guint64 huge = ((guint64)1 << 63) + 1;
  DemurRandom random = demur_random_stream(13, DEMUR_STREAM_TEST, 99, 0, 0);
  double sum = 0.0;
  for (size_t i = 0; i < N; i++) {
    const guint64 value = demur_random_below(&random, huge);
    g_assert_cmpuint(value, <, huge);
    sum += (double)value / (double)huge - 0.5;
  }
  g_assert_cmpfloat(fabs(sum / N), <, N_ERRORS * sqrt(1.0 / 12 / N));
}

/* Dirichlet(a,..,a) over n: mean 1/n, variance (n - 1)/(n^2 (n a + 1)); weights in [0, 1] and their
 * sum 1 to rounding. The 1e-8 row underflows every gamma draw: all weight on one place, each
 * equally often (its variance is the limit's). */
static void
dirichlet_sums_to_one_and_has_its_moments(void) {
  static const struct {
    double alpha;
    size_t n;
  } rows[] = {{1, 2},    {1, 33},   {0.1, 5},    {10, 4},   {1000, 3},
              {1e-3, 4}, {1e-8, 7}, {1e-300, 3}, {1e6, 10}, {1, 1}};
  const size_t n_draws = 20000;
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    const size_t n = rows[r].n;
    const double mean = 1.0 / (double)n;
    const double variance =
        (double)(n - 1) / ((double)n * (double)n * ((double)n * rows[r].alpha + 1.0));
    DemurRandom random = demur_random_stream(14, DEMUR_STREAM_TEST, r, 0, 0);
    g_autofree double *w = g_new(double, n), *sums = g_new0(double, n);
    double squares = 0.0;
    for (size_t i = 0; i < n_draws; i++) {
      demur_random_dirichlet(&random, rows[r].alpha, n, w);
      double sum = 0.0;
      for (size_t j = 0; j < n; j++) {
        g_assert_true(w[j] >= 0.0 && w[j] <= 1.0);
        sum += w[j];
        sums[j] += w[j];
        squares += (w[j] - mean) * (w[j] - mean) / (double)n;
      }
      g_assert_cmpfloat(fabs(sum - 1.0), <=, 1e-15 * (double)n);
    }
    for (size_t j = 0; j < n; j++)
      g_assert_cmpfloat(fabs(sums[j] / (double)n_draws - mean), <=,
                        N_ERRORS * sqrt(variance / (double)n_draws) + 1e-15);
    /* Squared deviations lie in [0, 1], so their mean over the draws has an sd of at most
     * sqrt(variance / n_draws). */
    g_assert_cmpfloat(fabs(squares / (double)n_draws - variance), <=,
                      N_ERRORS * sqrt(variance / (double)n_draws) + 1e-15);
  }
}

/* Every order of four equally often: 24 cells, chi-square of 23 degrees. */
static void
shuffle_gives_every_order_equally_often(void) {
  DemurRandom random = demur_random_stream(15, DEMUR_STREAM_TEST, 0, 0, 0);
  guint32 cells[256] = {0};
  const size_t n = 96000;
  for (size_t i = 0; i < n; i++) {
    guint32 values[4] = {0, 1, 2, 3};
    demur_random_shuffle(&random, 4, values);
    guint32 seen = 0;
    for (int k = 0; k < 4; k++)
      seen |= 1u << values[k];
    g_assert_cmpuint(seen, ==, 15);
    cells[values[0] * 64 + values[1] * 16 + values[2] * 4 + values[3]]++;
  }
  double chi2 = 0.0;
  size_t n_orders = 0;
  for (size_t c = 0; c < 256; c++)
    if (cells[c] > 0) {
      const double expected = (double)n / 24.0, gap = (double)cells[c] - expected;
      chi2 += gap * gap / expected;
      n_orders++;
    }
  g_assert_cmpuint(n_orders, ==, 24);
  g_assert_cmpfloat(chi2, <, 23.0 + N_ERRORS * sqrt(46.0));
  demur_random_shuffle(&random, 0, NULL); /* nothing to do, nothing touched */
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/base/random/published", generator_gives_the_published_numbers);
  g_test_add_func("/base/random/lanes-give-each-stream-s-numbers",
                  lanes_give_each_stream_s_numbers);
  g_test_add_func("/base/random/frozen", streams_give_the_frozen_numbers);
  g_test_add_func("/base/random/purposes", purposes_keep_their_numbers);
  g_test_add_func("/base/random/neighbours", neighbouring_keys_are_uncorrelated);
  g_test_add_func("/base/random/consecutive", first_numbers_of_consecutive_streams_are_uniform);
  g_test_add_func("/base/random/moments", distributions_have_their_moments);
  g_test_add_func("/base/random/distribution", normal_and_gamma_follow_their_distribution);
  g_test_add_func("/base/random/below", below_is_unbiased_and_bounded);
  g_test_add_func("/base/random/dirichlet", dirichlet_sums_to_one_and_has_its_moments);
  g_test_add_func("/base/random/shuffle", shuffle_gives_every_order_equally_often);
  return g_test_run();
}
