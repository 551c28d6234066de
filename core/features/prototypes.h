/* Prototypes: means of groups of rows, so that what is kept of many scans is of no single one.
 *
 * Groups come from halving: the column of largest variance is cut at its median until a group would
 * fall below `least` rows (Mondrian; LeFevre, DeWitt and Ramakrishnan, ICDE 2006, on standardised
 * columns). Each has from least to 2 least - 1 rows. Deterministic: ties go to the earlier row.
 * Cost: O(n log n (d + log n)). */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* groups [n] gets the group of each row of rows [n][d]; returns how many there are (1 where n < 2
 * least). */
size_t demur_prototypes_group(const double *rows, size_t n, size_t d, size_t least,
                              guint32 *groups);

/* means [n_groups][d] of values [n][d] over the groups. */
void demur_prototypes_means(const float *values, size_t n, size_t d, const guint32 *groups,
                            size_t n_groups, float *means);

G_END_DECLS
