#include "store/workspace.h"

#include <inttypes.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/sha256.h"
#include "base/error.h"
#include "store/adopt.h"
#include "store/connection.h"
#include "store/events.h"
#include "store/opening.h"
#include "store/schema.h"
#include "store/selector-key.h"

/* How long a writer waits for another one, where nobody is told of it and where someone is. */
#define SILENT_WAIT_MS 10000
#define TOLD_WAIT_MS 60000
#define SHORT_WAIT_MS 1000
#define ANSWER_WAIT_MS 1000 /* what a server may take for an answer without a word */

const char *
demur_workspace_path(const DemurWorkspace *workspace) {
  return workspace->path;
}

char *
demur_workspace_default_path(const char *user_data_dir) {
  return g_build_filename(user_data_dir, "demur", "workspace.demur", NULL);
}

static const DemurDriver *
driver_of(const DemurWorkspace *workspace) {
  return workspace->connection->driver;
}

gboolean
demur_store_fail(DemurWorkspace *workspace, const char *doing, GError **error) {
  const char *message;
  workspace->locked_out =
      driver_of(workspace)->fault(workspace->connection, &message) == DEMUR_FAULT_LOCKED;
  if (workspace->locked_out && workspace->waiting != NULL &&
      !demur_progress_step(workspace->waiting, 0.0, "waiting: the workspace is locked", error))
    return FALSE; /* the wait was cancelled */
  return demur_driver_fail(workspace->connection, workspace->path, doing, error);
}

DemurStatement *
demur_store_statement(DemurWorkspace *workspace, const char *sql, GError **error) {
  DemurStatement *statement = g_hash_table_lookup(workspace->statements, sql);
  if (statement != NULL) {
    statement->driver->reset(statement);
    statement->driver->clear(statement);
    return statement;
  }
  statement = driver_of(workspace)->prepare(workspace->connection, sql);
  if (statement == NULL) {
    demur_store_fail(workspace, "preparing a query", error);
    return NULL;
  }
  g_hash_table_insert(workspace->statements, (gpointer)sql, statement);
  return statement;
}

DemurStatement *
demur_store_dialect(DemurWorkspace *workspace, DemurDialect what, GError **error) {
  const DemurDriver *driver = driver_of(workspace);
  const char *sql = driver->dialect[what];
  return demur_store_statement(workspace, sql != NULL ? sql : driver->make_dialect(what), error);
}

void
demur_store_bind_text(DemurStatement *statement, int at, const char *text) {
  statement->driver->bind_text(statement, at, text);
}

void
demur_store_bind_double(DemurStatement *statement, int at, double value) {
  statement->driver->bind_double(statement, at, value);
}

void
demur_store_bind_int(DemurStatement *statement, int at, gint64 value) {
  statement->driver->bind_int(statement, at, value);
}

void
demur_store_bind_blob(DemurStatement *statement, int at, gconstpointer bytes, size_t n_bytes) {
  statement->driver->bind_blob(statement, at, bytes, n_bytes);
}

gboolean
demur_store_run(DemurWorkspace *workspace, DemurStatement *statement, const char *doing,
                GError **error) {
  DemurStep step;
  while ((step = statement->driver->step(statement)) == DEMUR_STEP_ROW)
    workspace->inserted_id = statement->driver->column_int(statement, 0);
  if (step == DEMUR_STEP_FAILED)
    demur_store_fail(workspace, doing, error);
  statement->driver->reset(statement);
  return step == DEMUR_STEP_DONE;
}

gboolean
demur_store_run_later(DemurWorkspace *workspace, DemurStatement *statement, const char *doing,
                      GError **error) {
  return statement->driver->run_later(statement) || demur_store_fail(workspace, doing, error);
}

gboolean
demur_store_step(DemurWorkspace *workspace, DemurStatement *statement, gboolean *row,
                 const char *doing, GError **error) {
  const DemurStep step = statement->driver->step(statement);
  *row = step == DEMUR_STEP_ROW;
  if (*row)
    return TRUE;
  if (step == DEMUR_STEP_FAILED)
    demur_store_fail(workspace, doing, error);
  statement->driver->reset(statement);
  return step == DEMUR_STEP_DONE;
}

void
demur_store_reset(DemurStatement *statement) {
  statement->driver->reset(statement);
}

char *
demur_store_text(DemurStatement *statement, int at) {
  return g_strdup(statement->driver->column_text(statement, at));
}

double
demur_store_double(DemurStatement *statement, int at) {
  return demur_store_type(statement, at) == DEMUR_COLUMN_NULL
             ? NAN
             : statement->driver->column_double(statement, at);
}

double
demur_store_number(DemurStatement *statement, int at) {
  return statement->driver->column_double(statement, at);
}

gint64
demur_store_int(DemurStatement *statement, int at) {
  return statement->driver->column_int(statement, at);
}

const char *
demur_store_peek(DemurStatement *statement, int at) {
  return statement->driver->column_text(statement, at);
}

gconstpointer
demur_store_bytes(DemurStatement *statement, int at, gsize *n_bytes) {
  return statement->driver->column_bytes(statement, at, n_bytes);
}

DemurColumnType
demur_store_type(DemurStatement *statement, int at) {
  return statement->driver->column_type(statement, at);
}

int
demur_store_n_parameters(const DemurStatement *statement) {
  return statement->driver->n_parameters(statement);
}

int
demur_store_n_columns(const DemurStatement *statement) {
  return statement->driver->n_columns(statement);
}

const char *
demur_store_column_name(DemurStatement *statement, int at) {
  return statement->driver->column_name(statement, at);
}

gint64
demur_store_inserted_id(const DemurWorkspace *workspace) {
  return workspace->inserted_id;
}

gint64
demur_store_n_changed(DemurWorkspace *workspace) {
  return driver_of(workspace)->n_changed(workspace->connection);
}

gboolean
demur_store_read_chunk(DemurWorkspace *workspace, gint64 row, void *bytes, gsize n_bytes) {
  return driver_of(workspace)->read_chunk(workspace->connection, row, bytes, n_bytes);
}

char *
demur_store_read_document(DemurWorkspace *workspace, gint64 row, gsize *length) {
  return driver_of(workspace)->read_document(workspace->connection, row, length);
}

void
demur_store_read_texts(DemurStatement *statement, int from, char **const *texts, size_t n) {
  for (size_t i = 0; i < n; i++)
    *texts[i] = demur_store_text(statement, from + (int)i);
}

GPtrArray *
demur_store_list(DemurWorkspace *workspace, DemurStatement *statement, DemurStoreReadFunc read,
                 GDestroyNotify free_record, const char *doing, GError **error) {
  g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(free_record);
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, statement, &row, doing, error)) && row)
    g_ptr_array_add(list, read(statement));
  return ok ? g_steal_pointer(&list) : NULL;
}

char **
demur_store_list_texts(DemurWorkspace *workspace, DemurStatement *statement, const char *doing,
                       GError **error) {
  g_autoptr(GStrvBuilder) list = g_strv_builder_new();
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, statement, &row, doing, error)) && row)
    g_strv_builder_add(list, demur_store_peek(statement, 0));
  return ok ? g_strv_builder_end(list) : NULL;
}

gint64
demur_store_count(DemurWorkspace *workspace, const char *sql, const char *first, const char *second,
                  GError **error) {
  DemurStatement *statement = demur_store_statement(workspace, sql, error);
  if (statement == NULL)
    return -1;
  if (first != NULL)
    demur_store_bind_text(statement, 1, first);
  if (second != NULL)
    demur_store_bind_text(statement, 2, second);
  gboolean row;
  if (!demur_store_step(workspace, statement, &row, "counting", error))
    return -1;
  const gint64 n = row ? demur_store_int(statement, 0) : 0;
  demur_store_reset(statement);
  return n;
}

gboolean
demur_store_made(DemurWorkspace *workspace, const DemurStoreMade *kinds, size_t n, const char *name,
                 GError **made, GError **error) {
  *made = NULL;
  for (size_t i = 0; i < n; i++) {
    const gint64 there = demur_store_count(workspace, kinds[i].sql, name, NULL, error);
    if (there < 0) {
      g_clear_error(made);
      return FALSE;
    }
    if (there == 0)
      continue;
    GError *one =
        demur_error_new(DEMUR_ERROR_STATE, there == 1 ? kinds[i].one : kinds[i].many, there);
    if (*made == NULL) {
      *made = one;
    } else {
      demur_error_append(*made, demur_error_new(DEMUR_ERROR_STATE, ", "));
      demur_error_append(*made, one);
    }
  }
  return TRUE;
}

static void
enter(DemurWorkspace *workspace) {
  workspace->depth++;
  g_array_set_size(workspace->uncommitted, workspace->depth);
}

/* What the innermost transaction wrote is the outer one's from now on, and the handle's behind the outermost, or
 * nobody's. */
static void
leave(DemurWorkspace *workspace, gboolean keeps) {
  workspace->depth--;
  const DemurOwnChanges *of = (const DemurOwnChanges *)workspace->uncommitted->data;
  const DemurOwnChanges inner = of[workspace->depth];
  DemurOwnChanges *outer =
      workspace->depth > 0
          ? &g_array_index(workspace->uncommitted, DemurOwnChanges, workspace->depth - 1)
          : &workspace->own;
  if (keeps && inner.n > 0)
    *outer = (DemurOwnChanges){outer->n + inner.n, inner.last};
  g_array_set_size(workspace->uncommitted, workspace->depth);
}

gboolean
demur_workspace_begin(DemurWorkspace *workspace, GError **error) {
  if (workspace->read_only) {
    demur_error_set(error, DEMUR_ERROR_STORE,
                    "workspace %s is open for reading only; open it for writing to save",
                    workspace->path);
    return FALSE;
  }
  if (!driver_of(workspace)->begin(workspace->connection, workspace->depth, DEMUR_LOCK_WRITE))
    return demur_store_fail(workspace, "starting to write", error);
  enter(workspace);
  if (workspace->depth == 1) {
    g_hash_table_remove_all(workspace->untold);
    if (!demur_events_begin(workspace, error)) {
      demur_workspace_rollback(workspace);
      return FALSE;
    }
  }
  return TRUE;
}

void
demur_store_tell_cohort(DemurWorkspace *workspace, const char *name) {
  g_hash_table_add(workspace->untold, g_strdup(name));
}

/* In order of name, so that the same work is told in the same way. */
static gboolean
tell_cohorts(DemurWorkspace *workspace, GError **error) {
  g_autoptr(GList) names =
      g_list_sort(g_hash_table_get_keys(workspace->untold), (GCompareFunc)strcmp);
  for (GList *at = names; at != NULL; at = at->next)
    if (!demur_store_write_cohort_event(workspace, at->data, error))
      return FALSE;
  g_hash_table_remove_all(workspace->untold);
  return TRUE;
}

gboolean
demur_workspace_commit(DemurWorkspace *workspace, GError **error) {
  g_return_val_if_fail(workspace->depth > 0, FALSE);
  if (workspace->depth == 1 && !tell_cohorts(workspace, error)) {
    demur_workspace_rollback(workspace);
    return FALSE;
  }
  if (!driver_of(workspace)->commit(workspace->connection, workspace->depth - 1)) {
    demur_store_fail(workspace, "writing", error);
    demur_workspace_rollback(workspace);
    return FALSE;
  }
  leave(workspace, TRUE);
  if (workspace->depth == 0)
    demur_store_forget_head(workspace);
  return TRUE;
}

void
demur_workspace_rollback(DemurWorkspace *workspace) {
  g_return_if_fail(workspace->depth > 0);
  leave(workspace, FALSE);
  demur_store_forget_head(workspace);
  driver_of(workspace)->rollback(workspace->connection, workspace->depth);
}

gboolean
demur_workspace_begin_read(DemurWorkspace *workspace, GError **error) {
  if (workspace->depth == 0 &&
      !driver_of(workspace)->begin(workspace->connection, 0, DEMUR_LOCK_READ))
    return demur_store_fail(workspace, "starting to read", error);
  enter(workspace);
  return TRUE;
}

void
demur_workspace_end_read(DemurWorkspace *workspace) {
  g_return_if_fail(workspace->depth > 0);
  leave(workspace, TRUE);
  if (workspace->depth > 0)
    return;
  demur_store_forget_head(workspace);
  driver_of(workspace)->end_read(workspace->connection);
}

void
demur_workspace_set_actor(DemurWorkspace *workspace, const char *user, const char *station,
                          char *(*now)(void)) {
  g_free(workspace->user);
  g_free(workspace->station);
  const char *known = driver_of(workspace)->user(workspace->connection);
  workspace->user = g_strdup(known != NULL ? known : user);
  workspace->station = g_strdup(station);
  workspace->now = now;
}

const char *
demur_workspace_user(const DemurWorkspace *workspace) {
  return workspace->user;
}

char *
demur_store_now(DemurWorkspace *workspace) {
  return workspace->now != NULL ? workspace->now() : g_strdup("");
}

char *
demur_store_digest(const char *const *texts, size_t n_texts, const double *numbers,
                   size_t n_numbers) {
  DemurSha256 sha;
  demur_sha256_init(&sha);
  for (size_t i = 0; i < n_texts; i++)
    demur_sha256_add_text(&sha, texts[i]);
  /* As an engine keeps them: SQLite has no -0. */
  g_autofree double *kept = g_new(double, MAX(n_numbers, 1));
  for (size_t i = 0; i < n_numbers; i++)
    kept[i] = numbers[i] + 0.0;
  demur_sha256_add_bytes(&sha, kept, n_numbers * sizeof(double));
  return demur_sha256_finish_hex(&sha);
}

gboolean
demur_store_end(DemurWorkspace *workspace, gboolean ok, GError **error) {
  if (ok)
    return demur_workspace_commit(workspace, error);
  demur_workspace_rollback(workspace);
  return FALSE;
}

/* For an answer as long as nobody says that it is enough: statements may take their time. Nothing is said of one that
 * takes less than a second. */
static gboolean
may_wait_for_answer(const DemurWorkspace *workspace, guint n_asked) {
  if (n_asked < ANSWER_WAIT_MS / DEMUR_WAIT_STEP_MS)
    return workspace->waiting == NULL ||
           !g_cancellable_is_cancelled(workspace->waiting->cancellable);
  return demur_progress_step(workspace->waiting, 0.0, "waiting: the server has not answered", NULL);
}

/* Whether a driver may go on waiting. */
static gboolean
may_wait(DemurWait what, guint n_asked, gpointer data) {
  const DemurWorkspace *workspace = data;
  if (what == DEMUR_WAIT_ANSWER)
    return may_wait_for_answer(workspace, n_asked);
  const gboolean told = workspace->waiting != NULL;
  const gboolean endless = told && workspace->patience == DEMUR_PATIENCE_ENDLESS;
  const guint limit = (workspace->patience == DEMUR_PATIENCE_SHORT ? SHORT_WAIT_MS
                       : told                                      ? TOLD_WAIT_MS
                                                                   : SILENT_WAIT_MS) /
                      DEMUR_WAIT_STEP_MS;
  return (n_asked < limit || endless) &&
         demur_progress_step(workspace->waiting, MIN((double)n_asked / limit, 1.0),
                             "waiting: the workspace is locked", NULL);
}

void
demur_store_let_others_write(void) {
  g_usleep((DEMUR_WAIT_STEP_MS + DEMUR_WAIT_STEP_MS / 5) * G_USEC_PER_SEC / 1000);
}

void
demur_workspace_tell_waiting(DemurWorkspace *workspace, const DemurProgress *progress) {
  workspace->waiting = progress;
}

void
demur_workspace_set_places_look(DemurWorkspace *workspace, DemurPlacesLook look, gpointer data) {
  workspace->look = look;
  workspace->look_data = data;
}

gboolean
demur_workspace_is_locked_out(const DemurWorkspace *workspace) {
  return workspace->locked_out;
}

DemurPatience
demur_workspace_set_patience(DemurWorkspace *workspace, DemurPatience patience) {
  const DemurPatience before = workspace->patience;
  workspace->patience = patience;
  return before;
}

/* Runs the steps that are missing, all in one transaction: another program that opens the file at
 * the same time sees the old schema or the new one. */
static gboolean
migrate(DemurWorkspace *workspace, GError **error) {
  const DemurDriver *driver = driver_of(workspace);
  gint64 version;
  if (!driver->version(workspace->connection, &version))
    return demur_store_fail(workspace, "opening", error);
  if (version < 0 || version > demur_store_version)
    return demur_store_refuse_newer(workspace->path, version, error);
  if (version == demur_store_version)
    return TRUE;
  if (workspace->read_only) {
    demur_error_set(error, DEMUR_ERROR_STORE,
                    "workspace %s is of an older schema (%" PRId64
                    ", now %d); open it once for writing, or a copy of it",
                    workspace->path, version, demur_store_version);
    return FALSE;
  }
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  gboolean ok = driver->version(workspace->connection, &version) ||
                demur_store_fail(workspace, "opening", error);
  ok = ok && (version <= demur_store_version ||
              demur_store_refuse_newer(workspace->path, version, error));
  const char *doing = "bringing the schema up to date";
  if (ok && !driver->upgrade(workspace->connection, version))
    ok = demur_store_fail(workspace, doing, error);
  if (ok && version > 0 && version < DEMUR_STORE_FIRST_LOG)
    ok = demur_store_adopt(workspace, error);
  if (ok && version < DEMUR_STORE_FIRST_KEY)
    ok = demur_store_key_selectors(workspace, error);
  if (ok && version < demur_store_version &&
      !driver->set_version(workspace->connection, demur_store_version))
    ok = demur_store_fail(workspace, doing, error);
  return demur_store_end(workspace, ok, error);
}

static void
finalize(gpointer data) {
  DemurStatement *statement = data;
  statement->driver->finalize(statement);
}

/* begin: in a transaction that is the caller's to end. */
static DemurWorkspace *
open_workspace(const char *path, DemurWorkspaceFlags flags, gboolean begin,
               const DemurProgress *waiting, GError **error) {
  const gboolean create = (flags & DEMUR_WORKSPACE_CREATE) != 0;
  const gboolean read_only = (flags & DEMUR_WORKSPACE_READ_ONLY) != 0;
  g_return_val_if_fail(!(create && read_only), NULL);
  if (*path == '\0') {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "the name of the workspace is empty; give a file (--workspace)");
    return NULL;
  }
  g_autoptr(DemurWorkspace) workspace = g_new0(DemurWorkspace, 1);
  workspace->path = g_strdup(path);
  workspace->read_only = read_only;
  workspace->waiting = waiting;
  workspace->statements = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, finalize);
  workspace->untold = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  workspace->uncommitted = g_array_new(FALSE, TRUE, sizeof(DemurOwnChanges));
  workspace->connection =
      demur_driver_of(path)->open(path, create, read_only, may_wait, workspace, error);
  if (workspace->connection == NULL && waiting != NULL &&
      g_cancellable_is_cancelled(waiting->cancellable)) {
    g_clear_error(error);
    g_cancellable_set_error_if_cancelled(waiting->cancellable, error);
  }
  if (workspace->connection == NULL || (begin && !demur_workspace_begin(workspace, error)) ||
      !migrate(workspace, error))
    return NULL;
  return g_steal_pointer(&workspace);
}

DemurWorkspace *
demur_workspace_open(const char *path, DemurWorkspaceFlags flags, GError **error) {
  return open_workspace(path, flags, FALSE, NULL, error);
}

DemurWorkspace *
demur_workspace_open_told(const char *path, DemurWorkspaceFlags flags,
                          const DemurProgress *progress, GError **error) {
  return open_workspace(path, flags, FALSE, progress, error);
}

DemurWorkspace *
demur_store_open_empty(const char *path, const DemurProgress *progress, GError **error) {
  return open_workspace(path, DEMUR_WORKSPACE_CREATE, TRUE, progress, error);
}

void
demur_workspace_close(DemurWorkspace *workspace) {
  if (workspace == NULL)
    return;
  while (workspace->depth > 0)
    demur_workspace_rollback(workspace);
  demur_store_forget_head(workspace);
  g_clear_pointer(&workspace->statements, g_hash_table_unref);
  g_clear_pointer(&workspace->untold, g_hash_table_unref);
  g_clear_pointer(&workspace->uncommitted, g_array_unref);
  if (workspace->connection != NULL)
    driver_of(workspace)->close(workspace->connection);
  g_free(workspace->path);
  g_free(workspace->user);
  g_free(workspace->station);
  g_free(workspace);
}
