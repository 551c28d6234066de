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
  const double *weights;  /* [n_scans] of the outcomes (metrics/censoring.h); NULL: 1 */
  const guint32 *groups;  /* [n_scans] in [0, n_groups): what the family T weights */
  size_t n_groups;
} DemurTrainerPart;

typedef struct {
  gint64 epoch;               /* 0: the untrained network */
  double loss;                /* mean over the epoch's updates; NaN for epoch 0 */
  double mean_auc, worst_auc; /* over the validation data sets: 10-point AUC of S-BCE_2; NaN where
                                 nothing validates */
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

/* Where a training stands between two updates: all that the rest of it depends on. Every draw is a
 * stream of (seed, model, network, update, data set), so no state of a generator belongs to it. */
typedef struct {
  DemurMlpShape shape;
  gint64 update;      /* updates made */
  gint64 epoch;       /* at work, and number of those finished: the first entries of history */
  gboolean flat;      /* the loss is flat: no further update */
  gboolean finished;  /* nothing is left to do */
  double loss;        /* sum over the updates of the epoch at work */
  double window;      /* the same over the window of the flat rule, */
  double last_window; /* and of the window before; INFINITY: there was none */
  double best;        /* worst_auc of the epoch that is kept; INFINITY: none yet */
  gint64 best_epoch;
  DemurReal *parameters; /* [n_parameters] now */
  DemurReal *kept;       /* [n_parameters] of best_epoch */
  guint64 adam_step;
  double *adam_first, *adam_second; /* [n_parameters] */
  size_t n_history;                 /* = epoch */
  DemurTrainerEpoch *history;       /* [n_history] */
} DemurTrainerState;

/* All zero but for the arrays of that shape and an empty history with room for n_history. */
DemurTrainerState *demur_trainer_state_new(DemurMlpShape shape, size_t n_history);
DemurTrainerState *demur_trainer_state_copy(const DemurTrainerState *state);
void demur_trainer_state_free(DemurTrainerState *state);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurTrainerState, demur_trainer_state_free)

/* Told at the end of every epoch (the untrained one included), when all is done, and when
 * cancelled; in the thread that trains. state is borrowed for the call. */
typedef void (*DemurTrainerStateFunc)(const DemurTrainerState *state, gpointer data);

/* Trains network number `model`; validation may be without scans where stopping is flat: its
 * initial weights and perturbations are streams of (seed, model). progress runs from 0 to 1. NULL
 * with G_IO_ERROR_CANCELLED, or DEMUR_ERROR_NUMERIC where the loss is no longer finite. */
DemurTrainerResult *demur_trainer_run(const DemurTrainerPart *training,
                                      const DemurTrainerPart *validation,
                                      const DemurTrainSettings *settings, guint64 seed, guint model,
                                      guint network, DemurParallel *parallel,
                                      const DemurProgress *progress,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same from where an earlier training of the same scans, settings, seed and network was (from
 * NULL: from the start), telling where it stands (func NULL: nobody). However often it is cut, the
 * result has the same bytes. DEMUR_ERROR_STATE where `from` is no state of such a training. */
DemurTrainerResult *
demur_trainer_continue(const DemurTrainerPart *training, const DemurTrainerPart *validation,
                       const DemurTrainSettings *settings, guint64 seed, guint model, guint network,
                       const DemurTrainerState *from, DemurTrainerStateFunc func, gpointer data,
                       DemurParallel *parallel, const DemurProgress *progress,
                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
