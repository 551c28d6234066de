#include "report/reliability.h"

#include "report/chart-words.h"
#include "report/format.h"

#include <math.h>

double
demur_reliability_end(size_t n_bins, const DemurReliabilityBin *bins) {
  double end = 0;
  for (size_t i = 0; i < n_bins; i++) {
    const double values[3] = {bins[i].mean_risk, bins[i].observed, bins[i].high};
    for (int k = 0; k < 3; k++)
      if (isfinite(values[k]))
        end = fmax(end, values[k]);
  }
  if (end <= 0)
    return 1;
  return fmin(1, demur_axis_nice(0, end, 4).high);
}

static gboolean
has_histogram(const DemurReliability *chart) {
  return chart->histogram && chart->n_histogram > 0 && chart->histogram_width > 0;
}

/* "15 bins of 80 or 81 scans", owned. */
static char *
bin_words(const DemurReliability *chart) {
  size_t n_accepted = 0; /* scans without bins: their outcomes are not told */
  for (size_t i = 0; has_histogram(chart) && i < chart->n_histogram; i++)
    n_accepted += chart->histogram[i];
  if (chart->n_bins == 0)
    return g_strdup(n_accepted > 0 ? demur_chart_word("withheld")
                                   : demur_chart_word("no accepted scan"));
  size_t low = chart->bins[0].n, high = low;
  for (size_t i = 1; i < chart->n_bins; i++) {
    low = MIN(low, chart->bins[i].n);
    high = MAX(high, chart->bins[i].n);
  }
  g_autofree char *few = demur_text_count(low), *many = demur_text_count(high);
  if (chart->n_bins == 1)
    return g_strdup_printf(demur_chart_word("1 bin of %s scans"), few);
  if (low == high)
    return g_strdup_printf(demur_chart_word("%zu bins of %s scans"), chart->n_bins, few);
  return g_strdup_printf(high == low + 1 ? demur_chart_word("%zu bins of %s or %s scans")
                                         : demur_chart_word("%zu bins of %s to %s scans"),
                         chart->n_bins, few, many);
}

/* The strip of the histogram below the plot, of the rectangle's height. */
#define STRIP 0.14

/* How many scans show which risk, hanging from the lower edge of the plot's place. */
static void
draw_histogram(const DemurReliability *chart, cairo_t *cr, const DemurPalette *palette,
               const DemurPlot *plot, double top, double height) {
  size_t most = 0;
  for (size_t i = 0; i < chart->n_histogram; i++)
    most = MAX(most, chart->histogram[i]);
  for (size_t i = 0; most > 0 && i < chart->n_histogram; i++) {
    const double low = chart->histogram_low + (double)i * chart->histogram_width,
                 left = demur_plot_x(plot, low),
                 right = demur_plot_x(plot, fmin(low + chart->histogram_width, plot->x.high));
    if (low >= plot->x.high || chart->histogram[i] == 0)
      continue;
    const double bar = fmax(0.6, height * (double)chart->histogram[i] / (double)most);
    cairo_rectangle(cr, left + 0.3, top + height - bar, fmax(right - left - 0.6, 0.4), bar);
    demur_chart_colour(cr, palette->series[chart->series], 0.45);
    cairo_fill(cr);
  }
  demur_chart_colour(cr, palette->muted, 1);
  cairo_set_line_width(cr, 0.6);
  cairo_move_to(cr, plot->area.x, top + height);
  cairo_line_to(cr, plot->area.x + plot->area.width, top + height);
  cairo_stroke(cr);
}

static void
draw_corner(const DemurReliability *chart, cairo_t *cr, const DemurPalette *palette,
            const DemurPlot *plot) {
  const double size = palette->font_size, most = plot->area.width * 0.6;
  for (int i = 0; chart->corner && chart->corner[i]; i++) {
    const double x = plot->area.x + size * 0.6, y = plot->area.y + size * (0.2 + 1.25 * i);
    /* A line of the grid would strike the words out. */
    const DemurSize words = demur_chart_text_size(cr, palette, chart->corner[i], size * 0.9, FALSE);
    cairo_rectangle(cr, x, y, fmin(words.width, most), words.height);
    demur_chart_colour(cr, palette->paper, 1);
    cairo_fill(cr);
    demur_chart_text(cr, palette, chart->corner[i], size * 0.9, FALSE, palette->muted, x, y, 0, 0,
                     most);
  }
}

static void
draw_smooth(const DemurReliability *chart, cairo_t *cr, const DemurPalette *palette,
            const DemurPlot *plot) {
  const DemurColour colour = palette->series[chart->series];
  if (chart->n_smooth == 0)
    return;
  for (size_t i = 0; i < chart->n_smooth; i++)
    cairo_line_to(cr, demur_plot_x(plot, chart->smooth[i].risk),
                  demur_plot_y(plot, chart->smooth[i].high));
  for (size_t i = chart->n_smooth; i-- > 0;)
    cairo_line_to(cr, demur_plot_x(plot, chart->smooth[i].risk),
                  demur_plot_y(plot, chart->smooth[i].low));
  cairo_close_path(cr);
  demur_chart_colour(cr, colour, palette->band_alpha);
  cairo_fill(cr);
  for (size_t i = 0; i < chart->n_smooth; i++)
    cairo_line_to(cr, demur_plot_x(plot, chart->smooth[i].risk),
                  demur_plot_y(plot, chart->smooth[i].value));
  demur_chart_colour(cr, colour, 0.9);
  cairo_set_line_width(cr, palette->font_size * 0.15);
  cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
  cairo_stroke(cr);
}

static DemurPlot
begin(const DemurReliability *chart, cairo_t *cr, const DemurPalette *palette,
      DemurRectangle rectangle) {
  const double end =
      chart->axis_end > 0 ? chart->axis_end : demur_reliability_end(chart->n_bins, chart->bins);
  DemurAxis axis = demur_axis_nice(0, end, 4);
  axis.high = fmax(end, axis.step);
  g_autofree char *words = bin_words(chart);
  g_autofree char *x_label = g_strdup_printf(
      "%s (%s)", chart->x_label ? chart->x_label : demur_chart_word("risk shown"), words);
  if (has_histogram(chart)) /* drawn below it */
    rectangle.height *= 1 - STRIP;
  const DemurChartFrame frame = {
      .title = chart->title, .x_label = x_label, .y_label = chart->y_label, .x = axis, .y = axis};
  return demur_plot_begin(cr, palette, rectangle, &frame);
}

static gssize
chart_hit(gconstpointer data, const DemurPalette *palette, DemurRectangle rectangle, double x,
          double y) {
  const DemurReliability *chart = data;
  cairo_t *cr = demur_chart_nowhere();
  const DemurPlot plot = begin(chart, cr, palette, rectangle);
  cairo_destroy(cr);
  if (!demur_plot_contains(&plot, x, y))
    return -1;
  gssize nearest = -1;
  double least = INFINITY;
  for (size_t i = 0; i < chart->n_bins; i++) {
    const double distance = hypot(demur_plot_x(&plot, chart->bins[i].mean_risk) - x,
                                  demur_plot_y(&plot, chart->bins[i].observed) - y);
    if (distance < least) {
      least = distance;
      nearest = (gssize)i;
    }
  }
  return nearest;
}

static void
chart_draw(gconstpointer data, cairo_t *cr, const DemurPalette *palette, DemurRectangle rectangle) {
  const DemurReliability *chart = data;
  cairo_save(cr);
  const DemurPlot plot = begin(chart, cr, palette, rectangle);
  if (has_histogram(chart))
    draw_histogram(chart, cr, palette, &plot,
                   rectangle.y + rectangle.height * (1 - STRIP) + palette->font_size * 0.5,
                   rectangle.height * STRIP - palette->font_size * 0.5);
  draw_corner(chart, cr, palette, &plot);
  cairo_save(cr);
  demur_plot_clip(&plot, cr);
  const double dash[] = {3, 2.5};
  cairo_set_line_width(cr, 0.7);
  cairo_set_dash(cr, dash, 2, 0);
  demur_chart_colour(cr, palette->muted, 0.9);
  cairo_move_to(cr, demur_plot_x(&plot, 0), demur_plot_y(&plot, 0));
  cairo_line_to(cr, demur_plot_x(&plot, plot.x.high), demur_plot_y(&plot, plot.y.high));
  cairo_stroke(cr);
  cairo_set_dash(cr, NULL, 0, 0);
  const DemurColour colour = palette->series[chart->series];
  draw_smooth(chart, cr, palette, &plot);
  for (size_t i = 0; i < chart->n_bins; i++) {
    const DemurReliabilityBin *bin = &chart->bins[i];
    if (!isfinite(bin->mean_risk) || !isfinite(bin->observed))
      continue;
    const double x = demur_plot_x(&plot, bin->mean_risk);
    demur_chart_colour(cr, colour, 0.75);
    cairo_set_line_width(cr, 0.9);
    if (isfinite(bin->low) && isfinite(bin->high)) {
      cairo_move_to(cr, x, demur_plot_y(&plot, bin->low));
      cairo_line_to(cr, x, demur_plot_y(&plot, fmin(bin->high, plot.y.high)));
      cairo_stroke(cr);
    }
    demur_chart_colour(cr, colour, 1);
    demur_chart_glyph(cr, chart->series, x, demur_plot_y(&plot, bin->observed),
                      palette->font_size * 0.27);
  }
  cairo_restore(cr);
  cairo_restore(cr);
}

static DemurChartTable *
chart_table(gconstpointer data) {
  const DemurReliability *chart = data;
  static const char *const names[] = {DEMUR_CHART_WORD("bin"),
                                      DEMUR_CHART_WORD("scans"),
                                      DEMUR_CHART_WORD("mean risk shown"),
                                      DEMUR_CHART_WORD("observed share"),
                                      /* xgettext:no-c-format */ DEMUR_CHART_WORD("95 % low"),
                                      /* xgettext:no-c-format */ DEMUR_CHART_WORD("95 % high")};
  DemurChartCells cells = demur_chart_cells_new(names, G_N_ELEMENTS(names));
  for (size_t i = 0; i < chart->n_bins; i++) {
    const DemurReliabilityBin *bin = &chart->bins[i];
    demur_chart_cells_count(&cells, i + 1);
    demur_chart_cells_count(&cells, bin->n);
    demur_chart_cells_decimal(&cells, bin->mean_risk, 3);
    demur_chart_cells_decimal(&cells, bin->observed, 3);
    demur_chart_cells_decimal(&cells, bin->low, 3);
    demur_chart_cells_decimal(&cells, bin->high, 3);
  }
  return demur_chart_cells_finish(&cells);
}

static char *
chart_describe(gconstpointer data) {
  const DemurReliability *chart = data;
  g_autofree char *words = bin_words(chart);
  GString *text = g_string_new(NULL);
  g_string_append_printf(text,
                         demur_chart_word("Reliability of the scans accepted by %s (%s): risk "
                                          "shown, observed share, 95 %% interval."),
                         chart->label, words);
  for (size_t i = 0; i < chart->n_bins; i++) {
    const DemurReliabilityBin *bin = &chart->bins[i];
    g_autofree char *risk = demur_text_decimal(bin->mean_risk, 3),
                    *share = demur_text_decimal(bin->observed, 3),
                    *low = demur_text_decimal(bin->low, 3),
                    *high = demur_text_decimal(bin->high, 3);
    g_string_append_printf(text, demur_chart_word(" %s: %s (%s to %s)%s"), risk, share, low, high,
                           i + 1 < chart->n_bins ? ";" : ".");
  }
  return g_string_free(text, FALSE);
}

const DemurChartInterface demur_reliability_chart = {
    .draw = chart_draw,
    .table = chart_table,
    .describe = chart_describe,
    .hit = chart_hit,
    .aspect = 0.72,
};
