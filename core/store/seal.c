/* seal = SHA-256 of, for each query of the key's kind and each of its rows in order: the number of
 * the query, then name, type and bytes of each column that is not NULL. Cost: the rows' bytes. */
#include "store/seal.h"

#include <string.h>

#include "base/sha256.h"
#include "store/connection.h"

/* What stands behind the colon of a key: one word, or two at a |, the first or the last one. */
typedef enum { WHOLE, AT_FIRST, AT_LAST } Split;

#define MOST_QUERIES 6

/* ?1 and ?2: the words; ?3: the second as a number; ?4: the first as one. */
typedef struct {
  const char *prefix;
  Split split;
  const char *keys; /* of every row, where no other check of `verify` lists them; NULL: one does */
  const char *queries[MOST_QUERIES];
} Sealed;

#define COHORT(table, order)                                                                       \
  "SELECT x.* FROM " table                                                                         \
  " x JOIN cohort c ON c.id = x.cohort_id WHERE c.name = ?1 ORDER BY " order

static const Sealed sealed[] = {
    {"series:",
     WHOLE,
     NULL,
     {"SELECT * FROM series WHERE scan_id = ?1",
      "SELECT f.* FROM series_file f JOIN series s ON s.id = f.series_id WHERE s.scan_id = ?1"
      " ORDER BY f.position"}},
    {"score:", AT_FIRST, NULL, {"SELECT * FROM score WHERE scan_id = ?1 AND model = ?2"}},
    {"run:",
     WHOLE,
     "SELECT 'run:' || id FROM score_run",
     {"SELECT * FROM score_run WHERE id = ?4"}},
    {"cohort:",
     WHOLE,
     "SELECT 'cohort:' || name FROM cohort",
     {"SELECT * FROM cohort WHERE name = ?1", COHORT("cohort_split", "position"),
      COHORT("cohort_attribute", "position"), COHORT("cohort_exclusion", "position"),
      COHORT("cohort_warning", "position"), COHORT("cohort_column", "x.name, x.chunk")}},
    {"selector:", WHOLE, NULL, {"SELECT * FROM selector WHERE name = ?1"}},
    {"threshold:",
     AT_LAST,
     NULL,
     {"SELECT t.* FROM threshold t JOIN selector s ON s.id = t.selector_id"
      " WHERE s.name = ?1 AND t.coverage = ?3"}},
    {"audit:",
     AT_FIRST,
     NULL,
     {"SELECT a.* FROM site_audit a JOIN selector s ON s.id = a.selector_id"
      " WHERE s.name = ?1 AND a.site = ?2"}},
    {"audit-plan:",
     AT_FIRST,
     "SELECT 'audit-plan:' || s.name || '|' || p.site FROM site_audit_plan p"
     " JOIN selector s ON s.id = p.selector_id",
     {"SELECT p.* FROM site_audit_plan p JOIN selector s ON s.id = p.selector_id"
      " WHERE s.name = ?1 AND p.site = ?2"}},
    {"acceptance-plan:",
     WHOLE,
     "SELECT 'acceptance-plan:' || id FROM acceptance_plan",
     {"SELECT * FROM acceptance_plan WHERE id = ?4"}},
    {"acceptance:",
     WHOLE,
     "SELECT 'acceptance:' || id FROM acceptance",
     {"SELECT * FROM acceptance WHERE id = ?4"}},
    {"site-seen:",
     WHOLE,
     "SELECT 'site-seen:' || id FROM site_seen",
     {"SELECT * FROM site_seen WHERE id = ?4"}},
    {"watch:", WHOLE, "SELECT 'watch:' || id FROM watch", {"SELECT * FROM watch WHERE id = ?4"}},
    {"watch-alarm:",
     WHOLE,
     "SELECT 'watch-alarm:' || id FROM watch_alarm",
     {"SELECT * FROM watch_alarm WHERE id = ?4"}},
    {"watch-lift:",
     WHOLE,
     "SELECT 'watch-lift:' || id FROM watch_lift",
     {"SELECT * FROM watch_lift WHERE id = ?4"}},
    {"watch-labels:",
     WHOLE,
     "SELECT DISTINCT 'watch-labels:' || event FROM watch_label",
     {"SELECT * FROM watch_label WHERE event = ?4 ORDER BY id"}},
    {"verdicts:",
     WHOLE,
     NULL,
     {"SELECT * FROM verdict WHERE event = ?4 ORDER BY id",
      "SELECT * FROM verdict_batch WHERE id IN (SELECT batch_id FROM verdict WHERE event = ?4)"
      " ORDER BY id"}},
    {"undo:",
     WHOLE,
     "SELECT 'undo:' || id FROM verdict_undo",
     {"SELECT * FROM verdict_undo WHERE id = ?4"}},
    {"review:", WHOLE, NULL, {"SELECT * FROM review WHERE id = ?4"}},
    {"annotation:",
     WHOLE,
     "SELECT 'annotation:' || id FROM annotation",
     {"SELECT * FROM annotation WHERE id = ?4"}},
    {"decision:", WHOLE, NULL, {"SELECT * FROM decision WHERE id = ?4"}},
    {"overrule:", WHOLE, NULL, {"SELECT * FROM series_overrule WHERE id = ?4"}},
};
#undef COHORT

static const Sealed *
find_kind(const char *key) {
  for (size_t k = 0; k < G_N_ELEMENTS(sealed); k++)
    if (g_str_has_prefix(key, sealed[k].prefix))
      return &sealed[k];
  return NULL;
}

gboolean
demur_store_seal_is_row(const char *key) {
  return find_kind(key) != NULL;
}

/* ?4 is the number, and there is nothing else to it. */
gboolean
demur_store_seal_is_numbered(const char *key) {
  const Sealed *kind = find_kind(key);
  return kind != NULL && kind->queries[1] == NULL &&
         g_str_has_suffix(kind->queries[0], " WHERE id = ?4");
}

static void
add_column(DemurSha256 *sha, DemurStatement *statement, int column) {
  const DemurColumnType type = demur_store_type(statement, column);
  if (type == DEMUR_COLUMN_NULL)
    return;
  demur_sha256_add_text(sha, demur_store_column_name(statement, column));
  const guint8 tag = (guint8)type;
  demur_sha256_update(sha, &tag, 1);
  if (type == DEMUR_COLUMN_FLOAT) {
    const double number = demur_store_number(statement, column);
    demur_sha256_add_bytes(sha, &number, sizeof number);
    return;
  }
  /* Of a whole number its digits. */
  gsize n_bytes;
  gconstpointer bytes = demur_store_bytes(statement, column, &n_bytes);
  demur_sha256_add_bytes(sha, bytes, n_bytes);
}

static void
add_row(DemurSha256 *sha, DemurStatement *statement) {
  for (int c = 0; c < demur_store_n_columns(statement); c++)
    add_column(sha, statement, c);
  demur_sha256_add_text(sha, NULL); /* the end of a row */
}

static void
begin_seal(DemurSha256 *sha) {
  demur_sha256_init(sha);
  demur_sha256_add_text(sha, "demur seal 1");
}

static void
begin_query(DemurSha256 *sha, guint query) {
  const double number = query;
  demur_sha256_add_doubles(sha, &number, 1);
}

char *
demur_store_seal_of_row(DemurStatement *row) {
  DemurSha256 sha;
  begin_seal(&sha);
  begin_query(&sha, 0);
  add_row(&sha, row);
  return demur_sha256_finish_hex(&sha);
}

/* The rows of one query into sha. */
static gboolean
add_rows(DemurWorkspace *workspace, const char *sql, const char *first, const char *second,
         DemurSha256 *sha, gboolean *any, GError **error) {
  DemurStatement *statement = demur_store_statement(workspace, sql, error);
  if (statement == NULL)
    return FALSE;
  const int n = demur_store_n_parameters(statement);
  if (n >= 1)
    demur_store_bind_text(statement, 1, first);
  if (n >= 2)
    demur_store_bind_text(statement, 2, second);
  if (n >= 3)
    demur_store_bind_double(statement, 3, second != NULL ? g_ascii_strtod(second, NULL) : 0.0);
  if (n >= 4)
    demur_store_bind_int(statement, 4, g_ascii_strtoll(first, NULL, 10));
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, statement, &row, "sealing the log", error)) && row) {
    *any = TRUE;
    add_row(sha, statement);
  }
  return ok;
}

char *
demur_store_seal(DemurWorkspace *workspace, const char *key, GError **error) {
  const Sealed *kind = find_kind(key);
  if (kind == NULL)
    return NULL;
  g_autofree char *first = g_strdup(key + strlen(kind->prefix));
  char *mark = kind->split == WHOLE      ? NULL
               : kind->split == AT_FIRST ? strchr(first, '|')
                                         : strrchr(first, '|');
  if (mark != NULL)
    *mark++ = '\0';
  DemurSha256 sha;
  gboolean any = FALSE;
  begin_seal(&sha);
  for (guint q = 0; q < MOST_QUERIES && kind->queries[q] != NULL; q++) {
    begin_query(&sha, q);
    if (!add_rows(workspace, kind->queries[q], first, mark, &sha, &any, error))
      return NULL;
  }
  if (!any)
    return g_strdup("");
  return demur_sha256_finish_hex(&sha);
}

char **
demur_store_seal_keys(DemurWorkspace *workspace, GError **error) {
  g_autoptr(GStrvBuilder) keys = g_strv_builder_new();
  for (size_t k = 0; k < G_N_ELEMENTS(sealed); k++) {
    if (sealed[k].keys == NULL)
      continue;
    DemurStatement *statement = demur_store_statement(workspace, sealed[k].keys, error);
    gboolean row = FALSE, ok = statement != NULL;
    while (ok && (ok = demur_store_step(workspace, statement, &row, "listing rows", error)) && row)
      g_strv_builder_add(keys, demur_store_peek(statement, 0));
    if (!ok)
      return NULL;
  }
  return g_strv_builder_end(keys);
}
