/* What an update works with does not hang on the scans that it doesn't see: neither its memory nor its result. */
#include <malloc.h>
#include <string.h>

#include "base/memory.h"
#include "selector/update.h"
#include "support/support.h"

enum { N_DATASETS = 4, SIZE = 150, N_FEATURES = 3, N_HIDDEN = 64 };

static const DemurUpdateSettings settings = {.smmce = {2, 0.2, 1.0, 0.01},
                                             .adam = {0.01, 0.0, 1.0},
                                             .kappa = 2,
                                             .kappa_coverage = 0.0,
                                             .min_bin_size = 25};

/* Scans in ascending risk, some of them equal; with weights or without. */
typedef struct {
  DemurTrainingScans scans;
  DemurReal *features;
  double *risks, *labels, *errors, *weights;
} Scans;

static void
scans_clear(Scans *s) {
  g_free(s->features);
  g_free(s->risks);
  g_free(s->labels);
  g_free(s->errors);
  g_free(s->weights);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Scans, scans_clear)

static Scans
scans_new(size_t n, gboolean weighted) {
  Scans s = {.features = g_new(DemurReal, n * N_FEATURES),
             .risks = g_new(double, n),
             .labels = g_new(double, n),
             .errors = g_new(double, n),
             .weights = weighted ? g_new(double, n) : NULL};
  DemurRandom random = demur_random_stream(7, DEMUR_STREAM_TEST, n, 0, 0);
  for (size_t i = 0; i < n; i++) {
    s.risks[i] = (double)(i / 3 * 3) / (double)n;
    s.labels[i] = demur_random_uniform(&random) < s.risks[i] ? 1.0 : 0.0;
    s.errors[i] = (s.labels[i] - s.risks[i]) * (s.labels[i] - s.risks[i]);
    for (size_t c = 0; c < N_FEATURES; c++)
      s.features[i * N_FEATURES + c] = (DemurReal)demur_random_normal(&random);
    if (weighted)
      s.weights[i] = 0.5 + demur_random_uniform(&random);
  }
  s.scans = (DemurTrainingScans){n, N_FEATURES, s.features, s.risks, s.labels, s.errors, s.weights};
  return s;
}

/* Every step-th scan alone. */
static Scans
scans_part(const Scans *from, size_t n, size_t step) {
  Scans s = scans_new(n, from->weights != NULL);
  for (size_t i = 0; i < n; i++) {
    memcpy(s.features + i * N_FEATURES, from->features + i * step * N_FEATURES,
           N_FEATURES * sizeof(DemurReal));
    s.risks[i] = from->risks[i * step];
    s.labels[i] = from->labels[i * step];
    s.errors[i] = from->errors[i * step];
    if (s.weights != NULL)
      s.weights[i] = from->weights[i * step];
  }
  return s;
}

/* Two updates on data sets that share no scan, so that together they fill the working memory: data set k holds scans
 * (k + N_DATASETS j) step. parameters [n_parameters] (g_aligned_free). */
static DemurReal *
update_twice(const Scans *s, size_t step, DemurUpdateResult *result) {
  const DemurMlpShape shape = demur_mlp_shape(N_FEATURES, N_HIDDEN);
  DemurDataset *datasets[N_DATASETS];
  for (size_t k = 0; k < N_DATASETS; k++) {
    datasets[k] = demur_dataset_new(SIZE);
    datasets[k]->n_rows = datasets[k]->n_total = SIZE;
    for (size_t j = 0; j < SIZE; j++) {
      datasets[k]->rows[j] = (guint32)((k + N_DATASETS * j) * step);
      datasets[k]->counts[j] = 1;
    }
  }
  DemurReal *parameters = demur_new_array(DemurReal, shape.n_parameters);
  DemurRandom random = demur_random_stream(1, DEMUR_STREAM_WEIGHTS, 0, 0, 0);
  demur_mlp_initialise(shape, &random, parameters);
  DemurAdam *adam = demur_adam_new(shape.n_parameters);
  g_autoptr(DemurUpdater) updater =
      demur_updater_new(&s->scans, shape, &settings, N_DATASETS, SIZE, NULL);
  for (int update = 0; update < 2; update++)
    demur_updater_run(updater, datasets, adam, parameters, result);
  demur_adam_free(adam);
  for (size_t k = 0; k < N_DATASETS; k++)
    demur_dataset_free(datasets[k]);
  return parameters;
}

static void
scans_that_are_not_drawn_change_nothing(void) {
  enum { STEP = 37, N_SEEN = N_DATASETS * SIZE };
  for (int weighted = 0; weighted < 2; weighted++) {
    g_auto(Scans) many = scans_new(N_SEEN * STEP, weighted != 0);
    g_auto(Scans) seen = scans_part(&many, N_SEEN, STEP);
    DemurUpdateResult of_many, of_seen;
    DEMUR_AUTO_ALIGNED DemurReal *a = update_twice(&many, STEP, &of_many);
    DEMUR_AUTO_ALIGNED DemurReal *b = update_twice(&seen, 1, &of_seen);
    const size_t n_bytes = demur_mlp_shape(N_FEATURES, N_HIDDEN).n_parameters * sizeof *a;
    g_assert_true(memcmp(a, b, n_bytes) == 0);
    g_assert_true(memcmp(&of_many, &of_seen, sizeof of_many) == 0);
    g_assert_cmpfloat(of_many.loss, >, 0.0);
  }
}

static size_t
bytes_in_use(void) {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

/* A hidden layer alone is 256 bytes a scan. */
static void
memory_is_that_of_the_scans_seen(void) {
  enum { N_FEW = N_DATASETS * SIZE, N_MANY = 100000 };
  const DemurMlpShape shape = demur_mlp_shape(N_FEATURES, N_HIDDEN);
  size_t bytes[2];
  for (int many = 0; many < 2; many++) {
    g_auto(Scans) s = scans_new(many ? N_MANY : N_FEW, FALSE);
    const size_t before = bytes_in_use();
    g_autoptr(DemurUpdater) updater =
        demur_updater_new(&s.scans, shape, &settings, N_DATASETS, SIZE, NULL);
    bytes[many] = bytes_in_use() - before;
  }
  if (bytes[0] == 0) { /* a sanitizer's allocator counts nothing */
    g_test_skip("this allocator does not tell what is in use");
    return;
  }
  enum { PAGES = 16 * 4096 }; /* each large array is rounded up to whole pages */
  g_assert_cmpuint(bytes[1] - bytes[0], <, (size_t)21 * (N_MANY - N_FEW) + PAGES);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/selector/update/unseen", scans_that_are_not_drawn_change_nothing);
  g_test_add_func("/selector/update/memory", memory_is_that_of_the_scans_seen);
  return g_test_run();
}
