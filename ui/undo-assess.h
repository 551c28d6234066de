/* Asking whether the last assessment is to be taken back: which one it is, what the scans have then,
 * and why. */
#pragma once

#include <gtk/gtk.h>

#include "ui/session.h"

G_BEGIN_DECLS

void demur_undo_assess_ask(GtkWindow *parent, DemurSession *session);

G_END_DECLS
