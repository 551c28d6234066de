/* The order of the report: summary, cohort, results, threshold, use, method and provenance, limits, the
 * model card and the reporting guidelines; and what stands on every page. Each section is a file
 * that adds its blocks; what it says comes from finding.c and the charts. */
#include "report/pages.h"

#include "report/format.h"
#include "report/section.h"

#define HEADER_Y 34.0
#define BAND_HEIGHT 17.0

static size_t
n_bands(const DemurEvaluation *e) {
  return (e->simulated ? 1u : 0u) + (e->in_sample ? 1u : 0u);
}

/* A marked strip across the page: hatched ends, so that grey print keeps it. */
void
demur_pages_band(cairo_t *cr, const DemurPalette *palette, const char *text, double x, double y,
                 double width) {
  const double height = BAND_HEIGHT - 3;
  cairo_rectangle(cr, x, y, width, height);
  demur_chart_colour(cr, palette->warning, 0.1);
  cairo_fill_preserve(cr);
  demur_chart_colour(cr, palette->warning, 1);
  cairo_set_line_width(cr, 0.8);
  cairo_stroke(cr);
  for (int end = 0; end < 2; end++) {
    const double left = end ? x + width - 26 : x;
    cairo_save(cr);
    cairo_rectangle(cr, left, y, 26, height);
    cairo_clip(cr);
    cairo_set_line_width(cr, 1.6);
    for (double t = left - height; t < left + 26; t += 5) {
      cairo_move_to(cr, t, y + height);
      cairo_line_to(cr, t + height, y);
    }
    cairo_stroke(cr);
    cairo_restore(cr);
  }
  demur_chart_text(cr, palette, text, 8, TRUE, palette->ink, x + width / 2, y + height / 2, 0.5,
                   0.5, width - 60);
}

static void
draw_frame(cairo_t *cr, size_t page, size_t n_pages, gpointer data) {
  const DemurPages *p = data;
  const DemurPalette *palette = demur_palette_paper();
  const double width = p->width - 2 * DEMUR_PAGES_MARGIN, bottom = p->height - 40;
  cairo_save(cr);
  g_autofree char *left =
      g_strdup_printf("Calibration report · cohort %s, split %s", p->e->cohort, p->e->split);
  g_autofree char *date =
      p->input->created ? demur_text_date(p->input->created) : g_strdup("undated");
  const DemurSize size = demur_chart_text(cr, palette, date, 8, FALSE, palette->muted,
                                          p->width - DEMUR_PAGES_MARGIN, HEADER_Y, 1, 0, width / 3);
  demur_chart_text(cr, palette, left, 8, FALSE, palette->muted, DEMUR_PAGES_MARGIN, HEADER_Y, 0, 0,
                   width - size.width - 20);
  double y = HEADER_Y + 16;
  if (p->e->simulated) {
    demur_pages_band(cr, palette, "Simulated data: no patient stands behind these numbers",
                     DEMUR_PAGES_MARGIN, y, width);
    y += BAND_HEIGHT;
  }
  if (p->e->in_sample)
    demur_pages_band(cr, palette, "In-sample: some of these scans trained or tuned the selector",
                     DEMUR_PAGES_MARGIN, y, width);
  demur_chart_colour(cr, palette->muted, 1);
  cairo_set_line_width(cr, 0.5);
  cairo_move_to(cr, DEMUR_PAGES_MARGIN, bottom);
  cairo_line_to(cr, DEMUR_PAGES_MARGIN + width, bottom);
  cairo_stroke(cr);
  g_autofree char *digest = demur_text_digest(p->digest);
  g_autofree char *right =
      g_strdup_printf("demur %s · digest %s · page %zu of %zu",
                      p->input->version ? p->input->version : "", digest, page + 1, n_pages);
  demur_chart_text(cr, palette, "For research use, not a cleared device.", 7.5, TRUE, palette->ink,
                   DEMUR_PAGES_MARGIN, bottom + 5, 0, 0, width / 2);
  demur_chart_text(cr, palette, right, 7.5, FALSE, palette->muted, p->width - DEMUR_PAGES_MARGIN,
                   bottom + 5, 1, 0, width / 2);
  cairo_restore(cr);
}

static void
pages_free(gpointer data) {
  DemurPages *p = data;
  g_free(p->digest);
  g_free(p);
}

DemurLayout *
demur_pages_layout(const DemurReportInput *input, const char *digest) {
  DemurPages *p = g_new0(DemurPages, 1);
  p->input = input;
  p->e = input->evaluation;
  p->finding = demur_finding(input);
  p->digest = g_strdup(digest);
  const DemurPaperRow *paper = demur_paper_row(input->paper);
  p->width = paper->width;
  p->height = paper->height;
  const double top = HEADER_Y + 22 + BAND_HEIGHT * (double)n_bands(p->e);
  const DemurRectangle area = {DEMUR_PAGES_MARGIN, top, p->width - 2 * DEMUR_PAGES_MARGIN,
                               p->height - 50 - top};
  p->layout =
      demur_layout_new(p->width, p->height, area, demur_palette_paper(), draw_frame, p, pages_free);
  demur_section_summary(p);
  demur_section_cohort(p);
  demur_section_results(p);
  demur_section_threshold(p);
  demur_section_intervals(p);
  demur_section_audits(p);
  demur_section_use(p);
  demur_section_provenance(p);
  demur_section_limits(p);
  demur_section_model_card(p);
  demur_section_checklist(p);
  demur_layout_paginate(p->layout);
  return p->layout;
}
