/* A field of RFC 4180, as every table of the program writes it and reads it back.
 *
 * A spreadsheet runs a cell that begins with = + - @ (or their full-width forms, blanks, a tab or a
 * line end before them) as a formula. Such a text gets an apostrophe in front, and so does one that
 * has apostrophes before such a beginning; a number does not. Reading takes one apostrophe off such
 * a beginning, so that each text comes back as it was. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Appends text, quoted where a reader would otherwise take it for something else: separators of any
 * kind (comma, semicolon, tab), quotes, line ends, and blanks at its ends. */
void demur_csv_append(GString *line, const char *text);

/* Whether text is one that was given an apostrophe. */
gboolean demur_csv_is_guarded(const char *text);

/* From now on demur_csv_append adds no apostrophes (--raw-cells): a setting of the process, made
 * once at its start. */
void demur_csv_use_raw_cells(void);

G_END_DECLS
