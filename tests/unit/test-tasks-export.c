/* A file of verdicts that the log can't tell of. Right value: it is not there, and what stood under its name
 * is what it was where the event is refused. The refusals are put into the database past the program. */
#include <glib/gstdio.h>

#include "base/error.h"
#include "store/verdicts.h"
#include "support/folder.h"
#include "support/store.h"
#include "support/support.h"
#include "tasks/verdict-export.h"

/* At the event itself, and at the end of its transaction. */
static const char at_the_event[] =
    "CREATE TRIGGER stop BEFORE INSERT ON event WHEN new.kind = 'export'"
    " BEGIN SELECT RAISE(ABORT, 'not allowed'); END";
static const char at_the_end[] =
    "CREATE TABLE nowhere (x REFERENCES event (sequence) DEFERRABLE INITIALLY DEFERRED);"
    "CREATE TRIGGER stop AFTER INSERT ON event WHEN new.kind = 'export'"
    " BEGIN INSERT INTO nowhere VALUES (-1); END";

static void
save_verdict(DemurTask *task) {
  const DemurVerdictBatch batch = {.selector = "s",
                                   .cohort = "c",
                                   .selector_digest = "d",
                                   .model = "m",
                                   .coverage = 0.9,
                                   .threshold = 0.5,
                                   .created = "2026-01-01T00:00:00Z"};
  const DemurVerdictRecord verdict = {.scan_id = (char *)"1.2",
                                      .risk = 0.25,
                                      .risk_raw = 0.25,
                                      .score = 0.125,
                                      .verdict = DEMUR_VERDICT_ACCEPTED,
                                      .reasons = (char *)"[]"};
  g_autoptr(GError) error = NULL;
  DemurWorkspace *workspace = demur_task_workspace(task, &error);
  g_assert_no_error(error);
  g_assert_true(demur_verdicts_save(workspace, &batch, &verdict, 1, &error));
}

static gboolean export(DemurTask *task, DemurExportFormat format, const char *path,
                       GError **error) {
  const DemurVerdictExportParams params = {.path = path, .format = format, .cohort = "c"};
  DemurVerdictExported exported;
  return demur_task_verdict_export(task, &params, &exported, error);
}

static void
what_is_not_told_does_not_stand(gconstpointer data) {
  const char *refusal = data;
  g_autofree char *folder = g_dir_make_tmp("demur-export-XXXXXX", NULL);
  g_autofree char *file = g_build_filename(folder, "v.csv", NULL);
  g_auto(DemurTask) task = {.workspace_path = g_build_filename(folder, "w.demur", NULL),
                            .opening = DEMUR_WORKSPACE_CREATE};
  g_autoptr(GError) error = NULL;
  save_verdict(&task);
  static const DemurExportFormat formats[] = {DEMUR_EXPORT_CSV, DEMUR_EXPORT_JSON};
  for (guint f = 0; f < G_N_ELEMENTS(formats); f++)
    if (!export(&task, formats[f], file, &error))
      g_error("%s", error->message);
  g_autofree char *before = NULL, *behind = NULL;
  g_assert_true(g_file_get_contents(file, &before, NULL, NULL));
  demur_test_store_run(task.workspace_path, refusal);
  for (guint f = 0; f < G_N_ELEMENTS(formats); f++) {
    g_assert_false(export(&task, formats[f], file, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STORE);
    g_test_message("%s", error->message);
    g_clear_error(&error);
    g_assert_cmpint(g_file_get_contents(file, &behind, NULL, NULL), ==, refusal == at_the_event);
    if (behind != NULL)
      g_assert_cmpstr(behind, ==, before);
    g_clear_pointer(&behind, g_free);
  }
  g_unlink(file);
  g_assert_false(export(&task, DEMUR_EXPORT_CSV, file, &error));
  g_assert_false(g_file_test(file, G_FILE_TEST_EXISTS));
  demur_test_store_run(task.workspace_path, "DROP TRIGGER stop");
  g_clear_error(&error);
  g_assert_true(export(&task, DEMUR_EXPORT_CSV, file, &error));
  g_assert_true(g_file_test(file, G_FILE_TEST_EXISTS));
  demur_task_clear(&task);
  demur_test_remove_folder(folder);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_data_func("/tasks/export/refused-at-the-event", at_the_event,
                       what_is_not_told_does_not_stand);
  g_test_add_data_func("/tasks/export/refused-at-the-end", at_the_end,
                       what_is_not_told_does_not_stand);
  return g_test_run();
}
