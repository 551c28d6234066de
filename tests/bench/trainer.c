/* Milliseconds of the clock that an update of Algorithm 1 takes in a training, by number of threads, at the
 * paper's sizes: 32 data sets of 1,024 out of 6,282 scans at 33 sites, kappa 4 by the 10-point AUC, an
 * 11-64-64-1 network.
 *
 *   bench-trainer [THREADS[,THREADS ..] [UPDATES [ROUNDS [KERNEL]]]]
 *
 * The numbers of threads take turns, ROUNDS trainings of UPDATES each. A training tells how far it is every
 * 16 updates: the times between are the samples. Of them the least, which other work on the machine
 * spoils last, and the median, which it doesn't spare; beside them processor time. Exit 1 where two numbers of
 * threads end with different parameters. */
#include "tests/bench/bench.h"

#include <time.h>

#include "selector/mlp-kernel.h"
#include "selector/trainer.h"

#define UPDATES_A_TELLING 16
#define MAX_COUNTS 8

typedef struct {
  guint n_threads;
  GArray *samples; /* of double: milliseconds an update */
  double seconds, processor;
  gint64 since; /* the last telling; 0: none yet */
  DemurReal *parameters;
} Count;

static void
on_progress(double fraction, const char *stage, gpointer data) {
  Count *count = data;
  const gint64 now = g_get_monotonic_time();
  const double milliseconds = (double)(now - count->since) * 1e-3 / UPDATES_A_TELLING;
  if (count->since > 0)
    g_array_append_val(count->samples, milliseconds);
  count->since = now;
}

static double
processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static gboolean
train(Count *count, const DemurTrainerPart *part, const DemurTrainSettings *settings) {
  g_autoptr(DemurParallel) parallel = demur_parallel_new(count->n_threads);
  const DemurProgress progress = {on_progress, count, NULL};
  const gint64 start = g_get_monotonic_time();
  const double processor = processor_seconds();
  count->since = 0;
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurTrainerResult) result =
      demur_trainer_run(part, part, settings, 1, 0, 0, parallel, &progress, &error);
  if (result == NULL)
    bench_fail(error);
  count->seconds += bench_seconds_since(start);
  count->processor += processor_seconds() - processor;
  const size_t size = result->shape.n_parameters * sizeof(DemurReal);
  const gboolean same =
      count->parameters == NULL || memcmp(count->parameters, result->parameters, size) == 0;
  if (count->parameters == NULL)
    count->parameters = g_memdup2(result->parameters, size);
  return same;
}

static void
print_counts(const Count *counts, size_t n, gint64 n_updates) {
  double first = 0.0;
  for (size_t i = 0; i < n; i++) {
    GArray *samples = counts[i].samples;
    const double median = bench_median((double *)samples->data, samples->len);
    const double least = g_array_index(samples, double, 0);
    first = i == 0 ? least : first;
    printf(
        "%2u threads: least %.3f ms an update, median %.3f, all %.3f, processor %.3f; %.2f times\n",
        counts[i].n_threads, least, median, counts[i].seconds * 1e3 / (double)n_updates,
        counts[i].processor * 1e3 / (double)n_updates, first / least);
  }
}

int
main(int argc, char **argv) {
  g_auto(GStrv) words = g_strsplit(argc > 1 ? argv[1] : "1,2", ",", MAX_COUNTS);
  const gint64 n_updates = argc > 2 ? MAX(atoi(argv[2]), 2 * UPDATES_A_TELLING) : 1000;
  const int n_rounds = argc > 3 ? MAX(atoi(argv[3]), 1) : 3;
  g_autoptr(GError) error = NULL;
  if (argc > 4 && !demur_mlp_kernel_choose(argv[4], &error))
    bench_fail(error);
  const size_t n = BENCH_N_SCANS, d = BENCH_N_FEATURES;
  DEMUR_AUTO_ALIGNED double *features = demur_new_matrix(double, n, d);
  DEMUR_AUTO_ALIGNED double *risks = demur_new_array(double, n);
  DEMUR_AUTO_ALIGNED double *labels = demur_new_array(double, n);
  DEMUR_AUTO_ALIGNED guint32 *sites = demur_new_array(guint32, n);
  bench_draw(n, d, features, risks, labels, sites);
  const DemurTrainerPart part = {.n_scans = n,
                                 .n_features = d,
                                 .features = features,
                                 .risks = risks,
                                 .labels = labels,
                                 .groups = sites,
                                 .n_groups = BENCH_N_SITES};
  g_autoptr(DemurTrainSettings) settings = demur_train_settings_new_published();
  settings->epochs = 1;
  settings->datasets_per_epoch = n_updates * settings->batch;
  Count counts[MAX_COUNTS] = {0};
  const size_t n_counts = g_strv_length(words);
  gboolean same = TRUE;
  for (size_t i = 0; i < n_counts; i++)
    counts[i] = (Count){.n_threads = (guint)MAX(atoi(words[i]), 1),
                        .samples = g_array_new(FALSE, FALSE, sizeof(double))};
  for (int round = 0; round < n_rounds; round++)
    for (size_t i = 0; i < n_counts; i++)
      same &= train(&counts[i], &part, settings);
  for (size_t i = 1; i < n_counts; i++)
    same &=
        memcmp(counts[0].parameters, counts[i].parameters,
               demur_mlp_shape(d, (size_t)settings->hidden).n_parameters * sizeof(DemurReal)) == 0;
  printf("kernel %s, %d trainings of %" G_GINT64_FORMAT " updates each\n", demur_mlp_kernel()->name,
         n_rounds, n_updates);
  print_counts(counts, n_counts, n_updates * n_rounds);
  printf("%s\n", same ? "same parameters" : "parameters DIFFER");
  for (size_t i = 0; i < n_counts; i++) {
    g_array_free(counts[i].samples, TRUE);
    g_free(counts[i].parameters);
  }
  return same ? 0 : 1;
}
