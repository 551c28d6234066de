/* The recalibration of a training. */
#pragma once

#include "selector/training-parts.h"

G_BEGIN_DECLS

/* Chooses and fits the recalibration on its part; the cohort as it is seen in training (owned):
 * scans that recalibrated have the risk of the fit without their site, others that of the whole
 * fit; raw: what the corrector on raw risks says of the training scans (K = 2). *note (owned): what
 * was chosen, against what, with the interval. NULL with DEMUR_ERROR_STATE where K > 2 and the kind
 * needs binary risk, DEMUR_ERROR_USAGE for the corrector with a split of its own. */
DemurCohort *demur_training_recalibrate(DemurSelector *selector, DemurCohort *cohort,
                                        const DemurTrainingParts *parts,
                                        const DemurCorrectorTraining *raw, DemurParallel *parallel,
                                        const DemurProgress *progress, char **note,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Fits the selector's site prior, and the slope of its risk interval, on the risks that it sees, by
 * the whole recalibration (the mean of all sites is a parameter of the prior's; fits without a site
 * would count its deviation twice). */
void demur_training_fit_sites(DemurSelector *selector, const DemurCohort *cohort,
                              const DemurTrainingPart *training, const DemurCorrectorTraining *raw);

G_END_DECLS
