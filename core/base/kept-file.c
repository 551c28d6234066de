#define _GNU_SOURCE /* memmem */
#include "base/kept-file.h"

#include <dirent.h>
#include <string.h>

#include "base/file-input.h"

#define FIRST_BYTES 512 /* the header of SQLite has 100; a ledger's format is its first member */

/* A descriptor of this process for that file; -1: none. */
static int
open_already(const struct stat *status) {
  DIR *entries = opendir("/proc/self/fd");
  int found = -1;
  for (const struct dirent *entry; found < 0 && entries != NULL && (entry = readdir(entries));) {
    struct stat other;
    const int fd = (int)g_ascii_strtoll(entry->d_name, NULL, 10);
    if (g_ascii_isdigit(*entry->d_name) && fstat(fd, &other) == 0 &&
        other.st_dev == status->st_dev && other.st_ino == status->st_ino)
      found = fd;
  }
  if (entries != NULL)
    closedir(entries);
  return found;
}

static DemurKeptFile
kind_of(const char *place, const struct stat *status) {
  static const char database[] = "SQLite format 3"; /* with its zero byte (Database Header) */
  static const char ledger[] = "\"demur-federate-ledger\"";
  const int there = open_already(status);
  char bytes[FIRST_BYTES];
  gsize n = (gsize)MIN(status->st_size, FIRST_BYTES);
  if (!(there >= 0 ? demur_file_input_at(there, 0, n, (guint8 *)bytes)
                   : demur_file_input_begin(place, bytes, (gsize)n, &n, NULL)))
    return DEMUR_KEPT_NONE;
  if (n >= sizeof database && memcmp(bytes, database, sizeof database) == 0)
    return DEMUR_KEPT_DATABASE;
  return memmem(bytes, n, ledger, sizeof ledger - 1) != NULL ? DEMUR_KEPT_LEDGER : DEMUR_KEPT_NONE;
}

DemurKeptFile
demur_kept_file(const char *place, const struct stat *status) {
  static const char *const companions[] = {"-wal", "-shm", "-journal"};
  for (size_t c = 0; c < G_N_ELEMENTS(companions); c++) {
    if (!g_str_has_suffix(place, companions[c]))
      continue;
    g_autofree char *base = g_strndup(place, strlen(place) - strlen(companions[c]));
    struct stat of_base;
    if (stat(base, &of_base) == 0 && S_ISREG(of_base.st_mode) &&
        kind_of(base, &of_base) == DEMUR_KEPT_DATABASE)
      return DEMUR_KEPT_COMPANION;
  }
  return status != NULL ? kind_of(place, status) : DEMUR_KEPT_NONE;
}
