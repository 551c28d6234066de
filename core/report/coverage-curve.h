/* A measure against coverage (or another share, as a decision curve has it): for each series the
 * point value as a line, ± sd over resamples as a band around it, labels at the lines, gaps where
 * undefined, a mark at the operating coverage. */
#pragma once

#include "report/chart.h"

G_BEGIN_DECLS

typedef struct {
  const char *label;
  DemurChartSeries series;
  const double *point;     /* [n] */
  const double *mean, *sd; /* [n] over resamples; NULL: not known, no band */
  gboolean no_band;        /* they stand in the table alone */
} DemurCoverageSeries;

typedef struct {
  const char *title, *measure; /* measure: its name, for the table and the alternative text */
  size_t n;
  const double *coverages; /* [n], ascending */
  size_t n_series;
  const DemurCoverageSeries *series;
  double marker;       /* operating coverage, NaN: none */
  gboolean from_zero;  /* errors: the axis begins at 0; accuracy does not */
  gboolean in_unit;    /* the measure lies in [0, 1]: neither axis nor band leaves it */
  int decimals;        /* of the table's numbers */
  const char *x_label; /* NULL: "coverage" */
  double x_end;        /* of the axis; 0: 1 */
  gboolean keyed;      /* a key names the lines, however few they are */
  gboolean across;     /* lines go on across gaps, each value that there is has a mark */
} DemurCoverageCurve;

/* From this many series on a key above the plot names the lines, else each does so itself. */
#define DEMUR_COVERAGE_CURVE_KEY 6

extern const DemurChartInterface demur_coverage_curve_chart; /* of a DemurCoverageCurve */

G_END_DECLS
