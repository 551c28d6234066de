/* A measure against coverage: for each series the point value as a line, mean ± sd as a band,
 * labels at the lines, gaps where undefined, a mark at the operating coverage. */
#pragma once

#include "report/chart-kit.h"

G_BEGIN_DECLS

typedef struct {
  const char *label;
  DemurChartSeries series;
  const double *point;     /* [n] */
  const double *mean, *sd; /* [n], NULL: no band */
} DemurCoverageSeries;

typedef struct {
  const char *title, *measure; /* measure: its name, for the table and the alternative text */
  size_t n;
  const double *coverages; /* [n], ascending */
  size_t n_series;
  const DemurCoverageSeries *series;
  double marker;      /* operating coverage, NaN: none */
  gboolean from_zero; /* errors: the axis begins at 0; accuracy does not */
  gboolean in_unit;   /* the measure lies in [0, 1]: neither axis nor band leaves it */
  int decimals;       /* of the table's numbers */
} DemurCoverageCurve;

void demur_coverage_curve_draw(const DemurCoverageCurve *chart, cairo_t *cr,
                               const DemurPalette *palette, DemurRectangle rectangle);

/* One row a coverage: point, mean and sd of each series. */
/* The marker alone, where _draw puts it: over a picture of the chart that was drawn without one. */
void demur_coverage_curve_draw_marker(const DemurCoverageCurve *chart, cairo_t *cr,
                                      const DemurPalette *palette, DemurRectangle rectangle);
/* The row of the table that is drawn at a point of the rectangle it was drawn into; -1: none. */
gssize demur_coverage_curve_hit(const DemurCoverageCurve *chart, const DemurPalette *palette,
                                DemurRectangle rectangle, double x, double y);
DemurChartTable *demur_coverage_curve_table(const DemurCoverageCurve *chart);

/* What the picture says, in words and numbers (owned). */
char *demur_coverage_curve_alternative(const DemurCoverageCurve *chart);

G_END_DECLS
