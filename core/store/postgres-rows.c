/* seal = SHA-256("demur seal 1", query 0, then name, type and bytes of each column that is not NULL, the row's end), as
 * store/seal.c has it of keys that stand for one row; digests as those of the records (store/reviews.c, store/overrules.c).
 * Cost on the server: some ten microseconds an event that a person writes. */
#include "store/postgres-rows.h"

#include <string.h>

#include "store/driver.h"
#include "store/postgres-schema.h"
#include "store/schema-tables.h"

/* Each value framed by its length in 8 bytes, little endian; a number's bytes are little endian too. */
static const char framing[] =
    "CREATE OR REPLACE FUNCTION %1$s.framed_bytes(value bytea) RETURNS bytea LANGUAGE sql"
    " IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$SELECT set_byte(set_byte(set_byte(set_byte("
    "'\\x0000000000000000'::bytea, 0, length(value) & 255), 1, (length(value) >> 8) & 255), 2,"
    " (length(value) >> 16) & 255), 3, (length(value) >> 24) & 255) || value$$;"
    "CREATE OR REPLACE FUNCTION %1$s.little_endian(value double precision) RETURNS bytea LANGUAGE sql"
    " IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$SELECT string_agg(substring("
    "float8send(value) FROM i FOR 1), ''::bytea ORDER BY i DESC) FROM generate_series(1, 8) i$$;";

#define FRAMED(value) "%1$s.framed(" value ")"
#define AND " || "
/* The digests of rows r. */
#define NO_NUMBERS "'\\x0000000000000000'::bytea"
#define TWO_NUMBERS "'\\x1000000000000000'::bytea"
#define OF_REVIEW(r)                                                                               \
  FRAMED(r ".scan_id")                                                                             \
  AND FRAMED(r ".cohort") AND FRAMED("coalesce(" r ".verdict_id, 0)::text") AND FRAMED(            \
      r ".verdict_digest") AND                                                                     \
  FRAMED(r ".kind") AND                                                                            \
  FRAMED(r ".comment") AND                                                                         \
  FRAMED(r ".revealed::text") AND                                                                  \
  FRAMED(r ".shown") AND                                                                           \
  FRAMED(r ".\"user\"") AND                                                                        \
  FRAMED(r ".created") AND NO_NUMBERS
#define OF_DECISION(r)                                                                             \
  FRAMED(r ".selector")                                                                            \
  AND FRAMED(r ".selector_digest") AND FRAMED(r ".cohort") AND FRAMED(r ".split") AND FRAMED(      \
      r ".reason") AND                                                                             \
  FRAMED(r ".\"user\"") AND                                                                        \
  FRAMED(r ".created") AND TWO_NUMBERS AND "%1$s.little_endian(" r ".coverage)" AND                \
                                           "%1$s.little_endian(" r ".threshold)"
#define OF_OVERRULE(r)                                                                             \
  FRAMED(r ".scan_id")                                                                             \
  AND FRAMED(r ".reason") AND FRAMED(r ".rules_eligible::text") AND FRAMED(                        \
      r ".rules_accepted::text") AND                                                               \
  FRAMED(r ".rules_reason") AND                                                                    \
  FRAMED(r ".replaced") AND                                                                        \
  FRAMED(r ".created") AND                                                                         \
  FRAMED(r ".\"user\"") AND NO_NUMBERS

/* Those whose time is in their digest; of the others the digest says only that the row is there. A row that has it beside
 * it gets it with the time. */
typedef struct {
  const char *table, *digest, *timing;
} Digested;

static const Digested digested[] = {
    {"review", "encode(sha256(" OF_REVIEW("r") "), 'hex')", "review_is_timed"},
    {"decision", "encode(sha256(" OF_DECISION("r") "), 'hex')", "row_is_timed"},
    {"series_overrule", "encode(sha256(" OF_OVERRULE("r") "), 'hex')", "row_is_timed"},
};

/* NULL: none of them. */
static const Digested *
find_digested(const char *table) {
  for (gsize i = 0; i < G_N_ELEMENTS(digested); i++)
    if (g_str_equal(digested[i].table, table))
      return &digested[i];
  return NULL;
}

/* framed(text) of a constant, as the server writes bytes. */
static void
append_framed_constant(GString *sql, const char *text) {
  g_string_append_printf(sql, "'\\x%02x00000000000000", (unsigned)strlen(text));
  for (const char *at = text; *at != '\0'; at++)
    g_string_append_printf(sql, "%02x", (unsigned)(guint8)*at);
  g_string_append(sql, "'::bytea");
}

static void
append_column(GString *sql, const char *schema, const DemurSchemaColumn *column) {
  static const struct {
    DemurColumnType type;
    const char *bytes;
  } types[] = {
      [DEMUR_SCHEMA_INTEGER] = {DEMUR_COLUMN_INTEGER, "%1$s.framed(r.\"%2$s\"::text)"},
      [DEMUR_SCHEMA_NUMBERED] = {DEMUR_COLUMN_INTEGER, "%1$s.framed(r.\"%2$s\"::text)"},
      [DEMUR_SCHEMA_FLOAT] = {DEMUR_COLUMN_FLOAT,
                              "%1$s.framed_bytes(%1$s.little_endian(r.\"%2$s\"))"},
      [DEMUR_SCHEMA_TEXT] = {DEMUR_COLUMN_TEXT, "%1$s.framed(r.\"%2$s\")"},
      [DEMUR_SCHEMA_BLOB] = {DEMUR_COLUMN_BLOB, "%1$s.framed_bytes(r.\"%2$s\")"},
  };
  g_string_append_printf(sql, " || CASE WHEN r.\"%s\" IS NULL THEN ''::bytea ELSE ", column->name);
  append_framed_constant(sql, column->name);
  g_string_append_printf(sql, " || '\\x%02x'::bytea || ", (unsigned)types[column->type].type);
  g_autoptr(GString) bytes = g_string_new(types[column->type].bytes);
  g_string_replace(bytes, "%1$s", schema, 0);
  g_string_replace(bytes, "%2$s", column->name, 0);
  g_string_append_printf(sql, "%s END", bytes->str);
}

static gboolean
is_numbered(const DemurSchemaTable *table) {
  return table->columns[0].type == DEMUR_SCHEMA_NUMBERED;
}

static void
append_seal(GString *sql, const char *schema, const DemurSchemaTable *table) {
  /* $1, not a name, which a column could have. */
  g_string_append_printf(sql,
                         "CREATE OR REPLACE FUNCTION %1$s.seal_of_%2$s(bigint) RETURNS text"
                         " LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$SELECT"
                         " encode(sha256(",
                         schema, table->name);
  append_framed_constant(sql, "demur seal 1");
  g_string_append(sql, " || '\\x08000000000000000000000000000000'::bytea"); /* the query's number */
  for (gsize c = 0; c < table->n_columns; c++)
    append_column(sql, schema, &table->columns[c]);
  g_string_append_printf(sql,
                         " || '\\xffffffffffffffff'::bytea), 'hex') FROM %s.%s r"
                         " WHERE r.%s = $1$$;",
                         schema, table->name, table->columns[0].name);
}

#define NOT_THE_OWNER "NOT " DEMUR_POSTGRES_IS_OWNER

/* Behind the other triggers of its kind, by name: of a review what they let stand is digested. */
static const char timing[] =
    "CREATE OR REPLACE FUNCTION %1$s.row_is_timed() RETURNS trigger LANGUAGE plpgsql"
    " SET search_path = pg_catalog, pg_temp AS $$BEGIN IF " NOT_THE_OWNER " THEN"
    " new.created := to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"');"
    " END IF; RETURN new; END$$;"
    "CREATE OR REPLACE FUNCTION %1$s.review_is_timed() RETURNS trigger LANGUAGE plpgsql"
    " SET search_path = pg_catalog, pg_temp AS $$BEGIN IF " NOT_THE_OWNER " THEN"
    " new.created := to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"');"
    " new.digest := encode(sha256(" OF_REVIEW("new") "), 'hex');"
                                                     " END IF; RETURN new; END$$;";

void
demur_postgres_add_row_functions(GString *sql, const char *schema) {
  g_autoptr(GString) text = g_string_new(framing);
  g_string_append(text, timing);
  g_string_replace(text, "%1$s", schema, 0);
  g_string_append(sql, text->str);
  for (gsize t = 0; t < demur_n_schema_tables; t++) {
    const DemurSchemaTable *table = &demur_schema_tables[t];
    if (is_numbered(table))
      append_seal(sql, schema, table);
    if (!table->names_user)
      continue;
    const Digested *of = find_digested(table->name);
    g_string_append_printf(sql,
                           "CREATE OR REPLACE TRIGGER when_written BEFORE INSERT ON %s"
                           " FOR EACH ROW EXECUTE FUNCTION %s.%s();",
                           table->name, schema, of != NULL ? of->timing : "row_is_timed");
  }
}

void
demur_postgres_add_telling(GString *sql, const char *schema, const char *table,
                           const char *number) {
  g_string_append_printf(sql, " new.seal := %s.seal_of_%s(%s);", schema, table, number);
  const Digested *of = find_digested(table);
  if (of == NULL)
    return;
  g_autoptr(GString) text = g_string_new(of->digest);
  g_string_replace(text, "%1$s", schema, 0);
  g_string_append_printf(sql, " SELECT %s INTO new.digest FROM %s.%s r WHERE r.id = %s;", text->str,
                         schema, table, number);
}
