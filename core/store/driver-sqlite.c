/* The SQLite driver: one file a workspace (store/opening.h), write-ahead logged. The only file that knows
 * SQLite. */
#include <math.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/locked-files.h"
#include "base/memory.h"
#include "store/changes.h"
#include "store/driver-sqlite.h"
#include "store/driver.h"
#include "store/network-disk.h"
#include "store/opening.h"
#include "store/schema.h"
#include "store/selector-key.h"

typedef struct {
  DemurConnection base;
  sqlite3 *database;
  char *path;
  DemurWaitFunc wait;
  gpointer wait_data;
  gint64 data_version; /* as it was when it was last looked at (wait_change) */
  struct stat file;    /* as it stood when it began to listen */
} Connection;

typedef struct {
  DemurStatement base;
  sqlite3_stmt *handle;
} Statement;

static sqlite3 *
database_of(DemurConnection *connection) {
  return ((Connection *)connection)->database;
}

static sqlite3_stmt *
handle_of(const DemurStatement *statement) {
  return ((const Statement *)statement)->handle;
}

const char *
demur_sqlite_read_head(const char *whole, guint8 *head, gint64 *size) {
  sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
  const char *name = sqlite3_create_filename(whole, "", "", 0, NULL);
  sqlite3_file *file = g_malloc0((gsize)vfs->szOsFile);
  sqlite3_int64 length = 0;
  int code = name != NULL
                 ? vfs->xOpen(vfs, name, file, SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB, NULL)
                 : SQLITE_NOMEM;
  if (code == SQLITE_OK)
    code = file->pMethods->xFileSize(file, &length);
  if (code == SQLITE_OK && length > 0)
    code = file->pMethods->xRead(file, head, DEMUR_SQLITE_HEAD, 0);
  if (code == SQLITE_IOERR_SHORT_READ) /* the rest is zero */
    code = SQLITE_OK;
  if (file->pMethods != NULL)
    file->pMethods->xClose(file);
  g_free(file);
  sqlite3_free_filename(name);
  *size = length;
  return code == SQLITE_OK ? NULL : sqlite3_errstr(code);
}

static DemurFault
fault(DemurConnection *connection, const char **message) {
  *message = sqlite3_errmsg(database_of(connection));
  switch (sqlite3_errcode(database_of(connection)) & 0xff) {
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    return DEMUR_FAULT_LOCKED;
  case SQLITE_FULL:
    return DEMUR_FAULT_FULL;
  case SQLITE_READONLY:
  case SQLITE_PERM:
  case SQLITE_CANTOPEN:
    return DEMUR_FAULT_RIGHTS;
  case SQLITE_CORRUPT:
  case SQLITE_NOTADB:
    return DEMUR_FAULT_DAMAGED;
  case SQLITE_IOERR:
    return DEMUR_FAULT_DISK;
  default:
    return DEMUR_FAULT_OTHER;
  }
}

static gboolean
execute(DemurConnection *connection, const char *sql) {
  return sqlite3_exec(database_of(connection), sql, NULL, NULL, NULL) == SQLITE_OK;
}

/* ---- opening ---- */

/* SQLite asks again and again while another program holds the lock: not 0 to go on waiting. */
static int
wait_for_another(void *data, int n_asked) {
  const Connection *connection = data;
  if (!connection->wait(DEMUR_WAIT_LOCK, (guint)n_asked, connection->wait_data))
    return 0;
  sqlite3_sleep(DEMUR_WAIT_STEP_MS);
  return 1;
}

/* On every connection, before anything else. */
static gboolean
configure(Connection *connection) {
  sqlite3 *database = connection->database;
  sqlite3_extended_result_codes(database, 1);
  sqlite3_busy_handler(database, wait_for_another, connection);
  return sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DML, 0, NULL) == SQLITE_OK &&
         sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DDL, 0, NULL) == SQLITE_OK &&
         sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL) == SQLITE_OK &&
         execute(&connection->base, "PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;"
                                    "PRAGMA cell_size_check = ON; PRAGMA synchronous = FULL;");
}

static gboolean
read_version(DemurConnection *connection, gint64 *version) {
  sqlite3_stmt *statement;
  if (sqlite3_prepare_v2(database_of(connection), "PRAGMA user_version", -1, &statement, NULL) !=
      SQLITE_OK)
    return FALSE;
  const gboolean ok = sqlite3_step(statement) == SQLITE_ROW;
  *version = ok ? sqlite3_column_int64(statement, 0) : 0;
  sqlite3_finalize(statement);
  return ok;
}

static void
close_connection(DemurConnection *connection) {
  Connection *c = (Connection *)connection;
  /* SQLite empties the log when nobody else has the file open; a window that listens always has. What is copied or
   * replaced as one file is then whole, too. Nobody is waited for, and a log that is left is read as ever. */
  if (c->database != NULL && sqlite3_db_readonly(c->database, "main") == 0) {
    sqlite3_busy_handler(c->database, NULL, NULL);
    (void)sqlite3_wal_checkpoint_v2(c->database, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
  }
  sqlite3_close_v2(c->database);
  demur_locked_files_remove(c->path);
  g_free(c->path);
  g_free(c);
}

/* What stands at path is looked at first, and an empty file made where it may be. What can only be read has
 * no log that it would share. */
static char *
find_file(const char *path, gboolean create, gboolean read_only, gboolean *is_empty,
          gboolean *is_uri, GError **error) {
  if (!demur_store_look(path, is_empty, error))
    return NULL;
  if (*is_empty && !create) {
    demur_error_set(error, DEMUR_ERROR_NOT_FOUND,
                    "there is no workspace %s; import something first, or name another one "
                    "(--workspace)",
                    path);
    return NULL;
  }
  if (!(read_only && demur_workspace_is_read_only(path)) && !demur_network_disk_check(path, error))
    return NULL;
  if (*is_empty ? !demur_store_make_file(path, error)
                : !read_only && !demur_store_check_writer(path, error))
    return NULL;
  return demur_store_database_name(path, read_only, is_uri, error);
}

static DemurConnection *
open_file(const char *path, gboolean create, gboolean read_only, DemurWaitFunc wait, gpointer data,
          GError **error) {
  gboolean is_empty = TRUE, is_uri = FALSE;
  g_autofree char *name = find_file(path, create, read_only, &is_empty, &is_uri, error);
  if (name == NULL)
    return NULL;
  Connection *connection = g_new0(Connection, 1);
  connection->base.driver = demur_driver_sqlite();
  connection->path = g_strdup(path);
  demur_locked_files_add(path);
  connection->wait = wait;
  connection->wait_data = data;
  const int mode =
      (read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | (is_uri ? SQLITE_OPEN_URI : 0);
  gint64 version = 0;
  gboolean ok = TRUE;
  if (sqlite3_open_v2(name, &connection->database, mode, NULL) != SQLITE_OK ||
      !configure(connection) || !read_version(&connection->base, &version))
    ok = demur_driver_fail(&connection->base, path, "opening", error);
  else if (version > demur_store_version)
    ok = demur_store_refuse_newer(path, version, error);
  /* First of all the name tag, while the new file is not yet write-ahead logged: its header tells
   * at any moment whose file it is. */
  g_autofree char *tag = g_strdup_printf("PRAGMA application_id = %d", DEMUR_STORE_APPLICATION_ID);
  if (ok && is_empty && !execute(&connection->base, tag))
    ok = demur_driver_fail(&connection->base, path, "creating it", error);
  if (ok && !read_only && !execute(&connection->base, "PRAGMA journal_mode = WAL"))
    ok = demur_driver_fail(&connection->base, path, "changing to write-ahead logging", error);
  if (ok)
    return &connection->base;
  close_connection(&connection->base);
  return NULL;
}

/* ---- the schema ---- */

static gboolean
upgrade(DemurConnection *connection, gint64 from) {
  for (gint64 v = from; v < demur_store_version; v++)
    if (!execute(connection, demur_store_migrations[v]) ||
        (demur_store_row_changes[v] != NULL && !execute(connection, demur_store_row_changes[v])))
      return FALSE;
  /* What the hashes were before is not left in pages that are free now. */
  return from >= DEMUR_STORE_FIRST_KEY || execute(connection, "PRAGMA secure_delete = ON");
}

static gboolean
set_version(DemurConnection *connection, gint64 version) {
  g_autofree char *sql = g_strdup_printf("PRAGMA user_version = %" G_GINT64_FORMAT, version);
  return execute(connection, sql);
}

/* ---- what others do ---- */

/* A number that is another once another connection has written (SQLite, PRAGMA data_version). */
static gboolean
read_data_version(sqlite3 *database, gint64 *version) {
  sqlite3_stmt *statement;
  if (sqlite3_prepare_v2(database, "PRAGMA data_version", -1, &statement, NULL) != SQLITE_OK)
    return FALSE;
  const gboolean ok = sqlite3_step(statement) == SQLITE_ROW;
  *version = ok ? sqlite3_column_int64(statement, 0) : 0;
  sqlite3_finalize(statement);
  return ok;
}

static gboolean
start_listening(DemurConnection *connection) {
  Connection *c = (Connection *)connection;
  const char *path = sqlite3_db_filename(c->database, "main");
  return read_data_version(c->database, &c->data_version) && path != NULL &&
         stat(path, &c->file) == 0;
}

/* Whether the file that is open lies at its path no more; of one that is read as if nobody could write it, where SQLite
 * looks for no change (find_file), whether it was written all the same, or has a log now. */
static gboolean
is_another_file(Connection *c) {
  const char *path = sqlite3_db_filename(c->database, "main");
  struct stat now, log;
  if (stat(path, &now) != 0 || now.st_dev != c->file.st_dev || now.st_ino != c->file.st_ino)
    return TRUE;
  return sqlite3_uri_boolean(path, "immutable", 0) &&
         (now.st_size != c->file.st_size || now.st_mtim.tv_sec != c->file.st_mtim.tv_sec ||
          now.st_mtim.tv_nsec != c->file.st_mtim.tv_nsec ||
          (stat(sqlite3_filename_wal(path), &log) == 0 && log.st_size > 0));
}

static gboolean
wait_change(DemurConnection *connection, guint timeout_ms, int wake, DemurNews *news) {
  Connection *c = (Connection *)connection;
  *news = (DemurNews){0};
  for (GPollFD line = {.fd = wake, .events = G_IO_IN};;) {
    news->is_another = is_another_file(c);
    if (news->is_another)
      return TRUE;
    gint64 now;
    if (!read_data_version(c->database, &now))
      return FALSE;
    news->written = now != c->data_version;
    c->data_version = now;
    if (news->written || timeout_ms == 0 || line.revents != 0)
      return TRUE;
    const guint pause = MIN(timeout_ms, DEMUR_CHANGES_LOOK_MS);
    (void)g_poll(&line, wake >= 0 ? 1 : 0, (int)pause);
    timeout_ms -= pause;
  }
}

static gboolean
take_as_is(DemurConnection *connection) {
  (void)connection; /* a file takes every row so */
  return TRUE;
}

static const char *
knows_nobody(DemurConnection *connection) {
  (void)connection;
  return NULL;
}

static char *
owned_text(sqlite3_stmt *statement, int at) {
  return g_strdup((const char *)sqlite3_column_text(statement, at));
}

static gboolean
read_schema(sqlite3 *database, GHashTable *entries) {
  sqlite3_stmt *statement = NULL;
  if (sqlite3_prepare_v2(database,
                         "SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_master"
                         " WHERE name NOT LIKE 'sqlite_stat%'",
                         -1, &statement, NULL) != SQLITE_OK)
    return FALSE;
  int code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW)
    g_hash_table_insert(entries, owned_text(statement, 0), owned_text(statement, 1));
  sqlite3_finalize(statement);
  return code == SQLITE_DONE;
}

/* The schema that this program makes, from an empty workspace. */
static gboolean
make_schema(GHashTable *entries) {
  sqlite3 *database = NULL;
  gboolean ok = sqlite3_open(":memory:", &database) == SQLITE_OK;
  for (int v = 0; ok && v < demur_store_version; v++)
    ok = sqlite3_exec(database, demur_store_migrations[v], NULL, NULL, NULL) == SQLITE_OK;
  ok = ok && read_schema(database, entries);
  sqlite3_close(database);
  return ok;
}

static gboolean
schema(DemurConnection *connection, GHashTable *here, GHashTable *right) {
  return make_schema(right) && read_schema(database_of(connection), here);
}

/* ---- transactions ---- */

static gboolean
begin(DemurConnection *connection, guint depth, DemurLock lock) {
  if (depth == 0)
    return execute(connection, lock == DEMUR_LOCK_WRITE ? "BEGIN IMMEDIATE" : "BEGIN");
  g_autofree char *sql = g_strdup_printf("SAVEPOINT s%u", depth);
  return execute(connection, sql);
}

static gboolean
commit(DemurConnection *connection, guint depth) {
  if (depth == 0)
    return execute(connection, "COMMIT");
  g_autofree char *sql = g_strdup_printf("RELEASE s%u", depth);
  return execute(connection, sql);
}

static void
rollback(DemurConnection *connection, guint depth) {
  g_autofree char *sql = depth == 0 ? g_strdup("ROLLBACK")
                                    : g_strdup_printf("ROLLBACK TO s%u; RELEASE s%u", depth, depth);
  /* An error that has rolled back by itself (full disk) leaves nothing to undo. */
  if (!sqlite3_get_autocommit(database_of(connection)))
    execute(connection, sql);
}

static void
end_read(DemurConnection *connection) {
  if (!sqlite3_get_autocommit(database_of(connection)))
    execute(connection, "COMMIT");
}

/* ---- statements ---- */

static DemurStatement *
prepare(DemurConnection *connection, const char *sql) {
  sqlite3_stmt *handle = NULL;
  if (sqlite3_prepare_v3(database_of(connection), sql, -1, SQLITE_PREPARE_PERSISTENT, &handle,
                         NULL) != SQLITE_OK)
    return NULL;
  Statement *statement = g_new0(Statement, 1);
  statement->base.driver = demur_driver_sqlite();
  statement->handle = handle;
  return &statement->base;
}

static void
finalize(DemurStatement *statement) {
  sqlite3_finalize(handle_of(statement));
  g_free(statement);
}

static void
reset(DemurStatement *statement) {
  sqlite3_reset(handle_of(statement));
}

static void
clear(DemurStatement *statement) {
  sqlite3_clear_bindings(handle_of(statement));
}

static int
n_parameters(const DemurStatement *statement) {
  return sqlite3_bind_parameter_count(handle_of(statement));
}

static void
bind_text(DemurStatement *statement, int at, const char *text) {
  if (text != NULL)
    sqlite3_bind_text(handle_of(statement), at, text, -1, SQLITE_STATIC);
  else
    sqlite3_bind_null(handle_of(statement), at);
}

static void
bind_double(DemurStatement *statement, int at, double value) {
  if (isnan(value))
    sqlite3_bind_null(handle_of(statement), at);
  else
    sqlite3_bind_double(handle_of(statement), at, value);
}

static void
bind_int(DemurStatement *statement, int at, gint64 value) {
  sqlite3_bind_int64(handle_of(statement), at, value);
}

static void
bind_blob(DemurStatement *statement, int at, gconstpointer bytes, gsize n_bytes) {
  if (n_bytes == 0)
    sqlite3_bind_zeroblob(handle_of(statement), at, 0);
  else
    sqlite3_bind_blob64(handle_of(statement), at, bytes, n_bytes, SQLITE_STATIC);
}

static DemurStep
step(DemurStatement *statement) {
  const int code = sqlite3_step(handle_of(statement));
  return code == SQLITE_ROW    ? DEMUR_STEP_ROW
         : code == SQLITE_DONE ? DEMUR_STEP_DONE
                               : DEMUR_STEP_FAILED;
}

/* There is no way to a server that waiting would save. */
static gboolean
run_later(DemurStatement *statement) {
  DemurStep at;
  while ((at = step(statement)) == DEMUR_STEP_ROW)
    ;
  reset(statement);
  return at == DEMUR_STEP_DONE;
}

static int
n_columns(const DemurStatement *statement) {
  return sqlite3_column_count(handle_of(statement));
}

static const char *
column_name(DemurStatement *statement, int at) {
  return sqlite3_column_name(handle_of(statement), at);
}

G_STATIC_ASSERT(DEMUR_COLUMN_INTEGER == SQLITE_INTEGER && DEMUR_COLUMN_FLOAT == SQLITE_FLOAT &&
                DEMUR_COLUMN_TEXT == SQLITE_TEXT && DEMUR_COLUMN_BLOB == SQLITE_BLOB &&
                DEMUR_COLUMN_NULL == SQLITE_NULL);

static DemurColumnType
column_type(DemurStatement *statement, int at) {
  return (DemurColumnType)sqlite3_column_type(handle_of(statement), at);
}

static gint64
column_int(DemurStatement *statement, int at) {
  return sqlite3_column_int64(handle_of(statement), at);
}

static double
column_double(DemurStatement *statement, int at) {
  return sqlite3_column_double(handle_of(statement), at);
}

static const char *
column_text(DemurStatement *statement, int at) {
  return (const char *)sqlite3_column_text(handle_of(statement), at);
}

static gconstpointer
column_bytes(DemurStatement *statement, int at, gsize *n_bytes) {
  sqlite3_stmt *handle = handle_of(statement);
  gconstpointer bytes = sqlite3_column_type(handle, at) == SQLITE_INTEGER
                            ? (gconstpointer)sqlite3_column_text(handle, at)
                            : sqlite3_column_blob(handle, at);
  *n_bytes = (gsize)sqlite3_column_bytes(handle, at);
  return bytes;
}

static gint64
n_changed(DemurConnection *connection) {
  return sqlite3_changes(database_of(connection));
}

/* ---- the whole ---- */

/* A column of the row would be copied twice. */
static gboolean
read_chunk(DemurConnection *connection, gint64 row, void *bytes, gsize n_bytes) {
  sqlite3_blob *blob = NULL;
  const gboolean ok = n_bytes <= G_MAXINT &&
                      sqlite3_blob_open(database_of(connection), "main", "cohort_column", "data",
                                        row, 0, &blob) == SQLITE_OK &&
                      sqlite3_blob_read(blob, bytes, (int)n_bytes, 0) == SQLITE_OK;
  sqlite3_blob_close(blob);
  return ok;
}

static void
keep_pages(sqlite3 *database, int n) { /* n < 0: so many KiB of them */
  g_autofree char *sql = g_strdup_printf("PRAGMA cache_size = %d", n);
  (void)sqlite3_exec(database, sql, NULL, NULL, NULL); /* nothing depends on it */
}

/* Pages that are read once are not worth keeping: a few of them are read into again and again, in place of 2 MB of memory that is new to
 * the process. What was set before; 0: nothing was changed, so that nothing is to be set again. */
#define FEW_PAGES 32
static int
keep_few_pages(sqlite3 *database) {
  sqlite3_stmt *statement = NULL;
  int before = 0;
  if (sqlite3_txn_state(database, "main") != SQLITE_TXN_WRITE && /* it would be written early */
      sqlite3_prepare_v2(database, "PRAGMA cache_size", -1, &statement, NULL) == SQLITE_OK &&
      sqlite3_step(statement) == SQLITE_ROW)
    before = sqlite3_column_int(statement, 0);
  sqlite3_finalize(statement);
  if (before != 0)
    keep_pages(database, FEW_PAGES);
  return before;
}

/* Likewise. Nor are the pages looked for that lie between the columns before it and those behind. */
static char *
read_document(DemurConnection *connection, gint64 row, gsize *length) {
  sqlite3 *database = database_of(connection);
  const int n_pages = keep_few_pages(database);
  sqlite3_blob *blob = NULL;
  char *text = NULL;
  if (sqlite3_blob_open(database, "main", "selector", "document", row, 0, &blob) == SQLITE_OK) {
    const int n = sqlite3_blob_bytes(blob);
    text = demur_memory_unset((gsize)n + 1, 1, 1, NULL);
    if (text != NULL && sqlite3_blob_read(blob, text, n, 0) != SQLITE_OK)
      g_clear_pointer(&text, g_aligned_free);
    if (text != NULL)
      text[n] = '\0';
    *length = (gsize)n;
  }
  sqlite3_blob_close(blob);
  if (n_pages != 0)
    keep_pages(database, n_pages);
  return text;
}

/* Page by page, as one transaction of the one written to. */
static gboolean
replace(DemurConnection *to, DemurConnection *from) {
  sqlite3_backup *backup = sqlite3_backup_init(database_of(to), "main", database_of(from), "main");
  if (backup == NULL)
    return FALSE;
  const int code = sqlite3_backup_step(backup, -1);
  return sqlite3_backup_finish(backup) == SQLITE_OK && code == SQLITE_DONE;
}

static const DemurDriver driver = {
    .open = open_file,
    .close = close_connection,
    .fault = fault,
    .version = read_version,
    .upgrade = upgrade,
    .set_version = set_version,
    .run_script = execute,
    .listen = start_listening,
    .wait_change = wait_change,
    .take_as_is = take_as_is,
    .user = knows_nobody,
    .database = knows_nobody,
    .schema = schema,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .end_read = end_read,
    .prepare = prepare,
    .finalize = finalize,
    .reset = reset,
    .clear = clear,
    .n_parameters = n_parameters,
    .bind_text = bind_text,
    .bind_double = bind_double,
    .bind_int = bind_int,
    .bind_blob = bind_blob,
    .step = step,
    .run_later = run_later,
    .n_columns = n_columns,
    .column_name = column_name,
    .column_type = column_type,
    .column_int = column_int,
    .column_double = column_double,
    .column_text = column_text,
    .column_bytes = column_bytes,
    .n_changed = n_changed,
    .read_chunk = read_chunk,
    .read_document = read_document,
    .replace = replace,
    .dialect =
        {
            [DEMUR_DIALECT_INTEGRITY] = "PRAGMA integrity_check",
            [DEMUR_DIALECT_FOREIGN_KEYS] = "PRAGMA foreign_key_check",
            [DEMUR_DIALECT_OUTCOME] =
                "SELECT json_extract(document, '$.outcome') FROM selector WHERE name = ?",
            [DEMUR_DIALECT_LAST_NUMBER] = "SELECT seq FROM sqlite_sequence WHERE name = ?1",
            /* Of a table that keeps it; the others go on behind their last row. */
            [DEMUR_DIALECT_SET_LAST_NUMBER] =
                "REPLACE INTO sqlite_sequence (rowid, name, seq)"
                " SELECT (SELECT rowid FROM sqlite_sequence WHERE name = ?1), name, ?3"
                " FROM sqlite_master WHERE name = ?1 AND sql LIKE '%AUTOINCREMENT%'",
        },
};

const DemurDriver *
demur_driver_sqlite(void) {
  return &driver;
}
