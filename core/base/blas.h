/* The one place that knows the BLAS and LAPACK: row-major products and eigenvectors. OpenBLAS works in the
 * calling thread only: a product's last digits depend on its own number of threads, and every
 * parallel loop of this program is a DemurParallel map, inside which any number of calls may run
 * side by side. That is set by the first call, from whichever thread. (core/features needs none: its
 * one product is its own, see features/distances.h.) */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* out [rows][columns] of left [rows][inner] and right [inner][columns]; one that is transposed lies
 * as [inner][rows], or [columns][inner]. Rows of all three lie dense. */
typedef struct {
  gboolean left_is_transposed, right_is_transposed;
  size_t rows, columns, inner;
} DemurProduct;

/* out = scale x left right + kept x out. */
void demur_blas_multiply(const DemurProduct *shape, double scale, const double *left,
                         const double *right, double kept, double *out);

/* The same in single precision. */
void demur_blas_multiply_float(const DemurProduct *shape, float scale, const float *left,
                               const float *right, float kept, float *out);

/* The k (1 to d) largest eigenvalues of the symmetric matrix [d][d], which is overwritten, in values [d],
 * ascending, and their eigenvectors in vectors [k][d] (relatively robust representations). Returns
 * 0, else what LAPACK's dsyevr says: -1000 where it found fewer. */
int demur_blas_largest_eigenvectors(double *matrix, size_t d, size_t k, double *values,
                                    double *vectors);

G_END_DECLS
