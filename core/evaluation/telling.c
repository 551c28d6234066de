#include "evaluation/telling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "metrics/coverage.h"

#define STEP 5.0

struct DemurTelling {
  gssize last;     /* the highest rank: all scans */
  size_t n_points; /* in their order, each rank once */
  gssize *ranks;
  gboolean (*exact)[DEMUR_N_TOLD];
};

void
demur_telling_free(DemurTelling *telling) {
  if (telling == NULL)
    return;
  g_free(telling->ranks);
  g_free(telling->exact);
  g_free(telling);
}

static void
add_point(DemurTelling *t, gssize rank) {
  for (size_t p = 0; p < t->n_points; p++)
    if (t->ranks[p] == rank)
      return;
  t->ranks[t->n_points++] = rank;
}

/* The rank at which a coverage's scans end. totals [last + 2]: scans with a lower rank. */
static gssize
rank_of_coverage(const size_t *totals, gssize last, double coverage) {
  const size_t wanted = demur_coverage_count(coverage, totals[last + 1]);
  gssize low = 0, high = last;
  while (low < high) {
    const gssize middle = low + (high - low) / 2;
    if (totals[middle + 1] >= wanted)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

static int
compare_ranks(gconstpointer a, gconstpointer b) {
  const gssize x = *(const gssize *)a, y = *(const gssize *)b;
  return (x > y) - (x < y);
}

/* Cells of a point: scans, of each label, right and wrong. */
static size_t
cells_of(size_t n_classes) {
  return 1 + n_classes + 2;
}

static gboolean
is_right(const DemurSample *sample, size_t i) {
  return sample->top_label ? sample->labels[i] > 0.5
                           : (sample->risks[i] >= 0.5) == (sample->labels[i] > 0.5);
}

/* counts [n_points][cells]: the scans with rank <= sorted[p]. */
static void
count_points(const DemurSample *sample, const guint32 *ranks, const gssize *sorted, size_t n_points,
             gint64 *counts) {
  const size_t K = sample->n_classes, n_cells = cells_of(K);
  for (size_t i = 0; i < sample->n; i++) {
    size_t low = 0, high = n_points;
    while (low < high) {
      const size_t middle = (low + high) / 2;
      if (sorted[middle] < (gssize)ranks[i])
        low = middle + 1;
      else
        high = middle;
    }
    if (low == n_points)
      continue;
    gint64 *cells = counts + low * n_cells;
    cells[0]++;
    if (sample->classes[i] == DEMUR_NO_LABEL)
      continue;
    cells[1 + (size_t)sample->classes[i]]++;
    cells[1 + K + (is_right(sample, i) ? 0 : 1)]++;
  }
  for (size_t p = 1; p < n_points; p++)
    for (size_t c = 0; c < n_cells; c++)
      counts[p * n_cells + c] += counts[(p - 1) * n_cells + c];
}

/* TRUE where the two differ by few of a cell in [from, to). */
static gboolean
leaves_few(const gint64 *a, const gint64 *b, size_t from, size_t to) {
  gboolean same = TRUE;
  for (size_t c = from; c < to; c++)
    same &= a[c] == b[c];
  for (size_t c = from; !same && c < to; c++)
    if (llabs(a[c] - b[c]) < DEMUR_SMALL_CELL)
      return TRUE;
  return FALSE;
}

DemurTelling *
demur_telling_new(const DemurSample *sample, const guint32 *ranks, const gssize *points,
                  size_t n_points, const double *coverages, size_t n_coverages) {
  const size_t K = sample->n_classes, n_cells = cells_of(K), most = n_points + n_coverages + 2;
  DemurTelling *t = g_new0(DemurTelling, 1);
  t->ranks = g_new(gssize, most);
  t->exact = g_malloc0_n(most, sizeof *t->exact);
  t->last = -1;
  for (size_t i = 0; i < sample->n; i++)
    t->last = MAX(t->last, (gssize)ranks[i]);
  g_autofree size_t *totals = g_new0(size_t, (size_t)(t->last + 2));
  for (size_t i = 0; i < sample->n; i++)
    totals[ranks[i] + 1]++;
  for (gssize r = 0; r <= t->last; r++)
    totals[r + 1] += totals[r];
  add_point(t, t->last);
  add_point(t, -1);
  for (size_t p = 0; p < n_points; p++)
    add_point(t, MIN(points[p], t->last));
  for (size_t c = 0; c < n_coverages; c++)
    add_point(t, t->last < 0 ? -1 : rank_of_coverage(totals, t->last, coverages[c]));
  g_autofree gssize *sorted = g_memdup2(t->ranks, t->n_points * sizeof *sorted);
  qsort(sorted, t->n_points, sizeof *sorted, compare_ranks);
  g_autofree gint64 *counts = g_new0(gint64, t->n_points * n_cells);
  count_points(sample, ranks, sorted, t->n_points, counts);
  const size_t from[DEMUR_N_TOLD] = {0, 1, 1}, to[DEMUR_N_TOLD] = {1, 1 + K, 1 + K + 2};
  g_autofree const gint64 **of = g_new(const gint64 *, t->n_points);
  for (size_t p = 0; p < t->n_points; p++) {
    const gssize *place = bsearch(&t->ranks[p], sorted, t->n_points, sizeof *sorted, compare_ranks);
    of[p] = counts + (size_t)(place - sorted) * n_cells;
    for (DemurTold what = 0; what < DEMUR_N_TOLD; what++) {
      gboolean exact = TRUE;
      for (size_t q = 0; exact && q < p; q++)
        exact = !t->exact[q][what] || !leaves_few(of[p], of[q], from[what], to[what]);
      t->exact[p][what] = exact;
    }
  }
  return t;
}

gboolean
demur_telling_is_exact(const DemurTelling *telling, DemurTold what, gssize max_rank) {
  if (telling == NULL || max_rank >= telling->last)
    return TRUE;
  for (size_t p = 0; p < telling->n_points; p++)
    if (telling->ranks[p] == max_rank)
      return telling->exact[p][what];
  return FALSE;
}

double
demur_told_fives(double count, double n) {
  return CLAMP(STEP * round(count / STEP), 0.0, n);
}

double
demur_told_accuracy(double accuracy, size_t n) {
  return 1.0 - demur_told_fives((1.0 - accuracy) * (double)n, (double)n) / (double)n;
}

void
demur_told_running(double *outcomes, const double *mass, size_t n) {
  double sum = 0.0, told = 0.0;
  for (size_t b = 0; b < n; b++) {
    sum += outcomes[b];
    const double next = fmax(told, STEP * round(sum / STEP));
    outcomes[b] = fmin(next - told, mass[b]);
    told = next;
  }
}

/* Scales the weights of the scans with (kept != 0) == of, or of all, so that their outcomes become
 * told. */
static void
scale(const double *labels, const guint32 *kept, gboolean of, size_t n, double told,
      double *weights) {
  double outcomes = 0.0, all = 0.0;
  for (size_t i = 0; i < n; i++)
    if (kept == NULL || (kept[i] != 0) == of) {
      all += weights[i];
      outcomes += labels[i] > 0.5 ? weights[i] : 0.0;
    }
  const double with = outcomes > 0.0 ? told / outcomes : 1.0,
               without = all > outcomes ? (all - told) / (all - outcomes) : 1.0;
  for (size_t i = 0; i < n; i++)
    if (kept == NULL || (kept[i] != 0) == of)
      weights[i] *= fmax(0.0, labels[i] > 0.5 ? with : without);
}

double
demur_told_weights_of(const double *labels, const double *base, size_t n, double *weights) {
  double outcomes = 0.0, all = 0.0;
  for (size_t i = 0; i < n; i++) {
    weights[i] = base != NULL ? base[i] : 1.0;
    all += weights[i];
    outcomes += labels[i] > 0.5 ? weights[i] : 0.0;
  }
  const double told = demur_told_fives(outcomes, all);
  scale(labels, NULL, TRUE, n, told, weights);
  return told;
}

void
demur_told_weights(const DemurSample *sample, const guint32 *kept, double *weights) {
  double outcomes[2] = {0.0, 0.0}, mass[2] = {0.0, 0.0};
  for (size_t i = 0; i < sample->n; i++) {
    weights[i] = sample->weights != NULL ? sample->weights[i] : 1.0;
    mass[kept[i] != 0] += weights[i];
    outcomes[kept[i] != 0] += sample->labels[i] > 0.5 ? weights[i] : 0.0;
  }
  const double told = demur_told_fives(outcomes[1], mass[1]);
  scale(sample->labels, kept, TRUE, sample->n, told, weights);
  scale(sample->labels, kept, FALSE, sample->n,
        CLAMP(outcomes[0] + outcomes[1] - told, 0.0, mass[0]), weights);
}
