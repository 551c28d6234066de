#include "ui/resolve-window.h"

#include "ui/shown.h"
#include "ui/words.h"

struct _DemurResolveWindow {
  GtkWindow parent_instance;
  DemurSession *session;
  char *scan_id;
  GtkLabel *what;
  GtkCheckButton *keep, *both, *correct;
  GtkTextView *reason;
  GtkWidget *resolve;
};

G_DEFINE_FINAL_TYPE(DemurResolveWindow, demur_resolve_window, GTK_TYPE_WINDOW)

/* Nothing is chosen beforehand: a decision has to be one. */
static void
update(DemurResolveWindow *window) {
  g_autofree char *reason = demur_shown_written(window->reason);
  gtk_widget_set_sensitive(window->resolve,
                           *reason != '\0' && (gtk_check_button_get_active(window->keep) ||
                                               gtk_check_button_get_active(window->both) ||
                                               gtk_check_button_get_active(window->correct)));
}

static void
on_resolve(DemurResolveWindow *window) {
  g_autofree char *reason = demur_shown_written(window->reason);
  const DemurSessionDecision decision =
      gtk_check_button_get_active(window->keep)   ? DEMUR_SESSION_KEEP
      : gtk_check_button_get_active(window->both) ? DEMUR_SESSION_BOTH
                                                  : DEMUR_SESSION_CORRECT;
  demur_session_resolve(window->session, window->scan_id, decision, reason);
  gtk_window_close(GTK_WINDOW(window));
}

static void
demur_resolve_window_dispose(GObject *object) {
  DemurResolveWindow *window = DEMUR_RESOLVE_WINDOW(object);
  g_clear_object(&window->session);
  g_clear_pointer(&window->scan_id, g_free);
  G_OBJECT_CLASS(demur_resolve_window_parent_class)->dispose(object);
}

static void
demur_resolve_window_class_init(DemurResolveWindowClass *class) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);
  G_OBJECT_CLASS(class)->dispose = demur_resolve_window_dispose;
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/demur/workstation/ui/resolve-window.ui");
  gtk_widget_class_bind_template_child(widget_class, DemurResolveWindow, what);
  gtk_widget_class_bind_template_child(widget_class, DemurResolveWindow, keep);
  gtk_widget_class_bind_template_child(widget_class, DemurResolveWindow, both);
  gtk_widget_class_bind_template_child(widget_class, DemurResolveWindow, correct);
  gtk_widget_class_bind_template_child(widget_class, DemurResolveWindow, reason);
  gtk_widget_class_bind_template_child(widget_class, DemurResolveWindow, resolve);
  gtk_widget_class_bind_template_callback(widget_class, update);
  gtk_widget_class_bind_template_callback(widget_class, on_resolve);
  gtk_widget_class_bind_template_callback(widget_class, gtk_window_close);
  gtk_widget_class_add_binding_action(widget_class, GDK_KEY_Escape, 0, "window.close", NULL);
}

static void
demur_resolve_window_init(DemurResolveWindow *window) {
  gtk_widget_init_template(GTK_WIDGET(window));
  g_signal_connect_swapped(gtk_text_view_get_buffer(window->reason), "changed", G_CALLBACK(update),
                           window);
  update(window);
}

DemurResolveWindow *
demur_resolve_window_new(GtkWindow *parent, DemurSession *session, const DemurScan *scan) {
  DemurResolveWindow *window =
      g_object_new(DEMUR_TYPE_RESOLVE_WINDOW, "transient-for", parent, NULL);
  window->session = g_object_ref(session);
  window->scan_id = g_strdup(scan->scan_id);
  g_autofree char *text = g_strdup_printf(
      ngettext_(
          "The image of patient %s, scan of %s (%zu slice, %s), came with other content, in "
          "another series or under another person too. Nothing of it is assessed or shows a risk "
          "until you decide; the decision is kept with your name and the time.",
          "The images of patient %s, scan of %s (%zu slices, %s), came with other content, in another "
          "series or under another person too. Nothing of it is assessed or shows a risk until you "
          "decide; the decision is kept with your name and the time.",
          scan->n_slices),
      scan->patient_id, scan->date, scan->n_slices, scan->scan_id);
  demur_shown_label_set(window->what, text);
  return window;
}
