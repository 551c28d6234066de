#include "cohort/table-faults.h"

#include <string.h>

#include "base/error.h"
#include "cohort/table-text.h"
#include "cohort/table-warnings.h"

#define MAX_TOLD 10

void
demur_table_faults_init(DemurTableFaults *faults, const DemurTable *table) {
  *faults = (DemurTableFaults){.table = table, .told = g_string_new(NULL)};
}

void
demur_table_faults_clear(DemurTableFaults *faults) {
  if (faults->told != NULL)
    g_string_free(g_steal_pointer(&faults->told), TRUE);
}

void
demur_table_faults_next_row(DemurTableFaults *faults) {
  faults->bad = FALSE;
  faults->n_read++;
}

static void
append_place(GString *text, const DemurTableField *field, const char *name) {
  g_string_append_printf(text, "line %zu, column %zu", field->line, field->column);
  if (name != NULL)
    g_string_append_printf(text, " (%s)", name);
  g_string_append(text, ": ");
}

void
demur_table_faults_note(DemurTableFaults *faults, const DemurTableField *field, const char *name,
                        const char *format, ...) {
  if (faults->bad)
    return;
  faults->bad = TRUE;
  if (faults->n_rows++ >= MAX_TOLD)
    return;
  g_string_append(faults->told, "\n  ");
  append_place(faults->told, field, name);
  va_list arguments;
  va_start(arguments, format);
  g_string_append_vprintf(faults->told, format, arguments);
  va_end(arguments);
}

void
demur_table_faults_note_number(DemurTableFaults *faults, const DemurTableField *field,
                               const char *name, const char *expected) {
  const char *why = demur_table_number_fault(field);
  const char *remedy = strchr(expected, ';');
  const int n = remedy != NULL ? (int)(remedy - expected) : (int)strlen(expected);
  demur_table_faults_note(faults, field, name, "%s is not %.*s%s%s%s%s", demur_table_shown(field),
                          n, expected, why != NULL ? " (" : "", why != NULL ? why : "",
                          why != NULL ? ")" : "", remedy != NULL ? remedy : "");
}

static void
warn_of_ends(const DemurTable *table, GPtrArray *warnings) {
  if (demur_table_n_empty(table) > 0)
    demur_table_warnings_add(warnings, DEMUR_TABLE_EMPTY_ROWS, NULL, NULL, NULL,
                             demur_table_n_empty(table), 0);
  if (demur_table_ends_open(table))
    demur_table_warnings_add(warnings, DEMUR_TABLE_ENDS_OPEN, NULL, NULL, NULL, 1, 0);
}

gboolean
demur_table_faults_end(const DemurTableFaults *faults, GPtrArray *warnings, GError **error) {
  if (faults->n_rows == 0 && faults->n_read > 0) {
    if (warnings != NULL)
      warn_of_ends(faults->table, warnings);
    return TRUE;
  }
  if (faults->n_rows == 0) {
    g_set_error(
        error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
        "%s: line 2, column 1: a header but no row; expected one row a scan, person or entry",
        demur_table_name(faults->table));
    return FALSE;
  }
  g_autofree char *more = faults->n_rows > MAX_TOLD
                              ? g_strdup_printf("\n  and %zu more", faults->n_rows - MAX_TOLD)
                              : g_strdup("");
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "%s: %zu row%s refused, nothing imported:%s%s",
              demur_table_name(faults->table), faults->n_rows, faults->n_rows == 1 ? "" : "s",
              faults->told->str, more);
  return FALSE;
}

gboolean
demur_table_fail(const DemurTable *table, const DemurTableField *field, const char *name,
                 GError **error, const char *format, ...) {
  g_autoptr(GString) text = g_string_new(NULL);
  append_place(text, field, name);
  va_list arguments;
  va_start(arguments, format);
  g_string_append_vprintf(text, format, arguments);
  va_end(arguments);
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "%s: %s", demur_table_name(table), text->str);
  return FALSE;
}

const char *
demur_table_shown(const DemurTableField *field) {
  if (field->length == 0)
    return "nothing";
  if (field->length > 24 || strspn(field->text, "+-.,0123456789eEnaNAifIF") != field->length)
    return "this text";
  return field->text;
}
