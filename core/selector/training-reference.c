/* What a training fits before its networks: on the reference set the projection of wide embeddings,
 * the outlier models and the principal components; on the training scans the correctors. A scan of
 * the reference is left out of its own distances. */
#include "selector/training-reference.h"

#include <string.h>

#include "base/memory.h"
#include "selector/components.h"
#include "selector/selector-private.h"

gboolean
demur_training_fit_reference(DemurSelector *s, const DemurCohort *cohort,
                             const DemurTrainingPart *reference, DemurParallel *parallel,
                             const DemurProgress *progress, GError **error) {
  const size_t n = reference->n_rows, d = cohort->embedding_width;
  if (s->settings->embedding_svd > 0 && (size_t)s->settings->embedding_svd < d) {
    DEMUR_AUTO_ALIGNED float *raw =
        demur_selector_embeddings(s, cohort, reference->rows, n, parallel);
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
  DEMUR_AUTO_ALIGNED float *embeddings =
      demur_selector_embeddings(s, cohort, reference->rows, n, parallel);
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

/* The columns that a corrector reads: [n][n_base], gathered from meta. */
static double *
gather_base(const DemurSelector *s, const double *meta, size_t n) {
  const size_t n_base = demur_selector_n_corrector_base(s);
  double *base = demur_new_matrix(double, n, n_base);
  for (size_t i = 0; i < n; i++)
    demur_selector_corrector_base(s, meta + i * s->columns->n_columns, base + i * n_base);
  return base;
}

/* The inputs of a corrector of the training scans, whose columns' scaler is fitted. NULL with error. What they are made of is let go
 * here: the fit behind it is where a training takes most memory. */
static double *
make_inputs(const DemurSelector *s, const DemurCohort *cohort, const DemurTrainingPart *training,
            const double *meta, DemurParallel *parallel, DemurScaler **scaler, GError **error) {
  const size_t n = training->n_rows;
  double *base = gather_base(s, meta, n);
  *scaler = demur_scaler_fit(base, n, demur_selector_n_corrector_base(s), error);
  g_aligned_free(base);
  if (*scaler == NULL)
    return NULL;
  DEMUR_AUTO_ALIGNED float *embeddings =
      s->outlier != NULL ? demur_selector_embeddings(s, cohort, training->rows, n, parallel) : NULL;
  return demur_selector_corrector_inputs(s, *scaler, meta, embeddings, n, parallel);
}

/* Fits a corrector on the training scans with the risks of the given cohort. training receives what
 * it says of them. */
static gboolean
fit_corrector(const DemurSelector *s, const DemurCohort *cohort, const DemurTrainingPart *training,
              const double *meta, DemurParallel *parallel, const DemurProgress *progress,
              DemurSelectorCorrector *out, DemurCorrectorTraining *fitted, GError **error) {
  const size_t n = training->n_rows, n_base = demur_selector_n_corrector_base(s);
  DEMUR_AUTO_ALIGNED double *inputs =
      make_inputs(s, cohort, training, meta, parallel, &out->scaler, error);
  if (inputs == NULL)
    return FALSE;
  g_autofree double *risks = g_new(double, MAX(n, 1)), *labels = g_new(double, MAX(n, 1));
  for (size_t i = 0; i < n; i++) {
    risks[i] = cohort->risks[training->rows[i]];
    labels[i] = (double)cohort->labels[training->rows[i]];
  }
  g_autofree guint32 *units = demur_training_fold_units(cohort, training);
  g_autofree guint32 *sites = g_new(guint32, MAX(n, 1));
  for (size_t i = 0; i < n; i++)
    sites[i] = cohort->sites[training->rows[i]];
  const DemurCorrectorData data = {.n = n,
                                   .n_inputs = n_base + s->n_components,
                                   .inputs = inputs,
                                   .risks = risks,
                                   .labels = labels,
                                   .weights = training->weights,
                                   .units = units,
                                   .sites = sites};
  out->corrector = demur_corrector_fit(&data, s->seed, parallel, progress, fitted, error);
  return out->corrector != NULL;
}

void
demur_training_features_clear(DemurTrainingFeatures *features) {
  g_aligned_free(features->training);
  g_aligned_free(features->validation);
  demur_corrector_training_clear(&features->raw);
  demur_corrector_training_clear(&features->fitted);
}

gboolean
demur_training_features_raw(DemurSelector *s, const DemurCohort *cohort,
                            const DemurTrainingPart *training, DemurParallel *parallel,
                            const DemurProgress *progress, DemurTrainingFeatures *features,
                            GError **error) {
  const size_t n = training->n_rows;
  float *embeddings =
      s->outlier != NULL ? demur_selector_embeddings(s, cohort, training->rows, n, parallel) : NULL;
  features->training = demur_unset_matrix(double, n, s->columns->n_columns);
  const gboolean done = demur_selector_base_features(s, cohort, training->rows, n, embeddings, NULL,
                                                     parallel, progress, features->training, error);
  g_aligned_free(embeddings);
  if (!done)
    return FALSE;
  return s->columns->n_corrector == 0 ||
         fit_corrector(s, cohort, training, features->training, parallel, progress, &s->raw,
                       &features->raw, error);
}

/* The corrector of the risks that the selector sees: the raw one where these are raw. */
static gboolean
fit_seen(DemurSelector *s, const DemurCohort *view, const DemurTrainingPart *training,
         DemurParallel *parallel, const DemurProgress *progress, DemurTrainingFeatures *features,
         GError **error) {
  if (s->recalibration != NULL)
    return fit_corrector(s, view, training, features->training, parallel, progress, &s->corrected,
                         &features->fitted, error);
  s->corrected = s->raw;
  s->raw = (DemurSelectorCorrector){NULL, NULL};
  features->fitted = features->raw;
  features->raw = (DemurCorrectorTraining){NULL, NULL, NULL, NULL};
  return TRUE;
}

gboolean
demur_training_features_seen(DemurSelector *s, const DemurCohort *view,
                             const DemurTrainingParts *parts, DemurParallel *parallel,
                             const DemurProgress *progress, DemurTrainingFeatures *features,
                             GError **error) {
  const DemurTrainingPart *training = &parts->training;
  const size_t n = training->n_rows, width = s->columns->n_columns;
  if (s->recalibration != NULL)
    demur_meta_confidence(s->columns, view, training->rows, n, features->training);
  if (s->columns->n_corrector > 0) {
    if (!fit_seen(s, view, training, parallel, progress, features, error))
      return FALSE;
    for (size_t i = 0; i < n; i++)
      demur_corrector_features(
          s->corrected.corrector, view->risks[training->rows[i]], features->fitted.deltas[i],
          features->training + i * width + s->columns->n_confidence + s->columns->n_outlier);
  }
  features->validation = demur_selector_meta_features(
      s, view, FALSE, parts->validation.rows, parts->validation.n_rows, parallel, progress, error);
  return features->validation != NULL;
}
