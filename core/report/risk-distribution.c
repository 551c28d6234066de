#include "report/risk-distribution.h"

#include "report/format.h"

#include <math.h>

#define GAP 0.8 /* between rows, in units of the font size */

static double
row_height(const DemurPalette *palette, double width) {
  return demur_chart_interface_height(&demur_confidence_histogram_chart, NULL, palette, width);
}

static double
chart_height(gconstpointer data, const DemurPalette *palette, double width) {
  const DemurRiskDistribution *chart = data;
  return (double)chart->n * (row_height(palette, width) + GAP * palette->font_size);
}

/* Where row i lies. */
static DemurRectangle
row_place(const DemurRiskDistribution *chart, const DemurPalette *palette, DemurRectangle rectangle,
          size_t i) {
  const double height = rectangle.height / (double)chart->n;
  return (DemurRectangle){rectangle.x, rectangle.y + (double)i * height, rectangle.width,
                          height - GAP * palette->font_size};
}

static void
chart_draw(gconstpointer data, cairo_t *cr, const DemurPalette *palette, DemurRectangle rectangle) {
  const DemurRiskDistribution *chart = data;
  for (size_t i = 0; i < chart->n; i++)
    demur_confidence_histogram_chart.draw(&chart->rows[i], cr, palette,
                                          row_place(chart, palette, rectangle, i));
}

static DemurChartTable *
chart_table(gconstpointer data) {
  const DemurRiskDistribution *chart = data;
  DemurChartCells cells = demur_chart_cells_new(NULL, 0);
  demur_chart_cells_header(&cells, g_strdup("coverage"));
  for (size_t i = 0; i < chart->n; i++) {
    g_autoptr(DemurChartTable) table = demur_confidence_histogram_chart.table(&chart->rows[i]);
    for (size_t c = 0; i == 0 && c < table->n_columns; c++)
      demur_chart_cells_header(&cells, g_strdup(table->header[c]));
    for (size_t r = 0; r < table->n_rows; r++) {
      demur_chart_cells_percent(&cells, chart->coverages[i]);
      for (size_t c = 0; c < table->n_columns; c++)
        demur_chart_cells_copy(&cells, table, r, c);
    }
  }
  return demur_chart_cells_finish(&cells);
}

/* The middle of the bin that holds the median; NaN: nothing. */
static double
median_of(const DemurConfidenceHistogram *row, const DemurHistogramPanel *panel) {
  size_t n = 0, seen = 0;
  for (size_t b = 0; b < row->n_bins; b++)
    n += panel->accepted[b];
  for (size_t b = 0; b < row->n_bins; b++) {
    seen += panel->accepted[b];
    if (n > 0 && 2 * seen >= n)
      return row->low + ((double)b + 0.5) * row->width;
  }
  return NAN;
}

static char *
chart_describe(gconstpointer data) {
  const DemurRiskDistribution *chart = data;
  g_autoptr(GString) text = g_string_new("Histograms of what is shown, against all scans.");
  for (size_t i = 0; i < chart->n; i++) {
    const DemurConfidenceHistogram *row = &chart->rows[i];
    g_string_append_printf(text, " %s:", row->title);
    for (size_t p = 0; p < row->n_panels; p++) {
      g_autofree char *median = demur_text_decimal(median_of(row, &row->panels[p]), 2);
      g_autofree char *scans = demur_text_counted(row->panels[p].n_accepted, "scan", "scans");
      g_string_append_printf(text, "%s %s %s, median about %s", p > 0 ? ";" : "",
                             row->panels[p].label, scans, median);
    }
    g_string_append_c(text, '.');
  }
  return g_strdup(text->str);
}

static gssize
chart_hit(gconstpointer data, const DemurPalette *palette, DemurRectangle rectangle, double x,
          double y) {
  const DemurRiskDistribution *chart = data;
  for (size_t i = 0; i < chart->n; i++) {
    const gssize hit = demur_confidence_histogram_chart.hit(
        &chart->rows[i], palette, row_place(chart, palette, rectangle, i), x, y);
    if (hit >= 0)
      return (gssize)(i * chart->rows[i].n_bins) + hit;
  }
  return -1;
}

const DemurChartInterface demur_risk_distribution_chart = {
    .draw = chart_draw,
    .table = chart_table,
    .describe = chart_describe,
    .hit = chart_hit,
    .height = chart_height,
};
