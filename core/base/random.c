#include "base/random.h"

#include <math.h>

static guint64
splitmix64(guint64 *state) {
  guint64 z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

DemurRandom
demur_random_stream(guint64 seed, DemurStream purpose, guint64 i, guint64 j, guint64 k) {
  /* Each key word is absorbed by one SplitMix64 step, so that neighbouring keys share no state. */
  const guint64 key[5] = {seed, (guint64)purpose, i, j, k};
  guint64 hash = 0;
  for (int w = 0; w < 5; w++) {
    hash ^= key[w];
    hash = splitmix64(&hash);
  }
  DemurRandom random;
  for (int w = 0; w < 4; w++)
    random.state[w] = splitmix64(&hash);
  return random;
}

guint64
demur_random_below(DemurRandom *random, guint64 n) {
  g_return_val_if_fail(n >= 1, 0);
  unsigned __int128 product = (unsigned __int128)demur_random_bits(random) * n;
  guint64 low = (guint64)product;
  if (low < n) {
    const guint64 threshold = -n % n;
    while (low < threshold) {
      product = (unsigned __int128)demur_random_bits(random) * n;
      low = (guint64)product;
    }
  }
  return (guint64)(product >> 64);
}

double
demur_random_normal(DemurRandom *random) {
  for (;;) {
    const double u = 2.0 * demur_random_uniform(random) - 1.0;
    const double v = 2.0 * demur_random_uniform(random) - 1.0;
    const double s = u * u + v * v;
    if (s > 0.0 && s < 1.0)
      return u * sqrt(-2.0 * log(s) / s);
  }
}

double
demur_random_exponential(DemurRandom *random) {
  return -log1p(-demur_random_uniform(random));
}

double
demur_random_gamma(DemurRandom *random, double shape) {
  g_return_val_if_fail(shape > 0.0, NAN);
  if (shape == 1.0)
    return demur_random_exponential(random);
  if (shape < 1.0) {
    const double u = 1.0 - demur_random_uniform(random);
    return demur_random_gamma(random, shape + 1.0) * pow(u, 1.0 / shape);
  }
  const double d = shape - 1.0 / 3.0, c = 1.0 / sqrt(9.0 * d);
  for (;;) {
    const double x = demur_random_normal(random);
    const double t = 1.0 + c * x;
    if (t <= 0.0)
      continue;
    const double v = t * t * t;
    const double u = 1.0 - demur_random_uniform(random);
    if (log(u) < 0.5 * x * x + d - d * v + d * log(v))
      return d * v;
  }
}

void
demur_random_dirichlet(DemurRandom *random, double alpha, size_t n, double *weights) {
  double sum = 0.0;
  for (size_t i = 0; i < n; i++)
    sum += weights[i] = demur_random_gamma(random, alpha);
  if (!(sum > 0.0)) {
    /* A tiny alpha can underflow every gamma draw; its limit is all weight on one site. */
    const size_t chosen = (size_t)demur_random_below(random, n);
    for (size_t i = 0; i < n; i++)
      weights[i] = i == chosen ? 1.0 : 0.0;
    return;
  }
  for (size_t i = 0; i < n; i++)
    weights[i] /= sum;
}

void
demur_random_shuffle(DemurRandom *random, size_t n, guint32 *values) {
  for (size_t i = n; i > 1; i--) {
    const size_t j = (size_t)demur_random_below(random, i);
    const guint32 kept = values[i - 1];
    values[i - 1] = values[j];
    values[j] = kept;
  }
}
