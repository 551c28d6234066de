/* The pages of a layout on Cairo: each atom at the place that pagination gave it, with the tags of PDF. */
#include "report/layout-private.h"

#include <cairo-pdf.h>

#include <math.h>
#include <string.h>

static void
begin_tag(cairo_t *cr, gboolean tagged, const char *name) {
  if (tagged)
    cairo_tag_begin(cr, name, NULL);
}

static void
end_tag(cairo_t *cr, gboolean tagged, const char *name) {
  if (tagged)
    cairo_tag_end(cr, name);
}

static void
rule(cairo_t *cr, double x, double y, double width, DemurColour colour, double thickness) {
  demur_chart_colour(cr, colour, 1);
  cairo_set_dash(cr, NULL, 0, 0);
  cairo_set_line_width(cr, thickness);
  cairo_move_to(cr, x, y);
  cairo_line_to(cr, x + width, y);
  cairo_stroke(cr);
}

/* The attributes of bytes [start, end) of a text, for that part by itself; where it may break no
 * longer matters (and Pango reads beyond a text whose break attributes do). */
static PangoAttrList *
part_attributes(PangoAttrList *whole, size_t start, size_t end) {
  PangoAttrList *part = pango_attr_list_new();
  GSList *list = whole ? pango_attr_list_get_attributes(whole) : NULL;
  for (GSList *l = list; l; l = l->next) {
    PangoAttribute *attribute = l->data;
    const size_t from = MAX(attribute->start_index, start), to = MIN(attribute->end_index, end);
    if (attribute->klass->type != PANGO_ATTR_ALLOW_BREAKS && from < to) {
      PangoAttribute *copy = pango_attribute_copy(attribute);
      copy->start_index = (guint)(from - start);
      copy->end_index = (guint)(to - start);
      pango_attr_list_insert(part, copy);
    }
  }
  g_slist_free_full(list, (GDestroyNotify)pango_attribute_destroy);
  return part;
}

/* Shows line of text with its left end at x. A wrapped line is laid out anew by itself, so that the
 * blank at its end stays a glyph: Cairo writes the one that Pango swallows as a nested piece of
 * marked content, which readers of tagged PDF trip over, and without any blank they would join two
 * words. */
static void
show_line(cairo_t *cr, PangoLayout *text, PangoLayoutLine *line, double x, double baseline) {
  if (pango_layout_get_line_count(text) == 1) {
    cairo_move_to(cr, x, baseline);
    pango_cairo_show_layout_line(cr, line);
    return;
  }
  const char *whole = pango_layout_get_text(text);
  const size_t start = (size_t)line->start_index, length = (size_t)line->length;
  const gboolean last = whole[start + length] == '\0';
  const gboolean blank = length > 0 && whole[start + length - 1] == ' ';
  g_autofree char *part = g_strndup(whole + start, length);
  g_autofree char *spaced = g_strconcat(part, last || blank ? "" : " ", NULL);
  PangoLayout *single = pango_layout_new(pango_layout_get_context(text));
  pango_layout_set_font_description(single, pango_layout_get_font_description(text));
  pango_layout_set_text(single, spaced, -1);
  PangoAttrList *attributes =
      part_attributes(pango_layout_get_attributes(text), start, start + length);
  pango_layout_set_attributes(single, attributes);
  pango_attr_list_unref(attributes);
  PangoLayoutLine *only = pango_layout_get_line_readonly(single, 0);
  if (pango_layout_line_get_resolved_direction(line) ==
      PANGO_DIRECTION_RTL) { /* the blank stands left */
    PangoRectangle old_extents, new_extents;
    pango_layout_line_get_extents(line, NULL, &old_extents);
    pango_layout_line_get_extents(only, NULL, &new_extents);
    x -= demur_layout_units(new_extents.width - old_extents.width);
  }
  cairo_move_to(cr, x, baseline);
  pango_cairo_show_layout_line(cr, only);
  g_object_unref(single);
}

/* All lines of text with its top left corner at (x, y). */
static void
show_text(cairo_t *cr, PangoLayout *text, double x, double y) {
  PangoLayoutIter *iter = pango_layout_get_iter(text);
  do {
    PangoRectangle logical;
    pango_layout_iter_get_line_extents(iter, NULL, &logical);
    show_line(cr, text, pango_layout_iter_get_line_readonly(iter),
              x + demur_layout_units(logical.x),
              y + demur_layout_units(pango_layout_iter_get_baseline(iter)));
  } while (pango_layout_iter_next_line(iter));
  pango_layout_iter_free(iter);
}

static void
draw_row(DemurLayout *layout, cairo_t *cr, const DemurLayoutTable *table, PangoLayout **cells,
         double y, double height, gboolean header, gboolean tagged) {
  const DemurRectangle area = layout->area;
  begin_tag(cr, tagged, "TR");
  for (size_t c = 0; c < table->n_columns; c++) {
    const char *tag = header || c == 0 ? "TH" : "TD"; /* the first cell heads its row */
    begin_tag(cr, tagged, tag);
    demur_chart_colour(cr, layout->palette->ink, 1);
    /* The header's last line stands on the rule. */
    const double drop =
        header ? height - 2 * DEMUR_LAYOUT_CELL_PAD_Y - demur_layout_text_height(cells[c]) : 0;
    show_text(cr, cells[c], area.x + table->left[c], y + DEMUR_LAYOUT_CELL_PAD_Y + drop);
    end_tag(cr, tagged, tag);
  }
  end_tag(cr, tagged, "TR");
  rule(cr, area.x, y + height, area.width, header ? layout->palette->ink : layout->palette->grid,
       header ? 0.9 : 0.5);
}

static void
draw_line(DemurLayout *layout, cairo_t *cr, const DemurLayoutAtom *atom) {
  PangoLayoutLine *line = pango_layout_get_line_readonly(atom->text, atom->line);
  const DemurLayoutStyle *style = &demur_layout_styles[atom->style];
  PangoRectangle logical;
  pango_layout_line_get_extents(line, NULL, &logical);
  const double ascent = demur_layout_units(-logical.y), height = demur_layout_units(logical.height),
               x = pango_layout_line_get_resolved_direction(line) == PANGO_DIRECTION_RTL
                       ? layout->area.x + layout->area.width - demur_layout_units(logical.width)
                       : layout->area.x;
  demur_chart_colour(cr, style->muted ? layout->palette->muted : layout->palette->ink, 1);
  show_line(cr, atom->text, line, x, atom->y + (atom->height - height) / 2 + ascent);
}

static void
draw_key_figures(DemurLayout *layout, cairo_t *cr, const DemurLayoutAtom *atom, gboolean tagged) {
  const double width =
      (layout->area.width - DEMUR_LAYOUT_KEY_GAP * (double)(atom->n - 1)) / (double)atom->n;
  for (size_t i = 0; i < atom->n; i++) {
    const double x = layout->area.x + (double)i * (width + DEMUR_LAYOUT_KEY_GAP);
    rule(cr, x, atom->y, width, layout->palette->ink, 1.4);
    begin_tag(cr, tagged, "P");
    demur_chart_colour(cr, layout->palette->ink, 1);
    const double room = fmax(20, demur_layout_text_height(atom->texts[2 * i]));
    show_text(cr, atom->texts[2 * i], x,
              atom->y + 6 + room - demur_layout_text_height(atom->texts[2 * i]));
    end_tag(cr, tagged, "P");
    begin_tag(cr, tagged, "P");
    demur_chart_colour(cr, layout->palette->muted, 1);
    show_text(cr, atom->texts[2 * i + 1], x, atom->y + 8.5 + room);
    end_tag(cr, tagged, "P");
  }
}

static void
draw_contents(DemurLayout *layout, cairo_t *cr, const DemurLayoutAtom *atom, gboolean tagged) {
  double x = layout->area.x, y = atom->y + 4;
  begin_tag(cr, tagged, "P");
  for (guint i = 0; i < layout->sections->len; i++) {
    const DemurLayoutSection *section = g_ptr_array_index(layout->sections, i);
    if (section->level != 1 || section->page <= atom->page)
      continue;
    g_autofree char *text = g_strdup_printf("%s\u00a0%zu", section->title, section->page + 1);
    PangoLayout *entry = demur_layout_new_text(layout, text, 8, PANGO_WEIGHT_NORMAL);
    const double width = demur_layout_text_width(entry);
    if (x > layout->area.x && x + width > layout->area.x + layout->area.width) {
      x = layout->area.x;
      y += 12;
    }
    if (tagged) {
      g_autofree char *attributes =
          g_strdup_printf("page=%zu pos=[0 %d]", section->page + 1, (int)fmax(section->y - 20, 0));
      g_ptr_array_add(layout->links,
                      g_strdup_printf("%s, page %zu", section->title, section->page + 1));
      cairo_tag_begin(cr, CAIRO_TAG_LINK, attributes);
    }
    demur_chart_colour(cr, layout->palette->series[DEMUR_SERIES_SELECTOR], 1);
    cairo_move_to(cr, x, y);
    pango_cairo_show_layout(cr, entry);
    end_tag(cr, tagged, CAIRO_TAG_LINK);
    g_object_unref(entry);
    x += width + 16;
  }
  end_tag(cr, tagged, "P");
}

static void
draw_page(DemurLayout *layout, cairo_t *cr, size_t page, gboolean tagged) {
  if (layout->frame)
    layout->frame(cr, page, layout->n_pages, layout->frame_data);
  gboolean in_paragraph = FALSE;
  const char *paragraph = NULL;
  const DemurLayoutTable *seen = NULL;
  for (guint i = 0; i < layout->atoms->len; i++) {
    DemurLayoutAtom *atom = g_ptr_array_index(layout->atoms, i);
    if (atom->page != page) {
      if (atom->page > page)
        break;
      continue;
    }
    cairo_save(cr);
    switch (atom->kind) {
    case DEMUR_LAYOUT_LINE:
      if (!in_paragraph) { /* the rest of a broken paragraph is a paragraph of its own */
        paragraph = demur_layout_styles[atom->style].tag;
        begin_tag(cr, tagged, paragraph);
        in_paragraph = TRUE;
      }
      draw_line(layout, cr, atom);
      if (atom->last) {
        end_tag(cr, tagged, paragraph);
        in_paragraph = FALSE;
      }
      break;
    case DEMUR_LAYOUT_ROW:
      if (atom->first)
        begin_tag(cr, tagged, "Table");
      else if (seen != atom->table) /* repeated for the eye, not for the reader's ear */
        draw_row(layout, cr, atom->table, atom->table->header, atom->y - atom->table->header_height,
                 atom->table->header_height, TRUE, FALSE);
      seen = atom->table;
      draw_row(layout, cr, atom->table, atom->is_header ? atom->table->header : atom->cells,
               atom->y, atom->height, atom->is_header, tagged);
      if (atom->last)
        end_tag(cr, tagged, "Table");
      break;
    case DEMUR_LAYOUT_FIGURES: {
      const double gap = 14,
                   width = (layout->area.width - gap * (double)(atom->n - 1)) / (double)atom->n;
      for (size_t k = 0; k < atom->n; k++) {
        const DemurRectangle rectangle = {layout->area.x + (double)k * (width + gap), atom->y,
                                          width, atom->height};
        begin_tag(cr, tagged, "Figure");
        atom->figures[k].draw(atom->figures[k].data, cr, layout->palette, rectangle);
        end_tag(cr, tagged, "Figure");
      }
      break;
    }
    case DEMUR_LAYOUT_KEY_FIGURES:
      draw_key_figures(layout, cr, atom, tagged);
      break;
    case DEMUR_LAYOUT_CONTENTS:
      draw_contents(layout, cr, atom, tagged);
      break;
    case DEMUR_LAYOUT_SPACE:
    case DEMUR_LAYOUT_BREAK:
      break;
    }
    cairo_restore(cr);
  }
  if (in_paragraph)
    end_tag(cr, tagged, paragraph);
}

void
demur_layout_draw(DemurLayout *layout, cairo_t *cr, size_t page) {
  g_return_if_fail(page < layout->n_pages);
  draw_page(layout, cr, page, FALSE);
}

void
demur_layout_draw_tagged(DemurLayout *layout, cairo_surface_t *surface) {
  cairo_t *cr = cairo_create(surface);
  cairo_tag_begin(cr, "Document", NULL);
  for (size_t page = 0; page < layout->n_pages; page++) {
    draw_page(layout, cr, page, TRUE);
    cairo_show_page(cr);
  }
  cairo_tag_end(cr, "Document");
  int parents[4] = {CAIRO_PDF_OUTLINE_ROOT, CAIRO_PDF_OUTLINE_ROOT, CAIRO_PDF_OUTLINE_ROOT,
                    CAIRO_PDF_OUTLINE_ROOT}; /* [level], of what stands above */
  for (guint i = 0; i < layout->sections->len; i++) {
    const DemurLayoutSection *section = g_ptr_array_index(layout->sections, i);
    g_autofree char *attributes =
        g_strdup_printf("page=%zu pos=[0 %d]", section->page + 1, (int)fmax(section->y - 20, 0));
    const int id = cairo_pdf_surface_add_outline(
        surface, parents[section->level - 1], section->title, attributes,
        section->level == 1 && !section->is_part ? CAIRO_PDF_OUTLINE_FLAG_OPEN : 0);
    for (int level = section->level; level < (int)G_N_ELEMENTS(parents); level++)
      parents[level] = id;
  }
  cairo_destroy(cr);
}
