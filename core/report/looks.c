#include "report/looks.h"

#include <math.h>

#include "report/format.h"

#define MOST 4.0 /* of O:E: an interval beyond is cut, as its number tells */

static double
highest(const DemurLooks *chart) {
  double high = chart->high * 1.2;
  for (size_t i = 0; i < chart->n; i++)
    if (isfinite(chart->looks[i].high))
      high = fmax(high, fmin(chart->looks[i].high, MOST));
  return high;
}

static void
draw_range(cairo_t *cr, const DemurPalette *palette, const DemurPlot *plot,
           const DemurLooks *chart) {
  const double top = demur_plot_y(plot, chart->high), bottom = demur_plot_y(plot, chart->low),
               size = palette->font_size;
  cairo_rectangle(cr, plot->area.x, top, plot->area.width, bottom - top);
  demur_chart_colour(cr, palette->series[DEMUR_SERIES_OTHER_1], palette->band_alpha);
  cairo_fill(cr);
  demur_chart_colour(cr, palette->series[DEMUR_SERIES_OTHER_1], 1);
  cairo_set_line_width(cr, 0.9);
  const double ends[] = {top, bottom};
  for (size_t e = 0; e < 2; e++) {
    cairo_move_to(cr, plot->area.x, ends[e]);
    cairo_line_to(cr, plot->area.x + plot->area.width, ends[e]);
    cairo_stroke(cr);
  }
  g_autofree char *low = demur_text_decimal(chart->low, 2),
                  *high = demur_text_decimal(chart->high, 2),
                  *words = g_strdup_printf("agreed: %s to %s", low, high);
  demur_chart_text(cr, palette, words, size, TRUE, palette->ink, plot->area.x + 4.0, top - 2.0, 0,
                   1, 0);
}

static void
chart_draw(gconstpointer data, cairo_t *cr, const DemurPalette *palette, DemurRectangle rectangle) {
  const DemurLooks *chart = data;
  const double size = palette->font_size;
  size_t n_most = MAX(chart->n_planned, 1);
  for (size_t i = 0; i < chart->n; i++)
    n_most = MAX(n_most, chart->looks[i].n_labels);
  cairo_save(cr);
  cairo_set_dash(cr, NULL, 0, 0);
  DemurAxis x = demur_axis_nice(0.0, (double)n_most, 6);
  x.high = (double)n_most * 1.02;
  const DemurChartFrame frame = {.title = chart->title,
                                 .x_label = "patients with their outcome",
                                 .y_label = "observed over expected (95 % at all looks together)",
                                 .x = x,
                                 .y = demur_axis_nice(0.0, highest(chart), 5),
                                 .x_style = DEMUR_NUMBER_COUNT,
                                 .y_style = DEMUR_NUMBER_DECIMAL};
  const DemurPlot plot = demur_plot_begin(cr, palette, rectangle, &frame);
  draw_range(cr, palette, &plot, chart);
  cairo_save(cr);
  demur_plot_clip(&plot, cr);
  demur_chart_colour(cr, palette->series[DEMUR_SERIES_SELECTOR], 1);
  for (size_t i = 0; i < chart->n; i++) {
    const DemurReportLook *look = &chart->looks[i];
    if (!isfinite(look->ratio))
      continue;
    const double px = demur_plot_x(&plot, (double)look->n_labels);
    cairo_set_line_width(cr, size * 0.16);
    cairo_move_to(cr, px, demur_plot_y(&plot, look->low));
    cairo_line_to(cr, px, demur_plot_y(&plot, fmin(look->high, plot.y.high * 1.1)));
    cairo_stroke(cr);
    demur_chart_glyph(cr, DEMUR_SERIES_SELECTOR, px, demur_plot_y(&plot, look->ratio), size * 0.36);
  }
  cairo_restore(cr);
  cairo_restore(cr);
}

static DemurChartTable *
chart_table(gconstpointer data) {
  const DemurLooks *chart = data;
  static const char *const names[] = {"labels", "observed over expected", "95 % low", "95 % high"};
  DemurChartCells cells = demur_chart_cells_new(names, G_N_ELEMENTS(names));
  for (size_t i = 0; i < chart->n; i++) {
    const DemurReportLook *look = &chart->looks[i];
    demur_chart_cells_count(&cells, look->n_labels);
    demur_chart_cells_decimal(&cells, look->ratio, 2);
    demur_chart_cells_decimal(&cells, look->low, 2);
    demur_chart_cells_decimal(&cells, look->high, 2);
  }
  return demur_chart_cells_finish(&cells);
}

static char *
chart_describe(gconstpointer data) {
  const DemurLooks *chart = data;
  g_autofree char *low = demur_text_decimal(chart->low, 2),
                  *high = demur_text_decimal(chart->high, 2);
  GString *text = g_string_new("Observed over expected outcomes of the shown risks by how many "
                               "patients had their outcome.");
  g_string_append_printf(text, " Agreed: %s to %s.", low, high);
  for (size_t i = 0; i < chart->n; i++) {
    const DemurReportLook *look = &chart->looks[i];
    g_autofree char *ratio = demur_text_decimal(look->ratio, 2),
                    *from = demur_text_decimal(look->low, 2),
                    *to = demur_text_decimal(look->high, 2);
    if (isfinite(look->ratio))
      g_string_append_printf(text, " After %zu: %s (%s to %s).", look->n_labels, ratio, from, to);
  }
  if (chart->answer != NULL)
    g_string_append_printf(text, " Answer: %s.", chart->answer);
  return g_string_free(text, FALSE);
}

const DemurChartInterface demur_looks_chart = {
    .draw = chart_draw, .table = chart_table, .describe = chart_describe, .aspect = 0.45};
