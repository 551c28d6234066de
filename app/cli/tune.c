/* demur tune SELECTOR --cohort C (--coverage 0.9[,0.7..] | --guarantee-risk ALPHA,DELTA):
 * thresholds. */
#include <math.h>
#include <string.h>

#include "app/cli/command.h"
#include "tasks/selection.h"
#include "base/memory.h"
#include "base/number.h"
#include "selector/folds.h"
#include "selector/risk-guarantee.h"

typedef struct {
  DemurSelector *selector;
  double **scores; /* [n_networks][n] */
  double *risks;   /* [n] as the selector sees them */
  double *labels;  /* [n]; NaN where not recorded */
  guint32 *patients;
  size_t n;
} Scored;

static void
scored_clear(Scored *scored) {
  for (size_t m = 0; scored->scores != NULL && m < demur_selector_n_models(scored->selector); m++)
    g_free(scored->scores[m]);
  g_free(scored->scores);
  g_free(scored->risks);
  g_free(scored->labels);
  g_free(scored->patients);
  demur_selector_unref(scored->selector);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Scored, scored_clear)

static gboolean
score_split(DemurContext *context, DemurCohort *cohort, const char *split, Scored *scored,
            guint32 **rows, GError **error) {
  *rows = demur_cohort_rows(cohort, split, &scored->n, error);
  if (*rows == NULL)
    return FALSE;
  g_autoptr(DemurCohort) view = demur_selector_view(scored->selector, cohort, error);
  if (view == NULL)
    return FALSE;
  DEMUR_AUTO_ALIGNED double *meta =
      demur_selector_meta_features(scored->selector, view, FALSE, *rows, scored->n,
                                   context->task.parallel, &context->task.progress, error);
  if (meta == NULL)
    return FALSE;
  scored->scores = g_new0(double *, demur_selector_n_models(scored->selector));
  for (size_t m = 0; m < demur_selector_n_models(scored->selector); m++) {
    scored->scores[m] = g_new(double, scored->n);
    demur_selector_scores(scored->selector, m, meta, scored->n, scored->scores[m]);
  }
  scored->patients = g_new(guint32, scored->n);
  scored->risks = g_new(double, scored->n);
  scored->labels = g_new(double, scored->n);
  for (size_t i = 0; i < scored->n; i++) {
    const size_t row = (*rows)[i];
    scored->patients[i] = cohort->patients[row];
    scored->risks[i] = demur_cohort_confidence_risk(view, row);
    scored->labels[i] = demur_cohort_confidence_label(view, row);
  }
  return TRUE;
}

static void
write_tuning(const DemurTuning *tuning, DemurJson *json) {
  demur_json_begin_object(json, NULL);
  demur_json_double(json, "coverage", tuning->coverage);
  demur_json_double(json, "threshold", tuning->thresholds[0]);
  demur_json_doubles(json, "thresholds", tuning->thresholds, tuning->n_networks);
  demur_json_double(json, "realised", tuning->realised);
  demur_json_int(json, "n_scans", (gint64)tuning->n_scans);
  demur_json_int(json, "n_patients", (gint64)tuning->n_patients);
  if (tuning->delta > 0.0)
    demur_json_double(json, "delta", tuning->delta);
  else
    demur_json_double(json, "margin", tuning->margin);
  if (tuning->kind == DEMUR_TUNING_RISK)
    demur_json_double(json, "alpha", tuning->alpha);
  demur_json_string(json, "guarantee", tuning->sentence);
  demur_json_end_object(json);
}

/* "ALPHA,DELTA", both between 0 and 1. */
static gboolean
parse_risk(const char *text, double *alpha, double *delta, GError **error) {
  g_auto(GStrv) words = g_strsplit(text, ",", -1);
  if (g_strv_length(words) == 2 && demur_number_parse(words[0], strlen(words[0]), alpha) &&
      demur_number_parse(words[1], strlen(words[1]), delta) && *alpha > 0.0 && *alpha < 1.0 &&
      *delta > 0.0 && *delta < 1.0)
    return TRUE;
  g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                      "--guarantee-risk takes ALPHA,DELTA, two numbers between 0 and 1, for "
                      "example 0.1,0.1");
  return FALSE;
}

/* What is to be promised. */
typedef struct {
  double delta; /* guaranteed coverage or risk; 0: plug-in */
  double alpha; /* guaranteed risk; else 0 */
} Promise;

static DemurTuning *
tune(DemurContext *context, const Scored *scored, double coverage, const Promise *promise,
     size_t n_seen, GError **error) {
  const double *const *scores = (const double *const *)scored->scores;
  const size_t n_models = demur_selector_n_models(scored->selector);
  if (promise->alpha <= 0.0)
    return promise->delta > 0.0
               ? demur_tune_guaranteed(coverage, promise->delta, scores, n_models, scored->patients,
                                       scored->n, context->task.seed, error)
               : demur_tune_plug_in(coverage, scores, n_models, scored->patients, scored->n, error);
  if (n_seen > 0) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE,
                "a risk cannot be guaranteed on scans whose labels made the selector: it has seen "
                "%zu of these patients; tune on a split that it has not seen",
                n_seen);
    return NULL;
  }
  g_autoptr(DemurRiskPlan) plan =
      demur_risk_plan_from_selector(promise->alpha, promise->delta, coverage, scored->selector,
                                    demur_folds_count_units(scored->patients, scored->n), error);
  return plan != NULL
             ? demur_tune_guaranteed_risk(plan, scores, scored->risks, scored->labels,
                                          scored->patients, scored->n, context->task.seed, error)
             : NULL;
}

static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  g_autofree char *cohort_name = NULL, *split = NULL, *coverage_text = NULL;
  g_autofree char *delta_text = NULL, *risk_text = NULL;
  Promise promise = {0.0, 0.0};
  g_auto(GStrv) arguments = NULL;
  const GOptionEntry entries[] = {
      {"cohort", 'c', 0, G_OPTION_ARG_STRING, &cohort_name, "cohort to tune on", "C"},
      {"split", 0, 0, G_OPTION_ARG_STRING, &split,
       "its split (tune); only --guarantee-risk looks at labels", "SPLIT"},
      {"coverage", 0, 0, G_OPTION_ARG_STRING, &coverage_text,
       "coverage to reach, or several; the last becomes current", "X[,X..]"},
      {"guarantee-coverage", 0, 0, G_OPTION_ARG_STRING, &delta_text,
       "reach it with a probability of at least 1 - DELTA", "DELTA"},
      {"guarantee-risk", 0, 0, G_OPTION_ARG_STRING, &risk_text,
       "find the largest coverage (up to --coverage) at which the accepted are calibrated to "
       "within "
       "ALPHA in each of 10 bins of risk, with a probability of at least 1 - DELTA",
       "ALPHA,DELTA"},
      {NULL}};
  if (!demur_command_parse(argc, argv, "SELECTOR --cohort C --coverage X[,X..]",
                           "tune a selector to a coverage or a risk", NULL, entries, &arguments,
                           error) ||
      !demur_command_expect(arguments, 1, "tune takes the name of one selector", error))
    return FALSE;
  if (cohort_name == NULL || (coverage_text == NULL && risk_text == NULL)) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "tune needs --cohort C and --coverage X, for example --coverage 0.9, or "
                        "--guarantee-risk ALPHA,DELTA");
    return FALSE;
  }
  if (delta_text != NULL && risk_text != NULL) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "--guarantee-coverage and --guarantee-risk can't be promised of one "
                        "threshold together; run tune twice");
    return FALSE;
  }
  if (delta_text != NULL && (!demur_number_parse(delta_text, strlen(delta_text), &promise.delta) ||
                             !(promise.delta > 0.0 && promise.delta < 1.0))) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "--guarantee-coverage takes a number between 0 and 1, for example 0.05");
    return FALSE;
  }
  if (risk_text != NULL && !parse_risk(risk_text, &promise.alpha, &promise.delta, error))
    return FALSE;
  size_t n_coverages;
  g_autofree double *coverages =
      demur_task_parse_coverages(coverage_text != NULL ? coverage_text : "1", &n_coverages, error);
  if (coverages == NULL)
    return FALSE;
  if (risk_text != NULL && n_coverages > 1) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "--guarantee-risk finds the coverage itself: give one --coverage as its "
                        "upper end, or none");
    return FALSE;
  }
  if (split == NULL)
    split = g_strdup("tune");
  g_auto(Scored) scored = {0};
  scored.selector = demur_task_load_selector(&context->task, arguments[0], NULL, error);
  g_autoptr(DemurCohort) cohort =
      scored.selector != NULL ? demur_task_load_cohort(&context->task, cohort_name, error) : NULL;
  g_autofree guint32 *rows = NULL;
  if (cohort == NULL || !score_split(context, cohort, split, &scored, &rows, error))
    return FALSE;
  const size_t n_seen = demur_selector_count_seen(scored.selector, cohort, rows, scored.n);
  g_autofree char *digest = demur_cohort_digest(cohort, rows, scored.n);
  g_autofree char *now = demur_task_now(&context->task);
  DemurWorkspace *workspace = demur_task_workspace(&context->task, error);
  if (workspace == NULL || !demur_workspace_begin(workspace, error))
    return FALSE;
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "selector", arguments[0]);
  demur_json_string(json, "cohort", cohort->name);
  demur_json_string(json, "split", split);
  demur_json_bool(json, "simulated", cohort->simulated);
  demur_json_int(json, "seed", (gint64)context->task.seed);
  demur_json_int(json, "n_seen_in_training", (gint64)n_seen);
  demur_json_begin_array(json, "thresholds");
  g_autoptr(GString) text = g_string_new(NULL);
  gboolean ok = TRUE;
  for (size_t i = 0; ok && i < n_coverages; i++) {
    g_autoptr(DemurTuning) tuning = tune(context, &scored, coverages[i], &promise, n_seen, error);
    if (tuning == NULL) {
      ok = FALSE;
      break;
    }
    demur_tuning_set_sites(tuning, cohort, rows, scored.n);
    g_autofree char *details = demur_tuning_to_json(tuning);
    DemurThresholdRecord record = {.selector = arguments[0],
                                   .coverage = tuning->coverage,
                                   .threshold = tuning->thresholds[0],
                                   .realised = tuning->realised,
                                   .n_scans = tuning->n_scans,
                                   .n_patients = tuning->n_patients,
                                   .cohort = cohort->name,
                                   .split = split,
                                   .cohort_digest = digest,
                                   .guarantee = details,
                                   .created = now};
    ok = demur_thresholds_save(workspace, &record, error);
    write_tuning(tuning, json);
    g_string_append_printf(text,
                           "coverage %-6g threshold %.6f, realised %.4f on %zu scans of %zu "
                           "patients\n  %s\n",
                           tuning->coverage, tuning->thresholds[0], tuning->realised,
                           tuning->n_scans, tuning->n_patients, tuning->sentence);
  }
  demur_json_end_array(json);
  demur_json_end_object(json);
  if (!ok)
    demur_workspace_rollback(workspace);
  if (!ok || !demur_workspace_commit(workspace, error)) { /* which rolls back where it fails */
    demur_json_free(json);
    return FALSE;
  }
  if (context->json) {
    demur_context_print_json(context, json);
    return TRUE;
  }
  demur_json_free(json);
  g_print("Selector '%s' tuned on split '%s' of cohort '%s'%s\n%s", arguments[0], split,
          cohort->name, cohort->simulated ? " (simulated data)" : "", text->str);
  g_autofree char *validation = demur_task_validation_sentence(&context->task, arguments[0]);
  g_print("%s\n", validation);
  g_autofree char *untrained = demur_selector_untrained_sentence(scored.selector);
  if (untrained != NULL)
    g_print("Warning: %s.\n", untrained);
  if (strcmp(split, "test") == 0)
    g_print("Warning: evaluate and report take split 'test' where none is named, and refuse a "
            "selector whose threshold was taken from it.\n");
  if (n_seen > 0)
    g_print("Warning: %zu of these patients were used to train or validate the selector; tune on "
            "scans it has not seen.\n",
            n_seen);
  return TRUE;
}

const DemurCommand demur_command_tune = {"tune", "tune a selector to a coverage", run};
