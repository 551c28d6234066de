/* Inside the store only: the seal of an event, a SHA-256 of every row, and every column of it, that
 * the event's key stands for. Rows are read as the schema has them, so a column that is added is
 * sealed from then on without a word here; one that is NULL is passed over, so that adding it does
 * not break the seals of before. */
#pragma once

#include "store/workspace.h"

G_BEGIN_DECLS

/* The seal of what key stands for now (owned): "" where its table has no such row, NULL where keys
 * of that kind stand for no row, or with error. */
char *demur_store_seal(DemurWorkspace *workspace, const char *key, GError **error);

/* Whether keys of that kind stand for rows: such a row may not be gone without a removal. */
gboolean demur_store_seal_is_row(const char *key);

/* Every key of the kinds whose rows have no digest of their own beside them (strv, owned). */
char **demur_store_seal_keys(DemurWorkspace *workspace, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
