/* Inside the store only: the schema on PostgreSQL in SQL, for its driver (store/driver-postgres.c). What
 * stands in a database is held against the same made anew as temporary tables, so that the server itself
 * words both: constraints, defaults, triggers and functions are compared as it prints them. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Makes everything in the schema of that name, which is the first of search_path (owned). */
char *demur_postgres_make(const char *schema);

/* Rows of two texts, the name and the definition of all that a schema holds: tables, columns,
 * constraints, indices, triggers, rules, policies, functions, operators and types. where: an expression
 * of the schema's number in the catalogue (owned). The name of that schema itself is left out of
 * the definitions. search_path is to hold no schema in which others may have put functions. */
char *demur_postgres_catalogue(const char *where);

/* A row for each row whose reference leads nowhere, looked for past the server's own keeping of them:
 * one join a reference; and for what the server was told not to check (owned by the program). */
const char *demur_postgres_references(void);

G_END_DECLS
