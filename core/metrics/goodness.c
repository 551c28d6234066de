#include "metrics/goodness.h"

#include <math.h>

#include "metrics/bins.h"

double
demur_spiegelhalter_z(const DemurOutcomes *o) {
  double sum = 0.0, variance = 0.0;
  for (size_t i = 0; i < o->n; i++) {
    const double mass = demur_outcomes_mass(o, i);
    if (!(mass > 0.0))
      continue;
    const double r = o->risks[i], tilt = 1.0 - 2.0 * r;
    const double weight = o->weights != NULL ? o->weights[i] : 1.0;
    sum += mass * (o->labels[i] - r) * tilt;
    variance += mass * weight * tilt * tilt * r * (1.0 - r);
  }
  return variance > 0.0 ? sum / sqrt(variance) : NAN;
}

double
demur_hosmer_lemeshow(const DemurOutcomes *o) {
  DemurBins bins;
  demur_bins_fill_number(&bins, o, DEMUR_N_RISK_GROUPS);
  if (bins.n_bins == 0)
    return NAN;
  double statistic = 0.0;
  for (size_t b = 0; b < bins.n_bins; b++) {
    const double n = bins.mass[b], p = bins.risks[b] / n, gap = bins.positives[b] - bins.risks[b];
    /* Blocks of equal risk that an edge cuts share their outcomes, not their chance: without
     * weights a group of n scans has n. */
    const double inflation = o->weights != NULL ? bins.squares[b] / n : 1.0;
    const double variance = inflation * n * p * (1.0 - p);
    if (!(variance > 0.0))
      return NAN;
    statistic += gap * gap / variance;
  }
  return statistic;
}

double
demur_binned_error1(const DemurOutcomes *o, size_t min_bin_size) {
  DemurBins bins;
  demur_bins_fill(&bins, o, min_bin_size);
  double sum = 0.0, mass = 0.0;
  for (size_t b = 0; b < bins.n_bins; b++) {
    sum += fabs(bins.positives[b] - bins.risks[b]);
    mass += bins.mass[b];
  }
  return mass > 0.0 ? sum / mass : NAN;
}
