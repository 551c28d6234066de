/* The log and what `verify` says of a workspace that somebody wrote into past the program: one
 * thing changed or taken away at a time, each in a copy. */
#include <sqlite3.h>

#include "life-fixture.h"

/* Runs sql on a copy of the workspace with every protection off, and verifies the copy. */
static Run *
damage(const Sandbox *sandbox, const char *sql) {
  g_autofree char *copy = sandbox_path(sandbox, "copy.demur");
  g_unlink(copy);
  sqlite3 *database = NULL;
  g_assert_cmpint(sqlite3_open(sandbox->workspace, &database), ==, SQLITE_OK);
  g_autofree char *into = g_strdup_printf("VACUUM INTO '%s'", copy);
  g_assert_cmpint(sqlite3_exec(database, into, NULL, NULL, NULL), ==, SQLITE_OK);
  sqlite3_close(database);
  g_assert_cmpint(sqlite3_open(copy, &database), ==, SQLITE_OK);
  char *message = NULL;
  if (sqlite3_exec(database, sql, NULL, NULL, &message) != SQLITE_OK)
    g_error("%s: %s", sql, message);
  sqlite3_close(database);
  return run_demur(NULL, "--workspace", copy, "verify", NULL);
}

#define WITHOUT_TRIGGERS "DROP TRIGGER event_not_changed; DROP TRIGGER event_not_removed; "
#define TRIGGERS_AGAIN                                                                             \
  "CREATE TRIGGER event_not_changed BEFORE UPDATE ON event"                                        \
  "  BEGIN SELECT RAISE (ABORT, 'an event is never changed'); END;"                                \
  "CREATE TRIGGER event_not_removed BEFORE DELETE ON event"                                        \
  "  BEGIN SELECT RAISE (ABORT, 'an event is never removed'); END;"

static void
test_whatever_was_changed_is_named(void) {
  g_autoptr(Sandbox) sandbox = with_selector();
  write_slices(sandbox, "a", 0, N, "P1", "One^Person", 0);
  import(sandbox, "a");
  score(sandbox, UID, "0.05", NULL);
  assess(sandbox);
  g_autoptr(Run) sound = damage(sandbox, "SELECT 1");
  assert_status(sound, 0);
  assert_says(sound->out, "the chain holds");
  static const struct {
    const char *sql, *named;
  } rows[] = {
      {"UPDATE verdict SET risk = risk + 1e-9", "verdict 1: "},
      {"UPDATE verdict SET verdict = 'red_flag'", "verdict 1: "},
      {"UPDATE verdict SET reasons = '[ ]'", "verdict 1: "},
      {"UPDATE verdict SET score_digest = replace(score_digest, 'a', 'b')", "verdict 1: "},
      {"UPDATE verdict SET digest = NULL, event = NULL", "verdicts:"},
      {"DELETE FROM verdict", "verdicts:"},
      {"UPDATE verdict_batch SET threshold = 0", "verdict 1: "},
      {"UPDATE score SET risk = 0.0500001", "score:1.2.3.4|m"},
      {"UPDATE score SET images_digest = NULL", "score:1.2.3.4|m"},
      {"UPDATE score SET digest = NULL", "score:1.2.3.4|m"},
      {"DELETE FROM score", "score:1.2.3.4|m"},
      {"INSERT INTO score (scan_id, model, risk, source, created, digest)"
       " VALUES ('9', 'm', 0.5, 's', 't', 'd')",
       "score:9|m"},
      {"UPDATE series SET patient_id = 'P2'", "series:1.2.3.4"},
      {"UPDATE series SET images_digest = 'f'", "series:1.2.3.4"},
      {"UPDATE series SET accepted = 0", "series:1.2.3.4"},
      {"DELETE FROM series", "series:1.2.3.4"},
      {"UPDATE threshold SET threshold = threshold + 1e-9", "thresholds of s"},
      {"DELETE FROM threshold", "threshold:s|1"},
      {"UPDATE selector SET digest = 'f'", "selector"},
      {"DELETE FROM selector", "selector:s"},
      {"CREATE TRIGGER help AFTER INSERT ON verdict BEGIN UPDATE verdict SET verdict = 'accepted'; "
       "END",
       "trigger help"},
      {"CREATE TABLE extra (x)", "table extra"},
      {WITHOUT_TRIGGERS, "trigger event_not_changed"},
      {WITHOUT_TRIGGERS "UPDATE event SET user = 'x' WHERE sequence = 3;" TRIGGERS_AGAIN,
       "event 3"},
      {WITHOUT_TRIGGERS "UPDATE event SET digest = 'x' WHERE sequence = 2;" TRIGGERS_AGAIN,
       "event 2"},
      {WITHOUT_TRIGGERS "DELETE FROM event WHERE sequence = 2;" TRIGGERS_AGAIN, "event 3"},
      {WITHOUT_TRIGGERS "DELETE FROM event WHERE sequence > 3;" TRIGGERS_AGAIN, "score:1.2.3.4|m"},
  };
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(Run) run = damage(sandbox, rows[i].sql);
    g_test_message("%s", rows[i].sql);
    assert_status(run, 1);
    g_auto(GStrv) lines = g_strsplit(run->out, "\n", -1);
    gboolean named = FALSE;
    for (char **line = lines; *line != NULL; line++)
      named |= g_str_has_prefix(*line, "WRONG") && strstr(*line, rows[i].named) != NULL;
    if (!named) {
      g_test_message("%s is not named in: %s", rows[i].named, run->out);
      g_test_fail();
    }
  }
}

/* Every step is an event, by whom and when; the filters take out of the same list. */
static void
test_the_log_tells_every_step(void) {
  g_autoptr(Sandbox) sandbox = with_selector();
  write_slices(sandbox, "a", 0, N, "P1", "One^Person", 0);
  import(sandbox, "a");
  score(sandbox, UID, "0.05", NULL);
  assess(sandbox);
  g_autoptr(Run) before = run_json(sandbox, 0, "log", NULL);
  g_autofree char *told = sandbox_path(sandbox, "out.json");
  g_autoptr(Run) json = run_demur(sandbox, "export", told, NULL);
  assert_status(json, 0);
  g_autofree char *text = NULL;
  g_assert_true(g_file_get_contents(told, &text, NULL, NULL));
  assert_says(text, string_at(root_of(before), "head"));
  g_autofree char *path = sandbox_path(sandbox, "out.csv");
  g_autoptr(Run) out = run_demur(sandbox, "export", path, NULL);
  assert_status(out, 0);
  g_autoptr(Run) removed =
      run_demur(sandbox, "dicom", "remove", "--scan", UID, "--reason", "by mistake", NULL);
  assert_status(removed, 0);
  g_autoptr(Run) run = run_json(sandbox, 0, "log", NULL);
  JsonArray *events = array_at(root_of(run), "events");
  static const char *const right[] = {"training",   "threshold", "import",  "score",
                                      "assessment", "export",    "removal", NULL};
  guint at = 0;
  for (guint i = 0; i < json_array_get_length(events); i++) {
    JsonObject *event = json_array_get_object_element(events, i);
    g_assert_cmpfloat(number_at(event, "sequence"), ==, i + 1);
    g_assert_false(is_null_at(event, "user"));
    g_assert_false(is_null_at(event, "station"));
    g_assert_cmpuint(strlen(string_at(event, "created")), ==, 20);
    g_assert_null(strstr(string_at(event, "of"), "P1"));
    if (right[at] != NULL && strcmp(string_at(event, "event"), right[at]) == 0)
      at++;
  }
  g_assert_null(right[at]);
  JsonObject *last = json_array_get_object_element(events, json_array_get_length(events) - 1);
  g_assert_cmpstr(string_at(root_of(run), "head"), ==, string_at(last, "chain"));
  g_autoptr(Run) scores = run_json(sandbox, 0, "log", "--event", "score", NULL);
  g_assert_cmpuint(json_array_get_length(array_at(root_of(scores), "events")), ==, 1);
  g_autoptr(Run) of_scan = run_json(sandbox, 0, "log", "--scan", UID, "--last", "1", NULL);
  g_assert_cmpuint(json_array_get_length(array_at(root_of(of_scan), "events")), ==, 1);
  g_autoptr(Run) unknown = run_demur(sandbox, "log", "--event", "nonsense", NULL);
  assert_status(unknown, 2);
  g_autoptr(Run) verify = run_demur(sandbox, "verify", NULL);
  assert_status(verify, 0);
}

int
main(int argc, char **argv) {
  fixture_init(&argc, &argv);
  g_test_add_func("/commands/dicom-history/whatever-was-changed-is-named",
                  test_whatever_was_changed_is_named);
  g_test_add_func("/commands/dicom-history/the-log-tells-every-step",
                  test_the_log_tells_every_step);
  return g_test_run();
}
