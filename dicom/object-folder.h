/* Objects that came over a network, kept as they were sent at FOLDER/STUDY/SERIES/INSTANCE.dcm. */
#pragma once

#include "base/error.h"

G_BEGIN_DECLS

/* Whether text is a UID: 1 to 64 digits and dots. NULL is none. */
gboolean demur_object_is_uid(const char *text);

/* Puts the object of these bytes into folder (which is there) under the instance's name, or behind a
 * number beside another object of that name, and brings it to the disk. *known: the same data set
 * in the same encoding was there before (who sent it, group 0002, may differ), and nothing is
 * written. DEMUR_ERROR_OUTPUT. */
gboolean demur_object_put(const char *folder, const char *instance_uid, const char *bytes, size_t n,
                          gboolean *known, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
