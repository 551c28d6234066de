/* Selectors and baselines x models x resamples on one split of a cohort: fills the one result
 * structure. Paper: section "Evaluation"; measures of docs/method.md. */
#pragma once

#include "evaluation/evaluation.h"
#include "evaluation/methods.h"

G_BEGIN_DECLS

/* A tuned threshold to apply unchanged. */
typedef struct {
  double coverage;
  const double *thresholds; /* [networks of the selector] */
} DemurTunedThreshold;

/* A site's audit, if it has one: posterior mean and 95 % interval of its intercept. */
typedef struct {
  gboolean audited;
  double intercept, low, high;
} DemurEvaluateSite;

/* A scan that an audit labelled. */
typedef struct {
  guint32 row;
  double label;
  double weight; /* selector/outcome-weights.h, of the labels of its site; 1 where there are none */
} DemurEvaluateLabel;

typedef struct {
  DemurCohort *cohort;
  const char *split;
  size_t n_selectors;
  DemurSelector *const *selectors;              /* [n_selectors] */
  char *const *names;                           /* [n_selectors] */
  const DemurTunedThreshold *const *thresholds; /* [n_selectors][n_thresholds[s]]; may be NULL */
  const size_t *n_thresholds;                   /* [n_selectors]; may be NULL */
  /* [n_selectors] decision threshold that the current threshold holds back across, 0: none; NULL */
  const double *hold_back;
  /* Audits of the one selector, in its risks, and what they labelled, which is not measured:
   * [cohort->n_sites], [n_labels]. NULL: without audits. */
  const DemurEvaluateSite *sites;
  const DemurEvaluateLabel *labels;
  size_t n_labels;
  guint64 seed;
  size_t n_resamples; /* 5 */
  DemurUnit resample_unit;
  size_t n_bootstrap;   /* 1,000 replicates for intervals */
  size_t n_noise_draws; /* 200 */
  size_t min_bin_size;  /* 25 */
  /* Risk from which on a scan is treated, for "net_benefit"; NaN: the prevalence of the split,
   * where treating everyone is worth as much as treating no one. */
  double net_benefit_threshold;
  const char *const *group_by; /* NULL-terminated names (evaluation/groups.h); NULL: no groups */
  gboolean with_first; /* compare further selectors with the first too (evaluation/ablation.h) */
  gboolean in_sample;  /* allow scans of patients that the selectors have seen; printed */
  /* Resamples, redrawn labels and replicates are computed, for the ranks that share them out
   * (base/gather.h), and nothing is made of them: the result has no methods. */
  gboolean drawn_only;
  /* For people: what counts outcomes is told of canonical sets of accepted scans only, and is NaN
   * where none is near (evaluation/point-releases.h). FALSE: everything, for numbers that stay here. */
  gboolean released;
} DemurEvaluateInput;

/* The usual numbers; cohort, split and selectors are left to the caller. */
void demur_evaluate_input_init(DemurEvaluateInput *input);

/* SHA-256 (hexadecimal, owned) of what the numbers of an evaluation depend on beside cohort, seed, kernel
 * and program: split, selectors, thresholds and numbers. */
char *demur_evaluate_settings_digest(const DemurEvaluateInput *input);

/* NULL with error: DEMUR_ERROR_STATE where a selector has seen patients of the split (and not
 * in_sample), where selectors do not go together or a scan has no label; DEMUR_ERROR_NOT_FOUND for
 * the split or a name in group_by; or cancelled. */
DemurEvaluation *demur_evaluate(const DemurEvaluateInput *input, DemurParallel *parallel,
                                const DemurProgress *progress,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same for scores made elsewhere (out of fold, for example): methods is an array of DemurMethod
 * in the order of the sample. Of input only cohort, split, seed and the numbers are read; no
 * thresholds are applied. rows [sample->n]: the rows in the digest's order. */
DemurEvaluation *demur_evaluate_methods(const DemurEvaluateInput *input, const DemurSample *sample,
                                        const GPtrArray *methods, const guint32 *rows,
                                        DemurParallel *parallel, const DemurProgress *progress,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
