/* A table or a selector file before it is imported: what it is taken for, which column is which, its
 * first rows; and why it can't be imported yet. Nothing happens but by the button. */
#pragma once

#include "tasks/file-look.h"
#include "ui/session.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DEMUR_TYPE_IMPORT_WINDOW (demur_import_window_get_type())
G_DECLARE_FINAL_TYPE(DemurImportWindow, demur_import_window, DEMUR, IMPORT_WINDOW, GtkWindow)

/* look (taken over) is of the file at path. */
DemurImportWindow *demur_import_window_new(GtkWindow *parent, DemurSession *session,
                                           const char *path, DemurFileLook *look);

G_END_DECLS
