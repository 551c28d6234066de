#include "store/workspace.h"

#include <inttypes.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/digest.h"
#include "base/error.h"
#include "store/adopt.h"
#include "store/connection.h"
#include "store/events.h"
#include "store/opening.h"
#include "store/schema.h"
#include "store/selector-key.h"

/* How long a writer waits for another one, where nobody is told of it and where someone is. */
#define WAIT_STEP_MS 50
#define SILENT_WAIT_MS 10000
#define TOLD_WAIT_MS 60000
#define SHORT_WAIT_MS 1000

const char *
demur_workspace_path(const DemurWorkspace *workspace) {
  return workspace->path;
}

char *
demur_workspace_default_path(const char *user_data_dir) {
  return g_build_filename(user_data_dir, "demur", "workspace.demur", NULL);
}

gboolean
demur_store_fail(DemurWorkspace *workspace, const char *doing, GError **error) {
  const int code = sqlite3_errcode(workspace->database) & 0xff;
  const char *advice;
  switch (code) {
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    advice = "another program has been writing to it all the while; try again when it is done";
    break;
  case SQLITE_FULL:
    advice = "the disk is full; make room and try again, nothing was half written";
    break;
  case SQLITE_READONLY:
  case SQLITE_PERM:
  case SQLITE_CANTOPEN:
    advice = "it can't be written; check the rights of the file and its folder";
    break;
  case SQLITE_CORRUPT:
  case SQLITE_NOTADB:
    advice = "the file is damaged; bring back a copy, and run `demur verify`";
    break;
  case SQLITE_IOERR:
    advice = "the disk can't be read or written; check it and the room left on it";
    break;
  default:
    advice = "run `demur verify`";
    break;
  }
  const gboolean locked = code == SQLITE_BUSY || code == SQLITE_LOCKED;
  workspace->locked_out = locked;
  if (locked && workspace->waiting != NULL &&
      !demur_progress_step(workspace->waiting, 0.0, "waiting: the workspace is locked", error))
    return FALSE; /* the wait was cancelled */
  demur_error_set(error, DEMUR_ERROR_STORE, "workspace %s: %s: %s; %s", workspace->path, doing,
                  sqlite3_errmsg(workspace->database), advice);
  return FALSE;
}

sqlite3_stmt *
demur_store_statement(DemurWorkspace *workspace, const char *sql, GError **error) {
  sqlite3_stmt *statement = g_hash_table_lookup(workspace->statements, sql);
  if (statement != NULL) {
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return statement;
  }
  if (sqlite3_prepare_v3(workspace->database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement,
                         NULL) != SQLITE_OK) {
    demur_store_fail(workspace, "preparing a query", error);
    return NULL;
  }
  g_hash_table_insert(workspace->statements, (gpointer)sql, statement);
  return statement;
}

void
demur_store_bind_text(sqlite3_stmt *statement, int at, const char *text) {
  if (text != NULL)
    sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
  else
    sqlite3_bind_null(statement, at);
}

void
demur_store_bind_double(sqlite3_stmt *statement, int at, double value) {
  if (isnan(value))
    sqlite3_bind_null(statement, at);
  else
    sqlite3_bind_double(statement, at, value);
}

void
demur_store_bind_int(sqlite3_stmt *statement, int at, gint64 value) {
  sqlite3_bind_int64(statement, at, value);
}

void
demur_store_bind_blob(sqlite3_stmt *statement, int at, gconstpointer bytes, size_t n_bytes) {
  if (n_bytes == 0)
    sqlite3_bind_zeroblob(statement, at, 0);
  else
    sqlite3_bind_blob64(statement, at, bytes, n_bytes, SQLITE_STATIC);
}

gboolean
demur_store_run(DemurWorkspace *workspace, sqlite3_stmt *statement, const char *doing,
                GError **error) {
  const int code = sqlite3_step(statement);
  const gboolean ok = code == SQLITE_DONE || code == SQLITE_ROW;
  if (!ok)
    demur_store_fail(workspace, doing, error);
  sqlite3_reset(statement);
  return ok;
}

gboolean
demur_store_step(DemurWorkspace *workspace, sqlite3_stmt *statement, gboolean *row,
                 const char *doing, GError **error) {
  const int code = sqlite3_step(statement);
  *row = code == SQLITE_ROW;
  if (code == SQLITE_ROW)
    return TRUE;
  if (code != SQLITE_DONE)
    demur_store_fail(workspace, doing, error);
  sqlite3_reset(statement);
  return code == SQLITE_DONE;
}

char *
demur_store_text(sqlite3_stmt *statement, int at) {
  return g_strdup((const char *)sqlite3_column_text(statement, at));
}

double
demur_store_double(sqlite3_stmt *statement, int at) {
  return sqlite3_column_type(statement, at) == SQLITE_NULL ? NAN
                                                           : sqlite3_column_double(statement, at);
}

void
demur_store_read_texts(sqlite3_stmt *statement, int from, char **const *texts, size_t n) {
  for (size_t i = 0; i < n; i++)
    *texts[i] = demur_store_text(statement, from + (int)i);
}

GPtrArray *
demur_store_list(DemurWorkspace *workspace, sqlite3_stmt *statement, DemurStoreReadFunc read,
                 GDestroyNotify free_record, const char *doing, GError **error) {
  g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(free_record);
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, statement, &row, doing, error)) && row)
    g_ptr_array_add(list, read(statement));
  return ok ? g_steal_pointer(&list) : NULL;
}

char **
demur_store_list_texts(DemurWorkspace *workspace, sqlite3_stmt *statement, const char *doing,
                       GError **error) {
  g_autoptr(GStrvBuilder) list = g_strv_builder_new();
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, statement, &row, doing, error)) && row)
    g_strv_builder_add(list, (const char *)sqlite3_column_text(statement, 0));
  return ok ? g_strv_builder_end(list) : NULL;
}

gint64
demur_store_count(DemurWorkspace *workspace, const char *sql, const char *first, const char *second,
                  GError **error) {
  sqlite3_stmt *statement = demur_store_statement(workspace, sql, error);
  if (statement == NULL)
    return -1;
  if (first != NULL)
    demur_store_bind_text(statement, 1, first);
  if (second != NULL)
    demur_store_bind_text(statement, 2, second);
  gboolean row;
  if (!demur_store_step(workspace, statement, &row, "counting", error))
    return -1;
  const gint64 n = row ? sqlite3_column_int64(statement, 0) : 0;
  sqlite3_reset(statement);
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

static gboolean
execute(DemurWorkspace *workspace, const char *sql, const char *doing, GError **error) {
  if (sqlite3_exec(workspace->database, sql, NULL, NULL, NULL) == SQLITE_OK)
    return TRUE;
  return demur_store_fail(workspace, doing, error);
}

gboolean
demur_workspace_begin(DemurWorkspace *workspace, GError **error) {
  if (workspace->read_only) {
    demur_error_set(error, DEMUR_ERROR_STORE,
                    "workspace %s is open for reading only; open it for writing to save",
                    workspace->path);
    return FALSE;
  }
  g_autofree char *sql = workspace->depth == 0 ? g_strdup("BEGIN IMMEDIATE")
                                               : g_strdup_printf("SAVEPOINT s%u", workspace->depth);
  if (!execute(workspace, sql, "starting to write", error))
    return FALSE;
  if (workspace->depth++ == 0) {
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
  g_autofree char *sql = workspace->depth == 1
                             ? g_strdup("COMMIT")
                             : g_strdup_printf("RELEASE s%u", workspace->depth - 1);
  if (!execute(workspace, sql, "writing", error)) {
    demur_workspace_rollback(workspace);
    return FALSE;
  }
  workspace->depth--;
  return TRUE;
}

void
demur_workspace_rollback(DemurWorkspace *workspace) {
  g_return_if_fail(workspace->depth > 0);
  workspace->depth--;
  g_autofree char *sql =
      workspace->depth == 0
          ? g_strdup("ROLLBACK")
          : g_strdup_printf("ROLLBACK TO s%u; RELEASE s%u", workspace->depth, workspace->depth);
  /* An error that has rolled back by itself (full disk) leaves nothing to undo. */
  if (!sqlite3_get_autocommit(workspace->database))
    sqlite3_exec(workspace->database, sql, NULL, NULL, NULL);
}

gboolean
demur_workspace_begin_read(DemurWorkspace *workspace, GError **error) {
  if (workspace->depth == 0 && !execute(workspace, "BEGIN", "starting to read", error))
    return FALSE;
  workspace->depth++;
  return TRUE;
}

void
demur_workspace_end_read(DemurWorkspace *workspace) {
  g_return_if_fail(workspace->depth > 0);
  if (--workspace->depth == 0 && !sqlite3_get_autocommit(workspace->database))
    sqlite3_exec(workspace->database, "COMMIT", NULL, NULL, NULL);
}

void
demur_workspace_set_actor(DemurWorkspace *workspace, const char *user, const char *station,
                          char *(*now)(void)) {
  g_free(workspace->user);
  g_free(workspace->station);
  workspace->user = g_strdup(user);
  workspace->station = g_strdup(station);
  workspace->now = now;
}

gint64
demur_store_next_event(DemurWorkspace *workspace, GError **error) {
  return demur_store_count(workspace, "SELECT coalesce(max(sequence), 0) + 1 FROM event", NULL,
                           NULL, error);
}

char *
demur_store_now(DemurWorkspace *workspace) {
  return workspace->now != NULL ? workspace->now() : g_strdup("");
}

char *
demur_store_digest(const char *const *texts, size_t n_texts, const double *numbers,
                   size_t n_numbers) {
  g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
  for (size_t i = 0; i < n_texts; i++)
    demur_digest_add_text(checksum, texts[i]);
  demur_digest_add_doubles(checksum, numbers, n_numbers);
  return g_strdup(g_checksum_get_string(checksum));
}

gboolean
demur_store_end(DemurWorkspace *workspace, gboolean ok, GError **error) {
  if (ok)
    return demur_workspace_commit(workspace, error);
  demur_workspace_rollback(workspace);
  return FALSE;
}

/* Reads one whole number of a pragma. */
static gboolean
pragma(DemurWorkspace *workspace, const char *sql, gint64 *value, GError **error) {
  sqlite3_stmt *statement;
  if (sqlite3_prepare_v2(workspace->database, sql, -1, &statement, NULL) != SQLITE_OK)
    return demur_store_fail(workspace, "opening", error);
  const int code = sqlite3_step(statement);
  const gboolean ok = code == SQLITE_ROW;
  *value = ok ? sqlite3_column_int64(statement, 0) : 0;
  if (!ok)
    demur_store_fail(workspace, "opening", error);
  sqlite3_finalize(statement);
  return ok;
}

/* SQLite asks again and again while another program holds the lock: not 0 to go on waiting. */
static int
wait_for_another(void *data, int n_asked) {
  const DemurWorkspace *workspace = data;
  const gboolean told = workspace->waiting != NULL;
  const gboolean endless = told && workspace->patience == DEMUR_PATIENCE_ENDLESS;
  const int limit = (workspace->patience == DEMUR_PATIENCE_SHORT ? SHORT_WAIT_MS
                     : told                                      ? TOLD_WAIT_MS
                                                                 : SILENT_WAIT_MS) /
                    WAIT_STEP_MS;
  if ((n_asked >= limit && !endless) ||
      !demur_progress_step(workspace->waiting, MIN((double)n_asked / limit, 1.0),
                           "waiting: the workspace is locked", NULL))
    return 0;
  sqlite3_sleep(WAIT_STEP_MS);
  return 1;
}

void
demur_store_let_others_write(void) {
  sqlite3_sleep(WAIT_STEP_MS + WAIT_STEP_MS / 5);
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

/* On every connection, before anything else. */
static gboolean
configure(DemurWorkspace *workspace, GError **error) {
  sqlite3 *database = workspace->database;
  sqlite3_extended_result_codes(database, 1);
  sqlite3_busy_handler(database, wait_for_another, workspace);
  if (sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DML, 0, NULL) != SQLITE_OK ||
      sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DDL, 0, NULL) != SQLITE_OK ||
      sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL) != SQLITE_OK)
    return demur_store_fail(workspace, "opening", error);
  return execute(workspace,
                 "PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;"
                 "PRAGMA cell_size_check = ON; PRAGMA synchronous = FULL;",
                 "opening", error);
}

/* Runs the steps that are missing, all in one transaction: another program that opens the file at
 * the same time sees the old schema or the new one. */
static gboolean
migrate(DemurWorkspace *workspace, GError **error) {
  gint64 version;
  if (!pragma(workspace, "PRAGMA user_version", &version, error))
    return FALSE;
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
  gboolean ok =
      pragma(workspace, "PRAGMA user_version", &version, error) &&
      (version <= demur_store_version || demur_store_refuse_newer(workspace->path, version, error));
  for (gint64 v = version; ok && v < demur_store_version; v++)
    ok = execute(workspace, demur_store_migrations[v], "bringing the schema up to date", error);
  if (ok && version > 0 && version < DEMUR_STORE_FIRST_LOG)
    ok = demur_store_adopt(workspace, error);
  /* What the hashes were before is not left in pages that are free now. */
  if (ok && version < DEMUR_STORE_FIRST_KEY)
    ok = execute(workspace, "PRAGMA secure_delete = ON", "bringing the schema up to date", error) &&
         demur_store_key_selectors(workspace, error);
  if (ok && version < demur_store_version) {
    g_autofree char *sql = g_strdup_printf("PRAGMA user_version = %d", demur_store_version);
    ok = execute(workspace, sql, "bringing the schema up to date", error);
  }
  return demur_store_end(workspace, ok, error);
}

static void
finalize(gpointer statement) {
  sqlite3_finalize(statement);
}

DemurWorkspace *
demur_workspace_open(const char *path, DemurWorkspaceFlags flags, GError **error) {
  const gboolean create = (flags & DEMUR_WORKSPACE_CREATE) != 0;
  const gboolean read_only = (flags & DEMUR_WORKSPACE_READ_ONLY) != 0;
  g_return_val_if_fail(!(create && read_only), NULL);
  gboolean is_empty = TRUE;
  if (*path == '\0') {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "the name of the workspace is empty; give a file (--workspace)");
    return NULL;
  }
  if (!demur_store_look(path, &is_empty, error))
    return NULL;
  if (is_empty && !create) {
    demur_error_set(error, DEMUR_ERROR_NOT_FOUND,
                    "there is no workspace %s; import something first, or name another one "
                    "(--workspace)",
                    path);
    return NULL;
  }
  if (is_empty ? !demur_store_make_file(path, error)
               : !read_only && !demur_store_check_writer(path, error))
    return NULL;
  g_autoptr(DemurWorkspace) workspace = g_new0(DemurWorkspace, 1);
  workspace->path = g_strdup(path);
  workspace->read_only = read_only;
  workspace->statements = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, finalize);
  workspace->untold = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  const int mode = read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  gboolean is_uri = FALSE;
  g_autofree char *name = demur_store_database_name(path, read_only, &is_uri, error);
  if (name == NULL)
    return NULL;
  if (sqlite3_open_v2(name, &workspace->database, mode | (is_uri ? SQLITE_OPEN_URI : 0), NULL) !=
      SQLITE_OK) {
    demur_store_fail(workspace, "opening", error);
    return NULL;
  }
  if (!configure(workspace, error))
    return NULL;
  gint64 version;
  if (!pragma(workspace, "PRAGMA user_version", &version, error))
    return NULL;
  if (version > demur_store_version) {
    demur_store_refuse_newer(workspace->path, version, error);
    return NULL;
  }
  /* First of all the name tag, while the new file is not yet write-ahead logged: its header tells
   * at any moment whose file it is. */
  g_autofree char *tag = g_strdup_printf("PRAGMA application_id = %d", DEMUR_STORE_APPLICATION_ID);
  if (is_empty && !execute(workspace, tag, "creating it", error))
    return NULL;
  if (!read_only &&
      !execute(workspace, "PRAGMA journal_mode = WAL", "changing to write-ahead logging", error))
    return NULL;
  if (!migrate(workspace, error))
    return NULL;
  return g_steal_pointer(&workspace);
}

void
demur_workspace_close(DemurWorkspace *workspace) {
  if (workspace == NULL)
    return;
  while (workspace->depth > 0)
    demur_workspace_rollback(workspace);
  g_clear_pointer(&workspace->statements, g_hash_table_unref);
  g_clear_pointer(&workspace->untold, g_hash_table_unref);
  sqlite3_close_v2(workspace->database);
  g_free(workspace->path);
  g_free(workspace->user);
  g_free(workspace->station);
  g_free(workspace);
}
