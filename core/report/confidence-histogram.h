/* How confident the predictions are that a method lets through: one panel a method, the accepted
 * scans as filled bars before the outline of all scans. */
#pragma once

#include "report/chart.h"

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

/* Of a DemurConfidenceHistogram. */
extern const DemurChartInterface demur_confidence_histogram_chart;

G_END_DECLS
