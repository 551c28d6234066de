/* Taking a series, its study or everything of its patient out of the workspace: what would go and what
 * would stay is said before, with a reason, which is kept. */
#pragma once

#include <gtk/gtk.h>

#include "ui/session.h"

G_BEGIN_DECLS

#define DEMUR_TYPE_REMOVE_WINDOW (demur_remove_window_get_type())
G_DECLARE_FINAL_TYPE(DemurRemoveWindow, demur_remove_window, DEMUR, REMOVE_WINDOW, GtkWindow)

/* Of a DICOM series; what it holds is copied. */
DemurRemoveWindow *demur_remove_window_new(GtkWindow *parent, DemurSession *session,
                                           const DemurScan *scan);

G_END_DECLS
