/* Site-weighted resampling: w ~ Dir(alpha), P(scan) = w_site / n_site, n draws with replacement.
 *
 * Paper: section "Learning robust selectors via simulated domain shifts", Algorithm 1 lines 5-6.
 * Data: members [n_scans] grouped by site, first [n_groups + 1]. A draw takes 64 random bits: the
 * upper 32 choose the site through a guide table over the cumulative weights (one look-up and,
 * mostly, one comparison), the lower 32 the scan within it (multiply-shift; a site of m scans is
 * off uniform by at most m / 2^32). Counts gather in a dense array with a bitmap beside it; walking
 * the bitmap gives the rows in order. Cost: O(n + n_sites) a data set and n_scans / 64 for the
 * walk; no sort, no allocation. */
#include "shift/resample.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

#define GUIDE_BITS 8
#define GUIDE_SIZE (1u << GUIDE_BITS)

struct DemurResampler {
  DemurShiftKind kind;
  size_t n_scans, n_groups, dataset_size;
  double alpha;
  guint32 *members; /* [n_scans] rows ordered by group */
  guint32 *first;   /* [n_groups + 1] */
};

struct DemurResamplerScratch {
  guint16 *counts;     /* [n_scans], zero between draws */
  guint64 *bitmap;     /* [(n_scans + 63) / 64], zero between draws */
  double *weights;     /* [n_groups] */
  guint64 *cumulative; /* [n_groups], upper end of each group's share of 2^32 */
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
  scratch->weights = demur_new_array(double, r->n_groups);
  scratch->cumulative = demur_new_array(guint64, r->n_groups);
  return scratch;
}

void
demur_resampler_scratch_free(DemurResamplerScratch *scratch) {
  if (scratch == NULL)
    return;
  g_aligned_free(scratch->counts);
  g_aligned_free(scratch->bitmap);
  g_aligned_free(scratch->weights);
  g_aligned_free(scratch->cumulative);
  g_free(scratch);
}

static inline void
count_row(DemurResamplerScratch *scratch, guint32 row) {
  scratch->counts[row]++;
  scratch->bitmap[row >> 6] |= (guint64)1 << (row & 63);
}

static inline guint32
member(const DemurResampler *r, size_t group, guint32 bits) {
  const guint32 size = r->first[group + 1] - r->first[group];
  return r->members[r->first[group] + (guint32)(((guint64)bits * size) >> 32)];
}

static void
draw_weighted(const DemurResampler *r, DemurRandom *random, DemurResamplerScratch *scratch) {
  demur_random_dirichlet(random, r->alpha, r->n_groups, scratch->weights);
  double sum = 0.0;
  for (size_t g = 0; g < r->n_groups; g++) {
    sum += scratch->weights[g];
    scratch->cumulative[g] = (guint64)(fmin(sum, 1.0) * 0x1.0p32);
  }
  scratch->cumulative[r->n_groups - 1] = (guint64)1 << 32;
  /* guide[b]: the group in which the b-th part of [0, 2^32) begins. */
  guint32 guide[GUIDE_SIZE];
  size_t group = 0;
  for (guint32 b = 0; b < GUIDE_SIZE; b++) {
    while (scratch->cumulative[group] <= (guint64)b << (32 - GUIDE_BITS))
      group++;
    guide[b] = (guint32)group;
  }
  DemurRandom stream = *random; /* in registers */
  for (size_t i = 0; i < r->dataset_size; i++) {
    const guint64 bits = demur_random_bits(&stream);
    const guint64 upper = bits >> 32;
    size_t g = guide[upper >> (32 - GUIDE_BITS)];
    /* One step without a branch, since one in fifteen takes it; two are rare. */
    g += scratch->cumulative[g] <= upper;
    while (scratch->cumulative[g] <= upper)
      g++;
    count_row(scratch, member(r, g, (guint32)bits));
  }
  *random = stream;
}

static void
draw_from(const DemurResampler *r, size_t group, DemurRandom *random,
          DemurResamplerScratch *scratch) {
  for (size_t i = 0; i < r->dataset_size; i++)
    count_row(scratch, member(r, group, (guint32)demur_random_bits(random)));
}

void
demur_resampler_draw(const DemurResampler *r, DemurRandom *random, DemurResamplerScratch *scratch,
                     DemurDataset *dataset) {
  g_return_if_fail(dataset->capacity >= MIN(r->n_scans, r->dataset_size));
  switch (r->kind) {
  case DEMUR_SHIFT_GROUPS:
    draw_weighted(r, random, scratch);
    break;
  case DEMUR_SHIFT_NONE:
    draw_from(r, 0, random, scratch);
    break;
  case DEMUR_SHIFT_OUTSIDE:
    draw_from(r, (size_t)demur_random_below(random, r->n_groups), random, scratch);
    break;
  case DEMUR_SHIFT_EXAMPLE:
    for (size_t i = 0; i < r->dataset_size; i++) {
      const guint64 bits = demur_random_bits(random);
      const size_t group = (size_t)(((bits >> 32) * r->n_groups) >> 32);
      count_row(scratch, member(r, group, (guint32)bits));
    }
    break;
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
