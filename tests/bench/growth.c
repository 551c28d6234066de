/* How time and memory grow with the number of scans.
 *
 *   bench-growth loss                        loss and gradient of 10^4 .. 10^6 scans, the sort
 * apart bench-growth cohort SCANS FILE.csv FILE.npy   writes a cohort table with 32 embeddings a
 * scan bench-growth run LABEL COMMAND ..        runs a command; prints its time and its peak memory
 *
 * growth.sh puts them together. */
#include "tests/bench/bench.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "selector/smmce.h"

#define WIDTH 32
#define N_SITES 100

/* --- loss --- */

typedef struct {
  double risk, error;
  float logit;
} Scan;

static int
compare_risks(const void *a, const void *b) {
  const double x = ((const Scan *)a)->risk, y = ((const Scan *)b)->risk;
  return (x > y) - (x < y);
}

static void
time_loss(size_t n) {
  Scan *scans = demur_new_array(Scan, n);
  double *risks = demur_new_array(double, n), *errors = demur_new_array(double, n);
  DemurReal *logits = demur_new_array(DemurReal, n), *gradient = demur_new_array(DemurReal, n);
  guint16 *counts = demur_new_array(guint16, n);
  DemurRandom random = demur_random_stream(1, DEMUR_STREAM_TEST, 3, n, 0);
  for (size_t i = 0; i < n; i++) {
    const double risk = demur_random_uniform(&random);
    const double label = demur_random_uniform(&random) < risk ? 1.0 : 0.0;
    scans[i] = (Scan){risk, (label - risk) * (label - risk), (float)demur_random_normal(&random)};
  }
  gint64 start = g_get_monotonic_time();
  qsort(scans, n, sizeof *scans, compare_risks);
  const double sort = bench_seconds_since(start);
  for (size_t i = 0; i < n; i++) {
    risks[i] = scans[i].risk;
    errors[i] = scans[i].error;
    logits[i] = scans[i].logit;
    counts[i] = 1;
  }
  const DemurSmmceSettings settings = {2, 0.2, 1.0, 0.01};
  double times[9], loss = 0.0;
  for (size_t r = 0; r < G_N_ELEMENTS(times); r++) {
    start = g_get_monotonic_time();
    loss = demur_smmce_loss(&settings, risks, errors, counts, logits, n, gradient).smmce;
    times[r] = bench_seconds_since(start);
  }
  const double median = bench_median(times, G_N_ELEMENTS(times));
  printf("loss and gradient of %8zu scans, one thread: %9.6f s (least %.6f), %5.1f ns a scan; the "
         "sort before it, once for a training: %.6f s; S-MMCE %.6g\n",
         n, median, times[0], median / (double)n * 1e9, sort, loss);
  g_aligned_free(scans);
  g_aligned_free(risks);
  g_aligned_free(errors);
  g_aligned_free(logits);
  g_aligned_free(gradient);
  g_aligned_free(counts);
}

/* --- cohort --- */

/* Shares of the splits: base_train 20 %, selector_train 30, validation 5, tune 5, test 40; sites
 * 0..79 train, the others are outside. */
static int
write_cohort(size_t n, const char *table_path, const char *array_path) {
  FILE *table = fopen(table_path, "w"), *array = fopen(array_path, "wb");
  if (table == NULL || array == NULL) {
    fprintf(stderr, "can't write %s or %s\n", table_path, array_path);
    return 1;
  }
  g_autofree char *head =
      g_strdup_printf("{'descr': '<f4', 'fortran_order': False, 'shape': (%zu, %d), }", n, WIDTH);
  const size_t length = (10 + strlen(head) + 1 + 63) / 64 * 64 - 10;
  const guint8 magic[] = {0x93, 'N', 'U', 'M',           'P',
                          'Y',  1,   0,   length & 0xff, (guint8)(length >> 8)};
  fwrite(magic, 1, sizeof magic, array);
  fprintf(array, "%-*s\n", (int)length - 1, head);
  fputs("patient_id,site,split,label,risk\n", table);
  for (size_t i = 0; i < n; i++) {
    DemurRandom random = demur_random_stream(1, DEMUR_STREAM_TEST, 4, i, 0);
    const double place = (double)i / (double)n;
    const char *split = place < 0.20   ? "base_train"
                        : place < 0.50 ? "selector_train"
                        : place < 0.55 ? "validation"
                        : place < 0.60 ? "tune"
                                       : "test";
    const gboolean outside = place >= 0.55;
    const guint64 site =
        outside ? 80 + demur_random_below(&random, N_SITES - 80) : demur_random_below(&random, 80);
    float embedding[WIDTH];
    for (size_t c = 0; c < WIDTH; c++)
      embedding[c] = (float)demur_random_normal(&random);
    fwrite(embedding, sizeof *embedding, WIDTH, array);
    const double logit = -2.0 + (double)embedding[0];
    const double truth =
        1.2 * logit + (embedding[1] > 0.5f ? 1.0 : 0.0) + 0.02 * (double)(site % 20);
    fprintf(table, "p%zu,h%" G_GUINT64_FORMAT ",%s,%d,%.7f\n", i, site, split,
            demur_random_uniform(&random) < 1.0 / (1.0 + exp(-truth)), 1.0 / (1.0 + exp(-logit)));
  }
  const gboolean ok = !ferror(table) && !ferror(array);
  if (fclose(table) != 0 || fclose(array) != 0 || !ok) {
    fprintf(stderr, "can't write %s or %s\n", table_path, array_path);
    return 1;
  }
  return 0;
}

/* --- run --- */

static double
seconds_of(struct timeval time) {
  return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

static int
run_command(const char *label, char **command) {
  const gint64 start = g_get_monotonic_time();
  const pid_t child = fork();
  if (child == 0) {
    execvp(command[0], command);
    fprintf(stderr, "can't run %s\n", command[0]);
    _exit(127);
  }
  int status = 0;
  struct rusage usage;
  if (child < 0 || wait4(child, &status, 0, &usage) != child) {
    fprintf(stderr, "can't run %s\n", command[0]);
    return 1;
  }
  const int result = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  double load = 0.0;
  if (getloadavg(&load, 1) != 1)
    load = NAN;
  printf("%-34s %9.2f s, processor %9.2f s, peak %8.1f MB, load %.1f%s\n", label,
         bench_seconds_since(start), seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime),
         (double)usage.ru_maxrss / 1024.0, load, result == 0 ? "" : "  FAILED");
  fflush(stdout);
  return result;
}

int
main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "loss") == 0) {
    for (size_t n = 10000; n <= 1000000; n *= 10)
      time_loss(n);
    return 0;
  }
  if (argc == 5 && strcmp(argv[1], "cohort") == 0)
    return write_cohort(strtoul(argv[2], NULL, 10), argv[3], argv[4]);
  if (argc > 3 && strcmp(argv[1], "run") == 0)
    return run_command(argv[2], argv + 3);
  fprintf(stderr,
          "usage: bench-growth loss | cohort SCANS FILE.csv FILE.npy | run LABEL COMMAND ..\n");
  return 2;
}
