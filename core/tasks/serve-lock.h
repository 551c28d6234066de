/* The lock that a running service holds on its folder. Inside this room. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The file that a running service holds locked; -1 with error, or, without one, where it is not
 * there. make: make it where it is not. */
int demur_serve_lock_open(const char *folder, gboolean make, GError **error);

G_END_DECLS
