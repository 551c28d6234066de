/*   logit h(x) = logit r + s delta(x),   delta(x) = b + w . x by ridge logistic regression with
 * offset logit r.
 *
 * lambda is the one of {3, 10, 30, .., 3000, 1e7} with the least log loss over 5 folds of whole
 * sites; a training scan's delta comes from the fit without its fold; s is the slope of a
 * one-parameter logistic fit on those deltas, clipped to [0, 1], so that what does not carry over
 * to another site shrinks away. The sites' own intercepts b_site ~ N(0, tau^2) enter only the
 * training target: tau^2 = max(1e-4, sum_s (R_s^2 - V_s) / sum_s V_s^2),  R_s = sum (y - h),  V_s =
 * sum h (1 - h); b_site the posterior mode. Cost: 8 lambdas x 6 fits x a few Newton steps of O(n
 * d^2). */
#include "selector/corrector.h"

#include <math.h>
#include <string.h>

#include "base/json-reader.h"
#include "selector/folds.h"
#include "metrics/offset-logistic.h"

#define N_FOLDS 5
#define INTERCEPT_PENALTY 1e-3
#define MIN_TAU2 1e-4

static const double lambdas[] = {3, 10, 30, 100, 300, 1000, 3000, 1e7};
#define N_LAMBDAS G_N_ELEMENTS(lambdas)

void
demur_corrector_free(DemurCorrector *corrector) {
  if (corrector == NULL)
    return;
  g_free(corrector->weights);
  g_free(corrector);
}

DemurCorrector *
demur_corrector_copy(const DemurCorrector *corrector) {
  DemurCorrector *copy = g_memdup2(corrector, sizeof *corrector);
  copy->weights = g_memdup2(corrector->weights, corrector->n_inputs * sizeof(double));
  return copy;
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
                       const double *labels, size_t n, int q, double *errors) {
  double sum = 0.0, published = 0.0;
  for (size_t i = 0; i < n; i++) {
    const double gap = fabs(training->site_risks[i] - risks[i]);
    const double difference = fabs(labels[i] - risks[i]);
    errors[i] = q == 1 ? gap : gap * gap;
    sum += errors[i];
    published += q == 1 ? difference : difference * difference;
  }
  const double scale = sum > 0.0 ? published / sum : 0.0;
  for (size_t i = 0; i < n; i++)
    errors[i] *= scale;
}

typedef struct {
  const double *inputs, *offsets, *labels;
  size_t n, d, n_folds;
  const guint32 *folds;
  double *deltas; /* [N_LAMBDAS][n] out of fold */
} Fits;

/* One job a (lambda, fold): fit without the fold, then the fold's deltas. */
static void
fit_without_fold(size_t job, guint worker, gpointer data) {
  Fits *fits = data;
  const size_t lambda = job / fits->n_folds;
  const guint32 fold = (guint32)(job % fits->n_folds);
  g_autofree guint8 *use = g_new(guint8, fits->n);
  for (size_t i = 0; i < fits->n; i++)
    use[i] = fits->folds[i] != fold;
  DemurCorrector fit = {.n_inputs = fits->d};
  g_autofree double *weights = fit.weights = g_new0(double, MAX(fits->d, 1));
  demur_offset_logistic_fit(fits->inputs, fits->d, fits->offsets, fits->labels, use, fits->n,
                            fits->d, lambdas[lambda], INTERCEPT_PENALTY, weights, &fit.intercept);
  for (size_t i = 0; i < fits->n; i++)
    if (!use[i])
      fits->deltas[lambda * fits->n + i] = demur_corrector_delta(&fit, fits->inputs + i * fits->d);
}

/* Slope s of logit p = offset + s delta: convex in s, so bisection on the derivative over [0, 1] is
 * exact to rounding. */
static double
fit_slope(const double *offsets, const double *deltas, const double *labels, size_t n) {
  double low = 0.0, high = 1.0;
  for (int end = 0; end < 2; end++) {
    double derivative = 0.0;
    for (size_t i = 0; i < n; i++)
      derivative += (demur_sigmoid(offsets[i] + (double)end * deltas[i]) - labels[i]) * deltas[i];
    if (end == 0 && derivative >= 0.0)
      return 0.0;
    if (end == 1 && derivative <= 0.0)
      return 1.0;
  }
  for (int step = 0; step < 60; step++) {
    const double middle = 0.5 * (low + high);
    double derivative = 0.0;
    for (size_t i = 0; i < n; i++)
      derivative += (demur_sigmoid(offsets[i] + middle * deltas[i]) - labels[i]) * deltas[i];
    if (derivative > 0.0)
      high = middle;
    else
      low = middle;
  }
  return 0.5 * (low + high);
}

/* tau^2 and the posterior mode of every unit's intercept; site_logits [n] = logit h + b_site. */
static double
fit_sites(const double *logits, const double *labels, const guint32 *units, size_t n,
          double *site_logits) {
  guint32 n_units = 0;
  for (size_t i = 0; i < n; i++)
    n_units = MAX(n_units, units[i] + 1);
  g_autofree double *residuals = g_new0(double, MAX(n_units, 1)),
                    *variances = g_new0(double, MAX(n_units, 1)),
                    *intercepts = g_new0(double, MAX(n_units, 1)),
                    *gradients = g_new(double, MAX(n_units, 1)),
                    *curvatures = g_new(double, MAX(n_units, 1));
  for (size_t i = 0; i < n; i++) {
    const double h = demur_sigmoid(logits[i]);
    residuals[units[i]] += labels[i] - h;
    variances[units[i]] += h * (1.0 - h);
  }
  double numerator = 0.0, denominator = 0.0;
  for (guint32 u = 0; u < n_units; u++) {
    numerator += residuals[u] * residuals[u] - variances[u];
    denominator += variances[u] * variances[u];
  }
  const double tau2 = denominator > 0.0 ? fmax(MIN_TAU2, numerator / denominator) : MIN_TAU2;
  /* All units' Newton steps side by side; each problem is strictly concave in one number. */
  for (int step = 0; step < 50; step++) {
    for (guint32 u = 0; u < n_units; u++) {
      gradients[u] = -intercepts[u] / tau2;
      curvatures[u] = 1.0 / tau2;
    }
    for (size_t i = 0; i < n; i++) {
      const double p = demur_sigmoid(logits[i] + intercepts[units[i]]);
      gradients[units[i]] += labels[i] - p;
      curvatures[units[i]] += p * (1.0 - p);
    }
    double largest = 0.0;
    for (guint32 u = 0; u < n_units; u++) {
      const double change = CLAMP(gradients[u] / curvatures[u], -1.0, 1.0);
      intercepts[u] += change;
      largest = fmax(largest, fabs(change));
    }
    if (largest < 1e-12)
      break;
  }
  for (size_t i = 0; i < n; i++)
    site_logits[i] = logits[i] + intercepts[units[i]];
  return tau2;
}

DemurCorrector *
demur_corrector_fit(const double *inputs, size_t n, size_t n_inputs, const double *risks,
                    const double *labels, const guint32 *units, guint64 seed,
                    DemurParallel *parallel, const DemurProgress *progress,
                    DemurCorrectorTraining *training, GError **error) {
  if (!demur_progress_step(progress, 0.0, "fitting the corrector", error))
    return NULL;
  g_autofree double *offsets = g_new(double, MAX(n, 1));
  for (size_t i = 0; i < n; i++)
    offsets[i] = demur_logit(risks[i]);
  g_autofree guint32 *folds = g_new(guint32, MAX(n, 1));
  Fits fits = {.inputs = inputs,
               .offsets = offsets,
               .labels = labels,
               .n = n,
               .d = n_inputs,
               .folds = folds};
  fits.n_folds = demur_folds_assign(units, n, N_FOLDS, seed, 0, folds);
  g_autofree double *deltas = fits.deltas = g_new0(double, MAX(n, 1) * N_LAMBDAS);
  /* With a single unit nothing can be left out: then nothing is visible (s = 0). */
  if (fits.n_folds > 1)
    demur_parallel_map(parallel, N_LAMBDAS * fits.n_folds, fit_without_fold, &fits);
  if (!demur_progress_step(progress, 0.9, "fitting the corrector", error))
    return NULL;
  size_t best = N_LAMBDAS - 1;
  double best_loss = INFINITY;
  for (size_t l = 0; l < N_LAMBDAS; l++) {
    double loss = 0.0;
    for (size_t i = 0; i < n; i++)
      loss += demur_log_loss(labels[i], demur_sigmoid(offsets[i] + deltas[l * n + i]));
    if (loss < best_loss) {
      best_loss = loss;
      best = l;
    }
  }
  DemurCorrector *corrector = g_new0(DemurCorrector, 1);
  corrector->n_inputs = n_inputs;
  corrector->weights = g_new0(double, MAX(n_inputs, 1));
  corrector->lambda = lambdas[best];
  demur_offset_logistic_fit(inputs, n_inputs, offsets, labels, NULL, n, n_inputs, lambdas[best],
                            INTERCEPT_PENALTY, corrector->weights, &corrector->intercept);
  const double *chosen = deltas + best * n;
  corrector->slope = fits.n_folds > 1 ? fit_slope(offsets, chosen, labels, n) : 0.0;
  training->deltas = g_memdup2(chosen, MAX(n, 1) * sizeof(double));
  training->site_risks = g_new(double, MAX(n, 1));
  g_autofree double *logits = g_new(double, MAX(n, 1));
  for (size_t i = 0; i < n; i++)
    logits[i] = offsets[i] + corrector->slope * chosen[i];
  corrector->tau2 = fit_sites(logits, labels, units, n, training->site_risks);
  for (size_t i = 0; i < n; i++)
    training->site_risks[i] = demur_sigmoid(training->site_risks[i]);
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
