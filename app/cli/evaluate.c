/* demur evaluate --selector S.. --cohort C: all measures, baselines and trials. */
#include "app/cli/counted.h"
#include "app/cli/evaluate-options.h"
#include "app/cli/numbers.h"
#include "app/cli/shard-options.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "selector/coverage.h"
#include "tasks/family-study.h"

/* "full, recalibrated": what a method was measured on, where methods see two kinds of risk (owned).
 */
static char *
method_text(const DemurEvaluation *e, const char *name, gboolean recalibrated) {
  gboolean both = FALSE;
  for (size_t k = 1; k < e->n_methods; k++)
    both |= !e->methods[k].recalibrated != !e->methods[0].recalibrated;
  return g_strconcat(name, !both ? "" : recalibrated ? ", recalibrated" : ", raw", NULL);
}

static void
print_table(const DemurEvaluation *e) {
  char a[32], b[32], c[32], d[32], f[32], g[32], h[32];
  g_print("AUC over coverage (point value on the split; sd over %zu model%s x %zu resample%s of "
          "the %s)\n",
          e->n_models, demur_cli_s(e->n_models), e->n_resamples, demur_cli_s(e->n_resamples),
          e->resample_unit);
  g_print("  %-34s %8s %8s %8s %8s %8s %9s %8s\n", "method",
          e->n_classes > 2 ? "S-TCE_2" : "S-BCE_2", "sd", "debiased", "floor",
          e->n_classes > 2 ? "S-TCE_inf" : "S-BCE_inf", "Brier", "site err");
  for (size_t k = 0; k < e->n_methods; k++) {
    const DemurMethodResult *m = &e->methods[k];
    g_autofree char *name = method_text(e, m->name, m->recalibrated);
    g_print("  %-34s %8s %8s %8s %8s %9s %8s %8s\n", name,
            demur_cli_number_into(m->auc[DEMUR_MEASURE_SBCE2].point, 4, a, sizeof a),
            demur_cli_number_into(m->auc[DEMUR_MEASURE_SBCE2].sd, 4, b, sizeof b),
            demur_cli_number_into(m->debiased_auc, 4, c, sizeof c),
            demur_cli_number_into(m->noise_floor_auc, 4, d, sizeof d),
            demur_cli_number_into(m->auc[DEMUR_MEASURE_SBCEINF].point, 4, f, sizeof f),
            demur_cli_number_into(m->auc[DEMUR_MEASURE_BRIER].point, 4, g, sizeof g),
            demur_cli_number_into(m->auc[DEMUR_MEASURE_SITE_ERROR].point, 4, h, sizeof h));
  }
}

static void
print_rejection(const DemurEvaluation *e) {
  g_print("Refused at coverage 0.9, by label (95 %% intervals, resampling the %s)\n",
          demur_unit_name(e->interval_unit));
  for (size_t k = 0; k < e->n_methods; k++) {
    const DemurMethodResult *m = &e->methods[k];
    if (m->n_at == 0 || m->kind == DEMUR_METHOD_FULL)
      continue;
    g_autofree char *name = method_text(e, m->name, m->recalibrated);
    g_print("  %-34s", name);
    for (size_t l = 0; l < MIN(m->at[0].n_labels, 4); l++) {
      const DemurRejection *r = &m->at[0].rejected_by_label[l];
      char rate[32] = "    -  ", interval[64] = "";
      if (r->withheld)
        g_strlcpy(rate, "withheld", sizeof rate);
      if (isfinite(r->rate))
        g_snprintf(rate, sizeof rate, "%5.1f %%", 100.0 * r->rate);
      if (isfinite(r->rate_low) && isfinite(r->rate_high))
        g_snprintf(interval, sizeof interval, " (%.1f to %.1f)", 100.0 * r->rate_low,
                   100.0 * r->rate_high);
      g_print("  label %d: %s%s", r->label, rate, interval);
    }
    g_print("\n");
  }
}

static const char *
interval_text(DemurInterval interval, char *buffer, size_t size) {
  if (isfinite(interval.low) && isfinite(interval.high))
    g_snprintf(buffer, size, "(%.2f to %.2f)", interval.low, interval.high);
  else
    g_strlcpy(buffer, "", size); /* not measured: a gap */
  return buffer;
}

/* Calibration of what is kept at coverage 0.9. */
static void
print_calibration(const DemurEvaluation *e) {
  char a[32], b[32], c[32], d[32], f[48], g[48], h[48], k[48];
  g_print("Of the accepted at coverage 0.9 (95 %% intervals, resampling the %s)\n",
          demur_unit_name(e->interval_unit));
  g_print("  %-34s %-24s %-24s %-24s %-24s\n", "method", "O:E", "calibration intercept",
          "calibration slope", "AUROC");
  for (size_t m = 0; m < e->n_methods; m++) {
    if (e->methods[m].n_at == 0)
      continue;
    const DemurOperatingPoint *at = &e->methods[m].at[0];
    g_autofree char *name = method_text(e, e->methods[m].name, e->methods[m].recalibrated);
    g_print("  %-34s %-7s %-16s %-7s %-16s %-7s %-16s %-7s %-16s\n", name,
            demur_cli_number_into(at->measures[DEMUR_MEASURE_OE_RATIO], 4, a, sizeof a),
            interval_text(at->intervals[DEMUR_MEASURE_OE_RATIO], f, sizeof f),
            demur_cli_number_into(at->measures[DEMUR_MEASURE_INTERCEPT], 4, b, sizeof b),
            interval_text(at->intervals[DEMUR_MEASURE_INTERCEPT], g, sizeof g),
            demur_cli_number_into(at->measures[DEMUR_MEASURE_SLOPE], 4, c, sizeof c),
            interval_text(at->intervals[DEMUR_MEASURE_SLOPE], h, sizeof h),
            demur_cli_number_into(at->measures[DEMUR_MEASURE_AUROC], 4, d, sizeof d),
            interval_text(at->intervals[DEMUR_MEASURE_AUROC], k, sizeof k));
  }
}

/* Of which scans what counts outcomes is, where it is not of the accepted: at coverage 0.9, of which
 * the tables are, and at each tuned threshold, which the JSON and the report have too. */
static void
print_counted(const DemurEvaluation *e) {
  gboolean any = FALSE;
  for (size_t m = 0; m < e->n_methods; m++)
    for (size_t a = 0; a < e->methods[m].n_at; a++) {
      const DemurOperatingPoint *at = &e->methods[m].at[a];
      if (at->n_counted == at->n_accepted || (a > 0 && !at->from_tune))
        continue;
      if (!any)
        g_print("What counts outcomes is told of sets of scans that differ by %d of each label or "
                "more\n",
                DEMUR_SMALL_CELL);
      any = TRUE;
      g_autofree char *name = method_text(e, e->methods[m].name, e->methods[m].recalibrated),
                      *tuned = at->from_tune ? g_strdup_printf("tuned to %g, ", at->coverage)
                                             : g_strdup("");
      if (at->n_counted > 0)
        g_print("  %-34s %sof %zu scans, of %zu accepted\n", name, tuned, at->n_counted,
                at->n_accepted);
      else
        g_print("  %-34s %swithheld: no such set is near\n", name, tuned);
    }
}

static void
print_group_methods(const DemurGroup *group) {
  char a[32], b[32], c[32], d[32], f[48], g[48];
  for (size_t m = 0; m < group->n_methods; m++) {
    const DemurGroupMethod *method = &group->methods[m];
    if (method->n_at == 0 || method->kind == DEMUR_METHOD_FULL)
      continue;
    const DemurOperatingPoint *at = &method->at[0];
    g_print("    %-22s %-12s kept %s %s  S-BCE_2 %s (noise floor %s)  O:E %s %s\n", method->name,
            method->recalibrated ? "recalibrated" : "raw",
            demur_cli_number_into(at->realised, 4, a, sizeof a),
            interval_text(at->realised_interval, f, sizeof f),
            demur_cli_number_into(at->measures[DEMUR_MEASURE_SBCE2], 4, b, sizeof b),
            demur_cli_number_into(at->noise_floor, 4, c, sizeof c),
            demur_cli_number_into(at->measures[DEMUR_MEASURE_OE_RATIO], 4, d, sizeof d),
            interval_text(at->intervals[DEMUR_MEASURE_OE_RATIO], g, sizeof g));
  }
}

static void
print_groups(const DemurEvaluation *e) {
  char a[32], b[32];
  for (size_t i = 0; i < e->n_groups; i++) {
    const DemurGroup *group = &e->groups[i];
    if (i == 0 || strcmp(group->by, e->groups[i - 1].by) != 0)
      g_print("By %s, at the threshold for coverage 0.9 of the whole split (95 %% intervals, "
              "resampling the group's patients)\n",
              group->by);
    const char *value = *group->value != '\0' ? group->value : "not recorded";
    if (group->withheld) {
      g_print("  %s: withheld, fewer than %d scans or telling of such a group\n", value,
              DEMUR_SMALL_CELL);
      continue;
    }
    if (group->patients_withheld)
      g_print("  %s: %zu scan%s\n", value, group->n_scans, demur_cli_s(group->n_scans));
    else
      g_print("  %s: %zu scan%s of %zu patient%s\n", value, group->n_scans,
              demur_cli_s(group->n_scans), group->n_patients, demur_cli_s(group->n_patients));
    print_group_methods(group);
  }
  for (size_t i = 0; i < e->n_group_averages; i++) {
    const DemurGroupAverage *average = &e->group_averages[i];
    if (i == 0 || strcmp(average->by, e->group_averages[i - 1].by) != 0)
      g_print(
          "%s AUC over coverage, each group by its own thresholds, mean over the groups by %s\n",
          e->n_classes > 2 ? "S-TCE_2" : "S-BCE_2", average->by);
    g_print("  %-24s %-12s %s (debiased %s), %zu groups\n", average->method,
            average->recalibrated ? "recalibrated" : "raw",
            demur_cli_number_into(average->sbce2_auc, 4, a, sizeof a),
            demur_cli_number_into(average->debiased_auc, 4, b, sizeof b), average->n_groups);
  }
}

/* Why a number of the table lacks. */
static void
explain_lacking(const DemurHoldBack *hold_back, size_t n_scans) {
  gboolean all_shown = FALSE, none_shown = FALSE, few = FALSE, rounded = FALSE;
  for (size_t r = 0; r < hold_back->n_rows; r++) {
    const DemurHoldBackRow *row = &hold_back->rows[r];
    few |= !isfinite(row->coverage);
    none_shown |= isfinite(row->coverage) && row->n_shown == 0;
    all_shown |= isfinite(row->coverage) && row->n_shown == n_scans;
    rounded |= row->is_rule && row->n_shown > 0 && row->n_shown < n_scans &&
               !(isfinite(row->net_benefit) && isfinite(row->selectivity));
  }
  if (all_shown)
    g_print("  selectivity is what a scan that is held back costs, over what any does: \"-\" where "
            "none is held back\n");
  if (none_shown)
    g_print("  net benefit is that of the scans shown: \"-\" where none is\n");
  if (rounded)
    g_print("  \"-\" of the interval's rule: so near to 0 that its step of %d outcomes is larger\n",
            DEMUR_SMALL_CELL);
  if (few)
    g_print(
        "  a row of \"-\": no coverage is near that may be told, as fewer than %d patients would "
        "differ in outcome\n",
        DEMUR_SMALL_CELL);
}

/* Whether the risks' intervals hold, and the rule that holds back across a decision threshold. */
static void
print_hold_back(const DemurEvaluation *e) {
  char a[32], b[32], c[32];
  for (size_t h = 0; h < e->n_hold_back; h++) {
    const DemurHoldBack *hold_back = &e->hold_back[h];
    g_print("Intervals of the risks that selector %s shows (95 %%, mean width %.3f): the number of "
            "outcomes lies within at %zu of %zu site%s of %d scans or more\n",
            hold_back->selector, hold_back->mean_width, hold_back->n_held, hold_back->n_sites,
            demur_cli_s(hold_back->n_sites), DEMUR_SMALL_CELL);
    g_print(
        "  held back where the interval holds a decision threshold of %.4g%s, and others at the "
        "nearest coverage that may be told\n"
        "  %-34s %8s %12s %12s\n",
        hold_back->decision, hold_back->tuned ? "" : " (--net-benefit-threshold)", "shown",
        "coverage", "net benefit", "selectivity");
    for (size_t r = 0; r < hold_back->n_rows; r++) {
      const DemurHoldBackRow *row = &hold_back->rows[r];
      g_print("  %-34s %8s %12s %12s\n", row->method,
              demur_cli_number_into(row->coverage, 4, c, sizeof c),
              demur_cli_number_into(row->net_benefit, 4, a, sizeof a),
              demur_cli_number_into(row->selectivity, 4, b, sizeof b));
    }
    explain_lacking(hold_back, e->n_scans);
  }
}

static void
print_audits(const DemurEvaluation *e) {
  char a[32], b[32], c[32], d[32];
  if (e->n_audited_sites == 0)
    return;
  g_print(
      "With the audits of %zu site%s, on the scans that they did not label (%zu label%s)\n"
      "  labels a site   in all    scans  site error   S-BCE_2  accepted: site error   S-BCE_2\n",
      e->n_audited_sites, demur_cli_s(e->n_audited_sites), e->n_audit_labels,
      demur_cli_s(e->n_audit_labels));
  for (size_t p = 0; p < e->n_audit_curve; p++) {
    const DemurAuditCurvePoint *point = &e->audit_curve[p];
    g_print("  %13zu %8zu %8zu %11s %9s %21s %9s\n", point->labels, point->n_labels, point->n_scans,
            demur_cli_number_into(point->site_error, 4, a, sizeof a),
            demur_cli_number_into(point->sbce2, 4, b, sizeof b),
            demur_cli_number_into(point->accepted_site_error, 4, c, sizeof c),
            demur_cli_number_into(point->accepted_sbce2, 4, d, sizeof d));
  }
}

/* How many of the evaluated sites did not tune a threshold; all where its sites were not kept. */
static size_t
sites_without(const DemurEvaluating *evaluating, const DemurThresholdRecord *threshold,
              const guint8 *present) {
  g_auto(GStrv) tuned = demur_tuning_read_sites(threshold->guarantee);
  const DemurCohort *cohort = evaluating->cohort;
  size_t n = 0;
  for (size_t s = 0; s < cohort->n_sites; s++)
    n += present[s] &&
         (tuned == NULL || !g_strv_contains((const char *const *)tuned, cohort->site_names[s]));
  return n;
}

/* Where tuned thresholds promise nothing: text, or the member "guarantees" where json is given. */
static gboolean
tell_guarantees(const DemurEvaluating *evaluating, DemurJson *json, GError **error) {
  const DemurCohort *cohort = evaluating->cohort;
  size_t n_rows;
  g_autofree guint32 *rows =
      demur_cohort_rows(cohort, evaluating->evaluation->split, &n_rows, error);
  if (rows == NULL)
    return FALSE;
  g_autofree guint8 *present = g_new0(guint8, MAX(cohort->n_sites, 1));
  for (size_t i = 0; i < n_rows; i++)
    present[cohort->sites[rows[i]]] = 1;
  if (json != NULL)
    demur_json_begin_array(json, "guarantees");
  for (size_t k = 0; k < evaluating->n_selectors; k++)
    for (guint t = 0; t < evaluating->thresholds[k]->len; t++) {
      const DemurThresholdRecord *threshold = evaluating->thresholds[k]->pdata[t];
      const size_t n = sites_without(evaluating, threshold, present);
      if (json != NULL) {
        demur_json_begin_object(json, NULL);
        demur_json_string(json, "selector", evaluating->names[k]);
        demur_json_double(json, "coverage", threshold->coverage);
        demur_json_int(json, "n_sites", (gint64)evaluating->evaluation->n_sites);
        demur_json_int(json, "n_sites_without_guarantee", (gint64)n);
        demur_json_end_object(json);
      } else if (n > 0) {
        g_print(
            "Selector '%s' tuned to %g: no guarantee at %zu of these %zu site%s, which are not in "
            "its tuning split (`demur assess` gives each its coverage)\n",
            evaluating->names[k], threshold->coverage, n, evaluating->evaluation->n_sites,
            demur_cli_s(evaluating->evaluation->n_sites));
      }
    }
  if (json != NULL)
    demur_json_end_array(json);
  return TRUE;
}

/* Members into an open object. */
static gboolean
write_evaluating(DemurTask *task, const DemurEvaluating *evaluating, DemurJson *json,
                 GError **error) {
  demur_evaluation_write_json(evaluating->evaluation, json);
  demur_json_begin_array(json, "validations");
  for (size_t v = 0; v < evaluating->n_selectors; v++) {
    g_autofree char *sentence = demur_task_validation_sentence(task, evaluating->names[v]);
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "selector", evaluating->names[v]);
    demur_json_string(json, "sentence", sentence);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  return tell_guarantees(evaluating, json, error);
}

static gboolean
print_evaluating(DemurTask *task, const DemurEvaluating *evaluating, GError **error) {
  const DemurEvaluation *e = evaluating->evaluation;
  g_print(
      "Cohort '%s', split '%s'%s%s: %zu scan%s of %zu patient%s at %zu site%s, seed %" G_GUINT64_FORMAT
      "\n",
      e->cohort, e->split, e->simulated ? " (simulated data)" : "",
      e->in_sample ? " (IN-SAMPLE)" : "", e->n_scans, demur_cli_s(e->n_scans), e->n_patients,
      demur_cli_s(e->n_patients), e->n_sites, demur_cli_s(e->n_sites), e->seed);
  print_table(e);
  print_rejection(e);
  print_calibration(e);
  print_counted(e);
  print_hold_back(e);
  print_audits(e);
  g_print("Comparisons (method minus baseline; below 0 is better)\n");
  if (e->n_sites < DEMUR_FEW_SITES)
    g_print("  %zu site%s, under %d: intervals resample the %s and say what holds at these sites; "
            "about other hospitals nothing is decided\n",
            e->n_sites, demur_cli_s(e->n_sites), DEMUR_FEW_SITES,
            demur_unit_name(e->interval_unit));
  for (size_t i = 0; i < e->n_comparisons; i++) {
    const DemurComparison *c = &e->comparisons[i];
    if (c->against_kind != DEMUR_METHOD_CONFIDENCE && c->against_kind != DEMUR_METHOD_FULL)
      continue;
    g_autofree char *name = method_text(e, c->method, c->recalibrated);
    char difference[32] = "not measured", interval[64] = "";
    if (isfinite(c->difference))
      g_snprintf(difference, sizeof difference, "%+.4f", c->difference);
    if (isfinite(c->low) && isfinite(c->high))
      g_snprintf(interval, sizeof interval, " (%+.4f to %+.4f)", c->low, c->high);
    g_print("  %s against %s, %s: %s%s, %zu %s%s: %s\n", name, c->against,
            demur_compared_name(c->measure, e->n_classes), difference, interval, c->n_units,
            demur_unit_name(c->unit), c->n_units == 1 ? "" : "s",
            demur_comparison_verdict_words(c->verdict));
  }
  print_groups(e);
  for (size_t v = 0; v < evaluating->n_selectors; v++) {
    g_autofree char *sentence = demur_task_validation_sentence(task, evaluating->names[v]);
    g_print("Selector %s: %s\n", evaluating->names[v], sentence);
  }
  if (!tell_guarantees(evaluating, NULL, error))
    return FALSE;
  for (size_t w = 0; w < e->n_warnings; w++) {
    g_autofree char *words = demur_warning_words(&e->warnings[w], NULL);
    g_print("Read with care: %s\n", words);
  }
  return TRUE;
}

/* "4.9 % (4.0 to 6.1)", owned. */
static char *
share_text(double share, double low, double high) {
  if (!isfinite(share))
    return g_strdup("-");
  return isfinite(low) && isfinite(high)
             ? g_strdup_printf("%.1f %% (%.1f to %.1f)", 100 * share, 100 * low, 100 * high)
             : g_strdup_printf("%.1f %%", 100 * share);
}

static void
print_share(const DemurReportYear *year, gboolean withheld) {
  if (withheld) {
    g_print("  %8s %9s %23s %6s", "withheld", "", "", "");
    return;
  }
  g_autofree char *expected = share_text(year->mean_risk, NAN, NAN),
                  *observed = share_text(year->observed, year->low, year->high),
                  *ratio = demur_cli_number(year->observed / year->mean_risk, 2, FALSE);
  g_print("  %8zu %9s %23s %6s", year->n, expected, observed, ratio);
}

/* What is said of the family beside its horizons. */
static void
print_family(const DemurFamilyReport *family) {
  g_print("Family '%s' at coverage %g of each horizon: ", family->name, family->coverage);
  if (family->shown_known)
    g_print("%zu of %zu scans are shown, those that every horizon accepts\n", family->n_shown,
            family->n_scans);
  else
    g_print("what is shown together is not known, a horizon has no threshold of it\n");
  g_print("  %4s  %8s %9s %23s %6s  %8s %9s %23s %6s\n", "year", "all", "expected", "observed",
          "O:E", "shown", "expected", "observed", "O:E");
  for (size_t y = 0; y < family->n_by_year; y++) {
    const DemurFamilyYear *year = &family->by_year[y];
    g_print("  %4d", year->year);
    print_share(&year->all, demur_family_withholds(family, year, FALSE));
    print_share(&year->shown, demur_family_withholds(family, year, TRUE));
    g_print("\n");
  }
  g_print("Intervals are of 95 %% each; that those of %zu horizons hold together is promised to "
          "%g %% only. Verdicts are corrected within a horizon, not across.\n",
          family->n, 100 * demur_family_simultaneous_level(family->n));
}

static gboolean
evaluate_family(DemurContext *context, const char *name, const DemurHorizons *horizons,
                DemurEvaluateParams *options, GError **error) {
  g_auto(DemurFamilyStudy) study = {0};
  if (!demur_task_family_study(&context->task, name, horizons, options, 0.0, NULL, &study, error))
    return FALSE;
  gboolean ok = TRUE;
  if (!context->json) {
    print_family(&study.report);
    for (size_t h = 0; ok && h < horizons->n; h++) {
      g_print("\nWithin %d year%s (%s)\n", horizons->years[h],
              demur_cli_s((size_t)horizons->years[h]), study.lists[h][0]);
      ok = print_evaluating(&context->task, &study.each[h], error);
    }
    g_print("For research use, not a cleared device.\n");
    return ok;
  }
  g_autoptr(DemurJson) json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "family", name);
  demur_family_write_json(&study.report, json);
  demur_json_begin_array(json, "horizons");
  for (size_t h = 0; ok && h < horizons->n; h++) {
    demur_json_begin_object(json, NULL);
    demur_json_int(json, "years", horizons->years[h]);
    demur_json_string(json, "selector", study.lists[h][0]);
    ok = write_evaluating(&context->task, &study.each[h], json, error);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_end_object(json);
  if (ok)
    demur_context_print_json(context, g_steal_pointer(&json));
  return ok;
}

static gboolean
run_part(DemurContext *context, char **selectors, DemurEvaluateParams *params,
         const DemurShardOptions *options, GError **error) {
  demur_context_take_stdout(options->part);
  if (!demur_task_evaluate_part(&context->task, selectors, params, &options->shard, options->part,
                                error))
    return FALSE;
  g_autofree char *names = g_strjoinv(", ", selectors);
  demur_shard_options_print(context, options, names);
  return TRUE;
}

static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  g_auto(DemurEvaluating) evaluating = {0};
  g_auto(GStrv) arguments = NULL;
  g_auto(GStrv) selectors = NULL;
  g_auto(DemurEvaluateParams) options = {0};
  g_auto(DemurShardOptions) shards = {0};
  gboolean audited = FALSE;
  const GOptionEntry entries[] = {
      {"audited", 0, 0, G_OPTION_ARG_NONE, &audited,
       "with the site audits, on the scans that they did not label", NULL},
      {"selector", 's', 0, G_OPTION_ARG_STRING_ARRAY, &selectors,
       "selector, or family of horizons, to evaluate; selectors may be given several times", "S"},
      DEMUR_CLI_EVALUATION_ENTRIES(options),
      DEMUR_CLI_MEASURE_ENTRIES(options),
      DEMUR_SHARD_ENTRIES(shards),
      {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &arguments, error) ||
      !demur_shard_options_check(&shards, arguments, 0, "evaluate takes options only", error))
    return FALSE;
  options.audited = audited;
  options.parts = shards.parts;
  DemurHorizons horizons;
  if (!demur_task_evaluate_check(selectors, &options, error) ||
      !demur_task_family_asked(&context->task, selectors, &horizons, error))
    return FALSE;
  if (horizons.n > 0 && (shards.part != NULL || shards.merge)) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "shards are not of a family: give them the selector of one horizon");
    return FALSE;
  }
  if (shards.part != NULL)
    return run_part(context, selectors, &options, &shards, error);
  if (horizons.n > 0)
    return evaluate_family(context, selectors[0], &horizons, &options, error);
  if (!demur_task_evaluate(&context->task, selectors, &options, &evaluating, error))
    return FALSE;
  if (!context->json) {
    const gboolean ok = print_evaluating(&context->task, &evaluating, error);
    g_print("For research use, not a cleared device.\n");
    return ok;
  }
  g_autoptr(DemurJson) json = demur_json_new();
  demur_json_begin_object(json, NULL);
  if (!write_evaluating(&context->task, &evaluating, json, error))
    return FALSE;
  demur_json_end_object(json);
  demur_context_print_json(context, g_steal_pointer(&json));
  return TRUE;
}

const DemurCommand demur_command_evaluate = {.name = "evaluate",
                                             .parameters = "--selector S.. --cohort C [FILE…]",
                                             .summary =
                                                 "measure selectors and baselines on a split",
                                             .run = run};
