/* A table as text: RFC 4180, read record by record without holding the file.
 *
 * UTF-8 with or without byte order mark; LF or CRLF (or mixed); comma, semicolon or tab, whichever
 * the first line has most of; fields may be quoted, with "" for a quote and line ends inside. Lines
 * without any character are passed over. Blanks around an unquoted field are not part of it.
 * Refused with line and column: NUL bytes (binary files, UTF-16), other control characters, bytes
 * that are not UTF-8, a quote inside an unquoted field or behind a closing one, a quote never
 * closed, records over 256 MiB, more than 200,000 fields. */
#pragma once

#include "base/error.h"

G_BEGIN_DECLS

typedef struct DemurTable DemurTable;

typedef struct {
  const char *text; /* unescaped, NUL-terminated; valid until the next read */
  size_t length;
  size_t line, column; /* 1-based place of its first byte in the file; column counts bytes */
} DemurTableField;

/* NULL with DEMUR_ERROR_INPUT where the file can't be read or holds nothing. */
DemurTable *demur_table_open(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_table_close(DemurTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurTable, demur_table_close)

/* The next record; fields (borrowed) and *n_fields are 0 behind the last one. FALSE with
 * DEMUR_ERROR_INPUT where the text is not a table; nothing can be read behind that. */
gboolean demur_table_next(DemurTable *table, const DemurTableField **fields, size_t *n_fields,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* An upper bound of the lines in the file, by reading it once (the place in it is kept); 0 where
 * the file is a pipe. For allocating once what the rows will need. */
size_t demur_table_count_lines(const DemurTable *table);

/* Last part of the path, for messages; share of the file read so far, for progress; the separator.
 */
const char *demur_table_name(const DemurTable *table);
guint64 demur_table_n_bytes(const DemurTable *table); /* 0: not known */
double demur_table_fraction(const DemurTable *table);
char demur_table_separator(const DemurTable *table);

G_END_DECLS
