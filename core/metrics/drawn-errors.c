/* Over the selected scans in ascending risk let P(s) be the sum of y - r of the first s of them, scans of equal risk
 * mixed evenly: a line from one risk's end to the next. With the edges B_0 .. B_m of equal-mass bins
 *
 *   S-BCE_2 = sqrt( 1/n sum_b (P(B_b) - P(B_(b-1)))^2 / (B_b - B_(b-1)) ).
 *
 * Source: metrics/selective.c, whose bins, ties and thresholds hold here; sums are differences of P, so that last
 * digits differ. Layout: a lane is a coverage, from the largest down, so that an entry is selected by the first
 * so many lanes (its level). One pass without branches writes the lanes' s and P at each risk's end; then all
 * edges of a coverage are looked up together by halving. Cost: O(n) vectors of 12 doubles and 16 counts, and 15 edges
 * x log2 n a coverage. */
#include "metrics/drawn-errors.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vector.h"
#include "metrics/bins.h"
#include "metrics/coverage.h"

#define BLOCK_BITS 6 /* ranks a block of the coarse count */
#define N_LANES DEMUR_DRAWN_MAX_COVERAGES
#define N_VECTORS (N_LANES / 4)
#define COUNT_LANES 16

typedef double V4 __attribute__((vector_size(32)));
typedef gint64 V4i __attribute__((vector_size(32)));
typedef gint32 Ints __attribute__((vector_size(32), may_alias));
typedef guint16 Counts __attribute__((vector_size(32)));

/* Lanes below the level are selected. */
typedef struct {
  Counts counts[N_LANES + 1];
  V4i lanes[N_LANES + 1][N_VECTORS];
} Masks;

struct DemurDrawnScratch {
  Masks masks;
  guint16 *rank_counts;  /* [n_ranks] */
  guint16 *block_counts; /* [n_ranks >> BLOCK_BITS + 1] */
  guint32 *ranks;        /* [n] of the entries */
  guint32 *levels;       /* [n] */
  double *products;      /* [n] count (y - r) */
  guint16 *ends;         /* [n] 1 where the entry is the last of its risk */
  Counts *sizes;         /* [n + 1] s at each risk's end, 0 first */
  V4 (*sums)[N_VECTORS]; /* [n + 1] P there */
};

DemurDrawnScratch *
demur_drawn_scratch_new(size_t n_ranks, size_t n) {
  DemurDrawnScratch *s = demur_memory_new(1, 1, sizeof *s);
  for (size_t level = 0; level <= N_LANES; level++)
    for (size_t l = 0; l < level; l++) {
      s->masks.counts[level][l] = G_MAXUINT16;
      s->masks.lanes[level][l / 4][l % 4] = -1;
    }
  s->rank_counts = demur_new_array(guint16, n_ranks);
  s->block_counts = demur_new_array(guint16, (n_ranks >> BLOCK_BITS) + 1);
  s->ranks = demur_new_array(guint32, n + 7);
  s->levels = demur_new_array(guint32, n + 7);
  s->products = demur_new_array(double, n);
  s->ends = demur_new_array(guint16, n);
  s->sizes = demur_memory_new(n + 1, 1, sizeof *s->sizes);
  s->sums = demur_memory_new(n + 1, 1, sizeof *s->sums);
  return s;
}

void
demur_drawn_scratch_free(DemurDrawnScratch *s) {
  if (s == NULL)
    return;
  g_aligned_free(s->rank_counts);
  g_aligned_free(s->block_counts);
  g_aligned_free(s->ranks);
  g_aligned_free(s->levels);
  g_aligned_free(s->products);
  g_aligned_free(s->ends);
  g_aligned_free(s->sizes);
  g_aligned_free(s->sums);
  g_aligned_free(s);
}

/* The entries' ranks, products and ends, and how many scans stand at each rank. */
static void
load_entries(const DemurDrawnScans *scans, const DemurDrawnSet *set, DemurDrawnScratch *s) {
  memset(s->rank_counts, 0, scans->n_ranks * sizeof *s->rank_counts);
  memset(s->block_counts, 0, ((scans->n_ranks >> BLOCK_BITS) + 1) * sizeof *s->block_counts);
  guint16 *rank_counts = s->rank_counts, *block_counts = s->block_counts, *ends = s->ends;
  DemurDrawnScan next = set->n > 0 ? scans->scans[set->rows[0]] : (DemurDrawnScan){0};
  for (size_t j = 0; j < set->n; j++) {
    const DemurDrawnScan scan = next;
    const guint16 count = set->counts[j];
    if (j + 1 < set->n)
      next = scans->scans[set->rows[j + 1]];
    s->ranks[j] = scan.rank;
    s->products[j] = (double)count * scan.difference;
    ends[j] = j + 1 == set->n || next.risk != scan.risk;
    rank_counts[scan.rank] = (guint16)(rank_counts[scan.rank] + count);
    block_counts[scan.rank >> BLOCK_BITS] =
        (guint16)(block_counts[scan.rank >> BLOCK_BITS] + count);
  }
}

/* A lane's coverage: its place among those asked for, the last rank it selects, -1 where none, and how many scans that
 * is. */
typedef struct {
  size_t place[N_LANES], n_selected[N_LANES];
  gint32 limits[N_LANES];
} Thresholds;

static void
find_thresholds(const DemurDrawnSet *set, const double *coverages, size_t n_coverages,
                const DemurDrawnScratch *s, Thresholds *found) {
  for (size_t l = 0; l < N_LANES; l++)
    found->limits[l] = -1;
  for (size_t c = 0; c < n_coverages; c++) {
    size_t l = c;
    for (; l > 0 && coverages[found->place[l - 1]] < coverages[c]; l--)
      found->place[l] = found->place[l - 1];
    found->place[l] = c;
  }
  /* From the smallest up: one walk over the blocks serves all. */
  size_t block = 0, before = 0;
  for (size_t l = n_coverages; l-- > 0;) {
    const size_t wanted = demur_coverage_count(coverages[found->place[l]], set->n_total);
    while (before + s->block_counts[block] < wanted)
      before += s->block_counts[block++];
    size_t rank = block << BLOCK_BITS, sum = before;
    while ((sum += s->rank_counts[rank]) < wanted)
      rank++;
    found->limits[l] = (gint32)rank;
    found->n_selected[l] = sum;
  }
}

/* levels [n], a multiple of eight. */
VECTOR_CLONES static void
find_levels(const guint32 *ranks, size_t n, const gint32 *limits, guint32 *levels) {
  for (size_t j = 0; j < n; j += 8) {
    const Ints rank = *(const Ints *)(ranks + j);
    Ints level = {0};
#pragma GCC unroll 12
    for (size_t l = 0; l < N_LANES; l++) {
      const gint32 limit = limits[l];
      level -= rank <= (Ints){limit, limit, limit, limit, limit, limit, limit, limit};
    }
    *(Ints *)(levels + j) = level;
  }
}

#define EACH_VECTOR _Pragma("GCC unroll 3") for (size_t v = 0; v < N_VECTORS; v++)

/* s and P of each lane at each risk's end; how many of these there are, with the 0 that comes first. */
VECTOR_CLONES static size_t
sum_lanes(const DemurDrawnSet *set, DemurDrawnScratch *s) {
  Counts size = {0};
  V4 sum[N_VECTORS] = {{0}};
  size_t q = 1;
  s->sizes[0] = size;
  EACH_VECTOR s->sums[0][v] = sum[v];
  for (size_t j = 0; j < set->n; j++) {
    const guint32 level = s->levels[j];
    const double p = s->products[j];
    size += s->masks.counts[level] & set->counts[j];
    s->sizes[q] = size;
    EACH_VECTOR {
      sum[v] += (V4)(s->masks.lanes[level][v] & (V4i)(V4){p, p, p, p});
      s->sums[q][v] = sum[v];
    }
    q += s->ends[j];
  }
  return q;
}

/* The error of the lane, whose s and P stand at n_points places. */
static double
error_of_lane(const DemurDrawnScratch *s, size_t l, size_t n_points, size_t n_selected,
              size_t min_bin_size) {
  const size_t n_bins = demur_bins_count(n_selected, min_bin_size);
  if (n_bins == 0)
    return NAN;
  const size_t small = n_selected / n_bins, n_large = n_selected % n_bins;
  const guint16 *sizes = (const guint16 *)s->sizes + l;
  const double *sums = (const double *)s->sums + l;
  /* first[b]: the first place, but 0, where s is at least the edge behind bin b. */
  guint32 edges[DEMUR_MAX_BINS], first[DEMUR_MAX_BINS];
  for (size_t b = 0; b < n_bins; b++) {
    edges[b] = (guint32)((b + 1) * small + MIN(b + 1, n_large));
    first[b] = 1;
  }
  for (size_t left = n_points - 1; left > 1;) {
    const guint32 half = (guint32)(left / 2);
    for (size_t b = 0; b < n_bins; b++)
      first[b] += sizes[(size_t)(first[b] + half - 1) * COUNT_LANES] < edges[b] ? half : 0;
    left -= half;
  }
  double square = 0.0, before = 0.0;
  for (size_t b = 0; b < n_bins; b++) {
    const size_t q = first[b];
    const double s0 = (double)sizes[(q - 1) * COUNT_LANES], s1 = (double)sizes[q * COUNT_LANES];
    const double p0 = sums[(q - 1) * N_LANES], p1 = sums[q * N_LANES];
    const double here = p0 + ((double)edges[b] - s0) * (p1 - p0) / (s1 - s0);
    const double gap = here - before;
    square += gap * gap / (double)(small + (b < n_large));
    before = here;
  }
  return sqrt(square / (double)n_selected);
}

void
demur_drawn_errors(const DemurDrawnScans *scans, const DemurDrawnSet *set, const double *coverages,
                   size_t n_coverages, size_t min_bin_size, DemurDrawnScratch *s, double *errors) {
  g_return_if_fail(n_coverages <= N_LANES && set->n_total <= G_MAXUINT16);
  if (set->n_total == 0) {
    for (size_t c = 0; c < n_coverages; c++)
      errors[c] = NAN;
    return;
  }
  Thresholds found;
  load_entries(scans, set, s);
  find_thresholds(set, coverages, n_coverages, s, &found);
  find_levels(s->ranks, set->n, found.limits, s->levels);
  const size_t n_points = sum_lanes(set, s);
  for (size_t l = 0; l < n_coverages; l++)
    errors[found.place[l]] = error_of_lane(s, l, n_points, found.n_selected[l], min_bin_size);
}
