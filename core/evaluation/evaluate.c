/* Layout of the work: jobs of (method, model, trial), trial 0 being the split as it is; each fills
 * the 50 coverages of all measures in one visit (metrics/selective.h, site-error.h, smmce.h).
 * Bootstrap replicates and redrawn labels: evaluation/replicates.h. Cost a job: O(n x 50 / 2); the
 * resampled trials of a large sample are counted in cells (evaluation/cells.h): O(n). */
#include "evaluation/evaluate.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "evaluation/cells.h"
#include "evaluation/extra.h"
#include "evaluation/groups.h"
#include "evaluation/replicates.h"
#include "metrics/coverage.h"
#include "metrics/intervals.h"
#include "metrics/selective.h"
#include "metrics/site-error.h"
#include "metrics/smmce.h"

#define TRIAL_CELLS 8192 /* risk cells of a resampled trial; 512 columns */
#define TRIAL_COLUMNS 512
#define LEVEL 0.95
#define MIN_UNITS DEMUR_FEW_SITES /* below this a comparison "cannot be decided" */

static const double operating_coverages[] = {0.9, 0.7, 0.5};

void
demur_evaluate_input_init(DemurEvaluateInput *input) {
  *input = (DemurEvaluateInput){.seed = 1,
                                .n_resamples = 5,
                                .resample_unit = DEMUR_UNIT_SCAN,
                                .n_bootstrap = 1000,
                                .n_noise_draws = 200,
                                .min_bin_size = 25,
                                .net_benefit_threshold = NAN};
}

/* Curves of one method and model on one trial. */
typedef struct {
  double values[DEMUR_N_MEASURES][DEMUR_N_COVERAGES]; /* site error: the square */
  double debiased2[DEMUR_N_COVERAGES];
  double site_error2_auc; /* of the square over 20 coverages */
  size_t n_selected[DEMUR_N_COVERAGES], n_bins[DEMUR_N_COVERAGES];
} TrialCurves;

typedef struct {
  const DemurSample *sample;
  const GPtrArray *methods;
  size_t min_bin_size;
  double coverages[DEMUR_N_COVERAGES], site_coverages[DEMUR_N_SITE_COVERAGES];
  DemurSelectiveScratch **scratch; /* [n_threads] */

  /* Trials. */
  size_t n_trials;                       /* resamples + 1 */
  guint32 **counts;                      /* [n_trials][n], the first NULL: the split as it is */
  size_t n_columns;                      /* method-model pairs */
  guint32 *column_method, *column_model; /* [n_columns] */
  TrialCurves *curves;                   /* [n_columns][n_trials] */
  const DemurExtraSetup *extra;
  DemurExtraCurves *extra_curves; /* [n_columns][n_trials] */

  /* Large samples: the trials in cells. */
  DemurCells *cells;           /* NULL: exact */
  DemurExtraSetup *cell_extra; /* of the rows of the cells as a sample */
  DemurSample *cell_sample;
  guint32 *zero_ranks; /* [rows of the cells] */

  DemurUnit unit;
  size_t n_bootstrap, n_noise_draws;
  DemurParallel *parallel;
  DemurOperating *points;
  size_t *first_points; /* [n_methods + 1] */
  DemurReplicates *replicates;
} Work;

static DemurSelectiveSample
selective_sample(const DemurSample *sample, const DemurMethod *method, size_t model,
                 const guint32 *counts) {
  return (DemurSelectiveSample){.n = sample->n,
                                .risks = sample->risks,
                                .labels = sample->labels,
                                .counts = counts,
                                .ranks = method->ranks[model],
                                .n_ranks = method->n_ranks[model],
                                .top_label = sample->top_label};
}

static DemurSiteSample
site_sample(const DemurSample *sample, const DemurMethod *method, size_t model,
            const guint32 *counts) {
  return (DemurSiteSample){.n = sample->n,
                           .differences = sample->differences,
                           .sites = sample->sites,
                           .patients = sample->patients,
                           .n_sites = sample->n_sites,
                           .n_patients = sample->n_patients,
                           .counts = counts,
                           .ranks = method->ranks[model],
                           .n_ranks = method->n_ranks[model]};
}

static void
fill_weights(const DemurSample *sample, const guint32 *ranks, gssize max_rank,
             const guint32 *counts, double *weights) {
  for (size_t i = 0; i < sample->n; i++)
    weights[i] = (gssize)ranks[i] <= max_rank ? (counts != NULL ? (double)counts[i] : 1.0) : 0.0;
}

/* Site error over coverage, and the area of its square. */
static void
fill_site_error(const Work *work, const DemurMethod *method, size_t model, const guint32 *counts,
                TrialCurves *curves) {
  const DemurSiteSample by_site = site_sample(work->sample, method, model, counts);
  double coverages[DEMUR_N_COVERAGES + DEMUR_N_SITE_COVERAGES], squares[G_N_ELEMENTS(coverages)];
  memcpy(coverages, work->coverages, sizeof work->coverages);
  memcpy(coverages + DEMUR_N_COVERAGES, work->site_coverages, sizeof work->site_coverages);
  demur_site_error_curve(&by_site, coverages, G_N_ELEMENTS(coverages), squares);
  memcpy(curves->values[DEMUR_MEASURE_SITE_ERROR], squares, sizeof work->coverages);
  curves->site_error2_auc =
      demur_coverage_auc(work->site_coverages, squares + DEMUR_N_COVERAGES, DEMUR_N_SITE_COVERAGES);
}

/* A resampled trial: each threshold's kept scans as counts over the rows of the cells. */
static void
run_trial_in_cells(const Work *work, const DemurMethod *method, size_t model, const guint32 *counts,
                   TrialCurves *curves, DemurExtraCurves *extra) {
  const DemurSample *rows = work->cell_sample;
  const size_t n_rows = rows->n, n_cuts = DEMUR_N_COVERAGES + DEMUR_N_EXTRA_COVERAGES;
  DemurCellColumns *columns = demur_cell_columns_new(
      method->ranks[model], work->sample->n, method->n_ranks[model], TRIAL_COLUMNS, NULL, 0);
  DemurCellTable *table = demur_cell_table_new(work->cells->n_cells, columns->n_columns);
  demur_cell_table_fill(table, work->cells->rows, columns, counts, work->sample->n);
  double coverages[DEMUR_N_EXTRA_COVERAGES];
  demur_extra_coverages(coverages);
  size_t kept[DEMUR_N_COVERAGES + DEMUR_N_EXTRA_COVERAGES];
  for (size_t c = 0; c < n_cuts; c++)
    kept[c] = demur_cell_table_keep(
        table, c < DEMUR_N_COVERAGES ? work->coverages[c] : coverages[c - DEMUR_N_COVERAGES]);
  g_autofree guint32 *selected = g_new(guint32, n_cuts * n_rows);
  demur_cell_table_select(table, kept, n_cuts, selected, n_rows);
  g_autoptr(DemurSelectiveScratch) scratch = demur_selective_scratch_new(n_rows);
  g_autofree double *weights = g_new(double, n_rows);
  for (size_t c = 0; c < DEMUR_N_COVERAGES; c++) {
    const guint32 *drawn = selected + c * n_rows;
    const DemurSelectiveSample selective = {.n = n_rows,
                                            .risks = rows->risks,
                                            .labels = rows->labels,
                                            .counts = drawn,
                                            .ranks = work->zero_ranks,
                                            .n_ranks = 1,
                                            .top_label = rows->top_label};
    DemurSelectivePoint point;
    demur_selective_at_rank(&selective, 0, work->min_bin_size, scratch, &point);
    fill_weights(rows, work->zero_ranks, 0, drawn, weights);
    curves->values[DEMUR_MEASURE_SBCE2][c] = point.error2;
    curves->values[DEMUR_MEASURE_SBCEINF][c] = point.error_inf;
    curves->values[DEMUR_MEASURE_BRIER][c] = point.brier;
    curves->values[DEMUR_MEASURE_ACCURACY][c] = point.accuracy;
    curves->values[DEMUR_MEASURE_SMMCE][c] =
        demur_smmce_normalised(rows->risks, rows->labels, weights, n_rows, 2, 0.2);
    curves->debiased2[c] = point.debiased2;
    curves->n_selected[c] = point.n_selected;
    curves->n_bins[c] = point.n_bins;
  }
  for (size_t c = 0; c < DEMUR_N_EXTRA_COVERAGES; c++) {
    double values[DEMUR_N_EXTRAS];
    demur_extra_at_rank(work->cell_extra, work->zero_ranks, 0,
                        selected + (DEMUR_N_COVERAGES + c) * n_rows, values, NULL);
    for (DemurExtra e = 0; e < DEMUR_N_EXTRAS; e++)
      extra->values[e][c] = values[e];
    extra->n_selected[c] = 0;
    for (size_t i = 0; i < n_rows; i++)
      extra->n_selected[c] += selected[(DEMUR_N_COVERAGES + c) * n_rows + i];
  }
  const DemurSelectiveSample all = selective_sample(work->sample, method, model, counts);
  demur_aurc(&all, &extra->aurc_error, &extra->aurc_brier);
  fill_site_error(work, method, model, counts, curves);
  demur_cell_table_free(table);
  demur_cell_columns_free(columns);
}

static void
run_trial(size_t job, guint worker, gpointer data) {
  Work *work = data;
  const size_t column = job / work->n_trials, trial = job % work->n_trials;
  const DemurMethod *method = work->methods->pdata[work->column_method[column]];
  const size_t model = work->column_model[column];
  const DemurSample *sample = work->sample;
  const guint32 *counts = work->counts[trial];
  TrialCurves *curves = &work->curves[job];
  if (work->cells != NULL && trial > 0) {
    run_trial_in_cells(work, method, model, counts, curves, &work->extra_curves[job]);
    return;
  }
  const DemurSelectiveSample selective = selective_sample(sample, method, model, counts);
  DemurSelectivePoint points[DEMUR_N_COVERAGES];
  demur_selective_curve(&selective, work->coverages, DEMUR_N_COVERAGES, work->min_bin_size,
                        work->scratch[worker], points);
  g_autofree double *weights = g_new(double, sample->n);
  guint32 last_rank = G_MAXUINT32;
  for (size_t c = DEMUR_N_COVERAGES; c-- > 0;) {
    curves->values[DEMUR_MEASURE_SBCE2][c] = points[c].error2;
    curves->values[DEMUR_MEASURE_SBCEINF][c] = points[c].error_inf;
    curves->values[DEMUR_MEASURE_BRIER][c] = points[c].brier;
    curves->values[DEMUR_MEASURE_ACCURACY][c] = points[c].accuracy;
    curves->debiased2[c] = points[c].debiased2;
    curves->n_selected[c] = points[c].n_selected;
    curves->n_bins[c] = points[c].n_bins;
    if (points[c].rank == last_rank) { /* the same selection, as everywhere for "full" */
      curves->values[DEMUR_MEASURE_SMMCE][c] = curves->values[DEMUR_MEASURE_SMMCE][c + 1];
      continue;
    }
    last_rank = points[c].rank;
    fill_weights(sample, method->ranks[model], points[c].rank, counts, weights);
    curves->values[DEMUR_MEASURE_SMMCE][c] =
        demur_smmce_normalised(sample->risks, sample->labels, weights, sample->n, 2, 0.2);
  }
  fill_site_error(work, method, model, counts, curves);
  demur_extra_curves(work->extra, method->ranks[model], method->n_ranks[model], counts,
                     &work->extra_curves[job]);
}

/* Runs jobs in groups, so that progress and cancelling are looked at between them. */
static gboolean map_with_progress(DemurParallel *parallel, size_t n_jobs, DemurParallelFunc func,
                                  gpointer data, const DemurProgress *progress, double start,
                                  double end, GError **error);

typedef struct {
  DemurParallelFunc func;
  gpointer data;
  size_t offset;
} OffsetJob;

static void
run_offset(size_t chunk, guint worker, gpointer data) {
  const OffsetJob *job = data;
  job->func(job->offset + chunk, worker, job->data);
}

static gboolean
map_with_progress(DemurParallel *parallel, size_t n_jobs, DemurParallelFunc func, gpointer data,
                  const DemurProgress *progress, double start, double end, GError **error) {
  const size_t group = MAX((n_jobs + 49) / 50, demur_parallel_n_threads(parallel));
  for (size_t first = 0; first < n_jobs; first += group) {
    const double done = (double)first / (double)n_jobs;
    if (!demur_progress_step(progress, start + done * (end - start), "evaluating", error))
      return FALSE;
    OffsetJob job = {func, data, first};
    demur_parallel_map(parallel, MIN(group, n_jobs - first), run_offset, &job);
  }
  return TRUE;
}

/* --- from the jobs' numbers to the result --- */

/* Mean over the models of a method at trial t. */
static double
mean_over_models(const Work *work, size_t first_column, size_t n_models, size_t trial,
                 double (*value)(const TrialCurves *, const void *), const void *argument) {
  double sum = 0.0;
  for (size_t m = 0; m < n_models; m++)
    sum += value(&work->curves[(first_column + m) * work->n_trials + trial], argument);
  return sum / (double)n_models;
}

typedef struct {
  DemurMeasure measure;
  size_t coverage;
} CurveAddress;

static double
curve_value(const TrialCurves *curves, const void *argument) {
  const CurveAddress *address = argument;
  return curves->values[address->measure][address->coverage];
}

static double
debiased_value(const TrialCurves *curves, const void *argument) {
  return curves->debiased2[*(const size_t *)argument];
}

static double
site_auc_value(const TrialCurves *curves, const void *argument) {
  return curves->site_error2_auc;
}

/* Trials 1.. of all models as one array. */
static size_t
gather_trials(const Work *work, size_t first_column, size_t n_models,
              double (*value)(const TrialCurves *, const void *), const void *argument,
              double *out) {
  size_t n = 0;
  for (size_t m = 0; m < n_models; m++)
    for (size_t t = 1; t < work->n_trials; t++)
      out[n++] = value(&work->curves[(first_column + m) * work->n_trials + t], argument);
  return n;
}

static void
fill_curves(const Work *work, size_t first_column, const DemurMethod *method,
            DemurMethodResult *result) {
  const size_t n_models = method->n_models, n = work->sample->n;
  g_autofree double *trials = g_new(double, n_models * work->n_trials);
  double noise_curve[DEMUR_N_COVERAGES], debiased_curve[DEMUR_N_COVERAGES];
  for (size_t c = 0; c < DEMUR_N_COVERAGES; c++) {
    double realised = 0.0, noise = 0.0;
    for (size_t m = 0; m < n_models; m++) {
      const size_t column = first_column + m;
      realised += (double)work->curves[column * work->n_trials].n_selected[c] / (double)n;
      for (size_t d = 0; d < work->n_noise_draws; d++)
        noise += work->replicates->noise[(d * work->n_columns + column) * DEMUR_N_COVERAGES + c];
    }
    realised /= (double)n_models;
    noise_curve[c] =
        work->n_noise_draws > 0 ? noise / (double)(n_models * work->n_noise_draws) : NAN;
    debiased_curve[c] = mean_over_models(work, first_column, n_models, 0, debiased_value, &c);
    for (DemurMeasure measure = 0; measure < DEMUR_N_MEASURES; measure++) {
      DemurCurvePoint *point = &result->curve[measure][c];
      const CurveAddress address = {measure, c};
      const gboolean binned = measure == DEMUR_MEASURE_SBCE2 || measure == DEMUR_MEASURE_SBCEINF;
      *point = (DemurCurvePoint){
          .coverage = work->coverages[c],
          .realised = realised,
          .point = mean_over_models(work, first_column, n_models, 0, curve_value, &address),
          .debiased = NAN,
          .noise_floor = NAN,
          .n_bins = binned ? work->curves[first_column * work->n_trials].n_bins[c] : 0};
      size_t n_trials = gather_trials(work, first_column, n_models, curve_value, &address, trials);
      if (measure == DEMUR_MEASURE_SITE_ERROR) {
        point->point = demur_signed_root(point->point);
        for (size_t t = 0; t < n_trials; t++)
          trials[t] = demur_signed_root(trials[t]);
      }
      demur_mean_sd(trials, n_trials, &point->mean, &point->sd);
      if (measure == DEMUR_MEASURE_SBCE2) {
        point->debiased = demur_signed_root(debiased_curve[c]);
        point->noise_floor = noise_curve[c];
      }
    }
  }
  result->debiased_auc =
      demur_signed_root(demur_coverage_auc(work->coverages, debiased_curve, DEMUR_N_COVERAGES));
  result->noise_floor_auc = demur_coverage_auc(work->coverages, noise_curve, DEMUR_N_COVERAGES);

  for (DemurMeasure measure = 0; measure < DEMUR_N_MEASURES; measure++) {
    DemurEstimate *estimate = &result->auc[measure];
    if (measure == DEMUR_MEASURE_SITE_ERROR) {
      estimate->point = demur_signed_root(
          mean_over_models(work, first_column, n_models, 0, site_auc_value, NULL));
      const size_t n_trials =
          gather_trials(work, first_column, n_models, site_auc_value, NULL, trials);
      for (size_t t = 0; t < n_trials; t++)
        trials[t] = demur_signed_root(trials[t]);
      demur_mean_sd(trials, n_trials, &estimate->mean, &estimate->sd);
      continue;
    }
    double curve[DEMUR_N_COVERAGES];
    for (size_t c = 0; c < DEMUR_N_COVERAGES; c++)
      curve[c] = result->curve[measure][c].point;
    estimate->point = demur_coverage_auc(work->coverages, curve, DEMUR_N_COVERAGES);
    size_t n_trials = 0;
    for (size_t m = 0; m < n_models; m++)
      for (size_t t = 1; t < work->n_trials; t++) {
        const TrialCurves *curves = &work->curves[(first_column + m) * work->n_trials + t];
        trials[n_trials++] =
            demur_coverage_auc(work->coverages, curves->values[measure], DEMUR_N_COVERAGES);
      }
    demur_mean_sd(trials, n_trials, &estimate->mean, &estimate->sd);
  }
}

/* AUC and estimates of one extra measure, or of the area under a risk-coverage curve. */
static DemurEstimate
estimate_of(const Work *work, size_t first_column, size_t n_models,
            double (*value)(const DemurExtraCurves *, DemurExtra), DemurExtra extra) {
  DemurEstimate estimate = {0.0, NAN, NAN};
  g_autofree double *trials = g_new(double, n_models * work->n_trials);
  size_t n_trials = 0;
  for (size_t m = 0; m < n_models; m++) {
    const DemurExtraCurves *curves = &work->extra_curves[(first_column + m) * work->n_trials];
    estimate.point += value(&curves[0], extra) / (double)n_models;
    for (size_t t = 1; t < work->n_trials; t++)
      trials[n_trials++] = value(&curves[t], extra);
  }
  demur_mean_sd(trials, n_trials, &estimate.mean, &estimate.sd);
  return estimate;
}

static double
extra_auc(const DemurExtraCurves *curves, DemurExtra extra) {
  double coverages[DEMUR_N_EXTRA_COVERAGES];
  demur_extra_coverages(coverages);
  return demur_coverage_auc(coverages, curves->values[extra], DEMUR_N_EXTRA_COVERAGES);
}

static double
aurc_error(const DemurExtraCurves *curves, DemurExtra extra) {
  return curves->aurc_error;
}

static double
aurc_brier(const DemurExtraCurves *curves, DemurExtra extra) {
  return curves->aurc_brier;
}

static void
fill_extras(const Work *work, size_t first_column, size_t n_models, DemurMethodResult *result) {
  double coverages[DEMUR_N_EXTRA_COVERAGES];
  demur_extra_coverages(coverages);
  g_autofree double *trials = g_new(double, n_models * work->n_trials);
  for (size_t c = 0; c < DEMUR_N_EXTRA_COVERAGES; c++) {
    double realised = 0.0;
    for (size_t m = 0; m < n_models; m++)
      realised += (double)work->extra_curves[(first_column + m) * work->n_trials].n_selected[c] /
                  (double)work->sample->n / (double)n_models;
    for (DemurExtra extra = 0; extra < DEMUR_N_EXTRAS; extra++) {
      DemurCurvePoint *point = &result->extra_curve[extra][c];
      *point = (DemurCurvePoint){
          .coverage = coverages[c], .realised = realised, .debiased = NAN, .noise_floor = NAN};
      size_t n_trials = 0;
      for (size_t m = 0; m < n_models; m++) {
        const DemurExtraCurves *curves = &work->extra_curves[(first_column + m) * work->n_trials];
        point->point += curves[0].values[extra][c] / (double)n_models;
        for (size_t t = 1; t < work->n_trials; t++)
          trials[n_trials++] = curves[t].values[extra][c];
      }
      demur_mean_sd(trials, n_trials, &point->mean, &point->sd);
    }
  }
  for (DemurExtra extra = 0; extra < DEMUR_N_EXTRAS; extra++)
    result->extra_auc[extra] = demur_extra_has_auc(extra)
                                   ? estimate_of(work, first_column, n_models, extra_auc, extra)
                                   : (DemurEstimate){NAN, NAN, NAN};
  result->aurc_error = estimate_of(work, first_column, n_models, aurc_error, 0);
  result->aurc_brier = estimate_of(work, first_column, n_models, aurc_brier, 0);
}

/* Intervals of the AUC of the debiased and of the site error: see evaluation/extra.h. */
static void
fill_auc_intervals(const Work *work, size_t k, size_t first_column, DemurMethodResult *result) {
  const size_t n_methods = work->methods->len, n = work->n_bootstrap;
  const size_t n_units = demur_sample_n_units(work->sample, work->unit);
  const DemurMethod *method = work->methods->pdata[k];
  g_autofree double *replicates = g_new(double, MAX(n, 1));
  double plain2 = 0.0, debiased2 = 0.0;
  for (size_t m = 0; m < method->n_models; m++) {
    const TrialCurves *curves = &work->curves[(first_column + m) * work->n_trials];
    double squares[DEMUR_N_COVERAGES];
    for (size_t c = 0; c < DEMUR_N_COVERAGES; c++)
      squares[c] = curves->values[DEMUR_MEASURE_SBCE2][c] * curves->values[DEMUR_MEASURE_SBCE2][c];
    plain2 += demur_coverage_auc(work->coverages, squares, DEMUR_N_COVERAGES);
    debiased2 += demur_coverage_auc(work->coverages, curves->debiased2, DEMUR_N_COVERAGES);
  }
  plain2 /= (double)method->n_models;
  debiased2 /= (double)method->n_models;
  double low, high;
  for (size_t b = 0; b < n; b++)
    replicates[b] = work->replicates->debiased2_auc[b * n_methods + k];
  demur_interval_basic(replicates, n, debiased2, plain2, n_units, LEVEL, &low, &high);
  result->debiased_auc_interval = (DemurInterval){demur_signed_root(low), demur_signed_root(high)};
  double se;
  const double site2 = demur_replicates_site2_auc(work->replicates, k, &se);
  for (size_t b = 0; b < n; b++) {
    replicates[b] = work->replicates->site2_auc[b * n_methods + k];
    if (work->unit == DEMUR_UNIT_SITE)
      replicates[b] = (replicates[b] - site2) / work->replicates->site2_se[b * n_methods + k];
  }
  if (work->unit == DEMUR_UNIT_SITE)
    demur_interval_studentised(replicates, n, site2, se, n_units, LEVEL, &low, &high);
  else
    demur_interval_expanded(replicates, n, n_units, LEVEL, &low, &high);
  result->site_error_auc_interval =
      (DemurInterval){demur_signed_root(low), demur_signed_root(high)};
}

/* Rejection of each class; the intervals come from demur_operating_intervals. */
static void
fill_rejection(const Work *work, const DemurMethod *method, gssize max_rank,
               DemurOperatingPoint *at) {
  const DemurSample *sample = work->sample;
  const size_t k = sample->n_classes;
  at->n_labels = k;
  at->rejected_by_label = g_new0(DemurRejection, k);
  size_t n_rejected = 0;
  for (size_t i = 0; i < sample->n; i++) {
    DemurRejection *label = &at->rejected_by_label[sample->classes[i]];
    label->n_all++;
    if ((gssize)method->ranks[0][i] > max_rank) {
      label->n_rejected++;
      n_rejected++;
    }
  }
  for (size_t label = 0; label < k; label++) {
    DemurRejection *r = &at->rejected_by_label[label];
    r->label = (int)label;
    r->share_of_all = (double)r->n_all / (double)sample->n;
    r->share_of_rejected = n_rejected > 0 ? (double)r->n_rejected / (double)n_rejected : NAN;
    r->rate = r->n_all > 0 ? (double)r->n_rejected / (double)r->n_all : NAN;
  }
}

static void
fill_reliability(const Work *work, const DemurMethod *method, gssize max_rank,
                 DemurOperatingPoint *at) {
  const DemurSample *sample = work->sample;
  at->n_reliability = demur_selective_n_bins(at->n_accepted, work->min_bin_size);
  if (at->n_reliability == 0)
    return;
  const size_t small = at->n_accepted / at->n_reliability,
               n_large = at->n_accepted % at->n_reliability;
  size_t bin = 0;
  for (size_t i = 0; i < sample->n; i++) {
    if ((gssize)method->ranks[0][i] > max_rank)
      continue;
    DemurReliabilityBin *b = &at->reliability[bin];
    b->n++;
    b->mean_risk += sample->risks[i];
    b->observed += sample->labels[i];
    if (b->n == small + (bin < n_large))
      bin++;
  }
  for (size_t b = 0; b < at->n_reliability; b++) {
    DemurReliabilityBin *r = &at->reliability[b];
    demur_interval_wilson(r->observed, (double)r->n, LEVEL, &r->low, &r->high);
    r->mean_risk /= (double)r->n;
    r->observed /= (double)r->n;
  }
}

static size_t
histogram_bin(const DemurEvaluation *evaluation, double confidence) {
  const double place = (confidence - evaluation->histogram_low) / evaluation->histogram_width;
  return (size_t)CLAMP(place, 0.0, (double)(DEMUR_N_HISTOGRAM_BINS - 1));
}

/* The last rank whose score is at least the threshold; -1: none. */
static gssize
rank_at_threshold(const DemurMethod *method, size_t model, size_t n, double threshold) {
  gssize rank = -1;
  for (size_t i = 0; i < n; i++)
    if (method->scores[model][i] >= threshold)
      rank = MAX(rank, (gssize)method->ranks[model][i]);
  return rank;
}

/* What stands on the left of comparisons: the selectors and `mc`. */
static gboolean
is_compared(const DemurMethod *method) {
  return method->is_selector || strcmp(method->name, "mc") == 0;
}

/* Whose operating points have intervals of everything, and are applied to groups. */
static gboolean
has_group_points(const DemurMethod *method) {
  return is_compared(method) || strcmp(method->name, "full") == 0 ||
         strcmp(method->name, "confidence") == 0;
}

/* One threshold, to be found and measured; at [..] of its method's result. */
typedef struct {
  size_t method;
  double coverage;
  const double *tuned; /* [n_models]; NULL: of this split's own scores */
  double threshold;    /* of model 1 */
} PointPlan;

/* demur_coverage_threshold by the ranks there are, without a sort. */
static double
threshold_of_coverage(const DemurMethod *method, size_t model, size_t n, double coverage,
                      gssize *rank) {
  const size_t n_ranks = method->n_ranks[model];
  g_autofree guint32 *rank_counts = g_new0(guint32, MAX(n_ranks, 1));
  for (size_t i = 0; i < n; i++)
    rank_counts[method->ranks[model][i]]++;
  const size_t wanted = demur_coverage_count(coverage, n);
  *rank = -1;
  for (size_t sum = 0; sum < wanted;)
    sum += rank_counts[++*rank];
  for (size_t i = 0; i < n; i++)
    if ((gssize)method->ranks[model][i] == *rank)
      return method->scores[model][i];
  return INFINITY;
}

static void
find_threshold(const Work *work, PointPlan *plan, DemurOperating *point) {
  const DemurMethod *method = work->methods->pdata[plan->method];
  const size_t n = work->sample->n;
  *point = (DemurOperating){.method = plan->method,
                            .fixed_threshold = plan->tuned != NULL,
                            .coverage = plan->coverage,
                            .max_ranks = g_new(gssize, method->n_models),
                            .intervals = has_group_points(method) ? DEMUR_INTERVALS_ALL
                                                                  : DEMUR_INTERVALS_RATES};
  for (size_t m = 0; m < method->n_models; m++) {
    double threshold;
    if (plan->tuned != NULL) {
      threshold = plan->tuned[m];
      point->max_ranks[m] = rank_at_threshold(method, m, n, threshold);
    } else {
      threshold = threshold_of_coverage(method, m, n, plan->coverage, &point->max_ranks[m]);
    }
    if (m == 0)
      plan->threshold = threshold;
  }
}

typedef struct {
  const Work *work;
  const DemurEvaluation *evaluation;
  const PointPlan *plans;
  DemurOperatingPoint **at;
} PointsJob;

static void
fill_operating_point(size_t index, guint worker, gpointer data) {
  const PointsJob *job = data;
  const Work *work = job->work;
  const PointPlan *plan = &job->plans[index];
  const DemurMethod *method = work->methods->pdata[plan->method];
  const gssize *ranks = work->points[index].max_ranks;
  DemurOperatingPoint *at = job->at[index];
  const DemurSample *sample = work->sample;
  *at = (DemurOperatingPoint){
      .coverage = plan->coverage, .from_tune = plan->tuned != NULL, .threshold = plan->threshold};
  double debiased2 = 0.0, site2 = 0.0;
  g_autofree double *weights = g_new(double, sample->n);
  for (size_t m = 0; m < method->n_models; m++) {
    const double share = 1.0 / (double)method->n_models;
    const DemurSelectiveSample selective = selective_sample(sample, method, m, NULL);
    DemurSelectivePoint point;
    demur_selective_at_rank(&selective, ranks[m], work->min_bin_size, work->scratch[worker],
                            &point);
    at->measures[DEMUR_MEASURE_SBCE2] += share * point.error2;
    at->measures[DEMUR_MEASURE_SBCEINF] += share * point.error_inf;
    at->measures[DEMUR_MEASURE_BRIER] += share * point.brier;
    at->measures[DEMUR_MEASURE_ACCURACY] += share * point.accuracy;
    debiased2 += share * point.debiased2;
    const DemurSiteSample by_site = site_sample(sample, method, m, NULL);
    site2 += share * demur_site_error_at_rank(&by_site, ranks[m]);
    fill_weights(sample, method->ranks[m], ranks[m], NULL, weights);
    at->measures[DEMUR_MEASURE_SMMCE] +=
        share * demur_smmce_normalised(sample->risks, sample->labels, weights, sample->n, 2, 0.2);
    double extras[DEMUR_N_EXTRAS];
    demur_extra_at_rank(work->extra, method->ranks[m], ranks[m], NULL, extras,
                        m == 0 ? at->decision : NULL);
    for (DemurExtra extra = 0; extra < DEMUR_N_EXTRAS; extra++)
      at->extra[extra] += share * extras[extra];
    if (m == 0) {
      at->n_accepted = point.n_selected;
      at->n_bins = point.n_bins;
      at->realised = (double)point.n_selected / (double)sample->n;
    }
  }
  at->measures[DEMUR_MEASURE_SITE_ERROR] = demur_signed_root(site2);
  at->debiased = demur_signed_root(debiased2);
  for (size_t i = 0; i < sample->n; i++)
    if ((gssize)method->ranks[0][i] <= ranks[0])
      at->histogram[histogram_bin(job->evaluation, sample->confidences[i])]++;
  fill_reliability(work, method, ranks[0], at);
  fill_rejection(work, method, ranks[0], at);
  demur_operating_intervals(work->replicates, index, at);
}

static DemurComparisonVerdict
verdict_of(double low, double high, size_t n_units) {
  if (!isfinite(low) || !isfinite(high) || n_units < MIN_UNITS)
    return DEMUR_VERDICT_CANNOT_BE_DECIDED;
  return high < 0.0  ? DEMUR_VERDICT_BETTER
         : low > 0.0 ? DEMUR_VERDICT_WORSE
                     : DEMUR_VERDICT_NO_DIFFERENCE_SHOWN;
}

/* Differences in an AUC between every selector (and mc) and every baseline, paired by replicate.
 * root: the replicates hold squares of which the signed root is compared. */
static void
add_comparisons(const Work *work, DemurEvaluation *evaluation, const DemurMethodResult *results,
                const char *measure, const double *replicates, gboolean root,
                double (*point)(const DemurMethodResult *)) {
  const size_t n_methods = work->methods->len;
  g_autofree double *differences = g_new(double, MAX(work->n_bootstrap, 1));
  for (size_t s = 0; s < n_methods; s++) {
    const DemurMethod *method = work->methods->pdata[s];
    if (!is_compared(method))
      continue;
    for (size_t k = 0; k < n_methods; k++) {
      const DemurMethod *other = work->methods->pdata[k];
      if (k == s || other->is_selector || (!method->is_selector && is_compared(other)))
        continue;
      for (size_t b = 0; b < work->n_bootstrap; b++) {
        const double x = replicates[b * n_methods + s], y = replicates[b * n_methods + k];
        differences[b] = root ? demur_signed_root(x) - demur_signed_root(y) : x - y;
      }
      DemurComparison *c = &evaluation->comparisons[evaluation->n_comparisons++];
      c->method = g_strdup(method->name);
      c->against = g_strdup(other->name);
      c->recalibrated = results[s].recalibrated;
      c->measure = g_strdup(measure);
      c->difference = point(&results[s]) - point(&results[k]);
      c->level = LEVEL;
      c->unit = g_strdup(demur_unit_name(work->unit));
      c->n_units = demur_sample_n_units(work->sample, work->unit);
      demur_interval_expanded(differences, work->n_bootstrap, c->n_units, LEVEL, &c->low, &c->high);
      c->verdict = verdict_of(c->low, c->high, c->n_units);
    }
  }
}

static double
plain_point(const DemurMethodResult *result) {
  return result->auc[DEMUR_MEASURE_SBCE2].point;
}

static double
debiased_point(const DemurMethodResult *result) {
  return result->debiased_auc;
}

static double
site_point(const DemurMethodResult *result) {
  return result->auc[DEMUR_MEASURE_SITE_ERROR].point;
}

static void
add_warning(DemurEvaluation *evaluation, char *sentence) {
  evaluation->warnings = g_renew(char *, evaluation->warnings, evaluation->n_warnings + 2);
  evaluation->warnings[evaluation->n_warnings++] = sentence;
  evaluation->warnings[evaluation->n_warnings] = NULL;
}

/* Warns where a selector refuses one label much more often than scans in general. */
static void
warn_of_rejection(DemurEvaluation *evaluation) {
  for (size_t k = 0; k < evaluation->n_methods; k++) {
    const DemurMethodResult *method = &evaluation->methods[k];
    if (!g_str_has_prefix(method->name, "selector:") || method->n_at == 0)
      continue;
    const DemurOperatingPoint *at = &method->at[0];
    for (size_t l = 0; l < at->n_labels; l++) {
      const DemurRejection *r = &at->rejected_by_label[l];
      if (at->realised < 1.0 && r->rate > DEMUR_REFUSED_MUCH_MORE * (1.0 - at->realised) &&
          r->n_rejected >= DEMUR_REFUSED_FEWEST)
        add_warning(evaluation,
                    g_strdup_printf("At coverage %.2g %s refuses %.1f %% of the scans with label "
                                    "%d, but %.1f %% of all scans.",
                                    at->coverage, method->title, 100.0 * r->rate, r->label,
                                    100.0 * (1.0 - at->realised)));
    }
  }
}

static gboolean
check_unseen(const DemurEvaluateInput *input, const guint32 *rows, size_t n_rows,
             gboolean *in_sample, GError **error) {
  *in_sample = FALSE;
  for (size_t s = 0; s < input->n_selectors; s++) {
    const size_t n_seen =
        demur_selector_count_seen(input->selectors[s], input->cohort, rows, n_rows);
    if (n_seen == 0)
      continue;
    *in_sample = TRUE;
    if (!input->in_sample) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE,
                  "%zu patients of split '%s' were used to make selector '%s': measured on them it "
                  "would look better than it is; evaluate on another split, or say --in-sample, "
                  "which is printed on every result",
                  n_seen, input->split, input->names[s]);
      return FALSE;
    }
  }
  return TRUE;
}

static DemurUnit
unit_of_intervals(const DemurSample *sample) {
  return sample->n_sites >= MIN_UNITS ? DEMUR_UNIT_SITE : DEMUR_UNIT_PATIENT;
}

static double
net_benefit_threshold(const DemurEvaluateInput *input, const DemurSample *sample) {
  if (sample->top_label)
    return NAN;
  if (!isnan(input->net_benefit_threshold))
    return input->net_benefit_threshold;
  double positives = 0.0;
  for (size_t i = 0; i < sample->n; i++)
    positives += sample->labels[i];
  return positives / (double)sample->n;
}

static DemurEvaluation *
describe(const DemurEvaluateInput *input, const DemurSample *sample, const guint32 *rows) {
  DemurCohort *cohort = input->cohort;
  DemurEvaluation *e = g_new0(DemurEvaluation, 1);
  e->cohort = g_strdup(cohort->name);
  e->split = g_strdup(input->split);
  e->model = g_strdup(cohort->model);
  e->source = g_strdup(cohort->source);
  e->simulated = cohort->simulated;
  e->seed = input->seed;
  e->n_scans = sample->n;
  e->n_sites = sample->n_sites;
  e->n_classes = cohort->n_classes;
  g_autoptr(GHashTable) patients = g_hash_table_new(NULL, NULL);
  e->prevalence = g_new0(double, e->n_classes);
  for (size_t i = 0; i < sample->n; i++) {
    e->prevalence[sample->classes[i]] += 1.0;
    g_hash_table_add(patients, GUINT_TO_POINTER(cohort->patients[sample->rows[i]]));
  }
  for (size_t k = 0; k < e->n_classes; k++)
    e->prevalence[k] /= (double)sample->n;
  e->n_patients = g_hash_table_size(patients);
  e->digest = demur_cohort_digest(cohort, rows, sample->n);
  e->n_resamples = input->n_resamples;
  e->resample_unit = g_strdup(demur_unit_name(input->resample_unit));
  e->min_bin_size = input->min_bin_size;
  e->net_benefit_threshold = net_benefit_threshold(input, sample);
  e->interval_unit = g_strdup(demur_unit_name(unit_of_intervals(sample)));
  demur_coverage_grid(DEMUR_N_COVERAGES, e->coverages);
  e->histogram_low = sample->top_label ? 0.0 : 0.5;
  e->histogram_width = (1.0 - e->histogram_low) / DEMUR_N_HISTOGRAM_BINS;
  for (size_t i = 0; i < sample->n; i++)
    e->histogram_all[histogram_bin(e, sample->confidences[i])]++;
  return e;
}

/* One kind of risk: the selectors that see it, and every baseline on it. */
typedef struct {
  gboolean recalibrated;
  DemurCohort *view;
  const DemurSelector *base; /* whose reference set and corrector the baselines use */
  size_t n_selectors;
  size_t *selectors; /* [n_selectors] index into the input's */
} RiskGroup;

static void
risk_group_clear(gpointer data) {
  RiskGroup *group = data;
  demur_cohort_unref(group->view);
  g_free(group->selectors);
}

static gboolean
same_recalibration(const DemurRecalibration *a, const DemurRecalibration *b) {
  return a->kind == b->kind && a->slope == b->slope && a->intercept == b->intercept &&
         a->n_knots == b->n_knots &&
         memcmp(a->knots_x, b->knots_x, a->n_knots * sizeof(double)) == 0 &&
         memcmp(a->knots_y, b->knots_y, a->n_knots * sizeof(double)) == 0;
}

/* Raw risks first, with the selectors that see them; then each recalibration with its selectors. */
static GArray *
group_by_risk(const DemurEvaluateInput *input, GError **error) {
  g_autoptr(GArray) groups = g_array_new(FALSE, TRUE, sizeof(RiskGroup));
  g_array_set_clear_func(groups, risk_group_clear);
  RiskGroup raw = {.view = demur_cohort_ref(input->cohort),
                   .base = input->selectors[0],
                   .selectors = g_new0(size_t, input->n_selectors)};
  g_array_append_val(groups, raw);
  for (size_t s = 0; s < input->n_selectors; s++) {
    const DemurSelector *selector = input->selectors[s];
    RiskGroup *found = NULL;
    for (guint g = 0; g < groups->len && found == NULL; g++) {
      RiskGroup *group = &g_array_index(groups, RiskGroup, g);
      if (group->recalibrated == (demur_selector_recalibration(selector) != NULL) &&
          (!group->recalibrated || same_recalibration(demur_selector_recalibration(group->base),
                                                      demur_selector_recalibration(selector))))
        found = group;
    }
    if (found == NULL) {
      RiskGroup group = {.recalibrated = TRUE,
                         .view = demur_selector_view(selector, input->cohort, error),
                         .base = selector,
                         .selectors = g_new0(size_t, input->n_selectors)};
      g_array_append_val(groups, group);
      if (group.view == NULL)
        return NULL;
      found = &g_array_index(groups, RiskGroup, groups->len - 1);
    }
    if (!found->recalibrated && found->n_selectors == 0)
      found->base = selector;
    found->selectors[found->n_selectors++] = s;
  }
  return g_steal_pointer(&groups);
}

/* Room for more results and comparisons behind those there are. */
static void
grow(DemurEvaluation *e, size_t n_methods, size_t n_comparisons) {
  e->methods = g_renew(DemurMethodResult, e->methods, e->n_methods + n_methods);
  memset(e->methods + e->n_methods, 0, n_methods * sizeof *e->methods);
  e->comparisons = g_renew(DemurComparison, e->comparisons, e->n_comparisons + n_comparisons);
  memset(e->comparisons + e->n_comparisons, 0, n_comparisons * sizeof *e->comparisons);
}

/* The thresholds of every method: 0.9, 0.7, 0.5 from the split, then those that were tuned. */
static GArray *
plan_points(const DemurEvaluateInput *input, const RiskGroup *group, const GPtrArray *methods) {
  GArray *plans = g_array_new(FALSE, FALSE, sizeof(PointPlan));
  for (guint k = 0; k < methods->len; k++) {
    const DemurMethod *method = methods->pdata[k];
    for (size_t a = 0; a < G_N_ELEMENTS(operating_coverages); a++) {
      const PointPlan plan = {k, operating_coverages[a], NULL, NAN};
      g_array_append_val(plans, plan);
    }
    if (!method->is_selector || input->n_thresholds == NULL)
      continue;
    const size_t selector = group->selectors[k];
    for (size_t t = 0; t < input->n_thresholds[selector]; t++) {
      const DemurTunedThreshold *tuned = &input->thresholds[selector][t];
      const PointPlan plan = {k, tuned->coverage, tuned->thresholds, NAN};
      g_array_append_val(plans, plan);
    }
  }
  return plans;
}

static void
fill_results(const RiskGroup *group, const Work *work, const size_t *first_columns,
             const GArray *plans, DemurEvaluation *e) {
  const size_t n_methods = work->methods->len;
  grow(e, n_methods, 3 * n_methods * n_methods);
  DemurMethodResult *results = e->methods + e->n_methods;
  e->n_methods += n_methods;
  g_autofree DemurOperatingPoint **at = g_new(DemurOperatingPoint *, MAX(plans->len, 1));
  for (size_t k = 0; k < n_methods; k++) {
    const DemurMethod *method = work->methods->pdata[k];
    DemurMethodResult *result = &results[k];
    result->name = g_strdup(method->name);
    result->title = g_strdup(method->title);
    result->recalibrated = group->recalibrated;
    result->n_models = method->n_models;
    e->n_models = MAX(e->n_models, method->n_models);
    fill_curves(work, first_columns[k], method, result);
    fill_extras(work, first_columns[k], method->n_models, result);
    fill_auc_intervals(work, k, first_columns[k], result);
    result->n_at = work->first_points[k + 1] - work->first_points[k];
    result->at = g_new0(DemurOperatingPoint, result->n_at);
    for (size_t a = 0; a < result->n_at; a++)
      at[work->first_points[k] + a] = &result->at[a];
  }
  PointsJob points = {work, e, (const PointPlan *)(gconstpointer)plans->data, at};
  demur_parallel_map(work->parallel, plans->len, fill_operating_point, &points);
  add_comparisons(work, e, results, "sbce2_auc", work->replicates->plain_auc, FALSE, plain_point);
  add_comparisons(work, e, results, "sbce2_debiased_auc", work->replicates->debiased2_auc, TRUE,
                  debiased_point);
  add_comparisons(work, e, results, "site_error_auc", work->replicates->site2_auc, TRUE,
                  site_point);
}

/* The operating points of the whole split, applied to every group. */
static gboolean
add_groups(const DemurEvaluateInput *input, const RiskGroup *risk, const Work *work,
           DemurEvaluation *e, const DemurProgress *progress, GError **error) {
  const DemurSample *sample = work->sample;
  const DemurMethodResult *results = e->methods + e->n_methods - work->methods->len;
  g_autoptr(GArray) thresholds = g_array_new(FALSE, FALSE, sizeof(DemurGroupThreshold));
  g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
  for (guint k = 0; k < work->methods->len; k++) {
    const DemurMethod *method = work->methods->pdata[k];
    if (!has_group_points(method))
      continue;
    for (size_t a = 0; a < results[k].n_at; a++) {
      const DemurOperatingPoint *at = &results[k].at[a];
      DemurGroupThreshold threshold = {k, at->coverage, at->from_tune, NULL};
      if (at->from_tune) {
        threshold.thresholds =
            input->thresholds[risk->selectors[k]][a - G_N_ELEMENTS(operating_coverages)].thresholds;
      } else {
        double *values = g_new(double, method->n_models);
        for (size_t m = 0; m < method->n_models; m++) {
          gssize rank;
          values[m] = threshold_of_coverage(method, m, sample->n, at->coverage, &rank);
        }
        g_ptr_array_add(owned, values);
        threshold.thresholds = values;
      }
      g_array_append_val(thresholds, threshold);
    }
  }
  const DemurGroupsInput groups = {.cohort = risk->view != NULL ? risk->view : input->cohort,
                                   .split = input->split,
                                   .group_by = input->group_by,
                                   .sample = sample,
                                   .methods = work->methods,
                                   .recalibrated = risk->recalibrated,
                                   .n_thresholds = thresholds->len,
                                   .thresholds =
                                       (const DemurGroupThreshold *)(gconstpointer)thresholds->data,
                                   .seed = input->seed,
                                   .n_bootstrap = input->n_bootstrap,
                                   .n_noise_draws = input->n_noise_draws,
                                   .min_bin_size = input->min_bin_size};
  return demur_groups_add(&groups, e, work->parallel, progress, error);
}

/* The rows of the cells as a sample of their own, for the resampled trials of a large sample. */
static void
use_cells(Work *work, const DemurEvaluateInput *input) {
  const DemurSample *sample = work->sample;
  if (sample->n < DEMUR_CELLS_FROM || work->n_trials < 2)
    return;
  work->cells = demur_cells_new(sample, work->extra->logits, TRIAL_CELLS);
  const size_t n_rows = 2 * work->cells->n_cells;
  work->zero_ranks = g_new0(guint32, n_rows);
  DemurSample *rows = work->cell_sample = g_new0(DemurSample, 1);
  rows->n = n_rows;
  rows->n_classes = sample->n_classes;
  rows->top_label = sample->top_label;
  rows->risks = g_memdup2(work->cells->risks, n_rows * sizeof(double));
  rows->labels = g_memdup2(work->cells->labels, n_rows * sizeof(double));
  work->cell_extra =
      demur_extra_setup_new(rows, input->min_bin_size, net_benefit_threshold(input, sample));
}

static void
forget_cells(Work *work) {
  demur_extra_setup_free(work->cell_extra);
  demur_sample_free(work->cell_sample);
  demur_cells_free(work->cells);
  g_free(work->zero_ranks);
}

/* Trials, noise floor and bootstrap of the methods on one sample; appended to the evaluation. */
static gboolean
evaluate_sample(const DemurEvaluateInput *input, const RiskGroup *group, const DemurSample *sample,
                const GPtrArray *methods, DemurParallel *parallel, const DemurProgress *progress,
                DemurEvaluation *evaluation, GError **error) {
  Work work = {.sample = sample,
               .methods = methods,
               .min_bin_size = input->min_bin_size,
               .n_bootstrap = input->n_bootstrap,
               .n_noise_draws = input->n_noise_draws,
               .n_trials = input->n_resamples + 1,
               .parallel = parallel,
               .unit = unit_of_intervals(sample)};
  demur_coverage_grid(DEMUR_N_COVERAGES, work.coverages);
  demur_coverage_grid(DEMUR_N_SITE_COVERAGES, work.site_coverages);
  for (guint k = 0; k < methods->len; k++)
    work.n_columns += ((DemurMethod *)methods->pdata[k])->n_models;
  g_autofree guint32 *column_method = g_new(guint32, work.n_columns);
  g_autofree guint32 *column_model = g_new(guint32, work.n_columns);
  g_autofree size_t *first_columns = g_new(size_t, methods->len);
  size_t n_columns = 0;
  for (guint k = 0; k < methods->len; k++) {
    const DemurMethod *method = methods->pdata[k];
    first_columns[k] = n_columns;
    for (size_t m = 0; m < method->n_models; m++) {
      column_method[n_columns] = k;
      column_model[n_columns++] = (guint32)m;
    }
  }
  work.column_method = column_method;
  work.column_model = column_model;
  const guint n_threads = demur_parallel_n_threads(parallel);
  g_autofree DemurSelectiveScratch **scratch = g_new(DemurSelectiveScratch *, n_threads);
  for (guint w = 0; w < n_threads; w++)
    scratch[w] = demur_selective_scratch_new(sample->n);
  work.scratch = scratch;
  g_autofree guint32 **counts = g_new0(guint32 *, work.n_trials);
  for (size_t t = 1; t < work.n_trials; t++) {
    counts[t] = g_new(guint32, sample->n);
    demur_sample_resample(sample, input->resample_unit,
                          demur_random_stream(input->seed, DEMUR_STREAM_TRIAL, t - 1, 0, 0),
                          counts[t]);
  }
  work.counts = counts;
  g_autofree TrialCurves *curves = g_new0(TrialCurves, work.n_columns * work.n_trials);
  work.curves = curves;
  g_autoptr(DemurExtraSetup) extra =
      demur_extra_setup_new(sample, input->min_bin_size, net_benefit_threshold(input, sample));
  g_autofree DemurExtraCurves *extra_curves =
      g_new0(DemurExtraCurves, work.n_columns * work.n_trials);
  work.extra = extra;
  work.extra_curves = extra_curves;
  use_cells(&work, input);
  g_autoptr(GArray) plans = plan_points(input, group, methods);
  g_autofree DemurOperating *points = g_new0(DemurOperating, MAX(plans->len, 1));
  g_autofree size_t *first_points = g_new0(size_t, methods->len + 1);
  work.points = points;
  work.first_points = first_points;
  for (guint p = 0; p < plans->len; p++) {
    PointPlan *plan = &g_array_index(plans, PointPlan, p);
    find_threshold(&work, plan, &points[p]);
    first_points[plan->method + 1] = p + 1;
  }
  const DemurReplicatesInput replicates = {.setup = extra,
                                           .methods = methods,
                                           .unit = work.unit,
                                           .seed = input->seed,
                                           .n_bootstrap = work.n_bootstrap,
                                           .n_noise_draws = work.n_noise_draws,
                                           .with_curves = TRUE,
                                           .n_points = plans->len,
                                           .points = points};
  work.replicates = demur_replicates_new(&replicates, parallel);
  evaluation->in_cells |= work.replicates->in_cells;
  gboolean ok = map_with_progress(parallel, work.n_columns * work.n_trials, run_trial, &work,
                                  progress, 0.05, 0.25, error) &&
                map_with_progress(parallel, work.n_noise_draws, demur_replicates_redraw,
                                  work.replicates, progress, 0.25, 0.35, error) &&
                map_with_progress(parallel, work.n_bootstrap, demur_replicates_draw,
                                  work.replicates, progress, 0.35, 0.9, error);
  if (ok) {
    fill_results(group, &work, first_columns, plans, evaluation);
    ok = add_groups(input, group, &work, evaluation, progress, error);
  }
  demur_replicates_free(work.replicates);
  demur_operating_clear(points, plans->len);
  forget_cells(&work);
  for (guint w = 0; w < n_threads; w++)
    demur_selective_scratch_free(scratch[w]);
  for (size_t t = 1; t < work.n_trials; t++)
    g_free(counts[t]);
  return ok;
}

/* Outlier scores of rows, in the order of the sample. */
static double *
in_sample_order(const DemurCohort *cohort, const guint32 *rows, size_t n_rows,
                const double *outlier, const DemurSample *sample) {
  g_autofree guint32 *places = g_new0(guint32, MAX(cohort->n_scans, 1));
  for (size_t i = 0; i < n_rows; i++)
    places[rows[i]] = (guint32)i;
  double *ordered = g_new(double, MAX(n_rows, 1) * DEMUR_N_OUTLIER);
  for (size_t i = 0; i < sample->n; i++)
    memcpy(ordered + i * DEMUR_N_OUTLIER,
           outlier + (size_t)places[sample->rows[i]] * DEMUR_N_OUTLIER,
           DEMUR_N_OUTLIER * sizeof(double));
  return ordered;
}

/* One kind of risk: its sample and methods, then the above. */
static gboolean
evaluate_group(const DemurEvaluateInput *input, const RiskGroup *group, const guint32 *rows,
               size_t n_rows, const double *outlier, DemurParallel *parallel,
               const DemurProgress *progress, DemurEvaluation *evaluation, GError **error) {
  g_autoptr(DemurSample) sample = demur_sample_new(group->view, rows, n_rows, input->split, error);
  if (sample == NULL)
    return FALSE;
  g_autofree DemurSelector **selectors = g_new0(DemurSelector *, group->n_selectors + 1);
  g_autofree char **names = g_new0(char *, group->n_selectors + 1);
  for (size_t s = 0; s < group->n_selectors; s++) {
    selectors[s] = input->selectors[group->selectors[s]];
    names[s] = input->names[group->selectors[s]];
  }
  g_autofree double *ordered =
      outlier != NULL ? in_sample_order(group->view, rows, n_rows, outlier, sample) : NULL;
  g_autoptr(GPtrArray) methods = demur_methods_new(
      selectors, names, group->n_selectors, group->base, group->view, !group->recalibrated, sample,
      ordered, input->seed, parallel, progress, error);
  return methods != NULL &&
         evaluate_sample(input, group, sample, methods, parallel, progress, evaluation, error);
}

DemurEvaluation *
demur_evaluate_methods(const DemurEvaluateInput *input, const DemurSample *sample,
                       const GPtrArray *methods, const guint32 *rows, DemurParallel *parallel,
                       const DemurProgress *progress, GError **error) {
  const DemurProgress none = {0};
  if (!demur_groups_check(input->cohort, input->group_by, error))
    return NULL;
  g_autoptr(DemurEvaluation) evaluation = describe(input, sample, rows);
  evaluation->n_models = 1;
  g_autofree size_t *selectors = g_new0(size_t, methods->len + 1);
  const RiskGroup group = {.n_selectors = 1, .selectors = selectors};
  if (!evaluate_sample(input, &group, sample, methods, parallel, progress ? progress : &none,
                       evaluation, error))
    return NULL;
  return g_steal_pointer(&evaluation);
}

DemurEvaluation *
demur_evaluate(const DemurEvaluateInput *input, DemurParallel *parallel,
               const DemurProgress *progress, GError **error) {
  g_return_val_if_fail(input->n_selectors >= 1, NULL);
  const DemurProgress none = {0};
  if (progress == NULL)
    progress = &none;
  size_t n_rows;
  gboolean in_sample;
  if (!demur_methods_check_alike(input->selectors, input->names, input->n_selectors, error) ||
      !demur_selector_check_cohort(input->selectors[0], input->cohort, error))
    return NULL;
  g_autofree guint32 *rows = demur_cohort_rows(input->cohort, input->split, &n_rows, error);
  if (rows == NULL || !demur_groups_check(input->cohort, input->group_by, error) ||
      !check_unseen(input, rows, n_rows, &in_sample, error))
    return NULL;
  g_autoptr(DemurSample) sample =
      demur_sample_new(input->cohort, rows, n_rows, input->split, error);
  g_autoptr(GArray) groups = sample != NULL ? group_by_risk(input, error) : NULL;
  if (groups == NULL)
    return NULL;
  g_autoptr(DemurEvaluation) evaluation = describe(input, sample, rows);
  evaluation->in_sample = in_sample;
  evaluation->n_models = 1;
  g_autofree double *outlier = NULL;
  if (demur_selector_uses_embeddings(input->selectors[0])) {
    DemurProgressStage stage = {progress, 0.0, 0.2, NULL};
    const DemurProgress staged = demur_progress_stage(&stage);
    outlier = demur_selector_outlier_scores(input->selectors[0], input->cohort, rows, n_rows, NULL,
                                            parallel, &staged, error);
    if (outlier == NULL)
      return NULL;
  }
  /* Selectors stand first in the result: the groups that have any come before raw risks without. */
  for (int pass = 0; pass < 2; pass++)
    for (guint g = 0; g < groups->len; g++) {
      const RiskGroup *group = &g_array_index(groups, RiskGroup, g);
      if ((group->n_selectors > 0) != (pass == 0))
        continue;
      DemurProgressStage stage = {progress, 0.2 + 0.8 * (double)g / (double)groups->len,
                                  0.2 + 0.8 * (double)(g + 1) / (double)groups->len, NULL};
      const DemurProgress staged = demur_progress_stage(&stage);
      if (!evaluate_group(input, group, rows, n_rows, outlier, parallel, &staged, evaluation,
                          error))
        return NULL;
    }
  if (in_sample)
    add_warning(evaluation, g_strdup("In-sample: patients of this split were used to make the "
                                     "selector; these numbers are too good."));
  for (size_t s = 0; s < input->n_selectors; s++) {
    g_autofree char *sentence = demur_selector_untrained_sentence(input->selectors[s]);
    if (sentence != NULL)
      add_warning(evaluation, g_strdup_printf("Selector %s: %s.", input->names[s], sentence));
  }
  warn_of_rejection(evaluation);
  return g_steal_pointer(&evaluation);
}
