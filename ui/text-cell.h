/* A text in a cell of a long list, where a label costs too much: GTK keeps two hundred rows of
 * them, and lays out and measures every label anew when its text changes. This one is as high as
 * its font says, whatever the text, and is laid out only where it is drawn. What doesn't fit ends
 * in "…". */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DEMUR_TYPE_TEXT_CELL (demur_text_cell_get_type())
G_DECLARE_FINAL_TYPE(DemurTextCell, demur_text_cell, DEMUR, TEXT_CELL, GtkWidget)

/* most_lines: how many lines a text may have that is too long for one. Where it ends early a tooltip
 * has all of it; may_end: that will do (else demur_layout_check finds it). */
GtkWidget *demur_text_cell_new(int most_lines, gboolean may_end);

/* The text, taken over. It is the accessible name as well. */
void demur_text_cell_set(DemurTextCell *cell, char *text);
const char *demur_text_cell_text(DemurTextCell *cell); /* NULL before the first */
/* Whether it ended early when it was drawn last, and may. */
gboolean demur_text_cell_is_cut(DemurTextCell *cell);
gboolean demur_text_cell_may_end(DemurTextCell *cell);

/* Room for so many digits, whatever the text, which is set flush right in it: a number of a table that
 * changes while all around it stays where it is. */
void demur_text_cell_set_room(DemurTextCell *cell, int n_digits);

/* A bar behind the text, as long as fraction (0 to 1) of the room there; NaN: none. The text is
 * then set flush right in text_chars digits' room. It repeats what the text says, so a screen
 * reader hears nothing of it. */
void demur_text_cell_set_bar(DemurTextCell *cell, int text_chars, double fraction,
                             const GdkRGBA *colour);

G_END_DECLS
