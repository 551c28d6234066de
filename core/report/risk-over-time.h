/* Risk at 1 to 6 years after a scan: of one scan, or of many beside the share that had the outcome
 * by then. */
#pragma once

#include "report/chart-kit.h"

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
} DemurRiskOverTime;

void demur_risk_over_time_draw(const DemurRiskOverTime *chart, cairo_t *cr,
                               const DemurPalette *palette, DemurRectangle rectangle);
DemurChartTable *demur_risk_over_time_table(const DemurRiskOverTime *chart);
char *demur_risk_over_time_alternative(const DemurRiskOverTime *chart);

G_END_DECLS
