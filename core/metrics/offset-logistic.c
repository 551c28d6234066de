#include "metrics/offset-logistic.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vector.h"

#define BLOCK 64
#define CLIP 1e-6

double
demur_logit(double p) {
  p = CLAMP(p, CLIP, 1.0 - CLIP);
  return log(p) - log1p(-p);
}

double
demur_sigmoid(double z) {
  const double t = exp(-fabs(z));
  return z >= 0.0 ? 1.0 / (1.0 + t) : t / (1.0 + t);
}

double
demur_log_loss(double label, double p) {
  p = CLAMP(p, CLIP, 1.0 - CLIP);
  return -(label * log(p) + (1.0 - label) * log1p(-p));
}

/* What a fit works on: rows that count nothing are passed over. The inputs of BLOCK rows at a time are
 * put beside each other with a 1 for the intercept behind them and zeros up to whole vectors, so that
 * eight sums go on at once; each has its terms in the order of the rows. */
typedef struct {
  const DemurOffsetLogistic *problem;
  size_t width;      /* m in whole vectors */
  double *z, *exps;  /* [n] of the coefficients that were looked at last: linear, exp(-|z|) */
  double *rows;      /* [BLOCK][width] */
  double *scaled;    /* [BLOCK][8] */
  double *weights;   /* [BLOCK] */
  double *residuals; /* [BLOCK] */
  double *gradient;  /* [width] */
  double *products;  /* [width][width], of which the lower triangle is the Hessian */
} Work;

static double
count_of(const DemurOffsetLogistic *p, size_t i) {
  return p->use != NULL ? p->use[i] : 1.0;
}

static double
linear(const DemurOffsetLogistic *p, size_t i, const double *coefficients) {
  double z = p->offsets[i] + coefficients[p->d];
  for (size_t c = 0; c < p->d; c++)
    z += coefficients[c] * p->inputs[i * p->stride + c];
  return z;
}

/* coefficients [d + 1], the intercept last. */
static double
objective(Work *work, const double *coefficients) {
  const DemurOffsetLogistic *p = work->problem;
  double sum = 0.5 * p->intercept_penalty * coefficients[p->d] * coefficients[p->d];
  for (size_t c = 0; c < p->d; c++)
    sum += 0.5 * p->penalty * coefficients[c] * coefficients[c];
  for (size_t i = 0; i < p->n; i++)
    if (count_of(p, i) != 0.0)
      work->z[i] = linear(p, i, coefficients);
  for (size_t i = 0; i < p->n; i++) {
    const double count = count_of(p, i);
    if (count == 0.0)
      continue;
    const double z = work->z[i], t = work->exps[i] = exp(-fabs(z));
    sum += count * (fmax(z, 0.0) - p->labels[i] * z + log1p(t));
  }
  return sum;
}

/* Adds n rows to gradient and products. */
VECTOR_CLONES static void
add_rows(Work *work, size_t n) {
  const size_t width = work->width;
  const double *rows = work->rows;
  for (size_t c = 0; c < width; c += 8) {
    V8 sum = v8_load(work->gradient + c);
    for (size_t i = 0; i < n; i++)
      sum += work->residuals[i] * v8_load(rows + i * width + c);
    v8_store(work->gradient + c, sum);
  }
  for (size_t r = 0; r < width; r += 8) {
    for (size_t i = 0; i < n; i++)
      v8_store(work->scaled + 8 * i, work->weights[i] * v8_load(rows + i * width + r));
    for (size_t c = 0; c <= r; c += 8) {
      double *to = work->products + r * width + c;
      V8 sums[8];
      for (size_t k = 0; k < 8; k++)
        sums[k] = v8_load(to + k * width);
      for (size_t i = 0; i < n; i++) {
        const V8 x = v8_load(rows + i * width + c);
        for (size_t k = 0; k < 8; k++)
          sums[k] += work->scaled[8 * i + k] * x;
      }
      for (size_t k = 0; k < 8; k++)
        v8_store(to + k * width, sums[k]);
    }
  }
}

/* Of the coefficients that objective() looked at last. gradient [m], hessian [m][m], its lower triangle. */
static void
derivatives(Work *work, const double *coefficients, double *gradient, double *hessian) {
  const DemurOffsetLogistic *p = work->problem;
  const size_t m = p->d + 1, width = work->width;
  memset(work->gradient, 0, width * sizeof(double));
  memset(work->products, 0, width * width * sizeof(double));
  size_t n = 0;
  for (size_t i = 0; i < p->n; i++) {
    const double count = count_of(p, i);
    if (count == 0.0)
      continue;
    const double t = work->exps[i];
    const double probability = work->z[i] >= 0.0 ? 1.0 / (1.0 + t) : t / (1.0 + t);
    work->residuals[n] = count * (probability - p->labels[i]);
    work->weights[n] = count * probability * (1.0 - probability);
    if (p->d > 0)
      memcpy(work->rows + n * width, p->inputs + i * p->stride, p->d * sizeof(double));
    if (++n == BLOCK) {
      add_rows(work, n);
      n = 0;
    }
  }
  add_rows(work, n);
  memcpy(gradient, work->gradient, m * sizeof(double));
  for (size_t r = 0; r < m; r++)
    memcpy(hessian + r * m, work->products + r * width, (r + 1) * sizeof(double));
  for (size_t c = 0; c < p->d; c++) {
    gradient[c] += p->penalty * coefficients[c];
    hessian[c * m + c] += p->penalty;
  }
  gradient[p->d] += p->intercept_penalty * coefficients[p->d];
  hessian[p->d * m + p->d] += p->intercept_penalty;
}

static void
work_begin(Work *work, const DemurOffsetLogistic *problem) {
  const size_t d = problem->d, width = (d + 8) / 8 * 8;
  *work = (Work){.problem = problem,
                 .width = width,
                 .z = demur_new_array(double, problem->n),
                 .exps = demur_new_array(double, problem->n),
                 .rows = demur_new_matrix(double, BLOCK, width),
                 .scaled = demur_new_matrix(double, BLOCK, 8),
                 .weights = demur_new_array(double, BLOCK),
                 .residuals = demur_new_array(double, BLOCK),
                 .gradient = demur_new_array(double, width),
                 .products = demur_new_matrix(double, width, width)};
  memset(work->rows, 0, BLOCK * width * sizeof(double));
  for (size_t i = 0; i < BLOCK; i++)
    work->rows[i * width + d] = 1.0;
}

static void
work_end(Work *work) {
  double *arrays[] = {work->z,       work->exps,      work->rows,     work->scaled,
                      work->weights, work->residuals, work->gradient, work->products};
  for (size_t a = 0; a < G_N_ELEMENTS(arrays); a++)
    g_aligned_free(arrays[a]);
}

void
demur_offset_logistic_fit(const DemurOffsetLogistic *problem, double *weights, double *intercept) {
  const size_t d = problem->d, m = d + 1;
  g_autofree double *start = g_new(double, m), *gradient = g_new(double, m),
                    *hessian = g_new(double, (m * m));
  if (d > 0)
    memcpy(start, weights, d * sizeof(double));
  start[d] = *intercept;
  Work work;
  work_begin(&work, problem);
  g_autoptr(DemurNewton) newton = demur_newton_new(start, m);
  while (newton->state != DEMUR_NEWTON_ENDED) {
    if (newton->state == DEMUR_NEWTON_VALUE) {
      demur_newton_value(newton, objective(&work, newton->at));
    } else {
      derivatives(&work, newton->at, gradient, hessian);
      demur_newton_derivatives(newton, gradient, hessian);
    }
  }
  work_end(&work);
  if (d > 0)
    memcpy(weights, newton->at, d * sizeof(double));
  *intercept = newton->at[d];
}

void
demur_offset_logistic_sums(const DemurOffsetLogistic *problem, const double *coefficients,
                           double *sums) {
  DemurOffsetLogistic bare = *problem;
  bare.penalty = bare.intercept_penalty = 0.0;
  const size_t m = problem->d + 1;
  g_autofree double *hessian = g_new(double, (m * m));
  Work work;
  work_begin(&work, &bare);
  sums[0] = objective(&work, coefficients);
  derivatives(&work, coefficients, sums + 1, hessian);
  work_end(&work);
  double *out = sums + 1 + m;
  for (size_t r = 0; r < m; r++)
    for (size_t c = 0; c <= r; c++)
      *out++ = hessian[r * m + c];
}

void
demur_offset_logistic_take(DemurNewton *newton, const double *sums, double penalty,
                           double intercept_penalty) {
  const size_t m = newton->m, d = m - 1;
  double value = sums[0] + 0.5 * intercept_penalty * newton->at[d] * newton->at[d];
  g_autofree double *gradient = g_memdup2(sums + 1, m * sizeof(double)),
                    *hessian = g_new0(double, (m * m));
  const double *in = sums + 1 + m;
  for (size_t r = 0; r < m; r++)
    for (size_t c = 0; c <= r; c++)
      hessian[r * m + c] = *in++;
  for (size_t c = 0; c < m; c++) {
    const double own = c < d ? penalty : intercept_penalty;
    gradient[c] += own * newton->at[c];
    hessian[c * m + c] += own;
    if (c < d)
      value += 0.5 * penalty * newton->at[c] * newton->at[c];
  }
  demur_newton_value(newton, value);
  if (newton->state == DEMUR_NEWTON_DERIVATIVES)
    demur_newton_derivatives(newton, gradient, hessian);
}
