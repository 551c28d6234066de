#include "report/forest.h"

#include "report/chart-words.h"
#include "report/format.h"

#include <math.h>

static const char *
label_of(const DemurForestRow *row) {
  return row->is_word ? demur_chart_word(row->label) : row->label;
}

static size_t
end_row(const DemurForestPlot *chart) {
  const size_t end = chart->first + chart->n_shown;
  return chart->n_shown > 0 && end < chart->n_rows ? end : chart->n_rows;
}

/* In units of the font size. */
#define ROW 1.75
#define TITLE 1.8
#define HEADER 1.8
#define AXIS 2.6

#define LABEL 0.34 /* of the width */
#define SECOND_LINE 1.15

/* Lines a label needs: one, or two where it is too long for one. */
static int
label_lines(const DemurForestRow *row, cairo_t *cr, const DemurPalette *palette, double width) {
  return demur_chart_text_size(cr, palette, label_of(row), palette->font_size, FALSE).width > width
             ? 2
             : 1;
}

static double
row_height(const DemurForestRow *row, cairo_t *cr, const DemurPalette *palette, double width) {
  return palette->font_size *
         (ROW + SECOND_LINE * (label_lines(row, cr, palette, LABEL * width) - 1));
}

static double
chart_height(gconstpointer data, const DemurPalette *palette, double width) {
  const DemurForestPlot *chart = data;
  cairo_t *cr = demur_chart_nowhere();
  double rows = 0;
  for (size_t i = chart->first; i < end_row(chart); i++)
    rows += row_height(&chart->rows[i], cr, palette, width);
  cairo_destroy(cr);
  return palette->font_size * ((chart->title ? TITLE : 0) + HEADER + AXIS) + rows;
}

/* The interval lies wholly above or below the overall rate. */
static gboolean
stands_out(const DemurForestPlot *chart, const DemurForestRow *row) {
  return isfinite(row->low) && isfinite(row->high) && isfinite(chart->reference) &&
         (row->low > chart->reference || row->high < chart->reference);
}

static char *
number_words(const DemurForestPlot *chart, double value) {
  return chart->ratio ? demur_text_decimal(value, 2) : demur_text_percent(value, 1);
}

/* "17.0 % to 30.0 %", owned. */
static char *
interval_words(const DemurForestPlot *chart, const DemurForestRow *row) {
  if (!isfinite(row->low) || !isfinite(row->high))
    return g_strdup(DEMUR_TEXT_UNDEFINED);
  g_autofree char *low = number_words(chart, row->low), *high = number_words(chart, row->high);
  return g_strdup_printf("%s to %s", low, high);
}

/* The size of a group whose rate is withheld is withheld too. */
static char *
row_count(const DemurForestRow *row) {
  return row->withheld ? g_strdup("< 10") : demur_text_count(row->n);
}

static char *
value_words(const DemurForestPlot *chart, const DemurForestRow *row) {
  return isfinite(row->value) ? number_words(chart, row->value) : g_strdup("withheld");
}

#define RATIO_MOST 8.0 /* and its inverse: the axis of ratios goes no further */

/* Where a value stands on the axis: ratios by their logarithm to 2. */
static double
place_of(const DemurForestPlot *chart, double value) {
  return chart->ratio ? log2(CLAMP(value, 1 / RATIO_MOST, RATIO_MOST)) : value;
}

/* The axis that holds all values and most of all intervals. */
static DemurAxis
axis_of(const DemurForestPlot *chart) {
  double lowest = 0, highest = isfinite(chart->reference) ? place_of(chart, chart->reference) : 0;
  for (size_t i = 0; i < chart->n_rows; i++) {
    const double ends[3] = {chart->rows[i].value, chart->rows[i].high, chart->rows[i].low};
    for (int k = 0; k < 3; k++)
      if (isfinite(ends[k])) {
        highest = fmax(highest, place_of(chart, ends[k]));
        lowest = fmin(lowest, place_of(chart, ends[k]));
      }
  }
  if (chart->ratio) {
    const double reach = fmax(1, ceil(fmax(highest, -lowest)));
    return (DemurAxis){.low = -reach, .high = reach, .step = 1};
  }
  return demur_axis_nice(0, highest > 0 ? fmin(highest, 1) : 0.1, 3);
}

static void
draw_mark(const DemurForestPlot *chart, const DemurForestRow *row, cairo_t *cr,
          const DemurPalette *palette, const DemurPlot *plot, double y) {
  const gboolean out = stands_out(chart, row);
  const double x = demur_plot_x(plot, place_of(chart, row->value));
  demur_chart_colour(cr, out ? palette->warning : palette->series[DEMUR_SERIES_SELECTOR], 1);
  if (isfinite(row->low) && isfinite(row->high)) {
    cairo_set_line_width(cr, palette->font_size * 0.13);
    cairo_move_to(cr, demur_plot_x(plot, place_of(chart, row->low)), y);
    cairo_line_to(cr, demur_plot_x(plot, fmin(place_of(chart, row->high), plot->x.high)), y);
    cairo_stroke(cr);
  }
  demur_chart_glyph(cr, out ? DEMUR_SERIES_CONFIDENCE : DEMUR_SERIES_SELECTOR, x, y,
                    palette->font_size * 0.27);
}

static void
chart_draw(gconstpointer data, cairo_t *cr, const DemurPalette *palette, DemurRectangle rectangle) {
  const DemurForestPlot *chart = data;
  const double size = palette->font_size;
  double rows = 0, y = rectangle.y;
  for (size_t i = chart->first; i < end_row(chart); i++)
    rows += row_height(&chart->rows[i], cr, palette, rectangle.width);
  cairo_save(cr);
  cairo_set_dash(cr, NULL, 0, 0);
  if (chart->title) {
    demur_chart_text(cr, palette, chart->title, size * 1.1, TRUE, palette->ink, rectangle.x, y, 0,
                     0, rectangle.width);
    y += TITLE * size;
  }
  /* Label, scans, rate and interval end at fixed places; the plot takes the rest. */
  const double scans = rectangle.x + 0.40 * rectangle.width,
               value = rectangle.x + 0.50 * rectangle.width,
               interval = rectangle.x + 0.66 * rectangle.width,
               left = rectangle.x + 0.69 * rectangle.width;
  demur_chart_text(cr, palette, chart->n_label ? chart->n_label : "Scans", size, TRUE,
                   palette->muted, scans, y, 1, 0, 0);
  demur_chart_text(cr, palette, chart->value_label, size, TRUE, palette->muted, value, y, 1, 0, 0);
  demur_chart_text(cr, palette, chart->interval_label, size, TRUE, palette->muted, interval, y, 1,
                   0, 0);
  y += HEADER * size;
  DemurPlot plot = {.area = {left, y, rectangle.x + rectangle.width - left - size * 1.5, rows},
                    .x = axis_of(chart),
                    .y = {.low = 0, .high = 1, .step = 1}};
  if (isfinite(chart->reference)) {
    const double x = demur_plot_x(&plot, place_of(chart, chart->reference)), dots[] = {1, 2};
    demur_chart_colour(cr, palette->ink, 0.8);
    cairo_set_line_width(cr, 0.8);
    cairo_set_dash(cr, dots, 2, 0);
    cairo_move_to(cr, x, y - size * 0.3);
    cairo_line_to(cr, x, y + plot.area.height);
    cairo_stroke(cr);
    cairo_set_dash(cr, NULL, 0, 0);
  }
  double top = y;
  for (size_t i = chart->first; i < end_row(chart); i++) {
    const DemurForestRow *r = &chart->rows[i];
    const double row = row_height(r, cr, palette, rectangle.width), middle = top + row / 2;
    top += row;
    g_autofree char *n = row_count(r), *rate = value_words(chart, r),
                    *range = interval_words(chart, r);
    demur_chart_colour(cr, palette->grid, 1);
    cairo_set_line_width(cr, 0.5);
    cairo_move_to(cr, rectangle.x, middle + row / 2);
    cairo_line_to(cr, rectangle.x + rectangle.width, middle + row / 2);
    cairo_stroke(cr);
    demur_chart_text_lines(cr, palette, label_of(r), size, palette->ink, rectangle.x, middle,
                           LABEL * rectangle.width,
                           label_lines(r, cr, palette, LABEL * rectangle.width));
    demur_chart_text(cr, palette, n, size, FALSE, palette->ink, scans, middle, 1, 0.5, 0);
    demur_chart_text(cr, palette, rate, size, stands_out(chart, r), palette->ink, value, middle, 1,
                     0.5, 0);
    demur_chart_text(cr, palette, range, size, FALSE, palette->muted, interval, middle, 1, 0.5, 0);
    if (isfinite(r->value))
      draw_mark(chart, r, cr, palette, &plot, middle);
  }
  for (double tick = plot.x.low; tick <= plot.x.high + plot.x.step * 1e-6; tick += plot.x.step) {
    g_autofree char *text = chart->ratio ? demur_text_decimal(exp2(tick), tick < 0 ? (int)-tick : 0)
                                         : demur_axis_text(&plot.x, tick, DEMUR_NUMBER_PERCENT);
    demur_chart_text(cr, palette, text, size, FALSE, palette->muted, demur_plot_x(&plot, tick),
                     y + plot.area.height + size * 0.4, 0.5, 0, 0);
  }
  cairo_restore(cr);
}

static DemurChartTable *
chart_table(gconstpointer data) {
  const DemurForestPlot *chart = data;
  const char *const names[] = {"group", "scans", chart->value_label, "95 % low", "95 % high"};
  DemurChartCells cells = demur_chart_cells_new(names, G_N_ELEMENTS(names));
  for (size_t i = chart->first; i < end_row(chart); i++) {
    const DemurForestRow *row = &chart->rows[i];
    demur_chart_cells_text(&cells, label_of(row));
    if (row->withheld)
      demur_chart_cells_text(&cells, "< 10");
    else
      demur_chart_cells_count(&cells, row->n);
    const double numbers[3] = {row->value, row->low, row->high};
    for (int k = 0; k < 3; k++) {
      if (chart->ratio)
        demur_chart_cells_decimal(&cells, numbers[k], 2);
      else
        demur_chart_cells_percent(&cells, numbers[k]);
    }
  }
  return demur_chart_cells_finish(&cells);
}

static char *
chart_describe(gconstpointer data) {
  const DemurForestPlot *chart = data;
  g_autofree char *overall = number_words(chart, chart->reference);
  GString *text = g_string_new(NULL);
  g_string_append_printf(text, "%s by group, overall %s.", chart->value_label, overall);
  for (size_t i = chart->first; i < end_row(chart); i++) {
    const DemurForestRow *row = &chart->rows[i];
    g_autofree char *value = value_words(chart, row), *interval = interval_words(chart, row);
    g_string_append_printf(text, " %s: %s", label_of(row), value);
    if (isfinite(row->low) && isfinite(row->high))
      g_string_append_printf(text, " (%s)", interval);
    g_string_append_c(text, i + 1 < end_row(chart) ? ';' : '.');
  }
  return g_string_free(text, FALSE);
}

const DemurChartInterface demur_forest_chart = {
    .draw = chart_draw,
    .table = chart_table,
    .describe = chart_describe,
    .height = chart_height,
};
