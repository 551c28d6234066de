/* The PostgreSQL driver: a database a workspace, in a schema of its own. The only file that knows libpq.
 *
 * Numbers and bytes go both ways in binary, so that a double is the same to its last bit. A statement is
 * prepared by its first step, when the types of what is bound are known. Its rows come one by one, as they
 * are stepped through: reading many holds one. Several may be read at once, as with SQLite: once another
 * needs the line, what is left of the one on it is taken into memory. Writers take one advisory lock for
 * as long as their transaction lasts: one at a time, in the order of their events, as BEGIN IMMEDIATE
 * has it. A connection that was lost is made anew between transactions, never in one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <libpq-fe.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/shown-text.h"
#include "store/driver.h"
#include "store/postgres-schema.h"
#include "store/roles.h"
#include "store/schema.h"

/* Types by their numbers in the catalogue (pg_type.dat), which never change. */
enum {
  OID_UNKNOWN = 0,
  OID_BOOL = 16,
  OID_BYTEA = 17,
  OID_INT8 = 20,
  OID_INT2 = 21,
  OID_INT4 = 23,
  OID_TEXT = 25,
  OID_FLOAT4 = 700,
  OID_FLOAT8 = 701,
};

#define SQLSTATE_LENGTH 5
#define MOST_LATER 512 /* statements put off: what they answer has room in any socket's buffer */
/* Whatever the server or the address sets as a default: who waited for the lock sees what was written
 * meanwhile. */
#define BEGIN_WRITING "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
#define OPEN_CLASS "1332766062" /* 0x4f70656e, "Open": advisory locks of scans that are open */
#define OLDEST_SERVER 150000
#define PATIENCE_TAKING_BACK_MS 2000 /* for a server that is asked to take something back */

typedef struct Statement Statement;

typedef struct {
  DemurConnection base;
  PGconn *server;
  Statement *on_line; /* whose rows are on their way, one by one; NULL: nobody's */
  DemurWaitFunc wait;
  gpointer wait_data;
  gboolean read_only;
  gboolean in_transaction;
  gboolean gave_up; /* nobody waits for this statement's answer any more: what fails is that */
  gboolean listens; /* what it listens to, and its locks of open scans, are this session's */
  guint n_later;    /* statements on their way (run_later); > 0: the line is in pipeline mode */
  guint session;    /* grows with every connection: what was prepared in an earlier one is gone */
  guint n_statements;
  gint64 n_changed;
  DemurFault fault;
  char *message;
} Connection;

typedef struct {
  Oid type;
  const char *value; /* NULL: NULL */
  int length;
  int is_binary;
  char number[sizeof(gint64)]; /* big endian */
} Parameter;

struct Statement {
  DemurStatement base;
  Connection *connection;
  char *sql;
  int n_parameters;
  Parameter *parameters;
  Oid *prepared;  /* types that it was prepared with */
  guint session;  /* in which; 0: not yet */
  char name[24];  /* on the server */
  PGresult *rows; /* the one that is read, or all; NULL: not run */
  int row;
  PGresult *rest;          /* those behind rows that were taken into memory; NULL: none */
  DemurFault fault_behind; /* what came behind them */
  char *message_behind;    /* NULL: nothing */
  char digits[24];
};

static Connection *
of_connection(DemurConnection *connection) {
  return (Connection *)connection;
}

static Statement *
of_statement(DemurStatement *statement) {
  return (Statement *)statement;
}

/* ---- faults ---- */

static const struct {
  const char *state; /* how the SQLSTATE begins (PostgreSQL, Error Codes) */
  DemurFault fault;
} faults[] = {
    {"55P03", DEMUR_FAULT_LOCKED}, {"40", DEMUR_FAULT_LOCKED},     {"53100", DEMUR_FAULT_FULL},
    {"53200", DEMUR_FAULT_MEMORY}, {"42501", DEMUR_FAULT_REFUSED}, {"25006", DEMUR_FAULT_REFUSED},
    {"28", DEMUR_FAULT_REFUSED},   {"XX001", DEMUR_FAULT_DAMAGED}, {"XX002", DEMUR_FAULT_DAMAGED},
    {"58", DEMUR_FAULT_DISK},      {"08", DEMUR_FAULT_AWAY},       {"57P", DEMUR_FAULT_AWAY},
    {"3D000", DEMUR_FAULT_OTHER},  {"22021", DEMUR_FAULT_TEXT},    {"22P05", DEMUR_FAULT_TEXT},
};

/* Keeps what went wrong; always FALSE. text: one line of it. */
static gboolean
keep_fault(Connection *c, DemurFault fault, const char *text) {
  g_free(c->message);
  c->message = g_strstrip(g_strdelimit(g_strdup(text), "\n\t", ' '));
  c->fault = fault;
  return FALSE;
}

static gboolean
fail(Connection *c, const PGresult *result) {
  const char *state = result != NULL ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
  const char *text = result != NULL ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
  DemurFault fault = DEMUR_FAULT_OTHER;
  for (guint i = 0; state != NULL && i < G_N_ELEMENTS(faults); i++)
    if (g_str_has_prefix(state, faults[i].state))
      fault = faults[i].fault;
  if (PQstatus(c->server) == CONNECTION_BAD)
    fault = DEMUR_FAULT_AWAY;
  if (c->gave_up) {
    c->gave_up = FALSE;
    return keep_fault(c, DEMUR_FAULT_LOCKED, "the server did not answer");
  }
  return keep_fault(c, fault, text != NULL ? text : PQerrorMessage(c->server));
}

static DemurFault
fault(DemurConnection *connection, const char **message) {
  const Connection *c = of_connection(connection);
  *message = c->message != NULL ? c->message : "nothing failed";
  return c->fault;
}

/* Whether a result is one; fails and clears it where it isn't. */
static gboolean
check(Connection *c, PGresult *result) {
  const ExecStatusType status = PQresultStatus(result);
  if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK)
    return TRUE;
  fail(c, result);
  PQclear(result);
  return FALSE;
}

/* ---- waiting ---- */

/* Whether the server has answered within timeout_ms; a line that was lost has. */
static gboolean
has_answered(Connection *c, gint64 timeout_ms) {
  const gint64 end = g_get_monotonic_time() + timeout_ms * 1000;
  while (PQisBusy(c->server)) {
    const gint64 left = end - g_get_monotonic_time();
    if (left <= 0)
      return FALSE;
    GPollFD line = {.fd = PQsocket(c->server), .events = G_IO_IN};
    if (g_poll(&line, 1, (int)((left + 999) / 1000)) > 0 && PQconsumeInput(c->server) != 1)
      return TRUE;
  }
  return TRUE;
}

static gpointer
send_cancel(gpointer cancel) {
  char text[256];
  (void)PQcancel(cancel, text, sizeof text);
  PQfreeCancel(cancel);
  return NULL;
}

/* Takes back what the server is asked; it may have answered meanwhile. One that doesn't answer this either is left: what
 * it was asked is taken back there when it finds the line closed, but for a COMMIT that it has already. libpq waits for the
 * end of the taking back without a limit, so that is done beside, where a thread can be made, and its end is waited for where
 * the server answers. */
static void
take_back(Connection *c) {
  PGcancel *cancel = PQgetCancel(c->server);
  GThread *beside =
      cancel != NULL ? g_thread_try_new("take back", send_cancel, cancel, NULL) : NULL;
  if (beside == NULL && cancel != NULL)
    send_cancel(cancel);
  const gboolean answered = has_answered(c, PATIENCE_TAKING_BACK_MS);
  if (beside != NULL && answered && PQstatus(c->server) == CONNECTION_OK)
    g_thread_join(beside); /* one that arrives later would take back what is asked next */
  else if (beside != NULL)
    g_thread_unref(beside);
  if (!answered)
    (void)shutdown(PQsocket(c->server), SHUT_RDWR);
}

/* Until there is an answer, as long as it takes; who works is asked meanwhile whether to go on. */
static void
await(Connection *c) {
  for (guint n_asked = 0; !has_answered(c, DEMUR_WAIT_STEP_MS); n_asked++)
    if (!c->gave_up && !c->wait(DEMUR_WAIT_ANSWER, n_asked, c->wait_data)) {
      c->gave_up = TRUE;
      take_back(c);
    }
}

static PGresult *
next_result(Connection *c) {
  await(c);
  return PQgetResult(c->server);
}

/* Of what was sent (sent: as libpq says): the last result, as PQexec has it; NULL where there is none. */
static PGresult *
last_result(Connection *c, int sent) {
  PGresult *last = NULL;
  c->gave_up = FALSE;
  for (PGresult *result; sent == 1 && (result = next_result(c)) != NULL; last = result)
    PQclear(last);
  return last;
}

static PGresult *
ask(Connection *c, const char *sql) {
  return last_result(c, PQsendQuery(c->server, sql));
}

/* ---- the connection ---- */

/* Puts the first of row's rows behind the others; FALSE: no memory. */
static gboolean
append_row(PGresult **rows, const PGresult *row) {
  if (*rows == NULL)
    return (*rows = PQcopyResult(row, PG_COPYRES_ATTRS | PG_COPYRES_TUPLES)) != NULL;
  const int n = PQntuples(*rows);
  for (int i = 0; i < PQnfields(row); i++)
    if (!PQsetvalue(*rows, n, i, PQgetisnull(row, 0, i) ? NULL : PQgetvalue(row, 0, i),
                    PQgetisnull(row, 0, i) ? -1 : PQgetlength(row, 0, i)))
      return FALSE;
  return TRUE;
}

/* Frees the line: what is left of the statement on it is kept, or dropped. What it failed by is told when it is
 * stepped that far. */
static void
free_line(Connection *c, gboolean keep) {
  Statement *s = c->on_line;
  if (s == NULL)
    return;
  c->on_line = NULL;
  for (PGresult *part; (part = next_result(c)) != NULL; PQclear(part)) {
    const ExecStatusType status = PQresultStatus(part);
    if (!keep || s->message_behind != NULL)
      continue;
    if (status == PGRES_SINGLE_TUPLE ? append_row(&s->rest, part)
                                     : status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK)
      continue;
    if (status == PGRES_SINGLE_TUPLE)
      keep_fault(c, DEMUR_FAULT_OTHER, "there is no memory for what was read");
    else
      fail(c, part);
    s->fault_behind = c->fault;
    s->message_behind = g_strdup(c->message);
  }
  c->gave_up = FALSE;
}

/* What came of the statements that were put off: each gives its result and an end, behind the last of
 * them stands the mark that all are told. The first that failed is the fault; none behind it was run. */
static gboolean
drain(Connection *c) {
  free_line(c, TRUE);
  if (c->n_later == 0)
    return TRUE;
  gboolean ok = PQpipelineSync(c->server) == 1 || fail(c, NULL);
  for (guint i = 0; i < c->n_later; i++) {
    PGresult *result = next_result(c);
    if (!ok || (ok = check(c, result)))
      PQclear(result);
    PQclear(next_result(c));
  }
  PQclear(next_result(c));
  c->gave_up = FALSE;
  c->n_later = 0;
  return (PQexitPipelineMode(c->server) == 1 || !ok || fail(c, NULL)) && ok;
}

static gboolean
execute(Connection *c, const char *sql) {
  if (!drain(c))
    return FALSE;
  PGresult *result = ask(c, sql);
  const gboolean ok = check(c, result);
  if (ok)
    PQclear(result);
  return ok;
}

/* What holds on every session, whatever the address says. The catalogue is looked in first by itself,
 * temporary tables last: a function or an operator that somebody put into a schema that can be written
 * to never stands for the server's own. */
#define SESSION                                                                                    \
  "SET search_path = demur, pg_temp; SET client_encoding = 'UTF8';"                                \
  "SET standard_conforming_strings = on"

static gboolean
configure(Connection *c) {
  c->session++;
  return execute(c, c->read_only ? SESSION "; SET default_transaction_read_only = on" : SESSION);
}

/* Why there is no line: what a server doesn't let in it doesn't tell its reason. */
static gboolean
keep_no_line(Connection *c, DemurFault otherwise) {
  const DemurFault fault = PQconnectionNeedsPassword(c->server)  ? DEMUR_FAULT_NO_PASSWORD
                           : PQconnectionUsedPassword(c->server) ? DEMUR_FAULT_PASSWORD
                                                                 : otherwise;
  return keep_fault(c, fault, PQerrorMessage(c->server));
}

/* A server that went away is found out without asking it: its end of the line is closed. Outside of a
 * transaction the line is made anew, but where it listens: whoever waits must know. */
static gboolean
ensure(Connection *c) {
  free_line(c, TRUE);
  c->gave_up = FALSE;
  if (c->in_transaction)
    return TRUE;
  if (PQstatus(c->server) == CONNECTION_OK && PQconsumeInput(c->server) != 0 &&
      PQstatus(c->server) == CONNECTION_OK)
    return TRUE;
  if (c->listens)
    return keep_fault(c, DEMUR_FAULT_AWAY, PQerrorMessage(c->server));
  PQreset(c->server);
  if (PQstatus(c->server) != CONNECTION_OK)
    return keep_no_line(c, DEMUR_FAULT_AWAY);
  return configure(c);
}

static void
ignore_notice(void *data, const char *message) {
  (void)data;
  (void)message;
}

/* One whole number. */
static gboolean
ask_number(Connection *c, const char *sql, gint64 *number) {
  if (!drain(c))
    return FALSE;
  PGresult *result = ask(c, sql);
  if (!check(c, result))
    return FALSE;
  *number = PQntuples(result) > 0 && !PQgetisnull(result, 0, 0)
                ? g_ascii_strtoll(PQgetvalue(result, 0, 0), NULL, 10)
                : 0;
  PQclear(result);
  return TRUE;
}

static gboolean
read_version(DemurConnection *connection, gint64 *version) {
  Connection *c = of_connection(connection);
  gint64 is_there = 0;
  *version = 0;
  return ensure(c) &&
         ask_number(c,
                    "SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname = 'demur'"
                    " AND tablename = 'workspace'",
                    &is_there) &&
         (is_there == 0 || ask_number(c, "SELECT max(version) FROM demur.workspace", version));
}

static void
close_connection(DemurConnection *connection) {
  Connection *c = of_connection(connection);
  PQfinish(c->server);
  g_free(c->message);
  g_free(c);
}

/* An address is shown and kept: it holds no password. */
static gboolean
check_address(const char *path, GError **error) {
  PQconninfoOption *options = PQconninfoParse(path, NULL);
  if (options == NULL) { /* what libpq says of it quotes it, a password too */
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "the workspace's address can't be read as one; write "
                    "postgresql://HOST/DATABASE, and %%25 for a %% in it");
    return FALSE;
  }
  static const char *const secrets[] = {"password", "sslpassword"};
  gboolean has_secret = FALSE;
  for (const PQconninfoOption *o = options; o->keyword != NULL; o++)
    has_secret |=
        g_strv_contains((const char *const[]){secrets[0], secrets[1], NULL}, o->keyword) &&
        o->val != NULL && *o->val != '\0';
  PQconninfoFree(options);
  if (has_secret)
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "a workspace's address is shown and kept in logs and may not hold a password; "
                    "put it into ~/.pgpass (PostgreSQL, The Password File)");
  return !has_secret;
}

/* Whether all of these, "a,b", stand for this machine: a socket's folder, or its own names. */
static gboolean
are_here(const char *hosts) {
  static const char *const own[] = {"", "localhost", "::1", NULL};
  g_auto(GStrv) names = g_strsplit(hosts != NULL ? hosts : "", ",", -1);
  for (char **name = names; *name != NULL; name++)
    if (!g_strv_contains(own, *name) && **name != '/' && **name != '@' &&
        !g_str_has_prefix(*name, "127."))
      return FALSE;
  return TRUE;
}

/* What an address says of one of libpq's options; NULL: nothing. */
static const char *
option_of(const PQconninfoOption *options, const char *name) {
  const char *const names[] = {name, NULL};
  for (const PQconninfoOption *o = options; o != NULL && o->keyword != NULL; o++)
    if (o->val != NULL && *o->val != '\0' && g_strv_contains(names, o->keyword))
      return o->val;
  return NULL;
}

static gboolean
is_option_here(const PQconninfoOption *options, const char *name, const char *variable) {
  const char *hosts = option_of(options, name);
  return are_here(hosts != NULL ? hosts : g_getenv(variable));
}

/* How a line over a network is to be kept safe where neither address nor PGSSLMODE says it: NULL where
 * there is none. A service's hosts are not known yet. */
static const char *
default_sslmode(const char *path) {
  PQconninfoOption *options = PQconninfoParse(path, NULL);
  const gboolean is_here = option_of(options, "service") == NULL && g_getenv("PGSERVICE") == NULL &&
                           is_option_here(options, "host", "PGHOST") &&
                           is_option_here(options, "hostaddr", "PGHOSTADDR");
  PQconninfoFree(options);
  return is_here || g_getenv("PGSSLMODE") != NULL ? NULL : "verify-full";
}

/* A server that this program can keep a workspace on. */
static gboolean
check_server(Connection *c, const char *path, GError **error) {
  gint64 is_utf8 = 0;
  if (!ask_number(c, "SELECT (pg_catalog.current_setting('server_encoding') = 'UTF8')::int",
                  &is_utf8))
    return demur_driver_fail(&c->base, path, "opening", error);
  if (PQserverVersion(c->server) < OLDEST_SERVER) {
    demur_error_set(error, DEMUR_ERROR_STORE,
                    "the server of %s is too old (%d); a workspace needs PostgreSQL %d or newer",
                    path, PQserverVersion(c->server) / 10000, OLDEST_SERVER / 10000);
    return FALSE;
  }
  if (!is_utf8)
    demur_error_set(error, DEMUR_ERROR_STORE,
                    "the database %s can't hold every text: its encoding is not UTF8; make another "
                    "one (createdb -E UTF8 -T template0)",
                    path);
  return is_utf8 != 0;
}

static DemurConnection *
open_server(const char *path, gboolean create, gboolean read_only, DemurWaitFunc wait,
            gpointer data, GError **error) {
  if (!check_address(path, error))
    return NULL;
  /* What stands before the address is overruled by it, what stands behind overrules it (libpq,
   * PQconnectdbParams). */
  static const char *const keywords[] = {"connect_timeout",  "fallback_application_name",
                                         "keepalives_idle",  "keepalives_interval",
                                         "keepalives_count", "tcp_user_timeout",
                                         "sslmode",          "dbname",
                                         "client_encoding",  NULL};
  /* A server that goes dark without a word is taken for away after half a minute. */
  const char *const values[] = {"10", "demur", "10", "5", "3", "30000", default_sslmode(path),
                                path, "UTF8",  NULL};
  Connection *c = g_new0(Connection, 1);
  c->base.driver = demur_driver_postgres();
  c->wait = wait;
  c->wait_data = data;
  c->read_only = read_only;
  c->server = PQconnectdbParams(keywords, values, 1);
  PQsetNoticeProcessor(c->server, ignore_notice, NULL);
  gint64 version = 0;
  gboolean ok = PQstatus(c->server) == CONNECTION_OK || keep_no_line(c, DEMUR_FAULT_NO_LINE);
  ok = ((ok && configure(c)) || demur_driver_fail(&c->base, path, "opening", error)) &&
       check_server(c, path, error) &&
       (read_version(&c->base, &version) || demur_driver_fail(&c->base, path, "opening", error));
  if (ok && version == 0 && !create) {
    demur_error_set(error, DEMUR_ERROR_NOT_FOUND,
                    "there is no workspace in the database %s; import something first, or name "
                    "another one (--workspace)",
                    path);
    ok = FALSE;
  }
  if (ok)
    return &c->base;
  close_connection(&c->base);
  return NULL;
}

/* ---- the schema ---- */

static gboolean
set_version(DemurConnection *connection, gint64 version) {
  g_autofree char *sql = g_strdup_printf(
      "DELETE FROM workspace; INSERT INTO workspace (version) VALUES (%" G_GINT64_FORMAT ")",
      version);
  return execute(of_connection(connection), sql);
}

static gboolean
run_script(DemurConnection *connection, const char *sql) {
  return execute(of_connection(connection), sql);
}

static gboolean
take_as_is(DemurConnection *connection) {
  return execute(of_connection(connection), "SET LOCAL " DEMUR_POSTGRES_COPYING " = 'as they are'");
}

static const char *
user(DemurConnection *connection) {
  return PQuser(of_connection(connection)->server);
}

static const char *
database(DemurConnection *connection) {
  return PQdb(of_connection(connection)->server);
}

/* Rows of two texts into entries. */
static gboolean
read_entries(Connection *c, const char *schema, GHashTable *entries) {
  g_autofree char *sql = demur_postgres_catalogue(schema);
  PGresult *result = ask(c, sql);
  if (!check(c, result))
    return FALSE;
  for (int i = 0; i < PQntuples(result); i++)
    g_hash_table_insert(entries, g_strdup(PQgetvalue(result, i, 0)),
                        g_strdup(PQgetvalue(result, i, 1)));
  PQclear(result);
  return TRUE;
}

/* Makes the schema anew as temporary tables and takes it back. In a transaction of its own, which may
 * write where the session may not; in an open one below a savepoint, since what it has made so far is
 * seen there only. */
static gboolean
schema(DemurConnection *connection, GHashTable *here, GHashTable *right) {
  Connection *c = of_connection(connection);
  const gboolean is_within = c->in_transaction;
  g_autofree char *make = demur_postgres_make("pg_temp");
  if (!ensure(c) || !execute(c, is_within ? "SAVEPOINT made" : BEGIN_WRITING))
    return FALSE;
  const gboolean ok = execute(c, "SET LOCAL search_path = pg_catalog") &&
                      read_entries(c, "'demur'::regnamespace", here) &&
                      execute(c, "SET LOCAL search_path = pg_temp") && execute(c, make) &&
                      read_entries(c, "pg_my_temp_schema()", right);
  if (PQtransactionStatus(c->server) != PQTRANS_IDLE)
    PQclear(ask(c, is_within ? "ROLLBACK TO made; RELEASE made" : "ROLLBACK"));
  return ok;
}

/* Rules of what was there already, such as the kinds of events: what differs is made as this program has it,
 * and then nothing may differ. */
static gboolean
mend(Connection *c, gboolean *is_right) {
  g_autoptr(GHashTable) here = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
                        right = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  if (!schema(&c->base, here, right))
    return FALSE;
  g_autoptr(GString) sql = g_string_new(NULL);
  *is_right = TRUE;
  GHashTable *const sides[] = {here, right};
  for (guint side = 0; side < G_N_ELEMENTS(sides); side++) {
    GHashTableIter iter;
    gpointer name, text;
    g_hash_table_iter_init(&iter, sides[side]);
    while (g_hash_table_iter_next(&iter, &name, &text)) {
      const char *wanted = g_hash_table_lookup(right, name);
      if (g_strcmp0(wanted, g_hash_table_lookup(here, name)) == 0)
        continue;
      *is_right = FALSE;
      g_autofree char *step = demur_postgres_mend(name, wanted);
      if (step == NULL) {
        g_autofree char *message = g_strdup_printf("%s is not what a program made", (char *)name);
        return keep_fault(c, DEMUR_FAULT_OLD, message);
      }
      g_string_append(sql, step);
    }
  }
  return *is_right || execute(c, sql->str);
}

/* New roles' rights go with new tables, where there are roles. */
static gboolean
grant_again(Connection *c) {
  gint64 has_roles = 0;
  g_autofree char *grants = demur_roles_grants(PQdb(c->server));
  return ask_number(c,
                    "SELECT count(*) FROM pg_catalog.pg_roles WHERE rolname ="
                    " pg_catalog.current_database() || '_admin' AND NOT rolcanlogin AND"
                    " pg_catalog.shobj_description(oid, 'pg_authid') = '" DEMUR_ROLES_MARK
                    "' || pg_catalog.current_database()",
                    &has_roles) &&
         (has_roles == 0 || execute(c, grants));
}

/* Whether the schema that the tables go to is empty: among others' they would be damaged from the start. */
static gboolean
is_free(Connection *c) {
  g_autoptr(GHashTable) here = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
                        nothing = g_hash_table_new(g_str_hash, g_str_equal);
  if (!read_entries(c, "'demur'::regnamespace", here))
    return FALSE;
  g_autofree char *foreign = demur_driver_foreign(here, nothing);
  return foreign == NULL || keep_fault(c, DEMUR_FAULT_TAKEN, foreign);
}

/* From the first schema that was kept on a server on, the way to this one follows from the tables' columns and
 * a comparison; what rows need beside that stands with the migration (store/schema.h). */
static gboolean
upgrade(DemurConnection *connection, gint64 from) {
  Connection *c = of_connection(connection);
  if (from == demur_store_version)
    return TRUE;
  if (from == 0) {
    g_autofree char *sql = demur_postgres_make("demur");
    return execute(c, "CREATE SCHEMA IF NOT EXISTS demur") && is_free(c) && execute(c, sql);
  }
  if (from < DEMUR_STORE_FIRST_SERVER)
    return keep_fault(c, DEMUR_FAULT_OLD, "there is no step from its schema to this program's");
  g_autofree char *sql = demur_postgres_extend("demur");
  gboolean is_right = FALSE;
  if (!execute(c, sql))
    return FALSE;
  for (gint64 v = from; v < demur_store_version; v++)
    if (demur_store_row_changes[v] != NULL && !execute(c, demur_store_row_changes[v]))
      return FALSE;
  if (!mend(c, &is_right) || (!is_right && !mend(c, &is_right)))
    return FALSE;
  return (is_right || keep_fault(c, DEMUR_FAULT_OLD, "its schema is not what a program made")) &&
         grant_again(c);
}

/* ---- transactions ---- */

/* What came of several statements: the first failure, where there is one. */
static gboolean
gather(Connection *c) {
  gboolean ok = TRUE;
  for (PGresult *result; (result = next_result(c)) != NULL;)
    if (!ok || (ok = check(c, result)))
      PQclear(result);
  return ok && (PQstatus(c->server) == CONNECTION_OK || fail(c, NULL));
}

/* The transaction with the writers' lock, in one way to the server and back. Who waits stays in the server's
 * queue, which is served in order, until the lock is there or it is told to give up: a place that is given up
 * and taken again is the last one. Limits of the server's own (a database's statement_timeout) don't end it. */
static gboolean
begin_write(Connection *c) {
  static const char sql[] =
      BEGIN_WRITING "; SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0;"
                    "SELECT pg_catalog.pg_advisory_xact_lock(" DEMUR_POSTGRES_WRITER_LOCK ");"
                    "SET LOCAL statement_timeout TO DEFAULT";
  for (guint n_asked = 0;;) {
    if (!drain(c) || (PQsendQuery(c->server, sql) != 1 && !fail(c, NULL)))
      return FALSE;
    c->gave_up = FALSE;
    gboolean goes_on = TRUE;
    while (goes_on && !has_answered(c, DEMUR_WAIT_STEP_MS))
      goes_on = c->wait(DEMUR_WAIT_LOCK, n_asked++, c->wait_data);
    if (!goes_on)
      take_back(c);
    if (gather(c) && goes_on)
      return TRUE;
    if (!goes_on) /* also where the lock came while it was taken back */
      keep_fault(c, DEMUR_FAULT_LOCKED, "another one writes");
    /* Twice: a taking back that comes late ends the first. */
    for (int i = 0; i < 2 && PQtransactionStatus(c->server) != PQTRANS_IDLE; i++)
      PQclear(ask(c, "ROLLBACK"));
    if (!goes_on || c->fault != DEMUR_FAULT_LOCKED ||
        !c->wait(DEMUR_WAIT_LOCK, n_asked++, c->wait_data))
      return FALSE;
  }
}

static gboolean
begin(DemurConnection *connection, guint depth, DemurLock lock) {
  Connection *c = of_connection(connection);
  if (depth > 0) {
    g_autofree char *sql = g_strdup_printf("SAVEPOINT s%u", depth);
    return execute(c, sql);
  }
  c->in_transaction =
      ensure(c) &&
      (lock == DEMUR_LOCK_WRITE ? begin_write(c)
                                : execute(c, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"));
  return c->in_transaction;
}

static gboolean
commit(DemurConnection *connection, guint depth) {
  Connection *c = of_connection(connection);
  if (depth > 0) {
    g_autofree char *sql = g_strdup_printf("RELEASE s%u", depth);
    return execute(c, sql);
  }
  if (!drain(c))
    return FALSE;
  /* What failed before, and was not undone, would make of it a rollback. */
  if (PQtransactionStatus(c->server) == PQTRANS_INERROR)
    return keep_fault(c, DEMUR_FAULT_OTHER, "what was written before failed");
  if (!execute(c, "COMMIT")) {
    /* A server that was left while it had the COMMIT may carry it out yet. */
    if (PQstatus(c->server) != CONNECTION_OK)
      c->fault = DEMUR_FAULT_AWAY;
    return FALSE;
  }
  c->in_transaction = FALSE;
  return TRUE;
}

static void
rollback(DemurConnection *connection, guint depth) {
  Connection *c = of_connection(connection);
  g_autofree char *sql = depth == 0 ? g_strdup("ROLLBACK")
                                    : g_strdup_printf("ROLLBACK TO s%u; RELEASE s%u", depth, depth);
  (void)drain(c); /* it is undone, whatever came of it */
  /* Twice: what takes back an earlier statement is sent beside, and may arrive for this one. */
  for (int tries = depth == 0 ? 2 : 1; tries > 0 && PQtransactionStatus(c->server) != PQTRANS_IDLE;
       tries--)
    PQclear(ask(c, sql));
  if (depth == 0)
    c->in_transaction = FALSE;
}

static void
end_read(DemurConnection *connection) {
  rollback(connection, 0);
}

/* ---- statements ---- */

/* ? and ?N as $N; what stands in quotes is left alone. *n: parameters that it has. */
static char *
write_places(const char *sql, int *n) {
  GString *text = g_string_new(NULL);
  char quote = '\0';
  *n = 0;
  for (const char *at = sql; *at != '\0'; at++) {
    if (quote != '\0' || *at == '\'' || *at == '"') {
      quote = quote == '\0' ? *at : *at == quote ? '\0' : quote;
      g_string_append_c(text, *at);
    } else if (*at == '?') {
      const int place = g_ascii_isdigit(at[1]) ? (int)strtol(at + 1, NULL, 10) : *n + 1;
      while (g_ascii_isdigit(at[1]))
        at++;
      g_string_append_printf(text, "$%d", place);
      *n = MAX(*n, place);
    } else {
      g_string_append_c(text, *at);
    }
  }
  return g_string_free(text, FALSE);
}

static DemurStatement *
prepare(DemurConnection *connection, const char *sql) {
  Statement *s = g_new0(Statement, 1);
  s->base.driver = demur_driver_postgres();
  s->connection = of_connection(connection);
  s->sql = write_places(sql, &s->n_parameters);
  s->parameters = g_new0(Parameter, MAX(s->n_parameters, 1));
  s->prepared = g_new0(Oid, MAX(s->n_parameters, 1));
  s->row = -1;
  return &s->base;
}

static void
reset(DemurStatement *statement) {
  Statement *s = of_statement(statement);
  if (s->connection->on_line == s)
    free_line(s->connection, FALSE);
  g_clear_pointer(&s->rows, PQclear);
  g_clear_pointer(&s->rest, PQclear);
  g_clear_pointer(&s->message_behind, g_free);
  s->row = -1;
}

static void
finalize(DemurStatement *statement) {
  Statement *s = of_statement(statement);
  reset(statement);
  g_free(s->sql);
  g_free(s->parameters);
  g_free(s->prepared);
  g_free(s);
}

static void
clear(DemurStatement *statement) {
  Statement *s = of_statement(statement);
  memset(s->parameters, 0, sizeof *s->parameters * (size_t)MAX(s->n_parameters, 1));
}

static int
n_parameters(const DemurStatement *statement) {
  return ((const Statement *)statement)->n_parameters;
}

static Parameter *
parameter(DemurStatement *statement, int at, Oid type) {
  Statement *s = of_statement(statement);
  static Parameter nowhere; /* as SQLite: no such place, nothing bound */
  Parameter *p = at >= 1 && at <= s->n_parameters ? &s->parameters[at - 1] : &nowhere;
  *p = (Parameter){.type = type};
  return p;
}

static void
bind_text(DemurStatement *statement, int at, const char *text) {
  parameter(statement, at, OID_TEXT)->value = text;
}

static void
bind_bits(Parameter *p, guint64 bits) {
  const guint64 big = GUINT64_TO_BE(bits);
  memcpy(p->number, &big, sizeof big);
  p->value = p->number;
  p->length = sizeof big;
  p->is_binary = 1;
}

static void
bind_double(DemurStatement *statement, int at, double value) {
  Parameter *p = parameter(statement, at, OID_FLOAT8);
  const double kept =
      value + 0.0; /* as in a file, where there is no -0: seals are of these bytes */
  guint64 bits;
  memcpy(&bits, &kept, sizeof bits);
  if (!isnan(value))
    bind_bits(p, bits);
}

static void
bind_int(DemurStatement *statement, int at, gint64 value) {
  bind_bits(parameter(statement, at, OID_INT8), (guint64)value);
}

static void
bind_blob(DemurStatement *statement, int at, gconstpointer bytes, gsize n_bytes) {
  Parameter *p = parameter(statement, at, OID_BYTEA);
  p->value = n_bytes > 0 ? bytes : "";
  p->length = (int)n_bytes;
  p->is_binary = 1;
}

/* Prepares it where it isn't in this session, or not for what is bound. */
static gboolean
prepare_here(Statement *s) {
  Connection *c = s->connection;
  gboolean is_ready = s->session == c->session;
  for (int i = 0; i < s->n_parameters; i++) {
    const Oid type = s->parameters[i].type;
    is_ready &= type == OID_UNKNOWN || type == s->prepared[i];
    if (type != OID_UNKNOWN)
      s->prepared[i] = type;
  }
  if (is_ready)
    return TRUE;
  if (!drain(c))
    return FALSE;
  g_snprintf(s->name, sizeof s->name, "s%u", ++c->n_statements);
  s->session = 0;
  PGresult *result =
      last_result(c, PQsendPrepare(c->server, s->name, s->sql, s->n_parameters, s->prepared));
  if (!check(c, result))
    return FALSE;
  PQclear(result);
  s->session = c->session;
  return TRUE;
}

/* Whether every text is one; which it is that isn't, the name of a file mostly, is told. */
static gboolean
check_texts(Statement *s) {
  for (int i = 0; i < s->n_parameters; i++) {
    const Parameter *p = &s->parameters[i];
    if (p->type != OID_TEXT || p->value == NULL || g_utf8_validate(p->value, -1, NULL))
      continue;
    g_autofree char *shown = demur_shown_text(p->value);
    g_autofree char *message = g_strdup_printf("\"%s\" is no UTF-8", shown);
    return keep_fault(s->connection, DEMUR_FAULT_TEXT, message);
  }
  return TRUE;
}

/* Sends it off with what is bound. */
static gboolean
send_bound(Statement *s) {
  Connection *c = s->connection;
  if (!check_texts(s))
    return FALSE;
  const int n = s->n_parameters;
  g_autofree const char **values = g_new0(const char *, MAX(n, 1));
  g_autofree int *lengths = g_new0(int, MAX(n, 1)), *formats = g_new0(int, MAX(n, 1));
  for (int i = 0; i < n; i++) {
    values[i] = s->parameters[i].value;
    lengths[i] = s->parameters[i].length;
    formats[i] = s->parameters[i].is_binary;
  }
  return PQsendQueryPrepared(c->server, s->name, n, values, lengths, formats, 1) == 1 ||
         fail(c, NULL);
}

static gboolean
run(Statement *s) {
  Connection *c = s->connection;
  if (!ensure(c) || !drain(c) || !prepare_here(s) || !send_bound(s))
    return FALSE;
  if (PQsetSingleRowMode(c->server) != 1)
    return fail(c, NULL);
  c->on_line = s;
  return TRUE;
}

/* The next row from the line. */
static DemurStep
take_row(Statement *s) {
  Connection *c = s->connection;
  PQclear(s->rows);
  s->rows = next_result(c);
  s->row = 0;
  if (PQresultStatus(s->rows) == PGRES_SINGLE_TUPLE)
    return DEMUR_STEP_ROW;
  c->on_line = NULL;
  PQclear(next_result(c)); /* the end */
  if (!check(c, s->rows)) {
    s->rows = NULL;
    return DEMUR_STEP_FAILED;
  }
  c->gave_up = FALSE; /* it was answered all the same */
  c->n_changed = g_ascii_strtoll(PQcmdTuples(s->rows), NULL, 10);
  return DEMUR_STEP_DONE;
}

static DemurStep
step(DemurStatement *statement) {
  Statement *s = of_statement(statement);
  Connection *c = s->connection;
  if (s->rows == NULL && s->rest == NULL && s->message_behind == NULL && !run(s))
    return DEMUR_STEP_FAILED;
  if (c->on_line == s)
    return take_row(s);
  if (++s->row < PQntuples(s->rows))
    return DEMUR_STEP_ROW;
  if (s->rest != NULL) {
    PQclear(s->rows);
    s->rows = g_steal_pointer(&s->rest);
    s->row = 0;
    return DEMUR_STEP_ROW;
  }
  if (s->message_behind == NULL)
    return DEMUR_STEP_DONE;
  keep_fault(c, s->fault_behind, s->message_behind);
  return DEMUR_STEP_FAILED;
}

/* On a line as slow as a network's, a way there and back a row is what a row costs. */
static gboolean
run_later(DemurStatement *statement) {
  Statement *s = of_statement(statement);
  Connection *c = s->connection;
  if (!c->in_transaction) {
    DemurStep end;
    while ((end = step(statement)) == DEMUR_STEP_ROW)
      ;
    reset(statement);
    return end == DEMUR_STEP_DONE;
  }
  if (!prepare_here(s))
    return FALSE;
  free_line(c, TRUE);
  if (c->n_later == 0 && PQenterPipelineMode(c->server) != 1)
    return fail(c, NULL);
  if (!send_bound(s)) {
    if (c->n_later == 0)
      (void)PQexitPipelineMode(c->server);
    return FALSE;
  }
  return ++c->n_later < MOST_LATER || drain(c);
}

static int
n_columns(const DemurStatement *statement) {
  const Statement *s = (const Statement *)statement;
  return s->rows != NULL ? PQnfields(s->rows) : 0;
}

static const char *
column_name(DemurStatement *statement, int at) {
  return PQfname(of_statement(statement)->rows, at);
}

static DemurColumnType
column_type(DemurStatement *statement, int at) {
  const Statement *s = of_statement(statement);
  if (PQgetisnull(s->rows, s->row, at))
    return DEMUR_COLUMN_NULL;
  switch (PQftype(s->rows, at)) {
  case OID_BOOL:
  case OID_INT2:
  case OID_INT4:
  case OID_INT8:
    return DEMUR_COLUMN_INTEGER;
  case OID_FLOAT4:
  case OID_FLOAT8:
    return DEMUR_COLUMN_FLOAT;
  case OID_BYTEA:
    return DEMUR_COLUMN_BLOB;
  default:
    return DEMUR_COLUMN_TEXT;
  }
}

/* The value's bytes as one whole number, by their number: 8, 4, 2 or 1 as the types above have them. */
static guint64
bits_at(const Statement *s, int at, int *length) {
  const char *value = PQgetvalue(s->rows, s->row, at);
  *length = PQgetlength(s->rows, s->row, at);
  guint64 bits = 0;
  const int n = MIN(*length, (int)sizeof bits);
  for (int i = 0; i < n; i++)
    bits = bits << 8 | (guint8)value[i];
  return bits;
}

static double
float_at(const Statement *s, int at) {
  int length;
  const guint64 bits = bits_at(s, at, &length);
  if (length == sizeof(float)) {
    const guint32 half = (guint32)bits;
    float number;
    memcpy(&number, &half, sizeof number);
    return (double)number;
  }
  double number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

static gint64
integer_at(const Statement *s, int at) {
  int length;
  const guint64 bits = bits_at(s, at, &length);
  switch (length) {
  case sizeof(gint16):
    return (gint16)(guint16)bits;
  case sizeof(gint32):
    return (gint32)(guint32)bits;
  default:
    return (gint64)bits;
  }
}

static gint64
column_int(DemurStatement *statement, int at) {
  const Statement *s = of_statement(statement);
  switch (column_type(statement, at)) {
  case DEMUR_COLUMN_INTEGER:
    return integer_at(s, at);
  case DEMUR_COLUMN_FLOAT:
    return (gint64)float_at(s, at);
  case DEMUR_COLUMN_TEXT:
    return g_ascii_strtoll(PQgetvalue(s->rows, s->row, at), NULL, 10);
  default:
    return 0;
  }
}

static double
column_double(DemurStatement *statement, int at) {
  const Statement *s = of_statement(statement);
  switch (column_type(statement, at)) {
  case DEMUR_COLUMN_INTEGER:
    return (double)integer_at(s, at);
  case DEMUR_COLUMN_FLOAT:
    return float_at(s, at);
  case DEMUR_COLUMN_TEXT:
    return g_ascii_strtod(PQgetvalue(s->rows, s->row, at), NULL);
  default:
    return 0.0;
  }
}

static gconstpointer
column_bytes(DemurStatement *statement, int at, gsize *n_bytes) {
  Statement *s = of_statement(statement);
  switch (column_type(statement, at)) {
  case DEMUR_COLUMN_NULL:
    *n_bytes = 0;
    return NULL;
  case DEMUR_COLUMN_INTEGER:
    *n_bytes =
        (gsize)g_snprintf(s->digits, sizeof s->digits, "%" G_GINT64_FORMAT, integer_at(s, at));
    return s->digits;
  default:
    *n_bytes = (gsize)PQgetlength(s->rows, s->row, at);
    return PQgetvalue(s->rows, s->row, at);
  }
}

/* libpq puts a NUL behind every value. */
static const char *
column_text(DemurStatement *statement, int at) {
  gsize n_bytes;
  return column_bytes(statement, at, &n_bytes);
}

static gint64
n_changed(DemurConnection *connection) {
  return of_connection(connection)->n_changed;
}

/* ---- what others do ---- */

/* The log's trigger tells with nothing said, who opens a scan with a word. */
static gboolean
start_listening(DemurConnection *connection) {
  Connection *c = of_connection(connection);
  c->listens = ensure(c) && execute(c, "LISTEN " DEMUR_POSTGRES_CHANNEL);
  return c->listens;
}

/* What has come already. */
static void
take_notices(Connection *c, DemurNews *news) {
  PGnotify *notice;
  while ((notice = PQnotifies(c->server)) != NULL) {
    if (notice->be_pid != PQbackendPID(c->server))
      *(*notice->extra == '\0' ? &news->written : &news->opened) = TRUE;
    PQfreemem(notice);
  }
}

static gboolean
wait_change(DemurConnection *connection, guint timeout_ms, int wake, DemurNews *news) {
  Connection *c = of_connection(connection);
  const gint64 end = g_get_monotonic_time() + (gint64)timeout_ms * 1000;
  *news = (DemurNews){0};
  if (!drain(c))
    return FALSE;
  GPollFD lines[] = {{.fd = PQsocket(c->server), .events = G_IO_IN},
                     {.fd = wake, .events = G_IO_IN}};
  for (;;) {
    if (PQconsumeInput(c->server) != 1 || PQstatus(c->server) != CONNECTION_OK)
      return keep_fault(c, DEMUR_FAULT_AWAY, PQerrorMessage(c->server));
    take_notices(c, news);
    const gint64 left = end - g_get_monotonic_time();
    if (news->written || news->opened || lines[1].revents != 0 || left <= 0)
      return TRUE;
    (void)g_poll(lines, wake >= 0 ? 2 : 1, (int)((left + 999) / 1000));
  }
}

/* ---- the whole ---- */

static gboolean
read_chunk(DemurConnection *connection, gint64 row, void *bytes, gsize n_bytes) {
  Connection *c = of_connection(connection);
  Parameter p = {.type = OID_INT8};
  bind_bits(&p, (guint64)row);
  const char *const values[] = {p.value};
  if (!drain(c))
    return FALSE;
  PGresult *result =
      last_result(c, PQsendQueryParams(c->server, "SELECT data FROM cohort_column WHERE id = $1", 1,
                                       &p.type, values, &p.length, &p.is_binary, 1));
  if (!check(c, result))
    return FALSE;
  const gboolean ok = PQntuples(result) == 1 && (gsize)PQgetlength(result, 0, 0) == n_bytes;
  if (ok)
    memcpy(bytes, PQgetvalue(result, 0, 0), n_bytes);
  PQclear(result);
  return ok || keep_fault(c, DEMUR_FAULT_OTHER, "a chunk is not as long as it was");
}

/* A text is its bytes in binary too. */
static char *
read_document(DemurConnection *connection, gint64 row, gsize *length) {
  Connection *c = of_connection(connection);
  Parameter p = {.type = OID_INT8};
  bind_bits(&p, (guint64)row);
  const char *const values[] = {p.value};
  if (!drain(c))
    return NULL;
  PGresult *result =
      last_result(c, PQsendQueryParams(c->server, "SELECT document FROM selector WHERE id = $1", 1,
                                       &p.type, values, &p.length, &p.is_binary, 1));
  if (!check(c, result))
    return NULL;
  char *text = NULL;
  if (PQntuples(result) == 1) {
    *length = (gsize)PQgetlength(result, 0, 0);
    text = demur_memory_unset(*length + 1, 1, 1, NULL);
  }
  if (text != NULL) {
    memcpy(text, PQgetvalue(result, 0, 0), *length);
    text[*length] = '\0';
  } else {
    keep_fault(c, DEMUR_FAULT_OTHER, "a document is gone, or there is no memory for it");
  }
  PQclear(result);
  return text;
}

static gboolean
replace(DemurConnection *to, DemurConnection *from) {
  (void)from;
  return keep_fault(of_connection(to), DEMUR_FAULT_OTHER, "only files are replaced as a whole");
}

static const char *
make_dialect(DemurDialect what) {
  return what == DEMUR_DIALECT_FOREIGN_KEYS ? demur_postgres_references() : NULL;
}

static const DemurDriver driver = {
    .open = open_server,
    .close = close_connection,
    .fault = fault,
    .version = read_version,
    .upgrade = upgrade,
    .set_version = set_version,
    .run_script = run_script,
    .listen = start_listening,
    .wait_change = wait_change,
    .take_as_is = take_as_is,
    .user = user,
    .database = database,
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
    .make_dialect = make_dialect,
    .dialect =
        {
            [DEMUR_DIALECT_INTEGRITY] =
                "SELECT c.relname::text FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c"
                " ON c.oid = i.indexrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
                " WHERE n.nspname = 'demur' AND NOT (i.indisvalid AND i.indisready)",
            [DEMUR_DIALECT_OUTCOME] =
                "SELECT document::json ->> 'outcome' FROM selector WHERE name = ?",
            [DEMUR_DIALECT_OPENED] =
                "SELECT l.objid::bigint, a.usename::text FROM pg_catalog.pg_locks l"
                " JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid"
                " JOIN pg_catalog.pg_database d ON d.oid = l.database"
                " WHERE l.locktype = 'advisory' AND d.datname = pg_catalog.current_database()"
                " AND l.classid = " OPEN_CLASS
                " AND l.objsubid = 2 AND l.granted AND l.pid <> pg_catalog.pg_backend_pid()"
                " ORDER BY 1, 2",
            [DEMUR_DIALECT_OPEN] =
                "SELECT pg_catalog.pg_advisory_lock_shared(" OPEN_CLASS ", ?1::int),"
                " pg_catalog.pg_notify('" DEMUR_POSTGRES_CHANNEL "', 'opened')",
            [DEMUR_DIALECT_CLOSE] =
                "SELECT pg_catalog.pg_advisory_unlock_shared(" OPEN_CLASS ", ?1::int),"
                " pg_catalog.pg_notify('" DEMUR_POSTGRES_CHANNEL "', 'opened')",
            [DEMUR_DIALECT_COUNT_ROWS] = "ANALYZE",
            [DEMUR_DIALECT_LAST_NUMBER] =
                "SELECT pg_catalog.pg_sequence_last_value("
                "pg_catalog.pg_get_serial_sequence('demur.' || ?1, ?2)::regclass)",
            [DEMUR_DIALECT_SET_LAST_NUMBER] =
                "SELECT pg_catalog.setval("
                "pg_catalog.pg_get_serial_sequence('demur.' || ?1, ?2)::regclass, ?3)",
        },
};

const DemurDriver *
demur_driver_postgres(void) {
  return &driver;
}
