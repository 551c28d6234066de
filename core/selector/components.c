/* Covariance by one BLAS product, its leading eigenvectors by LAPACK's dsyevr (relatively robust
 * representations). */
#include "selector/components.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* LAPACK, as every implementation exports it; Debian's has no C header without LAPACKE. */
extern void dsyevr_(const char *job, const char *range, const char *triangle, const int *n,
                    double *a, const int *lda, const double *lower, const double *upper,
                    const int *first, const int *last, const double *tolerance, int *found,
                    double *values, double *vectors, const int *ldz, int *support, double *work,
                    const int *lwork, int *iwork, const int *liwork, int *info);

size_t
demur_components_fit(const double *values, size_t n, size_t d, size_t k, double *components,
                     GError **error) {
  k = MIN(k, MIN(n, d));
  if (k == 0)
    return 0;
  DEMUR_AUTO_ALIGNED double *covariance = demur_new_matrix(double, d, d);
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)d, (int)d, (int)n, 1.0 / (double)n,
              values, (int)d, values, (int)d, 0.0, covariance, (int)d);
  const int size = (int)d, first = (int)(d - k + 1), last = (int)d;
  const double none = 0.0;
  int found = 0, info = 0, lwork = -1, liwork = -1, wanted_iwork = 0;
  double wanted_work = 0.0;
  g_autofree double *eigenvalues = g_new(double, d);
  DEMUR_AUTO_ALIGNED double *vectors = demur_new_matrix(double, k, d);
  g_autofree int *support = g_new(int, 2 * k);
  dsyevr_("V", "I", "U", &size, covariance, &size, &none, &none, &first, &last, &none, &found,
          eigenvalues, vectors, &size, support, &wanted_work, &lwork, &wanted_iwork, &liwork,
          &info);
  lwork = (int)wanted_work;
  liwork = wanted_iwork;
  g_autofree double *work = g_new(double, (size_t)MAX(lwork, 1));
  g_autofree int *iwork = g_new(int, (size_t)MAX(liwork, 1));
  dsyevr_("V", "I", "U", &size, covariance, &size, &none, &none, &first, &last, &none, &found,
          eigenvalues, vectors, &size, support, work, &lwork, iwork, &liwork, &info);
  if (info != 0 || found != (int)k) {
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
