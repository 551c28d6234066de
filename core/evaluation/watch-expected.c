#include "evaluation/watch-expected.h"

#include <math.h>
#include <string.h>

#include "metrics/calibration-fit.h"
#include "metrics/intervals.h"

/* Of a fortune, what is staked on what is expected; of each shape, what is left even. */
#define SHARE 0.94
#define CAUTION 0.02
#define MIN_RISK 1e-4
#define LEAST_LABELS 5
/* Of what is staked on categories, on each of two shares that a new one takes, where there are others. */
#define NEW_WEIGHT 0.03
/* Of what is staked on outcomes, on those that come more often at every risk; the rest, more often in all. */
#define PART_AT_EVERY_RISK 0.75

/* An expected change and its weight. */
typedef struct {
  double size, weight;
} Expected;

#define N_CHANGES 4
static const Expected moves[N_CHANGES] = {{-0.8, 0.2}, {-0.35, 0.3}, {0.35, 0.3}, {0.8, 0.2}};
static const Expected odds_of_two[N_CHANGES] = {
    {1.0 / 6.0, 0.06}, {0.4, 0.12}, {2.5, 0.45}, {6.0, 0.37}};
static const Expected odds_of_many[2] = {{0.3, 0.35}, {3.5, 0.65}};
static const Expected ratios[N_CHANGES] = {{0.45, 0.1}, {0.67, 0.2}, {1.5, 0.3}, {2.2, 0.4}};
static const Expected slopes[N_CHANGES] = {{0.3, 0.5}, {0.6, 0.32}, {1.6, 0.12}, {2.5, 0.06}};
static const double new_shares[2] = {0.2, 0.9};

/* Quantiles of a normal distribution in the middle of five equal parts. */
#define N_OPEN 5
static const double open_at[N_OPEN] = {-1.2816, -0.5244, 0.0, 0.5244, 1.2816};

/* A share that a sample of n with `count` leaves open, among places of n_pool and as many again who come. */
static void
open_shares(size_t count, size_t n, size_t n_pool, double *shares) {
  const double share = ((double)count + 0.5) / ((double)n + 1.0), rest = 1.0 - share;
  const double error =
      sqrt((1.0 / (double)n + 1.0 / (2.0 * (double)n_pool + 1.0)) / (share * rest));
  const double logit = log(share / rest);
  for (size_t o = 0; o < N_OPEN; o++)
    shares[o] = 1.0 / (1.0 + exp(-(logit + open_at[o] * error)));
}

static void
leave_even(DemurExchangeTable *table, size_t shape) {
  const double one = 1.0;
  demur_exchange_table_add(table, shape, CAUTION, &one, &one, 1);
}

/* ---- numbers ---- */

static double
normal_share(double z) {
  return 0.5 * erfc(-z * M_SQRT1_2);
}

static gpointer
expect_moves(gpointer unused) {
  DemurExchangeTable *table = demur_exchange_table_new(SHARE, N_CHANGES);
  double masses[DEMUR_EXCHANGE_CELLS], likelier[DEMUR_EXCHANGE_CELLS];
  for (size_t m = 0; m < N_CHANGES; m++) {
    const size_t shape = demur_exchange_table_begin(table, moves[m].weight);
    double below = 0.0;
    for (size_t cell = 0; cell < DEMUR_EXCHANGE_CELLS; cell++) {
      const double end = (double)(cell + 1) / DEMUR_EXCHANGE_CELLS;
      const double until = cell + 1 < DEMUR_EXCHANGE_CELLS
                               ? normal_share(demur_normal_quantile(end) - moves[m].size)
                               : 1.0;
      masses[cell] = 1.0;
      likelier[cell] = until - below;
      below = until;
    }
    demur_exchange_table_add(table, shape, 1.0, masses, likelier, DEMUR_EXCHANGE_CELLS);
  }
  return table;
}

const DemurExchangeTable *
demur_watch_expect_moves(void) {
  static GOnce once = G_ONCE_INIT;
  return g_once(&once, expect_moves, NULL);
}

/* ---- categories ---- */

/* The last of masses [n + 1] is of those that the reference lacks. */
static void
expect_odds(DemurExchangeTable *table, const size_t *counts, size_t n, size_t category,
            Expected odds, size_t n_all, size_t n_pool) {
  const size_t shape = demur_exchange_table_begin(table, odds.weight);
  double shares[N_OPEN];
  open_shares(counts[category], n_all, n_pool, shares);
  g_autofree double *masses = g_new(double, n), *likelier = g_new(double, n);
  for (size_t o = 0; o < N_OPEN; o++) {
    for (size_t c = 0; c < n; c++) {
      masses[c] = c == category
                      ? shares[o]
                      : (1.0 - shares[o]) * (double)counts[c] / (double)(n_all - counts[category]);
      likelier[c] = c == category ? odds.size : 1.0;
    }
    demur_exchange_table_add(table, shape, (1.0 - CAUTION) / N_OPEN, masses, likelier, n);
  }
  leave_even(table, shape);
}

/* Those that the reference lacks are as rare before as one in it leaves open. */
static void
expect_new(DemurExchangeTable *table, double share, double weight, size_t n_all) {
  const size_t shape = demur_exchange_table_begin(table, weight);
  const double rare = 0.5 / ((double)n_all + 1.0);
  const double masses[2] = {1.0 - rare, rare},
               likelier[2] = {(1.0 - share) / (1.0 - rare), share / rare};
  demur_exchange_table_add(table, shape, 1.0 - CAUTION, masses, likelier, 2);
  leave_even(table, shape);
}

DemurExchangeTable *
demur_watch_expect_shares(const size_t *counts, size_t n, size_t n_pool) {
  if (n == 0)
    return NULL;
  const size_t n_told = MIN(n, (DEMUR_EXCHANGE_TABLE_SHAPES - 2) / 2);
  const size_t most_shapes = n == 1 ? 2 : n == 2 ? 2 + N_CHANGES : 2 + 2 * n_told;
  DemurExchangeTable *table = demur_exchange_table_new(SHARE, most_shapes);
  size_t n_all = 0;
  for (size_t c = 0; c < n; c++)
    n_all += counts[c];
  for (size_t s = 0; s < G_N_ELEMENTS(new_shares); s++)
    expect_new(table, new_shares[s], n > 1 ? NEW_WEIGHT : 0.5, n_all);
  if (n == 1)
    return table;
  const double left = 1.0 - 2.0 * NEW_WEIGHT;
  if (n == 2) {
    for (size_t o = 0; o < N_CHANGES; o++)
      expect_odds(table, counts, n, 1,
                  (Expected){odds_of_two[o].size, left * odds_of_two[o].weight}, n_all, n_pool);
    return table;
  }
  for (size_t c = 0; c < n_told; c++)
    for (size_t o = 0; o < G_N_ELEMENTS(odds_of_many); o++)
      expect_odds(table, counts, n, c,
                  (Expected){odds_of_many[o].size, left * odds_of_many[o].weight / (double)n_told},
                  n_all, n_pool);
  return table;
}

/* ---- labels ---- */

double
demur_watch_times_as_often(double ratio, double risk) {
  const double often = ratio * risk, rare = 1.0 - (1.0 - risk) / ratio;
  return ratio > 1.0 ? fmin(often, rare) : fmax(often, rare);
}

double
demur_watch_sloped(double slope, double middle, double risk) {
  const double logit = log(risk / (1.0 - risk));
  return 1.0 / (1.0 + exp(-(middle + slope * (logit - middle))));
}

double
demur_watch_labelled_value(DemurWatchSignal signal, double middle, double label, double risk) {
  const double inside = CLAMP(risk, 1e-6, 1.0 - 1e-6);
  return signal == DEMUR_WATCH_OUTCOME ? label
         : signal == DEMUR_WATCH_SLOPE ? (label - risk) * (log(inside / (1.0 - inside)) - middle)
                                       : label - risk;
}

/* What a patient of the reference may have: a label's value, its probability, and how much likelier it is behind the
 * change. */
typedef struct {
  double value, mass, likelier;
  gboolean outcome;
} Weighed;

static int
by_value(gconstpointer a, gconstpointer b) {
  const Weighed *one = a, *other = b;
  return (one->value > other->value) - (one->value < other->value);
}

/* The block of a label by the share below it: small ones where few labels tell most. */
static size_t
block_of(double below) {
  static const double ends[] = {0.005, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.1,  0.15,
                                0.2,   0.3,  0.4,  0.5,  0.6,  0.7,  0.8,  0.85, 0.9,
                                0.92,  0.94, 0.96, 0.97, 0.98, 0.99, 0.995};
  size_t b = 0;
  while (b < G_N_ELEMENTS(ends) && below >= ends[b])
    b++;
  return b;
}

#define N_BLOCKS 64

/* Sums sorted labels [n] up in blocks of masses and of what they are behind the change; the mass of an outcome counts
 * `outcomes` times, that of none `others` times, all masses then 1. Equal values, and where `apart` outcomes and
 * none, are not mixed with others. */
static size_t
sum_blocks(const Weighed *sorted, size_t n, double outcomes, double others, gboolean apart,
           double *masses, double *likelier) {
  size_t n_blocks = 0, last = G_MAXSIZE;
  double below = 0.0;
  for (size_t i = 0; i < n; i++) {
    const double mass = sorted[i].mass * (sorted[i].outcome ? outcomes : others);
    const gboolean tied = i > 0 && sorted[i].value == sorted[i - 1].value;
    const gboolean turned = apart && i > 0 && sorted[i].outcome != sorted[i - 1].outcome;
    const size_t block = block_of(below + 0.5 * mass);
    if (!tied && (block != last || turned) && n_blocks < N_BLOCKS) {
      masses[n_blocks] = likelier[n_blocks] = 0.0;
      n_blocks++;
      last = block;
    }
    below += mass;
    masses[n_blocks - 1] += mass;
    likelier[n_blocks - 1] += mass * sorted[i].likelier;
  }
  for (size_t b = 0; b < n_blocks; b++)
    likelier[b] /= masses[b];
  return n_blocks;
}

/* sorted [2 n]: of n patients, whose labels have n_outcomes outcomes. */
static void
expect_labels(DemurExchangeTable *table, double weight, const Weighed *sorted, size_t n,
              size_t n_outcomes, gboolean apart, size_t n_pool) {
  const size_t shape = demur_exchange_table_begin(table, weight);
  double shares[N_OPEN], masses[N_BLOCKS], likelier[N_BLOCKS], sum = 0.0;
  for (size_t i = 0; i < 2 * n; i++)
    sum += sorted[i].outcome ? sorted[i].mass : 0.0;
  open_shares(n_outcomes, n, n_pool, shares);
  for (size_t o = 0; o < N_OPEN; o++) {
    const size_t n_blocks =
        sum_blocks(sorted, 2 * n, shares[o] / sum, (1.0 - shares[o]) / ((double)n - sum), apart,
                   masses, likelier);
    demur_exchange_table_add(table, shape, (1.0 - CAUTION) / N_OPEN, masses, likelier, n_blocks);
  }
  leave_even(table, shape);
}

/* p(1 | r) of the reference: the logistic fit of its labels on the logits, which has less chance in it than the labels;
 * r where there is none. */
static void
fit_risks(const double *labels, const double *risks, size_t n, double *fitted) {
  const DemurOutcomes outcomes = {.n = n, .risks = risks, .labels = labels};
  const DemurCalibrationFit fit = demur_calibration_fit(&outcomes, NULL);
  const gboolean is_fit = isfinite(fit.slope_intercept) && isfinite(fit.slope);
  for (size_t i = 0; i < n; i++) {
    const double risk = CLAMP(risks[i], MIN_RISK, 1.0 - MIN_RISK);
    const double logit = log(risk / (1.0 - risk));
    const double p = is_fit ? 1.0 / (1.0 + exp(-(fit.slope_intercept + fit.slope * logit))) : risk;
    fitted[i] = CLAMP(p, MIN_RISK, 1.0 - MIN_RISK);
  }
}

/* What a change does to p(1 | r): the outcome comes so many times as often at every risk, or in all, whatever the risk
 * says; or the risks have another slope. */
typedef enum { AT_EVERY_RISK, IN_ALL, SLOPED } Way;

/* What the changes are changes of. */
typedef struct {
  const double *risks, *fitted; /* [n] */
  size_t n, n_outcomes, n_pool;
  double middle, rate; /* rate: share with the outcome by the fit */
  DemurWatchSignal value;
  Weighed *weighed; /* [2 n] room */
} Labels;

static void
expect_way(DemurExchangeTable *table, Way way, const Expected *change, double weight,
           const Labels *labels) {
  Weighed *weighed = labels->weighed;
  for (size_t i = 0; i < labels->n; i++) {
    const double risk = labels->risks[i], p = labels->fitted[i],
                 before = way == IN_ALL ? labels->rate : p,
                 since = way == SLOPED ? demur_watch_sloped(change->size, labels->middle, p)
                                       : demur_watch_times_as_often(change->size, before);
    weighed[2 * i] = (Weighed){demur_watch_labelled_value(labels->value, labels->middle, 0.0, risk),
                               1.0 - p, (1.0 - since) / (1.0 - before), FALSE};
    weighed[2 * i + 1] =
        (Weighed){demur_watch_labelled_value(labels->value, labels->middle, 1.0, risk), p,
                  since / before, TRUE};
  }
  qsort(weighed, 2 * labels->n, sizeof *weighed, by_value);
  expect_labels(table, weight, weighed, labels->n, labels->n_outcomes, way != SLOPED,
                labels->n_pool);
}

/* The ways [n_ways] of changing with the parts of the stake that each takes. */
static DemurExchangeTable *
expect_ways(const Way *ways, const double *parts, size_t n_ways, DemurWatchSignal value,
            const double *labels, const double *risks, size_t n, double middle, size_t n_pool) {
  size_t n_outcomes = 0;
  for (size_t i = 0; i < n; i++)
    n_outcomes += labels[i] > 0.5 ? 1 : 0;
  if (n_outcomes < LEAST_LABELS || n - n_outcomes < LEAST_LABELS)
    return NULL;
  DemurExchangeTable *table = demur_exchange_table_new(SHARE, n_ways * N_CHANGES);
  g_autofree Weighed *weighed = g_new(Weighed, 2 * n);
  g_autofree double *fitted = g_new(double, n);
  fit_risks(labels, risks, n, fitted);
  double rate = 0.0;
  for (size_t i = 0; i < n; i++)
    rate += fitted[i] / (double)n;
  const Labels all = {risks, fitted, n, n_outcomes, n_pool, middle, rate, value, weighed};
  for (size_t w = 0; w < n_ways; w++)
    for (size_t c = 0; c < N_CHANGES; c++) {
      const Expected *change = ways[w] == SLOPED ? &slopes[c] : &ratios[c];
      expect_way(table, ways[w], change, parts[w] * change->weight, &all);
    }
  return table;
}

DemurExchangeTable *
demur_watch_expect_labels(DemurWatchSignal signal, const double *labels, const double *risks,
                          size_t n, double middle, size_t n_pool) {
  const Way way = signal == DEMUR_WATCH_SLOPE ? SLOPED : AT_EVERY_RISK;
  const double part = 1.0;
  return expect_ways(&way, &part, 1, signal, labels, risks, n, middle, n_pool);
}

DemurExchangeTable *
demur_watch_expect_outcomes(const double *labels, const double *risks, size_t n, size_t n_pool) {
  static const Way ways[] = {AT_EVERY_RISK, IN_ALL};
  static const double parts[] = {PART_AT_EVERY_RISK, 1.0 - PART_AT_EVERY_RISK};
  return expect_ways(ways, parts, G_N_ELEMENTS(ways), DEMUR_WATCH_CALIBRATION, labels, risks, n,
                     0.0, n_pool);
}
