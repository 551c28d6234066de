#include "base/private-folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/shown-text.h"

struct DemurPrivateFolder {
  char *path;
  int lock; /* on the folder itself */
};

/* Empties the folder that fd leads to; closes it. As deep as descriptors reach: what lies deeper
 * stays. */
static void
empty(int fd) {
  (void)fchmod(fd, 0700); /* what ran in it may have taken its own rights away */
  DIR *entries = fdopendir(fd);
  if (entries == NULL) {
    close(fd);
    return;
  }
  const struct dirent *entry;
  while ((entry = readdir(entries)) != NULL) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
        unlinkat(fd, entry->d_name, 0) == 0 || (errno != EISDIR && errno != EPERM))
      continue;
    const int child =
        openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (child >= 0)
      empty(child);
    unlinkat(fd, entry->d_name, AT_REMOVEDIR);
  }
  closedir(entries);
}

/* lock: a descriptor of the folder; it is closed, and so the lock dropped, behind the removal. Once
 * more where something failed that may not fail again. */
static void
remove_folder(const char *path, int lock) {
  for (int attempt = 0; attempt < 2; attempt++) {
    const int fd = openat(lock, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
      empty(fd);
    if (rmdir(path) == 0)
      break;
  }
  close(lock);
}

/* The folder of that name, locked by this call: -1 where it is no folder of this user alone, or its
 * owner lives, or it is there no more. */
static int
take(const char *path) {
  const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  struct stat status;
  if (fd < 0)
    return -1;
  if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &status) == 0 && status.st_nlink > 0 &&
      status.st_uid == geteuid() && (status.st_mode & 0077) == 0)
    return fd;
  close(fd);
  return -1;
}

void
demur_private_folder_sweep(const char *place, const char *prefix) {
  if (place == NULL)
    place = g_get_tmp_dir();
  g_autoptr(GDir) dir = g_dir_open(place, 0, NULL);
  const char *name;
  while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
    if (!g_str_has_prefix(name, prefix))
      continue;
    g_autofree char *path = g_build_filename(place, name, NULL);
    const int lock = take(path);
    if (lock >= 0)
      remove_folder(path, lock);
  }
}

DemurPrivateFolder *
demur_private_folder_make(const char *place, const char *prefix, GError **error) {
  if (place == NULL)
    place = g_get_tmp_dir();
  demur_private_folder_sweep(place, prefix);
  g_autofree char *whole = g_canonicalize_filename(place, NULL);
  int number = EAGAIN;
  for (int attempt = 0; attempt < 100; attempt++) {
    g_autofree char *path = g_strdup_printf("%s/%s%08x", whole, prefix, g_random_int());
    if (mkdir(path, 0700) != 0) {
      number = errno;
      if (number == EEXIST)
        continue;
      break;
    }
    /* Between making and locking another run may take it for left over: then another is made. */
    const int lock = take(path);
    if (lock < 0) {
      (void)rmdir(path);
      continue;
    }
    DemurPrivateFolder *folder = g_new0(DemurPrivateFolder, 1);
    folder->path = g_steal_pointer(&path);
    folder->lock = lock;
    return folder;
  }
  g_autofree char *shown = demur_shown_text(place);
  demur_error_set(
      error, DEMUR_ERROR_OUTPUT,
      "a folder for the time of the run can't be made in %s: %s; make room, or name another "
      "place%s",
      shown, g_strerror(number), place == g_get_tmp_dir() ? N_(" by TMPDIR") : "");
  return NULL;
}

const char *
demur_private_folder_path(const DemurPrivateFolder *folder) {
  return folder->path;
}

char *
demur_private_folder_name(const DemurPrivateFolder *folder, const char *name) {
  return g_build_filename(folder->path, name, NULL);
}

void
demur_private_folder_free(DemurPrivateFolder *folder) {
  if (folder == NULL)
    return;
  remove_folder(folder->path, folder->lock);
  g_free(folder->path);
  g_free(folder);
}
