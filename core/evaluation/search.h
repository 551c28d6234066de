/* Hyper-parameters chosen by leaving whole sites out, never by looking at test. */
#pragma once

#include "evaluation/validation.h"

G_BEGIN_DECLS

/* One combination of the grid and what it was worth. */
typedef struct {
  DemurTrainSettings *settings;
  char *text;       /* "kernel_width=0.1 kappa=4" */
  double sbce2_auc; /* out of fold, on scans whose site trained nothing; NaN: training failed */
} DemurSearchTrial;

typedef struct {
  size_t n_trials;
  DemurSearchTrial *trials; /* in the order of the grid */
  size_t best;              /* least sbce2_auc, ties to the earlier */
} DemurSearch;

void demur_search_free(DemurSearch *search);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurSearch, demur_search_free)

/* The grid that is searched unless another is given. */
#define DEMUR_SEARCH_GRID "kernel_width=0.1,0.2,0.5;lambda2=0.003,0.01,0.03"

/* Every combination of the grid "name=value,value;name=value" (the numbers of selector/settings.h,
 * and target) put into the settings, none of them judged. At most 200 combinations:
 * DEMUR_ERROR_USAGE for more, for an unknown name or a value out of range. */
DemurSearch *demur_search_new(const DemurTrainSettings *settings, const char *grid,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What a trial is trained with: its settings, and one network (averaging only smooths). Owned. */
DemurTrainSettings *demur_search_trial_settings(const DemurSearch *search, size_t trial);

/* The best of the trials that were judged; DEMUR_ERROR_NUMERIC where none could be trained. */
gboolean demur_search_choose(DemurSearch *search, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* All of it: the grid, each combination judged by demur_validate's out-of-fold S-BCE_2 AUC with
 * n_folds (as many side by side as there are threads; the same bytes at any number), the best. */
DemurSearch *demur_search(DemurCohort *cohort, const DemurTrainSettings *settings, const char *grid,
                          guint64 seed, size_t n_folds, DemurParallel *parallel,
                          const DemurProgress *progress, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
