/* A replicate is a vector of counts over the scans, drawn here and measured one way or the other:
 * scan by scan (replicates-exact.c) or in cells (replicates-cells.c). */
#include "evaluation/replicates-ways.h"

#include "metrics/coverage.h"
#include "metrics/intervals.h"

#define LEVEL 0.95
#define MAX_CELLS 512
#define MAX_CELLS_OF_POINTS 256 /* without curves: groups */
#define SCANS_A_CELL 16

double
demur_replicates_site2_auc(const DemurReplicates *r, size_t method, double *se) {
  return demur_replicates_exact_site2_auc(r, method_at(r, method),
                                          demur_sample_as_is(r->input.setup->sample), se);
}

void
demur_replicates_draw(size_t replicate, guint worker_index, gpointer data) {
  DemurReplicates *r = data;
  DemurReplicatesWorker *worker = &r->memory->workers[worker_index];
  const DemurSample *sample = r->input.setup->sample;
  if (replicate < r->input.n_bootstrap)
    demur_sample_resample(
        sample, r->input.unit,
        demur_random_stream(r->input.seed, DEMUR_STREAM_BOOTSTRAP, replicate, 0, 0),
        worker->counts);
  else
    for (size_t i = 0; i < sample->n; i++)
      worker->counts[i] = sample->sites[i] != replicate - r->input.n_bootstrap;
  if (!r->in_cells) {
    const DemurDrawn drawn = demur_sample_drawn(sample, worker->counts, worker->weights);
    if (r->input.with_curves)
      demur_replicates_exact_curves(r, replicate, drawn, worker);
    double values[DEMUR_N_OPERATING_VALUES];
    g_autofree double *rates = g_new(double, sample->n_classes);
    for (size_t p = 0; p < r->input.n_points; p++) {
      if (r->input.points[p].intervals == DEMUR_INTERVALS_NONE)
        continue;
      demur_replicates_exact_point(r, &r->input.points[p], drawn, worker, values, rates);
      keep_values(r, &r->input.points[p], replicate, values, rates);
    }
    return;
  }
  size_t point = 0;
  for (size_t k = 0; k < r->input.methods->len; k++) {
    const size_t first = point;
    while (point < r->input.n_points && r->input.points[point].method == k)
      point++;
    if (r->input.with_curves || point > first)
      demur_replicates_cell_method(r, replicate, k, first, point, worker);
  }
}

void
demur_replicates_redraw(size_t draw, guint worker_index, gpointer data) {
  DemurReplicates *r = data;
  DemurReplicatesWorker *worker = &r->memory->workers[worker_index];
  const DemurSample *sample = r->input.setup->sample;
  DemurRandom random =
      demur_random_stream(r->input.seed, DEMUR_STREAM_NOISE_FLOOR, draw, r->input.noise_part, 0);
  for (size_t i = 0; i < sample->n; i++)
    worker->labels[i] = demur_random_uniform(&random) < sample->risks[i] ? 1.0 : 0.0;
  if (r->in_cells)
    demur_replicates_cell_redraw(r, draw, worker);
  else
    demur_replicates_exact_redraw(r, draw, worker);
}

/* n_bytes of every chunk, one behind the other. */
static void
add_slot(GArray *slots, void *base, size_t n_bytes) {
  const DemurSlot slot = {base, n_bytes, n_bytes, 1, 0};
  g_array_append_val(slots, slot);
}

GArray *
demur_replicates_draw_slots(const DemurReplicates *r) {
  GArray *slots = g_array_new(FALSE, FALSE, sizeof(DemurSlot));
  double *const areas[] = {r->plain_auc, r->debiased2_auc, r->site2_auc, r->site2_se};
  for (size_t a = 0; r->input.with_curves && a < G_N_ELEMENTS(areas); a++)
    add_slot(slots, areas[a], r->input.methods->len * sizeof(double));
  for (size_t p = 0; p < r->input.n_points; p++) {
    const DemurSlot values = {.base = r->input.points[p].values,
                              .n_bytes = sizeof(double),
                              .chunk_stride = sizeof(double),
                              .n_rows =
                                  DEMUR_N_OPERATING_VALUES + r->input.setup->sample->n_classes,
                              .row_stride = r->n * sizeof(double)};
    g_array_append_val(slots, values);
  }
  return slots;
}

GArray *
demur_replicates_redraw_slots(const DemurReplicates *r) {
  GArray *slots = g_array_new(FALSE, FALSE, sizeof(DemurSlot));
  if (r->input.with_curves)
    add_slot(slots, r->noise, r->n_columns * DEMUR_N_COVERAGES * sizeof(double));
  for (size_t p = 0; p < r->input.n_points; p++)
    add_slot(slots, r->input.points[p].noise, sizeof(double));
  return slots;
}

static void
measure_point(size_t index, guint worker_index, gpointer data) {
  DemurReplicates *r = data;
  DemurOperating *point = &r->input.points[index];
  g_autofree double *rates = g_new(double, r->input.setup->sample->n_classes);
  if (point->intervals == DEMUR_INTERVALS_ALL)
    demur_replicates_exact_point(r, point, demur_sample_as_is(r->input.setup->sample),
                                 &r->memory->workers[worker_index], point->point, rates);
}

static void
worker_init(const DemurReplicates *r, DemurReplicatesWorker *worker) {
  const DemurReplicatesMemory *memory = r->memory;
  const DemurSample *sample = r->input.setup->sample;
  worker->counts = g_new(guint32, MAX(sample->n, 1));
  worker->labels = g_new(double, MAX(sample->n, 1));
  if (sample->censoring != NULL)
    worker->weights = g_new(double, MAX(sample->n, 1));
  worker->influences = g_new0(double, 2 * MAX(sample->n_sites, 1));
  worker->selective = demur_selective_scratch_new(sample->n);
  if (!r->in_cells)
    return;
  const size_t n_cells = memory->cells->n_cells, max_columns = memory->max_columns;
  worker->table = demur_cell_table_new(n_cells, max_columns);
  worker->rows = g_new(guint16, sample->n);
  worker->selected = g_new(guint32, memory->n_cuts * (2 * n_cells + DEMUR_CELL_PADDING));
  worker->cell_counts = g_new(guint32, n_cells);
  worker->cell_differences = g_new(double, n_cells);
  worker->cell_labels = g_new(double, n_cells);
  worker->site_sums = g_new(DemurSiteSums, sample->n_sites * max_columns);
  worker->class_counts = g_new(guint64, sample->n_classes * max_columns);
  worker->site_terms = g_new(double, memory->n_cuts * sample->n_sites);
  worker->site_sizes = g_new(double, memory->n_cuts * sample->n_sites);
}

static void
worker_clear(DemurReplicatesWorker *worker) {
  g_free(worker->counts);
  g_free(worker->labels);
  g_free(worker->weights);
  g_free(worker->influences);
  demur_selective_scratch_free(worker->selective);
  demur_cell_table_free(worker->table);
  g_free(worker->rows);
  g_free(worker->selected);
  g_free(worker->cell_counts);
  g_free(worker->cell_differences);
  g_free(worker->cell_labels);
  g_free(worker->site_sums);
  g_free(worker->class_counts);
  g_free(worker->site_terms);
  g_free(worker->site_sizes);
}

DemurReplicates *
demur_replicates_new(const DemurReplicatesInput *input, DemurParallel *parallel) {
  const DemurSample *sample = input->setup->sample;
  const size_t n_methods = input->methods->len;
  DemurReplicates *r = g_new0(DemurReplicates, 1);
  DemurReplicatesMemory *memory = r->memory = g_new0(DemurReplicatesMemory, 1);
  r->input = *input;
  if (input->unit == DEMUR_UNIT_SITE && input->n_bootstrap > 0 &&
      sample->n_sites <= DEMUR_JACKKNIFE_SITES)
    r->n_left_out = sample->n_sites;
  r->n = input->n_bootstrap + r->n_left_out;
  r->in_cells = sample->weights == NULL &&
                sample->n >= (input->cells_from > 0 ? input->cells_from : DEMUR_CELLS_FROM);
  demur_coverage_grid(DEMUR_N_COVERAGES, memory->coverages);
  demur_coverage_grid(DEMUR_N_SITE_COVERAGES, memory->site_coverages);
  memory->first_column = g_new0(size_t, n_methods + 1);
  for (size_t k = 0; k < n_methods; k++) {
    memory->first_column[k] = r->n_columns;
    r->n_columns += method_at(r, k)->n_models;
  }
  memory->scan_of_site = g_new0(guint32, MAX(sample->n_sites, 1));
  for (size_t i = 0; i < sample->n; i++)
    memory->scan_of_site[sample->sites[i]] = (guint32)i;
  for (size_t p = 0; p < input->n_points; p++) {
    DemurOperating *point = &input->points[p];
    g_assert(p == 0 || point[-1].method <= point->method);
    const DemurMethod *method = method_at(r, point->method);
    point->fits = g_new(DemurCalibrationFit, method->n_models);
    point->noise = g_new0(double, MAX(input->n_noise_draws, 1));
    if (point->intervals != DEMUR_INTERVALS_NONE)
      point->values = g_new0(double, (DEMUR_N_OPERATING_VALUES + sample->n_classes) * MAX(r->n, 1));
    for (size_t v = 0; v < DEMUR_N_OPERATING_VALUES; v++)
      point->point[v] = NAN;
  }
  if (input->with_curves) {
    const size_t n = MAX(r->n, 1) * n_methods;
    r->plain_auc = g_new0(double, n);
    r->debiased2_auc = g_new0(double, n);
    r->site2_auc = g_new0(double, n);
    r->site2_se = g_new0(double, n);
    r->noise = g_new0(double, MAX(input->n_noise_draws, 1) * r->n_columns * DEMUR_N_COVERAGES);
  }
  if (r->in_cells) {
    memory->cells = demur_cells_new(
        sample, input->setup->logits,
        CLAMP(sample->n / SCANS_A_CELL, 1, input->with_curves ? MAX_CELLS : MAX_CELLS_OF_POINTS));
    memory->scores = g_new0(DemurCellScore, r->n_columns);
    memory->max_columns = (input->with_curves ? memory->cells->n_cells : 1) + input->n_points + 1;
    memory->n_cuts = DEMUR_N_COVERAGES + input->n_points;
  }
  memory->n_workers = parallel != NULL ? demur_parallel_n_threads(parallel) : 1;
  memory->workers = g_new0(DemurReplicatesWorker, memory->n_workers);
  for (guint w = 0; w < memory->n_workers; w++)
    worker_init(r, &memory->workers[w]);
  if (r->in_cells)
    demur_parallel_map(parallel, r->n_columns, demur_replicates_cell_prepare, r);
  demur_parallel_map(parallel, input->n_points, measure_point, r);
  return r;
}

void
demur_replicates_free(DemurReplicates *r) {
  if (r == NULL)
    return;
  DemurReplicatesMemory *memory = r->memory;
  for (guint w = 0; w < memory->n_workers; w++)
    worker_clear(&memory->workers[w]);
  g_free(memory->workers);
  for (size_t c = 0; memory->scores != NULL && c < r->n_columns; c++) {
    demur_cell_columns_free(memory->scores[c].columns);
    g_free(memory->scores[c].site_terms);
    g_free(memory->scores[c].site_sizes);
    g_free(memory->scores[c].patient_squares);
    g_free(memory->scores[c].patient_sizes);
  }
  g_free(memory->scores);
  demur_cells_free(memory->cells);
  g_free(memory->first_column);
  g_free(memory->scan_of_site);
  g_free(memory);
  g_free(r->plain_auc);
  g_free(r->debiased2_auc);
  g_free(r->site2_auc);
  g_free(r->site2_se);
  g_free(r->noise);
  g_free(r);
}

void
demur_operating_clear(DemurOperating *points, size_t n_points) {
  for (size_t p = 0; p < n_points; p++) {
    g_free(points[p].max_ranks);
    g_free(points[p].fits);
    g_free(points[p].values);
    g_free(points[p].noise);
  }
}

static DemurInterval
expanded(double *replicates, size_t n, size_t n_units) {
  DemurInterval interval;
  demur_interval_expanded(replicates, n, n_units, LEVEL, &interval.low, &interval.high);
  return interval;
}

/* Replicates that are all the same say nothing of chance: none or all of few scans, an O:E without
 * an outcome. A share then has Wilson's interval, anything else none. */
static DemurInterval
share_interval(DemurInterval bootstrapped, double share, size_t n) {
  if (bootstrapped.high > bootstrapped.low || n == 0)
    return bootstrapped;
  demur_interval_wilson(round(share * (double)n), (double)n, LEVEL, &bootstrapped.low,
                        &bootstrapped.high);
  return bootstrapped;
}

static DemurInterval
proper(DemurInterval bootstrapped) {
  return bootstrapped.high > bootstrapped.low ? bootstrapped : (DemurInterval){NAN, NAN};
}

static DemurInterval
signed_roots(DemurInterval squares) {
  /* They lie in [-1, 1]; few sites' intervals may not. */
  return (DemurInterval){demur_signed_root(squares.low < -1.0 ? -1.0 : squares.low),
                         demur_signed_root(squares.high > 1.0 ? 1.0 : squares.high)};
}

/* A point's replicates, by row. */
typedef struct {
  const DemurReplicates *r;
  double *values; /* [rows][r->n] */
} Rows;

/* The interval of one row: by the jackknife where few sites were left out one by one, else the
 * expanded percentiles. */
static DemurInterval
interval_of(const Rows *rows, size_t row, double point, DemurScale scale) {
  const DemurReplicates *r = rows->r;
  double *values = rows->values + row * r->n;
  DemurInterval interval;
  if (r->n_left_out == 0)
    return expanded(values, r->input.n_bootstrap,
                    demur_sample_n_units(r->input.setup->sample, r->input.unit));
  demur_interval_jackknife(values + r->input.n_bootstrap, r->n_left_out, point, scale, LEVEL,
                           &interval.low, &interval.high);
  return interval;
}

void
demur_operating_intervals(const DemurReplicates *r, size_t index, DemurOperatingPoint *at) {
  const DemurOperating *point = &r->input.points[index];
  const DemurInterval none = {NAN, NAN};
  const size_t n_units = demur_sample_n_units(r->input.setup->sample, r->input.unit);
  const size_t n = r->input.n_bootstrap, n_draws = r->input.n_noise_draws;
  double noise = 0.0;
  for (size_t d = 0; d < n_draws; d++)
    noise += point->noise[d] / (double)n_draws;
  at->noise_floor = n_draws > 0 ? noise : NAN;
  for (DemurMeasure extra = DEMUR_N_FINE_MEASURES; extra < DEMUR_N_MEASURES; extra++)
    at->intervals[extra] = none;
  at->realised_interval = at->debiased_interval = at->site_error_interval = none;
  for (size_t l = 0; l < at->n_labels; l++)
    at->rejected_by_label[l].rate_low = at->rejected_by_label[l].rate_high = NAN;
  if (point->intervals == DEMUR_INTERVALS_NONE)
    return;
  const Rows rows = {r, point->values};
  /* "full" and the like refuse nothing, by construction: there is no chance in that. */
  const DemurMethod *method = r->input.methods->pdata[point->method];
  const gboolean can_refuse = method->n_ranks[0] > 1;
  if (point->fixed_threshold)
    at->realised_interval =
        interval_of(&rows, DEMUR_OPERATING_REALISED, at->realised, DEMUR_SCALE_LOGIT);
  if (point->fixed_threshold && can_refuse && n > 0)
    at->realised_interval = share_interval(at->realised_interval, at->realised, n_units);
  for (size_t l = 0; l < at->n_labels; l++) {
    DemurRejection *label = &at->rejected_by_label[l];
    if (label->withheld)
      continue;
    DemurInterval rate =
        interval_of(&rows, DEMUR_N_OPERATING_VALUES + l, label->rate, DEMUR_SCALE_LOGIT);
    if (can_refuse && n > 0 && isfinite(label->rate))
      rate = share_interval(rate, label->rate, MIN(label->n_all, n_units));
    label->rate_low = rate.low;
    label->rate_high = rate.high;
  }
  if (point->intervals == DEMUR_INTERVALS_RATES)
    return;
  at->intervals[DEMUR_MEASURE_INTERCEPT] =
      proper(interval_of(&rows, DEMUR_OPERATING_INTERCEPT, point->point[DEMUR_OPERATING_INTERCEPT],
                         DEMUR_SCALE_IDENTITY));
  at->intervals[DEMUR_MEASURE_SLOPE] = proper(interval_of(
      &rows, DEMUR_OPERATING_SLOPE, point->point[DEMUR_OPERATING_SLOPE], DEMUR_SCALE_IDENTITY));
  at->intervals[DEMUR_MEASURE_OE_RATIO] = proper(interval_of(
      &rows, DEMUR_OPERATING_OE_RATIO, point->point[DEMUR_OPERATING_OE_RATIO], DEMUR_SCALE_LOG));
  at->intervals[DEMUR_MEASURE_AUROC] = proper(interval_of(
      &rows, DEMUR_OPERATING_AUROC, point->point[DEMUR_OPERATING_AUROC], DEMUR_SCALE_LOGIT));
  DemurInterval squares;
  if (r->n_left_out > 0)
    squares = interval_of(&rows, DEMUR_OPERATING_DEBIASED2, point->point[DEMUR_OPERATING_DEBIASED2],
                          DEMUR_SCALE_IDENTITY);
  else
    demur_interval_basic(point->values + DEMUR_OPERATING_DEBIASED2 * r->n, n,
                         point->point[DEMUR_OPERATING_DEBIASED2],
                         point->point[DEMUR_OPERATING_PLAIN2], n_units, LEVEL, &squares.low,
                         &squares.high);
  at->debiased_interval = signed_roots(squares);
  double *site2 = point->values + DEMUR_OPERATING_SITE2 * r->n;
  if (r->input.unit == DEMUR_UNIT_SITE) {
    for (size_t b = 0; b < n; b++)
      site2[b] = (site2[b] - point->point[DEMUR_OPERATING_SITE2]) /
                 point->values[DEMUR_OPERATING_SITE2_SE * r->n + b];
    demur_interval_studentised(site2, n, point->point[DEMUR_OPERATING_SITE2],
                               point->point[DEMUR_OPERATING_SITE2_SE], n_units, LEVEL, &squares.low,
                               &squares.high);
  } else {
    squares = expanded(site2, n, n_units);
  }
  if (r->input.unit != DEMUR_UNIT_SITE || n_units >= DEMUR_SQUARES_SITES)
    at->site_error_interval = signed_roots(squares);
}
