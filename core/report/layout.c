/* Everything becomes a list of atoms, the pieces that are never broken: a line of a paragraph, a
 * row of a table, a row of figures, a gap. An atom may have to stay with the next one (headings,
 * the first lines of a paragraph, kept groups). Pagination walks over the list, takes each run of
 * atoms that belong together, and starts a page where the run does not fit; in a table it first
 * repeats the header. Cost: linear. */
#include "report/layout-private.h"

#include <cairo-pdf.h>

#include <math.h>
#include <string.h>

#include "metrics/measures.h"

const DemurLayoutStyle demur_layout_styles[DEMUR_N_TEXT_STYLES] = {
    [DEMUR_TEXT_TITLE] = {17, 1.2, 0, 8, PANGO_WEIGHT_SEMIBOLD, FALSE, "H1", 1},
    [DEMUR_TEXT_SECTION] = {15, 1.2, 0, 8, PANGO_WEIGHT_SEMIBOLD, FALSE, "H1", 1},
    [DEMUR_TEXT_HEADING] = {10, 1.25, 13, 4, PANGO_WEIGHT_SEMIBOLD, FALSE, "H2", 2},
    [DEMUR_TEXT_BODY] = {9, 1.4, 0, 5, PANGO_WEIGHT_NORMAL, FALSE, "P", 0},
    [DEMUR_TEXT_NOTE] = {7.6, 1.38, 0, 5, PANGO_WEIGHT_NORMAL, TRUE, "P", 0},
    [DEMUR_TEXT_STRONG] = {9, 1.4, 0, 9, PANGO_WEIGHT_SEMIBOLD, FALSE, "P", 0},
    [DEMUR_TEXT_LEAD] = {9.4, 1.45, 0, 9, PANGO_WEIGHT_NORMAL, FALSE, "P", 0},
};

#define DEMUR_LAYOUT_CELL_SIZE 8.0
#define DEMUR_LAYOUT_CELL_PAD_X 4.0
#define DEMUR_LAYOUT_TABLE_BELOW 6.0
#define SECTION_ABOVE 26.0 /* where a section begins in the middle of a page */

static void
table_free(gpointer data) {
  DemurLayoutTable *table = data;
  for (size_t c = 0; c < table->n_columns; c++)
    g_clear_object(&table->header[c]);
  g_free(table->header);
  g_free(table->left);
  g_free(table->width);
  g_free(table->number);
  g_free(table);
}

static void
atom_free(gpointer data) {
  DemurLayoutAtom *atom = data;
  g_clear_object(&atom->text);
  if (atom->cells)
    for (size_t c = 0; c < atom->table->n_columns; c++)
      g_clear_object(&atom->cells[c]);
  g_free(atom->cells);
  for (size_t i = 0; atom->figures && i < atom->n; i++) {
    if (atom->figures[i].free_data)
      atom->figures[i].free_data(atom->figures[i].data);
    g_free(atom->figures[i].alternative);
  }
  g_free(atom->figures);
  for (size_t i = 0; atom->texts && i < 2 * atom->n; i++)
    g_clear_object(&atom->texts[i]);
  g_free(atom->texts);
  g_free(atom);
}

static void
section_free(gpointer data) {
  DemurLayoutSection *section = data;
  g_free(section->title);
  g_free(section);
}

DemurLayout *
demur_layout_new(double width, double height, DemurRectangle text_area, const DemurPalette *palette,
                 DemurLayoutFrameFunc frame, gpointer frame_data, GDestroyNotify free_frame_data) {
  DemurLayout *layout = g_new0(DemurLayout, 1);
  layout->page_width = width;
  layout->page_height = height;
  layout->area = text_area;
  layout->palette = palette;
  layout->frame = frame;
  layout->frame_data = frame_data;
  layout->free_frame_data = free_frame_data;
  layout->font_map = pango_cairo_font_map_new_for_font_type(CAIRO_FONT_TYPE_FT);
  if (!layout->font_map) /* a Cairo without FreeType: its own kind of fonts */
    layout->font_map = pango_cairo_font_map_new();
  layout->context = pango_font_map_create_context(layout->font_map);
  demur_chart_pango_context(layout->context);
  layout->atoms = g_ptr_array_new_with_free_func(atom_free);
  layout->tables = g_ptr_array_new_with_free_func(table_free);
  layout->sections = g_ptr_array_new_with_free_func(section_free);
  layout->alternatives = g_ptr_array_new();
  layout->links = g_ptr_array_new_with_free_func(g_free);
  return layout;
}

void
demur_layout_free(DemurLayout *layout) {
  if (!layout)
    return;
  if (layout->free_frame_data)
    layout->free_frame_data(layout->frame_data);
  g_ptr_array_unref(layout->atoms);
  g_ptr_array_unref(layout->tables);
  g_ptr_array_unref(layout->sections);
  g_ptr_array_unref(layout->alternatives);
  g_ptr_array_unref(layout->links);
  g_object_unref(layout->context);
  g_object_unref(layout->font_map);
  g_free(layout);
}

/* Bytes of the letters of a measure's symbol that begins with one and a hyphen ("S-BCE" of "S-BCE₂")
 * and stands at text; 0: none does. */
static size_t
symbol_at(const char *text) {
  for (int m = 0; text[0] != '\0' && text[1] == '-' && m < DEMUR_N_MEASURES; m++)
    for (size_t n_classes = 2; n_classes <= 3; n_classes++) {
      const char *symbol = demur_measure_symbol((DemurMeasure)m, n_classes);
      size_t n = 2;
      while (symbol[1] == '-' && g_ascii_isalpha(symbol[n]))
        n++;
      if (n > 2 && strncmp(text, symbol, n) == 0)
        return n;
    }
  return 0;
}

/* Line breaking takes ".043" for a full stop and digits, and "S-BCE" for two words: neither may be
 * parted. */
static void
forbid_breaks(PangoAttrList *attributes, const char *text) {
  static const char minus[] = "\xe2\x88\x92";
  for (const char *c = text; *c; c++) {
    const char *start = c, *end = NULL;
    if (*c == '.' && g_ascii_isdigit(c[1]) && (c == text || !g_ascii_isdigit(c[-1]))) {
      if (c > text && c[-1] == '+')
        start = c - 1;
      else if (c - text >= 3 && memcmp(c - 3, minus, 3) == 0)
        start = c - 3;
      end = c + 1 + strspn(c + 1, "0123456789");
    } else {
      end = c + symbol_at(c);
    }
    if (end == c)
      continue;
    PangoAttribute *whole = pango_attr_allow_breaks_new(FALSE);
    whole->start_index = (guint)(start - text);
    whole->end_index = (guint)(end - text);
    pango_attr_list_insert(attributes, whole);
    c = end - 1;
  }
}

PangoLayout *
demur_layout_new_text(DemurLayout *layout, const char *text, double size, PangoWeight weight) {
  PangoLayout *result = pango_layout_new(layout->context);
  PangoFontDescription *font = pango_font_description_from_string(layout->palette->font);
  pango_font_description_set_absolute_size(font, size * PANGO_SCALE);
  pango_font_description_set_weight(font, weight);
  pango_layout_set_font_description(result, font);
  pango_font_description_free(font);
  if (text) {
    layout->missing |= demur_chart_set_text(result, text);
    PangoAttrList *attributes = pango_attr_list_new();
    forbid_breaks(attributes, pango_layout_get_text(result));
    pango_layout_set_attributes(result, attributes);
    pango_attr_list_unref(attributes);
  }
  return result;
}

double
demur_layout_units(int pango) {
  return (double)pango / PANGO_SCALE;
}

static DemurLayoutAtom *
add_atom(DemurLayout *layout, DemurLayoutAtomKind kind, double height) {
  DemurLayoutAtom *atom = g_new0(DemurLayoutAtom, 1);
  atom->kind = kind;
  atom->height = height;
  atom->keep = layout->keep_depth > 0;
  g_ptr_array_add(layout->atoms, atom);
  return atom;
}

void
demur_layout_space(DemurLayout *layout, double height) {
  add_atom(layout, DEMUR_LAYOUT_SPACE, height);
}

void
demur_layout_page_break(DemurLayout *layout, double unless) {
  add_atom(layout, DEMUR_LAYOUT_BREAK, unless)->keep = FALSE;
}

void
demur_layout_keep_begin(DemurLayout *layout) {
  layout->keep_depth++;
}

void
demur_layout_keep_end(DemurLayout *layout) {
  g_return_if_fail(layout->keep_depth > 0);
  if (--layout->keep_depth == 0 && layout->atoms->len > 0)
    ((DemurLayoutAtom *)g_ptr_array_index(layout->atoms, layout->atoms->len - 1))->keep = FALSE;
}

/* A note says what stands above it: the end of a table, or figures, stay with its beginning. */
static void
keep_with_note(DemurLayout *layout) {
  const guint n = layout->atoms->len;
  DemurLayoutAtom *space = n > 1 ? g_ptr_array_index(layout->atoms, n - 1) : NULL,
                  *above = n > 1 ? g_ptr_array_index(layout->atoms, n - 2) : NULL;
  if (space && space->kind == DEMUR_LAYOUT_SPACE &&
      (above->kind == DEMUR_LAYOUT_ROW || above->kind == DEMUR_LAYOUT_FIGURES))
    space->keep = above->keep = TRUE;
}

void
demur_layout_text(DemurLayout *layout, DemurTextStyle style, const char *text) {
  const DemurLayoutStyle *s = &demur_layout_styles[style];
  if (style == DEMUR_TEXT_NOTE)
    keep_with_note(layout);
  const gboolean heading = s->outline_level > 0;
  if (s->above > 0)
    add_atom(layout, DEMUR_LAYOUT_SPACE, s->above)->keep = TRUE;
  PangoLayout *paragraph = demur_layout_new_text(layout, text, s->size, s->weight);
  pango_layout_set_width(paragraph, (int)(layout->area.width * PANGO_SCALE));
  pango_layout_set_wrap(paragraph, PANGO_WRAP_WORD_CHAR);
  const int n_lines = pango_layout_get_line_count(paragraph);
  int section = 0;
  if (heading && !(layout->part > 0 && style == DEMUR_TEXT_TITLE)) {
    DemurLayoutSection *entry = g_new0(DemurLayoutSection, 1);
    /* A finding is too long for the outline. */
    entry->title = g_strdup(style == DEMUR_TEXT_TITLE ? "Summary" : text);
    entry->level = s->outline_level + (layout->part > 0 ? 1 : 0);
    g_ptr_array_add(layout->sections, entry);
    section = (int)layout->sections->len;
  }
  for (int i = 0; i < n_lines; i++) {
    DemurLayoutAtom *atom = add_atom(layout, DEMUR_LAYOUT_LINE, s->size * s->line_spacing);
    atom->style = style;
    atom->text = g_object_ref(paragraph);
    atom->line = i;
    atom->first = i == 0;
    atom->last = i == n_lines - 1;
    if (i == 0)
      atom->outline = section;
    /* Two lines at least on either side of a break. */
    atom->keep |= heading || (i == 0 && n_lines > 1) || i == n_lines - 2;
  }
  g_object_unref(paragraph);
  DemurLayoutAtom *below = add_atom(layout, DEMUR_LAYOUT_SPACE, s->below);
  below->keep |= heading;
}

/* A cell's text: the first line plain or bold, what follows "\n" smaller and muted. */
static PangoLayout *
new_cell(DemurLayout *layout, const char *text, gboolean bold, gboolean number) {
  PangoLayout *cell = demur_layout_new_text(layout, text ? text : "", DEMUR_LAYOUT_CELL_SIZE,
                                            bold ? PANGO_WEIGHT_SEMIBOLD : PANGO_WEIGHT_NORMAL);
  PangoAttrList *attributes = pango_attr_list_new();
  pango_attr_list_insert(attributes, pango_attr_font_features_new("tnum=1"));
  const char *shown = pango_layout_get_text(cell);
  forbid_breaks(attributes, shown);
  const char *second = strchr(shown, '\n');
  if (second) {
    const DemurColour muted = layout->palette->muted;
    PangoAttribute *small = pango_attr_size_new_absolute(
                       (int)(DEMUR_LAYOUT_CELL_SIZE * 0.86 * PANGO_SCALE)),
                   *colour = pango_attr_foreground_new((guint16)(muted.red * 65535),
                                                       (guint16)(muted.green * 65535),
                                                       (guint16)(muted.blue * 65535)),
                   *weight = pango_attr_weight_new(PANGO_WEIGHT_NORMAL);
    small->start_index = colour->start_index = weight->start_index = (guint)(second - shown);
    pango_attr_list_insert(attributes, small);
    pango_attr_list_insert(attributes, colour);
    pango_attr_list_insert(attributes, weight);
  }
  pango_layout_set_attributes(cell, attributes);
  pango_attr_list_unref(attributes);
  pango_layout_set_auto_dir(cell, FALSE); /* a column has one edge, whatever its names are */
  pango_layout_set_line_spacing(cell, 1.08f);
  pango_layout_set_wrap(cell, PANGO_WRAP_WORD_CHAR);
  pango_layout_set_alignment(cell, number ? PANGO_ALIGN_RIGHT : PANGO_ALIGN_LEFT);
  return cell;
}

double
demur_layout_text_width(PangoLayout *text) {
  int width, height;
  pango_layout_get_size(text, &width, &height);
  return demur_layout_units(width);
}

double
demur_layout_text_height(PangoLayout *text) {
  int width, height;
  pango_layout_get_size(text, &width, &height);
  return demur_layout_units(height);
}

/* The widest unbreakable piece of a header: where it may wrap, it needs no more. */
static double
widest_word(DemurLayout *layout, const char *text) {
  double widest = 0;
  g_auto(GStrv) words = g_strsplit(text, " ", -1);
  for (char **word = words; *word; word++) {
    PangoLayout *cell = new_cell(layout, *word, TRUE, FALSE);
    widest = fmax(widest, demur_layout_text_width(cell));
    g_object_unref(cell);
  }
  return widest;
}

/* Widths [n]: text columns their natural width and columns of numbers their least one (header
 * wrapped) where that fits; what is left goes first to unwrap headers, then to the columns that
 * grow, else to all. Else text columns shrink towards their least width, the widest most, and,
 * should even that be too wide, all in proportion. */
static void
fit_widths(const DemurLayoutColumn *columns, const double *natural, const double *least, size_t n,
           double available, double *width) {
  double sum = 0, sum_least = 0, sum_natural = 0;
  size_t n_grow = 0;
  for (size_t c = 0; c < n; c++) {
    sum_least += least[c];
    sum_natural += natural[c];
    width[c] = columns[c].number ? least[c] : natural[c];
    sum += width[c];
    n_grow += columns[c].grow ? 1 : 0;
  }
  const double left = available - sum;
  for (size_t c = 0; c < n; c++) {
    if (sum_least > available)
      width[c] = least[c] * available / sum_least;
    else if (left < 0)
      width[c] = least[c] + (width[c] - least[c]) * (available - sum_least) / (sum - sum_least);
    else if (sum_natural > available)
      width[c] += (natural[c] - width[c]) * left / (sum_natural - sum);
    else {
      width[c] = natural[c];
      if (n_grow == 0 || columns[c].grow)
        width[c] += (available - sum_natural) / (double)(n_grow ? n_grow : n);
    }
  }
}

static gboolean
is_indented(const char *cell) {
  return cell != NULL && g_str_has_prefix(cell, DEMUR_LAYOUT_INDENT);
}

void
demur_layout_table(DemurLayout *layout, size_t n_columns, const DemurLayoutColumn *columns,
                   size_t n_rows, const char *const *cells, const gboolean *bold) {
  g_return_if_fail(n_columns > 0);
  DemurLayoutTable *table = g_new0(DemurLayoutTable, 1);
  g_ptr_array_add(layout->tables, table);
  table->n_columns = n_columns;
  table->left = g_new0(double, n_columns);
  table->width = g_new0(double, n_columns);
  table->number = g_new0(gboolean, n_columns);
  table->header = g_new0(PangoLayout *, n_columns);
  g_autofree double *natural = g_new0(double, n_columns), *least = g_new0(double, n_columns);
  g_autofree PangoLayout **bodies = g_new0(PangoLayout *, n_rows * n_columns + 1);
  for (size_t c = 0; c < n_columns; c++) {
    table->number[c] = columns[c].number;
    table->header[c] = new_cell(layout, columns[c].header, TRUE, columns[c].number);
    double numbers = 0;
    for (size_t r = 0; r < n_rows; r++) {
      PangoLayout *cell =
          new_cell(layout, cells[r * n_columns + c], bold && bold[r], columns[c].number);
      bodies[r * n_columns + c] = cell;
      numbers = fmax(numbers, demur_layout_text_width(cell));
    }
    natural[c] =
        fmax(numbers, demur_layout_text_width(table->header[c])) + 2 * DEMUR_LAYOUT_CELL_PAD_X;
    const double word = widest_word(layout, columns[c].header);
    least[c] = columns[c].number
                   ? fmax(numbers, word) + 2 * DEMUR_LAYOUT_CELL_PAD_X
                   : fmin(natural[c], fmax(columns[c].least > 0 ? columns[c].least : 60,
                                           word + 2 * DEMUR_LAYOUT_CELL_PAD_X));
  }
  fit_widths(columns, natural, least, n_columns, layout->area.width, table->width);
  double x = 0, header = 0;
  for (size_t c = 0; c < n_columns; c++) {
    table->left[c] = x + DEMUR_LAYOUT_CELL_PAD_X;
    x += table->width[c];
    table->width[c] -= 2 * DEMUR_LAYOUT_CELL_PAD_X;
    pango_layout_set_width(table->header[c], (int)ceil(table->width[c] * PANGO_SCALE) + 8);
    header = fmax(header, demur_layout_text_height(table->header[c]));
  }
  table->header_height = header + 2 * DEMUR_LAYOUT_CELL_PAD_Y;
  DemurLayoutAtom *top = add_atom(layout, DEMUR_LAYOUT_ROW, table->header_height);
  top->table = table;
  top->is_header = TRUE;
  top->first = TRUE;
  top->keep = TRUE;
  top->last = n_rows == 0;
  for (size_t r = 0; r < n_rows; r++) {
    double height = 0;
    PangoLayout **row = g_new0(PangoLayout *, n_columns);
    for (size_t c = 0; c < n_columns; c++) {
      row[c] = bodies[r * n_columns + c];
      pango_layout_set_width(row[c], (int)ceil(table->width[c] * PANGO_SCALE) + 8);
      height = fmax(height, demur_layout_text_height(row[c]));
    }
    DemurLayoutAtom *atom =
        add_atom(layout, DEMUR_LAYOUT_ROW, height + 2 * DEMUR_LAYOUT_CELL_PAD_Y);
    atom->table = table;
    atom->cells = row;
    atom->last = r == n_rows - 1;
    /* No row of its own at either end of a page; a short table, and the rows that are set in below
     * one, are not cut at all. */
    atom->keep |= r == 0 ? n_rows > 1 : r + 2 == n_rows;
    atom->keep |= r + 1 < n_rows &&
                  (n_rows <= DEMUR_LAYOUT_SHORT_TABLE || is_indented(cells[(r + 1) * n_columns]));
  }
  DemurLayoutAtom *below = add_atom(layout, DEMUR_LAYOUT_SPACE, DEMUR_LAYOUT_TABLE_BELOW);
  below->keep = layout->keep_depth > 0;
}

void
demur_layout_figures(DemurLayout *layout, double height, size_t n,
                     const DemurLayoutFigure *figures) {
  DemurLayoutAtom *atom = add_atom(layout, DEMUR_LAYOUT_FIGURES, height);
  atom->n = n;
  atom->figures = g_new0(DemurLayoutFigure, n);
  memcpy(atom->figures, figures, n * sizeof *figures);
  for (size_t i = 0; i < n; i++)
    g_ptr_array_add(layout->alternatives, figures[i].alternative);
  add_atom(layout, DEMUR_LAYOUT_SPACE, 6);
}

void
demur_layout_part(DemurLayout *layout, const char *title) {
  demur_layout_page_break(layout, 0);
  layout->part = 0;
  if (!title)
    return;
  demur_layout_text(layout, DEMUR_TEXT_SECTION, title);
  layout->part = layout->sections->len;
  ((DemurLayoutSection *)g_ptr_array_index(layout->sections, layout->part - 1))->is_part = TRUE;
}

const char *
demur_layout_part_at(const DemurLayout *layout, size_t page) {
  const char *title = NULL;
  for (guint i = 0; i < layout->sections->len; i++) {
    const DemurLayoutSection *section = g_ptr_array_index(layout->sections, i);
    if (section->page > page || (section->page == page && section->y > layout->area.y))
      break;
    if (section->level == 1)
      title = section->is_part ? section->title : NULL;
  }
  return title;
}

static gboolean
begins_page(const DemurLayoutAtom *atom) {
  return atom->kind == DEMUR_LAYOUT_BREAK && atom->height <= 0;
}

guint
demur_layout_mark(const DemurLayout *layout) {
  return layout->atoms->len;
}

/* The blocks [from, to) on one page; FALSE where figures would be lower than least. */
static gboolean
fit(DemurLayout *layout, double least, guint from, guint to) {
  double over = -layout->area.height, lowest = INFINITY;
  guint n = 0;
  for (guint i = from; i < to; i++) {
    const DemurLayoutAtom *atom = g_ptr_array_index(layout->atoms, i);
    over += atom->height;
    if (atom->kind == DEMUR_LAYOUT_FIGURES) {
      lowest = fmin(lowest, atom->height);
      n++;
    }
  }
  for (guint i = to; i-- > from;) { /* space may run over the edge */
    const DemurLayoutAtom *atom = g_ptr_array_index(layout->atoms, i);
    if (atom->kind != DEMUR_LAYOUT_SPACE)
      break;
    over -= atom->height;
  }
  if (over <= 0)
    return TRUE;
  if (n == 0 || lowest - over / n < least)
    return FALSE;
  for (guint i = from; i < to; i++) {
    DemurLayoutAtom *atom = g_ptr_array_index(layout->atoms, i);
    if (atom->kind == DEMUR_LAYOUT_FIGURES)
      atom->height -= over / n;
  }
  return TRUE;
}

void
demur_layout_fit_page(DemurLayout *layout, double least, guint mark) {
  guint from = layout->atoms->len;
  while (from > 0 && !begins_page(g_ptr_array_index(layout->atoms, from - 1)))
    from--;
  if (!fit(layout, least, from, layout->atoms->len) && mark > from)
    (void)fit(layout, least, from, mark);
}

void
demur_layout_key_figures(DemurLayout *layout, size_t n, const char *const *texts) {
  const double width = (layout->area.width - DEMUR_LAYOUT_KEY_GAP * (double)(n - 1)) / (double)n;
  DemurLayoutAtom *atom = add_atom(layout, DEMUR_LAYOUT_KEY_FIGURES, 0);
  atom->n = n;
  atom->texts = g_new0(PangoLayout *, 2 * n);
  for (size_t i = 0; i < n; i++) {
    double size = 16;
    atom->texts[2 * i] = demur_layout_new_text(layout, texts[2 * i], size, PANGO_WEIGHT_SEMIBOLD);
    /* A long word ("no difference shown") is set smaller, then broken. */
    while (demur_layout_text_width(atom->texts[2 * i]) > width && size > 11) {
      g_object_unref(atom->texts[2 * i]);
      atom->texts[2 * i] =
          demur_layout_new_text(layout, texts[2 * i], size -= 1, PANGO_WEIGHT_SEMIBOLD);
    }
    atom->texts[2 * i + 1] =
        demur_layout_new_text(layout, texts[2 * i + 1], 8, PANGO_WEIGHT_NORMAL);
    for (size_t k = 2 * i; k < 2 * i + 2; k++) {
      pango_layout_set_width(atom->texts[k], (int)(width * PANGO_SCALE));
      pango_layout_set_wrap(atom->texts[k], PANGO_WRAP_WORD_CHAR);
    }
    pango_layout_set_line_spacing(atom->texts[2 * i + 1], 1.12f);
    atom->height = fmax(atom->height, 30 + demur_layout_text_height(atom->texts[2 * i + 1]));
    atom->height = fmax(atom->height, 9 + demur_layout_text_height(atom->texts[2 * i]) +
                                          demur_layout_text_height(atom->texts[2 * i + 1]));
  }
  add_atom(layout, DEMUR_LAYOUT_SPACE, 12);
}

void
demur_layout_contents(DemurLayout *layout) {
  add_atom(layout, DEMUR_LAYOUT_CONTENTS, 26);
}

gboolean
demur_layout_lacks_glyphs(const DemurLayout *layout) {
  return layout->missing;
}

size_t
demur_layout_paginate(DemurLayout *layout) {
  /* What was made to fit a page exactly does, whatever its sums were rounded to. */
  const double top = layout->area.y, bottom = layout->area.y + layout->area.height + 1e-6;
  const DemurLayoutTable *open = NULL; /* the table that the next row continues */
  double y = top;
  size_t page = 0;
  for (guint i = 0; i < layout->atoms->len;) {
    DemurLayoutAtom *first = g_ptr_array_index(layout->atoms, i);
    if (first->kind == DEMUR_LAYOUT_BREAK) {
      if (y > top && (first->height <= 0 || y + first->height > bottom)) {
        page++;
        y = top;
      } else if (y > top)
        y += SECTION_ABOVE;
      first->page = page;
      first->y = y;
      i++;
      continue;
    }
    /* The run that belongs together, and its height; one that is higher than a page is broken all
     * the same. */
    guint end = i;
    double height = 0;
    for (;; end++) {
      const DemurLayoutAtom *atom = g_ptr_array_index(layout->atoms, end);
      height += atom->height;
      if (!atom->keep || end + 1 == layout->atoms->len)
        break;
      const DemurLayoutAtom *next = g_ptr_array_index(layout->atoms, end + 1);
      if (next->kind == DEMUR_LAYOUT_BREAK)
        break;
    }
    end++;
    /* Empty space may run over the edge. */
    double needed = height;
    for (guint k = end; k-- > i;) {
      const DemurLayoutAtom *atom = g_ptr_array_index(layout->atoms, k);
      if (atom->kind != DEMUR_LAYOUT_SPACE)
        break;
      needed -= atom->height;
    }
    if (y > top && y + needed > bottom && needed <= bottom - top) {
      page++;
      y = top;
    }
    for (guint k = i; k < end; k++) {
      DemurLayoutAtom *atom = g_ptr_array_index(layout->atoms, k);
      if (y > top && y + atom->height > bottom && atom->kind != DEMUR_LAYOUT_SPACE) {
        page++;
        y = top;
      }
      if (y == top && atom->kind == DEMUR_LAYOUT_SPACE) { /* no gap at the top of a page */
        atom->page = page;
        atom->y = y;
        continue;
      }
      if (atom->kind == DEMUR_LAYOUT_ROW && !atom->is_header && y == top && open == atom->table)
        y += open->header_height;
      if (atom->kind == DEMUR_LAYOUT_ROW)
        open = atom->table;
      atom->page = page;
      atom->y = y;
      if (atom->outline > 0) {
        DemurLayoutSection *section = g_ptr_array_index(layout->sections, (guint)atom->outline - 1);
        section->page = page;
        section->y = y;
      }
      y += atom->height;
    }
    i = end;
  }
  layout->n_pages = page + 1;
  return layout->n_pages;
}

const char *const *
demur_layout_links(const DemurLayout *layout) {
  if (layout->links->len == 0 || g_ptr_array_index(layout->links, layout->links->len - 1))
    g_ptr_array_add(layout->links, NULL);
  return (const char *const *)layout->links->pdata;
}

const char *const *
demur_layout_alternatives(const DemurLayout *layout) {
  if (layout->alternatives->len == 0 ||
      g_ptr_array_index(layout->alternatives, layout->alternatives->len - 1))
    g_ptr_array_add(layout->alternatives, NULL);
  return (const char *const *)layout->alternatives->pdata;
}
