/* Time of the outlier features: fit on the first file's rows, score the second's.
 *
 *   bench-features N M D [THREADS [FILE|KERNEL]]
 *
 * Rows are drawn from the test stream: a mixture of 8 clusters with a heavy tail, as embeddings
 * are. With FILE, the rows (float32: reference, then queries) and our scores (float64 [M][5]) are
 * written for features.py, which times scikit-learn on the same rows and compares. Prints one line
 * a stage, and the digest of all scores, which is the same before and after a change that makes them only faster, by the level of the processor that KERNEL computes with (`avx512`, `avx2`, `portable`); the BLAS has its own for it
 * (OPENBLAS_CORETYPE: SkylakeX, Haswell, Nehalem). A stage's FLOP are two a column of each pair of rows whose distance it takes. */
#include "tests/bench/bench.h"

#include "base/blas.h"
#include "base/sha256.h"
#include "features/distances.h"
#include "features/isolation-forest.h"
#include "features/one-class-svm.h"
#include "features/outlier.h"
#include "selector/mlp-kernel.h"

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

/* ---- stages, and what of the BLAS's rate they reach ---- */

#define TURNS 7
#define BLAS_QUERIES 3072 /* a batch of the scoring */

/* What is timed: one thread, processor time, the least of TURNS. wants: of the stage under way. */
typedef struct {
  const float *raw;
  const double *rows; /* standardised: [n] of the reference, then [m] queries */
  size_t n, m, d;
  DemurDistanceReference *reference;
  DemurDistanceWants wants;
  DemurForest *forest;
  DemurOutlierModel *model;
  double *alphas, *sums, *out;
  double gamma;
} Stages;

typedef void (*StageFunc)(Stages *stages);

static void
blas_stage(Stages *s) {
  const DemurProduct shape = {
      .right_is_transposed = TRUE, .rows = MIN(s->m, BLAS_QUERIES), .columns = s->n, .inner = s->d};
  demur_blas_multiply(&shape, 1.0, s->rows + s->n * s->d, s->rows, 0.0, s->out);
}

static void
packing_stage(Stages *s) {
  g_autoptr(GError) error = NULL;
  demur_distance_reference_free(s->reference);
  s->reference = demur_distance_reference_new(s->rows, s->n, s->d, &error);
  if (s->reference == NULL)
    bench_fail(error);
}

static void
pass_stage(Stages *s) {
  g_autoptr(GError) error = NULL;
  if (!demur_distance_pass(s->reference, s->rows + s->n * s->d, s->m, NULL, &s->wants, NULL, NULL,
                           &error))
    bench_fail(error);
}

static void
svm_start_stage(Stages *s) {
  g_autoptr(GError) error = NULL;
  if (!demur_svm_start(s->reference, s->gamma, DEMUR_SVM_NU, s->alphas, NULL, NULL, &error))
    bench_fail(error);
}

static void
svm_stage(Stages *s) {
  g_autoptr(GError) error = NULL;
  svm_start_stage(s);
  const DemurDistanceWants gradient = {
      .weights = s->alphas, .gamma = s->gamma, .kernel_sum = s->sums};
  if (!demur_distance_pass(s->reference, s->rows, s->n, NULL, &gradient, NULL, NULL, &error) ||
      !demur_svm_finish(s->reference, s->gamma, 0.0, s->alphas, s->sums, NULL, NULL, &error))
    bench_fail(error);
}

static void
forest_fit_stage(Stages *s) {
  demur_forest_free(s->forest);
  s->forest =
      demur_forest_fit(s->raw, s->n, s->d, DEMUR_FOREST_TREES, DEMUR_FOREST_SAMPLE, 1, NULL);
}

static void
forest_score_stage(Stages *s) {
  demur_forest_score(s->forest, s->raw + s->n * s->d, s->m, s->sums, 1, NULL);
}

static void
fit_stage(Stages *s) {
  g_autoptr(GError) error = NULL;
  demur_outlier_model_unref(s->model);
  s->model = demur_outlier_model_fit(s->raw, s->n, s->d, NULL, 1, NULL, NULL, &error);
  if (s->model == NULL)
    bench_fail(error);
}

static void
score_stage(Stages *s) {
  g_autoptr(GError) error = NULL;
  if (!demur_outlier_model_score(s->model, s->raw + s->n * s->d, s->m, NULL, s->out, NULL, NULL,
                                 &error))
    bench_fail(error);
}

typedef struct {
  const char *name;
  StageFunc func;
  double flop; /* of its products; 0: it has none */
  DemurDistanceWants wants;
  double least; /* seconds */
} Stage;

/* The stages take turns, so that each has its moments with the processor to itself. */
static void
time_turns(Stage *all, size_t n, Stages *stages) {
  for (size_t i = 0; i < n; i++)
    all[i].least = INFINITY;
  for (int turn = 0; turn < TURNS; turn++)
    for (size_t i = 0; i < n; i++) {
      stages->wants = all[i].wants;
      const double start = bench_processor_seconds();
      all[i].func(stages);
      all[i].least = MIN(all[i].least, bench_processor_seconds() - start);
    }
}

/* One line: seconds, and what share of the BLAS's rate the products of these distances would be
 * if they were all there is. */
static void
print_stage(const Stage *stage, double blas) {
  printf("  %-34s %9.4f s", stage->name, stage->least);
  if (stage->flop > 0.0)
    printf("  %8.2f GFLOP  %6.1f GFLOP/s  %5.1f %% of the BLAS", stage->flop * 1e-9,
           stage->flop / stage->least * 1e-9, 100.0 * stage->flop / stage->least / blas);
  putchar('\n');
  fflush(stdout);
}

/* Of the scores of all queries, as the model of the last turn gives them. */
static void
print_digest(Stages *s) {
  DemurSha256 sha;
  demur_sha256_init(&sha);
  score_stage(s);
  demur_sha256_update(&sha, s->out, s->m * DEMUR_N_OUTLIER * sizeof(double));
  g_autofree char *digest = demur_sha256_finish_hex(&sha);
  printf("  SHA-256 of the scores %s\n", digest);
}

/* Pairs whose distances the start of a one-class SVM of n rows takes: each with an eighth of them, and before that those of the eighth's
 * own solution. Without the rows of the kernel that the steps ask for. */
static double
svm_pairs(size_t n) {
  const size_t some = n <= 256 ? n : (n + 7) / 8;
  const double pass = (double)n * (double)some;
  return some == n ? pass : pass + svm_pairs(some) + (double)some * (double)some;
}

/* Fitting and scoring, whole and stage by stage, beside the BLAS's dgemm of the same shape (a batch of queries x
 * reference x width, its product written to memory) in the same run. */
static void
time_stages(const float *raw, size_t n, size_t m, size_t d) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurScaler) scaler = demur_scaler_fit_floats(raw, n, d, &error);
  if (scaler == NULL)
    bench_fail(error);
  DEMUR_AUTO_ALIGNED double *rows = demur_new_matrix(double, n + m, d);
  demur_scaler_apply_floats(scaler, raw, n + m, rows);
  const size_t k = MIN(20, n - 1), n_blas = MIN(m, BLAS_QUERIES);
  DEMUR_AUTO_ALIGNED double *near = demur_new_matrix(double, MAX(n, m), k);
  DEMUR_AUTO_ALIGNED guint32 *indices = demur_new_matrix(guint32, MAX(n, m), k);
  DEMUR_AUTO_ALIGNED double *sums = demur_new_array(double, MAX(n, m));
  DEMUR_AUTO_ALIGNED double *alphas = demur_new_array(double, n);
  DEMUR_AUTO_ALIGNED double *out = demur_new_array(double, MAX(n_blas * n, m * DEMUR_N_OUTLIER));
  Stages s = {.raw = raw,
              .rows = rows,
              .n = n,
              .m = m,
              .d = d,
              .alphas = alphas,
              .sums = sums,
              .out = out,
              .gamma = demur_svm_scale_gamma(rows, n, d)};
  const double flop = 2.0 * (double)m * (double)n * (double)d,
               svm_flop = 2.0 * svm_pairs(n) * (double)d,
               fit_flop = 2.0 * (double)n * (double)n * (double)d +
                          (n <= DEMUR_SVM_MAX_ROWS ? svm_flop : 0.0);
  const DemurDistanceWants nearest = {.k = k, .near_distances = near, .near_indices = indices},
                           density = {.log_sum_exp = sums},
                           kernel = {.weights = alphas, .gamma = s.gamma, .kernel_sum = sums};
  Stage all[] = {
      {.name = "BLAS, dgemm of a batch",
       .func = blas_stage,
       .flop = 2.0 * (double)n_blas * (double)n * (double)d},
      {.name = "fit, everything", .func = fit_stage, .flop = fit_flop},
      {.name = "score, everything", .func = score_stage, .flop = flop},
      {.name = "packing", .func = packing_stage},
      {.name = "products only", .func = pass_stage, .flop = flop},
      {.name = "products, nearest 20", .func = pass_stage, .flop = flop, .wants = nearest},
      {.name = "products, log-sum-exp", .func = pass_stage, .flop = flop, .wants = density},
      {.name = "forest fit", .func = forest_fit_stage},
      {.name = "forest score", .func = forest_score_stage},
      {.name = "one-class SVM start", .func = svm_start_stage, .flop = svm_flop},
      {.name = "one-class SVM, whole", .func = svm_stage, .flop = fit_flop},
      {.name = "products, kernel sum", .func = pass_stage, .flop = flop, .wants = kernel},
  };
  const size_t n_stages = n <= DEMUR_SVM_MAX_ROWS ? G_N_ELEMENTS(all) : G_N_ELEMENTS(all) - 3;
  printf(
      "reference %zu, scans %zu, width %zu, kernel %s: one thread, processor time, least of %d\n",
      n, m, d, demur_mlp_kernel()->name, TURNS);
  time_turns(all, n_stages, &s);
  print_digest(&s);
  for (size_t i = 0; i < n_stages; i++)
    print_stage(&all[i], all[0].flop / all[0].least);
  demur_distance_reference_free(s.reference);
  demur_forest_free(s.forest);
  demur_outlier_model_unref(s.model);
}

int
main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: bench-features N M D [THREADS [FILE|KERNEL]]\n");
    return 2;
  }
  const gboolean forced = argc > 5 && demur_mlp_kernel_choose(argv[5], NULL);
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
    bench_fail(error);
  const double fit = bench_seconds_since(start);
  start = g_get_monotonic_time();
  if (!demur_outlier_model_score(model, rows + n * d, m, NULL, out, parallel, NULL, &error))
    bench_fail(error);
  const double score = bench_seconds_since(start);
  printf("demur: reference %zu, scans %zu, width %zu, %u threads: fit %.4f s, score %.4f s, both "
         "%.4f s; %zu support vectors\n",
         n, m, d, demur_parallel_n_threads(parallel), fit, score, fit + score,
         demur_outlier_model_n_svm_vectors(model));
  if (argc > 5 && !forced) {
    FILE *file = fopen(argv[5], "wb");
    if (file == NULL || fwrite(rows, sizeof(float), (n + m) * d, file) != (n + m) * d ||
        fwrite(out, sizeof(double), m * DEMUR_N_OUTLIER, file) != m * DEMUR_N_OUTLIER ||
        fclose(file) != 0) {
      fprintf(stderr, "can't write the rows\n");
      return 1;
    }
  } else {
    time_stages(rows, n, m, d);
  }
  return 0;
}
