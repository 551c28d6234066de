/* Rights of PostgreSQL by table, from one table of roles. An event may be written by who may do what it tells of:
 * the server asks its own rights (has_table_privilege), so that the log's trigger knows no role by name. */
#include "store/roles.h"

#include <string.h>

#include "base/error.h"
#include "store/connection.h"
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

/* What an event of a kind, and of a key that begins so, tells of: who may write it may do this. The first that fits;
 * what stands in no row (reports, refusals, openings) anyone may tell of. */
static const struct {
  const char *kind, *prefix, *table, *privilege;
} tellers[] = {
    {"import", "", "series", "INSERT"},
    {"choice", "", "series", "UPDATE"},
    {"overrule", "", "series_overrule", "INSERT"},
    {"conflict", "", "series", "UPDATE"},
    {"resolution", "", "series", "UPDATE"},
    {"correction", "", "series", "UPDATE"},
    {"removal", "score:", "score", "DELETE"},
    {"removal", "cohort:", "cohort", "DELETE"},
    {"removal", "series:", "series", "DELETE"},
    {"removal", "", "selector", "DELETE"}, /* and its thresholds and audits */
    {"score", "", "score", "INSERT"},
    {"run", "", "score_run", "INSERT"},
    {"cohort", "", "cohort", "INSERT"},
    {"training", "", "selector", "INSERT"},
    {"threshold", "", "threshold", "INSERT"},
    {"decision", "", "decision", "INSERT"},
    {"audit", "", "site_audit", "INSERT"},
    {"acceptance", "", "acceptance", "INSERT"},
    {"watch", "watch-alarm:", "watch_alarm", "INSERT"},
    {"watch", "", "watch", "INSERT"},
    {"assessment", "", "verdict", "INSERT"},
    {"review", "", "review", "INSERT"},
    {"annotation", "", "annotation", "INSERT"},
    {"setting", "", "series", "DELETE"}, /* as who may remove a patient's series */
};

char *
demur_roles_may_write_event(const char *schema) {
  GString *sql = g_string_new("CASE");
  for (guint t = 0; t < G_N_ELEMENTS(tellers); t++)
    g_string_append_printf(sql,
                           " WHEN new.kind = '%s' AND starts_with(new.key, '%s') THEN"
                           " has_table_privilege(session_user, '%s.%s', '%s')",
                           tellers[t].kind, tellers[t].prefix, schema, tellers[t].table,
                           tellers[t].privilege);
  g_string_append(sql, " ELSE true END");
  return g_string_free(sql, FALSE);
}

/* A name in quotes (owned). */
static char *
quoted(const char *name) {
  g_auto(GStrv) parts = g_strsplit(name, "\"", -1);
  g_autofree char *doubled = g_strjoinv("\"\"", parts);
  return g_strdup_printf("\"%s\"", doubled);
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

char *
demur_roles_sql(DemurWorkspace *workspace, GError **error) {
  const char *database = database_of(workspace, error);
  if (database == NULL)
    return NULL;
  GString *sql = g_string_new(NULL);
  for (guint r = 0; r < DEMUR_N_ROLES; r++) {
    g_autofree char *role = role_of(database, (DemurRole)r);
    g_string_append_printf(sql,
                           "DO $$BEGIN CREATE ROLE %s NOLOGIN; EXCEPTION WHEN duplicate_object"
                           " THEN NULL; END$$;\n",
                           role);
  }
  g_autofree char *grants = demur_roles_grants(database);
  g_string_append(sql, grants);
  g_autofree char *admin = role_of(database, DEMUR_ROLE_ADMIN);
  for (guint r = 0; r < DEMUR_N_ROLES; r++)
    if (r != DEMUR_ROLE_ADMIN) {
      g_autofree char *role = role_of(database, (DemurRole)r);
      g_string_append_printf(sql, "GRANT %s TO %s WITH ADMIN OPTION;\n", role, admin);
    }
  return g_string_free(sql, FALSE);
}

char *
demur_roles_give_sql(DemurWorkspace *workspace, const char *user, DemurRole role, GError **error) {
  const char *database = database_of(workspace, error);
  if (database == NULL)
    return NULL;
  GString *sql = g_string_new(NULL);
  g_autofree char *who = quoted(user);
  for (guint r = 0; r < DEMUR_N_ROLES; r++) {
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
