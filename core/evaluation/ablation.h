/* What each part of a selector is worth: the paper's ablations (figures "ablation" and
 * "feature_ablation" of its appendix) in one table, with intervals.
 *
 * A selector with networks is trained anew without one group of its features, or one component of
 * Algorithm 1, at a time, by its own settings and seed; all of them score the same scans, which are
 * measured with the risks that the whole selector sees. Differences are paired by the bootstrap of
 * evaluation/comparisons.h, and verdicts corrected for all comparisons of the table. What the paper
 * shows as curves over coverage is one number here, their area. Cost: one training a row. */
#pragma once

#include "evaluation/evaluate.h"

G_BEGIN_DECLS

typedef enum {
  DEMUR_ABLATED_NOTHING, /* the selector itself */
  DEMUR_ABLATED_CONFIDENCE,
  DEMUR_ABLATED_CLASS,
  DEMUR_ABLATED_OUTLIER,
  DEMUR_ABLATED_CORRECTOR,
  DEMUR_ABLATED_ACQUISITION,
  DEMUR_ABLATED_PERTURBATIONS, /* data sets drawn from the training scans as they are */
  DEMUR_ABLATED_SHARED,        /* perturbations mixed within a data set */
  DEMUR_ABLATED_WORST,         /* every data set of an update counts, not the kappa worst */
  DEMUR_ABLATED_TARGET,        /* the paper's target in place of the denoised one */
  DEMUR_ABLATED_AVERAGE,       /* one network in place of an average */
  DEMUR_N_ABLATED,
} DemurAblated;

/* "whole", "without_confidence" ..; in words: "without confidence features" .. DEMUR_ERROR_USAGE for a
 * name that is none of the first, with those that there are. */
const char *demur_ablated_name(DemurAblated ablated);
const char *demur_ablated_title(DemurAblated ablated);
gboolean demur_ablated_from_name(const char *name, DemurAblated *ablated,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The settings without that part (owned); NULL: they don't have it, or nothing would be left. */
DemurTrainSettings *demur_ablated_settings(const DemurTrainSettings *settings,
                                           DemurAblated ablated);

typedef struct {
  DemurAblated ablated;
  double values[DEMUR_N_COMPARED]; /* AUC over coverage */
  /* The row minus the whole selector (NaN of that itself), and minus plain confidence: below 0 the
   * row is better; 95 %, corrected verdicts. */
  struct {
    double difference, low, high;
    DemurComparisonVerdict verdict;
  } whole[DEMUR_N_COMPARED], confidence[DEMUR_N_COMPARED];
} DemurAblationRow;

typedef struct {
  size_t n_rows;
  DemurAblationRow *rows;              /* [n_rows]: the whole first */
  double confidence[DEMUR_N_COMPARED]; /* of plain confidence */
  DemurUnit unit;                      /* that the bootstrap draws */
  DemurEvaluation *evaluation;         /* of all rows and confidence */
} DemurAblation;

void demur_ablation_free(DemurAblation *ablation);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurAblation, demur_ablation_free)

/* Leaves out each part that is asked for (wanted [DEMUR_N_ABLATED]; NULL: all that the selector
 * has). Of input cohort, split, seed, n_bootstrap, min_bin_size and in_sample are read. NULL with
 * error: DEMUR_ERROR_STATE where the selector has no networks, or has seen patients of the split;
 * or cancelled. */
DemurAblation *demur_ablate(const DemurEvaluateInput *input, DemurSelector *selector,
                            const gboolean *wanted, DemurParallel *parallel,
                            const DemurProgress *progress,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Members into an open object. */
void demur_ablation_write_json(const DemurAblation *ablation, DemurJson *json);

G_END_DECLS
