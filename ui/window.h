/* The window: header, the pages, notices, status line, and every action by name. */
#pragma once

#include <gtk/gtk.h>

#include "ui/page.h"
#include "ui/session.h"

G_BEGIN_DECLS

#define DEMUR_TYPE_WINDOW (demur_window_get_type())
G_DECLARE_FINAL_TYPE(DemurWindow, demur_window, DEMUR, WINDOW, GtkApplicationWindow)

DemurWindow *demur_window_new(GtkApplication *application, DemurSession *session);

void demur_window_show_page(DemurWindow *window, DemurPage page);
DemurPage demur_window_page(DemurWindow *window);

/* Whether everything that the page loads has arrived: for pictures and tests. */
gboolean demur_window_is_settled(DemurWindow *window);

/* Whether the worklist has patients' names. */
void demur_window_show_names(DemurWindow *window, gboolean show);

/* The window, or a dialog of it, as it looks, at its own size times scale. FALSE with error where
 * the file can't be written, DEMUR_ERROR_STATE where nothing is drawn yet. */
gboolean demur_window_save_png(GtkWindow *window, const char *path,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
