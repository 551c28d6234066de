/* Folders that tests make and take away again. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Removes a folder with all that is in it; links are removed, not followed. Whether it is gone. */
gboolean demur_test_remove_folder(const char *folder);

G_END_DECLS
