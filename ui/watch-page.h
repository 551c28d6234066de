/* What the watches over selectors in use see: one line a signal with its evidence over time, and the
 * alarms, which a person lifts here with a reason. */
#pragma once

#include <gtk/gtk.h>

#include "ui/session.h"

G_BEGIN_DECLS

#define DEMUR_TYPE_WATCH_PAGE (demur_watch_page_get_type())
G_DECLARE_FINAL_TYPE(DemurWatchPage, demur_watch_page, DEMUR, WATCH_PAGE, GtkBox)

DemurWatchPage *demur_watch_page_new(DemurSession *session);
/* Looks when it is shown, and again when the workspace has changed. */
void demur_watch_page_set_shown(DemurWatchPage *page, gboolean shown);

G_END_DECLS
