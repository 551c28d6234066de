/* What unlabelled scans of a new site tell of its risks, and what that is worth. Design: deployment.md,
 * "Site context".
 *
 * A site s is described without a label: x_s holds mean and spread of the logit risks, the logarithm of
 * its scans, how far the mean of its embeddings lies from the training sites' and how far they spread, their
 * mean along the direction in which training scans' outcomes leave their risks, mean and shares of how its
 * scans were made. Every part is standardised over the training sites. Then
 *
 *   logit p_i = logit r_i + b + w . x_s,          w: ridge, its penalty chosen by leaving sites out,
 *                                            0 where that is not better by a standard error over sites
 *   y_i ~ Bernoulli(sigmoid(logit r_i + w . x_s + b_s)),   b_s: metrics/site-prior.h, from these offsets
 *
 * beside the same without x. Judged on the sites that a validation leaves out (evaluation/left-out.h): a fold
 * is described, predicted and measured by the others alone. Without labels every scan counts; with m labels
 * of a site, its posterior mean is used on the scans behind the first DEMUR_CONTEXT_LABELS, at sites with
 * DEMUR_CONTEXT_LEAST of them.
 *
 * Source: meta-regression of calibration (Debray et al., "A framework for meta-analysis of prediction model
 * studies", SMMR 2019); that the direction is found by the first step of partial least squares is ours.
 * Cost: O(folds^2 x penalties x n d^2 + folds n width). */
#pragma once

#include "base/json-writer.h"
#include "evaluation/left-out.h"

G_BEGIN_DECLS

#define DEMUR_CONTEXT_LABELS 35
#define DEMUR_CONTEXT_LEAST 70
#define DEMUR_CONTEXT_STEPS 4 /* 0, 10, 20, 35 labels */

/* [0] without context, [1] with it. */
typedef struct {
  double value[2], difference, low, high; /* 95 % of the difference, sites drawn with replacement */
} DemurContextMeasure;

typedef struct {
  size_t n_labels;
  double log_loss[2], site_error[2];
} DemurContextStep;

typedef struct {
  size_t n_scans, n_sites, n_features;
  size_t n_folds, n_used; /* folds whose training sites chose a penalty that leaves w anything */
  DemurContextMeasure log_loss, site_error; /* site_error: signed root (metrics/site-error.h) */
  size_t n_labelled_sites;                  /* of the steps; 0: none is large enough */
  DemurContextStep steps[DEMUR_CONTEXT_STEPS];
  double labels_saved; /* labels that do without context what context does without labels; 0: none,
                        * infinity: more than DEMUR_CONTEXT_LABELS, NaN: no steps */
  gboolean helps;      /* both measures are lower, and their intervals lie below 0 */
} DemurSiteContext;

/* left_out with all folds done, of a cohort with binary risk, else DEMUR_ERROR_UNSUPPORTED. */
DemurSiteContext *demur_site_context_try(const DemurCohort *cohort, const DemurLeftOut *left_out,
                                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* In a sentence (owned), and as an object. */
char *demur_site_context_sentence(const DemurSiteContext *context);
void demur_site_context_write(DemurJson *json, const char *key, const DemurSiteContext *context);

G_END_DECLS
