/* Equal-mass binned calibration error over coverage:
 *
 *   S-BCE_q = ( sum_b |B_b| / n * | mean_b y - mean_b r |^q )^(1/q),   q = infinity: the largest,
 *
 * m = max(1, min(15, floor(n / 25))) bins as numpy.array_split cuts them: the first n mod m have
 * one more.
 *
 * Paper: appendix "Technical details", Eq. ece. Data: entries in ascending risk with
 * multiplicities; a multiplicity may straddle two bins, which is exact because its copies are
 * equal; so may scans of equal risk, which share their mean outcome. Of weighted outcomes (not all
 * known) the bins hold equal sums of weights. Different here: coverages are visited from the
 * largest down and the kept entries compacted in place, so the lists shrink and one sort by risk
 * serves all (where the error alone is wanted, one walk serves all: metrics/selective-lanes.h);
 * thresholds come from a two-level count by score rank. */
#include "metrics/selective.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vector.h"
#include "metrics/coverage.h"
#include "metrics/selective-lanes.h"

#define MAX_COVERAGES 64
#define BLOCK_BITS 6 /* ranks a block of the coarse count */

struct DemurSelectiveScratch {
  size_t n;
  guint32 *counts, *ranks;              /* [n] kept entries */
  double *differences, *labels, *risks; /* [n] y - r, y, r */
  guint32 *blocks;                      /* [n] number of the entry's risk; only where risks tie */
  double *weights;                      /* [n] only where outcomes are weighted */
  guint32 *rank_counts;                 /* [n] */
  guint32 *block_counts;                /* [n >> BLOCK_BITS + 1] */
};

DemurSelectiveScratch *
demur_selective_scratch_new(size_t n) {
  DemurSelectiveScratch *s = g_new0(DemurSelectiveScratch, 1);
  s->n = n;
  s->counts = demur_new_array(guint32, n);
  s->ranks = demur_new_array(guint32, n);
  s->differences = demur_new_array(double, n);
  s->labels = demur_new_array(double, n);
  s->risks = demur_new_array(double, n);
  s->blocks = demur_new_array(guint32, n);
  s->weights = demur_new_array(double, n);
  s->rank_counts = demur_new_array(guint32, n);
  s->block_counts = demur_new_array(guint32, (n >> BLOCK_BITS) + 1);
  return s;
}

void
demur_selective_scratch_free(DemurSelectiveScratch *s) {
  if (s == NULL)
    return;
  g_aligned_free(s->counts);
  g_aligned_free(s->ranks);
  g_aligned_free(s->differences);
  g_aligned_free(s->labels);
  g_aligned_free(s->risks);
  g_aligned_free(s->blocks);
  g_aligned_free(s->weights);
  g_aligned_free(s->rank_counts);
  g_aligned_free(s->block_counts);
  g_free(s);
}

double
demur_signed_root(double value) {
  return value < 0.0 ? -sqrt(-value) : sqrt(value);
}

/* Sums of one selection's bins. */
typedef struct {
  size_t n_bins;
  gboolean blocks; /* of equal risk, or weighted */
  double mass;     /* of all bins: scans, or their weights */
  double sizes[DEMUR_MAX_BINS];
  double differences[DEMUR_MAX_BINS]; /* sum of y - r */
  double labels[DEMUR_MAX_BINS];      /* sum of y */
  /* With blocks: sums of w^2 and of w^2 y. */
  double squares[DEMUR_MAX_BINS], positive_squares[DEMUR_MAX_BINS];
} Bins;

/* The plain case: every outcome known, no two risks alike. */
static inline void
fill_plain_bins(const guint32 *counts, const double *differences, const double *labels, size_t n,
                size_t n_selected, size_t min_bin_size, Bins *bins) {
  bins->n_bins = demur_bins_count(n_selected, min_bin_size);
  bins->blocks = FALSE;
  bins->mass = (double)n_selected;
  if (n_selected == 0)
    return;
  const size_t small = n_selected / bins->n_bins, n_large = n_selected % bins->n_bins;
  size_t bin = 0, size = small + (n_large > 0), room = size;
  double difference = 0.0, label = 0.0;
  for (size_t j = 0; j < n; j++) {
    size_t count = counts[j];
    while (count >= room) {
      difference += (double)room * differences[j];
      label += (double)room * labels[j];
      bins->sizes[bin] = (double)size;
      bins->differences[bin] = difference;
      bins->labels[bin] = label;
      count -= room;
      difference = label = 0.0;
      if (++bin == bins->n_bins)
        return;
      size = small + (bin < n_large);
      room = size;
    }
    difference += (double)count * differences[j];
    label += (double)count * labels[j];
    room -= count;
  }
}

/* What stands at one risk. */
typedef struct {
  double mass, difference, label, squares, positive_squares;
} Block;

static void
add_share(Bins *bins, size_t bin, const Block *block, double share) {
  bins->sizes[bin] += share * block->mass;
  bins->differences[bin] += share * block->difference;
  bins->labels[bin] += share * block->label;
  bins->squares[bin] += share * share * block->squares;
  bins->positive_squares[bin] += share * share * block->positive_squares;
}

static void
add_whole(Bins *bins, size_t bin, const Block *block) {
  bins->sizes[bin] += block->mass;
  bins->differences[bin] += block->difference;
  bins->labels[bin] += block->label;
  bins->squares[bin] += block->squares;
  bins->positive_squares[bin] += block->positive_squares;
}

/* The block that begins at scan *j, which goes behind it. Without weights what is squared is 1. */
static inline __attribute__((always_inline)) Block
take_block(const DemurSelectiveScratch *s, size_t n, gboolean tied, gboolean weighted, size_t *j) {
  Block block = {0};
  const guint32 here = tied ? s->blocks[*j] : 0;
  size_t i = *j;
  do {
    const double count = (double)s->counts[i];
    if (weighted) {
      const double weight = s->weights[i];
      block.mass += count * weight;
      block.difference += count * weight * s->differences[i];
      block.label += count * weight * s->labels[i];
      block.squares += count * weight * weight;
      block.positive_squares += count * weight * weight * s->labels[i];
    } else {
      block.mass += count;
      block.difference += count * s->differences[i];
      block.label += count * s->labels[i];
    }
    i++;
  } while (tied && i < n && s->blocks[i] == here);
  if (!weighted) {
    block.squares = block.mass;
    block.positive_squares = block.label;
  }
  *j = i;
  return block;
}

/* How many outcomes are known, and their mass. */
static size_t
count_known(const DemurSelectiveScratch *s, size_t n, gboolean weighted, double *mass) {
  size_t n_known = 0;
  *mass = 0.0;
  if (!weighted) {
    for (size_t j = 0; j < n; j++)
      n_known += s->counts[j];
    *mass = (double)n_known;
    return n_known;
  }
  for (size_t j = 0; j < n; j++) {
    *mass += (double)s->counts[j] * s->weights[j];
    n_known += s->weights[j] > 0.0 ? s->counts[j] : 0;
  }
  return n_known;
}

static inline __attribute__((always_inline)) void
fill_bins_of_blocks(const DemurSelectiveScratch *s, size_t n, gboolean tied, gboolean weighted,
                    size_t min_bin_size, Bins *bins) {
  double mass;
  const size_t n_known = count_known(s, n, weighted, &mass);
  memset(bins, 0, sizeof *bins);
  bins->n_bins = demur_bins_count(n_known, min_bin_size);
  bins->blocks = TRUE;
  bins->mass = mass;
  if (n_known == 0)
    return;
  const size_t small = n_known / bins->n_bins, n_large = n_known % bins->n_bins;
  size_t bin = 0;
  double room = weighted ? mass / (double)bins->n_bins : (double)(small + (n_large > 0));
  for (size_t j = 0; j < n;) {
    const Block block = take_block(s, n, tied, weighted, &j);
    double left = block.mass;
    while (left > 0.0) {
      const gboolean is_last = bin + 1 == bins->n_bins;
      /* The last bin takes what rounding left over. */
      const double taken = is_last || left < room ? left : room;
      if (taken == block.mass)
        add_whole(bins, bin, &block);
      else
        add_share(bins, bin, &block, taken / block.mass);
      left -= taken;
      room -= taken;
      if (!(room > 0.0) && !is_last) {
        bin++;
        room = weighted ? mass / (double)bins->n_bins : (double)(small + (bin < n_large));
      }
    }
  }
}

/* Blocks of equal risk, or weighted outcomes, or both. */
static void
fill_block_bins(const DemurSelectiveScratch *s, size_t n, gboolean tied, gboolean weighted,
                size_t min_bin_size, Bins *bins) {
  if (!weighted)
    fill_bins_of_blocks(s, n, TRUE, FALSE, min_bin_size, bins);
  else if (tied)
    fill_bins_of_blocks(s, n, TRUE, TRUE, min_bin_size, bins);
  else
    fill_bins_of_blocks(s, n, FALSE, TRUE, min_bin_size, bins);
}

static double
error2_of(const Bins *bins) {
  if (bins->n_bins == 0)
    return NAN;
  double square = 0.0;
  for (size_t b = 0; b < bins->n_bins; b++)
    if (bins->sizes[b] > 0.0)
      square += bins->differences[b] * bins->differences[b] / bins->sizes[b];
  return sqrt(square / bins->mass);
}

/* The variance of a bin's mean outcome: sum_k f_k^2 sum_(i in k) w_i^2 (y_i - ybar)^2 / (sum w)^2
 * over the blocks k, of which a share f_k stands in the bin, made free of bias by 1 / (1 - s), s
 * the same sum with 1 for (y_i - ybar)^2. Without ties and weights ybar (1 - ybar) / (n - 1). */
static double
variance_of(const Bins *bins, size_t b) {
  const double size = bins->sizes[b], observed = bins->labels[b] / size;
  if (!bins->blocks)
    return observed * (1.0 - observed) / (size - 1.0);
  const double spread = bins->positive_squares[b] * (1.0 - observed) * (1.0 - observed) +
                        (bins->squares[b] - bins->positive_squares[b]) * observed * observed;
  return spread / (size * size - bins->squares[b]);
}

/* A bin of one scan has no variance to take away: then the whole is undefined. */
static double
debiased2_of(const Bins *bins) {
  if (bins->n_bins == 0)
    return NAN;
  double debiased = 0.0;
  for (size_t b = 0; b < bins->n_bins; b++) {
    const double size = bins->sizes[b], gap = bins->differences[b];
    debiased += gap * gap / size - size * variance_of(bins, b);
  }
  return isfinite(debiased) ? debiased / bins->mass : NAN;
}

/* The bins of the kept entries [n]. */
static inline void
fill_bins(const DemurSelectiveScratch *s, size_t n, size_t n_selected, size_t min_bin_size,
          gboolean tied, gboolean weighted, Bins *bins) {
  if (!tied && !weighted)
    fill_plain_bins(s->counts, s->differences, s->labels, n, n_selected, min_bin_size, bins);
  else
    fill_block_bins(s, n, tied, weighted, min_bin_size, bins);
}

/* What the loaded entries need beyond counts, ranks, differences, y and r. */
typedef struct {
  gboolean tied, weighted;
} Kind;

static void
point_of(const DemurSelectiveScratch *s, size_t n, size_t n_selected, size_t min_bin_size,
         Kind kind, gboolean top_label, DemurSelectivePoint *point) {
  Bins bins;
  fill_bins(s, n, n_selected, min_bin_size, kind.tied, kind.weighted, &bins);
  point->n_selected = n_selected;
  point->n_bins = bins.n_bins;
  point->error2 = error2_of(&bins);
  if (bins.n_bins == 0) {
    point->error1 = point->error_inf = point->debiased2 = point->brier = point->accuracy = NAN;
    return;
  }
  double error1 = 0.0, error_inf = 0.0;
  for (size_t b = 0; b < bins.n_bins; b++) {
    const double size = bins.sizes[b], gap = fabs(bins.differences[b]);
    error1 += gap;
    error_inf = fmax(error_inf, size > 0.0 ? gap / size : 0.0);
  }
  point->error1 = error1 / bins.mass;
  point->error_inf = error_inf;
  point->debiased2 = debiased2_of(&bins);
  double brier = 0.0, right = 0.0;
  for (size_t j = 0; j < n; j++) {
    const double count =
        kind.weighted ? (double)s->counts[j] * s->weights[j] : (double)s->counts[j];
    brier += count * s->differences[j] * s->differences[j];
    right += top_label ? count * s->labels[j]
                       : count * (double)((s->risks[j] >= 0.5) == (s->labels[j] >= 0.5));
  }
  point->brier = brier / bins.mass;
  point->accuracy = right / bins.mass;
}

/* Copies the entries that stand in the sample at all. */
static size_t
load(const DemurSelectiveSample *sample, DemurSelectiveScratch *s, Kind *kind) {
  *kind = (Kind){.weighted = sample->weights != NULL};
  g_return_val_if_fail(sample->n <= s->n, 0);
  for (size_t i = 1; i < sample->n && !kind->tied; i++)
    kind->tied = sample->risks[i] == sample->risks[i - 1];
  size_t n = 0;
  guint32 block = 0;
  for (size_t i = 0; i < sample->n; i++) {
    const guint32 count = sample->counts != NULL ? sample->counts[i] : 1;
    s->counts[n] = count;
    s->ranks[n] = sample->ranks[i];
    s->differences[n] = sample->labels[i] - sample->risks[i];
    s->labels[n] = sample->labels[i];
    s->risks[n] = sample->risks[i];
    if (kind->tied) {
      block += i > 0 && sample->risks[i] != sample->risks[i - 1];
      s->blocks[n] = block;
    }
    if (kind->weighted)
      s->weights[n] = sample->weights[i];
    n += count > 0;
  }
  return n;
}

/* Keeps the entries with rank <= max_rank, in order. */
static inline size_t
compact_kind(DemurSelectiveScratch *s, size_t n, guint32 max_rank, Kind kind) {
  size_t kept = 0;
  for (size_t j = 0; j < n; j++) {
    s->counts[kept] = s->counts[j];
    const guint32 rank = s->ranks[kept] = s->ranks[j];
    s->differences[kept] = s->differences[j];
    s->labels[kept] = s->labels[j];
    s->risks[kept] = s->risks[j];
    if (kind.tied)
      s->blocks[kept] = s->blocks[j];
    if (kind.weighted)
      s->weights[kept] = s->weights[j];
    kept += rank <= max_rank;
  }
  return kept;
}

static size_t
compact(DemurSelectiveScratch *s, size_t n, guint32 max_rank, Kind kind) {
  /* The frequent one is a loop of its own. */
  return !kind.tied && !kind.weighted ? compact_kind(s, n, max_rank, (Kind){FALSE, FALSE})
                                      : compact_kind(s, n, max_rank, kind);
}

/* For each coverage the last rank that is selected and how many scans that is; order: the coverages
 * from the largest down. */
typedef struct {
  guint32 max_ranks[MAX_COVERAGES];
  size_t n_selected[MAX_COVERAGES], order[MAX_COVERAGES];
} Thresholds;

static void
find_thresholds(DemurSelectiveScratch *s, const guint32 *counts, const guint32 *ranks, size_t n,
                size_t n_ranks, const double *coverages, size_t n_coverages, Thresholds *found) {
  const size_t n_blocks = (n_ranks >> BLOCK_BITS) + 1;
  size_t n_total = 0;
  memset(s->rank_counts, 0, n_ranks * sizeof *s->rank_counts);
  memset(s->block_counts, 0, n_blocks * sizeof *s->block_counts);
  for (size_t j = 0; j < n; j++) {
    s->rank_counts[ranks[j]] += counts[j];
    s->block_counts[ranks[j] >> BLOCK_BITS] += counts[j];
    n_total += counts[j];
  }
  for (size_t c = 0; c < n_coverages; c++) {
    size_t place = c;
    while (place > 0 && coverages[found->order[place - 1]] < coverages[c]) {
      found->order[place] = found->order[place - 1];
      place--;
    }
    found->order[place] = c;
  }
  /* From the smallest coverage up, so that one walk over the blocks serves all. */
  size_t block = 0, before = 0;
  for (size_t o = n_coverages; o-- > 0;) {
    const size_t c = found->order[o];
    const size_t wanted = demur_coverage_count(coverages[c], n_total);
    if (wanted == 0) {
      found->n_selected[c] = 0;
      continue;
    }
    while (before + s->block_counts[block] < wanted)
      before += s->block_counts[block++];
    size_t rank = block << BLOCK_BITS, sum = before;
    while ((sum += s->rank_counts[rank]) < wanted)
      rank++;
    found->max_ranks[c] = (guint32)rank;
    found->n_selected[c] = sum;
  }
}

void
demur_selective_curve(const DemurSelectiveSample *sample, const double *coverages,
                      size_t n_coverages, size_t min_bin_size, DemurSelectiveScratch *s,
                      DemurSelectivePoint *points) {
  g_return_if_fail(n_coverages <= MAX_COVERAGES && sample->n_ranks <= s->n);
  Thresholds found;
  Kind kind;
  size_t n = load(sample, s, &kind);
  find_thresholds(s, s->counts, s->ranks, n, sample->n_ranks, coverages, n_coverages, &found);
  for (size_t o = 0; o < n_coverages; o++) {
    const size_t c = found.order[o];
    n = found.n_selected[c] > 0 ? compact(s, n, found.max_ranks[c], kind) : 0;
    points[c].rank = found.n_selected[c] > 0 ? found.max_ranks[c] : 0;
    point_of(s, n, found.n_selected[c], min_bin_size, kind, sample->top_label, &points[c]);
  }
}

void
demur_selective_at_rank(const DemurSelectiveSample *sample, gssize max_rank, size_t min_bin_size,
                        DemurSelectiveScratch *s, DemurSelectivePoint *point) {
  size_t n_selected = 0;
  Kind kind;
  size_t n = load(sample, s, &kind);
  n = max_rank >= 0 ? compact(s, n, (guint32)max_rank, kind) : 0;
  for (size_t j = 0; j < n; j++)
    n_selected += s->counts[j];
  point->rank = (guint32)MAX(max_rank, 0);
  point_of(s, n, n_selected, min_bin_size, kind, sample->top_label, point);
}

/* masses = counts as numbers, times weights where there are any; products = masses (y - r). */
VECTOR_CLONES static void
fill_entries(const DemurSelectiveSample *sample, const guint32 *counts, DemurSelectiveScratch *s) {
  const size_t n = sample->n;
  double *masses = s->labels, *products = s->risks, *ranks = s->weights;
  for (size_t i = 0; i < n; i++) {
    masses[i] = (double)counts[i];
    ranks[i] = (double)sample->ranks[i];
    s->differences[i] = sample->labels[i] - sample->risks[i];
  }
  for (size_t i = 0; sample->weights != NULL && i < n; i++)
    masses[i] *= sample->weights[i];
  for (size_t i = 0; i < n; i++)
    products[i] = masses[i] * s->differences[i];
}

/* The sample as entries of a walk over lanes: the arrays of labels, risks and weights hold masses,
 * products and ranks. An entry that stands in the sample 0 times changes nothing there. */
static DemurSelectiveEntries
load_lanes(const DemurSelectiveSample *sample, DemurSelectiveScratch *s) {
  const guint32 *counts = sample->counts;
  if (sample->counts == NULL) {
    for (size_t i = 0; i < sample->n; i++)
      s->counts[i] = 1;
    counts = s->counts;
  }
  fill_entries(sample, counts, s);
  gboolean tied = FALSE;
  for (size_t i = 1; i < sample->n; i++)
    tied |= sample->risks[i] == sample->risks[i - 1];
  if (tied) {
    s->blocks[0] = 0;
    for (size_t i = 1; i < sample->n; i++)
      s->blocks[i] = s->blocks[i - 1] + (sample->risks[i] != sample->risks[i - 1]);
  }
  return (DemurSelectiveEntries){.n = sample->n,
                                 .masses = s->labels,
                                 .products = s->risks,
                                 .differences = s->differences,
                                 .ranks = s->weights,
                                 .counts = counts,
                                 .blocks = tied ? s->blocks : NULL,
                                 .weighted = sample->weights != NULL};
}

void
demur_selective_errors(const DemurSelectiveSample *sample, const double *coverages,
                       size_t n_coverages, size_t min_bin_size, DemurSelectiveScratch *s,
                       double *errors) {
  g_return_if_fail(n_coverages <= MAX_COVERAGES && sample->n_ranks <= s->n && sample->n <= s->n);
  Thresholds found;
  const DemurSelectiveEntries entries = load_lanes(sample, s);
  find_thresholds(s, entries.counts, sample->ranks, sample->n, sample->n_ranks, coverages,
                  n_coverages, &found);
  demur_selective_lanes(&entries, found.max_ranks, found.n_selected, n_coverages, min_bin_size,
                        errors);
}

void
demur_selective_debiased(const DemurSelectiveSample *sample, const double *coverages,
                         size_t n_coverages, size_t min_bin_size, DemurSelectiveScratch *s,
                         double *errors, double *squares) {
  g_return_if_fail(n_coverages <= MAX_COVERAGES && sample->n_ranks <= s->n);
  Thresholds found;
  Kind kind;
  size_t n = load(sample, s, &kind);
  find_thresholds(s, s->counts, s->ranks, n, sample->n_ranks, coverages, n_coverages, &found);
  for (size_t o = 0; o < n_coverages; o++) {
    const size_t c = found.order[o];
    /* The same scans, as for ties. */
    if (o > 0 && found.n_selected[c] == found.n_selected[found.order[o - 1]]) {
      errors[c] = errors[found.order[o - 1]];
      squares[c] = squares[found.order[o - 1]];
      continue;
    }
    Bins bins;
    n = found.n_selected[c] > 0 ? compact(s, n, found.max_ranks[c], kind) : 0;
    fill_bins(s, n, found.n_selected[c], min_bin_size, kind.tied, kind.weighted, &bins);
    errors[c] = error2_of(&bins);
    squares[c] = debiased2_of(&bins);
  }
}

void
demur_selective_binned(const guint32 *counts, const double *differences, const double *labels,
                       size_t n, size_t min_bin_size, double *error2, double *debiased2) {
  size_t n_selected = 0;
  for (size_t j = 0; j < n; j++)
    n_selected += counts[j];
  Bins bins;
  fill_plain_bins(counts, differences, labels, n, n_selected, min_bin_size, &bins);
  *error2 = error2_of(&bins);
  *debiased2 = debiased2_of(&bins);
}
