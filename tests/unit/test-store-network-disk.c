/* A workspace on a network's disk, by a look that says so: no mount is needed. Right values: the numbers of
 * statfs(2). */
#include <glib/gstdio.h>

#include "base/error.h"
#include "store/network-disk.h"
#include "store/workspace.h"
#include "support/folder.h"
#include "support/support.h"

static guint32 type; /* what the look says */
static char *folder, *path, *looked_at;

static guint32
look(const char *at) {
  g_free(looked_at);
  looked_at = g_strdup(at);
  return type;
}

static DemurWorkspace *
open_at(guint32 of, DemurWorkspaceFlags flags, GError **error) {
  type = of;
  return demur_workspace_open(path, flags, error);
}

static void
assert_refused(guint32 of, DemurWorkspaceFlags flags, const char *name) {
  g_autoptr(GError) error = NULL;
  g_assert_null(open_at(of, flags, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STORE);
  g_assert_nonnull(g_strstr_len(error->message, -1, name));
  g_assert_nonnull(g_strstr_len(error->message, -1, "postgresql://"));
  g_assert_nonnull(g_strstr_len(error->message, -1, "--network-disk"));
  g_assert_cmpstr(looked_at, ==, path);
}

static const struct {
  guint32 type;
  const char *name;
} refused[] = {{0x6969, "NFS"},
               {0x517b, "SMB"},
               {0xff534d42, "SMB"},
               {0xfe534d42, "SMB"},
               {0x65735546, "FUSE"}};

static const guint32 taken[] = {0,          0xef53,     0x01021994, 0x58465342,
                                0x9123683e, 0x794c7630, 0x01021997};

/* Neither the file nor anything beside it is made. */
static void
test_a_new_one_is_refused(void) {
  for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
    assert_refused(refused[i].type, DEMUR_WORKSPACE_CREATE, refused[i].name);
    g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
  }
}

static void
test_a_local_one_is_taken(void) {
  for (size_t i = 0; i < G_N_ELEMENTS(taken); i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurWorkspace) workspace = open_at(taken[i], DEMUR_WORKSPACE_CREATE, &error);
    g_assert_no_error(error);
  }
}

/* One that is there, for writing and for reading: a reader shares the log too. */
static void
test_one_that_is_there_is_refused(void) {
  assert_refused(0x6969, DEMUR_WORKSPACE_DEFAULT, "NFS");
  assert_refused(0x65735546, DEMUR_WORKSPACE_READ_ONLY, "FUSE");
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurWorkspace) workspace = open_at(0xef53, DEMUR_WORKSPACE_READ_ONLY, &error);
  g_assert_no_error(error);
}

/* By the system itself: a path whose folders are not there is where the nearest above them is. */
static void
test_the_system_is_asked(void) {
  demur_network_disk_set_look(NULL);
  g_autofree char *deep = g_build_filename(folder, "a", "b", "w.demur", NULL);
  g_autoptr(GError) error = NULL;
  const gboolean here = demur_network_disk_check(folder, NULL);
  g_assert_cmpint(demur_network_disk_check(deep, &error), ==, here);
  demur_network_disk_set_look(look);
}

static void
test_who_says_so_may(void) {
  demur_network_disk_allow();
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurWorkspace) workspace = open_at(0x6969, DEMUR_WORKSPACE_DEFAULT, &error);
  g_assert_no_error(error);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_autoptr(GError) error = NULL;
  folder = g_dir_make_tmp("demur-network-XXXXXX", &error);
  g_assert_no_error(error);
  path = g_build_filename(folder, "w.demur", NULL);
  demur_network_disk_set_look(look);
  g_test_add_func("/store/network-disk/a-new-one-is-refused", test_a_new_one_is_refused);
  g_test_add_func("/store/network-disk/a-local-one-is-taken", test_a_local_one_is_taken);
  g_test_add_func("/store/network-disk/one-that-is-there-is-refused",
                  test_one_that_is_there_is_refused);
  g_test_add_func("/store/network-disk/the-system-is-asked", test_the_system_is_asked);
  g_test_add_func("/store/network-disk/who-says-so-may", test_who_says_so_may);
  const int status = g_test_run();
  g_assert_true(demur_test_remove_folder(folder));
  g_free(folder);
  g_free(path);
  g_free(looked_at);
  return status;
}
