#include "ui/files.h"

#include <string.h>

typedef struct {
  DemurFilesChosen chosen;
  gpointer data;
} Choice;

static void
on_response(GtkNativeDialog *dialog, int response, gpointer data) {
  Choice *choice = data;
  if (response == GTK_RESPONSE_ACCEPT) {
    g_autoptr(GListModel) files = gtk_file_chooser_get_files(GTK_FILE_CHOOSER(dialog));
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    for (guint i = 0; i < g_list_model_get_n_items(files); i++) {
      g_autoptr(GFile) file = g_list_model_get_item(files, i);
      g_autofree char *path = g_file_get_path(file);
      if (path != NULL)
        g_strv_builder_add(builder, path);
    }
    g_auto(GStrv) paths = g_strv_builder_end(builder);
    choice->chosen(paths[0] != NULL ? (const char *const *)paths : NULL, choice->data);
  } else {
    choice->chosen(NULL, choice->data);
  }
  g_free(choice);
  g_object_unref(dialog);
}

void
demur_files_choose(GtkWindow *parent, DemurChoose what, const char *title, const char *name,
                   DemurFilesChosen chosen, gpointer data) {
  static const GtkFileChooserAction chooser_actions[] = {
      GTK_FILE_CHOOSER_ACTION_OPEN, GTK_FILE_CHOOSER_ACTION_OPEN,
      GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER, GTK_FILE_CHOOSER_ACTION_SAVE};
  GtkFileChooserNative *dialog =
      gtk_file_chooser_native_new(title, parent, chooser_actions[what], NULL, NULL);
  gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(dialog), TRUE);
  if (what == DEMUR_CHOOSE_FILES)
    gtk_file_chooser_set_select_multiple(GTK_FILE_CHOOSER(dialog), TRUE);
  if (what == DEMUR_CHOOSE_SAVE && name != NULL)
    gtk_file_chooser_set_current_name(GTK_FILE_CHOOSER(dialog), name);
  Choice *choice = g_new(Choice, 1);
  *choice = (Choice){chosen, data};
  g_signal_connect(dialog, "response", G_CALLBACK(on_response), choice);
  gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}
