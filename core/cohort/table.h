/* A table as text: RFC 4180, read record by record without holding the file.
 *
 * UTF-8 with or without byte order mark; LF, CRLF (or mixed) or CR alone; comma, semicolon or tab,
 * whichever the first line has most of, or as a first line "sep=;" says; fields may be quoted, with
 * "" for a quote and line ends inside. Lines that hold nothing but separators and blanks are passed
 * over. Blanks around an unquoted field are not part of it, nor is the apostrophe that keeps a
 * spreadsheet from running a text (base/csv-field.h). Compressed by gzip or not.
 * Refused with line and column: NUL bytes (binary files), other encodings and files by their name,
 * other control characters, bytes that are not UTF-8, a quote inside an unquoted field or behind a
 * closing one, a quote never closed, records over 256 MiB, more than 200,000 fields. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct DemurTable DemurTable;

typedef struct {
  const char *text; /* unescaped, NUL-terminated; valid until the next read */
  size_t length;
  size_t line, column; /* 1-based place of its first byte in the file; column counts bytes */
} DemurTableField;

/* path "-": standard input. NULL with DEMUR_ERROR_INPUT where the file can't be read, holds
 * nothing, or is no text. */
DemurTable *demur_table_open(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_table_close(DemurTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurTable, demur_table_close)

/* The next record; fields (borrowed) and *n_fields are 0 behind the last one. FALSE with
 * DEMUR_ERROR_INPUT where the text is not a table; nothing can be read behind that. */
gboolean demur_table_next(DemurTable *table, const DemurTableField **fields, size_t *n_fields,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether the last row that was read ends without a line end: the file may have been cut off. */
gboolean demur_table_ends_open(const DemurTable *table);

/* Rows passed over so far because they hold separators or blanks only. */
size_t demur_table_n_empty(const DemurTable *table);

/* An upper bound of the lines in the file, by reading it once (the place in it is kept); 0 where
 * the file is a pipe or compressed. For allocating once what the rows will need. */
size_t demur_table_count_lines(const DemurTable *table);

/* Last part of the path, for messages; share of the file read so far, for progress; the separator.
 */
const char *demur_table_name(const DemurTable *table);
guint64 demur_table_n_bytes(const DemurTable *table); /* 0: not known */
double demur_table_fraction(const DemurTable *table);
char demur_table_separator(const DemurTable *table);

G_END_DECLS
