/* Inside the store only: what a PostgreSQL server says by itself of a row that a role wrote, whatever that role's program said:
 * its seal (store/seal.h), its digest where a person may write such rows, and when. The same bytes as the program's own. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Appends the functions that a log's trigger calls, and the triggers of tables that name a user: a row is of the time of the
 * server's clock. schema: their schema's name, which is the first of search_path. A role's rows alone; the owner, who copies,
 * may say otherwise. */
void demur_postgres_add_row_functions(GString *sql, const char *schema);

/* Appends statements of a trigger of the log that set seal and digest of `new`, an event of the table's row of that number (an
 * expression): nothing of tables whose rows are not known by a number. */
void demur_postgres_add_telling(GString *sql, const char *schema, const char *table,
                                const char *number);

G_END_DECLS
