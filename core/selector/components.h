/* Principal components of standardised embeddings: for the corrector (12) and for wide embeddings
 * (--embedding-svd). */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* components [k][d]: the k leading eigenvectors of the covariance of values [n][d] (columns taken
 * as centred: standardised), each scaled so that the scores values . component have standard
 * deviation 1; directions without variance are left out. Returns how many there are, at most k, d
 * and n. DEMUR_ERROR_NUMERIC (and 0) where LAPACK fails. Signs are fixed: the entry largest in
 * absolute value is positive. O(n d^2 + d^3). */
size_t demur_components_fit(const double *values, size_t n, size_t d, size_t k, double *components,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* scores [n][k] (rows `stride` doubles apart) of values [n][d]. */
void demur_components_apply(const double *components, size_t k, size_t d, const double *values,
                            size_t n, double *scores, size_t stride);

G_END_DECLS
