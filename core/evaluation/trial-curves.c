/* From the trials' numbers to a method's curves and areas: the point is the mean over models of
 * trial 0, mean and sd are over models x resamples. Values that are squares (site error) are
 * averaged as squares over models, and each trial's signed root counts for mean and sd. */
#include "evaluation/trials.h"

#include <math.h>

#include "metrics/coverage.h"
#include "metrics/intervals.h"

#define LEVEL 0.95

/* One number of a job (method, model, trial). */
typedef struct {
  DemurMeasure measure;
  size_t coverage;
} Address;
typedef double (*Value)(const DemurTrials *trials, size_t job, const Address *address);

static double
curve_value(const DemurTrials *trials, size_t job, const Address *address) {
  return address->measure < DEMUR_N_FINE_MEASURES
             ? trials->curves[job].values[address->measure][address->coverage]
             : trials->extra_curves[job].values[address->measure][address->coverage];
}

static double
area_value(const DemurTrials *trials, size_t job, const Address *address) {
  if (address->measure == DEMUR_MEASURE_SITE_ERROR)
    return trials->curves[job].site_error2_auc;
  if (address->measure < DEMUR_N_FINE_MEASURES)
    return demur_coverage_auc(trials->coverages, trials->curves[job].values[address->measure],
                              DEMUR_N_COVERAGES);
  double coverages[DEMUR_N_COARSE_COVERAGES];
  demur_extra_coverages(coverages);
  return demur_coverage_auc(coverages, trials->extra_curves[job].values[address->measure],
                            DEMUR_N_COARSE_COVERAGES);
}

static double
debiased2_value(const DemurTrials *trials, size_t job, const Address *address) {
  return trials->curves[job].debiased2[address->coverage];
}

static double
aurc_error_value(const DemurTrials *trials, size_t job, const Address *address) {
  return trials->extra_curves[job].aurc_error;
}

static double
aurc_brier_value(const DemurTrials *trials, size_t job, const Address *address) {
  return trials->extra_curves[job].aurc_brier;
}

/* Mean over the models of method k, in the split as it is. */
static double
point_of(const DemurTrials *trials, size_t k, Value value, const Address *address) {
  const size_t n_models = ((const DemurMethod *)trials->methods->pdata[k])->n_models;
  double sum = 0.0;
  for (size_t m = 0; m < n_models; m++)
    sum += value(trials, demur_trials_job(trials, trials->first_columns[k] + m, 0), address);
  return sum / (double)n_models;
}

static DemurEstimate
estimate_of(const DemurTrials *trials, size_t k, Value value, const Address *address,
            gboolean square) {
  const size_t n_models = ((const DemurMethod *)trials->methods->pdata[k])->n_models;
  g_autofree double *values = g_new(double, n_models * trials->n_trials);
  size_t n = 0;
  for (size_t m = 0; m < n_models; m++)
    for (size_t t = 1; t < trials->n_trials; t++) {
      const double x =
          value(trials, demur_trials_job(trials, trials->first_columns[k] + m, t), address);
      values[n++] = square ? demur_signed_root(x) : x;
    }
  DemurEstimate estimate = {.point = point_of(trials, k, value, address)};
  if (square)
    estimate.point = demur_signed_root(estimate.point);
  demur_mean_sd(values, n, &estimate.mean, &estimate.sd);
  return estimate;
}

/* Share of the scans that is kept, of the split as it is, mean over models. */
static double
realised_of(const DemurTrials *trials, size_t k, DemurMeasure measure, size_t coverage) {
  const size_t n_models = ((const DemurMethod *)trials->methods->pdata[k])->n_models;
  double realised = 0.0;
  for (size_t m = 0; m < n_models; m++) {
    const size_t job = demur_trials_job(trials, trials->first_columns[k] + m, 0);
    realised +=
        (double)(measure < DEMUR_N_FINE_MEASURES ? trials->curves[job].n_selected[coverage]
                                                 : trials->extra_curves[job].n_selected[coverage]) /
        (double)trials->sample->n;
  }
  return realised / (double)n_models;
}

static void
fill_curve(const DemurTrials *trials, size_t k, DemurMeasure measure, DemurCurvePoint *curve) {
  const size_t first_job = demur_trials_job(trials, trials->first_columns[k], 0);
  double coarse[DEMUR_N_COARSE_COVERAGES];
  demur_extra_coverages(coarse);
  for (size_t c = 0; c < demur_measure_n_coverages(measure); c++) {
    const Address address = {measure, c};
    const gboolean fine = measure < DEMUR_N_FINE_MEASURES;
    const DemurEstimate estimate =
        estimate_of(trials, k, curve_value, &address, demur_measure_row(measure)->square);
    curve[c] = (DemurCurvePoint){.coverage = fine ? trials->coverages[c] : coarse[c],
                                 .realised = realised_of(trials, k, measure, c),
                                 .point = estimate.point,
                                 .mean = estimate.mean,
                                 .sd = estimate.sd,
                                 .debiased = NAN,
                                 .noise_floor = NAN,
                                 .n_bins = fine && demur_measure_row(measure)->binned
                                               ? trials->curves[first_job].n_bins[c]
                                               : 0};
  }
}

/* What only S-BCE_2 has: the debiased curve and the noise floor, and their areas. */
static void
fill_debiased(const DemurTrials *trials, const DemurReplicates *replicates, size_t k,
              DemurMethodResult *result) {
  const size_t n_models = ((const DemurMethod *)trials->methods->pdata[k])->n_models,
               n_draws = replicates->input.n_noise_draws;
  double noise[DEMUR_N_COVERAGES], squares[DEMUR_N_COVERAGES];
  for (size_t c = 0; c < DEMUR_N_COVERAGES; c++) {
    double sum = 0.0;
    for (size_t m = 0; m < n_models; m++)
      for (size_t d = 0; d < n_draws; d++)
        sum +=
            replicates
                ->noise[(d * trials->n_columns + trials->first_columns[k] + m) * DEMUR_N_COVERAGES +
                        c];
    const Address address = {DEMUR_MEASURE_SBCE2, c};
    noise[c] = n_draws > 0 ? sum / (double)(n_models * n_draws) : NAN;
    squares[c] = point_of(trials, k, debiased2_value, &address);
    result->curve[DEMUR_MEASURE_SBCE2][c].noise_floor = noise[c];
    result->curve[DEMUR_MEASURE_SBCE2][c].debiased = demur_signed_root(squares[c]);
  }
  result->debiased_auc =
      demur_signed_root(demur_coverage_auc(trials->coverages, squares, DEMUR_N_COVERAGES));
  result->noise_floor_auc = demur_coverage_auc(trials->coverages, noise, DEMUR_N_COVERAGES);
}

static void
fill_areas(const DemurTrials *trials, size_t k, DemurMethodResult *result) {
  for (DemurMeasure measure = 0; measure < DEMUR_N_MEASURES; measure++) {
    const DemurMeasureRow *row = demur_measure_row(measure);
    const Address address = {measure, 0};
    DemurEstimate *estimate = &result->auc[measure];
    *estimate = row->has_auc ? estimate_of(trials, k, area_value, &address, row->square)
                             : (DemurEstimate){NAN, NAN, NAN};
    if (measure >= DEMUR_N_FINE_MEASURES || row->square)
      continue;
    double curve[DEMUR_N_COVERAGES]; /* the area of the mean curve */
    for (size_t c = 0; c < DEMUR_N_COVERAGES; c++)
      curve[c] = result->curve[measure][c].point;
    estimate->point = demur_coverage_auc(trials->coverages, curve, DEMUR_N_COVERAGES);
  }
  const Address none = {0, 0};
  result->aurc_error = estimate_of(trials, k, aurc_error_value, &none, FALSE);
  result->aurc_brier = estimate_of(trials, k, aurc_brier_value, &none, FALSE);
}

/* Squares of differences between outcomes and risks lie in [-1, 1]; few sites' intervals may not.
 */
static DemurInterval
signed_roots(double low, double high) {
  return (DemurInterval){demur_signed_root(low < -1.0 ? -1.0 : low),
                         demur_signed_root(high > 1.0 ? 1.0 : high)};
}

/* Intervals of the areas of the debiased square and of the site error, as
 * demur_operating_intervals makes those of the points. */
static void
fill_intervals(const DemurTrials *trials, const DemurReplicates *r, size_t k,
               DemurMethodResult *result) {
  const size_t n_methods = trials->methods->len, n = r->input.n_bootstrap;
  const size_t n_units = demur_sample_n_units(trials->sample, r->input.unit);
  const DemurMethod *method = trials->methods->pdata[k];
  g_autofree double *values = g_new(double, MAX(n, 1));
  double plain2 = 0.0, debiased2 = 0.0;
  for (size_t m = 0; m < method->n_models; m++) {
    const DemurTrialCurves *curves =
        &trials->curves[demur_trials_job(trials, trials->first_columns[k] + m, 0)];
    double squares[DEMUR_N_COVERAGES];
    for (size_t c = 0; c < DEMUR_N_COVERAGES; c++)
      squares[c] = curves->values[DEMUR_MEASURE_SBCE2][c] * curves->values[DEMUR_MEASURE_SBCE2][c];
    plain2 += demur_coverage_auc(trials->coverages, squares, DEMUR_N_COVERAGES);
    debiased2 += demur_coverage_auc(trials->coverages, curves->debiased2, DEMUR_N_COVERAGES);
  }
  plain2 /= (double)method->n_models;
  result->plain2_auc = plain2;
  debiased2 /= (double)method->n_models;
  double low, high;
  for (size_t b = 0; b < n; b++)
    values[b] = r->debiased2_auc[b * n_methods + k];
  if (r->n_left_out > 0) {
    g_autofree double *left_out = g_new(double, r->n_left_out);
    for (size_t s = 0; s < r->n_left_out; s++)
      left_out[s] = r->debiased2_auc[(n + s) * n_methods + k];
    demur_interval_jackknife(left_out, r->n_left_out, debiased2, DEMUR_SCALE_IDENTITY, LEVEL, &low,
                             &high);
  } else {
    demur_interval_basic(values, n, debiased2, plain2, n_units, LEVEL, &low, &high);
  }
  result->debiased_auc_interval = signed_roots(low, high);
  double se;
  const double site2 = demur_replicates_site2_auc(r, k, &se);
  for (size_t b = 0; b < n; b++) {
    values[b] = r->site2_auc[b * n_methods + k];
    if (r->input.unit == DEMUR_UNIT_SITE)
      values[b] = (values[b] - site2) / r->site2_se[b * n_methods + k];
  }
  if (r->input.unit == DEMUR_UNIT_SITE)
    demur_interval_studentised(values, n, site2, se, n_units, LEVEL, &low, &high);
  else
    demur_interval_expanded(values, n, n_units, LEVEL, &low, &high);
  const gboolean known = r->input.unit != DEMUR_UNIT_SITE || n_units >= DEMUR_SQUARES_SITES;
  result->site_error_auc_interval = known ? signed_roots(low, high) : (DemurInterval){NAN, NAN};
}

void
demur_trials_fill(const DemurTrials *trials, const DemurReplicates *replicates, size_t k,
                  DemurMethodResult *result) {
  for (DemurMeasure measure = 0; measure < DEMUR_N_MEASURES; measure++)
    fill_curve(trials, k, measure, result->curve[measure]);
  fill_debiased(trials, replicates, k, result);
  fill_areas(trials, k, result);
  fill_intervals(trials, replicates, k, result);
}
