/* A workspace from place to place and back: a file, then a server's database where tests have one
 * (support/store.h), else a file again, then a file. Right values: the first one's log, verdicts and cohort, and
 * what `verify` says. */
#include <math.h>
#include <string.h>

#include <glib/gstdio.h>

#include "base/error.h"
#include "cohort/simulate.h"
#include "store/cohorts.h"
#include "store/events.h"
#include "store/verdicts.h"
#include "support/folder.h"
#include "support/store.h"
#include "support/support.h"
#include "tasks/workspace-copy.h"

#define TIME "2026-01-01T00:00:00Z"
#define N_VERDICTS 700 /* several pages */

typedef struct {
  char *folder, *from, *to;
} Fixture;

static DemurWorkspace *
open_workspace(const char *path) {
  g_autoptr(GError) error = NULL;
  DemurWorkspace *workspace = demur_workspace_open(path, DEMUR_WORKSPACE_CREATE, &error);
  g_assert_no_error(error);
  demur_workspace_set_actor(workspace, "reader", "here", NULL);
  return workspace;
}

static void
save_verdicts(DemurWorkspace *workspace, size_t n) {
  const DemurVerdictBatch batch = {.selector = "s",
                                   .selector_digest = "d",
                                   .model = "m",
                                   .coverage = 0.9,
                                   .threshold = 1.0 / 3.0,
                                   .created = TIME};
  g_autofree DemurVerdictRecord *records = g_new0(DemurVerdictRecord, n);
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  for (size_t i = 0; i < n; i++) {
    g_ptr_array_add(names, g_strdup_printf("1.2.%zu \303\244", i));
    records[i] = (DemurVerdictRecord){.scan_id = names->pdata[i],
                                      .risk = (double)i / 997.0,
                                      .risk_raw = i % 2 == 0 ? (double)NAN : 5e-324,
                                      .risk_low = NAN,
                                      .risk_high = NAN,
                                      .distance = NAN,
                                      .score = -0.0,
                                      .verdict = DEMUR_VERDICT_ACCEPTED,
                                      .reasons = (char *)"[]"};
  }
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_verdicts_save(workspace, &batch, records, n, &error));
  g_assert_no_error(error);
}

static void
set_up(Fixture *f, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  f->folder = g_dir_make_tmp("demur-copy-XXXXXX", &error);
  g_assert_no_error(error);
  f->from = g_build_filename(f->folder, "from.demur", NULL);
  f->to = demur_test_store_path(f->folder, "to.demur");
  g_autoptr(DemurWorkspace) workspace = open_workspace(f->from);
  DemurSimulation simulation;
  demur_simulation_defaults(&simulation);
  simulation.n_scans = 200;
  simulation.n_base_train = simulation.n_tune = simulation.n_test = 100;
  simulation.n_sites = 3;
  g_autoptr(DemurParallel) parallel = demur_parallel_new(1);
  g_autoptr(DemurCohort) cohort =
      demur_cohort_simulate(&simulation, "c", TIME, parallel, NULL, &error);
  g_assert_no_error(error);
  g_assert_true(demur_cohorts_save(workspace, cohort, NULL, &error));
  g_assert_no_error(error);
  save_verdicts(workspace, N_VERDICTS);
}

static void
tear_down(Fixture *f, gconstpointer data) {
  demur_test_store_remove(f->to);
  g_assert_true(demur_test_remove_folder(f->folder));
  g_free(f->folder);
  g_free(f->from);
  g_free(f->to);
}

static DemurWorkspaceCopy *
copy(const char *from, const char *to, GError **error) {
  g_auto(DemurTask) task = {.seed = 1};
  return demur_task_copy_workspace(&task, from, to, error);
}

static DemurWorkspaceCopy *
copied(const char *from, const char *to) {
  g_autoptr(GError) error = NULL;
  DemurWorkspaceCopy *made = copy(from, to, &error);
  g_assert_no_error(error);
  g_assert_true(made->soundness->ok);
  g_assert_cmpuint(made->soundness->n_cohorts, ==, 1);
  g_assert_cmpuint(made->soundness->n_verdicts, ==, N_VERDICTS);
  return made;
}

static void
assert_alike(const char *path, const char *other) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurWorkspace) a = open_workspace(path), b = open_workspace(other);
  g_autofree char *head = demur_events_head(a, &error), *right = demur_events_head(b, &error);
  g_assert_nonnull(head);
  g_assert_cmpstr(head, ==, right);
  g_autoptr(GPtrArray) one = demur_verdicts_of_scan(a, NULL, "1.2.699 \303\244", &error),
                       two = demur_verdicts_of_scan(b, NULL, "1.2.699 \303\244", &error);
  g_assert_no_error(error);
  g_assert_cmpuint(one->len, ==, 1);
  g_assert_cmpuint(two->len, ==, 1);
  const DemurVerdictRecord *x = one->pdata[0], *y = two->pdata[0];
  g_assert_cmpstr(x->digest, ==, y->digest);
  g_assert_cmpint(x->id, ==, y->id);
  g_assert_true(x->risk == y->risk && x->risk_raw == 5e-324 && y->risk_raw == 5e-324);
  g_assert_true(x->score == 0.0 && y->score == 0.0);
}

static void
there_and_back_is_the_same(Fixture *f, gconstpointer data) {
  g_autofree char *back = g_build_filename(f->folder, "back.demur", NULL);
  g_autoptr(DemurWorkspaceCopy) there = copied(f->from, f->to);
  g_autoptr(DemurWorkspaceCopy) again = copied(f->to, back);
  g_assert_cmpint(there->rows.n_rows, >, N_VERDICTS);
  g_assert_cmpint(there->rows.n_rows, ==, again->rows.n_rows);
  g_assert_cmpstr(there->rows.digest, ==, again->rows.digest);
  assert_alike(f->to, f->from);
  assert_alike(back, f->from);
  /* The folder of what was on its way is gone. */
  g_autoptr(GDir) dir = g_dir_open(f->folder, 0, NULL);
  for (const char *name; (name = g_dir_read_name(dir)) != NULL;)
    g_assert_false(*name == '.');
}

/* As a workspace that is made there: in a folder that a group shares, the group's. */
static void
a_file_has_the_rights_of_its_folder(Fixture *f, gconstpointer data) {
  static const struct { mode_t folder, file; } rights[] = {{0700, 0600}, {02770, 0660}};
  for (size_t i = 0; i < G_N_ELEMENTS(rights); i++) {
    g_autofree char *name = g_strdup_printf("place%zu", i);
    g_autofree char *place = g_build_filename(f->folder, name, NULL);
    g_autofree char *path = g_build_filename(place, "w.demur", NULL);
    g_assert_cmpint(g_mkdir(place, 0700), ==, 0);
    g_assert_cmpint(g_chmod(place, rights[i].folder), ==, 0);
    g_autoptr(DemurWorkspaceCopy) made = copied(f->from, path);
    GStatBuf status;
    g_assert_cmpint(g_stat(path, &status), ==, 0);
    g_assert_cmpuint(status.st_mode & 0777, ==, rights[i].file);
  }
}

/* A number that was given and taken out is not given again, behind the copy as before it. */
static void
the_next_number_is_the_one_it_would_have_been(Fixture *f, gconstpointer data) {
  g_assert_true(g_unlink(f->from) == 0);
  {
    g_autoptr(DemurWorkspace) workspace = open_workspace(f->from);
    g_autoptr(GError) error = NULL;
    g_assert_true(demur_workspace_begin(workspace, &error));
    g_assert_true(demur_workspace_commit(workspace, &error));
  }
  /* Past the program: a table that is empty, and another whose last row is gone. */
  demur_test_store_run(f->from, "INSERT INTO sqlite_sequence (name, seq) VALUES ('verdict', 41)");
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurWorkspaceCopy) made = copy(f->from, f->to, &error);
  g_assert_no_error(error);
  g_autofree char *back = g_build_filename(f->folder, "back.demur", NULL);
  g_autoptr(DemurWorkspaceCopy) again = copy(f->to, back, &error);
  g_assert_no_error(error);
  const char *const paths[] = {f->to, back};
  for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
    g_autoptr(DemurWorkspace) workspace = open_workspace(paths[i]);
    save_verdicts(workspace, 1);
    g_autoptr(GPtrArray) list = demur_verdicts_of_scan(workspace, NULL, "1.2.0 \303\244", &error);
    g_assert_no_error(error);
    g_assert_cmpint(((DemurVerdictRecord *)list->pdata[0])->id, ==, 42);
  }
}

static void
where_something_is_kept_it_stays(Fixture *f, gconstpointer data) {
  {
    g_autoptr(DemurWorkspace) other = open_workspace(f->to);
    save_verdicts(other, 1);
  }
  g_autoptr(GError) error = NULL;
  g_assert_null(copy(f->from, f->to, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_EXISTS);
  g_assert_cmpint(demur_test_store_number(f->to, "SELECT count(*) FROM verdict"), ==, 1);
}

/* Somebody else's table among the program's, where nothing is kept, and, on a server, where no workspace is either: it is
 * told by its name before a row goes there, and stays. */
static void
what_is_another_s_is_told_and_stays(Fixture *f, gconstpointer data) {
  for (int is_alone = 0; is_alone <= demur_test_store_is_server(); is_alone++) {
    if (is_alone) {
      demur_test_store_remove(f->to);
      demur_test_store_run(f->to, "CREATE SCHEMA demur");
    } else {
      g_autoptr(DemurWorkspace) empty = open_workspace(f->to);
    }
    demur_test_store_run(f->to, is_alone ? "CREATE TABLE verdict (text TEXT)"
                                         : "CREATE TABLE notes (text TEXT)");
    demur_test_store_run(f->to, is_alone ? "INSERT INTO verdict VALUES ('kept')"
                                         : "INSERT INTO notes VALUES ('kept')");
    g_autoptr(GError) error = NULL;
    g_assert_null(copy(f->from, f->to, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_EXISTS);
    g_assert_nonnull(strstr(error->message, is_alone ? "(table verdict)" : "(table notes)"));
    g_autofree char *text = demur_test_store_text(f->to, is_alone ? "SELECT text FROM verdict"
                                                                  : "SELECT text FROM notes");
    g_assert_cmpstr(text, ==, "kept");
    if (!is_alone)
      g_assert_cmpint(demur_test_store_number(f->to, "SELECT count(*) FROM verdict"), ==, 0);
    else
      g_assert_cmpint(demur_test_store_number(
                          f->to, "SELECT count(*) FROM pg_catalog.pg_class WHERE relnamespace ="
                                 " 'demur'::regnamespace"),
                      ==, 1);
  }
}

/* The other way it stays behind. */
static void
what_is_another_s_is_not_copied(Fixture *f, gconstpointer data) {
  g_autofree char *back = g_build_filename(f->folder, "back.demur", NULL);
  g_autoptr(DemurWorkspaceCopy) there = copied(f->from, f->to);
  demur_test_store_run(f->to, "CREATE TABLE notes (text TEXT)");
  demur_test_store_run(f->to, "INSERT INTO notes VALUES ('kept')");
  g_autoptr(DemurWorkspaceCopy) again = copied(f->to, back);
  g_assert_cmpstr(there->rows.digest, ==, again->rows.digest);
  g_assert_cmpint(
      demur_test_store_number(back, "SELECT count(*) FROM sqlite_schema WHERE name = 'notes'"), ==,
      0);
  g_assert_cmpint(demur_test_store_number(f->to, "SELECT count(*) FROM notes"), ==, 1);
}

static void
assert_nothing_is_there(const Fixture *f) {
  g_autoptr(GError) error = NULL;
  g_assert_null(demur_workspace_open(f->to, DEMUR_WORKSPACE_READ_ONLY, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND);
  g_autoptr(GDir) dir = g_dir_open(f->folder, 0, NULL);
  for (const char *name; (name = g_dir_read_name(dir)) != NULL;)
    g_assert_true(g_str_has_prefix(name, "from.demur"));
}

/* Cancelled where that much is done. */
typedef struct {
  GCancellable *cancellable;
  double at;
} Cancel;

static void
cancel_at(double fraction, const char *stage, gpointer data) {
  const Cancel *cancel = data;
  if (fraction >= cancel->at)
    g_cancellable_cancel(cancel->cancellable);
}

static void
one_that_is_cancelled_leaves_nothing(Fixture *f, gconstpointer data) {
  static const double at[] = {0.0, 0.3, 0.6, 0.75}; /* read and written, compared, verified */
  for (size_t i = 0; i < G_N_ELEMENTS(at); i++) {
    g_autoptr(GCancellable) cancellable = g_cancellable_new();
    Cancel cancel = {cancellable, at[i]};
    g_auto(DemurTask) task = {.seed = 1, .progress = {cancel_at, &cancel, cancellable}};
    g_autoptr(GError) error = NULL;
    g_assert_null(demur_task_copy_workspace(&task, f->from, f->to, &error));
    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
    assert_nothing_is_there(f);
  }
}

static void
one_that_is_damaged_is_not_copied(Fixture *f, gconstpointer data) {
  demur_test_store_run(f->from, "UPDATE verdict SET risk = 0.5 WHERE id = 3");
  g_autoptr(GError) error = NULL;
  g_assert_null(copy(f->from, f->to, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
  assert_nothing_is_there(f);
}

/* The name of a file may be any bytes; a server takes texts. */
static void
what_a_server_does_not_take_is_told(Fixture *f, gconstpointer data) {
  demur_test_store_run(f->from, "UPDATE verdict SET site = CAST(x'41ff' AS TEXT) WHERE id = 3");
  g_autoptr(GError) error = NULL;
  g_assert_null(copy(f->from, f->to, &error));
  const DemurError right =
      demur_test_store_is_server() ? DEMUR_ERROR_UNSUPPORTED : DEMUR_ERROR_STATE;
  g_assert_error(error, DEMUR_ERROR, (int)right);
  assert_nothing_is_there(f);
}

#define TEST(name)                                                                                 \
  g_test_add("/tasks/workspace-copy/" #name, Fixture, NULL, set_up, name, tear_down)

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  TEST(there_and_back_is_the_same);
  TEST(a_file_has_the_rights_of_its_folder);
  TEST(the_next_number_is_the_one_it_would_have_been);
  TEST(where_something_is_kept_it_stays);
  TEST(what_is_another_s_is_told_and_stays);
  TEST(what_is_another_s_is_not_copied);
  TEST(one_that_is_cancelled_leaves_nothing);
  TEST(one_that_is_damaged_is_not_copied);
  TEST(what_a_server_does_not_take_is_told);
  return g_test_run();
}
