/* Files that are dropped on the window or chosen in a dialog: looked at for what they are
 * (tasks/file-look.h), then imported as images, opened, or shown for a person to say which column
 * is which. */
#pragma once

#include "ui/session.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* paths: NULL-terminated, copied. Images among them are imported together; one table or selector a
 * time is asked for. FALSE where none is given. */
gboolean demur_incoming_take(GtkWindow *parent, DemurSession *session, const char *const *paths);

G_END_DECLS
