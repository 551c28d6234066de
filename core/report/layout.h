/* A small flow layout: headings, paragraphs, tables and figures, broken into pages and drawn with
 * the tags of a tagged PDF.
 *
 * Blocks are added in reading order and measured at once; pages are made by demur_layout_paginate.
 * A heading stays with what follows it, a table repeats its header on each page, a paragraph is
 * broken between lines. Lengths in points. */
#pragma once

#include "report/chart-kit.h"

G_BEGIN_DECLS

typedef struct DemurLayout DemurLayout;

typedef enum {
  DEMUR_TEXT_TITLE,   /* the finding; tag H1, in the outline as "Summary" */
  DEMUR_TEXT_SECTION, /* H1, starts an outline entry */
  DEMUR_TEXT_HEADING, /* H2, second level of the outline */
  DEMUR_TEXT_BODY,
  DEMUR_TEXT_NOTE,   /* small and muted: captions, notes below tables */
  DEMUR_TEXT_STRONG, /* what must not be overlooked */
  DEMUR_TEXT_LEAD,   /* the paragraph to quote */
  DEMUR_N_TEXT_STYLES,
} DemurTextStyle;

/* Called for every page after pagination, outside any tag: running header and footer. page counts
 * from 0. */
typedef void (*DemurLayoutFrameFunc)(cairo_t *cr, size_t page, size_t n_pages, gpointer data);

/* Draws a figure into its rectangle. */
typedef void (*DemurLayoutDrawFunc)(gconstpointer data, cairo_t *cr, const DemurPalette *palette,
                                    DemurRectangle rectangle);

/* Blocks flow in text_area; frame (may be NULL) draws around it with frame_data, which is taken
 * over. */
DemurLayout *demur_layout_new(double width, double height, DemurRectangle text_area,
                              const DemurPalette *palette, DemurLayoutFrameFunc frame,
                              gpointer frame_data, GDestroyNotify free_frame_data);
void demur_layout_free(DemurLayout *layout);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurLayout, demur_layout_free)

/* text is plain. */
void demur_layout_text(DemurLayout *layout, DemurTextStyle style, const char *text);

void demur_layout_space(DemurLayout *layout, double height);

/* Begins a page, unless that much room is left on this one; 0: always. */
void demur_layout_page_break(DemurLayout *layout, double unless);

/* Begins a part on a new page, which has its title; sections in it are one level deeper in the
 * outline, and a finding has no entry there. NULL: what follows belongs to no part. */
void demur_layout_part(DemurLayout *layout, const char *title);

/* The title of the part that the top of the page belongs to, once paginated; NULL: none. Borrowed. */
const char *demur_layout_part_at(const DemurLayout *layout, size_t page);

/* What follows up to the matching end stands on one page where it fits on one. */
void demur_layout_keep_begin(DemurLayout *layout);
void demur_layout_keep_end(DemurLayout *layout);

typedef struct {
  const char *header;
  gboolean number; /* aligned right, never wrapped */
  double least;    /* width a text column is not shrunk below; 0: 60 */
  gboolean grow;   /* takes the room that is left; none grows: all share it */
} DemurLayoutColumn;

#define DEMUR_LAYOUT_SHORT_TABLE 6   /* rows; no page ends in such a table */
#define DEMUR_LAYOUT_INDENT "\u2003" /* a first cell that begins with it belongs to the row above */

/* cells [n_rows][n_columns] are plain text ("\n" starts a second, muted line); bold [n_rows] or
 * NULL marks rows. NULL cells are empty. All is copied. */
void demur_layout_table(DemurLayout *layout, size_t n_columns, const DemurLayoutColumn *columns,
                        size_t n_rows, const char *const *cells, const gboolean *bold);

/* How many blocks there are so far: a place that demur_layout_fit_page may be given. */
guint demur_layout_mark(const DemurLayout *layout);

/* Makes the figures that were added since the last page break (demur_layout_page_break of 0) lower,
 * each by the same, where all blocks since then (or, where these are too many, those before mark) stand
 * on one page and no figure is lower than least. */
void demur_layout_fit_page(DemurLayout *layout, double least, guint mark);

typedef struct {
  DemurLayoutDrawFunc draw;
  gpointer data; /* taken over */
  GDestroyNotify free_data;
  char *alternative; /* taken over */
} DemurLayoutFigure;

/* n figures side by side, each of the same width. */
void demur_layout_figures(DemurLayout *layout, double height, size_t n,
                          const DemurLayoutFigure *figures);

/* Big figures with a line under each, side by side, as the summary has them. texts: n pairs
 * (figure, caption). */
void demur_layout_key_figures(DemurLayout *layout, size_t n, const char *const *texts);

/* Links to all parts, and sections of no part, that follow on later pages, on one or more lines. */
void demur_layout_contents(DemurLayout *layout);

/* Whether some text that was added so far holds a character that no installed font has. */
gboolean demur_layout_lacks_glyphs(const DemurLayout *layout);

size_t demur_layout_paginate(DemurLayout *layout);
void demur_layout_draw(DemurLayout *layout, cairo_t *cr, size_t page);

/* All pages on a PDF surface, each ended with show_page, with tags, outline and links. */
void demur_layout_draw_tagged(DemurLayout *layout, cairo_surface_t *surface);

/* Alternative texts of the figures in the order of their tags; borrowed, NULL-terminated. */
const char *const *demur_layout_alternatives(const DemurLayout *layout);

/* What the links say that demur_layout_draw_tagged drew, in order; borrowed, NULL-terminated. */
const char *const *demur_layout_links(const DemurLayout *layout);

G_END_DECLS
