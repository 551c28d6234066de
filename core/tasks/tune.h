/* Tuning a selector to coverages or to a guaranteed risk, and choosing among its thresholds. */
#pragma once

#include "tasks/horizons.h"
#include "tasks/task.h"
#include "tasks/warnings.h"
#include "selector/measure-guarantee.h"

G_BEGIN_DECLS

typedef struct {
  const char *selector, *cohort;
  const char *split;       /* NULL: "tune" */
  const double *coverages; /* [n_coverages] in (0, 1]; the first is in use from then on */
  size_t n_coverages;
  double delta; /* guaranteed coverage or risk, in (0, 1); 0: plug-in */
  double alpha; /* guaranteed risk, in (0, 1); else 0. Then the coverage is an upper end */
  const DemurGuarantee *guarantees; /* [n_guarantees], of measures of the accepted; then delta and
                                     * alpha are 0 and the coverage is an upper end */
  size_t n_guarantees;
  double positive_from;    /* of them: risks from here on are called positive */
  double hold_back_across; /* a decision threshold in (0, 1): scans whose risk interval holds it are
                            * refused too; 0: none. DEMUR_ERROR_STATE where K > 2 */
  gboolean keep_hold_back; /* hold back across what the current threshold holds back across; then
                            * hold_back_across is not read */
  const char *reason;      /* why this coverage, kept with user and time; NULL: not said */
} DemurTuneParams;

typedef struct {
  char *selector, *cohort, *split;
  gboolean simulated;
  size_t n_seen;       /* patients of the split that made the selector */
  GPtrArray *tunings;  /* of DemurTuning, one a coverage */
  GPtrArray *warnings; /* of DemurTaskWarning */
  char *validation;    /* whether the selector helps, a sentence */
} DemurTuned;

/* Finds the thresholds on the split and keeps them, with the reason: all or none. NULL with
 * DEMUR_ERROR_USAGE for a coverage out of range, DEMUR_ERROR_NOT_FOUND for an unknown name,
 * DEMUR_ERROR_STATE for what can't be guaranteed. Only a guaranteed risk looks at labels. */
DemurTuned *demur_task_tune(DemurTask *task, const DemurTuneParams *params,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_tuned_free(DemurTuned *tuned);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurTuned, demur_tuned_free)

/* Makes the threshold that was tuned for this coverage the current one again; reason as above. Of a
 * family's name that of each of its horizons (*horizons), or of none. thresholds [DEMUR_N_YEARS]
 * receives them; of one selector the first. DEMUR_ERROR_STATE with the coverages there are. */
gboolean demur_task_tune_use(DemurTask *task, const char *selector, double coverage,
                             const char *reason, DemurHorizons *horizons, double *thresholds,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
