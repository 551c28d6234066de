/* g *= min(1, clip / (||g|| + 1e-6));  g += weight_decay p;  m = .9 m + .1 g;  v = .999 v + .001
 * g^2; p -= lr / (1 - .9^t) m / (sqrt(v) / sqrt(1 - .999^t) + 1e-8). Moments are kept in double:
 * 5,000 values cost nothing beside the matrix products. The norm's squares are added in eight lanes; one after the other, which
 * takes as long as all else here, only where the norm may be above the clip: there the last digits of the sum scale the gradient. */
#include "selector/adam.h"

#include <math.h>

#include "base/memory.h"
#include "base/vector.h"

#define BETA1 0.9
#define BETA2 0.999
#define EPSILON 1e-8

DemurAdam *
demur_adam_new(size_t n_parameters) {
  DemurAdam *adam = g_new0(DemurAdam, 1);
  adam->n = n_parameters;
  adam->first = demur_new_array(double, n_parameters);
  adam->second = demur_new_array(double, n_parameters);
  return adam;
}

void
demur_adam_free(DemurAdam *adam) {
  if (adam == NULL)
    return;
  g_aligned_free(adam->first);
  g_aligned_free(adam->second);
  g_free(adam);
}

/* Relative, and far above what the order of the sum can change: n 2^-53. */
#define NORM_MARGIN 1e-9

VECTOR_CLONES static double
squares_in_lanes(const DemurReal *gradient, size_t n) {
  V8 sum = {0};
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    V8 g;
#pragma GCC unroll 8
    for (size_t l = 0; l < 8; l++)
      g[l] = (double)gradient[i + l];
    sum += g * g;
  }
  double rest = 0.0;
  for (; i < n; i++)
    rest += (double)gradient[i] * (double)gradient[i];
  return v8_sum(sum) + rest;
}

static double
squares_in_order(const DemurReal *gradient, size_t n) {
  double squares = 0.0;
  for (size_t i = 0; i < n; i++)
    squares += (double)gradient[i] * (double)gradient[i];
  return squares;
}

/* ||g||; in the order of its elements where it may be clipped. */
static double
norm_of(const DemurReal *gradient, size_t n, double clip) {
  const double norm = sqrt(squares_in_lanes(gradient, n));
  if (!(clip > 0.0) || norm * (1.0 + NORM_MARGIN) + 1e-6 < clip)
    return norm;
  return sqrt(squares_in_order(gradient, n));
}

/* What all parameters of a step share. */
typedef struct {
  double factor, weight_decay, rate, correction;
} Step;

/* The root's error number would keep the loop from vectors: the file is compiled without it. */
VECTOR_CLONES static void
change_parameters(size_t n, const Step step, const DemurReal *restrict gradient,
                  double *restrict first, double *restrict second, DemurReal *restrict parameters) {
  for (size_t i = 0; i < n; i++) {
    const double g = (double)gradient[i] * step.factor + step.weight_decay * (double)parameters[i];
    first[i] = BETA1 * first[i] + (1.0 - BETA1) * g;
    second[i] = BETA2 * second[i] + (1.0 - BETA2) * g * g;
    const double change = step.rate * first[i] / (sqrt(second[i]) / step.correction + EPSILON);
    parameters[i] = (DemurReal)((double)parameters[i] - change);
  }
}

double
demur_adam_step(DemurAdam *adam, const DemurAdamSettings *settings, DemurReal *gradient,
                DemurReal *parameters) {
  const double norm = norm_of(gradient, adam->n, settings->clip);
  adam->step++;
  const Step step = {.factor =
                         settings->clip > 0.0 ? fmin(1.0, settings->clip / (norm + 1e-6)) : 1.0,
                     .weight_decay = settings->weight_decay,
                     .rate = settings->learning_rate / (1.0 - pow(BETA1, (double)adam->step)),
                     .correction = sqrt(1.0 - pow(BETA2, (double)adam->step))};
  change_parameters(adam->n, step, gradient, adam->first, adam->second, parameters);
  return norm;
}
