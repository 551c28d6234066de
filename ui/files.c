#include "ui/files.h"

#include <string.h>

#include "ui/shown.h"
#include "ui/words.h"

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

/* Asking for words. */

typedef struct {
  GtkWindow *window;
  GtkTextView *text;
  GtkWidget *accept;
  gboolean empty_allowed, answered;
  DemurTextGiven given;
  gpointer data;
} Question;

static char *
question_text(Question *question) {
  GtkTextBuffer *buffer = gtk_text_view_get_buffer(question->text);
  GtkTextIter start, end;
  gtk_text_buffer_get_bounds(buffer, &start, &end);
  return g_strstrip(gtk_text_buffer_get_text(buffer, &start, &end, FALSE));
}

static void
answer(Question *question, const char *text) {
  if (question->answered)
    return;
  question->answered = TRUE;
  question->given(text, question->data);
  gtk_window_destroy(question->window);
}

static void
on_accept(Question *question) {
  g_autofree char *text = question_text(question);
  if (*text != '\0' || question->empty_allowed)
    answer(question, text);
}

static void
on_cancel(Question *question) {
  answer(question, NULL);
}

static gboolean
on_close(Question *question) {
  answer(question, NULL);
  return TRUE;
}

static void
on_changed(Question *question) {
  g_autofree char *text = question_text(question);
  gtk_widget_set_sensitive(question->accept, *text != '\0' || question->empty_allowed);
}

static gboolean
on_key(GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state,
       Question *question) {
  if (key == GDK_KEY_Escape) {
    answer(question, NULL);
    return TRUE;
  }
  if ((key == GDK_KEY_Return || key == GDK_KEY_KP_Enter) && (state & GDK_SHIFT_MASK) == 0) {
    on_accept(question);
    return TRUE;
  }
  return FALSE;
}

void
demur_files_ask(GtkWindow *parent, const char *title, const char *explanation, const char *accept,
                gboolean empty_allowed, DemurTextGiven given, gpointer data) {
  Question *question = g_new0(Question, 1);
  question->empty_allowed = empty_allowed;
  question->given = given;
  question->data = data;
  question->window = GTK_WINDOW(gtk_window_new());
  gtk_window_set_title(question->window, title);
  gtk_window_set_transient_for(question->window, parent);
  gtk_window_set_modal(question->window, TRUE);
  gtk_window_set_default_size(question->window, 460, -1);
  gtk_widget_add_css_class(GTK_WIDGET(question->window), "demur");
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12);
  gtk_widget_set_margin_top(box, 16);
  gtk_widget_set_margin_bottom(box, 16);
  gtk_widget_set_margin_start(box, 16);
  gtk_widget_set_margin_end(box, 16);
  GtkWidget *label = demur_shown_label_new(explanation);
  gtk_label_set_wrap(GTK_LABEL(label), TRUE);
  gtk_label_set_xalign(GTK_LABEL(label), 0);
  gtk_label_set_max_width_chars(GTK_LABEL(label), 60);
  gtk_box_append(GTK_BOX(box), label);
  question->text = GTK_TEXT_VIEW(gtk_text_view_new());
  gtk_text_view_set_wrap_mode(question->text, GTK_WRAP_WORD_CHAR);
  gtk_text_view_set_accepts_tab(question->text, FALSE);
  gtk_text_view_set_left_margin(question->text, 6);
  gtk_text_view_set_top_margin(question->text, 6);
  gtk_widget_add_css_class(GTK_WIDGET(question->text), "comment");
  demur_shown_name_set(GTK_WIDGET(question->text), title);
  GtkWidget *scroll = gtk_scrolled_window_new();
  gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroll), GTK_POLICY_NEVER,
                                 GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_propagate_natural_height(GTK_SCROLLED_WINDOW(scroll), TRUE);
  gtk_scrolled_window_set_min_content_height(GTK_SCROLLED_WINDOW(scroll), 84);
  gtk_scrolled_window_set_max_content_height(GTK_SCROLLED_WINDOW(scroll), 300);
  gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), GTK_WIDGET(question->text));
  gtk_box_append(GTK_BOX(box), scroll);
  GtkWidget *buttons = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
  gtk_widget_set_halign(buttons, GTK_ALIGN_END);
  GtkWidget *cancel = gtk_button_new_with_label(_("Cancel"));
  question->accept = gtk_button_new_with_label(accept);
  gtk_widget_add_css_class(question->accept, "primary");
  gtk_box_append(GTK_BOX(buttons), cancel);
  gtk_box_append(GTK_BOX(buttons), question->accept);
  gtk_box_append(GTK_BOX(box), buttons);
  gtk_window_set_child(question->window, box);
  g_signal_connect_swapped(cancel, "clicked", G_CALLBACK(on_cancel), question);
  g_signal_connect_swapped(question->accept, "clicked", G_CALLBACK(on_accept), question);
  g_signal_connect_swapped(question->window, "close-request", G_CALLBACK(on_close), question);
  g_signal_connect_swapped(gtk_text_view_get_buffer(question->text), "changed",
                           G_CALLBACK(on_changed), question);
  GtkEventController *keys = gtk_event_controller_key_new();
  gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE);
  g_signal_connect(keys, "key-pressed", G_CALLBACK(on_key), question);
  gtk_widget_add_controller(GTK_WIDGET(question->window), keys);
  g_object_set_data_full(G_OBJECT(question->window), "question", question, g_free);
  on_changed(question);
  gtk_window_present(question->window);
  gtk_widget_grab_focus(GTK_WIDGET(question->text));
}
