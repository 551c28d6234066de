/* Intervals of shown risks (selector/risk-interval.h) on hospitals whose outcomes are known: do
 * they hold, and what is gained by holding back the risks whose interval holds a decision
 * threshold, beside a selector's refusals and plain confidence at the same coverage. K = 2. */
#pragma once

#include "evaluation/evaluate.h"

G_BEGIN_DECLS

/* Appends what it found of each selector [n_selectors] (named so, with their decision thresholds:
 * decisions, 0 or NULL: e's threshold of net benefit) to e. The sample has the risks that the
 * selectors show at the sites of cohort; methods: its selectors first, then full and confidence;
 * sites [cohort->n_sites]: audits, or NULL. O(n_selectors n). */
void demur_hold_back_add(DemurSelector *const *selectors, char *const *names,
                         const double *decisions, size_t n_selectors, gboolean recalibrated,
                         const DemurCohort *cohort, const DemurEvaluateSite *sites,
                         const DemurSample *sample, const GPtrArray *methods, DemurEvaluation *e);

G_END_DECLS
