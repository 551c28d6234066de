#include "store/opening.h"

#include <inttypes.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib.h>

#include "base/error.h"
#include "base/file-output.h"
#include "store/driver-sqlite.h"
#include "store/schema.h"

/* The file itself, behind links, absolute: its side files lie beside it (owned). */
static char *
whole_path(const char *path) {
  char *real = realpath(path, NULL);
  char *whole = real != NULL ? g_strdup(real) : g_canonicalize_filename(path, NULL);
  free(real);
  return whole;
}

static gboolean
can_write(const char *path) {
  return access(path, W_OK) == 0;
}

static char *
folder_of(const char *path) {
  g_autofree char *whole = whole_path(path);
  return g_path_get_dirname(whole);
}

gboolean
demur_workspace_is_read_only(const char *path) {
  if (!g_file_test(path, G_FILE_TEST_EXISTS))
    return FALSE;
  if (!can_write(path))
    return TRUE;
  /* A folder closed to this user has no place for side files: only those there can be used. */
  g_autofree char *whole = whole_path(path);
  g_autofree char *folder = g_path_get_dirname(whole);
  g_autofree char *log = g_strconcat(whole, "-wal", NULL);
  g_autofree char *index = g_strconcat(whole, "-shm", NULL);
  return !can_write(folder) && !(can_write(log) && can_write(index));
}

gboolean
demur_store_refuse_newer(const char *path, gint64 version, GError **error) {
  demur_error_set(error, DEMUR_ERROR_STORE,
                  "workspace %s was written by a newer program (schema %" PRId64
                  ", this one knows %d) and was left as it is; use that program",
                  path, version, demur_store_version);
  return FALSE;
}

gboolean
demur_workspace_is_database(const char *bytes, size_t n) {
  static const char magic[] = "SQLite format 3"; /* with its zero byte (SQLite, Database Header) */
  return n >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

gboolean
demur_store_look(const char *path, gboolean *is_empty, GError **error) {
  struct stat status;
  *is_empty = TRUE;
  if (stat(path, &status) != 0 && errno == ENOENT)
    return TRUE;
  const int number = stat(path, &status) == 0 ? (access(path, R_OK) == 0 ? 0 : errno) : errno;
  const char *wrong = number != 0               ? NULL
                      : S_ISDIR(status.st_mode) ? "is a folder"
                      : S_ISREG(status.st_mode) ? NULL
                                                : "is a device or a pipe";
  if (wrong != NULL) {
    demur_error_set(error, DEMUR_ERROR_STORE, "%s %s; give a file (--workspace)", path, wrong);
    return FALSE;
  }
  guint8 head[DEMUR_SQLITE_HEAD] = {0};
  gint64 size = 0;
  g_autofree char *whole = whole_path(path);
  const char *unread =
      number != 0 ? g_strerror(number) : demur_sqlite_read_head(whole, head, &size);
  if (unread != NULL) {
    demur_error_set(error, DEMUR_ERROR_STORE,
                    "workspace %s can't be read: %s; check the rights of the file", path, unread);
    return FALSE;
  }
  if (size == 0)
    return TRUE;
  *is_empty = FALSE;
  /* SQLite's magic text at 0, user_version at 60 and application_id at 68, big endian. (A newer
   * version that stands in the write-ahead log only is found behind opening.) */
  guint32 id, version;
  memcpy(&version, head + 60, sizeof version);
  memcpy(&id, head + 68, sizeof id);
  if (!demur_workspace_is_database((const char *)head, sizeof head) ||
      GUINT32_FROM_BE(id) != DEMUR_STORE_APPLICATION_ID) {
    demur_error_set(error, DEMUR_ERROR_STORE,
                    "%s is not a Demur workspace and was left as it is; choose another file "
                    "(--workspace)",
                    path);
    return FALSE;
  }
  version = GUINT32_FROM_BE(version);
  return version <= (guint32)demur_store_version || demur_store_refuse_newer(path, version, error);
}

static gboolean
is_of_group(const char *folder) {
  struct stat status;
  const mode_t shared = S_ISGID | S_IWGRP;
  return stat(folder, &status) == 0 && (status.st_mode & shared) == shared;
}

gboolean
demur_store_share_as_in(const char *made, const char *path) {
  g_autofree char *folder = folder_of(path);
  struct stat place;
  return !is_of_group(folder) ||
         (stat(folder, &place) == 0 && chown(made, (uid_t)-1, place.st_gid) == 0 &&
          chmod(made, 0660) == 0);
}

gboolean
demur_store_make_file(const char *path, GError **error) {
  g_autofree char *folder = folder_of(path);
  if (!demur_folder_make(folder, error))
    return FALSE;
  const gboolean of_group = is_of_group(folder);
  const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  /* The umask of one user does not undo what the folder is for. */
  gboolean ok = fd >= 0 && (!of_group || fchmod(fd, 0660) == 0) && demur_folder_sync(folder);
  const int number = errno;
  if (fd >= 0)
    close(fd);
  ok |= number == EEXIST; /* another run was quicker */
  if (!ok)
    demur_error_set(error, DEMUR_ERROR_STORE,
                    "workspace %s can't be made: %s; choose a folder that can be written "
                    "(--workspace)",
                    path, g_strerror(number));
  return ok;
}

gboolean
demur_store_check_writer(const char *path, GError **error) {
  struct stat file, place;
  g_autofree char *folder = folder_of(path);
  if (stat(path, &file) != 0 || stat(folder, &place) != 0 || file.st_uid == geteuid() ||
      geteuid() == 0) /* SQLite gives root's side files to the owner */
    return TRUE;
  const gid_t made = (place.st_mode & S_ISGID) != 0 ? place.st_gid : getegid();
  const gboolean by_group = (file.st_mode & 0060) == 0060 && made == file.st_gid;
  if (by_group || (file.st_mode & 0006) == 0006)
    return TRUE;
  demur_error_set(
      error, DEMUR_ERROR_STORE,
      "workspace %s is another user's, and what is written beside it would lock its owner "
      "out: share its folder with a group (chgrp, chmod g+ws), or open it for reading",
      path);
  return FALSE;
}

char *
demur_store_database_name(const char *path, gboolean read_only, gboolean *is_uri, GError **error) {
  g_autofree char *whole = whole_path(path);
  g_autofree char *folder = g_path_get_dirname(whole);
  *is_uri = read_only && !(can_write(whole) && can_write(folder));
  if (!*is_uri)
    return g_steal_pointer(&whole);
  g_autofree char *uri = g_filename_to_uri(whole, NULL, error);
  if (uri == NULL)
    return NULL;
  g_autofree char *log = g_strconcat(whole, "-wal", NULL);
  g_autofree char *index = g_strconcat(whole, "-shm", NULL);
  struct stat status;
  const gboolean pending = stat(log, &status) == 0 ? status.st_size > 0 : errno != ENOENT;
  if (!pending)
    return g_strconcat(uri, "?immutable=1", NULL);
  if (access(log, R_OK) == 0 && access(index, R_OK) == 0)
    return g_strconcat(uri, "?readonly_shm=1", NULL);
  demur_error_set(
      error, DEMUR_ERROR_STORE,
      "workspace %s has changes in its log (%s) that can't be read from here without "
      "writing beside it: let its owner open it once, or copy both to a place of your own",
      path, log);
  return NULL;
}
