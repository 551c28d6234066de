/* Where the scans of a result come from: what was left out, the cohort, its splits, and what the
 * selector accepted and refused of the split that is evaluated. */
#pragma once

#include "report/chart.h"

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
  size_t n_noticed; /* while its table was read; 0: nothing, or not recorded */
  const DemurFlowReason *noticed;
  size_t n_splits;
  const DemurFlowBox *splits;
  size_t evaluated;             /* index into splits; n_splits: none of them */
  const char *accepted_label;   /* "Accepted at coverage 90 %" */
  size_t n_accepted, n_refused; /* of the evaluated split; both 0: not drawn */
} DemurCohortFlow;

extern const DemurChartInterface demur_cohort_flow_chart; /* of a DemurCohortFlow */

G_END_DECLS
