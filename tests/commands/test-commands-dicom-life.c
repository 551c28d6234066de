/* The life of a verdict when images come again: by import, receive and retrieve x the same, fewer,
 * more, other slices, other pixels x the same person, the same person corrected, another x before
 * the score, after it, after the verdict, after an opinion on it. The right answers are the rules of
 * tasks/meeting.h, written as one function and not as a table of outcomes. -m thorough: all of them.
 */

#include "tasks/review.h"
#include "ways-fixture.h"
#include "support/store.h"

typedef enum { SAME, FEWER, MORE, OTHER_SLICES, OTHER_CONTENT, N_IMAGES } Images;
typedef enum { SAME_PERSON, CORRECTED, OTHER_PERSON, N_PERSONS } Person;
typedef enum { IMPORTED, SCORED, ASSESSED, REVIEWED, N_STAGES } Stage;

/* What is told outside: `export`'s JSON, the verdict of a scan; NULL where it has none. */
static Run *export(const Sandbox *sandbox) {
  g_autofree char *path = sandbox_path(sandbox, "out.json");
  g_unlink(path);
  g_autoptr(Run) run = run_demur(sandbox, "export", path, NULL);
  Run *read = g_new0(Run, 1);
  g_autofree char *text = NULL;
  if (run->status == 0 && g_file_get_contents(path, &text, NULL, NULL))
    read->json = json_from_string(text, NULL);
  read->line = g_strdup("export");
  return read;
}

static JsonObject *
exported(const Run *run, const char *scan_id) {
  return run->json == NULL
             ? NULL
             : find_in(array_at(json_node_get_object(run->json), "verdicts"), "scan_id", scan_id);
}

static void
assert_state(const Sandbox *sandbox, const char *scan_id, const char *state, const char *because) {
  g_autoptr(Run) run = export(sandbox);
  JsonObject *verdict = exported(run, scan_id);
  if (verdict == NULL) {
    g_test_message("scan %s has no verdict", scan_id);
    g_test_fail();
    return;
  }
  if (strcmp(string_at(verdict, "state"), state) != 0) {
    g_test_message("scan %s is %s, not %s", scan_id, string_at(verdict, "state"), state);
    g_test_fail();
  }
  const gboolean current = strcmp(state, "current") == 0;
  JsonArray *causes = array_at(verdict, "out_of_date_because");
  g_assert_true(current == (json_array_get_length(causes) == 0));
  if (!current) {
    g_assert_true(is_null_at(verdict, "risk"));
    gboolean found = FALSE;
    for (guint i = 0; i < json_array_get_length(causes); i++)
      found |= strstr(json_array_get_string_element(causes, i), because) != NULL;
    if (!found) {
      g_test_message("scan %s is not out of date because %s", scan_id, because);
      g_test_fail();
    }
  }
}

/* Of the volumes of the workspace: how many, how many wait, slices of the first. */
static void
count(const Sandbox *sandbox, guint *n, guint *n_waiting, guint *n_slices) {
  g_autoptr(Run) run = run_json(sandbox, 0, "dicom", "list", NULL);
  JsonArray *series = array_at(root_of(run), "series");
  *n = json_array_get_length(series);
  *n_waiting = 0;
  for (guint i = 0; i < *n; i++) {
    JsonObject *one = json_array_get_object_element(series, i);
    *n_waiting += is_null_at(one, "conflict") ? 0 : 1;
    if (!is_null_at(one, "conflict"))
      g_assert_false(bool_at(one, "accepted"));
    if (strcmp(string_at(one, "scan_id"), UID) == 0)
      *n_slices = (guint)number_at(one, "n_slices");
  }
}

/* The opinion on the verdict that is shown, as the window tells it, and how many were ever kept. */
static char *
opinion_now(const Sandbox *sandbox, guint *n_kept) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurScanTable) table = demur_scan_table_load(sandbox->workspace, FALSE, NULL, &error);
  g_assert_no_error(error);
  const gssize row = demur_scan_table_find(table, NULL, UID);
  g_assert_cmpint(row, >=, 0);
  g_auto(DemurTask) task = {.workspace_path = g_strdup(sandbox->workspace)};
  g_autoptr(GPtrArray) kept = demur_task_reviews(&task, NULL, UID, &error);
  g_assert_no_error(error);
  *n_kept = kept->len;
  const DemurScanReview *review = &table->reviews[row];
  return g_strdup(review->n_reviews > 0 ? demur_review_kind_name(review->opinion) : NULL);
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
      demur_task_review(&task, &table->scans[row], DEMUR_REVIEW_AGREE, NULL, FALSE, &error);
  g_assert_no_error(error);
  g_assert_true(kept);
}

/* Two sets of slices: both from 0, but what comes other slices or some more. */
static void
write_again(const Sandbox *sandbox, Images images, Person person) {
  static const int from[] = {0, 0, N - 4, N, 0}, to[] = {N, N / 2, N + 8, 2 * N, N};
  const gboolean other = person != SAME_PERSON;
  write_slices(sandbox, "b", from[images], to[images], other ? "P2" : "P1",
               other ? "Two^Person" : "One^Person", images == OTHER_CONTENT ? 100 : 0);
}

/* The archive's correction is taken as one; of other images it is none, and nothing changes. */
static void
take_as_correction(const Sandbox *sandbox, Images images, Stage stage) {
  g_autoptr(Run) run =
      run_demur(sandbox, "dicom", "correct", UID "#2", "--reason", "corrected", NULL);
  assert_status(run, images == SAME ? 0 : 1);
  guint n, n_waiting, n_slices = 0;
  count(sandbox, &n, &n_waiting, &n_slices);
  g_assert_cmpuint(n, ==, images == SAME ? 1 : 2);
  g_assert_cmpuint(n_waiting, ==, images == SAME ? 0 : 2);
  if (stage >= ASSESSED)
    assert_state(sandbox, UID, "out_of_date", images == SAME ? "person" : "SAFETY");
}

static void
come_again(const Sandbox *sandbox, guint way, Images images, Person person, Stage stage) {
  g_test_message("%s, images %d, person %d, stage %d", way_names[way], images, person, stage);
  write_slices(sandbox, "a", 0, N, "P1", "One^Person", 0);
  ways[way](sandbox, "a");
  if (stage >= SCORED)
    score(sandbox, UID, "0.05", NULL);
  if (stage >= ASSESSED)
    assess(sandbox);
  if (stage >= REVIEWED)
    agree(sandbox);
  write_again(sandbox, images, person);
  ways[way](sandbox, "b");
  gboolean conflict = person != SAME_PERSON || images == OTHER_CONTENT;
  const gboolean grows = !conflict && (images == MORE || images == OTHER_SLICES);
  guint n, n_waiting, n_slices = 0, n_kept = 0;
  count(sandbox, &n, &n_waiting, &n_slices);
  g_assert_cmpuint(n, ==, conflict ? 2 : 1);
  g_assert_cmpuint(n_waiting, ==, conflict ? 2 : 0);
  g_assert_cmpuint(n_slices, ==, !grows ? N : images == MORE ? N + 8 : 2 * N);
  if (stage >= ASSESSED)
    assert_state(sandbox, UID, conflict || grows ? "out_of_date" : "current",
                 conflict ? "SAFETY" : "images");
  if (person == CORRECTED)
    take_as_correction(sandbox, images, stage);
  conflict = conflict && !(person == CORRECTED && images == SAME);
  if (stage == REVIEWED) {
    g_autofree char *opinion = opinion_now(sandbox, &n_kept);
    /* Of a verdict that holds it stands; of one that does not, it is history. */
    g_assert_cmpuint(n_kept, ==, 1);
    g_assert_cmpstr(opinion, ==, conflict || grows || person != SAME_PERSON ? NULL : "agree");
  }
  /* Assessed again: a score of what the images were is none of what they are. */
  g_autoptr(Run) run = run_json(sandbox, 0, "assess", "s", "--all", NULL);
  JsonObject *verdict = find_in(array_at(root_of(run), "verdicts"), "scan_id", UID);
  const char *right = conflict                     ? "not_eligible"
                      : stage == IMPORTED || grows ? "no_score"
                                                   : "accepted";
  g_assert_cmpstr(string_at(verdict, "verdict"), ==, right);
  JsonObject *second = find_in(array_at(root_of(run), "verdicts"), "scan_id", UID "#2");
  g_assert_true((second != NULL) == conflict);
  if (conflict)
    g_assert_true(is_null_at(second, "risk"));
  if (stage == REVIEWED) {
    g_autofree char *opinion = opinion_now(sandbox, &n_kept);
    g_assert_cmpuint(n_kept, ==, 1);
    g_assert_null(opinion);
  }
  g_autoptr(Run) verify = run_demur(sandbox, "verify", NULL);
  assert_status(verify, 0);
}

static void
test_images_come_again(void) {
  g_autoptr(Sandbox) template = with_selector();
  guint n = 0;
  for (guint way = 0; way < G_N_ELEMENTS(ways); way++)
    for (Images images = SAME; images < N_IMAGES; images++)
      for (Person person = SAME_PERSON; person < N_PERSONS; person++)
        for (Stage stage = IMPORTED; stage < N_STAGES; stage++) {
          /* 180 runs of the whole way: a part of them, other ones a way, is enough for one build. */
          if (!g_test_thorough() && n++ % 11 != 0)
            continue;
          g_autoptr(Sandbox) sandbox = sandbox_new();
          demur_test_store_copy(template->workspace, sandbox->workspace);
          come_again(sandbox, way, images, person, stage);
        }
}

/* What a verdict rests on changes, one thing at a time; and changes back by assessing again. */
static void
test_each_arrow_ends_a_verdict(void) {
  g_autoptr(Sandbox) sandbox = with_selector();
  write_slices(sandbox, "a", 0, N, "P1", "One^Person", 0);
  import(sandbox, "a");
  score(sandbox, UID, "0.05", NULL);
  assess(sandbox);
  assert_state(sandbox, UID, "current", NULL);
  score(sandbox, UID, "0.05", NULL); /* the same values are no change */
  assert_state(sandbox, UID, "current", NULL);
  score(sandbox, UID, "0.5", "--replace");
  assert_state(sandbox, UID, "out_of_date", "score");
  assess(sandbox);
  assert_state(sandbox, UID, "current", NULL);
  /* The same images of another hospital (audits are of sites), or by another kernel. */
  static const struct {
    const char *institution, *kernel;
  } headers[] = {{"Elsewhere", NULL}, {"Elsewhere", "B80f"}, {NULL, NULL}};
  g_autofree char *folder = sandbox_path(sandbox, "a");
  for (size_t h = 0; h < G_N_ELEMENTS(headers); h++) {
    for (int k = 0; k < N; k++) {
      FixtureImage image = fixture_image(k + 1, 2.5 * k);
      g_autofree char *file = g_strdup_printf("%03d.dcm", k);
      image.patient_id = "P1";
      image.patient_name = "One^Person";
      image.institution = headers[h].institution;
      image.kernel = headers[h].kernel != NULL ? headers[h].kernel : image.kernel;
      fixture_save(&image, folder, file);
    }
    import(sandbox, "a");
    assert_state(sandbox, UID, "out_of_date", "site or of how it was made");
    assess(sandbox);
    import(sandbox, "a");
    assert_state(sandbox, UID, "current", NULL);
  }
  g_autoptr(Run) tune =
      run_json(sandbox, 0, "tune", "s", "--cohort", "sim", "--coverage", "0.7", NULL);
  assert_state(sandbox, UID, "out_of_date", "threshold");
  assess(sandbox);
  assert_state(sandbox, UID, "current", NULL);
  /* Its threshold would end with it: not unasked. */
  g_autoptr(Run) kept = train_small(sandbox, "s", "sim", "--seed", "7", "--replace", NULL);
  assert_status(kept, 1);
  assert_says(kept->err, "2 thresholds");
  assert_state(sandbox, UID, "current", NULL);
  g_autoptr(Run) useless = train_small(sandbox, "s", "sim", "--force", NULL);
  assert_status(useless, 2);
  g_autoptr(Run) train =
      train_small(sandbox, "s", "sim", "--seed", "7", "--replace", "--force", NULL);
  assert_status(train, 0);
  assert_state(sandbox, UID, "out_of_date", "selector");
  g_autofree char *sr = sandbox_path(sandbox, "out.dcm");
  g_autoptr(Run) refused = run_demur(sandbox, "export", sr, "--scan", UID, NULL);
  assert_status(refused, 1);
  assert_says(refused->err, "Assess again");
  g_autoptr(Run) verify = run_demur(sandbox, "verify", NULL);
  assert_status(verify, 0);
}

/* A page by another threshold is no way to a risk that is held back, of which nobody would be told: the
 * scan is assessed by it first, and then has that verdict. */
static void
test_a_page_tells_no_held_back_risk(void) {
  g_autoptr(Sandbox) sandbox = with_selector();
  write_slices(sandbox, "a", 0, N, "P1", "One^Person", 0);
  import(sandbox, "a");
  score(sandbox, UID, "0.5", NULL);
  g_autoptr(Run) strict =
      run_json(sandbox, 0, "tune", "s", "--cohort", "sim", "--coverage", "0.02", NULL);
  g_autofree char *page = sandbox_path(sandbox, "page.pdf");
  const char *const all[] = {"report",     "patient", page,         "--scan", UID,
                             "--selector", "s",       "--coverage", "1"};
#define PAGE all[0], all[1], all[2], all[3], all[4], all[5], all[6]
  /* Nobody has assessed it: nothing is held back. */
  g_autoptr(Run) before = run_demur(sandbox, PAGE, all[7], all[8], NULL);
  assert_status(before, 0);
  assess(sandbox);
  g_autoptr(Run) export = run_json(sandbox, 0, "assess", "s", "--all", NULL);
  JsonObject *verdict = find_in(array_at(root_of(export), "verdicts"), "scan_id", UID);
  g_assert_cmpstr(string_at(verdict, "verdict"), ==, "red_flag");
  g_autoptr(Run) refused = run_demur(sandbox, PAGE, all[7], all[8], NULL);
  assert_status(refused, 1);
  assert_says(refused->err, "is held back by selector s");
  g_autoptr(Run) held = run_demur(sandbox, PAGE, NULL);
  assert_status(held, 0);
  g_autoptr(Run) again =
      run_json(sandbox, 0, "assess", "s", "--scan", UID, "--coverage", "1", NULL);
  g_autoptr(Run) told = run_demur(sandbox, PAGE, all[7], all[8], NULL);
  assert_status(told, 0);
#undef PAGE
}

static void
test_a_person_decides(void) {
  static const struct {
    const char *command;
    const char *words[4];
    guint n_left;
    const char *patient, *state, *because;
  } rows[] = {
      {"resolve", {UID, "--keep"}, 1, "P1", "current", NULL},
      {"resolve", {UID "#2", "--keep"}, 1, "P2", NULL, NULL},
      {"resolve", {UID, "--both"}, 2, "P1", "current", NULL},
      {"correct", {UID "#2"}, 1, "P2", "out_of_date", "person"},
      {"remove", {"--patient", "P2"}, 1, "P1", "current", NULL},
  };
  for (guint r = 0; r < G_N_ELEMENTS(rows); r++) {
    g_test_message("%s %s", rows[r].command, rows[r].words[0]);
    g_autoptr(Sandbox) sandbox = with_selector();
    write_slices(sandbox, "a", 0, N, "P1", "One^Person", 0);
    write_slices(sandbox, "b", 0, N, "P2", "Two^Person", 0);
    import(sandbox, "a");
    score(sandbox, UID, "0.05", NULL);
    assess(sandbox);
    import(sandbox, "b");
    assert_state(sandbox, UID, "out_of_date", "SAFETY");
    g_autoptr(Run) without =
        run_demur(sandbox, "dicom", rows[r].command, rows[r].words[0], rows[r].words[1], NULL);
    assert_status(without, 2); /* no reason */
    g_autoptr(Run) run = rows[r].words[1] != NULL
                             ? run_demur(sandbox, "dicom", rows[r].command, "--reason", "seen",
                                         rows[r].words[0], rows[r].words[1], NULL)
                             : run_demur(sandbox, "dicom", rows[r].command, "--reason", "seen",
                                         rows[r].words[0], NULL);
    assert_status(run, 0);
    g_autoptr(Run) list = run_json(sandbox, 0, "dicom", "list", NULL);
    JsonArray *series = array_at(root_of(list), "series");
    g_assert_cmpuint(json_array_get_length(series), ==, rows[r].n_left);
    g_assert_nonnull(find_in(series, "patient_id", rows[r].patient));
    if (rows[r].state != NULL)
      assert_state(sandbox, UID, rows[r].state, rows[r].because);
    g_autoptr(Run) verify = run_demur(sandbox, "verify", NULL);
    assert_status(verify, 0);
  }
}

/* Right values: by hand, 24 images of one series that has one score, one verdict and one opinion. */
static void
test_a_removal_says_what_goes_first(void) {
  g_autoptr(Sandbox) sandbox = with_selector();
  write_slices(sandbox, "a", 0, N, "P1", "One^Person", 0);
  import(sandbox, "a");
  score(sandbox, UID, "0.05", NULL);
  assess(sandbox);
  agree(sandbox);
  for (int done = 0; done <= 1; done++) {
    g_autoptr(Run) run =
        done ? run_json(sandbox, 0, "dicom", "remove", "--patient", "P1", "--reason", "no", NULL)
             : run_json(sandbox, 0, "dicom", "remove", "--patient", "P1", "--dry-run", NULL);
    JsonObject *root = root_of(run);
    g_assert_true(bool_at(root, "dry_run") == !done);
    g_assert_cmpint((int)number_at(root, "n_removed"), ==, done);
    g_assert_cmpstr(json_array_get_string_element(array_at(root, "scans"), 0), ==, UID);
    g_assert_cmpint((int)number_at(root, "n_studies"), ==, 1);
    g_assert_cmpint((int)number_at(root, "n_images"), ==, N);
    g_assert_cmpint((int)number_at(root, "n_scores"), ==, 1);
    g_assert_cmpint((int)number_at(root, "n_verdicts_kept"), ==, 1);
    g_assert_cmpint((int)number_at(root, "n_reviews_kept"), ==, 1);
    guint n, n_waiting, n_slices;
    count(sandbox, &n, &n_waiting, &n_slices);
    g_assert_cmpuint(n, ==, done ? 0 : 1);
    if (!done)
      assert_state(sandbox, UID, "current", NULL);
  }
  g_autoptr(Run) none = run_demur(sandbox, "dicom", "remove", "--patient", "P1", "--dry-run", NULL);
  assert_status(none, 1);
  g_autoptr(Run) useless =
      run_demur(sandbox, "dicom", "remove", "--patient", "P1", "--dry-run", "--reason", "no", NULL);
  assert_status(useless, 2);
  g_autoptr(Run) verify = run_demur(sandbox, "verify", NULL);
  assert_status(verify, 0);
}

/* Assessments that were not taken back. */
static gint64
n_standing(const Sandbox *sandbox) {
  return demur_test_store_number(sandbox->workspace,
                                 "SELECT count(*) FROM verdict_batch WHERE id NOT IN"
                                 " (SELECT batch_id FROM verdict_undo)");
}

/* The scan has the verdict again that it had before, and what one has an opinion on stays. */
static void
test_an_assessment_is_taken_back(void) {
  g_autoptr(Sandbox) sandbox = with_selector();
  write_slices(sandbox, "a", 0, N, "P1", "One^Person", 0);
  import(sandbox, "a");
  g_autoptr(Run) nothing = run_demur(sandbox, "assess", "--undo", "too early", NULL);
  assert_status(nothing, 1);
  assess(sandbox); /* without a score */
  score(sandbox, UID, "0.05", NULL);
  assess(sandbox); /* accepted */
  {
    g_autoptr(Run) run = export(sandbox);
    g_assert_cmpstr(string_at(exported(run, UID), "verdict"), ==, "accepted");
  }
  g_autoptr(Run) blank = run_demur(sandbox, "assess", "--undo", "  ", NULL);
  assert_status(blank, 2);
  g_autoptr(Run) crowd = run_demur(sandbox, "assess", "s", "--undo", "why", NULL);
  assert_status(crowd, 2);
  {
    g_autoptr(Run) run = run_json(sandbox, 0, "assess", "--undo", "wrong selector", NULL);
    JsonObject *undone = json_object_get_object_member(root_of(run), "undone");
    g_assert_cmpstr(string_at(undone, "selector"), ==, "s");
    g_assert_cmpint((int)number_at(undone, "n_verdicts"), ==, 1);
    g_assert_cmpint((int)number_at(undone, "n_earlier"), ==, 1);
  }
  g_assert_cmpint(n_standing(sandbox), ==, 1);
  {
    g_autoptr(Run) run = export(sandbox);
    g_assert_cmpstr(string_at(exported(run, UID), "verdict"), ==, "no_score");
  }
  assess(sandbox);
  agree(sandbox);
  g_autoptr(Run) opinion = run_demur(sandbox, "assess", "--undo", "too late", NULL);
  assert_status(opinion, 1);
  {
    g_autoptr(Run) run = export(sandbox);
    g_assert_cmpstr(string_at(exported(run, UID), "verdict"), ==, "accepted");
  }
  g_autoptr(Run) verify = run_demur(sandbox, "verify", NULL);
  assert_status(verify, 0);
}

/* Nothing brings back, unseen, a verdict that was taken back. */
static void
test_what_was_undone_stays_undone(void) {
  g_autoptr(Sandbox) sandbox = with_selector();
  write_slices(sandbox, "a", 0, N, "P1", "One^Person", 0);
  import(sandbox, "a");
  score(sandbox, UID, "0.05", NULL);
  assess(sandbox);
  g_autoptr(Run) undone = run_json(sandbox, 0, "assess", "--undo", "why", NULL);
  g_autoptr(Run) run = export(sandbox);
  g_assert_null(exported(run, UID));
  g_autoptr(Run) none = run_demur(sandbox, "assess", "--undo", "again", NULL);
  assert_status(none, 1);
  demur_test_store_run(sandbox->workspace, "DELETE FROM verdict_undo");
  g_autoptr(Run) verify = run_demur(sandbox, "verify", NULL);
  assert_status(verify, 1);
}

int
main(int argc, char **argv) {
  fixture_init(&argc, &argv);
  g_test_add_func("/commands/dicom-life/images-come-again", test_images_come_again);
  g_test_add_func("/commands/dicom-life/each-arrow-ends-a-verdict", test_each_arrow_ends_a_verdict);
  g_test_add_func("/commands/dicom-life/a-page-tells-no-held-back-risk",
                  test_a_page_tells_no_held_back_risk);
  g_test_add_func("/commands/dicom-life/a-person-decides", test_a_person_decides);
  g_test_add_func("/commands/dicom-life/a-removal-says-what-goes-first",
                  test_a_removal_says_what_goes_first);
  g_test_add_func("/commands/dicom-life/an-assessment-is-taken-back",
                  test_an_assessment_is_taken_back);
  g_test_add_func("/commands/dicom-life/what-was-undone-stays-undone",
                  test_what_was_undone_stays_undone);
  return g_test_run();
}
