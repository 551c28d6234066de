/* Differences between selectors and baselines, and what they show. */
#pragma once

#include "evaluation/trials.h"

G_BEGIN_DECLS

/* Appends, for every measure, the difference between each selector (and mc) and each baseline of
 * the replicates' methods, paired by replicate, and that between confidence and everything;
 * with_first: between each further selector and the first method too.
 * results [n_methods]: theirs. Verdicts are left to demur_comparisons_judge. */
void demur_comparisons_add(const DemurReplicates *replicates, const DemurMethodResult *results,
                           gboolean with_first, DemurEvaluation *evaluation);

/* The point value of what is compared. */
double demur_compared_point(const DemurMethodResult *result, DemurCompared measure);

/* Fills the verdicts of all comparisons of the evaluation together. The headline, the first
 * selector's S-BCE_2 against confidence's (headline: its name in the results), is judged by its 95 %
 * intervals; all others are corrected for their number (Holm 1979, over pairs, by the ratio of
 * difference to standard error, of squares too where roots are compared, against Student's distribution with n_units - 1 degrees of freedom;
 * the intervals that are shown stay 95 % each). The plain and the debiased error stand and fall
 * together: neither is better or worse unless both are. With fewer than DEMUR_FEW_SITES sites
 * nothing can be decided about other hospitals. */
void demur_comparisons_judge(DemurEvaluation *evaluation, const char *headline);

G_END_DECLS
