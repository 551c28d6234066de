/* A field of RFC 4180, as every table of the program writes it and reads it back. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Appends text, quoted where a reader would otherwise take it for something else: separators of any
 * kind (comma, semicolon, tab), quotes, line ends, and blanks at its ends. */
void demur_csv_append(GString *line, const char *text);

G_END_DECLS
