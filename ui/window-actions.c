#include "ui/window-actions.h"

#include <string.h>

#include "tasks/ct-presets.h"
#include "ui/words.h"

#define PROGRAM DEMUR_ACTIONS_PROGRAM
#define CASES DEMUR_ACTIONS_CASES
#define IMAGE DEMUR_ACTIONS_IMAGE
#define COHORT DEMUR_ACTIONS_COHORT
#define ANYWHERE DEMUR_PAGE_ANY
#define ON_WORKLIST DEMUR_PAGE_WORKLIST
#define ON_PATIENT DEMUR_PAGE_PATIENT
#define ON_COHORT DEMUR_PAGE_COHORT

static const DemurWindowAction actions[] = {
    {PROGRAM, "<Control>1", ANYWHERE, "win.page::worklist", N_("Worklist"), NULL, 0},
    {PROGRAM, "<Control>2", ANYWHERE, "win.page::patient", N_("Patient"), NULL, 0},
    {PROGRAM, "<Control>3", ANYWHERE, "win.page::cohort", N_("Cohort"), NULL, 0},
    {PROGRAM, "<Control>4", ANYWHERE, "win.page::report", N_("Report"), NULL, 0},
    {PROGRAM, "<Control>5", ANYWHERE, "win.page::watch", N_("Watch"), NULL, 0},
    {PROGRAM, "<Control>o", ANYWHERE, "app.open", N_("Open a workspace"), N_("_Open a workspace…"),
     0},
    {PROGRAM, NULL, ANYWHERE, "app.open-server", NULL, N_("Open a workspace on a server…"), 0},
    {PROGRAM, "<Control>n", ANYWHERE, "app.new", N_("New workspace"), N_("_New workspace…"), 0},
    {PROGRAM, NULL, ANYWHERE, "win.backup", NULL, N_("Keep a copy of the workspace…"), 0},
    {PROGRAM, "<Control>i", ANYWHERE, "win.import-folder", N_("Import a folder"),
     N_("Import a _folder…"), 0},
    {PROGRAM, NULL, ANYWHERE, "win.import-files", NULL, N_("Import f_iles…"), 0},
    {PROGRAM, NULL, ANYWHERE, "win.import-table", NULL,
     N_("Import scores, a cohort or a selector…"), 0},
    {PROGRAM, NULL, ANYWHERE, "win.import-report", NULL, N_("Import _report"), 0},
    {PROGRAM, NULL, ANYWHERE, "win.reread", NULL, N_("Import the same _again, pixels too"), 0},
    {PROGRAM, NULL, ANYWHERE, "win.demo", NULL, N_("Look at the demo (simulated)"), 0},
    {PROGRAM, "F5", ANYWHERE, "win.reload", N_("Read the workspace again"),
     N_("_Read the workspace again"), 0},
    {PROGRAM, NULL, ANYWHERE, "win.assess", NULL, N_("_Assess all series…"), 1},
    {PROGRAM, NULL, ANYWHERE, "win.undo-assess", NULL, N_("_Undo the last assessment…"), 1},
    {PROGRAM, NULL, ANYWHERE, "win.train", NULL, N_("_Train a selector…"), 1},
    {COHORT, "<Control>e", ANYWHERE, "win.export", N_("Export"), N_("_Export…"), 1},
    {PROGRAM, NULL, ANYWHERE, "app.viewer", NULL, N_("Another viewer: its command…"), 1},
    {PROGRAM, NULL, ANYWHERE, "app.theme::dark", NULL, N_("_Dark reading room"), 2},
    {PROGRAM, NULL, ANYWHERE, "app.theme::light", NULL, N_("_Light"), 2},
    {PROGRAM, NULL, ANYWHERE, "app.theme::contrast", NULL, N_("_High contrast"), 2},
    {PROGRAM, NULL, ANYWHERE, "app.names", NULL, N_("Show patients' _names"), 2},
    {PROGRAM, "<Control>f", ANYWHERE, "win.search::", N_("Search"), NULL, 0},
    {PROGRAM, "slash", ON_WORKLIST, "win.search::", NULL, NULL, 0},
    {PROGRAM, "Escape", ANYWHERE, NULL, N_("Back to the worklist; close a notice"), NULL, 0},
    {PROGRAM, "<Control>question F1", ANYWHERE, "app.shortcuts", N_("Keyboard shortcuts"),
     N_("_Keyboard shortcuts"), 3},
    {PROGRAM, NULL, ANYWHERE, "app.about", NULL, N_("A_bout Demur"), 3},
    {PROGRAM, "<Control>q", ANYWHERE, "app.quit", N_("Quit"), N_("_Quit"), 3},

    {CASES, "n", ON_WORKLIST, "win.next", N_("Next case"), NULL, 0},
    {CASES, "n", ON_PATIENT, "win.next", NULL, NULL, 0},
    {CASES, "p", ON_WORKLIST, "win.previous", N_("Previous case"), NULL, 0},
    {CASES, "p", ON_PATIENT, "win.previous", NULL, NULL, 0},
    {CASES, "Return", ON_WORKLIST, "win.open-case", N_("Open the case"), NULL, 0},
    {CASES, "e", ON_PATIENT, "win.assess-case", N_("Assess this case again"), NULL, 0},
    {CASES, "r", ON_PATIENT, "win.reveal", N_("Reveal a held-back risk (kept)"), NULL, 0},
    {CASES, "a", ON_PATIENT, "win.agree", N_("Agree; Enter keeps it, Escape drops it"), NULL, 0},
    {CASES, "d", ON_PATIENT, "win.disagree", N_("Disagree; Enter keeps it, Escape drops it"), NULL,
     0},
    {CASES, "c", ON_PATIENT, "win.comment", N_("Comment"), NULL, 0},
    {CASES, "w", ON_PATIENT, "win.choose-series", N_("Assess this series instead (with a reason)"),
     NULL, 0},
    {CASES, "y", ON_PATIENT, "win.resolve", N_("Resolve a contradiction (with a reason)"), NULL, 0},
    {CASES, "Delete", ON_WORKLIST, "win.remove",
     N_("Take a series, study or patient out of the workspace (with a reason)"),
     N_("Take _out of the workspace…"), 1},
    {CASES, "Delete", ON_PATIENT, "win.remove", NULL, NULL, 0},
    {CASES, "h", ON_PATIENT, "app.open-elsewhere", N_("Open the images in another viewer"),
     N_("Open the images in another _viewer"), 1},

    {IMAGE, "1", ON_PATIENT, "win.preset(1)", N_("Lung 1500 / −600"), NULL, 0},
    {IMAGE, "2", ON_PATIENT, "win.preset(2)", N_("Mediastinum 400 / 40"), NULL, 0},
    {IMAGE, "3", ON_PATIENT, "win.preset(3)", N_("Bone 2000 / 350"), NULL, 0},
    {IMAGE, "4", ON_PATIENT, "win.preset(4)", N_("Soft tissue 400 / 50"), NULL, 0},
    {IMAGE, "5", ON_PATIENT, "win.preset(5)", N_("The file's own window"), NULL, 0},
    {IMAGE, "Up Down", ON_PATIENT, NULL, N_("Slice; Page Up and Page Down: ten slices"), NULL, 0},
    {IMAGE, "x", ON_PATIENT, "win.plane::axial", N_("Axial"), NULL, 0},
    {IMAGE, "o", ON_PATIENT, "win.plane::coronal", N_("Coronal"), NULL, 0},
    {IMAGE, "s", ON_PATIENT, "win.plane::sagittal", N_("Sagittal"), NULL, 0},
    {IMAGE, "t", ON_PATIENT, "win.three-planes", N_("Three planes at once, with a crosshair"), NULL,
     0},
    {IMAGE, "f", ON_PATIENT, "win.cine", N_("Cine: run through the slices"), NULL, 0},
    {IMAGE, "m", ON_PATIENT, "win.slab", N_("Sliding MIP: off, 5, 10, 20 mm"), NULL, 0},
    {IMAGE, "k", ON_PATIENT, "win.slab-kind", N_("Slab: maximum, mean, minimum"), NULL, 0},
    {IMAGE, "g", ON_PATIENT, "win.measure::length", N_("Measure a length"), NULL, 0},
    {IMAGE, "j", ON_PATIENT, "win.measure::angle", N_("Measure an angle"), NULL, 0},
    {IMAGE, "u", ON_PATIENT, "win.measure::region", N_("Measure a region (mean, sd, area)"), NULL,
     0},
    {IMAGE, "<Shift>Up <Shift>Down <Shift>Left <Shift>Right", ON_PATIENT, NULL,
     N_("Move the crosshair, or the cursor of a measurement, by a pixel"), NULL, 0},
    {IMAGE, "z", ON_PATIENT, "win.place", N_("Set the next place of a measurement at the cursor"),
     NULL, 0},
    {IMAGE, "BackSpace", ON_PATIENT, "win.remove-measures",
     N_("Take the measurements off this slice"), NULL, 0},
    {IMAGE, "b", ON_PATIENT, "win.key-image", N_("Mark the slice as a key image, or take it off"),
     NULL, 0},
    {IMAGE, "i", ON_PATIENT, "win.invert", N_("Invert"), NULL, 0},
    {IMAGE, "plus", ON_PATIENT, "win.zoom(1.25)", N_("Zoom in; the right button drags the image"),
     NULL, 0},
    {IMAGE, "equal", ON_PATIENT, "win.zoom(1.25)", NULL, NULL, 0},
    {IMAGE, "minus", ON_PATIENT, "win.zoom(0.8)", N_("Zoom out"), NULL, 0},
    {IMAGE, "0", ON_PATIENT, "win.reset-view", N_("Fit the image again"), NULL, 0},
    {IMAGE, "v", ON_PATIENT, "win.compare", N_("Prior beside the current scan"), NULL, 0},
    {IMAGE, "l", ON_PATIENT, "win.link", N_("Release the prior, or link it again"), NULL, 0},

    {COHORT, "Left Right", ON_COHORT, NULL, N_("Coverage, one point (on the slider)"), NULL, 0},
    {COHORT, "t", ON_COHORT, "win.tables", N_("Charts as tables"), NULL, 0},
    {COHORT, "u", ON_COHORT, "win.use-coverage", N_("Use this coverage"), NULL, 0},
};

static const char *const group_titles[DEMUR_N_ACTION_GROUPS] = {
    N_("Program"), N_("Cases"), N_("Image"), N_("Cohort and report")};

const DemurWindowAction *
demur_window_actions(size_t *n) {
  *n = G_N_ELEMENTS(actions);
  return actions;
}

void
demur_window_actions_set_accels(GtkApplication *application) {
  for (size_t i = 0; i < G_N_ELEMENTS(actions); i++) {
    if (actions[i].keys == NULL || actions[i].action == NULL || actions[i].page != DEMUR_PAGE_ANY)
      continue;
    g_auto(GStrv) keys = g_strsplit(actions[i].keys, " ", -1);
    gtk_application_set_accels_for_action(application, actions[i].action,
                                          (const char *const *)keys);
  }
}

static gboolean
has_key(const DemurWindowAction *action, guint key) {
  g_auto(GStrv) keys = g_strsplit(action->keys, " ", -1);
  for (char **text = keys; *text != NULL; text++) {
    guint known;
    GdkModifierType modifiers;
    if (gtk_accelerator_parse(*text, &known, &modifiers) && modifiers == 0 && known == key)
      return TRUE;
  }
  return FALSE;
}

gboolean
demur_window_actions_key(GtkWidget *window, guint key, DemurPage page) {
  for (size_t i = 0; i < G_N_ELEMENTS(actions); i++) {
    const DemurWindowAction *entry = &actions[i];
    if (entry->keys == NULL || entry->action == NULL || entry->page != page ||
        !has_key(entry, gdk_keyval_to_lower(key)))
      continue;
    g_autofree char *name = NULL;
    g_autoptr(GVariant) target = NULL;
    if (!g_action_parse_detailed_name(entry->action, &name, &target, NULL))
      return FALSE;
    return gtk_widget_activate_action_variant(window, name, target);
  }
  return FALSE;
}

GMenuModel *
demur_window_actions_menu(void) {
  GMenu *menu = g_menu_new();
  static const char *const headings[] = {NULL, NULL, N_("Look"), NULL};
  for (int section = 0; section < (int)G_N_ELEMENTS(headings); section++) {
    g_autoptr(GMenu) items = g_menu_new();
    for (size_t i = 0; i < G_N_ELEMENTS(actions); i++)
      if (actions[i].menu != NULL && actions[i].section == section)
        g_menu_append(items, _(actions[i].menu), actions[i].action);
    g_menu_append_section(menu, headings[section] != NULL ? _(headings[section]) : NULL,
                          G_MENU_MODEL(items));
  }
  return G_MENU_MODEL(menu);
}

const char *
demur_window_actions_group(DemurActionGroup group) {
  return group_titles[group];
}

/* "<Control>question F1" -> "Ctrl+? or F1" (owned). */
static char *
keys_text(const char *keys) {
  static const char *const names[][2] = {
      {"question", "?"}, {"slash", "/"}, {"plus", "+"}, {"minus", "−"}, {"Return", "Enter"},
      {"Escape", "Esc"}, {"Up", "↑"},    {"Down", "↓"}, {"Left", "←"},  {"Right", "→"}};
  g_auto(GStrv) all = g_strsplit(keys, " ", -1);
  g_autoptr(GString) text = g_string_new(NULL);
  for (char **key = all; *key != NULL; key++) {
    const gboolean control = g_str_has_prefix(*key, "<Control>"),
                   shift = g_str_has_prefix(*key, "<Shift>");
    const char *name = *key + (control ? strlen("<Control>") : shift ? strlen("<Shift>") : 0);
    g_autofree char *upper = strlen(name) == 1 ? g_ascii_strup(name, 1) : g_strdup(name);
    const char *told = upper;
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
      if (strcmp(name, names[i][0]) == 0)
        told = names[i][1];
    g_string_append_printf(text, "%s%s%s", text->len > 0 ? " " : "",
                           control ? "Ctrl+"
                           : shift ? "Shift+"
                                   : "",
                           told);
  }
  return g_string_free(g_steal_pointer(&text), FALSE);
}

char *
demur_window_actions_markdown(void) {
  g_autoptr(GString) text = g_string_new("| key | does |\n|---|---|\n");
  for (int group = 0; group < DEMUR_N_ACTION_GROUPS; group++) {
    g_string_append_printf(text, "| | **%s** |\n", group_titles[group]);
    for (size_t i = 0; i < G_N_ELEMENTS(actions); i++)
      if ((int)actions[i].group == group && actions[i].keys != NULL && actions[i].title != NULL) {
        g_autofree char *keys = keys_text(actions[i].keys);
        g_string_append_printf(text, "| `%s` | %s |\n", keys, actions[i].title);
      }
  }
  return g_string_free(g_steal_pointer(&text), FALSE);
}

char *
demur_window_actions_mdoc(void) {
  g_autoptr(GString) text = g_string_new(".Bl -tag -width Ctrl+1\n");
  for (int group = 0; group < DEMUR_N_ACTION_GROUPS; group++)
    for (size_t i = 0; i < G_N_ELEMENTS(actions); i++)
      if ((int)actions[i].group == group && actions[i].keys != NULL && actions[i].title != NULL) {
        g_autofree char *keys = keys_text(actions[i].keys);
        g_string_append_printf(text, ".It %s\n%s\n", keys, actions[i].title);
      }
  g_string_append(text, ".El\n");
  return g_string_free(g_steal_pointer(&text), FALSE);
}
