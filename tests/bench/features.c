/* Time of the outlier features: fit on the first file's rows, score the second's.
 *
 *   bench-features N M D [THREADS [FILE]]
 *
 * Rows are drawn from the test stream: a mixture of 8 clusters with a heavy tail, as embeddings
 * are. With FILE, the rows (float32: reference, then queries) and our scores (float64 [M][5]) are
 * written for features.py, which times scikit-learn on the same rows and compares. Prints one line
 * a stage. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/random.h"
#include "features/distances.h"
#include "features/isolation-forest.h"
#include "features/one-class-svm.h"
#include "features/outlier.h"

static double
seconds_since(gint64 start) {
  return (double)(g_get_monotonic_time() - start) * 1e-6;
}

static float *
draw_rows(size_t n, size_t d) {
  float *rows = demur_new_matrix(float, n, d);
  DemurRandom centres = demur_random_stream(1, DEMUR_STREAM_TEST, 0, 0, 0);
  g_autofree double *means = g_new(double, 8 * d);
  for (size_t i = 0; i < 8 * d; i++)
    means[i] = demur_random_normal(&centres);
  for (size_t i = 0; i < n; i++) {
    DemurRandom random = demur_random_stream(1, DEMUR_STREAM_TEST, 1, i, 0);
    const size_t cluster = (size_t)demur_random_below(&random, 8);
    const double spread = 0.5 + 0.5 * demur_random_exponential(&random);
    for (size_t j = 0; j < d; j++)
      rows[i * d + j] = (float)(means[cluster * d + j] + spread * demur_random_normal(&random));
  }
  return rows;
}

static void
fail(GError *error) {
  fprintf(stderr, "%s\n", error->message);
  exit(1);
}

/* The stages of fitting one by one, for the table. */
static void
time_stages(const float *raw, size_t n, size_t m, size_t d, DemurParallel *parallel) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurScaler) scaler = demur_scaler_fit_floats(raw, n, d, &error);
  DEMUR_AUTO_ALIGNED double *rows = demur_new_matrix(double, n + m, d);
  demur_scaler_apply_floats(scaler, raw, n + m, rows);
  gint64 start = g_get_monotonic_time();
  g_autoptr(DemurDistanceReference) reference = demur_distance_reference_new(rows, n, d, &error);
  printf("  packing               %8.4f s\n", seconds_since(start));
  const size_t k = MIN(20, n);
  DEMUR_AUTO_ALIGNED double *near = demur_new_matrix(double, MAX(n, m), k);
  DEMUR_AUTO_ALIGNED guint32 *indices = demur_new_matrix(guint32, MAX(n, m), k);
  DEMUR_AUTO_ALIGNED double *sums = demur_new_array(double, MAX(n, m));
  DEMUR_AUTO_ALIGNED double *alphas = demur_new_array(double, n);
  const double gamma = demur_svm_scale_gamma(rows, n, d);
  const struct {
    const char *name;
    const double *queries;
    size_t m;
    DemurDistanceWants wants;
  } passes[] = {
      {"products only", rows + n * d, m, {.k = 0}},
      {"nearest 20", rows + n * d, m, {.k = k, .near_distances = near, .near_indices = indices}},
      {"log-sum-exp", rows + n * d, m, {.log_sum_exp = sums}},
      {"kernel sum", rows + n * d, m, {.weights = alphas, .gamma = gamma, .kernel_sum = sums}},
  };
  for (size_t p = 0; p < G_N_ELEMENTS(passes); p++) {
    start = g_get_monotonic_time();
    if (!demur_distance_pass(reference, passes[p].queries, passes[p].m, NULL, &passes[p].wants,
                             parallel, NULL, &error))
      fail(error);
    const double seconds = seconds_since(start);
    printf("  %-20s  %8.4f s  (products alone would be %.0f GFLOP/s)\n", passes[p].name, seconds,
           2.0 * (double)passes[p].m * (double)n * (double)d / seconds * 1e-9);
  }
  start = g_get_monotonic_time();
  if (!demur_svm_start(reference, gamma, 0.5, alphas, parallel, NULL, &error))
    fail(error);
  printf("  one-class SVM start   %8.4f s\n", seconds_since(start));
  const DemurDistanceWants gradient = {.weights = alphas, .gamma = gamma, .kernel_sum = sums};
  if (!demur_distance_pass(reference, rows, n, NULL, &gradient, parallel, NULL, &error))
    fail(error);
  start = g_get_monotonic_time();
  if (!demur_svm_finish(reference, gamma, 0.0, alphas, sums, parallel, NULL, &error))
    fail(error);
  printf("  one-class SVM finish  %8.4f s\n", seconds_since(start));
  start = g_get_monotonic_time();
  g_autoptr(DemurForest) forest = demur_forest_fit(raw, n, d, 100, 256, 1, parallel);
  printf("  forest fit            %8.4f s\n", seconds_since(start));
  start = g_get_monotonic_time();
  demur_forest_score(forest, raw + n * d, m, sums, 1, parallel);
  printf("  forest score          %8.4f s\n", seconds_since(start));
}

int
main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: bench-features N M D [THREADS [FILE]]\n");
    return 2;
  }
  const size_t n = strtoul(argv[1], NULL, 10), m = strtoul(argv[2], NULL, 10),
               d = strtoul(argv[3], NULL, 10);
  g_autoptr(DemurParallel) parallel =
      demur_parallel_new(argc > 4 ? (guint)strtoul(argv[4], NULL, 10) : 0);
  DEMUR_AUTO_ALIGNED float *rows = draw_rows(n + m, d);
  DEMUR_AUTO_ALIGNED double *out = demur_new_matrix(double, m, DEMUR_N_OUTLIER);
  g_autoptr(GError) error = NULL;

  gint64 start = g_get_monotonic_time();
  g_autoptr(DemurOutlierModel) model =
      demur_outlier_model_fit(rows, n, d, NULL, 1, parallel, NULL, &error);
  if (model == NULL)
    fail(error);
  const double fit = seconds_since(start);
  start = g_get_monotonic_time();
  if (!demur_outlier_model_score(model, rows + n * d, m, NULL, out, parallel, NULL, &error))
    fail(error);
  const double score = seconds_since(start);
  printf("demur: reference %zu, scans %zu, width %zu, %u threads: fit %.4f s, score %.4f s, both "
         "%.4f s; %zu support vectors\n",
         n, m, d, demur_parallel_n_threads(parallel), fit, score, fit + score,
         demur_outlier_model_n_svm_vectors(model));
  if (argc > 5) {
    FILE *file = fopen(argv[5], "wb");
    if (file == NULL || fwrite(rows, sizeof(float), (n + m) * d, file) != (n + m) * d ||
        fwrite(out, sizeof(double), m * DEMUR_N_OUTLIER, file) != m * DEMUR_N_OUTLIER ||
        fclose(file) != 0) {
      fprintf(stderr, "can't write the rows\n");
      return 1;
    }
  } else if (n <= DEMUR_SVM_MAX_ROWS) {
    time_stages(rows, n, m, d, parallel);
  }
  return 0;
}
