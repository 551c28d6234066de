/* Bound of a layer: |b_i| + sum_j |w_ij| B, the largest over i, where every input is at most B; of
 * a ReLU the same. Partial sums of a product in any order obey it too, so that no infinity, and
 * from infinities no NaN, can come up while it stays below the largest float. Data: parameters as
 * demur_mlp_offsets lays them out. Cost: one pass. */
#include "selector/selector-sound.h"

#include <math.h>

#include "base/error.h"

/* Of floats 3.4e38, with room for rounding. */
#define MAX_FLOAT_BOUND 1e37

/* A map of logits that a fit could give; the fit itself clips at 1e3 (temperature) or is a ridge.
 */
#define MAX_SLOPE 1e6

/* Weights and components of doubles: far beyond any fit, far below overflow in sums of squares. */
#define MAX_WEIGHT 1e60

static double
layer_bound(const float *weights, const float *biases, size_t n_out, size_t n_in, double bound) {
  double largest = 0.0;
  for (size_t i = 0; i < n_out; i++) {
    double sum = fabs((double)biases[i]);
    for (size_t j = 0; j < n_in; j++)
      sum += fabs((double)weights[i * n_in + j]) * bound;
    largest = fmax(largest, sum);
  }
  return largest;
}

/* The largest value that a network can meet on its way; not below MAX_FLOAT_BOUND: unsound. */
static double
network_bound(DemurMlpShape shape, const float *parameters) {
  const DemurMlpOffsets o = demur_mlp_offsets(shape);
  const size_t h = shape.n_hidden;
  const double first = layer_bound(parameters + o.w1, parameters + o.b1, h, shape.n_inputs,
                                   DEMUR_SELECTOR_MAX_INPUT);
  const double second = layer_bound(parameters + o.w2, parameters + o.b2, h, h, first);
  const double third = layer_bound(parameters + o.w3, parameters + o.b3, 1, h, second);
  return fmax(first, fmax(second, third));
}

static gboolean
fail(const char *member, GError **error) {
  demur_error_set(
      error, DEMUR_ERROR_INPUT,
      "member '%s' holds numbers that no training gives and that overflow: scores would be "
      "no numbers",
      member);
  return FALSE;
}

static gboolean
all_within(const double *values, size_t n, double limit) {
  for (size_t i = 0; i < n; i++)
    if (!(fabs(values[i]) <= limit))
      return FALSE;
  return TRUE;
}

/* Means within MAX_WEIGHT, standard deviations that divide without overflow. */
static gboolean
scaler_is_sound(const DemurScaler *scaler) {
  if (scaler == NULL)
    return TRUE;
  const size_t d = demur_scaler_width(scaler);
  const double *sds = demur_scaler_sds(scaler);
  for (size_t i = 0; i < d; i++)
    if (!(sds[i] >= 1.0 / MAX_WEIGHT))
      return FALSE;
  return all_within(demur_scaler_means(scaler), d, MAX_WEIGHT);
}

gboolean
demur_selector_check_sound(const DemurSelector *s, GError **error) {
  for (size_t m = 0; m < s->n_models; m++)
    for (size_t a = 0; a < s->models[m].n_average; a++)
      if (!(network_bound(s->shape, s->models[m].parameters + a * s->shape.n_parameters) <
            MAX_FLOAT_BOUND))
        return fail("models", error);
  if (!scaler_is_sound(s->scaler))
    return fail("sds", error);
  if (!scaler_is_sound(s->svd_scaler) ||
      !all_within(s->svd_components, s->n_svd * s->embedding_width, MAX_WEIGHT))
    return fail("svd_components", error);
  if (s->n_components > 0 &&
      !all_within(s->components, s->n_components * demur_outlier_model_width(s->outlier),
                  MAX_WEIGHT))
    return fail("components", error);
  const DemurSelectorCorrector *const correctors[] = {&s->corrected, &s->raw};
  for (size_t i = 0; i < G_N_ELEMENTS(correctors); i++)
    if (!scaler_is_sound(correctors[i]->scaler) ||
        (correctors[i]->corrector != NULL &&
         !demur_corrector_is_within(correctors[i]->corrector, MAX_WEIGHT)))
      return fail(i == 0 ? "corrected" : "raw", error);
  if (s->recalibration != NULL &&
      (fabs(s->recalibration->slope) > MAX_SLOPE || fabs(s->recalibration->intercept) > MAX_SLOPE))
    return fail("recalibration", error);
  return TRUE;
}

gboolean
demur_selector_check_meta(const DemurSelector *s, const DemurCohort *cohort, const guint32 *rows,
                          size_t n_rows, const double *meta, GError **error) {
  const double *means = demur_scaler_means(s->scaler), *sds = demur_scaler_sds(s->scaler);
  for (size_t i = 0; i < n_rows; i++)
    for (size_t c = 0; c < s->n_inputs; c++) {
      const double value = meta[i * s->columns->n_columns + s->inputs[c]];
      if (fabs((value - means[c]) / sds[c]) <= DEMUR_SELECTOR_MAX_INPUT)
        continue;
      demur_error_set(
          error, DEMUR_ERROR_NUMERIC,
          "scan %s: its meta feature %s is %g, which is no number or far beyond what this "
          "selector can judge; check its risk and embedding, and the selector",
          cohort->scan_ids[rows[i]], s->columns->names[s->inputs[c]], value);
      return FALSE;
    }
  return TRUE;
}

gboolean
demur_selector_check_risks(const DemurCohort *cohort, const guint32 *rows, size_t n_rows,
                           const double *risks, size_t k, GError **error) {
  for (size_t i = 0; i < n_rows; i++)
    for (size_t c = 0; c < k; c++)
      if (!(risks[rows[i] * k + c] >= 0.0 && risks[rows[i] * k + c] <= 1.0)) {
        demur_error_set(
            error, DEMUR_ERROR_NUMERIC,
            "scan %s: the selector's recalibration gives it the risk %g; the selector is "
            "not sound",
            cohort->scan_ids[rows[i]], risks[rows[i] * k + c]);
        return FALSE;
      }
  return TRUE;
}
