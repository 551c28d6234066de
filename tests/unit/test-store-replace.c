/* A finished workspace in another's place: whole or not at all. */
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/error.h"
#include "cohort/simulate.h"
#include "store/cohorts.h"
#include "store/replace.h"
#include "support/support.h"

typedef struct {
  char *folder, *made, *path;
} Fixture;

static void
write_workspace(const char *path, const char *cohort) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurWorkspace) workspace = demur_workspace_open(path, DEMUR_WORKSPACE_CREATE, &error);
  g_assert_no_error(error);
  DemurSimulation simulation;
  demur_simulation_defaults(&simulation);
  simulation.n_scans = 200;
  simulation.n_base_train = simulation.n_tune = simulation.n_test = 100;
  simulation.n_sites = 3;
  g_autoptr(DemurParallel) parallel = demur_parallel_new(1);
  g_autoptr(DemurCohort) simulated =
      demur_cohort_simulate(&simulation, cohort, "2026-01-01T00:00:00Z", parallel, NULL, &error);
  g_assert_no_error(error);
  g_assert_true(demur_cohorts_save(workspace, simulated, NULL, &error));
  g_assert_no_error(error);
}

static void
assert_holds(const char *path, const char *cohort) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurWorkspace) workspace =
      demur_workspace_open(path, DEMUR_WORKSPACE_READ_ONLY, &error);
  g_assert_no_error(error);
  g_autoptr(DemurVerification) found = demur_workspace_verify(workspace, NULL, &error);
  g_assert_no_error(error);
  g_assert_true(found->ok);
  g_assert_cmpuint(found->n_cohorts, ==, 1);
  g_autoptr(DemurCohort) loaded = demur_cohorts_load(workspace, cohort, NULL, &error);
  g_assert_no_error(error);
}

static void
set_up(Fixture *f, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  f->folder = g_dir_make_tmp("demur-replace-XXXXXX", &error);
  g_assert_no_error(error);
  f->made = g_build_filename(f->folder, "made.demur", NULL);
  f->path = g_build_filename(f->folder, "w.demur", NULL);
  write_workspace(f->made, "new");
}

static void
tear_down(Fixture *f, gconstpointer data) {
  static const char *const names[] = {"made.demur", "made.demur-wal", "made.demur-shm",
                                      "w.demur",    "w.demur-wal",    "w.demur-shm"};
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
    g_autofree char *path = g_build_filename(f->folder, names[i], NULL);
    (void)g_unlink(path);
  }
  g_assert_cmpint(g_rmdir(f->folder), ==, 0);
  g_free(f->folder);
  g_free(f->made);
  g_free(f->path);
}

static void
where_there_is_none_it_is_renamed(Fixture *f, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_workspace_replace(f->made, f->path, &error));
  g_assert_no_error(error);
  assert_holds(f->path, "new");
  g_assert_false(g_file_test(f->made, G_FILE_TEST_EXISTS));
}

/* Its log is not yet written back, and a window has it open: both then see the new one. */
static void
one_that_is_open_elsewhere_is_replaced(Fixture *f, gconstpointer data) {
  write_workspace(f->path, "old");
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurWorkspace) window = demur_workspace_open(f->path, DEMUR_WORKSPACE_DEFAULT, &error);
  g_assert_no_error(error);
  g_autoptr(DemurCohort) before = demur_cohorts_load(window, "old", NULL, &error);
  g_assert_no_error(error);
  g_assert_true(demur_workspace_begin(window, &error));
  g_assert_true(demur_workspace_commit(window, &error));
  g_assert_true(demur_workspace_replace(f->made, f->path, &error));
  g_assert_no_error(error);
  g_autoptr(DemurCohort) now = demur_cohorts_load(window, "new", NULL, &error);
  g_assert_no_error(error);
  assert_holds(f->path, "new");
}

/* The reader's view stays what it was; behind it stands the new one. */
static void
a_view_that_is_being_read_is_not_changed(Fixture *f, gconstpointer data) {
  write_workspace(f->path, "old");
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurWorkspace) reader = demur_workspace_open(f->path, DEMUR_WORKSPACE_DEFAULT, &error);
  g_assert_true(demur_workspace_begin_read(reader, &error));
  g_autoptr(DemurCohort) first = demur_cohorts_load(reader, "old", NULL, &error);
  g_assert_no_error(error);
  g_assert_true(demur_workspace_replace(f->made, f->path, &error));
  g_assert_no_error(error);
  g_autoptr(DemurCohort) second = demur_cohorts_load(reader, "old", NULL, &error);
  g_assert_no_error(error);
  demur_workspace_end_read(reader);
  assert_holds(f->path, "new");
}

static void
what_is_no_workspace_stays(Fixture *f, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  g_assert_true(
      g_file_set_contents(f->path, "another program's, of more than nothing", -1, &error));
  g_assert_false(demur_workspace_replace(f->made, f->path, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STORE);
  g_autofree char *text = NULL;
  g_assert_true(g_file_get_contents(f->path, &text, NULL, NULL));
  g_assert_cmpstr(text, ==, "another program's, of more than nothing");
}

/* Killed by a limit on the size of files (SIGXFSZ), and refused by it: the old one either way. */
static void
a_full_disk_leaves_the_old_one(Fixture *f, gconstpointer data) {
  write_workspace(f->path, "old");
  for (int killed = 0; killed < 2; killed++) {
    const pid_t child = fork();
    if (child == 0) {
      struct stat status;
      if (stat(f->path, &status) != 0)
        _exit(2);
      const struct rlimit limit = {40000, 40000}; /* of the log: a few pages of the new one */
      signal(SIGXFSZ, killed ? SIG_DFL : SIG_IGN);
      if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        _exit(2);
      g_autoptr(GError) error = NULL;
      const gboolean done = demur_workspace_replace(f->made, f->path, &error);
      _exit(done ? 2 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    if (killed)
      g_assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ);
    else
      g_assert_cmpint(WEXITSTATUS(status), ==, 1);
    assert_holds(f->path, "old");
    assert_holds(f->made, "new");
  }
}

#define TEST(name) g_test_add("/replace/" #name, Fixture, NULL, set_up, name, tear_down)

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  TEST(where_there_is_none_it_is_renamed);
  TEST(one_that_is_open_elsewhere_is_replaced);
  TEST(a_view_that_is_being_read_is_not_changed);
  TEST(what_is_no_workspace_stays);
  TEST(a_full_disk_leaves_the_old_one);
  return g_test_run();
}
