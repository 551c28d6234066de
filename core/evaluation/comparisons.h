/* Differences between selectors and baselines, and what they show. */
#pragma once

#include "evaluation/trials.h"

G_BEGIN_DECLS

/* Appends, for every measure, the difference between each selector (and mc) and each baseline of
 * the replicates' methods, paired by replicate. results [n_methods]: theirs. */
void demur_comparisons_add(const DemurReplicates *replicates, const DemurMethodResult *results,
                           DemurEvaluation *evaluation);

G_END_DECLS
