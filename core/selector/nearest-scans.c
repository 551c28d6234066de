#include "selector/nearest-scans.h"

#include <string.h>

#include "selector/selector-private.h"

#define FEWEST 50
#define MOST 200

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

typedef struct {
  float distance;
  guint32 scan;
} Neighbour;

/* The k nearest so far, ascending. */
static void
take(Neighbour *nearest, size_t k, size_t *n, float distance, size_t scan) {
  if (*n == k && !(distance < nearest[k - 1].distance))
    return;
  size_t place = *n < k ? (*n)++ : k - 1;
  while (place > 0 && nearest[place - 1].distance > distance) {
    nearest[place] = nearest[place - 1];
    place--;
  }
  nearest[place] = (Neighbour){distance, (guint32)scan};
}

static void
count(const DemurSelector *s, const Neighbour *found, size_t k, guint *counts,
      DemurNearestScans *nearest) {
  g_autofree double *gaps = g_new0(double, MAX(s->n_site_names, 1));
  g_autofree guint *own = g_new0(guint, MAX(s->n_site_names, 1));
  for (size_t i = 0; i < k; i++) {
    const guint32 scan = found[i].scan, site = s->kept_sites[scan];
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
demur_nearest_scans(const DemurSelector *s, const float *input, gssize exclude, guint *counts,
                    DemurNearestScans *nearest) {
  const size_t others = s->n_kept - (exclude >= 0 && s->n_kept > 0 ? 1 : 0),
               k = MIN(CLAMP(s->n_kept / 20, FEWEST, MOST), others), d = s->n_inputs;
  *nearest = (DemurNearestScans){.n = (guint)k, .counts = counts};
  if (k == 0)
    return FALSE;
  const gboolean by_image = demur_nearest_scans_by_image(s);
  g_autofree size_t *columns = g_new(size_t, MAX(d, 1));
  size_t n_columns = 0, n = 0;
  for (size_t c = 0; c < d; c++)
    if (!by_image || is_of_image(s, c))
      columns[n_columns++] = c;
  Neighbour found[MOST];
  for (size_t i = 0; i < s->n_kept; i++) {
    if ((gssize)i == exclude)
      continue;
    float distance = 0.0f;
    for (size_t c = 0; c < n_columns; c++) {
      const float difference = s->kept_inputs[i * d + columns[c]] - input[columns[c]];
      distance += difference * difference;
    }
    take(found, k, &n, distance, i);
  }
  count(s, found, k, counts, nearest);
  return TRUE;
}
