#include "base/file-stamp.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

static gboolean
is_settled(const struct timespec *time, gint64 now_us) {
  return (gint64)time->tv_sec * G_USEC_PER_SEC + time->tv_nsec / 1000 <=
         now_us - DEMUR_FILE_STAMP_SETTLED_US;
}

#define UNSETTLED '~' /* before the numbers */

char *
demur_file_stamp(const char *path, gint64 now_us) {
  GStatBuf at;
  if (g_stat(path, &at) != 0 || !S_ISREG(at.st_mode))
    return NULL;
  const gboolean settled = is_settled(&at.st_mtim, now_us) && is_settled(&at.st_ctim, now_us);
  const char mark[2] = {settled ? '\0' : UNSETTLED, '\0'};
  return g_strdup_printf("%s%" G_GINT64_FORMAT " %" G_GINT64_FORMAT ".%09ld %" G_GINT64_FORMAT
                         ".%09ld %" G_GUINT64_FORMAT,
                         mark, (gint64)at.st_size, (gint64)at.st_mtim.tv_sec,
                         (long)at.st_mtim.tv_nsec, (gint64)at.st_ctim.tv_sec,
                         (long)at.st_ctim.tv_nsec, (guint64)at.st_ino);
}

gboolean
demur_file_stamp_is_settled(const char *stamp) {
  return stamp[0] != UNSETTLED;
}

gboolean
demur_file_stamp_bears_the_same(const char *a, const char *b) {
  return strcmp(a + (a[0] == UNSETTLED ? 1 : 0), b + (b[0] == UNSETTLED ? 1 : 0)) == 0;
}
