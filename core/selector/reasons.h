/* Why a verdict: the meta features that lie farthest from those of the accepted training scans. */
#pragma once

#include "selector/selector.h"

G_BEGIN_DECLS

typedef struct DemurReasoner DemurReasoner;

/* Describes the training scans that the threshold accepts (all of them where it accepts none).
 * selector is borrowed for the reasoner's life. */
DemurReasoner *demur_reasoner_new(const DemurSelector *selector, double threshold);
void demur_reasoner_free(DemurReasoner *reasoner);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurReasoner, demur_reasoner_free)

/* Up to n_most sentences for one scan's raw meta features [n_columns], the farthest first; at least
 * one. NULL-terminated, owned. */
char **demur_reasoner_explain(const DemurReasoner *reasoner, const double *meta, size_t n_most);

G_END_DECLS
