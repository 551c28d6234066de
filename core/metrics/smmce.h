/* Normalised S-MMCE_u as a measure (Eq. smmce_emp): the paper's training target on a hard
 * selection.
 *
 *   ( sum_ij e_i e_j k(r_i, r_j) / n^2 )^(1/q)  over the selected scans, e = |y - r|^q, k(a, b) =
 * exp(-|a - b| / width).
 *
 * golden smmce.json's eq9_normalised with g in {0, 1} (or soft g, for the tests). */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* risks [n] ascending, labels [n]; weights [n]: g_i times multiplicity (0: not selected). q is 1
 * or 2. NaN where the weights are all 0. O(n). */
double demur_smmce_normalised(const double *risks, const double *labels, const double *weights,
                              size_t n, int q, double width);

G_END_DECLS
