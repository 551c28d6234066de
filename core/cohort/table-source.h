/* The bytes of a table's text, wherever they come from: a file, standard input ("-"), either of
 * them compressed by gzip (by its first bytes, whatever the name), lines ended by CR alone (old
 * spreadsheets) given as LF. Other encodings and other kinds of file are refused by their name. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define DEMUR_TABLE_STDIN "-"

typedef struct DemurTableSource DemurTableSource;

/* NULL with DEMUR_ERROR_INPUT where it can't be read, holds nothing, or is no text in UTF-8 by its
 * first bytes. */
DemurTableSource *demur_table_source_open(const char *path,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_table_source_close(DemurTableSource *source);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurTableSource, demur_table_source_close)

/* Whether a file that begins with these bytes is a table or a spreadsheet of another kind or encoding,
 * which demur_table_source_open refuses by its name (static words); NULL: it is not, or it may be
 * an archive of images. */
const char *demur_table_source_foreign(const char *bytes, size_t n);

/* Up to n > 0 bytes, without a byte order mark; *got 0 at the end. */
gboolean demur_table_source_read(DemurTableSource *source, char *bytes, size_t n, size_t *got,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Last part of the path ("standard input" for "-"), for messages. */
const char *demur_table_source_name(const DemurTableSource *source);

/* Bytes of the text, an upper bound of its lines by reading it once (the place in it is kept), and
 * the share of it that was read: 0 where not known (a pipe, a compressed file's bytes and lines).
 */
guint64 demur_table_source_n_bytes(const DemurTableSource *source);
size_t demur_table_source_count_lines(const DemurTableSource *source);
double demur_table_source_fraction(const DemurTableSource *source);

G_END_DECLS
