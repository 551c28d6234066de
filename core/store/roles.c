/* Rights of PostgreSQL by table, from one table of roles. An event may be written by who may do what it tells of:
 * the server asks its own rights (has_table_privilege), so that the log's trigger knows no role by name. */
#include "store/roles.h"

#include <string.h>

#include "base/error.h"
#include "base/shown-text.h"
#include "store/connection.h"
#include "store/postgres-rows.h"
#include "store/postgres-schema.h"
#include "store/schema-tables.h"

static const char *const names[DEMUR_N_ROLES + 1] = {
    [DEMUR_ROLE_READER] = "reader",   [DEMUR_ROLE_ANALYST] = "analyst",
    [DEMUR_ROLE_SERVICE] = "service", [DEMUR_ROLE_ADMIN] = "admin",
    [DEMUR_N_ROLES] = "none",
};

const char *
demur_role_name(DemurRole role) {
  return names[role];
}

gboolean
demur_role_from_name(const char *name, DemurRole *role) {
  for (guint r = 0; r <= DEMUR_N_ROLES; r++)
    if (g_strcmp0(name, names[r]) == 0) {
      *role = (DemurRole)r;
      return TRUE;
    }
  return FALSE;
}

void
demur_role_member_free(DemurRoleMember *member) {
  if (member == NULL)
    return;
  g_free(member->user);
  g_free(member);
}

static void
free_member(gpointer member) {
  demur_role_member_free(member);
}

/* Sets of roles. */
#define OF(role) (1u << DEMUR_ROLE_##role)
#define NOBODY 0u
#define ADMIN OF(ADMIN)
#define ANALYST (OF(ANALYST) | ADMIN)
#define MACHINE (OF(SERVICE) | ANALYST)
#define PERSON (OF(READER) | ANALYST)
#define ANYONE (OF(READER) | OF(SERVICE) | ANALYST)

/* A table that stands in no row may be read, and no more: workspace, selector_key. What goes with the row that
 * it belongs to (ON DELETE CASCADE) needs no right. */
static const struct {
  const char *table;
  guint insert, update, remove;
} rights[] = {
    {"cohort", ANALYST, ANALYST, ANALYST},
    {"cohort_split", ANALYST, NOBODY, NOBODY},
    {"cohort_column", ANALYST, NOBODY, ANALYST},
    {"cohort_attribute", ANALYST, NOBODY, ANALYST},
    {"cohort_exclusion", ANALYST, NOBODY, ANALYST},
    {"cohort_warning", ANALYST, NOBODY, ANALYST},
    {"selector", ANALYST, ANALYST, ANALYST},
    {"threshold", ANALYST, ANALYST, NOBODY},
    {"checkpoint", ANALYST, ANALYST, ANALYST},
    {"site_audit_plan", ANALYST, ANALYST, NOBODY},
    {"site_audit", ANALYST, ANALYST, NOBODY},
    {"acceptance_plan", ANALYST, NOBODY, NOBODY},
    {"acceptance", ANALYST, NOBODY, NOBODY},
    {"site_seen", ANALYST, NOBODY, NOBODY},
    {"watch", ANALYST, NOBODY, NOBODY},
    {"watch_lift", ANALYST, NOBODY, NOBODY},
    {"watch_label", ANALYST, NOBODY, NOBODY},
    {"watch_alarm", MACHINE, NOBODY, NOBODY},
    {"verdict_batch", MACHINE, NOBODY, NOBODY},
    {"verdict", MACHINE, NOBODY, NOBODY},
    {"verdict_undo", ANALYST, NOBODY, NOBODY},
    {"decision", ANALYST, NOBODY, NOBODY},
    {"series", MACHINE, MACHINE, ADMIN},
    {"series_file", MACHINE, NOBODY, MACHINE},
    {"series_overrule", ANALYST, NOBODY, NOBODY},
    {"score", MACHINE, MACHINE, ADMIN},
    {"score_run", MACHINE, NOBODY, NOBODY},
    {"review", PERSON, NOBODY, NOBODY},
    {"annotation", PERSON, NOBODY, NOBODY},
    {"event", ANYONE, NOBODY, NOBODY},
};

/* Each deed by a row that it can't do without; none: every role may. An admin alone may let people in, as
 * demur_roles_sql grants it. */
static const struct {
  const char *table;
  gboolean removes; /* else inserts */
  guint roles;      /* of a deed without a table */
} deeds[DEMUR_N_DEEDS] = {
    [DEMUR_DEED_READ] = {NULL, FALSE, ANYONE},
    [DEMUR_DEED_REVIEW] = {"review", FALSE, NOBODY},
    [DEMUR_DEED_FEED] = {"series", FALSE, NOBODY},
    [DEMUR_DEED_DECIDE] = {"selector", FALSE, NOBODY},
    [DEMUR_DEED_REMOVE] = {"series", TRUE, NOBODY},
    [DEMUR_DEED_LET_IN] = {NULL, FALSE, ADMIN},
};

gboolean
demur_role_may(DemurRole role, DemurDeed deed) {
  guint may = deeds[deed].roles;
  for (guint t = 0; deeds[deed].table != NULL && t < G_N_ELEMENTS(rights); t++)
    if (g_str_equal(rights[t].table, deeds[deed].table))
      may = deeds[deed].removes ? rights[t].remove : rights[t].insert;
  return (may & 1u << role) != 0;
}

/* What an event tells of: its kind, how its key begins, what its writer may do, and in which rows it must find itself. */
typedef enum {
  OF_NOTHING, /* it has no digest, which would say that something was there */
  OF_NAME,    /* a row that is known by its name, and told of as often as it changes */
  OF_ID,      /* a row that was numbered: once, by who wrote it, where the table says who */
  OF_EVENT,   /* the rows that were written with it: once */
} Rows;

/* The first that fits; what fits none nobody but the owner may write. */
static const struct {
  const char *kind, *prefix, *table, *privilege;
  Rows rows;
} tellers[] = {
    {"import", "series:", "series", "INSERT", OF_NAME},
    {"choice", "series:", "series", "UPDATE", OF_NAME},
    {"overrule", "overrule:", "series_overrule", "INSERT", OF_ID},
    {"conflict", "series:", "series", "UPDATE", OF_NAME},
    {"resolution", "series:", "series", "UPDATE", OF_NAME},
    {"correction", "series:", "series", "UPDATE", OF_NAME},
    {"removal", "score:", "score", "DELETE", OF_NOTHING},
    {"removal", "cohort:", "cohort", "DELETE", OF_NOTHING},
    {"removal", "series:", "series", "DELETE", OF_NOTHING},
    {"removal", "selector:", "selector", "DELETE", OF_NOTHING},
    {"removal", "threshold:", "selector", "DELETE", OF_NOTHING}, /* what ends with a selector */
    {"removal", "audit:", "selector", "DELETE", OF_NOTHING},
    {"removal", "audit-plan:", "selector", "DELETE", OF_NOTHING},
    {"removal", "acceptance:", "selector", "DELETE", OF_NOTHING},
    {"removal", "acceptance-plan:", "selector", "DELETE", OF_NOTHING},
    {"score", "score:", "score", "INSERT", OF_NAME},
    {"run", "run:", "score_run", "INSERT", OF_ID},
    {"cohort", "cohort:", "cohort", "INSERT", OF_NAME},
    {"training", "selector:", "selector", "INSERT", OF_NAME},
    {"threshold", "threshold:", "threshold", "INSERT", OF_NAME},
    {"decision", "decision:", "decision", "INSERT", OF_ID},
    {"decision", "undo:", "verdict_undo", "INSERT", OF_ID},
    {"audit", "audit:", "site_audit", "INSERT", OF_NAME},
    {"audit", "audit-plan:", "site_audit_plan", "INSERT", OF_NAME},
    {"acceptance", "acceptance-plan:", "acceptance_plan", "INSERT", OF_ID},
    {"acceptance", "acceptance:", "acceptance", "INSERT", OF_ID},
    {"acceptance", "site-seen:", "site_seen", "INSERT", OF_ID},
    {"watch", "watch-alarm:", "watch_alarm", "INSERT", OF_ID},
    {"watch", "watch-lift:", "watch_lift", "INSERT", OF_ID},
    {"watch", "watch-labels:", "watch_label", "INSERT", OF_EVENT},
    {"watch", "watch:", "watch", "INSERT", OF_ID},
    {"assessment", "verdicts:", "verdict", "INSERT", OF_EVENT},
    {"review", "review:", "review", "INSERT", OF_ID},
    {"reveal", "review:", "review", "INSERT", OF_ID},
    {"reveal", "assessment:", "review", "INSERT", OF_NOTHING},
    {"annotation", "annotation:", "annotation", "INSERT", OF_ID},
    {"setting", "setting:", "series", "DELETE",
     OF_NOTHING}, /* as who may remove a patient's series */
    {"export", "export:", "event", "INSERT", OF_NOTHING},
    {"export", "report:", "event", "INSERT", OF_NOTHING},
    {"refusal", "attempt:", "event", "INSERT", OF_NOTHING},
    {"opening", "workspace", "event", "INSERT", OF_NOTHING},
    {"opened", "opened:", "event", "INSERT", OF_NOTHING},
    {"opened", "opened-row:", "event", "INSERT", OF_NOTHING},
};

static gboolean
names_user(const char *table) {
  for (size_t t = 0; t < demur_n_schema_tables; t++)
    if (g_str_equal(demur_schema_tables[t].name, table))
      return demur_schema_tables[t].names_user;
  return FALSE;
}

/* That rows stand there of which the log tells nothing yet; whatever is no number is none of them. */
static void
append_rows(GString *sql, const char *schema, const char *prefix, const char *table, Rows rows) {
  if (rows == OF_NOTHING)
    g_string_append(sql, " AND new.digest IS NULL");
  if (rows != OF_ID && rows != OF_EVENT)
    return;
  const size_t at = strlen(prefix) + 1;
  g_string_append_printf(sql,
                         " AND NOT EXISTS (SELECT FROM %1$s.event e WHERE e.key = new.key)"
                         " AND CASE WHEN substr(new.key, %2$zu) ~ '^[1-9][0-9]{0,17}$' THEN"
                         " EXISTS (SELECT FROM %1$s.%3$s r WHERE r.%4$s = substr(new.key,"
                         " %2$zu)::bigint%5$s) ELSE false END",
                         schema, at, table, rows == OF_ID ? "id" : "event",
                         rows == OF_ID && names_user(table)
                             ? " AND (r.\"user\" = session_user::text OR is_owner)"
                             : "");
}

char *
demur_roles_look_at_event(const char *schema) {
  GString *sql = g_string_new(NULL);
  for (guint t = 0; t < G_N_ELEMENTS(tellers); t++) {
    g_string_append_printf(sql,
                           " %s new.kind = '%s' AND starts_with(new.key, '%s') THEN may :="
                           " has_table_privilege(session_user, '%s.%s', '%s')",
                           t > 0 ? "ELSIF" : "IF", tellers[t].kind, tellers[t].prefix, schema,
                           tellers[t].table, tellers[t].privilege);
    append_rows(sql, schema, tellers[t].prefix, tellers[t].table, tellers[t].rows);
    g_string_append_c(sql, ';');
    if (tellers[t].rows != OF_ID)
      continue;
    g_autofree char *number =
        g_strdup_printf("substr(new.key, %zu)::bigint", strlen(tellers[t].prefix) + 1);
    g_string_append(sql, " IF may AND NOT is_owner THEN");
    demur_postgres_add_telling(sql, schema, tellers[t].table, number);
    g_string_append(sql, " END IF;");
  }
  g_string_append(sql, " ELSE may := is_owner; END IF;");
  return g_string_free(sql, FALSE);
}

/* A name in quotes (owned). */
static char *
quoted(const char *name) {
  g_auto(GStrv) parts = g_strsplit(name, "\"", -1);
  g_autofree char *doubled = g_strjoinv("\"\"", parts);
  return g_strdup_printf("\"%s\"", doubled);
}

/* A text as the server's literal, whatever its settings (owned). */
static char *
literal(const char *text) {
  GString *sql = g_string_new("E'");
  for (const char *at = text; *at != '\0'; at++) {
    if (*at == '\'' || *at == '\\')
      g_string_append_c(sql, *at);
    g_string_append_c(sql, *at);
  }
  g_string_append_c(sql, '\'');
  return g_string_free(sql, FALSE);
}

static char *
role_of(const char *database, DemurRole role) {
  g_autofree char *name = g_strdup_printf("%s_%s", database, names[role]);
  return quoted(name);
}

/* All of them, with commas. */
static char *
roles_of(const char *database) {
  GString *list = g_string_new(NULL);
  for (guint r = 0; r < DEMUR_N_ROLES; r++) {
    g_autofree char *role = role_of(database, (DemurRole)r);
    g_string_append_printf(list, "%s%s", r > 0 ? ", " : "", role);
  }
  return g_string_free(list, FALSE);
}

static void
grant(GString *sql, const char *database, guint roles, const char *privilege, const char *table) {
  for (guint r = 0; r < DEMUR_N_ROLES; r++)
    if ((roles & 1u << r) != 0) {
      g_autofree char *role = role_of(database, (DemurRole)r);
      g_string_append_printf(sql, "GRANT %s ON demur.%s TO %s;\n", privilege, table, role);
    }
}

char *
demur_roles_grants(const char *database) {
  g_autofree char *all = roles_of(database), *whole = quoted(database);
  GString *sql = g_string_new(NULL);
  g_string_append_printf(sql,
                         "REVOKE ALL ON SCHEMA demur FROM PUBLIC, %1$s;\n"
                         "REVOKE ALL ON ALL TABLES IN SCHEMA demur FROM PUBLIC, %1$s;\n"
                         "REVOKE ALL ON ALL SEQUENCES IN SCHEMA demur FROM PUBLIC, %1$s;\n"
                         "GRANT CONNECT, TEMPORARY ON DATABASE %2$s TO %1$s;\n"
                         "GRANT USAGE ON SCHEMA demur TO %1$s;\n"
                         "GRANT SELECT ON ALL TABLES IN SCHEMA demur TO %1$s;\n"
                         "GRANT SELECT ON ALL SEQUENCES IN SCHEMA demur TO %1$s;\n",
                         all, whole);
  for (guint t = 0; t < G_N_ELEMENTS(rights); t++) {
    grant(sql, database, rights[t].insert, "INSERT", rights[t].table);
    grant(sql, database, rights[t].update, "UPDATE", rights[t].table);
    grant(sql, database, rights[t].remove, "DELETE", rights[t].table);
  }
  return g_string_free(sql, FALSE);
}

/* The server's name of the workspace's database; NULL with error. */
static const char *
database_of(DemurWorkspace *workspace, GError **error) {
  const DemurDriver *driver = workspace->connection->driver;
  const char *database = driver->database(workspace->connection);
  if (database == NULL)
    demur_error_set(error, DEMUR_ERROR_UNSUPPORTED,
                    "workspace %s is a file, which knows no roles: who may write to it is what the "
                    "rights of the file say; `demur workspace copy` takes it to a server",
                    workspace->path);
  return database;
}

/* Makes a role, or finds it there as this program made it: what else has the name gets no rights. */
static void
append_role(GString *sql, const char *database, const char *word) {
  g_autofree char *name = g_strdup_printf("%s_%s", database, word),
                  *marked = g_strconcat(DEMUR_ROLES_MARK, database, NULL);
  g_autofree char *role = quoted(name), *name_text = literal(name), *mark = literal(marked);
  g_autofree char *body = g_strdup_printf(
      "BEGIN IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = %1$s) THEN"
      " CREATE ROLE %2$s NOLOGIN; COMMENT ON ROLE %2$s IS %3$s;"
      " ELSIF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = %1$s AND (rolcanlogin OR"
      " pg_catalog.shobj_description(oid, 'pg_authid') IS DISTINCT FROM %3$s)) THEN"
      " RAISE duplicate_object USING MESSAGE = pg_catalog.format('the role %%I is there already and was not made"
      " for this workspace: rename it, or mark it by COMMENT ON ROLE %%1$I IS %%L where it may have"
      " these rights; a role that can log in may not', %1$s, %3$s); END IF; END",
      name_text, role, mark);
  g_autofree char *statement = literal(body);
  g_string_append_printf(sql, "DO %s;\n", statement);
}

/* A superuser alone can take from everybody what the server gives everybody: room without limit, past all tables. */
static const char no_large_objects[] =
    "DO $$BEGIN IF (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user) THEN"
    " REVOKE EXECUTE ON FUNCTION pg_catalog.lo_create(oid), pg_catalog.lo_creat(integer),"
    " pg_catalog.lo_from_bytea(oid, bytea) FROM PUBLIC; END IF; END$$;\n";

/* Whether the user may make rights anew; an admin, who may not, finds the roles there. */
static gboolean
ask_is_owner(DemurWorkspace *workspace, gboolean *is_owner, GError **error) {
  const gint64 n = demur_store_count(
      workspace,
      "SELECT count(*) FROM pg_catalog.pg_namespace n WHERE n.nspname = 'demur' AND"
      " pg_catalog.pg_has_role(session_user, n.nspowner, 'USAGE')",
      NULL, NULL, error);
  *is_owner = n > 0;
  return n >= 0;
}

char *
demur_roles_sql(DemurWorkspace *workspace, GError **error) {
  gboolean is_owner;
  const char *database = database_of(workspace, error);
  if (database == NULL || !ask_is_owner(workspace, &is_owner, error))
    return NULL;
  GString *sql = g_string_new(NULL);
  if (!is_owner)
    return g_string_free(sql, FALSE);
  for (guint r = 0; r < DEMUR_N_ROLES; r++)
    append_role(sql, database, names[r]);
  g_autofree char *grants = demur_roles_grants(database);
  g_string_append(sql, grants);
  g_autofree char *admin = role_of(database, DEMUR_ROLE_ADMIN);
  for (guint r = 0; r < DEMUR_N_ROLES; r++)
    if (r != DEMUR_ROLE_ADMIN) {
      g_autofree char *role = role_of(database, (DemurRole)r);
      g_string_append_printf(sql, "GRANT %s TO %s WITH ADMIN OPTION;\n", role, admin);
    }
  g_string_append(sql, no_large_objects);
  return g_string_free(sql, FALSE);
}

/* Whether the user is an admin now, which an admin may not take. */
static gboolean
ask_is_admin(DemurWorkspace *workspace, const char *user, gboolean *is_admin, GError **error) {
  g_autoptr(GPtrArray) members = demur_roles_members(workspace, error);
  *is_admin = FALSE;
  for (guint i = 0; members != NULL && i < members->len; i++) {
    const DemurRoleMember *member = members->pdata[i];
    *is_admin |= member->role == DEMUR_ROLE_ADMIN && g_str_equal(member->user, user);
  }
  return members != NULL;
}

char *
demur_roles_give_sql(DemurWorkspace *workspace, const char *user, DemurRole role, GError **error) {
  const char *database = database_of(workspace, error);
  if (database == NULL)
    return NULL;
  g_autofree char *shown = demur_shown_text(user);
  if (!g_str_equal(shown, user)) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "the name of the user %s has characters that can't be seen; give a user "
                    "another name",
                    shown);
    return NULL;
  }
  gboolean is_owner, is_admin;
  if (!ask_is_owner(workspace, &is_owner, error) ||
      !ask_is_admin(workspace, user, &is_admin, error))
    return NULL;
  GString *sql = g_string_new(NULL);
  g_autofree char *who = quoted(user);
  for (guint r = 0; r < DEMUR_N_ROLES; r++) {
    if (r == DEMUR_ROLE_ADMIN && r != role && !is_owner && !is_admin)
      continue;
    g_autofree char *of = role_of(database, (DemurRole)r);
    g_string_append_printf(sql, "%s %s %s %s;\n", r == role ? "GRANT" : "REVOKE", of,
                           r == role ? "TO" : "FROM", who);
  }
  return g_string_free(sql, FALSE);
}

gboolean
demur_roles_apply(DemurWorkspace *workspace, const char *sql, GError **error) {
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  const gboolean ok = workspace->connection->driver->run_script(workspace->connection, sql) ||
                      demur_store_fail(workspace, "giving rights", error);
  return demur_store_end(workspace, ok, error);
}

static gpointer
read_member(DemurStatement *row) {
  DemurRoleMember *member = g_new0(DemurRoleMember, 1);
  member->user = demur_store_text(row, 0);
  member->role = (DemurRole)demur_store_int(row, 1);
  return member;
}

GPtrArray *
demur_roles_members(DemurWorkspace *workspace, GError **error) {
  if (database_of(workspace, error) == NULL)
    return NULL;
  g_autoptr(GString) sql = g_string_new("SELECT m.rolname::text, k.number FROM (VALUES ");
  for (guint r = 0; r < DEMUR_N_ROLES; r++)
    g_string_append_printf(sql, "%s(%u, pg_catalog.current_database()::text || '_%s')",
                           r > 0 ? ", " : "", r, names[r]);
  g_string_append(sql,
                  ") k (number, name) JOIN pg_catalog.pg_roles g ON g.rolname = k.name"
                  " JOIN pg_catalog.pg_auth_members a ON a.roleid = g.oid"
                  " JOIN pg_catalog.pg_roles m ON m.oid = a.member WHERE m.rolname <>"
                  " pg_catalog.current_database()::text || '_admin' ORDER BY m.rolname, k.number");
  DemurStatement *statement = demur_store_statement(workspace, g_intern_string(sql->str), error);
  return statement != NULL ? demur_store_list(workspace, statement, read_member, free_member,
                                              "listing roles", error)
                           : NULL;
}

gboolean
demur_roles_check_may_add(DemurWorkspace *workspace, const char *table, GError **error) {
  if (workspace->read_only) {
    demur_error_set(error, DEMUR_ERROR_STORE,
                    "workspace %s is open for reading only; open it for writing to save",
                    workspace->path);
    return FALSE;
  }
  DemurConnection *connection = workspace->connection;
  if (connection->driver->database(connection) == NULL)
    return TRUE; /* a file's rights are known when it is opened */
  DemurStatement *statement = demur_store_statement(
      workspace, "SELECT CASE WHEN pg_catalog.has_table_privilege(?1, 'INSERT') THEN 1 ELSE 0 END",
      error);
  if (statement == NULL)
    return FALSE;
  g_autofree char *name = g_strdup_printf("demur.%s", table);
  demur_store_bind_text(statement, 1, name);
  gboolean row = FALSE;
  if (!demur_store_step(workspace, statement, &row, "asking for rights", error))
    return FALSE;
  const gboolean may = row && demur_store_int(statement, 0) == 1;
  demur_store_reset(statement);
  if (!may)
    demur_error_set(
        error, DEMUR_ERROR_STORE,
        "workspace %s: the server does not let this user write what would come of it (%s); who "
        "administers the workspace may give them a role that may (`demur workspace roles`)",
        workspace->path, name);
  return may;
}
