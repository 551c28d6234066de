#include "metrics/exchange-table.h"

#include <math.h>

DemurExchangeTable *
demur_exchange_table_new(double share, size_t most_shapes) {
  DemurExchangeTable *table = g_new0(DemurExchangeTable, 1);
  table->share = share;
  table->most_shapes = most_shapes;
  table->densities =
      g_new0(double, (size_t)(DEMUR_EXCHANGE_AGES + 1) * DEMUR_EXCHANGE_CELLS * most_shapes);
  return table;
}

void
demur_exchange_table_free(DemurExchangeTable *table) {
  if (table == NULL)
    return;
  g_free(table->densities);
  g_free(table);
}

size_t
demur_exchange_table_begin(DemurExchangeTable *table, double weight) {
  table->weights[table->n_shapes] = weight;
  return table->n_shapes++;
}

/* Spreads mass evenly over the places from `begin` to `end`; a cell every `stride`. */
static void
spread(double *densities, size_t stride, double mass, double begin, double end) {
  const double width = end - begin;
  if (!(mass > 0.0) || !(width > 0.0))
    return;
  const double cell_width = 1.0 / DEMUR_EXCHANGE_CELLS; /* a power of two: edges are exact */
  const double whole = mass * cell_width / width * DEMUR_EXCHANGE_CELLS;
  for (size_t cell = demur_exchange_cell(begin); cell < DEMUR_EXCHANGE_CELLS; cell++) {
    const double low = (double)cell * cell_width, high = (double)(cell + 1) * cell_width;
    if (low >= end)
      break;
    if (low >= begin && high <= end) {
      densities[cell * stride] += whole;
      continue;
    }
    const double inside = MIN(high, end) - MAX(low, begin);
    if (inside > 0.0)
      densities[cell * stride] += mass * inside / width * DEMUR_EXCHANGE_CELLS;
  }
}

void
demur_exchange_table_add(DemurExchangeTable *table, size_t shape, double part, const double *masses,
                         const double *likelier, size_t n) {
  double sum = 0.0, sum_since = 0.0;
  for (size_t j = 0; j < n; j++) {
    sum += masses[j];
    sum_since += masses[j] * likelier[j];
  }
  for (size_t age = 0; age <= DEMUR_EXCHANGE_AGES; age++) {
    double *densities = table->densities + age * DEMUR_EXCHANGE_CELLS * table->most_shapes + shape;
    const double lambda = (double)age / DEMUR_EXCHANGE_AGES;
    double begin = 0.0;
    for (size_t j = 0; j < n; j++) {
      const double since = masses[j] * likelier[j] / sum_since;
      const double end =
          j + 1 < n ? fmin(begin + (1.0 - lambda) * masses[j] / sum + lambda * since, 1.0) : 1.0;
      spread(densities, table->most_shapes, part * since, begin, end);
      begin = end;
    }
  }
}
