/* A replicate is a vector of counts over the scans. Exact: every measure walks the counted scans,
 * O(25 n) a method and model. In cells: one pass over the scans fills the table, a cumulation over
 * its columns gives the kept scans of every threshold as counts over 2 x n_cells rows, and the same
 * functions of metrics/ measure those; O(n + cells) a method and model.
 *
 * Site error in cells: a site's sums of the kept scans are cumulated over columns. Where sites are
 * drawn, their terms are fixed and only weighted by how often each is drawn (all sums of a site
 * drawn m times scale alike); where patients are drawn they are added up anew. */
#include "evaluation/replicates.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "evaluation/cells.h"
#include "metrics/coverage.h"
#include "metrics/discrimination.h"
#include "metrics/intervals.h"
#include "metrics/selective.h"
#include "metrics/site-error.h"

#define LEVEL 0.95
#define MAX_CELLS 512
#define MAX_CELLS_OF_POINTS 256 /* without curves: groups */
#define SCANS_A_CELL 16
#define ROW_PADDING 16 /* of the kept scans of a cut */

/* One method and model in cells. */
typedef struct {
  DemurCellColumns *columns;
  /* Sites drawn: [n_columns + 1][n_sites] of the sites as they are, first columns kept. */
  double *site_terms, *site_sizes;
  /* Patients drawn: [n] increments, see metrics/site-error.h. */
  double *patient_squares, *patient_sizes;
} CellScore;

typedef struct {
  DemurSelectiveScratch *selective; /* exact */
  guint32 *counts;                  /* [n] */
  double *labels;                   /* [n] redrawn */
  double *influences;               /* [2][n_sites] */
  /* In cells. */
  DemurCellTable *table;
  guint16 *rows;                   /* [n] with redrawn labels */
  guint32 *selected;               /* [n_cuts][2 n_cells] */
  guint32 *cell_counts;            /* [n_cells] */
  double *cell_differences;        /* [n_cells] */
  double *cell_labels;             /* [n_cells] */
  DemurSiteSums *site_sums;        /* [n_sites][n_columns] */
  guint64 *class_counts;           /* [n_classes][n_columns], K > 2 */
  double *site_terms, *site_sizes; /* [n_cuts][n_sites] */
} Worker;

struct DemurReplicatesMemory {
  double coverages[DEMUR_N_COVERAGES], site_coverages[DEMUR_N_SITE_COVERAGES];
  guint n_workers;
  Worker *workers;
  DemurCells *cells;
  CellScore *scores;     /* [n_columns] */
  size_t *first_column;  /* [n_methods] */
  guint32 *scan_of_site; /* [n_sites] one of its scans */
  size_t max_columns, n_cuts;
};

static const DemurMethod *
method_at(const DemurReplicates *r, size_t k) {
  return r->input.methods->pdata[k];
}

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

/* From influences summed over models: sites are the independent units, a site drawn m times is m of
 * them. counts NULL: each once. */
static double
standard_error(const DemurReplicates *r, const guint32 *counts, const double *influences) {
  double n = 0.0, sum = 0.0;
  for (size_t s = 0; s < r->input.setup->sample->n_sites; s++) {
    const double times = counts != NULL ? (double)counts[r->memory->scan_of_site[s]] : 1.0;
    if (times > 0.0) {
      n += times;
      sum += influences[s] * influences[s] / times;
    }
  }
  return n > 1.0 ? sqrt(n / (n - 1.0) * sum) : NAN;
}

/* --- exact --- */

static double
exact_site2_auc(const DemurReplicates *r, const DemurMethod *method, const guint32 *counts,
                double *se) {
  const DemurSample *sample = r->input.setup->sample;
  const double *coverages = r->memory->site_coverages;
  const size_t n_sites = sample->n_sites;
  const gboolean with_se = r->input.unit == DEMUR_UNIT_SITE;
  g_autofree double *influences =
      with_se ? g_new(double, (size_t)DEMUR_N_SITE_COVERAGES *n_sites) : NULL;
  g_autofree double *sums = g_new0(double, MAX(n_sites, 1));
  double squares[DEMUR_N_SITE_COVERAGES], curve[DEMUR_N_SITE_COVERAGES], auc = 0.0;
  const double share = 1.0 / (double)method->n_models;
  for (size_t m = 0; m < method->n_models; m++) {
    const DemurSiteSample by_site = site_sample(sample, method, m, counts);
    demur_site_error_influences(&by_site, coverages, DEMUR_N_SITE_COVERAGES, squares, influences);
    auc += share * demur_coverage_auc(coverages, squares, DEMUR_N_SITE_COVERAGES);
    for (size_t s = 0; with_se && s < n_sites; s++) {
      for (size_t c = 0; c < DEMUR_N_SITE_COVERAGES; c++)
        curve[c] = influences[c * n_sites + s];
      sums[s] += share * demur_coverage_auc(coverages, curve, DEMUR_N_SITE_COVERAGES);
    }
  }
  *se = with_se ? standard_error(r, counts, sums) : NAN;
  return auc;
}

double
demur_replicates_site2_auc(const DemurReplicates *r, size_t method, double *se) {
  return exact_site2_auc(r, method_at(r, method), NULL, se);
}

static void
exact_curves(DemurReplicates *r, size_t replicate, Worker *worker) {
  const DemurExtraSetup *setup = r->input.setup;
  const size_t n_methods = r->input.methods->len;
  for (size_t k = 0; k < n_methods; k++) {
    const DemurMethod *method = method_at(r, k);
    double plain = 0.0, debiased = 0.0;
    for (size_t m = 0; m < method->n_models; m++) {
      double errors[DEMUR_N_COVERAGES], squares[DEMUR_N_COVERAGES];
      const DemurSelectiveSample selective =
          selective_sample(setup->sample, method, m, worker->counts);
      demur_selective_debiased(&selective, r->memory->coverages, DEMUR_N_COVERAGES,
                               setup->min_bin_size, worker->selective, errors, squares);
      plain += demur_coverage_auc(r->memory->coverages, errors, DEMUR_N_COVERAGES);
      debiased += demur_coverage_auc(r->memory->coverages, squares, DEMUR_N_COVERAGES);
    }
    const size_t place = replicate * n_methods + k;
    r->plain_auc[place] = plain / (double)method->n_models;
    r->debiased2_auc[place] = debiased / (double)method->n_models;
    r->site2_auc[place] = exact_site2_auc(r, method, worker->counts, &r->site2_se[place]);
  }
}

/* The last rank to keep: that of the point, or where a replicate reaches the coverage. */
static gssize
rank_for(const DemurOperating *point, const DemurSample *sample, const DemurMethod *method,
         size_t model, const guint32 *counts) {
  if (counts == NULL || point->fixed_threshold)
    return point->max_ranks[model];
  const guint32 *ranks = method->ranks[model];
  g_autofree guint32 *rank_counts = g_new0(guint32, MAX(method->n_ranks[model], 1));
  size_t n_total = 0;
  for (size_t i = 0; i < sample->n; i++) {
    rank_counts[ranks[i]] += counts[i];
    n_total += counts[i];
  }
  const size_t wanted = demur_coverage_count(point->coverage, n_total);
  gssize rank = -1;
  for (size_t sum = 0; sum < wanted;)
    sum += rank_counts[++rank];
  return rank;
}

/* rates [n_classes]: refused / all, NaN for an absent class. Returns the share that is kept. */
static double
rates_of_counts(const guint64 *all, const guint64 *refused, size_t n_classes, double *rates) {
  guint64 n_total = 0, n_refused = 0;
  for (size_t c = 0; c < n_classes; c++) {
    rates[c] = all[c] > 0 ? (double)refused[c] / (double)all[c] : NAN;
    n_total += all[c];
    n_refused += refused[c];
  }
  return n_total > 0 ? (double)(n_total - n_refused) / (double)n_total : NAN;
}

static double
exact_rates(const DemurSample *sample, const guint32 *ranks, gssize max_rank, const guint32 *counts,
            double *rates) {
  const size_t k = sample->n_classes;
  g_autofree guint64 *all = g_new0(guint64, 2 * k);
  guint64 *refused = all + k;
  for (size_t i = 0; i < sample->n; i++) {
    const guint32 count = counts != NULL ? counts[i] : 1;
    all[sample->classes[i]] += count;
    if ((gssize)ranks[i] > max_rank)
      refused[sample->classes[i]] += count;
  }
  return rates_of_counts(all, refused, k, rates);
}

/* values [DEMUR_N_OPERATING_VALUES], rates [n_classes]. counts NULL: the sample as it is, whose
 * fits are kept for the replicates to start from. */
static void
exact_point(const DemurReplicates *r, DemurOperating *point, const guint32 *counts, Worker *worker,
            double *values, double *rates) {
  const DemurExtraSetup *setup = r->input.setup;
  const DemurSample *sample = setup->sample;
  const DemurMethod *method = method_at(r, point->method);
  const double share = 1.0 / (double)method->n_models;
  const gboolean by_site = r->input.unit == DEMUR_UNIT_SITE;
  double *influences = worker->influences, *of_model = influences + sample->n_sites;
  memset(values, 0, DEMUR_N_OPERATING_VALUES * sizeof *values);
  memset(influences, 0, sample->n_sites * sizeof *influences);
  const gboolean all = point->intervals == DEMUR_INTERVALS_ALL;
  for (size_t m = 0; m < (all ? method->n_models : 1); m++) {
    const guint32 *ranks = method->ranks[m];
    const gssize rank = rank_for(point, sample, method, m, counts);
    if (m == 0)
      values[DEMUR_OPERATING_REALISED] = exact_rates(sample, ranks, rank, counts, rates);
    if (!all)
      return;
    const DemurExtraFit fit =
        demur_extra_fit(setup, ranks, rank, counts, counts != NULL ? &point->fits[m] : NULL);
    values[DEMUR_OPERATING_OE_RATIO] += share * fit.oe_ratio;
    values[DEMUR_OPERATING_INTERCEPT] += share * fit.fit.intercept;
    values[DEMUR_OPERATING_SLOPE] += share * fit.fit.slope;
    values[DEMUR_OPERATING_AUROC] += share * fit.auroc;
    if (counts == NULL)
      point->fits[m] = fit.fit;
    const DemurSelectiveSample selective = selective_sample(sample, method, m, counts);
    DemurSelectivePoint at;
    demur_selective_at_rank(&selective, rank, setup->min_bin_size, worker->selective, &at);
    values[DEMUR_OPERATING_DEBIASED2] += share * at.debiased2;
    values[DEMUR_OPERATING_PLAIN2] += share * at.error2 * at.error2;
    if (r->input.no_site_error) {
      values[DEMUR_OPERATING_SITE2] = NAN;
      continue;
    }
    const DemurSiteSample sites = site_sample(sample, method, m, counts);
    values[DEMUR_OPERATING_SITE2] +=
        share * demur_site_error_at_rank_influences(&sites, rank, by_site ? of_model : NULL);
    for (size_t s = 0; by_site && s < sample->n_sites; s++)
      influences[s] += share * of_model[s];
  }
  values[DEMUR_OPERATING_SITE2_SE] = by_site ? standard_error(r, counts, influences) : NAN;
}

static void
keep_values(const DemurReplicates *r, DemurOperating *point, size_t replicate, const double *values,
            const double *rates) {
  for (size_t v = 0; v < DEMUR_N_OPERATING_VALUES; v++)
    point->values[v * r->input.n_bootstrap + replicate] = values[v];
  for (size_t c = 0; c < r->input.setup->sample->n_classes; c++)
    point->values[(DEMUR_N_OPERATING_VALUES + c) * r->input.n_bootstrap + replicate] = rates[c];
}

static void
exact_redraw(DemurReplicates *r, size_t draw, Worker *worker) {
  const DemurExtraSetup *setup = r->input.setup;
  size_t column = 0;
  for (size_t k = 0; r->input.with_curves && k < r->input.methods->len; k++)
    for (size_t m = 0; m < method_at(r, k)->n_models; m++, column++) {
      DemurSelectiveSample selective = selective_sample(setup->sample, method_at(r, k), m, NULL);
      selective.labels = worker->labels;
      demur_selective_errors(&selective, r->memory->coverages, DEMUR_N_COVERAGES,
                             setup->min_bin_size, worker->selective,
                             r->noise + (draw * r->n_columns + column) * DEMUR_N_COVERAGES);
    }
  for (size_t p = 0; p < r->input.n_points; p++) {
    DemurOperating *point = &r->input.points[p];
    const DemurMethod *method = method_at(r, point->method);
    double sum = 0.0;
    for (size_t m = 0; m < method->n_models; m++) {
      DemurSelectiveSample selective = selective_sample(setup->sample, method, m, NULL);
      selective.labels = worker->labels;
      DemurSelectivePoint at;
      demur_selective_at_rank(&selective, point->max_ranks[m], setup->min_bin_size,
                              worker->selective, &at);
      sum += at.error2;
    }
    point->noise[draw] = sum / (double)method->n_models;
  }
}

/* --- in cells --- */

/* S-BCE_2 and its debiased square of the scans in selected [2 n_cells]. Both labels of a cell are
 * one entry, since which of them comes first would otherwise be told to the bins. */
static void
cell_errors(const DemurReplicates *r, const guint32 *selected, Worker *worker, double *error2,
            double *debiased2) {
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
add_up_sites(const DemurReplicates *r, const CellScore *score, const double *squares,
             const double *sizes, const guint32 *counts, Worker *worker) {
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
cumulate_sites(const DemurReplicates *r, const CellScore *score, const size_t *n_kept,
               size_t n_cuts, const Worker *worker, double *terms, double *sizes) {
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
cell_sites(const DemurReplicates *r, const CellScore *score, const size_t *n_kept, size_t n_cuts,
           Worker *worker, double *squares, double *influences) {
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
cell_rates(const DemurReplicates *r, const CellScore *score, size_t n_kept, const Worker *worker,
           double *rates) {
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
count_classes(const DemurReplicates *r, const CellScore *score, Worker *worker) {
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
add_cell_curves(const DemurReplicates *r, const CellScore *score, double share,
                const double *squares, const double *influences, Worker *worker, MethodSums *sums) {
  const size_t n_sites = r->input.setup->sample->n_sites,
               stride = worker->table->n_rows + ROW_PADDING;
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
               const guint32 *selected, Worker *worker, double *values) {
  const DemurCells *cells = r->memory->cells;
  const size_t n_rows = worker->table->n_rows;
  double error2, debiased2;
  cell_errors(r, selected, worker, &error2, &debiased2);
  values[DEMUR_OPERATING_DEBIASED2] += share * debiased2;
  values[DEMUR_OPERATING_PLAIN2] += share * error2 * error2;
  values[DEMUR_OPERATING_OE_RATIO] +=
      share * demur_calibration_oe_ratio(cells->risks, cells->labels, selected, n_rows);
  if (r->input.setup->sample->top_label) {
    values[DEMUR_OPERATING_INTERCEPT] = values[DEMUR_OPERATING_SLOPE] =
        values[DEMUR_OPERATING_AUROC] = NAN;
    return;
  }
  const DemurCalibrationFit fit = demur_calibration_fit_logits(
      cells->logits, cells->labels, selected, n_rows, &point->fits[model]);
  values[DEMUR_OPERATING_INTERCEPT] += share * fit.intercept;
  values[DEMUR_OPERATING_SLOPE] += share * fit.slope;
  values[DEMUR_OPERATING_AUROC] +=
      share * demur_auroc(cells->risks, cells->labels, selected, n_rows);
}

/* One replicate of method k, whose points stand at [first_point, end_point). */
static void
cell_method(DemurReplicates *r, size_t replicate, size_t k, size_t first_point, size_t end_point,
            Worker *worker) {
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
    const CellScore *score = &memory->scores[memory->first_column[k] + m];
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
                            worker->table->n_rows + ROW_PADDING);
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
                     worker->selected + (n_curve + p) * (worker->table->n_rows + ROW_PADDING),
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

static void
cell_redraw(DemurReplicates *r, size_t draw, Worker *worker) {
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
      const CellScore *score = &memory->scores[column];
      demur_cell_table_fill(worker->table, worker->rows, score->columns, NULL, sample->n);
      for (size_t c = 0; c < n_curve; c++)
        kept[c] = demur_cell_table_keep(worker->table, memory->coverages[c]);
      for (size_t p = point; p < end; p++)
        kept[n_curve + p - point] =
            demur_cell_columns_up_to(score->columns, r->input.points[p].max_ranks[m]);
      demur_cell_table_select(worker->table, kept, n_curve + end - point, worker->selected,
                              worker->table->n_rows + ROW_PADDING);
      double debiased2;
      for (size_t c = 0; c < n_curve; c++)
        cell_errors(r, worker->selected + c * (worker->table->n_rows + ROW_PADDING), worker,
                    &r->noise[(draw * r->n_columns + column) * DEMUR_N_COVERAGES + c], &debiased2);
      for (size_t p = point; p < end; p++) {
        double error2;
        cell_errors(
            r, worker->selected + (n_curve + p - point) * (worker->table->n_rows + ROW_PADDING),
            worker, &error2, &debiased2);
        r->input.points[p].noise[draw] += error2 / (double)method->n_models;
      }
    }
    point = end;
  }
}

/* --- both --- */

void
demur_replicates_draw(size_t replicate, guint worker_index, gpointer data) {
  DemurReplicates *r = data;
  Worker *worker = &r->memory->workers[worker_index];
  const DemurSample *sample = r->input.setup->sample;
  demur_sample_resample(sample, r->input.unit,
                        demur_random_stream(r->input.seed, DEMUR_STREAM_BOOTSTRAP, replicate, 0, 0),
                        worker->counts);
  if (!r->in_cells) {
    if (r->input.with_curves)
      exact_curves(r, replicate, worker);
    double values[DEMUR_N_OPERATING_VALUES];
    g_autofree double *rates = g_new(double, sample->n_classes);
    for (size_t p = 0; p < r->input.n_points; p++) {
      if (r->input.points[p].intervals == DEMUR_INTERVALS_NONE)
        continue;
      exact_point(r, &r->input.points[p], worker->counts, worker, values, rates);
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
      cell_method(r, replicate, k, first, point, worker);
  }
}

void
demur_replicates_redraw(size_t draw, guint worker_index, gpointer data) {
  DemurReplicates *r = data;
  Worker *worker = &r->memory->workers[worker_index];
  const DemurSample *sample = r->input.setup->sample;
  DemurRandom random =
      demur_random_stream(r->input.seed, DEMUR_STREAM_NOISE_FLOOR, draw, r->input.noise_part, 0);
  for (size_t i = 0; i < sample->n; i++)
    worker->labels[i] = demur_random_uniform(&random) < sample->risks[i] ? 1.0 : 0.0;
  if (r->in_cells)
    cell_redraw(r, draw, worker);
  else
    exact_redraw(r, draw, worker);
}

static void
measure_point(size_t index, guint worker_index, gpointer data) {
  DemurReplicates *r = data;
  DemurOperating *point = &r->input.points[index];
  g_autofree double *rates = g_new(double, r->input.setup->sample->n_classes);
  if (point->intervals == DEMUR_INTERVALS_ALL)
    exact_point(r, point, NULL, &r->memory->workers[worker_index], point->point, rates);
}

/* Prepares one method and model for cells. */
static void
prepare_score(size_t column, guint worker_index, gpointer data) {
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
  CellScore *score = &memory->scores[column];
  /* Without curves and with every threshold fixed, the columns are just the points. */
  const size_t n_columns = r->input.with_curves ? memory->cells->n_cells : 1;
  score->columns = demur_cell_columns_new(method->ranks[model], sample->n, method->n_ranks[model],
                                          n_columns, cuts, n_cuts);
  if (r->input.no_site_error ||
      (r->input.unit != DEMUR_UNIT_SITE && !r->input.with_curves && n_cuts == 0))
    return;
  score->patient_squares = g_new(double, MAX(sample->n, 1));
  score->patient_sizes = g_new(double, MAX(sample->n, 1));
  const DemurSiteSample by_site = site_sample(sample, method, model, NULL);
  demur_site_error_increments(&by_site, score->patient_squares, score->patient_sizes);
  if (r->input.unit != DEMUR_UNIT_SITE)
    return;
  Worker *worker = &memory->workers[worker_index];
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

static void
worker_init(const DemurReplicates *r, Worker *worker) {
  const DemurReplicatesMemory *memory = r->memory;
  const DemurSample *sample = r->input.setup->sample;
  worker->counts = g_new(guint32, MAX(sample->n, 1));
  worker->labels = g_new(double, MAX(sample->n, 1));
  worker->influences = g_new0(double, 2 * MAX(sample->n_sites, 1));
  worker->selective = demur_selective_scratch_new(sample->n);
  if (!r->in_cells)
    return;
  const size_t n_cells = memory->cells->n_cells, max_columns = memory->max_columns;
  worker->table = demur_cell_table_new(n_cells, max_columns);
  worker->rows = g_new(guint16, sample->n);
  worker->selected = g_new(guint32, memory->n_cuts * (2 * n_cells + ROW_PADDING));
  worker->cell_counts = g_new(guint32, n_cells);
  worker->cell_differences = g_new(double, n_cells);
  worker->cell_labels = g_new(double, n_cells);
  worker->site_sums = g_new(DemurSiteSums, sample->n_sites * max_columns);
  worker->class_counts = g_new(guint64, sample->n_classes * max_columns);
  worker->site_terms = g_new(double, memory->n_cuts * sample->n_sites);
  worker->site_sizes = g_new(double, memory->n_cuts * sample->n_sites);
}

static void
worker_clear(Worker *worker) {
  g_free(worker->counts);
  g_free(worker->labels);
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
  r->in_cells = sample->n >= (input->cells_from > 0 ? input->cells_from : DEMUR_CELLS_FROM);
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
      point->values = g_new0(double, (DEMUR_N_OPERATING_VALUES + sample->n_classes) *
                                         MAX(input->n_bootstrap, 1));
    for (size_t v = 0; v < DEMUR_N_OPERATING_VALUES; v++)
      point->point[v] = NAN;
  }
  if (input->with_curves) {
    const size_t n = MAX(input->n_bootstrap, 1) * n_methods;
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
    memory->scores = g_new0(CellScore, r->n_columns);
    memory->max_columns = (input->with_curves ? memory->cells->n_cells : 1) + input->n_points + 1;
    memory->n_cuts = DEMUR_N_COVERAGES + input->n_points;
  }
  memory->n_workers = parallel != NULL ? demur_parallel_n_threads(parallel) : 1;
  memory->workers = g_new0(Worker, memory->n_workers);
  for (guint w = 0; w < memory->n_workers; w++)
    worker_init(r, &memory->workers[w]);
  if (r->in_cells)
    demur_parallel_map(parallel, r->n_columns, prepare_score, r);
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

static DemurInterval
signed_roots(DemurInterval squares) {
  return (DemurInterval){demur_signed_root(squares.low), demur_signed_root(squares.high)};
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
  for (DemurExtra extra = 0; extra < DEMUR_N_EXTRAS; extra++)
    at->extra_intervals[extra] = none;
  at->realised_interval = at->debiased_interval = at->site_error_interval = none;
  for (size_t l = 0; l < at->n_labels; l++)
    at->rejected_by_label[l].rate_low = at->rejected_by_label[l].rate_high = NAN;
  if (point->intervals == DEMUR_INTERVALS_NONE)
    return;
  double *replicates = point->values;
  if (point->fixed_threshold)
    at->realised_interval = expanded(replicates + DEMUR_OPERATING_REALISED * n, n, n_units);
  for (size_t l = 0; l < at->n_labels; l++) {
    const DemurInterval rate =
        expanded(replicates + (DEMUR_N_OPERATING_VALUES + l) * n, n, n_units);
    at->rejected_by_label[l].rate_low = rate.low;
    at->rejected_by_label[l].rate_high = rate.high;
  }
  if (point->intervals == DEMUR_INTERVALS_RATES)
    return;
  at->extra_intervals[DEMUR_EXTRA_INTERCEPT] =
      expanded(replicates + DEMUR_OPERATING_INTERCEPT * n, n, n_units);
  at->extra_intervals[DEMUR_EXTRA_SLOPE] =
      expanded(replicates + DEMUR_OPERATING_SLOPE * n, n, n_units);
  at->extra_intervals[DEMUR_EXTRA_OE_RATIO] =
      expanded(replicates + DEMUR_OPERATING_OE_RATIO * n, n, n_units);
  at->extra_intervals[DEMUR_EXTRA_AUROC] =
      expanded(replicates + DEMUR_OPERATING_AUROC * n, n, n_units);
  DemurInterval squares;
  demur_interval_basic(
      replicates + DEMUR_OPERATING_DEBIASED2 * n, n, point->point[DEMUR_OPERATING_DEBIASED2],
      point->point[DEMUR_OPERATING_PLAIN2], n_units, LEVEL, &squares.low, &squares.high);
  at->debiased_interval = signed_roots(squares);
  double *site2 = replicates + DEMUR_OPERATING_SITE2 * n;
  if (r->input.unit == DEMUR_UNIT_SITE) {
    for (size_t b = 0; b < n; b++)
      site2[b] = (site2[b] - point->point[DEMUR_OPERATING_SITE2]) /
                 replicates[DEMUR_OPERATING_SITE2_SE * n + b];
    demur_interval_studentised(site2, n, point->point[DEMUR_OPERATING_SITE2],
                               point->point[DEMUR_OPERATING_SITE2_SE], n_units, LEVEL, &squares.low,
                               &squares.high);
  } else {
    squares = expanded(site2, n, n_units);
  }
  at->site_error_interval = signed_roots(squares);
}
