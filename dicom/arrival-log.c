#define _GNU_SOURCE /* syncfs */
#include "dicom/arrival-log.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/error.h"
#include "base/file-input.h"
#include "base/file-output.h"

#define CAPACITY ((size_t)32 << 20)
#define FIRST ((size_t)256 << 10) /* bytes at first; the file grows to twice what it was */
#define MAX_NAME 1024             /* bytes of a place, or of a name */
#define HEAD 40                   /* bytes before the texts */
#define SUFFIX ".log"

static const char magic[] = {'D', 'e', 'm', 'u', 'r', 'L', 'o', 'g'};

struct DemurArrivalLog {
  char *folder, *path;
  int file;
  guint64 number;       /* of the present round */
  size_t used, written; /* bytes of records; bytes whose blocks are there */
};

static gboolean
fail(const char *path, GError **error) {
  g_autofree char *shown = g_filename_display_name(path);
  demur_error_set(error, DEMUR_ERROR_OUTPUT,
                  "the log of arrivals %s can't be brought to the disk: %s", shown,
                  g_strerror(errno));
  return FALSE;
}

static char *
log_path(const char *folder, int process) {
  g_autofree char *name = g_strdup_printf("%d" SUFFIX, process);
  return g_build_filename(folder, ".journal", name, NULL);
}

/* Everything that was written below the folder, with its names. */
static gboolean
sync_all(const char *folder) {
  const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return FALSE;
  const gboolean synced = syncfs(fd) == 0;
  const int reason = errno;
  close(fd);
  errno = reason;
  return synced;
}

static guint64
draw_number(void) {
  return ((guint64)g_random_int() << 32) | g_random_int();
}

static void
log_free(DemurArrivalLog *log) {
  if (log->file >= 0)
    close(log->file);
  g_free(log->path);
  g_free(log->folder);
  g_free(log);
}

DemurArrivalLog *
demur_arrival_log_open(const char *folder, int process, GError **error) {
  g_autofree char *path = log_path(folder, process);
  if (!demur_file_write(path, "", 0, DEMUR_FILE_NEW, error))
    return NULL;
  DemurArrivalLog *log = g_new0(DemurArrivalLog, 1);
  log->folder = g_strdup(folder);
  log->path = g_steal_pointer(&path);
  log->number = draw_number();
  log->file = open(log->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (log->file >= 0)
    return log;
  (void)fail(log->path, error);
  (void)g_unlink(log->path);
  log_free(log);
  return NULL;
}

static gboolean
write_at(int file, const void *bytes, size_t n, size_t at) {
  const char *from = bytes;
  while (n > 0) {
    const ssize_t written = pwrite(file, from, n, (off_t)at);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return FALSE;
    from += written;
    at += (size_t)written;
    n -= (size_t)written;
  }
  return TRUE;
}

static gboolean
sync_data(int file) {
  int code;
  do
    code = fdatasync(file);
  while (code != 0 && errno == EINTR);
  return code == 0;
}

/* Makes room for n bytes: blocks that were written once need no journal of the file system's. */
static gboolean
make_room(DemurArrivalLog *log, size_t n) {
  if (log->used + n > CAPACITY) {
    if (!sync_all(log->folder))
      return FALSE;
    log->used = 0;
    log->number = draw_number();
  }
  if (log->used + n <= log->written)
    return TRUE;
  const size_t needed = (log->used + n + FIRST - 1) / FIRST * FIRST;
  const size_t grown = MIN(MAX(needed, 2 * log->written), CAPACITY);
  g_autofree char *zeros = g_malloc0(FIRST);
  gboolean good = TRUE;
  for (size_t at = log->written; good && at < grown; at += FIRST)
    good = write_at(log->file, zeros, MIN(FIRST, grown - at), at);
  good = good && sync_data(log->file);
  if (good)
    log->written = grown;
  else if (ftruncate(log->file, (off_t)log->written) != 0)
    g_debug("a log of arrivals keeps room that it does not use");
  return good;
}

static void
put_number(guint8 *at, guint64 number, int n) {
  for (int b = 0; b < n; b++)
    at[b] = (guint8)(number >> (8 * b));
}

static guint64
get_number(const guint8 *at, int n) {
  guint64 number = 0;
  for (int b = 0; b < n; b++)
    number |= (guint64)at[b] << (8 * b);
  return number;
}

/* CRC-32 of a record of n bytes, but for where it stands itself. */
static guint32
check_sum(const guint8 *record, size_t n) {
  uLong sum = crc32_z(0, record, 32);
  sum = crc32_z(sum, record + 36, n - 36);
  return (guint32)sum;
}

gboolean
demur_arrival_log_add(DemurArrivalLog *log, const char *place, const char *name,
                      gconstpointer bytes, size_t n) {
  const size_t n_place = strlen(place), n_name = strlen(name);
  if (n > CAPACITY / 2 || n_place > MAX_NAME || n_name > MAX_NAME)
    return FALSE;
  const size_t total = HEAD + n_place + n_name + n;
  if (!make_room(log, total))
    return FALSE;
  g_autofree guint8 *record = g_malloc0(total);
  memcpy(record, magic, sizeof magic);
  put_number(record + 8, log->number, 8);
  put_number(record + 16, n_place, 4);
  put_number(record + 20, n_name, 4);
  put_number(record + 24, n, 8);
  memcpy(record + HEAD, place, n_place);
  memcpy(record + HEAD + n_place, name, n_name);
  memcpy(record + HEAD + n_place + n_name, bytes, n);
  put_number(record + 32, check_sum(record, total), 4);
  if (!write_at(log->file, record, total, log->used) || !sync_data(log->file))
    return FALSE; /* the next record stands in its place */
  log->used += total;
  return TRUE;
}

void
demur_arrival_log_leave(DemurArrivalLog *log) {
  if (log != NULL)
    log_free(log);
}

gboolean
demur_arrival_logs_remove(const char *folder, const int *processes, size_t n, GError **error) {
  if (n > 0 && !sync_all(folder))
    return fail(folder, error);
  for (size_t p = 0; p < n; p++) {
    g_autofree char *path = log_path(folder, processes[p]);
    (void)g_unlink(path); /* read once more it changes nothing */
  }
  return TRUE;
}

/* --- reading --- */

/* The whole records of a log of n bytes. */
static gboolean
read_records(const guint8 *bytes, size_t n, DemurArrivalLogged logged, gpointer data,
             GError **error) {
  size_t at = 0;
  guint64 number = 0;
  while (n - at >= HEAD && memcmp(bytes + at, magic, sizeof magic) == 0) {
    const guint8 *record = bytes + at;
    const guint64 n_place = get_number(record + 16, 4), n_name = get_number(record + 20, 4),
                  n_object = get_number(record + 24, 8);
    if (at == 0)
      number = get_number(record + 8, 8);
    if (get_number(record + 8, 8) != number || n_place > MAX_NAME || n_name > MAX_NAME ||
        n_object > n - at || HEAD + n_place + n_name + n_object > n - at)
      return TRUE;
    const size_t total = (size_t)(HEAD + n_place + n_name + n_object);
    if (get_number(record + 32, 4) != check_sum(record, total))
      return TRUE;
    g_autofree char *place = g_strndup((const char *)record + HEAD, (gsize)n_place);
    g_autofree char *name = g_strndup((const char *)record + HEAD + n_place, (gsize)n_name);
    if (!logged(place, name, record + HEAD + n_place + n_name, (size_t)n_object, data, error))
      return FALSE;
    at += total;
  }
  return TRUE;
}

static gboolean
read_log(const char *path, DemurArrivalLogged logged, gpointer data, GError **error) {
  gsize n = 0;
  g_autofree char *bytes = demur_file_input_read(path, CAPACITY, &n, error);
  return bytes != NULL && read_records((const guint8 *)bytes, n, logged, data, error);
}

/* The process of a log's file; 0: it is none. */
static int
process_of(const char *name) {
  char *end = NULL;
  const long process = strtol(name, &end, 10);
  return g_ascii_isdigit(name[0]) && strcmp(end, SUFFIX) == 0 && process > 0 && process < G_MAXINT
             ? (int)process
             : 0;
}

gboolean
demur_arrival_logs_read(const char *folder, int process, DemurArrivalLogged logged, gpointer data,
                        GError **error) {
  g_autofree char *journal = g_build_filename(folder, ".journal", NULL);
  g_autoptr(GDir) dir = g_dir_open(journal, 0, NULL);
  g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
  const char *name;
  gboolean good = TRUE;
  while (dir != NULL && (name = g_dir_read_name(dir)) != NULL)
    if (process_of(name) > 0 && (process == 0 || process_of(name) == process))
      g_ptr_array_add(paths, g_build_filename(journal, name, NULL));
  for (guint p = 0; p < paths->len && good; p++)
    good = read_log(paths->pdata[p], logged, data, error);
  if (!good || paths->len == 0)
    return good;
  if (!sync_all(folder))
    return fail(journal, error);
  for (guint p = 0; p < paths->len; p++)
    (void)g_unlink(paths->pdata[p]); /* read once more it changes nothing */
  return TRUE;
}
