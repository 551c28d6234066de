/* A server that is slow or hangs: who waits is told, and may give up; nothing is written then, and the same command works
 * once the server answers. Somebody's lock is another session of psql that holds it until it is ended; a server that hangs
 * is one whose processes are stopped. Run by tests/support/with-postgres.sh. */
#include <signal.h>
#include <string.h>
#include <sys/types.h>

#include "commands/commands.h"
#include "store/postgres-schema.h"
#include "support/store.h"

/* A session that has run sql in a transaction and keeps it open. */
static GSubprocess *
hold(const Sandbox *sandbox, const char *sql) {
  g_autofree char *script = g_strdup_printf("BEGIN;%s;SELECT 'held' FROM pg_sleep(0);\n", sql);
  g_autoptr(GError) error = NULL;
  GSubprocess *psql =
      g_subprocess_new(G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error,
                       "psql", "-AtqX", sandbox->workspace, NULL);
  g_assert_no_error(error);
  GOutputStream *to = g_subprocess_get_stdin_pipe(psql);
  g_assert_true(g_output_stream_write_all(to, script, strlen(script), NULL, NULL, &error));
  g_assert_true(g_output_stream_flush(to, NULL, &error));
  GInputStream *from = g_subprocess_get_stdout_pipe(psql);
  g_autoptr(GString) said = g_string_new(NULL);
  while (strstr(said->str, "held") == NULL) {
    char byte;
    g_assert_cmpint(g_input_stream_read(from, &byte, 1, NULL, &error), ==, 1);
    g_string_append_c(said, byte);
  }
  return psql;
}

static void
let_go(GSubprocess *psql) {
  g_subprocess_force_exit(psql);
  g_assert_true(g_subprocess_wait(psql, NULL, NULL));
}

/* Until it has said what on its standard error. */
static void
hear(GSubprocess *process, const char *what) {
  GInputStream *from = g_subprocess_get_stderr_pipe(process);
  g_autoptr(GString) said = g_string_new(NULL);
  while (strstr(said->str, what) == NULL) {
    char byte;
    if (g_input_stream_read(from, &byte, 1, NULL, NULL) != 1)
      g_error("it ended and had not said \"%s\": %s", what, said->str);
    g_string_append_c(said, byte);
  }
}

static void
give_up(GSubprocess *process) {
  g_subprocess_send_signal(process, SIGINT);
  hear(process, "interrupted; what had been finished is kept, nothing is half written");
  g_assert_true(g_subprocess_wait(process, NULL, NULL));
  g_assert_true(g_subprocess_get_if_exited(process));
  g_assert_cmpint(g_subprocess_get_exit_status(process), ==, 1);
}

static gint64
n_events(const Sandbox *sandbox) {
  return demur_test_store_number(sandbox->workspace, "SELECT count(*) FROM event");
}

static const struct {
  const char *held, *says;
  const char *words[8];
} waits[] = {
    {"LOCK TABLE demur.cohort", "the server has not answered", {"cohort", "list"}},
    {"LOCK TABLE demur.workspace", "the server has not answered", {"cohort", "list"}},
    {"LOCK TABLE demur.event", "the server has not answered", {"cohort", "remove", "c"}},
    {"LOCK TABLE demur.cohort_column",
     "the server has not answered",
     {"cohort", "export", "c", "c.csv"}},
    {"SELECT pg_advisory_xact_lock(" DEMUR_POSTGRES_WRITER_LOCK ")",
     "the workspace is locked",
     {"cohort", "remove", "c"}},
};

static GSubprocess *
start(const Sandbox *sandbox, const char *const *w) {
  return start_demur_heard(sandbox, w[0], w[1], w[2], w[3], NULL);
}

static void
who_waits_is_told_and_may_give_up(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  simulate_small(sandbox, "c");
  const gint64 before = n_events(sandbox);
  for (size_t i = 0; i < G_N_ELEMENTS(waits); i++) {
    g_test_message("%s: %s %s", waits[i].held, waits[i].words[0], waits[i].words[1]);
    g_autoptr(GSubprocess) holder = hold(sandbox, waits[i].held);
    g_autoptr(GSubprocess) waiter = start(sandbox, waits[i].words);
    hear(waiter, waits[i].says);
    give_up(waiter);
    let_go(holder);
    g_assert_cmpint(n_events(sandbox), ==, before);
  }
}

/* Who doesn't give up gets there. */
static void
who_goes_on_waiting_gets_it(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  simulate_small(sandbox, "c");
  for (size_t i = 0; i < G_N_ELEMENTS(waits); i++) {
    if (strcmp(waits[i].words[1], "remove") == 0 && i + 1 < G_N_ELEMENTS(waits))
      continue; /* the last one removes it */
    g_autoptr(GSubprocess) holder = hold(sandbox, waits[i].held);
    g_autoptr(GSubprocess) waiter = start(sandbox, waits[i].words);
    hear(waiter, waits[i].says);
    let_go(holder);
    g_assert_true(g_subprocess_wait(waiter, NULL, NULL));
    g_assert_true(g_subprocess_get_if_exited(waiter));
    g_assert_cmpint(g_subprocess_get_exit_status(waiter), ==, 0);
  }
}

/* The first process of the server and those that work for somebody. */
static void
signal_server(const char *pids, const char *name) {
  g_autofree char *line = g_strdup_printf(
      "kill -%s %s $(head -n 1 \"$(dirname \"$DEMUR_TEST_STORE_SERVER\")\"/data/postmaster.pid)",
      name, pids);
  const char *const argv[] = {"sh", "-c", line, NULL};
  g_autoptr(GError) error = NULL;
  int status = 1;
  g_assert_true(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL,
                             &status, &error));
  g_assert_cmpint(status, ==, 0);
}

static void
a_server_that_hangs_is_left(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  simulate_small(sandbox, "c");
  g_autoptr(GSubprocess) holder = hold(sandbox, "LOCK TABLE demur.cohort");
  g_autoptr(GSubprocess) waiter = start_demur_heard(sandbox, "cohort", "remove", "c", NULL);
  hear(waiter, "the server has not answered");
  g_autofree char *pids = demur_test_store_text(
      sandbox->workspace,
      "SELECT string_agg(pid::text, ' ') FROM pg_stat_activity WHERE backend_type = 'client backend'"
      " AND pid <> pg_backend_pid()");
  signal_server(pids, "STOP");
  give_up(waiter);
  signal_server(pids, "CONT");
  let_go(holder);
  g_autoptr(Run) there = run_json(sandbox, 0, "cohort", "show", "c", NULL);
  g_autoptr(Run) again = run_demur(sandbox, "cohort", "remove", "c", NULL);
  assert_status(again, 0);
  g_autoptr(Run) sound = run_demur(sandbox, "verify", NULL);
  assert_status(sound, 0);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
#define TEST(name, function) g_test_add_func("/postgres/unanswered/" name, function)
  TEST("who-waits-is-told-and-may-give-up", who_waits_is_told_and_may_give_up);
  TEST("who-goes-on-waiting-gets-it", who_goes_on_waiting_gets_it);
  TEST("a-server-that-hangs-is-left", a_server_that_hangs_is_left);
#undef TEST
  return g_test_run();
}
