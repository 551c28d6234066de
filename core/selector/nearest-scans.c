/* Squared distances of all scans as whole numbers, which have the order of floats from 0 on. The k least: the k-th least of the
 * minima of groups of GROUP scans is no less than the k-th least of all, and a little above it; only groups that reach below it
 * are looked at. Such a bound is found by halving the range of what it can be, a count of all at each of up to 32 steps.
 * Cost: kept x columns multiplications, and about as much time for the choice. */
#include "selector/nearest-scans.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/vector.h"
#include "selector/selector-private.h"

#define FEWEST 50
#define MOST 200
#define SIDE_BY_SIDE 64
#define GROUP 8         /* scans, SIDE_BY_SIDE apart, of which the nearest is looked at first */
#define FAR G_MAXUINT32 /* behind all distances: no number has these bits */

/* GCC takes wider ones apart through memory where the processor has none. */
typedef float Floats __attribute__((vector_size(32)));
#define LANES (sizeof(Floats) / sizeof(float))
#define PARTS (SIDE_BY_SIDE / LANES)

static gboolean
is_of_image(const DemurSelector *s, size_t input) {
  const size_t column = s->inputs[input], first = s->columns->n_confidence,
               past = first + s->columns->n_outlier;
  return (column >= first && column < past) || column >= past + s->columns->n_corrector;
}

gboolean
demur_nearest_scans_by_image(const DemurSelector *s) {
  for (size_t c = 0; c < s->n_inputs; c++)
    if (is_of_image(s, c))
      return TRUE;
  return FALSE;
}

struct DemurScanFinder {
  const DemurSelector *selector;
  size_t *columns;          /* [n_columns] of the inputs */
  size_t n_columns, stride; /* stride: a multiple of GROUP x SIDE_BY_SIDE */
  float *values;            /* [n_columns][stride], 0 behind the kept scans */
};

DemurScanFinder *
demur_scan_finder_new(const DemurSelector *s) {
  DemurScanFinder *finder = g_new0(DemurScanFinder, 1);
  finder->selector = s;
  finder->columns = g_new(size_t, MAX(s->n_inputs, 1));
  const gboolean by_image = demur_nearest_scans_by_image(s);
  for (size_t c = 0; c < s->n_inputs; c++)
    if (!by_image || is_of_image(s, c))
      finder->columns[finder->n_columns++] = c;
  finder->stride =
      (s->n_kept + GROUP * SIDE_BY_SIDE - 1) / (GROUP * SIDE_BY_SIDE) * (GROUP * SIDE_BY_SIDE);
  finder->values = demur_new_matrix(float, finder->n_columns, finder->stride);
  for (size_t i = 0; i < s->n_kept; i++)
    for (size_t c = 0; c < finder->n_columns; c++)
      finder->values[c * finder->stride + i] = s->kept_inputs[i * s->n_inputs + finder->columns[c]];
  return finder;
}

void
demur_scan_finder_free(DemurScanFinder *finder) {
  if (finder == NULL)
    return;
  g_free(finder->columns);
  g_aligned_free(finder->values);
  g_free(finder);
}

/* keys [stride]: the bits of each scan's squared distance, a sum in the columns' order. own [n_columns][LANES]: each value of the
 * input, as often. */
VECTOR_CLONES static void
measure(const DemurScanFinder *finder, const Floats *own, guint32 *keys) {
  const size_t n_columns = finder->n_columns;
  for (size_t first = 0; first < finder->stride; first += SIDE_BY_SIDE) {
    const float *column = finder->values + first;
    Floats sums[PARTS] = {{0.0f}};
    for (size_t c = 0; c < n_columns; c++, column += finder->stride) {
      const Floats *values = __builtin_assume_aligned(column, sizeof(Floats)), taken = own[c];
#pragma GCC unroll 8
      for (size_t p = 0; p < PARTS; p++) {
        const Floats difference = values[p] - taken;
        sums[p] += difference * difference;
      }
    }
    memcpy(keys + first, sums, sizeof sums);
  }
}

/* minima [stride / GROUP] of each group's keys. */
VECTOR_CLONES static void
find_minima(const guint32 *keys, size_t stride, guint32 *minima) {
  for (size_t first = 0; first < stride; first += GROUP * SIDE_BY_SIDE)
    for (size_t lane = 0; lane < SIDE_BY_SIDE; lane++) {
      guint32 least = FAR;
      for (size_t g = 0; g < GROUP; g++)
        least = MIN(least, keys[first + g * SIDE_BY_SIDE + lane]);
      minima[first / GROUP + lane] = least;
    }
}

/* A bound within which k of n keys lie and up to slack more; the k-th least where more than that are within it; FAR where there are fewer. */
VECTOR_CLONES static guint32
bound_of(const guint32 *keys, size_t n, size_t k, size_t slack) {
  guint32 low = 0, high = FAR;
  while (low < high) {
    const guint32 middle = low + (high - low) / 2;
    guint32 n_within = 0;
    for (size_t i = 0; i < n; i++)
      n_within += keys[i] <= middle;
    if (n_within < k)
      low = middle + 1;
    else if (n_within <= k + slack)
      return middle;
    else
      high = middle;
  }
  return high;
}

/* The k nearest scans and perhaps more (owned), each below its key: nearer ones are less, of equal ones the earlier. *n: how many. */
static guint64 *
find_near(const DemurScanFinder *finder, const float *input, gssize exclude, size_t k, size_t *n) {
  const size_t n_kept = finder->selector->n_kept, n_groups = finder->stride / GROUP;
  g_autofree guint32 *keys = g_new(guint32, finder->stride), *minima = g_new(guint32, n_groups),
                     *groups = g_new(guint32, n_groups + 1);
  DEMUR_AUTO_ALIGNED float *own = demur_new_matrix(float, finder->n_columns, LANES);
  for (size_t c = 0; c < finder->n_columns; c++)
    for (size_t lane = 0; lane < LANES; lane++)
      own[c * LANES + lane] = input[finder->columns[c]];
  measure(finder, (const Floats *)own, keys);
  for (size_t i = n_kept; i < finder->stride; i++)
    keys[i] = FAR;
  if (exclude >= 0)
    keys[exclude] = FAR;
  find_minima(keys, finder->stride, minima);
  const guint32 farthest = bound_of(minima, n_groups, k, k / 16);
  size_t n_near = 0;
  for (size_t g = 0; g < n_groups; g++) {
    groups[n_near] = (guint32)g;
    n_near += minima[g] <= farthest;
  }
  guint64 *near = g_new(guint64, n_near * GROUP + 1);
  size_t n_found = 0;
  for (size_t j = 0; j < n_near; j++) {
    const size_t lane = groups[j] % SIDE_BY_SIDE, first = (groups[j] - lane) * GROUP + lane;
    for (size_t scan = first; scan < first + GROUP * SIDE_BY_SIDE; scan += SIDE_BY_SIDE) {
      near[n_found] = (guint64)keys[scan] << 32 | scan;
      n_found += keys[scan] <= farthest;
    }
  }
  *n = n_found;
  return near;
}

static int
compare(const void *a, const void *b) {
  const guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;
  return (x > y) - (x < y);
}

/* Leaves the k nearest of n, in whatever order. */
static void
keep_nearest(guint64 *near, size_t n, size_t k) {
  g_autofree guint32 *keys = g_new(guint32, n);
  for (size_t i = 0; i < n; i++)
    keys[i] = (guint32)(near[i] >> 32);
  const guint32 farthest = bound_of(keys, n, k, 0);
  size_t n_within = 0;
  for (size_t i = 0; i < n; i++)
    n_within += keys[i] <= farthest;
  if (n_within > k) { /* several are as far as that */
    qsort(near, n, sizeof *near, compare);
    return;
  }
  for (size_t i = 0, kept = 0; kept < k; i++) {
    near[kept] = near[i];
    kept += keys[i] <= farthest;
  }
}

static void
count_sites(const DemurSelector *s, const guint64 *near, guint *own, DemurNearestScans *nearest) {
  for (size_t i = 0; i < nearest->n; i++)
    own[s->kept_sites[(guint32)near[i]]]++;
  if (s->release == DEMUR_RELEASE_PROTOTYPES) /* groups are of several sites */
    return;
  for (size_t site = 0; site < s->n_site_names; site++) {
    nearest->n_sites += own[site] > 0;
    if (own[site] > nearest->n_top) {
      nearest->n_top = own[site];
      nearest->top = (guint32)site;
    }
  }
}

/* near [n] in the order of distance: so are the sums. */
static void
count_outcomes(const DemurSelector *s, const guint64 *near, DemurNearestScans *nearest) {
  g_autofree double *gaps = g_new0(double, MAX(s->n_site_names, 1));
  for (size_t i = 0; i < nearest->n; i++) {
    const guint32 scan = (guint32)near[i];
    const double risk = (double)s->kept_risks[scan], label = (double)s->kept_labels[scan];
    gaps[s->kept_sites[scan]] += risk - label;
    nearest->expected += risk;
    nearest->n_events += label > 0.5;
  }
  for (size_t site = 0; site < s->n_site_names && s->release != DEMUR_RELEASE_PROTOTYPES; site++)
    nearest->n_over += gaps[site] > 0.0;
}

static size_t
count_nearest(const DemurSelector *s, gssize exclude) {
  const size_t others = s->n_kept - (exclude >= 0 && s->n_kept > 0 ? 1 : 0);
  return MIN(CLAMP(s->n_kept / 20, FEWEST, MOST), others);
}

gboolean
demur_nearest_scans(const DemurScanFinder *finder, const float *input, gssize exclude,
                    guint *counts, DemurNearestScans *nearest) {
  const DemurSelector *s = finder->selector;
  const size_t k = count_nearest(s, exclude);
  *nearest = (DemurNearestScans){.n = (guint)k, .counts = counts};
  if (k == 0)
    return FALSE;
  size_t n;
  g_autofree guint64 *near = find_near(finder, input, exclude, k, &n);
  qsort(near, n, sizeof *near, compare);
  g_autofree guint *own = g_new0(guint, MAX(s->n_site_names, 1));
  count_sites(s, near, own, nearest);
  count_outcomes(s, near, nearest);
  if (counts != NULL && s->release != DEMUR_RELEASE_PROTOTYPES)
    memcpy(counts, own, s->n_site_names * sizeof *counts);
  return TRUE;
}

gboolean
demur_nearest_sites(const DemurScanFinder *finder, const float *input, gssize exclude,
                    DemurNearestScans *nearest) {
  const DemurSelector *s = finder->selector;
  const size_t k = count_nearest(s, exclude);
  *nearest = (DemurNearestScans){.n = (guint)k};
  if (k == 0)
    return FALSE;
  size_t n;
  g_autofree guint64 *near = find_near(finder, input, exclude, k, &n);
  keep_nearest(near, n, k);
  g_autofree guint *own = g_new0(guint, MAX(s->n_site_names, 1));
  count_sites(s, near, own, nearest);
  return TRUE;
}
