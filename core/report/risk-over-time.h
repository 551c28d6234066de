/* Risk at 1 to 6 years after a scan: of one scan, or of many beside the share that had the outcome
 * by then. */
#pragma once

#include "report/chart.h"

G_BEGIN_DECLS

typedef struct {
  const char *label;
  DemurChartSeries series;
  const double *values;     /* [n_years], NaN: a gap */
  const double *low, *high; /* [n_years] interval; NULL: none */
  const size_t *n;          /* [n_years] scans behind each value; NULL: one scan */
  gboolean numbers;         /* values are written at their marks */
} DemurRiskSeries;

typedef struct {
  const char *title; /* NULL: none */
  size_t n_years;
  size_t n_series;
  const DemurRiskSeries *series;
  double top; /* that the axis holds at least, of charts side by side; 0: what is drawn */
} DemurRiskOverTime;

extern const DemurChartInterface demur_risk_over_time_chart; /* of a DemurRiskOverTime */

G_END_DECLS
