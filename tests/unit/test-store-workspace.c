/* The workspace file: created, migrated, refused, killed in the middle, and what each subject
 * keeps. Expected values are those that were put in (round trips), or stand in the contracts of the
 * headers. */
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/error.h"
#include "store/cohorts.h"
#include "store/adopt.h"
#include "store/events.h"
#include "store/schema.h"
#include "store/selector-key.h"
#include "store/scores.h"
#include "store/audits.h"
#include "store/reviews.h"
#include "store/selectors.h"
#include "store/series.h"
#include "store/verdicts.h"
#include "support/store.h"
#include "support/support.h"

static char *path;

static void
remove_workspace(void) {
  demur_test_store_remove(path);
}

static DemurWorkspace *
open_workspace(void) {
  g_autoptr(GError) error = NULL;
  DemurWorkspace *workspace = demur_workspace_open(path, DEMUR_WORKSPACE_CREATE, &error);
  g_assert_no_error(error);
  return workspace;
}

static DemurCohort *
make_cohort(const char *name, size_t n_scans, size_t n_classes, size_t width) {
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(n_classes, width);
  g_autofree float *embedding = g_new0(float, width + 1);
  for (size_t i = 0; i < n_scans; i++) {
    g_autofree char *scan = g_strdup_printf("scan-%zu", i);
    g_autofree char *patient = g_strdup_printf("patient-%zu", i / 2);
    double p[3] = {0.25, 0.25, 0.5};
    const double yearly[] = {0.1, NAN, NAN, NAN, NAN, 0.25};
    for (size_t k = 0; k < width; k++)
      embedding[k] = (float)(i * width + k);
    demur_cohort_builder_add(
        builder, scan, patient, i % 3 == 0 ? "A" : "B", i / 2 % 2 == 0 ? "tune" : "test",
        i % 5 == 0 ? DEMUR_NO_LABEL : (int)(i % n_classes), p, yearly, embedding);
    demur_cohort_builder_attribute(builder, "sex", i % 2 == 0 ? "f" : "");
  }
  g_autoptr(GError) error = NULL;
  DemurCohort *cohort = demur_cohort_builder_finish(builder, name, "model", "made",
                                                    "2022-02-02T00:00:00Z", n_classes == 3, &error);
  g_assert_no_error(error);
  return cohort;
}

static gint64
raw_number(const char *sql) {
  return demur_test_store_number(path, sql);
}

static void
raw_run(const char *sql) {
  demur_test_store_run(path, sql);
}

static void
test_migrates_from_nothing(void) {
  g_autoptr(GError) error = NULL;
  g_assert_null(demur_workspace_open(path, DEMUR_WORKSPACE_DEFAULT, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND);
  g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
  g_clear_error(&error);
  g_file_set_contents(path, "", 0, NULL); /* an empty file too */
  demur_workspace_close(open_workspace());
  g_assert_cmpint(raw_number("PRAGMA application_id"), ==, DEMUR_STORE_APPLICATION_ID);
  g_assert_cmpint(raw_number("PRAGMA user_version"), ==, demur_store_version);
  g_assert_cmpint(raw_number("SELECT journal_mode = 'wal' FROM pragma_journal_mode"), ==, 1);
  /* Every table is STRICT. */
  g_assert_cmpint(raw_number("SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND "
                             "type = 'table' AND name NOT LIKE 'sqlite_%' AND NOT strict"),
                  ==, 0);
  /* A file that was tagged and then left (killed before its tables were made) is finished. */
  remove_workspace();
  raw_run("PRAGMA application_id = 1147497845");
  g_assert_cmpint(DEMUR_STORE_APPLICATION_ID, ==, 1147497845);
  demur_workspace_close(open_workspace());
  g_assert_cmpint(raw_number("PRAGMA user_version"), ==, demur_store_version);
  g_autoptr(DemurWorkspace) reader = demur_workspace_open(path, DEMUR_WORKSPACE_READ_ONLY, &error);
  g_assert_no_error(error);
  g_assert_false(demur_workspace_begin(reader, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STORE);
}

/* Refused files keep every byte. */
static void
test_refuses_untouched(void) {
  for (int kind = 0; kind < 4; kind++) {
    remove_workspace();
    if (kind == 0)
      g_file_set_contents(path, "patient_id,site\n", -1, NULL);
    else if (kind == 1)
      raw_run("CREATE TABLE other (x); INSERT INTO other VALUES (1)");
    else {
      demur_workspace_close(open_workspace());
      g_autofree char *sql =
          g_strdup_printf("PRAGMA user_version = %d", kind == 2 ? demur_store_version + 1 : -5);
      raw_run(sql);
    }
    g_autofree char *before = NULL, *after = NULL;
    gsize n_before, n_after;
    g_assert_true(g_file_get_contents(path, &before, &n_before, NULL));
    for (int flags = 0; flags < 3; flags++) {
      g_autoptr(GError) error = NULL;
      g_assert_null(demur_workspace_open(path, (DemurWorkspaceFlags)flags, &error));
      g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STORE);
      g_assert_nonnull(strstr(error->message, kind < 2 ? "not a Demur workspace" : "newer"));
    }
    g_assert_true(g_file_get_contents(path, &after, &n_after, NULL));
    g_assert_cmpuint(n_before, ==, n_after);
    g_assert_true(memcmp(before, after, n_before) == 0);
  }
}

static void
test_cohort_round_trip(void) {
  g_autoptr(DemurWorkspace) workspace = open_workspace();
  g_autoptr(GError) error = NULL;
  /* 700,000 embedding values: 2.8 MB, and 1.5 million of them: more than one chunk of 4 MiB. */
  const size_t sizes[][3] = {{7, 2, 0}, {6, 3, 2}, {30000, 2, 50}};
  for (size_t k = 0; k < G_N_ELEMENTS(sizes); k++) {
    g_autofree char *name = g_strdup_printf("cohort %zu", k);
    g_autoptr(DemurCohort) c = make_cohort(name, sizes[k][0], sizes[k][1], sizes[k][2]);
    g_assert_true(demur_cohorts_save(workspace, c, NULL, &error));
    g_assert_no_error(error);
    g_autoptr(DemurCohort) back = demur_cohorts_load(workspace, name, NULL, &error);
    g_assert_no_error(error);
    g_autofree char *a = demur_cohort_digest(c, NULL, 0), *b = demur_cohort_digest(back, NULL, 0);
    g_assert_cmpstr(a, ==, b);
    g_assert_cmpstr(back->model, ==, "model");
    g_assert_cmpstr(back->created, ==, "2022-02-02T00:00:00Z");
    g_assert_cmpint(back->simulated, ==, sizes[k][1] == 3);
    g_assert_cmpstr(demur_cohort_attribute_text(back, 0, 0), ==, "f");
    g_assert_cmpstr(demur_cohort_attribute_text(back, 0, 1), ==, "");
    g_assert_false(demur_cohorts_save(workspace, c, NULL, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_EXISTS);
    g_clear_error(&error);
  }
  g_autoptr(GPtrArray) list = demur_cohorts_list(workspace, &error);
  g_assert_cmpuint(list->len, ==, 3);
  const DemurCohortSummary *s = list->pdata[0];
  g_assert_cmpstr(s->name, ==, "cohort 0");
  g_assert_cmpuint(s->n_scans, ==, 7);
  g_assert_cmpuint(s->n_sites, ==, 2);
  g_assert_cmpuint(s->n_splits, ==, 2);
  g_assert_cmpstr(s->splits[0].name, ==, "tune"); /* scans 0, 1, 4, 5 of patients 0 and 2 */
  g_assert_cmpuint(s->splits[0].n_scans, ==, 4);
  g_assert_cmpuint(s->splits[0].n_patients, ==, 2);
  g_assert_null(demur_cohorts_load(workspace, "none", NULL, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND);
  g_assert_nonnull(strstr(error->message, "cohort 0, cohort 1"));
}

static void
test_attach_keeps_digest(void) {
  g_autoptr(DemurWorkspace) workspace = open_workspace();
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurCohort) c = make_cohort("c", 4, 2, 1);
  g_assert_true(demur_cohorts_save(workspace, c, NULL, &error));
  char *values[] = {(char *)"x", (char *)"y"};
  guint32 codes[] = {0, 1, 1, 0};
  char age[] = "age", sex[] = "sex";
  DemurAttribute attributes[] = {{age, 2, values, codes}, {sex, 2, values, codes}};
  /* The second column is there already: neither is attached. */
  g_assert_false(demur_cohorts_attach(workspace, "c", attributes, 2, FALSE, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_EXISTS);
  g_clear_error(&error);
  g_autoptr(DemurCohort) same = demur_cohorts_load(workspace, "c", NULL, &error);
  g_assert_cmpuint(same->n_attributes, ==, 1);
  g_assert_true(demur_cohorts_attach(workspace, "c", attributes, 2, TRUE, &error));
  g_autoptr(DemurCohort) back = demur_cohorts_load(workspace, "c", NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(back->n_attributes, ==, 2);
  g_assert_cmpstr(
      demur_cohort_attribute_text(back, (size_t)demur_cohort_find_attribute(back, "sex"), 1), ==,
      "y");
  g_autofree char *a = demur_cohort_digest(c, NULL, 0), *b = demur_cohort_digest(back, NULL, 0);
  g_assert_cmpstr(a, ==, b);
}

static DemurSelectorRecord
selector(const char *name, const char *cohort) {
  DemurSelectorRecord record = {0};
  record.name = (char *)name;
  record.document = (char *)"{\"weights\":[0.5]}\n";
  record.digest = (char *)"digest";
  record.cohort = (char *)cohort;
  record.cohort_digest = (char *)"rows";
  record.model = (char *)"model";
  record.created = (char *)"2022";
  return record;
}

static DemurThresholdRecord
threshold(double coverage, double value) {
  DemurThresholdRecord record = {0};
  record.selector = (char *)"s";
  record.coverage = coverage;
  record.threshold = value;
  record.realised = coverage;
  record.n_scans = 10;
  record.n_patients = 9;
  record.cohort = (char *)"c";
  record.split = (char *)"tune";
  record.cohort_digest = (char *)"rows";
  record.created = (char *)"2022";
  return record;
}

static void
test_selectors_and_thresholds(void) {
  g_autoptr(DemurWorkspace) workspace = open_workspace();
  g_autoptr(GError) error = NULL;
  DemurSelectorRecord s = selector("s", "c");
  g_assert_true(demur_selectors_save(workspace, &s, DEMUR_SELECTOR_REPLACE_NONE, &error));
  g_assert_false(demur_selectors_save(workspace, &s, DEMUR_SELECTOR_REPLACE_NONE, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_EXISTS);
  g_clear_error(&error);
  g_assert_true(demur_selectors_set_validation(workspace, "s", "{\"verdict\":1}", &error));
  g_autoptr(DemurSelectorRecord) back = demur_selectors_load(workspace, "s", &error);
  g_assert_no_error(error);
  g_assert_cmpstr(back->document, ==, s.document);
  g_assert_cmpstr(back->validation, ==, "{\"verdict\":1}");
  g_assert_null(back->history);

  DemurThresholdRecord *current = NULL;
  g_assert_true(demur_thresholds_current(workspace, "s", &current, &error));
  g_assert_null(current);
  /* 0.9, 0.7, then 0.9 again: two are kept and 0.9 is current. */
  const double tuned[][2] = {{0.9, 1.0}, {0.7, 2.0}, {0.9, 3.0}};
  gint64 last = 0;
  for (size_t i = 0; i < G_N_ELEMENTS(tuned); i++) {
    DemurThresholdRecord t = threshold(tuned[i][0], tuned[i][1]);
    g_assert_true(demur_thresholds_save(workspace, &t, &error));
    g_assert_cmpint(t.sequence, >, last);
    last = t.sequence;
  }
  g_autoptr(GPtrArray) list = demur_thresholds_list(workspace, "s", &error);
  g_assert_cmpuint(list->len, ==, 2);
  g_assert_true(demur_thresholds_current(workspace, "s", &current, &error));
  g_assert_cmpfloat(current->threshold, ==, 3.0);
  g_assert_cmpstr(current->split, ==, "tune");
  g_assert_null(current->guarantee);
  demur_threshold_record_free(current);
  g_autoptr(DemurThresholdRecord) t = demur_thresholds_find(workspace, "s", 0.7, &error);
  g_assert_cmpfloat(t->threshold, ==, 2.0);
  g_assert_null(demur_thresholds_find(workspace, "s", 0.8, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
  g_assert_nonnull(strstr(error->message, "0.7, 0.9"));
  g_clear_error(&error);

  /* Of what people made of it nothing ends unasked: neither by replacing nor by removing. */
  g_assert_false(demur_selectors_save(workspace, &s, DEMUR_SELECTOR_REPLACE_BARE, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
  g_assert_nonnull(strstr(error->message, "2 thresholds,"));
  g_clear_error(&error);
  const DemurAuditRecord audit = {.selector = "s",
                                  .site = "A",
                                  .cohort = "c",
                                  .tau2 = 0.1,
                                  .n_labels = 3,
                                  .created = "2026-01-01T00:00:00Z"};
  g_assert_true(demur_audits_save(workspace, &audit, &error));
  g_assert_false(demur_selectors_save(workspace, &s, DEMUR_SELECTOR_REPLACE_BARE, &error));
  g_assert_nonnull(strstr(error->message, "2 thresholds, 1 site audit,"));
  g_clear_error(&error);
  g_assert_false(demur_selectors_remove(workspace, "s", FALSE, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
  g_assert_nonnull(strstr(error->message, "1 site audit;"));
  g_clear_error(&error);

  /* Replaced: the thresholds of the old one go with it. */
  g_assert_true(demur_selectors_save(workspace, &s, DEMUR_SELECTOR_REPLACE_ALL, &error));
  g_autoptr(GPtrArray) none = demur_thresholds_list(workspace, "s", &error);
  g_assert_cmpuint(none->len, ==, 0);
  g_assert_null(demur_thresholds_list(workspace, "x", &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND);
}

/* Several selectors are kept, replaced and removed as one: where one of them is refused nothing has
 * changed, the log neither. */
static void
test_several_selectors_are_one(void) {
  g_autoptr(DemurWorkspace) workspace = open_workspace();
  g_autoptr(GError) error = NULL;
  const DemurSelectorRecord records[] = {selector("f-1y", "c"), selector("f-2y", "c")};
  const char *const names[] = {"f-1y", "f-2y"};
  static const struct {
    gboolean save;
    DemurSelectorReplace replace; /* or forced */
    const char *before;           /* what is made first: a selector or "tuned" */
    gboolean done;
    guint n_after;
  } rows[] = {{TRUE, DEMUR_SELECTOR_REPLACE_NONE, "f-2y", FALSE, 1},
              {TRUE, DEMUR_SELECTOR_REPLACE_BARE, NULL, TRUE, 2},
              {TRUE, DEMUR_SELECTOR_REPLACE_NONE, NULL, FALSE, 2},
              {TRUE, DEMUR_SELECTOR_REPLACE_BARE, "tuned", FALSE, 2},
              {TRUE, DEMUR_SELECTOR_REPLACE_ALL, NULL, TRUE, 2},
              {FALSE, DEMUR_SELECTOR_REPLACE_NONE, "audited", FALSE, 2},
              {FALSE, DEMUR_SELECTOR_REPLACE_ALL, NULL, TRUE, 0},
              {FALSE, DEMUR_SELECTOR_REPLACE_ALL, "f-1y", FALSE, 1}};
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    if (g_strcmp0(rows[i].before, "tuned") == 0) {
      DemurThresholdRecord t = threshold(0.9, 1.0);
      t.selector = (char *)"f-2y";
      g_assert_true(demur_thresholds_save(workspace, &t, &error));
    } else if (g_strcmp0(rows[i].before, "audited") == 0) {
      const DemurAuditRecord audit = {.selector = "f-2y",
                                      .site = "A",
                                      .cohort = "c",
                                      .tau2 = 0.1,
                                      .n_labels = 3,
                                      .created = "2026-01-01T00:00:00Z"};
      g_assert_true(demur_audits_save(workspace, &audit, &error));
    } else if (rows[i].before != NULL) {
      const DemurSelectorRecord one = selector(rows[i].before, "c");
      g_assert_true(demur_selectors_save(workspace, &one, DEMUR_SELECTOR_REPLACE_NONE, &error));
    }
    g_assert_no_error(error);
    g_autofree char *head = demur_events_head(workspace, &error);
    const gboolean done =
        rows[i].save
            ? demur_selectors_save_all(workspace, records, 2, rows[i].replace, &error)
            : demur_selectors_remove_all(workspace, names, 2,
                                         rows[i].replace == DEMUR_SELECTOR_REPLACE_ALL, &error);
    g_assert_cmpint(done, ==, rows[i].done);
    g_assert_true((error == NULL) == done);
    g_clear_error(&error);
    g_autoptr(GPtrArray) list = demur_selectors_list(workspace, &error);
    g_assert_cmpuint(list->len, ==, rows[i].n_after);
    g_autofree char *now = demur_events_head(workspace, &error);
    g_assert_cmpint(strcmp(head, now) != 0, ==, done);
  }
}

/* One changed value of a threshold, each in turn, is found wherever thresholds are read; what an
 * older program kept (no digest) is read, and said to be unchecked. */
static void
test_changed_threshold_is_found(void) {
  static const char *const changes[] = {"threshold = threshold + 1e-9",
                                        "realised = realised - 0.001",
                                        "n_scans = n_scans + 1",
                                        "coverage = 0.89",
                                        "split = 'tunf'",
                                        "cohort_digest = 'rowz'",
                                        "guarantee = '{}'",
                                        "created = '2023'"};
  for (size_t k = 0; k <= G_N_ELEMENTS(changes); k++) {
    remove_workspace();
    g_autoptr(GError) error = NULL;
    {
      g_autoptr(DemurWorkspace) workspace = open_workspace();
      DemurSelectorRecord s = selector("s", "c");
      DemurThresholdRecord t = threshold(0.9, 0.25);
      g_assert_true(demur_selectors_save(workspace, &s, DEMUR_SELECTOR_REPLACE_NONE, &error));
      g_assert_true(demur_thresholds_save(workspace, &t, &error));
      g_autoptr(GPtrArray) list = demur_thresholds_list(workspace, "s", &error);
      g_assert_no_error(error);
      g_assert_true(((DemurThresholdRecord *)list->pdata[0])->checked);
    }
    const gboolean old = k == G_N_ELEMENTS(changes);
    g_autofree char *sql =
        g_strdup_printf("UPDATE threshold SET %s", old ? "digest = NULL" : changes[k]);
    raw_run(sql);
    g_autoptr(DemurWorkspace) workspace = open_workspace();
    g_autoptr(GPtrArray) list = demur_thresholds_list(workspace, "s", &error);
    g_autoptr(DemurVerification) verification = demur_workspace_verify(workspace, NULL, NULL);
    if (old) {
      g_assert_no_error(error);
      g_assert_false(((DemurThresholdRecord *)list->pdata[0])->checked);
      /* Not of an older program: the log tells of it. */
      g_assert_false(verification->ok);
      continue;
    }
    g_assert_null(list);
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STORE);
    g_assert_nonnull(strstr(error->message, "not what was saved"));
    g_assert_false(verification->ok);
    g_clear_error(&error);
    /* Tuning it again mends it. */
    if (strcmp(changes[k], "coverage = 0.89") == 0)
      continue;
    DemurThresholdRecord t = threshold(0.9, 0.5);
    g_assert_true(demur_thresholds_save(workspace, &t, &error));
    g_autoptr(GPtrArray) again = demur_thresholds_list(workspace, "s", &error);
    g_assert_no_error(error);
    g_assert_cmpuint(again->len, ==, 1);
  }
}

/* What was left out: put in and read back; unknown, none and some are three things. */
static void
test_exclusions_round_trip(void) {
  g_autoptr(DemurWorkspace) workspace = open_workspace();
  g_autoptr(DemurCohort) c = make_cohort("c", 6, 2, 0);
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_cohorts_save(workspace, c, NULL, &error));
  gboolean recorded = TRUE;
  g_autoptr(GPtrArray) unknown = NULL, none = NULL, some = NULL;
  g_assert_true(demur_cohorts_exclusions(workspace, "c", &recorded, &unknown, &error));
  g_assert_false(recorded);
  g_assert_cmpuint(unknown->len, ==, 0);
  g_assert_true(demur_cohorts_set_exclusions(workspace, "c", NULL, 0, &error));
  g_assert_true(demur_cohorts_exclusions(workspace, "c", &recorded, &none, &error));
  g_assert_true(recorded);
  g_assert_cmpuint(none->len, ==, 0);
  const DemurExclusion left_out[] = {
      {(char *)"too short", 12}, {(char *)"none", 0}, {(char *)"é", 3}};
  g_assert_true(demur_cohorts_set_exclusions(workspace, "c", left_out, 3, &error));
  g_assert_true(demur_cohorts_set_exclusions(workspace, "c", left_out, 3, &error)); /* replaced */
  g_assert_true(demur_cohorts_exclusions(workspace, "c", &recorded, &some, &error));
  g_assert_cmpuint(some->len, ==, 2);
  g_assert_cmpstr(((DemurExclusion *)some->pdata[0])->reason, ==, "too short");
  g_assert_cmpuint(((DemurExclusion *)some->pdata[0])->n, ==, 12);
  g_assert_cmpuint(((DemurExclusion *)some->pdata[1])->n, ==, 3);
  g_autoptr(GPtrArray) absent = NULL;
  g_assert_false(demur_cohorts_exclusions(workspace, "x", &recorded, &absent, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND);
  g_clear_error(&error);
  g_assert_false(demur_cohorts_set_exclusions(workspace, "x", left_out, 3, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND);
  g_clear_error(&error);
  /* They go with the cohort. */
  g_assert_true(demur_cohorts_remove(workspace, "c", TRUE, &error));
  g_assert_cmpint(raw_number("SELECT count(*) FROM cohort_exclusion"), ==, 0);
}

/* A workspace of the version before: its cohort and threshold are read, and what it could not know
 * is unknown. */
static void
test_older_workspace_is_migrated(void) {
  const int before = 5;
  for (int m = 0; m < before; m++)
    raw_run(demur_store_migrations[m]);
  g_autofree char *tag = g_strdup_printf("PRAGMA application_id = %d; PRAGMA user_version = %d",
                                         DEMUR_STORE_APPLICATION_ID, before);
  raw_run(tag);
  raw_run(
      "INSERT INTO cohort (name, model, source, simulated, digest, n_scans, n_patients, n_sites,"
      " n_classes, embedding_width, created) VALUES ('c', 'm', 's', 0, 'd', 1, 1, 1, 2, 0, '')");
  raw_run("INSERT INTO selector (name, document, document_sha256, digest, cohort, cohort_digest, "
          "model, simulated, created) VALUES ('s', '{}', 'x', 'd', 'c', 'r', 'm', 0, '')");
  raw_run(
      "INSERT INTO threshold (selector_id, coverage, threshold, realised, n_scans, n_patients, "
      "cohort, split, cohort_digest, created) VALUES (1, 0.9, 0.5, 0.9, 10, 9, 'c', 'tune', 'r', "
      "'')");
  g_autoptr(DemurWorkspace) workspace = open_workspace();
  g_autoptr(GError) error = NULL;
  g_assert_cmpint(raw_number("PRAGMA user_version"), ==, demur_store_version);
  g_autoptr(GPtrArray) list = demur_thresholds_list(workspace, "s", &error);
  g_autoptr(GPtrArray) left_out = NULL;
  g_assert_no_error(error);
  g_assert_cmpuint(list->len, ==, 1);
  g_assert_cmpfloat(((DemurThresholdRecord *)list->pdata[0])->threshold, ==, 0.5);
  g_assert_false(((DemurThresholdRecord *)list->pdata[0])->checked);
  gboolean recorded = TRUE;
  g_assert_true(demur_cohorts_exclusions(workspace, "c", &recorded, &left_out, &error));
  g_assert_false(recorded);
}

/* The log of before, one event by the rules of its chain. */
static void
add_old_event(void) {
  DemurEvent event = {.sequence = 1,
                      .kind = DEMUR_EVENT_IMPORT,
                      .key = (char *)"workspace",
                      .program = (char *)"0",
                      .created = (char *)"2025",
                      .previous = (char *)""};
  g_autofree char *chain = demur_event_digest(&event);
  g_autofree char *sql =
      g_strdup_printf("INSERT INTO event (sequence, kind, key, program, created, previous, chain)"
                      " VALUES (1, 'import', 'workspace', '0', '2025', '', '%s')",
                      chain);
  raw_run(sql);
}

static void
write_old_workspace(int version) {
  for (int m = 0; m < version; m++)
    raw_run(demur_store_migrations[m]);
  g_autofree char *tag = g_strdup_printf("PRAGMA application_id = %d; PRAGMA user_version = %d",
                                         DEMUR_STORE_APPLICATION_ID, version);
  raw_run(tag);
  /* By the columns of the first program: all that came later has to do without. */
  raw_run(
      "INSERT INTO cohort (name, model, source, simulated, digest, n_scans, n_patients, n_sites,"
      " n_classes, embedding_width, created) VALUES"
      " ('nlst', 'm', 'NLST tables p.csv and s.csv, labels at 3 years', 0, 'd', 1, 1, 1, 2, 0, '1'),"
      " ('yearly', 'm', 'a.csv', 0, 'd', 1, 1, 1, 2, 0, '1'),"
      " ('plain', 'm', 'labels at 3 years', 0, 'd', 1, 1, 1, 2, 0, '1');"
      "INSERT INTO cohort_column (cohort_id, name, chunk, data) SELECT id, 'yearly_risk', 0, x'00'"
      " FROM cohort WHERE name = 'yearly';"
      "INSERT INTO selector (name, document, document_sha256, digest, cohort, cohort_digest, model,"
      " simulated, created) SELECT 'of ' || name, '{}', 'x', 'd', name, 'r', 'm', 0, '2' FROM cohort;"
      "INSERT INTO threshold (selector_id, coverage, threshold, realised, n_scans, n_patients,"
      " cohort, split, cohort_digest, created) VALUES (1, 0.9, 0.5, 0.9, 10, 9, 'c', 't', 'r', '');"
      "INSERT INTO series (scan_id, series_uid, patient_id, accepted, eligible, n_slices, facts,"
      " created, updated) VALUES ('1.2', '1.2', 'P', 1, 1, 1,"
      " '{\"patient_birth_date\": \"19500101\", \"patient_sex\": \"F\"}', '', '');"
      "INSERT INTO series_file (series_id, position, path, frame, sop_instance_uid) VALUES"
      " (1, 0, '/there', 0, '1.2.1');"
      "INSERT INTO score (scan_id, model, risk, source, created) VALUES ('1.2', 'm', 0.25, 's', '');"
      "INSERT INTO verdict_batch (selector, selector_digest, model, coverage, threshold, created)"
      " VALUES ('of nlst', 'd', 'm', 0.9, 0.5, '');"
      "INSERT INTO verdict (batch_id, scan_id, risk, risk_raw, score, verdict, reasons) VALUES"
      " (1, '1.2', 0.25, 0.25, 0.1, 'accepted', '[]')");
  if (version >= 2)
    raw_run("INSERT INTO review (scan_id, verdict_id, kind, revealed, shown, user, created) VALUES"
            " ('1.2', 1, 'agree', 0, '{}', 'reader', '')");
  if (version >= 4)
    raw_run(
        "INSERT INTO site_audit (selector_id, site, cohort, intercept, low, high, tau2, n_labels,"
        " created) VALUES (1, 'A', 'c', 0.1, 0, 0.2, 1, 30, '')");
  if (version >= 9)
    add_old_event();
}

/* What every program since must make of it: nothing is lost, and what nobody knew then is unknown. */
static void
check_old_workspace(DemurWorkspace *workspace, int version) {
  g_autoptr(GError) error = NULL;
  g_assert_cmpint(raw_number("PRAGMA user_version"), ==, demur_store_version);
  g_autoptr(DemurSeriesRecord) series = demur_series_load(workspace, "1.2", &error);
  g_assert_no_error(error);
  g_assert_cmpstr(series->patient_id, ==, "P");
  if (version < 9) {
    g_assert_cmpstr(series->birth_date, ==, "19500101");
    g_assert_cmpstr(series->sex, ==, "F");
  }
  g_assert_null(series->images_digest);
  g_assert_null(series->conflict);
  g_autoptr(GPtrArray) files = demur_series_files(workspace, "1.2", &error);
  g_assert_no_error(error);
  const DemurSeriesFile *file = files->pdata[0];
  g_assert_cmpstr(file->path, ==, "/there");
  g_assert_null(file->stamp); /* so it is read when it comes again */
  g_assert_null(file->pixel_digest);
  g_assert_false(file->decodes);
  g_autoptr(DemurScoreRecord) score = NULL;
  g_assert_true(demur_scores_load(workspace, "1.2", "m", &score, &error));
  g_assert_cmpfloat(score->risk, ==, 0.25);
  g_assert_true(isnan(score->horizon_years));
  g_assert_null(score->model_version);
  /* Bound by name only: it shows no risk. */
  g_autoptr(GPtrArray) verdicts = demur_verdicts_latest(workspace, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(verdicts->len, ==, 1);
  const DemurVerdictRecord *verdict = verdicts->pdata[0];
  g_assert_cmpfloat(verdict->risk, ==, 0.25);
  g_assert_cmpint(verdict->outdated, !=, DEMUR_CURRENT);
  g_assert_false(demur_verdict_tells_risk(verdict->verdict, verdict->outdated));
  g_assert_cmpint(raw_number("SELECT count(*) FROM review"), ==, version >= 2 ? 1 : 0);
  g_assert_cmpint(raw_number("SELECT count(*) FROM site_audit"), ==, version >= 4 ? 1 : 0);
  g_assert_cmpint(raw_number("SELECT count(*) FROM event"), ==, version >= 9 ? 1 : 0);
  /* Years: of the NLST's sentence where a program wrote it, of yearly risks the sixth. */
  const gboolean told = version < 13;
  g_assert_cmpint(raw_number("SELECT coalesce(horizon_years, 0) FROM cohort WHERE name = 'nlst'"),
                  ==, told ? 3 : 0);
  g_assert_cmpint(raw_number("SELECT coalesce(horizon_years, 0) FROM cohort WHERE name = 'yearly'"),
                  ==, told ? 6 : 0);
  g_assert_cmpint(raw_number("SELECT coalesce(horizon_years, 0) FROM cohort WHERE name = 'plain'"),
                  ==, 0);
  g_assert_cmpint(
      raw_number("SELECT coalesce(horizon_years, 0) FROM selector WHERE name = 'of nlst'"), ==,
      told ? 3 : 0);
  g_assert_cmpint(
      raw_number("SELECT coalesce(horizon_years, 0) FROM selector WHERE name = 'of plain'"), ==, 0);
  /* The chain goes on where it was, and the schema is the one of today. */
  g_autoptr(DemurVerification) v = demur_workspace_verify(workspace, NULL, &error);
  g_assert_no_error(error);
  for (size_t f = 0; f < v->n_findings; f++)
    if (!v->findings[f].ok && !g_str_has_prefix(v->findings[f].subject, "cohort") &&
        !g_str_has_prefix(v->findings[f].subject, "selector")) /* their contents are made up here */
      g_error("%s: %s", v->findings[f].subject, v->findings[f].message);
}

static void
test_each_older_workspace_is_migrated(void) {
  for (int version = 1; version < demur_store_version; version++) {
    g_test_message("version %d", version);
    remove_workspace();
    write_old_workspace(version);
    g_autoptr(DemurWorkspace) workspace = open_workspace();
    check_old_workspace(workspace, version);
    /* And once it is open it is used as any other. */
    g_autoptr(GError) error = NULL;
    g_assert_true(demur_series_remove(workspace, "1.2", NULL, &error));
    g_assert_no_error(error);
    g_clear_pointer(&workspace, demur_workspace_close);
    workspace = open_workspace();
  }
}

static void
test_verdict_history(void) {
  g_autoptr(DemurWorkspace) workspace = open_workspace();
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurCohort) c = make_cohort("c", 4, 2, 0);
  g_assert_true(demur_cohorts_save(workspace, c, NULL, &error));
  DemurSelectorRecord s = selector("s", "c");
  g_assert_true(demur_selectors_save(workspace, &s, DEMUR_SELECTOR_REPLACE_NONE, &error));
  DemurVerdictRecord records[2] = {{0}};
  records[0].scan_id = (char *)"scan-0";
  records[0].patient_id = (char *)"patient-0";
  records[0].risk = 0.1;
  records[0].risk_raw = 0.2;
  records[0].score = 0.3;
  records[0].verdict = DEMUR_VERDICT_NOT_TUNED;
  records[1] = records[0];
  records[1].scan_id = (char *)"scan-1";
  records[1].risk = records[1].risk_raw = records[1].score = NAN;
  records[1].verdict = DEMUR_VERDICT_NO_SCORE;
  records[1].reasons = (char *)"[\"no score\"]";
  DemurVerdictBatch batch = {.selector = "s",
                             .selector_digest = "digest",
                             .cohort = "c",
                             .model = "model",
                             .coverage = NAN,
                             .threshold = NAN,
                             .created = "2022"};
  g_assert_true(demur_verdicts_save(workspace, &batch, records, 2, &error));
  batch.coverage = 0.9;
  batch.threshold = 0.25;
  records[0].verdict = DEMUR_VERDICT_ACCEPTED;
  g_assert_true(demur_verdicts_save(workspace, &batch, records, 1, &error));
  g_assert_no_error(error);

  g_autoptr(GPtrArray) history = demur_verdicts_of_scan(workspace, "c", "scan-0", &error);
  g_assert_cmpuint(history->len, ==, 2);
  const DemurVerdictRecord *newest = history->pdata[0], *oldest = history->pdata[1];
  g_assert_cmpint(newest->verdict, ==, DEMUR_VERDICT_ACCEPTED);
  g_assert_cmpfloat(newest->threshold, ==, 0.25);
  g_assert_cmpstr(newest->reasons, ==, "[]");
  g_assert_true(isnan(oldest->threshold));
  g_autoptr(GPtrArray) latest = demur_verdicts_latest(workspace, "c", &error);
  g_assert_cmpuint(latest->len, ==, 2);
  g_autoptr(GPtrArray) dicom = demur_verdicts_latest(workspace, NULL, &error);
  g_assert_cmpuint(dicom->len, ==, 0);

  /* The second of two is of no scan: neither is kept. */
  records[1].scan_id = NULL;
  g_assert_false(demur_verdicts_save(workspace, &batch, records, 2, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STORE);
  g_clear_error(&error);
  g_autoptr(GPtrArray) all = demur_verdicts_of_selector(workspace, "s", FALSE, &error);
  g_assert_cmpuint(all->len, ==, 3);

  /* Of two selectors' verdicts on the same scan the second is no verdict: the first is not kept. */
  DemurVerdictShare shares[2] = {{batch, records, 1}, {batch, records + 1, 1}};
  shares[0].batch.selector = "t";
  g_assert_false(demur_verdicts_save_together(workspace, shares, 2, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STORE);
  g_clear_error(&error);
  g_autoptr(GPtrArray) none = demur_verdicts_of_selector(workspace, "t", FALSE, &error);
  g_assert_cmpuint(none->len, ==, 0);

  /* In use: refused with the reason, forced: the verdicts stay with what they were made from. */
  g_assert_false(demur_cohorts_remove(workspace, "c", FALSE, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
  g_assert_nonnull(strstr(error->message, "1 selector, 3 verdicts;"));
  g_clear_error(&error);
  g_assert_false(demur_selectors_remove(workspace, "s", FALSE, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
  g_clear_error(&error);
  g_assert_true(demur_selectors_remove(workspace, "s", TRUE, &error));
  g_assert_true(demur_cohorts_remove(workspace, "c", TRUE, &error));
  g_autoptr(GPtrArray) kept = demur_verdicts_of_selector(workspace, "s", TRUE, &error);
  g_assert_cmpuint(kept->len, ==, 2);
  g_assert_cmpstr(((DemurVerdictRecord *)kept->pdata[0])->selector_digest, ==, "digest");
  g_assert_cmpint(raw_number("SELECT count(*) FROM cohort_column"), ==, 0);
}

static void
test_series_and_scores(void) {
  g_autoptr(DemurWorkspace) workspace = open_workspace();
  g_autoptr(GError) error = NULL;
  DemurSeriesRecord r = {.scan_id = (char *)"1.2.3#2",
                         .series_uid = (char *)"1.2.3",
                         .patient_name = (char *)"M\xc3\xbcller",
                         .eligible = TRUE,
                         .n_slices = 2,
                         .spacing_mm = 1.25,
                         .thickness_mm = NAN,
                         .tilt_degrees = -12.5,
                         .kvp = 120,
                         .fov_mm = NAN,
                         .tube_current_ma = NAN,
                         .created = (char *)"first"};
  DemurSeriesFile files[] = {
      {.path = (char *)"/a", .sop_instance_uid = (char *)"1.9", .position_mm = -10.5},
      {.path = (char *)"/b", .frame = 3, .position_mm = NAN}};
  DemurSeriesSave save = {&r, files, 2};
  g_assert_true(demur_series_save(workspace, &save, 1, &error));
  g_assert_no_error(error);
  r.kernel = (char *)"B30f";
  r.created = (char *)"second";
  save.n_files = 1;
  g_assert_true(demur_series_save(workspace, &save, 1, &error));
  g_autoptr(DemurSeriesRecord) back = demur_series_load(workspace, "1.2.3#2", &error);
  g_assert_no_error(error);
  g_assert_cmpstr(back->patient_name, ==, "M\xc3\xbcller");
  g_assert_cmpstr(back->kernel, ==, "B30f");
  g_assert_cmpstr(back->created, ==, "first");
  g_assert_cmpstr(back->updated, ==, "second");
  g_assert_true(isnan(back->thickness_mm));
  g_assert_cmpfloat(back->tilt_degrees, ==, -12.5);
  g_assert_true(back->eligible);
  g_assert_false(back->accepted);
  g_autoptr(GPtrArray) back_files = demur_series_files(workspace, "1.2.3#2", &error);
  g_assert_cmpuint(back_files->len, ==, 1);
  g_assert_cmpfloat(((DemurSeriesFile *)back_files->pdata[0])->position_mm, ==, -10.5);
  g_auto(GStrv) ids = demur_series_find_uid(workspace, "1.2.3", &error);
  g_assert_cmpuint(g_strv_length(ids), ==, 1);
  g_assert_null(demur_series_files(workspace, "nothing", &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND);
  g_clear_error(&error);

  float embedding[] = {1.5f, -2.0f};
  DemurScoreRecord score = {.scan_id = (char *)"1.2.3#2",
                            .model = (char *)"m",
                            .risk = 0.25,
                            .yearly_risks = {0.1, NAN, NAN, NAN, NAN, 0.25},
                            .embedding_width = 2,
                            .embedding = embedding,
                            .source = (char *)"table",
                            .created = (char *)"now"};
  size_t n_new, n_replaced, n_same;
  g_assert_true(
      demur_scores_save(workspace, &score, 1, FALSE, &n_new, &n_replaced, &n_same, &error));
  g_assert_cmpuint(n_new, ==, 1);
  g_assert_true(
      demur_scores_save(workspace, &score, 1, FALSE, &n_new, &n_replaced, &n_same, &error));
  g_assert_cmpuint(n_same, ==, 1);
  score.risk = 0.5;
  g_assert_false(demur_scores_save(workspace, &score, 1, FALSE, NULL, NULL, NULL, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_EXISTS);
  g_clear_error(&error);
  g_assert_true(
      demur_scores_save(workspace, &score, 1, TRUE, &n_new, &n_replaced, &n_same, &error));
  g_assert_cmpuint(n_replaced, ==, 1);
  DemurScoreRecord *loaded;
  g_assert_true(demur_scores_load(workspace, "1.2.3#2", "m", &loaded, &error));
  g_assert_cmpfloat(loaded->risk, ==, 0.5);
  g_assert_true(isnan(loaded->yearly_risks[1]));
  g_assert_cmpfloat(loaded->embedding[1], ==, -2.0f);
  demur_score_record_free(loaded);
  g_assert_true(demur_scores_load(workspace, "1.2.3#2", "other", &loaded, &error));
  g_assert_null(loaded);
  g_auto(GStrv) models = demur_scores_models(workspace, &error);
  g_assert_cmpuint(g_strv_length(models), ==, 1);
}

/* A transaction that another handle has open is waited for or told of; what is rolled back is gone.
 */
static void
test_transactions_nest(void) {
  g_autoptr(DemurWorkspace) workspace = open_workspace();
  g_autoptr(GError) error = NULL;
  DemurSelectorRecord a = selector("a", "c"), b = selector("b", "c");
  g_assert_true(demur_workspace_begin(workspace, &error));
  g_assert_true(demur_selectors_save(workspace, &a, DEMUR_SELECTOR_REPLACE_NONE, &error));
  g_assert_true(demur_workspace_begin(workspace, &error));
  g_assert_true(demur_selectors_save(workspace, &b, DEMUR_SELECTOR_REPLACE_NONE, &error));
  demur_workspace_rollback(workspace);
  /* A reader sees nothing before the outermost commit. */
  g_autoptr(DemurWorkspace) reader = demur_workspace_open(path, DEMUR_WORKSPACE_READ_ONLY, &error);
  g_assert_no_error(error);
  g_autoptr(GPtrArray) before = demur_selectors_list(reader, &error);
  g_assert_cmpuint(before->len, ==, 0);
  g_assert_true(demur_workspace_commit(workspace, &error));
  g_autoptr(GPtrArray) after = demur_selectors_list(reader, &error);
  g_assert_cmpuint(after->len, ==, 1);
  g_assert_cmpstr(((DemurSelectorRecord *)after->pdata[0])->name, ==, "a");
}

/* Killed inside a transaction: what was there before is whole, what was being written is gone. */
static void
test_killed_while_writing(void) {
  g_autoptr(GError) error = NULL;
  {
    g_autoptr(DemurWorkspace) workspace = open_workspace();
    g_autoptr(DemurCohort) kept = make_cohort("kept", 100, 2, 8);
    g_assert_true(demur_cohorts_save(workspace, kept, NULL, &error));
  }
  int ready[2];
  g_assert_cmpint(pipe(ready), ==, 0);
  const pid_t child = fork();
  if (child == 0) {
    /* Writes 6 MB into an open transaction (more than SQLite's cache holds, so pages reach the
     * log), says so and waits for the end. */
    DemurWorkspace *workspace = demur_workspace_open(path, DEMUR_WORKSPACE_DEFAULT, NULL);
    DemurCohort *lost = make_cohort("lost", 30000, 2, 50);
    if (workspace == NULL || !demur_workspace_begin(workspace, NULL) ||
        !demur_cohorts_save(workspace, lost, NULL, NULL) || write(ready[1], "x", 1) != 1)
      _exit(1);
    for (;;)
      pause();
  }
  char byte = 0;
  g_assert_cmpint(read(ready[0], &byte, 1), ==, 1);
  kill(child, SIGKILL);
  int status;
  g_assert_cmpint(waitpid(child, &status, 0), ==, child);
  g_assert_true(WIFSIGNALED(status));
  close(ready[0]);
  close(ready[1]);
  g_autoptr(DemurWorkspace) workspace = open_workspace();
  g_autoptr(GPtrArray) list = demur_cohorts_list(workspace, &error);
  g_assert_cmpuint(list->len, ==, 1);
  g_assert_cmpstr(((DemurCohortSummary *)list->pdata[0])->name, ==, "kept");
  g_autoptr(DemurVerification) v = demur_workspace_verify(workspace, NULL, &error);
  g_assert_no_error(error);
  g_assert_true(v->ok);
  g_assert_cmpuint(v->n_cohorts, ==, 1);
}

/* A disk without room, played by a limit of the file size in a child (what a full disk is to
 * SQLite: a write that fails): a clear error, and what was there before is whole. */
static void
test_no_room(void) {
  g_autoptr(GError) error = NULL;
  {
    g_autoptr(DemurWorkspace) workspace = open_workspace();
    g_autoptr(DemurCohort) kept = make_cohort("kept", 100, 2, 8);
    g_assert_true(demur_cohorts_save(workspace, kept, NULL, &error));
  }
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit = {2u << 20, 2u << 20};
    DemurWorkspace *workspace = demur_workspace_open(path, DEMUR_WORKSPACE_DEFAULT, NULL);
    DemurCohort *large = make_cohort("large", 30000, 2, 50);
    GError *fault = NULL;
    const gboolean right = workspace != NULL && setrlimit(RLIMIT_FSIZE, &limit) == 0 &&
                           !demur_cohorts_save(workspace, large, NULL, &fault) &&
                           g_error_matches(fault, DEMUR_ERROR, DEMUR_ERROR_STORE) &&
                           strstr(fault->message, "disk") != NULL;
    demur_workspace_close(workspace);
    _exit(right ? 0 : 1);
  }
  int status;
  g_assert_cmpint(waitpid(child, &status, 0), ==, child);
  g_assert_true(WIFEXITED(status));
  g_assert_cmpint(WEXITSTATUS(status), ==, 0);
  g_autoptr(DemurWorkspace) workspace = open_workspace();
  g_autoptr(DemurVerification) v = demur_workspace_verify(workspace, NULL, &error);
  g_assert_no_error(error);
  g_assert_true(v->ok);
  g_assert_cmpuint(v->n_cohorts, ==, 1);
}

/* A byte of an embedding, of a selector, and a row whose owner is gone: each becomes a finding. */
static void
test_verify_finds_changes(void) {
  g_autoptr(GError) error = NULL;
  static const struct {
    const char *sql, *subject;
    const char *on_server; /* NULL: the same */
  } cases[] = {
      {"UPDATE cohort_column SET data = CAST(x'0000803f' || substr(data, 5) AS BLOB) WHERE name = "
       "'embedding'",
       "cohort c",
       "UPDATE cohort_column SET data = '\\x0000803f'::bytea || substr(data, 5) WHERE name ="
       " 'embedding'"},
      {"UPDATE cohort_column SET data = substr(data, 5) WHERE name = 'label'", "cohort c", NULL},
      {"UPDATE cohort_column SET data = CAST(x'ffffffff' || substr(data, 5) AS BLOB) WHERE name = "
       "'site'",
       "cohort c",
       "UPDATE cohort_column SET data = '\\xffffffff'::bytea || substr(data, 5) WHERE name ="
       " 'site'"},
      {"UPDATE selector SET document = document || ' '", "selector s", NULL},
      {"UPDATE threshold SET selector_id = 999", "database",
       "ALTER TABLE threshold DISABLE TRIGGER ALL; UPDATE threshold SET selector_id = 999;"
       "ALTER TABLE threshold ENABLE TRIGGER ALL"},
      {"UPDATE threshold SET threshold = 0.5", "thresholds of s", NULL},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    remove_workspace();
    {
      g_autoptr(DemurWorkspace) workspace = open_workspace();
      g_autoptr(DemurCohort) c = make_cohort("c", 10, 2, 2);
      DemurSelectorRecord s = selector("s", "c");
      DemurThresholdRecord t = threshold(0.9, 1.0);
      g_assert_true(demur_cohorts_save(workspace, c, NULL, &error) &&
                    demur_selectors_save(workspace, &s, DEMUR_SELECTOR_REPLACE_NONE, &error) &&
                    demur_thresholds_save(workspace, &t, &error));
      g_autoptr(DemurVerification) v = demur_workspace_verify(workspace, NULL, &error);
      g_assert_no_error(error);
      g_assert_true(v->ok);
    }
    raw_run(demur_test_store_is_server() && cases[i].on_server != NULL ? cases[i].on_server
                                                                       : cases[i].sql);
    g_autoptr(DemurWorkspace) workspace = open_workspace();
    g_autoptr(DemurVerification) v = demur_workspace_verify(workspace, NULL, &error);
    g_assert_no_error(error);
    g_assert_false(v->ok);
    size_t n_bad = 0;
    for (size_t f = 0; f < v->n_findings; f++)
      if (!v->findings[f].ok) {
        n_bad++;
        /* A threshold of no selector is one that is gone, too. */
        if (!g_str_has_prefix(v->findings[f].subject, "threshold:"))
          g_assert_cmpstr(v->findings[f].subject, ==, cases[i].subject);
      }
    g_assert_cmpuint(n_bad, ==, strcmp(cases[i].subject, "database") == 0 ? 2 : 1);
  }
}

/* Names that SQLite would take for no file at all are names of files. */
static void
test_special_names_are_files(void) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurWorkspace) none = demur_workspace_open("", DEMUR_WORKSPACE_CREATE, &error);
  g_assert_null(none);
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE);
  g_clear_error(&error);
  g_autofree char *before = g_get_current_dir();
  g_autofree char *folder = g_dir_make_tmp("demur-names-XXXXXX", NULL);
  g_assert_cmpint(g_chdir(folder), ==, 0);
  static const char *const names[] = {":memory:", "file:x?mode=memory"};
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
    g_autoptr(DemurCohort) cohort = make_cohort("kept", 4, 2, 0);
    DemurWorkspace *workspace = demur_workspace_open(names[i], DEMUR_WORKSPACE_CREATE, &error);
    g_assert_no_error(error);
    g_assert_true(demur_cohorts_save(workspace, cohort, NULL, &error));
    demur_workspace_close(workspace);
    g_assert_true(g_file_test(names[i], G_FILE_TEST_IS_REGULAR));
    workspace = demur_workspace_open(names[i], DEMUR_WORKSPACE_READ_ONLY, &error);
    g_assert_no_error(error);
    g_autoptr(DemurCohortSummary) summary = demur_cohorts_summary(workspace, "kept", &error);
    g_assert_no_error(error);
    demur_workspace_close(workspace);
    static const char *const endings[] = {"", "-wal", "-shm"};
    for (size_t e = 0; e < G_N_ELEMENTS(endings); e++) {
      g_autofree char *file = g_strconcat(names[i], endings[e], NULL);
      g_unlink(file);
    }
  }
  g_assert_cmpint(g_chdir(before), ==, 0);
  g_assert_cmpint(g_rmdir(folder), ==, 0);
}

/* A threshold that an older program kept with its digest is no fault once the workspace has a log:
 * the log begins with it. One that was changed stays one. */
static void
test_log_begins_with_what_was_there(void) {
  g_autoptr(GError) error = NULL;
  g_autofree char *digest = NULL;
  const DemurSelectorRecord s = selector("s", "c");
  DemurThresholdRecord t = threshold(0.9, 0.25);
  {
    g_autoptr(DemurWorkspace) workspace = open_workspace();
    g_assert_true(demur_selectors_save(workspace, &s, DEMUR_SELECTOR_REPLACE_NONE, &error));
    g_assert_true(demur_thresholds_save(workspace, &t, &error));
    g_autoptr(GPtrArray) list = demur_thresholds_list(workspace, "s", &error);
    digest = g_strdup(((DemurThresholdRecord *)list->pdata[0])->digest);
  }
  g_assert_nonnull(digest);
  for (int changed = 0; changed < 2; changed++) {
    remove_workspace();
    for (int m = 0; m < DEMUR_STORE_FIRST_LOG - 1; m++)
      raw_run(demur_store_migrations[m]);
    g_autofree char *sha = g_compute_checksum_for_string(G_CHECKSUM_SHA256, s.document, -1);
    g_autofree char *rows = g_strdup_printf(
        "PRAGMA application_id = %d; PRAGMA user_version = %d;"
        "INSERT INTO selector (name, document, document_sha256, digest, cohort, cohort_digest,"
        " model, simulated, created) VALUES ('s', '%s', '%s', '%s', '%s', '%s', '%s', %d, '%s');"
        "INSERT INTO threshold (selector_id, coverage, threshold, realised, n_scans, n_patients,"
        " cohort, split, cohort_digest, guarantee, created, digest)"
        " VALUES (1, 0.9, %s, %.17g, %zu, %zu, '%s', '%s', '%s', %s%s%s, '%s', '%s');",
        DEMUR_STORE_APPLICATION_ID, DEMUR_STORE_FIRST_LOG - 1, s.document, sha, s.digest, s.cohort,
        s.cohort_digest, s.model, s.simulated, s.created, changed ? "0.26" : "0.25", t.realised,
        t.n_scans, t.n_patients, t.cohort, t.split, t.cohort_digest, t.guarantee != NULL ? "'" : "",
        t.guarantee != NULL ? t.guarantee : "NULL", t.guarantee != NULL ? "'" : "", t.created,
        digest);
    raw_run(rows);
    g_autoptr(DemurWorkspace) workspace = open_workspace();
    g_autoptr(DemurVerification) verification = demur_workspace_verify(workspace, NULL, &error);
    g_assert_no_error(error);
    for (size_t i = 0; i < verification->n_findings; i++)
      if (!verification->findings[i].ok)
        g_test_message("%s: %s", verification->findings[i].subject,
                       verification->findings[i].message);
    g_assert_true(verification->ok == !changed);
  }
}

/* A selector of before the key: its hashes are kept by the key once the workspace was opened, the
 * document is what it was, and verify finds nothing. One that was changed before stays as it is. */
static void
test_hashes_come_under_a_key(void) {
  static const char document[] = "{\n \"patient_hashes\": \"AQAAAAAAAAACAAAAAAAAAA==\"\n}\n";
  for (int changed = 0; changed < 2; changed++) {
    remove_workspace();
    for (int m = 0; m < DEMUR_STORE_FIRST_KEY - 1; m++)
      raw_run(demur_store_migrations[m]);
    g_autofree char *sha =
        changed ? g_strdup("x") : g_compute_checksum_for_string(G_CHECKSUM_SHA256, document, -1);
    g_autofree char *rows = g_strdup_printf(
        "PRAGMA application_id = %d; PRAGMA user_version = %d;"
        "INSERT INTO selector (name, document, document_sha256, digest, cohort, cohort_digest,"
        " model, simulated, created) VALUES ('s', '%s', '%s', 'd', 'c', 'r', 'm', 0, '2022');",
        DEMUR_STORE_APPLICATION_ID, DEMUR_STORE_FIRST_KEY - 1, document, sha);
    raw_run(rows);
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurWorkspace) workspace = open_workspace();
    g_autoptr(DemurSelectorRecord) record = demur_selectors_load(workspace, "s", &error);
    g_assert_cmpint(
        raw_number("SELECT count(*) FROM selector WHERE document LIKE '%AQAAAAAAAAACAA%'"), ==,
        changed);
    g_assert_cmpint(raw_number("SELECT count(*) FROM selector_key WHERE length(key) = 64"), ==, 1);
    g_assert_cmpint(raw_number("SELECT count(*) FROM event WHERE details = '{\"keyed\": true}'"),
                    ==, !changed);
    if (changed) {
      g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STORE);
      continue;
    }
    g_assert_no_error(error);
    g_assert_cmpstr(record->document, ==, document);
    g_autoptr(DemurVerification) verification = demur_workspace_verify(workspace, NULL, &error);
    g_assert_no_error(error);
    g_assert_true(verification->ok);
  }
}

static void
each(const char *name, void (*func)(void)) {
  g_autofree char *test = g_strconcat("/store/workspace/", name, NULL);
  g_test_add_func(test, func);
}

/* Each test begins without a file. */
#define FRESH(function)                                                                            \
  static void fresh_##function(void) {                                                             \
    remove_workspace();                                                                            \
    function();                                                                                    \
    remove_workspace();                                                                            \
  }
FRESH(test_migrates_from_nothing)
FRESH(test_refuses_untouched)
FRESH(test_cohort_round_trip)
FRESH(test_attach_keeps_digest)
FRESH(test_selectors_and_thresholds)
FRESH(test_several_selectors_are_one)
FRESH(test_changed_threshold_is_found)
FRESH(test_exclusions_round_trip)
FRESH(test_older_workspace_is_migrated)
FRESH(test_each_older_workspace_is_migrated)
FRESH(test_log_begins_with_what_was_there)
FRESH(test_hashes_come_under_a_key)
FRESH(test_verdict_history)
FRESH(test_series_and_scores)
FRESH(test_transactions_nest)
FRESH(test_killed_while_writing)
FRESH(test_no_room)
FRESH(test_verify_finds_changes)

/* An assessment, and a person's word on it. */
static void
assess_and_comment(DemurWorkspace *workspace) {
  const DemurVerdictBatch batch = {.selector = "s",
                                   .selector_digest = "digest",
                                   .model = "model",
                                   .coverage = 0.9,
                                   .threshold = 0.25,
                                   .created = "2026"};
  const DemurVerdictRecord verdict = {.scan_id = (char *)"1.2",
                                      .risk = 0.1,
                                      .risk_raw = 0.1,
                                      .score = 0.5,
                                      .verdict = DEMUR_VERDICT_ACCEPTED,
                                      .reasons = (char *)"[]"};
  DemurReviewRecord review = {.scan_id = (char *)"1.2",
                              .kind = DEMUR_REVIEW_COMMENT,
                              .comment = (char *)"seen",
                              .shown = (char *)"{}",
                              .user = (char *)"reader",
                              .created = (char *)"2026"};
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_verdicts_save(workspace, &batch, &verdict, 1, &error));
  g_assert_true(demur_reviews_save(workspace, &review, &error));
  g_assert_no_error(error);
  g_free(review.verdict_digest);
}

/* Right value: the list in events.h. What is done to scans, verdicts and opinions is none of it. Keys are as they are
 * written: a server refuses others, and an event of a row that isn't there. */
static void
test_what_evaluations_are_made_of(void) {
  static const struct {
    DemurEventKind kind;
    const char *key;
    gboolean counts;
  } rows[] = {
      {DEMUR_EVENT_COHORT, "cohort:c", TRUE},       {DEMUR_EVENT_OPENED, "opened:1.2", FALSE},
      {DEMUR_EVENT_TRAINING, "selector:s", TRUE},   {DEMUR_EVENT_REVEAL, "assessment:1", FALSE},
      {DEMUR_EVENT_THRESHOLD, "threshold:s", TRUE}, {DEMUR_EVENT_EXPORT, "export:verdicts", FALSE},
      {DEMUR_EVENT_AUDIT, "audit:s", TRUE},         {DEMUR_EVENT_REMOVAL, "series:1.2", FALSE},
      {DEMUR_EVENT_REMOVAL, "selector:s", TRUE},    {DEMUR_EVENT_REMOVAL, "score:1.2|m", FALSE},
      {DEMUR_EVENT_REMOVAL, "cohort:c", TRUE},      {DEMUR_EVENT_IMPORT, "series:1.2", FALSE}};
  remove_workspace();
  g_autoptr(DemurWorkspace) workspace = open_workspace();
  g_autoptr(GError) error = NULL;
  gint64 last = -1;
  g_assert_true(demur_events_last_of_evaluation(workspace, &last, &error));
  g_assert_cmpint(last, ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    gint64 now = -1;
    g_assert_true(
        demur_events_add(workspace, rows[i].kind, rows[i].key, NULL, NULL, "2026", &error));
    g_assert_true(demur_events_last_of_evaluation(workspace, &now, &error));
    g_assert_cmpint(now > last, ==, rows[i].counts);
    last = now;
  }
  assess_and_comment(workspace);
  gint64 now = -1;
  g_assert_true(demur_events_last_of_evaluation(workspace, &now, &error));
  g_assert_cmpint(now, ==, last);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_autofree char *folder = g_dir_make_tmp("demur-store-XXXXXX", NULL);
  path = demur_test_store_path(folder, "w.demur");
  each("cohort-round-trip", fresh_test_cohort_round_trip);
  each("attach-keeps-digest", fresh_test_attach_keeps_digest);
  each("selectors-and-thresholds", fresh_test_selectors_and_thresholds);
  each("several-selectors-are-one", fresh_test_several_selectors_are_one);
  each("changed-threshold-is-found", fresh_test_changed_threshold_is_found);
  each("exclusions-round-trip", fresh_test_exclusions_round_trip);
  each("verdict-history", fresh_test_verdict_history);
  each("series-and-scores", fresh_test_series_and_scores);
  each("transactions-nest", fresh_test_transactions_nest);
  each("killed-while-writing", fresh_test_killed_while_writing);
  each("verify-finds-changes", fresh_test_verify_finds_changes);
  g_test_add_func("/store/workspace/what-evaluations-are-made-of",
                  test_what_evaluations_are_made_of);
  /* What is of files alone. */
  if (!demur_test_store_is_server()) {
    each("migrates-from-nothing", fresh_test_migrates_from_nothing);
    each("refuses-other-and-newer-files-untouched", fresh_test_refuses_untouched);
    each("older-workspace-is-migrated", fresh_test_older_workspace_is_migrated);
    each("each-older-workspace-is-migrated", fresh_test_each_older_workspace_is_migrated);
    each("log-begins-with-what-was-there", fresh_test_log_begins_with_what_was_there);
    each("hashes-come-under-a-key", fresh_test_hashes_come_under_a_key);
    each("no-room-on-the-disk", fresh_test_no_room);
    g_test_add_func("/store/workspace/special-names-are-files", test_special_names_are_files);
  }
  const int status = g_test_run();
  remove_workspace();
  g_rmdir(folder);
  g_free(path);
  return status;
}
