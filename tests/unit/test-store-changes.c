/* What one line is told of what others do, on a file and on a server. Right values: what was just written. A wait ends when
 * it is told; how long it may take at most only bounds a test that fails. */
#include <fcntl.h>
#include <unistd.h>

#include <glib-unix.h>
#include <glib/gstdio.h>

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
  const gboolean ok = demur_changes_wait(changes, timeout_ms, -1, &changed, &error);
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

/* What lies there is whole behind each that writes, though one that listens has it open. */
static void
the_log_is_empty_behind_who_writes(void) {
  if (demur_test_store_is_server())
    return;
  g_autofree char *folder = g_dir_make_tmp("demur-changes-XXXXXX", NULL);
  g_autofree char *path = demur_test_store_path(folder, "w.demur");
  g_autofree char *log = g_strconcat(path, "-wal", NULL);
  DemurWorkspace *writer = open_workspace(path);
  gint64 last = 0;
  g_autoptr(DemurChanges) changes = listen_to(path, &last);
  write_event(writer, DEMUR_EVENT_SETTING);
  demur_workspace_close(writer);
  GStatBuf status = {0};
  g_assert_true(g_stat(log, &status) != 0 || status.st_size == 0);
  g_assert_cmpint(wait_for(changes, PATIENCE_MS).last, ==, 1);
  demur_test_remove_folder(folder);
}

/* Files lie elsewhere than they lay: a rename over it, gone, back again. */
static void
another_file_is_told(void) {
  if (demur_test_store_is_server())
    return;
  g_autofree char *folder = g_dir_make_tmp("demur-changes-XXXXXX", NULL);
  g_autofree char *path = demur_test_store_path(folder, "w.demur");
  g_autofree char *new_path = demur_test_store_path(folder, "new.demur");
  demur_workspace_close(open_workspace(path));
  demur_workspace_close(open_workspace(new_path));
  gint64 last = 0;
  g_autoptr(DemurChanges) first = listen_to(path, &last);
  g_assert_false(wait_for(first, 0).is_another);
  g_assert_cmpint(g_rename(new_path, path), ==, 0);
  g_assert_true(wait_for(first, PATIENCE_MS).is_another);
  g_autoptr(DemurChanges) second = listen_to(path, &last);
  g_assert_false(wait_for(second, 0).is_another);
  g_assert_cmpint(g_rename(path, new_path), ==, 0);
  g_assert_true(wait_for(second, PATIENCE_MS).is_another);
  g_assert_cmpint(g_rename(new_path, path), ==, 0);
  g_assert_false(wait_for(second, 0).is_another);
  demur_test_remove_folder(folder);
}

static void
a_wait_is_woken(void) {
  g_autofree char *folder = g_dir_make_tmp("demur-changes-XXXXXX", NULL);
  g_autofree char *path = demur_test_store_path(folder, "w.demur");
  g_autoptr(DemurWorkspace) writer = open_workspace(path);
  gint64 last = 0;
  g_autoptr(DemurChanges) changes = listen_to(path, &last);
  int line[2];
  g_assert_true(g_unix_open_pipe(line, FD_CLOEXEC, NULL));
  g_assert_cmpint(write(line[1], "", 1), ==, 1);
  DemurChanged changed;
  g_autoptr(GError) error = NULL;
  /* Not woken, it would wait for ever. */
  g_assert_true(demur_changes_wait(changes, G_MAXINT, line[0], &changed, &error));
  g_assert_false(changed.written || changed.opened || changed.is_another);
  close(line[0]);
  close(line[1]);
  demur_test_remove_folder(folder);
}

/* A line that the server ended is not made anew behind who listens: neither by a look, nor by opening a scan, nor by asking
 * who has one open. */
static void
a_lost_line_stays_lost(void) {
  if (!demur_test_store_is_server())
    return;
  g_autofree char *folder = g_dir_make_tmp("demur-changes-XXXXXX", NULL);
  g_autofree char *path = demur_test_store_path(folder, "w.demur");
  g_autoptr(DemurWorkspace) writer = open_workspace(path);
  for (guint way = 0; way < 4; way++) {
    gint64 last = 0;
    g_autoptr(DemurChanges) changes = listen_to(path, &last);
    g_autoptr(GError) error = NULL;
    DemurChanged changed;
    g_assert_true(demur_changes_open(changes, "1.2", &error));
    (void)demur_test_store_number(
        path, "SELECT count(pg_terminate_backend(pid, 60000)) FROM pg_stat_activity WHERE datname ="
              " current_database() AND query LIKE 'SELECT pg_catalog.pg_advisory_lock_shared%'");
    /* It reads what the server said last, or finds the end of the line. */
    const gboolean was_read = demur_changes_wait(changes, 0, -1, &changed, NULL);
    g_test_message("way %u, read: %d", way, was_read);
    g_autoptr(GPtrArray) opened = way == 1 ? demur_changes_opened(changes, &error) : NULL;
    g_assert_null(opened);
    g_assert_false(way == 2 && demur_changes_open(changes, "1.3", &error));
    g_assert_false(way == 3 && demur_changes_open(changes, NULL, &error));
    if (way > 0)
      g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_AWAY);
    g_clear_error(&error);
    g_assert_false(demur_changes_wait(changes, PATIENCE_MS, -1, &changed, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_AWAY);
  }
  demur_test_remove_folder(folder);
}

static gint64
see(DemurWorkspace *workspace, gint64 seen) {
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_events_see_own(workspace, &seen, &error));
  g_assert_no_error(error);
  return seen;
}

static void
begin(DemurWorkspace *workspace) {
  g_assert_true(demur_workspace_begin(workspace, NULL));
}

static void
own_changes_are_seen(void) {
  g_autofree char *folder = g_dir_make_tmp("demur-changes-XXXXXX", NULL);
  g_autofree char *path = demur_test_store_path(folder, "w.demur");
  g_autoptr(DemurWorkspace) mine = open_workspace(path), another = open_workspace(path);
  g_assert_cmpint(see(mine, 0), ==, 0);
  write_event(mine, DEMUR_EVENT_SETTING); /* 1 */
  g_assert_cmpint(see(mine, 0), ==, 1);
  g_assert_cmpint(see(another, 0), ==, 0);
  /* What changes nothing lies in between, of whomever. */
  write_event(mine, DEMUR_EVENT_OPENED);
  write_event(another, DEMUR_EVENT_EXPORT);
  write_event(mine, DEMUR_EVENT_REVIEW); /* 4 */
  g_assert_cmpint(see(mine, 1), ==, 4);
  g_assert_cmpint(see(mine, 4), ==, 4);
  /* Another's change before, and between two of its own. */
  write_event(another, DEMUR_EVENT_REVIEW);
  write_event(mine, DEMUR_EVENT_REVIEW); /* 6 */
  g_assert_cmpint(see(mine, 4), ==, 4);
  g_autoptr(DemurWorkspace) third = open_workspace(path);
  write_event(third, DEMUR_EVENT_REVIEW);
  write_event(another, DEMUR_EVENT_REVIEW);
  write_event(third, DEMUR_EVENT_REVIEW); /* 9 */
  g_assert_cmpint(see(third, 6), ==, 6);
  /* What is taken back was not written, what is not committed not yet. */
  g_autoptr(DemurWorkspace) fourth = open_workspace(path);
  begin(fourth);
  write_event(fourth, DEMUR_EVENT_REVIEW);
  demur_workspace_rollback(fourth);
  g_assert_cmpint(see(fourth, 9), ==, 9);
  begin(fourth);
  write_event(fourth, DEMUR_EVENT_REVIEW); /* 10 */
  begin(fourth);
  write_event(fourth, DEMUR_EVENT_REVIEW);
  begin(fourth);
  write_event(fourth, DEMUR_EVENT_REVIEW);
  g_assert_true(demur_workspace_commit(fourth, NULL));
  demur_workspace_rollback(fourth);
  begin(fourth);
  write_event(fourth, DEMUR_EVENT_REVIEW); /* 11 */
  g_assert_true(demur_workspace_commit(fourth, NULL));
  g_assert_cmpint(see(fourth, 9), ==, 9);
  g_assert_true(demur_workspace_commit(fourth, NULL));
  g_assert_cmpint(see(fourth, 9), ==, 11);
  demur_test_remove_folder(folder);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/store/changes/what-another-wrote-is-told", what_another_wrote_is_told);
  g_test_add_func("/store/changes/who-has-a-scan-open-is-told", who_has_a_scan_open_is_told);
  g_test_add_func("/store/changes/the-log-is-empty-behind-who-writes",
                  the_log_is_empty_behind_who_writes);
  g_test_add_func("/store/changes/another-file-is-told", another_file_is_told);
  g_test_add_func("/store/changes/a-wait-is-woken", a_wait_is_woken);
  g_test_add_func("/store/changes/a-lost-line-stays-lost", a_lost_line_stays_lost);
  g_test_add_func("/store/changes/own-changes-are-seen", own_changes_are_seen);
  return g_test_run();
}
