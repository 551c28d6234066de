#include "metrics/offset-logistic.h"

#include <math.h>
#include <string.h>

#define CLIP 1e-6
#define MAX_STEPS 60
#define TOLERANCE 1e-10 /* of the largest change of a coefficient */

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

/* Solves the symmetric positive definite system a [m][m] x = b in place by Cholesky; FALSE where it
 * is not positive. */
static gboolean
solve_positive(double *a, double *b, size_t m) {
  for (size_t j = 0; j < m; j++) {
    double diagonal = a[j * m + j];
    for (size_t k = 0; k < j; k++)
      diagonal -= a[j * m + k] * a[j * m + k];
    if (!(diagonal > 0.0))
      return FALSE;
    a[j * m + j] = sqrt(diagonal);
    for (size_t i = j + 1; i < m; i++) {
      double sum = a[i * m + j];
      for (size_t k = 0; k < j; k++)
        sum -= a[i * m + k] * a[j * m + k];
      a[i * m + j] = sum / a[j * m + j];
    }
  }
  for (size_t i = 0; i < m; i++) {
    for (size_t k = 0; k < i; k++)
      b[i] -= a[i * m + k] * b[k];
    b[i] /= a[i * m + i];
  }
  for (size_t i = m; i-- > 0;) {
    for (size_t k = i + 1; k < m; k++)
      b[i] -= a[k * m + i] * b[k];
    b[i] /= a[i * m + i];
  }
  return TRUE;
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
objective(const DemurOffsetLogistic *p, const double *coefficients) {
  double sum = 0.5 * p->intercept_penalty * coefficients[p->d] * coefficients[p->d];
  for (size_t c = 0; c < p->d; c++)
    sum += 0.5 * p->penalty * coefficients[c] * coefficients[c];
  for (size_t i = 0; i < p->n; i++) {
    const double count = p->use != NULL ? p->use[i] : 1.0;
    if (count == 0.0)
      continue;
    const double z = linear(p, i, coefficients);
    sum += count * (fmax(z, 0.0) - p->labels[i] * z + log1p(exp(-fabs(z))));
  }
  return sum;
}

static void
derivatives(const DemurOffsetLogistic *p, const double *coefficients, double *gradient,
            double *hessian) {
  const size_t m = p->d + 1;
  memset(gradient, 0, m * sizeof *gradient);
  memset(hessian, 0, m * m * sizeof *hessian);
  for (size_t i = 0; i < p->n; i++) {
    const double count = p->use != NULL ? p->use[i] : 1.0;
    if (count == 0.0)
      continue;
    const double *x = p->inputs + i * p->stride;
    const double probability = demur_sigmoid(linear(p, i, coefficients));
    const double residual = count * (probability - p->labels[i]);
    const double weight = count * probability * (1.0 - probability);
    for (size_t r = 0; r < p->d; r++) {
      gradient[r] += residual * x[r];
      const double scaled = weight * x[r];
      for (size_t c = 0; c <= r; c++)
        hessian[r * m + c] += scaled * x[c];
      hessian[p->d * m + r] += scaled;
    }
    gradient[p->d] += residual;
    hessian[p->d * m + p->d] += weight;
  }
  for (size_t c = 0; c < p->d; c++) {
    gradient[c] += p->penalty * coefficients[c];
    hessian[c * m + c] += p->penalty;
  }
  gradient[p->d] += p->intercept_penalty * coefficients[p->d];
  hessian[p->d * m + p->d] += p->intercept_penalty;
}

void
demur_offset_logistic_fit(const DemurOffsetLogistic *problem, double *weights, double *intercept) {
  const size_t d = problem->d, m = d + 1;
  g_autofree double *coefficients = g_new(double, m), *trial = g_new(double, m),
                    *step = g_new(double, m), *gradient = g_new(double, m),
                    *hessian = g_new(double, (m * m));
  if (d > 0)
    memcpy(coefficients, weights, d * sizeof(double));
  coefficients[d] = *intercept;
  double current = objective(problem, coefficients);
  for (int iteration = 0; iteration < MAX_STEPS; iteration++) {
    derivatives(problem, coefficients, gradient, hessian);
    memcpy(step, gradient, m * sizeof(double));
    if (!solve_positive(hessian, step, m))
      break;
    double largest = 0.0, decrement = 0.0, scale = 1.0, next = INFINITY;
    for (size_t c = 0; c < m; c++) {
      largest = fmax(largest, fabs(step[c]));
      decrement += gradient[c] * step[c];
    }
    /* The Newton decrement is twice what the step would still gain: below the rounding of the
     * objective, comparing objectives decides nothing. */
    if (!(largest > TOLERANCE) || !(decrement > 1e-14 * (1.0 + fabs(current))))
      break;
    /* Separable labels would send a full step far out: halve until the objective falls. */
    for (int halving = 0; halving < 40; halving++, scale *= 0.5) {
      for (size_t c = 0; c < m; c++)
        trial[c] = coefficients[c] - scale * step[c];
      next = objective(problem, trial);
      if (next <= current)
        break;
    }
    if (!(next <= current))
      break;
    memcpy(coefficients, trial, m * sizeof(double));
    current = next;
  }
  if (d > 0)
    memcpy(weights, coefficients, d * sizeof(double));
  *intercept = coefficients[d];
}
