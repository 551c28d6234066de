/* Densities of places behind a change. Right values: worked by hand, and the law that every density has the integral 1. */
#include <math.h>

#include "metrics/exchange-table.h"
#include "support/support.h"

/* Halves half and one and a half times as frequent. Where none came behind the change .5 | 1.5; where half did, the
 * lower half reaches up to .5 x .5 + .5 x .25 = .375 and has .25 of those behind it: .25 / .375 | .75 / .625; where
 * all did, nothing stands out. */
static void
test_by_hand(void) {
  g_autoptr(DemurExchangeTable) table = demur_exchange_table_new(1.0, 2);
  const double masses[] = {2.0, 2.0}, likelier[] = {0.5, 1.5};
  const size_t shape = demur_exchange_table_begin(table, 1.0);
  demur_exchange_table_add(table, shape, 1.0, masses, likelier, 2);
  const struct {
    size_t since, all;
    double edge, below, above;
  } ages[] = {{0, 100, 0.5, 0.5, 1.5},
              {50, 100, 0.375, 0.25 / 0.375, 0.75 / 0.625},
              {100, 100, 0.5, 1.0, 1.0}};
  for (size_t a = 0; a < G_N_ELEMENTS(ages); a++)
    for (size_t cell = 0; cell < DEMUR_EXCHANGE_CELLS; cell++) {
      const double place = ((double)cell + 0.5) / DEMUR_EXCHANGE_CELLS;
      g_assert_cmpuint(demur_exchange_cell(place), ==, cell);
      g_assert_cmpfloat_with_epsilon(
          demur_exchange_table_at(table, ages[a].since, ages[a].all, cell)[shape],
          place < ages[a].edge ? ages[a].below : ages[a].above, 1e-12);
    }
  g_assert_cmpuint(demur_exchange_cell(1.0), ==, DEMUR_EXCHANGE_CELLS - 1);
}

/* Edges within cells, blocks of nobody and of one in a million, parts of several: one integral at every age. */
static void
test_integrals(void) {
  g_autoptr(DemurExchangeTable) table = demur_exchange_table_new(0.5, 2);
  const double masses[] = {0.3333, 0.0, 0.1, 1e-6, 0.2}, likelier[] = {0.2, 5.0, 3.0, 2e5, 0.0},
               one = 1.0;
  demur_exchange_table_begin(table, 0.5);
  const size_t shape = demur_exchange_table_begin(table, 0.5);
  demur_exchange_table_add(table, shape, 0.7, masses, likelier, G_N_ELEMENTS(masses));
  demur_exchange_table_add(table, shape, 0.3, &one, &one, 1);
  for (size_t age = 0; age <= DEMUR_EXCHANGE_AGES; age++) {
    double sum = 0.0, least = INFINITY;
    for (size_t cell = 0; cell < DEMUR_EXCHANGE_CELLS; cell++) {
      const double density = demur_exchange_table_at(table, age, DEMUR_EXCHANGE_AGES, cell)[shape];
      sum += density / DEMUR_EXCHANGE_CELLS;
      least = fmin(least, density);
    }
    g_assert_cmpfloat_with_epsilon(sum, 1.0, 1e-9);
    g_assert_cmpfloat(least, >=, 0.3 - 1e-12);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/metrics/exchange-table/by-hand", test_by_hand);
  g_test_add_func("/metrics/exchange-table/integrals", test_integrals);
  return g_test_run();
}
