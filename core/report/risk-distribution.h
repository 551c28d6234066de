/* The risks (confidences) that are shown at several coverages, below each other on one scale: the
 * paper's figure of the empirical distribution of f(X) where g(X) = 1. Each row is a
 * confidence-histogram: one panel a method, before the outline of all scans. */
#pragma once

#include "report/confidence-histogram.h"

G_BEGIN_DECLS

typedef struct {
  size_t n;
  const DemurConfidenceHistogram *rows; /* [n]; titles say the coverage */
  const double *coverages;              /* [n] */
} DemurRiskDistribution;

/* Of a DemurRiskDistribution. */
extern const DemurChartInterface demur_risk_distribution_chart;

G_END_DECLS
