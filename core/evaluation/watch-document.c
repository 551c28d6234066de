/* The plan of a watch as canonical JSON. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/json-reader.h"
#include "base/json-writer.h"
#include "evaluation/watch.h"

static void
write_signal(DemurJson *json, const DemurWatchPlan *plan, guint s) {
  const DemurWatchShares *shares = &plan->shares[s];
  demur_json_begin_object(json, demur_watch_columns[s].name);
  demur_json_string(json, "rule", demur_watch_rule_name(plan->rules[s]));
  if (demur_watch_columns[s].kind == DEMUR_WATCH_NUMBER) {
    demur_json_doubles(json, "values", plan->numbers[s], plan->n_numbers[s]);
  } else if (demur_watch_columns[s].kind == DEMUR_WATCH_CATEGORY) {
    demur_json_begin_array(json, "shares");
    for (size_t k = 0; k < shares->n; k++) {
      demur_json_begin_object(json, NULL);
      demur_json_string(json, "value", shares->texts[k]);
      demur_json_int(json, "n", (gint64)shares->counts[k]);
      if (plan->bets >= 3)
        demur_json_int(json, "n_fixed", (gint64)shares->fixed[k]);
      demur_json_end_object(json);
    }
    demur_json_end_array(json);
  }
  demur_json_end_object(json);
}

char *
demur_watch_plan_to_json(const DemurWatchPlan *plan) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_double(json, "alpha", plan->alpha);
  demur_json_double(json, "low", plan->low);
  demur_json_double(json, "high", plan->high);
  demur_json_double(json, "coverage", plan->coverage);
  demur_json_double(json, "threshold", plan->threshold);
  demur_json_int(json, "after", plan->after);
  demur_json_int(json, "seed", (gint64)plan->seed);
  if (plan->bets > 1) /* so that the digest of an older plan stays what it was */
    demur_json_int(json, "bets", plan->bets);
  if (plan->origin != NULL)
    demur_json_string(json, "origin", plan->origin);
  demur_json_bool(json, "simulated", plan->simulated);
  demur_json_begin_object(json, "signals");
  for (guint s = 0; s < DEMUR_N_WATCH; s++)
    write_signal(json, plan, s);
  demur_json_end_object(json);
  if (plan->bets >= 3)
    demur_json_int(json, "n_fixed", (gint64)plan->n_fixed);
  demur_json_doubles(json, "labels", plan->labels, plan->n_labelled);
  demur_json_doubles(json, "risks", plan->risks, plan->n_labelled);
  demur_json_doubles(json, "scores", plan->scores, plan->n_labelled);
  demur_json_begin_array(json, "patients");
  for (char **patient = plan->patients; *patient != NULL; patient++)
    demur_json_string(json, NULL, *patient);
  demur_json_end_array(json);
  demur_json_end_object(json);
  return demur_json_finish(json);
}

/* Every element of an array of numbers, as many as there are (owned by g_free). */
static double *
read_numbers(JsonObject *object, const char *key, size_t *n, GError **error) {
  JsonArray *array;
  double *aligned;
  if (!demur_json_read_array(object, key, &array, error) ||
      !demur_json_read_doubles(object, key, json_array_get_length(array), -INFINITY, INFINITY,
                               &aligned, error))
    return NULL;
  *n = json_array_get_length(array);
  double *values = g_new(double, MAX(*n, 1));
  if (*n > 0)
    memcpy(values, aligned, *n * sizeof(double));
  g_aligned_free(aligned);
  return values;
}

static gboolean
read_shares(JsonObject *object, gint bets, DemurWatchShares *shares, GError **error) {
  JsonArray *array;
  if (!demur_json_read_array(object, "shares", &array, error))
    return FALSE;
  const guint n = json_array_get_length(array);
  g_strfreev(shares->texts);
  shares->texts = g_new0(char *, n + 1);
  shares->counts = g_new0(size_t, MAX(n, 1));
  shares->fixed = g_new0(size_t, MAX(n, 1));
  for (guint k = 0; k < n; k++) {
    JsonObject *share;
    const char *text;
    gint64 count, fixed = 0;
    if (!demur_json_read_element(array, k, "shares", &share, error) ||
        !demur_json_read_string(share, "value", &text, error) ||
        !demur_json_read_int(share, "n", 1, G_MAXINT32, &count, error) ||
        (bets >= 3 && !demur_json_read_int(share, "n_fixed", 0, count, &fixed, error)))
      return FALSE;
    shares->texts[k] = g_strdup(text);
    shares->counts[k] = (size_t)count;
    shares->fixed[k] = (size_t)fixed;
    shares->n = k + 1;
  }
  return TRUE;
}

static gboolean
read_signal(JsonObject *signals, DemurWatchPlan *plan, guint s, GError **error) {
  JsonObject *object;
  const char *rule;
  if (s == DEMUR_WATCH_FLAGGED && !json_object_has_member(signals, demur_watch_columns[s].name)) {
    plan->rules[s] = DEMUR_WATCH_IGNORE; /* begun before there was such a signal */
    return TRUE;
  }
  if (!demur_json_read_object(signals, demur_watch_columns[s].name, &object, error) ||
      !demur_json_read_string(object, "rule", &rule, error))
    return FALSE;
  if (!demur_watch_rule_from_name(rule, &plan->rules[s])) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "'%s' is no rule of a watch", rule);
    return FALSE;
  }
  if (demur_watch_columns[s].kind == DEMUR_WATCH_CATEGORY)
    return read_shares(object, plan->bets, &plan->shares[s], error);
  return demur_watch_columns[s].kind != DEMUR_WATCH_NUMBER ||
         (plan->numbers[s] = read_numbers(object, "values", &plan->n_numbers[s], error)) != NULL;
}

static gboolean
read_settings(JsonObject *object, DemurWatchPlan *plan, GError **error) {
  gint64 seed, bets = 1;
  const char *origin = NULL;
  if ((json_object_has_member(object, "bets") &&
       !demur_json_read_int(object, "bets", 1, plan->bets, &bets, error)) ||
      (json_object_has_member(object, "origin") &&
       !demur_json_read_string(object, "origin", &origin, error)) ||
      !demur_json_read_double(object, "alpha", 0.0, 1.0, &plan->alpha, error) ||
      !demur_json_read_double(object, "low", 0.0, 1.0, &plan->low, error) ||
      !demur_json_read_double(object, "high", 1.0, INFINITY, &plan->high, error) ||
      !demur_json_read_double(object, "coverage", 0.0, 1.0, &plan->coverage, error) ||
      !demur_json_read_double(object, "threshold", -INFINITY, INFINITY, &plan->threshold, error) ||
      !demur_json_read_int(object, "after", 0, G_MAXINT64, &plan->after, error) ||
      !demur_json_read_int(object, "seed", 0, G_MAXINT64, &seed, error) ||
      !demur_json_read_bool(object, "simulated", &plan->simulated, error))
    return FALSE;
  plan->seed = (guint64)seed;
  plan->bets = (gint)bets;
  plan->origin = g_strdup(origin);
  return TRUE;
}

static gboolean
read_patients(JsonObject *object, DemurWatchPlan *plan, GError **error) {
  JsonArray *array;
  if (!demur_json_read_array(object, "patients", &array, error))
    return FALSE;
  const guint n = json_array_get_length(array);
  g_strfreev(plan->patients);
  plan->patients = g_new0(char *, n + 1);
  for (guint i = 0; i < n; i++) {
    JsonNode *node = json_array_get_element(array, i);
    if (!JSON_NODE_HOLDS_VALUE(node) || json_node_get_value_type(node) != G_TYPE_STRING) {
      demur_error_set(error, DEMUR_ERROR_INPUT, "the plan of a watch names a patient by no digest");
      return FALSE;
    }
    plan->patients[i] = g_strdup(json_node_get_string(node));
  }
  return TRUE;
}

DemurWatchPlan *
demur_watch_plan_from_json(const char *text, GError **error) {
  g_autoptr(JsonParser) parser = json_parser_new_immutable();
  if (!demur_json_load(parser, text, -1, error))
    return NULL;
  JsonNode *root = json_parser_get_root(parser);
  if (root == NULL || !JSON_NODE_HOLDS_OBJECT(root)) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "the plan of a watch is no object");
    return NULL;
  }
  g_autoptr(DemurWatchPlan) plan = demur_watch_plan_new();
  JsonObject *object = json_node_get_object(root), *signals;
  if (!read_settings(object, plan, error) ||
      !demur_json_read_object(object, "signals", &signals, error) ||
      !read_patients(object, plan, error))
    return NULL;
  for (guint s = 0; s < DEMUR_N_WATCH; s++)
    if (!read_signal(signals, plan, s, error))
      return NULL;
  size_t n_risks = 0;
  if ((plan->labels = read_numbers(object, "labels", &plan->n_labelled, error)) == NULL ||
      (plan->risks = read_numbers(object, "risks", &n_risks, error)) == NULL)
    return NULL;
  gint64 n_fixed = 0;
  if (plan->bets >= 3 &&
      !demur_json_read_int(object, "n_fixed", 0, (gint64)plan->n_labelled, &n_fixed, error))
    return NULL;
  plan->n_fixed = (size_t)n_fixed;
  if (n_risks != plan->n_labelled) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "the plan of a watch has labels without risks");
    return NULL;
  }
  size_t n_scores = n_risks;
  if (!json_object_has_member(object, "scores")) {
    plan->scores = g_new(double, MAX(n_risks, 1));
    for (size_t i = 0; i < n_risks; i++)
      plan->scores[i] = NAN;
  } else if ((plan->scores = read_numbers(object, "scores", &n_scores, error)) == NULL) {
    return NULL;
  }
  if (n_scores != n_risks) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "the plan of a watch has labels without scores");
    return NULL;
  }
  return demur_watch_plan_check(plan, error) ? g_steal_pointer(&plan) : NULL;
}
