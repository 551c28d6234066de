/* Does what comes still come from where the reference came from? A test that may be looked at after
 * every patient, for ever.
 *
 * Values z_1 .. z_N: the reference first, then the stream in its order. The place of a new value
 * among all up to it, ties broken by a draw u,
 *
 *   p_i = (#{j <= i: z_j < z_i} + u_i #{j <= i: z_j = z_i}) / i
 *
 * is uniform on (0, 1) and independent of the places before wherever the values are exchangeable,
 * whatever their distribution: no estimate of the reference is taken for the truth. A gambler who
 * stakes a fortune on densities f_i that hang on earlier places alone has
 *
 *   B_k(n) = prod_{k < i <= n} f_i(p_i),        M(n) = sum_k w_k B_k(n),  sum_k w_k = 1,
 *
 * where k is a patient behind whom something may have changed (every DEMUR_EXCHANGE_BLOCK-th) and
 * capital that has not begun stays what it is. M is a nonnegative martingale that begins at 1:
 * P(M ever >= 1 / alpha) <= alpha (Ville). Source: Vovk, Gammerman and Shafer, "Algorithmic Learning
 * in a Random World" (2nd ed., 2022), chapter 8; Vovk, Nouretdinov and Gammerman, "Testing
 * exchangeability on-line" (ICML 2003). Bets: half on histograms that learn by counting, over a
 * partition into bins b of widths v_b with a places imagined as the null has them, f = (n_b / v_b + a)
 * / (n + a), a = 8 and 64, of four and ten equal bins, of bins that are small at both ends, and of the
 * caller's (the shares of a category); half on fixed shapes: slopes 1 + c (2 p - 1), bowls 1 + c (3 (2 p
 * - 1)^2 - 1) / 2 and ends q p^(q - 1). A caller who knows what a change would do to
 * the places brings shapes of that (DemurExchangeShapes), which have nothing to learn. The sum over
 * beginnings in place of a restart when the fortune is low is ours: the guarantee is for all time,
 * and a late change costs a logarithm. w_k = K / ((k + K) (k + K + 1)), K = DEMUR_EXCHANGE_EVEN, sums
 * to 1 and is near even over the first K blocks.
 *
 * Cost: places O(n log n) comparisons and O(n^2) bytes moved; bets O(n^2 / DEMUR_EXCHANGE_BLOCK). */
#pragma once

#include <glib.h>

#include "metrics/exchange-table.h"

G_BEGIN_DECLS

#define DEMUR_EXCHANGE_BLOCK 25
#define DEMUR_EXCHANGE_EVEN 40

/* Places [n] in [0, 1] of values [n], finite, behind reference [n_reference], finite; draws [n] in
 * (0, 1). Equal values are ties. */
void demur_exchange_places(const double *reference, size_t n_reference, const double *values,
                           const double *draws, size_t n, double *places);

#define DEMUR_EXCHANGE_MOST 1e100
#define DEMUR_EXCHANGE_BINS 12
#define DEMUR_EXCHANGE_SHAPES 16
#define DEMUR_EXCHANGE_SHAPE_BINS 32

/* w_k, and the sum of the weights from k on: what has not begun before block k. */
double demur_exchange_weight(size_t k);
double demur_exchange_weight_from(size_t k);

/* Densities of the caller's, chosen before any place is seen. */
typedef struct {
  double share; /* of the fortune that is staked on them, evenly, in [0, 1] */
  size_t n_shapes, n_bins;
  double ends[DEMUR_EXCHANGE_SHAPE_BINS]; /* [n_bins] ascending, the last one 1 */
  double densities[DEMUR_EXCHANGE_SHAPES][DEMUR_EXCHANGE_SHAPE_BINS]; /* [n_shapes][n_bins], each
                                                                       * with the integral 1 */
} DemurExchangeShapes;

/* M(i) behind each of the places [n] into evidence [n], at most DEMUR_EXCHANGE_MOST. edges [n_edges]:
 * ascending, in (0, 1), the ends of the caller's bins but for the last, chosen before any place is seen;
 * those beyond DEMUR_EXCHANGE_BINS - 1 are left out; may be NULL. shapes: NULL: none. Returns the number of
 * places behind which something most likely changed: the beginning whose share of M(n) is the largest; 0
 * for n = 0. */
size_t demur_exchange_evidence(const double *places, size_t n, const double *edges, size_t n_edges,
                               const DemurExchangeShapes *shapes, double *evidence);

/* As above, with other beginnings and stakes (watches that begin now; those above are kept for watches that
 * began with them). Mixtures over beginnings are Shiryaev's and Roberts's, with weights that sum to 1 in place of an
 * average run length (Shin, Ramdas and Rinaldo, "E-detectors", 2024, whose control is of that length): a beginning at every DEMUR_EXCHANGE_STEP-th patient; the table's share
 * of each fortune on its shapes, of which a beginning's gambler takes those of the share of patients who came behind
 * it among all, n_reference and the places up to then; the rest as above. A gambler who has less than
 * DEMUR_EXCHANGE_ASLEEP of the stake bets no more, which is itself a bet: so the cost is O(n) but for the patients
 * that this takes. table: NULL: none. */
#define DEMUR_EXCHANGE_STEP 10
#define DEMUR_EXCHANGE_ASLEEP 1e-3

/* How the weights of beginnings are spread: as above, near even over the first thousand patients; or evenly over the
 * first DEMUR_EXCHANGE_HORIZON patients, with DEMUR_EXCHANGE_LATER of all for those behind, w_k = LATER K / (k (k + 1)) for
 * k >= K, the steps of the horizon: a change is taken to be as likely early as late. */
typedef enum { DEMUR_EXCHANGE_EARLY, DEMUR_EXCHANGE_EVENLY } DemurExchangeSpread;
#define DEMUR_EXCHANGE_HORIZON 1500
#define DEMUR_EXCHANGE_LATER 0.3

size_t demur_exchange_follow(const double *places, size_t n, size_t n_reference,
                             const double *edges, size_t n_edges, const DemurExchangeTable *table,
                             DemurExchangeSpread spread, double *evidence);

/* Of its beginnings: w_k, and the sum of the weights from k on. */
double demur_exchange_step_weight(DemurExchangeSpread spread, size_t k);
double demur_exchange_step_weight_from(DemurExchangeSpread spread, size_t k);

G_END_DECLS
