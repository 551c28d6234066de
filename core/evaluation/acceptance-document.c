#include "evaluation/acceptance-document.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/json-reader.h"
#include "base/json-writer.h"

void
demur_acceptance_document_free(DemurAcceptanceDocument *d) {
  if (d == NULL)
    return;
  demur_acceptance_plan_free(d->plan);
  g_strfreev(d->scan_ids);
  g_strfreev(d->patient_ids);
  g_strfreev(d->candidates);
  g_free(d->risks);
  g_free(d->unaudited);
  g_free(d->origin);
  g_free(d);
}

char *
demur_acceptance_document_to_json(const DemurAcceptanceDocument *d) {
  const DemurAcceptancePlan *plan = d->plan;
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_double(json, "low", plan->settings.low);
  demur_json_double(json, "high", plan->settings.high);
  demur_json_double(json, "alpha", plan->settings.alpha);
  demur_json_double(json, "alpha_of_all_plans", d->alpha_of_all);
  demur_json_double(json, "power_wanted", plan->settings.power);
  demur_json_double(json, "bound_outcome", plan->bounds.outcome);
  demur_json_double(json, "bound_risk", plan->bounds.risk);
  demur_json_double(json, "fraction_above", plan->fraction_above);
  demur_json_double(json, "fraction_below", plan->fraction_below);
  demur_json_int(json, "n_needed", (gint64)plan->n_needed);
  demur_json_int(json, "n_usual", (gint64)plan->n_usual);
  demur_json_double(json, "power", plan->power);
  demur_json_double(json, "intercept", d->intercept);
  demur_json_double(json, "coverage", d->coverage);
  demur_json_double(json, "threshold", d->threshold);
  demur_json_int(json, "n_patients", (gint64)d->n_patients);
  demur_json_int(json, "n_shown", (gint64)d->n_shown);
  demur_json_int(json, "seed", (gint64)d->seed);
  if (d->origin != NULL)
    demur_json_string(json, "origin", d->origin);
  demur_json_begin_array(json, "scans");
  for (size_t i = 0; i < plan->n_chosen; i++) {
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "scan_id", d->scan_ids[i]);
    demur_json_string(json, "patient_id", d->patient_ids[i]);
    demur_json_double(json, "weight", plan->weights[i]);
    demur_json_double(json, "risk", d->risks[i]);
    demur_json_double(json, "risk_unaudited", d->unaudited[i]);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  if (d->candidates != NULL) {
    demur_json_begin_array(json, "candidates");
    for (char **key = d->candidates; *key != NULL; key++)
      demur_json_string(json, NULL, *key);
    demur_json_end_array(json);
  }
  demur_json_end_object(json);
  return demur_json_finish(json);
}

char *
demur_acceptance_document_digest(const char *json) {
  return g_compute_checksum_for_string(G_CHECKSUM_SHA256, json, -1);
}

/* A count. */
static gboolean
read_size(JsonObject *object, const char *key, size_t *value, GError **error) {
  gint64 number;
  if (!demur_json_read_int(object, key, 0, G_MAXINT32, &number, error))
    return FALSE;
  *value = (size_t)number;
  return TRUE;
}

static gboolean
read_settings(JsonObject *object, DemurAcceptanceDocument *d, GError **error) {
  DemurAcceptancePlan *plan = d->plan;
  gint64 seed;
  if (!demur_json_read_double(object, "low", 0.0, 1.0, &plan->settings.low, error) ||
      !demur_json_read_double(object, "high", 1.0, INFINITY, &plan->settings.high, error) ||
      !demur_json_read_double(object, "alpha", 0.0, 1.0, &plan->settings.alpha, error) ||
      !demur_json_read_double(object, "power_wanted", 0.0, 1.0, &plan->settings.power, error) ||
      !demur_json_read_double(object, "bound_outcome", 0.0, INFINITY, &plan->bounds.outcome,
                              error) ||
      !demur_json_read_double(object, "bound_risk", 0.0, INFINITY, &plan->bounds.risk, error) ||
      !demur_json_read_double(object, "fraction_above", 0.0, 1.0, &plan->fraction_above, error) ||
      !demur_json_read_double(object, "fraction_below", 0.0, 1.0, &plan->fraction_below, error) ||
      !demur_json_read_double(object, "power", 0.0, 1.0, &plan->power, error) ||
      !demur_json_read_double(object, "intercept", -INFINITY, INFINITY, &d->intercept, error) ||
      !demur_json_read_double(object, "coverage", 0.0, 1.0, &d->coverage, error) ||
      !demur_json_read_double(object, "threshold", -INFINITY, INFINITY, &d->threshold, error) ||
      !read_size(object, "n_needed", &plan->n_needed, error) ||
      !read_size(object, "n_usual", &plan->n_usual, error) ||
      !read_size(object, "n_patients", &d->n_patients, error) ||
      !read_size(object, "n_shown", &d->n_shown, error) ||
      !demur_json_read_int(object, "seed", 0, G_MAXINT64, &seed, error))
    return FALSE;
  const char *origin = NULL;
  if (json_object_has_member(object, "origin") &&
      !demur_json_read_string(object, "origin", &origin, error))
    return FALSE;
  d->origin = g_strdup(origin);
  d->seed = (guint64)seed;
  d->alpha_of_all = plan->settings.alpha; /* an older program's plan had all of it */
  if (json_object_has_member(object, "alpha_of_all_plans") &&
      !demur_json_read_double(object, "alpha_of_all_plans", 0.0, 1.0, &d->alpha_of_all, error))
    return FALSE;
  return demur_acceptance_settings_check(&plan->settings, error);
}

static gboolean
read_scans(JsonObject *object, DemurAcceptanceDocument *d, GError **error) {
  JsonArray *scans;
  if (!demur_json_read_array(object, "scans", &scans, error))
    return FALSE;
  const guint n = json_array_get_length(scans);
  d->scan_ids = g_new0(char *, n + 1);
  d->patient_ids = g_new0(char *, n + 1);
  d->risks = g_new0(double, MAX(n, 1));
  d->unaudited = g_new0(double, MAX(n, 1));
  d->plan->weights = g_new0(double, MAX(n, 1));
  d->plan->order = g_new0(guint32, MAX(n, 1));
  d->plan->n_chosen = n;
  for (guint i = 0; i < n; i++) {
    JsonObject *scan;
    const char *scan_id, *patient_id;
    if (!demur_json_read_element(scans, i, "scans", &scan, error) ||
        !demur_json_read_string(scan, "scan_id", &scan_id, error) ||
        !demur_json_read_string(scan, "patient_id", &patient_id, error) ||
        !demur_json_read_double(scan, "weight", 1.0, INFINITY, &d->plan->weights[i], error) ||
        !demur_json_read_double(scan, "risk", 0.0, 1.0, &d->risks[i], error) ||
        !demur_json_read_double(scan, "risk_unaudited", 0.0, 1.0, &d->unaudited[i], error))
      return FALSE;
    d->scan_ids[i] = g_strdup(scan_id);
    d->patient_ids[i] = g_strdup(patient_id);
    d->plan->order[i] = i;
  }
  return TRUE;
}

/* Plans of older programs have none. */
static gboolean
read_candidates(JsonObject *object, DemurAcceptanceDocument *d, GError **error) {
  JsonArray *keys;
  if (!json_object_has_member(object, "candidates"))
    return TRUE;
  if (!demur_json_read_array(object, "candidates", &keys, error))
    return FALSE;
  const guint n = json_array_get_length(keys);
  d->candidates = g_new0(char *, n + 1);
  for (guint i = 0; i < n; i++) {
    JsonNode *key = json_array_get_element(keys, i);
    if (!JSON_NODE_HOLDS_VALUE(key) || json_node_get_value_type(key) != G_TYPE_STRING) {
      demur_error_set(error, DEMUR_ERROR_INPUT, "candidates: element %u is no text", i);
      return FALSE;
    }
    d->candidates[i] = g_strdup(json_node_get_string(key));
  }
  return TRUE;
}

DemurAcceptanceDocument *
demur_acceptance_document_from_json(const char *json, GError **error) {
  g_autoptr(JsonParser) parser = json_parser_new_immutable();
  if (!demur_json_load(parser, json, -1, error))
    return NULL;
  JsonNode *root = json_parser_get_root(parser);
  if (root == NULL || !JSON_NODE_HOLDS_OBJECT(root)) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "the plan of an acceptance test is no object");
    return NULL;
  }
  g_autoptr(DemurAcceptanceDocument) d = g_new0(DemurAcceptanceDocument, 1);
  d->plan = g_new0(DemurAcceptancePlan, 1);
  JsonObject *object = json_node_get_object(root);
  return read_settings(object, d, error) && read_scans(object, d, error) &&
                 read_candidates(object, d, error)
             ? g_steal_pointer(&d)
             : NULL;
}
