/* g~ by a selector's networks: the mean of what each gives. */
#pragma once

#include "selector/selector-private.h"

G_BEGIN_DECLS

/* scores [n] of scans meta [n][columns] by the networks of one model of the selector. */
void demur_network_scores(const DemurSelector *selector, const DemurSelectorModel *model,
                          const double *meta, size_t n, double *scores);

/* The same where only low ones matter: those of the n_low lowest scans (at least 1) and all below a limit. Another scan's may be lower than
 * its score, and is still above both. */
void demur_network_lowest_scores(const DemurSelector *selector, const DemurSelectorModel *model,
                                 const double *meta, size_t n, size_t n_low, double below,
                                 double *scores);

G_END_DECLS
