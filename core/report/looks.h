/* A local acceptance test label by label: observed over expected at each look with its confidence
 * sequence, and the range that was agreed before. */
#pragma once

#include "report/chart.h"
#include "report/use.h"

G_BEGIN_DECLS

typedef struct {
  const char *title;            /* NULL: none */
  double low, high;             /* agreed */
  const char *answer;           /* of the last look, in words */
  size_t n, n_planned;          /* looks; labels that were planned */
  const DemurReportLook *looks; /* [n] */
} DemurLooks;

extern const DemurChartInterface demur_looks_chart; /* of a DemurLooks */

G_END_DECLS
