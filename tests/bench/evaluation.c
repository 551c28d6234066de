/* Evaluation of 9 methods x 5 models x 5 resamples (and the split itself) at 50 coverages on 1,337
 * scans, without and with the bootstrap; and what the extra measures take of it.
 *
 *   bench-evaluation [THREADS [FILE]]
 *
 * With FILE, what went in and the four measures that came out are written for evaluate.py, little
 * endian: int64 [5]: scans, methods, models, resamples, coverages; risks, labels float64 [scans] in
 * ascending risk; scores float64 [methods][models][scans]; counts uint32 [resamples][scans];
 * coverages float64; then float64 [methods][4 measures][coverages][3]: on the split, mean, sd. */
#include "tests/bench/bench.h"
#include <time.h>

#include "evaluation/evaluate.h"
#include "evaluation/extra.h"
#include "metrics/coverage.h"
#include "metrics/selective.h"

#define N_SCANS 1337
#define N_SITES 25
#define N_METHODS 9
#define N_MODELS 5
#define N_RESAMPLES 5

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

static GPtrArray *
make_methods(void) {
  GPtrArray *methods = g_ptr_array_new_with_free_func(demur_method_free);
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

/* Wall and processor time: on a busy machine the second says more. */
typedef struct {
  gint64 wall;
  clock_t processor;
} Start;

static Start
start_now(void) {
  return (Start){g_get_monotonic_time(), clock()};
}

static void
print_since(Start start) {
  printf("%.3f s, processor %.3f s\n", (double)(g_get_monotonic_time() - start.wall) / 1e6,
         (double)(clock() - start.processor) / CLOCKS_PER_SEC);
  fflush(stdout);
}

/* The four measures alone: every method, model and resample at 50 coverages. */
typedef struct {
  const DemurSample *sample;
  const GPtrArray *methods;
  const guint32 *counts; /* [N_RESAMPLES][n] */
  DemurSelectiveScratch **scratch;
  double coverages[DEMUR_N_COVERAGES];
} CurvesJob;

static void
run_curves(size_t job, guint worker, gpointer data) {
  const CurvesJob *c = data;
  const DemurMethod *method = c->methods->pdata[job / (N_MODELS * N_RESAMPLES)];
  const size_t model = job / N_RESAMPLES % N_MODELS, trial = job % N_RESAMPLES;
  const DemurSelectiveSample sample = {.n = c->sample->n,
                                       .risks = c->sample->risks,
                                       .labels = c->sample->labels,
                                       .counts = c->counts + trial * c->sample->n,
                                       .ranks = method->ranks[model],
                                       .n_ranks = method->n_ranks[model]};
  DemurSelectivePoint points[DEMUR_N_COVERAGES];
  demur_selective_curve(&sample, c->coverages, DEMUR_N_COVERAGES, 25, c->scratch[worker], points);
}

static gboolean
put(FILE *file, const void *values, size_t size, size_t n) {
  return fwrite(values, size, n, file) == n;
}

static gboolean
write_evaluation(const char *path, const DemurSample *sample, const GPtrArray *methods,
                 const guint32 *counts, const DemurEvaluation *e) {
  static const DemurMeasure measures[] = {DEMUR_MEASURE_SBCE2, DEMUR_MEASURE_SBCEINF,
                                          DEMUR_MEASURE_BRIER, DEMUR_MEASURE_ACCURACY};
  FILE *file = fopen(path, "wb");
  if (file == NULL)
    return FALSE;
  const size_t n = sample->n;
  const gint64 header[] = {(gint64)n, N_METHODS, N_MODELS, N_RESAMPLES, DEMUR_N_COVERAGES};
  gboolean ok = put(file, header, sizeof *header, G_N_ELEMENTS(header)) &&
                put(file, sample->risks, sizeof(double), n) &&
                put(file, sample->labels, sizeof(double), n);
  for (guint k = 0; k < N_METHODS; k++)
    for (size_t m = 0; m < N_MODELS; m++)
      ok = ok && put(file, ((DemurMethod *)methods->pdata[k])->scores[m], sizeof(double), n);
  ok = ok && put(file, counts, sizeof *counts, N_RESAMPLES * n) &&
       put(file, e->coverages, sizeof(double), DEMUR_N_COVERAGES);
  for (guint k = 0; k < N_METHODS; k++) {
    const DemurMethodResult *result =
        demur_evaluation_method(e, ((DemurMethod *)methods->pdata[k])->name, FALSE);
    for (size_t i = 0; i < G_N_ELEMENTS(measures); i++)
      for (size_t c = 0; c < DEMUR_N_COVERAGES; c++) {
        const DemurCurvePoint *point = &result->curve[measures[i]][c];
        const double values[] = {point->point, point->mean, point->sd};
        ok = ok && put(file, values, sizeof *values, 3);
      }
  }
  return fclose(file) == 0 && ok;
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
  const DemurDrawn drawn = {trial > 0 ? e->counts + (trial - 1) * N_SCANS : NULL, NULL};
  DemurExtraCurves curves;
  demur_extra_curves(e->setup, method->ranks[model], method->n_ranks[model], drawn, &curves);
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
    const Start start = start_now();
    g_autoptr(DemurEvaluation) evaluation =
        demur_evaluate_methods(&input, sample, methods, rows, parallel, NULL, &error);
    if (evaluation == NULL) {
      fprintf(stderr, "%s\n", error->message);
      return 1;
    }
    printf("%d methods x %d models x 5 resamples, %d scans, %zu replicates, %zu noise draws: ",
           N_METHODS, N_MODELS, N_SCANS, input.n_bootstrap, input.n_noise_draws);
    print_since(start);
  }
  g_autoptr(DemurExtraSetup) setup = demur_extra_setup_new(sample, 25, 0.1);
  g_autofree guint32 *counts = g_new(guint32, N_RESAMPLES * N_SCANS);
  for (size_t t = 0; t < N_RESAMPLES; t++)
    demur_sample_resample(sample, DEMUR_UNIT_SCAN,
                          demur_random_stream(1, DEMUR_STREAM_TRIAL, t, 0, 0),
                          counts + t * N_SCANS);
  ExtraJob job = {setup, methods, counts};
  const Start start = start_now();
  demur_parallel_map(parallel, (size_t)N_METHODS * N_MODELS * 6, run_extra, &job);
  printf("of it the extra measures at 20 coverages: ");
  print_since(start);
  CurvesJob curves = {.sample = sample, .methods = methods, .counts = counts};
  demur_coverage_grid(DEMUR_N_COVERAGES, curves.coverages);
  const guint n_threads = demur_parallel_n_threads(parallel);
  curves.scratch = g_new(DemurSelectiveScratch *, n_threads);
  for (guint w = 0; w < n_threads; w++)
    curves.scratch[w] = demur_selective_scratch_new(N_SCANS);
  double times[11];
  for (size_t r = 0; r < G_N_ELEMENTS(times); r++) {
    const gint64 begun = g_get_monotonic_time();
    demur_parallel_map(parallel, (size_t)N_METHODS * N_MODELS * N_RESAMPLES, run_curves, &curves);
    times[r] = bench_seconds_since(begun);
  }
  printf("4 measures of %d methods x %d trials x %d coverages, %u threads: median %.4f s\n",
         N_METHODS, N_MODELS * N_RESAMPLES, DEMUR_N_COVERAGES, n_threads,
         bench_median(times, G_N_ELEMENTS(times)));
  for (guint w = 0; w < n_threads; w++)
    demur_selective_scratch_free(curves.scratch[w]);
  g_free(curves.scratch);
  if (argc > 2) {
    input.n_bootstrap = input.n_noise_draws = 2;
    g_autoptr(DemurEvaluation) evaluation =
        demur_evaluate_methods(&input, sample, methods, rows, parallel, NULL, &error);
    if (evaluation == NULL)
      bench_fail(error);
    if (!write_evaluation(argv[2], sample, methods, counts, evaluation)) {
      fprintf(stderr, "can't write %s\n", argv[2]);
      return 1;
    }
  }
  return 0;
}
