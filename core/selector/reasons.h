/* Why a verdict: what of the scan lowers its score, and what became of training scans like it. */
#pragma once

#include "selector/reason.h"
#include "selector/selector.h"

G_BEGIN_DECLS

typedef struct DemurReasoner DemurReasoner;

/* Describes the training scans that the threshold accepts (all of them where it accepts none).
 * selector is borrowed for the reasoner's life. Immutable: any number of threads may explain at the
 * same time. */
DemurReasoner *demur_reasoner_new(const DemurSelector *selector, double threshold);
void demur_reasoner_free(DemurReasoner *reasoner);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurReasoner, demur_reasoner_free)

/* Why one scan of these raw meta features [n_columns] has its score (an array that owns its
 * DemurReason, at least one, the one that lowers the score most first): up to n_most of those that
 * don't tell the risk and up to n_most of those that do, each called by the meta feature that moves
 * the score when it is put to the accepted scans' median; and behind them one on the training scans
 * most like it (where the selector keeps any). scan: how it was made, in its own words; NULL:
 * without them. */
GPtrArray *demur_reasoner_explain(const DemurReasoner *reasoner, const double *meta,
                                  const DemurAcquisitionScan *scan, size_t n_most);

G_END_DECLS
