/* g~ = sum_a sigmoid(z_a) / n_average, added in the order of the networks. No summand is below 0: what a scan has after some networks is
 * no more than its score. So those that are lowest by the first network are scored whole; the highest of them is no less than
 * the n_low-th lowest of all, and a scan that has come above it needs no further network.
 * Cost: one forward pass a scan and network; of the lowest ones, a network and little more. */
#include "selector/network-scores.h"

#include <math.h>

#include "base/memory.h"
#include "base/sort-floats.h"
#include "selector/mlp-kernel.h"

#define ROWS 256

/* Scans whose scores are being added up. */
typedef struct {
  const DemurSelector *selector;
  const DemurSelectorModel *model;
  float *transposed; /* [n_average][n_parameters] of demur_mlp_transpose */
  float *inputs;     /* [..][n_inputs], standardised */
  float *scratch;    /* [ROWS][n_inputs + 2 n_hidden] */
  double *scores;
} Sum;

static void
sum_begin(Sum *sum, const DemurSelector *s, const DemurSelectorModel *m, size_t n_rows,
          double *scores) {
  const size_t n_parameters = s->shape.n_parameters;
  *sum = (Sum){.selector = s, .model = m, .scores = scores};
  sum->transposed = demur_new_matrix(float, m->n_average, n_parameters);
  for (size_t a = 0; a < m->n_average; a++)
    demur_mlp_transpose(s->shape, m->parameters + a * n_parameters,
                        sum->transposed + a * n_parameters);
  sum->inputs = demur_new_matrix(float, n_rows, s->n_inputs);
  sum->scratch = demur_new_matrix(float, ROWS, s->n_inputs + 2 * s->shape.n_hidden);
}

static void
sum_clear(Sum *sum) {
  g_aligned_free(sum->transposed);
  g_aligned_free(sum->inputs);
  g_aligned_free(sum->scratch);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Sum, sum_clear)

/* Adds a network's part to the scores of rows [n] of the inputs; NULL: of the first n. */
static void
add_network(const Sum *sum, size_t network, const guint32 *rows, size_t n) {
  const DemurSelector *s = sum->selector;
  const size_t d = s->n_inputs, h = s->shape.n_hidden, offset = network * s->shape.n_parameters;
  const DemurMlp mlp = {s->shape, sum->model->parameters + offset, sum->transposed + offset};
  float z[ROWS];
  for (size_t start = 0; start < n; start += ROWS) {
    const DemurMlpScans scans = {rows != NULL ? sum->inputs : sum->inputs + start * d,
                                 rows != NULL ? rows + start : NULL, MIN(ROWS, n - start)};
    demur_mlp_forward(&mlp, &scans, sum->scratch, sum->scratch + ROWS * (d + h), z);
    for (size_t i = 0; i < scans.n; i++) {
      const double t = exp(-fabs((double)z[i]));
      sum->scores[rows != NULL ? rows[start + i] : start + i] +=
          (z[i] >= 0 ? 1.0 / (1.0 + t) : t / (1.0 + t)) / (double)sum->model->n_average;
    }
  }
}

void
demur_network_scores(const DemurSelector *s, const DemurSelectorModel *m, const double *meta,
                     size_t n_rows, double *scores) {
  g_auto(Sum) sum;
  sum_begin(&sum, s, m, ROWS, scores);
  for (size_t start = 0; start < n_rows; start += ROWS, sum.scores += ROWS) {
    const size_t n = MIN(ROWS, n_rows - start);
    demur_selector_inputs(s, meta + start * s->columns->n_columns, n, sum.inputs);
    for (size_t i = 0; i < n; i++)
      sum.scores[i] = 0.0;
    for (size_t a = 0; a < m->n_average; a++)
      add_network(&sum, a, NULL, n);
  }
}

/* The k-th lowest of scores [n], rounded. */
static float
kth_lowest(const double *scores, size_t n, size_t k) {
  g_autofree float *rounded = g_new(float, n);
  for (size_t i = 0; i < n; i++)
    rounded[i] = (float)scores[i];
  demur_sort_floats(rounded, n);
  return rounded[k - 1];
}

/* Takes the rows out whose scores have come above the limit; returns how many are left. */
static size_t
leave_out(guint32 *rows, size_t n, const double *scores, double limit) {
  size_t n_left = 0;
  for (size_t i = 0; i < n; i++)
    if (!(scores[rows[i]] > limit))
      rows[n_left++] = rows[i];
  return n_left;
}

void
demur_network_lowest_scores(const DemurSelector *s, const DemurSelectorModel *m, const double *meta,
                            size_t n, size_t n_low, double below, double *scores) {
  if (n_low >= n || m->n_average == 1 || !demur_mlp_kernel_serves(s->shape)) {
    demur_network_scores(s, m, meta, n, scores); /* products of the BLAS hang on all rows */
    return;
  }
  g_auto(Sum) sum;
  sum_begin(&sum, s, m, n, scores);
  demur_selector_inputs(s, meta, n, sum.inputs);
  for (size_t i = 0; i < n; i++)
    scores[i] = 0.0;
  add_network(&sum, 0, NULL, n);
  const float highest = kth_lowest(scores, n, n_low);
  g_autofree guint32 *low = g_new(guint32, n), *others = g_new(guint32, n);
  size_t n_first = 0, n_others = 0;
  for (size_t i = 0; i < n; i++)
    if ((float)scores[i] > highest)
      others[n_others++] = (guint32)i;
    else
      low[n_first++] = (guint32)i;
  for (size_t a = 1; a < m->n_average; a++)
    add_network(&sum, a, low, n_first);
  double limit = below;
  for (size_t i = 0; i < n_first; i++)
    limit = MAX(limit, scores[low[i]]);
  for (size_t a = 1; a < m->n_average; a++) {
    n_others = leave_out(others, n_others, scores, limit);
    add_network(&sum, a, others, n_others);
  }
}
