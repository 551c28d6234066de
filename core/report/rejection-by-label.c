#include "report/rejection-by-label.h"

#include "report/chart-words.h"
#include "report/format.h"

#include <math.h>
#include <string.h>

typedef struct {
  const char *label;
  DemurChartSeries series;
  double value, low, high; /* low, high NaN: no interval */
} Bar;

/* "cancer" and "no cancer" in the language in use; what a cohort calls its outcome is as it is. */
static const char *
label_of(const DemurRejectionChart *chart, size_t label) {
  return demur_chart_word(chart->labels[label]);
}

/* The bars of one label, at most n_series + 1; returns their number. */
static size_t
label_bars(const DemurRejectionChart *chart, size_t label, Bar *bars) {
  size_t n = 0;
  if (chart->kind == DEMUR_REJECTION_SHARES && chart->n_series > 0)
    bars[n++] = (Bar){demur_chart_word("all scans"), DEMUR_SERIES_EVERYTHING,
                      chart->series[0].rejections[label].share_of_all, NAN, NAN};
  for (size_t s = 0; s < chart->n_series; s++) {
    const DemurRejection *r = &chart->series[s].rejections[label];
    if (chart->kind == DEMUR_REJECTION_SHARES)
      bars[n++] =
          (Bar){chart->series[s].label, chart->series[s].series, r->share_of_rejected, NAN, NAN};
    else
      bars[n++] = (Bar){chart->series[s].label, chart->series[s].series, r->rate, r->rate_low,
                        r->rate_high};
  }
  return n;
}

/* The key above the plot: a swatch and a name for each bar of a label; returns its height. */
static double
draw_key(const Bar *bars, size_t n, cairo_t *cr, const DemurPalette *palette, double x, double y,
         double width) {
  const double size = palette->font_size, box = size * 0.9, left = x;
  double height = size * 1.5;
  for (size_t i = 0; i < n; i++) {
    const double text =
        fmin(demur_chart_text_size(cr, palette, bars[i].label, size, FALSE).width, width - 2 * box);
    if (x > left && x + box * 1.4 + text > left + width) {
      x = left;
      y += size * 1.4;
      height += size * 1.4;
    }
    cairo_rectangle(cr, x, y + size * 0.2, box, box);
    demur_chart_hatch(cr, palette, bars[i].series, 0.85);
    demur_chart_text(cr, palette, bars[i].label, size, FALSE, palette->ink, x + box * 1.4, y, 0, 0,
                     width - 2 * box);
    x += box * 1.4 + text + size * 1.4;
  }
  return height;
}

/* Below each label of the rates, how common it is: in units of the font size. */
#define SHARE_LINE 1.3

static gboolean
has_shares(const DemurRejectionChart *chart) {
  return chart->kind == DEMUR_REJECTION_RATES && chart->n_series > 0;
}

/* A second line of a label, in units of the font size. */
#define SECOND_LINE 1.2

/* Where a label that is wider than there is room for breaks: the blank nearest to its middle; NULL: it
 * stands on one line. */
static const char *
break_of(cairo_t *cr, const DemurPalette *palette, const char *label, double room) {
  if (demur_chart_text_size(cr, palette, label, palette->font_size, FALSE).width <= room)
    return NULL;
  const char *best = NULL, *middle = label + strlen(label) / 2;
  for (const char *blank = strchr(label, ' '); blank != NULL; blank = strchr(blank + 1, ' '))
    if (best == NULL || ABS(blank - middle) < ABS(best - middle))
      best = blank;
  return best;
}

static void
draw_label(cairo_t *cr, const DemurPalette *palette, const char *label, double middle, double y,
           double room) {
  const char *at = break_of(cr, palette, label, room);
  g_autofree char *first = at != NULL ? g_strndup(label, (gsize)(at - label)) : g_strdup(label);
  demur_chart_text(cr, palette, first, palette->font_size, FALSE, palette->ink, middle, y, 0.5, 0,
                   room);
  if (at != NULL)
    demur_chart_text(cr, palette, at + 1, palette->font_size, FALSE, palette->ink, middle,
                     y + palette->font_size * SECOND_LINE, 0.5, 0, room);
}

typedef struct {
  DemurPlot plot;
  gboolean two_lines;        /* of a label */
  size_t n;                  /* bars of a label */
  double group, slot, width; /* of a label, of a bar with its gap, of a bar */
} Layout;

/* Title, key, axes; the last label's bars are left in bars. */
static Layout
begin(const DemurRejectionChart *chart, cairo_t *cr, const DemurPalette *palette,
      DemurRectangle rectangle, Bar *bars) {
  double highest = 0;
  size_t n = 0;
  for (size_t l = 0; l < chart->n_labels; l++) {
    n = label_bars(chart, l, bars);
    for (size_t i = 0; i < n; i++) {
      if (isfinite(bars[i].value))
        highest = fmax(highest, bars[i].value);
      if (isfinite(bars[i].high))
        highest = fmax(highest, bars[i].high);
    }
  }
  const double size = palette->font_size;
  if (chart->title) {
    demur_chart_text(cr, palette, chart->title, size * 1.1, TRUE, palette->ink, rectangle.x,
                     rectangle.y, 0, 0, rectangle.width);
    rectangle.y += size * 1.75;
    rectangle.height -= size * 1.75;
  }
  const double key = draw_key(bars, n, cr, palette, rectangle.x, rectangle.y, rectangle.width);
  const double above = key + size; /* and room for the number on a bar as high as the axis */
  rectangle.y += above;
  Layout layout = {.n = n};
  const double room = (rectangle.width - 4 * size) / (double)MAX(chart->n_labels, 1) * 0.95;
  for (size_t l = 0; l < chart->n_labels; l++)
    layout.two_lines |= break_of(cr, palette, label_of(chart, l), room) != NULL;
  rectangle.height -= above + (has_shares(chart) ? SHARE_LINE * size : 0) +
                      (layout.two_lines ? SECOND_LINE * size : 0);
  DemurChartFrame frame = {.x = {.low = 0, .high = 1, .step = 1},
                           .y = demur_axis_nice(0, highest > 0 ? highest : 0.1, 4),
                           .y_style = DEMUR_NUMBER_PERCENT,
                           .no_x_ticks = TRUE};
  frame.y.high = fmax(frame.y.high, frame.y.step);
  layout.plot = demur_plot_begin(cr, palette, rectangle, &frame);
  layout.group = layout.plot.area.width / (double)MAX(chart->n_labels, 1);
  layout.slot = layout.group * 0.8 / (double)MAX(n, 1);
  layout.width = fmin(layout.slot * 0.82, size * 6);
  return layout;
}

static double
bar_x(const Layout *layout, size_t label, size_t bar) {
  const double middle = layout->plot.area.x + layout->group * ((double)label + 0.5);
  return middle + layout->slot * ((double)bar - ((double)layout->n - 1) / 2);
}

static gssize
chart_hit(gconstpointer data, const DemurPalette *palette, DemurRectangle rectangle, double x,
          double y) {
  const DemurRejectionChart *chart = data;
  g_autofree Bar *bars = g_new0(Bar, chart->n_series + 1);
  cairo_t *cr = demur_chart_nowhere();
  const Layout layout = begin(chart, cr, palette, rectangle, bars);
  cairo_destroy(cr);
  if (!demur_plot_contains(&layout.plot, x, y))
    return -1;
  for (size_t l = 0; l < chart->n_labels; l++)
    for (size_t i = 0; i < layout.n; i++)
      if (fabs(x - bar_x(&layout, l, i)) <= layout.slot / 2) {
        /* Of the bars of shares the first is of all scans: its number stands in every row. */
        const size_t series = chart->kind == DEMUR_REJECTION_SHARES && i > 0 ? i - 1 : i;
        return (gssize)(series * chart->n_labels + l);
      }
  return -1;
}

static void
chart_draw(gconstpointer data, cairo_t *cr, const DemurPalette *palette, DemurRectangle rectangle) {
  const DemurRejectionChart *chart = data;
  g_autofree Bar *bars = g_new0(Bar, chart->n_series + 1);
  const double size = palette->font_size;
  cairo_save(cr);
  const Layout layout = begin(chart, cr, palette, rectangle, bars);
  const DemurPlot plot = layout.plot;
  const double group = layout.group, slot = layout.slot, width = layout.width,
               base = demur_plot_y(&plot, 0);
  /* Numbers stand on the bars where they fit beside each other. */
  const gboolean numbers =
      slot > demur_chart_text_size(cr, palette, "99.9\u00a0%", size * 0.92, FALSE).width * 1.02;
  for (size_t l = 0; l < chart->n_labels; l++) {
    const size_t n = label_bars(chart, l, bars);
    const double middle = plot.area.x + group * ((double)l + 0.5);
    for (size_t i = 0; i < n; i++) {
      const double x = bar_x(&layout, l, i);
      g_autofree char *text = demur_text_percent(bars[i].value, 1);
      double top = base;
      if (isfinite(bars[i].value)) {
        const double y = demur_plot_y(&plot, bars[i].value);
        top = y;
        cairo_rectangle(cr, x - width / 2, y, width, base - y);
        demur_chart_hatch(cr, palette, bars[i].series, 0.85);
        if (isfinite(bars[i].low) && isfinite(bars[i].high)) {
          top = demur_plot_y(&plot, bars[i].high);
          const double bottom = demur_plot_y(&plot, bars[i].low);
          /* White under ink: the whisker shows on the dark part of a bar as well. */
          for (int k = 0; k < 2; k++) {
            demur_chart_colour(cr, k ? palette->ink : palette->paper, 1);
            cairo_set_line_width(cr, k ? 0.9 : 2.4);
            cairo_move_to(cr, x, top);
            cairo_line_to(cr, x, bottom);
            cairo_stroke(cr);
          }
        }
      }
      if (numbers)
        demur_chart_text(cr, palette, text, size * 0.92, FALSE, palette->ink, x, top - 1.5, 0.5, 1,
                         0);
    }
    draw_label(cr, palette, label_of(chart, l), middle, base + size * 0.4, group * 0.95);
    if (!has_shares(chart))
      continue;
    g_autofree char *share = demur_text_percent(chart->series[0].rejections[l].share_of_all, 1);
    g_autofree char *words = g_strdup_printf("(%s)", share);
    demur_chart_text(cr, palette, words, size * 0.9, FALSE, palette->muted, middle,
                     base + size * (0.4 + SHARE_LINE + (layout.two_lines ? SECOND_LINE : 0.0)), 0.5,
                     0, group * 0.95);
  }
  cairo_restore(cr);
}

static DemurChartTable *
chart_table(gconstpointer data) {
  const DemurRejectionChart *chart = data;
  static const char *const names[] = {DEMUR_CHART_WORD("method"),
                                      DEMUR_CHART_WORD("label"),
                                      DEMUR_CHART_WORD("scans"),
                                      DEMUR_CHART_WORD("rejected"),
                                      DEMUR_CHART_WORD("rate"),
                                      /* xgettext:no-c-format */ DEMUR_CHART_WORD("95 % low"),
                                      /* xgettext:no-c-format */ DEMUR_CHART_WORD("95 % high"),
                                      DEMUR_CHART_WORD("share of rejected"),
                                      DEMUR_CHART_WORD("share of all")};
  DemurChartCells cells = demur_chart_cells_new(names, G_N_ELEMENTS(names));
  for (size_t s = 0; s < chart->n_series; s++)
    for (size_t l = 0; l < chart->n_labels; l++) {
      const DemurRejection *r = &chart->series[s].rejections[l];
      demur_chart_cells_text(&cells, chart->series[s].label);
      demur_chart_cells_text(&cells, label_of(chart, l));
      demur_chart_cells_count(&cells, r->n_all);
      if (r->withheld)
        demur_chart_cells_text(&cells, demur_chart_word("withheld"));
      else
        demur_chart_cells_count(&cells, r->n_rejected);
      demur_chart_cells_percent(&cells, r->rate);
      demur_chart_cells_percent(&cells, r->rate_low);
      demur_chart_cells_percent(&cells, r->rate_high);
      demur_chart_cells_percent(&cells, r->share_of_rejected);
      demur_chart_cells_percent(&cells, r->share_of_all);
    }
  return demur_chart_cells_finish(&cells);
}

static char *
chart_describe(gconstpointer data) {
  const DemurRejectionChart *chart = data;
  const gboolean shares = chart->kind == DEMUR_REJECTION_SHARES;
  GString *text =
      g_string_new(shares ? demur_chart_word("Each label's share of the rejected scans.")
                          : demur_chart_word("Share of each label that is rejected."));
  for (size_t l = 0; l < chart->n_labels; l++) {
    g_string_append_printf(text, " %s:", label_of(chart, l));
    for (size_t s = 0; s < chart->n_series; s++) {
      const DemurRejection *r = &chart->series[s].rejections[l];
      g_autofree char *value = demur_text_percent(shares ? r->share_of_rejected : r->rate, 1);
      g_autofree char *low = demur_text_percent(r->rate_low, 1),
                      *high = demur_text_percent(r->rate_high, 1);
      g_string_append_printf(text, "%s %s %s", s ? "," : "", chart->series[s].label, value);
      if (!shares && isfinite(r->rate_low))
        g_string_append_printf(text, demur_chart_word(" (%s to %s)"), low, high);
    }
    if (shares && chart->n_series > 0) {
      g_autofree char *all = demur_text_percent(chart->series[0].rejections[l].share_of_all, 1);
      g_string_append_printf(text, demur_chart_word(", of all scans %s"), all);
    }
    g_string_append_c(text, '.');
  }
  return g_string_free(text, FALSE);
}

const DemurChartInterface demur_rejection_chart = {
    .draw = chart_draw,
    .table = chart_table,
    .describe = chart_describe,
    .hit = chart_hit,
    .aspect = 0.56,
};
