/* demur accept plan SELECTOR --cohort C --site S: whom to label before a selector is used at a
 * site; demur accept run SELECTOR FILE: whether what it shows there is calibrated. */
#include <math.h>
#include <string.h>

#include "app/cli/counted.h"
#include "app/cli/command.h"
#include "app/cli/noticed.h"
#include "app/cli/numbers.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/file-output.h"
#include "base/number.h"
#include "tasks/accept.h"

/* "0.8,1.25" */
static void
print_plan_json(DemurContext *context, const DemurAcceptPlanParams *params,
                const DemurAcceptPlanned *planned) {
  const DemurAcceptanceDocument *d = planned->document;
  const double share[] = {planned->share_low, planned->share_high};
  const double range[] = {d->plan->settings.low, d->plan->settings.high};
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "selector", params->selector);
  demur_json_string(json, "cohort", params->cohort);
  demur_json_string(json, "site", planned->site);
  demur_json_bool(json, "simulated", planned->simulated);
  demur_json_int(json, "seed", (gint64)d->seed);
  demur_json_string(json, "plan_digest", planned->digest);
  demur_json_doubles(json, "range", range, 2);
  demur_json_double(json, "alpha", d->plan->settings.alpha);
  demur_json_double(json, "alpha_of_all_plans", d->alpha_of_all);
  demur_accept_before_write(json, &planned->before);
  demur_json_int(json, "n_left_out", (gint64)planned->n_left_out);
  demur_json_double(json, "power_wanted", d->plan->settings.power);
  demur_json_int(json, "n_patients", (gint64)d->n_patients);
  demur_json_int(json, "n_shown", (gint64)d->n_shown);
  demur_json_double(json, "requested_coverage", d->coverage);
  demur_json_double(json, "coverage", (double)d->n_shown / (double)d->n_patients);
  demur_json_doubles(json, "coverage_interval", share, 2);
  if (d->plan->n_needed > 0)
    demur_json_int(json, "n_needed", (gint64)d->plan->n_needed);
  else
    demur_json_null(json, "n_needed");
  demur_json_int(json, "n_planned", (gint64)d->plan->n_chosen);
  demur_json_double(json, "power", d->plan->power);
  demur_json_begin_array(json, "scans");
  for (size_t i = 0; i < d->plan->n_chosen; i++) {
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "scan_id", d->scan_ids[i]);
    demur_json_string(json, "patient_id", d->patient_ids[i]);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_end_object(json);
  demur_context_print_json(context, json);
}

/* Earlier plans of the selector at the site, and what the chance of accepting wrongly is one over. */
static void
print_before(const DemurAcceptBefore *before, const DemurAcceptanceDocument *d,
             void (*say)(const char *format, ...)) {
  for (guint i = 0; i < before->plans->len; i++) {
    const DemurAcceptEarlier *e = before->plans->pdata[i];
    say("Earlier plan %.12s of %s (as '%s', range %g to %g): %zu label%s, answer: %s.\n", e->digest,
        e->created, e->selector, e->low, e->high, e->n_labels, demur_cli_s(e->n_labels), e->answer);
    if (e->unsure)
      say("Its selector is damaged or gone and nothing tells whether it was this one: it is counted as if "
          "it was.\n");
  }
  if (before->plans->len > 0)
    say("A site outside the range is accepted by any of these %u plans with probability %g at "
        "most, by this one alone with %.3g.\n",
        before->plans->len + 1, d->alpha_of_all, d->plan->settings.alpha);
}

/* For people: by g_print, or by g_printerr where the table has standard output. */
static void
print_plan(const DemurAcceptPlanned *planned, void (*say)(const char *format, ...)) {
  const DemurAcceptanceDocument *d = planned->document;
  const DemurAcceptancePlan *plan = d->plan;
  say("Site '%s'%s: %zu of %zu patients have a risk that is shown (%.3f, 95 %% interval %.3f "
      "to %.3f; asked for %g).\n",
      planned->site, planned->simulated ? " (simulated data)" : "", d->n_shown, d->n_patients,
      (double)d->n_shown / (double)d->n_patients, planned->share_low, planned->share_high,
      d->coverage);
  if (plan->n_needed > 0)
    say("To show that observed over expected lies between %g and %g, %zu labels suffice with "
        "probability %g if it is 1 (half the time %zu).\n",
        plan->settings.low, plan->settings.high, plan->n_needed, plan->settings.power,
        plan->n_usual);
  else
    say("To show that observed over expected lies between %g and %g takes more than %d labels: "
        "choose a wider range.\n",
        plan->settings.low, plan->settings.high, DEMUR_ACCEPTANCE_MOST);
  say("%zu patients are in the table; with all their labels the probability is %.2f.\n",
      plan->n_chosen, plan->power);
  if (plan->power < plan->settings.power)
    say("That is less than %g: even a calibrated site ends without an answer with probability %.2f. "
        "Before a label is seen, import more patients of the site or agree on a wider range "
        "(--range), and plan anew.\n",
        plan->settings.power, 1.0 - plan->power);
  if (planned->n_left_out > 0)
    say("Left out: %zu patient%s whom an earlier plan could have drawn or whose labels made an "
        "audit.\n",
        planned->n_left_out, demur_cli_s(planned->n_left_out));
  print_before(&planned->before, d, say);
  say("Label from the top, 0 or 1, as far as you like, and look as often as you like: `demur "
      "accept run`.\n"
      "Plan %.12s. For research use, not a cleared device.\n",
      planned->digest);
}

static gboolean
run_plan(DemurContext *context, int argc, char **argv, GError **error) {
  g_autofree char *cohort = NULL, *site = NULL, *split = NULL, *output = NULL, *coverage = NULL,
                  *range = NULL;
  DemurAcceptanceSettings settings = {0.8, 1.25, 0.05, 0.8};
  g_auto(GStrv) arguments = NULL;
  const GOptionEntry entries[] = {
      {"cohort", 'c', 0, G_OPTION_ARG_STRING, &cohort, "cohort with the site's scans", "C"},
      {"site", 0, 0, G_OPTION_ARG_STRING, &site, "the site", "S"},
      {"split", 0, 0, G_OPTION_ARG_STRING, &split, "only scans of this split (any)", "SPLIT"},
      {"coverage", 0, 0, G_OPTION_ARG_STRING, &coverage,
       "accept what is shown at this tuned coverage (the one in use)", "X"},
      {"range", 0, 0, G_OPTION_ARG_STRING, &range,
       "agreed range of observed over expected (0.8,1.25)", "LOW,HIGH"},
      {"alpha", 0, 0, G_OPTION_ARG_DOUBLE, &settings.alpha,
       "most probability of accepting a site outside the range, over all plans of the selector there (0.05)",
       "A"},
      {"power", 0, 0, G_OPTION_ARG_DOUBLE, &settings.power,
       "probability of accepting a calibrated site (0.8)", "P"},
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output, "write the table there", "FILE.csv"},
      {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &arguments, error) ||
      !demur_command_expect(arguments, 1, "accept plan takes the name of one selector", error) ||
      (range != NULL && !demur_command_range(range, &settings.low, &settings.high, error)))
    return FALSE;
  if (cohort == NULL || site == NULL) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "accept plan needs --cohort C and --site S");
    return FALSE;
  }
  if (output != NULL && !demur_file_output_check(output, DEMUR_FILE_REPLACE, error))
    return FALSE;
  if (output != NULL)
    demur_context_take_stdout(output);
  const DemurAcceptPlanParams params = {arguments[0], cohort,   site,  split,
                                        coverage,     settings, output};
  g_autoptr(DemurAcceptPlanned) planned = demur_task_accept_plan(&context->task, &params, error);
  if (planned == NULL)
    return FALSE;
  if (context->json) {
    print_plan_json(context, &params, planned);
  } else if (output == NULL) {
    g_autofree char *table = demur_accept_planned_table(planned);
    g_print("%s", table);
    print_plan(planned, g_printerr);
  } else {
    print_plan(planned, g_print);
  }
  for (guint i = 0; i < planned->warnings->len; i++) {
    g_autofree char *words = demur_task_warning_words(planned->warnings->pdata[i], NULL);
    g_printerr("Note: %s.\n", words);
  }
  return TRUE;
}

/* Nothing where it is not known. */
static void
print_interval(const char *name, double value, double low, double high) {
  g_autofree char *number = demur_cli_with_interval(value, low, high, 3, FALSE);
  if (isfinite(value))
    g_print("  %-34s %s\n", name, number);
}

static void
print_numbers(const DemurAcceptance *a) {
  if (isfinite(a->ratio)) {
    g_print("  %-34s %.3f (%.3f to ", "observed over expected", a->ratio, a->ratio_low);
    if (isfinite(a->ratio_high))
      g_print("%.3f), 95 %% at all looks together\n", a->ratio_high);
    else
      g_print("no bound), 95 %% at all looks together\n");
  }
  print_interval("calibration intercept, this look", a->intercept, a->intercept_low,
                 a->intercept_high);
  print_interval("AUROC, this look", a->auroc, a->auroc_low, a->auroc_high);
}

/* What more labels may bring, and what to do where they bring nothing. */
static void
print_outlook(const DemurAcceptance *a, const DemurAcceptancePlan *plan, const char *site) {
  const size_t n_left = plan->n_chosen - a->n_labels;
  switch (demur_acceptance_outlook(a->n_labels, a->n_events, a->n_more, a->ratio, n_left,
                                   plan->settings.low, plan->settings.high)) {
  case DEMUR_ACCEPTANCE_TOO_FEW:
    g_print(
        "not yet; fewer than %d labels with, or without, the outcome say nothing of how many more it "
        "takes.\n",
        DEMUR_SMALL_CELL);
    break;
  case DEMUR_ACCEPTANCE_IN_SIGHT:
    g_print("not yet; about %zu label%s more.\n", a->n_more, demur_cli_s(a->n_more));
    break;
  case DEMUR_ACCEPTANCE_BEYOND_PLAN:
    if (a->n_more > 0)
      g_print("not yet; it takes about %zu label%s more", a->n_more, demur_cli_s(a->n_more));
    else
      g_print("not yet; it takes more than %d labels", DEMUR_ACCEPTANCE_MOST);
    g_print(
        " if observed over expected stays as it is so far, and this plan has %zu left: it may end "
        "without an answer. A wider range (--range) or more patients of site '%s' need a new "
        "plan, made before their labels are seen.\n",
        n_left, site);
    break;
  case DEMUR_ACCEPTANCE_OUTSIDE:
    g_print(
        "not yet; observed over expected is not shown to lie in %g to %g, and at what it is so far "
        "(%.3f) more labels won't show it: recalibrate at site '%s' (`demur audit`), then plan "
        "anew.\n",
        plan->settings.low, plan->settings.high, a->ratio, site);
    break;
  }
}

static void
print_changes(const DemurAccepted *accepted) {
  const DemurAcceptChanges *c = &accepted->changes;
  if (c->first == NULL)
    return;
  g_print(
      "LABELS CHANGED between looks: %zu %s another label than an earlier look had, %zu %s none any "
      "more (first: scan '%s'). The probability of %g at most is of labels that stay what they "
      "are: say why they changed.\n",
      c->n_changed, c->n_changed == 1 ? "patient has" : "patients have", c->n_gone,
      c->n_gone == 1 ? "has" : "have", c->first, accepted->document->alpha_of_all);
}

static void
print_answer(const DemurAccepted *accepted) {
  const DemurAcceptance *a = &accepted->acceptance;
  const DemurAcceptancePlan *plan = accepted->document->plan;
  g_print("Site '%s'%s: ", accepted->site, accepted->simulated ? " (simulated data)" : "");
  if (accepted->answer == DEMUR_ACCEPTANCE_ACCEPTED)
    g_print("accepted. Observed over expected lies between %g and %g.\n", plan->settings.low,
            plan->settings.high);
  else if (!accepted->coverage_kept)
    g_print("not accepted. Fewer risks are shown than promised: %.3f (%.3f to %.3f) for %g.\n",
            accepted->share, accepted->share_low, accepted->share_high,
            accepted->document->coverage);
  else if (accepted->answer == DEMUR_ACCEPTANCE_NOT_ACCEPTED)
    g_print("not accepted. Observed over expected lies outside %g to %g.\n", plan->settings.low,
            plan->settings.high);
  else
    print_outlook(a, plan, accepted->site);
  g_print("  %zu label%s, %zu with the outcome, of %zu planned\n", a->n_labels,
          demur_cli_s(a->n_labels), a->n_events, plan->n_chosen);
  print_numbers(a);
  if (accepted->document->intercept != 0.0) {
    g_print("Without the site audit's intercept (%.3f):\n", accepted->document->intercept);
    print_numbers(&accepted->unaudited);
  }
  if (accepted->n_later > 0)
    g_print(
        accepted->n_later == 1
            ? "%zu label stands behind the first patient without one and was not looked at: label "
              "from the top.\n"
            : "%zu labels stand behind the first patient without one and were not looked at: label "
              "from the top.\n",
        accepted->n_later);
  print_changes(accepted);
  print_before(&accepted->before, accepted->document, g_print);
  g_print("Plan %.12s of %s. For research use, not a cleared device.\n", accepted->plan_digest,
          accepted->planned);
}

static gboolean
run_run(DemurContext *context, int argc, char **argv, GError **error) {
  g_auto(GStrv) arguments = NULL;
  g_autofree char *columns = NULL;
  const GOptionEntry entries[] = {
      {"columns", 0, 0, G_OPTION_ARG_FILENAME, &columns,
       "a table with the columns column and means: other names for columns", "FILE"},
      {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &arguments, error) ||
      !demur_command_expect(arguments, 2, "accept run takes the name of a selector and a table",
                            error))
    return FALSE;
  g_autoptr(DemurAccepted) accepted =
      demur_task_accept_run(&context->task, arguments[0], arguments[1], columns, error);
  if (accepted == NULL)
    return FALSE;
  if (context->json) {
    DemurJson *json = demur_accepted_json(accepted);
    demur_noticed_write(json, accepted->noticed);
    demur_json_end_object(json);
    demur_context_print_json(context, json);
  } else {
    print_answer(accepted);
    demur_noticed_print(accepted->noticed);
  }
  return TRUE;
}

static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  static const DemurCommand commands[] = {
      {.name = "plan",
       .parameters = "SELECTOR --cohort C --site S",
       .summary = "say how many labels a site needs, and whose",
       .description =
           "Before a selector is used at a site: how many labelled patients show that observed over "
           "expected outcomes of the shown risks lie in the agreed range, and which. The plan is "
           "kept before a label is seen. Fill the column label from the top with 0 or 1 and give "
           "the table to `demur accept run`, after as many labels and as often as you like.",
       .run = run_plan},
      {.name = "run",
       .parameters = "SELECTOR FILE",
       .summary = "answer from a site's labels",
       .description =
           "Reads the table of `demur accept plan` with labels filled in from the top and answers "
           "accepted, not accepted, or how many more. The intervals hold at every look: looking "
           "early costs nothing. The answer is kept.",
       .run = run_run}};
  return demur_command_dispatch(context, commands, G_N_ELEMENTS(commands), argc, argv, error);
}

const DemurCommand demur_command_accept = {
    .name = "accept", .summary = "test a selector at a site before its use", .run = run};
