#include "store/checkpoints.h"

#include "base/error.h"
#include "store/connection.h"

gboolean
demur_checkpoints_save(DemurWorkspace *workspace, const char *name, GBytes *bytes, gint64 n_updates,
                       const char *created, GError **error) {
  DemurStatement *statement =
      demur_store_statement(workspace,
                            "INSERT INTO checkpoint (name, data, n_updates, created)"
                            " VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET"
                            " data = excluded.data, n_updates = excluded.n_updates,"
                            " created = excluded.created",
                            error);
  if (statement == NULL)
    return FALSE;
  gsize n_bytes;
  gconstpointer data = g_bytes_get_data(bytes, &n_bytes);
  demur_store_bind_text(statement, 1, name);
  demur_store_bind_blob(statement, 2, data, n_bytes);
  demur_store_bind_int(statement, 3, n_updates);
  demur_store_bind_text(statement, 4, created);
  return demur_store_run(workspace, statement, "keeping an unfinished training", error);
}

GBytes *
demur_checkpoints_load(DemurWorkspace *workspace, const char *name, GError **error) {
  DemurStatement *statement =
      demur_store_statement(workspace, "SELECT data FROM checkpoint WHERE name = ?", error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, name);
  gboolean row;
  if (!demur_store_step(workspace, statement, &row, "reading an unfinished training", error))
    return NULL;
  if (!row) {
    demur_error_set(
        error, DEMUR_ERROR_NOT_FOUND,
        "no interrupted training of a selector '%s' is kept, so there is nothing to resume; "
        "leave out --resume to train from the start",
        name);
    return NULL;
  }
  gsize n_bytes;
  gconstpointer data = demur_store_bytes(statement, 0, &n_bytes);
  GBytes *bytes = g_bytes_new(data, n_bytes);
  demur_store_reset(statement);
  return bytes;
}

gboolean
demur_checkpoints_remove(DemurWorkspace *workspace, const char *name, GError **error) {
  DemurStatement *statement =
      demur_store_statement(workspace, "DELETE FROM checkpoint WHERE name = ?", error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_text(statement, 1, name);
  return demur_store_run(workspace, statement, "removing a finished training's checkpoint", error);
}
