#define _GNU_SOURCE /* renameat2, O_PATH */
#include "base/file-output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/kept-file.h"
#include "base/shown-text.h"

#define BUFFER_SIZE (64 * 1024)
#define PART_PREFIX ".demur-"
#define PART_SUFFIX ".part"
#define PART_NAME_SIZE (sizeof PART_PREFIX + 8 + sizeof PART_SUFFIX)

/* What a path leads to. */
typedef struct {
  char *place;    /* the file's own path, behind a link; owned */
  gboolean there; /* something has that name; status is then filled */
  gboolean stream;
  struct stat status;
} Target;

struct DemurFileOutput {
  char *path; /* as it was given, fit to be shown */
  char *name; /* the final name in folder */
  DemurFileFlags flags;
  gboolean stream;
  int folder; /* O_DIRECTORY, -1 with a stream */
  int fd;     /* -1 once closed */
  char part[PART_NAME_SIZE];
  gboolean has_part;
  gboolean taken_over; /* status holds the file to be replaced, of this owner */
  struct stat status;
  gboolean finished, committed;
  int failed; /* errno of the first failure */
  size_t n_buffered;
  guint8 buffer[BUFFER_SIZE];
};

static const char *
advice(int number) {
  switch (number) {
  case ENOSPC:
  case EDQUOT:
    return "make room on the disk, or name another place";
  case EFBIG:
    return "the file would be larger than is allowed here; name another place";
  case EACCES:
  case EPERM:
  case EROFS:
    return "choose a folder that can be written, or check the rights of file and folder";
  case ENAMETOOLONG:
    return "choose a shorter name, of at most 255 bytes";
  case EIO:
    return "check the disk, and write to another place";
  default:
    return "choose a folder that can be written and has room";
  }
}

/* path is fit to be shown. */
static gboolean
fail(const char *path, int number, GError **error) {
  demur_error_set(error, DEMUR_ERROR_OUTPUT, "%s can't be written: %s; %s", path,
                  g_strerror(number), advice(number));
  return FALSE;
}

static gboolean
refuse(const char *path, const char *reason, GError **error) {
  g_autofree char *shown = demur_shown_text(path);
  demur_error_set(error, DEMUR_ERROR_OUTPUT, "%s can't be written: %s", shown, reason);
  return FALSE;
}

static gboolean
fail_path(const char *path, int number, GError **error) {
  g_autofree char *shown = demur_shown_text(path);
  return fail(shown, number, error);
}

static gboolean
leads_to_stdout(const struct stat *status) {
  struct stat out;
  return fstat(STDOUT_FILENO, &out) == 0 && out.st_dev == status->st_dev &&
         out.st_ino == status->st_ino;
}

gboolean
demur_file_output_is_stdout(const char *path) {
  struct stat status;
  return strcmp(path, DEMUR_FILE_STDOUT) == 0 ||
         (stat(path, &status) == 0 && leads_to_stdout(&status));
}

/* Whose link may be followed, as the kernel's protected_symlinks has it. */
static gboolean
link_is_trusted(const char *path, const struct stat *link) {
  g_autofree char *folder = g_path_get_dirname(path);
  struct stat status;
  if (stat(folder, &status) != 0)
    return FALSE;
  const mode_t open_to_all = S_ISVTX | S_IWOTH;
  return (status.st_mode & open_to_all) != open_to_all || link->st_uid == geteuid() ||
         link->st_uid == status.st_uid;
}

static gboolean
find_target(const char *path, Target *target, GError **error) {
  struct stat link;
  const gboolean is_link = lstat(path, &link) == 0 && S_ISLNK(link.st_mode);
  target->there = stat(path, &target->status) == 0;
  if (!target->there && errno != ENOENT && errno != ENOTDIR)
    return fail_path(path, errno, error);
  if (is_link && !target->there)
    return refuse(path, N_("it is a link that leads nowhere; name the file itself"), error);
  if (is_link && !link_is_trusted(path, &link))
    return refuse(path,
                  N_("it is another user's link in a folder that all may write; choose a folder "
                     "of your own"),
                  error);
  const mode_t mode = target->there ? target->status.st_mode : S_IFREG;
  if (S_ISDIR(mode))
    return refuse(path, N_("it is a folder; give the name of a file in it"), error);
  target->stream =
      S_ISCHR(mode) || S_ISFIFO(mode) || (target->there && leads_to_stdout(&target->status));
  if (!target->stream && !S_ISREG(mode))
    return refuse(path, N_("it is neither a file nor a stream; give the name of a file"), error);
  target->place = is_link && !target->stream ? realpath(path, NULL) : strdup(path);
  return target->place != NULL ? TRUE : fail_path(path, errno, error);
}

static gboolean
check_folder(const char *path, const char *folder, GError **error) {
  struct stat status;
  if (stat(folder, &status) == 0 && S_ISDIR(status.st_mode))
    return access(folder, W_OK | X_OK) == 0 ? TRUE : fail_path(path, errno, error);
  g_autofree char *shown = demur_shown_text(folder);
  g_autofree char *reason =
      g_strdup_printf("there is no folder %s; make it first, or name another one", shown);
  return refuse(path, reason, error);
}

/* Whether what is at the target, or belongs to what is beside it, may be replaced. */
static gboolean
check_kept(const char *path, DemurFileFlags flags, const Target *target, GError **error) {
  switch (demur_kept_file(target->place, target->there ? &target->status : NULL)) {
  case DEMUR_KEPT_DATABASE:
    return refuse(path,
                  N_("it is a database, as a workspace is, and no output replaces one; name "
                     "another file"),
                  error);
  case DEMUR_KEPT_COMPANION:
    return refuse(path,
                  N_("it belongs to the database beside it, which would be lost; name another "
                     "file"),
                  error);
  case DEMUR_KEPT_LEDGER:
    return (flags & DEMUR_FILE_LEDGER) != 0 ||
           refuse(path,
                  N_("it is the ledger of what was told of patients, which can't be made again; "
                     "name another file"),
                  error);
  case DEMUR_KEPT_LABELS:
    return refuse(path,
                  N_("it is a table in which labels stand, which would be lost; name "
                     "another file, or remove this one first"),
                  error);
  case DEMUR_KEPT_STUDY:
    return refuse(path,
                  N_("it is a round, an answer or a result of a study between sites, which "
                     "others know by its digest; name another file, or remove this one first"),
                  error);
  case DEMUR_KEPT_NONE:
    break;
  }
  return TRUE;
}

/* What stands in the way of path; *target is filled where nothing does, its place owned. */
static gboolean
check(const char *path, DemurFileFlags flags, Target *target, GError **error) {
  if (*path == '\0')
    return refuse(N_("a file without a name"), N_("give it one"), error);
  if (!find_target(path, target, error))
    return FALSE;
  if (target->stream)
    return access(path, W_OK) == 0 || leads_to_stdout(&target->status)
               ? TRUE
               : fail_path(path, errno, error);
  g_autofree char *folder = g_path_get_dirname(target->place);
  if (!check_folder(path, folder, error))
    return FALSE;
  const char *base = strrchr(target->place, '/');
  base = base != NULL ? base + 1 : target->place;
  if (*base == '\0')
    return refuse(path, N_("it ends in / as a folder does; give the name of a file"), error);
  if (strlen(base) > NAME_MAX)
    return fail_path(path, ENAMETOOLONG, error);
  if (!target->there)
    return check_kept(path, flags, target, error);
  if ((flags & DEMUR_FILE_REPLACE) == 0) {
    g_autofree char *shown = demur_shown_text(path);
    demur_error_set(error, DEMUR_ERROR_EXISTS,
                    "%s is there already and was left as it is; name another file", shown);
    return FALSE;
  }
  if (access(target->place, W_OK) != 0)
    return errno == EACCES ? refuse(path,
                                    N_("it is write-protected; name another file, or allow "
                                       "writing to it"),
                                    error)
                           : fail_path(path, errno, error);
  return check_kept(path, flags, target, error);
}

static gboolean
are_one_file(const char *path, const char *other) {
  struct stat a, b;
  const gboolean there = stat(path, &a) == 0, other_there = stat(other, &b) == 0;
  if (there && other_there)
    return S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
  if (there || other_there)
    return FALSE;
  g_autofree char *full = g_canonicalize_filename(path, NULL);
  g_autofree char *other_full = g_canonicalize_filename(other, NULL);
  return strcmp(full, other_full) == 0;
}

gboolean
demur_file_output_check_apart(const char *path, const char *const *inputs, GError **error) {
  for (; *inputs != NULL; inputs++)
    if (strcmp(path, DEMUR_FILE_STDOUT) != 0 && are_one_file(path, *inputs))
      return refuse(path, N_("it is one of the files that are read; name another file"), error);
  return TRUE;
}

gboolean
demur_file_output_check(const char *path, DemurFileFlags flags, GError **error) {
  if (strcmp(path, DEMUR_FILE_STDOUT) == 0)
    return TRUE;
  Target target = {0};
  const gboolean ok = check(path, flags, &target, error);
  free(target.place);
  return ok;
}

static gboolean
is_part(const char *name) {
  return strlen(name) + 2 == PART_NAME_SIZE && g_str_has_prefix(name, PART_PREFIX) &&
         g_str_has_suffix(name, PART_SUFFIX);
}

/* Removes one unfinished file, if it is this user's and its writer is gone. */
static void
remove_left(int folder, const char *name) {
  const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0)
    return;
  struct stat status;
  if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
      flock(fd, LOCK_EX | LOCK_NB) == 0)
    unlinkat(folder, name, 0);
  close(fd);
}

/* Once a folder and process: a folder of a hundred thousand files is not read for each of them. */
static void
remove_leftovers(int folder, const char *path) {
  static GMutex mutex;
  static GHashTable *seen; /* paths of folders, for as long as the process lives */
  g_mutex_lock(&mutex);
  if (seen == NULL)
    seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  const gboolean is_first = g_hash_table_add(seen, g_canonicalize_filename(path, NULL));
  g_mutex_unlock(&mutex);
  const int fd = is_first ? openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
  if (entries == NULL) {
    if (fd >= 0)
      close(fd);
    return;
  }
  const struct dirent *entry;
  while ((entry = readdir(entries)) != NULL)
    if (is_part(entry->d_name))
      remove_left(folder, entry->d_name);
  closedir(entries);
}

/* Makes the unfinished file and locks it. Another run may take it for a leftover between the two:
 * then it has no name any more, and another is made. */
static gboolean
make_part(DemurFileOutput *output) {
  const mode_t mode = (output->flags & DEMUR_FILE_PUBLIC) != 0 ? 0666 : 0600;
  for (int attempt = 0; attempt < 100; attempt++) {
    g_snprintf(output->part, sizeof output->part, PART_PREFIX "%08x" PART_SUFFIX, g_random_int());
    const int fd =
        openat(output->folder, output->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0 && (errno == EEXIST || errno == EINTR))
      continue;
    if (fd < 0)
      return FALSE;
    struct stat status;
    const gboolean locked = flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    if (locked && fstat(fd, &status) == 0 && status.st_nlink == 1) {
      output->fd = fd;
      output->has_part = TRUE;
      return TRUE;
    }
    close(fd);
  }
  errno = EAGAIN;
  return FALSE;
}

static int
open_stream(const char *path, const Target *target) {
  if (target == NULL || leads_to_stdout(&target->status)) {
    fflush(stdout); /* what was said before stands before */
    return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  }
  int fd;
  do
    fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
  while (fd < 0 && errno == EINTR);
  return fd;
}

static gboolean
open_part(DemurFileOutput *output, const Target *target) {
  g_autofree char *folder = g_path_get_dirname(target->place);
  output->name = g_path_get_basename(target->place);
  output->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (output->folder < 0 && errno == EACCES) /* a drop box: no listing, no sync of the folder */
    output->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (output->folder < 0)
    return FALSE;
  remove_leftovers(output->folder, folder);
  output->taken_over = target->there && target->status.st_uid == geteuid();
  output->status = target->status;
  return make_part(output);
}

DemurFileOutput *
demur_file_output_open(const char *path, DemurFileFlags flags, GError **error) {
  const gboolean is_stdout = strcmp(path, DEMUR_FILE_STDOUT) == 0;
  Target target = {.stream = is_stdout};
  g_autoptr(DemurFileOutput) output = NULL;
  if (is_stdout || check(path, flags, &target, error)) {
    output = g_new0(DemurFileOutput, 1);
    output->path = is_stdout ? g_strdup("standard output") : demur_shown_text(path);
    output->flags = flags;
    output->stream = target.stream;
    output->folder = output->fd = -1;
    gboolean ok;
    if (output->stream) {
      output->fd = open_stream(path, is_stdout ? NULL : &target);
      ok = output->fd >= 0;
    } else {
      ok = open_part(output, &target);
    }
    if (!ok) {
      fail(output->path, errno, error);
      g_clear_pointer(&output, demur_file_output_free);
    }
  }
  free(target.place);
  return g_steal_pointer(&output);
}

static gboolean
write_all(int fd, const guint8 *bytes, size_t n) {
  while (n > 0) {
    const ssize_t written = write(fd, bytes, n);
    if (written > 0) {
      bytes += written;
      n -= (size_t)written;
    } else if (written == 0) {
      errno = EIO;
      return FALSE;
    } else if (errno == EAGAIN) { /* a stream that another program made non-blocking */
      struct pollfd wait = {.fd = fd, .events = POLLOUT};
      if (poll(&wait, 1, -1) < 0 && errno != EINTR)
        return FALSE;
    } else if (errno != EINTR) {
      return FALSE;
    }
  }
  return TRUE;
}

/* Remembers the first failure and tells it. */
static gboolean
settle(DemurFileOutput *output, gboolean ok, GError **error) {
  if (!ok && output->failed == 0)
    output->failed = errno;
  return output->failed == 0 ? TRUE : fail(output->path, output->failed, error);
}

static gboolean
flush(DemurFileOutput *output, GError **error) {
  const gboolean ok =
      output->failed == 0 && write_all(output->fd, output->buffer, output->n_buffered);
  output->n_buffered = 0;
  return settle(output, ok || output->failed != 0, error);
}

gboolean
demur_file_output_write(DemurFileOutput *output, gconstpointer bytes, size_t n, GError **error) {
  g_return_val_if_fail(!output->finished, FALSE);
  if (n >= BUFFER_SIZE - output->n_buffered && !flush(output, error))
    return FALSE;
  if (n >= BUFFER_SIZE)
    return settle(output, write_all(output->fd, bytes, n), error);
  if (n > 0)
    memcpy(output->buffer + output->n_buffered, bytes, n);
  output->n_buffered += n;
  return settle(output, TRUE, error);
}

/* The file replaced passes its rights on, its group too where this user may give it. */
static gboolean
take_over_rights(const DemurFileOutput *output) {
  if (!output->taken_over)
    return TRUE;
  mode_t mode = output->status.st_mode & 0777;
  struct stat made;
  if (fstat(output->fd, &made) != 0)
    return FALSE;
  if (made.st_gid != output->status.st_gid &&
      fchown(output->fd, (uid_t)-1, output->status.st_gid) != 0)
    mode &= ~(mode_t)0070;
  return fchmod(output->fd, mode) == 0;
}

/* Some file systems know no sync: they say so by EINVAL. */
static gboolean
sync_to_disk(int fd) {
  int code;
  do
    code = fsync(fd);
  while (code != 0 && errno == EINTR);
  return code == 0 || errno == EINVAL || errno == ENOTSUP;
}

static gboolean
is_unsynced(const DemurFileOutput *output) {
  return (output->flags & DEMUR_FILE_UNSYNCED) != 0;
}

gboolean
demur_file_output_finish(DemurFileOutput *output, GError **error) {
  if (output->finished)
    return settle(output, TRUE, error);
  if (!flush(output, error))
    return FALSE;
  output->finished = TRUE;
  if (output->stream) {
    const int fd = output->fd;
    output->fd = -1;
    return settle(output, close(fd) == 0 || errno == EINTR, error);
  }
  /* Kept open, and so locked, until it has its name. */
  return settle(
      output, take_over_rights(output) && (is_unsynced(output) || sync_to_disk(output->fd)), error);
}

/* Names are of the folder, or absolute. Without REPLACE a file that has come to be in the meantime
 * stays. */
static gboolean
rename_in(int folder, const char *from, const char *to, DemurFileFlags flags) {
  if ((flags & DEMUR_FILE_REPLACE) != 0)
    return renameat(folder, from, folder, to) == 0;
  if (renameat2(folder, from, folder, to, RENAME_NOREPLACE) == 0)
    return TRUE;
  if (errno != EINVAL && errno != ENOSYS)
    return FALSE;
  return linkat(folder, from, folder, to, 0) == 0 && unlinkat(folder, from, 0) == 0;
}

gboolean
demur_file_output_commit(DemurFileOutput *output, GError **error) {
  g_return_val_if_fail(!output->committed, FALSE);
  if (!demur_file_output_finish(output, error))
    return FALSE;
  output->committed = TRUE;
  if (output->stream)
    return TRUE;
  /* The last word of the file system on what was written (NFS): before the name is given. The copy
   * holds the lock until then. */
  const int copy = fcntl(output->fd, F_DUPFD_CLOEXEC, 3);
  const int fd = output->fd;
  output->fd = -1;
  gboolean ok = (close(fd) == 0 || errno == EINTR) &&
                rename_in(output->folder, output->part, output->name, output->flags);
  if (ok) {
    output->has_part = FALSE;
    ok = is_unsynced(output) || sync_to_disk(output->folder) || errno == EBADF; /* of a drop box */
  }
  const int number = errno;
  if (copy >= 0)
    close(copy);
  errno = number;
  if (!ok && number == EEXIST) {
    demur_error_set(error, DEMUR_ERROR_EXISTS,
                    "%s is there already and was left as it is; name another file", output->path);
    return FALSE;
  }
  return settle(output, ok, error);
}

void
demur_file_output_free(DemurFileOutput *output) {
  if (output == NULL)
    return;
  if (output->has_part)
    unlinkat(output->folder, output->part, 0);
  if (output->fd >= 0)
    close(output->fd);
  if (output->folder >= 0)
    close(output->folder);
  g_free(output->name);
  g_free(output->path);
  g_free(output);
}

void
demur_file_take_back(const char *path) {
  Target target = {0};
  if (strcmp(path, DEMUR_FILE_STDOUT) != 0 && find_target(path, &target, NULL) && target.there &&
      !target.stream) {
    g_autofree char *folder = g_path_get_dirname(target.place);
    if (unlink(target.place) == 0)
      demur_folder_sync(folder);
  }
  free(target.place);
}

gboolean
demur_folder_sync(const char *path) {
  const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0)
    return errno == EACCES;
  const gboolean synced = sync_to_disk(folder);
  const int number = errno;
  close(folder);
  errno = number;
  return synced;
}

static gboolean
put(const char *made, const Target *target, const char *path, DemurFileFlags flags,
    GError **error) {
  g_autofree char *folder = g_path_get_dirname(target->place);
  const int fd = open(made, O_RDONLY | O_CLOEXEC);
  gboolean ok = fd >= 0 && sync_to_disk(fd);
  int number = errno;
  if (fd >= 0)
    close(fd);
  if (ok) {
    ok = rename_in(AT_FDCWD, made, target->place, flags) && demur_folder_sync(folder);
    number = errno;
  }
  return ok || fail_path(path, number, error);
}

gboolean
demur_file_put(const char *made, const char *path, DemurFileFlags flags, GError **error) {
  Target target = {0};
  gboolean ok = check(path, flags, &target, error);
  if (ok && target.stream)
    ok = refuse(path, N_("it is a device or a pipe; give the name of a file"), error);
  ok = ok && put(made, &target, path, flags, error);
  free(target.place);
  return ok;
}

static gboolean
fail_folder(const char *path, int number, GError **error) {
  g_autofree char *shown = demur_shown_text(path);
  demur_error_set(error, DEMUR_ERROR_OUTPUT, "folder %s can't be made: %s; %s", shown,
                  g_strerror(number), advice(number));
  return FALSE;
}

static gboolean
make_one_folder(const char *path, GError **error) {
  g_autofree char *above = g_path_get_dirname(path);
  if (mkdir(path, 0700) != 0) {
    struct stat status;
    const int number = errno;
    return number == EEXIST && stat(path, &status) == 0 && S_ISDIR(status.st_mode)
               ? TRUE
               : fail_folder(path, number == EEXIST ? ENOTDIR : number, error);
  }
  return demur_folder_sync(above) ? TRUE : fail_folder(path, errno, error);
}

gboolean
demur_folder_make(const char *path, GError **error) {
  if (*path == '\0' || g_file_test(path, G_FILE_TEST_IS_DIR))
    return TRUE;
  g_autofree char *above = g_path_get_dirname(path);
  if (strcmp(above, path) != 0 && !demur_folder_make(above, error))
    return FALSE;
  return make_one_folder(path, error);
}

gboolean
demur_file_write(const char *path, gconstpointer bytes, gssize n, DemurFileFlags flags,
                 GError **error) {
  g_autoptr(DemurFileOutput) output = demur_file_output_open(path, flags, error);
  return output != NULL &&
         demur_file_output_write(output, bytes, n < 0 ? strlen(bytes) : (size_t)n, error) &&
         demur_file_output_commit(output, error);
}
