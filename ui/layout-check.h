/* Whether everything in a window can be read: walks what is shown and looks for labels that end
 * early or are larger than their place, for widgets that lie outside of the window and for those
 * that lie over one another. For tests (`demur-workstation --check-layout`). */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Sentences (owned char *), empty where nothing is wrong. A cell of a list may end early where a tooltip
 * with all of it will do (ui/text-cell.h). What is scrolled may lie outside. Texts on an image lie within
 * it, whole, and none over another but for what a person measured. */
GPtrArray *demur_layout_check(GtkWidget *window);

G_END_DECLS
