/* What each role may do, and what the server refuses it: through the command line, and past it by statements of the same
 * user. Right values: the table of docs/server.md, written here once more by hand; what is refused is refused by the server
 * (its SQLSTATE 42501), and leaves nothing. Run by tests/support/with-postgres.sh. */
#include <string.h>

#include "commands/life-fixture.h"
#include "base/error.h"
#include "common.h"
#include "store/events.h"
#include "store/reviews.h"
#include "support/store.h"

enum { READER = 1, SERVICE = 2, ANALYST = 4, ADMIN = 8, NOBODY = 0, ALL = 15 };

/* In an order in which what the last may do alone is done last. */
static const struct {
  const char *user, *role;
  guint bit;
} people[] = {
    {"rita", "reader", READER},
    {"seven", "service", SERVICE},
    {"anna", "analyst", ANALYST},
    {"\xc3\xa1"
     "da=\"x\"",
     "admin", ADMIN},
};
#define N_PEOPLE G_N_ELEMENTS(people)

/* The same workspace as another user. */
static Sandbox
as(const Sandbox *sandbox, const char *user) {
  g_autofree char *escaped = g_uri_escape_string(user, NULL, FALSE);
  g_autofree char *option = g_strconcat("user=", escaped, NULL);
  return (Sandbox){.folder = sandbox->folder, .workspace = server_with(sandbox->workspace, option)};
}

static void
prepare(const Sandbox *sandbox) {
  import_cohort(sandbox);
  g_autoptr(Run) train = train_small(sandbox, "s", "sim", NULL);
  assert_status(train, 0);
  g_autoptr(Run) tune =
      run_json(sandbox, 0, "tune", "s", "--cohort", "sim", "--coverage", "1", NULL);
  write_slices(sandbox, "one", 0, N, "P1", "Somebody", 0);
  import(sandbox, "one");
  score(sandbox, UID, "0.2", NULL);
  assess(sandbox);
  for (guint p = 0; p < N_PEOPLE; p++) {
    g_auto(GStrv) quotes = g_strsplit(people[p].user, "\"", -1);
    g_autofree char *doubled = g_strjoinv("\"\"", quotes);
    g_autofree char *sql = g_strdup_printf("CREATE ROLE \"%s\" LOGIN", doubled);
    demur_test_store_run(sandbox->workspace, sql);
    g_autofree char *given = g_strdup_printf("%s=%s", people[p].user, people[p].role);
    g_autoptr(Run) roles = run_json(sandbox, 0, "workspace", "roles", given, "--apply", NULL);
    g_assert_true(bool_at(root_of(roles), "applied"));
    JsonObject *member = find_in(array_at(root_of(roles), "members"), "user", people[p].user);
    g_assert_nonnull(member);
    g_assert_cmpstr(string_at(member, "role"), ==, people[p].role);
  }
  demur_test_store_run(sandbox->workspace, "CREATE ROLE stranger LOGIN; CREATE ROLE zoe LOGIN");
  g_autoptr(DemurWorkspace) opened = server_open(sandbox->workspace, "demur");
  g_autoptr(GError) error = NULL;
  g_assert_true(server_comment(opened, UID, 0, "first", "demur", &error));
}

static gint64
n_events(const Sandbox *sandbox) {
  return demur_test_store_number(sandbox->workspace, "SELECT count(*) FROM event");
}

/* Each line with who may; %u: a number that is another each time. */
static const struct {
  const char *line;
  guint who;
} lines[] = {
    {"log", ALL},
    {"selector list", ALL},
    {"cohort show sim", ALL},
    {"verify", ALL},
    {"report patient report%u.pdf --scan 1.2.3.4", ALL},
    {"cohort import sim%u sim.csv --model m", ANALYST | ADMIN},
    {"tune s --cohort sim --coverage 0.9", ANALYST | ADMIN},
    {"watch start s --cohort sim", ANALYST | ADMIN},
    {"scores import scores%u.csv --model m --replace", SERVICE | ANALYST | ADMIN},
    {"dicom import one", SERVICE | ANALYST | ADMIN},
    {"assess s --all", SERVICE | ANALYST | ADMIN},
    {"assess --undo because", ANALYST | ADMIN},
    {"log --keep-openings on", ADMIN},
    {"workspace roles rita=admin --apply", NOBODY},
    {"workspace roles zoe=reader --apply", ADMIN},
    {"workspace roles zoe=service --apply", ADMIN},
    {"workspace roles zoe=none --apply", ADMIN},
    {"dicom remove --scan 1.2.3.4 --reason mistaken", ADMIN},
};

static void
run_lines(const Sandbox *whole, guint p) {
  g_autofree char *table = g_strdup_printf("scan_id,risk\n" UID ",0.%u\n", 3 + p);
  g_autofree char *name = g_strdup_printf("scores%u.csv", p);
  g_autofree char *scores = sandbox_write(whole, name, table, -1);
  const Sandbox mine = as(whole, people[p].user);
  g_autofree char *workspace = mine.workspace;
  for (guint l = 0; l < G_N_ELEMENTS(lines); l++) {
    g_autofree char *number = g_strdup_printf("%u", p);
    g_auto(GStrv) parts = g_strsplit(lines[l].line, "%u", -1);
    g_autofree char *line = g_strjoinv(number, parts);
    const gint64 before = n_events(whole);
    g_autoptr(Run) run = run_line(&mine, line);
    g_test_message("%s: %s: %d %s", people[p].role, line, run->status, run->err);
    if ((lines[l].who & people[p].bit) != 0) {
      assert_status(run, 0);
      continue;
    }
    assert_status(run, 1);
    /* Who asked is in the log, as a file's would be: what was refused left nothing else. */
    const gint64 refusals = demur_test_store_number(
        whole->workspace, "SELECT count(*) FROM event WHERE kind = 'refusal'");
    g_assert_cmpint(n_events(whole) - before, <=, refusals > 0 ? 2 : 0);
    assert_says(run->err, "workspace roles");
  }
}

/* What no program asks for. */
#define EVENT_OF(kind, key, digest)                                                                \
  "INSERT INTO event (sequence, kind, key, digest, \"user\", program, created, previous, chain)"   \
  " VALUES (1, '" kind "', " key ", " digest ", 'somebody else', 'none', '1999', 'p', 'c')"
#define EVENT(kind, key) EVENT_OF(kind, "'" key "'", "'d'")
#define NOTE(kind, key) EVENT_OF(kind, "'" key "'", "NULL")
#define TAKEN_BACK(statements) "BEGIN; " statements "; ROLLBACK"
#define REVIEW(user)                                                                               \
  "INSERT INTO review (scan_id, kind, comment, revealed, shown, \"user\", created)"                \
  " VALUES ('1.2.3.4', 'comment', 'forged', 0, '{}', " user ", '1999')"
#define OWN_REVIEW "'review:' || currval('review_id_seq')"

static const struct {
  const char *sql;
  guint who;
} statements[] = {
    {"SELECT count(*) FROM event", ALL},
    {"UPDATE event SET \"user\" = 'somebody else'", NOBODY},
    {"DELETE FROM event", NOBODY},
    {"TRUNCATE event", NOBODY},
    {"ALTER TABLE event DISABLE TRIGGER ALL", NOBODY},
    {"DROP TRIGGER event_written ON event", NOBODY},
    {"CREATE OR REPLACE FUNCTION demur.event_is_written() RETURNS trigger LANGUAGE plpgsql"
     " AS 'BEGIN RETURN new; END'",
     NOBODY},
    {"CREATE TABLE demur.mine ()", NOBODY},
    {"GRANT ALL ON demur.event TO PUBLIC", ALL}, /* a warning, and nothing: see below */
    {"SET SESSION AUTHORIZATION demur", NOBODY},
    {"SET ROLE demur", NOBODY},
    {"SET session_replication_role = replica", NOBODY},
    {"UPDATE workspace SET version = 1", NOBODY},
    {"INSERT INTO selector_key VALUES ('x')", NOBODY},
    {"BEGIN; " EVENT("threshold", "threshold:s|1") "; ROLLBACK", ANALYST | ADMIN},
    {"BEGIN; " EVENT("assessment", "verdicts:1") "; ROLLBACK", NOBODY}, /* none is of it */
    {TAKEN_BACK(NOTE("removal", "series:1.2.3.4")), ADMIN},
    {TAKEN_BACK(EVENT("removal", "series:1.2.3.4")), NOBODY},
    {TAKEN_BACK(NOTE("setting", "setting:openings")), ADMIN},
    /* An event of a row that is another's, is none, or is told already would damage the workspace for ever. */
    {TAKEN_BACK(EVENT("review", "review:1")), NOBODY},
    {TAKEN_BACK(EVENT("review", "review:999")), NOBODY},
    {TAKEN_BACK(EVENT("review", "review:x")), NOBODY},
    {TAKEN_BACK(EVENT("annotation", "annotation:1")), NOBODY},
    {TAKEN_BACK(EVENT("watch", "watch-alarm:1")), NOBODY},
    {TAKEN_BACK(EVENT("decision", "undo:1")), NOBODY},
    {TAKEN_BACK(REVIEW("session_user") "; " EVENT_OF("review", OWN_REVIEW, "'d'")),
     READER | ANALYST | ADMIN},
    {TAKEN_BACK(REVIEW("session_user") "; " EVENT_OF("review", OWN_REVIEW, "'d'") "; " EVENT_OF(
         "review", OWN_REVIEW, "'e'")),
     NOBODY},
    {TAKEN_BACK(EVENT("export", "selector:s")), NOBODY},
    {TAKEN_BACK(NOTE("export", "selector:s")), NOBODY},
    {TAKEN_BACK(EVENT("refusal", "series:1.2.3.4")), NOBODY},
    {TAKEN_BACK(EVENT("opening", "cohort:sim")), NOBODY},
    {TAKEN_BACK(EVENT("opened", "score:1.2.3.4|m")), NOBODY},
    {TAKEN_BACK(EVENT("reveal", "threshold:s|1")), NOBODY},
    {TAKEN_BACK(EVENT("import", "score:1.2.3.4|m")), NOBODY},
    {TAKEN_BACK(EVENT("training", "threshold:s|1")), NOBODY},
    {TAKEN_BACK(EVENT("setting", "series:1.2.3.4")), NOBODY},
    /* A digest says that something was there. */
    {TAKEN_BACK(EVENT("export", "export:x")), NOBODY},
    {TAKEN_BACK(NOTE("export", "export:x")), ALL},
    {TAKEN_BACK(NOTE("refusal", "attempt:x")), ALL},
    {TAKEN_BACK(NOTE("reveal", "assessment:s")), READER | ANALYST | ADMIN},
    /* A row that the log doesn't tell of would pass for one of an older program. */
    {REVIEW("session_user"), NOBODY},
    {"INSERT INTO score_run (scan_id, model, command, exit_status, outcome, seconds, created)"
     " VALUES ('1.2.3.4', 'm', 'none', 0, 'scored', 1, '1999')",
     NOBODY},
    {"INSERT INTO series (scan_id, accepted, eligible, n_slices, created, updated)"
     " VALUES ('forged', 1, 1, 1, '1999', '1999')",
     NOBODY},
    {TAKEN_BACK("INSERT INTO score (scan_id, model, risk, source, created)"
                " VALUES ('forged', 'm', 0, 'none', '1999')"),
     NOBODY},
    {TAKEN_BACK("INSERT INTO verdict (batch_id, scan_id, verdict, reasons)"
                " SELECT max(id), '1.2.3.4', 'accepted', '[]' FROM verdict_batch"),
     NOBODY},
    /* Numbers ahead would keep others from writing. */
    {TAKEN_BACK(
         "INSERT INTO review (id, scan_id, kind, comment, revealed, shown, \"user\", created)"
         " SELECT max(id) + 1, '1.2.3.4', 'comment', 'ahead', 0, '{}', session_user, '1999'"
         " FROM review"),
     NOBODY},
    {TAKEN_BACK(
         "INSERT INTO annotation (id, scan_id, images_digest, kind, plane, slice, \"user\","
         " created) VALUES (7, '1.2.3.4', 'd', 'key_image', 'acquired', 0, session_user, '1999')"),
     NOBODY},
    {TAKEN_BACK("INSERT INTO score_run (id, scan_id, model, command, exit_status, outcome, seconds,"
                " created) VALUES (7, '1.2.3.4', 'm', 'none', 0, 'scored', 1, '1999')"),
     NOBODY},
    {TAKEN_BACK("UPDATE series SET id = id + 1"), NOBODY},
    {TAKEN_BACK("UPDATE threshold SET sequence = sequence + 50"), NOBODY},
    {"SELECT setval('review_id_seq', 999)", NOBODY},
    {TAKEN_BACK("SELECT lo_create(0)"), NOBODY},
    {TAKEN_BACK("SELECT lo_from_bytea(0, '0')"), NOBODY},
    {"BEGIN; " REVIEW("'somebody else'") "; ROLLBACK", NOBODY},
    {"BEGIN; " REVIEW("NULL") "; ROLLBACK", NOBODY},
    {"BEGIN; " REVIEW("session_user") "; ROLLBACK", READER | ANALYST | ADMIN},
    {"UPDATE review SET comment = 'forged'", NOBODY},
    {"DELETE FROM review", NOBODY},
    {"UPDATE verdict SET verdict = 'red_flag'", NOBODY},
    {"DELETE FROM verdict", NOBODY},
    {"UPDATE annotation SET value = 1", NOBODY},
    {"UPDATE decision SET reason = 'forged'", NOBODY},
    {"BEGIN; UPDATE threshold SET threshold = 9; ROLLBACK", ANALYST | ADMIN},
    {"BEGIN; UPDATE score SET risk = 0; ROLLBACK", SERVICE | ANALYST | ADMIN},
    {"BEGIN; DELETE FROM selector; ROLLBACK", ANALYST | ADMIN},
    {"BEGIN; DELETE FROM series; ROLLBACK", ADMIN},
};

static void
run_statements(const Sandbox *whole, guint p) {
  const Sandbox mine = as(whole, people[p].user);
  g_autofree char *workspace = mine.workspace;
  for (guint s = 0; s < G_N_ELEMENTS(statements); s++) {
    g_autofree char *state = demur_test_store_refusal(workspace, statements[s].sql);
    g_test_message("%s: %s: %s", people[p].role, statements[s].sql, state);
    g_assert_cmpstr(state, ==, (statements[s].who & people[p].bit) != 0 ? NULL : "42501");
  }
}

/* What may be written is written as it was, whatever was said. */
static void
run_forged(const Sandbox *whole, guint p) {
  const Sandbox mine = as(whole, people[p].user);
  g_autofree char *workspace = mine.workspace;
  const gint64 before = n_events(whole);
  g_autofree char *state = demur_test_store_refusal(
      workspace, "SET demur_copy.rows = 'as they are'; " NOTE("export", "export:forged"));
  g_assert_cmpstr(state, ==, NULL);
  g_autoptr(DemurWorkspace) owner = server_open(whole->workspace, "nobody");
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) events = demur_events_list(owner, before, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(events->len, ==, 1);
  const DemurEvent *event = events->pdata[0];
  g_autofree char *chain = demur_event_digest(event);
  g_assert_cmpint(event->sequence, ==, before + 1);
  g_assert_cmpstr(event->user, ==, people[p].user);
  g_assert_cmpstr(event->created, >, "2020-");
  g_assert_cmpstr(event->chain, ==, chain);
}

/* What a person writes past the program, with a false digest, seal and time, is as the program would have it: `verify`, at
 * the end, finds nothing. */
#define FALSE_EVENT(kind, key, table)                                                                  \
  "INSERT INTO event (sequence, kind, key, digest, seal, \"user\", program, created, previous, chain)" \
  " VALUES (1, '" kind "', '" key ":' || currval('" table                                              \
  "_id_seq'), 'false', 'false', 'x', 'none',"                                                          \
  " '1999', 'p', 'c'); COMMIT"

static const struct {
  const char *table, *sql;
  guint who;
} falsehoods[] = {
    {"review",
     "BEGIN; INSERT INTO review (scan_id, cohort, kind, comment, revealed, shown, \"user\", created,"
     " digest) VALUES ('1.2.3.4', NULL, 'comment', 'f\xc3\xa4lse', 1, '{}', session_user, '1999',"
     " 'false'); " FALSE_EVENT("review", "review", "review"),
     READER | ANALYST | ADMIN},
    {"annotation",
     "BEGIN; INSERT INTO annotation (scan_id, images_digest, kind, plane, slice, x1, y1, x2, y2, value,"
     " \"user\", created) VALUES ('1.2.3.4', 'd', 'length', 'acquired', 3, 0.1, -2.5, 1e-300, 7, -0.0,"
     " session_user, '1999'); " FALSE_EVENT("annotation", "annotation", "annotation"),
     READER | ANALYST | ADMIN},
    {"decision",
     "BEGIN; INSERT INTO decision (selector, selector_digest, cohort, split, coverage, threshold,"
     " reason, \"user\", created) VALUES ('s', 'd', 'c', 'tune', 0.9, -1.0 / 3, 'why', session_user,"
     " '1999'); " FALSE_EVENT("decision", "decision", "decision"),
     ANALYST | ADMIN},
    {"series_overrule",
     "BEGIN; INSERT INTO series_overrule (scan_id, reason, rules_eligible, rules_accepted, created,"
     " \"user\") VALUES ('1.2.3.4', 'why', 1, 0, '1999', session_user); " FALSE_EVENT(
         "overrule", "overrule", "series_overrule"),
     ANALYST | ADMIN},
};

static void
write_falsely(const Sandbox *whole, guint p) {
  const Sandbox mine = as(whole, people[p].user);
  g_autofree char *workspace = mine.workspace;
  for (guint f = 0; f < G_N_ELEMENTS(falsehoods); f++) {
    g_autofree char *state = demur_test_store_refusal(workspace, falsehoods[f].sql);
    g_test_message("%s: %s: %s", people[p].role, falsehoods[f].sql, state);
    g_assert_cmpstr(state, ==, (falsehoods[f].who & people[p].bit) != 0 ? NULL : "42501");
    g_autofree char *timed = g_strdup_printf(
        "SELECT count(*) FROM %s WHERE created < to_char(now() - interval '1 day', 'YYYY-MM-DD')"
        " AND \"user\" <> 'demur'",
        falsehoods[f].table);
    g_assert_cmpint(demur_test_store_number(whole->workspace, timed), ==, 0);
  }
}

static void
review(const Sandbox *whole, guint p) {
  const Sandbox mine = as(whole, people[p].user);
  g_autofree char *workspace = mine.workspace;
  g_autoptr(DemurWorkspace) opened = server_open(workspace, "somebody else");
  g_autoptr(GError) error = NULL;
  g_assert_cmpstr(demur_workspace_user(opened), ==, people[p].user);
  const gboolean may = people[p].bit != SERVICE;
  g_assert_cmpint(server_comment(opened, UID, 0, "seen", people[p].user, &error), ==, may);
  g_assert_cmpint(error == NULL, ==, may);
  g_clear_error(&error);
  g_assert_false(server_comment(opened, UID, 0, "seen", "somebody else", &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STORE);
}

static void
a_role_does_what_it_may_and_no_more(void) {
  g_autoptr(Sandbox) whole = sandbox_new();
  prepare(whole);
  for (guint p = 0; p < N_PEOPLE; p++) {
    run_statements(whole, p);
    run_forged(whole, p);
    write_falsely(whole, p);
    review(whole, p);
    run_lines(whole, p);
  }
  const Sandbox stranger = as(whole, "stranger");
  g_autofree char *workspace = stranger.workspace;
  g_autoptr(Run) refused = run_line(&stranger, "log");
  assert_status(refused, 1);
  assert_says(refused->err, "workspace roles");
  g_assert_cmpint(demur_test_store_number(whole->workspace,
                                          "SELECT count(*) FROM event WHERE \"user\" NOT IN ("
                                          "'demur', 'rita', 'seven', 'anna', U&'\\00E1da=\"x\"')"),
                  ==, 0);
  g_autoptr(Run) sound = run_line(whole, "verify");
  assert_status(sound, 0);
}

/* Only the owner brings a schema up, and the roles have their rights in what is new. */
static void
rights_go_with_an_upgrade(void) {
  g_autoptr(Sandbox) whole = sandbox_new();
  demur_workspace_close(server_open(whole->workspace, "nobody"));
  demur_test_store_run(whole->workspace, "CREATE ROLE rosa LOGIN");
  g_autoptr(Run) roles = run_line(whole, "workspace roles rosa=reader --apply");
  assert_status(roles, 0);
  demur_test_store_run(whole->workspace, "DROP TABLE review; UPDATE workspace SET version = 25");
  const Sandbox mine = as(whole, "rosa");
  g_autofree char *workspace = mine.workspace;
  g_autoptr(Run) refused = run_line(&mine, "cohort list");
  assert_status(refused, 1);
  g_test_message("%s", refused->err);
  demur_workspace_close(server_open(whole->workspace, "nobody"));
  g_autoptr(DemurWorkspace) opened = server_open(workspace, "rosa");
  g_autoptr(GError) error = NULL;
  g_assert_true(server_comment(opened, UID, 0, "seen", "rosa", &error));
  g_autoptr(Run) out = run_line(whole, "workspace roles rosa=none --apply");
  assert_status(out, 0);
  g_assert_false(server_comment(opened, UID, 0, "seen", "rosa", &error));
}

/* What is printed is run by a superuser: a member's name is no statement of it. */
static void
a_name_is_no_statement(void) {
  g_autoptr(Sandbox) whole = sandbox_new();
  demur_workspace_close(server_open(whole->workspace, "nobody"));
  g_autoptr(Run) roles = run_line(whole, "workspace roles --apply");
  assert_status(roles, 0);
  demur_test_store_run(whole->workspace,
                       "DO $do$BEGIN CREATE ROLE \"x\nalter role rita superuser; --\";"
                       " EXECUTE format('GRANT %I TO %I', current_database() || '_reader',"
                       " E'x\\nalter role rita superuser; --'); END$do$");
  static const char *const asked[] = {"workspace roles", "workspace roles --apply"};
  for (guint i = 0; i < G_N_ELEMENTS(asked); i++) {
    g_autoptr(Run) told = run_line(whole, asked[i]);
    assert_status(told, 0);
    assert_says(told->out, "alter role rita");
    g_assert_null(strstr(told->out, "\nalter"));
  }
  static const char *const given[] = {"x\nalter role rita superuser; --=reader", "x\ry=reader",
                                      "x\x1b[2J=reader", "x\xe2\x80\xaey=reader"};
  for (guint i = 0; i < G_N_ELEMENTS(given); i++) {
    g_autoptr(Run) refused = run_json(whole, 2, "workspace", "roles", given[i], NULL);
    g_assert_null(strstr(refused->out, "GRANT"));
  }
}

/* A role of that name which is another's gets no rights. */
static void
another_s_role_is_none(void) {
  static const char *const made[] = {"LOGIN", "NOLOGIN"};
  for (guint i = 0; i < G_N_ELEMENTS(made); i++) {
    g_autoptr(Sandbox) whole = sandbox_new();
    demur_workspace_close(server_open(whole->workspace, "nobody"));
    g_autofree char *sql = g_strdup_printf(
        "DO $$BEGIN EXECUTE format('CREATE ROLE %%I %s', current_database() || '_admin'); END$$",
        made[i]);
    demur_test_store_run(whole->workspace, sql);
    g_autoptr(Run) refused = run_line(whole, "workspace roles --apply");
    assert_status(refused, 1);
    g_test_message("%s", refused->err);
    g_assert_cmpint(demur_test_store_number(whole->workspace,
                                            "SELECT count(*) FROM pg_roles WHERE rolname ="
                                            " current_database() || '_reader'"),
                    ==, 0);
    g_assert_cmpint(demur_test_store_number(
                        whole->workspace,
                        "SELECT has_table_privilege(current_database() || '_admin', 'demur.series',"
                        " 'DELETE')::int"),
                    ==, 0);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/roles/a-role-does-what-it-may-and-no-more",
                  a_role_does_what_it_may_and_no_more);
  g_test_add_func("/roles/rights-go-with-an-upgrade", rights_go_with_an_upgrade);
  g_test_add_func("/roles/a-name-is-no-statement", a_name_is_no_statement);
  g_test_add_func("/roles/another-s-role-is-none", another_s_role_is_none);
  return g_test_run();
}
