/* Forest plot: a rate, or a ratio on a log axis, with its interval for each site, scanner or other
 * subgroup, beside the overall one. */
#pragma once

#include "report/chart.h"

G_BEGIN_DECLS

typedef struct {
  const char *label;
  gboolean is_word;        /* and no name: in the reader's language */
  size_t n;                /* scans of the group */
  gboolean withheld;       /* fewer than 10 scans: "< 10" stands for n */
  double value, low, high; /* the rate and its interval; value NaN: withheld (too few scans) */
} DemurForestRow;

typedef struct {
  const char *title;          /* NULL: none */
  const char *value_label;    /* heads the rates: "Refused" */
  const char *interval_label; /* heads the intervals: "95 %" */
  size_t n_rows;
  const DemurForestRow *rows; /* from top to bottom */
  size_t first, n_shown;      /* those that are drawn, on the axis of all; n_shown 0: to the end */
  double reference;           /* the overall rate, an upright line; NaN: none */
  gboolean ratio;             /* values are ratios: 1 is the middle */
  const char *n_label;        /* heads the counts; NULL: "Scans" */
} DemurForestPlot;

/* Of a DemurForestPlot. A group whose interval leaves out the overall rate has a diamond in the
 * warning colour, others a disc; a label too long for its place takes two lines. */
extern const DemurChartInterface demur_forest_chart;

G_END_DECLS
