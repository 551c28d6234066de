/* The methods behind a report's numbers, by family, and how often each was defined anew: the one
 * table that the report's JSON names ("method_revisions") and that `report verify` goes by. Who
 * changes what a measure is, so that the same scans give another number, raises the revision here;
 * tests/commands/test-commands-revisions.c holds the numbers of each. */
#pragma once

#include "base/json-writer.h"
#include "report/verify.h"

G_BEGIN_DECLS

typedef enum {
  DEMUR_FAMILY_COMPARISONS, /* first: what they are of is in other families too */
  DEMUR_FAMILY_BINS,        /* errors of equal-mass bins, and what they are debiased by */
  DEMUR_FAMILY_SCORES,
  DEMUR_FAMILY_SITE_ERROR,
  DEMUR_FAMILY_KERNEL,
  DEMUR_FAMILY_FITS,
  DEMUR_FAMILY_SMOOTH,
  DEMUR_FAMILY_NET_BENEFIT,
  DEMUR_FAMILY_INTERVALS,
  DEMUR_FAMILY_HETEROGENEITY,
  DEMUR_FAMILY_TIMES,
  DEMUR_FAMILY_HOLD_BACK,
  DEMUR_FAMILY_WATCHES,
  DEMUR_FAMILY_ACCEPTANCES,
  DEMUR_FAMILY_WITHHOLDING,
  DEMUR_FAMILY_COUNTED,
  DEMUR_N_FAMILIES,
} DemurMethodFamily;

typedef struct {
  const char *name;           /* in the JSON: "calibration_fits" */
  const char *title;          /* for people: "calibration in the large, intercept and slope" */
  int revision;               /* from 1 */
  const char *const *members; /* of the JSON; each stands for what is in it and for its interval */
  gboolean withholds;         /* explains that a number is there on one side alone */
} DemurMethodFamilyRow;

const DemurMethodFamilyRow *demur_method_family_row(DemurMethodFamily family);

/* "method_revisions": {name: revision, ..}. */
void demur_method_revisions_write(DemurJson *json);

/* The revision that a report (its root object) names; 1 where it names none: it was written before
 * they were kept. */
int demur_method_revision_of(JsonObject *report, DemurMethodFamily family);

/* Whether a difference is in a number of the family. */
gboolean demur_method_family_holds(DemurMethodFamily family, const DemurReportDifference *d);

G_END_DECLS
