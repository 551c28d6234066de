/* What every chart shares: palettes, series styles, ticks at round numbers, the plot's frame,
 * labels that keep out of each other's way, and the table of a chart's numbers.
 *
 * Charts are functions of data, a rectangle and a palette; they draw on any Cairo context (screen,
 * SVG, PNG, PDF), hold no state and read no locale. Lengths are in user units: points on paper,
 * pixels on a screen. */
#pragma once

#include <cairo.h>
#include <glib.h>
#include <pango/pangocairo.h>

G_BEGIN_DECLS

typedef struct {
  double red, green, blue;
} DemurColour;

typedef struct {
  double x, y, width, height;
} DemurRectangle;

/* A series keeps its colour, dash, glyph and hatch in every chart, so that grey print tells it
 * apart too. */
typedef enum {
  DEMUR_SERIES_SELECTOR,
  DEMUR_SERIES_CONFIDENCE,
  DEMUR_SERIES_EVERYTHING,
  DEMUR_SERIES_OTHER_1,
  DEMUR_SERIES_OTHER_2,
  DEMUR_SERIES_OTHER_3,
  DEMUR_SERIES_BASELINE_1,
  DEMUR_SERIES_BASELINE_7 = DEMUR_SERIES_BASELINE_1 + 6,
  DEMUR_N_SERIES,
} DemurChartSeries;

typedef struct {
  DemurColour paper, ink, muted, grid, warning;
  DemurColour series[DEMUR_N_SERIES];
  double band_alpha;
  const char *font; /* families, best first, comma between */
  double font_size; /* of tick labels; titles are larger */
} DemurPalette;

const DemurPalette *demur_palette_paper(void);
const DemurPalette *demur_palette_light(void);
const DemurPalette *demur_palette_dark(void);

typedef enum {
  DEMUR_NUMBER_DECIMAL, /* ".04", 0 as "0" */
  DEMUR_NUMBER_PERCENT, /* "20 %" */
  DEMUR_NUMBER_COUNT,   /* "1,200" */
  DEMUR_NUMBER_POWER,   /* of ten: 3 as "1,000", -1 as ".1" */
} DemurNumberStyle;

/* Ticks low, low + step, .. high; all multiples of step. decimals: of a tick's shortest exact text.
 */
typedef struct {
  double low, high; /* of the axis, which may begin and end between ticks */
  double step;
  int decimals;
} DemurAxis;

/* The axis that covers [low, high] with about n_ticks round steps (1, 2 or 5 times a power of ten),
 * its ends on ticks. low >= high or non-finite values give [0, 1]. */
DemurAxis demur_axis_nice(double low, double high, int n_ticks);

/* A tick's text, owned. */
char *demur_axis_text(const DemurAxis *axis, double tick, DemurNumberStyle style);

/* A plot: its inner area and the scales of both axes. */
typedef struct {
  DemurRectangle area;
  DemurAxis x, y;
} DemurPlot;

typedef struct {
  const char *title;             /* NULL: none */
  const char *x_label, *y_label; /* NULL: none; y_label stands above the axis */
  DemurAxis x, y;
  DemurNumberStyle x_style, y_style;
  gboolean no_x_ticks; /* the chart writes its own, for categories */
} DemurChartFrame;

/* Draws title, grid, ticks and labels into rectangle and returns what is left for the data. */
DemurPlot demur_plot_begin(cairo_t *cr, const DemurPalette *palette, DemurRectangle rectangle,
                           const DemurChartFrame *frame);
double demur_plot_x(const DemurPlot *plot, double value);
double demur_plot_y(const DemurPlot *plot, double value);

/* A place to lay a plot out without drawing it, as hit tests do; destroyed by the caller. */
cairo_t *demur_chart_nowhere(void);

/* Whether the point lies in the plot's inner area, or on a mark at its border. */
gboolean demur_plot_contains(const DemurPlot *plot, double x, double y);

/* Restricts drawing to the inner area, with a margin so that a line on the border keeps its width.
 * Between save and restore. */
void demur_plot_clip(const DemurPlot *plot, cairo_t *cr);

void demur_chart_colour(cairo_t *cr, DemurColour colour, double alpha);

/* Dash pattern of a series for the line width in use; the selector's line is solid. */
void demur_chart_dash(cairo_t *cr, DemurChartSeries series, double line_width);

/* A filled glyph (disc, diamond, square, ..) of that radius. */
void demur_chart_glyph(cairo_t *cr, DemurChartSeries series, double x, double y, double radius);

/* A key of lines: for each series its line with its glyph, and its name, on as many rows as the
 * width asks for. Returns the height; cr NULL: that alone. */
double demur_chart_key(cairo_t *cr, const DemurPalette *palette, const char *const *labels,
                       const DemurChartSeries *series, size_t n, double x, double y, double width);

/* Fills the current path (which is consumed) with the series' colour and hatch. */
void demur_chart_hatch(cairo_t *cr, const DemurPalette *palette, DemurChartSeries series,
                       double alpha);

typedef struct {
  double width, height;
} DemurSize;

/* Text in the palette's font. horizontal and vertical: 0 the point is the text's left or top, 0.5
 * its middle, 1 its right or bottom. max_width > 0 shortens longer text in its middle (names often
 * differ at their ends). Returns its
 * size. */
DemurSize demur_chart_text(cairo_t *cr, const DemurPalette *palette, const char *text, double size,
                           gboolean bold, DemurColour colour, double x, double y, double horizontal,
                           double vertical, double max_width);
/* A name on at most n_lines lines no wider than width, its middle at (x, middle); what is longer is
 * shortened in its last line. */
void demur_chart_text_lines(cairo_t *cr, const DemurPalette *palette, const char *text, double size,
                            DemurColour colour, double x, double middle, double width, int n_lines);
DemurSize demur_chart_text_size(cairo_t *cr, const DemurPalette *palette, const char *text,
                                double size, gboolean bold);

/* A layout with language, font options and font set; owned by the caller. */
PangoLayout *demur_chart_layout(cairo_t *cr, const DemurPalette *palette, double size,
                                gboolean bold);

/* Sets the layout's text; what no installed font can show, and what steers the
 * direction of text, stands there as its code points, "[U+C11C
 * C6B8]", so that it can be told and looked up: a box could be any of them. Whether there was any.
 */
gboolean demur_chart_set_text(PangoLayout *layout, const char *text);

/* Sets language and font options so that the same text gives the same glyphs anywhere. */
void demur_chart_pango_context(PangoContext *context);

/* The table of a chart's numbers: cells as people read them, for the keyboard and the screen
 * reader; exact for machines (CSV): shares as fractions, every digit, a dot, "" where undefined. */
typedef struct {
  size_t n_columns, n_rows;
  char **header; /* [n_columns] */
  char **cells;  /* [n_rows][n_columns] */
  char **exact;  /* [n_rows][n_columns] */
} DemurChartTable;

void demur_chart_table_free(DemurChartTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurChartTable, demur_chart_table_free)

/* A table in the making: headers first, then cells row by row. */
typedef struct {
  GPtrArray *header, *cells, *exact;
} DemurChartCells;

DemurChartCells demur_chart_cells_new(const char *const *names, size_t n_names);
void demur_chart_cells_header(DemurChartCells *cells, char *name); /* taken over */
void demur_chart_cells_text(DemurChartCells *cells, const char *text);
void demur_chart_cells_count(DemurChartCells *cells, size_t n);
void demur_chart_cells_decimal(DemurChartCells *cells, double value, int decimals);
void demur_chart_cells_percent(DemurChartCells *cells, double share); /* one decimal */
/* The cell as it stands in another table. */
void demur_chart_cells_copy(DemurChartCells *cells, const DemurChartTable *table, size_t row,
                            size_t column);

/* Frees cells. */
DemurChartTable *demur_chart_cells_finish(DemurChartCells *cells);

/* RFC 4180, of the exact cells; owned. about (NULL: none): what the numbers are of, "Simulated
 * data" with it, in a last column of that name, so that it goes where the rows go. */
char *demur_chart_table_csv(const DemurChartTable *table, const char *about);

G_END_DECLS
