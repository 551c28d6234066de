#include "tasks/file-look.h"

#include <string.h>

#include "base/error.h"
#include "base/file-input.h"
#include "cohort/columns.h"
#include "cohort/table-header.h"
#include "cohort/table-source.h"
#include "cohort/table.h"
#include "store/workspace.h"

#define FIRST_BYTES 4096
#define SELECTOR_MARK "\"demur-selector" /* and of a family "demur-selector-family" */

void
demur_file_look_free(DemurFileLook *look) {
  if (look == NULL)
    return;
  g_strfreev(look->columns);
  for (size_t r = 0; r < look->n_rows; r++)
    g_strfreev(look->rows[r]);
  g_free(look);
}

/* The first bytes of a file, with a NUL behind them. */
static gboolean
read_begin(const char *path, char bytes[FIRST_BYTES + 1], size_t *n, GError **error) {
  if (!demur_file_input_begin(path, bytes, FIRST_BYTES, n, error))
    return FALSE;
  bytes[*n] = '\0';
  return TRUE;
}

/* Text has no zero byte; what is packed by gzip is looked at by the reader of tables. */
static gboolean
may_be_text(const char *bytes, size_t n) {
  const gboolean is_gzip = n > 2 && memcmp(bytes, "\x1f\x8b", 2) == 0;
  return is_gzip ||
         (n > 0 && memchr(bytes, '\0', n) == NULL && memcmp(bytes, "PK", MIN(n, 2)) != 0);
}

static char **
copy_row(const DemurTableField *fields, size_t n_fields, size_t n_columns) {
  char **row = g_new0(char *, n_columns + 1);
  for (size_t c = 0; c < n_columns; c++)
    row[c] = g_strdup(c < n_fields ? fields[c].text : "");
  return row;
}

static gboolean
has(const DemurFileLook *look, const char *name) {
  return g_strv_contains((const char *const *)look->columns, name);
}

/* What it tells beside who and where. */
static void
note_outputs(DemurFileLook *look) {
  for (int y = 0; y < DEMUR_N_YEARS; y++) {
    g_autofree char *name = demur_column_yearly_name(y + 1);
    look->has_year[y] = has(look, name);
  }
  look->has_outputs =
      look->has_year[DEMUR_N_YEARS - 1] || has(look, "prob_0") || has(look, "proba_0");
  look->has_follow_up = has(look, "years_to_cancer") && has(look, "years_of_followup");
  look->has_horizon = has(look, demur_cohort_columns[DEMUR_COHORT_HORIZON].header);
}

int
demur_file_look_years(const DemurFileLook *look) {
  if (look->has_horizon || !look->has_follow_up)
    return 0;
  for (int y = DEMUR_N_YEARS; y > 0; y--)
    if (look->has_year[y - 1])
      return y;
  return DEMUR_N_YEARS;
}

/* By the columns that it has. */
static DemurFileKind
kind_of(const DemurFileLook *look) {
  const gssize *at = look->at;
  const gboolean risk = at[DEMUR_MEANS_RISK] >= 0 || look->has_outputs;
  const gboolean label = at[DEMUR_MEANS_LABEL] >= 0;
  const gboolean names_scans = at[DEMUR_MEANS_SERIES_UID] >= 0 || at[DEMUR_MEANS_SCAN_ID] >= 0;
  if (risk && label)
    return DEMUR_FILE_COHORT;
  if (risk && names_scans)
    return DEMUR_FILE_SCORES;
  if (label && at[DEMUR_MEANS_SITE] >= 0 && names_scans)
    return DEMUR_FILE_LABELS;
  return DEMUR_FILE_TABLE;
}

static gboolean
look_at_table(DemurFileLook *look, const char *path, GError **error) {
  g_autoptr(DemurTable) table = demur_table_open(path, error);
  const DemurTableField *fields;
  size_t n_fields;
  if (table == NULL || !demur_table_next(table, &fields, &n_fields, error))
    return FALSE;
  look->n_columns = n_fields;
  look->columns = copy_row(fields, n_fields, n_fields);
  while (look->n_rows < DEMUR_LOOK_ROWS) {
    if (!demur_table_next(table, &fields, &n_fields, error))
      return FALSE;
    if (fields == NULL)
      break;
    look->rows[look->n_rows++] = copy_row(fields, n_fields, look->n_columns);
  }
  demur_column_guess((const char *const *)look->columns, look->n_columns, look->at);
  note_outputs(look);
  look->kind = kind_of(look);
  return TRUE;
}

DemurFileLook *
demur_task_file_look(const char *path, GError **error) {
  g_autoptr(DemurFileLook) look = g_new0(DemurFileLook, 1);
  for (guint m = 0; m < DEMUR_N_MEANINGS; m++)
    look->at[m] = -1;
  if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
    demur_error_set(error, DEMUR_ERROR_NOT_FOUND, "there is no file or folder %s", path);
    return NULL;
  }
  if (g_file_test(path, G_FILE_TEST_IS_DIR))
    return g_steal_pointer(&look);
  char bytes[FIRST_BYTES + 1];
  size_t n;
  if (!read_begin(path, bytes, &n, error))
    return NULL;
  if (demur_workspace_is_database(bytes, n)) {
    look->kind = DEMUR_FILE_WORKSPACE;
    return g_steal_pointer(&look);
  }
  if (demur_table_source_foreign(bytes, n) != NULL) /* to be told by its name */
    return look_at_table(look, path, error) ? g_steal_pointer(&look) : NULL;
  if (!may_be_text(bytes, n)) /* an empty file too: the import says so */
    return g_steal_pointer(&look);
  const char *begin = bytes + (g_str_has_prefix(bytes, "\xef\xbb\xbf") ? 3 : 0);
  begin += strspn(begin, " \t\r\n");
  look->is_json = *begin == '{' || *begin == '[';
  if (look->is_json) {
    look->kind = strstr(begin, SELECTOR_MARK) != NULL ? DEMUR_FILE_SELECTOR : DEMUR_FILE_SCORES;
    return g_steal_pointer(&look);
  }
  return look_at_table(look, path, error) ? g_steal_pointer(&look) : NULL;
}
