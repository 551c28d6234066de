/* Training a selector by Algorithm 1, from the start or from where a training was cut. */
#pragma once

#include "tasks/task.h"
#include "tasks/warnings.h"
#include "evaluation/fallback.h"
#include "evaluation/search.h"
#include "selector/training.h"
#include "store/selectors.h"

G_BEGIN_DECLS

typedef enum {
  DEMUR_RESUME_NO,      /* from the start */
  DEMUR_RESUME_IF_KEPT, /* from where a training of that name was cut, if one was */
  DEMUR_RESUME_KEPT,    /* from there; DEMUR_ERROR_NOT_FOUND where none was cut */
} DemurResume;

/* What one epoch of a network reached. */
typedef struct {
  size_t network; /* from 0 */
  gint64 epoch;
  double loss, mean_auc, worst_auc; /* NaN: not measured */
} DemurTrainPoint;

typedef void (*DemurTrainTold)(const DemurTrainPoint *point, gpointer data);

typedef struct {
  const char *selector, *cohort;
  const DemurTrainSettings *settings;
  double horizon_years; /* trained on risks within so many years (demur_cohort_at_horizon); 0: the
                         * cohort's own */
  const char *grid;     /* searched first (evaluation/search.h); NULL: no search */
  char *const
      *parts; /* files of the shards (tasks/shards.h) of its search, or without a grid of its
                         * networks; NULL: none */
  DemurSelectorReplace replace; /* of a selector of that name */
  DemurResume resume;
  DemurTrainTold told; /* on the calling thread, for every epoch; NULL: nobody listens */
  gpointer data;
} DemurTrainParams;

typedef struct {
  DemurSelector *selector;
  DemurTrainingLog *log;
  DemurSearch *search; /* NULL: none */
  DemurFallback
      *fallback;       /* how it was chosen what the selector scores by; NULL: it was asked for */
  GPtrArray *warnings; /* of DemurTaskWarning */
  double seconds;
  gint64 n_kept_updates; /* where it was cut: what is kept to go on from; -1: nothing */
} DemurTrained;

/* Trains and keeps the selector. What it scores by is chosen by leaving whole sites out
 * (evaluation/fallback.h) unless the settings say it (scoring_explicit, as published, a grid) or a
 * training is gone on with. trained: all zero; of a training that was cut
 * (G_IO_ERROR_CANCELLED) it tells what is kept. Refused before any work: DEMUR_ERROR_USAGE for a
 * name or settings that can't be, DEMUR_ERROR_EXISTS for a name that is taken. */
gboolean demur_task_train(DemurTask *task, const DemurTrainParams *params, DemurTrained *trained,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_trained_clear(DemurTrained *trained);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurTrained, demur_trained_clear)

/* Whole sites left out in turn (evaluation/validation.h), with the selector's own settings and
 * seed; the answer is kept with the selector. */
typedef struct {
  const char *selector, *cohort;
  size_t n_folds;     /* 2 or more; 0: 5 */
  char *const *parts; /* files of its shards (tasks/shards.h), which are put together; NULL: none */
  gboolean site_context; /* whether what unlabelled scans tell of a site helps is tried too */
} DemurValidateParams;

/* The folds asked for. */
size_t demur_validate_n_folds(const DemurValidateParams *params);

/* Folds of whole sites that a combination of a grid is judged on. */
#define DEMUR_SEARCH_FOLDS 5

/* The settings that a search begins from: those asked for, told apart from the published ones.
 * Owned. */
DemurTrainSettings *demur_train_settings_for_search(const DemurTrainSettings *settings);

DemurValidation *demur_task_validate(DemurTask *task, const DemurValidateParams *params,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
