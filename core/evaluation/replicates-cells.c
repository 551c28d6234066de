/* In cells (evaluation/cells.h): one pass over the scans fills the table, a cumulation over its
 * columns gives the kept scans of every threshold as counts over 2 x n_cells rows, and the same
 * functions of metrics/ measure those; O(n + cells) a method and model.
 *
 * Site error: a site's sums of the kept scans are cumulated over columns. Where sites are drawn,
 * their terms are fixed and only weighted by how often each is drawn (all sums of a site drawn m
 * times scale alike); where patients are drawn they are added up anew. */
#include "evaluation/replicates-ways.h"

#include <string.h>

#include "metrics/coverage.h"
#include "metrics/discrimination.h"

/* S-BCE_2 and its debiased square of the scans in selected [2 n_cells]. Both labels of a cell are
 * one entry, since which of them comes first would otherwise be told to the bins. */
static void
cell_errors(const DemurReplicates *r, const guint32 *selected, DemurReplicatesWorker *worker,
            double *error2, double *debiased2) {
  const DemurCells *cells = r->memory->cells;
  for (size_t a = 0; a < cells->n_cells; a++) {
    const guint32 negative = selected[2 * a], positive = selected[2 * a + 1];
    const guint32 count = negative + positive;
    const double label = count > 0 ? (double)positive / (double)count : 0.0;
    worker->cell_counts[a] = count;
    worker->cell_labels[a] = label;
    worker->cell_differences[a] = label - cells->risks[2 * a];
  }
  demur_selective_binned(worker->cell_counts, worker->cell_differences, worker->cell_labels,
                         cells->n_cells, r->input.setup->min_bin_size, error2, debiased2);
}

/* Sums of each site by column, each scan drawn counts times (NULL: once): site_sums
 * [n_sites][n_columns]. */
static void
add_up_sites(const DemurReplicates *r, const DemurCellScore *score, const double *squares,
             const double *sizes, const guint32 *counts, DemurReplicatesWorker *worker) {
  const DemurSample *sample = r->input.setup->sample;
  const size_t n_columns = score->columns->n_columns;
  memset(worker->site_sums, 0, sample->n_sites * n_columns * sizeof *worker->site_sums);
  for (size_t i = 0; i < sample->n; i++) {
    const double count = counts != NULL ? (double)counts[i] : 1.0;
    DemurSiteSums *sums =
        &worker->site_sums[sample->sites[i] * n_columns + score->columns->columns[i]];
    sums->n += count;
    sums->sum += count * sample->differences[i];
    sums->patient_squares += count * count * squares[i];
    sums->patient_sizes += count * count * sizes[i];
  }
}

/* terms, sizes [n_cuts][n_sites] of the first n_kept[c] columns. */
static void
cumulate_sites(const DemurReplicates *r, const DemurCellScore *score, const size_t *n_kept,
               size_t n_cuts, const DemurReplicatesWorker *worker, double *terms, double *sizes) {
  const size_t n_sites = r->input.setup->sample->n_sites, n_columns = score->columns->n_columns;
  g_autofree DemurSiteSums *before = g_new0(DemurSiteSums, n_columns + 1);
  for (size_t s = 0; s < n_sites; s++) {
    for (size_t b = 0; b < n_columns; b++) {
      const DemurSiteSums *column = &worker->site_sums[s * n_columns + b];
      before[b + 1] = (DemurSiteSums){before[b].n + column->n, before[b].sum + column->sum,
                                      before[b].patient_squares + column->patient_squares,
                                      before[b].patient_sizes + column->patient_sizes};
    }
    for (size_t c = 0; c < n_cuts; c++)
      terms[c * n_sites + s] = demur_site_error_term(&before[n_kept[c]], &sizes[c * n_sites + s]);
  }
}

/* The square at one cut, and influences [n_sites] or NULL. times: how often each site is drawn
 * where the terms are those of the sites as they are; NULL: the terms hold it. */
static double
site_square(const DemurReplicates *r, const double *terms, const double *sizes,
            const guint32 *counts, double *influences) {
  const size_t n_sites = r->input.setup->sample->n_sites;
  const guint32 *scan_of_site = r->memory->scan_of_site;
  double numerator = 0.0, denominator = 0.0;
  for (size_t s = 0; s < n_sites; s++) {
    const double times = counts != NULL ? (double)counts[scan_of_site[s]] : 1.0;
    numerator += times * terms[s];
    denominator += times * sizes[s];
  }
  const double square = denominator > 0.5 ? numerator / denominator : NAN;
  for (size_t s = 0; influences != NULL && s < n_sites; s++) {
    const double times = counts != NULL ? (double)counts[scan_of_site[s]] : 1.0;
    influences[s] =
        times * sizes[s] > 0.5 ? times * (terms[s] - square * sizes[s]) / denominator : 0.0;
  }
  return square;
}

/* Site error at the cuts: squares [n_cuts], and influences [n_cuts][n_sites] where sites are drawn.
 */
static void
cell_sites(const DemurReplicates *r, const DemurCellScore *score, const size_t *n_kept,
           size_t n_cuts, DemurReplicatesWorker *worker, double *squares, double *influences) {
  const size_t n_sites = r->input.setup->sample->n_sites;
  const gboolean by_site = r->input.unit == DEMUR_UNIT_SITE;
  if (!by_site) {
    add_up_sites(r, score, score->patient_squares, score->patient_sizes, worker->counts, worker);
    cumulate_sites(r, score, n_kept, n_cuts, worker, worker->site_terms, worker->site_sizes);
  }
  for (size_t c = 0; c < n_cuts; c++) {
    const double *terms =
        by_site ? score->site_terms + n_kept[c] * n_sites : worker->site_terms + c * n_sites;
    const double *sizes =
        by_site ? score->site_sizes + n_kept[c] * n_sites : worker->site_sizes + c * n_sites;
    squares[c] = site_square(r, terms, sizes, by_site ? worker->counts : NULL,
                             by_site ? influences + c * n_sites : NULL);
  }
}

/* Scans of each class in the first n_kept columns refused, of all; rates [n_classes]. */
static double
cell_rates(const DemurReplicates *r, const DemurCellScore *score, size_t n_kept,
           const DemurReplicatesWorker *worker, double *rates) {
  const DemurSample *sample = r->input.setup->sample;
  const size_t k = sample->n_classes, n_columns = score->columns->n_columns;
  g_autofree guint64 *all = g_new0(guint64, 2 * k);
  guint64 *refused = all + k;
  for (size_t c = 0; c < k; c++)
    for (size_t b = 0; b < n_columns; b++) {
      all[c] += worker->class_counts[c * n_columns + b];
      refused[c] += b >= n_kept ? worker->class_counts[c * n_columns + b] : 0;
    }
  return rates_of_counts(all, refused, k, rates);
}

static void
count_classes(const DemurReplicates *r, const DemurCellScore *score,
              DemurReplicatesWorker *worker) {
  const DemurSample *sample = r->input.setup->sample;
  const size_t n_columns = score->columns->n_columns;
  memset(worker->class_counts, 0, sample->n_classes * n_columns * sizeof *worker->class_counts);
  if (sample->n_classes == 2) { /* the rows tell the class */
    for (size_t row = 0; row < worker->table->n_rows; row++)
      for (size_t b = 0; b < n_columns; b++)
        worker->class_counts[(row & 1) * n_columns + b] +=
            worker->table->counts[row * n_columns + b];
    return;
  }
  for (size_t i = 0; i < sample->n; i++)
    worker->class_counts[(size_t)sample->classes[i] * n_columns + score->columns->columns[i]] +=
        worker->counts[i];
}

/* What a replicate adds up over the models of a method. */
typedef struct {
  double plain, debiased, site2;
  double *influences;       /* [n_sites] of the area */
  double *values;           /* [n_points][DEMUR_N_OPERATING_VALUES] of the method's points */
  double *point_influences; /* [n_points][n_sites] */
  double *rates;            /* [n_points][n_classes] */
} MethodSums;

static void
add_cell_curves(const DemurReplicates *r, const DemurCellScore *score, double share,
                const double *squares, const double *influences, DemurReplicatesWorker *worker,
                MethodSums *sums) {
  const size_t n_sites = r->input.setup->sample->n_sites,
               stride = worker->table->n_rows + DEMUR_CELL_PADDING;
  double errors[DEMUR_N_COVERAGES], debiased[DEMUR_N_COVERAGES];
  for (size_t c = 0; c < DEMUR_N_COVERAGES; c++)
    cell_errors(r, worker->selected + c * stride, worker, &errors[c], &debiased[c]);
  sums->plain += share * demur_coverage_auc(r->memory->coverages, errors, DEMUR_N_COVERAGES);
  sums->debiased += share * demur_coverage_auc(r->memory->coverages, debiased, DEMUR_N_COVERAGES);
  sums->site2 +=
      share * demur_coverage_auc(r->memory->site_coverages, squares, DEMUR_N_SITE_COVERAGES);
  for (size_t s = 0; r->input.unit == DEMUR_UNIT_SITE && s < n_sites; s++) {
    double curve[DEMUR_N_SITE_COVERAGES];
    for (size_t c = 0; c < DEMUR_N_SITE_COVERAGES; c++)
      curve[c] = influences[c * n_sites + s];
    sums->influences[s] +=
        share * demur_coverage_auc(r->memory->site_coverages, curve, DEMUR_N_SITE_COVERAGES);
  }
}

static void
add_cell_point(const DemurReplicates *r, const DemurOperating *point, size_t model, double share,
               const guint32 *selected, DemurReplicatesWorker *worker, double *values) {
  const DemurCells *cells = r->memory->cells;
  const size_t n_rows = worker->table->n_rows;
  const DemurOutcomes outcomes = {n_rows, cells->risks, cells->labels, selected, NULL};
  double error2, debiased2;
  cell_errors(r, selected, worker, &error2, &debiased2);
  values[DEMUR_OPERATING_DEBIASED2] += share * debiased2;
  values[DEMUR_OPERATING_PLAIN2] += share * error2 * error2;
  values[DEMUR_OPERATING_OE_RATIO] += share * demur_calibration_oe_ratio(&outcomes);
  if (r->input.setup->sample->top_label) {
    values[DEMUR_OPERATING_INTERCEPT] = values[DEMUR_OPERATING_SLOPE] =
        values[DEMUR_OPERATING_AUROC] = NAN;
    return;
  }
  const DemurCalibrationFit fit =
      demur_calibration_fit_logits(&outcomes, cells->logits, &point->fits[model]);
  values[DEMUR_OPERATING_INTERCEPT] += share * fit.intercept;
  values[DEMUR_OPERATING_SLOPE] += share * fit.slope;
  values[DEMUR_OPERATING_AUROC] += share * demur_auroc(&outcomes);
}

/* One replicate of method k, whose points stand at [first_point, end_point). */
void
demur_replicates_cell_method(DemurReplicates *r, size_t replicate, size_t k, size_t first_point,
                             size_t end_point, DemurReplicatesWorker *worker) {
  DemurReplicatesMemory *memory = r->memory;
  const DemurSample *sample = r->input.setup->sample;
  const DemurMethod *method = method_at(r, k);
  const size_t n_points = end_point - first_point, n_sites = sample->n_sites;
  const size_t n_curve = r->input.with_curves ? DEMUR_N_COVERAGES : 0;
  const size_t n_site_cuts = r->input.with_curves ? DEMUR_N_SITE_COVERAGES : 0;
  const double share = 1.0 / (double)method->n_models;
  g_autofree size_t *kept = g_new(size_t, memory->n_cuts),
                    *site_kept = g_new(size_t, memory->n_cuts);
  g_autofree double *squares = g_new(double, memory->n_cuts);
  g_autofree double *influences = g_new0(double, memory->n_cuts *MAX(n_sites, 1));
  g_autofree double *sum_memory = g_new0(
      double, n_sites + n_points * (DEMUR_N_OPERATING_VALUES + n_sites + sample->n_classes) + 1);
  MethodSums sums = {.influences = sum_memory, .values = sum_memory + n_sites};
  sums.point_influences = sums.values + n_points * DEMUR_N_OPERATING_VALUES;
  sums.rates = sums.point_influences + n_points * n_sites;
  for (size_t m = 0; m < method->n_models; m++) {
    const DemurCellScore *score = &memory->scores[memory->first_column[k] + m];
    demur_cell_table_fill(worker->table, memory->cells->rows, score->columns, worker->counts,
                          sample->n);
    for (size_t c = 0; c < n_curve; c++)
      kept[c] = demur_cell_table_keep(worker->table, memory->coverages[c]);
    for (size_t c = 0; c < n_site_cuts; c++)
      site_kept[c] = demur_cell_table_keep(worker->table, memory->site_coverages[c]);
    for (size_t p = 0; p < n_points; p++) {
      const DemurOperating *point = &r->input.points[first_point + p];
      kept[n_curve + p] = site_kept[n_site_cuts + p] =
          point->fixed_threshold ? demur_cell_columns_up_to(score->columns, point->max_ranks[m])
                                 : demur_cell_table_keep(worker->table, point->coverage);
    }
    demur_cell_table_select(worker->table, kept, n_curve + n_points, worker->selected,
                            worker->table->n_rows + DEMUR_CELL_PADDING);
    if (r->input.no_site_error)
      for (size_t c = 0; c < n_site_cuts + n_points; c++)
        squares[c] = NAN;
    else
      cell_sites(r, score, site_kept, n_site_cuts + n_points, worker, squares, influences);
    if (r->input.with_curves)
      add_cell_curves(r, score, share, squares, influences, worker, &sums);
    if (m == 0 && n_points > 0)
      count_classes(r, score, worker);
    for (size_t p = 0; p < n_points; p++) {
      double *values = sums.values + p * DEMUR_N_OPERATING_VALUES;
      if (m == 0)
        values[DEMUR_OPERATING_REALISED] =
            cell_rates(r, score, kept[n_curve + p], worker, sums.rates + p * sample->n_classes);
      add_cell_point(r, &r->input.points[first_point + p], m, share,
                     worker->selected +
                         (n_curve + p) * (worker->table->n_rows + DEMUR_CELL_PADDING),
                     worker, values);
      values[DEMUR_OPERATING_SITE2] += share * squares[n_site_cuts + p];
      for (size_t s = 0; s < n_sites; s++)
        sums.point_influences[p * n_sites + s] +=
            share * influences[(n_site_cuts + p) * n_sites + s];
    }
  }
  const gboolean by_site = r->input.unit == DEMUR_UNIT_SITE;
  if (r->input.with_curves) {
    const size_t place = replicate * r->input.methods->len + k;
    r->plain_auc[place] = sums.plain;
    r->debiased2_auc[place] = sums.debiased;
    r->site2_auc[place] = sums.site2;
    r->site2_se[place] = by_site ? standard_error(r, worker->counts, sums.influences) : NAN;
  }
  for (size_t p = 0; p < n_points; p++) {
    double *values = sums.values + p * DEMUR_N_OPERATING_VALUES;
    values[DEMUR_OPERATING_SITE2_SE] =
        by_site ? standard_error(r, worker->counts, sums.point_influences + p * n_sites) : NAN;
    DemurOperating *point = &r->input.points[first_point + p];
    if (point->intervals != DEMUR_INTERVALS_NONE)
      keep_values(r, point, replicate, values, sums.rates + p * sample->n_classes);
  }
}

void
demur_replicates_cell_redraw(DemurReplicates *r, size_t draw, DemurReplicatesWorker *worker) {
  DemurReplicatesMemory *memory = r->memory;
  const DemurSample *sample = r->input.setup->sample;
  for (size_t i = 0; i < sample->n; i++)
    worker->rows[i] = (guint16)((memory->cells->rows[i] & ~1u) | (worker->labels[i] >= 0.5));
  for (size_t p = 0; p < r->input.n_points; p++)
    r->input.points[p].noise[draw] = 0.0;
  g_autofree size_t *kept = g_new(size_t, memory->n_cuts);
  const size_t n_curve = r->input.with_curves ? DEMUR_N_COVERAGES : 0;
  size_t point = 0;
  for (size_t k = 0; k < r->input.methods->len; k++) {
    const DemurMethod *method = method_at(r, k);
    size_t end = point;
    while (end < r->input.n_points && r->input.points[end].method == k)
      end++;
    for (size_t m = 0; m < method->n_models && (n_curve > 0 || end > point); m++) {
      const size_t column = memory->first_column[k] + m;
      const DemurCellScore *score = &memory->scores[column];
      demur_cell_table_fill(worker->table, worker->rows, score->columns, NULL, sample->n);
      for (size_t c = 0; c < n_curve; c++)
        kept[c] = demur_cell_table_keep(worker->table, memory->coverages[c]);
      for (size_t p = point; p < end; p++)
        kept[n_curve + p - point] =
            demur_cell_columns_up_to(score->columns, r->input.points[p].max_ranks[m]);
      demur_cell_table_select(worker->table, kept, n_curve + end - point, worker->selected,
                              worker->table->n_rows + DEMUR_CELL_PADDING);
      double debiased2;
      for (size_t c = 0; c < n_curve; c++)
        cell_errors(r, worker->selected + c * (worker->table->n_rows + DEMUR_CELL_PADDING), worker,
                    &r->noise[(draw * r->n_columns + column) * DEMUR_N_COVERAGES + c], &debiased2);
      for (size_t p = point; p < end; p++) {
        double error2;
        cell_errors(r,
                    worker->selected +
                        (n_curve + p - point) * (worker->table->n_rows + DEMUR_CELL_PADDING),
                    worker, &error2, &debiased2);
        r->input.points[p].noise[draw] += error2 / (double)method->n_models;
      }
    }
    point = end;
  }
}
/* Prepares one method and model for cells. */
void
demur_replicates_cell_prepare(size_t column, guint worker_index, gpointer data) {
  DemurReplicates *r = data;
  DemurReplicatesMemory *memory = r->memory;
  const DemurSample *sample = r->input.setup->sample;
  size_t k = 0;
  while (k + 1 < r->input.methods->len && memory->first_column[k + 1] <= column)
    k++;
  const size_t model = column - memory->first_column[k];
  const DemurMethod *method = method_at(r, k);
  g_autofree gssize *cuts = g_new(gssize, r->input.n_points + 1);
  size_t n_cuts = 0;
  for (size_t p = 0; p < r->input.n_points; p++)
    if (r->input.points[p].method == k)
      cuts[n_cuts++] = r->input.points[p].max_ranks[model];
  DemurCellScore *score = &memory->scores[column];
  /* Without curves and with every threshold fixed, the columns are just the points. */
  const size_t n_columns = r->input.with_curves ? memory->cells->n_cells : 1;
  score->columns = demur_cell_columns_new(method->ranks[model], sample->n, method->n_ranks[model],
                                          n_columns, cuts, n_cuts);
  if (r->input.no_site_error ||
      (r->input.unit != DEMUR_UNIT_SITE && !r->input.with_curves && n_cuts == 0))
    return;
  score->patient_squares = g_new(double, MAX(sample->n, 1));
  score->patient_sizes = g_new(double, MAX(sample->n, 1));
  const DemurSiteSample by_site =
      demur_method_sites(sample, method, model, demur_sample_as_is(sample));
  demur_site_error_increments(&by_site, score->patient_squares, score->patient_sizes);
  if (r->input.unit != DEMUR_UNIT_SITE)
    return;
  DemurReplicatesWorker *worker = &memory->workers[worker_index];
  const size_t n_edges = score->columns->n_columns + 1;
  g_autofree size_t *kept = g_new(size_t, n_edges);
  for (size_t c = 0; c < n_edges; c++)
    kept[c] = c;
  add_up_sites(r, score, score->patient_squares, score->patient_sizes, NULL, worker);
  score->site_terms = g_new(double, n_edges * sample->n_sites);
  score->site_sizes = g_new(double, n_edges * sample->n_sites);
  cumulate_sites(r, score, kept, n_edges, worker, score->site_terms, score->site_sizes);
  g_clear_pointer(&score->patient_squares, g_free);
  g_clear_pointer(&score->patient_sizes, g_free);
}
