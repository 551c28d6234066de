/* Asking for a line or a few of words, in the shape of GTK 4.10's dialogs. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DEMUR_TYPE_QUESTION_WINDOW (demur_question_window_get_type())
G_DECLARE_FINAL_TYPE(DemurQuestionWindow, demur_question_window, DEMUR, QUESTION_WINDOW, GtkWindow)

/* text is borrowed; NULL where it was cancelled. Called once. */
typedef void (*DemurTextGiven)(const char *text, gpointer data);

/* Asks; written stands in the field already (NULL: nothing). Accepting is possible only with words, unless empty_allowed. */
void demur_question_ask(GtkWindow *parent, const char *title, const char *explanation,
                        const char *written, const char *accept, gboolean empty_allowed,
                        DemurTextGiven given, gpointer data);

G_END_DECLS
