/* Evaluation of 9 methods x 5 models x 5 resamples (and the split itself) at 50 coverages on 1,337
 * scans, without and with the bootstrap; and what the extra measures take of it.
 *
 * ninja bench-evaluation; bench-evaluation [threads] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "evaluation/evaluate.h"
#include "evaluation/extra.h"
#include "metrics/coverage.h"

#define N_SCANS 1337
#define N_SITES 25
#define N_METHODS 9
#define N_MODELS 5

static DemurCohort *
make_cohort(GError **error) {
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, 0);
  DemurRandom random = demur_random_stream(1, DEMUR_STREAM_TEST, 0, 0, 0);
  for (size_t i = 0; i < N_SCANS; i++) {
    g_autofree char *id = g_strdup_printf("s%zu", i), *site = g_strdup_printf("h%zu", i % N_SITES);
    const double z = -1.0 + 1.2 * demur_random_normal(&random);
    const double risk = 1.0 / (1.0 + exp(-z));
    const int label = demur_random_uniform(&random) < 1.0 / (1.0 + exp(-0.2 - 0.8 * z));
    demur_cohort_builder_add(builder, id, id, site, "test", label, &risk, NULL, NULL);
  }
  return demur_cohort_builder_finish(builder, "bench", "bench", "bench", "", TRUE, error);
}

static void
method_free(gpointer data) {
  DemurMethod *method = data;
  for (size_t m = 0; m < method->n_models; m++) {
    g_free(method->scores[m]);
    g_free(method->ranks[m]);
  }
  g_free(method->scores);
  g_free(method->ranks);
  g_free(method->n_ranks);
  g_free(method->name);
  g_free(method->title);
  g_free(method);
}

static GPtrArray *
make_methods(void) {
  GPtrArray *methods = g_ptr_array_new_with_free_func(method_free);
  DemurRandom random = demur_random_stream(2, DEMUR_STREAM_TEST, 0, 0, 0);
  for (size_t k = 0; k < N_METHODS; k++) {
    DemurMethod *method = g_new0(DemurMethod, 1);
    method->name = g_strdup_printf("method%zu", k);
    method->title = g_strdup(method->name);
    method->n_models = N_MODELS;
    method->scores = g_new0(double *, N_MODELS);
    method->ranks = g_new0(guint32 *, N_MODELS);
    method->n_ranks = g_new0(size_t, N_MODELS);
    for (size_t m = 0; m < N_MODELS; m++) {
      method->scores[m] = g_new(double, N_SCANS);
      method->ranks[m] = g_new(guint32, N_SCANS);
      for (size_t i = 0; i < N_SCANS; i++)
        method->scores[m][i] = demur_random_uniform(&random);
      method->n_ranks[m] = demur_coverage_ranks(method->scores[m], N_SCANS, method->ranks[m]);
    }
    g_ptr_array_add(methods, method);
  }
  return methods;
}

static double
seconds_since(gint64 start) {
  return (double)(g_get_monotonic_time() - start) / 1e6;
}

typedef struct {
  const DemurExtraSetup *setup;
  const GPtrArray *methods;
  guint32 *counts;
} ExtraJob;

static void
run_extra(size_t job, guint worker, gpointer data) {
  const ExtraJob *e = data;
  const DemurMethod *method = e->methods->pdata[job / (N_MODELS * 6)];
  const size_t model = job / 6 % N_MODELS, trial = job % 6;
  DemurExtraCurves curves;
  demur_extra_curves(e->setup, method->ranks[model], method->n_ranks[model],
                     trial > 0 ? e->counts + (trial - 1) * N_SCANS : NULL, &curves);
}

int
main(int argc, char **argv) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurParallel) parallel = demur_parallel_new(argc > 1 ? (guint)atoi(argv[1]) : 2);
  g_autoptr(DemurCohort) cohort = make_cohort(&error);
  size_t n;
  g_autofree guint32 *rows = cohort != NULL ? demur_cohort_rows(cohort, "test", &n, &error) : NULL;
  g_autoptr(DemurSample) sample =
      rows != NULL ? demur_sample_new(cohort, rows, n, "test", &error) : NULL;
  if (sample == NULL) {
    fprintf(stderr, "%s\n", error->message);
    return 1;
  }
  g_autoptr(GPtrArray) methods = make_methods();
  DemurEvaluateInput input;
  demur_evaluate_input_init(&input);
  input.cohort = cohort;
  input.split = "test";
  static const size_t n_bootstraps[] = {2, 1000};
  for (size_t b = 0; b < G_N_ELEMENTS(n_bootstraps); b++) {
    input.n_bootstrap = n_bootstraps[b];
    input.n_noise_draws = n_bootstraps[b] > 2 ? 200 : 2;
    const gint64 start = g_get_monotonic_time();
    g_autoptr(DemurEvaluation) evaluation =
        demur_evaluate_methods(&input, sample, methods, rows, parallel, NULL, &error);
    if (evaluation == NULL) {
      fprintf(stderr, "%s\n", error->message);
      return 1;
    }
    printf("%d methods x %d models x 5 resamples, %d scans, %zu replicates, %zu noise draws: "
           "%.3f s\n",
           N_METHODS, N_MODELS, N_SCANS, input.n_bootstrap, input.n_noise_draws,
           seconds_since(start));
  }
  g_autoptr(DemurExtraSetup) setup = demur_extra_setup_new(sample, 25, 0.1);
  g_autofree guint32 *counts = g_new(guint32, 5 * N_SCANS);
  for (size_t t = 0; t < 5; t++)
    demur_sample_resample(sample, DEMUR_UNIT_SCAN,
                          demur_random_stream(1, DEMUR_STREAM_TRIAL, t, 0, 0),
                          counts + t * N_SCANS);
  ExtraJob job = {setup, methods, counts};
  const gint64 start = g_get_monotonic_time();
  demur_parallel_map(parallel, (size_t)N_METHODS * N_MODELS * 6, run_extra, &job);
  printf("of it the extra measures at 20 coverages: %.3f s\n", seconds_since(start));
  return 0;
}
