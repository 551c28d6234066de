/* One-class SVM (Schoelkopf et al. 2001) with the kernel exp(-gamma |a - b|^2):
 *
 *   minimise (1/2) sum_ij a_i a_j k(x_i, x_j)   subject to 0 <= a_i <= 1, sum_i a_i = nu n
 *   score(x) = sum_i a_i k(x_i, x)
 *
 * which is scikit-learn's score_samples (no offset subtracted; golden/outlier.json, osvm). High is
 * normal. The solver is sequential minimal optimisation with second-order choice of the pair (Fan,
 * Chen and Lin 2005) over a ready-made Gram matrix, and is run well past libsvm's default
 * tolerance. */
#pragma once

#include "base/parallel.h"
#include "base/progress.h"
#include "base/error.h"

G_BEGIN_DECLS

#define DEMUR_SVM_NU 0.5
#define DEMUR_SVM_MAX_ROWS 6000

/* 1 / (d var), var over all n d entries of rows [n][d] (scikit-learn's "scale"); 1 where var is 0.
 */
double demur_svm_scale_gamma(const double *rows, size_t n, size_t d);

/* gram [n][stride], as demur_distance_pass makes it: symmetric with ones on its diagonal, stride a
 * multiple of 16, zeros from column n on; 0 < nu <= 1. Fills alphas [n]. Ends when the largest
 * violation of the optimality conditions is at most tolerance (0: 1e-7 of nu n times the mean
 * kernel value, at least 1e-9). DEMUR_ERROR_NUMERIC where that is not reached in 100 n + 100,000
 * steps; cancellable. */
gboolean demur_svm_solve(const float *gram, size_t n, size_t stride, double nu, double tolerance,
                         double *alphas, DemurParallel *parallel, const DemurProgress *progress,
                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Which rows it is fitted on: all n, or max_rows of them drawn by the seed (stream SVM_SUBSAMPLE)
 * without replacement, ascending (owned array). */
guint32 *demur_svm_choose_rows(size_t n, size_t max_rows, guint64 seed, size_t *n_chosen);

G_END_DECLS
