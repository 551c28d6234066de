/* Which state of a file that was, so that it can be told unchanged without being read again: size,
 * the times of its last change (of content, and of its entry, which no program can set back) and
 * its number on the disk. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A change within this time of another may bear the same times: disks tell times in steps, of 2 s
 * at most. */
#define DEMUR_FILE_STAMP_SETTLED_US (2 * G_USEC_PER_SEC)

/* The stamp of what lies at path (owned; links are followed). To be taken before the file is read:
 * while the next one is equal, it holds what was read. NULL where there is no regular file, or its
 * last change is younger than DEMUR_FILE_STAMP_SETTLED_US before now_us or lies in the future by
 * this machine's clock: then no later stamp could tell another change of the same moment apart.
 * now_us: microseconds since 1970. */
char *demur_file_stamp(const char *path, gint64 now_us) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
