/* What a file manager is to the workstation: a small window from which the given files can be
 * dragged. It ends when they were dropped and taken (0) or refused (1).
 *
 *   drag-source FILE..                     */
#include <gtk/gtk.h>

static int status = -1;

static GdkContentProvider *
on_prepare(GtkDragSource *source, double x, double y, GSList *files) {
  GdkFileList *list = gdk_file_list_new_from_list(files);
  GdkContentProvider *provider = gdk_content_provider_new_typed(GDK_TYPE_FILE_LIST, list);
  g_boxed_free(GDK_TYPE_FILE_LIST, list);
  return provider;
}

static void
on_drag_end(GtkDragSource *source, GdkDrag *drag, gboolean delete_data) {
  status = 0;
}

static gboolean
on_drag_cancel(GtkDragSource *source, GdkDrag *drag, GdkDragCancelReason reason) {
  status = 1;
  return FALSE;
}

int
main(int argc, char **argv) {
  gtk_init();
  GSList *files = NULL;
  for (int i = argc - 1; i > 0; i--)
    files = g_slist_prepend(files, g_file_new_for_path(argv[i]));
  GtkWidget *window = gtk_window_new();
  gtk_window_set_title(GTK_WINDOW(window), "drag source");
  gtk_window_set_default_size(GTK_WINDOW(window), 160, 120);
  GtkWidget *label = gtk_label_new("drag me");
  gtk_window_set_child(GTK_WINDOW(window), label);
  GtkDragSource *source = gtk_drag_source_new();
  gtk_drag_source_set_actions(source, GDK_ACTION_COPY);
  g_signal_connect(source, "prepare", G_CALLBACK(on_prepare), files);
  g_signal_connect(source, "drag-end", G_CALLBACK(on_drag_end), NULL);
  g_signal_connect(source, "drag-cancel", G_CALLBACK(on_drag_cancel), NULL);
  gtk_widget_add_controller(label, GTK_EVENT_CONTROLLER(source));
  gtk_window_present(GTK_WINDOW(window));
  while (status < 0)
    g_main_context_iteration(NULL, TRUE);
  g_slist_free_full(files, g_object_unref);
  return status;
}
