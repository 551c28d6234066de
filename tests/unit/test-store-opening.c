/* Who may open a workspace, and what opening leaves beside it. What a second user finds is tried as
 * that user, in a child process; that takes root. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <grp.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/error.h"
#include "base/file-input.h"
#include "base/locked-files.h"
#include "store/cohorts.h"
#include "store/verdicts.h"
#include "store/workspace.h"
#include "support/folder.h"
#include "support/support.h"

#define OTHER_USER 65534

typedef struct {
  char *folder, *path;
} Fixture;

static void
set_up(Fixture *f, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  f->folder = g_dir_make_tmp("demur-opening-XXXXXX", &error);
  g_assert_no_error(error);
  f->path = g_build_filename(f->folder, "w.demur", NULL);
}

static void
tear_down(Fixture *f, gconstpointer data) {
  g_assert_true(demur_test_remove_folder(f->folder));
  g_free(f->folder);
  g_free(f->path);
}

static guint
mode_of(const char *path, const char *ending) {
  g_autofree char *file = g_strconcat(path, ending, NULL);
  struct stat status;
  g_assert_cmpint(stat(file, &status), ==, 0);
  return status.st_mode & 0777;
}

static gboolean
is_there(const char *path, const char *ending) {
  g_autofree char *file = g_strconcat(path, ending, NULL);
  return g_file_test(file, G_FILE_TEST_EXISTS);
}

static DemurWorkspace *
open_workspace(const char *path, DemurWorkspaceFlags flags) {
  g_autoptr(GError) error = NULL;
  DemurWorkspace *workspace = demur_workspace_open(path, flags, &error);
  g_assert_no_error(error);
  return workspace;
}

static gboolean
write_something(DemurWorkspace *workspace, const char *name) {
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, 0);
  for (int i = 0; i < 4; i++) {
    g_autofree char *id = g_strdup_printf("%d", i);
    demur_cohort_builder_add(builder, id, id, "A", "test", i % 2, (double[]){0.5, 0.5}, NULL, NULL);
  }
  g_autoptr(DemurCohort) cohort = demur_cohort_builder_finish(builder, name, "model", "made",
                                                              "2022-02-02T00:00:00Z", TRUE, NULL);
  return cohort != NULL && demur_cohorts_save(workspace, cohort, NULL, NULL);
}

/* What a reader makes of the workspace: how many cohorts, -1 where it is refused. */
static int
count_cohorts(const char *path, DemurWorkspaceFlags flags) {
  g_autoptr(DemurWorkspace) workspace = demur_workspace_open(path, flags, NULL);
  g_autoptr(GPtrArray) list = workspace != NULL ? demur_cohorts_list(workspace, NULL) : NULL;
  return list != NULL ? (int)list->len : -1;
}

/* As the other user: the number above, opened as the program opens it. */
static int
count_as_another(const char *path) {
  const pid_t child = fork();
  if (child == 0) {
    if (setgroups(0, NULL) != 0 || setresgid(OTHER_USER, OTHER_USER, OTHER_USER) != 0 ||
        setresuid(OTHER_USER, OTHER_USER, OTHER_USER) != 0)
      _exit(100);
    const gboolean read_only = demur_workspace_is_read_only(path);
    const int n =
        count_cohorts(path, read_only ? DEMUR_WORKSPACE_READ_ONLY : DEMUR_WORKSPACE_DEFAULT);
    _exit(n < 0 ? 99 : n);
  }
  int status;
  g_assert_cmpint(waitpid(child, &status, 0), ==, child);
  g_assert_true(WIFEXITED(status));
  g_assert_cmpint(WEXITSTATUS(status), !=, 100);
  return WEXITSTATUS(status) == 99 ? -1 : WEXITSTATUS(status);
}

static gboolean
skip_without_root(void) {
  if (geteuid() == 0)
    return FALSE;
  g_test_skip("acting as another user takes root");
  return TRUE;
}

static void
what_is_no_file_is_refused_at_once(Fixture *f, gconstpointer data) {
  g_assert_cmpint(mkfifo(f->path, 0600), ==, 0);
  const char *const paths[] = {f->path, f->folder, "/dev/null", "/dev/zero"};
  for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurWorkspace) workspace =
        demur_workspace_open(paths[i], DEMUR_WORKSPACE_CREATE, &error);
    g_assert_null(workspace);
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STORE);
  }
}

static void
rights_are_the_owners_whatever_the_umask(Fixture *f, gconstpointer data) {
  static const struct {
    mode_t umask, folder;
    guint mode;
  } rows[] = {{0000, 0755, 0600},  {0022, 0755, 0600},  {0077, 0755, 0600}, {0000, 0777, 0600},
              {0022, 02775, 0660}, {0077, 02770, 0660}, {0022, 0775, 0600}};
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    g_assert_cmpint(g_chmod(f->folder, rows[r].folder), ==, 0);
    const mode_t before = umask(rows[r].umask);
    DemurWorkspace *workspace = open_workspace(f->path, DEMUR_WORKSPACE_CREATE);
    g_assert_true(write_something(workspace, "a"));
    umask(before);
    g_assert_cmphex(mode_of(f->path, ""), ==, rows[r].mode);
    g_assert_cmphex(mode_of(f->path, "-wal"), ==, rows[r].mode);
    g_assert_cmphex(mode_of(f->path, "-shm"), ==, rows[r].mode);
    demur_workspace_close(workspace);
    g_assert_cmpint(g_unlink(f->path), ==, 0);
  }
  g_assert_cmpint(g_chmod(f->folder, 0700), ==, 0);
}

/* As another process sees it. */
static gboolean
is_locked_by_us(const char *path) {
  const pid_t parent = getpid(), child = fork();
  if (child == 0) {
    const int fd = open(path, O_RDWR);
    struct flock lock = {.l_type = F_WRLCK,
                         .l_whence = SEEK_SET,
                         .l_start = 0x40000000 + 2, /* SQLite's shared range */
                         .l_len = 510};
    _exit(fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type == F_RDLCK && lock.l_pid == parent ? 0 : 1);
  }
  int status;
  g_assert_cmpint(waitpid(child, &status, 0), ==, child);
  return status == 0;
}

/* POSIX takes all of a process' locks on a file away when it closes any descriptor of it. Another
 * process would then take the workspace for closed, and remove the log that is in use. */
static void
another_handle_leaves_the_locks(Fixture *f, gconstpointer data) {
  g_autoptr(DemurWorkspace) first = open_workspace(f->path, DEMUR_WORKSPACE_CREATE);
  g_assert_true(write_something(first, "a"));
  demur_workspace_close(open_workspace(f->path, DEMUR_WORKSPACE_DEFAULT));
  demur_workspace_close(open_workspace(f->path, DEMUR_WORKSPACE_READ_ONLY));
  g_assert_true(is_locked_by_us(f->path));
}

/* Nor does who reads the file as something else, again and again, or at once; no descriptor is left behind the last handle. */
static void
who_reads_it_as_something_else_leaves_the_locks(Fixture *f, gconstpointer data) {
  DemurWorkspace *workspace = open_workspace(f->path, DEMUR_WORKSPACE_CREATE);
  g_assert_true(write_something(workspace, "a"));
  static const char *const endings[] = {"", "-wal", "-shm"};
  for (size_t e = 0; e < G_N_ELEMENTS(endings); e++) {
    g_autofree char *path = g_strconcat(f->path, endings[e], NULL);
    const int first = demur_locked_files_open(path), second = demur_locked_files_open(path);
    g_assert_cmpint(first, !=, second);
    demur_locked_files_close(first);
    demur_locked_files_close(second);
    const int again = demur_locked_files_open(path); /* one of the two */
    g_assert_true(again == first || again == second);
    demur_locked_files_close_stream(fdopen(again, "rb"));
    for (int i = 0; i < 3; i++) {
      char bytes[16];
      gsize n;
      g_autoptr(GError) error = NULL;
      g_autofree char *whole = demur_file_input_read(path, 1 << 30, &n, &error);
      g_assert_no_error(error);
      g_assert_true(demur_file_input_begin(path, bytes, sizeof bytes, &n, &error));
      g_assert_true(memcmp(whole, bytes, n) == 0);
    }
  }
  g_assert_true(is_locked_by_us(f->path));
  const int kept = demur_locked_files_open(f->path);
  demur_locked_files_close(kept);
  demur_workspace_close(workspace);
  g_assert_cmpint(fcntl(kept, F_GETFD), ==, -1);
}

/* In folders of every kind: read, nothing left, and the owner writes on. */
static void
a_reader_leaves_nothing_beside(Fixture *f, gconstpointer data) {
  if (skip_without_root())
    return;
  static const mode_t folders[] = {0755, 01777, 0777};
  for (size_t i = 0; i < G_N_ELEMENTS(folders); i++) {
    g_autofree char *name = g_strdup_printf("cohort-%zu", i);
    DemurWorkspace *owner = open_workspace(f->path, DEMUR_WORKSPACE_CREATE);
    g_assert_true(write_something(owner, name));
    demur_workspace_close(owner);
    g_assert_cmpint(g_chmod(f->folder, folders[i]), ==, 0);
    g_assert_cmpint(g_chmod(f->path, 0644), ==, 0);
    g_assert_cmpint(count_as_another(f->path), ==, (int)i + 1);
    g_assert_false(is_there(f->path, "-wal") || is_there(f->path, "-shm"));
  }
  g_assert_cmpint(g_chmod(f->path, 0600), ==, 0);
  g_assert_cmpint(count_as_another(f->path), ==, -1);
  g_assert_cmpint(g_chmod(f->folder, 0700), ==, 0);
}

/* The owner's newest changes stand in the log: read with its index, refused without. */
static void
a_reader_sees_the_log_or_is_refused(Fixture *f, gconstpointer data) {
  if (skip_without_root())
    return;
  g_assert_cmpint(g_chmod(f->folder, 01777), ==, 0);
  demur_workspace_close(open_workspace(f->path, DEMUR_WORKSPACE_CREATE));
  g_assert_cmpint(g_chmod(f->path, 0644), ==, 0);
  DemurWorkspace *owner = open_workspace(f->path, DEMUR_WORKSPACE_DEFAULT);
  g_assert_true(write_something(owner, "a"));
  g_assert_cmpint(count_as_another(f->path), ==, 1);
  g_assert_true(write_something(owner, "b"));
  g_assert_cmpint(count_as_another(f->path), ==, 2);
  /* A run that was killed leaves a log; here the index is taken away too, as a copy lacks it. */
  g_autofree char *copy = g_build_filename(f->folder, "copy.demur", NULL);
  for (int i = 0; i < 2; i++) {
    const char *ending = i == 0 ? "" : "-wal";
    g_autofree char *from = g_strconcat(f->path, ending, NULL);
    g_autofree char *to = g_strconcat(copy, ending, NULL);
    g_autofree char *bytes = NULL;
    gsize n;
    g_assert_true(g_file_get_contents(from, &bytes, &n, NULL));
    g_assert_true(g_file_set_contents(to, bytes, (gssize)n, NULL));
    g_assert_cmpint(g_chmod(to, 0644), ==, 0);
  }
  g_assert_cmpint(count_as_another(copy), ==, -1);
  g_assert_false(is_there(copy, "-shm"));
  g_assert_true(write_something(owner, "c"));
  demur_workspace_close(owner);
  g_assert_cmpint(count_cohorts(copy, DEMUR_WORKSPACE_DEFAULT), ==, 2);
}

/* Shared by a group: written by both. By rights alone, without the group's folder: refused, since
 * the side files would be the second user's. */
static void
a_second_writer_never_locks_the_owner_out(Fixture *f, gconstpointer data) {
  if (skip_without_root())
    return;
  static const struct {
    mode_t folder, file;
    gid_t group;
    int found;
  } rows[] = {
      {0777, 0620, OTHER_USER, -1}, /* no right to read */
      {0777, 0660, OTHER_USER, 1},  /* his own first group: side files are of that group */
      {0777, 0666, 0, 1},           /* all may write, and side files let all */
      {02777, 0660, OTHER_USER, 1}, /* the group's folder */
      {01777, 0606, 0, 1},          /* odd, but nobody is locked out */
      {0777, 0646, 0, 1},
  };
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    DemurWorkspace *owner = open_workspace(f->path, DEMUR_WORKSPACE_CREATE);
    g_assert_true(write_something(owner, "a"));
    demur_workspace_close(owner);
    g_assert_cmpint(chown(f->folder, 0, rows[r].group), ==, 0);
    g_assert_cmpint(g_chmod(f->folder, rows[r].folder), ==, 0);
    g_assert_cmpint(chown(f->path, 0, rows[r].group), ==, 0);
    g_assert_cmpint(g_chmod(f->path, rows[r].file), ==, 0);
    g_assert_cmpint(count_as_another(f->path), ==, rows[r].found);
    g_assert_cmpint(g_unlink(f->path), ==, 0);
  }
  /* A folder that gives side files to a third group. */
  DemurWorkspace *owner = open_workspace(f->path, DEMUR_WORKSPACE_CREATE);
  demur_workspace_close(owner);
  g_assert_cmpint(chown(f->path, 0, OTHER_USER), ==, 0);
  g_assert_cmpint(g_chmod(f->path, 0660), ==, 0);
  g_assert_cmpint(chown(f->folder, 0, 12345), ==, 0);
  g_assert_cmpint(g_chmod(f->folder, 02777), ==, 0);
  g_assert_cmpint(count_as_another(f->path), ==, -1);
  g_assert_cmpint(g_chmod(f->folder, 0700), ==, 0);
}

typedef struct {
  guint n;
  GCancellable *cancellable;
} Waits;

static void
on_wait(double fraction, const char *stage, gpointer data) {
  Waits *waits = data;
  g_assert_nonnull(strstr(stage, "waiting"));
  if (++waits->n == 3)
    g_cancellable_cancel(waits->cancellable);
}

/* Another program holds the lock: waiting is told, and cancelling ends it. */
static void
waiting_for_a_lock_is_told(Fixture *f, gconstpointer data) {
  g_autoptr(DemurWorkspace) holder = open_workspace(f->path, DEMUR_WORKSPACE_CREATE);
  g_autoptr(DemurWorkspace) waiting = open_workspace(f->path, DEMUR_WORKSPACE_DEFAULT);
  g_autoptr(GCancellable) cancellable = g_cancellable_new();
  Waits waits = {0, cancellable};
  const DemurProgress progress = {on_wait, &waits, cancellable};
  demur_workspace_tell_waiting(waiting, &progress);
  g_assert_true(demur_workspace_begin(holder, NULL));
  g_autoptr(GError) error = NULL;
  g_assert_false(demur_workspace_begin(waiting, &error));
  g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpuint(waits.n, ==, 3);
  demur_workspace_rollback(holder);
}

typedef struct {
  guint n;
  guint n_before; /* the lock is given back at this one */
  DemurWorkspace *holder;
} Release;

static void
on_wait_release(double fraction, const char *stage, gpointer data) {
  Release *release = data;
  g_assert_cmpfloat(fraction, <=, 1.0);
  if (++release->n == release->n_before)
    demur_workspace_rollback(release->holder);
}

/* By counting how often it asks, not by the clock: 50 ms lie between two. */
static void
patience_is_as_it_is_set(Fixture *f, gconstpointer data) {
  static const struct {
    DemurPatience patience;
    guint n_before;
    gboolean gets_it;
  } rows[] = {{DEMUR_PATIENCE_SHORT, 5, TRUE},
              {DEMUR_PATIENCE_SHORT, 1000, FALSE},
              {DEMUR_PATIENCE_ENDLESS, 1210, TRUE}}; /* a minute is 1,200 */
  g_autoptr(DemurWorkspace) holder = open_workspace(f->path, DEMUR_WORKSPACE_CREATE);
  g_autoptr(DemurWorkspace) waiting = open_workspace(f->path, DEMUR_WORKSPACE_DEFAULT);
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    if (rows[i].patience == DEMUR_PATIENCE_ENDLESS && !g_test_slow())
      continue; /* takes a minute */
    Release release = {0, rows[i].n_before, holder};
    const DemurProgress progress = {on_wait_release, &release, NULL};
    demur_workspace_tell_waiting(waiting, &progress);
    g_assert_cmpint(demur_workspace_set_patience(waiting, rows[i].patience), ==,
                    DEMUR_PATIENCE_USUAL);
    g_assert_true(demur_workspace_begin(holder, NULL));
    g_autoptr(GError) error = NULL;
    g_assert_true(demur_workspace_begin(waiting, &error) == rows[i].gets_it);
    if (rows[i].gets_it) {
      g_assert_no_error(error);
      g_assert_cmpuint(release.n, ==, rows[i].n_before);
      demur_workspace_rollback(waiting);
    } else {
      g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STORE);
      g_assert_true(demur_workspace_is_locked_out(waiting));
      demur_workspace_rollback(holder);
    }
    g_assert_cmpint(demur_workspace_set_patience(waiting, DEMUR_PATIENCE_USUAL), ==,
                    rows[i].patience);
  }
}

/* Seen by a fault in the 25,001st of 26,000: what was saved in transactions before it stays, so that
 * no lock is held for all of them. */
static void
verdicts_are_saved_in_short_transactions(Fixture *f, gconstpointer data) {
  g_autoptr(DemurWorkspace) workspace = open_workspace(f->path, DEMUR_WORKSPACE_CREATE);
  enum { N = 26000, WRONG = 25000, WHOLE = 20000 };
  g_autofree DemurVerdictRecord *records = g_new0(DemurVerdictRecord, N);
  for (size_t i = 0; i < N; i++)
    records[i] = (DemurVerdictRecord){.scan_id = (char *)(i == WRONG ? NULL : "scan"),
                                      .risk = 0.5,
                                      .risk_raw = 0.5,
                                      .score = 0.5,
                                      .verdict = DEMUR_VERDICT_ACCEPTED};
  const DemurVerdictBatch batch = {.selector = "s",
                                   .selector_digest = "digest",
                                   .cohort = NULL,
                                   .model = "model",
                                   .coverage = 0.9,
                                   .threshold = 0.5,
                                   .created = "2022"};
  g_autoptr(GError) error = NULL;
  g_assert_false(demur_verdicts_save(workspace, &batch, records, N, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STORE);
  g_clear_error(&error);
  g_autoptr(GPtrArray) kept = demur_verdicts_of_scan(workspace, NULL, "scan", &error);
  g_assert_no_error(error);
  g_assert_cmpuint(kept->len, ==, WHOLE);
  records[WRONG].scan_id = (char *)"scan";
  g_assert_true(demur_verdicts_save(workspace, &batch, records, N, &error));
  g_autoptr(GPtrArray) all = demur_verdicts_of_scan(workspace, NULL, "scan", &error);
  g_assert_cmpuint(all->len, ==, WHOLE + N);
}

#define TEST(name) g_test_add("/store/opening/" #name, Fixture, NULL, set_up, name, tear_down)

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  TEST(what_is_no_file_is_refused_at_once);
  TEST(rights_are_the_owners_whatever_the_umask);
  TEST(another_handle_leaves_the_locks);
  TEST(who_reads_it_as_something_else_leaves_the_locks);
  TEST(a_reader_leaves_nothing_beside);
  TEST(a_reader_sees_the_log_or_is_refused);
  TEST(a_second_writer_never_locks_the_owner_out);
  TEST(waiting_for_a_lock_is_told);
  TEST(patience_is_as_it_is_set);
  TEST(verdicts_are_saved_in_short_transactions);
  return g_test_run();
}
