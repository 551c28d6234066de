/* The steps around Algorithm 1:
 *   1. rows of the parts: reference, training, validation (and recalibration where it has a split
 * of its own);
 *   2. recalibration, where it earns its place on sites left out: training scans get the risk of
 * the fit without their fold, everyone else that of the whole fit;
 *   3. outlier models and principal components on the reference set, meta features (a scan of the
 * reference is left out of its own distances), the corrector;
 *   4. scaler of the meta features, fitted on the training scans;
 *   5. the networks, several at a time where there are several, from where a checkpoint left them;
 *   6. the selector, sealed with its digest. */
#include "selector/training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/memory.h"
#include "selector/components.h"
#include "selector/folds.h"

#define VALIDATION_SHARE 0.2
#define MIN_SITES_TO_DRAW 5

void
demur_training_log_free(DemurTrainingLog *log) {
  if (log == NULL)
    return;
  for (size_t i = 0; i < log->n_models * log->n_average; i++)
    demur_trainer_result_free(log->networks[i]);
  g_free(log->networks);
  g_free(log->recalibration_note);
  g_free(log->validation_note);
  g_free(log);
}

static void
write_history(const DemurTrainerResult *network, const char *key, DemurJson *json) {
  demur_json_begin_array(json, key);
  for (size_t i = 0; i < network->n_history; i++) {
    const DemurTrainerEpoch *epoch = &network->history[i];
    demur_json_begin_object(json, NULL);
    demur_json_int(json, "epoch", epoch->epoch);
    demur_json_double(json, "loss", epoch->loss);
    demur_json_double(json, "mean_auc", epoch->mean_auc);
    demur_json_double(json, "worst_auc", epoch->worst_auc);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}

/* Every network: model m, network a of its average. */
static void
write_networks(const DemurTrainingLog *log, DemurJson *json) {
  demur_json_begin_array(json, "networks");
  for (size_t i = 0; i < log->n_models * log->n_average; i++) {
    demur_json_begin_object(json, NULL);
    demur_json_int(json, "model", (gint64)(i / log->n_average) + 1);
    demur_json_int(json, "network", (gint64)(i % log->n_average) + 1);
    demur_json_int(json, "best_epoch", log->networks[i]->best_epoch);
    demur_json_int(json, "updates", log->networks[i]->n_updates);
    write_history(log->networks[i], "history", json);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}

void
demur_training_log_write_json(const DemurTrainingLog *log, DemurJson *json) {
  write_history(log->networks[0], "history", json);
  write_networks(log, json);
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

/* Fits the projection of wide embeddings, the outlier models and the principal components on the
 * reference set. */
static gboolean
fit_reference(DemurSelector *s, const DemurCohort *cohort, const Part *reference,
              DemurParallel *parallel, const DemurProgress *progress, GError **error) {
  const size_t n = reference->n_rows, d = cohort->embedding_width;
  if (s->settings->embedding_svd > 0 && (size_t)s->settings->embedding_svd < d) {
    DEMUR_AUTO_ALIGNED float *raw = demur_selector_embeddings(s, cohort, reference->rows, n);
    s->svd_scaler = demur_scaler_fit_floats(raw, n, d, error);
    if (s->svd_scaler == NULL)
      return FALSE;
    DEMUR_AUTO_ALIGNED double *standardised = demur_new_matrix(double, n, d);
    demur_scaler_apply_floats(s->svd_scaler, raw, n, standardised);
    s->svd_components = demur_new_matrix(double, (size_t)s->settings->embedding_svd, d);
    GError *local = NULL;
    s->n_svd = demur_components_fit(standardised, n, d, (size_t)s->settings->embedding_svd,
                                    s->svd_components, &local);
    if (local != NULL) {
      g_propagate_error(error, local);
      return FALSE;
    }
  }
  DEMUR_AUTO_ALIGNED float *embeddings = demur_selector_embeddings(s, cohort, reference->rows, n);
  const size_t width = s->n_svd > 0 ? s->n_svd : d;
  s->outlier =
      demur_outlier_model_fit(embeddings, n, width, NULL, s->seed, parallel, progress, error);
  if (s->outlier == NULL)
    return FALSE;
  s->n_reference = n;
  s->reference_hashes = g_new(guint64, n);
  for (size_t i = 0; i < n; i++) {
    const guint32 row = reference->rows[i];
    s->reference_hashes[i] =
        demur_selector_scan_hash(cohort->patient_ids[cohort->patients[row]], cohort->scan_ids[row],
                                 cohort->embeddings + (size_t)row * d, d);
  }
  if (s->n_classes != 2)
    return TRUE;
  DEMUR_AUTO_ALIGNED double *standardised = demur_new_matrix(double, n, width);
  demur_scaler_apply_floats(demur_outlier_model_scaler(s->outlier), embeddings, n, standardised);
  s->components = demur_new_matrix(double, DEMUR_CORRECTOR_COMPONENTS, width);
  GError *local = NULL;
  s->n_components = demur_components_fit(standardised, n, width, DEMUR_CORRECTOR_COMPONENTS,
                                         s->components, &local);
  if (local != NULL)
    g_propagate_error(error, local);
  return local == NULL;
}

/* Sites of the rows, or patients where there are fewer than five sites: what folds leave out whole.
 */
static guint32 *
fold_units(const DemurCohort *cohort, const Part *part) {
  guint32 *units = g_new(guint32, MAX(part->n_rows, 1));
  for (size_t i = 0; i < part->n_rows; i++)
    units[i] = cohort->sites[part->rows[i]];
  if (demur_folds_count_units(units, part->n_rows) >= MIN_SITES_TO_DRAW)
    return units;
  for (size_t i = 0; i < part->n_rows; i++)
    units[i] = cohort->patients[part->rows[i]];
  return units;
}

/* Chooses and fits the recalibration on a part; the cohort as it is seen in training: rows of that
 * part with the risk of the fit without their fold, all others with that of the whole fit. */
static DemurCohort *
recalibrate(DemurSelector *s, DemurCohort *cohort, const Part *part, char **note, GError **error) {
  const DemurTrainSettings *settings = s->settings;
  const size_t k = cohort->n_classes, width = k == 2 ? 1 : k, n = part->n_rows;
  if (k > 2 && settings->recalibrate != DEMUR_RECALIBRATION_NONE &&
      settings->recalibrate != DEMUR_RECALIBRATION_AUTO &&
      settings->recalibrate != DEMUR_RECALIBRATION_TEMPERATURE) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE,
                "the recalibration '%s' needs binary risk; with %zu classes there is temperature",
                demur_recalibration_name(settings->recalibrate), k);
    return NULL;
  }
  if (settings->recalibrate == DEMUR_RECALIBRATION_NONE) {
    *note = g_strdup("risks are used as given");
    return demur_cohort_ref(cohort);
  }
  const double *all = k == 2 ? cohort->risks : cohort->probabilities;
  g_autofree double *p = g_new(double, MAX(n, 1) * width),
                    *out_of_fold = g_new(double, MAX(n, 1) * width);
  g_autofree gint32 *labels = g_new(gint32, MAX(n, 1));
  for (size_t i = 0; i < n; i++) {
    memcpy(p + i * width, all + (size_t)part->rows[i] * width, width * sizeof(double));
    labels[i] = cohort->labels[part->rows[i]];
  }
  g_autofree guint32 *units = fold_units(cohort, part);
  DemurRecalibrationTrial trials[3];
  size_t n_trials;
  const DemurRecalibrationKind kind = demur_recalibration_choose(
      settings->recalibrate, p, k, labels, units, n, s->seed, out_of_fold, trials, &n_trials);
  g_autoptr(GString) text = g_string_new(NULL);
  g_string_append_printf(text,
                         "recalibration: %s (on sites left out, calibration error and log "
                         "loss:",
                         demur_recalibration_name(kind));
  for (size_t t = 0; t < n_trials; t++)
    g_string_append_printf(text, "%s %s %.4f and %.4f", t > 0 ? "," : "",
                           demur_recalibration_name(trials[t].kind), trials[t].sbce2,
                           trials[t].log_loss);
  g_string_append(text, ")");
  *note = g_strdup(text->str);
  if (kind == DEMUR_RECALIBRATION_NONE)
    return demur_cohort_ref(cohort);
  s->recalibration = demur_recalibration_fit(kind, p, k, labels, NULL, n);
  double *risks = demur_new_matrix(double, cohort->n_scans, width);
  demur_recalibration_apply(s->recalibration, all, cohort->n_scans, risks);
  if (strcmp(part->role, "training") == 0)
    for (size_t i = 0; i < n; i++)
      memcpy(risks + (size_t)part->rows[i] * width, out_of_fold + i * width,
             width * sizeof(double));
  return demur_cohort_with_risks(cohort, risks);
}

/* The columns that a corrector reads: [n][n_base], gathered from meta. */
static double *
gather_base(const DemurSelector *s, const double *meta, size_t n) {
  const size_t n_base = demur_selector_n_corrector_base(s);
  double *base = demur_new_matrix(double, n, n_base);
  for (size_t i = 0; i < n; i++)
    demur_selector_corrector_base(s, meta + i * s->columns->n_columns, base + i * n_base);
  return base;
}

/* Fits a corrector on the training scans with the risks of the given cohort. training receives what
 * it says of them. */
static gboolean
fit_corrector(const DemurSelector *s, const DemurCohort *cohort, const Part *training,
              const double *meta, const float *embeddings, DemurParallel *parallel,
              const DemurProgress *progress, DemurSelectorCorrector *out,
              DemurCorrectorTraining *fitted, GError **error) {
  const size_t n = training->n_rows, n_base = demur_selector_n_corrector_base(s);
  DEMUR_AUTO_ALIGNED double *base = gather_base(s, meta, n);
  out->scaler = demur_scaler_fit(base, n, n_base, error);
  if (out->scaler == NULL)
    return FALSE;
  DEMUR_AUTO_ALIGNED double *inputs =
      demur_selector_corrector_inputs(s, out->scaler, meta, embeddings, n, parallel);
  g_autofree double *risks = g_new(double, MAX(n, 1)), *labels = g_new(double, MAX(n, 1));
  for (size_t i = 0; i < n; i++) {
    risks[i] = cohort->risks[training->rows[i]];
    labels[i] = (double)cohort->labels[training->rows[i]];
  }
  g_autofree guint32 *units = fold_units(cohort, training);
  out->corrector = demur_corrector_fit(inputs, n, n_base + s->n_components, risks, labels, units,
                                       s->seed, parallel, progress, fitted, error);
  return out->corrector != NULL;
}

static void
corrector_training_clear(DemurCorrectorTraining *training) {
  g_free(training->deltas);
  g_free(training->site_risks);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurCorrectorTraining, corrector_training_clear)

/* Columns that the settings' feature groups keep, from raw meta features: out [n][n_inputs]. */
static double *
select_inputs(const DemurSelector *s, const double *meta, size_t n) {
  double *inputs = demur_new_matrix(double, n, s->n_inputs);
  for (size_t i = 0; i < n; i++)
    for (size_t c = 0; c < s->n_inputs; c++)
      inputs[i * s->n_inputs + c] = meta[i * s->columns->n_columns + s->inputs[c]];
  return inputs;
}

/* The sample of training scans that reasons, risk bands and "similar scans" come from. */
static void
keep_training_scans(DemurSelector *s, const DemurCohort *view, const Part *training,
                    const double *meta) {
  const size_t n = training->n_rows, d = s->n_inputs, width = s->columns->n_columns;
  g_autofree guint32 *order = g_new(guint32, MAX(n, 1));
  for (size_t i = 0; i < n; i++)
    order[i] = (guint32)i;
  if (n > DEMUR_SELECTOR_MAX_KEPT) {
    DemurRandom random = demur_random_stream(s->seed, DEMUR_STREAM_REFERENCE, 1, 0, 0);
    demur_random_shuffle(&random, n, order);
  }
  const size_t n_kept = MIN(n, DEMUR_SELECTOR_MAX_KEPT);
  s->kept_inputs = demur_new_matrix(float, n_kept, d);
  s->kept_scores = demur_new_array(float, n_kept);
  s->kept_risks = demur_new_array(float, n_kept);
  s->kept_labels = demur_new_array(float, n_kept);
  s->kept_sites = demur_new_array(guint32, n_kept);
  DEMUR_AUTO_ALIGNED double *kept = demur_new_matrix(double, n_kept, width);
  g_autofree double *scores = g_new(double, MAX(n_kept, 1));
  g_autofree gint64 *codes = g_new(gint64, MAX(view->n_sites, 1));
  for (size_t site = 0; site < view->n_sites; site++)
    codes[site] = -1;
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (size_t i = 0; i < n_kept; i++) {
    const guint32 row = training->rows[order[i]], site = view->sites[row];
    memcpy(kept + i * width, meta + order[i] * width, width * sizeof(double));
    s->kept_risks[i] = (float)demur_cohort_confidence_risk(view, row);
    s->kept_labels[i] = (float)demur_cohort_confidence_label(view, row);
    if (codes[site] < 0) {
      codes[site] = names->len;
      g_ptr_array_add(names, g_strdup(view->site_names[site]));
    }
    s->kept_sites[i] = (guint32)codes[site];
  }
  s->n_site_names = names->len;
  g_ptr_array_add(names, NULL);
  s->site_names = (char **)g_ptr_array_free(g_steal_pointer(&names), FALSE);
  /* n_kept is still 0, so that the scores are g~ itself, before risk bands. */
  demur_selector_scores(s, 0, kept, n_kept, scores);
  demur_selector_inputs(s, kept, n_kept, s->kept_inputs);
  for (size_t i = 0; i < n_kept; i++)
    s->kept_scores[i] = (float)scores[i];
  s->n_kept = n_kept;
}

/* A part as the trainer takes it; owns its arrays. */
typedef struct {
  DemurTrainerPart part;
  double *inputs, *risks, *labels, *errors;
  guint32 *groups;
} TrainerInput;

static void
trainer_input_clear(TrainerInput *input) {
  g_aligned_free(input->inputs);
  g_free(input->risks);
  g_free(input->labels);
  g_free(input->errors);
  g_free(input->groups);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TrainerInput, trainer_input_clear)

static gboolean
load_trainer_input(const DemurSelector *s, const DemurCohort *view, const Part *part,
                   const double *meta, TrainerInput *input, GError **error) {
  size_t n_groups;
  if (!load_groups(view, s->settings, part, &input->groups, &n_groups, error))
    return FALSE;
  const size_t n = part->n_rows;
  input->inputs = select_inputs(s, meta, n);
  input->risks = g_new(double, MAX(n, 1));
  input->labels = g_new(double, MAX(n, 1));
  for (size_t i = 0; i < n; i++) {
    input->risks[i] = demur_cohort_confidence_risk(view, part->rows[i]);
    input->labels[i] = demur_cohort_confidence_label(view, part->rows[i]);
  }
  input->part = (DemurTrainerPart){.n_scans = n,
                                   .n_features = s->n_inputs,
                                   .features = input->inputs,
                                   .risks = input->risks,
                                   .labels = input->labels,
                                   .groups = input->groups,
                                   .n_groups = n_groups};
  return TRUE;
}

/* Training several networks side by side, each in one thread: every thread has one chunk and takes
 * networks while there are any. Workers leave their state in `kept` at the end of every epoch; the
 * calling thread (worker 0) alone reports and keeps, and when there is no network left for it, it
 * waits for the others and goes on doing that. */
typedef struct {
  const DemurTrainerPart *training, *validation;
  const DemurTrainSettings *settings;
  guint64 seed;
  size_t n_average, n_networks;
  const DemurTrainingKeeper *keeper; /* may be NULL */
  DemurTrainerResult **results;
  GError **errors; /* [n_networks] */
  const DemurProgress *outer;
  GCancellable
      *cancellable;     /* of the networks: cancelled with the outer one, or by a failed keep */
  DemurParallel *inner; /* for a single network */

  GMutex mutex; /* over all below */
  GCond changed;
  DemurCheckpoint *kept; /* NULL where nothing is kept */
  gboolean dirty;        /* kept has changed since it was handed over */
  GError *keep_error;
  double *fractions; /* [n_networks] */
  size_t n_begun, n_ended;
  gboolean caller_came; /* the calling thread has its share */
} NetworkJob;

typedef struct {
  NetworkJob *job;
  size_t network;
  guint worker;
} NetworkProgress;

/* Hands the checkpoint over where it changed. In the calling thread, with the mutex held. */
static void
hand_over(NetworkJob *job) {
  const gboolean wanted = job->dirty && job->keep_error == NULL;
  job->dirty = FALSE;
  if (wanted && !job->keeper->keep(job->kept, job->keeper->data, &job->keep_error))
    g_cancellable_cancel(job->cancellable);
}

static void
network_report(double fraction, const char *text, gpointer data) {
  NetworkProgress *p = data;
  NetworkJob *job = p->job;
  double sum = 0.0;
  g_mutex_lock(&job->mutex);
  job->fractions[p->network] = fraction;
  for (size_t i = 0; i < job->n_networks; i++)
    sum += job->fractions[i];
  if (p->worker == 0)
    hand_over(job);
  else
    g_cond_broadcast(&job->changed);
  g_mutex_unlock(&job->mutex);
  if (p->worker == 0 && job->outer->func != NULL)
    job->outer->func(sum / (double)job->n_networks, text, job->outer->data);
  if (g_cancellable_is_cancelled(job->outer->cancellable))
    g_cancellable_cancel(job->cancellable);
}

static void
network_state(const DemurTrainerState *state, gpointer data) {
  NetworkProgress *p = data;
  NetworkJob *job = p->job;
  DemurTrainerState *copy = demur_trainer_state_copy(state);
  g_mutex_lock(&job->mutex);
  demur_trainer_state_free(job->kept->networks[p->network]);
  job->kept->networks[p->network] = copy;
  job->dirty = TRUE;
  if (p->worker == 0)
    hand_over(job);
  else
    g_cond_broadcast(&job->changed);
  g_mutex_unlock(&job->mutex);
}

/* The calling thread has nothing left to train: it reports and keeps for the others to their end.
 */
static void
wait_for_others(NetworkJob *job) {
  g_mutex_lock(&job->mutex);
  while (job->n_ended < job->n_networks) {
    hand_over(job);
    double sum = 0.0;
    for (size_t i = 0; i < job->n_networks; i++)
      sum += job->fractions[i];
    g_mutex_unlock(&job->mutex);
    if (job->outer->func != NULL)
      job->outer->func(sum / (double)job->n_networks, "training", job->outer->data);
    if (g_cancellable_is_cancelled(job->outer->cancellable))
      g_cancellable_cancel(job->cancellable);
    g_mutex_lock(&job->mutex);
    if (job->n_ended < job->n_networks && !job->dirty)
      g_cond_wait(&job->changed, &job->mutex);
  }
  g_mutex_unlock(&job->mutex);
}

static void
train_network(NetworkJob *job, size_t i, guint worker) {
  NetworkProgress place = {job, i, worker};
  const DemurProgress progress = {network_report, &place, job->cancellable};
  const DemurTrainerState *from =
      job->keeper != NULL && job->keeper->from != NULL ? job->keeper->from->networks[i] : NULL;
  if (!g_cancellable_set_error_if_cancelled(job->cancellable, &job->errors[i]))
    job->results[i] = demur_trainer_continue(
        job->training, job->validation, job->settings, job->seed, (guint)(i / job->n_average),
        (guint)(i % job->n_average), from, job->kept != NULL ? network_state : NULL, &place,
        job->inner, &progress, &job->errors[i]);
}

static void
train_share(size_t chunk, guint worker, gpointer data) {
  NetworkJob *job = data;
  g_mutex_lock(&job->mutex);
  if (worker == 0) {
    job->caller_came = TRUE;
    g_cond_broadcast(&job->changed);
  }
  while (job->n_begun < job->n_networks) {
    const size_t i = job->n_begun++;
    g_mutex_unlock(&job->mutex);
    train_network(job, i, worker);
    g_mutex_lock(&job->mutex);
    job->fractions[i] = 1.0;
    job->n_ended++;
    g_cond_broadcast(&job->changed);
  }
  /* Each thread keeps its chunk until the calling one has come, so that there is one for it. */
  while (!job->caller_came)
    g_cond_wait(&job->changed, &job->mutex);
  g_mutex_unlock(&job->mutex);
  if (worker == 0)
    wait_for_others(job);
}

/* What the networks are trained on, to the last bit. */
static char *
digest_inputs(const TrainerInput *training, const TrainerInput *validation) {
  g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
  const TrainerInput *both[2] = {training, validation};
  for (int k = 0; k < 2; k++) {
    const DemurTrainerPart *part = &both[k]->part;
    demur_digest_add_doubles(checksum, part->features, part->n_scans * part->n_features);
    demur_digest_add_doubles(checksum, part->risks, part->n_scans);
    demur_digest_add_doubles(checksum, part->labels, part->n_scans);
    demur_digest_add_doubles(checksum, part->errors, part->errors != NULL ? part->n_scans : 0);
    demur_digest_add_bytes(checksum, part->groups, part->n_scans * sizeof *part->groups);
  }
  return g_strdup(g_checksum_get_string(checksum));
}

static gboolean
train_networks(DemurSelector *s, const TrainerInput *training, const TrainerInput *validation,
               const DemurTrainingKeeper *keeper, DemurParallel *parallel,
               const DemurProgress *progress, DemurTrainingLog *log, GError **error) {
  const size_t n_models = (size_t)s->settings->models, n_average = (size_t)s->settings->average;
  const size_t n = n_models * n_average;
  g_autoptr(DemurCheckpoint) kept = NULL;
  if (keeper != NULL) {
    g_autofree char *digest = digest_inputs(training, validation);
    if (keeper->from != NULL && !demur_checkpoint_check(keeper->from, s->settings, s->seed,
                                                        s->cohort_digest, digest, error))
      return FALSE;
    if (keeper->keep != NULL)
      kept = demur_checkpoint_new(s->settings, s->seed, s->cohort_digest, digest);
    for (size_t i = 0; kept != NULL && keeper->from != NULL && i < n; i++)
      if (keeper->from->networks[i] != NULL)
        kept->networks[i] = demur_trainer_state_copy(keeper->from->networks[i]);
  }
  log->n_models = n_models;
  log->n_average = n_average;
  log->networks = g_new0(DemurTrainerResult *, n);
  g_autofree GError **errors = g_new0(GError *, n);
  g_autofree double *fractions = g_new0(double, n);
  g_autoptr(GCancellable) cancellable = g_cancellable_new();
  NetworkJob job = {.training = &training->part,
                    .validation = &validation->part,
                    .settings = s->settings,
                    .seed = s->seed,
                    .n_average = n_average,
                    .n_networks = n,
                    .keeper = keeper,
                    .results = log->networks,
                    .errors = errors,
                    .fractions = fractions,
                    .outer = progress,
                    .cancellable = cancellable,
                    .kept = kept,
                    .inner = n == 1 ? parallel : NULL};
  g_mutex_init(&job.mutex);
  g_cond_init(&job.changed);
  if (progress->func != NULL)
    progress->func(0.0, "training", progress->data);
  if (g_cancellable_is_cancelled(progress->cancellable))
    g_cancellable_cancel(cancellable);
  demur_parallel_map(n == 1 ? NULL : parallel, n == 1 ? 1 : demur_parallel_n_threads(parallel),
                     train_share, &job);
  hand_over(&job);
  g_mutex_clear(&job.mutex);
  g_cond_clear(&job.changed);
  if (job.keep_error != NULL) {
    g_propagate_error(error, job.keep_error);
    for (size_t i = 0; i < n; i++)
      g_clear_error(&errors[i]);
    return FALSE;
  }
  gboolean ok = TRUE;
  for (size_t i = 0; i < n; i++)
    if (errors[i] != NULL) {
      if (ok)
        g_propagate_error(error, errors[i]);
      else
        g_error_free(errors[i]);
      ok = FALSE;
    }
  if (!ok)
    return FALSE;
  s->shape = log->networks[0]->shape;
  s->models = g_new0(DemurSelectorModel, n_models);
  for (size_t m = 0; m < n_models; m++) {
    DemurSelectorModel *model = &s->models[s->n_models++];
    model->n_average = n_average;
    model->parameters = demur_new_matrix(float, n_average, s->shape.n_parameters);
    model->epochs = g_new0(gint64, n_average);
    for (size_t a = 0; a < n_average; a++) {
      const DemurTrainerResult *result = log->networks[m * n_average + a];
      memcpy(model->parameters + a * s->shape.n_parameters, result->parameters,
             s->shape.n_parameters * sizeof(float));
      model->epochs[a] = result->best_epoch;
    }
  }
  return TRUE;
}

/* The parts of a training, found by the settings' names and their defaults. */
typedef struct {
  Part reference, training, validation, recalibration;
} Parts;

static void
parts_clear(Parts *parts) {
  part_clear(&parts->reference);
  part_clear(&parts->training);
  part_clear(&parts->validation);
  part_clear(&parts->recalibration);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Parts, parts_clear)

static gboolean
find_parts(const DemurCohort *cohort, const DemurTrainSettings *settings, guint64 seed,
           Parts *parts, char **note, GError **error) {
  const char *split = settings->split != NULL ? settings->split : "selector_train";
  if (!part_load(&parts->training, "training", cohort, split, error))
    return FALSE;
  if (settings->validation_split != NULL || demur_cohort_find_split(cohort, "validation") >= 0) {
    const char *name =
        settings->validation_split != NULL ? settings->validation_split : "validation";
    if (strcmp(name, split) == 0) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                  "the validation split is the training split '%s'; name another, or none", name);
      return FALSE;
    }
    if (!part_load(&parts->validation, "validation", cohort, name, error))
      return FALSE;
    *note = g_strdup_printf("split '%s' validates (%zu scans)", name, parts->validation.n_rows);
  } else if (!draw_validation(cohort, seed, &parts->training, &parts->validation, note, error)) {
    return FALSE;
  }
  if (!check_labels(cohort, &parts->training, error) ||
      !check_labels(cohort, &parts->validation, error))
    return FALSE;
  const char *reference = settings->reference_split;
  if (reference == NULL)
    reference = demur_cohort_find_split(cohort, "base_train") >= 0 ? "base_train" : split;
  if (strcmp(reference, split) == 0) {
    parts->reference.role = "reference";
    parts->reference.split = g_strdup(split);
    parts->reference.rows =
        g_memdup2(parts->training.rows, parts->training.n_rows * sizeof(guint32));
    parts->reference.n_rows = parts->training.n_rows;
  } else if (!part_load(&parts->reference, "reference", cohort, reference, error)) {
    return FALSE;
  }
  if (settings->recalibrate != DEMUR_RECALIBRATION_NONE && settings->recalibration_split != NULL &&
      strcmp(settings->recalibration_split, split) != 0)
    return part_load(&parts->recalibration, "recalibration", cohort, settings->recalibration_split,
                     error) &&
           check_labels(cohort, &parts->recalibration, error);
  return TRUE;
}

/* Settings as they apply to this cohort: a denoised target by default gives way to the paper's
 * where K > 2. */
static DemurTrainSettings *
settle(const DemurTrainSettings *settings, const DemurCohort *cohort, GError **error) {
  DemurTrainSettings *settled = demur_train_settings_copy(settings);
  if (cohort->n_classes > 2 && settled->target == DEMUR_TARGET_DENOISED) {
    if (settings->target_explicit) {
      g_set_error(
          error, DEMUR_ERROR, DEMUR_ERROR_STATE,
          "the denoised target needs binary risk, but cohort '%s' has %zu classes; train with "
          "--target paper",
          cohort->name, cohort->n_classes);
      demur_train_settings_free(settled);
      return NULL;
    }
    settled->target = DEMUR_TARGET_PAPER;
  }
  settled->target_explicit = FALSE;
  if (settled->target == DEMUR_TARGET_PAPER)
    settled->features &= ~(guint)DEMUR_FEATURES_CORRECTOR;
  return settled;
}

static void
choose_inputs(DemurSelector *s) {
  s->inputs = g_new0(guint32, s->columns->n_columns);
  for (size_t c = 0; c < s->columns->n_columns; c++)
    if ((s->columns->groups[c] & ~s->settings->features) == 0)
      s->inputs[s->n_inputs++] = (guint32)c;
}

/* Meta features and correctors of the training and validation scans. */
typedef struct {
  double *training, *validation; /* [n][n_columns] */
  DemurCorrectorTraining fitted;
} Features;

static void
features_clear(Features *features) {
  g_aligned_free(features->training);
  g_aligned_free(features->validation);
  corrector_training_clear(&features->fitted);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Features, features_clear)

static gboolean
compute_features(DemurSelector *s, const DemurCohort *cohort, const DemurCohort *view,
                 const Parts *parts, DemurParallel *parallel, const DemurProgress *progress,
                 Features *features, GError **error) {
  const Part *training = &parts->training;
  const size_t n = training->n_rows, width = s->columns->n_columns;
  DEMUR_AUTO_ALIGNED float *embeddings =
      s->outlier != NULL ? demur_selector_embeddings(s, view, training->rows, n) : NULL;
  features->training = demur_new_matrix(double, n, width);
  if (!demur_selector_base_features(s, view, training->rows, n, embeddings, NULL, parallel, progress,
                                    features->training, error))
    return FALSE;
  if (s->columns->n_corrector > 0) {
    if (!fit_corrector(s, view, training, features->training, embeddings, parallel, progress,
                       &s->corrected, &features->fitted, error))
      return FALSE;
    for (size_t i = 0; i < n; i++)
      demur_corrector_features(
          s->corrected.corrector, view->risks[training->rows[i]], features->fitted.deltas[i],
          features->training + i * width + s->columns->n_confidence + s->columns->n_outlier);
    if (s->recalibration != NULL) {
      /* The same for raw risks, for the baseline `mc` on them. */
      DEMUR_AUTO_ALIGNED double *raw = demur_new_matrix(double, n, width);
      memcpy(raw, features->training, n * width * sizeof(double));
      demur_meta_confidence(s->columns, cohort, training->rows, n, raw);
      g_auto(DemurCorrectorTraining) unused = {0};
      if (!fit_corrector(s, cohort, training, raw, embeddings, parallel, progress, &s->raw, &unused,
                         error))
        return FALSE;
    }
  }
  features->validation = demur_selector_meta_features(
      s, view, FALSE, parts->validation.rows, parts->validation.n_rows, parallel, progress, error);
  return features->validation != NULL;
}

/* Provenance: the table of parts, their patients, the digest of their rows. */
static void
remember(DemurSelector *s, const DemurCohort *cohort, const Parts *parts) {
  const Part *list[4] = {&parts->reference, &parts->training, &parts->validation,
                         &parts->recalibration};
  const size_t n_parts = parts->recalibration.n_rows > 0 ? 4 : 3;
  remember_parts(s, cohort, list, n_parts);
  size_t n_all = 0;
  for (size_t p = 0; p < n_parts; p++)
    n_all += list[p]->n_rows;
  g_autofree guint32 *all = g_new(guint32, MAX(n_all, 1));
  size_t place = 0;
  for (size_t p = 0; p < n_parts; p++) {
    memcpy(all + place, list[p]->rows, list[p]->n_rows * sizeof *all);
    place += list[p]->n_rows;
  }
  s->cohort_digest = demur_cohort_digest(cohort, all, n_all);
}

DemurSelector *
demur_selector_train(DemurCohort *cohort, const DemurTrainSettings *settings, guint64 seed,
                     DemurParallel *parallel, const DemurProgress *progress, DemurTrainingLog **log,
                     GError **error) {
  return demur_selector_train_kept(cohort, settings, seed, NULL, parallel, progress, log, error);
}

DemurSelector *
demur_selector_train_kept(DemurCohort *cohort, const DemurTrainSettings *settings, guint64 seed,
                          const DemurTrainingKeeper *keeper, DemurParallel *parallel,
                          const DemurProgress *progress, DemurTrainingLog **log, GError **error) {
  if (!demur_train_settings_check(settings, error))
    return NULL;
  const DemurProgress none = {0};
  if (progress == NULL)
    progress = &none;
  DemurProgressStage stage = {progress, 0.0, 0.05, NULL};
  const DemurProgress staged = demur_progress_stage(&stage);

  /* 1. Parts. */
  g_auto(Parts) parts = {0};
  g_autoptr(DemurTrainingLog) trained = g_new0(DemurTrainingLog, 1);
  if (!find_parts(cohort, settings, seed, &parts, &trained->validation_note, error))
    return NULL;
  g_autoptr(DemurSelector) s = demur_selector_alloc();
  s->settings = settle(settings, cohort, error);
  if (s->settings == NULL)
    return NULL;
  s->simulated = cohort->simulated;
  s->model = g_strdup(cohort->model);
  s->n_classes = cohort->n_classes;
  s->embedding_width = cohort->embedding_width;
  s->seed = seed;
  s->cohort = g_strdup(cohort->name);
  remember(s, cohort, &parts);
  if (keeper != NULL && keeper->from != NULL &&
      !demur_checkpoint_check(keeper->from, s->settings, seed, s->cohort_digest, NULL, error))
    return NULL;
  const gboolean with_embeddings = cohort->embedding_width > 0;
  if (!with_embeddings && (settings->features & DEMUR_FEATURES_OUTLIER) != 0) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE,
                "cohort '%s' has no embeddings, which the outlier features need; import it with "
                "them (emb_0.. or --embeddings), or train with --features confidence,class",
                cohort->name);
    return NULL;
  }

  /* 2. Recalibration. */
  g_autoptr(DemurCohort) view = recalibrate(
      s, cohort, parts.recalibration.n_rows > 0 ? &parts.recalibration : &parts.training,
      &trained->recalibration_note, error);
  if (view == NULL)
    return NULL;

  /* 3. Meta features. */
  if ((s->settings->features & DEMUR_FEATURES_ACQUISITION) != 0) {
    g_autofree DemurAcquisitionScan *scans =
        demur_meta_acquisition_scans(cohort, parts.training.rows, parts.training.n_rows, error);
    s->acquisition =
        scans != NULL ? demur_acquisition_fit(scans, parts.training.n_rows, error) : NULL;
    if (s->acquisition == NULL)
      return NULL;
  }
  s->columns = demur_meta_columns_new(cohort->n_classes, with_embeddings, cohort->n_classes == 2,
                                      s->acquisition);
  choose_inputs(s);
  if (with_embeddings && !fit_reference(s, cohort, &parts.reference, parallel, &staged, error))
    return NULL;
  stage = (DemurProgressStage){progress, 0.05, 0.12, NULL};
  g_auto(Features) features = {0};
  if (!compute_features(s, cohort, view, &parts, parallel, &staged, &features, error))
    return NULL;

  /* 4. Scaler. */
  g_auto(TrainerInput) training = {0};
  g_auto(TrainerInput) validation = {0};
  if (!load_trainer_input(s, view, &parts.training, features.training, &training, error) ||
      !load_trainer_input(s, view, &parts.validation, features.validation, &validation, error))
    return NULL;
  s->scaler = demur_scaler_fit(training.inputs, training.part.n_scans, s->n_inputs, error);
  if (s->scaler == NULL)
    return NULL;
  demur_scaler_apply(s->scaler, training.inputs, training.part.n_scans, training.inputs);
  demur_scaler_apply(s->scaler, validation.inputs, validation.part.n_scans, validation.inputs);
  if (s->settings->target == DEMUR_TARGET_DENOISED) {
    training.errors = g_new(double, MAX(training.part.n_scans, 1));
    demur_corrector_errors(&features.fitted, training.risks, training.labels, training.part.n_scans,
                           (int)s->settings->q, training.errors);
    training.part.errors = training.errors;
  }

  /* 5. Networks. */
  stage = (DemurProgressStage){progress, 0.12, 1.0, NULL};
  if (!train_networks(s, &training, &validation, keeper, parallel, &staged, trained, error))
    return NULL;

  /* 6. What an accepted scan looks like, and the digest. */
  keep_training_scans(s, view, &parts.training, features.training);
  demur_selector_seal(s);
  if (log != NULL)
    *log = g_steal_pointer(&trained);
  return g_steal_pointer(&s);
}
