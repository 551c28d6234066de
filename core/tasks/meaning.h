/* What a risk means here: what became of accepted scans with such a risk, in a cohort whose
 * outcomes are known. The card, the patient's page and its JSON say what this one rule finds.
 *
 * Of the accepted scans of the split with a known outcome, in order of |risk - r|, a tenth is
 * taken, but at least 30 and at most 200 (all, where there are fewer); then every scan within the
 * range of risks that these span, so that ties at its ends are not drawn by lot. A patient's own
 * scans tell nothing about the patient's risk and stay away. */
#pragma once

#include "cohort/outcome.h"
#include "tasks/task.h"

G_BEGIN_DECLS

typedef struct {
  const char *selector;
  const char *cohort;   /* NULL: the one that the threshold was tuned on */
  const char *split;    /* NULL: "test" */
  const char *coverage; /* of the threshold, as written; NULL: the current one */
} DemurMeaningParams;

/* Which cohort says what the risk of a kept verdict means: scan_cohort, that the scan is of, else
 * the one that the selector's threshold was tuned on; its split "test", else, of its own cohort,
 * scan_split. Both owned; both NULL where there is none such. */
gboolean demur_task_meaning_choose(DemurTask *task, const char *selector, const char *scan_cohort,
                                   const char *scan_split, char **cohort, char **split,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The accepted scans of a split by one threshold, in ascending risk. Immutable. */
typedef struct {
  char *cohort, *split, *outcome_name;
  gboolean simulated;
  DemurOutcome outcome;       /* its name is the reference's own */
  size_t n_scans, n_accepted; /* of the split */
  size_t n;                   /* accepted, with a known outcome */
  double *risks, *labels;     /* [n] */
  char **patient_ids;         /* [n] */
  char *cohort_created;
} DemurMeaningReference;

/* NULL with DEMUR_ERROR_STATE where the selector is not tuned, or where patients of the split made
 * it: what became of them says too little about others. */
DemurMeaningReference *demur_task_meaning_reference(DemurTask *task,
                                                    const DemurMeaningParams *params,
                                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_meaning_reference_free(DemurMeaningReference *reference);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurMeaningReference, demur_meaning_reference_free)

typedef struct {
  size_t n, n_positive;       /* the scans nearest in risk; those with label 1. n 0: none */
  double risk_low, risk_high; /* their risks */
  double mean_risk;
  double rate_low, rate_high; /* 95 % Wilson interval of n_positive / n */
} DemurMeaning;

/* Fewer than DEMUR_SMALL_CELL scans are told of nowhere. */
gboolean demur_meaning_is_told(const DemurMeaning *meaning);

/* Around a risk in [0, 1]; NaN finds none. patient_id: whose risk it is; may be NULL. O(n). */
DemurMeaning demur_meaning_find(const DemurMeaningReference *reference, double risk,
                                const char *patient_id);

G_END_DECLS
