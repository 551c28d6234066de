/* Milliseconds an update of Algorithm 1 takes at the paper's sizes: 32 data sets of 1,024 out of
 * 6,282 scans at 33 sites, kappa 4 by the 10-point AUC, an 11-64-64-1 network.  Usage:
 * bench-trainer [threads [updates]] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "selector/trainer.h"

int
main(int argc, char **argv) {
  const guint n_threads = argc > 1 ? (guint)atoi(argv[1]) : 2;
  const gint64 n_updates = argc > 2 ? atoi(argv[2]) : 1000;
  const size_t n = 6282, d = 11, n_sites = 33;
  g_autoptr(DemurParallel) parallel = demur_parallel_new(n_threads);
  double *features = demur_new_matrix(double, n, d), *risks = demur_new_array(double, n),
         *labels = demur_new_array(double, n);
  guint32 *sites = demur_new_array(guint32, n);
  DemurRandom random = demur_random_stream(1, DEMUR_STREAM_TEST, 0, 0, 0);
  for (size_t i = 0; i < n; i++) {
    const double logit = -3.0 + 1.3 * demur_random_normal(&random);
    risks[i] = 1.0 / (1.0 + exp(-logit));
    labels[i] = demur_random_uniform(&random) < 1.0 / (1.0 + exp(-1.3 * logit - 0.5));
    sites[i] = (guint32)(demur_random_below(&random, n_sites) *
                         demur_random_below(&random, n_sites) / n_sites);
    for (size_t c = 0; c < d; c++)
      features[i * d + c] = c == 0 ? logit : demur_random_normal(&random);
  }
  const DemurTrainerPart part = {.n_scans = n,
                                 .n_features = d,
                                 .features = features,
                                 .risks = risks,
                                 .labels = labels,
                                 .groups = sites,
                                 .n_groups = n_sites};
  g_autoptr(DemurTrainSettings) settings = demur_train_settings_new_published();
  settings->epochs = 1;
  settings->datasets_per_epoch = n_updates * settings->batch;
  const gint64 start = g_get_monotonic_time();
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurTrainerResult) result =
      demur_trainer_run(&part, &part, settings, 1, 0, 0, parallel, NULL, &error);
  if (result == NULL)
    g_error("%s", error->message);
  const double seconds = (double)(g_get_monotonic_time() - start) / 1e6;
  printf("%u threads: %.3f ms an update (%" G_GINT64_FORMAT " updates in %.2f s, validation "
         "included); loss %.6f, worst AUC %.6f -> %.6f\n",
         n_threads, seconds * 1e3 / (double)n_updates, n_updates, seconds, result->history[1].loss,
         result->history[0].worst_auc, result->history[1].worst_auc);
  return 0;
}
