#include "report/charts.h"

#include "report/cohort-flow.h"
#include "report/coverage-curve.h"
#include "report/forest.h"
#include "report/format.h"
#include "report/pdf-finish.h"
#include "report/reliability.h"
#include "report/risk-over-time.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <math.h>
#include <string.h>

#define MOST_ROWS 40      /* of a forest plot that stands by itself */
#define PICTURE_WIDTH 480 /* points */
#define PICTURE_MARGIN 14
#define PNG_SCALE (300.0 / 72.0)

typedef enum {
  CHART_COVERAGE_CURVE,
  CHART_RELIABILITY,
  CHART_HISTOGRAM,
  CHART_REJECTION,
  CHART_FOREST,
  CHART_RISK_OVER_TIME,
  CHART_COHORT_FLOW,
} ChartType;

struct DemurChart {
  ChartType type;
  char *title;
  GPtrArray *owned; /* what the data below point to */
  union {
    DemurCoverageCurve curve;
    DemurReliability reliability;
    DemurConfidenceHistogram histogram;
    DemurRejectionChart rejection;
    DemurForest forest;
    DemurRiskOverTime risk;
    DemurCohortFlow flow;
  } data;
};

/* title is taken over. */
static DemurChart *
chart_new(ChartType type, char *title) {
  DemurChart *chart = g_new0(DemurChart, 1);
  chart->type = type;
  chart->title = title;
  chart->owned = g_ptr_array_new_with_free_func(g_free);
  return chart;
}

void
demur_chart_free(DemurChart *chart) {
  if (!chart)
    return;
  g_free(chart->title);
  g_ptr_array_unref(chart->owned);
  g_free(chart);
}

static gpointer
own(DemurChart *chart, gpointer memory) {
  g_ptr_array_add(chart->owned, memory);
  return memory;
}

const char *
demur_chart_title(const DemurChart *chart) {
  return chart->title;
}

/* ---- which methods a chart shows ---- */

static size_t
count_selectors(const DemurEvaluation *e, gboolean recalibrated) {
  size_t n = 0;
  for (size_t i = 0; i < e->n_methods; i++)
    n += g_str_has_prefix(e->methods[i].name, "selector:") &&
         !e->methods[i].recalibrated == !recalibrated;
  return n;
}

const char *
demur_chart_method_label(const DemurReportFinding *f, const DemurMethodResult *method) {
  if (method == f->confidence)
    return "confidence";
  if (method == f->full)
    return "everything";
  if (method == f->subject && g_str_has_prefix(method->name, "selector:") &&
      count_selectors(f->evaluation, method->recalibrated) == 1)
    return "selector";
  return demur_finding_title(f, method);
}

/* The subject, confidence, everything, then other selectors of the same kind of risk. */
static size_t
chart_methods(const DemurReportFinding *f, const DemurMethodResult **methods,
              DemurChartSeries *series, size_t most) {
  const DemurMethodResult *first[3] = {f->subject, f->confidence, f->full};
  size_t n = 0;
  for (size_t i = 0; i < 3 && n < most; i++) {
    gboolean repeated = first[i] == NULL;
    for (size_t k = 0; k < n; k++)
      repeated |= methods[k] == first[i];
    if (repeated)
      continue;
    series[n] = first[i] == f->full         ? DEMUR_SERIES_EVERYTHING
                : first[i] == f->confidence ? DEMUR_SERIES_CONFIDENCE
                                            : DEMUR_SERIES_SELECTOR;
    methods[n++] = first[i];
  }
  int other = DEMUR_SERIES_OTHER_1;
  for (size_t i = 0; i < f->evaluation->n_methods && n < most && other < DEMUR_N_SERIES; i++) {
    const DemurMethodResult *m = &f->evaluation->methods[i];
    if (m == f->subject || !g_str_has_prefix(m->name, "selector:") ||
        !m->recalibrated != !f->subject->recalibrated)
      continue;
    series[n] = (DemurChartSeries)other++;
    methods[n++] = m;
  }
  return n;
}

/* ---- from an evaluation to a chart ---- */

DemurChart *
demur_chart_coverage_curve(const DemurReportFinding *f, int measure, const char *title,
                           size_t most_methods) {
  const DemurMethodResult *methods[DEMUR_N_SERIES];
  DemurChartSeries styles[DEMUR_N_SERIES];
  const size_t n = chart_methods(f, methods, styles, MIN(most_methods, DEMUR_N_SERIES));
  DemurChart *chart = chart_new(CHART_COVERAGE_CURVE, g_strdup(title));
  DemurCoverageSeries *series = own(chart, g_new0(DemurCoverageSeries, n + 1));
  double *values = own(chart, g_new0(double, (n + 1) * 3 * DEMUR_N_COVERAGES));
  for (size_t s = 0; s < n; s++) {
    double *point = values + s * 3 * DEMUR_N_COVERAGES, *mean = point + DEMUR_N_COVERAGES,
           *sd = mean + DEMUR_N_COVERAGES;
    for (size_t i = 0; i < DEMUR_N_COVERAGES; i++) {
      const DemurCurvePoint *c = &methods[s]->curve[measure][i];
      point[i] = c->point;
      mean[i] = c->mean;
      sd[i] = c->sd;
    }
    series[s] =
        (DemurCoverageSeries){demur_chart_method_label(f, methods[s]), styles[s], point, mean, sd};
  }
  chart->data.curve =
      (DemurCoverageCurve){.title = chart->title,
                           .measure = demur_text_measure(measure, f->evaluation->n_classes),
                           .n = DEMUR_N_COVERAGES,
                           .coverages = f->evaluation->coverages,
                           .n_series = n,
                           .series = series,
                           .marker = f->coverage,
                           .from_zero = measure != DEMUR_MEASURE_ACCURACY,
                           .in_unit = measure != DEMUR_MEASURE_SITE_ERROR, /* a signed root */
                           .decimals = measure == DEMUR_MEASURE_BRIER ? 4 : 3};
  return chart;
}

DemurChart *
demur_chart_reliability(const DemurReportFinding *f, const DemurOperatingPoint *at,
                        DemurChartSeries series, const char *label, char *title, double axis_end) {
  DemurChart *chart = chart_new(CHART_RELIABILITY, title);
  chart->data.reliability = (DemurReliability){
      .title = title,
      .x_label = f->evaluation->n_classes > 2 ? "confidence shown" : "risk shown",
      .label = label,
      .series = series,
      .n_bins = at->n_reliability,
      .bins = at->reliability,
      .axis_end = axis_end};
  return chart;
}

DemurChart *
demur_chart_histogram(const DemurReportFinding *f, double coverage) {
  const DemurMethodResult *methods[2] = {f->subject, f->confidence};
  g_autofree char *percent = demur_text_coverage(coverage);
  DemurChart *chart =
      chart_new(CHART_HISTOGRAM, g_strdup_printf("Accepted at coverage %s", percent));
  DemurHistogramPanel *panels = own(chart, g_new0(DemurHistogramPanel, 3));
  size_t n = 0;
  for (size_t i = 0; i < 2; i++) {
    const DemurOperatingPoint *at = demur_finding_at(methods[i], coverage, FALSE);
    if (!at || (i == 1 && methods[1] == methods[0]) || methods[i] == f->full)
      continue;
    panels[n++] = (DemurHistogramPanel){demur_chart_method_label(f, methods[i]),
                                        methods[i] == f->confidence ? DEMUR_SERIES_CONFIDENCE
                                                                    : DEMUR_SERIES_SELECTOR,
                                        at->histogram, at->n_accepted};
  }
  if (n == 0) {
    demur_chart_free(chart);
    return NULL;
  }
  const DemurEvaluation *e = f->evaluation;
  /* Of the same kind of risk as the panels: recalibrating moves confidence. */
  const size_t *all = f->full && f->full->n_at > 0 ? f->full->at[0].histogram : e->histogram_all;
  panels[n++] = (DemurHistogramPanel){"everything", DEMUR_SERIES_EVERYTHING, all, e->n_scans};
  chart->data.histogram = (DemurConfidenceHistogram){.title = chart->title,
                                                     .n_bins = DEMUR_N_HISTOGRAM_BINS,
                                                     .low = e->histogram_low,
                                                     .width = e->histogram_width,
                                                     .all = all,
                                                     .n_panels = n,
                                                     .panels = panels};
  return chart;
}

DemurChart *
demur_chart_rejection(const DemurReportFinding *f, double coverage, DemurRejectionKind kind) {
  const DemurMethodResult *methods[2] = {f->subject, f->confidence};
  const size_t n_classes = f->evaluation->n_classes;
  g_autofree char *percent = demur_text_coverage(coverage);
  DemurChart *chart = chart_new(
      CHART_REJECTION, kind == DEMUR_REJECTION_RATES
                           ? g_strdup_printf("Share of each label refused at coverage %s", percent)
                           : g_strdup_printf("Each label's share of the refused at %s", percent));
  DemurRejectionSeries *series = own(chart, g_new0(DemurRejectionSeries, 2));
  size_t n = 0;
  for (size_t i = 0; i < 2; i++) {
    const DemurOperatingPoint *at = demur_finding_at(methods[i], coverage, FALSE);
    if (!at || at->n_labels != n_classes || (i == 1 && methods[1] == methods[0]) ||
        methods[i] == f->full)
      continue;
    series[n++] = (DemurRejectionSeries){demur_chart_method_label(f, methods[i]),
                                         methods[i] == f->confidence ? DEMUR_SERIES_CONFIDENCE
                                                                     : DEMUR_SERIES_SELECTOR,
                                         at->rejected_by_label};
  }
  if (n == 0) {
    demur_chart_free(chart);
    return NULL;
  }
  const char **labels = own(chart, g_new0(const char *, n_classes + 1));
  for (size_t l = 0; l < n_classes; l++)
    labels[l] = own(chart, demur_finding_label(f->input, l));
  chart->data.rejection = (DemurRejectionChart){.title = chart->title,
                                                .kind = kind,
                                                .n_labels = n_classes,
                                                .labels = labels,
                                                .n_series = n,
                                                .series = series};
  return chart;
}

/* Largest first, ties by name. */
static int
compare_rejections(gconstpointer a, gconstpointer b) {
  const DemurReportRejection *x = *(const DemurReportRejection *const *)a,
                             *y = *(const DemurReportRejection *const *)b;
  if (x->n_scans != y->n_scans)
    return x->n_scans > y->n_scans ? -1 : 1;
  return g_strcmp0(x->name, y->name);
}

DemurChart *
demur_chart_forest(const DemurReportFinding *f, size_t from, size_t to, size_t most_rows) {
  const DemurReportRejection *all = f->input->rejections;
  if (from >= to)
    return NULL;
  g_autoptr(GPtrArray) sorted = g_ptr_array_new();
  size_t n_small = 0;
  for (size_t i = from; i < to; i++)
    if (all[i].n_scans < DEMUR_REPORT_SMALL_CELL)
      n_small++;
    else
      g_ptr_array_add(sorted, (gpointer)&all[i]);
  g_ptr_array_sort(sorted, compare_rejections);
  const size_t n = MIN(sorted->len, most_rows);
  GString *title = g_string_new(NULL);
  g_string_append_printf(title, "By %s", all[from].attribute);
  if (n < sorted->len)
    g_string_append_printf(title, ": the %zu largest of %zu", n, to - from);
  if (n_small > 0)
    g_string_append_printf(title, "%s %zu of fewer than %d scans withheld",
                           n < sorted->len ? ";" : ":", n_small, DEMUR_REPORT_SMALL_CELL);
  DemurChart *chart = chart_new(CHART_FOREST, g_string_free(title, FALSE));
  DemurForestRow *rows = own(chart, g_new0(DemurForestRow, n + 1));
  for (size_t i = 0; i < n; i++) {
    const DemurReportRejection *r = g_ptr_array_index(sorted, i);
    rows[i] = (DemurForestRow){.label = r->name && *r->name ? r->name : "not recorded",
                               .n = r->n_scans,
                               .value = (double)r->n_rejected / (double)r->n_scans,
                               .low = r->low,
                               .high = r->high};
  }
  const DemurOperatingPoint *at = f->subject_at;
  chart->data.forest = (DemurForest){.title = chart->title,
                                     .value_label = "Refused",
                                     .interval_label = "95\u00a0% interval",
                                     .n_rows = n,
                                     .rows = rows,
                                     .reference = at ? 1 - at->realised : NAN};
  return chart;
}

DemurChart *
demur_chart_risk_over_time(const DemurReportFinding *f) {
  const DemurReportCohort *c = &f->input->cohort;
  if (c->n_years == 0)
    return NULL;
  DemurChart *chart =
      chart_new(CHART_RISK_OVER_TIME, g_strdup("Risk and what happened, by years after the scan"));
  double *values = own(chart, g_new0(double, 4 * c->n_years)), *observed = values + c->n_years,
         *low = observed + c->n_years, *high = low + c->n_years;
  size_t *n = own(chart, g_new0(size_t, c->n_years));
  for (size_t y = 0; y < c->n_years; y++) {
    const gboolean small = c->years[y].n < DEMUR_REPORT_SMALL_CELL;
    n[y] = c->years[y].n;
    values[y] = small ? NAN : c->years[y].mean_risk;
    observed[y] = small ? NAN : c->years[y].observed;
    low[y] = small ? NAN : c->years[y].low;
    high[y] = small ? NAN : c->years[y].high;
  }
  DemurRiskSeries *series = own(chart, g_new0(DemurRiskSeries, 2));
  series[0] = (DemurRiskSeries){
      "mean risk, everything shown", DEMUR_SERIES_SELECTOR, values, NULL, NULL, n, FALSE};
  series[1] = (DemurRiskSeries){
      "observed share", DEMUR_SERIES_CONFIDENCE, observed, low, high, NULL, FALSE};
  chart->data.risk = (DemurRiskOverTime){
      .title = chart->title, .n_years = c->n_years, .n_series = 2, .series = series};
  return chart;
}

DemurChart *
demur_chart_cohort_flow(const DemurReportFinding *f) {
  const DemurReportCohort *c = &f->input->cohort;
  const DemurEvaluation *e = f->evaluation;
  DemurChart *chart = chart_new(CHART_COHORT_FLOW, g_strdup("From the cohort to this result"));
  DemurFlowReason *left_out = own(chart, g_new0(DemurFlowReason, c->n_exclusions + 1));
  for (size_t i = 0; i < c->n_exclusions; i++)
    left_out[i] = (DemurFlowReason){c->exclusions[i].reason, c->exclusions[i].n};
  const size_t n = MAX(c->n_splits, 1);
  DemurFlowBox *splits = own(chart, g_new0(DemurFlowBox, n));
  DemurFlowBox whole = {own(chart, g_strdup_printf("Cohort %s", c->name ? c->name : e->cohort)), 0,
                        0, 0};
  size_t evaluated = n;
  for (size_t s = 0; s < c->n_splits; s++) {
    splits[s] = (DemurFlowBox){c->splits[s].name, c->splits[s].n_scans, c->splits[s].n_patients,
                               c->splits[s].n_sites};
    whole.n_scans += c->splits[s].n_scans;
    whole.n_patients += c->splits[s].n_patients; /* no patient stands in two splits */
    if (g_strcmp0(c->splits[s].name, e->split) == 0)
      evaluated = s;
  }
  if (c->n_splits == 0) {
    splits[0] = (DemurFlowBox){e->split, e->n_scans, e->n_patients, e->n_sites};
    whole = (DemurFlowBox){whole.label, e->n_scans, e->n_patients, e->n_sites};
    evaluated = 0;
  }
  const DemurOperatingPoint *at = f->subject_at;
  g_autofree char *coverage = demur_text_coverage(f->coverage);
  chart->data.flow = (DemurCohortFlow){
      .title = NULL,
      .whole = whole,
      .n_left_out = c->n_exclusions,
      .left_out = left_out,
      .n_splits = n,
      .splits = splits,
      .evaluated = evaluated,
      .accepted_label = own(chart, g_strdup_printf("Accepted (%s asked)", coverage)),
      .n_accepted = at ? at->n_accepted : 0,
      .n_refused = at ? e->n_scans - at->n_accepted : 0};
  return chart;
}

/* ---- what every chart can do ---- */

double
demur_chart_height(const DemurChart *chart, const DemurPalette *palette, double width) {
  switch (chart->type) {
  case CHART_FOREST:
    return demur_forest_height(&chart->data.forest, palette, width);
  case CHART_COHORT_FLOW:
    return demur_cohort_flow_height(&chart->data.flow, palette, width);
  case CHART_HISTOGRAM:
    return width * 0.34;
  case CHART_RELIABILITY:
    return width * 0.72;
  default:
    return width * 0.56;
  }
}

void
demur_chart_draw(const DemurChart *chart, cairo_t *cr, const DemurPalette *palette,
                 DemurRectangle rectangle) {
  switch (chart->type) {
  case CHART_COVERAGE_CURVE:
    demur_coverage_curve_draw(&chart->data.curve, cr, palette, rectangle);
    break;
  case CHART_RELIABILITY:
    demur_reliability_draw(&chart->data.reliability, cr, palette, rectangle);
    break;
  case CHART_HISTOGRAM:
    demur_confidence_histogram_draw(&chart->data.histogram, cr, palette, rectangle);
    break;
  case CHART_REJECTION:
    demur_rejection_chart_draw(&chart->data.rejection, cr, palette, rectangle);
    break;
  case CHART_FOREST:
    demur_forest_draw(&chart->data.forest, cr, palette, rectangle);
    break;
  case CHART_RISK_OVER_TIME:
    demur_risk_over_time_draw(&chart->data.risk, cr, palette, rectangle);
    break;
  case CHART_COHORT_FLOW:
    demur_cohort_flow_draw(&chart->data.flow, cr, palette, rectangle);
    break;
  default:
    g_return_if_reached();
  }
}

DemurChartTable *
demur_chart_table(const DemurChart *chart) {
  switch (chart->type) {
  case CHART_COVERAGE_CURVE:
    return demur_coverage_curve_table(&chart->data.curve);
  case CHART_RELIABILITY:
    return demur_reliability_table(&chart->data.reliability);
  case CHART_HISTOGRAM:
    return demur_confidence_histogram_table(&chart->data.histogram);
  case CHART_REJECTION:
    return demur_rejection_chart_table(&chart->data.rejection);
  case CHART_FOREST:
    return demur_forest_table(&chart->data.forest);
  case CHART_RISK_OVER_TIME:
    return demur_risk_over_time_table(&chart->data.risk);
  case CHART_COHORT_FLOW:
    return demur_cohort_flow_table(&chart->data.flow);
  default:
    g_return_val_if_reached(NULL);
  }
}

char *
demur_chart_alternative(const DemurChart *chart) {
  switch (chart->type) {
  case CHART_COVERAGE_CURVE:
    return demur_coverage_curve_alternative(&chart->data.curve);
  case CHART_RELIABILITY:
    return demur_reliability_alternative(&chart->data.reliability);
  case CHART_HISTOGRAM:
    return demur_confidence_histogram_alternative(&chart->data.histogram);
  case CHART_REJECTION:
    return demur_rejection_chart_alternative(&chart->data.rejection);
  case CHART_FOREST:
    return demur_forest_alternative(&chart->data.forest);
  case CHART_RISK_OVER_TIME:
    return demur_risk_over_time_alternative(&chart->data.risk);
  case CHART_COHORT_FLOW:
    return demur_cohort_flow_alternative(&chart->data.flow);
  default:
    g_return_val_if_reached(NULL);
  }
}

/* ---- charts by name ---- */

typedef DemurChart *(*MakeFunc)(const DemurReportFinding *finding, const char *attribute,
                                int argument, GError **error);

static void
nothing_to_draw(const char *what, GError **error) {
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE, "there is nothing to draw: %s", what);
}

static DemurChart *
make_curve(const DemurReportFinding *f, const char *attribute, int measure, GError **error) {
  const gboolean multi = f->evaluation->n_classes > 2;
  static const char *const titles[DEMUR_N_MEASURES] = {
      "Calibration error", "Largest bin error", "Brier score",
      "Accuracy",          "Site error",        "Kernel calibration error"};
  g_autofree char *title =
      measure == DEMUR_MEASURE_BRIER || measure == DEMUR_MEASURE_SITE_ERROR
          ? g_strdup(titles[measure])
      : measure == DEMUR_MEASURE_ACCURACY
          ? g_strdup(multi ? "Accuracy of the top class" : "Accuracy at risk .5")
          : g_strdup_printf("%s %s", titles[measure],
                            demur_text_measure(measure, f->evaluation->n_classes));
  return demur_chart_coverage_curve(f, measure, title, DEMUR_N_SERIES);
}

static DemurChart *
make_reliability(const DemurReportFinding *f, const char *attribute, int everything,
                 GError **error) {
  const DemurOperatingPoint *at = everything ? f->full_at : f->subject_at;
  if (!at) {
    nothing_to_draw("no operating point of that coverage was evaluated", error);
    return NULL;
  }
  const char *label = demur_chart_method_label(f, everything ? f->full : f->subject);
  g_autofree char *percent = demur_text_coverage(everything ? 1 : f->coverage);
  g_autofree char *scans = demur_text_counted(at->n_accepted, "scan", "scans");
  g_autofree char *yes = f->evaluation->n_classes > 2 ? NULL : demur_finding_label(f->input, 1);
  char *title = yes ? g_strdup_printf("Observed share with “%s” (%s, coverage %s: %s)", yes, label,
                                      percent, scans)
                    : g_strdup_printf("Share right (%s, coverage %s: %s)", label, percent, scans);
  return demur_chart_reliability(
      f, at, everything ? DEMUR_SERIES_EVERYTHING : DEMUR_SERIES_SELECTOR, label, title, 0);
}

static DemurChart *
make_histogram(const DemurReportFinding *f, const char *attribute, int argument, GError **error) {
  DemurChart *chart = demur_chart_histogram(f, f->coverage);
  if (!chart)
    nothing_to_draw("no method has an operating point of that coverage", error);
  return chart;
}

static DemurChart *
make_rejection(const DemurReportFinding *f, const char *attribute, int kind, GError **error) {
  DemurChart *chart = demur_chart_rejection(f, f->coverage, (DemurRejectionKind)kind);
  if (!chart)
    nothing_to_draw("no method has an operating point of that coverage", error);
  return chart;
}

static DemurChart *
make_forest(const DemurReportFinding *f, const char *attribute, int argument, GError **error) {
  const DemurReportInput *input = f->input;
  size_t from = 0, to;
  if (input->n_rejections == 0) {
    nothing_to_draw("refusals by subgroup were not evaluated", error);
    return NULL;
  }
  g_autoptr(GString) names = g_string_new(NULL);
  for (size_t i = 0; i < input->n_rejections; i++)
    if (i == 0 ||
        g_strcmp0(input->rejections[i].attribute, input->rejections[i - 1].attribute) != 0)
      g_string_append_printf(names, "%s%s", names->len ? ", " : "", input->rejections[i].attribute);
  while (attribute && from < input->n_rejections &&
         g_strcmp0(input->rejections[from].attribute, attribute) != 0)
    from++;
  if (from == input->n_rejections) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND,
                "there are no subgroups by '%s' here; there are: %s", attribute, names->str);
    return NULL;
  }
  for (to = from; to < input->n_rejections && g_strcmp0(input->rejections[to].attribute,
                                                        input->rejections[from].attribute) == 0;)
    to++;
  return demur_chart_forest(f, from, to, MOST_ROWS);
}

static DemurChart *
make_risk(const DemurReportFinding *f, const char *attribute, int argument, GError **error) {
  DemurChart *chart = demur_chart_risk_over_time(f);
  if (!chart)
    nothing_to_draw("the cohort has no yearly risks (risk_year_1 ..) with years of follow-up",
                    error);
  return chart;
}

static DemurChart *
make_flow(const DemurReportFinding *f, const char *attribute, int argument, GError **error) {
  return demur_chart_cohort_flow(f);
}

static const DemurChartKind kinds[] = {
    {"coverage-sbce2", "Calibration error S-BCE₂ (S-TCE₂) against coverage"},
    {"coverage-sbceinf", "Largest bin error S-BCE∞ (S-TCE∞) against coverage"},
    {"coverage-brier", "Brier score against coverage"},
    {"coverage-accuracy", "Accuracy against coverage"},
    {"coverage-site-error", "Site error against coverage"},
    {"coverage-smmce", "Kernel calibration error S-MMCE against coverage"},
    {"reliability", "Reliability of the accepted scans"},
    {"reliability-everything", "Reliability of all scans"},
    {"confidence-histogram", "Confidence of accepted scans against all"},
    {"rejection-shares", "Each label's share of the refused"},
    {"rejection-rates", "Share of each label that is refused"},
    {"forest", "Refusals by site or another subgroup"},
    {"risk-over-time", "Yearly risk and observed share by years after the scan"},
    {"cohort-flow", "From the cohort to the result"},
};

static const struct {
  MakeFunc make;
  int argument;
} makers[] = {
    {make_curve, DEMUR_MEASURE_SBCE2},
    {make_curve, DEMUR_MEASURE_SBCEINF},
    {make_curve, DEMUR_MEASURE_BRIER},
    {make_curve, DEMUR_MEASURE_ACCURACY},
    {make_curve, DEMUR_MEASURE_SITE_ERROR},
    {make_curve, DEMUR_MEASURE_SMMCE},
    {make_reliability, FALSE},
    {make_reliability, TRUE},
    {make_histogram, 0},
    {make_rejection, DEMUR_REJECTION_SHARES},
    {make_rejection, DEMUR_REJECTION_RATES},
    {make_forest, 0},
    {make_risk, 0},
    {make_flow, 0},
};
G_STATIC_ASSERT(G_N_ELEMENTS(kinds) == G_N_ELEMENTS(makers));

const DemurChartKind *
demur_chart_kinds(size_t *n) {
  *n = G_N_ELEMENTS(kinds);
  return kinds;
}

static void
unknown_chart(const char *name, GError **error) {
  g_autoptr(GString) names = g_string_new(NULL);
  for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
    g_string_append_printf(names, "%s%s", i ? ", " : "", kinds[i].name);
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE, "there is no chart '%s'; there are: %s", name,
              names->str);
}

DemurChart *
demur_chart_new(const char *name, const DemurReportInput *input, double coverage,
                const char *attribute, GError **error) {
  if (!input->evaluation || input->evaluation->n_methods == 0) {
    nothing_to_draw("the evaluation holds no method", error);
    return NULL;
  }
  DemurReportInput at_coverage = *input;
  if (coverage > 0)
    at_coverage.coverage = coverage;
  DemurReportFinding finding = demur_finding(&at_coverage);
  finding.input = input; /* outlives the chart, unlike the copy; its coverage is not read again */
  for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
    if (strcmp(kinds[i].name, name) == 0)
      return makers[i].make(&finding, attribute, makers[i].argument, error);
  unknown_chart(name, error);
  return NULL;
}

/* ---- files ---- */

char *
demur_chart_caption(const DemurReportInput *input) {
  const DemurEvaluation *e = input->evaluation;
  g_autofree char *digest = demur_text_digest(e->digest);
  return g_strdup_printf("%s%scohort %s, split %s · demur %s · rows %s",
                         e->simulated ? "Simulated data · " : "",
                         e->in_sample ? "In-sample · " : "", e->cohort, e->split,
                         input->version ? input->version : "", digest);
}

static cairo_status_t
append_bytes(void *closure, const unsigned char *data, unsigned int length) {
  g_byte_array_append(closure, data, length);
  return CAIRO_STATUS_SUCCESS;
}

static void
draw_picture(const DemurChart *chart, cairo_t *cr, const char *caption, double height) {
  const DemurPalette *palette = demur_palette_paper();
  const double inner = PICTURE_WIDTH - 2 * PICTURE_MARGIN;
  demur_chart_draw(chart, cr, palette,
                   (DemurRectangle){PICTURE_MARGIN, PICTURE_MARGIN, inner, height});
  if (caption)
    demur_chart_text(cr, palette, caption, 6.5, FALSE, palette->muted, PICTURE_MARGIN,
                     PICTURE_MARGIN + height + 8, 0, 0, inner);
}

/* Cairo numbers the glyphs of an SVG by a counter of the process: they are counted anew here, in
 * the order in which they first appear, so that the same chart gives the same bytes. */
static void
steady_names(GByteArray *svg) {
  static const char *const marks[] = {"glyph",  "clip",   "surface", "image", "pattern",
                                      "linear", "radial", "mask",    "source"};
  g_autoptr(GHashTable) numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  GByteArray *out = g_byte_array_new();
  guint counters[G_N_ELEMENTS(marks)] = {0};
  for (guint i = 0; i < svg->len;) {
    const char *text = (const char *)svg->data + i;
    size_t mark = 0, length = 0;
    const gboolean starts = i > 0 && (text[-1] == '"' || text[-1] == '#');
    for (; starts && mark < G_N_ELEMENTS(marks); mark++) {
      const size_t n = strlen(marks[mark]);
      if (svg->len - i > n && strncmp(text, marks[mark], n) == 0 && g_ascii_isdigit(text[n])) {
        length = n + strspn(text + n, "0123456789-");
        break;
      }
    }
    if (length == 0) {
      g_byte_array_append(out, svg->data + i, 1);
      i++;
      continue;
    }
    g_autofree char *name = g_strndup(text, length);
    const char *known = g_hash_table_lookup(numbers, name);
    if (!known) {
      char *made = g_strdup_printf("%s%u", marks[mark], counters[mark]++);
      g_hash_table_insert(numbers, g_steal_pointer(&name), made);
      known = made;
    }
    g_byte_array_append(out, (const guint8 *)known, (guint)strlen(known));
    i += (guint)length;
  }
  g_byte_array_set_size(svg, 0);
  g_byte_array_append(svg, out->data, out->len);
  g_byte_array_unref(out);
}

static const char *
ending_of(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot ? dot : "";
}

static gboolean
check_ending(const char *path, GError **error) {
  static const char *const endings[] = {".svg", ".png", ".pdf", ".csv"};
  for (size_t i = 0; i < G_N_ELEMENTS(endings); i++)
    if (g_ascii_strcasecmp(ending_of(path), endings[i]) == 0)
      return TRUE;
  g_set_error(
      error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
      "'%s' names no picture: a chart's file ends in .svg, .png, .pdf or .csv (the table of "
      "its numbers)",
      path);
  return FALSE;
}

gboolean
demur_chart_check(const char *name, const char *path, GError **error) {
  for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
    if (strcmp(kinds[i].name, name) == 0)
      return check_ending(path, error);
  unknown_chart(name, error);
  return FALSE;
}

gboolean
demur_chart_write(const DemurChart *chart, const char *path, const char *caption, GError **error) {
  const char *ending = ending_of(path);
  const GFileSetContentsFlags whole = G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE;
  if (!check_ending(path, error))
    return FALSE;
  if (g_ascii_strcasecmp(ending, ".csv") == 0) {
    g_autoptr(DemurChartTable) table = demur_chart_table(chart);
    g_autofree char *csv = demur_chart_table_csv(table, caption);
    return g_file_set_contents_full(path, csv, -1, whole, 0644, error);
  }
  const double inner = PICTURE_WIDTH - 2 * PICTURE_MARGIN,
               height = demur_chart_height(chart, demur_palette_paper(), inner),
               page = height + 2 * PICTURE_MARGIN + (caption ? 16 : 0);
  g_autoptr(GByteArray) bytes = g_byte_array_new();
  cairo_surface_t *surface = NULL;
  const gboolean png = g_ascii_strcasecmp(ending, ".png") == 0,
                 svg = g_ascii_strcasecmp(ending, ".svg") == 0;
  if (svg) {
    surface = cairo_svg_surface_create_for_stream(append_bytes, bytes, PICTURE_WIDTH, page);
    cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PT);
  } else if (png)
    surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)ceil(PICTURE_WIDTH * PNG_SCALE),
                                         (int)ceil(page * PNG_SCALE));
  else
    surface = cairo_pdf_surface_create_for_stream(append_bytes, bytes, PICTURE_WIDTH, page);
  const gboolean pdf = !svg && !png;
  cairo_t *cr = cairo_create(surface);
  if (png)
    cairo_scale(cr, PNG_SCALE, PNG_SCALE);
  /* Before any tag: painting the whole page makes Cairo forget what was recorded so far. */
  demur_chart_colour(cr, demur_palette_paper()->paper, 1);
  cairo_paint(cr);
  if (pdf) {
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, chart->title);
    cairo_tag_begin(cr, "Document", NULL);
    cairo_tag_begin(cr, "Figure", NULL);
  }
  draw_picture(chart, cr, caption, height);
  if (pdf) {
    cairo_tag_end(cr, "Figure");
    cairo_show_page(cr);
    cairo_tag_end(cr, "Document");
  }
  cairo_status_t status = cairo_status(cr);
  cairo_destroy(cr);
  if (png && status == CAIRO_STATUS_SUCCESS)
    status = cairo_surface_write_to_png_stream(surface, append_bytes, bytes);
  cairo_surface_finish(surface);
  if (status == CAIRO_STATUS_SUCCESS)
    status = cairo_surface_status(surface);
  cairo_surface_destroy(surface);
  if (status != CAIRO_STATUS_SUCCESS) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE, "Cairo could not draw the chart: %s",
                cairo_status_to_string(status));
    return FALSE;
  }
  if (svg)
    steady_names(bytes);
  if (pdf) {
    g_autofree char *alternative = demur_chart_alternative(chart);
    const char *const alternatives[] = {alternative, NULL};
    const DemurPdfFacts facts = {.title = chart->title, .alternatives = alternatives};
    size_t n;
    guchar *finished = demur_pdf_finish(bytes->data, bytes->len, &facts, &n, error);
    if (!finished)
      return FALSE;
    g_byte_array_set_size(bytes, 0);
    g_byte_array_append(bytes, finished, (guint)n);
    g_free(finished);
  }
  return g_file_set_contents_full(path, (const char *)bytes->data, (gssize)bytes->len, whole, 0644,
                                  error);
}
