/* Which groups of a sample's scans may be told of, so that no few scans can be had by subtraction:
 * neither inside one way of grouping (base/small-cells.h) nor between two of one cohort. A hospital
 * of 55 scans inside a network of 58 tells of the 3 others as soon as both counts are out, in
 * whichever outputs they stand.
 *
 * Ways of grouping have one order (site, scanner, the attributes as the cohort has them), and only a
 * later one gives way, so that what is told never hangs on what was asked before. Against each
 * earlier one, with the groups that it tells of and the rest that follows from them:
 *
 *     P  one or two told groups of one way, or all scans without them
 *     Q  the told groups of the other way that lie within P
 *     |P| - |Q| in 1 .. DEMUR_SMALL_CELL - 1: the smallest told group of the later way is withheld
 *
 * until there is no such pair; likewise for the counts of each label. Subtraction over three and
 * more groups at a time is not looked for. Source: Hundepool et al., Statistical Disclosure Control
 * (2012), 4.3 (linked tables). O(ways^2 x (scans log scans + groups x overlaps)). */
#pragma once

#include "evaluation/grouping.h"

G_BEGIN_DECLS

/* One way of grouping. */
typedef struct {
  char *name;
  DemurGrouping *grouping;                    /* of the sample */
  size_t *sizes;                              /* [n_values] */
  size_t *labels;                             /* [n_values][n_classes] scans with each label */
  gboolean *scans_withheld, *labels_withheld; /* [n_values] */
} DemurReleasedWay;

typedef struct {
  size_t n, n_classes;
  size_t n_ways;
  DemurReleasedWay *ways; /* [n_ways] */
} DemurReleases;

/* For the scans in rows [n]. up_to: the last way that is looked at; NULL: all. */
DemurReleases *demur_releases_new(const DemurCohort *cohort, const guint32 *rows, size_t n,
                                  const char *up_to);
void demur_releases_free(DemurReleases *releases);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurReleases, demur_releases_free)

/* The way of that name (borrowed); NULL: there is none. */
const DemurReleasedWay *demur_releases_find(const DemurReleases *releases, const char *name);
/* Whether the scans of the group are withheld; FALSE for a group that is not there. */
gboolean demur_released_way_withholds(const DemurReleasedWay *release, const char *text);
/* The same of its counts of each label. */
gboolean demur_released_way_withholds_labels(const DemurReleasedWay *release, const char *text);

G_END_DECLS
