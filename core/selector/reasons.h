/* Why a verdict: what of the scan lowers its score, and what became of training scans like it. */
#pragma once

#include "selector/selector.h"

G_BEGIN_DECLS

typedef struct DemurReasoner DemurReasoner;

/* Describes the training scans that the threshold accepts (all of them where it accepts none).
 * selector is borrowed for the reasoner's life. Immutable: any number of threads may explain at the
 * same time. */
DemurReasoner *demur_reasoner_new(const DemurSelector *selector, double threshold);
void demur_reasoner_free(DemurReasoner *reasoner);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurReasoner, demur_reasoner_free)

/* Up to n_most sentences on one scan's raw meta features [n_columns], the one that lowers the score
 * most first, and behind them one on the training scans most like it (where the selector keeps
 * any). At least one; NULL-terminated, owned. */
char **demur_reasoner_explain(const DemurReasoner *reasoner, const double *meta, size_t n_most);

/* The same with the scan itself at hand, for how it was made in its own words ("kernel B70f was in
 * 0.2 % of the training scans"); scan NULL: as above, without those words. */
char **demur_reasoner_explain_scan(const DemurReasoner *reasoner, const double *meta,
                                   const DemurAcquisitionScan *scan, size_t n_most);

/* What the sentences are made of, for tests and the workstation: the change of g~ when a group of
 * meta features is put to the accepted scans' median, contributions [demur_reasoner_n_groups]. */
size_t demur_reasoner_n_groups(const DemurReasoner *reasoner);
const char *demur_reasoner_group_title(const DemurReasoner *reasoner, size_t group);
void demur_reasoner_contributions(const DemurReasoner *reasoner, const double *meta,
                                  double *contributions);

/* The training scans most like one scan (Euclidean in the standardised inputs), at most 50. */
typedef struct {
  size_t n;
  double mean_risk, observed, low, high; /* observed share with 95 % Wilson interval */
  size_t n_sites,
      n_sites_over; /* sites among them, and at how many the mean risk exceeds the observed share */
} DemurSimilarScans;

DemurSimilarScans demur_reasoner_similar(const DemurReasoner *reasoner, const double *meta);

G_END_DECLS
