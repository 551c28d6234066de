/* A run's own folder: closed to others, removed with all in it, and so are those of killed runs. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/error.h"
#include "base/private-folder.h"
#include "support/support.h"

#define PREFIX "demur-test-"

typedef struct {
  char *place;
} Fixture;

static void
set_up(Fixture *f, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  f->place = g_dir_make_tmp("demur-private-XXXXXX", &error);
  g_assert_no_error(error);
}

static void
tear_down(Fixture *f, gconstpointer data) {
  g_assert_cmpint(g_rmdir(f->place), ==, 0); /* nothing was left */
  g_free(f->place);
}

static guint
count(const char *place) {
  g_autoptr(GDir) dir = g_dir_open(place, 0, NULL);
  guint n = 0;
  while (g_dir_read_name(dir) != NULL)
    n++;
  return n;
}

static DemurPrivateFolder *
make(const Fixture *f) {
  g_autoptr(GError) error = NULL;
  DemurPrivateFolder *folder = demur_private_folder_make(f->place, PREFIX, &error);
  g_assert_no_error(error);
  return folder;
}

/* Files, folders in folders, one that may not be written, and links to what must stay. */
static void
fill(const DemurPrivateFolder *folder, const char *outside) {
  g_autofree char *file = demur_private_folder_name(folder, "a");
  g_autofree char *below = demur_private_folder_name(folder, "b/c/d");
  g_autofree char *closed = demur_private_folder_name(folder, "b/c");
  g_autofree char *deep = demur_private_folder_name(folder, "b/c/d/e");
  g_autofree char *link = demur_private_folder_name(folder, "b/link");
  g_autoptr(GError) error = NULL;
  g_assert_true(g_file_set_contents(file, "text", -1, &error));
  g_assert_cmpint(g_mkdir_with_parents(below, 0700), ==, 0);
  g_assert_true(g_file_set_contents(deep, "text", -1, &error));
  g_assert_cmpint(symlink(outside, link), ==, 0);
  g_assert_cmpint(g_chmod(closed, 0500), ==, 0);
}

static void
it_is_closed_to_others_and_goes_with_all_in_it(Fixture *f, gconstpointer data) {
  g_autofree char *outside = g_build_filename(f->place, "outside", NULL);
  g_autofree char *kept = g_build_filename(outside, "kept", NULL);
  g_assert_cmpint(g_mkdir(outside, 0700), ==, 0);
  g_assert_true(g_file_set_contents(kept, "text", -1, NULL));
  static const mode_t masks[] = {0000, 0022, 0077};
  for (size_t m = 0; m < G_N_ELEMENTS(masks); m++) {
    const mode_t before = umask(masks[m]);
    DemurPrivateFolder *folder = make(f);
    umask(before);
    struct stat status;
    g_assert_cmpint(stat(demur_private_folder_path(folder), &status), ==, 0);
    g_assert_cmphex(status.st_mode & 07777, ==, 0700);
    g_assert_true(g_path_is_absolute(demur_private_folder_path(folder)));
    fill(folder, outside);
    demur_private_folder_free(folder);
    g_assert_cmpuint(count(f->place), ==, 1);
    g_assert_true(g_file_test(kept, G_FILE_TEST_EXISTS));
  }
  g_assert_cmpint(g_unlink(kept), ==, 0);
  g_assert_cmpint(g_rmdir(outside), ==, 0);
}

static void
what_a_killed_run_left_is_removed_and_a_living_ones_is_not(Fixture *f, gconstpointer data) {
  int ready[2];
  g_assert_cmpint(pipe(ready), ==, 0);
  const pid_t killed = fork();
  if (killed == 0) {
    fill(make(f), "/nowhere");
    (void)!write(ready[1], "x", 1);
    pause();
    _exit(0);
  }
  char byte;
  g_assert_cmpint(read(ready[0], &byte, 1), ==, 1);
  g_autoptr(DemurPrivateFolder) living = make(f); /* while the other lives */
  g_assert_cmpuint(count(f->place), ==, 2);
  kill(killed, SIGKILL);
  waitpid(killed, NULL, 0);
  close(ready[0]);
  close(ready[1]);
  g_assert_cmpuint(count(f->place), ==, 2);
  demur_private_folder_sweep(f->place, PREFIX);
  g_assert_cmpuint(count(f->place), ==, 1);
  g_assert_true(g_file_test(demur_private_folder_path(living), G_FILE_TEST_IS_DIR));
}

/* Of that name, but not a folder of this user's alone: a link, a file, one that others may enter. */
static void
what_may_be_anothers_is_left(Fixture *f, gconstpointer data) {
  g_autofree char *link = g_build_filename(f->place, PREFIX "link", NULL);
  g_autofree char *file = g_build_filename(f->place, PREFIX "file", NULL);
  g_autofree char *open = g_build_filename(f->place, PREFIX "open", NULL);
  g_autofree char *theirs = g_build_filename(f->place, PREFIX "theirs", NULL);
  g_autofree char *target = g_build_filename(f->place, "target", NULL);
  g_assert_cmpint(g_mkdir(target, 0700), ==, 0);
  g_assert_cmpint(symlink(target, link), ==, 0);
  g_assert_true(g_file_set_contents(file, "text", -1, NULL));
  g_assert_cmpint(g_mkdir(open, 0700), ==, 0);
  g_assert_cmpint(g_chmod(open, 0755), ==, 0);
  g_assert_cmpint(g_mkdir(theirs, 0700), ==, 0);
  if (geteuid() == 0)
    g_assert_cmpint(chown(theirs, 65534, 65534), ==, 0);
  else
    g_assert_cmpint(g_chmod(theirs, 0770), ==, 0);
  demur_private_folder_sweep(f->place, PREFIX);
  g_assert_cmpuint(count(f->place), ==, 5);
  g_unlink(link);
  g_unlink(file);
  g_rmdir(open);
  g_rmdir(theirs);
  g_rmdir(target);
}

static void
a_place_that_can_hold_none_is_told(Fixture *f, gconstpointer data) {
  g_autofree char *absent = g_build_filename(f->place, "absent", NULL);
  g_autoptr(GError) error = NULL;
  g_assert_null(demur_private_folder_make(absent, PREFIX, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_OUTPUT);
  g_assert_nonnull(strstr(error->message, "absent"));
}

#define TEST(name) g_test_add("/private-folder/" #name, Fixture, NULL, set_up, name, tear_down)

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  TEST(it_is_closed_to_others_and_goes_with_all_in_it);
  TEST(what_a_killed_run_left_is_removed_and_a_living_ones_is_not);
  TEST(what_may_be_anothers_is_left);
  TEST(a_place_that_can_hold_none_is_told);
  return g_test_run();
}
