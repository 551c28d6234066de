/* What is written out: of each page what it shows. */
#include "ui/files.h"
#include "ui/window-private.h"
#include "ui/words.h"
#include "ui/worklist-export.h"

static void
on_export_report(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_report_page_export_to(DEMUR_WINDOW(data)->report, g_variant_get_string(value, NULL));
}

static void
on_list_chosen(const char *const *paths, gpointer data) {
  DemurWindow *window = data;
  g_autoptr(GError) error = NULL;
  if (paths == NULL)
    return;
  if (!demur_worklist_export(demur_session_list(window->session), paths[0], &error)) {
    demur_session_fail(window->session, error);
    return;
  }
  g_autofree char *shown = g_filename_display_name(paths[0]);
  g_autofree char *text = g_strdup_printf(
      _("The list was written to %s as it stands here; risks that are held back stay so."), shown);
  demur_session_notice(window->session, text, FALSE);
}

static void
on_sheet_chosen(const char *const *paths, gpointer data) {
  if (paths != NULL)
    demur_session_export_case(DEMUR_WINDOW(data)->session, paths[0]);
}

/* The page of the case that is shown. */
static void
export_case(DemurWindow *window) {
  const DemurScan *scan = demur_session_scan(window->session);
  if (scan == NULL || *scan->selector == '\0')
    demur_session_notice(window->session,
                         scan == NULL ? _("No case is open. Choose one in the worklist.")
                                      : _("This scan has no verdict to write: assess it first."),
                         FALSE);
  else
    demur_files_choose(GTK_WINDOW(window), DEMUR_CHOOSE_SAVE, _("Export this case"), "case.pdf",
                       on_sheet_chosen, window);
}

static void
on_export_case(GSimpleAction *action, GVariant *path, gpointer data) {
  demur_session_export_case(DEMUR_WINDOW(data)->session, g_variant_get_string(path, NULL));
}

static void
on_export(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  if (demur_window_is_on(window, DEMUR_PAGE_COHORT))
    demur_cohort_page_export(window->cohort);
  else if (demur_window_is_on(window, DEMUR_PAGE_REPORT))
    demur_report_page_export(window->report);
  else if (demur_window_is_on(window, DEMUR_PAGE_PATIENT))
    export_case(window);
  else
    demur_files_choose(GTK_WINDOW(window), DEMUR_CHOOSE_SAVE, _("Export the list"), "worklist.csv",
                       on_list_chosen, window);
}

void
demur_window_add_export_actions(DemurWindow *window) {
  static const GActionEntry actions[] = {
      {.name = "export-report", .activate = on_export_report, .parameter_type = "s"},
      {.name = "export-case", .activate = on_export_case, .parameter_type = "s"},
      {.name = "export", .activate = on_export},
  };
  g_action_map_add_action_entries(G_ACTION_MAP(window), actions, G_N_ELEMENTS(actions), window);
}
