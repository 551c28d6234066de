#include "ui/keys-window.h"

#include "ui/shown.h"
#include "ui/window-actions.h"
#include "ui/words.h"

static GtkWidget *
new_label(const char *text, const char *style) {
  GtkWidget *label = demur_shown_label_new(text);
  gtk_label_set_xalign(GTK_LABEL(label), 0);
  gtk_label_set_yalign(GTK_LABEL(label), 0);
  gtk_label_set_wrap(GTK_LABEL(label), TRUE);
  if (style != NULL)
    gtk_widget_add_css_class(label, style);
  return label;
}

/* As the toolkit calls the keys in the reader's language (owned). */
static char *
keys_of(const DemurWindowAction *action) {
  g_auto(GStrv) keys = g_strsplit(action->keys, " ", -1);
  g_autoptr(GString) text = g_string_new(NULL);
  for (char **key = keys; *key != NULL; key++) {
    guint value;
    GdkModifierType modifiers;
    if (!gtk_accelerator_parse(*key, &value, &modifiers))
      continue;
    g_autofree char *label = gtk_accelerator_get_label(value, modifiers);
    g_string_append_printf(text, "%s%s", text->len > 0 ? "  " : "", label);
  }
  return g_string_free(g_steal_pointer(&text), FALSE);
}

static void
add_group(GtkBox *box, DemurActionGroup group) {
  gtk_box_append(box, new_label(_(demur_window_actions_group(group)), "heading"));
  GtkGrid *grid = GTK_GRID(gtk_grid_new());
  gtk_grid_set_column_spacing(grid, 16);
  gtk_grid_set_row_spacing(grid, 4);
  gtk_widget_set_margin_bottom(GTK_WIDGET(grid), 12);
  size_t n;
  const DemurWindowAction *actions = demur_window_actions(&n);
  int row = 0;
  for (size_t i = 0; i < n; i++) {
    if (actions[i].group != group || actions[i].keys == NULL || actions[i].title == NULL)
      continue;
    g_autofree char *keys = keys_of(&actions[i]);
    GtkWidget *key = new_label(keys, "strong");
    gtk_label_set_width_chars(GTK_LABEL(key), 16);
    gtk_label_set_max_width_chars(GTK_LABEL(key), 16);
    GtkWidget *does = new_label(_(actions[i].title), NULL);
    gtk_widget_set_hexpand(does, TRUE);
    gtk_grid_attach(grid, key, 0, row, 1, 1);
    gtk_grid_attach(grid, does, 1, row++, 1, 1);
  }
  gtk_box_append(box, GTK_WIDGET(grid));
}

GtkWindow *
demur_keys_window_new(void) {
  GtkWindow *window = GTK_WINDOW(gtk_window_new());
  gtk_window_set_title(window, _("Keys"));
  gtk_window_set_modal(window, TRUE);
  gtk_window_set_default_size(window, 620, 680);
  gtk_widget_add_css_class(GTK_WIDGET(window), "demur");
  GtkBox *box = GTK_BOX(gtk_box_new(GTK_ORIENTATION_VERTICAL, 6));
  gtk_widget_add_css_class(GTK_WIDGET(box), "dialog-box");
  for (int group = 0; group < DEMUR_N_ACTION_GROUPS; group++)
    add_group(box, (DemurActionGroup)group);
  GtkWidget *scrolled = gtk_scrolled_window_new();
  gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scrolled), GTK_POLICY_NEVER,
                                 GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), GTK_WIDGET(box));
  gtk_window_set_child(window, scrolled);
  GtkEventController *keys = gtk_shortcut_controller_new();
  gtk_shortcut_controller_add_shortcut(GTK_SHORTCUT_CONTROLLER(keys),
                                       gtk_shortcut_new(gtk_keyval_trigger_new(GDK_KEY_Escape, 0),
                                                        gtk_named_action_new("window.close")));
  gtk_widget_add_controller(GTK_WIDGET(window), keys);
  return window;
}
