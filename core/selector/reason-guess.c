#include "selector/reason-guess.h"

#include <stdlib.h>
#include <string.h>

#define N_FOLDS 5
#define N_SWEEPS 12
#define RIDGE 4.0 /* scans' worth of doubt about an effect */

/* The indicators of a scan, numbered 0 .. n_ids - 1: a statement at its place, the whole list, and
 * the list in whatever order. */
typedef struct {
  size_t n, width, n_ids;
  guint32 *ids; /* [n][width], DEMUR_GUESS_NONE: none */
} Indicators;

static guint32
number_of(GHashTable *numbers, const void *bytes, gsize length) {
  g_autoptr(GBytes) key = g_bytes_new(bytes, length);
  gpointer found;
  if (g_hash_table_lookup_extended(numbers, key, NULL, &found))
    return GPOINTER_TO_UINT(found);
  const guint32 id = g_hash_table_size(numbers);
  g_hash_table_insert(numbers, g_steal_pointer(&key), GUINT_TO_POINTER(id));
  return id;
}

static int
compare_statements(const void *a, const void *b) {
  const guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
  return (x > y) - (x < y);
}

static Indicators
indicators_new(const guint32 *lists, size_t n, size_t length) {
  Indicators indicators = {n, length + 2, 0, g_new(guint32, MAX(n, 1) * (length + 2))};
  g_autoptr(GHashTable) numbers =
      g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
  g_autofree guint32 *whole = g_new(guint32, length + 1); /* its kind, then the list */
  for (size_t i = 0; i < n; i++) {
    const guint32 *list = lists + i * length;
    guint32 *ids = indicators.ids + i * indicators.width;
    for (size_t p = 0; p < length; p++) {
      const guint32 one[2] = {(guint32)p, list[p]};
      ids[p] = list[p] == DEMUR_GUESS_NONE ? DEMUR_GUESS_NONE : number_of(numbers, one, sizeof one);
    }
    memcpy(whole + 1, list, length * sizeof *list);
    whole[0] = (guint32)length;
    ids[length] = number_of(numbers, whole, (length + 1) * sizeof *whole);
    qsort(whole + 1, length, sizeof *whole, compare_statements);
    whole[0] = (guint32)length + 1;
    ids[length + 1] = number_of(numbers, whole, (length + 1) * sizeof *whole);
  }
  indicators.n_ids = g_hash_table_size(numbers);
  return indicators;
}

/* One sweep over the effects of one place; residuals follow. */
static void
sweep(const Indicators *x, size_t place, size_t fold, double *effects, double *residuals,
      double *sums, guint32 *counts) {
  memset(sums, 0, x->n_ids * sizeof *sums);
  memset(counts, 0, x->n_ids * sizeof *counts);
  for (size_t i = 0; i < x->n; i++) {
    const guint32 id = x->ids[i * x->width + place];
    if (i % N_FOLDS == fold || id == DEMUR_GUESS_NONE)
      continue;
    sums[id] += residuals[i] + effects[id];
    counts[id]++;
  }
  for (size_t i = 0; i < x->n; i++) {
    const guint32 id = x->ids[i * x->width + place];
    if (i % N_FOLDS != fold && id != DEMUR_GUESS_NONE)
      residuals[i] += effects[id] - sums[id] / ((double)counts[id] + RIDGE);
  }
  for (size_t id = 0; id < x->n_ids; id++)
    if (counts[id] > 0)
      effects[id] = sums[id] / ((double)counts[id] + RIDGE);
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
  g_autofree double *effects = g_new0(double, x->n_ids), *residuals = g_new(double, x->n),
                    *sums = g_new(double, x->n_ids);
  g_autofree guint32 *counts = g_new(guint32, x->n_ids);
  for (size_t i = 0; i < x->n; i++)
    residuals[i] = targets[i] - mean;
  for (int s = 0; s < N_SWEEPS; s++)
    for (size_t place = 0; place < x->width; place++)
      sweep(x, place, fold, effects, residuals, sums, counts);
  for (size_t i = fold; i < x->n; i += N_FOLDS) {
    double guess = mean;
    for (size_t place = 0; place < x->width; place++) {
      const guint32 id = x->ids[i * x->width + place];
      if (id != DEMUR_GUESS_NONE)
        guess += effects[id];
    }
    *of_fit += (targets[i] - guess) * (targets[i] - guess);
    *of_mean += (targets[i] - mean) * (targets[i] - mean);
  }
}

double
demur_reason_guess(const guint32 *lists, size_t n, size_t length, const double *targets) {
  if (n < 2 * N_FOLDS)
    return 0.0;
  const Indicators indicators = indicators_new(lists, n, length);
  double of_fit = 0.0, of_mean = 0.0;
  for (size_t fold = 0; fold < N_FOLDS; fold++)
    guess_fold(&indicators, targets, fold, &of_fit, &of_mean);
  g_free(indicators.ids);
  return of_mean > 0.0 ? 1.0 - of_fit / of_mean : 0.0;
}
