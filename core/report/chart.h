/* What every chart can do, on screen and on paper: one table of functions a kind of chart, its data
 * a plain struct that the caller fills and owns.
 *
 *   demur_reliability_chart.draw(&data, cr, palette, rectangle)
 *   demur_reliability_chart.table(&data)        its numbers, for the keyboard, for files
 *   demur_reliability_chart.describe(&data)     what the picture says, in words and numbers
 *   demur_reliability_chart.hit(&data, ..)      which row of the table is drawn at a point
 *
 * A new kind of chart is one file with one such table; report/charts.h makes it from an evaluation,
 * report/chart-export.h writes it to a file, a DemurChartCard shows it in a window. */
#pragma once

#include "report/chart-kit.h"

G_BEGIN_DECLS

typedef struct {
  void (*draw)(gconstpointer data, cairo_t *cr, const DemurPalette *palette,
               DemurRectangle rectangle);
  DemurChartTable *(*table)(gconstpointer data); /* owned by the caller */
  char *(*describe)(gconstpointer data);         /* owned by the caller */
  /* The table's row that is drawn at a point of the rectangle it was drawn into; -1: none. NULL:
   * the chart is not asked for its places. */
  gssize (*hit)(gconstpointer data, const DemurPalette *palette, DemurRectangle rectangle, double x,
                double y);
  /* The height it is meant to have at that width; NULL: aspect x width. */
  double (*height)(gconstpointer data, const DemurPalette *palette, double width);
  double aspect;
  /* On a screen: what changes only with new data, kept as a picture, and what is drawn over it each
   * time. NULL: draw does it all. */
  void (*draw_still)(gconstpointer data, cairo_t *cr, const DemurPalette *palette,
                     DemurRectangle rectangle);
  void (*draw_moving)(gconstpointer data, cairo_t *cr, const DemurPalette *palette,
                      DemurRectangle rectangle);
} DemurChartInterface;

static inline double
demur_chart_interface_height(const DemurChartInterface *interface, gconstpointer data,
                             const DemurPalette *palette, double width) {
  return interface->height ? interface->height(data, palette, width) : interface->aspect * width;
}

G_END_DECLS
