#include "report/group-bars.h"

#include "report/chart-words.h"
#include "report/format.h"

#include <math.h>

/* In units of the font size. */
#define TITLE 1.8
#define BAR 0.62
#define BETWEEN 0.7 /* groups */
#define AXIS 3.4

#define LABEL 0.26 /* of the width */

static const char *
label_of(const DemurBarGroup *group) {
  return group->is_word ? demur_chart_word(group->label) : group->label;
}

static double
group_height(const DemurGroupBars *chart, const DemurPalette *palette) {
  return palette->font_size * (BAR * (double)chart->n_series + BETWEEN);
}

static double
key_height(const DemurGroupBars *chart, const DemurPalette *palette, double width) {
  return demur_chart_key(NULL, palette, chart->labels, chart->series, chart->n_series, 0, 0, width);
}

static double
chart_height(gconstpointer data, const DemurPalette *palette, double width) {
  const DemurGroupBars *chart = data;
  return palette->font_size * ((chart->title ? TITLE : 0) + AXIS) +
         key_height(chart, palette, width) + (double)chart->n_groups * group_height(chart, palette);
}

/* The plot; where its first group begins is the top of its area. */
static DemurPlot
place(const DemurGroupBars *chart, const DemurPalette *palette, DemurRectangle rectangle) {
  double highest = 0;
  for (size_t g = 0; g < chart->n_groups; g++)
    for (size_t s = 0; s < chart->n_series; s++)
      if (isfinite(chart->groups[g].values[s]))
        highest = fmax(highest, chart->groups[g].values[s]);
  const double top = rectangle.y + (chart->title ? TITLE * palette->font_size : 0) +
                     key_height(chart, palette, rectangle.width),
               left = rectangle.x + LABEL * rectangle.width;
  return (DemurPlot){.area = {left, top,
                              rectangle.x + rectangle.width - left - 3.2 * palette->font_size,
                              (double)chart->n_groups * group_height(chart, palette)},
                     .x = demur_axis_nice(0, highest > 0 ? highest : 1, 4),
                     .y = {.low = 0, .high = 1, .step = 1}};
}

static void
draw_axis(const DemurGroupBars *chart, cairo_t *cr, const DemurPalette *palette,
          const DemurPlot *plot) {
  const double size = palette->font_size, bottom = plot->area.y + plot->area.height;
  cairo_set_line_width(cr, 0.5);
  for (double tick = plot->x.low; tick <= plot->x.high + plot->x.step * 1e-6;
       tick += plot->x.step) {
    const double x = demur_plot_x(plot, tick);
    g_autofree char *text = demur_axis_text(&plot->x, tick, DEMUR_NUMBER_DECIMAL);
    demur_chart_colour(cr, palette->grid, 1);
    cairo_move_to(cr, x, plot->area.y);
    cairo_line_to(cr, x, bottom);
    cairo_stroke(cr);
    demur_chart_text(cr, palette, text, size, FALSE, palette->muted, x, bottom + size * 0.4, 0.5, 0,
                     0);
  }
  demur_chart_text(cr, palette, chart->measure, size, FALSE, palette->muted,
                   plot->area.x + plot->area.width / 2, bottom + size * 1.8, 0.5, 0, 0);
}

static void
draw_group(const DemurGroupBars *chart, const DemurBarGroup *group, gboolean mean, cairo_t *cr,
           const DemurPalette *palette, DemurRectangle rectangle, const DemurPlot *plot,
           double top) {
  const double size = palette->font_size, bar = BAR * size;
  demur_chart_text(cr, palette, label_of(group), size, mean, palette->ink, rectangle.x,
                   top + bar * (double)chart->n_series / 2, 0, 0.5,
                   (LABEL - 0.02) * rectangle.width);
  for (size_t s = 0; s < chart->n_series; s++) {
    const double y = top + bar * (double)s, value = group->values[s];
    if (!isfinite(value))
      continue;
    const double end = demur_plot_x(plot, fmax(value, 0));
    g_autofree char *text = demur_text_decimal(value, 3);
    cairo_rectangle(cr, plot->area.x, y + bar * 0.1, fmax(end - plot->area.x, 0.4), bar * 0.8);
    demur_chart_hatch(cr, palette, chart->series[s], 0.85);
    demur_chart_text(cr, palette, text, size * 0.62, mean, palette->muted, end + size * 0.25,
                     y + bar / 2, 0, 0.5, 0);
  }
}

static void
chart_draw(gconstpointer data, cairo_t *cr, const DemurPalette *palette, DemurRectangle rectangle) {
  const DemurGroupBars *chart = data;
  const DemurPlot plot = place(chart, palette, rectangle);
  const double size = palette->font_size;
  cairo_save(cr);
  cairo_set_dash(cr, NULL, 0, 0);
  if (chart->title)
    demur_chart_text(cr, palette, chart->title, size * 1.1, TRUE, palette->ink, rectangle.x,
                     rectangle.y, 0, 0, rectangle.width);
  demur_chart_key(cr, palette, chart->labels, chart->series, chart->n_series, rectangle.x,
                  rectangle.y + (chart->title ? TITLE * size : 0), rectangle.width);
  draw_axis(chart, cr, palette, &plot);
  for (size_t g = 0; g < chart->n_groups; g++) {
    const double top =
        plot.area.y + ((double)g * (BAR * (double)chart->n_series + BETWEEN) + BETWEEN / 2) * size;
    draw_group(chart, &chart->groups[g], g + 1 == chart->n_groups, cr, palette, rectangle, &plot,
               top);
  }
  cairo_restore(cr);
}

static gssize
chart_hit(gconstpointer data, const DemurPalette *palette, DemurRectangle rectangle, double x,
          double y) {
  const DemurGroupBars *chart = data;
  const DemurPlot plot = place(chart, palette, rectangle);
  if (x < rectangle.x || x > rectangle.x + rectangle.width || y < plot.area.y)
    return -1;
  const size_t g = (size_t)((y - plot.area.y) / group_height(chart, palette));
  return g < chart->n_groups ? (gssize)g : -1;
}

static DemurChartTable *
chart_table(gconstpointer data) {
  const DemurGroupBars *chart = data;
  static const char *const names[] = {"group"};
  DemurChartCells cells = demur_chart_cells_new(names, G_N_ELEMENTS(names));
  for (size_t s = 0; s < chart->n_series; s++)
    demur_chart_cells_header(&cells, g_strdup(chart->labels[s]));
  for (size_t g = 0; g < chart->n_groups; g++) {
    demur_chart_cells_text(&cells, label_of(&chart->groups[g]));
    for (size_t s = 0; s < chart->n_series; s++)
      demur_chart_cells_decimal(&cells, chart->groups[g].values[s], 4);
  }
  return demur_chart_cells_finish(&cells);
}

static char *
chart_describe(gconstpointer data) {
  const DemurGroupBars *chart = data;
  g_autoptr(GString) text = g_string_new(NULL);
  g_string_append_printf(text, "%s of %zu groups and their mean.", chart->measure,
                         chart->n_groups - 1);
  for (size_t g = 0; g < chart->n_groups; g++) {
    g_string_append_printf(text, " %s:", label_of(&chart->groups[g]));
    for (size_t s = 0; s < chart->n_series; s++) {
      g_autofree char *value = demur_text_decimal(chart->groups[g].values[s], 3);
      g_string_append_printf(text, "%s %s %s", s > 0 ? "," : "", chart->labels[s], value);
    }
    g_string_append_c(text, g + 1 < chart->n_groups ? ';' : '.');
  }
  return g_strdup(text->str);
}

const DemurChartInterface demur_group_bars_chart = {
    .draw = chart_draw,
    .table = chart_table,
    .describe = chart_describe,
    .hit = chart_hit,
    .height = chart_height,
};
