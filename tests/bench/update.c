/* One update of Algorithm 1 at the paper's sizes (32 data sets of 1,024 out of 6,282 scans at 33
 * sites, kappa 4 by the 10-point AUC, an 11-64-64-1 network), for update.py to compare with its
 * twins.
 *
 *   bench-update write FILE UPDATES    runs that many updates and writes all that went in and came
 * out bench-update serve THREADS         reads numbers of updates, answers with the milliseconds of
 * each
 *
 * bench-update-double is the same source with double numbers: there the twin must agree to
 * rounding.
 *
 * FILE, in this order, little endian: int64 [10]: scans, features, hidden, data sets, size of one,
 * updates, parameters, bytes of a real, kappa, sites; features real [scans][features]; risks,
 * labels float64 [scans]; sites uint32 [scans]; initial parameters real; then for each update: rows
 * uint32 [data sets][size], ascending, with multiplicity; errors by which the worst are chosen
 * float64 [data sets]; loss, gradient norm float64; parameters real. */
#include "tests/bench/bench.h"

#include <time.h>

#include "selector/mlp-kernel.h"
#include "selector/update.h"

#define N_DATASETS 32
#define DATASET_SIZE 1024
#define N_HIDDEN 64
#define KAPPA 4

typedef struct {
  DemurParallel *parallel;
  DemurTrainingScans scans;
  DemurReal *features;
  double *risks, *labels, *errors;
  guint32 *sites;
  DemurMlpShape shape;
  DemurReal *parameters;
  DemurAdam *adam;
  DemurUpdater *updater;
  DemurResampler *resampler;
  DemurResamplerScratch **scratch; /* [n_threads] */
  /* Of this update and of the next, which are drawn in its gaps, as in a training. */
  DemurDataset *datasets[2][N_DATASETS];
  guint64 update, drawn; /* at work; the one whose data sets were begun last */
} Bench;

static void
bench_start(Bench *b, guint n_threads) {
  const size_t n = BENCH_N_SCANS, d = BENCH_N_FEATURES;
  b->parallel = demur_parallel_new(n_threads);
  DEMUR_AUTO_ALIGNED double *features = demur_new_matrix(double, n, d);
  b->features = demur_new_matrix(DemurReal, n, d);
  b->risks = demur_new_array(double, n);
  b->labels = demur_new_array(double, n);
  b->errors = demur_new_array(double, n);
  b->sites = demur_new_array(guint32, n);
  bench_draw(n, d, features, b->risks, b->labels, b->sites);
  for (size_t i = 0; i < n * d; i++)
    b->features[i] = (DemurReal)features[i];
  for (size_t i = 0; i < n; i++)
    b->errors[i] = (b->labels[i] - b->risks[i]) * (b->labels[i] - b->risks[i]);
  b->scans = (DemurTrainingScans){n, d, b->features, b->risks, b->labels, b->errors, NULL};
  b->shape = demur_mlp_shape(d, N_HIDDEN);
  b->parameters = demur_new_array(DemurReal, b->shape.n_parameters);
  DemurRandom random = demur_random_stream(1, DEMUR_STREAM_WEIGHTS, 0, 0, 0);
  demur_mlp_initialise(b->shape, &random, b->parameters);
  b->adam = demur_adam_new(b->shape.n_parameters);
  const DemurUpdateSettings settings = {
      .smmce = {2, 0.2, 1.0, 0.01}, .adam = {1e-3, 1e-5, 10.0}, .kappa = KAPPA, .min_bin_size = 25};
  b->updater =
      demur_updater_new(&b->scans, b->shape, &settings, N_DATASETS, DATASET_SIZE, b->parallel);
  b->resampler =
      demur_resampler_new(DEMUR_SHIFT_GROUPS, n, b->sites, BENCH_N_SITES, 1.0, DATASET_SIZE);
  b->scratch = g_new(DemurResamplerScratch *, n_threads);
  for (guint w = 0; w < n_threads; w++)
    b->scratch[w] = demur_resampler_scratch_new(b->resampler);
  for (size_t k = 0; k < 2 * N_DATASETS; k++)
    b->datasets[k / N_DATASETS][k % N_DATASETS] = demur_dataset_new(DATASET_SIZE);
}

static void
draw_some(size_t chunk, guint worker, gpointer data) {
  Bench *b = data;
  const size_t first = chunk * DEMUR_RANDOM_LANES;
  DemurRandom randoms[DEMUR_RANDOM_LANES];
  for (size_t l = 0; l < DEMUR_RANDOM_LANES; l++)
    randoms[l] = demur_random_stream(1, DEMUR_STREAM_RESAMPLE, 0, b->drawn, first + l);
  demur_resampler_draw_some(b->resampler, randoms, DEMUR_RANDOM_LANES, b->scratch[worker],
                            b->datasets[b->drawn % 2] + first);
}

static void
begin_draw(Bench *b, guint64 update) {
  b->drawn = update;
  demur_parallel_begin(b->parallel, N_DATASETS / DEMUR_RANDOM_LANES, draw_some, b);
}

/* Alone, a thread draws when the data sets are needed. The datasets are those of its return. */
static DemurDataset *const *
run_update(Bench *b, DemurUpdateResult *result) {
  const gboolean ahead = demur_parallel_n_threads(b->parallel) > 1;
  if (!ahead || b->update == 0)
    begin_draw(b, b->update);
  demur_parallel_finish(b->parallel);
  DemurDataset *const *datasets = b->datasets[b->update % 2];
  if (ahead)
    begin_draw(b, b->update + 1);
  demur_updater_run(b->updater, datasets, b->adam, b->parameters, result);
  b->update++;
  return datasets;
}

static gboolean
put(FILE *file, const void *values, size_t size, size_t n) {
  return fwrite(values, size, n, file) == n;
}

static int
write_updates(const char *path, gint64 n_updates) {
  Bench b = {0};
  bench_start(&b, 1);
  FILE *file = fopen(path, "wb");
  if (file == NULL) {
    fprintf(stderr, "can't write %s\n", path);
    return 1;
  }
  const size_t n = BENCH_N_SCANS, p = b.shape.n_parameters;
  const gint64 header[] = {(gint64)n,    BENCH_N_FEATURES, N_HIDDEN,  N_DATASETS,
                           DATASET_SIZE, n_updates,        (gint64)p, sizeof(DemurReal),
                           KAPPA,        BENCH_N_SITES};
  gboolean ok = put(file, header, sizeof *header, G_N_ELEMENTS(header)) &&
                put(file, b.features, sizeof(DemurReal), n * BENCH_N_FEATURES) &&
                put(file, b.risks, sizeof(double), n) && put(file, b.labels, sizeof(double), n) &&
                put(file, b.sites, sizeof(guint32), n) &&
                put(file, b.parameters, sizeof(DemurReal), p);
  for (gint64 u = 0; ok && u < n_updates; u++) {
    DemurUpdateResult result;
    DemurDataset *const *datasets = run_update(&b, &result);
    for (size_t k = 0; ok && k < N_DATASETS; k++) {
      guint32 rows[DATASET_SIZE];
      size_t m = 0;
      for (size_t j = 0; j < datasets[k]->n_rows; j++)
        for (guint16 c = 0; c < datasets[k]->counts[j]; c++)
          rows[m++] = datasets[k]->rows[j];
      ok = m == DATASET_SIZE && put(file, rows, sizeof *rows, m);
    }
    const double values[] = {result.loss, result.gradient_norm};
    ok = ok && put(file, demur_updater_dataset_errors(b.updater), sizeof(double), N_DATASETS) &&
         put(file, values, sizeof *values, 2) && put(file, b.parameters, sizeof(DemurReal), p);
  }
  if (fclose(file) != 0 || !ok) {
    fprintf(stderr, "can't write %s\n", path);
    return 1;
  }
  return 0;
}

/* Of the clock, or of the processor where one thread works: other work on the machine doesn't count. */
static double
milliseconds(gboolean processor) {
  struct timespec now;
  clock_gettime(processor ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static int
serve(guint n_threads, gboolean processor) {
  Bench b = {0};
  bench_start(&b, n_threads);
  char line[64];
  while (fgets(line, sizeof line, stdin) != NULL) {
    const int n = atoi(line);
    for (int i = 0; i < n; i++) {
      DemurUpdateResult result;
      const double start = milliseconds(processor);
      run_update(&b, &result);
      printf("%.3f ", milliseconds(processor) - start);
    }
    printf("\n");
    fflush(stdout);
  }
  return 0;
}

int
main(int argc, char **argv) {
  if (argc == 4 && strcmp(argv[1], "write") == 0)
    return write_updates(argv[2], atoi(argv[3]));
#ifndef DEMUR_REAL_DOUBLE
  g_autoptr(GError) error = NULL;
  if (argc >= 4 && strcmp(argv[1], "serve") == 0 && !demur_mlp_kernel_choose(argv[3], &error))
    bench_fail(error);
#endif
  if (argc >= 3 && argc <= 5 && strcmp(argv[1], "serve") == 0)
    return serve((guint)MAX(atoi(argv[2]), 1), atoi(argv[2]) == 1 && argc < 5);
  fprintf(stderr, "usage: bench-update write FILE UPDATES | serve THREADS [KERNEL [clock]]\n");
  return 2;
}
