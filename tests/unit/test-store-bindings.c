/* Random sequences of what people and archives do, by two writers in turn, against a small model of
 * what verdicts rest on: no verdict is ever taken for current that does not follow from what is
 * there, and every one that does is. The model keeps version numbers and knows nothing of digests.
 * Then the same in a process that is killed at a random moment: what is left is as before or behind
 * the step that was under way. -m thorough: 10,000 sequences, 1,000 kills. */
#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "store/audits.h"
#include "store/bindings.h"
#include "store/cohorts.h"
#include "store/scores.h"
#include "store/selectors.h"
#include "store/series.h"
#include "store/verdicts.h"
#include "support/store.h"
#include "support/support.h"

#define N_SCANS 3
#define STEPS 14

/* What there is: a number that grows with each change, 0 for nothing. */
typedef struct {
  int images[N_SCANS], person[N_SCANS], score[N_SCANS], conflict[N_SCANS], chosen[N_SCANS];
  int selector, threshold, audit;
} Facts;

typedef struct {
  gboolean given;
  Facts then; /* when the verdict was given */
} Given;

static int counter;

static const char *const scan_ids[N_SCANS] = {"1.1", "1.2", "1.3"};

static void
save_series(DemurWorkspace *workspace, const Facts *facts, int s) {
  g_autoptr(GError) error = NULL;
  g_autofree char *images = g_strdup_printf("images %d", facts->images[s]);
  g_autofree char *patient = g_strdup_printf("P%d", facts->person[s]);
  const DemurSeriesRecord record = {.scan_id = (char *)scan_ids[s],
                                    .series_uid = (char *)scan_ids[s],
                                    .patient_id = patient,
                                    .type = (char *)"volume",
                                    .site = (char *)"A",
                                    .images_digest = images,
                                    .conflict = (char *)(facts->conflict[s] ? "content" : NULL),
                                    .eligible = TRUE,
                                    .accepted = facts->chosen[s] != 0,
                                    .created = (char *)"2026"};
  const DemurSeriesSave save = {&record, NULL, 0};
  g_assert_true(demur_series_save(workspace, &save, 1, &error));
  g_assert_no_error(error);
}

static void
correct(DemurWorkspace *workspace, int s, int version) {
  g_autoptr(GError) error = NULL;
  g_autofree char *patient = g_strdup_printf("P%d", version);
  const DemurSeriesRecord person = {.patient_id = patient};
  g_assert_true(demur_series_correct(workspace, scan_ids[s], &person, NULL, &error));
}

static void
save_score(DemurWorkspace *workspace, int s, int version) {
  g_autoptr(GError) error = NULL;
  DemurScoreRecord record = {.scan_id = (char *)scan_ids[s],
                             .model = (char *)"m",
                             .risk = 1.0 / (2 + version),
                             .source = (char *)"test",
                             .created = (char *)"2026"};
  for (int y = 0; y < DEMUR_N_YEARS; y++)
    record.yearly_risks[y] = NAN;
  g_assert_true(demur_scores_save(workspace, &record, 1, TRUE, NULL, NULL, NULL, &error));
  g_assert_no_error(error);
}

static void
save_selector(DemurWorkspace *workspace, int version) {
  g_autoptr(GError) error = NULL;
  g_autofree char *digest = g_strdup_printf("selector %d", version);
  const DemurSelectorRecord record = {.name = (char *)"s",
                                      .document = (char *)"{}",
                                      .digest = digest,
                                      .cohort = (char *)"c",
                                      .cohort_digest = (char *)"c",
                                      .model = (char *)"m",
                                      .created = (char *)"2026"};
  g_assert_true(demur_selectors_save(workspace, &record, DEMUR_SELECTOR_REPLACE_ALL, &error));
  g_assert_no_error(error);
}

static void
save_threshold(DemurWorkspace *workspace, int version) {
  g_autoptr(GError) error = NULL;
  DemurThresholdRecord record = {.selector = (char *)"s",
                                 .coverage = version % 2 == 0 ? 0.9 : 0.7,
                                 .threshold = version,
                                 .realised = 0.9,
                                 .n_scans = 10,
                                 .n_patients = 10,
                                 .cohort = (char *)"c",
                                 .split = (char *)"tune",
                                 .cohort_digest = (char *)"c",
                                 .created = (char *)"2026"};
  g_assert_true(demur_thresholds_save(workspace, &record, &error));
  g_assert_no_error(error);
}

static void
save_audit(DemurWorkspace *workspace, int version) {
  g_autoptr(GError) error = NULL;
  const DemurAuditRecord record = {.selector = (char *)"s",
                                   .site = (char *)"A",
                                   .cohort = (char *)"c",
                                   .intercept = version,
                                   .tau2 = 1,
                                   .n_labels = 50,
                                   .created = (char *)"2026"};
  g_assert_true(demur_audits_save(workspace, &record, &error));
  g_assert_no_error(error);
}

/* A verdict of every scan that was there when the bindings and the threshold were read, bound to how
 * things were. */
static void
give(DemurWorkspace *workspace, const DemurBindings *bindings,
     const DemurThresholdRecord *threshold, const Facts *facts, Given *given) {
  g_autoptr(GError) error = NULL;
  g_autofree char *digest = g_strdup_printf("selector %d", facts->selector);
  DemurVerdictBatch batch = {.selector = "s",
                             .selector_digest = digest,
                             .model = "m",
                             .coverage = threshold != NULL ? threshold->coverage : NAN,
                             .threshold = threshold != NULL ? threshold->threshold : NAN,
                             .threshold_digest = threshold != NULL ? threshold->digest : NULL,
                             .created = "2026"};
  demur_bindings_bind_batch(bindings, &batch);
  DemurVerdictRecord records[N_SCANS] = {{0}};
  size_t n = 0;
  for (int s = 0; s < N_SCANS; s++) {
    given[s].given |= facts->images[s] != 0;
    if (facts->images[s] == 0)
      continue;
    given[s].then = *facts;
    records[n] = (DemurVerdictRecord){.scan_id = (char *)scan_ids[s],
                                      .site = (char *)"A",
                                      .risk = 0.1,
                                      .risk_raw = 0.1,
                                      .score = 0.5,
                                      .verdict = DEMUR_VERDICT_ACCEPTED};
    demur_bindings_bind(bindings, &batch, &records[n++]);
  }
  g_assert_true(n == 0 || demur_verdicts_save(workspace, &batch, records, n, &error));
  g_assert_no_error(error);
}

static gboolean
holds(const Facts *now, const Facts *then, int s) {
  const gboolean needs_score = now->chosen[s] != 0 || then->chosen[s] != 0;
  return now->images[s] == then->images[s] && now->person[s] == then->person[s] &&
         now->conflict[s] == 0 && now->chosen[s] == then->chosen[s] &&
         (!needs_score || now->score[s] == then->score[s]) && now->selector == then->selector &&
         now->threshold == then->threshold && now->audit == then->audit;
}

static void
check(DemurWorkspace *workspace, const Facts *facts, const Given *given, const char *history) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) latest = demur_verdicts_latest(workspace, NULL, &error);
  g_assert_no_error(error);
  gboolean seen[N_SCANS] = {FALSE};
  for (guint i = 0; i < latest->len; i++) {
    const DemurVerdictRecord *record = latest->pdata[i];
    int s = 0;
    while (s < N_SCANS && g_strcmp0(record->scan_id, scan_ids[s]) != 0)
      s++;
    g_assert_cmpint(s, <, N_SCANS);
    seen[s] = TRUE;
    const gboolean right = holds(facts, &given[s].then, s);
    if ((record->outdated == DEMUR_CURRENT) != right)
      g_error("scan %s is %s (causes %x) after: %s", scan_ids[s], right ? "not current" : "current",
              (guint)record->outdated, history);
    g_assert_cmpint(demur_verdict_tells_risk(record->verdict, record->outdated), ==, right);
  }
  for (int s = 0; s < N_SCANS; s++)
    g_assert_cmpint(seen[s], ==, given[s].given && facts->images[s] != 0);
}

static const char *const names[] = {"import", "person",    "score",       "conflict", "choose",
                                    "train",  "threshold", "audit",       "remove",   "same",
                                    "assess", "assess",    "assess while"};
#define N_CHANGES 10 /* the first names: what is no assessment */

/* One thing happens that is no assessment. */
static void
change(DemurWorkspace *workspace, GRand *random, Facts *facts, GString *history) {
  g_autoptr(GError) error = NULL;
  const int s = g_rand_int_range(random, 0, N_SCANS);
  const int what = g_rand_int_range(random, 0, N_CHANGES);
  g_string_append_printf(history, "%s %d, ", names[what], s);
  const gboolean there = facts->images[s] != 0;
  const int version = ++counter;
  switch (what) {
  case 0: /* for the first time, or other images */
    facts->person[s] = there ? facts->person[s] : version;
    facts->chosen[s] = there ? facts->chosen[s] : 1;
    facts->images[s] = version;
    save_series(workspace, facts, s);
    break;
  case 1:
    if (!there)
      break;
    facts->person[s] = version;
    correct(workspace, s, version);
    break;
  case 2:
    if (!there)
      break;
    facts->score[s] = version;
    save_score(workspace, s, version);
    break;
  case 3:
    if (!there)
      break;
    facts->conflict[s] = !facts->conflict[s];
    g_assert_true(demur_series_set_conflict(workspace, scan_ids[s],
                                            facts->conflict[s] ? "content" : NULL, NULL, &error));
    break;
  case 4:
    if (!there)
      break;
    facts->chosen[s] = !facts->chosen[s];
    g_assert_true(demur_series_set_accepted(workspace, scan_ids[s], facts->chosen[s] != 0,
                                            facts->chosen[s] ? NULL : "not chosen", &error));
    break;
  case 5: /* thresholds and audits go with the one before */
    facts->selector = version;
    facts->threshold = facts->audit = 0;
    save_selector(workspace, version);
    break;
  case 6:
    facts->threshold = version;
    save_threshold(workspace, version);
    break;
  case 7:
    facts->audit = version;
    save_audit(workspace, version);
    break;
  case 8:
    if (!there)
      break;
    facts->images[s] = facts->score[s] = facts->conflict[s] = 0;
    g_assert_true(demur_series_remove(workspace, scan_ids[s], NULL, &error));
    break;
  default: /* the same images come again */
    if (there)
      save_series(workspace, facts, s);
    break;
  }
  g_assert_no_error(error);
}

/* A sequence: two writers with the workspace open, and the model. */
typedef struct {
  DemurWorkspace *writers[2];
  GRand *random;
  Facts facts;
  Given given[N_SCANS];
  GString *history;
} Sequence;

static void
sequence_begin(Sequence *sequence, const char *path, guint32 seed) {
  g_autoptr(GError) error = NULL;
  *sequence = (Sequence){.random = g_rand_new_with_seed(seed), .history = g_string_new(NULL)};
  counter = 0;
  for (int w = 0; w < 2; w++) {
    sequence->writers[w] = demur_workspace_open(path, DEMUR_WORKSPACE_CREATE, &error);
    g_assert_no_error(error);
    demur_workspace_set_actor(sequence->writers[w], w == 0 ? "one" : "other", "here", NULL);
  }
  sequence->facts.selector = ++counter;
  save_selector(sequence->writers[0], sequence->facts.selector);
}

static void
sequence_end(Sequence *sequence) {
  for (int w = 0; w < 2; w++)
    g_clear_pointer(&sequence->writers[w], demur_workspace_close);
  g_rand_free(sequence->random);
  g_string_free(sequence->history, TRUE);
}

/* One of the two does one thing; where one assesses, the other may change something between what it
 * reads and what it writes. */
static void
step(Sequence *sequence) {
  const int w = g_rand_int_range(sequence->random, 0, 2);
  DemurWorkspace *workspace = sequence->writers[w];
  const int what = g_rand_int_range(sequence->random, 0, (int)G_N_ELEMENTS(names));
  g_string_append(sequence->history, w == 0 ? "one: " : "other: ");
  if (what < N_CHANGES) {
    change(workspace, sequence->random, &sequence->facts, sequence->history);
    return;
  }
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurBindings) bindings = demur_bindings_load(workspace, NULL, &error);
  g_autoptr(DemurThresholdRecord) threshold = NULL;
  g_assert_true(demur_thresholds_current(workspace, "s", &threshold, &error));
  const Facts before = sequence->facts;
  g_string_append_printf(sequence->history, "%s, ", names[what]);
  if (what + 1 == (int)G_N_ELEMENTS(names))
    change(sequence->writers[1 - w], sequence->random, &sequence->facts, sequence->history);
  give(workspace, bindings, threshold, &before, sequence->given);
}

/* In memory where there is such a place: what is tried here is no disk. */
static char *
make_folder(void) {
  g_autofree char *in_memory = g_strdup("/dev/shm/demur-bindings-XXXXXX");
  return g_mkdtemp(in_memory) != NULL ? g_steal_pointer(&in_memory)
                                      : g_dir_make_tmp("demur-bindings-XXXXXX", NULL);
}

static void
assert_sound(DemurWorkspace *workspace, const char *history) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurVerification) verification = demur_workspace_verify(workspace, NULL, &error);
  g_assert_no_error(error);
  for (size_t f = 0; f < verification->n_findings; f++)
    if (!verification->findings[f].ok)
      g_error("%s: %s after: %s", verification->findings[f].subject,
              verification->findings[f].message, history);
}

static void
no_verdict_is_current_that_does_not_follow(void) {
  const guint32 n = g_test_thorough() ? 10000 : (guint32)demur_test_repeats(200, 200);
  g_autofree char *folder = make_folder();
  g_autofree char *path = demur_test_store_path(folder, "w.demur");
  for (guint32 k = 0; k < n; k++) {
    Sequence sequence;
    sequence_begin(&sequence, path, 20261128 + k);
    for (int i = 0; i < STEPS; i++) {
      step(&sequence);
      check(sequence.writers[i % 2], &sequence.facts, sequence.given, sequence.history->str);
    }
    if (k % 20 == 0)
      assert_sound(sequence.writers[0], sequence.history->str);
    sequence_end(&sequence);
    demur_test_store_remove(path);
  }
  g_rmdir(folder);
}

static gboolean
meet(const DemurVerdictRecord *record, gpointer data) {
  *(DemurOutdated *)data |= record->outdated;
  return TRUE;
}

/* As each of the lists tells the one verdict that there is. */
static void
assert_told(const char *path, DemurOutdated why) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurWorkspace) workspace = demur_workspace_open(path, DEMUR_WORKSPACE_DEFAULT, &error);
  g_assert_no_error(error);
  GPtrArray *lists[] = {demur_verdicts_latest(workspace, NULL, &error),
                        demur_verdicts_of_scan(workspace, NULL, scan_ids[0], &error),
                        demur_verdicts_of_selector(workspace, "s", TRUE, &error),
                        demur_verdicts_of_selector(workspace, "s", FALSE, &error)};
  g_assert_no_error(error);
  for (size_t l = 0; l < G_N_ELEMENTS(lists); l++) {
    g_assert_cmpuint(lists[l]->len, ==, 1);
    g_assert_cmphex(((DemurVerdictRecord *)lists[l]->pdata[0])->outdated, ==, why);
    g_ptr_array_unref(lists[l]);
  }
  DemurOutdated each = DEMUR_CURRENT, newest = DEMUR_CURRENT;
  g_assert_true(demur_verdicts_each(workspace, NULL, meet, &each, &error));
  g_assert_true(demur_verdicts_each_newest(workspace, NULL, NULL, NULL, meet, &newest, &error));
  g_assert_cmphex(each, ==, why);
  g_assert_cmphex(newest, ==, why);
}

/* What a verdict says, and what none of its bindings holds: each changed past the program, and put back. */
static void
a_record_that_was_changed_is_not_current(void) {
  static const char *const changes[][2] = {
      {"verdict SET risk = 0.5", "verdict SET risk = 0.1"},
      {"verdict SET risk_raw = 0.5", "verdict SET risk_raw = 0.1"},
      {"verdict SET score = 0.6", "verdict SET score = 0.5"},
      {"verdict SET verdict = 'red_flag'", "verdict SET verdict = 'accepted'"},
      {"verdict SET risk_low = 0.01, risk_high = 0.2", "verdict SET risk_low = 0, risk_high = 0"},
      {"verdict SET distance = 1", "verdict SET distance = 0"},
      {"verdict SET reasons = '[ ]'", "verdict SET reasons = '[]'"},
      {"verdict SET patient_id = 'P9'", "verdict SET patient_id = NULL"},
      {"verdict_batch SET created = '2027'", "verdict_batch SET created = '2026'"},
      {"verdict SET digest = 'f'", NULL}, /* the last */
  };
  g_autofree char *folder = make_folder();
  g_autofree char *path = demur_test_store_path(folder, "w.demur");
  Sequence sequence;
  sequence_begin(&sequence, path, 1);
  DemurWorkspace *workspace = sequence.writers[0];
  Facts *facts = &sequence.facts;
  facts->images[0] = facts->person[0] = facts->chosen[0] = facts->score[0] = 1;
  save_series(workspace, facts, 0);
  save_score(workspace, 0, 1);
  g_autoptr(GError) error = NULL;
  DemurBindings *bindings = demur_bindings_load(workspace, NULL, &error);
  g_assert_no_error(error);
  give(workspace, bindings, NULL, facts, sequence.given);
  demur_bindings_free(bindings);
  sequence_end(&sequence);
  assert_told(path, DEMUR_CURRENT);
  for (size_t c = 0; c < G_N_ELEMENTS(changes); c++)
    for (size_t way = 0; way < 2 && changes[c][way] != NULL; way++) {
      g_autofree char *sql = g_strconcat("UPDATE ", changes[c][way], NULL);
      demur_test_store_run(path, sql);
      assert_told(path, way == 0 ? DEMUR_OUTDATED_RECORD : DEMUR_CURRENT);
    }
  demur_test_store_remove(path);
  g_rmdir(folder);
}

/* Takes the steps of a sequence and says of each that it is done; killed by the parent. */
static void
run_until_killed(const char *path, guint32 seed, int done) {
  Sequence sequence;
  sequence_begin(&sequence, path, seed);
  for (guint8 i = 0; i <= STEPS; i++) {
    if (i > 0)
      step(&sequence);
    if (write(done, &i, 1) != 1)
      break;
  }
  pause();
}

/* Whether what is told is what the model says. */
static gboolean
agrees(DemurWorkspace *workspace, const Facts *facts, const Given *given) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) latest = demur_verdicts_latest(workspace, NULL, &error);
  g_assert_no_error(error);
  guint n_right = 0, n_wanted = 0;
  for (guint i = 0; i < latest->len; i++) {
    const DemurVerdictRecord *record = latest->pdata[i];
    for (int s = 0; s < N_SCANS; s++)
      if (strcmp(record->scan_id, scan_ids[s]) == 0)
        n_right += given[s].given && facts->images[s] != 0 &&
                   (record->outdated == DEMUR_CURRENT) == holds(facts, &given[s].then, s);
  }
  for (int s = 0; s < N_SCANS; s++)
    n_wanted += given[s].given && facts->images[s] != 0;
  return n_right == n_wanted && latest->len == n_wanted;
}

/* The number of steps that were done for sure when it was killed at a random moment; -1: none, not
 * even its beginning. */
static int
kill_somewhere(const char *path, guint32 seed, GRand *random) {
  int ends[2];
  g_assert_cmpint(pipe(ends), ==, 0);
  const pid_t child = fork();
  g_assert_cmpint(child, >=, 0);
  if (child == 0) {
    close(ends[0]);
    run_until_killed(path, seed, ends[1]);
    _exit(0);
  }
  close(ends[1]);
  guint8 told;
  int n_done = -1;
  const int wanted = g_rand_int_range(random, -1, STEPS);
  while (n_done < wanted && read(ends[0], &told, 1) == 1)
    n_done = told;
  g_usleep((gulong)g_rand_int_range(random, 0, 3000));
  kill(child, SIGKILL);
  while (read(ends[0], &told, 1) == 1)
    n_done = told;
  close(ends[0]);
  int status;
  g_assert_cmpint(waitpid(child, &status, 0), ==, child);
  g_assert_true(WIFSIGNALED(status));
  return n_done;
}

/* The workspace opens, the chain holds, and nothing is half told: it is as the model says behind the
 * last step that was done, behind the next one, or, where that assessed while the other wrote, in
 * between. */
static void
a_kill_leaves_nothing_half_told(void) {
  const guint32 n = g_test_thorough() ? 1000 : (guint32)demur_test_repeats(40, 40);
  g_autoptr(GRand) random = g_rand_new_with_seed(1128);
  g_autofree char *folder = make_folder();
  g_autofree char *path = demur_test_store_path(folder, "w.demur"),
                  *model = demur_test_store_path(folder, "model.demur");
  guint n_between = 0;
  for (guint32 k = 0; k < n; k++) {
    const int n_done = kill_somewhere(path, k, random);
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurWorkspace) left = demur_workspace_open(path, DEMUR_WORKSPACE_CREATE, &error);
    g_assert_no_error(error);
    Sequence sequence;
    sequence_begin(&sequence, model, k);
    for (int i = 0; i < n_done; i++)
      step(&sequence);
    assert_sound(left, sequence.history->str);
    if (n_done >= 0 && !agrees(left, &sequence.facts, sequence.given) && n_done < STEPS) {
      n_between++;
      const Sequence before = sequence;
      step(&sequence);
      const gboolean right = agrees(left, &sequence.facts, sequence.given) ||
                             agrees(left, &sequence.facts, before.given);
      if (!right)
        g_error("killed in its last step, it is as neither before nor behind: %s",
                sequence.history->str);
    }
    sequence_end(&sequence);
    g_clear_pointer(&left, demur_workspace_close);
    demur_test_store_remove(path);
    demur_test_store_remove(model);
  }
  g_rmdir(folder);
  g_test_message("%u of %u kills left the step done that was under way", n_between, n);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/store/bindings/no-verdict-is-current-that-does-not-follow",
                  no_verdict_is_current_that_does_not_follow);
  g_test_add_func("/store/bindings/a-record-that-was-changed-is-not-current",
                  a_record_that_was_changed_is_not_current);
  g_test_add_func("/store/bindings/a-kill-leaves-nothing-half-told",
                  a_kill_leaves_nothing_half_told);
  return g_test_run();
}
