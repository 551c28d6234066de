/* What is shown: reliability and confidence of the accepted scans. */
#include "report/section.h"

#include "report/charts.h"
#include "report/format.h"
#include "report/reliability.h"

#include <math.h>

void
demur_section_reliability(DemurPages *p) {
  const DemurReportFinding *f = &p->finding;
  DemurLayoutFigure figures[4];
  const DemurOperatingPoint *points[4] = {NULL};
  size_t n = 0, n_withheld = 0;
  /* Everything shown is coverage 1, whatever coverage it is listed under. */
  if (f->full && f->full->n_at > 0)
    points[n++] = &f->full->at[0];
  for (size_t i = 0; i < DEMUR_SECTION_N_COVERAGES; i++) {
    const DemurOperatingPoint *at =
        f->subject != f->full ? demur_finding_at(f->subject, demur_section_coverages[i], FALSE)
                              : NULL;
    if (at && (at->n_reliability > 0 || at->n_accepted == 0)) /* else withheld, as the note says */
      points[n++] = at;
    else if (at)
      n_withheld++;
  }
  if (n == 0)
    return;
  double end = 0;
  for (size_t i = 0; i < n; i++)
    end = fmax(end, points[i]->n_reliability > 0
                        ? demur_reliability_end(points[i]->n_reliability, points[i]->reliability)
                        : 0);
  for (size_t i = 0; i < n; i++) {
    const gboolean full = f->full && points[i] == &f->full->at[0];
    g_autofree char *percent = demur_text_coverage(full ? 1 : points[i]->coverage);
    g_autofree char *accepted = demur_text_counted(points[i]->n_accepted, "scan", "scans");
    const char *label = full ? "everything" : demur_section_short_title(p, f->subject);
    figures[i] = demur_section_figure(demur_chart_reliability(
        &p->finding, points[i], full ? DEMUR_SERIES_EVERYTHING : DEMUR_SERIES_SELECTOR, label,
        g_strdup_printf("%s, coverage %s: %s", label, percent, accepted), end));
  }
  demur_section_text(p, DEMUR_TEXT_HEADING, "Reliability of what is shown");
  demur_layout_keep_begin(p->layout);
  for (size_t i = 0; i < n; i += 2) {
    if (i > 0) { /* the last row stays with the note */
      demur_layout_keep_end(p->layout);
      demur_layout_keep_begin(p->layout);
    }
    demur_layout_figures(p->layout, 158, MIN(2, n - i), figures + i);
  }
  g_autofree char *yes = demur_finding_label(p->input, 1),
                  *observed = g_strdup_printf("Observed share with “%s”", yes);
  demur_section_text(
      p, DEMUR_TEXT_NOTE,
      "%s against %s; one mark a bin of accepted scans (equal mass, at least %zu scans), with "
      "its 95\u00a0%% Wilson interval. Line and band: loess with its 95\u00a0%% "
      "interval over patients. On the dashed line the two agree; below, how many scans "
      "show "
      "which risk. Model 1.%s",
      p->e->n_classes > 2 ? "Share of right predictions" : observed,
      p->e->n_classes > 2 ? "confidence" : "risk shown", p->e->min_bin_size,
      n_withheld > 0 ? " Coverages at which outcomes are withheld are left out." : "");
  demur_layout_keep_end(p->layout);
}

void
demur_section_histograms(DemurPages *p) {
  gboolean any = FALSE;
  for (size_t i = 0; i < DEMUR_SECTION_N_COVERAGES; i++) {
    DemurChart *chart = demur_chart_histogram(&p->finding, demur_section_coverages[i]);
    if (!chart)
      continue;
    if (!any)
      demur_section_text(p, DEMUR_TEXT_HEADING,
                         p->e->n_classes > 2 ? "How confident the accepted predictions are"
                                             : "Which risks are shown");
    any = TRUE;
    demur_section_chart(p, 138, chart);
  }
  if (any)
    demur_section_text(
        p, DEMUR_TEXT_NOTE,
        p->e->n_classes > 2
            ? "Bars: accepted scans by confidence (largest class probability). Outline: all scans "
              "of the split. A method that only keeps sure predictions fills the right and leaves "
              "the left empty."
            : "Bars: accepted scans by the risk that is shown. Outline: all scans of the split. "
              "Where bars stay below the outline, scans of such risks are refused.");
}
