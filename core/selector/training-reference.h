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

/* Meta features of the training and validation scans, and what the corrector says of the first. */
typedef struct {
  double *training, *validation; /* [n][n_columns] */
  DemurCorrectorTraining fitted;
} DemurTrainingFeatures;

void demur_training_features_clear(DemurTrainingFeatures *features);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurTrainingFeatures, demur_training_features_clear)

/* Computes them and fits the selector's correctors; cohort holds raw risks, view those that the
 * selector sees. features starts as all zero. FALSE with error, or cancelled. */
gboolean demur_training_features(DemurSelector *selector, const DemurCohort *cohort,
                                 const DemurCohort *view, const DemurTrainingParts *parts,
                                 DemurParallel *parallel, const DemurProgress *progress,
                                 DemurTrainingFeatures *features,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
