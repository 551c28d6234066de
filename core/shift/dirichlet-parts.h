/* How [0, 2^32) is divided among groups whose weights are drawn: what 32 random bits choose a group by. */
#pragma once

#include "base/random.h"

G_BEGIN_DECLS

/* ends [n]: group g has [ends[g - 1], ends[g]), floor(2^32 (w_0 + .. + w_g)) of the weights that demur_random_dirichlet
 * gives of that stream, added in their order; the last one ends at 2^32. The stream goes on behind them. scratch
 * [DEMUR_DIRICHLET_SCRATCH(n)], aligned as demur_new_array. */
void demur_dirichlet_parts(DemurRandom *random, double alpha, size_t n, double *scratch,
                           guint64 *ends);

#define DEMUR_DIRICHLET_SCRATCH(n) ((n) + 8)

/* Its quick way, for alpha 1: FALSE, with the stream where it was, where rounding could decide an end. */
gboolean demur_dirichlet_parts_at_once(DemurRandom *random, size_t n, double *scratch,
                                       guint64 *ends);

G_END_DECLS
