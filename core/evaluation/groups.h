/* Results by site, scanner, perturbation or any attribute: how much each group is refused, and how
 * well calibrated its accepted scans are. */
#pragma once

#include "base/parallel.h"
#include "base/progress.h"
#include "evaluation/evaluation.h"
#include "evaluation/methods.h"
#include "evaluation/point-releases.h"

G_BEGIN_DECLS

/* group_by: NULL-terminated names, each as evaluation/grouping.h takes it. FALSE with
 * DEMUR_ERROR_NOT_FOUND and the list of what there is. */
gboolean demur_groups_check(const DemurCohort *cohort, const char *const *group_by,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* One method's threshold over the whole split, to be applied to every group unchanged. */
typedef struct {
  size_t method; /* index into methods */
  double coverage;
  gboolean from_tune;
  const double *thresholds; /* [n_models] */
  gssize told;              /* the threshold whose set tells what counts outcomes; -1: none */
  gboolean aside;           /* for that alone, no point of the result; behind the method's others */
} DemurGroupThreshold;

typedef struct {
  const DemurCohort *cohort; /* the risks that are measured */
  const char *split;
  const char *const *group_by;
  const DemurSample *sample;
  const GPtrArray *methods; /* of DemurMethod */
  gboolean recalibrated;
  size_t n_thresholds;
  const DemurGroupThreshold *thresholds; /* of one method together */
  const DemurToldCoverages *told;        /* [methods->len] canonical sets; NULL: not released */
  guint64 seed;
  size_t n_bootstrap, n_noise_draws, min_bin_size;
} DemurGroupsInput;

/* Adds the methods to the groups of the evaluation (which are made where they are missing) and
 * their averages. Cost: groups x thresholds x n_bootstrap passes over a group's scans. */
gboolean demur_groups_add(const DemurGroupsInput *input, DemurEvaluation *evaluation,
                          DemurParallel *parallel, const DemurProgress *progress,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
