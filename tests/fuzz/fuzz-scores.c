/* A table of scores, by the columns that every reader of scores goes through: a fault, or risks
 * from 0 to 1 and finite embeddings. */
#include <math.h>
#include <stdint.h>
#include <unistd.h>

#include "base/memory.h"
#include "cohort/score-columns.h"
#include "cohort/table.h"
#include "memory-file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_row(const DemurScoreRow *row, size_t n_classes, const double *probabilities,
          const float *embedding, size_t d) {
  if (n_classes == 2)
    g_assert_true(row->risk >= 0.0 && row->risk <= 1.0);
  for (size_t k = 0; n_classes > 2 && k < n_classes; k++)
    g_assert_true(probabilities[k] >= 0.0 && probabilities[k] <= 1.0);
  for (size_t y = 0; y < DEMUR_N_YEARS; y++)
    g_assert_true(isnan(row->years[y]) || (row->years[y] >= 0.0 && row->years[y] <= 1.0));
  for (size_t j = 0; j < d; j++)
    g_assert_true(isfinite(embedding[j]));
}

/* FALSE with error, or every row read. */
static gboolean
read_table(DemurTable *table, DemurScoreColumns *columns, GError **error) {
  const DemurTableField *fields;
  size_t n_header, n;
  if (!demur_table_next(table, &fields, &n_header, error) || n_header == 0)
    return FALSE;
  g_auto(GStrv) names = g_new0(char *, n_header + 1);
  for (size_t i = 0; i < n_header; i++) {
    gboolean taken;
    names[i] = g_strdup(fields[i].text);
    if (!demur_score_columns_take(columns, table, &fields[i], fields[i].text, i, &taken, error))
      return FALSE;
  }
  if (!demur_score_columns_check(columns, table, &fields[n_header - 1], DEMUR_N_YEARS, error))
    return FALSE;
  columns->names = (const char *const *)names;
  const size_t k = demur_score_columns_n_classes(columns), d = demur_score_columns_width(columns);
  g_autofree double *probabilities = g_new(double, k);
  g_autofree float *embedding = g_new(float, d + 1);
  while (demur_table_next(table, &fields, &n, error) && n > 0) {
    if (n != n_header)
      continue;
    g_auto(DemurTableFaults) faults;
    demur_table_faults_init(&faults, table);
    demur_table_faults_next_row(&faults);
    DemurScoreRow row;
    if (demur_score_columns_read(columns, fields, DEMUR_N_YEARS, &faults, &row, probabilities,
                                 embedding))
      check_row(&row, k, probabilities, embedding, d);
  }
  return TRUE;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int fd;
  g_autofree char *path = fuzz_memory_file(data, size, &fd);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurTable) table = demur_table_open(path, &error);
  g_auto(DemurScoreColumns) columns;
  demur_score_columns_init(&columns);
  if (table != NULL && !read_table(table, &columns, &error))
    g_clear_error(&error);
  close(fd);
  return 0;
}
