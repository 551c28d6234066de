#include "base/blas.h"

#include <cblas.h>

/* LAPACK, as every implementation exports it; Debian's has no C header without LAPACKE. */
extern void dsyevr_(const char *job, const char *range, const char *triangle, const int *n,
                    double *a, const int *lda, const double *lower, const double *upper,
                    const int *first, const int *last, const double *tolerance, int *found,
                    double *values, double *vectors, const int *ldz, int *support, double *work,
                    const int *lwork, int *iwork, const int *liwork, int *info);

static void
use_one_thread(void) {
  static gsize once;
  if (g_once_init_enter(&once)) {
    openblas_set_num_threads(1);
    g_once_init_leave(&once, 1);
  }
}

static int
stride(gboolean is_transposed, size_t rows, size_t columns) {
  return (int)(is_transposed ? rows : columns);
}

void
demur_blas_multiply(const DemurProduct *s, double scale, const double *left, const double *right,
                    double kept, double *out) {
  use_one_thread();
  cblas_dgemm(CblasRowMajor, s->left_is_transposed ? CblasTrans : CblasNoTrans,
              s->right_is_transposed ? CblasTrans : CblasNoTrans, (int)s->rows, (int)s->columns,
              (int)s->inner, scale, left, stride(s->left_is_transposed, s->rows, s->inner), right,
              stride(s->right_is_transposed, s->inner, s->columns), kept, out, (int)s->columns);
}

void
demur_blas_multiply_float(const DemurProduct *s, float scale, const float *left, const float *right,
                          float kept, float *out) {
  use_one_thread();
  cblas_sgemm(CblasRowMajor, s->left_is_transposed ? CblasTrans : CblasNoTrans,
              s->right_is_transposed ? CblasTrans : CblasNoTrans, (int)s->rows, (int)s->columns,
              (int)s->inner, scale, left, stride(s->left_is_transposed, s->rows, s->inner), right,
              stride(s->right_is_transposed, s->inner, s->columns), kept, out, (int)s->columns);
}

int
demur_blas_largest_eigenvectors(double *matrix, size_t d, size_t k, double *values,
                                double *vectors) {
  use_one_thread();
  const int size = (int)d, first = (int)(d - k + 1), last = (int)d;
  const double none = 0.0;
  int found = 0, info = 0, lwork = -1, liwork = -1, wanted_iwork = 0;
  double wanted_work = 0.0;
  g_autofree int *support = g_new(int, 2 * k);
  dsyevr_("V", "I", "U", &size, matrix, &size, &none, &none, &first, &last, &none, &found, values,
          vectors, &size, support, &wanted_work, &lwork, &wanted_iwork, &liwork, &info);
  lwork = (int)wanted_work;
  liwork = wanted_iwork;
  g_autofree double *work = g_new(double, (size_t)MAX(lwork, 1));
  g_autofree int *iwork = g_new(int, (size_t)MAX(liwork, 1));
  dsyevr_("V", "I", "U", &size, matrix, &size, &none, &none, &first, &last, &none, &found, values,
          vectors, &size, support, work, &lwork, iwork, &liwork, &info);
  return info != 0 ? info : found != (int)k ? -1000 : 0;
}
