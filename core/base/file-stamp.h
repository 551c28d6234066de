/* Which state of a file that was, so that it can be told unchanged without being read again: size,
 * the times of its last change (of content, and of its entry, which no program can set back) and
 * its number on the disk. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A change within this time of another may bear the same times: disks tell times in steps, of 2 s
 * at most. */
#define DEMUR_FILE_STAMP_SETTLED_US (2 * G_USEC_PER_SEC)

/* The stamp of what lies at path (owned; links are followed); NULL where there is no regular file.
 * To be taken before the file is read: while the next one is equal, it holds what was read. One whose
 * last change is younger than DEMUR_FILE_STAMP_SETTLED_US before now_us, or lies in the future by
 * this machine's clock, is not settled: no later stamp could tell another change of the same moment
 * apart, and so it equals no settled one. now_us: microseconds since 1970. */
char *demur_file_stamp(const char *path, gint64 now_us) G_GNUC_WARN_UNUSED_RESULT;

gboolean demur_file_stamp_is_settled(const char *stamp);

/* Whether two stamps bear the same numbers, settled or not: enough to tell that a file was left
 * alone after it was written, not that it was while it was. */
gboolean demur_file_stamp_bears_the_same(const char *a, const char *b);

G_END_DECLS
