#include "base/locked-files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
  int fd;
  dev_t device;
  ino_t file;
  FILE *stream; /* NULL: none; one of a stream is not handed out again */
} Kept;

static GMutex mutex;
static GPtrArray *databases; /* char *, one for each handle; NULL: none is open */
static GArray *kept;         /* Kept, in nobody's use */

static gboolean
is_same(const struct stat *a, const struct stat *b) {
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether locks may be held on it. */
static gboolean
is_locked(const struct stat *status) {
  static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
  for (guint i = 0; databases != NULL && i < databases->len; i++)
    for (gsize e = 0; e < G_N_ELEMENTS(endings); e++) {
      g_autofree char *path = g_strconcat(databases->pdata[i], endings[e], NULL);
      struct stat own;
      if (stat(path, &own) == 0 && is_same(&own, status))
        return TRUE;
    }
  return FALSE;
}

void
demur_locked_files_add(const char *path) {
  g_mutex_lock(&mutex);
  if (databases == NULL)
    databases = g_ptr_array_new_with_free_func(g_free);
  g_ptr_array_add(databases, g_canonicalize_filename(path, NULL));
  g_mutex_unlock(&mutex);
}

static void
close_kept(void) {
  for (guint i = 0; kept != NULL && i < kept->len; i++) {
    const Kept *one = &g_array_index(kept, Kept, i);
    if (one->stream != NULL)
      fclose(one->stream);
    else
      close(one->fd);
  }
  g_clear_pointer(&kept, g_array_unref);
}

void
demur_locked_files_remove(const char *path) {
  g_autofree char *whole = g_canonicalize_filename(path, NULL);
  guint at;
  g_mutex_lock(&mutex);
  if (databases != NULL && g_ptr_array_find_with_equal_func(databases, whole, g_str_equal, &at))
    g_ptr_array_remove_index_fast(databases, at);
  if (databases != NULL && databases->len == 0) {
    g_clear_pointer(&databases, g_ptr_array_unref);
    close_kept();
  }
  g_mutex_unlock(&mutex);
}

/* One of that file that was kept, out of those; -1: none. */
static int
take_kept(const struct stat *status) {
  for (guint i = 0; kept != NULL && i < kept->len; i++) {
    const Kept one = g_array_index(kept, Kept, i);
    if (one.stream == NULL && one.device == status->st_dev && one.file == status->st_ino &&
        lseek(one.fd, 0, SEEK_SET) == 0) {
      g_array_remove_index_fast(kept, i);
      return one.fd;
    }
  }
  return -1;
}

int
demur_locked_files_open(const char *path) {
  struct stat status;
  g_mutex_lock(&mutex);
  int fd = kept != NULL && stat(path, &status) == 0 ? take_kept(&status) : -1;
  g_mutex_unlock(&mutex);
  if (fd >= 0)
    return fd;
  do /* O_NONBLOCK: a FIFO must not make it wait before fstat tells what it is */
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  while (fd < 0 && errno == EINTR);
  return fd;
}

/* Whether it was put aside; else it is the caller's to close. */
static gboolean
keep(int fd, FILE *stream) {
  struct stat status;
  g_mutex_lock(&mutex);
  const gboolean stays = databases != NULL && fstat(fd, &status) == 0 && is_locked(&status);
  if (stays) {
    const Kept one = {fd, status.st_dev, status.st_ino, stream};
    if (kept == NULL)
      kept = g_array_new(FALSE, FALSE, sizeof(Kept));
    g_array_append_val(kept, one);
  }
  g_mutex_unlock(&mutex);
  return stays;
}

void
demur_locked_files_close(int fd) {
  if (!keep(fd, NULL))
    close(fd);
}

void
demur_locked_files_close_stream(FILE *stream) {
  if (!keep(fileno(stream), stream))
    fclose(stream);
}
