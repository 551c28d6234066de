/* demur ablate SELECTOR --cohort C: the selector without each of its parts, in one table. */
#include "app/cli/command.h"
#include "app/cli/numbers.h"
#include "base/error.h"
#include "tasks/ablate.h"

#define WIDTH 48 /* of a difference in words */

/* "-0.0016 (-0.0059 to +0.0031) no difference shown"; owned. */
static char *
difference_words(double difference, double low, double high, DemurComparisonVerdict verdict) {
  g_autofree char *number = demur_cli_with_interval(difference, low, high, 4, TRUE);
  return g_strdup_printf("%s %s", number, demur_comparison_verdict_words(verdict));
}

static void
print_errors(const char *title, const double *values) {
  g_autofree char *error = demur_cli_number(values[DEMUR_COMPARED_SBCE2], 4, FALSE),
                  *site = demur_cli_number(values[DEMUR_COMPARED_SITE_ERROR], 4, FALSE);
  g_print("  %-32s %7s %7s", title, error, site);
}

static void
print_row(const DemurAblationRow *row) {
  const guint k = DEMUR_COMPARED_SBCE2;
  g_autofree char *whole = row->ablated == DEMUR_ABLATED_NOTHING
                               ? g_strdup("")
                               : difference_words(row->whole[k].difference, row->whole[k].low,
                                                  row->whole[k].high, row->whole[k].verdict);
  g_autofree char *confidence =
      difference_words(row->confidence[k].difference, row->confidence[k].low,
                       row->confidence[k].high, row->confidence[k].verdict);
  print_errors(demur_ablated_title(row->ablated), row->values);
  g_print("  %-*s  %s\n", WIDTH, whole, confidence);
}

static void
print_table(const char *name, const DemurAblation *ablation) {
  const DemurEvaluation *e = ablation->evaluation;
  g_print("Selector '%s'%s on %zu scans at %zu %s of split %s%s, seed %" G_GUINT64_FORMAT "\n",
          name, e->simulated ? " (simulated data)" : "", e->n_scans, e->n_sites,
          e->n_sites == 1 ? "site" : "sites", e->split, e->in_sample ? ", IN-SAMPLE" : "", e->seed);
  g_print("Calibration error and site error over coverage; differences of the calibration error, "
          "below 0 is better, with 95 %% intervals by resampling %ss; verdicts are corrected for "
          "their number\n",
          demur_unit_name(ablation->unit));
  g_print("  %-32s %7s %7s  %-*s  %s\n", "", "error", "site", WIDTH, "against the whole selector",
          "against plain confidence");
  for (size_t r = 0; r < ablation->n_rows; r++)
    print_row(&ablation->rows[r]);
  print_errors("plain confidence", ablation->confidence);
  g_print("\n");
}

static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  g_autofree char *cohort = NULL, *split = NULL, *parts = NULL, *n_bootstrap = NULL;
  gboolean in_sample = FALSE;
  g_auto(GStrv) arguments = NULL;
  const GOptionEntry entries[] = {
      {"cohort", 'c', 0, G_OPTION_ARG_STRING, &cohort, "cohort that trained the selector", "C"},
      {"split", 0, 0, G_OPTION_ARG_STRING, &split, "measured on this split (test)", "SPLIT"},
      {"without", 0, 0, G_OPTION_ARG_STRING, &parts,
       "leave out these alone, commas between: without_confidence, without_class, "
       "without_outlier, without_corrector, without_acquisition, without_perturbations, "
       "per_example, without_worst, paper_target, one_network (all that it has)",
       "PARTS"},
      {"bootstrap", 0, 0, G_OPTION_ARG_STRING, &n_bootstrap, "replicates for intervals (1000)",
       "N"},
      {"in-sample", 0, 0, G_OPTION_ARG_NONE, &in_sample,
       "allow scans of patients that made the selector; printed", NULL},
      {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &arguments, error) ||
      !demur_command_expect(arguments, 1, "ablate takes the name of one selector", error))
    return FALSE;
  if (cohort == NULL) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE, "ablate needs --cohort C");
    return FALSE;
  }
  const DemurAblateParams params = {arguments[0], cohort, split, parts, n_bootstrap, in_sample};
  g_autoptr(DemurAblation) ablation = demur_task_ablate(&context->task, &params, error);
  if (ablation == NULL)
    return FALSE;
  if (context->json) {
    DemurJson *json = demur_json_new();
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "selector", arguments[0]);
    demur_ablation_write_json(ablation, json);
    demur_json_end_object(json);
    demur_context_print_json(context, json);
    return TRUE;
  }
  print_table(arguments[0], ablation);
  return TRUE;
}

const DemurCommand demur_command_ablate = {
    .name = "ablate",
    .parameters = "SELECTOR --cohort C",
    .summary = "what is each part of a selector worth? left out in turn",
    .description = "Trains once a part with the selector's own settings and seed, without "
                   "that part: a group of features, or a component of the training. "
                   "Nothing is kept.",
    .run = run};
