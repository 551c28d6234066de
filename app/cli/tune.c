/* demur tune SELECTOR --cohort C (--coverage 0.9[,0.7..] | --guarantee-risk ALPHA,DELTA):
 * thresholds. */
#include <math.h>
#include <string.h>

#include "app/cli/counted.h"
#include "app/cli/command.h"
#include "base/error.h"
#include "base/number.h"
#include "tasks/horizons.h"
#include "tasks/selection.h"
#include "tasks/tune.h"

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
  else if (tuning->kind == DEMUR_TUNING_PLUG_IN)
    demur_json_double(json, "margin", tuning->margin);
  if (tuning->kind == DEMUR_TUNING_RISK)
    demur_json_double(json, "alpha", tuning->alpha);
  demur_tuning_write_guarantees(tuning, json);
  if (tuning->hold_back_across > 0.0) {
    demur_json_double(json, "hold_back_across", tuning->hold_back_across);
    demur_json_int(json, "n_held_back", (gint64)tuning->n_held_back);
  }
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

/* What is asked for, as options. */
typedef struct {
  char *cohort, *split, *coverage, *delta, *risk, *across, *use, *reason, *positive, *horizons;
  char **guarantees;
  double *coverages;
  DemurGuarantee parsed[DEMUR_MAX_GUARANTEES];
} Asked;

static void
asked_clear(Asked *asked) {
  g_free(asked->cohort);
  g_free(asked->split);
  g_free(asked->coverage);
  g_free(asked->delta);
  g_free(asked->risk);
  g_free(asked->across);
  g_free(asked->use);
  g_free(asked->reason);
  g_free(asked->positive);
  g_free(asked->horizons);
  g_strfreev(asked->guarantees);
  g_free(asked->coverages);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Asked, asked_clear)

static gboolean
usage(GError **error, const char *text) {
  g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE, text);
  return FALSE;
}

/* --guarantee MEASURE:LEVEL:DELTA .., and what is called positive. */
static gboolean
take_guarantees(Asked *asked, DemurTuneParams *params, GError **error) {
  const guint n = asked->guarantees != NULL ? g_strv_length(asked->guarantees) : 0;
  if (n > DEMUR_MAX_GUARANTEES)
    return usage(error, "--guarantee takes at most eight guarantees");
  params->positive_from = 0.5;
  if (asked->positive != NULL &&
      (!demur_number_parse(asked->positive, strlen(asked->positive), &params->positive_from) ||
       !(params->positive_from > 0.0 && params->positive_from < 1.0)))
    return usage(error, "--positive-from takes a risk between 0 and 1, for example 0.06");
  for (guint i = 0; i < n; i++)
    if (!demur_guarantee_parse(asked->guarantees[i], &asked->parsed[i], error))
      return FALSE;
  params->guarantees = asked->parsed;
  params->n_guarantees = n;
  if (n == 0 && asked->positive != NULL)
    return usage(error, "--positive-from belongs to --guarantee");
  if (n > 0 && (asked->delta != NULL || asked->risk != NULL))
    return usage(error, "--guarantee can't be promised of one threshold together with "
                        "--guarantee-coverage or --guarantee-risk; run tune twice");
  return TRUE;
}

static gboolean
take(Asked *asked, DemurTuneParams *params, GError **error) {
  if (!take_guarantees(asked, params, error))
    return FALSE;
  const gboolean finds_coverage = asked->risk != NULL || params->n_guarantees > 0;
  if (asked->cohort == NULL || (asked->coverage == NULL && !finds_coverage))
    return usage(error, "tune needs --cohort C and --coverage X, for example --coverage 0.9, or "
                        "--guarantee-risk ALPHA,DELTA, or --guarantee MEASURE:LEVEL:DELTA");
  if (asked->delta != NULL && asked->risk != NULL)
    return usage(error, "--guarantee-coverage and --guarantee-risk can't be promised of one "
                        "threshold together; run tune twice");
  if (asked->delta != NULL &&
      (!demur_number_parse(asked->delta, strlen(asked->delta), &params->delta) ||
       !(params->delta > 0.0 && params->delta < 1.0)))
    return usage(error, "--guarantee-coverage takes a number between 0 and 1, for example 0.05");
  if (asked->risk != NULL && !parse_risk(asked->risk, &params->alpha, &params->delta, error))
    return FALSE;
  if (asked->across != NULL &&
      (!demur_number_parse(asked->across, strlen(asked->across), &params->hold_back_across) ||
       !(params->hold_back_across > 0.0 && params->hold_back_across < 1.0)))
    return usage(error, "--hold-back-across takes a risk between 0 and 1, for example 0.06");
  asked->coverages = demur_task_parse_coverages(asked->coverage != NULL ? asked->coverage : "1",
                                                &params->n_coverages, error);
  if (asked->coverages == NULL)
    return FALSE;
  if (finds_coverage && params->n_coverages > 1)
    return usage(
        error, "a guaranteed risk or measure finds the coverage itself: give one --coverage as its "
               "upper end, or none");
  params->cohort = asked->cohort;
  params->split = asked->split;
  params->coverages = asked->coverages;
  params->reason = asked->reason;
  return TRUE;
}

/* Members into an open object. */
static void
write_tuned(DemurContext *context, const DemurTuned *tuned, DemurJson *json) {
  demur_json_string(json, "selector", tuned->selector);
  demur_json_string(json, "cohort", tuned->cohort);
  demur_json_string(json, "split", tuned->split);
  demur_json_bool(json, "simulated", tuned->simulated);
  demur_json_int(json, "seed", (gint64)context->task.seed);
  demur_json_int(json, "n_seen_in_training", (gint64)tuned->n_seen);
  demur_json_begin_array(json, "thresholds");
  for (guint i = 0; i < tuned->tunings->len; i++)
    write_tuning(tuned->tunings->pdata[i], json);
  demur_json_end_array(json);
  demur_command_write_warnings(json, tuned->warnings);
}

static void
print_json(DemurContext *context, const DemurTuned *tuned) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  write_tuned(context, tuned, json);
  demur_json_end_object(json);
  demur_context_print_json(context, json);
}

static void
print_text(const DemurTuned *tuned) {
  g_print("Selector '%s' tuned on split '%s' of cohort '%s'%s\n", tuned->selector, tuned->split,
          tuned->cohort, tuned->simulated ? " (simulated data)" : "");
  for (guint i = 0; i < tuned->tunings->len; i++) {
    const DemurTuning *tuning = tuned->tunings->pdata[i];
    g_print("coverage %-6g threshold %.6f, realised %.4f on %zu scan%s of %zu patient%s\n  %s\n",
            tuning->coverage, tuning->thresholds[0], tuning->realised, tuning->n_scans,
            demur_cli_s(tuning->n_scans), tuning->n_patients, demur_cli_s(tuning->n_patients),
            tuning->sentence);
  }
  g_print("%s\n", tuned->validation);
  demur_command_print_warnings(tuned->warnings);
}

/* Each selector of a family by itself. */
static gboolean
tune_horizons(DemurContext *context, const DemurTuneParams *params, const DemurHorizons *horizons,
              GError **error) {
  g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func((GDestroyNotify)demur_tuned_free);
  for (size_t h = 0; h < horizons->n; h++) {
    g_autofree char *name = demur_horizon_selector(params->selector, horizons->years[h]);
    DemurTuneParams one = *params;
    one.selector = name;
    DemurTuned *tuned = demur_task_tune(&context->task, &one, error);
    if (tuned == NULL) {
      g_prefix_error(error, "%s: ", name);
      return FALSE;
    }
    g_ptr_array_add(all, tuned);
  }
  DemurJson *json = context->json ? demur_json_new() : NULL;
  if (json == NULL) {
    for (guint h = 0; h < all->len; h++)
      print_text(all->pdata[h]);
    return TRUE;
  }
  demur_json_begin_object(json, NULL);
  demur_json_begin_array(json, "horizons");
  for (guint h = 0; h < all->len; h++) {
    demur_json_begin_object(json, NULL);
    demur_json_int(json, "years", horizons->years[h]);
    write_tuned(context, all->pdata[h], json);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_end_object(json);
  demur_context_print_json(context, json);
  return TRUE;
}

/* --use X: a threshold that is there becomes current again. */
static gboolean
use(DemurContext *context, const char *selector, const Asked *asked, GError **error) {
  const DemurOptionGiven others[] = {
      {"--cohort", asked->cohort != NULL},          {"--split", asked->split != NULL},
      {"--coverage", asked->coverage != NULL},      {"--guarantee-coverage", asked->delta != NULL},
      {"--guarantee-risk", asked->risk != NULL},    {"--guarantee", asked->guarantees != NULL},
      {"--positive-from", asked->positive != NULL}, {"--hold-back-across", asked->across != NULL},
      {"--horizons", asked->horizons != NULL}};
  if (!demur_command_refuse_beside("--use", others, G_N_ELEMENTS(others), error))
    return FALSE;
  size_t n;
  g_autofree double *coverages = demur_task_parse_coverages(asked->use, &n, error);
  if (coverages == NULL)
    return FALSE;
  if (n > 1)
    return usage(error, "--use takes one coverage: the one that becomes current");
  DemurHorizons horizons;
  double thresholds[DEMUR_N_YEARS];
  if (!demur_task_tune_use(&context->task, selector, coverages[0], asked->reason, &horizons,
                           thresholds, error))
    return FALSE;
  g_auto(GStrv) names = demur_horizon_selectors(selector, &horizons);
  if (context->json) {
    DemurJson *json = demur_json_new();
    demur_json_begin_object(json, NULL);
    if (horizons.n > 0)
      demur_json_begin_array(json, "horizons");
    for (guint i = 0; names[i] != NULL; i++) {
      if (horizons.n > 0) {
        demur_json_begin_object(json, NULL);
        demur_json_int(json, "years", horizons.years[i]);
      }
      demur_json_string(json, "selector", names[i]);
      demur_json_double(json, "coverage", coverages[0]);
      demur_json_double(json, "threshold", thresholds[i]);
      demur_json_bool(json, "current", TRUE);
      if (horizons.n > 0)
        demur_json_end_object(json);
    }
    if (horizons.n > 0)
      demur_json_end_array(json);
    demur_json_end_object(json);
    demur_context_print_json(context, json);
    return TRUE;
  }
  for (guint i = 0; names[i] != NULL; i++)
    g_print("Selector '%s': the threshold %.6f of coverage %g is current; assess again for its "
            "verdicts\n",
            names[i], thresholds[i], coverages[0]);
  return TRUE;
}

static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  g_auto(Asked) asked = {0};
  g_auto(GStrv) arguments = NULL;
  const GOptionEntry entries[] = {
      {"cohort", 'c', 0, G_OPTION_ARG_STRING, &asked.cohort, "cohort to tune on", "C"},
      {"split", 0, 0, G_OPTION_ARG_STRING, &asked.split,
       "its split (tune); only --guarantee-risk and --guarantee look at labels", "SPLIT"},
      {"coverage", 0, 0, G_OPTION_ARG_STRING, &asked.coverage,
       "coverage to reach, or several; the first is in use from then on", "X[,X..]"},
      {"guarantee-coverage", 0, 0, G_OPTION_ARG_STRING, &asked.delta,
       "reach it with a probability of at least 1 - DELTA", "DELTA"},
      {"guarantee-risk", 0, 0, G_OPTION_ARG_STRING, &asked.risk,
       "find the largest coverage (up to --coverage) at which the accepted are calibrated to "
       "within "
       "ALPHA in each of 10 bins of risk, with a probability of at least 1 - DELTA",
       "ALPHA,DELTA"},
      {"guarantee", 0, 0, G_OPTION_ARG_STRING_ARRAY, &asked.guarantees,
       "find the largest coverage (up to --coverage) at which npv or ppv of the accepted is at "
       "least LEVEL, or false_negative_rate, error_rate or brier at most, each with a probability "
       "of at least 1 - DELTA; again for several. error_rate:LEVEL, brier:LEVEL: in expectation",
       "MEASURE:LEVEL:DELTA"},
      {"positive-from", 0, 0, G_OPTION_ARG_STRING, &asked.positive,
       "of --guarantee: risks from here on are called positive (0.5)", "RISK"},
      {"use", 0, 0, G_OPTION_ARG_STRING, &asked.use,
       "make the threshold tuned for that coverage current again", "X"},
      {"hold-back-across", 0, 0, G_OPTION_ARG_STRING, &asked.across,
       "refuse scans too whose 95 % risk interval holds this decision threshold", "RISK"},
      {"horizons", 0, 0, G_OPTION_ARG_STRING, &asked.horizons,
       "these selectors of a family, SELECTOR-1y to SELECTOR-6y (all; 1-6, or 1,3,6)", "YEARS"},
      {"reason", 0, 0, G_OPTION_ARG_STRING, &asked.reason,
       "why this coverage, kept with user and time", "TEXT"},
      {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &arguments, error) ||
      !demur_command_expect(arguments, 1, "tune takes the name of one selector", error))
    return FALSE;
  if (asked.use != NULL)
    return use(context, arguments[0], &asked, error);
  DemurTuneParams params = {.selector = arguments[0]};
  if (!take(&asked, &params, error))
    return FALSE;
  DemurHorizons horizons;
  if (!(asked.horizons != NULL
            ? demur_horizons_parse(asked.horizons, &horizons, error)
            : demur_horizons_of_family(&context->task, arguments[0], &horizons, error)))
    return FALSE;
  if (horizons.n > 0)
    return tune_horizons(context, &params, &horizons, error);
  g_autoptr(DemurTuned) tuned = demur_task_tune(&context->task, &params, error);
  if (tuned == NULL)
    return FALSE;
  if (context->json)
    print_json(context, tuned);
  else
    print_text(tuned);
  return TRUE;
}

const DemurCommand demur_command_tune = {.name = "tune",
                                         .parameters = "SELECTOR --cohort C --coverage X[,X..]",
                                         .summary = "tune a selector to a coverage or a risk",
                                         .run = run};
