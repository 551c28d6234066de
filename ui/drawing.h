/* A widget that is drawn by a Cairo function, with what it shows in words for those who can't see
 * it: role img, a name and a description with the numbers. */
#pragma once

#include <gtk/gtk.h>

#include "report/chart-kit.h"

G_BEGIN_DECLS

#define DEMUR_TYPE_DRAWING (demur_drawing_get_type())
G_DECLARE_FINAL_TYPE(DemurDrawing, demur_drawing, DEMUR, DRAWING, GtkWidget)

typedef void (*DemurDrawingFunc)(cairo_t *cr, const DemurPalette *palette, DemurRectangle rectangle,
                                 gpointer data);
/* What is under the pointer, as text (owned), NULL: nothing. */
typedef char *(*DemurDrawingHover)(DemurRectangle rectangle, double x, double y, gpointer data);

DemurDrawing *demur_drawing_new(const char *name, int width, int height);
/* The same of one that a template made. */
void demur_drawing_name(DemurDrawing *drawing, const char *name, int width, int height);
/* data is taken over; the last one is freed. */
void demur_drawing_set(DemurDrawing *drawing, DemurDrawingFunc draw, DemurDrawingHover hover,
                       gpointer data, GDestroyNotify free_data);
void demur_drawing_describe(DemurDrawing *drawing, const char *description);

/* A picture of a page: it keeps its size, whatever the reader's text has. */
void demur_drawing_set_page(DemurDrawing *drawing);

G_END_DECLS
