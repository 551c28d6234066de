/* When a session reads its workspace again without being asked. Right values: what was just written; how much time is let go
 * by at least, never at most. */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib-unix.h>
#include <glib/gstdio.h>

#include "store/events.h"
#include "support/folder.h"
#include "support/store.h"
#include "ui/session.h"

#define REST_US ((gint64)G_USEC_PER_SEC)

typedef struct {
  char *folder, *path;
  DemurWorkspace *writer;
  DemurSession *session;
  guint n_loaded, n_failed;
  gint64 loaded_at[8];
} Fixture;

static void
on_loaded(DemurSession *session, Fixture *f) {
  f->loaded_at[f->n_loaded++ % G_N_ELEMENTS(f->loaded_at)] = g_get_monotonic_time();
}

static void
on_busy(DemurSession *session, Fixture *f) { /* no work runs: a reading failed */
  f->n_failed++;
}

static DemurWorkspace *
make(const char *path) {
  g_autoptr(GError) error = NULL;
  DemurWorkspace *workspace = demur_workspace_open(path, DEMUR_WORKSPACE_CREATE, &error);
  g_assert_no_error(error);
  demur_workspace_set_actor(workspace, "anna", "here", NULL);
  return workspace;
}

static void
write_change(DemurWorkspace *workspace) {
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_events_add(workspace, DEMUR_EVENT_SETTING, "thing", NULL, NULL, "", &error));
  g_assert_no_error(error);
}

/* Until the count is reached; never reached, the test's own limit ends it. */
static void
run_until(const guint *count, guint n) {
  while (*count < n)
    g_main_context_iteration(NULL, TRUE);
}

static void
set_up(Fixture *f, gconstpointer data) {
  f->folder = g_dir_make_tmp("demur-session-XXXXXX", NULL);
  f->path = demur_test_store_path(f->folder, "w.demur");
  f->writer = make(f->path);
  f->session = demur_session_new("rita");
  g_signal_connect(f->session, "loaded", G_CALLBACK(on_loaded), f);
  g_signal_connect(f->session, "busy", G_CALLBACK(on_busy), f);
  demur_session_open(f->session, f->path, FALSE);
  run_until(&f->n_loaded, 1);
}

static void
tear_down(Fixture *f, gconstpointer data) {
  g_object_run_dispose(G_OBJECT(f->session));
  g_object_unref(f->session);
  demur_workspace_close(f->writer);
  demur_test_remove_folder(f->folder);
  g_free(f->folder);
  g_free(f->path);
}

static gboolean
write_again(gpointer workspace) {
  write_change(workspace);
  return G_SOURCE_CONTINUE;
}

/* Each reading begins at least a second behind the end of the one before. */
static void
who_writes_steadily_is_read_with_pauses(Fixture *f, gconstpointer data) {
  const guint source = g_timeout_add(20, write_again, f->writer);
  run_until(&f->n_loaded, 3);
  g_source_remove(source);
  for (guint i = 1; i < 3; i++)
    g_assert_cmpint(f->loaded_at[i] - f->loaded_at[i - 1], >=, REST_US);
}

static void
another_file_is_read(Fixture *f, gconstpointer data) {
  write_change(f->writer);
  run_until(&f->n_loaded, 2);
  /* It has fewer events than the one that is shown. */
  g_autofree char *path = demur_test_store_path(f->folder, "new.demur");
  demur_workspace_close(make(path));
  g_clear_pointer(&f->writer, demur_workspace_close);
  g_assert_cmpint(g_rename(path, f->path), ==, 0);
  run_until(&f->n_loaded, 3);
  g_assert_cmpint(demur_session_table(f->session)->last_event, ==, 0);
}

/* Nothing more is written behind the reading that fails. */
static void
a_reading_that_failed_is_tried_again(Fixture *f, gconstpointer data) {
  demur_test_store_run(f->path, "ALTER TABLE review RENAME TO away");
  write_change(f->writer);
  run_until(&f->n_failed, 1);
  demur_test_store_run(f->path, "ALTER TABLE away RENAME TO review");
  run_until(&f->n_loaded, 2);
  g_assert_cmpint(demur_session_table(f->session)->last_event, ==, 1);
}

/* Who may only read is shown what another writes, too. The one that writes is another process, and waits for a byte. */
static void
what_may_only_be_read_is_read_again(void) {
  if (geteuid() != 0) {
    g_test_skip("nobody else's workspace can be made");
    return;
  }
  if (!g_test_subprocess()) {
    g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
    g_test_trap_assert_passed();
    return;
  }
  int line[2];
  g_autofree char *folder = g_dir_make_tmp("demur-session-XXXXXX", NULL);
  g_autofree char *path = g_build_filename(folder, "w.demur", NULL);
  g_assert_true(g_unix_open_pipe(line, FD_CLOEXEC, NULL));
  demur_workspace_close(make(path));
  g_assert_true(g_chmod(folder, 0755) == 0 && g_chmod(path, 0644) == 0);
  const pid_t pid = fork();
  if (pid == 0) {
    char byte;
    close(line[1]);
    if (read(line[0], &byte, 1) == 1) {
      DemurWorkspace *writer = make(path);
      write_change(writer);
      demur_workspace_close(writer);
      (void)!read(line[0], &byte, 1);
    }
    demur_test_remove_folder(folder);
    _exit(0);
  }
  g_assert_true(setgid(65534) == 0 && setuid(65534) == 0);
  Fixture f = {.path = path, .session = demur_session_new("rita")};
  g_signal_connect(f.session, "loaded", G_CALLBACK(on_loaded), &f);
  demur_session_open(f.session, path, FALSE);
  run_until(&f.n_loaded, 1);
  g_assert_true(demur_session_read_only(f.session));
  g_assert_cmpint(write(line[1], "", 1), ==, 1);
  while (demur_session_table(f.session)->last_event != 1)
    g_main_context_iteration(NULL, TRUE);
  g_object_run_dispose(G_OBJECT(f.session));
  g_object_unref(f.session);
  close(line[1]);
  g_assert_cmpint(waitpid(pid, NULL, 0), ==, pid);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
#define ADD(name, function)                                                                        \
  g_test_add("/ui/session/" name, Fixture, NULL, set_up, function, tear_down)
  ADD("who-writes-steadily-is-read-with-pauses", who_writes_steadily_is_read_with_pauses);
  ADD("another-file-is-read", another_file_is_read);
  ADD("a-reading-that-failed-is-tried-again", a_reading_that_failed_is_tried_again);
  g_test_add_func("/ui/session/what-may-only-be-read-is-read-again",
                  what_may_only_be_read_is_read_again);
  return g_test_run();
}
