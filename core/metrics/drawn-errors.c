/* Over the selected scans in ascending risk let P(s) be the sum of y - r of the first s of them, scans of equal risk
 * mixed evenly: a line from one risk's end to the next. With the edges B_0 .. B_m of equal-mass bins
 *
 *   S-BCE_2 = sqrt( 1/n sum_b (P(B_b) - P(B_(b-1)))^2 / (B_b - B_(b-1)) ).
 *
 * Source: metrics/selective.c, whose bins, ties and thresholds hold here; sums are differences of P, so that last
 * digits differ. Layout: a lane is a coverage, from the largest down, so that an entry is selected by the first
 * so many lanes (its level). The entries are gone through in parts of PART: a pass without branches writes the lanes' s and P at each
 * risk's end, in the first cache. How many edges of a lane lie in the part follows from its s at the part's end; those of all lanes are put
 * in one list, and each step is done for the whole list before the next one: nothing waits for one edge's place, and no
 * branch hangs on where it is. Cost: O(n) vectors of 12 doubles and 16 counts, and 15 edges x log2 PART a coverage. The steps are functions of
 * their own, never inlined: together they need more registers than there are. */
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
#define PART 128 /* a power of two */
#define MAX_EDGES (N_LANES * DEMUR_MAX_BINS)
#define STEP static __attribute__((noinline))

typedef double V4 __attribute__((vector_size(32)));
typedef gint64 V4i __attribute__((vector_size(32)));
typedef gint32 Ints __attribute__((vector_size(32), may_alias));
typedef guint16 Counts __attribute__((vector_size(32), may_alias));
typedef guint64 Words __attribute__((vector_size(32)));
#define BLOCK_VECTORS ((1 << BLOCK_BITS) / COUNT_LANES)

/* Of one level: the lanes below it are selected. */
typedef struct {
  V4i sums[N_VECTORS];
  Counts sizes;
} Mask;

/* At a risk's end, by lane. */
typedef struct {
  V4 sums[N_VECTORS]; /* P */
  Counts sizes;       /* s */
} Point;

/* A bin's edge in the part at work. */
typedef struct {
  guint32 lane, size; /* size: s at the edge */
  guint32 before;     /* the last point whose s is below */
} Edge;

struct DemurDrawnScratch {
  Mask masks[N_LANES + 1];
  Counts *rank_counts;    /* [n_ranks] in whole blocks */
  guint16 *block_counts;  /* [n_ranks >> BLOCK_BITS + 1] */
  guint32 *ranks;         /* [n] of the entries */
  guint32 *levels;        /* [n] */
  double *products;       /* [n] count (y - r) */
  guint16 *ends;          /* [n + 1] 1 where the entry before is the last of its risk */
  Point points[PART + 1]; /* of the part at work; the first is the last one of the parts before */
  Point now;              /* as far as the parts go */
  Edge edges[MAX_EDGES];
  double here[MAX_EDGES]; /* P there */
};

DemurDrawnScratch *
demur_drawn_scratch_new(size_t n_ranks, size_t n) {
  DemurDrawnScratch *s = demur_memory_new(1, 1, sizeof *s);
  for (size_t level = 0; level <= N_LANES; level++)
    for (size_t l = 0; l < level; l++) {
      s->masks[level].sizes[l] = G_MAXUINT16;
      s->masks[level].sums[l / 4][l % 4] = -1;
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
STEP void
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

STEP void
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

/* s and P of each lane at each risk's end among entries [begin, end); how many of these points there are, with the one
 * that comes first. */
VECTOR_CLONES static size_t
sum_lanes(const DemurDrawnSet *set, size_t begin, size_t end, DemurDrawnScratch *s) {
  const guint32 *restrict levels = s->levels;
  const double *restrict products = s->products;
  const guint16 *restrict counts = set->counts, *restrict ends = s->ends + 1;
  const Mask *restrict masks = s->masks;
  Point *restrict point = s->points + 1;
  Point now = s->now;
  for (size_t j = begin; j < end; j++) {
    const Mask *mask = &masks[levels[j]];
    const double p = products[j];
    now.sizes += mask->sizes & counts[j];
    point->sizes = now.sizes;
    EACH_VECTOR {
      now.sums[v] += (V4)(mask->sums[v] & (V4i)(V4){p, p, p, p});
      point->sums[v] = now.sums[v];
    }
    point += ends[j];
  }
  s->now = now;
  return (size_t)(point - s->points);
}

/* A lane's bins: n_large of small + 1 scans, then those of small; how far it has come. */
typedef struct {
  guint32 n_bins, small, n_large, bin;
  double before, square; /* P at the last edge; the sum so far */
} Bins;

static guint32
edge_of(const Bins *bins, guint32 bin) {
  return (bin + 1) * bins->small + MIN(bin + 1, bins->n_large);
}

static double
size_at(const Point *points, size_t point, guint32 lane) {
  return (double)((const guint16 *)&points[point].sizes)[lane];
}

static double
sum_at(const Point *points, size_t point, guint32 lane) {
  return ((const double *)points[point].sums)[lane];
}

/* The edges of all lanes up to the part's last point, lane by lane; their number. n_passed [n_lanes]: how many of a lane's there
 * are up to there. */
STEP size_t
list_edges(const Point *last, const Bins *bins, size_t n_lanes, guint32 *n_passed, Edge *edges) {
  size_t n = 0;
  for (guint32 l = 0; l < n_lanes; l++) {
    const guint32 size = ((const guint16 *)&last->sizes)[l];
    guint32 bin = bins[l].bin;
    for (guint32 edge; bin < bins[l].n_bins && (edge = edge_of(&bins[l], bin)) <= size; bin++)
      edges[n++] = (Edge){l, edge, 0};
    n_passed[l] = bin;
  }
  return n;
}

/* All bits where a is below b, else none. By their difference, and not by a comparison: no branch, since none could be foreseen, and
 * no `sbb` of a register with itself, which waits on many processors for what the register held. */
static inline size_t
mask_below(gint64 a, gint64 b) {
  return (size_t)((a - b) >> 63);
}

/* The last of points [0, power) whose s in a lane is below size, by halving; that of the first one is. */
static inline __attribute__((always_inline)) size_t
last_below(const Point *points, size_t power, guint32 lane, guint32 size) {
  const char *sizes = (const char *)&points->sizes + lane * sizeof(guint16);
  size_t before = 0;
#pragma GCC unroll 8
  for (size_t half = power / 2 * sizeof(Point); half >= sizeof(Point); half /= 2) {
    const guint16 here = *(const guint16 *)(sizes + before + half);
    before += half & mask_below(here, size);
  }
  return before / sizeof(Point);
}

/* Between which points each edge lies: where they are no power of two, in the first or the last power of two of them. */
STEP void
place_edges(const Point *points, size_t n_points, Edge *edges, size_t n_edges) {
  const size_t n_steps = n_points - 1;
  if (n_steps == PART) { /* mostly: the steps are constants */
    for (size_t e = 0; e < n_edges; e++)
      edges[e].before = (guint32)last_below(points, PART, edges[e].lane, edges[e].size);
    return;
  }
  size_t power = 1;
  while (2 * power <= n_steps)
    power *= 2;
  const size_t behind = n_steps - power;
  const guint16 *middle = (const guint16 *)&points[behind].sizes;
  for (size_t e = 0; e < n_edges; e++) {
    const guint32 lane = edges[e].lane, size = edges[e].size;
    const size_t first = behind & mask_below(middle[lane], size);
    edges[e].before = (guint32)(first + last_below(points + first, power, lane, size));
  }
}

/* P at each edge. */
STEP void
sum_to_edges(const Point *points, const Edge *edges, size_t n_edges, double *here) {
  for (size_t e = 0; e < n_edges; e++) {
    const guint32 lane = edges[e].lane;
    const size_t before = edges[e].before;
    const double s0 = size_at(points, before, lane), s1 = size_at(points, before + 1, lane);
    const double p0 = sum_at(points, before, lane), p1 = sum_at(points, before + 1, lane);
    here[e] = p0 + ((double)edges[e].size - s0) * (p1 - p0) / (s1 - s0);
  }
}

/* What the bins before the part's edges add. */
STEP void
pass_edges(DemurDrawnScratch *s, size_t n_points, size_t n_lanes, Bins *bins) {
  guint32 n_passed[N_LANES];
  const size_t n_edges = list_edges(&s->points[n_points - 1], bins, n_lanes, n_passed, s->edges);
  place_edges(s->points, n_points, s->edges, n_edges);
  sum_to_edges(s->points, s->edges, n_edges, s->here);
  const double *here = s->here;
  for (size_t l = 0; l < n_lanes; l++) {
    Bins *lane = &bins[l];
    for (; lane->bin < n_passed[l]; lane->bin++) {
      const double gap = *here - lane->before;
      lane->square += gap * gap / (double)(lane->small + (lane->bin < lane->n_large));
      lane->before = *here++;
    }
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
    const guint32 n_selected = (guint32)found.n_selected[l];
    const guint32 n_bins = (guint32)demur_bins_count(n_selected, min_bin_size);
    bins[l].n_bins = n_bins;
    bins[l].small = n_bins > 0 ? n_selected / n_bins : 0;
    bins[l].n_large = n_bins > 0 ? n_selected % n_bins : 0;
  }
  s->now = s->points[0] = (Point){0};
  for (size_t begin = 0; begin < set->n; begin += PART) {
    const size_t n_points = sum_lanes(set, begin, MIN(begin + PART, set->n), s);
    pass_edges(s, n_points, n_coverages, bins);
    s->points[0] = s->points[n_points - 1];
  }
  for (size_t l = 0; l < n_coverages; l++)
    errors[found.place[l]] =
        bins[l].n_bins > 0 ? sqrt(bins[l].square / (double)found.n_selected[l]) : NAN;
}
