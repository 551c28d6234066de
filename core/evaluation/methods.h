/* The selectors and baselines of an evaluation as scores: high is kept. */
#pragma once

#include "evaluation/sample.h"
#include "selector/selector.h"

G_BEGIN_DECLS

typedef struct {
  char *name, *title; /* evaluation.h: DemurMethodResult */
  gboolean is_selector;
  size_t n_models;
  double **scores; /* [n_models][n] in the order of the sample */
  guint32 **ranks; /* [n_models][n] dense ranks of the scores, 0 the highest */
  size_t *n_ranks; /* [n_models] */
} DemurMethod;

/* An array of DemurMethod (owned, frees its elements): the selectors by the names given (there may
 * be none), then full, confidence, entropy and, with embeddings, kNN, KDE, one-class SVM, isolation
 * forest and LOF by the reference set of `base`, then mc by its corrector (K = 2) and random.
 * cohort and sample hold the risks that are measured: the view of the selectors, or (raw) the
 * cohort as it is. outlier [n][DEMUR_N_OUTLIER]: demur_selector_outlier_scores of the sample's
 * rows, or NULL where base has no outlier model. */
GPtrArray *demur_methods_new(DemurSelector *const *selectors, char *const *names,
                             size_t n_selectors, const DemurSelector *base,
                             const DemurCohort *cohort, gboolean raw, const DemurSample *sample,
                             const double *outlier, guint64 seed, DemurParallel *parallel,
                             const DemurProgress *progress,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* An empty array for methods, and a method with one model's scores [n] (copied) added to it. */
GPtrArray *demur_methods_array_new(void);
void demur_methods_add(GPtrArray *methods, const char *name, const char *title,
                       gboolean is_selector, const double *scores, size_t n);

/* FALSE with DEMUR_ERROR_STATE where selectors differ in model or reference set, so that their
 * baselines differ. */
gboolean demur_methods_check_alike(DemurSelector *const *selectors, char *const *names,
                                   size_t n_selectors, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
