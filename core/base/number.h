/* Numbers as text, independent of the locale. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The shortest decimal text that reads back as value ("0.1", "1e-05"); "nan", "inf" and "-inf" for
 * the non-finite ones. buffer must hold G_ASCII_DTOSTR_BUF_SIZE bytes; returns buffer. */
char *demur_number_format(double value, char *buffer);

/* Reads text [length] as one finite decimal number, blanks around it allowed: no hexadecimal, no
 * "nan", no "inf", nothing behind it. FALSE where it is anything else; then value is untouched. */
gboolean demur_number_parse(const char *text, size_t length,
                            double *value) G_GNUC_WARN_UNUSED_RESULT;

/* The same for a whole number. */
gboolean demur_number_parse_int(const char *text, size_t length,
                                gint64 *value) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
