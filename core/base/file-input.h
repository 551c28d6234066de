/* Reading a file from outside: a regular file only, opened without waiting for anybody, and of no
 * more bytes than its kind can need. The only way by which a path is opened for reading (DICOM has
 * the same rule in dicom/elements.h and dicom/zip.h).
 *
 * A FIFO or a device could make the program wait for ever or read without an end; a stream is given
 * as "-" where that is taken. Limits stand in base/limits.h. Errors are DEMUR_ERROR_INPUT: which
 * file, what is wrong with it, what to do. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A descriptor to read from (demur_locked_files_close ends it: base/locked-files.h), and the size as it is now (NULL: not asked for); -1 with
 * error. */
int demur_file_input_open(const char *path, guint64 *size,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A whole file of at most limit bytes, NUL behind the last one (not counted in *length; NULL: not
 * asked for). Owned, g_free. One that grows beyond the limit while it is read is refused too. */
char *demur_file_input_read(const char *path, gsize limit, gsize *length,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Exactly n bytes at offset of an open descriptor, whatever interrupts; FALSE where there are fewer or
 * they can't be read. */
gboolean demur_file_input_at(int fd, guint64 offset, gsize n,
                             guint8 *bytes) G_GNUC_WARN_UNUSED_RESULT;

/* The first n bytes, fewer where the file ends (*got). */
gboolean demur_file_input_begin(const char *path, char *bytes, gsize n, gsize *got,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
