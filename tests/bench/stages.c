/* Where one update of Algorithm 1 spends its time, on one thread, and how far the matrix products
 * are from the processor's float32 multiply-add limit, which is measured here too.
 *
 *   bench-stages [REPEATS [KERNEL [TABLE.csv]]]
 *
 * KERNEL forces one (`avx512`, `avx2`, `portable`); the limit is that of its width. Of a TABLE the scans of its split selector_train
 * are taken: how many there are, at which sites, their risks and labels; features are drawn at random, as of the scans that are drawn
 * where there is none.
 *
 * Each stage is called through the rooms' public functions on the data sets of one update, as
 * core/selector/update.c calls them; stages take turns, so that other load meets all of them.
 * Processor time of the thread: medians, and the least, from which all ratios are taken, since other work
 * on the machine only adds. */
#include "tests/bench/bench.h"

#include <time.h>

#include "cohort/import.h"
#include "metrics/coverage.h"
#include "metrics/drawn-errors.h"
#include "selector/mlp-kernel.h"
#include "selector/update.h"

#define N_DATASETS 32
#define DATASET_SIZE 1024
#define N_HIDDEN 64
#define KAPPA 4
/* Of update.c. */
#define ROWS 510
#define N_COVERAGES 10

/* --- the limit: independent multiply-adds in registers --- */

#if defined(__x86_64__)
#include <immintrin.h>

#define N_CHAINS 12

__attribute__((target("avx512f"))) static double
multiply_add_512(size_t n) {
  __m512 sums[N_CHAINS];
  const __m512 x = _mm512_set1_ps(0.999f), y = _mm512_set1_ps(0.001f);
  for (int c = 0; c < N_CHAINS; c++)
    sums[c] = _mm512_set1_ps((float)c);
  for (size_t i = 0; i < n; i++)
#pragma GCC unroll 12
    for (int c = 0; c < N_CHAINS; c++)
      sums[c] = _mm512_fmadd_ps(sums[c], x, y);
  float sum = 0.0f;
  for (int c = 0; c < N_CHAINS; c++)
    sum += _mm512_reduce_add_ps(sums[c]);
  return (double)sum;
}

__attribute__((target("avx2,fma"))) static double
multiply_add_256(size_t n) {
  __m256 sums[N_CHAINS];
  const __m256 x = _mm256_set1_ps(0.999f), y = _mm256_set1_ps(0.001f);
  for (int c = 0; c < N_CHAINS; c++)
    sums[c] = _mm256_set1_ps((float)c);
  for (size_t i = 0; i < n; i++)
#pragma GCC unroll 12
    for (int c = 0; c < N_CHAINS; c++)
      sums[c] = _mm256_fmadd_ps(sums[c], x, y);
  float lanes[8], sum = 0.0f;
  for (int c = 0; c < N_CHAINS; c++) {
    _mm256_storeu_ps(lanes, sums[c]);
    for (int l = 0; l < 8; l++)
      sum += lanes[l];
  }
  return (double)sum;
}

/* GFLOP/s of one core, a multiply-add being two; 0 where the processor has no fused one. */
static double
measure_peak(const char **name) {
  const gboolean wide = strcmp(demur_mlp_kernel()->name, "avx512") == 0;
  *name = wide ? "AVX-512" : "AVX2";
  if (!wide && !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")))
    return 0.0;
  const size_t n = 1000000;
  double best = 0.0;
  volatile double sink = 0.0;
  for (int repeat = 0; repeat < 40; repeat++) {
    const gint64 start = g_get_monotonic_time();
    sink += wide ? multiply_add_512(n) : multiply_add_256(n);
    const double flops = 2.0 * N_CHAINS * (wide ? 16.0 : 8.0) * (double)n;
    best = MAX(best, flops / bench_seconds_since(start) * 1e-9);
  }
  return best;
}
#else
static double
measure_peak(const char **name) {
  *name = "this processor";
  return 0.0;
}
#endif

/* --- the stages --- */

/* Of this thread: other work on the machine doesn't count. */
static double
processor_microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

typedef struct {
  size_t n, n_sites;
  DemurTrainingScans scans;
  DemurReal *features;
  double *risks, *labels, *errors;
  DemurMlpShape shape;
  DemurReal *parameters, *transposed, *gradient;
  DemurAdam *adam;
  DemurUpdater *updater;
  DemurResampler *resampler;
  DemurResamplerScratch *scratch;
  DemurDataset *datasets[N_DATASETS];
  size_t chosen[KAPPA];

  size_t n_union, n_back;
  guint32 *rows, *back, *places; /* of the union, of the chosen */
  DemurReal *passes, *hidden2, *z, *dz;
  DemurSmmceScore *smmce; /* by place */
  double *scores;
  guint32 *ranks;
  size_t n_ranks;
  DemurDrawnScan *drawn; /* by row */
  DemurDrawnScratch *drawn_scratch;
  double coverages[N_COVERAGES];
} Bench;

static void
draw(Bench *b) {
  for (size_t first = 0; first < N_DATASETS; first += DEMUR_RANDOM_LANES) {
    DemurRandom randoms[DEMUR_RANDOM_LANES];
    for (size_t l = 0; l < DEMUR_RANDOM_LANES; l++)
      randoms[l] = demur_random_stream(1, DEMUR_STREAM_RESAMPLE, 0, 7, first + l);
    demur_resampler_draw_some(b->resampler, randoms, DEMUR_RANDOM_LANES, b->scratch,
                              b->datasets + first);
  }
}

static size_t
gather(const Bench *b, const size_t *sets, size_t n_sets, guint32 *rows) {
  g_autofree guint8 *present = g_new0(guint8, b->n);
  for (size_t k = 0; k < n_sets; k++)
    for (size_t j = 0; j < b->datasets[sets[k]]->n_rows; j++)
      present[b->datasets[sets[k]]->rows[j]] = 1;
  size_t n = 0;
  for (guint32 i = 0; i < b->n; i++)
    if (present[i])
      rows[n++] = i;
  return n;
}

static void
forward(Bench *b) {
  demur_mlp_transpose(b->shape, b->parameters, b->transposed);
  const DemurMlp mlp = {b->shape, b->parameters, b->transposed};
  for (size_t start = 0; start < b->n_union; start += ROWS) {
    const size_t n = MIN(ROWS, b->n_union - start);
    const DemurMlpScans scans = {b->features, b->rows + start, n};
    demur_mlp_forward(&mlp, &scans, b->passes, b->hidden2 + start * N_HIDDEN, b->z + start);
    for (size_t i = start; i < start + n; i++)
      b->scores[i] = (double)b->z[i];
  }
}

static void
rank(Bench *b) {
  b->n_ranks = demur_coverage_ranks(b->scores, b->n_union, b->ranks);
  for (size_t i = 0; i < b->n_union; i++)
    b->drawn[b->rows[i]].rank = b->ranks[i];
}

static void
choose(Bench *b) {
  const DemurDrawnScans scans = {b->drawn, b->n, b->n_ranks};
  double errors[N_COVERAGES];
  for (size_t k = 0; k < N_DATASETS; k++) {
    const DemurDataset *dataset = b->datasets[k];
    const DemurDrawnSet set = {dataset->n_rows, dataset->n_total, dataset->rows, dataset->counts};
    demur_drawn_errors(&scans, &set, b->coverages, N_COVERAGES, 25, b->drawn_scratch, errors);
  }
}

static void
lose(Bench *b) {
  const DemurSmmceSettings settings = {2, 0.2, 1.0, 0.01};
  double risks[DATASET_SIZE], errors[DATASET_SIZE];
  DemurReal z[DATASET_SIZE];
  DemurSmmceScore scores[DATASET_SIZE];
  for (size_t i = 0; i < b->n_back; i++) {
    const guint32 place = b->places[b->back[i]];
    b->smmce[place] = demur_smmce_score(b->z[place]);
  }
  for (size_t c = 0; c < KAPPA; c++) {
    const DemurDataset *dataset = b->datasets[b->chosen[c]];
    for (size_t j = 0; j < dataset->n_rows; j++) {
      const guint32 row = dataset->rows[j];
      risks[j] = b->risks[row];
      errors[j] = b->errors[row];
      scores[j] = b->smmce[b->places[row]];
    }
    demur_smmce_loss_of_scores(&settings, risks, errors, dataset->counts, scores, dataset->n_rows,
                               z);
  }
}

static void
go_back(Bench *b) {
  const DemurMlp mlp = {b->shape, b->parameters, b->transposed};
  memset(b->gradient, 0, b->shape.n_parameters * sizeof(DemurReal));
  for (size_t start = 0; start < b->n_back; start += ROWS) {
    const size_t n = MIN(ROWS, b->n_back - start);
    guint32 places[ROWS];
    for (size_t i = 0; i < n; i++)
      places[i] = b->places[b->back[start + i]];
    const DemurMlpScans scans = {b->features, b->back + start, n};
    demur_mlp_backward(&mlp, &scans, b->hidden2, places, b->dz + start, b->passes, b->gradient);
  }
}

static void
step(Bench *b) {
  const DemurAdamSettings settings = {1e-3, 1e-5, 10.0};
  demur_adam_step(b->adam, &settings, b->gradient, b->parameters);
}

static void
whole(Bench *b) {
  DemurUpdateResult result;
  draw(b);
  demur_updater_run(b->updater, b->datasets, b->adam, b->parameters, &result);
}

static int
compare_risks(gconstpointer a, gconstpointer b, gpointer risks) {
  return bench_compare((const double *)risks + *(const guint32 *)a,
                       (const double *)risks + *(const guint32 *)b);
}

/* risks, labels and sites of the table's scans in ascending risk; [all scans] suffices for each. */
static void
take_scans(Bench *b, const DemurCohort *cohort, guint32 *sites) {
  g_autofree guint32 *rows = g_new(guint32, cohort->n_scans);
  b->n = 0;
  for (guint32 i = 0; i < cohort->n_scans; i++)
    if (strcmp(cohort->split_names[cohort->splits[i]], "selector_train") == 0 &&
        cohort->labels[i] != DEMUR_NO_LABEL)
      rows[b->n++] = i;
  g_qsort_with_data(rows, (int)b->n, sizeof *rows, compare_risks, cohort->risks);
  for (size_t i = 0; i < b->n; i++) {
    b->risks[i] = cohort->risks[rows[i]];
    b->labels[i] = cohort->labels[rows[i]];
    sites[i] = cohort->sites[rows[i]];
  }
  b->n_sites = cohort->n_sites;
}

static void
start_bench(Bench *b, const DemurCohort *cohort) {
  const size_t d = BENCH_N_FEATURES, room = cohort != NULL ? cohort->n_scans : BENCH_N_SCANS;
  DEMUR_AUTO_ALIGNED double *features = demur_new_matrix(double, room, d);
  DEMUR_AUTO_ALIGNED guint32 *sites = demur_new_array(guint32, room);
  b->features = demur_new_matrix(DemurReal, room, d);
  b->risks = demur_new_array(double, room);
  b->labels = demur_new_array(double, room);
  b->errors = demur_new_array(double, room);
  b->n = BENCH_N_SCANS;
  b->n_sites = BENCH_N_SITES;
  bench_draw(room, d, features, b->risks, b->labels, sites);
  if (cohort != NULL)
    take_scans(b, cohort, sites);
  const size_t n = b->n;
  for (size_t i = 0; i < n * d; i++)
    b->features[i] = (DemurReal)features[i];
  for (size_t i = 0; i < n; i++)
    b->errors[i] = (b->labels[i] - b->risks[i]) * (b->labels[i] - b->risks[i]);
  b->scans = (DemurTrainingScans){n, d, b->features, b->risks, b->labels, b->errors, NULL};
  b->shape = demur_mlp_shape(d, N_HIDDEN);
  b->parameters = demur_new_array(DemurReal, b->shape.n_parameters);
  b->transposed = demur_new_array(DemurReal, b->shape.n_parameters);
  b->gradient = demur_new_array(DemurReal, b->shape.n_parameters);
  DemurRandom random = demur_random_stream(1, DEMUR_STREAM_WEIGHTS, 0, 0, 0);
  demur_mlp_initialise(b->shape, &random, b->parameters);
  b->adam = demur_adam_new(b->shape.n_parameters);
  const DemurUpdateSettings settings = {
      .smmce = {2, 0.2, 1.0, 0.01}, .adam = {1e-3, 1e-5, 10.0}, .kappa = KAPPA, .min_bin_size = 25};
  b->updater = demur_updater_new(&b->scans, b->shape, &settings, N_DATASETS, DATASET_SIZE, NULL);
  b->resampler = demur_resampler_new(DEMUR_SHIFT_GROUPS, n, sites, b->n_sites, 1.0, DATASET_SIZE);
  b->scratch = demur_resampler_scratch_new(b->resampler);
  for (size_t k = 0; k < N_DATASETS; k++)
    b->datasets[k] = demur_dataset_new(DATASET_SIZE);
  b->rows = demur_new_array(guint32, n);
  b->back = demur_new_array(guint32, n);
  b->places = demur_new_array(guint32, n);
  b->passes = demur_new_matrix(DemurReal, ROWS, d + 4 * N_HIDDEN);
  b->hidden2 = demur_new_matrix(DemurReal, n, N_HIDDEN);
  b->z = demur_new_array(DemurReal, n);
  b->dz = demur_new_array(DemurReal, n);
  b->smmce = demur_memory_new(n, 1, sizeof *b->smmce);
  b->scores = demur_new_array(double, n);
  b->ranks = demur_new_array(guint32, n);
  b->drawn = demur_new_array(DemurDrawnScan, n);
  for (size_t i = 0; i < n; i++) {
    b->drawn[i].difference = b->labels[i] - b->risks[i];
    b->drawn[i].risk = i == 0 ? 0 : b->drawn[i - 1].risk + (b->risks[i] != b->risks[i - 1]);
  }
  b->drawn_scratch = demur_drawn_scratch_new(n, DATASET_SIZE);
  demur_coverage_grid(N_COVERAGES, b->coverages);
  for (size_t i = 0; i < n; i++)
    b->dz[i] = (DemurReal)1e-4;

  whole(b); /* chooses the worst four, whose rows go backward */
  const double *errors = demur_updater_dataset_errors(b->updater);
  gboolean taken[N_DATASETS] = {FALSE};
  for (size_t c = 0; c < KAPPA; c++) {
    size_t worst = G_MAXSIZE;
    for (size_t k = 0; k < N_DATASETS; k++)
      if (!taken[k] && (worst == G_MAXSIZE || errors[k] > errors[worst]))
        worst = k;
    taken[worst] = TRUE;
    b->chosen[c] = worst;
  }
  size_t all[N_DATASETS];
  for (size_t k = 0; k < N_DATASETS; k++)
    all[k] = k;
  b->n_union = gather(b, all, N_DATASETS, b->rows);
  b->n_back = gather(b, b->chosen, KAPPA, b->back);
  for (size_t i = 0; i < b->n_union; i++)
    b->places[b->rows[i]] = (guint32)i;
}

/* --- threads --- */

/* One update on so many threads as core/selector/update.c cuts it, were the threads never in each
 * other's way: chunks of equal time in rounds, serial parts on one thread, and the next update's
 * draws in whatever time is left over meanwhile. Microseconds. */
static double
schedule(const Bench *b, const double *least, double serial, size_t n_threads) {
  const struct {
    double time;
    size_t n_chunks;
  } maps[] = {{least[1], (b->n_union + ROWS - 1) / ROWS},
              {least[3], N_DATASETS},
              {least[4], KAPPA},
              {least[5], (b->n_back + ROWS - 1) / ROWS}};
  double elapsed = serial + least[2] + least[6];
  double idle = (double)(n_threads - 1) * elapsed;
  for (size_t m = 0; m < G_N_ELEMENTS(maps); m++) {
    const double rounds = (double)((maps[m].n_chunks + n_threads - 1) / n_threads);
    const double time = maps[m].time * rounds / (double)maps[m].n_chunks;
    elapsed += time;
    idle += time * (double)n_threads - maps[m].time;
  }
  return elapsed + MAX(least[0] - idle, 0.0) / (double)n_threads;
}

static void
print_schedules(const Bench *b, const double *least, double serial) {
  const double one = schedule(b, least, serial, 1);
  printf("by the schedule of these least times, without waits:");
  for (size_t n = 1; n <= 16; n *= 2) {
    const double time = schedule(b, least, serial, n);
    printf("%s %zu threads %.0f us (%.2f times, %.0f %%)", n > 1 ? "," : "", n, time, one / time,
           100.0 * one / time / (double)n);
  }
  printf("\n");
}

int
main(int argc, char **argv) {
  const size_t n_repeats = argc > 1 ? MAX(strtoul(argv[1], NULL, 10), 1) : 200;
  g_autoptr(GError) error = NULL;
  if (argc > 2 && !demur_mlp_kernel_choose(argv[2], &error)) {
    fprintf(stderr, "bench-stages: %s\n", error->message);
    return 2;
  }
  g_autoptr(DemurCohort) cohort = NULL;
  const DemurImportOptions options = {.name = "table"};
  if (argc > 3 && (cohort = demur_cohort_import(argv[3], &options, NULL, NULL, &error)) == NULL)
    bench_fail(error);
  Bench b = {0};
  start_bench(&b, cohort);
  const double layer_flops = 2.0 * (BENCH_N_FEATURES * N_HIDDEN + N_HIDDEN * N_HIDDEN + N_HIDDEN);
  /* Backward: gradient of every weight, and of the activations but not of the inputs. */
  const double back_flops = layer_flops + 2.0 * (N_HIDDEN * N_HIDDEN + N_HIDDEN);
  const struct {
    const char *name;
    void (*run)(Bench *);
    double flops;
  } stages[] = {
      {"draw 32 data sets", draw, 0.0},
      {"forward, distinct scans", forward, layer_flops * (double)b.n_union},
      {"ranks by score", rank, 0.0},
      {"error of 32 data sets", choose, 0.0},
      {"loss of the worst 4", lose, 0.0},
      {"backward, scans of the 4", go_back, back_flops * (double)b.n_back},
      {"Adam", step, 0.0},
      {"the whole update", whole, 0.0},
  };
  const size_t n_stages = G_N_ELEMENTS(stages);
  g_autofree double *times = g_new(double, n_stages *n_repeats);
  for (size_t r = 0; r < n_repeats; r++)
    for (size_t s = 0; s < n_stages; s++) {
      const double start = processor_microseconds();
      stages[s].run(&b);
      times[s * n_repeats + r] = processor_microseconds() - start;
    }
  const char *processor;
  const double peak = measure_peak(&processor);
  printf(
      "kernel %s; %zu scans; one update on one thread: %zu distinct scans forward, %zu backward; float32 "
      "limit of a "
      "core %.0f GFLOP/s (%s)\n",
      demur_mlp_kernel()->name, b.n, b.n_union, b.n_back, peak, processor);
  double sum = 0.0, total = 0.0, flops = 0.0, leasts[G_N_ELEMENTS(stages)];
  for (size_t s = 0; s < n_stages; s++) {
    double *values = times + s * n_repeats;
    const double median = bench_median(values, n_repeats);
    printf("  %-26s %8.1f us (least %.1f)", stages[s].name, median, values[0]);
    if (stages[s].flops > 0.0)
      printf("  %6.2f MFLOP, %6.1f GFLOP/s, %4.0f %% of the limit", stages[s].flops * 1e-6,
             stages[s].flops / values[0] * 1e-3,
             peak > 0.0 ? stages[s].flops / values[0] * 1e-1 / peak : NAN);
    printf("\n");
    flops += stages[s].flops;
    leasts[s] = values[0];
    if (s + 1 < n_stages)
      sum += values[0];
    else
      total = values[0];
  }
  printf("  %-26s %8.1f us: union, gathering, merging, gradients\n", "in none of the stages",
         total - sum);
  print_schedules(&b, leasts, MAX(total - sum, 0.0));
  if (peak > 0.0)
    printf("the matrix products alone would take %.1f us at the limit: the update takes %.1f times "
           "that\n",
           flops / peak * 1e-3, total / (flops / peak * 1e-3));
  return 0;
}
