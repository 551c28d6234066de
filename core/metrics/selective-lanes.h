/* S-BCE_2 at many coverages in one walk over the entries: inside of metrics/selective.c. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Entries in ascending risk; none has a count of 0. */
typedef struct {
  size_t n;
  const double *masses;      /* [n] count, times the weight of the outcome */
  const double *products;    /* [n] mass (y - r) */
  const double *differences; /* [n] y - r */
  const double *ranks;       /* [n] of the score, 0 the highest */
  const guint32 *counts;     /* [n] scans; only with weights */
  const guint32 *blocks;     /* [n] number of the entry's risk; NULL where no two are alike */
  gboolean weighted;
} DemurSelectiveEntries;

/* errors [n_coverages]: of the entries with rank <= max_ranks [n_coverages], n_selected
 * [n_coverages] scans with multiplicity; NaN where that is none, or none of them is known. O(n
 * n_coverages), twelve coverages at a time. */
void demur_selective_lanes(const DemurSelectiveEntries *entries, const guint32 *max_ranks,
                           const size_t *n_selected, size_t n_coverages, size_t min_bin_size,
                           double *errors);

G_END_DECLS
