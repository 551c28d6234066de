/* What labels of new sites are worth, by their number: site audits with the first 0, 10, 25, 50
 * and 100 labels of each site, measured on scans that none of them labelled. K = 2. */
#pragma once

#include "evaluation/evaluate.h"

G_BEGIN_DECLS

/* Fills e's audit curve. labels [n_labels] of the sites that were audited; rows [n_rows]: the
 * scans that are measured, none of them labelled; view: the risks before any audit; scores
 * [n_rows] of the selector; weights [n_rows] of their outcomes, NULL: 1. Labels are taken in an order drawn by the seed; a site with fewer gives
 * what it has. O(sites x audits). */
void demur_audit_curve_fill(const DemurSelector *selector, const DemurCohort *view,
                            const DemurEvaluateLabel *labels, size_t n_labels, const guint32 *rows,
                            const double *scores, const double *weights, size_t n_rows,
                            guint64 seed, DemurEvaluation *e);

G_END_DECLS
