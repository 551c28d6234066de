/* The selectors and baselines of an evaluation as scores: high is kept. */
#pragma once

#include "evaluation/method-kind.h"
#include "evaluation/sample.h"
#include "metrics/selective.h"
#include "metrics/site-error.h"
#include "selector/selector.h"

G_BEGIN_DECLS

typedef struct {
  DemurMethodKind kind;
  char *name, *title; /* evaluation.h: DemurMethodResult */
  size_t n_models;
  double **scores; /* [n_models][n] in the order of the sample */
  guint32 **ranks; /* [n_models][n] dense ranks of the scores, 0 the highest */
  size_t *n_ranks; /* [n_models] */
} DemurMethod;

typedef struct {
  size_t n_selectors; /* there may be none */
  DemurSelector *const *selectors;
  char *const *names;
  const DemurSelector *base; /* whose reference set and corrector the baselines use */
  /* The risks that are measured: the view of the selectors, or (raw) the cohort as it is. */
  const DemurCohort *cohort;
  gboolean raw;
  const DemurSample *sample;
  const double *outlier; /* [n][DEMUR_N_OUTLIER]: demur_selector_outlier_scores of the sample's
                            rows; NULL where base has no outlier model */
  guint64 seed;
} DemurMethodsInput;

void demur_method_free(gpointer method);

/* An array of DemurMethod (owned, frees its elements): the selectors by their names, then full,
 * confidence, entropy and, with embeddings, kNN, KDE, one-class SVM, isolation forest and LOF, then
 * mc (K = 2) and random. */
GPtrArray *demur_methods_new(const DemurMethodsInput *input, DemurParallel *parallel,
                             const DemurProgress *progress,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* An empty array for methods, and a method with one model's scores [n] (copied) added to it.
 * selector: demur_method_name. */
GPtrArray *demur_methods_array_new(void);
void demur_methods_add(GPtrArray *methods, DemurMethodKind kind, const char *selector,
                       const char *title, const double *scores, size_t n);

/* What a method's model keeps of the sample, as the measures take it. */
DemurSelectiveSample demur_method_selective(const DemurSample *sample, const DemurMethod *method,
                                            size_t model, DemurDrawn drawn);
DemurSiteSample demur_method_sites(const DemurSample *sample, const DemurMethod *method,
                                   size_t model, DemurDrawn drawn);

/* The last rank whose score is at least the threshold; -1: none. */
gssize demur_method_rank_at(const DemurMethod *method, size_t model, size_t n, double threshold);
/* demur_coverage_threshold by the ranks there are, without a sort, and the last rank that is kept.
 */
double demur_method_threshold(const DemurMethod *method, size_t model, size_t n, double coverage,
                              gssize *rank);

/* ranks [n_coverages]: the last kept rank at each coverage, as demur_method_threshold finds it. O(n)
 * for all of them. */
void demur_method_ranks_at(const DemurMethod *method, size_t model, size_t n,
                           const double *coverages, size_t n_coverages, gssize *ranks);

/* What stands on the left of comparisons: the selectors and `mc`. */
gboolean demur_method_is_compared(const DemurMethod *method);
/* Whose operating points have intervals of everything, and are applied to groups: those, and "full"
 * and "confidence". */
gboolean demur_method_has_points(const DemurMethod *method);

/* FALSE with DEMUR_ERROR_STATE where selectors differ in model or reference set, so that their
 * baselines differ. */
gboolean demur_methods_check_alike(DemurSelector *const *selectors, char *const *names,
                                   size_t n_selectors, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
