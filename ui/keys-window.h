/* The list of keys, from the table of actions (ui/window-actions.h): a line each, one under the other,
 * so that it fits any window. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

GtkWindow *demur_keys_window_new(void);

G_END_DECLS
