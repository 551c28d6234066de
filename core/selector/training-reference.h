/* Outlier models on the reference set; meta features and correctors of the training scans. */
#pragma once

#include "selector/training-parts.h"

G_BEGIN_DECLS

/* Fits the projection of wide embeddings, the outlier models and the principal components on the
 * reference set. FALSE with error, or cancelled. */
gboolean demur_training_fit_reference(DemurSelector *selector, const DemurCohort *cohort,
                                      const DemurTrainingPart *reference, DemurParallel *parallel,
                                      const DemurProgress *progress,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Meta features of the training and validation scans, and what the correctors say of the first. */
typedef struct {
  double *training, *validation; /* [n][n_columns] */
  DemurCorrectorTraining raw;    /* on raw risks; all zero from _seen on where those are seen */
  DemurCorrectorTraining fitted; /* on the risks that the selector sees */
} DemurTrainingFeatures;

void demur_training_features_clear(DemurTrainingFeatures *features);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurTrainingFeatures, demur_training_features_clear)

/* First: features of the raw risks, and the corrector on them (K = 2). features starts as all zero.
 * FALSE with error, or cancelled. */
gboolean demur_training_features_raw(DemurSelector *selector, const DemurCohort *cohort,
                                     const DemurTrainingPart *training, DemurParallel *parallel,
                                     const DemurProgress *progress, DemurTrainingFeatures *features,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Then, with the view that the recalibration gave: those of the risks that the selector sees. */
gboolean demur_training_features_seen(DemurSelector *selector, const DemurCohort *view,
                                      const DemurTrainingParts *parts, DemurParallel *parallel,
                                      const DemurProgress *progress,
                                      DemurTrainingFeatures *features,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
