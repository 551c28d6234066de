/* What comes in, and what is made of it: files and tables, the demo, selectors, verdicts. */
#include "tasks/selectors.h"
#include "ui/assess-window.h"
#include "ui/files.h"
#include "ui/import-report.h"
#include "ui/incoming.h"
#include "ui/train-window.h"
#include "ui/undo-assess.h"
#include "ui/window-private.h"
#include "ui/words.h"
#include "ui/worker.h"

static void
on_import_chosen(const char *const *paths, gpointer data) {
  DemurWindow *window = data;
  demur_incoming_take(GTK_WINDOW(window), window->session, paths);
}

static void
on_import_folder(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_files_choose(GTK_WINDOW(data), DEMUR_CHOOSE_FOLDER, _("Import a folder"), NULL,
                     on_import_chosen, data);
}

static void
on_import_files(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_files_choose(GTK_WINDOW(data), DEMUR_CHOOSE_FILES,
                     _("Import files, ZIP archives or a DICOMDIR"), NULL, on_import_chosen, data);
}

static void
on_import_table(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_files_choose(GTK_WINDOW(data), DEMUR_CHOOSE_FILE,
                     _("Import scores, a cohort or a selector"), NULL, on_import_chosen, data);
}

static void
on_import_path(GSimpleAction *action, GVariant *value, gpointer data) {
  const char *const paths[] = {g_variant_get_string(value, NULL), NULL};
  on_import_chosen(paths, data);
}

gboolean
demur_window_on_drop(GtkDropTarget *target, const GValue *value, double x, double y,
                     DemurWindow *window) {
  g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
  for (GSList *file = gdk_file_list_get_files(g_value_get_boxed(value)); file != NULL;
       file = file->next) {
    g_autofree char *path = g_file_get_path(file->data);
    if (path != NULL)
      g_strv_builder_add(builder, path);
  }
  g_auto(GStrv) paths = g_strv_builder_end(builder);
  return demur_incoming_take(GTK_WINDOW(window), window->session, (const char *const *)paths);
}

static void
on_backup_chosen(const char *const *paths, gpointer data) {
  if (paths != NULL)
    demur_session_backup(DEMUR_WINDOW(data)->session, paths[0]);
}

static void
on_backup(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_files_choose(GTK_WINDOW(data), DEMUR_CHOOSE_SAVE, _("Keep a copy of the workspace"),
                     "copy.demur", on_backup_chosen, data);
}

static void
on_demo(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_session_demo(DEMUR_WINDOW(data)->session);
}

/* What an import did: in the notice, and in a window of its own that is opened from there. */

void
demur_window_on_imported(DemurWindow *window) {
  const DemurImportOutcome *outcome = demur_session_outcome(window->session);
  g_autofree char *counts =
      g_strdup_printf(ngettext_("Import: %u accepted for assessment, %u not, %u file skipped.",
                                "Import: %u accepted for assessment, %u not, %u files skipped.",
                                outcome->skipped->len),
                      outcome->accepted->len, outcome->rejected->len, outcome->skipped->len);
  g_autofree char *unchanged = demur_import_outcome_unchanged(outcome);
  g_autofree char *text = g_strjoin(" ", counts, unchanged, NULL);
  demur_session_notice(window->session, text, FALSE);
  gtk_widget_set_visible(window->notice_more, TRUE);
}

static void
on_import_report(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  const DemurImportOutcome *outcome = demur_session_outcome(window->session);
  if (outcome != NULL)
    demur_import_report_present(GTK_WINDOW(window), outcome);
}

static void
on_reread(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  const DemurImportOutcome *outcome = demur_session_outcome(window->session);
  if (outcome == NULL)
    demur_session_notice(window->session, _("Nothing was imported yet."), FALSE);
  else
    demur_session_import(window->session, outcome->paths, TRUE);
}

/* Assessing: of the selectors that there are, the reader's choice. */

static gpointer
selectors_work(DemurJob *job, gpointer data, const DemurProgress *progress, GError **error) {
  g_auto(DemurTask) task;
  demur_worker_task_init(&task, data, NULL, progress);
  return demur_task_selectors(&task, error);
}

static void
selectors_free(gpointer selectors) {
  g_ptr_array_unref(selectors);
}

static void
on_selectors(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurWindow *window = owner;
  if (result == NULL) {
    demur_session_fail(window->session, error);
    return;
  }
  g_autoptr(GPtrArray) selectors = result;
  DemurAssessWindow *ask = demur_assess_window_new(GTK_WINDOW(window), window->session, selectors);
  if (ask != NULL)
    gtk_window_present(GTK_WINDOW(ask));
  else
    demur_session_notice(window->session,
                         selectors->len == 0
                             ? _("There is no selector yet: train one on the Cohort page first.")
                             : _("No selector has a threshold yet: choose a coverage on the Cohort "
                                 "page and use it."),
                         TRUE);
}

static void
on_assess(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  const char *path = demur_session_path(window->session);
  if (path == NULL)
    return;
  const DemurJobStart start = {.func = selectors_work,
                               .input = g_strdup(path),
                               .free_input = g_free,
                               .free_result = selectors_free,
                               .owner = G_OBJECT(window),
                               .done = on_selectors};
  demur_job_start(&start);
}

static void
on_tell_assessed(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_session_tell_assessed(DEMUR_WINDOW(data)->session);
}

static void
on_undo_assess(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_undo_assess_ask(data, DEMUR_WINDOW(data)->session);
}

static void
on_train(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  if (window->train == NULL) {
    window->train = GTK_WINDOW(demur_train_window_new(GTK_WINDOW(window), window->session));
    g_object_add_weak_pointer(G_OBJECT(window->train), (gpointer *)&window->train);
  }
  gtk_window_present(window->train);
}

static void
on_coverage(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_cohort_page_set_coverage(DEMUR_WINDOW(data)->cohort, g_variant_get_double(value));
}

static void
on_use_coverage(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_cohort_page_use_coverage(DEMUR_WINDOW(data)->cohort);
}

void
demur_window_add_data_actions(DemurWindow *window) {
  static const GActionEntry actions[] = {
      {.name = "import-folder", .activate = on_import_folder},
      {.name = "import-files", .activate = on_import_files},
      {.name = "import-table", .activate = on_import_table},
      {.name = "import-path", .activate = on_import_path, .parameter_type = "s"},
      {.name = "import-report", .activate = on_import_report},
      {.name = "reread", .activate = on_reread},
      {.name = "backup", .activate = on_backup},
      {.name = "demo", .activate = on_demo},
      {.name = "assess", .activate = on_assess},
      {.name = "undo-assess", .activate = on_undo_assess},
      {.name = "tell-assessed", .activate = on_tell_assessed},
      {.name = "train", .activate = on_train},
      {.name = "coverage", .activate = on_coverage, .parameter_type = "d"},
      {.name = "use-coverage", .activate = on_use_coverage},
  };
  g_action_map_add_action_entries(G_ACTION_MAP(window), actions, G_N_ELEMENTS(actions), window);
}
