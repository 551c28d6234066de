#include "metrics/coverage.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t
demur_coverage_count(double coverage, size_t n) {
  if (!(coverage > 0.0) || n == 0)
    return 0;
  const double product = coverage * (double)n;
  const double nearest = round(product);
  /* The decimal that was meant is within half an ulp of coverage, and the product rounds once more.
   */
  const double count =
      fabs(product - nearest) <= 4.0 * DBL_EPSILON * product ? nearest : ceil(product);
  return (size_t)CLAMP(count, 1.0, (double)n);
}

static int
compare_descending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x < y) - (x > y);
}

double
demur_coverage_kth_largest(const double *scores, size_t n, size_t k) {
  g_return_val_if_fail(k >= 1 && k <= n, NAN);
  g_autofree double *sorted = g_new(double, n);
  memcpy(sorted, scores, n * sizeof(double));
  qsort(sorted, n, sizeof(double), compare_descending);
  return sorted[k - 1];
}

double
demur_coverage_threshold(double coverage, const double *scores, size_t n) {
  const size_t k = demur_coverage_count(coverage, n);
  return k == 0 ? INFINITY : demur_coverage_kth_largest(scores, n, k);
}

void
demur_coverage_grid(size_t n, double *coverages) {
  g_return_if_fail(n >= 2);
  for (size_t i = 0; i < n; i++)
    coverages[i] = 0.05 + 0.95 * (double)i / (double)(n - 1);
}

double
demur_coverage_auc(const double *coverages, const double *values, size_t n) {
  double area = 0.0;
  for (size_t i = 1; i < n; i++)
    area += 0.5 * (values[i] + values[i - 1]) * (coverages[i] - coverages[i - 1]);
  return area / (coverages[n - 1] - coverages[0]);
}

/* Stable radix sort by 11-bit digits of the ordered bit pattern, of scores that were floats of 32 bits; a digit that all keys
 * share is skipped. Each key stands above its row in one word. */
#define DIGIT_BITS 11
#define N_DIGITS 6
#define N_FLOAT_DIGITS 3
#define DIGIT_SIZE (1u << DIGIT_BITS)

/* Ascending keys are descending scores. */
static guint64
descending_key(double score) {
  guint64 bits;
  score += 0.0; /* -0 and +0 are equal scores */
  memcpy(&bits, &score, sizeof bits);
  bits ^= (bits >> 63) != 0 ? G_MAXUINT64 : (guint64)1 << 63;
  return ~bits;
}

static guint32
descending_float_key(float score) {
  guint32 bits;
  score += 0.0f;
  memcpy(&bits, &score, sizeof bits);
  bits ^= (bits >> 31) != 0 ? G_MAXUINT32 : (guint32)1 << 31;
  return ~bits;
}

/* counts [DIGIT_SIZE] to where each value's rows begin. */
static void
counts_to_places(guint32 *counts) {
  guint32 start = 0;
  for (guint value = 0; value < DIGIT_SIZE; value++) {
    const guint32 count = counts[value];
    counts[value] = start;
    start += count;
  }
}

static gboolean
are_floats(const double *scores, size_t n) {
  gboolean all = TRUE;
  for (size_t i = 0; i < n; i++)
    all &= (double)(float)scores[i] == scores[i];
  return all;
}

static size_t
ranks_of_floats(const double *scores, size_t n, guint32 *ranks) {
  g_autofree guint64 *memory = g_new(guint64, 2 * n);
  g_autofree guint32 *digit_counts = g_new0(guint32, (size_t)N_FLOAT_DIGITS * DIGIT_SIZE);
  guint64 *from = memory, *to = memory + n;
  for (size_t i = 0; i < n; i++) {
    const guint32 key = descending_float_key((float)scores[i]);
    from[i] = (guint64)key << 32 | i;
    for (guint digit = 0; digit < N_FLOAT_DIGITS; digit++)
      digit_counts[digit * DIGIT_SIZE + ((key >> (digit * DIGIT_BITS)) & (DIGIT_SIZE - 1))]++;
  }
  for (guint digit = 0; digit < N_FLOAT_DIGITS; digit++) {
    guint32 *counts = digit_counts + (size_t)digit * DIGIT_SIZE;
    const guint shift = 32 + digit * DIGIT_BITS;
    if (counts[(from[0] >> shift) & (DIGIT_SIZE - 1)] == n)
      continue;
    counts_to_places(counts);
    for (size_t i = 0; i < n; i++)
      to[counts[(from[i] >> shift) & (DIGIT_SIZE - 1)]++] = from[i];
    guint64 *kept = from;
    from = to;
    to = kept;
  }
  guint32 rank = 0;
  for (size_t i = 0; i < n; i++) {
    rank += i > 0 && from[i] >> 32 != from[i - 1] >> 32;
    ranks[(guint32)from[i]] = rank;
  }
  return (size_t)rank + 1;
}

typedef struct {
  guint64 key;
  guint32 row;
} ScoredRow;

static size_t
ranks_of_doubles(const double *scores, size_t n, guint32 *ranks) {
  g_autofree ScoredRow *memory = g_new(ScoredRow, 2 * n);
  g_autofree guint32 *digit_counts = g_new0(guint32, (size_t)N_DIGITS * DIGIT_SIZE);
  ScoredRow *from = memory, *to = memory + n;
  for (size_t i = 0; i < n; i++) {
    const guint64 key = descending_key(scores[i]);
    from[i] = (ScoredRow){key, (guint32)i};
    for (guint digit = 0; digit < N_DIGITS; digit++)
      digit_counts[digit * DIGIT_SIZE + ((key >> (digit * DIGIT_BITS)) & (DIGIT_SIZE - 1))]++;
  }
  for (guint digit = 0; digit < N_DIGITS; digit++) {
    guint32 *counts = digit_counts + (size_t)digit * DIGIT_SIZE;
    if (counts[(from[0].key >> (digit * DIGIT_BITS)) & (DIGIT_SIZE - 1)] == n)
      continue;
    counts_to_places(counts);
    for (size_t i = 0; i < n; i++)
      to[counts[(from[i].key >> (digit * DIGIT_BITS)) & (DIGIT_SIZE - 1)]++] = from[i];
    ScoredRow *kept = from;
    from = to;
    to = kept;
  }
  guint32 rank = 0;
  for (size_t i = 0; i < n; i++) {
    if (i > 0 && from[i].key != from[i - 1].key)
      rank++;
    ranks[from[i].row] = rank;
  }
  return (size_t)rank + 1;
}

size_t
demur_coverage_ranks(const double *scores, size_t n, guint32 *ranks) {
  if (n == 0)
    return 0;
  return are_floats(scores, n) ? ranks_of_floats(scores, n, ranks)
                               : ranks_of_doubles(scores, n, ranks);
}
