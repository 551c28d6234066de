#include "cohort/table-warnings.h"

#include <string.h>

/* Their names in files and the workspace. */
static const char *const kinds[DEMUR_N_TABLE_WARNINGS] = {
    [DEMUR_TABLE_TRIMMED] = "trimmed",
    [DEMUR_TABLE_COMPOSED] = "composed",
    [DEMUR_TABLE_LIKE] = "like",
    [DEMUR_TABLE_REWRITTEN] = "rewritten",
    [DEMUR_TABLE_ID_MISSING] = "id_missing",
    [DEMUR_TABLE_MISSING_WORDS] = "missing_words",
    [DEMUR_TABLE_CODE] = "code",
    [DEMUR_TABLE_OTHER_NUMBERS] = "other_numbers",
    [DEMUR_TABLE_FALLING] = "falling",
    [DEMUR_TABLE_EMPTY_ROWS] = "empty_rows",
    [DEMUR_TABLE_ENDS_OPEN] = "ends_open",
    [DEMUR_TABLE_LIKE_COLUMN] = "like_column",
    [DEMUR_TABLE_COLUMN_TWICE] = "column_twice",
    [DEMUR_TABLE_UNLABELLED] = "unlabelled",
    [DEMUR_TABLE_BY_ORDER] = "by_order",
    [DEMUR_TABLE_PART_SIMULATED] = "part_simulated",
    [DEMUR_TABLE_BARE] = "bare",
    [DEMUR_TABLE_ONE_SPLIT] = "one_split",
    [DEMUR_TABLE_SPLIT_MADE] = "split_made",
    [DEMUR_TABLE_NO_PERSON] = "no_person",
    [DEMUR_TABLE_NO_SCORE] = "no_score",
    [DEMUR_TABLE_WEIGHTS] = "weights",
    [DEMUR_TABLE_NO_IMAGE] = "no_image",
    [DEMUR_TABLE_IMAGES_DIFFER] = "images_differ",
    [DEMUR_TABLE_ONE_SITE] = "one_site",
    [DEMUR_TABLE_FOLLOWUP_FROM] = "followup_from",
    [DEMUR_TABLE_FOLLOW_UP] = "follow_up",
    [DEMUR_TABLE_FREE_BY_LABEL] = "free_by_label",
    [DEMUR_TABLE_OWN_COLUMN] = "own_column",
    [DEMUR_TABLE_LONG_TIMES] = "long_times",
    [DEMUR_TABLE_CONTRARY] = "contrary",
    [DEMUR_TABLE_OVERTURNED] = "overturned",
};

void
demur_table_warning_free(DemurTableWarning *warning) {
  if (warning == NULL)
    return;
  g_free(warning->column);
  g_free(warning->first);
  g_free(warning->second);
  g_free(warning);
}

static void
free_element(gpointer warning) {
  demur_table_warning_free(warning);
}

GPtrArray *
demur_table_warnings_new(void) {
  return g_ptr_array_new_with_free_func(free_element);
}

DemurTableWarning *
demur_table_warnings_add(GPtrArray *warnings, DemurTableWarningKind kind, const char *column,
                         const char *first, const char *second, size_t n, size_t n_all) {
  DemurTableWarning *warning = g_new(DemurTableWarning, 1);
  *warning =
      (DemurTableWarning){kind, g_strdup(column), g_strdup(first), g_strdup(second), n, n_all};
  g_ptr_array_add(warnings, warning);
  return warning;
}

const char *
demur_table_warning_name(DemurTableWarningKind kind) {
  return kinds[kind];
}

int
demur_table_warning_find(const char *name) {
  for (int k = 0; k < DEMUR_N_TABLE_WARNINGS; k++)
    if (strcmp(kinds[k], name) == 0)
      return k;
  return -1;
}
