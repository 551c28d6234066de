/* Blocks of equal risk go into the bins of bins.h; every sum is linear in y (y^2 = y), so sharing a
 * block's mean outcome between two bins keeps the identity exact. Risks lie in [0, 1]: centred on
 * nothing, no sum cancels badly. */
#include "metrics/brier.h"

#include <math.h>

#include "metrics/bins.h"

DemurBrierParts
demur_brier_parts(const DemurOutcomes *o, size_t min_bin_size) {
  DemurBrierParts parts = {NAN, NAN, NAN, NAN, NAN};
  DemurBins bins;
  demur_bins_fill(&bins, o, min_bin_size);
  if (bins.n_bins == 0)
    return parts;
  double mass = 0.0, positives = 0.0, brier = 0.0;
  for (size_t i = 0; i < o->n; i++) {
    const double m = demur_outcomes_mass(o, i);
    mass += m;
    positives += m * o->labels[i];
    brier += m * (o->labels[i] - o->risks[i]) * (o->labels[i] - o->risks[i]);
  }
  const double mean = positives / mass;
  parts.brier = brier / mass;
  parts.uncertainty = mean * (1.0 - mean);
  parts.reliability = parts.resolution = parts.within = 0.0;
  for (size_t b = 0; b < bins.n_bins; b++) {
    const double size = bins.mass[b];
    if (!(size > 0.0))
      continue;
    const double r = bins.risks[b] / size, y = bins.positives[b] / size;
    parts.reliability += size * (y - r) * (y - r);
    parts.resolution += size * (y - mean) * (y - mean);
    parts.within +=
        bins.squared_risks[b] - size * r * r - 2.0 * (bins.risk_positives[b] - size * r * y);
  }
  parts.reliability /= mass;
  parts.resolution /= mass;
  parts.within /= mass;
  return parts;
}
