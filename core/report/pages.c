/* The order of the report: summary, cohort, results, threshold, use, method and provenance, limits, the
 * model card and the reporting guidelines; and what stands on every page. Each section is a file
 * that adds its blocks; what it says comes from finding.c and the charts. */
#include "report/pages.h"

#include "report/format.h"
#include "report/section.h"

#define HEADER_Y 34.0
#define BAND_HEIGHT 17.0

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

/* What all pages of a document belong to. */
typedef struct {
  GPtrArray *all;                /* of DemurPages (owned): one, or one a horizon */
  const DemurPages *p;           /* the one that the frame is of */
  const char *family;            /* NULL: none */
  gboolean simulated, in_sample; /* any of them */
} Frame;

static void
draw_frame(cairo_t *cr, size_t page, size_t n_pages, gpointer data) {
  const Frame *frame = data;
  const DemurPages *p = frame->p;
  const DemurPalette *palette = demur_palette_paper();
  const double width = p->width - 2 * DEMUR_PAGES_MARGIN, bottom = p->height - 40;
  cairo_save(cr);
  const char *part = demur_layout_part_at(p->layout, page);
  g_autofree char *of = frame->family ? g_strdup_printf(" · family %s", frame->family) : NULL,
                  *within = part ? g_strdup_printf(" · %s", part) : NULL,
                  *left =
                      g_strdup_printf("Calibration report%s · cohort %s, split %s%s", of ? of : "",
                                      p->e->cohort, p->e->split, within ? within : "");
  g_autofree char *date =
      p->input->created ? demur_text_date(p->input->created) : g_strdup("undated");
  const DemurSize size = demur_chart_text(cr, palette, date, 8, FALSE, palette->muted,
                                          p->width - DEMUR_PAGES_MARGIN, HEADER_Y, 1, 0, width / 3);
  demur_chart_text(cr, palette, left, 8, FALSE, palette->muted, DEMUR_PAGES_MARGIN, HEADER_Y, 0, 0,
                   width - size.width - 20);
  double y = HEADER_Y + 16;
  if (frame->simulated) {
    demur_pages_band(cr, palette, "Simulated data: no patient stands behind these numbers",
                     DEMUR_PAGES_MARGIN, y, width);
    y += BAND_HEIGHT;
  }
  if (frame->in_sample)
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

static void
frame_free(gpointer data) {
  Frame *frame = data;
  g_ptr_array_unref(frame->all);
  g_free(frame);
}

static DemurPages *
add_pages(Frame *frame, const DemurReportInput *input, const char *digest) {
  DemurPages *p = g_new0(DemurPages, 1);
  p->input = input;
  p->e = input->evaluation;
  p->finding = demur_finding(input);
  p->digest = g_strdup(digest);
  const DemurPaperRow *paper = demur_paper_row(input->paper);
  p->width = paper->width;
  p->height = paper->height;
  g_ptr_array_add(frame->all, p);
  frame->simulated |= p->e->simulated;
  frame->in_sample |= p->e->in_sample;
  return p;
}

static Frame *
frame_new(const char *family) {
  Frame *frame = g_new0(Frame, 1);
  frame->all = g_ptr_array_new_with_free_func(pages_free);
  frame->family = family;
  return frame;
}

/* The layout that all of the frame's pages are written on, and which owns it. */
static DemurLayout *
begin_layout(Frame *frame) {
  const DemurPages *p = frame->p = g_ptr_array_index(frame->all, frame->all->len - 1);
  const double top =
      HEADER_Y + 22 + BAND_HEIGHT * ((frame->simulated ? 1 : 0) + (frame->in_sample ? 1 : 0));
  const DemurRectangle area = {DEMUR_PAGES_MARGIN, top, p->width - 2 * DEMUR_PAGES_MARGIN,
                               p->height - 50 - top};
  DemurLayout *layout = demur_layout_new(p->width, p->height, area, demur_palette_paper(),
                                         draw_frame, frame, frame_free);
  for (guint i = 0; i < frame->all->len; i++)
    ((DemurPages *)g_ptr_array_index(frame->all, i))->layout = layout;
  return layout;
}

/* What is of one selector at one horizon. */
static void
add_results(DemurPages *p) {
  demur_section_results(p);
  demur_section_threshold(p);
  demur_section_intervals(p);
  demur_section_audits(p);
  demur_section_use(p);
  demur_section_provenance(p);
}

/* What is said of all of them alike. */
static void
add_end(DemurPages *p) {
  demur_section_limits(p);
  demur_section_model_card(p);
  demur_section_checklist(p);
}

DemurLayout *
demur_pages_layout(const DemurReportInput *input, const char *digest) {
  Frame *frame = frame_new(NULL);
  DemurPages *p = add_pages(frame, input, digest);
  DemurLayout *layout = begin_layout(frame);
  demur_section_summary(p);
  demur_section_cohort(p);
  add_results(p);
  add_end(p);
  demur_layout_paginate(layout);
  return layout;
}

DemurLayout *
demur_pages_family_layout(const DemurFamilyReport *family, const char *digest) {
  Frame *frame = frame_new(family->name);
  for (size_t h = 0; h < family->n; h++)
    add_pages(frame, family->horizons[h], digest);
  DemurLayout *layout = begin_layout(frame);
  DemurPages *const *horizons = (DemurPages *const *)frame->all->pdata,
                    *longest = horizons[family->n - 1];
  demur_section_family(longest, family, horizons);
  demur_section_cohort(longest);
  for (size_t h = 0; h < family->n; h++) {
    g_autofree char *years = demur_text_years(family->years[h]),
                    *title = g_strdup_printf("Within %s", years);
    demur_layout_part(layout, title);
    horizons[h]->in_part = TRUE;
    demur_section_summary(horizons[h]);
    add_results(horizons[h]);
  }
  demur_layout_part(layout, NULL);
  add_end(longest);
  demur_layout_paginate(layout);
  return layout;
}
