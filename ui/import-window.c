#include "ui/import-window.h"

#include <string.h>

#include "base/shown-text.h"
#include "report/format.h"
#include "tasks/names.h"
#include "ui/shown.h"
#include "ui/table-import.h"
#include "ui/words.h"

#define CELL_CHARS 14
#define PREVIEW_COLUMNS 40 /* that are shown: embeddings have hundreds */

/* What a file can be taken for, in the order of the menu. */
static const DemurFileKind kinds[] = {DEMUR_FILE_SCORES, DEMUR_FILE_COHORT, DEMUR_FILE_SELECTOR};
static const char *const kind_titles[] = {N_("Scores of the external model for images here"),
                                          N_("A cohort: risks with known outcomes"),
                                          N_("A selector from elsewhere")};

/* Splits that can be made where the table has none (cohort/split-maker.h). */
static const char *const split_plans[] = {"patient 0.4,0.2,0.1,0.3", "site 0.4,0.2,0.1,0.3"};
static const char *const split_titles[] = {
    N_("made: whole patients; 40 % to train, 20 % validation, 10 % to tune, 30 % test"),
    N_("made: whole sites; 40 % to train, 20 % validation, 10 % to tune, 30 % test")};

static const char *const meaning_titles[DEMUR_N_MEANINGS] = {
    [DEMUR_MEANS_PATIENT_ID] = N_("Patient"),    [DEMUR_MEANS_SCAN_ID] = N_("Scan"),
    [DEMUR_MEANS_SERIES_UID] = N_("Series UID"), [DEMUR_MEANS_SITE] = N_("Site"),
    [DEMUR_MEANS_SPLIT] = N_("Split"),           [DEMUR_MEANS_LABEL] = N_("Outcome (0 or 1)"),
    [DEMUR_MEANS_RISK] = N_("Risk (0 to 1)")};

struct _DemurImportWindow {
  GtkWindow parent_instance;
  DemurSession *session;
  char *path;
  DemurFileLook *look;
  GtkLabel *file, *why, *preview_title;
  GtkGrid *fields, *preview;
  GtkWidget *preview_scroll, *import;
  /* The fields, each with the label before it. */
  GtkDropDown *kind, *columns[DEMUR_N_MEANINGS], *years, *splits;
  GtkEditable *name, *model, *outcome;
  GtkCheckButton *replace;
  int n_lines;
  gboolean years_chosen; /* by a person */
};

G_DEFINE_FINAL_TYPE(DemurImportWindow, demur_import_window, GTK_TYPE_WINDOW)

static DemurFileKind
kind_of(DemurImportWindow *window) {
  return kinds[MIN(gtk_drop_down_get_selected(window->kind), G_N_ELEMENTS(kinds) - 1)];
}

/* Which fields belong to the kind. */
static gboolean
is_due(DemurFileKind kind, guint meaning) {
  switch (meaning) {
  case DEMUR_MEANS_SERIES_UID:
    return kind == DEMUR_FILE_SCORES;
  case DEMUR_MEANS_SITE:
  case DEMUR_MEANS_SPLIT:
  case DEMUR_MEANS_LABEL:
    return kind == DEMUR_FILE_COHORT;
  default:
    return kind != DEMUR_FILE_SELECTOR;
  }
}

/* The column that is chosen, as the table calls it; NULL: none. The first of the menu is none. */
static const char *
column_of(DemurImportWindow *window, guint meaning) {
  if (window->columns[meaning] == NULL || !is_due(kind_of(window), meaning))
    return NULL;
  const guint at = gtk_drop_down_get_selected(window->columns[meaning]);
  return at == GTK_INVALID_LIST_POSITION || at == 0 ? NULL : window->look->columns[at - 1];
}

static char *
text_of(GtkEditable *entry) {
  return g_strstrip(g_strdup(gtk_editable_get_text(entry)));
}

/* Within how many years risk and outcome are; 0: as the table says. */
static int
years_of(DemurImportWindow *window) {
  const guint at = gtk_drop_down_get_selected(window->years);
  return at == GTK_INVALID_LIST_POSITION ? 0 : (int)at;
}

/* Whether the column that is chosen for the risk stands for the yearly one that is asked for. */
static gboolean
is_of_year(DemurImportWindow *window) {
  const int years = kind_of(window) == DEMUR_FILE_COHORT ? years_of(window) : 0;
  return years > 0 && years < DEMUR_N_YEARS && !window->look->has_year[years - 1];
}

/* Whether the table has a risk without a column that a person chooses for it. */
static gboolean
has_outputs(DemurImportWindow *window) {
  const int years = kind_of(window) == DEMUR_FILE_COHORT ? years_of(window) : 0;
  return years > 0 && years < DEMUR_N_YEARS ? window->look->has_year[years - 1]
                                            : window->look->has_outputs;
}

/* A column that is chosen for two things; NULL: none. */
static const char *
chosen_twice(DemurImportWindow *window) {
  for (guint a = 0; a < DEMUR_N_MEANINGS; a++)
    for (guint b = a + 1; b < DEMUR_N_MEANINGS; b++) {
      const char *one = column_of(window, a), *other = column_of(window, b);
      if (one != NULL && g_strcmp0(one, other) == 0)
        return one;
    }
  return NULL;
}

/* What is missing before it can be imported (owned); NULL: nothing. */
static char *
what_is_missing(DemurImportWindow *window) {
  const DemurFileKind kind = kind_of(window);
  const gboolean is_table = window->look->n_columns > 0;
  g_autofree char *name = text_of(window->name), *model = text_of(window->model);
  g_autoptr(GError) error = NULL;
  if (demur_session_read_only(window->session))
    return g_strdup(_("This workspace can't be written."));
  if (kind == DEMUR_FILE_SELECTOR && window->look->kind != DEMUR_FILE_SELECTOR)
    return g_strdup(_("This file is no selector: those are written by “demur selector export”."));
  if (kind == DEMUR_FILE_COHORT && !is_table)
    return g_strdup(_("A cohort is a table: one row a scan, the names of the columns first."));
  if (kind == DEMUR_FILE_SCORES && window->look->kind == DEMUR_FILE_SELECTOR)
    return g_strdup(_("This file is a selector and holds no scores."));
  if (kind != DEMUR_FILE_SCORES && *name == '\0')
    return g_strdup(_("Give it a name."));
  if (kind != DEMUR_FILE_SCORES && !demur_task_check_name("cohort", name, &error))
    return demur_words_error(error);
  if (kind != DEMUR_FILE_SELECTOR && *model == '\0')
    return g_strdup(_("Say which model gave these risks: a selector judges the scores of its own "
                      "model only."));
  if (!is_table)
    return NULL;
  const char *twice = chosen_twice(window);
  if (twice != NULL)
    return g_strdup_printf(_("Column %s is chosen twice."), twice);
  if (kind == DEMUR_FILE_SCORES && column_of(window, DEMUR_MEANS_SERIES_UID) == NULL &&
      column_of(window, DEMUR_MEANS_SCAN_ID) == NULL)
    return g_strdup(_("Choose the column that names the scans: the series UID, or the scan's ID as "
                      "it stands here."));
  if (column_of(window, DEMUR_MEANS_RISK) == NULL && !has_outputs(window))
    return g_strdup(_("Choose the column with the risk."));
  if (kind != DEMUR_FILE_COHORT)
    return NULL;
  if (column_of(window, DEMUR_MEANS_LABEL) == NULL)
    return g_strdup(_("Choose the column with the outcome: 1 where it happened, 0 where not."));
  /* Predictions and labels alone, as some tools write them, are a cohort of strangers. */
  if (window->look->has_outputs && column_of(window, DEMUR_MEANS_PATIENT_ID) == NULL &&
      column_of(window, DEMUR_MEANS_SCAN_ID) == NULL && column_of(window, DEMUR_MEANS_SITE) == NULL)
    return NULL;
  if (column_of(window, DEMUR_MEANS_PATIENT_ID) == NULL)
    return g_strdup(_("Choose the column that names the patients: all scans of a patient stay in "
                      "one split."));
  if (column_of(window, DEMUR_MEANS_SITE) == NULL)
    return g_strdup(
        _("Choose the column that names the sites: a selector learns from how hospitals "
          "differ."));
  return NULL;
}

/* Of scores the years are asked for where no yearly ones tell them. */
static gboolean
has_years(DemurImportWindow *window, DemurFileKind kind) {
  return kind == DEMUR_FILE_COHORT || (kind == DEMUR_FILE_SCORES && !window->look->has_outputs);
}

static void
on_years(DemurImportWindow *window) {
  window->years_chosen = TRUE;
}

static void
update(DemurImportWindow *window) {
  if (window->kind == NULL || window->replace == NULL)
    return; /* still being built */
  const DemurFileKind kind = kind_of(window);
  const gboolean is_table = window->look->n_columns > 0;
  for (guint m = 0; m < DEMUR_N_MEANINGS; m++) {
    GtkWidget *menu = GTK_WIDGET(window->columns[m]);
    gtk_widget_set_visible(menu, is_table && is_due(kind, m));
    gtk_widget_set_visible(gtk_widget_get_prev_sibling(menu), is_table && is_due(kind, m));
  }
  const struct {
    GtkWidget *widget;
    gboolean shown;
  } others[] = {{GTK_WIDGET(window->name), kind != DEMUR_FILE_SCORES},
                {GTK_WIDGET(window->model), kind != DEMUR_FILE_SELECTOR},
                {GTK_WIDGET(window->outcome), kind == DEMUR_FILE_COHORT},
                {GTK_WIDGET(window->years), is_table && has_years(window, kind)},
                {GTK_WIDGET(window->splits), kind == DEMUR_FILE_COHORT && is_table &&
                                                 column_of(window, DEMUR_MEANS_SPLIT) == NULL}};
  for (guint i = 0; i < G_N_ELEMENTS(others); i++) {
    gtk_widget_set_visible(others[i].widget, others[i].shown);
    gtk_widget_set_visible(gtk_widget_get_prev_sibling(others[i].widget), others[i].shown);
  }
  g_autofree char *missing = what_is_missing(window);
  gtk_widget_set_sensitive(window->import, missing == NULL);
  demur_shown_tooltip_set(window->import, missing);
  demur_shown_label_set(window->why, missing != NULL
                                         ? missing
                                         : _("It is read whole or not at all: a faulty table is "
                                             "refused with line and column of each fault."));
}

static void
on_import(DemurImportWindow *window) {
  g_autofree char *missing = what_is_missing(window);
  if (missing != NULL)
    return;
  DemurTableImport *import = g_new0(DemurTableImport, 1);
  import->kind = kind_of(window);
  import->path = g_strdup(window->path);
  import->name = text_of(window->name);
  import->model = text_of(window->model);
  import->outcome = text_of(window->outcome);
  if (*import->outcome == '\0')
    g_clear_pointer(&import->outcome, g_free);
  import->years = has_years(window, import->kind) ? years_of(window) : 0;
  import->years_chosen = window->years_chosen;
  import->years_of_risk = is_of_year(window);
  import->replace = gtk_check_button_get_active(window->replace);
  for (guint m = 0; m < DEMUR_N_MEANINGS; m++)
    import->columns[m] = g_strdup(column_of(window, m));
  if (import->kind == DEMUR_FILE_COHORT && import->columns[DEMUR_MEANS_SPLIT] == NULL)
    import->split_by = g_strdup(split_plans[gtk_drop_down_get_selected(window->splits) == 1]);
  if (demur_session_import_table(window->session, import))
    gtk_window_close(GTK_WINDOW(window));
}

/* Building: a label, and the field that it names. */

static void
add_line(DemurImportWindow *window, const char *title, GtkWidget *field) {
  GtkWidget *label = demur_shown_label_new(title);
  gtk_label_set_xalign(GTK_LABEL(label), 0);
  gtk_widget_add_css_class(label, "muted");
  gtk_widget_set_hexpand(field, TRUE);
  demur_shown_name_set(field, title);
  gtk_grid_attach(window->fields, label, 0, window->n_lines, 1, 1);
  gtk_grid_attach(window->fields, field, 1, window->n_lines++, 1, 1);
  gtk_widget_insert_after(field, GTK_WIDGET(window->fields), label);
}

static GtkDropDown *
add_menu(DemurImportWindow *window, const char *title, const char *const *texts) {
  GtkDropDown *menu = GTK_DROP_DOWN(gtk_drop_down_new_from_strings(texts));
  add_line(window, title, GTK_WIDGET(menu));
  g_signal_connect_swapped(menu, "notify::selected", G_CALLBACK(update), window);
  return menu;
}

static GtkEditable *
add_entry(DemurImportWindow *window, const char *title, const char *text) {
  GtkWidget *entry = gtk_entry_new();
  if (text != NULL)
    gtk_editable_set_text(GTK_EDITABLE(entry), text);
  gtk_entry_set_activates_default(GTK_ENTRY(entry), TRUE);
  add_line(window, title, entry);
  g_signal_connect_swapped(entry, "changed", G_CALLBACK(update), window);
  return GTK_EDITABLE(entry);
}

/* The file's name without its ending, where a name may be called so (owned). */
static char *
name_of(const char *path) {
  char *name = g_path_get_basename(path);
  char *dot = strchr(name + 1, '.');
  if (dot != NULL)
    *dot = '\0';
  return name;
}

static void
build_columns(DemurImportWindow *window) {
  g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
  g_ptr_array_add(texts, NULL); /* filled below */
  for (size_t c = 0; c < window->look->n_columns; c++)
    g_ptr_array_add(texts, demur_shown_text(window->look->columns[c]));
  g_ptr_array_add(texts, NULL);
  for (guint m = 0; m < DEMUR_N_MEANINGS; m++) {
    const gboolean years = m == DEMUR_MEANS_RISK && window->look->has_outputs;
    g_free(texts->pdata[0]);
    texts->pdata[0] = g_strdup(years ? _("– (yearly risks or probabilities)") : _("– (none)"));
    window->columns[m] = add_menu(window, _(meaning_titles[m]), (const char *const *)texts->pdata);
    gtk_drop_down_set_selected(window->columns[m], (guint)(window->look->at[m] + 1));
  }
}

static void
build_years(DemurImportWindow *window) {
  char *texts[DEMUR_N_YEARS + 2] = {g_strdup(_("as many as the table says, if it does"))};
  for (int y = 1; y <= DEMUR_N_YEARS; y++)
    texts[y] = demur_text_years_in(y, demur_words_translate);
  window->years = add_menu(window, _("Within how many years"), (const char *const *)texts);
  gtk_drop_down_set_selected(window->years, (guint)demur_file_look_years(window->look));
  g_signal_connect_swapped(window->years, "notify::selected", G_CALLBACK(on_years), window);
  for (int y = 0; y <= DEMUR_N_YEARS; y++)
    g_free(texts[y]);
}

static void
build_preview(DemurImportWindow *window) {
  const DemurFileLook *look = window->look;
  gtk_widget_set_visible(GTK_WIDGET(window->preview_title), look->n_columns > 0);
  gtk_widget_set_visible(window->preview_scroll, look->n_columns > 0);
  for (size_t c = 0; c < MIN(look->n_columns, PREVIEW_COLUMNS); c++)
    for (size_t r = 0; r <= look->n_rows; r++) {
      GtkWidget *label = demur_shown_label_new(r == 0 ? look->columns[c] : look->rows[r - 1][c]);
      gtk_label_set_xalign(GTK_LABEL(label), 0);
      gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
      gtk_label_set_max_width_chars(GTK_LABEL(label), CELL_CHARS);
      gtk_label_set_width_chars(GTK_LABEL(label), 5);
      gtk_widget_add_css_class(label, "table-cell");
      if (r == 0)
        gtk_widget_add_css_class(label, "muted");
      gtk_grid_attach(window->preview, label, (int)c, (int)r, 1, 1);
    }
}

/* The model whose risks are likely meant: the one in use, else the only one that is known. */
static const char *
likely_model(DemurSession *session) {
  const DemurScanTable *table = demur_session_table(session);
  if (table == NULL)
    return NULL;
  return table->in_use.model != NULL ? table->in_use.model : table->models[0];
}

static void
build(DemurImportWindow *window) {
  const char *titles[G_N_ELEMENTS(kinds) + 1] = {NULL};
  guint chosen = window->look->kind == DEMUR_FILE_TABLE ? 1 : 0;
  for (guint k = 0; k < G_N_ELEMENTS(kinds); k++) {
    titles[k] = _(kind_titles[k]);
    if (kinds[k] == window->look->kind)
      chosen = k;
  }
  window->kind = add_menu(window, _("This file is"), titles);
  g_autofree char *name = name_of(window->path);
  window->name = add_entry(window, _("Name"), name);
  window->model = add_entry(window, _("External model"), likely_model(window->session));
  window->outcome = add_entry(window, _("Outcome in words"), NULL);
  g_object_set(window->outcome, "placeholder-text", _("what a 1 means, as in “lung cancer”"), NULL);
  build_columns(window);
  build_years(window);
  const char *plans[] = {_(split_titles[0]), _(split_titles[1]), NULL};
  window->splits = add_menu(window, _("Splits"), plans);
  build_preview(window);
  GtkWidget *replace = gtk_check_button_new_with_label(_(
      "Replace what is here under that name, a selector with its thresholds, audits and acceptance tests"));
  gtk_grid_attach(window->fields, replace, 1, window->n_lines++, 1, 1);
  window->replace = GTK_CHECK_BUTTON(replace);
  gtk_drop_down_set_selected(window->kind, chosen);
  update(window);
}

static void
demur_import_window_dispose(GObject *object) {
  DemurImportWindow *window = DEMUR_IMPORT_WINDOW(object);
  g_clear_object(&window->session);
  g_clear_pointer(&window->path, g_free);
  g_clear_pointer(&window->look, demur_file_look_free);
  G_OBJECT_CLASS(demur_import_window_parent_class)->dispose(object);
}

static void
demur_import_window_class_init(DemurImportWindowClass *class) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);
  G_OBJECT_CLASS(class)->dispose = demur_import_window_dispose;
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/demur/workstation/ui/import-window.ui");
  gtk_widget_class_bind_template_child(widget_class, DemurImportWindow, file);
  gtk_widget_class_bind_template_child(widget_class, DemurImportWindow, fields);
  gtk_widget_class_bind_template_child(widget_class, DemurImportWindow, preview);
  gtk_widget_class_bind_template_child(widget_class, DemurImportWindow, preview_title);
  gtk_widget_class_bind_template_child(widget_class, DemurImportWindow, preview_scroll);
  gtk_widget_class_bind_template_child(widget_class, DemurImportWindow, why);
  gtk_widget_class_bind_template_child(widget_class, DemurImportWindow, import);
  gtk_widget_class_bind_template_callback(widget_class, on_import);
  gtk_widget_class_bind_template_callback(widget_class, gtk_window_close);
  gtk_widget_class_add_binding_action(widget_class, GDK_KEY_Escape, 0, "window.close", NULL);
}

static void
demur_import_window_init(DemurImportWindow *window) {
  gtk_widget_init_template(GTK_WIDGET(window));
}

DemurImportWindow *
demur_import_window_new(GtkWindow *parent, DemurSession *session, const char *path,
                        DemurFileLook *look) {
  DemurImportWindow *window = g_object_new(DEMUR_TYPE_IMPORT_WINDOW, "transient-for", parent, NULL);
  window->session = g_object_ref(session);
  window->path = g_strdup(path);
  window->look = look;
  g_autofree char *shown = g_filename_display_name(path);
  demur_shown_label_set(window->file, shown);
  demur_shown_tooltip_set(GTK_WIDGET(window->file), shown);
  build(window);
  demur_shown_name_menus(GTK_WIDGET(window));
  gtk_window_set_default_widget(GTK_WINDOW(window), window->import);
  return window;
}
