#include "report/risk-over-time.h"

#include "report/chart-words.h"
#include "report/format.h"

#include <math.h>

static double
highest_value(const DemurRiskOverTime *chart) {
  double highest = chart->top;
  for (size_t s = 0; s < chart->n_series; s++)
    for (size_t y = 0; y < chart->n_years; y++) {
      const DemurRiskSeries *series = &chart->series[s];
      if (isfinite(series->values[y]))
        highest = fmax(highest, series->values[y]);
      if (series->high && isfinite(series->high[y]))
        highest = fmax(highest, series->high[y]);
    }
  return highest;
}

static void
draw_series(const DemurRiskOverTime *chart, size_t s, cairo_t *cr, const DemurPalette *palette,
            const DemurPlot *plot) {
  const DemurRiskSeries *series = &chart->series[s];
  const double size = palette->font_size, line = size * 0.19;
  const DemurColour colour = palette->series[series->series];
  /* Series stand a little beside each other, so that their intervals never hide one another. */
  const double shift = ((double)s - ((double)chart->n_series - 1) / 2) * size * 0.9;
  gboolean open = FALSE;
  for (size_t y = 0; y < chart->n_years; y++) {
    if (!isfinite(series->values[y])) {
      open = FALSE;
      continue;
    }
    const double px = demur_plot_x(plot, (double)(y + 1)) + shift,
                 py = demur_plot_y(plot, series->values[y]);
    if (open)
      cairo_line_to(cr, px, py);
    else
      cairo_move_to(cr, px, py);
    open = TRUE;
  }
  demur_chart_colour(cr, colour, 1);
  cairo_set_line_width(cr, line);
  demur_chart_dash(cr, series->series, line);
  cairo_stroke(cr);
  cairo_set_dash(cr, NULL, 0, 0);
  for (size_t y = 0; y < chart->n_years; y++) {
    if (!isfinite(series->values[y]))
      continue;
    const double px = demur_plot_x(plot, (double)(y + 1)) + shift,
                 py = demur_plot_y(plot, series->values[y]);
    demur_chart_colour(cr, colour, 1);
    if (series->low && series->high && isfinite(series->low[y]) && isfinite(series->high[y])) {
      cairo_set_line_width(cr, size * 0.12);
      cairo_move_to(cr, px, demur_plot_y(plot, series->low[y]));
      cairo_line_to(cr, px, demur_plot_y(plot, series->high[y]));
      cairo_stroke(cr);
    }
    demur_chart_glyph(cr, series->series, px, py, size * 0.3);
    if (series->numbers) {
      g_autofree char *text = demur_text_percent(series->values[y], 1);
      /* A rising line passes below and left of its number. */
      demur_chart_text(cr, palette, text, size, TRUE, palette->ink, px + size * 0.3,
                       py - size * 0.55, 1, 1, 0);
    }
  }
}

static void
chart_draw(gconstpointer data, cairo_t *cr, const DemurPalette *palette, DemurRectangle rectangle) {
  const DemurRiskOverTime *chart = data;
  const double size = palette->font_size;
  double highest = highest_value(chart);
  cairo_save(cr);
  cairo_set_dash(cr, NULL, 0, 0);
  if (chart->title) {
    demur_chart_text(cr, palette, chart->title, size * 1.1, TRUE, palette->ink, rectangle.x,
                     rectangle.y, 0, 0, rectangle.width);
    rectangle.y += size * 1.75;
    rectangle.height -= size * 1.75;
  }
  if (chart->n_series > 1) {
    g_autofree const char **labels = g_new(const char *, chart->n_series);
    g_autofree DemurChartSeries *series = g_new(DemurChartSeries, chart->n_series);
    for (size_t s = 0; s < chart->n_series; s++) {
      labels[s] = chart->series[s].label;
      series[s] = chart->series[s].series;
    }
    const double key = demur_chart_key(cr, palette, labels, series, chart->n_series, rectangle.x,
                                       rectangle.y, rectangle.width);
    rectangle.y += key;
    rectangle.height -= key;
  }
  gboolean numbers = FALSE;
  for (size_t s = 0; s < chart->n_series; s++)
    numbers |= chart->series[s].numbers;
  if (numbers) { /* a number on a mark as high as the axis */
    rectangle.y += size;
    rectangle.height -= size;
  }
  if (highest <= 0)
    highest = 0.01;
  DemurChartFrame frame = {.x_label = demur_chart_word("years after the scan"),
                           .x = {.low = 0.5, .high = (double)chart->n_years + 0.5, .step = 1},
                           .x_style = DEMUR_NUMBER_COUNT,
                           .y = demur_axis_nice(0, fmin(highest, 1), 4),
                           .y_style = DEMUR_NUMBER_PERCENT};
  const DemurPlot plot = demur_plot_begin(cr, palette, rectangle, &frame);
  for (size_t s = chart->n_series; s-- > 0;)
    draw_series(chart, s, cr, palette, &plot);
  cairo_restore(cr);
}

static DemurChartTable *
chart_table(gconstpointer data) {
  const DemurRiskOverTime *chart = data;
  static const char *const names[] = {"years after the scan"};
  DemurChartCells cells = demur_chart_cells_new(names, 1);
  for (size_t s = 0; s < chart->n_series; s++) {
    const DemurRiskSeries *series = &chart->series[s];
    demur_chart_cells_header(&cells, g_strdup(series->label));
    if (series->n)
      demur_chart_cells_header(&cells, g_strdup_printf("%s, scans", series->label));
    if (series->low) {
      demur_chart_cells_header(&cells, g_strdup_printf("%s, 95 %% low", series->label));
      demur_chart_cells_header(&cells, g_strdup_printf("%s, 95 %% high", series->label));
    }
  }
  for (size_t y = 0; y < chart->n_years; y++) {
    demur_chart_cells_count(&cells, y + 1);
    for (size_t s = 0; s < chart->n_series; s++) {
      const DemurRiskSeries *series = &chart->series[s];
      demur_chart_cells_percent(&cells, series->values[y]);
      if (series->n)
        demur_chart_cells_count(&cells, series->n[y]);
      if (series->low) {
        demur_chart_cells_percent(&cells, series->low[y]);
        demur_chart_cells_percent(&cells, series->high[y]);
      }
    }
  }
  return demur_chart_cells_finish(&cells);
}

static char *
chart_describe(gconstpointer data) {
  const DemurRiskOverTime *chart = data;
  GString *text = g_string_new(demur_chart_word("By years after the scan."));
  for (size_t s = 0; s < chart->n_series; s++) {
    const DemurRiskSeries *series = &chart->series[s];
    g_string_append_printf(text, " %s:", series->label);
    for (size_t y = 0; y < chart->n_years; y++) {
      g_autofree char *value = demur_text_percent(series->values[y], 1);
      g_string_append(text, y ? ", " : " ");
      g_string_append_printf(text, demur_chart_word("year %zu %s"), y + 1, value);
      if (series->low && isfinite(series->low[y]) && isfinite(series->high[y])) {
        g_autofree char *low = demur_text_percent(series->low[y], 1),
                        *high = demur_text_percent(series->high[y], 1);
        g_string_append_printf(text, demur_chart_word(" (%s to %s)"), low, high);
      }
    }
    g_string_append_c(text, '.');
  }
  return g_string_free(text, FALSE);
}

const DemurChartInterface demur_risk_over_time_chart = {
    .draw = chart_draw,
    .table = chart_table,
    .describe = chart_describe,
    .aspect = 0.56,
};
