/* The colour space that the report's numbers for red, green and blue are meant in, as an ICC
 * profile to embed. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* An ICC version 2 display profile of sRGB (IEC 61966-2-1), made from its definition: primaries
 * adapted to D50, the transfer curve at 1,024 places. Owned, always the same bytes. */
guchar *demur_srgb_profile(size_t *n);

G_END_DECLS
