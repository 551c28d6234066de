#include "cohort/table-warnings.h"

#include <string.h>

#include "base/shown-text.h"

/* In words, the letters stand for column c, first f, second s, n, n_all a; {..} holds what names
 * scans or persons. */
static const struct {
  const char *name, *words;
} kinds[DEMUR_N_TABLE_WARNINGS] = {
    [DEMUR_TABLE_TRIMMED] = {"trimmed", "%n cells of %c: blanks at their ends or invisible "
                                        "characters were taken away"},
    [DEMUR_TABLE_COMPOSED] = {"composed", "%n cells of %c were brought to composed form (NFC)"},
    [DEMUR_TABLE_LIKE] = {"like", "%n of %c look like another one{ ('%f' and '%s')}; they were "
                                  "taken as different"},
    [DEMUR_TABLE_REWRITTEN] = {"rewritten", "%n of %c look rewritten by a spreadsheet{ ('%f')}: "
                                            "export identifiers as text"},
    [DEMUR_TABLE_ID_MISSING] = {"id_missing", "'%f' looks like a word for not recorded, but was "
                                              "taken as a %c"},
    [DEMUR_TABLE_MISSING_WORDS] =
        {"missing_words", "column %c: %n cells say '%f' or the like; they are not recorded"},
    [DEMUR_TABLE_CODE] = {"code", "column %c: %n cells are %f, which looks like a code for not "
                                  "recorded; they were taken as numbers: leave them empty if so"},
    [DEMUR_TABLE_FALLING] = {"falling",
                             "%n of %a scans: yearly risks fall from one year to a later "
                             "one"},
    [DEMUR_TABLE_EMPTY_ROWS] = {"empty_rows", "%n rows without any value were passed over"},
    [DEMUR_TABLE_ENDS_OPEN] = {"ends_open",
                               "the last row has no line end: if the file was cut off, "
                               "its last value is not whole"},
    [DEMUR_TABLE_LIKE_COLUMN] =
        {"like_column", "column %c was kept as an attribute beside %f, which looks like it"},
    [DEMUR_TABLE_COLUMN_TWICE] =
        {"column_twice", "column %c of the %f is not kept: the cohort has one of that name"},
    [DEMUR_TABLE_UNLABELLED] = {"unlabelled", "split %c: %n of %a scans without label; it can't "
                                              "train, recalibrate or be evaluated"},
    [DEMUR_TABLE_BY_ORDER] = {"by_order",
                              "embeddings of %f joined by row order: row 1 of the array "
                              "is the first scan of the table"},
    [DEMUR_TABLE_PART_SIMULATED] = {"part_simulated",
                                    "column simulated says yes in some rows only (%n of %a); the "
                                    "whole cohort is marked as simulated"},
    [DEMUR_TABLE_BARE] = {"bare",
                          "no patient_id, scan_id, site and split: every row was taken as a "
                          "patient of its own, at one site, in split test"},
    [DEMUR_TABLE_ONE_SPLIT] = {"one_split", "no column split: every scan is in split %f (--split "
                                            "names another)"},
    [DEMUR_TABLE_SPLIT_MADE] = {"split_made", "splits were made by %c: %f"},
    [DEMUR_TABLE_NO_PERSON] = {"no_person", "%n scores without a person or a screen{: %f}"},
    [DEMUR_TABLE_NO_SCORE] = {"no_score", "%n screens without a score{: %f}"},
    [DEMUR_TABLE_WEIGHTS] = {"weights",
                             "ipc_weight holds for censoring that does not depend on the "
                             "risk; it is kept beside the scans and no measure uses it "
                             "by itself"},
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
  return kinds[kind].name;
}

int
demur_table_warning_find(const char *name) {
  for (int k = 0; k < DEMUR_N_TABLE_WARNINGS; k++)
    if (strcmp(kinds[k].name, name) == 0)
      return k;
  return -1;
}

static void
append_text(GString *words, const char *text) {
  g_autofree char *shown = demur_shown_text(text);
  g_string_append(words, shown != NULL ? shown : "");
}

char *
demur_table_warning_words(const DemurTableWarning *warning, gboolean with_ids) {
  GString *words = g_string_new(NULL);
  gboolean in_ids = FALSE;
  for (const char *p = kinds[warning->kind].words; *p != '\0'; p++) {
    if (*p == '{' || *p == '}') {
      in_ids = *p == '{';
    } else if (in_ids && !with_ids) {
      continue;
    } else if (*p != '%') {
      g_string_append_c(words, *p);
    } else {
      switch (*++p) {
      case 'c':
        append_text(words, warning->column);
        break;
      case 'f':
        append_text(words, warning->first);
        break;
      case 's':
        append_text(words, warning->second);
        break;
      case 'n':
        g_string_append_printf(words, "%zu", warning->n);
        break;
      case 'a':
        g_string_append_printf(words, "%zu", warning->n_all);
        break;
      default:
        g_assert_not_reached();
      }
    }
  }
  return g_string_free(words, FALSE);
}
