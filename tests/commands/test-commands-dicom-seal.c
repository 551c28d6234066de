/* One bit changed in any column of a row, or a row taken away: `verify` names it. The tables and
 * columns come from the schema of the workspace itself, so that one that is added later is tried
 * without a word here; a table that nothing rests on has to be named below, with why. */
#include <sqlite3.h>

#include "life-fixture.h"
#include "store/acceptances.h"
#include "store/site-seen.h"
#include "store/annotations.h"
#include "store/audits.h"
#include "store/cohorts.h"
#include "store/runs.h"
#include "store/selectors.h"
#include "store/series.h"
#include "store/watches.h"
#include "tasks/review.h"

/* What nothing rests on. Every other table of sqlite_master has to be sealed: a table that is added and
 * is neither here nor in names below ends the test. */
static const char *const free_tables[] = {
    "checkpoint",      /* a training that was interrupted: read with a digest of its own */
    "sqlite_sequence", /* SQLite's own */
};

static gboolean
is_free(const char *table) {
  for (guint i = 0; i < G_N_ELEMENTS(free_tables); i++)
    if (strcmp(table, free_tables[i]) == 0)
      return TRUE;
  return FALSE;
}

static void
run_sql(sqlite3 *database, const char *sql) {
  char *message = NULL;
  if (sqlite3_exec(database, sql, NULL, NULL, &message) != SQLITE_OK)
    g_error("%s: %s", sql, message);
}

static sqlite3 *
open_database(const char *path) {
  sqlite3 *database = NULL;
  g_assert_cmpint(sqlite3_open(path, &database), ==, SQLITE_OK);
  return database;
}

/* The texts of a query's first column. */
static char **
texts_of(sqlite3 *database, const char *sql) {
  g_autoptr(GStrvBuilder) texts = g_strv_builder_new();
  sqlite3_stmt *statement = NULL;
  if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK)
    g_error("%s: %s", sql, sqlite3_errmsg(database));
  while (sqlite3_step(statement) == SQLITE_ROW)
    g_strv_builder_add(texts, (const char *)sqlite3_column_text(statement, 0));
  sqlite3_finalize(statement);
  return g_strv_builder_end(texts);
}

/* How `verify` names a row: a query of it. In what it says ":" may be " ". */
static const struct {
  const char *table, *name;
} names[] = {
    {"acceptance", "SELECT 'acceptance:' || id FROM acceptance WHERE %s"},
    {"annotation", "SELECT 'annotation:' || id FROM annotation WHERE %s"},
    {"acceptance_plan", "SELECT 'acceptance-plan:' || id FROM acceptance_plan WHERE %s"},
    {"cohort", "SELECT 'cohort:' || name FROM cohort WHERE %s"},
#define OF_COHORT(table)                                                                           \
  {                                                                                                \
    table, "SELECT 'cohort:' || name FROM cohort WHERE id = (SELECT cohort_id FROM " table         \
           " WHERE %s)"                                                                            \
  }
    OF_COHORT("cohort_attribute"),
    OF_COHORT("cohort_column"),
    OF_COHORT("cohort_exclusion"),
    OF_COHORT("cohort_split"),
    OF_COHORT("cohort_warning"),
#undef OF_COHORT
    {"decision", "SELECT 'decision:' || id FROM decision WHERE %s"},
    {"event", "SELECT 'event ' FROM event WHERE %s"},
    {"review", "SELECT 'review:' || id FROM review WHERE %s"},
    {"score", "SELECT 'score:' || scan_id || '|' || model FROM score WHERE %s"},
    {"score_run", "SELECT 'run:' || id FROM score_run WHERE %s"},
    {"selector", "SELECT 'selector:' || name FROM selector WHERE %s"},
    {"selector_key", "SELECT 'selector ' || name FROM selector"
                     " WHERE (SELECT count(*) FROM selector_key WHERE %s) > 0"},
    {"series", "SELECT 'series:' || scan_id FROM series WHERE %s"},
    {"series_file", "SELECT 'series:' || scan_id FROM series WHERE id ="
                    " (SELECT series_id FROM series_file WHERE %s)"},
    {"series_overrule", "SELECT 'overrule:' || id FROM series_overrule WHERE %s"},
    {"verdict_undo", "SELECT 'undo:' || id FROM verdict_undo WHERE %s"},
    {"site_audit", "SELECT 'audit:' || s.name || '|' || site FROM selector s JOIN (SELECT * FROM"
                   " site_audit WHERE %s) a ON a.selector_id = s.id"},
    {"site_audit_plan",
     "SELECT 'audit-plan:' || s.name || '|' || site FROM selector s JOIN (SELECT *"
     " FROM site_audit_plan WHERE %s) a ON a.selector_id = s.id"},
    {"threshold", "SELECT 's: its threshold for coverage ' || printf('%%g', coverage) || '\n' ||"
                  " 'threshold:s|' || printf('%%g', coverage) FROM threshold WHERE %s"},
    {"site_seen", "SELECT 'site-seen:' || id FROM site_seen WHERE %s"},
    {"watch", "SELECT 'watch:' || id FROM watch WHERE %s"},
    {"watch_alarm", "SELECT 'watch-alarm:' || id FROM watch_alarm WHERE %s"},
    {"watch_label", "SELECT 'watch-labels:' || event FROM watch_label WHERE %s"},
    {"watch_lift", "SELECT 'watch-lift:' || id FROM watch_lift WHERE %s"},
    {"verdict", "SELECT 'verdict:' || id FROM verdict WHERE %s"},
    {"verdict_batch", "SELECT 'verdicts:' || event FROM verdict WHERE batch_id ="
                      " (SELECT id FROM verdict_batch WHERE %s)"},
};

/* A length and a key image, of which one was taken off. */
static gboolean
add_annotations(DemurWorkspace *workspace, char *made, GError **error) {
  g_autoptr(DemurSeriesRecord) series = demur_series_load(workspace, UID, error);
  if (series == NULL)
    return FALSE;
  DemurAnnotation drawn = {.scan_id = (char *)UID,
                           .images_digest = series->images_digest,
                           .kind = DEMUR_ANNOTATION_LENGTH,
                           .plane = DEMUR_DRAWN_ACQUIRED,
                           .slice = 3,
                           .number = 4,
                           .n_slices = N,
                           .slab_mm = 5,
                           .slab = DEMUR_DRAWN_MEAN,
                           .n_places = 3,
                           .x = {1, 2, 3},
                           .y = {4, 5, 6},
                           .value = 12.5,
                           .sd = 3,
                           .area_mm2 = 7,
                           .n_pixels = 9,
                           .unit = (char *)"mm",
                           .window_width = 1500,
                           .window_level = -600,
                           .user = (char *)"reader",
                           .created = made};
  if (!demur_annotations_save(workspace, &drawn, error))
    return FALSE;
  drawn.kind = DEMUR_ANNOTATION_KEY_IMAGE;
  return demur_annotations_save(workspace, &drawn, error) &&
         demur_annotations_take_off(workspace, drawn.id, "reader", made, error);
}

/* What a person and an external model add, through the store as the tasks write them. */
static void
add_the_rest(const Sandbox *sandbox) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurWorkspace) workspace =
      demur_workspace_open(sandbox->workspace, DEMUR_WORKSPACE_DEFAULT, &error);
  g_assert_no_error(error);
  g_autoptr(DemurSelectorRecord) selector = demur_selectors_load(workspace, "s", &error);
  g_assert_no_error(error);
  char made[] = "2026-11-28T12:00:00Z", text[] = "{\"a\": 1}";
  const DemurAuditPlan plan = {.selector = selector->name,
                               .site = (char *)"s0",
                               .cohort = selector->cohort,
                               .n_scans = 20,
                               .seed = 1,
                               .created = made};
  const DemurAuditRecord audit = {.selector = selector->name,
                                  .site = (char *)"s0",
                                  .cohort = selector->cohort,
                                  .intercept = 0.1,
                                  .low = -0.1,
                                  .high = 0.3,
                                  .tau2 = 0.2,
                                  .n_labels = 20,
                                  .labels = text,
                                  .created = made};
  DemurAcceptancePlanRecord test = {.selector = selector->name,
                                    .selector_digest = selector->digest,
                                    .cohort = selector->cohort,
                                    .site = (char *)"s0",
                                    .document = text,
                                    .digest = text,
                                    .user = (char *)"reader",
                                    .created = made};
  gboolean ok = demur_audit_plans_save(workspace, &plan, &error) &&
                demur_audits_save(workspace, &audit, &error) &&
                demur_acceptance_plans_save(workspace, &test, &error);
  const DemurAcceptanceRecord answer = {.plan = test.id,
                                        .answer = (char *)"accepted",
                                        .document = text,
                                        .labels_digest = text,
                                        .n_labels = 20,
                                        .user = (char *)"reader",
                                        .created = made};
  const DemurScoreRunRecord run = {.scan_id = (char *)UID,
                                   .model = (char *)"m",
                                   .command = (char *)"model",
                                   .outcome = DEMUR_RUN_FAILED,
                                   .message = (char *)"why",
                                   .stderr_end = (char *)"said",
                                   .seconds = 1,
                                   .created = made};
  ok = ok && demur_acceptances_save(workspace, &answer, &error) &&
       demur_score_runs_add(workspace, &run, &error) && demur_workspace_begin(workspace, &error) &&
       demur_site_seen_keep(workspace, selector->name, made, &error) &&
       demur_workspace_commit(workspace, &error);
  DemurWatchRecord watch = {.selector = selector->name,
                            .selector_digest = selector->digest,
                            .site = (char *)"s0",
                            .cohort = selector->cohort,
                            .document = text,
                            .digest = text,
                            .user = (char *)"reader",
                            .created = made};
  ok = ok && demur_watches_save(workspace, &watch, &error);
  const DemurWatchAlarm alarm = {
      .watch = watch.id, .signal = (char *)"risk", .at = 1, .document = text, .created = made};
  const DemurWatchLabel label = {(char *)UID, 1};
  const DemurExclusion left_out = {(char *)"no outcome", 3};
  g_autoptr(GPtrArray) noticed = demur_table_warnings_new();
  demur_table_warnings_add(noticed, DEMUR_TABLE_MISSING_WORDS, "risk", "NA", "-", 2, 1200);
  ok = ok && demur_cohorts_set_exclusions(workspace, "sim", &left_out, 1, &error) &&
       demur_cohorts_set_warnings(workspace, "sim", noticed, &error) &&
       demur_watch_alarms_save(workspace, &alarm, &error) &&
       demur_watch_alarms_lift(workspace, 1, "seen", "reader", made, &error) &&
       demur_watch_labels_save(workspace, &label, 1, "reader", made, &error) &&
       add_annotations(workspace, made, &error);
  g_assert_no_error(error);
  g_assert_true(ok);
}

static void
agree(const Sandbox *sandbox) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurScanTable) table = demur_scan_table_load(sandbox->workspace, FALSE, NULL, &error);
  g_assert_no_error(error);
  g_auto(DemurTask)
      task = {.workspace_path = g_strdup(sandbox->workspace), .user = g_strdup("reader")};
  const gssize row = demur_scan_table_find(table, NULL, UID);
  g_assert_cmpint(row, >=, 0);
  const gboolean kept =
      demur_task_review(&task, &table->scans[row], DEMUR_REVIEW_AGREE, "seen", FALSE, &error);
  g_assert_no_error(error);
  g_assert_true(kept);
}

/* Every kind of row: what a site has after a while. */
static Sandbox *
with_everything(void) {
  Sandbox *sandbox = with_selector();
  g_autofree char *attach = sandbox_write(sandbox, "attach.csv", "site,maker\ns0,A\ns1,B\n", -1);
  g_autoptr(Run) attached =
      run_demur(sandbox, "cohort", "attach", "sim", attach, "--key", "site", NULL);
  assert_status(attached, 0);
  g_autoptr(Run) tuned = run_demur(sandbox, "tune", "s", "--cohort", "sim", "--coverage", "1",
                                   "--reason", "agreed", NULL);
  assert_status(tuned, 0);
  write_slices(sandbox, "a", 0, N, "P1", "One^Person", 0);
  import(sandbox, "a");
  g_autoptr(Run) chosen = run_demur(sandbox, "dicom", "choose", UID, "--reason", "seen", NULL);
  assert_status(chosen, 0);
  score(sandbox, UID, "0.05", NULL);
  assess(sandbox);
  assess(sandbox);
  assess(sandbox);
  g_autoptr(Run) undone = run_demur(sandbox, "assess", "--undo", "once too often", NULL);
  assert_status(undone, 0);
  add_the_rest(sandbox);
  agree(sandbox);
  g_autoptr(Run) verify = run_demur(sandbox, "verify", NULL);
  assert_status(verify, 0);
  return sandbox;
}

/* A copy with what sql did to it, past the schema's own guards; FALSE where the schema refuses sql
 * all the same, or it changed nothing. */
static gboolean
damage(const Sandbox *sandbox, const char *copy, const char *sql) {
  g_unlink(copy);
  sqlite3 *database = open_database(sandbox->workspace);
  g_autofree char *into = g_strdup_printf("VACUUM INTO '%s'", copy);
  run_sql(database, into);
  sqlite3_close(database);
  database = open_database(copy);
  g_auto(GStrv) triggers =
      texts_of(database, "SELECT sql FROM sqlite_master WHERE type = 'trigger'");
  run_sql(database, "DROP TRIGGER event_not_changed; DROP TRIGGER event_not_removed;");
  run_sql(database, "PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF;");
  const gboolean done = sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK &&
                        sqlite3_total_changes(database) > 0;
  for (char **trigger = triggers; *trigger != NULL; trigger++)
    run_sql(database, *trigger);
  sqlite3_close(database);
  return done;
}

/* Whether verify's findings of what is wrong name the row. */
static gboolean
is_named(const char *copy, const char *name) {
  g_autoptr(Run) run = run_demur(NULL, "--workspace", copy, "verify", NULL);
  g_auto(GStrv) lines = g_strsplit(run->out, "\n", -1);
  g_autofree char *wanted = g_strdelimit(g_strdup(name), ":", ' ');
  g_auto(GStrv) ways = g_strsplit(wanted, "\n", -1); /* one of them */
  for (char **line = lines; run->status == 1 && *line != NULL; line++)
    for (char **way = ways; *way != NULL; way++)
      if (g_str_has_prefix(*line, "WRONG") && strstr(g_strdelimit(*line, ":", ' '), *way) != NULL)
        return TRUE;
  g_test_message("verify says %s", run->status == 0 ? "sound" : run->out);
  return FALSE;
}

static const char *
name_query(const char *table) {
  for (guint i = 0; i < G_N_ELEMENTS(names); i++)
    if (strcmp(names[i].table, table) == 0)
      return names[i].name;
  g_error("how does verify name a row of %s? Say so in this test", table);
}

/* Of a column: the last bit of a number or of the last byte. */
static char *
bit_of(const char *table, const char *column, const char *row) {
  return g_strdup_printf("UPDATE %1$s SET %2$s = CASE typeof(%2$s) WHEN 'integer' THEN %2$s + 1"
                         " WHEN 'real' THEN %2$s * 1.0000000000001 + 1e-300 WHEN 'text' THEN"
                         " substr(%2$s, 1, length(%2$s) - 1) || char(unicode(substr(%2$s, -1)) + 1)"
                         " ELSE CAST(substr(%2$s, 1, length(%2$s) - 1) || x'01' AS BLOB) END"
                         " WHERE %3$s AND %2$s IS NOT NULL AND %2$s <> '' AND length(%2$s) > 0",
                         table, column, row);
}

/* Which rows are tried, each as a condition on its key: the first and the last; of the log one in the
 * middle, as its cut end is what a head that was kept finds. */
static char **
rows_of(sqlite3 *database, const char *table) {
  g_autofree char *query =
      g_strdup_printf("SELECT name FROM pragma_table_info('%s') WHERE pk > 0 ORDER BY pk", table);
  g_auto(GStrv) keys = texts_of(database, query);
  g_autoptr(GString) condition = g_string_new(NULL), down = g_string_new(NULL);
  for (char **key = keys; *key != NULL; key++) {
    g_string_append_printf(condition, "%s'%s = ' || quote(%s)",
                           key != keys ? " || ' AND ' || " : "", *key, *key);
    g_string_append_printf(down, "%s%s DESC", key != keys ? ", " : "", *key);
  }
  g_autofree char *up = g_strjoinv(", ", keys);
  g_autofree char *sql =
      strcmp(table, "event") == 0
          ? g_strdup("SELECT 'sequence = ' || (max(sequence) / 2) FROM event")
          : g_strdup_printf("SELECT * FROM (SELECT %1$s FROM %2$s ORDER BY %3$s LIMIT 1) UNION"
                            " SELECT * FROM (SELECT %1$s FROM %2$s ORDER BY %4$s LIMIT 1)",
                            condition->str, table, up, down->str);
  return texts_of(database, sql);
}

/* One change, and that it is named; what the schema refuses is no change. */
static gboolean
try_change(const Sandbox *sandbox, const char *sql, const char *name) {
  g_autofree char *copy = sandbox_path(sandbox, "copy.demur");
  if (!damage(sandbox, copy, sql))
    return FALSE;
  if (!is_named(copy, name)) {
    g_test_message("%s is not named after: %s", name, sql);
    g_test_fail();
  }
  return TRUE;
}

/* One bit of one column of one row, and one row taken out: the row is named, not only that something
 * is wrong. */
static void
test_every_column_and_row_is_named(void) {
  g_autoptr(Sandbox) sandbox = with_everything();
  sqlite3 *database = open_database(sandbox->workspace);
  g_auto(GStrv) tables =
      texts_of(database, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
  guint n = 0, n_tried = 0;
  for (char **table = tables; *table != NULL; table++) {
    if (is_free(*table))
      continue;
    g_autofree char *query = g_strdup_printf("SELECT name FROM pragma_table_info('%s')", *table);
    g_auto(GStrv) columns = texts_of(database, query);
    g_auto(GStrv) rows = rows_of(database, *table);
    for (char **row = rows; *row != NULL; row++) {
      g_autofree char *of_name = g_strdup_printf(name_query(*table), *row);
      g_auto(GStrv) name = texts_of(database, of_name);
      if (name[0] == NULL)
        g_error("no name by %s", of_name);
      /* Each is a run of the program: one in five, in turn, is enough for one build. */
      for (char **column = columns; *column != NULL; column++) {
        g_autofree char *sql = bit_of(*table, *column, *row);
        if (g_test_thorough() || n++ % 5 == 4)
          n_tried += try_change(sandbox, sql, name[0]) ? 1 : 0;
      }
      g_autofree char *sql = g_strdup_printf("DELETE FROM %s WHERE %s", *table, *row);
      n_tried += try_change(sandbox, sql, name[0]) ? 1 : 0;
    }
    if (rows[0] == NULL) {
      g_test_message("there is no row of %s", *table);
      g_test_fail();
    }
  }
  sqlite3_close(database);
  g_test_message("%u changes tried", n_tried);
  g_assert_cmpuint(n_tried, >=, 50);
}

int
main(int argc, char **argv) {
  fixture_init(&argc, &argv);
  g_test_add_func("/commands/dicom-seal/every-column-and-row-is-named",
                  test_every_column_and_row_is_named);
  return g_test_run();
}
