/* From a cohort to a selector: splits, meta features, scaler, networks. */
#pragma once

#include "base/json-writer.h"
#include "selector/checkpoint.h"
#include "selector/selector.h"

G_BEGIN_DECLS

/* What a training tells besides the selector. */
typedef struct {
  size_t n_models, n_average;
  DemurTrainerResult *
      *networks;         /* [n_models * n_average], model by model: history, epoch kept, updates */
  char *validation_note; /* how validation scans were found, a sentence */
  char *recalibration_note; /* what recalibration was chosen, and against what */
} DemurTrainingLog;

void demur_training_log_free(DemurTrainingLog *log);

/* Members "history" (of the first network) and "networks" (every one's) of the object being
 * written. */
void demur_training_log_write_json(const DemurTrainingLog *log, DemurJson *json);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurTrainingLog, demur_training_log_free)

/* Algorithm 1 on the cohort's splits (docs/commands.md, section Splits, says which by default).
 * All scans that train or validate need a label. log, if not NULL, receives what happened (owned by
 * the caller). NULL with DEMUR_ERROR_NOT_FOUND for a split that does not exist, DEMUR_ERROR_STATE
 * for data that can't train, or cancelled. */
DemurSelector *demur_selector_train(DemurCohort *cohort, const DemurTrainSettings *settings,
                                    guint64 seed, DemurParallel *parallel,
                                    const DemurProgress *progress, DemurTrainingLog **log,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Keeps the checkpoint (borrowed), replacing an earlier one. Called from the thread that called
 * demur_selector_train_kept only: within 16 updates or one network's end after any network ended an
 * epoch, and a last time when the training was cancelled. FALSE with error ends the training with
 * that error. */
typedef gboolean (*DemurCheckpointFunc)(const DemurCheckpoint *checkpoint, gpointer data,
                                        GError **error);

typedef struct {
  const DemurCheckpoint *from; /* go on from here; NULL: from the start. Borrowed */
  DemurCheckpointFunc keep;    /* NULL: nothing is kept */
  gpointer data;
} DemurTrainingKeeper;

/* The same for a training that may be cut: the selector of one that went on from a checkpoint has
 * the bytes of one that was never cut, at any number of threads. DEMUR_ERROR_STATE where the
 * checkpoint is of another training (demur_checkpoint_check). keeper NULL: as above. */
DemurSelector *demur_selector_train_kept(DemurCohort *cohort, const DemurTrainSettings *settings,
                                         guint64 seed, const DemurTrainingKeeper *keeper,
                                         DemurParallel *parallel, const DemurProgress *progress,
                                         DemurTrainingLog **log,
                                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Of that training the networks [first, end) of models x networks averaged alone, which another
 * process may train at the same time: where they ended (demur_training_networks_some).
 * DEMUR_ERROR_USAGE where the settings don't score by networks. */
DemurCheckpoint *demur_selector_train_some(DemurCohort *cohort, const DemurTrainSettings *settings,
                                           guint64 seed, size_t first, size_t end,
                                           DemurParallel *parallel, const DemurProgress *progress,
                                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
