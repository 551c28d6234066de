/* The same files imported a second time: those that are as they were imported are not read whole
 * again, whatever else changed is, and nothing that follows differs from having read them all. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file-stamp.h"
#include "life-fixture.h"
#include "support/store.h"

/* Waits until the last change of what lies in the folder is old enough to be told from another
 * (base/file-stamp.h), however long the machine takes. */
static void
settle(const Sandbox *sandbox, const char *name) {
  g_autofree char *folder = sandbox_path(sandbox, name);
  gint64 newest = 0;
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  g_assert_nonnull(dir);
  for (const char *file; (file = g_dir_read_name(dir)) != NULL;) {
    g_autofree char *path = g_build_filename(folder, file, NULL);
    GStatBuf at;
    g_assert_cmpint(g_stat(path, &at), ==, 0);
    newest = MAX(newest, (gint64)at.st_ctim.tv_sec * G_USEC_PER_SEC + at.st_ctim.tv_nsec / 1000);
  }
  while (g_get_real_time() <= newest + DEMUR_FILE_STAMP_SETTLED_US)
    g_usleep(G_USEC_PER_SEC / 20);
}

static void
write_one(const Sandbox *sandbox, const char *name, guint16 lift) {
  write_slices(sandbox, name, 0, N, "P1", "One^Person", lift);
}

/* Imports and gives the number of files that were not read whole. */
static guint
import_again(const Sandbox *sandbox, const char *name, const char *more) {
  g_autofree char *path = sandbox_path(sandbox, name);
  g_autoptr(Run) run = run_json(sandbox, 0, "dicom", "import", path, more, NULL);
  return (guint)number_at(root_of(run), "n_unchanged");
}

static guint
count_waiting(const Sandbox *sandbox) {
  g_autoptr(Run) run = run_json(sandbox, 0, "dicom", "list", NULL);
  JsonArray *series = array_at(root_of(run), "series");
  guint n = 0;
  for (guint i = 0; i < json_array_get_length(series); i++)
    n += is_null_at(json_array_get_object_element(series, i), "conflict") ? 0 : 1;
  return n;
}

/* A file with another pixel, of the same size and with the times that it had. */
static void
change_behind_its_times(const Sandbox *sandbox, const char *file) {
  g_autofree char *path = sandbox_path(sandbox, file);
  g_autofree char *bytes = NULL;
  gsize length;
  GStatBuf at;
  g_autoptr(GError) error = NULL;
  g_assert_cmpint(g_stat(path, &at), ==, 0);
  g_assert_true(g_file_get_contents(path, &bytes, &length, &error));
  bytes[length - 2] ^= 1;
  FILE *stream = fopen(path, "r+b");
  g_assert_nonnull(stream);
  g_assert_cmpuint(fwrite(bytes, 1, length, stream), ==, length);
  fclose(stream);
  const struct timespec times[2] = {at.st_atim, at.st_mtim};
  g_assert_cmpint(utimensat(AT_FDCWD, path, times, 0), ==, 0);
}

static char *
listed(const Sandbox *sandbox) {
  g_autoptr(Run) run = run_json(sandbox, 0, "dicom", "show", UID, NULL);
  return g_strdup(run->out);
}

static void
test_unchanged_files_are_not_read_whole(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  write_one(sandbox, "a", 0);
  settle(sandbox, "a");
  g_assert_cmpuint(import_again(sandbox, "a", NULL), ==, 0);
  g_autofree char *first = listed(sandbox);
  g_assert_cmpuint(import_again(sandbox, "a", NULL), ==, N);
  g_autofree char *second = listed(sandbox);
  g_assert_cmpstr(first, ==, second);
  g_assert_cmpuint(import_again(sandbox, "a", "--reread"), ==, 0);
  g_assert_cmpuint(import_again(sandbox, "a", NULL), ==, N);
  g_autofree char *folder = sandbox_path(sandbox, "a");
  g_autoptr(Run) told = run_demur(sandbox, "dicom", "import", folder, NULL);
  assert_says(told->out, "24 files are unchanged since they were imported");
  /* Judged by the rules of this time all the same. */
  g_autoptr(Run) rules =
      run_json(sandbox, 0, "dicom", "import", folder, "--set", "few-slices=100", NULL);
  g_assert_cmpuint((guint)number_at(root_of(rules), "n_unchanged"), ==, N);
  g_assert_false(
      bool_at(json_array_get_object_element(array_at(root_of(rules), "series"), 0), "accepted"));
  g_autoptr(Run) verify = run_demur(sandbox, "verify", NULL);
  assert_status(verify, 0);
}

/* What is not as it was imported is read, and what came of it is as ever. */
static void
test_whatever_changed_is_read(void) {
  static const struct {
    const char *what;
    const char *again; /* what is imported then */
    guint n_known, n_waiting;
  } rows[] = {
      {"a pixel, behind the file's times", "a", N - 1, 2},
      {"another person's files in their place", "a", 0, 2},
      {"the same files, written anew", "a", 0, 0},
      {"a folder of another name", "b", 0, 0},
      {"more slices beside them", "a", N, 0},
      {"removed from the workspace", "a", 0, 0},
      {"a linked folder", "link", 0, 0},
      {"known pixels that were damaged in the workspace", "a", N - 1, 0},
      {"written by a clock of the future", "a", N - 1, 0},
  };
  Sandbox *sandboxes[G_N_ELEMENTS(rows)];
  for (guint r = 0; r < G_N_ELEMENTS(rows); r++) {
    sandboxes[r] = sandbox_new();
    write_one(sandboxes[r], "a", 0);
  }
  settle(sandboxes[G_N_ELEMENTS(rows) - 1], "a");
  for (guint r = 0; r < G_N_ELEMENTS(rows); r++) {
    g_test_message("%s", rows[r].what);
    g_autoptr(Sandbox) sandbox = sandboxes[r];
    g_autofree char *a = sandbox_path(sandbox, "a"), *b = sandbox_path(sandbox, "b"),
                    *link = sandbox_path(sandbox, "link"),
                    *one = sandbox_path(sandbox, "a/003.dcm");
    const struct timespec future[2] = {{4102444800, 0}, {4102444800, 0}};
    if (r == 8) {
      g_assert_cmpint(utimensat(AT_FDCWD, one, future, 0), ==, 0);
    }
    import(sandbox, "a");
    switch (r) {
    case 0:
      change_behind_its_times(sandbox, "a/003.dcm");
      break;
    case 1:
      write_slices(sandbox, "a", 0, N, "P2", "Two^Person", 0);
      break;
    case 2:
      write_one(sandbox, "a", 0);
      break;
    case 3:
      g_assert_cmpint(g_rename(a, b), ==, 0);
      break;
    case 4:
      write_slices(sandbox, "a", N, N + 8, "P1", "One^Person", 0);
      break;
    case 5: {
      g_autoptr(Run) run =
          run_json(sandbox, 0, "dicom", "remove", "--scan", UID, "--reason", "mistake", NULL);
      break;
    }
    case 6:
      g_assert_cmpint(symlink("a", link), ==, 0);
      break;
    case 7:
      demur_test_store_run(sandbox->workspace,
                           "UPDATE series_file SET pixel_digest = replace(pixel_digest,"
                           " substr(pixel_digest, 1, 8), '00000000') WHERE position = 3");
      break;
    default:
      break;
    }
    const guint n_known = import_again(sandbox, rows[r].again, NULL);
    if (n_known != rows[r].n_known || count_waiting(sandbox) != rows[r].n_waiting) {
      g_test_message("%u known, %u wait", n_known, count_waiting(sandbox));
      g_test_fail();
    }
  }
}

/* A workspace that was imported before this was kept, and one that was moved. */
static void
test_what_the_workspace_went_through(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  write_one(sandbox, "a", 0);
  settle(sandbox, "a");
  import(sandbox, "a");
  demur_test_store_run(sandbox->workspace,
                       "UPDATE series_file SET stamp = NULL, pixel_digest = NULL, decodes = NULL");
  g_assert_cmpuint(import_again(sandbox, "a", NULL), ==, 0);
  char *moved = demur_test_store_path(sandbox->folder, "moved.demur");
  demur_test_store_copy(sandbox->workspace, moved);
  demur_test_store_remove(sandbox->workspace);
  demur_test_store_drop(sandbox->workspace);
  g_free(sandbox->workspace);
  sandbox->workspace = moved;
  g_assert_cmpuint(import_again(sandbox, "a", NULL), ==, N);
}

/* An archive is one file: known whole, or read whole. */
static void
test_archives(void) {
  g_autofree char *python = g_find_program_in_path("python3");
  if (python == NULL) {
    g_test_skip("python3 is not there to pack an archive");
    return;
  }
  g_autoptr(Sandbox) sandbox = sandbox_new();
  g_autofree char *folder = sandbox_path(sandbox, "zips"), *inside = sandbox_path(sandbox, "a"),
                  *path = sandbox_path(sandbox, "zips/study.zip");
  g_mkdir(folder, 0700);
  for (guint turn = 0; turn < 2; turn++) {
    write_one(sandbox, "a", (guint16)(100 * turn));
    const char *const words[] = {python, "-m", "zipfile", "-c", path, inside, NULL};
    g_autoptr(GError) error = NULL;
    g_assert_true(g_spawn_sync(NULL, (char **)words, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL,
                               NULL, &error));
    settle(sandbox, "zips");
    g_assert_cmpuint(import_again(sandbox, "zips", NULL), ==, 0);
    g_assert_cmpuint(import_again(sandbox, "zips", NULL), ==, N);
    g_assert_cmpuint(count_waiting(sandbox), ==, 2 * turn);
    g_assert_cmpuint(import_again(sandbox, "zips", "--reread"), ==, 0);
  }
}

/* Compressed images, whose pixels are decoded too when they are read. */
static void
test_compressed_images(void) {
  static const char *const folders[] = {"dicom/derived/37_jpeg_lossless", "dicom/derived/39_rle"};
  for (guint i = 0; i < G_N_ELEMENTS(folders); i++) {
    g_autofree char *path = demur_test_shared(folders[i]);
    if (path == NULL)
      return;
    g_autoptr(Sandbox) sandbox = sandbox_new();
    g_autoptr(Run) first = run_json(sandbox, 0, "dicom", "import", path, NULL);
    g_autoptr(Run) second = run_json(sandbox, 0, "dicom", "import", path, NULL);
    g_assert_cmpuint((guint)number_at(root_of(first), "n_unchanged"), ==, 0);
    g_assert_cmpuint((guint)number_at(root_of(second), "n_unchanged"), >, 0);
    g_assert_cmpint(demur_test_store_number(
                        sandbox->workspace,
                        "SELECT count(*) FROM series_file f JOIN series s ON s.id = f.series_id"
                        " WHERE s.accepted = 1 AND f.decodes = 0"),
                    ==, 0);
    g_autoptr(Run) reread = run_json(sandbox, 0, "dicom", "import", path, "--reread", NULL);
    g_assert_cmpuint((guint)number_at(root_of(reread), "n_unchanged"), ==, 0);
  }
}

int
main(int argc, char **argv) {
  fixture_init(&argc, &argv);
#define TEST(name, function) g_test_add_func("/commands/dicom-reread/" name, function)
  TEST("unchanged-files-are-not-read-whole", test_unchanged_files_are_not_read_whole);
  TEST("whatever-changed-is-read", test_whatever_changed_is_read);
  TEST("what-the-workspace-went-through", test_what_the_workspace_went_through);
  TEST("archives", test_archives);
  TEST("compressed-images", test_compressed_images);
#undef TEST
  return g_test_run();
}
