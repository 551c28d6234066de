/* The corrector: an estimate h(x) of P(y = 1 | x) from the risk and what is visible of the scan,
 * cross-fitted by site. docs/method.md, "Beyond the paper", point 1: it denoises the training
 * target, gives three meta features, and its expected miscalibration is the method `mc`. K = 2
 * only. */
#pragma once

#include "base/json-writer.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "metrics/site-prior.h"

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

#define DEMUR_CORRECTOR_COMPONENTS 12
#define DEMUR_CORRECTOR_INTERCEPT_PENALTY 1e-3 /* beside lambda, that of the weights */
#define DEMUR_N_CORRECTOR_FEATURES 3 /* s delta, |h - r|, log((h - r)^2 + tau^2 v^2 + 1e-8) */

typedef struct {
  size_t n_inputs; /* columns of x: standardised meta features and principal components */
  double *weights; /* [n_inputs] */
  double intercept, lambda;
  double slope; /* s in [0, 1]; 0: nothing is visible */
  double tau2;  /* posterior mean of the variance of the sites' intercepts */
} DemurCorrector;

/* What the fit says of the training scans themselves. */
typedef struct {
  double *deltas;        /* [n] delta from the fit without the scan's fold */
  double *site_risks;    /* [n] h_site = sigmoid(logit r + s delta + b_site) */
  double *left_out;      /* [n] h by a fit, lambda and s included, without the scan's site */
  DemurSitePrior *sites; /* of h at a site never seen */
} DemurCorrectorTraining;

void demur_corrector_training_clear(DemurCorrectorTraining *training);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurCorrectorTraining, demur_corrector_training_clear)

/* What it is fitted on. */
typedef struct {
  size_t n, n_inputs;
  const double *inputs; /* [n][n_inputs] */
  const double *risks, *labels;
  const double *weights; /* [n] of the outcomes; NULL: 1 */
  const guint32 *units;  /* [n] codes of sites (patients where there are few sites) */
  const guint32 *sites;  /* [n] codes of the real sites */
} DemurCorrectorData;

/* Folds of whole units come from the seed. training starts as all zero and is the caller's. NULL
 * when cancelled. */
DemurCorrector *demur_corrector_fit(const DemurCorrectorData *data, guint64 seed,
                                    DemurParallel *parallel, const DemurProgress *progress,
                                    DemurCorrectorTraining *training,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;
DemurCorrector *demur_corrector_copy(const DemurCorrector *corrector);
void demur_corrector_free(DemurCorrector *corrector);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurCorrector, demur_corrector_free)

/* Whether intercept, tau2 and every weight are at most limit in magnitude. */
gboolean demur_corrector_is_within(const DemurCorrector *corrector, double limit);

/* delta of one row x [n_inputs]. */
double demur_corrector_delta(const DemurCorrector *corrector, const double *x);

/* h = sigmoid(logit r + s delta); features [3] as above. */
double demur_corrector_risk(const DemurCorrector *corrector, double risk, double delta);
void demur_corrector_features(const DemurCorrector *corrector, double risk, double delta,
                              double *features);

/* Denoised training errors e [n] = |h_site - r|^q, rescaled to the mean of |y - r|^q; means with
 * weights [n] of the outcomes (NULL: 1). */
void demur_corrector_errors(const DemurCorrectorTraining *training, const double *risks,
                            const double *labels, const double *weights, size_t n, int q,
                            double *errors);

void demur_corrector_write_json(const DemurCorrector *corrector, DemurJson *json, const char *key);
DemurCorrector *demur_corrector_read_json(JsonObject *object, size_t n_inputs,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
