/* g *= min(1, clip / (||g|| + 1e-6));  g += weight_decay p;  m = .9 m + .1 g;  v = .999 v + .001
 * g^2; p -= lr / (1 - .9^t) m / (sqrt(v) / sqrt(1 - .999^t) + 1e-8). Moments are kept in double:
 * 5,000 values cost nothing beside the matrix products. */
#include "selector/adam.h"

#include <math.h>

#include "base/memory.h"

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

double
demur_adam_step(DemurAdam *adam, const DemurAdamSettings *settings, DemurReal *gradient,
                DemurReal *parameters) {
  double squares = 0.0;
  for (size_t i = 0; i < adam->n; i++)
    squares += (double)gradient[i] * (double)gradient[i];
  const double norm = sqrt(squares);
  const double factor = settings->clip > 0.0 ? fmin(1.0, settings->clip / (norm + 1e-6)) : 1.0;
  adam->step++;
  const double correction1 = 1.0 - pow(BETA1, (double)adam->step);
  const double correction2 = sqrt(1.0 - pow(BETA2, (double)adam->step));
  const double rate = settings->learning_rate / correction1;
  for (size_t i = 0; i < adam->n; i++) {
    const double g = (double)gradient[i] * factor + settings->weight_decay * (double)parameters[i];
    adam->first[i] = BETA1 * adam->first[i] + (1.0 - BETA1) * g;
    adam->second[i] = BETA2 * adam->second[i] + (1.0 - BETA2) * g * g;
    const double change = rate * adam->first[i] / (sqrt(adam->second[i]) / correction2 + EPSILON);
    parameters[i] = (DemurReal)((double)parameters[i] - change);
  }
  return norm;
}
