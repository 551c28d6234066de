/* demur assess SELECTOR (--cohort C [--split S] / --scan SCAN / --all): a verdict a scan, with
 * reasons. */
#include <math.h>
#include <string.h>

#include "app/cli/dicom-scores.h"
#include "app/cli/selection.h"
#include "base/memory.h"
#include "selector/reasons.h"
#include "store/verdicts.h"

#define N_REASONS 3

/* What is being assessed: verdicts in the making. */
typedef struct {
  DemurSelector *selector;
  const char *selector_name;
  DemurThresholdRecord *threshold; /* NULL: not tuned */
  GArray *verdicts;                /* of DemurVerdictRecord */
} Assessment;

static void
verdict_clear(gpointer data) {
  DemurVerdictRecord *verdict = data;
  g_free(verdict->scan_id);
  g_free(verdict->patient_id);
  g_free(verdict->verdict);
  g_free(verdict->reasons);
}

static void
assessment_clear(Assessment *assessment) {
  demur_selector_unref(assessment->selector);
  demur_threshold_record_free(assessment->threshold);
  g_clear_pointer(&assessment->verdicts, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Assessment, assessment_clear)

static char *
reasons_text(char *const *reasons) {
  DemurJson *json = demur_json_new();
  demur_json_begin_array(json, NULL);
  for (; reasons != NULL && *reasons != NULL; reasons++)
    demur_json_string(json, NULL, *reasons);
  demur_json_end_array(json);
  char *text = demur_json_finish(json);
  return g_strchomp(text);
}

static void
add_verdict(Assessment *assessment, const char *scan_id, const char *patient_id, double risk,
            double risk_raw, double score, const char *word, char *const *reasons) {
  const DemurVerdictRecord verdict = {.scan_id = g_strdup(scan_id),
                                      .patient_id = g_strdup(patient_id),
                                      .risk = risk,
                                      .risk_raw = risk_raw,
                                      .score = score,
                                      .verdict = g_strdup(word),
                                      .reasons = reasons_text(reasons)};
  g_array_append_val(assessment->verdicts, verdict);
}

/* Verdicts of a cohort's rows that have scores. */
static gboolean
assess_rows(DemurContext *context, Assessment *assessment, DemurCohort *cohort, const guint32 *rows,
            size_t n, GError **error) {
  DemurSelector *selector = assessment->selector;
  g_autoptr(DemurCohort) view = demur_selector_view(selector, cohort, error);
  if (view == NULL)
    return FALSE;
  DEMUR_AUTO_ALIGNED double *meta = demur_selector_meta_features(
      selector, view, FALSE, rows, n, context->parallel, &context->progress, error);
  if (meta == NULL)
    return FALSE;
  g_autofree double *scores = g_new(double, MAX(n, 1));
  demur_selector_scores(selector, 0, meta, n, scores);
  const gboolean tuned = assessment->threshold != NULL;
  const double threshold = tuned ? assessment->threshold->threshold : NAN;
  g_autoptr(DemurReasoner) reasoner = demur_reasoner_new(selector, tuned ? threshold : 0.0);
  for (size_t i = 0; i < n; i++) {
    const char *word = !tuned ? "not_tuned" : scores[i] >= threshold ? "accepted" : "red_flag";
    g_auto(GStrv) reasons = NULL;
    if (!tuned) {
      const char *sentence[] = {"the selector has no threshold yet: run `demur tune`", NULL};
      reasons = g_strdupv((char **)sentence);
    } else if (scores[i] < threshold) {
      reasons =
          demur_reasoner_explain(reasoner, meta + i * selector->columns->n_columns, N_REASONS);
    }
    add_verdict(assessment, cohort->scan_ids[rows[i]],
                cohort->patient_ids[cohort->patients[rows[i]]],
                demur_cohort_confidence_risk(view, rows[i]),
                demur_cohort_confidence_risk(cohort, rows[i]), scores[i], word, reasons);
  }
  return TRUE;
}

/* Verdicts of DICOM series: those that are eligible and have a score of the selector's model go
 * through assess_rows. */
static gboolean
assess_series(DemurContext *context, Assessment *assessment, const char *scan_id, GError **error) {
  DemurWorkspace *workspace = demur_context_workspace(context, error);
  if (workspace == NULL)
    return FALSE;
  g_autoptr(DemurDicomScores) scored = demur_dicom_scores_load(
      workspace, scan_id, assessment->selector->model,
      assessment->selector->outlier != NULL ? assessment->selector->embedding_width : 0, error);
  if (scored == NULL)
    return FALSE;
  for (size_t i = 0; i < scored->n_unscored; i++) {
    const DemurUnscored *u = &scored->unscored[i];
    if (scan_id != NULL && u->refused) {
      g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_STATE, u->reason);
      return FALSE;
    }
    char *const reasons[] = {u->reason, NULL};
    add_verdict(assessment, u->scan_id, u->patient_id, u->risk, u->risk, NAN, u->verdict, reasons);
  }
  if (scored->cohort == NULL)
    return TRUE;
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(scored->cohort, NULL, &n, error);
  return rows != NULL && assess_rows(context, assessment, scored->cohort, rows, n, error);
}

static gboolean
find_threshold(DemurContext *context, Assessment *assessment, const char *coverage_text,
               GError **error) {
  DemurWorkspace *workspace = demur_context_workspace(context, error);
  if (workspace == NULL)
    return FALSE;
  if (coverage_text == NULL)
    return demur_thresholds_current(workspace, assessment->selector_name, &assessment->threshold,
                                    error);
  size_t n;
  g_autofree double *coverages = demur_cli_parse_coverages(coverage_text, &n, error);
  if (coverages == NULL)
    return FALSE;
  if (n != 1) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE, "--coverage takes one coverage");
    return FALSE;
  }
  assessment->threshold =
      demur_thresholds_find(workspace, assessment->selector_name, coverages[0], error);
  return assessment->threshold != NULL;
}

static void
write_verdict(const DemurVerdictRecord *v, double threshold, DemurJson *json) {
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "scan_id", v->scan_id);
  demur_json_string(json, "patient_id", v->patient_id);
  demur_json_double(json, "risk", v->risk);
  demur_json_double(json, "risk_raw", v->risk_raw);
  demur_json_double(json, "score", v->score);
  demur_json_double(json, "threshold", threshold);
  demur_json_string(json, "verdict", v->verdict);
  g_autoptr(JsonParser) parser = json_parser_new_immutable();
  demur_json_begin_array(json, "reasons");
  if (json_parser_load_from_data(parser, v->reasons, -1, NULL)) {
    JsonArray *reasons = json_node_get_array(json_parser_get_root(parser));
    for (guint r = 0; r < json_array_get_length(reasons); r++)
      demur_json_string(json, NULL, json_array_get_string_element(reasons, r));
  }
  demur_json_end_array(json);
  demur_json_end_object(json);
}

static void
print_verdict(const DemurVerdictRecord *v) {
  static const struct {
    const char *verdict, *glyph;
  } glyphs[] = {{"accepted", "+"}, {"red_flag", "!"}, {"not_eligible", "x"}};
  const char *glyph = "-";
  for (size_t i = 0; i < G_N_ELEMENTS(glyphs); i++)
    if (strcmp(v->verdict, glyphs[i].verdict) == 0)
      glyph = glyphs[i].glyph;
  g_print("%s %-12s %s  patient %s", glyph, v->verdict, v->scan_id, v->patient_id);
  /* A risk that is held back is not shown: a number struck through still anchors. */
  if (strcmp(v->verdict, "accepted") == 0)
    g_print("  risk %.3f", v->risk);
  else if (strcmp(v->verdict, "red_flag") == 0)
    g_print("  risk held back");
  if (isfinite(v->score))
    g_print("  score %.4f", v->score);
  g_print("\n");
  g_autoptr(JsonParser) parser = json_parser_new_immutable();
  if (json_parser_load_from_data(parser, v->reasons, -1, NULL)) {
    JsonArray *reasons = json_node_get_array(json_parser_get_root(parser));
    for (guint r = 0; r < json_array_get_length(reasons); r++)
      g_print("    %s\n", json_array_get_string_element(reasons, r));
  }
}

static void
print_result(DemurContext *context, const Assessment *assessment, gboolean simulated,
             size_t n_seen) {
  const GArray *verdicts = assessment->verdicts;
  const DemurThresholdRecord *t = assessment->threshold;
  const double threshold = t != NULL ? t->threshold : NAN;
  size_t n_accepted = 0, n_scored = 0;
  for (guint i = 0; i < verdicts->len; i++) {
    const DemurVerdictRecord *v = &g_array_index(verdicts, DemurVerdictRecord, i);
    n_scored += isfinite(v->score);
    n_accepted += strcmp(v->verdict, "accepted") == 0;
  }
  const double coverage = t != NULL && n_scored > 0 ? (double)n_accepted / (double)n_scored : NAN;
  if (context->json) {
    DemurJson *json = demur_json_new();
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "selector", assessment->selector_name);
    demur_json_string(json, "selector_digest", assessment->selector->digest);
    demur_json_int(json, "seed", (gint64)context->seed);
    demur_json_bool(json, "simulated", simulated);
    demur_json_double(json, "requested_coverage", t != NULL ? t->coverage : NAN);
    demur_json_double(json, "threshold", threshold);
    demur_json_int(json, "n_scored", (gint64)n_scored);
    demur_json_int(json, "n_accepted", (gint64)n_accepted);
    demur_json_double(json, "coverage", coverage);
    demur_json_int(json, "n_seen_in_training", (gint64)n_seen);
    demur_json_begin_array(json, "verdicts");
    for (guint i = 0; i < verdicts->len; i++)
      write_verdict(&g_array_index(verdicts, DemurVerdictRecord, i), threshold, json);
    demur_json_end_array(json);
    demur_json_end_object(json);
    demur_context_print_json(context, json);
    return;
  }
  for (guint i = 0; i < verdicts->len; i++)
    print_verdict(&g_array_index(verdicts, DemurVerdictRecord, i));
  g_print("%u scans%s, %zu with a score", verdicts->len, simulated ? " (simulated data)" : "",
          n_scored);
  if (t != NULL)
    g_print(", %zu accepted (coverage %.3f; asked for %g), threshold %.6f", n_accepted, coverage,
            t->coverage, threshold);
  else
    g_print("; the selector is not tuned, so there is no verdict yet");
  g_print("\n");
  if (n_seen > 0)
    g_print("In-sample: %zu of these patients were used to make the selector.\n", n_seen);
  g_print("For research use, not a cleared device.\n");
}

static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  g_autofree char *cohort_name = NULL, *split = NULL, *scan_id = NULL, *coverage = NULL;
  gboolean all = FALSE;
  g_auto(GStrv) arguments = NULL;
  const GOptionEntry entries[] = {
      {"cohort", 'c', 0, G_OPTION_ARG_STRING, &cohort_name, "assess the scans of a cohort", "C"},
      {"split", 0, 0, G_OPTION_ARG_STRING, &split, "its split (test)", "SPLIT"},
      {"scan", 0, 0, G_OPTION_ARG_STRING, &scan_id, "assess one DICOM series", "SCAN"},
      {"all", 0, 0, G_OPTION_ARG_NONE, &all, "assess every DICOM series of the workspace", NULL},
      {"coverage", 0, 0, G_OPTION_ARG_STRING, &coverage,
       "use the threshold tuned for this coverage (the current one)", "X"},
      {NULL}};
  if (!demur_command_parse(argc, argv, "SELECTOR (--cohort C | --scan SCAN | --all)",
                           "give each scan its verdict", NULL, entries, &arguments, error) ||
      !demur_command_expect(arguments, 1, "assess takes the name of one selector", error))
    return FALSE;
  if ((cohort_name != NULL) + (scan_id != NULL) + (all != FALSE) != 1 ||
      (split != NULL && cohort_name == NULL)) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "assess needs one of --cohort C [--split S], --scan SCAN and --all");
    return FALSE;
  }
  g_auto(Assessment) assessment = {.selector_name = arguments[0]};
  assessment.verdicts = g_array_new(FALSE, FALSE, sizeof(DemurVerdictRecord));
  g_array_set_clear_func(assessment.verdicts, verdict_clear);
  assessment.selector = demur_cli_load_selector(context, arguments[0], NULL, error);
  if (assessment.selector == NULL || !find_threshold(context, &assessment, coverage, error))
    return FALSE;
  size_t n_seen = 0;
  gboolean simulated = assessment.selector->simulated;
  if (cohort_name != NULL) {
    g_autoptr(DemurCohort) cohort = demur_cli_load_cohort(context, cohort_name, error);
    if (cohort == NULL)
      return FALSE;
    size_t n;
    g_autofree guint32 *rows = demur_cohort_rows(cohort, split != NULL ? split : "test", &n, error);
    if (rows == NULL || !assess_rows(context, &assessment, cohort, rows, n, error))
      return FALSE;
    n_seen = demur_selector_count_seen(assessment.selector, cohort, rows, n);
    simulated |= cohort->simulated;
  } else if (!assess_series(context, &assessment, scan_id, error)) {
    return FALSE;
  }
  g_autofree char *now = demur_context_now();
  const DemurVerdictBatch batch = {
      .selector = arguments[0],
      .selector_digest = assessment.selector->digest,
      .cohort = cohort_name,
      .model = assessment.selector->model,
      .coverage = assessment.threshold != NULL ? assessment.threshold->coverage : NAN,
      .threshold = assessment.threshold != NULL ? assessment.threshold->threshold : NAN,
      .created = now};
  DemurWorkspace *workspace = demur_context_workspace(context, error);
  if (workspace == NULL ||
      (assessment.verdicts->len > 0 &&
       !demur_verdicts_save(workspace, &batch,
                            (const DemurVerdictRecord *)(gpointer)assessment.verdicts->data,
                            assessment.verdicts->len, error)))
    return FALSE;
  print_result(context, &assessment, simulated, n_seen);
  return TRUE;
}

const DemurCommand demur_command_assess = {"assess", "give each scan its verdict", run};
