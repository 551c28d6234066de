/* Several random streams side by side, a vector's lane each. */
#pragma once

#include "base/random.h"

G_BEGIN_DECLS

#define DEMUR_RANDOM_LANES 8

/* bits [n][DEMUR_RANDOM_LANES]: the next n numbers of each of n_lanes <= DEMUR_RANDOM_LANES streams, as
 * demur_random_bits gives them; the other columns are 0. The streams go on behind them. */
void demur_random_bits_of_lanes(DemurRandom *randoms, size_t n_lanes, size_t n, guint64 *bits);

G_END_DECLS
