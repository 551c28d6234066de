/* Where a selector helps: at every site of an evaluation, whether what it accepts is better calibrated
 * than what plain confidence accepts. This tells of the sites at hand, whose patients are resampled;
 * of other sites only comparisons over sites can (evaluation/comparisons.h). */
#pragma once

#include "base/parallel.h"
#include "evaluation/replicates.h"

G_BEGIN_DECLS

/* setup, methods: of the scans of one site alone; of them `selector` against `confidence` (indices).
 * results [n_methods]: their areas. The verdict is left to demur_site_contrasts_judge. parallel may
 * be NULL. */
void demur_site_contrast_fill(const DemurExtraSetup *setup, const GPtrArray *methods,
                              size_t selector, size_t confidence, const DemurGroupMethod *results,
                              guint64 seed, size_t n_bootstrap, DemurParallel *parallel,
                              DemurSiteContrast *contrast);

/* Fills the verdicts: better or worse where the intervals of the plain and of the debiased error lie
 * on that side of 0 and the difference stands behind a correction for the number of sites (Holm
 * 1979, one family a selector and kind of risk); undecided where there is no interval. */
void demur_site_contrasts_judge(DemurEvaluation *evaluation);

G_END_DECLS
