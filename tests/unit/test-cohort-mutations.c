/* Two thousand tables as they could come: twenty that look real (separator, quotes, line ends,
 * column order, yearly risks, classes, an attribute's table) and a hundred changes of each to what
 * holds the text together: separators, quotes, line ends, blanks, marks, rows cut, doubled or
 * moved. The digits themselves are never touched, and every value of a row follows from its number:
 * whatever is read must still belong together, or the table is refused whole. */
#include <math.h>
#include <string.h>

#include <glib/gstdio.h>

#include "base/random.h"
#include "cohort/import.h"
#include "support/support.h"
#include "support/table-changes.h"

#define N_BASES 20
#define N_ROWS 24

static char *table_path, *cohort_path;

static void
write_text(const char *path, const GString *text) {
  g_autoptr(GError) error = NULL;
  g_unlink(path);
  g_file_set_contents_full(path, text->str, (gssize)text->len, G_FILE_SET_CONTENTS_NONE, 0600,
                           &error);
  g_assert_no_error(error);
}

typedef enum { PATIENT, SCAN, SITE, SPLIT, LABEL, RISK, YEAR, EMB_0, EMB_1, AGE, N_COLUMNS } Column;

static const char *const names[N_COLUMNS] = {"patient_id", "scan_id",     "site",  "split", "label",
                                             "risk",       "risk_year_1", "emb_0", "emb_1", "age"};

/* The text of row i in a column: everything follows from i. */
static void
append_value(GString *text, Column column, int i) {
  switch (column) {
  case PATIENT:
    g_string_append_printf(text, "P%03d", i);
    return;
  case SCAN:
    g_string_append_printf(text, "S%03d", i);
    return;
  case SITE:
    g_string_append_printf(text, "Klinik %d", i % 3);
    return;
  case SPLIT:
    g_string_append(text, i % 2 == 0 ? "selector_train" : "test");
    return;
  case LABEL:
    g_string_append_printf(text, "%d", i % 2);
    return;
  case RISK:
    g_string_append_printf(text, "0.%03d", 100 + i);
    return;
  case YEAR:
    g_string_append_printf(text, "0.0%02d", i);
    return;
  case EMB_0:
    g_string_append_printf(text, "%d.25", i);
    return;
  case EMB_1:
    g_string_append_printf(text, "%d.75", 1000 + i);
    return;
  default:
    g_string_append_printf(text, "%d", 40 + i);
  }
}

/* Base b: of a cohort, or (b % 5 == 4) a table of attributes by patient. */
static GString *
make_base(size_t b) {
  static const char separators[] = ",;\t";
  static const char *const ends[] = {"\n", "\r\n", "\r"};
  const char separator = separators[b % 3];
  const char *end = ends[b / 3 % 3];
  const gboolean quoted = b % 4 == 1, is_attributes = b % 5 == 4;
  GString *text = g_string_new(b % 7 == 3 ? "\xef\xbb\xbf" : NULL);
  if (b % 6 == 5)
    g_string_append_printf(text, "sep=%c%s", separator, end);
  for (int i = -1; i < N_ROWS; i++) {
    gboolean first = TRUE;
    for (int k = 0; k < N_COLUMNS; k++) {
      const Column column = (Column)(b % 2 == 0 ? k : N_COLUMNS - 1 - k);
      if ((is_attributes && column != PATIENT && column != AGE) || (b % 8 == 2 && column == YEAR))
        continue;
      if (!first)
        g_string_append_c(text, separator);
      first = FALSE;
      if (quoted)
        g_string_append_c(text, '"');
      if (i < 0)
        g_string_append(text, names[column]);
      else
        append_value(text, column, i);
      if (quoted)
        g_string_append_c(text, '"');
    }
    g_string_append(text, end);
  }
  return text;
}

/* Everything that the cohort says of its first n scans follows from the number of the scan. */
static void
assert_together(const DemurCohort *cohort, size_t n) {
  for (size_t s = 0; s < n; s++) {
    const int i = demur_test_number_in(cohort->scan_ids[s]);
    g_assert_cmpint(i, >=, 0);
    g_assert_cmpint(i, <, N_ROWS);
    g_assert_cmpint(demur_test_number_in(cohort->patient_ids[cohort->patients[s]]), ==, i);
    g_assert_cmpint(demur_test_number_in(cohort->site_names[cohort->sites[s]]), ==, i % 3);
    g_assert_true(strchr(cohort->split_names[cohort->splits[s]], i % 2 == 0 ? 'c' : 'e') != NULL);
    if (cohort->labels[s] != DEMUR_NO_LABEL)
      g_assert_cmpint(cohort->labels[s], ==, i % 2);
    g_assert_cmpfloat(fabs(cohort->risks[s] - (100 + i) / 1000.0), <, 1e-12);
    if (cohort->yearly_risks != NULL && !isnan(cohort->yearly_risks[s * DEMUR_N_YEARS]))
      g_assert_cmpfloat(fabs(cohort->yearly_risks[s * DEMUR_N_YEARS] - i / 1000.0), <, 1e-12);
    const size_t d = cohort->embedding_width;
    if (d > 0)
      g_assert_cmpfloat(cohort->embeddings[s * d], ==, (float)i + 0.25f);
    if (d > 1)
      g_assert_cmpfloat(cohort->embeddings[s * d + 1], ==, (float)i + 1000.75f);
  }
}

static DemurCohort *
import(const char *path, GPtrArray **warnings, GError **error) {
  const DemurImportOptions options = {.name = "c", .model = "m"};
  return demur_cohort_import(path, &options, NULL, warnings, error);
}

/* Whether it was told that the last row may be cut. */
static gboolean
is_open(const GPtrArray *warnings) {
  for (guint w = 0; w < warnings->len; w++)
    if (((const DemurTableWarning *)warnings->pdata[w])->kind == DEMUR_TABLE_ENDS_OPEN)
      return TRUE;
  return FALSE;
}

/* Reads the text as what base b is; TRUE where it was read, and then all belongs together. */
static gboolean
try_text(const GString *text, size_t b, DemurCohort *of_attributes) {
  write_text(table_path, text);
  g_autoptr(GError) error = NULL;
  if (b % 5 == 4) {
    g_autoptr(DemurAttached) attached = demur_cohort_attach_table(
        of_attributes, table_path, "patient_id", NULL, NULL, NULL, &error);
    g_assert_true((attached == NULL) == (error != NULL));
    const gboolean cut = attached != NULL && is_open(attached->warnings);
    for (size_t s = 0; attached != NULL && !cut && s < of_attributes->n_scans; s++) {
      const char *age = attached->attributes[0].values[attached->attributes[0].codes[s]];
      if (demur_test_number_in(age) >= 0)
        g_assert_cmpint(demur_test_number_in(age), ==, 40 + (int)s);
    }
    return attached != NULL;
  }
  g_autoptr(GPtrArray) warnings = NULL;
  g_autoptr(DemurCohort) cohort = import(table_path, &warnings, &error);
  g_assert_true((cohort == NULL) == (error != NULL));
  if (cohort != NULL)
    assert_together(cohort, cohort->n_scans - (is_open(warnings) ? 1 : 0));
  else
    g_assert_true(g_utf8_validate(error->message, -1, NULL));
  return cohort != NULL;
}

static void
test_never_a_wrong_join(void) {
  g_autoptr(GString) whole = make_base(0);
  write_text(cohort_path, whole);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurCohort) of_attributes = import(cohort_path, NULL, &error);
  g_assert_no_error(error);
  const size_t n_changes = demur_test_repeats(100, 100);
  size_t n_read = 0, n_refused = 0;
  for (size_t b = 0; b < N_BASES; b++) {
    g_autoptr(GString) base = make_base(b);
    g_assert_true(try_text(base, b, of_attributes)); /* each of them is sound */
    for (size_t c = 0; c < n_changes; c++) {
      DemurRandom random = demur_random_stream(1, DEMUR_STREAM_TEST, b, c, 0);
      g_autoptr(GString) text = g_string_new_len(base->str, (gssize)base->len);
      const guint64 n = 1 + demur_random_below(&random, 3);
      for (guint64 k = 0; k < n && text->len > 0; k++)
        demur_test_change_text(text, &random);
      *(try_text(text, b, of_attributes) ? &n_read : &n_refused) += 1;
    }
  }
  g_test_message("%zu read, %zu refused", n_read, n_refused);
  g_assert_cmpuint(n_read + n_refused, ==, N_BASES * n_changes);
  g_assert_cmpuint(n_read, >, 3 * n_changes);
  g_assert_cmpuint(n_refused, >, 3 * n_changes);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_autofree char *folder = g_dir_make_tmp("demur-mutations-XXXXXX", NULL);
  table_path = g_build_filename(folder, "table.csv", NULL);
  cohort_path = g_build_filename(folder, "cohort.csv", NULL);
  g_test_add_func("/cohort/mutations/never-a-wrong-join", test_never_a_wrong_join);
  const int status = g_test_run();
  g_unlink(table_path);
  g_unlink(cohort_path);
  g_rmdir(folder);
  g_free(table_path);
  g_free(cohort_path);
  return status;
}
