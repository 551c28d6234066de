/* Reliability diagram: observed share against the risk shown, one mark an equal-mass bin of
 * accepted scans with its 95 % Wilson interval, and the diagonal of perfect agreement. */
#pragma once

#include "evaluation/evaluation.h"
#include "report/chart.h"

G_BEGIN_DECLS

typedef struct {
  const char *title;
  const char *x_label, *y_label; /* NULL: "risk shown", "observed share" */
  const char *label;             /* whose accepted scans */
  DemurChartSeries series;
  size_t n_bins;
  const DemurReliabilityBin *bins;
  double axis_end; /* of both axes, so that several diagrams compare; 0: from the data */
  size_t n_smooth; /* 0: no curve */
  const DemurCurvePlace *smooth; /* a smooth curve with its band */
  const char *const *corner;     /* lines in the upper left corner, NULL-terminated; NULL: none */
  /* Accepted scans by risk, drawn below the axis: bin i covers [low + i width, ..). NULL: none. */
  const size_t *histogram;
  size_t n_histogram;
  double histogram_low, histogram_width;
} DemurReliability;

/* The axis end that holds every mark and most of every interval. */
double demur_reliability_end(size_t n_bins, const DemurReliabilityBin *bins);

extern const DemurChartInterface demur_reliability_chart; /* of a DemurReliability */

G_END_DECLS
