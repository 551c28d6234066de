#include "report/use.h"

#include <math.h>

#include "report/format.h"
#include "report/withheld.h"

#define MOST_TOLD 1e6

char *
demur_text_evidence(double evidence, DemurTranslate translate) {
  if (evidence > MOST_TOLD) {
    g_autofree char *most = demur_text_count((guint64)MOST_TOLD);
    /* Translators: of an e-value that is larger than this number. */
    return g_strdup_printf(demur_translate(translate, N_("over %s")), most);
  }
  return evidence < 9.95 ? demur_text_decimal(evidence, 1)
                         : demur_text_count((guint64)llround(evidence));
}

static void
write_interval(DemurJson *json, const char *key, double value, const char *interval_key, double low,
               double high) {
  const double interval[2] = {low, high};
  demur_json_double(json, key, value);
  demur_json_doubles(json, interval_key, interval, 2);
}

static void
write_signal(DemurJson *json, const DemurReportSignal *s) {
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "signal", demur_watch_columns[s->signal].name);
  demur_json_string(json, "rule", demur_watch_rule_name(s->rule));
  demur_json_int(json, "n", (gint64)s->n);
  demur_json_int(json, "n_waiting", (gint64)s->n_waiting);
  demur_json_double(json, "evidence", s->now);
  demur_json_double(json, "evidence_most", s->most);
  demur_json_string(json, "evidence_most_reached", s->most_reached);
  demur_json_double(json, "limit", s->limit);
  demur_json_bool(json, "alarm", s->alarm);
  demur_json_string(json, "alarm_reached", s->alarm_reached);
  demur_json_string(json, "since", s->since);
  demur_json_string(json, "sentence", s->change_iso);
  demur_json_begin_array(json, "path");
  for (size_t i = 0; i < s->n_points; i++) {
    demur_json_begin_object(json, NULL);
    demur_json_int(json, "n", (gint64)s->at[i]);
    demur_json_double(json, "evidence", s->evidence[i]);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_end_object(json);
}

static void
write_alarm(DemurJson *json, const DemurReportAlarm *a) {
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "signal", demur_watch_columns[a->signal].name);
  demur_json_string(json, "sentence", a->change_iso);
  demur_json_string(json, "created", a->created);
  demur_json_bool(json, "withholds", a->withholds);
  demur_json_string(json, "lifted", a->lifted);
  demur_json_string(json, "lifted_by", a->lifted_by);
  demur_json_string(json, "lifted_why", a->lifted_why);
  demur_json_end_object(json);
}

/* Where there are none nothing is written, so that a report of before is made again as it was. */
static void
write_stops(DemurJson *json, const DemurReportStop *stops, size_t n) {
  if (n == 0)
    return;
  demur_json_begin_array(json, "stopped_by");
  for (size_t i = 0; i < n; i++) {
    const DemurReportStop *s = &stops[i];
    demur_json_begin_object(json, NULL);
    demur_json_int(json, "alarm", s->alarm);
    demur_json_string(json, "signal", demur_watch_columns[s->signal].name);
    demur_json_string(json, "selector", s->selector);
    demur_json_string(json, "site", s->site);
    demur_json_string(json, "created", s->created);
    demur_json_bool(json, "unsure", s->unsure);
    demur_json_string(json, "sentence", s->sentence_iso);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}

static void
write_watch(DemurJson *json, const DemurReportWatch *w) {
  demur_json_begin_object(json, NULL);
  demur_json_int(json, "watch", w->id);
  demur_json_string(json, "site", w->site);
  demur_json_string(json, "reference", w->reference);
  demur_json_string(json, "began", w->began);
  demur_json_string(json, "plan_digest", w->plan_digest);
  demur_json_bool(json, "simulated", w->simulated);
  demur_json_bool(json, "selector_changed", w->outdated);
  demur_json_bool(json, "withheld", w->stopped);
  demur_json_string(json, "headline", w->headline_iso);
  demur_json_double(json, "alpha", w->alpha);
  demur_json_double(json, "limit", w->limit);
  const struct {
    const char *key;
    size_t n;
  } counts[] = {{"n_patients", w->n_patients}, {"n_scans", w->n_scans},     {"n_again", w->n_again},
                {"n_before", w->n_before},     {"n_trained", w->n_trained}, {"n_gone", w->n_gone}};
  for (size_t i = 0; i < G_N_ELEMENTS(counts); i++)
    demur_json_int(json, counts[i].key, (gint64)counts[i].n);
  demur_json_begin_array(json, "signals");
  for (size_t s = 0; s < w->n_signals; s++)
    write_signal(json, &w->signals[s]);
  demur_json_end_array(json);
  demur_json_begin_array(json, "alarms");
  for (size_t a = 0; a < w->n_alarms; a++)
    write_alarm(json, &w->alarms[a]);
  demur_json_end_array(json);
  write_stops(json, w->stops, w->n_stops);
  demur_json_end_object(json);
}

static void
write_answer(DemurJson *json, const DemurReportAcceptance *a) {
  demur_json_string(json, "answer", demur_acceptance_answer_name(a->answer));
  demur_json_string(json, "looked", a->looked);
  demur_json_string(json, "labels_digest", a->labels_digest);
  demur_json_bool(json, "coverage_kept", a->coverage_kept);
  demur_withheld_write_count(json, a->few, "n_labels", a->n_labels);
  demur_withheld_write_count(json, a->few, "n_events", a->n_events);
  demur_json_int(json, "n_more", (gint64)a->n_more);
  write_interval(json, "observed_over_expected", a->ratio, "observed_over_expected_interval",
                 a->ratio_low, a->ratio_high);
  write_interval(json, "without_audit", a->unaudited, "without_audit_interval", a->unaudited_low,
                 a->unaudited_high);
  demur_json_double(json, "evidence_above_low", a->evidence_above);
  demur_json_double(json, "evidence_below_high", a->evidence_below);
  write_interval(json, "calibration_intercept", a->intercept, "calibration_intercept_interval",
                 a->intercept_low, a->intercept_high);
  write_interval(json, "auroc", a->auroc, "auroc_interval", a->auroc_low, a->auroc_high);
}

static void
write_acceptance(DemurJson *json, const DemurReportAcceptance *a) {
  const double range[2] = {a->range_low, a->range_high};
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "site", a->site);
  demur_json_string(json, "cohort", a->cohort);
  demur_json_string(json, "planned", a->planned);
  demur_json_string(json, "plan_digest", a->plan_digest);
  demur_json_bool(json, "simulated", a->simulated);
  demur_json_bool(json, "selector_changed", a->outdated);
  demur_json_doubles(json, "range", range, 2);
  demur_json_double(json, "alpha", a->alpha);
  demur_json_double(json, "alpha_of_all_plans", a->alpha_of_all);
  demur_json_int(json, "n_earlier_plans", (gint64)a->n_earlier);
  demur_json_bool(json, "labels_changed", a->labels_changed);
  demur_json_double(json, "power", a->power);
  demur_json_double(json, "requested_coverage", a->coverage_asked);
  write_interval(json, "coverage", a->coverage, "coverage_interval", a->coverage_low,
                 a->coverage_high);
  demur_json_int(json, "n_needed", (gint64)a->n_needed);
  demur_json_int(json, "n_planned", (gint64)a->n_planned);
  demur_json_double(json, "audit_intercept", a->audit_intercept);
  demur_json_begin_array(json, "looks");
  for (size_t i = 0; i < a->n_looks; i++) {
    const DemurReportLook *look = &a->looks[i];
    demur_json_begin_object(json, NULL);
    demur_json_int(json, "n_labels", (gint64)look->n_labels);
    write_interval(json, "observed_over_expected", look->ratio, "interval", look->low, look->high);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  if (a->answered)
    write_answer(json, a);
  demur_json_end_object(json);
}

void
demur_report_use_write(DemurJson *json, const DemurReportUse *use) {
  if (use == NULL)
    return;
  const DemurReportUpTo *to = &use->up_to;
  demur_json_begin_object(json, "used_up_to");
  demur_json_int(json, "watch", to->watch);
  demur_json_int(json, "verdict", to->verdict);
  demur_json_int(json, "label", to->label);
  demur_json_int(json, "alarm", to->alarm);
  demur_json_int(json, "lift", to->lift);
  demur_json_int(json, "plan", to->plan);
  demur_json_int(json, "acceptance", to->acceptance);
  demur_json_end_object(json);
  demur_json_begin_array(json, "watches");
  for (size_t i = 0; i < use->n_watches; i++)
    write_watch(json, &use->watches[i]);
  demur_json_end_array(json);
  write_stops(json, use->stops, use->n_stops);
  demur_json_begin_array(json, "acceptances");
  for (size_t i = 0; i < use->n_acceptances; i++)
    write_acceptance(json, &use->acceptances[i]);
  demur_json_end_array(json);
}
