/* The recalibration of a training. */
#pragma once

#include "selector/training-parts.h"

G_BEGIN_DECLS

/* Chooses and fits the recalibration on a part; the cohort as it is seen in training (owned): rows
 * of that part with the risk of the fit without their fold, all others with that of the whole fit.
 * *note (owned): what was chosen, and against what. NULL with DEMUR_ERROR_STATE where K > 2 and the
 * kind needs binary risk. */
DemurCohort *demur_training_recalibrate(DemurSelector *selector, DemurCohort *cohort,
                                        const DemurTrainingPart *part, char **note,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
