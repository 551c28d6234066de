/* What a selector scores by where nobody says: networks only where leaving whole sites out shows
 * that they keep better calibrated risks than plain confidence. */
#pragma once

#include "evaluation/validation.h"

G_BEGIN_DECLS

typedef struct {
  DemurScoring scoring;
  size_t n_sites;   /* training sites */
  gboolean decided; /* there are enough of them to leave out: DEMUR_FEW_SITES */
  char *note;       /* why, with the numbers; for people */
} DemurFallback;

void demur_fallback_free(DemurFallback *fallback);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurFallback, demur_fallback_free)

/* Validates networks of the settings (one a fold; averaging more changes little), then expected
 * miscalibration where risk is binary: the first whose verdict is "better" scores, else confidence.
 * Under DEMUR_FEW_SITES training sites nothing can be shown, and nothing is trained to
 * find out. NULL with error, or cancelled. */
DemurFallback *demur_fallback_choose(DemurCohort *cohort, const DemurTrainSettings *settings,
                                     guint64 seed, size_t n_folds, DemurParallel *parallel,
                                     const DemurProgress *progress,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
