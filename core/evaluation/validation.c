#include "evaluation/validation.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/json-reader.h"
#include "base/memory.h"
#include "cohort/order.h"
#include "evaluation/comparisons.h"

#define MIN_SITES DEMUR_FEW_SITES

void
demur_validation_free(DemurValidation *v) {
  if (v == NULL)
    return;
  g_free(v->sentence);
  g_free(v->cohort);
  g_free(v->split);
  g_free(v->digest);
  g_free(v->context);
  g_free(v);
}

static const DemurComparison *
find_comparison(const DemurEvaluation *e, DemurCompared measure) {
  for (size_t c = 0; c < e->n_comparisons; c++)
    if (e->comparisons[c].measure == measure &&
        e->comparisons[c].against_kind == DEMUR_METHOD_CONFIDENCE)
      return &e->comparisons[c];
  return NULL;
}

/* Whether keeping the confident is shown to be better than keeping everything. */
static gboolean
confidence_helps(const DemurEvaluation *e) {
  gboolean helps = FALSE;
  for (size_t c = 0; c < e->n_comparisons; c++) {
    const DemurComparison *comparison = &e->comparisons[c];
    if (comparison->measure == DEMUR_COMPARED_SITE_ERROR ||
        comparison->method_kind != DEMUR_METHOD_CONFIDENCE)
      continue;
    if (!(comparison->high < 0.0))
      return FALSE;
    helps = TRUE;
  }
  return helps;
}

/* Where scores are plain confidence there is nothing to compare, at however few sites. */
static void
judge(DemurValidation *v, const DemurEvaluation *e, gboolean is_confidence) {
  v->confidence_helps = confidence_helps(e);
  const DemurMethodResult *methods[2] = {
      demur_evaluation_selector(e, "validated", FALSE),
      demur_evaluation_baseline(e, DEMUR_METHOD_CONFIDENCE, FALSE)};
  for (size_t m = 0; m < G_N_ELEMENTS(v->measures); m++) {
    const DemurComparison *c = find_comparison(e, (DemurCompared)m);
    DemurValidationMeasure *measure = &v->measures[m];
    double points[2];
    for (int k = 0; k < 2; k++)
      points[k] = demur_compared_point(methods[k], (DemurCompared)m);
    *measure = (DemurValidationMeasure){(DemurCompared)m, points[0], points[1],
                                        c->difference,    c->low,    c->high};
  }
  const DemurValidationMeasure *plain = &v->measures[0], *debiased = &v->measures[1],
                               *site = &v->measures[2];
  const char *words;
  if (is_confidence) {
    v->verdict = DEMUR_VERDICT_NO_DIFFERENCE_SHOWN;
    words =
        "the selector scores by plain confidence itself, which there is nothing to compare with";
  } else if (v->n_sites < MIN_SITES || !isfinite(plain->low) || !isfinite(debiased->low)) {
    v->verdict = DEMUR_VERDICT_CANNOT_BE_DECIDED;
    words = "whether the selector helps at other hospitals cannot be decided";
  } else if (plain->high < 0.0 && debiased->high < 0.0 && !(site->low > 0.0)) {
    v->verdict = DEMUR_VERDICT_BETTER;
    words = "the selector keeps better calibrated risks than plain confidence";
  } else if (plain->low > 0.0 && debiased->low > 0.0 && !(site->high < 0.0)) {
    v->verdict = DEMUR_VERDICT_WORSE;
    words = "the selector keeps worse calibrated risks than plain confidence: do not use it";
  } else {
    v->verdict = DEMUR_VERDICT_NO_DIFFERENCE_SHOWN;
    words = v->confidence_helps
                ? "no difference to plain confidence is shown: use confidence"
                : "no difference to plain confidence is shown, nor of confidence to showing every "
                  "risk";
  }
  v->sentence = g_strdup_printf(
      "On %zu scans at %zu sites, each left out of training in turn, %s (calibration error over "
      "coverage %.4f against %.4f, difference %+.4f, 95 %% interval %+.4f to %+.4f by resampling "
      "%ss%s).",
      v->n_scans, v->n_sites, words, plain->selector, plain->confidence, plain->difference,
      plain->low, plain->high, demur_unit_name(v->unit),
      v->n_sites < MIN_SITES && !is_confidence
          ? "; a verdict about other hospitals needs at least 20 sites"
          : "");
}

DemurValidation *
demur_validation_of(DemurCohort *cohort, const DemurTrainSettings *settings,
                    const DemurLeftOut *left_out, gboolean site_context, DemurParallel *parallel,
                    const DemurProgress *progress, GError **error) {
  const size_t n = left_out->n, width = left_out->width;
  const guint32 *rows = left_out->rows;
  const char *split = left_out->split;
  double *risks = demur_new_matrix(double, cohort->n_scans, width);
  memcpy(risks, cohort->risks != NULL ? cohort->risks : cohort->probabilities,
         cohort->n_scans * width * sizeof(double));
  for (size_t i = 0; i < n; i++)
    memcpy(risks + rows[i] * width, left_out->risks + i * width, width * sizeof(double));
  g_autoptr(DemurCohort) view = demur_cohort_with_risks(cohort, risks);
  g_autoptr(DemurSample) sample = demur_sample_new(view, rows, n, split, error);
  if (sample == NULL)
    return NULL;
  g_autoptr(GHashTable) places = g_hash_table_new(NULL, NULL);
  for (size_t i = 0; i < n; i++)
    g_hash_table_insert(places, GUINT_TO_POINTER(rows[i]), GSIZE_TO_POINTER(i));
  g_autofree double *ordered = g_new(double, n), *zeros = g_new0(double, n);
  for (size_t i = 0; i < n; i++)
    ordered[i] = left_out->scores[GPOINTER_TO_SIZE(
        g_hash_table_lookup(places, GUINT_TO_POINTER(sample->rows[i])))];
  g_autoptr(GPtrArray) methods = demur_methods_array_new();
  demur_methods_add(methods, DEMUR_METHOD_SELECTOR, "validated", "selector", ordered, n);
  demur_methods_add(methods, DEMUR_METHOD_FULL, NULL, "everything", zeros, n);
  demur_methods_add(methods, DEMUR_METHOD_CONFIDENCE, NULL, "confidence", sample->confidences, n);
  DemurEvaluateInput input;
  demur_evaluate_input_init(&input);
  input.cohort = view;
  input.split = split;
  input.seed = left_out->seed;
  input.n_noise_draws = 0;
  input.min_bin_size = (size_t)settings->bin_size;
  g_autoptr(DemurEvaluation) evaluation =
      demur_evaluate_methods(&input, sample, methods, rows, parallel, progress, error);
  if (evaluation == NULL)
    return NULL;
  DemurSiteContext *context = site_context ? demur_site_context_try(cohort, left_out, error) : NULL;
  if (site_context && context == NULL)
    return NULL;

  DemurValidation *v = g_new0(DemurValidation, 1);
  v->context = context;
  v->cohort = g_strdup(cohort->name);
  v->split = g_strdup(split);
  g_autofree guint32 *sorted = demur_cohort_order_rows(cohort, rows, n);
  v->digest = demur_cohort_digest(cohort, sorted, n);
  v->simulated = cohort->simulated;
  v->seed = left_out->seed;
  v->n_folds = left_out->n_folds;
  v->n_classes = cohort->n_classes;
  v->n_scans = n;
  v->n_patients = evaluation->n_patients;
  v->n_sites = evaluation->n_sites;
  v->unit = find_comparison(evaluation, DEMUR_COMPARED_SBCE2)->unit;
  judge(v, evaluation, settings->scoring == DEMUR_SCORING_CONFIDENCE && settings->risk_bands == 0);
  return v;
}

DemurValidation *
demur_validate(DemurCohort *cohort, const DemurTrainSettings *settings, guint64 seed,
               size_t n_folds, gboolean site_context, DemurParallel *parallel,
               const DemurProgress *progress, GError **error) {
  const DemurProgress none = {0};
  g_autoptr(DemurLeftOut) left_out = demur_left_out_new(cohort, settings, seed, n_folds, error);
  if (left_out == NULL)
    return NULL;
  DemurProgressStage stage = {progress != NULL ? progress : &none, 0.0, 0.9, NULL};
  DemurProgress staged = demur_progress_stage(&stage);
  if (!demur_left_out_fill(left_out, cohort, settings, 0, left_out->n_folds, parallel, &staged,
                           error))
    return NULL;
  stage.start = 0.9;
  stage.end = 1.0;
  return demur_validation_of(cohort, settings, left_out, site_context, parallel, &staged, error);
}

void
demur_validation_write_json(const DemurValidation *v, DemurJson *json) {
  demur_json_string(json, "verdict", demur_comparison_verdict_words(v->verdict));
  demur_json_string(json, "sentence", v->sentence);
  demur_json_string(json, "cohort", v->cohort);
  demur_json_string(json, "split", v->split);
  demur_json_string(json, "digest", v->digest);
  demur_json_bool(json, "simulated", v->simulated);
  demur_json_int(json, "seed", (gint64)v->seed);
  demur_json_int(json, "folds", (gint64)v->n_folds);
  demur_json_int(json, "n_scans", (gint64)v->n_scans);
  demur_json_int(json, "n_patients", (gint64)v->n_patients);
  demur_json_int(json, "n_sites", (gint64)v->n_sites);
  demur_json_string(json, "unit", demur_unit_name(v->unit));
  demur_json_bool(json, "confidence_helps", v->confidence_helps);
  demur_json_begin_array(json, "measures");
  for (size_t m = 0; m < G_N_ELEMENTS(v->measures); m++) {
    const DemurValidationMeasure *measure = &v->measures[m];
    const double interval[2] = {measure->low, measure->high};
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "measure", demur_compared_name(measure->measure, v->n_classes));
    demur_json_double(json, "selector", measure->selector);
    demur_json_double(json, "confidence", measure->confidence);
    demur_json_double(json, "difference", measure->difference);
    demur_json_doubles(json, "interval", interval, 2);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  if (v->context != NULL)
    demur_site_context_write(json, "site_context", v->context);
}

/* The document (owned by parser); NULL: none. */
static JsonObject *
parse(JsonParser *parser, const char *text) {
  if (text == NULL || !demur_json_load(parser, text, -1, NULL))
    return NULL;
  JsonNode *root = json_parser_get_root(parser);
  return root != NULL && JSON_NODE_HOLDS_OBJECT(root) ? json_node_get_object(root) : NULL;
}

char *
demur_validation_read_sentence(const char *text) {
  g_autoptr(JsonParser) parser = json_parser_new_immutable();
  JsonObject *object = parse(parser, text);
  const char *sentence;
  if (object == NULL || !demur_json_read_string(object, "sentence", &sentence, NULL))
    return NULL;
  return g_strdup(sentence);
}

gboolean
demur_validation_read_found(const char *text, DemurValidationFound *found) {
  g_autoptr(JsonParser) parser = json_parser_new_immutable();
  JsonObject *object = parse(parser, text);
  const char *words;
  gint64 n_scans, n_sites;
  *found = (DemurValidationFound){0};
  if (object == NULL || !demur_json_read_string(object, "verdict", &words, NULL) ||
      !demur_json_read_int(object, "n_scans", 0, G_MAXINT64, &n_scans, NULL) ||
      !demur_json_read_int(object, "n_sites", 0, G_MAXINT64, &n_sites, NULL))
    return FALSE;
  found->confidence_told = json_object_has_member(object, "confidence_helps");
  if (found->confidence_told &&
      !demur_json_read_bool(object, "confidence_helps", &found->confidence_helps, NULL))
    return FALSE;
  found->n_scans = (size_t)n_scans;
  found->n_sites = (size_t)n_sites;
  for (int v = DEMUR_VERDICT_BETTER; v <= DEMUR_VERDICT_CANNOT_BE_DECIDED; v++)
    if (strcmp(words, demur_comparison_verdict_words((DemurComparisonVerdict)v)) == 0) {
      found->verdict = (DemurComparisonVerdict)v;
      return TRUE;
    }
  return FALSE;
}
