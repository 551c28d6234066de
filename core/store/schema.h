/* Inside the store only: the tables, and how an older workspace becomes a new one. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define DEMUR_STORE_APPLICATION_ID 0x44656d75 /* "Demu" in the file's header */

/* Step v brings user_version v to v + 1. A step that was ever released is never changed: add one.
 */
extern const char *const demur_store_migrations[];
extern const int demur_store_version; /* number of steps: this program's user_version */

G_END_DECLS
