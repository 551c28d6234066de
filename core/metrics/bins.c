#include "metrics/bins.h"

#include <math.h>
#include <string.h>

size_t
demur_bins_count(size_t n, size_t min_bin_size) {
  if (n == 0)
    return 0;
  return CLAMP(n / MAX(min_bin_size, 1), 1, DEMUR_MAX_BINS);
}

/* The share of a block that goes into a bin. */
static void
add(DemurBins *bins, size_t bin, const DemurBlock *block, double share) {
  const double mass = share * block->mass, positives = share * block->positives;
  bins->n_known[bin] += share * block->n_known;
  bins->mass[bin] += mass;
  bins->risks[bin] += mass * block->risk;
  bins->squared_risks[bin] += mass * block->risk * block->risk;
  bins->positives[bin] += positives;
  bins->risk_positives[bin] += positives * block->risk;
  bins->squares[bin] += share * share * block->squares;
}

/* Scans with a known outcome, and their mass. */
static size_t
count_known(const DemurOutcomes *o, double *mass) {
  size_t n_known = 0;
  *mass = 0.0;
  for (size_t i = 0; i < o->n; i++) {
    const double m = demur_outcomes_mass(o, i);
    *mass += m;
    if (m > 0.0)
      n_known += o->counts != NULL ? o->counts[i] : 1;
  }
  return n_known;
}

static void
fill(DemurBins *bins, const DemurOutcomes *o, size_t n_bins, size_t n_known, double mass) {
  memset(bins, 0, sizeof *bins);
  bins->n_bins = n_bins;
  if (n_bins == 0)
    return;
  const size_t small = n_known / n_bins, n_large = n_known % n_bins;
  size_t bin = 0;
  double room = o->weights != NULL ? mass / (double)n_bins : (double)(small + (n_large > 0));
  for (size_t i = 0; i < o->n;) {
    DemurBlock block;
    i = demur_outcomes_block(o, i, &block);
    double left = block.mass;
    while (left > 0.0) {
      /* The last bin takes what rounding left over. */
      const double taken = bin + 1 < n_bins ? fmin(left, room) : left;
      add(bins, bin, &block, taken / block.mass);
      left -= taken;
      room -= taken;
      if (!(room > 0.0) && bin + 1 < n_bins) {
        bin++;
        room = o->weights != NULL ? mass / (double)n_bins : (double)(small + (bin < n_large));
      }
    }
  }
}

void
demur_bins_fill(DemurBins *bins, const DemurOutcomes *o, size_t min_bin_size) {
  double mass;
  const size_t n_known = count_known(o, &mass);
  fill(bins, o, demur_bins_count(n_known, min_bin_size), n_known, mass);
}

void
demur_bins_fill_number(DemurBins *bins, const DemurOutcomes *o, size_t n_bins) {
  g_return_if_fail(n_bins >= 1 && n_bins <= DEMUR_MAX_BINS);
  double mass;
  const size_t n_known = count_known(o, &mass);
  fill(bins, o, n_known >= n_bins ? n_bins : 0, n_known, mass);
}
