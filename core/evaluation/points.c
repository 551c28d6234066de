#include "evaluation/points.h"

#include <math.h>

#include "metrics/intervals.h"
#include "metrics/smmce.h"

#define LEVEL 0.95

void
demur_points_find(const GPtrArray *methods, size_t n, DemurPointPlan *plan, DemurOperating *point) {
  const DemurMethod *method = methods->pdata[plan->method];
  *point = (DemurOperating){.method = plan->method,
                            .fixed_threshold = plan->tuned != NULL,
                            .coverage = plan->coverage,
                            .max_ranks = g_new(gssize, method->n_models),
                            .intervals = demur_method_has_points(method) ? DEMUR_INTERVALS_ALL
                                                                         : DEMUR_INTERVALS_RATES};
  for (size_t m = 0; m < method->n_models; m++) {
    double threshold;
    if (plan->tuned != NULL) {
      threshold = plan->tuned[m];
      point->max_ranks[m] = demur_method_rank_at(method, m, n, threshold);
    } else {
      threshold = demur_method_threshold(method, m, n, plan->coverage, &point->max_ranks[m]);
    }
    if (m == 0)
      plan->threshold = threshold;
  }
}

/* Rejection of each class, shares and rates weighted where not every outcome is known; the
 * intervals come from demur_operating_intervals. */
static void
fill_rejection(const DemurSample *sample, const DemurMethod *method, gssize max_rank,
               DemurOperatingPoint *at) {
  const size_t k = sample->n_classes;
  at->n_labels = k;
  at->rejected_by_label = g_new0(DemurRejection, k);
  g_autofree double *all = g_new0(double, 2 * k);
  double *rejected = all + k, total = 0.0, total_rejected = 0.0;
  for (size_t i = 0; i < sample->n; i++) {
    if (sample->classes[i] == DEMUR_NO_LABEL)
      continue;
    const double weight = sample->weights != NULL ? sample->weights[i] : 1.0;
    DemurRejection *label = &at->rejected_by_label[sample->classes[i]];
    label->n_all++;
    all[sample->classes[i]] += weight;
    total += weight;
    if ((gssize)method->ranks[0][i] <= max_rank)
      continue;
    label->n_rejected++;
    rejected[sample->classes[i]] += weight;
    total_rejected += weight;
  }
  for (size_t label = 0; label < k; label++) {
    DemurRejection *r = &at->rejected_by_label[label];
    r->label = (int)label;
    r->share_of_all = all[label] / total;
    r->share_of_rejected = total_rejected > 0.0 ? rejected[label] / total_rejected : NAN;
    r->rate = all[label] > 0.0 ? rejected[label] / all[label] : NAN;
  }
  demur_rejections_withhold(at->rejected_by_label, k);
}

/* The measures that only the whole split has. */
static void
add_whole(const DemurExtraSetup *setup, const DemurMethod *method, size_t model, gssize max_rank,
          const DemurSelectivePoint *point, DemurOperatingPoint *at) {
  const DemurSample *sample = setup->sample;
  const double share = 1.0 / (double)method->n_models;
  at->measures[DEMUR_MEASURE_SBCEINF] += share * point->error_inf;
  at->measures[DEMUR_MEASURE_BRIER] += share * point->brier;
  at->measures[DEMUR_MEASURE_ACCURACY] += share * point->accuracy;
  const DemurSiteSample sites =
      demur_method_sites(sample, method, model, demur_sample_as_is(sample));
  at->measures[DEMUR_MEASURE_SITE_ERROR] += share * demur_site_error_at_rank(&sites, max_rank);
  g_autofree double *weights = g_new(double, sample->n);
  for (size_t i = 0; i < sample->n; i++)
    weights[i] = (gssize)method->ranks[model][i] > max_rank ? 0.0
                 : sample->weights != NULL                  ? sample->weights[i]
                                                            : 1.0;
  at->measures[DEMUR_MEASURE_SMMCE] +=
      share * demur_smmce_normalised(sample->risks, sample->labels, weights, sample->n, 2, 0.2);
}

void
demur_points_measure(const DemurExtraSetup *setup, const DemurMethod *method,
                     const gssize *max_ranks, gboolean whole, DemurSelectiveScratch *scratch,
                     DemurOperatingPoint *at) {
  const DemurSample *sample = setup->sample;
  const double share = 1.0 / (double)method->n_models;
  double debiased2 = 0.0;
  for (DemurMeasure measure = 0; measure < DEMUR_N_MEASURES; measure++)
    at->measures[measure] = 0.0;
  for (size_t m = 0; m < method->n_models; m++) {
    const DemurSelectiveSample selective =
        demur_method_selective(sample, method, m, demur_sample_as_is(sample));
    DemurSelectivePoint point;
    demur_selective_at_rank(&selective, max_ranks[m], setup->min_bin_size, scratch, &point);
    at->measures[DEMUR_MEASURE_SBCE2] += share * point.error2;
    debiased2 += share * point.debiased2;
    if (whole)
      add_whole(setup, method, m, max_ranks[m], &point, at);
    double extras[DEMUR_N_MEASURES];
    demur_extra_at_rank(setup, method->ranks[m], max_ranks[m], demur_sample_as_is(sample), extras,
                        m == 0 ? at->decision : NULL);
    for (DemurMeasure extra = DEMUR_N_FINE_MEASURES; extra < DEMUR_N_MEASURES; extra++)
      at->measures[extra] += share * extras[extra];
    if (m == 0) {
      at->n_accepted = at->n_counted = point.n_selected;
      at->n_bins = point.n_bins;
      at->realised = (double)point.n_selected / (double)sample->n;
    }
  }
  for (DemurMeasure measure = 0; !whole && measure < DEMUR_N_FINE_MEASURES; measure++)
    if (measure != DEMUR_MEASURE_SBCE2)
      at->measures[measure] = NAN;
  at->measures[DEMUR_MEASURE_SITE_ERROR] =
      demur_signed_root(at->measures[DEMUR_MEASURE_SITE_ERROR]);
  at->debiased = demur_signed_root(debiased2);
  fill_rejection(sample, method, max_ranks[0], at);
}

static void
fill_reliability(const DemurExtraSetup *setup, const DemurMethod *method, gssize max_rank,
                 DemurOperatingPoint *at) {
  const DemurSample *sample = setup->sample;
  g_autofree guint32 *counts = g_new(guint32, MAX(sample->n, 1));
  for (size_t i = 0; i < sample->n; i++)
    counts[i] = (gssize)method->ranks[0][i] <= max_rank;
  const DemurOutcomes outcomes = {sample->n, sample->risks, sample->labels, counts,
                                  sample->weights};
  DemurBins bins;
  demur_bins_fill(&bins, &outcomes, setup->min_bin_size);
  at->n_reliability = bins.n_bins;
  for (size_t b = 0; b < bins.n_bins; b++) {
    DemurReliabilityBin *r = &at->reliability[b];
    const double effective = bins.mass[b] * bins.mass[b] / bins.squares[b];
    r->n = (size_t)lround(bins.n_known[b]);
    r->mean_risk = bins.risks[b] / bins.mass[b];
    r->observed = bins.positives[b] / bins.mass[b];
    demur_interval_wilson(r->observed * effective, effective, LEVEL, &r->low, &r->high);
  }
}

/* The smooth calibration curve of the accepted scans, its interval over patients. */
static void
fill_smooth(const DemurSample *sample, const DemurMethod *method, gssize max_rank,
            DemurOperatingPoint *at) {
  g_autofree guint32 *counts = g_new(guint32, sample->n + 1);
  for (size_t i = 0; i < sample->n; i++)
    counts[i] = (gssize)method->ranks[0][i] <= max_rank ? 1 : 0;
  const DemurOutcomes outcomes = {.n = sample->n,
                                  .risks = sample->risks,
                                  .labels = sample->labels,
                                  .counts = counts,
                                  .weights = sample->weights};
  at->n_smooth = demur_calibration_curve(&outcomes, sample->patients, sample->n_patients,
                                         at->smooth, DEMUR_N_SMOOTH);
}

size_t
demur_points_histogram_bin(const DemurEvaluation *evaluation, double risk) {
  const double place = (risk - evaluation->histogram_low) / evaluation->histogram_width;
  return (size_t)CLAMP(place, 0.0, (double)(DEMUR_N_HISTOGRAM_BINS - 1));
}

void
demur_points_fill(size_t index, guint worker, gpointer data) {
  const DemurPoints *points = data;
  const DemurReplicatesInput *input = &points->replicates->input;
  const DemurPointPlan *plan = &points->plans[index];
  const DemurMethod *method = input->methods->pdata[plan->method];
  const gssize *max_ranks = input->points[index].max_ranks;
  const DemurSample *sample = input->setup->sample;
  DemurOperatingPoint *at = points->at[index];
  *at = (DemurOperatingPoint){
      .coverage = plan->coverage, .from_tune = plan->tuned != NULL, .threshold = plan->threshold};
  g_autoptr(DemurSelectiveScratch) scratch = demur_selective_scratch_new(sample->n);
  demur_points_measure(input->setup, method, max_ranks, TRUE, scratch, at);
  for (size_t i = 0; i < sample->n; i++)
    if ((gssize)method->ranks[0][i] <= max_ranks[0])
      at->histogram[demur_points_histogram_bin(points->evaluation, sample->risks[i])]++;
  fill_reliability(input->setup, method, max_ranks[0], at);
  if (demur_method_has_points(method))
    fill_smooth(sample, method, max_ranks[0], at);
  demur_operating_intervals(points->replicates, index, at);
}
