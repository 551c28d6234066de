/* Which rows of a table of counts are withheld, so that no small count stands in it or can be had
 * from it: neither by subtraction from a known total nor as what the withheld rows have together.
 *
 * Primary: a row with any cell below DEMUR_SMALL_CELL, zero included ("no events" is a fact about
 * few people too). Secondary: while only one row is withheld, or the withheld ones have together
 * fewer than DEMUR_SMALL_CELL in some column, the smallest row that is left is withheld as well
 * (ties: the first). Where all are withheld, only the total is told. Complementary suppression of
 * one dimension, as in Hundepool et al., Statistical Disclosure Control (2012), chapter 4. O(n^2) in
 * the rows that are added. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* counts [n][n_cells]; withheld [n] is set. Returns how many rows are. */
size_t demur_small_cells(const size_t *counts, size_t n, size_t n_cells, gboolean *withheld);

/* The same where some rows, forced [n], are withheld for another reason to begin with. */
size_t demur_small_cells_beside(const size_t *counts, size_t n, size_t n_cells,
                                const gboolean *forced, gboolean *withheld);

G_END_DECLS
