/* Five fits at once of two targets, each without one fold, in lanes side by side: a scan counts 0 in the lanes of its own fold. The
 * scans of each indicator stand side by side, in their order, so an effect's sums stay in registers; indicators of as many scans stand
 * side by side too, so that loops over them end as the processor guesses. Each lane sums what one fit alone would sum, in the same
 * order; a sum waits for the one before, so that further lanes cost little. */
#include "selector/reason-guess.h"

#include <string.h>

#include "base/memory.h"
#include "base/vector.h"

#define N_FOLDS 5
#define N_TARGETS 2 /* fitted at once */
#define LANES 12    /* one a target and fold; the others stay 0 */
#define FOURS (LANES / 4)
#define N_SWEEPS 12
#define RIDGE 4.0 /* scans' worth of doubt about an effect */

/* Wider ones gain nothing, and GCC takes them apart through memory where the processor has none. */
typedef double Four __attribute__((vector_size(32)));
typedef gint64 FourMasks __attribute__((vector_size(32)));

/* The indicators of each scan by place, numbered from 0 at each: a statement at its place, the whole list, and the list in whatever
 * order. */
typedef struct {
  size_t n, n_places;
  guint32 *ids;    /* [n_places][n], DEMUR_GUESS_NONE: none */
  guint32 *firsts; /* [n_places + 1] of each place among all indicators */
  guint32 *order;  /* the scans of each indicator, ascending */
  guint32 *starts; /* [firsts[n_places] + 1] where those of each begin there */
  double *doubts;  /* [firsts[n_places]][LANES] scans of the other folds that have it, and RIDGE */
} Indicators;

static guint32
hash_of(const guint32 *key, size_t length) {
  guint64 hash = 0;
  for (size_t k = 0; k < length; k++)
    hash = (hash ^ key[k]) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
  return (guint32)(hash >> 32);
}

/* ids [n] of keys of length numbers each, stride apart, in the order of their first scans; a single DEMUR_GUESS_NONE stays that.
 * Returns how many there are. */
static guint32
number_keys(const guint32 *keys, size_t n, size_t stride, size_t length, guint32 *ids) {
  size_t n_slots = 16;
  while (n_slots < 2 * n)
    n_slots *= 2;
  g_autofree guint32 *slots = g_new0(guint32, n_slots); /* 1 + the first scan of that key */
  guint32 n_ids = 0;
  for (size_t i = 0; i < n; i++) {
    const guint32 *key = keys + i * stride;
    if (length == 1 && key[0] == DEMUR_GUESS_NONE) {
      ids[i] = DEMUR_GUESS_NONE;
      continue;
    }
    size_t slot = hash_of(key, length) & (n_slots - 1);
    while (slots[slot] != 0 &&
           memcmp(keys + (slots[slot] - 1) * stride, key, length * sizeof *key) != 0)
      slot = (slot + 1) & (n_slots - 1);
    if (slots[slot] == 0) {
      slots[slot] = (guint32)i + 1;
      ids[i] = n_ids++;
    } else
      ids[i] = ids[slots[slot] - 1];
  }
  return n_ids;
}

/* Numbers of the same indicators that ascend with how many scans have each. */
static void
number_by_size(guint32 *ids, size_t n, guint32 n_ids) {
  g_autofree guint32 *sizes = g_new0(guint32, n_ids + 1), *places = g_new0(guint32, n + 2);
  for (size_t i = 0; i < n; i++)
    if (ids[i] != DEMUR_GUESS_NONE)
      sizes[ids[i]]++;
  for (guint32 id = 0; id < n_ids; id++)
    places[sizes[id] + 1]++;
  for (size_t size = 0; size <= n; size++)
    places[size + 1] += places[size];
  for (guint32 id = 0; id < n_ids; id++)
    sizes[id] = places[sizes[id]]++;
  for (size_t i = 0; i < n; i++)
    if (ids[i] != DEMUR_GUESS_NONE)
      ids[i] = sizes[ids[i]];
}

static void
sort_list(guint32 *list, size_t length) {
  for (size_t k = 1; k < length; k++) {
    const guint32 moved = list[k];
    size_t to = k;
    for (; to > 0 && list[to - 1] > moved; to--)
      list[to] = list[to - 1];
    list[to] = moved;
  }
}

/* The scans of each indicator. */
static void
put_in_order(Indicators *x) {
  const size_t n = x->n, n_all = x->firsts[x->n_places];
  x->order = g_new(guint32, MAX(n * x->n_places, 1));
  x->starts = g_new0(guint32, n_all + 2);
  x->doubts = demur_new_matrix(double, n_all, LANES);
  for (size_t d = 0; d < n_all * LANES; d++)
    x->doubts[d] = RIDGE;
  guint32 *next =
      x->starts +
      1; /* where the next scan of each goes; then where those of the one behind it begin */
  for (size_t p = 0; p < x->n_places; p++)
    for (size_t i = 0; i < n; i++)
      if (x->ids[p * n + i] != DEMUR_GUESS_NONE) {
        const size_t e = x->firsts[p] + x->ids[p * n + i];
        next[e + 1]++;
        for (size_t lane = 0; lane < LANES; lane++)
          x->doubts[e * LANES + lane] += lane % N_FOLDS != i % N_FOLDS ? 1.0 : 0.0;
      }
  for (size_t e = 0; e < n_all; e++)
    next[e + 1] += next[e];
  for (size_t p = 0; p < x->n_places; p++)
    for (size_t i = 0; i < n; i++)
      if (x->ids[p * n + i] != DEMUR_GUESS_NONE)
        x->order[next[x->firsts[p] + x->ids[p * n + i]]++] = (guint32)i;
}

static Indicators
indicators_new(const guint32 *lists, size_t n, size_t length) {
  Indicators x = {.n = n, .n_places = length + 2};
  x.ids = g_new(guint32, n * x.n_places);
  x.firsts = g_new0(guint32, x.n_places + 1);
  g_autofree guint32 *sorted = g_memdup2(lists, n * length * sizeof *lists);
  for (size_t i = 0; i < n; i++)
    sort_list(sorted + i * length, length);
  for (size_t p = 0; p < x.n_places; p++) {
    guint32 *ids = x.ids + p * n;
    const guint32 n_ids = p < length
                              ? number_keys(lists + p, n, length, 1, ids)
                              : number_keys(p == length ? lists : sorted, n, length, length, ids);
    number_by_size(ids, n, n_ids);
    x.firsts[p + 1] = x.firsts[p] + n_ids;
  }
  put_in_order(&x);
  return x;
}

static void
indicators_clear(Indicators *x) {
  g_free(x->ids);
  g_free(x->firsts);
  g_free(x->order);
  g_free(x->starts);
  g_aligned_free(x->doubts);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Indicators, indicators_clear)

/* effects [of all indicators][LANES], 0 before; residuals [n][LANES], of the mean before; masks [N_FOLDS][LANES]: what a lane takes of
 * a scan of each fold, all or nothing. */
VECTOR_CLONES static void
fit(const Indicators *x, const gint64 (*masks)[LANES], double *effects, double *residuals) {
  const guint32 *order = x->order, *starts = x->starts;
  const size_t n_all = x->firsts[x->n_places];
  for (int s = 0; s < N_SWEEPS; s++)
    for (size_t e = 0; e < n_all; e++) {
      Four *effect = (Four *)(effects + e * LANES), sums[FOURS] = {{0.0}}, old[FOURS];
#pragma GCC unroll 3
      for (size_t f = 0; f < FOURS; f++)
        old[f] = effect[f];
      for (guint32 j = starts[e]; j < starts[e + 1]; j++) {
        const Four *residual = (const Four *)(residuals + (size_t)order[j] * LANES);
        const FourMasks *mask = (const FourMasks *)masks[order[j] % N_FOLDS];
#pragma GCC unroll 3
        for (size_t f = 0; f < FOURS; f++)
          sums[f] += (Four)((FourMasks)(residual[f] + old[f]) & mask[f]);
      }
      const Four *doubt = (const Four *)(x->doubts + e * LANES);
      Four changes[FOURS];
#pragma GCC unroll 3
      for (size_t f = 0; f < FOURS; f++) {
        const Four fresh = sums[f] / doubt[f];
        changes[f] = old[f] - fresh;
        effect[f] = fresh;
      }
      for (guint32 j = starts[e]; j < starts[e + 1]; j++) {
        Four *residual = (Four *)(residuals + (size_t)order[j] * LANES);
#pragma GCC unroll 3
        for (size_t f = 0; f < FOURS; f++)
          residual[f] += changes[f];
      }
    }
}

/* means [N_FOLDS] of the other folds; residuals [n][LANES] of each in lanes from there on. */
static void
begin_target(const double *targets, size_t n, double *means, double *residuals) {
  for (size_t fold = 0; fold < N_FOLDS; fold++) {
    double sum = 0.0;
    size_t n_others = 0;
    for (size_t i = 0; i < n; i++)
      if (i % N_FOLDS != fold) {
        sum += targets[i];
        n_others++;
      }
    means[fold] = sum / (double)n_others;
    for (size_t i = 0; i < n; i++)
      residuals[i * LANES + fold] = targets[i] - means[fold];
  }
}

/* Share of the variance of targets that is guessed; effects: in lanes from there on. */
static double
share_of_target(const Indicators *x, const double *targets, const double *means,
                const double *effects) {
  double of_fit = 0.0, of_mean = 0.0;
  for (size_t fold = 0; fold < N_FOLDS; fold++)
    for (size_t i = fold; i < x->n; i += N_FOLDS) {
      double guess = means[fold];
      for (size_t p = 0; p < x->n_places; p++) {
        const guint32 id = x->ids[p * x->n + i];
        if (id != DEMUR_GUESS_NONE)
          guess += effects[(x->firsts[p] + id) * LANES + fold];
      }
      of_fit += (targets[i] - guess) * (targets[i] - guess);
      of_mean += (targets[i] - means[fold]) * (targets[i] - means[fold]);
    }
  return of_mean > 0.0 ? 1.0 - of_fit / of_mean : 0.0;
}

double
demur_reason_guess(const guint32 *lists, size_t n, size_t length, const double *const *targets,
                   size_t n_targets) {
  if (n < 2 * N_FOLDS)
    return 0.0;
  g_auto(Indicators) x = indicators_new(lists, n, length);
  _Alignas(64) gint64 masks[N_FOLDS][LANES];
  for (size_t fold = 0; fold < N_FOLDS; fold++)
    for (size_t lane = 0; lane < LANES; lane++)
      masks[fold][lane] = lane % N_FOLDS != fold ? -1 : 0;
  double most = -G_MAXDOUBLE;
  for (size_t first = 0; first < n_targets; first += N_TARGETS) {
    DEMUR_AUTO_ALIGNED double *effects = demur_new_matrix(double, x.firsts[x.n_places], LANES);
    DEMUR_AUTO_ALIGNED double *residuals = demur_new_matrix(double, n, LANES);
    double means[N_TARGETS][N_FOLDS];
    const size_t n_now = MIN(N_TARGETS, n_targets - first);
    for (size_t t = 0; t < n_now; t++)
      begin_target(targets[first + t], n, means[t], residuals + t * N_FOLDS);
    fit(&x, masks, effects, residuals);
    for (size_t t = 0; t < n_now; t++)
      most = MAX(most, share_of_target(&x, targets[first + t], means[t], effects + t * N_FOLDS));
  }
  return most;
}
