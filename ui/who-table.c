#include "ui/who-table.h"

#include <math.h>
#include <string.h>

#include "base/limits.h"
#include "report/format.h"
#include "ui/shown.h"
#include "ui/words.h"

typedef struct {
  double rate, low, high, reference, end;
  gboolean apart;
} Whisker;

static void
draw_whisker(cairo_t *cr, const DemurPalette *palette, DemurRectangle r, gpointer data) {
  const Whisker *w = data;
  const double y = r.y + r.height / 2, end = fmax(w->end, 1e-6);
  const double x0 = r.x + 5, width = r.width - 10;
  demur_chart_colour(cr, palette->grid, 1);
  cairo_set_line_width(cr, 1);
  cairo_move_to(cr, x0, y);
  cairo_line_to(cr, x0 + width, y);
  cairo_stroke(cr);
  demur_chart_colour(cr, palette->muted, 1);
  const double reference = x0 + width * fmin(1, w->reference / end);
  cairo_rectangle(cr, reference - 0.75, y - 6, 1.5, 12);
  cairo_fill(cr);
  if (isnan(w->rate))
    return;
  demur_chart_colour(cr, palette->ink, 0.9);
  cairo_set_line_width(cr, 1.5);
  cairo_move_to(cr, x0 + width * fmin(1, w->low / end), y);
  cairo_line_to(cr, x0 + width * fmin(1, w->high / end), y);
  cairo_stroke(cr);
  const double x = x0 + width * fmin(1, w->rate / end);
  demur_chart_colour(cr, w->apart ? palette->warning : palette->series[DEMUR_SERIES_SELECTOR], 1);
  if (w->apart) {
    cairo_move_to(cr, x, y - 5);
    cairo_line_to(cr, x + 5, y);
    cairo_line_to(cr, x, y + 5);
    cairo_line_to(cr, x - 5, y);
    cairo_close_path(cr);
  } else {
    cairo_arc(cr, x, y, 3.8, 0, 2 * G_PI);
  }
  cairo_fill(cr);
}

static const char *
group_title(const DemurGroupRejection *group) {
  static const char *const titles[DEMUR_N_COVERAGE_GROUPS] = {
      [DEMUR_COVERAGE_GROUP_SITE] = N_("Site"),
      [DEMUR_COVERAGE_GROUP_MANUFACTURER] = N_("Scanner"),
      [DEMUR_COVERAGE_GROUP_SEX] = N_("Sex"),
      [DEMUR_COVERAGE_GROUP_AGE] = N_("Age"),
      [DEMUR_COVERAGE_GROUP_KERNEL] = N_("Kernel"),
  };
  return _(titles[group->group]);
}

static const char *
value_title(const DemurGroupRejection *group) {
  return *group->value == '\0'                      ? _("not recorded")
         : group->group == DEMUR_COVERAGE_GROUP_AGE ? _(group->value)
                                                    : group->value;
}

/* A number of the row at line, with room for so many digits: measured once, not at every step of the
 * slider. */
static DemurTextCell *
number(DemurWhoTable *table, int column, int line, int n_digits) {
  GtkWidget *cell = demur_text_cell_new(1, FALSE);
  demur_text_cell_set_room(DEMUR_TEXT_CELL(cell), n_digits);
  gtk_grid_attach(table->grid, cell, column, line, 1, 1);
  return DEMUR_TEXT_CELL(cell);
}

static void
build(DemurWhoTable *table, const DemurShownPoint *now) {
  GtkWidget *child;
  while ((child = gtk_widget_get_first_child(GTK_WIDGET(table->grid))) != NULL)
    gtk_grid_remove(table->grid, child);
  static const char *const headers[] = {"", N_("Scans"), N_("Rejected"), "95 %", ""};
  for (guint c = 0; c < G_N_ELEMENTS(headers); c++) {
    GtkWidget *label = demur_shown_label_new(*headers[c] != '\0' ? _(headers[c]) : "");
    gtk_label_set_xalign(GTK_LABEL(label), c == 0 ? 0 : 1);
    gtk_widget_add_css_class(label, "heading");
    gtk_grid_attach(table->grid, label, (int)c, 0, 1, 1);
  }
  table->n_rows = (guint)MIN(now->n_groups, DEMUR_WHO_MOST);
  const DemurGroupRejection *last = NULL;
  int line = 1, room = 1; /* digits of the largest group */
  for (guint i = 0; i < table->n_rows; i++) {
    g_autofree char *n = demur_text_count(now->groups[i].n);
    room = MAX(room, (int)g_utf8_strlen(n, -1));
  }
  for (guint i = 0; i < table->n_rows; i++) {
    const DemurGroupRejection *group = &now->groups[i];
    if (last == NULL || last->group != group->group) {
      GtkWidget *heading = demur_shown_label_new(group_title(group));
      gtk_label_set_xalign(GTK_LABEL(heading), 0);
      gtk_widget_add_css_class(heading, "heading");
      gtk_widget_set_margin_top(heading, line > 1 ? 6 : 0);
      gtk_grid_attach(table->grid, heading, 0, line++, 5, 1);
      last = group;
    }
    GtkWidget *name = demur_shown_label_new(value_title(group));
    gtk_label_set_xalign(GTK_LABEL(name), 0);
    gtk_label_set_wrap(GTK_LABEL(name), TRUE);
    gtk_label_set_wrap_mode(GTK_LABEL(name), PANGO_WRAP_WORD_CHAR);
    gtk_label_set_width_chars(GTK_LABEL(name), 12);
    gtk_widget_set_hexpand(name, TRUE);
    gtk_grid_attach(table->grid, name, 0, line, 1, 1);
    table->row[i].name = GTK_LABEL(name);
    table->row[i].n = number(table, 1, line, room);
    table->row[i].rate = number(table, 2, line, 7);
    table->row[i].interval = number(table, 3, line, 7);
    gtk_widget_add_css_class(GTK_WIDGET(table->row[i].interval), "muted");
    table->row[i].drawing = demur_drawing_new(value_title(group), 70, 20);
    gtk_grid_attach(table->grid, GTK_WIDGET(table->row[i].drawing), 4, line, 1, 1);
    line++;
  }
}

void
demur_who_table_update(DemurWhoTable *table, const DemurShownPoint *now) {
  if (table->n_rows != MIN(now->n_groups, DEMUR_WHO_MOST))
    build(table, now);
  const double overall = 1 - now->realised;
  double end = fmax(0.05, overall * 2.5);
  for (guint i = 0; i < table->n_rows; i++)
    if (!now->groups[i].withheld)
      end = fmax(end, fmin(1, now->groups[i].high));
  for (guint i = 0; i < table->n_rows; i++) {
    const DemurGroupRejection *group = &now->groups[i];
    const gboolean withheld = group->withheld;
    demur_text_cell_set(table->row[i].n,
                        withheld ? g_strdup(DEMUR_TEXT_UNDEFINED) : demur_text_count(group->n));
    demur_text_cell_set(table->row[i].rate, withheld ? g_strdup(DEMUR_TEXT_UNDEFINED)
                                                     : demur_text_percent(group->rate, 1));
    demur_text_cell_set(table->row[i].interval,
                        withheld
                            ? g_strdup("")
                            : g_strdup_printf("%.0f–%.0f", 100 * group->low, 100 * group->high));
    Whisker *whisker = g_new(Whisker, 1);
    *whisker = (Whisker){withheld ? NAN : group->rate,
                         group->low,
                         group->high,
                         overall,
                         end,
                         !withheld && (group->low > overall || group->high < overall)};
    demur_drawing_set(table->row[i].drawing, draw_whisker, NULL, whisker, g_free);
  }
  g_autofree char *share = demur_text_percent(overall, 1);
  g_autofree char *note = g_strdup_printf(
      _("Upright line: overall %s. ◆ the interval leaves it out. Groups under %d scans, "
        "and groups from which such could be had, are withheld."),
      share, DEMUR_SMALL_CELL);
  demur_shown_label_set(table->note, note);
}

void
demur_who_table_describe(DemurWhoTable *table) {
  for (guint i = 0; i < table->n_rows; i++) {
    g_autofree char *text = g_strdup_printf("%s: %s, %s", gtk_label_get_label(table->row[i].name),
                                            demur_text_cell_text(table->row[i].rate),
                                            demur_text_cell_text(table->row[i].interval));
    demur_drawing_describe(table->row[i].drawing, text);
  }
}
