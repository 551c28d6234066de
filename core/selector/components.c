/* Covariance by one BLAS product, its leading eigenvectors by LAPACK's dsyevr (relatively robust
 * representations). */
#include "selector/components.h"

#include <math.h>
#include <string.h>

#include "base/blas.h"
#include "base/error.h"
#include "base/memory.h"

size_t
demur_components_fit(const double *values, size_t n, size_t d, size_t k, double *components,
                     GError **error) {
  k = MIN(k, MIN(n, d));
  if (k == 0)
    return 0;
  DEMUR_AUTO_ALIGNED double *covariance = demur_new_matrix(double, d, d);
  const DemurProduct product = {.left_is_transposed = TRUE, .rows = d, .columns = d, .inner = n};
  demur_blas_multiply(&product, 1.0 / (double)n, values, values, 0.0, covariance);
  g_autofree double *eigenvalues = g_new(double, d);
  DEMUR_AUTO_ALIGNED double *vectors = demur_new_matrix(double, k, d);
  const int info = demur_blas_largest_eigenvectors(covariance, d, k, eigenvalues, vectors);
  if (info != 0) {
    demur_error_set(
        error, DEMUR_ERROR_NUMERIC,
        "the principal components of %zu embeddings of width %zu could not be found (LAPACK "
        "dsyevr: %d)",
        n, d, info);
    return 0;
  }
  /* Eigenvalues ascend: the last vector is the first component. */
  const double least = 1e-10 * fmax(eigenvalues[k - 1], 0.0);
  size_t kept = 0;
  for (size_t c = 0; c < k; c++) {
    const double variance = eigenvalues[k - 1 - c];
    if (!(variance > least))
      break;
    const double *vector = vectors + (k - 1 - c) * d;
    size_t largest = 0;
    for (size_t j = 1; j < d; j++)
      if (fabs(vector[j]) > fabs(vector[largest]))
        largest = j;
    const double scale = (vector[largest] < 0.0 ? -1.0 : 1.0) / sqrt(variance);
    for (size_t j = 0; j < d; j++)
      components[kept * d + j] = scale * vector[j];
    kept++;
  }
  return kept;
}

void
demur_components_apply(const double *components, size_t k, size_t d, const double *values, size_t n,
                       double *scores, size_t stride) {
  /* Row by row in the order of the columns, so that a scan's scores depend on no other scan. */
  for (size_t i = 0; i < n; i++)
    for (size_t c = 0; c < k; c++) {
      double part[4] = {0.0, 0.0, 0.0, 0.0};
      size_t j = 0;
      for (; j + 4 <= d; j += 4)
        for (size_t l = 0; l < 4; l++)
          part[l] += components[c * d + j + l] * values[i * d + j + l];
      double sum = (part[0] + part[2]) + (part[1] + part[3]);
      for (; j < d; j++)
        sum += components[c * d + j] * values[i * d + j];
      scores[i * stride + c] = sum;
    }
}
