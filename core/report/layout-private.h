/* What laying out and drawing share: the atoms of a document and their places. Inside this room. */
#pragma once

#include "report/layout.h"

G_BEGIN_DECLS

typedef struct {
  size_t n_columns;
  double *left, *width; /* [n_columns], of the cell's text */
  gboolean *number;     /* [n_columns] */
  PangoLayout **header; /* [n_columns] */
  double header_height;
} DemurLayoutTable;

typedef enum {
  DEMUR_LAYOUT_LINE,
  DEMUR_LAYOUT_ROW,
  DEMUR_LAYOUT_FIGURES,
  DEMUR_LAYOUT_KEY_FIGURES,
  DEMUR_LAYOUT_CONTENTS,
  DEMUR_LAYOUT_SPACE,
  DEMUR_LAYOUT_BREAK,
} DemurLayoutAtomKind;

typedef struct {
  DemurLayoutAtomKind kind;
  double height;
  gboolean keep; /* on one page with the next atom */
  DemurTextStyle style;
  /* DEMUR_LAYOUT_LINE */
  PangoLayout *text; /* shared by the lines of a paragraph */
  int line;
  gboolean first, last; /* of the paragraph; of the table for rows */
  int outline;          /* index into sections + 1, 0: none */
  /* DEMUR_LAYOUT_ROW */
  DemurLayoutTable *table;
  PangoLayout **cells; /* [n_columns] */
  gboolean is_header;
  /* DEMUR_LAYOUT_FIGURES, DEMUR_LAYOUT_KEY_FIGURES */
  size_t n;
  DemurLayoutFigure *figures;
  PangoLayout **texts; /* [2 n] */
  /* after pagination */
  size_t page;
  double y;
} DemurLayoutAtom;

typedef struct {
  char *title;
  int level; /* from 1 */
  gboolean is_part;
  size_t page;
  double y;
} DemurLayoutSection;

struct DemurLayout {
  double page_width, page_height;
  DemurRectangle area;
  const DemurPalette *palette;
  DemurLayoutFrameFunc frame;
  gpointer frame_data;
  GDestroyNotify free_frame_data;
  PangoFontMap *font_map;
  PangoContext *context;
  GPtrArray *atoms;    /* DemurLayoutAtom */
  GPtrArray *tables;   /* DemurLayoutTable */
  GPtrArray *sections; /* DemurLayoutSection */
  GPtrArray *alternatives;
  GPtrArray *links; /* what each link says, as drawn */
  guint keep_depth;
  guint part;       /* index into sections + 1 of the open one; 0: none */
  gboolean missing; /* some character stands as its code point */
  size_t n_pages;
};

typedef struct {
  double size, line_spacing, above, below;
  PangoWeight weight;
  gboolean muted;
  const char *tag;
  int outline_level; /* 0: none */
} DemurLayoutStyle;

extern const DemurLayoutStyle demur_layout_styles[DEMUR_N_TEXT_STYLES];

#define DEMUR_LAYOUT_CELL_PAD_Y 2.9

#define DEMUR_LAYOUT_KEY_GAP 12.0

/* A text of the layout's font, its characters checked (owned). size: points. */
PangoLayout *demur_layout_new_text(DemurLayout *layout, const char *text, double size,
                                   PangoWeight weight);

/* Of the whole text, in points. */
double demur_layout_text_width(PangoLayout *text);
double demur_layout_text_height(PangoLayout *text);

/* Pango's units as points. */
double demur_layout_units(int pango);

G_END_DECLS
