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

/* Whether there is a workspace: the file, or the program's tables in the database. */
gboolean demur_test_store_exists(const char *path);

/* Removes the workspace, with what SQLite leaves beside it. */
void demur_test_store_remove(const char *path);

/* A workspace that nobody has open, to the place of another one, which goes (both of demur_test_store_path). */
void demur_test_store_copy(const char *from, const char *to);

/* The database goes, with all in it; of a file nothing. */
void demur_test_store_drop(const char *path);

/* SQL past the program: one whole number of the first row; statements, and how many rows the last of them changed. A
 * failure ends the test. */
gint64 demur_test_store_number(const char *path, const char *sql);
gint64 demur_test_store_run(const char *path, const char *sql);

/* SQL's function of where a text begins within another, (WITHIN, TEXT), from 1; 0: nowhere. */
const char *demur_test_store_position(void);

/* Turns over the last bit of the byte in the middle of a blob, of the one row that where holds for. A failure ends the test. */
void demur_test_store_change_byte(const char *path, const char *table, const char *column,
                                  const char *where);

/* The text of the first row (owned); a failure, or none, ends the test. */
char *demur_test_store_text(const char *path, const char *sql);

/* Of a server: why it refused such statements, its SQLSTATE (owned); NULL: it did not. */
char *demur_test_store_refusal(const char *path, const char *sql);

G_END_DECLS
