#include "ui/question-window.h"

#include "ui/shown.h"

struct _DemurQuestionWindow {
  GtkWindow parent_instance;
  GtkLabel *explanation;
  GtkTextView *text;
  GtkButton *accept;
  gboolean empty_allowed, answered;
  DemurTextGiven given;
  gpointer data;
};

G_DEFINE_FINAL_TYPE(DemurQuestionWindow, demur_question_window, GTK_TYPE_WINDOW)

static void
answer(DemurQuestionWindow *window, const char *text) {
  if (window->answered)
    return;
  window->answered = TRUE;
  window->given(text, window->data);
  gtk_window_destroy(GTK_WINDOW(window));
}

static void
on_accept(DemurQuestionWindow *window) {
  g_autofree char *text = demur_shown_written(window->text);
  if (*text != '\0' || window->empty_allowed)
    answer(window, text);
}

static gboolean
on_close(DemurQuestionWindow *window) {
  answer(window, NULL);
  return TRUE;
}

static void
on_changed(DemurQuestionWindow *window) {
  g_autofree char *text = demur_shown_written(window->text);
  gtk_widget_set_sensitive(GTK_WIDGET(window->accept), *text != '\0' || window->empty_allowed);
}

static gboolean
on_key(GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state,
       DemurQuestionWindow *window) {
  if (key == GDK_KEY_Escape) {
    answer(window, NULL);
    return TRUE;
  }
  if ((key == GDK_KEY_Return || key == GDK_KEY_KP_Enter) && (state & GDK_SHIFT_MASK) == 0) {
    on_accept(window);
    return TRUE;
  }
  return FALSE;
}

static void
demur_question_window_class_init(DemurQuestionWindowClass *class) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/demur/workstation/ui/question-window.ui");
  gtk_widget_class_bind_template_child(widget_class, DemurQuestionWindow, explanation);
  gtk_widget_class_bind_template_child(widget_class, DemurQuestionWindow, text);
  gtk_widget_class_bind_template_child(widget_class, DemurQuestionWindow, accept);
  gtk_widget_class_bind_template_callback(widget_class, on_accept);
  gtk_widget_class_bind_template_callback(widget_class, on_close);
  gtk_widget_class_bind_template_callback(widget_class, on_changed);
  gtk_widget_class_bind_template_callback(widget_class, on_key);
}

static void
demur_question_window_init(DemurQuestionWindow *window) {
  gtk_widget_init_template(GTK_WIDGET(window));
}

void
demur_question_ask(GtkWindow *parent, const char *title, const char *explanation,
                   const char *written, const char *accept, gboolean empty_allowed,
                   DemurTextGiven given, gpointer data) {
  DemurQuestionWindow *window =
      g_object_new(DEMUR_TYPE_QUESTION_WINDOW, "title", title, "transient-for", parent, NULL);
  window->empty_allowed = empty_allowed;
  window->given = given;
  window->data = data;
  demur_shown_label_set(window->explanation, explanation);
  demur_shown_name_set(GTK_WIDGET(window->text), title);
  gtk_button_set_label(window->accept, accept);
  if (written != NULL)
    gtk_text_buffer_set_text(gtk_text_view_get_buffer(GTK_TEXT_VIEW(window->text)), written, -1);
  on_changed(window);
  gtk_window_present(GTK_WINDOW(window));
  gtk_widget_grab_focus(GTK_WIDGET(window->text));
}
