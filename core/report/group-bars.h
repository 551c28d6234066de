/* An error in every group of scans (a perturbation, a site), a bar a method, and the mean over the
 * groups: the paper's figure of each test perturbation. Shorter is better. */
#pragma once

#include "report/chart.h"

G_BEGIN_DECLS

typedef struct {
  const char *label;
  const double *values; /* [n_series]; NaN: withheld */
  gboolean is_word;     /* the label is no name: in the reader's language */
} DemurBarGroup;

typedef struct {
  const char *title, *measure; /* measure: its name, at the axis and in the table */
  size_t n_groups;
  const DemurBarGroup *groups; /* from top to bottom; the last one is the mean */
  size_t n_series;
  const char *const *labels;      /* [n_series] */
  const DemurChartSeries *series; /* [n_series] */
} DemurGroupBars;

/* Of a DemurGroupBars. */
extern const DemurChartInterface demur_group_bars_chart;

G_END_DECLS
