/* demur federate start/answer/merge/show: a study at hospitals that may not share scans. */
#include <math.h>
#include <string.h>

#include "app/cli/command.h"
#include "app/cli/counted.h"
#include "app/cli/replace-options.h"
#include "base/error.h"
#include "base/number.h"
#include "tasks/federate-install.h"
#include "tasks/federate.h"
#include "words/federated-words.h"

/* Names of a list without the blanks around them, to NULL (owned). */
static char **
names_of(const char *text) {
  char **names = g_strsplit(text, ",", -1);
  for (char **name = names; *name != NULL; name++)
    g_strstrip(*name);
  return names;
}

static void
write_round(const DemurFederateRound *round, gboolean simulated, DemurJson *json) {
  demur_json_string(json, "study", demur_federate_study_name(round->study));
  demur_json_string(json, "kind", demur_recalibration_name(round->kind));
  demur_json_int(json, "round", (gint64)round->number);
  demur_json_string(json, "digest", round->digest);
  demur_json_string(json, "first", demur_federate_round_identity(round));
  demur_json_string(json, "selector", round->selector);
  demur_json_begin_array(json, "sites");
  for (char **site = round->sites; *site != NULL; site++)
    demur_json_string(json, NULL, *site);
  demur_json_end_array(json);
  demur_json_bool(json, "simulated", simulated);
  if (round->newton != NULL)
    demur_json_doubles(json, "asked_at", round->newton->at, round->newton->m);
  demur_json_doubles(json, "thresholds", round->thresholds, round->n_thresholds);
  demur_json_doubles(json, "edges", round->edges, round->n_edges);
}

static void
print_round(const DemurFederateRound *round) {
  g_autofree char *sites = g_strjoinv(", ", round->sites);
  g_print("Round %zu of a study of %s (%.12s..), selector %.12s.., asks %s for sums%s%s\n",
          round->number, demur_federate_study_name(round->study),
          demur_federate_round_identity(round), round->selector, sites,
          round->simulated ? " (of simulated data so far)" : "",
          round->newton != NULL ? " at:" : "");
  for (size_t c = 0; round->newton != NULL && c < round->newton->m; c++)
    g_print("  coefficient %zu  %.9g\n", c, round->newton->at[c]);
  for (size_t t = 0; t < round->n_thresholds; t++)
    g_print("  score from %.9g on\n", round->thresholds[t]);
  for (size_t e = 0; e < round->n_edges; e++)
    g_print("  risk below %.9g\n", round->edges[e]);
}

static void
write_answer(const DemurFederateRound *round, const DemurFederateAnswer *answer, DemurJson *json) {
  demur_json_string(json, "site", answer->site);
  demur_json_bool(json, "withheld", answer->withheld);
  demur_json_int(json, "n", (gint64)answer->n);
  demur_json_begin_array(json, "leaves");
  for (size_t i = 0; i < answer->n_sums; i++) {
    g_autofree char *name = demur_federate_sum_name(round, i);
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "name", name);
    demur_json_double(json, "value", answer->sums[i]);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_begin_array(json, "groups");
  for (size_t g = 0; g < answer->n_groups; g++) {
    const DemurFederateGroup *group = &answer->groups[g];
    demur_json_begin_object(json, NULL);
    demur_json_begin_array(json, "cells");
    for (size_t c = 0; c < group->n_cells; c++)
      demur_json_int(json, NULL, group->cells[c]);
    demur_json_end_array(json);
    demur_json_double(json, "n", group->n);
    demur_json_double(json, "observed", group->positives);
    demur_json_double(json, "expected", group->risks);
    demur_json_double(json, "squares", group->squares);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}

/* Which scans are in it: bands of score and bins of risk by their ends; what was put together as it held few. */
static char *
words_of_cells(const DemurFederateRound *round, const DemurFederateGroup *group) {
  GString *words = g_string_new(NULL);
  for (size_t c = 0; c < group->n_cells; c++) {
    const size_t band = group->cells[c] / (round->n_edges + 1),
                 bin = group->cells[c] % (round->n_edges + 1);
    g_string_append(words, c > 0 ? " with " : "");
    if (round->n_thresholds == 0)
      g_string_append(words, "every score");
    else if (band == 0)
      g_string_append_printf(words, "score from %g", round->thresholds[0]);
    else if (band == round->n_thresholds)
      g_string_append_printf(words, "score below %g", round->thresholds[band - 1]);
    else
      g_string_append_printf(words, "score %g to %g", round->thresholds[band],
                             round->thresholds[band - 1]);
    g_string_append_printf(words, " risk %g to %g", bin > 0 ? round->edges[bin - 1] : 0.0,
                           bin < round->n_edges ? round->edges[bin] : 1.0);
  }
  return g_string_free(words, FALSE);
}

static void
print_answer(const DemurFederateRound *round, const DemurFederateAnswer *answer) {
  if (answer->withheld) {
    g_print("  nothing: a label has scans of fewer patients than may be told of\n");
    return;
  }
  g_print("  %-24s %zu\n", "scans", answer->n);
  for (size_t i = 0; i < answer->n_sums; i++) {
    g_autofree char *name = demur_federate_sum_name(round, i);
    g_print("  %-24s %.17g\n", name, answer->sums[i]);
  }
  for (size_t g = 0; g < answer->n_groups; g++) {
    const DemurFederateGroup *group = &answer->groups[g];
    g_autofree char *cells = words_of_cells(round, group);
    g_print("  %s: %.0f scans, %.0f with the outcome, risks %.17g, squares %.17g\n", cells,
            group->n, group->positives, group->risks, group->squares);
  }
}

/* ---- start ---- */

static gboolean
run_start(DemurContext *context, int argc, char **argv, GError **error) {
  g_autofree char *study = NULL, *kind = NULL, *selector = NULL, *sites = NULL, *leave_out = NULL,
                  *thresholds = NULL, *edges = NULL;
  g_autofree char *lambda = NULL;
  g_auto(GStrv) arguments = NULL;
  const GOptionEntry entries[] = {
      {"study", 0, 0, G_OPTION_ARG_STRING, &study, "recalibration, corrector, audit or evaluation",
       "STUDY"},
      {"kind", 0, 0, G_OPTION_ARG_STRING, &kind,
       "of a recalibration: platt, intercept or temperature (platt)", "KIND"},
      {"selector", 0, 0, G_OPTION_ARG_STRING, &selector, "the selector that every site has", "S"},
      {"sites", 0, 0, G_OPTION_ARG_STRING, &sites, "names of those who answer", "A,B,.."},
      {"lambda", 0, 0, G_OPTION_ARG_STRING, &lambda,
       "of a corrector: its penalty (the selector's corrector's)", "X"},
      {"leave-out", 0, 0, G_OPTION_ARG_STRING, &leave_out,
       "of a corrector: columns that are not asked of", "N,.."},
      {"thresholds", 0, 0, G_OPTION_ARG_STRING, &thresholds,
       "of an evaluation: scores from which on is accepted, or none (those it is tuned to)",
       "X,.."},
      {"edges", 0, 0, G_OPTION_ARG_STRING, &edges,
       "of an evaluation: where bins of risk end (0.01,0.02,0.05,0.1,0.2,0.5)", "X,.."},
      {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &arguments, error) ||
      !demur_command_expect(arguments, 1, "federate start takes the file of the round", error))
    return FALSE;
  if (study == NULL || selector == NULL || sites == NULL) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "federate start needs --study STUDY, --selector S and --sites A,B,..");
    return FALSE;
  }
  DemurFederateStartParams params = {.kind = DEMUR_RECALIBRATION_PLATT,
                                     .selector = selector,
                                     .lambda = NAN,
                                     .leave_out = leave_out,
                                     .thresholds =
                                         g_strcmp0(thresholds, "none") == 0 ? "" : thresholds,
                                     .edges = edges,
                                     .output = arguments[0]};
  if (lambda != NULL && !demur_number_parse(lambda, strlen(lambda), &params.lambda)) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE, "--lambda takes a finite number, not '%s'",
                lambda);
    return FALSE;
  }
  if (!demur_federate_study_from_name(study, &params.study, error) ||
      (kind != NULL && !demur_recalibration_from_name(kind, &params.kind, error)))
    return FALSE;
  const DemurOptionGiven of_recalibration[] = {{"--kind", kind != NULL}},
                         of_corrector[] = {{"--lambda", lambda != NULL},
                                           {"--leave-out", leave_out != NULL}},
                         of_evaluation[] = {{"--thresholds", thresholds != NULL},
                                            {"--edges", edges != NULL}};
  if ((params.study != DEMUR_FEDERATE_RECALIBRATION &&
       !demur_command_refuse_without("--study recalibration", of_recalibration, 1, error)) ||
      (params.study != DEMUR_FEDERATE_CORRECTOR &&
       !demur_command_refuse_without("--study corrector", of_corrector, 2, error)) ||
      (params.study != DEMUR_FEDERATE_EVALUATION &&
       !demur_command_refuse_without("--study evaluation", of_evaluation, 2, error)))
    return FALSE;
  g_auto(GStrv) names = names_of(sites);
  params.sites = names;
  demur_context_take_stdout(params.output);
  g_autoptr(DemurFederateRound) round = demur_task_federate_start(&context->task, &params, error);
  if (round == NULL)
    return FALSE;
  if (!context->json) {
    print_round(round);
    return TRUE;
  }
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  write_round(round, round->simulated, json);
  demur_json_end_object(json);
  demur_context_print_json(context, json);
  return TRUE;
}

/* ---- answer ---- */

static void
print_answered(DemurContext *context, const DemurFederateAnswered *answered, const char *output) {
  if (context->json) {
    DemurJson *json = demur_json_new();
    demur_json_begin_object(json, NULL);
    write_round(answered->round, answered->answer->simulated, json);
    write_answer(answered->round, answered->answer, json);
    demur_json_string(json, "selector_name", answered->selector);
    demur_json_int(json, "n_seen", (gint64)answered->n_seen);
    demur_json_bool(json, "told_before", answered->known && !answered->answer->withheld);
    demur_json_string(json, "output", output);
    demur_json_string(json, "ledger", output != NULL ? answered->ledger : NULL);
    demur_json_end_object(json);
    demur_context_print_json(context, json);
    return;
  }
  g_print("%s of site '%s'%s:\n", output != NULL ? "This leaves" : "This would leave",
          answered->answer->site, answered->answer->simulated ? " (simulated data)" : "");
  print_answer(answered->round, answered->answer);
  if (answered->n_seen > 0)
    g_print("Without %zu scan%s of patients that made the selector.\n", answered->n_seen,
            demur_cli_s(answered->n_seen));
  if (answered->known && !answered->answer->withheld)
    g_print("The same was told before.\n");
  if (output == NULL)
    g_print("Nothing is written; --output FILE writes it.\n");
  else
    g_print("Written to %s; what was told is kept in %s.\n", output, answered->ledger);
}

static gboolean
run_answer(DemurContext *context, int argc, char **argv, GError **error) {
  g_autofree char *site = NULL, *cohort = NULL, *split = NULL, *ledger = NULL, *output = NULL;
  g_auto(GStrv) arguments = NULL;
  const GOptionEntry entries[] = {
      {"as", 0, 0, G_OPTION_ARG_STRING, &site, "the site that answers", "SITE"},
      {"cohort", 'c', 0, G_OPTION_ARG_STRING, &cohort, "cohort with its scans", "C"},
      {"split", 0, 0, G_OPTION_ARG_STRING, &split, "scans of this split (test)", "SPLIT"},
      {"ledger", 0, 0, G_OPTION_ARG_FILENAME, &ledger,
       "what was told so far (the workspace's name with .federate)", "FILE"},
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output,
       "write the answer there; without it only what would leave is shown", "FILE"},
      {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &arguments, error) ||
      !demur_command_expect(arguments, 1, "federate answer takes the file of a round", error))
    return FALSE;
  if (site == NULL || cohort == NULL) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "federate answer needs --as SITE and --cohort C");
    return FALSE;
  }
  if (output != NULL)
    demur_context_take_stdout(output);
  const DemurFederateAnswerParams params = {arguments[0], site, cohort, split, ledger, output};
  g_autoptr(DemurFederateAnswered) answered =
      demur_task_federate_answer(&context->task, &params, error);
  if (answered == NULL)
    return FALSE;
  print_answered(context, answered, output);
  return TRUE;
}

/* ---- merge ---- */

static void
print_points(const DemurFederateResult *result) {
  for (size_t t = 0; t < result->n_points; t++) {
    const DemurFederatePoint *point = &result->points[t];
    if (isfinite(point->threshold))
      g_print("  score from %.6g on: ", point->threshold);
    else
      g_print("  everything: ");
    if (!point->told) {
      g_print("withheld, for some site has too few scans on one side\n");
      continue;
    }
    g_print("coverage %.4f, %.0f of %.1f expected outcomes (O:E %.3f), S-BCE_2 %.4f over %zu "
            "bin%s, Brier %.4f\n",
            point->coverage, point->positives, point->expected, point->oe_ratio, point->sbce2,
            point->n_bins, demur_cli_s(point->n_bins), point->brier);
  }
}

static void
print_result(const DemurFederateResult *result) {
  g_autofree char *sites = g_strjoinv(", ", result->sites);
  g_print("Study of %s, %.0f scans of %s, in %zu round%s%s:\n",
          demur_federate_study_name(result->study), result->n, sites, result->n_rounds,
          demur_cli_s(result->n_rounds), result->simulated ? " (simulated data)" : "");
  if (result->ending != DEMUR_NEWTON_CONVERGED)
    g_print("  The steps did not end where they should (%s): the fit of pooled scans may be "
            "elsewhere.\n",
            demur_newton_ending_name(result->ending));
  switch (result->study) {
  case DEMUR_FEDERATE_RECALIBRATION:
    g_print("  logit risk x %.9g %+.9g\n", result->slope, result->intercept);
    break;
  case DEMUR_FEDERATE_CORRECTOR:
    g_print("  intercept %.9g, %zu weights at lambda %g (in the file)\n", result->intercept,
            result->n_weights, result->lambda);
    break;
  case DEMUR_FEDERATE_AUDIT:
    g_print("  outcomes differ from risks by %+.6f on average (z %+.2f)\n  intercept of these "
            "sites %+.4f (%+.4f to %+.4f), tau^2 %.4f\n",
            result->difference, result->z, result->sites_differ.mean, result->sites_differ.low,
            result->sites_differ.high, result->sites_differ.tau2);
    break;
  case DEMUR_FEDERATE_EVALUATION:
  case DEMUR_N_FEDERATE_STUDIES:
    print_points(result);
    break;
  }
  g_print("For research use, not a cleared device.\n");
}

static gboolean
run_merge(DemurContext *context, int argc, char **argv, GError **error) {
  g_autofree char *without = NULL, *output = NULL;
  g_auto(GStrv) arguments = NULL;
  const GOptionEntry entries[] = {
      {"without", 0, 0, G_OPTION_ARG_STRING, &without, "go on without these sites", "A,B,.."},
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output, "the next round, or the result", "FILE"},
      {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &arguments, error))
    return FALSE;
  if (g_strv_length(arguments) < 2 || output == NULL) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "federate merge takes ROUND ANSWER.. and --output FILE");
    return FALSE;
  }
  demur_context_take_stdout(output);
  g_auto(GStrv) names = without != NULL ? names_of(without) : NULL;
  const DemurFederateMergeParams params = {arguments[0], output, arguments + 1, names};
  g_autoptr(DemurFederateMerged) merged = demur_task_federate_merge(&params, error);
  if (merged == NULL)
    return FALSE;
  if (context->json) {
    DemurJson *json = demur_json_new();
    demur_json_begin_object(json, NULL);
    demur_json_bool(json, "done", merged->result != NULL);
    demur_json_string(json, "output", output);
    if (merged->next != NULL)
      write_round(merged->next, merged->next->simulated, json);
    else
      demur_json_bool(json, "simulated", merged->result->simulated);
    demur_json_end_object(json);
    demur_context_print_json(context, json);
  } else if (merged->next != NULL) {
    print_round(merged->next);
  } else {
    print_result(merged->result);
  }
  return TRUE;
}

/* ---- install ---- */

static gboolean
run_install(DemurContext *context, int argc, char **argv, GError **error) {
  gboolean replace = FALSE, force = FALSE;
  g_auto(GStrv) arguments = NULL;
  const GOptionEntry entries[] = {
      {"replace", 0, 0, G_OPTION_ARG_NONE, &replace, "replace a selector of that name", NULL},
      {"force", 0, 0, G_OPTION_ARG_NONE, &force,
       "with --replace: even where it has thresholds, site audits or acceptance tests, which end",
       NULL},
      {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &arguments, error) ||
      !demur_command_expect(arguments, 2, "federate install takes RESULT SELECTOR", error))
    return FALSE;
  DemurSelectorReplace may;
  if (!demur_cli_may_replace(replace, force, &may, error))
    return FALSE;
  const DemurFederateInstallParams params = {arguments[0], arguments[1], may};
  g_autoptr(DemurFederateInstalled) installed =
      demur_task_federate_install(&context->task, &params, error);
  if (installed == NULL)
    return FALSE;
  const DemurSelector *selector = installed->selector;
  if (context->json) {
    DemurJson *json = demur_json_new();
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "installed", arguments[1]);
    demur_json_string(json, "digest", demur_selector_digest(selector));
    demur_json_string(json, "from", installed->from);
    demur_json_string(json, "from_digest", installed->result->selector);
    demur_json_string(json, "result", installed->result_digest);
    demur_json_string(json, "study", demur_federate_study_name(installed->result->study));
    demur_json_bool(json, "simulated", demur_selector_is_simulated(selector));
    demur_json_end_object(json);
    demur_context_print_json(context, json);
    return TRUE;
  }
  g_autofree char *sentence = demur_words_federated(selector, NULL);
  g_print("Selector '%s'%s made of '%s', digest %s; it is not tuned yet\n%s\n", arguments[1],
          demur_selector_is_simulated(selector) ? " (simulated data)" : "", installed->from,
          demur_selector_digest(selector), sentence);
  return TRUE;
}

/* ---- show ---- */

static gboolean
run_show(DemurContext *context, int argc, char **argv, GError **error) {
  g_auto(GStrv) arguments = NULL;
  if (!demur_command_parse(context, argc, argv, NULL, &arguments, error))
    return FALSE;
  const guint n = g_strv_length(arguments);
  if (n < 1 || n > 2)
    return demur_command_expect(arguments, 1, "federate show takes ROUND, or ROUND ANSWER", error);
  g_autoptr(DemurFederateRound) round = NULL;
  g_autoptr(DemurFederateAnswer) answer = NULL;
  if (!demur_task_federate_read(arguments[0], n > 1 ? arguments[1] : NULL, &round, &answer, error))
    return FALSE;
  if (context->json) {
    DemurJson *json = demur_json_new();
    demur_json_begin_object(json, NULL);
    write_round(round, round->simulated || (answer != NULL && answer->simulated), json);
    if (answer != NULL)
      write_answer(round, answer, json);
    demur_json_end_object(json);
    demur_context_print_json(context, json);
    return TRUE;
  }
  print_round(round);
  if (answer != NULL) {
    g_print("'%s' answers%s:\n", answer->site, answer->simulated ? " (simulated data)" : "");
    print_answer(round, answer);
  }
  return TRUE;
}

static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  static const DemurCommand commands[] = {
      {.name = "start",
       .parameters = "FILE --study STUDY --selector S --sites A,B,..",
       .summary = "write the first round of a study",
       .description = "Every site needs the same selector: export it to a file, and import that "
                      "file everywhere, here too.",
       .run = run_start},
      {.name = "answer",
       .parameters = "ROUND --as SITE --cohort C [--output FILE]",
       .summary = "answer a round with sums of this workspace's scans",
       .description =
           "Lists every number that leaves. Sums of fewer than 10 patients of a label are "
           "withheld, and what would tell of so few beside earlier answers is refused.",
       .run = run_answer},
      {.name = "merge",
       .parameters = "ROUND ANSWER.. --output FILE",
       .summary = "put the answers together to the next round, or to the result",
       .run = run_merge},
      {.name = "install",
       .parameters = "RESULT SELECTOR",
       .summary = "take what a study came to into the selector that it is of, as another one",
       .description = "The selector is known by its digest. The new one names the study, and so do "
                      "its verdicts; it has to be tuned, on scans that did not answer.",
       .run = run_install},
      {.name = "show",
       .parameters = "ROUND [ANSWER]",
       .summary = "say what a round asks, and what an answer tells",
       .run = run_show},
  };
  return demur_command_dispatch(context, commands, G_N_ELEMENTS(commands), argc, argv, error);
}

const DemurCommand demur_command_federate = {
    .name = "federate",
    .summary = "study sites that may not share scans, by sums alone",
    .run = run};
