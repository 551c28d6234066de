/* The table of columns against what the migrations make of an empty file: right values are SQLite's own
 * (pragma_table_xinfo, pragma_foreign_key_list), read past the program. */
#include <string.h>

#include <glib/gstdio.h>
#include <sqlite3.h>

#include "store/schema-tables.h"
#include "store/schema.h"

static sqlite3 *
migrated(void) {
  sqlite3 *database;
  g_assert_cmpint(sqlite3_open(":memory:", &database), ==, SQLITE_OK);
  for (int v = 0; v < demur_store_version; v++)
    g_assert_cmpint(sqlite3_exec(database, demur_store_migrations[v], NULL, NULL, NULL), ==,
                    SQLITE_OK);
  return database;
}

static sqlite3_stmt *
ask(sqlite3 *database, const char *sql, const char *table) {
  sqlite3_stmt *statement;
  g_assert_cmpint(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), ==, SQLITE_OK);
  if (table != NULL)
    g_assert_cmpint(sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC), ==, SQLITE_OK);
  return statement;
}

static const char *
text(sqlite3_stmt *statement, int at) {
  return (const char *)sqlite3_column_text(statement, at);
}

static const char *const types[] = {
    [DEMUR_SCHEMA_INTEGER] = "INTEGER", [DEMUR_SCHEMA_NUMBERED] = "INTEGER",
    [DEMUR_SCHEMA_FLOAT] = "REAL",      [DEMUR_SCHEMA_TEXT] = "TEXT",
    [DEMUR_SCHEMA_BLOB] = "BLOB",
};

static void
test_every_column(void) {
  sqlite3 *database = migrated();
  sqlite3_stmt *count = ask(database,
                            "SELECT count(*) FROM sqlite_master WHERE type = 'table'"
                            " AND name NOT LIKE 'sqlite_%'",
                            NULL);
  g_assert_cmpint(sqlite3_step(count), ==, SQLITE_ROW);
  g_assert_cmpint(sqlite3_column_int(count, 0), ==, (int)demur_n_schema_tables);
  sqlite3_finalize(count);
  for (size_t t = 0; t < demur_n_schema_tables; t++) {
    const DemurSchemaTable *table = &demur_schema_tables[t];
    sqlite3_stmt *columns =
        ask(database,
            "SELECT name, type, \"notnull\", dflt_value, pk FROM pragma_table_xinfo(?)"
            " ORDER BY cid",
            table->name);
    for (size_t c = 0; c < table->n_columns; c++) {
      const DemurSchemaColumn *column = &table->columns[c];
      g_test_message("%s.%s", table->name, column->name);
      g_assert_cmpint(sqlite3_step(columns), ==, SQLITE_ROW);
      g_assert_cmpstr(text(columns, 0), ==, column->name);
      g_assert_cmpstr(text(columns, 1), ==, types[column->type]);
      const gboolean is_key = sqlite3_column_int(columns, 4) > 0;
      g_assert_cmpint(is_key, ==, c < demur_schema_n_keys(table));
      if (!is_key)
        g_assert_cmpint(sqlite3_column_int(columns, 2), ==, column->is_required);
      g_assert_cmpint(text(columns, 3) != NULL, ==, strstr(column->rules, "DEFAULT") != NULL);
      if (column->type == DEMUR_SCHEMA_NUMBERED)
        g_assert_true(is_key);
    }
    g_assert_cmpint(sqlite3_step(columns), ==, SQLITE_DONE);
    sqlite3_finalize(columns);
    gboolean has_user = FALSE;
    for (size_t c = 0; c < table->n_columns; c++)
      has_user |= strcmp(table->columns[c].name, "user") == 0;
    g_assert_cmpint(table->names_user, ==, has_user && strcmp(table->name, "event") != 0);
  }
  sqlite3_close(database);
}

/* How many of a kind a query finds of a table. */
static guint
count_of(sqlite3 *database, const char *sql, const char *table) {
  sqlite3_stmt *statement = ask(database, sql, table);
  g_assert_cmpint(sqlite3_step(statement), ==, SQLITE_ROW);
  const guint n = (guint)sqlite3_column_int(statement, 0);
  sqlite3_finalize(statement);
  return n;
}

static guint
times(const char *where, const char *what) {
  guint n = 0;
  for (const char *at = where; (at = strstr(at, what)) != NULL; at += strlen(what))
    n++;
  return n;
}

static guint
times_in_table(const DemurSchemaTable *table, const char *what) {
  guint n = times(table->rules, what);
  for (size_t c = 0; c < table->n_columns; c++)
    n += times(table->columns[c].rules, what);
  return n;
}

/* References, checks, unique keys and indices are as many; their words are compared by eye. */
static void
test_every_rule(void) {
  sqlite3 *database = migrated();
  for (size_t t = 0; t < demur_n_schema_tables; t++) {
    const DemurSchemaTable *table = &demur_schema_tables[t];
    guint n_indices = 0;
    while (n_indices < DEMUR_SCHEMA_MOST_INDICES && table->indices[n_indices] != NULL)
      n_indices++;
    g_test_message("%s", table->name);
    g_assert_cmpuint(
        times_in_table(table, "REFERENCES"), ==,
        count_of(database, "SELECT count(*) FROM pragma_foreign_key_list(?)", table->name));
    g_assert_cmpuint(times_in_table(table, "UNIQUE"), ==,
                     count_of(database,
                              "SELECT count(*) FROM pragma_index_list(?) WHERE origin = 'u'",
                              table->name));
    g_assert_cmpuint(n_indices + table->n_of_files, ==,
                     count_of(database,
                              "SELECT count(*) FROM pragma_index_list(?) WHERE origin = 'c'",
                              table->name));
    sqlite3_stmt *sql = ask(database, "SELECT sql FROM sqlite_master WHERE name = ?", table->name);
    g_assert_cmpint(sqlite3_step(sql), ==, SQLITE_ROW);
    g_assert_cmpuint(times_in_table(table, "CHECK ("), ==, times(text(sql, 0), "CHECK ("));
    sqlite3_finalize(sql);
  }
  sqlite3_close(database);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/store/schema/every-column", test_every_column);
  g_test_add_func("/store/schema/every-rule", test_every_rule);
  return g_test_run();
}
