/* Folds of whole sites (or patients), for everything that is judged on scans whose site was left
 * out. */
#pragma once

#include "base/random.h"

G_BEGIN_DECLS

/* folds [n] in [0, n_folds) for rows with units [n] (codes): all rows of a unit share a fold. Units
 * come in an order drawn by the seed (stream FOLDS, index) and go to the fold with the fewest rows
 * so far. Returns the number of folds that hold rows: n_folds, or the number of units where that is
 * smaller. */
size_t demur_folds_assign(const guint32 *units, size_t n, size_t n_folds, guint64 seed,
                          guint64 index, guint32 *folds);

/* Distinct values among codes [n]. */
size_t demur_folds_count_units(const guint32 *units, size_t n);

G_END_DECLS
