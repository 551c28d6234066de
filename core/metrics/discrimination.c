/* Each is one pass over entries in ascending risk; AURC sums losses by rank of the score first. */
#include "metrics/discrimination.h"

#include <math.h>

double
demur_auroc(const DemurOutcomes *o) {
  double negatives = 0.0, positives = 0.0, pairs = 0.0;
  for (size_t i = 0; i < o->n;) {
    DemurBlock block;
    i = demur_outcomes_block(o, i, &block);
    const double tied = block.mass - block.positives;
    pairs += block.positives * (negatives + 0.5 * tied);
    negatives += tied;
    positives += block.positives;
  }
  return negatives > 0.0 && positives > 0.0 ? pairs / (negatives * positives) : NAN;
}

void
demur_aurc(const DemurSelectiveSample *sample, double *error, double *brier) {
  typedef struct {
    double n, wrong, square;
  } RankSums;
  g_autofree RankSums *ranks = g_new0(RankSums, MAX(sample->n_ranks, 1));
  for (size_t i = 0; i < sample->n; i++) {
    const double count = (sample->counts != NULL ? (double)sample->counts[i] : 1.0) *
                         (sample->weights != NULL ? sample->weights[i] : 1.0);
    const double r = sample->risks[i], y = sample->labels[i];
    RankSums *sums = &ranks[sample->ranks[i]];
    sums->n += count;
    sums->wrong += count * (sample->top_label ? 1.0 - y : (double)((r >= 0.5) != (y >= 0.5)));
    sums->square += count * (y - r) * (y - r);
  }
  double kept = 0.0, wrong = 0.0, square = 0.0, error_area = 0.0, brier_area = 0.0;
  for (size_t rank = 0; rank < sample->n_ranks; rank++) {
    if (ranks[rank].n == 0.0)
      continue;
    kept += ranks[rank].n;
    wrong += ranks[rank].wrong;
    square += ranks[rank].square;
    error_area += ranks[rank].n * wrong / kept;
    brier_area += ranks[rank].n * square / kept;
  }
  *error = kept > 0.0 ? error_area / kept : NAN;
  *brier = kept > 0.0 ? brier_area / kept : NAN;
}

static DemurNetBenefit
benefit_of(double threshold, double n, double positives, double true_positives,
           double false_positives) {
  const double odds = threshold / (1.0 - threshold);
  if (!(n > 0.0))
    return (DemurNetBenefit){threshold, NAN, NAN};
  return (DemurNetBenefit){threshold, (true_positives - false_positives * odds) / n,
                           (positives - (n - positives) * odds) / n};
}

DemurNetBenefit
demur_net_benefit(const DemurOutcomes *o, double threshold) {
  double total = 0.0, positives = 0.0, true_positives = 0.0, false_positives = 0.0;
  for (size_t i = 0; i < o->n; i++) {
    const double mass = demur_outcomes_mass(o, i);
    total += mass;
    positives += mass * o->labels[i];
    if (o->risks[i] >= threshold) {
      true_positives += mass * o->labels[i];
      false_positives += mass * (1.0 - o->labels[i]);
    }
  }
  return benefit_of(threshold, total, positives, true_positives, false_positives);
}

void
demur_decision_curve(const DemurOutcomes *o, const double *thresholds, size_t n_thresholds,
                     DemurNetBenefit *curve) {
  double total = 0.0, positives = 0.0;
  for (size_t i = 0; i < o->n; i++) {
    const double mass = demur_outcomes_mass(o, i);
    total += mass;
    positives += mass * o->labels[i];
  }
  double above = total, positives_above = positives;
  size_t i = 0;
  for (size_t t = 0; t < n_thresholds; t++) {
    for (; i < o->n && o->risks[i] < thresholds[t]; i++) {
      const double mass = demur_outcomes_mass(o, i);
      above -= mass;
      positives_above -= mass * o->labels[i];
    }
    curve[t] =
        benefit_of(thresholds[t], total, positives, positives_above, above - positives_above);
  }
}
