/* The equations are in betting.h. The grid is geometric, 1 down to 10^-3. */
#include "metrics/betting.h"

#include <math.h>

#define N_GRID (DEMUR_BET_STAKES - 1)
#define LEAST_FRACTION 1e-3
/* A fraction of 1 loses all on the worst pair: slightly less leaves something. */
#define MOST_FRACTION 0.99

/* What one pair returns on a stake of 1: at least -1. */
static inline double
gain(DemurBetSide side, double rho0, DemurBetBounds bounds, double weight, double outcome,
     double risk) {
  const double difference = weight * (outcome - rho0 * risk);
  return side == DEMUR_BET_ABOVE ? difference / (rho0 * bounds.risk) : -difference / bounds.outcome;
}

DemurBet
demur_bet_new(DemurBetSide side, double rho0, DemurBetBounds bounds, double fraction) {
  DemurBet bet = {.side = side, .rho0 = rho0, .bounds = bounds};
  bet.fractions[0] = CLAMP(fraction, LEAST_FRACTION, MOST_FRACTION);
  for (size_t j = 0; j < N_GRID; j++)
    bet.fractions[1 + j] =
        MOST_FRACTION * pow(LEAST_FRACTION / MOST_FRACTION, (double)j / (N_GRID - 1));
  bet.fortunes[0] = 0.5;
  for (size_t j = 1; j < DEMUR_BET_STAKES; j++)
    bet.fortunes[j] = 0.5 / N_GRID;
  return bet;
}

void
demur_bet_add(DemurBet *bet, double weight, double outcome, double risk) {
  const double x = gain(bet->side, bet->rho0, bet->bounds, weight, outcome, risk);
  for (size_t j = 0; j < DEMUR_BET_STAKES; j++)
    bet->fortunes[j] *= 1.0 + bet->fractions[j] * x;
}

double
demur_bet_value(const DemurBet *bet) {
  double sum = 0.0;
  for (size_t j = 0; j < DEMUR_BET_STAKES; j++)
    sum += bet->fortunes[j];
  return sum;
}

/* d/dc of the mean of log(1 + c x), y being 1 with probability rho r. */
static double
growth_slope(DemurBetSide side, double rho0, DemurBetBounds bounds, double rho,
             const double *weights, const double *risks, size_t n, double fraction) {
  double slope = 0.0;
  for (size_t i = 0; i < n; i++) {
    const double p = fmin(rho * risks[i], 1.0);
    const double one = gain(side, rho0, bounds, weights[i], 1.0, risks[i]);
    const double zero = gain(side, rho0, bounds, weights[i], 0.0, risks[i]);
    slope += p * one / (1.0 + fraction * one) + (1.0 - p) * zero / (1.0 + fraction * zero);
  }
  return slope;
}

double
demur_bet_fraction(DemurBetSide side, double rho0, DemurBetBounds bounds, double rho,
                   const double *weights, const double *risks, size_t n) {
  double low = LEAST_FRACTION, high = MOST_FRACTION;
  /* The growth is concave in the fraction: one change of sign. */
  for (int step = 0; step < 50; step++) {
    const double middle = 0.5 * (low + high);
    if (growth_slope(side, rho0, bounds, rho, weights, risks, n, middle) > 0.0)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* M_n of all pairs against rho0. */
static double
value_at(DemurBetSide side, double rho0, DemurBetBounds bounds, double fraction,
         const double *weights, const double *outcomes, const double *risks, size_t n) {
  DemurBet bet = demur_bet_new(side, rho0, bounds, fraction);
  for (size_t i = 0; i < n; i++)
    demur_bet_add(&bet, weights[i], outcomes[i], risks[i]);
  return demur_bet_value(&bet);
}

void
demur_bet_interval(const DemurBetPairs *pairs, DemurBetBounds bounds, double fraction_above,
                   double fraction_below, double alpha, double *low, double *high) {
  const size_t n = pairs->n;
  const double *weights = pairs->weights, *outcomes = pairs->outcomes, *risks = pairs->risks;
  *low = *high = NAN;
  if (n == 0)
    return;
  const double limit = 2.0 / alpha;
  /* In log rho0: M(above) falls with it, M(below) grows with it. */
  const double widest = log(1e4);
  double from = -widest, to = widest;
  if (value_at(DEMUR_BET_ABOVE, exp(from), bounds, fraction_above, weights, outcomes, risks, n) <
      limit) {
    *low = 0.0;
  } else {
    for (int step = 0; step < 60; step++) {
      const double middle = 0.5 * (from + to);
      if (value_at(DEMUR_BET_ABOVE, exp(middle), bounds, fraction_above, weights, outcomes, risks,
                   n) >= limit)
        from = middle;
      else
        to = middle;
    }
    *low = exp(from);
  }
  from = -widest;
  to = widest;
  if (value_at(DEMUR_BET_BELOW, exp(to), bounds, fraction_below, weights, outcomes, risks, n) <
      limit) {
    *high = INFINITY;
    return;
  }
  for (int step = 0; step < 60; step++) {
    const double middle = 0.5 * (from + to);
    if (value_at(DEMUR_BET_BELOW, exp(middle), bounds, fraction_below, weights, outcomes, risks,
                 n) >= limit)
      to = middle;
    else
      from = middle;
  }
  *high = exp(to);
}
