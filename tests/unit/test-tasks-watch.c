/* Which patients a watch counts, of a history that was interrupted, repeated and corrected. Right
 * values: worked by hand, and the same stream however the history came to be what it is. */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "store/series.h"
#include "store/verdicts.h"
#include "support/support.h"
#include "tasks/watch-lines.h"
#include "tasks/watch-stream.h"
#include "words/words.h"

static char *folder, *path;

static void
save_series(DemurWorkspace *workspace, const char *scan_id, const char *patient_id,
            const char *birth_date) {
  const DemurSeriesRecord record = {.scan_id = (char *)scan_id,
                                    .study_date = (char *)"20260105",
                                    .series_uid = (char *)scan_id,
                                    .study_uid = (char *)scan_id,
                                    .patient_id = (char *)patient_id,
                                    .patient_name = (char *)"DOE^JANE",
                                    .birth_date = (char *)birth_date,
                                    .sex = (char *)"F",
                                    .accepted = TRUE,
                                    .eligible = TRUE,
                                    .n_slices = 1,
                                    .spacing_mm = NAN,
                                    .thickness_mm = 1.25,
                                    .tilt_degrees = NAN,
                                    .kernel = (char *)"B30f",
                                    .site = (char *)"North",
                                    .kvp = NAN,
                                    .fov_mm = NAN,
                                    .tube_current_ma = NAN,
                                    .created = (char *)"2026-01-01T00:00:00Z",
                                    .updated = (char *)"2026-01-01T00:00:00Z"};
  const DemurSeriesSave one = {&record, NULL, 0};
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_series_save(workspace, &one, 1, &error));
  g_assert_no_error(error);
}

/* An assessment of scans, "a b c": each with a score that follows its name; "-a" has none. */
static void
assess(DemurWorkspace *workspace, const char *scans, const char *created) {
  g_auto(GStrv) names = g_strsplit(scans, " ", -1);
  const guint n = g_strv_length(names);
  g_autofree DemurVerdictRecord *records = g_new0(DemurVerdictRecord, n);
  for (guint i = 0; i < n; i++) {
    const gboolean scored = *names[i] != '-';
    const char *scan = names[i] + (scored ? 0 : 1);
    records[i] =
        (DemurVerdictRecord){.scan_id = (char *)scan,
                             .patient_id = (char *)"as it was then",
                             .site = (char *)"North",
                             .risk = 0.1,
                             .risk_raw = 0.1,
                             .risk_low = NAN,
                             .risk_high = NAN,
                             .distance = NAN,
                             .score = scored ? *scan / 256.0 : NAN,
                             .verdict = scored ? DEMUR_VERDICT_ACCEPTED : DEMUR_VERDICT_NO_SCORE,
                             .reasons = (char *)"[]"};
  }
  const DemurVerdictBatch batch = {.selector = "s",
                                   .selector_digest = "d",
                                   .model = "m",
                                   .coverage = 0.9,
                                   .threshold = 0.0,
                                   .horizon_years = NAN,
                                   .created = created};
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_verdicts_save(workspace, &batch, records, n, &error));
  g_assert_no_error(error);
}

static DemurWorkspace *
fresh(void) {
  g_unlink(path);
  g_autoptr(GError) error = NULL;
  DemurWorkspace *workspace = demur_workspace_open(path, DEMUR_WORKSPACE_CREATE, &error);
  g_assert_no_error(error);
  static const char *const scans[][2] = {
      {"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "1"}, {"e", "4"}};
  for (guint i = 0; i < G_N_ELEMENTS(scans); i++)
    save_series(workspace, scans[i][0], scans[i][1], "19500101");
  return workspace;
}

static DemurWatchStream
read_stream(DemurWorkspace *workspace, gint64 after) {
  const DemurWatchStreamParams params = {
      .selector = "s", .selector_digest = "d", .after = after, .to = G_MAXINT64};
  DemurWatchStream stream;
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_watch_stream_read(workspace, &params, &stream, &error));
  g_assert_no_error(error);
  return stream;
}

/* The scores of a stream as letters, in its order (owned). */
static char *
letters(const DemurWatchStream *stream) {
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < stream->patients->len; i++) {
    const DemurWatchPatient *p = &g_array_index(stream->patients, DemurWatchPatient, i);
    g_string_append_c(text, p->scored ? (char)(p->score * 256.0) : '-');
  }
  return g_string_free(text, FALSE);
}

#define assert_stream(workspace, after, expected)                                                  \
  G_STMT_START {                                                                                   \
    g_auto(DemurWatchStream) stream_ = read_stream(workspace, after);                              \
    g_autofree char *letters_ = letters(&stream_);                                                 \
    g_assert_cmpstr(letters_, ==, expected);                                                       \
  }                                                                                                \
  G_STMT_END

/* d is of a's patient: it counts once, by the first. What is assessed again stays where it was. */
static void
test_once_a_patient(void) {
  g_autoptr(DemurWorkspace) workspace = fresh();
  assess(workspace, "a", "2026-01-01T00:00:00Z");
  assess(workspace, "b", "2026-01-02T00:00:00Z");
  assess(workspace, "d", "2026-01-03T00:00:00Z");
  assess(workspace, "b", "2026-01-04T00:00:00Z");
  assess(workspace, "c", "2026-01-05T00:00:00Z");
  assess(workspace, "a", "2026-01-06T00:00:00Z");
  g_auto(DemurWatchStream) stream = read_stream(workspace, 0);
  g_autofree char *found = letters(&stream);
  g_assert_cmpstr(found, ==, "abc");
  g_assert_cmpuint(stream.n_scans, ==, 4);
  g_assert_cmpuint(stream.n_again, ==, 1);
  const DemurWatchPatient *b = &g_array_index(stream.patients, DemurWatchPatient, 1);
  g_assert_cmpstr(b->when, ==, "2026-01-02T00:00:00Z");
  g_assert_cmpstr(b->kernel, ==, "B30f");
  g_assert_cmpstr(b->thickness, ==, "1.25 mm");
  g_assert_true(b->pending);
}

/* Those assessed before a watch began are not new to it when they are assessed again. */
static void
test_before(void) {
  g_autoptr(DemurWorkspace) workspace = fresh();
  assess(workspace, "a", "2026-01-01T00:00:00Z");
  assess(workspace, "a", "2026-01-02T00:00:00Z");
  assess(workspace, "b", "2026-01-03T00:00:00Z");
  g_auto(DemurWatchStream) stream = read_stream(workspace, 1);
  g_autofree char *found = letters(&stream);
  g_assert_cmpstr(found, ==, "b");
  g_assert_cmpuint(stream.n_before, ==, 1);
}

/* A corrected person counts as who they are, a removed scan not at all: as in a history that had it
 * right from the start. */
static void
test_corrected_and_removed(void) {
  g_autoptr(DemurWorkspace) workspace = fresh();
  assess(workspace, "a", "2026-01-01T00:00:00Z");
  assess(workspace, "d", "2026-01-02T00:00:00Z");
  assess(workspace, "c", "2026-01-03T00:00:00Z");
  assert_stream(workspace, 0, "ac");
  g_autoptr(GError) error = NULL;
  const DemurSeriesRecord other = {.patient_id = (char *)"9",
                                   .patient_name = (char *)"ROE^RICHARD",
                                   .birth_date = (char *)"19600202",
                                   .sex = (char *)"M"};
  g_assert_true(demur_series_correct(workspace, "d", &other, NULL, &error));
  assert_stream(workspace, 0, "adc"); /* d is another's */
  g_assert_true(demur_series_remove(workspace, "a", NULL, &error));
  assert_stream(workspace, 0, "dc");
  g_assert_true(demur_series_set_conflict(workspace, "c", "person", NULL, &error));
  assert_stream(workspace, 0, "d"); /* whose it is, is not certain */
  g_assert_true(demur_series_set_conflict(workspace, "c", NULL, NULL, &error));
  assert_stream(workspace, 0, "dc");
  g_assert_no_error(error);
}

/* Two people of one number are two; the same number with the same witnesses is one. */
static void
test_persons(void) {
  g_autoptr(DemurWorkspace) workspace = fresh();
  save_series(workspace, "f", "2", "19990909");
  assess(workspace, "b", "2026-01-01T00:00:00Z");
  assess(workspace, "f", "2026-01-02T00:00:00Z");
  assert_stream(workspace, 0, "bf");
}

/* A scan without a score is passed over for a later one of the same patient that has one; and it
 * takes its own first place once it is scored. */
static void
test_scored_later(void) {
  g_autoptr(DemurWorkspace) workspace = fresh();
  assess(workspace, "-a", "2026-01-01T00:00:00Z");
  assess(workspace, "b", "2026-01-02T00:00:00Z");
  assert_stream(workspace, 0, "-b");
  assess(workspace, "d", "2026-01-03T00:00:00Z");
  assert_stream(workspace, 0, "bd");
  assess(workspace, "a", "2026-01-04T00:00:00Z");
  assert_stream(workspace, 0, "ab");
}

/* Scans of one assessment come in an order that their names don't tell; closing and opening the
 * workspace in between changes nothing. */
static void
test_restart(void) {
  g_autofree char *whole = NULL;
  g_autoptr(DemurWorkspace) workspace = fresh();
  assess(workspace, "a b c e", "2026-01-01T00:00:00Z");
  g_auto(DemurWatchStream) stream = read_stream(workspace, 0);
  whole = letters(&stream);
  g_assert_cmpuint(strlen(whole), ==, 4);
  demur_workspace_close(g_steal_pointer(&workspace));
  workspace = fresh();
  assess(workspace, "e c b a", "2026-01-01T00:00:00Z");
  demur_workspace_close(g_steal_pointer(&workspace));
  g_autoptr(GError) error = NULL;
  workspace = demur_workspace_open(path, DEMUR_WORKSPACE_DEFAULT, &error);
  assert_stream(workspace, 0, whole);
}

/* Labels are the scan's last ones; one that will never come is no longer awaited. */
static void
test_labels(void) {
  g_autoptr(DemurWorkspace) workspace = fresh();
  g_autoptr(GError) error = NULL;
  assess(workspace, "a", "2026-01-01T00:00:00Z");
  assess(workspace, "b", "2026-01-02T00:00:00Z");
  const DemurWatchLabel first[] = {{(char *)"a", 0.0}, {(char *)"b", 1.0}},
                        later[] = {{(char *)"a", 1.0}, {(char *)"b", NAN}};
  g_assert_true(demur_watch_labels_save(workspace, first, 2, "u", "2026-02-01T00:00:00Z", &error));
  g_assert_true(demur_watch_labels_save(workspace, later, 2, "u", "2026-03-01T00:00:00Z", &error));
  g_auto(DemurWatchStream) stream = read_stream(workspace, 0);
  const DemurWatchPatient *a = &g_array_index(stream.patients, DemurWatchPatient, 0), *b = a + 1;
  g_assert_cmpfloat(a->label, ==, 1.0);
  g_assert_true(isnan(b->label));
  g_assert_false(a->pending);
  g_assert_false(b->pending);
}

/* A label's day is before its scan's: refused, and nothing is kept; on that day, or of a table without days, it is taken. */
static void
test_dated_labels(void) {
  demur_workspace_close(fresh());
  g_autoptr(GError) error = NULL;
  {
    g_autoptr(DemurWorkspace) workspace =
        demur_workspace_open(path, DEMUR_WORKSPACE_DEFAULT, &error);
    assess(workspace, "a b", "2026-01-10T00:00:00Z");
  }
  g_autofree char *table = g_build_filename(folder, "labels.csv", NULL);
  static const struct {
    const char *text;
    size_t n; /* labels kept; 0: refused */
  } tables[] = {{"scan_id,label,date\na,1,2026-01-04\nb,0,2026-01-06\n", 0},
                {"scan_id,label,date\na,1,2026-01-05\nb,0,\n", 2},
                {"scan_id,label\na,1\n", 1}};
  for (size_t t = 0; t < G_N_ELEMENTS(tables); t++) {
    g_auto(DemurTask) task = {.workspace_path = g_strdup(path), .user = g_strdup("u")};
    g_auto(DemurWatchLabelled) labelled = {0};
    g_assert_true(g_file_set_contents(table, tables[t].text, -1, NULL));
    const gboolean kept = demur_task_watch_labels(&task, table, NULL, FALSE, &labelled, &error);
    g_assert_cmpuint(kept ? labelled.n : 0, ==, tables[t].n);
    if (!kept) {
      g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
      g_assert_nonnull(strstr(error->message, "line 2: scan 'a' was made after"));
      g_clear_error(&error);
      g_autoptr(GHashTable) none =
          demur_watch_labels_load(demur_task_workspace(&task, NULL), NULL, NULL);
      g_assert_cmpuint(g_hash_table_size(none), ==, 0);
    }
  }
  g_unlink(table);
}

static const char *
upper(const char *text) {
  g_autofree char *capitals = g_ascii_strup(text, -1); /* a language that is easily seen */
  return g_intern_string(strchr(text, '%') == NULL ? capitals : text); /* no conversion of it */
}

/* An alarm of each signal says what changed, in the reader's language too, and not by the signal's code. */
static void
each_signal_of_the_watch_has_words(void) {
  for (guint s = 0; s < DEMUR_N_WATCH; s++) {
    g_autoptr(DemurReason) reason =
        demur_reason_new(DEMUR_REASON_WATCH, demur_watch_columns[s].name, "2026-11-29T10:00:00Z");
    reason->n = 3;
    g_autofree char *words = demur_words_reason(reason, NULL);
    g_autofree char *loud = demur_words_reason(reason, upper);
    g_assert_nonnull(strstr(words, " changed (alarm 3)"));
    g_assert_nonnull(strstr(loud, " CHANGED (alarm 3)"));
    /* the day as people write it, where there is a reader's language */
    g_assert_nonnull(strstr(words, "since 2026-11-29:"));
    g_assert_nonnull(strstr(loud, "NOVEMBER\u00a02026"));
    g_assert_null(strstr(loud, "2026-11-29"));
  }
}

/* O:E outside the agreed range from the first patient on has nobody before it, and is told; one patient before it, or few
 * with the outcome since, would be told of by it. */
static void
test_few(void) {
  g_autoptr(DemurWatchPlan) plan = demur_watch_plan_new();
  g_autoptr(GArray) patients = demur_watch_patients_new();
  for (guint i = 0; i < 3 * DEMUR_SMALL_CELL; i++) {
    const DemurWatchPatient one = {
        .when = g_strdup_printf("2026-05-%02u", i + 1), .score = 1.0, .label = i % 2};
    g_array_append_val(patients, one);
  }
  guint32 rows[3 * DEMUR_SMALL_CELL];
  for (guint32 i = 0; i < G_N_ELEMENTS(rows); i++)
    rows[i] = i;
  const DemurWatchState state = {.plan = plan, .patients = patients};
  const struct {
    size_t change;
    gboolean few;
  } cases[] = {{0, FALSE},
               {1, TRUE},
               {DEMUR_SMALL_CELL - 1, TRUE},
               {DEMUR_SMALL_CELL, FALSE},
               {DEMUR_SMALL_CELL + 1, TRUE}, /* nine with the outcome since */
               {2 * DEMUR_SMALL_CELL + 1, TRUE}};
  for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
    const DemurWatchSignalResult result = {.n = G_N_ELEMENTS(rows),
                                           .rows = rows,
                                           .change = cases[c].change,
                                           .n_since = G_N_ELEMENTS(rows) - cases[c].change};
    g_assert_cmpint(demur_watch_change_is_few(&state, DEMUR_WATCH_RANGE, &result), ==,
                    cases[c].few);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  folder = g_dir_make_tmp("demur-watch-XXXXXX", NULL);
  path = g_build_filename(folder, "workspace.demur", NULL);
  g_test_add_func("/tasks/watch/each-signal-has-words", each_signal_of_the_watch_has_words);
  g_test_add_func("/watch-stream/once", test_once_a_patient);
  g_test_add_func("/watch-stream/before", test_before);
  g_test_add_func("/watch-stream/corrected", test_corrected_and_removed);
  g_test_add_func("/watch-stream/persons", test_persons);
  g_test_add_func("/watch-stream/scored-later", test_scored_later);
  g_test_add_func("/watch-stream/restart", test_restart);
  g_test_add_func("/watch-stream/labels", test_labels);
  g_test_add_func("/watch/dated-labels", test_dated_labels);
  g_test_add_func("/watch-lines/few", test_few);
  const int failed = g_test_run();
  g_unlink(path);
  g_rmdir(folder);
  g_free(path);
  g_free(folder);
  return failed;
}
