/* The equations are in exchangeability.h. A beginning's capital is an array of stakes; a stake whose
 * fortune passed the most that is told bets no more, which keeps sums finite and is itself a bet. */
#include "metrics/exchangeability.h"

#include <math.h>
#include <string.h>

#define N_SLOPES 4
#define N_BOWLS 2
#define N_ENDS 4
#define N_SHAPES (N_SLOPES + N_BOWLS + N_ENDS)
#define N_PARTITIONS 4 /* the last one is the caller's */
#define N_STRENGTHS 2

static const double slopes[N_SLOPES] = {-0.8, -0.35, 0.35, 0.8};
static const double bowls[N_BOWLS] = {-0.7, 1.2};
static const double ends[N_ENDS / 2] = {0.6, 0.3};
static const double strengths[N_STRENGTHS] = {8.0, 64.0};

/* Where a bin ends; the last one ends at 1. */
typedef struct {
  size_t n; /* bins */
  double ends[DEMUR_EXCHANGE_BINS];
} Partition;

static const Partition usual[N_PARTITIONS - 1] = {
    {4, {0.25, 0.5, 0.75, 1.0}},
    {10, {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0}},
    {9, {0.01, 0.03, 0.07, 0.15, 0.85, 0.93, 0.97, 0.99, 1.0}},
};

/* One that believes in a change at its beginning. */
typedef struct {
  double histograms[N_PARTITIONS][N_STRENGTHS];
  double counts[N_PARTITIONS][DEMUR_EXCHANGE_BINS];
  double n;
  double shapes[N_SHAPES];
  double own[DEMUR_EXCHANGE_TABLE_SHAPES]; /* on the caller's shapes */
  size_t from;                             /* places before it began */
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

double
demur_exchange_weight(size_t k) {
  const double even = DEMUR_EXCHANGE_EVEN;
  return even / (((double)k + even) * ((double)k + even + 1.0));
}

double
demur_exchange_weight_from(size_t k) {
  return DEMUR_EXCHANGE_EVEN / ((double)k + DEMUR_EXCHANGE_EVEN);
}

/* share of the capital is on the caller's shapes; those are set by whoever calls. */
static void
gambler_begin(Gambler *gambler, double share, double capital) {
  *gambler = (Gambler){.n = 0.0};
  capital -= share * capital;
  for (size_t h = 0; h < N_PARTITIONS; h++)
    for (size_t a = 0; a < N_STRENGTHS; a++)
      gambler->histograms[h][a] = 0.5 * capital / (N_PARTITIONS * N_STRENGTHS);
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

/* The bin of p in each partition, and its width. */
typedef struct {
  size_t bin[N_PARTITIONS];
  double width[N_PARTITIONS];
} Bins;

static void
bins_at(const Partition *partitions, double p, Bins *bins) {
  for (size_t h = 0; h < N_PARTITIONS; h++) {
    const Partition *partition = &partitions[h];
    size_t b = 0;
    while (b + 1 < partition->n && p >= partition->ends[b])
      b++;
    bins->bin[h] = b;
    bins->width[h] = partition->ends[b] - (b > 0 ? partition->ends[b - 1] : 0.0);
  }
}

/* Bets on a place, where the caller's shapes have the densities own [n_own]; gives what the gambler then has. */
static double
gambler_add(Gambler *gambler, const Bins *bins, const double *densities, const double *own,
            size_t n_own) {
  double sum = 0.0;
  for (size_t h = 0; h < N_PARTITIONS; h++) {
    double *count = &gambler->counts[h][bins->bin[h]];
    for (size_t a = 0; a < N_STRENGTHS; a++) {
      const double strength = strengths[a];
      bet(&gambler->histograms[h][a],
          (*count / bins->width[h] + strength) / (gambler->n + strength));
      sum += gambler->histograms[h][a];
    }
    *count += 1.0;
  }
  gambler->n += 1.0;
  for (size_t s = 0; s < N_SHAPES; s++) {
    bet(&gambler->shapes[s], densities[s]);
    sum += gambler->shapes[s];
  }
  for (size_t s = 0; s < n_own; s++) {
    bet(&gambler->own[s], own[s]);
    sum += gambler->own[s];
  }
  return sum;
}

/* The caller's partition: ends that rise between 0 and 1, others left out. */
static Partition
own_partition(const double *edges, size_t n_edges) {
  Partition own = {0};
  for (size_t e = 0; e < n_edges && own.n + 1 < DEMUR_EXCHANGE_BINS; e++)
    if (edges[e] > (own.n > 0 ? own.ends[own.n - 1] : 0.0) && edges[e] < 1.0)
      own.ends[own.n++] = edges[e];
  own.ends[own.n++] = 1.0;
  return own;
}

/* Bets on all places; evidence [n] may be NULL; the beginning that has most in the end. */
static size_t
run(const double *places, size_t n, const double *edges, size_t n_edges,
    const DemurExchangeShapes *own, double *evidence) {
  Partition partitions[N_PARTITIONS];
  memcpy(partitions, usual, sizeof usual);
  partitions[N_PARTITIONS - 1] = own_partition(edges, n_edges);
  const size_t n_blocks = n / DEMUR_EXCHANGE_BLOCK + 1;
  g_autofree Gambler *gamblers = g_new(Gambler, n_blocks);
  size_t n_begun = 0, most = 0;
  for (size_t i = 0; i < n; i++) {
    if (i % DEMUR_EXCHANGE_BLOCK == 0) {
      const double capital = demur_exchange_weight(n_begun);
      Gambler *gambler = &gamblers[n_begun++];
      gambler_begin(gambler, own->n_shapes > 0 ? own->share : 0.0, capital);
      for (size_t s = 0; s < own->n_shapes; s++)
        gambler->own[s] = own->share * capital / (double)own->n_shapes;
    }
    double densities[N_SHAPES];
    shapes_at(places[i], densities);
    Bins bins;
    bins_at(partitions, places[i], &bins);
    size_t at = 0;
    while (at + 1 < own->n_bins && places[i] >= own->ends[at])
      at++;
    double at_place[DEMUR_EXCHANGE_SHAPES];
    for (size_t s = 0; s < own->n_shapes; s++)
      at_place[s] = own->densities[s][at];
    double sum = demur_exchange_weight_from(n_begun), best = -1.0;
    for (size_t k = 0; k < n_begun; k++) {
      const double capital = gambler_add(&gamblers[k], &bins, densities, at_place, own->n_shapes);
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

size_t
demur_exchange_evidence(const double *places, size_t n, const double *edges, size_t n_edges,
                        const DemurExchangeShapes *shapes, double *evidence) {
  const DemurExchangeShapes none = {.n_shapes = 0};
  return run(places, n, edges, n_edges, shapes != NULL ? shapes : &none, evidence);
}

/* ---- by a table ---- */

/* As many patients as DEMUR_EXCHANGE_EVEN of the blocks above. */
#define EVEN_STEPS (DEMUR_EXCHANGE_EVEN * DEMUR_EXCHANGE_BLOCK / (double)DEMUR_EXCHANGE_STEP)

#define HORIZON_STEPS ((double)DEMUR_EXCHANGE_HORIZON / DEMUR_EXCHANGE_STEP)

double
demur_exchange_step_weight(DemurExchangeSpread spread, size_t k) {
  const double at = (double)k;
  if (spread == DEMUR_EXCHANGE_EARLY)
    return EVEN_STEPS / ((at + EVEN_STEPS) * (at + EVEN_STEPS + 1.0));
  return at < HORIZON_STEPS ? (1.0 - DEMUR_EXCHANGE_LATER) / HORIZON_STEPS
                            : DEMUR_EXCHANGE_LATER * HORIZON_STEPS / (at * (at + 1.0));
}

double
demur_exchange_step_weight_from(DemurExchangeSpread spread, size_t k) {
  const double at = (double)k;
  if (spread == DEMUR_EXCHANGE_EARLY)
    return EVEN_STEPS / (at + EVEN_STEPS);
  return at < HORIZON_STEPS ? 1.0 - at * (1.0 - DEMUR_EXCHANGE_LATER) / HORIZON_STEPS
                            : DEMUR_EXCHANGE_LATER * HORIZON_STEPS / at;
}

/* Who is awake: gamblers [n], in the order of their beginnings, and what those have who are not. */
typedef struct {
  Gambler *gamblers;
  double *stakes; /* [n] what each began with */
  size_t n, n_begun;
  double asleep;
  DemurExchangeSpread spread;
} Table;

static void
begin_at(Table *awake, size_t from, const DemurExchangeTable *table) {
  const double capital = demur_exchange_step_weight(awake->spread, awake->n_begun++);
  Gambler *gambler = &awake->gamblers[awake->n];
  awake->stakes[awake->n++] = capital;
  gambler_begin(gambler, table != NULL && table->n_shapes > 0 ? table->share : 0.0, capital);
  gambler->from = from;
  for (size_t s = 0; table != NULL && s < table->n_shapes; s++)
    gambler->own[s] = table->share * table->weights[s] * capital;
}

/* Bets on places[i]; gives what all have, and where the one began who has most. */
static double
bet_on(Table *awake, const double *places, size_t i, size_t n_reference, const Bins *bins,
       const DemurExchangeTable *table, size_t *most) {
  double densities[N_SHAPES], sum = 0.0, best = -1.0;
  shapes_at(places[i], densities);
  const size_t cell = demur_exchange_cell(places[i]), n_own = table != NULL ? table->n_shapes : 0;
  size_t n_awake = 0;
  for (size_t g = 0; g < awake->n; g++) {
    Gambler *gambler = &awake->gamblers[g];
    const double *own = table != NULL ? demur_exchange_table_at(table, i - gambler->from + 1,
                                                                n_reference + i + 1, cell)
                                      : NULL;
    const double capital = gambler_add(gambler, bins, densities, own, n_own);
    if (capital > best) {
      best = capital;
      *most = gambler->from;
    }
    if (capital < DEMUR_EXCHANGE_ASLEEP * awake->stakes[g]) {
      awake->asleep += capital;
      continue;
    }
    sum += capital;
    if (n_awake != g) {
      awake->gamblers[n_awake] = *gambler;
      awake->stakes[n_awake] = awake->stakes[g];
    }
    n_awake++;
  }
  awake->n = n_awake;
  return sum + awake->asleep + demur_exchange_step_weight_from(awake->spread, awake->n_begun);
}

size_t
demur_exchange_follow(const double *places, size_t n, size_t n_reference, const double *edges,
                      size_t n_edges, const DemurExchangeTable *table, DemurExchangeSpread spread,
                      double *evidence) {
  Partition partitions[N_PARTITIONS];
  memcpy(partitions, usual, sizeof usual);
  partitions[N_PARTITIONS - 1] = own_partition(edges, n_edges);
  const size_t n_steps = n / DEMUR_EXCHANGE_STEP + 1;
  g_autofree Gambler *gamblers = g_new(Gambler, n_steps);
  g_autofree double *stakes = g_new(double, n_steps);
  Table awake = {.gamblers = gamblers, .stakes = stakes, .spread = spread};
  size_t most = 0;
  for (size_t i = 0; i < n; i++) {
    if (i % DEMUR_EXCHANGE_STEP == 0)
      begin_at(&awake, i, table);
    Bins bins;
    bins_at(partitions, places[i], &bins);
    evidence[i] =
        fmin(bet_on(&awake, places, i, n_reference, &bins, table, &most), DEMUR_EXCHANGE_MOST);
  }
  return most;
}
