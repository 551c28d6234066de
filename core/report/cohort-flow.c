/* From top to bottom: what was left out, what was noticed in its table, the cohort, a row of splits, what was accepted and refused
 * of the evaluated one. Boxes of a row share the width; the evaluated split stands last, so that
 * its arrow goes straight down. */
#include "report/cohort-flow.h"

#include "report/format.h"

#include <math.h>

/* In units of the font size. */
#define TITLE 1.8
#define LINE 1.4
#define PAD 0.7
#define ARROW 1.9
#define GAP 1.2
#define LEAST_BOX 20.5
#define LEAST_NARROW_BOX 11.4
#define MOST_REASONS 8
#define REASON_LETTERS 66 /* a line of a list's box */

static double
box_height(const DemurPalette *palette) {
  return palette->font_size * (2 * LINE + 2 * PAD);
}

/* A split's box, where they stand so close that its counts need a line each. */
static double
narrow_height(const DemurPalette *palette) {
  return palette->font_size * (4 * LINE + 2 * PAD);
}

/* How the splits stand: in one row of wide or narrow boxes, else in rows that hang from one trunk.
 */
typedef struct {
  size_t per_row, n_rows;
  gboolean narrow;
  double box;  /* height */
  double left; /* room for the trunk */
} Splits;

static Splits
arrange(const DemurCohortFlow *chart, const DemurPalette *palette, double width) {
  const double size = palette->font_size, gap = GAP * size;
  Splits splits = {.box = box_height(palette)};
  for (int narrow = 0; narrow < 2; narrow++) {
    const double least = size * (narrow ? LEAST_NARROW_BOX : LEAST_BOX);
    splits.per_row = (size_t)fmax(1, floor((width + gap) / (least + gap)));
    splits.narrow = narrow;
    if (splits.per_row >= chart->n_splits)
      break;
  }
  if (splits.narrow)
    splits.box = narrow_height(palette);
  splits.n_rows = (chart->n_splits + splits.per_row - 1) / splits.per_row;
  splits.left = splits.n_rows > 1 ? gap : 0;
  return splits;
}

/* A dashed box of reasons, or of what was noticed, above the cohort's. */
typedef struct {
  const char *title, *others; /* others: what the rest is called */
  size_t n;
  const DemurFlowReason *reasons;
} List;

#define N_LISTS 2

static List
list_of(const DemurCohortFlow *chart, int which) {
  return which == 0 ? (List){"Left out before the cohort was made", "other reasons",
                             chart->n_left_out, chart->left_out}
                    : (List){"Noticed while the cohort's table was read", "other things",
                             chart->n_noticed, chart->noticed};
}

/* The lines of a reason that is longer than its box is wide, cut between words (g_strfreev). */
static GStrv
reason_lines(const char *reason) {
  g_auto(GStrv) words = g_strsplit(reason, " ", -1);
  GPtrArray *lines = g_ptr_array_new();
  GString *line = g_string_new(words[0]);
  for (size_t i = 1; words[0] != NULL && words[i] != NULL; i++) {
    if (g_utf8_strlen(line->str, -1) + 1 + g_utf8_strlen(words[i], -1) > REASON_LETTERS) {
      g_ptr_array_add(lines, g_string_free(line, FALSE));
      line = g_string_new(words[i]);
    } else {
      g_string_append_printf(line, " %s", words[i]);
    }
  }
  g_ptr_array_add(lines, g_string_free(line, FALSE));
  g_ptr_array_add(lines, NULL);
  return (GStrv)g_ptr_array_free(lines, FALSE);
}

static double
list_height(const List *list, const DemurPalette *palette) {
  size_t n_lines = list->n > MOST_REASONS ? 2 : 1;
  for (size_t i = 0; i < MIN(list->n, MOST_REASONS); i++) {
    g_auto(GStrv) lines = reason_lines(list->reasons[i].reason);
    n_lines += g_strv_length(lines);
  }
  return palette->font_size * (LINE * (double)n_lines + 2 * PAD);
}

static gboolean
has_decision(const DemurCohortFlow *chart) {
  return chart->n_accepted + chart->n_refused > 0;
}

static double
chart_height(gconstpointer data, const DemurPalette *palette, double width) {
  const DemurCohortFlow *chart = data;
  const double size = palette->font_size, box = box_height(palette);
  const Splits splits = arrange(chart, palette, width);
  double height = (chart->title ? TITLE * size : 0) + box + 2;
  for (int l = 0; l < N_LISTS; l++) {
    const List list = list_of(chart, l);
    height += list.n > 0 ? list_height(&list, palette) + ARROW * size : 0;
  }
  height += (double)splits.n_rows * (ARROW * size + splits.box);
  if (has_decision(chart))
    height += ARROW * size + box;
  return height;
}

/* between: what parts scans, patients and sites. */
static char *
counts_words(const DemurFlowBox *box, const char *between) {
  g_autofree char *scans = demur_text_counted(box->n_scans, "scan", "scans");
  if (box->n_patients == 0)
    return g_strdup(scans);
  g_autofree char *patients = demur_text_counted(box->n_patients, "patient", "patients");
  if (box->n_sites == 0)
    return g_strdup_printf("%s%s%s", scans, between, patients);
  g_autofree char *sites = demur_text_counted(box->n_sites, "site", "sites");
  return g_strdup_printf("%s%s%s%s%s", scans, between, patients, between, sites);
}

/* words: a line each. */
static void
draw_box(cairo_t *cr, const DemurPalette *palette, const char *label, const char *words,
         DemurRectangle r, gboolean strong) {
  const double size = palette->font_size;
  cairo_rectangle(cr, r.x, r.y, r.width, r.height);
  demur_chart_colour(cr, strong ? palette->series[DEMUR_SERIES_SELECTOR] : palette->muted, 1);
  cairo_set_line_width(cr, strong ? 1.4 : 0.7);
  cairo_stroke(cr);
  demur_chart_text(cr, palette, label, size, TRUE, palette->ink, r.x + r.width / 2,
                   r.y + PAD * size, 0.5, 0, r.width - size);
  g_auto(GStrv) lines = g_strsplit(words, "\n", -1);
  for (int i = 0; lines[i]; i++)
    demur_chart_text(cr, palette, lines[i], size * 0.94, FALSE, palette->muted, r.x + r.width / 2,
                     r.y + (PAD + LINE * (i + 1)) * size, 0.5, 0, r.width - size);
}

static void
draw_arrow(cairo_t *cr, const DemurPalette *palette, double x, double from, double to) {
  const double head = palette->font_size * 0.45;
  demur_chart_colour(cr, palette->muted, 1);
  cairo_set_line_width(cr, 0.8);
  cairo_move_to(cr, x, from + 1);
  cairo_line_to(cr, x, to - head);
  cairo_stroke(cr);
  cairo_move_to(cr, x, to - 0.5);
  cairo_line_to(cr, x - head * 0.7, to - head * 1.4);
  cairo_line_to(cr, x + head * 0.7, to - head * 1.4);
  cairo_close_path(cr);
  cairo_fill(cr);
}

/* Returns the lower edge. */
static double
draw_list(const List *list, cairo_t *cr, const DemurPalette *palette, DemurRectangle r, double y) {
  const double size = palette->font_size, height = list_height(list, palette),
               width = fmin(r.width, size * 44), left = r.x + (r.width - width) / 2;
  const double dash[] = {3, 2};
  cairo_rectangle(cr, left, y, width, height);
  demur_chart_colour(cr, palette->muted, 1);
  cairo_set_line_width(cr, 0.7);
  cairo_set_dash(cr, dash, 2, 0);
  cairo_stroke(cr);
  cairo_set_dash(cr, NULL, 0, 0);
  double line = y + PAD * size;
  demur_chart_text(cr, palette, list->title, size, TRUE, palette->ink, left + size, line, 0, 0,
                   width - 2 * size);
  for (size_t i = 0; i < MIN(list->n, MOST_REASONS); i++) {
    line += LINE * size;
    g_autofree char *n = demur_text_count(list->reasons[i].n);
    const double number = demur_chart_text(cr, palette, n, size * 0.94, FALSE, palette->ink,
                                           left + width - size, line, 1, 0, 0)
                              .width;
    g_auto(GStrv) lines = reason_lines(list->reasons[i].reason);
    for (size_t k = 0; lines[k] != NULL; k++) {
      line += k > 0 ? LINE * size : 0;
      demur_chart_text(cr, palette, lines[k], size * 0.94, FALSE, palette->muted,
                       left + (k > 0 ? 2 : 1) * size, line, 0, 0, width - 4 * size - number);
    }
  }
  if (list->n > MOST_REASONS) {
    size_t rest = 0;
    for (size_t i = MOST_REASONS; i < list->n; i++)
      rest += list->reasons[i].n;
    g_autofree char *n = demur_text_count(rest);
    g_autofree char *words = g_strdup_printf("%zu %s", list->n - MOST_REASONS, list->others);
    line += LINE * size;
    demur_chart_text(cr, palette, words, size * 0.94, FALSE, palette->muted, left + size, line, 0,
                     0, width / 2);
    demur_chart_text(cr, palette, n, size * 0.94, FALSE, palette->ink, left + width - size, line, 1,
                     0, 0);
  }
  return y + height;
}

/* The order in which splits are drawn: the evaluated one last. */
static size_t
split_at(const DemurCohortFlow *chart, size_t place) {
  if (chart->evaluated >= chart->n_splits || place < chart->evaluated)
    return place;
  return place + 1 == chart->n_splits ? chart->evaluated : place + 1;
}

/* Draws the splits below the cohort's box, each row below a bar that its arrows hang from; the bars
 * of several rows hang from a trunk at the left. Returns the lower edge; evaluated_x: the middle of
 * the evaluated split's box. */
static double
draw_splits(const DemurCohortFlow *chart, cairo_t *cr, const DemurPalette *palette,
            DemurRectangle r, double y, double *evaluated_x) {
  const double size = palette->font_size, gap = GAP * size, middle = r.x + r.width / 2;
  const Splits splits = arrange(chart, palette, r.width);
  double trunk_top = y;
  for (size_t first = 0; first < chart->n_splits; first += splits.per_row) {
    const size_t n = MIN(splits.per_row, chart->n_splits - first);
    const double width = fmin((r.width - splits.left - gap * (double)(n - 1)) / (double)n,
                              size * LEAST_BOX * 1.3),
                 left = middle + splits.left / 2 - (width * (double)n + gap * (double)(n - 1)) / 2,
                 last = left + (width + gap) * (double)(n - 1) + width / 2,
                 bar = y + ARROW * size * 0.4, trunk = r.x + splits.left / 2;
    demur_chart_colour(cr, palette->muted, 1);
    cairo_set_line_width(cr, 0.8);
    if (first == 0) {
      cairo_move_to(cr, middle, y);
      cairo_line_to(cr, middle, bar);
      cairo_move_to(cr, splits.n_rows > 1 ? trunk : fmin(left + width / 2, middle), bar);
      cairo_line_to(cr, fmax(last, middle), bar);
      trunk_top = bar;
    } else {
      cairo_move_to(cr, trunk, trunk_top);
      cairo_line_to(cr, trunk, bar);
      cairo_line_to(cr, last, bar);
      trunk_top = bar;
    }
    cairo_stroke(cr);
    for (size_t i = 0; i < n; i++)
      draw_arrow(cr, palette, left + (width + gap) * (double)i + width / 2, bar - 1,
                 y + ARROW * size);
    y += ARROW * size;
    for (size_t i = 0; i < n; i++) {
      const size_t s = split_at(chart, first + i);
      const DemurRectangle place = {left + (width + gap) * (double)i, y, width, splits.box};
      g_autofree char *words = counts_words(&chart->splits[s], splits.narrow ? "\n" : ", ");
      g_autofree char *label = s == chart->evaluated
                                   ? g_strdup_printf("%s (evaluated)", chart->splits[s].label)
                                   : g_strdup(chart->splits[s].label);
      draw_box(cr, palette, label, words, place, s == chart->evaluated);
      *evaluated_x = place.x + width / 2;
    }
    y += splits.box;
  }
  return y;
}

static void
chart_draw(gconstpointer data, cairo_t *cr, const DemurPalette *palette, DemurRectangle r) {
  const DemurCohortFlow *chart = data;
  const double size = palette->font_size, box = box_height(palette), gap = GAP * size,
               middle = r.x + r.width / 2;
  double y = r.y, arrow_x = middle;
  cairo_save(cr);
  cairo_set_dash(cr, NULL, 0, 0);
  if (chart->title) {
    demur_chart_text(cr, palette, chart->title, size * 1.1, TRUE, palette->ink, r.x, y, 0, 0,
                     r.width);
    y += TITLE * size;
  }
  y += 1;
  for (int l = 0; l < N_LISTS; l++) {
    const List list = list_of(chart, l);
    if (list.n == 0)
      continue;
    y = draw_list(&list, cr, palette, r, y);
    draw_arrow(cr, palette, middle, y, y + ARROW * size);
    y += ARROW * size;
  }
  const double whole = fmin(r.width, size * 40);
  g_autofree char *counts = counts_words(&chart->whole, ", ");
  draw_box(cr, palette, chart->whole.label, counts,
           (DemurRectangle){middle - whole / 2, y, whole, box}, FALSE);
  y += box;
  y = draw_splits(chart, cr, palette, r, y, &arrow_x);
  if (has_decision(chart)) {
    const double width = fmin((r.width - gap) / 2, size * LEAST_BOX * 1.3), both = 2 * width + gap;
    const double left = fmax(r.x, fmin(arrow_x - both / 2, r.x + r.width - both)),
                 bar = y + ARROW * size * 0.4;
    demur_chart_colour(cr, palette->muted, 1);
    cairo_set_line_width(cr, 0.8);
    cairo_move_to(cr, arrow_x, y);
    cairo_line_to(cr, arrow_x, bar);
    cairo_move_to(cr, fmin(left + width / 2, arrow_x), bar);
    cairo_line_to(cr, fmax(left + width + gap + width / 2, arrow_x), bar);
    cairo_stroke(cr);
    const size_t n[2] = {chart->n_accepted, chart->n_refused};
    for (int i = 0; i < 2; i++) {
      const DemurRectangle place = {left + (width + gap) * i, y + ARROW * size, width, box};
      g_autofree char *scans = demur_text_counted(n[i], "scan", "scans");
      g_autofree char *share = demur_text_percent((double)n[i] / (double)(n[0] + n[1]), 1);
      g_autofree char *words = g_strdup_printf("%s, %s", scans, share);
      draw_arrow(cr, palette, place.x + width / 2, bar - 1, place.y);
      draw_box(cr, palette, i ? "Refused" : chart->accepted_label, words, place, FALSE);
    }
  }
  cairo_restore(cr);
}

static void
add_row(DemurChartCells *cells, const char *step, const char *name, size_t n_scans,
        size_t n_patients, size_t n_sites) {
  demur_chart_cells_text(cells, step);
  demur_chart_cells_text(cells, name);
  demur_chart_cells_count(cells, n_scans);
  if (n_patients > 0)
    demur_chart_cells_count(cells, n_patients);
  else
    demur_chart_cells_text(cells, "");
  if (n_sites > 0)
    demur_chart_cells_count(cells, n_sites);
  else
    demur_chart_cells_text(cells, "");
}

static DemurChartTable *
chart_table(gconstpointer data) {
  const DemurCohortFlow *chart = data;
  static const char *const names[] = {"step", "name", "scans", "patients", "sites"};
  DemurChartCells cells = demur_chart_cells_new(names, G_N_ELEMENTS(names));
  for (size_t i = 0; i < chart->n_left_out; i++)
    add_row(&cells, "left out", chart->left_out[i].reason, chart->left_out[i].n, 0, 0);
  for (size_t i = 0; i < chart->n_noticed; i++)
    add_row(&cells, "noticed", chart->noticed[i].reason, chart->noticed[i].n, 0, 0);
  add_row(&cells, "cohort", chart->whole.label, chart->whole.n_scans, chart->whole.n_patients,
          chart->whole.n_sites);
  for (size_t s = 0; s < chart->n_splits; s++)
    add_row(&cells, s == chart->evaluated ? "split, evaluated" : "split", chart->splits[s].label,
            chart->splits[s].n_scans, chart->splits[s].n_patients, chart->splits[s].n_sites);
  if (has_decision(chart)) {
    add_row(&cells, "accepted", chart->accepted_label, chart->n_accepted, 0, 0);
    add_row(&cells, "refused", "Refused", chart->n_refused, 0, 0);
  }
  return demur_chart_cells_finish(&cells);
}

static char *
chart_describe(gconstpointer data) {
  const DemurCohortFlow *chart = data;
  GString *text = g_string_new(NULL);
  for (size_t i = 0; i < chart->n_left_out; i++) {
    g_autofree char *n = demur_text_count(chart->left_out[i].n);
    g_string_append_printf(text, "%s%s: %s", i ? "; " : "Left out before the cohort was made: ",
                           chart->left_out[i].reason, n);
  }
  g_string_append(text, chart->n_left_out > 0 ? ". " : "");
  for (size_t i = 0; i < chart->n_noticed; i++)
    g_string_append_printf(text, "%s%s", i ? "; " : "Noticed while the cohort's table was read: ",
                           chart->noticed[i].reason);
  g_string_append(text, chart->n_noticed > 0 ? ". " : "");
  g_autofree char *counts = counts_words(&chart->whole, ", ");
  g_string_append_printf(text, "%s: %s. Its splits:", chart->whole.label, counts);
  for (size_t s = 0; s < chart->n_splits; s++) {
    g_autofree char *words = counts_words(&chart->splits[s], ", ");
    g_string_append_printf(text, "%s %s%s, %s", s ? ";" : "", chart->splits[s].label,
                           s == chart->evaluated ? " (evaluated)" : "", words);
  }
  g_string_append_c(text, '.');
  if (has_decision(chart)) {
    g_autofree char *accepted = demur_text_counted(chart->n_accepted, "scan", "scans"),
                    *refused = demur_text_count(chart->n_refused);
    g_string_append_printf(text, " %s: %s; refused: %s.", chart->accepted_label, accepted, refused);
  }
  return g_string_free(text, FALSE);
}

const DemurChartInterface demur_cohort_flow_chart = {
    .draw = chart_draw,
    .table = chart_table,
    .describe = chart_describe,
    .height = chart_height,
};
