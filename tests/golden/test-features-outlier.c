/* Outlier features against scikit-learn 1.2.1 in float64: golden/outlier.json, tolerances of
 * golden/README.md. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "features/distances.h"
#include "features/isolation-forest.h"
#include "features/kde.h"
#include "features/local-outlier-factor.h"
#include "features/neighbours.h"
#include "features/one-class-svm.h"
#include "features/outlier.h"
#include "features/scaler.h"
#include "support/support.h"

#define N 200
#define M 50
#define D 8

typedef struct {
  JsonParser *parser;
  JsonObject *golden;
  double *train;         /* [N][D], scaled with our scaler */
  double *query;         /* [M][D] */
  double *near;          /* [M][20] */
  guint32 *near_indices; /* [M][20] */
  double *own_near;      /* [N][20], of the train rows, each without itself */
  guint32 *own_indices;
  double *log_sum_exp; /* [M] */
} Fixture;

static double *
matrix(JsonObject *object, const char *key, size_t d) {
  JsonArray *rows = json_object_get_array_member(object, key);
  const guint n = json_array_get_length(rows);
  double *values = demur_new_matrix(double, n, d);
  for (guint i = 0; i < n; i++) {
    size_t width;
    g_autofree double *row = demur_test_doubles(json_array_get_array_element(rows, i), &width);
    g_assert_cmpuint(width, ==, d);
    memcpy(values + i * d, row, d * sizeof(double));
  }
  return values;
}

static void
set_up(Fixture *f, gconstpointer data) {
  f->parser = demur_test_golden("golden/outlier.json");
  if (f->parser == NULL)
    return;
  f->golden = json_node_get_object(json_parser_get_root(f->parser));
  f->train = matrix(f->golden, "train", D);
  f->query = matrix(f->golden, "query", D);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurScaler) scaler = demur_scaler_fit(f->train, N, D, &error);
  g_assert_no_error(error);
  demur_scaler_apply(scaler, f->train, N, f->train);
  demur_scaler_apply(scaler, f->query, M, f->query);

  g_autoptr(DemurDistanceReference) reference =
      demur_distance_reference_new(f->train, N, D, &error);
  g_assert_no_error(error);
  f->near = demur_new_matrix(double, M, DEMUR_LOF_K);
  f->near_indices = demur_new_matrix(guint32, M, DEMUR_LOF_K);
  f->own_near = demur_new_matrix(double, N, DEMUR_LOF_K);
  f->own_indices = demur_new_matrix(guint32, N, DEMUR_LOF_K);
  f->log_sum_exp = demur_new_array(double, M);
  const DemurDistanceWants of_query = {.k = DEMUR_LOF_K,
                                       .near_distances = f->near,
                                       .near_indices = f->near_indices,
                                       .log_sum_exp = f->log_sum_exp};
  const DemurDistanceWants of_train = {
      .k = DEMUR_LOF_K, .near_distances = f->own_near, .near_indices = f->own_indices};
  gssize own[N];
  for (gssize i = 0; i < N; i++)
    own[i] = i;
  g_assert_true(demur_distance_pass(reference, f->query, M, NULL, &of_query, NULL, NULL, &error));
  g_assert_true(demur_distance_pass(reference, f->train, N, own, &of_train, NULL, NULL, &error));
}

static void
tear_down(Fixture *f, gconstpointer data) {
  g_clear_object(&f->parser);
  g_aligned_free(f->train);
  g_aligned_free(f->query);
  g_aligned_free(f->near);
  g_aligned_free(f->near_indices);
  g_aligned_free(f->own_near);
  g_aligned_free(f->own_indices);
  g_aligned_free(f->log_sum_exp);
}

static double *
expected(JsonObject *object, const char *key, size_t n) {
  size_t length;
  double *values = demur_test_doubles(json_object_get_array_member(object, key), &length);
  g_assert_cmpuint(length, ==, n);
  return values;
}

static void
scaled_rows_are_those_of_the_reference(Fixture *f, gconstpointer data) {
  if (f->parser == NULL)
    return;
  DEMUR_AUTO_ALIGNED double *train = matrix(f->golden, "train_scaled", D);
  DEMUR_AUTO_ALIGNED double *query = matrix(f->golden, "query_scaled", D);
  for (size_t i = 0; i < N * D; i++)
    demur_assert_close(f->train[i], train[i], 1e-10, 1e-12);
  for (size_t i = 0; i < M * D; i++)
    demur_assert_close(f->query[i], query[i], 1e-10, 1e-12);
}

static void
mean_distance_to_the_eight_nearest(Fixture *f, gconstpointer data) {
  if (f->parser == NULL)
    return;
  g_autofree double *right = expected(f->golden, "knn8_mean", M);
  double found[M];
  demur_neighbours_mean_distance(f->near, M, DEMUR_LOF_K, DEMUR_NEIGHBOURS_K, found, 1);
  for (size_t i = 0; i < M; i++)
    demur_assert_close(found[i], right[i], 1e-10, 0);
}

static void
density_is_exact(Fixture *f, gconstpointer data) {
  if (f->parser == NULL)
    return;
  g_autofree double *right = expected(f->golden, "kde_exact_direct", M);
  for (size_t i = 0; i < M; i++)
    demur_assert_close(demur_kde_log_density(f->log_sum_exp[i], N, D), right[i], 1e-10, 0);
}

static void
one_class_svm_reaches_the_optimum(Fixture *f, gconstpointer data) {
  if (f->parser == NULL)
    return;
  JsonObject *osvm = json_object_get_object_member(f->golden, "osvm");
  const double gamma = demur_svm_scale_gamma(f->train, N, D);
  demur_assert_close(gamma, json_object_get_double_member(osvm, "gamma"), 1e-10, 0);

  g_autoptr(GError) error = NULL;
  g_autoptr(DemurDistanceReference) reference =
      demur_distance_reference_new(f->train, N, D, &error);
  double alphas[N], scores[M], sum = 0.0;
  g_assert_true(demur_svm_fit(reference, gamma, 0.5, 0.0, alphas, NULL, NULL, &error));
  g_assert_no_error(error);

  /* The support vectors and their weights, which the optimum fixes. */
  size_t n_vectors;
  g_autofree double *support =
      demur_test_doubles(json_object_get_array_member(osvm, "support_tol1e12"), &n_vectors);
  g_autofree double *weights = expected(osvm, "dual_coef_tol1e12", n_vectors);
  double right_alphas[N] = {0.0};
  for (size_t s = 0; s < n_vectors; s++)
    right_alphas[(size_t)support[s]] = weights[s];
  for (size_t i = 0; i < N; i++) {
    sum += alphas[i];
    demur_assert_close(alphas[i], right_alphas[i], 0, 1e-5);
  }
  demur_assert_close(sum, 0.5 * N, 1e-12, 0);

  const DemurDistanceWants score = {.weights = alphas, .gamma = gamma, .kernel_sum = scores};
  g_assert_true(demur_distance_pass(reference, f->query, M, NULL, &score, NULL, NULL, &error));
  g_autofree double *tight = expected(osvm, "score_samples_tol1e12", M);
  g_autofree double *loose = expected(osvm, "score_samples_tol1e3", M);
  for (size_t i = 0; i < M; i++) {
    demur_assert_close(scores[i], tight[i], 1e-7, 0);
    demur_assert_close(scores[i], loose[i], 0, 1e-3);
  }
}

static void
forest_agrees_in_the_mean_over_seeds(Fixture *f, gconstpointer data) {
  if (f->parser == NULL)
    return;
  JsonObject *isoforest = json_object_get_object_member(f->golden, "isoforest");
  g_autofree double *mean20 = expected(isoforest, "mean20", M);
  g_autofree double *std20 = expected(isoforest, "std20", M);
  float train[N * D], query[M * D];
  for (size_t i = 0; i < N * D; i++)
    train[i] = (float)f->train[i];
  for (size_t i = 0; i < M * D; i++)
    query[i] = (float)f->query[i];
  double mean[M] = {0.0}, worst = 0.0;
  for (guint64 seed = 1; seed <= 20; seed++) {
    double scores[M];
    g_autoptr(DemurForest) forest =
        demur_forest_fit(train, N, D, DEMUR_FOREST_TREES, DEMUR_FOREST_SAMPLE, seed, NULL);
    demur_forest_score(forest, query, M, scores, 1, NULL);
    for (size_t i = 0; i < M; i++)
      mean[i] += scores[i] / 20.0;
  }
  for (size_t i = 0; i < M; i++) {
    worst = fmax(worst, fabs(mean[i] - mean20[i]) / std20[i]);
    demur_assert_close(mean[i], mean20[i], 0, 4.0 * std20[i]);
  }
  g_test_message("largest difference of the means: %.2f of the sd of one seed", worst);
  /* Two means of 20 differ by sd * sqrt(2/20) = 0.32; the largest of 50 stays below four of those.
   */
  g_assert_cmpfloat(worst, <, 4 * 0.32);
}

static void
local_outlier_factor_of_queries_and_of_the_train_rows(Fixture *f, gconstpointer data) {
  if (f->parser == NULL)
    return;
  JsonObject *lof = json_object_get_object_member(f->golden, "lof");
  g_autofree double *right = expected(lof, "score_samples", M);
  g_autofree double *right_lrd = expected(lof, "train_lrd", N);
  g_autofree double *right_train = expected(lof, "negative_outlier_factor_train", N);
  double kdist[N], lrd[N];
  demur_lof_fit(f->own_near, f->own_indices, N, DEMUR_LOF_K, DEMUR_LOF_K, kdist, lrd);
  for (size_t i = 0; i < N; i++) {
    demur_assert_close(lrd[i], right_lrd[i], 1e-10, 0);
    demur_assert_close(demur_lof_score(f->own_near + i * DEMUR_LOF_K,
                                       f->own_indices + i * DEMUR_LOF_K, DEMUR_LOF_K, kdist, lrd),
                       right_train[i], 1e-10, 0);
  }
  for (size_t i = 0; i < M; i++)
    demur_assert_close(demur_lof_score(f->near + i * DEMUR_LOF_K, f->near_indices + i * DEMUR_LOF_K,
                                       DEMUR_LOF_K, kdist, lrd),
                       right[i], 1e-10, 0);
}

/* The whole model takes floats: the golden rows rounded to float, so 1e-5 instead of 1e-10. */
static void
model_gives_all_five(Fixture *f, gconstpointer data) {
  if (f->parser == NULL)
    return;
  DEMUR_AUTO_ALIGNED double *raw_train = matrix(f->golden, "train", D);
  DEMUR_AUTO_ALIGNED double *raw_query = matrix(f->golden, "query", D);
  float train[N * D], query[M * D];
  for (size_t i = 0; i < N * D; i++)
    train[i] = (float)raw_train[i];
  for (size_t i = 0; i < M * D; i++)
    query[i] = (float)raw_query[i];
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurOutlierModel) model =
      demur_outlier_model_fit(train, N, D, NULL, 1, NULL, NULL, &error);
  g_assert_no_error(error);
  double out[M][DEMUR_N_OUTLIER], own[N][DEMUR_N_OUTLIER];
  g_assert_true(demur_outlier_model_score(model, query, M, NULL, out[0], NULL, NULL, &error));

  JsonObject *osvm = json_object_get_object_member(f->golden, "osvm");
  JsonObject *isoforest = json_object_get_object_member(f->golden, "isoforest");
  JsonObject *lof = json_object_get_object_member(f->golden, "lof");
  g_autofree double *knn = expected(f->golden, "knn8_mean", M);
  g_autofree double *kde = expected(f->golden, "kde_exact_direct", M);
  g_autofree double *svm = expected(osvm, "score_samples_tol1e12", M);
  g_autofree double *mean20 = expected(isoforest, "mean20", M);
  g_autofree double *std20 = expected(isoforest, "std20", M);
  g_autofree double *score = expected(lof, "score_samples", M);
  for (size_t i = 0; i < M; i++) {
    demur_assert_close(out[i][DEMUR_OUTLIER_KNN], knn[i], 1e-5, 0);
    demur_assert_close(out[i][DEMUR_OUTLIER_KDE], kde[i], 1e-5, 0);
    demur_assert_close(out[i][DEMUR_OUTLIER_SVM], svm[i], 1e-5, 1e-5);
    demur_assert_close(out[i][DEMUR_OUTLIER_FOREST], mean20[i], 0, 4.0 * std20[i]);
    demur_assert_close(out[i][DEMUR_OUTLIER_LOF], score[i], 1e-5, 0);
  }
  gssize exclude[N];
  for (gssize i = 0; i < N; i++)
    exclude[i] = i;
  g_assert_true(demur_outlier_model_score(model, train, N, exclude, own[0], NULL, NULL, &error));
  g_autofree double *own_lof = expected(lof, "negative_outlier_factor_train", N);
  for (size_t i = 0; i < N; i++)
    demur_assert_close(own[i][DEMUR_OUTLIER_LOF], own_lof[i], 1e-5, 0);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
#define ADD(path, function)                                                                        \
  g_test_add("/features/outlier/" path, Fixture, NULL, set_up, function, tear_down)
  ADD("scaled", scaled_rows_are_those_of_the_reference);
  ADD("knn", mean_distance_to_the_eight_nearest);
  ADD("kde", density_is_exact);
  ADD("ocsvm", one_class_svm_reaches_the_optimum);
  ADD("iforest", forest_agrees_in_the_mean_over_seeds);
  ADD("lof", local_outlier_factor_of_queries_and_of_the_train_rows);
  ADD("model", model_gives_all_five);
  return g_test_run();
}
