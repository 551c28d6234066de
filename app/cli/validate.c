/* demur validate SELECTOR --cohort C: whole sites left out in turn; the verdict is kept with the
 * selector. */
#include "app/cli/command.h"
#include "app/cli/numbers.h"
#include "app/cli/shard-options.h"
#include "base/error.h"

static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  g_autofree char *cohort_name = NULL;
  int n_folds = 5;
  gboolean site_context = FALSE;
  g_auto(GStrv) arguments = NULL;
  g_auto(DemurShardOptions) options = {0};
  const GOptionEntry entries[] = {
      {"cohort", 'c', 0, G_OPTION_ARG_STRING, &cohort_name,
       "cohort that trained the selector, or another with the same splits", "C"},
      {"folds", 0, 0, G_OPTION_ARG_INT, &n_folds, "folds of whole sites (5)", "N"},
      {"site-context", 0, 0, G_OPTION_ARG_NONE, &site_context,
       "try too whether a site's unlabelled scans tell how far its risks are off", NULL},
      DEMUR_SHARD_ENTRIES(options),
      {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &arguments, error) ||
      !demur_shard_options_check(&options, arguments, 1, "validate takes the name of one selector",
                                 error))
    return FALSE;
  if (cohort_name == NULL || n_folds < 2) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "validate needs --cohort C, and at least 2 --folds");
    return FALSE;
  }
  const DemurValidateParams params = {arguments[0], cohort_name, (size_t)n_folds, options.parts,
                                      site_context};
  if (options.part != NULL) {
    demur_context_take_stdout(options.part);
    if (!demur_task_validate_part(&context->task, &params, &options.shard, options.part, error))
      return FALSE;
    demur_shard_options_print(context, &options, arguments[0]);
    return TRUE;
  }
  g_autoptr(DemurValidation) validation = demur_task_validate(&context->task, &params, error);
  if (validation == NULL)
    return FALSE;
  if (context->json) {
    DemurJson *json = demur_json_new();
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "selector", arguments[0]);
    demur_validation_write_json(validation, json);
    demur_json_end_object(json);
    demur_context_print_json(context, json);
    return TRUE;
  }
  g_print("Selector '%s'%s: %s\n%s\n", arguments[0],
          validation->simulated ? " (simulated data)" : "",
          demur_comparison_verdict_words(validation->verdict), validation->sentence);
  for (size_t m = 0; m < G_N_ELEMENTS(validation->measures); m++) {
    const DemurValidationMeasure *measure = &validation->measures[m];
    g_autofree char *selector = demur_cli_number(measure->selector, 4, FALSE),
                    *confidence = demur_cli_number(measure->confidence, 4, FALSE),
                    *difference = demur_cli_with_interval(measure->difference, measure->low,
                                                          measure->high, 4, TRUE);
    g_print("  %-20s selector %s, confidence %s, difference %s\n",
            demur_compared_name(measure->measure, validation->n_classes), selector, confidence,
            difference);
  }
  if (validation->context != NULL) {
    g_autofree char *sentence = demur_site_context_sentence(validation->context);
    g_print("%s\n", sentence);
  }
  return TRUE;
}

const DemurCommand demur_command_validate = {
    .name = "validate",
    .parameters = "SELECTOR --cohort C [FILE…]",
    .summary = "leave whole sites out in turn: does the selector help?",
    .description = "Trains once a fold with the selector's own settings.",
    .run = run};
