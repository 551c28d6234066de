/* A chart in its frame: the report's own Cairo code, a table of its numbers beside it, and export
 * as SVG, PNG, PDF or CSV. */
#pragma once

#include <gtk/gtk.h>

#include "report/chart-kit.h"

G_BEGIN_DECLS

#define DEMUR_TYPE_CHART_CARD (demur_chart_card_get_type())
G_DECLARE_FINAL_TYPE(DemurChartCard, demur_chart_card, DEMUR, CHART_CARD, GtkBox)

/* How to draw, tabulate and describe what data holds; data is borrowed and must outlive the card or
 * be replaced. */
typedef struct {
  void (*draw)(gconstpointer data, cairo_t *cr, const DemurPalette *palette,
               DemurRectangle rectangle);
  DemurChartTable *(*table)(gconstpointer data);
  /* The table's row that is drawn at a point; -1: none. */
  gssize (*hit)(gconstpointer data, const DemurPalette *palette, DemurRectangle rectangle, double x,
                double y);
  char *(*alternative)(gconstpointer data);
  /* On the screen: what changes only with demur_chart_card_changed, kept as a picture, and what is
   * drawn over it each time. NULL: draw does it all. */
  void (*draw_still)(gconstpointer data, cairo_t *cr, const DemurPalette *palette,
                     DemurRectangle rectangle);
  void (*draw_moving)(gconstpointer data, cairo_t *cr, const DemurPalette *palette,
                      DemurRectangle rectangle);
} DemurChartFunctions;

/* file_name: of exports, without an ending. */
DemurChartCard *demur_chart_card_new(const char *title, const char *file_name);
void demur_chart_card_set_title(DemurChartCard *card, const char *title);
/* A sentence below the chart. */
void demur_chart_card_set_note(DemurChartCard *card, const char *note);
/* A widget at the right of the title. */
void demur_chart_card_add_tool(DemurChartCard *card, GtkWidget *tool);

/* Shows data as it is now. Cheap: the description and an open table follow in an idle. data NULL:
 * nothing. caption: below an exported picture. */
void demur_chart_card_update(DemurChartCard *card, const DemurChartFunctions *functions,
                             gconstpointer data, const char *caption);
/* What is still has changed too. */
void demur_chart_card_changed(DemurChartCard *card);
void demur_chart_card_show_table(DemurChartCard *card, gboolean table);

/* By the ending of path: .svg, .png, .pdf, .csv. */
gboolean demur_chart_card_export(DemurChartCard *card, const char *path,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
