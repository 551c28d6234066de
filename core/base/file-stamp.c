#include "base/file-stamp.h"

#include <glib/gstdio.h>
#include <sys/stat.h>

static gboolean
is_settled(const struct timespec *time, gint64 now_us) {
  return (gint64)time->tv_sec * G_USEC_PER_SEC + time->tv_nsec / 1000 <=
         now_us - DEMUR_FILE_STAMP_SETTLED_US;
}

char *
demur_file_stamp(const char *path, gint64 now_us) {
  GStatBuf at;
  if (g_stat(path, &at) != 0 || !S_ISREG(at.st_mode) || !is_settled(&at.st_mtim, now_us) ||
      !is_settled(&at.st_ctim, now_us))
    return NULL;
  return g_strdup_printf("%" G_GINT64_FORMAT " %" G_GINT64_FORMAT ".%09ld %" G_GINT64_FORMAT
                         ".%09ld %" G_GUINT64_FORMAT,
                         (gint64)at.st_size, (gint64)at.st_mtim.tv_sec, (long)at.st_mtim.tv_nsec,
                         (gint64)at.st_ctim.tv_sec, (long)at.st_ctim.tv_nsec, (guint64)at.st_ino);
}
