/* The equations are in exchangeability.h. A beginning's capital is an array of stakes; a stake whose
 * fortune passed the most that is told bets no more, which keeps sums finite and is itself a bet. */
#include "metrics/exchangeability.h"

#include <math.h>
#include <string.h>

#define N_HISTOGRAMS 3
#define N_SLOPES 6
#define N_BOWLS 4
#define N_ENDS 4
#define N_SHAPES (N_SLOPES + N_BOWLS + N_ENDS)
#define N_BINS (4 + 8 + 16)

static const size_t bins[N_HISTOGRAMS] = {4, 8, 16};
static const double slopes[N_SLOPES] = {-0.95, -0.6, -0.25, 0.25, 0.6, 0.95};
static const double bowls[N_BOWLS] = {-0.9, -0.4, 0.6, 1.6};
static const double ends[N_ENDS / 2] = {0.6, 0.3};

/* One that believes in a change at its beginning. */
typedef struct {
  double histograms[N_HISTOGRAMS];
  double counts[N_BINS];
  double n;
  double shapes[N_SHAPES];
} Gambler;

void
demur_exchange_places(const double *reference, size_t n_reference, const double *values,
                      const double *draws, size_t n, double *places) {
  /* All values so far in ascending order. */
  g_autofree double *sorted = g_new(double, n_reference + n + 1);
  size_t n_sorted = 0;
  for (size_t i = 0; i < n_reference + n; i++) {
    const double value = i < n_reference ? reference[i] : values[i - n_reference];
    size_t low = 0, high = n_sorted;
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (sorted[middle] < value)
        low = middle + 1;
      else
        high = middle;
    }
    if (i >= n_reference) {
      size_t last = low, end = n_sorted;
      while (last < end) {
        const size_t middle = last + (end - last) / 2;
        if (sorted[middle] <= value)
          last = middle + 1;
        else
          end = middle;
      }
      places[i - n_reference] =
          ((double)low + draws[i - n_reference] * (double)(last - low + 1)) / (double)(i + 1);
    }
    memmove(sorted + low + 1, sorted + low, (n_sorted - low) * sizeof(double));
    sorted[low] = value;
    n_sorted++;
  }
}

static double
weight(size_t k) {
  const double even = DEMUR_EXCHANGE_EVEN;
  return even / (((double)k + even) * ((double)k + even + 1.0));
}

/* The share of all capital whose beginning is behind block k: sum of the weights from k on. */
static double
weight_from(size_t k) {
  return DEMUR_EXCHANGE_EVEN / ((double)k + DEMUR_EXCHANGE_EVEN);
}

static void
gambler_begin(Gambler *gambler, double capital) {
  for (size_t h = 0; h < N_HISTOGRAMS; h++)
    gambler->histograms[h] = 0.5 * capital / N_HISTOGRAMS;
  for (size_t b = 0; b < N_BINS; b++)
    gambler->counts[b] = 1.0;
  gambler->n = 0.0;
  for (size_t s = 0; s < N_SHAPES; s++)
    gambler->shapes[s] = 0.5 * capital / N_SHAPES;
}

/* Densities of the fixed shapes at p. */
static void
shapes_at(double p, double *densities) {
  const double slope = 2.0 * p - 1.0, bowl = 0.5 * (3.0 * slope * slope - 1.0);
  const double inside = CLAMP(p, 1e-6, 1.0 - 1e-6);
  double *at = densities;
  for (size_t s = 0; s < N_SLOPES; s++)
    *at++ = 1.0 + slopes[s] * slope;
  for (size_t s = 0; s < N_BOWLS; s++)
    *at++ = 1.0 + bowls[s] * bowl;
  for (size_t s = 0; s < N_ENDS / 2; s++) {
    *at++ = ends[s] * pow(inside, ends[s] - 1.0);
    *at++ = ends[s] * pow(1.0 - inside, ends[s] - 1.0);
  }
}

static inline void
bet(double *fortune, double density) {
  if (*fortune < DEMUR_EXCHANGE_MOST)
    *fortune *= density;
}

/* Bets on p; gives what the gambler then has. */
static double
gambler_add(Gambler *gambler, double p, const double *densities) {
  double sum = 0.0;
  double *counts = gambler->counts;
  for (size_t h = 0; h < N_HISTOGRAMS; h++) {
    const double m = (double)bins[h];
    const size_t bin = MIN((size_t)(p * m), bins[h] - 1);
    bet(&gambler->histograms[h], m * counts[bin] / (gambler->n + m));
    counts[bin] += 1.0;
    counts += bins[h];
    sum += gambler->histograms[h];
  }
  gambler->n += 1.0;
  for (size_t s = 0; s < N_SHAPES; s++) {
    bet(&gambler->shapes[s], densities[s]);
    sum += gambler->shapes[s];
  }
  return sum;
}

/* Bets on all places; evidence [n] may be NULL; the beginning that has most in the end. */
static size_t
run(const double *places, size_t n, double *evidence) {
  const size_t n_blocks = n / DEMUR_EXCHANGE_BLOCK + 1;
  g_autofree Gambler *gamblers = g_new(Gambler, n_blocks);
  size_t n_begun = 0, most = 0;
  for (size_t i = 0; i < n; i++) {
    if (i % DEMUR_EXCHANGE_BLOCK == 0) {
      gambler_begin(&gamblers[n_begun], weight(n_begun));
      n_begun++;
    }
    double densities[N_SHAPES];
    shapes_at(places[i], densities);
    double sum = weight_from(n_begun), best = -1.0;
    for (size_t k = 0; k < n_begun; k++) {
      const double capital = gambler_add(&gamblers[k], places[i], densities);
      sum += capital;
      if (capital > best) {
        best = capital;
        most = k;
      }
    }
    if (evidence != NULL)
      evidence[i] = fmin(sum, DEMUR_EXCHANGE_MOST);
  }
  return most * DEMUR_EXCHANGE_BLOCK;
}

void
demur_exchange_evidence(const double *places, size_t n, double *evidence) {
  run(places, n, evidence);
}

size_t
demur_exchange_change(const double *places, size_t n) {
  return run(places, n, NULL);
}
