/* Reliability diagram: observed share against the risk shown, one mark an equal-mass bin of
 * accepted scans with its 95 % Wilson interval, and the diagonal of perfect agreement. */
#pragma once

#include "evaluation/evaluation.h"
#include "report/chart-kit.h"

G_BEGIN_DECLS

typedef struct {
  const char *title;
  const char *x_label, *y_label; /* NULL: "risk shown", "observed share" */
  const char *label;             /* whose accepted scans */
  DemurChartSeries series;
  size_t n_bins;
  const DemurReliabilityBin *bins;
  double axis_end; /* of both axes, so that several diagrams compare; 0: from the data */
} DemurReliability;

/* The axis end that holds every mark and most of every interval. */
double demur_reliability_end(size_t n_bins, const DemurReliabilityBin *bins);

void demur_reliability_draw(const DemurReliability *chart, cairo_t *cr, const DemurPalette *palette,
                            DemurRectangle rectangle);
/* The row of the table that is drawn at a point of the rectangle it was drawn into; -1: none. */
gssize demur_reliability_hit(const DemurReliability *chart, const DemurPalette *palette,
                             DemurRectangle rectangle, double x, double y);
DemurChartTable *demur_reliability_table(const DemurReliability *chart);
char *demur_reliability_alternative(const DemurReliability *chart);

G_END_DECLS
