/* Asking whether the last assessment is to be taken back: which one it is, what the scans have then,
 * and why. */
#pragma once

#include <gtk/gtk.h>

#include "tasks/assess-undo.h"
#include "ui/session.h"

G_BEGIN_DECLS

void demur_undo_assess_ask(GtkWindow *parent, DemurSession *session);

/* What would be taken back and what then stands, or why it can't be (owned). */
char *demur_undo_assess_words(const DemurLastAssessment *last);

G_END_DECLS
