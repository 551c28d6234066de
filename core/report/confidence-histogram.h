/* How confident the predictions are that a method lets through: one panel a method, the accepted
 * scans as filled bars before the outline of all scans. */
#pragma once

#include "report/chart-kit.h"

G_BEGIN_DECLS

typedef struct {
  const char *label;
  DemurChartSeries series;
  const size_t *accepted; /* [n_bins] */
  size_t n_accepted;
} DemurHistogramPanel;

typedef struct {
  const char *title;   /* NULL: none */
  const char *x_label; /* NULL: "confidence" */
  size_t n_bins;
  double low, width; /* bin i covers [low + i width, low + (i + 1) width) */
  const size_t *all; /* [n_bins]: every scan */
  size_t n_panels;
  const DemurHistogramPanel *panels; /* side by side, on one scale */
} DemurConfidenceHistogram;

void demur_confidence_histogram_draw(const DemurConfidenceHistogram *chart, cairo_t *cr,
                                     const DemurPalette *palette, DemurRectangle rectangle);
/* The row of the table that is drawn at a point of the rectangle it was drawn into; -1: none. */
gssize demur_confidence_histogram_hit(const DemurConfidenceHistogram *chart,
                                      const DemurPalette *palette, DemurRectangle rectangle,
                                      double x, double y);
DemurChartTable *demur_confidence_histogram_table(const DemurConfidenceHistogram *chart);
char *demur_confidence_histogram_alternative(const DemurConfidenceHistogram *chart);

G_END_DECLS
