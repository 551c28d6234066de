/* What only a server can do: go away in the middle, and be written to by many. Right values: what was
 * saved before and behind, and the number of what each client was told is kept. Run by
 * tests/support/with-postgres.sh, which says in DEMUR_TEST_STORE_SERVER how the server is killed and started. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "common.h"
#include "store/connection.h"
#include "store/reviews.h"
#include "store/verdicts.h"
#include "support/store.h"

#define N_CLIENTS 10
#define N_LOOPS 100

static gboolean
review(DemurWorkspace *workspace, const char *scan, gint64 verdict, const char *text,
       GError **error) {
  return server_comment(workspace, scan, verdict, text, "reader", error);
}

static guint
n_reviews(DemurWorkspace *workspace) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) list = demur_reviews_list(workspace, &error);
  g_assert_no_error(error);
  return list->len;
}

static void
assert_sound(DemurWorkspace *workspace, size_t n_verdicts) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurVerification) found = demur_workspace_verify(workspace, NULL, &error);
  g_assert_no_error(error);
  for (size_t f = 0; f < found->n_findings; f++)
    if (!found->findings[f].ok)
      g_error("%s: %s", found->findings[f].subject, found->findings[f].message);
  g_assert_cmpuint(found->n_verdicts, ==, n_verdicts);
}

static void
a_server_that_was_killed_is_told_and_come_back_to(void) {
  g_autofree char *path = demur_test_store_path("/killed", "w");
  g_autoptr(DemurWorkspace) writer = server_open(path, "writer"),
                            reader = server_open(path, "reader");
  g_autoptr(GError) error = NULL;
  g_assert_true(review(writer, "1.2", 0, "kept", &error));
  g_assert_true(demur_workspace_begin(writer, &error));
  g_assert_true(review(writer, "1.2", 0, "lost", &error));
  server_control("kill");
  g_assert_false(review(writer, "1.2", 0, "not there", &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_AWAY);
  g_test_message("%s", error->message);
  g_clear_error(&error);
  demur_workspace_rollback(writer);
  g_assert_null(demur_reviews_list(reader, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_AWAY);
  g_test_message("%s", error->message);
  g_clear_error(&error);
  g_assert_false(demur_workspace_begin(writer, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_AWAY);
  g_clear_error(&error);
  server_control("start");
  g_assert_cmpuint(n_reviews(reader), ==, 1);
  g_assert_true(review(writer, "1.2", 0, "kept as well", &error));
  g_assert_no_error(error);
  g_assert_cmpuint(n_reviews(reader), ==, 2);
  assert_sound(reader, 0);
}

/* One client: gives a verdict, says something of it, reads it. Nobody waits for the others longer than a person
 * does (DEMUR_PATIENCE_USUAL): writers are served in order. */
static gboolean
work(const char *path, int client) {
  g_autofree char *user = g_strdup_printf("reader %d", client),
                  *scan = g_strdup_printf("1.2.%d", client);
  g_autoptr(DemurWorkspace) workspace = server_open(path, user);
  demur_workspace_set_patience(workspace, DEMUR_PATIENCE_USUAL);
  gint64 longest = 0;
  for (guint i = 0; i < N_LOOPS; i++) {
    const gint64 start = g_get_monotonic_time();
    g_autoptr(GError) error = NULL;
    g_autofree char *comment = g_strdup_printf("%d of %s", i, user);
    g_autoptr(GPtrArray) there = NULL;
    if (!server_give_verdict(workspace, scan, &error) ||
        (there = demur_verdicts_of_scan(workspace, NULL, scan, &error)) == NULL ||
        there->len != i + 1 ||
        !review(workspace, scan, ((DemurVerdictRecord *)there->pdata[0])->id, comment, &error)) {
      g_printerr("%s\n", error != NULL ? error->message : "a verdict is not there");
      return FALSE;
    }
    longest = MAX(longest, g_get_monotonic_time() - start);
  }
  g_test_message("%s: %.2f s at most for a verdict and a comment", user,
                 (double)longest / G_USEC_PER_SEC);
  return TRUE;
}

static void
many_write_and_nothing_is_lost(void) {
  g_autofree char *path = demur_test_store_path("/many", "w");
  g_autoptr(DemurWorkspace) workspace = server_open(path, "first");
  pid_t clients[N_CLIENTS];
  for (int c = 0; c < N_CLIENTS; c++)
    if ((clients[c] = fork()) == 0)
      _exit(work(path, c) ? 0 : 1);
  for (int c = 0; c < N_CLIENTS; c++) {
    int status;
    g_assert_cmpint(waitpid(clients[c], &status, 0), ==, clients[c]);
    g_assert_true(WIFEXITED(status));
    g_assert_cmpint(WEXITSTATUS(status), ==, 0);
  }
  g_assert_cmpuint(n_reviews(workspace), ==, N_CLIENTS * N_LOOPS);
  assert_sound(workspace, (size_t)N_CLIENTS * N_LOOPS);
}

/* The most memory that the process has held so far, in kB. */
static gint64
peak_kb(void) {
  g_autofree char *status = NULL;
  g_assert_true(g_file_get_contents("/proc/self/status", &status, NULL, NULL));
  const char *line = strstr(status, "VmHWM:");
  g_assert_nonnull(line);
  return g_ascii_strtoll(line + strlen("VmHWM:"), NULL, 10);
}

/* 200,000 rows of 500 bytes are 100 MB; one is held. */
static void
many_rows_take_no_memory(void) {
  g_autofree char *path = demur_test_store_path("/many-rows", "w");
  g_autoptr(DemurWorkspace) workspace = server_open(path, "reader");
  g_autoptr(GError) error = NULL;
  const gint64 before = peak_kb();
  DemurStatement *statement = demur_store_statement(
      workspace, "SELECT g, repeat('x', 500) FROM generate_series(1, 200000) g", &error);
  g_assert_no_error(error);
  gint64 n = 0;
  gboolean row = TRUE;
  while (row) {
    g_assert_true(demur_store_step(workspace, statement, &row, "reading", &error));
    n += row;
  }
  const gint64 grown = peak_kb() - before;
  g_test_message("%" G_GINT64_FORMAT " rows, %" G_GINT64_FORMAT " kB more at most", n, grown);
  g_assert_cmpint(n, ==, 200000);
  g_assert_cmpint(grown, <, 4096);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/store/server/many-rows-take-no-memory", many_rows_take_no_memory);
  g_test_add_func("/store/server/many-write-and-nothing-is-lost", many_write_and_nothing_is_lost);
  g_test_add_func("/store/server/a-server-that-was-killed-is-told-and-come-back-to",
                  a_server_that_was_killed_is_told_and_come_back_to);
  return g_test_run();
}
