/* From a report's finding to a chart: which methods it shows, and its data out of the evaluation.
 */
#include "report/charts-private.h"

#include "report/chart-words.h"
#include "report/format.h"
#include "report/withheld.h"

#include <math.h>

DemurChart *
demur_chart_begin(const DemurChartInterface *interface, char *title) {
  DemurChart *chart = g_new0(DemurChart, 1);
  chart->interface = interface;
  chart->title = title;
  chart->owned = g_ptr_array_new_with_free_func(g_free);
  return chart;
}

gpointer
demur_chart_own(DemurChart *chart, gpointer memory) {
  g_ptr_array_add(chart->owned, memory);
  return memory;
}

/* ---- which methods a chart shows ---- */

static size_t
count_selectors(const DemurEvaluation *e, gboolean recalibrated) {
  size_t n = 0;
  for (size_t i = 0; i < e->n_methods; i++)
    n +=
        e->methods[i].kind == DEMUR_METHOD_SELECTOR && !e->methods[i].recalibrated == !recalibrated;
  return n;
}

const char *
demur_chart_method_label(const DemurReportFinding *f, const DemurMethodResult *method) {
  if (method == f->confidence)
    return "confidence";
  if (method == f->full)
    return "everything";
  if (method == f->subject && method->kind == DEMUR_METHOD_SELECTOR &&
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
    if (m == f->subject || m->kind != DEMUR_METHOD_SELECTOR ||
        !m->recalibrated != !f->subject->recalibrated)
      continue;
    series[n] = (DemurChartSeries)other++;
    methods[n++] = m;
  }
  /* What needs no training of a selector; entropy ranks like confidence where K = 2. */
  int baseline = DEMUR_SERIES_BASELINE_1;
  for (size_t i = 0; most > DEMUR_SERIES_BASELINE_1 && i < f->evaluation->n_methods && n < most &&
                     baseline <= DEMUR_SERIES_BASELINE_7;
       i++) {
    const DemurMethodResult *m = &f->evaluation->methods[i];
    const gboolean twin = f->evaluation->n_classes == 2 && m->kind == DEMUR_METHOD_ENTROPY;
    if (m == f->subject || m == f->confidence || m == f->full || twin ||
        m->kind == DEMUR_METHOD_SELECTOR || !m->recalibrated != !f->subject->recalibrated)
      continue;
    series[n] = (DemurChartSeries)baseline++;
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
  DemurChart *chart = demur_chart_begin(&demur_coverage_curve_chart, g_strdup(title));
  DemurCoverageSeries *series = demur_chart_own(chart, g_new0(DemurCoverageSeries, n + 1));
  double *values = demur_chart_own(chart, g_new0(double, (n + 1) * 3 * DEMUR_N_COVERAGES));
  for (size_t s = 0; s < n; s++) {
    double *point = values + s * 3 * DEMUR_N_COVERAGES, *mean = point + DEMUR_N_COVERAGES,
           *sd = mean + DEMUR_N_COVERAGES;
    for (size_t i = 0; i < DEMUR_N_COVERAGES; i++) {
      const DemurCurvePoint *c = &methods[s]->curve[measure][i];
      point[i] = c->point;
      mean[i] = c->mean;
      sd[i] = c->sd;
    }
    /* Many bands over each other tell nothing: the table has them. */
    const gboolean band = n < DEMUR_COVERAGE_CURVE_KEY || styles[s] == DEMUR_SERIES_SELECTOR;
    series[s] = (DemurCoverageSeries){
        demur_chart_method_label(f, methods[s]), styles[s], point, mean, sd, !band};
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
                           .across = demur_measure_row(measure)->tells == DEMUR_TELLS_COUNT,
                           .decimals = measure == DEMUR_MEASURE_BRIER ? 4 : 3};
  return chart;
}

/* Where no line of a decision curve lies above 0 any more, and a little beyond. */
static double
decision_end(const DemurOperatingPoint *const *points, size_t n) {
  double end = 0.1;
  for (size_t p = 0; p < n; p++)
    for (size_t t = 0; t < DEMUR_N_DECISIONS; t++) {
      const DemurNetBenefit *benefit = &points[p]->decision[t];
      if (isfinite(benefit->model) && fmax(benefit->model, benefit->all) > 1e-4)
        end = fmax(end, demur_decision_thresholds[t]);
    }
  return end;
}

DemurChart *
demur_chart_decision_curve(const DemurReportFinding *f) {
  const DemurOperatingPoint *full = f->full && f->full->n_at > 0 ? &f->full->at[0] : NULL;
  const DemurOperatingPoint *points[2];
  const char *labels[2];
  size_t n_points = 0;
  if (f->evaluation->n_classes == 2 && f->subject_at && f->subject != f->full &&
      f->subject_at->n_counted > 0) {
    labels[n_points] = "accepted";
    points[n_points++] = f->subject_at;
  }
  if (f->evaluation->n_classes == 2 && full) {
    labels[n_points] = "all scans";
    points[n_points++] = full;
  }
  if (n_points == 0)
    return NULL;
  DemurChart *chart = demur_chart_begin(&demur_coverage_curve_chart, g_strdup("Decision curve"));
  const double end = decision_end(points, n_points);
  DemurCoverageSeries *series =
      demur_chart_own(chart, g_new0(DemurCoverageSeries, 2 * n_points + 1));
  double *values = demur_chart_own(chart, g_new0(double, 2 * n_points * DEMUR_N_DECISIONS));
  double highest = 0;
  size_t n = 0, n_thresholds = 0;
  while (n_thresholds < DEMUR_N_DECISIONS && demur_decision_thresholds[n_thresholds] <= end)
    n_thresholds++;
  for (size_t p = 0; p < n_points; p++)
    for (size_t t = 0; t < n_thresholds; t++)
      highest = fmax(highest, fmax(points[p]->decision[t].model, points[p]->decision[t].all));
  for (size_t p = 0; p < n_points; p++)
    for (int all = 0; all < 2; all++) {
      double *line = values + n * DEMUR_N_DECISIONS;
      for (size_t t = 0; t < n_thresholds; t++) {
        const DemurNetBenefit *benefit = &points[p]->decision[t];
        const double value = all ? benefit->all : benefit->model;
        line[t] = value < -0.3 * highest ? NAN : value; /* treating all falls without end */
      }
      series[n++] = (DemurCoverageSeries){
          demur_chart_own(chart, g_strdup_printf(all ? "%s, treat all" : "%s, by risk", labels[p])),
          points[p] == f->subject_at ? (all ? DEMUR_SERIES_OTHER_1 : DEMUR_SERIES_SELECTOR)
                                     : (all ? DEMUR_SERIES_OTHER_3 : DEMUR_SERIES_EVERYTHING),
          line,
          NULL,
          NULL,
          FALSE};
    }
  chart->data.curve = (DemurCoverageCurve){.title = chart->title,
                                           .measure = "Net benefit",
                                           .n = n_thresholds,
                                           .coverages = demur_decision_thresholds,
                                           .n_series = n,
                                           .series = series,
                                           .marker = f->evaluation->net_benefit_threshold,
                                           .decimals = 4,
                                           .x_label = "threshold risk",
                                           .x_end = end,
                                           .keyed = TRUE};
  return chart;
}

/* "slope .75 (.51 to .99)" and others that are known; corner: NULL-terminated. */
static void
fill_corner(DemurChart *chart, const DemurOperatingPoint *at, char **corner) {
  static const struct {
    DemurMeasure measure;
    const char *name;
  } shown[] = {{DEMUR_MEASURE_OE_RATIO, "O:E"},
               {DEMUR_MEASURE_SLOPE, "slope"},
               {DEMUR_MEASURE_INTERCEPT, "in the large"}};
  for (size_t i = 0; i < G_N_ELEMENTS(shown); i++) {
    const double value = at->measures[shown[i].measure];
    const DemurInterval interval = at->intervals[shown[i].measure];
    g_autofree char *text = demur_text_decimal(value, 2),
                    *low = demur_text_decimal(interval.low, 2),
                    *high = demur_text_decimal(interval.high, 2);
    if (!isfinite(value))
      continue;
    *corner++ = demur_chart_own(
        chart, isfinite(interval.low) && isfinite(interval.high)
                   ? g_strdup_printf("%s %s (%s to %s)", shown[i].name, text, low, high)
                   : g_strdup_printf("%s %s", shown[i].name, text));
  }
}

DemurChart *
demur_chart_reliability(const DemurReportFinding *f, const DemurOperatingPoint *at,
                        DemurChartSeries series, const char *label, char *title, double axis_end) {
  DemurChart *chart = demur_chart_begin(&demur_reliability_chart, title);
  const DemurEvaluation *e = f->evaluation;
  char **corner = demur_chart_own(chart, g_new0(char *, 4));
  fill_corner(chart, at, corner);
  chart->data.reliability = (DemurReliability){
      .title = title,
      .x_label = f->evaluation->n_classes > 2 ? "confidence shown" : "risk shown",
      .label = label,
      .series = series,
      .n_bins = at->n_reliability,
      .bins = at->reliability,
      .n_smooth = at->n_smooth,
      .smooth = at->smooth,
      .corner = (const char *const *)corner,
      .histogram = at->histogram,
      .n_histogram = DEMUR_N_HISTOGRAM_BINS,
      .histogram_low = e->histogram_low,
      .histogram_width = e->histogram_width,
      .axis_end = axis_end};
  return chart;
}

/* Panels of the subject, confidence and everything at a coverage; n_panels 0: no method has such a
 * point. title is borrowed. */
static DemurConfidenceHistogram
histogram_of(DemurChart *chart, const DemurReportFinding *f, double coverage, const char *title) {
  const DemurMethodResult *methods[2] = {f->subject, f->confidence};
  DemurHistogramPanel *panels = demur_chart_own(chart, g_new0(DemurHistogramPanel, 3));
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
  const DemurEvaluation *e = f->evaluation;
  /* Of the same kind of risk as the panels: recalibrating moves confidence. */
  const size_t *all = f->full && f->full->n_at > 0 ? f->full->at[0].histogram : e->histogram_all;
  if (n > 0)
    panels[n++] = (DemurHistogramPanel){"everything", DEMUR_SERIES_EVERYTHING, all, e->n_scans};
  return (DemurConfidenceHistogram){.title = title,
                                    .x_label = e->n_classes > 2 ? NULL : "risk",
                                    .n_bins = DEMUR_N_HISTOGRAM_BINS,
                                    .low = e->histogram_low,
                                    .width = e->histogram_width,
                                    .all = all,
                                    .n_panels = n,
                                    .panels = panels};
}

static char *
histogram_title(double coverage) {
  g_autofree char *percent = demur_text_coverage(coverage);
  return g_strdup_printf("Accepted at coverage %s", percent);
}

DemurChart *
demur_chart_histogram(const DemurReportFinding *f, double coverage) {
  DemurChart *chart =
      demur_chart_begin(&demur_confidence_histogram_chart, histogram_title(coverage));
  chart->data.histogram = histogram_of(chart, f, coverage, chart->title);
  if (chart->data.histogram.n_panels > 0)
    return chart;
  demur_chart_free(chart);
  return NULL;
}

DemurChart *
demur_chart_risk_distribution(const DemurReportFinding *f) {
  DemurChart *chart =
      demur_chart_begin(&demur_risk_distribution_chart,
                        g_strdup(f->evaluation->n_classes > 2 ? "Confidences that are shown"
                                                              : "Risks that are shown"));
  DemurConfidenceHistogram *rows =
      demur_chart_own(chart, g_new0(DemurConfidenceHistogram, DEMUR_N_OPERATING_COVERAGES));
  double *coverages = demur_chart_own(chart, g_new0(double, DEMUR_N_OPERATING_COVERAGES));
  size_t n = 0;
  for (size_t c = 0; c < DEMUR_N_OPERATING_COVERAGES; c++) {
    coverages[n] = demur_operating_coverages[c];
    rows[n] =
        histogram_of(chart, f, coverages[n], demur_chart_own(chart, histogram_title(coverages[n])));
    n += rows[n].n_panels > 0 ? 1 : 0;
  }
  chart->data.distribution = (DemurRiskDistribution){n, rows, coverages};
  if (n > 0)
    return chart;
  demur_chart_free(chart);
  return NULL;
}

DemurChart *
demur_chart_rejection(const DemurReportFinding *f, double coverage, DemurRejectionKind kind) {
  const DemurMethodResult *methods[2] = {f->subject, f->confidence};
  const size_t n_classes = f->evaluation->n_classes;
  g_autofree char *percent = demur_text_coverage(coverage);
  DemurChart *chart =
      demur_chart_begin(&demur_rejection_chart,
                        kind == DEMUR_REJECTION_RATES
                            ? g_strdup_printf("Share of each label refused at coverage %s", percent)
                            : g_strdup_printf("Each label's share of the refused at %s", percent));
  DemurRejectionSeries *series = demur_chart_own(chart, g_new0(DemurRejectionSeries, 2));
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
  const char **labels = demur_chart_own(chart, g_new0(const char *, n_classes + 1));
  for (size_t l = 0; l < n_classes; l++)
    labels[l] = demur_chart_own(chart, demur_finding_label(f->input, l));
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
  g_autofree gboolean *withheld = demur_withheld_rejections(all + from, to - from);
  for (size_t i = from; i < to; i++)
    if (withheld[i - from])
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
    g_string_append_printf(title, "%s %zu small ones withheld", n < sorted->len ? ";" : ":",
                           n_small);
  DemurChart *chart = demur_chart_begin(&demur_forest_chart, g_string_free(title, FALSE));
  DemurForestRow *rows = demur_chart_own(chart, g_new0(DemurForestRow, n + 1));
  for (size_t i = 0; i < n; i++) {
    const DemurReportRejection *r = g_ptr_array_index(sorted, i);
    rows[i] = (DemurForestRow){.label = demur_text_recorded(r->name),
                               .is_word = demur_chart_is_word(r->attribute, r->name),
                               .n = r->n_scans,
                               .value = (double)r->n_rejected / (double)r->n_scans,
                               .low = r->low,
                               .high = r->high};
  }
  const DemurOperatingPoint *at = f->subject_at;
  chart->data.forest = (DemurForestPlot){.title = chart->title,
                                         .value_label = "Refused",
                                         .interval_label = "95\u00a0% interval",
                                         .n_rows = n,
                                         .rows = rows,
                                         .reference = at ? 1 - at->realised : NAN};
  return chart;
}

static int
compare_group_sizes(gconstpointer a, gconstpointer b) {
  const DemurGroup *x = *(const DemurGroup *const *)a, *y = *(const DemurGroup *const *)b;
  if (x->n_scans != y->n_scans)
    return x->n_scans > y->n_scans ? -1 : 1;
  return g_strcmp0(x->value, y->value);
}

DemurChart *
demur_chart_oe_forest(const DemurReportFinding *f, size_t from, size_t to, size_t most_rows) {
  const DemurGroup *groups = f->evaluation->groups;
  g_autoptr(GPtrArray) sorted = g_ptr_array_new();
  for (size_t g = from; g < to; g++) {
    const DemurOperatingPoint *at = demur_finding_group_at(f, &groups[g]);
    if (at && isfinite(at->measures[DEMUR_MEASURE_OE_RATIO]))
      g_ptr_array_add(sorted, (gpointer)&groups[g]);
  }
  if (sorted->len == 0)
    return NULL;
  g_ptr_array_sort(sorted, compare_group_sizes);
  const size_t n = MIN(sorted->len, most_rows);
  DemurChart *chart = demur_chart_begin(
      &demur_forest_chart,
      n < to - from ? g_strdup_printf("Observed over expected by %s: the %zu largest of %zu",
                                      groups[from].by, n, to - from)
                    : g_strdup_printf("Observed over expected by %s", groups[from].by));
  DemurForestRow *rows = demur_chart_own(chart, g_new0(DemurForestRow, n + 1));
  gboolean others = FALSE;
  for (size_t i = 0; i < n; i++) {
    const DemurGroup *group = g_ptr_array_index(sorted, i);
    const DemurOperatingPoint *at = demur_finding_group_at(f, group);
    others |= demur_operating_counts_others(at);
    rows[i] = (DemurForestRow){.label = demur_text_recorded(group->value),
                               .is_word = demur_chart_is_word(group->by, group->value),
                               .n = at->n_counted > 0 ? at->n_counted : at->n_accepted,
                               .value = at->measures[DEMUR_MEASURE_OE_RATIO],
                               .low = at->intervals[DEMUR_MEASURE_OE_RATIO].low,
                               .high = at->intervals[DEMUR_MEASURE_OE_RATIO].high};
  }
  chart->data.forest = (DemurForestPlot){.title = chart->title,
                                         .value_label = "O:E",
                                         .interval_label = "95\u00a0% interval",
                                         .n_rows = n,
                                         .rows = rows,
                                         .reference = 1,
                                         .ratio = TRUE,
                                         .n_label = others ? "Counted" : "Accepted"};
  return chart;
}

/* The subject's, confidence's or everything's error in a group; NaN: withheld. */
static double
group_error(const DemurGroup *group, const DemurMethodResult *method) {
  for (size_t m = 0; m < group->n_methods; m++)
    if (g_str_equal(group->methods[m].name, method->name) &&
        !group->methods[m].recalibrated == !method->recalibrated)
      return group->methods[m].sbce2_auc;
  return NAN;
}

DemurChart *
demur_chart_group_bars(const DemurReportFinding *f, size_t from, size_t to, size_t most_rows) {
  const DemurEvaluation *e = f->evaluation;
  const DemurMethodResult *methods[DEMUR_N_SERIES];
  DemurChartSeries styles[DEMUR_N_SERIES];
  const size_t n_series = chart_methods(f, methods, styles, 3);
  g_autoptr(GPtrArray) sorted = g_ptr_array_new();
  for (size_t g = from; g < to; g++)
    if (isfinite(group_error(&e->groups[g], f->subject)))
      g_ptr_array_add(sorted, (gpointer)&e->groups[g]);
  if (sorted->len == 0)
    return NULL;
  g_ptr_array_sort(sorted, compare_group_sizes);
  const size_t n = MIN(sorted->len, most_rows);
  const char *measure = demur_text_measure(DEMUR_MEASURE_SBCE2, e->n_classes),
             *by = e->groups[from].by;
  DemurChart *chart = demur_chart_begin(
      &demur_group_bars_chart,
      n < to - from ? g_strdup_printf("%s by %s: the %zu largest of %zu", measure, by, n, to - from)
                    : g_strdup_printf("%s by %s", measure, by));
  DemurBarGroup *groups = demur_chart_own(chart, g_new0(DemurBarGroup, n + 1));
  double *values = demur_chart_own(chart, g_new0(double, (n + 1) * n_series)),
         *means = values + n * n_series;
  for (size_t i = 0; i < n; i++) {
    const DemurGroup *group = g_ptr_array_index(sorted, i);
    groups[i] = (DemurBarGroup){demur_text_recorded(group->value), values + i * n_series,
                                demur_chart_is_word(group->by, group->value)};
    for (size_t s = 0; s < n_series; s++) {
      values[i * n_series + s] = group_error(group, methods[s]);
      means[s] += values[i * n_series + s] / (double)n;
    }
  }
  groups[n] = (DemurBarGroup){.label = "mean", .values = means};
  const char **labels = demur_chart_own(chart, g_new0(const char *, n_series + 1));
  for (size_t s = 0; s < n_series; s++)
    labels[s] = demur_chart_method_label(f, methods[s]);
  chart->data.bars = (DemurGroupBars){
      .title = chart->title,
      .measure = demur_chart_own(chart, g_strdup_printf("%s, averaged over coverage", measure)),
      .n_groups = n + 1,
      .groups = groups,
      .n_series = n_series,
      .labels = labels,
      .series = demur_chart_own(chart, g_memdup2(styles, n_series * sizeof *styles))};
  return chart;
}

size_t
demur_chart_forest_part(DemurChart *chart, size_t first, size_t n) {
  g_return_val_if_fail(chart->interface == &demur_forest_chart, 0);
  DemurForestPlot *forest = &chart->data.forest;
  forest->first = first;
  forest->n_shown = n;
  if (first > 0)
    forest->title = NULL;
  return forest->n_rows;
}

DemurChart *
demur_chart_risk_over_time(const DemurReportFinding *f) {
  const DemurReportCohort *c = &f->input->cohort;
  if (c->n_years == 0)
    return NULL;
  DemurChart *chart = demur_chart_begin(
      &demur_risk_over_time_chart, g_strdup("Risk and what happened, by years after the scan"));
  double *values = demur_chart_own(chart, g_new0(double, 4 * c->n_years)),
         *observed = values + c->n_years, *low = observed + c->n_years, *high = low + c->n_years;
  size_t *n = demur_chart_own(chart, g_new0(size_t, c->n_years));
  for (size_t y = 0; y < c->n_years; y++) {
    const gboolean small = demur_withheld_year(&c->years[y]);
    n[y] = c->years[y].n;
    values[y] = small ? NAN : c->years[y].mean_risk;
    observed[y] = small ? NAN : c->years[y].observed;
    low[y] = small ? NAN : c->years[y].low;
    high[y] = small ? NAN : c->years[y].high;
  }
  DemurRiskSeries *series = demur_chart_own(chart, g_new0(DemurRiskSeries, 2));
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
  DemurChart *chart =
      demur_chart_begin(&demur_cohort_flow_chart, g_strdup("From the cohort to this result"));
  DemurFlowReason *left_out = demur_chart_own(chart, g_new0(DemurFlowReason, c->n_exclusions + 1));
  for (size_t i = 0; i < c->n_exclusions; i++)
    left_out[i] = (DemurFlowReason){c->exclusions[i].reason, c->exclusions[i].n};
  DemurFlowReason *noticed = demur_chart_own(chart, g_new0(DemurFlowReason, c->n_noticed + 1));
  size_t n_noticed = 0;
  for (size_t i = 0; i < c->n_noticed; i++)
    if (!c->noticed[i].told_elsewhere)
      noticed[n_noticed++] = (DemurFlowReason){c->noticed[i].reason, c->noticed[i].n};
  const size_t n = MAX(c->n_splits, 1);
  DemurFlowBox *splits = demur_chart_own(chart, g_new0(DemurFlowBox, n));
  DemurFlowBox whole = {
      demur_chart_own(chart, g_strdup_printf("Cohort %s", c->name ? c->name : e->cohort)), 0, 0, 0};
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
      .n_noticed = n_noticed,
      .noticed = noticed,
      .n_splits = n,
      .splits = splits,
      .evaluated = evaluated,
      .accepted_label = demur_chart_own(chart, g_strdup_printf("Accepted (%s asked)", coverage)),
      .n_accepted = at ? at->n_accepted : 0,
      .n_refused = at ? e->n_scans - at->n_accepted : 0};
  return chart;
}
