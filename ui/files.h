/* Choosing files and asking questions, in the shape of GTK 4.10's dialogs, on what GTK 4.8 has. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef enum {
  DEMUR_CHOOSE_FILE,
  DEMUR_CHOOSE_FILES,
  DEMUR_CHOOSE_FOLDER,
  DEMUR_CHOOSE_SAVE,
} DemurChoose;

/* paths: NULL-terminated, borrowed; NULL where nothing was chosen. */
typedef void (*DemurFilesChosen)(const char *const *paths, gpointer data);

/* name: what a saved file is called at first; NULL: nothing. */
void demur_files_choose(GtkWindow *parent, DemurChoose what, const char *title, const char *name,
                        DemurFilesChosen chosen, gpointer data);

/* Asks for a line or a few of words. text is borrowed; NULL where it was cancelled. Accepting is
 * possible only with words, unless empty_allowed. */
typedef void (*DemurTextGiven)(const char *text, gpointer data);
void demur_files_ask(GtkWindow *parent, const char *title, const char *explanation,
                     const char *accept, gboolean empty_allowed, DemurTextGiven given,
                     gpointer data);

G_END_DECLS
