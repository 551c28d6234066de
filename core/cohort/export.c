#include "cohort/export.h"

#include <math.h>
#include <string.h>

#include "base/csv-field.h"
#include "base/number.h"
#include "cohort/columns.h"

#define ROWS_A_STEP 1024

static void
append_double(GString *line, double value) {
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append(line, demur_number_format(value, buffer));
}

/* The shortest decimal that reads back as this float, by way of a double as the reader does. Values
 * of ordinary size go by m / 10^k with whole m < 10^9, which a double divides correctly rounded;
 * the rest by trying more and more digits. */
static void
append_float(GString *line, float value) {
  static const double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  if (value == 0.0f) {
    g_string_append(line, signbit(value) ? "-0" : "0");
    return;
  }
  const double magnitude = fabs((double)value);
  if (magnitude >= 1e-5 && magnitude < 1e5) {
    const int exponent = (int)floor(log10(magnitude)); /* -5 .. 4 */
    for (int digits = 6; digits <= 9; digits++) {
      int k = digits - 1 - exponent; /* 1 .. 13 */
      guint64 m = (guint64)llround(magnitude * powers[k]);
      if ((float)((double)m / powers[k]) != (float)magnitude)
        continue;
      while (k > 0 && m % 10 == 0)
        m /= 10, k--;
      if (value < 0.0f)
        g_string_append_c(line, '-');
      char text[32];
      int at = (int)sizeof text;
      for (int i = 0; i < k; i++, m /= 10)
        text[--at] = (char)('0' + m % 10);
      if (k > 0)
        text[--at] = '.';
      do {
        text[--at] = (char)('0' + m % 10);
        m /= 10;
      } while (m > 0);
      g_string_append_len(line, text + at, (gssize)sizeof text - at);
      return;
    }
  }
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  for (int digits = 6; digits <= 17; digits++) {
    char format[8];
    g_snprintf(format, sizeof format, "%%.%dg", digits);
    g_ascii_formatd(buffer, sizeof buffer, format, (double)value);
    if ((float)g_ascii_strtod(buffer, NULL) == value)
      break;
  }
  g_string_append(line, buffer);
}

/* Attributes stand before the embedding, which is long. */
#define ATTRIBUTES_BEFORE DEMUR_COHORT_EMBEDDING

static void
append_attribute_header(GString *line, const DemurCohort *cohort) {
  for (size_t a = 0; a < cohort->n_attributes; a++) {
    g_string_append_c(line, ',');
    demur_csv_append(line, cohort->attributes[a].name);
  }
  if (cohort->simulated)
    g_string_append(line, "," DEMUR_COLUMN_SIMULATED);
}

static void
append_header(GString *line, const DemurCohort *cohort) {
  for (size_t c = 0; c < DEMUR_N_COHORT_COLUMNS; c++) {
    const DemurCohortColumn *column = &demur_cohort_columns[c];
    if (c == ATTRIBUTES_BEFORE)
      append_attribute_header(line, cohort);
    if (demur_cohort_column_data(cohort, column) == NULL)
      continue;
    const size_t width = demur_cohort_column_width(cohort, column);
    for (size_t k = 0; k < width; k++) {
      g_string_append_printf(line, "%s%s", line->len > 0 ? "," : "", column->header);
      if (column->width != DEMUR_CELL_ONE)
        g_string_append_printf(line, "%zu", k + (size_t)column->first_number);
    }
  }
  g_string_append_c(line, '\n');
}

/* What scan i has in the column. */
static void
append_cell(GString *line, const DemurCohort *cohort, const DemurCohortColumn *column, size_t i) {
  const void *data = demur_cohort_column_data(cohort, column);
  const size_t width = demur_cohort_column_width(cohort, column);
  for (size_t k = i * width; k < (i + 1) * width; k++) {
    if (column != demur_cohort_columns)
      g_string_append_c(line, ',');
    switch (column->type) {
    case DEMUR_CELL_TEXT:
      demur_csv_append(line, ((char *const *)data)[k]);
      break;
    case DEMUR_CELL_CODE:
      demur_csv_append(line, demur_cohort_column_text(cohort, column, k));
      break;
    case DEMUR_CELL_LABEL:
      if (((const gint32 *)data)[k] != DEMUR_NO_LABEL)
        g_string_append_printf(line, "%d", ((const gint32 *)data)[k]);
      break;
    case DEMUR_CELL_DOUBLE:
      if (!isnan(((const double *)data)[k]))
        append_double(line, ((const double *)data)[k]);
      break;
    case DEMUR_CELL_FLOAT:
      append_float(line, ((const float *)data)[k]);
      break;
    }
  }
}

static void
append_row(GString *line, const DemurCohort *cohort, size_t i) {
  for (size_t c = 0; c < DEMUR_N_COHORT_COLUMNS; c++) {
    if (c == ATTRIBUTES_BEFORE) {
      for (size_t a = 0; a < cohort->n_attributes; a++) {
        g_string_append_c(line, ',');
        demur_csv_append(line, demur_cohort_attribute_text(cohort, a, i));
      }
      if (cohort->simulated)
        g_string_append(line, ",yes");
    }
    if (demur_cohort_column_data(cohort, &demur_cohort_columns[c]) != NULL)
      append_cell(line, cohort, &demur_cohort_columns[c], i);
  }
  g_string_append_c(line, '\n');
}

DemurFileOutput *
demur_cohort_export_finish(const DemurCohort *cohort, const char *path,
                           const DemurProgress *progress, GError **error) {
  g_autoptr(DemurFileOutput) output = demur_file_output_open(path, DEMUR_FILE_REPLACE, error);
  if (output == NULL)
    return NULL;
  g_autoptr(GString) text = g_string_new(NULL);
  append_header(text, cohort);
  for (size_t i = 0; i < cohort->n_scans; i++) {
    append_row(text, cohort, i);
    if (i % ROWS_A_STEP != 0 && i + 1 != cohort->n_scans)
      continue;
    if (!demur_progress_step(progress, (double)i / (double)cohort->n_scans, "writing scans",
                             error) ||
        !demur_file_output_write(output, text->str, text->len, error))
      return NULL;
    g_string_truncate(text, 0);
  }
  return demur_file_output_finish(output, error) ? g_steal_pointer(&output) : NULL;
}

gboolean
demur_cohort_export(const DemurCohort *cohort, const char *path, const DemurProgress *progress,
                    GError **error) {
  g_autoptr(DemurFileOutput) output = demur_cohort_export_finish(cohort, path, progress, error);
  return output != NULL && demur_file_output_commit(output, error);
}
