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
 * With FAULT_AT -1 every one that can be interrupted or cut short is, but for the one behind it (the
 * rest, or the same again), and for syncs: an interrupted one may end a command.
 * FAULT_COUNT names a file that gets a line for each call at the end: what it can meet (1 it needs
 * room, 2 it can be interrupted, 4 it can be cut short; their sum), and a digest of where it was made
 * (the return addresses on the stack; the same in one process alone). Processes that the driver's one forks share its count; programs that it
 * runs are not meant.
 *
 * FAULT_SERVER holds two descriptors: the program stops before its main and forks itself for each line
 * "kind number" that the first one brings; the second one tells each copy's wait status, a line. All that
 * comes before main (relocating a hundred libraries) is done once for all of them. With FAULT_STOPS, a
 * number, it stops before that call instead, says "stop number", takes the same lines, and goes on to
 * that of number n with "go n" (0: to its end): what comes before a call is then done once for all
 * faults at it. The driver puts the files back behind each copy, open ones in their place; where a
 * descriptor stands is put back here, and a copy is let have its locks, which are the first one's
 * (of files, and mutexes that it held when it was copied).
 *
 * What getrandom gives is the same in every run: the key of a workspace, and all that hangs on it.
 *
 * FAULT_STDOUT names a file that standard output goes to, its writes counted as any.
 *
 * FAULT_LOG names a file that gets every such call, for replaying what a loss of power leaves
 * (powerloss.py): a line of a letter and words, then the bytes that are told of.
 *   O inode n, path[n]: that name now leads to that file    W inode offset n, bytes[n]: written
 *   T inode size: truncated   S inode: synced               D n, path[n]: folder synced
 *   R n m, path[n], path[m]: renamed or linked (L)          U n, path[n]: removed
 *   M n, path[n]: folder made                           N n, bytes[n]: told to a peer */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_FD 1024

#define MAX_CALLS (1 << 20)
static atomic_int *n_calls; /* shared with what is forked */
static struct {
  int traits;
  unsigned long where;
} * calls; /* [MAX_CALLS], where they are counted; shared too */
static _Atomic unsigned char
    watched[MAX_FD];          /* descriptors of files (1) and folders (2) below FAULT_ROOT */
static char *folders[MAX_FD]; /* paths of the latter */
static const char *root, *kind;
static size_t root_length;
static int at, log_fd = -1;
static pid_t first, copied;
static FILE *orders;
static int answers, stop_at, is_copy; /* stop_at: 0 nowhere */
enum { EVERYWHERE = -1 };

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* stdio writes by a way of its own, past this library's write: this is it. */
static ssize_t
print(void *nothing, const char *bytes, size_t n) {
  (void)nothing;
  size_t done = 0;
  while (done < n) {
    const ssize_t part = write(STDOUT_FILENO, bytes + done, n - done);
    if (part < 0)
      break;
    done += (size_t)part;
  }
  return (ssize_t)done;
}

/* Standard output as a shell would open it; a copy's is its own. */
static void
open_output(void) {
  const char *path = getenv("FAULT_STDOUT");
  const int fd =
      path != NULL ? NEXT(open)(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
  if (fd < 0 || dup2(fd, STDOUT_FILENO) != STDOUT_FILENO || NEXT(close)(fd) != 0)
    return;
  watched[STDOUT_FILENO] = 1;
  stdout = fopencookie(NULL, "w", (cookie_io_functions_t){.write = print});
}

/* A copy may have removed a folder that this process holds, and its driver made it anew. */
static void
reopen_folders(void) {
  for (int fd = 0; fd < MAX_FD; fd++) {
    char link[64], path[PATH_MAX] = "";
    if (watched[fd] != 2)
      continue;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(link, path, sizeof path - 1);
    char *gone = n > 0 ? strstr(path, " (deleted)") : NULL;
    if (gone == NULL)
      continue;
    *gone = '\0';
    const int now = NEXT(open)(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (now >= 0 && (dup3(now, fd, O_CLOEXEC) != fd || flock(fd, LOCK_EX | LOCK_NB) != 0 ||
                     NEXT(close)(now) != 0))
      abort();
  }
}

/* Comes back in each copy, and with "go" in the one that is copied; that one ends with its driver. */
static void
serve(void) {
  static char order[16];
  static off_t offsets[MAX_FD];
  int number, status;
  while (fscanf(orders, "%15s %d", order, &number) == 2) {
    reopen_folders();
    if (strcmp(order, "go") == 0) {
      stop_at = number;
      return;
    }
    const int counted = *n_calls;
    for (int fd = 0; fd < MAX_FD; fd++)
      offsets[fd] = watched[fd] == 1 ? lseek(fd, 0, SEEK_CUR) : -1;
    const pid_t parent = getpid(), copy = fork();
    if (copy == 0) {
      kind = order;
      at = number;
      stop_at = 0;
      is_copy = 1;
      copied = parent;
      first = getpid();
      fclose(orders);
      NEXT(close)(answers);
      open_output();
      return;
    }
    if (copy < 0 || waitpid(copy, &status, 0) != copy || dprintf(answers, "%d\n", status) < 0)
      abort();
    *n_calls = counted;
    for (int fd = 0; fd < MAX_FD; fd++)
      if (offsets[fd] >= 0 && lseek(fd, offsets[fd], SEEK_SET) < 0)
        abort();
  }
  _exit(0);
}

__attribute__((constructor)) static void
start(void) {
  kind = getenv("FAULT_KIND");
  root = getenv("FAULT_ROOT");
  root_length = root != NULL ? strlen(root) : 0;
  const char *number = getenv("FAULT_AT");
  at = number != NULL ? atoi(number) : 0;
  first = getpid();
  n_calls = mmap(NULL, sizeof *n_calls, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (getenv("FAULT_COUNT") != NULL)
    calls = mmap(NULL, MAX_CALLS * sizeof *calls, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  const char *log = getenv("FAULT_LOG");
  if (log != NULL)
    log_fd = NEXT(open)(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  unsetenv("LD_PRELOAD");
  const char *server = getenv("FAULT_SERVER");
  int from;
  const char *stop = getenv("FAULT_STOPS");
  stop_at = server != NULL && stop != NULL ? atoi(stop) : 0;
  if (server != NULL && sscanf(server, "%d %d", &from, &answers) == 2)
    orders = fdopen(from, "r");
  if (orders != NULL && stop_at == 0)
    serve();
  else
    open_output();
}

__attribute__((destructor)) static void
end(void) {
  const char *name = getenv("FAULT_COUNT");
  FILE *file = name != NULL ? fopen(name, "w") : NULL;
  if (file == NULL || getpid() != first)
    return;
  for (int i = 0; i < *n_calls && i < MAX_CALLS; i++)
    fprintf(file, "%d %lx\n", calls[i].traits, calls[i].where);
  fclose(file);
}

enum { NEEDS_ROOM = 1, INTERRUPTIBLE = 2, SHORTENED = 4 };

/* FNV-1a over the return addresses. */
static unsigned long
where_it_is_made(void) {
  void *frames[64];
  const int n = backtrace(frames, 64);
  unsigned long digest = 14695981039346656037UL;
  for (int i = 0; i < n; i++)
    digest = (digest ^ (unsigned long)frames[i]) * 1099511628211UL;
  return digest;
}

/* One that can meet it, and whose forerunner did not. */
static int
meets_everywhere(int able) {
  static int before;
  return before = able && !before;
}

/* What becomes of the next call: 0 it is made, else its errno; -1: made in half; -2: made, and
 * then the end. */
static int
meet(int traits) {
  if (stop_at != 0 && *n_calls + 1 == stop_at) {
    if (dprintf(answers, "stop %d\n", *n_calls + 1) < 0)
      abort();
    serve();
  }
  const int n = ++*n_calls;
  if (calls != NULL && n <= MAX_CALLS) {
    calls[n - 1].traits = traits;
    calls[n - 1].where = where_it_is_made();
  }
  if (kind == NULL || at == 0)
    return 0;
  if (strcmp(kind, "full") == 0)
    return n >= at && (traits & NEEDS_ROOM) != 0 ? ENOSPC : 0;
  if (at == EVERYWHERE && strcmp(kind, "eintr") == 0)
    return meets_everywhere((traits & INTERRUPTIBLE) != 0 && (traits & NEEDS_ROOM) != 0) ? EINTR
                                                                                         : 0;
  if (at == EVERYWHERE && strcmp(kind, "short") == 0)
    return meets_everywhere((traits & SHORTENED) != 0) ? -1 : 0;
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

/* The whole path of name in folder (a descriptor or AT_FDCWD). */
static const char *
whole_path(int folder, const char *name, char path[2 * PATH_MAX]) {
  char link[64], base[PATH_MAX] = "";
  if (name[0] == '/')
    return name;
  if (folder == AT_FDCWD) {
    if (getcwd(base, sizeof base) == NULL)
      abort();
  } else {
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    const ssize_t n = readlink(link, base, sizeof base - 1);
    base[n > 0 ? n : 0] = '\0';
  }
  snprintf(path, 2 * PATH_MAX, "%s/%s", base, name);
  return path;
}

static void
watch(int fd, const char *path) {
  struct stat status;
  if (fd < 0 || fd >= MAX_FD)
    return;
  const int below = is_below(path) && fstat(fd, &status) == 0;
  watched[fd] = below && S_ISREG(status.st_mode) ? 1 : below && S_ISDIR(status.st_mode) ? 2 : 0;
}

/* One record in one write: threads and processes do not mix theirs. */
static void
record(const char *line, const void *bytes, size_t n, const void *more, size_t m) {
  const struct iovec parts[] = {
      {(void *)line, strlen(line)}, {(void *)bytes, n}, {(void *)more, m}};
  if (log_fd >= 0 && NEXT(writev)(log_fd, parts, 3) < 0)
    abort();
}

static unsigned long
inode_of(int fd) {
  struct stat status;
  return fstat(fd, &status) == 0 ? (unsigned long)status.st_ino : 0;
}

static void
record_fd(const char *letter, int fd, unsigned long number) {
  char line[96];
  if (log_fd < 0)
    return;
  snprintf(line, sizeof line, "%s %lu %lu\n", letter, inode_of(fd), number);
  record(line, NULL, 0, NULL, 0);
}

static void
record_path(const char *letter, int folder, const char *name) {
  char line[96], path[2 * PATH_MAX];
  if (log_fd < 0)
    return;
  const char *whole = whole_path(folder, name, path);
  snprintf(line, sizeof line, "%s %zu\n", letter, strlen(whole));
  record(line, whole, strlen(whole), NULL, 0);
}

static void
record_rename(const char *letter, int from_folder, const char *from, int to_folder,
              const char *to) {
  char line[96], one[2 * PATH_MAX], other[2 * PATH_MAX];
  if (log_fd < 0)
    return;
  const char *a = whole_path(from_folder, from, one), *b = whole_path(to_folder, to, other);
  snprintf(line, sizeof line, "%s %zu %zu\n", letter, strlen(a), strlen(b));
  record(line, a, strlen(a), b, strlen(b));
}

static void
record_sync(int fd) {
  struct stat status;
  char line[96], link[64], path[PATH_MAX];
  if (log_fd < 0 || fstat(fd, &status) != 0)
    return;
  if (!S_ISDIR(status.st_mode)) {
    record_fd("S", fd, 0);
    return;
  }
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, path, sizeof path);
  snprintf(line, sizeof line, "D %zd\n", n);
  record(line, path, n > 0 ? (size_t)n : 0, NULL, 0);
}

/* Makes call, whose result is of type, with the fault before or behind it. */
#define FAULTED(type, traits, call, recorded)                                                      \
  do {                                                                                             \
    const int fault_ = meet(traits);                                                               \
    if (fault_ > 0) {                                                                              \
      errno = fault_;                                                                              \
      return -1;                                                                                   \
    }                                                                                              \
    const type result_ = (call);                                                                   \
    if (result_ >= 0)                                                                              \
      recorded;                                                                                    \
    if (fault_ == -2)                                                                              \
      kill(getpid(), SIGKILL);                                                                     \
    return result_;                                                                                \
  } while (0)

static int
is_socket(int fd) {
  struct stat status;
  return fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode);
}

static ssize_t
written(int fd, const void *bytes, size_t n, off_t offset, int positioned) {
  const int fault = is_watched(fd) ? meet(NEEDS_ROOM | INTERRUPTIBLE | SHORTENED) : 0;
  if (fault > 0) {
    errno = fault;
    return -1;
  }
  const size_t part = fault == -1 && n > 1 ? n / 2 : n;
  const off_t begin = positioned || log_fd < 0 ? offset : lseek(fd, 0, SEEK_CUR);
  const ssize_t result =
      positioned ? NEXT(pwrite)(fd, bytes, part, offset) : NEXT(write)(fd, bytes, part);
  if (result > 0 && log_fd >= 0 && is_watched(fd)) {
    char line[96];
    snprintf(line, sizeof line, "W %lu %lu %zd\n", inode_of(fd), (unsigned long)begin, result);
    record(line, bytes, (size_t)result, NULL, 0);
  }
  if (result > 0 && log_fd >= 0 && is_socket(fd)) {
    char line[32];
    snprintf(line, sizeof line, "N %zd\n", result);
    record(line, bytes, (size_t)result, NULL, 0);
  }
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

/* In parts: short writes are allowed, and each is a call of its own to the disk. */
ssize_t
writev(int fd, const struct iovec *parts, int n) {
  if (!is_watched(fd))
    return NEXT(writev)(fd, parts, n);
  ssize_t total = 0;
  for (int i = 0; i < n; i++) {
    const ssize_t part = written(fd, parts[i].iov_base, parts[i].iov_len, 0, 0);
    if (part < 0)
      return total > 0 ? total : -1;
    total += part;
    if ((size_t)part < parts[i].iov_len)
      break;
  }
  return total;
}

int
fsync(int fd) {
  if (!is_watched(fd))
    return NEXT(fsync)(fd);
  FAULTED(int, INTERRUPTIBLE, NEXT(fsync)(fd), record_sync(fd));
}

int
fdatasync(int fd) {
  if (!is_watched(fd))
    return NEXT(fdatasync)(fd);
  FAULTED(int, INTERRUPTIBLE, NEXT(fdatasync)(fd), record_sync(fd));
}

int
ftruncate(int fd, off_t size) {
  if (!is_watched(fd))
    return NEXT(ftruncate)(fd, size);
  FAULTED(int, 0, NEXT(ftruncate)(fd, size), record_fd("T", fd, (unsigned long)size));
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
  FAULTED(int, 0, NEXT(fchmod)(fd, mode), (void)0);
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
locked(int fd, int command, void *argument) {
  const int looks = command == F_GETLK || command == F_OFD_GETLK;
  if (!is_copy || (!looks && command != F_SETLK && command != F_SETLKW && command != F_OFD_SETLK &&
                   command != F_OFD_SETLKW))
    return NEXT(fcntl)(fd, command, argument);
  if (looks)
    ((struct flock *)argument)->l_type = F_UNLCK;
  return 0;
}

/* A mutex knows its thread by a number, which is another one in a copy. */
static pthread_mutex_t *
taken_over(pthread_mutex_t *mutex) {
  if (is_copy && mutex->__data.__owner == copied)
    mutex->__data.__owner = getpid();
  return mutex;
}

int
pthread_mutex_lock(pthread_mutex_t *mutex) {
  return NEXT(pthread_mutex_lock)(taken_over(mutex));
}

int
pthread_mutex_trylock(pthread_mutex_t *mutex) {
  return NEXT(pthread_mutex_trylock)(taken_over(mutex));
}

int
pthread_mutex_unlock(pthread_mutex_t *mutex) {
  return NEXT(pthread_mutex_unlock)(taken_over(mutex));
}

#define ARGUMENT_OF(command)                                                                       \
  va_list list;                                                                                    \
  va_start(list, command);                                                                         \
  void *argument = va_arg(list, void *);                                                           \
  va_end(list)

int
fcntl(int fd, int command, ...) {
  ARGUMENT_OF(command);
  return locked(fd, command, argument);
}

int
fcntl64(int fd, int command, ...) {
  ARGUMENT_OF(command);
  return locked(fd, command, argument);
}

ssize_t
getrandom(void *bytes, size_t n, unsigned int flags) {
  (void)flags;
  memset(bytes, 0x5a, n);
  return (ssize_t)n;
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
  if (fd >= 0 && writes && log_fd >= 0 && is_below(path)) {
    char line[96], whole[2 * PATH_MAX];
    const char *name = whole_path(folder, path, whole);
    snprintf(line, sizeof line, "O %lu %zu\n", inode_of(fd), strlen(name));
    record(line, name, strlen(name), NULL, 0);
    if ((flags & O_TRUNC) != 0)
      record_fd("T", fd, 0);
  }
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
  FAULTED(int, NEEDS_ROOM, NEXT(rename)(from, to),
          record_rename("R", AT_FDCWD, from, AT_FDCWD, to));
}

int
renameat(int from_folder, const char *from, int to_folder, const char *to) {
  if (!is_below(to))
    return NEXT(renameat)(from_folder, from, to_folder, to);
  FAULTED(int, NEEDS_ROOM, NEXT(renameat)(from_folder, from, to_folder, to),
          record_rename("R", from_folder, from, to_folder, to));
}

int
renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned int flags) {
  if (!is_below(to))
    return NEXT(renameat2)(from_folder, from, to_folder, to, flags);
  FAULTED(int, NEEDS_ROOM, NEXT(renameat2)(from_folder, from, to_folder, to, flags),
          record_rename("R", from_folder, from, to_folder, to));
}

int
unlink(const char *path) {
  if (!is_below(path))
    return NEXT(unlink)(path);
  FAULTED(int, 0, NEXT(unlink)(path), record_path("U", AT_FDCWD, path));
}

int
unlinkat(int folder, const char *path, int flags) {
  if (!is_below(path))
    return NEXT(unlinkat)(folder, path, flags);
  FAULTED(int, 0, NEXT(unlinkat)(folder, path, flags), record_path("U", folder, path));
}

int
mkdir(const char *path, mode_t mode) {
  if (!is_below(path))
    return NEXT(mkdir)(path, mode);
  FAULTED(int, NEEDS_ROOM, NEXT(mkdir)(path, mode), record_path("M", AT_FDCWD, path));
}

int
mkdirat(int folder, const char *path, mode_t mode) {
  if (!is_below(path))
    return NEXT(mkdirat)(folder, path, mode);
  FAULTED(int, NEEDS_ROOM, NEXT(mkdirat)(folder, path, mode), record_path("M", folder, path));
}

int
symlink(const char *to, const char *path) {
  if (!is_below(path))
    return NEXT(symlink)(to, path);
  FAULTED(int, NEEDS_ROOM, NEXT(symlink)(to, path), (void)0);
}

int
rmdir(const char *path) {
  if (!is_below(path))
    return NEXT(rmdir)(path);
  FAULTED(int, 0, NEXT(rmdir)(path), record_path("U", AT_FDCWD, path));
}

int
linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
  if (!is_below(to))
    return NEXT(linkat)(from_folder, from, to_folder, to, flags);
  FAULTED(int, NEEDS_ROOM, NEXT(linkat)(from_folder, from, to_folder, to, flags),
          record_rename("L", from_folder, from, to_folder, to));
}
