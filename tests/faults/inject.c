/* Loaded before the C library (LD_PRELOAD): makes one call fail that writes.
 *
 * Every call that changes a file or a name below FAULT_ROOT is counted: write, pwrite, writev,
 * fsync, fdatasync, ftruncate, fallocate, open with O_CREAT, rename, link, unlink, mkdir, fchmod,
 * close of a file that was written to. The one of number FAULT_AT (from 1) meets FAULT_KIND:
 *   full   ENOSPC, and every later one that needs room too
 *   io     EIO, once
 *   short  half of what was to be written, once
 *   eintr  EINTR, once
 *   kill   SIGKILL before it
 *   after  SIGKILL behind it
 * FAULT_COUNT names a file that gets the number of calls at the end. Only the process that the
 * driver starts is meant, not its children. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAX_FD 1024

static atomic_int n_calls;
static _Atomic unsigned char watched[MAX_FD]; /* descriptors of files below FAULT_ROOT */
static const char *root, *kind;
static size_t root_length;
static int at;

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void
start(void) {
  kind = getenv("FAULT_KIND");
  root = getenv("FAULT_ROOT");
  root_length = root != NULL ? strlen(root) : 0;
  const char *number = getenv("FAULT_AT");
  at = number != NULL ? atoi(number) : 0;
  unsetenv("LD_PRELOAD");
}

__attribute__((destructor)) static void
end(void) {
  const char *name = getenv("FAULT_COUNT");
  FILE *file = name != NULL ? fopen(name, "w") : NULL;
  if (file == NULL)
    return;
  fprintf(file, "%d\n", n_calls);
  fclose(file);
}

enum { NEEDS_ROOM = 1, INTERRUPTIBLE = 2, SHORTENED = 4 };

/* What becomes of the next call: 0 it is made, else its errno; -1: made in half; -2: made, and
 * then the end. */
static int
meet(int traits) {
  const int n = ++n_calls;
  if (kind == NULL || at == 0)
    return 0;
  if (strcmp(kind, "full") == 0)
    return n >= at && (traits & NEEDS_ROOM) != 0 ? ENOSPC : 0;
  if (n != at)
    return 0;
  if (strcmp(kind, "kill") == 0)
    kill(getpid(), SIGKILL);
  if (strcmp(kind, "after") == 0)
    return -2;
  if (strcmp(kind, "io") == 0)
    return EIO;
  if (strcmp(kind, "eintr") == 0 && (traits & INTERRUPTIBLE) != 0)
    return EINTR;
  if (strcmp(kind, "short") == 0 && (traits & SHORTENED) != 0)
    return -1;
  return 0;
}

static int
is_watched(int fd) {
  return fd >= 0 && fd < MAX_FD && watched[fd];
}

/* A relative name is one below the folder that the driver works in. */
static int
is_below(const char *path) {
  return root != NULL && (path[0] != '/' || strncmp(path, root, root_length) == 0);
}

static void
watch(int fd, const char *path) {
  struct stat status;
  if (fd >= 0 && fd < MAX_FD)
    watched[fd] = is_below(path) && fstat(fd, &status) == 0 &&
                  (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
}

/* Makes call, whose result is of type, with the fault before or behind it. */
#define FAULTED(type, traits, call)                                                                \
  do {                                                                                             \
    const int fault_ = meet(traits);                                                               \
    if (fault_ > 0) {                                                                              \
      errno = fault_;                                                                              \
      return -1;                                                                                   \
    }                                                                                              \
    const type result_ = (call);                                                                   \
    if (fault_ == -2)                                                                              \
      kill(getpid(), SIGKILL);                                                                     \
    return result_;                                                                                \
  } while (0)

static ssize_t
written(int fd, const void *bytes, size_t n, off_t offset, int positioned) {
  const int fault = is_watched(fd) ? meet(NEEDS_ROOM | INTERRUPTIBLE | SHORTENED) : 0;
  if (fault > 0) {
    errno = fault;
    return -1;
  }
  const size_t part = fault == -1 && n > 1 ? n / 2 : n;
  const ssize_t result =
      positioned ? NEXT(pwrite)(fd, bytes, part, offset) : NEXT(write)(fd, bytes, part);
  if (fault == -2)
    kill(getpid(), SIGKILL);
  return result;
}

ssize_t
write(int fd, const void *bytes, size_t n) {
  return written(fd, bytes, n, 0, 0);
}

ssize_t
pwrite(int fd, const void *bytes, size_t n, off_t offset) {
  return written(fd, bytes, n, offset, 1);
}

ssize_t
pwrite64(int fd, const void *bytes, size_t n, off64_t offset) {
  return written(fd, bytes, n, offset, 1);
}

ssize_t
writev(int fd, const struct iovec *parts, int n) {
  if (!is_watched(fd))
    return NEXT(writev)(fd, parts, n);
  FAULTED(ssize_t, NEEDS_ROOM | INTERRUPTIBLE, NEXT(writev)(fd, parts, n));
}

int
fsync(int fd) {
  if (!is_watched(fd))
    return NEXT(fsync)(fd);
  FAULTED(int, INTERRUPTIBLE, NEXT(fsync)(fd));
}

int
fdatasync(int fd) {
  if (!is_watched(fd))
    return NEXT(fdatasync)(fd);
  FAULTED(int, INTERRUPTIBLE, NEXT(fdatasync)(fd));
}

int
ftruncate(int fd, off_t size) {
  if (!is_watched(fd))
    return NEXT(ftruncate)(fd, size);
  FAULTED(int, 0, NEXT(ftruncate)(fd, size));
}

int
ftruncate64(int fd, off64_t size) {
  return ftruncate(fd, size);
}

int
posix_fallocate(int fd, off_t offset, off_t size) {
  if (is_watched(fd)) {
    const int fault = meet(NEEDS_ROOM);
    if (fault > 0)
      return fault;
  }
  return NEXT(posix_fallocate)(fd, offset, size);
}

int
fchmod(int fd, mode_t mode) {
  if (!is_watched(fd))
    return NEXT(fchmod)(fd, mode);
  FAULTED(int, 0, NEXT(fchmod)(fd, mode));
}

int
close(int fd) {
  if (!is_watched(fd))
    return NEXT(close)(fd);
  watched[fd] = 0;
  const int fault = meet(0);
  const int result = NEXT(close)(fd); /* as the kernel: closed, whatever is said */
  if (fault == -2)
    kill(getpid(), SIGKILL);
  if (fault > 0) {
    errno = fault;
    return -1;
  }
  return result;
}

static int
opened(int folder, const char *path, int flags, mode_t mode) {
  int fault = 0;
  const int writes = (flags & (O_WRONLY | O_RDWR)) != 0;
  if ((flags & O_CREAT) != 0 && is_below(path))
    fault = meet(NEEDS_ROOM | INTERRUPTIBLE);
  if (fault > 0) {
    errno = fault;
    return -1;
  }
  const int fd = NEXT(openat)(folder, path, flags, mode);
  if (fault == -2)
    kill(getpid(), SIGKILL);
  if (writes || (flags & O_DIRECTORY) != 0) /* a folder is synced */
    watch(fd, path);
  else if (fd >= 0 && fd < MAX_FD)
    watched[fd] = 0;
  return fd;
}

#define MODE_OF(flags)                                                                             \
  mode_t mode = 0;                                                                                 \
  if (((flags)&O_CREAT) != 0) {                                                                    \
    va_list list;                                                                                  \
    va_start(list, flags);                                                                         \
    mode = va_arg(list, mode_t);                                                                   \
    va_end(list);                                                                                  \
  }

int
open(const char *path, int flags, ...) {
  MODE_OF(flags)
  return opened(AT_FDCWD, path, flags, mode);
}

int
open64(const char *path, int flags, ...) {
  MODE_OF(flags)
  return opened(AT_FDCWD, path, flags, mode);
}

int
openat(int folder, const char *path, int flags, ...) {
  MODE_OF(flags)
  return opened(folder, path, flags, mode);
}

int
openat64(int folder, const char *path, int flags, ...) {
  MODE_OF(flags)
  return opened(folder, path, flags, mode);
}

int
rename(const char *from, const char *to) {
  if (!is_below(to))
    return NEXT(rename)(from, to);
  FAULTED(int, NEEDS_ROOM, NEXT(rename)(from, to));
}

int
renameat(int from_folder, const char *from, int to_folder, const char *to) {
  if (!is_below(to))
    return NEXT(renameat)(from_folder, from, to_folder, to);
  FAULTED(int, NEEDS_ROOM, NEXT(renameat)(from_folder, from, to_folder, to));
}

int
renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned int flags) {
  if (!is_below(to))
    return NEXT(renameat2)(from_folder, from, to_folder, to, flags);
  FAULTED(int, NEEDS_ROOM, NEXT(renameat2)(from_folder, from, to_folder, to, flags));
}

int
unlink(const char *path) {
  if (!is_below(path))
    return NEXT(unlink)(path);
  FAULTED(int, 0, NEXT(unlink)(path));
}

int
unlinkat(int folder, const char *path, int flags) {
  if (!is_below(path))
    return NEXT(unlinkat)(folder, path, flags);
  FAULTED(int, 0, NEXT(unlinkat)(folder, path, flags));
}

int
mkdir(const char *path, mode_t mode) {
  if (!is_below(path))
    return NEXT(mkdir)(path, mode);
  FAULTED(int, NEEDS_ROOM, NEXT(mkdir)(path, mode));
}
