#include "ui/window.h"

#include <math.h>
#include <string.h>

#include "report/format.h"
#include "ui/job.h"
#include "ui/theme.h"
#include "ui/worklist-page.h"

struct _DemurWindow {
  GtkApplicationWindow parent_instance;
  DemurSession *session;
  GtkStack *stack;
  GtkLabel *workspace;
  GtkSearchEntry *search;
  DemurWorklistPage *worklist;
  GtkWidget *busy_box;
  GtkBox *notice_box;
  GtkLabel *notice, *busy_label;
  GtkProgressBar *busy_bar;
  GtkLabel *status_model, *status_selector, *status_coverage, *status_count, *status_hint;
  GtkWidget *status_simulated;
};

G_DEFINE_FINAL_TYPE(DemurWindow, demur_window, GTK_TYPE_APPLICATION_WINDOW)

static const char *const page_names[] = {"worklist"};

static void
demur_window_dispose(GObject *object) {
  DemurWindow *window = DEMUR_WINDOW(object);
  g_clear_object(&window->session);
  G_OBJECT_CLASS(demur_window_parent_class)->dispose(object);
}

static void
demur_window_class_init(DemurWindowClass *class) {
  G_OBJECT_CLASS(class)->dispose = demur_window_dispose;
}

static void
demur_window_init(DemurWindow *window) {
}

/* The status line. */

static void
set_or_hide(GtkLabel *label, char *text) {
  gtk_label_set_label(label, text != NULL ? text : "");
  gtk_widget_set_visible(GTK_WIDGET(label), text != NULL);
  g_free(text);
}

static void
update_status(DemurWindow *window) {
  DemurScanTable *table = demur_session_table(window->session);
  gtk_widget_set_visible(window->status_simulated, table != NULL && table->simulated);
  if (table == NULL)
    return;
  const DemurInUse *in_use = &table->in_use;
  g_autofree char *digest = in_use->digest != NULL ? g_strndup(in_use->digest, 8) : NULL;
  g_autofree char *coverage = demur_text_coverage(in_use->coverage);
  g_autofree char *threshold = demur_text_significant(in_use->threshold, 3);
  set_or_hide(window->status_model,
              in_use->model != NULL ? g_strdup_printf(_("Model %s · 6-year risk"), in_use->model)
                                    : NULL);
  set_or_hide(window->status_selector,
              in_use->selector != NULL
                  ? g_strdup_printf(_("Selector %s · digest %s"), in_use->selector, digest)
                  : NULL);
  set_or_hide(window->status_coverage,
              in_use->selector == NULL ? NULL
              : isnan(in_use->threshold)
                  ? g_strdup(_("not tuned"))
                  : g_strdup_printf(_("Coverage %s · threshold %s"), coverage, threshold));
  size_t n_left = 0;
  for (size_t i = 0; i < table->n_scans; i++)
    n_left += table->reviews[i].n_reviews == 0;
  g_autofree char *scans = demur_text_count(table->n_scans);
  g_autofree char *left = demur_text_count(n_left);
  set_or_hide(window->status_count, g_strdup_printf(_("%s scans · %s not reviewed"), scans, left));
  g_autofree char *name = g_path_get_basename(table->path);
  gtk_label_set_label(window->workspace, name);
  gtk_widget_set_tooltip_text(GTK_WIDGET(window->workspace), table->path);
}

/* Notices and running work. */

static void
on_notice(DemurWindow *window, const char *text, gboolean is_error) {
  gtk_label_set_label(window->notice, text);
  if (is_error)
    gtk_widget_add_css_class(GTK_WIDGET(window->notice_box), "error");
  else
    gtk_widget_remove_css_class(GTK_WIDGET(window->notice_box), "error");
  gtk_widget_set_visible(GTK_WIDGET(window->notice_box), TRUE);
}

static void
close_notice(DemurWindow *window) {
  gtk_widget_set_visible(GTK_WIDGET(window->notice_box), FALSE);
}

static void
on_busy(DemurWindow *window) {
  double fraction;
  const char *title = demur_session_busy(window->session, &fraction);
  gtk_widget_set_visible(window->busy_box, title != NULL);
  if (title != NULL)
    gtk_label_set_label(window->busy_label, title);
  gtk_progress_bar_set_fraction(window->busy_bar, CLAMP(fraction, 0, 1));
}

static void
on_loaded(DemurWindow *window) {
  update_status(window);
}

static void
cancel_work(DemurWindow *window) {
  demur_session_cancel(window->session);
}

/* Pages. */

static void
update_page(DemurWindow *window) {
  const char *page = gtk_stack_get_visible_child_name(window->stack);
  g_action_change_state(g_action_map_lookup_action(G_ACTION_MAP(window), "page"),
                        g_variant_new_string(page));
  gtk_label_set_markup(window->status_hint,
                       g_strcmp0(page, "worklist") == 0
                           ? _("<b>N</b> next  <b>P</b> previous  <b>Enter</b> open")
                           : "");
}

gboolean
demur_window_show_page(DemurWindow *window, const char *page) {
  if (gtk_stack_get_child_by_name(window->stack, page) == NULL)
    return FALSE;
  gtk_stack_set_visible_child_name(window->stack, page);
  return TRUE;
}

const char *
demur_window_page(DemurWindow *window) {
  return gtk_stack_get_visible_child_name(window->stack);
}

gboolean
demur_window_is_settled(DemurWindow *window) {
  return demur_job_n_running() == 0;
}

/* Actions. */

static void
on_page_state(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  g_simple_action_set_state(action, value);
  if (g_strcmp0(demur_window_page(window), g_variant_get_string(value, NULL)) != 0)
    demur_window_show_page(window, g_variant_get_string(value, NULL));
}

static void
on_next(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_session_step(DEMUR_WINDOW(data)->session, 1);
}

static void
on_previous(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_session_step(DEMUR_WINDOW(data)->session, -1);
}

static void
on_search_action(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  demur_window_show_page(window, "worklist");
  gtk_widget_grab_focus(GTK_WIDGET(window->search));
  const char *text = g_variant_get_string(value, NULL);
  if (*text != '\0') {
    g_autofree char *all =
        g_strconcat(gtk_editable_get_text(GTK_EDITABLE(window->search)), text, NULL);
    gtk_editable_set_text(GTK_EDITABLE(window->search), all);
  }
  gtk_editable_set_position(GTK_EDITABLE(window->search), -1);
}

static void
on_show_action(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  demur_window_show_page(window, "worklist");
  demur_worklist_page_show(window->worklist, g_variant_get_string(value, NULL));
}

static void
on_close_notice(GSimpleAction *action, GVariant *value, gpointer data) {
  close_notice(data);
}

static void
on_cancel(GSimpleAction *action, GVariant *value, gpointer data) {
  cancel_work(data);
}

static void
on_reload(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_session_reload(DEMUR_WINDOW(data)->session);
}

static const GActionEntry actions[] = {
    {.name = "page", .parameter_type = "s", .state = "'worklist'", .change_state = on_page_state},
    {.name = "next", .activate = on_next},
    {.name = "previous", .activate = on_previous},
    {.name = "search", .activate = on_search_action, .parameter_type = "s"},
    {.name = "show", .activate = on_show_action, .parameter_type = "s"},
    {.name = "close-notice", .activate = on_close_notice},
    {.name = "cancel", .activate = on_cancel},
    {.name = "reload", .activate = on_reload},
};

static void
on_search_changed(GtkSearchEntry *entry, DemurWindow *window) {
  demur_window_show_page(window, "worklist");
  demur_worklist_page_set_text(window->worklist, gtk_editable_get_text(GTK_EDITABLE(entry)));
}

static void
on_search_stopped(GtkSearchEntry *entry, DemurWindow *window) {
  gtk_editable_set_text(GTK_EDITABLE(entry), "");
  demur_worklist_page_focus_list(window->worklist);
}

static void
on_search_activated(GtkSearchEntry *entry, DemurWindow *window) {
  demur_worklist_page_focus_list(window->worklist);
}

/* Building. */

static void
build_header(DemurWindow *window) {
  GtkWidget *bar = gtk_header_bar_new();
  GtkWidget *import = gtk_button_new_with_mnemonic(_("_Import…"));
  gtk_actionable_set_action_name(GTK_ACTIONABLE(import), "win.import-folder");
  gtk_header_bar_pack_start(GTK_HEADER_BAR(bar), import);
  window->workspace = GTK_LABEL(gtk_label_new(""));
  gtk_label_set_ellipsize(window->workspace, PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_max_width_chars(window->workspace, 30);
  gtk_widget_add_css_class(GTK_WIDGET(window->workspace), "workspace-name");
  gtk_header_bar_pack_start(GTK_HEADER_BAR(bar), GTK_WIDGET(window->workspace));

  GtkWidget *switcher = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 2);
  gtk_widget_add_css_class(switcher, "switcher");
  const char *titles[] = {_("Worklist"), _("Patient"), _("Cohort"), _("Report")};
  for (guint i = 0; i < G_N_ELEMENTS(page_names); i++) {
    GtkWidget *button = gtk_toggle_button_new_with_label(titles[i]);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(button), "win.page");
    gtk_actionable_set_action_target(GTK_ACTIONABLE(button), "s", page_names[i]);
    gtk_box_append(GTK_BOX(switcher), button);
  }
  gtk_header_bar_set_title_widget(GTK_HEADER_BAR(bar), switcher);

  GtkWidget *menu = gtk_menu_button_new();
  gtk_menu_button_set_icon_name(GTK_MENU_BUTTON(menu), "open-menu-symbolic");
  gtk_menu_button_set_primary(GTK_MENU_BUTTON(menu), TRUE);
  gtk_accessible_update_property(GTK_ACCESSIBLE(menu), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Menu"),
                                 -1);
  gtk_header_bar_pack_end(GTK_HEADER_BAR(bar), menu);
  window->search = GTK_SEARCH_ENTRY(gtk_search_entry_new());
  g_object_set(window->search, "placeholder-text", _("Search patient, site, scanner"), NULL);
  gtk_editable_set_width_chars(GTK_EDITABLE(window->search), 24);
  gtk_accessible_update_property(GTK_ACCESSIBLE(window->search), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                 _("Search patient, site, scanner"), -1);
  g_signal_connect(window->search, "search-changed", G_CALLBACK(on_search_changed), window);
  g_signal_connect(window->search, "stop-search", G_CALLBACK(on_search_stopped), window);
  g_signal_connect(window->search, "activate", G_CALLBACK(on_search_activated), window);
  gtk_header_bar_pack_end(GTK_HEADER_BAR(bar), GTK_WIDGET(window->search));
  gtk_window_set_titlebar(GTK_WINDOW(window), bar);
}

static GtkWidget *
build_notice(DemurWindow *window) {
  window->notice_box = GTK_BOX(gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12));
  gtk_widget_add_css_class(GTK_WIDGET(window->notice_box), "notice");
  window->notice = GTK_LABEL(g_object_new(GTK_TYPE_LABEL, "accessible-role",
                                          GTK_ACCESSIBLE_ROLE_STATUS, "xalign", 0.0, "wrap", TRUE,
                                          "hexpand", TRUE, "selectable", TRUE, NULL));
  gtk_widget_set_focusable(GTK_WIDGET(window->notice), FALSE);
  gtk_box_append(window->notice_box, GTK_WIDGET(window->notice));
  GtkWidget *close = gtk_button_new_with_label(_("Close"));
  gtk_widget_set_valign(close, GTK_ALIGN_CENTER);
  gtk_actionable_set_action_name(GTK_ACTIONABLE(close), "win.close-notice");
  gtk_box_append(window->notice_box, close);
  gtk_widget_set_visible(GTK_WIDGET(window->notice_box), FALSE);
  return GTK_WIDGET(window->notice_box);
}

static GtkWidget *
build_busy(DemurWindow *window) {
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
  gtk_widget_add_css_class(box, "busy");
  window->busy_label = GTK_LABEL(gtk_label_new(""));
  gtk_box_append(GTK_BOX(box), GTK_WIDGET(window->busy_label));
  window->busy_bar = GTK_PROGRESS_BAR(gtk_progress_bar_new());
  gtk_widget_set_hexpand(GTK_WIDGET(window->busy_bar), TRUE);
  gtk_widget_set_valign(GTK_WIDGET(window->busy_bar), GTK_ALIGN_CENTER);
  gtk_accessible_update_property(GTK_ACCESSIBLE(window->busy_bar), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                 _("Progress"), -1);
  gtk_box_append(GTK_BOX(box), GTK_WIDGET(window->busy_bar));
  GtkWidget *cancel = gtk_button_new_with_label(_("Cancel"));
  gtk_actionable_set_action_name(GTK_ACTIONABLE(cancel), "win.cancel");
  gtk_box_append(GTK_BOX(box), cancel);
  gtk_widget_set_visible(box, FALSE);
  window->busy_box = box;
  return box;
}

static GtkLabel *
add_status(GtkWidget *box, const char *style) {
  GtkWidget *label = gtk_label_new("");
  gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
  gtk_label_set_xalign(GTK_LABEL(label), 0);
  if (style != NULL)
    gtk_widget_add_css_class(label, style);
  gtk_box_append(GTK_BOX(box), label);
  return GTK_LABEL(label);
}

static GtkWidget *
build_status(DemurWindow *window) {
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 22);
  gtk_widget_add_css_class(box, "status");
  GtkLabel *research = add_status(box, "research");
  gtk_label_set_label(research, _("For research use, not a cleared device"));
  gtk_label_set_ellipsize(research, PANGO_ELLIPSIZE_NONE);
  GtkLabel *simulated = add_status(box, "simulated");
  gtk_label_set_label(simulated, _("holds simulated data"));
  gtk_label_set_ellipsize(simulated, PANGO_ELLIPSIZE_NONE);
  window->status_simulated = GTK_WIDGET(simulated);
  window->status_model = add_status(box, NULL);
  window->status_selector = add_status(box, NULL);
  window->status_coverage = add_status(box, NULL);
  GtkWidget *space = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
  gtk_widget_set_hexpand(space, TRUE);
  gtk_box_append(GTK_BOX(box), space);
  window->status_hint = add_status(box, NULL);
  gtk_label_set_ellipsize(window->status_hint, PANGO_ELLIPSIZE_NONE);
  window->status_count = add_status(box, NULL);
  return box;
}

DemurWindow *
demur_window_new(GtkApplication *application, DemurSession *session) {
  DemurWindow *window = g_object_new(DEMUR_TYPE_WINDOW, "application", application, "title",
                                     "Demur", "default-width", 1440, "default-height", 900, NULL);
  window->session = g_object_ref(session);
  gtk_widget_add_css_class(GTK_WIDGET(window), "demur");
  g_action_map_add_action_entries(G_ACTION_MAP(window), actions, G_N_ELEMENTS(actions), window);
  build_header(window);
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
  gtk_box_append(GTK_BOX(box), build_notice(window));
  gtk_box_append(GTK_BOX(box), build_busy(window));
  window->stack = GTK_STACK(gtk_stack_new());
  gtk_widget_set_vexpand(GTK_WIDGET(window->stack), TRUE);
  window->worklist = demur_worklist_page_new(session);
  gtk_stack_add_named(window->stack, GTK_WIDGET(window->worklist), "worklist");
  gtk_box_append(GTK_BOX(box), GTK_WIDGET(window->stack));
  gtk_box_append(GTK_BOX(box), build_status(window));
  gtk_window_set_child(GTK_WINDOW(window), box);
  g_signal_connect_swapped(window->stack, "notify::visible-child", G_CALLBACK(update_page), window);
  g_signal_connect_object(session, "notice", G_CALLBACK(on_notice), window, G_CONNECT_SWAPPED);
  g_signal_connect_object(session, "busy", G_CALLBACK(on_busy), window, G_CONNECT_SWAPPED);
  g_signal_connect_object(session, "loaded", G_CALLBACK(on_loaded), window, G_CONNECT_SWAPPED);
  g_signal_connect_object(session, "reviewed", G_CALLBACK(on_loaded), window, G_CONNECT_SWAPPED);
  update_page(window);
  update_status(window);
  return window;
}

gboolean
demur_window_save_png(DemurWindow *window, const char *path, GError **error) {
  const int width = gtk_widget_get_width(GTK_WIDGET(window));
  const int height = gtk_widget_get_height(GTK_WIDGET(window));
  g_autoptr(GdkPaintable) paintable = gtk_widget_paintable_new(GTK_WIDGET(window));
  GtkSnapshot *snapshot = gtk_snapshot_new();
  gdk_paintable_snapshot(paintable, snapshot, width, height);
  GskRenderNode *node = gtk_snapshot_free_to_node(snapshot);
  GskRenderer *renderer = gtk_native_get_renderer(GTK_NATIVE(window));
  if (node == NULL || renderer == NULL) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_STATE,
                        "the window has drawn nothing yet; a display is needed, for example "
                        "xvfb-run");
    return FALSE;
  }
  const graphene_rect_t bounds = GRAPHENE_RECT_INIT(0, 0, (float)width, (float)height);
  g_autoptr(GdkTexture) texture = gsk_renderer_render_texture(renderer, node, &bounds);
  gsk_render_node_unref(node);
  if (!gdk_texture_save_to_png(texture, path)) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                "%s can't be written; choose a folder that exists and can be written", path);
    return FALSE;
  }
  return TRUE;
}
