/* The five outlier features together: paper, section "Meta features"; method.md, "Meta features".
 *
 * Data layout: the reference is kept raw (float, for the forest and the file) and standardised
 * (double), packed for the pass, where it is fitted by rows too, and of a model that was read not before a pass needs it. Scoring takes queries in batches, so that its memory does not
 * grow with their number.
 *
 * Cost of fitting n rows: one pass over n x n distances that gives the nearest rows (LOF) and the
 * gradient of the one-class SVM, a few hundred rows of its kernel, and a forest. Scoring m rows:
 * one pass over m x n distances, and the forest.
 */
#include "features/outlier.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/finite.h"
#include "base/json-reader.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/vector.h"
#include "features/distances.h"
#include "features/isolation-forest.h"
#include "features/kde.h"
#include "features/local-outlier-factor.h"
#include "features/neighbours.h"
#include "features/one-class-svm.h"

#define FORMAT "demur-outlier-1"
/* Queries of a batch: eight chunks of the distance pass, and of many threads four each, up to 32. Their standardised rows are memory that
 * is had anew by each call, and of a batch of 3,072 rows of 256 getting it took as long as the exponentials of one feature. */
#define FEWEST_ROWS 768
#define MOST_ROWS 3072
#define ROWS_A_THREAD 384
#define MAX_WIDTH (1 << 20)
#define MAX_FITTED G_MAXINT32
/* Standardised values beyond this have no finite squared distance worth the name. */
#define FARTHEST 1e100

const DemurOutlierColumn demur_outlier_columns[DEMUR_N_OUTLIER] = {
    {"knn", "nearest reference scans (kNN)", -1},
    {"kde", "kernel density (KDE)", 1},
    {"ocsvm", "one-class SVM", 1},
    {"iforest", "isolation forest", 1},
    {"lof", "local outlier factor (LOF)", 1},
};

struct DemurOutlierModel {
  gatomicrefcount ref_count;
  DemurOutlierSettings settings;
  size_t d, n_fitted, n;
  guint32 *rows;       /* [n], ascending, in [0, n_fitted) */
  float *raw;          /* [n][d] */
  double *standard;    /* [n][d]; NULL of a model that was read: the passes ask for it */
  DemurScaler *scaler; /* of raw */
  DemurDistanceReference *reference;
  size_t n_svm;
  double gamma;
  double *alphas; /* [n], 0 where the SVM did not see the row */
  DemurForest *forest;
  double *kdist, *lrd; /* [n] */
};

void
demur_outlier_settings_init(DemurOutlierSettings *settings) {
  *settings = (DemurOutlierSettings){
      .max_reference = 20000,
      .knn_k = DEMUR_NEIGHBOURS_K,
      .lof_k = DEMUR_LOF_K,
      .svm_nu = DEMUR_SVM_NU,
      .svm_max_rows = DEMUR_SVM_MAX_ROWS,
      .forest_trees = DEMUR_FOREST_TREES,
      .forest_sample = DEMUR_FOREST_SAMPLE,
  };
}

DemurOutlierModel *
demur_outlier_model_ref(DemurOutlierModel *model) {
  g_atomic_ref_count_inc(&model->ref_count);
  return model;
}

void
demur_outlier_model_unref(DemurOutlierModel *model) {
  if (model == NULL || !g_atomic_ref_count_dec(&model->ref_count))
    return;
  g_aligned_free(model->rows);
  g_aligned_free(model->raw);
  g_aligned_free(model->standard);
  demur_scaler_unref(model->scaler);
  demur_distance_reference_free(model->reference);
  g_aligned_free(model->alphas);
  demur_forest_free(model->forest);
  g_aligned_free(model->kdist);
  g_aligned_free(model->lrd);
  g_free(model);
}

static DemurOutlierModel *
model_alloc(const DemurOutlierSettings *settings, size_t n_fitted, size_t n, size_t d) {
  DemurOutlierModel *model = g_new0(DemurOutlierModel, 1);
  g_atomic_ref_count_init(&model->ref_count);
  model->settings = *settings;
  model->d = d;
  model->n_fitted = n_fitted;
  model->n = n;
  return model;
}

/* Neighbours used by kNN and LOF: never so many that a row left out would matter. */
static size_t
knn_k(const DemurOutlierModel *model) {
  return MIN(model->settings.knn_k, model->n - 1);
}

static size_t
lof_k(const DemurOutlierModel *model) {
  return MIN(model->settings.lof_k, model->n - 1);
}

/* ---- input ---- */

static gboolean
check_finite(const float *values, size_t n, size_t d, size_t first_row, GError **error) {
  for (size_t i = 0; i < n; i++) {
    if (demur_floats_are_finite(values + i * d, d))
      continue;
    for (size_t j = 0; j < d; j++)
      if (!isfinite(values[i * d + j])) {
        demur_error_set(
            error, DEMUR_ERROR_INPUT,
            "embedding of row %zu, column %zu is not a finite number; every value must be "
            "one",
            first_row + i, j);
        return FALSE;
      }
  }
  return TRUE;
}

VECTOR_CLONES static gboolean
any_is_far(const double *values, size_t n) {
  gboolean far = FALSE;
  for (size_t i = 0; i < n; i++)
    far |= !(fabs(values[i]) <= FARTHEST);
  return far;
}

/* raw [n][d] -> standard [n][d]. */
static gboolean
standardise(const DemurOutlierModel *model, const float *raw, size_t n, size_t first_row,
            double *standard, GError **error) {
  const size_t d = model->d;
  if (!check_finite(raw, n, d, first_row, error))
    return FALSE;
  demur_scaler_apply_floats(model->scaler, raw, n, standard);
  const gboolean far = any_is_far(standard, n * d);
  for (size_t i = 0; far && i < n * d; i++)
    if (!(fabs(standard[i]) <= FARTHEST)) {
      demur_error_set(
          error, DEMUR_ERROR_INPUT,
          "embedding of row %zu, column %zu lies more than 1e100 standard deviations from "
          "the reference",
          first_row + i / d, i % d);
      return FALSE;
    }
  return TRUE;
}

/* ---- progress of a part of the work ---- */

typedef struct {
  const DemurProgress *whole;
  double begin, end;
} Part;

static void
report_part(double fraction, const char *stage, gpointer data) {
  const Part *part = data;
  if (part->whole->func != NULL)
    part->whole->func(part->begin + (part->end - part->begin) * fraction, stage, part->whole->data);
}

static const DemurProgress *
part_progress(Part *part, DemurProgress *progress) {
  if (part->whole == NULL)
    return NULL;
  *progress = (DemurProgress){report_part, part, part->whole->cancellable};
  return progress;
}

/* ---- fitting ---- */

/* Which rows are the reference: all, or max of them drawn by the seed; ascending. */
static guint32 *
choose_reference(size_t n, size_t max_rows, guint64 seed, size_t *n_chosen) {
  const size_t count = MIN(n, max_rows);
  guint32 *rows = demur_new_array(guint32, count);
  DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_REFERENCE, 0, 0, 0);
  for (size_t i = 0, kept = 0; kept < count; i++)
    if (count == n || demur_random_below(&random, n - i) < count - kept)
      rows[kept++] = (guint32)i;
  *n_chosen = count;
  return rows;
}

/* Alphas where the SVM sees fewer rows than the reference has. */
static gboolean
fit_svm_on_some(DemurOutlierModel *model, const guint32 *chosen, DemurParallel *parallel,
                const DemurProgress *progress, GError **error) {
  const size_t n = model->n_svm, d = model->d;
  DEMUR_AUTO_ALIGNED double *rows = demur_new_matrix(double, n, d);
  DEMUR_AUTO_ALIGNED double *alphas = demur_new_array(double, n);
  for (size_t i = 0; i < n; i++)
    memcpy(rows + i * d, model->standard + chosen[i] * d, d * sizeof(double));
  model->gamma = demur_svm_scale_gamma(rows, n, d);
  g_autoptr(DemurDistanceReference) reference = demur_distance_reference_new(rows, n, d, error);
  if (reference == NULL || !demur_svm_fit(reference, model->gamma, model->settings.svm_nu, 0.0,
                                          alphas, parallel, progress, error))
    return FALSE;
  for (size_t i = 0; i < n; i++)
    model->alphas[chosen[i]] = alphas[i];
  return TRUE;
}

DemurOutlierModel *
demur_outlier_model_fit(const float *embeddings, size_t n, size_t d,
                        const DemurOutlierSettings *settings, guint64 seed, DemurParallel *parallel,
                        const DemurProgress *progress, GError **error) {
  DemurOutlierSettings usual;
  demur_outlier_settings_init(&usual);
  if (settings == NULL)
    settings = &usual;
  g_return_val_if_fail(settings->max_reference >= 2 && settings->knn_k >= 1 &&
                           settings->lof_k >= 1 && settings->svm_max_rows >= 1 &&
                           settings->svm_nu > 0.0 && settings->svm_nu <= 1.0,
                       NULL);
  if (n < 2 || n > MAX_FITTED || d < 1 || d > MAX_WIDTH) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "outlier features need 2 or more reference scans with embeddings of 1 to %d "
                    "columns; found %zu scans of %zu columns",
                    MAX_WIDTH, n, d);
    return NULL;
  }
  if (!check_finite(embeddings, n, d, 0, error))
    return NULL;

  size_t n_chosen;
  guint32 *rows = choose_reference(n, settings->max_reference, seed, &n_chosen);
  g_autoptr(DemurOutlierModel) model = model_alloc(settings, n, n_chosen, d);
  model->rows = rows;
  model->raw = demur_memory_unset(model->n, d, sizeof(float), error);
  if (model->raw == NULL)
    return NULL;
  model->standard = demur_memory_unset(model->n, d, sizeof(double), error);
  if (model->standard == NULL)
    return NULL;
  for (size_t i = 0; i < model->n; i++)
    memcpy(model->raw + i * d, embeddings + model->rows[i] * d, d * sizeof(float));
  model->scaler = demur_scaler_fit_floats(model->raw, model->n, d, error);
  if (model->scaler == NULL || !standardise(model, model->raw, model->n, 0, model->standard, error))
    return NULL;
  model->reference = demur_distance_reference_new(model->standard, model->n, d, error);
  if (model->reference == NULL)
    return NULL;
  model->forest = demur_forest_fit(model->raw, model->n, d, settings->forest_trees,
                                   settings->forest_sample, seed, parallel);

  /* One pass for the nearest rows and, where the SVM sees them all, its gradient. */
  g_autofree guint32 *chosen =
      demur_svm_choose_rows(model->n, settings->svm_max_rows, seed, &model->n_svm);
  const gboolean sees_all = model->n_svm == model->n;
  const size_t k = lof_k(model);
  model->alphas = demur_new_array(double, model->n);
  model->kdist = demur_new_array(double, model->n);
  model->lrd = demur_new_array(double, model->n);
  DEMUR_AUTO_ALIGNED double *near_distances = demur_new_matrix(double, model->n, k);
  DEMUR_AUTO_ALIGNED guint32 *near_indices = demur_new_matrix(guint32, model->n, k);
  DEMUR_AUTO_ALIGNED double *gradient = demur_new_array(double, model->n);
  g_autofree gssize *own = g_new(gssize, model->n);
  for (size_t i = 0; i < model->n; i++)
    own[i] = (gssize)i;
  DemurDistanceWants wants = {
      .k = k, .near_distances = near_distances, .near_indices = near_indices};
  Part start = {progress, 0.0, 0.1}, middle = {progress, 0.1, 0.5}, end = {progress, 0.5, 1.0};
  DemurProgress part;
  if (sees_all) {
    model->gamma = demur_svm_scale_gamma(model->standard, model->n, d);
    if (!demur_svm_start(model->reference, model->gamma, settings->svm_nu, model->alphas, parallel,
                         part_progress(&start, &part), error))
      return NULL;
    wants.gamma = model->gamma;
    wants.weights = model->alphas;
    wants.kernel_sum = gradient;
  }
  if (!demur_distance_pass(model->reference, model->standard, model->n, own, &wants, parallel,
                           part_progress(&middle, &part), error))
    return NULL;
  demur_lof_fit(near_distances, near_indices, model->n, k, k, model->kdist, model->lrd);
  const DemurProgress *last = part_progress(&end, &part);
  if (sees_all ? !demur_svm_finish(model->reference, model->gamma, 0.0, model->alphas, gradient,
                                   parallel, last, error)
               : !fit_svm_on_some(model, chosen, parallel, last, error))
    return NULL;
  return g_steal_pointer(&model);
}

/* ---- scoring ---- */

/* Where a row of the fitted array stands in the reference, -1 where it doesn't. */
static gssize
reference_place(const DemurOutlierModel *model, gssize row) {
  size_t low = 0, high = model->n;
  if (row < 0)
    return -1;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (model->rows[middle] < (size_t)row)
      low = middle + 1;
    else
      high = middle;
  }
  return low < model->n && model->rows[low] == (size_t)row ? (gssize)low : -1;
}

typedef struct {
  size_t n;            /* rows of a batch; the last may have fewer */
  double *standard;    /* [n][d] */
  gssize *own;         /* [n] */
  double *distances;   /* [n][k] */
  guint32 *indices;    /* [n][k] */
  double *log_sum_exp; /* [n] */
  double *kernel_sum;  /* [n] */
} Batch;

static Batch
batch_new(const DemurOutlierModel *model, size_t m, size_t k, DemurParallel *parallel) {
  const size_t wanted = ROWS_A_THREAD * (size_t)demur_parallel_n_threads(parallel);
  const size_t n = MIN(m, CLAMP(wanted, FEWEST_ROWS, MOST_ROWS));
  return (Batch){
      .n = n,
      .standard = demur_new_matrix(double, n, model->d),
      .own = demur_new_array(gssize, n),
      .distances = demur_new_matrix(double, n, k),
      .indices = demur_new_matrix(guint32, n, k),
      .log_sum_exp = demur_new_array(double, n),
      .kernel_sum = demur_new_array(double, n),
  };
}

static void
batch_clear(Batch *batch) {
  g_aligned_free(batch->standard);
  g_aligned_free(batch->own);
  g_aligned_free(batch->distances);
  g_aligned_free(batch->indices);
  g_aligned_free(batch->log_sum_exp);
  g_aligned_free(batch->kernel_sum);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Batch, batch_clear)

/* The batch of n queries from row first on: standardised, and measured against the reference. */
static gboolean
measure_batch(const DemurOutlierModel *model, Batch *batch, const DemurDistanceWants *wants,
              const float *embeddings, const gssize *exclude, size_t first, size_t n,
              DemurParallel *parallel, const DemurProgress *progress, GError **error) {
  if (!standardise(model, embeddings + first * model->d, n, first, batch->standard, error))
    return FALSE;
  for (size_t i = 0; i < n; i++)
    batch->own[i] = exclude != NULL ? reference_place(model, exclude[first + i]) : -1;
  return demur_distance_pass(model->reference, batch->standard, n, batch->own, wants, parallel,
                             progress, error);
}

#define FINISHED_ROWS 96 /* of a chunk */

/* What a batch's scores make of its distances. */
typedef struct {
  const DemurOutlierModel *model;
  const Batch *batch;
  size_t n, k;
  double *scores; /* [n][DEMUR_N_OUTLIER] */
} Finish;

static void
finish_chunk(size_t chunk, guint worker, gpointer data) {
  const Finish *f = data;
  const DemurOutlierModel *model = f->model;
  const Batch *batch = f->batch;
  const size_t first = chunk * FINISHED_ROWS, end = MIN(first + FINISHED_ROWS, f->n), k = f->k;
  demur_neighbours_mean_distance(batch->distances + first * k, end - first, k, knn_k(model),
                                 f->scores + first * DEMUR_N_OUTLIER + DEMUR_OUTLIER_KNN,
                                 DEMUR_N_OUTLIER);
  for (size_t i = first; i < end; i++) {
    double *row = f->scores + i * DEMUR_N_OUTLIER;
    row[DEMUR_OUTLIER_KDE] =
        demur_kde_log_density(batch->log_sum_exp[i], model->n - (batch->own[i] >= 0), model->d);
    row[DEMUR_OUTLIER_SVM] = batch->kernel_sum[i];
    row[DEMUR_OUTLIER_LOF] = demur_lof_score(batch->distances + i * k, batch->indices + i * k,
                                             lof_k(model), model->kdist, model->lrd);
  }
}

gboolean
demur_outlier_model_score(const DemurOutlierModel *model, const float *embeddings, size_t m,
                          const gssize *exclude, double *out, DemurParallel *parallel,
                          const DemurProgress *progress, GError **error) {
  const size_t k = MAX(knn_k(model), lof_k(model));
  g_auto(Batch) batch = batch_new(model, m, k, parallel);
  const DemurDistanceWants wants = {
      .k = k,
      .near_distances = batch.distances,
      .near_indices = batch.indices,
      .log_sum_exp = batch.log_sum_exp,
      .weights = model->alphas,
      .gamma = model->gamma,
      .kernel_sum = batch.kernel_sum,
  };
  for (size_t first = 0; first < m; first += batch.n) {
    const size_t n = MIN(batch.n, m - first);
    Part part = {progress, (double)first / (double)m, (double)(first + n) / (double)m};
    DemurProgress inner;
    if (!measure_batch(model, &batch, &wants, embeddings, exclude, first, n, parallel,
                       part_progress(&part, &inner), error))
      return FALSE;
    double *rows = out + first * DEMUR_N_OUTLIER;
    demur_forest_score(model->forest, embeddings + first * model->d, n, rows + DEMUR_OUTLIER_FOREST,
                       DEMUR_N_OUTLIER, parallel);
    Finish finish = {model, &batch, n, k, rows};
    demur_parallel_map(parallel, (n + FINISHED_ROWS - 1) / FINISHED_ROWS, finish_chunk, &finish);
  }
  return TRUE;
}

gboolean
demur_outlier_model_nearest(const DemurOutlierModel *model, const float *embeddings, size_t m,
                            const gssize *exclude, size_t k, guint32 *rows, double *distances,
                            DemurParallel *parallel, const DemurProgress *progress,
                            GError **error) {
  g_return_val_if_fail(k >= 1 && k <= model->n - (exclude != NULL), FALSE);
  g_auto(Batch) batch = batch_new(model, m, k, parallel);
  const DemurDistanceWants wants = {
      .k = k, .near_distances = batch.distances, .near_indices = batch.indices};
  for (size_t first = 0; first < m; first += batch.n) {
    const size_t n = MIN(batch.n, m - first);
    Part part = {progress, (double)first / (double)m, (double)(first + n) / (double)m};
    DemurProgress inner;
    if (!measure_batch(model, &batch, &wants, embeddings, exclude, first, n, parallel,
                       part_progress(&part, &inner), error))
      return FALSE;
    for (size_t i = 0; i < n * k; i++) {
      if (rows != NULL)
        rows[first * k + i] = model->rows[batch.indices[i]];
      if (distances != NULL)
        distances[first * k + i] = batch.distances[i];
    }
  }
  return TRUE;
}

/* ---- what it is made of ---- */

size_t
demur_outlier_model_width(const DemurOutlierModel *model) {
  return model->d;
}

size_t
demur_outlier_model_n_fitted(const DemurOutlierModel *model) {
  return model->n_fitted;
}

size_t
demur_outlier_model_n_reference(const DemurOutlierModel *model) {
  return model->n;
}

size_t
demur_outlier_model_n_svm_rows(const DemurOutlierModel *model) {
  return model->n_svm;
}

size_t
demur_outlier_model_n_svm_vectors(const DemurOutlierModel *model) {
  size_t n_vectors = 0;
  for (size_t i = 0; i < model->n; i++)
    n_vectors += model->alphas[i] > 0.0;
  return n_vectors;
}

const guint32 *
demur_outlier_model_rows(const DemurOutlierModel *model) {
  return model->rows;
}

const float *
demur_outlier_model_reference(const DemurOutlierModel *model) {
  return model->raw;
}

const DemurScaler *
demur_outlier_model_scaler(const DemurOutlierModel *model) {
  return model->scaler;
}

/* ---- JSON ---- */

void
demur_outlier_model_write_json(const DemurOutlierModel *model, DemurJson *json) {
  const DemurOutlierSettings *s = &model->settings;
  g_autofree double *rows = g_new(double, model->n);
  for (size_t i = 0; i < model->n; i++)
    rows[i] = model->rows[i];
  demur_json_string(json, "format", FORMAT);
  demur_json_int(json, "width", (gint64)model->d);
  demur_json_int(json, "n_fitted", (gint64)model->n_fitted);
  demur_json_int(json, "n_reference", (gint64)model->n);
  demur_json_int(json, "max_reference", (gint64)s->max_reference);
  demur_json_int(json, "knn_k", (gint64)s->knn_k);
  demur_json_int(json, "lof_k", (gint64)s->lof_k);
  demur_json_double(json, "svm_nu", s->svm_nu);
  demur_json_int(json, "svm_max_rows", (gint64)s->svm_max_rows);
  demur_json_int(json, "svm_rows", (gint64)model->n_svm);
  demur_json_double(json, "svm_gamma", model->gamma);
  demur_json_int(json, "forest_trees", (gint64)s->forest_trees);
  demur_json_int(json, "forest_sample", (gint64)s->forest_sample);
  demur_json_doubles(json, "scaler_means", demur_scaler_means(model->scaler), model->d);
  demur_json_doubles(json, "scaler_sds", demur_scaler_sds(model->scaler), model->d);
  demur_json_doubles(json, "rows", rows, model->n);
  demur_json_floats_base64(json, "reference", model->raw, model->n * model->d);
  demur_json_doubles(json, "svm_alphas", model->alphas, model->n);
  demur_json_doubles(json, "lof_kdist", model->kdist, model->n);
  demur_json_doubles(json, "lof_lrd", model->lrd, model->n);
  demur_json_begin_object(json, "forest");
  demur_forest_write_json(model->forest, json);
  demur_json_end_object(json);
}

static gboolean
read_size(JsonObject *object, const char *key, gint64 minimum, gint64 maximum, size_t *value,
          GError **error) {
  gint64 number;
  if (!demur_json_read_int(object, key, minimum, maximum, &number, error))
    return FALSE;
  *value = (size_t)number;
  return TRUE;
}

/* Rows of the reference, which are known to be finite when standardised. */
static void
give_standard(size_t first, size_t n_rows, double *rows, gpointer data) {
  const DemurOutlierModel *model = data;
  demur_scaler_apply_floats(model->scaler, model->raw + first * model->d, n_rows, rows);
}

/* The reference of a model that was read, whose values are finite: none may lie too far. Where no float could, none is looked at. */
static gboolean
check_reference(const DemurOutlierModel *model, GError **error) {
  const size_t d = model->d;
  const double *means = demur_scaler_means(model->scaler), *sds = demur_scaler_sds(model->scaler);
  gboolean any_suffices = TRUE;
  for (size_t j = 0; j < d; j++)
    any_suffices = any_suffices && (FLT_MAX + fabs(means[j])) / sds[j] <= 0.5 * FARTHEST;
  DEMUR_AUTO_ALIGNED double *row = demur_new_array(double, d);
  for (size_t i = 0; !any_suffices && i < model->n; i++)
    if (!standardise(model, model->raw + i * d, 1, i, row, error))
      return FALSE;
  return TRUE;
}

DemurOutlierModel *
demur_outlier_model_read_json(JsonObject *object, const DemurJsonApart *apart, GError **error) {
  const char *format;
  if (!demur_json_read_string(object, "format", &format, error))
    return NULL;
  if (strcmp(format, FORMAT) != 0) {
    demur_error_set(
        error, DEMUR_ERROR_UNSUPPORTED,
        "outlier model: expected the format \"%s\"; another one needs another version of "
        "this program",
        FORMAT);
    return NULL;
  }
  DemurOutlierSettings settings;
  size_t d, n_fitted, n;
  if (!read_size(object, "width", 1, MAX_WIDTH, &d, error) ||
      !read_size(object, "n_fitted", 2, MAX_FITTED, &n_fitted, error) ||
      !read_size(object, "n_reference", 2, (gint64)n_fitted, &n, error) ||
      !read_size(object, "max_reference", (gint64)n, MAX_FITTED, &settings.max_reference, error) ||
      !read_size(object, "knn_k", 1, MAX_FITTED, &settings.knn_k, error) ||
      !read_size(object, "lof_k", 1, MAX_FITTED, &settings.lof_k, error) ||
      !demur_json_read_double(object, "svm_nu", 1e-9, 1.0, &settings.svm_nu, error) ||
      !read_size(object, "svm_max_rows", 1, MAX_FITTED, &settings.svm_max_rows, error) ||
      !read_size(object, "forest_trees", 1, MAX_FITTED, &settings.forest_trees, error) ||
      !read_size(object, "forest_sample", 2, MAX_FITTED, &settings.forest_sample, error))
    return NULL;

  g_autoptr(DemurOutlierModel) model = model_alloc(&settings, n_fitted, n, d);
  DEMUR_AUTO_ALIGNED double *means = NULL, *sds = NULL;
  JsonObject *forest;
  if (!read_size(object, "svm_rows", 1, (gint64)n, &model->n_svm, error) ||
      !demur_json_read_double(object, "svm_gamma", 1e-300, 1e300, &model->gamma, error) ||
      !demur_json_read_doubles(object, "scaler_means", d, -INFINITY, INFINITY, &means, error) ||
      !demur_json_read_doubles(object, "scaler_sds", d, 0.0, INFINITY, &sds, error) ||
      !demur_json_read_indices_of(object, apart, "rows", n, 0, (guint32)n_fitted - 1, &model->rows,
                                  error) ||
      !demur_json_read_floats_base64_of(object, apart, "reference", n * d, &model->raw, error) ||
      !demur_json_read_doubles_of(object, apart, "svm_alphas", n, 0.0, 1.0, &model->alphas,
                                  error) ||
      !demur_json_read_doubles_of(object, apart, "lof_kdist", n, 0.0, 1e110, &model->kdist,
                                  error) ||
      !demur_json_read_doubles_of(object, apart, "lof_lrd", n, 0.0, 1e11, &model->lrd, error) ||
      !demur_json_read_object(object, "forest", &forest, error))
    return NULL;
  for (size_t i = 1; i < n; i++)
    if (model->rows[i] <= model->rows[i - 1]) {
      demur_error_set(error, DEMUR_ERROR_INPUT, "member \"rows[%zu]\": the rows must be ascending",
                      i);
      return NULL;
    }
  model->scaler = demur_scaler_new_from_arrays(means, sds, d, error);
  if (model->scaler == NULL)
    return NULL;
  if (!check_reference(model, error))
    return NULL;
  model->reference = demur_distance_reference_new_given(n, d, give_standard, model);
  model->forest = demur_forest_read_json(forest, apart, d, error);
  return model->forest != NULL ? g_steal_pointer(&model) : NULL;
}
