#include "report/evidence.h"

#include <math.h>

#include "report/format.h"
#include "report/use.h"

#define N_COLUMNS 3
#define LOW (-1.0) /* log10 of what the axis begins with */
#define ABOVE 0.7  /* what it shows beyond the alarm, log10 */
#define MOST 6.0   /* .. and ends with, whatever the evidence */
#define PANEL_ASPECT 0.36

static size_t
patients_at(const DemurEvidencePanel *panel, size_t i) {
  return panel->at != NULL ? panel->at[i] : i + 1;
}

/* The upper end: the alarm and a little, or the evidence where that is more. */
static double
highest(const DemurEvidencePanel *panel) {
  double high = log10(panel->limit) + ABOVE;
  for (size_t i = 0; i < panel->n; i++)
    high = fmax(high, fmin(log10(fmax(panel->evidence[i], 1e-12)), MOST));
  return high;
}

static double
height_of(const DemurPlot *plot, double evidence) {
  return demur_plot_y(plot, CLAMP(log10(fmax(evidence, 1e-12)), plot->y.low, plot->y.high));
}

static void
horizontal(cairo_t *cr, const DemurPlot *plot, double evidence) {
  const double y = height_of(plot, evidence);
  cairo_move_to(cr, plot->area.x, y);
  cairo_line_to(cr, plot->area.x + plot->area.width, y);
  cairo_stroke(cr);
}

static void
draw_lines(cairo_t *cr, const DemurPalette *palette, const DemurPlot *plot,
           const DemurEvidencePanel *panel, double thick) {
  const double dashes[] = {4.0 * thick, 3.0 * thick};
  cairo_save(cr);
  cairo_set_line_width(cr, thick);
  demur_chart_colour(cr, palette->grid, 1);
  horizontal(cr, plot, 1.0);
  demur_chart_colour(cr, palette->warning, 1);
  cairo_set_dash(cr, dashes, 2, 0.0);
  horizontal(cr, plot, panel->limit);
  cairo_set_dash(cr, NULL, 0, 0.0);
  demur_chart_colour(cr, palette->series[DEMUR_SERIES_SELECTOR], 1);
  cairo_set_line_width(cr, 1.6 * thick);
  cairo_move_to(cr, demur_plot_x(plot, 0.0), height_of(plot, 1.0));
  for (size_t i = 0; i < panel->n; i++)
    cairo_line_to(cr, demur_plot_x(plot, (double)patients_at(panel, i)),
                  height_of(plot, panel->evidence[i]));
  cairo_stroke(cr);
  if (panel->alarm_at > 0) {
    demur_chart_colour(cr, palette->warning, 1);
    demur_chart_glyph(cr, DEMUR_SERIES_CONFIDENCE, demur_plot_x(plot, (double)panel->alarm_at),
                      height_of(plot, panel->limit), 3.2 * thick);
  }
  cairo_restore(cr);
}

static double
last_patient(const DemurEvidencePanel *panel) {
  return panel->n > 0 ? (double)patients_at(panel, panel->n - 1) : 1.0;
}

void
demur_evidence_line(cairo_t *cr, const DemurPalette *palette, DemurRectangle rectangle,
                    const DemurEvidencePanel *panel) {
  const double edge = 3.0;
  const DemurPlot plot = {
      .area = {rectangle.x, rectangle.y + edge, rectangle.width, rectangle.height - 2.0 * edge},
      .x = {.low = 0.0, .high = last_patient(panel), .step = 1.0},
      .y = {.low = LOW, .high = highest(panel), .step = 1.0}};
  draw_lines(cr, palette, &plot, panel, 1.0);
}

/* Where something most likely changed, with its words below the line of no evidence. */
static void
draw_change(cairo_t *cr, const DemurPalette *palette, const DemurPlot *plot,
            const DemurEvidencePanel *panel) {
  const double x = demur_plot_x(plot, (double)panel->change_at), size = palette->font_size;
  const double dots[] = {1.0, 2.0};
  cairo_save(cr);
  cairo_set_dash(cr, dots, 2, 0.0);
  cairo_set_line_width(cr, 0.9);
  demur_chart_colour(cr, palette->ink, 1);
  cairo_move_to(cr, x, plot->area.y);
  cairo_line_to(cr, x, plot->area.y + plot->area.height);
  cairo_stroke(cr);
  cairo_restore(cr);
  const gboolean left = x > plot->area.x + 0.6 * plot->area.width;
  demur_chart_text(cr, palette, "most likely changed here", size, FALSE, palette->ink,
                   x + (left ? -4.0 : 4.0), plot->area.y + plot->area.height - 0.4 * size,
                   left ? 1.0 : 0.0, 1.0, plot->area.width);
}

static char *
x_label(const DemurEvidencePanel *panel) {
  if (panel->first == NULL || panel->last == NULL)
    return g_strdup("patients in the order in which they came");
  g_autofree char *first = demur_text_date(panel->first), *last = demur_text_date(panel->last);
  return g_strdup_printf("patients in the order in which they came, %s to %s", first, last);
}

static void
draw_one(const DemurEvidence *chart, cairo_t *cr, const DemurPalette *palette,
         DemurRectangle rectangle) {
  const DemurEvidencePanel *panel = &chart->panels[0];
  const double size = palette->font_size;
  if (panel->change != NULL) { /* what the picture is about stands above it */
    if (chart->title != NULL)
      demur_chart_text(cr, palette, chart->title, size * 1.1, TRUE, palette->ink, rectangle.x,
                       rectangle.y, 0, 0, rectangle.width);
    demur_chart_text(cr, palette, panel->change, size, FALSE, palette->ink, rectangle.x,
                     rectangle.y + size * 1.7, 0, 0, rectangle.width);
    rectangle.y += size * 3.6;
    rectangle.height -= size * 3.6;
  }
  g_autofree char *label = x_label(panel);
  DemurAxis x = demur_axis_nice(0.0, last_patient(panel), 6);
  x.high = last_patient(panel);
  const double high = highest(panel);
  const DemurChartFrame frame = {.title = panel->change == NULL ? chart->title : NULL,
                                 .x_label = label,
                                 .y_label = "evidence of a change (e-value; 1 is none)",
                                 .x = x,
                                 .y = {.low = LOW, .high = high, .step = high > 5.0 ? 2.0 : 1.0},
                                 .x_style = DEMUR_NUMBER_COUNT,
                                 .y_style = DEMUR_NUMBER_POWER};
  const DemurPlot plot = demur_plot_begin(cr, palette, rectangle, &frame);
  if (panel->change != NULL)
    draw_change(cr, palette, &plot, panel);
  draw_lines(cr, palette, &plot, panel, 1.0);
  g_autofree char *limit = demur_text_evidence(panel->limit, NULL),
                  *alarm = g_strdup_printf("alarm: %s", limit);
  demur_chart_text(cr, palette, alarm, size, TRUE, palette->warning, plot.area.x + 4.0,
                   height_of(&plot, panel->limit) - 2.0, 0, 1, 0);
}

static void
draw_panel(const DemurEvidencePanel *panel, cairo_t *cr, const DemurPalette *palette,
           DemurRectangle r) {
  const double size = palette->font_size;
  demur_chart_text(cr, palette, panel->title, size, panel->alarm_at > 0, palette->ink, r.x, r.y, 0,
                   0, r.width);
  g_autofree char *now =
                      demur_text_evidence(panel->n > 0 ? panel->evidence[panel->n - 1] : 1.0, NULL),
                  *limit = demur_text_evidence(panel->limit, NULL);
  g_autofree char *count = demur_text_counted((guint64)(panel->n > 0 ? last_patient(panel) : 0.0),
                                              "patient", "patients"),
                  *words = panel->alarm_at > 0 /* there is room for no more */
                               ? g_strdup_printf("ALARM · now %s of %s", now, limit)
                               : g_strdup_printf("%s · now %s of %s", count, now, limit);
  demur_chart_text(cr, palette, words, size * 0.92, FALSE,
                   panel->alarm_at > 0 ? palette->warning : palette->muted, r.x, r.y + r.height, 0,
                   1, r.width);
  const DemurRectangle inner = {r.x, r.y + size * 1.5, r.width, r.height - size * 3.0};
  demur_evidence_line(cr, palette, inner, panel);
}

static void
chart_draw(gconstpointer data, cairo_t *cr, const DemurPalette *palette, DemurRectangle rectangle) {
  const DemurEvidence *chart = data;
  cairo_save(cr);
  cairo_set_dash(cr, NULL, 0, 0);
  if (chart->n_panels == 1) {
    draw_one(chart, cr, palette, rectangle);
    cairo_restore(cr);
    return;
  }
  const double size = palette->font_size, gap = size * 1.6;
  if (chart->title != NULL) {
    demur_chart_text(cr, palette, chart->title, size * 1.1, TRUE, palette->ink, rectangle.x,
                     rectangle.y, 0, 0, rectangle.width);
    rectangle.y += size * 2.0;
    rectangle.height -= size * 2.0;
  }
  const size_t n_rows = (chart->n_panels + N_COLUMNS - 1) / N_COLUMNS;
  const double width = (rectangle.width - gap * (N_COLUMNS - 1)) / N_COLUMNS,
               height = (rectangle.height - size * (double)(n_rows - 1)) / (double)n_rows;
  for (size_t i = 0; i < chart->n_panels; i++) {
    const size_t row = i / N_COLUMNS, column = i % N_COLUMNS;
    const DemurRectangle place = {rectangle.x + (double)column * (width + gap),
                                  rectangle.y + (double)row * (height + size), width, height};
    draw_panel(&chart->panels[i], cr, palette, place);
  }
  cairo_restore(cr);
}

static double
chart_height(gconstpointer data, const DemurPalette *palette, double width) {
  const DemurEvidence *chart = data;
  if (chart->n_panels == 1)
    return 0.5 * width;
  const double n_rows = (double)((chart->n_panels + N_COLUMNS - 1) / N_COLUMNS);
  return palette->font_size * 2.0 +
         n_rows * (PANEL_ASPECT * width / N_COLUMNS + palette->font_size * 2.5);
}

static DemurChartTable *
chart_table(gconstpointer data) {
  const DemurEvidence *chart = data;
  static const char *const names[] = {"signal", "patients", "evidence", "alarm"};
  DemurChartCells cells = demur_chart_cells_new(names, G_N_ELEMENTS(names));
  for (size_t p = 0; p < chart->n_panels; p++) {
    const DemurEvidencePanel *panel = &chart->panels[p];
    for (size_t i = 0; i < panel->n; i++) {
      demur_chart_cells_text(&cells, panel->title);
      demur_chart_cells_count(&cells, patients_at(panel, i));
      demur_chart_cells_decimal(&cells, panel->evidence[i], 2);
      demur_chart_cells_decimal(&cells, panel->limit, 0);
    }
  }
  return demur_chart_cells_finish(&cells);
}

static char *
chart_describe(gconstpointer data) {
  const DemurEvidence *chart = data;
  GString *text =
      g_string_new("Evidence that something changed, on a logarithmic axis; 1 is none.");
  for (size_t p = 0; p < chart->n_panels; p++) {
    const DemurEvidencePanel *panel = &chart->panels[p];
    g_autofree char *now =
        demur_text_evidence(panel->n > 0 ? panel->evidence[panel->n - 1] : 1.0, NULL);
    g_autofree char *count = demur_text_counted((guint64)(panel->n > 0 ? last_patient(panel) : 0.0),
                                                "patient", "patients");
    g_autofree char *limit = demur_text_evidence(panel->limit, NULL);
    g_string_append_printf(text, " %s: %s after %s, an alarm is %s", panel->title, now, count,
                           limit);
    if (panel->alarm_at > 0)
      g_string_append_printf(text, ", ALARM after %zu", panel->alarm_at);
    g_string_append_c(text, '.');
    if (panel->change != NULL)
      g_string_append_printf(text, " %s.", panel->change);
  }
  return g_string_free(text, FALSE);
}

const DemurChartInterface demur_evidence_chart = {.draw = chart_draw,
                                                  .table = chart_table,
                                                  .describe = chart_describe,
                                                  .height = chart_height,
                                                  .aspect = 0.5};
