#include "selector/nearest-scans.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/vector.h"
#include "selector/selector-private.h"

#define FEWEST 50
#define MOST 200
#define SIDE_BY_SIDE 64

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
  size_t *columns; /* [n_columns] of the inputs */
  size_t n_columns, stride;
  float *values; /* [n_columns][stride], a multiple of SIDE_BY_SIDE; 0 behind the kept scans */
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
  finder->stride = (s->n_kept + SIDE_BY_SIDE - 1) / SIDE_BY_SIDE * SIDE_BY_SIDE;
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

/* A scan and its distance as one number: nearer ones are less, of equal ones the earlier. */
static guint64
neighbour(float distance, size_t scan) {
  guint32 bits; /* of numbers from 0 on in their order */
  memcpy(&bits, &distance, sizeof bits);
  return (guint64)bits << 32 | scan;
}

/* The k least so far, in a heap [k] whose first is the greatest of them. */
static void
take(guint64 *heap, size_t k, size_t *n, guint64 added) {
  if (*n < k) {
    size_t place = (*n)++;
    for (; place > 0 && heap[(place - 1) / 2] < added; place = (place - 1) / 2)
      heap[place] = heap[(place - 1) / 2];
    heap[place] = added;
    return;
  }
  if (added >= heap[0])
    return;
  size_t place = 0;
  for (size_t child = 1; child < k; child = 2 * place + 1) {
    child += child + 1 < k && heap[child + 1] > heap[child];
    if (heap[child] <= added)
      break;
    heap[place] = heap[child];
    place = child;
  }
  heap[place] = added;
}

static int
compare(const void *a, const void *b) {
  const guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;
  return (x > y) - (x < y);
}

/* Squared distances of SIDE_BY_SIDE scans from scan first on, each a sum in the columns' order. */
VECTOR_CLONES static void
measure(const DemurScanFinder *finder, size_t first, const float *input,
        float distances[SIDE_BY_SIDE]) {
  memset(distances, 0, SIDE_BY_SIDE * sizeof *distances);
  for (size_t c = 0; c < finder->n_columns; c++) {
    const float *values = finder->values + c * finder->stride + first;
    const float own = input[finder->columns[c]];
    for (size_t i = 0; i < SIDE_BY_SIDE; i++) {
      const float difference = values[i] - own;
      distances[i] += difference * difference;
    }
  }
}

static void
count(const DemurSelector *s, const guint64 *found, size_t k, guint *counts,
      DemurNearestScans *nearest) {
  g_autofree double *gaps = g_new0(double, MAX(s->n_site_names, 1));
  g_autofree guint *own = g_new0(guint, MAX(s->n_site_names, 1));
  for (size_t i = 0; i < k; i++) {
    const guint32 scan = (guint32)found[i], site = s->kept_sites[scan];
    const double risk = (double)s->kept_risks[scan], label = (double)s->kept_labels[scan];
    gaps[site] += risk - label;
    own[site]++;
    nearest->expected += risk;
    nearest->n_events += label > 0.5;
  }
  if (s->release == DEMUR_RELEASE_PROTOTYPES) /* groups are of several sites */
    return;
  for (size_t site = 0; site < s->n_site_names; site++) {
    nearest->n_sites += own[site] > 0;
    nearest->n_over += own[site] > 0 && gaps[site] > 0.0;
    if (own[site] > nearest->n_top) {
      nearest->n_top = own[site];
      nearest->top = (guint32)site;
    }
  }
  if (counts != NULL)
    memcpy(counts, own, s->n_site_names * sizeof *counts);
}

gboolean
demur_nearest_scans(const DemurScanFinder *finder, const float *input, gssize exclude,
                    guint *counts, DemurNearestScans *nearest) {
  const DemurSelector *s = finder->selector;
  const size_t others = s->n_kept - (exclude >= 0 && s->n_kept > 0 ? 1 : 0),
               k = MIN(CLAMP(s->n_kept / 20, FEWEST, MOST), others);
  *nearest = (DemurNearestScans){.n = (guint)k, .counts = counts};
  if (k == 0)
    return FALSE;
  size_t n = 0;
  guint64 found[MOST];
  for (size_t first = 0; first < s->n_kept; first += SIDE_BY_SIDE) {
    float distances[SIDE_BY_SIDE];
    measure(finder, first, input, distances);
    for (size_t i = 0; i < MIN(SIDE_BY_SIDE, s->n_kept - first); i++)
      if ((gssize)(first + i) != exclude)
        take(found, k, &n, neighbour(distances[i], first + i));
  }
  qsort(found, k, sizeof *found, compare); /* sums in the order of distance */
  count(s, found, k, counts, nearest);
  return TRUE;
}
