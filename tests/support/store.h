/* Where tests of the store keep their workspaces: a file, or, where DEMUR_TEST_STORE names a server
 * (tests/support/with-postgres.sh starts one), a database of it. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Whether DEMUR_TEST_STORE is set: the address of a database in which others may be made. */
gboolean demur_test_store_is_server(void);

/* What demur_workspace_open takes for the file NAME below folder (owned): its path, or the address of a
 * database made for it. There is no workspace yet. */
char *demur_test_store_path(const char *folder, const char *name);

/* Removes the workspace, with what SQLite leaves beside it. */
void demur_test_store_remove(const char *path);

/* SQL past the program: one whole number of the first row; statements. A failure ends the test. */
gint64 demur_test_store_number(const char *path, const char *sql);
void demur_test_store_run(const char *path, const char *sql);

/* Of a server: why it refused such statements, its SQLSTATE (owned); NULL: it did not. */
char *demur_test_store_refusal(const char *path, const char *sql);

G_END_DECLS
