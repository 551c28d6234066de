/*   logit h(x) = logit r + s delta(x),   delta(x) = b + w . x by ridge logistic regression with
 * offset logit r.
 *
 * lambda is the one of {3, 10, 30, .., 3000, 1e7} with the least log loss over 5 folds of whole
 * sites; a training scan's delta comes from the fit without its fold; s is the slope of a
 * one-parameter logistic fit on those deltas, clipped to [0, 1], so that what does not carry over
 * to another site shrinks away. The sites' own intercepts b_site (metrics/site-prior.h) enter only
 * the training target, at their posterior mean; tau^2 is integrated over. What a
 * fit without a site gives it (left_out, by which the shown risk is chosen) has its lambda and s
 * chosen without that site too. Cost: 8 lambdas x 6 fits x a few Newton steps of O(n d^2); below
 * DEMUR_FEW_SITES sites as much again a site. */
#include "selector/corrector.h"

#include <math.h>
#include <string.h>

#include "base/json-reader.h"
#include "base/limits.h"
#include "selector/folds.h"
#include "metrics/offset-logistic.h"
#include "metrics/site-prior.h"

#define N_FOLDS 5
#define MAX_LEFT_OUT 20 /* groups of sites */

static const double lambdas[] = {3, 10, 30, 100, 300, 1000, 3000, 1e7};
#define N_LAMBDAS G_N_ELEMENTS(lambdas)

void
demur_corrector_free(DemurCorrector *corrector) {
  if (corrector == NULL)
    return;
  g_free(corrector->weights);
  g_free(corrector);
}

void
demur_corrector_training_clear(DemurCorrectorTraining *training) {
  g_free(training->deltas);
  g_free(training->site_risks);
  g_free(training->left_out);
  demur_site_prior_free(training->sites);
}

DemurCorrector *
demur_corrector_copy(const DemurCorrector *corrector) {
  DemurCorrector *copy = g_memdup2(corrector, sizeof *corrector);
  copy->weights = g_memdup2(corrector->weights, corrector->n_inputs * sizeof(double));
  return copy;
}

gboolean
demur_corrector_is_within(const DemurCorrector *corrector, double limit) {
  gboolean within = fabs(corrector->intercept) <= limit && corrector->tau2 <= limit;
  for (size_t c = 0; c < corrector->n_inputs; c++)
    within = within && fabs(corrector->weights[c]) <= limit;
  return within;
}

double
demur_corrector_delta(const DemurCorrector *corrector, const double *x) {
  double delta = corrector->intercept;
  for (size_t c = 0; c < corrector->n_inputs; c++)
    delta += corrector->weights[c] * x[c];
  return delta;
}

double
demur_corrector_risk(const DemurCorrector *corrector, double risk, double delta) {
  return demur_sigmoid(demur_logit(risk) + corrector->slope * delta);
}

void
demur_corrector_features(const DemurCorrector *corrector, double risk, double delta,
                         double *features) {
  const double r = demur_sigmoid(demur_logit(risk)); /* clipped */
  const double gap = demur_corrector_risk(corrector, risk, delta) - r;
  const double v = r * (1.0 - r);
  features[0] = corrector->slope * delta;
  features[1] = fabs(gap);
  features[2] = log(gap * gap + corrector->tau2 * v * v + 1e-8);
}

void
demur_corrector_errors(const DemurCorrectorTraining *training, const double *risks,
                       const double *labels, const double *weights, size_t n, int q,
                       double *errors) {
  double sum = 0.0, published = 0.0;
  for (size_t i = 0; i < n; i++) {
    const double weight = weights != NULL ? weights[i] : 1.0;
    const double gap = fabs(training->site_risks[i] - risks[i]);
    const double difference = fabs(labels[i] - risks[i]);
    errors[i] = q == 1 ? gap : gap * gap;
    sum += weight * errors[i];
    published += weight * (q == 1 ? difference : difference * difference);
  }
  const double scale = sum > 0.0 ? published / sum : 0.0;
  for (size_t i = 0; i < n; i++)
    errors[i] *= scale;
}

typedef struct {
  const double *inputs, *offsets, *labels;
  const double *weights; /* [n] of the outcomes; NULL: 1 */
  size_t n, d, n_folds;
  const guint32 *folds;
  double *deltas;     /* [N_LAMBDAS][n] out of fold */
  double *intercepts; /* [N_LAMBDAS][n_folds] of the fits that gave them */
} Fits;

static double
weight_of(const Fits *fits, size_t i) {
  return fits->weights != NULL ? fits->weights[i] : 1.0;
}

/* use [n] as in metrics/offset-logistic.h. */
static void
fit_logistic(const Fits *fits, const double *use, double lambda, double *weights,
             double *intercept) {
  const DemurOffsetLogistic problem = {.inputs = fits->inputs,
                                       .stride = fits->d,
                                       .n = fits->n,
                                       .d = fits->d,
                                       .offsets = fits->offsets,
                                       .labels = fits->labels,
                                       .use = use,
                                       .penalty = lambda,
                                       .intercept_penalty = DEMUR_CORRECTOR_INTERCEPT_PENALTY};
  demur_offset_logistic_fit(&problem, weights, intercept);
}

/* One job a (lambda, fold): fit without the fold, then the fold's deltas. */
static void
fit_without_fold(size_t job, guint worker, gpointer data) {
  Fits *fits = data;
  const size_t lambda = job / fits->n_folds;
  const guint32 fold = (guint32)(job % fits->n_folds);
  g_autofree double *use = g_new(double, MAX(fits->n, 1));
  for (size_t i = 0; i < fits->n; i++)
    use[i] = fits->folds[i] != fold ? weight_of(fits, i) : 0.0;
  DemurCorrector fit = {.n_inputs = fits->d};
  g_autofree double *weights = fit.weights = g_new0(double, MAX(fits->d, 1));
  fit_logistic(fits, use, lambdas[lambda], weights, &fit.intercept);
  fits->intercepts[job] = fit.intercept;
  for (size_t i = 0; i < fits->n; i++)
    if (fits->folds[i] == fold)
      fits->deltas[lambda * fits->n + i] = demur_corrector_delta(&fit, fits->inputs + i * fits->d);
}

/* Slope s of logit p = offset + s delta: convex in s, so bisection on the derivative over [0, 1] is
 * exact to rounding. */
static double
fit_slope(const double *offsets, const double *deltas, const double *labels, const double *weights,
          size_t n) {
  double low = 0.0, high = 1.0;
  for (int end = 0; end < 2; end++) {
    double derivative = 0.0;
    for (size_t i = 0; i < n; i++)
      derivative += (weights != NULL ? weights[i] : 1.0) *
                    (demur_sigmoid(offsets[i] + (double)end * deltas[i]) - labels[i]) * deltas[i];
    if (end == 0 && derivative >= 0.0)
      return 0.0;
    if (end == 1 && derivative <= 0.0)
      return 1.0;
  }
  for (int step = 0; step < 60; step++) {
    const double middle = 0.5 * (low + high);
    double derivative = 0.0;
    for (size_t i = 0; i < n; i++)
      derivative += (weights != NULL ? weights[i] : 1.0) *
                    (demur_sigmoid(offsets[i] + middle * deltas[i]) - labels[i]) * deltas[i];
    if (derivative > 0.0)
      high = middle;
    else
      low = middle;
  }
  return 0.5 * (low + high);
}

/* The sites' spread and h_site [n]. The fits without a fold have intercepts of their own, which the
 * left-out sites' are not in: they are left out of the offsets (mu, the mean of all sites, stands
 * in their place), or every deviation would be S / (S - 1) times too large. */
static void
fit_sites(DemurCorrector *corrector, const Fits *fits, size_t lambda, const guint32 *sites,
          DemurCorrectorTraining *training) {
  const size_t n = fits->n;
  guint32 n_codes = 0;
  for (size_t i = 0; i < n; i++)
    n_codes = MAX(n_codes, sites[i] + 1);
  gboolean several = FALSE;
  for (size_t i = 1; i < n; i++)
    several = several || sites[i] != sites[0];
  g_autofree double *logits = g_new(double, MAX(n, 1));
  for (size_t i = 0; i < n; i++) {
    const double intercept =
        several ? fits->intercepts[lambda * fits->n_folds + fits->folds[i]] : 0.0;
    logits[i] = fits->offsets[i] + corrector->slope * (fits->deltas[lambda * n + i] - intercept);
  }
  g_autofree double *intercepts = g_new0(double, MAX(n_codes, 1));
  training->sites = demur_site_prior_fit(logits, fits->labels, fits->weights, sites, n, intercepts);
  corrector->tau2 = training->sites->tau2;
  training->site_risks = g_new(double, MAX(n, 1));
  for (size_t i = 0; i < n; i++)
    training->site_risks[i] = demur_sigmoid(logits[i] + intercepts[sites[i]]);
  /* h has the intercept of the whole fit; what a site adds to it is relative to that. */
  for (size_t k = 0; several && k < training->sites->n; k++)
    training->sites->means[k] -= corrector->slope * corrector->intercept;
}

/* The lambda with the least log loss of the scans of which use is above 0 (NULL: of all). deltas
 * [N_LAMBDAS][n]. */
static size_t
choose_lambda(const Fits *fits, const double *deltas, const double *use) {
  size_t best = N_LAMBDAS - 1;
  double best_loss = INFINITY;
  for (size_t l = 0; l < N_LAMBDAS; l++) {
    double loss = 0.0;
    for (size_t i = 0; i < fits->n; i++)
      if (use == NULL || use[i] > 0.0)
        loss += weight_of(fits, i) *
                demur_log_loss(fits->labels[i],
                               demur_sigmoid(fits->offsets[i] + deltas[l * fits->n + i]));
    if (loss < best_loss) {
      best_loss = loss;
      best = l;
    }
  }
  return best;
}

/* One job a group of sites: the fit without it, started at the whole fit, with the lambda and the s
 * that the others choose. */
typedef struct {
  const DemurCorrector *whole;
  const Fits *fits;
  const guint32 *groups; /* [n] */
  gboolean nested; /* the others choose by fits without the group, too; else by those there are,
                          * of which each has the group but that of its own fold */
  double *risks;   /* [n] */
} LeaveOut;

/* deltas [N_LAMBDAS][n] of the others out of fold, by fits without the group. */
static void
fit_nested(const LeaveOut *job, size_t group, double *deltas) {
  const Fits *fits = job->fits;
  const size_t n = fits->n, d = fits->d;
  g_autofree double *use = g_new(double, MAX(n, 1));
  for (guint32 fold = 0; fold < fits->n_folds; fold++) {
    gboolean any = FALSE;
    for (size_t i = 0; i < n; i++) {
      const gboolean other = job->groups[i] != group;
      use[i] = other && fits->folds[i] != fold ? weight_of(fits, i) : 0.0;
      any = any || (other && fits->folds[i] == fold);
    }
    g_autoptr(DemurCorrector) fit = demur_corrector_copy(job->whole);
    for (size_t l = N_LAMBDAS; any && l-- > 0;) {
      fit_logistic(fits, use, lambdas[l], fit->weights, &fit->intercept);
      for (size_t i = 0; i < n; i++)
        if (job->groups[i] != group && fits->folds[i] == fold)
          deltas[l * n + i] = demur_corrector_delta(fit, fits->inputs + i * d);
    }
  }
}

static void
leave_group_out(size_t group, guint worker, gpointer data) {
  const LeaveOut *job = data;
  const Fits *fits = job->fits;
  const size_t n = fits->n, d = fits->d;
  g_autofree double *use = g_new(double, MAX(n, 1));
  g_autofree double *offsets = g_new(double, n), *deltas = g_new(double, n),
                    *labels = g_new(double, n), *weights = g_new(double, n),
                    *nested = job->nested ? g_new0(double, N_LAMBDAS *n) : NULL;
  if (nested != NULL)
    fit_nested(job, group, nested);
  const double *all = nested != NULL ? nested : fits->deltas;
  for (size_t i = 0; i < n; i++)
    use[i] = job->groups[i] != group ? weight_of(fits, i) : 0.0;
  const size_t lambda = choose_lambda(fits, all, use);
  size_t n_others = 0;
  for (size_t i = 0; i < n; i++) {
    if (job->groups[i] == group)
      continue;
    offsets[n_others] = fits->offsets[i];
    deltas[n_others] = all[lambda * n + i];
    weights[n_others] = weight_of(fits, i);
    labels[n_others++] = fits->labels[i];
  }
  g_autoptr(DemurCorrector) fit = demur_corrector_copy(job->whole);
  fit_logistic(fits, use, lambdas[lambda], fit->weights, &fit->intercept);
  fit->slope = fit_slope(offsets, deltas, labels, weights, n_others);
  for (size_t i = 0; i < n; i++)
    if (job->groups[i] == group)
      job->risks[i] = demur_sigmoid(fits->offsets[i] +
                                    fit->slope * demur_corrector_delta(fit, fits->inputs + i * d));
}

static void
leave_sites_out(const DemurCorrector *corrector, const Fits *fits, size_t lambda,
                const guint32 *sites, guint64 seed, DemurParallel *parallel,
                DemurCorrectorTraining *training) {
  const size_t n = fits->n;
  training->left_out = g_new(double, MAX(n, 1));
  g_autofree guint32 *groups = g_new(guint32, MAX(n, 1));
  const size_t n_groups = demur_folds_assign(sites, n, MAX_LEFT_OUT, seed, 2, groups);
  /* Few sites flatter what they chose themselves; with many a site hardly moves the choice. */
  LeaveOut job = {corrector, fits, groups, n_groups < DEMUR_FEW_SITES, training->left_out};
  if (n_groups > 1) {
    demur_parallel_map(parallel, n_groups, leave_group_out, &job);
    return;
  }
  for (size_t i = 0; i < n; i++) /* one site: its patients are left out instead */
    training->left_out[i] =
        demur_sigmoid(fits->offsets[i] + corrector->slope * fits->deltas[lambda * n + i]);
}

DemurCorrector *
demur_corrector_fit(const DemurCorrectorData *data, guint64 seed, DemurParallel *parallel,
                    const DemurProgress *progress, DemurCorrectorTraining *training,
                    GError **error) {
  const size_t n = data->n, n_inputs = data->n_inputs;
  const double *inputs = data->inputs, *risks = data->risks, *labels = data->labels,
               *weights = data->weights;
  if (!demur_progress_step(progress, 0.0, "fitting the corrector", error))
    return NULL;
  g_autofree double *offsets = g_new(double, MAX(n, 1));
  for (size_t i = 0; i < n; i++)
    offsets[i] = demur_logit(risks[i]);
  g_autofree guint32 *folds = g_new(guint32, MAX(n, 1));
  Fits fits = {.inputs = inputs,
               .offsets = offsets,
               .labels = labels,
               .weights = weights,
               .n = n,
               .d = n_inputs,
               .folds = folds};
  fits.n_folds = demur_folds_assign(data->units, n, N_FOLDS, seed, 0, folds);
  g_autofree double *deltas = fits.deltas = g_new0(double, MAX(n, 1) * N_LAMBDAS);
  const size_t n_fits = N_LAMBDAS * MAX(fits.n_folds, 1);
  g_autofree double *intercepts = fits.intercepts = g_new0(double, n_fits);
  /* With a single unit nothing can be left out: then nothing is visible (s = 0). */
  if (fits.n_folds > 1)
    demur_parallel_map(parallel, N_LAMBDAS * fits.n_folds, fit_without_fold, &fits);
  if (!demur_progress_step(progress, 0.9, "fitting the corrector", error))
    return NULL;
  const size_t best = choose_lambda(&fits, deltas, NULL);
  DemurCorrector *corrector = g_new0(DemurCorrector, 1);
  corrector->n_inputs = n_inputs;
  corrector->weights = g_new0(double, MAX(n_inputs, 1));
  corrector->lambda = lambdas[best];
  fit_logistic(&fits, weights, lambdas[best], corrector->weights, &corrector->intercept);
  const double *chosen = deltas + best * n;
  corrector->slope = fits.n_folds > 1 ? fit_slope(offsets, chosen, labels, weights, n) : 0.0;
  training->deltas = g_memdup2(chosen, MAX(n, 1) * sizeof(double));
  fit_sites(corrector, &fits, best, data->sites, training);
  leave_sites_out(corrector, &fits, best, data->sites, seed, parallel, training);
  return corrector;
}

void
demur_corrector_write_json(const DemurCorrector *corrector, DemurJson *json, const char *key) {
  demur_json_begin_object(json, key);
  demur_json_double(json, "intercept", corrector->intercept);
  demur_json_double(json, "lambda", corrector->lambda);
  demur_json_double(json, "slope", corrector->slope);
  demur_json_double(json, "tau2", corrector->tau2);
  demur_json_doubles(json, "weights", corrector->weights, corrector->n_inputs);
  demur_json_end_object(json);
}

DemurCorrector *
demur_corrector_read_json(JsonObject *object, size_t n_inputs, GError **error) {
  g_autoptr(DemurCorrector) corrector = g_new0(DemurCorrector, 1);
  double *weights;
  corrector->n_inputs = n_inputs;
  if (!demur_json_read_double(object, "intercept", -INFINITY, INFINITY, &corrector->intercept,
                              error) ||
      !demur_json_read_double(object, "lambda", 0.0, INFINITY, &corrector->lambda, error) ||
      !demur_json_read_double(object, "slope", 0.0, 1.0, &corrector->slope, error) ||
      !demur_json_read_double(object, "tau2", 0.0, INFINITY, &corrector->tau2, error) ||
      !demur_json_read_doubles(object, "weights", n_inputs, -INFINITY, INFINITY, &weights, error))
    return NULL;
  corrector->weights = g_memdup2(weights, MAX(n_inputs, 1) * sizeof(double));
  g_aligned_free(weights);
  return g_steal_pointer(&corrector);
}
