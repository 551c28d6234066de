/* A server that is killed in the middle of what a command writes: nothing of it is there, the command says what to do,
 * and the same command works once the server is back. The server is ended by itself, where the rows are written: a
 * trigger kills its first process when the n-th row of a table comes, and waits for the end there. Right values: the
 * digest of every row before. Run by tests/support/with-postgres.sh. */
#include <string.h>

#include "commands/life-fixture.h"
#include "base/error.h"
#include "common.h"
#include "store/reviews.h"
#include "support/store.h"

/* Each command with where it is met: behind so many rows of a table; 0: when its transaction ends. */
typedef struct {
  const char *line, *table;
  guint n_rows;
  const char *again; /* what works afterwards; NULL: the line */
} Deed;

#define SMALL                                                                                      \
  " --as-published --epochs 2 --datasets-per-epoch 96 --batch 8 --dataset-size 128 --kappa 2 "     \
  "--validation-datasets 20"

static const Deed deeds[] = {
    {"cohort import more sim.csv --model m", "cohort_column", 3, NULL},
    {"cohort import told sim.csv --model m", "cohort", 0, NULL},
    {"dicom import two", "series", 1, NULL},
    {"dicom import three", "series_file", 9, NULL},
    {"scores import new.csv --model n", "score", 1, NULL},
    {"train t --cohort sim" SMALL, "selector", 1, "train t --cohort sim --resume" SMALL},
    {"train u --cohort sim" SMALL, "checkpoint", 2, "train u --cohort sim --resume" SMALL},
    {"tune s --cohort sim --coverage 0.8", "threshold", 1, NULL},
    {"assess s --cohort sim", "verdict", 30, NULL},
    {"assess s --all", "verdict", 0, NULL},
    {"selector import w s.json", "selector", 1, NULL},
    {"watch start s --cohort sim --split tune", "watch", 1, NULL},
    {"accept plan s --cohort sim --site s3 --output plan.csv", "acceptance_plan", 1, NULL},
    {"audit plan s --cohort sim --site s3 --scans 12 --output audit.csv", "site_audit_plan", 1,
     NULL},
    {"cohort remove gone", "event", 1, NULL},
};

/* Who waits in a server whose first process is gone ends (PostgreSQL, postmaster death). */
static void
set_trap(const Sandbox *sandbox, const char *table, guint n_rows) {
  g_autofree char *sql = g_strdup_printf(
      "CREATE SEQUENCE public.met;"
      "CREATE FUNCTION public.die() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$BEGIN"
      " IF nextval('public.met') < %u THEN RETURN NULL; END IF;"
      " COPY (SELECT 1) TO PROGRAM 'cat >/dev/null; kill -9 $(head -n 1 postmaster.pid)';"
      " PERFORM pg_catalog.pg_sleep(600); RETURN NULL; END$$;"
      "CREATE %s TRIGGER zz_die AFTER INSERT OR UPDATE ON demur.%s %s FOR EACH ROW"
      " EXECUTE FUNCTION public.die()",
      n_rows, n_rows == 0 ? "CONSTRAINT" : "", table,
      n_rows == 0 ? "DEFERRABLE INITIALLY DEFERRED" : "");
  demur_test_store_run(sandbox->workspace, sql);
}

static void
take_trap(const Sandbox *sandbox) {
  demur_test_store_run(sandbox->workspace,
                       "DROP FUNCTION public.die() CASCADE; DROP SEQUENCE public.met");
}

/* The digest of every row (owned). */
static char *
digest_of(const Sandbox *sandbox) {
  g_autofree char *file = sandbox_path(sandbox, "kept.demur");
  g_autoptr(Run) kept = run_json(sandbox, 0, "workspace", "copy", sandbox->workspace, file, NULL);
  g_assert_cmpint(g_unlink(file), ==, 0);
  return g_strdup(string_at(root_of(kept), "digest"));
}

static void
assert_is_away(const char *said) {
  assert_says(said, "the server is away; what was being written is there as a whole or not at all");
}

static Sandbox *
with_all(void) {
  Sandbox *sandbox = with_selector();
  static const char *const series[] = {"1.2.3.4", "1.2.3.6", "1.2.3.7"};
  static const char *const folders[] = {"one", "two", "three"};
  for (size_t s = 0; s < G_N_ELEMENTS(series); s++) {
    g_autofree char *folder = sandbox_path(sandbox, folders[s]);
    g_assert_cmpint(g_mkdir(folder, 0700), ==, 0);
    for (int k = 0; k < N; k++) {
      FixtureImage image = fixture_image(k + 1, 2.5 * k);
      g_autofree char *file = g_strdup_printf("%03d.dcm", k);
      image.series_uid = series[s];
      image.patient_id = folders[s];
      fixture_save(&image, folder, file);
    }
  }
  import(sandbox, "one");
  score(sandbox, UID, "0.2", NULL);
  g_autofree char *table = sandbox_write(sandbox, "new.csv", "scan_id,risk\n" UID ",0.3\n", -1);
  g_autoptr(Run) gone = run_line(sandbox, "cohort import gone sim.csv --model m");
  assert_status(gone, 0);
  g_autoptr(Run) out = run_line(sandbox, "selector export s s.json");
  assert_status(out, 0);
  return sandbox;
}

static void
a_command_writes_all_or_nothing(void) {
  g_autoptr(Sandbox) sandbox = with_all();
  for (size_t d = 0; d < G_N_ELEMENTS(deeds); d++) {
    const Deed *deed = &deeds[d];
    g_autofree char *before = digest_of(sandbox);
    set_trap(sandbox, deed->table, deed->n_rows);
    g_autoptr(Run) met = run_line(sandbox, deed->line);
    server_control("start");
    take_trap(sandbox);
    g_test_message("%s: %s", deed->line, met->err);
    assert_status(met, 1);
    assert_is_away(met->err);
    if (deed->again == NULL) { /* else what was finished before is kept, and gone on with */
      g_autofree char *after = digest_of(sandbox);
      g_assert_cmpstr(after, ==, before);
    }
    g_autoptr(Run) again = run_line(sandbox, deed->again != NULL ? deed->again : deed->line);
    assert_status(again, 0);
    g_autoptr(Run) sound = run_line(sandbox, "verify");
    assert_status(sound, 0);
  }
}

static void
a_review_is_there_or_not(void) {
  g_autoptr(Sandbox) sandbox = with_selector();
  g_autoptr(DemurWorkspace) writer = server_open(sandbox->workspace, "demur");
  for (guint n_rows = 0; n_rows < 2; n_rows++) {
    g_autofree char *before = digest_of(sandbox);
    set_trap(sandbox, "review", n_rows);
    g_autoptr(GError) error = NULL;
    g_assert_false(server_comment(writer, "1.2", 0, "lost", "demur", &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_AWAY);
    assert_is_away(error->message);
    g_clear_error(&error);
    server_control("start");
    take_trap(sandbox);
    g_autofree char *after = digest_of(sandbox);
    g_assert_cmpstr(after, ==, before);
    g_assert_true(server_comment(writer, "1.2", 0, "kept", "demur", &error));
    g_assert_no_error(error);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_autoptr(GError) error = NULL;
  if (!demur_dicom_init(&error))
    g_error("%s", error->message);
  g_test_add_func("/postgres/midway/a-command-writes-all-or-nothing",
                  a_command_writes_all_or_nothing);
  g_test_add_func("/postgres/midway/a-review-is-there-or-not", a_review_is_there_or_not);
  return g_test_run();
}
