/* Layout of the work: jobs of (method, model, trial); each fills the 50 coverages of all measures
 * in one visit (metrics/selective.h, site-error.h, smmce.h). Cost a job: O(n x 50 / 2); the
 * resampled trials of a large sample are counted in cells (evaluation/cells.h): O(n). */
#include "evaluation/trials.h"

#include <math.h>
#include <string.h>

#include "metrics/coverage.h"
#include "metrics/intervals.h"
#include "metrics/smmce.h"

#define TRIAL_CELLS 8192 /* risk cells of a resampled trial; 512 columns */
#define TRIAL_COLUMNS 512

struct DemurTrialsMemory {
  guint n_threads;
  DemurSelectiveScratch **scratch;       /* [n_threads] */
  guint32 **counts;                      /* [n_trials][n], the first NULL: the split as it is */
  const double **weights;                /* [n_trials][n]; NULL: all outcomes are known */
  double *weight_buffers;                /* of the resamples */
  guint32 *column_method, *column_model; /* [n_columns] */
  /* Large samples: the resampled trials in cells. */
  DemurCells *cells;           /* NULL: exact */
  DemurExtraSetup *cell_setup; /* of the rows of the cells as a sample */
  DemurSample *cell_sample;
  guint32 *zero_ranks; /* [rows of the cells] */
};

/* The rows of the cells as a sample of their own, for the resampled trials of a large sample. */
static void
use_cells(DemurTrials *trials) {
  const DemurSample *sample = trials->sample;
  DemurTrialsMemory *memory = trials->memory;
  if (sample->n < DEMUR_CELLS_FROM || trials->n_trials < 2 || sample->weights != NULL)
    return;
  memory->cells = demur_cells_new(sample, trials->setup->logits, TRIAL_CELLS);
  const size_t n_rows = 2 * memory->cells->n_cells;
  memory->zero_ranks = g_new0(guint32, n_rows);
  DemurSample *rows = memory->cell_sample = g_new0(DemurSample, 1);
  rows->n = n_rows;
  rows->n_classes = sample->n_classes;
  rows->top_label = sample->top_label;
  rows->risks = g_memdup2(memory->cells->risks, n_rows * sizeof(double));
  rows->labels = g_memdup2(memory->cells->labels, n_rows * sizeof(double));
  memory->cell_setup = demur_extra_setup_new(rows, trials->setup->min_bin_size,
                                             trials->setup->net_benefit_threshold);
}

typedef struct {
  const DemurEvaluateInput *input;
  DemurTrials *trials;
} Drawing;

/* Resample number i, of trial i + 1. */
static void
draw_resample(size_t i, guint worker, gpointer data) {
  const Drawing *drawing = data;
  const DemurSample *sample = drawing->trials->sample;
  DemurTrialsMemory *memory = drawing->trials->memory;
  guint32 *counts = memory->counts[i + 1] = g_new(guint32, sample->n);
  demur_sample_resample(sample, drawing->input->resample_unit,
                        demur_random_stream(drawing->input->seed, DEMUR_STREAM_TRIAL, i, 0, 0),
                        counts);
  if (sample->weights != NULL)
    memory->weights[i + 1] =
        demur_sample_drawn(sample, counts, memory->weight_buffers + (i + 1) * sample->n).weights;
}

DemurTrials *
demur_trials_new(const DemurEvaluateInput *input, const DemurExtraSetup *setup,
                 const GPtrArray *methods, DemurParallel *parallel) {
  const DemurSample *sample = setup->sample;
  const guint n_threads = demur_parallel_n_threads(parallel);
  DemurTrials *trials = g_new0(DemurTrials, 1);
  DemurTrialsMemory *memory = trials->memory = g_new0(DemurTrialsMemory, 1);
  trials->sample = sample;
  trials->methods = methods;
  trials->setup = setup;
  trials->n_trials = input->n_resamples + 1;
  demur_coverage_grid(DEMUR_N_COVERAGES, trials->coverages);
  demur_coverage_grid(DEMUR_N_SITE_COVERAGES, trials->site_coverages);
  trials->first_columns = g_new0(size_t, methods->len + 1);
  for (guint k = 0; k < methods->len; k++) {
    trials->first_columns[k] = trials->n_columns;
    trials->n_columns += ((const DemurMethod *)methods->pdata[k])->n_models;
  }
  memory->column_method = g_new(guint32, trials->n_columns);
  memory->column_model = g_new(guint32, trials->n_columns);
  for (guint k = 0; k < methods->len; k++)
    for (size_t m = 0; m < ((const DemurMethod *)methods->pdata[k])->n_models; m++) {
      memory->column_method[trials->first_columns[k] + m] = k;
      memory->column_model[trials->first_columns[k] + m] = (guint32)m;
    }
  memory->n_threads = n_threads;
  memory->scratch = g_new(DemurSelectiveScratch *, n_threads);
  for (guint w = 0; w < n_threads; w++)
    memory->scratch[w] = demur_selective_scratch_new(sample->n);
  memory->counts = g_new0(guint32 *, trials->n_trials);
  memory->weights = g_new0(const double *, trials->n_trials);
  memory->weights[0] = sample->weights;
  if (sample->weights != NULL)
    memory->weight_buffers = g_new(double, trials->n_trials *MAX(sample->n, 1));
  Drawing drawing = {input, trials};
  demur_parallel_map(parallel, trials->n_trials - 1, draw_resample, &drawing);
  trials->curves = g_new0(DemurTrialCurves, trials->n_columns * trials->n_trials);
  trials->extra_curves = g_new0(DemurExtraCurves, trials->n_columns * trials->n_trials);
  use_cells(trials);
  return trials;
}

void
demur_trials_free(DemurTrials *trials) {
  if (trials == NULL)
    return;
  DemurTrialsMemory *memory = trials->memory;
  for (guint w = 0; w < memory->n_threads; w++)
    demur_selective_scratch_free(memory->scratch[w]);
  for (size_t t = 1; t < trials->n_trials; t++)
    g_free(memory->counts[t]);
  demur_extra_setup_free(memory->cell_setup);
  demur_sample_free(memory->cell_sample);
  demur_cells_free(memory->cells);
  g_free(memory->zero_ranks);
  g_free(memory->scratch);
  g_free(memory->counts);
  g_free(memory->weights);
  g_free(memory->weight_buffers);
  g_free(memory->column_method);
  g_free(memory->column_model);
  g_free(memory);
  g_free(trials->first_columns);
  g_free(trials->curves);
  g_free(trials->extra_curves);
  g_free(trials);
}

/* What each kept scan counts for in S-MMCE; masses [n]. */
static void
fill_masses(const DemurSample *sample, const guint32 *ranks, gssize max_rank, DemurDrawn drawn,
            double *masses) {
  for (size_t i = 0; i < sample->n; i++)
    masses[i] = (gssize)ranks[i] > max_rank
                    ? 0.0
                    : (drawn.counts != NULL ? (double)drawn.counts[i] : 1.0) *
                          (drawn.weights != NULL ? drawn.weights[i] : 1.0);
}

/* Site error over coverage, and the area of its square. */
static void
fill_site_error(const DemurTrials *trials, const DemurMethod *method, size_t model,
                DemurDrawn drawn, DemurTrialCurves *curves) {
  const DemurSiteSample by_site = demur_method_sites(trials->sample, method, model, drawn);
  double coverages[DEMUR_N_COVERAGES + DEMUR_N_SITE_COVERAGES], squares[G_N_ELEMENTS(coverages)];
  memcpy(coverages, trials->coverages, sizeof trials->coverages);
  memcpy(coverages + DEMUR_N_COVERAGES, trials->site_coverages, sizeof trials->site_coverages);
  demur_site_error_curve(&by_site, coverages, G_N_ELEMENTS(coverages), squares);
  memcpy(curves->values[DEMUR_MEASURE_SITE_ERROR], squares, sizeof trials->coverages);
  curves->site_error2_auc = demur_coverage_auc(trials->site_coverages, squares + DEMUR_N_COVERAGES,
                                               DEMUR_N_SITE_COVERAGES);
}

/* A resampled trial: each threshold's kept scans as counts over the rows of the cells. */
static void
run_trial_in_cells(const DemurTrials *trials, const DemurMethod *method, size_t model,
                   const guint32 *counts, DemurTrialCurves *curves, DemurExtraCurves *extra) {
  const DemurSample *rows = trials->memory->cell_sample;
  const size_t n_rows = rows->n, n_cuts = DEMUR_N_COVERAGES + DEMUR_N_COARSE_COVERAGES;
  DemurCellColumns *columns = demur_cell_columns_new(
      method->ranks[model], trials->sample->n, method->n_ranks[model], TRIAL_COLUMNS, NULL, 0);
  DemurCellTable *table = demur_cell_table_new(trials->memory->cells->n_cells, columns->n_columns);
  demur_cell_table_fill(table, trials->memory->cells->rows, columns, counts, trials->sample->n);
  double coverages[DEMUR_N_COARSE_COVERAGES];
  demur_extra_coverages(coverages);
  size_t kept[DEMUR_N_COVERAGES + DEMUR_N_COARSE_COVERAGES];
  for (size_t c = 0; c < n_cuts; c++)
    kept[c] = demur_cell_table_keep(
        table, c < DEMUR_N_COVERAGES ? trials->coverages[c] : coverages[c - DEMUR_N_COVERAGES]);
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
                                            .ranks = trials->memory->zero_ranks,
                                            .n_ranks = 1,
                                            .top_label = rows->top_label};
    DemurSelectivePoint point;
    demur_selective_at_rank(&selective, 0, trials->setup->min_bin_size, scratch, &point);
    fill_masses(rows, trials->memory->zero_ranks, 0, (DemurDrawn){drawn, NULL}, weights);
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
  for (size_t c = 0; c < DEMUR_N_COARSE_COVERAGES; c++) {
    double values[DEMUR_N_MEASURES];
    demur_extra_at_rank(trials->memory->cell_setup, trials->memory->zero_ranks, 0,
                        (DemurDrawn){selected + (DEMUR_N_COVERAGES + c) * n_rows, NULL}, values,
                        NULL);
    for (DemurMeasure e = DEMUR_N_FINE_MEASURES; e < DEMUR_N_MEASURES; e++)
      extra->values[e][c] = values[e];
    extra->n_selected[c] = 0;
    for (size_t i = 0; i < n_rows; i++)
      extra->n_selected[c] += selected[(DEMUR_N_COVERAGES + c) * n_rows + i];
  }
  const DemurDrawn resample = {counts, NULL};
  const DemurSelectiveSample all = demur_method_selective(trials->sample, method, model, resample);
  demur_aurc(&all, &extra->aurc_error, &extra->aurc_brier);
  fill_site_error(trials, method, model, resample, curves);
  demur_cell_table_free(table);
  demur_cell_columns_free(columns);
}

void
demur_trials_run(size_t job, guint worker, gpointer data) {
  DemurTrials *trials = data;
  const size_t column = job % trials->n_columns, trial = job / trials->n_columns;
  const DemurMethod *method = trials->methods->pdata[trials->memory->column_method[column]];
  const size_t model = trials->memory->column_model[column];
  const DemurSample *sample = trials->sample;
  const guint32 *counts = trials->memory->counts[trial];
  DemurTrialCurves *curves = &trials->curves[job];
  if (trials->memory->cells != NULL && trial > 0) {
    run_trial_in_cells(trials, method, model, counts, curves, &trials->extra_curves[job]);
    return;
  }
  const DemurDrawn drawn = {counts, trials->memory->weights[trial]};
  const DemurSelectiveSample selective = demur_method_selective(sample, method, model, drawn);
  DemurSelectivePoint points[DEMUR_N_COVERAGES];
  demur_selective_curve(&selective, trials->coverages, DEMUR_N_COVERAGES,
                        trials->setup->min_bin_size, trials->memory->scratch[worker], points);
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
    fill_masses(sample, method->ranks[model], points[c].rank, drawn, weights);
    curves->values[DEMUR_MEASURE_SMMCE][c] =
        demur_smmce_normalised(sample->risks, sample->labels, weights, sample->n, 2, 0.2);
  }
  fill_site_error(trials, method, model, drawn, curves);
  demur_extra_curves(trials->setup, method->ranks[model], method->n_ranks[model], drawn,
                     &trials->extra_curves[job]);
}

GArray *
demur_trials_slots(const DemurTrials *trials) {
  const DemurSlot slots[] = {
      {trials->curves, sizeof *trials->curves, sizeof *trials->curves, 1, 0},
      {trials->extra_curves, sizeof *trials->extra_curves, sizeof *trials->extra_curves, 1, 0}};
  GArray *array = g_array_new(FALSE, FALSE, sizeof(DemurSlot));
  g_array_append_vals(array, slots, G_N_ELEMENTS(slots));
  return array;
}
