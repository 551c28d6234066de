#include "support/store.h"

#include <string.h>

#include <glib/gstdio.h>
#include <libpq-fe.h>
#include <sqlite3.h>

static const char *
server(void) {
  return g_getenv("DEMUR_TEST_STORE");
}

gboolean
demur_test_store_is_server(void) {
  return server() != NULL;
}

/* A file is one, where others are a server's, too. */
static gboolean
is_of_server(const char *path) {
  return strstr(path, "://") != NULL;
}

/* The address of another database of the same server: DEMUR_TEST_STORE is ...//HOST/DATABASE?OPTIONS. */
static char *
address_of(const char *database) {
  const char *host = strstr(server(), "//");
  g_assert_nonnull(host);
  const char *slash = strchr(host + 2, '/');
  g_assert_nonnull(slash);
  const char *options = strchr(slash, '?');
  return g_strdup_printf("%.*s%s%s", (int)(slash + 1 - server()), server(), database,
                         options != NULL ? options : "");
}

static PGresult *
ask(const char *address, const char *sql) {
  PGconn *connection = PQconnectdb(address);
  PGresult *result = NULL;
  if (PQstatus(connection) == CONNECTION_OK) {
    PQclear(PQexec(connection, "SET client_min_messages = error; SET search_path = demur"));
    result = PQexec(connection, sql);
  }
  const ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
    g_error("%s: %s: %s", address, sql, PQerrorMessage(connection));
  PQfinish(connection);
  return result;
}

char *
demur_test_store_refusal(const char *path, const char *sql) {
  PGconn *connection = PQconnectdb(path);
  if (PQstatus(connection) != CONNECTION_OK)
    g_error("%s: %s", path, PQerrorMessage(connection));
  PQclear(PQexec(connection, "SET client_min_messages = error; SET search_path = demur"));
  PGresult *result = PQexec(connection, sql);
  char *state = g_strdup(PQresultErrorField(result, PG_DIAG_SQLSTATE));
  PQclear(result);
  PQfinish(connection);
  return state;
}

char *
demur_test_store_path(const char *folder, const char *name) {
  g_autofree char *file = g_build_filename(folder, name, NULL);
  if (!demur_test_store_is_server())
    return g_steal_pointer(&file);
  g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_MD5, file, -1);
  g_autofree char *database = g_strconcat("t", sum, NULL);
  g_autofree char *sql = g_strdup_printf("CREATE DATABASE %s TEMPLATE template0", database);
  PQclear(ask(server(), sql));
  return address_of(database);
}

/* The database that an address of address_of names (owned). */
static char *
database_of(const char *path) {
  const char *slash = strchr(strstr(path, "//") + 2, '/');
  return g_strndup(slash + 1, strcspn(slash + 1, "?"));
}

void
demur_test_store_drop(const char *path) {
  if (!is_of_server(path))
    return;
  g_autofree char *database = database_of(path);
  g_autofree char *sql = g_strdup_printf("DROP DATABASE IF EXISTS %s WITH (FORCE)", database);
  PQclear(ask(server(), sql));
}

void
demur_test_store_copy(const char *from, const char *to) {
  if (is_of_server(from)) {
    demur_test_store_drop(to);
    g_autofree char *template = database_of(from), *database = database_of(to);
    g_autofree char *sql = g_strdup_printf("CREATE DATABASE %s TEMPLATE %s", database, template);
    PQclear(ask(server(), sql));
    return;
  }
  g_autoptr(GError) error = NULL;
  g_autofree char *bytes = NULL;
  gsize length;
  g_file_get_contents(from, &bytes, &length, &error);
  g_assert_no_error(error);
  g_file_set_contents(to, bytes, (gssize)length, &error);
  g_assert_no_error(error);
}

void
demur_test_store_remove(const char *path) {
  if (is_of_server(path)) {
    PQclear(ask(path, "DROP SCHEMA IF EXISTS demur CASCADE"));
    return;
  }
  static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
  for (size_t i = 0; i < G_N_ELEMENTS(endings); i++) {
    g_autofree char *file = g_strconcat(path, endings[i], NULL);
    g_unlink(file);
  }
}

/* The first column of a file's first row, as a number and a text (owned). */
static gint64
ask_file(const char *path, const char *sql, char **text) {
  sqlite3 *database;
  sqlite3_stmt *statement;
  g_assert_cmpint(sqlite3_open(path, &database), ==, SQLITE_OK);
  g_assert_cmpint(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), ==, SQLITE_OK);
  g_assert_cmpint(sqlite3_step(statement), ==, SQLITE_ROW);
  *text = g_strdup((const char *)sqlite3_column_text(statement, 0));
  const gint64 value = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return value;
}

char *
demur_test_store_text(const char *path, const char *sql) {
  char *text = NULL;
  if (!is_of_server(path)) {
    ask_file(path, sql, &text);
    return text;
  }
  PGresult *result = ask(path, sql);
  g_assert_cmpint(PQntuples(result), >, 0);
  text = PQgetisnull(result, 0, 0) ? NULL : g_strdup(PQgetvalue(result, 0, 0));
  PQclear(result);
  return text;
}

gint64
demur_test_store_number(const char *path, const char *sql) {
  g_autofree char *text = NULL;
  if (!is_of_server(path))
    return ask_file(path, sql, &text);
  text = demur_test_store_text(path, sql);
  return text != NULL ? g_ascii_strtoll(text, NULL, 10) : 0;
}

gint64
demur_test_store_run(const char *path, const char *sql) {
  if (is_of_server(path)) {
    PGresult *result = ask(path, sql);
    const gint64 n = g_ascii_strtoll(PQcmdTuples(result), NULL, 10);
    PQclear(result);
    return n;
  }
  sqlite3 *database;
  char *message = NULL;
  g_assert_cmpint(sqlite3_open(path, &database), ==, SQLITE_OK);
  if (sqlite3_exec(database, sql, NULL, NULL, &message) != SQLITE_OK)
    g_error("%s: %s: %s", path, sql, message);
  const gint64 n = sqlite3_changes(database);
  sqlite3_close(database);
  return n;
}

gboolean
demur_test_store_exists(const char *path) {
  if (!is_of_server(path))
    return g_file_test(path, G_FILE_TEST_EXISTS);
  return demur_test_store_number(
             path, "SELECT count(*) FROM pg_catalog.pg_namespace WHERE nspname = 'demur'") > 0;
}

const char *
demur_test_store_position(void) {
  return demur_test_store_is_server() ? "strpos" : "instr";
}

static void
change_byte_of_file(const char *path, const char *table, const char *column, const char *where) {
  sqlite3 *database = NULL;
  g_autofree char *sql = g_strdup_printf("SELECT rowid FROM %s WHERE %s", table, where);
  g_autofree char *row = NULL;
  const gint64 id = ask_file(path, sql, &row);
  g_assert_cmpint(sqlite3_open(path, &database), ==, SQLITE_OK);
  sqlite3_blob *blob = NULL;
  g_assert_cmpint(sqlite3_blob_open(database, "main", table, column, id, 1, &blob), ==, SQLITE_OK);
  guint8 byte;
  const int at = sqlite3_blob_bytes(blob) / 2;
  g_assert_cmpint(sqlite3_blob_read(blob, &byte, 1, at), ==, SQLITE_OK);
  byte ^= 1;
  g_assert_cmpint(sqlite3_blob_write(blob, &byte, 1, at), ==, SQLITE_OK);
  sqlite3_blob_close(blob);
  sqlite3_close(database);
}

void
demur_test_store_change_byte(const char *path, const char *table, const char *column,
                             const char *where) {
  if (!is_of_server(path)) {
    change_byte_of_file(path, table, column, where);
    return;
  }
  g_autofree char *sql = g_strdup_printf(
      "UPDATE %1$s SET %2$s = set_byte(%2$s, length(%2$s) / 2, get_byte(%2$s, length(%2$s) / 2) # 1)"
      " WHERE ctid = (SELECT ctid FROM %1$s WHERE %3$s LIMIT 1)",
      table, column, where);
  g_assert_cmpint(demur_test_store_run(path, sql), ==, 1);
}
