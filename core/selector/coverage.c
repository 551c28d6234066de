/* tau = sup { t : share of scores >= t is at least xi }: the ceil(xi n)-th largest. Coverage falls
 * below xi - eps with probability at most exp(-2 n eps^2) (Prop. tuning), n counted in patients,
 * since the scans of one are not independent. Guaranteed: the accepted share at the k-th largest of
 * n exchangeable scores is Beta(k, n - k + 1), so it is at least xi with probability P(Bin(n, xi)
 * <= k - 1), which k = 1 + the (1 - delta) quantile of Bin(n, xi) makes at least 1 - delta. */
#include "selector/coverage.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/json-reader.h"
#include "base/number.h"
#include "metrics/coverage.h"
#include "selector/measure-guarantee.h"

void
demur_tuning_free(DemurTuning *tuning) {
  if (tuning == NULL)
    return;
  g_free(tuning->thresholds);
  g_free(tuning->bins);
  g_strfreev(tuning->sites);
  g_free(tuning->sentence);
  g_free(tuning);
}

size_t
demur_binomial_quantile(double probability, size_t n, double p) {
  if (p <= 0.0)
    return 0;
  if (p >= 1.0)
    return n;
  /* Terms by their logarithm, so that (1 - p)^n may underflow without harm; the sum is compensated.
   */
  double sum = 0.0, lost = 0.0;
  const double log_n = lgamma((double)n + 1.0), log_p = log(p), log_q = log1p(-p);
  for (size_t k = 0; k < n; k++) {
    const double term = exp(log_n - lgamma((double)k + 1.0) - lgamma((double)(n - k) + 1.0) +
                            (double)k * log_p + (double)(n - k) * log_q);
    const double value = term - lost, next = sum + value;
    lost = (next - sum) - value;
    sum = next;
    if (sum >= probability)
      return k;
  }
  return n;
}

size_t
demur_coverage_guaranteed_rank(double coverage, double delta, size_t n) {
  return 1 + demur_binomial_quantile(1.0 - delta, n, coverage);
}

static gboolean
check_coverage(double coverage, size_t n, GError **error) {
  if (!(coverage > 0.0 && coverage <= 1.0)) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "coverage is %g; it must lie above 0 and not above 1, for example 0.9",
                    coverage);
    return FALSE;
  }
  if (n == 0) {
    demur_error_set(error, DEMUR_ERROR_STATE, "there is no scan to tune on");
    return FALSE;
  }
  return TRUE;
}

static size_t
count_patients(const guint32 *patients, size_t n) {
  g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
  for (size_t i = 0; i < n; i++)
    g_hash_table_add(seen, GUINT_TO_POINTER(patients[i]));
  return g_hash_table_size(seen);
}

static void
set_realised(DemurTuning *tuning, const double *scores, size_t n) {
  size_t n_accepted = 0;
  for (size_t i = 0; i < n; i++)
    n_accepted += scores[i] >= tuning->thresholds[0];
  tuning->realised = (double)n_accepted / (double)n;
}

double
demur_coverage_margin(size_t n_patients) {
  return sqrt(log(1.0 / 0.05) / (2.0 * (double)n_patients));
}

DemurTuning *
demur_tune_plug_in(double coverage, const double *const *scores, size_t n_networks,
                   const guint32 *patients, size_t n, GError **error) {
  if (!check_coverage(coverage, n, error))
    return NULL;
  DemurTuning *tuning = g_new0(DemurTuning, 1);
  tuning->coverage = coverage;
  tuning->n_networks = n_networks;
  tuning->thresholds = g_new(double, n_networks);
  for (size_t m = 0; m < n_networks; m++)
    tuning->thresholds[m] = demur_coverage_threshold(coverage, scores[m], n);
  set_realised(tuning, scores[0], n);
  tuning->n_scans = n;
  tuning->n_patients = count_patients(patients, n);
  tuning->rank = demur_coverage_count(coverage, n);
  tuning->margin = demur_coverage_margin(tuning->n_patients);
  tuning->sentence = g_strdup_printf(
      "For scans drawn like the tuning split (%zu scans of %zu patients), coverage falls below "
      "%.1f "
      "%% with a probability of at most 5 %% (exp(−2 n ε²), ε = %.3f). For a site that is not "
      "in the tuning split nothing is guaranteed.",
      n, tuning->n_patients, 100.0 * fmax(0.0, coverage - tuning->margin), tuning->margin);
  return tuning;
}

guint32 *
demur_one_scan_a_patient(const guint32 *patients, size_t n, guint64 seed, size_t *n_chosen) {
  guint32 *order = g_new(guint32, MAX(n, 1));
  for (size_t i = 0; i < n; i++)
    order[i] = (guint32)i;
  DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_ONE_SCAN, 0, 0, 0);
  demur_random_shuffle(&random, n, order);
  g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
  g_autofree guint8 *chosen = g_new0(guint8, MAX(n, 1));
  for (size_t i = 0; i < n; i++)
    if (g_hash_table_add(seen, GUINT_TO_POINTER(patients[order[i]])))
      chosen[order[i]] = 1;
  *n_chosen = 0;
  for (size_t i = 0; i < n; i++)
    if (chosen[i])
      order[(*n_chosen)++] = (guint32)i;
  return order;
}

DemurTuning *
demur_tune_guaranteed(double coverage, double delta, const double *const *scores, size_t n_networks,
                      const guint32 *patients, size_t n, guint64 seed, GError **error) {
  if (!check_coverage(coverage, n, error))
    return NULL;
  if (!(delta > 0.0 && delta < 1.0)) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "the guarantee's delta is %g; it must lie between 0 and 1, for example 0.05",
                    delta);
    return NULL;
  }
  size_t n_chosen;
  g_autofree guint32 *rows = demur_one_scan_a_patient(patients, n, seed, &n_chosen);
  const size_t rank = demur_coverage_guaranteed_rank(coverage, delta, n_chosen);
  if (rank > n_chosen) {
    demur_error_set(
        error, DEMUR_ERROR_STATE,
        "a coverage of %g with delta %g cannot be guaranteed with n = %zu patients; tune on "
        "more, or ask for a lower coverage or a larger delta",
        coverage, delta, n_chosen);
    return NULL;
  }
  DemurTuning *tuning = g_new0(DemurTuning, 1);
  tuning->kind = DEMUR_TUNING_COVERAGE;
  tuning->coverage = coverage;
  tuning->n_networks = n_networks;
  tuning->thresholds = g_new(double, n_networks);
  g_autofree double *chosen = g_new(double, n_chosen);
  for (size_t m = 0; m < n_networks; m++) {
    for (size_t i = 0; i < n_chosen; i++)
      chosen[i] = scores[m][rows[i]];
    tuning->thresholds[m] = demur_coverage_kth_largest(chosen, n_chosen, rank);
  }
  set_realised(tuning, scores[0], n);
  tuning->n_scans = n;
  tuning->n_patients = n_chosen;
  tuning->delta = delta;
  tuning->rank = rank;
  tuning->sentence = g_strdup_printf("For scans drawn like the tuning split (one scan of each of "
                                     "%zu patients), coverage is at least "
                                     "%.4g %% with a probability of at least %.4g %% over the draw "
                                     "of that split. For a site that is "
                                     "not in the tuning split nothing is guaranteed.",
                                     n_chosen, 100.0 * coverage, 100.0 * (1.0 - delta));
  return tuning;
}

void
demur_tuning_set_sites(DemurTuning *tuning, const DemurCohort *cohort, const guint32 *rows,
                       size_t n_rows) {
  g_autofree guint8 *seen = g_new0(guint8, MAX(cohort->n_sites, 1));
  for (size_t i = 0; i < n_rows; i++)
    seen[cohort->sites[rows[i]]] = 1;
  g_autoptr(GStrvBuilder) names = g_strv_builder_new();
  for (size_t s = 0; s < cohort->n_sites; s++)
    if (seen[s])
      g_strv_builder_add(names, cohort->site_names[s]);
  g_strfreev(tuning->sites);
  tuning->sites = g_strv_builder_end(names);
}

static void
write_risk(const DemurTuning *tuning, DemurJson *json) {
  demur_json_double(json, "alpha", tuning->alpha);
  demur_json_double(json, "min_share", tuning->min_share);
  demur_json_begin_array(json, "bins");
  for (size_t b = 0; b < tuning->n_bins; b++) {
    const DemurRiskBin *bin = &tuning->bins[b];
    demur_json_begin_object(json, NULL);
    demur_json_double(json, "low", bin->low);
    demur_json_double(json, "high", bin->high);
    demur_json_int(json, "n", (gint64)bin->n);
    demur_json_double(json, "difference", bin->difference);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}

char *
demur_tuning_to_json(const DemurTuning *tuning) {
  static const char *const kinds[] = {"plug-in", "guaranteed coverage", "guaranteed risk",
                                      "guaranteed measures"};
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "kind", kinds[tuning->kind]);
  demur_json_doubles(json, "thresholds", tuning->thresholds, tuning->n_networks);
  if (tuning->kind < DEMUR_TUNING_RISK)
    demur_json_int(json, "rank", (gint64)tuning->rank);
  if (tuning->kind != DEMUR_TUNING_PLUG_IN)
    demur_json_double(json, "delta", tuning->delta);
  else
    demur_json_double(json, "margin", tuning->margin);
  if (tuning->kind == DEMUR_TUNING_RISK)
    write_risk(tuning, json);
  demur_tuning_write_guarantees(tuning, json);
  if (tuning->hold_back_across > 0.0) {
    demur_json_double(json, "hold_back_across", tuning->hold_back_across);
    demur_json_int(json, "n_held_back", (gint64)tuning->n_held_back);
  }
  demur_json_string(json, "sentence", tuning->sentence);
  if (tuning->sites != NULL) {
    demur_json_begin_array(json, "sites");
    for (char **site = tuning->sites; *site != NULL; site++)
      demur_json_string(json, NULL, *site);
    demur_json_end_array(json);
  }
  demur_json_end_object(json);
  return demur_json_finish(json);
}

static JsonParser *
parse_object(const char *json, JsonObject **object, GError **error) {
  g_autoptr(JsonParser) parser = json_parser_new_immutable();
  g_autoptr(GError) local = NULL;
  if (!demur_json_load(parser, json, -1, &local)) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "what is kept with the threshold is not a JSON document: %s", local->message);
    return NULL;
  }
  JsonNode *root = json_parser_get_root(parser);
  if (root == NULL || !JSON_NODE_HOLDS_OBJECT(root)) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "what is kept with the threshold is not a JSON object");
    return NULL;
  }
  *object = json_node_get_object(root);
  return g_steal_pointer(&parser);
}

double *
demur_tuning_read_thresholds(const char *json, size_t *n, GError **error) {
  JsonObject *object;
  JsonArray *array;
  g_autoptr(JsonParser) parser = parse_object(json, &object, error);
  if (parser == NULL || !demur_json_read_array(object, "thresholds", &array, error))
    return NULL;
  *n = json_array_get_length(array);
  double *aligned, *thresholds;
  if (!demur_json_read_doubles(object, "thresholds", *n, -INFINITY, INFINITY, &aligned, error))
    return NULL;
  thresholds = g_memdup2(aligned, MAX(*n, 1) * sizeof *aligned);
  g_aligned_free(aligned);
  return thresholds;
}

double
demur_tuning_read_hold_back(const char *json) {
  JsonObject *object;
  g_autoptr(JsonParser) parser = json != NULL ? parse_object(json, &object, NULL) : NULL;
  double across;
  if (parser == NULL || !json_object_has_member(object, "hold_back_across") ||
      !demur_json_read_double(object, "hold_back_across", 0.0, 1.0, &across, NULL))
    return 0.0;
  return across;
}

double
demur_tuning_read_margin(const char *json) {
  JsonObject *object;
  g_autoptr(JsonParser) parser = json != NULL ? parse_object(json, &object, NULL) : NULL;
  double margin;
  return parser != NULL && json_object_has_member(object, "margin") &&
                 demur_json_read_double(object, "margin", 0.0, INFINITY, &margin, NULL)
             ? margin
             : (double)NAN;
}

char *
demur_tuning_read_sentence(const char *json) {
  JsonObject *object;
  g_autoptr(JsonParser) parser = json != NULL ? parse_object(json, &object, NULL) : NULL;
  const char *sentence;
  if (parser == NULL || !demur_json_read_string(object, "sentence", &sentence, NULL))
    return NULL;
  return g_strdup(sentence);
}

char **
demur_tuning_read_sites(const char *json) {
  JsonObject *object;
  g_autoptr(JsonParser) parser = json != NULL ? parse_object(json, &object, NULL) : NULL;
  JsonArray *array;
  if (parser == NULL || !json_object_has_member(object, "sites") ||
      !demur_json_read_array(object, "sites", &array, NULL))
    return NULL;
  g_autoptr(GStrvBuilder) names = g_strv_builder_new();
  for (guint i = 0; i < json_array_get_length(array); i++) {
    JsonNode *node = json_array_get_element(array, i);
    if (!JSON_NODE_HOLDS_VALUE(node) || json_node_get_value_type(node) != G_TYPE_STRING)
      return NULL;
    g_strv_builder_add(names, json_node_get_string(node));
  }
  return g_strv_builder_end(names);
}
