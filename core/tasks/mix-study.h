/* What a selector in use would do with another mix of patients (evaluation/mix.h). */
#pragma once

#include "evaluation/mix.h"
#include "tasks/task.h"
#include "tasks/warnings.h"

G_BEGIN_DECLS

typedef struct {
  const char *selector, *cohort;
  const char *split;    /* NULL: test */
  const char *coverage; /* of the threshold, as written; NULL: the one in use */
  const char *const
      *mixes;        /* NULL-terminated, each as demur_mix_wish_parse takes it; may be NULL */
  const char *table; /* columns attribute, value, share; NULL: none */
  const char *n_replicates; /* as written; NULL: as many as `evaluate` draws */
} DemurMixStudyParams;

typedef struct {
  char *split;
  char *model; /* whose risks they are */
  gboolean simulated;
  double coverage, threshold; /* coverage: as it was tuned */
  gboolean audited;           /* some site's risks have the intercept of its audit */
  DemurMix *mix;
  GPtrArray *warnings; /* of DemurTaskWarning */
} DemurMixStudy;

/* DEMUR_ERROR_STATE where the selector is not tuned, has seen patients of the split, or the mix is
 * not supported; DEMUR_ERROR_UNSUPPORTED where its risk is not binary; DEMUR_ERROR_USAGE for no
 * mix, and for replicates that are no number from 1. */
DemurMixStudy *demur_task_mix_study(DemurTask *task, const DemurMixStudyParams *params,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_mix_study_free(DemurMixStudy *study);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurMixStudy, demur_mix_study_free)

G_END_DECLS
