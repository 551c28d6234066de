/* Betting on a ratio of means: e-processes and confidence sequences that hold at every look.
 *
 * For pairs (y, r) with weights w, rho = E[w y] / E[w r]: the observed over the expected number
 * where y is an outcome and r a risk. A gambler who believes rho > rho0 stakes the fraction c of a
 * fortune on each pair,
 *
 *   M_n(rho0, above) = sum_j p_j prod_i (1 + c_j w_i (y_i - rho0 r_i) / (rho0 b)),  b >= w r,
 *
 * and one who believes rho < rho0
 *
 *   M_n(rho0, below) = sum_j p_j prod_i (1 - c_j w_i (y_i - rho0 r_i) / a),          a >= w y.
 *
 * No factor is negative and, while the bet is against the truth or at it, none has a mean above 1:
 * M is a nonnegative supermartingale that begins at 1, so P(M ever >= 1 / alpha) <= alpha (Ville).
 * No assumption on how y hangs on r is needed, only that the pairs are independent draws from one
 * population. Every rho0 with M(above) < 2 / alpha and M(below) < 2 / alpha makes a confidence
 * sequence: it holds rho at all n at once with probability 1 - alpha. Source: Waudby-Smith and
 * Ramdas, "Estimating means of bounded random variables by betting" (JRSS B 2024); the ratio, and
 * the mixture over fixed fractions in place of predicted ones, are ours: a mixture of products does
 * not hang on the order of the pairs, and is monotone in rho0, so an interval is two bisections.
 *
 * Stakes: half of the fortune on one fraction chosen before any y is seen (demur_bet_fraction),
 * half over a grid of fractions. Cost: O(DEMUR_BET_STAKES) a pair. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define DEMUR_BET_STAKES 17

typedef enum { DEMUR_BET_ABOVE, DEMUR_BET_BELOW } DemurBetSide;

/* A population's bounds: least upper bounds of w y and of w r, known before any y. */
typedef struct {
  double outcome, risk;
} DemurBetBounds;

/* A running bet against one rho0 > 0. Plain data; copied by assignment. */
typedef struct {
  DemurBetSide side;
  double rho0;
  DemurBetBounds bounds;
  double fractions[DEMUR_BET_STAKES];
  double fortunes[DEMUR_BET_STAKES]; /* each stake's share and what became of it; 0 or infinity
                                      * where a double can't hold it, which decides alike */
} DemurBet;

/* fraction: the half of the fortune's, in (0, 1]. */
DemurBet demur_bet_new(DemurBetSide side, double rho0, DemurBetBounds bounds, double fraction);

void demur_bet_add(DemurBet *bet, double weight, double outcome, double risk);

/* M_n. */
double demur_bet_value(const DemurBet *bet);

/* The fraction in (0, 1] under which the fortune grows fastest against rho0 where each y is 1 with
 * probability rho r: maximises the mean over the n pairs of log(1 + c x). Where the bet is not in
 * favour (rho on the wrong side of rho0) the least fraction of the grid. */
double demur_bet_fraction(DemurBetSide side, double rho0, DemurBetBounds bounds, double rho,
                          const double *weights, const double *risks, size_t n);

/* What was bet on, in order. */
typedef struct {
  size_t n;
  const double *weights, *outcomes, *risks; /* [n] */
} DemurBetPairs;

/* Confidence sequence of rho at level 1 - alpha from the pairs, the same at every n. fraction_above
 * and fraction_below: as given to bets above and below. *low is 0 and *high infinity where nothing
 * is excluded. NaN for n = 0. */
void demur_bet_interval(const DemurBetPairs *pairs, DemurBetBounds bounds, double fraction_above,
                        double fraction_below, double alpha, double *low, double *high);

G_END_DECLS
