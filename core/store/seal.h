/* Inside the store only: the seal of an event, a SHA-256 of every row, and every column of it, that
 * the event's key stands for. Rows are read as the schema has them, so a column that is added is
 * sealed from then on without a word here; one that is NULL is passed over, so that adding it does
 * not break the seals of before. */
#pragma once

#include "store/driver.h"
#include "store/events.h"
#include "store/workspace.h"

G_BEGIN_DECLS

/* The seal of what key stands for now (owned): "" where its table has no such row, NULL where keys
 * of that kind stand for no row, or with error. */
char *demur_store_seal(DemurWorkspace *workspace, const char *key, GError **error);

/* The same of a key that stands for one row alone, the one (every column of its table, in the table's order) that the
 * statement stands at: many are read at once where each would be a way to a server and back (owned). */
char *demur_store_seal_of_row(DemurStatement *row);

/* demur_events_add with such a seal, which it takes over, in the open transaction. */
gboolean demur_store_add_sealed_event(DemurWorkspace *workspace, DemurEventKind kind,
                                      const char *key, const char *digest, const char *created,
                                      char *seal, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether keys of that kind stand for rows: such a row may not be gone without a removal. */
gboolean demur_store_seal_is_row(const char *key);

/* Whether they stand for one row each, by its number, which is written once. */
gboolean demur_store_seal_is_numbered(const char *key);

/* Every key of the kinds whose rows have no digest of their own beside them (strv, owned). */
char **demur_store_seal_keys(DemurWorkspace *workspace, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
