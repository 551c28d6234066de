/* Inside the store only: the tables, and how an older workspace becomes a new one. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define DEMUR_STORE_APPLICATION_ID 0x44656d75 /* "Demu" in the file's header */

/* Step v brings user_version v to v + 1. A step that was ever released is never changed: add one.
 */
extern const char *const demur_store_migrations[];
/* Where a step changes what stands in rows, beside the columns, it says so here, in statements of both engines (store/driver.h): a
 * file runs them behind its step, a server behind the tables. NULL: it doesn't. */
extern const char *const demur_store_row_changes[];
#define DEMUR_STORE_FIRST_SERVER 25   /* the first schema that was kept on servers */
extern const int demur_store_version; /* number of steps: this program's user_version */

G_END_DECLS
