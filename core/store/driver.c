#include "store/driver.h"

#include <string.h>

#include "base/error.h"
#include "base/translate.h"
#include "store/workspace.h"

/* What to do, by what went wrong. */
static const char *const advice[DEMUR_N_FAULTS] = {
    [DEMUR_FAULT_OTHER] = N_("run `demur verify`"),
    [DEMUR_FAULT_LOCKED] =
        N_("another program has been writing to it all the while; try again when it is done"),
    [DEMUR_FAULT_FULL] = N_("the disk is full; make room and try again, nothing was half written"),
    [DEMUR_FAULT_MEMORY] =
        N_("the server has no memory left for it, and nothing was half written; try again, and ask "
           "who administers the server where it stays so"),
    [DEMUR_FAULT_RIGHTS] = N_("it can't be written; check the rights of the file and its folder"),
    [DEMUR_FAULT_DAMAGED] = N_("it is damaged; bring back a copy, and run `demur verify`"),
    [DEMUR_FAULT_DISK] = N_("the disk can't be read or written; check it and the room left on it"),
    [DEMUR_FAULT_AWAY] =
        N_("the server is away; what was being written is there as a whole or not at "
           "all: look, and try again when it is back"),
    [DEMUR_FAULT_NO_LINE] = N_("nothing was written; check the address, the database and the user, "
                               "and whether the server is there"),
    [DEMUR_FAULT_PASSWORD] = N_(
        "nothing was written; the password is wrong or has expired, there is no such database, the "
        "user may not connect to it, or too many are connected: ask who administers the server; a "
        "password goes into ~/.pgpass"),
    [DEMUR_FAULT_NO_PASSWORD] =
        N_("nothing was written; put it into ~/.pgpass (PostgreSQL, The Password File)"),
    [DEMUR_FAULT_REFUSED] = N_("the server does not let this user do it; who administers the "
                               "workspace may give them a role that may (`demur workspace roles`)"),
    [DEMUR_FAULT_OLD] = N_("take it to a file with the program of before (`demur workspace copy`); "
                           "this one brings a file up to date and copies it back"),
    [DEMUR_FAULT_TEXT] = N_("a server keeps UTF-8 only; rename what is named there, or keep the "
                            "workspace in a file"),
};

gboolean
demur_workspace_is_server(const char *path) {
  return g_str_has_prefix(path, "postgresql://") || g_str_has_prefix(path, "postgres://");
}

const DemurDriver *
demur_driver_of(const char *path) {
  return demur_workspace_is_server(path) ? demur_driver_postgres() : demur_driver_sqlite();
}

/* What a server says is in the language of whoever set it up, and means little to who sits before a window: it goes with the
 * error, and our own sentence tells it. */
static GError *
error_of_server(DemurFault fault, const char *path, const char *doing) {
  switch (fault) {
  case DEMUR_FAULT_AWAY:
    return demur_error_new(DEMUR_ERROR_AWAY, "workspace %s: %s: %s", path, doing, advice[fault]);
  case DEMUR_FAULT_NO_LINE:
    return demur_error_new(DEMUR_ERROR_AWAY, "workspace %s: %s: there is no line to the server; %s",
                           path, doing, advice[fault]);
  case DEMUR_FAULT_PASSWORD:
    return demur_error_new(DEMUR_ERROR_AWAY,
                           "workspace %s: %s: the server did not let this user in; %s", path, doing,
                           advice[fault]);
  case DEMUR_FAULT_NO_PASSWORD:
    return demur_error_new(
        DEMUR_ERROR_AWAY, "workspace %s: %s: the server asks for a password, and there is none; %s",
        path, doing, advice[fault]);
  case DEMUR_FAULT_MEMORY:
  case DEMUR_FAULT_REFUSED:
    return demur_error_new(DEMUR_ERROR_STORE, "workspace %s: %s: %s", path, doing, advice[fault]);
  default:
    return NULL;
  }
}

char *
demur_driver_foreign(GHashTable *here, GHashTable *right) {
  static const char table[] = "table ";
  g_autoptr(GList) names = g_list_sort(g_hash_table_get_keys(here), (GCompareFunc)strcmp);
  const char *first = NULL;
  for (GList *at = names; at != NULL; at = at->next) {
    if (g_hash_table_contains(right, at->data))
      continue;
    if (g_str_has_prefix(at->data, table))
      return g_strdup(at->data);
    first = first != NULL ? first : at->data;
  }
  return g_strdup(first);
}

gboolean
demur_driver_refuse_foreign(const char *path, const char *name, GError **error) {
  demur_error_set(
      error, DEMUR_ERROR_EXISTS,
      "there is something in %s that is none of this program's (%s); it was left as it is, and nothing "
      "was written: name a new file or an empty database, or have it moved elsewhere first (on a server: "
      "ALTER .. SET SCHEMA public)",
      path, name);
  return FALSE;
}

gboolean
demur_driver_fail(DemurConnection *connection, const char *path, const char *doing,
                  GError **error) {
  const char *message = NULL;
  const DemurFault fault = connection->driver->fault(connection, &message);
  if (fault == DEMUR_FAULT_TAKEN)
    return demur_driver_refuse_foreign(path, message, error);
  GError *told = error_of_server(fault, path, doing);
  if (told == NULL) {
    demur_error_set(error, DEMUR_ERROR_STORE, "workspace %s: %s: %s; %s", path, doing, message,
                    advice[fault]);
    return FALSE;
  }
  demur_error_set_details(told, message);
  g_propagate_error(error, told);
  return FALSE;
}
