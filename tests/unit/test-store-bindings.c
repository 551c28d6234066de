/* Random sequences of what people and archives do, against a small model of what verdicts rest on:
 * no verdict is ever taken for current that does not follow from what is there, and every one that
 * does is. The model keeps version numbers and knows nothing of digests. -m thorough: 10,000
 * sequences. */
#include <math.h>

#include <glib/gstdio.h>

#include "store/audits.h"
#include "store/bindings.h"
#include "store/cohorts.h"
#include "store/scores.h"
#include "store/selectors.h"
#include "store/series.h"
#include "store/verdicts.h"

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
  g_assert_true(demur_selectors_save(workspace, &record, TRUE, &error));
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

/* A verdict of every scan that is there, bound to how things are. */
static void
assess(DemurWorkspace *workspace, const Facts *facts, Given *given) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurBindings) bindings = demur_bindings_load(workspace, NULL, &error);
  g_autoptr(DemurThresholdRecord) threshold = NULL;
  g_assert_true(demur_thresholds_current(workspace, "s", &threshold, &error));
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

/* One thing happens. */
static void
step(DemurWorkspace *workspace, GRand *random, Facts *facts, Given *given, GString *history) {
  static const char *const names[] = {"import", "person", "score",     "conflict",
                                      "choose", "train",  "threshold", "audit",
                                      "assess", "assess", "remove",    "same"};
  g_autoptr(GError) error = NULL;
  const int s = g_rand_int_range(random, 0, N_SCANS);
  const int what = g_rand_int_range(random, 0, (int)G_N_ELEMENTS(names));
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
  case 9:
    assess(workspace, facts, given);
    break;
  case 10:
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

static void
no_verdict_is_current_that_does_not_follow(void) {
  const int n = g_test_thorough() ? 10000 : 200;
  g_autoptr(GRand) random = g_rand_new_with_seed(20261128);
  g_autofree char *folder = g_dir_make_tmp("demur-bindings-XXXXXX", NULL);
  g_autofree char *path = g_build_filename(folder, "w.demur", NULL);
  for (int k = 0; k < n; k++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurWorkspace) workspace =
        demur_workspace_open(path, DEMUR_WORKSPACE_CREATE, &error);
    g_assert_no_error(error);
    Facts facts = {.selector = ++counter};
    Given given[N_SCANS] = {{0}};
    save_selector(workspace, facts.selector);
    g_autoptr(GString) history = g_string_new(NULL);
    for (int i = 0; i < STEPS; i++) {
      step(workspace, random, &facts, given, history);
      check(workspace, &facts, given, history->str);
    }
    if (k % 20 == 0) {
      g_autoptr(DemurVerification) verification = demur_workspace_verify(workspace, NULL, &error);
      g_assert_no_error(error);
      for (size_t f = 0; f < verification->n_findings; f++)
        if (!verification->findings[f].ok)
          g_error("%s: %s after: %s", verification->findings[f].subject,
                  verification->findings[f].message, history->str);
    }
    g_clear_pointer(&workspace, demur_workspace_close);
    g_unlink(path);
    g_autofree char *log = g_strconcat(path, "-wal", NULL),
                    *index = g_strconcat(path, "-shm", NULL);
    g_unlink(log);
    g_unlink(index);
  }
  g_rmdir(folder);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/store/bindings/no-verdict-is-current-that-does-not-follow",
                  no_verdict_is_current_that_does_not_follow);
  return g_test_run();
}
