/* The log and what `verify` says of a workspace that somebody wrote into past the program: one
 * thing changed or taken away at a time, each in a copy. */
#include "life-fixture.h"
#include "support/store.h"

/* Runs sql on a copy of the workspace with every protection off, and verifies the copy. */
static Run *
damage(const Sandbox *sandbox, const char *sql) {
  g_autofree char *copy = demur_test_store_path(sandbox->folder, "copy.demur");
  demur_test_store_copy(sandbox->workspace, copy);
  g_autofree char *unguarded = g_strconcat(
      demur_test_store_is_server() ? "SET session_replication_role = replica; " : "", sql, NULL);
  demur_test_store_run(copy, unguarded);
  Run *run = run_demur(NULL, "--workspace", copy, "verify", NULL);
  demur_test_store_remove(copy);
  demur_test_store_drop(copy);
  return run;
}

/* What is changed, and what verify names. */
typedef struct {
  const char *sql, *named;
} Damage;

/* A file guards its log by triggers alone; on a server damage() turns them off. */
#define WITHOUT_TRIGGERS "DROP TRIGGER event_not_changed; DROP TRIGGER event_not_removed; "
#define TRIGGERS_AGAIN                                                                             \
  "CREATE TRIGGER event_not_changed BEFORE UPDATE ON event"                                        \
  "  BEGIN SELECT RAISE (ABORT, 'an event is never changed'); END;"                                \
  "CREATE TRIGGER event_not_removed BEFORE DELETE ON event"                                        \
  "  BEGIN SELECT RAISE (ABORT, 'an event is never removed'); END;"
#define EVENT_3_IS_ANOTHER_S "UPDATE event SET \"user\" = 'x' WHERE sequence = 3;"
#define EVENT_2_HAS_ANOTHER_DIGEST "UPDATE event SET digest = 'x' WHERE sequence = 2;"
#define EVENT_2_IS_GONE "DELETE FROM event WHERE sequence = 2;"
#define THE_END_IS_GONE "DELETE FROM event WHERE sequence > 3;"

static const Damage of_file[] = {
    {"CREATE TRIGGER help AFTER INSERT ON verdict BEGIN UPDATE verdict SET verdict = 'accepted'; "
     "END",
     "trigger help"},
    {"CREATE TABLE extra (x)", "table extra"},
    {WITHOUT_TRIGGERS, "trigger event_not_changed"},
    {WITHOUT_TRIGGERS EVENT_3_IS_ANOTHER_S TRIGGERS_AGAIN, "event 3"},
    {WITHOUT_TRIGGERS EVENT_2_HAS_ANOTHER_DIGEST TRIGGERS_AGAIN, "event 2"},
    {WITHOUT_TRIGGERS EVENT_2_IS_GONE TRIGGERS_AGAIN, "event 3"},
    {WITHOUT_TRIGGERS THE_END_IS_GONE TRIGGERS_AGAIN, "score:1.2.3.4|m"},
};
static const Damage of_server[] = {
    {"CREATE FUNCTION public.help() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';"
     "CREATE TRIGGER help AFTER INSERT ON verdict EXECUTE FUNCTION public.help()",
     "trigger verdict.help"},
    {"CREATE TABLE extra (x text)", "table extra"},
    {"DROP TRIGGER event_not_changed ON event", "trigger event.event_not_changed"},
    {EVENT_3_IS_ANOTHER_S, "event 3"},
    {EVENT_2_HAS_ANOTHER_DIGEST, "event 2"},
    {EVENT_2_IS_GONE, "event 3"},
    {THE_END_IS_GONE, "score:1.2.3.4|m"},
};

static void
assert_named(const Sandbox *sandbox, const Damage *rows, size_t n) {
  for (size_t i = 0; i < n; i++) {
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
  static const Damage rows[] = {
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
  };
  assert_named(sandbox, rows, G_N_ELEMENTS(rows));
  if (demur_test_store_is_server())
    assert_named(sandbox, of_server, G_N_ELEMENTS(of_server));
  else
    assert_named(sandbox, of_file, G_N_ELEMENTS(of_file));
}

static void
assert_log_reads_times(const Sandbox *sandbox) {
  const char *const refused[][2] = {{"--last", "0"},
                                    {"--last", "-1"},
                                    {"--since", "x"},
                                    {"--since", ""},
                                    {"--since", "31.1.2026"}};
  for (guint i = 0; i < G_N_ELEMENTS(refused); i++) {
    g_autoptr(Run) odd = run_demur(sandbox, "log", refused[i][0], refused[i][1], NULL);
    assert_status(odd, 2);
  }
  /* A time of another zone is that time, a date its midnight. */
  g_autoptr(Run) all = run_json(sandbox, 0, "log", "--last", "1", NULL);
  const char *created =
      string_at(json_array_get_object_element(array_at(root_of(all), "events"), 0), "created");
  g_autoptr(GDateTime) when = g_date_time_new_from_iso8601(created, NULL);
  g_autoptr(GDateTime) east = g_date_time_add_hours(when, 5);
  g_autofree char *zone = g_date_time_format(east, "%Y-%m-%dT%H:%M:%S+05:00");
  g_autoptr(Run) late = run_json(sandbox, 0, "log", "--since", zone, NULL);
  g_assert_cmpuint(json_array_get_length(array_at(root_of(late), "events")), >, 0);
  g_autoptr(Run) early = run_json(sandbox, 0, "log", "--since", "2020-01-01", NULL);
  g_assert_cmpuint(json_array_get_length(array_at(root_of(early), "events")), >, 0);
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
  assert_log_reads_times(sandbox);
  g_autoptr(Run) of_scan = run_json(sandbox, 0, "log", "--scan", UID, "--last", "1", NULL);
  g_assert_cmpuint(json_array_get_length(array_at(root_of(of_scan), "events")), ==, 1);
  g_autoptr(Run) unknown = run_demur(sandbox, "log", "--event", "nonsense", NULL);
  assert_status(unknown, 2);
  g_autoptr(Run) verify = run_demur(sandbox, "verify", NULL);
  assert_status(verify, 0);
}

/* How many openings of a scan the log tells, and by what the last one was (owned, may be NULL). */
static guint
count_openings(const Sandbox *sandbox, const char *option, const char *of, char **by) {
  g_autoptr(Run) run = run_json(sandbox, 0, "log", "--event", "opened", option, of, NULL);
  JsonArray *events = array_at(root_of(run), "events");
  const guint n = json_array_get_length(events);
  if (by != NULL)
    *by =
        n > 0 ? g_strdup(string_at(json_array_get_object_element(events, n - 1), "details")) : NULL;
  for (guint i = 0; i < n; i++)
    g_assert_null(strstr(string_at(json_array_get_object_element(events, i), "of"), "P1"));
  return n;
}

static void
note_text(GMarkupParseContext *context, const char *element, const char **names,
          const char **values, gpointer data, GError **error) {
  GString *all = data;
  g_string_append_printf(all, "<%s", element);
  for (guint i = 0; names[i] != NULL; i++)
    g_string_append_printf(all, " %s=%s", names[i], values[i]);
  g_string_append_c(all, '>');
}

/* Right values: PS3.15 A.5.3.7 and PS3.16 CID 400: 110103, DICOM Instances Accessed, R; the study and the
 * patient by their IDs. */
static void
check_audit_messages(const Sandbox *sandbox) {
  g_autoptr(Run) run =
      run_demur(sandbox, "log", "--audit-messages", "--event", "opened", "--scan", UID, NULL);
  assert_status(run, 0);
  g_auto(GStrv) lines = g_strsplit(g_strchomp(run->out), "\n", -1);
  g_assert_cmpuint(g_strv_length(lines), ==, 3);
  const GMarkupParser parser = {.start_element = note_text};
  g_autoptr(GString) all = g_string_new(NULL);
  GMarkupParseContext *context = g_markup_parse_context_new(&parser, 0, all, NULL);
  g_autoptr(GError) error = NULL;
  g_assert_true(g_markup_parse_context_parse(context, lines[0], -1, &error) &&
                g_markup_parse_context_end_parse(context, &error));
  g_markup_parse_context_free(context);
  static const char *const parts[] = {
      "<EventIdentification EventActionCode=R",
      "<EventID csd-code=110103 codeSystemName=DCM originalText=DICOM Instances Accessed>",
      "<ActiveParticipant UserID=",
      "<AuditSourceIdentification AuditSourceID=",
      "ParticipantObjectTypeCode=2 ParticipantObjectTypeCodeRole=3>",
      "ParticipantObjectID=P&1 ParticipantObjectTypeCode=1 ParticipantObjectTypeCodeRole=1>"};
  for (guint i = 0; i < G_N_ELEMENTS(parts); i++)
    assert_says(all->str, parts[i]);
  g_autoptr(Run) json = run_json(sandbox, 2, "log", "--audit-messages", NULL);
}

static void
test_who_opened_which_patient(void) {
  g_autoptr(Sandbox) sandbox = with_selector();
  write_slices(sandbox, "a", 0, N, "P&1", "One^Person", 0);
  import(sandbox, "a");
  score(sandbox, UID, "0.05", NULL);
  assess(sandbox);
  g_autofree char *pdf = sandbox_path(sandbox, "page.pdf"), *sr = sandbox_path(sandbox, "out.dcm"),
                  *csv = sandbox_path(sandbox, "out.csv"), *by = NULL;
  const char *const page[] = {"report", "patient", pdf, "--scan", UID, NULL};
  const char *const one[] = {"export", sr, "--scan", UID, NULL};
  const char *const one_csv[] = {"export", csv, "--scan", UID, NULL};
  const char *const all[] = {"export", csv, NULL};
  const char *const *const ways[] = {page, one, one_csv, all};
  /* Off until the site wants it. */
  for (guint w = 0; w < G_N_ELEMENTS(ways); w++) {
    g_autoptr(Run) run = run_words(sandbox, ways[w]);
    assert_status(run, 0);
  }
  g_assert_cmpuint(count_openings(sandbox, "--scan", UID, NULL), ==, 0);
  g_autoptr(Run) wrong = run_json(sandbox, 2, "log", "--keep-openings", "yes", NULL);
  g_autofree char *before = sandbox_path(sandbox, "before.json");
  g_autoptr(Run) first = run_json(sandbox, 0, "export", before, NULL);
  g_autoptr(Run) on = run_json(sandbox, 0, "log", "--keep-openings", "on", NULL);
  g_assert_true(bool_at(root_of(on), "keeps_openings"));
  for (guint w = 0; w < G_N_ELEMENTS(ways); w++) {
    g_autoptr(Run) run = run_words(sandbox, ways[w]);
    assert_status(run, 0);
    g_assert_cmpuint(count_openings(sandbox, "--scan", UID, NULL), ==, MIN(w + 1, 3));
  }
  g_assert_cmpuint(count_openings(sandbox, "--patient", "P&1", &by), ==, 3);
  assert_says(by, "\"by\": \"export\"");
  g_autoptr(Run) nobody = run_json(sandbox, 1, "log", "--patient", "P2", NULL);
  /* What was looked at changes nothing: the same export has the same bytes. */
  g_autofree char *after = sandbox_path(sandbox, "after.json"), *x = NULL, *y = NULL;
  g_autoptr(Run) second = run_json(sandbox, 0, "export", after, NULL);
  g_assert_true(g_file_get_contents(before, &x, NULL, NULL) &&
                g_file_get_contents(after, &y, NULL, NULL));
  g_assert_cmpstr(x, ==, y);
  check_audit_messages(sandbox);
  g_autoptr(Run) off = run_json(sandbox, 0, "log", "--keep-openings", "off", NULL);
  g_autoptr(Run) again = run_words(sandbox, page);
  g_assert_cmpuint(count_openings(sandbox, "--scan", UID, NULL), ==, 3);
  g_autoptr(Run) verify = run_demur(sandbox, "verify", NULL);
  assert_status(verify, 0);
}

/* Whether xmllint finds the message to be as the schema says; whatever it says goes nowhere. */
static gboolean
is_valid(const Sandbox *sandbox, const char *message) {
  g_autofree char *file = sandbox_write(sandbox, "message.xml", message, -1);
  g_autofree char *schema =
      g_test_build_filename(G_TEST_DIST, "tests", "commands", "audit-message.rng", NULL);
  const char *words[] = {"xmllint", "--noout", "--relaxng", schema, file, NULL};
  g_autoptr(GError) error = NULL;
  int status = 0;
  g_spawn_sync(NULL, (char **)words, NULL,
               G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL, NULL,
               NULL, NULL, NULL, &status, &error);
  g_assert_no_error(error);
  return g_spawn_check_wait_status(status, NULL);
}

/* Right values: the schema of PS3.15 A.5.1, for a message of every kind that the log can hold of series
 * which are there; and messages with one thing wrong each, so that the schema is no empty one. */
static void
test_audit_messages_are_as_the_schema_says(void) {
  g_autofree char *program = g_find_program_in_path("xmllint");
  if (program == NULL) {
    g_test_skip("xmllint (package libxml2-utils) is not installed");
    return;
  }
  g_autoptr(Sandbox) sandbox = with_selector();
  g_autofree char *csv = sandbox_path(sandbox, "out.csv");
  g_autoptr(Run) on = run_json(sandbox, 0, "log", "--keep-openings", "on", NULL);
  write_slices(sandbox, "a", 0, N, "P&1", "One^Person", 0);
  write_slices(sandbox, "b", 0, N, "P\"2", "Two^Person", 0);
  import(sandbox, "a");
  score(sandbox, UID, "0.05", NULL);
  assess(sandbox);
  g_autoptr(Run) opened = run_json(sandbox, 0, "export", csv, "--scan", UID, NULL);
  import(sandbox, "b");
  g_autoptr(Run) corrected =
      run_json(sandbox, 0, "dicom", "correct", UID "#2", "--reason", "merged", NULL);
  g_autoptr(Run) run = run_demur(sandbox, "log", "--audit-messages", NULL);
  assert_status(run, 0);
  g_auto(GStrv) lines = g_strsplit(g_strchomp(run->out), "\n", -1);
  static const char *const kinds[] = {"EventActionCode=\"C\"", "EventActionCode=\"R\"",
                                      "EventActionCode=\"U\"", "csd-code=\"110103\"",
                                      "csd-code=\"110110\""};
  for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
    assert_says(run->out, kinds[i]);
  for (char **line = lines; *line != NULL; line++)
    if (!is_valid(sandbox, *line)) {
      g_test_message("not as PS3.15 A.5.1 says: %s", *line);
      g_test_fail();
    }
  static const char *const wrong[][2] = {{"EventDateTime=\"", "EventDateTime=\"on "},
                                         {"csd-code", "code"},
                                         {"UserIsRequestor=\"true\"", ""},
                                         {"<ParticipantObjectName>", "<Name>"},
                                         {"TypeCodeRole=\"1\"", "TypeCodeRole=\"27\""}};
  for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
    g_autoptr(GString) text = g_string_new(lines[0]);
    g_assert_cmpuint(g_string_replace(text, wrong[i][0], wrong[i][1], 0), >, 0);
    g_assert_false(is_valid(sandbox, text->str));
  }
}

int
main(int argc, char **argv) {
  fixture_init(&argc, &argv);
  g_test_add_func("/commands/dicom-history/whatever-was-changed-is-named",
                  test_whatever_was_changed_is_named);
  g_test_add_func("/commands/dicom-history/the-log-tells-every-step",
                  test_the_log_tells_every_step);
  g_test_add_func("/commands/dicom-history/who-opened-which-patient",
                  test_who_opened_which_patient);
  g_test_add_func("/commands/dicom-history/audit-messages-are-as-the-schema-says",
                  test_audit_messages_are_as_the_schema_says);
  return g_test_run();
}
