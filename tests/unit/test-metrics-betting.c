/* Bets on a ratio of means. Right values: products worked by hand, laws of a supermartingale, and
 * simulated coverage with its binomial error. */
#include <math.h>

#include "base/random.h"
#include "metrics/betting.h"
#include "support/support.h"

static void
test_products_by_hand(void) {
  /* y = 1, r = .2, rho0 = .8, bounds 1 and .5: x = .84 / .4 = 2.1; then y = 0, r = .5: x = -1. */
  DemurBet bet = demur_bet_new(DEMUR_BET_ABOVE, 0.8, (DemurBetBounds){1.0, 0.5}, 0.5);
  demur_bet_add(&bet, 1.0, 1.0, 0.2);
  g_assert_cmpfloat_with_epsilon(bet.fortunes[0], 0.5 * (1.0 + 0.5 * 2.1), 1e-15);
  demur_bet_add(&bet, 1.0, 0.0, 0.5);
  g_assert_cmpfloat_with_epsilon(bet.fortunes[0], 0.5 * 2.05 * 0.5, 1e-15);
  DemurBet other = demur_bet_new(DEMUR_BET_BELOW, 1.25, (DemurBetBounds){2.0, 0.5}, 0.5);
  demur_bet_add(&other, 2.0, 1.0, 0.2); /* x = -2 (1 - .25) / 2 = -.75 */
  g_assert_cmpfloat_with_epsilon(other.fortunes[0], 0.5 * (1.0 - 0.5 * 0.75), 1e-15);
}

static void
test_a_fortune_begins_at_one_and_is_never_negative(void) {
  for (int side = DEMUR_BET_ABOVE; side <= DEMUR_BET_BELOW; side++) {
    DemurBet bet = demur_bet_new((DemurBetSide)side, 1.0, (DemurBetBounds){1.0, 1.0}, 1.0);
    g_assert_cmpfloat_with_epsilon(demur_bet_value(&bet), 1.0, 1e-12);
    for (int i = 0; i < 1000; i++) {
      demur_bet_add(&bet, 1.0, side == DEMUR_BET_ABOVE ? 0.0 : 1.0, 1.0);
      g_assert_cmpfloat(demur_bet_value(&bet), >=, 0.0);
    }
  }
}

/* A stake that grows fastest for outcomes as the risks say: half of Kelly's rule for one risk,
 * x = (1 - rho0 r) / (rho0 b) with chance r, else -r / b. */
static void
test_fraction_of_one_risk(void) {
  const double r = 0.2, rho0 = 0.8, b = 0.2, weight = 1.0;
  const double win = (1.0 - rho0 * r) / (rho0 * b), loss = r / b;
  const double kelly = r / loss - (1.0 - r) / win; /* p / a - q / b of the binary bet */
  const double fraction =
      demur_bet_fraction(DEMUR_BET_ABOVE, rho0, (DemurBetBounds){1.0, b}, 1.0, &weight, &r, 1);
  g_assert_cmpfloat_with_epsilon(fraction, kelly, 1e-9);
}

/* The interval holds its ratio, does not hang on the order of the pairs beyond rounding, and
 * shrinks. */
static void
test_interval(void) {
  enum { N = 4000 };
  g_autofree double *weights = g_new(double, N), *labels = g_new(double, N),
                    *risks = g_new(double, N);
  DemurRandom random = demur_random_stream(3, DEMUR_STREAM_TEST, 0, 0, 0);
  for (size_t i = 0; i < N; i++) {
    risks[i] = 0.05 + 0.4 * demur_random_uniform(&random);
    labels[i] = demur_random_uniform(&random) < risks[i] ? 1.0 : 0.0;
    weights[i] = 1.0;
  }
  const DemurBetBounds bounds = {1.0, 0.45};
  double wide = INFINITY;
  for (size_t n = 250; n <= N; n *= 2) {
    double low, high, turned_low, turned_high;
    demur_bet_interval(&(DemurBetPairs){n, weights, labels, risks}, bounds, 0.1, 0.1, 0.05, &low,
                       &high);
    g_assert_cmpfloat(low, <, 1.0);
    g_assert_cmpfloat(high, >, 1.0);
    g_assert_cmpfloat(high - low, <, wide);
    wide = high - low;
    g_autofree double *turned_labels = g_new(double, n), *turned_risks = g_new(double, n);
    for (size_t i = 0; i < n; i++) {
      turned_labels[i] = labels[n - 1 - i];
      turned_risks[i] = risks[n - 1 - i];
    }
    demur_bet_interval(&(DemurBetPairs){n, weights, turned_labels, turned_risks}, bounds, 0.1, 0.1,
                       0.05, &turned_low, &turned_high);
    g_assert_cmpfloat_with_epsilon(low, turned_low, 1e-9);
    g_assert_cmpfloat_with_epsilon(high, turned_high, 1e-9);
  }
}

/* P(M ever >= 1 / alpha) <= alpha at the truth, looked at after every pair; 600 runs at alpha .1:
 * at most 60 + 3 sqrt(54) = 82. Not idle either: at a ratio of 1.6 most runs are won. */
static void
test_ville(void) {
  enum { RUNS = 600, N = 400 };
  guint n_false = 0, n_true = 0;
  for (guint run = 0; run < RUNS; run++) {
    DemurRandom random = demur_random_stream(5, DEMUR_STREAM_TEST, 1, run, 0);
    DemurBet truth = demur_bet_new(DEMUR_BET_ABOVE, 1.0, (DemurBetBounds){1.0, 0.5}, 0.1);
    DemurBet wrong = truth;
    gboolean falsely = FALSE, rightly = FALSE;
    for (int i = 0; i < N; i++) {
      const double r = 0.5 * demur_random_uniform(&random), u = demur_random_uniform(&random);
      demur_bet_add(&truth, 1.0, u < r ? 1.0 : 0.0, r);
      demur_bet_add(&wrong, 1.0, u < 1.6 * r ? 1.0 : 0.0, r);
      falsely |= demur_bet_value(&truth) >= 10.0;
      rightly |= demur_bet_value(&wrong) >= 10.0;
    }
    n_false += falsely ? 1 : 0;
    n_true += rightly ? 1 : 0;
  }
  g_test_message("false %u, true %u of %d", n_false, n_true, RUNS);
  g_assert_cmpuint(n_false, <=, 82);
  g_assert_cmpuint(n_true, >=, RUNS * 9 / 10);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/betting/products-by-hand", test_products_by_hand);
  g_test_add_func("/betting/a-fortune-begins-at-one",
                  test_a_fortune_begins_at_one_and_is_never_negative);
  g_test_add_func("/betting/fraction-of-one-risk", test_fraction_of_one_risk);
  g_test_add_func("/betting/interval", test_interval);
  g_test_add_func("/betting/ville", test_ville);
  return g_test_run();
}
