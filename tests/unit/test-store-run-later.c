/* Statements that are put off: in the order in which they were given, seen by what is asked behind them, and undone
 * with their transaction. The same with both engines (support/store.h). */
#include "store/connection.h"
#include "support/folder.h"
#include "support/store.h"
#include "support/support.h"

#define N_ROWS 2000 /* more than are put off at once */

static char *folder;

static DemurWorkspace *
open_workspace(const char *name) {
  g_autofree char *path = demur_test_store_path(folder, name);
  g_autoptr(GError) error = NULL;
  DemurWorkspace *workspace = demur_workspace_open(path, DEMUR_WORKSPACE_CREATE, &error);
  g_assert_no_error(error);
  return workspace;
}

/* label: 0 or 1, and nothing else goes into the table. */
static gboolean
put(DemurWorkspace *workspace, gint64 number, gint64 label, GError **error) {
  g_autofree char *scan = g_strdup_printf("1.2.%" G_GINT64_FORMAT, number);
  DemurStatement *statement = demur_store_statement(
      workspace, "INSERT INTO watch_label (event, scan_id, label, created) VALUES (?, ?, ?, '')",
      error);
  g_assert_nonnull(statement);
  demur_store_bind_int(statement, 1, number);
  demur_store_bind_text(statement, 2, scan);
  demur_store_bind_int(statement, 3, label);
  return demur_store_run_later(workspace, statement, "putting off", error);
}

static gint64
n_rows(DemurWorkspace *workspace) {
  g_autoptr(GError) error = NULL;
  const gint64 n =
      demur_store_count(workspace, "SELECT count(*) FROM watch_label", NULL, NULL, &error);
  g_assert_no_error(error);
  return n;
}

static void
test_order_and_sight(void) {
  g_autoptr(DemurWorkspace) workspace = open_workspace("order.demur");
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_workspace_begin(workspace, &error));
  for (gint64 i = 1; i <= N_ROWS; i++)
    g_assert_true(put(workspace, i, i % 2, &error));
  g_assert_cmpint(n_rows(workspace), ==, N_ROWS);
  g_assert_true(demur_workspace_commit(workspace, &error));
  g_assert_no_error(error);
  g_assert_cmpint(demur_store_count(workspace, "SELECT count(*) FROM watch_label WHERE id = event",
                                    NULL, NULL, &error),
                  ==, N_ROWS);
}

/* Whoever tells it, that statement, one behind it or the commit: nothing of the transaction is there, and the
 * next one goes well. */
static void
test_one_that_fails_undoes_all(void) {
  g_autoptr(DemurWorkspace) workspace = open_workspace("fails.demur");
  for (gint64 wrong = 1; wrong <= N_ROWS; wrong += N_ROWS / 4 - 1) {
    g_autoptr(GError) error = NULL;
    g_assert_true(demur_workspace_begin(workspace, &error));
    gboolean ok = TRUE;
    for (gint64 i = 1; ok && i <= N_ROWS; i++)
      ok = put(workspace, i, i == wrong ? 2 : 1, &error);
    g_assert_false(demur_store_end(workspace, ok, &error));
    g_assert_nonnull(error);
    g_assert_cmpint(n_rows(workspace), ==, 0);
  }
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_workspace_begin(workspace, &error));
  g_assert_true(put(workspace, 1, 1, &error));
  g_assert_true(demur_workspace_commit(workspace, &error));
  g_assert_cmpint(n_rows(workspace), ==, 1);
}

/* A part that is undone takes its own with it, and leaves what stood before. */
static void
test_a_part_is_undone_alone(void) {
  g_autoptr(DemurWorkspace) workspace = open_workspace("part.demur");
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_workspace_begin(workspace, &error));
  g_assert_true(put(workspace, 1, 1, &error));
  g_assert_true(demur_workspace_begin(workspace, &error));
  const gboolean told = !put(workspace, 2, 2, &error);
  g_assert_true(told == (error != NULL));
  g_clear_error(&error);
  demur_workspace_rollback(workspace);
  g_assert_true(put(workspace, 3, 0, &error));
  g_assert_true(demur_workspace_commit(workspace, &error));
  g_assert_no_error(error);
  g_assert_cmpint(n_rows(workspace), ==, 2);
}

/* Rows are read to their end, whatever is put off for the first time meanwhile. */
static void
test_rows_that_are_read_stay(void) {
  g_autoptr(DemurWorkspace) workspace = open_workspace("read.demur");
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_workspace_begin(workspace, &error));
  DemurStatement *rows = demur_store_statement(
      workspace,
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) SELECT i FROM n",
      &error);
  g_assert_no_error(error);
  gint64 n = 0;
  gboolean row = TRUE;
  while (row) {
    g_assert_true(demur_store_step(workspace, rows, &row, "reading", &error));
    if (row)
      g_assert_cmpint(demur_store_int(rows, 0), ==, ++n);
    if (row)
      g_assert_true(put(workspace, n, 1, &error));
  }
  g_assert_true(demur_workspace_commit(workspace, &error));
  g_assert_no_error(error);
  g_assert_cmpint(n, ==, 50);
  g_assert_cmpint(n_rows(workspace), ==, 50);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_autoptr(GError) error = NULL;
  folder = g_dir_make_tmp("demur-later-XXXXXX", &error);
  g_assert_no_error(error);
  g_test_add_func("/store/run-later/order-and-sight", test_order_and_sight);
  g_test_add_func("/store/run-later/one-that-fails-undoes-all", test_one_that_fails_undoes_all);
  g_test_add_func("/store/run-later/a-part-is-undone-alone", test_a_part_is_undone_alone);
  g_test_add_func("/store/run-later/rows-that-are-read-stay", test_rows_that_are_read_stay);
  const int status = g_test_run();
  g_assert_true(demur_test_remove_folder(folder));
  g_free(folder);
  return status;
}
