#include "ui/text-cell.h"

#include "ui/shown.h"

#include <math.h>

#define BAR_HEIGHT 6.0f
#define BAR_GAP 10.0f /* between text and bar */
#define LEAST_BAR 4.0f

struct _DemurTextCell {
  GtkWidget parent_instance;
  char *text;
  glong n_chars;
  int most_lines;
  gboolean may_end;
  int room;      /* in digits; 0: none of its own */
  int bar_chars; /* 0: no bar, the text has the whole width */
  double bar;
  GdkRGBA bar_colour;
  PangoLayout *layout; /* NULL: to be made */
  int line_height, char_width, digit_width;
};

G_DEFINE_FINAL_TYPE(DemurTextCell, demur_text_cell, GTK_TYPE_WIDGET)

static void
demur_text_cell_finalize(GObject *object) {
  DemurTextCell *cell = DEMUR_TEXT_CELL(object);
  g_free(cell->text);
  g_clear_object(&cell->layout);
  G_OBJECT_CLASS(demur_text_cell_parent_class)->finalize(object);
}

static void
learn_font(DemurTextCell *cell) {
  if (cell->line_height > 0)
    return;
  PangoContext *context = gtk_widget_get_pango_context(GTK_WIDGET(cell));
  PangoFontMetrics *metrics = pango_context_get_metrics(context, NULL, NULL);
  cell->line_height = PANGO_PIXELS_CEIL(pango_font_metrics_get_height(metrics));
  cell->char_width = pango_font_metrics_get_approximate_char_width(metrics);
  cell->digit_width = pango_font_metrics_get_approximate_digit_width(metrics);
  pango_font_metrics_unref(metrics);
}

/* How many lines the text needs, by the font's usual width of a letter. */
static int
n_lines(DemurTextCell *cell, int width) {
  if (cell->most_lines == 1 || width <= 0)
    return 1;
  const glong lines = (cell->n_chars * cell->char_width) / ((glong)width * PANGO_SCALE) + 1;
  return (int)MIN(lines, cell->most_lines);
}

static GtkSizeRequestMode
demur_text_cell_get_request_mode(GtkWidget *widget) {
  return DEMUR_TEXT_CELL(widget)->most_lines > 1 ? GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH
                                                 : GTK_SIZE_REQUEST_CONSTANT_SIZE;
}

static void
demur_text_cell_measure(GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum,
                        int *natural, int *minimum_baseline, int *natural_baseline) {
  DemurTextCell *cell = DEMUR_TEXT_CELL(widget);
  learn_font(cell);
  *minimum = *natural = orientation == GTK_ORIENTATION_HORIZONTAL
                            ? PANGO_PIXELS_CEIL(cell->room * cell->digit_width)
                            : n_lines(cell, for_size) * cell->line_height;
}

static void
demur_text_cell_css_changed(GtkWidget *widget, GtkCssStyleChange *change) {
  DemurTextCell *cell = DEMUR_TEXT_CELL(widget);
  GTK_WIDGET_CLASS(demur_text_cell_parent_class)->css_changed(widget, change);
  const int height = cell->line_height, digit = cell->digit_width;
  cell->line_height = 0;
  g_clear_object(&cell->layout);
  learn_font(cell);
  if (height != 0 &&
      (height != cell->line_height || (cell->room > 0 && digit != cell->digit_width)))
    gtk_widget_queue_resize(widget);
}

/* A text without a bar beside it has the whole width. */
static gboolean
has_bar(const DemurTextCell *cell) {
  return cell->bar_chars > 0 && !isnan(cell->bar);
}

static float
text_width(const DemurTextCell *cell, float width) {
  return !has_bar(cell) ? width
                        : fminf(width, (float)(cell->bar_chars * cell->digit_width) / PANGO_SCALE);
}

static void
lay_out(DemurTextCell *cell, int width, int lines) {
  if (cell->layout == NULL) {
    cell->layout = demur_shown_layout(GTK_WIDGET(cell), cell->text);
    pango_layout_set_ellipsize(cell->layout, PANGO_ELLIPSIZE_END);
    pango_layout_set_wrap(cell->layout, PANGO_WRAP_WORD_CHAR);
  }
  pango_layout_set_alignment(cell->layout, has_bar(cell) || cell->room > 0 ? PANGO_ALIGN_RIGHT
                                                                           : PANGO_ALIGN_LEFT);
  pango_layout_set_width(cell->layout, width * PANGO_SCALE);
  pango_layout_set_height(cell->layout, -lines);
}

static void
demur_text_cell_snapshot(GtkWidget *widget, GtkSnapshot *snapshot) {
  DemurTextCell *cell = DEMUR_TEXT_CELL(widget);
  const float width = (float)gtk_widget_get_width(widget);
  const float height = (float)gtk_widget_get_height(widget);
  const float for_text = text_width(cell, width);
  if (cell->text != NULL && *cell->text != '\0' && for_text >= 1) {
    lay_out(cell, (int)for_text, n_lines(cell, (int)for_text));
    int text_height;
    pango_layout_get_pixel_size(cell->layout, NULL, &text_height);
    gtk_snapshot_render_layout(snapshot, gtk_widget_get_style_context(widget), 0,
                               floorf((height - (float)text_height) / 2), cell->layout);
  }
  const float room = width - for_text - BAR_GAP;
  if (!has_bar(cell) || room < LEAST_BAR)
    return;
  const graphene_rect_t rect =
      GRAPHENE_RECT_INIT(for_text + BAR_GAP, floorf((height - BAR_HEIGHT) / 2),
                         fmaxf(LEAST_BAR, room * (float)fmin(1, cell->bar)), BAR_HEIGHT);
  GskRoundedRect shape;
  gsk_rounded_rect_init_from_rect(&shape, &rect, BAR_HEIGHT / 2);
  gtk_snapshot_push_rounded_clip(snapshot, &shape);
  gtk_snapshot_append_color(snapshot, &cell->bar_colour, &rect);
  gtk_snapshot_pop(snapshot);
}

gboolean
demur_text_cell_is_cut(DemurTextCell *cell) {
  return cell->layout != NULL && pango_layout_is_ellipsized(cell->layout);
}

gboolean
demur_text_cell_may_end(DemurTextCell *cell) {
  return cell->may_end;
}

static gboolean
demur_text_cell_query_tooltip(GtkWidget *widget, int x, int y, gboolean by_keyboard,
                              GtkTooltip *tooltip) {
  DemurTextCell *cell = DEMUR_TEXT_CELL(widget);
  if (!demur_text_cell_is_cut(cell))
    return FALSE;
  demur_shown_tooltip_text(tooltip, cell->text);
  return TRUE;
}

static void
demur_text_cell_class_init(DemurTextCellClass *class) {
  G_OBJECT_CLASS(class)->finalize = demur_text_cell_finalize;
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);
  widget_class->get_request_mode = demur_text_cell_get_request_mode;
  widget_class->measure = demur_text_cell_measure;
  widget_class->css_changed = demur_text_cell_css_changed;
  widget_class->snapshot = demur_text_cell_snapshot;
  widget_class->query_tooltip = demur_text_cell_query_tooltip;
  gtk_widget_class_set_accessible_role(widget_class, GTK_ACCESSIBLE_ROLE_LABEL);
  gtk_widget_class_set_css_name(widget_class, "label");
}

static void
demur_text_cell_init(DemurTextCell *cell) {
  cell->bar = NAN;
  gtk_widget_set_overflow(GTK_WIDGET(cell), GTK_OVERFLOW_HIDDEN);
}

GtkWidget *
demur_text_cell_new(int most_lines, gboolean may_end) {
  DemurTextCell *cell = g_object_new(DEMUR_TYPE_TEXT_CELL, NULL);
  cell->most_lines = most_lines;
  cell->may_end = may_end;
  gtk_widget_set_has_tooltip(GTK_WIDGET(cell), TRUE);
  return GTK_WIDGET(cell);
}

void
demur_text_cell_set(DemurTextCell *cell, char *text) {
  if (g_strcmp0(text, cell->text) == 0) {
    g_free(text);
    return;
  }
  g_free(cell->text);
  cell->text = text;
  const glong before = cell->n_chars;
  cell->n_chars = g_utf8_strlen(text, -1);
  g_clear_object(&cell->layout);
  demur_shown_name_set(GTK_WIDGET(cell), text);
  const int width = gtk_widget_get_width(GTK_WIDGET(cell));
  if (cell->most_lines > 1 && before != cell->n_chars &&
      (width == 0 || (before * cell->char_width) / ((glong)width * PANGO_SCALE) !=
                         (cell->n_chars * cell->char_width) / ((glong)width * PANGO_SCALE)))
    gtk_widget_queue_resize(GTK_WIDGET(cell));
  else
    gtk_widget_queue_draw(GTK_WIDGET(cell));
}

const char *
demur_text_cell_text(DemurTextCell *cell) {
  return cell->text;
}

void
demur_text_cell_set_bar(DemurTextCell *cell, int text_chars, double fraction,
                        const GdkRGBA *colour) {
  cell->bar_chars = text_chars;
  cell->bar = fraction;
  cell->bar_colour = *colour;
  gtk_widget_queue_draw(GTK_WIDGET(cell));
}

void
demur_text_cell_set_room(DemurTextCell *cell, int n_digits) {
  cell->room = n_digits;
  gtk_widget_queue_resize(GTK_WIDGET(cell));
}
