/* The charts of an evaluation by name: what the report prints and `demur chart` writes to a file. A
 * chart is made once from the report's input and then drawn anywhere; it has a title, a table of its
 * numbers and an alternative text. The workstation draws the same kinds (report/chart.h) from what
 * its slider moves.
 *
 *   demur_chart_kind(i)                            names and titles
 *   chart = demur_chart_new(name, input, ..)       from data
 *   demur_chart_draw(chart, cr, palette, rect)     on screen or paper
 *   demur_chart_table(chart), demur_chart_describe(chart)
 *   demur_chart_write(chart, "curve.svg", ..)      to a file */
#pragma once

#include "report/confidence-histogram.h"
#include "report/finding.h"
#include "report/rejection-by-label.h"
#include "report/report.h"

G_BEGIN_DECLS

typedef struct DemurChart DemurChart;

typedef struct {
  const char *name;   /* "coverage-sbce2" */
  const char *title;  /* for lists: "Calibration error S-BCE₂ against coverage" */
  const char *groups; /* it shows groups of scans by this, or another attribute, which have to be
                       * evaluated; NULL: it shows none */
  gboolean of_use;    /* it shows what became of the selector in use: nothing is evaluated for it */
} DemurChartKind;

/* NULL: there are no more. */
const DemurChartKind *demur_chart_kind(size_t i);

/* coverage: of the operating point, 0: the input's; attribute: of a forest plot, NULL: the first
 * there is; of what became of the selector in use: the site, NULL likewise. input and what it points to must outlive the chart. NULL with DEMUR_ERROR_USAGE for an
 * unknown name and DEMUR_ERROR_NOT_FOUND for an unknown attribute, with the list of those there
 * are; DEMUR_ERROR_STATE where the input holds nothing to draw. */
DemurChart *demur_chart_new(const char *name, const DemurReportInput *input, double coverage,
                            const char *attribute, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_chart_free(DemurChart *chart);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurChart, demur_chart_free)

const char *demur_chart_title(const DemurChart *chart);

/* The height the chart is meant to have at that width. */
double demur_chart_height(const DemurChart *chart, const DemurPalette *palette, double width);
void demur_chart_draw(const DemurChart *chart, cairo_t *cr, const DemurPalette *palette,
                      DemurRectangle rectangle);
DemurChartTable *demur_chart_table(const DemurChart *chart);
char *demur_chart_describe(const DemurChart *chart);

/* Writes the chart whole or not at all, by the ending of path: .svg, .png (300 dpi), .pdf, or .csv
 * for the table of its numbers. caption (may be NULL) stands below the picture. DEMUR_ERROR_USAGE
 * for another ending, else as base/file-output.h says. Same input, same bytes. */
gboolean demur_chart_write(const DemurChart *chart, const char *path, const char *caption,
                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The chart of that name, if there is one and path has such an ending: what can be said before
 * anything is computed. NULL with DEMUR_ERROR_USAGE otherwise. */
const DemurChartKind *demur_chart_check(const char *name, const char *path,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether anything in the input is of simulated patients. */
gboolean demur_chart_simulated(const DemurReportInput *input);

/* "Simulated data · cohort ist, split test · demur 0.1.0 · rows 9f2c 77a0 41d3" (owned). */
char *demur_chart_caption(const DemurReportInput *input);

/* --- the report's own, with its titles; NULL where there is nothing to draw --- */

DemurChart *demur_chart_coverage_curve(const DemurReportFinding *finding, int measure,
                                       const char *title, size_t most_methods);
/* title is taken over. axis_end 0: from the data. */
DemurChart *demur_chart_reliability(const DemurReportFinding *finding,
                                    const DemurOperatingPoint *at, DemurChartSeries series,
                                    const char *label, char *title, double axis_end);
DemurChart *demur_chart_histogram(const DemurReportFinding *finding, double coverage);
/* The same at each operating coverage that was evaluated, below each other. */
DemurChart *demur_chart_risk_distribution(const DemurReportFinding *finding);
/* S-BCE_2 (S-TCE_2) over coverage of the subject, confidence and everything in each of the groups
 * [from, to) of the evaluation, and its mean over them, the most_rows largest. */
DemurChart *demur_chart_group_bars(const DemurReportFinding *finding, size_t from, size_t to,
                                   size_t most_rows);
DemurChart *demur_chart_rejection(const DemurReportFinding *finding, double coverage,
                                  DemurRejectionKind kind);
/* Rows [from, to) of the input's rejections, the most_rows largest. */
DemurChart *demur_chart_forest(const DemurReportFinding *finding, size_t from, size_t to,
                               size_t most_rows);
/* O:E of the accepted scans of groups [from, to) of the evaluation, the most_rows largest. */
DemurChart *demur_chart_oe_forest(const DemurReportFinding *finding, size_t from, size_t to,
                                  size_t most_rows);
/* Of a forest plot: shows rows [first, first + n) alone, as a part of it that stands on a page.
 * Returns how many rows there are. */
size_t demur_chart_forest_part(DemurChart *chart, size_t first, size_t n);
/* Net benefit of treating by risk, of all scans and of the accepted ones. */
DemurChart *demur_chart_decision_curve(const DemurReportFinding *finding);
DemurChart *demur_chart_risk_over_time(const DemurReportFinding *finding);
DemurChart *demur_chart_cohort_flow(const DemurReportFinding *finding);
/* Of the watch at that site, NULL: the first. signal DEMUR_N_WATCH: every one that has patients. */
DemurChart *demur_chart_watch(const DemurReportUse *use, const char *site, DemurWatchSignal signal);
DemurChart *demur_chart_acceptance(const DemurReportUse *use, const char *site);

/* A method's short name at a line or a panel; borrowed. */
const char *demur_chart_method_label(const DemurReportFinding *finding,
                                     const DemurMethodResult *method);

G_END_DECLS
