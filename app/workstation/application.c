#include "app/workstation/application.h"

#include <stdio.h>
#include <string.h>

#include "app/workstation/settings.h"
#include "base/error.h"
#include "tasks/task.h"
#include "ui/files.h"
#include "ui/keys-window.h"
#include "ui/layout-check.h"
#include "ui/layout-stops.h"
#include "ui/other-viewer.h"
#include "ui/question-window.h"
#include "ui/theme.h"
#include "ui/window-actions.h"
#include "ui/window.h"
#include "ui/words.h"

struct _DemurApplication {
  GtkApplication parent_instance;
  DemurSettings *settings;
  DemurSession *session;
  DemurWindow *window;
  gboolean standalone;
  int status;
  /* A picture to make. */
  char *picture_page, *picture_path, *picture_case;
  int picture_width, picture_height;
  gboolean checking; /* in place of a picture, whether every page and dialog can be read */
  char **dropped;    /* files that are dropped behind them: of each its dialog; NULL: none */
  guint n_checked;
  gboolean begun;
  gboolean entered; /* the state of a page that is shown next was asked for */
  guint n_settled;  /* frames since everything has arrived */
  gboolean fitted;  /* the frame that the toolkit puts around the window is allowed for */
};

G_DEFINE_FINAL_TYPE(DemurApplication, demur_application, GTK_TYPE_APPLICATION)

static void
demur_application_finalize(GObject *object) {
  DemurApplication *self = DEMUR_APPLICATION(object);
  demur_settings_free(self->settings);
  g_clear_object(&self->session);
  g_free(self->picture_page);
  g_free(self->picture_path);
  g_free(self->picture_case);
  g_strfreev(self->dropped);
  G_OBJECT_CLASS(demur_application_parent_class)->finalize(object);
}

/* Actions. */

static void
on_quit(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurApplication *self = data;
  if (self->window != NULL)
    gtk_window_close(GTK_WINDOW(self->window));
}

static void
on_about(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurApplication *self = data;
  gtk_show_about_dialog(
      GTK_WINDOW(self->window), "program-name", "Demur", "version", DEMUR_VERSION, "logo-icon-name",
      "org.demur.Workstation", "license-type", GTK_LICENSE_APACHE_2_0, "comments",
      _("For research use, not a cleared device.\n\nShows a risk only where it can be trusted to "
        "be calibrated, and says why it holds one back. Implements calibrated selective "
        "classification (Fisch, Jaakkola, Barzilay, TMLR 2022)."),
      "translator-credits", _("translator-credits"), NULL);
}

static void
on_shortcuts(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurApplication *self = data;
  GtkWindow *window = demur_keys_window_new();
  gtk_window_set_transient_for(window, GTK_WINDOW(self->window));
  gtk_window_present(window);
}

static void
on_theme(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurApplication *self = data;
  DemurTheme theme;
  if (!demur_theme_from_name(g_variant_get_string(value, NULL), &theme))
    return;
  g_simple_action_set_state(action, value);
  g_free(self->settings->theme);
  self->settings->theme = g_variant_dup_string(value, NULL);
  demur_theme_set(theme);
}

static void
on_names(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurApplication *self = data;
  g_simple_action_set_state(action, value);
  self->settings->hide_names = !g_variant_get_boolean(value);
  if (self->window != NULL)
    demur_window_show_names(self->window, !self->settings->hide_names);
}

static void
on_viewer_given(const char *text, gpointer data) {
  DemurApplication *self = data;
  g_autoptr(GError) error = NULL;
  if (text == NULL)
    return;
  if (!demur_other_viewer_check(text, &error)) {
    demur_session_fail(self->session, error);
    return;
  }
  g_free(self->settings->viewer);
  self->settings->viewer = g_strdup(text);
  if (!self->standalone)
    demur_settings_save(self->settings);
  demur_session_notice(self->session, _("The command of the other viewer is kept."), FALSE);
}

static void
on_viewer(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurApplication *self = data;
  g_autofree char *text = g_strdup_printf(
      _("Which command opens a folder of DICOM files in another viewer? %s stands for the folder, "
        "for example: weasis '$dicom:get -l \"%s\"'. Now: %s"),
      "{folder}", "{folder}", self->settings->viewer != NULL ? self->settings->viewer : _("none"));
  demur_question_ask(GTK_WINDOW(self->window), _("Another viewer"), text, NULL, _("Keep"), FALSE,
                     on_viewer_given, self);
}

static void
on_open_elsewhere(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurApplication *self = data;
  if (self->settings->viewer == NULL)
    on_viewer(NULL, NULL, self);
  else
    demur_other_viewer_open(self->session, self->settings->viewer);
}

static void
open_path(DemurApplication *self, const char *path) {
  if (!self->standalone) {
    g_free(self->settings->workspace);
    self->settings->workspace = g_strdup(path);
  }
  demur_session_open(self->session, path, self->picture_path == NULL);
}

static void
on_open_chosen(const char *const *paths, gpointer data) {
  if (paths != NULL)
    open_path(data, paths[0]);
}

static void
on_open(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurApplication *self = data;
  demur_files_choose(GTK_WINDOW(self->window), DEMUR_CHOOSE_FILE, _("Open a workspace"), NULL,
                     on_open_chosen, self);
}

static void
on_server_given(const char *text, gpointer data) {
  DemurApplication *self = data;
  if (text == NULL)
    return;
  g_autofree char *address = g_strstrip(g_strdup(text));
  if (demur_task_workspace_is_address(address))
    open_path(self, address);
  else
    demur_session_notice(self->session,
                         _("That is no address of a server: write postgresql://HOST/DATABASE."),
                         TRUE);
}

static void
on_open_server(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurApplication *self = data;
  demur_question_ask(
      GTK_WINDOW(self->window), _("Open a workspace on a server"),
      _("Its address, as who administers it gave it: postgresql://HOST/DATABASE. A password "
        "stands in the file .pgpass of your home folder, never in the address."),
      NULL, _("Open"), FALSE, on_server_given, self);
}

static void
on_new(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurApplication *self = data;
  demur_files_choose(GTK_WINDOW(self->window), DEMUR_CHOOSE_SAVE, _("New workspace"),
                     "workspace.demur", on_open_chosen, self);
}

static void
on_open_path(GSimpleAction *action, GVariant *value, gpointer data) {
  open_path(data, g_variant_get_string(value, NULL));
}

static const GActionEntry actions[] = {
    {.name = "quit", .activate = on_quit},
    {.name = "about", .activate = on_about},
    {.name = "shortcuts", .activate = on_shortcuts},
    {.name = "open", .activate = on_open},
    {.name = "open-server", .activate = on_open_server},
    {.name = "new", .activate = on_new},
    {.name = "open-path", .activate = on_open_path, .parameter_type = "s"},
    {.name = "viewer", .activate = on_viewer},
    {.name = "open-elsewhere", .activate = on_open_elsewhere},
    {.name = "names", .state = "true", .change_state = on_names},
    {.name = "theme", .parameter_type = "s", .state = "'dark'", .change_state = on_theme},
};

/* A picture without a person: when everything has arrived and was drawn. */

#define SETTLED_FRAMES 12
#define MOST_FRAMES 600 /* for which a window without a picture is waited for */

static gboolean on_picture_frame(GtkWidget *widget, GdkFrameClock *clock, gpointer data);

static gboolean
take_picture(gpointer data) {
  DemurApplication *self = data;
  g_autoptr(GError) error = NULL;
  GtkWindow *shown = demur_layout_shown(self->window);
  if (demur_layout_is_dialog(self->picture_page) && shown == GTK_WINDOW(self->window))
    g_set_error(&error, DEMUR_ERROR, DEMUR_ERROR_STATE,
                "nothing in this workspace opens the dialog \"%s\"; no picture was made",
                self->picture_page);
  if (error == NULL && !demur_window_save_png(shown, self->picture_path, &error) &&
      g_error_matches(error, DEMUR_ERROR, DEMUR_ERROR_STATE) && self->n_settled < MOST_FRAMES) {
    /* Something changed behind its last frame: there is a picture with the next. */
    gtk_widget_queue_draw(GTK_WIDGET(shown));
    gtk_widget_add_tick_callback(GTK_WIDGET(self->window), on_picture_frame, self, NULL);
    return G_SOURCE_REMOVE;
  }
  if (error != NULL) {
    g_printerr("demur-workstation: %s\n", error->message);
    self->status = 1;
  }
  gtk_window_destroy(GTK_WINDOW(self->window));
  return G_SOURCE_REMOVE;
}

static guint
n_dropped(DemurApplication *self) {
  return self->dropped != NULL ? g_strv_length(self->dropped) : 0;
}

/* The page, state of a page or dialog that is looked at; NULL: what a dropped file opens, or nothing
 * more. */
static const char *
stop_of(DemurApplication *self) {
  if (!self->checking)
    return self->picture_page;
  return self->n_checked < n_dropped(self)
             ? NULL
             : demur_layout_stops()[self->n_checked - n_dropped(self)];
}

/* What is shown next: what each dropped file opens, then pages and dialogs; FALSE: that was all. */
static gboolean
show_stop(DemurApplication *self) {
  self->entered = FALSE;
  if (self->n_checked < n_dropped(self))
    gtk_widget_activate_action(GTK_WIDGET(self->window), "win.import-path", "s",
                               self->dropped[self->n_checked]);
  else if (stop_of(self) != NULL)
    demur_layout_show(self->window, self->session, stop_of(self), FALSE);
  else
    return FALSE;
  return TRUE;
}

/* The name of what is shown, and whether it is a dialog: a table opens one, a folder of images is
 * imported. */
static const char *
name_of_stop(DemurApplication *self, gboolean *is_dialog) {
  const char *stop = stop_of(self), *name = stop != NULL ? stop : self->dropped[self->n_checked];
  *is_dialog = stop != NULL ? demur_layout_is_dialog(stop) : !g_file_test(name, G_FILE_TEST_IS_DIR);
  return name;
}

/* The next page or dialog is shown; after the last the window goes. A dialog that nothing here opens is
 * told on standard error. */
static gboolean
check_stop(gpointer data) {
  DemurApplication *self = data;
  gboolean expected;
  const char *name = name_of_stop(self, &expected);
  GtkWindow *shown = demur_layout_shown(self->window);
  const gboolean is_dialog = shown != GTK_WINDOW(self->window);
  g_debug("looking at %s", name);
  g_autoptr(GPtrArray) found = demur_layout_check(GTK_WIDGET(shown));
  const int width = gtk_widget_get_width(GTK_WIDGET(shown)),
            height = gtk_widget_get_height(GTK_WIDGET(shown));
  if (width > self->picture_width || height > self->picture_height)
    g_ptr_array_add(found, g_strdup_printf("%d x %d at the least", width, height));
  if (expected && !is_dialog)
    g_printerr("%s: nothing here opens it\n", name);
  for (guint i = 0; i < found->len; i++)
    g_print("%s: %s\n", name, (const char *)found->pdata[i]);
  self->status = found->len > 0 ? 1 : self->status;
  self->n_settled = 0;
  if (is_dialog)
    gtk_window_destroy(shown);
  if (stop_of(self) != NULL)
    demur_layout_leave(self->window, stop_of(self));
  self->n_checked++;
  if (show_stop(self))
    gtk_widget_add_tick_callback(GTK_WIDGET(self->window), on_picture_frame, self, NULL);
  else
    gtk_window_destroy(GTK_WINDOW(self->window));
  return G_SOURCE_REMOVE;
}

static gboolean
on_picture_frame(GtkWidget *widget, GdkFrameClock *clock, gpointer data) {
  DemurApplication *self = data;
  if (!demur_window_is_settled(self->window)) {
    self->n_settled = 0;
    return G_SOURCE_CONTINUE;
  }
  const int width = gtk_widget_get_width(widget), height = gtk_widget_get_height(widget);
  if (!self->fitted && width > 0 &&
      (width != self->picture_width || height != self->picture_height)) {
    self->fitted = TRUE;
    gtk_window_set_default_size(GTK_WINDOW(widget), 2 * self->picture_width - width,
                                2 * self->picture_height - height);
    self->n_settled = 0;
    return G_SOURCE_CONTINUE;
  }
  if (++self->n_settled < SETTLED_FRAMES)
    return G_SOURCE_CONTINUE;
  if (!self->entered && stop_of(self) != NULL && demur_layout_enter(self->window, stop_of(self))) {
    self->entered = TRUE;
    self->n_settled = 0;
    return G_SOURCE_CONTINUE;
  }
  /* After this frame is painted. */
  g_idle_add_full(G_PRIORITY_LOW, self->checking ? check_stop : take_picture, self, NULL);
  return G_SOURCE_REMOVE;
}

static void
on_picture_loaded(DemurSession *session, DemurApplication *self) {
  DemurScanTable *table = demur_session_table(session);
  gssize row = -1;
  if (self->picture_case != NULL) {
    for (size_t i = 0; i < table->n_scans && row < 0; i++)
      if (strcmp(table->scans[i].scan_id, self->picture_case) == 0)
        row = (gssize)i;
    if (row < 0) {
      g_printerr("demur-workstation: no scan %s in the worklist; no picture was made\n",
                 self->picture_case);
      self->status = 1;
      g_application_quit(G_APPLICATION(self));
      return;
    }
  }
  /* Else, where one case is shown, the first that has images. */
  const gboolean needs_case = self->checking || demur_layout_is_of_case(self->picture_page);
  for (size_t i = 0; needs_case && i < table->n_scans && row < 0; i++)
    if (table->scans[i].source == NULL && table->scans[i].chosen)
      row = (gssize)i;
  if (needs_case && row < 0 && table->n_scans > 0)
    row = 0;
  if (row >= 0)
    demur_session_select(session, row);
  if (self->begun)
    return; /* read again, with what was dropped: it goes on by itself */
  self->begun = TRUE;
  if (self->checking)
    show_stop(self);
  else
    demur_layout_show(self->window, session, self->picture_page, self->picture_case != NULL);
  gtk_widget_add_tick_callback(GTK_WIDGET(self->window), on_picture_frame, self, NULL);
}

static void
on_picture_notice(DemurSession *session, const char *text, gboolean is_error, const char *details,
                  DemurApplication *self) {
  if (!is_error)
    return;
  g_printerr("demur-workstation: %s\n", text);
  if (demur_session_table(session) == NULL) {
    self->status = 1;
    gtk_window_destroy(GTK_WINDOW(self->window));
  }
}

static void
on_close(GtkWindow *window, DemurApplication *self) {
  if (!self->standalone) {
    self->settings->maximized = gtk_window_is_maximized(window);
    if (!self->settings->maximized)
      gtk_window_get_default_size(window, &self->settings->width, &self->settings->height);
    demur_settings_save(self->settings);
  }
  self->window = NULL;
}

static gboolean
on_close_request(GtkWindow *window, DemurApplication *self) {
  on_close(window, self);
  return FALSE;
}

static void
make_window(DemurApplication *self, const char *workspace, int width, int height) {
  DemurTheme theme = DEMUR_THEME_DARK;
  if (demur_theme_from_name(self->settings->theme, &theme))
    g_action_group_change_action_state(G_ACTION_GROUP(self), "theme",
                                       g_variant_new_string(self->settings->theme));
  else
    demur_theme_set(theme);
  g_autofree char *user = g_filename_to_utf8(g_get_user_name(), -1, NULL, NULL, NULL);
  self->session = demur_session_new(user != NULL ? user : "reader");
  self->window = demur_window_new(GTK_APPLICATION(self), self->session);
  g_action_group_change_action_state(G_ACTION_GROUP(self), "names",
                                     g_variant_new_boolean(!self->settings->hide_names));
  gtk_window_set_default_size(GTK_WINDOW(self->window), width, height);
  if (self->settings->maximized && !self->standalone)
    gtk_window_maximize(GTK_WINDOW(self->window));
  g_signal_connect(self->window, "close-request", G_CALLBACK(on_close_request), self);
  if (self->picture_path != NULL) {
    gtk_widget_add_css_class(GTK_WIDGET(self->window), "picture");
    /* Movement would make a picture depend on the moment. */
    g_object_set(gtk_settings_get_default(), "gtk-enable-animations", FALSE, "gtk-cursor-blink",
                 FALSE, NULL);
    g_signal_connect_object(self->session, "loaded", G_CALLBACK(on_picture_loaded), self, 0);
    g_signal_connect_object(self->session, "notice", G_CALLBACK(on_picture_notice), self, 0);
  }
  gtk_window_present(GTK_WINDOW(self->window));
  open_path(self, workspace);
}

static int
usage(DemurApplication *self, const char *text) {
  g_printerr("demur-workstation: %s\n", text);
  self->status = 2;
  return 2;
}

static int
on_command_line(GApplication *application, GApplicationCommandLine *line) {
  DemurApplication *self = DEMUR_APPLICATION(application);
  if (self->window != NULL) {
    gtk_window_present(GTK_WINDOW(self->window));
    return 0;
  }
  GVariantDict *options = g_application_command_line_get_options_dict(line);
  g_autofree char *workspace = NULL, *size = NULL, *theme = NULL;
  g_auto(GStrv) rest = NULL;
  g_variant_dict_lookup(options, "workspace", "^ay", &workspace);
  g_variant_dict_lookup(options, "screenshot", "s", &self->picture_page);
  g_variant_dict_lookup(options, "case", "s", &self->picture_case);
  g_variant_dict_lookup(options, "check-layout", "b", &self->checking);
  if (g_variant_dict_contains(options, "network-disk"))
    demur_task_allow_network_disk();
  g_variant_dict_lookup(options, "size", "s", &size);
  g_variant_dict_lookup(options, "theme", "s", &theme);
  g_autoptr(GVariant) remaining =
      g_variant_dict_lookup_value(options, G_OPTION_REMAINING, G_VARIANT_TYPE_BYTESTRING_ARRAY);
  if (remaining != NULL)
    rest = g_variant_dup_bytestring_array(remaining, NULL);
  const guint n_rest = rest != NULL ? g_strv_length(rest) : 0;
  if (self->checking) {
    if (self->picture_page != NULL)
      return usage(self, "--check-layout takes no page");
    self->dropped = g_steal_pointer(&rest);
    self->picture_page = g_strdup(demur_layout_stops()[0]);
    self->picture_path = g_strdup("");
    self->settings->width = 1440;
    self->settings->height = 900;
  } else if (self->picture_page != NULL) {
    if (!demur_layout_is_stop(self->picture_page)) {
      g_autofree char *names = g_strjoinv(", ", (char **)demur_layout_stops());
      g_autofree char *text =
          g_strdup_printf("--screenshot takes one of %s, and a FILE.png", names);
      return usage(self, text);
    }
    if (n_rest != 1 || !g_str_has_suffix(rest[0], ".png"))
      return usage(self, "--screenshot PAGE needs one FILE.png");
    self->picture_path = g_strdup(rest[0]);
    self->settings->width = 1440;
    self->settings->height = 900;
    g_free(self->settings->theme);
    self->settings->theme = g_strdup("dark");
  } else if (n_rest > 0) {
    return usage(self, "no words are taken; a workspace is given with --workspace FILE");
  }
  int width = self->settings->width, height = self->settings->height, n_read = 0;
  if (size != NULL &&
      (sscanf(size, "%dx%d%n", &width, &height, &n_read) != 2 || size[n_read] != '\0' ||
       width < 320 || height < 240 || width > 16384 || height > 16384))
    return usage(self, "--size takes WIDTHxHEIGHT, for example 1280x800");
  if (theme != NULL) {
    DemurTheme known;
    if (!demur_theme_from_name(theme, &known))
      return usage(self, "--theme takes dark, light or contrast");
    g_free(self->settings->theme);
    self->settings->theme = g_strdup(theme);
  }
  if (workspace == NULL)
    workspace =
        demur_task_usual_workspace(self->picture_path == NULL ? self->settings->workspace : NULL);
  self->picture_width = width;
  self->picture_height = height;
  make_window(self, workspace, width, height);
  return 0;
}

static void
demur_application_startup(GApplication *application) {
  G_APPLICATION_CLASS(demur_application_parent_class)->startup(application);
  DemurApplication *self = DEMUR_APPLICATION(application);
  self->settings = demur_settings_load();
  /* TRANSLATORS: "default:RTL" where the language is written from right to left. */
  gtk_widget_set_default_direction(strcmp(_("default:LTR"), "default:RTL") == 0 ? GTK_TEXT_DIR_RTL
                                                                                : GTK_TEXT_DIR_LTR);
  gtk_window_set_default_icon_name("org.demur.Workstation");
  gtk_icon_theme_add_resource_path(gtk_icon_theme_get_for_display(gdk_display_get_default()),
                                   "/org/demur/workstation/icons");
  g_action_map_add_action_entries(G_ACTION_MAP(self), actions, G_N_ELEMENTS(actions), self);
  demur_window_actions_set_accels(GTK_APPLICATION(self));
}

/* GLib ends with 1 for options it does not know; the documented status of wrong usage is 2. */
static gboolean
demur_application_local_command_line(GApplication *application, char ***arguments, int *status) {
  const gboolean ended = G_APPLICATION_CLASS(demur_application_parent_class)
                             ->local_command_line(application, arguments, status);
  if (ended && *status == 1 && !g_application_get_is_registered(application))
    *status = 2;
  return ended;
}

/* What needs no display. */
static int
on_local_options(GApplication *application, GVariantDict *options) {
  if (!g_variant_dict_contains(options, "version"))
    return -1;
  g_print("demur-workstation %s\n", DEMUR_VERSION);
  return 0;
}

static void
demur_application_class_init(DemurApplicationClass *class) {
  G_OBJECT_CLASS(class)->finalize = demur_application_finalize;
  G_APPLICATION_CLASS(class)->startup = demur_application_startup;
  G_APPLICATION_CLASS(class)->command_line = on_command_line;
  G_APPLICATION_CLASS(class)->handle_local_options = on_local_options;
  G_APPLICATION_CLASS(class)->local_command_line = demur_application_local_command_line;
}

static void
demur_application_init(DemurApplication *self) {
  static const GOptionEntry entries[] = {
      {"workspace", 0, 0, G_OPTION_ARG_FILENAME, NULL, "workspace to open", "FILE"},
      {"screenshot", 0, 0, G_OPTION_ARG_STRING, NULL,
       "draw worklist, patient, cohort, report, watch or a dialog to FILE.png and end", "PAGE"},
      {"case", 0, 0, G_OPTION_ARG_STRING, NULL, "scan to show on the picture", "SCAN"},
      {"check-layout", 0, 0, G_OPTION_ARG_NONE, NULL,
       "say what can't be read on any page, in any dialog and in those of the FILEs, and end",
       NULL},
      {"size", 0, 0, G_OPTION_ARG_STRING, NULL, "size of the window (1440x900)", "WxH"},
      {"theme", 0, 0, G_OPTION_ARG_STRING, NULL, "dark, light or contrast", "NAME"},
      {"network-disk", 0, 0, G_OPTION_ARG_NONE, NULL,
       "open a workspace on a network's disk, which no other machine may then open", NULL},
      {"version", 0, 0, G_OPTION_ARG_NONE, NULL, "the version", NULL},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, NULL, NULL, "[FILE.png]"},
      {NULL}};
  g_application_add_main_option_entries(G_APPLICATION(self), entries);
  g_application_set_option_context_summary(
      G_APPLICATION(self), "The desktop program of Demur. For research use, not a cleared device.");
}

DemurApplication *
demur_application_new(gboolean standalone) {
  /* One process a workspace: two windows never share state by accident. */
  DemurApplication *self = g_object_new(
      DEMUR_TYPE_APPLICATION, "application-id", standalone ? NULL : "org.demur.Workstation",
      "flags", G_APPLICATION_NON_UNIQUE | G_APPLICATION_HANDLES_COMMAND_LINE, NULL);
  self->standalone = standalone;
  return self;
}

int
demur_application_status(DemurApplication *application) {
  return application->status;
}
