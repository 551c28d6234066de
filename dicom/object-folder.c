#define _GNU_SOURCE /* memfd_create */
#include "dicom/object-folder.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file-input.h"
#include "base/file-output.h"
#include "dicom/data-set.h"
#include "dicom/header.h"

#define MAX_META 65536 /* bytes by which file meta information may differ */
#define BLOCK 512      /* bytes that a disk writes whole or not at all */

gboolean
demur_object_is_uid(const char *text) {
  const size_t n = text != NULL ? strlen(text) : 0;
  return n > 0 && n <= 64 && strspn(text, "0123456789.") == n && text[0] != '.';
}

/* Where the data set begins behind preamble and file meta information, PS3.10 7.1. */
static size_t
data_set_offset(const char *bytes, size_t n) {
  static const char length_tag[] = {2, 0, 0, 0, 'U', 'L', 4, 0};
  if (n < 144 || memcmp(bytes + 132, length_tag, sizeof length_tag) != 0)
    return 0;
  guint32 length;
  memcpy(&length, bytes + 140, sizeof length);
  const size_t offset = 144 + (size_t)GUINT32_FROM_LE(length);
  return offset <= n ? offset : 0;
}

static gboolean
is_same(const char *path, const char *bytes, size_t n) {
  gsize m;
  g_autofree char *other = demur_file_input_read(path, n + MAX_META, &m, NULL);
  if (other == NULL)
    return FALSE;
  const size_t i = data_set_offset(bytes, n), j = data_set_offset(other, m);
  return n - i == m - j && memcmp(bytes + i, other + j, n - i) == 0;
}

/* Whether the file is what a power cut left of these bytes: shorter, or without some of its blocks. */
static gboolean
is_torn(const char *path, const char *bytes, size_t n) {
  static const char nothing[BLOCK];
  gsize m;
  g_autofree char *other = demur_file_input_read(path, n + 1, &m, NULL);
  if (other == NULL || m > n)
    return FALSE;
  for (size_t at = 0; at < m; at += BLOCK) {
    const size_t length = MIN(BLOCK, m - at);
    if (memcmp(other + at, bytes + at, length) != 0 && memcmp(other + at, nothing, length) != 0)
      return FALSE;
  }
  return TRUE;
}

/* Where the object goes: under the instance's name, or behind a number beside other objects of that
 * name. *known: it is there. *torn (NULL: none is taken for such): the path of the first that is
 * what a power cut left of it; owned. */
static char *
find_path(const char *folder, const char *instance_uid, const char *bytes, size_t n,
          gboolean *known, char **torn) {
  for (int copy = 1;; copy++) {
    g_autofree char *path = copy == 1 ? g_strdup_printf("%s/%s.dcm", folder, instance_uid)
                                      : g_strdup_printf("%s/%s-%d.dcm", folder, instance_uid, copy);
    if (!g_file_test(path, G_FILE_TEST_EXISTS) || (*known = is_same(path, bytes, n)))
      return g_steal_pointer(&path);
    if (torn != NULL && *torn == NULL && is_torn(path, bytes, n))
      *torn = g_strdup(path);
  }
}

gboolean
demur_object_put(const DemurObjectPlace *place, const char *bytes, size_t n, DemurArrivalLog *log,
                 gboolean *known, GError **error) {
  g_autofree char *folder = g_build_filename(place->folder, place->series, NULL);
  gboolean logged = FALSE;
  *known = FALSE;
  if (!demur_folder_make(folder, error))
    return FALSE;
  for (;;) {
    g_autoptr(GError) cause = NULL;
    g_autofree char *path = find_path(folder, place->instance_uid, bytes, n, known, NULL);
    if (*known)
      return TRUE;
    /* Before it has a name: what others find there is kept. */
    if (log != NULL && !logged)
      logged = demur_arrival_log_add(log, place->series, place->instance_uid, bytes, n);
    const DemurFileFlags flags = logged ? DEMUR_FILE_NEW | DEMUR_FILE_UNSYNCED : DEMUR_FILE_NEW;
    if (demur_file_write(path, bytes, (gssize)n, flags, &cause))
      return TRUE;
    if (!g_error_matches(cause, DEMUR_ERROR, DEMUR_ERROR_EXISTS)) {
      g_propagate_error(error, g_steal_pointer(&cause));
      return FALSE;
    }
    /* Somebody else was faster: the same object? */
  }
}

/* The header of an object in memory that was walked whole; NULL with error. */
static DemurHeader *
read_object(const char *bytes, size_t n, GError **error) {
  const int memory = memfd_create("object", MFD_CLOEXEC);
  size_t written = 0;
  while (memory >= 0 && written < n) {
    const ssize_t step = write(memory, bytes + written, n - written);
    if (step < 0 && errno != EINTR)
      break;
    written += step > 0 ? (size_t)step : 0;
  }
  DemurHeader *header = NULL;
  if (written < n || memory < 0) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "an object can't be looked at: %s",
                    g_strerror(errno));
  } else {
    g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", memory);
    g_autoptr(DemurSource) source = demur_source_open(path, error);
    const gboolean sound = source != NULL && demur_data_set_check(&source, error);
    g_autoptr(DemurSource) again = sound ? demur_source_open(path, error) : NULL;
    header = again != NULL ? demur_header_read(&again, error) : NULL;
  }
  if (memory >= 0)
    close(memory);
  return header;
}

gboolean
demur_object_keep(const char *folder, const char *study_uid, const char *series_uid,
                  gconstpointer bytes, size_t n, gboolean *known, GError **error) {
  g_autoptr(DemurHeader) header = read_object(bytes, n, error);
  if (header == NULL)
    return FALSE;
  if (!demur_object_is_uid(header->sop_instance_uid) || !demur_object_is_uid(header->series_uid) ||
      g_strcmp0(header->study_uid, study_uid) != 0 ||
      (series_uid != NULL && strcmp(header->series_uid, series_uid) != 0)) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "the archive's answer holds an object that was not asked for");
    return FALSE;
  }
  g_autofree char *series = g_build_filename(header->study_uid, header->series_uid, NULL);
  const DemurObjectPlace place = {folder, series, header->sop_instance_uid};
  return demur_object_put(&place, bytes, n, NULL, known, error);
}

/* An object of a log. What the power cut left of it gives way; another object stays. */
static gboolean
put_back(const char *series, const char *instance_uid, gconstpointer bytes, size_t n, gpointer data,
         GError **error) {
  g_autofree char *folder = g_build_filename(data, series, NULL);
  gboolean known = FALSE;
  if (!demur_object_is_uid(instance_uid) || strstr(series, "..") != NULL)
    return TRUE; /* no log of ours */
  if (!demur_folder_make(folder, error))
    return FALSE;
  g_autofree char *torn = NULL;
  g_autofree char *path = find_path(folder, instance_uid, bytes, n, &known, &torn);
  return known ||
         demur_file_write(torn != NULL ? torn : path, bytes, (gssize)n, DEMUR_FILE_REPLACE, error);
}

gboolean
demur_objects_recover(const char *folder, int process, GError **error) {
  g_autofree char *copy = g_strdup(folder);
  return demur_arrival_logs_read(folder, process, put_back, copy, error);
}
