/* Layout: the scans that a sample counts are copied once, in ascending risk, and cut down in place
 * from the largest coverage to the smallest, so that each coverage visits kept scans only. A fit
 * starts at the solution of the coverage before; a bootstrap replicate at that of the sample
 * itself. Cost of a curve: 20 coverages x (about 6 passes with one exp a scan, 25 windows of the
 * smooth); of a replicate: about 5 such passes. */
#include "evaluation/extra.h"

#include <math.h>
#include <string.h>

#include "metrics/brier.h"
#include "metrics/coverage.h"
#include "metrics/goodness.h"
#include "metrics/offset-logistic.h"
#include "metrics/selective.h"

DemurExtraSetup *
demur_extra_setup_new(const DemurSample *sample, size_t min_bin_size,
                      double net_benefit_threshold) {
  DemurExtraSetup *setup = g_new0(DemurExtraSetup, 1);
  setup->sample = sample;
  setup->logits = g_new(double, MAX(sample->n, 1));
  for (size_t i = 0; i < sample->n; i++)
    setup->logits[i] = demur_logit(sample->risks[i]);
  setup->min_bin_size = min_bin_size;
  setup->net_benefit_threshold = net_benefit_threshold;
  return setup;
}

void
demur_extra_setup_free(DemurExtraSetup *setup) {
  if (setup == NULL)
    return;
  g_free(setup->logits);
  g_free(setup);
}

void
demur_extra_coverages(double *coverages) {
  demur_coverage_grid(DEMUR_N_COARSE_COVERAGES, coverages);
}

/* Kept scans, in ascending risk. */
typedef struct {
  size_t n;
  double *memory, *risks, *logits, *labels, *weights; /* weights NULL: all outcomes are known */
  guint32 *counts, *ranks;
} Kept;

static DemurOutcomes
outcomes_of(const Kept *kept) {
  return (DemurOutcomes){kept->n, kept->risks, kept->labels, kept->counts, kept->weights};
}

static Kept
kept_new(size_t n, gboolean weighted) {
  Kept kept = {.memory = g_new(double, 4 * MAX(n, 1))};
  kept.risks = kept.memory;
  kept.logits = kept.memory + n;
  kept.labels = kept.memory + 2 * n;
  kept.weights = weighted ? kept.memory + 3 * n : NULL;
  kept.counts = g_new(guint32, 2 * MAX(n, 1));
  kept.ranks = kept.counts + n;
  return kept;
}

static void
kept_clear(Kept *kept) {
  g_free(kept->memory);
  g_free(kept->counts);
}

static void
load(const DemurExtraSetup *setup, const guint32 *ranks, gssize max_rank, DemurDrawn drawn,
     Kept *kept) {
  const DemurSample *sample = setup->sample;
  size_t n = 0;
  for (size_t i = 0; i < sample->n; i++) {
    const guint32 count = drawn.counts != NULL ? drawn.counts[i] : 1;
    if (count == 0 || (gssize)ranks[i] > max_rank)
      continue;
    kept->risks[n] = sample->risks[i];
    kept->logits[n] = setup->logits[i];
    kept->labels[n] = sample->labels[i];
    if (kept->weights != NULL)
      kept->weights[n] = drawn.weights[i];
    kept->counts[n] = count;
    kept->ranks[n++] = ranks[i];
  }
  kept->n = n;
}

static void
cut_down(Kept *kept, guint32 max_rank) {
  size_t n = 0;
  for (size_t i = 0; i < kept->n; i++) {
    if (kept->ranks[i] > max_rank)
      continue;
    kept->risks[n] = kept->risks[i];
    kept->logits[n] = kept->logits[i];
    kept->labels[n] = kept->labels[i];
    if (kept->weights != NULL)
      kept->weights[n] = kept->weights[i];
    kept->counts[n] = kept->counts[i];
    kept->ranks[n++] = kept->ranks[i];
  }
  kept->n = n;
}

/* start: where the fit begins; receives its solution. */
static void
measure(const DemurExtraSetup *setup, const Kept *kept, DemurCalibrationFit *start,
        double *values) {
  const DemurOutcomes outcomes = outcomes_of(kept);
  for (DemurMeasure measure = 0; measure < DEMUR_N_MEASURES; measure++)
    values[measure] = NAN;
  values[DEMUR_MEASURE_OE_RATIO] = demur_calibration_oe_ratio(&outcomes);
  const DemurCalibrationGaps gaps = demur_calibration_gaps(&outcomes);
  values[DEMUR_MEASURE_ICI] = gaps.mean;
  values[DEMUR_MEASURE_E50] = gaps.median;
  values[DEMUR_MEASURE_E90] = gaps.percent_90;
  values[DEMUR_MEASURE_SBCE1] = demur_binned_error1(&outcomes, setup->min_bin_size);
  values[DEMUR_MEASURE_SPIEGELHALTER] = demur_spiegelhalter_z(&outcomes);
  values[DEMUR_MEASURE_HOSMER_LEMESHOW] = demur_hosmer_lemeshow(&outcomes);
  const DemurBrierParts parts = demur_brier_parts(&outcomes, setup->min_bin_size);
  values[DEMUR_MEASURE_RELIABILITY] = parts.reliability;
  values[DEMUR_MEASURE_RESOLUTION] = parts.resolution;
  values[DEMUR_MEASURE_UNCERTAINTY] = parts.uncertainty;
  values[DEMUR_MEASURE_WITHIN] = parts.within;
  if (setup->sample->top_label)
    return;
  *start = demur_calibration_fit_logits(&outcomes, kept->logits, start);
  values[DEMUR_MEASURE_INTERCEPT] = start->intercept;
  values[DEMUR_MEASURE_SLOPE] = start->slope;
  values[DEMUR_MEASURE_SLOPE_INTERCEPT] = start->slope_intercept;
  values[DEMUR_MEASURE_AUROC] = demur_auroc(&outcomes);
  const DemurNetBenefit benefit = demur_net_benefit(&outcomes, setup->net_benefit_threshold);
  values[DEMUR_MEASURE_NET_BENEFIT] = benefit.model;
  values[DEMUR_MEASURE_TREAT_ALL] = benefit.all;
}

/* rank_counts [n_ranks]: scans of each rank; how many in all. */
static size_t
count_ranks(const guint32 *ranks, size_t n_ranks, const guint32 *counts, size_t n,
            guint32 *rank_counts) {
  size_t n_total = 0;
  memset(rank_counts, 0, n_ranks * sizeof *rank_counts);
  for (size_t i = 0; i < n; i++) {
    const guint32 count = counts != NULL ? counts[i] : 1;
    rank_counts[ranks[i]] += count;
    n_total += count;
  }
  return n_total;
}

void
demur_extra_curves(const DemurExtraSetup *setup, const guint32 *ranks, size_t n_ranks,
                   DemurDrawn drawn, DemurExtraCurves *curves) {
  const DemurSample *sample = setup->sample;
  double coverages[DEMUR_N_COARSE_COVERAGES];
  demur_extra_coverages(coverages);
  gssize max_ranks[DEMUR_N_COARSE_COVERAGES];
  g_autofree guint32 *rank_counts = g_new(guint32, MAX(n_ranks, 1));
  const size_t n_total = count_ranks(ranks, n_ranks, drawn.counts, sample->n, rank_counts);
  gssize rank = -1;
  size_t sum = 0;
  for (size_t c = 0; c < DEMUR_N_COARSE_COVERAGES; c++) {
    const size_t wanted = demur_coverage_count(coverages[c], n_total);
    while (sum < wanted)
      sum += rank_counts[++rank];
    max_ranks[c] = rank;
    curves->n_selected[c] = sum;
  }
  Kept kept = kept_new(sample->n, drawn.weights != NULL);
  DemurCalibrationFit start = {NAN, NAN, NAN};
  load(setup, ranks, rank, drawn, &kept);
  for (size_t c = DEMUR_N_COARSE_COVERAGES; c-- > 0;) {
    double values[DEMUR_N_MEASURES];
    const gboolean same =
        c + 1 < DEMUR_N_COARSE_COVERAGES && max_ranks[c] == max_ranks[c + 1]; /* as for "full" */
    if (!same) {
      cut_down(&kept, (guint32)MAX(max_ranks[c], 0));
      measure(setup, &kept, &start, values);
    }
    for (DemurMeasure extra = DEMUR_N_FINE_MEASURES; extra < DEMUR_N_MEASURES; extra++)
      curves->values[extra][c] = same ? curves->values[extra][c + 1] : values[extra];
  }
  kept_clear(&kept);
  const DemurSelectiveSample selective = {.n = sample->n,
                                          .risks = sample->risks,
                                          .labels = sample->labels,
                                          .counts = drawn.counts,
                                          .weights = drawn.weights,
                                          .ranks = ranks,
                                          .n_ranks = n_ranks,
                                          .top_label = sample->top_label};
  demur_aurc(&selective, &curves->aurc_error, &curves->aurc_brier);
}

void
demur_extra_at_rank(const DemurExtraSetup *setup, const guint32 *ranks, gssize max_rank,
                    DemurDrawn drawn, double *values, DemurNetBenefit *decision) {
  Kept kept = kept_new(setup->sample->n, drawn.weights != NULL);
  load(setup, ranks, max_rank, drawn, &kept);
  DemurCalibrationFit start = {NAN, NAN, NAN};
  measure(setup, &kept, &start, values);
  const DemurOutcomes outcomes = outcomes_of(&kept);
  if (decision != NULL)
    demur_decision_curve(&outcomes, demur_decision_thresholds, DEMUR_N_DECISIONS, decision);
  if (decision != NULL && setup->sample->top_label)
    for (size_t t = 0; t < DEMUR_N_DECISIONS; t++)
      decision[t].model = decision[t].all = NAN;
  kept_clear(&kept);
}

DemurExtraFit
demur_extra_fit(const DemurExtraSetup *setup, const guint32 *ranks, gssize max_rank,
                DemurDrawn drawn, const DemurCalibrationFit *start) {
  Kept kept = kept_new(setup->sample->n, drawn.weights != NULL);
  load(setup, ranks, max_rank, drawn, &kept);
  const DemurOutcomes outcomes = outcomes_of(&kept);
  DemurExtraFit fit = {{NAN, NAN, NAN}, demur_calibration_oe_ratio(&outcomes), NAN};
  if (!setup->sample->top_label) {
    fit.fit = demur_calibration_fit_logits(&outcomes, kept.logits, start);
    fit.auroc = demur_auroc(&outcomes);
  }
  kept_clear(&kept);
  return fit;
}
