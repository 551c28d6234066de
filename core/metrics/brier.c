/* One pass cuts the sample into bins as selective.c does (a multiplicity may straddle two bins) and
 * keeps the five sums of each, centred on nothing: risks lie in [0, 1], so nothing cancels badly.
 */
#include "metrics/brier.h"

#include <math.h>

#include "metrics/selective.h"

typedef struct {
  double n, r, y, rr, ry;
} BinSums;

static void
add(BinSums *bin, double count, double r, double y) {
  bin->n += count;
  bin->r += count * r;
  bin->y += count * y;
  bin->rr += count * r * r;
  bin->ry += count * r * y;
}

DemurBrierParts
demur_brier_parts(const double *risks, const double *labels, const guint32 *counts, size_t n,
                  size_t min_bin_size) {
  DemurBrierParts parts = {NAN, NAN, NAN, NAN, NAN};
  size_t total = 0;
  double positives = 0.0, brier = 0.0;
  for (size_t i = 0; i < n; i++) {
    const guint32 count = counts != NULL ? counts[i] : 1;
    total += count;
    positives += (double)count * labels[i];
    brier += (double)count * (labels[i] - risks[i]) * (labels[i] - risks[i]);
  }
  if (total == 0)
    return parts;
  BinSums bins[DEMUR_MAX_BINS] = {0};
  const size_t n_bins = demur_selective_n_bins(total, min_bin_size);
  const size_t small = total / n_bins, n_large = total % n_bins;
  size_t bin = 0, room = small + (n_large > 0);
  for (size_t i = 0; i < n; i++) {
    size_t count = counts != NULL ? counts[i] : 1;
    while (count > 0) {
      const size_t taken = MIN(count, room);
      add(&bins[bin], (double)taken, risks[i], labels[i]);
      count -= taken;
      room -= taken;
      if (room == 0 && bin + 1 < n_bins)
        room = small + (++bin < n_large);
    }
  }
  const double n_total = (double)total, mean = positives / n_total;
  parts.brier = brier / n_total;
  parts.uncertainty = mean * (1.0 - mean);
  parts.reliability = parts.resolution = parts.within = 0.0;
  for (size_t b = 0; b < n_bins; b++) {
    const double size = bins[b].n, r = bins[b].r / size, y = bins[b].y / size;
    parts.reliability += size * (y - r) * (y - r);
    parts.resolution += size * (y - mean) * (y - mean);
    parts.within += bins[b].rr - size * r * r - 2.0 * (bins[b].ry - size * r * y);
  }
  parts.reliability /= n_total;
  parts.resolution /= n_total;
  parts.within /= n_total;
  return parts;
}
