/* Numbers of people's tables. What is not known is a gap, never "nan". */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* "0.1234" with so many decimals, "+0.1234" with a sign; "-" where the value is not finite. Owned. */
char *demur_cli_number(double value, int decimals, gboolean sign);

/* The same without a sign into buffer [size], which is returned: for lines of many numbers. */
const char *demur_cli_number_into(double value, int decimals, char *buffer, size_t size);

/* "0.123 (0.101 to 0.145)"; "0.123 (no interval)" where an end is not finite; "-" where the value
 * is not. Owned. */
char *demur_cli_with_interval(double value, double low, double high, int decimals, gboolean sign);

G_END_DECLS
