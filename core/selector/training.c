/* The steps around Algorithm 1:
 *   1. rows of the parts: reference, training, validation (and recalibration where it has a split
 * of its own);
 *   2. outlier models and principal components on the reference set; meta features (a scan of the
 * reference is left out of its own distances), and the corrector, of the raw risks;
 *   3. recalibration, where it earns its place on sites left out: training scans get the risk of
 * the fit without their site, everyone else that of the whole fit; what the sites say of the next
 * one; features and corrector of those risks;
 *   4. scaler of the meta features, fitted on the training scans;
 *   5. the networks, several at a time where there are several, from where a checkpoint left them;
 *   6. the selector, sealed with its digest. */
#include "selector/training.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "cohort/outcome.h"
#include "selector/making.h"
#include "selector/selector-private.h"
#include "selector/training-networks.h"
#include "selector/training-parts.h"
#include "selector/training-recalibration.h"
#include "selector/training-reference.h"

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
  for (size_t i = 0; network != NULL && i < network->n_history; i++) {
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
  write_history(log->n_average > 0 ? log->networks[0] : NULL, "history", json);
  write_networks(log, json);
}

/* How the kept scans [n_kept] were made, beside each other, where the networks don't read it. What is
 * no number where one belongs is not looked at: nothing but a sentence hangs on it. */
static void
keep_making(DemurSelector *s, const DemurCohort *view, const guint32 *rows) {
  if (s->acquisition != NULL)
    return;
  g_autofree DemurAcquisitionScan *scans =
      demur_meta_acquisition_scans(view, rows, s->n_kept, NULL);
  if (scans != NULL)
    s->making = demur_making_fit(scans, s->kept_risks, s->kept_scores, s->n_kept);
}

/* The sample of training scans that reasons, risk bands and "similar scans" come from. */
static void
keep_training_scans(DemurSelector *s, const DemurCohort *view, const DemurTrainingPart *training,
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
  g_autofree guint32 *rows = g_new(guint32, MAX(n_kept, 1));
  for (size_t i = 0; i < n_kept; i++) {
    const guint32 row = training->rows[order[i]], site = view->sites[row];
    rows[i] = row;
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
  keep_making(s, view, rows);
}

/* What a method without networks needs of the cohort and the features. */
static gboolean
settle_scoring(DemurTrainSettings *settled, const DemurCohort *cohort, GError **error) {
  const DemurScoringRow *row = demur_scoring_row(settled->scoring);
  if (settled->scoring == DEMUR_SCORING_NETWORK)
    return TRUE;
  if ((row->needs_binary && cohort->n_classes > 2) ||
      (row->needs_embeddings && cohort->embedding_width == 0)) {
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "the method '%s' needs %s, which cohort '%s' "
                    "does not have",
                    row->name,
                    row->needs_binary ? N_("binary risk") : N_("embeddings of its scans"),
                    cohort->name);
    return FALSE;
  }
  settled->features |= row->features;
  settled->stopping = DEMUR_STOPPING_FLAT; /* nothing is stopped, nothing validates */
  settled->models = 1;
  return TRUE;
}

/* Settings as they apply to this cohort: a denoised target by default gives way to the paper's
 * where K > 2. */
static DemurTrainSettings *
settle(const DemurTrainSettings *settings, const DemurCohort *cohort, GError **error) {
  DemurTrainSettings *settled = demur_train_settings_copy(settings);
  if (cohort->n_classes > 2 && settled->target == DEMUR_TARGET_DENOISED) {
    if (settings->target_explicit) {
      demur_error_set(
          error, DEMUR_ERROR_STATE,
          "the denoised target needs binary risk, but cohort '%s' has %zu classes; train with "
          "--target paper",
          cohort->name, cohort->n_classes);
      demur_train_settings_free(settled);
      return NULL;
    }
    settled->target = DEMUR_TARGET_PAPER;
  }
  settled->target_explicit = FALSE;
  /* The program's own features without embeddings are those that are left; the paper's are not. */
  if (cohort->embedding_width == 0 && !settings->features_explicit && !settings->as_published)
    settled->features &= ~(guint)DEMUR_FEATURES_OUTLIER;
  settled->features_explicit = settled->scoring_explicit = FALSE;
  if (settled->target == DEMUR_TARGET_PAPER)
    settled->features &= ~(guint)DEMUR_FEATURES_CORRECTOR;
  if (!settle_scoring(settled, cohort, error)) {
    demur_train_settings_free(settled);
    return NULL;
  }
  return settled;
}

/* All meta features of a scan, and those that the settings' feature groups keep. */
static gboolean
choose_columns(DemurSelector *s, const DemurCohort *cohort, const DemurTrainingPart *training,
               GError **error) {
  if ((s->settings->features & DEMUR_FEATURES_ACQUISITION) != 0) {
    g_autofree DemurAcquisitionScan *scans =
        demur_meta_acquisition_scans(cohort, training->rows, training->n_rows, error);
    s->acquisition = scans != NULL ? demur_acquisition_fit(scans, training->n_rows, error) : NULL;
    if (s->acquisition == NULL)
      return FALSE;
  }
  s->columns = demur_meta_columns_new(cohort->n_classes, cohort->embedding_width > 0,
                                      cohort->n_classes == 2, s->acquisition);
  s->inputs = g_new0(guint32, s->columns->n_columns);
  for (size_t c = 0; c < s->columns->n_columns; c++)
    if ((s->columns->groups[c] & ~s->settings->features) == 0)
      s->inputs[s->n_inputs++] = (guint32)c;
  return TRUE;
}

DemurSelector *
demur_selector_train(DemurCohort *cohort, const DemurTrainSettings *settings, guint64 seed,
                     DemurParallel *parallel, const DemurProgress *progress, DemurTrainingLog **log,
                     GError **error) {
  return demur_selector_train_kept(cohort, settings, seed, NULL, parallel, progress, log, error);
}

/* The selector before anything is fitted: settings as they apply, provenance. */
static DemurSelector *
begin(const DemurCohort *cohort, const DemurTrainSettings *settings, guint64 seed,
      DemurTrainingParts *parts, DemurTrainingLog *log, GError **error) {
  g_autoptr(DemurSelector) s = demur_selector_alloc();
  s->settings = settle(settings, cohort, error);
  if (s->settings == NULL ||
      !demur_training_parts_find(cohort, s->settings, seed, parts, &log->validation_note, error))
    return NULL;
  s->simulated = cohort->simulated;
  s->model = g_strdup(cohort->model);
  const DemurOutcome outcome = demur_outcome_of_cohort(cohort);
  s->outcome = g_strdup(demur_outcome_noun(&outcome));
  s->horizon_years = cohort->horizon_years;
  s->n_classes = cohort->n_classes;
  s->embedding_width = cohort->embedding_width;
  s->seed = seed;
  s->cohort = g_strdup(cohort->name);
  demur_training_parts_remember(s, cohort, parts);
  if (cohort->embedding_width > 0 || (s->settings->features & DEMUR_FEATURES_OUTLIER) == 0)
    return g_steal_pointer(&s);
  demur_error_set(error, DEMUR_ERROR_STATE,
                  "cohort '%s' has no embeddings, which the outlier features need; import it with "
                  "them (emb_0.. or --embeddings), or train with --features %s",
                  cohort->name,
                  s->settings->target == DEMUR_TARGET_DENOISED ? "confidence,class,corrector"
                                                               : "confidence,class");
  return NULL;
}

/* What the networks are trained on: the scaler's, standardised, with the denoised errors. */
static gboolean
load_inputs(DemurSelector *s, const DemurCohort *view, const DemurTrainingParts *parts,
            const DemurTrainingFeatures *features, DemurTrainerInput *training,
            DemurTrainerInput *validation, GError **error) {
  if (!demur_trainer_input_load(s, view, &parts->training, features->training, training, error) ||
      !demur_trainer_input_load(s, view, &parts->validation, features->validation, validation,
                                error))
    return FALSE;
  s->scaler = demur_scaler_fit(training->inputs, training->part.n_scans, s->n_inputs, error);
  if (s->scaler == NULL)
    return FALSE;
  if (s->settings->scoring != DEMUR_SCORING_NETWORK)
    return TRUE;
  demur_scaler_apply(s->scaler, training->inputs, training->part.n_scans, training->inputs);
  demur_scaler_apply(s->scaler, validation->inputs, validation->part.n_scans, validation->inputs);
  if (s->settings->target == DEMUR_TARGET_DENOISED) {
    training->errors = g_new(double, MAX(training->part.n_scans, 1));
    demur_corrector_errors(&features->fitted, training->risks, training->labels,
                           training->part.weights, training->part.n_scans, (int)s->settings->q,
                           training->errors);
    training->part.errors = training->errors;
  }
  return TRUE;
}

/* All that comes before the networks, and what they are trained on. */
typedef struct {
  DemurTrainingParts parts;
  DemurTrainingFeatures features;
  DemurTrainingLog *log;
  DemurCohort *view; /* the training's risks */
  DemurTrainerInput training, validation;
} Prepared;

static void
prepared_clear(Prepared *prepared) {
  demur_trainer_input_clear(&prepared->training);
  demur_trainer_input_clear(&prepared->validation);
  demur_cohort_unref(prepared->view);
  demur_training_features_clear(&prepared->features);
  demur_training_parts_clear(&prepared->parts);
  demur_training_log_free(prepared->log);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Prepared, prepared_clear)

/* Steps 1 to 4; the first 12 % of progress. from: a checkpoint that must be of this training, or
 * NULL. */
static DemurSelector *
prepare(DemurCohort *cohort, const DemurTrainSettings *settings, guint64 seed,
        const DemurCheckpoint *from, DemurParallel *parallel, const DemurProgress *progress,
        Prepared *prepared, GError **error) {
  if (!demur_train_settings_check(settings, error))
    return NULL;
  DemurProgressStage stage = {progress, 0.0, 0.05, NULL};
  const DemurProgress staged = demur_progress_stage(&stage);
  DemurTrainingParts *parts = &prepared->parts;
  DemurTrainingFeatures *features = &prepared->features;

  /* 1. Parts. */
  prepared->log = g_new0(DemurTrainingLog, 1);
  g_autoptr(DemurSelector) s = begin(cohort, settings, seed, parts, prepared->log, error);
  if (s == NULL)
    return NULL;
  if (from != NULL &&
      !demur_checkpoint_check(from, s->settings, seed, s->cohort_digest, NULL, error))
    return NULL;

  /* 2. What is fitted on the reference set, and the corrector on raw risks. */
  if (!choose_columns(s, cohort, &parts->training, error) ||
      (cohort->embedding_width > 0 &&
       !demur_training_fit_reference(s, cohort, &parts->reference, parallel, &staged, error)))
    return NULL;
  stage = (DemurProgressStage){progress, 0.05, 0.12, NULL};
  if (!demur_training_features_raw(s, cohort, &parts->training, parallel, &staged, features, error))
    return NULL;

  /* 3. Recalibration, and the features of the risks that it gives. */
  prepared->view = demur_training_recalibrate(s, cohort, parts, &features->raw, parallel, &staged,
                                              &prepared->log->recalibration_note, error);
  if (prepared->view == NULL)
    return NULL;
  demur_training_fit_sites(s, cohort, &parts->training, &features->raw);

  /* 4. What the networks are trained on. */
  if (!demur_training_features_seen(s, prepared->view, parts, parallel, &staged, features, error) ||
      !load_inputs(s, prepared->view, parts, features, &prepared->training, &prepared->validation,
                   error))
    return NULL;
  return g_steal_pointer(&s);
}

DemurSelector *
demur_selector_train_kept(DemurCohort *cohort, const DemurTrainSettings *settings, guint64 seed,
                          const DemurTrainingKeeper *keeper, DemurParallel *parallel,
                          const DemurProgress *progress, DemurTrainingLog **log, GError **error) {
  const DemurProgress none = {0};
  if (progress == NULL)
    progress = &none;
  g_auto(Prepared) prepared = {0};
  g_autoptr(DemurSelector) s = prepare(cohort, settings, seed, keeper != NULL ? keeper->from : NULL,
                                       parallel, progress, &prepared, error);
  if (s == NULL)
    return NULL;

  /* 5. Networks, where it scores by them. */
  DemurProgressStage stage = {progress, 0.12, 1.0, NULL};
  const DemurProgress staged = demur_progress_stage(&stage);
  if (s->settings->scoring != DEMUR_SCORING_NETWORK) {
    s->shape = demur_mlp_shape(s->n_inputs, (size_t)s->settings->hidden);
    s->models = g_new0(DemurSelectorModel, 1);
    s->n_models = prepared.log->n_models = 1;
  } else if (!demur_training_networks(s, &prepared.training, &prepared.validation, keeper, parallel,
                                      &staged, prepared.log, error)) {
    return NULL;
  }

  /* 6. What an accepted scan looks like, and the digest. */
  keep_training_scans(s, prepared.view, &prepared.parts.training, prepared.features.training);
  demur_selector_seal(s);
  if (log != NULL)
    *log = g_steal_pointer(&prepared.log);
  return g_steal_pointer(&s);
}

DemurCheckpoint *
demur_selector_train_some(DemurCohort *cohort, const DemurTrainSettings *settings, guint64 seed,
                          size_t first, size_t end, DemurParallel *parallel,
                          const DemurProgress *progress, GError **error) {
  if (settings->scoring != DEMUR_SCORING_NETWORK) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "a selector that scores by %s has no networks to cut into shards",
                    demur_scoring_row(settings->scoring)->name);
    return NULL;
  }
  const DemurProgress none = {0};
  if (progress == NULL)
    progress = &none;
  g_auto(Prepared) prepared = {0};
  g_autoptr(DemurSelector) s =
      prepare(cohort, settings, seed, NULL, parallel, progress, &prepared, error);
  if (s == NULL)
    return NULL;
  DemurProgressStage stage = {progress, 0.12, 1.0, NULL};
  const DemurProgress staged = demur_progress_stage(&stage);
  return demur_training_networks_some(s, &prepared.training, &prepared.validation, first, end,
                                      parallel, &staged, error);
}
