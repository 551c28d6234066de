/* Tables as they could come: for every reader twenty that look real (separator, quotes, line ends,
 * order of columns) and a hundred changes of each to what holds the text together: separators,
 * quotes, line ends, blanks, marks, encodings; rows cut, doubled or moved; columns doubled, dropped,
 * moved or renamed. The digits are never touched, and every value of a row follows from its number:
 * whatever is read must still belong together, or the table is refused whole and nothing of it
 * kept.
 *
 * test-cohort-mutations does the same for cohorts and their attributes; here are the tables of a
 * trial's persons and scores, of scores for DICOM series, and of labels sent back. */
#include <math.h>
#include <string.h>

#include <glib/gstdio.h>

#include "base/random.h"
#include "cohort/nlst.h"
#include "store/scores.h"
#include "store/series.h"
#include "support/folder.h"
#include "support/support.h"
#include "support/table-changes.h"
#include "tasks/label-table.h"
#include "tasks/scores-import.h"

#define N_BASES 20
#define N_ROWS 24
#define MAX_COLUMNS 8

static char *folder;

/* The text of row i: words[i % n_words], or the format with i * multiplier + offset. */
typedef struct {
  const char *name, *format;
  int multiplier, offset;
  const char *words[4];
  int n_words;
} Column;

typedef struct {
  const char *name;
  Column columns[MAX_COLUMNS];
  /* Reads the table at path. TRUE where it was taken, and then all of it belongs together. */
  gboolean (*read)(const char *path, GError **error);
} Kind;

static void
append_value(GString *text, const Column *column, int i) {
  if (column->n_words > 0)
    g_string_append(text, column->words[i % column->n_words]);
  else
    g_string_append_printf(text, "%s%d", column->format, i * column->multiplier + column->offset);
}

/* A table as rows of cells, which changes to its columns need. */
static GPtrArray *
make_cells(const Kind *kind, size_t base) {
  GPtrArray *rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
  int n_columns = 0;
  while (n_columns < MAX_COLUMNS && kind->columns[n_columns].name != NULL)
    n_columns++;
  for (int i = -1; i < N_ROWS; i++) {
    GPtrArray *cells = g_ptr_array_new_with_free_func(g_free);
    for (int k = 0; k < n_columns; k++) {
      const Column *column = &kind->columns[base % 2 == 0 ? k : n_columns - 1 - k];
      g_autoptr(GString) text = g_string_new(i < 0 ? column->name : NULL);
      if (i >= 0)
        append_value(text, column, i);
      g_ptr_array_add(cells, g_strdup(text->str));
    }
    g_ptr_array_add(rows, cells);
  }
  return rows;
}

static GString *
write_cells(const GPtrArray *rows, size_t base) {
  static const char separators[] = ",;\t";
  static const char *const ends[] = {"\n", "\r\n", "\r"};
  const char separator = separators[base % 3];
  const char *end = ends[base / 3 % 3];
  const gboolean quoted = base % 4 == 1;
  GString *text = g_string_new(base % 7 == 3 ? "\xef\xbb\xbf" : NULL);
  if (base % 6 == 5)
    g_string_append_printf(text, "sep=%c%s", separator, end);
  for (guint r = 0; r < rows->len; r++) {
    const GPtrArray *cells = rows->pdata[r];
    for (guint k = 0; k < cells->len; k++) {
      if (k > 0)
        g_string_append_c(text, separator);
      g_string_append_printf(text, quoted ? "\"%s\"" : "%s", (const char *)cells->pdata[k]);
    }
    g_string_append(text, end);
  }
  return text;
}

/* One column twice, gone, elsewhere, or under another name. */
static void
change_columns(GPtrArray *rows, DemurRandom *random) {
  const guint n = ((const GPtrArray *)rows->pdata[0])->len;
  const guint from = (guint)demur_random_below(random, n),
              to = (guint)demur_random_below(random, n);
  const guint64 what = demur_random_below(random, 4);
  for (guint r = 0; r < rows->len; r++) {
    GPtrArray *cells = rows->pdata[r];
    char *cell = g_strdup(cells->pdata[from]);
    if (what == 1 || what == 2)
      g_ptr_array_remove_index(cells, from);
    if (what == 0 || what == 2)
      g_ptr_array_insert(cells, (gint)MIN(to, cells->len), g_steal_pointer(&cell));
    if (what == 3 && r == 0) {
      g_free(cells->pdata[from]);
      cells->pdata[from] = demur_random_below(random, 2) == 0 ? g_ascii_strup(cell, -1)
                                                              : g_strconcat(cell, " ", NULL);
    }
    g_free(cell);
  }
}

static char *
path_of(const char *name) {
  return g_build_filename(folder, name, NULL);
}

static char *
write_table(const char *name, const GString *text) {
  g_autoptr(GError) error = NULL;
  char *path = path_of(name);
  g_unlink(path);
  g_file_set_contents_full(path, text->str, (gssize)text->len, G_FILE_SET_CONTENTS_NONE, 0600,
                           &error);
  g_assert_no_error(error);
  return path;
}

/* The row that an identifier of offset + i is of. */
static int
row_of(const char *text, int offset) {
  const int i = demur_test_number_in(text) - offset;
  g_assert_cmpint(i, >=, 0);
  g_assert_cmpint(i, <, N_ROWS);
  return i;
}

/* Whether it was told that the last row may be cut: then nothing can be known of it. */
static gboolean
is_open(const GPtrArray *warnings) {
  for (guint w = 0; w < warnings->len; w++)
    if (((const DemurTableWarning *)warnings->pdata[w])->kind == DEMUR_TABLE_ENDS_OPEN)
      return TRUE;
  return FALSE;
}

/* A trial: person 100 + i of hospital i % 3 was screened on days i and 400 + i and, where i is a
 * multiple of four, had cancer on day 500 + i; of each only the score of one screen is there. */
static void
assert_trial_together(const DemurCohort *cohort, const GPtrArray *warnings) {
  /* A cut last line of the one table is a row anywhere in the cohort. */
  if (is_open(warnings))
    return;
  for (size_t s = 0; s < cohort->n_scans; s++) {
    const int i = row_of(cohort->patient_ids[cohort->patients[s]], 100);
    if (cohort->n_sites > 1) /* the public table has no column cen: one site then, and told */
      g_assert_cmpint(demur_test_number_in(cohort->site_names[cohort->sites[s]]), ==, i % 3);
    g_assert_cmpfloat(fabs(cohort->risks[s] - (double)(100 + i) / 1000.0), <, 1e-12);
    if (cohort->labels[s] != DEMUR_NO_LABEL)
      g_assert_cmpint(cohort->labels[s], ==, i % 4 == 0 ? 1 : 0);
    g_assert_cmpint(cohort->scan_ids[s][strlen(cohort->scan_ids[s]) - 1] - '0', ==, i % 2);
    if (cohort->embedding_width > 0)
      g_assert_cmpfloat(cohort->embeddings[s * cohort->embedding_width], ==, (float)(1000 + i));
  }
}

static gboolean
read_trial(const char *persons, const char *scores, GError **error) {
  const DemurNlstOptions options = {.name = "c", .model = "m", .horizon_years = 6, .split = "test"};
  DemurNlstCounts counts;
  g_autoptr(GPtrArray) warnings = NULL;
  g_autoptr(DemurCohort) cohort =
      demur_cohort_import_nlst(persons, scores, &options, NULL, &counts, &warnings, error);
  if (cohort != NULL)
    assert_trial_together(cohort, warnings);
  return cohort != NULL;
}

static gboolean
read_persons(const char *path, GError **error) {
  g_autofree char *scores = path_of("sound-scores.csv");
  return read_trial(path, scores, error);
}

static gboolean
read_trial_scores(const char *path, GError **error) {
  g_autofree char *persons = path_of("sound-persons.csv");
  return read_trial(persons, path, error);
}

/* Scores of the series 1.2.(700 + i) of patient P(700 + i), joined by the scan's identifier. */
static gboolean
read_series_scores(const char *path, GError **error) {
  g_auto(DemurTask) task = {.workspace_path = path_of("w.demur"), .seed = 1};
  DemurWorkspace *workspace = demur_task_workspace(&task, error);
  g_assert_nonnull(workspace);
  const DemurScoresImportParams params = {.path = path, .model = "m", .replace = TRUE};
  g_autoptr(GPtrArray) before = demur_scores_list(workspace, NULL, NULL, error);
  g_autoptr(DemurScoresImported) imported = demur_task_scores_import(&task, &params, error);
  g_autoptr(GPtrArray) after = demur_scores_list(workspace, NULL, NULL, NULL);
  if (imported == NULL) {
    g_assert_cmpuint(after->len, ==, before->len); /* nothing half imported */
    return FALSE;
  }
  const gboolean open = is_open(imported->warnings);
  for (guint k = 0; k < after->len; k++) {
    const DemurScoreRecord *score = after->pdata[k];
    const int i = row_of(score->scan_id + strlen("1.2."), 700);
    if (open)
      continue;
    static const int years[] = {1, 6}, offsets[] = {10, 100};
    for (int y = 0; y < 2; y++) { /* a column may be gone */
      const double risk = score->yearly_risks[years[y] - 1];
      if (!isnan(risk))
        g_assert_cmpfloat(fabs(risk - (double)(offsets[y] + i) / 1000.0), <, 1e-12);
    }
  }
  if (open) { /* what a cut row brought does not stand for the next table */
    for (guint k = 0; k < imported->scan_ids->len; k++)
      g_assert_cmpint(row_of((char *)imported->scan_ids->pdata[k] + strlen("1.2."), 700), >=, 0);
    g_autofree char *sound = path_of("sound-series.csv");
    const DemurScoresImportParams again = {.path = sound, .model = "m", .replace = TRUE};
    g_autoptr(DemurScoresImported) whole = demur_task_scores_import(&task, &again, error);
    g_assert_nonnull(whole);
  }
  return TRUE;
}

static gboolean
read_labels(const char *path, GError **error) {
  g_autoptr(GPtrArray) warnings =
      g_ptr_array_new_with_free_func((GDestroyNotify)demur_table_warning_free);
  g_autoptr(GPtrArray) sites =
      demur_label_table_read_sites(path, NULL, "2026-01-31T12:00:00Z", warnings, error);
  for (guint s = 0; sites != NULL && s < sites->len && !is_open(warnings); s++) {
    const GArray *labels = sites->pdata[s];
    for (guint k = 0; k < labels->len; k++) {
      const DemurLabel *label = &g_array_index(labels, DemurLabel, k);
      const int i = row_of(label->scan_id, 300);
      if (label->patient_id != NULL)
        g_assert_cmpint(demur_test_number_in(label->patient_id), ==, 500 + i);
      g_assert_cmpint(demur_test_number_in(label->site), ==, i % 3);
      if (!isnan(label->label))
        g_assert_cmpfloat(label->label, ==, i % 2);
    }
  }
  return sites != NULL;
}

static const Kind kinds[] = {
    {"persons of a trial",
     {{"pid", "", 1, 100, {0}, 0},
      {"cen", NULL, 0, 0, {"Klinik 0", "Klinik 1", "Klinik 2"}, 3},
      {"scr_days0", "", 1, 0, {0}, 0},
      {"scr_days1", "", 1, 400, {0}, 0},
      {"candx_days", NULL, 0, 0, {"520", "", "", ""}, 4},
      {"fup_days", "", 1, 3000, {0}, 0}},
     read_persons},
    {"scores of a trial",
     {{"pid", "", 1, 100, {0}, 0},
      {"study_yr", NULL, 0, 0, {"0", "1"}, 2},
      {"risk", "0.", 1, 100, {0}, 0},
      {"emb_0", "", 1, 1000, {0}, 0}},
     read_trial_scores},
    {"scores of series",
     {{"scan_id", "1.2.", 1, 700, {0}, 0},
      {"patient_id", "P", 1, 700, {0}, 0},
      {"risk_year_1", "0.0", 1, 10, {0}, 0},
      {"risk_year_6", "0.", 1, 100, {0}, 0}},
     read_series_scores},
    {"labels",
     {{"scan_id", "S", 1, 300, {0}, 0},
      {"patient_id", "P", 1, 500, {0}, 0},
      {"site", NULL, 0, 0, {"Klinik 0", "Klinik 1", "Klinik 2"}, 3},
      {"label", NULL, 0, 0, {"0", "1"}, 2}},
     read_labels},
};

/* What the readers join their table with. */
static void
make_sound(void) {
  static const char *const names[] = {"sound-persons.csv", "sound-scores.csv", "sound-series.csv"};
  for (size_t k = 0; k < G_N_ELEMENTS(names); k++) {
    g_autoptr(GPtrArray) rows = make_cells(&kinds[k], 0);
    g_autoptr(GString) text = write_cells(rows, 0);
    g_free(write_table(names[k], text));
  }
  g_autoptr(GError) error = NULL;
  g_autofree char *path = path_of("w.demur");
  g_autoptr(DemurWorkspace) workspace = demur_workspace_open(path, DEMUR_WORKSPACE_CREATE, &error);
  g_assert_no_error(error);
  for (int i = 0; i < N_ROWS; i++) {
    g_autofree char *scan_id = g_strdup_printf("1.2.%d", 700 + i);
    g_autofree char *patient = g_strdup_printf("P%d", 700 + i);
    const DemurSeriesRecord record = {.scan_id = scan_id,
                                      .series_uid = scan_id,
                                      .patient_id = patient,
                                      .type = (char *)"volume",
                                      .site = (char *)"A",
                                      .images_digest = scan_id,
                                      .eligible = TRUE,
                                      .accepted = TRUE,
                                      .created = (char *)"2026"};
    const DemurSeriesSave save = {&record, NULL, 0};
    g_assert_true(demur_series_save(workspace, &save, 1, &error));
  }
}

static gboolean
try_text(const Kind *kind, const GString *text) {
  g_autoptr(GError) error = NULL;
  g_autofree char *path = write_table("table.csv", text);
  const gboolean taken = kind->read(path, &error);
  g_assert_true(taken == (error == NULL));
  if (!taken)
    g_assert_true(g_utf8_validate(error->message, -1, NULL));
  return taken;
}

static void
test_kind(gconstpointer data) {
  const Kind *kind = data;
  const size_t number = (size_t)(kind - kinds);
  const size_t n_changes = demur_test_repeats(100, 100);
  size_t n_read = 0, n_refused = 0;
  for (size_t b = 0; b < N_BASES; b++) {
    g_autoptr(GPtrArray) whole = make_cells(kind, b);
    g_autoptr(GString) base = write_cells(whole, b);
    g_assert_true(try_text(kind, base)); /* each of them is sound */
    for (size_t c = 0; c < n_changes; c++) {
      DemurRandom random = demur_random_stream(1, DEMUR_STREAM_TEST, 1000 + number, b, c);
      g_autoptr(GPtrArray) rows = make_cells(kind, b);
      if (c % 5 == 0)
        change_columns(rows, &random);
      g_autoptr(GString) text = write_cells(rows, b);
      const guint64 n =
          c % 5 == 0 ? demur_random_below(&random, 2) : 1 + demur_random_below(&random, 3);
      for (guint64 k = 0; k < n && text->len > 0; k++)
        (demur_random_below(&random, 8) == 0 ? demur_test_change_encoding
                                             : demur_test_change_text)(text, &random);
      *(try_text(kind, text) ? &n_read : &n_refused) += 1;
    }
  }
  g_test_message("%s: %zu read, %zu refused", kind->name, n_read, n_refused);
  g_assert_cmpuint(n_read + n_refused, ==, N_BASES * n_changes);
  g_assert_cmpuint(n_read, >, 2 * n_changes);
  g_assert_cmpuint(n_refused, >, 3 * n_changes);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  folder = g_dir_make_tmp("demur-mutations-XXXXXX", NULL);
  make_sound();
  for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++) {
    g_autofree char *path = g_strdup_printf("/tables/mutations/%s", kinds[k].name);
    g_test_add_data_func(g_strdelimit(path, " ", '-'), &kinds[k], test_kind);
  }
  const int status = g_test_run();
  demur_test_remove_folder(folder);
  g_free(folder);
  return status;
}
