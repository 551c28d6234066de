/* What an evaluation has to do, before anything is measured: whether it may, which kinds of risk
 * there are, which thresholds are applied. */
#pragma once

#include "evaluation/evaluate.h"
#include "evaluation/point-releases.h"

G_BEGIN_DECLS

/* FALSE with DEMUR_ERROR_STATE where a selector has seen patients of the rows and the input does
 * not allow it; *in_sample: whether one has. */
gboolean demur_plan_check_unseen(const DemurEvaluateInput *input, const guint32 *rows,
                                 size_t n_rows, gboolean *in_sample, DemurParallel *parallel,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* One kind of risk: the selectors that see it, and every baseline on it. */
typedef struct {
  gboolean recalibrated;
  DemurCohort *view;         /* owned */
  const DemurSelector *base; /* whose reference set and corrector the baselines use */
  size_t n_selectors;
  size_t *selectors; /* [n_selectors] index into the input's; owned */
} DemurRiskGroup;

/* Of DemurRiskGroup (owned): raw risks first, with the selectors that see them; then each
 * recalibration with its selectors; views of the rows that are measured. NULL with error. */
GArray *demur_plan_risks(const DemurEvaluateInput *input, const guint32 *rows, size_t n_rows,
                         DemurParallel *parallel, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* One threshold, to be found and measured; at [..] of its method's result. */
typedef struct {
  size_t method;
  double coverage;
  const double *tuned; /* [n_models], borrowed; NULL: of this split's own scores */
  double threshold;    /* of model 1 */
  /* Released: the plan whose set tells what counts outcomes, -1: withheld. An aside is measured for
   * that alone, and is no point of the result. */
  gssize told;
  gboolean aside;
} DemurPointPlan;

/* Of DemurPointPlan (owned), methods in order: 0.9, 0.7, 0.5 from the split, then those that were
 * tuned, then asides. n: scans of the sample. told [methods->len]: the methods' canonical coverages;
 * NULL: not released. */
GArray *demur_plan_points(const DemurEvaluateInput *input, const DemurRiskGroup *group,
                          const GPtrArray *methods, size_t n, const DemurToldCoverages *told);

G_END_DECLS
