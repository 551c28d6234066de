/* Reading a file from outside: regular files only, never waiting, never more than the limit. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/error.h"
#include "base/file-input.h"
#include "support/support.h"

static char *folder;

static char *
in(const char *name) {
  return g_build_filename(folder, name, NULL);
}

static void
expect_refused(const char *path, gsize limit, const char *why) {
  g_autoptr(GError) error = NULL;
  gsize n = 77;
  g_assert_null(demur_file_input_read(path, limit, &n, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
  g_assert_nonnull(strstr(error->message, why));
  g_assert_cmpuint(n, ==, 77);
}

static void
test_what_is_no_file(void) {
  g_autofree char *fifo = in("fifo"), *directory = in("folder"), *link = in("link"),
                  *socket_path = in("socket"), *absent = in("absent");
  g_assert_cmpint(mkfifo(fifo, 0600), ==, 0);
  expect_refused(fifo, 10, "pipe"); /* would wait for ever for its writer */
  g_assert_cmpint(g_unlink(fifo), ==, 0);
  g_assert_cmpint(g_mkdir(directory, 0700), ==, 0);
  expect_refused(directory, 10, "it is a folder");
  g_assert_cmpint(g_rmdir(directory), ==, 0);
  g_assert_cmpint(symlink("/dev/zero", link), ==, 0);
  expect_refused(link, 10, "device");
  g_assert_cmpint(g_unlink(link), ==, 0);
  expect_refused("/dev/zero", 10, "device");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  g_strlcpy(address.sun_path, socket_path, sizeof address.sun_path);
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  g_assert_cmpint(bind(fd, (const struct sockaddr *)&address, sizeof address), ==, 0);
  expect_refused(socket_path, 10, "can't be read");
  g_assert_cmpint(g_unlink(socket_path), ==, 0);
  close(fd);
  g_autoptr(GError) error = NULL;
  g_assert_null(demur_file_input_read(absent, 10, NULL, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
}

static void
test_limit(void) {
  g_autofree char *path = in("file");
  const struct {
    gsize n, limit;
    gboolean read;
  } rows[] = {{0, 0, TRUE},    {0, 10, TRUE},       {9, 10, TRUE},          {10, 10, TRUE},
              {11, 10, FALSE}, {100000, 10, FALSE}, {200000, 200000, TRUE}, {1, 0, FALSE}};
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *text = g_strnfill(rows[i].n, 'x');
    g_autoptr(GError) error = NULL;
    g_assert_true(g_file_set_contents(path, text, (gssize)rows[i].n, NULL));
    if (!rows[i].read) {
      expect_refused(path, rows[i].limit, "larger than");
      continue;
    }
    gsize n;
    g_autofree char *read = demur_file_input_read(path, rows[i].limit, &n, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(n, ==, rows[i].n);
    g_assert_true(memcmp(read, text, n) == 0);
    g_assert_cmpint(read[n], ==, '\0');
  }
}

static void
test_begin(void) {
  g_autofree char *path = in("file"), *fifo = in("fifo");
  char bytes[4];
  gsize got;
  g_autoptr(GError) error = NULL;
  const struct {
    const char *text;
    gsize got;
  } rows[] = {{"", 0}, {"abc", 3}, {"abcd", 4}, {"abcde", 4}};
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_assert_true(g_file_set_contents(path, rows[i].text, -1, NULL));
    g_assert_true(demur_file_input_begin(path, bytes, sizeof bytes, &got, &error));
    g_assert_cmpuint(got, ==, rows[i].got);
    g_assert_true(memcmp(bytes, rows[i].text, got) == 0);
  }
  g_assert_cmpint(mkfifo(fifo, 0600), ==, 0);
  g_assert_false(demur_file_input_begin(fifo, bytes, sizeof bytes, &got, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
  g_assert_cmpint(g_unlink(fifo), ==, 0);
}

static gint is_over;

/* Has the one file open, then another under the same number. */
static gpointer
open_one_and_another(gpointer data) {
  const char *const *paths = data;
  while (g_atomic_int_get(&is_over) == 0)
    for (guint i = 0; i < 2; i++)
      close(open(paths[i], O_RDONLY | O_CLOEXEC));
  return NULL;
}

static void
test_begin_of_what_is_closed_meanwhile(void) {
  g_autofree char *one = in("file"), *another = in("another");
  const char *paths[] = {one, another};
  g_autoptr(GError) error = NULL;
  g_assert_true(g_file_set_contents(one, "one!", -1, NULL));
  g_assert_true(g_file_set_contents(another, "another", -1, NULL));
  GThread *thread = g_thread_new("opens", open_one_and_another, paths);
  for (guint i = 0; i < 20000; i++) {
    char bytes[4];
    gsize got;
    g_assert_true(demur_file_input_begin(one, bytes, sizeof bytes, &got, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(got, ==, 4);
    g_assert_true(memcmp(bytes, "one!", 4) == 0);
  }
  g_atomic_int_set(&is_over, 1);
  g_thread_join(thread);
  g_unlink(another);
}

/* A terabyte that isn't there is not asked memory for. */
static void
test_sparse(void) {
  g_autofree char *path = in("sparse");
  const int fd = g_open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate(fd, (off_t)1 << 40) != 0) {
    g_test_skip("this file system takes no file of a terabyte");
    close(fd);
    return;
  }
  close(fd);
  expect_refused(path, 1 << 20, "larger than 1.0");
  g_assert_cmpint(g_unlink(path), ==, 0);
}

/* The size that is told may be another than what is read: files of /proc tell 0. */
static void
test_size_is_only_told(void) {
  gsize n;
  g_autoptr(GError) error = NULL;
  g_autofree char *text = demur_file_input_read("/proc/self/status", 1 << 20, &n, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(n, >, 100);
  g_autofree char *cut = demur_file_input_read("/proc/self/status", 100, &n, &error);
  g_assert_null(cut);
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
}

static void
test_name_is_shown_safely(void) {
  g_autoptr(GError) error = NULL;
  g_assert_null(demur_file_input_read("/nowhere/\x1b[2J\xe2\x80\xae", 10, NULL, &error));
  g_assert_null(strchr(error->message, '\x1b'));
  g_assert_nonnull(strstr(error->message, "[U+202E]"));
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  folder = g_dir_make_tmp("demur-input-XXXXXX", NULL);
  g_test_add_func("/file-input/what-is-no-file", test_what_is_no_file);
  g_test_add_func("/file-input/limit", test_limit);
  g_test_add_func("/file-input/begin", test_begin);
  g_test_add_func("/file-input/begin-of-what-is-closed-meanwhile",
                  test_begin_of_what_is_closed_meanwhile);
  g_test_add_func("/file-input/sparse", test_sparse);
  g_test_add_func("/file-input/size-is-only-told", test_size_is_only_told);
  g_test_add_func("/file-input/name-is-shown-safely", test_name_is_shown_safely);
  const int status = g_test_run();
  g_autofree char *file = in("file");
  g_unlink(file);
  g_rmdir(folder);
  g_free(folder);
  return status;
}
