/* The results in order; its parts are files of their own. */
#include "report/section.h"

#include "report/charts.h"
#include "report/format.h"

#include <math.h>

static DemurLayoutFigure
curve_figure(const DemurPages *p, DemurMeasure measure, const char *title) {
  return demur_section_figure(
      demur_chart_coverage_curve(&p->finding, (int)measure, title, DEMUR_SERIES_BASELINE_1));
}

#define N_SHOWN 4

/* The m-th of N_SHOWN rows: the threshold in use first, then all at one coverage. Fills the first
 * cell; NULL: no such row. */
static const DemurOperatingPoint *
begin_row(DemurPages *p, size_t m, DemurRows *rows) {
  const DemurReportFinding *f = &p->finding;
  const DemurMethodResult *methods[N_SHOWN] = {f->tuned ? f->subject : NULL, f->subject,
                                               f->confidence, f->full};
  const DemurOperatingPoint *at =
      m == 0 ? f->subject_at : demur_finding_at(methods[m], f->coverage, FALSE);
  if (!at || !methods[m] || (m > 1 && methods[m] == f->subject))
    return NULL;
  const char *title = demur_section_short_title(p, methods[m]);
  demur_rows_cell(rows, m == 0 ? g_strdup_printf("%s\ntuned threshold", title) : g_strdup(title));
  return at;
}

/* What the table above has no room for. */
static void
add_further(DemurPages *p) {
  static const struct {
    DemurMeasure measure;
    int decimals;
  } columns_of[] = {{DEMUR_MEASURE_SLOPE_INTERCEPT, 2},
                    {DEMUR_MEASURE_E50, 3},
                    {DEMUR_MEASURE_E90, 3},
                    {DEMUR_MEASURE_SBCE1, 3},
                    {DEMUR_MEASURE_SPIEGELHALTER, 2},
                    {DEMUR_MEASURE_HOSMER_LEMESHOW, 1}};
  const size_t n_classes = p->e->n_classes, first = n_classes == 2 ? 0 : 1;
  DemurRows rows = demur_rows_new();
  for (size_t m = 0; m < N_SHOWN; m++) {
    const DemurOperatingPoint *at = begin_row(p, m, &rows);
    if (!at)
      continue;
    for (size_t c = first; c < G_N_ELEMENTS(columns_of); c++)
      demur_rows_cell(
          &rows, demur_finding_measure_text(at, columns_of[c].measure, columns_of[c].decimals));
    demur_rows_end(&rows, m == 0);
  }
  DemurLayoutColumn columns[1 + G_N_ELEMENTS(columns_of)] = {{"Method", FALSE, 70, FALSE}};
  size_t n = 1;
  for (size_t c = first; c < G_N_ELEMENTS(columns_of); c++)
    columns[n++] =
        (DemurLayoutColumn){demur_measure_symbol(columns_of[c].measure, n_classes), TRUE, 0, FALSE};
  demur_rows_table(p, &rows, n, columns);
  demur_section_text(
      p, DEMUR_TEXT_NOTE,
      "%sE50 and E90: median and 90\u00a0%% quantile of what ICI is the mean of. Spiegelhalter's z "
      "is standard normal where every risk is right; Hosmer and Lemeshow's statistic, of 10 groups "
      "of equal mass, is then chi-squared with 10 degrees of freedom.",
      n_classes == 2 ? "Intercept: beside the slope above. " : "");
}

/* Calibration in the large and slope, discrimination and usefulness of what is shown. */
static void
add_calibration(DemurPages *p) {
  const DemurEvaluation *e = p->e;
  const gboolean binary = e->n_classes == 2;
  DemurRows rows = demur_rows_new();
  for (size_t m = 0; m < N_SHOWN; m++) {
    const DemurOperatingPoint *at = begin_row(p, m, &rows);
    if (!at)
      continue;
    demur_rows_cell(&rows, demur_text_percent(at->realised, 1));
    demur_rows_cell(&rows, demur_section_measure(at, DEMUR_MEASURE_OE_RATIO));
    if (binary) {
      demur_rows_cell(&rows, demur_section_measure(at, DEMUR_MEASURE_INTERCEPT));
      demur_rows_cell(&rows, demur_section_interval(at->measures[DEMUR_MEASURE_SLOPE],
                                                    at->intervals[DEMUR_MEASURE_SLOPE], 2));
    }
    demur_rows_cell(&rows, demur_text_decimal(at->measures[DEMUR_MEASURE_ICI], 3));
    demur_rows_cell(&rows, demur_section_interval(at->debiased, at->debiased_interval, 3));
    demur_rows_cell(&rows, demur_section_interval(at->measures[DEMUR_MEASURE_SITE_ERROR],
                                                  at->site_error_interval, 3));
    if (binary)
      demur_rows_cell(&rows, demur_section_interval(at->measures[DEMUR_MEASURE_AUROC],
                                                    at->intervals[DEMUR_MEASURE_AUROC], 3));
    demur_rows_end(&rows, m == 0);
  }
  if (rows.bold->len == 0) {
    g_ptr_array_unref(rows.cells);
    g_array_unref(rows.bold);
    return;
  }
  g_autofree char *percent = demur_text_coverage(p->finding.coverage);
  demur_section_text(p, DEMUR_TEXT_HEADING,
                     "Calibration and discrimination of what is shown, at coverage %s", percent);
  DemurLayoutColumn columns[9];
  size_t n = 0;
  columns[n++] = (DemurLayoutColumn){"Method", FALSE, 70, FALSE};
  columns[n++] = (DemurLayoutColumn){"Coverage", TRUE, 0, FALSE};
  columns[n++] = (DemurLayoutColumn){"O:E", TRUE, 0, FALSE};
  if (binary) {
    columns[n++] = (DemurLayoutColumn){"In the large", TRUE, 0, FALSE};
    columns[n++] = (DemurLayoutColumn){"Slope", TRUE, 0, FALSE};
  }
  columns[n++] = (DemurLayoutColumn){"ICI", TRUE, 0, FALSE};
  columns[n++] = (DemurLayoutColumn){"Debiased error", TRUE, 0, FALSE};
  columns[n++] = (DemurLayoutColumn){"Site error", TRUE, 0, FALSE};
  if (binary)
    columns[n++] = (DemurLayoutColumn){"AUROC", TRUE, 0, FALSE};
  demur_rows_table(p, &rows, n, columns);
  demur_section_text(
      p, DEMUR_TEXT_NOTE,
      "O:E: observed over expected outcomes, 1 is right. In the large: the intercept with the "
      "slope held at 1, 0 is right; slope: 1 is right. "
      "ICI: mean distance of a smooth calibration curve from the risk. Second line: 95\u00a0%% "
      "interval over %ss.",
      demur_unit_name(e->interval_unit));
  add_further(p);
}

/* All methods in one picture. */
static void
add_baselines(DemurPages *p, const char *measure) {
  g_autofree char *title = g_strdup_printf("%s of all methods", measure);
  demur_layout_keep_begin(p->layout);
  demur_section_chart(
      p, 190, demur_chart_coverage_curve(&p->finding, DEMUR_MEASURE_SBCE2, title, DEMUR_N_SERIES));
  demur_layout_keep_end(p->layout);
}

static void
add_decision(DemurPages *p) {
  DemurChart *chart = demur_chart_decision_curve(&p->finding);
  if (!chart)
    return;
  demur_section_text(p, DEMUR_TEXT_HEADING, "Usefulness of the risks");
  demur_layout_keep_begin(p->layout);
  demur_section_chart(p, 158, chart);
  g_autofree char *coverage = demur_text_coverage(p->finding.coverage);
  demur_section_text(
      p, DEMUR_TEXT_NOTE,
      "Net benefit a scan: true positives less false positives weighed by the odds of the "
      "threshold "
      "(Vickers and Elkin 2006); treating nobody is 0. Of all scans, and of those accepted at "
      "coverage %s, each counted among its own. Dotted upright: the threshold of the tables. A "
      "line "
      "ends where it falls far below 0.",
      coverage);
  demur_layout_keep_end(p->layout);
}

void
demur_section_results(DemurPages *p) {
  const DemurEvaluation *e = p->e;
  const gboolean multi = e->n_classes > 2;
  g_autofree char *trials = demur_section_trials(e);
  demur_layout_page_break(p->layout, DEMUR_SECTION_ROOM);
  demur_layout_text(p->layout, DEMUR_TEXT_SECTION, "Results");
  demur_section_text(p, DEMUR_TEXT_HEADING, "All methods, averaged over coverage");
  demur_section_auc_table(p);
  demur_section_text(
      p, DEMUR_TEXT_NOTE,
      "Area under the curve over %d coverages from .05 to 1, divided by its range. First line: the "
      "split as it is, mean over "
      "models; second line: mean ± sd of %s. Lower is better but for accuracy. Debiased: the error "
      "with its expected part by chance subtracted; squares are averaged over coverage, then the "
      "signed root taken, so that it may exceed the plain average. Noise floor: what perfectly "
      "calibrated risks would show. "
      "“–”: undefined or not computed.",
      DEMUR_N_COVERAGES, trials);
  demur_section_text(p, DEMUR_TEXT_HEADING, "Measures against coverage");
  demur_layout_keep_begin(p->layout);
  const char *two = demur_text_measure(DEMUR_MEASURE_SBCE2, e->n_classes),
             *inf = demur_text_measure(DEMUR_MEASURE_SBCEINF, e->n_classes);
  g_autofree char *title_two = g_strdup_printf("%s, calibration error", two),
                  *title_inf = g_strdup_printf("%s, largest bin error", inf);
  DemurLayoutFigure figures[4] = {
      curve_figure(p, DEMUR_MEASURE_SBCE2, title_two),
      curve_figure(p, DEMUR_MEASURE_SBCEINF, title_inf),
      curve_figure(p, DEMUR_MEASURE_BRIER, "Brier score"),
      curve_figure(p, DEMUR_MEASURE_ACCURACY,
                   multi ? "Accuracy of the top class" : "Accuracy at risk .5")};
  demur_layout_figures(p->layout, 158, 2, figures);
  demur_layout_keep_end(p->layout);
  demur_layout_keep_begin(p->layout);
  demur_layout_figures(p->layout, 158, 2, figures + 2);
  g_autofree char *coverage = demur_text_coverage(p->finding.coverage);
  demur_section_text(
      p, DEMUR_TEXT_NOTE,
      "Lines: the split as it is. Bands: ± one sd over %s, around the line. Dotted "
      "upright: coverage %s. A gap: undefined there. Marks: the sets of scans that Brier "
      "score and accuracy are told of, without bands.",
      trials, coverage);
  demur_layout_keep_end(p->layout);
  add_baselines(p, two);
  for (size_t i = 0; i < DEMUR_SECTION_N_COVERAGES; i++) {
    g_autofree char *percent = demur_text_coverage(demur_section_coverages[i]);
    demur_section_text(p, DEMUR_TEXT_HEADING, "All methods at coverage %s", percent);
    demur_section_operating_table(p, demur_section_coverages[i], FALSE);
  }
  demur_section_text(p, DEMUR_TEXT_NOTE,
                     "Thresholds from this split's own scores, labels unseen; the split as it is.");
  g_autofree char *counted_note = demur_finding_counted_note(&p->finding);
  if (counted_note)
    demur_layout_text(p->layout, DEMUR_TEXT_NOTE, counted_note);
  add_calibration(p);
  add_decision(p);
  demur_section_comparisons(p);
  demur_section_reliability(p);
  demur_section_histograms(p);
  demur_section_rejections(p);
  demur_section_subgroups(p);
  demur_section_group_calibration(p);
}
