/* Killed or interrupted in the middle of training, tuning or importing: the workspace opens,
 * verifies and holds what it held before. The moment is not guessed by a clock alone: each run is
 * ended at several moments, spread from its start to past its middle, and whichever came first, the
 * end or the signal, the workspace must be whole. */
#include "commands.h"

#include <signal.h>
#include <string.h>

static void
assert_whole(const Sandbox *sandbox, const char *digest) {
  g_autoptr(Run) verify = run_json(sandbox, 0, "verify", NULL);
  g_assert_true(bool_at(root_of(verify), "ok"));
  g_autofree char *now = cohort_digest(sandbox, "sim");
  g_assert_cmpstr(now, ==, digest);
}

/* Ends the process after some milliseconds; TRUE where the signal came first. */
static gboolean
end_after(GSubprocess *process, int milliseconds, int signal_number) {
  g_usleep((gulong)milliseconds * 1000);
  g_subprocess_send_signal(process, signal_number);
  g_autoptr(GError) error = NULL;
  g_subprocess_wait(process, NULL, &error);
  g_assert_no_error(error);
  if (g_subprocess_get_if_signaled(process))
    return TRUE;
  return g_subprocess_get_exit_status(process) != 0;
}

static const int moments_ms[] = {5, 60, 200, 500};

static void
test_training_is_ended(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  simulate_small(sandbox, "sim");
  g_autofree char *digest = cohort_digest(sandbox, "sim");
  g_autoptr(Run) first = train_small(sandbox, "kept", "sim", NULL);
  assert_status(first, 0);
  static const int signals[] = {SIGKILL, SIGINT, SIGTERM};
  for (size_t s = 0; s < G_N_ELEMENTS(signals); s++)
    for (size_t m = 0; m < G_N_ELEMENTS(moments_ms); m++) {
      /* A budget of hours, so that every one of these moments is in the middle. */
      g_autoptr(GSubprocess) process =
          start_demur(sandbox, "train", "kept", "--replace", "--cohort", "sim", "--quiet",
                      "--datasets-per-epoch", "50000000", NULL);
      g_assert_true(end_after(process, moments_ms[m], signals[s]));
    }
  assert_whole(sandbox, digest);
  g_autoptr(Run) show = run_json(sandbox, 0, "selector", "show", "kept", NULL);
  g_assert_cmpstr(string_at(root_of(show), "digest"), ==, string_at(root_of(first), "digest"));
}

#define LONG_TRAINING                                                                              \
  "--cohort", "sim", "--epochs", "8", "--datasets-per-epoch", "800", "--average", "2",             \
      "--stopping", "worst-case", "--quiet"

/* Interrupted and killed again and again, each time resumed, it ends in the digest of a training
 * that was left alone. Whichever came first, an end, a signal or the first checkpoint, that holds.
 */
static void
test_training_is_resumed(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  simulate_small(sandbox, "sim");
  g_autoptr(Run) none = run_json(sandbox, 1, "train", "s", LONG_TRAINING, "--resume", NULL);
  assert_says(string_at(root_of(none), "error"), "nothing to resume");
  g_autoptr(Run) whole = run_json(sandbox, 0, "train", "whole", LONG_TRAINING, NULL);
  const char *digest = string_at(root_of(whole), "digest");
  gboolean done = FALSE, other_refused = FALSE;
  for (int k = 1; !done; k++) {
    /* Where it was ended before anything was kept, --resume has nothing to go on from. */
    g_autoptr(Run) probe = other_refused ? NULL
                                         : run_demur(sandbox, "train", "s", LONG_TRAINING,
                                                     "--resume", "--kappa", "3", NULL);
    const gboolean kept = other_refused || strstr(probe->err, "nothing to resume") == NULL;
    if (kept && !other_refused) {
      assert_status(probe, 1);
      assert_says(probe->err, "kappa 4, now 3");
      other_refused = TRUE;
    }
    g_autoptr(GSubprocess) process =
        kept ? start_demur(sandbox, "train", "s", LONG_TRAINING, "--resume", NULL)
             : start_demur(sandbox, "train", "s", LONG_TRAINING, NULL);
    end_after(process, 250 * k, k % 2 == 0 ? SIGINT : SIGKILL);
    /* It may have ended between its last write and the signal: what counts is whether the selector
     * is there. */
    g_autoptr(Run) there = run_demur(sandbox, "selector", "show", "s", NULL);
    done = there->status == 0;
  }
  g_autoptr(Run) show = run_json(sandbox, 0, "selector", "show", "s", NULL);
  g_assert_cmpstr(string_at(root_of(show), "digest"), ==, digest);
  /* Done: nothing is left to resume. */
  g_autoptr(Run) again =
      run_json(sandbox, 1, "train", "s", LONG_TRAINING, "--resume", "--replace", NULL);
  assert_says(string_at(root_of(again), "error"), "nothing to resume");
}

/* What is left in a pipe, to its end. */
static char *
rest_of(GInputStream *stream) {
  g_autoptr(GString) text = g_string_new(NULL);
  g_autoptr(GError) error = NULL;
  char buffer[4096];
  gssize n;
  while ((n = g_input_stream_read(stream, buffer, sizeof buffer, NULL, &error)) > 0)
    g_string_append_len(text, buffer, n);
  g_assert_no_error(error);
  return g_string_free(g_steal_pointer(&text), FALSE);
}

/* Progress is told on stderr. Interrupted then, it ends with 1, says so on stderr and, with --json,
 * in the one document on stdout. */
static void
test_progress_is_told_and_interruption_said(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  simulate_small(sandbox, "sim");
  g_autoptr(GSubprocess) process = start_demur_heard(
      sandbox, "--json", "train", "s", "--cohort", "sim", "--datasets-per-epoch", "50000000", NULL);
  g_autoptr(GDataInputStream) lines =
      g_data_input_stream_new(g_subprocess_get_stderr_pipe(process));
  g_autoptr(GError) error = NULL;
  /* Comes when it comes: a second after the work began. */
  g_autofree char *first = g_data_input_stream_read_line(lines, NULL, NULL, &error);
  g_assert_no_error(error);
  g_assert_nonnull(first);
  g_assert_true(g_str_has_prefix(first, "demur: ") && g_str_has_suffix(first, " %"));
  g_subprocess_send_signal(process, SIGINT);
  g_autofree char *out = rest_of(g_subprocess_get_stdout_pipe(process));
  g_autofree char *err = rest_of(G_INPUT_STREAM(lines));
  g_assert_true(g_subprocess_wait(process, NULL, &error));
  g_assert_true(g_subprocess_get_if_exited(process));
  g_assert_cmpint(g_subprocess_get_exit_status(process), ==, 1);
  assert_says(err, "interrupted");
  g_autoptr(JsonNode) node = json_from_string(out, NULL);
  g_assert_nonnull(node);
  assert_members(json_node_get_object(node), "error");
  g_autoptr(Run) list = run_json(sandbox, 0, "selector", "list", NULL);
  g_assert_cmpuint(json_array_get_length(array_at(root_of(list), "selectors")), ==, 0);
}

/* The same run with --quiet says nothing in a time in which the other one did. */
static void
test_quiet_tells_no_progress(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  simulate_small(sandbox, "sim");
  g_autoptr(GSubprocess) process =
      start_demur_heard(sandbox, "--json", "train", "s", "--cohort", "sim", "--datasets-per-epoch",
                        "50000000", "--quiet", NULL);
  g_usleep(2500 * 1000);
  g_subprocess_send_signal(process, SIGINT);
  g_autofree char *out = rest_of(g_subprocess_get_stdout_pipe(process));
  g_autofree char *err = rest_of(g_subprocess_get_stderr_pipe(process));
  g_autoptr(GError) error = NULL;
  g_assert_true(g_subprocess_wait(process, NULL, &error));
  g_assert_null(strchr(err, '%'));
  g_assert_null(strchr(out, '%'));
}

static void
test_import_is_ended(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  simulate_small(sandbox, "sim");
  g_autofree char *digest = cohort_digest(sandbox, "sim");
  g_autofree char *before = cohort_list(sandbox);
  /* 60,000 rows with an embedding: long enough to be met while reading and while writing. */
  g_autoptr(GString) table = g_string_new("patient_id,site,split,label,risk");
  for (int e = 0; e < 16; e++)
    g_string_append_printf(table, ",emb_%d", e);
  g_string_append_c(table, '\n');
  for (int i = 0; i < 60000; i++) {
    g_string_append_printf(table, "p%d,site%d,train,%d,0.%04d", i, i % 50, i % 2, i % 9999);
    for (int e = 0; e < 16; e++)
      g_string_append_printf(table, ",%d.%d", e, (i * 7 + e) % 1000);
    g_string_append_c(table, '\n');
  }
  g_autofree char *path = sandbox_write(sandbox, "large.csv", table->str, (gssize)table->len);
  g_autoptr(GTimer) timer = g_timer_new();
  g_autoptr(Run) whole = run_json(sandbox, 0, "cohort", "import", "whole", path, NULL);
  const double seconds = g_timer_elapsed(timer, NULL);
  const char *right = string_at(root_of(whole), "digest");
  g_autoptr(Run) removed = run_json(sandbox, 0, "cohort", "remove", "whole", NULL);
  /* At tenths of the time that a whole run takes here. */
  for (int tenth = 1; tenth <= 10; tenth++) {
    g_autoptr(GSubprocess) process =
        start_demur(sandbox, "cohort", "import", "large", path, "--quiet", NULL);
    const gboolean ended =
        end_after(process, (int)(100.0 * seconds * tenth), tenth % 2 == 0 ? SIGINT : SIGKILL);
    g_autofree char *after = cohort_list(sandbox);
    if (ended && strcmp(after, before) == 0)
      continue;
    /* Finished before the signal (or just after the commit): then it is whole. */
    g_autofree char *large = cohort_digest(sandbox, "large");
    g_assert_cmpstr(large, ==, right);
    g_autoptr(Run) away = run_json(sandbox, 0, "cohort", "remove", "large", NULL);
  }
  assert_whole(sandbox, digest);
  g_autoptr(Run) again = run_json(sandbox, 0, "cohort", "import", "large", path, NULL);
  g_assert_cmpstr(string_at(root_of(again), "digest"), ==, right);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/commands/interrupt/training", test_training_is_ended);
  g_test_add_func("/commands/interrupt/resumed", test_training_is_resumed);
  g_test_add_func("/commands/interrupt/progress", test_progress_is_told_and_interruption_said);
  g_test_add_func("/commands/interrupt/quiet", test_quiet_tells_no_progress);
  g_test_add_func("/commands/interrupt/import", test_import_is_ended);
  return g_test_run();
}
