/* Algorithm 1, lines 5-9: selective calibration error of each data set, the kappa worst, one Adam
 * step on their mean loss.
 *
 * Data: g~ is one value a distinct scan, so one forward pass over the union of the m data sets
 * serves all of them, and one sort by z serves all their thresholds. Only scans of the kappa chosen
 * data sets go backward: of the forward pass the second layer is kept, and the first, cheap with few inputs, made
 * anew for them, since what is kept leaves the caches. Rows are read where they lie. Order of work (each a parallel map over chunks fixed by the data, merged
 * in order): union of rows; forward in chunks of ROWS; ranks of z; error of each data set; what the logits of the
 * chosen ones' scans have to do with the loss, once for all of them; loss of each chosen one; backward in chunks of ROWS, one partial gradient each; Adam. Cost: |union|
 * forward, |union of chosen| backward, m x 10 coverages x |data set| / 2 for the choice. Memory: what is kept of
 * a scan that an update sees is bounded by the union, of every scan there is 20 bytes. */
#include "selector/update.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "metrics/coverage.h"
#include "metrics/drawn-errors.h"
#include "metrics/selective.h"

#define ROWS 510 /* a multiple of 6, the rows of a tile in mlp-tiles.inc */
#define N_AUC_POINTS 10

typedef struct {
  DemurSelectiveScratch *selective; /* of weighted outcomes */
  DemurDrawnScratch *drawn;         /* of others */
  double *risks, *labels, *weights; /* [dataset_capacity] */
  guint32 *counts, *ranks;
  DemurSmmceScore *scores; /* [dataset_capacity] */
  DemurReal *passes;       /* [ROWS][d + 4 h] of the network's passes */
} WorkerScratch;

/* What a chosen data set contributes: its gradient in z by entry. */
typedef struct {
  size_t dataset;
  DemurSmmceLoss loss;
  DemurReal *gradient; /* [dataset_capacity] */
} Chosen;

struct DemurUpdater {
  DemurTrainingScans scans;
  DemurMlpShape shape;
  DemurUpdateSettings settings;
  size_t n_datasets, dataset_capacity, n_kept;
  size_t union_capacity; /* of distinct scans: min(n_scans, n_datasets dataset_capacity) */
  DemurParallel *parallel;

  guint64 *
      marks; /* [n_scans / 8 + 1] a byte for each scan, or place in the union: 1 where it is taken; 0 between uses */
  guint32 *places; /* [n_scans] place in the union, of rows that are in it */
  guint32 *rows;   /* [union_capacity + 1] the union, ascending */
  size_t n_union;
  DemurReal *hidden2;    /* [union_capacity][h] of the union */
  DemurReal *z;          /* [union_capacity] of the union */
  double *scores;        /* [union_capacity] z as double */
  guint32 *ranks;        /* [union_capacity] of the union */
  DemurDrawnScan *drawn; /* [n_scans] by row; ranks of rows in the union */
  size_t n_ranks;

  double coverages[N_AUC_POINTS];
  size_t n_coverages;
  double *errors;           /* [n_datasets] */
  Chosen *chosen;           /* [n_kept] */
  DemurReal *dz;            /* [union_capacity] by place, zero between updates */
  guint32 *backward_places; /* [union_capacity + 1] places in the chosen data sets, ascending */
  DemurSmmceScore *smmce;   /* [union_capacity] by place, of these places */
  size_t n_backward;
  DemurReal *gradients; /* [n_chunks][n_parameters] */
  size_t max_chunks;

  WorkerScratch *workers; /* [n_threads] */

  DemurDataset *const *datasets; /* of the update at work */
  DemurReal *transposed;         /* [n_parameters] of the parameters at work */
  DemurMlp mlp;
};

DemurUpdater *
demur_updater_new(const DemurTrainingScans *scans, DemurMlpShape shape,
                  const DemurUpdateSettings *settings, size_t n_datasets, size_t dataset_capacity,
                  DemurParallel *parallel) {
  g_return_val_if_fail(shape.n_inputs == scans->n_features, NULL);
  DemurUpdater *u = g_new0(DemurUpdater, 1);
  const size_t n = scans->n_scans, d = shape.n_inputs, h = shape.n_hidden;
  u->scans = *scans;
  u->shape = shape;
  u->settings = *settings;
  u->n_datasets = n_datasets;
  u->dataset_capacity = dataset_capacity;
  u->n_kept = settings->kappa == 0 ? n_datasets : MIN(settings->kappa, n_datasets);
  u->parallel = parallel;
  const size_t n_union = u->union_capacity = MIN(n, n_datasets * dataset_capacity);
  u->marks = demur_new_array(guint64, n / 8 + 1);
  u->places = demur_new_array(guint32, n);
  u->rows = demur_new_array(guint32, n_union + 1);
  u->hidden2 = demur_new_matrix(DemurReal, n_union, h);
  u->z = demur_new_array(DemurReal, n_union);
  u->scores = demur_new_array(double, n_union);
  u->ranks = demur_new_array(guint32, n_union);
  u->drawn = demur_new_array(DemurDrawnScan, n);
  for (size_t i = 0; i < n; i++) {
    u->drawn[i].difference = scans->labels[i] - scans->risks[i];
    u->drawn[i].risk = i == 0 ? 0 : u->drawn[i - 1].risk + (scans->risks[i] != scans->risks[i - 1]);
  }
  u->errors = demur_new_array(double, n_datasets);
  u->chosen = g_new0(Chosen, u->n_kept);
  for (size_t c = 0; c < u->n_kept; c++)
    u->chosen[c].gradient = demur_new_array(DemurReal, dataset_capacity);
  u->dz = demur_new_array(DemurReal, n_union);
  u->backward_places = demur_new_array(guint32, n_union + 1);
  u->smmce = demur_memory_new(n_union, 1, sizeof *u->smmce);
  u->max_chunks = (MIN(n, u->n_kept * dataset_capacity) + ROWS - 1) / ROWS;
  u->transposed = demur_new_array(DemurReal, shape.n_parameters);
  u->gradients = demur_new_matrix(DemurReal, u->max_chunks, shape.n_parameters);
  if (settings->kappa_coverage > 0.0) {
    u->n_coverages = 1;
    u->coverages[0] = settings->kappa_coverage;
  } else {
    u->n_coverages = N_AUC_POINTS;
    demur_coverage_grid(N_AUC_POINTS, u->coverages);
  }
  const guint n_threads = demur_parallel_n_threads(parallel);
  u->workers = g_new0(WorkerScratch, n_threads);
  for (guint w = 0; w < n_threads; w++) {
    WorkerScratch *s = &u->workers[w];
    if (scans->weights != NULL)
      s->selective = demur_selective_scratch_new(MAX(n_union, dataset_capacity));
    else
      s->drawn = demur_drawn_scratch_new(n_union, dataset_capacity);
    s->risks = demur_new_array(double, dataset_capacity);
    s->labels = demur_new_array(double, dataset_capacity);
    s->weights = demur_new_array(double, dataset_capacity);
    s->counts = demur_new_array(guint32, dataset_capacity);
    s->ranks = demur_new_array(guint32, dataset_capacity);
    s->scores = demur_memory_new(dataset_capacity, 1, sizeof *s->scores);
    s->passes = demur_new_matrix(DemurReal, ROWS, d + 4 * h);
  }
  return u;
}

void
demur_updater_free(DemurUpdater *u) {
  if (u == NULL)
    return;
  const guint n_threads = demur_parallel_n_threads(u->parallel);
  for (guint w = 0; w < n_threads; w++) {
    WorkerScratch *s = &u->workers[w];
    demur_selective_scratch_free(s->selective);
    demur_drawn_scratch_free(s->drawn);
    g_aligned_free(s->risks);
    g_aligned_free(s->labels);
    g_aligned_free(s->weights);
    g_aligned_free(s->counts);
    g_aligned_free(s->ranks);
    g_aligned_free(s->scores);
    g_aligned_free(s->passes);
  }
  g_free(u->workers);
  for (size_t c = 0; c < u->n_kept; c++)
    g_aligned_free(u->chosen[c].gradient);
  g_free(u->chosen);
  g_aligned_free(u->marks);
  g_aligned_free(u->places);
  g_aligned_free(u->rows);
  g_aligned_free(u->hidden2);
  g_aligned_free(u->z);
  g_aligned_free(u->scores);
  g_aligned_free(u->ranks);
  g_aligned_free(u->drawn);
  g_aligned_free(u->errors);
  g_aligned_free(u->dz);
  g_aligned_free(u->backward_places);
  g_aligned_free(u->smmce);
  g_aligned_free(u->transposed);
  g_aligned_free(u->gradients);
  g_free(u);
}

const double *
demur_updater_dataset_errors(const DemurUpdater *u) {
  return u->errors;
}

/* The marked ones of n in ascending order, their marks taken away. where [n], if not NULL, gets the place of
 * each among them. Eight are looked at together; no branch hangs on one alone. */
static size_t
take_marked(guint64 *marks, size_t n, guint32 *taken, guint32 *where) {
  size_t n_taken = 0;
  for (size_t word = 0; word <= n / 8; word++) {
    if (marks[word] == 0)
      continue;
    const guint8 *bytes = (const guint8 *)(marks + word);
    const size_t first = word * 8, end = MIN(n, first + 8);
    for (size_t i = first; i < end; i++) {
      if (where != NULL)
        where[i] = (guint32)n_taken;
      taken[n_taken] = (guint32)i;
      n_taken += bytes[i - first];
    }
    marks[word] = 0;
  }
  return n_taken;
}

static void
gather_union(DemurUpdater *u) {
  guint8 *marks = (guint8 *)u->marks;
  for (size_t k = 0; k < u->n_datasets; k++) {
    const DemurDataset *dataset = u->datasets[k];
    for (size_t j = 0; j < dataset->n_rows; j++)
      marks[dataset->rows[j]] = 1;
  }
  u->n_union = take_marked(u->marks, u->scans.n_scans, u->rows, u->places);
}

static void
forward_chunk(size_t chunk, guint worker, gpointer data) {
  DemurUpdater *u = data;
  WorkerScratch *s = &u->workers[worker];
  const size_t start = chunk * ROWS, n = MIN(ROWS, u->n_union - start);
  const DemurMlpScans scans = {u->scans.features, u->rows + start, n};
  demur_mlp_forward(&u->mlp, &scans, s->passes, u->hidden2 + start * u->shape.n_hidden,
                    u->z + start);
  for (size_t i = start; i < start + n; i++)
    u->scores[i] = (double)u->z[i];
}

static void
errors_of_weighted(const DemurUpdater *u, WorkerScratch *s, const DemurDataset *dataset,
                   double *errors) {
  for (size_t j = 0; j < dataset->n_rows; j++) {
    const guint32 row = dataset->rows[j];
    s->risks[j] = u->scans.risks[row];
    s->labels[j] = u->scans.labels[row];
    s->weights[j] = u->scans.weights[row];
    s->counts[j] = dataset->counts[j];
    s->ranks[j] = u->drawn[row].rank;
  }
  const DemurSelectiveSample sample = {.n = dataset->n_rows,
                                       .risks = s->risks,
                                       .labels = s->labels,
                                       .weights = s->weights,
                                       .counts = s->counts,
                                       .ranks = s->ranks,
                                       .n_ranks = u->n_ranks};
  demur_selective_errors(&sample, u->coverages, u->n_coverages, u->settings.min_bin_size,
                         s->selective, errors);
}

static void
error_of_dataset(size_t k, guint worker, gpointer data) {
  DemurUpdater *u = data;
  WorkerScratch *s = &u->workers[worker];
  const DemurDataset *dataset = u->datasets[k];
  double errors[N_AUC_POINTS];
  if (u->scans.weights != NULL) {
    errors_of_weighted(u, s, dataset, errors);
  } else {
    const DemurDrawnScans scans = {u->drawn, u->scans.n_scans, u->n_ranks};
    const DemurDrawnSet set = {dataset->n_rows, dataset->n_total, dataset->rows, dataset->counts};
    demur_drawn_errors(&scans, &set, u->coverages, u->n_coverages, u->settings.min_bin_size,
                       s->drawn, errors);
  }
  u->errors[k] =
      u->n_coverages == 1 ? errors[0] : demur_coverage_auc(u->coverages, errors, u->n_coverages);
}

/* The n_kept data sets of largest error, ties to the lower index, in the order of their index. */
static void
choose_worst(DemurUpdater *u) {
  g_autofree gboolean *taken = g_new0(gboolean, u->n_datasets);
  for (size_t c = 0; c < u->n_kept; c++) {
    size_t worst = G_MAXSIZE;
    for (size_t k = 0; k < u->n_datasets; k++)
      if (!taken[k] && (worst == G_MAXSIZE || u->errors[k] > u->errors[worst]))
        worst = k;
    taken[worst] = TRUE;
  }
  size_t c = 0;
  for (size_t k = 0; k < u->n_datasets; k++)
    if (taken[k])
      u->chosen[c++].dataset = k;
}

/* The places of the chosen data sets' scans, in ascending order. */
static void
gather_chosen(DemurUpdater *u) {
  guint8 *marks = (guint8 *)u->marks;
  for (size_t c = 0; c < u->n_kept; c++) {
    const DemurDataset *dataset = u->datasets[u->chosen[c].dataset];
    for (size_t j = 0; j < dataset->n_rows; j++)
      marks[u->places[dataset->rows[j]]] = 1;
  }
  u->n_backward = take_marked(u->marks, u->n_union, u->backward_places, NULL);
}

static void
score_chunk(size_t chunk, guint worker, gpointer data) {
  DemurUpdater *u = data;
  for (size_t i = chunk * ROWS; i < MIN((chunk + 1) * ROWS, u->n_backward); i++) {
    const guint32 place = u->backward_places[i];
    u->smmce[place] = demur_smmce_score(u->z[place]);
  }
}

static void
loss_of_chosen(size_t c, guint worker, gpointer data) {
  DemurUpdater *u = data;
  WorkerScratch *s = &u->workers[worker];
  const DemurDataset *dataset = u->datasets[u->chosen[c].dataset];
  /* risks and labels are free again: they hold r and e. */
  for (size_t j = 0; j < dataset->n_rows; j++) {
    const guint32 row = dataset->rows[j];
    s->risks[j] = u->scans.risks[row];
    s->labels[j] = u->scans.errors[row];
    s->scores[j] = u->smmce[u->places[row]];
  }
  u->chosen[c].loss =
      demur_smmce_loss_of_scores(&u->settings.smmce, s->risks, s->labels, dataset->counts,
                                 s->scores, dataset->n_rows, u->chosen[c].gradient);
}

/* Mean gradient in z over the chosen data sets, by place. */
static void
merge_gradients(DemurUpdater *u) {
  const DemurReal scale = (DemurReal)(1.0 / (double)u->n_kept);
  for (size_t c = 0; c < u->n_kept; c++) {
    const DemurDataset *dataset = u->datasets[u->chosen[c].dataset];
    for (size_t j = 0; j < dataset->n_rows; j++)
      u->dz[u->places[dataset->rows[j]]] += scale * u->chosen[c].gradient[j];
  }
}

static void
backward_chunk(size_t chunk, guint worker, gpointer data) {
  DemurUpdater *u = data;
  WorkerScratch *s = &u->workers[worker];
  const size_t start = chunk * ROWS, n = MIN(ROWS, u->n_backward - start);
  DemurReal dz[ROWS];
  guint32 rows[ROWS];
  const guint32 *places = u->backward_places + start;
  for (size_t i = 0; i < n; i++) {
    const guint32 place = places[i];
    rows[i] = u->rows[place];
    dz[i] = u->dz[place];
    u->dz[place] = 0;
  }
  DemurReal *gradient = u->gradients + chunk * u->shape.n_parameters;
  memset(gradient, 0, u->shape.n_parameters * sizeof(DemurReal));
  const DemurMlpScans scans = {u->scans.features, rows, n};
  demur_mlp_backward(&u->mlp, &scans, u->hidden2, places, dz, s->passes, gradient);
}

void
demur_updater_run(DemurUpdater *u, DemurDataset *const *datasets, DemurAdam *adam,
                  DemurReal *parameters, DemurUpdateResult *result) {
  u->datasets = datasets;
  demur_mlp_transpose(u->shape, parameters, u->transposed);
  u->mlp = (DemurMlp){u->shape, parameters, u->transposed};
  gather_union(u);
  demur_parallel_map(u->parallel, (u->n_union + ROWS - 1) / ROWS, forward_chunk, u);
  if (u->n_kept < u->n_datasets) {
    u->n_ranks = demur_coverage_ranks(u->scores, u->n_union, u->ranks);
    for (size_t i = 0; i < u->n_union; i++)
      u->drawn[u->rows[i]].rank = u->ranks[i];
    demur_parallel_map(u->parallel, u->n_datasets, error_of_dataset, u);
  }
  choose_worst(u);
  gather_chosen(u);
  const size_t n_chunks = (u->n_backward + ROWS - 1) / ROWS;
  demur_parallel_map(u->parallel, n_chunks, score_chunk, u);
  demur_parallel_map(u->parallel, u->n_kept, loss_of_chosen, u);
  merge_gradients(u);
  demur_parallel_map(u->parallel, n_chunks, backward_chunk, u);
  DemurReal *gradient = u->gradients;
  for (size_t chunk = 1; chunk < n_chunks; chunk++) {
    const DemurReal *partial = u->gradients + chunk * u->shape.n_parameters;
    for (size_t p = 0; p < u->shape.n_parameters; p++)
      gradient[p] += partial[p];
  }
  *result = (DemurUpdateResult){0};
  for (size_t c = 0; c < u->n_kept; c++) {
    result->smmce += u->chosen[c].loss.smmce / (double)u->n_kept;
    result->regulariser += u->chosen[c].loss.regulariser / (double)u->n_kept;
  }
  result->loss = result->smmce + result->regulariser;
  result->gradient_norm = demur_adam_step(adam, &u->settings.adam, gradient, parameters);
}
