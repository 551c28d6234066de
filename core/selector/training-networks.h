/* The networks of a training, several at a time, from where a checkpoint left them. */
#pragma once

#include "selector/training-parts.h"
#include "selector/training.h"

G_BEGIN_DECLS

/* A part as the trainer takes it; owns its arrays. */
typedef struct {
  DemurTrainerPart part;
  double *inputs, *risks, *labels, *errors;
  guint32 *groups;
} DemurTrainerInput;

void demur_trainer_input_clear(DemurTrainerInput *input);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurTrainerInput, demur_trainer_input_clear)

/* From meta features [n_rows][n_columns] of the part's rows: the columns that the settings' feature
 * groups keep, not yet standardised. input starts as all zero. */
gboolean demur_trainer_input_load(const DemurSelector *selector, const DemurCohort *view,
                                  const DemurTrainingPart *part, const double *meta,
                                  DemurTrainerInput *input,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Trains settings->models x settings->average networks into the selector and the log. keeper may be
 * NULL. FALSE with error, or cancelled. */
gboolean demur_training_networks(DemurSelector *selector, const DemurTrainerInput *training,
                                 const DemurTrainerInput *validation,
                                 const DemurTrainingKeeper *keeper, DemurParallel *parallel,
                                 const DemurProgress *progress, DemurTrainingLog *log,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The networks [first, end) alone, numbered model by model: where each of them ended, as a checkpoint
 * in which the others have not begun. What goes on from the checkpoints of all of them put together
 * is the training of all. NULL with error, or cancelled. */
DemurCheckpoint *demur_training_networks_some(const DemurSelector *selector,
                                              const DemurTrainerInput *training,
                                              const DemurTrainerInput *validation, size_t first,
                                              size_t end, DemurParallel *parallel,
                                              const DemurProgress *progress,
                                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
