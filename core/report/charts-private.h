/* A chart that was made from a report's finding: what charts.c and finding-charts.c share. */
#pragma once

#include "report/charts.h"
#include "report/cohort-flow.h"
#include "report/coverage-curve.h"
#include "report/evidence.h"
#include "report/forest.h"
#include "report/group-bars.h"
#include "report/looks.h"
#include "report/reliability.h"
#include "report/risk-distribution.h"
#include "report/risk-over-time.h"

struct DemurChart {
  const DemurChartInterface *interface;
  char *title;
  GPtrArray *owned; /* what the data below point to */
  union {
    DemurCoverageCurve curve;
    DemurReliability reliability;
    DemurConfidenceHistogram histogram;
    DemurRejectionChart rejection;
    DemurRiskDistribution distribution;
    DemurGroupBars bars;
    DemurForestPlot forest;
    DemurRiskOverTime risk;
    DemurCohortFlow flow;
    DemurEvidence evidence;
    DemurLooks looks;
  } data;
};

/* An empty chart; title is taken over. */
DemurChart *demur_chart_begin(const DemurChartInterface *interface, char *title);

/* Memory that is freed with the chart; returns it. */
gpointer demur_chart_own(DemurChart *chart, gpointer memory);
