/* What labels of new sites are worth, by their number: site audits with the first 0, 10, 25, 50
 * and 100 labels of each site, measured on scans that none of them labelled. K = 2. */
#pragma once

#include "evaluation/evaluate.h"

G_BEGIN_DECLS

/* The scans that are measured, none of them labelled. Borrowed. */
typedef struct {
  size_t n;
  const guint32 *rows;   /* [n] of the view */
  const double *scores;  /* [n] of the selector */
  const double *weights; /* [n] of their outcomes (selector/outcome-weights.h); NULL: 1 */
} DemurAuditMeasured;

/* Fills e's audit curve. labels [n_labels] of the sites that were audited; view: the risks before any
 * audit. Labels are taken in an order drawn by the seed; a site with fewer gives what it has.
 * O(sites x audits). */
void demur_audit_curve_fill(const DemurSelector *selector, const DemurCohort *view,
                            const DemurEvaluateLabel *labels, size_t n_labels,
                            const DemurAuditMeasured *measured, guint64 seed, DemurEvaluation *e);

G_END_DECLS
