/* Inside the store only: the schema on PostgreSQL in SQL, for its driver (store/driver-postgres.c). What
 * stands in a database is held against the same made anew as temporary tables, so that the server itself
 * words both: constraints, defaults, triggers and functions are compared as it prints them. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Makes everything in the schema of that name, which is the first of search_path (owned). */
char *demur_postgres_make(const char *schema);

/* Brings what an earlier program made in that schema, the first of search_path, as far as the tables' columns say it:
 * tables, columns and indices that lack are made, functions and triggers made anew (owned). What is to be
 * taken from it, and rules of columns that were there, follow from a comparison (demur_postgres_mend). */
char *demur_postgres_extend(const char *schema);

/* The statement that makes of an entry of the catalogue what it is to be (owned): NULL where none of this
 * program's can. */
char *demur_postgres_mend(const char *name, const char *definition);

/* The advisory lock of writers, and what is told on when a transaction wrote to the log. */
#define DEMUR_POSTGRES_WRITER_LOCK "1147497845" /* 0x44656d75, "Demu" */
#define DEMUR_POSTGRES_CHANNEL "demur"

/* The session's setting by which the owner of the tables says that rows come as they are: a copy. */
/* In a trigger: whether the session's user is the tables' owner, who copies, and stands above the roles. */
#define DEMUR_POSTGRES_IS_OWNER                                                                    \
  "pg_has_role(session_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE')"
#define DEMUR_POSTGRES_COPYING "demur_copy.rows"

/* Rows of two texts, the name and the definition of all that a schema holds: tables, columns,
 * constraints, indices, triggers, rules, policies, functions, operators and types. where: an expression
 * of the schema's number in the catalogue (owned). The name of that schema itself is left out of
 * the definitions. search_path is to hold no schema in which others may have put functions. */
char *demur_postgres_catalogue(const char *where);

/* A row for each row whose reference leads nowhere, looked for past the server's own keeping of them:
 * one join a reference; and for what the server was told not to check (owned by the program). */
const char *demur_postgres_references(void);

G_END_DECLS
