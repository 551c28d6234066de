/* Inside store/opening.c and store/driver-sqlite.c only: what is known of an SQLite file without opening
 * it as a database. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define DEMUR_SQLITE_HEAD 100 /* bytes of a file's header */

/* The file's first bytes [DEMUR_SQLITE_HEAD], zero behind its end, and its size, read through SQLite: a
 * descriptor of our own would, when it is closed, drop the locks that every other handle of this
 * process has on the file (POSIX). whole: an absolute path behind links. NULL, or why it can't be
 * read. */
const char *demur_sqlite_read_head(const char *whole, guint8 *head, gint64 *size);

G_END_DECLS
