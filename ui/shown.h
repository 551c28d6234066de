/* Text in widgets. Names, identifiers and descriptions come from outside: every label, tooltip
 * and drawn text of the window is set here, where control and bidirectional characters become their
 * code points (base/shown-text.h). A test keeps it so. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* As gtk_label_new, gtk_label_set_label and gtk_widget_set_tooltip_text; lines stay lines. NULL: no
 * text. */
GtkWidget *demur_shown_label_new(const char *text);
void demur_shown_label_set(GtkLabel *label, const char *text);
void demur_shown_tooltip_set(GtkWidget *widget, const char *text);

/* A label that wraps and changes while one drags something: the width that it asks for is that of its
 * text, whatever its height. Else GTK tries a hundred widths, each with a layout of its own, at every
 * change to find the one that fits the height. */
void demur_shown_label_steady(GtkLabel *label);

/* Where no line may end: within a number such as .016, which Pango would end behind its point, and between
 * a number and its % or mm (owned; NULL: anywhere). */
PangoAttrList *demur_shown_breaks(const char *text);

/* As gtk_tooltip_set_text. */
void demur_shown_tooltip_text(GtkTooltip *tooltip, const char *text);

/* The name by which a screen reader calls the widget. Of a drop-down the button within it too,
 * which is what takes the focus in GTK 4.8. */
void demur_shown_name_set(GtkWidget *widget, const char *name);

/* What a screen reader says of the widget beside its name; lines stay lines. */
void demur_shown_description_set(GtkWidget *widget, const char *description);

/* Every drop-down below root: the button within it is called as the drop-down is, and described by
 * what is chosen, now and whenever that changes. */
void demur_shown_name_menus(GtkWidget *root);

/* What a reader wrote, without blanks at its ends (owned). */
char *demur_shown_written(GtkTextView *view);

/* The reader's text size over the usual one (13 pixels), 0.5 to 3. */
double demur_shown_text_scale(GtkWidget *widget);

/* As gtk_widget_create_pango_layout, for what is drawn. */
PangoLayout *demur_shown_layout(GtkWidget *widget, const char *text);

G_END_DECLS
