/* The columns of a model's output: one header, one answer, whichever table it stands in. Right
 * values are the contract's: numbers without gaps, without zeros in front, years from 1 to 6. */
#include <string.h>

#include <glib/gstdio.h>

#include "base/error.h"
#include "cohort/import.h"
#include "cohort/nlst.h"
#include "cohort/columns.h"
#include "support/support.h"

static char *folder;

static char *
write_table(const char *name, const char *text) {
  char *path = g_build_filename(folder, name, NULL);
  g_autoptr(GError) error = NULL;
  g_unlink(path);
  g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_NONE, 0600, &error);
  g_assert_no_error(error);
  return path;
}

/* NULL where the header is refused, with its message. */
static DemurCohort *
read_cohort(const char *columns, const char *values, GError **error) {
  g_autofree char *text =
      g_strdup_printf("patient_id,site,split,label,%s\np1,A,train,0,%s\n", columns, values);
  g_autofree char *path = write_table("cohort.csv", text);
  const DemurImportOptions options = {.name = "c"};
  return demur_cohort_import(path, &options, NULL, NULL, error);
}

static DemurCohort *
read_nlst(const char *columns, const char *values, GError **error) {
  g_autofree char *text = g_strdup_printf("pid,study_yr,%s\np1,0,%s\n", columns, values);
  g_autofree char *persons =
      write_table("persons.csv", "pid,cen,scr_days0,candx_days,fup_days\np1,A,0,,3000\n");
  g_autofree char *scores = write_table("scores.csv", text);
  const DemurNlstOptions options = {.name = "c", .horizon_years = DEMUR_N_YEARS};
  DemurNlstCounts counts;
  return demur_cohort_import_nlst(persons, scores, &options, NULL, &counts, NULL, error);
}

static DemurCohort *(*const readers[])(const char *, const char *, GError **) = {read_cohort,
                                                                                 read_nlst};

static void
test_one_answer(void) {
  static const struct {
    const char *columns, *values;
    const char *refused; /* a part of the message; NULL: read */
    size_t width;
  } cases[] = {
      {"risk,emb_0,emb_1", "0.5,1,2", NULL, 2},
      {"risk,emb_1,emb_0", "0.5,1,2", NULL, 2},
      {"risk_year_6", "0.5", NULL, 0},
      {"prob_0,prob_1", "0.5,0.5", NULL, 0},
      {"risk,emb_0,emb_00", "0.5,1,2", "emb_00", 0},
      {"risk,emb_0,emb_01", "0.5,1,2", "emb_01", 0},
      {"risk,emb_00", "0.5,1", "emb_00", 0},
      {"risk,Emb_0", "0.5,1", "Emb_0", 0},
      {"risk,embedding_0,embedding_1", "0.5,1,2", "embedding_0", 0},
      {"risk,Embeddings 1", "0.5,1", "Embeddings 1", 0},
      {"risk,embedding12", "0.5,1", "embedding12", 0},
      {"risk,EMB-0", "0.5,1", "EMB-0", 0},
      {"risk,emb_1", "0.5,1", "emb_0 is missing", 0},
      {"risk_year_06", "0.5", "risk_year_06", 0},
      {"risk,risk_year_06", "0.5,0.5", "risk_year_06", 0},
      {"risk,risk_year_0", "0.5,0.5", "numbered from 1", 0},
      {"risk,risk_year_7", "0.5,0.5", "risk_year_7", 0},
      {"risk,Risk Year 6", "0.5,0.5", "Risk Year 6", 0},
      {"risk,prob_00,prob_1", "0.5,0.5,0.5", "prob_00", 0},
      {"prob_1", "0.5", "prob_0 is missing", 0},
      {"risk,risk", "0.5,0.5", "column risk stands twice", 0},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
    for (size_t r = 0; r < G_N_ELEMENTS(readers); r++) {
      g_test_message("%s, reader %zu", cases[i].columns, r);
      g_autoptr(GError) error = NULL;
      g_autoptr(DemurCohort) cohort = readers[r](cases[i].columns, cases[i].values, &error);
      if (cases[i].refused == NULL) {
        g_assert_no_error(error);
        g_assert_cmpfloat(cohort->risks[0], ==, 0.5);
        g_assert_cmpuint(cohort->embedding_width, ==, cases[i].width);
        g_assert_cmpuint(cohort->n_attributes, <=, 3); /* what NLST adds, and no score */
        continue;
      }
      g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
      g_assert_nonnull(strstr(error->message, ": line 1, column "));
      g_assert_nonnull(strstr(error->message, cases[i].refused));
    }
}

/* One fault of a row, one wording and one place, whichever table. */
static void
test_one_grammar(void) {
  static const struct {
    const char *columns, *values, *says;
  } cases[] = {
      {"risk", "2", "(risk): 2 is not between 0 and 1; give a probability"},
      {"risk", "high", "(risk): this text is not a finite number"},
      {"risk,risk_year_6", "0.5,0.25", "(risk_year_6): it differs from risk in the same row"},
      {"prob_0,prob_1", "0.5,0.25", "(prob_..): the probabilities sum to 0.75"},
      {"risk,emb_0", "0.5,x", "(emb_0): this text is not a finite float"},
      {"risk_year_6", "", "(risk_year_6): nothing stands here"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
    for (size_t r = 0; r < G_N_ELEMENTS(readers); r++) {
      g_autoptr(GError) error = NULL;
      g_assert_null(readers[r](cases[i].columns, cases[i].values, &error));
      g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
      g_assert_nonnull(
          strstr(error->message, "1 row refused, nothing imported:\n  line 2, column"));
      if (strstr(error->message, cases[i].says) == NULL)
        g_error("%s lacks %s", error->message, cases[i].says);
    }
}

/* Law of the table of columns: every name once, every place within the structure, and what a table
 * calls a column is a cohort's own. */
static void
test_table_of_columns(void) {
  for (size_t a = 0; a < DEMUR_N_COHORT_COLUMNS; a++) {
    const DemurCohortColumn *column = &demur_cohort_columns[a];
    g_assert_nonnull(column->name);
    g_assert_cmpuint(column->array, <, sizeof(DemurCohort));
    g_assert_true(demur_cohort_column_is_own(column->header));
    for (size_t b = 0; b < a; b++) {
      g_assert_cmpstr(column->name, !=, demur_cohort_columns[b].name);
      g_assert_cmpuint(column->array, !=, demur_cohort_columns[b].array);
    }
  }
  g_assert_false(demur_cohort_column_is_own("sex"));
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  folder = g_dir_make_tmp("demur-scores-XXXXXX", NULL);
  g_test_add_func("/cohort/score-columns/one-answer", test_one_answer);
  g_test_add_func("/cohort/score-columns/one-grammar", test_one_grammar);
  g_test_add_func("/cohort/columns/table", test_table_of_columns);
  const int status = g_test_run();
  static const char *const files[] = {"cohort.csv", "persons.csv", "scores.csv"};
  for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
    g_autofree char *path = g_build_filename(folder, files[i], NULL);
    g_unlink(path);
  }
  g_rmdir(folder);
  g_free(folder);
  return status;
}
