#include "ui/chart-card.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "report/chart-export.h"
#include "report/chart-words.h"
#include "ui/drawing.h"
#include "ui/files.h"
#include "ui/shown.h"
#include "ui/theme.h"
#include "ui/words.h"

struct _DemurChartCard {
  GtkBox parent_instance;
  char *file_name, *caption;
  GtkLabel *title, *note;
  GtkBox *tools;
  GtkWidget *more;
  GtkStack *stack;
  DemurDrawing *drawing;
  GtkBox *rest; /* where the table goes */
  const DemurChartInterface *interface;
  gconstpointer data;
  DemurChartWrittenFunc written; /* NULL: what is shown is written */
  gpointer owner;                /* of it, and of the card */
  guint idle;
  cairo_surface_t *still; /* what draw_still drew, for this palette and size */
  const DemurPalette *still_palette;
  DemurRectangle still_rectangle;
};

G_DEFINE_FINAL_TYPE(DemurChartCard, demur_chart_card, GTK_TYPE_BOX)

static void
demur_chart_card_dispose(GObject *object) {
  DemurChartCard *card = DEMUR_CHART_CARD(object);
  g_clear_handle_id(&card->idle, g_source_remove);
  G_OBJECT_CLASS(demur_chart_card_parent_class)->dispose(object);
}

static void
demur_chart_card_finalize(GObject *object) {
  DemurChartCard *card = DEMUR_CHART_CARD(object);
  g_clear_pointer(&card->still, cairo_surface_destroy);
  g_free(card->file_name);
  g_free(card->caption);
  G_OBJECT_CLASS(demur_chart_card_parent_class)->finalize(object);
}

/* The still part as a picture at the screen's own density. */
static void
draw_kept(DemurChartCard *card, cairo_t *cr, const DemurPalette *palette,
          DemurRectangle rectangle) {
  /* Drawings grow with the reader's text (ui/drawing.h). */
  const double scale = gtk_widget_get_scale_factor(GTK_WIDGET(card)) *
                       fmax(1, demur_shown_text_scale(GTK_WIDGET(card)));
  if (card->still == NULL || card->still_palette != palette ||
      memcmp(&card->still_rectangle, &rectangle, sizeof rectangle) != 0) {
    g_clear_pointer(&card->still, cairo_surface_destroy);
    card->still_palette = palette;
    card->still_rectangle = rectangle;
    card->still =
        cairo_image_surface_create(CAIRO_FORMAT_ARGB32, (int)ceil(rectangle.width * scale),
                                   (int)ceil(rectangle.height * scale));
    cairo_surface_set_device_scale(card->still, scale, scale);
    cairo_t *picture = cairo_create(card->still);
    cairo_translate(picture, -rectangle.x, -rectangle.y);
    card->interface->draw_still(card->data, picture, palette, rectangle);
    cairo_destroy(picture);
  }
  cairo_set_source_surface(cr, card->still, rectangle.x, rectangle.y);
  cairo_paint(cr);
}

/* A chart's words in the reader's language. */
static const char *
translate(const char *text) {
  return *text != '\0' ? _(text) : text; /* "" is the catalogue's own head */
}

static void
draw(cairo_t *cr, const DemurPalette *palette, DemurRectangle rectangle, gpointer data) {
  DemurChartCard *card = data;
  if (card->data == NULL)
    return;
  demur_chart_words_use(translate);
  if (card->interface->draw_still == NULL) {
    card->interface->draw(card->data, cr, palette, rectangle);
  } else {
    draw_kept(card, cr, palette, rectangle);
    card->interface->draw_moving(card->data, cr, palette, rectangle);
  }
  demur_chart_words_use(NULL);
}

static DemurChartTable *
table_of(const DemurChartCard *card) {
  demur_chart_words_use(translate);
  DemurChartTable *table = card->interface->table(card->data);
  demur_chart_words_use(NULL);
  return table;
}

/* The row of the table that is drawn under the pointer. */
static char *
hover(DemurRectangle rectangle, double x, double y, gpointer data) {
  const DemurChartCard *card = data;
  if (card->data == NULL)
    return NULL;
  demur_chart_words_use(translate); /* what the words leave for the plot is where the marks are */
  const gssize hit = card->interface->hit != NULL
                         ? card->interface->hit(card->data, demur_theme_palette(), rectangle, x, y)
                         : -1;
  demur_chart_words_use(NULL);
  g_autoptr(DemurChartTable) table = hit >= 0 ? table_of(card) : NULL;
  if (table == NULL || (size_t)hit >= table->n_rows)
    return NULL;
  const size_t row = (size_t)hit;
  g_autoptr(GString) text = g_string_new(NULL);
  for (size_t c = 0; c < table->n_columns; c++)
    g_string_append_printf(text, "%s%s: %s", c > 0 ? "\n" : "", table->header[c],
                           table->cells[row * table->n_columns + c]);
  return g_string_free(g_steal_pointer(&text), FALSE);
}

static void
fill_table(DemurChartCard *card) {
  GtkWidget *child;
  while ((child = gtk_widget_get_first_child(GTK_WIDGET(card->rest))) != NULL)
    gtk_box_remove(card->rest, child);
  if (card->data == NULL)
    return;
  g_autoptr(DemurChartTable) table = table_of(card);
  if (table == NULL)
    return;
  GtkGrid *grid = GTK_GRID(gtk_grid_new());
  for (size_t c = 0; c < table->n_columns; c++) {
    GtkWidget *label = demur_shown_label_new(table->header[c]);
    gtk_widget_add_css_class(label, "table-cell");
    gtk_widget_add_css_class(label, "heading");
    gtk_label_set_xalign(GTK_LABEL(label), c == 0 ? 0 : 1);
    gtk_grid_attach(grid, label, (int)c, 0, 1, 1);
  }
  for (size_t r = 0; r < table->n_rows; r++)
    for (size_t c = 0; c < table->n_columns; c++) {
      GtkWidget *label = demur_shown_label_new(table->cells[r * table->n_columns + c]);
      gtk_widget_add_css_class(label, "table-cell");
      gtk_label_set_xalign(GTK_LABEL(label), c == 0 ? 0 : 1);
      gtk_grid_attach(grid, label, (int)c, (int)r + 1, 1, 1);
    }
  gtk_box_append(card->rest, GTK_WIDGET(grid));
}

static gboolean
shows_table(DemurChartCard *card) {
  return gtk_stack_get_visible_child(card->stack) != GTK_WIDGET(card->drawing);
}

static gboolean
on_idle(gpointer data) {
  DemurChartCard *card = data;
  card->idle = 0;
  if (card->data != NULL) {
    demur_chart_words_use(translate);
    g_autofree char *text = card->interface->describe(card->data);
    demur_chart_words_use(NULL);
    demur_drawing_describe(card->drawing, text);
  }
  if (shows_table(card))
    fill_table(card);
  return G_SOURCE_REMOVE;
}

void
demur_chart_card_update(DemurChartCard *card, const DemurChartInterface *interface,
                        gconstpointer data, const char *caption) {
  card->interface = interface;
  card->data = data;
  if (g_strcmp0(caption, card->caption) != 0) {
    g_free(card->caption);
    card->caption = g_strdup(caption);
  }
  gtk_widget_queue_draw(GTK_WIDGET(card->drawing));
  if (card->idle == 0)
    card->idle = g_idle_add_full(G_PRIORITY_LOW, on_idle, card, NULL);
}

void
demur_chart_card_changed(DemurChartCard *card) {
  g_clear_pointer(&card->still, cairo_surface_destroy);
}

void
demur_chart_card_show_table(DemurChartCard *card, gboolean table) {
  gtk_stack_set_visible_child_name(card->stack, table ? "table" : "chart");
  if (table)
    fill_table(card);
}

void
demur_chart_card_set_written(DemurChartCard *card, DemurChartWrittenFunc func, gpointer owner) {
  card->written = func;
  card->owner = owner;
}

/* What is written now. */
static gboolean
find_written(DemurChartCard *card, DemurChartWritten *written, GError **error) {
  if (card->data != NULL && card->written != NULL)
    return card->written(card, card->owner, written, error);
  written->data = card->data;
  written->heading = g_strdup(gtk_label_get_label(card->title));
  written->caption = g_strdup(card->caption);
  return TRUE;
}

static void
written_clear(DemurChartWritten *written) {
  g_free(written->heading);
  g_free(written->caption);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurChartWritten, written_clear)

gboolean
demur_chart_card_export(DemurChartCard *card, const char *path, GError **error) {
  if (card->data == NULL) {
    demur_error_set(error, DEMUR_ERROR_STATE, "%s", _("There is no chart yet."));
    return FALSE;
  }
  if (!demur_chart_export_check(path, NULL)) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    _("Give the file one of the endings .svg, .png, .pdf or .csv, not %s."), path);
    return FALSE;
  }
  g_auto(DemurChartWritten) written = {0};
  if (!find_written(card, &written, error))
    return FALSE;
  const DemurChartPicture picture = {.interface = card->interface,
                                     .data = written.data,
                                     .name = written.heading,
                                     .heading = written.heading,
                                     .caption = written.caption};
  demur_chart_words_use(translate);
  const gboolean done = demur_chart_export(&picture, path, error);
  demur_chart_words_use(NULL);
  return done;
}

static void
on_chosen(const char *const *paths, gpointer data) {
  DemurChartCard *card = data;
  g_autoptr(GError) error = NULL;
  if (paths != NULL && !demur_chart_card_export(card, paths[0], &error)) {
    g_autofree char *why = demur_words_error(error);
    gtk_widget_activate_action(GTK_WIDGET(card), "win.notice", "s", why);
  }
  g_object_unref(card);
}

static void
on_export(GtkWidget *widget, const char *action, GVariant *value) {
  DemurChartCard *card = DEMUR_CHART_CARD(widget);
  GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(card));
  g_autoptr(GError) error = NULL;
  g_auto(DemurChartWritten) written = {0};
  if (!find_written(card, &written, &error)) {
    g_autofree char *why = demur_words_error(error);
    gtk_widget_activate_action(widget, "win.notice", "s", why);
    return;
  }
  g_autofree char *name =
      g_strdup_printf("%s.%s", card->file_name, g_variant_get_string(value, NULL));
  g_autofree char *title = card->written != NULL
                               ? g_strdup_printf(_("Export the chart: %s"), written.heading)
                               : g_strdup(_("Export the chart"));
  demur_files_choose(GTK_WINDOW(root), DEMUR_CHOOSE_SAVE, title, name, on_chosen,
                     g_object_ref(card));
}

static void
on_table(GtkWidget *widget, const char *action, GVariant *value) {
  DemurChartCard *card = DEMUR_CHART_CARD(widget);
  demur_chart_card_show_table(card, !shows_table(card));
}

static void
demur_chart_card_class_init(DemurChartCardClass *class) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);
  G_OBJECT_CLASS(class)->dispose = demur_chart_card_dispose;
  G_OBJECT_CLASS(class)->finalize = demur_chart_card_finalize;
  g_type_ensure(DEMUR_TYPE_DRAWING);
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/demur/workstation/ui/chart-card.ui");
  gtk_widget_class_bind_template_child(widget_class, DemurChartCard, title);
  gtk_widget_class_bind_template_child(widget_class, DemurChartCard, tools);
  gtk_widget_class_bind_template_child(widget_class, DemurChartCard, more);
  gtk_widget_class_bind_template_child(widget_class, DemurChartCard, stack);
  gtk_widget_class_bind_template_child(widget_class, DemurChartCard, drawing);
  gtk_widget_class_bind_template_child(widget_class, DemurChartCard, rest);
  gtk_widget_class_bind_template_child(widget_class, DemurChartCard, note);
  gtk_widget_class_install_action(widget_class, "chart.export", "s", on_export);
  gtk_widget_class_install_action(widget_class, "chart.table", NULL, on_table);
}

static void
demur_chart_card_init(DemurChartCard *card) {
  gtk_widget_init_template(GTK_WIDGET(card));
}

DemurChartCard *
demur_chart_card_new(const char *title, const char *file_name) {
  DemurChartCard *card = g_object_new(DEMUR_TYPE_CHART_CARD, NULL);
  card->file_name = g_strdup(file_name);
  demur_shown_label_set(card->title, title);
  g_autofree char *name = g_strdup_printf(_("Table and export of %s"), title);
  demur_shown_name_set(card->more, name);
  demur_drawing_name(card->drawing, title, 220, 120);
  demur_drawing_set(card->drawing, draw, hover, card, NULL);
  return card;
}

void
demur_chart_card_set_title(DemurChartCard *card, const char *title) {
  demur_shown_label_set(card->title, title);
}

void
demur_chart_card_set_note(DemurChartCard *card, const char *note) {
  demur_shown_label_set(card->note, note);
  demur_shown_tooltip_set(GTK_WIDGET(card->note), note);
  gtk_widget_set_visible(GTK_WIDGET(card->note), TRUE);
}

void
demur_chart_card_add_tool(DemurChartCard *card, GtkWidget *tool) {
  gtk_box_append(card->tools, tool);
}
