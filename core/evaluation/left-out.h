/* Scans judged by selectors that never saw their sites: the sites of the training split are dealt
 * into folds, and for each fold a selector is trained on all but it. What the folds say is kept
 * apart, so that it may be found side by side, in another process or on another machine
 * (evaluation/left-out-part.h), and be put together in any order. */
#pragma once

#include "selector/training.h"

G_BEGIN_DECLS

typedef struct {
  char *split; /* of the training scans */
  guint64 seed;
  size_t n, n_folds, width; /* width: risks of one scan (a risk, or a probability a class) */
  guint32 *rows;            /* [n] of the cohort */
  guint32 *folds;           /* [n] in [0, n_folds) */
  gboolean *done;           /* [n_folds] */
  double *scores; /* [n] of the folds done: the share of the fold that scores lower; the score
                             * itself where it is on one scale (DemurScoringRow) and not cut into bands */
  double *risks;  /* [n][width] as that selector sees them; of the folds done */
} DemurLeftOut;

/* The folds, none of them done: a function of the cohort's sites and the seed. n_folds 2 to 1,000,
 * fewer where there are fewer sites: DEMUR_ERROR_USAGE, DEMUR_ERROR_STATE where there is one site
 * only. */
DemurLeftOut *demur_left_out_new(const DemurCohort *cohort, const DemurTrainSettings *settings,
                                 guint64 seed, size_t n_folds,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_left_out_free(DemurLeftOut *left_out);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurLeftOut, demur_left_out_free)

/* Trains one selector a fold in [first, end), with one model, and scores the fold; as many side by
 * side as there are threads. The same bytes at any number of threads. */
gboolean demur_left_out_fill(DemurLeftOut *left_out, DemurCohort *cohort,
                             const DemurTrainSettings *settings, size_t first, size_t end,
                             DemurParallel *parallel, const DemurProgress *progress,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same of all folds, and into `beside` (of the same settings, none of its folds done) what selectors of
 * the same trainings say that score by `scoring`: its folds are done where they can
 * (demur_selector_can_score_by), as if they had been trained for it. */
gboolean demur_left_out_fill_both(DemurLeftOut *left_out, DemurLeftOut *beside,
                                  DemurScoring scoring, DemurCohort *cohort,
                                  const DemurTrainSettings *settings, DemurParallel *parallel,
                                  const DemurProgress *progress,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
