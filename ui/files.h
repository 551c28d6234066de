/* Choosing files, in the shape of GTK 4.10's dialogs, on what GTK 4.8 has. */
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

G_END_DECLS
