/* The evidence that something changed, patient by patient: e-values on a logarithmic axis with the
 * line that is an alarm. One signal large, or several as small panels. */
#pragma once

#include "report/chart.h"

G_BEGIN_DECLS

typedef struct {
  const char *title;
  size_t n;
  const size_t *at;         /* [n] patients, ascending; NULL: 1, 2, .. */
  const double *evidence;   /* [n] */
  double limit;             /* the e-value that is an alarm */
  const char *first, *last; /* when the first and last came, for people; NULL: not told */
  const char *change;       /* what changed, in words; NULL: nothing to tell */
  size_t change_at;         /* patients before it */
  size_t alarm_at;          /* patients until the alarm; 0: none */
} DemurEvidencePanel;

typedef struct {
  const char *title; /* NULL: none */
  size_t n_panels;
  const DemurEvidencePanel *panels;
} DemurEvidence;

extern const DemurChartInterface demur_evidence_chart; /* of a DemurEvidence */

/* The line, the alarm and the line of no evidence alone, as in a list. */
void demur_evidence_line(cairo_t *cr, const DemurPalette *palette, DemurRectangle rectangle,
                         const DemurEvidencePanel *panel);

G_END_DECLS
