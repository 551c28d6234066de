/* Scoring: view -> meta features -> standardised inputs -> networks -> mean g~ (-> share within the
 * risk band). The document is selector-file.c. */
#include "selector/making.h"
#include "selector/selector-private.h"
#include "selector/selector-sound.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sort-floats.h"
#include "metrics/offset-logistic.h"
#include "selector/components.h"
#include "selector/network-scores.h"

#define ROWS 256    /* a chunk of a parallel map */
#define HASHES 1024 /* patients or scans of a chunk whose SHA-256 is looked for */

DemurSelector *
demur_selector_alloc(void) {
  DemurSelector *selector = g_new0(DemurSelector, 1);
  selector->ref_count = 1;
  selector->version = DEMUR_SELECTOR_VERSION;
  return selector;
}

DemurSelector *
demur_selector_ref(DemurSelector *selector) {
  g_atomic_int_inc(&selector->ref_count);
  return selector;
}

static void
corrector_clear(DemurSelectorCorrector *c) {
  demur_scaler_unref(c->scaler);
  demur_corrector_free(c->corrector);
}

void
demur_selector_unref(DemurSelector *s) {
  if (s == NULL || !g_atomic_int_dec_and_test(&s->ref_count))
    return;
  g_free(s->model);
  g_free(s->outcome);
  demur_train_settings_free(s->settings);
  g_free(s->cohort);
  g_free(s->cohort_digest);
  for (size_t i = 0; i < s->n_parts; i++) {
    g_free(s->parts[i].split);
  }
  g_free(s->parts);
  g_free(s->patient_hashes);
  g_free(s->released_from);
  g_free(s->outlier_maps);
  demur_recalibration_free(s->recalibration);
  g_clear_pointer(&s->federated, g_ptr_array_unref);
  demur_meta_columns_free(s->columns);
  demur_scaler_unref(s->svd_scaler);
  g_aligned_free(s->svd_components);
  demur_outlier_model_unref(s->outlier);
  demur_acquisition_free(s->acquisition);
  demur_making_free(s->making);
  g_free(s->reference_hashes);
  g_aligned_free(s->components);
  corrector_clear(&s->corrected);
  corrector_clear(&s->raw);
  demur_site_prior_free(s->sites);
  g_free(s->inputs);
  demur_scaler_unref(s->scaler);
  for (size_t i = 0; i < s->n_models; i++) {
    g_aligned_free(s->models[i].parameters);
    g_free(s->models[i].epochs);
  }
  g_free(s->models);
  g_aligned_free(s->kept_inputs);
  g_aligned_free(s->kept_scores);
  g_aligned_free(s->kept_risks);
  g_aligned_free(s->kept_labels);
  g_aligned_free(s->kept_sites);
  g_strfreev(s->site_names);
  g_free(s->digest);
  g_free(s);
}

const char *
demur_selector_digest(const DemurSelector *selector) {
  return selector->digest;
}

gboolean
demur_selector_is_simulated(const DemurSelector *selector) {
  return selector->simulated;
}

const char *
demur_selector_model(const DemurSelector *selector) {
  return selector->model;
}

double
demur_selector_horizon_years(const DemurSelector *selector) {
  return selector->horizon_years;
}

void
demur_selector_set_horizon_years(DemurSelector *selector, double years) {
  selector->horizon_years = years;
}

const char *
demur_selector_outcome(const DemurSelector *selector) {
  return selector->outcome;
}

void
demur_selector_set_outcome(DemurSelector *selector, const char *outcome) {
  g_free(selector->outcome);
  selector->outcome = g_strdup(outcome);
}

size_t
demur_selector_n_classes(const DemurSelector *selector) {
  return selector->n_classes;
}

guint64
demur_selector_seed(const DemurSelector *selector) {
  return selector->seed;
}

const DemurTrainSettings *
demur_selector_settings(const DemurSelector *selector) {
  return selector->settings;
}

const char *
demur_selector_cohort(const DemurSelector *selector) {
  return selector->cohort;
}

const char *
demur_selector_cohort_digest(const DemurSelector *selector) {
  return selector->cohort_digest;
}

size_t
demur_selector_n_parts(const DemurSelector *selector) {
  return selector->n_parts;
}

const DemurSelectorPart *
demur_selector_part(const DemurSelector *selector, size_t i) {
  g_return_val_if_fail(i < selector->n_parts, NULL);
  return &selector->parts[i];
}

static const char *const part_roles[DEMUR_N_PART_ROLES] = {
    [DEMUR_PART_TRAINING] = "training",
    [DEMUR_PART_VALIDATION] = "validation",
    [DEMUR_PART_REFERENCE] = "reference",
    [DEMUR_PART_RECALIBRATION] = "recalibration",
};

const char *
demur_part_role_name(DemurPartRole role) {
  g_return_val_if_fail((guint)role < DEMUR_N_PART_ROLES, NULL);
  return part_roles[role];
}

gboolean
demur_part_role_from_name(const char *name, DemurPartRole *role) {
  for (guint i = 0; i < DEMUR_N_PART_ROLES; i++)
    if (strcmp(part_roles[i], name) == 0) {
      *role = (DemurPartRole)i;
      return TRUE;
    }
  return FALSE;
}

const DemurSelectorPart *
demur_selector_part_of(const DemurSelector *selector, DemurPartRole role) {
  for (size_t i = 0; i < selector->n_parts; i++)
    if (selector->parts[i].role == role)
      return &selector->parts[i];
  return NULL;
}

size_t
demur_selector_n_patients(const DemurSelector *selector) {
  return selector->n_patients;
}

const char *const *
demur_selector_site_names(const DemurSelector *selector) {
  return (const char *const *)selector->site_names;
}

const DemurRecalibration *
demur_selector_recalibration(const DemurSelector *selector) {
  return selector->recalibration;
}

const DemurCorrector *
demur_selector_corrector(const DemurSelector *selector, gboolean raw) {
  return raw && selector->raw.corrector != NULL ? selector->raw.corrector
                                                : selector->corrected.corrector;
}

const DemurSitePrior *
demur_selector_site_prior(const DemurSelector *selector) {
  return selector->sites;
}

gboolean
demur_selector_uses_embeddings(const DemurSelector *selector) {
  return selector->outlier != NULL;
}

size_t
demur_selector_embedding_width(const DemurSelector *selector) {
  return selector->embedding_width;
}

gboolean
demur_selector_uses_acquisition(const DemurSelector *selector) {
  return selector->acquisition != NULL;
}

gboolean
demur_selector_tells_making(const DemurSelector *selector) {
  return selector->making != NULL;
}

gssize
demur_selector_find_column(const DemurSelector *selector, const char *name) {
  for (size_t c = 0; c < selector->columns->n_columns; c++)
    if (strcmp(selector->columns->names[c], name) == 0)
      return (gssize)c;
  return -1;
}

size_t
demur_selector_n_columns(const DemurSelector *selector) {
  return selector->columns->n_columns;
}

size_t
demur_selector_n_inputs(const DemurSelector *selector) {
  return selector->n_inputs;
}

const char *
demur_selector_input_name(const DemurSelector *selector, size_t i) {
  g_return_val_if_fail(i < selector->n_inputs, NULL);
  return selector->columns->names[selector->inputs[i]];
}

size_t
demur_selector_n_models(const DemurSelector *selector) {
  return selector->n_models;
}

size_t
demur_selector_n_networks(const DemurSelector *selector) {
  return selector->models[0].n_average;
}

gint64
demur_selector_epoch(const DemurSelector *selector, size_t model, size_t network) {
  g_return_val_if_fail(model < selector->n_models && network < selector->models[model].n_average,
                       0);
  return selector->models[model].epochs[network];
}

gboolean
demur_selector_same_reference(const DemurSelector *selector, const DemurSelector *other) {
  if (selector->release != DEMUR_RELEASE_NONE || other->release != DEMUR_RELEASE_NONE)
    return selector->release == other->release &&
           g_strcmp0(selector->released_from, other->released_from) == 0;
  return selector->n_reference == other->n_reference &&
         (selector->n_reference == 0 ||
          memcmp(selector->reference_hashes, other->reference_hashes,
                 selector->n_reference * sizeof *selector->reference_hashes) == 0) &&
         (selector->outlier == NULL || selector->seed == other->seed);
}

gboolean
demur_selector_check_cohort(const DemurSelector *selector, const DemurCohort *cohort,
                            GError **error) {
  if (g_strcmp0(selector->model, cohort->model) != 0)
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "the selector was trained on scores of the model '%s', but cohort '%s' holds "
                    "scores of '%s'; train a selector for that model",
                    selector->model, cohort->name, cohort->model);
  else if (selector->horizon_years > 0.0 && cohort->horizon_years > 0.0 &&
           selector->horizon_years != cohort->horizon_years)
    demur_error_set(
        error, DEMUR_ERROR_STATE,
        "the selector was trained on risks within %g years, but those of cohort '%s' are "
        "within %g; give it the risk of the same years (cohort import --horizon)",
        selector->horizon_years, cohort->name, cohort->horizon_years);
  else if (selector->n_classes != cohort->n_classes)
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "the selector was trained for %zu classes, but cohort '%s' has %zu",
                    selector->n_classes, cohort->name, cohort->n_classes);
  else if (selector->outlier != NULL && selector->embedding_width != cohort->embedding_width)
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "the selector was trained on embeddings of width %zu, but those of cohort '%s' "
                    "have %zu",
                    selector->embedding_width, cohort->name, cohort->embedding_width);
  else
    return TRUE;
  return FALSE;
}

static guint64
hash_of(DemurSha256 *sha) {
  guint8 bytes[DEMUR_SHA256_BYTES];
  demur_sha256_finish(sha, bytes);
  guint64 hash;
  memcpy(&hash, bytes, sizeof hash);
  return hash;
}

guint64
demur_selector_patient_hash(const char *patient_id) {
  DemurSha256 sha;
  demur_sha256_init(&sha);
  demur_sha256_add_text(&sha, "patient");
  demur_sha256_add_text(&sha, patient_id);
  return hash_of(&sha);
}

guint64
demur_selector_scan_hash(const char *patient_id, const char *scan_id, const float *embedding,
                         size_t d) {
  DemurSha256 sha;
  demur_sha256_init(&sha);
  demur_sha256_add_text(&sha, "scan");
  demur_sha256_add_text(&sha, patient_id);
  demur_sha256_add_text(&sha, scan_id);
  demur_sha256_add_bytes(&sha, embedding, (embedding != NULL ? d : 0) * sizeof(float));
  return hash_of(&sha);
}

static int
compare_hashes(const void *a, const void *b) {
  const guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;
  return (x > y) - (x < y);
}

gboolean
demur_selector_has_seen(const DemurSelector *selector, const char *patient_id) {
  if (selector->patient_hashes == NULL)
    return FALSE;
  const guint64 hash = demur_selector_patient_hash(patient_id);
  return bsearch(&hash, selector->patient_hashes, selector->n_patients, sizeof hash,
                 compare_hashes) != NULL;
}

/* Whether the cohort and its split are, by name, one of those that made the selector: all that is
 * known of one that was released. */
static gboolean
is_part(const DemurSelector *selector, const DemurCohort *cohort, guint32 split) {
  gboolean any = FALSE;
  for (size_t p = 0; p < selector->n_parts; p++)
    any |= strcmp(selector->parts[p].split, cohort->split_names[split]) == 0;
  return any && g_strcmp0(selector->cohort, cohort->name) == 0;
}

typedef struct {
  const DemurSelector *selector;
  const DemurCohort *cohort;
  size_t n_patients;
  const guint32 *patients; /* [n_patients] */
  atomic_size_t n_seen;
} SeenJob;

static void
count_seen_chunk(size_t chunk, guint worker, gpointer data) {
  SeenJob *job = data;
  const size_t end = MIN((chunk + 1) * HASHES, job->n_patients);
  size_t n_seen = 0;
  for (size_t i = chunk * HASHES; i < end; i++)
    n_seen +=
        demur_selector_has_seen(job->selector, job->cohort->patient_ids[job->patients[i]]) ? 1 : 0;
  atomic_fetch_add_explicit(&job->n_seen, n_seen, memory_order_relaxed);
}

size_t
demur_selector_count_seen(const DemurSelector *selector, const DemurCohort *cohort,
                          const guint32 *rows, size_t n_rows, DemurParallel *parallel) {
  g_autofree guint8 *counted = g_new0(guint8, MAX(cohort->n_patients, 1));
  g_autofree guint32 *patients = g_new(guint32, MAX(n_rows, 1));
  size_t n_patients = 0, n_in_parts = 0;
  for (size_t i = 0; i < n_rows; i++) {
    const guint32 patient = cohort->patients[rows[i]];
    if (counted[patient])
      continue;
    counted[patient] = 1;
    patients[n_patients++] = patient;
    if (selector->release != DEMUR_RELEASE_NONE)
      n_in_parts += is_part(selector, cohort, cohort->splits[rows[i]]) ? 1 : 0;
  }
  if (selector->release != DEMUR_RELEASE_NONE)
    return n_in_parts;
  SeenJob job = {selector, cohort, n_patients, patients, 0};
  demur_parallel_map(parallel, (n_patients + HASHES - 1) / HASHES, count_seen_chunk, &job);
  return atomic_load(&job.n_seen);
}

size_t
demur_selector_count_untrained(const DemurSelector *selector, size_t *n_networks) {
  size_t n_untrained = 0;
  *n_networks = 0;
  for (size_t m = 0; m < selector->n_models; m++)
    for (size_t i = 0; i < selector->models[m].n_average; i++, ++*n_networks)
      n_untrained += selector->settings->stopping == DEMUR_STOPPING_WORST_CASE &&
                     selector->models[m].epochs[i] == 0;
  return n_untrained;
}

char *
demur_selector_untrained_sentence(const DemurSelector *selector) {
  size_t n;
  const size_t n_untrained = demur_selector_count_untrained(selector, &n);
  if (n_untrained == 0)
    return NULL;
  return g_strdup_printf("%zu of its %zu networks %s as %s drawn, before any training: on the "
                         "validation scans no epoch's worst case was better (stopping worst-case). "
                         "What %s refuse is not learnt",
                         n_untrained, n, n_untrained == 1 ? "is" : "are",
                         n_untrained == 1 ? "it was" : "they were",
                         n_untrained == 1 ? "it would" : "they would");
}

gssize
demur_selector_column(const DemurSelector *selector, const char *name) {
  for (size_t c = 0; c < selector->columns->n_columns; c++)
    if (strcmp(selector->columns->names[c], name) == 0)
      return (gssize)c;
  return -1;
}

typedef struct {
  const DemurSelector *selector;
  const DemurCohort *cohort;
  const guint32 *rows;
  size_t n_rows;
  float *embeddings;
} EmbeddingJob;

static void
embeddings_chunk(size_t chunk, guint worker, gpointer data) {
  const EmbeddingJob *job = data;
  const DemurSelector *selector = job->selector;
  const size_t d = job->cohort->embedding_width, k = selector->n_svd;
  const size_t end = MIN((chunk + 1) * ROWS, job->n_rows);
  DEMUR_AUTO_ALIGNED double *standardised = k > 0 ? demur_new_array(double, d) : NULL;
  DEMUR_AUTO_ALIGNED double *projected = k > 0 ? demur_new_array(double, k) : NULL;
  for (size_t i = chunk * ROWS; i < end; i++) {
    const float *from = job->cohort->embeddings + (size_t)job->rows[i] * d;
    if (k == 0) {
      memcpy(job->embeddings + i * d, from, d * sizeof(float));
      continue;
    }
    demur_scaler_apply_floats(selector->svd_scaler, from, 1, standardised);
    demur_components_apply(selector->svd_components, k, d, standardised, 1, projected, k);
    for (size_t c = 0; c < k; c++)
      job->embeddings[i * k + c] = (float)projected[c];
  }
}

float *
demur_selector_embeddings(const DemurSelector *selector, const DemurCohort *cohort,
                          const guint32 *rows, size_t n_rows, DemurParallel *parallel) {
  const size_t width = selector->n_svd > 0 ? selector->n_svd : cohort->embedding_width;
  EmbeddingJob job = {selector, cohort, rows, n_rows, demur_unset_matrix(float, n_rows, width)};
  demur_parallel_map(parallel, (n_rows + ROWS - 1) / ROWS, embeddings_chunk, &job);
  return job.embeddings;
}

typedef struct {
  const DemurCohort *cohort;
  const guint32 *rows;
  size_t n_rows;
  GHashTable *table; /* of hashes of the reference set, to one more than their places */
  gssize *places;
} PlaceJob;

static void
own_places_chunk(size_t chunk, guint worker, gpointer data) {
  const PlaceJob *job = data;
  const DemurCohort *cohort = job->cohort;
  const size_t end = MIN((chunk + 1) * HASHES, job->n_rows), d = cohort->embedding_width;
  for (size_t i = chunk * HASHES; i < end; i++) {
    const size_t row = job->rows[i];
    const guint64 hash =
        demur_selector_scan_hash(cohort->patient_ids[cohort->patients[row]], cohort->scan_ids[row],
                                 cohort->embeddings + row * d, d);
    job->places[i] = (gssize)GPOINTER_TO_SIZE(g_hash_table_lookup(job->table, &hash)) - 1;
  }
}

/* Where each row stands in the reference set itself, -1: nowhere, or not known (g_free). */
static gssize *
own_places(const DemurSelector *selector, const DemurCohort *cohort, const guint32 *rows,
           size_t n_rows, DemurParallel *parallel) {
  gssize *places = g_new(gssize, MAX(n_rows, 1));
  if (selector->reference_hashes == NULL) {
    for (size_t i = 0; i < n_rows; i++)
      places[i] = -1;
    return places;
  }
  g_autoptr(GHashTable) table = g_hash_table_new(g_int64_hash, g_int64_equal);
  for (size_t i = 0; i < selector->n_reference; i++)
    g_hash_table_insert(table, &selector->reference_hashes[i], GSIZE_TO_POINTER(i + 1));
  PlaceJob job = {cohort, rows, n_rows, table, places};
  demur_parallel_map(parallel, (n_rows + HASHES - 1) / HASHES, own_places_chunk, &job);
  return places;
}

double *
demur_selector_outlier_scores(const DemurSelector *selector, const DemurCohort *cohort,
                              const guint32 *rows, size_t n_rows, const float *embeddings,
                              DemurParallel *parallel, const DemurProgress *progress,
                              GError **error) {
  DEMUR_AUTO_ALIGNED float *own =
      embeddings == NULL ? demur_selector_embeddings(selector, cohort, rows, n_rows, parallel)
                         : NULL;
  g_autofree gssize *exclude = own_places(selector, cohort, rows, n_rows, parallel);
  g_autofree double *values = g_new(double, MAX(n_rows, 1) * DEMUR_N_OUTLIER);
  if (!demur_outlier_model_score(selector->outlier, embeddings != NULL ? embeddings : own, n_rows,
                                 exclude, values, parallel, progress, error))
    return NULL;
  for (size_t c = 0; selector->outlier_maps != NULL && c < DEMUR_N_OUTLIER; c++) {
    const double *map = selector->outlier_maps + c * 2 * DEMUR_RELEASE_KNOTS;
    for (size_t i = 0; i < n_rows; i++)
      values[i * DEMUR_N_OUTLIER + c] =
          demur_release_map(map, map + DEMUR_RELEASE_KNOTS, values[i * DEMUR_N_OUTLIER + c]);
  }
  return g_steal_pointer(&values);
}

/* The columns of rows that come without a look at others, and those of the corrector. */
typedef struct {
  const DemurSelector *selector;
  const DemurCohort *cohort;
  const guint32 *rows;
  size_t n_rows;
  const DemurAcquisitionScan *scans;  /* [n_rows]; NULL: without */
  const double *outlier;              /* [n_rows][DEMUR_N_OUTLIER]; NULL: without */
  const DemurSelectorCorrector *with; /* of inputs [n_rows] of the corrector */
  const double *inputs;
  double *meta;
  atomic_bool is_unsound;
} FeatureJob;

static void
base_features_chunk(size_t chunk, guint worker, gpointer data) {
  const FeatureJob *job = data;
  const DemurMetaColumns *columns = job->selector->columns;
  const size_t first = chunk * ROWS, end = MIN(first + ROWS, job->n_rows);
  memset(job->meta + first * columns->n_columns, 0,
         (end - first) * columns->n_columns * sizeof(double));
  demur_meta_confidence(columns, job->cohort, job->rows + first, end - first,
                        job->meta + first * columns->n_columns);
  for (size_t i = first; job->outlier != NULL && i < end; i++)
    memcpy(job->meta + i * columns->n_columns + columns->n_confidence,
           job->outlier + i * DEMUR_N_OUTLIER, DEMUR_N_OUTLIER * sizeof(double));
  for (size_t i = first; job->scans != NULL && i < end; i++)
    demur_acquisition_columns(job->selector->acquisition, &job->scans[i],
                              job->meta + (i + 1) * columns->n_columns - columns->n_acquisition);
}

static void
corrector_features_chunk(size_t chunk, guint worker, gpointer data) {
  FeatureJob *job = data;
  const DemurSelector *selector = job->selector;
  const DemurMetaColumns *columns = selector->columns;
  const size_t first = chunk * ROWS, end = MIN(first + ROWS, job->n_rows);
  for (size_t i = first; job->inputs != NULL && i < end; i++) {
    const DemurCorrector *corrector = job->with->corrector;
    const double delta = demur_corrector_delta(corrector, job->inputs + i * corrector->n_inputs);
    demur_corrector_features(corrector, job->cohort->risks[job->rows[i]], delta,
                             job->meta + i * columns->n_columns + columns->n_confidence +
                                 columns->n_outlier);
  }
  /* While a selector is trained it has no networks yet, nor what their inputs are scaled by. */
  if (selector->scaler != NULL &&
      !demur_selector_check_meta(selector, job->cohort, job->rows + first, end - first,
                                 job->meta + first * columns->n_columns, NULL))
    atomic_store_explicit(&job->is_unsound, TRUE, memory_order_relaxed);
}

gboolean
demur_selector_base_features(const DemurSelector *selector, const DemurCohort *cohort,
                             const guint32 *rows, size_t n_rows, const float *embeddings,
                             const double *outlier, DemurParallel *parallel,
                             const DemurProgress *progress, double *meta, GError **error) {
  const DemurMetaColumns *columns = selector->columns;
  g_autofree DemurAcquisitionScan *scans = NULL;
  if (selector->acquisition != NULL &&
      (scans = demur_meta_acquisition_scans(cohort, rows, n_rows, error)) == NULL)
    return FALSE;
  g_autofree double *own = NULL;
  if (columns->n_outlier > 0 && outlier == NULL) {
    own = demur_selector_outlier_scores(selector, cohort, rows, n_rows, embeddings, parallel,
                                        progress, error);
    if (own == NULL)
      return FALSE;
    outlier = own;
  }
  FeatureJob job = {.selector = selector,
                    .cohort = cohort,
                    .rows = rows,
                    .n_rows = n_rows,
                    .scans = scans,
                    .outlier = columns->n_outlier > 0 ? outlier : NULL,
                    .meta = meta};
  demur_parallel_map(parallel, (n_rows + ROWS - 1) / ROWS, base_features_chunk, &job);
  return TRUE;
}

size_t
demur_selector_n_corrector_base(const DemurSelector *selector) {
  return selector->columns->n_columns - selector->columns->n_corrector;
}

void
demur_selector_corrector_base(const DemurSelector *selector, const double *meta, double *out) {
  const DemurMetaColumns *columns = selector->columns;
  const size_t n_first = columns->n_confidence + columns->n_outlier;
  memcpy(out, meta, n_first * sizeof(double));
  memcpy(out + n_first, meta + n_first + columns->n_corrector,
         columns->n_acquisition * sizeof(double));
}

/* Corrector inputs in chunks of rows. */
typedef struct {
  const DemurSelector *selector;
  const DemurScaler *scaler;
  const double *meta;
  const float *embeddings;
  size_t n_rows, width;
  double *out;
} InputJob;

static void
corrector_inputs_chunk(size_t chunk, guint worker, gpointer data) {
  const InputJob *job = data;
  const DemurSelector *s = job->selector;
  const size_t n_base = demur_selector_n_corrector_base(s);
  const size_t d = s->outlier != NULL ? demur_outlier_model_width(s->outlier) : 0;
  const size_t end = MIN((chunk + 1) * ROWS, job->n_rows);
  DEMUR_AUTO_ALIGNED double *standardised = demur_new_array(double, MAX(d, 1));
  for (size_t i = chunk * ROWS; i < end; i++) {
    double *out = job->out + i * job->width;
    demur_selector_corrector_base(s, job->meta + i * s->columns->n_columns, out);
    demur_scaler_apply(job->scaler, out, 1, out);
    if (s->n_components > 0) {
      demur_scaler_apply_floats(demur_outlier_model_scaler(s->outlier), job->embeddings + i * d, 1,
                                standardised);
      demur_components_apply(s->components, s->n_components, d, standardised, 1, out + n_base,
                             s->n_components);
    }
  }
}

double *
demur_selector_corrector_inputs(const DemurSelector *selector, const DemurScaler *scaler,
                                const double *meta, const float *embeddings, size_t n_rows,
                                DemurParallel *parallel) {
  InputJob job = {.selector = selector,
                  .scaler = scaler,
                  .meta = meta,
                  .embeddings = embeddings,
                  .n_rows = n_rows,
                  .width = demur_scaler_width(scaler) + selector->n_components};
  job.out = demur_unset_matrix(double, n_rows, job.width);
  demur_parallel_map(parallel, (n_rows + ROWS - 1) / ROWS, corrector_inputs_chunk, &job);
  return job.out;
}

double *
demur_selector_meta_features(const DemurSelector *selector, const DemurCohort *cohort, gboolean raw,
                             const guint32 *rows, size_t n_rows, DemurParallel *parallel,
                             const DemurProgress *progress, GError **error) {
  return demur_selector_meta_features_from(selector, cohort, raw, NULL, rows, n_rows, parallel,
                                           progress, error);
}

double *
demur_selector_meta_features_from(const DemurSelector *selector, const DemurCohort *cohort,
                                  gboolean raw, const double *outlier, const guint32 *rows,
                                  size_t n_rows, DemurParallel *parallel,
                                  const DemurProgress *progress, GError **error) {
  if (!demur_selector_check_cohort(selector, cohort, error))
    return NULL;
  const DemurMetaColumns *columns = selector->columns;
  DEMUR_AUTO_ALIGNED float *embeddings =
      selector->outlier != NULL
          ? demur_selector_embeddings(selector, cohort, rows, n_rows, parallel)
          : NULL;
  double *meta = demur_unset_matrix(double, n_rows, columns->n_columns);
  if (!demur_selector_base_features(selector, cohort, rows, n_rows, embeddings, outlier, parallel,
                                    progress, meta, error)) {
    g_aligned_free(meta);
    return NULL;
  }
  const DemurSelectorCorrector *with =
      raw && selector->raw.corrector != NULL ? &selector->raw : &selector->corrected;
  DEMUR_AUTO_ALIGNED double *inputs =
      with->corrector != NULL ? demur_selector_corrector_inputs(selector, with->scaler, meta,
                                                                embeddings, n_rows, parallel)
                              : NULL;
  FeatureJob job = {.selector = selector,
                    .cohort = cohort,
                    .rows = rows,
                    .n_rows = n_rows,
                    .with = with,
                    .inputs = inputs,
                    .meta = meta};
  demur_parallel_map(parallel, (n_rows + ROWS - 1) / ROWS, corrector_features_chunk, &job);
  if (!atomic_load(&job.is_unsound) ||
      demur_selector_check_meta(selector, cohort, rows, n_rows, meta, error)) /* says which */
    return meta;
  g_aligned_free(meta);
  return NULL;
}

double *
demur_selector_corrector_rows(const DemurSelector *selector, const DemurCohort *cohort,
                              const guint32 *rows, size_t n_rows, size_t *width,
                              DemurParallel *parallel, const DemurProgress *progress,
                              GError **error) {
  const DemurSelectorCorrector *with =
      selector->raw.corrector != NULL ? &selector->raw : &selector->corrected;
  if (with->corrector == NULL) {
    demur_error_set(error, DEMUR_ERROR_UNSUPPORTED,
                    "a corrector needs binary risk; the selector has %zu classes",
                    demur_selector_n_classes(selector));
    return NULL;
  }
  DEMUR_AUTO_ALIGNED double *meta =
      demur_selector_meta_features(selector, cohort, TRUE, rows, n_rows, parallel, progress, error);
  if (meta == NULL)
    return NULL;
  DEMUR_AUTO_ALIGNED float *embeddings =
      selector->outlier != NULL
          ? demur_selector_embeddings(selector, cohort, rows, n_rows, parallel)
          : NULL;
  *width = with->corrector->n_inputs;
  return demur_selector_corrector_inputs(selector, with->scaler, meta, embeddings, n_rows,
                                         parallel);
}

/* h of the rows, NaN elsewhere: [n_scans] (owned, g_aligned_free). */
static double *
corrected_risks(const DemurSelector *s, const DemurCohort *cohort, const guint32 *rows,
                size_t n_rows, DemurParallel *parallel, const DemurProgress *progress,
                GError **error) {
  DEMUR_AUTO_ALIGNED double *meta =
      demur_selector_meta_features(s, cohort, TRUE, rows, n_rows, parallel, progress, error);
  if (meta == NULL)
    return NULL;
  const size_t column = s->columns->n_confidence + s->columns->n_outlier; /* s delta */
  double *risks = demur_new_array(double, cohort->n_scans);
  for (size_t i = 0; i < cohort->n_scans; i++)
    risks[i] = NAN;
  for (size_t i = 0; i < n_rows; i++)
    risks[rows[i]] = demur_sigmoid(demur_logit(cohort->risks[rows[i]]) +
                                   meta[i * s->columns->n_columns + column]);
  return risks;
}

DemurCohort *
demur_selector_view_rows(const DemurSelector *selector, DemurCohort *cohort, const guint32 *rows,
                         size_t n_rows, DemurParallel *parallel, const DemurProgress *progress,
                         GError **error) {
  if (!demur_selector_check_cohort(selector, cohort, error))
    return NULL;
  if (selector->recalibration == NULL)
    return demur_cohort_ref(cohort);
  if (selector->recalibration->kind == DEMUR_RECALIBRATION_CORRECTOR) {
    double *corrected = corrected_risks(selector, cohort, rows, n_rows, parallel, progress, error);
    if (corrected == NULL)
      return NULL;
    if (demur_selector_check_risks(cohort, rows, n_rows, corrected, 1, error))
      return demur_cohort_with_risks(cohort, corrected);
    g_aligned_free(corrected);
    return NULL;
  }
  const gboolean binary = cohort->risks != NULL;
  double *risks = demur_new_matrix(double, cohort->n_scans, binary ? 1 : cohort->n_classes);
  demur_recalibration_apply(selector->recalibration, binary ? cohort->risks : cohort->probabilities,
                            cohort->n_scans, risks);
  if (demur_selector_check_risks(cohort, rows, n_rows, risks, binary ? 1 : cohort->n_classes,
                                 error))
    return demur_cohort_with_risks(cohort, risks);
  g_aligned_free(risks);
  return NULL;
}

DemurCohort *
demur_selector_view(const DemurSelector *selector, DemurCohort *cohort, GError **error) {
  size_t n_rows;
  g_autofree guint32 *rows = demur_cohort_rows(cohort, NULL, &n_rows, error);
  return rows != NULL ? demur_selector_view_rows(selector, cohort, rows, n_rows, NULL, NULL, error)
                      : NULL;
}

gboolean
demur_selector_same_risks(const DemurSelector *selector, const DemurSelector *other) {
  const DemurRecalibration *a = selector->recalibration, *b = other->recalibration;
  if (a == NULL || b == NULL)
    return a == b;
  if (a->kind != b->kind)
    return FALSE;
  if (a->kind == DEMUR_RECALIBRATION_CORRECTOR)
    return selector == other || strcmp(selector->digest, other->digest) == 0;
  return a->slope == b->slope && a->intercept == b->intercept && a->n_knots == b->n_knots &&
         memcmp(a->knots_x, b->knots_x, a->n_knots * sizeof(double)) == 0 &&
         memcmp(a->knots_y, b->knots_y, a->n_knots * sizeof(double)) == 0;
}

void
demur_selector_inputs(const DemurSelector *selector, const double *meta, size_t n_rows,
                      float *out) {
  const double *means = demur_scaler_means(selector->scaler);
  const double *sds = demur_scaler_sds(selector->scaler);
  for (size_t i = 0; i < n_rows; i++)
    for (size_t c = 0; c < selector->n_inputs; c++) {
      const double value = meta[i * selector->columns->n_columns + selector->inputs[c]];
      out[i * selector->n_inputs + c] = (float)((value - means[c]) / sds[c]);
    }
}

double *
demur_selector_kept_meta(const DemurSelector *s) {
  const size_t n = s->n_kept, width = s->columns->n_columns;
  double *meta = demur_new_matrix(double, MAX(n, 1), width);
  const double *means = demur_scaler_means(s->scaler), *sds = demur_scaler_sds(s->scaler);
  const gssize risk = demur_selector_column(s, s->n_classes == 2 ? "p_1" : "max_p");
  for (size_t i = 0; i < n; i++) {
    for (size_t c = 0; c < s->n_inputs; c++)
      meta[i * width + s->inputs[c]] =
          means[c] + sds[c] * (double)s->kept_inputs[i * s->n_inputs + c];
    if (risk >= 0)
      meta[i * width + (size_t)risk] = (double)s->kept_risks[i];
  }
  return meta;
}

/* Bands of equal training mass, and the training scores of each in ascending order. */
typedef struct {
  size_t n_bands;
  float *edges;  /* [n_bands - 1] upper risks */
  float *scores; /* [n_kept] by band, ascending */
  size_t *first; /* [n_bands + 1] */
} RiskBands;

static size_t
band_of(const RiskBands *bands, double risk) {
  size_t band = 0;
  while (band + 1 < bands->n_bands && risk > (double)bands->edges[band])
    band++;
  return band;
}

static void
make_bands(const DemurSelector *s, RiskBands *bands) {
  const size_t n = s->n_kept;
  bands->n_bands = CLAMP((size_t)s->settings->risk_bands, 1, MAX(n / 20, 1));
  g_autofree float *risks = g_new(float, MAX(n, 1));
  memcpy(risks, s->kept_risks, n * sizeof(float));
  demur_sort_floats(risks, n);
  bands->edges = g_new0(float, bands->n_bands);
  for (size_t b = 0; b + 1 < bands->n_bands; b++)
    bands->edges[b] = risks[(b + 1) * n / bands->n_bands - 1];
  bands->first = g_new0(size_t, bands->n_bands + 1);
  for (size_t i = 0; i < n; i++)
    bands->first[band_of(bands, (double)s->kept_risks[i]) + 1]++;
  for (size_t b = 0; b < bands->n_bands; b++)
    bands->first[b + 1] += bands->first[b];
  g_autofree size_t *place = g_memdup2(bands->first, bands->n_bands * sizeof(size_t));
  bands->scores = g_new(float, MAX(n, 1));
  for (size_t i = 0; i < n; i++)
    bands->scores[place[band_of(bands, (double)s->kept_risks[i])]++] = s->kept_scores[i];
  for (size_t b = 0; b < bands->n_bands; b++)
    demur_sort_floats(bands->scores + bands->first[b], bands->first[b + 1] - bands->first[b]);
}

/* Share of the band's training scores below g, linear between them, so that different g stay
 * different. */
static double
share_below(const float *sorted, size_t n, double g) {
  if (n == 0)
    return g;
  if (g < (double)sorted[0])
    return 0.5 / (double)n * g / (double)sorted[0];
  if (g >= (double)sorted[n - 1])
    return 1.0 - 0.5 / (double)n * (1.0 - g) / fmax(1.0 - (double)sorted[n - 1], 1e-12);
  size_t low = 0, high = n - 1;
  while (high - low > 1) {
    const size_t middle = (low + high) / 2;
    if ((double)sorted[middle] <= g)
      low = middle;
    else
      high = middle;
  }
  const double part =
      (g - (double)sorted[low]) / fmax((double)sorted[high] - (double)sorted[low], 1e-300);
  return ((double)low + 0.5 + part) / (double)n;
}

static void
apply_bands(const DemurSelector *s, const double *meta, size_t n_rows, double *scores) {
  RiskBands bands = {0};
  make_bands(s, &bands);
  const gssize column = demur_selector_column(s, s->n_classes == 2 ? "p_1" : "max_p");
  for (size_t i = 0; i < n_rows; i++) {
    const size_t b = band_of(&bands, meta[i * s->columns->n_columns + (size_t)column]);
    scores[i] =
        share_below(bands.scores + bands.first[b], bands.first[b + 1] - bands.first[b], scores[i]);
  }
  g_free(bands.edges);
  g_free(bands.scores);
  g_free(bands.first);
}

/* The one column that a selector without networks ranks by. */
static void
column_scores(const DemurSelector *s, DemurScoring scoring, const double *meta, size_t n_rows,
              double *scores) {
  const gssize column = demur_selector_column(s, demur_scoring_row(scoring)->column);
  g_return_if_fail(column >= 0);
  for (size_t i = 0; i < n_rows; i++)
    scores[i] = demur_scoring_score(scoring, meta[i * s->columns->n_columns + (size_t)column]);
}

void
demur_selector_scores(const DemurSelector *selector, size_t model, const double *meta,
                      size_t n_rows, double *scores) {
  g_return_if_fail(model < selector->n_models);
  if (selector->settings->scoring == DEMUR_SCORING_NETWORK)
    demur_network_scores(selector, &selector->models[model], meta, n_rows, scores);
  else
    column_scores(selector, selector->settings->scoring, meta, n_rows, scores);
  if (selector->settings->risk_bands > 0 && selector->n_kept > 0)
    apply_bands(selector, meta, n_rows, scores);
}

void
demur_selector_lowest_scores(const DemurSelector *selector, const double *meta, size_t n_rows,
                             size_t n_low, double below, double *scores) {
  if (selector->settings->scoring == DEMUR_SCORING_NETWORK && selector->settings->risk_bands == 0)
    demur_network_lowest_scores(selector, &selector->models[0], meta, n_rows, n_low, below, scores);
  else
    demur_selector_scores(selector, 0, meta, n_rows, scores);
}

gboolean
demur_selector_can_score_by(const DemurSelector *selector, DemurScoring scoring) {
  const DemurScoringRow *row = demur_scoring_row(scoring);
  const DemurTrainSettings *settings = selector->settings;
  /* Networks that stop by a validation take scans from the training; bands are cut by their scores. */
  return row->column != NULL && demur_selector_column(selector, row->column) >= 0 &&
         (settings->features & row->features) == row->features &&
         settings->stopping == DEMUR_STOPPING_FLAT && settings->risk_bands == 0;
}

void
demur_selector_scores_by(const DemurSelector *selector, DemurScoring scoring, const double *meta,
                         size_t n_rows, double *scores) {
  g_return_if_fail(demur_selector_can_score_by(selector, scoring));
  column_scores(selector, scoring, meta, n_rows, scores);
}
