/* Tables in the order of their references (store/schema-tables.h), each in pages by its key:
 *   digest = SHA-256 of, for each table, its name and, for each row in order of its key, type and bytes of
 *   each column
 * once of what is read, once of what then stands in the copy. Cost: the rows are read twice, written once. */
#include "store/copy.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/file-output.h"
#include "base/private-folder.h"
#include "store/connection.h"
#include "store/network-disk.h"
#include "store/opening.h"
#include "store/schema-tables.h"

#define PAGE_BYTES ((gsize)1 << 20) /* as many rows a page as have about that many */
#define MOST_KEYS 2

typedef struct {
  DemurColumnType type;
  gint64 number;
  char *text; /* owned */
} Value;

/* One way through all tables. */
typedef struct {
  DemurWorkspace *from;
  DemurWorkspace *to; /* where each row is written; NULL: nowhere */
  DemurSha256 sha;
  gint64 n_rows, n_all; /* done, of */
  const char *stage;
  const DemurProgress *progress;
  Value last[MOST_KEYS]; /* the key of the last row of the table */
  gsize n_bytes;         /* of the page */
} Walk;

static void
clear_key(Walk *walk) {
  for (size_t k = 0; k < MOST_KEYS; k++)
    g_clear_pointer(&walk->last[k].text, g_free);
}

static void
append_columns(GString *sql, const DemurSchemaTable *table, size_t n) {
  for (size_t c = 0; c < n; c++)
    g_string_append_printf(sql, "%s\"%s\"", c > 0 ? ", " : "", table->columns[c].name);
}

static void
append_places(GString *sql, size_t n) {
  for (size_t c = 0; c < n; c++)
    g_string_append(sql, c > 0 ? ", ?" : "?");
}

/* The rows behind a key, or the first ones; constant texts, as the store wants them. */
static const char *
page_sql(const DemurSchemaTable *table, gboolean is_first) {
  const size_t n_keys = demur_schema_n_keys(table);
  g_autoptr(GString) sql = g_string_new("SELECT ");
  append_columns(sql, table, table->n_columns);
  g_string_append_printf(sql, " FROM %s", table->name);
  if (!is_first) {
    g_string_append(sql, " WHERE (");
    append_columns(sql, table, n_keys);
    g_string_append(sql, ") > (");
    append_places(sql, n_keys);
    g_string_append_c(sql, ')');
  }
  g_string_append(sql, " ORDER BY ");
  append_columns(sql, table, n_keys);
  g_string_append(sql, " LIMIT ?");
  return g_intern_string(sql->str);
}

static const char *
insert_sql(const DemurSchemaTable *table) {
  g_autoptr(GString) sql = g_string_new(NULL);
  g_string_append_printf(sql, "INSERT INTO %s (", table->name);
  append_columns(sql, table, table->n_columns);
  g_string_append(sql, ") VALUES (");
  append_places(sql, table->n_columns);
  g_string_append_c(sql, ')');
  return g_intern_string(sql->str);
}

static gint64
count_rows(DemurWorkspace *workspace, const DemurSchemaTable *table, GError **error) {
  g_autofree char *sql = g_strconcat("SELECT count(*) FROM ", table->name, NULL);
  return demur_store_count(workspace, g_intern_string(sql), NULL, NULL, error);
}

static void
digest_row(Walk *walk, DemurStatement *row) {
  for (int c = 0; c < demur_store_n_columns(row); c++) {
    const DemurColumnType type = demur_store_type(row, c);
    const guint8 tag = (guint8)type;
    demur_sha256_update(&walk->sha, &tag, 1);
    if (type == DEMUR_COLUMN_NULL)
      continue;
    const double number = type == DEMUR_COLUMN_FLOAT ? demur_store_number(row, c) : 0.0;
    gsize n_bytes = sizeof number;
    gconstpointer bytes =
        type == DEMUR_COLUMN_FLOAT ? &number : demur_store_bytes(row, c, &n_bytes);
    demur_sha256_add_bytes(&walk->sha, bytes, n_bytes);
    walk->n_bytes += n_bytes;
  }
}

static gboolean
check_text(const Walk *walk, const DemurSchemaTable *table, int column, const char *text,
           GError **error) {
  if (!demur_workspace_is_server(walk->to->path) || g_utf8_validate(text, -1, NULL))
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_UNSUPPORTED,
                  "workspace %s can't be copied to a server: a text of %s.%s is no UTF-8 (the name "
                  "of a file, most likely); rename the file and import it again",
                  walk->from->path, table->name, table->columns[column].name);
  return FALSE;
}

static gboolean
write_row(Walk *walk, const DemurSchemaTable *table, const char *sql, DemurStatement *row,
          GError **error) {
  DemurStatement *statement = demur_store_statement(walk->to, sql, error);
  if (statement == NULL)
    return FALSE;
  for (int c = 0; c < (int)table->n_columns; c++) {
    gsize n_bytes = 0;
    switch (demur_store_type(row, c)) {
    case DEMUR_COLUMN_INTEGER:
      demur_store_bind_int(statement, c + 1, demur_store_int(row, c));
      break;
    case DEMUR_COLUMN_FLOAT:
      demur_store_bind_double(statement, c + 1, demur_store_number(row, c));
      break;
    case DEMUR_COLUMN_TEXT:
      if (!check_text(walk, table, c, demur_store_peek(row, c), error))
        return FALSE;
      demur_store_bind_text(statement, c + 1, demur_store_peek(row, c));
      break;
    case DEMUR_COLUMN_BLOB: {
      gconstpointer bytes = demur_store_bytes(row, c, &n_bytes);
      demur_store_bind_blob(statement, c + 1, bytes, n_bytes);
      break;
    }
    case DEMUR_COLUMN_NULL:
      break;
    }
  }
  return demur_store_run_later(walk->to, statement, "copying", error);
}

static void
keep_key(Walk *walk, DemurStatement *row, size_t n_keys) {
  clear_key(walk);
  for (size_t k = 0; k < n_keys; k++) {
    Value *value = &walk->last[k];
    value->type = demur_store_type(row, (int)k);
    value->number = demur_store_int(row, (int)k);
    value->text = value->type == DEMUR_COLUMN_TEXT ? demur_store_text(row, (int)k) : NULL;
  }
}

/* At most n_rows of them; *n: how many there were. */
static gboolean
walk_page(Walk *walk, const DemurSchemaTable *table, gboolean is_first, gint64 n_rows, gint64 *n,
          GError **error) {
  const size_t n_keys = demur_schema_n_keys(table);
  DemurStatement *page = demur_store_statement(walk->from, page_sql(table, is_first), error);
  if (page == NULL)
    return FALSE;
  int at = 1;
  for (size_t k = 0; k < n_keys && !is_first; k++, at++) {
    if (walk->last[k].type == DEMUR_COLUMN_TEXT)
      demur_store_bind_text(page, at, walk->last[k].text);
    else
      demur_store_bind_int(page, at, walk->last[k].number);
  }
  demur_store_bind_int(page, at, n_rows);
  const char *insert = walk->to != NULL ? insert_sql(table) : NULL;
  /* What is bound stands there until the last row was read. */
  Value before[MOST_KEYS];
  memcpy(before, walk->last, sizeof before);
  memset(walk->last, 0, sizeof walk->last);
  gboolean row, ok;
  *n = 0;
  walk->n_bytes = 0;
  while ((ok = demur_store_step(walk->from, page, &row, "copying", error)) && row) {
    digest_row(walk, page);
    if (walk->to != NULL && !write_row(walk, table, insert, page, error)) {
      demur_store_reset(page);
      ok = FALSE;
      break;
    }
    keep_key(walk, page, n_keys);
    ++*n;
  }
  if (*n == 0)
    memcpy(walk->last, before, sizeof before);
  for (size_t k = 0; k<MOST_KEYS && * n> 0; k++)
    g_free(before[k].text);
  walk->n_rows += *n;
  return ok;
}

/* What the next row of a numbered table is called stays: a number that was taken out is not given again. */
static gboolean
copy_last_number(Walk *walk, const DemurSchemaTable *table, GError **error) {
  const DemurSchemaColumn *key = &table->columns[0];
  DemurStatement *read = demur_store_dialect(walk->from, DEMUR_DIALECT_LAST_NUMBER, error);
  if (read == NULL)
    return FALSE;
  demur_store_bind_text(read, 1, table->name);
  demur_store_bind_text(read, 2, key->name);
  gboolean row;
  if (!demur_store_step(walk->from, read, &row, "copying", error))
    return FALSE;
  const gint64 told = row ? demur_store_int(read, 0) : 0;
  const gint64 last = MAX(told, walk->last[0].number);
  demur_store_reset(read);
  if (last <= 0)
    return TRUE;
  DemurStatement *set = demur_store_dialect(walk->to, DEMUR_DIALECT_SET_LAST_NUMBER, error);
  if (set == NULL)
    return FALSE;
  demur_store_bind_text(set, 1, table->name);
  demur_store_bind_text(set, 2, key->name);
  demur_store_bind_int(set, 3, last);
  return demur_store_run(walk->to, set, "copying", error);
}

static gboolean
walk_table(Walk *walk, const DemurSchemaTable *table, GError **error) {
  demur_sha256_add_text(&walk->sha, table->name);
  clear_key(walk);
  memset(walk->last, 0, sizeof walk->last);
  gint64 n_wanted = 1, n = 0;
  gboolean is_first = TRUE;
  do {
    if (!demur_progress_step(walk->progress, (double)walk->n_rows / (double)MAX(walk->n_all, 1),
                             walk->stage, error) ||
        !walk_page(walk, table, is_first, n_wanted, &n, error))
      return FALSE;
    is_first = FALSE;
    if (n < n_wanted)
      break;
    n_wanted = walk->n_bytes < PAGE_BYTES / 2 ? 2 * n_wanted
               : walk->n_bytes > PAGE_BYTES   ? MAX(n_wanted / 2, 1)
                                              : n_wanted;
  } while (TRUE);
  return walk->to == NULL || table->columns[0].type != DEMUR_SCHEMA_NUMBERED ||
         copy_last_number(walk, table, error);
}

/* All rows of from, into to where it is one; their number and digest. */
static gboolean
walk_all(DemurWorkspace *from, DemurWorkspace *to, const char *stage, const DemurProgress *progress,
         DemurCopied *found, GError **error) {
  Walk walk = {.from = from, .to = to, .stage = stage, .progress = progress};
  gboolean ok = TRUE;
  for (size_t t = 0; ok && t < demur_n_schema_tables; t++) {
    const gint64 n = count_rows(from, &demur_schema_tables[t], error);
    ok = n >= 0;
    walk.n_all += n;
  }
  demur_sha256_init(&walk.sha);
  for (size_t t = 0; ok && t < demur_n_schema_tables; t++)
    ok = walk_table(&walk, &demur_schema_tables[t], error);
  guint8 digest[DEMUR_SHA256_BYTES];
  demur_sha256_finish(&walk.sha, digest);
  demur_sha256_hex(digest, found->digest);
  found->n_rows = walk.n_rows;
  clear_key(&walk);
  return ok;
}

/* A new workspace has a key of its own for the hashes of selectors, which nothing was hashed by yet. */
static gboolean
is_own_key(const DemurSchemaTable *table) {
  return table->n_columns == 1;
}

/* Whether what stands in `to` is this program's: a copy beside others' tables would be taken for a damaged one. */
static gboolean
is_own(DemurWorkspace *to, GError **error) {
  g_autoptr(GHashTable) here = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
                        right = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  if (!to->connection->driver->schema(to->connection, here, right))
    return demur_store_fail(to, "reading the schema", error);
  g_autofree char *foreign = demur_driver_foreign(here, right);
  return foreign == NULL || demur_driver_refuse_foreign(to->path, foreign, error);
}

static gboolean
make_room(DemurWorkspace *to, GError **error) {
  for (size_t t = 0; t < demur_n_schema_tables; t++) {
    const DemurSchemaTable *table = &demur_schema_tables[t];
    const gint64 n = is_own_key(table) ? 0 : count_rows(to, table, error);
    if (n < 0)
      return FALSE;
    if (n > 0) {
      demur_error_set(error, DEMUR_ERROR_EXISTS,
                      "something is kept in %s already, and a copy goes where nothing is; name a "
                      "new file or an empty database",
                      to->path);
      return FALSE;
    }
  }
  DemurStatement *statement = demur_store_statement(to, "DELETE FROM selector_key", error);
  return statement != NULL && demur_store_run(to, statement, "copying", error);
}

/* The server's own clerk comes a minute later: until then all of a worklist would be sorted, on its disk. */
static gboolean
count_anew(DemurWorkspace *to, GError **error) {
  if (to->connection->driver->dialect[DEMUR_DIALECT_COUNT_ROWS] == NULL)
    return TRUE;
  DemurStatement *statement = demur_store_dialect(to, DEMUR_DIALECT_COUNT_ROWS, error);
  return statement != NULL && demur_store_run(to, statement, "copying", error);
}

/* In the one transaction of `to`. */
static gboolean
fill(DemurWorkspace *from, DemurWorkspace *to, DemurCopyCheck check, gpointer data,
     const DemurProgress *progress, DemurCopied *copied, GError **error) {
  static const DemurProgress nobody = {0};
  DemurProgressStage stage = {.outer = progress != NULL ? progress : &nobody, .end = 0.5};
  const DemurProgress part = demur_progress_stage(&stage);
  DemurCopied again;
  if (!to->connection->driver->take_as_is(to->connection))
    return demur_store_fail(to, "copying", error);
  if (!is_own(to, error) || !make_room(to, error) ||
      !walk_all(from, to, "copying", &part, copied, error) || !count_anew(to, error))
    return FALSE;
  stage.start = 0.5;
  stage.end = 0.75;
  if (!walk_all(to, NULL, "comparing", &part, &again, error))
    return FALSE;
  if (strcmp(again.digest, copied->digest) != 0) {
    demur_error_set(error, DEMUR_ERROR_STORE,
                    "what was written to %s is not what was read from %s, and was taken back; run "
                    "`demur verify` on the latter",
                    to->path, from->path);
    return FALSE;
  }
  stage.start = 0.75;
  stage.end = 1.0;
  return check == NULL || check(to, &part, data, error);
}

static gboolean
copy_into(DemurWorkspace *from, const char *path, DemurCopyCheck check, gpointer data,
          const DemurProgress *progress, DemurCopied *copied, GError **error) {
  g_autoptr(DemurWorkspace) to = demur_store_open_empty(path, progress, error);
  if (to == NULL)
    return FALSE;
  return demur_store_end(to, fill(from, to, check, data, progress, copied, error), error);
}

/* Where there is no file yet, the copy gets its name when it is whole. */
static gboolean
copy_to_new_file(DemurWorkspace *from, const char *path, DemurCopyCheck check, gpointer data,
                 const DemurProgress *progress, DemurCopied *copied, GError **error) {
  if (!demur_network_disk_check(path, error))
    return FALSE;
  g_autofree char *place = g_path_get_dirname(path);
  g_autoptr(DemurPrivateFolder) folder = demur_private_folder_make(place, ".demur-copy-", error);
  if (folder == NULL)
    return FALSE;
  g_autofree char *made = demur_private_folder_name(folder, "made.demur");
  if (!copy_into(from, made, check, data, progress, copied, error))
    return FALSE;
  if (!demur_store_share_as_in(made, path)) {
    demur_error_set(error, DEMUR_ERROR_STORE,
                    "workspace %s can't be made: %s; choose a folder that can be written "
                    "(--workspace)",
                    path, g_strerror(errno));
    return FALSE;
  }
  return demur_file_put(made, path, DEMUR_FILE_NEW, error);
}

gboolean
demur_workspace_copy(DemurWorkspace *from, const char *to, DemurCopyCheck check, gpointer data,
                     const DemurProgress *progress, DemurCopied *copied, GError **error) {
  if (!demur_workspace_begin_read(from, error))
    return FALSE;
  const gboolean is_new = !demur_workspace_is_server(to) && !g_file_test(to, G_FILE_TEST_EXISTS);
  const gboolean ok =
      (is_new ? copy_to_new_file : copy_into)(from, to, check, data, progress, copied, error);
  demur_workspace_end_read(from);
  return ok;
}
