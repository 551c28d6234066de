#include "evaluation/points.h"

#include <math.h>

#include "metrics/coverage.h"
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

/* The scans that a model keeps. */
static guint32 *
kept_of(const DemurSample *sample, const DemurMethod *method, size_t model, gssize max_rank) {
  guint32 *kept = g_new(guint32, MAX(sample->n, 1));
  for (size_t i = 0; i < sample->n; i++)
    kept[i] = (gssize)method->ranks[model][i] <= max_rank ? 1 : 0;
  return kept;
}

/* The measures that only the whole split has. */
static void
add_whole(const DemurExtraSetup *setup, const DemurMethod *method, size_t model, gssize max_rank,
          const DemurSelectivePoint *point, double *measures) {
  const DemurSample *sample = setup->sample;
  const double share = 1.0 / (double)method->n_models;
  measures[DEMUR_MEASURE_SBCEINF] += share * point->error_inf;
  measures[DEMUR_MEASURE_BRIER] += share * point->brier;
  measures[DEMUR_MEASURE_ACCURACY] += share * point->accuracy;
  const DemurSiteSample sites =
      demur_method_sites(sample, method, model, demur_sample_as_is(sample));
  measures[DEMUR_MEASURE_SITE_ERROR] += share * demur_site_error_at_rank(&sites, max_rank);
  g_autofree double *weights = g_new(double, sample->n);
  for (size_t i = 0; i < sample->n; i++)
    weights[i] = (gssize)method->ranks[model][i] > max_rank ? 0.0
                 : sample->weights != NULL                  ? sample->weights[i]
                                                            : 1.0;
  measures[DEMUR_MEASURE_SMMCE] +=
      share * demur_smmce_normalised(sample->risks, sample->labels, weights, sample->n, 2, 0.2);
}

/* One model's measures, summed into at; told: of outcomes in fives. */
static void
add_model(const DemurExtraSetup *setup, const DemurMethod *method, size_t m, gssize max_rank,
          gboolean whole, gboolean told, DemurSelectiveScratch *scratch, DemurOperatingPoint *at,
          double *debiased2) {
  const DemurSample *sample = setup->sample;
  const double share = 1.0 / (double)method->n_models;
  DemurSelectiveSample selective =
      demur_method_selective(sample, method, m, demur_sample_as_is(sample));
  DemurSelectivePoint point;
  demur_selective_at_rank(&selective, max_rank, setup->min_bin_size, scratch, &point);
  if (m == 0) {
    at->n_accepted = point.n_selected;
    at->n_bins = point.n_bins;
    at->realised = (double)point.n_selected / (double)sample->n;
  }
  g_autofree double *weights = NULL;
  if (told) {
    g_autofree guint32 *kept = kept_of(sample, method, m, max_rank);
    weights = g_new(double, MAX(sample->n, 1));
    demur_told_weights(sample, kept, weights);
    selective.weights = weights;
    demur_selective_at_rank(&selective, max_rank, setup->min_bin_size, scratch, &point);
  }
  at->measures[DEMUR_MEASURE_SBCE2] += share * point.error2;
  *debiased2 += share * point.debiased2;
  if (whole)
    add_whole(setup, method, m, max_rank, &point, at->measures);
  double extras[DEMUR_N_MEASURES];
  demur_extra_at_rank(setup, method->ranks[m], max_rank, demur_sample_as_is(sample), !told, extras,
                      m == 0 ? at->decision : NULL);
  for (DemurMeasure extra = DEMUR_N_FINE_MEASURES; extra < DEMUR_N_MEASURES; extra++)
    at->measures[extra] += share * extras[extra];
}

static void
measure(const DemurExtraSetup *setup, const DemurMethod *method, const gssize *max_ranks,
        gboolean whole, gboolean told, DemurSelectiveScratch *scratch, DemurOperatingPoint *at) {
  double debiased2 = 0.0;
  for (DemurMeasure measure = 0; measure < DEMUR_N_MEASURES; measure++)
    at->measures[measure] = 0.0;
  for (size_t m = 0; m < method->n_models; m++)
    add_model(setup, method, m, max_ranks[m], whole, told, scratch, at, &debiased2);
  for (DemurMeasure measure = 0; !whole && measure < DEMUR_N_FINE_MEASURES; measure++)
    if (measure != DEMUR_MEASURE_SBCE2)
      at->measures[measure] = NAN;
  at->measures[DEMUR_MEASURE_SITE_ERROR] =
      demur_signed_root(at->measures[DEMUR_MEASURE_SITE_ERROR]);
  at->debiased = demur_signed_root(debiased2);
}

void
demur_points_measure(const DemurExtraSetup *setup, const DemurMethod *method,
                     const gssize *max_ranks, gboolean whole, DemurSelectiveScratch *scratch,
                     DemurOperatingPoint *at) {
  measure(setup, method, max_ranks, whole, FALSE, scratch, at);
  fill_rejection(setup->sample, method, max_ranks[0], at);
}

/* ---- what may be told ---- */

void
demur_points_told_coverages(double *coverages) {
  double coarse[DEMUR_N_COARSE_COVERAGES], fine[DEMUR_N_COVERAGES];
  demur_extra_coverages(coarse);
  demur_coverage_grid(DEMUR_N_COVERAGES, fine);
  size_t n = 0;
  for (size_t c = 0; c < DEMUR_N_OPERATING_COVERAGES; c++)
    coverages[n++] = demur_operating_coverages[c];
  for (size_t c = DEMUR_N_COARSE_COVERAGES; c-- > 0;)
    coverages[n++] = coarse[c];
  for (size_t c = DEMUR_N_COVERAGES; c-- > 0;)
    coverages[n++] = fine[c];
}

static void
tell_intervals(const DemurOperatingPoint *exact, DemurOperatingPoint *at) {
  DemurInterval *oe = &at->intervals[DEMUR_MEASURE_OE_RATIO],
                *auroc = &at->intervals[DEMUR_MEASURE_AUROC];
  const double times =
      at->measures[DEMUR_MEASURE_OE_RATIO] / exact->measures[DEMUR_MEASURE_OE_RATIO];
  oe->low *= times > 0.0 ? times : (double)NAN;
  oe->high *= times > 0.0 ? times : (double)NAN;
  demur_interval_move(&at->intervals[DEMUR_MEASURE_INTERCEPT],
                      at->measures[DEMUR_MEASURE_INTERCEPT] -
                          exact->measures[DEMUR_MEASURE_INTERCEPT],
                      -INFINITY, INFINITY);
  auroc->low = demur_extra_told_auroc(auroc->low);
  auroc->high = demur_extra_told_auroc(auroc->high);
}

void
demur_points_tell(const DemurExtraSetup *setup, const DemurMethod *method, const gssize *max_ranks,
                  gboolean whole, DemurSelectiveScratch *scratch, DemurOperatingPoint *at) {
  const gboolean right = demur_method_is_exact(method, DEMUR_TOLD_RIGHT, max_ranks[0]),
                 labels = demur_method_is_exact(method, DEMUR_TOLD_LABELS, max_ranks[0]),
                 scans = whole || demur_method_is_exact(method, DEMUR_TOLD_SCANS, max_ranks[0]);
  at->in_fives = !labels || !scans || (whole && !right);
  if (whole && !right)
    at->measures[DEMUR_MEASURE_ACCURACY] =
        demur_told_accuracy(at->measures[DEMUR_MEASURE_ACCURACY], at->n_accepted);
  if (!labels) {
    const DemurOperatingPoint exact = *at;
    measure(setup, method, max_ranks, whole, TRUE, scratch, at);
    at->measures[DEMUR_MEASURE_ACCURACY] = exact.measures[DEMUR_MEASURE_ACCURACY];
    tell_intervals(&exact, at);
    demur_rejections_tell(at->rejected_by_label, at->n_labels);
  }
  if (scans)
    return;
  const double n = (double)setup->sample->n, realised = at->realised;
  at->n_accepted = (size_t)demur_told_fives((double)at->n_accepted, n);
  at->realised = (double)at->n_accepted / n;
  demur_interval_move(&at->realised_interval, at->realised - realised, 0.0, 1.0);
}

static void
fill_reliability(const DemurExtraSetup *setup, const DemurMethod *method, gssize max_rank,
                 DemurOperatingPoint *at) {
  const DemurSample *sample = setup->sample;
  g_autofree guint32 *counts = kept_of(sample, method, 0, max_rank);
  const DemurOutcomes outcomes = {sample->n, sample->risks, sample->labels, counts,
                                  sample->weights};
  DemurBins bins;
  demur_bins_fill(&bins, &outcomes, setup->min_bin_size);
  if (!demur_method_is_exact(method, DEMUR_TOLD_LABELS, max_rank))
    demur_told_running(bins.positives, bins.mass, bins.n_bins);
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
  g_autofree guint32 *counts = kept_of(sample, method, 0, max_rank);
  g_autofree double *weights = NULL;
  if (!demur_method_is_exact(method, DEMUR_TOLD_LABELS, max_rank)) {
    weights = g_new(double, MAX(sample->n, 1));
    demur_told_weights(sample, counts, weights);
  }
  const DemurOutcomes outcomes = {.n = sample->n,
                                  .risks = sample->risks,
                                  .labels = sample->labels,
                                  .counts = counts,
                                  .weights = weights != NULL ? weights : sample->weights};
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
  demur_points_tell(input->setup, method, max_ranks, TRUE, scratch, at);
}
