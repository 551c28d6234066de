/* Two groups of controls in a row, which stand one below the other where the window is narrow. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* start at the beginning of the line, end at its end. */
GtkWidget *demur_wrap_row_new(GtkWidget *start, GtkWidget *end);

G_END_DECLS
