/* How time and memory grow with the number of scans.
 *
 *   bench-growth loss                        loss and gradient of 10^4 .. 10^6 scans, the sort apart
 *   bench-growth cohort SCANS FILE.csv FILE.npy   writes a cohort table with 32 embeddings a scan
 *   bench-growth run LABEL COMMAND ..        runs a command; prints its time and its peak memory
 *   bench-growth lines FILE                  of rows "COMMAND SCANS PEAK_MB": each command's peak as a
 *                                            line, and what it must hold; marks what is above 1.5 times that
 *
 * growth.sh puts them together. */
#include "tests/bench/bench.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "evaluation/evaluation.h"
#include "features/outlier.h"
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

/* --- lines --- */

/* What each command holds at once of a scan of the cohort above, in bytes: share says of how many scans
 * in a hundred. A cohort is in memory as a whole. What does not grow (reference scans, cells, the
 * program) is the line's other number. */
typedef struct {
  const char *command, *what;
  double share, bytes;
} Held;

#define POINTER_AND_TEXT (8.0 + 8.0) /* "p123456" */
#define N_FEATURES 14.0              /* of the training as published with embeddings */
#define N_METHODS 10.0

static const Held held[] = {
    {"cohort", "embeddings", 1.0, WIDTH * sizeof(float)},
    {"cohort", "scan's name", 1.0, POINTER_AND_TEXT},
    {"cohort", "patient's name", 1.0, POINTER_AND_TEXT},
    {"cohort", "patient, site, split, label, risk", 1.0, 4 * 4 + 8},
    {"train", "features", 0.3, N_FEATURES * sizeof(double)},
    {"train", "features as the network takes them", 0.3, N_FEATURES * sizeof(DemurReal)},
    {"train", "risk, error, order, counts", 0.3, 8 + 8 + 4 + 2},
    {"assess", "features", 0.4, N_FEATURES * sizeof(double)},
    {"assess", "verdict with its texts", 0.4, 256},
    {"evaluate", "outlier scores", 0.4, DEMUR_N_OUTLIER * sizeof(double)},
    {"evaluate", "row, risk, label, difference, confidence, class, patient, site", 0.4,
     4 * 8 + 4 * 4},
    {"evaluate", "scores and ranks of the methods", 0.4, N_METHODS *(8 + 4)},
    {"evaluate", "resamples and a replicate", 0.4, 5 * 4 + 8 + 4},
};

static double
bytes_held(const char *command) {
  double sum = 0.0;
  for (size_t h = 0; h < G_N_ELEMENTS(held); h++)
    if (strcmp(held[h].command, "cohort") == 0 || strcmp(held[h].command, command) == 0)
      sum += held[h].share * held[h].bytes;
  return sum;
}

/* The line through the two largest sizes: what only large samples have (cells) is in both. */
static int
print_lines(const char *path) {
  static const char *const commands[] = {"import", "train", "assess", "evaluate"};
  for (size_t c = 0; c < G_N_ELEMENTS(commands); c++) {
    FILE *file = fopen(path, "r");
    if (file == NULL) {
      fprintf(stderr, "can't read %s\n", path);
      return 1;
    }
    char command[32];
    double scans, peak, n[2] = {0.0, 0.0}, bytes[2] = {0.0, 0.0}; /* the largest behind */
    while (fscanf(file, "%31s %lf %lf", command, &scans, &peak) == 3) {
      if (strcmp(command, commands[c]) != 0 || scans <= n[0])
        continue;
      const size_t place = scans > n[1] ? 1 : 0;
      if (place == 1) {
        n[0] = n[1];
        bytes[0] = bytes[1];
      }
      n[place] = scans;
      bytes[place] = peak * 1048576.0;
    }
    fclose(file);
    if (n[0] == 0.0)
      continue;
    const double slope = (bytes[1] - bytes[0]) / (n[1] - n[0]), must = bytes_held(commands[c]);
    printf("%-9s %6.0f bytes a scan and %5.1f MB; it must hold %4.0f: %.2f times%s\n", commands[c],
           slope, (bytes[1] - slope * n[1]) / 1048576.0, must, slope / must,
           slope > 1.5 * must ? "  TOO MUCH" : "");
  }
  return 0;
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
  if (argc == 3 && strcmp(argv[1], "lines") == 0)
    return print_lines(argv[2]);
  if (argc > 3 && strcmp(argv[1], "run") == 0)
    return run_command(argv[2], argv + 3);
  fprintf(
      stderr,
      "usage: bench-growth loss | cohort SCANS FILE.csv FILE.npy | run LABEL COMMAND .. | lines FILE\n");
  return 2;
}
