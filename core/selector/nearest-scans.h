/* The training scans most like a scan, by site and outcome. */
#pragma once

#include "selector/selector.h"

G_BEGIN_DECLS

typedef struct {
  guint n;         /* scans: a 20th of those the selector keeps, 50 to 200 */
  guint n_events;  /* of them with the outcome */
  double expected; /* sum of their risks */
  guint n_sites;   /* 0: the selector does not know them (it was released) */
  guint n_over;    /* sites where their mean risk exceeds the observed share */
  guint32 top;     /* the site that has most of them (ties: the first name), and how many */
  guint n_top;
  guint *counts; /* [n_site_names] of them at each site; NULL: not asked for */
} DemurNearestScans;

/* What a selector keeps of its training scans, laid out for searches; the selector must outlive it. Immutable. */
typedef struct DemurScanFinder DemurScanFinder;
DemurScanFinder *demur_scan_finder_new(const DemurSelector *selector);
void demur_scan_finder_free(DemurScanFinder *finder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurScanFinder, demur_scan_finder_free)

/* Nearest in the columns that the networks read, Euclidean and standardised, ties to the earlier
 * scan: those of the image where it reads any (distances, density, how it was made), else all.
 * input [n_inputs], standardised; exclude: a kept scan that is not counted, -1: none; counts: room
 * for those of each site, or NULL. FALSE where the selector keeps no scans. O(kept x inputs). */
gboolean demur_nearest_scans(const DemurScanFinder *finder, const float *input, gssize exclude,
                             guint *counts, DemurNearestScans *nearest);

/* The same of the sites alone: n, n_sites, top and n_top, the others 0. For many scans: it puts nothing in order. */
gboolean demur_nearest_sites(const DemurScanFinder *finder, const float *input, gssize exclude,
                             DemurNearestScans *nearest);

/* Whether those are the image's columns: found without the risk. */
gboolean demur_nearest_scans_by_image(const DemurSelector *selector);

G_END_DECLS
