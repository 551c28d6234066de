#include "report/chart-kit.h"

#include "base/shown-text.h"
#include "base/csv-field.h"
#include "base/number.h"
#include "report/chart-words.h"
#include "report/format.h"

#include <math.h>
#include <string.h>

#define RGB(hex)                                                                                   \
  { ((hex) >> 16 & 0xff) / 255.0, ((hex) >> 8 & 0xff) / 255.0, ((hex)&0xff) / 255.0 }
#define FONT "Inter, DejaVu Sans"

const DemurPalette *
demur_palette_paper(void) {
  static const DemurPalette palette = {
      .paper = RGB(0xffffff),
      .ink = RGB(0x16181a),
      .muted = RGB(0x5c6166),
      .grid = RGB(0xdcdfe2),
      .warning = RGB(0xa33b12),
      .series = {RGB(0x0b5a8f), RGB(0x8a5a00), RGB(0x6a6e73), RGB(0x2b7348), RGB(0x74408a),
                 RGB(0xa83a2e), RGB(0x2f7f86), RGB(0x75801f), RGB(0xa34f75), RGB(0x77563a),
                 RGB(0x5563a3), RGB(0xb56a1f), RGB(0x8c9095)},
      .band_alpha = 0.16,
      .font = FONT,
      .font_size = 7.5};
  return &palette;
}

const DemurPalette *
demur_palette_light(void) {
  static const DemurPalette palette = {
      .paper = RGB(0xffffff),
      .ink = RGB(0x1c1e21),
      .muted = RGB(0x5c6166),
      .grid = RGB(0xdfe2e5),
      .warning = RGB(0xb0451a),
      .series = {RGB(0x0b5a8f), RGB(0x8a5a00), RGB(0x6a6e73), RGB(0x2b7348), RGB(0x74408a),
                 RGB(0xa83a2e), RGB(0x2f7f86), RGB(0x75801f), RGB(0xa34f75), RGB(0x77563a),
                 RGB(0x5563a3), RGB(0xb56a1f), RGB(0x8c9095)},
      .band_alpha = 0.18,
      .font = FONT,
      .font_size = 11};
  return &palette;
}

const DemurPalette *
demur_palette_dark(void) {
  static const DemurPalette palette = {
      .paper = RGB(0x242629),
      .ink = RGB(0xececec),
      .muted = RGB(0xa3a6aa),
      .grid = RGB(0x383b3f),
      .warning = RGB(0xe8743b),
      .series = {RGB(0x56b4e9), RGB(0xc9a26b), RGB(0xb0b0b0), RGB(0x6fcf97), RGB(0xc792d8),
                 RGB(0xe8743b), RGB(0x63b9c0), RGB(0xb6c04f), RGB(0xe08fb4), RGB(0xc09a7a),
                 RGB(0x9aa6e6), RGB(0xe3a04f), RGB(0x8c9095)},
      .band_alpha = 0.22,
      .font = FONT,
      .font_size = 11};
  return &palette;
}

DemurAxis
demur_axis_nice(double low, double high, int n_ticks) {
  if (!isfinite(low) || !isfinite(high) || low >= high) {
    low = 0;
    high = 1;
  }
  const double raw = (high - low) / MAX(n_ticks, 1);
  const int exponent = (int)floor(log10(raw));
  const double power = pow(10, exponent);
  const double part = raw / power;
  const double factor = part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10;
  const double step = factor * power;
  /* An end that is a tick but for rounding stays where it is. */
  return (DemurAxis){.low = floor(low / step + 1e-9) * step,
                     .high = ceil(high / step - 1e-9) * step,
                     .step = step,
                     .decimals = MAX(0, factor >= 10 ? -exponent - 1 : -exponent)};
}

char *
demur_axis_text(const DemurAxis *axis, double tick, DemurNumberStyle style) {
  if (style == DEMUR_NUMBER_POWER)
    return tick < -1e-9 ? demur_text_decimal(pow(10, tick), (int)ceil(-tick - 1e-9))
                        : demur_text_count((guint64)llround(pow(10, tick)));
  if (fabs(tick) < axis->step * 1e-6)
    return g_strdup("0");
  switch (style) {
  case DEMUR_NUMBER_PERCENT:
    return demur_text_percent(tick, MAX(0, axis->decimals - 2));
  case DEMUR_NUMBER_COUNT:
    return demur_text_count((guint64)llround(fmax(tick, 0)));
  default:
    /* 1.0 as "1": an end of the axis like 0. */
    return demur_text_decimal(tick, fabs(tick - round(tick)) < 1e-9 ? 0 : axis->decimals);
  }
}

void
demur_chart_colour(cairo_t *cr, DemurColour colour, double alpha) {
  if (alpha >= 1)
    cairo_set_source_rgb(cr, colour.red, colour.green, colour.blue);
  else
    cairo_set_source_rgba(cr, colour.red, colour.green, colour.blue, alpha);
}

void
demur_chart_pango_context(PangoContext *context) {
  cairo_font_options_t *options = cairo_font_options_create();
  cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
  pango_cairo_context_set_font_options(context, options);
  cairo_font_options_destroy(options);
  pango_cairo_context_set_resolution(context, 72);
  pango_context_set_language(context, pango_language_from_string("en"));
  pango_context_set_base_dir(context, PANGO_DIRECTION_LTR);
  pango_context_set_round_glyph_positions(context, FALSE);
}

PangoLayout *
demur_chart_layout(cairo_t *cr, const DemurPalette *palette, double size, gboolean bold) {
  PangoContext *context = pango_cairo_create_context(cr);
  demur_chart_pango_context(context);
  PangoLayout *layout = pango_layout_new(context);
  g_object_unref(context);
  PangoFontDescription *font = pango_font_description_from_string(palette->font);
  pango_font_description_set_absolute_size(font, size * PANGO_SCALE);
  if (bold)
    pango_font_description_set_weight(font, PANGO_WEIGHT_SEMIBOLD);
  pango_layout_set_font_description(layout, font);
  pango_font_description_free(font);
  return layout;
}

/* Marks the bytes where a character begins that no font has; a mark on such a character (a vowel
 * sign, a joiner) belongs to it. */
static void
find_missing(PangoLayout *layout, const char *text, guint8 *missing) {
  for (GSList *l = pango_layout_get_lines_readonly(layout); l; l = l->next)
    for (GSList *r = ((PangoLayoutLine *)l->data)->runs; r; r = r->next) {
      const PangoGlyphItem *run = r->data;
      for (int g = 0; g < run->glyphs->num_glyphs; g++)
        if (run->glyphs->glyphs[g].glyph & PANGO_GLYPH_UNKNOWN_FLAG)
          missing[run->item->offset + run->glyphs->log_clusters[g]] = 1;
    }
  gboolean before = FALSE;
  for (const char *c = text; *c; c = g_utf8_next_char(c)) {
    const gunichar code = g_utf8_get_char(c);
    const gboolean follows = g_unichar_ismark(code) || g_unichar_iszerowidth(code);
    before = missing[c - text] || (before && follows);
    missing[c - text] = before ? 1 : 0;
  }
}

gboolean
demur_chart_set_text(PangoLayout *layout, const char *text) {
  g_autofree char *safe = demur_shown_lines(text);
  const gboolean steered = strcmp(safe, text) != 0;
  pango_layout_set_text(layout, safe, -1);
  if (g_str_is_ascii(safe) || pango_layout_get_unknown_glyphs_count(layout) == 0)
    return steered;
  const char *valid = pango_layout_get_text(layout); /* in UTF-8, whatever the text was */
  g_autofree guint8 *missing = g_new0(guint8, strlen(valid) + 1);
  find_missing(layout, valid, missing);
  GString *shown = g_string_new(NULL);
  gboolean open = FALSE;
  for (const char *c = valid; *c; c = g_utf8_next_char(c)) {
    const gboolean here = missing[c - valid];
    if (open && !here)
      g_string_append_c(shown, ']');
    if (here)
      g_string_append_printf(shown, "%s%04X", open ? " " : "[U+", g_utf8_get_char(c));
    else
      g_string_append_unichar(shown, g_utf8_get_char(c));
    open = here;
  }
  if (open)
    g_string_append_c(shown, ']');
  pango_layout_set_text(layout, shown->str, -1);
  g_string_free(shown, TRUE);
  return TRUE;
}

static DemurSize
layout_size(PangoLayout *layout) {
  int width, height;
  pango_layout_get_size(layout, &width, &height);
  return (DemurSize){(double)width / PANGO_SCALE, (double)height / PANGO_SCALE};
}

DemurSize
demur_chart_text_size(cairo_t *cr, const DemurPalette *palette, const char *text, double size,
                      gboolean bold) {
  PangoLayout *layout = demur_chart_layout(cr, palette, size, bold);
  demur_chart_set_text(layout, text);
  const DemurSize result = layout_size(layout);
  g_object_unref(layout);
  return result;
}

/* What a label can do without where there is no room: "risk (15 bins of 300 scans)" its brackets,
 * "selector: 4,500 scans" what stands behind the colon; owned, NULL: nothing. */
static char *
shorter(const char *text) {
  const char *bracket = g_strrstr(text, " ("), *colon = strstr(text, ": ");
  const char *end = bracket != NULL && g_str_has_suffix(text, ")") ? bracket : colon;
  return end != NULL && end > text ? g_strndup(text, (gsize)(end - text)) : NULL;
}

DemurSize
demur_chart_text(cairo_t *cr, const DemurPalette *palette, const char *text, double size,
                 gboolean bold, DemurColour colour, double x, double y, double horizontal,
                 double vertical, double max_width) {
  PangoLayout *layout = demur_chart_layout(cr, palette, size, bold);
  demur_chart_set_text(layout, text);
  if (max_width > 0) {
    g_autofree char *brief = layout_size(layout).width > max_width ? shorter(text) : NULL;
    if (brief != NULL)
      demur_chart_set_text(layout, brief);
    DemurSize natural = layout_size(layout);
    if (natural.width > max_width) {
      pango_layout_set_width(layout, (int)(max_width * PANGO_SCALE));
      pango_layout_set_height(layout, -1);
      pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_MIDDLE);
    }
  }
  const DemurSize result = layout_size(layout);
  demur_chart_colour(cr, colour, 1);
  cairo_move_to(cr, x - horizontal * result.width, y - vertical * result.height);
  pango_cairo_show_layout(cr, layout);
  g_object_unref(layout);
  return result;
}

void
demur_chart_text_lines(cairo_t *cr, const DemurPalette *palette, const char *text, double size,
                       DemurColour colour, double x, double middle, double width, int n_lines) {
  if (n_lines <= 1) {
    demur_chart_text(cr, palette, text, size, FALSE, colour, x, middle, 0, 0.5, width);
    return;
  }
  /* Broken by Pango, drawn line by line: of a wrapped layout Cairo would write the swallowed blank
   * as a piece of marked content of its own. */
  PangoLayout *layout = demur_chart_layout(cr, palette, size, FALSE);
  demur_chart_set_text(layout, text);
  pango_layout_set_width(layout, (int)(width * PANGO_SCALE));
  pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR);
  const int n = MIN(n_lines, pango_layout_get_line_count(layout));
  const char *whole = pango_layout_get_text(layout);
  const double step = layout_size(layout).height / pango_layout_get_line_count(layout);
  for (int i = 0; i < n; i++) {
    const PangoLayoutLine *line = pango_layout_get_line_readonly(layout, i);
    const char *start = whole + line->start_index;
    g_autofree char *part =
        i + 1 < n ? g_strndup(start, (gsize)line->length) : g_strdup(start); /* the rest */
    demur_chart_text(cr, palette, g_strstrip(part), size, FALSE, colour, x,
                     middle + step * (i - (n - 1) / 2.0), 0, 0.5, width);
  }
  g_object_unref(layout);
}

double
demur_plot_x(const DemurPlot *plot, double value) {
  return plot->area.x + plot->area.width * (value - plot->x.low) / (plot->x.high - plot->x.low);
}

double
demur_plot_y(const DemurPlot *plot, double value) {
  return plot->area.y + plot->area.height * (plot->y.high - value) / (plot->y.high - plot->y.low);
}

cairo_t *
demur_chart_nowhere(void) {
  cairo_surface_t *surface = cairo_recording_surface_create(CAIRO_CONTENT_COLOR_ALPHA, NULL);
  cairo_t *cr = cairo_create(surface);
  cairo_surface_destroy(surface);
  return cr;
}

gboolean
demur_plot_contains(const DemurPlot *plot, double x, double y) {
  const DemurRectangle *a = &plot->area;
  const double edge = 3; /* half a mark on the border */
  return x >= a->x - edge && x <= a->x + a->width + edge && y >= a->y - edge &&
         y <= a->y + a->height + edge;
}

void
demur_plot_clip(const DemurPlot *plot, cairo_t *cr) {
  const double margin = 3;
  cairo_rectangle(cr, plot->area.x - margin, plot->area.y - margin, plot->area.width + 2 * margin,
                  plot->area.height + 2 * margin);
  cairo_clip(cr);
}

static int
tick_count(const DemurAxis *axis) {
  return (int)floor(axis->high / axis->step + 1e-6) - (int)ceil(axis->low / axis->step - 1e-6) + 1;
}

static double
tick_value(const DemurAxis *axis, int i) {
  return (ceil(axis->low / axis->step - 1e-6) + i) * axis->step;
}

/* Where only every so many ticks have a number: as many as there is room for. room: from a tick to the
 * next; needed: by a number and what keeps it from its neighbour. */
static int
every(double room, double needed) {
  return room > 0 && needed > room ? (int)ceil(needed / room) : 1;
}

/* Whether a tick's number is the tick's own: half a scan is none. */
static gboolean
is_told(double value, DemurNumberStyle style) {
  return style != DEMUR_NUMBER_COUNT || fabs(value - round(value)) < 1e-6;
}

static void
draw_x_ticks(cairo_t *cr, const DemurPalette *palette, const DemurPlot *plot,
             const DemurChartFrame *frame) {
  const double size = palette->font_size;
  const int n = tick_count(&frame->x);
  double widest = 0;
  for (int i = 0; i < n; i++) {
    g_autofree char *text = demur_axis_text(&frame->x, tick_value(&frame->x, i), frame->x_style);
    widest = fmax(widest, demur_chart_text_size(cr, palette, text, size, FALSE).width);
  }
  const double room = n > 1 ? demur_plot_x(plot, tick_value(&frame->x, 1)) -
                                  demur_plot_x(plot, tick_value(&frame->x, 0))
                            : 0;
  const int step = every(room, widest + 0.5 * size);
  for (int i = 0; i < n; i++) {
    const double value = tick_value(&frame->x, i), x = demur_plot_x(plot, value);
    demur_chart_colour(cr, palette->muted, 1);
    cairo_move_to(cr, x, plot->area.y + plot->area.height);
    cairo_line_to(cr, x, plot->area.y + plot->area.height + size * 0.3);
    cairo_stroke(cr);
    if (i % step != 0 || !is_told(value, frame->x_style))
      continue;
    g_autofree char *text = demur_axis_text(&frame->x, value, frame->x_style);
    demur_chart_text(cr, palette, text, size, FALSE, palette->muted, x,
                     plot->area.y + plot->area.height + size * 0.4, 0.5, 0, 0);
  }
}

DemurPlot
demur_plot_begin(cairo_t *cr, const DemurPalette *palette, DemurRectangle rectangle,
                 const DemurChartFrame *frame) {
  const double size = palette->font_size, line = size * 1.35;
  double top = rectangle.y, left = 0;
  if (frame->title) {
    demur_chart_text(cr, palette, frame->title, size * 1.1, TRUE, palette->ink, rectangle.x, top, 0,
                     0, rectangle.width);
    top += line * 1.25;
  }
  if (frame->y_label) {
    demur_chart_text(cr, palette, frame->y_label, size, FALSE, palette->muted, rectangle.x, top, 0,
                     0, rectangle.width);
    top += line * 1.15;
  }
  top += line * 0.5; /* half a tick label stands above the highest tick */
  const int n_y = tick_count(&frame->y);
  for (int i = 0; i < n_y; i++) {
    g_autofree char *text = demur_axis_text(&frame->y, tick_value(&frame->y, i), frame->y_style);
    left = fmax(left, demur_chart_text_size(cr, palette, text, size, FALSE).width);
  }
  left += size * 0.8;
  double bottom = rectangle.y + rectangle.height;
  if (frame->x_label)
    bottom -= line;
  bottom -= line * 1.2;
  const double right = size * 1.2; /* half of the last tick label */
  DemurPlot plot = {.area = {rectangle.x + left, top, fmax(rectangle.width - left - right, 1),
                             fmax(bottom - top, 1)},
                    .x = frame->x,
                    .y = frame->y};
  cairo_save(cr);
  cairo_set_dash(cr, NULL, 0, 0);
  cairo_set_line_width(cr, 0.6);
  const double room =
      n_y > 1 ? plot.area.height * frame->y.step / (frame->y.high - frame->y.low) : 0;
  const int step = every(room, line);
  for (int i = 0; i < n_y; i++) {
    const double value = tick_value(&frame->y, i), y = demur_plot_y(&plot, value);
    demur_chart_colour(cr, i == 0 ? palette->muted : palette->grid, 1);
    cairo_move_to(cr, plot.area.x, y);
    cairo_line_to(cr, plot.area.x + plot.area.width, y);
    cairo_stroke(cr);
    if (i % step != 0 || !is_told(value, frame->y_style))
      continue;
    g_autofree char *text = demur_axis_text(&frame->y, value, frame->y_style);
    demur_chart_text(cr, palette, text, size, FALSE, palette->muted, plot.area.x - size * 0.6, y, 1,
                     0.5, 0);
  }
  if (!frame->no_x_ticks)
    draw_x_ticks(cr, palette, &plot, frame);
  if (frame->x_label)
    demur_chart_text(cr, palette, frame->x_label, size, FALSE, palette->muted,
                     plot.area.x + plot.area.width / 2, rectangle.y + rectangle.height, 0.5, 1,
                     rectangle.width);
  cairo_restore(cr);
  return plot;
}

void
demur_chart_dash(cairo_t *cr, DemurChartSeries series, double line_width) {
  static const double patterns[DEMUR_N_SERIES][4] = {
      {0, 0, 0, 0}, {5, 2.5, 5, 2.5}, {1, 1.6, 1, 1.6}, {7, 2, 1, 2}, {9, 3, 9, 3},
      {3, 2, 3, 2}, {6, 1.5, 6, 1.5}, {4, 1.5, 1, 1.5}, {2, 2, 2, 2}, {8, 1.5, 2, 1.5},
      {1, 3, 1, 3}, {5, 1, 5, 1},     {1.5, 1, 1.5, 1}};
  double dash[4];
  if (series == DEMUR_SERIES_SELECTOR) {
    cairo_set_dash(cr, NULL, 0, 0);
    return;
  }
  for (int i = 0; i < 4; i++)
    dash[i] = patterns[series][i] * line_width;
  cairo_set_dash(cr, dash, 4, 0);
}

static void
trace_glyph(cairo_t *cr, DemurChartSeries series, double x, double y, double r) {
  switch (series) {
  case DEMUR_SERIES_CONFIDENCE: /* diamond */
    cairo_move_to(cr, x, y - 1.25 * r);
    cairo_line_to(cr, x + 1.25 * r, y);
    cairo_line_to(cr, x, y + 1.25 * r);
    cairo_line_to(cr, x - 1.25 * r, y);
    break;
  case DEMUR_SERIES_EVERYTHING: /* square */
    cairo_rectangle(cr, x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r);
    break;
  case DEMUR_SERIES_OTHER_1: /* triangle */
    cairo_move_to(cr, x, y - 1.2 * r);
    cairo_line_to(cr, x + 1.2 * r, y + r);
    cairo_line_to(cr, x - 1.2 * r, y + r);
    break;
  case DEMUR_SERIES_OTHER_2: /* triangle, downwards */
    cairo_move_to(cr, x, y + 1.2 * r);
    cairo_line_to(cr, x + 1.2 * r, y - r);
    cairo_line_to(cr, x - 1.2 * r, y - r);
    break;
  case DEMUR_SERIES_OTHER_3: /* bar */
    cairo_rectangle(cr, x - 1.3 * r, y - 0.4 * r, 2.6 * r, 0.8 * r);
    break;
  default: /* disc */
    cairo_arc(cr, x, y, r, 0, 2 * G_PI);
  }
  cairo_close_path(cr);
}

void
demur_chart_glyph(cairo_t *cr, DemurChartSeries series, double x, double y, double radius) {
  const double r = radius;
  cairo_new_path(cr);
  if (series >= DEMUR_SERIES_BASELINE_1) { /* the same forms, hollow and smaller */
    cairo_save(cr);
    cairo_set_dash(cr, NULL, 0, 0);
    cairo_set_line_width(cr, r * 0.4);
    trace_glyph(cr,
                (DemurChartSeries)((int)series - (int)DEMUR_SERIES_BASELINE_1) %
                    DEMUR_SERIES_BASELINE_1,
                x, y, r * 0.8);
    cairo_stroke(cr);
    cairo_restore(cr);
    return;
  }
  trace_glyph(cr, series, x, y, radius);
  cairo_fill(cr);
}

double
demur_chart_key(cairo_t *cr, const DemurPalette *palette, const char *const *labels,
                const DemurChartSeries *series, size_t n, double x, double y, double width) {
  cairo_t *place = cr ? cairo_reference(cr) : demur_chart_nowhere();
  const double size = palette->font_size, swatch = size * 2, left = x;
  double height = size * 1.5;
  for (size_t s = 0; s < n; s++) {
    const double text = fmin(demur_chart_text_size(place, palette, labels[s], size, FALSE).width,
                             width - swatch * 1.3);
    if (x > left && x + swatch * 1.3 + text > left + width) {
      x = left;
      y += size * 1.4;
      height += size * 1.4;
    }
    demur_chart_colour(place, palette->series[series[s]], 1);
    cairo_set_line_width(place, size * 0.19);
    demur_chart_dash(place, series[s], size * 0.19);
    cairo_move_to(place, x, y + size * 0.62);
    cairo_line_to(place, x + swatch, y + size * 0.62);
    cairo_stroke(place);
    cairo_set_dash(place, NULL, 0, 0);
    demur_chart_glyph(place, series[s], x + swatch / 2, y + size * 0.62, size * 0.28);
    demur_chart_text(place, palette, labels[s], size, FALSE, palette->ink, x + swatch * 1.25, y, 0,
                     0, width - swatch * 1.3);
    x += swatch * 1.3 + text + size * 1.4;
  }
  cairo_destroy(place);
  return height;
}

void
demur_chart_hatch(cairo_t *cr, const DemurPalette *palette, DemurChartSeries series, double alpha) {
  const DemurColour colour = palette->series[series];
  double x1, y1, x2, y2;
  cairo_save(cr);
  cairo_path_extents(cr, &x1, &y1, &x2, &y2);
  if (series == DEMUR_SERIES_SELECTOR) { /* full */
    demur_chart_colour(cr, colour, alpha);
    cairo_fill(cr);
    cairo_restore(cr);
    return;
  }
  demur_chart_colour(cr, colour, alpha * 0.3);
  cairo_fill_preserve(cr);
  demur_chart_colour(cr, colour, 1);
  cairo_set_dash(cr, NULL, 0, 0);
  cairo_set_line_width(cr, 0.6);
  cairo_stroke_preserve(cr);
  cairo_clip(cr);
  const double gap = 3.2, width = x2 - x1, height = y2 - y1;
  const int kind = (int)series - DEMUR_SERIES_CONFIDENCE;
  if (kind == 0 || kind == 2 || kind == 4) /* rising */
    for (double t = x1 - height; t < x2; t += gap) {
      cairo_move_to(cr, t, y2);
      cairo_line_to(cr, t + height, y1);
    }
  if (kind == 3 || kind == 4) /* falling */
    for (double t = x1 - height; t < x2; t += gap) {
      cairo_move_to(cr, t, y1);
      cairo_line_to(cr, t + height, y2);
    }
  if (kind == 1) /* dots */
    for (double y = y2 - gap / 2; y > y1; y -= gap)
      for (double x = x1 + gap / 2; x < x1 + width; x += gap) {
        cairo_move_to(cr, x - 0.3, y);
        cairo_line_to(cr, x + 0.3, y);
      }
  cairo_set_line_width(cr, 0.55);
  cairo_stroke(cr);
  cairo_restore(cr);
}

DemurChartCells
demur_chart_cells_new(const char *const *names, size_t n_names) {
  DemurChartCells cells = {g_ptr_array_new(), g_ptr_array_new(), g_ptr_array_new()};
  for (size_t i = 0; i < n_names; i++)
    demur_chart_cells_header(&cells, g_strdup(demur_chart_word(names[i])));
  return cells;
}

void
demur_chart_cells_header(DemurChartCells *cells, char *name) {
  g_ptr_array_add(cells->header, name);
}

void
demur_chart_cells_text(DemurChartCells *cells, const char *text) {
  g_ptr_array_add(cells->cells, g_strdup(text));
  g_ptr_array_add(cells->exact, g_strdup(text));
}

/* shown is taken over. */
static void
add_number(DemurChartCells *cells, double value, char *shown) {
  char exact[G_ASCII_DTOSTR_BUF_SIZE];
  g_ptr_array_add(cells->cells, shown);
  g_ptr_array_add(cells->exact, g_strdup(isfinite(value) ? demur_number_format(value, exact) : ""));
}

void
demur_chart_cells_count(DemurChartCells *cells, size_t n) {
  add_number(cells, (double)n, demur_text_count(n));
}

void
demur_chart_cells_decimal(DemurChartCells *cells, double value, int decimals) {
  add_number(cells, value, demur_text_decimal(value, decimals));
}

void
demur_chart_cells_percent(DemurChartCells *cells, double share) {
  add_number(cells, share, demur_text_percent(share, 1));
}

void
demur_chart_cells_copy(DemurChartCells *cells, const DemurChartTable *table, size_t row,
                       size_t column) {
  const size_t at = row * table->n_columns + column;
  g_ptr_array_add(cells->cells, g_strdup(table->cells[at]));
  g_ptr_array_add(cells->exact, g_strdup(table->exact[at]));
}

static char **
take_texts(GPtrArray *texts) {
  g_ptr_array_add(texts, NULL);
  return (char **)g_ptr_array_free(texts, FALSE);
}

DemurChartTable *
demur_chart_cells_finish(DemurChartCells *cells) {
  DemurChartTable *table = g_new0(DemurChartTable, 1);
  table->n_columns = cells->header->len;
  table->n_rows = cells->header->len > 0 ? cells->cells->len / cells->header->len : 0;
  table->header = take_texts(g_steal_pointer(&cells->header));
  table->cells = take_texts(g_steal_pointer(&cells->cells));
  table->exact = take_texts(g_steal_pointer(&cells->exact));
  return table;
}

void
demur_chart_table_free(DemurChartTable *table) {
  if (!table)
    return;
  g_strfreev(table->header);
  g_strfreev(table->cells);
  g_strfreev(table->exact);
  g_free(table);
}

char *
demur_chart_table_csv(const DemurChartTable *table, const char *about) {
  GString *csv = g_string_new(NULL);
  for (size_t r = 0; r <= table->n_rows; r++) {
    for (size_t c = 0; c < table->n_columns; c++) {
      if (c > 0)
        g_string_append_c(csv, ',');
      demur_csv_append(csv,
                       r == 0 ? table->header[c] : table->exact[(r - 1) * table->n_columns + c]);
    }
    if (about != NULL) {
      g_string_append_c(csv, ',');
      demur_csv_append(csv, r == 0 ? "about" : about);
    }
    g_string_append_c(csv, '\n');
  }
  return g_string_free(csv, FALSE);
}
