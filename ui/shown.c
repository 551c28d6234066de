#include "ui/shown.h"

#include <string.h>

#include "base/shown-text.h"

/* No line ends between the two bytes at begin and end. */
static void
keep_together(PangoAttrList **whole, size_t begin, size_t end) {
  PangoAttribute *attribute = pango_attr_allow_breaks_new(FALSE);
  attribute->start_index = (guint)begin;
  attribute->end_index = (guint)end;
  if (*whole == NULL)
    *whole = pango_attr_list_new();
  pango_attr_list_insert(*whole, attribute);
}

PangoAttrList *
demur_shown_breaks(const char *text) {
  static const char *const units[] = {"%", "mm"};
  PangoAttrList *whole = NULL;
  for (const char *at = text; (at = strchr(at, '.')) != NULL; at++)
    if (g_ascii_isdigit(at[1]))
      keep_together(&whole, (size_t)(at - text),
                    (size_t)(at - text) + 1 + strspn(at + 1, "0123456789"));
  for (const char *at = text; (at = strchr(at, ' ')) != NULL; at++)
    for (guint u = 0; u < G_N_ELEMENTS(units); u++)
      if (at > text && g_ascii_isdigit(at[-1]) && g_str_has_prefix(at + 1, units[u]))
        keep_together(&whole, (size_t)(at - text) - 1, (size_t)(at - text) + 2);
  return whole;
}

static void
keep_numbers_whole(GtkLabel *label, const char *text) {
  g_autoptr(PangoAttrList) whole = demur_shown_breaks(text);
  gtk_label_set_attributes(label, whole);
}

GtkWidget *
demur_shown_label_new(const char *text) {
  g_autofree char *safe = demur_shown_lines(text);
  GtkWidget *label = gtk_label_new(safe);
  if (safe != NULL)
    keep_numbers_whole(GTK_LABEL(label), safe);
  return label;
}

void
demur_shown_label_set(GtkLabel *label, const char *text) {
  g_autofree char *safe = demur_shown_lines(text);
  /* GTK measures a label anew, and all around it, whenever it is told its text. */
  if (g_strcmp0(gtk_label_get_label(label), safe != NULL ? safe : "") == 0)
    return;
  gtk_label_set_label(label, safe != NULL ? safe : "");
  keep_numbers_whole(label, safe != NULL ? safe : "");
}

static GtkSizeRequestMode
steady_mode(GtkWidget *label) {
  return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

static void
steady_measure(GtkWidget *label, GtkOrientation orientation, int for_size, int *minimum,
               int *natural, int *minimum_baseline, int *natural_baseline) {
  GTK_WIDGET_GET_CLASS(label)->measure(label, orientation,
                                       orientation == GTK_ORIENTATION_HORIZONTAL ? -1 : for_size,
                                       minimum, natural, minimum_baseline, natural_baseline);
}

static void
steady_allocate(GtkWidget *label, int width, int height, int baseline) {
  GTK_WIDGET_GET_CLASS(label)->size_allocate(label, width, height, baseline);
}

void
demur_shown_label_steady(GtkLabel *label) {
  gtk_widget_set_layout_manager(
      GTK_WIDGET(label), gtk_custom_layout_new(steady_mode, steady_measure, steady_allocate));
}

void
demur_shown_tooltip_set(GtkWidget *widget, const char *text) {
  g_autofree char *safe = demur_shown_lines(text);
  /* GTK asks the display where the pointer is, and waits, even where the text is as it was. */
  if (g_strcmp0(gtk_widget_get_tooltip_text(widget), safe) != 0)
    gtk_widget_set_tooltip_text(widget, safe);
}

void
demur_shown_tooltip_text(GtkTooltip *tooltip, const char *text) {
  g_autofree char *safe = demur_shown_lines(text);
  gtk_tooltip_set_text(tooltip, safe);
}

PangoLayout *
demur_shown_layout(GtkWidget *widget, const char *text) {
  g_autofree char *safe = demur_shown_lines(text);
  PangoLayout *layout = gtk_widget_create_pango_layout(widget, safe);
  g_autoptr(PangoAttrList) whole = safe != NULL ? demur_shown_breaks(safe) : NULL;
  pango_layout_set_attributes(layout, whole);
  return layout;
}

void
demur_shown_name_set(GtkWidget *widget, const char *name) {
  g_autofree char *safe = demur_shown_text(name);
  gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, safe, -1);
  GtkWidget *button = GTK_IS_DROP_DOWN(widget) ? gtk_widget_get_first_child(widget) : NULL;
  if (button != NULL)
    gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL, safe, -1);
}

void
demur_shown_description_set(GtkWidget *widget, const char *description) {
  g_autofree char *safe = demur_shown_lines(description);
  gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, safe,
                                 -1);
}

/* The button of a drop-down and what it shows; labels speak for themselves. */
static void
name_parts(GtkWidget *widget, GtkWidget *menu) {
  if (widget == NULL || GTK_IS_LABEL(widget))
    return;
  gtk_accessible_update_relation(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_RELATION_LABELLED_BY, menu,
                                 NULL, -1);
  for (GtkWidget *child = gtk_widget_get_first_child(widget); child != NULL;
       child = gtk_widget_get_next_sibling(child))
    name_parts(child, menu);
}

/* The chosen text, as what a screen reader says behind the name. */
static void
say_value(GtkDropDown *menu) {
  GObject *item = gtk_drop_down_get_selected_item(menu);
  const char *value =
      GTK_IS_STRING_OBJECT(item) ? gtk_string_object_get_string(GTK_STRING_OBJECT(item)) : "";
  demur_shown_description_set(GTK_WIDGET(menu), value);
  GtkWidget *button = gtk_widget_get_first_child(GTK_WIDGET(menu));
  if (button != NULL)
    demur_shown_description_set(button, value);
}

#define SAYS_VALUE "says-its-value"

void
demur_shown_name_menus(GtkWidget *root) {
  for (GtkWidget *child = gtk_widget_get_first_child(root); child != NULL;
       child = gtk_widget_get_next_sibling(child)) {
    if (GTK_IS_DROP_DOWN(child)) {
      name_parts(gtk_widget_get_first_child(child), child);
      if (g_object_get_data(G_OBJECT(child), SAYS_VALUE) == NULL)
        g_signal_connect(child, "notify::selected-item", G_CALLBACK(say_value), NULL);
      g_object_set_data(G_OBJECT(child), SAYS_VALUE, child);
      say_value(GTK_DROP_DOWN(child));
    } else
      demur_shown_name_menus(child);
  }
}

char *
demur_shown_written(GtkTextView *view) {
  GtkTextBuffer *buffer = gtk_text_view_get_buffer(view);
  GtkTextIter start, end;
  gtk_text_buffer_get_bounds(buffer, &start, &end);
  return g_strstrip(gtk_text_buffer_get_text(buffer, &start, &end, FALSE));
}

double
demur_shown_text_scale(GtkWidget *widget) {
  const PangoFontDescription *font =
      pango_context_get_font_description(gtk_widget_get_pango_context(widget));
  const double size = pango_font_description_get_size(font) / (double)PANGO_SCALE;
  const double pixels = pango_font_description_get_size_is_absolute(font) ? size : size * 96 / 72;
  return pixels > 0 ? CLAMP(pixels / 13, 0.5, 3) : 1;
}
