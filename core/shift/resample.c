/* Site-weighted resampling: w ~ Dir(alpha), P(scan) = w_site / n_site, n draws with replacement.
 *
 * Paper: section "Learning robust selectors via simulated domain shifts", Algorithm 1 lines 5-6.
 * Data: members [n_scans] grouped by site, first [n_groups + 1]. A draw takes 64 random bits: the
 * upper 32 choose the site through a guide table over the cumulative weights (one look-up and,
 * mostly, one comparison), the lower 32 the scan within it (multiply-shift; a site of m scans is
 * off uniform by at most m / 2^32). Eight data sets are drawn side by side, each from a stream of its own: their bits
 * are made in the lanes of a vector, BITS_AT_ONCE at a time, and turned into rows. Then counts gather in a dense
 * array with a bitmap beside it; walking the bitmap gives the rows in order. Cost: O(n + n_sites) a data set and n_scans / 64
 * for the walk; no sort, no allocation. */
#include "shift/resample.h"

#include <string.h>

#include "base/memory.h"
#include "shift/dirichlet-parts.h"

#define GUIDE_BITS 8
#define GUIDE_SIZE (1u << GUIDE_BITS)

struct DemurResampler {
  DemurShiftKind kind;
  size_t n_scans, n_groups, dataset_size;
  double alpha;
  guint32 *members; /* [n_scans] rows ordered by group */
  guint32 *first;   /* [n_groups + 1] */
};

#define BITS_AT_ONCE 128

/* A group's share of a data set's draws. */
typedef struct {
  guint64 end;         /* of its part of [0, 2^32) */
  guint32 first, size; /* of its members */
} Share;

struct DemurResamplerScratch {
  guint16 *counts; /* [n_scans], zero between draws */
  guint64 *bitmap; /* [(n_scans + 63) / 64], zero between draws */
  double *weights; /* [DEMUR_DIRICHLET_SCRATCH(n_groups)] */
  guint64 *ends;   /* [n_groups] */
  guint64 *bits;   /* [BITS_AT_ONCE][DEMUR_RANDOM_LANES] */
  /* Of the data sets at work: */
  Share *shares; /* [DEMUR_RANDOM_LANES][n_groups] */
  guint32 *
      guides; /* [DEMUR_RANDOM_LANES][GUIDE_SIZE] the group in which each part of [0, 2^32) begins */
  guint32 *drawn; /* [DEMUR_RANDOM_LANES][dataset_size] rows as they are drawn */
};

DemurDataset *
demur_dataset_new(size_t capacity) {
  DemurDataset *dataset = g_new0(DemurDataset, 1);
  dataset->capacity = capacity;
  dataset->rows = demur_new_array(guint32, capacity);
  dataset->counts = demur_new_array(guint16, capacity);
  return dataset;
}

void
demur_dataset_free(DemurDataset *dataset) {
  if (dataset == NULL)
    return;
  g_aligned_free(dataset->rows);
  g_aligned_free(dataset->counts);
  g_free(dataset);
}

DemurResampler *
demur_resampler_new(DemurShiftKind kind, size_t n_scans, const guint32 *groups, size_t n_groups,
                    double alpha, size_t dataset_size) {
  g_return_val_if_fail(n_scans >= 1 && alpha > 0.0, NULL);
  g_return_val_if_fail(dataset_size >= 1 && dataset_size <= G_MAXUINT16, NULL);
  DemurResampler *r = g_new0(DemurResampler, 1);
  r->kind = kind;
  r->n_scans = n_scans;
  r->alpha = alpha;
  r->dataset_size = dataset_size;
  r->members = demur_new_array(guint32, n_scans);

  const gboolean grouped = kind != DEMUR_SHIFT_NONE;
  const size_t n_named = grouped ? n_groups : 1;
  g_autofree guint32 *sizes = g_new0(guint32, n_named + 1);
  for (size_t i = 0; i < n_scans; i++)
    sizes[grouped ? groups[i] : 0]++;
  /* Groups without scans would take weight and could never be drawn: they are left out. */
  g_autofree guint32 *place = g_new0(guint32, n_named + 1);
  r->first = demur_new_array(guint32, n_named + 1);
  guint32 start = 0;
  for (size_t g = 0; g < n_named; g++) {
    if (sizes[g] == 0)
      continue;
    place[g] = start;
    r->first[r->n_groups++] = start;
    start += sizes[g];
  }
  r->first[r->n_groups] = start;
  for (size_t i = 0; i < n_scans; i++)
    r->members[place[grouped ? groups[i] : 0]++] = (guint32)i;
  return r;
}

void
demur_resampler_free(DemurResampler *r) {
  if (r == NULL)
    return;
  g_aligned_free(r->members);
  g_aligned_free(r->first);
  g_free(r);
}

DemurResamplerScratch *
demur_resampler_scratch_new(const DemurResampler *r) {
  DemurResamplerScratch *scratch = g_new0(DemurResamplerScratch, 1);
  scratch->counts = demur_new_array(guint16, r->n_scans);
  scratch->bitmap = demur_new_array(guint64, (r->n_scans + 63) / 64);
  scratch->weights = demur_new_array(double, DEMUR_DIRICHLET_SCRATCH(r->n_groups));
  scratch->ends = demur_new_array(guint64, r->n_groups);
  scratch->bits = demur_new_matrix(guint64, BITS_AT_ONCE, DEMUR_RANDOM_LANES);
  scratch->shares = demur_memory_new(DEMUR_RANDOM_LANES, r->n_groups, sizeof *scratch->shares);
  scratch->guides = demur_new_matrix(guint32, DEMUR_RANDOM_LANES, GUIDE_SIZE);
  scratch->drawn = demur_new_matrix(guint32, DEMUR_RANDOM_LANES, r->dataset_size);
  return scratch;
}

void
demur_resampler_scratch_free(DemurResamplerScratch *scratch) {
  if (scratch == NULL)
    return;
  g_aligned_free(scratch->counts);
  g_aligned_free(scratch->bitmap);
  g_aligned_free(scratch->weights);
  g_aligned_free(scratch->ends);
  g_aligned_free(scratch->bits);
  g_aligned_free(scratch->shares);
  g_aligned_free(scratch->guides);
  g_aligned_free(scratch->drawn);
  g_free(scratch);
}

static Share
share_of(const DemurResampler *r, size_t group, guint64 end) {
  return (Share){end, r->first[group], r->first[group + 1] - r->first[group]};
}

/* The part of [0, 2^32) that each group has by weights drawn from the stream, and where each part of the guide begins in them. */
static void
draw_shares(const DemurResampler *r, DemurRandom *random, DemurResamplerScratch *scratch,
            Share *shares, guint32 *guide) {
  const guint64 *ends = scratch->ends;
  demur_dirichlet_parts(random, r->alpha, r->n_groups, scratch->weights, scratch->ends);
  memset(guide, 0, GUIDE_SIZE * sizeof *guide);
  for (size_t g = 0; g + 1 < r->n_groups; g++) {
    shares[g] = share_of(r, g, ends[g]);
    /* The first part that begins behind the group's. */
    const guint64 part = (ends[g] + ((guint64)1 << (32 - GUIDE_BITS)) - 1) >> (32 - GUIDE_BITS);
    if (part < GUIDE_SIZE)
      guide[part]++;
  }
  shares[r->n_groups - 1] = share_of(r, r->n_groups - 1, ends[r->n_groups - 1]);
  for (guint32 b = 1; b < GUIDE_SIZE; b++)
    guide[b] += guide[b - 1];
}

/* What a data set's bits are turned into rows by. */
static void
prepare(const DemurResampler *r, DemurRandom *random, DemurResamplerScratch *scratch, size_t lane) {
  Share *shares = scratch->shares + lane * r->n_groups;
  switch (r->kind) {
  case DEMUR_SHIFT_GROUPS:
    draw_shares(r, random, scratch, shares, scratch->guides + lane * GUIDE_SIZE);
    break;
  case DEMUR_SHIFT_NONE:
    shares[0] = share_of(r, 0, 0);
    break;
  case DEMUR_SHIFT_OUTSIDE:
    shares[0] = share_of(r, (size_t)demur_random_below(random, r->n_groups), 0);
    break;
  case DEMUR_SHIFT_EXAMPLE:
    break;
  }
}

static inline guint32
member(const DemurResampler *r, Share share, guint32 bits) {
  return r->members[share.first + (guint32)(((guint64)bits * share.size) >> 32)];
}

/* rows [n] of bits [n][DEMUR_RANDOM_LANES]. */
static void
turn_into_rows(const DemurResampler *r, const guint64 *bits, size_t n, const Share *shares,
               const guint32 *guide, guint32 *rows) {
  switch (r->kind) {
  case DEMUR_SHIFT_GROUPS:
    for (size_t i = 0; i < n; i++) {
      const guint64 own = bits[i * DEMUR_RANDOM_LANES], upper = own >> 32;
      size_t g = guide[upper >> (32 - GUIDE_BITS)];
      /* One step without a branch, since one in fifteen takes it; two are rare. */
      g += shares[g].end <= upper;
      while (shares[g].end <= upper)
        g++;
      rows[i] = member(r, shares[g], (guint32)own);
    }
    break;
  case DEMUR_SHIFT_NONE:
  case DEMUR_SHIFT_OUTSIDE:
    for (size_t i = 0; i < n; i++)
      rows[i] = member(r, shares[0], (guint32)bits[i * DEMUR_RANDOM_LANES]);
    break;
  case DEMUR_SHIFT_EXAMPLE:
    for (size_t i = 0; i < n; i++) {
      const guint64 own = bits[i * DEMUR_RANDOM_LANES];
      const size_t group = (size_t)(((own >> 32) * r->n_groups) >> 32);
      rows[i] = member(r, share_of(r, group, 0), (guint32)own);
    }
    break;
  }
}

/* The rows as they were drawn, counted and in order. */
static void
count_rows(const DemurResampler *r, const guint32 *drawn, DemurResamplerScratch *scratch,
           DemurDataset *dataset) {
  for (size_t i = 0; i < r->dataset_size; i++) {
    scratch->counts[drawn[i]]++;
    scratch->bitmap[drawn[i] >> 6] |= (guint64)1 << (drawn[i] & 63);
  }
  size_t n = 0;
  const size_t n_words = (r->n_scans + 63) / 64;
  for (size_t word = 0; word < n_words; word++) {
    guint64 bits = scratch->bitmap[word];
    while (bits != 0) {
      const guint32 row = (guint32)(word * 64) + (guint32)__builtin_ctzll(bits);
      bits &= bits - 1;
      dataset->rows[n] = row;
      dataset->counts[n] = scratch->counts[row];
      scratch->counts[row] = 0;
      n++;
    }
    scratch->bitmap[word] = 0;
  }
  dataset->n_rows = n;
  dataset->n_total = r->dataset_size;
}

void
demur_resampler_draw_some(const DemurResampler *r, DemurRandom *randoms, size_t n,
                          DemurResamplerScratch *scratch, DemurDataset *const *datasets) {
  g_return_if_fail(n <= DEMUR_RANDOM_LANES);
  for (size_t l = 0; l < n; l++) {
    g_return_if_fail(datasets[l]->capacity >= MIN(r->n_scans, r->dataset_size));
    prepare(r, &randoms[l], scratch, l);
  }
  for (size_t start = 0; start < r->dataset_size; start += BITS_AT_ONCE) {
    const size_t some = MIN(BITS_AT_ONCE, r->dataset_size - start);
    demur_random_bits_of_lanes(randoms, n, some, scratch->bits);
    for (size_t l = 0; l < n; l++)
      turn_into_rows(r, scratch->bits + l, some, scratch->shares + l * r->n_groups,
                     scratch->guides + l * GUIDE_SIZE,
                     scratch->drawn + l * r->dataset_size + start);
  }
  for (size_t l = 0; l < n; l++)
    count_rows(r, scratch->drawn + l * r->dataset_size, scratch, datasets[l]);
}

void
demur_resampler_draw(const DemurResampler *r, DemurRandom *random, DemurResamplerScratch *scratch,
                     DemurDataset *dataset) {
  demur_resampler_draw_some(r, random, 1, scratch, &dataset);
}
