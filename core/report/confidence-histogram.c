#include "report/confidence-histogram.h"

#include "report/chart-words.h"
#include "report/format.h"

#include <math.h>

static size_t
total(const size_t *counts, size_t n) {
  size_t sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += counts[i];
  return sum;
}

static DemurPlot
begin_panel(const DemurConfidenceHistogram *chart, const DemurHistogramPanel *panel, cairo_t *cr,
            const DemurPalette *palette, DemurRectangle rectangle) {
  size_t most = 1;
  for (size_t i = 0; i < chart->n_bins; i++)
    most = MAX(most, chart->all[i]);
  DemurAxis y = demur_axis_nice(0, (double)most, 3);
  if (y.step < 1) /* counts are whole */
    y = (DemurAxis){.low = 0, .high = (double)most, .step = 1, .decimals = 0};
  g_autofree char *count =
      demur_text_counted(panel->n_accepted, demur_chart_word("scan"), demur_chart_word("scans"));
  g_autofree char *label = g_strdup_printf("%s: %s", panel->label, count);
  const DemurChartFrame frame = {
      .x_label = chart->x_label ? chart->x_label : demur_chart_word("confidence"),
      .x = demur_axis_nice(chart->low, chart->low + (double)chart->n_bins * chart->width, 4),
      .y = y,
      .y_style = DEMUR_NUMBER_COUNT,
      .y_label = label};
  return demur_plot_begin(cr, palette, rectangle, &frame);
}

static void
draw_panel(const DemurConfidenceHistogram *chart, const DemurHistogramPanel *panel, cairo_t *cr,
           const DemurPalette *palette, DemurRectangle rectangle) {
  const DemurPlot plot = begin_panel(chart, panel, cr, palette, rectangle);
  cairo_save(cr);
  demur_plot_clip(&plot, cr);
  const double base = demur_plot_y(&plot, 0);
  for (size_t i = 0; i < chart->n_bins; i++) {
    const double left = demur_plot_x(&plot, chart->low + (double)i * chart->width),
                 right = demur_plot_x(&plot, chart->low + (double)(i + 1) * chart->width);
    if (panel->accepted[i] == 0)
      continue;
    const double top = demur_plot_y(&plot, (double)panel->accepted[i]);
    cairo_rectangle(cr, left + 0.35, top, fmax(right - left - 0.7, 0.4), base - top);
    demur_chart_hatch(cr, palette, panel->series, 0.85);
  }
  /* All scans: the outline, drawn as steps. */
  for (size_t i = 0; i < chart->n_bins; i++) {
    const double top = demur_plot_y(&plot, (double)chart->all[i]);
    cairo_line_to(cr, demur_plot_x(&plot, chart->low + (double)i * chart->width), top);
    cairo_line_to(cr, demur_plot_x(&plot, chart->low + (double)(i + 1) * chart->width), top);
  }
  demur_chart_colour(cr, palette->ink, 0.85);
  cairo_set_dash(cr, NULL, 0, 0);
  cairo_set_line_width(cr, 0.7);
  cairo_stroke(cr);
  cairo_restore(cr);
}

/* Where panel p lies below the title. */
static DemurRectangle
panel_place(const DemurConfidenceHistogram *chart, const DemurPalette *palette,
            DemurRectangle rectangle, size_t p) {
  if (chart->title) {
    rectangle.y += palette->font_size * 1.8;
    rectangle.height -= palette->font_size * 1.8;
  }
  const double gap = palette->font_size * 1.2,
               width = (rectangle.width - gap * (double)(chart->n_panels - 1)) /
                       (double)chart->n_panels;
  return (DemurRectangle){rectangle.x + (double)p * (width + gap), rectangle.y, width,
                          rectangle.height};
}

static void
chart_draw(gconstpointer data, cairo_t *cr, const DemurPalette *palette, DemurRectangle rectangle) {
  const DemurConfidenceHistogram *chart = data;
  cairo_save(cr);
  if (chart->title)
    demur_chart_text(cr, palette, chart->title, palette->font_size * 1.1, TRUE, palette->ink,
                     rectangle.x, rectangle.y, 0, 0, rectangle.width);
  for (size_t p = 0; p < chart->n_panels; p++)
    draw_panel(chart, &chart->panels[p], cr, palette, panel_place(chart, palette, rectangle, p));
  cairo_restore(cr);
}

static gssize
chart_hit(gconstpointer data, const DemurPalette *palette, DemurRectangle rectangle, double x,
          double y) {
  const DemurConfidenceHistogram *chart = data;
  cairo_t *cr = demur_chart_nowhere();
  gssize hit = -1;
  for (size_t p = 0; p < chart->n_panels; p++) {
    const DemurPlot plot = begin_panel(chart, &chart->panels[p], cr, palette,
                                       panel_place(chart, palette, rectangle, p));
    for (size_t i = 0; demur_plot_contains(&plot, x, y) && i < chart->n_bins; i++)
      if (x >= demur_plot_x(&plot, chart->low + (double)i * chart->width) &&
          x < demur_plot_x(&plot, chart->low + (double)(i + 1) * chart->width))
        hit = (gssize)i;
  }
  cairo_destroy(cr);
  return hit;
}

static DemurChartTable *
chart_table(gconstpointer data) {
  const DemurConfidenceHistogram *chart = data;
  static const char *const names[] = {DEMUR_CHART_WORD("confidence from"), DEMUR_CHART_WORD("to"),
                                      DEMUR_CHART_WORD("all scans")};
  DemurChartCells cells = demur_chart_cells_new(names, G_N_ELEMENTS(names));
  for (size_t p = 0; p < chart->n_panels; p++)
    demur_chart_cells_header(
        &cells, g_strdup_printf(demur_chart_word("accepted by %s"), chart->panels[p].label));
  for (size_t i = 0; i < chart->n_bins; i++) {
    demur_chart_cells_decimal(&cells, chart->low + (double)i * chart->width, 3);
    demur_chart_cells_decimal(&cells, chart->low + (double)(i + 1) * chart->width, 3);
    demur_chart_cells_count(&cells, chart->all[i]);
    for (size_t p = 0; p < chart->n_panels; p++)
      demur_chart_cells_count(&cells, chart->panels[p].accepted[i]);
  }
  return demur_chart_cells_finish(&cells);
}

static char *
chart_describe(gconstpointer data) {
  const DemurConfidenceHistogram *chart = data;
  /* Where each distribution lies: the share of it in the most confident fifth of the axis. */
  const size_t from = chart->n_bins - chart->n_bins / 5;
  const double edge = chart->low + (double)from * chart->width;
  g_autofree char *edge_text = demur_text_decimal(edge, 2);
  GString *text = g_string_new(NULL);
  const size_t n_all = total(chart->all, chart->n_bins);
  g_autofree char *all_share = demur_text_percent(
      n_all ? (double)total(chart->all + from, chart->n_bins - from) / (double)n_all : NAN, 1);
  g_string_append_printf(text,
                         demur_chart_word("Histogram of the confidence of accepted scans against "
                                          "all %zu scans, of which %s have a confidence of %s or "
                                          "more."),
                         n_all, all_share, edge_text);
  for (size_t p = 0; p < chart->n_panels; p++) {
    const DemurHistogramPanel *panel = &chart->panels[p];
    const size_t n = total(panel->accepted, chart->n_bins);
    g_autofree char *share = demur_text_percent(
        n ? (double)total(panel->accepted + from, chart->n_bins - from) / (double)n : NAN, 1);
    g_string_append_printf(text, demur_chart_word(" %s: %zu accepted, %s of them at %s or more."),
                           panel->label, panel->n_accepted, share, edge_text);
  }
  return g_string_free(text, FALSE);
}

const DemurChartInterface demur_confidence_histogram_chart = {
    .draw = chart_draw,
    .table = chart_table,
    .describe = chart_describe,
    .hit = chart_hit,
    .aspect = 0.34,
};
