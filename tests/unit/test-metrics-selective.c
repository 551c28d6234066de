/* Calibration error, Brier score and accuracy of a selection: small cases by hand, and a slow twin
 * that writes every scan out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "metrics/coverage.h"
#include "metrics/selective.h"
#include "support/support.h"

static DemurSelectivePoint
point_at(const DemurSelectiveSample *sample, gssize rank, size_t min_bin_size) {
  g_autoptr(DemurSelectiveScratch) scratch = demur_selective_scratch_new(MAX(sample->n, 1));
  DemurSelectivePoint point;
  demur_selective_at_rank(sample, rank, min_bin_size, scratch, &point);
  return point;
}

/* Six scans in two bins of three: r = .1 .2 .3 | .5 .7 .9, y = 0 1 0 | 1 1 0.
 * Bin 1: mean r .2, mean y 1/3, gap 2/15. Bin 2: mean r .7, mean y 2/3, gap -1/30.
 * S-BCE_1 = (2/15 + 1/30)/2 = 1/12; _2^2 = (4/225 + 1/900)/2 = 17/1800; _inf = 2/15.
 * Debiased: 17/1800 - (1/2)(2/9 / 2) * 2 = 17/1800 - 1/9.
 * Brier: (.01 + .64 + .09 + .25 + .09 + .81)/6 = 1.89/6. Right: .1 .3 .5 .7 -> 4/6. */
static void
two_bins_by_hand(void) {
  const double risks[] = {.1, .2, .3, .5, .7, .9}, labels[] = {0, 1, 0, 1, 1, 0};
  const guint32 ranks[] = {0, 0, 0, 0, 0, 0};
  const DemurSelectiveSample sample = {
      .n = 6, .risks = risks, .labels = labels, .ranks = ranks, .n_ranks = 1};
  const DemurSelectivePoint p = point_at(&sample, 0, 3);
  g_assert_cmpuint(p.n_selected, ==, 6);
  g_assert_cmpuint(p.n_bins, ==, 2);
  demur_assert_close(p.error1, 1.0 / 12, 1e-14, 0);
  demur_assert_close(p.error2, sqrt(17.0 / 1800), 1e-14, 0);
  demur_assert_close(p.error_inf, 2.0 / 15, 1e-14, 0);
  demur_assert_close(p.debiased2, 17.0 / 1800 - 1.0 / 9, 1e-14, 0);
  demur_assert_close(p.brier, 1.89 / 6, 1e-14, 0);
  demur_assert_close(p.accuracy, 4.0 / 6, 1e-14, 0);
  /* K > 2: the label says whether the argmax is right, so accuracy is its mean. */
  DemurSelectiveSample top = sample;
  top.top_label = TRUE;
  demur_assert_close(point_at(&top, 0, 3).accuracy, 0.5, 1e-14, 0);
  demur_assert_close(point_at(&top, 0, 3).brier, 1.89 / 6, 1e-14, 0);
  /* One bin: gap (3 - 2.7)/6 = .05 in all three. */
  const DemurSelectivePoint one = point_at(&sample, 0, 4);
  g_assert_cmpuint(one.n_bins, ==, 1);
  demur_assert_close(one.error1, 0.05, 1e-14, 0);
  demur_assert_close(one.error2, 0.05, 1e-14, 0);
  demur_assert_close(one.error_inf, 0.05, 1e-14, 0);
}

/* numpy.array_split(range(7), 3) is 3, 2, 2. With r nearly 0 everywhere the bins' gaps are their
 * mean labels: y = 0 0 1 | 1 0 | 1 1 -> 1/3, 1/2, 1. */
static void
remainders_go_to_the_first_bins(void) {
  const double risks[7] = {0, 1e-15, 2e-15, 3e-15, 4e-15, 5e-15, 6e-15},
               labels[] = {0, 0, 1, 1, 0, 1, 1};
  const guint32 ranks[7] = {0};
  const DemurSelectiveSample sample = {
      .n = 7, .risks = risks, .labels = labels, .ranks = ranks, .n_ranks = 1};
  const DemurSelectivePoint p = point_at(&sample, 0, 2);
  g_assert_cmpuint(p.n_bins, ==, 3);
  demur_assert_close(p.error1, (1.0 + 1.0 + 2.0) / 7, 1e-14, 0);
  demur_assert_close(p.error2, sqrt((3.0 / 9 + 2.0 / 4 + 2.0) / 7), 1e-14, 0);
  demur_assert_close(p.error_inf, 1.0, 1e-14, 0);
}

/* The same seven scans as counts: r nearly 0 throughout, y = 0 twice, y = 1 twice (straddles the
 * first cut), y = 0 once, y = 1 twice. */
static void
a_multiplicity_may_straddle_bins(void) {
  const double risks[4] = {0, 1e-15, 2e-15, 3e-15}, labels[] = {0, 1, 0, 1};
  const guint32 ranks[4] = {0}, counts[] = {2, 2, 1, 2};
  const DemurSelectiveSample sample = {
      .n = 4, .risks = risks, .labels = labels, .counts = counts, .ranks = ranks, .n_ranks = 1};
  const DemurSelectivePoint p = point_at(&sample, 0, 2);
  g_assert_cmpuint(p.n_selected, ==, 7);
  demur_assert_close(p.error2, sqrt((3.0 / 9 + 2.0 / 4 + 2.0) / 7), 1e-14, 0);
}

/* m = max(1, min(15, floor(n / 25))). */
static void
number_of_bins_follows_the_paper(void) {
  static const struct {
    size_t n, min_bin_size, n_bins;
  } rows[] = {{0, 25, 0},    {1, 25, 1},    {24, 25, 1},      {49, 25, 1},  {50, 25, 2},
              {374, 25, 14}, {375, 25, 15}, {100000, 25, 15}, {100, 50, 2}, {5, 1, 5}};
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++)
    g_assert_cmpuint(demur_bins_count(rows[r].n, rows[r].min_bin_size), ==, rows[r].n_bins);
}

static void
an_empty_selection_is_undefined(void) {
  const double risks[] = {.2, .4}, labels[] = {0, 1};
  const guint32 ranks[] = {0, 1}, none[] = {0, 0};
  DemurSelectiveSample sample = {
      .n = 2, .risks = risks, .labels = labels, .ranks = ranks, .n_ranks = 2};
  g_autoptr(DemurSelectiveScratch) scratch = demur_selective_scratch_new(2);
  const double coverages[] = {0.0, 0.5, -1.0};
  for (int kind = 0; kind < 3; kind++) {
    DemurSelectivePoint p;
    if (kind == 0) {
      demur_selective_at_rank(&sample, -1, 25, scratch, &p);
    } else {
      if (kind == 2)
        sample.counts = none; /* a resample that drew nothing of it */
      DemurSelectivePoint points[3];
      demur_selective_curve(&sample, coverages, 3, 25, scratch, points);
      p = points[kind == 1 ? 0 : 1];
    }
    g_assert_cmpuint(p.n_selected, ==, 0);
    g_assert_cmpuint(p.n_bins, ==, 0);
    g_assert_true(isnan(p.error1) && isnan(p.error2) && isnan(p.error_inf) && isnan(p.debiased2) &&
                  isnan(p.brier) && isnan(p.accuracy));
  }
  double errors[3], squares[3];
  sample.counts = NULL;
  demur_selective_debiased(&sample, coverages, 3, 25, scratch, errors, squares);
  g_assert_true(isnan(errors[0]) && isnan(squares[0]) && isnan(errors[2]));
  g_assert_cmpfloat(errors[1], ==, 0.2);
  g_assert_true(isnan(squares[1])); /* one scan has no variance to take away */
}

/* Each scan written out, sorted lists, long double: nothing shared with the code but the
 * definition. */
static void
twin(const DemurSelectiveSample *s, double coverage, size_t min_bin_size,
     DemurSelectivePoint *out) {
  g_autoptr(GArray) ranks = g_array_new(FALSE, FALSE, sizeof(guint32));
  for (size_t i = 0; i < s->n; i++)
    for (guint32 c = 0; c < (s->counts != NULL ? s->counts[i] : 1); c++)
      g_array_append_val(ranks, s->ranks[i]);
  const size_t n = ranks->len;
  size_t wanted = (size_t)ceil(coverage * (double)n - 1e-9);
  wanted = coverage > 0 && n > 0 ? CLAMP(wanted, 1, n) : 0;
  guint32 last = 0;
  for (; wanted > 0; last++) { /* the first rank down to which enough are kept */
    size_t n_kept = 0;
    for (size_t i = 0; i < n; i++)
      n_kept += g_array_index(ranks, guint32, i) <= last;
    if (n_kept >= wanted)
      break;
  }
  g_autofree double *r = g_new(double, n + 1), *y = g_new(double, n + 1);
  size_t m = 0;
  for (size_t i = 0; wanted > 0 && i < s->n; i++)
    for (guint32 c = 0; c < (s->counts != NULL ? s->counts[i] : 1); c++)
      if (s->ranks[i] <= last) {
        r[m] = s->risks[i];
        y[m++] = s->labels[i];
      }
  *out = (DemurSelectivePoint){.n_selected = m, .rank = last};
  if (m == 0) {
    out->error1 = out->error2 = out->error_inf = out->debiased2 = out->brier = out->accuracy = NAN;
    return;
  }
  g_autofree double *shared = g_new(double, m); /* each one's mean outcome over its risk */
  for (size_t i = 0; i < m; i++) {
    long double sum = 0, times = 0;
    for (size_t k = 0; k < m; k++) {
      sum += r[k] == r[i] ? (long double)y[k] : 0;
      times += r[k] == r[i];
    }
    shared[i] = (double)(sum / times);
  }
  out->n_bins = m / min_bin_size;
  out->n_bins = out->n_bins > 15 ? 15 : out->n_bins < 1 ? 1 : out->n_bins;
  long double e1 = 0, e2 = 0, largest = 0, debiased = 0, brier = 0, right = 0;
  size_t start = 0;
  for (size_t b = 0; b < out->n_bins; b++) {
    const size_t size = m / out->n_bins + (b < m % out->n_bins);
    long double mean_r = 0, mean_y = 0;
    for (size_t i = start; i < start + size; i++) {
      mean_r += (long double)r[i] / (long double)size;
      mean_y += (long double)shared[i] / (long double)size;
    }
    start += size;
    const long double gap = fabsl(mean_y - mean_r), share = (long double)size / (long double)m;
    e1 += share * gap;
    e2 += share * gap * gap;
    largest = gap > largest ? gap : largest;
    gboolean tied = FALSE;
    for (size_t i = 1; i < s->n; i++)
      tied |= s->risks[i] == s->risks[i - 1];
    /* Variance of mean_y: each risk's scans vary together, whatever share of them is here. */
    long double squares = 0, positive_squares = 0;
    for (size_t i = start - size; i < start; i++) {
      long double here = 0, times = 0;
      for (size_t k = 0; k < m; k++)
        times += r[k] == r[i];
      for (size_t k = start - size; k < start; k++)
        here += r[k] == r[i];
      if (!tied)
        here = times; /* copies count as scans of their own */
      squares += here / times;
      positive_squares += here / times * (long double)shared[i];
    }
    const long double n_b = (long double)size;
    const long double spread = positive_squares * (1 - mean_y) * (1 - mean_y) +
                               (squares - positive_squares) * mean_y * mean_y;
    debiased += share * (gap * gap - spread / (n_b * n_b - squares));
  }
  g_assert_cmpuint(start, ==, m);
  for (size_t i = 0; i < m; i++) {
    brier += ((long double)y[i] - (long double)r[i]) * ((long double)y[i] - (long double)r[i]);
    right += s->top_label ? (long double)y[i] : (long double)((r[i] >= 0.5) == (y[i] == 1.0));
  }
  out->error1 = (double)e1;
  out->error2 = (double)sqrtl(e2);
  out->error_inf = (double)largest;
  out->debiased2 = isfinite((double)debiased) ? (double)debiased : NAN;
  out->brier = (double)(brier / (long double)m);
  out->accuracy = (double)(right / (long double)m);
}

static int
compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

typedef struct {
  double *risks, *labels;
  guint32 *counts, *ranks;
  DemurSelectiveSample sample;
} RandomSample;

static void
random_sample_init(RandomSample *s, size_t n, guint64 seed) {
  DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_TEST, n, 0, 0);
  s->risks = g_new(double, n);
  s->labels = g_new(double, n);
  s->counts = g_new(guint32, n);
  s->ranks = g_new(guint32, n);
  g_autofree double *scores = g_new(double, n);
  for (size_t i = 0; i < n; i++) {
    s->risks[i] = seed % 2 == 0 ? demur_random_uniform(&random)
                                : (double)demur_random_below(&random, 11) / 10.0; /* ties */
    s->counts[i] = (guint32)demur_random_below(&random, seed % 5 == 0 ? 40 : 4);
    scores[i] =
        seed % 3 == 0 ? (double)demur_random_below(&random, 6) : demur_random_normal(&random);
  }
  qsort(s->risks, n, sizeof *s->risks, compare_doubles);
  for (size_t i = 0; i < n; i++)
    s->labels[i] = demur_random_uniform(&random) < s->risks[i] ? 1.0 : 0.0;
  s->sample = (DemurSelectiveSample){.n = n,
                                     .risks = s->risks,
                                     .labels = s->labels,
                                     .counts = seed % 4 == 0 ? NULL : s->counts,
                                     .ranks = s->ranks,
                                     .n_ranks = demur_coverage_ranks(scores, n, s->ranks),
                                     .top_label = seed % 7 == 0};
}

static void
random_sample_clear(RandomSample *s) {
  g_free(s->risks);
  g_free(s->labels);
  g_free(s->counts);
  g_free(s->ranks);
}

static void
assert_points_match(const DemurSelectivePoint *a, const DemurSelectivePoint *b) {
  g_assert_cmpuint(a->n_selected, ==, b->n_selected);
  g_assert_cmpuint(a->n_bins, ==, b->n_bins);
  demur_assert_close(a->error1, b->error1, 1e-11, 1e-14);
  demur_assert_close(a->error2, b->error2, 1e-11, 1e-14);
  demur_assert_close(a->error_inf, b->error_inf, 1e-11, 1e-14);
  demur_assert_close(a->debiased2, b->debiased2, 1e-11, 1e-14);
  demur_assert_close(a->brier, b->brier, 1e-11, 1e-14);
  demur_assert_close(a->accuracy, b->accuracy, 1e-11, 1e-14);
}

static void
every_function_matches_the_twin(void) {
  static const double coverages[] = {0.5, 1.0, 0.05, 0.0, 0.9, 0.333, 0.9, 0.7, 0.01, 0.99};
  static const size_t sizes[] = {1, 2, 3, 30, 64, 65, 200, 430};
  for (size_t c = 0; c < G_N_ELEMENTS(sizes); c++)
    for (guint64 seed = 0; seed < demur_test_repeats(sizes[c] <= 100 ? 12 : 3, 12); seed++)
      for (size_t min_bin_size = 1; min_bin_size <= 25; min_bin_size += 8) {
        RandomSample s;
        random_sample_init(&s, sizes[c], seed);
        const size_t n = G_N_ELEMENTS(coverages);
        g_autoptr(DemurSelectiveScratch) scratch = demur_selective_scratch_new(sizes[c]);
        DemurSelectivePoint points[G_N_ELEMENTS(coverages)], expected, at_rank;
        double errors[G_N_ELEMENTS(coverages)], errors2[G_N_ELEMENTS(coverages)],
            squares[G_N_ELEMENTS(coverages)];
        demur_selective_curve(&s.sample, coverages, n, min_bin_size, scratch, points);
        demur_selective_errors(&s.sample, coverages, n, min_bin_size, scratch, errors);
        demur_selective_debiased(&s.sample, coverages, n, min_bin_size, scratch, errors2, squares);
        for (size_t k = 0; k < n; k++) {
          twin(&s.sample, coverages[k], min_bin_size, &expected);
          assert_points_match(&points[k], &expected);
          demur_assert_close(errors[k], expected.error2, 1e-11, 1e-14);
          demur_assert_close(errors2[k], expected.error2, 1e-11, 1e-14);
          demur_assert_close(squares[k], expected.debiased2, 1e-11, 1e-14);
          demur_selective_at_rank(&s.sample, expected.n_selected > 0 ? (gssize)points[k].rank : -1,
                                  min_bin_size, scratch, &at_rank);
          assert_points_match(&at_rank, &expected);
        }
        random_sample_clear(&s);
      }
}

/* The error alone is found by another walk than the whole point: of plain, tied and weighted entries,
 * at fewer coverages than a vector holds and at more, both give the same bytes. */
static void
errors_alone_are_the_points_bytes(void) {
  static const size_t sizes[] = {1, 2, 40, 333, 1000}, n_coverages[] = {1, 4, 10, 12, 13, 25, 64};
  double coverages[64], weights[1000];
  for (size_t k = 0; k < G_N_ELEMENTS(coverages); k++)
    coverages[k] = (double)((k * 37) % 64) / 63.0;
  for (size_t i = 0; i < G_N_ELEMENTS(weights); i++)
    weights[i] = i % 5 == 0 ? 0.0 : 1.0 + 0.1 * (double)(i % 7);
  for (size_t c = 0; c < G_N_ELEMENTS(sizes); c++)
    for (guint64 seed = 0; seed < 24; seed++) {
      RandomSample s;
      random_sample_init(&s, sizes[c], seed);
      s.sample.weights = seed >= 12 ? weights : NULL;
      g_autoptr(DemurSelectiveScratch) scratch = demur_selective_scratch_new(sizes[c]);
      for (size_t k = 0; k < G_N_ELEMENTS(n_coverages); k++) {
        DemurSelectivePoint points[64];
        double errors[64];
        demur_selective_curve(&s.sample, coverages, n_coverages[k], 7, scratch, points);
        demur_selective_errors(&s.sample, coverages, n_coverages[k], 7, scratch, errors);
        for (size_t j = 0; j < n_coverages[k]; j++)
          g_assert_true(errors[j] == points[j].error2 ||
                        (isnan(errors[j]) && isnan(points[j].error2)));
      }
      random_sample_clear(&s);
    }
}

/* What doubling every count leaves alone: the selection at any coverage, Brier and accuracy always;
 * S-BCE where the bins' sizes double too: bins as many (min_bin_size doubled) and without
 * remainder. The debiased square is not such a law: its variance term halves. */
static void
doubling_all_counts_keeps_the_plain_measures(void) {
  static const size_t sizes[] = {40, 375, 600};
  for (size_t c = 0; c < G_N_ELEMENTS(sizes); c++) {
    RandomSample s;
    random_sample_init(&s, sizes[c], 2); /* untied scores */
    g_autofree guint32 *once = g_new(guint32, sizes[c]), *twice = g_new(guint32, sizes[c]);
    for (size_t i = 0; i < sizes[c]; i++) {
      once[i] = 1;
      twice[i] = 2;
    }
    double grid[50];
    demur_coverage_grid(50, grid);
    g_autoptr(DemurSelectiveScratch) scratch = demur_selective_scratch_new(sizes[c]);
    DemurSelectivePoint a[50], b[50];
    s.sample.counts = once;
    demur_selective_curve(&s.sample, grid, 50, 5, scratch, a);
    s.sample.counts = twice;
    demur_selective_curve(&s.sample, grid, 50, 10, scratch, b);
    size_t n_compared = 0;
    for (size_t k = 0; k < 50; k++) {
      g_assert_cmpuint(2 * a[k].n_selected, ==, b[k].n_selected);
      g_assert_cmpuint(a[k].rank, ==, b[k].rank);
      demur_assert_close(a[k].brier, b[k].brier, 1e-12, 0);
      demur_assert_close(a[k].accuracy, b[k].accuracy, 1e-12, 0);
      g_assert_cmpuint(a[k].n_bins, ==, b[k].n_bins);
      if (a[k].n_selected % a[k].n_bins != 0)
        continue;
      n_compared++;
      demur_assert_close(a[k].error1, b[k].error1, 1e-12, 1e-15);
      demur_assert_close(a[k].error2, b[k].error2, 1e-12, 1e-15);
      demur_assert_close(a[k].error_inf, b[k].error_inf, 1e-12, 1e-15);
      g_assert_cmpfloat(b[k].debiased2, >=, a[k].debiased2);
    }
    g_assert_cmpuint(n_compared, >=, 2);
    random_sample_clear(&s);
  }
}

/* E of the debiased square of labels drawn from their risks is the variance of r within bins' worth
 * of nothing: with one risk throughout it is 0. Mean over D draws: within 5 standard errors. */
static void
debiased_square_of_a_calibrated_model_is_zero_on_average(void) {
  /* The plain square is p (1 - p) / 25 of noise in bins of 25, or of one risk that all 200 share p
   * (1 - p) / 200. */
  static const struct { double step, plain; } rows[] = {{1e-12, 0.0064}, {0.0, 0.0008}};
  for (size_t row = 0; row < G_N_ELEMENTS(rows); row++) {
    const size_t n = 200, n_draws = 4000;
    g_autofree double *risks = g_new(double, n), *labels = g_new(double, n);
    g_autofree guint32 *ranks = g_new0(guint32, n);
    for (size_t i = 0; i < n; i++)
      risks[i] = 0.2 + rows[row].step * (double)i;
    double sum = 0.0, squares = 0.0, plain = 0.0;
    for (guint64 d = 0; d < n_draws; d++) {
      DemurRandom random = demur_random_stream(9, DEMUR_STREAM_TEST, d, 0, 0);
      for (size_t i = 0; i < n; i++)
        labels[i] = demur_random_uniform(&random) < 0.2 ? 1.0 : 0.0;
      const DemurSelectiveSample sample = {
          .n = n, .risks = risks, .labels = labels, .ranks = ranks, .n_ranks = 1};
      const DemurSelectivePoint p = point_at(&sample, 0, 25);
      sum += p.debiased2;
      squares += p.debiased2 * p.debiased2;
      plain += p.error2 * p.error2;
    }
    const double mean = sum / (double)n_draws;
    const double error = sqrt((squares / (double)n_draws - mean * mean) / (double)n_draws);
    g_assert_cmpfloat(fabs(mean), <, 5.0 * error);
    g_assert_cmpfloat(fabs(plain / (double)n_draws - rows[row].plain), <, 5.0 * error);
  }
}

static void
signed_root_keeps_the_sign(void) {
  g_assert_cmpfloat(demur_signed_root(0.25), ==, 0.5);
  g_assert_cmpfloat(demur_signed_root(-0.25), ==, -0.5);
  g_assert_cmpfloat(demur_signed_root(0.0), ==, 0.0);
  g_assert_true(isnan(demur_signed_root(NAN)));
}

/* Twelve scans of three risks in three bins of four, cut through the middle block (r = .5: six
 * scans, of which four are 1): r = .1 .1 .1 .5 | .5 x 4 | .5 .9 .9 .9. By mean outcome: bin 1 (1 +
 * 2/3)/4 - .2, bin 2 2/3 - .5, bin 3 (2/3 + 2)/4 - .8. */
static void
ties_share_their_mean_outcome(void) {
  const double risks[] = {.1, .1, .1, .5, .5, .5, .5, .5, .5, .9, .9, .9};
  const guint32 ranks[12] = {0};
  const double first = 5.0 / 12 - .2, second = 2.0 / 3 - .5, third = 2.0 / 3 - .8;
  static const double orders[][12] = {{1, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1, 0},
                                      {0, 0, 1, 0, 0, 1, 1, 1, 1, 0, 1, 1},
                                      {0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1}};
  for (size_t o = 0; o < G_N_ELEMENTS(orders); o++) {
    const DemurSelectiveSample sample = {
        .n = 12, .risks = risks, .labels = orders[o], .ranks = ranks, .n_ranks = 1};
    const DemurSelectivePoint p = point_at(&sample, 0, 4);
    g_assert_cmpuint(p.n_bins, ==, 3);
    demur_assert_close(p.error2, sqrt((first * first + second * second + third * third) / 3), 1e-14,
                       0);
    demur_assert_close(p.error_inf, first, 1e-14, 0);
    const DemurOutcomes outcomes = {12, risks, orders[o], NULL, NULL};
    DemurBins bins;
    demur_bins_fill(&bins, &outcomes, 4);
    demur_assert_close(bins.positives[0] - bins.risks[0], 4 * first, 1e-14, 0);
    demur_assert_close(bins.positives[1] - bins.risks[1], 4 * second, 1e-14, 0);
  }
}

/* A weight is a multiplicity that need not be whole: k of every scan are the same sample, and so is
 * weight 2 in place of two copies; what has weight 0 is not looked at, whatever its label. */
static void
weights_are_multiplicities(void) {
  enum { M = 90 };
  double risks[M], labels[M], unknown[M], weights[M];
  guint32 ranks[M], counts[M];
  for (size_t i = 0; i < M; i++) {
    risks[i] = (double)(i / 2 * 2 + 1) / (M + 2); /* pairs tie */
    labels[i] = (i * 7 + i / 5) % 3 == 0;
    ranks[i] = (guint32)((i * 11) % M);
    counts[i] = 1 + i % 2;
    weights[i] = (double)counts[i];
    unknown[i] = labels[i];
  }
  const DemurSelectiveSample counted = {
      .n = M, .risks = risks, .labels = labels, .counts = counts, .ranks = ranks, .n_ranks = M};
  DemurSelectiveSample weighted = {
      .n = M, .risks = risks, .labels = unknown, .weights = weights, .ranks = ranks, .n_ranks = M};
  /* 90 scans, 135 copies: one bin either way. */
  const DemurSelectivePoint a = point_at(&counted, M - 1, 136), b = point_at(&weighted, M - 1, 91);
  demur_assert_close(a.error2, b.error2, 1e-13, 0);
  demur_assert_close(a.brier, b.brier, 1e-13, 0);
  demur_assert_close(a.accuracy, b.accuracy, 1e-13, 0);
  for (size_t i = 0; i < M; i++)
    weights[i] = 3.0;
  const DemurSelectiveSample plain = {
      .n = M, .risks = risks, .labels = labels, .ranks = ranks, .n_ranks = M};
  for (guint32 rank = 29; rank < M; rank += 30) { /* 30, 60, 90 scans in bins of 15 */
    const DemurSelectivePoint c = point_at(&plain, rank, 15), d = point_at(&weighted, rank, 15);
    demur_assert_close(c.error1, d.error1, 1e-13, 0);
    demur_assert_close(c.error2, d.error2, 1e-13, 0);
    demur_assert_close(c.debiased2, d.debiased2, 1e-13, 0);
  }
  weights[4] = weights[70] = 0.0;
  const DemurSelectivePoint before = point_at(&weighted, M - 1, 20);
  unknown[4] = 1.0 - unknown[4];
  unknown[70] = 1.0 - unknown[70];
  const DemurSelectivePoint after = point_at(&weighted, M - 1, 20);
  g_assert_cmpuint(before.n_selected, ==, M); /* coverage counts them */
  g_assert_cmpfloat(before.error2, ==, after.error2);
  g_assert_cmpfloat(before.debiased2, ==, after.debiased2);
  g_assert_cmpfloat(before.brier, ==, after.brier);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/metrics/selective/two-bins", two_bins_by_hand);
  g_test_add_func("/metrics/selective/remainders", remainders_go_to_the_first_bins);
  g_test_add_func("/metrics/selective/straddling", a_multiplicity_may_straddle_bins);
  g_test_add_func("/metrics/selective/n-bins", number_of_bins_follows_the_paper);
  g_test_add_func("/metrics/selective/empty", an_empty_selection_is_undefined);
  g_test_add_func("/metrics/selective/twin", every_function_matches_the_twin);
  g_test_add_func("/metrics/selective/errors-alone-are-the-points-bytes",
                  errors_alone_are_the_points_bytes);
  g_test_add_func("/metrics/selective/doubling", doubling_all_counts_keeps_the_plain_measures);
  g_test_add_func("/metrics/selective/debiased",
                  debiased_square_of_a_calibrated_model_is_zero_on_average);
  g_test_add_func("/metrics/selective/signed-root", signed_root_keeps_the_sign);
  g_test_add_func("/metrics/selective/ties-share-their-mean-outcome",
                  ties_share_their_mean_outcome);
  g_test_add_func("/metrics/selective/weights-are-multiplicities", weights_are_multiplicities);
  return g_test_run();
}
