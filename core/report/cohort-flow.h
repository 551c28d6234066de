/* Where the scans of a result come from: what was left out, the cohort, its splits, and what the
 * selector accepted and refused of the split that is evaluated. */
#pragma once

#include "report/chart-kit.h"

G_BEGIN_DECLS

typedef struct {
  const char *label;
  size_t n_scans, n_patients, n_sites; /* patients, sites 0: not said */
} DemurFlowBox;

typedef struct {
  const char *reason;
  size_t n;
} DemurFlowReason;

typedef struct {
  const char *title;  /* NULL: none */
  DemurFlowBox whole; /* the cohort; n_sites 0 where not known */
  size_t n_left_out;  /* before the cohort was made; 0: none, or not recorded */
  const DemurFlowReason *left_out;
  size_t n_splits;
  const DemurFlowBox *splits;
  size_t evaluated;             /* index into splits; n_splits: none of them */
  const char *accepted_label;   /* "Accepted at coverage 90 %" */
  size_t n_accepted, n_refused; /* of the evaluated split; both 0: not drawn */
} DemurCohortFlow;

/* The height that all boxes need at that width. */
double demur_cohort_flow_height(const DemurCohortFlow *chart, const DemurPalette *palette,
                                double width);
void demur_cohort_flow_draw(const DemurCohortFlow *chart, cairo_t *cr, const DemurPalette *palette,
                            DemurRectangle rectangle);
DemurChartTable *demur_cohort_flow_table(const DemurCohortFlow *chart);
char *demur_cohort_flow_alternative(const DemurCohortFlow *chart);

G_END_DECLS
