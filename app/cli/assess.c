/* demur assess SELECTOR (--cohort C [--split S] / --scan SCAN / --all): a verdict a scan, with
 * reasons; demur assess --undo REASON: the last assessment is taken back. */
#include <math.h>

#include "app/cli/counted.h"
#include "app/cli/command.h"
#include "base/error.h"
#include "report/format.h"
#include "selector/federated.h"
#include "tasks/assess-undo.h"
#include "tasks/history.h"
#include "tasks/horizons.h"
#include "tasks/selection.h"
#include "tasks/site-coverage.h"
#include "tasks/intake.h"
#include "words/federated-words.h"
#include "words/words.h"

static void
write_verdict(const DemurAssessment *assessment, guint i, double threshold, gboolean revealed,
              DemurJson *json) {
  const DemurVerdictRecord *v = &g_array_index(assessment->verdicts, DemurVerdictRecord, i);
  /* A score follows the risk, so it goes where the risk goes. */
  const gboolean told = revealed || demur_verdict_tells_risk(v->verdict, DEMUR_CURRENT);
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "scan_id", v->scan_id);
  demur_json_string(json, "patient_id", v->patient_id);
  demur_json_double(json, "risk", told ? v->risk : NAN);
  demur_json_double(json, "risk_raw", told ? v->risk_raw : NAN);
  const double interval[2] = {v->risk_low, v->risk_high};
  if (told && isfinite(v->risk_low))
    demur_json_doubles(json, "risk_interval", interval, 2);
  else
    demur_json_null(json, "risk_interval");
  if (g_array_index(assessment->sites, DemurVerdictSite, i).audited)
    demur_json_bool(json, "audited", TRUE);
  demur_json_double(json, "score", told ? v->score : NAN);
  demur_json_double(json, "threshold", threshold);
  demur_json_string(json, "verdict", demur_verdict_name(v->verdict));
  g_autoptr(GPtrArray) kept = demur_reasons_from_json(v->reasons);
  g_autoptr(GPtrArray) reasons = demur_reasons_shown(kept, told);
  g_auto(GStrv) words = demur_words_reasons(reasons, NULL, NULL);
  demur_json_begin_array(json, "reasons");
  for (char **word = words; *word != NULL; word++)
    demur_json_string(json, NULL, *word);
  demur_json_end_array(json);
  demur_json_begin_array(json, "reason_details");
  for (guint r = 0; r < reasons->len; r++)
    demur_reason_write(json, reasons->pdata[r]);
  demur_json_end_array(json);
  demur_json_string(json, "state", demur_verdict_state_name(DEMUR_VERDICT_CURRENT));
  demur_json_begin_array(json, "out_of_date_because");
  demur_json_end_array(json);
  const DemurOverruleRecord *overrule =
      assessment->overrules != NULL ? g_hash_table_lookup(assessment->overrules, v->scan_id) : NULL;
  if (overrule != NULL)
    demur_intake_json_overrule(json, overrule);
  demur_json_end_object(json);
}

static void
print_verdict(const DemurVerdictRecord *v, gboolean revealed) {
  static const char *const glyphs[DEMUR_N_VERDICTS] = {[DEMUR_VERDICT_ACCEPTED] = "+",
                                                       [DEMUR_VERDICT_RED_FLAG] = "!",
                                                       [DEMUR_VERDICT_NOT_ELIGIBLE] = "x"};
  const gboolean held_back = v->verdict == DEMUR_VERDICT_RED_FLAG && !revealed;
  g_print("%s %-12s %s  patient %s", glyphs[v->verdict] != NULL ? glyphs[v->verdict] : "-",
          demur_verdict_name(v->verdict), v->scan_id, v->patient_id);
  /* A risk that is held back is not shown: a number struck through still anchors. */
  if (held_back)
    g_print("  risk held back");
  else if (v->verdict == DEMUR_VERDICT_ACCEPTED)
    g_print("  risk %.3f", v->risk);
  if (v->verdict == DEMUR_VERDICT_ACCEPTED && isfinite(v->risk_low))
    g_print(" (%.3f to %.3f)", v->risk_low, v->risk_high);
  if (isfinite(v->score) && (revealed || demur_verdict_tells_risk(v->verdict, DEMUR_CURRENT)))
    g_print("  score %.4f", v->score);
  g_print("\n");
  g_autoptr(GPtrArray) reasons = demur_reasons_from_json(v->reasons);
  g_autoptr(GPtrArray) shown = demur_reasons_shown(reasons, !held_back);
  g_auto(GStrv) words = demur_words_reasons(shown, NULL, NULL);
  for (char **word = words; *word != NULL; word++)
    g_print("    %s\n", *word);
}

static void
write_sites(const DemurAssessment *assessment, DemurJson *json) {
  g_autoptr(GArray) sites = demur_task_site_coverage(assessment);
  demur_json_begin_array(json, "sites");
  for (guint i = 0; i < sites->len; i++) {
    const DemurSiteCoverage *site = &g_array_index(sites, DemurSiteCoverage, i);
    const gboolean tuned = assessment->threshold != NULL;
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "site", site->site);
    demur_json_int(json, "n_scored", (gint64)site->n_scored);
    demur_json_int(json, "n_accepted", (gint64)site->n_accepted);
    demur_json_double(json, "coverage",
                      tuned ? (double)site->n_accepted / (double)site->n_scored : NAN);
    if (site->in_tuning_split < 0)
      demur_json_null(json, "in_tuning_split");
    else
      demur_json_bool(json, "in_tuning_split", site->in_tuning_split > 0);
    demur_json_string(json, "guarantee", demur_task_site_guarantee(assessment, site));
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}

/* Sites without a guarantee, each with its coverage so far; audited sites. */
static void
print_sites(const DemurAssessment *assessment) {
  if (assessment->threshold != NULL) {
    g_autoptr(GArray) sites = demur_task_site_coverage(assessment);
    for (guint i = 0; i < sites->len; i++) {
      const DemurSiteCoverage *site = &g_array_index(sites, DemurSiteCoverage, i);
      if (site->in_tuning_split <= 0)
        g_print("Site %s: %s; coverage so far %.3f (%zu of %zu)\n",
                *site->site != '\0' ? site->site : "not recorded",
                demur_task_site_guarantee(assessment, site),
                (double)site->n_accepted / (double)site->n_scored, site->n_accepted,
                site->n_scored);
    }
  }
  size_t n_audited = 0;
  for (guint i = 0; i < assessment->sites->len; i++)
    n_audited += g_array_index(assessment->sites, DemurVerdictSite, i).audited ? 1 : 0;
  if (n_audited > 0)
    g_print("%zu risks carry the intercept of a site audit.\n", n_audited);
}

/* What is said of all verdicts together. */
typedef struct {
  size_t n_accepted, n_scored;
  double coverage; /* NaN: of no scan, or there is no threshold */
} Counts;

static Counts
count_verdicts(const DemurAssessment *assessment) {
  Counts counts = {0};
  for (guint i = 0; i < assessment->verdicts->len; i++) {
    const DemurVerdictRecord *v = &g_array_index(assessment->verdicts, DemurVerdictRecord, i);
    counts.n_scored += isfinite(v->score);
    counts.n_accepted += v->verdict == DEMUR_VERDICT_ACCEPTED;
  }
  counts.coverage = assessment->threshold != NULL && counts.n_scored > 0
                        ? (double)counts.n_accepted / (double)counts.n_scored
                        : NAN;
  return counts;
}

/* Members into an open object. */
static void
write_result(DemurContext *context, const DemurAssessment *assessment, gboolean revealed,
             DemurJson *json) {
  const DemurThresholdRecord *t = assessment->threshold;
  const double threshold = t != NULL ? t->threshold : NAN,
               years = demur_selector_horizon_years(assessment->selector);
  const Counts counts = count_verdicts(assessment);
  g_autofree char *validation =
      demur_task_validation_sentence(&context->task, assessment->selector_name);
  demur_json_string(json, "selector", assessment->selector_name);
  demur_json_string(json, "validation", validation);
  demur_json_string(json, "selector_digest", demur_selector_digest(assessment->selector));
  demur_selector_write_federated(assessment->selector, json);
  demur_json_double(json, "horizon_years", years > 0.0 ? years : (double)NAN);
  demur_json_int(json, "seed", (gint64)context->task.seed);
  demur_json_bool(json, "simulated", assessment->simulated);
  demur_json_double(json, "requested_coverage", t != NULL ? t->coverage : NAN);
  demur_json_double(json, "threshold", threshold);
  demur_json_int(json, "n_scored", (gint64)counts.n_scored);
  demur_json_int(json, "n_accepted", (gint64)counts.n_accepted);
  demur_json_double(json, "coverage", counts.coverage);
  demur_json_int(json, "n_seen_in_training", (gint64)assessment->n_seen);
  demur_json_begin_array(json, "verdicts");
  for (guint i = 0; i < assessment->verdicts->len; i++)
    write_verdict(assessment, i, threshold, revealed, json);
  demur_json_end_array(json);
  write_sites(assessment, json);
}

static void
print_counts(const DemurAssessment *assessment) {
  const DemurThresholdRecord *t = assessment->threshold;
  const Counts counts = count_verdicts(assessment);
  g_print("%u scan%s%s, %zu with a score", assessment->verdicts->len,
          demur_cli_s(assessment->verdicts->len), assessment->simulated ? " (simulated data)" : "",
          counts.n_scored);
  if (t != NULL && counts.n_scored > 0)
    g_print(", %zu accepted (coverage %.3f; asked for %g), threshold %.6f", counts.n_accepted,
            counts.coverage, t->coverage, t->threshold);
  else if (t != NULL) /* of no scan a coverage is not defined */
    g_print("; asked for coverage %g, threshold %.6f", t->coverage, t->threshold);
  else
    g_print("; the selector is not tuned, so there is no verdict yet");
  g_print("\n");
}

static void
print_about(DemurContext *context, const DemurAssessment *assessment) {
  g_autofree char *validation =
      demur_task_validation_sentence(&context->task, assessment->selector_name);
  g_autofree char *federated = demur_words_federated(assessment->selector, NULL);
  print_sites(assessment);
  if (federated != NULL)
    g_print("%s\n", federated);
  g_print("%s\n", validation);
  if (assessment->n_seen > 0)
    g_print(assessment->n_seen == 1
                ? "In-sample: %zu of these patients was used to make the selector.\n"
                : "In-sample: %zu of these patients were used to make the selector.\n",
            assessment->n_seen);
}

static void
print_result(DemurContext *context, const DemurAssessment *assessment, gboolean revealed) {
  if (context->json) {
    DemurJson *json = demur_json_new();
    demur_json_begin_object(json, NULL);
    write_result(context, assessment, revealed, json);
    demur_json_end_object(json);
    demur_context_print_json(context, json);
    return;
  }
  for (guint i = 0; i < assessment->verdicts->len; i++)
    print_verdict(&g_array_index(assessment->verdicts, DemurVerdictRecord, i), revealed);
  print_counts(assessment);
  print_about(context, assessment);
  g_print("For research use, not a cleared device.\n");
}

/* What is shown of scan i of a family: risks [n], NaN where one is held back. */
static void
shown_risks(const DemurHorizons *horizons, const DemurAssessment *assessments, guint i,
            double *risks) {
  for (size_t h = 0; h < horizons->n; h++) {
    const DemurVerdictRecord *v = &g_array_index(assessments[h].verdicts, DemurVerdictRecord, i);
    risks[h] = v->verdict == DEMUR_VERDICT_ACCEPTED ? v->risk : NAN;
  }
}

/* A risk that is held back lies between those of fewer and of more years that are shown. TRUE where
 * that says something. */
static gboolean
print_bounds(const double *risks, size_t n, size_t at) {
  double at_least, at_most;
  demur_horizon_bounds(risks, n, at, &at_least, &at_most);
  if (isfinite(at_least) && isfinite(at_most))
    g_print(" (%.3f to %.3f)", at_least, at_most);
  else if (isfinite(at_least))
    g_print(" (at least %.3f)", at_least);
  else if (isfinite(at_most))
    g_print(" (at most %.3f)", at_most);
  return isfinite(at_least) || isfinite(at_most);
}

/* Verdicts of a family: a line a scan, its verdict within each number of years; then what is said
 * of each horizon. All are of the same scans in the same order. */
static void
print_horizons(DemurContext *context, const DemurHorizons *horizons,
               const DemurAssessment *assessments) {
  guint n_bounded = 0;
  for (guint i = 0; i < assessments[0].verdicts->len; i++) {
    double risks[DEMUR_N_YEARS];
    gboolean bounded = FALSE;
    shown_risks(horizons, assessments, i, risks);
    g_print("%s  patient %s", g_array_index(assessments[0].verdicts, DemurVerdictRecord, i).scan_id,
            g_array_index(assessments[0].verdicts, DemurVerdictRecord, i).patient_id);
    for (size_t h = 0; h < horizons->n; h++) {
      const DemurVerdictRecord *v = &g_array_index(assessments[h].verdicts, DemurVerdictRecord, i);
      if (v->verdict == DEMUR_VERDICT_ACCEPTED)
        g_print("  %dy %.3f", horizons->years[h], v->risk);
      else
        g_print("  %dy %s", horizons->years[h], demur_verdict_name(v->verdict));
      if (v->verdict == DEMUR_VERDICT_RED_FLAG)
        bounded |= print_bounds(risks, horizons->n, h);
    }
    g_print("\n");
    n_bounded += bounded ? 1 : 0;
  }
  if (n_bounded > 0)
    g_print("%u of %u scan%s: a risk that is held back lies between those shown for fewer and for "
            "more years.\n",
            n_bounded, assessments[0].verdicts->len, demur_cli_s(assessments[0].verdicts->len));
  for (size_t h = 0; h < horizons->n; h++) {
    g_autofree char *years = demur_text_years(horizons->years[h]);
    g_print("Within %s (%s): ", years, assessments[h].selector_name);
    print_counts(&assessments[h]);
    print_about(context, &assessments[h]);
  }
  g_print("For research use, not a cleared device.\n");
}

/* Of the scans whose risk within horizon h is held back while another one's is shown. */
static void
write_bounds(const DemurHorizons *horizons, const DemurAssessment *assessments, size_t h,
             DemurJson *json) {
  demur_json_begin_array(json, "bounds");
  for (guint i = 0; i < assessments[h].verdicts->len; i++) {
    const DemurVerdictRecord *v = &g_array_index(assessments[h].verdicts, DemurVerdictRecord, i);
    double risks[DEMUR_N_YEARS], at_least, at_most;
    shown_risks(horizons, assessments, i, risks);
    demur_horizon_bounds(risks, horizons->n, h, &at_least, &at_most);
    if (v->verdict != DEMUR_VERDICT_RED_FLAG || (isnan(at_least) && isnan(at_most)))
      continue;
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "scan_id", v->scan_id);
    demur_json_double(json, "at_least", at_least);
    demur_json_double(json, "at_most", at_most);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}

static void
write_horizons(DemurContext *context, const DemurHorizons *horizons,
               const DemurAssessment *assessments, gboolean revealed) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_begin_array(json, "horizons");
  for (size_t h = 0; h < horizons->n; h++) {
    demur_json_begin_object(json, NULL);
    demur_json_int(json, "years", horizons->years[h]);
    write_result(context, &assessments[h], revealed, json);
    write_bounds(horizons, assessments, h, json);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_end_object(json);
  demur_context_print_json(context, json);
}

static gboolean
keep(DemurContext *context, const char *reveal, DemurAssessment *assessments, size_t n,
     GError **error) {
  gboolean ok = demur_assessments_save(&context->task, assessments, n, error);
  for (size_t i = 0; ok && reveal != NULL && i < n; i++)
    ok = demur_history_add_reveal(&context->task, assessments[i].selector_name, reveal,
                                  assessments[i].verdicts->len, error);
  return ok;
}

static gboolean
assess_horizons(DemurContext *context, const DemurAssessParams *options, const char *reveal,
                const DemurHorizons *horizons, GError **error) {
  DemurAssessment assessments[DEMUR_N_YEARS] = {0};
  char *names[DEMUR_N_YEARS] = {NULL};
  for (size_t h = 0; h < horizons->n; h++)
    names[h] = demur_horizon_selector(options->selector, horizons->years[h]);
  gboolean ok = demur_task_assess_horizons(&context->task, options, (const char *const *)names,
                                           horizons->n, assessments, error);
  ok = ok && keep(context, reveal, assessments, horizons->n, error);
  if (ok && context->json)
    write_horizons(context, horizons, assessments, reveal != NULL);
  else if (ok)
    print_horizons(context, horizons, assessments);
  for (size_t h = 0; h < horizons->n; h++) {
    demur_assessment_clear(&assessments[h]);
    g_free(names[h]);
  }
  return ok;
}

/* Takes the last assessment back, whichever it was, and says which. */
static gboolean
undo(DemurContext *context, const char *reason, GError **error) {
  g_autoptr(DemurLastAssessment) last = demur_task_assess_last(&context->task, error);
  if (last == NULL || !demur_task_assess_undo(&context->task, last->batch, reason, error))
    return FALSE;
  if (!context->json) {
    for (guint i = 0; i < last->selectors->len; i++)
      g_print("Taken back with it: what %s said of the same scans.\n",
              (char *)last->selectors->pdata[i]);
    g_print("The assessment of %s by selector %s was taken back: of its %zu verdict%s, %zu scan%s "
            "%s an earlier one again, %zu %s none.\n",
            last->created, last->selector, last->n_verdicts, demur_cli_s(last->n_verdicts),
            last->n_earlier, demur_cli_s(last->n_earlier), last->n_earlier == 1 ? "has" : "have",
            last->n_verdicts - last->n_earlier,
            last->n_verdicts - last->n_earlier == 1 ? "has" : "have");
    return TRUE;
  }
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_begin_object(json, "undone");
  demur_json_string(json, "selector", last->selector);
  demur_json_string(json, "cohort", last->cohort);
  demur_json_string(json, "created", last->created);
  demur_json_int(json, "n_verdicts", (gint64)last->n_verdicts);
  demur_json_int(json, "n_earlier", (gint64)last->n_earlier);
  demur_json_begin_array(json, "with");
  for (guint i = 0; i < last->selectors->len; i++)
    demur_json_string(json, NULL, last->selectors->pdata[i]);
  demur_json_end_array(json);
  demur_json_end_object(json);
  demur_json_end_object(json);
  demur_context_print_json(context, json);
  return TRUE;
}

static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  g_autofree char *cohort_name = NULL, *split = NULL, *scan_id = NULL, *coverage = NULL,
                  *reveal = NULL, *horizons = NULL, *undone = NULL;
  gboolean all = FALSE;
  g_auto(GStrv) arguments = NULL;
  const GOptionEntry entries[] = {
      {"cohort", 'c', 0, G_OPTION_ARG_STRING, &cohort_name, "assess the scans of a cohort", "C"},
      {"split", 0, 0, G_OPTION_ARG_STRING, &split, "its split (test)", "SPLIT"},
      {"scan", 0, 0, G_OPTION_ARG_STRING, &scan_id, "assess one DICOM series", "SCAN"},
      {"all", 0, 0, G_OPTION_ARG_NONE, &all, "assess every DICOM series of the workspace", NULL},
      {"coverage", 0, 0, G_OPTION_ARG_STRING, &coverage,
       "use the threshold tuned for this coverage (the current one)", "X"},
      {"horizons", 0, 0, G_OPTION_ARG_STRING, &horizons,
       "by these selectors of a family, SELECTOR-1y to SELECTOR-6y (all; 1-6, or 1,3,6)", "YEARS"},
      {"reveal", 0, 0, G_OPTION_ARG_STRING, &reveal,
       "tell the risks that are held back too; why is kept", "REASON"},
      {"undo", 0, 0, G_OPTION_ARG_STRING, &undone,
       "take the last assessment back instead, alone; why is kept", "REASON"},
      {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &arguments, error))
    return FALSE;
  if (undone != NULL) {
    const gboolean others = cohort_name != NULL || split != NULL || scan_id != NULL || all ||
                            coverage != NULL || horizons != NULL || reveal != NULL;
    if (others || arguments[0] != NULL) {
      g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                          "assess --undo REASON stands alone: it takes the last assessment back");
      return FALSE;
    }
    return undo(context, undone, error);
  }
  if (!demur_command_expect(arguments, 1, "assess takes the name of one selector", error))
    return FALSE;
  if ((cohort_name != NULL) + (scan_id != NULL) + (all != FALSE) != 1 ||
      (split != NULL && cohort_name == NULL)) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "assess needs one of --cohort C [--split S], --scan SCAN and --all");
    return FALSE;
  }
  if (reveal != NULL && *g_strstrip(reveal) == '\0') {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "--reveal takes the reason why held-back risks are looked at");
    return FALSE;
  }
  const DemurAssessParams options = {arguments[0], cohort_name, split, scan_id,
                                     coverage,     FALSE,       FALSE};
  DemurHorizons years;
  if (!(horizons != NULL ? demur_horizons_parse(horizons, &years, error)
                         : demur_horizons_of_family(&context->task, arguments[0], &years, error)))
    return FALSE;
  if (years.n > 0)
    return assess_horizons(context, &options, reveal, &years, error);
  g_auto(DemurAssessment) assessment = {0};
  if (!demur_task_assess(&context->task, &options, &assessment, error) ||
      !keep(context, reveal, &assessment, 1, error))
    return FALSE;
  print_result(context, &assessment, reveal != NULL);
  return TRUE;
}

const DemurCommand demur_command_assess = {.name = "assess",
                                           .parameters =
                                               "SELECTOR (--cohort C | --scan SCAN | --all)",
                                           .summary = "give each scan its verdict",
                                           .run = run};
