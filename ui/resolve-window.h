/* What a person decides where two series contradict each other: which images are right, that all are, or
 * that one is the archive's correction of the other; with a reason, which is kept. */
#pragma once

#include <gtk/gtk.h>

#include "ui/session.h"

G_BEGIN_DECLS

#define DEMUR_TYPE_RESOLVE_WINDOW (demur_resolve_window_get_type())
G_DECLARE_FINAL_TYPE(DemurResolveWindow, demur_resolve_window, DEMUR, RESOLVE_WINDOW, GtkWindow)

/* Of a scan that waits (DemurScan.waits); what it holds is copied. */
DemurResolveWindow *demur_resolve_window_new(GtkWindow *parent, DemurSession *session,
                                             const DemurScan *scan);

G_END_DECLS
