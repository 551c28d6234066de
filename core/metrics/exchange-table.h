/* Where places would fall behind a change, told before any place is seen.
 *
 * A change is told as blocks in the reference's order: block j holds the share m_j of those who come without
 * it, and is l_j times as frequent behind it. On u, the place among those without it, that is the density
 *
 *   g(u) = l_j / sum_i m_i l_i,   u in block j,      G its distribution function.
 *
 * But a place (exchangeability.h) is among all up to then. Where the share lambda of them came behind the
 * change, all have the distribution function H(u) = (1 - lambda) u + lambda G(u), and a patient behind the
 * change has at p = H(u) the density
 *
 *   f_lambda(p) = g(u) / ((1 - lambda) + lambda g(u)),
 *
 * of integral 1: the more of them there are, the less another one stands out. A gambler who believes in a
 * change knows lambda of each patient beforehand. What the blocks' shares are is known but for a sample's
 * error, so a shape is a mean of such densities. Source: the transport of a density by H; the use in
 * betting is ours.
 *
 * Layout: densities over DEMUR_EXCHANGE_CELLS equal cells of places, for lambda in steps of 1 /
 * DEMUR_EXCHANGE_AGES, all shapes of one cell side by side. Cost: an addition
 * O(DEMUR_EXCHANGE_AGES (n + DEMUR_EXCHANGE_CELLS)). */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define DEMUR_EXCHANGE_CELLS 512
#define DEMUR_EXCHANGE_AGES 64
#define DEMUR_EXCHANGE_TABLE_SHAPES 24

typedef struct {
  double share; /* of a fortune that is staked on the shapes, in [0, 1] */
  size_t n_shapes, most_shapes;
  double weights[DEMUR_EXCHANGE_TABLE_SHAPES]; /* of each in that share; sum 1 once all are begun */
  double *densities; /* [DEMUR_EXCHANGE_AGES + 1][DEMUR_EXCHANGE_CELLS][most_shapes] */
} DemurExchangeTable;

/* Without a shape, for so many, at most DEMUR_EXCHANGE_TABLE_SHAPES. */
DemurExchangeTable *demur_exchange_table_new(double share, size_t most_shapes);
void demur_exchange_table_free(DemurExchangeTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurExchangeTable, demur_exchange_table_free)

/* Begins a shape that takes `weight` of what all take; returns its number. */
size_t demur_exchange_table_begin(DemurExchangeTable *table, double weight);

/* Adds the part of a shape that blocks masses, likelier [n] tell: masses >= 0 with a sum above 0 (divided by
 * it), likelier >= 0, some block with both above 0. A shape's parts have the sum 1. */
void demur_exchange_table_add(DemurExchangeTable *table, size_t shape, double part,
                              const double *masses, const double *likelier, size_t n);

/* The densities [n_shapes] at a place, where `since` of `all` patients came behind the change. */
static inline const double *
demur_exchange_table_at(const DemurExchangeTable *table, size_t since, size_t all, size_t cell) {
  const size_t age = (since * DEMUR_EXCHANGE_AGES + all / 2) / all;
  return table->densities + (age * DEMUR_EXCHANGE_CELLS + cell) * table->most_shapes;
}

/* The cell of a place in [0, 1]. */
static inline size_t
demur_exchange_cell(double place) {
  const size_t cell = (size_t)(place * DEMUR_EXCHANGE_CELLS);
  return MIN(cell, DEMUR_EXCHANGE_CELLS - 1);
}

G_END_DECLS
