/* The steps around Algorithm 1:
 *   1. rows of the reference, training and validation parts;
 *   2. outlier models fitted on the reference set, meta features of training and validation scans
 * (a scan of the reference is left out of its own distances);
 *   3. scaler of the meta features, fitted on the training scans;
 *   4. one network a model;
 *   5. the selector, sealed with its digest. */
#include "selector/training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define VALIDATION_SHARE 0.2
#define MIN_SITES_TO_DRAW 5

void
demur_training_log_free(DemurTrainingLog *log) {
  if (log == NULL)
    return;
  for (size_t i = 0; i < log->n_networks; i++)
    demur_trainer_result_free(log->networks[i]);
  g_free(log->networks);
  g_free(log->validation_note);
  g_free(log);
}

/* Rows of one part and what they are called. */
typedef struct {
  const char *role;
  char *split;
  guint32 *rows;
  size_t n_rows;
} Part;

static void
part_clear(Part *part) {
  g_free(part->split);
  g_free(part->rows);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Part, part_clear)

static gboolean
part_load(Part *part, const char *role, const DemurCohort *cohort, const char *split,
          GError **error) {
  part->role = role;
  part->split = g_strdup(split);
  part->rows = demur_cohort_rows(cohort, split, &part->n_rows, error);
  return part->rows != NULL;
}

static gboolean
check_labels(const DemurCohort *cohort, const Part *part, GError **error) {
  size_t n_missing = 0, first = 0;
  for (size_t i = 0; i < part->n_rows; i++)
    if (cohort->labels[part->rows[i]] == DEMUR_NO_LABEL && n_missing++ == 0)
      first = part->rows[i];
  if (n_missing == 0)
    return TRUE;
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE,
              "%zu scans of split '%s' have no label (the first is scan %s); every scan that %s "
              "needs one: put the others into a split of their own",
              n_missing, part->split, cohort->scan_ids[first],
              strcmp(part->role, "training") == 0 ? "trains" : "validates");
  return FALSE;
}

/* Moves whole sites, in an order drawn by the seed, until they hold 20 % of the training scans;
 * with fewer than five sites 20 % of the patients. */
static gboolean
draw_validation(const DemurCohort *cohort, guint64 seed, Part *training, Part *validation,
                char **note, GError **error) {
  g_autofree guint32 *site_scans = g_new0(guint32, MAX(cohort->n_sites, 1));
  g_autofree guint32 *units = g_new(guint32, MAX(cohort->n_sites, cohort->n_patients) + 1);
  size_t n_units = 0;
  for (size_t i = 0; i < training->n_rows; i++)
    site_scans[cohort->sites[training->rows[i]]]++;
  for (size_t s = 0; s < cohort->n_sites; s++)
    if (site_scans[s] > 0)
      units[n_units++] = (guint32)s;
  const gboolean by_site = n_units >= MIN_SITES_TO_DRAW;
  const guint32 *unit_of = by_site ? cohort->sites : cohort->patients;
  const size_t n_sites = n_units, n_names = by_site ? cohort->n_sites : cohort->n_patients;
  g_autofree guint32 *unit_scans = g_new0(guint32, MAX(n_names, 1));
  for (size_t i = 0; i < training->n_rows; i++)
    unit_scans[unit_of[training->rows[i]]]++;
  if (!by_site) {
    n_units = 0;
    for (size_t p = 0; p < n_names; p++)
      if (unit_scans[p] > 0)
        units[n_units++] = (guint32)p;
  }
  DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_VALIDATION_SPLIT, 0, 0, 0);
  demur_random_shuffle(&random, n_units, units);
  g_autofree guint8 *chosen = g_new0(guint8, MAX(n_names, 1));
  size_t n_wanted = (size_t)ceil(VALIDATION_SHARE * (double)training->n_rows);
  size_t n_drawn = 0, n_chosen = 0;
  while (n_drawn < n_wanted && n_chosen + 1 < n_units) {
    chosen[units[n_chosen]] = 1;
    n_drawn += unit_scans[units[n_chosen++]];
  }
  if (n_drawn == 0) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE,
                "split '%s' holds one patient only: there is nothing to validate on",
                training->split);
    return FALSE;
  }
  validation->role = "validation";
  validation->split = g_strdup_printf("%s (drawn)", training->split);
  validation->rows = g_new(guint32, n_drawn);
  size_t n_kept = 0;
  for (size_t i = 0; i < training->n_rows; i++) {
    const guint32 row = training->rows[i];
    if (chosen[unit_of[row]])
      validation->rows[validation->n_rows++] = row;
    else
      training->rows[n_kept++] = row;
  }
  training->n_rows = n_kept;
  *note = by_site
              ? g_strdup_printf("no split 'validation': %zu of %zu sites (%zu scans) of '%s' were "
                                "drawn by the seed to validate",
                                n_chosen, n_units, n_drawn, training->split)
              : g_strdup_printf("no split 'validation' and only %zu sites: %zu of %zu patients "
                                "(%zu scans) of '%s' were drawn by the seed to validate",
                                n_sites, n_chosen, n_units, n_drawn, training->split);
  return TRUE;
}

/* Groups of the family T for the rows. */
static gboolean
load_groups(const DemurCohort *cohort, const DemurTrainSettings *settings, const Part *part,
            guint32 **groups, size_t *n_groups, GError **error) {
  const guint32 *codes = cohort->sites;
  *n_groups = cohort->n_sites;
  const char *attribute =
      settings->shift == DEMUR_SHIFT_OUTSIDE ? "shift" : settings->shift_attribute;
  if (attribute != NULL) {
    const gssize index = demur_cohort_find_attribute(cohort, attribute);
    if (index < 0) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND,
                  "cohort '%s' has no column '%s' to resample by; see `demur cohort show %s`",
                  cohort->name, attribute, cohort->name);
      return FALSE;
    }
    codes = cohort->attributes[index].codes;
    *n_groups = cohort->attributes[index].n_values;
  }
  *groups = g_new(guint32, MAX(part->n_rows, 1));
  for (size_t i = 0; i < part->n_rows; i++)
    (*groups)[i] = codes[part->rows[i]];
  return TRUE;
}

static int
compare_hashes(const void *a, const void *b) {
  const guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;
  return (x > y) - (x < y);
}

/* Patients of all parts, and the table of parts. */
static void
remember_parts(DemurSelector *selector, const DemurCohort *cohort, const Part *const *parts,
               size_t n_parts) {
  g_autofree guint8 *seen = g_new0(guint8, MAX(cohort->n_patients, 1));
  g_autoptr(GArray) hashes = g_array_new(FALSE, FALSE, sizeof(guint64));
  selector->parts = g_new0(DemurSelectorPart, n_parts);
  for (size_t p = 0; p < n_parts; p++) {
    DemurSelectorPart *part = &selector->parts[selector->n_parts++];
    g_autofree guint8 *patients = g_new0(guint8, MAX(cohort->n_patients, 1));
    g_autofree guint8 *sites = g_new0(guint8, MAX(cohort->n_sites, 1));
    part->role = g_strdup(parts[p]->role);
    part->split = g_strdup(parts[p]->split);
    part->n_scans = parts[p]->n_rows;
    for (size_t i = 0; i < parts[p]->n_rows; i++) {
      const guint32 row = parts[p]->rows[i], patient = cohort->patients[row];
      part->n_patients += !patients[patient];
      patients[patient] = 1;
      part->n_sites += !sites[cohort->sites[row]];
      sites[cohort->sites[row]] = 1;
      if (!seen[patient]) {
        seen[patient] = 1;
        const guint64 hash = demur_selector_patient_hash(cohort->patient_ids[patient]);
        g_array_append_val(hashes, hash);
      }
    }
  }
  g_array_sort(hashes, compare_hashes);
  selector->n_patients = hashes->len;
  selector->patient_hashes = g_memdup2(hashes->data, MAX(hashes->len, 1) * sizeof(guint64));
}

static gboolean
fit_outlier(DemurSelector *selector, const DemurCohort *cohort, const Part *reference, guint64 seed,
            DemurParallel *parallel, const DemurProgress *progress, GError **error) {
  DEMUR_AUTO_ALIGNED float *embeddings =
      demur_meta_gather_embeddings(cohort, reference->rows, reference->n_rows);
  selector->outlier =
      demur_outlier_model_fit(embeddings, reference->n_rows, cohort->embedding_width, NULL, seed,
                              parallel, progress, error);
  if (selector->outlier == NULL)
    return FALSE;
  selector->n_reference = reference->n_rows;
  selector->reference_hashes = g_new(guint64, reference->n_rows);
  for (size_t i = 0; i < reference->n_rows; i++) {
    const guint32 row = reference->rows[i];
    selector->reference_hashes[i] =
        demur_selector_scan_hash(cohort->patient_ids[cohort->patients[row]], cohort->scan_ids[row],
                                 embeddings + i * cohort->embedding_width, cohort->embedding_width);
  }
  return TRUE;
}

/* Columns that the settings' feature groups keep, from raw meta features: out [n][n_inputs]. */
static double *
select_inputs(const DemurSelector *selector, const double *meta, size_t n) {
  double *inputs = demur_new_matrix(double, n, selector->n_inputs);
  for (size_t i = 0; i < n; i++)
    for (size_t c = 0; c < selector->n_inputs; c++)
      inputs[i * selector->n_inputs + c] =
          meta[i * selector->columns->n_columns + selector->inputs[c]];
  return inputs;
}

/* The sample of training scans that reasons are given from. */
static void
keep_training_scans(DemurSelector *selector, const double *meta, size_t n, guint64 seed) {
  g_autofree guint32 *order = g_new(guint32, MAX(n, 1));
  for (size_t i = 0; i < n; i++)
    order[i] = (guint32)i;
  if (n > DEMUR_SELECTOR_MAX_KEPT) {
    DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_REFERENCE, 1, 0, 0);
    demur_random_shuffle(&random, n, order);
  }
  selector->n_kept = MIN(n, DEMUR_SELECTOR_MAX_KEPT);
  const size_t d = selector->n_inputs, width = selector->columns->n_columns;
  selector->kept_inputs = demur_new_matrix(float, selector->n_kept, d);
  selector->kept_scores = demur_new_array(float, selector->n_kept);
  DEMUR_AUTO_ALIGNED double *kept = demur_new_matrix(double, selector->n_kept, width);
  g_autofree double *scores = g_new(double, selector->n_kept);
  for (size_t i = 0; i < selector->n_kept; i++)
    memcpy(kept + i * width, meta + order[i] * width, width * sizeof(double));
  demur_selector_scores(selector, 0, kept, selector->n_kept, scores);
  const double *means = demur_scaler_means(selector->scaler),
               *sds = demur_scaler_sds(selector->scaler);
  for (size_t i = 0; i < selector->n_kept; i++) {
    for (size_t c = 0; c < d; c++)
      selector->kept_inputs[i * d + c] =
          (float)((kept[i * width + selector->inputs[c]] - means[c]) / sds[c]);
    selector->kept_scores[i] = (float)scores[i];
  }
}

/* Progress of one stage within the whole. */
typedef struct {
  const DemurProgress *outer;
  double start, end;
} Stage;

static void
stage_report(double fraction, const char *text, gpointer data) {
  const Stage *stage = data;
  if (stage->outer->func != NULL)
    stage->outer->func(stage->start + fraction * (stage->end - stage->start), text,
                       stage->outer->data);
}

static gboolean
load_part(const DemurCohort *cohort, const DemurTrainSettings *settings, const Part *part,
          const double *inputs, size_t n_inputs, DemurTrainerPart *out, guint32 **groups,
          double **risks, double **labels, GError **error) {
  size_t n_groups;
  if (!load_groups(cohort, settings, part, groups, &n_groups, error))
    return FALSE;
  *risks = g_new(double, MAX(part->n_rows, 1));
  *labels = g_new(double, MAX(part->n_rows, 1));
  for (size_t i = 0; i < part->n_rows; i++) {
    (*risks)[i] = demur_cohort_confidence_risk(cohort, part->rows[i]);
    (*labels)[i] = demur_cohort_confidence_label(cohort, part->rows[i]);
  }
  *out = (DemurTrainerPart){part->n_rows, n_inputs, inputs, *risks, *labels, *groups, n_groups};
  return TRUE;
}

DemurSelector *
demur_selector_train(DemurCohort *cohort, const DemurTrainSettings *settings, guint64 seed,
                     DemurParallel *parallel, const DemurProgress *progress, DemurTrainingLog **log,
                     GError **error) {
  if (!demur_train_settings_check(settings, error))
    return NULL;
  const DemurProgress none = {0};
  if (progress == NULL)
    progress = &none;

  /* 1. Parts. */
  g_auto(Part) reference = {0};
  g_auto(Part) training = {0};
  g_auto(Part) validation = {0};
  g_autofree char *note = NULL;
  const char *split = settings->split != NULL ? settings->split : "selector_train";
  if (!part_load(&training, "training", cohort, split, error))
    return NULL;
  if (settings->validation_split != NULL || demur_cohort_find_split(cohort, "validation") >= 0) {
    const char *name =
        settings->validation_split != NULL ? settings->validation_split : "validation";
    if (strcmp(name, split) == 0) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                  "the validation split is the training split '%s'; name another, or none", name);
      return NULL;
    }
    if (!part_load(&validation, "validation", cohort, name, error))
      return NULL;
    note = g_strdup_printf("split '%s' validates (%zu scans)", name, validation.n_rows);
  } else if (!draw_validation(cohort, seed, &training, &validation, &note, error)) {
    return NULL;
  }
  if (!check_labels(cohort, &training, error) || !check_labels(cohort, &validation, error))
    return NULL;
  const char *reference_name = settings->reference_split;
  if (reference_name == NULL)
    reference_name = demur_cohort_find_split(cohort, "base_train") >= 0 ? "base_train" : split;
  if (strcmp(reference_name, split) == 0) {
    reference.role = "reference";
    reference.split = g_strdup(split);
    reference.rows = g_memdup2(training.rows, training.n_rows * sizeof *training.rows);
    reference.n_rows = training.n_rows;
  } else if (!part_load(&reference, "reference", cohort, reference_name, error)) {
    return NULL;
  }

  /* 2. Meta features. */
  g_autoptr(DemurSelector) selector = demur_selector_alloc();
  selector->simulated = cohort->simulated;
  selector->model = g_strdup(cohort->model);
  selector->n_classes = cohort->n_classes;
  selector->embedding_width = cohort->embedding_width;
  selector->seed = seed;
  selector->settings = demur_train_settings_copy(settings);
  selector->cohort = g_strdup(cohort->name);
  const gboolean with_embeddings = cohort->embedding_width > 0;
  if (!with_embeddings && (settings->features & DEMUR_FEATURES_OUTLIER) != 0) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE,
                "cohort '%s' has no embeddings, which the outlier features need; import it with "
                "them (emb_0.. or --embeddings), or train with --features confidence,class",
                cohort->name);
    return NULL;
  }
  selector->columns = demur_meta_columns_new(cohort->n_classes, with_embeddings);
  selector->inputs = g_new0(guint32, selector->columns->n_columns);
  for (size_t c = 0; c < selector->columns->n_columns; c++)
    if ((selector->columns->groups[c] & ~settings->features) == 0)
      selector->inputs[selector->n_inputs++] = (guint32)c;
  Stage stage = {progress, 0.0, 0.05};
  const DemurProgress staged = {stage_report, &stage, progress->cancellable};
  if (with_embeddings && !fit_outlier(selector, cohort, &reference, seed, parallel, &staged, error))
    return NULL;
  stage = (Stage){progress, 0.05, 0.1};
  DEMUR_AUTO_ALIGNED double *training_meta = demur_selector_meta_features(
      selector, cohort, training.rows, training.n_rows, parallel, &staged, error);
  if (training_meta == NULL)
    return NULL;
  stage = (Stage){progress, 0.1, 0.12};
  DEMUR_AUTO_ALIGNED double *validation_meta = demur_selector_meta_features(
      selector, cohort, validation.rows, validation.n_rows, parallel, &staged, error);
  if (validation_meta == NULL)
    return NULL;

  /* 3. Scaler. */
  DEMUR_AUTO_ALIGNED double *training_inputs =
      select_inputs(selector, training_meta, training.n_rows);
  DEMUR_AUTO_ALIGNED double *validation_inputs =
      select_inputs(selector, validation_meta, validation.n_rows);
  selector->scaler = demur_scaler_fit(training_inputs, training.n_rows, selector->n_inputs, error);
  if (selector->scaler == NULL)
    return NULL;
  demur_scaler_apply(selector->scaler, training_inputs, training.n_rows, training_inputs);
  demur_scaler_apply(selector->scaler, validation_inputs, validation.n_rows, validation_inputs);

  /* 4. Networks. */
  g_autofree guint32 *training_groups = NULL, *validation_groups = NULL;
  g_autofree double *training_risks = NULL, *validation_risks = NULL;
  g_autofree double *training_labels = NULL, *validation_labels = NULL;
  DemurTrainerPart training_part, validation_part;
  if (!load_part(cohort, settings, &training, training_inputs, selector->n_inputs, &training_part,
                 &training_groups, &training_risks, &training_labels, error) ||
      !load_part(cohort, settings, &validation, validation_inputs, selector->n_inputs,
                 &validation_part, &validation_groups, &validation_risks, &validation_labels,
                 error))
    return NULL;
  g_autoptr(DemurTrainingLog) trained = g_new0(DemurTrainingLog, 1);
  trained->validation_note = g_steal_pointer(&note);
  const size_t n_models = (size_t)settings->models;
  trained->networks = g_new0(DemurTrainerResult *, n_models);
  selector->networks = g_new0(DemurSelectorNetwork, n_models);
  for (size_t m = 0; m < n_models; m++) {
    stage = (Stage){progress, 0.12 + 0.88 * (double)m / (double)n_models,
                    0.12 + 0.88 * (double)(m + 1) / (double)n_models};
    DemurTrainerResult *result = demur_trainer_run(&training_part, &validation_part, settings, seed,
                                                   (guint)m, parallel, &staged, error);
    if (result == NULL)
      return NULL;
    trained->networks[trained->n_networks++] = result;
    selector->shape = result->shape;
    DemurSelectorNetwork *network = &selector->networks[selector->n_networks++];
    network->best_epoch = result->best_epoch;
    network->parameters = demur_new_array(float, result->shape.n_parameters);
    memcpy(network->parameters, result->parameters, result->shape.n_parameters * sizeof(float));
  }

  /* 5. Provenance and digest. */
  keep_training_scans(selector, training_meta, training.n_rows, seed);
  const Part *parts[] = {&reference, &training, &validation};
  remember_parts(selector, cohort, parts, G_N_ELEMENTS(parts));
  const size_t n_all = reference.n_rows + training.n_rows + validation.n_rows;
  g_autofree guint32 *all = g_new(guint32, n_all);
  memcpy(all, reference.rows, reference.n_rows * sizeof *all);
  memcpy(all + reference.n_rows, training.rows, training.n_rows * sizeof *all);
  memcpy(all + reference.n_rows + training.n_rows, validation.rows,
         validation.n_rows * sizeof *all);
  selector->cohort_digest = demur_cohort_digest(cohort, all, n_all);
  demur_selector_seal(selector);
  if (log != NULL)
    *log = g_steal_pointer(&trained);
  return g_steal_pointer(&selector);
}
