/* One chart in one file: SVG, PNG (300 dpi), PDF (tagged), or CSV for the table of its numbers. The
 * command line and the window write through it. */
#pragma once

#include "report/chart.h"

G_BEGIN_DECLS

typedef struct {
  const DemurChartInterface *interface;
  gconstpointer data;
  const char *name;    /* the document's title */
  const char *heading; /* above the picture; NULL: the chart draws a title of its own, or none */
  const char *caption; /* below the picture, and the last column of a table; NULL: none */
} DemurChartPicture;

/* Writes the file whole or not at all, by the ending of path: .svg, .png, .pdf or .csv. Words are
 * those in use (report/chart-words.h) in a picture, English in a table, which programs read.
 * DEMUR_ERROR_USAGE for another ending, else as base/file-output.h says. Same input, same bytes. */
gboolean demur_chart_export(const DemurChartPicture *picture, const char *path,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether path has such an ending: what can be said before anything is computed. DEMUR_ERROR_USAGE
 * otherwise. */
gboolean demur_chart_export_check(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
