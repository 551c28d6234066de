#include "ui/window.h"

#include <string.h>

#include "base/error.h"
#include "base/file-output.h"
#include "ui/job.h"
#include "ui/shown.h"
#include "ui/theme.h"
#include "ui/window-actions.h"
#include "ui/window-private.h"
#include "ui/words.h"
#include "ui/wrap-layout.h"

G_DEFINE_FINAL_TYPE(DemurWindow, demur_window, GTK_TYPE_APPLICATION_WINDOW)

static void
demur_window_dispose(GObject *object) {
  DemurWindow *window = DEMUR_WINDOW(object);
  g_clear_weak_pointer(&window->train);
  g_clear_object(&window->session);
  G_OBJECT_CLASS(demur_window_parent_class)->dispose(object);
}

/* Pages. */

static GtkWidget *
page_widget(DemurWindow *window, DemurPage page) {
  return gtk_stack_get_child_by_name(window->stack, demur_page_name(page));
}

static void
update_page(DemurWindow *window) {
  const DemurPage page = demur_window_page(window);
  g_action_change_state(g_action_map_lookup_action(G_ACTION_MAP(window), "page"),
                        g_variant_new_string(demur_page_name(page)));
  /* A screen reader hears of the page that is shown, not of the others. */
  for (guint i = 0; i < DEMUR_N_PAGES; i++)
    gtk_accessible_update_state(GTK_ACCESSIBLE(page_widget(window, (DemurPage)i)),
                                GTK_ACCESSIBLE_STATE_HIDDEN, page != (DemurPage)i, -1);
  demur_patient_page_set_shown(window->patient, page == DEMUR_PAGE_PATIENT);
  demur_cohort_page_set_shown(window->cohort, page == DEMUR_PAGE_COHORT);
  demur_report_page_set_shown(window->report, page == DEMUR_PAGE_REPORT);
  demur_watch_page_set_shown(window->watch, page == DEMUR_PAGE_WATCH);
  /* Keys are for the page that is shown: no letter of a verdict goes to the search. */
  GtkWidget *focus = gtk_window_get_focus(GTK_WINDOW(window));
  if (page != DEMUR_PAGE_WORKLIST &&
      (focus == NULL ||
       !gtk_widget_is_ancestor(focus, gtk_stack_get_visible_child(window->stack)))) {
    if (page == DEMUR_PAGE_PATIENT)
      gtk_widget_grab_focus(GTK_WIDGET(demur_patient_page_view(window->patient)));
    else
      gtk_widget_child_focus(gtk_stack_get_visible_child(window->stack), GTK_DIR_TAB_FORWARD);
  }
  gtk_label_set_markup(
      window->status_hint,
      page == DEMUR_PAGE_WORKLIST ? _("<b>N</b> next  <b>P</b> previous  <b>Enter</b> open") : "");
  demur_window_update_status(window);
}

void
demur_window_show_page(DemurWindow *window, DemurPage page) {
  gtk_stack_set_visible_child(window->stack, page_widget(window, page));
}

DemurPage
demur_window_page(DemurWindow *window) {
  DemurPage page = DEMUR_PAGE_WORKLIST;
  const gboolean known =
      demur_page_from_name(gtk_stack_get_visible_child_name(window->stack), &page);
  g_return_val_if_fail(known, page);
  return page;
}

gboolean
demur_window_is_on(DemurWindow *window, DemurPage page) {
  return demur_window_page(window) == page;
}

gboolean
demur_window_is_settled(DemurWindow *window) {
  return demur_job_n_running() == 0;
}

/* Actions of the window itself; the others are in the files that add them. */

static void
on_page_state(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  DemurPage page;
  if (!demur_page_from_name(g_variant_get_string(value, NULL), &page))
    return;
  g_simple_action_set_state(action, value);
  if (demur_window_page(window) != page)
    demur_window_show_page(window, page);
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
  demur_window_show_page(window, DEMUR_PAGE_WORKLIST);
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
  demur_window_show_page(window, DEMUR_PAGE_WORKLIST);
  demur_worklist_page_show(window->worklist, g_variant_get_string(value, NULL));
}

static void
on_close_notice(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_window_close_notice(data);
}

static void
on_cancel(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_session_cancel(DEMUR_WINDOW(data)->session);
}

static void
on_reload(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_session_reload(DEMUR_WINDOW(data)->session);
}

static void
on_tables(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_cohort_page_toggle_tables(DEMUR_WINDOW(data)->cohort);
}

static void
on_notice_action(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_session_notice(DEMUR_WINDOW(data)->session, g_variant_get_string(value, NULL), TRUE);
}

static void
add_actions(DemurWindow *window) {
  static const GActionEntry actions[] = {
      {.name = "page", .parameter_type = "s", .state = "'worklist'", .change_state = on_page_state},
      {.name = "next", .activate = on_next},
      {.name = "previous", .activate = on_previous},
      {.name = "search", .activate = on_search_action, .parameter_type = "s"},
      {.name = "show", .activate = on_show_action, .parameter_type = "s"},
      {.name = "close-notice", .activate = on_close_notice},
      {.name = "cancel", .activate = on_cancel},
      {.name = "reload", .activate = on_reload},
      {.name = "tables", .activate = on_tables},
      {.name = "notice", .activate = on_notice_action, .parameter_type = "s"},
  };
  g_action_map_add_action_entries(G_ACTION_MAP(window), actions, G_N_ELEMENTS(actions), window);
  demur_window_add_image_actions(window);
  demur_window_add_case_actions(window);
  demur_window_add_data_actions(window);
  demur_window_add_export_actions(window);
}

/* Keys and the search. */

static void
on_escape(DemurWindow *window) {
  if (demur_patient_page_drop(window->patient))
    return;
  if (gtk_widget_get_visible(GTK_WIDGET(window->notice_box)))
    demur_window_close_notice(window);
  else {
    demur_window_show_page(window, DEMUR_PAGE_WORKLIST);
    demur_worklist_page_focus_list(window->worklist);
  }
}

static gboolean
on_key(GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state,
       DemurWindow *window) {
  if ((state & (GDK_CONTROL_MASK | GDK_ALT_MASK | GDK_SUPER_MASK)) != 0)
    return FALSE;
  GtkWidget *focus = gtk_window_get_focus(GTK_WINDOW(window));
  if (focus != NULL && (GTK_IS_EDITABLE(focus) || GTK_IS_TEXT_VIEW(focus) || GTK_IS_TEXT(focus)))
    return FALSE;
  if (key == GDK_KEY_Escape) {
    on_escape(window);
    return TRUE;
  }
  if ((key == GDK_KEY_Return || key == GDK_KEY_KP_Enter) &&
      demur_patient_page_keep(window->patient))
    return TRUE;
  return demur_window_actions_key(GTK_WIDGET(window), key, demur_window_page(window));
}

/* Enter with an opinion waiting keeps it, whatever has the focus. */
static gboolean
on_early_key(GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state,
             DemurWindow *window) {
  return (key == GDK_KEY_Return || key == GDK_KEY_KP_Enter) &&
         demur_window_is_on(window, DEMUR_PAGE_PATIENT) && demur_patient_page_keep(window->patient);
}

/* FALSE where the list is of that text already. */
static gboolean
search_now(DemurWindow *window) {
  const char *text = gtk_editable_get_text(GTK_EDITABLE(window->search));
  if (strcmp(text, demur_worklist_page_text(window->worklist)) == 0)
    return FALSE;
  demur_worklist_page_set_text(window->worklist, text);
  return TRUE;
}

/* Comes some time after the last key; by then Enter may have opened a patient. */
static void
on_search_changed(GtkSearchEntry *entry, DemurWindow *window) {
  if (search_now(window))
    demur_window_show_page(window, DEMUR_PAGE_WORKLIST);
}

static void
on_search_stopped(GtkSearchEntry *entry, DemurWindow *window) {
  gtk_editable_set_text(GTK_EDITABLE(entry), "");
  search_now(window);
  demur_worklist_page_focus_list(window->worklist);
}

static void
on_search_activated(GtkSearchEntry *entry, DemurWindow *window) {
  search_now(window);
  demur_worklist_page_focus_list(window->worklist);
}

/* Building: see resources/ui/window.ui. */

static void
on_loaded(DemurWindow *window) {
  demur_window_update_status(window);
}

static void
demur_window_class_init(DemurWindowClass *class) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);
  G_OBJECT_CLASS(class)->dispose = demur_window_dispose;
  g_type_ensure(DEMUR_TYPE_STEPS);
  g_type_ensure(DEMUR_TYPE_WRAP_LAYOUT);
  gtk_widget_class_set_template_from_resource(widget_class, "/org/demur/workstation/ui/window.ui");
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, steps);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, stack);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, workspace);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, menu);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, search);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, drop);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, notice_box);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, notice);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, notice_more);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, notice_undo);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, busy_box);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, busy_label);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, busy_bar);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, status_simulated);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, status_model);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, status_selector);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, status_coverage);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, status_hint);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, status_count);
  gtk_widget_class_bind_template_callback(widget_class, on_search_changed);
  gtk_widget_class_bind_template_callback(widget_class, on_search_stopped);
  gtk_widget_class_bind_template_callback(widget_class, on_search_activated);
  gtk_widget_class_bind_template_callback(widget_class, on_key);
  gtk_widget_class_bind_template_callback(widget_class, on_early_key);
  gtk_widget_class_bind_template_callback(widget_class, demur_window_on_drop);
}

static void
demur_window_init(DemurWindow *window) {
  gtk_widget_init_template(GTK_WIDGET(window));
  gtk_drop_target_set_gtypes(window->drop, (GType[]){GDK_TYPE_FILE_LIST}, 1);
  g_autoptr(GMenuModel) model = demur_window_actions_menu();
  gtk_menu_button_set_menu_model(window->menu, model);
  add_actions(window);
}

static void
add_page(DemurWindow *window, DemurPage page, GtkWidget *widget) {
  gtk_stack_add_named(window->stack, widget, demur_page_name(page));
}

DemurWindow *
demur_window_new(GtkApplication *application, DemurSession *session) {
  DemurWindow *window = g_object_new(DEMUR_TYPE_WINDOW, "application", application, NULL);
  window->session = g_object_ref(session);
  demur_steps_set_session(window->steps, session);
  window->worklist = demur_worklist_page_new(session);
  add_page(window, DEMUR_PAGE_WORKLIST, GTK_WIDGET(window->worklist));
  window->patient = demur_patient_page_new(session);
  add_page(window, DEMUR_PAGE_PATIENT, GTK_WIDGET(window->patient));
  window->cohort = demur_cohort_page_new(session);
  add_page(window, DEMUR_PAGE_COHORT, GTK_WIDGET(window->cohort));
  window->report = demur_report_page_new(session, window->cohort);
  add_page(window, DEMUR_PAGE_REPORT, GTK_WIDGET(window->report));
  window->watch = demur_watch_page_new(session);
  add_page(window, DEMUR_PAGE_WATCH, GTK_WIDGET(window->watch));
  g_signal_connect_swapped(window->stack, "notify::visible-child", G_CALLBACK(update_page), window);
  g_signal_connect_object(session, "notice", G_CALLBACK(demur_window_on_notice), window,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(session, "busy", G_CALLBACK(demur_window_on_busy), window,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(session, "loaded", G_CALLBACK(on_loaded), window, G_CONNECT_SWAPPED);
  g_signal_connect_object(session, "case-changed", G_CALLBACK(on_loaded), window,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(session, "reviewed", G_CALLBACK(on_loaded), window, G_CONNECT_SWAPPED);
  g_signal_connect_object(session, "imported", G_CALLBACK(demur_window_on_imported), window,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(session, "assessed", G_CALLBACK(demur_window_on_assessed), window,
                          G_CONNECT_SWAPPED);
  update_page(window);
  demur_window_update_status(window);
  demur_worklist_page_focus_list(window->worklist);
  demur_shown_name_menus(GTK_WIDGET(window));
  return window;
}

void
demur_window_show_names(DemurWindow *window, gboolean show) {
  demur_worklist_page_show_names(window->worklist, show);
}

gboolean
demur_window_save_png(GtkWindow *window, const char *path, GError **error) {
  const int width = gtk_widget_get_width(GTK_WIDGET(window));
  const int height = gtk_widget_get_height(GTK_WIDGET(window));
  const float scale = (float)gtk_widget_get_scale_factor(GTK_WIDGET(window));
  g_autoptr(GdkPaintable) paintable = gtk_widget_paintable_new(GTK_WIDGET(window));
  GtkSnapshot *snapshot = gtk_snapshot_new();
  gtk_snapshot_scale(snapshot, scale, scale);
  gdk_paintable_snapshot(paintable, snapshot, width, height);
  GskRenderNode *node = gtk_snapshot_free_to_node(snapshot);
  GskRenderer *renderer = gtk_native_get_renderer(GTK_NATIVE(window));
  if (node == NULL || renderer == NULL) {
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "the window has drawn nothing yet; a display is needed, for example "
                    "xvfb-run");
    return FALSE;
  }
  const graphene_rect_t bounds =
      GRAPHENE_RECT_INIT(0, 0, (float)width * scale, (float)height * scale);
  g_autoptr(GdkTexture) texture = gsk_renderer_render_texture(renderer, node, &bounds);
  gsk_render_node_unref(node);
  g_autoptr(GBytes) png = gdk_texture_save_to_png_bytes(texture);
  return demur_file_write(path, g_bytes_get_data(png, NULL), (gssize)g_bytes_get_size(png),
                          DEMUR_FILE_REPLACE, error);
}
