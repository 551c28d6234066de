/* Text from outside as it may be shown: on a terminal, in the window, on paper.
 *
 * A control character can move a terminal's cursor, and a bidirectional one (U+202E) turns the
 * order of what is read, so that another identifier or age is seen than is there. Neither is
 * dropped, which would make two texts alike: its code point stands in its place, "[U+202E]". */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Whether c is shown as its code point: control characters (U+0000 to U+001F, U+007F to U+009F),
 * line and paragraph separators, and those that steer the direction of text (U+061C, U+200E,
 * U+200F, U+202A to U+202E, U+2066 to U+2069). Letters of any script, and what joins them, are not.
 */
gboolean demur_shown_as_code_point(gunichar c);

/* Whether text is UTF-8 and every character of it is shown as itself: what a name that others read has to be. */
gboolean demur_is_shown_as_it_is(const char *text);

/* text in one line, safe to show (owned by the caller). Bytes that are not UTF-8 stand as "[xFF]".
 * NULL gives NULL. */
char *demur_shown_text(const char *text);

/* As demur_shown_text, but line ends and tabs are kept: for what the program itself has set in
 * lines. */
char *demur_shown_lines(const char *text);

/* A JSON text with such characters escaped, "\u202e": the same document (owned by the caller). */
char *demur_shown_json(const char *json);

G_END_DECLS
