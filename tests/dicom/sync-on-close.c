/* Preloaded into another maker's storage server: what it wrote is brought to the disk, file and
 * folder, when it closes the file, which is before it acknowledges the object. So it is compared with
 * our receiver, which promises as much. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef int (*Close)(FILE *);

static void
sync_folder_of(int fd) {
  char link[64], path[PATH_MAX];
  (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, path, sizeof path - 1);
  path[n > 0 ? n : 0] = '\0';
  char *slash = strrchr(path, '/');
  if (slash == NULL)
    return;
  *slash = '\0';
  const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0 || fsync(folder) != 0)
    abort(); /* a comparison that is none */
  close(folder);
}

/* In the place of the C library's, which it calls. */
int
fclose(FILE *stream) {
  Close original = NULL;
  void *found = dlsym(RTLD_NEXT, "fclose");
  memcpy(&original, &found, sizeof original);
  const int fd = fileno(stream);
  const int flags = fd >= 0 ? fcntl(fd, F_GETFL) : O_RDONLY;
  struct stat file;
  if ((flags & O_ACCMODE) != O_RDONLY && fstat(fd, &file) == 0 && S_ISREG(file.st_mode)) {
    if (fflush(stream) != 0 || fsync(fd) != 0)
      abort();
    sync_folder_of(fd);
  }
  return original(stream);
}
