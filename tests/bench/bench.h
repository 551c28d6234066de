/* What the benchmark programs share: a clock, medians, and scans of the paper's size drawn from the
 * test stream: 6,282 scans at 33 uneven sites, 11 standardised features, in ascending risk. */
#pragma once

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/random.h"

#define BENCH_N_SCANS 6282
#define BENCH_N_FEATURES 11
#define BENCH_N_SITES 33

static inline double
bench_seconds_since(gint64 start) {
  return (double)(g_get_monotonic_time() - start) * 1e-6;
}

/* Processor time of all threads of this program: what a busy machine moves least. */
static inline double
bench_processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline int
bench_compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Median of values [n], which are put in order. */
static inline double
bench_median(double *values, size_t n) {
  qsort(values, n, sizeof *values, bench_compare);
  return n % 2 == 1 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

static inline void
bench_fail(const GError *error) {
  fprintf(stderr, "%s\n", error->message);
  exit(1);
}

typedef struct {
  double logit, label;
  guint32 site;
} BenchScan;

static inline int
bench_compare_scans(const void *a, const void *b) {
  const double x = ((const BenchScan *)a)->logit, y = ((const BenchScan *)b)->logit;
  return (x > y) - (x < y);
}

/* features [n][d] (the first is the logit of the risk), risks, labels and sites [n] for n scans.
 * The risks are miscalibrated by a slope, an intercept and a feature, so that there is something to
 * learn. */
static inline void
bench_draw(size_t n, size_t d, double *features, double *risks, double *labels, guint32 *sites) {
  DemurRandom random = demur_random_stream(1, DEMUR_STREAM_TEST, 0, 0, 0);
  g_autofree BenchScan *scans = g_new(BenchScan, n);
  for (size_t i = 0; i < n; i++)
    scans[i].logit = -3.0 + 1.3 * demur_random_normal(&random);
  qsort(scans, n, sizeof *scans, bench_compare_scans);
  for (size_t i = 0; i < n; i++) {
    const double logit = scans[i].logit;
    for (size_t c = 0; c < d; c++)
      features[i * d + c] = c == 0 ? (logit + 3.0) / 1.3 : demur_random_normal(&random);
    const double shift = d > 1 && features[i * d + 1] > 0.5 ? 1.0 : 0.0;
    risks[i] = 1.0 / (1.0 + exp(-logit));
    labels[i] = demur_random_uniform(&random) < 1.0 / (1.0 + exp(-1.1 * logit - shift));
    sites[i] = (guint32)(demur_random_below(&random, BENCH_N_SITES) *
                         demur_random_below(&random, BENCH_N_SITES) / BENCH_N_SITES);
  }
}
