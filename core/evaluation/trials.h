/* The split as it is and its resamples, measured for every method and model: trial 0 is the split,
 * trials 1.. are resamples shared by all methods. */
#pragma once

#include "evaluation/cells.h"
#include "evaluation/evaluate.h"
#include "evaluation/extra.h"
#include "evaluation/replicates.h"

G_BEGIN_DECLS

/* Curves of one method and model on one trial. */
typedef struct {
  double values[DEMUR_N_FINE_MEASURES][DEMUR_N_COVERAGES]; /* site error: the square */
  double debiased2[DEMUR_N_COVERAGES];
  double site_error2_auc; /* of the square over 20 coverages */
  size_t n_selected[DEMUR_N_COVERAGES], n_bins[DEMUR_N_COVERAGES];
} DemurTrialCurves;

typedef struct DemurTrialsMemory DemurTrialsMemory;

typedef struct {
  const DemurSample *sample;
  const GPtrArray *methods;
  const DemurExtraSetup *setup;
  double coverages[DEMUR_N_COVERAGES], site_coverages[DEMUR_N_SITE_COVERAGES];
  size_t n_trials;          /* resamples + 1 */
  size_t n_columns;         /* method-model pairs, in order */
  size_t *first_columns;    /* [n_methods] */
  DemurTrialCurves *curves; /* [n_trials][n_columns], which is the order of the jobs: */
  DemurExtraCurves
      *extra_curves; /* those of the split as it is, the long ones, come first and side by side */
  DemurTrialsMemory *memory;
} DemurTrials;

/* Draws the resamples, side by side. What it points to is borrowed; parallel: of the map below too. */
DemurTrials *demur_trials_new(const DemurEvaluateInput *input, const DemurExtraSetup *setup,
                              const GPtrArray *methods, DemurParallel *parallel);
void demur_trials_free(DemurTrials *trials);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurTrials, demur_trials_free)

/* Where a trial of a column stands; trial 0 is the split as it is. */
static inline size_t
demur_trials_job(const DemurTrials *trials, size_t column, size_t trial) {
  return trial * trials->n_columns + column;
}

/* A DemurParallelFunc over n_columns x n_trials jobs, data the DemurTrials. */
void demur_trials_run(size_t job, guint worker, gpointer trials);

/* What it writes, of all jobs: an array of DemurSlot (base/gather.h), owned. */
GArray *demur_trials_slots(const DemurTrials *trials);

/* Fills the curves and areas of method k, whose noise floor and intervals come from the replicates.
 */
void demur_trials_fill(const DemurTrials *trials, const DemurReplicates *replicates, size_t k,
                       DemurMethodResult *result);

G_END_DECLS
