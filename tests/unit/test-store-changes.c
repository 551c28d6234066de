/* What one line is told of what others do, on a file and on a server. Right values: what was just written. A wait ends when
 * it is told; how long it may take at most only bounds a test that fails. */
#include "base/error.h"
#include "store/changes.h"
#include "store/events.h"
#include "support/folder.h"
#include "support/store.h"

#define PATIENCE_MS 60000

static DemurWorkspace *
open_workspace(const char *path) {
  g_autoptr(GError) error = NULL;
  DemurWorkspace *workspace = demur_workspace_open(path, DEMUR_WORKSPACE_CREATE, &error);
  g_assert_no_error(error);
  demur_workspace_set_actor(workspace, "anna", "here", NULL);
  return workspace;
}

static void
write_event(DemurWorkspace *workspace, DemurEventKind kind) {
  g_autoptr(GError) error = NULL;
  const gboolean ok = demur_events_add(workspace, kind, "thing", NULL, NULL, "", &error);
  g_assert_no_error(error);
  g_assert_true(ok);
}

static DemurChanges *
listen_to(const char *path, gint64 *last) {
  g_autoptr(GError) error = NULL;
  DemurChanges *changes = demur_changes_new(path, last, &error);
  g_assert_no_error(error);
  return changes;
}

static DemurChanged
wait_for(DemurChanges *changes, guint timeout_ms) {
  g_autoptr(GError) error = NULL;
  DemurChanged changed = {0};
  const gboolean ok = demur_changes_wait(changes, timeout_ms, &changed, &error);
  g_assert_no_error(error);
  g_assert_true(ok);
  return changed;
}

static void
what_another_wrote_is_told(void) {
  g_autofree char *folder = g_dir_make_tmp("demur-changes-XXXXXX", NULL);
  g_autofree char *path = demur_test_store_path(folder, "w.demur");
  g_autoptr(DemurWorkspace) writer = open_workspace(path);
  write_event(writer, DEMUR_EVENT_SETTING);
  gint64 last = 0;
  g_autoptr(DemurChanges) changes = listen_to(path, &last);
  g_assert_cmpint(last, ==, 1);
  g_assert_cmpint(wait_for(changes, 0).last, ==, 1);
  for (gint64 n = 2; n <= 4; n++) {
    write_event(writer, DEMUR_EVENT_SETTING);
    g_assert_cmpint(wait_for(changes, PATIENCE_MS).last, ==, n);
  }
  /* A report that is written changes nothing that others see. */
  write_event(writer, DEMUR_EVENT_EXPORT);
  g_assert_cmpint(wait_for(changes, PATIENCE_MS).last, ==, 4);
  /* What is taken back was never there. */
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_workspace_begin(writer, &error));
  write_event(writer, DEMUR_EVENT_SETTING);
  demur_workspace_rollback(writer);
  g_assert_cmpint(wait_for(changes, 0).last, ==, 4);
  demur_test_remove_folder(folder);
}

static void
who_has_a_scan_open_is_told(void) {
  g_autofree char *folder = g_dir_make_tmp("demur-changes-XXXXXX", NULL);
  g_autofree char *path = demur_test_store_path(folder, "w.demur");
  g_autoptr(DemurWorkspace) writer = open_workspace(path);
  gint64 last = 0;
  g_autoptr(DemurChanges) mine = listen_to(path, &last), others = listen_to(path, &last);
  g_autoptr(GError) error = NULL;
  static const char *const scans[] = {"1.2", "1.3", NULL, "1.4"};
  for (guint i = 0; i < G_N_ELEMENTS(scans); i++) {
    g_assert_true(demur_changes_open(others, scans[i], &error));
    if (demur_test_store_is_server())
      g_assert_true(wait_for(mine, PATIENCE_MS).opened);
    g_autoptr(GPtrArray) opened = demur_changes_opened(mine, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(opened->len, ==, demur_test_store_is_server() && scans[i] != NULL ? 1 : 0);
    if (opened->len > 0) {
      const DemurOpenedBy *by = opened->pdata[0];
      g_assert_cmpuint(by->mark, ==, demur_changes_mark(scans[i]));
      g_assert_cmpstr(by->user, ==, "demur");
    }
    g_autoptr(GPtrArray) own = demur_changes_opened(others, &error);
    g_assert_cmpuint(own->len, ==, 0);
    while (wait_for(mine, 0).opened)
      continue;
  }
  /* Who goes has nothing open. */
  g_clear_pointer(&others, demur_changes_free);
  for (guint n = 1; n > 0;) {
    g_autoptr(GPtrArray) opened = demur_changes_opened(mine, &error);
    n = opened->len;
  }
  demur_test_remove_folder(folder);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/store/changes/what-another-wrote-is-told", what_another_wrote_is_told);
  g_test_add_func("/store/changes/who-has-a-scan-open-is-told", who_has_a_scan_open_is_told);
  return g_test_run();
}
