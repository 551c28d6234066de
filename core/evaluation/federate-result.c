#include "evaluation/federate-result.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/json-reader.h"
#include "base/memory.h"
#include "evaluation/federate-private.h"

#define FORMAT "demur-federated"

void
demur_federate_result_free(DemurFederateResult *result) {
  if (result == NULL)
    return;
  g_free(result->selector);
  g_free(result->first);
  g_strfreev(result->sites);
  g_free(result->weights);
  g_free(result->inputs);
  g_free(result->points);
  g_free(result);
}

/* ---- writing ---- */

static void
write_point(DemurJson *json, const DemurFederatePoint *point) {
  demur_json_begin_object(json, NULL);
  demur_json_double(json, "threshold", point->threshold);
  demur_json_bool(json, "told", point->told);
  demur_json_double(json, "n", point->n);
  demur_json_double(json, "coverage", point->coverage);
  demur_json_double(json, "observed", point->positives);
  demur_json_double(json, "expected", point->expected);
  demur_json_double(json, "oe_ratio", point->oe_ratio);
  demur_json_double(json, "brier", point->brier);
  demur_json_int(json, "n_bins", (gint64)point->n_bins);
  demur_json_double(json, "sbce1", point->sbce1);
  demur_json_double(json, "sbce2", point->sbce2);
  demur_json_double(json, "sbceinf", point->sbceinf);
  demur_json_double(json, "sbce2_debiased_square", point->debiased2);
  demur_json_doubles(json, "rejected_by_label", point->refused, 2);
  demur_json_end_object(json);
}

static void
write_audit(DemurJson *json, const DemurFederateResult *result) {
  const DemurHeterogeneity *h = &result->sites_differ;
  const double interval[] = {h->low, h->high}, predicted[] = {h->predicted_low, h->predicted_high};
  demur_json_double(json, "difference", result->difference);
  demur_json_double(json, "variance", result->variance);
  demur_json_double(json, "variance_by_patient", result->by_patient);
  demur_json_double(json, "z", result->z);
  demur_json_double(json, "intercept", h->mean);
  demur_json_doubles(json, "interval", interval, 2);
  demur_json_double(json, "tau2", h->tau2);
  demur_json_double(json, "i2", h->i2);
  demur_json_doubles(json, "predicted", predicted, 2);
}

/* As DemurSha256Write. */
static char *
result_text(gconstpointer content, const char *digest) {
  const DemurFederateResult *result = content;
  DemurJson *json = demur_federate_begin(digest, FORMAT);
  demur_json_string(json, "study", demur_federate_study_name(result->study));
  demur_json_string(json, "kind", demur_recalibration_name(result->kind));
  demur_json_string(json, "selector", result->selector);
  demur_json_string(json, "first", result->first);
  demur_json_int(json, "rounds", (gint64)result->n_rounds);
  demur_json_begin_array(json, "sites");
  for (char **site = result->sites; *site != NULL; site++)
    demur_json_string(json, NULL, *site);
  demur_json_end_array(json);
  demur_json_int(json, "n", (gint64)result->n);
  demur_json_bool(json, "simulated", result->simulated);
  if (result->study == DEMUR_FEDERATE_RECALIBRATION || result->study == DEMUR_FEDERATE_CORRECTOR)
    demur_json_string(json, "ending", demur_newton_ending_name(result->ending));
  if (result->study == DEMUR_FEDERATE_RECALIBRATION) {
    demur_json_double(json, "slope", result->slope);
    demur_json_double(json, "intercept", result->intercept);
  } else if (result->study == DEMUR_FEDERATE_CORRECTOR) {
    demur_json_double(json, "lambda", result->lambda);
    demur_json_double(json, "intercept", result->intercept);
    demur_json_begin_array(json, "inputs");
    for (size_t c = 0; c < result->n_weights; c++)
      demur_json_int(json, NULL, result->inputs[c]);
    demur_json_end_array(json);
    demur_json_doubles(json, "weights", result->weights, result->n_weights);
  } else if (result->study == DEMUR_FEDERATE_AUDIT) {
    write_audit(json, result);
  } else {
    demur_json_begin_array(json, "points");
    for (size_t t = 0; t < result->n_points; t++)
      write_point(json, &result->points[t]);
    demur_json_end_array(json);
  }
  demur_json_end_object(json);
  return demur_json_finish(json);
}

char *
demur_federate_result_write(const DemurFederateResult *result, char **digest) {
  return demur_sha256_seal(result_text, result, digest);
}

/* ---- reading ---- */

/* A number, or null for one that there is none of (NaN). */
static gboolean
read_number(JsonObject *object, const char *key, double *number, GError **error) {
  if (json_object_has_member(object, key) && json_object_get_null_member(object, key)) {
    *number = NAN;
    return TRUE;
  }
  return demur_json_read_double(object, key, -INFINITY, INFINITY, number, error);
}

/* Two of them, as they stand in a list. */
static gboolean
read_pair(JsonObject *object, const char *key, double *low, double *high, GError **error) {
  JsonArray *array;
  if (!demur_json_read_array(object, key, &array, error))
    return FALSE;
  double *const numbers[] = {low, high};
  for (guint i = 0; i < 2; i++) {
    JsonNode *node = json_array_get_length(array) == 2 ? json_array_get_element(array, i) : NULL;
    if (node == NULL || !(JSON_NODE_HOLDS_NULL(node) || demur_json_is_number(node))) {
      demur_error_set(error, DEMUR_ERROR_INPUT, "member '%s' is not two numbers", key);
      return FALSE;
    }
    *numbers[i] = JSON_NODE_HOLDS_NULL(node) ? NAN : json_node_get_double(node);
  }
  return TRUE;
}

static gboolean
read_audit(JsonObject *root, DemurFederateResult *result, GError **error) {
  DemurHeterogeneity *h = &result->sites_differ;
  return read_number(root, "difference", &result->difference, error) &&
         read_number(root, "variance", &result->variance, error) &&
         read_number(root, "variance_by_patient", &result->by_patient, error) &&
         read_number(root, "z", &result->z, error) &&
         read_number(root, "intercept", &h->mean, error) &&
         read_pair(root, "interval", &h->low, &h->high, error) &&
         read_number(root, "tau2", &h->tau2, error) && read_number(root, "i2", &h->i2, error) &&
         read_pair(root, "predicted", &h->predicted_low, &h->predicted_high, error);
}

static gboolean
read_weights(JsonObject *root, DemurFederateResult *result, GError **error) {
  JsonArray *array;
  DEMUR_AUTO_ALIGNED guint32 *inputs = NULL;
  DEMUR_AUTO_ALIGNED double *weights = NULL;
  if (!demur_json_read_double(root, "lambda", 0.0, DEMUR_FEDERATE_MOST_LAMBDA, &result->lambda,
                              error) ||
      !demur_json_read_double(root, "intercept", -INFINITY, INFINITY, &result->intercept, error) ||
      !demur_json_read_array(root, "inputs", &array, error))
    return FALSE;
  const size_t n = MIN(json_array_get_length(array), DEMUR_FEDERATE_MOST_COEFFICIENTS);
  if (!demur_json_read_indices(root, "inputs", n, 0, DEMUR_FEDERATE_MOST_COEFFICIENTS, &inputs,
                               error) ||
      !demur_json_read_doubles(root, "weights", n, -INFINITY, INFINITY, &weights, error))
    return FALSE;
  result->n_weights = n;
  result->inputs = g_memdup2(inputs, n * sizeof *inputs);
  result->weights = g_memdup2(weights, n * sizeof *weights);
  return TRUE;
}

/* What the study came to; an evaluation comes to nothing that is read again. */
static gboolean
read_numbers(JsonObject *root, DemurFederateResult *result, GError **error) {
  switch (result->study) {
  case DEMUR_FEDERATE_RECALIBRATION:
    return demur_json_read_double(root, "slope", -INFINITY, INFINITY, &result->slope, error) &&
           demur_json_read_double(root, "intercept", -INFINITY, INFINITY, &result->intercept,
                                  error);
  case DEMUR_FEDERATE_CORRECTOR:
    return read_weights(root, result, error);
  case DEMUR_FEDERATE_AUDIT:
    return read_audit(root, result, error);
  case DEMUR_FEDERATE_EVALUATION:
  case DEMUR_N_FEDERATE_STUDIES:
    break;
  }
  demur_error_set(error, DEMUR_ERROR_UNSUPPORTED,
                  "it is of an evaluation, which measures a selector and changes none");
  return FALSE;
}

static gboolean
read_ending(JsonObject *root, DemurFederateResult *result, GError **error) {
  const char *name;
  if (result->study != DEMUR_FEDERATE_RECALIBRATION && result->study != DEMUR_FEDERATE_CORRECTOR)
    return TRUE;
  if (!demur_json_read_string(root, "ending", &name, error))
    return FALSE;
  for (int e = DEMUR_NEWTON_CONVERGED; e < DEMUR_NEWTON_SINGULAR; e++)
    if (strcmp(name, demur_newton_ending_name((DemurNewtonEnding)e)) == 0) {
      result->ending = (DemurNewtonEnding)e;
      return TRUE;
    }
  demur_error_set(error, DEMUR_ERROR_INPUT, "its steps cannot have ended by '%s'", name);
  return FALSE;
}

static gboolean
read_facts(JsonObject *root, DemurFederateResult *result, GError **error) {
  const char *study, *kind, *selector, *first;
  gint64 rounds, n;
  if (!demur_json_read_string(root, "study", &study, error) ||
      !demur_json_read_string(root, "kind", &kind, error) ||
      !demur_json_read_string(root, "selector", &selector, error) ||
      !demur_json_read_string(root, "first", &first, error) ||
      !demur_json_read_int(root, "rounds", 1, 100000, &rounds, error) ||
      (result->sites = demur_federate_read_sites(root, error)) == NULL ||
      !demur_json_read_int(root, "n", 0, DEMUR_FEDERATE_MOST_SCANS, &n, error) ||
      !demur_json_read_bool(root, "simulated", &result->simulated, error))
    return FALSE;
  if (!demur_federate_study_from_name(study, &result->study, NULL) ||
      !demur_recalibration_from_name(kind, &result->kind, NULL)) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "there is no study '%s' of kind '%s'", study, kind);
    return FALSE;
  }
  result->selector = g_strdup(selector);
  result->first = g_strdup(first);
  result->n_rounds = (size_t)rounds;
  result->n = (double)n;
  return TRUE;
}

DemurFederateResult *
demur_federate_result_read(const char *text, gssize length, char **digest, GError **error) {
  g_autoptr(JsonParser) parser = json_parser_new_immutable();
  JsonObject *root = demur_federate_load(parser, text, length, FORMAT, error);
  g_autoptr(DemurFederateResult) result = g_new0(DemurFederateResult, 1);
  const char *named;
  if (root == NULL || !demur_json_read_string(root, "digest", &named, error) ||
      !read_facts(root, result, error) || !read_ending(root, result, error) ||
      !read_numbers(root, result, error) ||
      !demur_federate_check_unedited(text, named, result_text, result, error))
    return NULL;
  *digest = g_strdup(named);
  return g_steal_pointer(&result);
}
