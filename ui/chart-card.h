/* A chart in its frame: the report's own Cairo code, a table of its numbers beside it, and export
 * as SVG, PNG, PDF or CSV. */
#pragma once

#include <gtk/gtk.h>

#include "report/chart.h"

G_BEGIN_DECLS

#define DEMUR_TYPE_CHART_CARD (demur_chart_card_get_type())
G_DECLARE_FINAL_TYPE(DemurChartCard, demur_chart_card, DEMUR, CHART_CARD, GtkBox)

/* file_name: of exports, without an ending. */
DemurChartCard *demur_chart_card_new(const char *title, const char *file_name);
void demur_chart_card_set_title(DemurChartCard *card, const char *title);
/* A sentence below the chart. */
void demur_chart_card_set_note(DemurChartCard *card, const char *note);
/* A widget at the right of the title. */
void demur_chart_card_add_tool(DemurChartCard *card, GtkWidget *tool);

/* Shows data as it is now, which is borrowed and must outlive the card or be replaced. Cheap: the
 * description and an open table follow in an idle. data NULL: nothing. caption: below an exported
 * picture. */
void demur_chart_card_update(DemurChartCard *card, const DemurChartInterface *interface,
                             gconstpointer data, const char *caption);
/* What is still has changed too. */
void demur_chart_card_changed(DemurChartCard *card);

/* What is written to a file in place of what is shown. */
typedef struct {
  gconstpointer data; /* borrowed until the owner is asked again */
  char *heading, *caption;
} DemurChartWritten;

/* Fills written, whose words are the card's then; FALSE: nothing may be written, and why. */
typedef gboolean (*DemurChartWrittenFunc)(DemurChartCard *card, gpointer owner,
                                          DemurChartWritten *written, GError **error);
/* Asked at each export, and before its file is chosen; without it what is shown is written. */
void demur_chart_card_set_written(DemurChartCard *card, DemurChartWrittenFunc func, gpointer owner);

void demur_chart_card_show_table(DemurChartCard *card, gboolean table);

/* By the ending of path: .svg, .png, .pdf, .csv; DEMUR_ERROR_USAGE for another, DEMUR_ERROR_STATE where
 * no chart is shown or it may not be written. */
gboolean demur_chart_card_export(DemurChartCard *card, const char *path,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
