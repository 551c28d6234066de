/* One-class SVM (Schoelkopf et al. 2001) with the kernel exp(-gamma |a - b|^2):
 *
 *   minimise (1/2) sum_ij a_i a_j k(x_i, x_j)   subject to 0 <= a_i <= 1, sum_i a_i = nu n
 *   score(x) = sum_i a_i k(x_i, x)
 *
 * which is scikit-learn's score_samples (no offset subtracted; golden/outlier.json, osvm). High is
 * normal. The solver is sequential minimal optimisation with second-order choice of the pair (Fan,
 * Chen and Lin 2005), run well past libsvm's default tolerance.
 *
 * It works in three steps, so that the one pass over all distances in the middle can serve other
 * features too:
 *
 *   demur_svm_start(reference, gamma, nu, alphas, ..);
 *
 *   demur_distance_pass(reference, its own rows, ..) with weights = alphas, kernel_sum = gradient;
 *
 *   demur_svm_finish(reference, gamma, 0, alphas, gradient, ..);
 */
#pragma once

#include "features/distances.h"

G_BEGIN_DECLS

#define DEMUR_SVM_NU 0.5
#define DEMUR_SVM_MAX_ROWS 6000

/* 1 / (d var), var over all entries of rows [n][d] (scikit-learn's "scale"); 1 where var is 0. */
double demur_svm_scale_gamma(const double *rows, size_t n, size_t d);

/* A start near the optimum: the problem is solved roughly for every eighth row (so on down to 256
 * rows, which start from their densities), and the nu n rows that this solution scores lowest are
 * set to 1. Fills alphas [n], 0 < nu <= 1. FALSE when cancelled. */
gboolean demur_svm_start(const DemurDistanceReference *reference, double gamma, double nu,
                         double *alphas, DemurParallel *parallel, const DemurProgress *progress,
                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* From any alphas [n] that meet the constraints and their gradient [n] (sum_j a_j k(x_i, x_j)) to
 * the optimum; both are updated. Ends when the largest violation of the optimality conditions is at
 * most tolerance (0: 1e-9 of the largest gradient). DEMUR_ERROR_NUMERIC where that is not reached
 * in 100 n + 100,000 steps; cancellable. */
gboolean demur_svm_finish(const DemurDistanceReference *reference, double gamma, double tolerance,
                          double *alphas, double *gradient, DemurParallel *parallel,
                          const DemurProgress *progress, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The three steps in a row. */
gboolean demur_svm_fit(const DemurDistanceReference *reference, double gamma, double nu,
                       double tolerance, double *alphas, DemurParallel *parallel,
                       const DemurProgress *progress, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Which rows it is fitted on: all n, or max_rows of them drawn by the seed (stream SVM_SUBSAMPLE)
 * without replacement, ascending (owned array). */
guint32 *demur_svm_choose_rows(size_t n, size_t max_rows, guint64 seed, size_t *n_chosen);

G_END_DECLS
