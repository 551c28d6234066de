/* Inside the room: counts as they are written, so that a number that is given is never taken for one that is not. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A whole number from 1 in place of the usual one, where text is given; option: "--bootstrap". DEMUR_ERROR_USAGE for
 * anything else: 0 replicates would be no interval, which is said and not taken for the usual number. */
gboolean demur_task_take_count(const char *text, const char *option, size_t *count,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
