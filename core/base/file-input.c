#include "base/file-input.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/locked-files.h"
#include "base/shown-text.h"

#define BLOCK_BYTES ((gsize)64 << 10)

static void
refuse(const char *path, const char *reason, GError **error) {
  g_autofree char *shown = demur_shown_text(path);
  demur_error_set(error, DEMUR_ERROR_INPUT, "%s can't be read: %s", shown, reason);
}

gboolean
demur_file_input_at(int fd, guint64 offset, gsize n, guint8 *bytes) {
  for (gsize done = 0; done < n;) {
    const ssize_t got = pread(fd, bytes + done, n - done, (off_t)(offset + done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return FALSE;
    done += (gsize)got;
  }
  return TRUE;
}

int
demur_file_input_open(const char *path, guint64 *size, GError **error) {
  const int fd = demur_locked_files_open(path);
  struct stat status;
  if (fd < 0 || fstat(fd, &status) != 0) {
    refuse(path, g_strerror(errno), error);
  } else if (S_ISDIR(status.st_mode)) {
    refuse(path, N_("it is a folder; give the name of a file in it"), error);
  } else if (!S_ISREG(status.st_mode)) {
    refuse(path, N_("it is a device, pipe or socket; write it to a file first, and give that"),
           error);
  } else {
    if (size != NULL)
      *size = (guint64)status.st_size;
    return fd;
  }
  if (fd >= 0)
    demur_locked_files_close(fd);
  return -1;
}

static void
refuse_size(const char *path, gsize limit, GError **error) {
  g_autofree char *most = g_format_size_full(limit, G_FORMAT_SIZE_IEC_UNITS);
  g_autofree char *reason = g_strdup_printf(
      "it is larger than %s, more than such a file can need; is it the right one?", most);
  refuse(path, reason, error);
}

/* Reads to the end; the text has room for *n bytes and a NUL, and grows. FALSE with errno, 0 where
 * the limit is passed. */
static gboolean
read_to_end(int fd, gsize limit, char **text, gsize *n) {
  gsize room = *n, done = 0;
  for (;;) {
    if (done == room) { /* the end is seen by a byte more only */
      room = MIN(limit, room) + BLOCK_BYTES;
      *text = g_realloc(*text, room + 1);
    }
    const ssize_t got = read(fd, *text + done, room - done);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return FALSE;
    done += (gsize)got;
    if (got == 0 || done > limit)
      break;
  }
  *n = done;
  (*text)[done] = '\0';
  errno = 0;
  return done <= limit;
}

char *
demur_file_input_read(const char *path, gsize limit, gsize *length, GError **error) {
  guint64 size;
  const int fd = demur_file_input_open(path, &size, error);
  if (fd < 0)
    return NULL;
  if (size > limit) {
    refuse_size(path, limit, error);
    demur_locked_files_close(fd);
    return NULL;
  }
  gsize n = (gsize)size;
  g_autofree char *text = g_malloc(n + 1);
  const gboolean ok = read_to_end(fd, limit, &text, &n);
  const int number = errno;
  demur_locked_files_close(fd);
  if (!ok) {
    if (number == 0)
      refuse_size(path, limit, error);
    else
      refuse(path, g_strerror(number), error);
    return NULL;
  }
  if (length != NULL)
    *length = n;
  return g_steal_pointer(&text);
}

gboolean
demur_file_input_begin(const char *path, char *bytes, gsize n, gsize *got, GError **error) {
  const int fd = demur_file_input_open(path, NULL, error);
  if (fd < 0)
    return FALSE;
  ssize_t part = 1;
  for (*got = 0; *got < n && part > 0; *got += (gsize)MAX(part, 0))
    do
      part = pread(fd, bytes + *got, n - *got, (off_t)*got);
    while (part < 0 && errno == EINTR);
  if (part < 0)
    refuse(path, g_strerror(errno), error);
  demur_locked_files_close(fd);
  return part >= 0;
}
