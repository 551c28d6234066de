/* Text values to UTF-8, value by value: PS3.3 C.12.1.1.2 and PS3.5 section 6.1. DCMTK on Debian
 * converts through stdlibc's iconv and fails for a whole file on one bad byte and on ISO 2022 IR 87
 * and 159; here a byte that means nothing becomes U+FFFD and everything else is kept. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* bytes [length] as valid UTF-8 without control characters (owned by the caller). character_set is
 * the raw SpecificCharacterSet (0008,0005), NULL where absent: then text is ASCII, or UTF-8 where
 * it is valid as such, escape sequences are followed, and Shift JIS is read where it can be nothing
 * else; under any Japanese term it is read where a byte is none of JIS X 0201. Blanks and NUL around the value are taken off; backslashes between values
 * stay. */
char *demur_charset_to_utf8(const char *bytes, size_t length, const char *character_set);

G_END_DECLS
