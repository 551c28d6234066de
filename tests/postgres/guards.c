/* What a server, its defaults or who else writes to its database may not do to a workspace unseen. Each
 * change is made past the program (tests/support/store.h) and taken back: the right answer is that it is
 * told, and that nothing was before and behind. Run by tests/support/with-postgres.sh. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gio/gio.h>

#include "base/error.h"
#include "common.h"
#include "store/connection.h"
#include "store/events.h"
#include "store/reviews.h"
#include "store/verdicts.h"
#include "support/store.h"

#define N_CLIENTS 3
#define N_LOOPS 15

static DemurWorkspace *
open_workspace(const char *path) {
  return server_open(path, "reader");
}

static gboolean
comment(DemurWorkspace *workspace, const char *text, GError **error) {
  return server_comment(workspace, "1.2", 0, text, "reader", error);
}

/* How many findings of a subject are faults; any other fault ends the test. */
static guint
n_faults(DemurWorkspace *workspace, const char *subject) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurVerification) found = demur_workspace_verify(workspace, NULL, &error);
  g_assert_no_error(error);
  guint n = 0;
  for (size_t f = 0; f < found->n_findings; f++) {
    if (found->findings[f].ok)
      continue;
    g_test_message("%s: %s", found->findings[f].subject, found->findings[f].message);
    g_assert_cmpstr(found->findings[f].subject, ==, subject);
    n++;
  }
  return n;
}

/* Of the schema, on a line of its own: nothing that was prepared for what stood there before. */
static guint
n_faults_at(const char *path) {
  g_autoptr(DemurWorkspace) workspace = open_workspace(path);
  return n_faults(workspace, "schema");
}

/* The address of another database of the server. */
static char *
of_database(const char *path, const char *name) {
  const char *options = strchr(path, '?');
  const char *slash = g_strrstr_len(path, options - path, "/");
  return g_strdup_printf("%.*s/%s%s", (int)(slash - path), path, name, options);
}

static void
every_change_of_the_schema_is_told(void) {
  static const struct {
    const char *make, *undo;
  } changes[] = {
      {"CREATE OR REPLACE FUNCTION event_is_kept() RETURNS trigger LANGUAGE plpgsql AS"
       " 'BEGIN RETURN new; END'",
       "CREATE OR REPLACE FUNCTION event_is_kept() RETURNS trigger LANGUAGE plpgsql AS"
       " $$BEGIN RAISE EXCEPTION 'an event is never changed or removed'; END$$"},
      {"ALTER TABLE event DROP CONSTRAINT event_chain_key", "ALTER TABLE event ADD UNIQUE (chain)"},
      {"ALTER TABLE score DROP CONSTRAINT score_scan_id_model_key",
       "ALTER TABLE score ADD UNIQUE (scan_id, model)"},
      {"ALTER TABLE checkpoint DROP CONSTRAINT checkpoint_pkey",
       "ALTER TABLE checkpoint ADD PRIMARY KEY (name)"},
      {"ALTER TABLE verdict DROP CONSTRAINT verdict_batch_id_fkey",
       "ALTER TABLE verdict ADD FOREIGN KEY (batch_id) REFERENCES verdict_batch (id)"},
      {"ALTER TABLE verdict ALTER risk SET DEFAULT 0.5",
       "ALTER TABLE verdict ALTER risk DROP DEFAULT"},
      {"ALTER TABLE verdict ALTER scan_id TYPE text COLLATE \"POSIX\"",
       "ALTER TABLE verdict ALTER scan_id TYPE text COLLATE \"C\""},
      {"ALTER TABLE verdict DROP CONSTRAINT verdict_verdict_check, ADD CONSTRAINT"
       " verdict_verdict_check CHECK (verdict <> '')",
       "ALTER TABLE verdict DROP CONSTRAINT verdict_verdict_check, ADD CONSTRAINT"
       " verdict_verdict_check CHECK (verdict IN ('accepted', 'red_flag', 'not_eligible',"
       " 'no_score', 'not_tuned', 'failed'))"},
      {"CREATE TRIGGER event_not_changed BEFORE UPDATE ON review EXECUTE FUNCTION event_is_kept()",
       "DROP TRIGGER event_not_changed ON review"},
      {"ALTER TABLE event DISABLE TRIGGER event_not_changed",
       "ALTER TABLE event ENABLE TRIGGER event_not_changed"},
      {"ALTER TABLE verdict ENABLE ROW LEVEL SECURITY",
       "ALTER TABLE verdict DISABLE ROW LEVEL SECURITY"},
      {"CREATE POLICY mine ON verdict USING (true)", "DROP POLICY mine ON verdict"},
      {"CREATE TABLE public.more () INHERITS (verdict)", "DROP TABLE public.more"},
      {"CREATE RULE quiet AS ON DELETE TO review DO INSTEAD NOTHING", "DROP RULE quiet ON review"},
      {"CREATE INDEX mine ON verdict ((risk * 2))", "DROP INDEX mine"},
      {"DROP INDEX verdict_scan", "CREATE INDEX verdict_scan ON verdict (scan_id, id)"},
      {"ALTER TABLE review SET UNLOGGED", "ALTER TABLE review SET LOGGED"},
      {"CREATE VIEW mine AS SELECT 1 AS one", "DROP VIEW mine"},
      {"CREATE DOMAIN mine AS bigint", "DROP DOMAIN mine"},
      {"CREATE FUNCTION demur.lower(text) RETURNS text LANGUAGE sql AS 'SELECT NULL::text'",
       "DROP FUNCTION demur.lower(text)"},
  };
  g_autofree char *path = demur_test_store_path("/changes", "w");
  g_autoptr(DemurWorkspace) workspace = open_workspace(path);
  g_autoptr(GError) error = NULL;
  g_assert_true(server_give_verdict(workspace, "1.2", &error));
  g_assert_cmpuint(n_faults_at(path), ==, 0);
  for (size_t i = 0; i < G_N_ELEMENTS(changes); i++) {
    demur_test_store_run(path, changes[i].make);
    g_test_message("%s", changes[i].make);
    g_assert_cmpuint(n_faults_at(path), >, 0);
    demur_test_store_run(path, changes[i].undo);
  }
  g_assert_cmpuint(n_faults_at(path), ==, 0);
}

/* Both of a line that only reads, and within a transaction that writes. */
static void
the_schema_is_looked_at_from_everywhere(void) {
  g_autofree char *path = demur_test_store_path("/everywhere", "w");
  g_autoptr(DemurWorkspace) workspace = open_workspace(path);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurWorkspace) reader = demur_workspace_open(path, DEMUR_WORKSPACE_READ_ONLY, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(n_faults(reader, "schema"), ==, 0);
  g_assert_true(demur_workspace_begin(workspace, &error));
  g_assert_true(comment(workspace, "before", &error));
  g_assert_cmpuint(n_faults(workspace, "schema"), ==, 0);
  g_assert_true(comment(workspace, "behind", &error));
  g_assert_true(demur_workspace_commit(workspace, &error));
  g_assert_cmpuint(n_faults(reader, "schema"), ==, 0);
}

static void
an_operator_of_the_workspace_s_schema_stands_for_no_other(void) {
  g_autofree char *path = demur_test_store_path("/operators", "w");
  g_autoptr(DemurWorkspace) workspace = open_workspace(path);
  g_autoptr(GError) error = NULL;
  g_assert_true(server_give_verdict(workspace, "1.2", &error));
  demur_test_store_run(
      path, "CREATE FUNCTION always(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true';"
            "CREATE OPERATOR = (LEFTARG = text, RIGHTARG = text, FUNCTION = always)");
  g_autoptr(DemurWorkspace) other = open_workspace(path);
  g_autoptr(GPtrArray) verdicts = demur_verdicts_of_scan(other, NULL, "nobody's", &error);
  g_assert_no_error(error);
  g_assert_cmpuint(verdicts->len, ==, 0);
  g_assert_cmpuint(n_faults(other, "schema"), ==, 2); /* the function, the operator */
}

static void
a_reference_that_leads_nowhere_is_told(void) {
  g_autofree char *path = demur_test_store_path("/references", "w");
  g_autoptr(DemurWorkspace) workspace = open_workspace(path);
  g_assert_cmpuint(n_faults(workspace, "database"), ==, 0);
  demur_test_store_run(path, "SET session_replication_role = replica;"
                             "INSERT INTO cohort_split VALUES (7, 0, 'train', 1, 1)");
  g_assert_cmpuint(n_faults(workspace, "database"), ==, 1);
}

/* Whatever a database sets by default. */
static void
who_waited_sees_what_was_written_meanwhile(void) {
  g_autofree char *path = demur_test_store_path("/isolation", "w");
  g_autoptr(DemurWorkspace) workspace = open_workspace(path);
  demur_test_store_run(
      path, "DO $$BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation ="
            " ''repeatable read''', current_database()); EXECUTE format('ALTER DATABASE %I SET"
            " default_transaction_read_only = on', current_database()); END$$");
  pid_t clients[N_CLIENTS];
  for (int c = 0; c < N_CLIENTS; c++)
    if ((clients[c] = fork()) == 0) {
      g_autoptr(DemurWorkspace) mine = open_workspace(path);
      gboolean ok = TRUE;
      for (int i = 0; ok && i < N_LOOPS; i++)
        ok = server_give_verdict(mine, "1.2", NULL);
      _exit(ok ? 0 : 1);
    }
  for (int c = 0; c < N_CLIENTS; c++) {
    int status;
    g_assert_cmpint(waitpid(clients[c], &status, 0), ==, clients[c]);
    g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) verdicts = demur_verdicts_of_scan(workspace, NULL, "1.2", &error);
  g_assert_no_error(error);
  g_assert_cmpuint(verdicts->len, ==, N_CLIENTS * N_LOOPS);
}

static void
texts_are_utf8_whatever_the_address_says(void) {
  g_autofree char *path = demur_test_store_path("/encoding", "w");
  g_autofree char *latin = server_with(path, "client_encoding=LATIN1");
  g_autoptr(DemurWorkspace) workspace = open_workspace(latin);
  g_autoptr(GError) error = NULL;
  g_assert_true(comment(workspace, "\xc3\xa4", &error));
  g_assert_cmpint(
      demur_test_store_number(path, "SELECT count(*) FROM review WHERE ascii(comment) = 228 AND"
                                    " length(comment) = 1"),
      ==, 1);
  g_assert_false(comment(workspace, "of \xff.dcm", &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STORE);
  g_test_message("%s", error->message);
  g_assert_nonnull(strstr(error->message, ".dcm"));
}

static void
a_database_of_another_encoding_is_refused(void) {
  g_autofree char *path = demur_test_store_path("/latin", "w");
  demur_test_store_run(path, "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0");
  g_autofree char *latin = of_database(path, "latin");
  g_autoptr(GError) error = NULL;
  g_assert_null(demur_workspace_open(latin, DEMUR_WORKSPACE_CREATE, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STORE);
  g_test_message("%s", error->message);
}

/* Nor may libpq's own words of an address that it can't read. */
static void
a_password_is_never_told(void) {
  static const char *const options[] = {"user:s3cret@", "user:s3cret%zz@", "user:s3cret%@"};
  for (guint i = 0; i < G_N_ELEMENTS(options); i++) {
    g_autofree char *path = g_strdup_printf("postgresql://%slocalhost/none", options[i]);
    g_autoptr(GError) error = NULL;
    g_assert_null(demur_workspace_open(path, DEMUR_WORKSPACE_CREATE, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE);
    g_test_message("%s", error->message);
    g_assert_null(strstr(error->message, "s3cret"));
  }
}

/* As the first program that kept a workspace on a server left it, and with less of what later ones may bring: a
 * column, a table, an index, a rule. */
#define OF_BEFORE                                                                                  \
  "DROP FUNCTION event_is_written() CASCADE; DROP FUNCTION user_is_own() CASCADE;"                 \
  "DROP FUNCTION framed(text); ALTER TABLE verdict DROP COLUMN making;"                            \
  "DROP TABLE verdict_undo; DROP INDEX verdict_scan, verdict_event;"                               \
  "CREATE INDEX verdict_event ON verdict (event);"                                                 \
  "ALTER TABLE event DROP CONSTRAINT event_kind_check,"                                            \
  " ADD CONSTRAINT event_kind_check CHECK (kind <> 'setting');"                                    \
  "UPDATE workspace SET version = 25"

static void
an_older_schema_is_brought_up(void) {
  g_autofree char *path = demur_test_store_path("/older", "w");
  g_autoptr(DemurWorkspace) before = open_workspace(path);
  g_autoptr(GError) error = NULL;
  g_assert_true(comment(before, "before", &error));
  g_clear_pointer(&before, demur_workspace_close);
  demur_test_store_run(path, OF_BEFORE);
  g_assert_null(demur_workspace_open(path, DEMUR_WORKSPACE_READ_ONLY, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STORE);
  g_clear_error(&error);
  g_autoptr(DemurWorkspace) again = open_workspace(path);
  g_assert_cmpuint(n_faults(again, "schema"), ==, 0);
  g_assert_true(server_give_verdict(again, "1.2", &error));
  g_autoptr(GPtrArray) events = demur_events_list(again, 0, "review:1", &error);
  g_assert_no_error(error);
  g_assert_cmpuint(events->len, ==, 1);
}

/* Nothing is half brought up: what no step leads from stays as it was. */
static void
a_schema_of_nobody_s_is_left_alone(void) {
  static const char *const changes[] = {OF_BEFORE ";ALTER TABLE verdict ALTER risk TYPE real",
                                        OF_BEFORE ";CREATE VIEW mine AS SELECT 1 AS one",
                                        "UPDATE workspace SET version = 24"};
  for (guint i = 0; i < G_N_ELEMENTS(changes); i++) {
    g_autofree char *name = g_strdup_printf("/strange-%u", i);
    g_autofree char *path = demur_test_store_path(name, "w");
    demur_workspace_close(open_workspace(path));
    demur_test_store_run(path, changes[i]);
    g_autoptr(GError) error = NULL;
    g_assert_null(demur_workspace_open(path, DEMUR_WORKSPACE_CREATE, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STORE);
    g_test_message("%s", error->message);
    g_assert_cmpint(demur_test_store_number(path, "SELECT version FROM workspace"), <, 26);
    g_assert_cmpint(demur_test_store_number(
                        path, "SELECT count(*) FROM pg_class WHERE relname = 'verdict_undo'"),
                    ==, i == 2);
  }
}

/* A server that knows no TLS: says so, and then tells whether anything more came. */
static gpointer
answer_without_tls(gpointer data) {
  GSocketListener *listener = data;
  g_autoptr(GSocketConnection) line = g_socket_listener_accept(listener, NULL, NULL, NULL);
  char request[8];
  GInputStream *in = g_io_stream_get_input_stream(G_IO_STREAM(line));
  gsize n = 0;
  g_input_stream_read_all(in, request, sizeof request, &n, NULL, NULL);
  g_output_stream_write_all(g_io_stream_get_output_stream(G_IO_STREAM(line)), "N", 1, NULL, NULL,
                            NULL);
  char more;
  return GINT_TO_POINTER(g_input_stream_read(in, &more, 1, NULL, NULL) > 0);
}

/* Whether a line to it, not kept safe, is spoken on. 0.0.0.0 is reached here, and is no name of here. */
static gboolean
speaks_in_the_open(const char *host, const char *options) {
  g_autoptr(GSocketListener) listener = g_socket_listener_new();
  const guint16 port = g_socket_listener_add_any_inet_port(listener, NULL, NULL);
  GThread *server = g_thread_new("server", answer_without_tls, listener);
  g_autofree char *path = g_strdup_printf("postgresql://%s:%u/none%s", host, port, options);
  g_autoptr(GError) error = NULL;
  g_assert_null(demur_workspace_open(path, DEMUR_WORKSPACE_CREATE, &error));
  g_test_message("%s", error->message);
  /* One that it never spoke to is still waiting. */
  g_autoptr(GSocketClient) client = g_socket_client_new();
  g_autoptr(GSocketConnection) line =
      g_socket_client_connect_to_host(client, "127.0.0.1", port, NULL, NULL);
  g_clear_object(&line);
  return GPOINTER_TO_INT(g_thread_join(server));
}

static void
a_line_over_a_network_is_kept_safe(void) {
  g_unsetenv("PGSSLMODE");
  g_assert_false(speaks_in_the_open("0.0.0.0", ""));
  g_assert_true(speaks_in_the_open("0.0.0.0", "?sslmode=prefer"));
  g_assert_true(speaks_in_the_open("127.0.0.1", ""));
}

/* ---- the queue of writers ---- */

#define N_QUEUED 6
#define N_TOLD 3 /* how often who waits has been told before something happens */

typedef struct {
  const char *path;
  char *name;
  gint n_told;               /* atomic */
  GCancellable *cancellable; /* NULL: never gives up; cancelled once told N_TOLD times */
  GError *error;
} Queued;

static void
count_told(double fraction, const char *stage, gpointer data) {
  (void)fraction, (void)stage;
  Queued *queued = data;
  if (g_atomic_int_add(&queued->n_told, 1) + 1 == N_TOLD && queued->cancellable != NULL)
    g_cancellable_cancel(queued->cancellable);
}

static gpointer
write_behind_others(gpointer data) {
  Queued *queued = data;
  const DemurProgress progress = {.func = count_told, .data = queued};
  g_autoptr(DemurWorkspace) workspace = open_workspace(queued->path);
  demur_workspace_tell_waiting(workspace, &progress);
  (void)comment(workspace, queued->name, &queued->error);
  return NULL;
}

/* However often they are told: nobody who came later writes before. */
static void
who_waits_keeps_the_place_in_the_queue(void) {
  g_autofree char *path = demur_test_store_path("/queue", "w");
  g_autoptr(DemurWorkspace) workspace = open_workspace(path);
  g_autoptr(GError) error = NULL;
  Queued queued[N_QUEUED];
  GThread *threads[N_QUEUED];
  g_assert_true(demur_workspace_begin(workspace, &error));
  for (int i = 0; i < N_QUEUED; i++) {
    queued[i] = (Queued){.path = path, .name = g_strdup_printf("%d", i)};
    threads[i] = g_thread_new("queued", write_behind_others, &queued[i]);
    while (g_atomic_int_get(&queued[i].n_told) < N_TOLD)
      g_usleep(10000);
  }
  g_assert_true(demur_workspace_commit(workspace, &error));
  for (int i = 0; i < N_QUEUED; i++) {
    g_thread_join(threads[i]);
    g_assert_no_error(queued[i].error);
  }
  g_autoptr(GPtrArray) written = demur_reviews_list(workspace, &error); /* newest first */
  g_assert_no_error(error);
  g_assert_cmpuint(written->len, ==, N_QUEUED);
  for (int i = 0; i < N_QUEUED; i++) {
    const DemurReviewRecord *review = written->pdata[N_QUEUED - 1 - i];
    g_assert_cmpstr(review->comment, ==, queued[i].name);
    g_free(queued[i].name);
  }
}

/* Nor is anything left of it: the next one is not kept waiting, and the line is as good as before. */
static void
who_waits_may_give_up(void) {
  g_autofree char *path = demur_test_store_path("/given-up", "w");
  g_autoptr(DemurWorkspace) holder = open_workspace(path), waiter = open_workspace(path);
  g_autoptr(GError) error = NULL;
  g_autoptr(GCancellable) cancellable = g_cancellable_new();
  Queued queued = {.cancellable = cancellable};
  const DemurProgress progress = {.func = count_told, .data = &queued, .cancellable = cancellable};
  demur_workspace_tell_waiting(waiter, &progress);
  g_assert_true(demur_workspace_begin(holder, &error));
  g_assert_false(demur_workspace_begin(waiter, &error));
  g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error(&error);
  g_cancellable_reset(cancellable);
  demur_workspace_set_patience(waiter, DEMUR_PATIENCE_SHORT);
  g_assert_false(demur_workspace_begin(waiter, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STORE);
  g_assert_true(demur_workspace_is_locked_out(waiter));
  g_clear_error(&error);
  g_assert_true(comment(holder, "first", &error));
  g_assert_true(demur_workspace_commit(holder, &error));
  demur_workspace_set_patience(waiter, DEMUR_PATIENCE_ENDLESS);
  g_assert_true(comment(waiter, "second", &error));
  g_assert_no_error(error);
}

/* ---- what went wrong ---- */

/* At once. */
static gboolean
give_up(DemurWait what, guint n_asked, gpointer data) {
  (void)what, (void)n_asked, (void)data;
  return FALSE;
}

static DemurFault
fault_of(DemurConnection *connection, const char *sql) {
  const char *message;
  g_assert_false(connection->driver->run_script(connection, sql));
  const DemurFault fault = connection->driver->fault(connection, &message);
  g_test_message("%d: %s", fault, message);
  return fault;
}

#define RAISE(state)                                                                               \
  "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '" state "', MESSAGE = 'as it says'; END $$"
#define OUTLASTS_A_TAKING_BACK                                                                     \
  "DO $$ BEGIN PERFORM pg_catalog.pg_sleep(60); EXCEPTION WHEN query_canceled THEN NULL; END $$"

/* What a server says is told by what it is, and a statement that was given up, and done all the same, says nothing of the
 * next: by itself, among others, and where its rows are read. */
static void
each_fault_is_of_its_own_statement(void) {
  g_autofree char *path = demur_test_store_path("/faults", "w");
  g_autoptr(DemurWorkspace) made = open_workspace(path);
  const DemurDriver *driver = demur_driver_postgres();
  g_autoptr(GError) error = NULL;
  DemurConnection *connection = driver->open(path, FALSE, FALSE, give_up, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpint(fault_of(connection, RAISE("53200")), ==, DEMUR_FAULT_MEMORY);
  g_assert_false(demur_driver_fail(connection, path, "reading", &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STORE);
  g_assert_nonnull(strstr(error->message, "no memory left"));
  g_assert_cmpint(fault_of(connection, "SELECT pg_catalog.pg_sleep(60)"), ==, DEMUR_FAULT_LOCKED);
  g_assert_cmpint(fault_of(connection, RAISE("53100")), ==, DEMUR_FAULT_FULL);
  g_assert_true(driver->run_script(connection, OUTLASTS_A_TAKING_BACK));
  g_assert_cmpint(fault_of(connection, RAISE("53100")), ==, DEMUR_FAULT_FULL);
  DemurStatement *statement = driver->prepare(connection, OUTLASTS_A_TAKING_BACK);
  g_assert_cmpint(driver->step(statement), ==, DEMUR_STEP_DONE);
  g_assert_cmpint(fault_of(connection, RAISE("53100")), ==, DEMUR_FAULT_FULL);
  driver->finalize(statement);
  driver->close(connection);
}

/* ---- rows, one by one ---- */

/* Steps once: whether there is a row. */
static gboolean
next_row(DemurWorkspace *workspace, DemurStatement *statement) {
  g_autoptr(GError) error = NULL;
  gboolean row = FALSE;
  g_assert_true(demur_store_step(workspace, statement, &row, "reading", &error));
  g_assert_no_error(error);
  return row;
}

static DemurStatement *
prepare_rows(DemurWorkspace *workspace, const char *sql) {
  g_autoptr(GError) error = NULL;
  DemurStatement *statement = demur_store_statement(workspace, sql, &error);
  g_assert_no_error(error);
  return statement;
}

/* The last of them can't be made, and is not asked for before it is read. */
#define N_ROWS 2000
#define FAILS_AT_THE_END "SELECT 1 / (2000 - g) FROM generate_series(1, 2000) g"

static void
rows_come_before_the_last_is_read(void) {
  g_autofree char *path = demur_test_store_path("/rows", "w");
  g_autoptr(DemurWorkspace) workspace = open_workspace(path);
  for (int taken = 0; taken < 2; taken++) { /* as it comes, or from memory */
    DemurStatement *statement = prepare_rows(workspace, FAILS_AT_THE_END);
    for (int i = 1; i < N_ROWS; i++) {
      g_assert_true(next_row(workspace, statement));
      g_assert_cmpint(demur_store_int(statement, 0), ==, 1 / (N_ROWS - i));
      g_autoptr(GError) error = NULL;
      if (taken == 1 && i == N_ROWS / 2)
        g_assert_true(comment(workspace, "meanwhile", &error));
    }
    g_autoptr(GError) error = NULL;
    gboolean row = FALSE;
    g_assert_false(demur_store_step(workspace, statement, &row, "reading", &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STORE);
    g_test_message("%s", error->message);
  }
}

/* What needs the line while rows are on their way: none is lost, and each stands as it did when it was asked for. */
static void
several_are_read_at_once(void) {
  g_autofree char *path = demur_test_store_path("/at-once", "w");
  g_autoptr(DemurWorkspace) workspace = open_workspace(path);
  g_autoptr(GError) error = NULL;
  DemurStatement *outer = prepare_rows(
      workspace, "SELECT g, nullif(g, 7)::text, g::float8 / 4 FROM generate_series(1, 2000) g");
  for (gint64 i = 1; i <= N_ROWS; i++) {
    g_assert_true(next_row(workspace, outer));
    const char *text = demur_store_peek(outer, 1);
    if (i % 100 == 2) {
      DemurStatement *inner = prepare_rows(workspace, "SELECT g FROM generate_series(5, 9) g");
      for (gint64 j = 5; j <= (i < 500 ? 9 : 6); j++) { /* to its end, and not */
        g_assert_true(next_row(workspace, inner));
        g_assert_cmpint(demur_store_int(inner, 0), ==, j);
      }
    }
    if (i % 500 == 3) {
      g_assert_true(demur_workspace_begin(workspace, &error));
      g_assert_true(comment(workspace, "in between", &error));
      if (i == 503)
        demur_workspace_rollback(workspace);
      else
        g_assert_true(demur_workspace_commit(workspace, &error));
      g_assert_no_error(error);
    }
    g_assert_cmpint(demur_store_int(outer, 0), ==, i);
    g_autofree char *digits = g_strdup_printf("%d", (int)i);
    g_assert_cmpstr(text, ==, i == 7 ? NULL : digits); /* good until the next step */
    g_assert_true(demur_store_double(outer, 2) == (double)i / 4);
  }
  g_assert_false(next_row(workspace, outer));
  g_autoptr(GPtrArray) reviews = demur_reviews_list(workspace, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(reviews->len, ==, 3);
  /* One that is left in the middle leaves nothing on the line. */
  outer = prepare_rows(workspace, FAILS_AT_THE_END);
  g_assert_true(next_row(workspace, outer));
  demur_store_reset(outer);
  g_assert_true(comment(workspace, "behind", &error));
  g_assert_no_error(error);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
#define ADD(name, test) g_test_add_func("/store/guards/" name, test)
  ADD("every-change-of-the-schema-is-told", every_change_of_the_schema_is_told);
  ADD("the-schema-is-looked-at-from-everywhere", the_schema_is_looked_at_from_everywhere);
  ADD("an-operator-stands-for-no-other", an_operator_of_the_workspace_s_schema_stands_for_no_other);
  ADD("a-reference-that-leads-nowhere-is-told", a_reference_that_leads_nowhere_is_told);
  ADD("who-waited-sees-what-was-written-meanwhile", who_waited_sees_what_was_written_meanwhile);
  ADD("who-waits-keeps-the-place-in-the-queue", who_waits_keeps_the_place_in_the_queue);
  ADD("who-waits-may-give-up", who_waits_may_give_up);
  ADD("each-fault-is-of-its-own-statement", each_fault_is_of_its_own_statement);
  ADD("rows-come-before-the-last-is-read", rows_come_before_the_last_is_read);
  ADD("several-are-read-at-once", several_are_read_at_once);
  ADD("texts-are-utf8-whatever-the-address-says", texts_are_utf8_whatever_the_address_says);
  ADD("a-database-of-another-encoding-is-refused", a_database_of_another_encoding_is_refused);
  ADD("a-password-is-never-told", a_password_is_never_told);
  ADD("an-older-schema-is-brought-up", an_older_schema_is_brought_up);
  ADD("a-schema-of-nobody-s-is-left-alone", a_schema_of_nobody_s_is_left_alone);
  ADD("a-line-over-a-network-is-kept-safe", a_line_over_a_network_is_kept_safe);
  return g_test_run();
}
