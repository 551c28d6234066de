#include "ui/drawing.h"

#include <math.h>

#include "ui/shown.h"
#include "ui/theme.h"

struct _DemurDrawing {
  GtkWidget parent_instance;
  DemurDrawingFunc draw;
  DemurDrawingHover hover;
  gpointer data;
  GDestroyNotify free_data;
  int width, height;
  gboolean is_page;
};

G_DEFINE_FINAL_TYPE(DemurDrawing, demur_drawing, GTK_TYPE_WIDGET)

static void
clear(DemurDrawing *drawing) {
  if (drawing->free_data != NULL)
    drawing->free_data(drawing->data);
  drawing->data = NULL;
  drawing->free_data = NULL;
  drawing->draw = NULL;
}

static void
demur_drawing_finalize(GObject *object) {
  clear(DEMUR_DRAWING(object));
  G_OBJECT_CLASS(demur_drawing_parent_class)->finalize(object);
}

/* How much larger than designed: with the reader's text, so that what is written in it can be read;
 * never smaller. */
static double
scale_of(DemurDrawing *drawing) {
  return drawing->is_page ? 1 : fmax(1, demur_shown_text_scale(GTK_WIDGET(drawing)));
}

static DemurRectangle
area(GtkWidget *widget) {
  const double scale = scale_of(DEMUR_DRAWING(widget));
  return (DemurRectangle){0, 0, gtk_widget_get_width(widget) / scale,
                          gtk_widget_get_height(widget) / scale};
}

static void
demur_drawing_snapshot(GtkWidget *widget, GtkSnapshot *snapshot) {
  DemurDrawing *drawing = DEMUR_DRAWING(widget);
  const DemurRectangle rectangle = area(widget);
  if (drawing->draw == NULL || rectangle.width < 8 || rectangle.height < 8)
    return;
  const graphene_rect_t bounds = GRAPHENE_RECT_INIT(0, 0, (float)gtk_widget_get_width(widget),
                                                    (float)gtk_widget_get_height(widget));
  cairo_t *cr = gtk_snapshot_append_cairo(snapshot, &bounds);
  cairo_scale(cr, scale_of(drawing), scale_of(drawing));
  drawing->draw(cr, demur_theme_palette(), rectangle, drawing->data);
  cairo_destroy(cr);
}

static void
demur_drawing_measure(GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum,
                      int *natural, int *minimum_baseline, int *natural_baseline) {
  DemurDrawing *drawing = DEMUR_DRAWING(widget);
  *minimum = *natural = orientation == GTK_ORIENTATION_HORIZONTAL
                            ? drawing->width
                            : (int)ceil(drawing->height * scale_of(drawing));
  /* What takes the room that there is can do with less. */
  if (orientation == GTK_ORIENTATION_VERTICAL && gtk_widget_get_vexpand(widget))
    *minimum = drawing->height;
}

static gboolean
demur_drawing_query_tooltip(GtkWidget *widget, int x, int y, gboolean keyboard,
                            GtkTooltip *tooltip) {
  DemurDrawing *drawing = DEMUR_DRAWING(widget);
  if (drawing->hover == NULL || keyboard)
    return FALSE;
  const double scale = scale_of(drawing);
  g_autofree char *text = drawing->hover(area(widget), x / scale, y / scale, drawing->data);
  if (text == NULL)
    return FALSE;
  demur_shown_tooltip_text(tooltip, text);
  const GdkRectangle here = {x - 4, y - 4, 8, 8};
  gtk_tooltip_set_tip_area(tooltip, &here);
  return TRUE;
}

static void
demur_drawing_class_init(DemurDrawingClass *class) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);
  G_OBJECT_CLASS(class)->finalize = demur_drawing_finalize;
  widget_class->snapshot = demur_drawing_snapshot;
  widget_class->measure = demur_drawing_measure;
  widget_class->query_tooltip = demur_drawing_query_tooltip;
  gtk_widget_class_set_accessible_role(widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
demur_drawing_init(DemurDrawing *drawing) {
  demur_theme_watch(GTK_WIDGET(drawing));
}

DemurDrawing *
demur_drawing_new(const char *name, int width, int height) {
  DemurDrawing *drawing = g_object_new(DEMUR_TYPE_DRAWING, NULL);
  demur_drawing_name(drawing, name, width, height);
  return drawing;
}

void
demur_drawing_name(DemurDrawing *drawing, const char *name, int width, int height) {
  drawing->width = width;
  drawing->height = height;
  demur_shown_name_set(GTK_WIDGET(drawing), name);
}

void
demur_drawing_set(DemurDrawing *drawing, DemurDrawingFunc draw, DemurDrawingHover hover,
                  gpointer data, GDestroyNotify free_data) {
  clear(drawing);
  drawing->draw = draw;
  drawing->hover = hover;
  drawing->data = data;
  drawing->free_data = free_data;
  gtk_widget_set_has_tooltip(GTK_WIDGET(drawing), hover != NULL);
  gtk_widget_queue_draw(GTK_WIDGET(drawing));
}

void
demur_drawing_describe(DemurDrawing *drawing, const char *description) {
  demur_shown_description_set(GTK_WIDGET(drawing), description);
}

void
demur_drawing_set_page(DemurDrawing *drawing) {
  drawing->is_page = TRUE;
  gtk_widget_queue_resize(GTK_WIDGET(drawing));
}
