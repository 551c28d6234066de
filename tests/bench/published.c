/* A whole training on the simulated cohort, or one of a table, with the time of each stage as its progress names them.
 *
 *   bench-published published|default [THREADS [SCANS|TABLE.csv [KERNEL]]]
 *
 * published: the 7,812 updates of the paper; default: this program's own recipe. The cohort is
 * drawn, or read, first, outside the time of the training. */
#include "tests/bench/bench.h"

#include <time.h>

#include "cohort/import.h"
#include "cohort/simulate.h"
#include "selector/mlp-kernel.h"
#include "selector/training.h"

#define MAX_STAGES 32

typedef struct {
  const char *names[MAX_STAGES];
  double wall[MAX_STAGES], processor[MAX_STAGES];
  size_t n, current;
  gint64 since;
  clock_t processor_since;
} Stages;

static void
add_elapsed(Stages *s) {
  const gint64 now = g_get_monotonic_time();
  const clock_t processor = clock();
  s->wall[s->current] += (double)(now - s->since) * 1e-6;
  s->processor[s->current] += (double)(processor - s->processor_since) / CLOCKS_PER_SEC;
  s->since = now;
  s->processor_since = processor;
}

/* What passes before a stage's first report belongs to the stage before. */
static void
on_progress(double fraction, const char *stage, gpointer data) {
  Stages *s = data;
  add_elapsed(s);
  size_t i = 0;
  while (i < s->n && strcmp(s->names[i], stage) != 0)
    i++;
  if (i == MAX_STAGES)
    return;
  if (i == s->n)
    s->names[s->n++] = g_intern_string(stage);
  s->current = i;
}

int
main(int argc, char **argv) {
  const gboolean published = argc > 1 && strcmp(argv[1], "published") == 0;
  if (argc < 2 || (!published && strcmp(argv[1], "default") != 0)) {
    fprintf(stderr,
            "usage: bench-published published|default [THREADS [SCANS|TABLE.csv [KERNEL]]]\n");
    return 2;
  }
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurParallel) parallel =
      demur_parallel_new(argc > 2 ? (guint)strtoul(argv[2], NULL, 10) : 2);
  if (argc > 4 && !demur_mlp_kernel_choose(argv[4], &error))
    bench_fail(error);
  const gboolean is_table = argc > 3 && g_str_has_suffix(argv[3], ".csv");
  gint64 start = g_get_monotonic_time();
  g_autoptr(DemurCohort) cohort = NULL;
  if (is_table) {
    const DemurImportOptions options = {.name = "table"};
    cohort = demur_cohort_import(argv[3], &options, NULL, NULL, &error);
  } else {
    DemurSimulation simulation;
    demur_simulation_defaults(&simulation);
    if (argc > 3)
      simulation.n_scans = strtoul(argv[3], NULL, 10);
    cohort = demur_cohort_simulate(&simulation, "simulated", "", parallel, NULL, &error);
  }
  if (cohort == NULL)
    bench_fail(error);
  printf("the cohort: %.2f s\n", bench_seconds_since(start));
  g_autoptr(DemurTrainSettings) settings =
      published ? demur_train_settings_new_published() : demur_train_settings_new();
  Stages stages = {.names = {"before the first stage"}, .n = 1};
  const DemurProgress progress = {on_progress, &stages, NULL};
  start = stages.since = g_get_monotonic_time();
  stages.processor_since = clock();
  g_autoptr(DemurTrainingLog) log = NULL;
  g_autoptr(DemurSelector) selector =
      demur_selector_train(cohort, settings, 1, parallel, &progress, &log, &error);
  if (selector == NULL)
    bench_fail(error);
  add_elapsed(&stages);
  const double seconds = bench_seconds_since(start);
  gint64 n_updates = 0;
  for (size_t i = 0; i < log->n_models * log->n_average; i++)
    n_updates += log->networks[i]->n_updates;
  double load = 0.0;
  if (getloadavg(&load, 1) != 1)
    load = NAN;
  printf("training %s: %.2f s, %" G_GINT64_FORMAT " updates, %u threads, kernel %s, load %.1f\n",
         argv[1], seconds, n_updates, demur_parallel_n_threads(parallel), demur_mlp_kernel()->name,
         load);
  for (size_t i = 0; i < stages.n; i++)
    printf("  %-28s %7.2f s, processor %7.2f s, %5.1f %%\n", stages.names[i], stages.wall[i],
           stages.processor[i], 100.0 * stages.wall[i] / seconds);
  return 0;
}
