/* On a server each scan that is open is a shared advisory lock of the scan's mark (driver-postgres.c), which goes by
 * itself with the line that holds it: no program that dies leaves a mark. A mark is the first 32 bits of the SHA-256 of the
 * scan's ID: of 10,000 open scans two are taken for one another once in 85 workspaces, and then a mark too many is shown. */
#include "store/changes.h"

#include "base/sha256.h"
#include "store/connection.h"
#include "store/events.h"

struct DemurChanges {
  DemurWorkspace *workspace;
  gint64 last;
  guint32 mark;
  gboolean is_open;
};

guint32
demur_changes_mark(const char *scan_id) {
  DemurSha256 sha;
  guint8 digest[DEMUR_SHA256_BYTES];
  demur_sha256_init(&sha);
  demur_sha256_add_text(&sha, scan_id);
  demur_sha256_finish(&sha, digest);
  return (guint32)digest[0] << 24 | (guint32)digest[1] << 16 | (guint32)digest[2] << 8 | digest[3];
}

static void
free_opened(gpointer data) {
  DemurOpenedBy *opened = data;
  g_free(opened->user);
  g_free(opened);
}

static gpointer
read_opened(DemurStatement *row) {
  DemurOpenedBy *opened = g_new0(DemurOpenedBy, 1);
  opened->mark = (guint32)demur_store_int(row, 0);
  opened->user = demur_store_text(row, 1);
  return opened;
}

static const DemurDriver *
driver_of(const DemurChanges *changes) {
  return changes->workspace->connection->driver;
}

GPtrArray *
demur_changes_opened(DemurChanges *changes, GError **error) {
  if (driver_of(changes)->dialect[DEMUR_DIALECT_OPENED] == NULL)
    return g_ptr_array_new_with_free_func(free_opened);
  DemurStatement *statement = demur_store_dialect(changes->workspace, DEMUR_DIALECT_OPENED, error);
  return statement != NULL ? demur_store_list(changes->workspace, statement, read_opened,
                                              free_opened, "asking who has what open", error)
                           : NULL;
}

gboolean
demur_changes_open(DemurChanges *changes, const char *scan_id, GError **error) {
  if (driver_of(changes)->dialect[DEMUR_DIALECT_OPENED] == NULL)
    return TRUE;
  const guint32 mark = scan_id != NULL ? demur_changes_mark(scan_id) : 0;
  const struct {
    gboolean due;
    DemurDialect what;
    guint32 mark;
  } steps[] = {{changes->is_open, DEMUR_DIALECT_CLOSE, changes->mark},
               {scan_id != NULL, DEMUR_DIALECT_OPEN, mark}};
  changes->is_open = FALSE;
  for (guint s = 0; s < G_N_ELEMENTS(steps); s++) {
    if (!steps[s].due)
      continue;
    DemurStatement *statement = demur_store_dialect(changes->workspace, steps[s].what, error);
    if (statement == NULL)
      return FALSE;
    demur_store_bind_int(statement, 1, (gint32)steps[s].mark);
    if (!demur_store_run(changes->workspace, statement, "telling what is open", error))
      return FALSE;
  }
  changes->is_open = scan_id != NULL;
  changes->mark = mark;
  return TRUE;
}

DemurChanges *
demur_changes_new(const char *path, gint64 *last, GError **error) {
  g_autoptr(DemurChanges) changes = g_new0(DemurChanges, 1);
  changes->workspace = demur_workspace_open(path, DEMUR_WORKSPACE_READ_ONLY, error);
  if (changes->workspace == NULL)
    return NULL;
  if (!driver_of(changes)->listen(changes->workspace->connection)) {
    demur_store_fail(changes->workspace, "listening", error);
    return NULL;
  }
  if (!demur_events_last_of_change(changes->workspace, &changes->last, error))
    return NULL;
  *last = changes->last;
  return g_steal_pointer(&changes);
}

void
demur_changes_free(DemurChanges *changes) {
  if (changes == NULL)
    return;
  if (changes->is_open && !demur_changes_open(changes, NULL, NULL))
    changes->is_open = FALSE; /* the line is lost, and with it what it had open */
  demur_workspace_close(changes->workspace);
  g_free(changes);
}

gboolean
demur_changes_wait(DemurChanges *changes, guint timeout_ms, int wake, DemurChanged *changed,
                   GError **error) {
  DemurNews news;
  if (!driver_of(changes)->wait_change(changes->workspace->connection, timeout_ms, wake, &news))
    return demur_store_fail(changes->workspace, "listening", error);
  if (news.written && !demur_events_last_of_change(changes->workspace, &changes->last, error))
    return FALSE;
  *changed = (DemurChanged){changes->last, news.written, news.opened, news.is_another};
  return TRUE;
}
