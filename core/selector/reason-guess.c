#include "selector/reason-guess.h"

#include <stdlib.h>
#include <string.h>

#define N_FOLDS 5
#define N_SWEEPS 12
#define RIDGE 4.0 /* scans' worth of doubt about an effect */

/* The indicators of each scan by place, numbered from 0 at each: a statement at its place, the whole list, and the list in whatever
 * order. */
typedef struct {
  size_t n, n_places;
  guint32 *ids;    /* [n_places][n], DEMUR_GUESS_NONE: none */
  guint32 *n_ids;  /* [n_places] */
  guint32 *firsts; /* [n_places + 1], sums of them */
} Indicators;

static guint32
number_of(GHashTable *numbers, gpointer key) {
  gpointer found;
  if (g_hash_table_lookup_extended(numbers, key, NULL, &found))
    return GPOINTER_TO_UINT(found);
  const guint32 id = g_hash_table_size(numbers);
  g_hash_table_insert(numbers, key, GUINT_TO_POINTER(id));
  return id;
}

static int
compare_statements(const void *a, const void *b) {
  const guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
  return (x > y) - (x < y);
}

/* ids [n] of statements at one place of lists [n][length]; returns how many there are. */
static guint32
number_statements(const guint32 *lists, size_t n, size_t length, size_t place, guint32 *ids) {
  g_autoptr(GHashTable) numbers = g_hash_table_new(NULL, NULL);
  for (size_t i = 0; i < n; i++) {
    const guint32 said = lists[i * length + place];
    ids[i] = said == DEMUR_GUESS_NONE ? said : number_of(numbers, GUINT_TO_POINTER(said));
  }
  return g_hash_table_size(numbers);
}

/* Likewise of the lists themselves. */
static guint32
number_lists(const guint32 *lists, size_t n, size_t length, guint32 *ids) {
  g_autoptr(GHashTable) numbers =
      g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
  for (size_t i = 0; i < n; i++) {
    GBytes *list = g_bytes_new_static(lists + i * length, length * sizeof *lists);
    const guint32 n_before = g_hash_table_size(numbers);
    ids[i] = number_of(numbers, list);
    if (g_hash_table_size(numbers) == n_before)
      g_bytes_unref(list);
  }
  return g_hash_table_size(numbers);
}

static Indicators
indicators_new(const guint32 *lists, size_t n, size_t length) {
  Indicators x = {.n = n, .n_places = length + 2};
  x.ids = g_new(guint32, n * x.n_places);
  x.n_ids = g_new(guint32, x.n_places);
  x.firsts = g_new0(guint32, x.n_places + 1);
  for (size_t p = 0; p < length; p++)
    x.n_ids[p] = number_statements(lists, n, length, p, x.ids + p * n);
  x.n_ids[length] = number_lists(lists, n, length, x.ids + length * n);
  g_autofree guint32 *sorted = g_memdup2(lists, n * length * sizeof *lists);
  for (size_t i = 0; i < n; i++)
    qsort(sorted + i * length, length, sizeof *sorted, compare_statements);
  x.n_ids[length + 1] = number_lists(sorted, n, length, x.ids + (length + 1) * n);
  for (size_t p = 0; p < x.n_places; p++)
    x.firsts[p + 1] = x.firsts[p] + x.n_ids[p];
  return x;
}

static void
indicators_clear(Indicators *x) {
  g_free(x->ids);
  g_free(x->n_ids);
  g_free(x->firsts);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Indicators, indicators_clear)

/* One sweep over the effects [n_ids] of one place by scans whose ids [n] these are, n_ids for none; residuals follow. doubts [n_ids]: how
 * many scans have each, and RIDGE; changes: room for n_ids + 1. */
static void
sweep(const guint32 *ids, size_t n, guint32 n_ids, const double *doubts, double *effects,
      double *residuals, double *changes) {
  memset(changes, 0, n_ids * sizeof *changes);
  for (size_t i = 0; i < n; i++)
    if (ids[i] < n_ids)
      changes[ids[i]] += residuals[i] + effects[ids[i]];
  for (guint32 id = 0; id < n_ids; id++) {
    const double fresh = changes[id] / doubts[id];
    changes[id] = effects[id] - fresh;
    effects[id] = fresh;
  }
  changes[n_ids] = 0.0;
  for (size_t i = 0; i < n; i++)
    residuals[i] += changes[ids[i]];
}

/* Squared errors of the fold's scans, guessed from the others: by the fit, and by their mean. */
static void
guess_fold(const Indicators *x, const double *targets, size_t fold, double *of_fit,
           double *of_mean) {
  double mean = 0.0;
  size_t n_others = 0;
  for (size_t i = 0; i < x->n; i++)
    if (i % N_FOLDS != fold) {
      mean += targets[i];
      n_others++;
    }
  mean /= (double)MAX(n_others, 1);
  guint32 most_ids = 0;
  for (size_t p = 0; p < x->n_places; p++)
    most_ids = MAX(most_ids, x->n_ids[p]);
  const size_t n_effects = MAX(x->firsts[x->n_places], 1);
  g_autofree double *effects = g_new0(double, n_effects), *doubts = g_new(double, n_effects),
                    *residuals = g_new(double, MAX(n_others, 1)),
                    *changes = g_new(double, most_ids + 1);
  g_autofree guint32 *ids = g_new(guint32, MAX(x->n_places * n_others, 1));
  for (size_t e = 0; e < n_effects; e++)
    doubts[e] = RIDGE;
  for (size_t p = 0, k = 0; p < x->n_places; p++)
    for (size_t i = 0; i < x->n; i++) {
      if (i % N_FOLDS == fold)
        continue;
      const guint32 id = MIN(x->ids[p * x->n + i], x->n_ids[p]);
      ids[k++] = id;
      if (id < x->n_ids[p])
        doubts[x->firsts[p] + id]++;
    }
  for (size_t i = 0, k = 0; i < x->n; i++)
    if (i % N_FOLDS != fold)
      residuals[k++] = targets[i] - mean;
  for (int s = 0; s < N_SWEEPS; s++)
    for (size_t p = 0; p < x->n_places; p++)
      sweep(ids + p * n_others, n_others, x->n_ids[p], doubts + x->firsts[p],
            effects + x->firsts[p], residuals, changes);
  for (size_t i = fold; i < x->n; i += N_FOLDS) {
    double guess = mean;
    for (size_t p = 0; p < x->n_places; p++) {
      const guint32 id = x->ids[p * x->n + i];
      if (id != DEMUR_GUESS_NONE)
        guess += effects[x->firsts[p] + id];
    }
    *of_fit += (targets[i] - guess) * (targets[i] - guess);
    *of_mean += (targets[i] - mean) * (targets[i] - mean);
  }
}

double
demur_reason_guess(const guint32 *lists, size_t n, size_t length, const double *const *targets,
                   size_t n_targets) {
  if (n < 2 * N_FOLDS)
    return 0.0;
  g_auto(Indicators) indicators = indicators_new(lists, n, length);
  double most = -G_MAXDOUBLE;
  for (size_t t = 0; t < n_targets; t++) {
    double of_fit = 0.0, of_mean = 0.0;
    for (size_t fold = 0; fold < N_FOLDS; fold++)
      guess_fold(&indicators, targets[t], fold, &of_fit, &of_mean);
    most = MAX(most, of_mean > 0.0 ? 1.0 - of_fit / of_mean : 0.0);
  }
  return most;
}
