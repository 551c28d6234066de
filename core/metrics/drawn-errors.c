/* Over the selected scans in ascending risk let P(s) be the sum of y - r of the first s of them, scans of equal risk
 * mixed evenly: a line from one risk's end to the next. With the edges B_0 .. B_m of equal-mass bins
 *
 *   S-BCE_2 = sqrt( 1/n sum_b (P(B_b) - P(B_(b-1)))^2 / (B_b - B_(b-1)) ).
 *
 * Source: metrics/selective.c, whose bins, ties and thresholds hold here; sums are differences of P, so that last
 * digits differ. Layout: a lane is a coverage, from the largest down, so that an entry is selected by the first
 * so many lanes (its level). The entries are gone through in parts of PART: a pass without branches writes the lanes' s and P at each
 * risk's end, in the first cache, then the edges of all lanes that lie in the part are looked up together by halving. Cost: O(n)
 * vectors of 12 doubles and 16 counts, and 15 edges x log2 PART a coverage. */
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
#define PART 128

typedef double V4 __attribute__((vector_size(32)));
typedef gint64 V4i __attribute__((vector_size(32)));
typedef gint32 Ints __attribute__((vector_size(32), may_alias));
typedef guint16 Counts __attribute__((vector_size(32), may_alias));
typedef guint64 Words __attribute__((vector_size(32)));
#define BLOCK_VECTORS ((1 << BLOCK_BITS) / COUNT_LANES)

/* Lanes below the level are selected. */
typedef struct {
  Counts counts[N_LANES + 1];
  V4i lanes[N_LANES + 1][N_VECTORS];
} Masks;

struct DemurDrawnScratch {
  Masks masks;
  Counts *rank_counts;   /* [n_ranks] in whole blocks */
  guint16 *block_counts; /* [n_ranks >> BLOCK_BITS + 1] */
  guint32 *ranks;        /* [n] of the entries */
  guint32 *levels;       /* [n] */
  double *products;      /* [n] count (y - r) */
  guint16 *ends;         /* [n + 1] 1 where the entry before is the last of its risk */
  /* Of the part at work; the first is the last risk's end of the parts before. */
  Counts sizes[PART + 1];       /* s at each risk's end */
  V4 sums[PART + 1][N_VECTORS]; /* P there */
  Counts size;                  /* s and P as far as the parts go */
  V4 sum[N_VECTORS];
};

DemurDrawnScratch *
demur_drawn_scratch_new(size_t n_ranks, size_t n) {
  DemurDrawnScratch *s = demur_memory_new(1, 1, sizeof *s);
  for (size_t level = 0; level <= N_LANES; level++)
    for (size_t l = 0; l < level; l++) {
      s->masks.counts[level][l] = G_MAXUINT16;
      s->masks.lanes[level][l / 4][l % 4] = -1;
    }
  s->rank_counts = demur_memory_new((n_ranks >> BLOCK_BITS) + 1, BLOCK_VECTORS, sizeof(Counts));
  s->block_counts = demur_new_array(guint16, (n_ranks >> BLOCK_BITS) + 1);
  s->ranks = demur_new_array(guint32, n + 7);
  s->levels = demur_new_array(guint32, n + 7);
  s->products = demur_new_array(double, n);
  s->ends = demur_new_array(guint16, n + 1);
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
  g_aligned_free(s);
}

/* The entries' ranks, products and ends, and how many scans stand at each rank. */
static void
load_entries(const DemurDrawnScans *scans, const DemurDrawnSet *set, DemurDrawnScratch *s) {
  memset(s->rank_counts, 0,
         ((scans->n_ranks >> BLOCK_BITS) + 1) * BLOCK_VECTORS * sizeof *s->rank_counts);
  const DemurDrawnScan *by_row = scans->scans;
  const guint32 *restrict rows = set->rows;
  const guint16 *restrict counts = set->counts;
  guint16 *restrict rank_counts = (guint16 *)s->rank_counts, *restrict ends = s->ends;
  guint32 *restrict ranks = s->ranks;
  double *restrict products = s->products;
  const size_t n = set->n;
  guint32 risk = G_MAXUINT32;
  for (size_t j = 0; j < n; j++) {
    const DemurDrawnScan *scan = &by_row[rows[j]];
    const guint16 count = counts[j];
    const guint32 rank = ranks[j] = scan->rank;
    products[j] = (double)count * scan->difference;
    ends[j] = scan->risk != risk;
    risk = scan->risk;
    rank_counts[rank] = (guint16)(rank_counts[rank] + count);
  }
  ends[n] = 1;
}

/* How many scans stand at each block of ranks; no sum is above 65,535. */
VECTOR_CLONES static void
count_blocks(const Counts *rank_counts, size_t n_blocks, guint16 *block_counts) {
  for (size_t b = 0; b < n_blocks; b++) {
    Counts sum = {0};
#pragma GCC unroll 4
    for (size_t v = 0; v < BLOCK_VECTORS; v++)
      sum += rank_counts[b * BLOCK_VECTORS + v];
    const Words words = (Words)sum;
    const guint64 four = (words[0] + words[1]) + (words[2] + words[3]);
    block_counts[b] = (guint16)(four * 0x0001000100010001u >> 48);
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
  const guint16 *rank_counts = (const guint16 *)s->rank_counts;
  size_t block = 0, before = 0;
  for (size_t l = n_coverages; l-- > 0;) {
    const size_t wanted = demur_coverage_count(coverages[found->place[l]], set->n_total);
    while (before + s->block_counts[block] < wanted)
      before += s->block_counts[block++];
    size_t rank = block << BLOCK_BITS, sum = before;
    while ((sum += rank_counts[rank]) < wanted)
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

/* s and P of each lane at each risk's end among entries [begin, end); how many of these there are, with the one that
 * comes first. */
VECTOR_CLONES static size_t
sum_lanes(const DemurDrawnSet *set, size_t begin, size_t end, DemurDrawnScratch *s) {
  Counts size = s->size;
  V4 sum[N_VECTORS];
  EACH_VECTOR sum[v] = s->sum[v];
  size_t q = 1;
  for (size_t j = begin; j < end; j++) {
    const guint32 level = s->levels[j];
    const double p = s->products[j];
    size += s->masks.counts[level] & set->counts[j];
    s->sizes[q] = size;
    EACH_VECTOR {
      sum[v] += (V4)(s->masks.lanes[level][v] & (V4i)(V4){p, p, p, p});
      s->sums[q][v] = sum[v];
    }
    q += s->ends[j + 1];
  }
  s->size = size;
  EACH_VECTOR s->sum[v] = sum[v];
  return q;
}

/* A lane's bins: n_large of small + 1 scans, then those of small; how far it has come. */
typedef struct {
  size_t n_bins, small, n_large, bin;
  double before, square; /* P at the last edge; the sum so far */
} Bins;

static guint32
edge_of(const Bins *bins) {
  return (guint32)((bins->bin + 1) * bins->small + MIN(bins->bin + 1, bins->n_large));
}

/* The edges of lane l among the part's n_points places, and what the bins before them add. */
static void
pass_edges(const DemurDrawnScratch *s, size_t l, size_t n_points, Bins *lane) {
  const guint16 *sizes = (const guint16 *)s->sizes + l;
  const double *sums = (const double *)s->sums + l;
  const guint32 last = sizes[(n_points - 1) * COUNT_LANES];
  for (guint32 edge; lane->bin < lane->n_bins && (edge = edge_of(lane)) <= last; lane->bin++) {
    size_t before = 0; /* the last place where s is below the edge */
    for (size_t left = n_points - 1; left > 1;) {
      const size_t half = left / 2;
      const gboolean below = sizes[(before + half) * COUNT_LANES] < edge;
      before += half & -(size_t)below; /* no branch: none could be foreseen */
      left -= half;
    }
    const double s0 = (double)sizes[before * COUNT_LANES];
    const double s1 = (double)sizes[(before + 1) * COUNT_LANES];
    const double p0 = sums[before * N_LANES], p1 = sums[(before + 1) * N_LANES];
    const double here = p0 + ((double)edge - s0) * (p1 - p0) / (s1 - s0);
    const double gap = here - lane->before;
    lane->square += gap * gap / (double)(lane->small + (lane->bin < lane->n_large));
    lane->before = here;
  }
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
  count_blocks(s->rank_counts, (scans->n_ranks >> BLOCK_BITS) + 1, s->block_counts);
  find_thresholds(set, coverages, n_coverages, s, &found);
  find_levels(s->ranks, set->n, found.limits, s->levels);
  Bins bins[N_LANES] = {0};
  for (size_t l = 0; l < n_coverages; l++) {
    const size_t n_bins = bins[l].n_bins = demur_bins_count(found.n_selected[l], min_bin_size);
    bins[l].small = n_bins > 0 ? found.n_selected[l] / n_bins : 0;
    bins[l].n_large = n_bins > 0 ? found.n_selected[l] % n_bins : 0;
  }
  s->size = s->sizes[0] = (Counts){0};
  EACH_VECTOR s->sum[v] = s->sums[0][v] = (V4){0};
  for (size_t begin = 0; begin < set->n; begin += PART) {
    const size_t n_points = sum_lanes(set, begin, MIN(begin + PART, set->n), s);
    for (size_t l = 0; l < n_coverages; l++)
      pass_edges(s, l, n_points, &bins[l]);
    s->sizes[0] = s->sizes[n_points - 1];
    EACH_VECTOR s->sums[0][v] = s->sums[n_points - 1][v];
  }
  for (size_t l = 0; l < n_coverages; l++)
    errors[found.place[l]] =
        bins[l].n_bins > 0 ? sqrt(bins[l].square / (double)found.n_selected[l]) : NAN;
}
