/* demur tune SELECTOR --cohort C --coverage 0.9[,0.7..]: thresholds. */
#include <string.h>

#include "app/cli/selection.h"
#include "base/memory.h"
#include "base/number.h"
#include "selector/coverage.h"

typedef struct {
  DemurSelector *selector;
  double **scores; /* [n_networks][n] */
  guint32 *patients;
  size_t n;
} Scored;

static void
scored_clear(Scored *scored) {
  for (size_t m = 0; scored->scores != NULL && m < scored->selector->n_models; m++)
    g_free(scored->scores[m]);
  g_free(scored->scores);
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
                                   context->parallel, &context->progress, error);
  if (meta == NULL)
    return FALSE;
  scored->scores = g_new0(double *, scored->selector->n_models);
  for (size_t m = 0; m < scored->selector->n_models; m++) {
    scored->scores[m] = g_new(double, scored->n);
    demur_selector_scores(scored->selector, m, meta, scored->n, scored->scores[m]);
  }
  scored->patients = g_new(guint32, scored->n);
  for (size_t i = 0; i < scored->n; i++)
    scored->patients[i] = cohort->patients[(*rows)[i]];
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
  demur_json_string(json, "guarantee", tuning->sentence);
  demur_json_end_object(json);
}

static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  g_autofree char *cohort_name = NULL, *split = NULL, *coverage_text = NULL;
  g_autofree char *delta_text = NULL;
  double delta = 0.0; /* no guarantee asked for */
  g_auto(GStrv) arguments = NULL;
  const GOptionEntry entries[] = {
      {"cohort", 'c', 0, G_OPTION_ARG_STRING, &cohort_name, "cohort to tune on", "C"},
      {"split", 0, 0, G_OPTION_ARG_STRING, &split, "its split (tune); labels are not looked at",
       "SPLIT"},
      {"coverage", 0, 0, G_OPTION_ARG_STRING, &coverage_text,
       "coverage to reach, or several; the last becomes current", "X[,X..]"},
      {"guarantee-coverage", 0, 0, G_OPTION_ARG_STRING, &delta_text,
       "reach it with a probability of at least 1 - DELTA", "DELTA"},
      {NULL}};
  if (!demur_command_parse(argc, argv, "SELECTOR --cohort C --coverage X[,X..]",
                           "tune a selector to a coverage", NULL, entries, &arguments, error) ||
      !demur_command_expect(arguments, 1, "tune takes the name of one selector", error))
    return FALSE;
  if (cohort_name == NULL || coverage_text == NULL) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "tune needs --cohort C and --coverage X, for example --coverage 0.9");
    return FALSE;
  }
  if (delta_text != NULL && (!demur_number_parse(delta_text, strlen(delta_text), &delta) ||
                             !(delta > 0.0 && delta < 1.0))) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "--guarantee-coverage takes a number between 0 and 1, for example 0.05");
    return FALSE;
  }
  size_t n_coverages;
  g_autofree double *coverages = demur_cli_parse_coverages(coverage_text, &n_coverages, error);
  if (coverages == NULL)
    return FALSE;
  if (split == NULL)
    split = g_strdup("tune");
  g_auto(Scored) scored = {0};
  scored.selector = demur_cli_load_selector(context, arguments[0], NULL, error);
  g_autoptr(DemurCohort) cohort =
      scored.selector != NULL ? demur_cli_load_cohort(context, cohort_name, error) : NULL;
  g_autofree guint32 *rows = NULL;
  if (cohort == NULL || !score_split(context, cohort, split, &scored, &rows, error))
    return FALSE;
  const size_t n_seen = demur_selector_count_seen(scored.selector, cohort, rows, scored.n);
  g_autofree char *digest = demur_cohort_digest(cohort, rows, scored.n);
  g_autofree char *now = demur_context_now();
  DemurWorkspace *workspace = demur_context_workspace(context, error);
  if (workspace == NULL || !demur_workspace_begin(workspace, error))
    return FALSE;
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "selector", arguments[0]);
  demur_json_string(json, "cohort", cohort->name);
  demur_json_string(json, "split", split);
  demur_json_bool(json, "simulated", cohort->simulated);
  demur_json_int(json, "seed", (gint64)context->seed);
  demur_json_int(json, "n_seen_in_training", (gint64)n_seen);
  demur_json_begin_array(json, "thresholds");
  g_autoptr(GString) text = g_string_new(NULL);
  gboolean ok = TRUE;
  for (size_t i = 0; ok && i < n_coverages; i++) {
    g_autoptr(DemurTuning) tuning =
        delta > 0.0
            ? demur_tune_guaranteed(coverages[i], delta, (const double *const *)scored.scores,
                                    scored.selector->n_models, scored.patients, scored.n,
                                    context->seed, error)
            : demur_tune_plug_in(coverages[i], (const double *const *)scored.scores,
                                 scored.selector->n_models, scored.patients, scored.n, error);
    if (tuning == NULL) {
      ok = FALSE;
      break;
    }
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
  if (!ok || !demur_workspace_commit(workspace, error)) {
    demur_workspace_rollback(workspace);
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
  g_autofree char *validation = demur_cli_validation_sentence(context, arguments[0]);
  g_print("%s\n", validation);
  if (n_seen > 0)
    g_print("Warning: %zu of these patients were used to train or validate the selector; tune on "
            "scans it has not seen.\n",
            n_seen);
  return TRUE;
}

const DemurCommand demur_command_tune = {"tune", "tune a selector to a coverage", run};
