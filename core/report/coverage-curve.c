#include "report/coverage-curve.h"

#include "report/chart-words.h"
#include "report/format.h"

#include <math.h>

/* The band is of the line: its value, and how much that varies from resample to resample. (The mean
 * over resamples lies above the line: they repeat scans, which adds to binned errors.) */
static gboolean
band_at(const DemurCoverageSeries *series, size_t i) {
  return series->sd && !series->no_band && isfinite(series->point[i]) && isfinite(series->sd[i]);
}

/* Smallest and largest finite value that is drawn; FALSE where there is none. */
static gboolean
value_range(const DemurCoverageCurve *chart, double *low, double *high) {
  *low = INFINITY;
  *high = -INFINITY;
  for (size_t s = 0; s < chart->n_series; s++)
    for (size_t i = 0; i < chart->n; i++) {
      const DemurCoverageSeries *series = &chart->series[s];
      const double sd = band_at(series, i) ? series->sd[i] : NAN;
      const double values[3] = {series->point[i], series->point[i] - sd, series->point[i] + sd};
      for (int k = 0; k < 3; k++)
        if (isfinite(values[k])) {
          *low = fmin(*low, values[k]);
          *high = fmax(*high, values[k]);
        }
    }
  if (*low > *high)
    return FALSE;
  if (chart->in_unit) {
    *low = fmax(*low, 0);
    *high = fmin(*high, 1);
  }
  return TRUE;
}

/* Value + sign x sd, an end of the band. */
static double
band_end(const DemurCoverageCurve *chart, const DemurCoverageSeries *series, size_t i, int sign) {
  const double end = series->point[i] + sign * series->sd[i];
  return chart->in_unit ? CLAMP(end, 0.0, 1.0) : end;
}

static void
draw_band(const DemurCoverageCurve *chart, const DemurCoverageSeries *series, cairo_t *cr,
          const DemurPalette *palette, const DemurPlot *plot) {
  const double *c = chart->coverages;
  for (size_t begin = 0; begin < chart->n;) {
    if (!band_at(series, begin)) {
      begin++;
      continue;
    }
    size_t end = begin;
    while (end < chart->n && band_at(series, end))
      end++;
    for (size_t i = begin; i < end; i++)
      cairo_line_to(cr, demur_plot_x(plot, c[i]),
                    demur_plot_y(plot, band_end(chart, series, i, 1)));
    for (size_t i = end; i-- > begin;)
      cairo_line_to(cr, demur_plot_x(plot, c[i]),
                    demur_plot_y(plot, band_end(chart, series, i, -1)));
    cairo_close_path(cr);
    demur_chart_colour(cr, palette->series[series->series], palette->band_alpha);
    cairo_fill_preserve(cr);
    /* A hairline keeps overlapping bands apart in grey. */
    demur_chart_colour(cr, palette->series[series->series], 0.45);
    cairo_set_line_width(cr, 0.3);
    cairo_set_dash(cr, NULL, 0, 0);
    cairo_stroke(cr);
    begin = end;
  }
}

/* Glyphs at every tenth coverage, each series a little later, so that they seldom meet. */
static gboolean
glyph_at(size_t i, size_t s) {
  return (i + 10 - 2 * (s % 5)) % 10 == 4;
}

static void
draw_line(const DemurCoverageCurve *chart, size_t s, cairo_t *cr, const DemurPalette *palette,
          const DemurPlot *plot) {
  const DemurCoverageSeries *series = &chart->series[s];
  const double width = palette->font_size * 0.19;
  gboolean open = FALSE;
  for (size_t i = 0; i < chart->n; i++) {
    if (!isfinite(series->point[i])) {
      open &= chart->across;
      continue;
    }
    const double x = demur_plot_x(plot, chart->coverages[i]),
                 y = demur_plot_y(plot, series->point[i]);
    if (open)
      cairo_line_to(cr, x, y);
    else
      cairo_move_to(cr, x, y);
    open = TRUE;
  }
  demur_chart_colour(cr, palette->series[series->series], 1);
  cairo_set_line_width(cr, width);
  cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
  demur_chart_dash(cr, series->series, width);
  cairo_stroke(cr);
  cairo_set_dash(cr, NULL, 0, 0);
  for (size_t i = 0; i < chart->n; i++) {
    if (!isfinite(series->point[i]))
      continue;
    /* A value between two gaps has no line: its glyph alone shows it. */
    const gboolean alone = (i == 0 || !isfinite(series->point[i - 1])) &&
                           (i + 1 == chart->n || !isfinite(series->point[i + 1]));
    if (alone || glyph_at(i, s))
      demur_chart_glyph(cr, series->series, demur_plot_x(plot, chart->coverages[i]),
                        demur_plot_y(plot, series->point[i]), palette->font_size * 0.26);
  }
}

static double
overlap(DemurRectangle a, DemurRectangle b) {
  const double w = fmin(a.x + a.width, b.x + b.width) - fmax(a.x, b.x),
               h = fmin(a.y + a.height, b.y + b.height) - fmax(a.y, b.y);
  return w > 0 && h > 0 ? w * h : 0;
}

/* How much a label at box would cover: lines, other labels, the marker, the plot's border. Lower is
 * better. */
static double
label_cost(const DemurCoverageCurve *chart, size_t own, const DemurPlot *plot, DemurRectangle box,
           const DemurRectangle *placed, size_t n_placed) {
  double cost = 0;
  for (size_t s = 0; s < chart->n_series; s++)
    for (size_t i = 0; i + 1 < chart->n; i++) {
      const double *v = chart->series[s].point;
      if (!isfinite(v[i]) || !isfinite(v[i + 1]))
        continue;
      for (int k = 0; k < 4; k++) { /* four places on the stretch between two coverages */
        const double t = k / 4.0,
                     x = demur_plot_x(plot,
                                      chart->coverages[i] * (1 - t) + chart->coverages[i + 1] * t),
                     y = demur_plot_y(plot, v[i] * (1 - t) + v[i + 1] * t);
        if (x > box.x - 1 && x < box.x + box.width + 1 && y > box.y && y < box.y + box.height)
          cost += s == own ? 4 : 6;
        /* Nearer to another line than to its own: it would be read as that line's. */
        if (s != own && x > box.x && x < box.x + box.width &&
            fabs(y - box.y - box.height / 2) < box.height * 0.95)
          cost += 1;
      }
    }
  for (size_t p = 0; p < n_placed; p++) { /* a blank stands between two names on one line */
    const double space = box.height * 0.4;
    const DemurRectangle wide = {placed[p].x - space, placed[p].y, placed[p].width + 2 * space,
                                 placed[p].height};
    cost += 100 * (overlap(box, wide) > 0) + overlap(box, wide);
  }
  const double marker = demur_plot_x(plot, chart->marker);
  if (isfinite(marker) && marker > box.x - 2 && marker < box.x + box.width + 2)
    cost += 8;
  const DemurRectangle area = plot->area;
  if (box.x < area.x || box.x + box.width > area.x + area.width || box.y < area.y - 2 ||
      box.y + box.height > area.y + area.height)
    cost += 300;
  return cost;
}

static void
draw_labels(const DemurCoverageCurve *chart, cairo_t *cr, const DemurPalette *palette,
            const DemurPlot *plot) {
  g_autofree DemurRectangle *placed = g_new0(DemurRectangle, chart->n_series + 1);
  size_t n_placed = 0;
  const double size = palette->font_size;
  for (size_t s = 0; s < chart->n_series; s++) {
    const DemurCoverageSeries *series = &chart->series[s];
    const DemurSize text = demur_chart_text_size(cr, palette, series->label, size, TRUE);
    const double width = fmin(text.width, plot->area.width * 0.6);
    double best_cost = INFINITY;
    DemurRectangle best = {0, 0, 0, 0};
    for (size_t i = 0; i < chart->n; i++) {
      if (!isfinite(series->point[i]))
        continue;
      const double x = demur_plot_x(plot, chart->coverages[i]),
                   y = demur_plot_y(plot, series->point[i]);
      for (int k = 0; k < 6; k++) { /* above or below, at three distances */
        const double gap = text.height * 0.22 * (1 + 2 * (k / 2));
        const DemurRectangle box = {x - width / 2, k % 2 ? y + gap : y - gap - text.height, width,
                                    text.height};
        const double cost = label_cost(chart, s, plot, box, placed, n_placed) + 0.6 * (k / 2) +
                            0.5 * fabs((double)i / (double)chart->n - 0.35);
        if (cost < best_cost) {
          best_cost = cost;
          best = box;
        }
      }
    }
    if (!isfinite(best_cost))
      continue; /* undefined everywhere: the caption's table says so */
    placed[n_placed++] = best;
    demur_chart_text(cr, palette, series->label, size, TRUE, palette->series[series->series],
                     best.x, best.y, 0, 0, width + 0.5);
  }
}

static gboolean
has_key(const DemurCoverageCurve *chart) {
  return chart->keyed || chart->n_series >= DEMUR_COVERAGE_CURVE_KEY;
}

static const char *
x_word(const DemurCoverageCurve *chart) {
  return chart->x_label ? chart->x_label : demur_chart_word("coverage");
}

/* The key of many series, below the title; returns its height, 0 where lines name themselves. */
static double
key(const DemurCoverageCurve *chart, cairo_t *cr, const DemurPalette *palette, DemurRectangle r) {
  if (!has_key(chart))
    return 0;
  g_autofree const char **labels = g_new(const char *, chart->n_series);
  g_autofree DemurChartSeries *series = g_new(DemurChartSeries, chart->n_series);
  for (size_t s = 0; s < chart->n_series; s++) {
    labels[s] = chart->series[s].label;
    series[s] = chart->series[s].series;
  }
  return demur_chart_key(cr, palette, labels, series, chart->n_series, r.x, r.y, r.width);
}

static DemurPlot
begin(const DemurCoverageCurve *chart, cairo_t *cr, const DemurPalette *palette,
      DemurRectangle rectangle, gboolean *any) {
  double low, high;
  *any = value_range(chart, &low, &high);
  if (!*any) {
    low = 0;
    high = 1;
  }
  if (chart->from_zero && low > 0)
    low = 0;
  if (high - low < 1e-9)
    high = low + fmax(fabs(low) * 0.1, 0.01);
  const gboolean many = has_key(chart);
  if (many) {
    if (chart->title) {
      demur_chart_text(cr, palette, chart->title, palette->font_size * 1.1, TRUE, palette->ink,
                       rectangle.x, rectangle.y, 0, 0, rectangle.width);
      rectangle.y += palette->font_size * 1.75;
      rectangle.height -= palette->font_size * 1.75;
    }
    const double above = key(chart, cr, palette, rectangle);
    rectangle.y += above;
    rectangle.height -= above;
  }
  const DemurChartFrame frame = {
      .title = many ? NULL : chart->title,
      .x_label = x_word(chart),
      .x = chart->x_end > 0 ? demur_axis_nice(0, chart->x_end, 5)
                            : (DemurAxis){.low = 0, .high = 1, .step = 0.2, .decimals = 1},
      .y = demur_axis_nice(low, high, 4),
      .y_style = DEMUR_NUMBER_DECIMAL};
  return demur_plot_begin(cr, palette, rectangle, &frame);
}

static gssize
chart_hit(gconstpointer data, const DemurPalette *palette, DemurRectangle rectangle, double x,
          double y) {
  const DemurCoverageCurve *chart = data;
  gboolean any;
  cairo_t *cr = demur_chart_nowhere();
  const DemurPlot plot = begin(chart, cr, palette, rectangle, &any);
  cairo_destroy(cr);
  if (!demur_plot_contains(&plot, x, y))
    return -1;
  gssize nearest = -1;
  for (size_t i = 0; i < chart->n; i++)
    if (nearest < 0 || fabs(demur_plot_x(&plot, chart->coverages[i]) - x) <
                           fabs(demur_plot_x(&plot, chart->coverages[nearest]) - x))
      nearest = (gssize)i;
  return nearest;
}

static void
draw_marker(const DemurCoverageCurve *chart, cairo_t *cr, const DemurPalette *palette,
            const DemurPlot *plot) {
  if (!isfinite(chart->marker))
    return;
  const double x = demur_plot_x(plot, chart->marker), dots[] = {1, 2};
  demur_chart_colour(cr, palette->ink, 0.75);
  cairo_set_line_width(cr, 0.8);
  cairo_set_dash(cr, dots, 2, 0);
  cairo_move_to(cr, x, plot->area.y);
  cairo_line_to(cr, x, plot->area.y + plot->area.height);
  cairo_stroke(cr);
}

static void
draw_moving(gconstpointer data, cairo_t *cr, const DemurPalette *palette,
            DemurRectangle rectangle) {
  const DemurCoverageCurve *chart = data;
  gboolean any;
  cairo_t *nowhere = demur_chart_nowhere();
  const DemurPlot plot = begin(chart, nowhere, palette, rectangle, &any);
  cairo_destroy(nowhere);
  cairo_save(cr);
  draw_marker(chart, cr, palette, &plot);
  cairo_restore(cr);
}

static void
chart_draw(gconstpointer data, cairo_t *cr, const DemurPalette *palette, DemurRectangle rectangle) {
  const DemurCoverageCurve *chart = data;
  gboolean any;
  cairo_save(cr);
  const DemurPlot plot = begin(chart, cr, palette, rectangle, &any);
  cairo_save(cr);
  demur_plot_clip(&plot, cr);
  draw_marker(chart, cr, palette, &plot);
  for (size_t s = chart->n_series; s-- > 0;)
    draw_band(chart, &chart->series[s], cr, palette, &plot);
  for (size_t s = chart->n_series; s-- > 0;)
    draw_line(chart, s, cr, palette, &plot);
  cairo_restore(cr);
  if (any && !has_key(chart))
    draw_labels(chart, cr, palette, &plot);
  else if (!any)
    demur_chart_text(cr, palette, demur_chart_word("undefined at every coverage"),
                     palette->font_size, FALSE, palette->muted, plot.area.x + plot.area.width / 2,
                     plot.area.y + plot.area.height / 2, 0.5, 0.5, plot.area.width);
  cairo_restore(cr);
}

static DemurChartTable *
chart_table(gconstpointer data) {
  const DemurCoverageCurve *chart = data;
  DemurChartCells cells = demur_chart_cells_new(NULL, 0);
  demur_chart_cells_header(&cells, g_strdup(x_word(chart)));
  for (size_t s = 0; s < chart->n_series; s++) {
    demur_chart_cells_header(&cells, g_strdup(chart->series[s].label));
    demur_chart_cells_header(&cells,
                             g_strdup_printf(demur_chart_word("%s, mean"), chart->series[s].label));
    demur_chart_cells_header(&cells,
                             g_strdup_printf(demur_chart_word("%s, sd"), chart->series[s].label));
  }
  for (size_t i = 0; i < chart->n; i++) {
    demur_chart_cells_decimal(&cells, chart->coverages[i], 2);
    for (size_t s = 0; s < chart->n_series; s++) {
      const DemurCoverageSeries *series = &chart->series[s];
      demur_chart_cells_decimal(&cells, series->point[i], chart->decimals);
      demur_chart_cells_decimal(&cells, series->mean ? series->mean[i] : NAN, chart->decimals);
      demur_chart_cells_decimal(&cells, series->sd ? series->sd[i] : NAN, chart->decimals);
    }
  }
  return demur_chart_cells_finish(&cells);
}

static char *
chart_describe(gconstpointer data) {
  const DemurCoverageCurve *chart = data;
  GString *text = g_string_new(NULL);
  if (chart->x_label)
    g_string_append_printf(text, "%s against %s.", chart->measure, chart->x_label);
  else
    g_string_append_printf(text, demur_chart_word("%s against coverage."), chart->measure);
  for (size_t s = 0; s < chart->n_series; s++) {
    const DemurCoverageSeries *series = &chart->series[s];
    gssize first = -1, last = -1, nearest = -1;
    for (size_t i = 0; i < chart->n; i++) {
      if (!isfinite(series->point[i]))
        continue;
      if (first < 0)
        first = (gssize)i;
      last = (gssize)i;
      if (isfinite(chart->marker) &&
          (nearest < 0 || fabs(chart->coverages[i] - chart->marker) <
                              fabs(chart->coverages[nearest] - chart->marker)))
        nearest = (gssize)i;
    }
    if (first < 0) {
      g_string_append_printf(text, demur_chart_word(" %s: undefined everywhere."), series->label);
      continue;
    }
    const gssize places[3] = {first, nearest, last};
    g_string_append_printf(text, " %s:", series->label);
    gboolean written = FALSE;
    for (int k = 0; k < 3; k++) {
      if (places[k] < 0 || (k > 0 && places[k] == places[k - 1]))
        continue;
      g_autofree char *value = demur_text_decimal(series->point[places[k]], chart->decimals);
      g_autofree char *coverage = demur_text_decimal(chart->coverages[places[k]], 2);
      if (chart->x_label)
        g_string_append_printf(text, "%s %s at %s", written ? "," : "", value, coverage);
      else
        g_string_append_printf(text, demur_chart_word("%s %s at coverage %s"), written ? "," : "",
                               value, coverage);
      written = TRUE;
    }
    g_string_append_c(text, '.');
  }
  return g_string_free(text, FALSE);
}

/* The curve stays while its marker moves. */
static void
draw_still(gconstpointer data, cairo_t *cr, const DemurPalette *palette, DemurRectangle rectangle) {
  DemurCoverageCurve curve = *(const DemurCoverageCurve *)data;
  curve.marker = NAN;
  chart_draw(&curve, cr, palette, rectangle);
}

const DemurChartInterface demur_coverage_curve_chart = {
    .draw = chart_draw,
    .table = chart_table,
    .describe = chart_describe,
    .hit = chart_hit,
    .aspect = 0.56,
    .draw_still = draw_still,
    .draw_moving = draw_moving,
};
