/* The selector's numerics in double: loss and gradient against a double sum and central
 * differences, one update against loops written out, Adam by hand. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "metrics/coverage.h"
#include "metrics/selective.h"
#include "selector/adam.h"
#include "selector/smmce.h"
#include "selector/update.h"
#include "support/support.h"

static int
compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

typedef struct {
  size_t n;
  double risks[80], errors[80], logits[80];
  guint16 counts[80];
} Entries;

static Entries
random_entries(guint64 seed, size_t n) {
  DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_TEST, n, 0, 0);
  Entries e = {.n = n};
  for (size_t i = 0; i < n; i++) {
    e.risks[i] = seed % 2 == 0 ? demur_random_uniform(&random)
                               : (double)demur_random_below(&random, 4) / 3.0; /* ties */
    e.errors[i] = demur_random_uniform(&random);
    e.logits[i] = 2.0 * demur_random_normal(&random);
    e.counts[i] = (guint16)(1 + demur_random_below(&random, 4));
  }
  qsort(e.risks, n, sizeof *e.risks, compare_doubles);
  return e;
}

static DemurSmmceLoss
loss_of(const DemurSmmceSettings *settings, const Entries *e, double *gradient) {
  return demur_smmce_loss(settings, e->risks, e->errors, e->counts, e->logits, e->n, gradient);
}

static double
total_of(const DemurSmmceSettings *settings, const Entries *e) {
  const DemurSmmceLoss loss = loss_of(settings, e, NULL);
  return loss.smmce + loss.regulariser;
}

static const DemurSmmceSettings settings_table[] = {
    {1, 0.2, 1.0, 0.01},  {2, 0.2, 1.0, 0.01}, {2, 1e-3, 1.0, 0.0},
    {1, 100.0, 0.5, 1.0}, {2, 0.2, 0.0, 1.0},
};

/* Eq. full_loss as it is printed: every pair, long double, scans written out c_i times. */
static void
loss_is_the_double_sum(void) {
  for (size_t s = 0; s < G_N_ELEMENTS(settings_table); s++)
    for (guint64 seed = 0; seed < 10; seed++) {
      const DemurSmmceSettings *settings = &settings_table[s];
      const Entries e = random_entries(seed, 1 + seed * 7);
      long double sum = 0, penalty = 0, n = 0;
      for (size_t i = 0; i < e.n; i++)
        for (guint a = 0; a < e.counts[i]; a++) {
          const long double gi = 1 / (1 + expl(-(long double)e.logits[i]));
          n += 1;
          penalty -= logl(gi);
          for (size_t j = 0; j < e.n; j++)
            for (guint b = 0; b < e.counts[j]; b++) {
              const long double gj = 1 / (1 + expl(-(long double)e.logits[j]));
              sum += (long double)e.errors[i] * (long double)e.errors[j] * gi * gj *
                     expl(-fabsl((long double)e.risks[i] - (long double)e.risks[j]) /
                          (long double)settings->kernel_width);
            }
        }
      const long double root = settings->q == 1 ? sum : sqrtl(sum);
      const DemurSmmceLoss loss = loss_of(settings, &e, NULL);
      demur_assert_close(loss.smmce, (double)((long double)settings->lambda1 / sqrtl(n) * root),
                         1e-12, 0);
      demur_assert_close(loss.regulariser, (double)((long double)settings->lambda2 / n * penalty),
                         1e-12, 0);
    }
}

/* (L(z + h) - L(z - h)) / 2h has an error of h^2 L'''/6 + eps L/h, about 1e-10 here. */
static void
gradient_matches_central_differences(void) {
  const double h = 1e-5;
  for (size_t s = 0; s < G_N_ELEMENTS(settings_table); s++)
    for (guint64 seed = 0; seed < 12; seed++) {
      Entries e = random_entries(seed, 1 + seed * 5);
      double gradient[80];
      loss_of(&settings_table[s], &e, gradient);
      for (size_t i = 0; i < e.n; i++) {
        const double z = e.logits[i];
        e.logits[i] = z + h;
        const double above = total_of(&settings_table[s], &e);
        e.logits[i] = z - h;
        const double below = total_of(&settings_table[s], &e);
        e.logits[i] = z;
        demur_assert_close(gradient[i], (above - below) / (2 * h), 1e-6, 1e-9);
      }
    }
}

/* Laws. The order of scans of equal risk does not matter; c copies are a count of c, with the
 * gradient shared; doubling all counts multiplies the first term by 2^(2/q) / sqrt 2 and leaves the
 * second; scaling the errors by a multiplies the first term by a^(2/q). */
static void
loss_obeys_its_laws(void) {
  for (size_t s = 0; s < 2; s++) {
    const DemurSmmceSettings *settings = &settings_table[s];
    const double power = 2.0 / settings->q;
    for (guint64 seed = 1; seed < 16; seed += 2) { /* risks with ties */
      const Entries e = random_entries(seed, 24);
      double gradient[80], other_gradient[80];
      const DemurSmmceLoss loss = loss_of(settings, &e, gradient);

      Entries swapped = e;
      for (size_t i = 0; i + 1 < e.n; i++)
        if (e.risks[i] == e.risks[i + 1]) {
          swapped.errors[i] = e.errors[i + 1], swapped.errors[i + 1] = e.errors[i];
          swapped.logits[i] = e.logits[i + 1], swapped.logits[i + 1] = e.logits[i];
          swapped.counts[i] = e.counts[i + 1], swapped.counts[i + 1] = e.counts[i];
          const DemurSmmceLoss same = loss_of(settings, &swapped, other_gradient);
          demur_assert_close(same.smmce, loss.smmce, 1e-13, 0);
          demur_assert_close(same.regulariser, loss.regulariser, 1e-13, 0);
          demur_assert_close(other_gradient[i], gradient[i + 1], 1e-11, 1e-14);
          break;
        }

      Entries split = {0};
      for (size_t i = 0; i < e.n; i++)
        for (int part = 0; part < (e.counts[i] > 1 ? 2 : 1); part++) {
          split.risks[split.n] = e.risks[i];
          split.errors[split.n] = e.errors[i];
          split.logits[split.n] = e.logits[i];
          split.counts[split.n++] = (guint16)(e.counts[i] == 1 ? 1
                                              : part == 0      ? 1
                                                               : e.counts[i] - 1);
        }
      const DemurSmmceLoss parts = loss_of(settings, &split, other_gradient);
      demur_assert_close(parts.smmce, loss.smmce, 1e-12, 0);
      demur_assert_close(parts.regulariser, loss.regulariser, 1e-12, 0);
      for (size_t i = 0, j = 0; i < e.n; i++) {
        double sum = other_gradient[j++];
        if (e.counts[i] > 1)
          sum += other_gradient[j++];
        demur_assert_close(sum, gradient[i], 1e-10, 1e-14);
      }

      Entries doubled = e, scaled = e;
      for (size_t i = 0; i < e.n; i++) {
        doubled.counts[i] = (guint16)(2 * e.counts[i]);
        scaled.errors[i] = 3.0 * e.errors[i];
      }
      const DemurSmmceLoss twice = loss_of(settings, &doubled, NULL);
      demur_assert_close(twice.smmce, loss.smmce * pow(2.0, power) / sqrt(2.0), 1e-12, 0);
      demur_assert_close(twice.regulariser, loss.regulariser, 1e-12, 0);
      const DemurSmmceLoss large = loss_of(settings, &scaled, NULL);
      demur_assert_close(large.smmce, loss.smmce * pow(3.0, power), 1e-12, 0);
      g_assert_cmpfloat(large.regulariser, ==, loss.regulariser);
    }
  }
}

/* g = sigmoid(+-800) is 1 and 0 to a double; -log g is 0 and 800; nothing overflows. With every
 * e_i g_i = 0 the first term and its gradient are 0 (method.md), for q = 2 too. */
static void
extreme_logits_stay_finite(void) {
  const double risks[] = {0.1, 0.1, 0.9}, errors[] = {0.5, 0.25, 1.0}, zero[] = {0, 0, 0};
  const guint16 counts[] = {1, 2, 1};
  for (int q = 1; q <= 2; q++) {
    const DemurSmmceSettings settings = {q, 0.2, 1.0, 0.01};
    double gradient[3];
    const double high[] = {800, 800, 800};
    DemurSmmceLoss loss = demur_smmce_loss(&settings, risks, errors, counts, high, 3, gradient);
    const double s = 2.0 + 2.0 * exp(-4.0); /* v = .5 .5 1: (.5 + .5)^2 + 1 + 2 (1)(1) k(.1, .9) */
    demur_assert_close(loss.smmce, (q == 1 ? s : sqrt(s)) / 2.0, 1e-14, 0);
    g_assert_cmpfloat(loss.regulariser, ==, 0.0);
    for (int i = 0; i < 3; i++)
      g_assert_cmpfloat(gradient[i], ==, 0.0);
    const double low[] = {-800, -800, -800};
    loss = demur_smmce_loss(&settings, risks, errors, counts, low, 3, gradient);
    g_assert_cmpfloat(loss.smmce, ==, 0.0);
    demur_assert_close(loss.regulariser, 0.01 * 800, 1e-14, 0);
    for (int i = 0; i < 3; i++)
      demur_assert_close(gradient[i], -0.01 / 4.0 * counts[i], 1e-14, 0);
    const double middle[] = {0, 0, 0};
    loss = demur_smmce_loss(&settings, risks, zero, counts, middle, 3, gradient);
    g_assert_cmpfloat(loss.smmce, ==, 0.0);
    demur_assert_close(loss.regulariser, 0.01 * log(2.0), 1e-14, 0);
    for (int i = 0; i < 3; i++)
      demur_assert_close(gradient[i], -0.01 / 4.0 * counts[i] * 0.5, 1e-14, 0);
  }
  const DemurSmmceSettings settings = {2, 0.2, 1.0, 0.01};
  const DemurSmmceLoss empty = demur_smmce_loss(&settings, NULL, NULL, NULL, NULL, 0, NULL);
  g_assert_true(empty.smmce == 0.0 && empty.regulariser == 0.0);
}

/* More entries than fit the loss's own memory on the stack: against the sum by halves of the data,
 * which are far apart in risk (kernel 0 between them), q = 1. */
static void
long_data_sets_add_up(void) {
  const size_t n = 1100;
  g_autofree double *risks = g_new(double, 2 * n), *errors = g_new(double, 2 * n),
                    *logits = g_new(double, 2 * n), *gradient = g_new(double, 2 * n);
  g_autofree guint16 *counts = g_new(guint16, 2 * n);
  for (size_t i = 0; i < 2 * n; i++) {
    risks[i] = (i < n ? 0.0 : 0.9) + 1e-4 * (double)(i % n) / 2.0;
    errors[i] = (double)(i % 7) / 7.0;
    logits[i] = (double)(i % 5) - 2.0;
    counts[i] = (guint16)(1 + i % 3);
  }
  size_t totals[2] = {0, 0};
  for (size_t i = 0; i < 2 * n; i++)
    totals[i / n] += counts[i];
  const DemurSmmceSettings settings = {1, 1e-3, 1.0, 0.0};
  double halves = 0.0;
  for (size_t part = 0; part < 2; part++)
    halves += sqrt((double)totals[part]) * demur_smmce_loss(&settings, risks + part * n,
                                                            errors + part * n, counts + part * n,
                                                            logits + part * n, n, NULL)
                                               .smmce;
  const DemurSmmceLoss whole =
      demur_smmce_loss(&settings, risks, errors, counts, logits, 2 * n, gradient);
  demur_assert_close(whole.smmce * sqrt((double)(totals[0] + totals[1])), halves, 1e-12, 0);
}

/* --- one update --- */

enum { N_SCANS = 300, N_FEATURES = 4, N_HIDDEN = 11, N_DATASETS = 5, SIZE = 150 };

typedef struct {
  DemurTrainingScans scans;
  double features[N_SCANS * N_FEATURES], risks[N_SCANS], labels[N_SCANS], errors[N_SCANS];
  DemurDataset *datasets[N_DATASETS];
  DemurMlpShape shape;
  double *parameters;
} Problem;

static Problem *
problem_new(int q, guint64 seed) {
  Problem *p = g_new0(Problem, 1);
  DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_TEST, 0, 0, 0);
  guint32 groups[N_SCANS];
  for (size_t i = 0; i < N_SCANS; i++) {
    p->risks[i] = (double)demur_random_below(&random, 90) / 90.0; /* ties */
    groups[i] = (guint32)(i % 3);
  }
  qsort(p->risks, N_SCANS, sizeof *p->risks, compare_doubles);
  for (size_t i = 0; i < N_SCANS; i++) {
    p->labels[i] = demur_random_uniform(&random) < p->risks[i] ? 1.0 : 0.0;
    p->errors[i] = pow(fabs(p->labels[i] - p->risks[i]), q);
    for (size_t c = 0; c < N_FEATURES; c++)
      p->features[i * N_FEATURES + c] = demur_random_normal(&random);
  }
  p->scans =
      (DemurTrainingScans){N_SCANS, N_FEATURES, p->features, p->risks, p->labels, p->errors, NULL};
  g_autoptr(DemurResampler) resampler =
      demur_resampler_new(DEMUR_SHIFT_GROUPS, N_SCANS, groups, 3, 1.0, SIZE);
  DemurResamplerScratch *scratch = demur_resampler_scratch_new(resampler);
  for (size_t k = 0; k < N_DATASETS; k++) {
    p->datasets[k] = demur_dataset_new(SIZE);
    demur_resampler_draw(resampler, &random, scratch, p->datasets[k]);
  }
  demur_resampler_scratch_free(scratch);
  p->shape = demur_mlp_shape(N_FEATURES, N_HIDDEN);
  p->parameters = demur_new_array(double, p->shape.n_parameters);
  demur_mlp_initialise(p->shape, &random, p->parameters);
  return p;
}

static void
problem_free(Problem *p) {
  for (size_t k = 0; k < N_DATASETS; k++)
    demur_dataset_free(p->datasets[k]);
  g_aligned_free(p->parameters);
  g_free(p);
}

/* Runs one update that changes nothing (learning rate 0); gradient [n_parameters], if not NULL, is
 * read out of Adam's first moment, 0.1 g after one step. */
static DemurUpdateResult
evaluate(const Problem *p, const double *parameters, int q, size_t kappa, double kappa_coverage,
         DemurDataset *const *datasets, size_t n_datasets, double *gradient, double *errors) {
  const DemurUpdateSettings settings = {.smmce = {q, 0.2, 1.0, 0.01},
                                        .adam = {0.0, 0.0, 0.0},
                                        .kappa = kappa,
                                        .kappa_coverage = kappa_coverage,
                                        .min_bin_size = 25};
  g_autoptr(DemurUpdater) updater =
      demur_updater_new(&p->scans, p->shape, &settings, n_datasets, SIZE, NULL);
  DemurAdam *adam = demur_adam_new(p->shape.n_parameters);
  DEMUR_AUTO_ALIGNED double *copy = demur_new_array(double, p->shape.n_parameters);
  memcpy(copy, parameters, p->shape.n_parameters * sizeof *copy);
  DemurUpdateResult result;
  demur_updater_run(updater, datasets, adam, copy, &result);
  g_assert_true(memcmp(copy, parameters, p->shape.n_parameters * sizeof *copy) == 0);
  if (gradient != NULL)
    for (size_t i = 0; i < p->shape.n_parameters; i++)
      gradient[i] = adam->first[i] / (1.0 - 0.9);
  if (errors != NULL)
    memcpy(errors, demur_updater_dataset_errors(updater), n_datasets * sizeof *errors);
  demur_adam_free(adam);
  return result;
}

/* Weighted sums written out as loops. */
static double
logit_by_hand(const Problem *p, const double *x) {
  const DemurMlpOffsets o = demur_mlp_offsets(p->shape);
  double first[N_HIDDEN], z = p->parameters[o.b3];
  for (size_t j = 0; j < N_HIDDEN; j++) {
    first[j] = p->parameters[o.b1 + j];
    for (size_t c = 0; c < N_FEATURES; c++)
      first[j] += p->parameters[o.w1 + j * N_FEATURES + c] * x[c];
    first[j] = fmax(first[j], 0.0);
  }
  for (size_t j = 0; j < N_HIDDEN; j++) {
    double second = p->parameters[o.b2 + j];
    for (size_t c = 0; c < N_HIDDEN; c++)
      second += p->parameters[o.w2 + j * N_HIDDEN + c] * first[c];
    z += p->parameters[o.w3 + j] * fmax(second, 0.0);
  }
  return z;
}

/* The mean over all data sets of the loss of logits from loops. */
static void
update_reports_the_mean_loss(void) {
  for (int q = 1; q <= 2; q++) {
    Problem *p = problem_new(q, 1);
    const DemurSmmceSettings settings = {q, 0.2, 1.0, 0.01};
    double smmce = 0.0, regulariser = 0.0;
    for (size_t k = 0; k < N_DATASETS; k++) {
      const DemurDataset *dataset = p->datasets[k];
      double risks[SIZE], errors[SIZE], logits[SIZE];
      for (size_t j = 0; j < dataset->n_rows; j++) {
        const guint32 row = dataset->rows[j];
        risks[j] = p->risks[row];
        errors[j] = p->errors[row];
        logits[j] = logit_by_hand(p, p->features + row * N_FEATURES);
      }
      const DemurSmmceLoss loss = demur_smmce_loss(&settings, risks, errors, dataset->counts,
                                                   logits, dataset->n_rows, NULL);
      smmce += loss.smmce / N_DATASETS;
      regulariser += loss.regulariser / N_DATASETS;
    }
    const DemurUpdateResult result =
        evaluate(p, p->parameters, q, 0, 0, p->datasets, N_DATASETS, NULL, NULL);
    demur_assert_close(result.smmce, smmce, 1e-12, 0);
    demur_assert_close(result.regulariser, regulariser, 1e-12, 0);
    demur_assert_close(result.loss, smmce + regulariser, 1e-12, 0);
    problem_free(p);
  }
}

/* The whole path, loss -> logits -> network -> parameters, by central differences of the reported
 * loss. The choice of the kappa worst does not change within h. */
static void
update_gradient_matches_central_differences(void) {
  static const struct {
    int q;
    size_t kappa;
    double kappa_coverage;
  } rows[] = {{1, 0, 0}, {2, 0, 0}, {2, 2, 0}, {1, 1, 0.7}};
  const double h = 1e-6;
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    Problem *p = problem_new(rows[r].q, 2 + r);
    const size_t n = p->shape.n_parameters;
    g_autofree double *gradient = g_new(double, n);
    const DemurUpdateResult at =
        evaluate(p, p->parameters, rows[r].q, rows[r].kappa, rows[r].kappa_coverage, p->datasets,
                 N_DATASETS, gradient, NULL);
    double squares = 0.0;
    for (size_t i = 0; i < n; i++) {
      squares += gradient[i] * gradient[i];
      double losses[2];
      const double kept = p->parameters[i];
      for (int side = 0; side < 2; side++) {
        p->parameters[i] = kept + (side == 0 ? h : -h);
        losses[side] = evaluate(p, p->parameters, rows[r].q, rows[r].kappa, rows[r].kappa_coverage,
                                p->datasets, N_DATASETS, NULL, NULL)
                           .loss;
      }
      p->parameters[i] = kept;
      demur_assert_close(gradient[i], (losses[0] - losses[1]) / (2 * h), 1e-5, 1e-7);
    }
    demur_assert_close(at.gradient_norm, sqrt(squares), 1e-10, 0);
    problem_free(p);
  }
}

/* kappa keeps the data sets of largest selection error: their errors are those of the metrics on
 * logits from loops, and the loss is that of an update on them alone. */
static void
kappa_keeps_the_worst(void) {
  for (int with_coverage = 0; with_coverage < 2; with_coverage++) {
    Problem *p = problem_new(2, 7);
    double expected[N_DATASETS], errors[N_DATASETS], scores[N_SCANS];
    guint32 ranks[N_SCANS];
    for (size_t i = 0; i < N_SCANS; i++)
      scores[i] = logit_by_hand(p, p->features + i * N_FEATURES);
    const size_t n_ranks = demur_coverage_ranks(scores, N_SCANS, ranks);
    g_autoptr(DemurSelectiveScratch) scratch = demur_selective_scratch_new(N_SCANS);
    for (size_t k = 0; k < N_DATASETS; k++) {
      guint32 counts[N_SCANS] = {0};
      for (size_t j = 0; j < p->datasets[k]->n_rows; j++)
        counts[p->datasets[k]->rows[j]] = p->datasets[k]->counts[j];
      const DemurSelectiveSample sample = {.n = N_SCANS,
                                           .risks = p->risks,
                                           .labels = p->labels,
                                           .counts = counts,
                                           .ranks = ranks,
                                           .n_ranks = n_ranks};
      double grid[10], values[10];
      demur_coverage_grid(10, grid);
      if (with_coverage)
        grid[0] = 0.6;
      demur_selective_errors(&sample, grid, with_coverage ? 1 : 10, 25, scratch, values);
      expected[k] = with_coverage ? values[0] : demur_coverage_auc(grid, values, 10);
    }
    const double coverage = with_coverage ? 0.6 : 0.0;
    const DemurUpdateResult two =
        evaluate(p, p->parameters, 2, 2, coverage, p->datasets, N_DATASETS, NULL, errors);
    size_t worst[2] = {0, 0};
    for (size_t k = 0; k < N_DATASETS; k++) {
      demur_assert_close(errors[k], expected[k], 1e-12, 0);
      if (expected[k] > expected[worst[0]])
        worst[0] = k;
    }
    worst[1] = worst[0] == 0 ? 1 : 0;
    for (size_t k = 0; k < N_DATASETS; k++)
      if (k != worst[0] && expected[k] > expected[worst[1]])
        worst[1] = k;
    DemurDataset *chosen[2] = {p->datasets[MIN(worst[0], worst[1])],
                               p->datasets[MAX(worst[0], worst[1])]};
    const DemurUpdateResult alone = evaluate(p, p->parameters, 2, 0, 0, chosen, 2, NULL, NULL);
    demur_assert_close(two.loss, alone.loss, 1e-13, 0);
    demur_assert_close(two.gradient_norm, alone.gradient_norm, 1e-12, 0);
    /* All the same loss: every data set kept is kappa = m, and kappa above m. */
    const DemurUpdateResult all =
        evaluate(p, p->parameters, 2, 0, 0, p->datasets, N_DATASETS, NULL, NULL);
    for (size_t kappa = N_DATASETS; kappa < N_DATASETS + 2; kappa++)
      g_assert_cmpfloat(
          evaluate(p, p->parameters, 2, kappa, 0, p->datasets, N_DATASETS, NULL, NULL).loss, ==,
          all.loss);
    problem_free(p);
  }
}

/* --- Adam --- */

/* First step: m/(1 - .9) = g and v/(1 - .999) = g^2, so the change is rate g/(|g| + 1e-8), whatever
 * the size of g. Settings that are degenerate on purpose; the change is worked out by hand. */
static void
adam_steps_by_hand(void) {
  static const struct {
    DemurAdamSettings settings;
    double gradient[2], parameters[2], changed[2], norm;
  } rows[] = {
      /* plain: sign of the gradient times the rate */
      {{0.1, 0, 0}, {3, -4}, {1, 1}, {0.9, 1.1}, 5},
      /* nothing to do */
      {{0.1, 0, 10}, {0, 0}, {1, -1}, {1, -1}, 0},
      /* rate 0 */
      {{0.0, 0.5, 1}, {3, 4}, {1, 1}, {1, 1}, 5},
      /* weight decay alone: g = .5 p */
      {{0.1, 0.5, 0}, {0, 0}, {2, -2}, {1.9, -1.9}, 0},
      /* decay is added after clipping: -3 clipped to -.5 (norm 3 -> .5), + .5 p = 1 > 0 turns it */
      {{0.1, 0.5, 0.5}, {-3, 0}, {2, 0}, {1.9, 0}, 3},
      /* without clipping it would not turn: -3 + 1 < 0 */
      {{0.1, 0.5, 0}, {-3, 0}, {2, 0}, {2.1, 0}, 3},
  };
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    DemurAdam *adam = demur_adam_new(2);
    double gradient[2], parameters[2];
    memcpy(gradient, rows[r].gradient, sizeof gradient);
    memcpy(parameters, rows[r].parameters, sizeof parameters);
    const double norm = demur_adam_step(adam, &rows[r].settings, gradient, parameters);
    demur_assert_close(norm, rows[r].norm, 1e-15, 0);
    for (int i = 0; i < 2; i++)
      demur_assert_close(parameters[i], rows[r].changed[i], 0, 1e-8);
    g_assert_cmpuint(adam->step, ==, 1);
    demur_adam_free(adam);
  }
}

/* Second step of g = 1 then g = 0: m = .09, v = .000999; over .19 and .001999:
 * change rate (.09/.19) / sqrt(.000999/.001999). */
static void
adam_remembers(void) {
  DemurAdam *adam = demur_adam_new(1);
  const DemurAdamSettings settings = {0.5, 0, 0};
  double gradient = 1, parameter = 0;
  demur_adam_step(adam, &settings, &gradient, &parameter);
  demur_assert_close(parameter, -0.5, 0, 1e-8);
  gradient = 0;
  demur_adam_step(adam, &settings, &gradient, &parameter);
  demur_assert_close(parameter, -0.5 - 0.5 * (0.09 / 0.19) / sqrt(0.000999 / 0.001999), 0, 2e-8);
  demur_adam_free(adam);
}

/* f(p) = (p - 3)^2: it gets there. */
static void
adam_finds_a_minimum(void) {
  DemurAdam *adam = demur_adam_new(1);
  const DemurAdamSettings settings = {0.01, 0, 1};
  double parameter = 0;
  for (int i = 0; i < 3000; i++) {
    double gradient = 2 * (parameter - 3);
    demur_adam_step(adam, &settings, &gradient, &parameter);
  }
  demur_assert_close(parameter, 3, 0, 1e-3);
  demur_adam_free(adam);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/double/loss/double-sum", loss_is_the_double_sum);
  g_test_add_func("/double/loss/gradient", gradient_matches_central_differences);
  g_test_add_func("/double/loss/laws", loss_obeys_its_laws);
  g_test_add_func("/double/loss/extremes", extreme_logits_stay_finite);
  g_test_add_func("/double/loss/long", long_data_sets_add_up);
  g_test_add_func("/double/update/loss", update_reports_the_mean_loss);
  g_test_add_func("/double/update/gradient", update_gradient_matches_central_differences);
  g_test_add_func("/double/update/kappa", kappa_keeps_the_worst);
  g_test_add_func("/double/adam/by-hand", adam_steps_by_hand);
  g_test_add_func("/double/adam/memory", adam_remembers);
  g_test_add_func("/double/adam/minimum", adam_finds_a_minimum);
  return g_test_run();
}
