/* demur shift SELECTOR --cohort C --mix COLUMN=VALUE:SHARE,..: what the selector would do with
 * another mix of sites, scanners or patients. */
#include <math.h>

#include "app/cli/counted.h"
#include "app/cli/command.h"
#include "app/cli/numbers.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/number.h"
#include "base/shown-text.h"
#include "tasks/mix-study.h"

static void
write_row(DemurJson *json, const char *name, const DemurMixRow *row) {
  const double present[] = {row->present_interval.low, row->present_interval.high},
               mix[] = {row->mix_interval.low, row->mix_interval.high},
               change[] = {row->change_interval.low, row->change_interval.high};
  demur_json_begin_object(json, name);
  demur_json_double(json, "present", row->present);
  demur_json_doubles(json, "present_interval", present, 2);
  demur_json_double(json, "mix", row->mix);
  demur_json_doubles(json, "mix_interval", mix, 2);
  demur_json_double(json, "change", row->change);
  demur_json_doubles(json, "change_interval", change, 2);
  demur_json_end_object(json);
}

static void
write_margin(DemurJson *json, const DemurMixMargin *margin) {
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "attribute", margin->by);
  demur_json_begin_array(json, "values");
  for (size_t v = 0; v < margin->n_values; v++) {
    if (margin->withheld[v])
      continue;
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "value", margin->values[v]);
    demur_json_double(json, "present", margin->present[v]);
    demur_json_double(json, "mix", margin->mix[v]);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_end_object(json);
}

static void
print_json(DemurContext *context, const DemurMixStudyParams *params, const DemurMixStudy *study) {
  const DemurMix *mix = study->mix;
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "selector", params->selector);
  demur_json_string(json, "cohort", params->cohort);
  demur_json_string(json, "split", study->split);
  demur_json_string(json, "model", study->model);
  demur_json_bool(json, "simulated", study->simulated);
  demur_json_bool(json, "audited", study->audited);
  demur_json_int(json, "seed", (gint64)context->task.seed);
  demur_json_double(json, "requested_coverage", study->coverage);
  demur_json_double(json, "threshold", study->threshold);
  demur_json_int(json, "n_scans", (gint64)mix->n_scans);
  demur_json_int(json, "n_patients", (gint64)mix->n_patients);
  demur_json_int(json, "n_sites", (gint64)mix->n_sites);
  demur_json_double(json, "n_effective", mix->n_effective);
  demur_json_double(json, "largest_weight", mix->largest_weight);
  demur_json_string(json, "resample_unit", demur_unit_name(mix->unit));
  demur_json_int(json, "n_bootstrap", (gint64)mix->n_replicates);
  demur_json_int(json, "n_bootstrap_used", (gint64)mix->n_used);
  demur_json_bool(json, "labels_withheld", mix->labels_withheld);
  demur_json_begin_array(json, "margins");
  for (size_t m = 0; m < mix->n_margins; m++)
    write_margin(json, &mix->margins[m]);
  demur_json_end_array(json);
  demur_json_begin_object(json, "measures");
  for (size_t v = 0; v < DEMUR_N_MIX_VALUES; v++)
    write_row(json, demur_mix_value_name((DemurMixValue)v), &mix->rows[v]);
  demur_json_end_object(json);
  demur_command_write_warnings(json, study->warnings);
  demur_json_end_object(json);
  demur_context_print_json(context, json);
}

static char *
cell(double value, const DemurInterval *interval, gboolean sign) {
  return demur_cli_with_interval(value, interval->low, interval->high, 3, sign);
}

static void
print_margins(const DemurMix *mix) {
  for (size_t m = 0; m < mix->n_margins; m++) {
    const DemurMixMargin *margin = &mix->margins[m];
    size_t n_withheld = 0;
    g_print("\n%-32s %9s %9s\n", margin->by, "present", "this mix");
    for (size_t v = 0; v < margin->n_values; v++) {
      n_withheld += margin->withheld[v] ? 1 : 0;
      if (margin->withheld[v])
        continue;
      g_autofree char *shown = demur_shown_text(margin->values[v]);
      g_print("  %-30s %8.1f%% %8.1f%%\n", *shown != '\0' ? shown : "not recorded",
              100.0 * margin->present[v], 100.0 * margin->mix[v]);
    }
    if (n_withheld > 0)
      g_print("  %zu values with fewer than %d scans, or from which such could be had, are not "
              "shown.\n",
              n_withheld, DEMUR_SMALL_CELL);
  }
}

static gboolean
is_bare(double value, const DemurInterval *interval) {
  return isfinite(value) && !(isfinite(interval->low) && isfinite(interval->high));
}

/* Whether some number is told without an interval. */
static gboolean
lacks_interval(const DemurMix *mix) {
  for (size_t v = 0; v < DEMUR_N_MIX_VALUES; v++) {
    const DemurMixRow *row = &mix->rows[v];
    if (is_bare(row->present, &row->present_interval) || is_bare(row->mix, &row->mix_interval) ||
        is_bare(row->change, &row->change_interval))
      return TRUE;
  }
  return FALSE;
}

static void
print_study(const DemurMixStudyParams *params, const DemurMixStudy *study) {
  const DemurMix *mix = study->mix;
  g_print("Selector '%s' (asked for coverage %g) on split '%s' of cohort '%s'%s: %zu scan%s, which "
          "say as\n"
          "much of this mix as %.0f drawn from it would; the largest weight is %.1f.\n",
          params->selector, study->coverage, study->split, params->cohort,
          study->simulated ? " (simulated data)" : "", mix->n_scans, demur_cli_s(mix->n_scans),
          mix->n_effective, mix->largest_weight);
  print_margins(mix);
  g_print("\n%-30s %-26s %-26s %s\n", "", "present", "this mix", "change");
  for (size_t v = 0; v < DEMUR_N_MIX_VALUES; v++) {
    const DemurMixRow *row = &mix->rows[v];
    g_autofree char *present = cell(row->present, &row->present_interval, FALSE),
                    *other = cell(row->mix, &row->mix_interval, FALSE),
                    *change = cell(row->change, &row->change_interval, TRUE);
    g_print("%-30s %-26s %-26s %s\n", demur_mix_value_title((DemurMixValue)v), present, other,
            change);
  }
  if (mix->labels_withheld)
    g_print("Fewer than %d scans with a named value have the outcome, or don't (or a small number "
            "could be\n"
            "had from theirs): nothing that rests on outcomes is shown.\n",
            DEMUR_SMALL_CELL);
  if (mix->n_used < mix->n_replicates)
    g_print("In %zu of %zu replicates a wanted value had no scan%s.\n",
            mix->n_replicates - mix->n_used, mix->n_replicates,
            mix->enough_used ? "" : ": too many for intervals");
  if (mix->enough_used && lacks_interval(mix))
    g_print(
        "(no interval): a number that fewer than two replicates have, that one scan or hospital "
        "alone tells\n"
        "of, or whose interval has no end on one side.\n");
  g_print("95 %% intervals, weights fitted anew in each of %zu replicates that draw %ss%s.\n"
          "Taken for granted: within what the mix names, new scans are like those that there are.\n"
          "For research use, not a cleared device.\n",
          mix->n_used, demur_unit_name(mix->unit),
          mix->unit == DEMUR_UNIT_PATIENT ? " of these sites: they say nothing of other sites"
                                          : "");
}

static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  g_autofree char *cohort = NULL, *split = NULL, *coverage = NULL, *table = NULL,
                  *n_replicates = NULL;
  g_auto(GStrv) mixes = NULL, arguments = NULL;
  const GOptionEntry entries[] = {
      {"cohort", 'c', 0, G_OPTION_ARG_STRING, &cohort, "cohort whose outcomes are known", "C"},
      {"split", 0, 0, G_OPTION_ARG_STRING, &split, "its scans that stand for others (test)",
       "SPLIT"},
      {"mix", 0, 0, G_OPTION_ARG_STRING_ARRAY, &mixes,
       "shares of values of a column, such as scanner=Philips:0.6; may be given more than once",
       "COLUMN=VALUE:SHARE,.."},
      {"mix-table", 0, 0, G_OPTION_ARG_FILENAME, &table,
       "the same as a table of attribute, value, share", "FILE.csv"},
      {"coverage", 0, 0, G_OPTION_ARG_STRING, &coverage,
       "with the threshold tuned for this coverage (the one in use)", "X"},
      {"bootstrap", 0, 0, G_OPTION_ARG_STRING, &n_replicates, "replicates for intervals (1000)",
       "N"},
      {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &arguments, error) ||
      !demur_command_expect(arguments, 1, "shift takes the name of one selector", error))
    return FALSE;
  if (cohort == NULL) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE, "shift needs --cohort C");
    return FALSE;
  }
  const DemurMixStudyParams params = {.selector = arguments[0],
                                      .cohort = cohort,
                                      .split = split,
                                      .coverage = coverage,
                                      .mixes = (const char *const *)mixes,
                                      .table = table,
                                      .n_replicates = n_replicates};
  g_autoptr(DemurMixStudy) study = demur_task_mix_study(&context->task, &params, error);
  if (study == NULL)
    return FALSE;
  if (context->json) {
    print_json(context, &params, study);
    return TRUE;
  }
  print_study(&params, study);
  demur_command_print_warnings(study->warnings);
  return TRUE;
}

const DemurCommand demur_command_shift = {
    .name = "shift",
    .parameters = "SELECTOR --cohort C --mix COLUMN=VALUE:SHARE,..",
    .summary = "say what a selector would do with another mix of sites, scanners or patients",
    .description =
        "The scans of a cohort are weighted so that the named values have the wanted shares; all "
        "other values keep their proportions among themselves. Coverage, calibration and who is "
        "held back stand beside those of the present mix. Refused where some scans would have to "
        "stand for more than 20 others each.",
    .run = run};
