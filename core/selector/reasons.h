/* Why a verdict: what of the scan lowers its score, and what became of training scans like it. */
#pragma once

#include "selector/reason.h"
#include "selector/selector.h"

G_BEGIN_DECLS

/* Share of the variance of held-back risks that their reasons, as they are told, may let guess on
 * the training scans. What is promised is .05 on scans of hospitals not seen: with .02 here the
 * reasons of how a scan was made let .08 be guessed there, with .005 .05004, with this nothing is
 * told of them there (commands-guess). */
#define DEMUR_REASON_TELLING 0.002

typedef struct DemurReasoner DemurReasoner;

/* Describes the training scans that the threshold accepts (all of them where it accepts none), once a scan is explained, for
 * explanations of up to n_most reasons (at least 1). selector is borrowed for the reasoner's life.
 * Any number of threads may explain at the same time. */
DemurReasoner *demur_reasoner_new(const DemurSelector *selector, double threshold, size_t n_most);
void demur_reasoner_free(DemurReasoner *reasoner);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurReasoner, demur_reasoner_free)

/* Why one scan of these raw meta features [n_columns] has its score (an array that owns its
 * DemurReason, at least one, the one that lowers the score most first): up to n_most of those that
 * don't tell the risk and up to n_most of those that do, each what alone was put to what is typical
 * of the accepted training scans; behind them the training scans most like it, by site and by
 * outcome (where the selector keeps any and knows their sites); then what surrounds the verdict: how
 * the scan was made beside the training scans where the selector does not read it, and for what this
 * selector refuses scans. scan: how it was made, in its own words; NULL: without them. */
GPtrArray *demur_reasoner_explain(const DemurReasoner *reasoner, const double *meta,
                                  const DemurAcquisitionScan *scan);

/* Whether a meta feature of that name may be given as the reason of a risk that is held back. */
gboolean demur_reasoner_may_tell(const DemurReasoner *reasoner, const char *name);

G_END_DECLS
