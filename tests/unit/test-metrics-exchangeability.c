/* Places among earlier values, and bets on them. Right values: worked by hand, laws of a martingale,
 * a twin that keeps every beginning's products apart, and simulated years with their binomial error.
 */
#include <math.h>

#include "base/random.h"
#include "metrics/exchangeability.h"
#include "support/support.h"

/* Reference 1, 3, 3; then 3: one below, two ties and itself: (1 + .5 x 3) / 4. Then 0: none below,
 * itself alone: .25 / 5. Then 9: five below: (5 + .5) / 6. */
static void
test_places_by_hand(void) {
  const double reference[] = {3.0, 1.0, 3.0}, values[] = {3.0, 0.0, 9.0},
               draws[] = {0.5, 0.25, 0.5};
  double places[3];
  demur_exchange_places(reference, 3, values, draws, 3, places);
  g_assert_cmpfloat_with_epsilon(places[0], 2.5 / 4.0, 1e-15);
  g_assert_cmpfloat_with_epsilon(places[1], 0.25 / 5.0, 1e-15);
  g_assert_cmpfloat_with_epsilon(places[2], 5.5 / 6.0, 1e-15);
  demur_exchange_places(NULL, 0, values, draws, 1, places);
  g_assert_cmpfloat_with_epsilon(places[0], 0.5, 1e-15);
}

/* Nothing but order counts: a monotone change of all values changes no place. */
static void
test_places_hang_on_order_alone(void) {
  enum { N = 300 };
  double values[N], moved[N], draws[N], places[N], other[N];
  DemurRandom random = demur_random_stream(5, DEMUR_STREAM_TEST, 0, 0, 0);
  for (size_t i = 0; i < N; i++) {
    values[i] = floor(20.0 * demur_random_uniform(&random));
    moved[i] = exp(values[i]);
    draws[i] = demur_random_uniform(&random);
  }
  demur_exchange_places(values, 100, values + 100, draws, N - 100, places);
  demur_exchange_places(moved, 100, moved + 100, draws, N - 100, other);
  for (size_t i = 0; i < N - 100; i++)
    g_assert_cmpfloat(places[i], ==, other[i]);
}

/* The same bets in plain code: for each beginning each stake's product from its place on. */
static double
histogram(const double *p, size_t from, size_t n, const double *ends, size_t n_bins, double a) {
  double product = 1.0;
  for (size_t i = from; i < n; i++) {
    double low = 0.0, high = 1.0, same = 0.0;
    for (size_t b = 0; b < n_bins; b++) {
      if (ends[b] <= p[i])
        low = ends[b];
      if (ends[n_bins - 1 - b] > p[i])
        high = ends[n_bins - 1 - b];
    }
    for (size_t j = from; j < i; j++)
      same += p[j] >= low && p[j] < high;
    product *= (same / (high - low) + a) / ((double)(i - from) + a);
  }
  return product;
}

static double
twin(const double *p, size_t n, double edge) {
  static const double slopes[] = {-0.8, -0.35, 0.35, 0.8}, bowls[] = {-0.7, 1.2},
                      powers[] = {0.6, 0.3};
  const double partitions[4][10] = {{0.25, 0.5, 0.75, 1.0},
                                    {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0},
                                    {0.01, 0.03, 0.07, 0.15, 0.85, 0.93, 0.97, 0.99, 1.0},
                                    {edge, 1.0}};
  const size_t n_bins[] = {4, 10, 9, 2};
  double all = 0.0;
  for (size_t k = 0; k < 100000; k++) {
    const double w = 40.0 / ((double)(k + 40) * (double)(k + 41));
    const size_t from = k * 25;
    if (from >= n) { /* what is left has not begun */
      all += 40.0 / (double)(k + 40);
      break;
    }
    double sum = 0.0;
    for (size_t h = 0; h < 4; h++)
      for (size_t a = 0; a < 2; a++)
        sum += histogram(p, from, n, partitions[h], n_bins[h], a == 0 ? 8.0 : 64.0) / 16.0;
    for (size_t s = 0; s < 10; s++) {
      double product = 1.0;
      for (size_t i = from; i < n; i++) {
        const double x = 2.0 * p[i] - 1.0;
        product *= s < 4   ? 1.0 + slopes[s] * x
                   : s < 6 ? 1.0 + bowls[s - 4] * (1.5 * x * x - 0.5)
                           : powers[(s - 6) / 2] *
                                 pow(s % 2 == 0 ? p[i] : 1.0 - p[i], powers[(s - 6) / 2] - 1.0);
      }
      sum += product / 20.0;
    }
    all += w * sum;
  }
  return all;
}

static void
test_evidence_is_the_twins(void) {
  enum { N = 130 };
  double places[N], evidence[N];
  DemurRandom random = demur_random_stream(6, DEMUR_STREAM_TEST, 0, 0, 0);
  for (size_t i = 0; i < N; i++)
    places[i] = i < 60 ? demur_random_uniform(&random) : pow(demur_random_uniform(&random), 2.0);
  const double edge = 0.6;
  demur_exchange_evidence(places, N, &edge, 1, NULL, evidence);
  const size_t looks[] = {1, 24, 25, 26, 77, N};
  for (size_t l = 0; l < G_N_ELEMENTS(looks); l++) {
    const double right = twin(places, looks[l], edge);
    g_assert_cmpfloat(fabs(evidence[looks[l] - 1] / right - 1.0), <, 1e-9);
  }
}

/* Every bet is a density: over one uniform place the fortune keeps its mean. */
static void
test_a_fair_game(void) {
  enum { GRID = 20000 };
  double mean = 0.0;
  for (size_t g = 0; g < GRID; g++) {
    const double places[] = {0.9, 0.8, ((double)g + 0.5) / GRID};
    double evidence[3];
    demur_exchange_evidence(places, 3, NULL, 0, NULL, evidence);
    mean += evidence[2] / GRID;
  }
  const double before[] = {0.9, 0.8};
  double evidence[2];
  demur_exchange_evidence(before, 2, NULL, 0, NULL, evidence);
  g_assert_cmpfloat_with_epsilon(mean / evidence[1], 1.0, 2e-3);
}

/* All on two shapes of two bins, .5 | 1.5 and 1.8 | .2: behind one place at .75 the first block's gambler has
 * w_0 (1.5 + .2) / 2, what has not begun stays w_1 + .. = 1 - w_0; behind .75 and .25 the gambler has w_0 (1.5 x
 * .5 + .2 x 1.8) / 2. A place on an edge is of the upper bin. */
static void
test_own_shapes_by_hand(void) {
  const DemurExchangeShapes shapes = {.share = 1.0,
                                      .n_shapes = 2,
                                      .n_bins = 2,
                                      .ends = {0.5, 1.0},
                                      .densities = {{0.5, 1.5}, {1.8, 0.2}}};
  const double places[] = {0.75, 0.25}, edge[] = {0.5};
  const double w0 = demur_exchange_weight(0);
  double evidence[2];
  g_assert_cmpfloat_with_epsilon(w0 + demur_exchange_weight_from(1), 1.0, 1e-12);
  demur_exchange_evidence(places, 2, NULL, 0, &shapes, evidence);
  g_assert_cmpfloat_with_epsilon(evidence[0], 1.0 - w0 + w0 * 0.85, 1e-12);
  g_assert_cmpfloat_with_epsilon(evidence[1], 1.0 - w0 + w0 * 0.555, 1e-12);
  demur_exchange_evidence(edge, 1, NULL, 0, &shapes, evidence);
  g_assert_cmpfloat_with_epsilon(evidence[0], 1.0 - w0 + w0 * 0.85, 1e-12);
}

/* 2,000 streams of 600 without change: 1 in 20 at most passes 20, and a shift of half a standard
 * deviation behind the 300th is found, and where it began. */
static void
test_false_and_true_alarms(void) {
  enum { RUNS = 2000, REFERENCE = 300, N = 600 };
  g_autofree double *reference = g_new(double, REFERENCE), *values = g_new(double, N),
                    *draws = g_new(double, N), *places = g_new(double, N),
                    *evidence = g_new(double, N);
  size_t n_false = 0, n_found = 0, n_near = 0;
  for (size_t r = 0; r < RUNS + 200; r++) {
    DemurRandom random = demur_random_stream(7, DEMUR_STREAM_TEST, r, 0, 0);
    const double shift = r < RUNS ? 0.0 : 0.5;
    for (size_t i = 0; i < REFERENCE; i++)
      reference[i] = demur_random_normal(&random);
    for (size_t i = 0; i < N; i++) {
      values[i] = demur_random_normal(&random) + (i >= 300 ? shift : 0.0);
      draws[i] = demur_random_uniform(&random);
    }
    demur_exchange_places(reference, REFERENCE, values, draws, N, places);
    const size_t change = demur_exchange_evidence(places, N, NULL, 0, NULL, evidence);
    gboolean alarm = FALSE;
    for (size_t i = 0; i < N; i++)
      alarm |= evidence[i] >= 20.0;
    if (r < RUNS) {
      n_false += alarm ? 1 : 0;
    } else {
      n_found += alarm ? 1 : 0;
      n_near += change + 75 >= 300 && change <= 375 ? 1 : 0;
    }
  }
  g_test_message("%zu of %d without change, %zu of 200 with one, %zu near its place", n_false, RUNS,
                 n_found, n_near);
  /* .05 and three standard errors: 100 + 29. */
  g_assert_cmpuint(n_false, <=, 129);
  g_assert_cmpuint(n_found, >=, 190);
  g_assert_cmpuint(n_near, >=, 140);
}

/* ---- by a table ---- */

/* Halves whose odds changed, and a rare end that spreads. */
static DemurExchangeTable *
small_table(void) {
  DemurExchangeTable *table = demur_exchange_table_new(0.9, 2);
  const double halves[] = {0.5, 0.5}, odds[] = {0.5, 1.5}, ends[] = {0.95, 0.05},
               spread[] = {0.8, 4.8};
  demur_exchange_table_add(table, demur_exchange_table_begin(table, 0.4), 1.0, halves, odds, 2);
  demur_exchange_table_add(table, demur_exchange_table_begin(table, 0.6), 1.0, ends, spread, 2);
  return table;
}

/* What one who began behind `from` places has behind n, in plain code: each stake's product; who has less than a
 * thousandth of the stake bets no more. */
static double
follower(const double *p, size_t from, size_t n, size_t n_reference, double edge,
         const DemurExchangeTable *table) {
  static const double slopes[] = {-0.8, -0.35, 0.35, 0.8}, bowls[] = {-0.7, 1.2},
                      powers[] = {0.6, 0.3};
  const double partitions[4][10] = {{0.25, 0.5, 0.75, 1.0},
                                    {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0},
                                    {0.01, 0.03, 0.07, 0.15, 0.85, 0.93, 0.97, 0.99, 1.0},
                                    {edge, 1.0}};
  const size_t n_bins[] = {4, 10, 9, 2};
  double last = 1.0;
  for (size_t m = from + 1; m <= n && last >= 1e-3; m++) {
    double general = 0.0, own[2] = {1.0, 1.0};
    for (size_t h = 0; h < 4; h++)
      for (size_t a = 0; a < 2; a++)
        general += histogram(p, from, m, partitions[h], n_bins[h], a == 0 ? 8.0 : 64.0) / 16.0;
    for (size_t s = 0; s < 10; s++) {
      double product = 1.0;
      for (size_t i = from; i < m; i++) {
        const double x = 2.0 * p[i] - 1.0;
        product *= s < 4   ? 1.0 + slopes[s] * x
                   : s < 6 ? 1.0 + bowls[s - 4] * (1.5 * x * x - 0.5)
                           : powers[(s - 6) / 2] *
                                 pow(s % 2 == 0 ? p[i] : 1.0 - p[i], powers[(s - 6) / 2] - 1.0);
      }
      general += product / 20.0;
    }
    for (size_t i = from; i < m; i++)
      for (size_t s = 0; s < 2; s++) {
        const double share = (double)(i - from + 1) / (double)(n_reference + i + 1);
        const size_t age = (size_t)floor(64.0 * share + 0.5), cell = (size_t)floor(512.0 * p[i]);
        own[s] *= table->densities[(age * 512 + cell) * 2 + s];
      }
    last = (1.0 - table->share) * general + table->share * (0.4 * own[0] + 0.6 * own[1]);
  }
  return last;
}

/* w_k and what is left from k on, as the header has them. */
static double
beginning(DemurExchangeSpread spread, size_t k, double *left) {
  const double at = (double)k;
  if (spread == DEMUR_EXCHANGE_EARLY) {
    *left = 100.0 / (at + 100.0);
    return 100.0 / ((at + 100.0) * (at + 101.0));
  }
  *left = k <= 150 ? 1.0 - 0.7 * at / 150.0 : 45.0 / at;
  return k < 150 ? 0.7 / 150.0 : 45.0 / (at * (at + 1.0));
}

static void
test_beginnings_share_one_stake(void) {
  for (guint s = DEMUR_EXCHANGE_EARLY; s <= DEMUR_EXCHANGE_EVENLY; s++) {
    const DemurExchangeSpread spread = (DemurExchangeSpread)s;
    double sum = 0.0, left;
    for (size_t k = 0; k < 2000; k++) {
      const double weight = demur_exchange_step_weight(spread, k);
      g_assert_cmpfloat_with_epsilon(weight, beginning(spread, k, &left), 1e-15);
      g_assert_cmpfloat_with_epsilon(demur_exchange_step_weight_from(spread, k), left, 1e-12);
      g_assert_cmpfloat_with_epsilon(sum + left, 1.0, 1e-12);
      sum += weight;
    }
  }
}

static void
followed_evidence_is_the_twins(DemurExchangeSpread spread) {
  enum { N = 320, REFERENCE = 2000 };
  double places[N], evidence[N];
  DemurRandom random = demur_random_stream(16, DEMUR_STREAM_TEST, 0, 0, 0);
  for (size_t i = 0; i < N; i++)
    places[i] = i < 200 ? demur_random_uniform(&random) : pow(demur_random_uniform(&random), 0.7);
  g_autoptr(DemurExchangeTable) table = small_table();
  table->share = 0.99999; /* so that somebody has less than a thousandth soon */
  const double edge = 0.6;
  demur_exchange_follow(places, N, REFERENCE, &edge, 1, table, spread, evidence);
  const size_t looks[] = {1, 9, 10, 11, 77, N};
  gboolean asleep = FALSE;
  for (size_t l = 0; l < G_N_ELEMENTS(looks); l++) {
    double right = 0.0, left;
    size_t k = 0;
    for (; 10 * k < looks[l]; k++) {
      const double one = follower(places, 10 * k, looks[l], REFERENCE, edge, table);
      asleep |= one < 1e-3;
      right += beginning(spread, k, &left) * one;
    }
    beginning(spread, k, &left);
    right += left;
    g_assert_cmpfloat(fabs(evidence[looks[l] - 1] / right - 1.0), <, 1e-9);
  }
  g_assert_true(asleep);
}

static void
test_followed_evidence_is_the_twins(void) {
  followed_evidence_is_the_twins(DEMUR_EXCHANGE_EARLY);
  followed_evidence_is_the_twins(DEMUR_EXCHANGE_EVENLY);
}

/* Behind two uniform places, stopped behind the first where that says enough: the mean of what is held is 1. Shapes
 * and histograms are even within the cells of a grid, the others next to it. */
static void
test_the_mean_at_a_stop_is_one(void) {
  enum { GRID = 512 };
  g_autoptr(DemurExchangeTable) table = small_table();
  double mean = 0.0;
  size_t n_stopped = 0;
  for (size_t a = 0; a < GRID; a += 2)
    for (size_t b = 0; b < GRID; b += 2) {
      const double places[] = {((double)a + 1.0) / GRID, ((double)b + 1.0) / GRID};
      double evidence[2];
      demur_exchange_follow(places, 2, 7, NULL, 0, table, DEMUR_EXCHANGE_EARLY, evidence);
      const gboolean stop = evidence[0] > 1.002;
      n_stopped += stop ? 1 : 0;
      mean += (stop ? evidence[0] : evidence[1]) * 4.0 / (GRID * GRID);
    }
  g_assert_cmpuint(n_stopped, >, 1000);
  g_assert_cmpfloat_with_epsilon(mean, 1.0, 3e-5);
}

/* All that can come: a reference of two and two who follow, each A, B or C with .7, .2 and .1, ties broken over a grid.
 * With an order of categories that was fixed before, the mean at a stop is 1. With one that the reference
 * fixes, what it lacks behind all, it is more: whoever is new stands out by that alone. */
static double
mean_over_categories(gboolean fixed_before) {
  enum { GRID = 32 };
  static const double chances[] = {0.7, 0.2, 0.1};
  g_autoptr(DemurExchangeTable) table = small_table();
  const double w0 = demur_exchange_step_weight(DEMUR_EXCHANGE_EARLY, 0);
  double mean = 0.0;
  for (size_t c = 0; c < 81; c++) {
    const size_t who[] = {c % 3, c / 3 % 3, c / 9 % 3, c / 27};
    double chance = 1.0, values[4];
    for (size_t i = 0; i < 4; i++) {
      chance *= chances[who[i]];
      const gboolean lacks = who[i] != who[0] && who[i] != who[1];
      values[i] = (double)who[i] + (!fixed_before && lacks ? 10.0 : 0.0);
    }
    for (size_t g = 0; g < GRID * GRID; g++) {
      const double draws[] = {((double)(g % GRID) + 0.5) / GRID, ((double)(g / GRID) + 0.5) / GRID};
      double places[2], evidence[2];
      demur_exchange_places(values, 2, values + 2, draws, 2, places);
      demur_exchange_follow(places, 2, 2, NULL, 0, table, DEMUR_EXCHANGE_EARLY, evidence);
      mean += chance * (evidence[0] > 1.002 ? evidence[0] : evidence[1]) / (GRID * GRID);
    }
  }
  return 1.0 + (mean - 1.0) / w0; /* of the one who has begun */
}

static void
test_an_order_is_fixed_before(void) {
  const double before = mean_over_categories(TRUE), by_reference = mean_over_categories(FALSE);
  g_test_message("mean fortune at a stop: %.4f, by an order that the reference fixes %.4f", before,
                 by_reference);
  g_assert_cmpfloat(fabs(before - 1.0), <, 0.005);
  g_assert_cmpfloat(by_reference, >, 1.03);
}

/* A place at the very end again and again does not overflow. */
static void
test_most(void) {
  enum { N = 4000 };
  g_autofree double *places = g_new(double, N), *evidence = g_new(double, N);
  for (size_t i = 0; i < N; i++)
    places[i] = i % 2 == 0 ? 1.0 : 0.0;
  demur_exchange_evidence(places, N, NULL, 0, NULL, evidence);
  g_assert_cmpfloat(evidence[N - 1], <=, DEMUR_EXCHANGE_MOST);
  g_assert_true(evidence[N - 1] > 1e50);
  g_assert_cmpuint(demur_exchange_evidence(places, 0, NULL, 0, NULL, evidence), ==, 0);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/exchangeability/places-by-hand", test_places_by_hand);
  g_test_add_func("/exchangeability/order-alone", test_places_hang_on_order_alone);
  g_test_add_func("/exchangeability/twin", test_evidence_is_the_twins);
  g_test_add_func("/exchangeability/fair", test_a_fair_game);
  g_test_add_func("/exchangeability/own-shapes", test_own_shapes_by_hand);
  g_test_add_func("/exchangeability/alarms", test_false_and_true_alarms);
  g_test_add_func("/exchangeability/most", test_most);
  g_test_add_func("/exchangeability/beginnings", test_beginnings_share_one_stake);
  g_test_add_func("/metrics/exchangeability/followed-twins", test_followed_evidence_is_the_twins);
  g_test_add_func("/metrics/exchangeability/mean-at-a-stop", test_the_mean_at_a_stop_is_one);
  g_test_add_func("/metrics/exchangeability/order-before", test_an_order_is_fixed_before);
  return g_test_run();
}
