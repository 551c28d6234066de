/* The parts of a training: rows of the splits, and what they are called. */
#pragma once

#include "selector/selector.h"

G_BEGIN_DECLS

/* Rows of one part and what they are called. */
typedef struct {
  DemurPartRole role;
  char *split;
  double *weights; /* [n_rows] of the outcomes (metrics/censoring.h); NULL: all are known */
  guint32 *rows;   /* [n_rows] of the cohort */
  size_t n_rows;
} DemurTrainingPart;

typedef struct {
  DemurTrainingPart reference, training;
  DemurTrainingPart validation;    /* n_rows 0: nothing validates */
  DemurTrainingPart recalibration; /* n_rows 0: the training scans recalibrate */
} DemurTrainingParts;

void demur_training_parts_clear(DemurTrainingParts *parts);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurTrainingParts, demur_training_parts_clear)

/* The parts by the settings' names and their defaults; *note (owned): how validation scans were
 * found. parts starts as all zero. FALSE with DEMUR_ERROR_NOT_FOUND for a split that does not
 * exist, DEMUR_ERROR_STATE for missing labels or nothing to validate on, DEMUR_ERROR_USAGE where the
 * training split is to validate too. */
gboolean demur_training_parts_find(const DemurCohort *cohort, const DemurTrainSettings *settings,
                                   guint64 seed, DemurTrainingParts *parts, char **note,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* groups [n_rows] (owned) in [0, *n_groups): the groups of the family T. DEMUR_ERROR_NOT_FOUND
 * where the cohort lacks the column. */
gboolean demur_training_groups(const DemurCohort *cohort, const DemurTrainSettings *settings,
                               const DemurTrainingPart *part, guint32 **groups, size_t *n_groups,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Sites of the rows [n_rows] (owned), or patients where there are fewer than five sites: what folds
 * leave out whole. */
guint32 *demur_training_fold_units(const DemurCohort *cohort, const DemurTrainingPart *part);

/* Provenance: the selector's table of parts, their patients, the digest of their rows. */
void demur_training_parts_remember(DemurSelector *selector, const DemurCohort *cohort,
                                   const DemurTrainingParts *parts);

G_END_DECLS
