/* The equal-mass bins of metrics/selective.c for twelve coverages at a time: a lane of a vector is
 * a coverage. Each entry's mass and its mass (y - r) are added to the lanes that select it, and
 * 0 to the others, which changes no sum; the few lanes whose bin is full at that entry are cut
 * one by one. So every bin's sum has its terms in the order of risk, as if its selection had been
 * written out, and the lanes hide each other's latency.
 *
 * Source: metrics/selective.c, whose rules of ties, weights and straddling entries hold here.
 * Cost: n entries x three vectors of four, and 15 cuts a coverage. */
#include "metrics/selective-lanes.h"

#include <math.h>
#include <string.h>

#include "base/vector.h"
#include "metrics/bins.h"

#define N_VECTORS 3
#define N_LANES (4 * N_VECTORS)

typedef double V4 __attribute__((vector_size(32)));
typedef gint64 V4i __attribute__((vector_size(32)));

typedef union {
  V4 v[N_VECTORS];
  double lane[N_LANES];
} Lanes;

/* What is at work in each lane's bin. */
typedef struct {
  Lanes room; /* what the bin takes yet; infinite in the last one of blocks, and in lanes at rest */
  Lanes sum;  /* of mass (y - r) */
  Lanes size; /* of mass; kept for blocks only */
  Lanes limit; /* the largest rank that is selected, -1 for none */
} Work;

/* What is done with a lane's full bins. */
typedef struct {
  size_t bin, n_bins;
  size_t small, n_large; /* bins of small + 1 come first */
  double mass, square;   /* square: sum over the full bins of sum^2 / size */
} Closed;

/* The scans that the bin takes; with weights the outcomes' mass. */
static double
room_of(const Closed *c, gboolean weighted) {
  return weighted ? c->mass / (double)c->n_bins : (double)(c->small + (c->bin < c->n_large));
}

static void
close_bin(Closed *c, double sum, double size) {
  if (size > 0.0)
    c->square += sum * sum / size;
  c->bin++;
}

/* An entry that fills a bin, no two risks alike and every outcome known: its copies go to either
 * side. */
static void
cut_plain(Work *work, size_t l, Closed *c, double count, double difference) {
  double room = work->room.lane[l], sum = work->sum.lane[l];
  while (count >= room) {
    close_bin(c, sum + room * difference, room_of(c, FALSE));
    count -= room;
    sum = 0.0;
    room = c->bin < c->n_bins ? room_of(c, FALSE) : INFINITY;
  }
  work->room.lane[l] = room - count;
  work->sum.lane[l] = sum + count * difference;
}

/* A block that fills a bin: each bin takes its share of everything in it; the last one what
 * rounding left over. */
static void
cut_block(Work *work, size_t l, Closed *c, gboolean weighted, double mass, double difference) {
  double room = work->room.lane[l], sum = work->sum.lane[l], size = work->size.lane[l], left = mass;
  while (left > 0.0) {
    const double taken = fmin(left, room), share = taken / mass;
    size += share * mass;
    sum += share * difference;
    left -= taken;
    room -= taken;
    if (!(room > 0.0)) {
      close_bin(c, sum, size);
      sum = size = 0.0;
      room = c->bin + 1 < c->n_bins ? room_of(c, weighted) : INFINITY;
    }
  }
  work->room.lane[l] = room;
  work->sum.lane[l] = sum;
  work->size.lane[l] = size;
}

/* What an entry, or a block of equal risk, brings to the lanes. */
typedef struct {
  Lanes mass, product;
} Step;

/* Takes the step in the lanes whose bin it fills, and takes it away for them. */
static __attribute__((noinline)) void
cut_lanes(Work *work, Step *step, Closed *closed, const DemurSelectiveEntries *e, gboolean blocks,
          size_t j) {
  size_t full[N_LANES], n_full = 0;
  for (size_t l = 0; l < N_LANES; l++) {
    full[n_full] = l;
    n_full += work->room.lane[l] <= step->mass.lane[l];
  }
  for (size_t f = 0; f < n_full; f++) {
    const size_t l = full[f];
    if (blocks)
      cut_block(work, l, &closed[l], e->weighted, step->mass.lane[l], step->product.lane[l]);
    else
      cut_plain(work, l, &closed[l], step->mass.lane[l], e->differences[j]);
    step->mass.lane[l] = step->product.lane[l] = 0.0;
  }
}

#define fill4(x) ((V4){(x), (x), (x), (x)})
#define EACH_VECTOR _Pragma("GCC unroll 3") for (size_t v = 0; v < N_VECTORS; v++)

/* blocks and tied are constants where this is inlined; the lanes live in registers. */
VECTOR_INLINE void
walk(const DemurSelectiveEntries *e, Work *work, Closed *closed, gboolean blocks, gboolean tied) {
  V4 room[N_VECTORS], sum[N_VECTORS], size[N_VECTORS], limit[N_VECTORS];
  V4 mass[N_VECTORS], product[N_VECTORS];
  EACH_VECTOR {
    room[v] = work->room.v[v];
    sum[v] = work->sum.v[v];
    size[v] = work->size.v[v];
    limit[v] = work->limit.v[v];
    mass[v] = product[v] = fill4(0.0);
  }
  for (size_t j = 0; j < e->n; j++) {
    const V4 m = fill4(e->masses[j]), p = fill4(e->products[j]), rank = fill4(e->ranks[j]);
    EACH_VECTOR {
      const V4i selected = (V4i)(rank <= limit[v]);
      const V4 more = (V4)(selected & (V4i)m), difference = (V4)(selected & (V4i)p);
      mass[v] = tied ? mass[v] + more : more;
      product[v] = tied ? product[v] + difference : difference;
    }
    if (tied && j + 1 < e->n && e->blocks[j + 1] == e->blocks[j])
      continue;
    V4i full = {0};
    EACH_VECTOR full |= (V4i)(room[v] <= mass[v]);
    if ((full[0] | full[1] | full[2] | full[3]) != 0) {
      Step step;
      EACH_VECTOR {
        work->room.v[v] = room[v];
        work->sum.v[v] = sum[v];
        work->size.v[v] = size[v];
        step.mass.v[v] = mass[v];
        step.product.v[v] = product[v];
      }
      cut_lanes(work, &step, closed, e, blocks, j);
      EACH_VECTOR {
        room[v] = work->room.v[v];
        sum[v] = work->sum.v[v];
        size[v] = work->size.v[v];
        mass[v] = step.mass.v[v];
        product[v] = step.product.v[v];
      }
    }
    EACH_VECTOR {
      room[v] -= mass[v];
      sum[v] += product[v];
      if (blocks)
        size[v] += mass[v];
    }
    if (tied)
      EACH_VECTOR mass[v] = product[v] = fill4(0.0);
  }
  EACH_VECTOR {
    work->room.v[v] = room[v];
    work->sum.v[v] = sum[v];
    work->size.v[v] = size[v];
  }
}

VECTOR_CLONES static void
walk_plain(const DemurSelectiveEntries *e, Work *work, Closed *closed) {
  walk(e, work, closed, FALSE, FALSE);
}

VECTOR_CLONES static void
walk_tied(const DemurSelectiveEntries *e, Work *work, Closed *closed) {
  walk(e, work, closed, TRUE, TRUE);
}

VECTOR_CLONES static void
walk_weighted(const DemurSelectiveEntries *e, Work *work, Closed *closed) {
  walk(e, work, closed, TRUE, FALSE);
}

/* Of weighted outcomes those are in no bin that are not known: the bins' number and mass are those
 * of the others. */
VECTOR_CLONES static void
count_known(const DemurSelectiveEntries *e, const Work *work, Lanes *mass, Lanes *n_known) {
  Lanes masses, known;
  memset(&masses, 0, sizeof masses);
  memset(&known, 0, sizeof known);
  for (size_t j = 0; j < e->n; j++) {
    const double count = e->masses[j] > 0.0 ? (double)e->counts[j] : 0.0;
    const V4 m = fill4(e->masses[j]), n = fill4(count), rank = fill4(e->ranks[j]);
#pragma GCC unroll 3
    for (size_t v = 0; v < N_VECTORS; v++) {
      const V4i selected = (V4i)(rank <= work->limit.v[v]);
      masses.v[v] += (V4)(selected & (V4i)m);
      known.v[v] += (V4)(selected & (V4i)n);
    }
  }
  *mass = masses;
  *n_known = known;
}

static void
start_lane(Work *work, size_t l, Closed *c, size_t n, gboolean blocks, gboolean weighted,
           size_t min_bin_size) {
  work->room.lane[l] = INFINITY;
  c->n_bins = demur_bins_count(n, min_bin_size);
  if (n == 0)
    return;
  c->small = n / c->n_bins;
  c->n_large = n % c->n_bins;
  if (!blocks || c->n_bins > 1)
    work->room.lane[l] = room_of(c, weighted);
}

/* At most N_LANES coverages. */
static void
few_coverages(const DemurSelectiveEntries *e, const guint32 *max_ranks, const size_t *n_selected,
              size_t n_coverages, size_t min_bin_size, double *errors) {
  const gboolean blocks = e->blocks != NULL || e->weighted;
  Work work;
  Closed closed[N_LANES];
  Lanes mass, n;
  memset(&work, 0, sizeof work);
  memset(closed, 0, sizeof closed);
  memset(&mass, 0, sizeof mass);
  memset(&n, 0, sizeof n);
  for (size_t l = 0; l < N_LANES; l++) {
    const gboolean used = l < n_coverages && n_selected[l] > 0;
    work.limit.lane[l] = used ? (double)max_ranks[l] : -1.0;
    mass.lane[l] = n.lane[l] = used ? (double)n_selected[l] : 0.0;
  }
  if (e->weighted)
    count_known(e, &work, &mass, &n);
  for (size_t l = 0; l < N_LANES; l++) {
    closed[l].mass = mass.lane[l];
    start_lane(&work, l, &closed[l], (size_t)n.lane[l], blocks, e->weighted, min_bin_size);
  }
  if (!blocks)
    walk_plain(e, &work, closed);
  else if (e->blocks != NULL)
    walk_tied(e, &work, closed);
  else
    walk_weighted(e, &work, closed);
  for (size_t l = 0; l < n_coverages; l++) {
    if (blocks)
      close_bin(&closed[l], work.sum.lane[l], work.size.lane[l]);
    errors[l] = closed[l].n_bins > 0 ? sqrt(closed[l].square / closed[l].mass) : NAN;
  }
}

void
demur_selective_lanes(const DemurSelectiveEntries *e, const guint32 *max_ranks,
                      const size_t *n_selected, size_t n_coverages, size_t min_bin_size,
                      double *errors) {
  for (size_t first = 0; first < n_coverages; first += N_LANES)
    few_coverages(e, max_ranks + first, n_selected + first, MIN(N_LANES, n_coverages - first),
                  min_bin_size, errors + first);
}
