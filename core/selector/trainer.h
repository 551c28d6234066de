/* Algorithm 1 on arrays: one network trained on the kappa worst of m perturbed data sets an update.
 */
#pragma once

#include "base/progress.h"
#include "selector/settings.h"
#include "selector/update.h"

G_BEGIN_DECLS

/* Scans of one part (training or validation), in any order. Borrowed. */
typedef struct {
  size_t n_scans, n_features;
  const double *features; /* [n_scans][n_features], standardised */
  const double *risks;    /* [n_scans] */
  const double *labels;   /* [n_scans] in {0, 1} */
  const double *errors;   /* [n_scans] e of the loss; NULL: |y - r|^q */
  const guint32 *groups;  /* [n_scans] in [0, n_groups): what the family T weights */
  size_t n_groups;
} DemurTrainerPart;

typedef struct {
  gint64 epoch;               /* 0: the untrained network */
  double loss;                /* mean over the epoch's updates; NaN for epoch 0 */
  double mean_auc, worst_auc; /* over the validation data sets: 10-point AUC of S-BCE_2 */
} DemurTrainerEpoch;

typedef struct {
  DemurMlpShape shape;
  DemurReal *parameters; /* [n_parameters] kept */
  gint64 best_epoch; /* stopping worst case: least worst_auc, ties to the earlier; flat: the last */
  gint64 n_updates;  /* made in all */
  size_t n_history;
  DemurTrainerEpoch *history; /* [n_history], epoch 0 first */
} DemurTrainerResult;

void demur_trainer_result_free(DemurTrainerResult *result);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurTrainerResult, demur_trainer_result_free)

/* Trains network number `model`: its initial weights and perturbations are streams of (seed,
 * model). progress runs from 0 to 1. NULL with G_IO_ERROR_CANCELLED, or DEMUR_ERROR_NUMERIC where
 * the loss is no longer finite. */
DemurTrainerResult *demur_trainer_run(const DemurTrainerPart *training,
                                      const DemurTrainerPart *validation,
                                      const DemurTrainSettings *settings, guint64 seed, guint model,
                                      guint network, DemurParallel *parallel,
                                      const DemurProgress *progress,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
