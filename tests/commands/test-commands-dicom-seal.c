/* One bit changed in any column of any row, or any row taken away: `verify` says so. The tables and
 * columns come from the schema of the workspace itself, so that one that is added later is tried
 * without a word here; a table that nothing rests on has to be named below, with why. */
#include <sqlite3.h>

#include "life-fixture.h"

/* What nothing rests on. */
static const char *const free_tables[] = {
    "checkpoint",      /* a training that was interrupted: read with a digest of its own */
    "sqlite_sequence", /* SQLite's own */
};

static gboolean
is_free(const char *table) {
  for (guint i = 0; i < G_N_ELEMENTS(free_tables); i++)
    if (strcmp(table, free_tables[i]) == 0)
      return TRUE;
  return FALSE;
}

static void
run_sql(sqlite3 *database, const char *sql) {
  char *message = NULL;
  if (sqlite3_exec(database, sql, NULL, NULL, &message) != SQLITE_OK)
    g_error("%s: %s", sql, message);
}

static sqlite3 *
open_database(const char *path) {
  sqlite3 *database = NULL;
  g_assert_cmpint(sqlite3_open(path, &database), ==, SQLITE_OK);
  return database;
}

/* The texts of a query's first column. */
static char **
texts_of(sqlite3 *database, const char *sql) {
  g_autoptr(GStrvBuilder) texts = g_strv_builder_new();
  sqlite3_stmt *statement = NULL;
  g_assert_cmpint(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), ==, SQLITE_OK);
  while (sqlite3_step(statement) == SQLITE_ROW)
    g_strv_builder_add(texts, (const char *)sqlite3_column_text(statement, 0));
  sqlite3_finalize(statement);
  return g_strv_builder_end(texts);
}

/* Every kind of row: what a site has after a while. */
static Sandbox *
with_everything(void) {
  Sandbox *sandbox = with_selector();
  g_autofree char *attach = sandbox_write(sandbox, "attach.csv", "site,maker\ns0,A\ns1,B\n", -1);
  g_autoptr(Run) attached =
      run_demur(sandbox, "cohort", "attach", "sim", attach, "--key", "site", NULL);
  assert_status(attached, 0);
  write_slices(sandbox, "a", 0, N, "P1", "One^Person", 0);
  import(sandbox, "a");
  g_autoptr(Run) chosen = run_demur(sandbox, "dicom", "choose", UID, "--reason", "seen", NULL);
  assert_status(chosen, 0);
  score(sandbox, UID, "0.05", NULL);
  assess(sandbox);
  g_autoptr(Run) verify = run_demur(sandbox, "verify", NULL);
  assert_status(verify, 0);
  return sandbox;
}

/* Whether verify finds what sql did to a copy; sql that the schema itself refuses is no change. */
static gboolean
is_named(const Sandbox *sandbox, const char *sql, gboolean *refused) {
  g_autofree char *copy = sandbox_path(sandbox, "copy.demur");
  g_unlink(copy);
  sqlite3 *database = open_database(sandbox->workspace);
  g_autofree char *into = g_strdup_printf("VACUUM INTO '%s'", copy);
  run_sql(database, into);
  sqlite3_close(database);
  database = open_database(copy);
  g_auto(GStrv) triggers =
      texts_of(database, "SELECT sql FROM sqlite_master WHERE type = 'trigger'");
  run_sql(database, "DROP TRIGGER event_not_changed; DROP TRIGGER event_not_removed;");
  run_sql(database, "PRAGMA ignore_check_constraints = ON;");
  *refused = sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK;
  const gboolean changed = sqlite3_total_changes(database) > 0;
  for (char **trigger = triggers; *trigger != NULL; trigger++)
    run_sql(database, *trigger);
  sqlite3_close(database);
  *refused |= !changed;
  if (*refused)
    return TRUE;
  g_autoptr(Run) run = run_demur(NULL, "--workspace", copy, "verify", NULL);
  return run->status == 1;
}

static void
test_every_column_and_row(void) {
  g_autoptr(Sandbox) sandbox = with_everything();
  sqlite3 *database = open_database(sandbox->workspace);
  g_auto(GStrv) tables =
      texts_of(database, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
  guint n = 0, n_tried = 0;
  for (char **table = tables; *table != NULL; table++) {
    if (is_free(*table))
      continue;
    g_autofree char *query = g_strdup_printf("SELECT name FROM pragma_table_info('%s')", *table);
    g_auto(GStrv) columns = texts_of(database, query);
    g_autoptr(GPtrArray) changes = g_ptr_array_new_with_free_func(g_free);
    /* The last bit of a number or of the last byte. */
    for (char **column = columns; *column != NULL; column++)
      g_ptr_array_add(
          changes, g_strdup_printf(
                       "UPDATE %1$s SET %2$s = CASE typeof(%2$s) WHEN 'integer' THEN %2$s + 1"
                       " WHEN 'real' THEN %2$s * 1.0000000000001 + 1e-300 WHEN 'text' THEN"
                       " substr(%2$s, 1, length(%2$s) - 1) || char(unicode(substr(%2$s, -1)) + 1)"
                       " ELSE CAST(substr(%2$s, 1, length(%2$s) - 1) || x'01' AS BLOB) END"
                       " WHERE %2$s IS NOT NULL AND %2$s <> '' AND length(%2$s) > 0",
                       *table, *column));
    g_ptr_array_add(changes, g_strdup_printf("DELETE FROM %s", *table));
    for (guint i = 0; i < changes->len; i++) {
      n++;
      /* Each is a run of the program: a third of them, in turn, is enough for one run. */
      if (!g_test_thorough() && n % 3 != 0 && i + 1 < changes->len)
        continue;
      gboolean refused;
      if (!is_named(sandbox, changes->pdata[i], &refused)) {
        g_test_message("not named: %s", (const char *)changes->pdata[i]);
        g_test_fail();
      }
      n_tried += refused ? 0 : 1;
    }
  }
  sqlite3_close(database);
  g_test_message("%u of %u changes tried", n_tried, n);
  g_assert_cmpuint(n_tried, >=, 30);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_autoptr(GError) error = NULL;
  if (!demur_dicom_init(&error))
    g_error("%s", error->message);
  g_test_add_func("/commands/dicom-seal/every-column-and-row", test_every_column_and_row);
  return g_test_run();
}
