/* How well the risk can be guessed from what is said of scans in its place: the reader who keeps
 * books. Each scan has a list of statements; an attacker who knows risk and list of many scans
 * guesses the risks of others.
 *
 *   r^ = mean + sum_p effect[p, list[p]] + effect[the list] + effect[the list in any order]
 *
 * fitted by ridge regression on these indicators (block coordinate descent), five folds, so that
 * each scan is guessed by a fit without it. Method: an ablation of one's own output as in attribute
 * inference (Fredrikson et al. 2014); what is done differently: lists are few and short, so the
 * whole list is an indicator too and no interaction is missed. O(sweeps x n x length) vectors. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define DEMUR_GUESS_NONE G_MAXUINT32 /* no statement at this place of a list */

/* Share of the variance of targets [n] that is guessed from lists [n][length], out of fold: at most
 * 1, 0 where nothing is (below 0: worse than their mean), 0 where all targets are the same. Of n_targets >= 1 the one of which most is. */
double demur_reason_guess(const guint32 *lists, size_t n, size_t length,
                          const double *const *targets, size_t n_targets);

G_END_DECLS
