/* Intervals of shown risks (selector/risk-interval.h) on hospitals whose outcomes are known: do
 * they hold, and what is gained by holding back the risks whose interval holds a decision
 * threshold, beside a selector's refusals and plain confidence at the nearest coverage that may be
 * told. K = 2. */
#pragma once

#include "evaluation/evaluate.h"

G_BEGIN_DECLS

typedef struct {
  size_t n_selectors;
  DemurSelector *const *selectors; /* [n_selectors] */
  char *const *names;              /* [n_selectors] */
  const double *decisions;         /* [n_selectors] thresholds; 0 or NULL: that of net benefit */
  gboolean recalibrated;
  const DemurCohort *cohort;
  const DemurEvaluateSite *sites; /* [cohort->n_sites] audits; NULL: none */
  const DemurSample *sample;      /* with the risks that the selectors show at the cohort's sites */
  const GPtrArray *methods;       /* its selectors first, then full and confidence */
  /* For people (evaluation/point-releases.h): others are at the canonical coverage nearest to the
   * rule's, and what the rule itself is worth is in steps of DEMUR_SMALL_CELL outcomes. */
  gboolean released;
} DemurHoldBackInput;

/* Appends what it found of each selector to e. O(n_selectors n). */
void demur_hold_back_add(const DemurHoldBackInput *input, DemurParallel *parallel,
                         DemurEvaluation *e);

G_END_DECLS
