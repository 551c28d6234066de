/* The members of the `evaluate` document (docs/commands.md, docs/file-formats.md). */
#include "evaluation/evaluation.h"

#include <math.h>

#include "metrics/censoring.h"

static void
write_interval(DemurInterval interval, const char *name, DemurJson *json) {
  const double ends[2] = {interval.low, interval.high};
  demur_json_doubles(json, name, ends, 2);
}

static void
write_curve(const DemurCurvePoint *points, size_t n_points, const char *name, DemurJson *json) {
  demur_json_begin_array(json, name);
  for (size_t c = 0; c < n_points; c++) {
    const DemurCurvePoint *p = &points[c];
    demur_json_begin_object(json, NULL);
    demur_json_double(json, "coverage", p->coverage);
    demur_json_double(json, "realised", p->realised);
    demur_json_double(json, "point", p->point);
    demur_json_double(json, "mean", p->mean);
    demur_json_double(json, "sd", p->sd);
    demur_json_double(json, "debiased", p->debiased);
    demur_json_double(json, "noise_floor", p->noise_floor);
    if (p->n_bins > 0)
      demur_json_int(json, "n_bins", (gint64)p->n_bins);
    else
      demur_json_null(json, "n_bins");
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}

static void
write_counted(const DemurOperatingPoint *at, DemurJson *json) {
  if (at->n_counted > 0)
    demur_json_int(json, "n_counted", (gint64)at->n_counted);
  else
    demur_json_null(json, "n_counted");
}

static void
write_operating_point(const DemurOperatingPoint *at, size_t n_classes, DemurJson *json) {
  demur_json_begin_object(json, NULL);
  demur_json_double(json, "coverage", at->coverage);
  demur_json_string(json, "threshold_from", at->from_tune ? "tune" : "split");
  demur_json_double(json, "threshold", at->threshold);
  demur_json_double(json, "realised", at->realised);
  demur_json_int(json, "n_accepted", (gint64)at->n_accepted);
  write_counted(at, json);
  for (DemurMeasure measure = 0; measure < DEMUR_N_FINE_MEASURES; measure++)
    demur_json_double(json, demur_measure_name(measure, n_classes), at->measures[measure]);
  demur_json_double(json, "debiased", at->debiased);
  demur_json_double(json, "noise_floor", at->noise_floor);
  for (DemurMeasure extra = DEMUR_N_FINE_MEASURES; extra < DEMUR_N_MEASURES; extra++)
    demur_json_double(json, demur_measure_name(extra, n_classes), at->measures[extra]);
  demur_json_begin_object(json, "intervals");
  write_interval(at->realised_interval, "realised", json);
  write_interval(at->site_error_interval, "site_error", json);
  write_interval(at->debiased_interval, "debiased", json);
  for (DemurMeasure extra = DEMUR_N_FINE_MEASURES; extra < DEMUR_N_MEASURES; extra++)
    if (demur_measure_row(extra)->has_interval)
      write_interval(at->intervals[extra], demur_measure_name(extra, n_classes), json);
  demur_json_end_object(json);
  demur_json_begin_array(json, "decision_curve");
  for (size_t t = 0; t < DEMUR_N_DECISIONS; t++) {
    demur_json_begin_object(json, NULL);
    demur_json_double(json, "threshold", at->decision[t].threshold);
    demur_json_double(json, "net_benefit", at->decision[t].model);
    demur_json_double(json, "treat_all", at->decision[t].all);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_int(json, "n_bins", (gint64)at->n_bins);
  demur_json_begin_array(json, "rejected_by_label");
  for (size_t l = 0; l < at->n_labels; l++) {
    const DemurRejection *r = &at->rejected_by_label[l];
    demur_json_begin_object(json, NULL);
    demur_json_int(json, "label", r->label);
    demur_json_int(json, "n_all", (gint64)r->n_all);
    if (r->withheld)
      demur_json_null(json, "n_rejected");
    else
      demur_json_int(json, "n_rejected", (gint64)r->n_rejected);
    demur_json_double(json, "share_of_rejected", r->share_of_rejected);
    demur_json_double(json, "share_of_all", r->share_of_all);
    demur_json_double(json, "rate", r->rate);
    const double interval[2] = {r->rate_low, r->rate_high};
    demur_json_doubles(json, "rate_interval", interval, 2);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_begin_array(json, "reliability");
  for (size_t b = 0; b < at->n_reliability; b++) {
    const DemurReliabilityBin *r = &at->reliability[b];
    const double interval[2] = {r->low, r->high};
    demur_json_begin_object(json, NULL);
    demur_json_int(json, "n", (gint64)r->n);
    demur_json_double(json, "mean_risk", r->mean_risk);
    demur_json_double(json, "observed", r->observed);
    demur_json_doubles(json, "interval", interval, 2);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_begin_array(json, "smooth");
  for (size_t p = 0; p < at->n_smooth; p++) {
    const DemurCurvePlace *place = &at->smooth[p];
    const double interval[2] = {place->low, place->high};
    demur_json_begin_object(json, NULL);
    demur_json_double(json, "risk", place->risk);
    demur_json_double(json, "observed", place->value);
    demur_json_doubles(json, "interval", interval, 2);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_begin_array(json, "histogram");
  for (size_t b = 0; b < DEMUR_N_HISTOGRAM_BINS; b++)
    demur_json_int(json, NULL, (gint64)at->histogram[b]);
  demur_json_end_array(json);
  demur_json_end_object(json);
}

static void
write_estimate(const DemurEstimate *estimate, const char *name, DemurJson *json) {
  demur_json_begin_object(json, name);
  demur_json_double(json, "point", estimate->point);
  demur_json_double(json, "mean", estimate->mean);
  demur_json_double(json, "sd", estimate->sd);
  demur_json_end_object(json);
}

static void
write_method(const DemurMethodResult *method, size_t n_classes, DemurJson *json) {
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "name", method->name);
  demur_json_string(json, "risk", method->recalibrated ? "recalibrated" : "raw");
  demur_json_int(json, "models", (gint64)method->n_models);
  demur_json_begin_object(json, "auc");
  for (DemurMeasure measure = 0; measure < DEMUR_N_FINE_MEASURES; measure++) {
    demur_json_begin_object(json, demur_measure_name(measure, n_classes));
    demur_json_double(json, "point", method->auc[measure].point);
    demur_json_double(json, "mean", method->auc[measure].mean);
    demur_json_double(json, "sd", method->auc[measure].sd);
    if (measure == DEMUR_MEASURE_SBCE2) {
      demur_json_double(json, "debiased", method->debiased_auc);
      demur_json_double(json, "noise_floor", method->noise_floor_auc);
      write_interval(method->debiased_auc_interval, "debiased_interval", json);
    }
    if (measure == DEMUR_MEASURE_SITE_ERROR)
      write_interval(method->site_error_auc_interval, "interval", json);
    demur_json_end_object(json);
  }
  for (DemurMeasure extra = DEMUR_N_FINE_MEASURES; extra < DEMUR_N_MEASURES; extra++)
    if (demur_measure_row(extra)->has_auc)
      write_estimate(&method->auc[extra], demur_measure_name(extra, n_classes), json);
  write_estimate(&method->aurc_error, "aurc_error", json);
  write_estimate(&method->aurc_brier, "aurc_brier", json);
  demur_json_end_object(json);
  demur_json_begin_object(json, "curve");
  for (DemurMeasure measure = 0; measure < DEMUR_N_MEASURES; measure++)
    write_curve(method->curve[measure], demur_measure_n_coverages(measure),
                demur_measure_name(measure, n_classes), json);
  demur_json_end_object(json);
  demur_json_begin_array(json, "at");
  for (size_t a = 0; a < method->n_at; a++)
    write_operating_point(&method->at[a], n_classes, json);
  demur_json_end_array(json);
  demur_json_end_object(json);
}

/* A count; "<10" where it is small, "withheld" where a small one would follow from it. */
static void
write_count(size_t n, gboolean withheld, const char *name, DemurJson *json) {
  g_autofree char *small = g_strdup_printf("<%d", DEMUR_SMALL_CELL);
  if (n < DEMUR_SMALL_CELL)
    demur_json_string(json, name, small);
  else if (withheld)
    demur_json_string(json, name, "withheld");
  else
    demur_json_int(json, name, (gint64)n);
}

static void
write_group_point(const DemurOperatingPoint *at, gboolean labels_withheld, size_t n_classes,
                  DemurJson *json) {
  static const DemurMeasure shown[] = {DEMUR_MEASURE_OE_RATIO, DEMUR_MEASURE_INTERCEPT,
                                       DEMUR_MEASURE_SLOPE};
  demur_json_begin_object(json, NULL);
  demur_json_double(json, "coverage", at->coverage);
  demur_json_string(json, "threshold_from", at->from_tune ? "tune" : "split");
  demur_json_double(json, "realised", at->realised);
  write_interval(at->realised_interval, "realised_interval", json);
  write_count(at->n_accepted, FALSE, "n_accepted", json);
  if (at->n_counted > 0)
    write_count(at->n_counted, FALSE, "n_counted", json);
  else
    demur_json_null(json, "n_counted");
  demur_json_double(json, demur_measure_name(DEMUR_MEASURE_SBCE2, n_classes),
                    at->measures[DEMUR_MEASURE_SBCE2]);
  demur_json_double(json, "noise_floor", at->noise_floor);
  demur_json_double(json, "debiased", at->debiased);
  write_interval(at->debiased_interval, "debiased_interval", json);
  for (size_t x = 0; x < G_N_ELEMENTS(shown); x++) {
    g_autofree char *interval =
        g_strconcat(demur_measure_name(shown[x], n_classes), "_interval", NULL);
    demur_json_double(json, demur_measure_name(shown[x], n_classes), at->measures[shown[x]]);
    write_interval(at->intervals[shown[x]], interval, json);
  }
  demur_json_begin_array(json, "rejected_by_label");
  for (size_t l = 0; l < at->n_labels; l++) {
    const DemurRejection *r = &at->rejected_by_label[l];
    demur_json_begin_object(json, NULL);
    demur_json_int(json, "label", r->label);
    write_count(r->n_all, labels_withheld, "n_all", json);
    demur_json_double(json, "rate", r->rate);
    write_interval((DemurInterval){r->rate_low, r->rate_high}, "rate_interval", json);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_end_object(json);
}

static void
write_contrasts(const DemurGroup *group, DemurJson *json) {
  demur_json_begin_array(json, "against_confidence");
  for (size_t i = 0; i < group->n_contrasts; i++) {
    const DemurSiteContrast *c = &group->contrasts[i];
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "method", c->method);
    demur_json_string(json, "risk", c->recalibrated ? "recalibrated" : "raw");
    demur_json_double(json, "difference", c->plain.difference);
    write_interval((DemurInterval){c->plain.low, c->plain.high}, "interval", json);
    demur_json_double(json, "debiased_difference", c->debiased.difference);
    write_interval((DemurInterval){c->debiased.low, c->debiased.high}, "debiased_interval", json);
    demur_json_string(json, "verdict", demur_comparison_verdict_words(c->verdict));
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}

static void
write_groups(const DemurEvaluation *e, DemurJson *json) {
  const gboolean many = e->n_classes > 2;
  demur_json_begin_array(json, "groups");
  for (size_t g = 0; g < e->n_groups; g++) {
    const DemurGroup *group = &e->groups[g];
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "by", group->by);
    demur_json_string(json, "value", group->value);
    write_count(group->n_scans, group->withheld, "n_scans", json);
    write_count(group->n_patients, group->withheld || group->patients_withheld, "n_patients", json);
    demur_json_begin_array(json, "methods");
    for (size_t m = 0; m < group->n_methods; m++) {
      const DemurGroupMethod *method = &group->methods[m];
      demur_json_begin_object(json, NULL);
      demur_json_string(json, "name", method->name);
      demur_json_string(json, "risk", method->recalibrated ? "recalibrated" : "raw");
      demur_json_double(json, many ? "stce2_auc" : "sbce2_auc", method->sbce2_auc);
      demur_json_double(json, "debiased_auc", method->debiased_auc);
      demur_json_begin_array(json, "at");
      for (size_t a = 0; a < method->n_at; a++)
        write_group_point(&method->at[a], group->labels_withheld, e->n_classes, json);
      demur_json_end_array(json);
      demur_json_end_object(json);
    }
    demur_json_end_array(json);
    if (group->n_contrasts > 0)
      write_contrasts(group, json);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_begin_array(json, "group_averages");
  for (size_t a = 0; a < e->n_group_averages; a++) {
    const DemurGroupAverage *average = &e->group_averages[a];
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "by", average->by);
    demur_json_string(json, "method", average->method);
    demur_json_string(json, "risk", average->recalibrated ? "recalibrated" : "raw");
    demur_json_int(json, "n_groups", (gint64)average->n_groups);
    demur_json_double(json, many ? "stce2_auc" : "sbce2_auc", average->sbce2_auc);
    demur_json_double(json, "debiased_auc", average->debiased_auc);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}

static void
write_hold_back(const DemurEvaluation *e, DemurJson *json) {
  demur_json_begin_array(json, "hold_back");
  for (size_t h = 0; h < e->n_hold_back; h++) {
    const DemurHoldBack *hold_back = &e->hold_back[h];
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "selector", hold_back->selector);
    demur_json_string(json, "risk", hold_back->recalibrated ? "recalibrated" : "raw");
    demur_json_double(json, "level", 0.95);
    demur_json_int(json, "n_sites", (gint64)hold_back->n_sites);
    demur_json_int(json, "n_sites_held", (gint64)hold_back->n_held);
    demur_json_double(json, "mean_width", hold_back->mean_width);
    demur_json_double(json, "decision_threshold", hold_back->decision);
    demur_json_bool(json, "tuned", hold_back->tuned);
    demur_json_begin_array(json, "rows");
    for (size_t r = 0; r < hold_back->n_rows; r++) {
      const DemurHoldBackRow *row = &hold_back->rows[r];
      demur_json_begin_object(json, NULL);
      demur_json_string(json, "method", row->method);
      if (isfinite(row->coverage))
        demur_json_int(json, "n_shown", (gint64)row->n_shown);
      else
        demur_json_null(json, "n_shown");
      demur_json_double(json, "coverage", row->coverage);
      demur_json_double(json, "net_benefit", row->net_benefit);
      demur_json_double(json, "selectivity", row->selectivity);
      demur_json_end_object(json);
    }
    demur_json_end_array(json);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}

static void
write_audits(const DemurEvaluation *e, DemurJson *json) {
  if (e->n_audited_sites == 0) {
    demur_json_null(json, "audited");
    return;
  }
  demur_json_begin_object(json, "audited");
  demur_json_int(json, "n_sites", (gint64)e->n_audited_sites);
  demur_json_int(json, "n_labels", (gint64)e->n_audit_labels);
  demur_json_begin_array(json, "curve");
  for (size_t p = 0; p < e->n_audit_curve; p++) {
    const DemurAuditCurvePoint *point = &e->audit_curve[p];
    demur_json_begin_object(json, NULL);
    demur_json_int(json, "labels", (gint64)point->labels);
    demur_json_int(json, "n_labels", (gint64)point->n_labels);
    demur_json_int(json, "n_scans", (gint64)point->n_scans);
    demur_json_double(json, "site_error", point->site_error);
    demur_json_double(json, "sbce2", point->sbce2);
    demur_json_double(json, "accepted_site_error", point->accepted_site_error);
    demur_json_double(json, "accepted_sbce2", point->accepted_sbce2);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_end_object(json);
}

void
demur_evaluation_write_json(const DemurEvaluation *e, DemurJson *json) {
  demur_json_string(json, "cohort", e->cohort);
  demur_json_string(json, "split", e->split);
  demur_json_string(json, "model", e->model);
  demur_json_bool(json, "simulated", e->simulated);
  demur_json_bool(json, "in_sample", e->in_sample);
  demur_json_int(json, "seed", (gint64)e->seed);
  demur_json_int(json, "n_scans", (gint64)e->n_scans);
  demur_json_int(json, "n_patients", (gint64)e->n_patients);
  demur_json_int(json, "n_sites", (gint64)e->n_sites);
  demur_json_int(json, "n_classes", (gint64)e->n_classes);
  if (e->n_classes == 2)
    demur_json_double(json, "prevalence", e->prevalence[1]);
  else
    demur_json_doubles(json, "prevalence", e->prevalence, e->n_classes);
  demur_json_string(json, "digest", e->digest);
  if (isfinite(e->horizon))
    demur_json_double(json, "horizon", e->horizon);
  demur_json_begin_object(json, "ipcw");
  demur_json_bool(json, "used", e->weighted);
  demur_json_int(json, "n_known", (gint64)e->n_known);
  demur_json_double(json, "n_effective", e->n_effective);
  demur_json_double(json, "cap", e->weighted ? DEMUR_WEIGHT_CAP : NAN);
  demur_json_int(json, "n_capped", (gint64)e->n_capped);
  demur_json_end_object(json);
  demur_json_begin_object(json, "trials");
  demur_json_int(json, "models", (gint64)e->n_models);
  demur_json_int(json, "resamples", (gint64)e->n_resamples);
  demur_json_string(json, "resample_unit", e->resample_unit);
  demur_json_end_object(json);
  demur_json_int(json, "bin_size", (gint64)e->min_bin_size);
  demur_json_bool(json, "replicates_in_cells", e->in_cells);
  demur_json_double(json, "net_benefit_threshold", e->net_benefit_threshold);
  demur_json_string(json, "interval_unit", demur_unit_name(e->interval_unit));
  demur_json_doubles(json, "coverages", e->coverages, DEMUR_N_COVERAGES);
  demur_json_begin_object(json, "histogram");
  demur_json_double(json, "low", e->histogram_low);
  demur_json_double(json, "width", e->histogram_width);
  demur_json_begin_array(json, "all");
  for (size_t b = 0; b < DEMUR_N_HISTOGRAM_BINS; b++)
    demur_json_int(json, NULL, (gint64)e->histogram_all[b]);
  demur_json_end_array(json);
  demur_json_end_object(json);
  demur_json_begin_array(json, "methods");
  for (size_t k = 0; k < e->n_methods; k++)
    write_method(&e->methods[k], e->n_classes, json);
  demur_json_end_array(json);
  demur_json_begin_array(json, "comparisons");
  for (size_t c = 0; c < e->n_comparisons; c++) {
    const DemurComparison *comparison = &e->comparisons[c];
    const double interval[2] = {comparison->low, comparison->high};
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "method", comparison->method);
    demur_json_string(json, "against", comparison->against);
    demur_json_string(json, "risk", comparison->recalibrated ? "recalibrated" : "raw");
    demur_json_string(json, "measure", demur_compared_name(comparison->measure, e->n_classes));
    demur_json_double(json, "difference", comparison->difference);
    demur_json_doubles(json, "interval", interval, 2);
    demur_json_double(json, "level", comparison->level);
    demur_json_string(json, "unit", demur_unit_name(comparison->unit));
    demur_json_int(json, "n_units", (gint64)comparison->n_units);
    demur_json_string(json, "correction", comparison->corrected ? "holm" : "none");
    demur_json_string(json, "verdict", demur_comparison_verdict_words(comparison->verdict));
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  if (e->n_groups > 0)
    write_groups(e, json);
  write_hold_back(e, json);
  write_audits(e, json);
  demur_json_begin_array(json, "warnings");
  for (size_t w = 0; w < e->n_warnings; w++) {
    g_autofree char *words = demur_warning_words(&e->warnings[w], NULL);
    demur_json_string(json, NULL, words);
  }
  demur_json_end_array(json);
}
